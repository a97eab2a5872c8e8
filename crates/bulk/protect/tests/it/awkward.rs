//! Awkward files come back byte for byte, and nothing but the chosen cells changes.

use keywright_protect::{Error, Plan};
use keywright_tabular::csv::{Options, Quoting, Reader};
use proptest::prelude::*;

use crate::table::{PEOPLE, Table, card, go_on, keys, options, people, rules};

const CODE: &str = "name = \"a\"\nformat = \"digit(6..40) | lower(6..40)\"";

#[test]
fn odd_files_survive_protect_and_reveal() {
    let files: [&[u8]; 18] = [
        b"a,b\n123456,x\n",
        b"a,b\r\n\"123456\",\"x,\"\"y\"\"\r\nz\"\r\n",
        b"\xef\xbb\xbfa,b\n\"abcdef\",\"\"\n",
        b"\xef\xbb\xbf\"a\",b\n123456,1",
        b"a;b\n123456;\"1;2\"\n",
        b"a\tb\n123456\t\"1, 2\"\n",
        b"a|b|c\n123456||\"|\"\n",
        b"a,b\n1234567,\xff\xfe\x00\n",
        b"a,b\n\n123456,2\n\r\n,4\n\n",
        b"a,b\n,\n\"\",\"\"\n",
        b"b,a\n1,123456\r\n2,\"abcdefg\"\r\n3,123456",
        b"a\n123456\n\nabcdef\n\"\"\n",
        b"a\n\"123456\"",
        b"a,b",
        b"a,b\n",
        b"a,\"b\nb\"\n123456,\"\n\n\n\"\n",
        b"a,b\n123456,x\r\ry\n",
        b"\"x\",\"a\"\n\"\xe6\x9d\xb1\",abcdef\n",
    ];
    for file in files {
        let table = Table::new(file);
        let out = table.round_trip(&rules(&[CODE]));
        let cells = [&b"123456"[..], b"abcdef"];
        for clear in cells.iter().filter(|cell| contains(file, cell)) {
            assert!(
                !contains(&out, clear),
                "{:?}",
                String::from_utf8_lossy(&out)
            );
        }
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[test]
fn only_the_chosen_cells_change_and_keep_their_quotes() {
    let file = people(200);
    let table = Table::new(file.as_bytes());
    let out = table.round_trip(&rules(&PEOPLE));
    let (mut before, mut after) = (
        Reader::new(file.as_bytes(), &Options::default()).unwrap(),
        Reader::new(&out[..], &Options::default()).unwrap(),
    );
    assert_eq!(before.header(), after.header());
    let mut rows = 0;
    while let Some(old) = before.next_record().unwrap() {
        let new = after.next_record().unwrap().unwrap();
        assert_eq!(old.line_end(), new.line_end());
        assert_eq!((old.field(0), old.field(3)), (new.field(0), new.field(3)));
        for column in [1, 2] {
            let (old, new) = (old.field(column).unwrap(), new.field(column).unwrap());
            assert_eq!(old.len(), new.len());
            assert_eq!(old.first() == Some(&b'"'), new.first() == Some(&b'"'));
            assert_eq!(old.len() > 2, old != new);
        }
        rows += 1;
    }
    assert_eq!(rows, 200);
    assert!(after.next_record().unwrap().is_none());
}

#[test]
fn tokens_that_need_quotes_get_them() {
    let file = "a,b\nxxxxxxxx,1\nyyyyyyyy,2\nzzzzzzzz,3\nuuuuuuuu,4\n";
    let table = Table::new(file.as_bytes());
    let rules = rules(&["name = \"a\"\nformat = 'class(set=\"u-z,\\\"\", length=8)'"]);
    table.protect(&rules).unwrap();
    let out = table.text("out.csv");
    assert!(out.contains('"'), "{out}");
    let mut reader = Reader::new(out.as_bytes(), &Options::default()).unwrap();
    assert_eq!(reader.sample(9).unwrap().len(), 4);
    // The values come back; those whose tokens got quotes keep them.
    table.reveal(None, &keys(1)).unwrap();
    assert_eq!(table.text("back.csv").replace('"', ""), file);
}

#[test]
fn a_field_of_a_mebibyte_and_a_record_of_many_blocks_are_read() {
    let long = "\"\"".repeat(600_000) + &"x,\n".repeat(50_000);
    let file = format!("a,b\n123456,\"{long}\"\n234567,short\n345678,\"{long}\"");
    let table = Table::new(file.as_bytes());
    table.round_trip(&rules(&[CODE]));
}

#[test]
fn a_record_beyond_the_limit_and_an_open_quote_are_refused_with_their_line() {
    let file = format!("a,b\n123456,\"x\ny\"\n123456,\"{}\n", "x".repeat(5_000));
    let table = Table::new(file.as_bytes());
    let source = table.open("in.csv");
    let plan = Plan::protect(source.layout(), &rules(&[CODE]), &keys(1)).unwrap();
    let small = options(2).with_longest_record(1_000);
    let run = |options| {
        keywright_protect::run(&source, &plan, &table.files("out.csv"), options, &mut go_on)
    };
    let error = run(&small).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the record at line 4 is longer than 1000 bytes"
    );
    let error = run(&options(1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the quote opened at line 4, column number 2 is never closed"
    );
    assert_eq!(table.names(), ["in.csv"]);
}

#[test]
fn a_ragged_row_is_refused_with_its_line_and_nothing_stays() {
    let file = people(300) + "1,2,3\n";
    let lines = file.lines().count() as u64;
    let table = Table::new(file.as_bytes());
    for threads in [1, 4] {
        let error = table
            .protect_with(&rules(&PEOPLE), &options(threads), &mut go_on)
            .unwrap_err();
        let Error::Table(keywright_tabular::Error::RaggedRow { line, found, .. }) = error else {
            panic!("{error:?}");
        };
        assert_eq!((line, found), (lines, 3));
        assert_eq!(table.names(), ["in.csv"]);
    }
}

#[test]
fn threads_and_blocks_make_no_difference() {
    let file = people(1_000);
    let table = Table::new(file.as_bytes());
    let rules = rules(&PEOPLE);
    let summary = table.protect(&rules).unwrap();
    assert_eq!((summary.rows, summary.rejected), (1_000, 0));
    // Every fourth has a cell of two lines.
    assert_eq!(summary.lines, Some(1_250));
    let (changed, empty) = (
        summary.columns[0].counts.changed,
        summary.columns[0].counts.empty,
    );
    assert_eq!((changed, empty), (750, 250));
    let out = table.read("out.csv");
    for (threads, block) in [(2, 64), (3, 1_000), (8, 100_000)] {
        let other = Table::new(file.as_bytes());
        let again = other
            .protect_with(&rules, &options(threads).with_block(block), &mut go_on)
            .unwrap();
        assert_eq!(again, summary);
        assert!(other.read("out.csv") == out, "{threads} {block}");
    }
}

#[test]
fn tweaks_of_other_columns_make_equal_values_differ() {
    let same = card(1);
    let file = format!("id,card\n1,{same}\n2,{same}\n2,{same}\n\"2\",{same}\n");
    let table = Table::new(file.as_bytes());
    let out = table.round_trip(&rules(&[
        "name = \"card\"\nformat = \"card\"\ntweak = \"column row(id)\"",
    ]));
    let out = String::from_utf8(out).unwrap();
    let tokens: Vec<&str> = out
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(1).unwrap())
        .collect();
    assert_ne!(tokens[0], tokens[1]);
    assert_eq!((tokens[1], tokens[1]), (tokens[2], tokens[3]));
}

#[test]
fn masked_columns_are_masked_for_good() {
    let file = "a,b,c\n123456,Ada,secret\n,,\n";
    let table = Table::new(file.as_bytes());
    let rules = rules(&[
        CODE,
        "name = \"b\"\nmask = \"hash\"",
        "name = \"c\"\nmask = \"last(2)\"",
    ]);
    table.protect(&rules).unwrap();
    assert!(
        table.text("out.csv").contains(",****et\n,,\n"),
        "{}",
        table.text("out.csv")
    );
    table.reveal(None, &keys(1)).unwrap();
    let back = table.text("back.csv");
    assert!(
        back.contains("\n123456,") && back.ends_with(",****et\n,,\n"),
        "{back}"
    );
    assert!(!back.contains("Ada"), "{back}");
}

/// A cell as some program might write it.
fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        "[0-9]{6,12}",
        "[a-z]{6,9}",
        Just(String::new()),
        "[0-9]{6,8}".prop_map(|digits| format!("\"{digits}\"")),
        Just("\"\"".to_owned()),
    ]
}

fn other() -> impl Strategy<Value = String> {
    prop_oneof![
        "[^,\"\r\n;|\t]{0,8}",
        "[^\"]{0,12}".prop_map(|text| format!("\"{text}\"")),
        "[a-z]{0,3}".prop_map(|text| format!("\"{text}\"\"{text}\"")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_table_comes_back(
        rows in proptest::collection::vec((cell(), other(), prop_oneof![Just("\n"), Just("\r\n")]), 0..40),
        block in 1_usize..200,
        threads in 1_usize..4,
    ) {
        let mut file = "a,b\n".to_owned();
        for (cell, other, end) in rows {
            file.push_str(&format!("{cell},{other}{end}"));
        }
        let table = Table::new(file.as_bytes()).with_quoting(Quoting::Accepted);
        let rules = rules(&[CODE]);
        table.protect_with(&rules, &options(threads).with_block(block), &mut go_on).unwrap();
        table.reveal(Some(&rules), &keys(1)).unwrap();
        prop_assert_eq!(table.text("back.csv"), file);
    }
}
