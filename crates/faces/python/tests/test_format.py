"""`keywright.Format`: formats alone, under keys, by rules, and masks."""

from __future__ import annotations

import hashlib
import hmac
import pickle
from collections.abc import Callable
from typing import Any

import keywright
import pyarrow as pa
import pytest

from conftest import CARD, MASTER, OTHER_CARD

RULES = """
version = 1

[[column]]
name = "card_number"
format = "card"
keep = "last4"
mask = "last4"

[[column]]
name = "opened"
format = { name = "date", from = 1900-01-01, to = 2099-12-31 }
small_domain = "accept(a test)"
tweak = ["column", "row(id)"]
on_bad = "null"

[[column]]
name = "note"
mask = "null"
"""

SAMPLES = [
    ("card", CARD),
    ("card(keep=last4)", OTHER_CARD),
    ("ssn", "536-90-4399"),
    ("iban", "DE89370400440532013000"),
    ("phone", "+4915123456789"),
    ("email", "a.long.name@example.com"),
    ("uuid", "f47ac10b-58cc-4372-a567-0e02b2c3d479"),
    ("ipv4", "192.0.2.17"),
    ("date", "1912-06-23"),
    ("decimal(min=-999999.99, max=999999.99)", "-17.50"),
    ('"KD-" digit(8) "-" check(luhn)', "KD-12345678-2"),
    ("text(alphabet=greek)", "καλημερα"),
]


def code(call: Any) -> str:
    with pytest.raises(keywright.Error) as raised:
        call()
    return raised.value.code


def lp(*parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def expanded(key: bytes, info: bytes, length: int) -> bytes:
    """HKDF-Expand of RFC 5869 with SHA-256."""
    out, block = b"", b""
    for number in range(1, 1 + -(-length // 32)):
        block = hmac.digest(key, block + info + bytes([number]), "sha256")
        out += block
    return out[:length]


@pytest.mark.parametrize(("text", "value"), SAMPLES)
def test_a_token_is_in_the_format_and_comes_back(text: str, value: str) -> None:
    own = keywright.Format(text, MASTER, column="c")
    token = own.protect(value)
    assert token != value
    assert own.check(token) is None
    assert own.reveal(token) == value
    assert own.protect_batch([value, None, value]) == [token, None, token]
    assert own.protect(value.encode()) == token.encode()


def test_a_token_is_what_the_documents_say() -> None:
    """The keys and the tweak of a card, computed here from SHA-256 alone."""
    own = keywright.Format("card", MASTER, column="card_number")
    info = b"keywright/fpe/v1" + lp(b"aes-256", own.canonical.encode())
    tweak_key = expanded(MASTER, b"keywright/tweak/v1", 32)
    tweak = hmac.new(tweak_key, lp(b"column", b"card_number"), hashlib.sha256).digest()[:8]
    engine = keywright.Fpe(expanded(MASTER, info, 32))
    assert own.protect(CARD)[:15] == engine.encrypt(CARD[:15], tweak)


def test_columns_have_tokens_of_their_own_unless_a_label_joins_them() -> None:
    def token(column: str, **options: Any) -> str:
        return keywright.Format("card", MASTER, column=column, **options).protect(CARD)

    assert token("a") != token("b")
    assert token("a", tweak="constant(cards)") == token("b", tweak="constant(cards)")


def test_rows_make_equal_values_different() -> None:
    own = keywright.Format("card", MASTER, column="c", tweak="column row(id)")
    made = own.protect_batch([CARD, CARD], rows={"id": ["1", "2"]})
    assert made[0] != made[1]
    assert made == [own.protect(CARD, rows={"id": name}) for name in ("1", "2")]
    assert own.reveal_batch(made, rows={"id": ["1", "2"]}) == [CARD, CARD]
    assert own.reveal_batch(made, rows={"id": ["2", "1"]}) != [CARD, CARD]


@pytest.mark.parametrize(
    "rows", [None, {}, {"other": ["1"]}, {"id": ["1", "2"]}, {"id": []}, {"id": ["1"], "more": ["1"]}]
)
def test_the_columns_of_the_tweak_are_needed_and_no_others(rows: Any) -> None:
    own = keywright.Format("card", MASTER, column="c", tweak="column row(id)")
    assert code(lambda: own.protect_batch([CARD], rows=rows)) == "tweak_parts"


def test_the_callers_tweak() -> None:
    own = keywright.Format("card", MASTER, tweak="caller")
    token = own.protect(CARD, caller=b"one")
    assert own.reveal(token, caller=b"one") == CARD
    assert own.protect(CARD, caller=b"two") != token
    assert code(lambda: own.protect(CARD)) == "tweak_empty"


def test_a_raw_key_goes_on_with_tokens_made_elsewhere() -> None:
    own = keywright.Format("digit(16)", bytes(16), tweak="caller", raw=True, cipher="aes-128")
    assert own.protect(CARD, caller=b"9876543") == keywright.Fpe(bytes(16)).encrypt(CARD, b"9876543")


def test_rules_say_the_same_as_arguments() -> None:
    by_rules = keywright.Format.from_rules(RULES, "card_number", MASTER)
    by_hand = keywright.Format("card(keep=last4)", MASTER, column="card_number", mask="last4")
    assert by_rules.canonical == by_hand.canonical
    assert by_rules.protect(CARD) == by_hand.protect(CARD)
    assert by_rules.mask(CARD) == "************1111"


def test_rules_say_what_becomes_of_bad_values() -> None:
    own = keywright.Format.from_rules(RULES, "opened", MASTER)
    rows = {"id": ["1", "2"]}
    made = own.protect_batch(["2000-01-01", "yesterday"], rows=rows)
    assert made[0] is not None and made[1] is None
    assert code(lambda: own.protect_batch(["2000-01-01", "yesterday"], rows=rows, on_bad="fail")) == "symbol"


def test_rules_that_reject_are_asked_for_by_name() -> None:
    rules = 'version = 1\n[[column]]\nname = "c"\nformat = "card"\non_bad = "reject"\n'
    own = keywright.Format.from_rules(rules, "c", MASTER)
    assert own.on_bad == "reject"
    # Another answer than a column has to be asked for.
    assert code(lambda: own.protect_batch([CARD, "x"])) == "symbol"
    made, rejected = own.protect_batch([CARD, "x", None, ""], on_bad="reject")
    assert (made, rejected) == ([own.protect(CARD), None, None, ""], [1])
    assert own.reveal_batch(made, on_bad="reject") == ([CARD, None, None, ""], [])


@pytest.mark.parametrize("chunks", [1, 3])
def test_rejected_rows_are_told_of_arrays(card: keywright.Format, chunks: int) -> None:
    values = [CARD, None, "x", CARD, "4111111111111112", ""]
    array = pa.chunked_array([pa.array(values)] * chunks)
    made, rejected = card.protect_batch(array, on_bad="reject")
    assert rejected == [row + 6 * chunk for chunk in range(chunks) for row in (2, 4)]
    assert made.to_pylist() == [card.protect(CARD), None, None, card.protect(CARD), None, ""] * chunks
    assert card.protect_batch(pa.array(values), on_bad="reject")[1] == [2, 4]


def test_a_column_that_is_masked_for_good() -> None:
    own = keywright.Format.from_rules(RULES, "note", MASTER)
    assert own.masked and not keywright.Format("card").masked
    assert own.protect_batch(["anything", None, ""]) == [None, None, None]
    assert own.protect_batch(["anything"], on_bad="reject") == ([None], [])
    assert own.protect("anything") == ""
    assert own.protect_batch(pa.array(["a", None])).to_pylist() == own.mask_batch(pa.array(["a", None])).to_pylist()
    for call in (lambda: own.reveal("x"), lambda: own.reveal_batch(["x"])):
        assert code(call) == "masked"
    missing: list[Callable[[], object]] = [lambda: own.canonical, own.describe, lambda: own.check("x")]
    for ask in missing:
        assert code(ask) == "format_missing"
    hashed = keywright.Format.from_rules(RULES.replace('mask = "null"', 'mask = "hash"'), "note", MASTER)
    assert len(hashed.protect("anything")) == 32
    rules = RULES.replace('mask = "null"', 'mask = "hash"')
    assert code(lambda: keywright.Format.from_rules(rules, "note")) == "mask_key"


@pytest.mark.parametrize(
    ("rules", "column", "expected"),
    [
        (RULES, "absent", "column_unknown"),
        ("version = 2", "a", "format_text"),
        ("version =", "a", "format_text"),
        ("", "a", "format_text"),
    ],
)
def test_wrong_rules_are_refused(rules: str, column: str, expected: str) -> None:
    assert code(lambda: keywright.Format.from_rules(rules, column, MASTER)) == expected


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("", {}, "format_text"),
        ("cards", {}, "format_text"),
        ("card(keep=last5)", {}, "format_text"),
        ('"fixed"', {}, "format_text"),
        ("date(from=1900-01-01, to=2099-12-31)", {}, "domain_floor"),
        ("card(keep=bin6-last4, length=16)", {}, "domain_floor"),
        ("card", {"tweak": "column column"}, "format_text"),
        ("card", {"tweak": "none"}, "tweak_empty"),
        ("card", {"mask": "last(x)"}, "format_text"),
        ("card", {"cipher": "aes"}, "cipher"),
        ("card", {"mode": "ff9"}, "mode"),
        ("card", {"backend": "none"}, "backend_unknown"),
        ("card", {"column": ""}, "column_missing"),
    ],
)
def test_wrong_formats_are_refused(text: str, options: dict[str, Any], expected: str) -> None:
    options = {"column": "c"} | options
    assert code(lambda: keywright.Format(text, MASTER, **options)) == expected


@pytest.mark.parametrize("length", [0, 16, 31, 33])
def test_a_version_key_has_32_bytes(length: int) -> None:
    assert code(lambda: keywright.Format("card", bytes(length), column="c")) == "key_size"


def test_a_raw_key_of_another_size_cannot_derive_tweaks() -> None:
    assert code(lambda: keywright.Format("card", bytes(16), column="c", raw=True)) == "tweak_raw"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("4111111111111112", "check_digit"),
        ("411111111111111", "check_digit"),
        ("4111", "length"),
        ("4111-1111-1111-111x", "symbol"),
        ("x", "symbol"),
        ("4" * 30, "length"),
        (" " * 16, "length"),
    ],
)
def test_values_that_do_not_fit_are_refused(card: keywright.Format, value: str, expected: str) -> None:
    assert card.check(value) == expected
    assert card.check_batch([CARD, value, None]) == [None, expected, None]
    assert code(lambda: card.protect(value)) == expected
    with pytest.raises(keywright.ValueRefused) as raised:
        card.protect_batch([CARD, value, CARD, value])
    assert (raised.value.code, raised.value.row, raised.value.count) == (expected, 1, 2)
    assert raised.value.misfits == ((1, expected), (3, expected))
    assert card.protect_batch([CARD, value], on_bad="null") == [card.protect(CARD), None]


def test_on_bad_never_lets_a_value_through(card: keywright.Format) -> None:
    assert code(lambda: card.protect_batch(["x"], on_bad="pass")) == "on_bad"  # type: ignore[call-overload]


def test_a_marked_token_is_told_from_a_card() -> None:
    own = keywright.Format("card(luhn=break)", MASTER, column="c")
    token = own.protect(CARD)
    assert keywright.Format("card").check(token) == "check_digit"
    assert code(lambda: own.reveal(CARD)) == "check_digit"


@pytest.mark.parametrize("value", [4111, None, [CARD], 1.5])
def test_values_of_other_types_are_refused(card: keywright.Format, value: Any) -> None:
    with pytest.raises(TypeError):
        card.protect(value)
    with pytest.raises(TypeError):
        card.protect_batch([[value]])  # type: ignore[list-item]


def test_a_format_without_a_key_describes_and_checks() -> None:
    own = keywright.Format("card(keep=last4, length=16)")
    said = own.describe()
    assert (said["most_values"], said["radix"], said["digits"]) == (10**11, 10, 11)
    assert own.check(said["example"]) is None
    assert own.tweak is None
    for call in (lambda: own.protect(CARD), lambda: own.reveal_batch([CARD])):
        assert code(call) == "key_missing"
    assert code(lambda: own.mask(CARD)) == "mask_missing"


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ("last(4)", "************1111"),
        ("first6", "411111**********"),
        ("ends(6, 4)", "411111******1111"),
        ("truncate(4)", "4111"),
        ('fixed("card")', "card"),
    ],
)
def test_masks(mask: str, expected: str) -> None:
    own = keywright.Format("card", mask=mask)
    assert own.mask(CARD) == expected
    assert own.mask_batch([CARD, None, ""]) == [expected, None, None]


def test_a_keyed_mask_needs_its_key() -> None:
    own = keywright.Format("card", MASTER, column="a", mask="hash")
    other = keywright.Format("card", MASTER, column="b", mask="hash")
    assert own.mask(CARD) == own.mask_batch([CARD])[0] != other.mask(CARD)
    assert len(own.mask(CARD)) == 32
    assert code(lambda: keywright.Format("card", mask="hash")) == "mask_key"


def test_suggestions_name_what_fits_and_nothing_else() -> None:
    found = keywright.suggest([CARD, OTHER_CARD, None] * 5)
    assert found[0][0].startswith("card@1")
    assert found[0][1:] == (10, 10)
    assert keywright.suggest([]) == []
    assert all(CARD not in text for text, _, _ in found)


def test_a_closed_format_keeps_no_key(card: keywright.Format) -> None:
    card.close()
    for call in (lambda: card.protect(CARD), lambda: card.reveal_batch([CARD]), lambda: card.mask(CARD)):
        assert code(call) == "closed"
    assert card.check(CARD) is None


def test_a_format_is_not_pickled(card: keywright.Format) -> None:
    with pytest.raises(TypeError):
        pickle.dumps(card)
