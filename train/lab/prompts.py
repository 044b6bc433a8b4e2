"""The two workloads for the laboratory models, from held-out text alone, one JSON object a line.

    held-out-prompts.jsonl   {id, class, text}: slices of held-out text to go on with
    evaluation.jsonl         {id, class, task, depth, text, answer, schema, chance}: tasks.py
"""

import json
import random

from lab import corpora, tasks
from lab.tokenizer import Tokenizer

PROMPTS_PER_CLASS = 24
PROMPT_TOKENS = 128
PROMPTS_SEED = 11
EVALUATION_SEED = 12
MOST_TRIES = 1000


def spread_slices(rng, tokenizer, ids, training_text):
    """Returns PROMPTS_PER_CLASS texts of PROMPT_TOKENS tokens, one from each equal part of `ids`.

    ids: the tokens of a class's held-out text. Where a slice is not fit, another place of its part
    is drawn.
    """
    part = len(ids) // PROMPTS_PER_CLASS
    texts = []
    for begin in range(0, part * PROMPTS_PER_CLASS, part):
        for _ in range(MOST_TRIES):
            start = begin + rng.randrange(part - PROMPT_TOKENS)
            text = fit_text(tokenizer, ids[start : start + PROMPT_TOKENS], training_text)
            if text is not None:
                break
        else:
            raise ValueError(f"no fit slice among {MOST_TRIES} from token {begin} on")
        texts.append(text)
    return texts


def fit_text(tokenizer, ids, training_text):
    """Returns the text of a slice, None where it is not fit for a prompt.

    Fit: it gives these very tokens when it is sent as text, and neither half of it stands in the
    training text, as stock phrases and records do.
    """
    text = tokenizer.decode(ids).decode("utf-8", errors="replace")
    if tokenizer.encode(text) != ids:
        return None
    middle = len(text) // 2
    if text[:middle] in training_text or text[middle:] in training_text:
        return None
    return text


def held_out_prompts(tokenizer, held_out, training):
    """Returns the records of held-out-prompts.jsonl. held_out, training: {class: text}."""
    rng = random.Random(PROMPTS_SEED)
    records = []
    for text_class, text in held_out.items():
        slices = spread_slices(rng, tokenizer, tokenizer.encode(text), training[text_class])
        records += [
            {"id": f"{text_class}-{number:02}", "class": text_class, "text": piece}
            for number, piece in enumerate(slices, 1)
        ]
    return records


def evaluation_records(tokenizer, held_out, seen):
    """Returns the records of evaluation.jsonl.

    held_out: {class: text} with prose and c. seen: the tasks in the training text.
    """
    filler = {text_class: held_out[text_class] for text_class in ("prose", "c")}
    items = tasks.evaluation_items(
        EVALUATION_SEED, filler, lambda text: len(tokenizer.encode(text)), seen
    )
    return [{("text" if key == "prompt" else key): value for key, value in item.items()} for item in items]


def make_workloads(texts, folder):
    """Writes both workloads into `folder`; returns {"prompts": count, "questions": count}.

    texts: the folder that data.py has filled.
    """
    tokenizer = Tokenizer.load(texts / "merges.json")
    held_out = {name: corpora.read(texts, name, "held-out") for name in corpora.CLASSES}
    training = {name: corpora.read(texts, name, "train") for name in corpora.CLASSES}
    prompts = held_out_prompts(tokenizer, held_out, training)
    write_records(folder / "held-out-prompts.jsonl", prompts)
    seen = corpora.read(texts, "tasks", "train")
    questions = evaluation_records(tokenizer, held_out, seen)
    write_records(folder / "evaluation.jsonl", questions)
    return {"prompts": len(prompts), "questions": len(questions)}


def write_records(path, records):
    """Writes one JSON object a line."""
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
    path.write_text("".join(lines), encoding="utf-8", newline="")
