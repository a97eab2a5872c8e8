"""A second, slow Double Ratchet with encrypted headers, written from the texts alone: the public specification "The
Double Ratchet Algorithm", section 4, and the formats of Keywright's `ratchet` crate.

It shares no code with Keywright and can be read as a specification. Keys lie in dictionaries and lists, limits are
counted by going through them, nothing is constant-time. The package `cryptography` gives X25519, ChaCha20 and
ChaCha20-Poly1305; HChaCha20 is taken out of a ChaCha20 block, HKDF is two lines of HMAC.

    ratchet.py FILE     judges the transcript of a Rust test, described at `judge`; the last line counts
"""
import hashlib
import hmac
import struct
import sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

VERSION = 3
JUMP, STORED, OLD_CHAINS, AGE = 1000, 2048, 5, 7 * 86400
MODES = {"fenced": 1, "hedged": 2}


class Refused(Exception):
    """The packet does not open, or nothing can be sent."""


# Primitives ----------------------------------------------------------------------------------------------------

def mac(key, data):
    return hmac.digest(key, data, "sha256")


def expand(key, info, length):
    out, block = b"", b""
    while len(out) < length:
        block = mac(key, block + info + bytes([len(out) // 32 + 1]))
        out += block
    return out[:length]


def lp(*parts):
    return b"".join(struct.pack(">I", len(part)) + part for part in parts)


CONSTANTS = struct.unpack("<4I", b"expand 32-byte k")


def hchacha20(key, nonce):
    # A block of ChaCha20 is its input added to its last state; HChaCha20 is the first and last rows of that state.
    block = Cipher(algorithms.ChaCha20(key, nonce), mode=None).encryptor().update(bytes(64))
    words = struct.unpack("<16I", block)
    added = CONSTANTS + struct.unpack("<8I", key) + struct.unpack("<4I", nonce)
    plain = [(word - more) & 0xFFFFFFFF for word, more in zip(words, added)]
    return struct.pack("<8I", *plain[:4], *plain[12:])


def seal(key, nonce, aad, text):
    subkey = hchacha20(key, nonce[:16])
    return ChaCha20Poly1305(subkey).encrypt(bytes(4) + nonce[16:], text, aad)


def unseal(key, nonce, aad, sealed):
    subkey = hchacha20(key, nonce[:16])
    try:
        return ChaCha20Poly1305(subkey).decrypt(bytes(4) + nonce[16:], sealed, aad)
    except InvalidTag:
        raise Refused from None


def public_key(private):
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def agree(private, public):
    try:
        return X25519PrivateKey.from_private_bytes(private).exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:
        raise Refused from None


# The ratchet ---------------------------------------------------------------------------------------------------

def session_secret(shared):
    return expand(shared, b"keywright/ratchet/v1", 96)


def kdf_root(root, shared, transcript):
    out = expand(mac(root, shared), b"keywright/ratchet/root/v1" + transcript, 96)
    return out[:32], out[32:64], out[64:]


def kdf_chain(chain):
    return mac(chain, b"\x02"), mac(chain, b"\x01")


class Chain:
    """A receiving chain: its key, its header key, the peer's ratchet key, the next number."""

    def __init__(self, key, header_key, remote):
        self.key, self.header_key, self.remote = key, header_key, remote
        self.number, self.incarnation = 0, bytes(8)


class Session:
    def __init__(self, role, mode, secret, context, key, incarnation=bytes(8)):
        """`key`: the responder's prekey, public for the initiator and private for the responder."""
        self.mode, self.incarnation = mode, incarnation
        label = b"keywright/ratchet/transcript/v1"
        self.transcript = hashlib.sha256(lp(label, bytes([MODES[mode]]), *context)).digest()
        self.root, first, second = secret[:32], secret[32:64], secret[64:]
        number = {"initiator": 1, "responder": 2}[role]
        self.id = expand(self.root, b"keywright/ratchet/session/v1" + self.transcript + bytes([number]), 16)
        self.next_sending, self.next_receiving = (first, second) if role == "initiator" else (second, first)
        self.own = key if role == "responder" else None
        self.remote = key if role == "initiator" else None
        self.sending, self.sending_header, self.number, self.previous = None, None, 0, 0
        self.chains = []      # receiving chains, the current one last
        self.skipped = []     # [chain, number, time, key], oldest first

    def header_len(self):
        return 40 if self.mode == "fenced" else 48

    def aad(self, header, context):
        return lp(self.transcript, bytes([VERSION]), header, context)

    @staticmethod
    def body_nonce(header):
        return b"kw/ratchet/1" + header[36:40] + (header[40:] or bytes(8))

    def due(self):
        return self.sending is None and self.remote is not None

    def turn(self, private):
        self.own, self.public = private, public_key(private)
        self.root, self.sending, after = kdf_root(self.root, agree(private, self.remote), self.transcript)
        self.sending_header, self.next_sending = self.next_sending, after
        self.number = 0

    def seal(self, text, context, private, now):
        """`private` is the next ratchet key, used if a turn is due."""
        if self.due():
            self.turn(private)
        if self.sending is None or len(text) < 64:
            raise Refused
        self.expire(now)
        self.sending, key = kdf_chain(self.sending)
        header = self.public + struct.pack(">II", self.previous, self.number)
        if self.mode == "hedged":
            header += self.incarnation
        self.number += 1
        body = seal(key, self.body_nonce(header), self.aad(header, context), text)
        return bytes([VERSION]) + seal(self.sending_header, body[:24], bytes([VERSION]), header) + body

    def open(self, packet, context, now):
        end = 1 + self.header_len() + 16
        if len(packet) < end + 64 + 16 or packet[0] != VERSION:
            raise Refused
        sealed, body = packet[1:end], packet[end:]
        chain, header = self.open_header(sealed, body[:24])
        previous, number = struct.unpack(">II", header[32:40])
        if number >= 2 ** 31 or previous > 2 ** 31:
            raise Refused
        nonce, aad = self.body_nonce(header), self.aad(header, context)
        if chain is None:
            return self.open_turned(header, body, nonce, aad, now)
        current = chain is self.chains[-1]
        if current and header[:32] != chain.remote:
            raise Refused
        if current and number >= chain.number:
            return self.open_ahead(chain, header, body, nonce, aad, now)
        for entry in self.skipped:
            if entry[0] is chain and entry[1] == number and now - entry[2] <= AGE:
                text = unseal(entry[3], nonce, aad, body)
                self.skipped.remove(entry)
                self.expire(now)
                return text
        raise Refused

    def open_header(self, sealed, nonce):
        """The chain is None if it is the next one."""
        for chain in reversed(self.chains):
            try:
                return chain, unseal(chain.header_key, nonce, bytes([VERSION]), sealed)
            except Refused:
                pass
        if self.own is None:
            raise Refused
        return None, unseal(self.next_receiving, nonce, bytes([VERSION]), sealed)

    @staticmethod
    def walk(chain, key, start, end, now):
        entries = []
        for number in range(start, end):
            key, message = kdf_chain(key)
            entries.append([chain, number, now, message])
        return key, entries

    def open_ahead(self, chain, header, body, nonce, aad, now):
        number = struct.unpack(">I", header[36:40])[0]
        if number - chain.number > JUMP:
            raise Refused
        key, entries = self.walk(chain, chain.key, chain.number, number, now)
        key, message = kdf_chain(key)
        text = unseal(message, nonce, aad, body)
        self.skipped += entries
        chain.key, chain.number, chain.incarnation = key, number + 1, header[40:] or bytes(8)
        self.expire(now)
        return text

    def open_turned(self, header, body, nonce, aad, now):
        remote, (previous, number) = header[:32], struct.unpack(">II", header[32:40])
        current = self.chains[-1] if self.chains else None
        before = max(0, previous - current.number) if current else 0
        if before + number > JUMP:
            raise Refused
        shared = agree(self.own, remote)
        root, key, after = kdf_root(self.root, shared, self.transcript)
        entries = []
        if current:
            _, entries = self.walk(current, current.key, current.number, current.number + before, now)
        chain = Chain(None, self.next_receiving, remote)
        key, more = self.walk(chain, key, 0, number, now)
        key, message = kdf_chain(key)
        text = unseal(message, nonce, aad, body)
        chain.key, chain.number, chain.incarnation = key, number + 1, header[40:] or bytes(8)
        self.skipped += entries + more
        self.chains.append(chain)
        self.root, self.next_receiving = root, after
        self.previous, self.remote = self.number, remote
        self.own, self.sending, self.sending_header, self.number = None, None, None, 0
        self.expire(now)
        return text

    def expire(self, now):
        """Everything that is too much or too old goes, and every chain without a key that is not the current one."""
        if len(self.skipped) > STORED:
            self.skipped = self.skipped[-STORED:]
        self.drop_empty_chains()
        for chain in self.chains[:-1][:-OLD_CHAINS]:
            self.skipped = [entry for entry in self.skipped if entry[0] is not chain]
        while self.skipped and now - self.skipped[0][2] > AGE:
            self.skipped.pop(0)
        self.drop_empty_chains()

    def drop_empty_chains(self):
        kept = set()
        for entry in self.skipped:
            # The current chain's stand behind all others.
            if entry[0] is self.chains[-1]:
                break
            kept.add(id(entry[0]))
        self.chains = [chain for chain in self.chains if chain is self.chains[-1] or id(chain) in kept]

    # At rest

    def encode_stored(self, chain):
        entries = [entry for entry in self.skipped if entry[0] is chain]
        return struct.pack(">H", len(entries)) + b"".join(
            struct.pack(">IQ", number, time) + key for _, number, time, key in entries)

    def state(self, number=0):
        """The state in clear, the sending chain taken on to `number`."""
        out = self.transcript + self.root + self.next_sending + self.next_receiving
        if self.sending is not None:
            key = self.sending
            for _ in range(self.number, number):
                key, _ = kdf_chain(key)
            out += b"\x02" + self.own + key + self.sending_header
            out += struct.pack(">II", max(number, self.number), self.previous)
        elif self.due():
            out += b"\x01" + self.remote + struct.pack(">I", self.previous)
        else:
            out += b"\x00" + self.own
        if self.chains:
            current = self.chains[-1]
            out += b"\x01" + current.key + current.header_key + current.remote
            out += struct.pack(">I", current.number) + current.incarnation + self.encode_stored(current)
        else:
            out += b"\x00"
        old = self.chains[:-1]
        return out + bytes([len(old)]) + b"".join(chain.header_key + self.encode_stored(chain) for chain in old)

    def at_rest(self, key, nonce, epoch, number=0):
        prefix = b"KWRS\x01\x01" + bytes([MODES[self.mode]]) + self.id + struct.pack(">Q", epoch)
        keys = expand(key, b"keywright/ratchet-state/v1" + prefix + nonce, 64)
        header = prefix + keys[32:] + nonce
        return header + seal(keys[:32], nonce, header, self.state(number))


# The judge -----------------------------------------------------------------------------------------------------

def digest(data):
    return hashlib.sha256(data).hexdigest()[:32]


def text_of(index, length):
    return (struct.pack(">Q", index) * (length // 8 + 1))[:length]


class Judge:
    def __init__(self):
        self.sides, self.packets, self.now, self.checked, self.wrong = {}, [], 0, 0, []

    def check(self, line, condition):
        self.checked += 1
        if not condition:
            self.wrong.append(line)

    def new(self, _, mode, shared, prekey, one, other):
        """n MODE SHARED PREKEY INCARNATION INCARNATION: a session begins, both incarnations are 8 bytes."""
        secret, prekey = session_secret(bytes.fromhex(shared)), bytes.fromhex(prekey)
        context = (b"alice", b"bob", shared.encode())
        incarnations = [bytes.fromhex(text) if mode == "hedged" else bytes(8) for text in (one, other)]
        self.sides = {
            "a": Session("initiator", mode, secret, context, public_key(prekey), incarnations[0]),
            "b": Session("responder", mode, secret, context, prekey, incarnations[1]),
        }
        self.packets = []

    def seal(self, line, side, length, context, key, expected):
        """s SIDE LENGTH CONTEXT KEY DIGEST: what this side seals under the next ratchet key has this digest."""
        index = len(self.packets)
        session = self.sides[side]
        try:
            packet = session.seal(text_of(index, int(length)), text_of(index, int(context)), bytes.fromhex(key), self.now)
        except Refused:
            self.check(line, False)
            packet = bytes(137)
        self.packets.append((packet, int(length), int(context)))
        self.check(line, digest(packet) == expected)

    def deliver(self, line, side, index, place, change, expected):
        """d SIDE INDEX PLACE CHANGE yes|no: this side opens that packet, one byte of it changed, or refuses it."""
        packet, length, context = self.packets[int(index)]
        changed = bytearray(packet)
        changed[int(place)] ^= int(change)
        session = self.sides[side]
        try:
            text = session.open(bytes(changed), text_of(int(index), context), self.now)
            self.check(line, expected == "yes" and text == text_of(int(index), length))
        except Refused:
            self.check(line, expected == "no")

    def state(self, line, side, expected):
        """e SIDE DIGEST: the state in clear."""
        self.check(line, digest(self.sides[side].state()) == expected)

    def rest(self, line, side, key, nonce, expected):
        """r SIDE KEY NONCE DIGEST: the state at rest, epoch 0."""
        data = self.sides[side].at_rest(bytes.fromhex(key), bytes.fromhex(nonce), 0)
        self.check(line, digest(data) == expected)

    def time(self, _, now):
        """t SECONDS: the time."""
        self.now = int(now)

    def run(self, lines):
        acts = {"n": self.new, "s": self.seal, "d": self.deliver, "e": self.state, "r": self.rest, "t": self.time}
        for number, text in enumerate(lines, 1):
            word, *arguments = text.split()
            acts[word](f"line {number}: {text.strip()[:100]}", *arguments)


def main():
    judge = Judge()
    with open(sys.argv[1], encoding="ascii") as lines:
        judge.run(lines)
    for line in judge.wrong[:20]:
        print("differs:", line)
    print(f"{judge.checked - len(judge.wrong)} passed, {len(judge.wrong)} failed, 0 skipped")
    return 1 if judge.wrong or not judge.checked else 0


if __name__ == "__main__":
    sys.exit(main())
