"""Reads character vectors from the data of an R package: just what the novels need.

Formats: a lazy-load database is records of a four-byte length (of the data, before compression) and
a zlib stream. A record holds one object in R's XDR serialization, version 3 ("R Internals", 1.8).
"""

import struct
import zlib

CHARACTER_VECTOR = 16
CHARACTER_STRING = 9


def database_records(path):
    """Yields the uncompressed bytes of every record of a lazy-load database."""
    data = path.read_bytes()
    while data:
        (size,) = struct.unpack_from(">I", data)
        stream = zlib.decompressobj()
        record = stream.decompress(data[4:])
        if len(record) != size:
            raise ValueError(f"{path}: a record of {len(record)} bytes says it has {size}")
        yield record
        data = stream.unused_data


def character_vector(record):
    """Returns the strings of a serialized character vector, None where it is another object."""
    if record[:2] != b"X\n":
        raise ValueError("not R's XDR serialization")
    version, _, _, encoding_length = struct.unpack_from(">4i", record, 2)
    if version != 3:
        raise ValueError(f"serialization version {version}, only 3 is read")
    position = 18 + encoding_length
    kind, count = struct.unpack_from(">2i", record, position)
    if kind & 0xFF != CHARACTER_VECTOR:
        return None
    return strings_at(record, position + 8, count)


def strings_at(record, position, count):
    """Returns `count` strings, each a flag word, a length in bytes and the bytes."""
    strings = []
    for _ in range(count):
        flags, length = struct.unpack_from(">2i", record, position)
        if flags & 0xFF != CHARACTER_STRING or length < 0:
            raise ValueError(f"no string at byte {position}")
        strings.append(record[position + 8 : position + 8 + length].decode("utf-8"))
        position += 8 + length
    return strings
