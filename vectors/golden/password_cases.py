"""Cases of the password container: costs, flipped bytes, and bounds that must hold before any memory is asked for."""

from __future__ import annotations

from typing import Callable, Iterator

import second_implementation as kw
from casebook import ANY, FAILED, MALFORMED, Json, made_bytes

SMALL = kw.Cost(64, 1, 1)
FAST = kw.Cost(65536, 3, 2)
PASSWORD = b"correct horse battery staple"
Change = Callable[[bytes], bytes]


def parts(name: str) -> tuple[bytes, bytes, bytes]:
    """Salt, nonce and the 48 bytes of one case."""
    return made_bytes(name, "salt", 16), made_bytes(name, "nonce", 24), made_bytes(name, "plaintext", kw.KEY_PLAINTEXT)


def sealed(name: str, password: bytes, cost: kw.Cost) -> bytes:
    return kw.seal_password(password, cost, *parts(name))


def valid_case(name: str, password: bytes, cost: kw.Cost) -> Json:
    salt, nonce, plaintext = parts(name)
    return {"name": name, "valid": True, "password": password.hex(), "memory_kib": cost.memory_kib,
            "passes": cost.passes, "lanes": cost.lanes, "salt": salt.hex(), "nonce": nonce.hex(),
            "plaintext": plaintext.hex(), "container": sealed(name, password, cost).hex()}


def invalid_case(name: str, reason: str, error: str, before_kdf: bool, password: bytes, container: bytes) -> Json:
    return {"name": name, "valid": False, "reason": reason, "error": error, "before_kdf": before_kdf,
            "password": password.hex(), "plaintext": None, "container": container.hex()}


def valid_cases() -> Iterator[Json]:
    costs = {"small": SMALL, "least": kw.Cost(8, 1, 1), "most-lanes": kw.Cost(128, 1, 16),
             "most-passes": kw.Cost(32, 10, 4), "two-lanes": kw.Cost(64, 3, 2), "odd-memory": kw.Cost(67, 2, 3),
             "fast": FAST}
    for what, cost in costs.items():
        yield valid_case(f"password-cost-{what}", PASSWORD, cost)
    passwords = {"1-byte": b"x", "utf-8": "pa\u00dfw\u00f6rt \u2713".encode(), "zero-byte": b"a\x00b",
                 "200-bytes": bytes(range(1, 201)), "trailing-newline": PASSWORD + b"\n"}
    for what, password in passwords.items():
        yield valid_case(f"password-text-{what}", password, SMALL)


def flipped(at: int, mask: int) -> Change:
    return lambda data: data[:at] + bytes([data[at] ^ mask]) + data[at + 1:]


def with_byte(at: int, value: int) -> Change:
    return lambda data: data[:at] + bytes([value]) + data[at + 1:]


def spoilt() -> Iterator[tuple[str, str, str, bool, Change]]:
    """Name, reason, error, whether it must be refused before Argon2 runs, change."""
    for at in range(4):
        yield f"flip-magic-{at}", "magic changed", MALFORMED, True, flipped(at, 1)
    for at, field in ((4, "version"), (5, "kdf"), (6, "aead")):
        for number in (0, 2, 255):
            yield f"{field}-says-{number}", f"unknown {field} number", ANY, True, with_byte(at, number)
    for number in (1, 128, 255):
        yield f"flags-say-{number}", "flags not zero", ANY, True, with_byte(7, number)
    yield "memory-changed", "memory changed within bounds", FAILED, False, with_byte(11, 65)
    yield "passes-changed", "passes changed within bounds", FAILED, False, with_byte(15, 2)
    yield "lanes-changed", "lanes changed within bounds", FAILED, False, with_byte(19, 2)
    regions = (("salt", 20, 36), ("commitment", 36, 68), ("nonce", 68, 92), ("ciphertext", 92, 140), ("tag", 140, 156))
    for field, start, end in regions:
        yield f"flip-{field}-first", f"{field} changed", FAILED, False, flipped(start, 1)
        yield f"flip-{field}-last", f"{field} changed", FAILED, False, flipped(end - 1, 0x80)
    for length in (0, 3, 4, 7, 8, 19, 20, 35, 36, 67, 91, 92, 107):
        yield f"cut-to-{length}", "cut before the end of an empty container", MALFORMED, True, lambda d, n=length: d[:n]
    yield "cut-by-1", "last byte missing", ANY, False, lambda data: data[:-1]
    yield "cut-by-16", "last 16 bytes missing", ANY, False, lambda data: data[:-16]
    yield "trailing-zero", "one byte after the end", ANY, False, lambda data: data + b"\x00"
    yield "leading-zero", "one byte before the magic", MALFORMED, True, lambda data: b"\x00" + data


def spoilt_cases() -> Iterator[Json]:
    for what, reason, error, before, change in spoilt():
        name = f"password-{what}"
        yield invalid_case(name, reason, error, before, PASSWORD, change(sealed(name, PASSWORD, SMALL)))


def wrong_password_cases() -> Iterator[Json]:
    table = {"other": b"incorrect horse", "case": PASSWORD.upper(), "newline": PASSWORD + b"\n",
             "space": PASSWORD + b" ", "zero-byte": PASSWORD + b"\x00", "short": PASSWORD[:-1]}
    for what, password in table.items():
        name = f"password-wrong-{what}"
        yield invalid_case(name, "wrong password", FAILED, False, password, sealed(name, PASSWORD, SMALL))


def bounds() -> list[tuple[str, str, kw.Cost]]:
    return [
        ("memory-0", "memory below 8 KiB a lane", kw.Cost(0, 1, 1)),
        ("memory-7", "memory below 8 KiB a lane", kw.Cost(7, 1, 1)),
        ("memory-15-lanes-2", "memory below 8 KiB a lane", kw.Cost(15, 1, 2)),
        ("memory-127-lanes-16", "memory below 8 KiB a lane", kw.Cost(127, 1, 16)),
        ("memory-above-1-gib", "memory one KiB above 1 GiB", kw.Cost(1048577, 1, 1)),
        ("memory-most", "memory of 4 TiB", kw.Cost(2**32 - 1, 1, 1)),
        ("memory-times-passes-wraps", "memory times passes is 0 in 32 bits", kw.Cost(2**31, 2, 1)),
        ("passes-0", "no pass", kw.Cost(64, 0, 1)),
        ("passes-11", "passes above 10", kw.Cost(64, 11, 1)),
        ("passes-most", "passes of 2^32 - 1", kw.Cost(64, 2**32 - 1, 1)),
        ("lanes-0", "no lane", kw.Cost(64, 1, 0)),
        ("lanes-17", "lanes above 16", kw.Cost(136, 1, 17)),
        ("lanes-most", "lanes of 2^32 - 1", kw.Cost(64, 1, 2**32 - 1)),
        ("lanes-wrap", "8 times lanes is 0 in 32 bits", kw.Cost(64, 1, 2**29)),
        ("work-1-gib-5-passes", "memory times passes above 4 GiB", kw.Cost(1048576, 5, 8)),
        ("work-just-above-5", "memory times passes one KiB above 4 GiB", kw.Cost(838861, 5, 1)),
        ("work-just-above-10", "memory times passes six KiB above 4 GiB", kw.Cost(419431, 10, 1)),
        ("all-zero", "no cost at all", kw.Cost(0, 0, 0)),
        ("little-endian", "64 KiB, 1 pass, 1 lane as little-endian numbers", kw.Cost(1 << 30, 1 << 24, 1 << 24)),
    ]


def bounds_cases() -> Iterator[Json]:
    """Sealed with their own cost where that is cheap, so that only the bound stands between the reader and the text."""
    for what, reason, cost in bounds():
        name = f"password-{what}"
        salt, nonce, plaintext = parts(name)
        cheap = 8 * cost.lanes <= cost.memory_kib <= 1024 and 1 <= cost.passes <= 20 and cost.lanes >= 1
        if cheap:
            container = kw.seal_password(PASSWORD, cost, salt, nonce, plaintext)
        else:
            container = kw.password_prefix(cost, salt) + made_bytes(name, "rest", 32 + 24 + 48 + 16)
        yield invalid_case(name, reason, ANY, True, PASSWORD, container)


def other_rule_cases() -> Iterator[Json]:
    """Containers of the right shape, sealed by other rules."""
    name = "password-commitment-not-in-aad"
    salt, nonce, plaintext = parts(name)
    prefix = kw.password_prefix(SMALL, salt)
    key, commitment = kw.password_subkey(PASSWORD, SMALL, salt, prefix)
    body = kw.xaes256_gcm_seal(key, nonce, plaintext, prefix)
    yield invalid_case(name, "sealed without commitment and nonce in the associated data", FAILED, False, PASSWORD,
                       prefix + commitment + nonce + body)
    name = "password-commitment-of-another-password"
    salt, nonce, plaintext = parts(name)
    prefix = kw.password_prefix(SMALL, salt)
    key, commitment = kw.password_subkey(PASSWORD, SMALL, salt, prefix)
    _, other = kw.password_subkey(b"another", SMALL, salt, prefix)
    header = prefix + other + nonce
    yield invalid_case(name, "tag of this password, commitment of another", FAILED, False, PASSWORD,
                       header + kw.xaes256_gcm_seal(key, nonce, plaintext, header))
    name = "password-tag-of-another-password"
    salt, nonce, plaintext = parts(name)
    prefix = kw.password_prefix(SMALL, salt)
    _, commitment = kw.password_subkey(PASSWORD, SMALL, salt, prefix)
    key, _ = kw.password_subkey(b"another", SMALL, salt, prefix)
    header = prefix + commitment + nonce
    yield invalid_case(name, "commitment of this password, tag of another", FAILED, False, PASSWORD,
                       header + kw.xaes256_gcm_seal(key, nonce, plaintext, header))


def cases() -> Iterator[Json]:
    for table in (valid_cases, spoilt_cases, wrong_password_cases, bounds_cases, other_rule_cases):
        yield from table()
