//! Logs that are torn, mixed, or no logs at all.

use keywright_calls::{Analyzer, LONGEST_LINE, Options, fuzzing};
use keywright_mutate::{mutants, mutations};

use crate::made::{Log, Made, report};

const SPY: &str = "\n\n*************** OpenSC PKCS#11 spy *****************\nLoaded: \"/x/y.so\"\n\n0: C_Initialize\n\
    2026-11-21 02:36:58.395\n[in] pInitArgs = (nil)\nReturned:  0 CKR_OK\n\n1: C_OpenSession\n2026-11-21 02:36:58.396\n\
    [in] slotID = 0x22ed0641\n[in] flags = 0x6\n[out] *phSession = 0x1\nReturned:  0 CKR_OK\n\n2: C_Login\n\
    2026-11-21 02:36:58.397\n[in] hSession = 0x1\n[in] userType = CKU_USER\n[in] pPin[ulPinLen] 00007ffdb800ba10 / 8\n\
    \x20   00000000  38 37 36 35 34 33 32 31                          87654321        \nReturned:  160 CKR_PIN_INCORRECT\n\
    \n3: C_SignInit\n2026-11-21 02:36:58.398\n[in] hSession = 0x1\n[in] pMechanism->type = Unknown Mechanism (0000210a)\n\
    [in] hKey = 0x2\nReturned:  0 CKR_OK\n\n4: C_Sign\n2026-11-21 02:36:58.399\n[in] hSession = 0x1\n";

#[test]
fn a_torn_last_line_is_said_and_hides_nothing() {
    let mut log = Log::default();
    log.calls(&["C_Initialize", "C_OpenSession"]);
    let whole = log.text().to_owned();
    let torn = report(&whole.as_bytes()[..whole.len() - 9]);
    assert_eq!((torn.total_ops, torn.source.torn_last_line), (1, true));
    assert_eq!(torn.source.unreadable_lines, 0);
    // Only its line end is missing.
    let bare = report(whole.trim_end().as_bytes());
    assert_eq!((bare.total_ops, bare.source.torn_last_line), (2, false));
}

#[test]
fn while_a_log_is_followed_its_last_line_is_waited_for() {
    let mut log = Log::default();
    log.calls(&["C_Initialize"]);
    let (head, tail) = log.text().split_at(40);
    let mut analyzer = Analyzer::new(Options::default());
    analyzer.push(head.as_bytes());
    let early = analyzer.report();
    assert_eq!((early.total_ops, early.source.unreadable_lines), (0, 0));
    analyzer.push(tail.as_bytes());
    assert_eq!(analyzer.report().total_ops, 1);
}

#[test]
fn records_of_other_versions_are_counted_and_not_believed() {
    let mut log = Log::default();
    log.calls(&["C_Initialize"]);
    let other = log.text().replace("\"1.0\"", "\"2.0\"");
    let later = log.text().replace("\"1.0\"", "\"1.7\"");
    let report = report((log.text().to_owned() + &other + &later).as_bytes());
    assert_eq!(report.total_ops, 2);
    assert_eq!(report.source.foreign_versions["2.0"], 1);
    let many: String = (2..100)
        .map(|v| log.text().replace("\"1.0\"", &format!("\"{v}\"")))
        .collect();
    assert!(
        crate::made::report(many.as_bytes())
            .source
            .foreign_versions
            .len()
            <= 17
    );
}

#[test]
fn noise_unknown_functions_and_endless_lines_are_counted() {
    let mut bytes = vec![0xff, 0xfe, 0, b'\n', b'{', 0x80, b'\n'];
    bytes.extend(std::iter::repeat_n(b'x', 3 * LONGEST_LINE));
    bytes.extend_from_slice(
        b"\nwhat is this\n{\"func\":7}\n{\"v\":\"1.0\",\"func\":\"C_Sing\\u001b[2J\",\"rv\":0}\n",
    );
    let mut log = Log::default();
    log.call(Made::of("C_VendorThing"));
    bytes.extend_from_slice(log.text().as_bytes());
    let report = report(&bytes);
    assert_eq!(report.source.unreadable_lines, 4);
    assert_eq!(report.source.first_unreadable_line, Some(1));
    assert_eq!(report.source.cut_lines, 1);
    assert_eq!(report.total_ops, 2);
    assert!(report.by_function["C_VendorThing"].unknown);
    assert!(
        report
            .by_function
            .keys()
            .all(|name| !name.contains('\u{1b}'))
    );
    assert!(
        report
            .findings
            .iter()
            .any(|one| one.code == "unreadable-lines")
    );
}

#[test]
fn an_empty_log_is_a_report_without_figures() {
    let report = report(b"");
    assert_eq!((report.total_ops, report.source.form.as_str()), (0, "none"));
    assert_eq!(report.success_rate, None);
    assert!(
        report.throughput.is_none() && report.concurrency.is_none() && report.findings.is_empty()
    );
}

#[test]
fn a_file_that_is_no_log_is_told_from_one_without_calls() {
    let note = "{\"v\":\"1.0\",\"func\":\"recorder:end\"}\n";
    let later = "{\"v\":\"2.0\",\"func\":\"C_Sign\"}\n";
    let banner = "*************** OpenSC PKCS#11 spy *****************\nLoaded: \"/x/y.so\"\n";
    for none in [
        "# Title\n",
        "{\n",
        "{\"name\":1}\n",
        "{\"name\":1}",
        "    indented\n",
    ] {
        assert!(report(none.as_bytes()).is_of_no_log(), "{none}");
    }
    for log in ["", "\n\n", note, later, banner] {
        assert!(!report(log.as_bytes()).is_of_no_log(), "{log}");
        let strange = report((log.to_owned() + "what is this\n").as_bytes());
        let known = log == note || log == later;
        assert_eq!(strange.is_of_no_log(), !known, "{log}");
    }
    assert!(report(&vec![b'x'; 2 * LONGEST_LINE]).is_of_no_log());
}

#[test]
fn bytes_are_a_secret_of_the_spy_only_where_it_wrote_a_call() {
    let text = "# Title\n\n    cargo build\n      key: value\n";
    let dump = "    00000000  38 37 36 35  8765\n";
    let mut log = Log::default();
    log.calls(&["C_Initialize"]);
    for (log, unreadable, first) in [
        (text.to_owned(), 3, 1),
        (log.text().to_owned() + dump, 1, 2),
    ] {
        let report = report(log.as_bytes());
        let source = &report.source;
        let lines = (source.secret_lines, source.unreadable_lines);
        assert_eq!(lines, (0, unreadable), "{log}");
        assert_eq!(source.first_unreadable_line, Some(first), "{log}");
        let secrets = |finding: &keywright_calls::Finding| finding.code == "secrets-in-log";
        assert!(!report.findings.iter().any(secrets), "{log}");
    }
    // The rest of a log whose beginning was set aside is the spy's too.
    let rest = report((dump.to_owned() + "Returned:  0 CKR_OK\n" + SPY).as_bytes());
    assert_eq!(rest.source.secret_lines, 2);
    assert_eq!(rest.source.unreadable_lines, 0);
}

#[test]
fn damaged_logs_break_no_promise_of_the_readers() {
    let mut log = Log::default();
    log.calls(&["C_Initialize", "C_OpenSession"])
        .sign()
        .sign()
        .calls(&["C_Finalize"]);
    let mixed = log.text().to_owned() + SPY + log.text();
    let seeds: [&[u8]; 3] = [log.text().as_bytes(), SPY.as_bytes(), mixed.as_bytes()];
    for seed in seeds {
        fuzzing::log(seed);
    }
    for mutant in mutations(&seeds, mutants(), 0x6a11) {
        fuzzing::log(&mutant);
    }
}
