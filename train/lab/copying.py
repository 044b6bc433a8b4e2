"""A training that makes the target copy from its context.

On ordinary text alone attention heads that copy come late: in a model this small not within the target's
training, and then no task that binds an answer to the prompt can be learnt. Rows that repeat one short
sequence to their end reward nothing else, and start such heads within some hundred steps.
"""
import torch
import torch.nn.functional as functional

from lab import tasks
from lab.batches import MIX, Corpus, generator_of
from lab.training import train

TEXT_ROWS, TEXT_LENGTH = 8, 512  # ordinary text, in the proportions of MIX
TASK_ROWS, TASK_LENGTH = 8, 256
COPY_ROWS, COPY_LENGTH = 32, 64  # half of them words, half pieces of text
SHORTEST, LONGEST = 3, 20  # tokens of what is repeated
COPY_WEIGHT = 4.0  # what is learnt has no gradient any more, so the rest comes into its own then
STEPS, SEED = 400, 7


def repeated(sequence, length):
    """[length] the sequence [n], again and again."""
    return sequence.repeat(length // len(sequence) + 1)[:length]


def copy_rows(corpus, words, generator):
    """[COPY_ROWS, COPY_LENGTH + 1] tokens, and [COPY_ROWS] how many of a row come before its first repeat."""
    rows, counts = [], []
    text = corpus.batch(COPY_ROWS // 2, LONGEST, generator)
    for row in range(COPY_ROWS):
        count = int(torch.randint(SHORTEST, LONGEST + 1, (1,), generator=generator))
        if row < len(text):
            sequence = text[row, :count]
        else:
            sequence = words[torch.randperm(len(words), generator=generator)[:count]]
        rows.append(repeated(sequence, COPY_LENGTH + 1))
        counts.append(count)
    return torch.stack(rows), torch.tensor(counts)


def copy_loss(target, rows, counts):
    """Mean cross entropy (nats per token) of the repeats in rows [B, T+1], whose first `counts` [B] are new."""
    hidden, _ = target(rows[:, :-1])
    losses = functional.cross_entropy(
        target.logits(hidden).flatten(0, 1), rows[:, 1:].flatten(), reduction="none"
    ).view(rows.shape[0], -1)
    is_repeat = torch.arange(1, rows.shape[1])[None] >= counts[:, None]
    return losses[is_repeat].mean()


def train_to_copy(target, tokenizer, texts, checkpoint, report):
    """Returns the seconds spent."""
    corpus = Corpus(texts, "train", MIX)
    words = torch.tensor([tokenizer.encode(f" {word}")[0] for word in tasks.WORDS])

    def loss_of_step(step):
        generator = generator_of(SEED, step)
        loss = target.loss(corpus.batch(TEXT_ROWS, TEXT_LENGTH + 1, generator))
        loss = loss + target.loss(corpus.windows(["tasks"] * TASK_ROWS, TASK_LENGTH + 1, generator))
        return loss + COPY_WEIGHT * copy_loss(target, *copy_rows(corpus, words, generator))

    return train(target, loss_of_step, STEPS, checkpoint, report)
