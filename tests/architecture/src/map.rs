//! The table of crates in `ARCHITECTURE.md`: rows that begin `` | `crates/base/secret` | 0 | ``.

use std::collections::BTreeMap;

use crate::graph::Crate;

/// Where the table and the manifests differ. Every crate under `crates/` has one row; one under `tests/`
/// may have one.
#[must_use]
pub fn disagreements(page: &str, crates: &[Crate]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut rows: BTreeMap<&str, Option<u64>> = BTreeMap::new();
    for (folder, floor) in page.lines().filter_map(row) {
        if rows.insert(folder, floor).is_some() {
            wrong.push(format!("{folder} has two rows"));
        }
    }
    for known in crates {
        match rows.remove(known.folder.as_str()) {
            None if known.is_for_tests() => {}
            None => wrong.push(format!("{} has no row", known.folder)),
            Some(floor) if floor != known.floor => wrong.push(format!(
                "{} is on floor {:?}, its row says {floor:?}",
                known.folder, known.floor
            )),
            Some(_) => {}
        }
    }
    wrong.extend(
        rows.keys()
            .map(|folder| format!("{folder} has a row and no crate")),
    );
    wrong
}

/// The folder and the floor of a row of the table.
fn row(line: &str) -> Option<(&str, Option<u64>)> {
    let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
    let folder = cells.next()?.strip_prefix('`')?.strip_suffix('`')?;
    let is_crate = folder.starts_with("crates/") || folder.starts_with("tests/");
    is_crate.then(|| (folder, cells.next().and_then(|floor| floor.parse().ok())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Map\n\n| crate | floor | what |\n|---|---|---|\n\
        | `crates/base/a` | 0 | bytes |\n|`crates/base/b`|1|more|\n";

    fn crates() -> Vec<Crate> {
        let a = |folder: &str, floor| Crate {
            name: folder.into(),
            folder: folder.into(),
            floor: Some(floor),
            dependencies: Vec::new(),
            roots: Vec::new(),
        };
        vec![
            a("crates/base/a", 0),
            a("crates/base/b", 1),
            a("tests/kit", 4),
        ]
    }

    #[test]
    fn a_page_that_tells_the_truth_is_right() {
        assert!(disagreements(PAGE, &crates()).is_empty());
        let with_kit = format!("{PAGE}| `tests/kit` | 4 | kit |\n");
        assert!(disagreements(&with_kit, &crates()).is_empty());
    }

    #[test]
    fn missing_wrong_double_and_surplus_rows_are_caught() {
        let found = |page: String| disagreements(&page, &crates());
        assert_eq!(
            found(String::new()),
            ["crates/base/a has no row", "crates/base/b has no row"]
        );
        assert_eq!(
            found(PAGE.replace("| 0 |", "| 2 |")),
            ["crates/base/a is on floor Some(0), its row says Some(2)"]
        );
        assert_eq!(
            found(PAGE.replace("| 0 |", "| low |")),
            ["crates/base/a is on floor Some(0), its row says None"]
        );
        let twice = format!("{PAGE}| `crates/base/a` | 0 | again |\n");
        assert_eq!(found(twice), ["crates/base/a has two rows"]);
        let surplus = format!("{PAGE}| `crates/base/gone` | 0 | was |\n");
        assert_eq!(found(surplus), ["crates/base/gone has a row and no crate"]);
        let wrong_kit = format!("{PAGE}| `tests/kit` | 5 | kit |\n");
        assert_eq!(found(wrong_kit).len(), 1);
    }

    #[test]
    fn prose_about_a_crate_is_no_row() {
        let page = PAGE
            .replace("| `crates/base/b`", "")
            .replace("|`crates/base/b`|1|more|", "`crates/base/b` is 1");
        assert_eq!(
            disagreements(&page, &crates()),
            ["crates/base/b has no row"]
        );
    }
}
