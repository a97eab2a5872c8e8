"""How a case is written down: values from names, byte strings in JSON, and the scene of one envelope.

What it does not do: it decides nothing about the formats; those are in `second_implementation.py`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import second_implementation as kw

Spec = str | dict[str, Any]
Json = dict[str, Any]

MALFORMED = kw.Malformed.code
FAILED = kw.Failed.code
# Where the text leaves the choice between the two, a reader may answer with either.
ANY = "any"

FULL_LIMIT = 2048
FIRST_BYTES = 160
PATTERN_FROM = 65
BINDING_NAMES = {0: "none", 1: "principal", 2: "group"}


def made_bytes(name: str, label: str, length: int) -> bytes:
    """Bytes that depend on the case's name alone, so that a new case never changes an old one."""
    out = b""
    while len(out) < length:
        out += hashlib.sha256(f"{name}/{label}/{len(out) // 32}".encode()).digest()
    return out[:length]


def expand(spec: Spec) -> bytes:
    """A byte string of the JSON files: hexadecimal, or a pattern where byte i is (seed + i) mod 251."""
    if isinstance(spec, str):
        return bytes.fromhex(spec)
    seed = int(spec["pattern"], 16)
    return bytes((seed + i) % 251 for i in range(spec["length"]))


def content(name: str, length: int, label: str = "plaintext") -> Spec:
    """Short contents are arbitrary bytes, long ones a pattern."""
    if length < PATTERN_FROM:
        return made_bytes(name, label, length).hex()
    return {"pattern": made_bytes(name, label, 1).hex(), "length": length}


def digest_form(data: bytes) -> Json:
    return {"length": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def written(data: bytes, full: bool = False) -> Spec:
    """Whole if short or asked for; else length, digest and first bytes, to be rebuilt from the case."""
    if full or len(data) <= FULL_LIMIT:
        return data.hex()
    return digest_form(data) | {"first": data[:FIRST_BYTES].hex()}


@dataclass(frozen=True)
class Scene:
    """All that goes into one envelope, and all that its opener holds."""

    name: str
    header: kw.Header
    key: bytes
    nonce: bytes
    plaintext: Spec
    aad: dict[str, Spec]

    def fields(self) -> dict[int, bytes]:
        return {int(tag): expand(spec) for tag, spec in self.aad.items()}

    def associated_data(self) -> bytes:
        return kw.associated_data(self.header, self.fields())

    def seal(self) -> bytes:
        return kw.seal(self.header, self.key, self.nonce, expand(self.plaintext), self.fields())

    def seal_with(self, aad: bytes, plaintext: bytes | None = None) -> bytes:
        """Like `seal`, but with associated data as given, right or wrong."""
        content_bytes = expand(self.plaintext) if plaintext is None else plaintext
        body = kw.SEAL[self.header.suite](self.header, self.key, self.nonce, content_bytes, aad)
        return self.header.encode() + body

    def expected(self) -> kw.Expected:
        return kw.Expected(self.header.suite, self.header.kind, self.header.key_id, self.header.version)


def scene(name: str, suite: int, *, kind: int = kw.MESSAGE, binding: int = kw.NO_BINDING, version: int = 1,
          plaintext: Spec = "", aad: dict[str, Spec] | None = None) -> Scene:
    binding_id = made_bytes(name, "binding id", 16) if binding else b""
    header = kw.Header(suite, kind, made_bytes(name, "key id", 16), version, binding, binding_id)
    return Scene(name, header, made_bytes(name, "key", 32), made_bytes(name, "nonce or salt", kw.NONCE_SIZE[suite]),
                 plaintext, aad or {})


def with_header(base: Scene, **changes: Any) -> Scene:
    return replace(base, header=replace(base.header, **changes))


def scene_json(base: Scene) -> Json:
    header = base.header
    return {
        "suite": header.suite, "kind": header.kind, "binding": header.binding, "binding_id": header.binding_id.hex(),
        "key": base.key.hex(), "key_id": header.key_id.hex(), "version": header.version,
        "nonce_or_salt": base.nonce.hex(), "plaintext": base.plaintext, "aad": base.aad,
    }


def valid_case(base: Scene, full: bool = False) -> Json:
    return {"name": base.name, "valid": True} | scene_json(base) | {"envelope": written(base.seal(), full)}


def invalid_case(opener: Scene, reason: str, error: str, envelope: bytes | Json) -> Json:
    """`opener` is what the reader holds; the envelope was made, or spoilt, elsewhere."""
    shown = envelope.hex() if isinstance(envelope, bytes) else envelope
    head = {"name": opener.name, "valid": False, "reason": reason, "error": error}
    return head | scene_json(opener) | {"plaintext": None, "envelope": shown}


def scene_from_json(case: Json) -> Scene:
    header = kw.Header(case["suite"], case["kind"], bytes.fromhex(case["key_id"]), case["version"], case["binding"],
                       bytes.fromhex(case["binding_id"]))
    return Scene(case["name"], header, bytes.fromhex(case["key"]), bytes.fromhex(case["nonce_or_salt"]),
                 case["plaintext"], case["aad"])
