"""Exceptions have stable codes, cross processes, and hold no value."""

from __future__ import annotations

import pickle
import traceback
from typing import Any

import keywright
import pyarrow as pa
import pytest

from conftest import CARD, MASTER

SECRET = "4242424242424243"
KEY = bytes.fromhex("5ec2e7" * 10 + "5ec2")


def failures() -> list[Any]:
    fpe = keywright.Fpe(KEY[:16])
    own = keywright.Format("card", KEY, column="c")
    tweak = b"a-secret-tweak"
    return [
        lambda: own.protect(SECRET),
        lambda: own.protect(SECRET.encode()),
        lambda: own.protect_batch([SECRET]),
        lambda: own.protect_batch(pa.array([CARD, SECRET])),
        lambda: own.protect_batch([SECRET, 7]),  # type: ignore[list-item]
        lambda: own.protect_batch([int(SECRET)]),  # type: ignore[list-item]
        lambda: own.protect(int(SECRET)),  # type: ignore[type-var]
        lambda: own.protect_batch(SECRET),
        lambda: own.protect_batch(pa.array([int(SECRET)])),
        lambda: own.reveal(SECRET),
        lambda: fpe.encrypt(SECRET + "x", tweak),
        lambda: fpe.encrypt(f"{SECRET}\ud800", tweak),
        lambda: fpe.encrypt([int(SECRET)] * 7, tweak),
        lambda: fpe.encrypt_batch([[42, 42, 42, 42, 42, 42, 42]], tweak),
        lambda: fpe.encrypt_batch(["1234567", SECRET + "x"], tweak),
        lambda: fpe.encrypt_batch([SECRET], [tweak, tweak]),
        lambda: fpe.encrypt(SECRET, tweak * 6_000),
        lambda: keywright.Format("card", KEY[:31], column="c"),
        lambda: keywright.Fpe(KEY[:31]),
        lambda: keywright.Fpe(KEY.hex()),  # type: ignore[arg-type]
        lambda: keywright.wipe(KEY),  # type: ignore[arg-type]
    ]


@pytest.mark.parametrize("number", range(len(failures())))
def test_no_message_holds_a_value_a_tweak_or_a_key(number: int) -> None:
    with pytest.raises((keywright.Error, TypeError)) as raised:
        failures()[number]()
    told = f"{raised.value!r} {raised.value} {raised.value.args} {vars(raised.value)}"
    told += "".join(traceback.format_exception_only(raised.value))
    cause: BaseException | None = raised.value
    while cause is not None:
        told += f"{cause!r} {cause.args}"
        cause = cause.__cause__ or cause.__context__
    for secret in (SECRET, SECRET[:8], "a-secret-tweak", "5ec2e7"):
        assert secret not in told


@pytest.mark.parametrize(
    ("call", "own", "builtin"),
    [
        (lambda: keywright.Format("cards"), keywright.ParameterError, ValueError),
        (lambda: keywright.Fpe(b""), keywright.ParameterError, ValueError),
        (lambda: keywright.Format("card", MASTER, column="c").protect("1"), keywright.ValueRefused, ValueError),
        (lambda: keywright.Fpe(bytes(16)).encrypt(CARD), keywright.PolicyError, Exception),
    ],
)
def test_every_error_is_of_the_package_and_of_a_class_that_fits(call: Any, own: Any, builtin: Any) -> None:
    with pytest.raises(own) as raised:
        call()
    assert isinstance(raised.value, keywright.Error) and isinstance(raised.value, builtin)
    assert raised.value.code.isascii() and " " not in raised.value.code


@pytest.mark.parametrize(
    "error",
    [
        keywright.ParameterError("a text", "a_code"),
        keywright.PolicyError("a text", "a_code", 7),
        keywright.BackendError("a text", "a_code"),
        keywright.ValueRefused("a text", "a_code", 7, [(7, "a_code")], 3),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_crosses_to_another_process(error: keywright.Error) -> None:
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert (str(back), vars(back)) == (str(error), vars(error))


def test_a_hundred_misfits_are_listed_and_all_counted(card: keywright.Format) -> None:
    with pytest.raises(keywright.ValueRefused) as raised:
        card.protect_batch(["x"] * 1_000)
    assert (len(raised.value.misfits), raised.value.count) == (100, 1_000)
