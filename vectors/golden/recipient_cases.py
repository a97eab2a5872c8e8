"""Cases of files with slots of type 3: sealed to public keys, and what must be refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Callable, Iterator

import second_implementation as kw
from casebook import ANY, FAILED, MALFORMED, Json, Scene, content, made_bytes
from file_cases import File, file_body, flip, invalid_case, opened_slot, password_slot, valid_case

SUITES = {"x25519": kw.SUITE_X25519, "p-256": kw.SUITE_P256}


@dataclass(frozen=True)
class RecipientSlot:
    """A slot of type 3."""

    suite: bytes
    private: bytes
    ikm: bytes
    plaintext: bytes

    def content(self) -> bytes:
        return kw.seal_recipient(self.suite, kw.public_of(self.suite, self.private), self.ikm, self.plaintext)

    def json(self) -> Json:
        return {"type": kw.SLOT_HPKE, "suite_ids": self.suite.hex(), "private_key": self.private.hex(),
                "ephemeral_ikm": self.ikm.hex()}


def recipient(body: Scene, suite: bytes, label: str = "recipient") -> RecipientSlot:
    private = kw.derive_private(suite, made_bytes(body.name, f"{label} key", 32))
    return RecipientSlot(suite, private, made_bytes(body.name, f"{label} ephemeral", 32), opened_slot(body))


def valid_cases() -> Iterator[Json]:
    for word, suite in SUITES.items():
        for length in (0, 1, 40, 16384, 16385):
            name = f"recipient-{word}-length-{length}"
            body = file_body(name, content(name, length))
            yield valid_case(File(body, (recipient(body, suite),)))
    name = "recipient-three"
    body = file_body(name, content(name, 40))
    slots = tuple(recipient(body, suite, f"recipient {n}") for n, suite in enumerate([*SUITES.values(), kw.SUITE_X25519]))
    yield valid_case(File(body, slots))
    name = "recipient-and-password"
    body = file_body(name, content(name, 40))
    yield valid_case(File(body, (password_slot(body), recipient(body, kw.SUITE_X25519))))


Change = Callable[[bytes], bytes]


def changes(suite: bytes) -> Iterator[tuple[str, str, str, Change]]:
    enc_end = 6 + kw.ENC_SIZE[suite]
    for what, at in {"enc": 10, "ciphertext": enc_end, "tag": enc_end + 48}.items():
        yield f"{what}-changed", f"one bit of the {what} changed", FAILED, lambda d, at=at: flip(d, at)
    yield "cut", "last byte of the slot missing", ANY, lambda d: d[:-1]
    yield "trailing", "one byte after the ciphertext", ANY, lambda d: d + b"\x00"
    yield "enc-alone", "encapsulation without ciphertext", ANY, lambda d: d[:enc_end]
    yield "suite-alone", "suite without encapsulation", ANY, lambda d: d[:6]
    yield "without-suite", "the slot begins with the encapsulation", ANY, lambda d: d[6:]
    for what, at in {"kem": 1, "kdf": 3, "aead": 5}.items():
        yield f"other-{what}", f"another {what} in the suite", ANY, lambda d, at=at: d[:at] + b"\x63" + d[at + 1:]
    yield "low-order", "encapsulation of zeros", ANY, lambda d: d[:6] + bytes(enc_end - 6) + d[enc_end:]
    yield "empty", "an empty slot", ANY, lambda d: b""


def changed_cases() -> Iterator[Json]:
    for word, suite in SUITES.items():
        for what, reason, error, change in changes(suite):
            name = f"recipient-{word}-{what}"
            body = file_body(name, content(name, 40))
            slot = recipient(body, suite)
            data = kw.encode_slots([(kw.SLOT_HPKE, change(slot.content()))]) + body.seal()
            yield invalid_case(name, reason, error, File(body, (slot,)), data)


def opener_cases() -> Iterator[Json]:
    """A sound file, or a slot that opens and holds something else."""
    for word, suite in SUITES.items():
        name = f"recipient-{word}-wrong-key"
        body = file_body(name, content(name, 40))
        slot = recipient(body, suite)
        held = replace(slot, private=kw.derive_private(suite, made_bytes(name, "another", 32)))
        yield invalid_case(name, "wrong private key", FAILED, File(body, (held,)), File(body, (slot,)).encode())
        for what, plaintext in {"other-key-id": made_bytes(name, "x", 16) + body.key,
                                "other-data-key": body.header.key_id + made_bytes(name, "x", 32)}.items():
            name = f"recipient-{word}-{what}"
            odd = file_body(name, content(name, 40))
            changed = plaintext if what == "other-key-id" else odd.header.key_id + made_bytes(name, "x", 32)
            slot = replace(recipient(odd, suite), plaintext=changed)
            yield invalid_case(name, "the slot yields another data key", FAILED, File(odd, (slot,)),
                               File(odd, (slot,)).encode())
    name = "recipient-cut-in-slot"
    body = file_body(name, content(name, 40))
    slot = recipient(body, kw.SUITE_X25519)
    yield invalid_case(name, "the file ends inside the slot", MALFORMED, File(body, (slot,)),
                       File(body, (slot,)).encode()[:60])
    name = "recipient-of-another-kind"
    body = file_body(name, content(name, 40))
    held = recipient(body, kw.SUITE_P256)
    data = File(body, (recipient(body, kw.SUITE_X25519),)).encode()
    yield invalid_case(name, "a key of another KEM", FAILED, File(body, (held,)), data)


def cases() -> Iterator[Json]:
    for table in (valid_cases, changed_cases, opener_cases):
        yield from table()
