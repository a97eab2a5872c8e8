"""Runs the program over a corpus and scans all that it writes and prints for planted values.

    check.py CORPUS [--program FILE] [--jobs N] [--only TEXT] [--sample] [--verbose]
    check.py --generate [--seed N]     makes the corpus first, in a temporary folder

Each case is protected once for each of its variations, revealed again, and looked at with `format check`. A run passes if
nothing of a protected column is readable in its files and messages, and

- it succeeds, the values come back, and every other column is as it was; or
- it refuses with one of the exit codes 2, 3, 12 and 13, says cause and place in two lines, and leaves no file.

A plain valid file of a real writer has to succeed. --sample takes one case of each family with one variation. The last line
is "N passed, N failed, N skipped".
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import multiprocessing
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import parquet_walk
from case import PROTECTED, REFUSED, Case
from compare import Wrong, compare
from needles import Needles
from scan import blobs, scan
from values import KINDS

REFUSALS = {2, 3, 12, 13}
PANIC = re.compile(rb"panicked|stack backtrace|RUST_BACKTRACE|internal error|unreachable")
PLACE = re.compile(
    r"\b(lines?|rows?|columns?|fields?|header|footer|metadata|record|batch|page|key|schema)\b|--\w+|\.(csv|tsv|parquet|arrow|feather|toml)\b"
)
SECONDS = 120


@dataclasses.dataclass(frozen=True)
class Finding:
    kind: str
    case: str
    family: str
    variation: str
    detail: str
    command: str

    def text(self):
        return f"FAIL {self.kind} | {self.case} [{self.variation}] | {self.detail}\n     {self.command}"


@dataclasses.dataclass
class Answer:
    code: int
    out: bytes
    err: bytes
    command: str


class Run:
    """One case with one variation, in a folder of its own."""

    def __init__(self, program, folder, case, variation, work, is_only):
        self.program, self.folder, self.case = program, folder, case
        self.on_bad, self.threads, self.form = variation
        self.work = work
        self.source = folder / case.file
        self.needles = Needles(case.planted)
        self.output = work / f"out{self.source.suffix}"
        self.findings, self.command = [], ""
        self.can_be_walked = self.is_walkable()
        # That reads the same whatever becomes of misfits, so one run of a case does it.
        self.checks_formats = is_only or self.on_bad == case.variations[0][0]

    def is_walkable(self):
        """Whether the input holds all that its form promises: a damaged one need not."""
        try:
            return all(True for _ in blobs(self.source.read_bytes()))
        except ValueError:
            return False

    def found(self, kind, detail):
        variation = f"on_bad={self.on_bad} threads={self.threads} {self.form}"
        command = self.command.replace(str(self.work), "/tmp/w")
        self.findings.append(Finding(kind, self.case.name, self.case.family, variation, detail, command))

    def ask(self, *words, limit=None, is_killed=False):
        """Runs the program. Under a limit no file grows beyond it: a write fails, or the process is killed."""

        def prepare():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL if is_killed else signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        words = [str(self.program), *map(str, words)]
        self.command = shlex.join(words)
        try:
            done = subprocess.run(
                words,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=SECONDS,
                cwd=self.work,
                preexec_fn=prepare if limit is not None else None,
            )
        except subprocess.TimeoutExpired:
            self.found("hang", f"no end within {SECONDS} s")
            return Answer(-1, b"", b"", self.command)
        answer = Answer(done.returncode, done.stdout, done.stderr, self.command)
        for name, text in (("stdout", answer.out), ("stderr", answer.err)):
            self.scan(name, text)
            if PANIC.search(text):
                self.found("panic", f"{name}, exit code {answer.code}: {self.panic_line(text)}")
        is_wanted = answer.code >= 0 or (limit is not None and answer.code == -signal.SIGXFSZ)
        if not is_wanted or answer.code in (101, 134, 139):
            self.found("crash", f"exit code {answer.code}")
        return answer

    @staticmethod
    def panic_line(text):
        lines = [line for line in text.splitlines() if PANIC.search(line)]
        return re.sub(r"\(\d+\)|/\S*/", "", lines[0].decode("utf-8", "replace"))[:160]

    def scan(self, name, data, allowed=frozenset(), whole=True):
        try:
            found = scan(data, self.needles, allowed, whole)
        except ValueError as error:
            if self.can_be_walked:
                self.found("unreadable", f"{name} {error}")
            found = scan(data, self.needles, allowed, whole=False)
        if found:
            rows = {(column, row) for column, row, _, _ in found}
            forms = sorted({form for _, _, form, _ in found})
            places = sorted({re.sub(r"\d+", "N", place) for _, _, _, place in found})
            self.found(
                "leak",
                f"{len(rows)} of {len(self.needles.all)} values in {name} as {', '.join(forms)}: {'; '.join(places)[:200]}",
            )

    def go(self):
        if self.checks_formats:
            self.check_formats()
        answer = self.protect()
        if answer.code == 0:
            self.accepted()
        else:
            self.refused(answer)
        return self.findings

    def protect(self, **limits):
        return self.ask(
            "protect",
            self.source,
            "--rules",
            self.folder / f"rules-{self.on_bad}.toml",
            "--key-file",
            self.work / "key",
            "--new-key",
            "--out",
            self.output,
            "--quiet",
            "--threads",
            self.threads,
            "--format",
            self.form,
            *self.case.options,
            **limits,
        )

    def check_formats(self):
        """What `format check` prints, with the rules and without."""
        before = set(os.listdir(self.work))
        rules = self.folder / f"rules-{self.on_bad}.toml"
        for words in (["--rules", rules], []):
            answer = self.ask("format", "check", self.source, *words, "--format", self.form)
            if answer.code not in {0, *REFUSALS}:
                self.found("exit code", f"format check ends with {answer.code}")
        if set(os.listdir(self.work)) != before:
            self.found("debris", "format check leaves files")

    def has_misfits(self):
        return self.on_bad == "fail" and bool(self.case.bad_rows)

    def refused(self, answer):
        left = sorted(os.listdir(self.work))
        if left:
            self.found("debris", f"a refusal leaves {', '.join(left)}")
        if answer.code not in REFUSALS:
            self.found("exit code", f"protect ends with {answer.code}")
        cause, advice = self.message(answer)
        if not cause or not advice or not PLACE.search(cause.replace(str(self.folder), "")):
            self.found("message", f"cause or place is missing: {cause[:120]!r}")
        if self.case.outcome == PROTECTED and not self.has_misfits():
            self.found("valid file refused", cause.replace(str(self.folder) + "/", "")[:200])

    def message(self, answer):
        """The two lines of a refusal."""
        if self.form == "json":
            try:
                error = json.loads(answer.out)["error"]
                return error["message"], error["advice"]
            except (ValueError, KeyError, TypeError):
                self.found("message", "no JSON document of the error")
                return "", ""
        lines = answer.err.decode("utf-8", "replace").splitlines()
        is_right = len(lines) == 2 and lines[0].startswith("error: ") and lines[1].startswith("help: ")
        if not is_right:
            self.found("message", f"{len(lines)} lines instead of error: and help:")
            return "", ""
        return lines[0].removeprefix("error: "), lines[1].removeprefix("help: ")

    def accepted(self):
        if self.case.outcome == REFUSED:
            self.found("not refused", "the file has to be refused")
        if self.has_misfits():
            self.found("not refused", "a value does not fit and the rule says to stop")
        known = {self.output.name + end for end in ("", ".protection.json", ".rejects")} | {"key"}
        left = sorted(set(os.listdir(self.work)) - known)
        if left:
            self.found("debris", f"a finished run leaves {', '.join(left)}")
        self.scan("OUT", self.output.read_bytes())
        self.scan("OUT.protection.json", Path(f"{self.output}.protection.json").read_bytes())
        rejects = Path(f"{self.output}.rejects")
        if rejects.exists():
            allowed = frozenset(self.case.bad_rows if self.on_bad == "reject" else ())
            self.scan("OUT.rejects", rejects.read_bytes(), allowed)
        # What is masked for good is not revealed.
        if any("format" in KINDS[kind][0] for kind in self.case.columns.values()):
            self.reveal()

    def reveal(self):
        back = self.work / f"back{self.source.suffix}"
        rules = self.folder / f"rules-{self.on_bad}.toml"
        words = ["--rules", rules, "--key-file", self.work / "key", "--out", back, "--quiet", "--threads", self.threads]
        answer = self.ask("reveal", self.output, *words, *self.case.options)
        if answer.code != 0:
            cause = answer.err.decode("utf-8", "replace").split("\n")[0]
            self.found("not revealed", f"reveal ends with {answer.code}: {cause.replace(str(self.work), '')[:160]}")
            return
        if not self.case.compare or any(finding.kind == "not refused" for finding in self.findings):
            return
        try:
            compare(self.case, self.on_bad, self.source, self.output, back)
        except Wrong as error:
            self.found(error.args[0], error.args[1])


class CutRun(Run):
    """A run that cannot write all of its output, and goes on later. What it leaves is scanned as well."""

    def go(self):
        size = self.source.stat().st_size
        for share, is_killed in ((2, False), (3, True)):
            answer = self.protect(limit=max(size // share, 512), is_killed=is_killed)
            if answer.code == 0:
                break
            for name in sorted(os.listdir(self.work)):
                if name != "key":
                    data = (self.work / name).read_bytes()
                    self.scan(
                        name, data, frozenset(self.case.bad_rows) if "rejects" in name else frozenset(), whole=False
                    )
                    self.scan_pages(name, data)
        answer = self.protect()
        if answer.code == 0:
            self.accepted()
        else:
            self.found("not resumed", f"exit code {answer.code}")
        return self.findings

    def scan_pages(self, name, data):
        """Pages of a Parquet file that has no footer yet."""
        if data[:4] == parquet_walk.MAGIC:
            found = self.needles.find(parquet_walk.pages_without_footer(data))
            if found:
                self.found("leak", f"{len(found)} values in pages of {name}")


def run_case(program, folder, variation, is_cut, is_only):
    case = Case.read(folder)
    with tempfile.TemporaryDirectory(prefix="corpus-") as work:
        kind = CutRun if is_cut else Run
        try:
            return kind(Path(program), Path(folder), case, variation, Path(work), is_only).go()
        except Exception as error:
            # A fault of the harness is a failure, never a pass.
            return [
                Finding("harness", case.name, case.family, str(variation), f"{type(error).__name__}: {error}"[:300], "")
            ]


def no_core_files():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def sample(cases):
    """One case of each family, one with a misfit where there is one: rejects need it."""
    chosen = {}
    for folder, case in cases:
        if case.family not in chosen or (case.bad_rows and not chosen[case.family][1].bad_rows):
            chosen[case.family] = (folder, case)
    return list(chosen.values())


def planned(corpus, wanted, is_sample):
    """(folder, variation, whether it is cut short) of each run."""
    folders = sorted(path.parent for path in Path(corpus).glob("*/case.json"))
    cases = [(folder, Case.read(folder)) for folder in folders]
    cases = [(folder, case) for folder, case in cases if wanted in case.name or wanted in case.family]
    cut_families = set()
    for folder, case in sample(cases) if is_sample else cases:
        number = sum(map(ord, case.name))
        variations = [
            (*variation, ("text", "json")[(number + place) % 2]) for place, variation in enumerate(case.variations)
        ]
        if is_sample:
            variations = [variations[-1 if case.bad_rows else number % len(variations)]]
        for variation in variations:
            yield folder, variation, False
        is_plain = case.outcome == PROTECTED and not case.bad_rows and not case.options
        size = (folder / case.file).stat().st_size
        top = case.family.split(".", 1)[0]
        if is_plain and 4096 < size < 1 << 20 and (not is_sample or top not in cut_families):
            cut_families.add(top)
            yield folder, ("fail", 1, "text"), True


def summary(findings):
    """How often each kind came, for a first look."""
    kinds = collections.defaultdict(collections.Counter)
    for finding in findings:
        kinds[finding.kind][finding.family] += 1
    for kind, families in sorted(kinds.items()):
        listed = ", ".join(f"{family} {count}" for family, count in sorted(families.items()))
        print(f"{kind}: {sum(families.values())} ({listed})")


def check(corpus, program, arguments):
    passed, failed, everything = 0, 0, []
    # Spawned, not forked: the threads of the writers' libraries would hold locks for ever in a fork.
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs, spawn, initializer=no_core_files) as pool:
        runs = list(planned(corpus, arguments.only, arguments.sample))
        asked = [
            pool.submit(run_case, program, str(folder), variation, is_cut, arguments.sample)
            for folder, variation, is_cut in runs
        ]
        for (folder, variation, _), answer in zip(runs, asked):
            findings = answer.result()
            passed, failed = passed + (not findings), failed + bool(findings)
            everything += findings
            for finding in findings:
                print(finding.text(), flush=True)
            if arguments.verbose and not findings:
                print(f"ok   {folder.name} {variation}", flush=True)
    if arguments.report:
        Path(arguments.report).write_text(json.dumps([dataclasses.asdict(finding) for finding in everything], indent=1))
    summary(everything)
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="?")
    parser.add_argument("--program", default=os.environ.get("KEYWRIGHT", "target/debug/keywright"))
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", default="", help="cases or families with this text in their names")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--generate", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", help="write the findings to this file, as JSON")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    program = shutil.which(arguments.program)
    if program is None:
        print(f"{arguments.program} is not there: build it, or name it with --program", file=sys.stderr)
        print("0 passed, 1 failed, 0 skipped")
        return 1
    skipped, made = 0, None
    corpus = arguments.corpus
    if arguments.generate or corpus is None:
        from generate import generate

        made = tempfile.TemporaryDirectory(prefix="corpus-")
        corpus = corpus or made.name
        written = generate(corpus, arguments.seed)
        for name, error in written.failed:
            print(f"skipped: {name}: the writer says {error}")
        skipped = len(written.failed)
        print(f"{len(written.names)} files")
    passed, failed = check(corpus, str(Path(program).resolve()), arguments)
    if passed + failed == 0:
        failed = 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
