"""Loops of greedy decoding: how often they are, and a training that makes them rarer.

A model this small repeats itself when it is decoded greedily, and a loop drafts perfectly. After the ordinary
training the target is trained on its own greedy continuations with the unlikelihood of Welleck et al. (2019,
sequence level): every token that completes an n-gram seen before in the same continuation loses probability.
Half of each batch stays ordinary text, and rows of repeated words, so that it does not forget how to copy. Only
the prose classes: code and JSON rightly repeat themselves. The rates are low and the steps many: perplexity pays
for every strong step.
"""
import torch
import torch.nn.functional as functional

from lab.batches import MIX, Corpus, generator_of, mixed_classes
from lab.copying import Copying
from lab.training import train

CLASSES = ("prose", "novel")
POOL_STEPS = 12  # steps that train on one pool of continuations, on each of its rows twice
POOL_ROWS = 96
PROMPT, CONTINUED = 48, 144
ROWS_OF_STEP = 16  # continuations, beside ordinary text
NGRAM = 6  # shorter ones are repeated by good prose, too: "of the United States"
PENALTY = 1.5  # weight of the unlikelihood, to the loss of ordinary text
STEPS, RATE, SEED = 204, 0.08, 6
MIXED_ROWS, ROWS_OF_CLASS, TEXT_LENGTH = 4, 2, 512  # ordinary text of a step: all classes, and each of CLASSES


def repeats(tokens, length):
    """[B, T] bool: the window of `length` tokens that ends here was in the row before."""
    rows, positions = tokens.shape
    windows = tokens.unfold(1, length, 1)  # [B, T - length + 1, length]
    same = (windows[:, :, None] == windows[:, None]).all(-1)
    earlier = same.tril(-1).any(-1)
    return functional.pad(earlier, (length - 1, 0)) if positions >= length else torch.zeros_like(tokens).bool()


def repeated_share(tokens, length=8):
    """The share of windows of `length` tokens that repeat an earlier one of their row (DEFINITIONS 7)."""
    found = repeats(tokens, length)[:, length - 1 :]
    return found.float().mean().item()


def in_repeat(tokens):
    """[B, T] bool: the token belongs to an n-gram that repeats."""
    ends = repeats(tokens, NGRAM)
    marked = ends.clone()
    for back in range(1, NGRAM):
        marked[:, :-back] |= ends[:, back:]
    return marked


def unlikelihood(target, rows):
    """Mean over the repeating tokens of the continuations in rows [B, PROMPT + CONTINUED]; 0 where none repeats."""
    hidden, _ = target(rows[:, :-1])
    log_probability = functional.log_softmax(target.logits(hidden[:, PROMPT - 1 :]), -1)
    continuation = rows[:, PROMPT:]
    chosen = log_probability.gather(-1, continuation[..., None])[..., 0]
    penalty = -torch.log((1 - chosen.exp()).clamp_min(1e-4))
    marked = in_repeat(continuation)
    return (penalty * marked).sum() / marked.numel() * PENALTY


class LoopLosses:
    """The loss of a step: ordinary text, and continuations out of a pool that is made anew every POOL_STEPS."""

    def __init__(self, target, corpus, text_loss, report):
        self.target, self.corpus, self.text_loss, self.report = target, corpus, text_loss, report
        self.pool = None

    def __call__(self, step):
        pool_step = step - step % POOL_STEPS
        if self.pool is None or step == pool_step:
            self.pool = self.continuations(pool_step)
        first = (step - pool_step) * ROWS_OF_STEP % POOL_ROWS
        return self.text_loss(step) + unlikelihood(self.target, self.pool[first : first + ROWS_OF_STEP])

    def continuations(self, pool_step):
        generator = generator_of(SEED, pool_step)
        names = [CLASSES[row % len(CLASSES)] for row in range(POOL_ROWS)]
        prompts = self.corpus.windows(names, PROMPT, generator)
        rows = self.target.continue_greedily(prompts, CONTINUED)
        self.report(f"repeated 8-grams in greedy prose of the training part: {repeated_share(rows[:, PROMPT:]):.3f}")
        return rows


def train_against_loops(target, texts, checkpoint, report):
    """Returns the seconds spent. Resumed inside a pool, the pool is made anew by the later weights."""
    corpus = Corpus(texts, "train", MIX)
    copying = Copying(texts, corpus, text_rows=0)

    def text_loss(step):
        generator = generator_of(SEED, STEPS + step)
        names = mixed_classes(MIXED_ROWS, generator) + list(CLASSES) * ROWS_OF_CLASS
        text = target.loss(corpus.windows(names, TEXT_LENGTH + 1, generator))
        return text + copying.loss(target, generator)

    return train(target, LoopLosses(target, corpus, text_loss, report), STEPS, checkpoint, report, RATE)
