"""The text of a backup, written from docs/formats.md alone, for reading and for vectors.

Without arguments it writes backups.json beside itself; with --check it compares and judges every case on disk.
The last line of a check is `N passed, N failed, N skipped`; the exit code is 1 if anything failed.
"""
import hashlib
import json
import pathlib
import struct
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

FORMAT, ED25519, SIGNATURE = 2, 6, 64
LABEL, HEAD_LABEL = b"keywright/backup-signature/v2", b"keywright/audit-head/v1"
START, RUNNING, SHUTDOWN, SIGNER_CHANGE, PRUNE = 1, 2, 3, 4, 5
TABLES = ["meta", "tenants", "keys", "key_versions", "names", "counters", "principals", "policies", "approvals",
          "heads", "intents"]
FILES = ["configuration", "root", "certificates", "anchors", "lists"]
LAST_MILLISECOND = (2**64 - 1) // 1_000_000


# The format ----------------------------------------------------------------------------------------------------

class Refused(Exception):
    """`format`, `content` or `signer`."""


def need(condition, error):
    if not condition:
        raise Refused(error)


def u8(number):
    return struct.pack(">B", number)


def u16(number):
    return struct.pack(">H", number)


def u32(number):
    return struct.pack(">I", number)


def u64(number):
    return struct.pack(">Q", number)


def lp(data):
    return u32(len(data)) + data


def public(private):
    return private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def signer(private, version):
    return u16(ED25519) + u32(version) + public(private)


def fingerprint(public_key):
    return hashlib.sha256(public_key).hexdigest()


def head(private, version, number, epoch, kind=RUNNING, change=b""):
    """A signed head, without the length in front: here with no files and no open orders."""
    signed = signer(private, version) + u64(number) + u64(1_800_000_000 * 10**9) + u64(epoch) + bytes(32) + u8(kind)
    signed += b"\x01" * 16 + b"\x02" * 16 + b"\x03" * 16 + u32(0) + u32(0) + change
    return signed + private.sign(HEAD_LABEL + signed)


def row(key, body, tenant=bytes(16), revision=1, epoch=1, mac=bytes(32)):
    return lp(key) + tenant + u64(revision) + u64(epoch) + lp(body) + mac


def content(made):
    out = u64(made["created"]) + lp(made["head"]) + b"".join(lp(made["files"][name]) for name in FILES)
    return out + b"".join(u64(len(made["tables"][name])) + b"".join(made["tables"][name]) for name in TABLES)


def sign(private, text):
    return text + private.sign(LABEL + hashlib.sha256(text).digest())


def backup(private, version, changes, body):
    front = u8(FORMAT) + signer(private, version) + u8(len(changes)) + b"".join(lp(change) for change in changes)
    return sign(private, front + body)


class Text:
    """Reads from the front; what is not there is no content."""

    def __init__(self, data):
        self.data = data

    def take(self, size):
        need(len(self.data) >= size, "content")
        taken, self.data = self.data[:size], self.data[size:]
        return taken

    def number(self, size):
        return int.from_bytes(self.take(size), "big")

    def lp(self):
        return self.take(self.number(4))


def read_signer(text):
    need(text.number(2) == ED25519, "content")
    return text.number(4), text.take(32)


def holds(public_key, message, signature):
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def read_head(data):
    """Signer, what the head says, and whether its signature holds."""
    need(len(data) >= SIGNATURE, "content")
    signed = data[:-SIGNATURE]
    text = Text(signed)
    by = read_signer(text)
    number, _time, epoch = text.number(8), text.number(8), text.number(8)
    text.take(32)
    kind = text.number(1)
    need(kind in (START, RUNNING, SHUTDOWN, SIGNER_CHANGE, PRUNE), "content")
    text.take(48 + 4)
    text.take(68 * text.number(4))
    following = read_signer(text) if kind == SIGNER_CHANGE else None
    text.take(40 if kind == PRUNE else 0)
    need(not text.data, "content")
    return {"signer": by, "number": number, "epoch": epoch, "next": following,
            "holds": holds(by[1], HEAD_LABEL + signed, data[-SIGNATURE:])}


def trusted(changes, expected, last):
    """Whether the expected key signed, or changes lead from it to the one that did."""
    known = None
    for change in changes:
        if known is None and fingerprint(change["signer"][1]) == expected:
            known = change["signer"]
        if known is None:
            continue
        if known != change["signer"] or not change["holds"] or change["next"] is None:
            return False
        known = change["next"]
    return known == last if known else fingerprint(last[1]) == expected


def read_table(text):
    rows = {}
    last = None
    for _ in range(text.number(8)):
        key = text.lp()
        need(last is None or key > last, "content")
        text.take(16 + 8 + 8)
        rows[key], last = text.lp(), key
        text.take(32)
    return rows


def open_backup(data, expected):
    """What a backup says, if the key with the expected fingerprint signed it."""
    need(data, "content")
    need(data[0] == FORMAT, "format")
    need(len(data) >= SIGNATURE, "content")
    signed, signature = data[:-SIGNATURE], data[-SIGNATURE:]
    text = Text(signed[1:])
    by = read_signer(text)
    changes = [read_head(text.lp()) for _ in range(text.number(1))]
    need(holds(by[1], LABEL + hashlib.sha256(signed).digest(), signature), "signer")
    need(trusted(changes, expected, by), "signer")
    # Nothing behind this line is read before both hold.
    created = text.number(8)
    need(created <= LAST_MILLISECOND, "content")
    newest = read_head(text.lp())
    files = {name: text.lp() for name in FILES}
    tables = {name: read_table(text) for name in TABLES}
    need(not text.data, "content")
    need(newest["holds"] and newest["signer"] == by, "signer")
    return {"created": created, "head": newest["number"], "signer": fingerprint(by[1]),
            "epoch": int.from_bytes(tables["meta"][b"epoch"], "big"),
            "rows": sum(len(rows) for rows in tables.values()), "tenants": len(tables["tenants"]),
            "contexts": len(tables["keys"]), "versions": len(tables["key_versions"]),
            "configuration": files["configuration"].decode()}


# The cases -----------------------------------------------------------------------------------------------------

CONFIGURATION = b"""version = 1
[server]
listen = "127.0.0.1:8443"
certificate = "server.pem"
key = "server.key"
[clients]
authorities = "ca.pem"
revocation_lists = "crl.pem"
[store]
file = "store.sqlite"
[keystore]
root = "root.kwf"
password_file = "root.password"
[audit]
directory = "audit"
"""


def key(name):
    return Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())


FIRST, SECOND, THIRD, STRANGER = (key(name) for name in ("first", "second", "third", "stranger"))


def tables(filled=()):
    """Tables with one row where `filled` says so, the epoch, and a summary of how many rows there are."""
    made = {name: [row(f"{name} row".encode(), b"body")] if name in filled else [] for name in TABLES}
    summary = bytes(32) + b"".join(u64(len(made[name])) + bytes(32) for name in TABLES if name != "meta")
    made["meta"] = [row(b"epoch", u64(7)), row(b"summary", summary)]
    return made


def made(private=FIRST, version=1, filled=("tenants", "keys", "key_versions", "names", "policies"), **changes):
    files = {"configuration": CONFIGURATION, "root": b"root", "certificates": b"certificates", "anchors": b"anchors",
             "lists": b"lists"}
    usual = {"created": 1_800_000_000_000, "head": head(private, version, 5, 7), "files": files,
             "tables": tables(filled)}
    return usual | changes


def handover(old, version, new, number):
    return head(old, version, number, 6, SIGNER_CHANGE, signer(new, version + 1))


def valid(name, data, expected):
    return {"name": name, "valid": True, "fingerprint": expected} | open_backup(data, expected) | {"text": data.hex()}


def invalid(name, reason, error, data, expected=fingerprint(public(FIRST))):
    return {"name": name, "valid": False, "reason": reason, "error": error, "fingerprint": expected,
            "text": data.hex()}


def valid_cases():
    first, second, third = (fingerprint(public(one)) for one in (FIRST, SECOND, THIRD))
    yield valid("usual", backup(FIRST, 1, [], content(made())), first)
    yield valid("without-rows", backup(FIRST, 1, [], content(made(filled=()))), first)
    yield valid("every-table", backup(FIRST, 1, [], content(made(filled=TABLES[1:]))), first)
    changes = [handover(FIRST, 1, SECOND, 2), handover(SECOND, 2, THIRD, 3)]
    changed = backup(THIRD, 3, changes, content(made(THIRD, 3)))
    for name, expected in {"first": first, "second": second, "third": third}.items():
        yield valid(f"two-changes-seen-from-the-{name}", changed, expected)


def signature_cases():
    usual = backup(FIRST, 1, [], content(made()))
    signed = usual[:-SIGNATURE]
    yield invalid("another-fingerprint", "signed by another key than expected", "signer", usual,
                  fingerprint(public(STRANGER)))
    stranger = backup(STRANGER, 1, [], content(made(STRANGER)))
    yield invalid("stranger", "signed by a stranger under its own key", "signer", stranger)
    lying = u8(FORMAT) + signer(FIRST, 1) + u8(0) + content(made())
    yield invalid("stranger-in-disguise", "names the first key, signed by a stranger", "signer", sign(STRANGER, lying))
    yield invalid("zeros", "a signature of zeros", "signer", signed + bytes(SIGNATURE))
    for what, message in {"without-label": hashlib.sha256(signed).digest(),
                          "head-label": HEAD_LABEL + hashlib.sha256(signed).digest(),
                          "version-1-label": b"keywright/backup-signature/v1" + hashlib.sha256(signed).digest(),
                          "text-itself": LABEL + signed}.items():
        yield invalid(f"signature-{what}", "a signature over another message", "signer", signed + FIRST.sign(message))
    other = backup(FIRST, 1, [], content(made(created=1_800_000_000_001)))
    yield invalid("signature-of-another-backup", "the signature of another backup of the same key", "signer",
                  signed + other[-SIGNATURE:])
    yield invalid("head-of-a-stranger", "a head that another key signed", "signer",
                  backup(FIRST, 1, [], content(made(head=head(STRANGER, 1, 5, 7)))))
    yield invalid("head-of-another-version", "a head of another key version", "signer",
                  backup(FIRST, 1, [], content(made(head=head(FIRST, 2, 5, 7)))))
    broken = made()["head"]
    broken = broken[:-1] + bytes([broken[-1] ^ 1])
    yield invalid("head-broken", "a head whose signature does not hold", "signer",
                  backup(FIRST, 1, [], content(made(head=broken))))


def change_cases():
    body = content(made(SECOND, 2))
    good = handover(FIRST, 1, SECOND, 2)
    yield invalid("change-missing", "signed by the second key, no change", "signer", backup(SECOND, 2, [], body))
    for what, change in {"by-a-stranger": handover(STRANGER, 1, SECOND, 2), "to-a-stranger": handover(FIRST, 1, THIRD, 2),
                         "to-another-version": head(FIRST, 1, 2, 6, SIGNER_CHANGE, signer(SECOND, 3)),
                         "of-another-kind": head(FIRST, 1, 2, 6),
                         "broken": good[:-1] + bytes([good[-1] ^ 1])}.items():
        yield invalid(f"change-{what}", "a change that does not lead to the signer", "signer",
                      backup(SECOND, 2, [change], body))
    yield invalid("change-twice", "one change twice", "signer", backup(SECOND, 2, [good, good], body))
    taken = backup(SECOND, 2, [good], body)
    yield invalid("change-taken-out", "a change taken out after signing", "signer",
                  taken[:39] + u8(0) + taken[44 + len(good):], fingerprint(public(SECOND)))
    yield invalid("change-cut", "a change that is no head", "content", backup(SECOND, 2, [good[:-1]], body))
    yield invalid("change-count", "more changes than there are", "content",
                  sign(SECOND, taken[:39] + u8(255) + taken[40:-SIGNATURE]))


def shape_cases():
    usual = backup(FIRST, 1, [], content(made()))
    signed = usual[:-SIGNATURE]
    body = content(made())
    yield invalid("empty", "nothing", "content", b"")
    yield invalid("format-1", "the format before signatures", "format", u8(1) + body)
    yield invalid("format-0", "no format", "format", sign(FIRST, u8(0) + signed[1:]))
    yield invalid("format-3", "a later format", "format", sign(FIRST, u8(3) + signed[1:]))
    yield invalid("algorithm", "another algorithm of the signer", "content", sign(FIRST, signed[:1] + u16(7) + signed[3:]))
    for length in (1, 38, 63, 64, 65, 100):
        yield invalid(f"cut-to-{length}", "cut off", "content" if length < 104 else "signer", usual[:length])
    yield invalid("cut-by-1", "the last byte is missing", "signer", usual[:-1])
    yield invalid("behind", "one byte behind the signature", "signer", usual + b"\x00")
    for what, at in {"version": 6, "key": 20, "created": 45, "head": 70, "configuration": 420, "last-row": -70}.items():
        data = bytearray(usual)
        data[at] ^= 1
        yield invalid(f"changed-{what}", "one bit changed", "signer", bytes(data))


def content_cases():
    """Signed as they are, and still no content."""
    def case(name, reason, body):
        return invalid(name, reason, "content", backup(FIRST, 1, [], body))

    body = content(made())
    yield case("content-behind", "one byte behind the last table", body + b"\x00")
    yield case("content-cut", "the last count is cut", body[:-1])
    yield case("content-empty", "no content", b"")
    yield case("created-late", "later than any clock", content(made(created=LAST_MILLISECOND + 1)))
    twice = tables()
    twice["keys"] = [row(b"one", b"a"), row(b"one", b"b")]
    yield case("row-twice", "two rows of one key", content(made(tables=twice)))
    falling = tables()
    falling["keys"] = [row(b"two", b"a"), row(b"one", b"b")]
    yield case("rows-fall", "rows that are not in the order of their keys", content(made(tables=falling)))
    counted = content(made(filled=()))
    yield case("count-high", "a count above the number of rows", counted[:-8] + u64(2**63))
    yield case("head-cut", "a head that is none", content(made(head=made()["head"][:-1])))


def cases():
    for make in (valid_cases, signature_cases, change_cases, shape_cases, content_cases):
        yield from make()


# The file ------------------------------------------------------------------------------------------------------

PATH = pathlib.Path(__file__).resolve().parent / "backups.json"


def written():
    made_cases = list(cases())
    names = [case["name"] for case in made_cases]
    assert len(set(names)) == len(names), "a name was given twice"
    count = sum(case["valid"] for case in made_cases)
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in made_cases)
    return (f'{{"format": "backup", "schema": 1, "valid": {count}, "invalid": {len(names) - count}, "cases": [\n'
            f"{lines}\n]}}\n")


def judge(case):
    try:
        found = open_backup(bytes.fromhex(case["text"]), case["fingerprint"])
    except Refused as refused:
        return not case["valid"] and str(refused) == case["error"]
    return case["valid"] and all(case[name] == value for name, value in found.items())


def check():
    on_disk = PATH.read_text() if PATH.is_file() else ""
    answers = {"backups.json on disk is what this program makes": on_disk == written()}
    for case in json.loads(on_disk)["cases"] if on_disk else []:
        answers[case["name"]] = judge(case)
    failed = [name for name, answer in answers.items() if not answer]
    for name in failed:
        print(f"failed: {name}", file=sys.stderr)
    print(f"{len(answers) - len(failed)} passed, {len(failed)} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        sys.exit(check())
    PATH.write_text(written())
