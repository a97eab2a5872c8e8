"""FF1, FF3, FF3-1 and fpe-c's FF3-1 over AES and SM4, written from the texts alone, for reading and for vectors.

Nothing here is fast or constant-time. It shares no code with Keywright: digits are lists, numbers are Python's,
and both block ciphers are the tables of their standards. Without arguments it writes values.json beside itself;
with --check it compares. The values that are stated below as published or independently computed must come out.
"""
import hashlib
import json
import pathlib
import sys


# Block ciphers -------------------------------------------------------------------------------------------------

def gf_multiply(a, b):
    result = 0
    while b:
        if b & 1:
            result ^= a
        a = (a << 1) ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return result


def aes_sbox():
    box = []
    for x in range(256):
        inverse = next((y for y in range(256) if gf_multiply(x, y) == 1), 0)
        turned = [((inverse << k) | (inverse >> (8 - k))) & 0xFF for k in range(5)]
        value = 0x63
        for t in turned:
            value ^= t
        box.append(value)
    return box


AES_BOX = aes_sbox()
SM4_BOX = bytes.fromhex(
    "d690e9fecce13db716b614c228fb2c052b679a762abe04c3aa441326498606999c4250f491ef987a33540b43edcfac62"
    "e4b31ca9c908e89580df94fa758f3fa64707a7fcf37317ba83593c19e6854fa8686b81b27164da8bf8eb0f4b70569d35"
    "1e240e5e6358d1a225227c3b01217887d40046579fd327524c3602e7a0c4c89eeabf8ad240c738b5a3f7f2cef96115a1"
    "e0ae5da49b341a55ad933230f58cb1e31df6e22e8266ca60c02923ab0d534e6fd5db3745defd8e2f03ff6a726d6c5b51"
    "8d1baf92bbddbc7f11d95c411f105ad80ac13188a5cd7bbd2d74d012b8e5b4b08969974a0c96777e65b9f109c56ec684"
    "18f07dec3adc4d2079ee5f3ed7cb3948")


def aes(key):
    words = [list(key[i:i + 4]) for i in range(0, len(key), 4)]
    size, constant = len(words), 1
    rounds = size + 6
    for i in range(size, 4 * (rounds + 1)):
        word = list(words[i - 1])
        if i % size == 0:
            word = [AES_BOX[x] for x in word[1:] + word[:1]]
            word[0] ^= constant
            constant = gf_multiply(constant, 2)
        elif size == 8 and i % size == 4:
            word = [AES_BOX[x] for x in word]
        words.append([x ^ y for x, y in zip(words[i - size], word)])
    keys = [sum(words[4 * r:4 * r + 4], []) for r in range(rounds + 1)]

    def encrypt(block):
        state = [x ^ k for x, k in zip(block, keys[0])]
        for r in range(1, rounds + 1):
            state = [AES_BOX[x] for x in state]
            state = [state[(i + 4 * (i % 4)) % 16] for i in range(16)]
            if r < rounds:
                mixed = []
                for c in range(0, 16, 4):
                    column = state[c:c + 4]
                    for i in range(4):
                        mixed.append(gf_multiply(column[i], 2) ^ gf_multiply(column[(i + 1) % 4], 3)
                                     ^ column[(i + 2) % 4] ^ column[(i + 3) % 4])
                state = mixed
            state = [x ^ k for x, k in zip(state, keys[r])]
        return bytes(state)
    return encrypt


def sm4(key):
    def rotate(x, k):
        return ((x << k) | (x >> (32 - k))) & 0xFFFFFFFF

    def boxed(x):
        return int.from_bytes(bytes(SM4_BOX[b] for b in x.to_bytes(4, "big")), "big")

    def words(data):
        return [int.from_bytes(data[i:i + 4], "big") for i in range(0, 16, 4)]
    k = [x ^ f for x, f in zip(words(key), (0xA3B1BAC6, 0x56AA3350, 0x677D9197, 0xB27022DC))]
    for i in range(32):
        fixed = int.from_bytes(bytes((4 * i + j) * 7 % 256 for j in range(4)), "big")
        b = boxed(k[-3] ^ k[-2] ^ k[-1] ^ fixed)
        k.append(k[-4] ^ b ^ rotate(b, 13) ^ rotate(b, 23))

    def encrypt(block):
        x = words(block)
        for i in range(32):
            b = boxed(x[-3] ^ x[-2] ^ x[-1] ^ k[4 + i])
            x.append(x[-4] ^ b ^ rotate(b, 2) ^ rotate(b, 10) ^ rotate(b, 18) ^ rotate(b, 24))
        return b"".join(w.to_bytes(4, "big") for w in reversed(x[-4:]))
    return encrypt


CIPHERS = {"aes": aes, "sm4": sm4}


# Modes ---------------------------------------------------------------------------------------------------------

def num(digits, radix):
    value = 0
    for digit in digits:
        value = value * radix + digit
    return value


def string(value, radix, count):
    digits = []
    for _ in range(count):
        value, digit = divmod(value, radix)
        digits.append(digit)
    return digits[::-1]


def xor(a, b):
    return bytes(x ^ y for x, y in zip(a, b))


def ff1(encrypt, radix, tweak, x):
    n, t = len(x), len(tweak)
    u = n // 2
    v = n - u
    a, b = x[:u], x[u:]
    width = ((radix ** v - 1).bit_length() + 7) // 8
    d = 4 * ((width + 3) // 4) + 4
    p = (bytes([1, 2, 1]) + radix.to_bytes(3, "big") + bytes([10, u % 256]) + n.to_bytes(4, "big")
         + t.to_bytes(4, "big"))
    for i in range(10):
        q = tweak + bytes((-t - width - 1) % 16) + bytes([i]) + num(b, radix).to_bytes(width, "big")
        r = bytes(16)
        for at in range(0, 16 + len(q), 16):
            r = encrypt(xor(r, (p + q)[at:at + 16]))
        s = r
        for j in range(1, (d + 15) // 16):
            s += encrypt(xor(r, j.to_bytes(16, "big")))
        m = u if i % 2 == 0 else v
        c = (num(a, radix) + int.from_bytes(s[:d], "big")) % radix ** m
        a, b = b, string(c, radix, m)
    return a + b


def half_tweaks(mode, tweak):
    if mode == "ff3":
        return tweak[:4], tweak[4:]
    low, high = tweak[3] & 0x0F, tweak[3] & 0xF0
    left = tweak[:3] + bytes([high])
    if mode == "ff3-1":
        return left, tweak[4:7] + bytes([low << 4])
    return left, bytes([low]) + tweak[4:7]


def ff3(mode, encrypt, radix, tweak, x):
    left, right = half_tweaks(mode, tweak)
    n = len(x)
    u = (n + 1) // 2
    a, b = x[:u], x[u:]
    for i in range(8):
        m, w = (u, right) if i % 2 == 0 else (n - u, left)
        # More than 96 bits arise only in values that fpe-c should have refused; it cut them off.
        p = xor(w, i.to_bytes(4, "big")) + (num(b[::-1], radix) % 2 ** 96).to_bytes(12, "big")
        y = int.from_bytes(encrypt(p[::-1])[::-1], "big")
        c = (num(a[::-1], radix) + y) % radix ** m
        a, b = b, string(c, radix, m)[::-1]
    return a + b


def encrypt_value(case):
    cipher, key = CIPHERS[case["algorithm"]], bytes.fromhex(case["key"])
    tweak, x = bytes.fromhex(case["tweak"]), case["plaintext"]
    if case["mode"] == "ff1":
        return ff1(cipher(key), case["radix"], tweak, x)
    return ff3(case["mode"], cipher(key[::-1]), case["radix"], tweak, x)


# Cases ---------------------------------------------------------------------------------------------------------

SYMBOLS = "0123456789abcdefghijklmnopqrstuvwxyz"
K = "2b7e151628aed2a6abf7158809cf4f3c"
K5 = K + "ef4359d8d580aa4f7f036d6f04fc6a94"
K1 = "2de79d232df5585d68ce47882ae256d6"
K2 = "ef4359d8d580aa4f7f036d6f04fc6a94"
K4 = "0123456789abcdeffedcba9876543210"
ASCII = "9876543".encode().hex()
FIFTY_SEVEN = ("0123456789" * 6)[:57]

# mode, algorithm, key, tweak, radix, plaintext, ciphertext
STATED = [
    ("ff1", "aes", K, ASCII, 10, "4111111111111111", "0049466176981546"),
    ("ff1", "aes", K5, ASCII, 10, "4111111111111111", "8981341273932054"),
    ("ff1", "sm4", K, ASCII, 10, "4111111111111111", "3780764021307723"),
    ("ff1", "aes", K, bytes(range(12)).hex(), 10, "4111111111111111", "2561410787514845"),
    ("ff1", "aes", K, bytes(range(28)).hex(), 10, "4111111111111111", "5441718451131553"),
    ("ff1", "aes", K, ASCII, 10, "123456", "205828"),
    ("ff1", "aes", K, "", 10, FIFTY_SEVEN, "284832518529501213685861870766914796792794473648103303316"),
    ("ff1", "aes", K, ASCII, 65536, [65535, 0, 1], [4380, 47056, 55380]),
    ("ff1", "aes", K, "", 29815, [29814, 29814], [6638, 19358]),
    ("ff3-1", "aes", K, "cbd09280979564", 10, "4111111111111111", "0493935956068039"),
    ("ff3-1", "sm4", K, "cbd09280979564", 10, "4111111111111111", "6697663867355284"),
]
# algorithm, key, tweak, radix, plaintext, fpe-c's value, the standard's value
BOTH_COLUMNS = [
    ("aes", K1, "cbd09280979564", 10, "3992520240", "0535455316", "8901801106"),
    ("aes", K2, "d8e7920afa330a", 10, "890121234567890000", "814997673314616621", "477064185124354662"),
    ("aes", K2, "9a768a92f60e12d8", 26, "0123456789abcdefghi", "ao0d2gc1ca3i0121p58", "okhn4902kga4i2jm6op"),
    ("aes", K2 + K, "d8e7920afa330a", 10, "890121234567890000", "375943975111567310", "739867966748611431"),
    ("sm4", K4, "39383736353433", 10, "1234567890", "0574989661", "9716189939"),
    ("aes", K2, "00000000000000", 10, "89012123456789000000789000000", "34695224821734535122613701434",
     "34695224821734535122613701434"),
    ("aes", K1, "cbd09280979564", 10, "1234567890" * 6,
     "879861322884946074068125004471879862276244052068897762659018", None),
]


def digits(value):
    return [SYMBOLS.index(symbol) for symbol in value] if isinstance(value, str) else value


def case(name, mode, algorithm, key, tweak, radix, plaintext):
    return {"name": name, "mode": mode, "algorithm": algorithm, "radix": radix, "key": key, "tweak": tweak,
            "plaintext": digits(plaintext)}


def stream(name, count):
    return hashlib.shake_256(name.encode()).digest(count)


def made(name, mode, cipher, radix, length, tweak_bytes):
    algorithm, size = cipher
    key = stream(name + " key", size).hex()
    raw = stream(name + " value", 4 * length)
    value = [int.from_bytes(raw[4 * i:4 * i + 4], "big") % radix for i in range(length)]
    return case(name, mode, algorithm, key, stream(name + " tweak", tweak_bytes).hex(), radix, value)


SIZES = [("aes", 16), ("aes", 24), ("aes", 32), ("sm4", 16)]
# Shapes by the bytes of y: 8, 12, 16, and more with one, two and many blocks of S.
WIDTHS = [(8, 26, 11, 5), (12, 10, 37, 13), (16, 256, 23, 31), (20, 62, 34, 9), (36, 65536, 29, 17),
          (56, 3, 500, 8)]


def cases():
    out = []
    for number, row in enumerate(STATED):
        mode, algorithm, key, tweak, radix, plain, cipher = row
        one = case(f"stated-{number + 1}", mode, algorithm, key, tweak, radix, plain)
        out.append((one, digits(cipher)))
    for number, row in enumerate(BOTH_COLUMNS):
        algorithm, key, tweak, radix, plain, wrong, right = row
        one = case(f"fpec-{number + 1}", "fpec-ff3-1", algorithm, key, tweak, radix, plain)
        out.append((one, digits(wrong)))
        if right:
            one = case(f"standard-{number + 1}", "ff3-1", algorithm, key, tweak, radix, plain)
            out.append((one, digits(right)))
    for cipher in SIZES:
        label = f"{cipher[0]}{8 * cipher[1]}"
        for width, radix, length, tweak in WIDTHS:
            v = length - length // 2
            b = ((radix ** v - 1).bit_length() + 7) // 8
            assert 4 * ((b + 3) // 4) + 4 == width, (radix, length, width)
            out.append((made(f"ff1-{label}-y{width}", "ff1", cipher, radix, length, tweak), None))
        for mode, tweak in (("ff3", 8), ("ff3-1", 7)):
            out.append((made(f"{mode}-{label}-r10-n9", mode, cipher, 10, 9, tweak), None))
            out.append((made(f"{mode}-{label}-r36-n36", mode, cipher, 36, 36, tweak), None))
    result = []
    for one, stated in out:
        one["ciphertext"] = encrypt_value(one)
        assert stated is None or stated == one["ciphertext"], one["name"]
        result.append(one)
    return result


def main():
    path = pathlib.Path(__file__).with_name("values.json")
    lines = ",\n".join(json.dumps(one, separators=(",", ":")) for one in cases())
    text = '{"format": "fpe", "schema": 1, "cases": [\n' + lines + "\n]}\n"
    if sys.argv[1:] == ["--check"]:
        same = path.read_text() == text
        print(f"values.json: {len(text.splitlines()) - 2} cases, {'equal' if same else 'DIFFERENT'}")
        sys.exit(0 if same else 1)
    path.write_text(text)


if __name__ == "__main__":
    main()
