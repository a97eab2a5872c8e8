//! Requests whose body has not come yet.

use keywright_types::Operation;

use super::{Call, Worker};

/// A request whose body is still on its way.
#[derive(Debug)]
#[must_use = "dropped, it records that the client went away"]
pub struct Expected<'a> {
    pub(super) worker: &'a Worker,
    pub(super) call: Call<'a>,
    pub(super) operation: Operation,
    pub(super) arrived: bool,
}

impl Expected<'_> {
    /// The body is there, or is refused: what follows makes the record.
    pub fn arrived(mut self) {
        self.arrived = true;
    }
}

impl Drop for Expected<'_> {
    fn drop(&mut self) {
        if !self.arrived {
            let snapshot = self.worker.snapshot();
            // An entry that nobody closes is recorded as interrupted.
            drop(self.worker.begin(&self.call, self.operation, &snapshot));
        }
    }
}
