//! Replacing fields and nothing else.

use super::reader::Record;
use super::scan::Scanner;
use crate::Error;

/// Appends `record` to `out` with the raw bytes of some fields replaced: `(column, new bytes)` in any
/// order. Every other byte, line end included, is copied as it stands.
///
/// New bytes are put in as they are, quotes and all: what [`Record::field`] gave is put back exactly.
/// The result is scanned again before it is accepted, so bytes that would break out of their field (a
/// separator, a line end, an open quote) are refused.
///
/// # Errors
/// [`Error::NoSuchField`], [`Error::ColumnTwice`] and [`Error::NotOneField`]. `out` is then as it was.
pub fn rewrite(
    record: &Record<'_>,
    replacements: &[(usize, &[u8])],
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    for (position, &(column, _)) in replacements.iter().enumerate() {
        if record.field(column).is_none() {
            return Err(Error::NoSuchField {
                line: record.line(),
                column,
            });
        }
        if replacements[..position]
            .iter()
            .any(|&(earlier, _)| earlier == column)
        {
            return Err(Error::ColumnTwice { column });
        }
    }
    let start = out.len();
    let mut cuts = Vec::with_capacity(record.fields().len());
    for (column, raw) in record.fields().enumerate() {
        if column > 0 {
            out.push(record.marks().separator());
        }
        let new = replacements.iter().find(|&&(which, _)| which == column);
        out.extend_from_slice(new.map_or(raw, |&(_, bytes)| bytes));
        cuts.push(out.len() - start);
    }
    out.extend_from_slice(record.line_end());
    if replacements.is_empty() || reads_back(record, &out[start..], &cuts) {
        return Ok(());
    }
    out.truncate(start);
    Err(Error::NotOneField {
        line: record.line(),
    })
}

/// Whether the written record, read again, has its fields where they were put.
fn reads_back(record: &Record<'_>, written: &[u8], cuts: &[usize]) -> bool {
    if written.is_empty() {
        // A last line without content and line end is no record.
        return false;
    }
    let mut scanner = Scanner::new(record.marks());
    let whole = match scanner.feed(written) {
        Some(end) => end == written.len() && !record.line_end().is_empty(),
        None => {
            scanner.finish();
            record.line_end().is_empty()
        }
    };
    whole && scanner.broken().is_none() && scanner.cuts() == cuts
}
