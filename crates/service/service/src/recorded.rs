//! An answer that cannot leave before its audit record (design 7.29).

use std::fmt;

use keywright_audit::writer::Ticket;
use keywright_types::Code;

use crate::Worker;

/// The result of a request, locked up until the record of the request has been written.
///
/// The only way out is [`Recorded::release`], which looks at the log. A value whose record could not
/// be written is dropped, and wiped where it is secret.
#[must_use = "an answer that nobody releases is never sent"]
pub struct Recorded<T> {
    value: T,
    /// The record's place in this worker's log; `None` if it could not even be appended.
    ticket: Option<Ticket>,
}

impl<T> Recorded<T> {
    pub(crate) const fn new(value: T, ticket: Option<Ticket>) -> Self {
        Self { value, ticket }
    }

    /// Gives the result out if its record is written; wait for [`Worker::flush`] first.
    ///
    /// # Errors
    /// [`Code::AuditUnavailable`] if the record is not written; the result is dropped.
    pub fn release(self, worker: &Worker) -> Result<T, Code> {
        match self.ticket {
            Some(ticket) if worker.has_written(ticket) => Ok(self.value),
            _ => Err(Code::AuditUnavailable),
        }
    }
}

impl<T> fmt::Debug for Recorded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recorded")
    }
}
