"""Keywright's ciphertext formats, written a second time.

What: envelopes of suites 1 to 6, files with slots of type 1, 2 and 3, and the password container, each with seal and open.
It shares no code with the program and was made from the texts alone, so that a misreading of the text shows as a
difference between two programs. It can be read from top to bottom as a specification.

Standards: XAES-256-GCM (C2SP), XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha), AES-SIV (RFC 5297), C2SP
chunked-encryption, HKDF (RFC 5869), Argon2id (RFC 9106), HPKE (RFC 9180) in base mode.

What it does not do: it wipes no memory, asks no policy, makes no randomness (nonces and salts are arguments), knows no
other HPKE suites than two, and is not fast. It is a judge, not a library: never protect data with it.

Integers are big-endian. `lp(x)` is the length of x as u32, then x.
"""

from __future__ import annotations

import hmac
import struct
from dataclasses import dataclass, replace
from typing import Callable, Mapping

from argon2.low_level import Type, hash_secret_raw
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, x25519
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESSIV, ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

Fields = Mapping[int, bytes]


# --------------------------------------------------------------------------------------------------------------------
# Refusals

class Refused(Exception):
    """Nothing was opened. `code` is the answer's stable name."""

    code = "refused"


class Malformed(Refused):
    """The bytes cannot be taken apart: found without any key."""

    code = "ciphertext_malformed"


class Failed(Refused):
    """The bytes can be taken apart, but not opened: one answer for every cause."""

    code = "decryption_failed"


# --------------------------------------------------------------------------------------------------------------------
# Small parts

def u8(number: int) -> bytes:
    return struct.pack(">B", number)


def u16(number: int) -> bytes:
    return struct.pack(">H", number)


def u32(number: int) -> bytes:
    return struct.pack(">I", number)


def u64(number: int) -> bytes:
    return struct.pack(">Q", number)


def lp(data: bytes) -> bytes:
    return u32(len(data)) + data


def xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def take(data: bytes, *sizes: int) -> list[bytes]:
    """Cut fixed parts off the front; the last element of the answer is what remains."""
    parts = []
    for size in sizes:
        if len(data) < size:
            raise Malformed
        parts.append(data[:size])
        data = data[size:]
    return parts + [data]


def require_equal(left: bytes, right: bytes) -> None:
    """Commitments are compared in constant time."""
    if not hmac.compare_digest(left, right):
        raise Failed


def require_key(key: bytes) -> None:
    if len(key) != 32:
        raise Failed


def hkdf_expand_sha256(prk: bytes, info: bytes, length: int) -> bytes:
    return HKDFExpand(hashes.SHA256(), length, info).derive(prk)


def hkdf_expand_sha512(prk: bytes, info: bytes, length: int) -> bytes:
    return HKDFExpand(hashes.SHA512(), length, info).derive(prk)


def aes256_block(key: bytes, block: bytes) -> bytes:
    encryptor = Cipher(algorithms.AES256(key), modes.ECB()).encryptor()
    return encryptor.update(block) + encryptor.finalize()


def aes256_gcm_seal(key: bytes, nonce: bytes, plaintext: bytes, aad: bytes) -> bytes:
    return AESGCM(key).encrypt(nonce, plaintext, aad)


def aes256_gcm_open(key: bytes, nonce: bytes, sealed: bytes, aad: bytes) -> bytes:
    if len(sealed) < TAG:
        raise Malformed
    try:
        return AESGCM(key).decrypt(nonce, sealed, aad)
    except InvalidTag as error:
        raise Failed from error


# --------------------------------------------------------------------------------------------------------------------
# XAES-256-GCM (C2SP)

def xaes_message_key(key: bytes, nonce: bytes) -> bytes:
    """Two AES blocks turn the key and the first 12 bytes of the nonce into the key of one message."""
    zero = aes256_block(key, bytes(16))
    doubled = int.from_bytes(zero, "big") << 1
    if doubled >> 128:
        doubled = (doubled & (2**128 - 1)) ^ 0x87
    k1 = doubled.to_bytes(16, "big")
    first = aes256_block(key, xor(bytes.fromhex("00015800") + nonce[:12], k1))
    second = aes256_block(key, xor(bytes.fromhex("00025800") + nonce[:12], k1))
    return first + second


def xaes256_gcm_seal(key: bytes, nonce: bytes, plaintext: bytes, aad: bytes) -> bytes:
    return aes256_gcm_seal(xaes_message_key(key, nonce), nonce[12:], plaintext, aad)


def xaes256_gcm_open(key: bytes, nonce: bytes, sealed: bytes, aad: bytes) -> bytes:
    return aes256_gcm_open(xaes_message_key(key, nonce), nonce[12:], sealed, aad)


# --------------------------------------------------------------------------------------------------------------------
# XChaCha20-Poly1305

def quarter_round(state: list[int], a: int, b: int, c: int, d: int) -> None:
    for first, second, third, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        state[first] = (state[first] + state[second]) & 0xFFFFFFFF
        mixed = state[third] ^ state[first]
        state[third] = ((mixed << turn) | (mixed >> (32 - turn))) & 0xFFFFFFFF


def hchacha20(key: bytes, nonce: bytes) -> bytes:
    """20 rounds of ChaCha without the final addition; the first and the last row are the subkey."""
    state = list(struct.unpack("<16I", b"expand 32-byte k" + key + nonce))
    for _ in range(10):
        for column in range(4):
            quarter_round(state, column, 4 + column, 8 + column, 12 + column)
        for start in range(4):
            quarter_round(state, start, 4 + (start + 1) % 4, 8 + (start + 2) % 4, 12 + (start + 3) % 4)
    return struct.pack("<8I", *state[:4], *state[12:])


def xchacha20_poly1305_seal(key: bytes, nonce: bytes, plaintext: bytes, aad: bytes) -> bytes:
    return ChaCha20Poly1305(hchacha20(key, nonce[:16])).encrypt(bytes(4) + nonce[16:], plaintext, aad)


def xchacha20_poly1305_open(key: bytes, nonce: bytes, sealed: bytes, aad: bytes) -> bytes:
    if len(sealed) < TAG:
        raise Malformed
    try:
        return ChaCha20Poly1305(hchacha20(key, nonce[:16])).decrypt(bytes(4) + nonce[16:], sealed, aad)
    except InvalidTag as error:
        raise Failed from error


# --------------------------------------------------------------------------------------------------------------------
# AES-256-SIV (RFC 5297), associated data as one string

def aes256_siv_seal(key: bytes, plaintext: bytes, aad: bytes) -> bytes:
    return AESSIV(key).encrypt(plaintext, [aad])


def aes256_siv_open(key: bytes, sealed: bytes, aad: bytes) -> bytes:
    if len(sealed) < TAG:
        raise Malformed
    try:
        return AESSIV(key).decrypt(sealed, [aad])
    except InvalidTag as error:
        raise Failed from error


# --------------------------------------------------------------------------------------------------------------------
# C2SP chunked-encryption with AES-256-GCM and SHA-512

CHUNK = 16 * 1024
CHUNKED_LABEL = b"c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM"


def chunked_keys(key: bytes, salt: bytes, context: bytes) -> tuple[bytes, bytes, bytes]:
    """Chunk key, base nonce and commitment of one stream. HKDF takes a key of any length, the standard does not."""
    require_key(key)
    made = hkdf_expand_sha512(key, CHUNKED_LABEL + b"\x00" + salt + context, 32 + 12 + 32)
    return made[:32], made[32:44], made[44:]


def chunk_nonce(base: bytes, number: int) -> bytes:
    return xor(base, number.to_bytes(12, "big"))


def chunked_seal(key: bytes, salt: bytes, plaintext: bytes, context: bytes) -> bytes:
    """Salt, commitment, chunks. The last chunk is always shorter than a full one, if need be empty."""
    chunk_key, base, commitment = chunked_keys(key, salt, context)
    out = [salt, commitment]
    for number in range(len(plaintext) // CHUNK + 1):
        piece = plaintext[number * CHUNK:(number + 1) * CHUNK]
        out.append(aes256_gcm_seal(chunk_key, chunk_nonce(base, number), piece, b""))
    return b"".join(out)


def chunked_open(key: bytes, sealed: bytes, context: bytes) -> bytes:
    """Open a whole stream. One whose last chunk is full has no end, and is refused."""
    salt, commitment, chunks = take(sealed, 24, 32)
    if len(chunks) < TAG:
        raise Malformed
    chunk_key, base, expected = chunked_keys(key, salt, context)
    require_equal(commitment, expected)
    full = CHUNK + TAG
    out = []
    for number in range(len(chunks) // full + 1):
        piece = chunks[number * full:(number + 1) * full]
        if len(piece) < TAG:
            raise Failed
        out.append(aes256_gcm_open(chunk_key, chunk_nonce(base, number), piece, b""))
    return b"".join(out)


# --------------------------------------------------------------------------------------------------------------------
# Header, associated data, subkey (7.4 to 7.6)

ENVELOPE_MAGIC = bytes.fromhex("296475")
MESSAGE, KEY = 1, 2
KINDS = (MESSAGE, KEY)
NO_BINDING, PRINCIPAL, GROUP = 0, 1, 2
BINDINGS = (NO_BINDING, PRINCIPAL, GROUP)
CALLER_AAD, DERIVATION_CONTEXT, KEY_ATTRIBUTES = 1, 2, 3
CALLER_AAD_LIMIT = 16 * 1024
SUITES = (1, 2, 3, 4, 5, 6)
KEY_KIND_SUITES = (1, 2, 3, 4)
NONCE_SIZE = {1: 24, 2: 24, 3: 12, 4: 16, 5: 0, 6: 24}
SUBKEY_SIZE = {1: 32, 2: 32, 5: 64, 6: 32}
TAG = 16
COMMITMENT = 32
ZERO_BLOCK = bytes(32)
SEAL_LABEL = b"keywright/seal/v1"


@dataclass(frozen=True)
class Header:
    """What stands in front of every envelope."""

    suite: int
    kind: int
    key_id: bytes
    version: int
    binding: int = NO_BINDING
    binding_id: bytes = b""

    def encode(self) -> bytes:
        return (ENVELOPE_MAGIC + u8(self.suite) + u8(self.kind) + u8(self.binding)
                + self.key_id + u32(self.version) + self.binding_id)


@dataclass(frozen=True)
class Expected:
    """What the opener holds: a version of a key, for one suite and one kind. Bindings come from the header."""

    suite: int
    kind: int
    key_id: bytes
    version: int


def parse_header(envelope: bytes) -> tuple[Header, bytes]:
    """The header and what follows it. Numbers the registry does not know are refused."""
    magic, suite, kind, binding, key_id, version, rest = take(envelope, 3, 1, 1, 1, 16, 4)
    header = Header(suite[0], kind[0], key_id, int.from_bytes(version, "big"), binding[0])
    if magic != ENVELOPE_MAGIC or header.suite not in SUITES or header.kind not in KINDS:
        raise Malformed
    if header.binding not in BINDINGS:
        raise Malformed
    if header.kind == KEY and header.suite not in KEY_KIND_SUITES:
        raise Malformed
    if header.binding == NO_BINDING:
        return header, rest
    binding_id, rest = take(rest, 16)
    return replace(header, binding_id=binding_id), rest


def encode_fields(fields: Fields) -> bytes:
    """Non-empty fields in ascending order: tag, length, bytes. An absent field and an empty one are the same."""
    return b"".join(u8(tag) + lp(fields[tag]) for tag in sorted(fields) if fields[tag])


def associated_data(header: Header, fields: Fields) -> bytes:
    if len(fields.get(CALLER_AAD, b"")) > CALLER_AAD_LIMIT:
        raise Malformed
    return header.encode() + encode_fields(fields)


def subkey(header: Header, key: bytes) -> tuple[bytes, bytes]:
    """Ks and commitment: once per key, suite and kind, the same for every message."""
    require_key(key)
    size = SUBKEY_SIZE[header.suite]
    info = SEAL_LABEL + u8(header.suite) + u8(header.kind) + header.key_id + u32(header.version)
    made = hkdf_expand_sha256(key, info, size + COMMITMENT)
    return made[:size], made[size:]


# --------------------------------------------------------------------------------------------------------------------
# The suites. Each `seal` gives what follows the header; each `open` takes it.

def seal_suite_1(header: Header, key: bytes, nonce: bytes, plaintext: bytes, aad: bytes) -> bytes:
    ks, commitment = subkey(header, key)
    return nonce + commitment + xaes256_gcm_seal(ks, nonce, plaintext, aad)


def open_suite_1(header: Header, key: bytes, body: bytes, aad: bytes) -> bytes:
    nonce, commitment, _, _ = take(body, 24, COMMITMENT, TAG)
    ks, expected = subkey(header, key)
    require_equal(commitment, expected)
    return xaes256_gcm_open(ks, nonce, body[24 + COMMITMENT:], aad)


def seal_suite_2(header: Header, key: bytes, nonce: bytes, plaintext: bytes, aad: bytes) -> bytes:
    ks, commitment = subkey(header, key)
    return nonce + commitment + xchacha20_poly1305_seal(ks, nonce, plaintext, aad)


def open_suite_2(header: Header, key: bytes, body: bytes, aad: bytes) -> bytes:
    nonce, commitment, _, _ = take(body, 24, COMMITMENT, TAG)
    ks, expected = subkey(header, key)
    require_equal(commitment, expected)
    return xchacha20_poly1305_open(ks, nonce, body[24 + COMMITMENT:], aad)


def seal_token_suite(_header: Header, key: bytes, nonce: bytes, plaintext: bytes, aad: bytes) -> bytes:
    """Suites 3 and 4: the key itself, as the token does it; the zero block in front is the commitment."""
    require_key(key)
    return nonce + aes256_gcm_seal(key, nonce, ZERO_BLOCK + plaintext, aad)


def open_token_suite(header: Header, key: bytes, body: bytes, aad: bytes) -> bytes:
    require_key(key)
    nonce, sealed = take(body, NONCE_SIZE[header.suite])
    take(sealed, len(ZERO_BLOCK), TAG)
    opened = aes256_gcm_open(key, nonce, sealed, aad)
    require_equal(opened[:len(ZERO_BLOCK)], ZERO_BLOCK)
    return opened[len(ZERO_BLOCK):]


def seal_suite_5(header: Header, key: bytes, _nonce: bytes, plaintext: bytes, aad: bytes) -> bytes:
    ks, commitment = subkey(header, key)
    return commitment + aes256_siv_seal(ks, plaintext, aad)


def open_suite_5(header: Header, key: bytes, body: bytes, aad: bytes) -> bytes:
    commitment, sealed = take(body, COMMITMENT)
    take(sealed, TAG)
    ks, expected = subkey(header, key)
    require_equal(commitment, expected)
    return aes256_siv_open(ks, sealed, aad)


def seal_suite_6(header: Header, key: bytes, salt: bytes, plaintext: bytes, aad: bytes) -> bytes:
    """The stream's own commitment stands in the envelope; the one that comes with Ks is not used."""
    return chunked_seal(subkey(header, key)[0], salt, plaintext, aad)


def open_suite_6(header: Header, key: bytes, body: bytes, aad: bytes) -> bytes:
    return chunked_open(subkey(header, key)[0], body, aad)


SealBody = Callable[[Header, bytes, bytes, bytes, bytes], bytes]
OpenBody = Callable[[Header, bytes, bytes, bytes], bytes]
SEAL: dict[int, SealBody] = {1: seal_suite_1, 2: seal_suite_2, 3: seal_token_suite, 4: seal_token_suite,
                             5: seal_suite_5, 6: seal_suite_6}
OPEN: dict[int, OpenBody] = {1: open_suite_1, 2: open_suite_2, 3: open_token_suite, 4: open_token_suite,
                             5: open_suite_5, 6: open_suite_6}


def seal(header: Header, key: bytes, nonce_or_salt: bytes, plaintext: bytes, fields: Fields) -> bytes:
    """One envelope. The nonce is an argument only because vectors must be repeatable."""
    if len(nonce_or_salt) != NONCE_SIZE[header.suite]:
        raise ValueError("nonce or salt of the wrong length for the suite")
    aad = associated_data(header, fields)
    return header.encode() + SEAL[header.suite](header, key, nonce_or_salt, plaintext, aad)


def open_envelope(envelope: bytes, expected: Expected, key: bytes, fields: Fields) -> bytes:
    """The plaintext, or a refusal. The header must name what the opener holds; its binding is read, not expected."""
    header, body = parse_header(envelope)
    if Expected(header.suite, header.kind, header.key_id, header.version) != expected:
        raise Failed
    return OPEN[header.suite](header, key, body, associated_data(header, fields))


# --------------------------------------------------------------------------------------------------------------------
# Stored keys (7.9, 7.12)

DATA_KEY = 32
KEY_PLAINTEXT = 16 + DATA_KEY


@dataclass(frozen=True)
class Attributes:
    """Field 3 of a stored key. The numbers belong to the registry; this layer only writes them down."""

    tenant_id: bytes
    key_id: bytes
    version: int
    purpose: int
    algorithm: int
    custody: int
    origin: int
    export: int
    created_ms: int

    def encode(self, more: Fields) -> bytes:
        return (u8(1) + self.tenant_id + self.key_id + u32(self.version) + u8(self.purpose) + u16(self.algorithm)
                + u8(self.custody) + u8(self.origin) + u8(self.export) + u64(self.created_ms) + encode_fields(more))


# --------------------------------------------------------------------------------------------------------------------
# Password container (sessions.md 2.7)

PASSWORD_MAGIC = b"KWPW"
PASSWORD_LABEL = b"keywright/password/v1"
PASSWORD_VERSION = 1
ARGON2ID_13 = 1
XAES_256_GCM = 1
NO_FLAGS = 0
MEMORY_LIMIT_KIB = 1024 * 1024
WORK_LIMIT_KIB = 4 * 1024 * 1024
PASSES_LIMIT = 10
LANES_LIMIT = 16


@dataclass(frozen=True)
class Cost:
    """Argon2id parameters: memory in KiB, passes, lanes."""

    memory_kib: int
    passes: int
    lanes: int

    def encode(self) -> bytes:
        return u32(self.memory_kib) + u32(self.passes) + u32(self.lanes)

    def within_bounds(self) -> bool:
        """Python's integers do not overflow; a reader with 32-bit ones must not multiply in them."""
        return (1 <= self.lanes <= LANES_LIMIT and 1 <= self.passes <= PASSES_LIMIT
                and 8 * self.lanes <= self.memory_kib <= MEMORY_LIMIT_KIB
                and self.memory_kib * self.passes <= WORK_LIMIT_KIB)


def password_prefix(cost: Cost, salt: bytes) -> bytes:
    """The container from magic through salt."""
    numbers = u8(PASSWORD_VERSION) + u8(ARGON2ID_13) + u8(XAES_256_GCM) + u8(NO_FLAGS)
    return PASSWORD_MAGIC + numbers + cost.encode() + salt


def password_subkey(password: bytes, cost: Cost, salt: bytes, prefix: bytes) -> tuple[bytes, bytes]:
    stretched = hash_secret_raw(password, salt, time_cost=cost.passes, memory_cost=cost.memory_kib,
                                parallelism=cost.lanes, hash_len=32, type=Type.ID, version=0x13)
    made = hkdf_expand_sha256(stretched, PASSWORD_LABEL + prefix, 32 + COMMITMENT)
    return made[:32], made[32:]


def seal_password(password: bytes, cost: Cost, salt: bytes, nonce: bytes, plaintext: bytes) -> bytes:
    prefix = password_prefix(cost, salt)
    key, commitment = password_subkey(password, cost, salt, prefix)
    header = prefix + commitment + nonce
    return header + xaes256_gcm_seal(key, nonce, plaintext, header)


def parse_password_prefix(container: bytes) -> tuple[Cost, bytes]:
    """Cost and salt. Every check stands before the first allocation that the cost decides."""
    magic, numbers, memory, passes, lanes, salt, _ = take(container, 4, 4, 4, 4, 4, 16)
    if magic != PASSWORD_MAGIC:
        raise Malformed
    if numbers != bytes([PASSWORD_VERSION, ARGON2ID_13, XAES_256_GCM, NO_FLAGS]):
        raise Malformed
    cost = Cost(*(int.from_bytes(part, "big") for part in (memory, passes, lanes)))
    if not cost.within_bounds():
        raise Malformed
    return cost, salt


def open_password(container: bytes, password: bytes) -> bytes:
    cost, salt = parse_password_prefix(container)
    prefix, commitment, nonce, sealed = take(container, 36, COMMITMENT, 24)
    take(sealed, TAG)
    key, expected = password_subkey(password, cost, salt, prefix)
    require_equal(commitment, expected)
    return xaes256_gcm_open(key, nonce, sealed, prefix + commitment + nonce)


# --------------------------------------------------------------------------------------------------------------------
# Files (7.10)

FILE_MAGIC = bytes.fromhex("296175")
SLOT_ENVELOPE, SLOT_PASSWORD, SLOT_HPKE = 1, 2, 3
SLOT_TYPES = (SLOT_ENVELOPE, SLOT_PASSWORD, SLOT_HPKE)
SLOT_LIMIT = 4 * 1024
Slot = tuple[int, bytes]


def file_header(data_key_id: bytes) -> Header:
    """The body of a file: a stream under the data key, which has no versions and no binding."""
    return Header(suite=6, kind=MESSAGE, key_id=data_key_id, version=0)


def encode_slots(slots: list[Slot]) -> bytes:
    return FILE_MAGIC + u8(len(slots)) + b"".join(u8(kind) + lp(data) for kind, data in slots)


def seal_file(slots: list[Slot], data_key_id: bytes, data_key: bytes, salt: bytes, plaintext: bytes,
              fields: Fields) -> bytes:
    return encode_slots(slots) + seal(file_header(data_key_id), data_key, salt, plaintext, fields)


def parse_file(data: bytes) -> tuple[list[Slot], bytes]:
    """The slots and the body. A file without a slot could never be opened, and is refused."""
    magic, count, rest = take(data, 3, 1)
    if magic != FILE_MAGIC or count[0] == 0:
        raise Malformed
    slots = []
    for _ in range(count[0]):
        kind, length, rest = take(rest, 1, 4)
        size = int.from_bytes(length, "big")
        if kind[0] not in SLOT_TYPES or size > SLOT_LIMIT:
            raise Malformed
        content, rest = take(rest, size)
        slots.append((kind[0], content))
    parse_header(rest)
    return slots, rest


def open_file_body(body: bytes, opened_slot: bytes, fields: Fields) -> bytes:
    """A slot gives 48 bytes: the data key's id, which the body must name, and the data key."""
    if len(opened_slot) != KEY_PLAINTEXT:
        raise Failed
    data_key_id, data_key = opened_slot[:16], opened_slot[16:]
    header, _ = parse_header(body)
    if header != file_header(data_key_id):
        raise Failed
    return open_envelope(body, Expected(6, MESSAGE, data_key_id, 0), data_key, fields)


def open_file_with_key(data: bytes, expected: Expected, key: bytes, slot_fields: Fields, fields: Fields) -> bytes:
    """By a slot of type 1: the first whose header names the key that the opener holds."""
    slots, body = parse_file(data)
    for kind, content in slots:
        if kind != SLOT_ENVELOPE:
            continue
        header, _ = parse_header(content)
        if (header.key_id, header.version) == (expected.key_id, expected.version):
            return open_file_body(body, open_envelope(content, expected, key, slot_fields), fields)
    raise Failed


def open_file_with_password(data: bytes, password: bytes, fields: Fields) -> bytes:
    """By the first slot of type 2."""
    slots, body = parse_file(data)
    for kind, content in slots:
        if kind == SLOT_PASSWORD:
            return open_file_body(body, open_password(content, password), fields)
    raise Failed


# --------------------------------------------------------------------------------------------------------------------
# Slots of type 3: HPKE, RFC 9180, base mode, with DHKEM(X25519) or DHKEM(P-256), HKDF-SHA-256, and one message

SUITE_X25519 = bytes.fromhex("002000010003")
SUITE_P256 = bytes.fromhex("001000010002")
HPKE_INFO = b"keywright/file/v1"
P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
ENC_SIZE = {SUITE_X25519: 32, SUITE_P256: 65}


def labeled_extract(suite_id: bytes, salt: bytes, label: bytes, ikm: bytes) -> bytes:
    return hmac.digest(salt or bytes(32), b"HPKE-v1" + suite_id + label + ikm, "sha256")


def labeled_expand(suite_id: bytes, prk: bytes, label: bytes, info: bytes, length: int) -> bytes:
    text = struct.pack(">H", length) + b"HPKE-v1" + suite_id + label + info
    return HKDFExpand(hashes.SHA256(), length, text).derive(prk)


def kem_id(suite: bytes) -> bytes:
    return b"KEM" + suite[:2]


def derive_private(suite: bytes, ikm: bytes) -> bytes:
    """DeriveKeyPair, section 7.1.3."""
    prk = labeled_extract(kem_id(suite), b"", b"dkp_prk", ikm)
    if suite == SUITE_X25519:
        return labeled_expand(kem_id(suite), prk, b"sk", b"", 32)
    for counter in range(256):
        candidate = labeled_expand(kem_id(suite), prk, b"candidate", u8(counter), 32)
        if 0 < int.from_bytes(candidate, "big") < P256_ORDER:
            return candidate
    raise ValueError("no key can be derived")


def public_of(suite: bytes, private: bytes) -> bytes:
    if suite == SUITE_X25519:
        return x25519.X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()
    key = ec.derive_private_key(int.from_bytes(private, "big"), ec.SECP256R1()).public_key()
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def diffie_hellman(suite: bytes, private: bytes, public: bytes) -> bytes:
    """The shared secret; a public key that is none or makes none is refused."""
    try:
        if suite == SUITE_X25519:
            theirs = x25519.X25519PublicKey.from_public_bytes(public)
            return x25519.X25519PrivateKey.from_private_bytes(private).exchange(theirs)
        if public[:1] != b"\x04":
            raise Failed
        point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), public)
        return ec.derive_private_key(int.from_bytes(private, "big"), ec.SECP256R1()).exchange(ec.ECDH(), point)
    except ValueError as error:
        raise Failed from error


def hpke_aead(suite: bytes, dh: bytes, enc: bytes, public: bytes) -> tuple[AESGCM | ChaCha20Poly1305, bytes]:
    """ExtractAndExpand (section 4.1) and KeySchedule (section 5.1): the key, and the nonce of the first message."""
    prk = labeled_extract(kem_id(suite), b"", b"eae_prk", dh)
    shared = labeled_expand(kem_id(suite), prk, b"shared_secret", enc + public, 32)
    whole = b"HPKE" + suite
    context = u8(0) + labeled_extract(whole, b"", b"psk_id_hash", b"")
    context += labeled_extract(whole, b"", b"info_hash", HPKE_INFO)
    secret = labeled_extract(whole, shared, b"secret", b"")
    key = labeled_expand(whole, secret, b"key", context, 32)
    nonce = labeled_expand(whole, secret, b"base_nonce", context, 12)
    return (ChaCha20Poly1305(key) if suite == SUITE_X25519 else AESGCM(key)), nonce


def seal_recipient(suite: bytes, public: bytes, ikm: bytes, plaintext: bytes) -> bytes:
    ephemeral = derive_private(suite, ikm)
    enc = public_of(suite, ephemeral)
    aead, nonce = hpke_aead(suite, diffie_hellman(suite, ephemeral, public), enc, public)
    return suite + enc + aead.encrypt(nonce, plaintext, b"")


def open_recipient(content: bytes, suite: bytes, private: bytes) -> bytes:
    enc, sealed = content[6:6 + ENC_SIZE[suite]], content[6 + ENC_SIZE[suite]:]
    if len(sealed) != KEY_PLAINTEXT + TAG:
        raise Malformed
    aead, nonce = hpke_aead(suite, diffie_hellman(suite, private, enc), enc, public_of(suite, private))
    try:
        return aead.decrypt(nonce, sealed, b"")
    except InvalidTag as error:
        raise Failed from error


def open_file_with_private_key(data: bytes, suite: bytes, private: bytes, fields: Fields) -> bytes:
    """By the first slot of type 3 that opens. A slot says its suite, not whose it is."""
    slots, body = parse_file(data)
    answer: Refused = Failed()
    for kind, content in slots:
        if kind == SLOT_HPKE and content[:6] == suite:
            try:
                return open_file_body(body, open_recipient(content, suite, private), fields)
            except Refused as refused:
                answer = refused
    raise answer
