//! The use cases of the key service: decide, call custody, record, answer (design 7.29).
//!
//! * [`Worker`] serves one thread's requests on one immutable [`Snapshot`]; [`Recorded`] keeps an
//!   answer back until its audit record is written.
//! * [`Admin`] carries out orders that change state, one at a time, and publishes the next snapshot.
//! * [`Caller`] is who a connection belongs to, for as long as certificate, revocation and policy say so.
//!
//! It names the key-holder trait, never a holder, and knows nothing of HTTP or JSON.
#![forbid(unsafe_code)]

mod admin;
mod allowance;
mod backups;
mod caller;
mod clock_watch;
mod counting;
mod desk;
mod imports;
mod keep;
mod life;
mod meter;
pub mod metrics;
mod order;
mod paths;
mod plan;
mod pool;
mod published;
mod readers;
mod recorded;
mod seeds;
mod shared;
mod snapshot;
mod standing;
mod streams;
mod survey;
mod sync;
mod worker;

pub use admin::{
    Admin, AdminError, CreatedContext, POLICY_ROW, TRUST_ROW, load_policy, load_trust,
};
pub use caller::{Caller, Identified};
pub use clock_watch::{ClockState, clock_in_doubt};
pub use counting::Uses;
pub use desk::{ContextOrder, Desk, OrderDone, Ordering};
pub use imports::{ImportKey, WrappedKey};
pub use keep::{NewContext, format_detail};
pub use life::{Author, LifeOrder, NewRules};
pub use metrics::{DropReason, Ended, SpanFate, Spent};
pub use order::settle;
pub use plan::{DataOperation, Prepared};
pub use pool::PoolSize;
pub use readers::{NewReader, NotBound};
pub use recorded::Recorded;
pub use seeds::{RevealedKey, RevealedSeed};
pub use shared::{Settings, Shared};
pub use snapshot::Snapshot;
pub use standing::{HolderWatch, Lack, Standing, TokenKeys};
pub use streams::{Stream, Wanted};
pub use worker::{Call, Done, Expected, Need, Performed, Then, Told, TooFast, Worker};
