//! Which operations of a token are measured, and what they are called.

use keywright_targets::operation::{Make, Operation};
use keywright_targets::suite;
use keywright_targets::token::{NamedKey, OPERATIONS, SEED_ROWS, Shape, Task};

use super::TARGET;
use super::flags::TokenFlags;
use crate::bench::ready::Chosen;
use crate::exit::{Exit, Failure};

/// What the call that does nothing is called.
pub(super) const NULL: &str = "Null call";
const NULL_OPERATION: &str = "pkcs11.null";

/// A row of the result.
pub(super) struct Row {
    pub(super) chosen: Chosen,
}

/// The sizes of the published benchmark, and what it calls them. Its kilobyte has 1,024 bytes.
const SIZES: [(u64, &str); 4] = [
    (1 << 10, "1KB"),
    (10 << 10, "10KB"),
    (100 << 10, "100KB"),
    (1 << 20, "1MB"),
];

impl Row {
    fn new(operation: &Operation, id: &str) -> Self {
        Self {
            chosen: Chosen {
                operation: *operation,
                id: id.to_owned(),
            },
        }
    }

    /// Whether nothing else can be measured beside it.
    pub(super) fn is_alone(&self) -> bool {
        matches!(self.task(), Some(Task::Login))
    }

    fn task(&self) -> Option<Task> {
        match self.chosen.operation.make {
            Make::Token(Shape { task, .. }) => Some(task),
            _ => None,
        }
    }

    /// The name without the size, for rows that come in several.
    pub(super) fn stem(&self) -> Option<&str> {
        let (stem, size) = self.chosen.id.rsplit_once(" (")?;
        let size = size.strip_suffix(')')?;
        SIZES
            .iter()
            .any(|(_, known)| *known == size)
            .then_some(stem)
    }

    /// The same in another size.
    fn resized(&self, (bytes, size): (u64, &str)) -> Option<Self> {
        let stem = self.stem()?;
        let sized = |row: &&Operation| {
            row.bytes == bytes
                && matches!((row.make, self.task()), (Make::Token(shape), Some(task)) if shape.task == task)
        };
        let own = self.chosen.operation.name.starts_with("pkcs11.named.");
        let listed = OPERATIONS.iter().find(sized).filter(|_| !own);
        let operation = Operation {
            bytes,
            ..listed.copied().unwrap_or(self.chosen.operation)
        };
        Some(Self::new(&operation, &format!("{stem} ({size})")))
    }
}

/// The rows that the flags ask for.
pub(super) fn chosen(flags: &TokenFlags, key: Option<&NamedKey>) -> Result<Vec<Row>, Failure> {
    let mut rows = match key {
        Some(key) => {
            let row = |(operation, id): &(Operation, String)| Row::new(operation, id);
            key.rows.iter().map(row).collect()
        }
        None if flags.ops.is_empty() => table(flags),
        None => named(flags)?,
    };
    if flags.data_sizes {
        sized(&mut rows, key)?;
    }
    if flags.split
        && rows.iter().all(|row| row.chosen.id != NULL)
        && let Some(null) = OPERATIONS.iter().find(|row| row.name == NULL_OPERATION)
    {
        rows.push(Row::new(null, NULL));
    }
    Ok(rows)
}

fn table(flags: &TokenFlags) -> Vec<Row> {
    let find = |name: &str| OPERATIONS.iter().find(|row| row.name == name);
    let seed = SEED_ROWS
        .iter()
        .filter_map(|(title, name)| Some(Row::new(find(name)?, title)));
    let mut rows: Vec<Row> = seed.collect();
    if !flags.all {
        return rows;
    }
    for operation in OPERATIONS {
        let known = |row: &Row| row.chosen.operation.name == operation.name;
        // Sizes are asked for by their own flag.
        let sized = operation.bytes > 1 << 10;
        if !sized && !rows.iter().any(known) {
            let id = if operation.name == NULL_OPERATION {
                NULL
            } else {
                operation.name
            };
            rows.push(Row::new(operation, id));
        }
    }
    rows
}

/// The operation of a name, short or in full.
fn operation(name: &str, flags: &TokenFlags) -> Result<Operation, Failure> {
    let table: Vec<&Operation> = OPERATIONS.iter().collect();
    let found = suite::choose(&table, name, Some(&flags.of), None);
    found.map(|(operation, _)| operation).map_err(|problem| {
        Failure::new(
            Exit::NotFound,
            problem.to_string(),
            "see `keywright bench list ops`, or name the key with --of",
        )
    })
}

fn named(flags: &TokenFlags) -> Result<Vec<Row>, Failure> {
    let mut rows: Vec<Row> = Vec::new();
    for name in &flags.ops {
        let title = SEED_ROWS.iter().find(|(title, _)| title == name);
        let operation = operation(title.map_or(name, |(_, name)| name), flags)?;
        let title = SEED_ROWS.iter().find(|(_, known)| *known == operation.name);
        let row = Row::new(&operation, title.map_or(operation.name, |(title, _)| title));
        if rows.iter().any(|other| other.chosen.id == row.chosen.id) {
            return Err(Failure::new(
                Exit::Usage,
                format!("{} is named twice", row.chosen.id),
                "name it once; --runs says how often it is run",
            ));
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Adds the sizes that are not there yet. Decryption of a named key comes in one size.
fn sized(rows: &mut Vec<Row>, key: Option<&NamedKey>) -> Result<(), Failure> {
    let first = |row: &&Row| {
        matches!(
            row.task(),
            Some(Task::Seal(_) | Task::Hash(keywright_hsm::Hash::Sha256))
        )
    };
    let mut added = Vec::new();
    for row in rows.iter().filter(first) {
        let sizes = SIZES.into_iter().filter_map(|size| row.resized(size));
        added.extend(sizes.filter(|one| one.chosen.id != row.chosen.id));
    }
    if added.is_empty() && key.is_some() {
        return Err(Failure::new(
            Exit::Usage,
            "the key that is named encrypts nothing of several sizes",
            "leave out --data-sizes, or name an AES key that encrypts",
        ));
    }
    rows.extend(added);
    Ok(())
}

/// The parts of the mix.
pub(super) fn mix(flags: &TokenFlags) -> Result<Vec<(Operation, f64)>, Failure> {
    let part = |(name, weight): &(String, f64)| {
        let operation = operation(name, flags)?;
        if matches!(
            operation.make,
            Make::Token(Shape {
                task: Task::Login,
                ..
            })
        ) {
            return Err(Failure::new(
                Exit::Usage,
                "log-in cannot be mixed: it logs every other operation out",
                format!("measure it as a row: --ops {TARGET}.login"),
            ));
        }
        Ok((operation, *weight))
    };
    flags.mix.iter().map(part).collect()
}
