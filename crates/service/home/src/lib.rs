//! One node's home: its folder, its configuration, and everything opened and joined together.
//!
//! * [`Config`]: `keywright.toml`. [`create`]: a new home, made beside its place and moved there whole.
//! * [`Node`]: keystore, store, audit log and state of one home, opened and checked; [`Node::serve`]
//!   puts the server in front.
//! * [`Order`]: what an operator may tell a node; [`control`] carries it to a node that is running.
//! * [`Token`]: a token of any vendor, as holder of contexts' keys, of the root key, or of both. Keys that seal
//!   in it are counted, and rotated by the node itself when they have sealed enough.
//!   [`Node::keep`] is what a node does by itself: counters into the store, rotations and destructions whose day has come.
//! * [`Serving`]: a node with its server, its control socket and, where the configuration asks for one, its probe.
//!   [`Node::reload`] reads certificates, lists and log level again; an [`Event`] is what it says meanwhile.
//! * [`backup`]: a home in one sealed file, and a new home of it.
//! * [`pki`]: the development certificate authority of a home.
//!
//! This is where the holder behind the service is chosen; nothing above or below names one.
#![forbid(unsafe_code)]

pub mod backup;
mod check;
mod config;
pub mod control;
mod create;
mod doors;
mod error;
mod event;
mod files;
mod follow;
#[doc(hidden)]
pub mod fuzzing;
mod holders;
mod imports;
mod keeper;
mod node;
mod order;
pub mod pki;
mod questions;
mod reload;
mod rotation;
mod section;
mod seeds;
mod serving;
mod token;
mod token_keys;
mod watch;

pub use check::{Checked, Finding, check};
pub use config::{
    Audit, Clients, Compat, Config, ConfigError, DataKeys, ItemDetail, Keystore, Limits,
    MemoryLock, RootPlace, Server, StoreSection, Sync, Telemetry,
};
pub use create::{Beginning, CONFIG_FILE, Contents, FINGERPRINT_FILE, NewRoot, create, create_as};
pub use error::{HomeError, Kind};
pub use event::Event;
pub use keeper::Kept;
pub use keywright_custody::budget::SealLimits;
pub use keywright_custody::lifecycle::Order as Life;
pub use keywright_password::Profile;
pub use keywright_token_process::{
    Cause as TokenCause, Notice as TokenNotice, Program as TokenProgram, RunError as TokenRunError,
    run as run_token_process,
};
pub use node::{MemoryPlan, Node, Teller};
pub use order::{
    Answer, CampaignOrder, ContextState, Imported, Moved, Order, Rotation, RuleChanges,
    VersionState, Words, Wrapped,
};
pub use questions::{Able, Reach, Reason};
pub use reload::Reloaded;
pub use section::{AdminSection, Level, LogSection, Probe, Token, TokenPlace};
pub use seeds::{KEY_TEXT, Recipient, SEED_TEXT, seed_text};
pub use serving::{Serving, serve_null};
pub use token::{TOKEN_COMMAND, run_tokens_as};
