//! A short measurement of the running service by the engine: closed loops, outputs looked at.
//!
//! Generator and service share the machine's cores here, and the table says so. `keywright bench` and
//! `make bench` measure with separate cores.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use keywright_client::Settings;
use keywright_clock::Clock;
use keywright_measure::document::{Case, Latency};
use keywright_measure::event::Nobody;
use keywright_measure::plan::CasePlan;
use keywright_measure::session::{Entry, Outcome, Session};
use keywright_measure::{Carrier, Load, Stop, Window, Word, judge};
use keywright_report::number;
use keywright_targets::service::{self, Access, Shape};
use keywright_tls::Protocol;

use super::progress;
use crate::bench::unmeasurable;
use crate::exit::{Exit, Failure};
use crate::place;

/// Settings for a client of the service at `address`.
pub(crate) fn settings(
    home: &Path,
    address: SocketAddr,
    client: Option<&str>,
) -> Result<Settings, Failure> {
    let pair = client.map(|name| {
        let clients = home.join("clients");
        (
            clients.join(format!("{name}.pem")),
            clients.join(format!("{name}.key")),
        )
    });
    let identity = pair
        .as_ref()
        .map(|(certificate, key)| (certificate.as_path(), key.as_path()));
    let tls = place::tls(&home.join("ca.pem"), identity, Protocol::Http2)?;
    place::settings(&format!("https://{address}"), tls)
}

/// What is asked, and how many of what that is.
const ASKED: [(&str, &str, Shape); 2] = [
    (
        "encrypt, 12 bytes, 16 streams",
        "requests",
        Shape {
            connections: 1,
            ..Shape::MANY
        },
    ),
    (
        "encrypt, batches of 1,000 x 64 bytes",
        "items",
        Shape {
            connections: 1,
            streams: 1,
            bytes: 64,
            items: 1000,
            ..Shape::MANY
        },
    ),
];

/// Measures for `seconds` and prints the table.
pub(super) fn run(home: &Path, address: SocketAddr, seconds: u64) -> Result<(), Failure> {
    let bar = progress::count(ASKED.len() as u64, "measuring");
    let access = Access::of_demonstration(&format!("https://{address}"), home)
        .map_err(|error| unmeasurable(&error))?;
    let time = Duration::from_millis(seconds * 1000 / ASKED.len() as u64);
    let mut cases = Vec::new();
    for (what, unit, shape) in ASKED {
        let mut carrier =
            service::carrier(shape, &access, SEED).map_err(|error| unmeasurable(&error))?;
        cases.push(measure(plan(what, unit, shape, time), &mut carrier)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    print(&cases);
    Ok(())
}

/// Inputs are drawn from it.
const SEED: u64 = 1;

fn plan(what: &str, unit: &str, shape: Shape, time: Duration) -> CasePlan {
    CasePlan {
        id: what.to_owned(),
        unit: unit.to_owned(),
        units: u64::from(shape.items),
        bytes: u64::from(shape.items) * u64::from(shape.bytes),
        load: Load::Closed {
            workers: NonZeroU32::new(shape.places()).unwrap_or(NonZeroU32::MIN),
        },
        window: Window::Time(time),
        warmup: time / 20,
        ..CasePlan::new("service.encrypt", "service")
    }
}

fn measure(plan: CasePlan, carrier: &mut dyn Carrier) -> Result<Case, Failure> {
    let clock = Clock::system();
    let session = Session {
        clock: &clock,
        seed: SEED,
        runs: 1,
        cooldown: Duration::ZERO,
        block: Duration::from_millis(500),
        facts: vec![Word::CoLocated],
        stop: &Stop::new(),
        rest: std::thread::sleep,
    };
    match session
        .measure(&mut [Entry { plan, carrier }], &Nobody)
        .pop()
    {
        Some(Outcome::Measured(case)) => sound(*case),
        Some(Outcome::Skipped { error, .. }) => Err(unmeasurable(&error)),
        _ => Err(Failure::broken("nothing was measured")),
    }
}

/// A figure with a wrong or a missing answer behind it is none.
fn sound(case: Case) -> Result<Case, Failure> {
    match Exit::from(judge::exit_of(&case)) {
        Exit::Ok => Ok(case),
        exit => Err(Failure::new(
            exit,
            format!("{}: {}", case.id, case.verdict()),
            "see what the service answers: keywright bench op service.encrypt",
        )),
    }
}

fn print(cases: &[Case]) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    progress_line!(
        "      {:<38} {:>22} {:>10} {:>10} {:>10}",
        "",
        "rate",
        "p50",
        "p95",
        "p99"
    );
    for case in cases {
        let of = |name| quantile(case.service.as_ref(), name);
        let rate = format!("{} {}", case.unit, number::rate(case.achieved_per_s));
        progress_line!(
            "      {:<38} {rate:>22} {:>10} {:>10} {:>10}",
            case.id,
            of("p50"),
            of("p95"),
            of("p99")
        );
    }
    progress_line!(
        "      closed loop, one run each, on {cores} cores shared by generator and service; outputs sampled and compared"
    );
}

/// A quantile, or why there is none.
fn quantile(latency: Option<&Latency>, name: &str) -> String {
    let quantile = latency.and_then(|latency| latency.quantile(name));
    match quantile.and_then(|quantile| quantile.value) {
        Some(nanos) => number::nanoseconds(nanos),
        None => format!("n/a (n={})", latency.map_or(0, |latency| latency.n)),
    }
}
