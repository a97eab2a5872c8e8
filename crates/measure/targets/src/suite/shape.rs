//! The shape of a load: closed or open, how many at once, over how many connections.

use std::num::NonZeroU32;
use std::time::Duration;

use keywright_measure::load::{Arrival, MAX_RATE, Phase};

use super::error::{Error, Problem};
use super::fields::LONGEST;
use super::node::{Item, Located, Section};

/// Over which version of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the two that are measured")]
pub enum HttpVersion {
    /// HTTP/1.1: one request in flight on a connection.
    One,
    /// HTTP/2.
    Two,
}

/// A load as it was written. Several rates, or several numbers of workers, are several cases.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LoadFields {
    pub(super) mode: Mode,
    pub(super) connections: Option<Located<u32>>,
    pub(super) streams: Option<Located<u32>>,
    pub(super) http: Option<Located<HttpVersion>>,
}

/// The part of a load that says when operations start.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Mode {
    Closed {
        concurrency: Vec<Located<NonZeroU32>>,
    },
    Open {
        arrival: Arrival,
        rates: Vec<f64>,
        cap: Option<Located<NonZeroU32>>,
    },
}

const KEYS: &[&str] = &[
    "mode",
    "arrival",
    "rate",
    "cap",
    "concurrency",
    "connections",
    "streams",
    "http",
];
/// The most operations in flight.
const MOST_IN_FLIGHT: u32 = 1_000_000;
const MOST_CONNECTIONS: u32 = 100_000;
/// The slowest rate: one operation in almost twelve days.
const SLOWEST: f64 = 1e-6;

impl LoadFields {
    pub(super) fn read(item: &Item<'_>) -> Result<Located<Self>, Error> {
        let table = item.section("load", KEYS)?;
        let open = match table.get("mode", "load.mode") {
            Some(mode) => mode.word(&["closed", "open"])? == 1,
            None => ["rate", "cap", "arrival"]
                .iter()
                .any(|key| table.get(key, "load").is_some()),
        };
        let count = |key, field| {
            let item = table.get(key, field);
            item.map(|item| Ok(item.located(item.whole32(1..=MOST_CONNECTIONS)?)))
                .transpose()
        };
        let fields = Self {
            mode: if open {
                open_mode(&table)?
            } else {
                closed_mode(&table)?
            },
            connections: count("connections", "load.connections")?,
            streams: count("streams", "load.streams")?,
            http: table
                .get("http", "load.http")
                .map(|item| http(&item))
                .transpose()?,
        };
        one_stream_over_http_1(&fields)?;
        Ok(item.located(fields))
    }
}

fn one_stream_over_http_1(fields: &LoadFields) -> Result<(), Error> {
    let one = |http: &Located<HttpVersion>| http.value == HttpVersion::One;
    match (&fields.http, &fields.streams) {
        (Some(http), Some(streams)) if one(http) && streams.value > 1 => {
            Err(streams.error(Problem::Conflict {
                one: "load.http = 1",
                other: "more than one stream",
            }))
        }
        _ => Ok(()),
    }
}

fn refuse(table: &Section<'_>, mode: &'static str, keys: &[&'static str]) -> Result<(), Error> {
    for key in keys {
        if let Some(item) = table.get(key, key) {
            return Err(item.error(Problem::Conflict {
                one: mode,
                other: key,
            }));
        }
    }
    Ok(())
}

fn closed_mode(table: &Section<'_>) -> Result<Mode, Error> {
    refuse(table, "a closed load", &["rate", "cap", "arrival"])?;
    let mut concurrency: Vec<Located<NonZeroU32>> = Vec::new();
    if let Some(item) = table.get("concurrency", "load.concurrency") {
        for item in item.one_or_many()? {
            let count = in_flight(&item)?;
            if concurrency.iter().any(|other| other.value == count.value) {
                let name = count.value.to_string();
                return Err(count.error(Problem::Twice {
                    what: "concurrency",
                    name,
                }));
            }
            concurrency.push(count);
        }
    }
    Ok(Mode::Closed { concurrency })
}

fn open_mode(table: &Section<'_>) -> Result<Mode, Error> {
    refuse(table, "an open load", &["concurrency"])?;
    let mut rates: Vec<f64> = Vec::new();
    if let Some(item) = table.get("rate", "load.rate") {
        for item in item.one_or_many()? {
            let rate = item.number(SLOWEST..=MAX_RATE as f64)?;
            if rates.contains(&rate) {
                let name = rate.to_string();
                return Err(item.error(Problem::Twice { what: "rate", name }));
            }
            rates.push(rate);
        }
    }
    let arrival = match table.get("arrival", "load.arrival") {
        Some(item) if item.word(&["constant", "poisson"])? == 1 => Arrival::Poisson,
        _ => Arrival::Constant,
    };
    let cap = table.get("cap", "load.cap");
    Ok(Mode::Open {
        arrival,
        rates,
        cap: cap.map(|item| in_flight(&item)).transpose()?,
    })
}

fn in_flight(item: &Item<'_>) -> Result<Located<NonZeroU32>, Error> {
    let count = item.whole32(1..=MOST_IN_FLIGHT)?;
    Ok(item.located(NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN)))
}

fn http(item: &Item<'_>) -> Result<Located<HttpVersion>, Error> {
    let version = match item.whole(1..=2)? {
        1 => HttpVersion::One,
        _ => HttpVersion::Two,
    };
    Ok(item.located(version))
}

/// Phases: `{ rate = R, for = T }`, or `{ from = R, to = R, for = T }` for a rate that changes evenly.
pub(super) fn phases(item: &Item<'_>) -> Result<Located<Vec<Phase>>, Error> {
    let phases = item.list()?.iter().map(phase).collect::<Result<_, _>>()?;
    Ok(item.located(phases))
}

fn phase(item: &Item<'_>) -> Result<Phase, Error> {
    let table = item.section("a phase", &["rate", "from", "to", "for"])?;
    let lasts = table.need("for", "phases.for")?;
    let lasts = lasts.time(Duration::from_millis(1)..=LONGEST)?;
    let rate = |key, field| {
        let item = table.get(key, field);
        item.map(|item| item.number(0.0..=MAX_RATE as f64))
            .transpose()
    };
    let (even, from, to) = (
        rate("rate", "phases.rate")?,
        rate("from", "phases.from")?,
        rate("to", "phases.to")?,
    );
    let made = match (even, from, to) {
        (Some(rate), None, None) => Phase::constant(rate, lasts),
        (None, Some(from), Some(to)) => Phase::ramp(from, to, lasts),
        (Some(_), _, _) => {
            let problem = Problem::Conflict {
                one: "rate",
                other: "from and to",
            };
            return Err(item.error(problem));
        }
        _ => {
            let problem = Problem::Missing {
                table: "a phase",
                key: "rate, or from and to",
            };
            return Err(item.error(problem));
        }
    };
    made.map_err(|error| item.error(error.into()))
}
