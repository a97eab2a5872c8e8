"""Cases of files: slots of type 1 and 2, bodies of suite 6, and what must be refused."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from typing import Any, Callable, Iterator

import second_implementation as kw
from casebook import ANY, FAILED, MALFORMED, Json, Scene, Spec, content, expand, made_bytes, scene, with_header, written
from password_cases import FAST, PASSWORD, SMALL

ROW = b"row 7".hex()


@dataclass(frozen=True)
class KeySlot:
    """A slot of type 1: an envelope of kind 2."""

    sealed: Scene

    def content(self) -> bytes:
        return self.sealed.seal()

    def json(self) -> Json:
        header = self.sealed.header
        return {"type": kw.SLOT_ENVELOPE, "suite": header.suite, "kind": header.kind, "binding": header.binding,
                "binding_id": header.binding_id.hex(), "key": self.sealed.key.hex(), "key_id": header.key_id.hex(),
                "version": header.version, "nonce": self.sealed.nonce.hex(), "aad": self.sealed.aad}


@dataclass(frozen=True)
class PasswordSlot:
    """A slot of type 2: a password container."""

    password: bytes
    cost: kw.Cost
    salt: bytes
    nonce: bytes
    plaintext: bytes

    def content(self) -> bytes:
        return kw.seal_password(self.password, self.cost, self.salt, self.nonce, self.plaintext)

    def json(self) -> Json:
        return {"type": kw.SLOT_PASSWORD, "password": self.password.hex(), "memory_kib": self.cost.memory_kib,
                "passes": self.cost.passes, "lanes": self.cost.lanes, "salt": self.salt.hex(),
                "nonce": self.nonce.hex()}


AnySlot = KeySlot | PasswordSlot


@dataclass(frozen=True)
class File:
    """One file before it is written: the body, the slots, and the name that its values come from."""

    body: Scene
    slots: tuple[AnySlot, ...]

    def slot_bytes(self) -> list[kw.Slot]:
        return [(slot.json()["type"], slot.content()) for slot in self.slots]

    def body_bytes(self) -> bytes:
        return self.body.seal()

    def encode(self) -> bytes:
        return kw.encode_slots(self.slot_bytes()) + self.body_bytes()


def opened_slot(body: Scene) -> bytes:
    return body.header.key_id + body.key


def file_body(name: str, plaintext: Spec, aad: dict[str, Spec] | None = None) -> Scene:
    return with_header(scene(name, 6, plaintext=plaintext, aad=aad), version=0)


def key_slot(body: Scene, suite: int = 1, binding: int = kw.NO_BINDING, aad: dict[str, Spec] | None = None,
             label: str = "slot") -> KeySlot:
    return KeySlot(scene(f"{body.name}/{label}", suite, kind=kw.KEY, binding=binding, version=3,
                         plaintext=opened_slot(body).hex(), aad=aad))


def password_slot(body: Scene, cost: kw.Cost = SMALL, password: bytes = PASSWORD) -> PasswordSlot:
    return PasswordSlot(password, cost, made_bytes(body.name, "slot salt", 16), made_bytes(body.name, "slot nonce", 24),
                        opened_slot(body))


def file_json(base: File) -> Json:
    body = base.body
    return {"data_key_id": body.header.key_id.hex(), "data_key": body.key.hex(), "salt": body.nonce.hex(),
            "plaintext": body.plaintext, "aad": body.aad}


def valid_case(base: File) -> Json:
    slots = [slot.json() | {"content": slot.content().hex()} for slot in base.slots]
    head: Json = {"name": base.body.name, "valid": True}
    return head | file_json(base) | {"slots": slots, "file": written(base.encode())}


def invalid_case(name: str, reason: str, error: str, holds: File, data: bytes) -> Json:
    """`holds` says what the opener has: its slots' keys and passwords, each of which must be refused."""
    slots = [slot.json() | {"content": None} for slot in holds.slots]
    head: Json = {"name": name, "valid": False, "reason": reason, "error": error}
    return head | file_json(holds) | {"plaintext": None, "slots": slots, "file": data.hex()}


# --------------------------------------------------------------------------------------------------------------------
# Valid

def slot_cases() -> Iterator[Json]:
    for suite in kw.KEY_KIND_SUITES:
        name = f"file-slot-1-suite-{suite}"
        body = file_body(name, content(name, 40))
        yield valid_case(File(body, (key_slot(body, suite),)))
    for what, binding, aad in (("principal", 1, {}), ("group", 2, {}), ("callers-aad", 0, {"1": ROW}),
                               ("context", 0, {"2": ROW}), ("all", 1, {"1": ROW, "2": "00"})):
        name = f"file-slot-1-{what}"
        body = file_body(name, content(name, 40))
        yield valid_case(File(body, (key_slot(body, 1, binding, aad),)))
    for what, cost in (("small", SMALL), ("fast", FAST)):
        name = f"file-slot-2-{what}"
        body = file_body(name, content(name, 40))
        yield valid_case(File(body, (password_slot(body, cost),)))


def several_slot_cases() -> Iterator[Json]:
    body = file_body("file-slots-1-and-2", content("file-slots-1-and-2", 40), {"1": ROW})
    yield valid_case(File(body, (key_slot(body), password_slot(body))))
    body = file_body("file-slots-1-and-1", content("file-slots-1-and-1", 40))
    yield valid_case(File(body, (key_slot(body), key_slot(body, 2, label="second slot"))))
    body = file_body("file-slots-1-1-and-2", content("file-slots-1-1-and-2", 40))
    slots = (key_slot(body), key_slot(body, label="second slot"), password_slot(body))
    yield valid_case(File(body, slots))


def rewrap_cases() -> Iterator[Json]:
    """Slots are outside the associated data: the same body stands behind other slots."""
    body = file_body("file-rewrap-before", content("file-rewrap", 40))
    yield valid_case(File(body, (key_slot(body),)))
    after = replace(body, name="file-rewrap-after")
    yield valid_case(File(after, (key_slot(after), password_slot(after, password=b"new password"))))


def length_cases() -> Iterator[Json]:
    for length in (0, 1, 16383, 16384, 16385, 49153):
        name = f"file-length-{length}"
        body = file_body(name, content(name, length))
        yield valid_case(File(body, (key_slot(body),)))
    for what, aad in {"1-byte": {"1": "00"}, "16-kib": {"1": {"pattern": "07", "length": 16384}},
                      "field-2": {"2": ROW}, "fields-1-and-2": {"1": ROW, "2": "00"}}.items():
        name = f"file-aad-{what}"
        body = file_body(name, content(name, 40), aad)
        yield valid_case(File(body, (key_slot(body),)))


# --------------------------------------------------------------------------------------------------------------------
# Invalid

def both(name: str) -> File:
    """The file that most negative cases start from: slot 1, then slot 2."""
    body = file_body(name, content(name, 40), {"1": ROW})
    return File(body, (key_slot(body), password_slot(body)))


def one(name: str) -> File:
    body = file_body(name, content(name, 40))
    return File(body, (key_slot(body),))


Change = Callable[[bytes, list[int]], bytes]


def put(at: int, value: bytes) -> Callable[[bytes], bytes]:
    return lambda data: data[:at] + value + data[at + len(value):]


def flip(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def changed_cases() -> Iterator[Json]:
    """Bytes changed in a file with one slot. Slot 1 of suite 1 is 146 bytes long and begins at 9; the body follows."""
    body_at = 4 + 5 + 26 + 24 + 32 + 48 + 16
    table: list[tuple[str, str, str, Callable[[bytes], bytes]]] = [
        ("magic-0", "magic changed", MALFORMED, lambda d: flip(d, 0)),
        ("magic-1", "magic changed", MALFORMED, lambda d: flip(d, 1)),
        ("magic-2", "magic changed", MALFORMED, lambda d: flip(d, 2)),
        ("magic-of-envelope", "the envelope's magic in place of the file's", MALFORMED, lambda d: b"\x29\x64" + d[2:]),
        ("count-0", "slot count 0, the slot left in place", MALFORMED, put(3, b"\x00")),
        ("count-2", "slot count above the number of slots", MALFORMED, put(3, b"\x02")),
        ("count-255", "slot count above the number of slots", MALFORMED, put(3, b"\xff")),
        ("slot-length-plus-1", "slot length one too many", MALFORMED, put(5, struct.pack(">I", 147))),
        ("slot-length-minus-1", "slot length one too few", MALFORMED, put(5, struct.pack(">I", 145))),
        ("slot-length-0", "slot length 0, the slot left in place", MALFORMED, put(5, bytes(4))),
        ("slot-length-4097", "slot length above the limit, without so many bytes", MALFORMED,
         put(5, struct.pack(">I", 4097))),
        ("slot-length-most", "slot length of 2^32 - 1", MALFORMED, put(5, b"\xff" * 4)),
        ("slot-content-first", "first byte of the slot changed", ANY, lambda d: flip(d, 9)),
        ("slot-content-key-id", "key id in the slot changed", FAILED, lambda d: flip(d, 15)),
        ("slot-content-commitment", "commitment in the slot changed", FAILED, lambda d: flip(d, 9 + 50)),
        ("slot-content-ciphertext", "ciphertext in the slot changed", FAILED, lambda d: flip(d, 9 + 90)),
        ("slot-content-tag", "tag in the slot changed", FAILED, lambda d: flip(d, body_at - 1)),
        ("body-magic", "magic of the body changed", MALFORMED, lambda d: flip(d, body_at)),
        ("body-suite-1", "body says suite 1", ANY, put(body_at + 3, b"\x01")),
        ("body-suite-unknown", "body says suite 7", ANY, put(body_at + 3, b"\x07")),
        ("body-kind-2", "body says kind 2", ANY, put(body_at + 4, b"\x02")),
        ("body-binding-1", "body says binding 1, without an id", ANY, put(body_at + 5, b"\x01")),
        ("body-key-id", "key id of the body changed", FAILED, lambda d: flip(d, body_at + 6)),
        ("body-version-1", "body says version 1", ANY, put(body_at + 25, b"\x01")),
        ("body-salt", "salt of the body changed", FAILED, lambda d: flip(d, body_at + 26)),
        ("body-commitment", "commitment of the body changed", FAILED, lambda d: flip(d, body_at + 50)),
        ("body-ciphertext", "ciphertext of the body changed", FAILED, lambda d: flip(d, body_at + 82)),
        ("body-tag", "tag of the body changed", FAILED, lambda d: flip(d, len(d) - 1)),
        ("trailing-zero", "one byte after the end", FAILED, lambda d: d + b"\x00"),
        ("leading-zero", "one byte before the magic", MALFORMED, lambda d: b"\x00" + d),
        ("cut-by-1", "last byte missing", FAILED, lambda d: d[:-1]),
    ]
    for what, reason, error, change in table:
        name = f"file-{what}"
        base = one(name)
        yield invalid_case(name, reason, error, base, change(base.encode()))
    for number in (0, 4, 127, 255):
        name = f"file-slot-type-{number}"
        yield invalid_case(name, "unknown slot type", ANY, one(name), put(4, bytes([number]))(one(name).encode()))
    for length in (0, 2, 3, 4, 5, 8, 9, 100, body_at - 1, body_at, body_at + 25, body_at + 26, body_at + 82):
        name = f"file-cut-to-{length}"
        base = one(name)
        yield invalid_case(name, "cut before the end of an empty body", MALFORMED, base, base.encode()[:length])


def slot_shape_cases() -> Iterator[Json]:
    """Files put together from sound parts in ways that are not allowed."""
    name = "file-no-slot"
    base = one(name)
    yield invalid_case(name, "no slot at all", MALFORMED, base, kw.encode_slots([]) + base.body_bytes())
    name = "file-slot-too-long"
    base = one(name)
    long = (kw.SLOT_ENVELOPE, expand({"pattern": "05", "length": 4097}))
    yield invalid_case(name, "a slot of 4097 bytes", MALFORMED, base, kw.encode_slots([long]) + base.body_bytes())
    name = "file-second-slot-too-long"
    base = one(name)
    slots = base.slot_bytes() + [long]
    yield invalid_case(name, "a second slot of 4097 bytes", MALFORMED, base, kw.encode_slots(slots) + base.body_bytes())
    name = "file-second-slot-unknown"
    base = one(name)
    slots = base.slot_bytes() + [(9, b"\x00")]
    yield invalid_case(name, "a second slot of an unknown type", ANY, base, kw.encode_slots(slots) + base.body_bytes())
    name = "file-slot-1-holds-container"
    base = both(name)
    slots = [(kw.SLOT_ENVELOPE, base.slots[1].content()), (kw.SLOT_PASSWORD, base.slots[0].content())]
    data = kw.encode_slots(slots) + base.body_bytes()
    yield invalid_case(name, "contents of slot 1 and 2 exchanged", ANY, base, data)
    name = "file-slots-after-body"
    base = one(name)
    front = kw.encode_slots(base.slot_bytes())
    data = front[:4] + base.body_bytes() + front[4:]
    yield invalid_case(name, "slots after the body", ANY, base, data)
    name = "file-bare-body"
    base = one(name)
    yield invalid_case(name, "the body alone", MALFORMED, base, base.body_bytes())
    name = "file-slots-alone"
    base = one(name)
    yield invalid_case(name, "slots without a body", MALFORMED, base, kw.encode_slots(base.slot_bytes()))
    name = "file-slot-trailing-byte"
    base = one(name)
    slots = [(kw.SLOT_ENVELOPE, base.slots[0].content() + b"\x00")]
    yield invalid_case(name, "one byte after the envelope in the slot", FAILED, base,
                       kw.encode_slots(slots) + base.body_bytes())


def slot_content_cases() -> Iterator[Json]:
    """The slot opens, but what is in it is not this file's data key."""
    def key_case(what: str, reason: str, plaintext: Callable[[Scene], bytes]) -> Json:
        name = f"file-slot-1-{what}"
        body = one(name).body
        slot = KeySlot(replace(key_slot(body).sealed, plaintext=plaintext(body).hex()))
        held = File(body, (slot,))
        return invalid_case(name, reason, ANY, held, held.encode())

    def password_case(what: str, reason: str, plaintext: Callable[[Scene], bytes]) -> Json:
        name = f"file-slot-2-{what}"
        body = one(name).body
        held = File(body, (replace(password_slot(body), plaintext=plaintext(body)),))
        return invalid_case(name, reason, ANY, held, held.encode())

    table: list[tuple[str, str, Callable[[Scene], bytes]]] = [
        ("other-data-key", "another data key under the same id",
         lambda b: b.header.key_id + made_bytes(b.name, "x", 32)),
        ("other-data-key-id", "the data key under another id", lambda b: made_bytes(b.name, "x", 16) + b.key),
        ("of-47-bytes", "a slot that yields 47 bytes", lambda b: opened_slot(b)[:-1]),
        ("of-49-bytes", "a slot that yields 49 bytes", lambda b: opened_slot(b) + b"\x00"),
        ("without-id", "a slot that yields the data key alone", lambda b: b.key),
        ("id-after-key", "a slot that yields key, then id", lambda b: b.key + b.header.key_id),
        ("empty", "a slot that yields nothing", lambda b: b""),
    ]
    for what, reason, plaintext in table:
        yield key_case(what, reason, plaintext)
        yield password_case(what, reason, plaintext)


def kind_cases() -> Iterator[Json]:
    for suite in kw.KEY_KIND_SUITES:
        name = f"file-slot-1-kind-1-suite-{suite}"
        body = one(name).body
        holds = key_slot(body, suite)
        slot = (kw.SLOT_ENVELOPE, with_header(holds.sealed, kind=kw.MESSAGE).seal())
        yield invalid_case(name, "an envelope of kind 1 in the slot", ANY, File(body, (holds,)),
                           kw.encode_slots([slot]) + body.seal())


def body_cases() -> Iterator[Json]:
    """Bodies that are sound under the data key, but not the body of a file."""
    table: list[tuple[str, str, dict[str, Any]]] = [
        ("body-sealed-version-1", "body of version 1", {"version": 1}),
        ("body-sealed-binding-1", "body bound to a principal", {"binding": 1, "binding_id": b"\x07" * 16}),
        ("body-sealed-binding-2", "body bound to a group", {"binding": 2, "binding_id": b"\x07" * 16}),
        ("body-sealed-kind-2", "body of kind 2", {"kind": kw.KEY}),
        ("body-sealed-other-id", "body that names another data key", {"key_id": b"\x07" * 16}),
    ]
    for what, reason, changes in table:
        base = one(f"file-{what}")
        data = kw.encode_slots(base.slot_bytes()) + with_header(base.body, **changes).seal()
        yield invalid_case(base.body.name, reason, ANY, base, data)
    for suite in (1, 2, 3, 4, 5):
        base = one(f"file-body-sealed-suite-{suite}")
        nonce = made_bytes(base.body.name, "other nonce", kw.NONCE_SIZE[suite])
        odd = replace(with_header(base.body, suite=suite), nonce=nonce)
        data = kw.encode_slots(base.slot_bytes()) + odd.seal()
        yield invalid_case(base.body.name, f"body of suite {suite}", ANY, base, data)
    base, other = one("file-body-of-another"), one("file-body-of-another/other")
    data = kw.encode_slots(base.slot_bytes()) + other.body_bytes()
    yield invalid_case(base.body.name, "body of another file", FAILED, base, data)


def key_opener_cases() -> Iterator[Json]:
    """A sound file, an opener with the wrong key in hand."""
    table: list[tuple[str, str, Callable[[Scene], Scene]]] = [
        ("wrong-key", "wrong key", lambda slot: replace(slot, key=made_bytes("file-wrong-key", "another", 32))),
        ("wrong-key-id", "no slot names this key", lambda slot: with_header(slot, key_id=b"\x07" * 16)),
        ("wrong-key-version", "no slot names this version", lambda slot: with_header(slot, version=4)),
        ("slot-wrong-aad", "caller's aad given for the slot, none sealed", lambda slot: replace(slot, aad={"1": ROW})),
    ]
    for what, reason, change in table:
        name = f"file-{what}"
        base = one(name)
        held = KeySlot(change(key_slot(base.body).sealed))
        yield invalid_case(name, reason, FAILED, replace(base, slots=(held,)), base.encode())


def opener_cases() -> Iterator[Json]:
    """A sound file, an opener with the wrong password, aad or sort of slot in hand."""
    name = "file-wrong-password"
    base = both(name)
    held = password_slot(base.body, password=b"another")
    yield invalid_case(name, "wrong password", FAILED, replace(base, slots=(held,)), base.encode())
    aads: list[tuple[str, str, dict[str, Spec]]] = [("missing", "aad of the body missing", {}),
                                                    ("changed", "aad of the body changed", {"1": "00"})]
    for what, reason, aad in aads:
        name = f"file-body-aad-{what}"
        base = both(name)
        holds = replace(base, body=replace(base.body, aad=aad))
        yield invalid_case(name, reason, FAILED, holds, base.encode())
    name = "file-password-without-slot-2"
    base = one(name)
    holds = replace(base, slots=(password_slot(base.body),))
    yield invalid_case(name, "a password for a file without slot 2", FAILED, holds, base.encode())
    name = "file-key-without-slot-1"
    body = one(name).body
    data = File(body, (password_slot(body),)).encode()
    yield invalid_case(name, "a key for a file without slot 1", FAILED, File(body, (key_slot(body),)), data)


def container_cases() -> Iterator[Json]:
    """Containers that a slot must not let through."""
    table: list[tuple[str, str, Callable[[bytes], bytes]]] = [
        ("flags", "flags of the container not zero", put(7, b"\x01")),
        ("memory", "memory of the container out of bounds", put(8, b"\xff" * 4)),
        ("lanes", "lanes of the container out of bounds", put(16, b"\xff" * 4)),
        ("kdf", "unknown KDF number in the container", put(5, b"\x02")),
        ("trailing", "one byte after the container", lambda d: d + b"\x00"),
        ("cut", "last byte of the container missing", lambda d: d[:-1]),
        ("salt", "salt of the container changed", lambda d: flip(d, 20)),
    ]
    for what, reason, change in table:
        name = f"file-container-{what}"
        body = one(name).body
        holds = password_slot(body)
        data = kw.encode_slots([(kw.SLOT_PASSWORD, change(holds.content()))]) + body.seal()
        yield invalid_case(name, reason, ANY, File(body, (holds,)), data)


def cases() -> Iterator[Json]:
    tables = (slot_cases, several_slot_cases, rewrap_cases, length_cases, changed_cases, slot_shape_cases,
              slot_content_cases, kind_cases, body_cases, key_opener_cases, opener_cases, container_cases)
    for table in tables:
        yield from table()
