"""Plants a value in each way that the scanner claims to see, and fails if one is not found, or is found where none is.

    selftest.py

The last line is "N passed, N failed, N skipped".
"""

import base64
import struct
import sys
import tempfile
from pathlib import Path

import polars
import pyarrow as pa
import pyarrow.parquet as pq

from needles import Needles
from parquet_walk import pages_without_footer
from scan import scan
from values import Values

VALUES = Values(0, "selftest")
CARD, LONG = VALUES.card(), VALUES.long()
OTHERS = [VALUES.card() for _ in range(60)]
NEEDLES = Needles([[CARD, 0, "card"]])
LONG_NEEDLES = Needles([[LONG, 0, "long"]])
SOME_CODECS = ("none", "snappy", "gzip", "zstd", "lz4", "brotli")


def as_bytes():
    raw = CARD.encode()
    yield "raw", b"a," + raw + b",b"
    yield "utf-16-le", CARD.encode("utf-16-le")
    yield "utf-16-be", CARD.encode("utf-16-be")
    yield "utf-32-le", CARD.encode("utf-32-le")
    yield "hex", b"x" + raw.hex().encode()
    yield "hex upper case", b"x" + raw.hex().upper().encode()
    yield "int64 little-endian", struct.pack("<q", int(CARD))
    yield "int64 big-endian", struct.pack(">q", int(CARD))
    for before in range(3):
        yield f"base64 at {before}", b'{"m": "' + base64.b64encode(b"\xfb" * before + raw + b"end of it") + b'"}'
        yield f"base64url at {before}", base64.urlsafe_b64encode(b"\xfb" * before + raw + b"\xff\xfe\xfd")
    yield "base64 of base64", base64.b64encode(base64.b64encode(b"some text, " + raw))
    yield "base64 of utf-16", base64.b64encode(b"some text, " + CARD.encode("utf-16-le"))
    yield "base64 of hex", base64.b64encode(b"some text, " + raw.hex().encode())


def parquet(table, **options):
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, **options)
    return sink.getvalue().to_pybytes()


def arrow(table, stream=False, **options):
    sink = pa.BufferOutputStream()
    new = pa.ipc.new_stream if stream else pa.ipc.new_file
    with new(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def with_unused(values):
    """A dictionary with the value, which no row has."""
    return pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array([*values[:3], CARD]))


def repeated(cells):
    """So many that a codec has something to do."""
    return pa.table({"card": cells * 4, "note": ["a" * 30] * len(cells) * 4})


def parquet_places():
    cells = [*OTHERS[:30], CARD, *OTHERS[30:]]
    quiet = {"write_statistics": False, "store_schema": False}
    for codec in SOME_CODECS:
        for version in ("1.0", "2.0"):
            for dictionary in (True, False):
                options = {"compression": codec, "data_page_version": version, "use_dictionary": dictionary}
                name = f"parquet page: {codec}, {version}, dictionary {dictionary}"
                yield name, parquet(repeated(cells), **options, **quiet)
    for encoding in ("PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"):
        for version in ("1.0", "2.0"):
            options = {
                "use_dictionary": False,
                "column_encoding": {"card": encoding, "note": encoding},
                "compression": "zstd",
            }
            name = f"parquet encoding: {encoding}, {version}"
            yield name, parquet(repeated(sorted(cells)), data_page_version=version, **options, **quiet)
    yield "parquet unused dictionary entry", parquet(
        pa.table({"card": with_unused(OTHERS)}), compression="zstd", **quiet
    )
    plain = pa.table({"card": OTHERS})
    for word, text in {"raw": CARD, "base64": base64.b64encode(f"first: {CARD}".encode()).decode()}.items():
        yield f"parquet schema metadata: {word}", parquet(plain.replace_schema_metadata({"m": text}))
        field = pa.field("card", pa.string(), metadata={"m": text})
        yield f"parquet field metadata: {word}", parquet(plain.cast(pa.schema([field])))
    lowest = pa.table({"card": [CARD, "9" * 16]})
    yield "parquet statistics", parquet(lowest, compression="gzip", use_dictionary=False)
    whole = parquet(plain)
    length = struct.unpack("<I", whole[-8:-4])[0]
    place = len(whole) - 8 - length
    yield "parquet bytes before the footer", whole[:place] + CARD.encode() + whole[place:]
    frame = polars.DataFrame({"card": OTHERS[:5]}).cast({"card": polars.Enum([*OTHERS[:5], CARD])})
    with tempfile.TemporaryDirectory() as folder:
        frame.write_parquet(Path(folder, "f"))
        yield "parquet of Polars: unused Enum value", Path(folder, "f").read_bytes()


def arrow_places():
    cells = [*OTHERS[:30], CARD, *OTHERS[30:]]
    for word, kind in {"string": pa.string(), "large": pa.large_string(), "view": pa.string_view()}.items():
        for codec in (None, "lz4", "zstd"):
            for stream in (False, True):
                table = repeated(cells).cast(pa.schema([("card", kind), ("note", pa.string())]))
                yield f"arrow {word}, {codec}, stream {stream}", arrow(table, stream, compression=codec)
    for codec in (None, "lz4", "zstd"):
        values = [*OTHERS[:3], *["0" * 40] * 20]
        array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array([*values, CARD]))
        yield f"arrow unused dictionary entry, {codec}", arrow(pa.table({"card": array}), compression=codec)
        views = pa.array([*OTHERS, CARD, *["0" * 40] * 20], pa.string_view())
        short = pa.Array.from_buffers(pa.string_view(), 3, views.buffers())
        yield f"arrow view buffer that no row shows, {codec}", arrow(pa.table({"card": short}), compression=codec)
        texts = pa.array([*OTHERS, CARD, *["0" * 40] * 20])
        bits = b"\xff" * 7 + b"\x0f" + b"\xff" * 4
        nulled = pa.Array.from_buffers(pa.string(), len(texts), [pa.py_buffer(bits), *texts.buffers()[1:]])
        yield f"arrow value under a null, {codec}", arrow(pa.table({"card": nulled}), compression=codec)
    padded = arrow(pa.table({"card": [*cells, *["0" * 40] * 30]}), compression="zstd")
    # Without the last magic there is no footer, whose offsets would be wrong now.
    yield "arrow magic with more padding", padded[:8] + bytes(56) + padded[8:-6]
    plain = pa.table({"card": OTHERS})
    yield "arrow schema metadata", arrow(plain.replace_schema_metadata({"m": CARD}))
    yield "arrow field metadata", arrow(plain.cast(pa.schema([pa.field("card", pa.string(), metadata={"m": CARD})])))


def cut_short():
    """Parquet of a run that was interrupted has no footer."""
    for codec in SOME_CODECS:
        data = parquet(repeated([*OTHERS, CARD]), compression=codec, write_statistics=False, store_schema=False)
        length = struct.unpack("<I", data[-8:-4])[0]
        yield f"parquet without footer, {codec}", data[: len(data) - 8 - length]


def long_values():
    cells = [VALUES.long() for _ in range(9)]
    yield "beginning of a long value", LONG[:16].encode()
    yield "end of a long value", b"..." + LONG[-16:].encode()
    data = parquet(pa.table({"long": [*cells, LONG]}), write_page_index=True, compression="zstd", store_schema=False)
    yield "long value in a page", data


def main():
    passed = failed = 0
    groups = [
        (as_bytes, lambda data: scan(data, NEEDLES)),
        (parquet_places, lambda data: scan(data, NEEDLES)),
        (arrow_places, lambda data: scan(data, NEEDLES)),
        (cut_short, lambda data: NEEDLES.find(pages_without_footer(data))),
        (long_values, lambda data: scan(data, LONG_NEEDLES)),
    ]
    clean = Needles([[VALUES.card(), 0, "card"], [VALUES.long(), 1, "long"]])
    for places, find in groups:
        for name, data in places():
            is_found, is_clean = bool(find(data)), not scan(data, clean, whole=False)
            passed, failed = passed + (is_found and is_clean), failed + (not is_found or not is_clean)
            if not is_found:
                print(f"FAIL not found: {name}")
            if not is_clean:
                print(f"FAIL found where nothing is planted: {name}")
    allowed = scan(CARD.encode(), NEEDLES, allowed=frozenset({0}))
    passed, failed = passed + (not allowed), failed + bool(allowed)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
