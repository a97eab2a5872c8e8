"""Makes the golden vectors, or checks those on disk.

    python generate.py            writes the JSON files beside this program
    python generate.py --check    compares them with what it makes, opens every case, and runs the published values

Nothing is random: every key, nonce and salt comes from SHA-256 over the case's name. The last line of a check is
`N passed, N failed, N skipped`; the exit code is 1 if anything failed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

import envelope_cases
import file_cases
import password_cases
import published
import recipient_cases
import stream_cases
from casebook import Json
from judge import JUDGES

FOLDER = Path(__file__).resolve().parent


def book(format_name: str, cases: list[Json]) -> Json:
    names = [case["name"] for case in cases]
    if len(set(names)) != len(names):
        raise ValueError(f"a name was given twice in {format_name}")
    valid = sum(case["valid"] for case in cases)
    return {"format": format_name, "schema": 1, "valid": valid, "invalid": len(cases) - valid, "cases": cases}


def books() -> dict[str, Json]:
    """File name to contents, for every file of this folder's vectors."""
    made = {}
    for suite in range(1, 7):
        cases = list(envelope_cases.cases(suite))
        if suite == 6:
            cases += stream_cases.cases()
        made[f"suite{suite}.json"] = book("envelope", cases)
    made["file.json"] = book("file", list(file_cases.cases()))
    made["recipient.json"] = book("file", list(recipient_cases.cases()))
    made["password.json"] = book("password", list(password_cases.cases()))
    return made


def text(contents: Json) -> str:
    """One case a line: small, and a difference shows which case changed."""
    head = json.dumps({key: value for key, value in contents.items() if key != "cases"})
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in contents["cases"])
    return f'{head[:-1]}, "cases": [\n{lines}\n]}}\n'


class Tally:
    """Counts answers and names those that are wrong."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def add(self, name: str, answer: bool | None) -> None:
        verdict = {True: "passed", False: "failed", None: "skipped"}[answer]
        self.counts[verdict] += 1
        if answer is False:
            print(f"failed: {name}", file=sys.stderr)

    def line(self) -> str:
        return ", ".join(f"{self.counts[verdict]} {verdict}" for verdict in ("passed", "failed", "skipped"))


def check_disk(tally: Tally) -> None:
    """Files on disk equal what this program makes, and each case on disk opens, or is refused, as it says."""
    for file, contents in books().items():
        path = FOLDER / file
        found = path.read_text() if path.is_file() else ""
        tally.add(f"{file} on disk is what this program makes", found == text(contents))
        on_disk = json.loads(found)["cases"] if found else []
        by_name = {case["name"]: case for case in on_disk}
        for case in on_disk:
            tally.add(f"{file} {case['name']}", JUDGES[contents["format"]](case, by_name))


def check() -> int:
    tally = Tally()
    for name, answer in [*published.fixed_checks(), *published.foreign_checks()]:
        tally.add(name, answer)
    check_disk(tally)
    print(tally.line())
    return 1 if tally.counts["failed"] else 0


def write() -> int:
    for file, contents in books().items():
        (FOLDER / file).write_text(text(contents))
        print(f"{file}: {contents['valid']} valid, {contents['invalid']} invalid")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Make or check Keywright's golden vectors.")
    parser.add_argument("--check", action="store_true", help="check the files on disk, write nothing")
    return check() if parser.parse_args().check else write()


if __name__ == "__main__":
    sys.exit(main())
