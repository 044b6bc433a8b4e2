"""Tool definitions and calls as text, from an OpenAPI description.

A document of the corpus is one operation as a tool, a request for it and the call:

    tool: {"name": .., "description": .., "parameters": {JSON schema}}
    request: <the operation's summary>: <parameter> <value>, ..
    call: {"name": .., "arguments": {..}}

The values come from the description's own examples, enums and defaults, else from WORDS and small
integers, drawn anew for each document; all of them stand in the request, so a call can be read off.
"""

import json
import re

from lab.tasks import WORDS

METHODS = ("get", "post", "put", "patch", "delete")
LONGEST_DESCRIPTION = 100
LONGEST_EXAMPLE = 60
MOST_PARAMETERS = 6
DEEPEST_REFERENCES = 8
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def operations(description):
    """Yields (group, operation) of every operation; group is the part of the API it is of."""
    for path in description["paths"].values():
        for method in METHODS:
            if method in path:
                operation = path[method]
                filed = operation["x-github"]
                yield f"{filed['category']}/{filed['subcategory']}", operation


def resolved(node, description):
    """Returns the node that a `$ref` leads to, or the node itself."""
    for _ in range(DEEPEST_REFERENCES):
        if "$ref" not in node:
            return node
        target = description
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = target
    raise ValueError(f"references go deeper than {DEEPEST_REFERENCES}: {node['$ref']}")


def first_sentence(text):
    """Returns the first sentence without links and line ends, cut at a word where it is long."""
    plain = " ".join(LINK.sub(r"\1", text).split())
    sentence = re.split(r"(?<=[.!?]) ", plain, maxsplit=1)[0]
    if len(sentence) <= LONGEST_DESCRIPTION:
        return sentence
    return sentence[:LONGEST_DESCRIPTION].rsplit(" ", 1)[0] + " .."


def body_of(operation, description):
    """Returns (schema, example) of an operation's JSON body; ({}, {}) where it has none."""
    body = resolved(operation.get("requestBody", {}), description)
    content = body.get("content", {}).get("application/json", {})
    schema = resolved(content.get("schema", {}), description)
    for alternatives in ("oneOf", "anyOf", "allOf"):
        if alternatives in schema and "properties" not in schema:
            schema = resolved(schema[alternatives][0], description)
    named = [resolved(example, description) for example in content.get("examples", {}).values()]
    examples = [example.get("value") for example in named]
    example = content.get("example", examples[0] if examples else {})
    return schema, example if isinstance(example, dict) else {}


def parameters_of(operation, description):
    """Returns {name: {schema, required, example}}, the required first, MOST_PARAMETERS at most."""
    found = {}
    for reference in operation.get("parameters", []):
        parameter = resolved(reference, description)
        schema = dict(resolved(parameter["schema"], description))
        schema["description"] = parameter.get("description", "")
        found[parameter["name"]] = {
            "schema": schema,
            "required": parameter.get("required", False),
            "example": parameter.get("example", schema.get("example")),
        }
    schema, example = body_of(operation, description)
    for name, value in schema.get("properties", {}).items():
        found[name] = {
            "schema": resolved(value, description),
            "required": name in schema.get("required", []),
            "example": example.get(name),
        }
    by_need = sorted(found.items(), key=lambda item: not item[1]["required"])
    return dict(by_need[:MOST_PARAMETERS])


def tool_of(operation, parameters):
    """Returns the tool definition of an operation: a name, a description, a JSON schema."""
    properties = {name: property_schema(given["schema"]) for name, given in parameters.items()}
    return {
        "name": tool_name(operation),
        "description": operation["summary"],
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": [name for name, given in parameters.items() if given["required"]],
        },
    }


def tool_name(operation):
    """Returns the operation's identifier in snake_case."""
    return re.sub(r"[^a-z0-9]+", "_", operation["operationId"].lower())


def property_schema(schema):
    """Returns the parts of a schema that a tool definition says: type, enum, description."""
    kept = {"type": type_of(schema)}
    if "enum" in schema:
        kept["enum"] = schema["enum"]
    if schema.get("description"):
        kept["description"] = first_sentence(schema["description"])
    return kept


def type_of(schema):
    """Returns the one type of a schema; the first that is not null where there are several."""
    kind = schema.get("type", "string")
    if isinstance(kind, list):
        return next(name for name in kind if name != "null")
    return kind


def value_for(rng, parameter):
    """Returns an argument: an enum's member, an example (half of the time), or one of its type."""
    schema, example = parameter["schema"], parameter["example"]
    if "enum" in schema:
        return rng.choice([value for value in schema["enum"] if value is not None])
    if is_short(example) and rng.random() < 0.5:
        return example
    kind = type_of(schema)
    if kind in ("integer", "number"):
        return rng.randint(1, 9999)
    if kind == "boolean":
        return rng.random() < 0.5
    if kind == "array":
        return rng.sample(WORDS, rng.randint(1, 3))
    return "-".join(rng.sample(WORDS, rng.randint(1, 2)))


def is_short(example):
    """Says whether an example fits a line: a scalar or a list of scalars, and short."""
    scalars = example if isinstance(example, list) else [example]
    plain = all(type(value) in (str, int, bool) for value in scalars)
    return plain and len(json.dumps(example)) <= LONGEST_EXAMPLE


def document(rng, operation, description):
    """Returns one document: tool, request, call. Optional arguments are given half of the time."""
    parameters = parameters_of(operation, description)
    arguments = {
        name: value_for(rng, parameter)
        for name, parameter in parameters.items()
        if parameter["required"] or rng.random() < 0.5
    }
    tool = tool_of(operation, parameters)
    wishes = ", ".join(f"{name} {json.dumps(value)}" for name, value in arguments.items())
    request = tool["description"] + (f": {wishes}" if wishes else "")
    call = {"name": tool["name"], "arguments": arguments}
    return f"tool: {json.dumps(tool)}\nrequest: {request}\ncall: {json.dumps(call)}\n\n"


def documents(rng, description, passes):
    """Returns {group: [document, ..]}, `passes` documents of each operation, values drawn anew."""
    by_group = {}
    for _ in range(passes):
        for group, operation in operations(description):
            by_group.setdefault(group, []).append(document(rng, operation, description))
    return by_group
