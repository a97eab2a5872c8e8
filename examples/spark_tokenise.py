"""Makes tokens of the columns of a CSV file on a Spark cluster, and values of them again.

    spark-submit examples/spark_tokenise.py examples/customers.csv --rules examples/rules.toml \
        --key-file KEY --out tokens.parquet
    spark-submit examples/spark_tokenise.py tokens.parquet --reveal ... --out values.parquet

Reads CSV or Parquet, by the name's end, and writes Parquet. Rows that a rule rejects go, as they are, to OUT.rejects. Every worker needs the packages keywright and
pyarrow, and the key file under the same path: the key itself stands in no plan, no log and no message of the
cluster. It has 32 bytes, or 64 hexadecimal digits. `--master local[*]` runs a cluster of one machine.

Columns go to the workers as Arrow batches, so that a row costs Python nothing; the tokens are those of
`keywright protect` on one machine.
"""

from __future__ import annotations

import argparse
import pathlib
import tomllib
from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

Batches = Iterable[pa.RecordBatch]


def worker(rules: str, key_file: str, call: str, kept: bool) -> Callable[[Batches], Batches]:
    """What runs on the workers: batches in, batches with other columns out; or the rows that rules reject."""
    names = [rule["name"] for rule in tomllib.loads(rules)["column"]]

    def work(batches: Batches) -> Batches:
        import keywright

        content = pathlib.Path(key_file).read_bytes()
        key = content if len(content) == 32 else bytes.fromhex(content.decode("ascii").strip())
        formats = {name: keywright.Format.from_rules(rules, name, key) for name in names}
        for batch in batches:
            columns: dict[str, Any] = dict(zip(batch.schema.names, batch.columns, strict=True))
            made = dict(columns)
            rejected: set[int] = set()
            for name, form in formats.items():
                if form.masked and call == "reveal_batch":
                    continue
                rows = {needed: columns[needed] for needed in form.tweak_columns}
                column = getattr(form, call)(columns[name], rows=rows, on_bad=form.on_bad)
                if form.on_bad == "reject":
                    column, bad = column
                    rejected.update(bad)
                made[name] = column
            stays = pa.array([(row in rejected) != kept for row in range(batch.num_rows)], pa.bool_())
            yield (pa.RecordBatch.from_pydict(made) if kept else batch).filter(stays)

    return work


def worked(frame: DataFrame, rules: str, key_file: str, call: str, kept: bool = True) -> DataFrame:
    """A frame with the columns that the rules name through `protect_batch` or `reveal_batch`; or what they reject."""
    return frame.mapInArrow(worker(rules, key_file, call, kept), frame.schema)


def read(spark: SparkSession, file: str) -> DataFrame:
    if not file.endswith(".csv"):
        return spark.read.parquet(file)
    # As text, all of it; quotes doubled inside of quotes, and line ends there, as RFC 4180 has them.
    return spark.read.csv(file, header=True, multiLine=True, escape='"', encoding="UTF-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Tokens of the columns of a file, with Spark.")
    parser.add_argument("file")
    parser.add_argument("--rules", type=pathlib.Path, required=True)
    parser.add_argument("--key-file", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--reveal", action="store_true", help="values of tokens")
    parser.add_argument("--master", help="the cluster, unless spark-submit names it")
    given = parser.parse_args()
    builder = SparkSession.builder.appName("keywright")
    spark = (builder.master(given.master) if given.master else builder).getOrCreate()
    try:
        call = "reveal_batch" if given.reveal else "protect_batch"
        rules = given.rules.read_text(encoding="utf-8")
        frame = read(spark, given.file)
        worked(frame, rules, given.key_file, call).write.parquet(given.out)
        if any(rule.get("on_bad") == "reject" for rule in tomllib.loads(rules)["column"]):
            rejected = worked(frame, rules, given.key_file, call, kept=False)
            rejected.write.parquet(f"{given.out}.rejects")
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
