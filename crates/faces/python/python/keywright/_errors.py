"""What the package raises: whose fault it is, as a class; what it is, as a code that stays the same.

No message holds a value, a token, a tweak or a key. Positions and rows are what tells the reader where to look.
"""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """What all of them have.

    `code` is a word for programs, the same over versions. `row` is the row of a batch, from 0, if one alone is
    concerned.
    """

    code: str
    row: int | None

    def __init__(self, message: str, code: str, row: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.row = row

    # Exceptions cross from one process to another: from a worker of Spark, for instance.
    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.code, self.row)


class ParameterError(Error, ValueError):
    """An argument is wrong: a format's text, a radix, a length of a key or a tweak."""


class PolicyError(Error):
    """What was asked for has to be allowed by name: a small domain, an empty tweak, encryption with FF3."""


class BackendError(Error):
    """The machine cannot do it."""


class ValueRefused(Error, ValueError):
    """Values do not fit.

    `misfits` has the row and the code of the first hundred, `count` says how many there are.
    """

    misfits: tuple[tuple[int, str], ...]
    count: int

    def __init__(
        self,
        message: str,
        code: str,
        row: int | None = None,
        misfits: list[tuple[int, str]] | tuple[tuple[int, str], ...] = (),
        count: int = 1,
    ) -> None:
        super().__init__(message, code, row)
        self.misfits = tuple(misfits)
        self.count = max(count, 1)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.code, self.row, self.misfits, self.count)
