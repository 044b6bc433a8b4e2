"""From registry packages to arrays of tokens: texts, tokenizer, CLASS.PART.npy (uint16)."""
import numpy

from lab import corpora, tasks
from lab.tokenizer import Tokenizer, learn_merges

TASK_BYTES = 6_000_000
MERGE_CHARACTERS = 5_000_000  # of each class, at most, that merges are counted on
TASK_SEED = 20


def make_texts(folder, downloads):
    """CLASS.train.txt and CLASS.held-out.txt of every class, and tasks.train.txt."""
    sizes = corpora.write(folder, downloads)
    filler = {name: corpora.read(folder, name, "train") for name in ("prose", "c")}
    text = tasks.training_text(TASK_SEED, TASK_BYTES, filler)
    (folder / "tasks.train.txt").write_text(text, "utf-8", newline="")
    return sizes


def make_tokens(folder):
    """merges.json, and the tokens of every text; returns {class: held-out bytes per token}."""
    texts = {path.name.removesuffix(".txt"): path for path in sorted(folder.glob("*.txt"))}
    of_training = [path.read_bytes().decode()[:MERGE_CHARACTERS] for name, path in texts.items() if name.endswith(".train")]
    tokenizer = Tokenizer(learn_merges(of_training))
    tokenizer.save(folder / "merges.json")
    density = {}
    for name, path in texts.items():
        text = path.read_bytes().decode()
        tokens = numpy.array(tokenizer.encode(text), numpy.uint16)
        numpy.save(folder / f"{name}.npy", tokens)
        if name.endswith(".held-out"):
            density[name.removesuffix(".held-out")] = len(text.encode()) / len(tokens)
    return density
