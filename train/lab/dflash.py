"""DFlash: a drafter that fills a whole block in one pass, reading the target's hidden states.

Context: for every position before the block, the inputs of the tapped target layers, joined, projected and
normed, give keys and values (without the attention norm, which only the block's own rows pass).
Block: [last token | mask x (BLOCK - 1)] with the target's embeddings; its rows see the context before the last
token's position, and each other in both directions. Row i predicts the token in its own place.
"""
import math

import torch
import torch.nn.functional as functional
from torch import nn

from lab.gguf_file import GgufFile
from lab.golden import best_and_gap
from lab.layers import HEAD, Block, RmsNorm, Rope, initialise, linear
from lab.tokenizer import MASK

BLOCK = 8
TAPS = (1, 3, 4, 5)
ANCHORS = 24  # blocks of one row in training
DECAY = 4.0  # the loss of place i is weighted by exp(-(i - 1) / DECAY)


class DFlash(nn.Module):
    def __init__(self, width=256, heads=4, key_value_heads=2, hidden=512, layers=2):
        super().__init__()
        self.shape = {"width": width, "heads": heads, "key_value_heads": key_value_heads, "hidden": hidden}
        self.features = linear(len(TAPS) * width, width)
        self.features_norm = RmsNorm(width)
        self.blocks = nn.ModuleList(
            Block(width, heads, key_value_heads, hidden, gated=False) for _ in range(layers)
        )
        self.norm = RmsNorm(width)
        self.rope = Rope()
        initialise(self, layers)

    def forward(self, tapped, embedded, anchors):
        """Hidden states of the blocks, [B, A, K, E].

        tapped [B, T, len(TAPS) * E]; embedded [B, A, K, E]; anchors [B, A], the positions of the last tokens.
        """
        rows, positions, _ = tapped.shape
        count, places = embedded.shape[1:3]
        context = self.features_norm(self.features(tapped))
        of_block = (anchors[:, :, None] + torch.arange(places)).view(rows, 1, count * places)
        before = torch.arange(positions) < anchors[:, :, None]  # [B, A, T]
        hidden_context = torch.zeros(before.shape).masked_fill(~before, float("-inf"))[:, None, :, None]
        x = embedded.reshape(rows, count * places, -1)
        for block in self.blocks:
            x = x + self.attend(block, x, context, hidden_context, of_block, count)
            x = x + block.feed_forward(block.feed_forward_norm(x))
        return self.norm(x).view(rows, count, places, -1)

    def attend(self, block, x, context, mask, of_block, count):
        """Attention of all blocks at once: scores to the context and to the own block, one softmax over both."""
        attention = block.attention
        rows, positions, _ = context.shape
        normed, rope = block.attention_norm(x), self.rope.at(of_block)
        query, _ = attention.queries(normed, rope)
        own = map(attention.for_heads, attention.keys_values(normed, rope))
        seen = attention.keys_values(context, self.rope.at(slice(0, positions)))
        context_keys, context_values = map(attention.for_heads, seen)

        def by_block(tensor):  # [B, H, A * K, n] -> [B, H, A, K, n]
            return tensor.view(rows, attention.heads, count, -1, tensor.shape[-1])

        own_keys, own_values = map(by_block, own)
        to_context = by_block(query @ context_keys.transpose(-1, -2)) + mask
        to_own = by_block(query) @ own_keys.transpose(-1, -2)
        weights = torch.softmax(torch.cat((to_context, to_own), -1) / math.sqrt(HEAD), -1)
        from_context = weights[..., :positions].flatten(2, 3) @ context_values
        from_own = (weights[..., positions:] @ own_values).flatten(2, 3)
        return attention.project(from_context + from_own, None)


def predictions(drafter, target, tokens, anchors):
    """(logits [B, A, K-1, V], labels [B, A, K-1]) of the places after each anchor. tokens [B, T], anchors [B, A]."""
    with torch.no_grad():
        _, tapped = target(tokens, taps=TAPS)
    index = anchors[:, :, None] + torch.arange(BLOCK)
    block = torch.gather(tokens, 1, index.flatten(1)).view(index.shape)
    masked = torch.full_like(block, MASK)
    masked[..., 0] = block[..., 0]
    hidden = drafter(torch.cat(tapped, -1), target.embedding(masked), anchors)
    return target.logits(hidden[:, :, 1:]), block[..., 1:]


def random_anchors(tokens, first_anchor, generator):
    """[B, ANCHORS] positions from first_anchor on, whose blocks lie in the rows [B, T]."""
    rows, positions = tokens.shape
    choices = positions - BLOCK - first_anchor + 1
    anchors = torch.stack([torch.randperm(choices, generator=generator)[:ANCHORS] for _ in range(rows)])
    return anchors + first_anchor


def weighted_loss(logits, labels):
    """Cross entropy of what `predictions` returns, the first places counting most."""
    each = functional.cross_entropy(logits.flatten(0, 2), labels.flatten(), reduction="none")
    weights = torch.exp(-torch.arange(BLOCK - 1) / DECAY)
    return (each.view(-1, BLOCK - 1).mean(0) * weights / weights.sum()).sum()


def loss(drafter, target, tokens, first_anchor, generator):
    """The weighted loss at ANCHORS random anchors of each row, from position first_anchor."""
    anchors = random_anchors(tokens, first_anchor, generator)
    return weighted_loss(*predictions(drafter, target, tokens, anchors))


@torch.no_grad()
def block_logits(drafter, target, tokens, positions, count):
    """[P, count, V] behind each of the positions [P] of tokens [T], as llama.cpp drafts: in blocks of count + 1."""
    _, tapped = target(tokens[None], taps=TAPS)
    blocks = torch.full((1, len(positions), count + 1), MASK)
    blocks[0, :, 0] = tokens[positions]
    hidden = drafter(torch.cat(tapped, -1), target.embedding(blocks), positions[None])
    return target.logits(hidden[0, :, 1:])


def drafts(drafter, target, tokens, positions, count):
    """(token ids, gaps), each [P, count]: what is drafted behind each of the positions [P] of tokens [T]."""
    return best_and_gap(block_logits(drafter, target, tokens, positions, count))


def write(path, drafter, tokenizer, kind="f16"):
    file = GgufFile(path, "dflash", "Paceline laboratory DFlash", tokenizer, kind)
    write_into(file, drafter)
    file.close()


def write_into(file, drafter):
    """The keys and tensors of DFlash, which a drafter built on it has too."""
    file.shape(drafter.shape, len(drafter.blocks))
    file.number("block_size", BLOCK)
    file.numbers("target_layers", TAPS)
    file.tensor("fc.weight", drafter.features.weight)
    file.tensor("enc.output_norm.weight", drafter.features_norm.weight)
    file.tensor("output_norm.weight", drafter.norm.weight)
    for i, block in enumerate(drafter.blocks):
        file.block(f"blk.{i}", block)
