"""The MTP block (qwen35's nextn block): predicts the token after next from a token and the hidden state before it.

Row k: join([norm(embedding of x_k) | norm(h_{k-1})]), one gated block at position k, norm, the target's head;
it predicts x_{k+1}. h is the target's hidden state after its last norm, and h_{-1} = 0. A further draft step
feeds the block's own hidden state (after its norm) in the place of h, so training unrolls the steps.
"""
import math

import torch
import torch.nn.functional as functional
from torch import nn

from lab.golden import best_and_gap
from lab.layers import HEAD, Block, RmsNorm, Rope, causal_mask, initialise, linear

STEPS = 3
STEP_WEIGHT = 0.8  # of each further step, to the one before


class Mtp(nn.Module):
    def __init__(self, width=256, heads=4, key_value_heads=2, hidden=704):
        super().__init__()
        self.join = linear(2 * width, width)
        self.embedding_norm = RmsNorm(width)
        self.hidden_norm = RmsNorm(width)
        self.block = Block(width, heads, key_value_heads, hidden, gated=True)
        self.norm = RmsNorm(width)
        self.rope = Rope()
        initialise(self, 1)

    def joined(self, embedded, hidden):
        return self.join(torch.cat((self.embedding_norm(embedded), self.hidden_norm(hidden)), -1))

    def first(self, embedded, hidden):
        """Rows of true tokens and true hidden states [B, T, E]: (hidden after the norm, (keys, values))."""
        positions, cache = embedded.shape[1], []
        x = self.joined(embedded, hidden)
        x = self.block(x, self.rope.at(slice(0, positions)), causal_mask(positions), cache)
        return self.norm(x), tuple(cache)

    def further(self, embedded, hidden, true_rows, own_rows, step):
        """Draft step `step` (1, 2, ..) behind every anchor at once.

        embedded, hidden [B, T, E] belong to position anchor + step. A row sees the true rows up to its anchor
        (true_rows: keys and values of `first`) and its own rows of the steps before (own_rows, one (keys, values)
        for each, which this call extends). Returns hidden after the norm [B, T, E].
        """
        attention, positions = self.block.attention, embedded.shape[1]
        rope = self.rope.at(slice(step, step + positions))
        x = self.joined(embedded, hidden)
        normed = self.block.attention_norm(x)
        query, gate = attention.queries(normed, rope)
        keys, values = map(attention.for_heads, attention.keys_values(normed, rope))
        own_rows.append((keys, values))
        true_keys, true_values = (attention.for_heads(part)[:, :, :positions] for part in true_rows)
        to_true = query @ true_keys.transpose(-1, -2) + causal_mask(positions)
        to_own = torch.stack([(query * keys[:, :, :positions]).sum(-1) for keys, _ in own_rows], -1)
        weights = torch.softmax(torch.cat((to_true, to_own), -1) / math.sqrt(HEAD), -1)
        attended = weights[..., :positions] @ true_values
        for i, (_, values) in enumerate(own_rows):
            attended = attended + weights[..., positions + i : positions + i + 1] * values[:, :, :positions]
        x = x + attention.project(attended, gate)
        x = x + self.block.feed_forward(self.block.feed_forward_norm(x))
        return self.norm(x)


def predictions(mtp, target, tokens, first_anchor):
    """[(logits [B, N, V], labels [B, N])] of draft steps 0.. for the anchors from first_anchor.

    tokens [B, T]. The label of step i at anchor k is tokens[k + 1 + i].
    """
    with torch.no_grad():
        target_hidden, _ = target(tokens)
        embedded = target.embedding(tokens)
    before = torch.cat((torch.zeros_like(target_hidden[:, :1]), target_hidden[:, :-1]), 1)
    hidden, true_rows = mtp.first(embedded, before)
    own_rows, found, positions = [], [], tokens.shape[1]
    for step in range(STEPS):
        if step > 0:
            hidden = hidden[:, : positions - step]
            hidden = mtp.further(embedded[:, step:], hidden, true_rows, own_rows, step)
        with_label = hidden[:, first_anchor : positions - 1 - step]
        found.append((target.logits(with_label), tokens[:, first_anchor + 1 + step :]))
    return found


@torch.no_grad()
def drafts(mtp, target, tokens, positions, count):
    """(token ids, gaps), each [P, count]: what is drafted behind each of the positions [P] of tokens [T]."""
    target_hidden, _ = target(tokens[None])
    before = torch.cat((torch.zeros_like(target_hidden[:, :1]), target_hidden[:, :-1]), 1)
    hidden, true_rows = mtp.first(target.embedding(tokens[None]), before)
    own_rows, found = [], [best_and_gap(target.logits(hidden))]
    for step in range(1, count):
        embedded = target.embedding(found[-1][0])
        hidden = mtp.further(embedded, hidden, true_rows, own_rows, step)
        found.append(best_and_gap(target.logits(hidden)))
    best, gaps = (torch.stack(parts, -1)[0, positions] for parts in zip(*found))
    return best, gaps


def loss(mtp, target, tokens, first_anchor, _=None):
    """At every anchor from first_anchor on: nothing is drawn."""
    total = 0.0
    for step, (logits, labels) in enumerate(predictions(mtp, target, tokens, first_anchor)):
        total = total + STEP_WEIGHT**step * functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
    return total
