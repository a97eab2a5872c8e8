"""A case: one input file, the rules for it, the values planted in it, and the outcomes that are allowed."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from values import KINDS, Values

# Outcomes of a run over a file without misfits.
PROTECTED = "protected"  # a plain valid file: a refusal is a failure
REFUSED = "refused"  # nothing else is right
EITHER = "either"  # protected or refused, as long as nothing leaks


@dataclass
class Case:
    name: str
    family: str
    file: str
    outcome: str = PROTECTED
    # Names of protected columns, as rules name them, and their kinds.
    columns: dict = field(default_factory=dict)
    # [value, row from 0 or null, column]
    planted: list = field(default_factory=list)
    # Rows with a value that does not fit.
    bad_rows: list = field(default_factory=list)
    # Options of the program, such as --quote none; an old program may not know them.
    options: list = field(default_factory=list)
    # Column names and the separator where a CSV reader shall compare the output.
    separator: str = ""
    # (on_bad, threads)
    variations: list = field(default_factory=list)
    # Whether readers compare input, output and what is revealed.
    compare: bool = True

    def __post_init__(self):
        # Where every value fits, null and reject do the same.
        if not self.variations:
            self.variations = [("fail", 1), ("reject", 2)]
            if self.bad_rows or self.outcome != PROTECTED:
                self.variations.insert(1, ("null", 2))

    def rules(self, on_bad):
        text = "version = 1\n"
        for name, kind in self.columns.items():
            text += f"\n[[column]]\nname = {json.dumps(name)}\n"
            text += "".join(f"{word} = {json.dumps(value)}\n" for word, value in KINDS[kind][0].items())
            if "format" in KINDS[kind][0]:
                text += f'on_bad = "{on_bad}"\n'
        return text

    def is_masked(self):
        """Whether a column does not come back."""
        return any("mask" in KINDS[kind][0] for kind in self.columns.values())

    def write(self, folder):
        (folder / "case.json").write_text(json.dumps(self.__dict__, indent=1))
        for on_bad, _ in self.variations:
            (folder / f"rules-{on_bad}.toml").write_text(self.rules(on_bad))

    @staticmethod
    def read(folder):
        return Case(**json.loads((Path(folder) / "case.json").read_text()))


class Rows:
    """The rows of a table with planted values in its protected columns."""

    def __init__(self, seed, name, count=24, columns=None, bad=(), nulls=(), empties=(), distinct=0):
        self.values = Values(seed, name)
        self.columns = columns or {"card": "card", "email": "email"}
        self.bad = sorted(bad)
        self.planted = []
        # With `distinct`, so many values take turns: what dictionaries are for.
        self.distinct, self.repeated = distinct, {}
        self.cells = {"id": list(range(1, count + 1)), "note": [self.values.word() for _ in range(count)]}
        first = next(iter(self.columns))
        for column, kind in self.columns.items():
            self.cells[column] = [
                self._cell(column, kind, row, nulls, empties, column == first) for row in range(count)
            ]
        self.cells["amount"] = [round(self.values.random.random() * 1000, 2) for _ in range(count)]

    def _cell(self, column, kind, row, nulls, empties, is_first):
        if row in nulls:
            return None
        if row in empties:
            return ""
        if is_first and row in self.bad:
            return self.plant(self.values.misfit(), row, column)
        if not self.distinct or row in self.bad:
            return self.plant(KINDS[kind][1](self.values), row, column)
        place = (column, row % self.distinct)
        if place not in self.repeated:
            self.repeated[place] = self.hide(column, kind)
        return self.repeated[place]

    def plant(self, value, row, column):
        self.planted.append([value, row, column])
        return value

    def hide(self, column, kind=None):
        """A value of the column that is not one row's own, so no rejects file may hold it."""
        kind = kind or self.columns[column]
        return self.plant(KINDS[kind][1](self.values), None, column)

    def dicts(self):
        names = list(self.cells)
        return [dict(zip(names, row)) for row in zip(*self.cells.values())]


class Corpus:
    """Writes cases into a folder, each in one of its own."""

    def __init__(self, folder, seed, wanted=None):
        self.folder, self.seed, self.wanted = Path(folder), seed, wanted
        self.names, self.failed = [], []

    def rows(self, name, **options):
        return Rows(self.seed, name, **options)

    def add(self, name, family, file, rows, write, **options):
        """`write(path)` writes the file. A case that this version of a writer cannot write is counted, not hidden."""
        if self.wanted and not self.wanted(name):
            return
        case = Case(
            name=name,
            family=family,
            file=file,
            columns=options.pop("columns", rows.columns),
            planted=rows.planted,
            bad_rows=rows.bad,
            **options,
        )
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        try:
            write(folder / file)
        except Exception as error:  # what a foreign writer raises is not known here
            self.failed.append((name, f"{type(error).__name__}: {error}"[:200]))
            for path in folder.iterdir():
                path.unlink()
            folder.rmdir()
            return
        # Values may be planted while the file is written.
        case.planted = rows.planted
        case.write(folder)
        self.names.append(name)
