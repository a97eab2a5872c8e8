"""A Spark job through Arrow batches beside one in pure Python, on one local cluster.

    scripts/python bench

The peer is a UDF around the package ff3, which is FF3-1 in Python over AES in C. Ours is FF1 through
`keywright.Fpe`, over the same column of 16 digits, cached in memory; both write to Spark's sink that keeps
nothing. Each has so many rows that it runs for some seconds, and both are warmed up. Prints the median rate of each
and their ratio, and exits with 3 below the bar.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, functions
from pyspark.sql.types import StringType

# Rows a second over the peer's.
BAR = 50

KEY = "2de79d232df5585d68ce47882ae256d6"
TWEAK = "cbd09280979564"


def ours(frame: DataFrame) -> DataFrame:
    def work(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        import keywright

        engine = keywright.Fpe(bytes.fromhex(KEY))
        tweak = bytes.fromhex(TWEAK)
        for batch in batches:
            made = engine.encrypt_batch(batch.column(0), tweak)
            yield pa.RecordBatch.from_arrays([made], names=["number"])

    return frame.mapInArrow(work, frame.schema)


def peers(frame: DataFrame) -> DataFrame:
    made: list[Any] = []

    def one(value: str) -> str:
        # The key is set up once in each worker, as a careful user would.
        if not made:
            from ff3 import FF3Cipher

            made.append(FF3Cipher(KEY, TWEAK))
        token: str = made[0].encrypt(value)
        return token

    return frame.select(functions.udf(one, StringType())("number").alias("number"))


def column(spark: SparkSession, rows: int, cores: int) -> DataFrame:
    """So many different numbers of 16 digits, in memory."""
    number = functions.lpad((functions.col("id") * 7_919 + 10**15).cast("string"), 16, "0")
    frame = spark.range(0, rows, 1, cores).select(number.alias("number")).cache()
    frame.count()
    return frame


def seconds(made: DataFrame) -> float:
    start = time.perf_counter()
    made.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description="Spark through Arrow beside Spark with a Python UDF.")
    parser.add_argument("--rows", type=int, default=6_000_000)
    parser.add_argument("--peer-rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cores", type=int, default=2)
    given = parser.parse_args()
    builder = SparkSession.builder.master(f"local[{given.cores}]").appName("beside")
    spark = (
        builder.config("spark.driver.memory", "3g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "50000")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    sides: list[tuple[str, Callable[[DataFrame], DataFrame], int]] = [
        ("keywright, mapInArrow", ours, given.rows),
        ("ff3, udf", peers, given.peer_rows),
    ]
    rates: dict[str, list[float]] = {}
    frames = {name: column(spark, rows, given.cores) for name, _, rows in sides}
    for turn in range(given.rounds + 1):
        for name, side, rows in sides if turn % 2 else sides[::-1]:
            rate = rows / seconds(side(frames[name]))
            # The first turn warms up.
            if turn:
                rates.setdefault(name, []).append(rate)
    spark.stop()
    medians = {name: statistics.median(found) for name, found in rates.items()}
    for name, _, rows in sides:
        print(f"{name:22} {rows:9} rows  {medians[name] / 1e6:8.3f} M rows/s")
    ratio = medians[sides[0][0]] / medians[sides[1][0]]
    print(f"ratio {ratio:.0f}, bar {BAR}")
    return 0 if ratio >= BAR else 3


if __name__ == "__main__":
    sys.exit(main())
