"""EAGLE3 drafter: architecture eagle3 of llama.cpp v0.5.0, operation by operation.

One attention block that drafts one token after the other. Row P joins what the target knew at position P
with the token that came after it, and predicts the token after that:

    fused_P = fuse @ [input of target layer t, for t in taps]              (the encoder)
    pair_P  = [embedding_norm(embedding of token P+1) | hidden_norm(fused_P)]
    x = fused_P + attention(pair_P) at position P;  hidden_P = x + feed_forward(norm(x))
    logits of token P+2 = target's output @ output_norm(hidden_P)

Draft row s > 0 of anchor P stands at position P+s, reads the token drafted before it, and has hidden_(P+s-1),
before the output norm, in the place of fused. It sees the true rows up to P and the draft rows before itself.

Where llama.cpp's graph differs from the other laboratory models:
- the last verified position has no row until its next token is known: the first draft row is that row, so a
  draft behind n verified tokens starts at position n-1, not n;
- RoPE turns neighbours (2i, 2i+1), not i with i + D/2;
- queries and keys have no norm of their own, and the attention reads 2E numbers and writes E;
- the residual is the fused row itself, not its norm (norm_before_residual false), and fuse reads the taps
  without a norm (norm_before_fc false);
- there are exactly three taps and one block. The drafter has no embedding and no output of its own here: both
  are the target's.
"""
import math

import torch
from torch import nn

from lab.gguf_file import GgufFile
from lab.golden import best_and_gap
from lab.layers import HEAD, FeedForward, RmsNorm, Rope, initialise, linear

TAPS = (1, 3, 5)
DRAFTED = 5  # rows that training unrolls
ANCHORS = 48  # drafts of one row of tokens in training
ROW_WEIGHT = 0.8  # of each further draft row, to the one before


def rotate_neighbours(x, rope):
    """x [..., D] turned by rope = (cosines, sines) that broadcast to [..., D/2], with 2i and 2i+1 as a pair."""
    cosines, sines = rope
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cosines - odd * sines, odd * cosines + even * sines), -1).flatten(-2)


def rows_at(values, positions):
    """values [B, T, E], positions [B, A] -> [B, A, E]."""
    return values.gather(1, positions[:, :, None].expand(-1, -1, values.shape[2]))


class PairAttention(nn.Module):
    """Grouped queries that read pairs of 2E numbers. Anchors see the context up to themselves."""

    def __init__(self, width, heads, key_value_heads):
        super().__init__()
        self.heads, self.key_value_heads = heads, key_value_heads
        self.query = linear(2 * width, heads * HEAD)
        self.key = linear(2 * width, key_value_heads * HEAD)
        self.value = linear(2 * width, key_value_heads * HEAD)
        self.output = linear(heads * HEAD, width)

    def split(self, projected, heads):
        """[B, N, heads*D] -> [B, H, N, D]; a key-value head is repeated for the queries that it serves."""
        rows, count, _ = projected.shape
        divided = projected.view(rows, count, heads, HEAD).transpose(1, 2)
        return divided.repeat_interleave(self.heads // heads, 1)

    def keys_values(self, pairs, rope):
        """pairs [B, N, 2E] -> keys, values [B, H, N, D]."""
        keys = rotate_neighbours(self.split(self.key(pairs), self.key_value_heads), rope)
        return keys, self.split(self.value(pairs), self.key_value_heads)

    def forward(self, pairs, rope, context, mask, earlier):
        """pairs [B, A, 2E], one row of each anchor's draft -> [B, A, E].

        context: (keys, values) [B, H, T, D]; mask [B, 1, A, T] over it; earlier: a list of (keys, values)
        [B, H, A, D], those of the anchor's own draft rows that are not in the context, this one included.
        """
        queries = rotate_neighbours(self.split(self.query(pairs), self.heads), rope)
        scores = [queries @ context[0].transpose(-1, -2) + mask]
        scores += [(queries * keys).sum(-1, keepdim=True) for keys, _ in earlier]
        weights = torch.softmax(torch.cat(scores, -1) / math.sqrt(HEAD), -1)
        length = mask.shape[-1]
        attended = weights[..., :length] @ context[1]
        for i, (_, values) in enumerate(earlier):
            attended = attended + weights[..., length + i, None] * values
        rows, _, anchors, _ = attended.shape
        return self.output(attended.transpose(1, 2).reshape(rows, anchors, self.heads * HEAD))


class Eagle3(nn.Module):
    def __init__(self, width=256, heads=4, key_value_heads=2, hidden=704):
        super().__init__()
        self.shape = {"width": width, "heads": heads, "key_value_heads": key_value_heads, "hidden": hidden}
        self.fuse = linear(len(TAPS) * width, width)
        self.embedding_norm = RmsNorm(width)
        self.hidden_norm = RmsNorm(width)
        self.attention = PairAttention(width, heads, key_value_heads)
        self.feed_forward_norm = RmsNorm(width)
        self.feed_forward = FeedForward(width, hidden)
        self.norm = RmsNorm(width)
        self.rope = Rope()
        initialise(self, 1)

    def pairs(self, embeddings, hidden):
        return torch.cat((self.embedding_norm(embeddings), self.hidden_norm(hidden)), -1)

    def forward(self, features, following, anchors, rows, embeddings_of_row):
        """The draft rows of every anchor, after the output norm: [B, A, rows, E].

        features [B, T, 3E] of positions 0..T-1; following [B, T, E]: embeddings of the tokens at 1..T;
        anchors [B, A]: last verified positions, below T. Row s predicts the token at anchor + 2 + s.
        embeddings_of_row(s, outputs) -> [B, A, E]: of the token that row s > 0 reads, given the rows before it.
        """
        length = features.shape[1]
        fused = self.fuse(features)
        context = self.attention.keys_values(self.pairs(following, fused), self.rope.at(slice(0, length)))
        unseen = torch.arange(length) > anchors[:, None, :, None]
        mask = torch.zeros(unseen.shape).masked_fill(unseen, float("-inf"))
        hidden, embeddings = rows_at(fused, anchors), rows_at(following, anchors)
        outputs, earlier = [], []
        for row in range(rows):
            rope = self.rope.at((anchors + row)[:, None])
            if row > 0:
                embeddings = embeddings_of_row(row, outputs)
            pairs = self.pairs(embeddings, hidden)
            if row > 0:  # row 0 is the context's own row at the anchor
                earlier.append(self.attention.keys_values(pairs, rope))
            hidden = hidden + self.attention(pairs, rope, context, mask, earlier)
            hidden = hidden + self.feed_forward(self.feed_forward_norm(hidden))
            outputs.append(self.norm(hidden))
        return torch.stack(outputs, 2)


@torch.no_grad()
def known(target, tokens):
    """What drafts in tokens [B, T+1] are made from: features [B, T, 3E], following [B, T, E]; and the target's
    last hidden rows [B, T+1, E]."""
    hidden, tapped = target(tokens, taps=TAPS)
    return torch.cat(tapped, -1)[:, :-1], target.embedding(tokens[:, 1:]), hidden


def loss(drafter, target, tokens, generator):
    """Cross entropy (nats) of DRAFTED draft rows behind ANCHORS random anchors of each row of tokens [B, T].

    The labels are the target's own distributions, which say more than the text's next token and are what a draft
    is tested against. The draft rows read the text's tokens, as those of a draft do that was accepted so far.
    """
    rows, positions = tokens.shape
    choices = positions - DRAFTED
    anchors = torch.stack([torch.randperm(choices, generator=generator)[:ANCHORS] for _ in range(rows)])
    features, following, hidden = known(target, tokens)
    outputs = drafter(features, following, anchors, DRAFTED, lambda row, _: rows_at(following, anchors + row))
    labelled = torch.stack([rows_at(hidden, anchors + 1 + row) for row in range(DRAFTED)], 2)
    labels = torch.softmax(target.logits(labelled), -1)
    of_row = -(labels * torch.log_softmax(target.logits(outputs), -1)).sum(-1).mean((0, 1))
    weights = ROW_WEIGHT ** torch.arange(DRAFTED)
    return (of_row * weights / weights.sum()).sum()


@torch.no_grad()
def drafts(drafter, target, tokens, positions, count):
    """(token ids, gaps), each [P, count]: what is drafted behind each of the positions [P] of tokens [T]."""
    features, following, _ = known(target, tokens[None])

    def embeddings_of_row(_, outputs):
        return target.embedding(target.logits(outputs[-1]).argmax(-1))

    outputs = drafter(features, following, positions[None] - 1, count, embeddings_of_row)
    return best_and_gap(target.logits(outputs[0]))


def write(path, drafter, tokenizer, kind="f16"):
    file = GgufFile(path, "eagle3", "Paceline laboratory EAGLE3", tokenizer, kind)
    file.shape(drafter.shape, 1)
    file.numbers("target_layers", TAPS)
    file.number("target_hidden_size", drafter.shape["width"])
    file.tensor("fc.weight", drafter.fuse.weight)
    file.tensor("output_norm.weight", drafter.norm.weight)
    file.tensor("blk.0.attn_norm.weight", drafter.embedding_norm.weight)
    file.tensor("blk.0.attn_norm_2.weight", drafter.hidden_norm.weight)
    file.projections("blk.0", drafter.attention)
    file.tensor("blk.0.ffn_norm.weight", drafter.feed_forward_norm.weight)
    file.feed_forward("blk.0", drafter.feed_forward)
    file.close()
