"""Planted values: distinct, valid for the formats of the program, and the same for the same seed and case."""

import random
import re
import string

LOWER_ALNUM = string.ascii_lowercase + string.digits
ALNUM = string.digits + string.ascii_letters


def luhn_digit(digits):
    """Check digit of ISO/IEC 7812-1 behind `digits`."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit)
        if place % 2 == 0:
            value = value * 2 - 9 if value > 4 else value * 2
        total += value
    return str(-total % 10)


class Values:
    """A source of planted values for one case."""

    def __init__(self, seed, case):
        self.random = random.Random(f"{seed}/{case}")
        self.used = set()

    def _new(self, make):
        while True:
            value = make()
            if value not in self.used:
                self.used.add(value)
                return value

    def _symbols(self, alphabet, count):
        return "".join(self.random.choices(alphabet, k=count))

    def card(self):
        def make():
            body = "4" + self._symbols(string.digits, 14)
            return body + luhn_digit(body)

        return self._new(make)

    def grouped_card(self):
        return "-".join(re.findall("....", self.card()))

    def email(self):
        return self._new(
            lambda: f"{self._symbols(string.ascii_lowercase, 4)}.{self._symbols(LOWER_ALNUM, 8)}@example.com"
        )

    def ssn(self):
        def make():
            area = self.random.choice([*range(100, 666), *range(667, 900)])
            return f"{area:03}-{self.random.randint(1, 99):02}-{self.random.randint(1, 9999):04}"

        return self._new(make)

    def long(self):
        """80 letters and digits: longer than what statistics and views keep in full."""
        return self._new(lambda: self._symbols(ALNUM, 80))

    def misfit(self):
        """A value that fits no format used here, and is as secret as the others."""
        return self._new(lambda: f"BAD/{self._symbols(string.ascii_uppercase, 12)}")

    def word(self, length=9):
        """Text of an unprotected column. Letters alone: nothing in it resembles a planted value."""
        return self._symbols(string.ascii_lowercase, length)


def is_card(text):
    return re.fullmatch(r"\d{16}", text) is not None and luhn_digit(text[:-1]) == text[-1]


def is_grouped_card(text):
    return re.fullmatch(r"\d{4}(-\d{4}){3}", text) is not None and is_card(text.replace("-", ""))


def is_email(text):
    return re.fullmatch(r"[a-z0-9][a-z0-9._+-]*@example\.com", text) is not None


def is_ssn(text):
    return re.fullmatch(r"(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}", text) is not None


def is_long(text):
    return re.fullmatch(r"[0-9A-Za-z]{80}", text) is not None


def is_last_four(text):
    return re.fullmatch(r"\*{12}\d{4}", text) is not None


def is_hash(text):
    return re.fullmatch(r"[0-9a-f]{32}", text) is not None


# What a kind of column is protected with, what makes its values, and what a token of it must be. Without a format it is
# masked for good, and without a token it becomes empty.
KINDS = {
    "card": ({"format": "card"}, Values.card, is_card),
    "grouped": ({"format": "card"}, Values.grouped_card, is_grouped_card),
    "email": ({"format": "email"}, Values.email, is_email),
    "ssn": ({"format": "ssn"}, Values.ssn, is_ssn),
    "long": ({"format": "alnum(80)"}, Values.long, is_long),
    "mask-null": ({"mask": "null"}, Values.card, None),
    "mask-last": ({"mask": "last(4)"}, Values.card, is_last_four),
    "mask-hash": ({"mask": "hash"}, Values.card, is_hash),
}
