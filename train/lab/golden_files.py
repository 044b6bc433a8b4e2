"""The golden files of all drafters: which they are, and what they are written from."""
import json
from dataclasses import dataclass
from typing import Callable, Optional

from lab import dflash, dspark, eagle3, language_model, mtp
from lab.batches import CLASSES, Corpus, generator_of
from lab.golden import golden_text

PROMPT, OUTPUT = 96, 64  # tokens
TEXTS = 3  # of each class
SEED = 23
TARGET_FILE = "target-mtp-f16.gguf"

# One sentence for whoever opens a file.
MEANING = (
    "draft[i] is the token proposed at position + 1 + i, given the tokens before position and `last` at it; "
    "drafts, passes, offered and accepted are those of a run that emits greedy_ids; min_top2_gap is the least "
    "distance between the best two logits of all choices that the counts depend on"
)


@dataclass(frozen=True)
class Drafter:
    name: str  # of its training stage, and of its golden file
    file: Optional[str]  # None: it is in the target's
    spec_type: str
    n_max: int
    new: Callable  # () -> the module
    drafts: Callable  # (module, target, tokens, positions, count) -> (token ids, gaps), each [P, count]
    replays: bool = False  # whether the engine decodes accepted tokens again after a rejection


DRAFTERS = (
    Drafter("mtp", None, "draft-mtp", mtp.STEPS, mtp.Mtp, mtp.drafts),
    Drafter("dflash", "dflash-f16.gguf", "draft-dflash", dflash.BLOCK - 1, dflash.DFlash, dflash.drafts),
    Drafter("dspark", "dspark-f16.gguf", "draft-dspark", dflash.BLOCK - 1, dspark.DSpark, dspark.drafts),
    Drafter("eagle3", "eagle3-f16.gguf", "draft-eagle3", eagle3.DRAFTED, eagle3.Eagle3, eagle3.drafts),
    Drafter("small", "small-f16.gguf", "draft-simple", 4, language_model.new_small, language_model.drafts, True),
)


def held_out_prompts(texts):
    """[(id, class, token ids)] from the held-out part of every class."""
    held_out = Corpus(texts, "held-out", CLASSES)
    return [
        (f"{name}-{i:02}", name, held_out.windows([name], PROMPT, generator_of(SEED, i))[0].tolist())
        for name in CLASSES
        for i in range(TEXTS)
    ]


def write_all(folder, target, weights, prompts, report, drafters=DRAFTERS):
    """NAME-golden.json of every drafter in `folder`; returns {name: counts over its texts}.

    weights(name, module) -> the module with the weights of that training stage, as the F16 file holds them.
    """
    figures = {}
    for drafter in drafters:
        module = weights(drafter.name, drafter.new())
        texts = texts_of(drafter, module, target, prompts)
        write(folder / f"{drafter.name}-golden.json", drafter, texts)
        figures[drafter.name] = {
            count: sum(text[count] for text in texts) for count in ("passes", "offered", "accepted")
        }
        report(f"golden texts of {drafter.name}: {len(texts)}, {figures[drafter.name]}")
    return figures


def texts_of(drafter, module, target, prompts):
    def drafts(tokens, positions, count):
        return drafter.drafts(module, target, tokens, positions, count)

    texts = []
    for identity, name, prompt in prompts:
        text = golden_text(target, drafts, prompt, OUTPUT, drafter.n_max, drafter.replays)
        if text is not None:
            texts.append({"id": identity, "class": name, **text})
    return texts


def write(path, drafter, texts):
    head = {
        "made_by": "the training graph in float32, not by llama.cpp",
        "target": TARGET_FILE,
        "drafter": drafter.file,
        "spec_type": drafter.spec_type,
        "n_max": drafter.n_max,
        "meaning": MEANING,
    }
    lines = ",\n".join(json.dumps(text) for text in texts)
    path.write_text(json.dumps(head)[:-1] + ', "texts": [\n' + lines + "\n]}\n")
