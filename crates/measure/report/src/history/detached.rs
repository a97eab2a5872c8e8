//! What of a document is stored in tables alone: histograms and blocks.
//!
//! They are most of its bytes. A document is written without them and completed from the tables when it is
//! read. The distributions of single blocks are not kept at all: over many runs they would be most of the
//! file, and what is asked of the history is asked of whole runs.

use keywright_measure::document::{BlockRecord, Case, Document, Latency};
use rusqlite::{Connection, Row};

use super::HistoryError;

/// The distributions of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Error,
    Lateness,
    Pacer,
    Response,
    Service,
}

impl Kind {
    pub(super) const ALL: [Self; 5] = [
        Self::Error,
        Self::Lateness,
        Self::Pacer,
        Self::Response,
        Self::Service,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Lateness => "lateness",
            Self::Pacer => "pacer",
            Self::Response => "response",
            Self::Service => "service",
        }
    }

    pub(super) const fn of(self, case: &Case) -> Option<&Latency> {
        match self {
            Self::Error => case.error_latency.as_ref(),
            Self::Lateness => case.lateness.as_ref(),
            Self::Pacer => case.pacer.as_ref(),
            Self::Response => case.response.as_ref(),
            Self::Service => case.service.as_ref(),
        }
    }

    const fn of_mut(self, case: &mut Case) -> Option<&mut Latency> {
        match self {
            Self::Error => case.error_latency.as_mut(),
            Self::Lateness => case.lateness.as_mut(),
            Self::Pacer => case.pacer.as_mut(),
            Self::Response => case.response.as_mut(),
            Self::Service => case.service.as_mut(),
        }
    }
}

/// The document as JSON without what is detached. Read once before it is stored: what JSON cannot write
/// is written as null, and a null where a figure has to be would make the run unreadable for ever.
pub(super) fn text_of(document: &Document) -> Result<String, HistoryError> {
    let mut rest = document.clone();
    for case in &mut rest.cases {
        let mut canaries = case.blocks.iter().filter_map(|block| block.canary);
        if canaries.any(|canary| !canary.is_finite()) {
            return Err(HistoryError::NotFinite);
        }
        case.blocks.clear();
        for kind in Kind::ALL {
            if let Some(latency) = kind.of_mut(case) {
                latency.hdr = None;
            }
        }
    }
    let text = serde_json::to_string(&rest).map_err(|_| HistoryError::NotFinite)?;
    match serde_json::from_str::<Document>(&text) {
        Ok(read) if read == rest => Ok(text),
        _ => Err(HistoryError::NotFinite),
    }
}

/// The whole document of the run with this number.
pub(super) fn document_of(
    connection: &Connection,
    run: i64,
    text: &str,
) -> Result<Document, HistoryError> {
    let mut document: Document = serde_json::from_str(text).map_err(|_| HistoryError::Damaged)?;
    attach_histograms(connection, run, &mut document)?;
    attach_blocks(connection, run, &mut document)?;
    Ok(document)
}

fn attach_histograms(
    connection: &Connection,
    run: i64,
    document: &mut Document,
) -> Result<(), HistoryError> {
    let mut statement = connection.prepare_cached(
        "SELECT c.place, h.kind, h.hdr FROM case_result c JOIN histogram h ON h.result = c.no
         WHERE c.run = ?1 AND h.hdr IS NOT NULL",
    )?;
    let mut rows = statement.query([run])?;
    while let Some(row) = rows.next()? {
        let name: String = row.get(1)?;
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name);
        let latency = kind.and_then(|kind| kind.of_mut(case_at(document, row)?));
        latency.ok_or(HistoryError::Damaged)?.hdr = row.get(2)?;
    }
    Ok(())
}

fn attach_blocks(
    connection: &Connection,
    run: i64,
    document: &mut Document,
) -> Result<(), HistoryError> {
    let mut statement = connection.prepare_cached(
        "SELECT c.place, b.execution, b.start_ns, b.duration_ns, b.done, b.failed, b.in_flight,
                b.p50_ns, b.p99_ns, b.max_ns, b.canary, b.service_p50_ns, b.service_p99_ns
         FROM case_result c JOIN block b ON b.result = c.no
         WHERE c.run = ?1 ORDER BY c.place, b.place",
    )?;
    let mut rows = statement.query([run])?;
    while let Some(row) = rows.next()? {
        let block = block(row)?;
        let case = case_at(document, row).ok_or(HistoryError::Damaged)?;
        case.blocks.push(block);
    }
    Ok(())
}

/// The case whose place is in the first column.
fn case_at<'a>(document: &'a mut Document, row: &Row<'_>) -> Option<&'a mut Case> {
    let place: i64 = row.get(0).ok()?;
    document.cases.get_mut(usize::try_from(place).ok()?)
}

fn block(row: &Row<'_>) -> Result<BlockRecord, HistoryError> {
    let figure = |column| row.get::<_, i64>(column).map(i64::cast_unsigned);
    let maybe = |column| {
        row.get::<_, Option<i64>>(column)
            .map(|value| value.map(i64::cast_unsigned))
    };
    Ok(BlockRecord {
        run: row.get(1)?,
        start_ns: figure(2)?,
        duration_ns: figure(3)?,
        done: figure(4)?,
        failed: figure(5)?,
        in_flight: figure(6)?,
        p50_ns: maybe(7)?,
        p99_ns: maybe(8)?,
        max_ns: maybe(9)?,
        canary: row.get(10)?,
        service_p50_ns: maybe(11)?,
        service_p99_ns: maybe(12)?,
        hdr: None,
    })
}
