//! Names that stand for two results.

use std::collections::HashMap;

use crate::finding::{Check, Finding, Place};
use crate::table::{Row, Table};

/// Two rows of results that differ in nothing but their results.
pub(super) fn in_table(table: &Table) -> Vec<Finding> {
    let results = table.rows.iter().filter(|row| has_result(row));
    let named = results.map(|row| (row.key(), row.line, row.label.as_str()));
    doubled(named.filter(|(key, ..)| key.chars().any(char::is_alphanumeric)))
}

/// A finding for every name that comes a second time; the key decides, the label is shown.
pub(crate) fn doubled<'a>(
    named: impl Iterator<Item = (String, Option<usize>, &'a str)>,
) -> Vec<Finding> {
    let mut seen: HashMap<String, &str> = HashMap::new();
    let mut findings = Vec::new();
    for (key, line, label) in named {
        if let Some(first) = seen.get(&key) {
            let place = Place {
                line,
                row: label.to_owned(),
                columns: Vec::new(),
            };
            let text = format!("{first} is the name of another result");
            findings.push(Finding::new(
                Check::DuplicateName,
                place,
                label.to_owned(),
                text,
            ));
        } else {
            seen.insert(key, label);
        }
    }
    findings
}

fn has_result(row: &Row) -> bool {
    row.rate().is_some() || row.average().is_some() || row.quantiles().next().is_some()
}
