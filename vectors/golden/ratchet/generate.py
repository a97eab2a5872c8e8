"""Writes conversations.json and states.json beside itself with the second implementation of the ratchet,
`crates/standards/ratchet/tests/judge/ratchet.py`; with --check it compares instead. Nothing is random: keys and nonces
are SHA-256 over a name."""
import hashlib
import json
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parents[2] / "crates/standards/ratchet/tests/judge"))
import ratchet  # noqa: E402

DAY = 86400


def made(name, length=32):
    return hashlib.sha256(name.encode()).digest()[:length]


def text(seed, length):
    return bytes((seed + i) % 251 for i in range(length))


class Conversation:
    """Plays a conversation and writes its steps down."""

    def __init__(self, name, mode):
        self.name, self.time, self.steps, self.packets, self.drawn = name, 1_000_000, [], [], 0
        shared, prekey = made(name + " shared"), made(name + " prekey")
        context = (b"alice@" + name.encode(), b"bob", made(name + " transcript"))
        incarnations = [made(name + side, 8) if mode == "hedged" else bytes(8) for side in (" alice", " bob")]
        self.head = {
            "name": name, "mode": mode, "shared": shared.hex(), "prekey": prekey.hex(),
            "initiator": context[0].hex(), "responder": context[1].hex(), "transcript": context[2].hex(),
            "incarnations": [value.hex() for value in incarnations],
        }
        secret = ratchet.session_secret(shared)
        self.sides = {
            "initiator": ratchet.Session("initiator", mode, secret, context, ratchet.public_key(prekey), incarnations[0]),
            "responder": ratchet.Session("responder", mode, secret, context, prekey, incarnations[1]),
        }

    def step(self, **fields):
        self.steps.append(fields)

    def seal(self, side, length=64, context=b"", times=1):
        """Returns the number of the last packet; only that one is written down."""
        self.drawn += 1
        key, content = made(f"{self.name} key {self.drawn}"), text(self.drawn, length)
        for _ in range(times):
            packet = self.sides[side].seal(content, context, key, self.time)
            self.packets.append((packet, context, content))
        self.step(do="seal", side=side, time=self.time, times=times, key=key.hex(), seed=self.drawn, length=length,
                  context=context.hex(), packet=packet.hex())
        return len(self.packets) - 1

    def open(self, side, number, valid=True, place=0, change=0, context=None):
        """Delivers a packet, a byte of it changed if asked for."""
        packet, right, content = self.packets[number]
        context = right if context is None else context
        changed = bytearray(packet)
        changed[place] ^= change
        try:
            opened = self.sides[side].open(bytes(changed), context, self.time)
        except ratchet.Refused:
            opened = None
        assert (opened is not None) == valid and opened in (None, content), (self.name, number)
        self.step(do="open", side=side, time=self.time, packet=number, context=context.hex(), valid=valid, place=place,
                  change=change)

    def state(self, side):
        self.step(do="state", side=side, state=self.sides[side].state().hex())

    def rest(self, side, number=0):
        key, nonce = made(f"{self.name} state key"), made(f"{self.name} nonce {len(self.steps)}", 24)
        data = self.sides[side].at_rest(key, nonce, 0, number)
        self.step(do="rest", side=side, key=key.hex(), nonce=nonce.hex(), number=number, bytes=data.hex())

    def both_states(self):
        self.state("initiator")
        self.state("responder")

    def case(self):
        return {**self.head, "steps": self.steps}


def simple(mode):
    talk = Conversation(f"{mode}-simple", mode)
    talk.both_states()
    for length, context in [(64, b""), (100, b"context"), (1024, text(9, 600))]:
        talk.open("responder", talk.seal("initiator", length, context))
        talk.open("initiator", talk.seal("responder", length + 1, context))
        talk.both_states()
    talk.open("responder", talk.seal("initiator", 65), context=b"other", valid=False)
    talk.rest("responder")
    talk.rest("initiator", number=33)
    return talk


def disorder(mode):
    talk = Conversation(f"{mode}-disorder", mode)
    talk.open("responder", talk.seal("initiator"))
    first = [talk.seal("initiator", 64 + i) for i in range(5)]
    talk.open("initiator", talk.seal("responder"))
    second = [talk.seal("initiator", 80 + i) for i in range(4)]
    for number in (second[2], first[3], second[0]):
        talk.open("responder", number)
        talk.open("responder", number, valid=False)
        talk.rest("responder")
    packet = talk.packets[first[1]][0]
    for place in (0, 1, 32, 33, 36, 40, len(packet) - 80, len(packet) - 40, len(packet) - 16, len(packet) - 1):
        talk.open("responder", first[1], valid=False, place=place, change=1)
    talk.state("responder")
    for number in (first[1], second[1], first[4], first[0], second[3], first[2]):
        talk.open("responder", number)
    talk.state("responder")
    for number in first + second:
        talk.open("responder", number, valid=False)
    return talk


def jump(mode):
    talk = Conversation(f"{mode}-jump", mode)
    talk.open("responder", talk.seal("initiator"))
    last = talk.seal("initiator", times=1002)
    talk.open("responder", last, valid=False)
    talk.open("responder", last - 1)
    talk.open("responder", last)
    last = talk.seal("initiator", times=900)
    talk.open("responder", last)
    last = talk.seal("initiator", times=400)
    talk.open("responder", last)
    assert len(talk.sides["responder"].skipped) == 2048
    # 1,000 + 899 + 399 numbers were skipped; the oldest 250 are gone.
    talk.open("responder", 250, valid=False)
    talk.open("responder", 251)
    return talk


def chains(mode):
    talk = Conversation(f"{mode}-chains", mode)
    lost = []
    for _ in range(8):
        lost.append(talk.seal("initiator"))
        talk.open("responder", talk.seal("initiator"))
        talk.open("initiator", talk.seal("responder"))
    talk.rest("responder")
    for place, number in enumerate(lost):
        talk.open("responder", number, valid=place >= 2)
    talk.rest("responder")
    return talk


def ages(mode):
    talk = Conversation(f"{mode}-ages", mode)
    late = [talk.seal("initiator") for _ in range(3)]
    talk.open("responder", talk.seal("initiator"))
    talk.time += 7 * DAY
    talk.open("responder", late[0])
    talk.time += 1
    talk.open("responder", late[1], valid=False)
    talk.open("responder", talk.seal("initiator"))
    talk.state("responder")
    talk.open("responder", late[2], valid=False)
    return talk


def conversations():
    plays = [play(mode) for play in (simple, disorder, jump, chains, ages) for mode in ("fenced", "hedged")]
    return {"format": "ratchet-conversation", "schema": 1, "cases": [talk.case() for talk in plays]}


# States that a reader must refuse ---------------------------------------------------------------------------------

def states():
    talk = chains("hedged")
    session = talk.sides["responder"]
    for _ in range(4):
        talk.seal("initiator")
    talk.open("responder", talk.seal("initiator"))
    clear, key = session.state(), made("state key")
    prefix = b"KWRS\x01\x01\x02" + session.id + struct.pack(">Q", 5)

    def sealed(state, head=prefix, nonce=made("nonce", 24)):
        keys = ratchet.expand(key, b"keywright/ratchet-state/v1" + head + nonce, 64)
        header = head + keys[32:] + nonce
        return header + ratchet.seal(keys[:32], nonce, header, state)

    def changed(place, value):
        out = bytearray(clear)
        out[place:place + len(value)] = value
        return bytes(out)

    cases = []

    def case(name, data, valid=False):
        cases.append({"name": name, "valid": valid, "key": key.hex(), "bytes": data.hex()})

    case("as it is", sealed(clear), valid=True)
    # Behind four keys the responder's turn is due: tag, peer's key, previous; then the current chain.
    current = 128 + 1 + 32 + 4
    assert clear[128] == 1 and clear[current] == 1
    stored = current + 1 + 32 + 32 + 32 + 4 + 8
    count = struct.unpack(">H", clear[stored:stored + 2])[0]
    assert count == 4 and clear[stored + 2 + 44 * 4] == 0
    numbers = [stored + 2 + 44 * i for i in range(4)]
    for tag in (0, 2, 3, 255):
        case(f"sending tag {tag}", sealed(changed(128, bytes([tag]))))
    for tag in (0, 2, 255):
        case(f"receiving tag {tag}", sealed(changed(current, bytes([tag]))))
    case("a turn is due with another key than the current chain's", sealed(changed(129, bytes([clear[129] ^ 1]))))
    case("a previous chain longer than a chain", sealed(changed(161, struct.pack(">I", 2 ** 31 + 1))))
    case("a current chain longer than a chain", sealed(changed(stored - 12, struct.pack(">I", 2 ** 31 + 1))))
    case("a current chain that never began", sealed(changed(stored - 12, bytes(4))))
    case("a stored number that is still to come", sealed(changed(numbers[3], clear[stored - 12:stored - 8])))
    case("stored numbers out of order", sealed(changed(numbers[1], clear[numbers[0]:numbers[0] + 4])))
    case("one stored number twice", sealed(changed(numbers[2], clear[numbers[1]:numbers[1] + 4])))
    case("a count beyond the end", sealed(changed(stored, b"\xff\xff")))
    case("an old chain without keys", sealed(clear[:-1] + b"\x01" + bytes(32 + 2)))
    entry = struct.pack(">IQ", 7, 1) + bytes(32)
    chain = bytes(32) + struct.pack(">H", 1) + entry
    case("five old chains", sealed(clear[:-1] + b"\x05" + chain * 5), valid=True)
    case("six old chains", sealed(clear[:-1] + b"\x06" + chain * 6))
    case("an old chain with a number beyond a chain's end",
         sealed(clear[:-1] + b"\x01" + bytes(32) + struct.pack(">HIQ", 1, 2 ** 31, 1) + bytes(32)))
    case("a trailing byte", sealed(clear + b"\x00"))
    case("a missing byte", sealed(clear[:-1]))
    case("no state at all", sealed(b""))
    for name, place, value in [("magic", 3, b"s"), ("version", 4, b"\x02"), ("suite", 5, b"\x02"), ("mode", 6, b"\x03"),
                               ("mode of the other kind", 6, b"\x01"), ("mode zero", 6, b"\x00")]:
        head = bytearray(prefix)
        head[place:place + 1] = value
        case(f"another {name}", sealed(clear, bytes(head)))
    good = bytearray(sealed(clear))
    for name, place in [("id", 7), ("epoch", 30), ("commitment", 31), ("nonce", 63), ("state", 90), ("tag", len(good) - 1)]:
        bad = bytearray(good)
        bad[place] ^= 1
        case(f"a changed {name}", bytes(bad))
    return {"format": "ratchet-state", "schema": 1, "cases": cases}


def main():
    wrong = 0
    for name, file in (("conversations.json", conversations()), ("states.json", states())):
        lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in file["cases"])
        content = f'{{"format": "{file["format"]}", "schema": 1, "cases": [\n{lines}\n]}}\n'
        if "--check" in sys.argv:
            wrong += (HERE / name).read_text() != content
        else:
            (HERE / name).write_text(content)
    print(f"{2 - wrong} passed, {wrong} failed, 0 skipped")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
