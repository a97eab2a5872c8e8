//! The contract between the engine and a target.
//!
//! Two ways to be measured. A [`Worker`] does one blocking operation at a time and is driven by
//! [`crate::threads`]; most targets need no more. A [`Carrier`] takes a whole load and brings back the
//! books: event loops do that, and so do the threads and the simulation.
//!
//! Set-up, key search, login and random inputs happen when a worker is made, outside of what is timed;
//! each of them that matters is an operation of its own.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use keywright_clock::Clock;

use crate::dispatch::Limit;
use crate::document::BlockRecord;
use crate::ledger::Ledger;
use crate::load::Load;
use crate::verdict::Word;

/// One blocking operation after the other: a session, a connection or a buffer of its own.
pub trait Worker: Send {
    /// Does the operation once, on the next of its inputs. All of this is timed, so inputs rotate by a
    /// cheap index, and what the compiler could drop goes through [`std::hint::black_box`].
    ///
    /// # Errors
    /// How the operation failed.
    fn operate(&mut self) -> Result<(), Fault>;

    /// Does the operation `count` times. The loop is compiled together with the operation, so that
    /// timing many costs no call each.
    ///
    /// # Errors
    /// How the first operation that failed did so.
    fn repeat(&mut self, count: u64) -> Result<(), Fault> {
        for _ in 0..count {
            self.operate()?;
        }
        Ok(())
    }

    /// Looks at the output of the last operation. Not timed.
    fn check(&mut self) -> Check;

    /// Which operation of a mix the last one was; its place among the names of the mix.
    fn part(&self) -> usize {
        0
    }
}

/// What a look at an output found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Check {
    /// As it must be.
    Right,
    /// There is nothing to compare it with.
    Unknown,
    /// Not as it must be.
    Wrong,
}

/// How an operation failed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fault {
    phase: FaultPhase,
    code: Cow<'static, str>,
}

/// Where an operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FaultPhase {
    /// Connecting.
    Dial,
    /// In a library or device that named its own code.
    Operation,
    /// The service's own error code.
    Service,
    /// A status of HTTP without one.
    Status,
    /// A stream was reset or closed.
    Stream,
    /// The handshake.
    Tls,
}

impl Fault {
    /// From a phase and the code that the target or the library gave. Longer codes are cut.
    #[must_use]
    pub fn new(phase: FaultPhase, code: impl Into<Cow<'static, str>>) -> Self {
        let mut code = code.into();
        if code.len() > MOST_CODE {
            code = Cow::Owned(code.chars().take(MOST_CODE).collect());
        }
        Self { phase, code }
    }

    /// Stands for failures beyond those that are told apart.
    #[must_use]
    pub const fn other() -> Self {
        Self {
            phase: FaultPhase::Operation,
            code: Cow::Borrowed("other"),
        }
    }

    /// Where.
    #[must_use]
    pub const fn phase(&self) -> FaultPhase {
        self.phase
    }

    /// The code.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Whether the target said that it would not do it now: there is too much to do, or the caller asks too fast.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        match self.phase {
            FaultPhase::Service => matches!(self.code(), "overloaded" | "rate_limited"),
            FaultPhase::Status => matches!(self.code(), "429" | "503"),
            _ => false,
        }
    }
}

/// The longest code of a failure, in characters.
const MOST_CODE: usize = 80;

impl FaultPhase {
    /// As documents spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dial => "dial",
            Self::Operation => "operation",
            Self::Service => "service",
            Self::Status => "status",
            Self::Stream => "stream",
            Self::Tls => "tls",
        }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}: {}", self.phase.name(), self.code)
    }
}

/// Why a target cannot be measured at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// It does not exist or does not answer.
    #[error("{target} cannot be reached: {reason}")]
    Unreachable {
        /// Its name.
        target: String,
        /// What the system or the peer said.
        reason: String,
    },
    /// It does not let us in.
    #[error("{target} refuses the caller: {reason}")]
    Authentication {
        /// Its name.
        target: String,
        /// What it said.
        reason: String,
    },
    /// It cannot do this operation; others may still be measured.
    #[error("{target} cannot do {operation}: {reason}")]
    Unsupported {
        /// Its name.
        target: String,
        /// The operation's name.
        operation: String,
        /// Why.
        reason: String,
    },
    /// It failed while the operation was prepared or tried.
    #[error("{target} failed at {operation}: {reason}")]
    Failed {
        /// Its name.
        target: String,
        /// The operation's name.
        operation: String,
        /// How.
        reason: String,
    },
    /// It did the operation, and the result is wrong.
    #[error("{target} gave a wrong result of {operation}: {reason}")]
    WrongOutput {
        /// Its name.
        target: String,
        /// The operation's name.
        operation: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Its connections carry fewer requests at a time than are asked for. What is above would stand in a queue here, and
    /// its time would be taken for the target's.
    #[error("{target} allows {allowed} streams on a connection, and {asked} are asked for")]
    Streams {
        /// Its name.
        target: String,
        /// On each connection.
        asked: u32,
        /// What the server's settings say.
        allowed: u32,
    },
    /// The load asks for what this carrier cannot make.
    #[error("{0}")]
    Load(&'static str),
    /// Operations that start servers need the program that serves, and none was found.
    #[error("there is no program to start a service with")]
    Program,
    /// The operating system did not give what a measurement needs.
    #[error("{0}")]
    System(String),
}

impl TargetError {
    /// The word for a case that could not be measured for this reason, where there is one.
    #[must_use]
    pub const fn word(&self) -> Option<Word> {
        match self {
            Self::Failed { .. } => Some(Word::TargetErrors),
            Self::WrongOutput { .. } => Some(Word::WrongOutput),
            _ => None,
        }
    }
}

/// How long a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a run ends by count or by time; there is no third way"
)]
pub enum Window {
    /// So many operations.
    Operations(u64),
    /// So long. An open load ends with its schedule at the latest.
    Time(Duration),
}

impl Window {
    /// As the limits of a dispatch.
    #[must_use]
    pub fn limit(self) -> Limit {
        match self {
            Self::Operations(most) => Limit {
                nanos: None,
                operations: Some(most),
            },
            Self::Time(time) => Limit {
                nanos: Some(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)),
                operations: None,
            },
        }
    }
}

/// How many outputs are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verify {
    /// Every one.
    All,
    /// None. The books then say `unverified` and so does every output.
    Off,
    /// One in a hundred.
    Sample,
}

impl Verify {
    /// Whether the operation of this number is looked at.
    #[must_use]
    pub const fn wants(self, number: u64) -> bool {
        match self {
            Self::All => true,
            Self::Off => false,
            Self::Sample => number.is_multiple_of(100),
        }
    }
}

/// Tells a run to end early. Cloning shares it.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Nobody has asked yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for the end.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether the end was asked for.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl From<Arc<AtomicBool>> for Stop {
    /// A stop that others ask for by setting the flag, as a signal handler does.
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }
}

/// One run of a load.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "what a carrier is told, all of it needed"
)]
pub struct Assignment<'a> {
    /// The load.
    pub load: &'a Load,
    /// How long.
    pub window: Window,
    /// What schedule and inputs are drawn from.
    pub seed: u64,
    /// How many outputs are looked at.
    pub verify: Verify,
    /// From when it was due, an operation may take this long.
    pub timeout: Duration,
    /// After the last was started, answers are waited for this long.
    pub drain: Duration,
    /// How long a block is.
    pub block: Duration,
    /// The clock.
    pub clock: &'a Clock,
    /// Whether to end early.
    pub stop: &'a Stop,
}

impl Assignment<'_> {
    /// When the schedule ends, in nanoseconds since the start; loops have none.
    #[must_use]
    pub fn deadline(&self) -> Option<u64> {
        let Load::Open(open) = self.load else {
            return None;
        };
        let schedule = u64::try_from(open.duration().as_nanos()).unwrap_or(u64::MAX);
        Some(
            self.window
                .limit()
                .nanos
                .map_or(schedule, |nanos| nanos.min(schedule)),
        )
    }

    /// The timeout in nanoseconds.
    #[must_use]
    pub fn timeout_nanos(&self) -> u64 {
        u64::try_from(self.timeout.as_nanos()).unwrap_or(u64::MAX)
    }
}

/// What came of a run.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Carried {
    /// The books of all of it.
    pub ledger: Ledger,
    /// The books of each operation of a mix, in the order of its names; empty without a mix.
    pub parts: Vec<Ledger>,
    /// Block by block.
    pub blocks: Vec<BlockRecord>,
    /// From the start to the last end, or to the end of the schedule if that is later.
    pub elapsed_ns: u64,
    /// Rate of operations that ended well; where workers run on their own it is the sum of their rates.
    pub rate_per_s: f64,
    /// Operations each worker did, where workers run on their own.
    pub by_worker: Vec<u64>,
    /// The integral of operations in flight over time, in operation-nanoseconds, from the dispatch's own
    /// gauge. Absent where there is no gauge apart from the stamps.
    pub in_flight_area: Option<f64>,
    /// Most in flight.
    pub peak_in_flight: u64,
    /// Processor time spent on the operations, in nanoseconds: of the target's process where it is local.
    pub cpu_ns: Option<u64>,
    /// Operations per timed value; 1 unless they are too short to be timed alone.
    pub batch: u64,
    /// A quantity that is no rate, for carriers that measure one.
    pub figure: Option<f64>,
    /// Whether it was asked to end early.
    pub interrupted: bool,
}

/// Something that takes a load and brings back the books.
pub trait Carrier {
    /// Carries one run. `block` is told of each block as it ends, outside of timed regions.
    ///
    /// # Errors
    /// The target cannot be measured at all; single failures are in the books.
    fn carry(
        &mut self,
        assignment: &Assignment<'_>,
        block: &mut dyn FnMut(&BlockRecord, &Ledger),
    ) -> Result<Carried, TargetError>;

    /// Operations of a mix with their weights; one without a name otherwise.
    fn parts(&self) -> Vec<(String, f64)> {
        Vec::new()
    }

    /// Facts about the target that belong beside every figure of it.
    fn words(&self) -> Vec<Word> {
        Vec::new()
    }

    /// What is known about the target, by name: versions, storage, TLS.
    fn about(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// Whether its time is made up. The noise of this machine says nothing about it then.
    fn simulated(&self) -> bool {
        false
    }
}

impl<C: Carrier + ?Sized> Carrier for Box<C> {
    fn carry(
        &mut self,
        assignment: &Assignment<'_>,
        block: &mut dyn FnMut(&BlockRecord, &Ledger),
    ) -> Result<Carried, TargetError> {
        (**self).carry(assignment, block)
    }

    fn parts(&self) -> Vec<(String, f64)> {
        (**self).parts()
    }

    fn words(&self) -> Vec<Word> {
        (**self).words()
    }

    fn about(&self) -> BTreeMap<String, String> {
        (**self).about()
    }

    fn simulated(&self) -> bool {
        (**self).simulated()
    }
}
