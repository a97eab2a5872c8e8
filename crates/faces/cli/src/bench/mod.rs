//! `keywright bench`: operations measured by their dotted names, interleaved in one run.
//!
//! Service operations run against a server of its own process, pinned to one core where asked; its cost
//! is the processor time that the operating system counted for it, over the requests it answered. So a
//! slow generator does not flatter a server, and a fast one does not hide it. Several operations are
//! run in blocks, A B C then C B A, so that a machine that drifts treats them alike; medians are over
//! rounds, and gates compare medians of one run only.

mod gate;
mod load;
mod local;
mod memory;
mod report;
mod server;

use std::path::PathBuf;
use std::time::Duration;

use crate::exit::{Exit, Failure};
use crate::output::Format;

use load::Shape;
pub(crate) use report::{Block, Case};
use server::Role;

/// Measure operations.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Measure operations by their names.
    Op(OpArguments),
    /// Say what can be measured.
    List {
        /// Only operations are listed so far.
        #[arg(value_parser = ["ops"], default_value = "ops")]
        what: String,
    },
}

/// Measure operations by their names.
#[derive(Debug, clap::Args)]
pub(crate) struct OpArguments {
    /// Names of operations, as `bench list ops` prints them.
    #[arg(required = true)]
    names: Vec<String>,
    /// How long each block is.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = duration)]
    duration: Duration,
    /// How many blocks of each operation.
    #[arg(long, value_name = "N", default_value_t = 5)]
    rounds: usize,
    /// Pin servers to this core (with `taskset`); pin this program to another.
    #[arg(long, value_name = "CPU")]
    server_cpu: Option<u32>,
    /// A bare server to compare with, called as `PROGRAM ADDR CA CERT KEY`: the operation `service.floor`.
    #[arg(long, value_name = "PROGRAM")]
    floor: Option<PathBuf>,
    /// A folder for files and homes of the measurement; by default one that is removed afterwards.
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
    /// A condition such as `service.null/service.floor<=1.15` on processor time each, `rate:a/b>=0.3` on
    /// rates, or `envelope.seal.64<=500` on nanoseconds each. If one does not hold the exit code is 3.
    #[arg(long, value_name = "CONDITION")]
    gate: Vec<gate::Gate>,
}

/// An operation that can be measured.
#[derive(Clone, Copy, Debug)]
struct Operation {
    name: &'static str,
    target: &'static str,
    unit: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Local(local::Work),
    Memory(memory::Work),
    Service(Role, Shape),
}

pub(crate) fn run(arguments: Arguments, format: Format) -> Result<Exit, Failure> {
    match arguments.command {
        Command::List { .. } => {
            report::list(format, OPERATIONS);
            Ok(Exit::Ok)
        }
        Command::Op(arguments) => measure(&arguments, format),
    }
}

fn measure(arguments: &OpArguments, format: Format) -> Result<Exit, Failure> {
    let operations = arguments
        .names
        .iter()
        .map(|name| find(name))
        .collect::<Result<Vec<_>, _>>()?;
    let work = server::Work::prepare(arguments.work.as_deref())?;
    let bench = server::Bench {
        arguments,
        work: &work,
    };
    let mut targets = operations
        .iter()
        .map(|operation| Target::start(&bench, *operation))
        .collect::<Result<Vec<_>, _>>()?;
    // Not counted: connections, caches and lazily unwrapped keys come to rest.
    let warm_up = arguments.duration.min(Duration::from_millis(500));
    targets
        .iter_mut()
        .try_for_each(|target| target.block(warm_up).map(drop))?;
    let mut cases: Vec<Case> = operations
        .iter()
        .map(|operation| Case::new(operation.name, operation.unit))
        .collect();
    for round in 0..arguments.rounds {
        for place in order(round, targets.len()) {
            let block = targets[place].block(arguments.duration)?;
            cases[place].push(block);
        }
    }
    let verdicts: Vec<_> = arguments
        .gate
        .iter()
        .map(|gate| gate.judge(&cases))
        .collect::<Result<_, _>>()?;
    report::print(format, &cases, &verdicts);
    let held = verdicts.iter().all(|verdict| verdict.holds);
    Ok(if held { Exit::Ok } else { Exit::Gate })
}

/// A B C in even rounds, C B A in odd ones.
fn order(round: usize, count: usize) -> Vec<usize> {
    if round.is_multiple_of(2) {
        (0..count).collect()
    } else {
        (0..count).rev().collect()
    }
}

/// An operation that is ready to be measured.
enum Target {
    Local(Box<local::Runner>),
    Memory(memory::Runner),
    Service(Box<load::Generator>),
}

impl Target {
    fn start(bench: &server::Bench<'_>, operation: Operation) -> Result<Self, Failure> {
        match operation.kind {
            Kind::Local(work) => Ok(Self::Local(Box::new(local::Runner::new(
                work,
                bench.work.folder(),
            )?))),
            Kind::Memory(work) => Ok(Self::Memory(memory::Runner::new(work, bench)?)),
            Kind::Service(role, shape) => {
                let server = bench.server(role)?;
                Ok(Self::Service(Box::new(load::Generator::start(
                    server, shape,
                )?)))
            }
        }
    }

    fn block(&mut self, duration: Duration) -> Result<Block, Failure> {
        match self {
            Self::Local(runner) => runner.block(duration),
            Self::Memory(runner) => runner.block(),
            Self::Service(generator) => generator.block(duration),
        }
    }
}

fn find(name: &str) -> Result<Operation, Failure> {
    OPERATIONS
        .iter()
        .find(|operation| operation.name == name)
        .copied()
        .ok_or_else(|| {
            Failure::new(
                Exit::NotFound,
                format!("no operation is called {name}"),
                "see `keywright bench list ops`",
            )
        })
}

fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "give a time such as 500ms, 2s or 1m".to_owned();
    let split = text
        .find(|character: char| !character.is_ascii_digit())
        .ok_or_else(wrong)?;
    let (number, unit) = text.split_at(split);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let millis = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        _ => return Err(wrong()),
    };
    let time = number
        .checked_mul(millis)
        .filter(|millis| (1..=3_600_000).contains(millis));
    time.map(Duration::from_millis).ok_or_else(wrong)
}

const fn service(name: &'static str, role: Role, shape: Shape) -> Operation {
    Operation {
        name,
        target: "service",
        unit: if shape.items > 1 { "items" } else { "requests" },
        kind: Kind::Service(role, shape),
    }
}

const fn local(name: &'static str, unit: &'static str, work: local::Work) -> Operation {
    Operation {
        name,
        target: "local",
        unit,
        kind: Kind::Local(work),
    }
}

const fn memory(name: &'static str, unit: &'static str, work: memory::Work) -> Operation {
    Operation {
        name,
        target: "service",
        unit,
        kind: Kind::Memory(work),
    }
}

/// Everything that can be measured. Names are stable.
const OPERATIONS: &[Operation] = &[
    service("service.floor", Role::Floor, Shape::MANY),
    service("service.null", Role::Null, Shape::MANY),
    service("service.encrypt", Role::Keys, Shape::MANY),
    service(
        "service.decrypt",
        Role::Keys,
        Shape {
            decrypt: true,
            ..Shape::MANY
        },
    ),
    service(
        "service.encrypt.512",
        Role::Keys,
        Shape {
            bytes: 512,
            ..Shape::MANY
        },
    ),
    service(
        "service.encrypt.4k",
        Role::Keys,
        Shape {
            bytes: 4096,
            ..Shape::MANY
        },
    ),
    service(
        "service.encrypt.single-stream",
        Role::Keys,
        Shape {
            connections: 1,
            streams: 1,
            ..Shape::MANY
        },
    ),
    service(
        "service.encrypt.http1",
        Role::Keys,
        Shape {
            connections: 16,
            streams: 1,
            http1: true,
            ..Shape::MANY
        },
    ),
    service(
        "service.encrypt.batch",
        Role::Keys,
        Shape {
            connections: 1,
            streams: 2,
            bytes: 64,
            items: 1000,
            ..Shape::MANY
        },
    ),
    local("envelope.seal.64", "messages", local::Work::Seal),
    local("envelope.open.64", "messages", local::Work::Open),
    local("aead.aes-256-gcm.seal.16k", "MiB", local::Work::RawSeal),
    local("stream.seal.memory", "MiB", local::Work::StreamSeal),
    local("stream.open.memory", "MiB", local::Work::StreamOpen),
    local("file.copy", "MiB", local::Work::Copy),
    local("file.copy-and-raw-seal", "MiB", local::Work::CopyAndSeal),
    local("file.seal", "MiB", local::Work::FileSeal),
    local("file.seal.peak-memory", "MiB", local::Work::FileSealMemory),
    memory("service.start.10k", "starts", memory::Work::Start),
    memory("service.idle-memory.0", "MiB", memory::Work::Idle(0)),
    memory("service.idle-memory.1000", "MiB", memory::Work::Idle(1000)),
];
