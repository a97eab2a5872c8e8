from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, Protocol, Self, TypedDict, TypeVar, final, overload, type_check_only

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

__all__ = ["Format", "Fpe", "rust_nanoseconds", "suggest", "wipe"]

_Mode = Literal["ff1", "ff3", "ff3-1", "fpec-ff3-1"]
_OnBad = Literal["fail", "null"]
_Tweak = bytes | bytearray | memoryview
_Cell = str | bytes | None

_Cells = TypeVar("_Cells", list[str], list[bytes], list[str | None], list[bytes | None])
_Text = TypeVar("_Text", str, bytes)
_Number = TypeVar("_Number", bound=np.uint8 | np.uint16 | np.uint32)

@type_check_only
class ArrowArray(Protocol):
    """An array of the Arrow C data interface. What comes back is an array of pyarrow."""

    def __arrow_c_array__(self, requested_schema: Any = None, /) -> tuple[Any, Any]: ...

@type_check_only
class ChunkedArray(Protocol):
    """A column of pyarrow in several arrays."""

    def __arrow_c_stream__(self, requested_schema: Any = None, /) -> Any: ...
    @property
    def chunks(self) -> list[Any]: ...

@type_check_only
class Description(TypedDict):
    canonical: str
    example: str
    keeps: bool
    least_values: int | None
    most_values: int | None
    least_bits: float
    most_bits: float
    radix: int | None
    digits: int | None
    tweak: str | None

@final
class Fpe:
    def __new__(
        cls,
        key: Buffer,
        *,
        mode: _Mode = "ff1",
        cipher: Literal["aes", "sm4"] = "aes",
        radix: int | None = None,
        alphabet: str | None = None,
        backend: str | None = None,
        accept_small_domain: bool = False,
        allow_empty_tweak: bool = False,
        allow_legacy_encrypt: bool = False,
        accept_loose_tweaks: bool = False,
    ) -> Self: ...
    @overload
    def encrypt(self, value: str, tweak: _Tweak | None = None) -> str: ...
    @overload
    def encrypt(self, value: Sequence[int], tweak: _Tweak | None = None) -> list[int]: ...
    @overload
    def decrypt(self, value: str, tweak: _Tweak | None = None) -> str: ...
    @overload
    def decrypt(self, value: Sequence[int], tweak: _Tweak | None = None) -> list[int]: ...
    @overload
    def encrypt_batch(
        self, values: _Cells, tweak: _Tweak | Sequence[_Tweak], *, threads: int = 1
    ) -> _Cells: ...
    @overload
    def encrypt_batch(
        self, values: list[list[int]], tweak: _Tweak | Sequence[_Tweak], *, threads: int = 1
    ) -> list[list[int]]: ...
    @overload
    def encrypt_batch(
        self, values: NDArray[np.bytes_], tweak: _Tweak | Sequence[_Tweak], *, threads: int = 1
    ) -> NDArray[np.bytes_]: ...
    @overload
    def encrypt_batch(
        self, values: NDArray[_Number], tweak: _Tweak | Sequence[_Tweak], *, threads: int = 1
    ) -> NDArray[_Number]: ...
    @overload
    def encrypt_batch(
        self, values: ArrowArray | ChunkedArray, tweak: _Tweak | Sequence[_Tweak], *, threads: int = 1
    ) -> Any: ...
    @overload
    def decrypt_batch(
        self, values: _Cells, tweak: _Tweak | Sequence[_Tweak], *, threads: int = 1
    ) -> _Cells: ...
    @overload
    def decrypt_batch(
        self, values: list[list[int]], tweak: _Tweak | Sequence[_Tweak], *, threads: int = 1
    ) -> list[list[int]]: ...
    @overload
    def decrypt_batch(
        self, values: NDArray[np.bytes_], tweak: _Tweak | Sequence[_Tweak], *, threads: int = 1
    ) -> NDArray[np.bytes_]: ...
    @overload
    def decrypt_batch(
        self, values: NDArray[_Number], tweak: _Tweak | Sequence[_Tweak], *, threads: int = 1
    ) -> NDArray[_Number]: ...
    @overload
    def decrypt_batch(
        self, values: ArrowArray | ChunkedArray, tweak: _Tweak | Sequence[_Tweak], *, threads: int = 1
    ) -> Any: ...
    @property
    def mode(self) -> _Mode: ...
    @property
    def radix(self) -> int: ...
    @property
    def cipher(self) -> Literal["aes", "sm4"]: ...
    @property
    def backend(self) -> str: ...
    @property
    def lengths(self) -> tuple[int, int]: ...
    @property
    def alphabet(self) -> str | None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        _type: type[BaseException] | None = None,
        _raised: BaseException | None = None,
        _traceback: TracebackType | None = None,
        /,
    ) -> None: ...

@final
class Format:
    def __new__(
        cls,
        format: str,
        key: Buffer | None = None,
        *,
        column: str = "",
        tweak: str = "column",
        cipher: Literal["aes-128", "aes-192", "aes-256", "sm4"] = "aes-256",
        mode: _Mode = "ff1",
        mask: str | None = None,
        backend: str | None = None,
        raw: bool = False,
        accept_small_domain: bool = False,
        allow_empty_tweak: bool = False,
        allow_legacy_encrypt: bool = False,
    ) -> Self: ...
    @staticmethod
    def from_rules(rules: str, column: str, key: Buffer | None = None) -> Format: ...
    def protect(
        self, value: _Text, *, rows: Mapping[str, str | bytes] | None = None, caller: bytes = b""
    ) -> _Text: ...
    def reveal(
        self, token: _Text, *, rows: Mapping[str, str | bytes] | None = None, caller: bytes = b""
    ) -> _Text: ...
    @overload
    def protect_batch(
        self,
        values: list[str],
        *,
        rows: Mapping[str, Any] | None = None,
        caller: bytes = b"",
        threads: int = 1,
    ) -> list[str]: ...
    @overload
    def protect_batch(
        self,
        values: Sequence[_Cell] | ArrowArray | ChunkedArray | NDArray[np.bytes_],
        *,
        rows: Mapping[str, Any] | None = None,
        caller: bytes = b"",
        on_bad: Literal["reject"],
        threads: int = 1,
    ) -> tuple[Any, list[int]]: ...
    @overload
    def protect_batch(
        self,
        values: Sequence[_Cell],
        *,
        rows: Mapping[str, Any] | None = None,
        caller: bytes = b"",
        on_bad: _OnBad = "fail",
        threads: int = 1,
    ) -> list[Any]: ...
    @overload
    def protect_batch(
        self,
        values: NDArray[np.bytes_],
        *,
        rows: Mapping[str, Any] | None = None,
        caller: bytes = b"",
        on_bad: _OnBad = "fail",
        threads: int = 1,
    ) -> NDArray[np.bytes_]: ...
    @overload
    def protect_batch(
        self,
        values: ArrowArray | ChunkedArray,
        *,
        rows: Mapping[str, Any] | None = None,
        caller: bytes = b"",
        on_bad: _OnBad = "fail",
        threads: int = 1,
    ) -> Any: ...
    @overload
    def reveal_batch(
        self,
        tokens: list[str],
        *,
        rows: Mapping[str, Any] | None = None,
        caller: bytes = b"",
        threads: int = 1,
    ) -> list[str]: ...
    @overload
    def reveal_batch(
        self,
        tokens: Sequence[_Cell] | ArrowArray | ChunkedArray | NDArray[np.bytes_],
        *,
        rows: Mapping[str, Any] | None = None,
        caller: bytes = b"",
        on_bad: Literal["reject"],
        threads: int = 1,
    ) -> tuple[Any, list[int]]: ...
    @overload
    def reveal_batch(
        self,
        tokens: Sequence[_Cell],
        *,
        rows: Mapping[str, Any] | None = None,
        caller: bytes = b"",
        on_bad: _OnBad = "fail",
        threads: int = 1,
    ) -> list[Any]: ...
    @overload
    def reveal_batch(
        self,
        tokens: NDArray[np.bytes_],
        *,
        rows: Mapping[str, Any] | None = None,
        caller: bytes = b"",
        on_bad: _OnBad = "fail",
        threads: int = 1,
    ) -> NDArray[np.bytes_]: ...
    @overload
    def reveal_batch(
        self,
        tokens: ArrowArray | ChunkedArray,
        *,
        rows: Mapping[str, Any] | None = None,
        caller: bytes = b"",
        on_bad: _OnBad = "fail",
        threads: int = 1,
    ) -> Any: ...
    def mask(self, value: _Text) -> _Text: ...
    @overload
    def mask_batch(self, values: Sequence[_Cell]) -> list[Any]: ...
    @overload
    def mask_batch(self, values: ArrowArray | ChunkedArray) -> Any: ...
    def check(self, value: str | bytes) -> str | None: ...
    def check_batch(self, values: Sequence[_Cell]) -> list[str | None]: ...
    def describe(self) -> Description: ...
    @property
    def canonical(self) -> str: ...
    @property
    def tweak(self) -> str | None: ...
    @property
    def masked(self) -> bool: ...
    @property
    def on_bad(self) -> Literal["fail", "null", "reject"] | None: ...
    @property
    def tweak_columns(self) -> list[str]: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        _type: type[BaseException] | None = None,
        _raised: BaseException | None = None,
        _traceback: TracebackType | None = None,
        /,
    ) -> None: ...

def suggest(values: Sequence[_Cell]) -> list[tuple[str, int, int]]: ...
def wipe(buffer: bytearray | memoryview) -> None: ...
def rust_nanoseconds(format: Format, array: ArrowArray, rounds: int) -> list[int]: ...
