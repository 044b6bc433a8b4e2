"""The two language models: the target (architecture qwen35) and the small draft model (qwen3)."""
import torch
import torch.nn.functional as functional
from torch import nn

from lab.golden import best_and_gap
from lab.layers import Block, RmsNorm, Rope, causal_mask, initialise, linear
from lab.tokenizer import VOCABULARY


class LanguageModel(nn.Module):
    """Decoder-only model. `shape` holds every size that the file needs.

    In the target, layer 0 is only a feed-forward layer: qwen35 wants one recurrent layer, and the file
    gives it one whose output is zero.
    """

    def __init__(self, **shape):
        super().__init__()
        self.shape = shape
        sizes = (shape["width"], shape["heads"], shape["key_value_heads"], shape["hidden"])
        self.embedding = nn.Embedding(VOCABULARY, shape["width"])
        self.blocks = nn.ModuleList(
            Block(*sizes, gated=shape["gated"], attends=not (shape["recurrent_first"] and i == 0))
            for i in range(shape["layers"])
        )
        self.norm = RmsNorm(shape["width"])
        if not shape["tied"]:
            self.head = linear(shape["width"], VOCABULARY)
        self.rope = Rope()
        initialise(self, shape["layers"])

    def forward(self, tokens, taps=(), caches=None, first=0):
        """tokens [B, T] at positions first..: (hidden after the last norm [B, T, E], [input of each tapped layer])."""
        positions = tokens.shape[1]
        rope = self.rope.at(slice(first, first + positions))
        mask = causal_mask(positions) if positions > 1 else None
        tapped, x = [], self.embedding(tokens)
        for i, block in enumerate(self.blocks):
            if i in taps:
                tapped.append(x)
            x = block(x, rope, mask, None if caches is None else caches[i])
        return self.norm(x), tapped

    def logits(self, hidden):
        return functional.linear(hidden, self.embedding.weight if self.shape["tied"] else self.head.weight)

    def loss(self, tokens):
        """Mean cross entropy (nats per token) of tokens [B, T+1] after their first."""
        hidden, _ = self(tokens[:, :-1])
        return functional.cross_entropy(self.logits(hidden).flatten(0, 1), tokens[:, 1:].flatten())

    @torch.no_grad()
    def continue_greedily(self, tokens, count):
        """tokens [B, T] -> [B, T + count]."""
        caches = [[] for _ in self.blocks]
        hidden, _ = self(tokens, caches=caches)
        for step in range(count):
            best = self.logits(hidden[:, -1:]).argmax(-1)
            tokens = torch.cat((tokens, best), 1)
            if step + 1 < count:
                hidden, _ = self(best, caches=caches, first=tokens.shape[1] - 1)
        return tokens


@torch.no_grad()
def drafts(model, _, tokens, positions, count):
    """(token ids, gaps), each [P, count]: what a draft model of its own drafts behind each of the positions [P] of
    tokens [T]. It makes no use of the target, which other drafters need."""
    found = []
    for position in positions.tolist():
        text = model.continue_greedily(tokens[None, : position + 1], count)
        hidden, _ = model(text[:, :-1])
        found.append(best_and_gap(model.logits(hidden[0, -count:])))
    best, gaps = (torch.stack(parts) for parts in zip(*found))
    return best, gaps


def new_target():
    return LanguageModel(
        width=256, heads=4, key_value_heads=2, hidden=704, layers=6, gated=True, recurrent_first=True, tied=False
    )


def new_small():
    return LanguageModel(
        width=128, heads=2, key_value_heads=2, hidden=320, layers=2, gated=False, recurrent_first=False, tied=True
    )
