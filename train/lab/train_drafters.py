"""Trainings of the drafters on the frozen target. Each returns the seconds spent; the weights are in its checkpoint.

Half of each batch is the target's own greedy continuation of training prompts, where the labels are exactly what
greedy decoding accepts; the other half is ordinary text, because continuations of a small model are narrow.
"""
import numpy
import torch

from lab import dflash, dspark, eagle3, mtp
from lab.batches import CLASSES, MIX, Corpus, generator_of
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


MTP_STEPS, MTP_ROWS, MTP_SEED = 500, 12, 5


def train_mtp(target, texts, greedy_rows, checkpoint, report):
    torch.manual_seed(MTP_SEED)
    block, batches = mtp.Mtp(), DrafterBatches(texts, greedy_rows, MTP_SEED)

    def loss_of_step(step):
        tokens, _ = batches.of_step(step, MTP_ROWS)
        return mtp.loss(block, target, tokens, PROMPT - 1)

    return train(block, loss_of_step, MTP_STEPS, checkpoint, report)


DFLASH_STEPS, DFLASH_ROWS, DFLASH_SEED = 1500, 16, 3


def train_dflash(target, texts, greedy_rows, checkpoint, report):
    torch.manual_seed(DFLASH_SEED)
    drafter, batches = dflash.DFlash(), DrafterBatches(texts, greedy_rows, DFLASH_SEED)

    def loss_of_step(step):
        tokens, generator = batches.of_step(step, DFLASH_ROWS)
        return dflash.loss(drafter, target, tokens, PROMPT - 1, generator)

    return train(drafter, loss_of_step, DFLASH_STEPS, checkpoint, report)


EAGLE3_STEPS, EAGLE3_ROWS, EAGLE3_SEED = 900, 16, 11


def train_eagle3(target, texts, greedy_rows, checkpoint, report):
    torch.manual_seed(EAGLE3_SEED)
    drafter, batches = eagle3.Eagle3(), DrafterBatches(texts, greedy_rows, EAGLE3_SEED)

    def loss_of_step(step):
        tokens, generator = batches.of_step(step, EAGLE3_ROWS)
        return eagle3.loss(drafter, target, tokens, generator)

    return train(drafter, loss_of_step, EAGLE3_STEPS, checkpoint, report)


DSPARK_STEPS, DSPARK_ROWS, DSPARK_SEED = 400, 16, 13
DSPARK_RATE = 0.3  # of the full rates: DFlash's weights are trained already


def train_dspark(trained_dflash, target, texts, greedy_rows, checkpoint, report):
    """Starts from the weights of trained_dflash."""
    torch.manual_seed(DSPARK_SEED)
    drafter, batches = dspark.DSpark(), DrafterBatches(texts, greedy_rows, DSPARK_SEED)
    drafter.dflash.load_state_dict(trained_dflash.state_dict())

    def loss_of_step(step):
        tokens, generator = batches.of_step(step, DSPARK_ROWS)
        return dspark.loss(drafter, target, tokens, PROMPT - 1, generator)

    return train(drafter, loss_of_step, DSPARK_STEPS, checkpoint, report, DSPARK_RATE)
