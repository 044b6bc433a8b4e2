"""Batches of token windows. Every batch is drawn from its step's own seed, so a resumed run draws the same."""
from pathlib import Path

import numpy
import torch

# Rows of each class in 20 rows of a batch.
MIX = {"prose": 4, "novel": 2, "c": 4, "python": 4, "json": 2, "tools": 2, "tasks": 2}
CLASSES = tuple(name for name in MIX if name != "tasks")


class Corpus:
    """The tokens of all classes of one part ("train" or "held-out")."""

    def __init__(self, folder, part, classes):
        self.tokens = {
            name: torch.from_numpy(numpy.load(Path(folder, f"{name}.{part}.npy")).astype(numpy.int64))
            for name in classes
        }

    def windows(self, names, length, generator):
        """[len(names), length] windows, each anywhere in the class that `names` gives it."""
        rows = []
        for name in names:
            tokens = self.tokens[name]
            start = int(torch.randint(0, len(tokens) - length, (1,), generator=generator))
            rows.append(tokens[start : start + length])
        return torch.stack(rows)

    def batch(self, rows, length, generator):
        """[rows, length] windows in the proportions of MIX."""
        return self.windows(mixed_classes(rows, generator), length, generator)


def mixed_classes(rows, generator):
    """`rows` names of classes: as many whole mixes as fit, the rest drawn from a shuffled mix."""
    mix = [name for name, count in MIX.items() for _ in range(count)]
    order = torch.randperm(len(mix), generator=generator).tolist()
    return (mix * (rows // len(mix))) + [mix[i] for i in order[: rows % len(mix)]]


def generator_of(seed, step):
    return torch.Generator().manual_seed(seed * 1_000_003 + step)
