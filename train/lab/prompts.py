"""The two workloads for the laboratory models, from held-out text alone, one JSON object a line.

    held-out-prompts.jsonl   {id, class, text}: slices of held-out text to go on with
    evaluation.jsonl         {id, class, task, depth, text, answer, schema, chance}: tasks.py
"""

import json
import random

from lab import tasks

PROMPTS_PER_CLASS = 24
PROMPT_TOKENS = 128
PROMPTS_SEED = 11
EVALUATION_SEED = 12


def spread_slices(rng, tokenizer, ids, count):
    """Returns `count` texts of PROMPT_TOKENS tokens, one from each equal part of `ids`.

    ids: the tokens of a class's held-out text. A slice begins at a random place of its part, or
    after it, where the tokens are those that its text alone gives: a prompt is sent as text.
    """
    part = len(ids) // count
    if part < 2 * PROMPT_TOKENS:
        raise ValueError(f"{len(ids)} tokens are too few for {count} prompts")
    starts = [number * part + rng.randrange(part - PROMPT_TOKENS) for number in range(count)]
    return [first_whole_slice(tokenizer, ids, start) for start in starts]


def first_whole_slice(tokenizer, ids, start):
    """Returns the text of the first slice from `start` on that is cut between whole tokens."""
    for begin in range(start, len(ids) - PROMPT_TOKENS):
        wanted = list(ids[begin : begin + PROMPT_TOKENS])
        text = tokenizer.decode(wanted).decode("utf-8", errors="replace")
        if list(tokenizer.encode(text)) == wanted:
            return text
    raise ValueError(f"no slice from token {start} on gives its own tokens")


def held_out_prompts(tokenizer, held_out):
    """Returns the records of held-out-prompts.jsonl. held_out: {class: text}."""
    rng = random.Random(PROMPTS_SEED)
    records = []
    for text_class, text in held_out.items():
        ids = list(tokenizer.encode(text))
        slices = spread_slices(rng, tokenizer, ids, PROMPTS_PER_CLASS)
        records += [
            {"id": f"{text_class}-{number:02}", "class": text_class, "text": piece}
            for number, piece in enumerate(slices, 1)
        ]
    return records


def evaluation_records(tokenizer, held_out):
    """Returns the records of evaluation.jsonl. held_out: {class: text} with prose and c."""
    filler = {text_class: held_out[text_class] for text_class in ("prose", "c")}
    items = tasks.evaluation_items(
        EVALUATION_SEED, filler, lambda text: len(tokenizer.encode(text))
    )
    return [{("text" if key == "prompt" else key): item[key] for key in item} for item in items]


def write_records(path, records):
    """Writes one JSON object a line."""
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
    path.write_text("".join(lines), encoding="utf-8")
