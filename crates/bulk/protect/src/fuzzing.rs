//! The promises of a run over arbitrary bytes, in memory: a function that the fuzz target and a test call.

use keywright_format::Rules;
use keywright_secret::Secret;
use keywright_tabular::csv::{Options, Quoting, Reader};

use crate::block::Worker;
use crate::key::{ColumnKey, Keys};
use crate::plan::Plan;
use crate::protection::Protection;
use crate::step::Trouble;

/// What is done to the first column of every file.
const RULE: &str = "format = \"digit(6..40) | lower(6..40)\"\non_bad = \"null\"\n";

/// Protects and reveals the first column of `data` as a CSV file, with quotes and without. A file that can be read
/// comes back but for cells that do not fit, which are empty; what cannot be read ends in an error.
///
/// # Panics
/// If that does not hold.
pub fn file(data: &[u8]) {
    for quoting in [Quoting::Assumed, Quoting::None] {
        quoted_file(data, quoting);
    }
}

fn quoted_file(data: &[u8], quoting: Quoting) {
    let Ok(reader) = Reader::new(data, &Options::default().with_quoting(quoting)) else {
        return;
    };
    let layout = reader.layout().clone();
    let block = data.get(reader.header().len()..).unwrap_or_default();
    let Some(name) = layout.names().first() else {
        return;
    };
    let text = format!("version = 1\n[[column]]\nname = {name:?}\n{RULE}");
    let Ok(rules) = Rules::parse(&text) else {
        return;
    };
    let key = Secret::from_fill(|key| key.fill(9));
    let Ok(key) = ColumnKey::without_id(1, key) else {
        return;
    };
    let keys = Keys::none().with_unnamed(key);
    let Ok(plan) = Plan::protect(&layout, &rules, &keys) else {
        return;
    };
    let Ok(mut worker) = Worker::new(&plan, &layout) else {
        return;
    };
    if worker.run(block).is_err() {
        return;
    }
    let protection = plan.protection();
    let parsed = protection.map(|protection| Protection::parse(protection.to_text().as_bytes()));
    let Some(Ok(protection)) = parsed else {
        assert!(
            protection.is_none(),
            "what stands beside a file is not read"
        );
        return;
    };
    let plan = Plan::reveal(&layout, &protection, Some(&rules), &keys);
    assert!(plan.is_ok(), "not revealed with its own rules: {plan:?}");
    let Ok(plan) = plan else { return };
    let (protected, nulled) = (
        worker.made.out.clone(),
        worker.made.counts.iter().any(|c| c.nulled > 0),
    );
    let Ok(mut worker) = Worker::new(&plan, &layout) else {
        return;
    };
    let revealed = worker.run(&protected);
    if nulled && matches!(revealed, Err(Trouble::Ambiguous { .. })) {
        // A line end has gone with a cell that did not fit, and what is left could be rows.
        return;
    }
    assert!(
        revealed.is_ok(),
        "what was protected is no file: {revealed:?}"
    );
    assert!(
        nulled || *worker.made.out == block,
        "another file came back"
    );
}

/// Reads `data` as what stands beside a file.
///
/// # Panics
/// If what was read is written as something else.
pub fn protection(data: &[u8]) {
    if let Ok(read) = Protection::parse(data) {
        let again = Protection::parse(read.to_text().as_bytes());
        assert!(again.is_ok_and(|again| again == read), "read otherwise");
    }
}
