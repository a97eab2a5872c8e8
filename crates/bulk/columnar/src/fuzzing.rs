//! The promises of a run over arbitrary bytes: a function that the fuzz target and a test call.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;

use keywright_encoding::base64;
use keywright_format::Rules;
use keywright_protect::{Files, Keys, Overwrite, Plan, Protection, protection_of};

use crate::metadata::is_left_out;
use crate::{Error, Table, run};

/// What is done to the first column of texts.
const RULE: &str = "format = \"digit(6..40) | lower(6..40)\"\non_bad = \"null\"\n";

/// Takes `data` for a file in a folder of its own, protects a column of it and reveals that. A file that can be
/// protected comes back but for cells that do not fit, which are empty; of others nothing is written.
///
/// # Panics
/// If that does not hold.
pub fn file(folder: &Path, data: &[u8], keys: &Keys) {
    let input = folder.join("in");
    if std::fs::write(&input, data).is_err() {
        return;
    }
    let Ok(table) = Table::open(&input) else {
        return;
    };
    let names = table.layout().names().to_vec();
    for (column, name) in names.iter().enumerate() {
        let text = format!("version = 1\n[[column]]\nname = {name:?}\n{RULE}");
        let Ok(rules) = Rules::parse(&text) else {
            continue;
        };
        let Ok(plan) = Plan::protect(table.layout(), &rules, keys) else {
            continue;
        };
        let output = folder.join("out");
        match go(&table, &plan, &output) {
            Err(Error::Type { .. } | Error::Required { .. }) => {}
            Err(error) => {
                assert!(
                    !error.can_go_on(),
                    "a damaged file can be gone on with: {error}"
                );
                let left = ["out", "out.part", "out.journal", "out.protection.json"];
                let left = left.map(|name| folder.join(name).exists());
                assert_eq!(left, [false; 4], "something is left: {error}");
            }
            Ok(_) => comes_back(folder, (&table, column), keys),
        }
    }
}

fn go(table: &Table, plan: &Plan, output: &Path) -> Result<(), Error> {
    let files = Files::new(output).with_overwrite(Overwrite::Replace);
    run(table, plan, &files, NonZeroUsize::MIN, &mut |_| {
        ControlFlow::Continue(())
    })
    .map(drop)
}

fn comes_back(folder: &Path, (table, column): (&Table, usize), keys: &Keys) {
    let output = folder.join("out");
    let protection = std::fs::read(protection_of(&output)).unwrap_or_default();
    let Ok(protection) = Protection::parse(&protection) else {
        return assert!(!output.exists(), "nothing stands beside the output");
    };
    let protected = Table::open(&output);
    assert!(
        protected.is_ok(),
        "what was written is no file: {protected:?}"
    );
    let Ok(protected) = protected else { return };
    let plan = Plan::reveal(protected.layout(), &protection, None, keys);
    assert!(plan.is_ok(), "not revealed: {plan:?}");
    let Ok(plan) = plan else { return };
    let back = folder.join("back");
    let revealed = go(&protected, &plan, &back);
    assert!(revealed.is_ok(), "not revealed: {revealed:?}");
    let revealed = Table::open(&back);
    assert!(
        revealed.is_ok(),
        "what was revealed is no file: {revealed:?}"
    );
    let Ok(revealed) = revealed else { return };
    let (before, after) = (cells(table, column), cells(&revealed, column));
    assert_eq!(
        before.len(),
        after.len(),
        "another number of rows came back"
    );
    for (before, after) in before.iter().zip(&after) {
        assert!(
            after.is_empty() || before == after,
            "another value came back"
        );
    }
    for name in ["out", "out.protection.json", "back"] {
        drop(std::fs::remove_file(folder.join(name)));
    }
}

fn cells(table: &Table, column: usize) -> Vec<Vec<u8>> {
    let mut cells = Vec::new();
    let looked = table.look(&[column], u64::MAX, &mut |batch| {
        for row in 0..batch.rows() {
            cells.push(batch.cell(0, row).unwrap_or_default().to_vec());
        }
    });
    assert!(
        looked.is_ok(),
        "a file that was worked on cannot be read: {looked:?}"
    );
    cells
}

/// Takes `data` for an entry of metadata, and what is in front of its first line end for a value. The entry is left out
/// when it has the value, as it is or in one of the usual spellings.
///
/// # Panics
/// If that does not hold.
pub fn metadata(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (value, entry) = text.split_once('\n').unwrap_or((&text, ""));
    let value: String = value
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(40)
        .collect();
    if value.len() < 6 {
        return;
    }
    let each = |spell: fn(u8) -> String| value.bytes().map(spell).collect::<String>();
    for spelling in [
        value.clone(),
        base64::encode(value.as_bytes()),
        each(|byte| format!("\\u{byte:04x}")),
        each(|byte| format!("&#{byte};")),
        each(|byte| format!("%{byte:02X}")),
        each(|byte| format!("={byte:02X}")),
        each(|byte| format!("{byte:02x}")),
        each(|byte| format!("{byte}, ")),
    ] {
        let text = format!("{entry} first {spelling} last {entry}");
        assert!(is_left_out(&text, &value), "a value stays: {spelling}");
    }
}
