"""Read by mypy alone: what the stubs promise, and what they refuse. An ignored error that does not occur is one."""

from typing import Any, assert_type

import keywright
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

fpe = keywright.Fpe(bytes(16), mode="ff3-1", allow_legacy_encrypt=True)
assert_type(fpe.encrypt("1234567", b"tweak"), str)
assert_type(fpe.decrypt([1, 2, 3], b"tweak"), list[int])
assert_type(fpe.encrypt_batch(["1234567"], b"tweak"), list[str])
assert_type(fpe.encrypt_batch([b"1234567"], [b"tweak"]), list[bytes])
assert_type(fpe.encrypt_batch([[1, 2, 3]], b"tweak", threads=2), list[list[int]])
assert_type(fpe.lengths, tuple[int, int])
digits: NDArray[np.uint8] = np.zeros((2, 16), dtype=np.uint8)
assert_type(fpe.decrypt_batch(digits, b"tweak"), NDArray[np.uint8])

card = keywright.Format("card", bytearray(32), column="card", mask="last4")
assert_type(card.protect("4111111111111111"), str)
assert_type(card.protect(b"4111111111111111"), bytes)
assert_type(card.protect_batch(["4111111111111111"]), list[str])
assert_type(card.reveal_batch(pa.array(["4111111111111111"])), Any)
assert_type(card.check("4111"), str | None)
assert_type(card.describe()["most_values"], int | None)
assert_type(keywright.suggest(["4111"]), list[tuple[str, int, int]])

try:
    card.protect("4111")
except keywright.ValueRefused as error:
    assert_type(error.misfits, tuple[tuple[int, str], ...])
    assert_type(error.row, int | None)

keywright.Fpe("0" * 16)  # type: ignore[arg-type]
keywright.Fpe(bytes(16), mode="ff2")  # type: ignore[arg-type]
keywright.Fpe(bytes(16), "ff1")  # type: ignore[call-arg]
keywright.Fpe(bytes(16), modus="ff1")  # type: ignore[call-arg]
keywright.Format("card", "key")  # type: ignore[arg-type]
keywright.Format("card", bytes(32), cipher="aes")  # type: ignore[arg-type]
fpe.encrypt(1234567, b"tweak")  # type: ignore[call-overload]
fpe.encrypt("1234567", "tweak")  # type: ignore[call-overload]
fpe.encrypt_batch("1234567", b"tweak")  # type: ignore[call-overload]
fpe.encrypt_batch(["1234567"])  # type: ignore[call-overload]
fpe.radix = 10  # type: ignore[misc]
card.protect(4111)  # type: ignore[type-var]
card.protect_batch(["4111"], on_bad="pass")  # type: ignore[call-overload]
card.protect_batch(4111)  # type: ignore[call-overload]
keywright.wipe(bytes(16))  # type: ignore[arg-type]
keywright.ValueRefused("text")  # type: ignore[call-arg]


class Own(keywright.Fpe):  # type: ignore[misc]
    """A key object is final."""
