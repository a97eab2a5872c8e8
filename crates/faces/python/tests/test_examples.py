"""The examples for pandas, Polars and Spark give the tokens of one machine: of lists, and of the command."""

from __future__ import annotations

import csv
import os
import pathlib
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from typing import Any

import keywright
import pyarrow.parquet as pq
import pytest

from conftest import MASTER, ROOT

CUSTOMERS = ROOT / "examples" / "customers.csv"
Rows = list[dict[str, str]]
Run = Callable[..., None]

# One more column than the example's: its tweak has another cell of the row.
MORE = """
[[column]]
name = "balance"
format = "decimal(min=-9999999.99, max=9999999.99)"
tweak = ["column", "row(id)"]
"""


@pytest.fixture(scope="module")
def key_file(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("key") / "key"
    path.write_text(MASTER.hex() + "\n", encoding="ascii")
    return path


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("rules") / "rules.toml"
    example = (ROOT / "examples" / "rules.toml").read_text(encoding="utf-8")
    path.write_text(example + MORE, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def clear() -> Rows:
    return of_csv(CUSTOMERS)


@pytest.fixture(scope="module")
def expected(clear: Rows, rules: pathlib.Path) -> Rows:
    """The tokens by lists, one column after the other."""
    text = rules.read_text(encoding="utf-8")
    made = [dict(row) for row in clear]
    for rule in tomllib.loads(text)["column"]:
        name = rule["name"]
        form = keywright.Format.from_rules(text, name, MASTER)
        beside = {needed: [row[needed] for row in clear] for needed in form.tweak_columns}
        tokens = form.protect_batch([row[name] for row in clear], rows=beside)
        assert all(token != row[name] for token, row in zip(tokens, clear, strict=True))
        for row, token in zip(made, tokens, strict=True):
            row[name] = token
    return made


def of_csv(path: pathlib.Path) -> Rows:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def of_parquet(path: pathlib.Path) -> Rows:
    rows = [
        # Spark reads an empty cell as null.
        {name: "" if value is None else value for name, value in row.items()}
        for row in pq.read_table(path).to_pylist()
    ]
    return sorted(rows, key=lambda row: int(row["id"]))


@pytest.fixture
def run(key_file: pathlib.Path, rules: pathlib.Path) -> Run:
    """Runs an example; one that fails has its last words in the error."""
    given = ("--key-file", key_file, "--rules", rules)
    return lambda example, *arguments: ran(example, *given, *arguments)


def ran(example: str, *arguments: Any) -> None:
    command = [sys.executable, ROOT / "examples" / example, *arguments]
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    done = subprocess.run(
        [*map(str, command)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3_000:]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_gives_the_tokens_of_lists(
    library: str, run: Run, tmp_path: pathlib.Path, clear: Rows, expected: Rows
) -> None:
    tokens, values = tmp_path / "tokens.csv", tmp_path / "values.csv"
    run(f"{library}_tokenise.py", CUSTOMERS, "--out", tokens)
    assert of_csv(tokens) == expected
    run(f"{library}_tokenise.py", tokens, "--out", values, "--reveal")
    assert of_csv(values) == clear


@pytest.fixture(scope="module")
def of_the_command(
    key_file: pathlib.Path, rules: pathlib.Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], Rows]:
    def made() -> Rows:
        binary = os.environ.get("KEYWRIGHT_BINARY", "")
        if not binary:
            pytest.skip("KEYWRIGHT_BINARY names no built keywright")
        out = tmp_path_factory.mktemp("command") / "tokens.csv"
        command = [binary, "protect", CUSTOMERS, "--rules", rules, "--key-file", key_file]
        command += ["--out", out]
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stderr
        return of_csv(out)

    return made


def test_the_command_gives_the_tokens_of_lists(of_the_command: Callable[[], Rows], expected: Rows) -> None:
    assert of_the_command() == expected


@pytest.mark.spark
@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")
def test_spark_gives_the_tokens_of_lists(
    run: Run, tmp_path: pathlib.Path, clear: Rows, expected: Rows
) -> None:
    pytest.importorskip("pyspark")
    tokens, values = tmp_path / "tokens.parquet", tmp_path / "values.parquet"
    cluster = ("--master", "local[2]")
    run("spark_tokenise.py", CUSTOMERS, "--out", tokens, *cluster)
    assert of_parquet(tokens) == expected
    run("spark_tokenise.py", tokens, "--out", values, "--reveal", *cluster)
    assert of_parquet(values) == clear


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_masked_columns_and_rejected_rows_go_through_a_frame(
    library: str, run: Run, tmp_path: pathlib.Path, clear: Rows
) -> None:
    bad, out, back = tmp_path / "bad.csv", tmp_path / "tokens.csv", tmp_path / "values.csv"
    with bad.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, clear[0])
        writer.writeheader()
        writer.writerows([clear[0], clear[1] | {"card_number": "4242424242424243"}, clear[2]])
    rules = tmp_path / "own.toml"
    rules.write_text(
        'version = 1\n[[column]]\nname = "card_number"\nformat = "card"\non_bad = "reject"\n'
        '[[column]]\nname = "email"\nmask = "fixed(gone)"\n',
        encoding="utf-8",
    )
    run(f"{library}_tokenise.py", bad, "--out", out, "--rules", rules)
    made = of_csv(out)
    assert [row["id"] for row in made] == [clear[0]["id"], clear[2]["id"]]
    assert [row["email"] for row in made] == ["gone", "gone"]
    assert of_csv(tmp_path / "tokens.csv.rejects") == [clear[1] | {"card_number": "4242424242424243"}]
    run(f"{library}_tokenise.py", out, "--out", back, "--rules", rules, "--reveal")
    assert of_csv(back) == [row | {"email": "gone"} for row in (clear[0], clear[2])]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_key_of_another_length_stops_an_example(
    library: str, run: Run, tmp_path: pathlib.Path
) -> None:
    short, out = tmp_path / "short", tmp_path / "tokens.csv"
    short.write_text(MASTER.hex()[:-2], encoding="ascii")
    with pytest.raises(AssertionError, match="key_size|a format needs 32"):
        run(f"{library}_tokenise.py", CUSTOMERS, "--out", out, "--key-file", short)
    assert not out.exists()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_value_that_does_not_fit_stops_an_example_and_is_not_shown(
    library: str, run: Run, tmp_path: pathlib.Path, clear: Rows
) -> None:
    bad, out = tmp_path / "bad.csv", tmp_path / "tokens.csv"
    with bad.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, clear[0])
        writer.writeheader()
        writer.writerows([*clear[:5], clear[5] | {"card_number": "4242424242424243"}])
    with pytest.raises(AssertionError, match="row 5: .*check digit") as raised:
        run(f"{library}_tokenise.py", bad, "--out", out)
    assert "4242424242424243" not in str(raised.value)
    assert not out.exists()
