//! The measured table of `docs/fpe.md` has the form that `scripts/bench-fpe --table` gives it: what it was
//! measured on, every row, and a number in every place that an operation has. Without a table each test is
//! counted as skipped.

use std::io::Write as _;
use std::path::Path;

const BEGIN: &str = "<!-- measured: begin -->";
const END: &str = "<!-- measured: end -->";

/// What stands between the marks, if that is anything.
#[expect(
    clippy::disallowed_methods,
    reason = "where the counts go is told by the environment"
)]
fn measured(test: &str) -> Option<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fpe.md");
    let document = std::fs::read_to_string(path).unwrap();
    assert_eq!(document.matches(BEGIN).count(), 1);
    let (_, rest) = document.split_once(BEGIN).unwrap();
    let (section, after) = rest.split_once(END).unwrap();
    assert!(!after.contains(BEGIN) && !after.contains(END));
    if section.trim().is_empty() {
        let line = format!("skipped: docs/fpe.md has no measured table: {test}\n");
        std::io::stderr().write_all(line.as_bytes()).unwrap();
        if let Some(folder) = std::env::var_os("KEYWRIGHT_TEST_COUNTS") {
            let file = Path::new(&folder).join(format!("fpe-gates-{test}"));
            std::fs::write(file, "0 0 1\n").unwrap();
        }
        return None;
    }
    Some(section.to_owned())
}

/// The tables, each as rows of cells, the heading first.
fn tables(section: &str) -> Vec<Vec<Vec<String>>> {
    let mut tables: Vec<Vec<Vec<String>>> = Vec::new();
    let mut is_inside = false;
    for line in section.lines() {
        let inner = line
            .strip_prefix("| ")
            .and_then(|line| line.strip_suffix(" |"));
        let Some(inner) = inner else {
            is_inside = false;
            continue;
        };
        if !is_inside {
            tables.push(Vec::new());
        }
        is_inside = true;
        let cells = inner.split(" | ").map(|cell| cell.trim().to_owned());
        tables.last_mut().unwrap().push(cells.collect());
    }
    tables
}

fn is_number(cell: &str) -> bool {
    let number = cell.replace(',', "").parse::<f64>();
    number.is_ok_and(|number| number > 0.0)
}

#[test]
fn what_was_measured_is_named_with_its_machine_and_settings() {
    let Some(section) = measured("table-machine") else {
        return;
    };
    let first = section.trim().lines().next().unwrap();
    for word in [
        " cores; commit ",
        ", rustc ",
        "AES on ",
        "SM4 on ",
        " rounds of ",
    ] {
        assert!(first.contains(word), "{word}: {first}");
    }
}

#[test]
fn every_row_has_a_name_and_numbers_under_a_heading() {
    let Some(section) = measured("table-rows") else {
        return;
    };
    let tables = tables(&section);
    assert!(tables.len() >= 5, "{} tables", tables.len());
    for table in &tables {
        let columns = table[0].len();
        assert!(table.len() > 2 && columns >= 2, "{table:?}");
        assert!(table[1].iter().all(|cell| cell == "---"), "{table:?}");
        for row in &table[2..] {
            assert_eq!(row.len(), columns, "{row:?}");
            assert!(!row[0].is_empty());
            let filled: Vec<_> = row[1..].iter().filter(|cell| !cell.is_empty()).collect();
            assert!(!filled.is_empty(), "{row:?}");
            assert!(filled.iter().all(|cell| is_number(cell)), "{row:?}");
        }
    }
}

#[test]
fn the_rows_of_the_published_guide_are_there_in_full() {
    let Some(section) = measured("table-guide") else {
        return;
    };
    let tables = tables(&section);
    let row = |table: usize, name: String| {
        let row = tables[table].iter().find(|row| row[0] == name);
        let row = row.unwrap_or_else(|| panic!("{name} is missing"));
        assert!(row[1..].iter().all(|cell| is_number(cell)), "{row:?}");
        row.len() - 1
    };
    for mode in ["ff1", "ff3", "ff3-1"] {
        for cipher in ["aes128", "aes192", "aes256", "sm4"] {
            assert_eq!(row(0, format!("`fpe.{mode}.{cipher}.r10.n16`")), 8);
        }
        for cipher in ["aes128", "sm4"] {
            // 1, 2, 4, 8 and 16 threads.
            let name = format!("`fpe.{mode}.{cipher}.r10.n16.batch`");
            assert_eq!(row(1, name), 5);
        }
    }
    assert!(section.contains("peer.fpe-crate.ff1.aes128.r10.n16"));
}
