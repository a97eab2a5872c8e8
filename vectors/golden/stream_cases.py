"""Cases of suite 6 alone: whole chunks moved, repeated, lost or taken from another stream.

Two streams of three chunks are written out in full; the spoilt ones are given as slices of those two, so that the file
stays small and a reader needs no sealer to judge them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

import second_implementation as kw
from casebook import (ANY, FAILED, MALFORMED, Json, Scene, content, digest_form, invalid_case, made_bytes, scene,
                      valid_case)

A, B = "suite6-stream-a", "suite6-stream-b"
LENGTH = 2 * kw.CHUNK + 100
FRONT = 26 + 24 + 32
FULL = kw.CHUNK + kw.TAG
Part = tuple[str, int, int]


def streams() -> tuple[Scene, Scene]:
    """Same key, header and associated data; another salt and another plaintext."""
    a = scene(A, 6, plaintext=content(A, LENGTH), aad={"1": b"stream".hex()})
    b = replace(a, name=B, nonce=made_bytes(B, "nonce or salt", 24), plaintext=content(B, LENGTH))
    return a, b


def front(stream: str) -> Part:
    return stream, 0, FRONT


def chunk(stream: str, number: int) -> Part:
    start = FRONT + number * FULL
    return stream, start, min(start + FULL, FRONT + 2 * FULL + 100 + kw.TAG)


def whole(stream: str) -> list[Part]:
    return [front(stream), chunk(stream, 0), chunk(stream, 1), chunk(stream, 2)]


def part_json(part: Part) -> Json:
    return {"case": part[0], "start": part[1], "end": part[2]}


def spoilt() -> list[tuple[str, str, str, list[Part]]]:
    f, a0, a1, a2 = whole(A)
    _, b0, b1, b2 = whole(B)
    return [
        ("chunks-exchanged", "chunks 0 and 1 exchanged", FAILED, [f, a1, a0, a2]),
        ("chunk-0-repeated", "chunk 0 twice", FAILED, [f, a0, a0, a1, a2]),
        ("chunk-1-repeated", "chunk 1 twice", FAILED, [f, a0, a1, a1, a2]),
        ("last-chunk-repeated", "last chunk twice", FAILED, [f, a0, a1, a2, a2]),
        ("chunk-0-in-place-of-1", "chunk 0 stands for chunk 1", FAILED, [f, a0, a0, a2]),
        ("chunk-0-dropped", "chunk 0 missing", FAILED, [f, a1, a2]),
        ("chunk-1-dropped", "chunk 1 missing", FAILED, [f, a0, a2]),
        ("only-the-last-chunk", "both full chunks missing", FAILED, [f, a2]),
        ("last-chunk-dropped", "last chunk missing, so the last one is full", ANY, [f, a0, a1]),
        ("two-chunks-dropped", "cut after the first full chunk", ANY, [f, a0]),
        ("no-chunk", "no chunk at all", MALFORMED, [f]),
        ("last-chunk-first", "chunks in the reverse order", FAILED, [f, a2, a1, a0]),
        ("chunk-0-of-b", "chunk 0 of another stream under the same key", FAILED, [f, b0, a1, a2]),
        ("chunk-1-of-b", "chunk 1 of another stream under the same key", FAILED, [f, a0, b1, a2]),
        ("last-chunk-of-b", "last chunk of another stream under the same key", FAILED, [f, a0, a1, b2]),
        ("front-of-b", "salt and commitment of another stream under the same key", FAILED, [front(B), a0, a1, a2]),
        ("salt-of-b", "salt of another stream", FAILED, [(A, 0, 26), (B, 26, 50), (A, 50, FRONT), a0, a1, a2]),
        ("commitment-of-b", "commitment of another stream", FAILED, [(A, 0, 50), (B, 50, FRONT), a0, a1, a2]),
        ("streams-joined", "a second stream's chunks after the end", FAILED, [f, a0, a1, a2, b0, b1, b2]),
        ("last-chunk-cut-by-1", "last byte missing", FAILED, [f, a0, a1, (A, a2[1], a2[2] - 1)]),
        ("last-chunk-cut-to-16", "last chunk cut to the size of a tag", FAILED, [f, a0, a1, (A, a2[1], a2[1] + 16)]),
        ("last-chunk-cut-to-15", "last chunk shorter than a tag", ANY, [f, a0, a1, (A, a2[1], a2[1] + 15)]),
        ("last-chunk-cut-to-1", "last chunk of one byte", ANY, [f, a0, a1, (A, a2[1], a2[1] + 1)]),
        ("chunk-0-without-tag", "tag of chunk 0 missing", FAILED, [f, (A, a0[1], a0[2] - 16), a1, a2]),
        ("byte-between-chunks", "a byte of the tag of chunk 0 twice", FAILED, [f, a0, (A, a0[2] - 1, a0[2]), a1, a2]),
        ("byte-dropped-in-chunk-0", "a byte of chunk 0 missing", FAILED, [f, (A, a0[1] + 1, a0[2]), a1, a2]),
    ]


def spoilt_cases() -> Iterator[Json]:
    a, b = streams()
    source = {A: a.seal(), B: b.seal()}
    for what, reason, error, parts in spoilt():
        data = b"".join(source[name][start:end] for name, start, end in parts)
        envelope = digest_form(data) | {"parts": [part_json(part) for part in parts]}
        yield invalid_case(replace(a, name=f"suite6-{what}"), reason, error, envelope)


def chunk_cases() -> Iterator[Json]:
    """Short streams whose chunks are sealed by other rules."""
    table = [
        ("chunk-counter-from-1", "chunks counted from 1", 1, b""),
        ("chunk-counter-high", "counter added at the front of the nonce", 2**88, b""),
        ("chunk-with-aad", "chunk sealed with associated data", 0, b"\x00"),
        ("final-flag-in-nonce", "counter marked as last", 2**95, b""),
    ]
    for what, reason, number, chunk_aad in table:
        name = f"suite6-{what}"
        base = scene(name, 6, plaintext=content(name, 33))
        ks, _ = kw.subkey(base.header, base.key)
        key, nonce, commitment = kw.chunked_keys(ks, base.nonce, base.associated_data())
        sealed = kw.aes256_gcm_seal(key, kw.chunk_nonce(nonce, number), bytes(33), chunk_aad)
        yield invalid_case(base, reason, FAILED, base.header.encode() + base.nonce + commitment + sealed)


def full_last_cases() -> Iterator[Json]:
    """A full chunk that ends the stream, made as such: the missing empty chunk is the whole difference."""
    name = "suite6-length-16384"
    base = scene(name, 6, plaintext=content(name, kw.CHUNK))
    data = base.seal()
    parts = [(name, 0, FRONT + FULL)]
    envelope = digest_form(data[:FRONT + FULL]) | {"parts": [part_json(part) for part in parts]}
    yield invalid_case(replace(base, name="suite6-last-chunk-full"), "the last chunk is full", ANY, envelope)
    parts = [(name, 0, len(data)), (name, len(data) - 16, len(data))]
    joined = data + data[-16:]
    envelope = digest_form(joined) | {"parts": [part_json(part) for part in parts]}
    opener = replace(base, name="suite6-empty-chunk-twice")
    yield invalid_case(opener, "the empty last chunk twice", FAILED, envelope)


def cases() -> Iterator[Json]:
    for stream in streams():
        yield valid_case(stream, full=True)
    yield from spoilt_cases()
    yield from chunk_cases()
    yield from full_last_cases()
