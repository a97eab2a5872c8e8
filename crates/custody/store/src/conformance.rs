//! What every engine must do, as a suite that a test calls with a way to make an empty engine.
//!
//! Durability across a crash is not in it: that needs to know how the engine is opened again.
#![expect(
    clippy::expect_used,
    reason = "a suite for tests: a failed step is a failed test"
)]

use keywright_types::TenantId;

use crate::engine::EPOCH_KEY;
use crate::{Engine, Error, Row, Table, Write, epoch_row, read_meta, write_meta};

/// Runs the whole suite; `make` returns an empty engine of its own each time.
///
/// # Panics
/// If the engine does not conform.
pub fn conformance(make: impl Fn() -> Box<dyn Engine>) {
    a_new_engine_is_empty(&*make());
    rows_come_back_as_they_were_put(&mut *make());
    tables_do_not_see_each_other(&mut *make());
    each_write_is_compared_and_set(&mut *make());
    a_failed_transaction_leaves_nothing(&mut *make());
    the_epoch_rises_with_the_writes_and_never_falls(&mut *make());
    ranges_are_ordered_bounded_and_resumable(&mut *make());
    meta_is_written_without_the_epoch(&mut *make());
    numbers_end_where_columns_end(&mut *make());
}

fn a_new_engine_is_empty(engine: &dyn Engine) {
    assert_eq!(engine.epoch(), Ok(0));
    for table in Table::ALL {
        assert_eq!(engine.range(table, b"", None, 10), Ok(Vec::new()));
        assert_eq!(engine.get(table, b""), Ok(None));
    }
}

fn rows_come_back_as_they_were_put(engine: &mut dyn Engine) {
    let every_byte: Vec<u8> = (0..=255).collect();
    let rows = [
        row(b"", 1, b""),
        row(&[0], 1, &[0; 3]),
        row(&every_byte, 1, &every_byte),
        row(&[0xFF; 64], 1, &vec![0x5A; 1 << 20]),
        row("text \u{e9}'; --".as_bytes(), 1, b"'"),
    ];
    for row in &rows {
        assert_eq!(apply(engine, [put(Table::Keys, row, 0)]), Ok(()));
    }
    for row in &rows {
        assert_eq!(engine.get(Table::Keys, &row.key), Ok(Some(row.clone())));
    }
    let changed = Row {
        tenant: TenantId::from_bytes([9; 16]),
        revision: 2,
        epoch: 8,
        body: b"other".to_vec(),
        mac: [3; 32],
        ..row(b"", 1, b"")
    };
    assert_eq!(apply(engine, [put(Table::Keys, &changed, 1)]), Ok(()));
    assert_eq!(engine.get(Table::Keys, b""), Ok(Some(changed)));
}

fn tables_do_not_see_each_other(engine: &mut dyn Engine) {
    for table in Table::ALL {
        let body = table.name().as_bytes();
        let write = put(table, &row(b"key", 1, body), 0);
        assert_eq!(apply(engine, [write]), Ok(()));
    }
    assert_eq!(apply(engine, [delete(Table::Keys, b"key", 1)]), Ok(()));
    for table in Table::ALL {
        let found = engine.get(table, b"key").expect("the engine reads");
        let expected = (table != Table::Keys).then(|| row(b"key", 1, table.name().as_bytes()));
        assert_eq!(found, expected);
    }
}

fn each_write_is_compared_and_set(engine: &mut dyn Engine) {
    let table = Table::Policies;
    let conflict = Err(Error::Conflict { table });
    assert_eq!(
        apply(engine, [put(table, &row(b"a", 2, b"x"), 1)]),
        conflict
    );
    assert_eq!(apply(engine, [delete(table, b"a", 1)]), conflict);
    assert_eq!(apply(engine, [delete(table, b"a", 0)]), conflict);
    assert_eq!(apply(engine, [require(table, b"a", 1)]), conflict);
    assert_eq!(apply(engine, [require(table, b"a", 0)]), Ok(()));

    let first = row(b"a", 1, b"x");
    assert_eq!(apply(engine, [put(table, &first, 0)]), Ok(()));
    let exists = Err(Error::Exists { table });
    assert_eq!(apply(engine, [put(table, &first, 0)]), exists);
    assert_eq!(apply(engine, [require(table, b"a", 0)]), conflict);
    assert_eq!(apply(engine, [require(table, b"a", 1)]), Ok(()));

    let second = row(b"a", 2, b"y");
    assert_eq!(apply(engine, [put(table, &second, 1)]), Ok(()));
    assert_eq!(apply(engine, [put(table, &second, 1)]), conflict);
    assert_eq!(apply(engine, [delete(table, b"a", 1)]), conflict);
    assert_eq!(apply(engine, [delete(table, b"a", 3)]), conflict);
    assert_eq!(engine.get(table, b"a"), Ok(Some(second)));
    assert_eq!(apply(engine, [delete(table, b"a", 2)]), Ok(()));
    assert_eq!(engine.get(table, b"a"), Ok(None));
    assert_eq!(apply(engine, [put(table, &first, 0)]), Ok(()));
}

fn a_failed_transaction_leaves_nothing(engine: &mut dyn Engine) {
    let kept = row(b"kept", 1, b"old");
    assert_eq!(engine.apply(&[put(Table::Keys, &kept, 0)], 1), Ok(()));
    let good = || {
        vec![
            put(Table::Keys, &row(b"kept", 2, b"new"), 1),
            put(Table::Tenants, &row(b"t", 1, b""), 0),
            put(Table::Meta, &row(b"m", 1, b""), 0),
        ]
    };
    let bad = [
        (put(Table::Heads, &row(b"h", 2, b""), 1), Table::Heads),
        (delete(Table::Intents, b"i", 4), Table::Intents),
        (require(Table::Approvals, b"p", 1), Table::Approvals),
    ];
    for (write, table) in bad {
        // The bad write comes last and first: neither what it follows nor what follows it may stay.
        let mut writes = good();
        writes.push(write);
        for _ in 0..2 {
            assert_eq!(engine.apply(&writes, 2), Err(Error::Conflict { table }));
            writes.rotate_right(1);
        }
    }
    assert_eq!(engine.epoch(), Ok(1));
    assert_eq!(engine.get(Table::Keys, b"kept"), Ok(Some(kept)));
    assert_eq!(engine.get(Table::Tenants, b"t"), Ok(None));
    assert_eq!(engine.get(Table::Meta, b"m"), Ok(None));
    assert_eq!(engine.apply(&good(), 2), Ok(()));
}

fn the_epoch_rises_with_the_writes_and_never_falls(engine: &mut dyn Engine) {
    let write = |key: &[u8]| [put(Table::Keys, &row(key, 1, b""), 0)];
    assert_eq!(engine.apply(&write(b"a"), 1), Ok(()));
    assert_eq!(engine.epoch(), Ok(1));
    assert_eq!(engine.apply(&write(b"b"), 1), Ok(()));
    assert_eq!(engine.epoch(), Ok(1));
    assert_eq!(engine.apply(&[], 2), Ok(()));
    assert_eq!(engine.apply(&write(b"c"), 1 << 40), Ok(()));
    assert_eq!(engine.epoch(), Ok(1 << 40));
    let lower = engine.apply(&write(b"d"), (1 << 40) - 1);
    assert_eq!(lower, Err(Error::Conflict { table: Table::Meta }));
    assert_eq!(engine.get(Table::Keys, b"d"), Ok(None));
    assert_eq!(engine.epoch(), Ok(1 << 40));
    assert_eq!(
        engine.get(Table::Meta, EPOCH_KEY),
        Ok(Some(epoch_row(1 << 40)))
    );
}

fn ranges_are_ordered_bounded_and_resumable(engine: &mut dyn Engine) {
    let table = Table::KeyVersions;
    let mut keys: Vec<Vec<u8>> = (0..200_u8).map(|i| vec![b'k', i]).collect();
    keys.extend([
        b"".to_vec(),
        b"j".to_vec(),
        b"k".to_vec(),
        b"k\0\0".to_vec(),
    ]);
    keys.extend([b"l".to_vec(), vec![0xFF], vec![0xFF; 3]]);
    for key in keys.iter().rev() {
        assert_eq!(apply(engine, [put(table, &row(key, 1, key), 0)]), Ok(()));
    }
    keys.sort();
    for prefix in [
        &b""[..],
        b"k",
        b"k\0",
        b"j",
        b"m",
        &[0xFF],
        &[0xFF; 3],
        &[0xFF; 4],
    ] {
        let expected: Vec<_> = keys.iter().filter(|key| key.starts_with(prefix)).collect();
        for limit in [1, 2, 7, 1000] {
            let found = walk(engine, table, prefix, limit);
            assert!(
                found.iter().eq(expected.iter().copied()),
                "{prefix:?} by {limit}"
            );
        }
    }
    let read = |prefix: &[u8], after: &[u8], limit| {
        let rows = engine.range(table, prefix, Some(after), limit);
        rows.expect("the engine reads").len()
    };
    assert_eq!(
        read(b"k", b"a", 1000),
        202,
        "a start before the prefix changes nothing"
    );
    assert_eq!(
        read(b"k", b"l", 1000),
        0,
        "a start behind the prefix leaves nothing"
    );
    assert_eq!(
        read(b"k", &[b'k', 198, 7], 1000),
        1,
        "a start need not be a key"
    );
    assert_eq!(read(b"", b"a", 0), 0);
    assert_eq!(engine.range(Table::Keys, b"", None, 1000), Ok(Vec::new()));
}

fn walk(engine: &dyn Engine, table: Table, prefix: &[u8], limit: usize) -> Vec<Vec<u8>> {
    let mut found: Vec<Vec<u8>> = Vec::new();
    loop {
        let after = found.last().map(Vec::as_slice);
        let page = engine.range(table, prefix, after, limit);
        let page = page.expect("the engine reads");
        assert!(page.len() <= limit);
        let is_last = page.len() < limit;
        found.extend(page.into_iter().map(|row| row.key));
        if is_last {
            return found;
        }
    }
}

fn meta_is_written_without_the_epoch(engine: &mut dyn Engine) {
    assert_eq!(read_meta(engine, b"sealed"), Ok(None));
    assert_eq!(write_meta(engine, b"sealed", b"one"), Ok(()));
    assert_eq!(write_meta(engine, b"sealed", b"two"), Ok(()));
    assert_eq!(read_meta(engine, b"sealed"), Ok(Some(b"two".to_vec())));
    assert_eq!(engine.epoch(), Ok(0));
    let table = Table::Meta;
    for key in [&b"epoch"[..], b"summary"] {
        let refused = write_meta(engine, key, b"x");
        assert_eq!(refused, Err(Error::ReservedRow { table }));
    }
    let too_long = write_meta(engine, &[1; 4096], b"x");
    assert_eq!(too_long, Err(Error::TooLong { table }));
}

fn numbers_end_where_columns_end(engine: &mut dyn Engine) {
    const LAST: u64 = i64::MAX.unsigned_abs();
    let table = Table::Heads;
    let last = Row {
        epoch: LAST,
        ..row(b"a", LAST, b"")
    };
    assert_eq!(apply(engine, [put(table, &last, 0)]), Ok(()));
    assert_eq!(engine.get(table, b"a"), Ok(Some(last)));
    assert_eq!(engine.apply(&[], LAST), Ok(()));
    assert_eq!(engine.epoch(), Ok(LAST));
}

/// Applies at the epoch that is.
fn apply<const N: usize>(engine: &mut dyn Engine, writes: [Write; N]) -> Result<(), Error> {
    let epoch = engine.epoch()?;
    engine.apply(&writes, epoch)
}

fn row(key: &[u8], revision: u64, body: &[u8]) -> Row {
    Row {
        key: key.to_vec(),
        tenant: TenantId::from_bytes([7; 16]),
        revision,
        epoch: 1,
        body: body.to_vec(),
        mac: [0xA5; 32],
    }
}

fn put(table: Table, row: &Row, expected: u64) -> Write {
    Write::Put {
        table,
        row: row.clone(),
        expected,
    }
}

fn delete(table: Table, key: &[u8], expected: u64) -> Write {
    Write::Delete {
        table,
        key: key.to_vec(),
        expected,
    }
}

fn require(table: Table, key: &[u8], expected: u64) -> Write {
    Write::Require {
        table,
        key: key.to_vec(),
        expected,
    }
}
