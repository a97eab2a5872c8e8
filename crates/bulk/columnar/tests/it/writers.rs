//! Parquet files as writers other than the library's write them: offsets of nothing, encrypted columns, other codecs.

use std::fs::File;

use keywright_columnar::{Error, Kind};
use parquet::basic::{Compression, Encoding};
use parquet::file::metadata::{
    ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader,
    ParquetMetaDataWriter, RowGroupMetaData,
};

use crate::scene::{RULES, Work, batch, whole};

/// Gives `in` another footer.
fn with_footer(work: &Work, change: impl FnOnce(Vec<RowGroupMetaData>) -> Vec<RowGroupMetaData>) {
    let file = File::open(work.path("in")).unwrap();
    let reader = ParquetMetaDataReader::new().with_page_index_policy(PageIndexPolicy::Optional);
    let metadata = reader.parse_and_finish(&file).unwrap();
    let groups = change(metadata.row_groups().to_vec());
    let footer = ParquetMetaData::new(metadata.file_metadata().clone(), groups);
    let mut bytes = work.read("in");
    let mut tail = Vec::new();
    ParquetMetaDataWriter::new(&mut tail, &footer)
        .finish()
        .unwrap();
    bytes.extend_from_slice(&tail);
    std::fs::write(work.path("in"), bytes).unwrap();
}

fn with_columns(
    group: &RowGroupMetaData,
    change: impl Fn(usize, &ColumnChunkMetaData) -> ColumnChunkMetaData,
) -> RowGroupMetaData {
    let columns = group.columns().iter().enumerate();
    let columns = columns
        .map(|(number, chunk)| change(number, chunk))
        .collect();
    let builder = group.clone().into_builder().set_column_metadata(columns);
    builder.build().unwrap()
}

/// A row group without rows: `dictionary` is where a dictionary of nothing is, as pyarrow writes it.
fn empty(group: &RowGroupMetaData, dictionary: Option<i64>) -> RowGroupMetaData {
    let made = with_columns(group, |_, chunk| {
        let builder = ColumnChunkMetaData::builder(chunk.column_descr_ptr())
            .set_dictionary_page_offset(dictionary)
            .set_data_page_offset(0)
            .set_num_values(0)
            .set_total_compressed_size(if dictionary.is_some() { 15 } else { 0 });
        builder.build().unwrap()
    });
    let builder = made.into_builder().set_num_rows(0);
    builder.build().unwrap()
}

#[test]
fn row_groups_without_rows_come_back() {
    let rules = [
        RULES,
        &RULES.replace("format", "on_bad = \"reject\"\nformat"),
    ];
    for (rules, dictionary) in [(rules[0], None), (rules[0], Some(4)), (rules[1], Some(4))] {
        let work = Work::new();
        work.write(Kind::Parquet, &[batch(70), batch(30)]);
        let before = whole(&work, "in", Kind::Parquet);
        with_footer(&work, |groups| {
            let none = || empty(&groups[0], dictionary);
            vec![
                none(),
                groups[0].clone(),
                none(),
                none(),
                groups[1].clone(),
                none(),
            ]
        });
        let summary = work.protect(rules).unwrap();
        assert_eq!(summary.rows, 100);
        let file = File::open(work.path("out")).unwrap();
        let footer = ParquetMetaDataReader::new()
            .parse_and_finish(&file)
            .unwrap();
        let rows: Vec<_> = footer
            .row_groups()
            .iter()
            .map(RowGroupMetaData::num_rows)
            .collect();
        assert_eq!(rows, [0, 70, 0, 0, 30, 0]);
        work.reveal();
        assert_eq!(whole(&work, "back", Kind::Parquet), before);
    }
}

#[test]
fn files_without_rows_come_back() {
    for groups in [0, 1] {
        let work = Work::new();
        work.write(Kind::Parquet, &[batch(3)]);
        with_footer(&work, |own| {
            own.iter()
                .take(groups)
                .map(|own| empty(own, Some(4)))
                .collect()
        });
        assert_eq!(work.protect(RULES).unwrap().rows, 0);
        work.reveal();
        assert_eq!(whole(&work, "back", Kind::Parquet).num_rows(), 0);
    }
}

/// fastparquet gives the items of an empty list no type.
#[test]
fn an_empty_list_may_have_no_type() {
    let work = Work::new();
    work.write(Kind::Parquet, &[batch(3)]);
    with_footer(&work, |_| Vec::new());
    let mut bytes = work.read("in");
    // num_rows of none, and row_groups of none: lists of structures.
    let place = bytes
        .windows(4)
        .rposition(|part| part == [0x16, 0, 0x19, 0x0C]);
    bytes[place.unwrap() + 3] = 0;
    std::fs::write(work.path("in"), bytes).unwrap();
    assert_eq!(work.protect(RULES).unwrap().rows, 0);
    work.reveal();
}

#[test]
fn a_dictionary_at_offset_zero_is_none() {
    let work = Work::new();
    work.write(Kind::Parquet, &[batch(40)]);
    let before = whole(&work, "in", Kind::Parquet);
    with_footer(&work, |groups| {
        let none = |_: usize, chunk: &ColumnChunkMetaData| {
            let offset = chunk.dictionary_page_offset().unwrap_or(0);
            let builder = chunk.clone().into_builder();
            builder
                .set_dictionary_page_offset(Some(offset))
                .build()
                .unwrap()
        };
        groups
            .iter()
            .map(|group| with_columns(group, none))
            .collect()
    });
    work.protect(RULES).unwrap();
    work.reveal();
    assert_eq!(whole(&work, "back", Kind::Parquet), before);
}

/// Written by pyarrow: the column `note` is encrypted, the footer is not.
#[test]
fn a_file_with_an_encrypted_column_is_refused_by_name() {
    let work = Work::new();
    std::fs::write(work.path("in"), include_bytes!("plaintext_footer.parquet")).unwrap();
    let error = work.protect(RULES).unwrap_err();
    let named =
        matches!(&error, Error::Encrypted { what, .. } if what == "column \"note\" is encrypted");
    assert!(named, "{error:?}");
    assert_eq!(work.names(), ["in"]);
}

/// A column that begins with its data pages.
fn without_dictionary(chunk: &ColumnChunkMetaData) -> ColumnChunkMetaData {
    let dictionary = chunk.dictionary_page_offset().unwrap();
    let pages = chunk.compressed_size() - (chunk.data_page_offset() - dictionary);
    let builder = chunk.clone().into_builder();
    let builder = builder.set_dictionary_page_offset(None);
    let builder = builder.set_encodings(vec![Encoding::PLAIN, Encoding::RLE]);
    builder.set_total_compressed_size(pages).build().unwrap()
}

#[test]
fn codecs_that_are_not_supported_are_named() {
    let other = |column: usize, change: fn(&ColumnChunkMetaData) -> ColumnChunkMetaData| {
        let work = Work::new();
        work.write(Kind::Parquet, &[batch(40)]);
        with_footer(&work, |groups| {
            let brotli = |number: usize, chunk: &ColumnChunkMetaData| {
                if number != column {
                    return chunk.clone();
                }
                let chunk = change(chunk);
                let builder = chunk.into_builder();
                let builder = builder.set_compression(Compression::BROTLI(Default::default()));
                builder.build().unwrap()
            };
            groups
                .iter()
                .map(|group| with_columns(group, brotli))
                .collect()
        });
        work
    };
    let work = other(1, ColumnChunkMetaData::clone);
    let error = work.protect(RULES).unwrap_err();
    assert_eq!(
        error.to_string(),
        "column \"card\" is compressed with BROTLI, which is not supported"
    );
    assert_eq!(work.names(), ["in"]);
    // A column that stays is copied, if no row is taken out of it, and if it has no dictionary, whose entries cannot be
    // read.
    other(0, without_dictionary).protect(RULES).unwrap();
    let rejecting = RULES.replace("format", "on_bad = \"reject\"\nformat");
    let refused = [
        other(0, without_dictionary).protect(&rejecting),
        other(0, ColumnChunkMetaData::clone).protect(RULES),
    ];
    for refused in refused {
        let error = refused.unwrap_err();
        assert!(
            matches!(&error, Error::Codec { column, .. } if column == "id"),
            "{error:?}"
        );
    }
}

/// The bytes of a column that stays are copied, whatever they are.
#[test]
fn a_column_that_lies_within_another_is_refused() {
    let work = Work::new();
    work.write(Kind::Parquet, &[batch(40)]);
    with_footer(&work, |groups| {
        let end = |number: usize| {
            let (start, length) = groups[0].column(number).byte_range();
            i64::try_from(start + length).unwrap()
        };
        let last = end(1);
        let wide = |number: usize, chunk: &ColumnChunkMetaData| {
            let (start, _) = chunk.byte_range();
            let builder = chunk.clone().into_builder();
            match number {
                0 => builder.set_total_compressed_size(last - i64::try_from(start).unwrap()),
                _ => builder,
            }
            .build()
            .unwrap()
        };
        vec![with_columns(&groups[0], wide)]
    });
    let error = work.protect(RULES).unwrap_err();
    assert!(
        matches!(&error, Error::Overlap { column } if column == "card"),
        "{error:?}"
    );
    assert_eq!(work.names(), ["in"]);
}
