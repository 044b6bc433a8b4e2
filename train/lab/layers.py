"""Layers shared by the laboratory models, written so that every operation equals llama.cpp v0.5.0's graph.

Shapes: B rows, T positions, E width, H heads, G key-value heads, D head dimension. float32 throughout.
"""
import math

import torch
import torch.nn.functional as functional
from torch import nn

EPSILON = 1e-5
ROPE_BASE = 10000.0
HEAD = 64  # D
LONGEST = 4096  # positions; the context length that the files state


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPSILON) * self.weight


def linear(inputs, outputs):
    return nn.Linear(inputs, outputs, bias=False)


class Rope(nn.Module):
    """NEOX pairing: i with i + D/2. llama.cpp's IMROPE with three equal positions is the same."""

    def __init__(self):
        super().__init__()
        angles = torch.arange(LONGEST)[:, None] / (ROPE_BASE ** (torch.arange(0, HEAD, 2) / HEAD))[None]
        self.register_buffer("cosines", angles.cos(), persistent=False)
        self.register_buffer("sines", angles.sin(), persistent=False)

    def at(self, positions):
        """(cosines, sines) [..., D/2] for a slice or a tensor of positions."""
        return self.cosines[positions], self.sines[positions]


def rotate(x, rope):
    """x [..., D] turned by rope = (cosines, sines) that broadcast to [..., D/2]."""
    cosines, sines = rope
    first, second = x.chunk(2, -1)
    return torch.cat((first * cosines - second * sines, second * cosines + first * sines), -1)


def causal_mask(positions):
    """[T, T]: 0 where a row may look, minus infinity after itself."""
    return torch.full((positions, positions), float("-inf")).triu(1)


class FeedForward(nn.Module):
    """SwiGLU. gate_up holds the gate's rows, then the up projection's."""

    def __init__(self, width, hidden):
        super().__init__()
        self.gate_up = linear(width, 2 * hidden)
        self.down = linear(hidden, width)

    def forward(self, x):
        gate, up = self.gate_up(x).chunk(2, -1)
        return self.down(functional.silu(gate) * up)


class Attention(nn.Module):
    """Grouped queries with a norm on queries and keys before RoPE.

    gated (qwen35): rows of the query projection are [query(D) | gate(D)] for each head, and the
    attention's output is multiplied by sigmoid(gate) before the output projection.
    """

    def __init__(self, width, heads, key_value_heads, gated):
        super().__init__()
        self.heads, self.key_value_heads, self.gated = heads, key_value_heads, gated
        self.query = linear(width, heads * HEAD * (2 if gated else 1))
        self.key = linear(width, key_value_heads * HEAD)
        self.value = linear(width, key_value_heads * HEAD)
        self.output = linear(heads * HEAD, width)
        self.query_norm = RmsNorm(HEAD)
        self.key_norm = RmsNorm(HEAD)

    def queries(self, x, rope):
        """x [B, T, E] -> queries [B, H, T, D], gate [B, T, H*D] or None."""
        rows, positions, _ = x.shape
        projected = self.query(x).view(rows, positions, self.heads, -1)
        query, gate = (projected.chunk(2, -1)) if self.gated else (projected, None)
        if gate is not None:
            gate = gate.reshape(rows, positions, -1)
        return rotate(self.query_norm(query).transpose(1, 2), rope), gate

    def keys_values(self, x, rope):
        """x [B, T, E] -> keys, values [B, G, T, D]."""
        rows, positions, _ = x.shape
        split = (rows, positions, self.key_value_heads, HEAD)
        keys = rotate(self.key_norm(self.key(x).view(split)).transpose(1, 2), rope)
        return keys, self.value(x).view(split).transpose(1, 2)

    def for_heads(self, keys_or_values):
        """[B, G, T, D] -> [B, H, T, D]: each key-value head serves H/G query heads."""
        return keys_or_values.repeat_interleave(self.heads // self.key_value_heads, 1)

    def project(self, attended, gate):
        """attended [B, H, T, D] -> [B, T, E]."""
        rows, heads, positions, width = attended.shape
        joined = attended.transpose(1, 2).reshape(rows, positions, heads * width)
        return self.output(joined if gate is None else joined * torch.sigmoid(gate))

    def forward(self, x, rope, mask=None, cache=None):
        """x [B, T, E]; mask [T, keys]; cache: a list that holds (keys, values) of earlier positions."""
        query, gate = self.queries(x, rope)
        keys, values = self.keys_values(x, rope)
        if cache is not None:
            if cache:
                keys, values = torch.cat((cache[0], keys), 2), torch.cat((cache[1], values), 2)
            cache[:] = [keys, values]
        scores = query @ self.for_heads(keys).transpose(-1, -2) / math.sqrt(HEAD)
        if mask is not None:
            scores = scores + mask
        return self.project(torch.softmax(scores, -1) @ self.for_heads(values), gate)


class Block(nn.Module):
    """x += attention(norm(x)); x += feed_forward(norm(x)). Without attention: qwen35's neutral recurrent layer."""

    def __init__(self, width, heads, key_value_heads, hidden, gated, attends=True):
        super().__init__()
        self.feed_forward_norm = RmsNorm(width)
        self.feed_forward = FeedForward(width, hidden)
        if attends:
            self.attention_norm = RmsNorm(width)
            self.attention = Attention(width, heads, key_value_heads, gated)
        self.attends = attends

    def forward(self, x, rope, mask=None, cache=None):
        if self.attends:
            x = x + self.attention(self.attention_norm(x), rope, mask, cache)
        return x + self.feed_forward(self.feed_forward_norm(x))


def initialise(module, layers):
    """Normal weights by fan-in; what is added to the residual stream is smaller in deeper models."""
    for name, weight in module.named_parameters():
        if weight.dim() > 1:
            shared = name.startswith(("embedding.", "head."))
            nn.init.normal_(weight, 0, 0.02 if shared else 0.5 / math.sqrt(weight.shape[1]))
        if name.endswith(("attention.output.weight", "feed_forward.down.weight")):
            weight.data.mul_(1 / math.sqrt(2 * layers))
