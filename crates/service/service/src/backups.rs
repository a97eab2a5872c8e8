//! Backups as the log has them.

use keywright_store::Transaction;
use keywright_types::Operation;

use crate::life::Author;
use crate::order::{Intent, Prepared};
use crate::{Admin, AdminError};

impl Admin {
    /// Records that everything is about to leave in a backup, before and after like an order that changes state: the
    /// records are on the disk before the backup is.
    ///
    /// # Errors
    /// Those of other orders.
    pub fn record_backup(&self, author: &Author) -> Result<u64, AdminError> {
        let intent = Intent {
            facts: self.facts_of(author, Operation::BackupCreate)?,
            fields: &[],
            trust: None,
        };
        let recorded = self.carry_out(intent, |next| {
            Ok(Prepared {
                answer: (),
                transaction: Transaction::new(),
                next,
            })
        });
        recorded.map(|((), epoch)| epoch)
    }
}
