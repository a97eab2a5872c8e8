//! Rows of figures under heads, whatever file they stood in.

use std::sync::Arc;

use crate::figure::Figure;
use crate::header::{self, Role};
use crate::read::clip;
use crate::span::Span;
use crate::unit::{Dimension, Unit};

/// How the operations of a table were started, as far as the file says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Loop {
    /// One after another on one thread, so that the rate is the inverse of the average.
    OneByOne,
    #[default]
    Unknown,
}

/// What stands around a table and holds for all its rows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Context {
    /// The unit of times that name none.
    pub(crate) time: Option<Unit>,
    pub(crate) started: Loop,
    /// Operations per row, for rows that do not say it.
    pub(crate) count: Option<f64>,
    /// The rate that was asked for.
    pub(crate) target: Option<f64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: Arc<str>,
    pub(crate) role: Role,
    unit: Option<Unit>,
}

impl Column {
    pub(crate) fn new(name: &str) -> Self {
        let name = clip(name);
        let (role, unit) = header::read(name);
        Self {
            name: Arc::from(name.replace(['*', '`'], "").trim()),
            role,
            unit,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// The head, shared by the column's cells: a file may have very many of them.
    pub(crate) column: Arc<str>,
    pub(crate) role: Role,
    pub(crate) text: String,
    /// In seconds, bytes and operations per second.
    pub(crate) figure: Option<Figure>,
}

impl Cell {
    pub(crate) fn span(&self) -> Option<Span> {
        self.figure.as_ref().map(|figure| figure.span)
    }

    /// The number itself in base units, for sentences.
    pub(crate) fn value(&self) -> Option<f64> {
        self.figure.as_ref().map(|figure| figure.value)
    }

    pub(crate) fn is(&self, dimension: Dimension) -> bool {
        self.figure
            .as_ref()
            .is_some_and(|figure| figure.is(dimension))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) line: Option<usize>,
    pub(crate) label: String,
    pub(crate) cells: Vec<Cell>,
    /// What a progress bar beside the row showed, if there was one.
    pub(crate) progress: Option<Progress>,
}

/// `100/100 [00:00:35]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Progress {
    pub(crate) done: f64,
    pub(crate) seconds: f64,
}

impl Row {
    pub(crate) fn with(&self, role: Role) -> Option<&Cell> {
        self.cells
            .iter()
            .find(|cell| cell.role == role && cell.figure.is_some())
    }

    /// The only rate of operations per second in the row.
    pub(crate) fn rate(&self) -> Option<&Cell> {
        self.with(Role::Rate)
            .filter(|cell| cell.is(Dimension::PerSecond))
    }

    /// The cell that says how long one operation takes.
    pub(crate) fn average(&self) -> Option<&Cell> {
        let time = |role| self.with(role).filter(|cell| cell.is(Dimension::Time));
        time(Role::Average).or_else(|| time(Role::Time))
    }

    /// How many operations the row is about.
    pub(crate) fn count(&self, context: &Context) -> Option<Span> {
        let own = self.with(Role::Count).and_then(|cell| cell.figure.as_ref());
        // A count is exact unless it is printed as a rounded one.
        own.map(|figure| {
            if figure.about {
                figure.span
            } else {
                figure.exact
            }
        })
        .or_else(|| self.progress.map(|progress| Span::exactly(progress.done)))
        .or_else(|| context.count.map(Span::exactly))
    }

    /// Everything in the row that is no result: two rows with the same have one name.
    pub(crate) fn key(&self) -> String {
        let names = self.cells.iter().enumerate().filter(|(index, cell)| {
            let setting = [
                Role::Size,
                Role::Threads,
                Role::Target,
                Role::Cap,
                Role::Count,
            ];
            *index == 0 || cell.role == Role::Other || setting.contains(&cell.role)
        });
        let text: Vec<&str> = names.map(|(_, cell)| cell.text.as_str()).collect();
        // Names that differ in case and hyphens only are one name to a reader.
        let plain = text.join("|").to_lowercase();
        plain
            .chars()
            .filter(|c| c.is_alphanumeric() || "|.+".contains(*c))
            .collect()
    }

    /// The quantiles in the order of the columns.
    pub(crate) fn quantiles(&self) -> impl Iterator<Item = (f64, &Cell)> {
        self.cells.iter().filter_map(|cell| match cell.role {
            Role::Quantile(share) if cell.figure.is_some() => Some((share, cell)),
            _ => None,
        })
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) context: Context,
    pub(crate) rows: Vec<Row>,
}

/// The cells of one line, not yet understood.
#[derive(Clone, Debug)]
pub(crate) struct RawRow {
    pub(crate) line: Option<usize>,
    pub(crate) cells: Vec<String>,
}

impl Table {
    /// Understands rows of text under heads. A row with fewer cells than heads is kept as far as it goes.
    pub(crate) fn new(heads: &[String], raw: &[RawRow], mut context: Context) -> Self {
        let mut columns: Vec<Column> = heads.iter().map(|head| Column::new(head)).collect();
        settle_measured_column(&mut columns);
        context.time = context.time.or_else(|| time_of_heads(&columns));
        let rows = raw
            .iter()
            .map(|raw| understand(&columns, raw, &context))
            .collect();
        Self { context, rows }
    }
}

/// Beside a bound and a verdict, the column between them is what was measured, whatever its head says.
fn settle_measured_column(columns: &mut [Column]) {
    let limit = columns.iter().position(|column| column.role == Role::Limit);
    let status = columns
        .iter()
        .position(|column| column.role == Role::Status);
    if let (Some(limit), Some(status)) = (limit, status)
        && status == limit + 2
        && let Some(between) = columns.get_mut(limit + 1)
    {
        between.role = Role::Current;
    }
}

/// The unit of the other times: who writes `avg_ms` means milliseconds by `total_duration` too.
fn time_of_heads(columns: &[Column]) -> Option<Unit> {
    let mut units = columns
        .iter()
        .filter_map(|column| column.unit)
        .filter(|unit| unit.dimension == Dimension::Time);
    let first = units.next()?;
    units.all(|unit| unit == first).then_some(first)
}

fn understand(columns: &[Column], raw: &RawRow, context: &Context) -> Row {
    let cells: Vec<Cell> = columns
        .iter()
        .zip(&raw.cells)
        .map(|(column, text)| cell(column, text, context))
        .collect();
    Row {
        line: raw.line,
        label: label(&cells),
        cells,
        progress: None,
    }
}

fn cell(column: &Column, text: &str, context: &Context) -> Cell {
    let text = clip(text);
    let found = match column.role {
        Role::Difference => Figure::anywhere(text),
        _ => Figure::at_start(text),
    };
    let unit = column.unit.or_else(|| implied_unit(column.role, context));
    let mut plain = text.replace(['*', '`'], "").trim().to_owned();
    if found.is_some() {
        // Coloured marks before a figure are no part of it.
        plain = plain
            .trim_start_matches(|c: char| !c.is_ascii() || c == ' ')
            .to_owned();
    }
    Cell {
        column: Arc::clone(&column.name),
        role: column.role,
        text: plain,
        figure: found.map(|figure| figure.in_base(unit)),
    }
}

fn implied_unit(role: Role, context: &Context) -> Option<Unit> {
    match role {
        Role::Average
        | Role::Maximum
        | Role::Minimum
        | Role::Quantile(_)
        | Role::Side
        | Role::Time
        | Role::TotalTime => context.time,
        Role::Rate | Role::Target | Role::Current | Role::Baseline => Unit::named("/s"),
        Role::AtThreads(_) => None,
        Role::Difference => Unit::named("%"),
        _ => None,
    }
}

/// The cells that tell one row from another: what is no measured figure.
fn label(cells: &[Cell]) -> String {
    let telling = |cell: &&Cell| {
        let is_name = cell.figure.is_none() && matches!(cell.role, Role::Other | Role::Time);
        is_name
            || matches!(
                cell.role,
                Role::Size | Role::Threads | Role::Target | Role::Cap
            )
    };
    let mut words: Vec<&str> = Vec::new();
    for (index, cell) in cells.iter().enumerate() {
        // The first cell is the name even if it looks like a figure.
        if (index == 0 || telling(&cell)) && words.len() < 4 && !cell.text.is_empty() {
            words.push(&cell.text);
        }
    }
    words.join(" ")
}
