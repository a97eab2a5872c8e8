//! Files of all three kinds, and runs over them.

use std::collections::HashMap;
use std::fs::File;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder, StringDictionaryBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Int64Array, LargeStringArray, RecordBatch, StringArray, StructArray};
use arrow_buffer::NullBuffer;
use arrow_ipc::CompressionType;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::concat_batches;
use keywright_columnar::{Error, Kind, Table, run};
use keywright_format::Rules;
use keywright_protect::{
    ColumnKey, Files, Keys, Overwrite, Plan, Progress, Protection, Summary, protection_of,
};
use keywright_secret::Secret;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

pub(crate) const KINDS: [Kind; 3] = [Kind::Parquet, Kind::ArrowFile, Kind::ArrowStream];

/// Rules for columns of every kind of text.
pub(crate) const RULES: &str = "version = 1\n\
    [[column]]\nname = \"card\"\nformat = \"card\"\n\
    [[column]]\nname = \"mail\"\nformat = \"email\"\n\
    [[column]]\nname = \"city\"\nformat = \"letter(6..20)\"\n";

pub(crate) struct Work {
    folder: tempfile::TempDir,
    threads: NonZeroUsize,
}

pub(crate) fn keys() -> Keys {
    let key = Secret::from_fill(|key| key.fill(3));
    Keys::none().with_unnamed(ColumnKey::without_id(1, key).unwrap())
}

pub(crate) const CARDS: [&str; 4] = [
    "4111111111111111",
    "5500 0000 0000 0004",
    "378282246310005",
    "6011000990139424",
];
pub(crate) const CITIES: [&str; 2] = ["Wellington", "Nairobi"];

/// Rows with nulls, empty texts, a dictionary and nested columns.
pub(crate) fn batch(rows: usize) -> RecordBatch {
    let cards = (0..rows).map(|row| (row % 5 != 3).then(|| CARDS[row % 4]));
    let mails = (0..rows).map(|row| match row % 7 {
        0 => None,
        1 => Some(String::new()),
        _ => Some(format!("someone{row:05}@example.com")),
    });
    // One dictionary for all batches, as Arrow files have it.
    let own = StringArray::from(CITIES.to_vec());
    let cities = StringDictionaryBuilder::<Int32Type>::new_with_dictionary(rows, &own);
    let mut cities = cities.unwrap();
    let mut tags = ListBuilder::new(StringBuilder::new());
    for row in 0..rows {
        match row % 6 {
            2 => cities.append_null(),
            _ => drop(cities.append(CITIES[row % 2]).unwrap()),
        }
        tags.values().append_value("tag");
        tags.append(row % 4 != 0);
    }
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows as i64));
    // A structure that is missing in some rows, with texts that are missing in others.
    let plates = (0..rows).map(|row| (row % 3 != 1).then(|| format!("PLATE{row:05}")));
    let fields = vec![
        Field::new("x", DataType::Int64, false),
        Field::new("plate", DataType::Utf8, true),
    ];
    let plates: ArrayRef = Arc::new(StringArray::from_iter(plates));
    let nulls = NullBuffer::from_iter((0..rows).map(|row| row % 4 != 2));
    let parts = vec![Arc::clone(&ids), plates];
    let inner = StructArray::new(fields.into(), parts, Some(nulls));
    let columns: Vec<ArrayRef> = vec![
        ids,
        Arc::new(StringArray::from_iter(cards)),
        Arc::new(LargeStringArray::from_iter(mails)),
        Arc::new(cities.finish()),
        Arc::new(tags.finish()),
        Arc::new(inner),
    ];
    let names = ["id", "card", "mail", "city", "tags", "inner"];
    let fields: Vec<Field> = names
        .iter()
        .zip(&columns)
        .map(|(name, column)| {
            let nullable = *name != "id";
            let field = Field::new(*name, column.data_type().clone(), nullable);
            // Fields that change lose theirs.
            match *name {
                "id" | "tags" => {
                    field.with_metadata(HashMap::from([("of".to_owned(), (*name).to_owned())]))
                }
                _ => field,
            }
        })
        .collect();
    let metadata = HashMap::from([("owner".to_owned(), "shop".to_owned())]);
    RecordBatch::try_new(
        Arc::new(Schema::new_with_metadata(fields, metadata)),
        columns,
    )
    .unwrap()
}

impl Work {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            threads: NonZeroUsize::new(2).unwrap(),
        }
    }

    /// What it does is done by one thread.
    pub(crate) fn alone(mut self) -> Self {
        self.threads = NonZeroUsize::MIN;
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Writes `in` with a row group or a batch for each of these.
    pub(crate) fn write(&self, kind: Kind, batches: &[RecordBatch]) {
        let file = File::create(self.path("in")).unwrap();
        let schema = batches[0].schema();
        match kind {
            Kind::Parquet => {
                let column = |name: &str| ColumnPath::from(name);
                let properties = WriterProperties::builder()
                    .set_compression(Compression::SNAPPY)
                    .set_column_compression(column("mail"), Compression::ZSTD(ZstdLevel::default()))
                    .set_column_bloom_filter_enabled(column("card"), true)
                    .set_column_dictionary_enabled(column("mail"), false)
                    .set_key_value_metadata(Some(vec![KeyValue::new(
                        "made".to_owned(),
                        "here".to_owned(),
                    )]))
                    .build();
                let mut writer = ArrowWriter::try_new(file, schema, Some(properties)).unwrap();
                for batch in batches {
                    writer.write(batch).unwrap();
                    writer.flush().unwrap();
                }
                writer.close().unwrap();
            }
            Kind::ArrowStream => {
                let options = IpcWriteOptions::default();
                let options = options
                    .try_with_compression(Some(CompressionType::ZSTD))
                    .unwrap();
                let writer = StreamWriter::try_new_with_options(file, &schema, options);
                let mut writer = writer.unwrap();
                batches
                    .iter()
                    .for_each(|batch| writer.write(batch).unwrap());
                writer.finish().unwrap();
            }
            _ => {
                let mut writer = FileWriter::try_new(file, &schema).unwrap();
                writer.write_metadata("made", "here");
                batches
                    .iter()
                    .for_each(|batch| writer.write(batch).unwrap());
                writer.finish().unwrap();
            }
        }
        assert_eq!(Kind::of(&self.path("in")), Some(kind));
    }

    pub(crate) fn files(&self, out: &str) -> Files {
        Files::new(&self.path(out)).with_rejects(&self.path("rejects"))
    }

    pub(crate) fn protect_with(
        &self,
        rules: &str,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Summary, Error> {
        let table = Table::open(&self.path("in"))?;
        let rules = Rules::parse(rules).unwrap();
        let plan = Plan::protect(table.layout(), &rules, &keys())?;
        self.run((&table, &plan), &self.files("out"), progress)
    }

    pub(crate) fn protect(&self, rules: &str) -> Result<Summary, Error> {
        self.protect_with(rules, &mut |_| ControlFlow::Continue(()))
    }

    pub(crate) fn reveal(&self) {
        let table = Table::open(&self.path("out")).unwrap();
        let protection = std::fs::read(protection_of(&self.path("out"))).unwrap();
        let protection = Protection::parse(&protection).unwrap();
        let plan = Plan::reveal(table.layout(), &protection, None, &keys()).unwrap();
        let files = self.files("back").with_overwrite(Overwrite::Replace);
        let ran = self.run((&table, &plan), &files, &mut |_| ControlFlow::Continue(()));
        ran.unwrap();
    }

    pub(crate) fn run(
        &self,
        (table, plan): (&Table, &Plan),
        files: &Files,
        progress: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Summary, Error> {
        run(table, plan, files, self.threads, progress)
    }
}

/// Everything in a file, as one batch.
pub(crate) fn whole(work: &Work, name: &str, kind: Kind) -> RecordBatch {
    let file = File::open(work.path(name)).unwrap();
    let (schema, batches): (_, Vec<RecordBatch>) = match kind {
        Kind::Parquet => {
            let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
            let schema = builder.schema().clone();
            (
                schema,
                builder.build().unwrap().map(Result::unwrap).collect(),
            )
        }
        Kind::ArrowStream => {
            let reader = StreamReader::try_new(file, None).unwrap();
            (reader.schema(), reader.map(Result::unwrap).collect())
        }
        _ => {
            let reader = FileReader::try_new(file, None).unwrap();
            (reader.schema(), reader.map(Result::unwrap).collect())
        }
    };
    concat_batches(&schema, &batches).unwrap()
}

/// Whether a text stands anywhere in the bytes of a file.
pub(crate) fn contains(bytes: &[u8], part: &str) -> bool {
    bytes
        .windows(part.len())
        .any(|window| window == part.as_bytes())
}
