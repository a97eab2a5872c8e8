//! Both engines pass the suite, and do the same on histories that nobody thought of.

use std::cell::RefCell;

use keywright_store::conformance::conformance;
use keywright_store::testing::{FaultyEngine, MemoryEngine};
use keywright_store::{Engine, Row, SqliteEngine, Table, Write};
use keywright_types::TenantId;
use tempfile::TempDir;

#[test]
fn the_memory_engine_conforms() {
    conformance(|| Box::new(MemoryEngine::new()));
}

#[test]
fn the_sqlite_engine_conforms() {
    let folders = RefCell::new(Vec::new());
    conformance(|| {
        let folder = TempDir::new().unwrap();
        let engine = SqliteEngine::open(&folder.path().join("store.db")).unwrap();
        folders.borrow_mut().push(folder);
        Box::new(engine)
    });
}

#[test]
fn an_engine_with_faults_conforms_while_none_is_ordered() {
    conformance(|| Box::new(FaultyEngine::new(Box::new(MemoryEngine::new())).0));
}

/// A small generator with a fixed seed: the same histories in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// A write that may or may not fit what is there.
    fn write(&mut self, key: u64, engine: &dyn Engine) -> Write {
        let table = [Table::Keys, Table::Heads, Table::Meta][self.below(3) as usize];
        let key = vec![key as u8; 1 + key as usize % 3];
        let expected = match self.below(3) {
            0 => self.below(3),
            _ => engine
                .get(table, &key)
                .unwrap()
                .map_or(0, |row| row.revision),
        };
        match self.below(4) {
            0 => Write::Delete {
                table,
                key,
                expected,
            },
            1 => Write::Require {
                table,
                key,
                expected,
            },
            _ => {
                let row = Row {
                    key,
                    tenant: TenantId::NONE,
                    revision: expected + 1,
                    epoch: self.below(9),
                    body: vec![self.below(256) as u8; self.below(40) as usize],
                    mac: [self.below(256) as u8; 32],
                };
                Write::Put {
                    table,
                    row,
                    expected,
                }
            }
        }
    }
}

#[test]
fn both_engines_agree_on_random_histories() {
    let folder = TempDir::new().unwrap();
    let mut sqlite = SqliteEngine::open(&folder.path().join("store.db")).unwrap();
    let mut memory = MemoryEngine::new();
    let mut dice = Dice(20_240_229);
    let (mut done, mut refused) = (0, 0);
    for _ in 0..1000 {
        let first = dice.below(6);
        let writes: Vec<_> = (0..1 + dice.below(2))
            .map(|step| dice.write((first + step) % 6, &memory))
            .collect();
        let epoch = memory.epoch().unwrap() + dice.below(3);
        let epoch = epoch.saturating_sub(u64::from(dice.below(10) == 0));
        let outcome = memory.apply(&writes, epoch);
        assert_eq!(sqlite.apply(&writes, epoch), outcome, "{writes:?}");
        if outcome.is_ok() {
            done += 1;
        } else {
            refused += 1;
        }
        assert_eq!(sqlite.epoch(), memory.epoch());
    }
    for table in Table::ALL {
        let rows = memory.range(table, b"", None, 1000);
        assert_eq!(sqlite.range(table, b"", None, 1000), rows);
    }
    assert!(
        done > 150 && refused > 150,
        "{done} done, {refused} refused"
    );
}
