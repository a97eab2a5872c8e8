//! The audit log: hash-chained records, signed heads, an offline verifier (design 7.29 to 7.36).
//!
//! | module | what | design |
//! |---|---|---|
//! | [`record`], [`field`] | the body of a record, typed on the way in and on the way out | 7.30, 7.32 |
//! | [`batch`], [`refusals`] | many items or refusals in one record | 7.31, 7.36 |
//! | [`chain`] | links, files, and how a file is read | 7.33 |
//! | [`check`] | check frames, and what proves a record | 7.33 |
//! | [`head`] | signed heads | 7.34 |
//! | [`log`], [`writer`] | the log of a running node | 7.29, 7.35, 7.36 |
//! | [`verify`] | the offline verifier | 7.34, 7.35 |
//! | [`replay`] | a log that is carried over: copied, read for what was ordered | 7.22 |
//! | [`show`] | records as JSON | 7.30 |
//!
//! What it promises: a record whose flush returned `Ok` is with the operating system, and after a sync
//! on the medium; any change to a record that a signed head covers is found and named, and so is a record behind the
//! newest head that the node has not written, by whoever holds the check key. What it does not: a log
//! that was cut back to an older head looks whole, unless a newer head is known from elsewhere, and without the check
//! key records after the newest head are chained and nothing more.
//!
//! A folder holds `<boot id>-<writer>.log` ([`chain`]), `heads-<boot id>-<part>.bin` ([`head`]), the
//! reserve for a full disk (`reserve-records`, `reserve-heads`) and a `lock`.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let dir = folder.path().to_path_buf();
//! use keywright_audit::head::Fingerprint;
//! use keywright_audit::check::CheckKey;
//! use keywright_audit::log::{Identity, Keys, Log, Settings};
//! use keywright_audit::record::Facts;
//! use keywright_audit::verify::Verifier;
//! use keywright_audit::RecordType;
//! use keywright_clock::Clock;
//! use keywright_primitives::signature::SigningKey;
//! use keywright_types::{InstallationId, KeyVersion, NodeId, Operation};
//!
//! let key = SigningKey::from_seed(&keywright_secret::Secret::from_fill(|seed| seed.fill(7)))?;
//! let fingerprint = Fingerprint::of(&key.verifying_key());
//! let identity = Identity {
//!     installation: InstallationId::from_bytes([1; 16]),
//!     node: NodeId::from_bytes([2; 16]),
//! };
//! let clock = Clock::system();
//! let keys = Keys {
//!     signer: key,
//!     version: KeyVersion::FIRST,
//!     check: CheckKey::from_bytes(&[8; 32]),
//! };
//! let settings = Settings::new(dir.clone(), identity, clock.clone(), keys);
//!
//! let log = Log::open(settings)?;
//! let mut writer = log.writer()?;
//! let facts = Facts::new(RecordType::Request, Operation::Encrypt, clock.wall());
//! let ticket = writer.append(&facts.into())?;
//! let written = writer.flush()?;
//! assert!(written.covers(ticket)); // now its answer may leave
//! log.shutdown()?;
//!
//! let report = Verifier::new(Some(fingerprint)).verify(&dir)?;
//! assert_eq!(report.records_of(RecordType::Request), 1);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

pub mod batch;
pub mod chain;
pub mod check;
mod disk;
mod error;
pub mod field;
mod finding;
#[doc(hidden)]
pub mod fuzzing;
pub mod head;
mod history;
mod keeper;
pub mod log;
mod order;
pub mod record;
pub mod refusals;
pub mod replay;
mod segment;
mod shared;
pub mod show;
mod slot;
mod sync;
pub mod testing;
pub mod verify;
mod vocabulary;
pub mod writer;

pub use check::Evidence;
pub use disk::{Disk, Sink};
pub use error::{AuditError, Step};
pub use finding::{Fault, Finding};
pub use order::UnfinishedOrder;
pub use shared::Room;
pub use vocabulary::{FieldTag, HeadKind, Reason, RecordType};
