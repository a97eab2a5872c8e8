//! Remote secret stores: HashiCorp Vault and OpenBao, which speak one protocol.
//!
//! Routes, fields and status codes follow the public descriptions of the two products' HTTP interface:
//! the key/value engine in both of its versions, the transit engine, and the system's health.
//!
//! **From an address to figures.** [`Settings`] say whom to call and as whom. [`open`] looks whether the
//! store is in service, writes what the operation needs below a name of its own, and returns a
//! [`StoreCarrier`]. Whatever was written is removed when the carrier is closed or dropped, and also when
//! opening it fails half-way.
//!
//! **Verification.** Values are compared with what was written. A ciphertext is judged by having it
//! decrypted, a signature by the store's own verification, which is first shown to refuse a signature of
//! another text. These questions are neither timed nor counted.
//!
//! **Stand-in.** [`standin`] serves the same routes from memory, for tests where neither product is
//! installed. It says so in its answer about its health, and [`Facts`] read it there; whoever reaches one,
//! by its own settings or by its address, carries [`Word::StandIn`](keywright_measure::Word::StandIn).
//!
//! Not here: unencrypted HTTP (the carrier below knows TLS 1.3 only), login methods other than a token,
//! namespaces of the commercial editions, redirections to another node, what is left behind by a process that is killed.

mod belongings;
mod carrier;
mod decoding;
pub mod development;
mod facts;
mod judge;
mod prepare;
mod questions;
mod session;
mod settings;
pub mod standin;
mod table;

pub use carrier::{StoreCarrier, open};
pub use facts::Facts;
pub use settings::{Mounts, Settings};
pub use table::{OPERATIONS, Shape};
