"""Format-preserving encryption and tokenisation.

`Fpe` turns a value of n digits into another value of n digits; `Format` turns a valid value of a format, such
as a card number, into another valid value of that format. Both take single values, lists, NumPy arrays and
Arrow arrays. `docs/python.md` of the project describes them.
"""

from keywright._errors import (
    BackendError,
    Error,
    ParameterError,
    PolicyError,
    ValueRefused,
)
from keywright._native import Format, Fpe, suggest, wipe

__all__ = [
    "BackendError",
    "Error",
    "Format",
    "Fpe",
    "ParameterError",
    "PolicyError",
    "ValueRefused",
    "suggest",
    "wipe",
]
