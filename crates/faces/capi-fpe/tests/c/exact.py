"""Writes exact.json: values that a small slip in sizes gets wrong, from the reference that Keywright shares no code
with, vectors/golden/fpe/reference.py. With --check it compares. The tests read the file and do not run this.

Cases: tweaks around the end of a 256-byte buffer; halves whose bytes a floating-point logarithm gets wrong;
lengths from 512 on, whose first half no longer fits the byte that it has.
"""
import json
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[4] / "vectors/golden/fpe"))
import reference  # noqa: E402


def misjudged():
    """Radix and digits of a half for which ceil(ceil(v * ln(r) / ln(2)) / 8) is not the number of bytes."""
    for radix in (2, 10, 16, 26, 36, 62, 64, 94, 128, 256, 1000, 65536):
        for v in range(2, 130):
            exact = ((radix ** v - 1).bit_length() + 7) // 8
            if math.ceil(math.ceil(v * math.log(radix) / math.log(2)) / 8) != exact:
                yield radix, v


def cases():
    aes = ("aes", 16)
    for tweak in (200, 252, 253, 255, 256, 300, 1024):
        yield reference.made(f"tweak-{tweak}", "ff1", aes, 10, 16, tweak)
    yield reference.made("radix-65536-n253", "ff1", aes, 65536, 253, 0)
    yield reference.made("radix-65536-n300", "ff1", aes, 65536, 300, 16)
    for radix, v in list(misjudged())[:24]:
        yield reference.made(f"half-r{radix}-v{v}", "ff1", aes, radix, 2 * v, 7)
        yield reference.made(f"half-r{radix}-v{v}-odd", "ff1", aes, radix, 2 * v - 1, 7)
    for length in (510, 511, 512, 513, 1025):
        yield reference.made(f"long-{length}", "ff1", aes, 10, length, 7)


def main():
    lines = []
    for case in cases():
        case["ciphertext"] = reference.encrypt_value(case)
        lines.append(json.dumps(case, separators=(",", ":")))
    text = '{"format": "fpe", "schema": 1, "cases": [\n' + ",\n".join(lines) + "\n]}\n"
    path = HERE / "exact.json"
    if sys.argv[1:] == ["--check"]:
        same = path.read_text() == text
        print(f"exact.json: {len(lines)} cases, {'equal' if same else 'DIFFERENT'}")
        sys.exit(0 if same else 1)
    path.write_text(text)


if __name__ == "__main__":
    main()
