#!/usr/bin/env python3
"""Known answers for the transcript binder of HPKE: python3 reference.py > binders.json

A second implementation of X25519, HPKE's key schedule and the transcript, from RFC 7748, RFC 9180 and the page
of the module `binder`; it shares no code with the Rust one and needs nothing but Python's own library. Every
input is in the file, the ephemeral keys too. Seeded: it always prints the same.
"""

import hashlib
import hmac
import json
import random

P = 2**255 - 19
# X-Wing, X25519, P-256; one that nobody has; one that exists and is on nobody's default list.
UNKNOWN, RARE = [0x21, 9, 9], [0x20, 3, 1]
SUITES = [[0x647A, 1, 3], [0x20, 1, 3], [0x10, 1, 2], UNKNOWN]
CHOSEN = SUITES[1]
KEM, SUITE = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\x00\x03"


def x25519(scalar, point):
    """RFC 7748, section 5."""
    k = bytearray(scalar)
    k[0] &= 248
    k[31] = k[31] & 127 | 64
    k = int.from_bytes(k, "little")
    x1 = int.from_bytes(point, "little") % 2**255
    x2, z2, x3, z3, swap = 1, 0, x1, 1, 0
    for t in reversed(range(255)):
        bit = k >> t & 1
        if swap ^ bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a, b * b, d * a, c * b
        e = aa - bb
        x3, z3 = (da + cb) ** 2 % P, x1 * (da - cb) ** 2 % P
        x2, z2 = aa * bb % P, e * (aa + 121665 * e) % P
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, P - 2, P) % P).to_bytes(32, "little")


def public(scalar):
    return x25519(scalar, (9).to_bytes(32, "little"))


def mac(key, text):
    return hmac.new(key, text, hashlib.sha256).digest()


def extract(salt, suite, label, ikm):
    return mac(salt, b"HPKE-v1" + suite + label + ikm)


def expand(prk, suite, label, info, length):
    info = length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    out, block, count = b"", b"", 1
    while len(out) < length:
        block = mac(prk, block + info + bytes([count]))
        out, count = out + block, count + 1
    return out[:length]


def exporter_secret(case, mode, dh, context, info):
    prk = extract(b"", KEM, b"eae_prk", dh)
    shared = expand(prk, KEM, b"shared_secret", context, 32)
    schedule = bytes([mode])
    schedule += extract(b"", SUITE, b"psk_id_hash", case["psk_id"])
    schedule += extract(b"", SUITE, b"info_hash", info)
    secret = extract(shared, SUITE, b"secret", case["psk"])
    return expand(secret, SUITE, b"exp", schedule, 32)


def lp(*fields):
    return b"".join(len(field).to_bytes(4, "big") + field for field in fields)


def numbers(suites):
    return b"".join(number.to_bytes(2, "big") for suite in suites for number in suite)


def answer(case):
    mode, skr, ske = case["mode"], case["skR"], case["skE"]
    pkr, enc = public(skr), public(ske)
    pks = public(case["skS"]) if mode >= 2 else b""
    chosen = next(s for s in case["published"] if s in case["offered"])
    transcript = hashlib.sha256(
        lp(
            b"keywright/hpke/transcript",
            b"\x01",
            numbers(case["offered"]),
            numbers(case["published"]),
            numbers([chosen]) + bytes([mode]),
            *(case[n] for n in ("initiator_name", "initiator_key", "responder_name", "responder_key")),
            pkr,
            pks,
            case["psk_id"],
            case["ratchet_prekey"],
            case["application"],
        )
    ).digest()
    dh = x25519(ske, pkr) + (x25519(case["skS"], pkr) if mode >= 2 else b"")
    info = b"keywright/hpke/info/v1" + transcript
    secret = exporter_secret(case, mode, dh, enc + pkr + pks, info)
    binder = expand(secret, SUITE, b"sec", b"keywright/binder/v1" + transcript, 32)
    return {"enc": enc, "pkS": pks, "transcript": transcript, "binder": binder}


def case_of(dice, index):
    draw = lambda length: bytes(dice.randrange(256) for _ in range(length))
    mode = index % 4
    others = [suite for suite in SUITES if suite != CHOSEN]
    offered = [CHOSEN] + [suite for suite in others if dice.random() < 0.6]
    dice.shuffle(offered)
    case = {
        "name": f"binder-{index}",
        "valid": True,
        "mode": mode,
        "offered": offered,
        "published": [CHOSEN] + [suite for suite in others if dice.random() < 0.5],
        "psk": draw(dice.randrange(32, 67)) if mode % 2 else b"",
        "psk_id": draw(dice.randrange(1, 67)) if mode % 2 else b"",
        "skR": draw(32),
        "skS": draw(32),
        "skE": draw(32),
    }
    for field in ("initiator_name", "initiator_key", "responder_name", "responder_key"):
        case[field] = draw(dice.choice([0, 1, 32, 300]))
    case["ratchet_prekey"] = draw(dice.choice([0, 32]))
    case["application"] = draw(dice.choice([0, 1, 64, 3000]))
    return case | answer(case)


def refusals(case):
    """Negotiations that lead to no context, whatever the keys."""
    lists = {
        "nothing-offered": ([], [CHOSEN]),
        "nothing-published": ([CHOSEN], []),
        "nothing-in-common": ([SUITES[0], CHOSEN], [SUITES[2]]),
        "the-first-in-common-is-unknown": ([CHOSEN, UNKNOWN], [UNKNOWN, CHOSEN]),
        "the-first-in-common-is-refused": ([CHOSEN, RARE], [RARE, CHOSEN]),
        "another-key-than-the-suite": (SUITES, [SUITES[2], CHOSEN]),
    }
    for name, (offered, published) in lists.items():
        yield case | {"name": name, "valid": False, "offered": offered, "published": published}


def main():
    dice = random.Random("keywright/binder")
    cases = [case_of(dice, index) for index in range(40)]
    refused = list(refusals(cases[0]))
    hexed = lambda value: value.hex() if isinstance(value, bytes) else value
    written = [{name: hexed(value) for name, value in case.items()} for case in cases + refused]
    lines = ",\n".join(json.dumps(case) for case in written)
    print(f'{{"valid": {len(cases)}, "invalid": {len(refused)}, "cases": [\n{lines}\n]}}')


if __name__ == "__main__":
    main()
