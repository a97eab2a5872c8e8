"""`keywright.Fpe`: values, lists, tweaks, policies and what is refused."""

from __future__ import annotations

import pickle
from typing import Any

import keywright
import pytest

from conftest import CARD

KEY = bytes(range(16))
TWEAK = b"9876543"


def code(call: Any) -> str:
    with pytest.raises(keywright.Error) as raised:
        call()
    return raised.value.code


def test_a_stated_value(fpe: keywright.Fpe) -> None:
    assert fpe.encrypt(CARD, TWEAK) == "0049466176981546"
    assert fpe.decrypt("0049466176981546", TWEAK) == CARD


def test_digits_and_text_are_one(fpe: keywright.Fpe) -> None:
    made = fpe.encrypt([int(symbol) for symbol in CARD], TWEAK)
    assert "".join(map(str, made)) == fpe.encrypt(CARD, TWEAK)
    assert fpe.decrypt(made, TWEAK) == [int(symbol) for symbol in CARD]


def test_the_tweak_is_that_of_the_call(fpe: keywright.Fpe) -> None:
    assert fpe.encrypt(CARD, b"a") != fpe.encrypt(CARD, b"b")


def test_a_list_is_its_values_one_by_one(fpe: keywright.Fpe) -> None:
    values = [CARD, "1234567", None, "00000000", "9" * 40]
    made = fpe.encrypt_batch(values, TWEAK)
    assert made == [value if value is None else fpe.encrypt(value, TWEAK) for value in values]
    assert fpe.decrypt_batch(made, TWEAK) == values


def test_a_tweak_for_each_value(fpe: keywright.Fpe) -> None:
    values = [CARD, None, CARD, "7654321"]
    tweaks: list[bytes | bytearray | memoryview] = [b"a", b"", b"bc", bytearray(b"d")]
    made = fpe.encrypt_batch(values, tweaks)
    assert made == [fpe.encrypt(CARD, b"a"), None, fpe.encrypt(CARD, b"bc"), fpe.encrypt("7654321", b"d")]
    assert fpe.decrypt_batch(made, tweaks) == values


def test_lists_of_digits(fpe: keywright.Fpe) -> None:
    values = [[4, 1, 1, 1, 1, 1, 1, 1], [0] * 20]
    made = fpe.encrypt_batch(values, TWEAK)
    assert made == [fpe.encrypt(value, TWEAK) for value in values]
    assert fpe.decrypt_batch(made, TWEAK) == values


def test_bytes_stay_bytes(fpe: keywright.Fpe) -> None:
    assert fpe.encrypt_batch([CARD.encode()], TWEAK) == [fpe.encrypt(CARD, TWEAK).encode()]


def test_an_alphabet_beyond_ascii() -> None:
    own = keywright.Fpe(KEY, alphabet="αβγδεζηθικλμνξοπρστυφχψω")
    values = ["καλημερα", "κοσμε"]
    made = own.encrypt_batch(values, TWEAK)
    assert made == [own.encrypt(value, TWEAK) for value in values]
    assert own.decrypt_batch(made, TWEAK) == values
    assert [len(value) for value in made] == [8, 5]


def test_threads_change_nothing(fpe: keywright.Fpe) -> None:
    values = [f"{number:09}" for number in range(5_000)]
    assert fpe.encrypt_batch(values, TWEAK, threads=3) == fpe.encrypt_batch(values, TWEAK)


def test_what_it_says_of_itself() -> None:
    own = keywright.Fpe(KEY, radix=36, mode="ff3-1")
    assert (own.mode, own.radix, own.cipher, own.alphabet) == ("ff3-1", 36, "aes", None)
    assert own.lengths == (4, 36)
    assert KEY.hex() not in repr(own)


@pytest.mark.parametrize("length", [0, 1, 15, 17, 31, 33, 64])
def test_keys_of_other_lengths_are_refused(length: int) -> None:
    assert code(lambda: keywright.Fpe(bytes(length))) == "key_size"


@pytest.mark.parametrize("key", ["0" * 16, 16, None, [0] * 16])
def test_keys_are_bytes(key: Any) -> None:
    with pytest.raises(TypeError):
        keywright.Fpe(key)


@pytest.mark.parametrize("key", [bytes(16), bytearray(16), memoryview(bytes(16))])
def test_every_buffer_of_bytes_is_a_key(key: Any) -> None:
    assert keywright.Fpe(key).encrypt(CARD, TWEAK) == keywright.Fpe(bytes(16)).encrypt(CARD, TWEAK)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"mode": "ff2"}, "mode"),
        ({"mode": "FF1"}, "mode"),
        ({"cipher": "des"}, "cipher"),
        ({"radix": 1}, "radix_range"),
        ({"radix": 65_537}, "radix_range"),
        ({"alphabet": "0"}, "alphabet_size"),
        ({"alphabet": "0123456780"}, "alphabet_duplicate"),
        ({"alphabet": "01", "radix": 3}, "alphabet_radix"),
        ({"backend": "fastest"}, "backend_unknown"),
        ({"backend": "sm4-aesni"}, "backend_unavailable"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], expected: str) -> None:
    assert code(lambda: keywright.Fpe(KEY, **options)) == expected


@pytest.mark.parametrize("options", [{"modus": "ff1"}, {"accept_small_domains": True}, {"radix": "10"}])
def test_unknown_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        keywright.Fpe(KEY, **options)


@pytest.mark.parametrize(
    ("value", "tweak", "expected"),
    [
        ("12345", TWEAK, "domain_floor"),
        ("", TWEAK, "domain_floor"),
        ("1234567a", TWEAK, "symbol_unknown"),
        ("1234567\u0664", TWEAK, "symbol_unknown"),
        (CARD, b"", "tweak_empty"),
        (CARD, bytes(65_536), "tweak_length"),
        ([1, 2, 3, 4, 5, 6, 10], TWEAK, "digit_range"),
    ],
)
def test_wrong_values_are_refused(fpe: keywright.Fpe, value: Any, tweak: bytes, expected: str) -> None:
    assert code(lambda: fpe.encrypt(value, tweak)) == expected
    assert code(lambda: fpe.decrypt(value, tweak)) == expected


@pytest.mark.parametrize("value", [4111, 4.5, None, [1, "2"], [-1] * 8, {"a": 1}])
def test_values_of_other_types_are_refused(fpe: keywright.Fpe, value: Any) -> None:
    with pytest.raises(TypeError):
        fpe.encrypt(value, TWEAK)


@pytest.mark.parametrize(
    ("values", "tweak", "expected", "row"),
    [
        ([CARD, "12345"], TWEAK, "domain_floor", 1),
        ([CARD, None, "x" * 9], TWEAK, "symbol_unknown", 2),
        ([[1] * 9, [10] * 9], TWEAK, "digit_range", 1),
        ([CARD, CARD], [b"a"], "tweak_parts", None),
        ([CARD, CARD], [b"a", b""], "tweak_empty", 1),
    ],
)
def test_a_bad_row_is_named(
    fpe: keywright.Fpe, values: list[Any], tweak: Any, expected: str, row: int | None
) -> None:
    with pytest.raises(keywright.Error) as raised:
        fpe.encrypt_batch(values, tweak)
    assert (raised.value.code, raised.value.row) == (expected, row)


@pytest.mark.parametrize("values", [CARD, 7, None, {CARD}, iter([CARD]), [CARD, 7], [CARD, 1.5]])
def test_a_batch_is_a_list_or_an_array(fpe: keywright.Fpe, values: Any) -> None:
    with pytest.raises(TypeError):
        fpe.encrypt_batch(values, TWEAK)


@pytest.mark.parametrize("threads", [0, 1_025])
def test_numbers_of_threads_have_limits(fpe: keywright.Fpe, threads: int) -> None:
    assert code(lambda: fpe.encrypt_batch([CARD], TWEAK, threads=threads)) == "threads"


@pytest.mark.parametrize(("mode", "tweak"), [("ff3", bytes(8)), ("ff3-1", bytes(7))])
def test_old_modes_read_and_write_only_if_told(mode: Any, tweak: bytes) -> None:
    reader = keywright.Fpe(KEY, mode=mode)
    writer = keywright.Fpe(KEY, mode=mode, allow_legacy_encrypt=True)
    token = writer.encrypt(CARD, tweak)
    assert reader.decrypt(token, tweak) == CARD
    assert code(lambda: reader.encrypt(CARD, tweak)) == "encrypt_refused"
    assert code(lambda: reader.encrypt_batch([CARD], tweak)) == "encrypt_refused"
    assert code(lambda: reader.decrypt(token, tweak[1:])) == "tweak_length"


def test_what_fpec_wrote_is_read_and_never_written() -> None:
    own = keywright.Fpe(KEY, mode="fpec-ff3-1", allow_legacy_encrypt=True)
    assert own.decrypt(CARD, bytes(7)) == keywright.Fpe(KEY, mode="ff3-1").decrypt(CARD, bytes(7))
    assert code(lambda: own.encrypt(CARD, bytes(7))) == "encrypt_refused"


def test_small_domains_are_opened_by_name_and_not_below_a_hundred() -> None:
    own = keywright.Fpe(KEY, accept_small_domain=True)
    assert own.decrypt(own.encrypt("123", TWEAK), TWEAK) == "123"
    assert code(lambda: own.encrypt("1", TWEAK)) == "domain_floor"


def test_text_needs_an_alphabet() -> None:
    own = keywright.Fpe(KEY, radix=10)
    assert own.encrypt([1] * 8, TWEAK) != [1] * 8
    assert code(lambda: own.encrypt(CARD, TWEAK)) == "alphabet_missing"
    assert code(lambda: own.encrypt_batch([CARD], TWEAK)) == "alphabet_missing"


def test_a_closed_key_is_gone() -> None:
    with keywright.Fpe(KEY) as own:
        assert own.encrypt(CARD, TWEAK)
    for call in (
        lambda: own.encrypt(CARD, TWEAK),
        lambda: own.decrypt_batch([CARD], TWEAK),
        lambda: own.radix,
    ):
        assert code(call) == "closed"
    assert repr(own) == "<keywright.Fpe, closed>"


def test_a_key_is_not_pickled(fpe: keywright.Fpe) -> None:
    with pytest.raises(TypeError):
        pickle.dumps(fpe)


def test_what_can_be_wiped_is_wiped() -> None:
    key = bytearray(b"k" * 16)
    own = keywright.Fpe(key)
    token = own.encrypt(CARD, TWEAK)
    keywright.wipe(key)
    assert key == bytearray(16)
    # The key object has a copy of its own.
    assert own.decrypt(token, TWEAK) == CARD


@pytest.mark.parametrize("buffer", [b"secret", memoryview(b"secret"), "secret", 7, [1, 2]])
def test_what_cannot_be_wiped_is_refused(buffer: Any) -> None:
    with pytest.raises((TypeError, BufferError)):
        keywright.wipe(buffer)
