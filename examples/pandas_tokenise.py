"""Makes tokens of the columns of a CSV file with pandas, and values of them again.

    python examples/pandas_tokenise.py examples/customers.csv --rules examples/rules.toml \
        --key-file KEY --out tokens.csv
    python examples/pandas_tokenise.py tokens.csv --reveal ... --out values.csv

Rows that a rule rejects go, as they are, to OUT.rejects. Needs the packages keywright, pandas and pyarrow. The key file has 32 bytes, or 64 hexadecimal digits. The file
is held in memory as a whole; `keywright protect` does the same to files of any size.
"""

import argparse
import pathlib
import tomllib

import keywright
import pandas as pd
import pyarrow as pa


def key_of(path: pathlib.Path) -> bytes:
    content = path.read_bytes()
    return content if len(content) == 32 else bytes.fromhex(content.decode("ascii").strip())


def worked(frame: pd.DataFrame, rules: str, key: bytes, call: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A frame with the columns that the rules name through `protect_batch` or `reveal_batch`, and what they reject."""
    made = frame.copy()
    rejected: set[int] = set()
    for rule in tomllib.loads(rules)["column"]:
        with keywright.Format.from_rules(rules, rule["name"], key) as form:
            if form.masked and call == "reveal_batch":
                continue
            rows = {name: pa.array(frame[name]) for name in form.tweak_columns}
            column = getattr(form, call)(pa.array(frame[rule["name"]]), rows=rows, on_bad=form.on_bad)
            if form.on_bad == "reject":
                column, bad = column
                rejected.update(bad)
        made[rule["name"]] = column.to_pandas()
    away = sorted(rejected)
    return made.drop(index=away), frame.iloc[away]


def main() -> None:
    parser = argparse.ArgumentParser(description="Tokens of the columns of a CSV file, with pandas.")
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--rules", type=pathlib.Path, required=True)
    parser.add_argument("--key-file", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--reveal", action="store_true", help="values of tokens")
    given = parser.parse_args()
    # As text, all of it: a number would lose its zeros, and "NA" is a name.
    frame = pd.read_csv(given.file, dtype=str, keep_default_na=False)
    call = "reveal_batch" if given.reveal else "protect_batch"
    made, rejected = worked(frame, given.rules.read_text(encoding="utf-8"), key_of(given.key_file), call)
    made.to_csv(given.out, index=False)
    if len(rejected):
        rejected.to_csv(f"{given.out}.rejects", index=False)


if __name__ == "__main__":
    main()
