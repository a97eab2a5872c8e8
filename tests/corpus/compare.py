"""Whether an output is what it should be: tokens where the rules say so, everything else as it was."""

import csv
import io
from pathlib import Path

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet

from values import KINDS

csv.field_size_limit(1 << 27)


class Wrong(Exception):
    """(kind, detail): what is not as it should be."""


def read_csv(data, separator):
    """Rows as dictionaries. Bytes stay bytes: each is one character."""
    text = data.decode("latin-1")
    text = text.removeprefix("\xef\xbb\xbf")
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    header, rows = rows[0], [row for row in rows[1:] if row]
    return [dict(zip(header, row, strict=True)) for row in rows]


def arrow_file(path):
    data = Path(path).read_bytes()
    reader = pa.ipc.open_file(data) if data[:6] == b"ARROW1" else pa.ipc.open_stream(data)
    table = reader.read_all()
    table.validate(full=True)
    return table.to_pylist()


def parquet_pyarrow(path):
    table = pyarrow.parquet.ParquetFile(path).read()
    table.validate(full=True)
    return table.to_pylist()


def parquet_duckdb(path):
    with duckdb.connect() as connection:
        found = connection.execute("SELECT * FROM read_parquet($1, hive_partitioning=false)", [str(path)])
        names = [column[0] for column in found.description]
        return [dict(zip(names, row)) for row in found.fetchall()]


def arrow_polars(path):
    is_file = Path(path).read_bytes()[:6] == b"ARROW1"
    frame = polars.read_ipc(path, memory_map=False) if is_file else polars.read_ipc_stream(path)
    return frame.to_dicts()


def parquet_polars(path):
    return polars.read_parquet(path).to_dicts()


READERS = {
    "parquet": {"pyarrow": parquet_pyarrow, "polars": parquet_polars, "duckdb": parquet_duckdb},
    "arrow": {"pyarrow": arrow_file, "polars": arrow_polars},
}


def kind_of(path):
    data = Path(path).read_bytes()[:6]
    if data[:4] == b"PAR1":
        return "parquet"
    return "arrow" if data == b"ARROW1" or data[:4] == b"\xff\xff\xff\xff" else "csv"


def get(row, path):
    """The cell at a path such as person.card; a column of just that name comes first."""
    if path in row:
        return row[path]
    for step in path.split("."):
        if row is None:
            return None
        row = row[step]
    return row


def without(row, paths):
    """The row with nothing in its protected cells."""
    row = dict(row)
    for path in paths:
        if path in row:
            row[path] = None
            continue
        inner = row
        *steps, last = path.split(".")
        for step in steps:
            if inner is not None:
                inner[step] = None if inner[step] is None else dict(inner[step])
                inner = inner[step]
        if inner is not None:
            inner[last] = None
    return row


def expected_rows(case, on_bad, rows):
    """(rows that stay, numbers of the bad ones among them)"""
    if on_bad == "reject":
        return [row for number, row in enumerate(rows) if number not in case.bad_rows], set()
    return rows, set(case.bad_rows)


class Comparison:
    """Of an input with what was made of it, as one reader sees both."""

    def __init__(self, case, on_bad, reader, source):
        self.case, self.on_bad, self.reader = case, on_bad, reader
        self.rows, self.bad = expected_rows(case, on_bad, source)

    def _others(self, rows, what):
        if len(rows) != len(self.rows):
            raise Wrong("rows", f"{what}: {self.reader} reads {len(rows)} rows instead of {len(self.rows)}")
        paths = list(self.case.columns)
        for number, (old, new) in enumerate(zip(self.rows, rows)):
            if without(old, paths) != without(new, paths):
                raise Wrong("other column changed", f"{what}: {self.reader}, row {number + 1}")

    def _is_empty(self, number, path, old, what, new):
        """Whether the cell has to be empty; it is then."""
        # The first column alone has misfits.
        is_bad = number in self.bad and path == next(iter(self.case.columns))
        is_bad = is_bad or KINDS[self.case.columns[path]][2] is None
        if old not in (None, "") and not is_bad:
            return False
        wanted = (None, "") if is_bad else (old,)
        if new not in wanted:
            raise Wrong("cell is not empty", f"{what}: {self.reader}, row {number + 1}, {path}")
        return True

    def tokens(self, rows):
        self._others(rows, "output")
        for number, (old, new) in enumerate(zip(self.rows, rows)):
            for path, kind in self.case.columns.items():
                value, token = get(old, path), get(new, path)
                if self._is_empty(number, path, value, "output", token):
                    continue
                if not isinstance(token, str) or not KINDS[kind][2](token) or token == value:
                    raise Wrong("not a token", f"{self.reader}, row {number + 1}, {path}")

    def values(self, rows):
        self._others(rows, "revealed")
        for number, (old, new) in enumerate(zip(self.rows, rows)):
            for path in self.case.columns:
                value, back = get(old, path), get(new, path)
                if "mask" in KINDS[self.case.columns[path]][0]:
                    continue
                if not self._is_empty(number, path, value, "revealed", back) and value != back:
                    raise Wrong("not revealed", f"{self.reader}, row {number + 1}, {path}")


def compare(case, on_bad, source, output, back):
    """Raises Wrong at the first difference."""
    kind = kind_of(source)
    if kind == "csv":
        compare_csv(case, on_bad, *(Path(path).read_bytes() for path in (source, output, back)))
        return
    readers = 0
    for name, read in READERS[kind].items():
        try:
            rows = read(source)
        except BaseException as error:
            if not isinstance(error, Exception) and "Panic" not in type(error).__name__:
                raise
            continue
        readers += 1
        comparison = Comparison(case, on_bad, name, rows)
        for path, check in ((output, comparison.tokens), (back, comparison.values)):
            try:
                found = read(path)
            except BaseException as error:
                if not isinstance(error, Exception) and "Panic" not in type(error).__name__:
                    raise
                raise Wrong("unreadable", f"{name} does not read {path.name}: {error}"[:200]) from error
            check(found)
    if not readers:
        raise Wrong("corpus", "no reader reads the input")


def compare_csv(case, on_bad, source, output, back):
    is_whole = not case.is_masked() and (on_bad == "fail" or not case.bad_rows)
    if is_whole and source != back:
        raise Wrong("not revealed", "the bytes differ")
    if not case.separator:
        return
    comparison = Comparison(case, on_bad, "csv", read_csv(source, case.separator))
    comparison.tokens(read_csv(output, case.separator))
    comparison.values(read_csv(back, case.separator))
