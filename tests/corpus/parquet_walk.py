"""Every byte of a Parquet file, decoded: footer, and each page of each column chunk decompressed.

Reads the Thrift compact protocol and the page layout of parquet-format alone, so that it sees what a reader leaves aside:
dictionary entries that no row has, pages beyond the values, bytes between chunks (those are in the raw file).
Encodings stay as they are, but DELTA_BYTE_ARRAY, whose values share prefixes, is decoded.
"""

import struct

import pyarrow as pa

MAGIC, ENCRYPTED = b"PAR1", b"PARE"
CODECS = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
DELTA_BYTE_ARRAY = 7


class Compact:
    """A reader of Thrift compact structs, as dictionaries from field id to value."""

    def __init__(self, data, place=0):
        self.data, self.place = data, place

    def byte(self):
        self.place += 1
        return self.data[self.place - 1]

    def varint(self):
        result = shift = 0
        while True:
            byte = self.byte()
            result |= (byte & 0x7F) << shift
            if byte < 0x80:
                return result
            shift += 7

    def zigzag(self):
        number = self.varint()
        return (number >> 1) ^ -(number & 1)

    def binary(self):
        length = self.varint()
        self.place += length
        return bytes(self.data[self.place - length : self.place])

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self.byte()
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 7:
            self.place += 8
            return struct.unpack("<d", self.data[self.place - 8 : self.place])[0]
        if kind == 8:
            return self.binary()
        if kind in (9, 10):
            head = self.byte()
            count = head >> 4 if head >> 4 != 15 else self.varint()
            return [self.element(head & 15) for _ in range(count)]
        if kind == 11:
            count = self.varint()
            kinds = self.byte() if count else 0
            return [(self.element(kinds >> 4), self.element(kinds & 15)) for _ in range(count)]
        if kind == 12:
            return self.struct()
        if kind == 13:
            self.place += 16
            return bytes(self.data[self.place - 16 : self.place])
        raise ValueError(f"Thrift type {kind}")

    def element(self, kind):
        return self.byte() == 1 if kind in (1, 2) else self.value(kind)

    def struct(self):
        fields, last = {}, 0
        while head := self.byte():
            last = last + (head >> 4) if head >> 4 else self.zigzag()
            fields[last] = self.value(head & 15)
        return fields


def decompress(codec, data, size):
    if codec == 0 or not data:
        return data
    if codec == 5:
        return hadoop_lz4(data, size)
    return pa.Codec(CODECS[codec]).decompress(data, size).to_pybytes()


def hadoop_lz4(data, size):
    """Frames of (decoded length, encoded length, LZ4 block); old writers leave the frame away."""
    out, place = b"", 0
    try:
        while place < len(data):
            whole, length = struct.unpack(">II", data[place : place + 8])
            out += pa.Codec("lz4_raw").decompress(data[place + 8 : place + 8 + length], whole).to_pybytes()
            place += 8 + length
        return out
    except (OSError, ValueError, struct.error, pa.ArrowException):
        return pa.Codec("lz4_raw").decompress(data, size).to_pybytes()


def delta_ints(data, place, most):
    """DELTA_BINARY_PACKED: at most so many numbers, and the place behind them."""
    reader = Compact(data, place)
    block, minis, count, number = reader.varint(), reader.varint(), reader.varint(), reader.zigzag()
    if not 0 < minis <= 512 or block > 1 << 20 or count > most:
        raise ValueError("no DELTA_BINARY_PACKED")
    numbers = [number] if count else []
    while len(numbers) < count:
        least = reader.zigzag()
        widths = [reader.byte() for _ in range(minis)]
        for width in widths:
            if len(numbers) >= count:
                break
            per = block // minis
            packed = int.from_bytes(data[reader.place : reader.place + per * width // 8], "little")
            reader.place += per * width // 8
            for _ in range(per):
                if len(numbers) < count:
                    numbers.append(numbers[-1] + least + (packed & ((1 << width) - 1)))
                packed >>= width
    return numbers, reader.place


def delta_byte_array(data, most):
    """The values of a DELTA_BYTE_ARRAY page, at most so many, each with its prefix."""
    prefixes, place = delta_ints(data, 0, most)
    lengths, place = delta_ints(data, place, most)
    values, last = [], b""
    for prefix, length in zip(prefixes, lengths):
        last = last[:prefix] + data[place : place + length]
        place += length
        values.append(last)
    return b"\n".join(values)


def page_bytes(header, body, codec):
    """(kind, bytes) of one page: decompressed, and its values decoded where they share prefixes."""
    whole = header[2]
    if header[1] == 3:
        v2 = header[8]
        levels = v2.get(5, 0) + v2.get(6, 0)
        values = body[levels:]
        if v2.get(7, True):
            values = decompress(codec, values, whole - levels)
        yield "data page v2", body[:levels] + values
        if v2[4] == DELTA_BYTE_ARRAY and values:
            yield "decoded data page v2", delta_byte_array(values, v2[1])
        return
    data = decompress(codec, body, whole)
    yield {0: "data page", 2: "dictionary page"}.get(header[1], "page"), data
    if header[1] == 0 and header[5][2] == DELTA_BYTE_ARRAY:
        # The levels have lengths of 4 bytes in front; how many there are, the schema says: all counts are tried.
        for levels in range(3):
            place = 0
            try:
                for _ in range(levels):
                    place += 4 + struct.unpack("<I", data[place : place + 4])[0]
                yield "decoded data page", delta_byte_array(data[place:], header[5][1])
            except (IndexError, ValueError, struct.error):
                continue


def footer(data):
    if data[-4:] != MAGIC:
        raise ValueError("no plaintext footer")
    length = struct.unpack("<I", data[-8:-4])[0]
    return Compact(data, len(data) - 8 - length).struct()


def blobs(data):
    """(place, bytes) of everything that is not readable in the file as it is."""
    meta = footer(data)
    for pair in meta.get(5) or []:
        yield f"metadata {pair[1].decode('utf-8', 'replace')}", pair.get(2, b"")
    for group_number, group in enumerate(meta.get(4) or []):
        for chunk_number, chunk in enumerate(group.get(1) or []):
            column = chunk.get(3)
            if column is None or 8 in chunk or 1 in chunk:
                continue
            starts = [start for start in (column.get(11), column[9]) if start]
            place = min(starts, default=0)
            end = place + column[7]
            page = 0
            while place < end:
                reader = Compact(data, place)
                header = reader.struct()
                if header[3] < 0:
                    raise ValueError("a page of negative length")
                body = data[reader.place : reader.place + header[3]]
                for kind, content in page_bytes(header, body, column[4]):
                    yield f"row group {group_number}, column {chunk_number}, page {page}: {kind}", content
                place = reader.place + header[3]
                page += 1


def pages_without_footer(data):
    """Pages of a file that ends anywhere, one behind the other; the codec is not told, so each is tried."""
    place, page = 4, 0
    while place < len(data):
        try:
            reader = Compact(data, place)
            header = reader.struct()
            body = data[reader.place : reader.place + header[3]]
            if header[2] < 0 or header[3] < 0 or header[1] not in (0, 2, 3):
                return
        except (IndexError, KeyError, ValueError, TypeError, struct.error):
            return
        for codec in (0, *CODECS, 5):
            try:
                for kind, content in page_bytes(header, body, codec):
                    yield f"page {page}: {kind}", content
            except Exception:
                continue
        place, page = reader.place + header[3], page + 1
