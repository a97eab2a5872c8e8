//! What cannot be measured: words and suites that are wrong, places that cannot be written, targets that are
//! not there or let nobody in.

use crate::bench::Bench;
use crate::program::{Folder, Home};

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn words_that_cannot_be_measured_are_refused_in_two_lines() {
    let bench = Bench::new();
    for (code, words, happened, advice) in [
        // The nearest names are shown.
        (
            9,
            &["op", "hash.sha265.1k"][..],
            "hash.sha265.1k",
            "hash.sha256.1k or",
        ),
        (
            9,
            &["op", "hash.sha256.1k", "zzzzzzzzzzzzzzzzzz"],
            "zzzzzz",
            "bench list ops",
        ),
        (
            9,
            &["compare", "hash.sha256.1k", "hash.sha25"],
            "hash.sha25",
            "hash.sha256",
        ),
        (
            9,
            &["sizes", "hash.nothing"],
            "hash.nothing",
            "bench list ops",
        ),
        (9, &["run", "cii"], "no suite cii", "did you mean ci?"),
        (
            2,
            &["run", "ci", "--case", "nothing*"],
            "no case of ci",
            "--dry-run",
        ),
        (2, &["run", "ci", "--runs", "0"], "'0'", "--help"),
        (
            2,
            &["op", "hash.sha256.1k", "-n", "0"],
            "zero runs or iterations",
            "at least 1",
        ),
        (
            2,
            &["op", "hash.sha256.1k", "--runs", "0"],
            "zero runs or iterations",
            "at least 1",
        ),
        (2, &["op", "hash.sha256.1k", "-c", "0"], "'0'", "--help"),
        (
            2,
            &["op", "hash.sha256.1k", "-d", "0s"],
            "above zero",
            "--help",
        ),
        (2, &["op", "hash.sha256.1k", "-d", "2d"], "'2d'", "--help"),
        (
            2,
            &["op", "hash.sha256.1k", "--rate", "0"],
            "a rate lies between",
            "--rate",
        ),
        (
            2,
            &["op", "hash.sha256.1k", "--rate", "101m"],
            "a rate lies between",
            "--rate",
        ),
        (
            2,
            &["op", "hash.sha256.1k", "--rate", "fast"],
            "'fast'",
            "--help",
        ),
        (
            2,
            &["op", "hash.sha256.1k", "--slo", "p99"],
            "p99=20ms",
            "--help",
        ),
        (
            2,
            &["op", "hash.sha256.1k", "--percentiles", "p101"],
            "'p101'",
            "--help",
        ),
        (
            2,
            &["op", "hash.sha256.1k", "--gate", "quick"],
            "'quick'",
            "--help",
        ),
        (
            2,
            &["op", "hash.sha256.1k", "--threshold", "200%"],
            "'200%'",
            "--help",
        ),
        (
            2,
            &["op", "hash.sha256.1k", "--force"],
            "--baseline",
            "usage:",
        ),
        (
            2,
            &["op", "hash.sha256.1k", "--as", "excel"],
            "bencher",
            "--help",
        ),
        (2, &["op", "hash.sha256.1k", "-t", "4"], "'-t'", ""),
        (
            2,
            &["op", "hash.sha256.1k", "-o", "result"],
            "result does not say",
            ".json, .csv",
        ),
        (
            2,
            &["op", "hash.sha256.1k", "-o", "result.pdf"],
            "result.pdf does not say",
            ".html",
        ),
        (
            2,
            &["op", "hash.sha256.1k", "--store-ca", "ca.pem"],
            "--store",
            "usage:",
        ),
        (
            2,
            &["report", "result.json", "--where", "speed >> 1"],
            "",
            "BENCHMARKING.md",
        ),
        (
            13,
            &["serve", "--listen", "0.0.0.0:0"],
            "reached from elsewhere",
            "127.0.0.1",
        ),
        (
            13,
            &["op", "hash.sha256.1k", "--serve", "0.0.0.0:0"],
            "reached from elsewhere",
            "127.0.0.1",
        ),
    ] {
        bench.run(words).refused(code, happened, advice);
    }
    let left = bench.folder.names();
    assert!(
        left.iter().all(|name| name == "history.sqlite"),
        "nothing is left behind: {left:?}"
    );
}

#[test]
fn a_suite_that_is_wrong_is_refused_with_its_line() {
    let bench = Bench::new();
    for (text, happened) in [
        (
            "version = 1\n[[case]]\nid = \"a\n",
            "suite.toml line 3: not TOML",
        ),
        ("version = 2\n", "line 1: suites of version 2 are not known"),
        (
            "version = 1\n[[case]]\nid = \"a\"\nop = \"hash.sha256.1k\"\ndurration = \"1s\"\n",
            "line 5: \"durration\" is no key of a case; the nearest is \"duration\"",
        ),
        (
            "version = 1\n[[case]]\nid = \"a\"\ntarget = \"local\"\nop = \"hash.sha265.1k\"\n",
            "line 5: there is no operation \"hash.sha265.1k\"; near it are hash.sha256.1k",
        ),
        (
            "version = 1\n[[case]]\nid = \"a\"\ntarget = \"locale\"\nop = \"hash.sha256.1k\"\n",
            "line 4: there is no target \"locale\"; the nearest is \"local\"",
        ),
        (
            "version = 1\n[[case]]\nid = \"a\"\ntarget = \"local\"\nop = \"hash.sha256.1k\"\niterations = 0\n",
            "line 6: iterations lies between 1 and",
        ),
        (
            "version = 1\n[[case]]\nid = \"a\"\ntarget = \"local\"\nop = \"hash.sha256.1k\"\n\
             load = { rate = 1e12 }\n",
            "line 6:",
        ),
        (
            "version = 1\n[target]\nx = { kind = \"service\", url = \"${env:KEYWRIGHT_NOT_SET}\" }\n",
            "line 3: the variable \"KEYWRIGHT_NOT_SET\" is not set",
        ),
    ] {
        let file = bench.folder.write("suite.toml", text);
        bench
            .run(&["run", &file])
            .refused(2, happened, "BENCHMARKING.md");
    }
}

#[test]
fn an_output_that_cannot_be_written_is_found_before_anything_is_measured_or_started() {
    let bench = Bench::new();
    let service = ["op", "service.null", "--work", "work", "--events", "events"];
    for (flag, path) in [
        ("-o", "no/result.json"),
        ("-o", "work.json/x.csv"),
        ("--status-file", "no/status"),
    ] {
        let ended = bench.run(&[&service[..], &[flag, path]].concat());
        assert_eq!(ended.code, 1, "{ended:?}");
        assert!(
            ended
                .stderr
                .contains(&format!("error: {path} cannot be written")),
            "{ended:?}"
        );
        assert!(ended.stdout.is_empty(), "{ended:?}");
    }
    // The folder of a server's home, the file of events and the history come into being with a measurement.
    assert_eq!(bench.folder.names(), [""; 0]);
    let ended = bench.run(&[
        "op",
        "service.null",
        "--work",
        "work",
        "--events",
        "no/events",
    ]);
    ended.refused(
        1,
        "no/events cannot be written",
        "check that the path exists",
    );
    assert!(!bench.folder.names().contains(&"work".to_owned()));
}

#[test]
fn a_file_that_was_to_be_written_is_left_as_it_was_by_a_command_that_fails() {
    let bench = Bench::new();
    bench.folder.write("old.json", "what was there");
    let words = [
        "op",
        "hash.sha256.1k",
        "--baseline",
        "none",
        "-o",
        "old.json",
        "-o",
        "new.json",
    ];
    bench.run(&words).refused(7, "\"none\"", "baseline list");
    assert_eq!(bench.folder.read("old.json"), b"what was there");
    assert!(!bench.folder.path().join("new.json").exists());
}

/// A suite with a case at a service and a local one.
fn service(bench: &Bench, url: &str, ca: &Home, identity: &Home) -> String {
    let (ca, cert) = (ca.word("ca.pem"), identity.word("clients/trading-1.pem"));
    let key = identity.word("clients/trading-1.key");
    let text = format!(
        "version = 1\n\
         [defaults]\nruns = 1\nwarmup = \"0s\"\niterations = 20\n\
         [target.it]\nkind = \"service\"\nurl = \"{url}\"\ncontext = \"exchange-key\"\n\
         tls = {{ ca = \"{ca}\", cert = \"{cert}\", key = \"{key}\" }}\n\
         [[case]]\nid = \"there\"\ntarget = \"it\"\nop = \"service.encrypt\"\nload = {{ concurrency = 2 }}\n\
         [[case]]\nid = \"here\"\ntarget = \"local\"\nop = \"hash.sha256.1k\"\n"
    );
    bench.folder.write("service.toml", text)
}

#[test]
fn a_service_is_measured_by_whom_it_knows_and_by_nobody_else() {
    let (bench, home, stranger) = (Bench::new(), Home::demo(), Folder::new());
    // Another authority with the same names.
    let other = Home {
        home: stranger.name("home"),
        folder: stranger,
    };
    drop(other.admin(&["init", "--demo"]).bytes());
    let server = home.serve();

    let suite = service(&bench, &server.url, &home, &home);
    let document = bench.document(0, &["run", &suite, "--case", "there"]);
    assert_eq!(document["cases"][0]["counts"]["sent"], 20);
    assert_eq!(document["cases"][0]["counts"]["error"], 0);
    for (ca, identity) in [(&other, &home), (&home, &other)] {
        let suite = service(&bench, &server.url, ca, identity);
        bench.run(&["run", &suite, "--case", "there"]).refused(
            11,
            "refuses the caller",
            "check the certificate",
        );
    }
    server.stop();
}

#[test]
fn a_target_that_is_not_there_fails_the_suite_and_not_its_other_cases() {
    let (bench, home) = (Bench::new(), Home::demo());
    let suite = service(&bench, "https://127.0.0.1:1", &home, &home);
    bench.run(&["run", &suite, "--case", "there"]).refused(
        5,
        "cannot be reached",
        "check that it runs",
    );

    let document = bench.document(5, &["run", &suite]);
    assert_eq!(document["exit"]["name"], "target_wrong");
    let cases = document["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 1);
    assert_eq!(cases[0]["id"], "here");
    assert_eq!(cases[0]["counts"]["sent"], 20);
    let remarks = document["validity"].as_array().unwrap();
    assert!(remarks.iter().any(|remark| {
        remark["case"] == "there"
            && remark["text"]
                .as_str()
                .unwrap()
                .starts_with("not measured: ")
    }));
}
