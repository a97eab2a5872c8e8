"""Reads the JSON cases back and says of each whether the second implementation gives the stated answer.

It uses nothing but the JSON, so a passing case also shows that the JSON says enough.
"""

from __future__ import annotations

import hashlib
from typing import Any, Callable

import second_implementation as kw
from casebook import ANY, Json, expand, scene_from_json

Cases = dict[str, Json]


def answer(call: Callable[[], bytes]) -> tuple[bytes | None, str | None]:
    """Plaintext, or the code of the refusal."""
    try:
        return call(), None
    except kw.Refused as refusal:
        return None, refusal.code


def as_stated(case: Json, call: Callable[[], bytes], plaintext: bytes | None) -> bool:
    opened, code = answer(call)
    if case["valid"]:
        return opened is not None and opened == plaintext
    return code is not None and case["error"] in (code, ANY)


def matches(written: Json, data: bytes) -> bool:
    same = (written["length"], written["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    return same and data.startswith(bytes.fromhex(written.get("first", "")))


def rebuilt(written: Any, cases: Cases, make: Callable[[], bytes]) -> bytes | None:
    """The bytes of an envelope or file, in any of its three written forms."""
    if isinstance(written, str):
        return bytes.fromhex(written)
    if "parts" in written:
        data = b"".join(slice_of(part, cases) for part in written["parts"])
    else:
        data = make()
    return data if matches(written, data) else None


def slice_of(part: Json, cases: Cases) -> bytes:
    source = cases[part["case"]]
    data = rebuilt(source["envelope"], cases, scene_from_json(source).seal)
    if data is None or not 0 <= part["start"] <= part["end"] <= len(data):
        raise ValueError(f"no such part: {part}")
    return data[part["start"]:part["end"]]


def judge_envelope(case: Json, cases: Cases) -> bool:
    held = scene_from_json(case)
    envelope = rebuilt(case["envelope"], cases, held.seal)
    if envelope is None:
        return False
    plaintext = expand(case["plaintext"]) if case["valid"] else None
    opened = as_stated(case, lambda: kw.open_envelope(envelope, held.expected(), held.key, held.fields()), plaintext)
    return opened and (not case["valid"] or held.seal() == envelope)


def judge_password(case: Json, _cases: Cases) -> bool:
    container, password = bytes.fromhex(case["container"]), bytes.fromhex(case["password"])
    plaintext = expand(case["plaintext"]) if case["valid"] else None
    if not as_stated(case, lambda: kw.open_password(container, password), plaintext):
        return False
    if case["valid"]:
        return sealed_container(case, expand(case["plaintext"])) == container
    return not case["before_kdf"] or refused_before_kdf(container)


def sealed_container(case: Json, plaintext: bytes) -> bytes:
    cost = kw.Cost(case["memory_kib"], case["passes"], case["lanes"])
    password, salt, nonce = (bytes.fromhex(case[name]) for name in ("password", "salt", "nonce"))
    return kw.seal_password(password, cost, salt, nonce, plaintext)


def refused_before_kdf(container: bytes) -> bool:
    """True if the prefix alone, or the length, is enough to refuse."""
    try:
        kw.parse_password_prefix(container)
        kw.take(container, 36, kw.COMMITMENT, 24, kw.TAG)
    except kw.Refused:
        return True
    return False


def file_opener(data: bytes, slot: Json, fields: dict[int, bytes]) -> Callable[[], bytes]:
    if slot["type"] == kw.SLOT_PASSWORD:
        return lambda: kw.open_file_with_password(data, bytes.fromhex(slot["password"]), fields)
    if slot["type"] == kw.SLOT_HPKE:
        suite, private = bytes.fromhex(slot["suite_ids"]), bytes.fromhex(slot["private_key"])
        return lambda: kw.open_file_with_private_key(data, suite, private, fields)
    held = slot_scene(slot, "")
    return lambda: kw.open_file_with_key(data, held.expected(), held.key, held.fields(), fields)


def slot_scene(slot: Json, plaintext: str) -> Any:
    return scene_from_json(slot | {"name": "", "nonce_or_salt": slot["nonce"], "plaintext": plaintext})


def slot_as_sealed(slot: Json, opened: str) -> bool:
    if slot["type"] == kw.SLOT_PASSWORD:
        return sealed_container(slot, bytes.fromhex(opened)).hex() == slot["content"]
    if slot["type"] == kw.SLOT_HPKE:
        suite, private, ikm = (bytes.fromhex(slot[name]) for name in ("suite_ids", "private_key", "ephemeral_ikm"))
        made = kw.seal_recipient(suite, kw.public_of(suite, private), ikm, bytes.fromhex(opened))
        return made.hex() == slot["content"]
    return slot_scene(slot, opened).seal().hex() == slot["content"]


def sealed_file(case: Json) -> bytes:
    fields = {int(tag): expand(spec) for tag, spec in case["aad"].items()}
    slots = [(slot["type"], bytes.fromhex(slot["content"])) for slot in case["slots"]]
    key_id, key, salt = (bytes.fromhex(case[name]) for name in ("data_key_id", "data_key", "salt"))
    return kw.seal_file(slots, key_id, key, salt, expand(case["plaintext"]), fields)


def judge_file(case: Json, cases: Cases) -> bool:
    """Every slot listed must give the stated answer, not only one of them."""
    data = rebuilt(case["file"], cases, lambda: sealed_file(case))
    if data is None or not case["slots"]:
        return False
    fields = {int(tag): expand(spec) for tag, spec in case["aad"].items()}
    plaintext = expand(case["plaintext"]) if case["valid"] else None
    if not all(as_stated(case, file_opener(data, slot, fields), plaintext) for slot in case["slots"]):
        return False
    if not case["valid"]:
        return True
    opened = case["data_key_id"] + case["data_key"]
    return sealed_file(case) == data and all(slot_as_sealed(slot, opened) for slot in case["slots"])


JUDGES: dict[str, Callable[[Json, Cases], bool]] = {"envelope": judge_envelope, "password": judge_password,
                                                    "file": judge_file}
