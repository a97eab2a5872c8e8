"""Audit logs, written from docs/formats.md alone, for reading and for vectors.

Without arguments it writes logs.json beside itself; with --check it compares, and judges every log on disk: links,
check frames, heads, and what proves each record. The last line of a check is `N passed, N failed, N skipped`; the exit
code is 1 if anything failed.
"""
import hashlib
import hmac as hmac_module
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "token"))
from primitives import ed25519_public, ed25519_sign, ed25519_verify  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROW_KEY, SEED = b"\x01" * 32, b"\x01" * 32
INSTALLATION, NODE = b"\xa1" * 16, b"\xa2" * 16
LINK, HEAD, CHECK = b"keywright/audit/v1", b"keywright/audit-head/v1", b"keywright/audit/check/v1"
REQUEST, BEFORE, AFTER, NODE_START, NODE_STOP, FILE_START = 1, 4, 5, 7, 8, 9
START, RUNNING, SHUTDOWN, UNPROVEN = 1, 2, 3, 6
NOW = 1_800_000_000 * 10**9


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def hmac(key, data):
    return hmac_module.new(key, data, hashlib.sha256).digest()


def u(number, length):
    return number.to_bytes(length, "big")


def lp(data):
    return u(len(data), 4) + data


CHECK_KEY = hmac(ROW_KEY, CHECK)


# Writing -------------------------------------------------------------------------------------------------------

def body(kind, sequence, operation, epoch=0, request=b"\0" * 16, fields=()):
    fixed = [u(kind, 2), u(sequence, 8), u(NOW + sequence, 8), u(epoch, 8), request, b"\0" * 32, u(0, 8),
             u(operation, 2), u(0, 2), b"\0" * 16, u(0, 4), u(0, 4), u(0, 4), u(0, 24)]
    return b"".join(fixed) + b"".join(u(tag, 2) + lp(value) for tag, value in fields)


class Records:
    """One file of records, written write by write."""

    def __init__(self, boot, writer, newest_head, frames=True):
        self.boot, self.writer, self.frames = boot, writer, frames
        self.link = sha256(LINK, INSTALLATION, NODE, boot, u(writer, 4), newest_head)
        self.sequence, self.data = 0, b""
        origin = [(15, INSTALLATION), (16, NODE), (17, boot), (18, u(writer, 4)), (19, newest_head)]
        self.write((FILE_START, OPERATIONS["node-start"], dict(fields=origin)))

    name = property(lambda self: f"{self.boot.hex()}-{self.writer:08x}.log")

    def append(self, kind, operation, more):
        self.sequence += 1
        framed = lp(body(kind, self.sequence, operation, **more))
        self.link = sha256(self.link, framed)
        self.data += framed + self.link[:8]

    def check(self, key=CHECK_KEY):
        frame = u(0, 4) + hmac(key, self.link)
        self.data += frame + sha256(self.link, frame)[:8]

    def write(self, *records):
        for record in records:
            self.append(*record)
        if self.frames:
            self.check()

    def state(self):
        return [self.boot, self.writer, self.sequence, self.link, len(self.data)]


class Heads:
    """The heads of one boot."""

    def __init__(self, boot, number=0, previous=b"\0" * 32):
        self.boot, self.number, self.previous, self.data = boot, number, previous, b""

    name = property(lambda self: f"heads-{self.boot.hex()}-00000000.bin")

    def sign(self, kind, states, epoch=0, tails=()):
        self.number += 1
        head = [u(6, 2), u(1, 4), ed25519_public(SEED), u(self.number, 8), u(NOW + self.number, 8), u(epoch, 8),
                self.previous, u(kind, 1), INSTALLATION, NODE, self.boot, u(0, 4), u(len(states), 4)]
        for boot, writer, sequence, link, length in states:
            head.append(boot + u(writer, 4) + u(sequence, 8) + link + u(length, 8))
        if kind == UNPROVEN:
            head.append(u(len(tails), 4))
            head += [boot + u(writer, 4) + u(sequence, 8) + u(length, 8) for boot, writer, sequence, length in tails]
        signed = b"".join(head)
        self.data += lp(signed) + ed25519_sign(SEED, HEAD + signed)
        self.previous = sha256(HEAD, signed)


# Reading -------------------------------------------------------------------------------------------------------

def read_records(data, first_link):
    """Each record as (where it ends, whether a check frame behind it in the file holds), and where reading ended."""
    at, link, ends, checked = 0, None, [], 0
    after_check = True
    while at < len(data):
        length = int.from_bytes(data[at:at + 4], "big")
        if len(data) - at < 4 or len(data) - at < (44 if length == 0 else length + 12):
            break
        if length == 0:
            frame, cut = data[at:at + 36], data[at + 36:at + 44]
            if after_check or sha256(link, frame)[:8] != cut:
                raise ValueError("no check frame")
            at, after_check = at + 44, True
            checked = at if frame[4:] == hmac(CHECK_KEY, link) else checked
            continue
        framed, cut = data[at:at + 4 + length], data[at + 4 + length:at + 12 + length]
        link = sha256(first_link(framed[4:]) if link is None else link, framed)
        if link[:8] != cut or int.from_bytes(framed[6:14], "big") != len(ends) + 1:
            raise ValueError("no link")
        at, after_check = at + 12 + length, False
        ends.append(at)
    return ends, checked, link


def link_0(first):
    values, at = {}, 138
    while at < len(first):
        length = int.from_bytes(first[at + 2:at + 6], "big")
        values[int.from_bytes(first[at:at + 2], "big")] = first[at + 6:at + 6 + length]
        at += 6 + length
    return sha256(LINK, *(values[tag] for tag in range(15, 20)))


def read_heads(data):
    at, heads = 0, []
    while at < len(data):
        length = int.from_bytes(data[at:at + 4], "big")
        signed, signature = data[at + 4:at + 4 + length], data[at + 4 + length:at + 68 + length]
        if not ed25519_verify(signed[6:38], HEAD + signed, signature):
            raise ValueError("no signature")
        kind, count = signed[94], int.from_bytes(signed[147:151], "big")
        states = [signed[151 + 68 * i:219 + 68 * i] for i in range(count)]
        rest = signed[151 + 68 * count:]
        tails = [rest[4 + 36 * i:40 + 36 * i] for i in range(int.from_bytes(rest[:4], "big"))] if kind == UNPROVEN else []
        heads.append((int.from_bytes(signed[38:46], "big"), signed[62:94], sha256(HEAD, signed), states, tails))
        at += 68 + length
    return heads


def evidence(files):
    """What proves each record of each file, by the file's name."""
    heads = sorted(head for name, data in files.items() if name.startswith("heads-") for head in read_heads(data))
    previous, states, tails = b"\0" * 32, {}, {}
    for number, (counted, before, digest, stated, unproven) in enumerate(heads, 1):
        if counted != number or before != previous:
            raise ValueError("no chain of heads")
        previous = digest
        states |= {(state[:16] + state[16:20]): state[20:] for state in stated}
        tails |= {tail[:20]: int.from_bytes(tail[28:36], "big") for tail in unproven}
    found = {}
    for name, data in files.items():
        if name.startswith("heads-"):
            continue
        ends, checked, _ = read_records(data, link_0)
        key = bytes.fromhex(name[:32]) + bytes.fromhex(name[33:41])
        signed = int.from_bytes(states[key][-8:], "big") if key in states else 0
        unproven = tails.get(key, len(data))
        found[name] = ["unproven" if end > unproven else "signed" if end <= signed
                       else "checked" if end <= checked else "unproven" for end in ends]
    return found


# Logs ----------------------------------------------------------------------------------------------------------

OPERATIONS = {"encrypt": 1, "node-start": 19, "node-stop": 20, "key-destroy": 40}

request = (REQUEST, OPERATIONS["encrypt"], dict(epoch=3, request=b"\x11" * 16))
order = (BEFORE, OPERATIONS["key-destroy"], dict(epoch=3, request=b"\x12" * 16))
forged = (AFTER, OPERATIONS["key-destroy"], dict(epoch=2**64 - 1, request=b"\x13" * 16))
node_start = (NODE_START, OPERATIONS["node-start"], {})
node_stop = (NODE_STOP, OPERATIONS["node-stop"], {})
BOOTS = [bytes([0xB0 + i]) * 16 for i in range(3)]


def running(frames=True):
    """A boot with a start, a request and a head; what follows is the caller's."""
    records, heads = Records(BOOTS[0], 0, b"\0" * 32, frames), Heads(BOOTS[0])
    records.write(node_start)
    heads.sign(START, [records.state()])
    records.write(request, request)
    heads.sign(RUNNING, [records.state()], epoch=3)
    return records, heads


def whole(frames=True):
    records, heads = running(frames)
    records.write(node_stop)
    heads.sign(SHUTDOWN, [records.state()], epoch=3)
    return records, heads


def proven_tail():
    records, heads = running()
    records.write(request)
    records.write(order, request)
    return records, heads


def old_tail():
    records, heads = running(frames=False)
    records.write(order, request)
    return records, heads


def forged_tail():
    records, heads = proven_tail()
    records.append(*forged)
    return records, heads


def foreign_check():
    records, heads = proven_tail()
    records.append(*forged)
    records.check(hmac(b"\x02" * 32, CHECK))
    return records, heads


def torn_check():
    records, heads = proven_tail()
    records.write(request)
    records.data = records.data[:-20]
    return records, heads


def torn_record():
    records, heads = proven_tail()
    records.append(*request)
    records.append(*request)
    records.data = records.data[:-30]
    return records, heads


def adopted():
    """A forged tail, found by one boot and repeated by the next."""
    records, heads = forged_tail()
    forged_length = len(lp(body(*forged[:1], 1, forged[1], **forged[2]))) + 8
    tail = (BOOTS[0], 0, records.sequence - 1, len(records.data) - forged_length)
    parts, states = [records, heads], [records.state()]
    number, previous = heads.number, heads.previous
    for boot in BOOTS[1:]:
        own, mine = Records(boot, 0, previous), Heads(boot, number, previous)
        own.write(node_start)
        mine.sign(UNPROVEN, states + [own.state()], epoch=3, tails=[tail])
        own.write(node_stop)
        mine.sign(SHUTDOWN, [own.state()], epoch=3)
        parts += [own, mine]
        states.append(own.state())
        number, previous = mine.number, mine.previous
    return parts


LOGS = {
    "whole": whole, "before-check-frames": lambda: whole(frames=False), "proven-tail": proven_tail,
    "tail-before-check-frames": old_tail, "forged-tail": forged_tail, "foreign-check": foreign_check,
    "torn-check": torn_check, "torn-record": torn_record, "adopted-tail": adopted,
}


def document():
    logs = []
    for name, make in LOGS.items():
        files = {part.name: part.data for part in make()}
        logs.append({"name": name, "files": {file: data.hex() for file, data in files.items()},
                     "evidence": evidence(files)})
    return {"format": "audit-log", "schema": 1, "row_key": ROW_KEY.hex(), "check_key": CHECK_KEY.hex(),
            "seed": SEED.hex(), "fingerprint": sha256(ed25519_public(SEED)).hex(), "logs": logs}


def check(path):
    on_disk, passed, failed = json.loads(path.read_text()), 0, 0
    results = [("logs.json", on_disk == document())]
    for log in on_disk["logs"]:
        files = {file: bytes.fromhex(data) for file, data in log["files"].items()}
        results.append((log["name"], evidence(files) == log["evidence"]))
    for name, good in results:
        passed, failed = passed + good, failed + (not good)
        if not good:
            print("failed:", name)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    target = HERE / "logs.json"
    if "--check" in sys.argv:
        sys.exit(check(target))
    target.write_text(json.dumps(document(), indent=1) + "\n")
