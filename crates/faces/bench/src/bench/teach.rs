//! `bench demo closed-loop`: what a common way of load testing says of a slow server, and what it should
//! have said. Simulated, so it takes a moment and repeats.

use std::num::NonZeroU32;
use std::time::Duration;

use keywright_clock::{Clock, WallTime};
use keywright_measure::document::{Case, Document, Ending, Run, SCHEMA, SCHEMA_VERSION};
use keywright_measure::event::Nobody;
use keywright_measure::plan::{CasePlan, parse_count};
use keywright_measure::session::{Entry, Outcome, Session};
use keywright_measure::simulate::{Server, Service};
use keywright_measure::{Load, Open, Stop, Window, judge};
use keywright_report::text::{Detail, Settings};
use keywright_report::{Style, json, number, text};

use super::flags::time;
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

/// What common mistakes of measuring look like.
#[derive(Debug, clap::Args)]
pub(crate) struct DemoArguments {
    #[command(subcommand)]
    lesson: Lesson,
}

#[derive(Debug, clap::Subcommand)]
enum Lesson {
    /// A generator with a cap on operations in flight against a server that is slower than the target rate.
    ClosedLoop(ClosedLoop),
}

/// The rates of the lesson's ladder.
#[derive(Debug, clap::Args)]
struct ClosedLoop {
    /// What the server can do, in operations a second.
    #[arg(long, value_name = "RATE", default_value = "20700", value_parser = positive)]
    capacity: u64,
    /// Most operations in flight at once.
    #[arg(long, value_name = "N", default_value = "2000")]
    cap: NonZeroU32,
    /// How long each rate is offered.
    #[arg(long, value_name = "TIME", default_value = "6s", value_parser = time)]
    duration: Duration,
    /// The rates that are offered.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = [18_000, 25_000, 50_000, 100_000], value_parser = positive)]
    rates: Vec<u64>,
    /// Of the simulation.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
}

fn positive(text: &str) -> Result<u64, String> {
    parse_count(text)
        .filter(|count| (1..=10_000_000).contains(count))
        .ok_or_else(|| "give a rate between 1 and 10m".to_owned())
}

pub(super) fn run(arguments: &DemoArguments, format: Format) -> Result<Exit, Failure> {
    let Lesson::ClosedLoop(lesson) = &arguments.lesson;
    let cases = lesson.rates.iter().map(|rate| lesson.measure(*rate));
    let cases = cases.collect::<Result<Vec<_>, _>>()?;
    let end = cases
        .iter()
        .map(judge::exit_of)
        .fold(keywright_measure::Exit::Ok, keywright_measure::Exit::worst);
    let document = document(cases, end, lesson.seed);
    let text = match format {
        Format::Text => lesson.told(&document),
        _ => json::render(&document, json::Layout::Pretty).map_err(|error| {
            Failure::new(Exit::Internal, error.to_string(), "please report this")
        })?,
    };
    output::data(text.as_bytes())?;
    message!("exit {} {}", end.code(), end.name());
    Ok(super::exit_of(end))
}

impl ClosedLoop {
    fn measure(&self, rate: u64) -> Result<Case, Failure> {
        let open = Open::constant(rate as f64, self.duration, self.cap)
            .map_err(|error| Failure::new(Exit::Usage, error.to_string(), "give other rates"))?;
        let mut server = Server {
            service: Service::Fixed(Duration::from_secs_f64(1.0 / self.capacity as f64)),
            ..Server::default()
        };
        let plan = CasePlan {
            id: format!("offered-{rate}"),
            load: Load::Open(open),
            window: Window::Time(self.duration),
            warmup: Duration::ZERO,
            verify: keywright_measure::carry::Verify::Off,
            ..CasePlan::new("demo.request", "simulated")
        };
        let (clock, _hand) = Clock::simulated(WallTime::from_unix_seconds(0));
        let session = Session {
            clock: &clock,
            seed: self.seed,
            runs: 1,
            cooldown: Duration::ZERO,
            block: Duration::from_secs(1),
            facts: Vec::new(),
            stop: &Stop::new(),
            rest: |_| {},
        };
        let mut entries = [Entry {
            plan,
            carrier: &mut server,
        }];
        match session.measure(&mut entries, &Nobody).pop() {
            Some(Outcome::Measured(case)) => Ok(*case),
            _ => Err(Failure::broken("a simulated server could not be measured")),
        }
    }

    /// First the table that hides it, then the report.
    fn told(&self, document: &Document) -> String {
        let mut told = format!(
            "A server that does {} a second, a generator with at most {} operations in flight.\n\
             A report that starts its clock when a request is sent, and counts only those, has the second \
             column and calls all of it a success:\n\n{:>14} {:>16} {:>20}\n",
            number::count(self.capacity),
            self.cap,
            "asked for",
            "mean from send",
            "left out: never sent"
        );
        for case in &document.cases {
            let mean = case
                .service
                .as_ref()
                .and_then(|service| service.mean_ns)
                .unwrap_or(0.0);
            told += &format!(
                "{:>14} {:>16} {:>20}\n",
                number::plain(case.load.rate_per_s.unwrap_or(0.0)),
                number::time(mean),
                number::count(case.counts.never_sent)
            );
        }
        told += "\nWhat happened:\n\n";
        told + &text::render(document, Settings::new(Style::Plain, Detail::Normal))
    }
}

fn document(cases: Vec<Case>, end: keywright_measure::Exit, seed: u64) -> Document {
    let mut verdicts: Vec<_> = cases
        .iter()
        .flat_map(|case| case.verdicts.clone())
        .collect();
    verdicts.sort_unstable();
    verdicts.dedup();
    Document {
        schema: SCHEMA.to_owned(),
        schema_version: SCHEMA_VERSION.to_owned(),
        tool: super::sitting::tool(),
        run: Run {
            id: "0000000000000000".to_owned(),
            command: super::sitting::command(),
            seed,
            ..Run::default()
        },
        cases,
        verdicts,
        exit: Ending::from(end),
        ..Document::default()
    }
}
