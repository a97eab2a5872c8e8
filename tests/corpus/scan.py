"""What of the planted values is readable in bytes: as they are, decoded, and decoded again."""

import base64
import binascii
import re

import arrow_walk
import parquet_walk

BASE64_RUN = re.compile(rb"[A-Za-z0-9+/_-]{24,}={0,2}")
DEEPEST = 3


def decoded_base64(place, data, depth=DEEPEST):
    """What runs of base64 hold, also base64 within base64."""
    if depth == 0:
        return
    for run in BASE64_RUN.finditer(data):
        text = run.group().rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
        text = text[: len(text) - (len(text) % 4 == 1)]
        try:
            content = base64.b64decode(text + b"=" * (-len(text) % 4))
        except binascii.Error:
            continue
        here = f"{place}, base64 at {run.start()}"
        yield here, content
        yield from decoded_base64(here, content, depth - 1)


def content_blobs(data):
    """What the form of the file hides: pages and buffers."""
    if data[:4] == parquet_walk.MAGIC:
        yield from parquet_walk.blobs(data)
    elif data[:6] == arrow_walk.MAGIC or data[:4] == b"\xff\xff\xff\xff":
        yield from arrow_walk.blobs(data)


def blobs(data, whole=True):
    """(place, bytes) of all that `data` holds. A file that is not whole may end anywhere."""
    yield "bytes", data
    yield from decoded_base64("bytes", data)
    try:
        for place, content in content_blobs(data):
            yield place, content
            yield from decoded_base64(place, content)
    except Exception as error:
        if whole:
            raise ValueError(f"cannot be walked: {type(error).__name__}: {error}") from error


def scan(data, needles, allowed=frozenset(), whole=True):
    """(column, row, form, place) of each planted value in `data` but those of rows in `allowed`."""
    return needles.find(blobs(data, whole), allowed)
