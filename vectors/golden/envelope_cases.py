"""Cases that exist for every suite: lengths, kinds, bindings, associated data, and what must be refused."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Callable, Iterator

import collision
import published
import second_implementation as kw
from casebook import (ANY, BINDING_NAMES, FAILED, MALFORMED, Json, Scene, Spec, content, invalid_case,
                      made_bytes, scene, valid_case, with_header)

LENGTHS = (0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 1000)
STREAM_LENGTHS = (0, 1, 16383, 16384, 16385, 32768, 49153)
STREAM_WRITTEN_WHOLE = (0, 1, 16384)
VERSIONS = (2, 255, 256, 2**31, 2**32 - 1)
ROW = b"row 7".hex()
Change = Callable[[bytes], bytes]


# --------------------------------------------------------------------------------------------------------------------
# Valid

def length_cases(suite: int) -> Iterator[Json]:
    for length in STREAM_LENGTHS if suite == 6 else LENGTHS:
        name = f"suite{suite}-length-{length}"
        full = suite == 6 and length in STREAM_WRITTEN_WHOLE
        yield valid_case(scene(name, suite, plaintext=content(name, length)), full)


def kind_cases(suite: int) -> Iterator[Json]:
    for kind in kw.KINDS if suite in kw.KEY_KIND_SUITES else (kw.MESSAGE,):
        for binding in kw.BINDINGS:
            name = f"suite{suite}-kind-{kind}-binding-{BINDING_NAMES[binding]}"
            yield valid_case(scene(name, suite, kind=kind, binding=binding, plaintext=content(name, 48)))


def version_cases(suite: int) -> Iterator[Json]:
    for version in VERSIONS:
        name = f"suite{suite}-version-{version}"
        yield valid_case(scene(name, suite, version=version, plaintext=content(name, 20)))


def aad_cases(suite: int) -> Iterator[Json]:
    forms: dict[str, dict[str, Spec]] = {
        "absent": {}, "empty-field-is-absent": {"1": ""}, "1-byte": {"1": "00"},
        "16-kib": {"1": {"pattern": "07", "length": 16384}},
        "field-2": {"2": b"tenant 4".hex()}, "fields-1-and-2": {"1": ROW, "2": b"tenant 4".hex()},
        "field-1-empty-field-2": {"1": "", "2": b"tenant 4".hex()},
    }
    for what, fields in forms.items():
        name = f"suite{suite}-aad-{what}"
        yield valid_case(scene(name, suite, binding=kw.GROUP, plaintext=content(name, 24), aad=fields))


def attributes(name: str, key_id: bytes, more: dict[int, bytes]) -> str:
    """Field 3; its numbers stand for themselves here, an envelope only carries them."""
    made = kw.Attributes(made_bytes(name, "tenant id", 16), key_id, 1, 1, 1, 1, 1, 1, 1_700_000_000_000)
    return made.encode(more).hex()


def stored_key_cases(suite: int) -> Iterator[Json]:
    if suite not in kw.KEY_KIND_SUITES:
        return
    forms: list[tuple[str, int, dict[int, bytes]]] = [
        ("field-3", 32, {}), ("field-3-with-fields", 32, {1: b"seed", 2: b"scheme"}), ("field-3-secret-of-64", 64, {}),
    ]
    for what, size, more in forms:
        name = f"suite{suite}-key-{what}"
        stored = made_bytes(name, "stored key id", 16)
        plaintext = (stored + made_bytes(name, "secret", size)).hex()
        yield valid_case(scene(name, suite, kind=kw.KEY, plaintext=plaintext,
                               aad={"3": attributes(name, stored, more)}))
    name = f"suite{suite}-key-data-key-with-callers-aad"
    yield valid_case(scene(name, suite, kind=kw.KEY, plaintext=content(name, 48), aad={"1": ROW}))


def worked_cases(suite: int) -> Iterator[Json]:
    """The worked envelopes of docs/formats.md, with their published keys and nonces."""
    if suite in published.WORKED:
        base = scene(f"suite{suite}-worked-envelope", suite, plaintext=published.WORKED_PLAINTEXT.hex(),
                     aad={"1": published.WORKED_AAD.hex()})
        base = with_header(base, key_id=published.WORKED_KEY_ID)
        yield valid_case(replace(base, key=published.WORKED_KEY, nonce=published.WORKED_NONCE))


# --------------------------------------------------------------------------------------------------------------------
# Invalid: bytes changed after sealing

HEADER_SIZE = 26
BOUND_HEADER_SIZE = HEADER_SIZE + 16
PLAINTEXT_SIZE = 33


def bound_scene(name: str, suite: int) -> Scene:
    """Every field of the format is present, and the body is long enough to be taken for any other suite's."""
    return scene(name, suite, binding=kw.PRINCIPAL, plaintext=content(name, PLAINTEXT_SIZE), aad={"1": ROW})


def flipped(at: int, mask: int = 0x01) -> Change:
    return lambda data: data[:at] + bytes([data[at] ^ mask]) + data[at + 1:]


def with_byte(at: int, value: int) -> Change:
    return lambda data: data[:at] + bytes([value]) + data[at + 1:]


def cut_to(length: int) -> Change:
    return lambda data: data[:length]


def cut_by(length: int) -> Change:
    return lambda data: data[:-length]


def body_regions(suite: int) -> list[tuple[str, int, int]]:
    """Name, start and end of each part after a header with a binding id."""
    sizes = {
        1: [("nonce", 24), ("commitment", 32), ("ciphertext", 33), ("tag", 16)],
        2: [("nonce", 24), ("commitment", 32), ("ciphertext", 33), ("tag", 16)],
        3: [("nonce", 12), ("zero-block", 32), ("ciphertext", 33), ("tag", 16)],
        4: [("nonce", 16), ("zero-block", 32), ("ciphertext", 33), ("tag", 16)],
        5: [("commitment", 32), ("siv", 16), ("ciphertext", 33)],
        6: [("salt", 24), ("commitment", 32), ("ciphertext", 33), ("tag", 16)],
    }[suite]
    regions, start = [], BOUND_HEADER_SIZE
    for name, size in sizes:
        regions.append((name, start, start + size))
        start += size
    return regions


def smallest_body(suite: int) -> int:
    return sum(end - start for name, start, end in body_regions(suite) if name != "ciphertext")


Spoilt = tuple[str, str, str, Change]


def header_changes(suite: int) -> Iterator[Spoilt]:
    for at in range(3):
        yield f"flip-magic-{at}", "magic changed", MALFORMED, flipped(at)
    for other in kw.SUITES:
        if other != suite:
            yield f"suite-says-{other}", "suite number of another suite", FAILED, with_byte(3, other)
    for number in (0, 7, 255):
        yield f"suite-says-{number}", "unknown suite number", ANY, with_byte(3, number)
    error = FAILED if suite in kw.KEY_KIND_SUITES else ANY
    yield "kind-says-2", "kind changed from message to key", error, with_byte(4, 2)
    for number in (0, 3, 255):
        yield f"kind-says-{number}", "unknown kind number", ANY, with_byte(4, number)
    yield "binding-says-0", "binding removed, its id left to the body", FAILED, with_byte(5, 0)
    yield "binding-says-2", "binding changed from principal to group", FAILED, with_byte(5, 2)
    for number in (3, 255):
        yield f"binding-says-{number}", "unknown binding number", ANY, with_byte(5, number)
    yield "flip-key-id-first", "key id changed", FAILED, flipped(6)
    yield "flip-key-id-last", "key id changed", FAILED, flipped(21, 0x80)
    yield "flip-version-first", "key version changed", FAILED, flipped(22, 0x80)
    yield "flip-version-last", "key version changed", FAILED, flipped(25, 0x80)
    yield "flip-binding-id-first", "binding id changed", FAILED, flipped(26)
    yield "flip-binding-id-last", "binding id changed", FAILED, flipped(41, 0x80)


def body_changes(suite: int) -> Iterator[Spoilt]:
    for name, start, end in body_regions(suite):
        yield f"flip-{name}-first", f"{name} changed", FAILED, flipped(start)
        yield f"flip-{name}-last", f"{name} changed", FAILED, flipped(end - 1, 0x80)


def length_changes(suite: int) -> Iterator[Spoilt]:
    for length in (0, 2, 3, 5, 6, 21, 25, 26, 41, 42):
        yield f"cut-to-{length}", "cut within or right after the header", MALFORMED, cut_to(length)
    shortest = BOUND_HEADER_SIZE + smallest_body(suite) - 1
    yield "cut-below-smallest", "one byte shorter than an empty message", MALFORMED, cut_to(shortest)
    yield "cut-by-1", "last byte missing", FAILED, cut_by(1)
    yield "cut-by-16", "last 16 bytes missing", FAILED, cut_by(16)
    yield "trailing-zero", "one zero byte after the end", FAILED, lambda data: data + b"\x00"
    yield "trailing-16", "16 bytes after the end", FAILED, lambda data: data + bytes(range(16))
    yield "leading-zero", "one byte before the magic", MALFORMED, lambda data: b"\x00" + data
    yield "twice", "the envelope twice in a row", FAILED, lambda data: data + data
    yield "base64-text", "base64 text where bytes belong", MALFORMED, base64.b64encode


def spoilt_cases(suite: int) -> Iterator[Json]:
    for table in (header_changes, body_changes, length_changes):
        for what, reason, error, change in table(suite):
            base = bound_scene(f"suite{suite}-{what}", suite)
            yield invalid_case(base, reason, error, change(base.seal()))


# --------------------------------------------------------------------------------------------------------------------
# Invalid: sealed with something else than the opener holds

def wrong_aad_cases(suite: int) -> Iterator[Json]:
    both: dict[str, Spec] = {"1": b"ab".hex(), "2": b"cd".hex()}
    long: dict[str, Spec] = {"1": {"pattern": "07", "length": 16385}}
    table: list[tuple[str, str, dict[str, Spec], dict[str, Spec]]] = [
        ("aad-missing", "caller's aad missing", {"1": ROW}, {}),
        ("aad-added", "caller's aad where none was sealed", {}, {"1": ROW}),
        ("aad-changed", "caller's aad changed", {"1": ROW}, {"1": b"row 8".hex()}),
        ("aad-extended", "caller's aad one byte longer", {"1": ROW}, {"1": ROW + "00"}),
        ("aad-in-field-2", "same bytes under another tag", {"1": ROW}, {"2": ROW}),
        ("aad-fields-exchanged", "fields 1 and 2 exchanged", both, {"1": both["2"], "2": both["1"]}),
        ("aad-boundary-moved", "boundary between two fields moved", both, {"1": b"abc".hex(), "2": b"d".hex()}),
        ("aad-field-2-missing", "one of two fields missing", both, {"1": both["1"]}),
    ]
    for what, reason, sealed, presented in table:
        name = f"suite{suite}-{what}"
        base = scene(name, suite, plaintext=content(name, 33), aad=sealed)
        yield invalid_case(replace(base, aad=presented), reason, FAILED, base.seal())
    name = f"suite{suite}-aad-too-long"
    base = scene(name, suite, plaintext=content(name, 33), aad=long)
    raw = base.header.encode() + kw.encode_fields(base.fields())
    yield invalid_case(base, "caller's aad above 16 KiB, sealed all the same", ANY, base.seal_with(raw))


def other_encoding_cases(suite: int) -> Iterator[Json]:
    """Associated data that another encoder might write; there is only one encoding of anything."""
    table: list[tuple[str, str, dict[str, Spec], Callable[[Scene], bytes]]] = [
        ("empty-field-written", "absent field 1 sealed as an empty one", {},
         lambda base: base.associated_data() + b"\x01" + kw.lp(b"")),
        ("fields-descending", "fields sealed in descending order", {"1": "0a", "2": "0b"},
         lambda base: base.header.encode() + b"\x02" + kw.lp(b"\x0b") + b"\x01" + kw.lp(b"\x0a")),
        ("field-twice", "field 1 sealed twice", {"1": "0a"},
         lambda base: base.associated_data() + b"\x01" + kw.lp(b"\x0a")),
        ("field-without-length", "field sealed without its length", {"1": ROW},
         lambda base: base.header.encode() + b"\x01" + bytes.fromhex(ROW)),
        ("nonce-in-aad", "nonce, salt or commitment sealed into the associated data", {"1": ROW},
         lambda base: base.associated_data() + (base.nonce or bytes(32))),
        ("header-not-in-aad", "fields sealed without the header", {"1": ROW},
         lambda base: kw.encode_fields(base.fields())),
    ]
    for what, reason, fields, build in table:
        name = f"suite{suite}-{what}"
        base = scene(name, suite, plaintext=content(name, 33), aad=fields)
        yield invalid_case(base, reason, FAILED, base.seal_with(build(base)))


def binding_shape_cases(suite: int) -> Iterator[Json]:
    name = f"suite{suite}-binding-id-missing"
    bare = with_header(bound_scene(name, suite), binding_id=b"")
    yield invalid_case(bound_scene(name, suite), "binding to a principal, sealed without its id", ANY, bare.seal())
    name = f"suite{suite}-binding-0-with-id"
    base = scene(name, suite, plaintext=content(name, 33))
    padded = with_header(base, binding_id=bytes(16))
    yield invalid_case(base, "no binding, sealed with 16 zero bytes as its id", FAILED, padded.seal())


def unknown_number_cases(suite: int) -> Iterator[Json]:
    """Sealed with the unknown number from the start: nothing but the registry speaks against it."""
    for number in (3, 255):
        name = f"suite{suite}-sealed-binding-{number}"
        base = bound_scene(name, suite)
        odd = with_header(base, binding=number)
        yield invalid_case(base, "sound, but of an unknown binding number", ANY, odd.seal())
    for number in (0, 3):
        name = f"suite{suite}-sealed-kind-{number}"
        base = bound_scene(name, suite)
        odd = with_header(base, kind=number)
        yield invalid_case(base, "sound, but of an unknown kind number", ANY, odd.seal())


def wrong_key_cases(suite: int) -> Iterator[Json]:
    base = bound_scene(f"suite{suite}-wrong-key", suite)
    yield invalid_case(replace(base, key=other_key(base)), "opened with another key", FAILED, base.seal())
    base = bound_scene(f"suite{suite}-other-key-id-held", suite)
    opener = with_header(base, key_id=made_bytes(base.name, "another key id", 16))
    yield invalid_case(opener, "the opener's key has another id", FAILED, base.seal())
    base = bound_scene(f"suite{suite}-other-version-held", suite)
    yield invalid_case(with_header(base, version=2), "the opener's key has another version", FAILED, base.seal())
    base = bound_scene(f"suite{suite}-key-one-bit-off", suite)
    key = flipped(31)(base.key)
    yield invalid_case(replace(base, key=key), "opened with a key that differs in one bit", FAILED, base.seal())


def other_key(base: Scene) -> bytes:
    return made_bytes(base.name, "another key", 32)


def kind_cases_refused(suite: int) -> Iterator[Json]:
    """The opener asks for the other kind; the envelope itself is sound where the suite may hold it."""
    if suite not in kw.KEY_KIND_SUITES:
        name = f"suite{suite}-kind-2-sealed"
        base = with_header(scene(name, suite, plaintext=content(name, 48)), kind=kw.KEY)
        yield invalid_case(base, "kind 2 under a suite that may not hold it", ANY, base.seal())
        return
    for held, sealed in ((kw.MESSAGE, kw.KEY), (kw.KEY, kw.MESSAGE)):
        name = f"suite{suite}-kind-{sealed}-where-{held}-is-asked"
        base = scene(name, suite, kind=sealed, plaintext=content(name, 48))
        yield invalid_case(with_header(base, kind=held), "sound, but not of the kind asked for", FAILED, base.seal())


# --------------------------------------------------------------------------------------------------------------------
# Invalid: commitments

def other_commitment(base: Scene) -> bytes:
    """The commitment that the other key's holder would find right."""
    if base.header.suite == 6:
        ks, _ = kw.subkey(base.header, other_key(base))
        return kw.chunked_keys(ks, base.nonce, base.associated_data())[2]
    return kw.subkey(base.header, other_key(base))[1]


def with_commitment(base: Scene, envelope: bytes, commitment: bytes) -> bytes:
    at = BOUND_HEADER_SIZE + len(base.nonce)
    return envelope[:at] + commitment + envelope[at + kw.COMMITMENT:]


def commitment_cases(suite: int) -> Iterator[Json]:
    if suite in (3, 4):
        return
    base = bound_scene(f"suite{suite}-commitment-of-another-key", suite)
    swapped = with_commitment(base, base.seal(), other_commitment(base))
    yield invalid_case(base, "tag of this key, commitment of another", FAILED, swapped)
    base = bound_scene(f"suite{suite}-tag-of-another-key", suite)
    swapped = with_commitment(base, base.seal(), other_commitment(base))
    opener = replace(base, key=other_key(base))
    yield invalid_case(opener, "commitment of this key, tag of another", FAILED, swapped)
    base = bound_scene(f"suite{suite}-commitment-zero", suite)
    yield invalid_case(base, "commitment of zeros", FAILED, with_commitment(base, base.seal(), bytes(32)))
    base = bound_scene(f"suite{suite}-commitment-left-out", suite)
    at = BOUND_HEADER_SIZE + len(base.nonce)
    envelope = base.seal()
    yield invalid_case(base, "no commitment", ANY, envelope[:at] + envelope[at + kw.COMMITMENT:])


def zero_block_cases(suite: int) -> Iterator[Json]:
    """Suites 3 and 4: the tag is right, the block in front of the plaintext is not zero."""
    if suite not in (3, 4):
        return
    text = bytes(range(100, 164))
    table = [
        ("zero-block-first-bit", "first bit of the zero block set", b"\x80" + bytes(31) + text),
        ("zero-block-last-bit", "last bit of the zero block set", bytes(31) + b"\x01" + text),
        ("zero-block-of-31", "zero block one byte short", bytes(31) + text),
        ("zero-block-of-16", "zero block of 16 bytes", bytes(16) + text),
        ("zero-block-absent", "no zero block", text),
        ("zero-block-behind", "zero block after the plaintext", text + bytes(32)),
        ("zero-block-ones", "block of ones", b"\xff" * 32 + text),
    ]
    for what, reason, inner in table:
        base = bound_scene(f"suite{suite}-{what}", suite)
        envelope = base.header.encode() + base.nonce + kw.aes256_gcm_seal(
            base.key, base.nonce, inner, base.associated_data())
        yield invalid_case(base, reason, FAILED, envelope)
    base = bound_scene(f"suite{suite}-zero-block-cut", suite)
    envelope = base.header.encode() + base.nonce + kw.aes256_gcm_seal(
        base.key, base.nonce, bytes(31), base.associated_data())
    yield invalid_case(base, "a sealed message shorter than the zero block", MALFORMED, envelope)


def collision_cases(suite: int) -> Iterator[Json]:
    """One ciphertext, two keys under which the tag is right: the key it commits to opens it, the other must not."""
    if suite not in (1, 3, 4):
        return
    base = bound_scene(f"suite{suite}-two-keys-one-tag", suite)
    envelope, plaintext = colliding_envelope(base)
    right = replace(base, name=base.name + "-right-key", plaintext=plaintext.hex())
    yield valid_case(right)
    wrong = replace(base, name=base.name + "-wrong-key", key=other_key(base))
    yield invalid_case(wrong, "the tag is right under this key too, the commitment is another key's", FAILED, envelope)


def colliding_envelope(base: Scene) -> tuple[bytes, bytes]:
    aad, front = base.associated_data(), base.header.encode() + base.nonce
    if base.header.suite == 1:
        (ks, commitment), (other, _) = (kw.subkey(base.header, key) for key in (base.key, other_key(base)))
        keys = [kw.xaes_message_key(key, base.nonce) for key in (ks, other)]
        sealed = collision.collide(keys[0], keys[1], base.nonce[12:], aad, made_bytes(base.name, "prefix", 16))
        return front + commitment + sealed, kw.aes256_gcm_open(keys[0], base.nonce[12:], sealed, aad)
    prefix = kw.aes256_gcm_seal(base.key, base.nonce, kw.ZERO_BLOCK, aad)[:-kw.TAG]
    sealed = collision.collide(base.key, other_key(base), base.nonce, aad, prefix)
    return front + sealed, kw.aes256_gcm_open(base.key, base.nonce, sealed, aad)[len(kw.ZERO_BLOCK):]


# --------------------------------------------------------------------------------------------------------------------

VALID = (worked_cases, length_cases, kind_cases, version_cases, aad_cases, stored_key_cases)
INVALID = (spoilt_cases, wrong_aad_cases, other_encoding_cases, binding_shape_cases, unknown_number_cases,
           wrong_key_cases, kind_cases_refused, commitment_cases, zero_block_cases, collision_cases)


def cases(suite: int) -> Iterator[Json]:
    for table in VALID + INVALID:
        yield from table(suite)
