"""Arrow IPC files, streams and Feather of pyarrow and Polars: views, dictionaries, compression, metadata, hidden buffers."""

import base64
import json
import zlib
from datetime import date, datetime
from decimal import Decimal

import polars
import pyarrow as pa
import pyarrow.feather as feather

from case import EITHER, PROTECTED, REFUSED
from parquet_cases import empty_schema, enum_of, polars_frame, required, table

STRINGS = {"string": pa.string(), "large-string": pa.large_string(), "string-view": pa.string_view()}


def write(make, stream=False, batch=None, **options):
    def write_it(path):
        whole = make()
        new = pa.ipc.new_stream if stream else pa.ipc.new_file
        with new(path, whole.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
            writer.write_table(whole, max_chunksize=batch)

    return write_it


def encoded(rows, kind):
    """The table with its protected columns as dictionaries of `kind`."""
    whole = table(rows)
    for column in rows.columns:
        array = whole[column].combine_chunks().dictionary_encode()
        array = pa.DictionaryArray.from_arrays(
            array.indices.cast(kind.index_type), array.dictionary.cast(kind.value_type)
        )
        whole = whole.set_column(whole.schema.get_field_index(column), column, array)
    return whole


def add_all(corpus):
    strings(corpus)
    dictionaries(corpus)
    batches(corpus)
    nested(corpus)
    others(corpus)
    metadata(corpus)
    hidden(corpus)
    beneath(corpus)
    of_feather(corpus)
    of_polars(corpus)
    masked(corpus)
    damaged(corpus)


def strings(corpus):
    for word, kind in STRINGS.items():
        for codec in (None, "lz4", "zstd"):
            for stream in (False, True):
                for bad in ((), (3,)):
                    form = "stream" if stream else "file"
                    name = f"arrow-{word}-{codec or 'none'}-{form}" + ("-misfit" if bad else "")
                    rows = corpus.rows(name, bad=bad, nulls=(7,), columns={"card": "card", "long": "long"})
                    make = lambda rows=rows, kind=kind: table(rows, protected=kind)
                    corpus.add(name, f"arrow.{word}.{form}", "data.arrow", rows, write(make, stream, compression=codec))
    for version in (pa.ipc.MetadataVersion.V4, pa.ipc.MetadataVersion.V5):
        name = f"arrow-metadata-{version.name.lower()}"
        rows = corpus.rows(name)
        outcome = PROTECTED if version == pa.ipc.MetadataVersion.V5 else EITHER
        make = lambda rows=rows: table(rows)
        corpus.add(name, "arrow.version", "data.arrow", rows, write(make, metadata_version=version), outcome=outcome)
    name = "arrow-legacy-format"
    rows = corpus.rows(name)
    corpus.add(
        name,
        "arrow.version",
        "data.arrow",
        rows,
        write(lambda: table(rows), True, use_legacy_format=True),
        outcome=EITHER,
    )
    for word, kind in {"binary": pa.binary(), "binary-view": pa.binary_view(), "fixed": pa.binary(16)}.items():
        name = f"arrow-type-{word}"
        rows = corpus.rows(name, columns={"card": "card"})

        def make(rows=rows, kind=kind):
            return table(rows).set_column(2, "card", pa.array([cell.encode() for cell in rows.cells["card"]], kind))

        corpus.add(name, f"arrow.type.{word}", "data.arrow", rows, write(make), outcome=EITHER, compare=False)
    name = "arrow-type-required"
    rows = corpus.rows(name)
    corpus.add(name, "arrow.type.required", "data.arrow", rows, write(lambda: required(rows)), outcome=EITHER)
    name = "arrow-run-end-encoded"
    rows = corpus.rows(name, columns={"card": "card"}, distinct=4)

    def runs():
        ends = pa.array(range(1, 25), pa.int32())
        array = pa.RunEndEncodedArray.from_arrays(ends, pa.array(rows.cells["card"]))
        return table(rows).set_column(2, "card", array)

    corpus.add(name, "arrow.type.runs", "data.arrow", rows, write(runs), outcome=EITHER, compare=False)


def dictionaries(corpus):
    for index in ("int8", "int16", "int32", "int64", "uint8", "uint32"):
        for word, kind in STRINGS.items():
            if word != "string" and index not in ("int32", "uint32"):
                continue
            for bad in ((), (3,)):
                if bad and index not in ("int32", "uint32"):
                    continue
                name = f"arrow-dictionary-{index}-{word}" + ("-misfit" if bad else "")
                rows = corpus.rows(name, bad=bad, nulls=(7,), distinct=6)
                kinds = pa.dictionary(getattr(pa, index)(), kind)
                make = lambda rows=rows, kinds=kinds: encoded(rows, kinds)
                corpus.add(
                    name,
                    f"arrow.dictionary.{word}",
                    "data.arrow",
                    rows,
                    write(make),
                    # A dictionary of views is what Polars writes.
                    outcome=EITHER if word == "string-view" else PROTECTED,
                )
    for codec in ("lz4", "zstd"):
        name = f"arrow-dictionary-{codec}"
        rows = corpus.rows(name, bad=(3,), distinct=6)
        make = lambda rows=rows: encoded(rows, pa.dictionary(pa.int32(), pa.string()))
        corpus.add(name, "arrow.dictionary.compressed", "data.arrow", rows, write(make, compression=codec))
    for word in ("replaced", "delta", "unified"):
        for bad in ((), (13,)):
            name = f"arrow-dictionary-{word}" + ("-misfit" if bad else "")
            rows = corpus.rows(name, bad=bad, columns={"card": "card"})

            def write_it(path, rows=rows, word=word):
                cells = rows.cells["card"]
                whole = list(dict.fromkeys(cells))
                kind = pa.dictionary(pa.int32(), pa.string())
                schema = pa.schema([("id", pa.int64()), ("card", kind)])
                new = pa.ipc.new_file if word == "unified" else pa.ipc.new_stream
                options = pa.ipc.IpcWriteOptions(
                    emit_dictionary_deltas=word == "delta", unify_dictionaries=word == "unified"
                )
                chunks = []
                with new(path, schema, options=options) as writer:
                    for start in (0, 8, 16):
                        part = cells[start : start + 8]
                        values = whole[: start + 8] if word == "delta" else part
                        array = pa.DictionaryArray.from_arrays(
                            pa.array([values.index(cell) for cell in part], pa.int32()), pa.array(values)
                        )
                        chunks.append(
                            pa.record_batch([pa.array(rows.cells["id"][start : start + 8]), array], schema=schema)
                        )
                        if word != "unified":
                            writer.write_batch(chunks[-1])
                    if word == "unified":
                        writer.write_table(pa.Table.from_batches(chunks))

            corpus.add(name, f"arrow.dictionary.{word}", "data.arrow", rows, write_it)
    name = "arrow-dictionary-shared"
    rows = corpus.rows(name, distinct=5, columns={"card": "card", "other": "card"})
    make = lambda: encoded(rows, pa.dictionary(pa.int32(), pa.string()))
    corpus.add(name, "arrow.dictionary.shared", "data.arrow", rows, write(make))
    for word, bad in {"unused": False, "unused-misfit": True}.items():
        for kind in ("string", "large-string"):
            name = f"arrow-dictionary-{word}-{kind}"
            rows = corpus.rows(name, distinct=5)

            def unused(rows=rows, bad=bad, kind=kind):
                values = [*dict.fromkeys(rows.cells["card"]), rows.hide("card")]
                values += [rows.plant(rows.values.misfit(), None, "card")] if bad else [rows.hide("card")]
                indices = pa.array([values.index(cell) for cell in rows.cells["card"]], pa.int32())
                array = pa.DictionaryArray.from_arrays(indices, pa.array(values, STRINGS[kind]))
                return table(rows).set_column(2, "card", array)

            corpus.add(
                name, "arrow.dictionary.unused", "data.arrow", rows, write(unused), outcome=EITHER if bad else PROTECTED
            )
    for word, values in {"all-null": [None] * 24, "no-rows": []}.items():
        for column in ("card", "note"):
            name = f"arrow-dictionary-{word}-{column}"
            rows = corpus.rows(name, count=len(values))

            def without_values(rows=rows, values=values, column=column):
                array = pa.DictionaryArray.from_arrays(pa.array(values, pa.int32()), pa.array([], pa.string()))
                whole = table(rows).cast(empty_schema(rows))
                return whole.set_column(whole.schema.get_field_index(column), column, array)

            if column == "card":
                rows.planted = [planted for planted in rows.planted if planted[2] != "card"]
                rows.cells["card"] = list(values)
            corpus.add(name, "arrow.dictionary.empty", "data.arrow", rows, write(without_values))
    name = "arrow-dictionary-null-value"
    rows = corpus.rows(name, columns={"card": "card"}, distinct=4)

    def null_value():
        values = [*dict.fromkeys(rows.cells["card"]), None]
        indices = pa.array([values.index(cell) for cell in rows.cells["card"]], pa.int32())
        return table(rows).set_column(2, "card", pa.DictionaryArray.from_arrays(indices, pa.array(values)))

    corpus.add(name, "arrow.dictionary.null-value", "data.arrow", rows, write(null_value))
    name = "arrow-dictionary-nested"
    rows = corpus.rows(name, distinct=4, columns={"person.card": "card"})

    def nested_dictionary():
        card = pa.array(rows.cells["person.card"]).dictionary_encode()
        return pa.table({"id": rows.cells["id"], "person": pa.StructArray.from_arrays([card], ["card"])})

    corpus.add(name, "arrow.dictionary.nested", "data.arrow", rows, write(nested_dictionary), outcome=EITHER)


def batches(corpus):
    for word, size in {"one-row": 1, "seven": 7}.items():
        for stream in (False, True):
            for kind in ("string", "string-view"):
                name = f"arrow-batches-{word}-{kind}-{'stream' if stream else 'file'}"
                rows = corpus.rows(name, bad=(9,))
                make = lambda rows=rows, kind=kind: table(rows, protected=STRINGS[kind])
                corpus.add(name, f"arrow.batches.{word}", "data.arrow", rows, write(make, stream, size))
    for word, cuts in {
        "none": [],
        "empty": [(0, 0)],
        "empty-first": [(0, 0), (0, 24)],
        "empty-middle": [(0, 12), (12, 12), (12, 24)],
        "empty-last": [(0, 24), (24, 24)],
    }.items():
        for stream in (False, True):
            for codec in (None, "zstd"):
                name = f"arrow-batches-{word}-{'stream' if stream else 'file'}-{codec or 'none'}"
                rows = corpus.rows(name, count=24 if cuts and cuts[-1][1] else 0)

                def write_it(path, rows=rows, cuts=cuts, stream=stream, codec=codec):
                    whole = table(rows).cast(empty_schema(rows)).combine_chunks()
                    new = pa.ipc.new_stream if stream else pa.ipc.new_file
                    with new(path, whole.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
                        for start, end in cuts:
                            batch = pa.RecordBatch.from_arrays(
                                [column.slice(start, end - start).combine_chunks() for column in whole.columns],
                                schema=whole.schema,
                            )
                            writer.write_batch(batch)

                corpus.add(name, f"arrow.batches.{word}", "data.arrow", rows, write_it)
    # A slice of views keeps the buffers of all rows.
    for word, kind in STRINGS.items():
        for bad in ((), (9,)):
            name = f"arrow-sliced-{word}" + ("-misfit" if bad else "")
            rows = corpus.rows(name, count=40, bad=bad)
            for column in rows.columns:
                rows.cells[column][30:] = [rows.hide(column) for _ in range(10)]

            def sliced(rows=rows, kind=kind):
                return table(rows, protected=kind).slice(5, 20)

            # Rows count from the beginning of the slice.
            rows.planted = [
                [value, row - 5 if row is not None and 5 <= row < 25 else None, column]
                for value, row, column in rows.planted
            ]
            rows.bad = [row - 5 for row in rows.bad]
            corpus.add(name, f"arrow.sliced.{word}", "data.arrow", rows, write(sliced))
    name = "arrow-two-streams"
    rows = corpus.rows(name)

    def two(path):
        write(lambda: table(rows), True)(path)
        first = path.read_bytes()
        path.write_bytes(first + first)

    corpus.add(name, "arrow.batches.two-streams", "data.arrow", rows, two, outcome=REFUSED, compare=False)
    name = "arrow-text-behind-end"
    rows = corpus.rows(name)

    def behind_end(path):
        write(lambda: table(rows), True)(path)
        path.write_bytes(path.read_bytes() + rows.hide("card").encode())

    corpus.add(name, "arrow.batches.behind-end", "data.arrow", rows, behind_end, outcome=REFUSED, compare=False)
    name = "arrow-stream-without-end"
    rows = corpus.rows(name)

    def endless(path):
        write(lambda: table(rows), True)(path)
        path.write_bytes(path.read_bytes()[:-8])

    corpus.add(name, "arrow.batches.no-end", "data.arrow", rows, endless, outcome=EITHER)


def nested(corpus):
    for word, path in {"struct": "person.card", "deep": "a.b.card"}.items():
        name = f"arrow-nested-{word}"
        rows = corpus.rows(name, columns={path: "card"})

        def make(rows=rows, path=path):
            steps = path.split(".")
            cells = [{"card": card} for card in rows.cells[path]]
            for step in reversed(steps[1:-1]):
                cells = [{step: cell} for cell in cells]
            return pa.table({"id": rows.cells["id"], steps[0]: cells})

        corpus.add(name, f"arrow.nested.{word}", "data.arrow", rows, write(make), outcome=EITHER)
    for word, wrap in {"list": lambda card: [card], "map": lambda card: [("k", card)]}.items():
        name = f"arrow-nested-in-{word}"
        rows = corpus.rows(name, columns={"cards": "card"})

        def make(rows=rows, wrap=wrap, word=word):
            kind = pa.map_(pa.string(), pa.string()) if word == "map" else None
            return pa.table({"cards": pa.array([wrap(card) for card in rows.cells["cards"]], kind)})

        corpus.add(name, f"arrow.nested.in-{word}", "data.arrow", rows, write(make), outcome=REFUSED, compare=False)
    name = "arrow-duplicate-names"
    rows = corpus.rows(name)
    make = lambda: table(rows).append_column("card", pa.array([rows.hide("card") for _ in rows.cells["id"]]))
    corpus.add(name, "arrow.nested.duplicate", "data.arrow", rows, write(make), outcome=REFUSED)


def others(corpus):
    """Columns of every type that stay, beside texts and beside views; with and without a rejected row."""
    moment = datetime(2024, 2, 29, 12, 30, 15, 123456)
    for word, cells in {
        "bool": pa.array([True, False, None] * 8),
        "uint64": pa.array([2**64 - 1] * 24, pa.uint64()),
        "float16": pa.array([1.5] * 24, pa.float16()),
        "decimal128": pa.array([Decimal("12.34")] * 24, pa.decimal128(9, 2)),
        "decimal256": pa.array([Decimal("12.34")] * 24, pa.decimal256(60, 2)),
        "decimal32": pa.array([Decimal("12.34")] * 24, pa.decimal32(9, 2)),
        "date64": pa.array([date(2024, 2, 29)] * 24, pa.date64()),
        "timestamp": pa.array([moment] * 24, pa.timestamp("us", "Europe/Berlin")),
        "duration": pa.array([5] * 24, pa.duration("s")),
        "interval": pa.array([pa.MonthDayNano([1, 2, 3])] * 24),
        "binary-view": pa.array([b"\xff" * 20, None] * 12, pa.binary_view()),
        "string-view": pa.array(["a" * 20, "b"] * 12, pa.string_view()),
        "list": pa.array([[1, 2], None, []] * 8),
        "list-view": pa.array([[1, 2], None, []] * 8, pa.list_view(pa.int32())),
        "large-list-view": pa.array([[1, 2], None, []] * 8, pa.large_list_view(pa.int32())),
        "fixed-list": pa.array([[1, 2]] * 24, pa.list_(pa.int32(), 2)),
        "list-of-views": pa.array([["a" * 20], None, []] * 8, pa.list_(pa.string_view())),
        "map": pa.array([[("a", 1)], []] * 12, pa.map_(pa.string(), pa.int64())),
        "struct": pa.array([{"a": 1, "b": {"c": "x"}}, None] * 12),
        "dictionary": pa.array(["a", "b", None] * 8).dictionary_encode(),
        "dictionary-of-int": pa.array([1, 2, None] * 8).dictionary_encode(),
        "runs": pa.RunEndEncodedArray.from_arrays(pa.array([12, 24], pa.int32()), pa.array(["a", "b"])),
        "sparse-union": pa.UnionArray.from_sparse(
            pa.array([0, 1] * 12, pa.int8()), [pa.array(range(24)), pa.array(["x"] * 24)]
        ),
        "dense-union": pa.UnionArray.from_dense(
            pa.array([0, 1] * 12, pa.int8()), pa.array([0] * 24, pa.int32()), [pa.array([1]), pa.array(["x"])]
        ),
        "null": pa.nulls(24),
        "uuid": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0123456789abcdef"] * 24, pa.binary(16))),
    }.items():
        for bad in ((), (3,)):
            name = f"arrow-other-{word}" + ("-misfit" if bad else "")
            rows = corpus.rows(name, bad=bad)
            make = lambda rows=rows, cells=cells: table(rows).append_column("extra", cells)
            corpus.add(name, f"arrow.other.{word}", "data.arrow", rows, write(make))


def metadata(corpus):
    shapes = {
        "raw": lambda value: value,
        "json": lambda value: json.dumps({"example": [value]}),
        "base64": lambda value: base64.b64encode(f"first value {value}".encode()).decode(),
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
    }
    for word, shape in shapes.items():
        for stream in (False, True):
            name = f"arrow-metadata-schema-{word}-{'stream' if stream else 'file'}"
            rows = corpus.rows(name)
            make = lambda rows=rows, shape=shape: table(rows).replace_schema_metadata(
                {"note": shape(rows.cells["card"][3])}
            )
            corpus.add(name, f"arrow.metadata.schema.{word}", "data.arrow", rows, write(make, stream), outcome=EITHER)
        for target in ("card", "note"):
            name = f"arrow-metadata-field-{target}-{word}"
            rows = corpus.rows(name)

            def make(rows=rows, target=target, shape=shape):
                whole = table(rows)
                place = whole.schema.get_field_index(target)
                field = whole.schema.field(place).with_metadata({"example": shape(rows.cells["card"][2])})
                return whole.set_column(place, field, whole[target])

            corpus.add(name, f"arrow.metadata.field.{word}", "data.arrow", rows, write(make), outcome=EITHER)
    for stream in (False, True):
        name = f"arrow-metadata-batch-{'stream' if stream else 'file'}"
        rows = corpus.rows(name)

        def of_batch(path, rows=rows, stream=stream):
            batch = table(rows).to_batches()[0]
            with (pa.ipc.new_stream if stream else pa.ipc.new_file)(path, batch.schema) as writer:
                writer.write_batch(batch, custom_metadata={"first": rows.cells["card"][0]})

        corpus.add(name, "arrow.metadata.batch", "data.arrow", rows, of_batch, outcome=EITHER)
    name = "arrow-metadata-footer"
    rows = corpus.rows(name)

    def of_footer(path):
        schema = table(rows).schema
        with pa.ipc.new_file(path, schema, metadata={"first": rows.cells["card"][0]}) as writer:
            writer.write_table(table(rows))

    corpus.add(name, "arrow.metadata.footer", "data.arrow", rows, of_footer, outcome=EITHER)
    name = "arrow-metadata-extension"
    rows = corpus.rows(name)

    def extension():
        known = {"ARROW:extension:name": "company.card", "ARROW:extension:metadata": ";".join(rows.cells["card"])}
        whole = table(rows)
        return whole.set_column(2, whole.schema.field("card").with_metadata(known), whole["card"])

    corpus.add(name, "arrow.metadata.extension", "data.arrow", rows, write(extension), outcome=EITHER)
    name = "arrow-metadata-extension-other"
    rows = corpus.rows(name)

    def of_other():
        known = {"ARROW:extension:name": "company.note", "ARROW:extension:metadata": rows.cells["card"][1]}
        whole = table(rows)
        return whole.set_column(1, whole.schema.field("note").with_metadata(known), whole["note"])

    corpus.add(name, "arrow.metadata.extension-other", "data.arrow", rows, write(of_other))
    name = "arrow-metadata-extension-tensor"
    rows = corpus.rows(name)
    tensor = pa.fixed_shape_tensor(pa.int32(), [2, 2])
    make = lambda: table(rows).append_column(
        "tensor", pa.ExtensionArray.from_storage(tensor, pa.array([[1, 2, 3, 4]] * 24, pa.list_(pa.int32(), 4)))
    )
    corpus.add(name, "arrow.metadata.extension-tensor", "data.arrow", rows, write(make))
    for word in ("value", "within", "known"):
        for stream in (False, True):
            name = f"arrow-metadata-zone-{word}-{'stream' if stream else 'file'}"
            rows = corpus.rows(name)

            def zoned(rows=rows, word=word):
                zone = "Europe/Berlin" if word == "known" else rows.cells["card"][5]
                moments = pa.array(range(24), pa.timestamp("us", zone))
                if word == "within":
                    moments = pa.StructArray.from_arrays([moments], ["at"])
                return table(rows).append_column("at", moments)

            outcome = PROTECTED if word == "known" else REFUSED
            # No reader knows a time zone that is a card.
            corpus.add(
                name,
                f"arrow.metadata.zone.{word}",
                "data.arrow",
                rows,
                write(zoned, stream),
                outcome=outcome,
                compare=word == "known",
            )
    name = "arrow-metadata-union-field"
    rows = corpus.rows(name)
    make = lambda: table(rows).append_column(
        "extra",
        pa.UnionArray.from_sparse(
            pa.array([0, 1] * 12, pa.int8()),
            [pa.array(range(24)), pa.array(["x"] * 24)],
            [rows.cells["card"][2], "other"],
        ),
    )
    corpus.add(name, "arrow.metadata.union-field", "data.arrow", rows, write(make), outcome=REFUSED)
    name = "arrow-metadata-column-name"
    rows = corpus.rows(name)
    make = lambda: table(rows).append_column(rows.cells["card"][1], pa.array(rows.cells["id"]))
    corpus.add(name, "arrow.metadata.column-name", "data.arrow", rows, write(make), outcome=EITHER)
    name = "arrow-metadata-harmless"
    rows = corpus.rows(name)
    make = lambda: table(rows).replace_schema_metadata({"made by": "a program"})
    corpus.add(name, "arrow.metadata.harmless", "data.arrow", rows, write(make))


def hidden(corpus):
    """Values in buffers that no row shows."""
    for word, kind in STRINGS.items():
        for codec in (None, "zstd"):
            name = f"arrow-hidden-under-null-{word}-{codec or 'none'}"
            rows = corpus.rows(name, bad=(9,) if codec else ())

            def under_null(rows=rows, kind=kind):
                whole = table(rows, protected=kind)
                array = whole["card"].combine_chunks()
                bits = bytes([0b11110011]) + b"\xff" * 2
                buffers = [pa.py_buffer(bits), *array.buffers()[1:]]
                return whole.set_column(2, "card", pa.Array.from_buffers(kind, 24, buffers))

            for row in (2, 3):
                value = next(planted for planted in rows.planted if planted[1] == row and planted[2] == "card")
                value[1] = None
            corpus.add(name, f"arrow.hidden.null.{word}", "data.arrow", rows, write(under_null, compression=codec))
    for codec in (None, "zstd"):
        for bad in ((), (9,)):
            name = f"arrow-hidden-in-view-buffer-{codec or 'none'}" + ("-misfit" if bad else "")
            rows = corpus.rows(name, bad=bad)

            def in_buffer(rows=rows):
                kind = pa.string_view()
                more = [rows.hide("card") for _ in range(4)]
                array = pa.array([*rows.cells["card"], *more], kind)
                shorter = pa.Array.from_buffers(kind, 24, array.buffers())
                return table(rows).set_column(2, "card", shorter)

            corpus.add(name, "arrow.hidden.view-buffer", "data.arrow", rows, write(in_buffer, compression=codec))
    name = "arrow-hidden-between-offsets"
    rows = corpus.rows(name)

    def between():
        import struct

        data, offsets = b"", []
        for cell in rows.cells["card"]:
            offsets.append(len(data))
            data += cell.encode()
        # What the validity leaves out has bytes of its own.
        hidden_value = rows.hide("card").encode()
        offsets.append(len(data))
        offsets.append(len(data) + len(hidden_value))
        data += hidden_value
        bits = (1 << 24) - 1
        buffers = [
            pa.py_buffer(bits.to_bytes(8, "little")),
            pa.py_buffer(struct.pack(f"<{len(offsets)}i", *offsets)),
            pa.py_buffer(data),
        ]
        array = pa.Array.from_buffers(pa.string(), 25, buffers)
        columns = {"id": pa.array([*rows.cells["id"], 25]), "card": array}
        columns["email"] = pa.array([*rows.cells["email"], None])
        return pa.table(columns)

    corpus.add(name, "arrow.hidden.null.string", "data.arrow", rows, write(between))
    name = "arrow-hidden-in-padding"
    rows = corpus.rows(name, columns={"card": "card"})

    def in_padding(path):
        """Values in the padding behind the schema message of a stream."""
        whole = pa.table({"card": rows.cells["card"]})
        write(lambda: whole, True)(path)
        data = path.read_bytes()
        length = int.from_bytes(data[4:8], "little")
        filler = rows.hide("card").encode()
        path.write_bytes(
            data[:4] + (length + len(filler)).to_bytes(4, "little") + data[8 : 8 + length] + filler + data[8 + length :]
        )

    corpus.add(name, "arrow.hidden.padding", "data.arrow", rows, in_padding, outcome=EITHER)
    name = "arrow-hidden-behind-footer"
    rows = corpus.rows(name)

    def behind_messages(path):
        """Values between the last batch and the footer."""
        write(lambda: table(rows))(path)
        data = path.read_bytes()
        length = int.from_bytes(data[-10:-6], "little")
        place = len(data) - 10 - length
        path.write_bytes(data[:place] + rows.hide("card").encode() + data[place:])

    corpus.add(name, "arrow.hidden.before-footer", "data.arrow", rows, behind_messages, outcome=EITHER)


def nulled(array, nulls):
    """The array with nulls in some rows, and its values as they were beneath them."""
    bits = sum(1 << row for row in range(len(array)) if row not in nulls)
    valid = pa.py_buffer(bits.to_bytes(8, "little"))
    if pa.types.is_nested(array.type):
        children = [array.field(place) for place in range(array.type.num_fields)] if pa.types.is_struct(array.type) else None
        children = children or [array.values]
        buffers = array.buffers()[1:2] if pa.types.is_list(array.type) else []
        return pa.Array.from_buffers(array.type, len(array), [valid, *buffers], children=children)
    return pa.Array.from_buffers(array.type, len(array), [valid, *array.buffers()[1:]])


def beneath(corpus):
    """Columns that stay, with values of protected columns in slots that are not shown."""
    nulls = (1, 4, 17)

    def texts(rows, kind=pa.string()):
        """A text for each row, as long as a card, and cards where the nulls will be."""
        return pa.array([rows.hide("card") if row in nulls else "note of no value" for row in range(24)], kind)

    def numbers(rows, kind=pa.int64()):
        return pa.array([int(rows.hide("card")) if row in nulls else row for row in range(24)], kind)

    item = pa.field("item", pa.string())
    offsets = pa.array(range(25), pa.int32())
    for word, make in {
        "string": lambda rows: nulled(texts(rows), nulls),
        "large-string": lambda rows: nulled(texts(rows, pa.large_string()), nulls),
        "string-view": lambda rows: nulled(texts(rows, pa.string_view()), nulls),
        "binary": lambda rows: nulled(texts(rows, pa.binary()), nulls),
        "fixed-binary": lambda rows: nulled(texts(rows).cast(pa.binary()).cast(pa.binary(16)), nulls),
        "int64": lambda rows: nulled(numbers(rows), nulls),
        "timestamp": lambda rows: nulled(numbers(rows).cast(pa.timestamp("us")), nulls),
        "decimal": lambda rows: nulled(numbers(rows).cast(pa.decimal128(19, 0)), nulls),
        "struct": lambda rows: nulled(pa.StructArray.from_arrays([texts(rows), numbers(rows)], ["a", "b"]), nulls),
        "list": lambda rows: nulled(pa.ListArray.from_arrays(offsets, texts(rows)), nulls),
        "list-before": lambda rows: pa.ListArray.from_arrays(
            pa.array(range(5, 29), pa.int32()), pa.concat_arrays([texts(rows), texts(rows)])
        ).slice(13, 3).take(pa.array([0, 1, 2] * 8)),
        "fixed-list": lambda rows: nulled(pa.FixedSizeListArray.from_arrays(texts(rows), 1), nulls),
        "list-in-struct": lambda rows: nulled(
            pa.StructArray.from_arrays([pa.ListArray.from_arrays(offsets, texts(rows))], ["a"]), nulls
        ),
        "dictionary-in-struct": lambda rows: nulled(
            pa.StructArray.from_arrays([texts(rows).dictionary_encode()], ["a"]), nulls
        ),
        "sparse-union": lambda rows: pa.UnionArray.from_sparse(
            pa.array([int(row in nulls) for row in range(24)], pa.int8()), [texts(rows), pa.array([7] * 24)]
        ),
        "dense-union": lambda rows: pa.UnionArray.from_dense(
            pa.array([0] * 24, pa.int8()),
            pa.array([0, 2, 3] * 8, pa.int32()).take(pa.array(sorted([*range(24)], key=lambda row: row % 3))),
            [texts(rows), pa.array([7])],
        ),
        "if-else": lambda rows: pa.compute.if_else(
            pa.array([row not in nulls for row in range(24)]), texts(rows), None
        ),
    }.items():
        for codec in (None, "zstd"):
            for bad in ((), (9,)):
                for stream in (False, True):
                    name = f"arrow-beneath-{word}-{codec or 'none'}-{'stream' if stream else 'file'}"
                    name += "-misfit" if bad else ""
                    rows = corpus.rows(name, bad=bad)
                    whole = lambda rows=rows, make=make: table(rows).append_column("extra", make(rows))
                    corpus.add(
                        name, f"arrow.beneath.{word}", "data.arrow", rows, write(whole, stream, compression=codec)
                    )


def of_feather(corpus):
    for codec in ("uncompressed", "lz4", "zstd"):
        for bad in ((), (3,)):
            name = f"arrow-feather-{codec}" + ("-misfit" if bad else "")
            rows = corpus.rows(name, bad=bad)
            write_it = lambda path, rows=rows, codec=codec: feather.write_feather(
                table(rows), str(path), compression=codec
            )
            corpus.add(name, "arrow.feather", "data.feather", rows, write_it)
    name = "arrow-feather-v1"
    rows = corpus.rows(name)
    write_it = lambda path: feather.write_feather(table(rows), str(path), version=1)
    corpus.add(name, "arrow.feather-1", "data.feather", rows, write_it, outcome=REFUSED)
    for word, change in {
        "index": lambda frame: frame.set_index("card"),
        "category": lambda frame: frame.astype({"card": "category"}),
        "empty-category": lambda frame: frame.astype({"card": "category"}).iloc[:0],
        "null-category": lambda frame: frame.assign(card=None).astype({"card": "category"}),
        "null-column": lambda frame: frame.assign(card=None),
        "null-other": lambda frame: frame.assign(note=None),
    }.items():
        name = f"arrow-pandas-{word}"
        rows = corpus.rows(name)

        def write_it(path, rows=rows, change=change):
            import pandas

            feather.write_feather(pa.Table.from_pandas(change(pandas.DataFrame(rows.cells))), str(path))

        # A category of no values has the type null, and so has a column.
        if word in ("null-category", "null-column"):
            rows.planted = [planted for planted in rows.planted if planted[2] != "card"]
        corpus.add(name, f"arrow.pandas.{word}", "data.feather", rows, write_it)


def of_polars(corpus):
    for stream in (False, True):
        form = "stream" if stream else "file"
        for word, kind, outcome in (
            ("string", lambda rows: polars.String, PROTECTED),
            ("categorical", lambda rows: polars.Categorical, EITHER),
            ("enum", enum_of, EITHER),
        ):
            for compat in ("newest", "oldest"):
                for codec in ("uncompressed", "zstd"):
                    for bad in ((), (3,)):
                        if codec == "zstd" and compat == "oldest":
                            continue
                        name = f"arrow-polars-{word}-{form}-{compat}-{codec}" + ("-misfit" if bad else "")
                        rows = corpus.rows(
                            name,
                            bad=bad,
                            nulls=(7,),
                            distinct=0 if word == "string" else 5,
                            columns={"card": "card", "long": "long"},
                        )

                        def write_it(path, rows=rows, kind=kind, stream=stream, compat=compat, codec=codec):
                            frame = polars_frame(rows, kind(rows))
                            writer = frame.write_ipc_stream if stream else frame.write_ipc
                            writer(str(path), compression=codec, compat_level=getattr(polars.CompatLevel, compat)())

                        corpus.add(name, f"arrow.polars.{word}", "data.arrow", rows, write_it, outcome=outcome)
    # The case in which most rows of a large file were readable in the rejects.
    name = "arrow-polars-many-rows"
    rows = corpus.rows(name, count=1000, bad=(500,))
    corpus.add(name, "arrow.polars.many", "data.arrow", rows, lambda path: polars_frame(rows).write_ipc(path))
    name = "arrow-polars-empty"
    rows = corpus.rows(name, count=0)
    corpus.add(name, "arrow.polars.empty", "data.arrow", rows, lambda path: polars_frame(rows).write_ipc(path))
    name = "arrow-polars-filtered"
    rows = corpus.rows(name)
    write_it = lambda path: polars_frame(rows).filter(polars.col("id") > 100).write_ipc(path)
    corpus.add(name, "arrow.polars.empty", "data.arrow", rows, write_it)
    name = "arrow-polars-sliced"
    rows = corpus.rows(name, bad=(2,))
    hidden_values = {column: [rows.hide(column) for _ in range(30)] for column in rows.columns}

    def sliced(path):
        more = {**{name: [*cells, *cells, *cells][:54] for name, cells in rows.cells.items()}}
        for column, cells in hidden_values.items():
            more[column] = [*rows.cells[column], *cells]
        types = {"id": polars.Int64, "amount": polars.Float64}
        frame = polars.DataFrame(more, schema={name: types.get(name, polars.String) for name in more})
        frame.head(24).write_ipc(path)

    corpus.add(name, "arrow.polars.sliced", "data.arrow", rows, sliced)


def masked(corpus):
    """Columns with a mask alone: of texts, views and dictionaries."""
    for kind in ("mask-null", "mask-last", "mask-hash"):
        for word, string in STRINGS.items():
            for bad in ((), (3,)):
                name = f"arrow-{kind}-{word}" + ("-misfit" if bad else "")
                rows = corpus.rows(name, bad=bad, columns={"card": "card", "other": kind})
                make = lambda rows=rows, string=string: table(rows, protected=string)
                corpus.add(name, f"arrow.mask.{word}", "data.arrow", rows, write(make))
        name = f"arrow-{kind}-dictionary"
        rows = corpus.rows(name, bad=(3,), columns={"card": "card", "other": kind}, distinct=6)
        make = lambda rows=rows: encoded(rows, pa.dictionary(pa.int32(), pa.string()))
        corpus.add(name, "arrow.mask.dictionary", "data.arrow", rows, write(make))


def damaged(corpus):
    for stream in (False, True):
        for place in range(0, 100, 20):
            name = f"arrow-damaged-{'stream' if stream else 'file'}-{place:02}"
            rows = corpus.rows(name)

            def damage(path, rows=rows, stream=stream, place=place):
                write(lambda: table(rows), stream)(path)
                data = bytearray(path.read_bytes())
                for step in range(3):
                    data[8 + (len(data) - 40) * place // 100 + step * 7] ^= 0x55
                path.write_bytes(data)

            rows.bad = list(range(24))
            options = {"variations": [("reject", 1)], "compare": False}
            corpus.add(name, "arrow.damaged", "data.arrow", rows, damage, outcome=EITHER, **options)
    name = "arrow-cut"
    rows = corpus.rows(name)

    def cut(path):
        write(lambda: table(rows))(path)
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2])

    corpus.add(name, "arrow.damaged", "data.arrow", rows, cut, outcome=EITHER, compare=False)
