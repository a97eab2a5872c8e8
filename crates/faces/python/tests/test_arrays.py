"""NumPy and Arrow arrays give what lists give, are not copied, and are refused where they do not fit."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import keywright
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from conftest import CARD, MASTER, OTHER_CARD

TWEAK = b"9876543"
VALUES = [CARD, None, OTHER_CARD, "", "378282246310005", None]
TYPES = [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()]


def arrow(values: list[Any], own: pa.DataType) -> pa.Array:
    encoded = [value.encode() if isinstance(value, str) else value for value in values]
    return pa.array(encoded, pa.binary()).cast(own)


def texts(array: Any) -> list[Any]:
    return [value.decode() if isinstance(value, bytes) else value for value in array.to_pylist()]


@pytest.mark.parametrize("own", TYPES, ids=str)
def test_an_arrow_array_is_its_list(card: keywright.Format, own: pa.DataType) -> None:
    array = arrow(VALUES, own)
    made = card.protect_batch(array)
    made.validate(full=True)
    assert (made.type, made.null_count) == (own, 2)
    assert texts(made) == card.protect_batch(VALUES)
    assert texts(card.reveal_batch(made)) == VALUES


@pytest.mark.parametrize("own", TYPES, ids=str)
def test_a_slice_is_that_part(card: keywright.Format, own: pa.DataType) -> None:
    array = arrow([None, "junk", *VALUES, "junk"], own)[2:-1]
    assert texts(card.protect_batch(array)) == card.protect_batch(VALUES)


@pytest.mark.parametrize("own", TYPES, ids=str)
def test_fpe_over_arrow_is_fpe_over_a_list(fpe: keywright.Fpe, own: pa.DataType) -> None:
    values = [CARD, None, "1234567", "00000000000", None]
    made = fpe.encrypt_batch(arrow(values, own)[1:], TWEAK)
    made.validate(full=True)
    assert texts(made) == fpe.encrypt_batch(values[1:], TWEAK)
    assert texts(fpe.decrypt_batch(made, TWEAK)) == values[1:]


def test_fixed_size_binary(card: keywright.Format, fpe: keywright.Fpe) -> None:
    array = arrow([CARD, None, OTHER_CARD], pa.binary(16))
    made = card.protect_batch(array)
    assert made.type == pa.binary(16)
    assert texts(made) == card.protect_batch([CARD, None, OTHER_CARD])
    assert texts(card.reveal_batch(made[1:])) == [None, OTHER_CARD]
    assert texts(fpe.encrypt_batch(array, TWEAK)) == fpe.encrypt_batch([CARD, None, OTHER_CARD], TWEAK)


def test_a_result_that_is_no_longer_of_the_width_is_refused() -> None:
    own = keywright.Format("int(min=0, max=9999999)", MASTER, column="c")
    with pytest.raises(keywright.ParameterError) as raised:
        own.protect_batch(arrow([str(number) for number in range(1_000_000, 1_000_050)], pa.binary(7)))
    assert raised.value.code == "array_width"


def test_what_lies_behind_a_null_is_neither_judged_nor_shown(card: keywright.Format) -> None:
    whole = pa.array([CARD, "not a card", OTHER_CARD])
    bitmap = pa.py_buffer(bytes([0b101]))
    array = pa.Array.from_buffers(pa.string(), 3, [bitmap, *whole.buffers()[1:]])
    assert card.protect_batch(array).to_pylist() == card.protect_batch([CARD, None, OTHER_CARD])
    fpe = keywright.Fpe(bytes(16))
    assert fpe.encrypt_batch(array, TWEAK).to_pylist() == fpe.encrypt_batch([CARD, None, OTHER_CARD], TWEAK)


def test_columns_in_several_arrays(card: keywright.Format, fpe: keywright.Fpe) -> None:
    column = pa.chunked_array([[CARD, None], [], [OTHER_CARD, CARD]])
    made = card.protect_batch(column)
    assert isinstance(made, pa.ChunkedArray) and made.num_chunks == 3
    assert made.to_pylist() == card.protect_batch(column.to_pylist())
    assert fpe.encrypt_batch(column, TWEAK).to_pylist() == fpe.encrypt_batch(column.to_pylist(), TWEAK)
    masked = keywright.Format("card", mask="last4").mask_batch(column)
    assert masked.to_pylist() == ["************1111", None, "************0004", "************1111"]


def test_the_row_of_a_later_array_counts_from_the_first(card: keywright.Format) -> None:
    with pytest.raises(keywright.ValueRefused) as raised:
        card.protect_batch(pa.chunked_array([[CARD, CARD], [CARD, "x"]]))
    assert (raised.value.row, raised.value.misfits) == (3, ((3, "symbol"),))
    assert "row 3" in str(raised.value)


def test_rows_of_the_tweak_may_be_cut_elsewhere() -> None:
    own = keywright.Format("card", MASTER, column="c", tweak="column row(id)")
    column, ids = pa.chunked_array([[CARD], [CARD, CARD]]), ["1", "2", "3"]
    expected = own.protect_batch([CARD] * 3, rows={"id": ids})
    for rows in (pa.chunked_array([["1", "2"], ["3"]]), pa.array(ids), ids):
        assert own.protect_batch(column, rows={"id": rows}).to_pylist() == expected
    with pytest.raises(keywright.ParameterError):
        own.protect_batch(column, rows={"id": pa.array(["1", "2"])})


def test_bad_values_become_null_if_asked(card: keywright.Format) -> None:
    made = card.protect_batch(pa.array([CARD, "x", None, OTHER_CARD]), on_bad="null")
    assert made.to_pylist() == [card.protect(CARD), None, None, card.protect(OTHER_CARD)]


@pytest.mark.parametrize(
    "array",
    [
        pa.array([4111111111111111]),
        pa.array([1.5]),
        pa.array([True]),
        pa.array([[CARD]]),
        pa.array([CARD]).dictionary_encode(),
        pa.nulls(3),
        pa.record_batch({"a": [CARD]}),
        pa.table({"a": [CARD]}),
        pl.Series([CARD]),
        pd.Series([CARD]),
    ],
    ids=lambda array: type(array).__name__,
)
def test_other_arrays_are_refused(card: keywright.Format, fpe: keywright.Fpe, array: Any) -> None:
    with pytest.raises(TypeError):
        card.protect_batch(array)
    with pytest.raises(TypeError):
        fpe.encrypt_batch(array, TWEAK)


def test_arrays_that_lie_about_themselves_are_refused(card: keywright.Format) -> None:
    offsets = pa.py_buffer(np.array([0, 90, 32], dtype=np.int32))
    broken = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"4" * 32)])
    with pytest.raises(keywright.ParameterError) as raised:
        card.protect_batch(broken)
    assert raised.value.code == "arrow_invalid"


def test_a_text_that_is_none_fits_nothing(card: keywright.Format, fpe: keywright.Fpe) -> None:
    offsets = pa.py_buffer(np.array([0, 16], dtype=np.int32))
    array = pa.Array.from_buffers(pa.string(), 1, [None, offsets, pa.py_buffer(b"\xff" * 16)])
    greek = keywright.Fpe(bytes(16), alphabet="αβγδεζηθικλμνξοπρστυφχψω")
    expected: list[tuple[Callable[[], Any], str]] = [
        (lambda: card.protect_batch(array), "symbol"),
        (lambda: fpe.encrypt_batch(array, TWEAK), "symbol_unknown"),
        (lambda: greek.encrypt_batch(array, TWEAK), "not_utf8"),
    ]
    for call, code in expected:
        with pytest.raises(keywright.Error) as raised:
            call()
        assert raised.value.code == code
    assert card.protect_batch(array, on_bad="null").to_pylist() == [None]


def test_the_input_is_read_where_it_is(card: keywright.Format) -> None:
    array = pa.array([CARD] * 100_000)
    before = pa.total_allocated_bytes()
    made = card.protect_batch(array)
    # The result's memory is the library's own, and nothing is allocated in Arrow's pool for it or the input.
    assert pa.total_allocated_bytes() - before < 100_000
    assert made[0].as_py() == card.protect(CARD)


def test_threads_change_nothing(card: keywright.Format) -> None:
    values = [card.protect(CARD), CARD, None, OTHER_CARD] * 25_000
    array = pa.array(values)
    one = card.protect_batch(array)
    assert card.protect_batch(array, threads=3).equals(one)
    assert card.reveal_batch(one, threads=2).equals(array)
    bad = pa.array([*values, "x", *values, "y"])
    with pytest.raises(keywright.ValueRefused) as raised:
        card.protect_batch(bad, threads=4)
    assert [row for row, _ in raised.value.misfits] == [100_000, 200_001]


def test_fixed_width_bytes_of_numpy(card: keywright.Format, fpe: keywright.Fpe) -> None:
    array = np.array([CARD, OTHER_CARD, "378282246310005"], dtype="S")
    expected = [value.decode() for value in array.tolist()]
    made = card.protect_batch(array)
    assert made.dtype == array.dtype
    assert [value.decode() for value in made.tolist()] == card.protect_batch(expected)
    assert (card.reveal_batch(made) == array).all()
    even = array[:2]
    assert [value.decode() for value in fpe.encrypt_batch(even, TWEAK).tolist()] == fpe.encrypt_batch(
        expected[:2], TWEAK
    )
    # Every second one: no longer one after the other in memory.
    assert (card.protect_batch(array[::2]) == made[::2]).all()
    assert card.protect_batch(array[:0]).shape == (0,)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32])
def test_digits_of_numpy(fpe: keywright.Fpe, kind: Any) -> None:
    digits = (np.arange(5 * 16) % 10).reshape(5, 16).astype(kind)
    made = fpe.encrypt_batch(digits, TWEAK)
    assert (made.dtype, made.shape) == (digits.dtype, digits.shape)
    assert made.tolist() == fpe.encrypt_batch(digits.tolist(), TWEAK)
    assert (fpe.decrypt_batch(made, TWEAK) == digits).all()
    assert fpe.encrypt_batch(digits[:, ::2], TWEAK).tolist() == fpe.encrypt_batch(digits[:, ::2].tolist(), TWEAK)
    assert fpe.encrypt_batch(digits[:0], TWEAK).shape == (0, 16)


def test_an_array_that_may_not_be_written_to_is_read(card: keywright.Format) -> None:
    array = np.array([CARD.encode()] * 3)
    array.flags.writeable = False
    assert card.protect_batch(array).tolist() == [card.protect(CARD).encode()] * 3


@pytest.mark.parametrize(
    "array",
    [
        np.array([CARD]),
        np.array([CARD], dtype=object),
        np.array([4111111111111111]),
        np.array([1.5]),
        np.array([[CARD.encode()]]),
        np.zeros((2, 16), dtype=np.int64),
        np.zeros((2, 16), dtype=np.uint64),
        np.zeros((2, 2, 8), dtype=np.uint8),
        np.zeros(16, dtype=np.uint8),
        np.array(CARD.encode()),
        np.str_(CARD),
    ],
    ids=lambda array: f"{array.dtype}-{array.ndim}",
)
def test_other_numpy_arrays_are_refused(card: keywright.Format, fpe: keywright.Fpe, array: Any) -> None:
    with pytest.raises(TypeError):
        card.protect_batch(array)
    with pytest.raises(TypeError):
        fpe.encrypt_batch(array, TWEAK)


@pytest.mark.parametrize(
    ("array", "code", "row"),
    [
        (np.full((3, 16), 10, dtype=np.uint8), "digit_range", 0),
        (np.array([[1] * 8, [1] * 7 + [11]], dtype=np.uint16), "digit_range", 1),
        (np.zeros((3, 5), dtype=np.uint8), "domain_floor", 0),
        (np.array([CARD.encode(), b"1234567x"]), "symbol_unknown", 1),
    ],
)
def test_bad_rows_of_arrays_are_named(fpe: keywright.Fpe, array: Any, code: str, row: int) -> None:
    with pytest.raises(keywright.Error) as raised:
        fpe.encrypt_batch(array, TWEAK)
    assert raised.value.code == code
    assert raised.value.row in (row, None)


def test_a_radix_beyond_a_byte_needs_wider_numbers() -> None:
    own = keywright.Fpe(bytes(16), radix=1_000)
    wide = np.array([[999, 0, 17, 4]], dtype=np.uint16)
    assert (own.decrypt_batch(own.encrypt_batch(wide, TWEAK), TWEAK) == wide).all()
    with pytest.raises(keywright.ParameterError) as raised:
        own.encrypt_batch(wide.astype(np.uint8), TWEAK)
    assert raised.value.code == "numeral_width"


def test_empty_columns(card: keywright.Format, fpe: keywright.Fpe) -> None:
    assert card.protect_batch([]) == fpe.encrypt_batch([], TWEAK) == []
    for own in TYPES:
        assert card.protect_batch(pa.array([], own)).type == own
        assert len(fpe.encrypt_batch(pa.array([], own), TWEAK)) == 0
        assert card.protect_batch(pa.nulls(3, own)).null_count == 3
    assert len(card.protect_batch(pa.chunked_array([], pa.string()))) == 0


def test_columns_of_every_kind_agree_on_random_values(card: keywright.Format) -> None:
    rng = random.Random(20_251_121)
    kinds = [None, "", CARD, OTHER_CARD, "4111 1111 1111 1111", "not a card", "4111111111111112", "\u0664" * 16]
    for _ in range(200):
        values = rng.choices(kinds, k=rng.randrange(0, 40))
        start = rng.randrange(0, len(values) + 1)
        expected = card.protect_batch(values[start:], on_bad="null")
        for own in TYPES:
            sliced = arrow(values, own)[start:]
            assert texts(card.protect_batch(sliced, on_bad="null")) == expected
            cut = rng.randrange(0, len(sliced) + 1)
            pieces = pa.chunked_array([sliced[:cut], sliced[cut:]], own)
            assert texts(card.protect_batch(pieces, on_bad="null")) == expected
        bad = [row for row, code in enumerate(card.check_batch(values[start:])) if code]
        if bad:
            with pytest.raises(keywright.ValueRefused) as raised:
                card.protect_batch(arrow(values, pa.string())[start:])
            assert [row for row, _ in raised.value.misfits] == bad
