//! Row MACs and the summary (design 7.15); the crate's front page says what they detect.

use keywright_encoding::Reader;
use keywright_primitives::mac::{Mac, MacKey};
use keywright_secret::{ct_eq, wipe};
use keywright_types::TenantId;

use crate::engine::SUMMARY_KEY;
use crate::{Error, Row, RowKey, Table};

/// The keys of one store.
pub(crate) struct Integrity {
    rows: MacKey,
    set: MacKey,
    summary: MacKey,
}

impl Integrity {
    /// Derives the two inner keys from the row key.
    ///
    /// Their labels begin with a letter and the text under a row MAC with the zero byte of a length,
    /// so no row can be made whose MAC is one of them.
    pub(crate) fn new(rows: MacKey) -> Self {
        let derive = |label: &[u8]| {
            let mut bytes = rows.mac(label);
            let key = MacKey::new(&bytes);
            wipe(&mut bytes);
            key
        };
        Self {
            set: derive(b"keywright/store/set/v1"),
            summary: derive(b"keywright/store/summary/v1"),
            rows,
        }
    }

    /// The row MAC: over lp(table name) + lp(key) + tenant + revision + epoch + lp(body).
    pub(crate) fn row_mac(&self, table: Table, row: &Row) -> Result<Mac, Error> {
        let length = |bytes: &[u8]| match u32::try_from(bytes.len()) {
            Ok(length) => Ok(length.to_be_bytes()),
            Err(_) => Err(Error::TooLong { table }),
        };
        let name = table.name().as_bytes();
        Ok(self.rows.mac_pieces(&[
            &length(name)?,
            name,
            &length(&row.key)?,
            &row.key,
            row.tenant.as_bytes(),
            &row.revision.to_be_bytes(),
            &row.epoch.to_be_bytes(),
            &length(&row.body)?,
            &row.body,
        ]))
    }

    /// Refuses a row of a protected table that does not fit its MAC.
    pub(crate) fn check_row(&self, table: Table, row: &Row) -> Result<(), Error> {
        if table == Table::Meta || ct_eq(&self.row_mac(table, row)?, &row.mac) {
            return Ok(());
        }
        Err(Error::RowAltered {
            table,
            key: RowKey::from_vec(row.key.clone()),
        })
    }

    /// What a row adds to its table's sum.
    fn tag(&self, row: &Row) -> [u64; 4] {
        limbs(&self.set.mac(&row.mac))
    }

    /// The check over epoch and revision, which stands before those of the tables.
    fn head_check(&self, summary: &Summary) -> Mac {
        self.summary.mac_pieces(&[
            b"head",
            &summary.epoch.to_be_bytes(),
            &summary.revision.to_be_bytes(),
        ])
    }

    /// The check over one table's tally, tied to the same epoch and revision.
    fn table_check(&self, summary: &Summary, table: Table, tally: &Tally) -> Mac {
        let name = table.name().as_bytes();
        let mut sum = [0; 32];
        sum.chunks_exact_mut(8)
            .zip(tally.sum)
            .for_each(|(bytes, limb)| bytes.copy_from_slice(&limb.to_be_bytes()));
        // All fields but the name, which is the last, have fixed lengths: the joining is injective.
        self.summary.mac_pieces(&[
            b"rows",
            &summary.epoch.to_be_bytes(),
            &summary.revision.to_be_bytes(),
            &tally.count.to_be_bytes(),
            &sum,
            name,
        ])
    }
}

/// How many rows a table has, and the sum of their tags mod 2^256, lowest limb first.
#[derive(Clone, Default, PartialEq, Eq)]
struct Tally {
    count: u64,
    sum: [u64; 4],
}

/// What the store thread knows about all rows together.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Summary {
    /// The state epoch.
    pub(crate) epoch: u64,
    /// The revision of the summary's own row; 0 before its first write.
    pub(crate) revision: u64,
    tables: [Tally; Table::PROTECTED.len()],
}

impl Summary {
    /// The summary of a store without rows.
    pub(crate) fn empty(epoch: u64, revision: u64) -> Self {
        Self {
            epoch,
            revision,
            tables: Default::default(),
        }
    }

    /// The number of rows of all protected tables.
    pub(crate) fn rows(&self) -> u64 {
        self.tables.iter().map(|tally| tally.count).sum()
    }

    /// Counts a row in. Rows of `meta` are not counted.
    pub(crate) fn add(&mut self, integrity: &Integrity, table: Table, row: &Row) {
        if let Some(tally) = self.tally(table) {
            tally.count = tally.count.wrapping_add(1);
            tally.sum = add(tally.sum, integrity.tag(row));
        }
    }

    /// Counts a row out.
    pub(crate) fn remove(&mut self, integrity: &Integrity, table: Table, row: &Row) {
        if let Some(tally) = self.tally(table) {
            tally.count = tally.count.wrapping_sub(1);
            tally.sum = subtract(tally.sum, integrity.tag(row));
        }
    }

    fn tally(&mut self, table: Table) -> Option<&mut Tally> {
        self.tables.get_mut(table.protected_index()?)
    }

    /// The row of `meta`: head check, then count and check of each table.
    pub(crate) fn to_row(&self, integrity: &Integrity) -> Row {
        let mut body = integrity.head_check(self).to_vec();
        for (table, tally) in Table::PROTECTED.into_iter().zip(&self.tables) {
            body.extend_from_slice(&tally.count.to_be_bytes());
            body.extend_from_slice(&integrity.table_check(self, table, tally));
        }
        Row {
            key: SUMMARY_KEY.to_vec(),
            tenant: TenantId::NONE,
            revision: self.revision,
            epoch: self.epoch,
            body,
            mac: [0; 32],
        }
    }

    /// Refuses a summary row whose epoch or revision is not what was last written.
    ///
    /// Comes before the rows are read: under a wrong key nothing else would make sense.
    pub(crate) fn check_head(&self, integrity: &Integrity, row: &Row) -> Result<(), Error> {
        let head: &Mac = (Reader::new(&row.body).array()).map_err(|_| Error::SummaryAltered)?;
        if row.epoch == self.epoch && ct_eq(head, &integrity.head_check(self)) {
            Ok(())
        } else {
            Err(Error::SummaryAltered)
        }
    }

    /// Compares what was counted with what the summary row says, table by table.
    pub(crate) fn check_tables(&self, integrity: &Integrity, row: &Row) -> Result<(), Error> {
        let mut reader = Reader::new(&row.body);
        reader.array::<32>().map_err(|_| Error::SummaryAltered)?;
        for (table, tally) in Table::PROTECTED.into_iter().zip(&self.tables) {
            let count = reader.u64().map_err(|_| Error::SummaryAltered)?;
            let check: &Mac = reader.array().map_err(|_| Error::SummaryAltered)?;
            let expected = integrity.table_check(self, table, tally);
            if count != tally.count || !ct_eq(check, &expected) {
                return Err(Error::SetAltered { table });
            }
        }
        if reader.is_empty() {
            Ok(())
        } else {
            Err(Error::SummaryAltered)
        }
    }
}

fn limbs(mac: &Mac) -> [u64; 4] {
    let mut limbs = [0; 4];
    let (words, _) = mac.as_chunks::<8>();
    limbs
        .iter_mut()
        .zip(words)
        .for_each(|(limb, word)| *limb = u64::from_be_bytes(*word));
    limbs
}

fn add(a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
    let (mut sum, mut carry) = ([0; 4], false);
    for ((out, a), b) in sum.iter_mut().zip(a).zip(b) {
        let (partial, first) = a.overflowing_add(b);
        let (total, second) = partial.overflowing_add(u64::from(carry));
        (*out, carry) = (total, first || second);
    }
    sum
}

fn subtract(a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
    let (mut difference, mut borrow) = ([0; 4], false);
    for ((out, a), b) in difference.iter_mut().zip(a).zip(b) {
        let (partial, first) = a.overflowing_sub(b);
        let (total, second) = partial.overflowing_sub(u64::from(borrow));
        (*out, borrow) = (total, first || second);
    }
    difference
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: u8) -> Row {
        Row {
            key: vec![key],
            tenant: TenantId::NONE,
            revision: 1,
            epoch: 1,
            body: vec![key; 3],
            mac: [key; 32],
        }
    }

    #[test]
    fn sums_carry_over_all_limbs_and_wrap() {
        let top = [u64::MAX; 4];
        assert_eq!(add(top, [1, 0, 0, 0]), [0; 4]);
        assert_eq!(subtract([0; 4], [1, 0, 0, 0]), top);
        assert_eq!(add([u64::MAX, 0, 7, 0], [1, 0, 0, 0]), [0, 1, 7, 0]);
        assert_eq!(
            add([u64::MAX, u64::MAX, 0, 0], top),
            [u64::MAX - 1, u64::MAX, 0, 0]
        );
        for (a, b) in [(top, [3, 2, 1, 9]), ([0, 5, 0, 1], top), ([1; 4], [2; 4])] {
            assert_eq!(subtract(add(a, b), b), a);
        }
    }

    #[test]
    fn order_of_rows_does_not_matter_and_what_was_removed_leaves_no_trace() {
        let integrity = Integrity::new(MacKey::new(&[1; 32]));
        let (mut left, mut right) = (Summary::empty(1, 1), Summary::empty(1, 1));
        left.add(&integrity, Table::Keys, &row(1));
        left.add(&integrity, Table::Keys, &row(2));
        right.add(&integrity, Table::Keys, &row(2));
        right.add(&integrity, Table::Keys, &row(3));
        right.add(&integrity, Table::Keys, &row(1));
        assert!(left != right);
        right.remove(&integrity, Table::Keys, &row(3));
        assert!(left == right);
    }

    #[test]
    fn a_row_mac_covers_each_column_and_the_table() {
        let integrity = Integrity::new(MacKey::new(&[1; 32]));
        let base = row(1);
        let mac = integrity.row_mac(Table::Keys, &base).unwrap();
        let changed = |change: fn(&mut Row)| {
            let mut row = base.clone();
            change(&mut row);
            integrity.row_mac(Table::Keys, &row).unwrap()
        };
        assert_ne!(mac, integrity.row_mac(Table::Policies, &base).unwrap());
        assert_ne!(mac, changed(|row| row.key = vec![2]));
        assert_ne!(
            mac,
            changed(|row| row.tenant = TenantId::from_bytes([1; 16]))
        );
        assert_ne!(mac, changed(|row| row.revision = 2));
        assert_ne!(mac, changed(|row| row.epoch = 2));
        assert_ne!(mac, changed(|row| row.body = vec![1; 4]));
        assert_eq!(mac, changed(|row| row.mac = [0; 32]));
        let other = Integrity::new(MacKey::new(&[2; 32]));
        assert_ne!(mac, other.row_mac(Table::Keys, &base).unwrap());
    }

    /// Built by hand from the sentence of design 7.15, so that the layout cannot drift.
    #[test]
    fn the_row_mac_is_over_the_documented_bytes() {
        let key = MacKey::new(&[1; 32]);
        let mut text = vec![0, 0, 0, 4];
        text.extend_from_slice(b"keys\0\0\0\x01\x01");
        text.extend_from_slice(&[0; 16]);
        text.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]);
        text.extend_from_slice(&[0, 0, 0, 3, 1, 1, 1]);
        let expected = key.mac(&text);
        assert_eq!(
            Integrity::new(key).row_mac(Table::Keys, &row(1)),
            Ok(expected)
        );
    }

    #[test]
    fn a_cut_or_longer_summary_row_is_refused() {
        let integrity = Integrity::new(MacKey::new(&[1; 32]));
        let summary = Summary::empty(3, 4);
        let good = summary.to_row(&integrity);
        assert_eq!(summary.check_tables(&integrity, &good), Ok(()));
        for length in 0..good.body.len() {
            let mut cut = good.clone();
            cut.body.truncate(length);
            assert_eq!(
                summary.check_tables(&integrity, &cut),
                Err(Error::SummaryAltered)
            );
        }
        let mut longer = good;
        longer.body.push(0);
        assert_eq!(
            summary.check_tables(&integrity, &longer),
            Err(Error::SummaryAltered)
        );
    }
}
