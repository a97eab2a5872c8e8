//! What can be measured, by name. Adding an operation is adding a line to a table.

use std::path::Path;

use keywright_measure::{Carrier, TargetError, Worker};

use crate::local::fpe::Backend;

/// An operation that can be measured. Names are stable, dotted and lower case.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a row of a table")]
pub struct Operation {
    /// Its dotted name.
    pub name: &'static str,
    /// Which kind of target it belongs to: `local`, `service`, `kv`, `transit`, `pkcs11`.
    pub target: &'static str,
    /// What is counted: `operations`, `messages`, `records`, `requests`, `items`, `MiB`.
    pub unit: &'static str,
    /// How many of these one operation is.
    pub units: u64,
    /// Payload bytes of one operation, before any encoding; 0 where there is none.
    pub bytes: u64,
    /// What it needs to run.
    pub make: Make,
}

/// How an operation comes to life.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Make {
    /// Format-preserving encryption, one worker a thread.
    Fpe(crate::local::fpe::Task),
    /// A figure that is no rate, such as memory or the time of a start; measured once a run.
    Figure(fn(&Setting<'_>) -> Result<f64, TargetError>),
    /// A request to our own service.
    Service(crate::service::Shape),
    /// A request to a remote secret store.
    Store(crate::store::Shape),
    /// An operation of a PKCS#11 token, one worker and one session a thread.
    Token(crate::token::Shape),
    /// A blocking operation, one worker a thread.
    Worker(fn(&Setting<'_>) -> Result<Box<dyn Worker>, TargetError>),
}

/// What an operation is made in.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "what every operation may ask for"
)]
pub struct Setting<'a> {
    /// Inputs are drawn from it.
    pub seed: u64,
    /// Which worker this is, from 0.
    pub index: u32,
    /// Payload bytes, where they are not the table's.
    pub bytes: Option<usize>,
    /// A folder for files; it is removed afterwards.
    pub folder: &'a Path,
    /// The `keywright` program, for operations that start servers of their own.
    pub program: Option<&'a Path>,
    /// The core that such servers are pinned to.
    pub server_cpu: Option<u32>,
    /// What format-preserving encryption runs on, where it is not the best of the machine.
    pub fpe_backend: Option<Backend>,
}

impl Operation {
    /// A worker, if it is done by one in this process.
    pub(crate) fn worker(
        &self,
        setting: &Setting<'_>,
    ) -> Option<Result<Box<dyn Worker>, TargetError>> {
        match self.make {
            Make::Fpe(task) => Some(task.worker(self.name, setting)),
            Make::Worker(make) => Some(make(setting)),
            Make::Figure(_) | Make::Service(_) | Make::Store(_) | Make::Token(_) => None,
        }
    }
}

/// A carrier of any kind.
pub type AnyCarrier = Box<dyn Carrier>;
