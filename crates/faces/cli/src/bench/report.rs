//! What a run prints.

use serde::Serialize;

use super::Operation;
use super::gate::Verdict;
use crate::output::{self, Format};

/// One block of one operation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    /// What was done, in the operation's unit.
    pub(crate) done: f64,
    /// How long it took, in seconds.
    pub(crate) seconds: f64,
    /// Processor time of the server, or of this thread, in nanoseconds.
    pub(crate) cpu_ns: f64,
    /// Payload bytes.
    pub(crate) bytes: f64,
    /// Latencies of single requests in nanoseconds, sorted; empty where there are none.
    pub(crate) latencies: Vec<u64>,
}

/// All blocks of one operation.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    unit: &'static str,
    blocks: Vec<Block>,
}

impl Case {
    pub(crate) const fn new(name: &'static str, unit: &'static str) -> Self {
        Self {
            name,
            unit,
            blocks: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, block: Block) {
        self.blocks.push(block);
    }

    /// The median over rounds of units per second.
    pub(crate) fn rate(&self) -> f64 {
        self.median(|block| block.done / block.seconds)
    }

    /// The median over rounds of processor time per unit, in nanoseconds.
    pub(crate) fn cost_ns(&self) -> f64 {
        self.median(|block| block.cpu_ns / block.done)
    }

    /// Round by round, for ratios of pairs.
    pub(crate) fn rounds(&self) -> &[Block] {
        &self.blocks
    }

    fn bytes_per_s(&self) -> f64 {
        self.median(|block| block.bytes / block.seconds)
    }

    fn quantile(&self, share: f64) -> Option<f64> {
        let has = self.blocks.iter().any(|block| !block.latencies.is_empty());
        has.then(|| self.median(|block| quantile(&block.latencies, share)))
    }

    fn median(&self, of: impl Fn(&Block) -> f64) -> f64 {
        median(self.blocks.iter().map(of).collect())
    }
}

/// The middle value; of an even number of values the mean of the two in the middle.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.get(middle) {
        None => f64::NAN,
        Some(value) if values.len() % 2 == 1 => *value,
        Some(value) => f64::midpoint(values[middle - 1], *value),
    }
}

fn quantile(sorted: &[u64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "share is within 0 and 1"
    )]
    let index = (share * last as f64).round() as usize;
    sorted.get(index).map_or(f64::NAN, |nanos| *nanos as f64)
}

#[derive(Serialize)]
struct Document<'a> {
    machine: Machine,
    cases: Vec<CaseFields<'a>>,
    gates: &'a [Verdict],
}

#[derive(Serialize)]
struct Machine {
    cpus: usize,
    version: &'static str,
    debug_build: bool,
}

#[derive(Serialize)]
struct CaseFields<'a> {
    op: &'a str,
    unit: &'a str,
    rounds: usize,
    achieved_per_s: f64,
    bytes_per_s: f64,
    cpu_ns_per_unit: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<Quantiles>,
}

#[derive(Serialize)]
struct Quantiles {
    p50_ns: Value,
    p99_ns: Value,
}

#[derive(Serialize)]
struct Value {
    value: f64,
}

#[derive(Serialize)]
struct Listing<'a> {
    operations: Vec<ListingEntry<'a>>,
}

#[derive(Serialize)]
struct ListingEntry<'a> {
    name: &'a str,
    target: &'a str,
    unit: &'a str,
}

pub(super) fn list(format: Format, operations: &[Operation]) {
    let entries = operations.iter();
    let entries = entries
        .map(|o| ListingEntry {
            name: o.name,
            target: o.target,
            unit: o.unit,
        })
        .collect();
    output::result(
        format,
        &Listing {
            operations: entries,
        },
        || {
            for operation in operations {
                println!(
                    "{:<32} {:<8} {}",
                    operation.name, operation.target, operation.unit
                );
            }
        },
    );
}

pub(super) fn print(format: Format, cases: &[Case], gates: &[Verdict]) {
    let machine = Machine {
        cpus: std::thread::available_parallelism().map_or(1, usize::from),
        version: env!("CARGO_PKG_VERSION"),
        debug_build: cfg!(debug_assertions),
    };
    if machine.debug_build {
        eprintln!("warning: DEBUG BUILD: these figures say nothing about a release");
    }
    let document = Document {
        machine,
        cases: cases.iter().map(fields).collect(),
        gates,
    };
    output::result(format, &document, || table(cases, gates));
}

fn fields(case: &Case) -> CaseFields<'_> {
    let service = case
        .quantile(0.5)
        .zip(case.quantile(0.99))
        .map(|(p50, p99)| Quantiles {
            p50_ns: Value { value: p50 },
            p99_ns: Value { value: p99 },
        });
    CaseFields {
        op: case.name,
        unit: case.unit,
        rounds: case.blocks.len(),
        achieved_per_s: case.rate(),
        bytes_per_s: case.bytes_per_s(),
        cpu_ns_per_unit: case.cost_ns(),
        service,
    }
}

fn table(cases: &[Case], gates: &[Verdict]) {
    println!(
        "{:<32} {:>14} {:<9} {:>12} {:>10} {:>10}",
        "operation", "per second", "of", "cpu ns each", "p50 us", "p99 us"
    );
    for case in cases {
        let micros = |share| {
            case.quantile(share)
                .map_or_else(String::new, |ns| format!("{:.0}", ns / 1000.0))
        };
        println!(
            "{:<32} {:>14.1} {:<9} {:>12.0} {:>10} {:>10}",
            case.name,
            case.rate(),
            case.unit,
            case.cost_ns(),
            micros(0.5),
            micros(0.99)
        );
    }
    for gate in gates {
        let word = if gate.holds { "holds" } else { "DOES NOT HOLD" };
        println!("gate {}: {:.3}, {word}", gate.condition, gate.value);
    }
}
