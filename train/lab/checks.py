"""Checks of finished models against llama.cpp's own programs: token ids, and perplexity in every class.

usage: python3 -m lab.checks FOLDER PROGRAMS
PROGRAMS: the folder with llama-perplexity and llama-tokenize, built of the pinned llama.cpp.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

import torch

from lab import corpora
from lab.batches import CLASSES, Corpus
from lab.gguf_file import write_small, write_target
from lab.language_model import new_small
from lab.perplexity import WINDOW, WINDOWS, perplexity
from lab.stages import Workshop

# Characters on which tokenizers have differed: blanks of Unicode, control characters that only Python takes
# for blanks, combining marks, digits of other scripts, line ends of Windows, contractions.
AWKWARD = (
    "\n\n\t  tab\tand  spaces   \n \u00a0nbsp \u2003em na\u00efve \u4e2d\u6587 \U0001f600 x\u0301 \x1c\x1d 12345 "
    "1,000.5 don't we'll I'M they'd \r\n windows\r\n <|endoftext|x\u0085y \u00bd\u00b2 \u0660\u0661 __init__ ->** ::="
)
EACH = 30_000  # characters of every class


def check_tokens(workshop, programs, model):
    """Raises unless llama.cpp gives the same ids; returns how many were compared."""
    texts = [corpora.read(workshop.texts, name, "held-out")[50_000 : 50_000 + EACH] for name in CLASSES]
    text = AWKWARD + "".join(texts) + AWKWARD
    path = workshop.folder / "check.txt"
    path.write_text(text, "utf-8", newline="")
    command = [programs / "llama-tokenize", "-m", model, "-f", path, "--ids"]
    command += ["--no-parse-special", "--no-escape", "--log-disable"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    theirs, ours = json.loads(said), workshop.tokenizer().encode(text)
    if theirs != ours:
        place = next(i for i, pair in enumerate(zip(theirs, ours)) if pair[0] != pair[1])
        raise SystemExit(f"token {place}: llama.cpp has {theirs[place:place + 5]}, train/ {ours[place:place + 5]}")
    return len(ours)


def llama_perplexity(workshop, programs, model, text):
    """Of all WINDOWS windows. Read from the log: what it prints may end without its last lines."""
    log = workshop.folder / "check.log"
    command = [programs / "llama-perplexity", "-m", model, "-f", text, "-t", "1", "--no-escape"]
    command += ["-c", str(WINDOW), "-b", str(WINDOW), "--chunks", str(WINDOWS), "--log-file", log]
    subprocess.run(command, capture_output=True, check=True)
    found = re.search(rf"\[{WINDOWS}\]([\d.]+),", log.read_text("utf-8", errors="replace"))
    if not found:
        raise SystemExit(f"llama-perplexity left no estimate of window {WINDOWS} in {log}")
    return float(found.group(1))


def check_perplexity(workshop, programs, name, model, path):
    """Prints torch beside llama-perplexity for each class; returns whether all agree to four digits."""
    held_out, agree = Corpus(workshop.texts, "held-out", CLASSES), True
    for text_class, tokens in held_out.tokens.items():
        text = workshop.folder / "check.txt"
        text.write_bytes(workshop.tokenizer().decode(tokens[: WINDOW * (WINDOWS + 1)].tolist()))
        ours, theirs = perplexity(model, tokens), llama_perplexity(workshop, programs, path, text)
        agree = agree and abs(ours - theirs) <= 5e-4 * ours
        print(f"{name} {text_class}: torch {ours:.4f}, llama-perplexity {theirs:.4f}", flush=True)
    return agree


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    torch.set_num_threads(1)
    workshop, programs = Workshop(sys.argv[1], print), Path(sys.argv[2])
    target, small = workshop.target(), workshop.weights("small", new_small())
    wide = workshop.folder / "check-f32.gguf"
    write_target(wide, target, None, workshop.tokenizer(), "f32")
    print(f"{check_tokens(workshop, programs, wide)} token ids equal", flush=True)
    agree = check_perplexity(workshop, programs, "target", target, wide)
    write_small(wide, small, workshop.tokenizer(), "f32")
    agree = check_perplexity(workshop, programs, "small", small, wide) and agree
    if not agree:
        sys.exit("perplexities differ by more than 0.05 %")


if __name__ == "__main__":
    main()
