//! The events of a run that never was: three cases, one of them overloaded, one with a stall.

use std::collections::BTreeMap;

use keywright_measure::Word;
use keywright_measure::document::{
    BlockRecord, Bound, Case, Checks, Counts, Latency, LoadRecord, Quantile,
};
use keywright_measure::event::Event;

const SECOND: u64 = 1_000_000_000;

/// A case of the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planned {
    id: &'static str,
    target_per_s: Option<f64>,
    /// Of a second, in microseconds.
    median_us: f64,
    /// What of the offered rate is achieved.
    share: f64,
    verdicts: &'static [Word],
}

pub(crate) const PLAN: [Planned; 3] = [
    Planned {
        id: "sign.ecdsa-p256",
        target_per_s: Some(2_000.0),
        median_us: 412.0,
        share: 1.0,
        verdicts: &[Word::Valid, Word::CoLocated],
    },
    Planned {
        id: "verify.ed25519",
        target_per_s: None,
        median_us: 88.0,
        share: 1.0,
        verdicts: &[Word::Valid, Word::ClosedLoop],
    },
    Planned {
        id: "service.encrypt 4 KiB",
        target_per_s: Some(20_000.0),
        median_us: 1_900.0,
        share: 0.62,
        verdicts: &[Word::Saturated, Word::TargetErrors, Word::CoLocated],
    },
];

/// Every event of a run of `seconds` a case, with the nanosecond at which it comes.
pub(crate) fn events(seconds: u64) -> Vec<(u64, Event)> {
    let started = Event::Started {
        run: "9f2c41d07be8a365".into(),
        cases: PLAN.len(),
    };
    let mut out = vec![(0, started)];
    for (place, planned) in PLAN.iter().enumerate() {
        let began = u64::try_from(place).unwrap() * seconds * SECOND;
        out.push((began, case_started(planned, place, seconds)));
        for second in 0..seconds {
            out.push((began + (second + 1) * SECOND, block(planned, second)));
        }
        let case = Box::new(case(planned, seconds));
        out.push((began + seconds * SECOND, Event::CaseFinished { case }));
    }
    let end = out.last().unwrap().0;
    let text = "target and generator share 2 cores: figures are of both together".into();
    out.push((end, Event::Remark { text }));
    let exit = "measurement_invalid".into();
    out.push((end, Event::Finished { exit }));
    out
}

/// The events up to the middle of the last case.
pub(crate) fn under_way(seconds: u64) -> Vec<(u64, Event)> {
    let half = (2 * seconds + seconds / 2) * SECOND;
    let mut events = events(seconds);
    events.retain(|(at, event)| *at <= half && !matches!(event, Event::Finished { .. }));
    let text = "load average 1.2 on 2 cores before the run".into();
    events.insert(1, (0, Event::Remark { text }));
    events
}

fn case_started(planned: &Planned, place: usize, seconds: u64) -> Event {
    Event::CaseStarted {
        id: planned.id.into(),
        place,
        expected_ns: seconds * SECOND,
        target_per_s: planned.target_per_s,
    }
}

/// Between 0 and 1, the same for the same number every time.
fn wobble(number: u64) -> f64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31);
    f64::from(u16::try_from((mixed ^ (mixed >> 29)) & 0xffff).unwrap()) / 65_535.0
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "invented figures"
)]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

pub(crate) fn block(planned: &Planned, second: u64) -> Event {
    let stalled = planned.target_per_s == Some(2_000.0) && (18..21).contains(&(second % 60));
    let slower = if stalled {
        9.0
    } else {
        1.0 + 0.25 * wobble(second * 7 + 1)
    };
    let base = planned.target_per_s.unwrap_or(10_800.0) * planned.share;
    let rate = base * (0.985 + 0.03 * wobble(second * 3 + 2)) / if stalled { 1.5 } else { 1.0 };
    let median = planned.median_us * 1_000.0 * slower;
    let failing = planned.share < 1.0;
    let failed = if failing {
        whole(40.0 * wobble(second + 5))
    } else {
        0
    };
    let block = BlockRecord {
        run: 0,
        start_ns: second * SECOND,
        duration_ns: SECOND,
        done: whole(rate),
        failed,
        in_flight: whole(rate * median / 1e9) + u64::from(failing) * (20 + second % 9),
        p50_ns: Some(whole(median)),
        p99_ns: Some(whole(median * (4.0 + wobble(second * 11 + 3)))),
        max_ns: Some(whole(median * (11.0 + 9.0 * wobble(second * 13 + 4)))),
        canary: Some(1.0 + 0.02 * wobble(second * 17 + 6)),
        ..BlockRecord::default()
    };
    Event::Block {
        id: planned.id.into(),
        rate_per_s: rate,
        block,
        quantiles: quantiles(planned.median_us * 1_000.0),
        histogram: histogram(planned.median_us * 1_000.0, rate * float(second + 1)),
        errors: if failing {
            faults(second + 1)
        } else {
            Vec::new()
        },
    }
}

fn quantiles(median: f64) -> Vec<(String, u64)> {
    [
        ("p50", 1.0),
        ("p90", 2.1),
        ("p95", 2.8),
        ("p99", 4.4),
        ("p99.9", 9.7),
    ]
    .into_iter()
    .map(|(name, times)| (name.to_owned(), whole(median * times)))
    .collect()
}

/// A bell over the logarithm, with a tail.
fn histogram(median: f64, of: f64) -> Vec<(u64, u64)> {
    (0_u32..34)
        .map(|bin| {
            let place = f64::from(bin) / 33.0;
            let bell = (-((place - 0.3) / 0.13).powi(2)).exp() + 0.05 * (-3.0 * place).exp();
            (
                whole(median * 30_f64.powf(place - 0.3)),
                whole(of * bell / 8.0),
            )
        })
        .collect()
}

fn faults(second: u64) -> Vec<(String, u64)> {
    vec![
        ("status: 503 overloaded".into(), second * 17),
        ("stream: timeout".into(), second * 3),
        ("dial: connection refused".into(), second.div_ceil(4)),
    ]
}

fn float(n: u64) -> f64 {
    f64::from(u32::try_from(n).unwrap())
}

fn latency(median: f64) -> Latency {
    let quantiles: BTreeMap<String, Quantile> = quantiles(median)
        .into_iter()
        .map(|(name, value)| {
            let bound = Bound::Exact;
            let quantile = Quantile {
                value: Some(value),
                n: 60_000,
                bound,
                ..Quantile::default()
            };
            (format!("{name}_ns"), quantile)
        })
        .collect();
    Latency {
        quantiles,
        n: 60_000,
        ..Latency::default()
    }
}

pub(crate) fn case(planned: &Planned, seconds: u64) -> Case {
    let rate = planned.target_per_s.unwrap_or(10_800.0) * planned.share;
    let sent = whole(rate) * seconds;
    let error = if planned.share < 1.0 { 20 * seconds } else { 0 };
    let median = planned.median_us * 1_000.0;
    Case {
        id: planned.id.into(),
        op: planned.id.into(),
        target: "service".into(),
        unit: "op".into(),
        achieved_per_s: rate,
        load: LoadRecord {
            rate_per_s: planned.target_per_s,
            ..LoadRecord::default()
        },
        counts: Counts {
            planned: sent,
            sent,
            verified: sent - error,
            error,
            ..Counts::default()
        },
        response: planned.target_per_s.map(|_| latency(median)),
        service: Some(latency(median * 0.9)),
        lateness: Some(latency(5_000.0)),
        pacer: Some(latency(2_000.0)),
        checks: Checks {
            little_percent: Some(0.4),
            ceiling_percent: Some(3.1),
            noise_percent: Some(0.8),
            ..Checks::default()
        },
        verdicts: planned.verdicts.to_vec(),
        ..Case::default()
    }
}
