//! Cases that are only a model.

use keywright_measure::Word;
use keywright_measure::document::{
    BreakdownModel, Case, Interval, Model, PhaseTime, ScalingModel, ScalingPoint, SizeModel,
    SizePoint,
};

fn model_case(id: &str, model: Model) -> Case {
    Case {
        id: id.into(),
        op: id.into(),
        target: "soft".into(),
        unit: "operations".into(),
        model: Some(model),
        verdicts: vec![Word::Valid],
        ..Case::default()
    }
}

pub(super) fn scaling() -> Case {
    let rates = [760.0, 1_080.0, 1_453.0, 1_543.0, 1_282.0, 1_484.0];
    let points = rates.iter().zip(1_u32..).map(|(rate, threads)| {
        let speed_up = rate / rates[0];
        let n = f64::from(threads);
        ScalingPoint {
            threads,
            rate_per_s: *rate,
            speed_up,
            efficiency: speed_up / n,
            serial_fraction: (threads > 1).then(|| (1.0 / speed_up - 1.0 / n) / (1.0 - 1.0 / n)),
            fairness: Some(0.99),
        }
    });
    model_case(
        "sign-threads",
        Model::Scaling(ScalingModel {
            points: points.collect(),
            lambda: 760.0,
            sigma: 0.21,
            kappa: 0.021,
            best_threads: Some(6.1),
        }),
    )
}

pub(super) fn sizes() -> Case {
    let points = [
        (1_024, 28_800.0),
        (10_240, 47_000.0),
        (102_400, 248_900.0),
        (1_048_576, 3_556_000.0),
    ];
    model_case(
        "gcm-sizes",
        Model::Size(SizeModel {
            points: points
                .map(|(size_bytes, time_ns)| SizePoint {
                    size_bytes,
                    time_ns,
                })
                .into(),
            call_ns: 26_700.0,
            call_interval: Some(Interval {
                lo: 25_900.0,
                hi: 27_400.0,
            }),
            byte_ns: 2.1,
            byte_interval: Some(Interval { lo: 2.02, hi: 2.19 }),
            misfits: vec![1_048_576],
        }),
    )
}

pub(super) fn breakdown() -> Case {
    let phases = [
        ("write", 12_000.0, "client"),
        ("queue", 8_000.0, "server"),
        ("token", 390_000.0, "server"),
        ("rest", 24_000.0, "difference"),
    ];
    model_case(
        "encrypt-phases",
        Model::Breakdown(BreakdownModel {
            phases: phases
                .map(|(name, mean_ns, source)| PhaseTime {
                    name: name.into(),
                    mean_ns,
                    source: source.into(),
                })
                .into(),
            total_ns: 434_000.0,
        }),
    )
}
