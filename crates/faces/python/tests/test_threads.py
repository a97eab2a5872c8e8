"""Other Python threads run while a batch does, and one object serves many threads."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import keywright
import numpy as np
import pyarrow as pa
import pytest

from conftest import CARD

TWEAK = b"9876543"
ROWS = 20_000


@pytest.fixture
def never_forced() -> Iterator[None]:
    """No thread is made to let go of the interpreter: another runs only if a call lets it."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(3_600)
    yield
    sys.setswitchinterval(before)


def runs_beside(call: Callable[[], Any], attempts: int) -> bool:
    """Whether another thread got to run inside one of so many calls."""
    begin, seen = threading.Event(), []

    def other() -> None:
        begin.wait()
        seen.append(True)

    thread = threading.Thread(target=other)
    thread.start()
    begin.set()
    made = False
    for _ in range(attempts):
        call()
        made = bool(seen)
        if made:
            break
    thread.join()
    return made


ARRAY = pa.array([CARD] * ROWS)
LARGE = ARRAY.cast(pa.large_string())
NUMPY = np.array([CARD.encode()] * ROWS)
DIGITS = np.ones((ROWS, 16), dtype=np.uint8)
LIST = [CARD] * ROWS

BATCHES: dict[str, Callable[[keywright.Fpe, keywright.Format], Any]] = {
    "format-arrow": lambda fpe, card: card.protect_batch(ARRAY),
    "format-large": lambda fpe, card: card.reveal_batch(LARGE),
    "format-numpy": lambda fpe, card: card.protect_batch(NUMPY),
    "format-list": lambda fpe, card: card.protect_batch(LIST),
    "fpe-arrow": lambda fpe, card: fpe.encrypt_batch(ARRAY, TWEAK),
    "fpe-numpy": lambda fpe, card: fpe.decrypt_batch(NUMPY, TWEAK),
    "fpe-digits": lambda fpe, card: fpe.encrypt_batch(DIGITS, TWEAK),
    "fpe-list": lambda fpe, card: fpe.encrypt_batch(LIST, TWEAK),
}


@pytest.mark.parametrize("name", BATCHES)
def test_a_batch_lets_other_threads_run(
    name: str, fpe: keywright.Fpe, card: keywright.Format, never_forced: None
) -> None:
    batch = BATCHES[name]
    assert runs_beside(lambda: batch(fpe, card), 2_000)


def test_what_does_not_let_go_is_told_apart(never_forced: None) -> None:
    """The test above can fail: pure Python work lets nobody in."""
    assert not runs_beside(lambda: sum(range(1_000)), 2_000)


def test_one_object_serves_many_threads(fpe: keywright.Fpe, card: keywright.Format) -> None:
    values = [f"{number:016}" for number in range(2_000)]
    array, expected = pa.array(values), fpe.encrypt_batch(values, TWEAK)
    cards = pa.array([CARD] * 2_000)
    results: list[bool] = []

    def work() -> None:
        for _ in range(20):
            results.append(fpe.encrypt_batch(array, TWEAK).to_pylist() == expected)
            results.append(card.reveal_batch(card.protect_batch(cards)).equals(cards))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 160


def test_closing_does_not_disturb_a_call_that_runs(fpe: keywright.Fpe) -> None:
    array = pa.array([CARD] * 200_000)
    made: list[Any] = []

    def work() -> None:
        try:
            made.append(fpe.encrypt_batch(array, TWEAK).to_pylist())
        except keywright.ParameterError as error:
            made.append(error.code)

    thread = threading.Thread(target=work)
    thread.start()
    fpe.close()
    thread.join()
    # Either it came first and is whole, or it was refused: never half a result.
    assert made in (["closed"], [["0049466176981546"] * 200_000])
