//! Counts and times are those of the calls.

use crate::made::{ECDSA, Log, Made, report};

#[test]
fn counts_codes_and_durations_are_those_of_the_calls() {
    let mut log = Log::default();
    log.calls(&["C_Initialize", "C_OpenSession"]);
    for nanos in 1..=100 {
        log.call(Made::of("C_GenerateRandom").took(nanos * 1000));
    }
    log.call(Made::of("C_Login").rv(0xa0).took(5000));
    let report = log.report();
    assert_eq!(
        (report.total_ops, report.success_count, report.error_count),
        (103, 102, 1)
    );
    let random = &report.by_function["C_GenerateRandom"];
    assert_eq!((random.count, random.error_count), (100, 0));
    assert_eq!(random.min_duration_ms, Some(0.001));
    assert_eq!(random.max_duration_ms, Some(0.1));
    assert!((random.total_duration_ms.unwrap() - 5.05).abs() < 1e-9);
    let [error] = report.errors.as_slice() else {
        panic!("{:?}", report.errors)
    };
    assert_eq!(
        (
            error.func.as_str(),
            error.rv,
            error.rv_name.as_str(),
            error.line
        ),
        ("C_Login", 160, "CKR_PIN_INCORRECT", 103)
    );
    assert!(error.meaning.is_some() && error.advice.is_some());
    assert_eq!(
        error.explain,
        "keywright hsm explain-error 0xa0 --context login"
    );
    let row = report
        .latency
        .iter()
        .find(|row| row.function == "C_GenerateRandom")
        .unwrap();
    let at = |name: &str| {
        row.times
            .quantiles
            .iter()
            .find(|one| one.name == name)
            .unwrap()
    };
    // By nearest rank, within a tenth of a percent.
    assert!(at("p50").ns.unwrap().abs_diff(50_000) <= 50);
    assert!(at("p50").lo_ns < at("p50").ns && at("p50").ns < at("p50").hi_ns);
    // A hundred samples carry p90 and nothing above.
    assert!(at("p90").ns.is_some() && at("p99").ns.is_none());
    assert_eq!(row.times.n, 100);
}

#[test]
fn an_operation_is_its_calls_together_and_has_the_mechanism_of_its_beginning() {
    let mut log = Log::default();
    log.calls(&["C_Initialize", "C_OpenSession"]);
    log.call(Made::of("C_SignInit").more(ECDSA).took(100));
    log.call(
        Made::of("C_Sign")
            .took(20)
            .more(",\"size_query\":true,\"out_len\":64"),
    );
    // Of another session, in between.
    log.call(Made::of("C_SignInit").more(ECDSA).took(7).session(2));
    log.call(Made::of("C_Sign").took(3000));
    log.call(Made::of("C_SignUpdate").took(40).session(2));
    log.call(Made::of("C_SignUpdate").took(50).session(2));
    log.call(Made::of("C_SignFinal").took(60).session(2));
    let report = log.report();
    let [signing] = report.operations.as_slice() else {
        panic!("{:?}", report.operations)
    };
    assert_eq!(
        (signing.operation, signing.completed, signing.failed),
        ("sign", 2, 0)
    );
    assert_eq!(signing.mechanism.as_deref(), Some("CKM_ECDSA"));
    assert_eq!(
        (signing.times.min_ns, signing.times.max_ns),
        (Some(7 + 40 + 50 + 60), Some(100 + 20 + 3000))
    );
    let sign = |outcome: &str| {
        let mut rows = report.latency.iter();
        rows.any(|row| {
            row.function == "C_Sign" && row.outcome == outcome && row.mechanism.is_some()
        })
    };
    assert!(sign("ok") && sign("size-query"));
    assert_eq!(report.size_queries[0].size_queries, 1);
    assert_eq!(report.ratios.operations, 2);
}

#[test]
fn an_operation_that_fails_or_is_replaced_is_no_latency() {
    let mut log = Log::default();
    log.calls(&["C_Initialize", "C_OpenSession"]);
    log.call(Made::of("C_SignInit").more(ECDSA).rv(0x60));
    log.call(Made::of("C_SignInit").more(ECDSA));
    log.call(Made::of("C_Sign").rv(0x30));
    log.call(Made::of("C_SignInit").more(ECDSA));
    log.call(Made::of("C_SignInit").more(ECDSA));
    log.calls(&["C_CloseSession"]);
    let report = log.report();
    let signing = &report.operations[0];
    assert_eq!(
        (
            signing.completed,
            signing.failed,
            signing.abandoned,
            signing.times.n
        ),
        (0, 2, 1, 0)
    );
}

#[test]
fn sessions_are_followed_from_their_opening_to_their_end() {
    let mut log = Log::default();
    log.calls(&["C_Initialize"]);
    for session in 1..=5 {
        log.call(Made::of("C_OpenSession").session(session));
    }
    log.call(Made::of("C_CloseSession").session(3));
    log.calls(&["C_Finalize"]);
    log.pid = 1;
    log.calls(&["C_Initialize", "C_OpenSession"]);
    log.call(Made::of("C_OpenSession").session(2));
    log.calls(&["C_CloseAllSessions", "C_OpenSession"]);
    let sessions = log.report().sessions;
    assert_eq!(
        (sessions.opened, sessions.closed, sessions.closed_together),
        (8, 1, 2)
    );
    assert_eq!(
        (sessions.leaked, sessions.still_open, sessions.most_open),
        (4, 1, 5)
    );
}

#[test]
fn calls_at_once_are_those_that_overlap_within_a_process() {
    let line = |pid: u64, began: u64, nanos: u64| {
        format!(
            "{{\"v\":\"1.0\",\"func\":\"C_Sign\",\"rv\":0,\"pid\":{pid},\"mono_ns\":{began},\"dur_ns\":{nanos}}}\n"
        )
    };
    // Written as they came back: the one that began first comes last.
    let text = line(1, 10, 5) + &line(1, 12, 8) + &line(1, 0, 40) + &line(2, 0, 40);
    let together = report(text.as_bytes()).concurrency.unwrap();
    assert_eq!((together.most, together.late), (3, 0));
    // Three for 3 ns, two for 7, one for 30 and for 40.
    let expected = (9.0 + 14.0 + 30.0 + 40.0) / 80.0;
    assert!((together.mean - expected).abs() < 1e-9, "{together:?}");
}

#[test]
fn throughput_is_kept_in_few_stretches_however_long_the_log_is() {
    let mut log = Log::default();
    for _ in 0..3000 {
        log.call(Made::of("C_GenerateRandom").took(1_000_000_000));
    }
    let load = log.report().throughput.unwrap();
    assert!(
        load.bins.len() <= 240 && load.bin_s == 16,
        "{} of {} s",
        load.bins.len(),
        load.bin_s
    );
    assert_eq!(load.bins.iter().map(|bin| bin.calls).sum::<u64>(), 3000);
    assert_eq!(
        load.bins.iter().map(|bin| bin.operations).sum::<u64>(),
        3000
    );
    assert!((load.calls_per_s.unwrap() - 3000.0 / 2999.0).abs() < 1e-6);
}

#[test]
fn durations_in_milliseconds_of_another_tool_are_read_and_its_codes_marked() {
    let text = "{\"ts\":\"2026-01-02T03:04:05+01:00\",\"pid\":1,\"tid\":1,\"func\":\"C_Login\",\"rv\":40,\"rv_name\":\"x\",\
        \"dur_ms\":1.5,\"mech\":\"CKM_ECDSA\"}\n";
    let report = report(text.as_bytes());
    assert_eq!(report.duration_stats.unwrap().avg_ms, 1.5);
    assert_eq!(report.source.unsure_codes, 1);
    assert_eq!(report.source.form, "other-json");
    assert_eq!(
        report.source.first.as_deref(),
        Some("2026-01-02T02:04:05.000Z")
    );
}
