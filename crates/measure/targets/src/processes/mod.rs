//! Operations of this program spread over several processes: what threads of one process share (an
//! allocator, a lock inside of a library) they do not.
//!
//! The processes are this program again, called as `keywright bench worker`; they take orders from standard
//! input and report on standard output. Each measures by itself as one process would: with its own clock,
//! its own schedule and its own books. The measurement starts their runs together, adds up their books and
//! makes one result. A process that dies ends the measurement, and a measurement that dies ends its
//! processes, because their orders end.
//!
//! Not here: requests to servers, whose generator is one thread by design, and processes on other machines.

mod serve;
mod share;
mod wire;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::num::NonZeroU32;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use keywright_measure::document::BlockRecord;
use keywright_measure::ledger::Ledger;
use keywright_measure::{Assignment, Carried, Carrier, Load, TargetError};

pub use serve::serve;

use crate::operation::{Make, Operation};
use share::{Blocks, divided, joined, runs, seed};
use wire::{Order, Report, Work};

/// Several processes as one carrier.
#[derive(Debug)]
pub struct Processes {
    members: Vec<Member>,
    reports: Receiver<(usize, Option<Report>)>,
    parts: Vec<(String, f64)>,
    /// Once one of them has failed the others are somewhere in a run.
    broken: bool,
}

/// A process, and where it takes its orders.
#[derive(Debug)]
struct Member {
    child: Child,
    orders: Option<ChildStdin>,
}

/// How often a wish to end is looked for.
const LOOK: Duration = Duration::from_millis(50);
/// How long a process may take to end by itself: as long as its last operation.
const PATIENCE: Duration = Duration::from_secs(10);

/// Only what happens in the process itself can be spread over several.
pub(crate) fn only_own(parts: &[(Operation, f64)]) -> Result<(), TargetError> {
    let own = |(operation, _): &(Operation, f64)| {
        matches!(operation.make, Make::Fpe(_) | Make::Worker(_))
    };
    if !parts.is_empty() && parts.iter().all(own) {
        return Ok(());
    }
    Err(TargetError::Load(
        "only operations of this program can be spread over processes",
    ))
}

impl Processes {
    /// Starts `count` processes of `program` with a folder each below `folder`, and makes operations ready
    /// in them, with their share of the places of `load`.
    ///
    /// # Errors
    /// An operation that cannot be made or spread, a load that cannot be divided, or a process that cannot
    /// be started.
    pub fn start(
        program: &Path,
        parts: &[(Operation, f64)],
        (load, count): (&Load, NonZeroU32),
        (from, folder): (u64, &Path),
    ) -> Result<Self, TargetError> {
        only_own(parts)?;
        let workers = divided(load, count)?.cap();
        let (sender, reports) = channel();
        let named = |(operation, weight): &(Operation, f64)| {
            (operation.name.to_owned(), operation.bytes, *weight)
        };
        let mut processes = Self {
            members: Vec::new(),
            reports,
            parts: match parts {
                [_] => Vec::new(),
                parts => parts
                    .iter()
                    .map(|(operation, weight)| (operation.name.to_owned(), *weight))
                    .collect(),
            },
            broken: false,
        };
        for number in 0..count.get() {
            let mut member = Member::start(program, number as usize, sender.clone())?;
            let work = Work {
                parts: parts.iter().map(named).collect(),
                seed: seed(from, number),
                workers,
                folder: folder.join(format!("process-{number}")),
            };
            let told = member.tell(&Order::Make(work));
            processes.members.push(member);
            told?;
        }
        for _ in 0..count.get() {
            processes.ready()?;
        }
        Ok(processes)
    }

    fn ready(&self) -> Result<(), TargetError> {
        match self.reports.recv() {
            Ok((_, Some(Report::Ready))) => Ok(()),
            Ok((_, Some(Report::Refused(refusal)))) => Err(refusal.into()),
            _ => Err(gone()),
        }
    }

    fn tell_all(&mut self, order: &Order) -> Result<(), TargetError> {
        self.members
            .iter_mut()
            .try_for_each(|member| member.tell(order))
    }

    /// Reports of a run as they come, until the last of `due` has reported its end.
    fn listen(
        &mut self,
        assignment: &Assignment<'_>,
        mut due: usize,
        tell: &mut dyn FnMut(Heard),
    ) -> Result<(), TargetError> {
        let mut asked = false;
        while due > 0 {
            if assignment.stop.is_asked() && !asked {
                asked = true;
                self.tell_all(&Order::Stop)?;
            }
            match self.reports.recv_timeout(LOOK) {
                Ok((from, Some(Report::Block(record, books)))) => {
                    tell(Heard::Block(from, record, Box::new(books.ledger())));
                }
                Ok((from, Some(Report::Carried(outcome)))) => {
                    due -= 1;
                    tell(Heard::End(from, Box::new(outcome.carried())));
                }
                Ok((_, Some(Report::Refused(refusal)))) => return Err(refusal.into()),
                Err(RecvTimeoutError::Timeout) => {}
                Ok((_, Some(Report::Ready) | None)) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(gone());
                }
            }
        }
        Ok(())
    }
}

/// What was heard of a process.
enum Heard {
    Block(usize, BlockRecord, Box<Ledger>),
    End(usize, Box<Carried>),
}

impl Carrier for Processes {
    fn carry(
        &mut self,
        assignment: &Assignment<'_>,
        block: &mut dyn FnMut(&BlockRecord, &Ledger),
    ) -> Result<Carried, TargetError> {
        if self.broken {
            return Err(gone());
        }
        let count = u32::try_from(self.members.len()).unwrap_or(u32::MAX);
        let count = NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN);
        let runs = runs(assignment, count)?;
        self.broken = true;
        let mut blocks = Blocks::new(self.members.len());
        let mut due = 0;
        for (number, run) in runs.into_iter().enumerate() {
            match run {
                Some(run) => {
                    due += 1;
                    self.members[number].tell(&Order::Carry(run))?;
                }
                None => blocks.over(number),
            }
        }
        let (mut carried, mut records) = (Vec::new(), Vec::new());
        self.listen(assignment, due, &mut |heard| {
            match heard {
                Heard::Block(from, record, ledger) => blocks.told(from, record, *ledger),
                Heard::End(from, run) => {
                    blocks.over(from);
                    carried.push(*run);
                }
            }
            while let Some((record, ledger)) = blocks.next() {
                block(&record, &ledger);
                records.push(record);
            }
        })?;
        self.broken = false;
        let mut all = joined(carried);
        all.blocks = records;
        Ok(all)
    }

    fn parts(&self) -> Vec<(String, f64)> {
        self.parts.clone()
    }

    fn about(&self) -> BTreeMap<String, String> {
        let count = self.members.len().to_string();
        BTreeMap::from([("processes".to_owned(), count)])
    }
}

fn gone() -> TargetError {
    TargetError::System("a process of the measurement has ended".to_owned())
}

impl Member {
    fn start(
        program: &Path,
        number: usize,
        reports: Sender<(usize, Option<Report>)>,
    ) -> Result<Self, TargetError> {
        let failed =
            |error: std::io::Error| TargetError::System(format!("no process was started: {error}"));
        let mut child = Command::new(program)
            .arg("worker")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let orders = child.stdin.take();
        if let Some(output) = child.stdout.take() {
            let thread = std::thread::Builder::new().spawn(move || {
                for line in BufReader::new(output).lines() {
                    let report = line.ok().and_then(|line| serde_json::from_str(&line).ok());
                    let over = report.is_none();
                    if reports.send((number, report)).is_err() || over {
                        return;
                    }
                }
                // Whoever waits for it is told; whoever does not has gone.
                drop(reports.send((number, None)));
            });
            if let Err(error) = thread {
                drop(child.kill());
                drop(child.wait());
                return Err(failed(error));
            }
        }
        Ok(Self { child, orders })
    }

    fn tell(&mut self, order: &Order) -> Result<(), TargetError> {
        let mut line = serde_json::to_vec(order).map_err(|_| gone())?;
        line.push(b'\n');
        let orders = self.orders.as_mut().ok_or_else(gone)?;
        orders
            .write_all(&line)
            .and_then(|()| orders.flush())
            .map_err(|_| gone())
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        // All of them first, so that they end at the same time.
        for member in &mut self.members {
            drop(member.orders.take());
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        drop(self.orders.take());
        let mut waited = Duration::ZERO;
        while waited < PATIENCE && !matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
            std::thread::sleep(LOOK);
            waited += LOOK;
        }
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
