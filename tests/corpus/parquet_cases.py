"""Parquet files of pyarrow, Polars, DuckDB and fastparquet: every encoding, codec, page version, nesting and metadata."""

import base64
import json
import zlib
from datetime import date, datetime
from decimal import Decimal

import duckdb
import fastparquet
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe

from case import EITHER, PROTECTED, REFUSED

CODECS = ("none", "snappy", "gzip", "zstd", "lz4", "brotli")


def table(rows, string=pa.string(), protected=None):
    """The rows as an Arrow table. `protected` is the type of the protected columns."""
    columns = {}
    for name, cells in rows.cells.items():
        if name in rows.columns:
            columns[name] = pa.array(cells, string).cast(protected) if protected else pa.array(cells, string)
        elif name == "note":
            columns[name] = pa.array(cells, pa.string())
        else:
            columns[name] = pa.array(cells)
    return pa.table(columns)


def write(make, **options):
    return lambda path: pq.write_table(make(), path, **options)


def add_all(corpus):
    codecs(corpus)
    encodings(corpus)
    groups(corpus)
    statistics(corpus)
    types(corpus)
    nesting(corpus)
    metadata(corpus)
    hidden_bytes(corpus)
    encryption(corpus)
    masked(corpus)
    of_pandas(corpus)
    of_polars(corpus)
    of_duckdb(corpus)
    of_fastparquet(corpus)


def codecs(corpus):
    for codec in CODECS:
        for version in ("1.0", "2.0"):
            name = f"parquet-codec-{codec}-v{version[0]}"
            bad = (4,) if version == "2.0" else ()
            rows = corpus.rows(name, bad=bad, nulls=(6,))
            make = lambda rows=rows: table(rows)
            outcome = EITHER if codec == "brotli" else PROTECTED
            corpus.add(
                name,
                f"parquet.codec.{codec}",
                "data.parquet",
                rows,
                write(make, compression=codec, data_page_version=version),
                outcome=outcome,
            )
    # A codec of its own for each column: what stays may have any.
    for codec in CODECS:
        name = f"parquet-codec-other-column-{codec}"
        rows = corpus.rows(name)
        make = lambda rows=rows: table(rows)
        compression = {"id": codec, "note": codec, "amount": codec, "card": "snappy", "email": "zstd"}
        # Where rows may be rejected, every column is written anew.
        outcome = EITHER if codec == "brotli" else PROTECTED
        corpus.add(
            name, "parquet.codec.other", "data.parquet", rows, write(make, compression=compression), outcome=outcome
        )


def encodings(corpus):
    for version in ("1.0", "2.0"):
        for encoding in ("PLAIN", "RLE_DICTIONARY", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"):
            for codec in ("none", "zstd"):
                name = f"parquet-encoding-{encoding.lower()}-v{version[0]}-{codec}"
                rows = corpus.rows(
                    name, bad=(2,) if codec == "zstd" else (), nulls=(7,), columns={"card": "card", "long": "long"}
                )
                options = {"data_page_version": version, "compression": codec}
                if encoding == "RLE_DICTIONARY":
                    options["use_dictionary"] = True
                else:
                    options.update(use_dictionary=False, column_encoding={"card": encoding, "long": encoding})
                make = lambda rows=rows: table(rows)
                corpus.add(name, f"parquet.encoding.{encoding.lower()}", "data.parquet", rows, write(make, **options))
    name = "parquet-encoding-prefixes"
    rows = corpus.rows(name, columns={"email": "email", "card": "card"})
    rows.cells["card"].sort(), rows.cells["email"].sort()
    options = {"use_dictionary": False, "column_encoding": {"card": "DELTA_BYTE_ARRAY", "email": "DELTA_BYTE_ARRAY"}}
    corpus.add(name, "parquet.encoding.delta_byte_array", "data.parquet", rows, write(lambda: table(rows), **options))
    for other, encoding in {
        "id": "DELTA_BINARY_PACKED",
        "amount": "BYTE_STREAM_SPLIT",
        "note": "DELTA_BYTE_ARRAY",
    }.items():
        name = f"parquet-encoding-other-{encoding.lower()}"
        rows = corpus.rows(name)
        options = {"use_dictionary": ["card"], "column_encoding": {other: encoding}, "version": "2.6"}
        make = lambda rows=rows: table(rows)
        corpus.add(name, "parquet.encoding.other", "data.parquet", rows, write(make, **options))
    name = "parquet-encoding-dictionary-overflows"
    rows = corpus.rows(name, count=600)
    options = {"dictionary_pagesize_limit": 1024, "data_page_size": 512, "write_batch_size": 16}
    corpus.add(name, "parquet.encoding.fallback", "data.parquet", rows, write(lambda: table(rows), **options))
    name = "parquet-encoding-dictionary-repeats"
    rows = corpus.rows(name, count=300, distinct=7)
    corpus.add(name, "parquet.encoding.dictionary", "data.parquet", rows, write(lambda: table(rows)))
    name = "parquet-encoding-dictionary-repeats-misfit"
    rows = corpus.rows(name, count=300, distinct=7, bad=(40,))
    corpus.add(name, "parquet.encoding.dictionary", "data.parquet", rows, write(lambda: table(rows)))


def groups(corpus):
    for word, size in {"one-row": 1, "seven": 7}.items():
        for bad in ((), (9,)):
            name = f"parquet-groups-{word}" + ("-misfit" if bad else "")
            rows = corpus.rows(name, bad=bad)
            make = lambda rows=rows: table(rows)
            corpus.add(name, "parquet.groups.many", "data.parquet", rows, write(make, row_group_size=size))
    name = "parquet-groups-zero-rows"
    rows = corpus.rows(name, count=0)
    corpus.add(name, "parquet.groups.empty", "data.parquet", rows, write(lambda: table(rows).cast(empty_schema(rows))))
    for place in ("first", "middle", "last", "only"):
        name = f"parquet-groups-empty-{place}"
        rows = corpus.rows(name, count=0 if place == "only" else 12)

        def groups_with_empty(path, rows=rows, place=place):
            whole = table(rows).cast(empty_schema(rows))
            cuts = {
                "first": [(0, 0), (0, 12)],
                "middle": [(0, 6), (6, 6), (6, 12)],
                "last": [(0, 12), (12, 12)],
                "only": [(0, 0)],
            }
            with pq.ParquetWriter(path, whole.schema) as writer:
                for start, end in cuts[place]:
                    writer.write_table(whole.slice(start, end - start))

        corpus.add(name, "parquet.groups.empty", "data.parquet", rows, groups_with_empty)
    name = "parquet-groups-no-groups"
    rows = corpus.rows(name, count=0)

    def no_groups(path):
        pq.ParquetWriter(path, empty_schema(rows)).close()

    corpus.add(name, "parquet.groups.empty", "data.parquet", rows, no_groups)


def empty_schema(rows):
    kinds = {"id": pa.int64(), "amount": pa.float64()}
    return pa.schema([(name, kinds.get(name, pa.string())) for name in rows.cells])


def statistics(corpus):
    for word, options in {
        "none": {"write_statistics": False},
        "all": {"write_statistics": True},
        "other-columns": {"write_statistics": ["id", "amount"]},
        "page-index": {"write_page_index": True, "data_page_size": 256, "write_batch_size": 4},
        "page-checksum": {"write_page_checksum": True},
        "sorting": {"sorting_columns": [pq.SortingColumn(0), pq.SortingColumn(2)]},
        "small-pages": {"data_page_size": 64, "write_batch_size": 2},
        "no-arrow-schema": {"store_schema": False},
        "version-1": {"version": "1.0"},
        "version-2-4": {"version": "2.4"},
        "int96": {"use_deprecated_int96_timestamps": True},
        "max-rows-per-page": {"max_rows_per_page": 3},
        "bloom-filter": {"bloom_filter_options": {"card": True, "email": True, "id": True}},
        "bloom-filter-other": {"bloom_filter_options": {"note": True}},
        "dictionary-of-some": {"use_dictionary": ["note"]},
        "content-defined": {"use_content_defined_chunking": True},
        "level": {"compression": "zstd", "compression_level": 19},
        "byte-stream-split": {"use_byte_stream_split": ["amount"], "use_dictionary": False},
        "size-statistics": {"write_statistics": True, "write_page_index": True, "data_page_version": "2.0"},
    }.items():
        for bad in ((), (3,)):
            name = f"parquet-statistics-{word}" + ("-misfit" if bad else "")
            rows = corpus.rows(
                name, bad=bad, nulls=(8,), columns={"card": "card", "long": "long"} if "bloom" not in word else None
            )
            make = lambda rows=rows: table(rows)
            corpus.add(name, f"parquet.statistics.{word}", "data.parquet", rows, write(make, **options))


def types(corpus):
    good = {
        "string": pa.string(),
        "large-string": pa.large_string(),
        "string-view": pa.string_view(),
        "dictionary-8": pa.dictionary(pa.int8(), pa.string()),
        "dictionary-32": pa.dictionary(pa.int32(), pa.string()),
        "dictionary-large": pa.dictionary(pa.int32(), pa.large_string()),
        "dictionary-ordered": pa.dictionary(pa.int32(), pa.string(), ordered=True),
    }
    for word, kind in good.items():
        for bad in ((), (3,)):
            name = f"parquet-type-{word}" + ("-misfit" if bad else "")
            rows = corpus.rows(name, bad=bad, nulls=(8,), distinct=6 if "dictionary" in word else 0)

            def make(rows=rows, kind=kind):
                if pa.types.is_dictionary(kind):
                    whole = table(rows)
                    for column in rows.columns:
                        index = whole.schema.get_field_index(column)
                        encoded = whole[column].cast(kind.value_type).combine_chunks().dictionary_encode()
                        indices = encoded.indices.cast(kind.index_type)
                        array = pa.DictionaryArray.from_arrays(indices, encoded.dictionary, ordered=kind.ordered)
                        whole = whole.set_column(index, column, array)
                    return whole
                return table(rows, protected=kind)

            corpus.add(name, f"parquet.type.{word}", "data.parquet", rows, write(make))
    # Types that no text is: refused, or protected.
    for word, kind in {
        "binary": pa.binary(),
        "large-binary": pa.large_binary(),
        "fixed-16": pa.binary(16),
        "binary-view": pa.binary_view(),
    }.items():
        name = f"parquet-type-{word}"
        rows = corpus.rows(name, columns={"card": "card"})

        def make(rows=rows, kind=kind):
            whole = table(rows)
            cells = pa.array([cell.encode() for cell in rows.cells["card"]], kind)
            return whole.set_column(whole.schema.get_field_index("card"), "card", cells)

        corpus.add(name, f"parquet.type.{word}", "data.parquet", rows, write(make), outcome=EITHER, compare=False)
    name = "parquet-type-int64"
    rows = corpus.rows(name, columns={"card": "card"})

    def ints():
        whole = table(rows)
        return whole.set_column(2, "card", pa.array([int(cell) for cell in rows.cells["card"]], pa.int64()))

    corpus.add(name, "parquet.type.int64", "data.parquet", rows, write(ints), outcome=EITHER, compare=False)
    name = "parquet-type-decimal"
    rows = corpus.rows(name, columns={"card": "card"})

    def decimals():
        whole = table(rows)
        cells = pa.array([Decimal(cell) for cell in rows.cells["card"]], pa.decimal128(20, 0))
        return whole.set_column(2, "card", cells)

    corpus.add(name, "parquet.type.decimal", "data.parquet", rows, write(decimals), outcome=EITHER, compare=False)
    for word, cells in {"all-null": [None] * 24, "all-empty": [""] * 24}.items():
        for kind in ("string", "dictionary-32"):
            name = f"parquet-cells-{word}-{kind}"
            rows = corpus.rows(name)
            rows.planted = [planted for planted in rows.planted if planted[2] != "card"]
            rows.cells["card"] = list(cells)

            def make_one(rows=rows, kind=kind):
                whole = table(rows)
                if kind != "string":
                    place = whole.schema.get_field_index("card")
                    whole = whole.set_column(place, "card", whole["card"].combine_chunks().dictionary_encode())
                return whole

            corpus.add(name, "parquet.cells.empty", "data.parquet", rows, write(make_one))
    name = "parquet-type-null"
    rows = corpus.rows(name)
    rows.planted = [planted for planted in rows.planted if planted[2] != "card"]
    rows.cells["card"] = [None] * 24
    make = lambda: table(rows).set_column(2, "card", pa.nulls(24))
    corpus.add(name, "parquet.type.null", "data.parquet", rows, write(make))
    without_type(corpus)
    name = "parquet-type-required"
    rows = corpus.rows(name)
    corpus.add(name, "parquet.type.required", "data.parquet", rows, write(lambda: required(rows)), outcome=EITHER)
    others(corpus)


def without_type(corpus):
    """Columns in which every row is null, as each writer has them, beside others with a value that does not fit."""

    def by_pandas(frame, path):
        frame.to_parquet(path)

    def by_polars(frame, path):
        nulls = {name: polars.Null for name in frame if frame[name].isna().all()}
        cells = {name: [None] * 24 if name in nulls else frame[name].tolist() for name in frame}
        polars.DataFrame(cells, schema_overrides=nulls).write_parquet(path)

    def by_duckdb(frame, path):
        with duckdb.connect() as connection:
            connection.register("cells", frame)
            columns = ", ".join(f"NULL AS {name}" if frame[name].isna().all() else name for name in frame)
            connection.execute(f"COPY (SELECT {columns} FROM cells) TO '{path}' (FORMAT parquet)")

    for word, write_it in {"pandas": by_pandas, "polars": by_polars, "duckdb": by_duckdb}.items():
        for column in ("email", "note"):
            for bad in ((), (3,)):
                name = f"parquet-null-column-{word}-{column}" + ("-misfit" if bad else "")
                rows = corpus.rows(name, bad=bad)
                rows.planted = [planted for planted in rows.planted if planted[2] != column]
                rows.cells[column] = [None] * 24
                write_one = lambda path, rows=rows, write_it=write_it: write_it(pandas.DataFrame(rows.cells), path)
                corpus.add(name, f"parquet.type.null.{word}", "data.parquet", rows, write_one)


def required(rows):
    whole = table(rows)
    return whole.cast(pa.schema([field.with_nullable(False) for field in whole.schema]))


def others(corpus):
    """Columns of every type that stay."""
    moment = datetime(2024, 2, 29, 12, 30, 15, 123456)
    for word, cells in {
        "bool": pa.array([True, False, None] * 8),
        "uint8": pa.array(range(24), pa.uint8()),
        "uint64": pa.array([2**64 - 1] * 24, pa.uint64()),
        "float16": pa.array([1.5] * 24, pa.float16()),
        "float32": pa.array([1.25, None, -0.0] * 8, pa.float32()),
        "decimal128": pa.array([Decimal("12.34")] * 24, pa.decimal128(9, 2)),
        "decimal256": pa.array([Decimal("12.34")] * 24, pa.decimal256(60, 2)),
        "decimal-of-int": pa.array([Decimal("1.2")] * 24, pa.decimal128(4, 1)),
        "date32": pa.array([date(2024, 2, 29)] * 24),
        "timestamp-us": pa.array([moment] * 24, pa.timestamp("us", "Europe/Berlin")),
        "timestamp-ns": pa.array([moment] * 24, pa.timestamp("ns")),
        "time64": pa.array([moment.time()] * 24, pa.time64("us")),
        "duration": pa.array([5] * 24, pa.duration("s")),
        "fixed": pa.array([b"abcd"] * 24, pa.binary(4)),
        "binary": pa.array([b"\xff\0a", None] * 12),
        "list": pa.array([[1, 2], None, []] * 8),
        "list-of-list": pa.array([[["a"], []], None, [[]]] * 8),
        "list-of-struct": pa.array([[{"a": 1, "b": "x"}], [], None] * 8),
        "large-list": pa.array([[1], []] * 12, pa.large_list(pa.int32())),
        "fixed-list": pa.array([[1, 2]] * 24, pa.list_(pa.int32(), 2)),
        "map": pa.array([[("a", 1)], []] * 12, pa.map_(pa.string(), pa.int64())),
        "struct": pa.array([{"a": 1, "b": {"c": "x"}}, None] * 12),
        "dictionary": pa.array(["a", "b", None] * 8).dictionary_encode(),
        "string-view": pa.array(["a" * 20, "b"] * 12, pa.string_view()),
        "null": pa.nulls(24),
    }.items():
        name = f"parquet-other-{word}"
        rows = corpus.rows(name)
        make = lambda rows=rows, cells=cells: table(rows).append_column("extra", cells)
        corpus.add(name, f"parquet.other.{word}", "data.parquet", rows, write(make))
    name = "parquet-other-uuid"
    rows = corpus.rows(name)
    make = lambda: table(rows).append_column(
        "extra", pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0123456789abcdef"] * 24, pa.binary(16)))
    )
    corpus.add(name, "parquet.other.uuid", "data.parquet", rows, write(make))
    name = "parquet-other-json"
    rows = corpus.rows(name)
    make = lambda: table(rows).append_column(
        "extra", pa.ExtensionArray.from_storage(pa.json_(), pa.array(['{"a": 1}'] * 24))
    )
    corpus.add(name, "parquet.other.json", "data.parquet", rows, write(make))


def struct_of(rows, names, nulls=()):
    cells = [
        None if number in nulls else {name: rows.cells[name][number] for name in names}
        for number in range(len(rows.cells["id"]))
    ]
    return pa.array(cells)


def nesting(corpus):
    for word, path in {"struct": "person.card", "deep": "a.b.card"}.items():
        for bad in ((), (3,)):
            for version in ("1.0", "2.0"):
                name = f"parquet-nested-{word}-v{version[0]}" + ("-misfit" if bad else "")
                rows = corpus.rows(name, bad=bad, columns={path: "card", "email": "email"}, nulls=(5,))

                def make(rows=rows, path=path):
                    steps = path.split(".")
                    cells = [{"card": card, "name": note} for card, note in zip(rows.cells[path], rows.cells["note"])]
                    for step in reversed(steps[1:-1]):
                        cells = [{step: cell} for cell in cells]
                    return pa.table(
                        {"id": rows.cells["id"], steps[0]: cells, "email": pa.array(rows.cells["email"], pa.string())}
                    )

                corpus.add(name, f"parquet.nested.{word}", "data.parquet", rows, write(make, data_page_version=version))
    name = "parquet-nested-null-struct"
    rows = corpus.rows(name, columns={"person.card": "card"}, nulls=(2, 3))

    def null_structs():
        cells = [None if card is None else {"card": card, "name": "x"} for card in rows.cells["person.card"]]
        return pa.table({"id": rows.cells["id"], "person": cells})

    corpus.add(name, "parquet.nested.nulls", "data.parquet", rows, write(null_structs))
    for word, wrap in {
        "list": lambda card: [card],
        "list-of-struct": lambda card: [{"card": card}],
        "map-value": lambda card: [("k", card)],
        "map-key": lambda card: [(card, "v")],
    }.items():
        name = f"parquet-nested-in-{word}"
        rows = corpus.rows(name, columns={"cards": "card"})

        def make(rows=rows, wrap=wrap, word=word):
            kind = pa.map_(pa.string(), pa.string()) if word.startswith("map") else None
            return pa.table(
                {"id": rows.cells["id"], "cards": pa.array([wrap(card) for card in rows.cells["cards"]], kind)}
            )

        corpus.add(name, f"parquet.nested.in-{word}", "data.parquet", rows, write(make), outcome=REFUSED, compare=False)
    name = "parquet-nested-dotted-name"
    rows = corpus.rows(name, columns={"a.card": "card"})
    make = lambda: pa.table({"id": rows.cells["id"], "a.card": rows.cells["a.card"]})
    corpus.add(name, "parquet.nested.dotted", "data.parquet", rows, write(make), outcome=EITHER)
    name = "parquet-nested-dotted-and-struct"
    rows = corpus.rows(name, columns={"a.card": "card"})
    make = lambda: pa.table(
        {"a.card": rows.cells["a.card"], "a": [{"card": rows.hide("a.card", "card")} for _ in rows.cells["id"]]}
    )
    corpus.add(name, "parquet.nested.ambiguous", "data.parquet", rows, write(make), outcome=REFUSED)
    name = "parquet-duplicate-names"
    rows = corpus.rows(name)
    make = lambda: table(rows).append_column("card", pa.array([rows.hide("card") for _ in rows.cells["id"]]))
    corpus.add(name, "parquet.nested.duplicate", "data.parquet", rows, write(make), outcome=REFUSED)
    name = "parquet-duplicate-other-names"
    rows = corpus.rows(name)
    make = lambda: table(rows).append_column("note", pa.array(rows.cells["note"]))
    corpus.add(name, "parquet.nested.duplicate", "data.parquet", rows, write(make), outcome=EITHER, compare=False)


def metadata(corpus):
    """Values outside of the cells. They have to vanish, or the file is refused."""
    shapes = {
        "raw": lambda value: value,
        "json": lambda value: json.dumps({"example": [value]}),
        "base64": lambda value: base64.b64encode(f"first value {value}".encode()).decode(),
        "hex": lambda value: value.encode().hex(),
        "utf-16": lambda value: value.encode("utf-16-le"),
        "escapes": lambda value: "".join(f"\\u{ord(sign):04x}" for sign in value),
        "entities": lambda value: "".join(f"&#{ord(sign)};" for sign in value),
        "octal": lambda value: "".join(f"\\{byte:03o}" for byte in value.encode()),
        "quoted-printable": lambda value: "".join(f"={byte:02X}" for byte in value.encode()),
        "numbers": lambda value: str(list(value.encode())),
        "base32": lambda value: base64.b32encode(value.encode()).decode(),
        "mime": lambda value: base64.encodebytes(value.encode() * 8).decode(),
        "wide-digits": lambda value: value.translate({48 + digit: 0xFF10 + digit for digit in range(10)}),
        "deflate": lambda value: base64.b64encode(zlib.compress(value.encode())[2:-4]).decode(),
        "base64-twice": lambda value: base64.b64encode(base64.b64encode(f"x{value}".encode())).decode(),
        "repeated": lambda value: " ".join([value] * 30),
    }
    for word, shape in shapes.items():
        name = f"parquet-metadata-schema-{word}"
        rows = corpus.rows(name)
        make = lambda rows=rows, shape=shape: table(rows).replace_schema_metadata(
            {"note": shape(rows.cells["card"][3])}
        )
        corpus.add(name, f"parquet.metadata.schema.{word}", "data.parquet", rows, write(make), outcome=EITHER)
        for store in (True, False):
            name = f"parquet-metadata-schema-{word}-store-{store}"
            if word not in ("raw", "base64"):
                continue
            rows = corpus.rows(name)
            make = lambda rows=rows, shape=shape: table(rows).replace_schema_metadata(
                {"k": shape(rows.cells["email"][3])}
            )
            corpus.add(
                name,
                f"parquet.metadata.schema.{word}",
                "data.parquet",
                rows,
                write(make, store_schema=store),
                outcome=EITHER,
            )
    for word, target in {"own": "card", "other": "note"}.items():
        for shape in ("raw", "json", "base64"):
            name = f"parquet-metadata-field-{word}-{shape}"
            rows = corpus.rows(name)

            def make(rows=rows, target=target, shape=shapes[shape]):
                whole = table(rows)
                place = whole.schema.get_field_index(target)
                field = whole.schema.field(place).with_metadata({"example": shape(rows.cells["card"][2])})
                return whole.set_column(place, field, whole[target])

            corpus.add(name, f"parquet.metadata.field-{word}", "data.parquet", rows, write(make), outcome=EITHER)
    name = "parquet-metadata-key"
    rows = corpus.rows(name)
    make = lambda: table(rows).replace_schema_metadata({rows.cells["card"][3]: "seen"})
    corpus.add(name, "parquet.metadata.key", "data.parquet", rows, write(make), outcome=EITHER)
    name = "parquet-metadata-unseen-value"
    rows = corpus.rows(name, distinct=5, count=40)
    make = lambda: table(rows).replace_schema_metadata({"minimum": min(rows.cells["card"])})
    corpus.add(name, "parquet.metadata.schema.raw", "data.parquet", rows, write(make), outcome=EITHER)
    name = "parquet-metadata-harmless"
    rows = corpus.rows(name)
    make = lambda: table(rows).replace_schema_metadata({"made by": "a program", "count": "24", "version": "4"})
    corpus.add(name, "parquet.metadata.harmless", "data.parquet", rows, write(make))
    name = "parquet-metadata-column-name"
    rows = corpus.rows(name)
    make = lambda: table(rows).append_column(rows.cells["card"][1], pa.array(rows.cells["id"]))
    corpus.add(name, "parquet.metadata.column-name", "data.parquet", rows, write(make), outcome=EITHER)
    name = "parquet-metadata-nested-name"
    rows = corpus.rows(name)
    make = lambda: table(rows).append_column("wide", pa.array([{rows.cells["card"][1]: 1}] * 24))
    corpus.add(name, "parquet.metadata.column-name", "data.parquet", rows, write(make), outcome=EITHER)
    name = "parquet-metadata-extension-type"
    rows = corpus.rows(name)

    def extension():
        whole = table(rows)
        known = {"ARROW:extension:name": "polars.enum", "ARROW:extension:metadata": ";".join(rows.cells["card"])}
        field = whole.schema.field("card").with_metadata(known)
        return whole.set_column(2, field, whole["card"])

    corpus.add(name, "parquet.metadata.extension", "data.parquet", rows, write(extension), outcome=EITHER)
    name = "parquet-metadata-created-by"
    rows = corpus.rows(name)

    def created_by(path):
        pq.write_table(table(rows), path)
        data = path.read_bytes()
        place = data.rindex(b"parquet-cpp-arrow version ")
        value = rows.cells["card"][3].encode()
        path.write_bytes(data[:place] + value + data[place + len(value) :])

    corpus.add(name, "parquet.metadata.created-by", "data.parquet", rows, created_by, outcome=EITHER)


def hidden_bytes(corpus):
    """Values in bytes of the file that no reader looks at."""
    name = "parquet-bytes-before-footer"
    rows = corpus.rows(name)

    def before_footer(path):
        pq.write_table(table(rows), path)
        data = path.read_bytes()
        length = int.from_bytes(data[-8:-4], "little")
        place = len(data) - 8 - length
        path.write_bytes(data[:place] + rows.hide("card").encode() + data[place:])

    corpus.add(name, "parquet.bytes.between", "data.parquet", rows, before_footer, outcome=EITHER)
    name = "parquet-dictionary-unused"
    rows = corpus.rows(name, distinct=5)

    def unused():
        whole = table(rows)
        values = [*dict.fromkeys(rows.cells["card"]), *(rows.hide("card") for _ in range(6))]
        indices = pa.array([values.index(cell) for cell in rows.cells["card"]], pa.int32())
        return whole.set_column(2, "card", pa.DictionaryArray.from_arrays(indices, pa.array(values)))

    corpus.add(name, "parquet.dictionary.unused", "data.parquet", rows, write(unused))
    others = {
        "string": lambda rows: pa.array(["a", "b", *(rows.hide("card") for _ in range(6))]),
        "binary": lambda rows: pa.array([b"a", b"b", *(rows.hide("card").encode() for _ in range(6))]),
        "int64": lambda rows: pa.array([1, 2, *(int(rows.hide("card")) for _ in range(6))]),
    }
    for word, values in others.items():
        for codec in CODECS:
            for version in ("1.0", "2.0"):
                for bad in ((), (3,)):
                    if bad and codec not in ("none", "zstd"):
                        continue
                    name = f"parquet-dictionary-unused-other-{word}-{codec}-v{version[0]}" + ("-misfit" if bad else "")
                    rows = corpus.rows(name, bad=bad)

                    def unused_other(rows=rows, values=values):
                        indices = pa.array([None if row == 7 else row % 2 for row in range(24)], pa.int32())
                        other = pa.DictionaryArray.from_arrays(indices, values(rows))
                        within = pa.ListArray.from_arrays(pa.array(range(25), pa.int32()), other)
                        return table(rows).append_column("other", other).append_column("list", within)

                    corpus.add(
                        name,
                        f"parquet.dictionary.other.{word}",
                        "data.parquet",
                        rows,
                        write(unused_other, compression=codec, data_page_version=version, write_page_index=True),
                        outcome=EITHER if codec == "brotli" else PROTECTED,
                    )
    for version in ("1.0", "2.0"):
        name = f"parquet-dictionary-used-other-v{version[0]}"
        rows = corpus.rows(name)
        make = lambda rows=rows: table(rows).append_column("other", pa.array(["a", "b", None] * 8).dictionary_encode())
        corpus.add(name, "parquet.dictionary.other", "data.parquet", rows, write(make, data_page_version=version))
    name = "parquet-metadata-zone"
    rows = corpus.rows(name)
    make = lambda: table(rows).append_column("at", pa.array(range(24), pa.timestamp("us", rows.cells["card"][5])))
    # The Arrow schema is left out, and no reader knows such a time zone.
    corpus.add(name, "parquet.metadata.zone", "data.parquet", rows, write(make), compare=False)
    name = "parquet-dictionary-unused-misfit"
    rows = corpus.rows(name, distinct=5)

    def unused_misfit():
        whole = table(rows)
        values = [*dict.fromkeys(rows.cells["card"]), rows.plant(rows.values.misfit(), None, "card")]
        indices = pa.array([values.index(cell) for cell in rows.cells["card"]], pa.int32())
        return whole.set_column(2, "card", pa.DictionaryArray.from_arrays(indices, pa.array(values)))

    corpus.add(name, "parquet.dictionary.unused", "data.parquet", rows, write(unused_misfit), outcome=EITHER)
    for word, cut in {"footer": -9, "middle": None}.items():
        name = f"parquet-cut-{word}"
        rows = corpus.rows(name)

        def short(path, rows=rows, cut=cut):
            pq.write_table(table(rows), path)
            data = path.read_bytes()
            path.write_bytes(data[: cut or len(data) // 2])

        corpus.add(name, "parquet.damaged", "data.parquet", rows, short, outcome=REFUSED)
    for place in range(0, 100, 12):
        name = f"parquet-damaged-{place:02}"
        rows = corpus.rows(name)

        def damaged(path, rows=rows, place=place):
            pq.write_table(table(rows), path)
            data = bytearray(path.read_bytes())
            for step in range(3):
                data[4 + (len(data) - 12) * place // 100 + step * 7] ^= 0x55
            path.write_bytes(data)

        # Which rows the damage is in is not known.
        rows.bad = list(range(24))
        options = {"variations": [("reject", 1)], "compare": False}
        corpus.add(name, "parquet.damaged", "data.parquet", rows, damaged, outcome=EITHER, **options)
    name = "parquet-appended"
    rows = corpus.rows(name)

    def appended(path):
        pq.write_table(table(rows), path)
        path.write_bytes(path.read_bytes() + rows.cells["card"][0].encode())

    corpus.add(name, "parquet.damaged", "data.parquet", rows, appended, outcome=REFUSED)


class Wrapping(pe.KmsClient):
    """Keys as they are: what is tested is what the program does without them."""

    def __init__(self, configuration):
        pe.KmsClient.__init__(self)

    def wrap_key(self, key_bytes, master_key_identifier):
        return base64.b64encode(key_bytes)

    def unwrap_key(self, wrapped_key, master_key_identifier):
        return base64.b64decode(wrapped_key)


def masked(corpus):
    """Columns with a mask alone, as texts, dictionaries and a Polars Enum."""
    for kind in ("mask-null", "mask-last", "mask-hash"):
        for word in ("string", "dictionary", "enum"):
            for bad in ((), (3,)):
                name = f"parquet-{kind}-{word}" + ("-misfit" if bad else "")
                rows = corpus.rows(name, bad=bad, columns={"card": "card", "other": kind}, distinct=5)

                def write_it(path, rows=rows, word=word):
                    if word == "enum":
                        polars_frame(rows, enum_of(rows)).write_parquet(path)
                        return
                    whole = table(rows)
                    if word == "dictionary":
                        place = whole.schema.get_field_index("other")
                        whole = whole.set_column(place, "other", whole["other"].combine_chunks().dictionary_encode())
                    pq.write_table(whole, path, data_page_version="2.0", write_page_index=True)

                corpus.add(name, f"parquet.mask.{word}", "data.parquet", rows, write_it)


def encryption(corpus):
    for word, options in {
        "other-plaintext-footer": {"column_keys": {"k": ["note"]}, "plaintext_footer": True},
        "number-plaintext-footer": {"column_keys": {"k": ["amount", "id"]}, "plaintext_footer": True},
        "protected-plaintext-footer": {"column_keys": {"k": ["card"]}, "plaintext_footer": True},
        "other-encrypted-footer": {"column_keys": {"k": ["note"]}, "plaintext_footer": False},
        "all-plaintext-footer": {
            "column_keys": {"k": ["id", "note", "card", "email", "amount"]},
            "plaintext_footer": True,
        },
        "uniform": {"uniform_encryption": True, "plaintext_footer": False},
        "ctr": {"column_keys": {"k": ["note"]}, "plaintext_footer": True, "encryption_algorithm": "AES_GCM_CTR_V1"},
    }.items():
        name = f"parquet-encrypted-{word}"
        rows = corpus.rows(name)

        def encrypted(path, rows=rows, options=options):
            configuration = pe.EncryptionConfiguration(footer_key="f", data_key_length_bits=128, **options)
            factory = pe.CryptoFactory(Wrapping)
            properties = factory.file_encryption_properties(pe.KmsConnectionConfig(), configuration)
            pq.write_table(table(rows), path, encryption_properties=properties)

        corpus.add(name, f"parquet.encrypted.{word}", "data.parquet", rows, encrypted, outcome=REFUSED)


def of_pandas(corpus):
    def frame(rows):
        return pandas.DataFrame(rows.cells)

    for word, change, outcome in (
        ("plain", lambda data: data, PROTECTED),
        ("index", lambda data: data.set_index("id"), PROTECTED),
        ("index-protected", lambda data: data.set_index("card"), PROTECTED),
        ("index-of-two", lambda data: data.set_index(["id", "card"]), PROTECTED),
        ("category", lambda data: data.astype({"card": "category"}), PROTECTED),
        ("category-both", lambda data: data.astype({"card": "category", "email": "category"}), PROTECTED),
        ("object", lambda data: data.astype({"card": object}), PROTECTED),
        ("nullable", lambda data: data.convert_dtypes(), PROTECTED),
        ("string-pyarrow", lambda data: data.astype({"card": "string[pyarrow]"}), PROTECTED),
        ("empty-part", lambda data: data.iloc[:0], PROTECTED),
        ("empty-category", lambda data: data.astype({"card": "category"}).iloc[:0], EITHER),
        ("part-of-category", lambda data: data.astype({"card": "category"}).iloc[:3], PROTECTED),
        ("named-columns", lambda data: data.rename_axis(columns="made"), PROTECTED),
    ):
        name = f"parquet-pandas-{word}"
        rows = corpus.rows(name)

        def written(path, rows=rows, change=change):
            change(frame(rows)).to_parquet(path, engine="pyarrow")

        corpus.add(name, f"parquet.pandas.{word}", "data.parquet", rows, written, outcome=outcome)
    for word, change in {
        "attrs": lambda data, rows: data.attrs.update(example=rows.cells["card"][0]),
        "columns-name": lambda data, rows: setattr(data.columns, "name", rows.cells["card"][0]),
        "index-name": lambda data, rows: setattr(data.index, "name", rows.cells["card"][0]),
    }.items():
        name = f"parquet-pandas-{word}"
        rows = corpus.rows(name)

        def written(path, rows=rows, change=change):
            data = frame(rows)
            if "index" in str(path):
                data.index = data.index + 100
            change(data, rows)
            data.to_parquet(path, engine="pyarrow")

        corpus.add(name, "parquet.pandas.metadata", "data.parquet", rows, written, outcome=EITHER)


def polars_frame(rows, kind=polars.String):
    types = {"id": polars.Int64, "note": polars.String, "amount": polars.Float64}
    return polars.DataFrame(
        rows.cells, schema={name: types.get(name, polars.String) for name in rows.cells}
    ).with_columns([polars.col(name).cast(kind) for name in rows.columns])


def enum_of(rows):
    return polars.Enum(sorted({cell for name in rows.columns for cell in rows.cells[name] if cell is not None}))


def of_polars(corpus):
    for codec in ("uncompressed", "snappy", "gzip", "zstd", "lz4", "brotli"):
        name = f"parquet-polars-{codec}"
        rows = corpus.rows(name, bad=(3,) if codec in ("zstd", "lz4") else ())
        write_it = lambda path, rows=rows, codec=codec: polars_frame(rows).write_parquet(path, compression=codec)
        outcome = EITHER if codec == "brotli" else PROTECTED
        corpus.add(name, f"parquet.polars.{codec}", "data.parquet", rows, write_it, outcome=outcome)
    for word, options in {
        "groups": {"row_group_size": 5},
        "pages": {"data_page_size": 64},
        "statistics-full": {"statistics": "full"},
        "statistics-none": {"statistics": False},
        "metadata": {"metadata": {"made": "by a program"}},
        "pyarrow": {"use_pyarrow": True},
    }.items():
        for bad in ((), (3,)):
            name = f"parquet-polars-{word}" + ("-misfit" if bad else "")
            rows = corpus.rows(name, bad=bad, nulls=(7,))
            write_it = lambda path, rows=rows, options=options: polars_frame(rows).write_parquet(path, **options)
            corpus.add(name, f"parquet.polars.{word}", "data.parquet", rows, write_it)
    for word, kind in {"categorical": lambda rows: polars.Categorical, "enum": enum_of}.items():
        for bad in ((), (3,)):
            for count in (24, 0):
                name = f"parquet-polars-{word}-{count}" + ("-misfit" if bad else "")
                if bad and not count:
                    continue
                rows = corpus.rows(name, bad=bad, count=count, nulls=(7,), distinct=5)
                if word == "enum":
                    # An Enum is a list of values in the schema, which readers hold columns against.
                    hidden = [rows.hide("card") for _ in range(3)]

                def write_it(path, rows=rows, word=word, kind=kind, hidden=hidden if word == "enum" else ()):
                    wanted = kind(rows)
                    if word == "enum":
                        wanted = polars.Enum([*wanted.categories, *hidden])
                    polars_frame(rows, wanted).write_parquet(path)

                corpus.add(name, f"parquet.polars.{word}", "data.parquet", rows, write_it)
    name = "parquet-polars-enum-other"
    rows = corpus.rows(name)
    write_it = (
        lambda path: polars_frame(rows)
        .with_columns(note=polars.col("note").cast(polars.Enum(rows.cells["note"])))
        .write_parquet(path)
    )
    corpus.add(name, "parquet.polars.enum-other", "data.parquet", rows, write_it)
    name = "parquet-polars-empty"
    rows = corpus.rows(name, count=0)
    corpus.add(name, "parquet.polars.empty", "data.parquet", rows, lambda path: polars_frame(rows).write_parquet(path))
    name = "parquet-polars-filtered"
    rows = corpus.rows(name)
    write_it = lambda path: polars_frame(rows).filter(polars.col("id") > 100).write_parquet(path)
    corpus.add(name, "parquet.polars.empty", "data.parquet", rows, write_it)
    name = "parquet-polars-metadata-value"
    rows = corpus.rows(name)
    write_it = lambda path: polars_frame(rows).write_parquet(path, metadata={"first": rows.cells["card"][0]})
    corpus.add(name, "parquet.polars.metadata-value", "data.parquet", rows, write_it, outcome=EITHER)
    name = "parquet-polars-nested"
    rows = corpus.rows(name, columns={"person.card": "card"})

    def nested(path):
        cells = [{"card": card, "tags": ["a", "b"]} for card in rows.cells["person.card"]]
        polars.DataFrame({"id": rows.cells["id"], "person": cells}).write_parquet(path)

    corpus.add(name, "parquet.polars.nested", "data.parquet", rows, nested)
    for word, kind in {"enum-nested": enum_of, "categorical-nested": lambda rows: polars.Categorical}.items():
        name = f"parquet-polars-{word}"
        rows = corpus.rows(name, columns={"person.card": "card"})

        def nested_kind(path, rows=rows, kind=kind):
            frame = polars.DataFrame(
                {"id": rows.cells["id"], "card": rows.cells["person.card"], "note": rows.cells["note"]}
            )
            frame = frame.with_columns(polars.col("card").cast(kind(rows)))
            frame.select("id", polars.struct("card", "note").alias("person")).write_parquet(path)

        corpus.add(name, f"parquet.polars.{word}", "data.parquet", rows, nested_kind)
    for word, cells in {
        "list": [["a"], []] * 12,
        "array": [[1, 2]] * 24,
        "duration": [1] * 24,
        "date": [date(2024, 2, 29)] * 24,
        "binary": [b"\xff"] * 24,
        "decimal": [Decimal("1.20")] * 24,
        "boolean": [True, None] * 12,
    }.items():
        name = f"parquet-polars-other-{word}"
        rows = corpus.rows(name)
        kinds = {
            "array": polars.Array(polars.Int32, 2),
            "duration": polars.Duration("us"),
            "decimal": polars.Decimal(10, 2),
        }

        def write_it(path, rows=rows, cells=cells, kind=kinds.get(word)):
            polars_frame(rows).with_columns(polars.Series("extra", cells, dtype=kind)).write_parquet(path)

        corpus.add(name, "parquet.polars.other", "data.parquet", rows, write_it)


def of_duckdb(corpus):
    def copy(rows, options="", select="SELECT * FROM data", types=""):
        def write_it(path):
            with duckdb.connect() as connection:
                data = table(rows)
                connection.register("data", data)
                connection.execute("SET enable_progress_bar = false")
                for statement in types.split(";") if types else ():
                    connection.execute(statement)
                end = f", {options}" if options else ""
                connection.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet{end})")

        return write_it

    for codec in ("uncompressed", "snappy", "gzip", "zstd", "lz4", "lz4_raw", "brotli"):
        for version in ("V1", "V2"):
            name = f"parquet-duckdb-{codec}-{version.lower()}"
            rows = corpus.rows(name, bad=(3,) if version == "V2" else (), nulls=(7,))
            options = f"COMPRESSION {codec}, PARQUET_VERSION {version}"
            outcome = EITHER if codec == "brotli" else PROTECTED
            corpus.add(name, f"parquet.duckdb.{codec}", "data.parquet", rows, copy(rows, options), outcome=outcome)
    for word, options in {
        "groups": "ROW_GROUP_SIZE 2048",
        "bloom": "WRITE_BLOOM_FILTER true, DICTIONARY_SIZE_LIMIT 1000",
        "no-dictionary": "DICTIONARY_SIZE_LIMIT 1",
        "metadata": "KV_METADATA {made: 'by a program'}",
        "field-ids": "FIELD_IDS 'auto'",
        "string-dictionary": "STRING_DICTIONARY_PAGE_SIZE_LIMIT 64",
        "v2-delta": "PARQUET_VERSION V2, DICTIONARY_SIZE_LIMIT 1",
    }.items():
        name = f"parquet-duckdb-{word}"
        rows = corpus.rows(name, count=5000 if word == "groups" else 60, distinct=0 if word == "groups" else 9)
        corpus.add(name, f"parquet.duckdb.{word}", "data.parquet", rows, copy(rows, options))
    name = "parquet-duckdb-metadata-value"
    rows = corpus.rows(name)
    options = f"KV_METADATA {{first: '{rows.cells['card'][0]}'}}"
    corpus.add(name, "parquet.duckdb.metadata-value", "data.parquet", rows, copy(rows, options), outcome=EITHER)
    for word, select in {
        "struct": "SELECT id, {'card': card, 'note': note} AS person, email FROM data",
        "list": "SELECT *, [note, note] AS notes FROM data",
        "map": "SELECT *, MAP {'a': note} AS notes FROM data",
        "empty": "SELECT * FROM data WHERE false",
        "types": "SELECT *, uuid() AS u, 5::HUGEINT AS h, now() AS t, INTERVAL 3 DAY AS i, '1.5'::DECIMAL(9,2) AS d, 'x'::BLOB AS b FROM data",
        "bits": "SELECT *, true AS yes, 3::UTINYINT AS tiny, '12:00:00'::TIME AS clock, 'NaN'::FLOAT IS NULL AS nan FROM data",
        "cast": "SELECT id, card::VARCHAR AS card, email, note || '' AS note FROM data",
    }.items():
        name = f"parquet-duckdb-{word}"
        columns = {"person.card": "card", "email": "email"} if word == "struct" else None
        rows = corpus.rows(name, columns={"card": "card", "email": "email"})
        corpus.add(
            name,
            f"parquet.duckdb.{word}",
            "data.parquet",
            rows,
            copy(rows, select=select),
            columns=columns or rows.columns,
        )
        if word == "struct":
            for planted in rows.planted:
                planted[2] = {"card": "person.card"}.get(planted[2], planted[2])
    name = "parquet-duckdb-enum"
    rows = corpus.rows(name, distinct=5)
    values = ", ".join(f"'{cell}'" for cell in dict.fromkeys(rows.cells["card"]))
    select = "SELECT id, card::cards AS card, email, note FROM data"
    corpus.add(
        name,
        "parquet.duckdb.enum",
        "data.parquet",
        rows,
        copy(rows, select=select, types=f"CREATE TYPE cards AS ENUM ({values})"),
    )


def of_fastparquet(corpus):
    for word, options in {
        "plain": {},
        "snappy": {"compression": "SNAPPY"},
        "gzip": {"compression": "GZIP"},
        "zstd": {"compression": "ZSTD"},
        "lz4": {"compression": "LZ4"},
        "lz4-raw": {"compression": "LZ4_RAW"},
        "brotli": {"compression": "BROTLI"},
        "utf8": {"object_encoding": "utf8"},
        "bytes": {"object_encoding": "bytes"},
        "json": {"object_encoding": "json"},
        "has-nulls": {"has_nulls": True},
        "no-nulls": {"has_nulls": False},
        "groups": {"row_group_offsets": 5},
        "stats": {"stats": True},
        "no-stats": {"stats": False},
        "metadata": {"custom_metadata": {"made": "by a program"}},
        "no-index": {"write_index": False},
        "index": {"write_index": True},
        "int96": {"times": "int96"},
    }.items():
        name = f"parquet-fastparquet-{word}"
        rows = corpus.rows(name, bad=(3,) if word in ("zstd", "groups", "has-nulls") else ())

        def write_it(path, rows=rows, options=options):
            data = pandas.DataFrame(rows.cells).astype({"card": object, "email": object, "note": object})
            if "bytes" in options.values():
                data = data.map(lambda cell: cell.encode() if isinstance(cell, str) else cell)
            fastparquet.write(str(path), data, **options)

        # What may have no null cannot become null.
        outcome = EITHER if word in ("brotli", "bytes", "json", "no-nulls") else PROTECTED
        is_text = word not in ("bytes", "json")
        corpus.add(
            name, f"parquet.fastparquet.{word}", "data.parquet", rows, write_it, outcome=outcome, compare=is_text
        )
    for word, change in {
        "category": lambda data: data.astype({"card": "category"}),
        "category-part": lambda data: data.astype({"card": "category"}).iloc[:4],
        "empty": lambda data: data.iloc[:0],
        "empty-category": lambda data: data.astype({"card": "category"}).iloc[:0],
        "index-protected": lambda data: data.set_index("card"),
    }.items():
        name = f"parquet-fastparquet-{word}"
        rows = corpus.rows(name, distinct=5)

        def write_it(path, rows=rows, change=change):
            data = pandas.DataFrame(rows.cells).astype({"card": object, "email": object, "note": object})
            fastparquet.write(str(path), change(data), object_encoding="infer" if "category" in str(path) else "utf8")

        corpus.add(name, f"parquet.fastparquet.{word}", "data.parquet", rows, write_it)
    name = "parquet-fastparquet-metadata-value"
    rows = corpus.rows(name)

    def value(path):
        data = pandas.DataFrame(rows.cells).astype({"card": object, "email": object, "note": object})
        fastparquet.write(str(path), data, custom_metadata={"first": rows.cells["card"][0]})

    corpus.add(name, "parquet.fastparquet.metadata-value", "data.parquet", rows, value, outcome=EITHER)
