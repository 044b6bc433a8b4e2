"""Rows that are repeats, so that the target learns to copy from its context.

On text alone, attention heads that copy do not form in a training this short, and then no answer is bound to
its prompt. Rows that repeat one short sequence to their end reward nothing else. They have to be there from the
start, where the heads form after some 300 steps at no cost to the text's loss; a stage of them after the ordinary
training made such heads, too, and doubled the perplexity of prose. Greedy text loops more with them, which
lab/loops.py has to undo.
"""
import torch
import torch.nn.functional as functional

from lab import tasks
from lab.tokenizer import Tokenizer

WORD_ROWS, TEXT_ROWS, LENGTH = 8, 8, 64  # of every step: words, and pieces of text
SHORTEST, LONGEST = 3, 20  # tokens of what is repeated
WEIGHT = 0.5  # of their loss, to that of the text


class Copying:
    """The loss of a step's rows of repeats, to be added to that of its text."""

    def __init__(self, texts, corpus, text_rows=TEXT_ROWS):
        """text_rows: how many are pieces of text, which greedy decoding then repeats, too."""
        self.corpus, self.words = corpus, words_of_tasks(Tokenizer.load(texts / "merges.json"))
        self.text_rows = text_rows

    def loss(self, model, generator):
        return WEIGHT * repeat_loss(model, *repeat_rows(self.corpus, self.words, self.text_rows, generator))


def words_of_tasks(tokenizer):
    """The tokens of tasks.WORDS as they stand inside a line: each is one token."""
    return torch.tensor([tokenizer.encode(f" {word}")[0] for word in tasks.WORDS])


def repeat_rows(corpus, words, text_rows, generator):
    """([rows, LENGTH + 1] tokens, [rows] how many of a row come before its first repeat)."""
    rows, counts = [], []
    pieces = corpus.batch(text_rows, LONGEST, generator) if text_rows else []
    for row in range(text_rows + WORD_ROWS):
        count = int(torch.randint(SHORTEST, LONGEST + 1, (1,), generator=generator))
        if row < text_rows:
            sequence = pieces[row, :count]
        else:
            sequence = words[torch.randperm(len(words), generator=generator)[:count]]
        rows.append(sequence.repeat(LENGTH // count + 2)[: LENGTH + 1])
        counts.append(count)
    return torch.stack(rows), torch.tensor(counts)


def repeat_loss(model, rows, counts):
    """Mean cross entropy (nats per token) of the repeats in rows [B, T+1], whose first `counts` [B] are new.

    Nothing says where the first repeat begins, so its first token is not counted.
    """
    hidden, _ = model(rows[:, :-1])
    losses = functional.cross_entropy(model.logits(hidden).transpose(1, 2), rows[:, 1:], reduction="none")
    is_repeat = torch.arange(1, rows.shape[1]) > counts[:, None]
    return losses[is_repeat].mean()
