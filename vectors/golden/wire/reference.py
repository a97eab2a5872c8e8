"""Frames and padding, written from docs/formats.md alone, for reading and for vectors.

Without arguments it writes frames.json beside itself; with --check it compares and judges every case on disk.
The last line of a check is `N passed, N failed, N skipped`; the exit code is 1 if anything failed.
"""
import hashlib
import json
import math
import pathlib
import sys

VERSION = 3
MODES = {"base": 0, "psk": 1, "auth": 2, "auth-psk": 3, "auth-psk-pq": 4}
NAMES_SENDER = {"auth", "auth-psk", "auth-psk-pq"}
GROUPS = {0x0010: 65, 0x0011: 97, 0x0012: 133, 0x0020: 32}
POST_QUANTUM = {0x0041: 1088, 0x0042: 1568, 0x647A: 1120}
KDFS, AEADS = {1, 2, 3, 0x11}, {1, 2, 3, 0xFFFF}
HEADERS = {"fenced": 56, "hedged": 64}
MOST = 16 << 20


# The formats ---------------------------------------------------------------------------------------------------

class Refused(Exception):
    pass


def need(condition, reason):
    if not condition:
        raise Refused(reason)


def padded_length(content):
    length = content + 1
    if length <= 256:
        return 64 * math.ceil(length / 64)
    e = length.bit_length() - 1
    s = e.bit_length()
    unit = 2 ** (e - s)
    return unit * ((length + unit - 1) // unit)


def pad(content):
    return (content + b"\x80").ljust(padded_length(len(content)), b"\0")


def unpad(padded):
    content, marker, rest = padded.rpartition(b"\x80")
    need(marker and not rest.strip(b"\0") and pad(content) == padded and len(content) <= MOST, "padding")
    return content


def is_padded_length(length):
    """Some content is padded to this: the longest that could be, or one a sixteenth shorter."""
    return any(padded_length(content) == length for content in (length - 1, length - 2) if content >= 0) and \
        length <= padded_length(MOST)


def message(header, body, tag):
    return bytes([VERSION]) + header + body + tag


def read_message(data, form):
    need(len(data) >= 1, "truncated")
    need(data[0] == VERSION, "version")
    size = HEADERS[form]
    need(len(data) >= 1 + size + 16, "truncated")
    header, body, tag = data[1:1 + size], data[1 + size:-16], data[-16:]
    need(is_padded_length(len(body)), "body_length")
    return header, body, tag


def suite_bytes(suite):
    return b"".join(number.to_bytes(2, "big") for number in suite)


def init_head(parts):
    out = bytes([VERSION, MODES[parts["mode"]]]) + suite_bytes(parts["chosen"]) + bytes([len(parts["offer"])])
    out += b"".join(suite_bytes(suite) for suite in parts["offer"]) + parts["record"]
    return out + parts.get("sender", b"") + parts["encapsulation"] + parts.get("kem_ciphertext", b"")


class Cursor:
    def __init__(self, data):
        self.data = data

    def take(self, count):
        need(len(self.data) >= count, "truncated")
        taken, self.data = self.data[:count], self.data[count:]
        return taken

    def suite(self):
        return [int.from_bytes(self.take(2), "big") for _ in range(3)]


def encapsulation_length(mode, chosen, offer):
    need(chosen in offer, "not_offered")
    kem, kdf, aead = chosen
    need((kem in GROUPS or kem in POST_QUANTUM) and kdf in KDFS and aead in AEADS, "suite_unknown")
    need(mode not in NAMES_SENDER or kem in GROUPS, "mode_for_suite")
    need(mode != "auth-psk-pq" or kem == 0x0020, "mode_for_suite")
    return GROUPS.get(kem) or POST_QUANTUM[kem]


def read_init(data, form):
    cursor = Cursor(data)
    need(cursor.take(1)[0] == VERSION, "version")
    mode = {number: name for name, number in MODES.items()}.get(cursor.take(1)[0])
    need(mode, "mode_unknown")
    chosen = cursor.suite()
    count = cursor.take(1)[0]
    need(1 <= count <= 8, "offer_count")
    offer = [cursor.suite() for _ in range(count)]
    need(len({tuple(suite) for suite in offer}) == count, "offer_repeats")
    length = encapsulation_length(mode, chosen, offer)
    parts = {"mode": mode, "chosen": chosen, "offer": offer, "record": cursor.take(16)}
    if mode in NAMES_SENDER:
        parts["sender"] = cursor.take(16)
    parts["encapsulation"] = cursor.take(length)
    if mode == "auth-psk-pq":
        parts["kem_ciphertext"] = cursor.take(1088)
    return parts, read_message(cursor.data, form)


def init_v2(suite, encapsulation, binder):
    return bytes([1, suite]) + len(encapsulation).to_bytes(4, "little") + encapsulation + binder


def read_init_v2(data):
    cursor = Cursor(data)
    need(cursor.take(1)[0] == 1, "version")
    suite, length = cursor.take(1)[0], int.from_bytes(cursor.take(4), "little")
    need(length <= 2048, "encapsulation_length")
    encapsulation, binder = cursor.take(length), cursor.take(32)
    need(not cursor.data, "trailing")
    return suite, encapsulation, binder


# Cases ---------------------------------------------------------------------------------------------------------

def stream(name, count):
    return hashlib.shake_256(name.encode()).digest(count)


def case(name, kind, data, reason=None, **fields):
    made = {"name": name, "valid": reason is None, "kind": kind, **fields, "frame": data.hex()}
    if reason:
        made["reason"] = reason
    return made


def body(name, content):
    return stream(name + " body", padded_length(content))


def message_case(form, content):
    name = f"message {form} {content}"
    header, tag = stream(name + " header", HEADERS[form]), stream(name + " tag", 16)
    frame = message(header, body(name, content), tag)
    return case(name, "message", frame, form=form, header=header.hex(), body=body(name, content).hex(), tag=tag.hex())


LENGTHS = (0, 63, 64, 127, 128, 191, 192, 254, 255, 256, 271, 272, 511, 512, 1000, 1023, 1024, 4096)
X25519 = [0x0020, 1, 3]
OFFERS = [X25519, [0x647A, 1, 3], [0x0010, 1, 2], [0x0042, 3, 2], [0x7777, 0x88, 0x99], [0x0012, 3, 1],
          [0x0020, 1, 0xFFFF], [0, 0, 0]]


def parts(name, mode, chosen, offer):
    made = {"mode": mode, "chosen": chosen, "offer": offer, "record": stream(name + " record", 16)}
    if mode in NAMES_SENDER:
        made["sender"] = stream(name + " sender", 16)
    length = (GROUPS.get(chosen[0]) or POST_QUANTUM[chosen[0]])
    made["encapsulation"] = stream(name + " encapsulation", length)
    if mode == "auth-psk-pq":
        made["kem_ciphertext"] = stream(name + " ciphertext", 1088)
    return made


def init_case(mode, chosen, offer, form, content=0):
    name = f"init {mode} {chosen[0]:04x}/{chosen[1]:04x}/{chosen[2]:04x} {len(offer)} {form} {content}"
    made = parts(name, mode, chosen, offer)
    first = (stream(name + " header", HEADERS[form]), body(name, content), stream(name + " tag", 16))
    shown = {field: value.hex() if isinstance(value, bytes) else value for field, value in made.items()}
    fields = {"form": form, **shown, "header": first[0].hex(), "body": first[1].hex(), "tag": first[2].hex()}
    return case(name, "init", init_head(made) + message(*first), **fields)


def inits():
    for mode in MODES:
        yield init_case(mode, X25519, [X25519], "fenced")
        yield init_case(mode, X25519, OFFERS, "hedged", 300)
    for kem in [*GROUPS, *POST_QUANTUM]:
        chosen = [kem, 1, 3]
        if chosen != X25519:
            yield init_case("base", chosen, [chosen], "fenced")
    for kem in (0x0010, 0x0011, 0x0012):
        yield init_case("auth", [kem, 3, 2], [[kem, 3, 2], X25519], "fenced")
    for kdf in KDFS:
        for aead in AEADS:
            if [kdf, aead] != [1, 3]:
                yield init_case("psk", [0x0020, kdf, aead], [[0x0020, kdf, aead]], "fenced")
    for count in range(2, 8):
        yield init_case("base", X25519, OFFERS[:count], "fenced")
    yield init_case("base", OFFERS[5], OFFERS, "fenced")


def messages():
    for form in HEADERS:
        for content in LENGTHS:
            yield message_case(form, content)


def paddings():
    for length in LENGTHS:
        for name, content in (("text", stream("content", length)), ("zeros", bytes(length)),
                              ("markers", b"\x80" * length)):
            yield case(f"padding {name} {length}", "padding", pad(content), content=content.hex())


def bad_paddings():
    for length in (0, 1, 63, 64, 200, 256, 300, 1000):
        good = pad(stream("content", length))
        yield case(f"padding {length}: one byte less", "padding", good[:-1], "padding")
        yield case(f"padding {length}: one byte more", "padding", good + b"\0", "padding")
        yield case(f"padding {length}: no marker", "padding", bytes(len(good)), "padding")
        yield case(f"padding {length}: twice as long", "padding", good + bytes(len(good)), "padding")
        yield case(f"padding {length}: another marker", "padding", good[:length] + b"\x81" + good[length + 1:], "padding")
        if len(good) > length + 1:
            yield case(f"padding {length}: not zero at the end", "padding", good[:-1] + b"\1", "padding")
            middle = good[:length + 1] + b"\1" + good[length + 2:]
            yield case(f"padding {length}: not zero behind the marker", "padding", middle, "padding")
    yield case("padding: nothing", "padding", b"", "padding")
    yield case("padding: a marker alone", "padding", b"\x80", "padding")
    yield case("padding: content that fits a shorter one", "padding", (b"a" * 50 + b"\x80").ljust(128, b"\0"), "padding")
    yield case("padding: content that fits a shorter one, long", "padding",
               (b"a" * 1000 + b"\x80").ljust(1088, b"\0"), "padding")


def bad_messages():
    for form, size in HEADERS.items():
        other = "hedged" if form == "fenced" else "fenced"
        good = bytes.fromhex(message_case(form, 100)["frame"])
        yield case(f"message {form} read as {other}", "message", good, "body_length", form=other)
        for version in (0, 1, 2, 4, 255):
            yield case(f"message {form} version {version}", "message", bytes([version]) + good[1:], "version", form=form)
        for count in (0, 1, size, 1 + size, 1 + size + 15):
            yield case(f"message {form} cut to {count}", "message", good[:count], "truncated", form=form)
        for length in (0, 1, 16, 63, 65, 96, 255, 257, 271, 1000, 1025, 1040):
            frame = message(bytes(size), bytes(length), bytes(16))
            yield case(f"message {form} body of {length}", "message", frame, "body_length", form=form)
        yield case(f"message {form} a byte behind", "message", good + b"\0", "body_length", form=form)


def bad_inits():
    def one(name, reason, data, form="fenced"):
        return case(f"init: {name}", "init", data, reason, form=form)
    first = message(bytes(56), bytes(64), bytes(16))
    good = parts("good", "base", X25519, [X25519, [0x647A, 1, 3]])
    head = init_head(good)
    yield one("nothing", "truncated", b"")
    for version in (0, 1, 2, 4, 255):
        yield one(f"version {version}", "version", bytes([version]) + head[1:] + first)
    for mode in (5, 6, 128, 255):
        yield one(f"mode {mode}", "mode_unknown", head[:1] + bytes([mode]) + head[2:] + first)
    for count in (0, 9, 255):
        yield one(f"{count} offered", "offer_count", head[:8] + bytes([count]) + head[9:] + first)
    yield one("chosen and not offered", "not_offered", init_head({**good, "chosen": [0x0010, 1, 2]}) + first)
    yield one("nine offered", "offer_count", init_head({**good, "offer": [[n, 1, 1] for n in range(8)] + [X25519]}) + first)
    yield one("offered twice", "offer_repeats", init_head({**good, "offer": [X25519, X25519]}) + first)
    yield one("offered twice, apart", "offer_repeats", init_head({**good, "offer": [*OFFERS[:7], X25519]}) + first)
    for name, chosen in [("KEM", [0x7777, 1, 3]), ("KEM X448", [0x0021, 1, 3]), ("KDF", [0x0020, 4, 3]),
                         ("KDF 0", [0x0020, 0, 3]), ("AEAD", [0x0020, 1, 4]), ("AEAD 0", [0x0020, 1, 0])]:
        yield one(f"unknown {name}", "suite_unknown", init_head({**good, "chosen": chosen, "offer": [chosen]}) + first)
    for kem in POST_QUANTUM:
        for mode in sorted(NAMES_SENDER):
            chosen = [kem, 1, 3]
            changed = {**good, "mode": mode, "chosen": chosen, "offer": [chosen], "sender": bytes(16),
                       "encapsulation": bytes(POST_QUANTUM[kem])}
            yield one(f"{mode} with {kem:04x}", "mode_for_suite", init_head(changed) + first)
    p256 = {**good, "mode": "auth-psk-pq", "chosen": [0x0010, 1, 2], "offer": [[0x0010, 1, 2]], "sender": bytes(16),
            "encapsulation": bytes(65), "kem_ciphertext": bytes(1088)}
    yield one("auth-psk-pq with 0010", "mode_for_suite", init_head(p256) + first)
    for count in (1, 2, 7, 8, 9, 15, 21, 36, len(head) - 1):
        yield one(f"cut to {count}", "truncated", head[:count])
    yield one("without a message", "truncated", head)
    yield one("a message that is cut", "truncated", head + first[:72])
    yield one("a message of another version", "version", head + b"\1" + first[1:])
    yield one("the other header", "body_length", head + first, "hedged")
    yield one("a byte behind", "body_length", head + first + b"\0")
    yield one("an encapsulation of 31 bytes", "version", head[:-1] + first)
    yield one("an encapsulation of 33 bytes", "version", head + b"\0" + first)
    auth = parts("auth", "auth", X25519, [X25519])
    without = {field: value for field, value in auth.items() if field != "sender"}
    yield one("auth without a sender", "version", init_head(without) + first + bytes(64))
    yield one("a sender in base mode", "version", init_head({**good, "sender": bytes(16)}) + first)


def old_frames():
    for suite, length in ((1, 32), (2, 32), (17, 1152), (0, 0), (255, 2048)):
        encapsulation, binder = stream("old", length), stream("binder", 32)
        yield case(f"init v2 {suite} {length}", "init-v2", init_v2(suite, encapsulation, binder), suite=suite,
                   encapsulation=encapsulation.hex(), binder=binder.hex())
    good = init_v2(1, stream("old", 32), stream("binder", 32))
    for kind in (0, 2, 3, 255):
        yield case(f"init v2 type {kind}", "init-v2", bytes([kind]) + good[1:], "version")
    for count in (0, 1, 5, 6, 37, 38, 69):
        yield case(f"init v2 cut to {count}", "init-v2", good[:count], "truncated")
    yield case("init v2 a byte behind", "init-v2", good + b"\0", "trailing")
    yield case("init v2 a length beyond the frame", "init-v2", good[:2] + b"\x21" + good[3:], "truncated")
    yield case("init v2 a length that is too short", "init-v2", good[:2] + b"\x1f" + good[3:], "trailing")
    yield case("init v2 2049 bytes", "init-v2", init_v2(1, bytes(2049), bytes(32)), "encapsulation_length")
    yield case("init v2 a length of 2^32 - 1", "init-v2", good[:2] + b"\xff" * 4 + good[6:], "encapsulation_length")
    yield case("init v2 a big-endian length", "init-v2", good[:2] + b"\0\0\0\x20" + good[6:], "encapsulation_length")


def cases():
    return [*messages(), *bad_messages(), *inits(), *bad_inits(), *paddings(), *bad_paddings(), *old_frames()]


# Writing and checking ------------------------------------------------------------------------------------------

def text(made):
    names = [one["name"] for one in made]
    if len(set(names)) != len(names):
        raise ValueError("a name was given twice")
    valid = sum(one["valid"] for one in made)
    head = json.dumps({"format": "wire", "schema": 1, "valid": valid, "invalid": len(made) - valid})
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in made)
    return f'{head[:-1]}, "cases": [\n{lines}\n]}}\n'


def again(one, data):
    """The bytes that are written for what was read."""
    if one["kind"] == "message":
        return message(*read_message(data, one["form"]))
    if one["kind"] == "init":
        found, first = read_init(data, one["form"])
        return init_head(found) + message(*first)
    if one["kind"] == "padding":
        return pad(unpad(data))
    return init_v2(*read_init_v2(data))


def judged(one):
    data = bytes.fromhex(one["frame"])
    try:
        return again(one, data) == data and one["valid"]
    except Refused as refusal:
        return not one["valid"] and str(refusal) == one["reason"]


def main():
    path = pathlib.Path(__file__).with_name("frames.json")
    if "--check" not in sys.argv:
        path.write_text(text(cases()))
        return 0
    answers = [("frames.json is what this program makes", path.read_text() == text(cases()))]
    answers += [(one["name"], judged(one)) for one in json.loads(path.read_text())["cases"]]
    for name, answer in answers:
        if not answer:
            print(f"failed: {name}", file=sys.stderr)
    passed = sum(answer for _, answer in answers)
    print(f"{passed} passed, {len(answers) - passed} failed, 0 skipped")
    return 0 if passed == len(answers) else 1


if __name__ == "__main__":
    sys.exit(main())
