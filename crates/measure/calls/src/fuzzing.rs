//! The promises of the readers over arbitrary bytes, as one function that the fuzz target and a plain test both
//! call.

use crate::{Analyzer, Options, Scrubber, compare, render};

/// Reads `data` and checks that
///
/// * calls that were seen are counted once: as done, failed or without an answer;
/// * the pieces in which bytes arrive change nothing;
/// * every form can be written;
/// * a scrubbed copy is scrubbed already, and holds as many calls of the spy as the log.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn log(data: &[u8]) {
    let whole = read(&mut data.chunks(1 << 16));
    let report = whole.report();
    let counted = report.success_count + report.error_count + report.incomplete_count;
    assert_eq!(
        report.total_ops, counted,
        "calls are lost between the counts"
    );
    let pieces = read(&mut data.chunks(7)).report();
    let written = serde_json::to_string(&report).unwrap_or_default();
    assert!(!written.is_empty(), "a report that is not data");
    assert_eq!(
        written,
        serde_json::to_string(&pieces).unwrap_or_default(),
        "the pieces change the report"
    );
    for form in [
        render::text(&report),
        render::csv(&report),
        render::html(&report),
    ] {
        assert!(!form.is_empty(), "a form without words");
        let control = |c: char| c.is_control() && !matches!(c, '\n' | '\r');
        assert!(!form.contains(control), "a terminal would obey");
    }
    assert!(
        !render::comparison(&compare(&report, &pieces)).is_empty(),
        "no comparison"
    );
    let clean = scrubbed(data);
    assert_eq!(clean, scrubbed(&clean), "scrubbing again takes more away");
}

fn read(pieces: &mut dyn Iterator<Item = &[u8]>) -> Analyzer {
    let mut analyzer = Analyzer::new(Options::default());
    for piece in pieces {
        analyzer.push(piece);
    }
    analyzer.finish();
    analyzer
}

fn scrubbed(data: &[u8]) -> Vec<u8> {
    let mut scrubber = Scrubber::new();
    let mut out = Vec::new();
    scrubber.push(data, &mut out);
    scrubber.finish(&mut out);
    out
}
