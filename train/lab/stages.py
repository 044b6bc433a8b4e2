"""The stages of `make lab-models`, in order: what each reads and writes, and about how long it takes."""
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import numpy
import torch

from lab import data, dflash, dspark, eagle3, golden_files, loops, prompts
from lab import train_drafters, train_target
from lab.batches import CLASSES, Corpus
from lab.gguf_file import round_as_f16_file, write_small, write_target
from lab.language_model import new_small, new_target
from lab.mtp import Mtp
from lab.perplexity import bits_per_byte, perplexity
from lab.tokenizer import Tokenizer


@dataclass(frozen=True)
class Stage:
    name: str
    minutes: float  # on two idle cores with AVX-512, about
    run: Callable  # (workshop) -> a dict of figures for the record


class Workshop:
    """The folder that everything is made in, and what the stages have left there."""

    def __init__(self, folder, report):
        self.folder, self.report = Path(folder), report
        self.texts = self.folder / "text"
        self.downloads = self.folder / "downloads"
        self.models = self.folder / "models"
        self.rows = self.folder / "greedy-rows.npy"
        for part in ("text", "checkpoints", "models", "done"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)

    def checkpoint(self, name):
        return self.folder / "checkpoints" / f"{name}.pt"

    def weights(self, name, module):
        """`module` with the weights that the stage `name` made, as the F16 file holds them; they want no gradient."""
        module.load_state_dict(torch.load(self.checkpoint(name))["module"])
        return round_as_f16_file(module).requires_grad_(False).eval()

    def target(self):
        return self.weights("loops", new_target())

    def tokenizer(self):
        return Tokenizer.load(self.texts / "merges.json")


def texts(workshop):
    sizes = data.make_texts(workshop.texts, workshop.downloads)
    return {name: {"training bytes": training, "held-out bytes": held_out} for name, (training, held_out) in sizes.items()}


def tokens(workshop):
    return {"bytes per token": data.make_tokens(workshop.texts)}


def target(workshop):
    seconds = train_target.train_target(workshop.texts, workshop.checkpoint("target"), workshop.report)
    return {"seconds": seconds, "perplexity": held_out_perplexity(workshop, workshop.weights("target", new_target()))}


def fewer_loops(workshop):
    """Starts from the target."""
    model = workshop.weights("target", new_target()).requires_grad_(True)
    checkpoint = workshop.checkpoint("loops")
    seconds = loops.train_against_loops(model, workshop.texts, checkpoint, workshop.report)
    return {"seconds": seconds, "perplexity": held_out_perplexity(workshop, workshop.target())}


def greedy_rows(workshop):
    numpy.save(workshop.rows, train_drafters.continue_prompts(workshop.target(), workshop.texts, workshop.report))
    return {}


def small(workshop):
    seconds = train_target.train_small(workshop.texts, workshop.checkpoint("small"), workshop.report)
    return {"seconds": seconds, "perplexity": held_out_perplexity(workshop, workshop.weights("small", new_small()))}


def drafter(name):
    """A stage that trains one drafter on the frozen target."""

    def run(workshop):
        return {"seconds": train_one(workshop, name)}

    return run


def dspark_drafter(workshop):
    """Starts from the DFlash drafter."""
    trained = workshop.weights("dflash", dflash.DFlash()).state_dict()
    return {"seconds": train_one(workshop, "dspark", start=lambda drafter: drafter.dflash.load_state_dict(trained))}


def train_one(workshop, name, **start):
    paths = (workshop.texts, workshop.rows, workshop.checkpoint(name))
    return train_drafters.train_drafter(name, workshop.target(), *paths, workshop.report, **start)


def write_hashes(folder):
    """laboratory.sha256 of the folder's models as sha256sum writes it: what Paceline holds them against."""
    models = sorted(folder.glob("*.gguf"))
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in models]
    (folder / "laboratory.sha256").write_text("".join(lines))


def files(workshop):
    """The GGUF files, F16, and their hashes."""
    tokenizer, folder = workshop.tokenizer(), workshop.models
    mtp_block = workshop.weights("mtp", Mtp())
    write_target(folder / "target-mtp-f16.gguf", workshop.target(), mtp_block, tokenizer)
    write_small(folder / "small-f16.gguf", workshop.weights("small", new_small()), tokenizer)
    dflash.write(folder / "dflash-f16.gguf", workshop.weights("dflash", dflash.DFlash()), tokenizer)
    dspark.write(folder / "dspark-f16.gguf", workshop.weights("dspark", dspark.DSpark()), tokenizer)
    eagle3.write(folder / "eagle3-f16.gguf", workshop.weights("eagle3", eagle3.Eagle3()), tokenizer)
    write_hashes(folder)
    return {path.name: path.stat().st_size for path in sorted(folder.glob("*.gguf"))}


def golden(workshop):
    """NAME-golden.json of every drafter, beside the files."""
    texts = golden_files.held_out_prompts(workshop.texts)
    return golden_files.write_all(workshop.models, workshop.target(), workshop.weights, texts, workshop.report)


def workloads(workshop):
    """held-out-prompts.jsonl and evaluation.jsonl, from held-out text alone."""
    return prompts.make_workloads(workshop.texts, workshop.folder)


def held_out_perplexity(workshop, model):
    """{class: {"perplexity", "bits per byte"}} of the first windows of every held-out part."""
    held_out = Corpus(workshop.texts, "held-out", CLASSES)
    tokenizer, figures = workshop.tokenizer(), {}
    for name, all_tokens in held_out.tokens.items():
        value = perplexity(model, all_tokens)
        density = len(tokenizer.decode(all_tokens.tolist())) / len(all_tokens)
        figures[name] = {"perplexity": round(value, 4), "bits per byte": round(bits_per_byte(value, density), 4)}
        workshop.report(f"held-out perplexity of {name}: {value:.4f}")
    return figures


STAGES = (
    Stage("texts", 0.3, texts),
    Stage("tokens", 1, tokens),
    Stage("target", 72, target),
    Stage("loops", 4, fewer_loops),
    Stage("greedy-rows", 3, greedy_rows),
    Stage("mtp", 4, drafter("mtp")),
    Stage("dflash", 11, drafter("dflash")),
    Stage("dspark", 3, dspark_drafter),
    Stage("eagle3", 7, drafter("eagle3")),
    Stage("small", 3, small),
    Stage("files", 0.1, files),
    Stage("golden", 1, golden),
    Stage("workloads", 0.2, workloads),
)


def run_stages(folder, report):
    """Runs every stage that has not left its record in done/, and leaves it there."""
    workshop = Workshop(folder, report)
    for index, stage in enumerate(STAGES):
        record = workshop.folder / "done" / f"{stage.name}.json"
        if record.exists():
            report(f"{stage.name}: done before")
            continue
        left = sum(later.minutes for later in STAGES[index:])
        report(f"{stage.name}: about {stage.minutes:g} minutes, {left:.0f} minutes for all that is left")
        figures = stage.run(workshop)
        record.write_text(json.dumps(figures, indent=1))
