//! A document with everything in it, its figures made up but consistent.

use std::collections::BTreeMap;

use keywright_measure::document::{
    Bin, BlockRecord, Bound, Calibration, Case, Checks, Comparison, Counts, Document, Ending,
    Environment, FaultCount, Gate, Interval, Latency, LoadRecord, Model, Objective, Part,
    PhaseRecord, Quantile, RecoveryModel, Remark, Run, RunRecord, SCHEMA, SCHEMA_VERSION,
    SaturationModel, Suite, Tool, Trial,
};
use keywright_measure::{Exit, Word};

use super::models;

pub(crate) fn rich() -> Document {
    Document {
        schema: SCHEMA.into(),
        schema_version: SCHEMA_VERSION.into(),
        tool: Tool {
            name: "keywright".into(),
            version: "0.1.0".into(),
            commit: Some("4cc44b6".into()),
            profile: "release".into(),
            features: vec!["tui".into()],
        },
        run: Run {
            id: "00112233aabbccdd".into(),
            started: "2026-11-20T13:00:00Z".into(),
            duration_ns: 184_000_000_000,
            command: "keywright bench run suites/ci.toml".into(),
            seed: 42,
            suite: Some(Suite {
                name: "ci".into(),
                sha256: "ab".repeat(32),
            }),
            note: Some("after the new cache".into()),
            tags: vec!["ci".into()],
        },
        environment: environment(),
        calibration: Calibration {
            timer_resolution_ns: 1,
            timer_cost_ps: 19_000,
            noise_percent: Some(0.8),
            noise: Some("quiet".into()),
            ceilings_per_s: BTreeMap::from([("threads".to_owned(), 2_100_000.0)]),
        },
        cases: vec![
            open(),
            closed(),
            burst(),
            saturated(),
            models::scaling(),
            models::sizes(),
            models::breakdown(),
            memory(),
        ],
        gates: vec![Gate {
            condition: "sign.p99 <= 2 ms".into(),
            value: 1_830_000.0,
            interval: Some(Interval {
                lo: 1_750_000.0,
                hi: 1_940_000.0,
            }),
            holds: true,
        }],
        comparison: comparisons(),
        verdicts: vec![Word::Saturated, Word::Valid, Word::ClosedLoop],
        validity: vec![Remark {
            word: Some(Word::CoLocated),
            case: None,
            text: "generator and target share 2 cores".into(),
            remedy: Some("pin them apart or use a second machine".into()),
        }],
        exit: Ending::from(Exit::MeasurementInvalid),
    }
}

fn environment() -> Environment {
    let facts = [("label", "DEV_TOKEN"), ("module", "SoftHSM 2.6.1")];
    let facts = facts.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Environment {
        os: "Linux 6.1".into(),
        kernel: "6.1.0".into(),
        cpu: "Example CPU 3.0 GHz".into(),
        cpu_features: vec!["aes".into(), "avx2".into()],
        cores: 2,
        machine_cores: 8,
        memory_bytes: 16 << 30,
        governor: Some("performance".into()),
        smt: Some(true),
        virtualisation: Some("kvm".into()),
        clock_source: Some("tsc".into()),
        load_average: Some(0.12),
        targets: BTreeMap::from([("soft".to_owned(), facts.into())]),
    }
}

fn quantile(ns: u64, lo: u64, hi: u64, n: u64) -> Quantile {
    Quantile {
        value: Some(ns),
        lo: Some(lo),
        hi: Some(hi),
        n,
        bound: Bound::Exact,
        value_ps: None,
        lo_ps: None,
        hi_ps: None,
    }
}

fn latency(scale: u64, n: u64) -> Latency {
    let quantiles = [
        ("p50_ns", 412, 405, 420),
        ("p90_ns", 760, 741, 779),
        ("p95_ns", 1_010, 980, 1_045),
        ("p99_ns", 1_830, 1_750, 1_940),
        ("p99.9_ns", 4_100, 3_600, 5_200),
    ];
    let quantiles = quantiles.map(|(name, at, lo, hi)| {
        (
            name.to_owned(),
            quantile(at * scale, lo * scale, hi * scale, n),
        )
    });
    const BINS: [(u64, u64); 14] = [
        (243, 1),
        (328, 20),
        (442, 140),
        (597, 310),
        (807, 240),
        (1_090, 130),
        (1_470, 70),
        (1_990, 40),
        (2_680, 20),
        (3_620, 15),
        (4_880, 6),
        (6_590, 4),
        (8_900, 2),
        (12_000, 1),
    ];
    let bins = BINS.map(|(end, thousandths)| Bin {
        to_ns: end * scale,
        n: n * thousandths / 1_000,
    });
    Latency {
        quantiles: quantiles.into(),
        n,
        min_ns: Some(180 * scale),
        max_ns: Some(9_020 * scale),
        mean_ns: Some(478.0 * scale as f64),
        mad_ns: Some(61 * scale),
        batch_k: None,
        hdr: Some(
            "HISTFAAAADd4nJNpmSzMwMAgzgABzFCaEUwKLLxg/wEicLmXkWk1m0Yv6w2Wds43LBvZHjD/ZW9iAgANXgxe"
                .into(),
        ),
        outliers: None,
        bins: bins.into(),
    }
}

/// Two runs of thirty seconds with a slow stretch in each.
fn blocks(rate: u64) -> Vec<BlockRecord> {
    let seconds = (0..2_u32).flat_map(|run| (0..30_u64).map(move |k| (run, k)));
    seconds
        .map(|(run, k)| {
            let wave = (k * 7_919 + u64::from(run) * 31) % 97;
            let slow = if (17..20).contains(&k) { 2 } else { 1 };
            BlockRecord {
                run,
                start_ns: k * 1_000_000_000,
                duration_ns: 1_000_000_000,
                done: rate / slow + wave % 5,
                failed: if slow > 1 { 3 } else { 0 },
                in_flight: 2 + wave % 4 + (slow - 1) * 55,
                p50_ns: Some((405_000 + wave * 300) * slow),
                p99_ns: Some((1_700_000 + wave * 5_000) * slow * slow),
                max_ns: Some(9_000_000 * slow),
                canary: Some(1.0 + wave as f64 / 12_000.0),
                ..BlockRecord::default()
            }
        })
        .collect()
}

fn run(run: u32, rate: f64, counts: &Counts) -> RunRecord {
    RunRecord {
        run,
        achieved_per_s: rate,
        counts: counts.clone(),
        p50_ns: Some(398_000),
        p99_ns: Some(1_710_000),
        cpu_ns_per_unit: Some(352_000.0),
        noise_percent: Some(0.7),
        unsettled_blocks: Some(5),
        ..RunRecord::default()
    }
}

/// A sound measurement at a constant rate, with a mix and a comparison.
#[expect(clippy::too_many_lines, reason = "one record, member by member")]
fn open() -> Case {
    let counts = Counts {
        planned: 120_000,
        sent: 120_000,
        verified: 1_200,
        unverified: 118_780,
        error: 20,
        ..Counts::default()
    };
    let part = |name: &str, weight: f64| Part {
        name: name.into(),
        weight,
        counts: Counts {
            planned: 60_000,
            sent: 60_000,
            unverified: 60_000,
            ..Counts::default()
        },
        achieved_per_s: 1_000.0,
        response: Some(latency(1_000, 60_000)),
        service: Some(latency(960, 60_000)),
    };
    Case {
        id: "sign-mix".into(),
        op: "sign.ecdsa-p256".into(),
        target: "soft".into(),
        unit: "operations".into(),
        parameters: BTreeMap::from([("size_bytes".to_owned(), "32".to_owned())]),
        load: poisson(),
        runs: (0..5)
            .map(|k| run(k, 1_998.0 + f64::from(k), &counts))
            .collect(),
        counts,
        errors: vec![FaultCount {
            phase: "service".into(),
            code: "CKR_DEVICE_ERROR".into(),
            n: 20,
        }],
        achieved_per_s: 1_999.7,
        achieved_interval: Some(Interval {
            lo: 1_996.0,
            hi: 2_003.0,
        }),
        bytes_per_s: Some(63_990.0),
        cpu_ns_per_unit: Some(352_000.0),
        response: Some(latency(1_000, 119_980)),
        service: Some(latency(960, 119_980)),
        lateness: Some(latency(12, 119_980)),
        pacer: Some(latency(5, 119_980)),
        error_latency: Some(latency(3_000, 20)),
        blocks: blocks(2_000),
        checks: checks(),
        objectives: vec![
            Objective {
                condition: "p99<=20ms".into(),
                value: Some(1_830_000.0),
                outcome: "met".into(),
            },
            Objective {
                condition: "errors<=0.1%".into(),
                value: Some(0.000_17),
                outcome: "met".into(),
            },
        ],
        parts: vec![part("verify", 80.0), part("sign", 20.0)],
        model: None,
        verdicts: vec![Word::Valid, Word::Pass],
        validity: vec![Remark {
            word: None,
            case: None,
            text: "1 block was cut from the front of each run".into(),
            remedy: None,
        }],
        ..Case::default()
    }
}

fn poisson() -> LoadRecord {
    LoadRecord {
        mode: "open".into(),
        arrival: Some("poisson".into()),
        rate_per_s: Some(2_000.0),
        cap: 64,
        connections: Some(4),
        duration_ns: 30_000_000_000,
        warmup_ns: 2_000_000_000,
        ..LoadRecord::default()
    }
}

fn checks() -> Checks {
    Checks {
        little_percent: Some(0.4),
        ceiling_percent: Some(3.0),
        noise_percent: Some(0.8),
        drift_p: Some(0.41),
        autocorrelation: Some(0.06),
        timing: "single operations".into(),
    }
}

/// Small local work in a loop, with quantiles in picoseconds and one that is withheld.
fn closed() -> Case {
    let mut service = latency(1, 800);
    service.batch_k = Some(256);
    for quantile in service.quantiles.values_mut() {
        quantile.value_ps = quantile.value.map(|ns| ns * 1_000 + 250);
    }
    let tail = Quantile {
        n: 800,
        bound: Bound::TooFewSamples,
        ..Quantile::default()
    };
    service.quantiles.insert("p99.9_ns".into(), tail);
    Case {
        id: "blake3-32B".into(),
        op: "hash.blake3".into(),
        target: "local".into(),
        unit: "operations".into(),
        parameters: BTreeMap::from([("size_bytes".to_owned(), "32".to_owned())]),
        load: LoadRecord {
            mode: "closed".into(),
            cap: 1,
            iterations: Some(204_800),
            ..LoadRecord::default()
        },
        counts: Counts {
            planned: 204_800,
            sent: 204_800,
            verified: 204_800,
            ..Counts::default()
        },
        achieved_per_s: 2_100_000.0,
        service: Some(service),
        checks: Checks {
            timing: "batches of 256".into(),
            ..Checks::default()
        },
        verdicts: vec![
            Word::TooFewSamples,
            Word::Valid,
            Word::ClosedLoop,
            Word::SingleRun,
        ],
        ..Case::default()
    }
}

/// A quantity that is no rate.
fn memory() -> Case {
    Case {
        id: "idle-memory".into(),
        op: "memory.idle".into(),
        target: "service".into(),
        unit: "bytes".into(),
        figure: Some(12_900_000.0),
        verdicts: vec![Word::Valid],
        ..Case::default()
    }
}

fn phase(rate: f64, end: f64, seconds: u64) -> PhaseRecord {
    PhaseRecord {
        rate_per_s: rate,
        end_rate_per_s: end,
        duration_ns: seconds * 1_000_000_000,
    }
}

/// A spike and its recovery.
fn burst() -> Case {
    let counts = Counts {
        planned: 175_000,
        sent: 175_000,
        verified: 175_000,
        ..Counts::default()
    };
    let mut blocks = blocks(3_500);
    blocks.truncate(30);
    Case {
        id: "burst".into(),
        op: "encrypt".into(),
        target: "service".into(),
        unit: "operations".into(),
        load: LoadRecord {
            mode: "open".into(),
            arrival: Some("constant".into()),
            rate_per_s: Some(2_500.0),
            phases: vec![
                phase(2_500.0, 2_500.0, 10),
                phase(2_500.0, 10_000.0, 5),
                phase(2_500.0, 2_500.0, 15),
            ],
            cap: 256,
            duration_ns: 30_000_000_000,
            ..LoadRecord::default()
        },
        counts,
        achieved_per_s: 3_500.0,
        response: Some(latency(2_000, 175_000)),
        service: Some(latency(1_500, 175_000)),
        blocks,
        model: Some(Model::Recovery(RecoveryModel {
            before_p99_ns: 3_660_000,
            after_p99_ns: Some(3_700_000),
            recovery_ns: Some(1_200_000_000),
            peak_in_flight: 256,
            peak_backlog: 1_830,
            latency_debt_s: 91.5,
            lost: 0,
            refused: 12,
        })),
        verdicts: vec![Word::Valid],
        ..Case::default()
    }
}

/// A ladder of rates whose top was more than the target could do.
#[expect(clippy::too_many_lines, reason = "one record, member by member")]
fn saturated() -> Case {
    let trial = |rate: f64, achieved: f64, p99: u64, failed: Option<&str>| Trial {
        rate_per_s: rate,
        achieved_per_s: achieved,
        p50_ns: Some(p99 / 4),
        p99_ns: Some(p99),
        failed: failed.map(str::to_owned),
    };
    let late = |ns: u64| Quantile {
        value: Some(ns),
        n: 150_000,
        bound: Bound::AtLeast,
        ..Quantile::default()
    };
    let quantiles = [
        ("p50_ns", late(900_000_000)),
        ("p95_ns", late(1_700_000_000)),
        ("p99_ns", late(1_780_000_000)),
    ];
    Case {
        id: "encrypt-25k".into(),
        op: "encrypt".into(),
        target: "service".into(),
        unit: "operations".into(),
        load: LoadRecord {
            mode: "open".into(),
            arrival: Some("constant".into()),
            rate_per_s: Some(25_000.0),
            cap: 2_000,
            duration_ns: 6_000_000_000,
            ..LoadRecord::default()
        },
        counts: Counts {
            planned: 150_000,
            sent: 126_200,
            never_sent: 23_800,
            unverified: 126_100,
            timeout: 60,
            censored: 40,
            ..Counts::default()
        },
        achieved_per_s: 20_700.0,
        response: Some(Latency {
            quantiles: quantiles
                .map(|(name, quantile)| (name.to_owned(), quantile))
                .into(),
            n: 150_000,
            ..Latency::default()
        }),
        service: Some(latency(202_000, 126_100)),
        model: Some(Model::Saturation(SaturationModel {
            highest_passing_per_s: Some(20_000.0),
            lowest_failing_per_s: Some(21_000.0),
            criterion: Some("in flight rises".into()),
            knee_per_s: Some(17_500.0),
            trials: vec![
                trial(5_000.0, 5_000.0, 2_100_000, None),
                trial(10_000.0, 9_998.0, 2_600_000, None),
                trial(20_000.0, 19_985.0, 9_800_000, None),
                trial(21_000.0, 20_650.0, 240_000_000, Some("in flight rises")),
                trial(40_000.0, 20_700.0, 5_200_000_000, Some("achieved 52 %")),
            ],
        })),
        verdicts: vec![Word::ConcurrencyLimited, Word::Saturated, Word::CoLocated],
        ..Case::default()
    }
}

fn comparisons() -> Vec<Comparison> {
    let one = |case: &str, metric: &str, ratio: f64, verdict: Word| Comparison {
        case: case.into(),
        against: "main".into(),
        metric: metric.into(),
        ratio,
        interval: Some(Interval {
            lo: ratio * 0.987,
            hi: ratio * 1.013,
        }),
        p: Some(0.6),
        delta: Some(0.1),
        threshold: 0.1,
        current: 1_999.7,
        baseline: 2_007.7,
        verdict: Some(verdict),
    };
    vec![
        one("sign-mix", "throughput", 1.004, Word::Pass),
        one("burst", "throughput", 1.22, Word::Regression),
        one("burst", "p99", 0.81, Word::Improved),
    ]
}
