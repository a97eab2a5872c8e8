//! The document for people at a terminal.
//!
//! One block per case: how it was loaded, what was achieved and where every operation ended, response
//! before service, the checks, and last the words that say what the figures are worth. Then a summary, the
//! warnings with their remedies, gates, and the line that repeats the run.

mod case;
pub(crate) mod closing;
mod compare;
mod histogram;
mod latency;
mod table;

use keywright_measure::document::Document;

pub use compare::comparison_table;

use crate::Style;

/// How much is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Detail {
    /// The summary without the blocks.
    Brief,
    /// Blocks and summary.
    #[default]
    Normal,
    /// Histograms, every quantile and every run as well.
    Verbose,
}

/// How a document is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// Plain or coloured.
    pub style: Style,
    /// How much.
    pub detail: Detail,
}

impl Settings {
    /// The given style and detail.
    #[must_use]
    pub const fn new(style: Style, detail: Detail) -> Self {
        Self { style, detail }
    }
}

/// The whole document as text that ends with a line break.
#[must_use]
pub fn render(document: &Document, settings: Settings) -> String {
    render_against(document, None, settings)
}

/// The same, with the table of [`comparison_table`] below the summary if there is a baseline.
#[must_use]
pub fn render_against(
    document: &Document,
    baseline: Option<&Document>,
    settings: Settings,
) -> String {
    let mut out = String::new();
    if settings.detail > Detail::Brief {
        for block in case::blocks(document, settings) {
            out += &block;
            out.push('\n');
        }
    }
    if !document.cases.is_empty() {
        out += &table::summary(document, settings.style);
        out.push('\n');
    }
    if let Some(baseline) = baseline {
        out += &comparison_table(document, baseline);
        out.push('\n');
    }
    out + &closing::lines(document, settings.style)
}

/// One line per case, right-aligned: operations a second, mean, p50, p95, p99, and the word that decides.
#[must_use]
pub fn summary_table(document: &Document) -> String {
    table::summary(document, Style::Plain)
}
