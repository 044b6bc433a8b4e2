"""Held-out perplexity in torch, counted as llama-perplexity counts it: the second half of windows of 512 tokens."""
import math

import torch
import torch.nn.functional as functional

WINDOW = 512
WINDOWS = 20


@torch.no_grad()
def perplexity(model, tokens, windows=WINDOWS):
    """tokens [N]: exp of the mean loss of places 257..511 of each window, each predicted from its window alone."""
    count = min(windows, len(tokens) // WINDOW)
    total, first = 0.0, WINDOW // 2
    for window in tokens[: count * WINDOW].view(count, WINDOW):
        hidden, _ = model(window[None])
        logits = model.logits(hidden[0, first:-1])
        total += functional.cross_entropy(logits, window[first + 1 :], reduction="sum").item()
    return math.exp(total / (count * (WINDOW - 1 - first)))


def bits_per_byte(perplexity_per_token, bytes_per_token):
    """Comparable between tokenizers, which perplexity per token is not."""
    return math.log2(perplexity_per_token) / bytes_per_token
