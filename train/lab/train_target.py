"""Trainings of the two language models on corpus text. Each returns the seconds spent; the weights are in its checkpoint."""
import torch

from lab.batches import MIX, Corpus, generator_of
from lab.copying import Copying
from lab.language_model import new_small, new_target
from lab.training import train

# (steps, rows, tokens of a row): short windows first, they are cheapest; long ones last, so that
# positions up to 2047 are seen at all. Every step has 8192 tokens.
TARGET_PHASES = ((1700, 32, 256), (700, 16, 512), (150, 4, 2048))
SMALL_PHASES = ((1500, 16, 256),)
TARGET_SEED, SMALL_SEED = 1, 2


def train_target(texts, checkpoint, report):
    """Text, and rows of repeats beside it."""
    torch.manual_seed(TARGET_SEED)
    model, corpus = new_target(), Corpus(texts, "train", MIX)
    copying = Copying(texts, corpus)

    def loss_of_step(step):
        rows, length = phase_of(step, TARGET_PHASES)
        generator = generator_of(TARGET_SEED, step)
        text = model.loss(corpus.batch(rows, length + 1, generator))
        return text + copying.loss(model, generator)

    return train(model, loss_of_step, steps_of(TARGET_PHASES), checkpoint, report)


def train_small(texts, checkpoint, report):
    torch.manual_seed(SMALL_SEED)
    model, corpus = new_small(), Corpus(texts, "train", MIX)

    def loss_of_step(step):
        rows, length = phase_of(step, SMALL_PHASES)
        return model.loss(corpus.batch(rows, length + 1, generator_of(SMALL_SEED, step)))

    return train(model, loss_of_step, steps_of(SMALL_PHASES), checkpoint, report)


def steps_of(phases):
    return sum(count for count, _, _ in phases)


def phase_of(step, phases):
    for count, rows, length in phases:
        if step < count:
            return rows, length
        step -= count
    raise ValueError("a step after the last phase")
