"""A byte-level BPE of 2048 tokens that llama.cpp reproduces exactly (tokenizer.ggml.pre = gpt-2).

Ids: 0-255 the bytes, 256 <|endoftext|>, 257 <|mask|> (what block drafters put in unknown places),
258 and up the merges in their order.
"""
import collections
import json
import re
import unicodedata
from pathlib import Path

VOCABULARY = 2048
END_OF_TEXT = 256
MASK = 257
FIRST_MERGE = 258
NORMAL, CONTROL = 1, 3  # token types of GGUF


def _ranges(category):
    """The body of a regex class that holds all characters of a Unicode general category."""
    ranges, start = [], None
    for code in range(0x110000 + 1):
        inside = code < 0x110000 and unicodedata.category(chr(code)).startswith(category)
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            ranges.append(f"\\U{start:08x}-\\U{code - 1:08x}")
            start = None
    return "".join(ranges)


def _pieces_pattern():
    """llama.cpp's gpt-2 splitting. Python's \\s has \\x1c-\\x1f, llama.cpp's has not: white space is spelled out."""
    letter, number = _ranges("L"), _ranges("N")
    space = r"\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
    return re.compile(
        rf"'s|'t|'re|'ve|'m|'ll|'d| ?[{letter}]+| ?[{number}]+| ?[^{space}{letter}{number}]+"
        rf"|[{space}]+(?![^{space}])|[{space}]+"
    )


PIECES = _pieces_pattern()


def learn_merges(texts):
    """[(left id, right id)] by falling count in `texts`; ties go to the larger pair of ids."""
    counts = collections.Counter()
    for text in texts:
        counts.update(PIECES.findall(text))
    words = [[list(piece.encode()), count] for piece, count in counts.items() if count > 2]
    pairs, places = collections.Counter(), collections.defaultdict(set)

    def count_word(index, sign):
        ids, count = words[index]
        for pair in zip(ids, ids[1:]):
            pairs[pair] += sign * count
            if sign > 0:
                places[pair].add(index)
            else:
                places[pair].discard(index)

    for index in range(len(words)):
        count_word(index, +1)
    merges = []
    while FIRST_MERGE + len(merges) < VOCABULARY:
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merged = FIRST_MERGE + len(merges)
        merges.append(best)
        for index in list(places[best]):
            count_word(index, -1)
            words[index][0] = _merge(words[index][0], best, merged)
            count_word(index, +1)
        pairs.pop(best, None)
    return merges


def _merge(ids, pair, merged):
    """`ids` with every `pair`, from the left, replaced by the one id `merged`."""
    result, position = [], 0
    while position < len(ids):
        if tuple(ids[position : position + 2]) == pair:
            result.append(merged)
            position += 2
        else:
            result.append(ids[position])
            position += 1
    return result


def byte_alphabet():
    """GPT-2's printable stand-in for every byte, as GGUF stores tokens."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    alphabet = {byte: chr(byte) for byte in printable}
    for byte in range(256):
        if byte not in alphabet:
            alphabet[byte] = chr(256 + len(alphabet) - len(printable))
    return alphabet


class Tokenizer:
    """Text to ids and back."""

    def __init__(self, merges):
        self.merges = [tuple(pair) for pair in merges]
        self.ranks = {pair: rank for rank, pair in enumerate(self.merges)}
        self.spelling = [bytes([byte]) for byte in range(256)] + [b"", b""]
        for left, right in self.merges:
            self.spelling.append(self.spelling[left] + self.spelling[right])
        self.known = {}  # piece -> ids

    @classmethod
    def load(cls, path):
        return cls(json.loads(Path(path).read_text()))

    def save(self, path):
        Path(path).write_text(json.dumps(self.merges))

    def encode(self, text):
        ids = []
        for piece in PIECES.findall(text):
            if piece not in self.known:
                self.known[piece] = self._encode_piece(piece)
            ids += self.known[piece]
        return ids

    def _encode_piece(self, piece):
        ids = list(piece.encode())
        while len(ids) > 1:
            best = min(zip(ids, ids[1:]), key=lambda pair: self.ranks.get(pair, len(self.ranks)))
            if best not in self.ranks:
                break
            ids = _merge(ids, best, FIRST_MERGE + self.ranks[best])
        return ids

    def decode(self, ids):
        """The bytes of `ids`: a cut inside a character is the caller's to bear."""
        return b"".join(self.spelling[token] for token in ids)

    def write_keys(self, writer):
        """Puts the tokenizer's keys into a gguf.GGUFWriter."""
        alphabet = byte_alphabet()

        def printable(spelling):
            return "".join(alphabet[byte] for byte in spelling)

        tokens = [printable(spelling) for spelling in self.spelling]
        tokens[END_OF_TEXT], tokens[MASK] = "<|endoftext|>", "<|mask|>"
        types = [NORMAL] * VOCABULARY
        types[END_OF_TEXT] = types[MASK] = CONTROL
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("gpt-2")
        writer.add_token_list(tokens)
        writer.add_token_types(types)
        writer.add_token_merges(
            [f"{printable(self.spelling[left])} {printable(self.spelling[right])}" for left, right in self.merges]
        )
        writer.add_eos_token_id(END_OF_TEXT)
        writer.add_bos_token_id(END_OF_TEXT)
        writer.add_add_bos_token(False)
        writer.add_mask_token_id(MASK)
