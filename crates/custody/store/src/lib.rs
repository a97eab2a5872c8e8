//! The store: a narrow storage trait, its SQLite engine, and the one thread that talks to it.
//!
//! * [`Engine`] is what a database must be able to do: get, range, and one atomic [`Engine::apply`]
//!   with compare-and-set. [`SqliteEngine`] is the embedded one; [`conformance`] is the suite that
//!   every engine must pass.
//! * [`Store`] is a handle to the store thread. All reads and writes are messages to it; only
//!   [`Store::epoch`] is answered without one.
//! * [`Image`] is every row at one moment, for backups; [`Proven`] founds an empty engine from one.
//! * [`Transaction`] collects writes. Each raises the state epoch by one, in the same commit, unless
//!   it is told to [keep](Transaction::keep_epoch) it.
//!
//! # What protects the rows (design 7.15)
//! The caller hands in a row key that the root seals elsewhere. Two values are kept under it.
//!
//! *The row MAC*: HMAC-SHA-256 over lp(table name) + lp(key) + tenant + revision + epoch + lp(body).
//! It is checked whenever a row is read, and of all rows at start.
//!
//! *The summary*, one row of `meta` that every transaction rewrites. It authenticates the epoch, its
//! own revision, and for each table the number of rows and a sum mod 2^256 of one tag per row. The
//! tags are a second HMAC over the row MACs. Neither tags nor sums are stored: sums of values that
//! are known can be matched by another choice of old rows (a generalised birthday search), sums of
//! values that are not known cannot.
//!
//! Seen at start: an altered, moved or copied row; a row removed, added, or put back to an older
//! state of its own; one table put back with all its rows; an altered epoch; foreign tables, triggers
//! or views. **Not seen here**: the whole file put back to an older state, or emptied. That is a state
//! this store once acknowledged, and only what is kept outside can tell: the caller compares
//! [`Store::epoch`] with the newest signed audit head. While the store runs, an exclusive lock keeps
//! other processes out, and each row that is read is checked again; its absence is not.
//!
//! Rows of [`Table::Meta`] are under no MAC. They hold envelopes that prove themselves, such as the
//! sealed row key, which is needed before any MAC can be checked ([`read_meta`]).
//!
//! # What an answer means
//! A write is answered after its commit reached the disk (`synchronous=FULL`), a reserved block of
//! counters likewise. A commit that fails, because the disk is full or broken, leaves the old state
//! and a store that can be used on. A crash may lose only what was not yet answered.
//!
//! Not here: what bodies mean, life-cycle rules, encryption, the form of backups, audit.
#![forbid(unsafe_code)]

pub mod conformance;
mod engine;
mod error;
mod image;
mod integrity;
mod row;
mod sqlite;
mod store;
mod table;
pub mod testing;
mod transaction;
mod turn;
mod worker;

pub use engine::{Engine, Write, epoch_row, read_meta, write_meta};
pub use error::Error;
pub use image::{Image, NewRow, Proven};
pub use row::{Row, RowKey};
pub use sqlite::SqliteEngine;
pub use store::{Observer, Store, Verification};
pub use table::Table;
pub use transaction::{Committed, Epoch, Snapshot, Transaction};
