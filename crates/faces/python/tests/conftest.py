"""What the tests share: keys, the folder of foreign vectors, and the counting of cases."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Iterator

import keywright
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[4]
MASTER = bytes(range(32))
CARD = "4111111111111111"
OTHER_CARD = "5500000000000004"

# Cases of vector files: what passed, failed and was skipped. A file is one test and many cases.
_cases = [0, 0, 0]


class Tally:
    """Counts the cases of one file."""

    def __init__(self, name: str) -> None:
        self.name, self.total = name, 0
        self.failed: list[str] = []

    def check(self, case: object, holds: bool) -> None:
        self.total += 1
        if not holds:
            self.failed.append(str(case))

    def finish(self, expected: int) -> None:
        _cases[0] += self.total - len(self.failed)
        _cases[1] += len(self.failed)
        assert self.total == expected, f"{self.name}: {self.total} cases, {expected} expected"
        assert not self.failed, f"{self.name}: {len(self.failed)} cases fail: {self.failed[:5]}"


@pytest.fixture
def tally(request: pytest.FixtureRequest) -> Tally:
    return Tally(request.node.name)


@pytest.fixture
def family() -> Callable[[str, int], pathlib.Path]:
    """The folder of a family of foreign vectors. Without it so many cases count as skipped."""

    def locate(name: str, cases: int) -> pathlib.Path:
        named = os.environ.get("KEYWRIGHT_VECTORS")
        if not named:
            _cases[2] += cases - 1
            pytest.skip("KEYWRIGHT_VECTORS names no folder of vectors")
        folder = pathlib.Path(named) / name
        assert folder.is_dir(), f"no family {name} where KEYWRIGHT_VECTORS points"
        return folder

    return locate


@pytest.fixture
def fpe() -> Iterator[keywright.Fpe]:
    with keywright.Fpe(bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")) as engine:
        yield engine


@pytest.fixture
def card() -> Iterator[keywright.Format]:
    with keywright.Format("card", MASTER, column="card_number") as form:
        yield form


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The last line, as every runner of this project prints it: tests, and cases beyond the tests."""
    counts = {word: len(terminalreporter.stats.get(word, [])) for word in ("passed", "failed", "error", "skipped")}
    passed = counts["passed"] + _cases[0]
    failed = counts["failed"] + counts["error"] + _cases[1]
    skipped = counts["skipped"] + _cases[2]
    terminalreporter.write_line(f"counted {passed} passed, {failed} failed, {skipped} skipped")
