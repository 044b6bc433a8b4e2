"""Trainings of the drafters on the frozen target. Each returns the seconds spent; the weights are in its checkpoint.

Half of each batch is the target's own greedy continuation of training prompts, where the labels are exactly what
greedy decoding accepts; the other half is ordinary text, because continuations of a small model are narrow.
"""
from dataclasses import dataclass
from typing import Callable

import numpy
import torch

from lab import dflash, dspark, eagle3, mtp
from lab.batches import MIX, Corpus, generator_of
from lab.training import train

PROMPT, CONTINUED = 96, 160
ROW = PROMPT + CONTINUED
ROWS_AT_ONCE, ROUNDS = 192, 16
ROWS_SEED = 7


@torch.no_grad()
def continue_prompts(target, texts, report):
    """[ROWS_AT_ONCE * ROUNDS, ROW] greedy rows, uint16; prompts in the proportions of the training text."""
    corpus = Corpus(texts, "train", MIX)
    rows = []
    for count in range(ROUNDS):
        prompts = corpus.batch(ROWS_AT_ONCE, PROMPT, generator_of(ROWS_SEED, count))
        rows.append(target.continue_greedily(prompts, CONTINUED).numpy().astype(numpy.uint16))
        report(f"{(count + 1) * ROWS_AT_ONCE} of {ROUNDS * ROWS_AT_ONCE} greedy rows")
    return numpy.concatenate(rows)


class DrafterBatches:
    """Batches of [rows, ROW] tokens: half greedy rows, half text of the training part."""

    def __init__(self, texts, greedy_rows, seed):
        self.corpus = Corpus(texts, "train", MIX)
        self.greedy_rows = torch.from_numpy(numpy.load(greedy_rows).astype(numpy.int64))
        self.seed = seed

    def of_step(self, step, rows):
        """(tokens [rows, ROW], the step's generator)."""
        generator = generator_of(self.seed, step)
        chosen = torch.randint(0, len(self.greedy_rows), (rows // 2,), generator=generator)
        text = self.corpus.batch(rows - rows // 2, ROW, generator)
        return torch.cat((self.greedy_rows[chosen], text)), generator


@dataclass(frozen=True)
class Recipe:
    new: Callable  # () -> the drafter before training
    loss: Callable  # (drafter, target, tokens [rows, ROW], generator) -> scalar
    steps: int
    rows: int
    seed: int
    rate: float = 1.0  # of the optimizer's full rates


def behind_prompts(module):
    """The loss of a drafter's module at anchors whose labels lie in the continued part."""
    return lambda drafter, target, tokens, generator: module.loss(drafter, target, tokens, PROMPT - 1, generator)


RECIPES = {
    "mtp": Recipe(mtp.Mtp, behind_prompts(mtp), steps=500, rows=12, seed=5),
    "dflash": Recipe(dflash.DFlash, behind_prompts(dflash), steps=1500, rows=16, seed=3),
    "eagle3": Recipe(eagle3.Eagle3, eagle3.loss, steps=900, rows=16, seed=11),
    # Starts from DFlash's trained weights.
    "dspark": Recipe(dspark.DSpark, behind_prompts(dspark), steps=400, rows=16, seed=13, rate=0.3),
}


def train_drafter(name, target, texts, greedy_rows, checkpoint, report, start=lambda drafter: None):
    """start(drafter) may give the new drafter weights to begin with."""
    recipe = RECIPES[name]
    torch.manual_seed(recipe.seed)
    drafter, batches = recipe.new(), DrafterBatches(texts, greedy_rows, recipe.seed)
    start(drafter)

    def loss_of_step(step):
        tokens, generator = batches.of_step(step, recipe.rows)
        return recipe.loss(drafter, target, tokens, generator)

    return train(drafter, loss_of_step, recipe.steps, checkpoint, report, recipe.rate)
