"""CSV and TSV: quotes, line ends, encodings, headers and ragged rows in right and wrong places."""

import csv
import io

from case import EITHER, PROTECTED, REFUSED

SEPARATORS = {"comma": ",", "tab": "\t", "semicolon": ";", "pipe": "|"}


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def plain_text(rows, separator=",", end="\n", quoting=csv.QUOTE_MINIMAL, last_end=True):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator=end, quoting=quoting)
    writer.writerow(rows.cells)
    for row in zip(*rows.cells.values()):
        writer.writerow(["" if cell is None else cell for cell in row])
    text = out.getvalue()
    return text if last_end else text[: -len(end)]


def raw_text(rows, separator=",", end="\n"):
    """As programs write that know no quoting."""
    lines = [separator.join(rows.cells)]
    lines += [separator.join("" if cell is None else str(cell) for cell in row) for row in zip(*rows.cells.values())]
    return end.join(lines) + end


def writer(make, encoding="utf-8"):
    return lambda path: path.write_bytes(make().encode(encoding))


def add_all(corpus):
    plain(corpus)
    well_formed_quotes(corpus)
    stray_quotes(corpus)
    spanning_cells(corpus)
    quote_none(corpus)
    line_ends(corpus)
    encodings(corpus)
    nul_bytes(corpus)
    headers(corpus)
    ragged(corpus)
    wide(corpus)
    masked(corpus)


def plain(corpus):
    for word, separator in SEPARATORS.items():
        for end_word, end in (("lf", "\n"), ("crlf", "\r\n")):
            for bad in ((), (3,)):
                name = f"csv-plain-{word}-{end_word}" + ("-misfit" if bad else "")
                rows = corpus.rows(name, bad=bad, nulls=(5,))
                suffix = "tsv" if word == "tab" else "csv"
                make = lambda rows=rows, separator=separator, end=end: plain_text(rows, separator, end)
                corpus.add(name, f"csv.plain.{word}", f"data.{suffix}", rows, writer(make), separator=separator)
    for kind in ("grouped", "ssn", "long"):
        name = f"csv-plain-kind-{kind}"
        rows = corpus.rows(name, columns={"secret": kind, "email": "email"})
        corpus.add(name, "csv.kinds", "data.csv", rows, writer(lambda rows=rows: plain_text(rows)), separator=",")
    for name, options in {
        "csv-plain-no-last-end": {"last_end": False},
        "csv-plain-all-quoted": {"quoting": csv.QUOTE_ALL},
        "csv-plain-texts-quoted": {"quoting": csv.QUOTE_NONNUMERIC},
    }.items():
        rows = corpus.rows(name)
        make = lambda rows=rows, options=options: plain_text(rows, **options)
        corpus.add(name, "csv.plain.quoted", "data.csv", rows, writer(make), separator=",")
    for name, count in {"csv-header-only": 0, "csv-one-row": 1, "csv-many-rows": 4000}.items():
        rows = corpus.rows(name, count=count)
        corpus.add(name, "csv.size", "data.csv", rows, writer(lambda rows=rows: plain_text(rows)), separator=",")


def well_formed_quotes(corpus):
    """Quotes as RFC 4180 wants them, in columns that change and in columns that do not."""
    for name, cell in {
        "csv-quote-doubled": 'he said ""no"", twice',
        "csv-quote-comma": "a, b, c",
        "csv-quote-line-end": "first line\nsecond line",
        "csv-quote-crlf": "first line\r\nsecond line",
        "csv-quote-empty": "",
    }.items():
        rows = corpus.rows(name)
        rows.cells["note"][4] = cell.replace('""', '"')
        rows.cells["note"][9] = cell.replace('""', '"')
        corpus.add(name, "csv.quotes.good", "data.csv", rows, writer(lambda rows=rows: plain_text(rows)), separator=",")
    name = "csv-quote-protected-cells"
    rows = corpus.rows(name)

    def some_quoted(rows=rows):
        lines = plain_text(rows).split("\n")
        for row in (2, 3, 7):
            value = rows.cells["card"][row]
            lines[row + 1] = lines[row + 1].replace(value, quoted(value))
        return "\n".join(lines)

    corpus.add(name, "csv.quotes.good", "data.csv", rows, writer(some_quoted), separator=",")


# What programs without quoting write into a text column: (row, text) in a cell that is written as it is.
STRAY = {
    "open-and-close-later": {2: '"six inch', 5: '12" pipe'},
    "open-closed-by-cell-end": {2: '"efg', 4: '"klm"', 6: 'oh"'},
    "open-only": {2: '"never closed'},
    "open-in-last-row": {23: '"never closed'},
    "inch-inside": {2: '12" pipe'},
    "two-inside": {2: 'a "quoted" word', 6: '5" and 6"'},
    "text-behind-closing": {2: '"six" inch'},
    "text-behind-closing-twice": {2: '"six" inch', 6: '"seven" inch'},
    "blank-before-opening": {2: ' "six inch"'},
    "blank-behind-closing": {2: '"six inch" '},
    "lone-quote": {2: '"'},
    "lone-quotes-apart": {2: '"', 8: '"'},
    "three-quotes": {2: '"""'},
    "three-quotes-apart": {2: '"""six', 6: 'inch"""'},
    "four-apart": {2: '"a', 3: 'b"', 10: '"c', 12: 'd"'},
    "backslash-escaped": {2: '"six \\" inch"'},
    "backslash-before-end": {2: '"six inch\\"', 6: '"seven"'},
    "apostrophes": {2: "'six inch", 6: "it's"},
    "typographic": {2: "\u201csix inch\u201d"},
}


def stray_quotes(corpus):
    harmless = {"apostrophes", "typographic"}
    for word, separator in SEPARATORS.items():
        for stray, cells in STRAY.items():
            if word in ("semicolon", "pipe") and stray not in (
                "open-and-close-later",
                "text-behind-closing",
                "inch-inside",
            ):
                continue
            name = f"csv-stray-{word}-{stray}"
            rows = corpus.rows(name)
            for row, text in cells.items():
                rows.cells["note"][row] = text
            suffix = "tsv" if word == "tab" else "csv"
            make = lambda rows=rows, separator=separator: raw_text(rows, separator)
            outcome = PROTECTED if stray in harmless else REFUSED
            # A backslash before the closing quote is a text of RFC 4180; three quotes may be one quote in quotes.
            if stray in ("three-quotes", "backslash-before-end"):
                outcome = EITHER
            corpus.add(
                name, f"csv.stray.{stray}", f"data.{suffix}", rows, writer(make), outcome=outcome, separator=separator
            )
    # In the last column, and in the column before the protected one is there none.
    for stray in ("open-and-close-later", "text-behind-closing", "inch-inside", "open-in-last-row"):
        for place in ("first", "last"):
            name = f"csv-stray-{place}-column-{stray}"
            rows = corpus.rows(name)
            note = rows.cells.pop("note")
            for row, text in STRAY[stray].items():
                note[row] = text
            if place == "last":
                rows.cells["note"] = note
            else:
                rows.cells = {"note": note, **rows.cells}
            make = lambda rows=rows: raw_text(rows)
            corpus.add(name, f"csv.stray.place.{place}", "data.csv", rows, writer(make), outcome=REFUSED, separator=",")
    # In the protected column itself.
    for stray, shape in {
        "open": '"{}',
        "close": '{}"',
        "inside": '{0}"{0}',
        "behind": '"{}"x',
        "blank": '"{}" ',
        "before": ' "{}"',
    }.items():
        name = f"csv-stray-protected-{stray}"
        rows = corpus.rows(name)
        rows.bad = [3]
        rows.cells["card"][3] = shape.format(rows.cells["card"][3])
        corpus.add(
            name,
            f"csv.stray.protected.{stray}",
            "data.csv",
            rows,
            writer(lambda rows=rows: raw_text(rows)),
            outcome=EITHER,
        )
    # A quote in the header.
    for stray, header in {"open": '"note', "inside": 'no"te', "close": 'note"', "behind": '"no"te'}.items():
        name = f"csv-stray-header-{stray}"
        rows = corpus.rows(name)
        make = lambda rows=rows, header=header: raw_text(rows).replace("note", header, 1)
        corpus.add(name, "csv.stray.header", "data.csv", rows, writer(make), outcome=EITHER)


def spanning_cells(corpus):
    """A well-formed quoted cell of an unprotected column that holds what looks like rows."""
    for word, shape in {
        "row": "text,{card},x@example.com,1\n7,more",
        "card-alone": "see {card}",
        "lines": "first\n{card}\nlast",
        "separators": "a,{card},b",
        "tab": "a\t{card}\tb",
        "semicolons": "a;{card};b",
        "blanks-around": "a, {card} ,b",
        "doubled-quotes": 'a,"{card}",b',
        "named": "a,card: {card},b",
        "many-lines": "a\n\n\n\n{card}\n\n",
        "carriage-return": "a\r{card}\rb",
    }.items():
        for suffix, separator in (("csv", ","), ("tsv", "\t")):
            name = f"{suffix}-span-{word}"
            rows = corpus.rows(name)
            card = rows.hide("card")
            rows.cells["note"][4] = shape.format(card=card).replace(",", separator)
            spans = word not in ("card-alone",) and (
                separator in rows.cells["note"][4] or "\n" in rows.cells["note"][4]
            )
            if not spans:
                # A cell that spans nothing is a text of a column that no rule names.
                rows.planted.pop()
            make = lambda rows=rows, separator=separator: plain_text(rows, separator, quoting=csv.QUOTE_ALL)
            corpus.add(
                name,
                f"csv.span.{word}",
                f"data.{suffix}",
                rows,
                writer(make),
                # No cell of these fits a format as it is, so two stray quotes would have been told by their neighbours.
                outcome=REFUSED if spans and word not in ("blanks-around", "named") else EITHER,
                separator=separator,
            )
    for kind in ("email", "ssn", "grouped", "long"):
        name = f"csv-span-kind-{kind}"
        rows = corpus.rows(name, columns={"card": "card", "other": kind})
        rows.cells["note"][4] = f"text,{rows.hide('other')},1\n7,more"
        make = lambda rows=rows: plain_text(rows)
        corpus.add(name, "csv.span.kind", "data.csv", rows, writer(make), outcome=REFUSED, separator=",")
    for suffix, separator in (("csv", ","), ("tsv", "\t")):
        name = f"{suffix}-span-accepted"
        rows = corpus.rows(name)
        # A text of a column that no rule names, so nothing of it is planted.
        rows.cells["note"][4] = f"a{separator}{rows.values.card()}{separator}b"
        make = lambda rows=rows, separator=separator: plain_text(rows, separator)
        options = ["--quote", "double", "--accept-quoted-values"]
        corpus.add(
            name, "csv.span.accepted", f"data.{suffix}", rows, writer(make), options=options, separator=separator
        )
    # In a .tsv every cell that spans is refused until --quote says what is meant.
    for word, cell in {"harmless-lines": "first\nsecond", "harmless-tab": "a\tb"}.items():
        name = f"tsv-span-{word}"
        rows = corpus.rows(name)
        rows.cells["note"][4] = cell
        make = lambda rows=rows: plain_text(rows, "\t")
        corpus.add(name, "csv.span.tsv", "data.tsv", rows, writer(make), outcome=REFUSED, separator="\t")
        name += "-quote-double"
        rows = corpus.rows(name)
        rows.cells["note"][4] = cell
        make = lambda rows=rows: plain_text(rows, "\t")
        options = ["--quote", "double"]
        corpus.add(name, "csv.span.tsv", "data.tsv", rows, writer(make), options=options, separator="\t")


def quote_none(corpus):
    """Files without quoting, and the option that says so."""
    for stray in ("open-and-close-later", "open-closed-by-cell-end", "open-only", "inch-inside", "lone-quote"):
        name = f"tsv-quote-none-{stray}"
        rows = corpus.rows(name)
        for row, text in STRAY[stray].items():
            rows.cells["note"][row] = text
        make = lambda rows=rows: raw_text(rows, "\t")
        corpus.add(name, "csv.quote-none", "data.tsv", rows, writer(make), options=["--quote", "none"], compare=False)


def line_ends(corpus):
    for word, end, outcome in (
        ("cr", "\r", REFUSED),
        ("lfcr", "\n\r", EITHER),
        ("nel", "\u0085", EITHER),
        ("ls", "\u2028", EITHER),
        ("vt", "\x0b", EITHER),
        ("ff", "\x0c", EITHER),
        ("rs", "\x1e", EITHER),
    ):
        name = f"csv-end-{word}"
        rows = corpus.rows(name)
        make = lambda rows=rows, end=end: raw_text(rows, end=end)
        corpus.add(name, f"csv.end.{word}", "data.csv", rows, writer(make), outcome=outcome)
    name = "csv-end-mixed"
    rows = corpus.rows(name)

    def mixed(rows=rows):
        lines = raw_text(rows).split("\n")
        return "".join(line + ("\r\n" if number % 3 else "\n") for number, line in enumerate(lines[:-1]))

    corpus.add(name, "csv.end.mixed", "data.csv", rows, writer(mixed), outcome=EITHER)
    for word, cell in {"cr-in-note": "one\rtwo", "cr-at-cell-end": "one\r", "crs": "\r\r"}.items():
        name = f"csv-end-{word}"
        rows = corpus.rows(name)
        rows.cells["note"][4] = cell
        make = lambda rows=rows: raw_text(rows)
        corpus.add(name, "csv.end.cr-in-cell", "data.csv", rows, writer(make), outcome=EITHER)
    name = "csv-end-blank-lines"
    rows = corpus.rows(name)
    make = lambda rows=rows: raw_text(rows).replace("\n7,", "\n\n\n7,")
    corpus.add(name, "csv.end.blank", "data.csv", rows, writer(make), outcome=EITHER)


def encodings(corpus):
    for encoding, outcome in (
        ("utf-8-sig", PROTECTED),
        ("latin-1", EITHER),
        ("cp1252", EITHER),
        ("utf-16-le", REFUSED),
        ("utf-16-be", REFUSED),
        ("utf-16", REFUSED),
        ("utf-32", REFUSED),
        ("cp500", REFUSED),
        ("utf-7", EITHER),
    ):
        for place in ("cell", "header"):
            name = f"csv-encoding-{encoding}-{place}"
            rows = corpus.rows(name)
            rows.cells["note"][3] = "Größe+"
            make = lambda rows=rows, place=place: (
                raw_text(rows).replace("note", "größe", 1) if place == "header" else raw_text(rows)
            )
            corpus.add(
                name,
                f"csv.encoding.{encoding}",
                "data.csv",
                rows,
                writer(make, encoding),
                outcome=outcome,
                compare=False,
            )
    name = "csv-encoding-utf-8"
    rows = corpus.rows(name)
    rows.cells["note"][3] = "Größe, 中文, 🙂"
    corpus.add(name, "csv.encoding.utf-8", "data.csv", rows, writer(lambda rows=rows: plain_text(rows)), separator=",")
    # A byte order mark where there should be none.
    for word, old, new in (
        ("twice", "id,", "\ufeff\ufeffid,"),
        ("second-header", ",note", ",\ufeffnote"),
        ("protected-header", ",card", ",\ufeffcard"),
        ("second-line", "\n1,", "\n\ufeff1,"),
        ("quoted-header", "id,", '\ufeff"id",'),
    ):
        name = f"csv-bom-{word}"
        rows = corpus.rows(name)
        make = lambda rows=rows, old=old, new=new: raw_text(rows).replace(old, new, 1)
        corpus.add(name, "csv.bom", "data.csv", rows, writer(make), outcome=EITHER)
    # The mark before a first protected column belongs to no value.
    name = "csv-bom-first-protected"
    rows = corpus.rows(name)
    rows.cells = {"card": rows.cells.pop("card"), **rows.cells}
    corpus.add(
        name, "csv.bom", "data.csv", rows, writer(lambda rows=rows: plain_text(rows), "utf-8-sig"), separator=","
    )
    # Half of the file in another encoding.
    for encoding in ("utf-16-le", "utf-16-be"):
        name = f"csv-encoding-then-{encoding}"
        rows = corpus.rows(name)

        def halves(path, rows=rows, encoding=encoding):
            text = raw_text(rows)
            cut = text.index("\n12,") + 1
            path.write_bytes(text[:cut].encode() + text[cut:].encode(encoding))

        rows.bad = list(range(11, 24))
        corpus.add(name, "csv.encoding.halves", "data.csv", rows, halves, outcome=EITHER)
    for word, bad in {
        "overlong": b"\xc0\xaf",
        "surrogate": b"\xed\xa0\x80",
        "cut": b"\xe4\xb8",
        "ff": b"\xff\xfe",
    }.items():
        name = f"csv-encoding-invalid-{word}"
        rows = corpus.rows(name)
        make = lambda path, rows=rows, bad=bad: path.write_bytes(
            raw_text(rows).encode().replace(rows.cells["note"][3].encode(), bad)
        )
        corpus.add(name, "csv.encoding.invalid", "data.csv", rows, make, outcome=EITHER)


def nul_bytes(corpus):
    for word, change in {
        "in-note": lambda data, rows: data.replace(rows.cells["note"][3].encode(), b"a\0b"),
        "in-card": lambda data, rows: data.replace(
            rows.cells["card"][3].encode(),
            rows.cells["card"][3][:8].encode() + b"\0" + rows.cells["card"][3][8:].encode(),
        ),
        "behind-card": lambda data, rows: data.replace(
            rows.cells["card"][3].encode(), rows.cells["card"][3].encode() + b"\0"
        ),
        "in-header": lambda data, rows: data.replace(b"note", b"no\0te", 1),
        "at-end": lambda data, rows: data + b"\0" * 16,
        "ctrl-z": lambda data, rows: data + b"\x1a",
        "line": lambda data, rows: data.replace(b"\n7,", b"\n\0\n7,"),
        "before-quote": lambda data, rows: data.replace(rows.cells["note"][3].encode(), b'\0"six inch'),
    }.items():
        name = f"csv-nul-{word}"
        rows = corpus.rows(name)
        if word in ("in-card", "behind-card"):
            rows.bad = [3]
        make = lambda path, rows=rows, change=change: path.write_bytes(change(raw_text(rows).encode(), rows))
        corpus.add(name, "csv.nul", "data.csv", rows, make, outcome=EITHER)


def headers(corpus):
    def without(text):
        return text.split("\n", 1)[1]

    for word, change, outcome in (
        ("missing", without, REFUSED),
        ("blank-line-first", lambda text: "\n" + text, EITHER),
        ("comment-first", lambda text: "# made by a program\n" + text, EITHER),
        ("sep-line", lambda text: "sep=,\n" + text, EITHER),
        ("twice", lambda text: text.split("\n", 1)[0] + "\n" + text, EITHER),
        ("duplicate-protected", lambda text: text.replace("email", "card", 1), REFUSED),
        ("duplicate-other", lambda text: text.replace("amount", "note", 1), EITHER),
        ("other-case", lambda text: text.replace("card", "Card", 1), REFUSED),
        ("blank-around", lambda text: text.replace("card", " card ", 1), REFUSED),
        ("empty-name", lambda text: text.replace("note", "", 1), EITHER),
        ("all-empty", lambda text: ",,,," + text[text.index("\n") :], REFUSED),
        ("quoted", lambda text: text.replace("card", '"card"', 1), PROTECTED),
        ("line-in-name", lambda text: text.replace("note", '"no\nte"', 1), EITHER),
        ("first-row-only", lambda text: without(text).split("\n", 1)[0] + "\n", REFUSED),
        ("short", lambda text: "id,note,card\n" + without(text), REFUSED),
        ("long", lambda text: text.replace("amount", "amount,more", 1), REFUSED),
    ):
        name = f"csv-header-{word}"
        rows = corpus.rows(name)
        if word == "twice":
            rows.bad = [0]
        make = lambda rows=rows, change=change: change(raw_text(rows))
        corpus.add(name, f"csv.header.{word}", "data.csv", rows, writer(make), outcome=outcome, compare=False)
    # The first row as the header, in all the ways a value may look like a name.
    for kind in ("ssn", "grouped", "long"):
        name = f"csv-header-missing-{kind}"
        rows = corpus.rows(name, columns={"secret": kind})
        corpus.add(
            name,
            "csv.header.missing",
            "data.csv",
            rows,
            writer(lambda rows=rows: without(raw_text(rows))),
            outcome=REFUSED,
        )
    # A quote that opens in the header.
    name = "csv-header-swallows"
    rows = corpus.rows(name)
    make = lambda rows=rows: raw_text(rows).replace("amount", '"amount', 1)
    corpus.add(name, "csv.header.swallows", "data.csv", rows, writer(make), outcome=REFUSED)


def ragged(corpus):
    for word, change in {
        "short-row": lambda line: line.rsplit(",", 1)[0],
        "long-row": lambda line: line + ",more",
        "trailing-separator": lambda line: line + ",",
        "unquoted-comma-in-note": lambda line: line.replace(",", ",a,", 1),
        "one-field": lambda line: line.replace(",", " "),
        "split-line": lambda line: line.replace(",", ",\n", 1),
        "joined": lambda line: line + "," + line,
        "shifted": lambda line: line.replace(",", ",,", 1).rsplit(",", 1)[0],
    }.items():
        name = f"csv-ragged-{word}"
        rows = corpus.rows(name)
        if word == "shifted":
            # Its e-mail address is in a column that no rule names.
            rows.bad = [6]
            rows.planted = [planted for planted in rows.planted if planted[1:] != [6, "email"]]

        def make(rows=rows, change=change):
            lines = raw_text(rows).split("\n")
            lines[7] = change(lines[7])
            return "\n".join(lines)

        # A shifted row has as many fields: its e-mail column holds a card, which does not fit.
        outcome = EITHER if word == "shifted" else REFUSED
        corpus.add(name, f"csv.ragged.{word}", "data.csv", rows, writer(make), outcome=outcome, compare=False)
    name = "csv-ragged-every-row-trailing"
    rows = corpus.rows(name)
    make = lambda rows=rows: raw_text(rows).replace("\n", ",\n")
    corpus.add(name, "csv.ragged.trailing", "data.csv", rows, writer(make), outcome=EITHER)
    name = "csv-ragged-footer"
    rows = corpus.rows(name)
    make = lambda rows=rows: raw_text(rows) + "24 rows\n"
    corpus.add(name, "csv.ragged.footer", "data.csv", rows, writer(make), outcome=REFUSED)
    for word, extra in {"two-separators": ";", "tabs-in-csv": "\t"}.items():
        name = f"csv-ragged-{word}"
        rows = corpus.rows(name)

        def make(rows=rows, extra=extra):
            lines = raw_text(rows).split("\n")
            return "\n".join(line.replace(",", extra) if number > 12 else line for number, line in enumerate(lines))

        corpus.add(name, "csv.ragged.separators", "data.csv", rows, writer(make), outcome=REFUSED)


def wide(corpus):
    """The separator that a header shows inside of a quoted name is none."""
    name = "csv-detect-in-quotes"
    rows = corpus.rows(name)
    make = lambda rows=rows: plain_text(rows).replace("note", '"notes; a; b; c; d; e; f"', 1)
    corpus.add(name, "csv.detect", "data.csv", rows, writer(make), outcome=EITHER)
    name = "csv-detect-decimal-comma"
    rows = corpus.rows(name)
    rows.cells["amount"] = [str(amount).replace(".", ",") for amount in rows.cells["amount"]]
    make = lambda rows=rows: raw_text(rows, ";")
    corpus.add(name, "csv.detect", "data.csv", rows, writer(make), separator=";")
    for word, magic in {
        "gzip": b"\x1f\x8b",
        "zip": b"PK\x03\x04",
        "zstd": b"\x28\xb5\x2f\xfd",
        "feather-v1": b"FEA1",
        "orc": b"ORC",
        "avro": b"Obj\x01",
        "sqlite": b"SQLite format 3\0",
    }.items():
        name = f"csv-other-kind-{word}"
        rows = corpus.rows(name)
        make = lambda path, rows=rows, magic=magic: path.write_bytes(magic + raw_text(rows).encode())
        corpus.add(name, f"csv.other-kind.{word}", "data.csv", rows, make, outcome=EITHER)
    for word, count in {"long-note": 300_000, "too-long-note": 9_000_000}.items():
        name = f"csv-{word}"
        rows = corpus.rows(name)
        rows.cells["note"][5] = rows.values.word(50) * (count // 50)
        outcome = PROTECTED if count < 1_000_000 else EITHER
        make = lambda rows=rows: plain_text(rows)
        corpus.add(name, "csv.long-record", "data.csv", rows, writer(make), outcome=outcome, separator=",")


def masked(corpus):
    """Columns with a mask alone: every text fits them, so only the structure of the file can tell."""
    for kind in ("mask-null", "mask-last", "mask-hash"):
        for bad in ((), (3,)):
            name = f"csv-{kind}" + ("-misfit" if bad else "")
            rows = corpus.rows(name, columns={"card": "card", "other": kind}, bad=bad)
            corpus.add(name, "csv.mask", "data.csv", rows, writer(lambda rows=rows: plain_text(rows)), separator=",")
    for stray in ("open-and-close-later", "open-closed-by-cell-end", "text-behind-closing", "lone-quotes-apart"):
        name = f"csv-mask-stray-{stray}"
        rows = corpus.rows(name, columns={"other": "mask-null"})
        for row, text in STRAY[stray].items():
            rows.cells["note"][row] = text
        make = lambda rows=rows: raw_text(rows)
        corpus.add(
            name,
            "csv.mask.stray",
            "data.csv",
            rows,
            writer(make),
            outcome=REFUSED,
            separator=",",
            variations=[("fail", 1)],
        )
    # Two quotes that are stray, and well-formed as one cell: the rows between them have a masked column as well.
    name = "csv-mask-span"
    rows = corpus.rows(name, columns={"other": "mask-null"})
    rows.cells["note"][4] = f"six inch,{rows.hide('other')},1.5\n6,pipe"
    options = {"separator": ",", "variations": [("fail", 1)]}
    corpus.add(name, "csv.mask.span", "data.csv", rows, writer(lambda: plain_text(rows)), outcome=EITHER, **options)
