//! `docs/registry.md` and the code name the same entries (design 7.1), and what is frozen stays.
//!
//! Two comparisons, because one change could alter page and code alike: each against the other, and
//! the page against checksums of its oldest entries.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use keywright_audit::{FieldTag, HeadKind, Reason, RecordType};
use keywright_types::{
    Algorithm, BindingKind, Code, Custody, Export, Kind, Operation, Origin, Purpose, SlotType,
    State, Suite,
};

/// Number and name of each entry.
type Entries = Vec<(u64, String)>;
/// A slip that somebody could make in the code.
type Change = fn(&mut Entries);
/// The entries of each vocabulary.
type Vocabularies = BTreeMap<String, Entries>;

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/registry.md");
    fs::read_to_string(path).unwrap()
}

macro_rules! code {
    ($($name:ty),* $(,)?) => { BTreeMap::from([$((
        <$name>::VOCABULARY.to_owned(),
        <$name>::ALL.iter().map(|e| (u64::from(e.number()), e.name().to_owned())).collect(),
    )),*]) };
}

fn code() -> Vocabularies {
    code![
        Algorithm,
        BindingKind,
        Code,
        Custody,
        Export,
        FieldTag,
        HeadKind,
        Kind,
        Operation,
        Origin,
        Purpose,
        Reason,
        RecordType,
        SlotType,
        State,
        Suite,
    ]
}

/// The tables of the page. A line that begins like a row must be one.
fn tables(page: &str) -> Result<Vocabularies, String> {
    let mut tables = Vocabularies::new();
    let mut heading = None;
    for line in page.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            if tables.insert(name.to_owned(), Vec::new()).is_some() {
                return Err(format!("two tables for {name}"));
            }
            heading = Some(name);
        } else if line.starts_with('|')
            && !line.starts_with("| number |")
            && !line.starts_with("|---|")
        {
            let table = heading.and_then(|name| tables.get_mut(name));
            table
                .ok_or_else(|| format!("no heading above {line}"))?
                .push(row(line)?);
        }
    }
    Ok(tables)
}

fn row(line: &str) -> Result<(u64, String), String> {
    let malformed = || format!("not a row: {line}");
    let cells: Vec<_> = line.split('|').map(str::trim).collect();
    let ["", number, name, meaning, ""] = cells.as_slice() else {
        return Err(malformed());
    };
    let name = name
        .strip_prefix('`')
        .and_then(|name| name.strip_suffix('`'));
    let name = name.filter(|name| !name.is_empty()).ok_or_else(malformed)?;
    let value: u64 = number.parse().map_err(|_| malformed())?;
    let plain = value.to_string() == *number && !meaning.is_empty();
    plain
        .then(|| (value, name.to_owned()))
        .ok_or_else(malformed)
}

/// Everything that is wrong with the page, in words for whoever changed it or the code.
fn faults(page: &str, code: &Vocabularies) -> Vec<String> {
    let tables = match tables(page) {
        Ok(tables) => tables,
        Err(fault) => return vec![fault],
    };
    let mut faults = Vec::new();
    for (vocabulary, rows) in &tables {
        let rising = rows.is_sorted_by(|a, b| a.0 < b.0);
        if !rising {
            faults.push(format!(
                "{vocabulary}: numbers do not rise, or one is there twice"
            ));
        }
        if rows.iter().map(|row| &row.1).collect::<BTreeSet<_>>().len() != rows.len() {
            faults.push(format!("{vocabulary}: a name is there twice"));
        }
    }
    for (vocabulary, entries) in code {
        let empty = Vec::new();
        let rows = tables.get(vocabulary).unwrap_or(&empty);
        for (number, name) in entries.iter().filter(|entry| !rows.contains(entry)) {
            faults.push(format!(
                "{vocabulary}: the page lacks | {number} | `{name}` |"
            ));
        }
        for (number, name) in rows.iter().filter(|row| !entries.contains(row)) {
            faults.push(format!(
                "{vocabulary}: the code lacks | {number} | `{name}` |"
            ));
        }
    }
    for vocabulary in tables.keys().filter(|&name| !code.contains_key(name)) {
        faults.push(format!("{vocabulary}: no such vocabulary"));
    }
    faults.extend(thawed(&tables));
    faults
}

/// How many of the oldest entries are frozen, and their checksum.
const FROZEN: &[(&str, usize, u64)] = &[
    ("suite", 6, 0xfca1_8739_f86f_8839),
    ("kind", 2, 0x92fe_0bed_fcc1_ae16),
    ("binding", 3, 0x49cc_993c_f6e6_27fb),
    ("slot", 3, 0x28cd_8257_3081_5cd4),
    ("purpose", 8, 0x1a9b_dde8_043e_dd02),
    ("algorithm", 6, 0x4fe3_4bd1_e5e8_b2b6),
    ("custody", 2, 0xbc50_95bc_9475_2da6),
    ("origin", 2, 0xd91c_2024_624e_edc7),
    ("export", 3, 0xfe8b_3538_9b84_2a5d),
    ("state", 6, 0x2b17_343b_9ae9_08bf),
    ("operation", 23, 0x2fc1_3b3a_66b9_54c1),
    ("code", 37, 0xf2be_0b7f_4577_5030),
    ("audit type", 9, 0xd56f_f80f_2b1b_32e7),
    ("audit field", 29, 0x4a1e_a9b6_2127_3015),
    ("audit reason", 20, 0xe185_f40f_7336_face),
    ("audit head", 5, 0x0825_9190_4b3f_36b2),
];

fn thawed(tables: &Vocabularies) -> Vec<String> {
    let fault = |&(vocabulary, count, sum): &(&str, usize, u64)| {
        let rows = tables.get(vocabulary)?.get(..count);
        let now = rows.map(checksum);
        (now != Some(sum)).then(|| {
            format!("{vocabulary}: one of the first {count} entries changed; now {now:#x?}")
        })
    };
    FROZEN.iter().filter_map(fault).collect()
}

/// FNV-1a over `number name` lines: enough against slips, and this file is no place for a backend.
fn checksum(rows: &[(u64, String)]) -> u64 {
    let text: String = rows
        .iter()
        .map(|(number, name)| format!("{number} {name}\n"))
        .collect();
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn page_and_code_name_the_same_entries() {
    let faults = faults(&page(), &code());
    assert!(
        faults.is_empty(),
        "docs/registry.md:\n{}",
        faults.join("\n")
    );
}

#[test]
fn every_vocabulary_of_the_code_has_frozen_entries() {
    let frozen: BTreeSet<_> = FROZEN.iter().map(|entry| entry.0.to_owned()).collect();
    assert_eq!(frozen, code().into_keys().collect());
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn every_planted_change_of_the_page_is_found() {
    let page = page();
    let row = "| 2 | `decrypt` | Open messages of a context |\n";
    assert!(page.contains(row));
    let planted = [
        (row, "", "an entry removed"),
        (
            row,
            "| 2 | `open` | Open messages of a context |\n",
            "a name changed",
        ),
        (
            row,
            "| 99 | `decrypt` | Open messages of a context |\n",
            "a number changed",
        ),
        (row, "| 2 | `decrypt` |  |\n", "a meaning removed"),
        (
            row,
            "| 02 | `decrypt` | Open messages of a context |\n",
            "a second spelling",
        ),
        (
            row,
            "| 2 | decrypt | Open messages of a context |\n",
            "a name without its marks",
        ),
        (
            row,
            "| 2 | `decrypt` | Open | messages |\n",
            "a cell too many",
        ),
        (row, &row.repeat(2), "an entry doubled"),
        (
            row,
            &format!("{row}| 2 | `other` | Something else |\n"),
            "a number reused",
        ),
        (
            row,
            &format!("{row}| 99 | `decrypt` | Something else |\n"),
            "a name reused",
        ),
        ("## operation\n", "## operations\n", "a table renamed"),
        (
            "## operation\n",
            "## operation\n## operation\n",
            "a table doubled",
        ),
        (
            "## suite\n",
            "## new\n\n| 1 | `x` | y |\n\n## suite\n",
            "a table nobody knows",
        ),
        (
            "## suite\n",
            "| 1 | `x` | y |\n\n## suite\n",
            "a row without a table",
        ),
    ];
    for (from, to, change) in planted {
        let changed = page.replacen(from, to, 1);
        assert_ne!(changed, page, "{change}");
        assert!(!faults(&changed, &code()).is_empty(), "not found: {change}");
    }
}

#[test]
fn every_planted_change_of_the_code_is_found() {
    let page = page();
    let planted: [(&str, Change); 5] = [
        ("removed", |entries| drop(entries.remove(3))),
        ("added", |entries| entries.push((999, "new".into()))),
        ("renamed", |entries| entries[3].1 = "other".into()),
        ("renumbered", |entries| entries[3].0 = 999),
        ("exchanged", |entries| {
            let (a, b) = (entries[3].0, entries[4].0);
            (entries[3].0, entries[4].0) = (b, a);
        }),
    ];
    for (change, plant) in planted {
        for vocabulary in ["suite", "operation", "code", "state"] {
            let mut code = code();
            plant(code.get_mut(vocabulary).unwrap());
            assert!(!faults(&page, &code).is_empty(), "{vocabulary} {change}");
        }
    }
}

#[test]
fn a_change_of_page_and_code_alike_is_still_found() {
    let page = page().replacen("| 2 | `decrypt` |", "| 2 | `open` |", 1);
    let mut code = code();
    code.get_mut("operation").unwrap()[1].1 = "open".into();
    let faults = faults(&page, &code);
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(
        faults[0].starts_with("operation: one of the first"),
        "{faults:?}"
    );
}

#[test]
fn a_new_entry_on_both_sides_is_welcome() {
    let page_now = page();
    let (_, operations) = page_now.split_once("\n## operation\n").unwrap();
    let mut rows = operations
        .lines()
        .take_while(|line| !line.starts_with("## "));
    let last = rows
        .by_ref()
        .filter(|line| line.starts_with("| "))
        .last()
        .unwrap()
        .to_owned();
    let page = page().replacen(
        &last,
        &format!("{last}\n| 999 | `new` | Something new |"),
        1,
    );
    let mut code = code();
    code.get_mut("operation").unwrap().push((999, "new".into()));
    assert_eq!(faults(&page, &code), [""; 0]);
}
