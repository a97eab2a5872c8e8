"""Python over an Arrow array beside the library alone in Rust: the same values, format, core and run.

    scripts/python bench

Both sides protect the same column in one call of the same wheel. Rust has its cells and results in memory of its
own and uses its buffers again; Python imports a pyarrow array and gets one back. They take turns, so that what the
machine does in between meets both. Prints the median of each and their ratio, and exits with 3 below the bar.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time

import keywright
import pyarrow as pa
from keywright import _native

# Python's rate over Rust's.
BAR = 0.8

FORMATS = [
    ("card", "4111111111111111"),
    ("digit(16)", "4111111111111111"),
    ("card(keep=last4)", "4111111111111111"),
    ("date", "1912-06-23"),
]


def column(text: str, example: str, rows: int) -> tuple[keywright.Format, pa.Array]:
    """A format, and so many different values of it: the tokens of one value, each of the one before."""
    own = keywright.Format(text, bytes(range(32)), column="c")
    values = [example]
    while len(values) < 1_000:
        values.append(own.protect(values[-1]))
    array = pa.array(values * (rows // 1_000))
    return own, array


def measured(own: keywright.Format, array: pa.Array, rounds: int) -> tuple[float, float]:
    """Nanoseconds a value, of Python and of Rust."""
    python, rust = [], []
    own.protect_batch(array)
    for turn in range(rounds):
        for side in (0, 1) if turn % 2 else (1, 0):
            if side:
                rust += _native.rust_nanoseconds(own, array, 2)[1:]
            else:
                own.protect_batch(array)
                start = time.perf_counter_ns()
                own.protect_batch(array)
                python.append(time.perf_counter_ns() - start)
    return statistics.median(python) / len(array), statistics.median(rust) / len(array)


def main() -> int:
    parser = argparse.ArgumentParser(description="Python over Arrow beside Rust alone.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--cpu", type=int, default=min(os.sched_getaffinity(0)))
    given = parser.parse_args()
    os.sched_setaffinity(0, {given.cpu})
    missed = False
    print(f"core {given.cpu}, {given.rows} rows, median of {given.rounds} turns, bar {BAR:.0%}")
    for text, example in FORMATS:
        python, rust = measured(*column(text, example, given.rows), given.rounds)
        ratio = rust / python
        print(
            f"{text:18} python {1e3 / python:7.2f} M/s  rust {1e3 / rust:7.2f} M/s  "
            f"python at {ratio:6.1%} of rust"
        )
        missed |= ratio < BAR
    return 3 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
