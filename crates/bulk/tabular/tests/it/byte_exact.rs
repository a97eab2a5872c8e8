//! What is replaced and put back gives the file; what would break a record is refused.

use keywright_tabular::Error;
use keywright_tabular::csv::{Options, Reader, rewrite};
use proptest::prelude::*;

/// A file with some columns replaced by `new`.
fn with_columns(
    file: &[u8],
    columns: &[usize],
    mut new: impl FnMut(&[u8]) -> Vec<u8>,
) -> Result<Vec<u8>, Error> {
    let mut reader = Reader::new(file, &Options::default())?;
    let mut out = reader.header().to_vec();
    while let Some(record) = reader.next_record()? {
        let fields: Vec<(usize, Vec<u8>)> = columns
            .iter()
            .filter_map(|&column| Some((column, new(record.field(column)?))))
            .collect();
        let replacements: Vec<(usize, &[u8])> = fields
            .iter()
            .map(|(column, bytes)| (*column, &bytes[..]))
            .collect();
        rewrite(&record, &replacements, &mut out)?;
    }
    Ok(out)
}

fn hex(bytes: &[u8]) -> Vec<u8> {
    let mut text = b"x".to_vec();
    text.extend(
        bytes
            .iter()
            .flat_map(|byte| format!("{byte:02x}").into_bytes()),
    );
    text
}

fn unhex(text: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(&text[1..]).unwrap();
    (0..text.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap())
        .collect()
}

fn round_trip(file: &[u8], columns: &[usize]) -> Vec<u8> {
    let hidden = with_columns(file, columns, hex).unwrap();
    with_columns(&hidden, columns, unhex).unwrap()
}

/// One change to the first record of a file with the header `a,b`.
fn change(record: &[u8], replacements: &[(usize, &[u8])]) -> Result<Vec<u8>, Error> {
    let file = [b"a,b\n", record].concat();
    let mut reader = Reader::new(&file[..], &Options::default())?;
    let record = reader.next_record()?.unwrap();
    let mut out = b"before".to_vec();
    let result = rewrite(&record, replacements, &mut out);
    if result.is_err() {
        assert_eq!(out, b"before", "a refused change must leave nothing behind");
    }
    result.map(|()| out.split_off(6))
}

#[test]
fn odd_quoting_survives_protect_and_reveal() {
    let files: [&[u8]; 11] = [
        b"a,b\r\n1,\"x,\"\"y\"\"\r\nz\"\r\n",
        b"\xef\xbb\xbfa,b\n\"1\",\"\"\n",
        b"a,b\n not quoted ,\"\"\"\"\"\"\n",
        b"a,b\n1,2\r\n3,4\n5,6",
        b"a,b\n1,2\r",
        b"a,b\n,\n",
        b"a,b\n\n1,2\n\r\n3,4\n\n",
        b"a,b\n\xff\xfe,\x00\n",
        b"a;\"b\nb\"\n1;\"x;y\"\n",
        b"a\n\nx\n\"\"\n",
        b"a,b",
    ];
    for file in files {
        for columns in [&[0][..], &[1, 0], &[]] {
            assert_eq!(
                round_trip(file, columns),
                file,
                "{:?}",
                String::from_utf8_lossy(file)
            );
        }
    }
}

#[test]
fn only_the_chosen_field_changes() {
    let file = b"a,b,c\r\n\"1\",\"two\", 3 \r\n";
    let changed = with_columns(file, &[1], |_| b"N".to_vec()).unwrap();
    assert_eq!(changed, b"a,b,c\r\n\"1\",N, 3 \r\n");
}

#[test]
fn replacements_may_come_in_any_order_and_may_be_empty() {
    assert_eq!(change(b"1,2\n", &[(1, b"y"), (0, b"x")]).unwrap(), b"x,y\n");
    assert_eq!(change(b"1,2", &[(1, b""), (0, b"")]).unwrap(), b",");
    assert_eq!(change(b"1,2\r\n", &[]).unwrap(), b"1,2\r\n");
}

#[test]
fn bytes_that_would_break_out_of_their_field_are_refused() {
    let breakers: [&[u8]; 12] = [
        b",", b"x,y", b"\n", b"x\r\n", b"\"", b"\"x", b"\"x\"\"", b"\"x\",y", b"\"\"\n", b"x\"y",
        b"\"x\"y", b" \"x\"",
    ];
    for breaker in breakers {
        for column in [0, 1] {
            for record in [&b"1,2\n"[..], b"1,2", b"1,2\r\n"] {
                let refused = change(record, &[(column, breaker)]);
                assert!(
                    matches!(refused, Err(Error::NotOneField { line: 2 })),
                    "{:?} in column {column} of {record:?}: {refused:?}",
                    String::from_utf8_lossy(breaker)
                );
            }
        }
    }
}

#[test]
fn a_carriage_return_cannot_flow_into_the_line_end() {
    assert!(matches!(
        change(b"1,2\n", &[(1, b"x\r")]),
        Err(Error::NotOneField { .. })
    ));
    assert_eq!(change(b"1,2\n", &[(0, b"x\r")]).unwrap(), b"x\r,2\n");
    assert_eq!(change(b"1,2", &[(1, b"x\r")]).unwrap(), b"1,x\r");
}

#[test]
fn two_pieces_that_would_quote_each_other_are_refused() {
    let refused = change(b"1,2\n", &[(0, b"\"x"), (1, b"y\"")]);
    assert!(
        matches!(refused, Err(Error::NotOneField { .. })),
        "{refused:?}"
    );
}

#[test]
fn the_last_field_of_a_file_of_one_column_cannot_vanish() {
    let mut reader = Reader::new(&b"a\nx"[..], &Options::default()).unwrap();
    let record = reader.next_record().unwrap().unwrap();
    let refused = rewrite(&record, &[(0, b"")], &mut Vec::new());
    assert!(
        matches!(refused, Err(Error::NotOneField { line: 2 })),
        "{refused:?}"
    );
}

#[test]
fn a_column_that_is_not_there_or_named_twice_is_refused() {
    assert!(matches!(
        change(b"1,2\n", &[(2, b"x")]),
        Err(Error::NoSuchField { line: 2, column: 2 })
    ));
    assert!(matches!(
        change(b"1,2\n", &[(1, b"x"), (1, b"y")]),
        Err(Error::ColumnTwice { column: 1 })
    ));
    assert!(matches!(
        change(b"\n", &[(0, b"x")]),
        Err(Error::NoSuchField { .. })
    ));
}

#[test]
fn a_detached_record_is_rewritten_like_the_one_it_came_from() {
    let mut reader = Reader::new(&b"a,b\n1,\"2\"\r\n"[..], &Options::default()).unwrap();
    let owned = reader.next_record().unwrap().unwrap().detach();
    assert!(reader.next_record().unwrap().is_none());
    let mut out = Vec::new();
    rewrite(&owned.as_record(), &[(0, b"x")], &mut out).unwrap();
    assert_eq!(out, b"x,\"2\"\r\n");
}

/// A field as some program might write it: plain or quoted.
fn field() -> impl Strategy<Value = Vec<u8>> {
    let plain = proptest::collection::vec(
        any::<u8>().prop_filter("plain", |byte| !b",;|\t\n\r\"".contains(byte)),
        0..8,
    );
    let quoted = proptest::collection::vec(any::<u8>(), 0..12).prop_map(|text| {
        let mut raw = b"\"".to_vec();
        raw.extend(
            text.iter()
                .flat_map(|&b| if b == b'"' { vec![b, b] } else { vec![b] }),
        );
        raw.push(b'"');
        raw
    });
    prop_oneof![plain, quoted]
}

fn line_end() -> impl Strategy<Value = &'static [u8]> {
    prop_oneof![Just(&b"\n"[..]), Just(&b"\r\n"[..])]
}

proptest! {
    #[test]
    fn any_table_is_read_as_it_was_written_and_survives_the_round_trip(
        rows in proptest::collection::vec((proptest::collection::vec(field(), 3), line_end()), 0..12),
        columns in proptest::sample::subsequence(vec![0_usize, 1, 2], 0..=3),
    ) {
        let mut file = b"a,b,c\r\n".to_vec();
        for (fields, end) in &rows {
            file.extend_from_slice(&fields.join(&b','));
            file.extend_from_slice(end);
        }
        let mut reader = Reader::new(&file[..], &Options::default()).unwrap();
        for (fields, end) in &rows {
            let record = reader.next_record().unwrap().unwrap();
            prop_assert_eq!(record.fields().map(<[u8]>::to_vec).collect::<Vec<_>>(), fields.clone());
            prop_assert_eq!(record.line_end(), *end);
        }
        prop_assert!(reader.next_record().unwrap().is_none());
        prop_assert_eq!(round_trip(&file, &columns), file);
    }

    #[test]
    fn arbitrary_bytes_keep_every_promise(file in proptest::collection::vec(any::<u8>(), 0..200)) {
        keywright_tabular::fuzzing::csv(&file);
    }

    #[test]
    fn bytes_of_the_csv_alphabet_keep_every_promise(file in "[a,;\"\r\n\t|]{0,60}") {
        keywright_tabular::fuzzing::csv(file.as_bytes());
    }
}
