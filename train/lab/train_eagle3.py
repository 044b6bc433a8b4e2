"""Training of the EAGLE3 drafter on the frozen target, unrolled over as many rows as a draft has.

The labels are the target's own distributions, not the text: that is what a draft is tested against, and it
says more per row. The rows of a draft read the text's tokens, as those of a draft do that was accepted so far.
"""
import torch

from lab.batches import MIX, Corpus, generator_of
from lab.eagle3 import DRAFTED, Eagle3, known, rows_at
from lab.training import train

STEPS = 600
ROWS = 16  # of a batch; half of them the target's greedy texts
ANCHORS = 48  # drafts in each row
LENGTH = 256
SEED = 5
DECAY = 0.8  # of a draft row's weight against the row before


def train_eagle3(target, texts, greedy_rows, checkpoint, report, steps=STEPS):
    """target: frozen; greedy_rows [N, LENGTH]: prompts with the target's greedy answers.

    Returns (drafter, seconds spent).
    """
    torch.manual_seed(SEED)
    drafter = Eagle3()
    corpus = Corpus(texts, "train", MIX)

    def loss_of_step(step):
        generator = generator_of(SEED, step)
        chosen = torch.randint(0, len(greedy_rows), (ROWS // 2,), generator=generator)
        tokens = torch.cat((greedy_rows[chosen], corpus.batch(ROWS // 2, LENGTH, generator)))
        return loss(drafter, target, tokens, random_anchors(generator))

    return drafter, train(drafter, loss_of_step, steps, checkpoint, report)


def random_anchors(generator):
    """[ROWS, ANCHORS], distinct in a row, each with a whole draft and its labels behind it."""
    places = LENGTH - DRAFTED
    return torch.stack([torch.randperm(places, generator=generator)[:ANCHORS] for _ in range(ROWS)])


def loss(drafter, target, tokens, anchors):
    """Cross entropy (nats) of the draft rows against the target, the rows weighted by DECAY.

    tokens [B, T+1], anchors [B, A] with anchor + DRAFTED at most T.
    """
    features, following, hidden = known(drafter, target, tokens)
    outputs = drafter(features, following, anchors, DRAFTED, lambda row, _: rows_at(following, anchors + row))
    with torch.no_grad():
        labelling = torch.stack([rows_at(hidden, anchors + 1 + row) for row in range(DRAFTED)], 2)
        labels = torch.softmax(target.logits(labelling), -1)
    of_row = -(labels * torch.log_softmax(target.logits(outputs), -1)).sum(-1).mean((0, 1))
    weights = DECAY ** torch.arange(DRAFTED)
    return (of_row * weights).sum() / weights.sum()
