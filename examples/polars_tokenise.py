"""Makes tokens of the columns of a CSV file with Polars, and values of them again.

    python examples/polars_tokenise.py examples/customers.csv --rules examples/rules.toml \
        --key-file KEY --out tokens.csv
    python examples/polars_tokenise.py tokens.csv --reveal ... --out values.csv

Rows that a rule rejects go, as they are, to OUT.rejects. Needs the packages keywright, polars and pyarrow. The key file has 32 bytes, or 64 hexadecimal digits.
"""

import argparse
import pathlib
import tomllib

import keywright
import polars as pl
import pyarrow as pa


def key_of(path: pathlib.Path) -> bytes:
    content = path.read_bytes()
    return content if len(content) == 32 else bytes.fromhex(content.decode("ascii").strip())


def arrow(column: pl.Series) -> pa.Array:
    """A column of text as Arrow has it, with offsets."""
    return column.to_arrow().cast(pa.large_string())


def worked(frame: pl.DataFrame, rules: str, key: bytes, call: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A frame with the columns that the rules name through `protect_batch` or `reveal_batch`, and what they reject."""
    made = []
    rejected: set[int] = set()
    for rule in tomllib.loads(rules)["column"]:
        with keywright.Format.from_rules(rules, rule["name"], key) as form:
            if form.masked and call == "reveal_batch":
                continue
            rows = {name: arrow(frame[name]) for name in form.tweak_columns}
            column = getattr(form, call)(arrow(frame[rule["name"]]), rows=rows, on_bad=form.on_bad)
            if form.on_bad == "reject":
                column, bad = column
                rejected.update(bad)
        made.append(pl.Series(rule["name"], column))
    away = pl.Series([row in rejected for row in range(frame.height)], dtype=pl.Boolean)
    return frame.with_columns(made).filter(~away), frame.filter(away)


def main() -> None:
    parser = argparse.ArgumentParser(description="Tokens of the columns of a CSV file, with Polars.")
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--rules", type=pathlib.Path, required=True)
    parser.add_argument("--key-file", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--reveal", action="store_true", help="values of tokens")
    given = parser.parse_args()
    # As text, all of it, and an empty cell as an empty text.
    frame = pl.read_csv(given.file, infer_schema=False, empty_string_is_null=False)
    call = "reveal_batch" if given.reveal else "protect_batch"
    made, rejected = worked(frame, given.rules.read_text(encoding="utf-8"), key_of(given.key_file), call)
    made.write_csv(given.out)
    if rejected.height:
        rejected.write_csv(f"{given.out}.rejects")


if __name__ == "__main__":
    main()
