"""Parquet and Arrow files of pyarrow through the command: read again by pyarrow, and the same but for the tokens."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from collections.abc import Callable
from typing import Any

import keywright
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest

from conftest import CARD, MASTER, OTHER_CARD

ROWS = 3_000
CARDS = [CARD, OTHER_CARD, "378282246310005", None, "6011000990139424", ""]
CITIES = ["Wellington", "Nairobi", None, "Reykjavik"]
CLEAR = [CARD, OTHER_CARD, "378282246310005", "6011000990139424", "someone", "Wellington", "Nairobi", "Reykjavik"]
PROTECTED = ["card", "mail", "city"]
RULES = """
version = 1
[[column]]
name = "card"
format = "card"
[[column]]
name = "mail"
format = "email"
tweak = ["column", "row(id)"]
[[column]]
name = "city"
format = "letter(6..20)"
"""

Command = Callable[..., dict[str, Any]]


def table() -> pa.Table:
    """Every kind of column that a file is likely to have, beside those that are protected."""
    rows = range(ROWS)
    mails = [None if row % 7 == 3 else f"someone{row:06}@example.com" for row in rows]
    columns = {
        "id": pa.array(rows, pa.int64()),
        "card": pa.array([CARDS[row % len(CARDS)] for row in rows]),
        "mail": pa.array(mails, pa.large_string()),
        "city": pa.array([CITIES[row % len(CITIES)] for row in rows]).dictionary_encode(),
        "tags": pa.array([None if row % 5 == 0 else ["a"] * (row % 3) for row in rows], pa.list_(pa.string())),
        "inner": pa.array([None if row % 4 == 1 else {"x": row, "y": [{"z": "q"}]} for row in rows]),
        "map": pa.array([[("k", row)] for row in rows], pa.map_(pa.string(), pa.int32())),
        "day": pa.array([row % 20_000 for row in rows], pa.int32()).cast(pa.date32()),
        "when": pa.array(rows, pa.int64()).cast(pa.timestamp("us", tz="UTC")),
        "sum": pa.array([None if row % 9 == 0 else row for row in rows]).cast(pa.decimal128(21, 2)),
        "part": pa.array([row / 3 for row in rows], pa.float64()),
        "flag": pa.array([row % 2 == 0 for row in rows]),
        "blob": pa.array([bytes([row % 256]) * (row % 4) for row in rows], pa.binary()),
        "fixed": pa.array([row.to_bytes(4, "big") for row in rows], pa.binary(4)),
        "kind": pa.array(["a", "b", None] * (ROWS // 3)).dictionary_encode(),
        "none": pa.nulls(ROWS),
    }
    made = pa.table(columns)
    return made.replace_schema_metadata({"owner": "shop", "note": "kept as it is"})


WRITERS: dict[str, Callable[[pa.Table, pathlib.Path], None]] = {}


def writer(name: str) -> Callable[[Callable[[pa.Table, pathlib.Path], None]], None]:
    def register(write: Callable[[pa.Table, pathlib.Path], None]) -> None:
        WRITERS[name] = write

    return register


@writer("parquet")
def _plain(whole: pa.Table, path: pathlib.Path) -> None:
    pq.write_table(whole, path, row_group_size=700)


@writer("parquet-second-pages-zstd-index")
def _second(whole: pa.Table, path: pathlib.Path) -> None:
    pq.write_table(
        whole,
        path,
        row_group_size=1_100,
        version="2.6",
        data_page_version="2.0",
        compression={name: "zstd" if name == "mail" else "gzip" for name in whole.schema.names},
        write_page_index=True,
        write_page_checksum=True,
        use_dictionary=["city", "kind"],
    )


@writer("parquet-delta-uncompressed-sorted")
def _delta(whole: pa.Table, path: pathlib.Path) -> None:
    pq.write_table(
        whole,
        path,
        compression="none",
        use_dictionary=False,
        column_encoding={"card": "DELTA_BYTE_ARRAY", "mail": "DELTA_LENGTH_BYTE_ARRAY", "id": "DELTA_BINARY_PACKED"},
        sorting_columns=[pq.SortingColumn(0), pq.SortingColumn(1)],
        store_schema=False,
    )


@writer("arrow-file")
def _file(whole: pa.Table, path: pathlib.Path) -> None:
    # One dictionary for all batches, as files have it.
    with ipc.new_file(path, whole.schema) as out:
        out.write_table(whole.combine_chunks(), max_chunksize=800)


@writer("arrow-stream")
def _stream(whole: pa.Table, path: pathlib.Path) -> None:
    with ipc.new_stream(path, whole.schema) as out:
        out.write_table(whole, max_chunksize=800)


def without_dictionaries(whole: pa.Table) -> pa.Table:
    """Of which nothing but the columns that change has to be read."""
    for place, field in enumerate(whole.schema):
        if pa.types.is_dictionary(field.type):
            whole = whole.set_column(place, field.name, whole[place].cast(field.type.value_type))
    return whole


@writer("arrow-file-plain")
def _plain_file(whole: pa.Table, path: pathlib.Path) -> None:
    WRITERS["arrow-file"](without_dictionaries(whole), path)


@writer("arrow-stream-plain")
def _plain_stream(whole: pa.Table, path: pathlib.Path) -> None:
    WRITERS["arrow-stream"](without_dictionaries(whole), path)


@writer("parquet-plain")
def _plain_pages(whole: pa.Table, path: pathlib.Path) -> None:
    pq.write_table(whole, path, row_group_size=900, data_page_size=4_000, use_dictionary=False, compression="snappy")


@writer("feather-lz4")
def _feather(whole: pa.Table, path: pathlib.Path) -> None:
    feather.write_feather(whole.combine_chunks(), path, compression="lz4", chunksize=1_000)


def read(kind: str, path: pathlib.Path) -> pa.Table:
    if kind.startswith("parquet"):
        return pq.read_table(path)
    if kind.startswith("arrow-stream"):
        with pa.memory_map(str(path)) as file:
            return ipc.open_stream(file).read_all()
    with pa.memory_map(str(path)) as file:
        return ipc.open_file(file).read_all()


@pytest.fixture
def command(tmp_path: pathlib.Path) -> Command:
    """Runs the command with the rules and the key, and gives its document."""
    binary = os.environ.get("KEYWRIGHT_BINARY", "")
    if not binary:
        pytest.skip("KEYWRIGHT_BINARY names no built keywright")
    (tmp_path / "key").write_text(MASTER.hex() + "\n", encoding="ascii")
    (tmp_path / "rules.toml").write_text(RULES, encoding="utf-8")

    def run(word: str, source: pathlib.Path, out: pathlib.Path, *more: str) -> dict[str, Any]:
        words = [binary, "--format", "json", word, str(source), "--out", str(out), "--rules", str(tmp_path / "rules.toml")]
        words += ["--key-file", str(tmp_path / "key"), *more]
        done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stdout + done.stderr)
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    return run


@pytest.mark.parametrize("kind", list(WRITERS))
def test_a_file_is_the_same_but_for_its_tokens_and_comes_back(
    kind: str, command: Command, tmp_path: pathlib.Path
) -> None:
    source, out, back = (tmp_path / name for name in ("source", "out", "back"))
    whole = table()
    WRITERS[kind](whole, source)
    before = read(kind, source)
    told = command("protect", source, out)
    assert told["rows"] == ROWS
    after = read(kind, out)
    assert after.schema.equals(before.schema, check_metadata=True)
    for name in before.schema.names:
        if name in PROTECTED:
            assert after[name].null_count == before[name].null_count
            pairs = zip(before[name].to_pylist(), after[name].to_pylist(), strict=True)
            assert all((old == new) == (old in (None, "")) for old, new in pairs), name
        else:
            assert after[name].equals(before[name]), name
    bytes_of_out = out.read_bytes()
    for clear in CLEAR:
        assert clear.encode() not in bytes_of_out, clear
    # Compressed pages are looked into as well: what a reader finds in them is what stands there.
    assert not set(CLEAR) & set(after["card"].to_pylist()) | set(CLEAR) & set(after["city"].to_pylist())
    # The tokens of the wheel, and so of a CSV file.
    own = keywright.Format("card", MASTER, column="card")
    assert own.protect_batch(before["card"].to_pylist()) == after["card"].to_pylist()
    command("reveal", out, back)
    assert read(kind, back).equals(before, check_metadata=True)


@pytest.mark.parametrize("kind", [kind for kind in WRITERS if kind.startswith("parquet")])
def test_what_a_parquet_file_says_of_its_columns_is_true_of_the_tokens(
    kind: str, command: Command, tmp_path: pathlib.Path
) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    WRITERS[kind](table(), source)
    command("protect", source, out)
    old, new = pq.ParquetFile(source), pq.ParquetFile(out)
    assert new.metadata.num_row_groups == old.metadata.num_row_groups
    assert new.metadata.created_by == old.metadata.created_by
    assert new.schema.equals(old.schema)
    for group in range(old.metadata.num_row_groups):
        rows = new.read_row_group(group)
        was, now = old.metadata.row_group(group), new.metadata.row_group(group)
        assert was.num_rows == now.num_rows == rows.num_rows
        for place in range(was.num_columns):
            before, after = was.column(place), now.column(place)
            assert after.compression == before.compression
            assert after.has_offset_index == before.has_offset_index
            assert after.has_column_index == before.has_column_index
            assert after.is_stats_set == before.is_stats_set
            if before.path_in_schema in PROTECTED:
                values = [value for value in rows[before.path_in_schema].to_pylist() if value is not None]
                assert after.statistics.min == min(values)
                assert after.statistics.max == max(values)
                assert after.statistics.null_count == before.statistics.null_count
                assert set(before.encodings) - {"RLE", "BIT_PACKED"} & set(after.encodings)
            # Readers that do not know the order that the footer names for floating point leave these aside.
            elif before.is_stats_set and before.physical_type != "DOUBLE":
                assert after.statistics.equals(before.statistics)
        # Rows are sorted by what has not changed, and by nothing behind it.
        assert [column.column_index for column in now.sorting_columns] == [
            column.column_index for column in was.sorting_columns if column.column_index == 0
        ]
    filtered = pq.read_table(out, filters=[("card", "==", new.read_row_group(0)["card"][0].as_py())])
    assert filtered.num_rows == ROWS // len(CARDS)


@pytest.mark.parametrize("kind", list(WRITERS))
def test_rejected_rows_go_to_a_file_of_the_same_kind(kind: str, command: Command, tmp_path: pathlib.Path) -> None:
    source, out, back = (tmp_path / name for name in ("source", "out", "back"))
    whole = table()
    # Every eleventh card has a wrong check digit.
    cards = [card if row % 11 else "4111111111111112" for row, card in enumerate(whole["card"].to_pylist())]
    whole = whole.set_column(1, "card", pa.array(cards))
    WRITERS[kind](whole, source)
    rules = (tmp_path / "rules.toml").read_text(encoding="utf-8")
    rules = rules.replace('format = "card"', 'format = "card"\non_bad = "reject"')
    (tmp_path / "rules.toml").write_text(rules, encoding="utf-8")
    told = command("protect", source, out, "--rejects", str(tmp_path / "rejects"))
    bad = [row for row in range(ROWS) if row % 11 == 0]
    good = [row for row in range(ROWS) if row % 11]
    assert (told["rejected"], told["written"]) == (len(bad), len(good))
    before = read(kind, source)
    assert read(kind, tmp_path / "rejects").to_pylist() == before.take(bad).to_pylist()
    command("reveal", out, back)
    assert read(kind, back).to_pylist() == before.take(good).to_pylist()
    assert b"4111111111111112" not in out.read_bytes()


def test_values_may_be_as_long_as_a_batch(command: Command, tmp_path: pathlib.Path) -> None:
    source, out, back = (tmp_path / name for name in ("source", "out", "back"))
    rules = 'version = 1\n[[column]]\nname = "long"\nformat = "lower(1..65536)"\nsmall_domain = "accept(one of all)"\n'
    (tmp_path / "rules.toml").write_text(rules, encoding="utf-8")
    whole = pa.table({"long": pa.array(["abcdefgh" * 1_000, None, "x" * 9_000], pa.large_string())})
    for kind in ("parquet", "arrow-file", "arrow-stream"):
        WRITERS[kind](whole, source)
        command("protect", source, out, "--yes")
        assert b"abcdefghabcdefgh" not in out.read_bytes()
        command("reveal", out, back, "--yes")
        assert read(kind, back).equals(whole)


@pytest.mark.parametrize("kind", list(WRITERS))
def test_files_are_held_against_rules_and_looked_at(kind: str, command: Command, tmp_path: pathlib.Path) -> None:
    assert callable(command)  # The rules are written, and there is a binary.
    source = tmp_path / "source"
    WRITERS[kind](table(), source)
    rules = (tmp_path / "rules.toml").read_text(encoding="utf-8").replace("letter(6..20)", "letter(8..20)")
    (tmp_path / "rules.toml").write_text(rules, encoding="utf-8")
    found = checked(source, 3, "--rules", str(tmp_path / "rules.toml"))
    columns = {column["name"]: column for column in found["columns"]}
    assert found["rows"] == ROWS
    assert (columns["card"]["fits"], columns["card"]["empty"], columns["card"]["misfits"]) == (2_000, 1_000, 0)
    # Nairobi is too short.
    assert (columns["city"]["fits"], columns["city"]["misfits"]) == (1_500, 750)
    assert columns["city"]["first"][0] == {"row": 2, "code": "length", "reason": columns["city"]["first"][0]["reason"]}
    assert "Nairobi" not in json.dumps(found)
    looked = {column["name"]: column["formats"] for column in checked(source, 0)["columns"]}
    assert looked["card"][0]["format"].startswith("card@1")
    assert looked["mail"][0]["format"].startswith("email@1")
    lists = "tags.list.element" if kind.startswith("parquet") else "tags"
    assert looked[lists] == []


def checked(source: pathlib.Path, code: int, *more: str) -> dict[str, Any]:
    words = [os.environ["KEYWRIGHT_BINARY"], "--format", "json", "format", "check", str(source), *more]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == code, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.parametrize("kind", list(WRITERS))
@pytest.mark.parametrize("damage", ["cut", "tail", "flipped"])
def test_a_damaged_file_is_told_in_two_lines_and_nothing_is_written(
    damage: str, kind: str, command: Command, tmp_path: pathlib.Path
) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    WRITERS[kind](table(), source)
    good = source.read_bytes()
    source.write_bytes(
        {
            "cut": good[: len(good) // 2],
            "tail": good[:-5],
            # In the schema of a stream, and in the footer of the others.
            "flipped": good[:20] + bytes(40) + good[60:] if "stream" in kind else good[:-60] + bytes(40) + good[-20:],
        }[damage]
    )
    with pytest.raises(RuntimeError) as raised:
        command("protect", source, out)
    assert "file_damaged" in str(raised.value)
    assert "panicked" not in str(raised.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["key", "rules.toml", "source"]
