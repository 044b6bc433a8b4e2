"""The target's greedy answers to the evaluation set, in torch."""

import torch

from lab import answers

LONGEST_ANSWER = 48  # tokens; the longest right answer of the set has 32


def greedy_answer(model, tokenizer, prompt):
    """Returns what a LanguageModel goes on with up to the end of the line, as text."""
    ids = torch.tensor([tokenizer.encode(prompt)])
    continued = model.continue_greedily(ids, LONGEST_ANSWER)[0, ids.shape[1] :].tolist()
    return tokenizer.decode(continued).split(b"\n")[0].decode("utf-8", errors="replace")


def evaluate(model, tokenizer, items):
    """Returns answers.score_rows of the model's greedy answers to tasks.evaluation_items."""
    outputs = [greedy_answer(model, tokenizer, item["prompt"]) for item in items]
    return answers.score_rows(items, outputs)
