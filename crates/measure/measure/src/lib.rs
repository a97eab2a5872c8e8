//! The measurement engine: one instrument for tokens, services, local primitives and remote stores.
//!
//! It starts operations by a schedule or in a loop, stamps when each was meant to start, was sent and
//! completed, keeps books that balance to the last operation, and says in one word whether the figure
//! that came out can be quoted. It knows no cryptography, no network and no output format: what is
//! measured is a [`Carrier`] of load, what comes out is a [`document::Document`].
//!
//! From the ground up: [`stats`] and [`histogram`] count; [`load`] says when operations are due and
//! [`dispatch`] releases them; [`ledger`] keeps the books; [`carry`] is the contract with a target, with
//! [`threads`] for operations that block and [`simulate`] for servers that exist on paper only; [`session`]
//! runs a plan of cases; [`gate`], [`saturate`], [`spike`] and [`scale`] are questions asked of it.
#![forbid(unsafe_code)]

pub mod assemble;
mod beside;
pub mod breakdown;
pub mod canary;
pub mod carry;
pub mod compare;
pub mod dispatch;
pub mod doctor;
pub mod document;
pub mod event;
pub mod gate;
pub mod hdr;
pub mod histogram;
pub mod judge;
pub mod latency;
pub mod ledger;
pub mod load;
pub mod machine;
mod objective;
pub mod plan;
pub mod saturate;
pub mod scale;
pub mod series;
pub mod session;
pub mod simulate;
pub mod sizes;
pub mod spike;
pub mod stats;
pub mod threads;
pub mod timer;
pub mod verdict;

pub use carry::{
    Assignment, Carried, Carrier, Fault, FaultPhase, Stop, TargetError, Window, Worker,
};
pub use load::{Arrival, Load, Open, Phase};
pub use verdict::{Exit, Word};
