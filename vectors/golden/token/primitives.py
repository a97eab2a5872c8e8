"""BLAKE3 and Ed25519, written from the BLAKE3 paper and RFC 8032 alone, for reading and for vectors.

Nothing here is fast or constant-time, and it shares no code with Keywright.
"""
import hashlib

# BLAKE3 --------------------------------------------------------------------------------------------------------

IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
CHUNK_START, CHUNK_END, PARENT, ROOT, KEYED, CONTEXT, MATERIAL = (1 << i for i in range(7))
LINES = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
         (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))


def words(data):
    return [int.from_bytes(data[i:i + 4], "little") for i in range(0, len(data), 4)]


def rotate(x, count):
    return ((x >> count) | (x << (32 - count))) & 0xFFFFFFFF


def compress(value, block, counter, length, flags):
    message = words(block.ljust(64, b"\0"))
    v = list(value) + list(IV[:4]) + [counter & 0xFFFFFFFF, counter >> 32, length, flags]
    for turn in range(7):
        for at, (a, b, c, d) in enumerate(LINES):
            for part, (first, second) in enumerate(((16, 12), (8, 7))):
                v[a] = (v[a] + v[b] + message[2 * at + part]) & 0xFFFFFFFF
                v[d] = rotate(v[d] ^ v[a], first)
                v[c] = (v[c] + v[d]) & 0xFFFFFFFF
                v[b] = rotate(v[b] ^ v[c], second)
        message = [message[i] for i in PERMUTATION]
    return [v[i] ^ v[i + 8] for i in range(8)] + [v[i + 8] ^ value[i] for i in range(8)]


def node(data, number, key, flags):
    """The last compression of the subtree over `data`, as its arguments without the root flag."""
    if len(data) > 1024:
        left = 1024
        while 2 * left < len(data):
            left *= 2
        halves = (node(data[:left], number, key, flags), node(data[left:], number + left // 1024, key, flags))
        joined = b"".join(word.to_bytes(4, "little") for half in halves for word in compress(*half)[:8])
        return key, joined, 0, 64, flags | PARENT
    value, blocks = key, [data[i:i + 64] for i in range(0, len(data), 64)] or [b""]
    for at, block in enumerate(blocks):
        here = flags | (CHUNK_START if at == 0 else 0) | (CHUNK_END if at == len(blocks) - 1 else 0)
        if at == len(blocks) - 1:
            return value, block, number, len(block), here
        value = compress(value, block, number, 64, here)[:8]


def output(root, count):
    value, block, _, length, flags = root
    out = b""
    while len(out) < count:
        made = compress(value, block, len(out) // 64, length, flags | ROOT)
        out += b"".join(word.to_bytes(4, "little") for word in made)
    return out[:count]


def blake3(data, count=32):
    return output(node(data, 0, IV, 0), count)


def blake3_keyed(key, data, count=32):
    return output(node(data, 0, words(key), KEYED), count)


def blake3_derive(context, material, count=32):
    key = output(node(context.encode(), 0, IV, CONTEXT), 32)
    return output(node(material, 0, words(key), MATERIAL), count)


# Ed25519 -------------------------------------------------------------------------------------------------------

P = 2 ** 255 - 19
ORDER = 2 ** 252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def add(a, b):
    x1, y1, z1, t1 = a
    x2, y2, z2, t2 = b
    e = (y1 - x1) * (y2 - x2) % P
    f = (y1 + x1) * (y2 + x2) % P
    g = 2 * t1 * t2 * D % P
    h = 2 * z1 * z2 % P
    e, f, g, h = f - e, h - g, h + g, f + e
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiply(scalar, point):
    result = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result


def decompress(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2 ** 255 - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


BASE = decompress((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def encode(point):
    x, y, z, _ = point
    inverse = pow(z, -1, P)
    x, y = x * inverse % P, y * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def number(data):
    return int.from_bytes(hashlib.sha512(data).digest(), "little")


def expanded(seed):
    digest = hashlib.sha512(seed).digest()
    scalar = int.from_bytes(digest[:32], "little") & (2 ** 254 - 8) | 2 ** 254
    return scalar, digest[32:]


def ed25519_public(seed):
    return encode(multiply(expanded(seed)[0], BASE))


def ed25519_sign(seed, message):
    scalar, prefix = expanded(seed)
    public = encode(multiply(scalar, BASE))
    r = number(prefix + message) % ORDER
    commitment = encode(multiply(r, BASE))
    return commitment + ((r + number(commitment + public + message) * scalar) % ORDER).to_bytes(32, "little")


def ed25519_verify(public, message, signature):
    if len(signature) != 64:
        return False
    key, commitment = decompress(public), decompress(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if key is None or commitment is None or s >= ORDER:
        return False
    challenge = number(signature[:32] + public + message) % ORDER
    return encode(multiply(s, BASE)) == encode(add(commitment, multiply(challenge, key)))
