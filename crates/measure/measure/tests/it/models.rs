//! Models of threads, sizes and phases.

use keywright_measure::breakdown::{self, BreakdownError, Measured, Named, beyond};
use keywright_measure::document::{Case, LoadRecord, RunRecord};
use keywright_measure::{scale, sizes};

fn near(value: f64, truth: f64, share: f64) {
    assert!(
        (value - truth).abs() <= truth.abs() * share,
        "{value} is not {truth}"
    );
}

fn sweep(rates: &[f64]) -> Vec<scale::Point> {
    let points = rates.iter().zip(1..);
    points
        .map(|(rate, threads)| scale::Point::new(threads, *rate, &[]))
        .collect()
}

#[test]
fn a_curve_that_falls_is_described_and_warned_of() {
    let model = scale::model(&sweep(&[760.0, 1080.0, 1453.0, 1543.0, 1282.0, 1484.0])).unwrap();
    let four = &model.points[3];
    near(four.speed_up, 2.03, 0.01);
    near(four.efficiency, 0.51, 0.01);
    near(four.serial_fraction.unwrap(), 0.32, 0.02);
    assert_eq!(
        (model.points[0].speed_up, model.points[0].serial_fraction),
        (1.0, None)
    );
    assert!(model.sigma >= 0.0 && model.kappa > 0.0);
    assert!((3.0..7.0).contains(&model.best_threads.unwrap()));
    let remarks = scale::remarks(&model);
    assert_eq!(remarks.len(), 1);
    assert_eq!(
        remarks[0].text,
        "throughput falls from 5 threads on; the most was at 4"
    );
}

#[test]
fn the_law_is_found_again_in_its_own_points_in_any_order() {
    let law = |n: f64| 500.0 * n / (1.0 + 0.05 * (n - 1.0) + 0.002 * n * (n - 1.0));
    let mut points = sweep(&(1..=16).map(|n| law(f64::from(n))).collect::<Vec<_>>());
    points.reverse();
    let model = scale::model(&points).unwrap();
    near(model.lambda, 500.0, 1e-6);
    near(model.sigma, 0.05, 1e-4);
    near(model.kappa, 0.002, 1e-4);
    near(model.best_threads.unwrap(), (0.95_f64 / 0.002).sqrt(), 1e-4);
    assert!(scale::remarks(&model).is_empty());
    assert!(
        model
            .points
            .windows(2)
            .all(|pair| pair[0].threads < pair[1].threads)
    );
}

#[test]
fn sweeps_that_carry_no_model_have_none() {
    assert!(scale::model(&[]).is_none());
    assert!(scale::model(&sweep(&[100.0, 200.0])).is_none());
    assert!(scale::model(&sweep(&[100.0, 200.0, 300.0])[1..]).is_none());
    assert!(scale::model(&sweep(&[100.0, 0.0, 300.0, 400.0])).is_none());
    assert!(scale::model(&sweep(&[100.0, f64::NAN, 300.0, 400.0])).is_none());
}

#[test]
fn unfair_shares_are_remarked_upon() {
    let mut points = sweep(&[100.0, 200.0, 300.0]);
    points[1] = scale::Point::new(2, 200.0, &[100, 100]);
    points[2] = scale::Point::new(3, 300.0, &[280, 10, 10]);
    assert_eq!((points[0].fairness, points[1].fairness), (None, Some(1.0)));
    let remarks = scale::remarks(&scale::model(&points).unwrap());
    assert_eq!(remarks.len(), 1);
    assert!(
        remarks[0]
            .text
            .starts_with("3 threads shared unevenly: fairness 0.3")
    );
}

#[test]
fn a_point_of_a_case_has_its_threads_rate_and_fairness() {
    let run = |fairness| RunRecord {
        fairness,
        ..RunRecord::default()
    };
    let mut case = Case {
        achieved_per_s: 750.0,
        load: LoadRecord {
            cap: 8,
            ..LoadRecord::default()
        },
        runs: vec![run(Some(0.9)), run(Some(0.7)), run(Some(0.8))],
        ..Case::default()
    };
    let point = scale::Point::of(&case);
    assert_eq!(
        (point.threads, point.rate_per_s, point.fairness),
        (8, 750.0, Some(0.8))
    );
    case.runs.push(run(None));
    assert_eq!(scale::Point::of(&case).fairness, None);
}

fn size(size_bytes: u64, times_ns: &[f64]) -> sizes::Point {
    sizes::Point {
        size_bytes,
        times_ns: times_ns.to_vec(),
    }
}

#[test]
fn a_line_gives_cost_per_call_and_per_byte_with_intervals() {
    let time = |bytes: u64, noise: f64| (800.0 + 0.5 * bytes as f64) * noise;
    let points: Vec<sizes::Point> = [16_384, 64, 1024, 65_536, 8192]
        .map(|bytes| {
            size(
                bytes,
                &[0.99, 1.0, 1.01, 0.995, 1.005].map(|noise| time(bytes, noise)),
            )
        })
        .into();
    let model = sizes::model(&points, 1).unwrap();
    near(model.call_ns, 800.0, 0.02);
    near(model.byte_ns, 0.5, 0.02);
    let (call, byte) = (model.call_interval.unwrap(), model.byte_interval.unwrap());
    assert!(call.lo <= 800.0 && 800.0 <= call.hi && call.hi - call.lo < 40.0);
    assert!(byte.lo <= 0.5 && 0.5 <= byte.hi);
    assert!(model.misfits.is_empty());
    assert!(
        model
            .points
            .windows(2)
            .all(|pair| pair[0].size_bytes < pair[1].size_bytes)
    );
    let interval = points[0].interval().unwrap();
    assert!(interval.lo < interval.estimate && interval.contains(time(16_384, 1.0)));
}

#[test]
fn a_size_that_bends_the_line_is_named() {
    let points: Vec<sizes::Point> = [
        (1_024, 28_800.0),
        (10_240, 47_000.0),
        (102_400, 248_900.0),
        (1_048_576, 3_556_000.0),
    ]
    .map(|(bytes, time)| size(bytes, &[time]))
    .into();
    let misfits = sizes::model(&points, 1).unwrap().misfits;
    assert!(
        misfits.contains(&1_048_576) && !misfits.contains(&1_024),
        "{misfits:?}"
    );
}

#[test]
fn sizes_that_carry_no_line_have_none() {
    assert!(sizes::model(&[], 1).is_none());
    assert!(sizes::model(&[size(1, &[1.0]), size(2, &[2.0])], 1).is_none());
    assert!(sizes::model(&[size(1, &[1.0]), size(2, &[2.0]), size(2, &[2.0])], 1).is_none());
    assert!(sizes::model(&[size(1, &[1.0]), size(2, &[]), size(3, &[2.0])], 1).is_none());
    assert!(sizes::model(&[size(1, &[1.0]), size(2, &[0.0]), size(3, &[2.0])], 1).is_none());
    let silent = Case {
        runs: vec![RunRecord::default()],
        ..Case::default()
    };
    assert!(sizes::Point::of(&silent, 16).interval().is_none());
}

#[test]
fn in_a_loop_the_time_of_an_operation_follows_from_the_rate() {
    let run = RunRecord {
        achieved_per_s: 4e6,
        p50_ns: Some(900),
        ..RunRecord::default()
    };
    let mut case = Case {
        load: LoadRecord {
            mode: "closed".to_owned(),
            cap: 2,
            ..LoadRecord::default()
        },
        runs: vec![run],
        ..Case::default()
    };
    assert_eq!(sizes::Point::of(&case, 64).times_ns, [500.0]);
    case.load.mode = "open".to_owned();
    assert_eq!(sizes::Point::of(&case, 64).times_ns, [900.0]);
}

/// A request of a millisecond in three runs of different luck.
fn request() -> Measured {
    Measured {
        total: vec![1_000_000.0, 1_100_000.0, 900_000.0],
        client: vec![
            Named::new("stream wait", &[50_000.0, 55_000.0, 45_000.0]),
            Named::new("write", &[50_000.0, 55_000.0, 45_000.0]),
            Named::new("first byte", &[880_000.0, 968_000.0, 792_000.0]),
            Named::new("body", &[20_000.0, 22_000.0, 18_000.0]),
        ],
        inside: "first byte".to_owned(),
        ..Measured::default()
    }
}

fn server(measured: Measured) -> Measured {
    Measured {
        server: vec![
            Named::new("queue", &[100_000.0, 110_000.0, 90_000.0]),
            Named::new("token", &[600_000.0, 660_000.0, 540_000.0]),
        ],
        ..measured
    }
}

fn null(measured: Measured) -> Measured {
    Measured {
        null: Some(vec![150_000.0, 165_000.0, 135_000.0]),
        ..measured
    }
}

fn phases(measured: &Measured) -> Vec<(String, f64, String)> {
    let model = breakdown::model(measured).unwrap();
    let sum: f64 = model.phases.iter().map(|phase| phase.mean_ns).sum();
    near(sum, model.total_ns, 0.01);
    near(model.total_ns, 1_000_000.0, 1e-9);
    let phases = model.phases.into_iter();
    phases
        .map(|phase| (phase.name, phase.mean_ns.round(), phase.source))
        .collect()
}

fn phase(name: &str, mean: f64, source: &str) -> (String, f64, String) {
    (name.to_owned(), mean, source.to_owned())
}

#[test]
fn phases_sum_to_the_whole_whatever_is_known_of_the_inside() {
    let client = phases(&request());
    assert_eq!(client[2], phase("first byte", 880_000.0, "client"));
    let declared = phases(&server(request()));
    assert_eq!(declared[3], phase("token", 600_000.0, "server"));
    assert_eq!(
        declared[4],
        phase("way and dispatch", 180_000.0, "difference")
    );
    let against_null = phases(&null(request()));
    assert_eq!(
        against_null[2],
        phase("way and dispatch", 150_000.0, "difference")
    );
    assert_eq!(against_null[3], phase("operation", 730_000.0, "difference"));
    let both = phases(&null(server(request())));
    assert_eq!(both[5], phase("not declared", 30_000.0, "difference"));
    assert_eq!(both.len(), 7);
}

#[test]
fn phases_that_do_not_add_up_are_refused_and_not_stretched() {
    let mut gap = request();
    gap.client[0].means = vec![80_000.0; 3];
    assert!(
        matches!(breakdown::model(&gap), Err(BreakdownError::Gap { percent }) if percent > 2.9)
    );
    gap.client.remove(1);
    gap.client.remove(0);
    assert!(
        matches!(breakdown::model(&gap), Err(BreakdownError::Gap { percent }) if percent < -9.0)
    );
    let mut small = request();
    small.client[0].means = vec![54_000.0, 59_000.0, 49_000.0];
    assert!(breakdown::model(&small).is_ok());
}

#[test]
fn a_server_that_claims_more_than_the_client_waited_is_not_believed() {
    let mut boasting = server(request());
    boasting.server[1].means = vec![900_000.0; 3];
    let error = breakdown::model(&boasting).unwrap_err();
    assert_eq!(
        error.to_string(),
        "what happens inside of first byte takes 12.0 % longer than first byte itself"
    );
    let mut slow_null = null(request());
    slow_null.null = Some(vec![990_000.0; 3]);
    assert!(matches!(
        breakdown::model(&slow_null),
        Err(BreakdownError::Inside { .. })
    ));
}

#[test]
fn phases_without_their_runs_or_their_place_are_refused() {
    let mut short = request();
    short.client[3].means.pop();
    let error = breakdown::model(&short).unwrap_err();
    assert_eq!(
        error.to_string(),
        "body does not have one mean for each run"
    );
    let mut lost = server(request());
    lost.inside = "second byte".to_owned();
    assert!(matches!(
        breakdown::model(&lost),
        Err(BreakdownError::Unknown { .. })
    ));
    let mut backwards = null(request());
    backwards.null = Some(vec![1.0, -1.0, 1.0]);
    assert!(matches!(
        breakdown::model(&backwards),
        Err(BreakdownError::Runs { .. })
    ));
    assert!(breakdown::model(&Measured::default()).is_err());
    let zero = Measured {
        total: vec![0.0],
        ..Measured::default()
    };
    assert!(matches!(
        breakdown::model(&zero),
        Err(BreakdownError::Runs { .. })
    ));
}

#[test]
fn what_a_service_costs_beyond_its_token_is_a_paired_difference() {
    // Both drift together; the difference stays.
    let token = [500.0, 600.0, 700.0, 800.0, 900.0];
    let service = [651.0, 749.0, 850.0, 952.0, 1048.0];
    let (cost, interval) = beyond(&service, &token).unwrap();
    near(cost, 150.0, 0.01);
    assert!(interval.lo > 145.0 && interval.hi < 155.0);
    assert!(beyond(&service[..4], &token).is_none());
    assert!(beyond(&service[..1], &token[..1]).is_none());
}
