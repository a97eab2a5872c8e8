"""Every byte of an Arrow IPC file or stream, decoded: each buffer of each message decompressed.

Reads the Flatbuffers of Message and RecordBatch alone, so that it sees whole dictionaries and view buffers, also what no
row shows, and messages that a footer does not name.
"""

import struct

import pyarrow as pa

MAGIC = b"ARROW1"
DICTIONARY, RECORDS = 2, 3
CODECS = {0: "lz4", 1: "zstd"}


class Table:
    """A Flatbuffers table."""

    def __init__(self, data, place):
        self.data, self.place = data, place
        self.vtable = place - struct.unpack_from("<i", data, place)[0]
        self.size = struct.unpack_from("<H", data, self.vtable)[0]

    def _field(self, number):
        slot = 4 + 2 * number
        offset = struct.unpack_from("<H", self.data, self.vtable + slot)[0] if slot < self.size else 0
        return self.place + offset if offset else None

    def scalar(self, number, shape, default=0):
        place = self._field(number)
        return default if place is None else struct.unpack_from("<" + shape, self.data, place)[0]

    def _target(self, number):
        place = self._field(number)
        return None if place is None else place + struct.unpack_from("<I", self.data, place)[0]

    def table(self, number):
        target = self._target(number)
        return None if target is None else Table(self.data, target)

    def structs(self, number, shape):
        """A vector of structs."""
        target = self._target(number)
        if target is None:
            return []
        count = struct.unpack_from("<I", self.data, target)[0]
        size = struct.calcsize("<" + shape)
        return [struct.unpack_from("<" + shape, self.data, target + 4 + n * size) for n in range(count)]


def messages(data, place=0):
    """(where it begins, (header type, header table, body)) of each encapsulated message."""
    if place == 0 and data[:6] == MAGIC:
        # Writers pad the magic to their own alignment.
        place = 8
        while data[place : place + 8] == bytes(8):
            place += 8
    while place + 4 <= len(data):
        start = place
        (length,) = struct.unpack_from("<I", data, place)
        place += 4
        if length == 0xFFFFFFFF:
            if place + 4 > len(data):
                return
            (length,) = struct.unpack_from("<I", data, place)
            place += 4
        if length == 0:
            return
        metadata = data[place : place + length]
        place += length
        root = Table(metadata, struct.unpack_from("<I", metadata, 0)[0])
        body_length = root.scalar(3, "q")
        yield start, (root.scalar(1, "B"), root.table(2), data[place : place + body_length])
        place += body_length


def blocks(data):
    """Where the footer of a file says that its messages begin; none in a stream or in a file that is not whole."""
    if data[:6] != MAGIC or data[-6:] != MAGIC:
        return []
    (length,) = struct.unpack_from("<i", data, len(data) - 10)
    footer = data[len(data) - 10 - length : len(data) - 10]
    root = Table(footer, struct.unpack_from("<I", footer)[0])
    return [offset for number in (2, 3) for offset, _, _ in root.structs(number, "qi4xq")]


def all_messages(data):
    """Messages in their order, then those that only the footer leads to."""
    seen = set()
    for place, message in messages(data):
        seen.add(place)
        yield message
    for place in blocks(data):
        if place not in seen:
            for _, message in messages(data, place):
                yield message
                break


def buffers(batch, body):
    """The buffers of a record batch, decompressed."""
    compression = batch.table(3)
    codec = None if compression is None else CODECS[compression.scalar(0, "b")]
    for offset, length in batch.structs(2, "qq"):
        data = body[offset : offset + length]
        if codec and length >= 8:
            (whole,) = struct.unpack_from("<q", data)
            data = data[8:] if whole == -1 else pa.Codec(codec).decompress(data[8:], whole).to_pybytes()
        yield data


def blobs(data):
    """(place, bytes) of all buffers, and of those that nothing compresses as one, so that no cut hides a value."""
    for number, (kind, header, body) in enumerate(all_messages(data)):
        batch = header if kind == RECORDS else header.table(1) if kind == DICTIONARY else None
        if batch is None:
            continue
        name = "dictionary" if kind == DICTIONARY else "record batch"
        for place, content in enumerate(buffers(batch, body)):
            yield f"message {number} ({name}), buffer {place}", content
