"""Shares of seeds, and keys of Identus profiles, from the texts alone and without a library beside Python's own.

    python3 reference.py            writes shares.json and profiles.json, byte for byte the same each time
    python3 reference.py --check    compares them with what is written, and puts every set of shares together again

Nothing is random: what would be comes from SHA-256 over a case's name. Nothing here runs in constant time.
"""

import hashlib
import hmac
import itertools
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
SCHEMES = {"apollo": 1, "bip39": 2, "raw": 3}
LABEL = b"keywright/seed-share/v1"


def stretch(name, length):
    blocks = (hashlib.sha256(f"{name}/{n}".encode()).digest() for n in itertools.count())
    return b"".join(itertools.islice(blocks, length // 32 + 1))[:length]


# The field, by logarithms of the generator 3.

EXP, LOG = [0] * 510, [0] * 256
element = 1
for power in range(255):
    EXP[power] = EXP[power + 255] = element
    LOG[element] = power
    doubled = element << 1
    element ^= doubled ^ (0x11B if doubled & 0x100 else 0)


def times(a, b):
    return EXP[LOG[a] + LOG[b]] if a and b else 0


def over(a, b):
    return EXP[LOG[a] + 255 - LOG[b]] if a else 0


# Shares.


def tag(salt, set_id, needed, count, content):
    return hmac.new(salt, LABEL + set_id + bytes([needed, count]) + content, hashlib.sha256).digest()[:16]


def data_of(seed, scheme, needed, count, set_id, randomness):
    salt, rest = randomness[:32], randomness[32:]
    content = bytes([1, SCHEMES[scheme]]) + seed
    secret = content + salt + tag(salt, set_id, needed, count, content)
    rows = [secret] + [rest[n * len(secret) : (n + 1) * len(secret)] for n in range(needed - 1)]
    shares = []
    for x in range(1, count + 1):
        share = bytearray(len(secret))
        factor = 1
        for row in rows:
            for place, byte in enumerate(row):
                share[place] ^= times(byte, factor)
            factor = times(factor, x)
        shares.append(bytes(share))
    return shares


def text_of(set_id, number, count, needed, data):
    lines = ["keywright seed share 1", f"set {set_id.hex()}", f"share {number} of {count}", f"needed {needed}"]
    digits = data.hex()
    lines += [f"data {digits[at:at + 64]}" for at in range(0, len(digits), 64)]
    front = "".join(line + "\n" for line in lines)
    return front + f"check {hashlib.sha256(front.encode()).hexdigest()[:8]}\n"


def read(text):
    lines = text.splitlines()
    number, count = lines[2].removeprefix("share ").split(" of ")
    data = b"".join(bytes.fromhex(line[5:]) for line in lines if line.startswith("data "))
    return bytes.fromhex(lines[1][4:]), int(number), int(count), int(lines[3].removeprefix("needed ")), data


def together(texts):
    """The seed and its scheme, or nothing."""
    shares = [read(text) for text in texts]
    set_id, _, count, needed, first = shares[0]
    secret = bytearray(len(first))
    for _, x, _, _, data in shares:
        factor = 1
        for _, other, _, _, _ in shares:
            if other != x:
                factor = times(factor, over(other, other ^ x))
        for place, byte in enumerate(data):
            secret[place] ^= times(byte, factor)
    content, salt, end = bytes(secret[:-48]), bytes(secret[-48:-16]), bytes(secret[-16:])
    if end != tag(salt, set_id, needed, count, content) or content[0] != 1:
        return None
    return content[2:], next(name for name, number in SCHEMES.items() if number == content[1])


def share_case(name, length, scheme, needed, count):
    seed, set_id = stretch(name + "/seed", length), stretch(name + "/set", 16)
    randomness = stretch(name + "/random", 32 + (needed - 1) * (length + 50))
    data = data_of(seed, scheme, needed, count, set_id, randomness)
    texts = [text_of(set_id, number + 1, count, needed, data[number]) for number in range(count)]
    return {
        "name": name,
        "valid": True,
        "seed": seed.hex(),
        "seed_scheme": scheme,
        "needed": needed,
        "count": count,
        "set": set_id.hex(),
        "random": randomness.hex(),
        "shares": texts,
    }


def changed(text, place):
    """The share with one byte of its data changed and check digits that fit all the same."""
    set_id, number, count, needed, data = read(text)
    data = bytearray(data)
    data[place % len(data)] ^= 1 << place % 8
    return text_of(set_id, number, count, needed, bytes(data))


def bad(name, given, error, numbers=()):
    return {"name": name, "valid": False, "shares": given, "error": error, "numbers": list(numbers)}


def shares():
    plans = [(2, 2), (2, 3), (3, 5), (4, 7), (8, 16), (16, 16), (2, 16), (5, 5)]
    cases = []
    kinds = [(16, "raw"), (33, "raw"), (64, "bip39"), (64, "apollo")]
    for place, (needed, count) in enumerate(plans):
        for length, scheme in (kinds[place % 4], kinds[(place + 2) % 4]):
            cases.append(share_case(f"{needed} of {count}, {length} bytes, {scheme}", length, scheme, needed, count))
    three = share_case("wrong ones, 3 of 5", 64, "bip39", 3, 5)["shares"]
    other = share_case("another set, 3 of 5", 64, "bip39", 3, 5)["shares"]
    refused = [
        bad("none", [], "too few"),
        bad("two of three", three[:2], "too few"),
        bad("one twice", [three[0], three[1], three[1]], "repeated", [2]),
        bad("one of another set", [three[0], other[1], three[2]], "other set", [2]),
        bad("exactly enough, one changed", [three[0], changed(three[2], 5), three[4]], "no seed"),
        bad("two changed among four", [three[0], changed(three[2], 5), three[4], changed(three[1], 9)], "no seed"),
        bad("one digit", [three[0], three[1].replace("data ", "data f", 1).replace("f", "e", 1), three[2]], "damaged or none", [2]),
    ]
    for number in range(1, 6):
        given = list(three)
        given[number - 1] = changed(given[number - 1], number * 13)
        refused.append(bad(f"share {number} of five changed", given, "unfit", [number]))
    for first, second in itertools.combinations(range(1, 6), 2):
        given = list(three)
        for number in (first, second):
            given[number - 1] = changed(given[number - 1], number * 7)
        refused.append(bad(f"shares {first} and {second} of five changed", given, "unfit", [first, second]))
    for place in range(0, 114, 6):
        given = [three[1], changed(three[3], place), three[4], three[0]]
        refused.append(bad(f"byte {place} of share 4 changed", given, "unfit", [4]))
    cases += refused
    return {
        "format": "seed shares",
        "schema": 1,
        "valid": sum(case["valid"] for case in cases),
        "invalid": sum(not case["valid"] for case in cases),
        "cases": cases,
    }


# BIP32-Ed25519, its second version, hardened children.

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def plus(p, q):
    (x1, y1, z1, t1), (x2, y2, z2, t2) = p, q
    a, b = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    c, d = 2 * t1 * t2 * D % P, 2 * z1 * z2 % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def base():
    y = 4 * pow(5, P - 2, P) % P
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    x = P - x if x & 1 else x
    return x, y, 1, x * y % P


BASE = base()


def multiple(number):
    point, sum_ = BASE, (0, 1, 1, 0)
    while number:
        if number & 1:
            sum_ = plus(sum_, point)
        point = plus(point, point)
        number >>= 1
    return sum_


def encoded(point):
    x, y, z, _ = point
    inverse = pow(z, P - 2, P)
    x, y = x * inverse % P, y * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def little(data):
    return int.from_bytes(data, "little")


def clamp(data):
    data = bytearray(data)
    data[0] &= 248
    data[31] = data[31] & 127 | 64
    return bytes(data)


def sign(scalar, prefix, message):
    public = encoded(multiple(scalar % L))
    r = little(hashlib.sha512(prefix + message).digest()) % L
    point = encoded(multiple(r))
    k = little(hashlib.sha512(point + public + message).digest()) % L
    return point + ((r + k * scalar) % L).to_bytes(32, "little")


def x25519(scalar):
    """The ladder of RFC 7748 from the base point 9."""
    number, u = little(clamp(scalar)), 9
    x2, z2, x3, z3 = 1, 0, u, 1
    for bit in range(254, -1, -1):
        one = number >> bit & 1
        if one:
            x2, x3, z2, z3 = x3, x2, z3, z2
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        da, cb, aa, bb = d * a % P, c * b % P, a * a % P, b * b % P
        x3, z3 = (da + cb) ** 2 % P, u * (da - cb) ** 2 % P
        e = aa - bb
        x2, z2 = aa * bb % P, e * (aa + 121665 * e) % P
        if one:
            x2, x3, z2, z3 = x3, x2, z3, z2
    return (x2 * pow(z2, P - 2, P) % P).to_bytes(32, "little")


def node(seed, path):
    key, chain = bytearray(hashlib.sha512(seed[:32]).digest()), seed[32:]
    key[0] &= 0xF8
    key[31] = key[31] & 0x1F | 0x40
    left, right = bytes(key[:32]), bytes(key[32:])
    for part in path.split("/")[1:]:
        number = (int(part.rstrip("'")) | 1 << 31).to_bytes(4, "little")
        z = hmac.new(chain, b"\0" + left + right + number, hashlib.sha512).digest()
        c = hmac.new(chain, b"\1" + left + right + number, hashlib.sha512).digest()
        left = (little(left) + 8 * little(z[:28])).to_bytes(32, "little")
        right = ((little(right) + little(z[32:])) % 2**256).to_bytes(32, "little")
        chain = c[32:]
    return left, right


def under(profile, left, right, message):
    if profile == "identus-x25519":
        return x25519(hashlib.sha512(left).digest()[:32]), None
    source = left if profile == "identus-ed25519-jvm" else left + right
    digest = hashlib.sha512(source).digest()
    scalar, prefix = little(clamp(digest[:32])), digest[32:]
    return encoded(multiple(scalar)), sign(scalar, prefix, message)


def profiles():
    cases = []
    for number, path in itertools.product(range(4), ["m", "m/29'/29'/0'/4'/0'", "m/29'/29'/7'/3'/2147483647'"]):
        seed = stretch(f"profile/{number}", 64)
        left, right = node(seed, path)
        message = stretch(f"message/{number}", 11 * number)
        for profile in ["identus-ed25519-js", "identus-ed25519-jvm", "identus-x25519"]:
            public, signature = under(profile, left, right, message)
            cases.append(
                {
                    "name": f"{profile} {number} {path}",
                    "valid": True,
                    "seed": seed.hex(),
                    "path": path,
                    "profile": profile,
                    "node_public": encoded(multiple(little(left) % L)).hex(),
                    "public": public.hex(),
                    "message": message.hex(),
                    "signature": signature.hex() if signature else "",
                }
            )
    return {"format": "identus profiles", "schema": 1, "valid": len(cases), "invalid": 0, "cases": cases}


def check():
    # Values of others: RFC 8032 test 1, RFC 7748 section 6.1.
    secret = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    digest = hashlib.sha512(secret).digest()
    public = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    assert encoded(multiple(little(clamp(digest[:32])))).hex() == public
    secret = bytes.fromhex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a")
    assert x25519(secret).hex() == "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
    for case in shares()["cases"]:
        if not case["valid"]:
            continue
        given = case["shares"]
        for chosen in itertools.islice(itertools.combinations(given, case["needed"]), 50):
            assert together(chosen) == (bytes.fromhex(case["seed"]), case["seed_scheme"]), case["name"]
        if case["needed"] > 2:
            assert together(given[: case["needed"] - 1]) is None


def main():
    different = []
    for name, make in [("shares.json", shares), ("profiles.json", profiles)]:
        text = json.dumps(make(), indent=1) + "\n"
        if "--check" not in sys.argv:
            (HERE / name).write_text(text)
        elif (HERE / name).read_text() != text:
            different.append(name)
    check()
    for name in different:
        print(f"{name} is not what this program makes")
    print("checked" if not different else "different")
    sys.exit(1 if different else 0)


main()
