//! The document as comma-separated values (RFC 4180, lines end with CR LF).
//!
//! The long form has a row per case and metric, the wide form a row per case. A figure that is missing,
//! withheld or not a number is an empty field. Text that a spreadsheet would take for a formula gets an
//! apostrophe in front; figures are written by this module alone and never need one.

mod figures;
mod wide;

use keywright_measure::document::{Case, Document};

pub use wide::wide;

use crate::outcome;

/// The head of the long form.
const LONG: &str =
    "run_id,case,target,op,size_bytes,threads,rate_per_s,metric,value,unit,lo,hi,n,bound,verdict";

/// A row per case and metric. Times are nanoseconds; `rate_per_s` is what was offered, the metric
/// `achieved` what was done. What a case was compared with has rows of its own, such as `throughput_baseline`,
/// `throughput_diff` in percent, and `throughput_ratio`, this side over the other.
#[must_use]
pub fn long(document: &Document) -> String {
    let mut out = format!("{LONG}\r\n");
    for case in &document.cases {
        let about = [
            text(&document.run.id),
            text(&case.id),
            text(&case.target),
            text(&case.op),
            size(case).map_or_else(String::new, |size| size.to_string()),
            if case.load.cap > 0 {
                case.load.cap.to_string()
            } else {
                String::new()
            },
            float(case.load.rate_per_s),
        ]
        .join(",");
        let verdict = verdict(case);
        let compared = document.comparison.iter().filter(|one| one.case == case.id);
        let compared = compared.flat_map(|one| figures::compared(case, one));
        for figure in figures::of(case).into_iter().chain(compared) {
            out += &format!("{about},{},{verdict}\r\n", figure.fields().join(","));
        }
    }
    out
}

/// The payload's size, where the case has one.
fn size(case: &Case) -> Option<u64> {
    let parameter = |name: &str| case.parameters.get(name);
    parameter("size_bytes")
        .or_else(|| parameter("size"))?
        .parse()
        .ok()
}

/// The word that decides.
fn verdict(case: &Case) -> &'static str {
    outcome::words(case).first().map_or("", |word| word.text())
}

/// A float that reads back as itself, or nothing.
pub(crate) fn float(value: Option<f64>) -> String {
    value
        .filter(|value| value.is_finite())
        .map_or_else(String::new, |value| value.to_string())
}

/// A field of foreign text: no formula, quoted where it has to be, without line breaks or other controls.
pub(crate) fn text(text: &str) -> String {
    let mut field = String::with_capacity(text.len());
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        field.push('\'');
    }
    field.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
    if field.contains([',', '"', ' ']) || field.starts_with('\'') {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_starts_a_formula_or_ends_its_field() {
        for formula in [
            "=1+1",
            "+1",
            "-2",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "=HYPERLINK(\"x\",\"y\")",
        ] {
            let field = text(formula);
            assert!(field.starts_with("\"'"), "{field}");
            assert!(
                !field[1..field.len() - 1].replace("\"\"", "").contains('"'),
                "{field}"
            );
        }
        assert_eq!(text("a,b\"c\r\nd"), "\"a,b\"\"c  d\"");
        assert_eq!(text("plain-name"), "plain-name");
    }

    #[test]
    fn what_is_not_finite_is_an_empty_field() {
        assert_eq!(
            float(Some(f64::NAN)) + &float(Some(f64::INFINITY)) + &float(None),
            ""
        );
        assert_eq!(float(Some(0.000_000_4)), "0.0000004");
    }
}
