//! One node's home: its folder, its configuration, and everything opened and joined together.
//!
//! * [`Config`]: `keywright.toml`. [`create`]: a new home, made beside its place and moved there whole.
//! * [`Node`]: keystore, store, audit log and state of one home, opened and checked; [`Node::serve`]
//!   puts the server in front.
//! * [`Order`]: what an operator may tell a node; [`control`] carries it to a node that is running.
//! * [`pki`]: the development certificate authority of a home.
//!
//! This is where the holder behind the service is chosen; nothing above or below names one.
#![forbid(unsafe_code)]

mod config;
pub mod control;
mod create;
mod error;
mod files;
mod node;
mod order;
pub mod pki;

pub use config::{
    Audit, Clients, Config, ConfigError, DataKeys, Keystore, Limits, MemoryLock, Server,
    StoreSection, Sync,
};
pub use create::{CONFIG_FILE, Contents, FINGERPRINT_FILE, create};
pub use error::HomeError;
pub use keywright_password::Profile;
pub use node::{MemoryPlan, Node, Serving, serve_null};
pub use order::{Answer, ContextState, Order, VersionState};
