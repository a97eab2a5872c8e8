//! The document as one page: a single file that opens without a network.
//!
//! Verdict and accounting stand before any plot, and under each plot stands a table of what it shows. Plots
//! are SVG in the page and read without script; the script only adds a reading line and zoom. The content
//! policy allows this page's own style and script, named by their hashes, and nothing else, so neither the
//! page nor a name in it can fetch anything. All text goes through `maud` or the drawing module, which
//! escape it.
//!
//! A page stays under [`LIMIT`]: where a document has too many cases for everything, points are joined
//! first, then plots are left out, then sections; what is missing is said on the page.

mod case;
mod figure;
mod front;
mod models;
mod overview;
mod pairs;
mod plots;
mod timeline;
mod trend;

use keywright_encoding::base64;
use keywright_measure::document::{Case, Document};
use keywright_primitives::hash::sha256;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Deserialize;

use crate::tree::Tree;
use crate::{describe, json, number};

pub use trend::trends;

/// Most bytes of a page.
pub const LIMIT: usize = 500_000;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// How much of a document is on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Depth {
    /// Most points of a curve.
    points: usize,
    /// Most plots of a case.
    plots: usize,
    /// What else stands in a case's section.
    words: Words,
    /// Most cases with a section of their own.
    sections: usize,
    /// Most cases and remarks that are listed.
    listed: usize,
}

/// What stands in a section beside plots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Words {
    /// Everything.
    All,
    /// Books, headline times and checks.
    Few,
}

/// From everything to almost nothing; the first that fits is taken.
const DEPTHS: [Depth; 8] = {
    const ALL: usize = usize::MAX;
    const fn depth(
        points: usize,
        plots: usize,
        words: Words,
        sections: usize,
        listed: usize,
    ) -> Depth {
        Depth {
            points,
            plots,
            words,
            sections,
            listed,
        }
    }
    [
        depth(240, ALL, Words::All, ALL, ALL),
        depth(60, ALL, Words::All, ALL, ALL),
        depth(20, 6, Words::All, ALL, ALL),
        depth(20, 2, Words::Few, ALL, ALL),
        depth(12, 1, Words::Few, ALL, ALL),
        depth(12, 0, Words::Few, 150, 700),
        depth(12, 0, Words::Few, 20, 250),
        depth(12, 0, Words::Few, 0, 10),
    ]
};

/// Longest text of a document that did not fit as it is.
const SHORT: usize = 300;

/// The page.
#[must_use]
pub fn render(document: &Document) -> String {
    let whole = page(document, DEPTHS[0]).into_string();
    if whole.len() < LIMIT {
        return whole;
    }
    let short = shortened(document);
    let document = short.as_ref().unwrap_or(document);
    let mut pages = DEPTHS
        .into_iter()
        .skip(1)
        .map(|depth| page(document, depth).into_string());
    pages
        .find(|page| page.len() < LIMIT)
        .unwrap_or_else(too_large)
}

/// The same with long names and remarks cut in the middle.
fn shortened(document: &Document) -> Option<Document> {
    let text = json::render(document, json::Layout::Line).ok()?;
    let tree: Tree = serde_json::from_str(&text).ok()?;
    Document::deserialize(tree.shortened(SHORT)).ok()
}

/// Instead of a document of which not even a list of its first cases fits.
fn too_large() -> String {
    let text = "This is too large for a page; the JSON form has everything.";
    html! { (DOCTYPE) html lang="en" { head { meta charset="utf-8"; title { "Measurement" } } body { p { (text) } } } }
        .into_string()
}

fn page(document: &Document, depth: Depth) -> Markup {
    let cases = told(document);
    let title = title(&cases);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    (front::header(document, &title))
                    (front::verdicts(document, &cases))
                    (front::summary(&cases, depth.listed))
                    (front::remarks(document, depth.listed))
                    (front::gates(document, depth.listed))
                    (overview::comparisons(document, depth.listed))
                    (overview::offered(&cases))
                    @for (place, case) in cases.iter().take(depth.sections).enumerate() {
                        (case::section(document, case, place, depth))
                    }
                    (left_out(&cases, depth))
                    (front::environment(document, depth.listed))
                    (front::footer(document))
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// What may run and be fetched: this style, this script, nothing else.
fn policy() -> String {
    let hash = |text: &str| base64::encode(&sha256(text.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

/// The cases with a section: all but those that are told in the section of another.
fn told(document: &Document) -> Vec<&Case> {
    document
        .cases
        .iter()
        .filter(|case| !describe::is_attached(document, case))
        .collect()
}

fn title(cases: &[&Case]) -> String {
    match cases {
        [] => "Measurement without cases".to_owned(),
        [one] => format!("Measurement of {} on {}", one.op, one.target),
        [first, ..] => {
            let same = cases.iter().all(|case| case.target == first.target);
            let what = format!("Measurement of {} cases", number::count(count(cases.len())));
            if same {
                format!("{what} on {}", first.target)
            } else {
                what
            }
        }
    }
}

fn left_out(cases: &[&Case], depth: Depth) -> Markup {
    let sections = cases.len().saturating_sub(depth.sections);
    html! {
        @if depth != DEPTHS[0] {
            p.note {
                "To stay one small file, this page joins neighbouring points and leaves out some plots and words"
                @if sections > 0 { " and the sections of " (number::count(count(sections))) " cases" }
                ". The JSON form has everything."
            }
        }
    }
}

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}
