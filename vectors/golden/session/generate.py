"""Writes handshakes.json beside itself: records, first frames and states of sessions, by a second implementation
that shares no code with Keywright; with --check it compares instead. Nothing is random: keys and nonces are SHA-256
over a name. The ratchet is `crates/standards/ratchet/tests/judge/ratchet.py`, padding is `../wire/reference.py`;
the handshakes, ML-KEM-768 (FIPS 203) and the layouts stand here.
"""
import hashlib
import json
import pathlib
import struct
import sys

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parents[2] / "crates/standards/ratchet/tests/judge"))
sys.path.insert(0, str(HERE.parent / "wire"))
import ratchet  # noqa: E402
import reference as wire  # noqa: E402

X25519, MLKEM = 0x20, 0x41
SUITE = (0x20, 1, 3)
OFFERED = [(0x647A, 1, 3), SUITE, (0x10, 1, 2)]
NOT_BEFORE, NOT_AFTER, NOW = 1_800_000_000, 1_800_100_000, 1_800_000_007


def made(name, length=32):
    return hashlib.shake_256(name.encode()).digest(length)


def sha256(data):
    return hashlib.sha256(data).digest()


def extract(salt, ikm):
    return ratchet.mac(salt or bytes(32), ikm)


# ML-KEM-768 ----------------------------------------------------------------------------------------------------

Q, N, K, ETA, DU, DV = 3329, 256, 3, 2, 10, 4


def reversed_bits(value):
    return int(f"{value:07b}"[::-1], 2)


ZETAS = [pow(17, reversed_bits(i), Q) for i in range(128)]
GAMMAS = [pow(17, 2 * reversed_bits(i) + 1, Q) for i in range(128)]


def ntt(f):
    f, i, length = list(f), 1, 128
    while length >= 2:
        for start in range(0, N, 2 * length):
            zeta, i = ZETAS[i], i + 1
            for j in range(start, start + length):
                t = zeta * f[j + length] % Q
                f[j + length], f[j] = (f[j] - t) % Q, (f[j] + t) % Q
        length //= 2
    return f


def inverse_ntt(f):
    f, i, length = list(f), 127, 2
    while length <= 128:
        for start in range(0, N, 2 * length):
            zeta, i = ZETAS[i], i - 1
            for j in range(start, start + length):
                t = f[j]
                f[j], f[j + length] = (t + f[j + length]) % Q, zeta * (f[j + length] - t) % Q
        length *= 2
    return [value * 3303 % Q for value in f]


def multiply(f, g):
    h = []
    for i in range(128):
        (a, b), (c, d) = f[2 * i:2 * i + 2], g[2 * i:2 * i + 2]
        h += [(a * c + b * d * GAMMAS[i]) % Q, (a * d + b * c) % Q]
    return h


def add(f, g):
    return [(a + b) % Q for a, b in zip(f, g)]


def sample(seed):
    stream, place, out = hashlib.shake_128(seed).digest(3 * 400), 0, []
    while len(out) < N:
        a, b, c = stream[place:place + 3]
        place += 3
        out += [value for value in (a + 256 * (b % 16), b // 16 + 16 * c) if value < Q]
    return out[:N]


def noise(seed, number):
    stream = int.from_bytes(hashlib.shake_256(seed + bytes([number])).digest(64 * ETA), "little")
    bit = [stream >> i & 1 for i in range(8 * 64 * ETA)]
    return [(sum(bit[4 * i:4 * i + 2]) - sum(bit[4 * i + 2:4 * i + 4])) % Q for i in range(N)]


def pack(values, bits):
    whole = sum(value << bits * i for i, value in enumerate(values))
    return whole.to_bytes(bits * len(values) // 8, "little")


def unpack(data, bits):
    whole = int.from_bytes(data, "little")
    return [whole >> bits * i & 2 ** bits - 1 for i in range(8 * len(data) // bits)]


def squeeze(values, bits):
    return [((value << bits + 1) + Q) // (2 * Q) % 2 ** bits for value in values]


def matrix(rho):
    return [[sample(rho + bytes([j, i])) for j in range(K)] for i in range(K)]


def row(vectors, others):
    total = [0] * N
    for f, g in zip(vectors, others):
        total = add(total, multiply(f, g))
    return total


def encapsulation_key(seed):
    """Of the seed d, z: only the public half is needed here."""
    rho_sigma = hashlib.sha3_512(seed[:32] + bytes([K])).digest()
    rho, sigma = rho_sigma[:32], rho_sigma[32:]
    s = [ntt(noise(sigma, i)) for i in range(K)]
    e = [ntt(noise(sigma, K + i)) for i in range(K)]
    t = [add(row(line, s), error) for line, error in zip(matrix(rho), e)]
    return b"".join(pack(poly, 12) for poly in t) + rho


def encapsulate(key, m):
    secret = hashlib.sha3_512(m + hashlib.sha3_256(key).digest()).digest()
    shared, r = secret[:32], secret[32:]
    t = [unpack(key[384 * i:384 * (i + 1)], 12) for i in range(K)]
    a = matrix(key[384 * K:])
    y = [ntt(noise(r, i)) for i in range(K)]
    u = [add(inverse_ntt(row([a[i][j] for i in range(K)], y)), noise(r, K + j)) for j in range(K)]
    message = [bit * 1665 for bit in unpack(m, 1)]
    v = add(add(inverse_ntt(row(t, y)), noise(r, 2 * K)), message)
    return b"".join(pack(squeeze(poly, DU), DU) for poly in u) + pack(squeeze(v, DV), DV), shared


# The layouts ---------------------------------------------------------------------------------------------------

def signing(seed):
    return Ed25519PrivateKey.from_private_bytes(seed)


def verifying(seed):
    raw = serialization.Encoding.Raw, serialization.PublicFormat.Raw
    return signing(seed).public_key().public_bytes(*raw)


class Party:
    def __init__(self, name):
        self.name = name.encode()
        self.seed, self.agreement = made(name + " seed"), made(name + " agreement")

    def card(self):
        public = ratchet.public_key(self.agreement)
        return struct.pack(">HB", X25519, len(self.name)) + self.name + verifying(self.seed) + public

    def card_id(self):
        return sha256(b"keywright/session/card/v1" + self.card())[:16]


def record(responder, case):
    flags = (1 if case["lattice"] else 0) | 2 | (4 if case["signed"] else 0)
    out = b"KWSR\x01" + bytes([flags]) + responder.card() + b"\x01" + wire.suite_bytes(SUITE)
    out += ratchet.public_key(case["ratchet"])
    if case["lattice"]:
        out += encapsulation_key(case["lattice"])
    out += struct.pack(">QQ", NOT_BEFORE, NOT_AFTER)
    return out + signing(responder.seed).sign(b"keywright/session/record/v1" + out)


def one_time(responder, of, secret):
    out = b"KWSO\x01" + of + ratchet.public_key(secret)
    return out + signing(responder.seed).sign(b"keywright/session/one-time/v1" + out)


# The handshakes ------------------------------------------------------------------------------------------------

class Handshake:
    """What the initiator computes: head, 96 bytes for the ratchet, binder, transcript, ratchet prekey."""

    def __init__(self, initiator, responder, case):
        self.one, self.other, self.case = initiator, responder, case
        self.record = record(responder, case)
        self.read = sha256(b"keywright/session/record/v1" + self.record)[:16]
        self.one_time = None
        if case["one_time"]:
            self.one_time = one_time(responder, self.read, case["one_time"])
            self.read = sha256(b"keywright/session/one-time/v1" + self.one_time)[:16]
        getattr(self, case["handshake"].replace("-", "_"))()

    def public(self, secret):
        return ratchet.public_key(secret) if secret else b""

    def x3dh(self):
        case, e = self.case, self.case["ephemeral"]
        identity, prekey = self.public(self.other.agreement), self.public(case["ratchet"])
        material = b"\xff" * 32 + ratchet.agree(self.one.agreement, prekey)
        material += ratchet.agree(e, identity) + ratchet.agree(e, prekey)
        once = self.public(case["one_time"])
        if once:
            material += ratchet.agree(e, once)
        ciphertext, shared = b"", b""
        if case["lattice"]:
            ciphertext, shared = encapsulate(encapsulation_key(case["lattice"]), case["m"])
        mode = bytes([17 if ciphertext else 16])
        self.head = b"\x03" + mode + self.read + self.one.card_id() + self.public(e) + ciphertext
        self.transcript = sha256(ratchet.lp(
            b"keywright/x3dh/transcript/v1", mode, self.one.card(), self.other.card(), sha256(self.record), self.read,
            self.public(e), prekey, once, ciphertext, case["application"]))
        prk = extract(bytes(32), material + shared)
        secret = ratchet.expand(prk, b"keywright/x3dh/secret/v1" + self.transcript, 32)
        self.binder = ratchet.expand(prk, b"keywright/binder/v1" + self.transcript, 32)
        self.secret, self.prekey = ratchet.session_secret(secret), prekey

    def auth_psk(self):
        self.hpke(self.case["psk"], self.case["psk_id"], self.case["psk_id"], b"")

    def auth_psk_pq(self):
        lattice = encapsulation_key(self.case["lattice"])
        ciphertext, shared = encapsulate(lattice, self.case["m"])
        keys = sha256(ratchet.lp(lattice, ciphertext, self.public(self.one.agreement), self.public(self.other.agreement)))
        psk = ratchet.expand(extract(b"", shared), b"keywright/authpsk-pq/v1" + keys, 32)
        named = b"kw-pq-psk/1" + sha256(ratchet.lp(lattice, ciphertext))
        self.hpke(psk, named, b"kw-pq-psk/1" + sha256(ratchet.lp(lattice)), ciphertext)

    def hpke(self, psk, psk_id, written_id, ciphertext):
        """RFC 9180 in mode AuthPSK; `written_id` is what the transcript calls the pre-shared key."""
        case, e = self.case, self.case["ephemeral"]
        enc, pkr, pks = self.public(e), self.public(self.other.agreement), self.public(self.one.agreement)
        self.prekey = self.public(case["one_time"] or case["ratchet"])
        application = ratchet.lp(b"keywright/session/v1", sha256(self.record), self.read, case["application"])
        numbers = b"".join(wire.suite_bytes(suite) for suite in OFFERED)
        chosen = wire.suite_bytes(SUITE)
        self.transcript = sha256(ratchet.lp(
            b"keywright/hpke/transcript", b"\x01", numbers, chosen, chosen + b"\x03", self.one.name,
            verifying(self.one.seed), self.other.name, verifying(self.other.seed), pkr, pks, written_id, self.prekey,
            application))
        kem, suite = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01\x00\x03"

        def labelled(salt, name, label, ikm):
            return extract(salt, b"HPKE-v1" + name + label + ikm)

        def derived(prk, name, label, info, length):
            return ratchet.expand(prk, struct.pack(">H", length) + b"HPKE-v1" + name + label + info, length)

        dh = ratchet.agree(e, pkr) + ratchet.agree(self.one.agreement, pkr)
        shared = derived(labelled(b"", kem, b"eae_prk", dh), kem, b"shared_secret", enc + pkr + pks, 32)
        info = b"keywright/hpke/info/v1" + self.transcript
        context = b"\x03" + labelled(b"", suite, b"psk_id_hash", psk_id) + labelled(b"", suite, b"info_hash", info)
        secret = labelled(shared, suite, b"secret", psk)
        exporter = derived(secret, suite, b"exp", context, 32)
        self.secret = derived(exporter, suite, b"sec", b"keywright/ratchet/v1", 96)
        self.binder = derived(exporter, suite, b"sec", b"keywright/binder/v1" + self.transcript, 32)
        mode = bytes([4 if ciphertext else 3])
        self.head = b"\x03" + mode + chosen + bytes([len(OFFERED)]) + numbers + self.read + self.one.card_id()
        self.head += enc + ciphertext

    def sessions(self):
        context = (self.one.card(), self.other.card(), self.transcript)
        private = self.case["ratchet"]
        if self.case["one_time"] and self.case["handshake"] != "x3dh":
            private = self.case["one_time"]
        incarnation = made(self.case["name"] + " incarnation", 8)
        return (ratchet.Session("initiator", "hedged", self.secret, context, self.prekey, incarnation),
                ratchet.Session("responder", "hedged", self.secret, context, private, bytes(8)))

    def frame(self, session, content):
        if self.case["signed"]:
            covered = b"keywright/session/first/v1" + self.transcript + sha256(self.head)
            content = signing(self.one.seed).sign(covered) + content
        return self.head + session.seal(wire.pad(content), b"context", made(self.case["name"] + " key"), NOW)

    def at_rest(self, session, key):
        """The responder's state."""
        ours = ratchet.expand(key, b"keywright/session/state/v1", 32)
        state = session.at_rest(ours, made(self.case["name"] + " state nonce", 24), 1)
        front = b"KWSS\x01" + ratchet.lp(state)
        nonce = made(self.case["name"] + " about nonce", 24)
        keys = ratchet.expand(key, b"keywright/session/about/v1" + sha256(front) + nonce, 64)
        about = b"\x02" + (b"\x01" if self.case["signed"] else b"\x00") + self.binder + ratchet.lp(self.one.card())
        about += b"\x02" + struct.pack(">I", len(self.head)) + sha256(self.head)
        return front + keys[32:] + nonce + ratchet.seal(keys[:32], nonce, front, about)


def case(handshake, lattice, once, signed):
    words = [handshake, "lattice" if lattice else "", "one-time" if once else "", "signed" if signed else ""]
    name = "-".join(word for word in words if word)
    inputs = {
        "name": name, "handshake": handshake, "signed": signed,
        "ratchet": made(name + " ratchet"),
        "lattice": made(name + " lattice", 64) if lattice else b"",
        "one_time": made(name + " one-time") if once else b"",
        "ephemeral": made(name + " ephemeral"), "m": made(name + " m"),
        "psk": made(name + " psk"), "psk_id": b"the secret of " + name.encode()[:40],
        "application": b"application of " + name.encode(),
    }
    one, other = Party("alice of " + name), Party("bob of " + name)
    shake = Handshake(one, other, inputs)
    initiator, responder = shake.sessions()
    contents = [b"hello from " + name.encode(), bytes(range(200)), b"after a load"]
    frames = [shake.frame(initiator, content) for content in contents]
    for frame in frames[:2]:
        responder.open(frame[len(shake.head):], b"context", NOW)
    key = made(name + " store key")
    out = {name: value.hex() if isinstance(value, bytes) else value for name, value in inputs.items()}
    for side, party in (("initiator", one), ("responder", other)):
        out[side] = {"name": party.name.hex(), "seed": party.seed.hex(), "agreement": party.agreement.hex()}
    out |= {
        "valid": True, "now": NOW, "not_before": NOT_BEFORE, "not_after": NOT_AFTER,
        "record": shake.record.hex(), "one_time_prekey": (shake.one_time or b"").hex(),
        "contents": [content.hex() for content in contents], "frames": [frame.hex() for frame in frames],
        "transcript": shake.transcript.hex(), "binder": shake.binder.hex(), "responder_id": responder.id.hex(),
        "store_key": key.hex(), "state": shake.at_rest(responder, key).hex(),
    }
    return out


def cases():
    for signed in (False, True):
        for once in (False, True):
            yield case("x3dh", False, once, signed)
            yield case("x3dh", True, once, signed)
            yield case("auth-psk", False, once, signed)
            yield case("auth-psk-pq", True, once, signed)


def main():
    all_cases = list(cases())
    text = json.dumps({"format": "session handshakes", "schema": 1, "valid": len(all_cases), "invalid": 0,
                       "cases": all_cases}, indent=1) + "\n"
    path = HERE / "handshakes.json"
    if "--check" not in sys.argv[1:]:
        path.write_text(text, encoding="ascii")
        return 0
    same = path.read_text(encoding="ascii") == text
    print(f"{len(all_cases) if same else 0} passed, {0 if same else len(all_cases)} failed, 0 skipped")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
