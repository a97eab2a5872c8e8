//! A drawing with the table of what it shows.

use std::collections::BTreeMap;

use maud::{Markup, PreEscaped, html};

use crate::svg::{Plot, Rows};

/// A drawing, a sentence and a table.
pub(super) struct Figure {
    pub(super) title: String,
    note: String,
    svg: String,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Figure {
    /// Of a plot; nothing if there is nothing to draw. The table has a row per x.
    pub(super) fn of(plot: &Plot, note: &str) -> Option<Self> {
        let svg = plot.svg()?;
        let (head, rows) = if plot.bars.is_empty() {
            curves(plot)
        } else {
            bars(plot)
        };
        Some(Self {
            title: plot.title.clone(),
            note: note.to_owned(),
            svg,
            head,
            rows,
        })
    }

    /// Of rows; the table has what stands beside them.
    pub(super) fn of_rows(rows: &Rows, note: &str, head: [&str; 2]) -> Option<Self> {
        let svg = rows.svg()?;
        let head = head.map(str::to_owned).to_vec();
        let cells = rows
            .rows
            .iter()
            .map(|row| vec![row.name.clone(), row.text.clone()])
            .collect();
        Some(Self {
            title: rows.title.clone(),
            note: note.to_owned(),
            svg,
            head,
            rows: cells,
        })
    }

    pub(super) fn markup(&self) -> Markup {
        html! {
            figure {
                figcaption {
                    b { (self.title) }
                    @if !self.note.is_empty() { " " span { (self.note) } }
                }
                (PreEscaped(&self.svg))
                details {
                    summary { "Figures" }
                    (table(&self.head, &self.rows))
                }
            }
        }
    }
}

/// A table; the first column holds names, the others figures.
pub(super) fn table(head: &[String], rows: &[Vec<String>]) -> Markup {
    html! {
        div.scroll {
            table {
                thead { tr { @for cell in head { th { (cell) } } } }
                tbody { @for row in rows { tr { @for cell in row { td { (cell) } } } } }
            }
        }
    }
}

fn bars(plot: &Plot) -> (Vec<String>, Vec<Vec<String>>) {
    let head = vec![format!("{} up to", plot.x.label), plot.bars_name.clone()];
    let rows = plot
        .bars
        .iter()
        .map(|bar| vec![plot.x.unit.text(bar.to), plot.y.unit.text(bar.height)]);
    (head, rows.collect())
}

/// Series side by side. Floats as keys are ordered by their bits, which for what is drawn is by value.
fn curves(plot: &Plot) -> (Vec<String>, Vec<Vec<String>>) {
    let columns = plot.series.len() + plot.bands.len();
    let mut head = vec![plot.x.label.clone()];
    head.extend(plot.series.iter().map(|series| series.name.clone()));
    head.extend(plot.bands.iter().map(|_| "95 % interval".to_owned()));
    let mut cells: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let mut put = |x: f64, column: usize, text: String| {
        let row = cells
            .entry((x + 0.0).to_bits())
            .or_insert_with(|| vec![String::new(); columns]);
        if let Some(cell) = row.get_mut(column) {
            *cell = text;
        }
    };
    for (column, series) in plot.series.iter().enumerate() {
        for (x, y) in &series.points {
            put(*x, column, plot.y.unit.text(*y));
        }
    }
    for (column, band) in plot.bands.iter().enumerate() {
        for (x, lo, hi) in &band.points {
            let text = format!("{} to {}", plot.y.unit.text(*lo), plot.y.unit.text(*hi));
            put(*x, plot.series.len() + column, text);
        }
    }
    let rows = cells.into_iter().map(|(x, cells)| {
        let mut row = vec![plot.x.unit.text(f64::from_bits(x))];
        row.extend(cells);
        row
    });
    (head, rows.collect())
}
