"""The forms in which a planted value is looked for."""

import base64
import collections
import json
import zlib

import numpy

# Needles are found by their first bytes, all of them in one pass.
PREFIX = 8


def base64_inside(value):
    """What base64 shows of a value inside of longer data, at each of the three alignments."""
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + value)
        first = (before * 8 + 5) // 6
        whole = (before + len(value)) * 8 // 6
        yield encoded[first:whole]


def forms(text):
    """(name of the form, bytes) of one value; the bytes are long enough to mean something."""
    raw = text.encode()
    found = {raw: "raw"}

    def add(name, data):
        if len(data) >= PREFIX:
            found.setdefault(data, name)

    add("latin-1", text.encode("latin-1", "ignore"))
    add("utf-16-le", text.encode("utf-16-le"))
    add("utf-16-be", text.encode("utf-16-be"))
    add("utf-32-le", text.encode("utf-32-le"))
    add("hex", raw.hex().encode())
    add("hex", raw.hex().upper().encode())
    add("json", json.dumps(text)[1:-1].encode())
    for encoded in base64_inside(raw):
        add("base64", encoded)
        add("base64url", encoded.replace(b"+", b"-").replace(b"/", b"_"))
    add("escapes", "".join(f"\\u{ord(sign):04x}" for sign in text).encode())
    add("entities", "".join(f"&#{ord(sign)};" for sign in text).encode())
    add("octal", "".join(f"\\{byte:03o}" for byte in raw).encode())
    add("quoted-printable", "".join(f"={byte:02X}" for byte in raw).encode())
    add("numbers", str(list(raw)).encode())
    add("base32", base64.b32encode(raw).rstrip(b"="))
    add("deflate", base64.b64encode(zlib.compress(raw)[2:-4]))
    add("wide digits", text.translate({48 + digit: 0xFF10 + digit for digit in range(10)}).encode())
    symbols = "".join(filter(str.isalnum, text))
    if symbols.isdigit():
        add("digits", symbols.encode())
        number = int(symbols)
        if 10**12 <= number < 2**63:
            add("int64", number.to_bytes(8, "little"))
            add("int64", number.to_bytes(8, "big"))
    if len(raw) > 40:
        # Statistics and views keep the beginning of a long value.
        for part, name in ((raw[:16], "beginning"), (raw[-16:], "end")):
            add(name, part)
            for encoded in base64_inside(part):
                add(f"base64 of the {name}", encoded)
    return [(name, data) for data, name in found.items()]


class Needles:
    """Planted values in all their forms."""

    def __init__(self, planted):
        self.all = planted
        self.by_prefix = collections.defaultdict(list)
        for number, (value, _, _) in enumerate(planted):
            for form, needle in forms(value):
                if len(needle) < PREFIX:
                    raise ValueError(f"a planted value of {len(needle)} bytes is too short to be looked for")
                self.by_prefix[needle[:PREFIX]].append((needle, form, number))
        self.prefixes = numpy.sort(numpy.frombuffer(b"".join(self.by_prefix), numpy.uint64))

    def _candidates(self, data):
        """Where one of the prefixes begins."""
        for shift in range(PREFIX):
            count = (len(data) - shift) // PREFIX
            if count <= 0 or not self.prefixes.size:
                continue
            windows = numpy.frombuffer(data, numpy.uint64, count, shift)
            places = numpy.searchsorted(self.prefixes, windows).clip(max=self.prefixes.size - 1)
            yield from (numpy.flatnonzero(self.prefixes[places] == windows) * PREFIX + shift).tolist()

    def find(self, blobs, allowed=frozenset()):
        """Values in (place, bytes), but those of rows in `allowed`: (column, row, form, place) of each."""
        found = {}
        for place, data in blobs:
            data = bytes(data)
            for start in self._candidates(data):
                for needle, form, number in self.by_prefix[data[start : start + PREFIX]]:
                    _, row, column = self.all[number]
                    if (row is None or row not in allowed) and data.startswith(needle, start):
                        found[column, row, number, place] = (column, row, form, place)
        return list(found.values())
