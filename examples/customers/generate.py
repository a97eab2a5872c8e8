#!/usr/bin/env python3
"""Writes examples/customers.csv: 10,000 customers who do not exist.

    python3 examples/customers/generate.py            write the file
    python3 examples/customers/generate.py --check    compare with the file in the tree

Standard library only, and the same bytes from every Python 3: the random numbers come from SplitMix64
below, since the sequences behind `random` may change between versions.

Nobody is reached, charged or described by it:
  e-mail       example.com, example.net, example.org (RFC 2606)
  phone        555-0100 to 555-0199 (NANP, for fiction); +44 7700 900xxx, +44 20 7946 0xxx (Ofcom, for drama)
  national_id  the form of a US social security number with an area never issued: 000, 666, 900 to 999
  card_number  the first ten digits of test numbers that card networks and payment providers publish, random
               digits behind them, and a check digit that passes Luhn
  the rest     drawn from the lists below
"""

import pathlib
import sys

SEED = 20240229
ROWS = 10_000
TARGET = pathlib.Path(__file__).resolve().parent.parent / "customers.csv"
HEADER = "id,name,email,phone,national_id,card_number,birth_date,balance,note"

FIRST = """Ada Ágnes Aiko Amara André Anouk Björn Bram Chiara Dmitri Eilidh Elif Émile Esra Fatima Freya
Giulia Hana Ibrahim Ines Jørgen João Kofi Łukasz Lucía Maja Mateo Mei Nia Noor Olga Øystein Paul Priya Quinn
Rosa Søren Sofia Tariq Theo Uma Věra Viktor Wanjiru Xenia Yara Yuki Zofia Žiga 明 直子 Ольга Νίκος""".split()

LAST = """Adeyemi Andersson Bakker Bauer Bianchi Castro Chen Dąbrowski Dubois Eriksen Fernández Fischer García
Großmann Haddad Horváth Ito Ivanova Jensen Johnson Kaya Kowalczyk Larsen Lee Martin Mbeki Moreau Müller Nakamura
Nguyen Novák O'Brien Okafor Østergård Papadopoulos Park Patel Petrov Quispe Rossi Santos Schäfer Silva Singh
Smith Svensson Tanaka Thomas Ümit Varga Weiß Williams Xu Yılmaz Zhang Žukauskas""".split()

PLAIN = [
    "prefers e-mail", "calls on Mondays", "moved in spring", "paper statements", "no calls please",
    "loyal since the opening", "pays by card", "asked for an offer", "Straße gesperrt, Lieferung hinten",
    "déjà client", "東京支店の紹介", "обратный звонок", "μόνο πρωί", "zahlt pünktlich", "¿factura mensual?",
]
QUOTED = [
    'said "call me later"', "red, green and blue", 'the "small" one, please', "deliver to the door\nring twice",
    "first line\nsecond line, with comma", '"quoted" from the start', "size 7, width 3", "naïve, or not?",
    "leave at desk\r\nask for the key",
]

# The first ten digits of published test numbers, and the length of the number.
CARDS = [
    ("4111111111", 16), ("4242424242", 16), ("4012888888", 16), ("5555555555", 16), ("5105105105", 16),
    ("2223003122", 16), ("3782822463", 15), ("3714496353", 15), ("6011111111", 16), ("3530111333", 16),
]

AREAS = ["212", "305", "415", "503", "617", "702", "808", "907"]


class SplitMix64:
    """The generator of Steele, Lea and Flood (2014). For made-up data, never for secrets."""

    MASK = (1 << 64) - 1

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & self.MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & self.MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & self.MASK
        return z ^ (z >> 31)

    def below(self, bound):
        return self.next() % bound

    def pick(self, items):
        return items[self.below(len(items))]

    def digits(self, count):
        return "".join(str(self.below(10)) for _ in range(count))


def ascii_local_part(dice, row):
    """Mail addresses are made apart from names: a name outside ASCII has no one spelling in it."""
    word = dice.pick(["blue", "calm", "dawn", "east", "fern", "gold", "hill", "iris", "jade", "kite"])
    return f"{word}{dice.pick(['.', '_', '-', ''])}{row}"


def phone(dice):
    kind = dice.below(4)
    if kind < 2:
        return f"+1-{dice.pick(AREAS)}-555-01{dice.digits(2)}"
    if kind == 2:
        return f"+44 7700 900{dice.digits(3)}"
    return f"+44 20 7946 0{dice.digits(3)}"


def national_id(dice):
    area = dice.pick(["000", "666", f"9{dice.digits(2)}", f"9{dice.digits(2)}"])
    return f"{area}-{dice.digits(2)}-{dice.digits(4)}"


def card_number(dice):
    prefix, length = dice.pick(CARDS)
    body = prefix + dice.digits(length - len(prefix) - 1)
    total = 0
    # Doubling starts at the digit beside the check digit.
    for place, digit in enumerate(int(c) for c in reversed(body)):
        doubled = digit * 2 if place % 2 == 0 else digit
        total += doubled - 9 if doubled > 9 else doubled
    return body + str(-total % 10)


def birth_date(dice):
    year, month = 1930 + dice.below(76), 1 + dice.below(12)
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    return f"{year}-{month:02}-{1 + dice.below(days):02}"


def balance(dice):
    sign = "-" if dice.below(10) == 0 else ""
    return f"{sign}{dice.below(50_000)}.{dice.digits(2)}"


def note(dice):
    kind = dice.below(10)
    if kind < 4:
        return ""
    if kind < 8:
        return dice.pick(PLAIN)
    return dice.pick(QUOTED)


def field(text):
    """RFC 4180: quoted only where it must be."""
    if any(c in text for c in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def row(dice, number):
    name = f"{dice.pick(FIRST)} {dice.pick(LAST)}"
    if dice.below(20) == 0:
        name = f"{dice.pick(LAST)}, {name}"
    return [
        str(number), name,
        f"{ascii_local_part(dice, number)}@example.{dice.pick(['com', 'net', 'org'])}",
        phone(dice), national_id(dice), card_number(dice), birth_date(dice), balance(dice), note(dice),
    ]


def customers():
    dice = SplitMix64(SEED)
    lines = [HEADER]
    lines += [",".join(field(text) for text in row(dice, number)) for number in range(1, ROWS + 1)]
    return ("\n".join(lines) + "\n").encode("utf-8")


def main(arguments):
    if arguments not in ([], ["--check"]):
        print("usage: generate.py [--check]", file=sys.stderr)
        return 2
    made = customers()
    if not arguments:
        TARGET.write_bytes(made)
        return 0
    if TARGET.is_file() and TARGET.read_bytes() == made:
        return 0
    print(f"{TARGET.name} is not what generate.py writes; run it without --check", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
