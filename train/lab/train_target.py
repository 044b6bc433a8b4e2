"""Trainings of the two language models on corpus text."""
import torch

from lab.batches import MIX, Corpus, generator_of
from lab.language_model import new_small, new_target
from lab.training import train

# (steps, rows, tokens of a row): short windows first, they are cheapest; long ones last, so that
# positions up to 2047 are seen at all. Every step has 8192 tokens.
TARGET_PHASES = ((1400, 32, 256), (600, 16, 512), (130, 4, 2048))
SMALL_PHASES = ((1000, 16, 256),)
TARGET_SEED, SMALL_SEED = 1, 2


def train_target(texts, checkpoint, report):
    return train_on_corpus(new_target, TARGET_SEED, TARGET_PHASES, texts, checkpoint, report)


def train_small(texts, checkpoint, report):
    return train_on_corpus(new_small, SMALL_SEED, SMALL_PHASES, texts, checkpoint, report)


def train_on_corpus(new_model, seed, phases, texts, checkpoint, report):
    """Returns the seconds spent; the weights are in the checkpoint."""
    torch.manual_seed(seed)
    model = new_model()
    corpus = Corpus(texts, "train", MIX)

    def loss_of_step(step):
        rows, length = phase_of(step, phases)
        return model.loss(corpus.batch(rows, length + 1, generator_of(seed, step)))

    steps = sum(count for count, _, _ in phases)
    return train(model, loss_of_step, steps, checkpoint, report)


def phase_of(step, phases):
    for count, rows, length in phases:
        if step < count:
            return rows, length
        step -= count
    raise ValueError("a step after the last phase")
