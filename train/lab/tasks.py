"""Small synthetic tasks whose answers can be checked, as text.

They serve twice, with different seeds: as a small share of the target's training text, and as the
evaluation set. A task is a prompt and the rest of its last line, the answer:

    copy      prose   say: "hill boat salt rain" / again:                -> "hill boat salt rain"
    brackets  c       code: hill ( boat [ ] { / close:                   -> } )
    arguments python  def hill(boat, salt): / return checked_hill(       -> boat, salt)
    object    json    schema: {"boat": "integer"} / object:              -> {"boat": 41}
    call      tools   tool: .. / request: .. / call:                     -> {"name": "hill", ..}
    recall    prose,c key hill = boat / key .. / n tokens of filler / key hill =   -> boat

A prompt never ends in a blank and an answer never starts inside a word, so a GPT-2 style
pre-tokenizer cuts between them in the training text as it does at the end of a prompt.

Chance (`chance` of an item) is the probability that an answer of the right form, drawn uniformly
from the task's closed alphabet, is right. Where the number of parts varies it is taken as known, so
the true value is lower. For `recall` a reader who knows the form but not the name scores 1/2.
"""

import json
import math
import random

WORDS = (
    "apple arrow bird boat bone book box bridge brush cake candle card chair clock cloud coat "
    "corn cup desk door drum fish flag flower fork garden gate glass hand hat hill horse "
    "house island king kite lake lamp leaf letter lion moon mouse nail nest night paper pear "
    "pen pipe plate queen rain ring river road rope salt sand ship star stone tree wall"
).split()
PAIRS = {"(": ")", "[": "]", "{": "}"}
TYPES = ("string", "integer", "boolean", "array")

DEPTHS = (32, 64, 128, 256, 400)
LONGEST_DEPTH = 440
ITEMS_PER_TASK = 48
ITEMS_PER_DEPTH_AND_CLASS = 24

# Relative shares of the training bytes: recall's documents are several times longer.
TRAINING_WEIGHTS = {"copy": 1, "brackets": 1, "arguments": 1, "object": 1, "call": 1, "recall": 3}


def copy_task(rng):
    """Repeat a quoted span of 3 to 8 words."""
    words = rng.choices(WORDS, k=rng.randint(3, 8))
    quoted = '"' + " ".join(words) + '"'
    return {
        "class": "prose",
        "task": "copy",
        "prompt": f"say: {quoted}\nagain:",
        "answer": f" {quoted}",
        "chance": len(WORDS) ** -len(words),
    }


def brackets_task(rng):
    """Close what 4 to 10 brackets, with words between them, left open: 2 to 5 of them."""
    while True:
        code, still_open = open_brackets(rng, rng.randint(4, 10))
        if 2 <= len(still_open) <= 5:
            break
    closing = [PAIRS[bracket] for bracket in reversed(still_open)]
    return {
        "class": "c",
        "task": "brackets",
        "prompt": f"code: {code}\nclose:",
        "answer": " " + " ".join(closing),
        "chance": len(PAIRS) ** -len(closing),
    }


def open_brackets(rng, steps):
    """Returns a line of `steps` brackets, never closed wrongly, and those still open at its end."""
    parts = []
    still_open = []
    for _ in range(steps):
        if rng.random() < 0.4:
            parts.append(rng.choice(WORDS))
        if still_open and rng.random() < 0.3:
            parts.append(PAIRS[still_open.pop()])
        else:
            still_open.append(rng.choice(list(PAIRS)))
            parts.append(still_open[-1])
    return " ".join(parts), still_open


def arguments_task(rng):
    """Hand a function's 2 to 4 arguments on, in order."""
    name, *arguments = rng.sample(WORDS, rng.randint(3, 5))
    listed = ", ".join(arguments)
    return {
        "class": "python",
        "task": "arguments",
        "prompt": f"def {name}({listed}):\n    return checked_{name}(",
        "answer": f"{listed})",
        "chance": 1 / math.perm(len(WORDS) - 1, len(arguments)),
    }


def object_task(rng):
    """Write an object with 2 to 4 required keys, each of the type the prompt gives it."""
    types = {key: rng.choice(TYPES) for key in rng.sample(WORDS, rng.randint(2, 4))}
    value = {key: value_of_type(rng, kind) for key, kind in types.items()}
    return {
        "class": "json",
        "task": "object",
        "prompt": f"schema: {json.dumps(types)}\nobject:",
        "answer": " " + json.dumps(value),
        "schema": object_schema({key: {"type": kind} for key, kind in types.items()}),
        "chance": 1 / (math.comb(len(WORDS), len(types)) * len(TYPES) ** len(types)),
    }


def value_of_type(rng, kind):
    """Returns a value of one of TYPES."""
    if kind == "string":
        return rng.choice(WORDS)
    if kind == "integer":
        return rng.randint(0, 99)
    if kind == "boolean":
        return rng.random() < 0.5
    return [rng.randint(0, 9) for _ in range(rng.randint(1, 3))]


def object_schema(properties):
    """Returns the JSON schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def call_task(rng):
    """Call a tool with the 1 to 3 arguments a request names, in the tool's own order."""
    name, *parameters = rng.sample(WORDS, rng.randint(2, 4))
    arguments = {parameter: rng.choice(WORDS) for parameter in parameters}
    requested = ", ".join(" ".join(pair) for pair in shuffled(rng, arguments.items()))
    call = {"name": name, "arguments": arguments}
    tool = {"name": name, "parameters": parameters}
    count = len(parameters)
    schema_of_arguments = object_schema({key: {"const": value} for key, value in arguments.items()})
    return {
        "class": "tools",
        "task": "call",
        "prompt": f"tool: {json.dumps(tool)}\nrequest: {name} with {requested}\ncall:",
        "answer": " " + json.dumps(call),
        "schema": object_schema({"name": {"const": name}, "arguments": schema_of_arguments}),
        "chance": 1 / (len(WORDS) * math.comb(len(WORDS) - 1, count) * len(WORDS) ** count),
    }


def shuffled(rng, values):
    """Returns the values as a list in random order."""
    values = list(values)
    rng.shuffle(values)
    return values


def recall_task(rng, text_class, passage, depth):
    """Recall the value of one of two keys from before a passage of `depth` tokens."""
    asked, asked_value, other, other_value = rng.sample(WORDS, 4)
    keys = shuffled(rng, [f"key {asked} = {asked_value}", f"key {other} = {other_value}"])
    return {
        "class": text_class,
        "task": "recall",
        "depth": depth,
        "prompt": "\n".join([*keys, passage, f"key {asked} ="]),
        "answer": f" {asked_value}",
        "chance": 1 / len(WORDS),
    }


SHORT_TASKS = {
    "copy": copy_task,
    "brackets": brackets_task,
    "arguments": arguments_task,
    "object": object_task,
    "call": call_task,
}


def cut_passage(rng, text, depth, count_tokens):
    """Returns a random run of whole words of `text`, the longest of at most `depth` tokens.

    `count_tokens(text) -> int`; it must not fall as the text grows.
    """
    words = words_from(text, rng.randrange(max(1, len(text) - 16 * depth)), 16 * depth)
    shortest, too_long = 1, len(words) + 1
    while too_long - shortest > 1:
        middle = (shortest + too_long) // 2
        if count_tokens(" ".join(words[:middle])) <= depth:
            shortest = middle
        else:
            too_long = middle
    return " ".join(words[:shortest])


def words_from(text, start, characters):
    """Returns the words of a slice of `text` without the first and last, which may be cut.

    Words are split at blanks only, so that line ends and indents of a passage stay.
    """
    return text[start : start + characters].split(" ")[1:-1]


def tokens_by_length(text):
    """Returns a rough token count: the laboratory tokenizer makes about one of three characters."""
    return len(text) // 3


def training_text(seed, size, filler):
    """Returns about `size` bytes of solved tasks, an empty line after each.

    filler: {"prose": text, "c": text}, the training parts that recall's passages are cut from.
    """
    rng = random.Random(seed)
    written = dict.fromkeys(TRAINING_WEIGHTS, 0)
    documents = []
    while sum(written.values()) < size:
        task = min(written, key=lambda name: written[name] / TRAINING_WEIGHTS[name])
        item = training_item(rng, task, filler)
        documents.append(item["prompt"] + item["answer"] + "\n\n")
        written[task] += len(documents[-1].encode())
    return "".join(shuffled(rng, documents))


def training_item(rng, task, filler):
    """Returns one item of the named task; recall's depth is uniform from 8 to LONGEST_DEPTH."""
    if task != "recall":
        return SHORT_TASKS[task](rng)
    text_class = rng.choice(sorted(filler))
    depth = rng.randint(8, LONGEST_DEPTH)
    passage = cut_passage(rng, filler[text_class], depth, tokens_by_length)
    return recall_task(rng, text_class, passage, depth)


def evaluation_items(seed, filler, count_tokens=tokens_by_length, seen=""):
    """Returns the evaluation set: {id, class, task, prompt, answer, chance, ..}, tasks mixed.

    `schema` is given where any object that fits it is right (then `answer` is one that does),
    `depth` (tokens of filler, at most) for recall. filler: as training_text's, from the held-out
    parts. seen: training_text, of which no prompt is taken again.
    """
    rng = random.Random(seed)
    items = []
    for make in SHORT_TASKS.values():
        items += unseen_items(rng, make, ITEMS_PER_TASK, seen)
    for depth in DEPTHS:
        for text_class in sorted(filler):
            for _ in range(ITEMS_PER_DEPTH_AND_CLASS):
                passage = cut_passage(rng, filler[text_class], depth, count_tokens)
                items.append(recall_task(rng, text_class, passage, depth))
    named = [{"id": f"{item['task']}-{number:03}", **item} for number, item in enumerate(items, 1)]
    return shuffled(rng, named)


def unseen_items(rng, make, count, seen):
    """Returns `count` items of make(rng) that differ and whose prompts do not stand in `seen`."""
    by_prompt = {}
    while len(by_prompt) < count:
        item = make(rng)
        if item["prompt"] not in seen:
            by_prompt[item["prompt"]] = item
    return list(by_prompt.values())
