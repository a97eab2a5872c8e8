"""A ciphertext that AES-256-GCM accepts under two keys, made on purpose.

Why: a reader that forgets the commitment passes every other case. GHASH is linear in each block, so one free block is
enough to make the tags of two keys meet (Dodis, Grubbs, Ristenpart, Woodage, "Fast Message Franking", 2018).
"""

from __future__ import annotations

import struct

import second_implementation as kw

REDUCTION = 0xE1 << 120


def multiply(x: int, y: int) -> int:
    """Product in GF(2^128) with the bit order of GCM."""
    product = 0
    for bit in range(127, -1, -1):
        if (x >> bit) & 1:
            product ^= y
        y = (y >> 1) ^ (REDUCTION if y & 1 else 0)
    return product


def invert(x: int) -> int:
    """x to the power 2^128 - 2."""
    result = 1 << 127
    for _ in range(127):
        x = multiply(x, x)
        result = multiply(result, x)
    return result


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 16)


def ghash(h: int, aad: bytes, ciphertext: bytes) -> int:
    data = padded(aad) + padded(ciphertext) + struct.pack(">QQ", 8 * len(aad), 8 * len(ciphertext))
    y = 0
    for start in range(0, len(data), 16):
        y = multiply(y ^ int.from_bytes(data[start:start + 16], "big"), h)
    return y


def hash_key(key: bytes) -> int:
    return int.from_bytes(kw.aes256_block(key, bytes(16)), "big")


def tag_mask(key: bytes, nonce: bytes) -> int:
    if len(nonce) == 12:
        first = nonce + b"\x00\x00\x00\x01"
    else:
        first = ghash(hash_key(key), b"", nonce).to_bytes(16, "big")
    return int.from_bytes(kw.aes256_block(key, first), "big")


def collide(key_a: bytes, key_b: bytes, nonce: bytes, aad: bytes, prefix: bytes) -> bytes:
    """`prefix` (whole blocks), one more block, and a tag that is right under both keys."""
    a, b = hash_key(key_a), hash_key(key_b)
    guess = prefix + bytes(16)
    tag_a = ghash(a, aad, guess) ^ tag_mask(key_a, nonce)
    tag_b = ghash(b, aad, guess) ^ tag_mask(key_b, nonce)
    free = multiply(tag_a ^ tag_b, invert(multiply(a, a) ^ multiply(b, b)))
    ciphertext = prefix + free.to_bytes(16, "big")
    tag = ghash(a, aad, ciphertext) ^ tag_mask(key_a, nonce)
    return ciphertext + tag.to_bytes(16, "big")
