//! Every row of a store at one moment, outside of it: what a backup holds and a restore begins with.
//!
//! An [`Image`] that was read from a file says nothing about itself. [`Image::prove`] holds it against the row
//! key: the same checks as at the start of a store. Only what was [`Proven`] can be founded anew, in an empty
//! engine, at an epoch above its own.
//!
//! Not here: how an image is written down, and which rows a restore changes.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::ops::Bound;

use keywright_encoding::Reader;
use keywright_primitives::mac::MacKey;
use keywright_types::TenantId;

use crate::engine::{EPOCH_KEY, SUMMARY_KEY, check_length};
use crate::integrity::{Integrity, Summary};
use crate::worker::verify;
use crate::{Engine, Error, Row, Table, Write};

/// Every row of a store at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image(BTreeMap<(Table, Vec<u8>), Row>);

/// A row to be written, without what the store adds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "what a row is before the store has it"
)]
pub struct NewRow {
    /// Its table.
    pub table: Table,
    /// Its key.
    pub key: Vec<u8>,
    /// Its tenant.
    pub tenant: TenantId,
    /// Its body.
    pub body: Vec<u8>,
}

/// An image whose every row is what the store with this row key last wrote.
pub struct Proven {
    image: Image,
    integrity: Integrity,
}

impl Image {
    /// The image of these rows. They may be anybody's.
    ///
    /// # Errors
    /// [`Error::RepeatedRow`] if one is there twice.
    pub fn new(rows: impl IntoIterator<Item = (Table, Row)>) -> Result<Self, Error> {
        let mut image = BTreeMap::new();
        for (table, row) in rows {
            if image.insert((table, row.key.clone()), row).is_some() {
                return Err(Error::RepeatedRow { table });
            }
        }
        Ok(Self(image))
    }

    /// The rows of one table, by key.
    pub fn table(&self, table: Table) -> impl Iterator<Item = &Row> {
        self.0
            .range((table, Vec::new())..)
            .take_while(move |((found, _), _)| *found == table)
            .map(|(_, row)| row)
    }

    /// All rows, by table and key.
    pub fn rows(&self) -> impl Iterator<Item = (Table, &Row)> {
        self.0.iter().map(|((table, _), row)| (*table, row))
    }

    /// Whether each table has as many rows as the image itself says: what was cut off shows without a key.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let Some(summary) = self.0.get(&(Table::Meta, SUMMARY_KEY.to_vec())) else {
            return false;
        };
        let mut reader = Reader::new(&summary.body);
        if reader.take(32).is_err() {
            return false;
        }
        let counted = Table::PROTECTED.into_iter().all(|table| {
            let count = reader.u64();
            let check = reader.take(32);
            check.is_ok() && count == Ok(self.table(table).count() as u64)
        });
        counted && reader.is_empty()
    }

    /// Holds every row and the summary against the row key, as a start does.
    ///
    /// # Errors
    /// [`Error::RowAltered`], [`Error::SetAltered`], [`Error::SummaryAltered`], [`Error::Corrupt`].
    pub fn prove(self, row_key: MacKey) -> Result<Proven, Error> {
        let integrity = Integrity::new(row_key);
        let summary = self.get(Table::Meta, SUMMARY_KEY)?;
        let summary = summary.ok_or(Error::SummaryAltered)?;
        verify(&self, &integrity, &summary)?;
        Ok(Proven {
            image: self,
            integrity,
        })
    }
}

impl Engine for Image {
    fn get(&self, table: Table, key: &[u8]) -> Result<Option<Row>, Error> {
        Ok(self.0.get(&(table, key.to_vec())).cloned())
    }

    fn range(
        &self,
        table: Table,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, Error> {
        let start = match after {
            Some(after) if after >= prefix => Bound::Excluded((table, after.to_vec())),
            _ => Bound::Included((table, prefix.to_vec())),
        };
        let rows = self.0.range((start, Bound::Unbounded));
        let rows = rows.take_while(|((found, key), _)| *found == table && key.starts_with(prefix));
        Ok(rows.take(limit).map(|(_, row)| row.clone()).collect())
    }

    /// Refused: an image is of one moment.
    fn apply(&mut self, _: &[Write], _: u64) -> Result<(), Error> {
        Err(Error::Io(ErrorKind::ReadOnlyFilesystem))
    }
}

impl Proven {
    /// The image.
    #[must_use]
    pub const fn image(&self) -> &Image {
        &self.image
    }

    /// Whether the store of this image gave `row` its MAC. It says nothing of when.
    #[must_use]
    pub fn is_own(&self, table: Table, row: &Row) -> bool {
        table != Table::Meta && self.integrity.check_row(table, row).is_ok()
    }

    /// Writes `rows` into an empty engine, all at once, at `epoch`, under the row key of the image. Rows of
    /// `meta` that the store writes by itself are passed over.
    ///
    /// # Errors
    /// [`Error::Exists`] if the engine is not empty, [`Error::Conflict`] of `meta` for an epoch that is not above
    /// the image's, [`Error::RepeatedRow`], [`Error::TooLong`], or as [`Engine::apply`].
    pub fn found(&self, engine: &mut dyn Engine, rows: &[NewRow], epoch: u64) -> Result<(), Error> {
        if epoch <= self.image.epoch()? {
            return Err(Error::Conflict { table: Table::Meta });
        }
        for table in Table::ALL {
            if !engine.range(table, b"", None, 1)?.is_empty() {
                return Err(Error::Exists { table });
            }
        }
        let mut summary = Summary::empty(epoch, 1);
        let mut writes = Vec::with_capacity(rows.len() + 1);
        let mut seen = std::collections::BTreeSet::new();
        for new in rows {
            let table = new.table;
            if table == Table::Meta && (new.key == EPOCH_KEY || new.key == SUMMARY_KEY) {
                continue;
            }
            if !seen.insert((table, new.key.as_slice())) {
                return Err(Error::RepeatedRow { table });
            }
            writes.push(self.first(new, epoch, &mut summary)?);
        }
        writes.push(insert(Table::Meta, summary.to_row(&self.integrity)));
        engine.apply(&writes, epoch)
    }

    /// The first write of a row, counted into the summary.
    fn first(&self, new: &NewRow, epoch: u64, summary: &mut Summary) -> Result<Write, Error> {
        let table = new.table;
        check_length(table, &new.key, &new.body)?;
        let mut row = Row {
            key: new.key.clone(),
            tenant: new.tenant,
            revision: 1,
            epoch,
            body: new.body.clone(),
            mac: [0; 32],
        };
        if table != Table::Meta {
            row.mac = self.integrity.row_mac(table, &row)?;
        }
        summary.add(&self.integrity, table, &row);
        Ok(insert(table, row))
    }
}

impl std::fmt::Debug for Proven {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Proven({} rows)", self.image.0.len())
    }
}

const fn insert(table: Table, row: Row) -> Write {
    Write::Put {
        table,
        row,
        expected: 0,
    }
}

#[cfg(test)]
mod tests {
    use keywright_clock::Clock;

    use super::*;
    use crate::testing::MemoryEngine;
    use crate::{Store, Transaction};

    fn key() -> MacKey {
        MacKey::new(&[7; 32])
    }

    /// A store with a few rows, and its image.
    fn image() -> Image {
        let store = Store::start(Box::new(MemoryEngine::new()), key(), &Clock::system()).unwrap();
        for number in 0..5_u8 {
            let tenant = TenantId::from_bytes([number; 16]);
            let order = Transaction::new().insert(Table::Keys, [number], tenant, [number; 3]);
            store.transact(order).unwrap();
        }
        let other = Transaction::new().insert(Table::Policies, "policy", TenantId::NONE, "{}");
        store.transact(other).unwrap();
        store.image().unwrap()
    }

    fn rows_of(image: &Image) -> Vec<NewRow> {
        let rows = image.rows().map(|(table, row)| NewRow {
            table,
            key: row.key.clone(),
            tenant: row.tenant,
            body: row.body.clone(),
        });
        rows.collect()
    }

    #[test]
    fn an_image_is_proven_by_its_own_key_alone() {
        let image = image();
        assert!(image.is_complete());
        assert!(image.clone().prove(key()).is_ok());
        let other = image.clone().prove(MacKey::new(&[8; 32]));
        assert_eq!(other.unwrap_err(), Error::SummaryAltered);
        assert!(Image::default().prove(key()).is_err());
    }

    #[test]
    fn a_row_that_was_changed_removed_added_or_moved_shows() {
        let image = image();
        for (table, row) in image.rows() {
            let mut changed = image.clone();
            let mut body = row.body.clone();
            body.push(b'x');
            let row = Row {
                body,
                ..row.clone()
            };
            changed.0.insert((table, row.key.clone()), row.clone());
            assert!(changed.prove(key()).is_err(), "{table} changed");
            let mut removed = image.clone();
            removed.0.remove(&(table, row.key.clone()));
            assert_eq!(removed.is_complete(), row.key == EPOCH_KEY);
            assert!(removed.prove(key()).is_err(), "{table} removed");
        }
        let mut added = image.clone();
        let first = image.table(Table::Keys).next().unwrap().clone();
        let added_key = Row {
            key: b"other".to_vec(),
            ..first
        };
        added.0.insert((Table::Keys, b"other".to_vec()), added_key);
        assert!(!added.is_complete() && added.prove(key()).is_err());
        let twice = image.rows().chain(image.rows());
        let twice = Image::new(twice.map(|(table, row)| (table, row.clone())));
        assert!(matches!(twice, Err(Error::RepeatedRow { .. })));
    }

    #[test]
    fn what_is_founded_starts_at_the_new_epoch_and_nowhere_else() {
        let proven = image().prove(key()).unwrap();
        let rows = rows_of(proven.image());
        let mut engine = MemoryEngine::new();
        for epoch in [0, 5, 6] {
            let refused = proven.found(&mut engine, &rows, epoch);
            assert_eq!(refused, Err(Error::Conflict { table: Table::Meta }));
        }
        proven.found(&mut engine, &rows, 40).unwrap();
        let again = proven.found(&mut engine, &rows, 41);
        assert_eq!(again, Err(Error::Exists { table: Table::Meta }));
        let store = Store::start(Box::new(engine), key(), &Clock::system()).unwrap();
        assert_eq!((store.epoch(), store.verification().rows), (40, 6));
        let row = store.get(Table::Keys, &[3]).unwrap().unwrap();
        assert_eq!(
            (row.tenant, row.body),
            (TenantId::from_bytes([3; 16]), vec![3; 3])
        );
        let mut twice = rows.clone();
        twice.extend(rows);
        let twice = proven.found(&mut MemoryEngine::new(), &twice, 40);
        assert!(matches!(twice, Err(Error::RepeatedRow { .. })));
    }
}
