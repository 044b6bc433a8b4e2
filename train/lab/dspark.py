"""DSpark: a DFlash drafter with a Markov head, by which every drafted token leans on the one before it.

Why DSpark and not DFlash2. DFlash fills its block in one pass, so that no row knows what the row before
it chose; DSpark mends this with two matrices of V x 32 on top of a trained DFlash, and starts from its
weights. DFlash2 puts a convolution on both sides of every attention and feed-forward, and chooses from a
lattice of candidates: another backbone, to be trained from nothing and with a loss of its own. And a chain
of best tokens can be held against torch token by token, where DFlash2's differs for every near tie at
the edge of its candidates too.

The graph (build_dspark_markov_head in llama.cpp v0.5.0), t_0 being the block's known token:

    logits_i = DFlash's logits of row i + markov_head(markov_embedding(t_{i-1})),  t_i = argmax logits_i

The token that a row leans on is the drafted one. In training it is the true one: a draft counts only
as long as everything before it was right, so a row whose predecessor was wrong has nothing to win.

Pitfalls, each seen in llama.cpp:
- Where the file does not say `sample_from_anchor`, it is true: then row i predicts the token after it,
  and a block of 8 makes 8 drafts. Ours says false, which is DFlash's layout: row i predicts its own place.
- `block_size` is required, for llama.cpp's graph ends the process without it.
- The confidence head serves --spec-draft-p-min alone; the file has none and says so.
- A rank that is no multiple of 32 keeps the Markov matrices out of Q8_0 and Q4_0.
"""
import math

import torch
from torch import nn

from lab import dflash
from lab.gguf_file import GgufFile
from lab.golden import best_and_gap
from lab.layers import linear
from lab.tokenizer import VOCABULARY

RANK = 32


class DSpark(nn.Module):
    """Drafts as its DFlash alone at first, for the Markov head starts at zero."""

    def __init__(self, rank=RANK):
        super().__init__()
        self.dflash = dflash.DFlash()
        self.markov_embedding = nn.Embedding(VOCABULARY, rank)
        self.markov_head = linear(rank, VOCABULARY)
        nn.init.normal_(self.markov_embedding.weight, 0, 1 / math.sqrt(rank))
        nn.init.zeros_(self.markov_head.weight)

    def bias(self, previous):
        """previous [...] token ids -> [..., V], added to the logits of the rows after them."""
        return self.markov_head(self.markov_embedding(previous))

    def chain(self, logits, known):
        """DFlash's logits [.., N, V] of the N rows after the known tokens [..], biased by what is drafted."""
        biased, previous = [], known
        for row in logits.unbind(-2):
            biased.append(row + self.bias(previous))
            previous = biased[-1].argmax(-1)
        return torch.stack(biased, -2)


def predictions(drafter, target, tokens, anchors):
    """As dflash.predictions, every row biased by the true token before it."""
    logits, labels = dflash.predictions(drafter.dflash, target, tokens, anchors)
    known = tokens.gather(1, anchors)[..., None]
    return logits + drafter.bias(torch.cat((known, labels[..., :-1]), -1)), labels


def loss(drafter, target, tokens, first_anchor, generator):
    """DFlash's loss, at the same anchors."""
    anchors = dflash.random_anchors(tokens, first_anchor, generator)
    return dflash.weighted_loss(*predictions(drafter, target, tokens, anchors))


@torch.no_grad()
def drafts(drafter, target, tokens, positions, count):
    """(token ids, gaps), each [P, count]: what is drafted behind each of the positions [P] of tokens [T]."""
    logits = dflash.block_logits(drafter.dflash, target, tokens, positions, count)
    return best_and_gap(drafter.chain(logits, tokens[positions]))


def write(path, drafter, tokenizer, kind="f16"):
    file = GgufFile(path, "dflash", "Paceline laboratory DSpark", tokenizer, kind)
    dflash.write_into(file, drafter.dflash)
    file.truth("sample_from_anchor", False)
    file.truth("has_confidence_head", False)
    file.tensor("markov_w1.weight", drafter.markov_embedding.weight)
    file.tensor("markov_w2.weight", drafter.markov_head.weight)
    file.close()
