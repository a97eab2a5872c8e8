//! The embedded engine: one SQLite file, one connection, one process at a time.
//!
//! The file says what it is (`application_id`) and how it is laid out (`user_version`). Its tables
//! are the ones written here, word by word: a trigger, view or generated column that someone added
//! makes opening fail, because it could change what a read answers.
//!
//! Tables are `WITHOUT ROWID`, so that the primary key *is* the table: there is no second index that
//! could disagree with it.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use keywright_primitives::mac::Mac;
use keywright_types::TenantId;
use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql, TransactionBehavior};

use crate::engine::epoch_row;
use crate::{Engine, Error, Row, RowKey, Table, Write, turn};

/// "KWst" in the header of the file.
const APPLICATION_ID: i64 = 0x4B57_7374;
/// The number of the layout below.
const SCHEMA: i64 = 1;
/// How long opening waits for another process. The lock is held while a process lives, so waiting
/// longer would help only against one that is just ending.
const BUSY_TIMEOUT: Duration = Duration::from_millis(250);
/// Six kinds of statement for each table.
const CACHED_STATEMENTS: usize = 6 * Table::ALL.len();
/// Read and written by the owner, by nobody else.
const OWNER_ONLY: u32 = 0o600;
const COLUMNS: &str = "key, tenant, revision, epoch, body, mac";

/// Closing any descriptor of a file drops all POSIX locks that the process holds on it. Creating the
/// file needs a descriptor of our own, so nobody may go on to SQLite's lock before that one is closed.
static CREATING: Mutex<()> = Mutex::new(());

/// An [`Engine`] on a SQLite file.
#[derive(Debug)]
pub struct SqliteEngine {
    connection: Connection,
}

impl SqliteEngine {
    /// Opens the database, or creates it with mode 0600 in a folder that exists.
    ///
    /// The file is locked until the engine is dropped. This process must not open it by other means
    /// meanwhile, not even to copy it: closing such a descriptor would drop the lock. Of several that open it at
    /// once, one has it.
    ///
    /// # Errors
    /// [`Error::Busy`] if it is open already, [`Error::NotOurs`] if it is another program's,
    /// [`Error::NewerSchema`], [`Error::Corrupt`], [`Error::Full`], [`Error::Io`].
    pub fn open(path: &Path) -> Result<Self, Error> {
        let _turn = turn::wait(path);
        let path = create_file(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags).map_err(failure)?;
        let mut engine = Self { connection };
        engine.configure().map_err(opening_failure)?;
        engine.identify()?;
        engine.use_log().map_err(failure)?;
        restrict(&path)?;
        Ok(engine)
    }

    fn configure(&self) -> rusqlite::Result<()> {
        let connection = &self.connection;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.execute_batch(
            "PRAGMA locking_mode = EXCLUSIVE;
             PRAGMA synchronous = FULL;
             PRAGMA foreign_keys = OFF;
             PRAGMA cell_size_check = ON;
             PRAGMA mmap_size = 0;
             PRAGMA temp_store = MEMORY;
             PRAGMA secure_delete = ON;
             PRAGMA journal_size_limit = 4194304;",
        )
    }

    /// Lays out an empty file; accepts a database of ours; refuses anything else untouched.
    fn identify(&mut self) -> Result<(), Error> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Exclusive)
            .map_err(opening_failure)?;
        let application = pragma(&transaction, "application_id")?;
        let schema = pragma(&transaction, "user_version")?;
        let objects = objects(&transaction)?;
        match (application, schema) {
            (0, 0) if objects.is_empty() => {
                let layout = layout().join(";\n");
                transaction
                    .execute_batch(&format!(
                        "{layout};
                         PRAGMA application_id = {APPLICATION_ID};
                         PRAGMA user_version = {SCHEMA};"
                    ))
                    .map_err(failure)?;
            }
            (APPLICATION_ID, SCHEMA) if objects == layout() => {}
            (APPLICATION_ID, found) if found > SCHEMA => {
                return Err(Error::NewerSchema {
                    found,
                    supported: SCHEMA,
                });
            }
            (APPLICATION_ID, _) => return Err(Error::Corrupt),
            _ => return Err(Error::NotOurs),
        }
        transaction.commit().map_err(failure)
    }

    fn use_log(&self) -> rusqlite::Result<()> {
        self.connection
            .pragma_update_and_check(None, "journal_mode", "WAL", |row| {
                match row.get_ref(0)?.as_str() {
                    Ok("wal") => Ok(()),
                    _ => Err(rusqlite::Error::InvalidQuery),
                }
            })
    }

    fn query(&self, table: Table, sql: &str, values: &[&dyn ToSql]) -> Result<Vec<Row>, Error> {
        let mut statement = self.connection.prepare_cached(sql).map_err(failure)?;
        let mut rows = statement.query(values).map_err(failure)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(failure)? {
            found.push(read_row(table, row)?);
        }
        Ok(found)
    }
}

impl Engine for SqliteEngine {
    fn get(&self, table: Table, key: &[u8]) -> Result<Option<Row>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM {table} WHERE key = ?1");
        Ok(self.query(table, &sql, &[&key])?.pop())
    }

    fn scrub(&mut self) -> Result<(), Error> {
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        let busy: i64 = self
            .connection
            .query_row(sql, [], |row| row.get(0))
            .map_err(failure)?;
        if busy == 0 { Ok(()) } else { Err(Error::Busy) }
    }

    fn range(
        &self,
        table: Table,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, Error> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        // The least byte string greater than `after` is `after` with a zero byte.
        let start = after
            .map(|after| [after, &[0]].concat())
            .map_or_else(|| prefix.to_vec(), |next| next.max(prefix.to_vec()));
        let select = format!("SELECT {COLUMNS} FROM {table} WHERE key >= ?1");
        match end_of(prefix) {
            Some(end) => {
                let sql = format!("{select} AND key < ?2 ORDER BY key LIMIT ?3");
                self.query(table, &sql, &[&start, &end, &limit])
            }
            None => {
                let sql = format!("{select} ORDER BY key LIMIT ?2");
                self.query(table, &sql, &[&start, &limit])
            }
        }
    }

    fn apply(&mut self, writes: &[Write], new_epoch: u64) -> Result<(), Error> {
        let epoch = self.epoch()?;
        if new_epoch < epoch {
            return Err(Error::Conflict { table: Table::Meta });
        }
        // Dropped without a commit, it rolls back.
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failure)?;
        for write in writes {
            apply_one(&transaction, write)?;
        }
        if new_epoch > epoch {
            let row = epoch_row(new_epoch);
            put(&transaction, "INSERT OR REPLACE INTO", Table::Meta, &row)?;
        }
        transaction.commit().map_err(failure)
    }
}

// === Steps of a transaction ===

fn apply_one(connection: &Connection, write: &Write) -> Result<(), Error> {
    match write {
        Write::Put {
            table,
            row,
            expected: 0,
        } => put(connection, "INSERT INTO", *table, row),
        Write::Put {
            table,
            row,
            expected,
        } => replace(connection, *table, row, *expected),
        Write::Delete {
            table,
            key,
            expected,
        } => {
            let sql = format!("DELETE FROM {table} WHERE key = ?1 AND revision = ?2");
            let expected = signed(*table, *expected)?;
            changed_one(connection, *table, &sql, &[key, &expected])
        }
        Write::Require {
            table,
            key,
            expected,
        } => require(connection, *table, key, *expected),
    }
}

fn put(connection: &Connection, verb: &str, table: Table, row: &Row) -> Result<(), Error> {
    let sql = format!("{verb} {table} ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    changed_one(
        connection,
        table,
        &sql,
        &[
            &row.key,
            row.tenant.as_bytes(),
            &signed(table, row.revision)?,
            &signed(table, row.epoch)?,
            &row.body,
            &row.mac,
        ],
    )
}

fn replace(connection: &Connection, table: Table, row: &Row, expected: u64) -> Result<(), Error> {
    let sql = format!(
        "UPDATE {table} SET tenant = ?2, revision = ?3, epoch = ?4, body = ?5, mac = ?6 \
         WHERE key = ?1 AND revision = ?7"
    );
    changed_one(
        connection,
        table,
        &sql,
        &[
            &row.key,
            row.tenant.as_bytes(),
            &signed(table, row.revision)?,
            &signed(table, row.epoch)?,
            &row.body,
            &row.mac,
            &signed(table, expected)?,
        ],
    )
}

fn require(connection: &Connection, table: Table, key: &[u8], expected: u64) -> Result<(), Error> {
    let sql = format!("SELECT revision FROM {table} WHERE key = ?1");
    let mut statement = connection.prepare_cached(&sql).map_err(failure)?;
    let mut rows = statement.query([key]).map_err(failure)?;
    let found = match rows.next().map_err(failure)? {
        Some(row) => row.get::<_, i64>(0).map_err(failure)?,
        None => 0,
    };
    if found == signed(table, expected)? {
        Ok(())
    } else {
        Err(Error::Conflict { table })
    }
}

fn changed_one(
    connection: &Connection,
    table: Table,
    sql: &str,
    values: &[&dyn ToSql],
) -> Result<(), Error> {
    let mut statement = connection.prepare_cached(sql).map_err(failure)?;
    match statement.execute(values) {
        Ok(1) => Ok(()),
        Ok(_) => Err(Error::Conflict { table }),
        // The only constraint that typed values can break is the primary key.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            Err(Error::Exists { table })
        }
        Err(error) => Err(failure(error)),
    }
}

// === The file and its layout ===

/// Makes sure that the file exists. A new one is its owner's alone.
fn create_file(path: &Path) -> Result<PathBuf, Error> {
    let _creating = CREATING.lock().unwrap_or_else(PoisonError::into_inner);
    let created = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(OWNER_ONLY)
        .open(path);
    // Absolute, because SQLite gives a meaning to some relative names such as ":memory:".
    let path = match created {
        Ok(file) => {
            drop(file);
            let path = path.canonicalize()?;
            // The name of a new file lasts only when its folder is on the disk.
            path.parent()
                .map_or(Ok(()), |folder| File::open(folder)?.sync_all())?;
            path
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => path.canonicalize()?,
        Err(error) => return Err(error.into()),
    };
    let metadata = fs::metadata(&path)?;
    // SQLite takes a file of one byte for an empty one and would write over it.
    if metadata.is_file() && metadata.len() != 1 {
        Ok(path)
    } else {
        Err(Error::NotOurs)
    }
}

/// Takes the file and its log, once they are known to be ours, from everyone but the owner. SQLite
/// makes the log with the mode that the file has at that time.
fn restrict(path: &Path) -> Result<(), Error> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    for path in [path, Path::new(&log)] {
        match fs::metadata(path) {
            Ok(metadata) if metadata.permissions().mode() & 0o077 != 0 => {
                fs::set_permissions(path, Permissions::from_mode(OWNER_ONLY))?;
            }
            Ok(_) => {}
            // The log is made by the first write.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The statements that make the tables, in the order of [`objects`].
fn layout() -> Vec<String> {
    let mut names = Table::ALL.map(Table::name);
    names.sort_unstable();
    names
        .iter()
        .map(|name| {
            format!(
                "CREATE TABLE {name} (key BLOB NOT NULL PRIMARY KEY, tenant BLOB NOT NULL, \
                 revision INTEGER NOT NULL, epoch INTEGER NOT NULL, body BLOB NOT NULL, \
                 mac BLOB NOT NULL) STRICT, WITHOUT ROWID"
            )
        })
        .collect()
}

/// The statements of everything that is in the file, by name.
fn objects(connection: &Connection) -> Result<Vec<String>, Error> {
    connection
        .prepare("SELECT coalesce(sql, '') FROM sqlite_schema ORDER BY name")
        .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
        .map_err(opening_failure)
}

fn pragma(connection: &Connection, name: &str) -> Result<i64, Error> {
    connection
        .pragma_query_value(None, name, |row| row.get(0))
        .map_err(opening_failure)
}

// === Values and errors ===

fn read_row(table: Table, row: &rusqlite::Row<'_>) -> Result<Row, Error> {
    let blob = |column| match row.get_ref(column) {
        Ok(ValueRef::Blob(bytes)) => Some(bytes),
        _ => None,
    };
    let number = |column| match row.get_ref(column) {
        Ok(ValueRef::Integer(number)) => u64::try_from(number).ok(),
        _ => None,
    };
    let key = blob(0).ok_or(Error::Corrupt)?.to_vec();
    let rest = || {
        let tenant: [u8; 16] = blob(1)?.try_into().ok()?;
        let mac: Mac = blob(5)?.try_into().ok()?;
        Some((tenant, number(2)?, number(3)?, blob(4)?.to_vec(), mac))
    };
    let Some((tenant, revision, epoch, body, mac)) = rest() else {
        let key = RowKey::from_vec(key);
        return Err(Error::RowAltered { table, key });
    };
    Ok(Row {
        key,
        tenant: TenantId::from_bytes(tenant),
        revision,
        epoch,
        body,
        mac,
    })
}

fn signed(table: Table, number: u64) -> Result<i64, Error> {
    i64::try_from(number).map_err(|_| Error::Exhausted { table })
}

/// The least byte string greater than all that begin with `prefix`; `None` if there is none.
fn end_of(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != 0xFF)?;
    let mut end = prefix.get(..=last)?.to_vec();
    *end.last_mut()? += 1;
    Some(end)
}

/// While a file is being identified, bytes that are no database are someone else's.
fn opening_failure(error: rusqlite::Error) -> Error {
    if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) {
        return Error::NotOurs;
    }
    failure(error)
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is named in map_err, which passes values"
)]
fn failure(error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Busy,
        Some(ErrorCode::DiskFull) => Error::Full,
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => Error::Io(ErrorKind::Other),
        Some(ErrorCode::ReadOnly) => Error::Io(ErrorKind::ReadOnlyFilesystem),
        Some(ErrorCode::PermissionDenied) => Error::Io(ErrorKind::PermissionDenied),
        Some(ErrorCode::OutOfMemory) => Error::Io(ErrorKind::OutOfMemory),
        _ => Error::Corrupt,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: u32, body: &[u8]) -> Row {
        Row {
            key: key.to_be_bytes().to_vec(),
            tenant: TenantId::NONE,
            revision: 1,
            epoch: 1,
            body: body.to_vec(),
            mac: [0; 32],
        }
    }

    fn insert(engine: &mut SqliteEngine, row: Row) -> Result<(), Error> {
        let (table, expected) = (Table::Keys, 0);
        engine.apply(
            &[Write::Put {
                table,
                row,
                expected,
            }],
            1,
        )
    }

    #[test]
    fn the_settings_that_durability_rests_on_are_in_force() {
        let folder = tempfile::tempdir().unwrap();
        let engine = SqliteEngine::open(&folder.path().join("s")).unwrap();
        let text = |name| {
            let read = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
            engine
                .connection
                .pragma_query_value(None, name, read)
                .unwrap()
        };
        let number = |name| pragma(&engine.connection, name).unwrap();
        assert_eq!(text("journal_mode"), "wal");
        assert_eq!(text("locking_mode"), "exclusive");
        assert_eq!(number("synchronous"), 2);
        assert_eq!(number("foreign_keys"), 0);
        assert_eq!(number("trusted_schema"), 0);
        assert_eq!(number("application_id"), APPLICATION_ID);
        assert_eq!(number("user_version"), SCHEMA);
    }

    #[test]
    fn a_full_database_keeps_the_old_state_and_works_on_when_there_is_room_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut engine = SqliteEngine::open(&folder.path().join("s")).unwrap();
        insert(&mut engine, row(0, b"small")).unwrap();
        let pages = pragma(&engine.connection, "page_count").unwrap();
        let limit = |engine: &SqliteEngine, pages: i64| {
            engine
                .connection
                .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
                .unwrap();
        };
        limit(&engine, pages + 2);
        for _ in 0..3 {
            let big = insert(&mut engine, row(1, &[1; 100_000]));
            assert_eq!(big, Err(Error::Full));
        }
        let keys = |engine: &SqliteEngine| {
            let rows = engine.range(Table::Keys, b"", None, 10).unwrap();
            rows.into_iter().map(|row| row.key).collect::<Vec<_>>()
        };
        assert_eq!(keys(&engine), [row(0, b"").key]);
        insert(&mut engine, row(2, b"fits")).unwrap();
        limit(&engine, 1 << 20);
        insert(&mut engine, row(1, &[1; 100_000])).unwrap();
        assert_eq!(keys(&engine).len(), 3);
    }

    #[test]
    fn the_end_of_a_prefix_is_the_next_string_that_does_not_have_it() {
        assert_eq!(end_of(b""), None);
        assert_eq!(end_of(&[0xFF, 0xFF]), None);
        assert_eq!(end_of(b"ab"), Some(b"ac".to_vec()));
        assert_eq!(end_of(&[1, 0xFF, 0xFF]), Some(vec![2]));
    }
}
