//! What a database must be able to do.
//!
//! An engine knows tables, rows and revisions. It knows no MACs and no meaning: those are the store's.

use keywright_types::TenantId;

use crate::row::{MAX_BODY_LEN, MAX_KEY_LEN};
use crate::{Error, Row, Table};

/// The row of `meta` that holds the state epoch as eight bytes; engines write it themselves.
pub(crate) const EPOCH_KEY: &[u8] = b"epoch";
/// The row of `meta` that holds the summary.
pub(crate) const SUMMARY_KEY: &[u8] = b"summary";

/// One step of a transaction. Revision 0 as the expected one means: there is no such row.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "an engine that skipped an unknown step would lose a write or a check"
)]
pub enum Write {
    /// Removes a row that is at this revision.
    Delete {
        /// The row's table.
        table: Table,
        /// The row's key.
        key: Vec<u8>,
        /// The revision it must have.
        expected: u64,
    },
    /// Inserts a row (`expected` 0) or replaces the one at that revision.
    Put {
        /// The row's table.
        table: Table,
        /// The whole new row.
        row: Row,
        /// The revision the row must have before.
        expected: u64,
    },
    /// Changes nothing, but fails the transaction if the row is at another revision.
    Require {
        /// The row's table.
        table: Table,
        /// The row's key.
        key: Vec<u8>,
        /// The revision it must have.
        expected: u64,
    },
}

/// A database: synchronous, used by one thread at a time.
///
/// What [`Engine::apply`] has answered is durable; what it refused has left no trace.
pub trait Engine: Send {
    /// The row with this key.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`], or [`Error::RowAltered`] if a column has a wrong form.
    fn get(&self, table: Table, key: &[u8]) -> Result<Option<Row>, Error>;

    /// At most `limit` rows whose keys begin with `prefix` and are greater than `after`, by key; fewer
    /// only if there are no more.
    ///
    /// # Errors
    /// As [`Engine::get`].
    fn range(
        &self,
        table: Table,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, Error>;

    /// Does all of `writes` and sets the epoch, or does nothing.
    ///
    /// The writes name different rows. The epoch, kept as [`epoch_row`] in `meta`, may stay or rise.
    ///
    /// # Errors
    /// [`Error::Exists`] or [`Error::Conflict`] if a row is not at its expected revision,
    /// [`Error::Conflict`] of `meta` if the epoch would fall, [`Error::Full`], [`Error::Io`].
    fn apply(&mut self, writes: &[Write], new_epoch: u64) -> Result<(), Error>;

    /// Overwrites what earlier writes left behind on the disk, as far as the engine can reach it.
    ///
    /// # Errors
    /// [`Error::Io`]; what was written stays written.
    fn scrub(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// The state epoch; 0 before the first write that raised it.
    ///
    /// # Errors
    /// As [`Engine::get`]; [`Error::SummaryAltered`] if the row has a wrong form.
    fn epoch(&self) -> Result<u64, Error> {
        let Some(row) = self.get(Table::Meta, EPOCH_KEY)? else {
            return Ok(0);
        };
        let bytes = row.body.try_into().map_err(|_| Error::SummaryAltered)?;
        Ok(u64::from_be_bytes(bytes))
    }
}

/// The row of `meta` in which an engine keeps the state epoch. It replaces the earlier one.
#[must_use]
pub fn epoch_row(epoch: u64) -> Row {
    Row {
        key: EPOCH_KEY.to_vec(),
        tenant: TenantId::NONE,
        revision: epoch,
        epoch,
        body: epoch.to_be_bytes().to_vec(),
        mac: [0; 32],
    }
}

/// Reads a row of `meta` before there is a [`Store`](crate::Store): the sealed row key, say.
///
/// # Errors
/// As [`Engine::get`].
pub fn read_meta(engine: &dyn Engine, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    Ok(engine.get(Table::Meta, key)?.map(|row| row.body))
}

/// Writes a row of `meta`, durably and without raising the epoch.
///
/// # Errors
/// [`Error::ReservedRow`] for the store's own rows, [`Error::TooLong`], or as [`Engine::apply`].
pub fn write_meta(engine: &mut dyn Engine, key: &[u8], body: &[u8]) -> Result<(), Error> {
    check_caller_row(Table::Meta, key)?;
    check_length(Table::Meta, key, body)?;
    let expected = engine.get(Table::Meta, key)?.map_or(0, |row| row.revision);
    let epoch = engine.epoch()?;
    let row = Row {
        key: key.to_vec(),
        tenant: TenantId::NONE,
        revision: next_revision(Table::Meta, expected)?,
        epoch,
        body: body.to_vec(),
        mac: [0; 32],
    };
    let table = Table::Meta;
    engine.apply(
        &[Write::Put {
            table,
            row,
            expected,
        }],
        epoch,
    )
}

/// Refuses rows that the store alone writes: the epoch, the summary, reserved counters.
pub(crate) fn check_caller_row(table: Table, key: &[u8]) -> Result<(), Error> {
    let reserved = match table {
        Table::Meta => key == EPOCH_KEY || key == SUMMARY_KEY,
        Table::Counters => key.starts_with(crate::transaction::RESERVATION),
        _ => false,
    };
    if reserved {
        Err(Error::ReservedRow { table })
    } else {
        Ok(())
    }
}

pub(crate) const fn check_length(table: Table, key: &[u8], body: &[u8]) -> Result<(), Error> {
    if key.len() > MAX_KEY_LEN || body.len() > MAX_BODY_LEN {
        Err(Error::TooLong { table })
    } else {
        Ok(())
    }
}

/// The revision after `revision`. Ends where a signed 64-bit column ends.
pub(crate) fn next_revision(table: Table, revision: u64) -> Result<u64, Error> {
    if revision >= i64::MAX.unsigned_abs() {
        return Err(Error::Exhausted { table });
    }
    Ok(revision + 1)
}
