"""Tokens, written from docs/formats.md alone, for reading and for vectors.

Nothing here is fast or constant-time. Without arguments it writes tokens.json beside itself; with --check it
compares, verifies every case on disk, and runs the published values of its primitives: those that are written
below, and BLAKE3's own file where KEYWRIGHT_VECTORS names a folder that has it. The last line of a check is
`N passed, N failed, N skipped`; the exit code is 1 if anything failed.
"""
import hashlib
import hmac as hmac_module
import json
import os
import pathlib
import sys

from primitives import (ORDER, blake3, blake3_derive, blake3_keyed, ed25519_public, ed25519_sign, ed25519_verify)

BLAKE3, HMAC, ED25519 = 0x01, 0x02, 0x11
NAMES = {BLAKE3: "blake3", HMAC: "hmac-sha-256", ED25519: "ed25519"}
BASE, BLOCK, BRANCH = "keywright/token/v1", "keywright/token/block/v1", "keywright/token/branch/v1"
LAST_SECOND = 253_402_300_799
TYPES = {1: "expires", 2: "not_before", 3: "audience", 4: "scope", 5: "subject", 6: "delegate", 7: "data"}
NUMBERS = {name: number for number, name in TYPES.items()}


def hmac(key, data):
    return hmac_module.new(key, data, hashlib.sha256).digest()


# Making --------------------------------------------------------------------------------------------------------

def tlv(kind, value):
    length = bytes([len(value)]) if len(value) < 128 else (0x8000 | len(value)).to_bytes(2, "big")
    return bytes([kind]) + length + value


def claim_bytes(claims):
    out = b""
    for kind, name in TYPES.items():
        if name in claims:
            value = claims[name]
            if name in ("expires", "not_before"):
                value = value.to_bytes(8, "big")
            elif name in ("audience", "scope", "subject"):
                value = value.encode()
            out += tlv(kind, value)
    return out


def mac_key(suite, secret, key_id):
    if suite == BLAKE3:
        return blake3_derive(BASE, secret + bytes([suite]) + key_id)
    return hmac(secret, BASE.encode() + bytes([suite]) + key_id)


def mac(suite, key, data):
    return (blake3_keyed(key, data) if suite == BLAKE3 else hmac(key, data))[:16]


def block_key(suite, tag):
    return blake3_derive(BLOCK, tag) if suite == BLAKE3 else hmac(tag, BLOCK.encode())


def branch(suite, tag):
    if suite == BLAKE3:
        return blake3_derive(BRANCH, tag, 16)
    return hashlib.sha256(BRANCH.encode() + tag).digest()[:16]


def header(suite, flags, key_id, token_id, claims):
    return bytes([suite, flags]) + key_id + token_id + len(claims).to_bytes(2, "big") + claims


def tagged(suite, secret, key_id, base, binder):
    if suite == ED25519:
        return ed25519_sign(secret, BASE.encode() + base + binder)
    return mac(suite, mac_key(suite, secret, key_id), base + binder)


def framed(kind, body):
    return bytes([kind]) + len(body).to_bytes(2, "big") + body


def issue(key, token_id, claims, binder=None, flags=None):
    """`claims` may be bytes already, which need not be right."""
    raw = claims if isinstance(claims, bytes) else claim_bytes(claims)
    if flags is None:
        flags = 0 if binder is None else 2
    base = header(key.suite, flags, key.id, token_id, raw)
    return base + tagged(key.suite, key.secret, key.id, base, binder or b"")


def narrow(token, body, kind=1):
    suite, front, tag = token[0], token[:-16], token[-16:]
    block = framed(kind, body if isinstance(body, bytes) else claim_bytes(body))
    return front + block + mac(suite, block_key(suite, tag), block)


def delegate(token, seed, body, following=None, kind=None):
    front, first = token[:-64], token[-64:]
    claims = body if isinstance(body, bytes) else claim_bytes(body)
    following = b"" if following is None else ed25519_public(following)
    if kind is None:
        kind = 2 if following else 3
    length = (len(claims + following) + 64).to_bytes(2, "big")
    up_to = front + bytes([kind]) + length + claims + following
    return up_to + ed25519_sign(seed, BLOCK.encode() + first + up_to) + first


# Verifying -----------------------------------------------------------------------------------------------------

class Refused(Exception):
    pass


def need(condition, reason):
    if not condition:
        raise Refused(reason)


def visible(value, longest):
    return 1 <= len(value) <= longest and all(0x21 <= byte <= 0x7E for byte in value)


def is_scope(value):
    if len(value) > 1024:
        return False
    parts = value.split(b" ") if value else []
    return parts == sorted(set(parts)) and all(visible(part, 64) for part in parts)


def read_claims(data):
    claims, before = {}, 0
    while data:
        kind = data[0]
        need(len(data) >= 2 and kind > before and kind in TYPES, "malformed")
        before, length, used = kind, data[1], 2
        if length >= 128:
            need(len(data) >= 3, "malformed")
            length, used = (length & 0x7F) << 8 | data[2], 3
            need(length >= 128, "malformed")
        value = data[used:used + length]
        need(len(value) == length, "malformed")
        data = data[used + length:]
        name = TYPES[kind]
        if name in ("expires", "not_before"):
            need(length == 8, "malformed")
            value = int.from_bytes(value, "big")
            need(value <= LAST_SECOND, "malformed")
        elif name in ("audience", "subject"):
            need(visible(value, 255), "malformed")
            value = value.decode()
        elif name == "scope":
            need(is_scope(value), "malformed")
            value = value.decode()
        elif name == "delegate":
            need(length == 32, "malformed")
        else:
            need(1 <= length <= 1024, "malformed")
        claims[name] = value
    return claims


def read_blocks(suite, data, named):
    """Pairs of a block's bytes and claims, with the key that follows and the signature; and who can go on."""
    blocks, is_open = [], named is not None
    while data:
        need(len(data) >= 3, "malformed")
        kind, length = data[0], int.from_bytes(data[1:3], "big")
        body, whole = data[3:3 + length], data[:3 + length]
        need(len(body) == length, "malformed")
        data, following, signature = data[3 + length:], None, None
        if suite == ED25519:
            need(is_open and kind in (2, 3) and len(body) >= (96 if kind == 2 else 64), "malformed")
            body, signature = body[:-64], body[-64:]
            if kind == 2:
                body, following = body[:-32], body[-32:]
            is_open = kind == 2
        else:
            need(kind == 1 and body, "malformed")
        claims = read_claims(body)
        need(not set(claims) & {"subject", "delegate", "data"}, "malformed")
        blocks.append((whole, claims, following, signature))
    need(len(blocks) <= 8, "malformed")
    return blocks, is_open


def parse(token):
    need(24 <= len(token) <= 2048 and token[0] in NAMES and token[1] in (0, 2), "malformed")
    suite, size = token[0], 64 if token[0] == ED25519 else 16
    length = int.from_bytes(token[22:24], "big")
    need(24 + length + size <= len(token), "malformed")
    base, blocks, tag = token[:24 + length], token[24 + length:-size], token[-size:]
    claims = read_claims(base[24:])
    need("expires" in claims and claims.get("not_before", -1) < claims["expires"] and claims["expires"] > 0
         and claims.get("scope") != "" and (suite == ED25519 or "delegate" not in claims), "malformed")
    return suite, token[1] == 2, token[2:6], token[6:22], base, claims, blocks, tag


def narrowed(state, block):
    new = dict(state)
    if "expires" in block:
        need(block["expires"] <= state["expires"], "widened")
        new["expires"] = block["expires"]
    if "not_before" in block:
        need(block["not_before"] >= state.get("not_before", -1), "widened")
        new["not_before"] = block["not_before"]
    if "audience" in block:
        need(state.get("audience", block["audience"]) == block["audience"], "widened")
        new["audience"] = block["audience"]
    if "scope" in block:
        need(set(block["scope"].split()) <= set(state["scope"].split()), "widened")
        new["scope"] = block["scope"]
    return new


def check_chain(key, base, binder, first, blocks, named, is_open):
    branches = []
    if key.suite == ED25519:
        need(ed25519_verify(ed25519_public(key.secret), BASE.encode() + base + binder, first), "tag")
        up_to = base
        for whole, _, following, signature in blocks:
            up_to += whole
            need(ed25519_verify(named, BLOCK.encode() + first + up_to[:-64], signature), "tag")
            branches.append(branch(key.suite, signature))
            named = following
        need(not is_open, "not_closed")
        return branches
    tag = mac(key.suite, mac_key(key.suite, key.secret, key.id), base + binder)
    for whole, *_ in blocks:
        tag = mac(key.suite, block_key(key.suite, tag), whole)
        branches.append(branch(key.suite, tag))
    need(tag == first, "tag")
    return branches


def verify(key, token, check):
    suite, bound, key_id, token_id, base, claims, rest, first = parse(token)
    blocks, is_open = read_blocks(suite, rest, claims.get("delegate"))
    need(key_id == key.id, "key_unknown")
    need(suite == key.suite, "suite")
    need(not (bound and check["channel"] == "unbound") and (bound or check["channel"] != "required"), "binding")
    binder = bytes.fromhex(check["binder"]) if bound else b""
    branches = check_chain(key, base, binder, first, blocks, claims.get("delegate"), is_open)
    state = {"scope": "", **claims}
    for _, block, _, _ in blocks:
        state = narrowed(state, block)
    now, skew = check["now"], check["skew"]
    need(now < state["expires"] + skew, "expired")
    need(state.get("not_before", 0) <= now + skew, "not_yet_valid")
    need(check["audience"] in ("", state.get("audience")), "audience")
    need(set(check["wanted"].split()) <= set(state["scope"].split()), "scope")
    need(not {token_id.hex(), *(one.hex() for one in branches)} & set(check["denied"]), "revoked")
    return {"expires": state["expires"], "not_before": state.get("not_before", 0),
            "audience": state.get("audience", ""), "scope": state["scope"], "subject": state.get("subject", ""),
            "data": state.get("data", b"").hex(), "branches": [one.hex() for one in branches]}


# Cases ---------------------------------------------------------------------------------------------------------

class Key:
    def __init__(self, suite, name):
        self.suite, self.id = suite, stream(name + " id", 4)
        self.secret = stream(name + " secret", 32)


def stream(name, count):
    return hashlib.shake_256(name.encode()).digest(count)


NOW = 1_800_000_000
CHECK = {"now": NOW, "skew": 0, "audience": "", "channel": "unbound", "binder": "", "wanted": "", "denied": []}
KEYS = {suite: Key(suite, NAMES[suite]) for suite in NAMES}
CLAIMS = {"expires": NOW + 3600, "audience": "api", "scope": "read write"}
HOLDERS = [stream(f"holder {number}", 32) for number in range(9)]
BINDER = stream("binder", 32)


def case(name, key, token, reason=None, **check):
    check = {**CHECK, **check}
    made = {"name": name, "valid": reason is None, "suite": NAMES[key.suite], "key_id": key.id.hex(),
            "secret": key.secret.hex(), **check, "token": token.hex()}
    if reason:
        made["reason"] = reason
        return made
    suite, bound, _, token_id, _, claims, rest, _ = parse(token)
    made["id"], made["bound"] = token_id.hex(), bound
    made["claims"] = shown(claims)
    if "delegate" in claims:
        made["claims"]["delegate"] = claims["delegate"].hex()
    made["blocks"] = [{**shown(block), "next": (following or b"").hex()}
                      for _, block, following, _ in read_blocks(suite, rest, claims.get("delegate"))[0]]
    made["permits"] = verify(key, token, check)
    return made


def shown(claims):
    return {name: value.hex() if isinstance(value, bytes) else value for name, value in claims.items()
            if name != "delegate"}


def make(suite, name, claims, binder=None):
    return issue(KEYS[suite], stream("token " + name, 16), claims, binder)


def everything(suite):
    claims = {"expires": NOW + 9, "not_before": NOW - 9, "audience": "a" * 255, "scope": "a b c", "subject": "s",
              "data": stream("data", 200)}
    return {**claims, "delegate": ed25519_public(HOLDERS[0])} if suite == ED25519 else claims


def valid_cases(suite):
    key, label = KEYS[suite], NAMES[suite]

    def one(name, claims, session=None, **check):
        return case(f"{label} {name}", key, make(suite, f"{label} {name}", claims, session), **check)
    yield one("only an end", {"expires": NOW + 1})
    yield one("the last second", {"expires": LAST_SECOND})
    yield one("audience and scope", CLAIMS, audience="api", wanted="write")
    yield one("begins now", {**CLAIMS, "not_before": NOW}, audience="api")
    yield one("skew at the end", {**CLAIMS, "expires": NOW - 59}, skew=60)
    yield one("skew at the beginning", {**CLAIMS, "not_before": NOW + 60}, skew=60)
    yield one("bound", CLAIMS, BINDER, channel="offered", binder=BINDER.hex())
    yield one("bound and required", CLAIMS, BINDER, channel="required", binder=BINDER.hex())
    yield one("unbound in a session", CLAIMS, channel="offered", binder=BINDER.hex())
    yield one("data of 127 bytes", {**CLAIMS, "data": stream("d", 127)})
    yield one("data of 128 bytes", {**CLAIMS, "data": stream("d", 128)})
    yield one("data of 1024 bytes", {**CLAIMS, "data": stream("d", 1024)})
    yield one("another is denied", CLAIMS, denied=["00" * 16])
    longest = {"expires": NOW + 1, "scope": scope_of(2048 - 24 - (64 if suite == ED25519 else 16) - 10 - 3 - 1027),
               "data": stream("d", 1024)}
    yield one("2048 bytes", longest)
    token = make(suite, label + " chain", everything(suite) if suite != ED25519 else
                 {name: value for name, value in everything(suite).items() if name != "delegate"})
    yield case(f"{label} every claim", key, token)


def scope_of(length):
    words, number = [], 0
    while sum(map(len, words)) + len(words) + 9 <= length:
        words.append(f"w{number:07}")
        number += 1
    words[-1] += "x" * (length - sum(map(len, words)) - len(words) + 1)
    return " ".join(words)


STEPS = [{"expires": NOW + 3000}, {"scope": "read"}, {"not_before": NOW - 5}, {"audience": "api"}, {"scope": ""},
         {"expires": NOW + 100, "not_before": NOW}, {"scope": ""}, {"expires": NOW + 1}]


def chains(suite):
    key, label = KEYS[suite], NAMES[suite]
    claims = {"expires": NOW + 3600, "scope": "read write"}
    if suite == ED25519:
        claims["delegate"] = ed25519_public(HOLDERS[0])
        for count in range(1, 9):
            name = f"{label} {count} blocks"
            token = make(suite, name, claims)
            for number in range(count - 1):
                token = delegate(token, HOLDERS[number], STEPS[number], HOLDERS[number + 1])
            yield case(name, key, delegate(token, HOLDERS[count - 1], STEPS[count - 1]))
        token = delegate(make(suite, "closed", claims), HOLDERS[0], {})
        yield case(f"{label} closed without more", key, token)
        return
    for count in range(1, 9):
        name = f"{label} {count} blocks"
        token = make(suite, name, claims)
        for step in STEPS[:count]:
            token = narrow(token, step)
        yield case(name, key, token)
    token = narrow(make(suite, "bound", claims, BINDER), {"scope": "read"})
    yield case(f"{label} bound and narrowed", key, token, channel="required", binder=BINDER.hex())


MALFORMED_CLAIMS = [
    ("no claims", b""),
    ("no end", claim_bytes({"audience": "api"})),
    ("ends in 1970", claim_bytes({"expires": 0})),
    ("ends when it begins", claim_bytes({"expires": NOW, "not_before": NOW})),
    ("ends before it begins", claim_bytes({"expires": NOW, "not_before": NOW + 1})),
    ("end beyond the year 9999", claim_bytes({"expires": LAST_SECOND + 1})),
    ("end 2^64 - 1", claim_bytes({"expires": 2 ** 64 - 1})),
    ("end 2^64 - 60", claim_bytes({"expires": 2 ** 64 - 60})),
    ("begin 2^64 - 1", claim_bytes({"expires": NOW + 1, "not_before": 2 ** 64 - 1})),
    ("end of 7 bytes", tlv(1, bytes(3) + NOW.to_bytes(4, "big"))),
    ("end of 9 bytes", tlv(1, bytes(4) + (NOW + 9).to_bytes(5, "big"))),
    ("types descend", claim_bytes({"audience": "api"}) + claim_bytes({"expires": NOW + 9})),
    ("a type twice", claim_bytes({"expires": NOW + 9}) * 2),
    ("type 0", tlv(0, b"x") + claim_bytes({"expires": NOW + 9})),
    ("type 8", claim_bytes({"expires": NOW + 9}) + tlv(8, b"x")),
    ("type 255", claim_bytes({"expires": NOW + 9}) + tlv(255, b"x")),
    ("a length of two bytes for 3", claim_bytes({"expires": NOW + 9}) + b"\x03\x80\x03api"),
    ("a length of two bytes for 127", claim_bytes({"expires": NOW + 9}) + b"\x07\x80\x7f" + bytes(127)),
    ("a length beyond the claims", claim_bytes({"expires": NOW + 9}) + b"\x03\x04api"),
    ("a cut length", claim_bytes({"expires": NOW + 9}) + b"\x07\x80"),
    ("a type alone", claim_bytes({"expires": NOW + 9}) + b"\x03"),
    ("an empty audience", claim_bytes({"expires": NOW + 9, "audience": ""})),
    ("an audience with a space", claim_bytes({"expires": NOW + 9, "audience": "a b"})),
    ("an audience with a control character", claim_bytes({"expires": NOW + 9, "audience": "a\n"})),
    ("an audience that is not ASCII", claim_bytes({"expires": NOW + 9, "audience": "\u00e4"})),
    ("an audience that is not UTF-8", claim_bytes({"expires": NOW + 9}) + tlv(3, b"\xff")),
    ("an audience of 256 bytes", claim_bytes({"expires": NOW + 9, "audience": "a" * 256})),
    ("an empty scope", claim_bytes({"expires": NOW + 9, "scope": ""})),
    ("a scope out of order", claim_bytes({"expires": NOW + 9, "scope": "write read"})),
    ("a word twice", claim_bytes({"expires": NOW + 9, "scope": "read read"})),
    ("two spaces", claim_bytes({"expires": NOW + 9, "scope": "read  write"})),
    ("a space in front", claim_bytes({"expires": NOW + 9, "scope": " read"})),
    ("a space behind", claim_bytes({"expires": NOW + 9, "scope": "read "})),
    ("a tab", claim_bytes({"expires": NOW + 9, "scope": "read\twrite"})),
    ("a word of 65 bytes", claim_bytes({"expires": NOW + 9, "scope": "w" * 65})),
    ("a scope of 1025 bytes", claim_bytes({"expires": NOW + 9, "scope": scope_of(1025)})),
    ("an empty subject", claim_bytes({"expires": NOW + 9, "subject": ""})),
    ("a subject of 256 bytes", claim_bytes({"expires": NOW + 9, "subject": "s" * 256})),
    ("a delegation key of 31 bytes", claim_bytes({"expires": NOW + 9}) + tlv(6, bytes(31))),
    ("empty data", claim_bytes({"expires": NOW + 9}) + tlv(7, b"")),
    ("data of 1025 bytes", claim_bytes({"expires": NOW + 9, "data": bytes(1025)})),
]


def malformed(suite):
    key, label = KEYS[suite], NAMES[suite]
    for name, claims in MALFORMED_CLAIMS:
        yield case(f"{label} {name}", key, make(suite, name, claims), "malformed")
    good = make(suite, label + " good", CLAIMS)
    base, size = good[:24 + int.from_bytes(good[22:24], "big")], len(good) - 24 - int.from_bytes(good[22:24], "big")
    binder = {"channel": "offered", "binder": BINDER.hex()}
    for flags in (1, 3, 4, 0x80, 0xFF):
        made = issue(key, stream("flags", 16), CLAIMS, flags=flags)
        yield case(f"{label} flags {flags}", key, made, "malformed", **binder)
    for count in (0, 1, 6, 22, 23, 24, len(base) - 1, len(base), len(good) - 1):
        yield case(f"{label} cut to {count} bytes", key, good[:count], "malformed")
    if suite != ED25519:
        yield case(f"{label} a byte behind", key, good + b"\0", "malformed")
        yield case(f"{label} sixteen bytes behind", key, good + bytes(16), "malformed")
        made = make(suite, "delegate", {**CLAIMS, "delegate": ed25519_public(HOLDERS[0])})
        yield case(f"{label} a delegation key", key, made, "malformed")
    else:
        yield case(f"{label} a byte behind", key, good + b"\0", "malformed")
    for change in (-1, 1, 1000):
        length = (int.from_bytes(good[22:24], "big") + change).to_bytes(2, "big")
        base = good[:22] + length + good[24:len(good) - size]
        made = base + tagged(suite, key.secret, key.id, base, b"")
        yield case(f"{label} claims length {change:+}", key, made, "malformed")
    long = make(suite, "long", {"expires": NOW + 1, "data": bytes(1024), "audience": "a" * 255, "subject": "s" * 255,
                                "scope": scope_of(2049 - 24 - size - 10 - 1027 - 2 * 258 - 3)})
    yield case(f"{label} {len(long)} bytes", key, long, "malformed")


def refused(suite):
    key, label = KEYS[suite], NAMES[suite]
    good = make(suite, label + " refused", CLAIMS)
    size = 64 if suite == ED25519 else 16

    def one(name, reason, token=good, **check):
        return case(f"{label} {name}", key, token, reason, **check)
    for number in (0x00, 0x03, 0x10, 0x12, 0xFF):
        yield one(f"suite {number}", "malformed", bytes([number]) + good[1:])
    yield one("another key id", "key_unknown", good[:2] + bytes(4) + good[6:])
    for bit in (0, 7, 8 * size // 2, 8 * size - 1):
        tag = bytearray(good)
        tag[-1 - bit // 8] ^= 1 << bit % 8
        yield one(f"bit {bit} of the tag", "tag", bytes(tag))
    yield one("a tag of zeros", "tag", good[:-size] + bytes(size))
    yield one("another id", "tag", good[:6] + bytes(16) + good[22:])
    yield one("another audience", "tag", good.replace(b"api", b"apj"))
    yield one("another word", "tag", good.replace(b"read", b"rood"))
    yield one("a later end", "tag", good.replace((NOW + 3600).to_bytes(8, "big"), (NOW + 9999).to_bytes(8, "big")))
    yield one("the secret itself as key", "tag", good[:-size] + (mac(suite, key.secret, good[:-size]) if size == 16
              else ed25519_sign(key.secret, good[:-size])))
    yield one("over", "expired", now=NOW + 3600)
    yield one("over for long", "expired", now=LAST_SECOND)
    yield one("over with all tolerance", "expired", now=NOW + 3660, skew=60)
    later = make(suite, label + " later", {**CLAIMS, "not_before": NOW + 61})
    yield one("not yet", "not_yet_valid", later, now=NOW + 60)
    yield one("not yet with all tolerance", "not_yet_valid", later, skew=60)
    for audience in ("apj", "ap", "apii", "API", "api.", "*"):
        yield one(f"for {audience}", "audience", audience=audience)
    nobody = make(suite, label + " nobody", {"expires": NOW + 1})
    yield one("for nobody", "audience", nobody, audience="api")
    yield one("without scope", "scope", nobody, wanted="read")
    yield one("a word it does not have", "scope", wanted="admin")
    yield one("one word of two", "scope", wanted="admin read")
    yield one("the beginning of a word", "scope", wanted="rea")
    yield one("revoked", "revoked", denied=[good[6:22].hex()])
    bound = make(suite, label + " bound", CLAIMS, BINDER)
    other = stream("another binder", 32).hex()
    yield one("bound and no session", "binding", bound)
    yield one("another session", "tag", bound, channel="offered", binder=other)
    yield one("another session that is required", "tag", bound, channel="required", binder=other)
    yield one("not bound and required", "binding", channel="required", binder=BINDER.hex())
    yield one("the flag taken away", "tag", bound[:1] + b"\0" + bound[2:])
    yield one("the flag added", "tag", good[:1] + b"\2" + good[2:], channel="offered", binder=BINDER.hex())


def confused():
    for suite in NAMES:
        for other in NAMES:
            if suite != other:
                key, foreign = KEYS[suite], Key(other, "foreign")
                foreign.id, foreign.secret = key.id, key.secret
                if suite == ED25519:
                    foreign.secret = ed25519_public(key.secret)
                token = issue(foreign, stream("confused", 16), CLAIMS)
                yield case(f"{NAMES[other]} under the id of a key of {NAMES[suite]}", key, token, "suite")
    for suite in (BLAKE3, HMAC):
        key = KEYS[suite]
        base = header(suite, 0, key.id, stream("x", 16), claim_bytes(CLAIMS))
        tag = mac(suite, mac_key(suite, key.secret, bytes(4)), base)
        yield case(f"{NAMES[suite]} key of another id", key, base + tag, "tag")
        other = HMAC if suite == BLAKE3 else BLAKE3
        tag = mac(suite, mac_key(other, key.secret, key.id), base)
        yield case(f"{NAMES[suite]} key of another suite", key, base + tag, "tag")


def bad_mac_blocks(suite):
    key, label = KEYS[suite], NAMES[suite]
    good = make(suite, label + " blocks", CLAIMS)
    once = narrow(good, {"scope": "read"})
    twice = narrow(once, {"expires": NOW + 60})
    first, second = once[len(good) - 16:-16], twice[len(once) - 16:-16]

    def one(name, reason, token, **check):
        return case(f"{label} block: {name}", key, token, reason, **check)
    yield one("taken off, its tag left", "tag", good[:-16] + once[-16:])
    yield one("last of two taken off", "tag", once[:-16] + twice[-16:])
    yield one("first of two taken off", "tag", good[:-16] + second + twice[-16:])
    yield one("two exchanged", "tag", good[:-16] + second + first + twice[-16:])
    yield one("added with the old tag", "tag", good[:-16] + first + good[-16:])
    yield one("added with the tag as its key", "tag", good[:-16] + first
              + mac(suite, good[-16:].ljust(32, b"\0"), first))
    yield one("added twice", "tag", once[:-16] + first + once[-16:])
    yield one("changed", "tag", once.replace(first, first.replace(b"read", b"writ")))
    for name, body in [("later end", {"expires": NOW + 3601}), ("more words", {"scope": "admin read write"}),
                       ("another word", {"scope": "admin"}), ("another audience", {"audience": "other"})]:
        yield one(name, "widened", narrow(good, body))
    begun = make(suite, label + " begun", {**CLAIMS, "not_before": NOW - 9})
    yield one("earlier begin", "widened", narrow(begun, {"not_before": NOW - 10}))
    yield one("words that were taken away", "widened", narrow(once, {"scope": "read write"}))
    yield one("later end than the block before", "widened", narrow(twice, {"expires": NOW + 61}))
    yield one("an end that is over", "expired", narrow(good, {"expires": NOW}))
    yield one("a begin that is not yet", "not_yet_valid", narrow(good, {"not_before": NOW + 1}))
    yield one("words that are left are not enough", "scope", once, wanted="read write")
    yield one("the first audience", "audience", narrow(make(suite, "a", {"expires": NOW + 9}), {"audience": "x"}),
              audience="y")
    yield one("revoked branch", "revoked", twice, denied=[branch(suite, once[-16:]).hex()])
    yield one("revoked last branch", "revoked", twice, denied=[branch(suite, twice[-16:]).hex()])
    for kind in (0, 2, 3, 255):
        yield one(f"type {kind}", "malformed", narrow(good, {"scope": "read"}, kind))
    for name, body in [("empty", b""), ("subject", {"subject": "x"}), ("data", {"data": b"x"}), ("unknown", tlv(9, b"x")),
                       ("delegation key", {"delegate": bytes(32)}), ("twice the same", claim_bytes({"scope": "read"}) * 2)]:
        yield one(name, "malformed", narrow(good, body))
    nine = good
    for _ in range(9):
        nine = narrow(nine, {"scope": "read"})
    yield one("nine", "malformed", nine)
    for change in (-1, 1, 255):
        token = bytearray(once)
        at = len(good) - 16 + 2
        token[at] = token[at] + change & 0xFF
        yield one(f"length {change:+}", "malformed", bytes(token))


def bad_delegation():
    key, label = KEYS[ED25519], "ed25519"
    claims = {**CLAIMS, "delegate": ed25519_public(HOLDERS[0])}
    token = make(ED25519, "delegated", claims)
    closed = delegate(token, HOLDERS[0], {"scope": "read"})
    passed = delegate(token, HOLDERS[0], {"scope": "read"}, HOLDERS[1])
    ended = delegate(passed, HOLDERS[1], {"expires": NOW + 9})
    first, front = token[-64:], token[:-64]
    block, second = passed[len(front):-64], ended[len(passed) - 64:-64]

    def one(name, reason, made, **check):
        return case(f"{label} block: {name}", key, made, reason, **check)
    yield one("none where a key is named", "not_closed", token)
    yield one("none that closes", "not_closed", passed)
    yield one("the closing one taken off", "not_closed", ended[:-64 - len(second)] + first)
    yield one("the first of two taken off", "tag", front + second + first)
    yield one("two exchanged", "malformed", front + second + block + first)
    yield one("another behind the closing one", "malformed", closed[:-64] + second + first)
    plain = make(ED25519, "plain", CLAIMS)
    yield one("where no key is named", "malformed", delegate(plain, HOLDERS[0], {"scope": "read"}))
    yield one("of another key", "tag", delegate(token, HOLDERS[1], {"scope": "read"}))
    yield one("of the issuer", "tag", delegate(token, key.secret, {"scope": "read"}))
    yield one("second of the first key", "tag", delegate(passed, HOLDERS[0], {"scope": "read"}))
    other = make(ED25519, "another", claims)
    yield one("moved from another token", "tag", other[:-64] + closed[len(front):-64] + other[-64:])
    for name, body in [("later end", {"expires": NOW + 3601}), ("more words", {"scope": "admin read"}),
                       ("another audience", {"audience": "other"})]:
        yield one(name, "widened", delegate(token, HOLDERS[0], body))
    yield one("words that were taken away", "widened", delegate(passed, HOLDERS[1], {"scope": "write"}))
    for kind in (0, 1, 4):
        yield one(f"type {kind}", "malformed", delegate(token, HOLDERS[0], {"scope": "read"}, kind=kind))
    yield one("a closing one with a key", "malformed", delegate(token, HOLDERS[0], {}, HOLDERS[1], 3))
    yield one("subject", "malformed", delegate(token, HOLDERS[0], {"subject": "x"}))
    yield one("63 bytes", "malformed", front + framed(3, bytes(63)) + first)
    yield one("95 bytes", "malformed", front + framed(2, bytes(95)) + first)
    yield one("a signature of zeros", "tag", front + framed(3, bytes(64)) + first)
    nine = token
    for number in range(8):
        nine = delegate(nine, HOLDERS[number], {}, HOLDERS[number + 1])
    yield one("nine", "malformed", delegate(nine, HOLDERS[8], {}))
    yield one("revoked branch", "revoked", ended, denied=[branch(ED25519, block[-64:]).hex()])
    s = int.from_bytes(plain[-32:], "little") + ORDER
    yield one("s not reduced", "tag", plain[:-32] + s.to_bytes(32, "little"))


def cases():
    made = []
    for suite in NAMES:
        made += [*valid_cases(suite), *chains(suite), *malformed(suite), *refused(suite)]
        if suite != ED25519:
            made += bad_mac_blocks(suite)
    return made + [*confused(), *bad_delegation()]


# Writing and checking ------------------------------------------------------------------------------------------

def text(made):
    names = [one["name"] for one in made]
    if len(set(names)) != len(names):
        raise ValueError("a name was given twice")
    valid = sum(one["valid"] for one in made)
    head = json.dumps({"format": "token", "schema": 1, "valid": valid, "invalid": len(made) - valid})
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in made)
    return f'{head[:-1]}, "cases": [\n{lines}\n]}}\n'


def judged(one):
    key = Key(next(number for number, name in NAMES.items() if name == one["suite"]), "judge")
    key.id, key.secret = bytes.fromhex(one["key_id"]), bytes.fromhex(one["secret"])
    try:
        permits = verify(key, bytes.fromhex(one["token"]), one)
        return one["valid"] and permits == one["permits"]
    except Refused as refusal:
        return not one["valid"] and str(refusal) == one["reason"]


def published():
    empty = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"
    yield "BLAKE3 of nothing", blake3(b"").hex() == empty
    seed = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    public = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    signature = ("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
                 "d25bf5f0595bbe24655141438e7a100b")
    yield "RFC 8032 7.1 test 1, public key", ed25519_public(seed).hex() == public
    yield "RFC 8032 7.1 test 1, signature", ed25519_sign(seed, b"").hex() == signature
    yield "RFC 8032 7.1 test 1, verified", ed25519_verify(bytes.fromhex(public), b"", bytes.fromhex(signature))
    folder = os.environ.get("KEYWRIGHT_VECTORS")
    file = pathlib.Path(folder or "", "blake3", "test_vectors.json")
    if not folder or not file.is_file():
        yield "BLAKE3's own vectors", None
        return
    book = json.loads(file.read_text())
    for one in book["cases"]:
        data = bytes(i % 251 for i in range(one["input_len"]))[:8192]
        if len(data) == one["input_len"]:
            found = (blake3(data, 131), blake3_keyed(book["key"].encode(), data, 131),
                     blake3_derive(book["context_string"], data, 131))
            wanted = tuple(bytes.fromhex(one[name]) for name in ("hash", "keyed_hash", "derive_key"))
            yield f"BLAKE3 of {len(data)} bytes", found == wanted


def main():
    path = pathlib.Path(__file__).with_name("tokens.json")
    if "--check" not in sys.argv:
        path.write_text(text(cases()))
        return 0
    answers = list(published())
    answers.append(("tokens.json is what this program makes", path.read_text() == text(cases())))
    answers += [(one["name"], judged(one)) for one in json.loads(path.read_text())["cases"]]
    for name, answer in answers:
        if answer is False:
            print(f"failed: {name}", file=sys.stderr)
    counts = [sum(answer is verdict for _, answer in answers) for verdict in (True, False, None)]
    print("{} passed, {} failed, {} skipped".format(*counts))
    return 1 if counts[1] else 0


if __name__ == "__main__":
    sys.exit(main())
