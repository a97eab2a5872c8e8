//! What a file means, and which files are refused.

use std::io::{self, BufRead, BufReader, Read};

use keywright_tabular::Error;
use keywright_tabular::csv::{Layout, Options, Quoting, Reader, Separator};

fn open(file: &[u8]) -> Result<Reader<&[u8]>, Error> {
    Reader::new(file, &Options::default())
}

/// Reads all records; their texts, as far as there was no error.
fn read(file: &[u8]) -> (Vec<Vec<String>>, Option<Error>) {
    let mut reader = match open(file) {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut rows = Vec::new();
    loop {
        match reader.next_record() {
            Ok(Some(record)) => rows.push(
                (0..record.fields().len())
                    .map(|i| String::from_utf8_lossy(&record.text(i).unwrap()).into_owned())
                    .collect(),
            ),
            Ok(None) => return (rows, None),
            Err(error) => return (rows, Some(error)),
        }
    }
}

fn failure(file: &[u8]) -> Error {
    read(file)
        .1
        .unwrap_or_else(|| panic!("{:?} was accepted", String::from_utf8_lossy(file)))
}

fn layout(file: &[u8]) -> Layout {
    open(file).unwrap().layout().clone()
}

#[test]
fn text_is_without_quotes_and_doubling() {
    let (rows, error) = read(b"a,b\n\"x,\"\"y\"\"\",\n\"\"\"\"\"\",\" \"\n\"\",\"\r\n\"\n");
    assert!(error.is_none(), "{error:?}");
    assert_eq!(rows, [["x,\"y\"", ""], ["\"\"", " "], ["", "\r\n"]]);
}

#[test]
fn the_byte_order_mark_is_no_part_of_a_name() {
    let file = b"\xef\xbb\xbf\"id\",name\n1,2\n";
    let reader = open(file).unwrap();
    assert_eq!(reader.layout().names(), ["id", "name"]);
    assert_eq!(reader.header(), b"\xef\xbb\xbf\"id\",name\n");
}

#[test]
fn the_separator_is_the_one_that_cuts_the_header_into_most_columns() {
    let cases: [(&[u8], Separator, usize); 8] = [
        (b"a,b,c\n", Separator::Comma, 3),
        (b"a;b;c\n", Separator::Semicolon, 3),
        (b"a\tb\n", Separator::Tab, 2),
        (b"a|b|c,d\n", Separator::Pipe, 3),
        (b"a,b;c\n", Separator::Comma, 2),
        (b"single\n", Separator::Comma, 1),
        (b"\"a,b,c\";d\n", Separator::Semicolon, 2),
        (b"a;\"b\nc\";\"d\n\"\n1;2;3\n", Separator::Semicolon, 3),
    ];
    for (file, separator, columns) in cases {
        let layout = layout(file);
        assert_eq!(
            layout.separator(),
            separator,
            "{:?}",
            String::from_utf8_lossy(file)
        );
        assert_eq!(
            layout.names().len(),
            columns,
            "{:?}",
            String::from_utf8_lossy(file)
        );
    }
}

#[test]
fn a_separator_that_was_asked_for_is_not_second_guessed() {
    let options = Options::default().with_separator(Separator::Semicolon);
    let reader = Reader::new(&b"a,b;c,d\n"[..], &options).unwrap();
    assert_eq!(reader.layout().names(), ["a,b", "c,d"]);
}

#[test]
fn lines_and_rows_are_counted_through_quoted_line_ends_and_empty_lines() {
    let mut reader = open(b"\"a\nx\",b\n\"1\n\n\",2\n\n3,4").unwrap();
    let mut seen = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        seen.push((record.line(), record.row(), record.fields().len()));
    }
    assert_eq!(seen, [(3, 1, 2), (6, 2, 0), (7, 3, 2)]);
}

#[test]
fn an_empty_line_is_a_field_where_there_is_one_column() {
    let (rows, error) = read(b"a\n\nx\n");
    assert!(error.is_none());
    assert_eq!(rows, [[""], ["x"]]);
}

#[test]
fn the_end_of_the_file_stays_the_end() {
    let mut reader = open(b"a\nx").unwrap();
    assert!(reader.next_record().unwrap().is_some());
    assert!(reader.next_record().unwrap().is_none());
    assert!(reader.next_record().unwrap().is_none());
}

#[test]
fn a_file_without_header_is_refused() {
    for file in [
        &b""[..],
        b"\n",
        b"\r\n1\n",
        b"\xef\xbb\xbf",
        b"\xef\xbb\xbf\n",
    ] {
        assert!(matches!(failure(file), Error::NoHeader), "{file:?}");
    }
}

#[test]
fn a_header_that_is_not_text_is_refused() {
    for file in [&b"a,\xff\n"[..], b"i\0d\0,,\n", b"a,\"\xc3\"\n"] {
        assert!(matches!(failure(file), Error::HeaderNotText), "{file:?}");
    }
}

#[test]
fn a_file_of_another_kind_is_named() {
    for (file, name) in [
        (&b"\xff\xfei\0d\0\n\0"[..], "a text in UTF-16"),
        (b"\x1f\x8b\x08\0\0\0", "a gzip file"),
        (b"{\"id\": 1}\n", "a JSON file"),
        (b"PK\x03\x04\0\0xl/", "a workbook (xlsx or ods)"),
    ] {
        let says = format!("this is {name}, and no CSV file");
        assert_eq!(failure(file).to_string(), says);
    }
    let options = Options::default().with_separator(Separator::Comma);
    let reader = Reader::new(&b"{\"id\n"[..], &options);
    assert!(!matches!(reader, Err(Error::Foreign(_))));
}

#[test]
fn two_columns_of_one_name_are_refused_but_nameless_ones_are_not() {
    let error = failure(b"a,b,\"a\"\n");
    assert!(
        matches!(
            &error,
            Error::DuplicateColumn {
                first: 0,
                second: 2
            }
        ),
        "{error}"
    );
    assert_eq!(layout(b"a,,\n").names(), ["a", "", ""]);
    assert_eq!(layout(b"a,A, a\n").names(), ["a", "A", " a"]);
}

#[test]
fn ragged_rows_are_refused_with_their_line_and_counts() {
    for (file, found) in [
        (&b"a,b\n1,2\n1\n"[..], 1),
        (b"a,b\n1,2\n1,2,3\n", 3),
        (b"a,b\n1,2\n\"\"\n", 1),
        (b"a,b\n1,2\n \n", 1),
        (b"a,b\n1,2\n1,2,", 3),
    ] {
        match failure(file) {
            Error::RaggedRow {
                line: 3,
                expected: 2,
                found: was,
            } => assert_eq!(was, found),
            other => panic!("{other}"),
        }
    }
    assert!(matches!(
        failure(b"a\n1,2\n"),
        Error::RaggedRow {
            expected: 1,
            found: 2,
            ..
        }
    ));
}

#[test]
fn a_quote_that_is_never_closed_is_refused_with_its_line() {
    for (file, at) in [
        (&b"a,b\n1,\"2\n3,4\n"[..], (2, 1)),
        (b"a,b\n1,2\n\"x\ny\",\"z\n", (4, 1)),
        (b"\"a\n", (1, 0)),
        (b"a,b\n1,\"2\"\"", (2, 1)),
    ] {
        match failure(file) {
            Error::UnbalancedQuote { line, column } => {
                assert_eq!((line, column), at, "{file:?}");
            }
            other => panic!("{other}"),
        }
    }
}

#[test]
fn a_quote_in_a_wrong_place_is_refused_with_line_and_column() {
    for (file, told) in [
        (
            &b"a,b\n1,2\n1,x\"y\n"[..],
            "line 3, column number 2: a quote inside a field that is not quoted",
        ),
        (
            b"a,b\n\"x\ny\", \"z\"\n",
            "line 3, column number 2: a quote inside a field that is not quoted",
        ),
        (
            b"a,b\n1,\"x\ny\"z\n",
            "line 3, column number 2: text behind the closing quote; the quote was opened at line 2",
        ),
        (
            b"a,b\n\"1\" ,2\n",
            "line 2, column number 1: text behind the closing quote; the quote was opened at line 2",
        ),
        (
            b"a,\"b\"c\n1,2\n",
            "line 1, column number 2: text behind the closing quote; the quote was opened at line 1",
        ),
        (
            b"a,b\n1,\"2\"\r",
            "line 2, column number 2: text behind the closing quote; the quote was opened at line 2",
        ),
    ] {
        assert_eq!(failure(file).to_string(), told);
    }
}

#[test]
fn without_quoting_every_line_is_a_record() {
    let options = Options::default().with_quoting(Quoting::None);
    let file = b"a\tb\"c\n1\t\"x\n\"2\t\"y\"\r\n3\t\"\"";
    let mut reader = Reader::new(&file[..], &options).unwrap();
    assert_eq!(reader.layout().names(), ["a", "b\"c"]);
    let mut rows = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        let texts = [0, 1].map(|column| record.text(column).unwrap().into_owned());
        rows.push(texts.map(|text| String::from_utf8(text).unwrap()));
    }
    assert_eq!(rows, [["1", "\"x"], ["\"2", "\"y\""], ["3", "\"\""]]);
}

#[test]
fn quotes_show_which_separator_is_wrong() {
    let layout = layout(b"id,card,\"notes; a; b; c; d\"\n");
    assert_eq!(layout.separator(), Separator::Comma);
    assert_eq!(layout.names().len(), 3);
}

#[test]
fn line_ends_of_cr_alone_are_named_and_nothing_of_the_file_is() {
    for file in [
        "id,card\r1,4000000000000135\r2,4000000000000143\r",
        "\"id\",\"card\"\r\"1\",\"4000000000000135\"\r",
        "id,card\r1,4000000000000135",
        "id,card\r",
        "id,card\r\r\n1,4000000000000135\r\r\n",
        "id,\"ca\rrd\r1,4000000000000135\r",
    ] {
        let error = failure(file.as_bytes());
        assert!(matches!(error, Error::CarriageReturns), "{file:?}: {error}");
        assert_eq!(
            error.to_string(),
            "the first line has a CR without an LF: CR line ends are not supported"
        );
    }
    let long = format!("id,card\r{}", "1,4000000000000135\r".repeat(1 << 17));
    assert!(matches!(failure(long.as_bytes()), Error::CarriageReturns));
    let quoted = failure(b"\"a\rb\",c\r\n");
    assert!(matches!(quoted, Error::CarriageReturns), "{quoted}");
}

#[test]
fn a_header_with_other_line_ends_is_refused_by_their_number() {
    for (end, number) in [
        ("\u{b}", "U+000B"),
        ("\u{c}", "U+000C"),
        ("\u{1e}", "U+001E"),
        ("\u{85}", "U+0085"),
        ("\u{2028}", "U+2028"),
        ("\u{2029}", "U+2029"),
    ] {
        let file = ["id,card", "1,4000000000000135", ""].join(end);
        let error = failure(file.as_bytes());
        assert_eq!(
            error.to_string(),
            format!("the first line has the character {number}: only LF and CRLF end lines")
        );
    }
    assert_eq!(
        layout(b"\"a\n\tb\",\"c\r\nd\"\n").names(),
        ["a\n\tb", "c\r\nd"]
    );
}

#[test]
fn lines_are_counted_whether_the_last_one_ends_or_not() {
    for (file, lines) in [
        (&b"a"[..], 1),
        (b"a\n", 1),
        (b"a\n1", 2),
        (b"a\n1\n", 2),
        (b"\"a\n\"\n\"1\n\n\"\n\n2", 7),
    ] {
        let mut reader = open(file).unwrap();
        while reader.next_record().unwrap().is_some() {}
        assert_eq!(reader.lines(), lines, "{file:?}");
    }
}

#[test]
fn a_reader_that_failed_does_not_go_on_behind_the_bad_record() {
    let mut reader = open(b"a,b\n1\n3,4\n").unwrap();
    assert!(matches!(reader.next_record(), Err(Error::RaggedRow { .. })));
    assert!(matches!(reader.next_record(), Err(Error::Stopped)));
    assert!(matches!(reader.next_record(), Err(Error::Stopped)));
}

#[test]
fn an_unknown_column_is_answered_without_names() {
    let layout = layout(b"id,name\n");
    assert_eq!(layout.columns(&["name", "id"]).unwrap(), [1, 0]);
    for wrong in ["Name", "name ", "", "nam"] {
        match layout.column(wrong) {
            Err(Error::UnknownColumn { column, header }) => {
                assert_eq!(column, wrong);
                assert_eq!(header.present(), [""; 0]);
                let says = header.to_string().contains("another spelling in number 2");
                assert_eq!(says, ["Name", "name "].contains(&wrong), "{header}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(matches!(
        layout.columns(&["id", "id"]),
        Err(Error::ColumnTwice { column: 0 })
    ));
}

#[test]
fn a_file_without_a_header_shows_no_cell() {
    let error = layout(b"1,4000000000000135,Ada\n")
        .column("card")
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "no column \"card\"; the first line has 3 columns, and data in number 1, 2: no header?"
    );
    let debug = format!("{error:?}");
    assert!(!debug.contains("4000") && !debug.contains("Ada"), "{debug}");
    let error = failure(b"1,4000000000000135,4000000000000135\n");
    assert_eq!(
        error.to_string(),
        "columns number 2 and 3 have the same name"
    );
}

#[test]
fn a_record_may_have_the_limit_and_not_a_byte_more() {
    let of = |length: usize| {
        let file = [b"a\n", "x".repeat(length).as_bytes(), b"\n"].concat();
        let options = Options::default().with_max_record(64);
        Reader::new(&file[..], &options)
            .unwrap()
            .next_record()
            .map(|record| record.is_some())
    };
    assert!(of(63).unwrap());
    assert!(matches!(
        of(64),
        Err(Error::RecordTooLong { line: 2, limit: 64 })
    ));
    let long = [b"h".repeat(65), b"\n".to_vec()].concat();
    let options = Options::default().with_max_record(64);
    let refused = Reader::new(&long[..], &options).unwrap_err();
    assert!(matches!(
        refused,
        Error::RecordTooLong { line: 1, limit: 64 }
    ));
}

/// Endless bytes inside a quote; counts what was taken.
struct Endless {
    taken: usize,
}

impl Read for Endless {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl BufRead for Endless {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        const START: &[u8] = b"a\n\"";
        Ok(if self.taken < START.len() {
            &START[self.taken..]
        } else {
            &[b'"'; 4096]
        })
    }

    fn consume(&mut self, amount: usize) {
        self.taken += amount;
    }
}

#[test]
fn a_record_without_end_costs_no_more_than_the_limit() {
    let mut reader = Reader::new(Endless { taken: 0 }, &Options::default()).unwrap();
    let refused = reader.next_record().unwrap_err();
    assert!(
        matches!(refused, Error::RecordTooLong { line: 2, .. }),
        "{refused}"
    );
}

/// A disk that fails behind the first bytes.
struct Failing<'a> {
    good: &'a [u8],
    interruptions: usize,
}

impl Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.interruptions > 0 {
            self.interruptions -= 1;
            return Err(io::ErrorKind::Interrupted.into());
        }
        if self.good.is_empty() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let taken = self.good.read(&mut buffer[..1])?;
        self.interruptions = 2;
        Ok(taken)
    }
}

#[test]
fn a_failing_disk_is_told_and_an_interruption_is_not() {
    let disk = Failing {
        good: b"a,b\n1,2\n3",
        interruptions: 3,
    };
    let mut reader = Reader::new(BufReader::new(disk), &Options::default()).unwrap();
    assert!(reader.next_record().unwrap().is_some());
    assert!(matches!(reader.next_record(), Err(Error::Io(_))));
    assert!(matches!(reader.next_record(), Err(Error::Stopped)));
}

#[test]
fn what_is_printed_for_debugging_holds_no_cell() {
    let mut reader = open(b"a,b\nsecret,cell\n").unwrap();
    let record = reader.next_record().unwrap().unwrap();
    let mut shown = format!("{record:?} {:?}", record.detach());
    shown.push_str(&format!("{reader:?}"));
    assert!(
        !shown.contains("secret") && !shown.contains("115"),
        "{shown}"
    );
}
