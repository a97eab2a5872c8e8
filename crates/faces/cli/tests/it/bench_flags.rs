//! What flags and suites choose: sizes, mixes, processes, seeds, budgets of time, limits of noise, targets.

use serde_json::Value;

use crate::bench::{Bench, CLOSED, QUICK, ended, verdicts};
use crate::program::{Home, keywright, keywright_reading};

fn ids(document: &Value) -> Vec<&str> {
    let cases = document["cases"].as_array().unwrap();
    cases
        .iter()
        .map(|case| case["id"].as_str().unwrap())
        .collect()
}

/// A short measurement of what `words` name.
#[track_caller]
fn short(bench: &Bench, words: &[&str]) -> Value {
    let short = ["-n", "100", "--runs", "1", "-w0s"];
    bench.document(0, &[&["op"], words, &short].concat())
}

#[test]
fn an_operation_is_measured_in_each_size_that_is_asked_for_and_named_by_it() {
    let bench = Bench::new();
    let document = short(&bench, &["hash.sha256", "--sizes", "1KiB,10KiB,3000"]);
    assert_eq!(
        ids(&document),
        ["hash.sha256.1k", "hash.sha256.10k", "hash.sha256.3000"]
    );
    for case in document["cases"].as_array().unwrap() {
        let bytes =
            case["bytes_per_s"].as_f64().unwrap() / case["achieved_per_s"].as_f64().unwrap();
        let wanted = match case["id"].as_str().unwrap() {
            "hash.sha256.1k" => 1024.0,
            "hash.sha256.10k" => 10_240.0,
            _ => 3000.0,
        };
        assert!((bytes - wanted).abs() < 1e-3, "{case}");
    }
    let words = [
        "sizes",
        "aead.aes-256-gcm.seal",
        "--sizes",
        "1KiB,4KiB,2KiB,4KiB",
    ];
    let document = bench.document(
        0,
        &[&words[..], &["-n", "50", "--runs", "1", "-w0s"]].concat(),
    );
    assert_eq!(
        ids(&document)[1..],
        ["aead.aes-256-gcm.seal.2k", "aead.aes-256-gcm.seal.4k"]
    );
    assert!(document["cases"][2]["model"].is_object(), "{document}");
}

#[test]
fn a_mix_is_drawn_by_its_weights_and_told_part_by_part() {
    let bench = Bench::new();
    let mix = "verify=80,sign=15,hash.sha256.1k=5";
    let document = short(&bench, &["--mix", mix, "--of", "ed25519"]);
    let case = &document["cases"][0];
    assert_eq!(
        (&case["id"], &case["counts"]["sent"]),
        (&"mix".into(), &100.into())
    );
    let parts = case["parts"].as_array().unwrap();
    let named: Vec<_> = parts
        .iter()
        .map(|part| {
            (
                part["name"].as_str().unwrap(),
                part["weight"].as_f64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        named,
        [
            ("signature.ed25519.verify", 80.0),
            ("signature.ed25519.sign", 15.0),
            ("hash.sha256.1k", 5.0)
        ]
    );
    let sent = |place: usize| parts[place]["counts"]["sent"].as_u64().unwrap();
    assert_eq!(sent(0) + sent(1) + sent(2), 100);
    assert!(sent(0) > sent(1) && sent(0) > sent(2), "{case}");
    // One seed, one order.
    let again = short(&bench, &["--mix", mix, "--of", "ed25519"]);
    for (one, other) in parts
        .iter()
        .zip(again["cases"][0]["parts"].as_array().unwrap())
    {
        assert_eq!(one["counts"]["sent"], other["counts"]["sent"]);
    }
}

#[test]
fn processes_share_the_operations_and_make_one_result() {
    let bench = Bench::new();
    for words in [
        &["hash.sha256.1k"][..],
        &["hash.sha256", "--sizes", "100"],
        &["--mix", "hash.sha256.1k=1,random.32=3"],
    ] {
        let document = short(&bench, &[words, &["--processes", "3", "-c", "2"]].concat());
        let case = &document["cases"][0];
        let counts = &case["counts"];
        assert_eq!(counts["sent"], 100, "{case}");
        assert_eq!((&counts["wrong"], &counts["error"]), (&0.into(), &0.into()));
        assert_eq!(
            (&case["parameters"]["processes"], &case["load"]["cap"]),
            (&"3".into(), &6.into())
        );
        assert_eq!(
            document["environment"]["targets"]["local"]["processes"],
            "3"
        );
    }
    let open = [
        "hash.sha256.1k",
        "--rate",
        "1000",
        "--arrival",
        "poisson",
        "--processes",
        "2",
    ];
    let words = [
        &["op"],
        &open[..],
        &["-d", "300ms", "--runs", "1", "-w0s", "-q"],
    ]
    .concat();
    let document: Value = serde_json::from_slice(
        &bench
            .run(&[&words[..], &["--format", "json"]].concat())
            .stdout,
    )
    .unwrap();
    let counts = &document["cases"][0]["counts"];
    let planned = counts["planned"].as_u64().unwrap();
    assert!((200..400).contains(&planned), "{counts}");
}

#[test]
fn a_process_by_itself_refuses_what_it_cannot_read_and_ends_with_its_orders() {
    let ended = keywright_reading(&["bench", "worker"], b"nonsense\n\n{\"Carry\":1}\n");
    let answers = ended.text();
    assert_eq!(answers.lines().count(), 3, "{answers}");
    assert!(
        answers.lines().all(|line| line.starts_with("{\"Refused\"")),
        "{answers}"
    );
    assert_eq!(keywright(&["bench", "worker"]).text(), "");
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn choices_that_mean_nothing_are_refused() {
    let bench = Bench::new();
    let op = "hash.sha256.1k";
    for (code, words, happened, advice) in [
        (2, &["op"][..], "required arguments", "usage:"),
        (
            2,
            &["op", op, "--mix", "random.32=1"],
            "cannot be used with",
            "usage:",
        ),
        (
            2,
            &["op", "--mix", "random.32"],
            "such as hash.sha256.1k=80",
            "--help",
        ),
        (
            2,
            &["op", "--mix", "random.32=0"],
            "such as hash.sha256.1k=80",
            "--help",
        ),
        (
            2,
            &["op", "--mix", "random.32=-1"],
            "such as hash.sha256.1k=80",
            "--help",
        ),
        (
            2,
            &["op", "--mix", "sign=1,random.32=1"],
            "may be any of signature.",
            "--of",
        ),
        (
            2,
            &["op", "--mix", "service.encrypt=1,random.32=1"],
            "cannot be mixed",
            "service.mixed",
        ),
        (
            2,
            &["op", "--mix", "random=1,hash.sha256=2", "--sizes", "32,64"],
            "a mix has one size",
            "give one",
        ),
        (9, &["op", "--mix", "random.33=1"], "random.33", "random.32"),
        (
            2,
            &["op", op, op],
            "hash.sha256.1k is named twice",
            "--runs",
        ),
        (
            2,
            &["op", "hash.sha256", "--sizes", "1KiB,1024"],
            "named twice",
            "--runs",
        ),
        (
            2,
            &["op", op, "--sizes", "2KiB"],
            "has no size of 2048 bytes; it has 1024",
            "list ops",
        ),
        (
            2,
            &["op", "kdf.argon2id.fast", "--sizes", "32"],
            "has no size",
            "list ops",
        ),
        (2, &["op", "hash.sha256", "--sizes", "0"], "'0'", "--help"),
        (
            2,
            &["op", "hash.sha256", "--sizes", "2GiB"],
            "'2GiB'",
            "--help",
        ),
        (
            2,
            &["op", "hash.sha256", "--sizes", "1GiB"],
            "has no size",
            "list ops",
        ),
        (
            12,
            &["op", "kdf.hkdf-sha256", "--sizes", "1MiB"],
            "255 blocks",
            "list ops",
        ),
        (
            9,
            &["sizes", "hash.nothing", "--sizes", "1KiB"],
            "hash.nothing",
            "list ops",
        ),
        (2, &["op", op, "--processes", "0"], "'0'", "--help"),
        (2, &["op", op, "--processes", "10000"], "'10000'", "--help"),
        (
            2,
            &["op", op, "--processes", "8", "-n", "7"],
            "8 processes need an operation each",
            "--iterations",
        ),
        (
            2,
            &["op", op, "--processes", "2", "--rate", "100"],
            "start together",
            "another load",
        ),
        (
            2,
            &["op", "service.null", "--processes", "2"],
            "only operations of this program",
            "another load",
        ),
        (
            2,
            &["saturate", op, "--time-budget", "1s"],
            "means nothing here",
            "leave it out",
        ),
        (
            2,
            &["spike", op, "--time-budget", "1s"],
            "means nothing here",
            "leave it out",
        ),
        (
            2,
            &["op", op, "--time-budget", "0s"],
            "above zero",
            "--help",
        ),
        (
            2,
            &["op", op, "--noise-threshold", "101%"],
            "'101%'",
            "--help",
        ),
        (
            2,
            &["op", op, "--ci", "--watch"],
            "cannot be used with",
            "usage:",
        ),
        (
            2,
            &["op", op, "--no-tui", "--watch"],
            "cannot be used with",
            "usage:",
        ),
        (
            2,
            &["op", op, "--no-color", "--color", "always"],
            "cannot be used with",
            "usage:",
        ),
        (
            2,
            &["op", "service.encrypt", "--addr", "https://127.0.0.1:1"],
            "--cacert",
            "usage:",
        ),
        (
            2,
            &["op", "service.encrypt", "--key", "k.pem"],
            "--addr",
            "usage:",
        ),
        (
            9,
            &["run", "seed-f"],
            "no suite seed-f",
            "did you mean seed-",
        ),
        (9, &["run", "seed-bb"], "no suite seed-bb", "seed-b"),
    ] {
        bench.run(words).refused(code, happened, advice);
    }
    let left = bench.folder.names();
    assert!(left.iter().all(|name| name == "history.sqlite"), "{left:?}");
}

#[test]
fn a_dry_run_of_operations_tells_them_and_measures_none() {
    let bench = Bench::new();
    let words = [
        "op",
        "hash.sha256",
        "random",
        "--sizes",
        "1KiB,2KiB",
        "--dry-run",
        "-o",
        "a.json",
    ];
    let told = bench.run(&words).text();
    let cases: Vec<&str> = told
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(
        cases,
        ["hash.sha256.1k", "hash.sha256.2k", "random.1k", "random.2k"]
    );
    let told = bench
        .run(&["op", "--mix", "random.32=1,hash.sha256.1k=1", "--dry-run"])
        .text();
    assert!(told.lines().nth(1).unwrap().starts_with("mix "), "{told}");
    assert_eq!(bench.folder.names(), [""; 0]);
}

#[test]
fn a_limit_of_noise_that_nothing_keeps_makes_every_case_noisy_and_the_end_undecided() {
    let bench = Bench::new();
    let limited = [&QUICK[..], &["--noise-threshold", "0%"]].concat();
    let document = bench.document(4, &limited);
    assert!(verdicts(&document).contains(&"NOISY"), "{document}");
    assert_eq!(document["exit"]["name"], "inconclusive");
    let text = document["cases"][0]["validity"].to_string();
    assert!(text.contains("fixed work varied by"), "{text}");
    let forgiven = [&limited[..], &["--inconclusive", "pass"]].concat();
    let document = bench.document(0, &forgiven);
    assert!(
        verdicts(&document).contains(&"NOISY"),
        "the word stays: {document}"
    );
}

#[test]
fn what_is_left_undecided_is_measured_again_with_as_many_runs_as_the_budget_carries() {
    let bench = Bench::new();
    let case = format!("{CLOSED}\nslo = {{ \"p99.9\" = \"30ms\" }}");
    let suite = bench.script("a.toml", "mean = \"1ms\"", &case);
    let outcome = |words: &[&str]| {
        let ended = bench.run(&[&["run", &suite, "--format", "json"], words].concat());
        let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
        let case = document["cases"][0].clone();
        let runs = case["runs"].as_array().unwrap().len();
        let remarks = document["validity"].to_string();
        (case["objectives"][0]["outcome"].clone(), runs, remarks)
    };
    let (before, runs, remarks) = outcome(&[]);
    assert_eq!((before, runs), ("undecided".into(), 6));
    assert!(!remarks.contains("undecided"), "{remarks}");
    let (after, runs, remarks) = outcome(&["--time-budget", "10s"]);
    assert_eq!(after, "met");
    assert!(runs > 6, "{runs}");
    assert!(remarks.contains("the result is of"), "{remarks}");
    // A budget that is over is no reason to measure less.
    let (after, runs, remarks) = outcome(&["--time-budget", "1ns"]);
    assert_eq!((after, runs), ("undecided".into(), 6));
    assert!(remarks.contains("more do not fit"), "{remarks}");
}

#[test]
fn for_a_run_that_nobody_watches_a_regression_fails_and_nothing_is_coloured() {
    let bench = Bench::new();
    let suite = bench.script("a.toml", "service = \"1ms\"", CLOSED);
    drop(bench.kept("before.json", &["run", &suite]));
    let suite = bench.script("a.toml", "service = \"2ms\"", CLOSED);
    let words = [
        "run",
        &suite,
        "--baseline",
        "before.json",
        "--force",
        "--ci",
    ];
    let mut command = bench.command(&words);
    let failed = ended(command.env("CLICOLOR_FORCE", "1"));
    assert_eq!(failed.code, 3, "{failed:?}");
    let printed = String::from_utf8(failed.stdout).unwrap() + &failed.stderr;
    assert!(
        printed.contains("REGRESSION") && !printed.contains('\x1b'),
        "{printed:?}"
    );
    for (words, coloured) in [(&[][..], true), (&["--no-color"], false)] {
        let mut command = bench.command(&[&QUICK[..], words].concat());
        let ended = ended(command.env("CLICOLOR_FORCE", "1"));
        assert_eq!(ended.stdout.contains(&0x1b), coloured, "{words:?}");
    }
}

#[test]
fn a_case_keeps_the_seed_of_its_suite_and_gives_way_to_the_command_line() {
    let bench = Bench::new();
    let text = "version = 1\n\
        [defaults]\nruns = 2\nwarmup = \"0s\"\niterations = 200\ntarget = \"it\"\n\
        [target]\nit = { kind = \"script\", mean = \"1ms\" }\n\
        [[case]]\nid = \"a\"\nseed = 7\n[[case]]\nid = \"b\"\nseed = 8\n[[case]]\nid = \"c\"\n";
    let file = bench.folder.write("suite.toml", text);
    let of = |words: &[&str]| {
        let document = bench.document(0, &[&["run", &file], words].concat());
        let cases = document["cases"].as_array().unwrap();
        let figures: Vec<Value> = cases
            .iter()
            .map(|case| case["service"]["mean_ns"].clone())
            .collect();
        let seeds: Vec<Value> = cases
            .iter()
            .map(|case| case["parameters"]["seed"].clone())
            .collect();
        (figures, seeds)
    };
    let (figures, seeds) = of(&[]);
    assert_eq!(seeds, [Value::from("7"), Value::from("8"), Value::Null]);
    assert!(
        figures[0] != figures[1] && figures[1] != figures[2],
        "{figures:?}"
    );
    let (all, seeds) = of(&["--seed", "7"]);
    assert_eq!(seeds, [Value::Null, Value::Null, Value::Null]);
    assert!(all.iter().all(|figure| *figure == figures[0]), "{all:?}");
}

#[test]
fn a_script_in_real_time_keeps_its_promises() {
    let bench = Bench::new();
    let case = "iterations = 30\nruns = 2\nverify = \"all\"\nload = { concurrency = 2 }";
    let suite = bench.script(
        "a.toml",
        "clock = \"real\", service = \"200us\", wrong_every = 10",
        case,
    );
    let document = bench.document(5, &["run", &suite]);
    let case = &document["cases"][0];
    assert_eq!(
        (&case["counts"]["sent"], &case["counts"]["wrong"]),
        (&60.into(), &6.into())
    );
    assert!(
        case["service"]["min_ns"].as_u64().unwrap() >= 200_000,
        "{case}"
    );
    let suite = bench.script(
        "a.toml",
        "clock = \"real\", generator = \"1us\"",
        case["id"].as_str().map_or("", |_| CLOSED),
    );
    bench
        .run(&["run", &suite])
        .refused(2, "exclude each other", "BENCHMARKING.md");
}

#[test]
fn suites_go_by_the_names_of_the_published_tables_as_well() {
    for (alias, name) in [
        ("seed-a", "hsm-local"),
        ("seed-b", "service-extreme"),
        ("seed-c", "fpe"),
        ("seed-d", "key-derivation"),
        ("seed-e", "sessions"),
    ] {
        let plan = |name| keywright(&["bench", "run", name, "--dry-run"]).text();
        assert_eq!(plan(alias), plan(name));
    }
    let listed = keywright(&["bench", "list", "suites"]).text();
    assert!(listed.lines().any(|line| line == "seed-e"), "{listed}");
}

#[test]
fn words_that_are_no_command_reach_the_status_file() {
    let bench = Bench::new();
    for words in [
        &[
            "op",
            "hash.sha256.1k",
            "--rate",
            "fast",
            "--status-file",
            "status",
        ][..],
        &["op", "--status-file=status", "--no-such-flag"],
        &["no-such-command", "--status-file", "status"],
        &["op", "--status-file", "status"],
    ] {
        let ended = bench.run(words);
        assert_eq!(ended.code, 2, "{ended:?}");
        assert_eq!(bench.folder.read("status"), b"exit 2 usage\n", "{words:?}");
        std::fs::remove_file(bench.folder.path().join("status")).unwrap();
    }
    // Help is no failure, a flag is no file, and other commands have no such file.
    drop(
        bench
            .run(&["op", "--help", "--status-file", "status"])
            .bytes(),
    );
    assert_eq!(bench.run(&["op", "--status-file", "--quiet"]).code, 2);
    assert_eq!(keywright(&["client", "--status-file", "status"]).code, 2);
    assert_eq!(bench.folder.names(), [""; 0]);
}

/// A target of each kind at an address of documentation, which nobody has.
const AFAR: [&str; 3] = [
    "kind = \"http\", url = \"https://192.0.2.1/x\", tls = { ca = \"ca.pem\" }",
    "kind = \"kv\", url = \"https://192.0.2.1:8200\", token = { file = \"t\" }",
    "kind = \"service\", url = \"https://192.0.2.1:8443\"",
];

#[test]
fn load_on_another_machine_is_asked_for_in_words() {
    let bench = Bench::new();
    for (target, op) in AFAR
        .iter()
        .zip(["http.get", "vault.kv.get", "service.encrypt"])
    {
        let text = format!(
            "version = 1\n[target]\nfar = {{ {target} }}\n[[case]]\nid = \"a\"\ntarget = \"far\"\nop = \"{op}\"\n"
        );
        let file = bench.folder.write("suite.toml", text);
        bench.run(&["run", &file]).refused(
            13,
            "is not an address of this machine",
            "--allow-remote",
        );
    }
    let store = [
        "--store",
        "https://192.0.2.1:8200",
        "--store-token-file",
        "t",
        "--store-ca",
        "c",
    ];
    let service = [
        "--addr",
        "https://192.0.2.1:8443",
        "--cacert",
        "c",
        "--cert",
        "c",
        "--key",
        "k",
        "--context",
        "x",
    ];
    for (op, place) in [("vault.kv.get", &store[..]), ("service.encrypt", &service)] {
        bench
            .run(&[&["op", op], place].concat())
            .refused(13, "192.0.2.1", "--allow-remote");
    }
}

#[test]
fn a_running_service_is_measured_at_its_address() {
    let (bench, home) = (Bench::new(), Home::demo());
    let server = home.serve();
    let (ca, cert, key) = (
        home.word("ca.pem"),
        home.word("clients/trading-1.pem"),
        home.word("clients/trading-1.key"),
    );
    let place = [
        "--addr",
        &server.url,
        "--cacert",
        &ca,
        "--cert",
        &cert,
        "--key",
        &key,
        "--context",
        "exchange-key",
    ];
    let document = short(&bench, &[&["service.encrypt"], &place[..]].concat());
    let counts = &document["cases"][0]["counts"];
    assert_eq!(
        (&counts["sent"], &counts["error"]),
        (&100.into(), &0.into())
    );
    bench
        .run(&[&["op", "service.null"], &place[..]].concat())
        .refused(12, "has no such mode", "list ops");
    server.stop();
}

#[test]
fn a_server_of_its_own_is_measured_beside_another_and_each_ends_as_a_service_does() {
    let bench = Bench::new();
    let beside = ["service.encrypt", "service.idle-memory.0", "--work", "work"];
    let document = short(&bench, &beside);
    assert_eq!(ids(&document), ["service.encrypt", "service.idle-memory.0"]);
    for home in ["work/home", "work/alone/home"] {
        let home = bench.folder.path().join(home);
        assert!(home.join("store.sqlite").exists(), "{home:?}");
        // Left behind by a server that was killed.
        assert!(!home.join("control.sock").exists(), "{home:?}");
    }
}

#[test]
fn cases_on_one_home_share_its_server() {
    let (bench, home) = (Bench::new(), Home::demo());
    let case =
        |op: &str| format!("[[case]]\nid = \"{op}\"\ntarget = \"x\"\nop = \"service.{op}\"\n");
    let suite = format!(
        "version = 1\n[defaults]\nwarmup = \"20ms\"\nduration = \"100ms\"\n[target]\nx = {{ kind = \"service\", home = {:?} }}\n{}{}",
        home.word(""),
        case("encrypt"),
        case("decrypt"),
    );
    let file = bench.folder.write("suite.toml", suite);
    let document = bench.document(0, &["run", &file, "--runs", "1"]);
    for case in document["cases"].as_array().unwrap() {
        assert!(case["counts"]["sent"].as_u64() > Some(0), "{case}");
    }
    assert_eq!(ids(&document), ["encrypt", "decrypt"]);
}

#[test]
fn a_server_that_does_not_come_to_listen_is_refused_in_its_own_words() {
    let (bench, home) = (Bench::new(), Home::demo());
    let suite = format!(
        "version = 1\n[target]\nx = {{ kind = \"service\", home = {:?} }}\n\
         [[case]]\nid = \"encrypt\"\ntarget = \"x\"\nop = \"service.encrypt\"\n",
        home.word(""),
    );
    let file = bench.folder.write("suite.toml", suite);
    std::fs::remove_file(home.word("server.key")).unwrap();
    bench
        .run(&["run", &file])
        .refused(5, "it ended before it listened: server.key names", "");
}

#[test]
fn any_url_is_a_target_and_an_answer_that_is_no_success_is_a_failure() {
    let (bench, home) = (Bench::new(), Home::demo());
    let server = home.serve();
    let suite = |path: &str, http: u8, ca: &str| {
        let (cert, key) = (
            home.word("clients/trading-1.pem"),
            home.word("clients/trading-1.key"),
        );
        let text = format!(
            "version = 1\n[defaults]\nruns = 1\nwarmup = \"0s\"\niterations = 30\n\
             [target.it]\nkind = \"http\"\nurl = \"{}{path}\"\n\
             tls = {{ ca = \"{ca}\", cert = \"{cert}\", key = \"{key}\" }}\n\
             [[case]]\nid = \"a\"\ntarget = \"it\"\nload = {{ concurrency = 4, http = {http} }}\n",
            server.url
        );
        bench.folder.write("suite.toml", text)
    };
    let ca = home.word("ca.pem");
    for http in [1, 2] {
        let document = bench.document(0, &["run", &suite("/v1/health", http, &ca)]);
        let case = &document["cases"][0];
        assert_eq!(case["op"], "http.get");
        assert_eq!(
            (&case["counts"]["sent"], &case["counts"]["unverified"]),
            (&30.into(), &30.into())
        );
    }
    let document = bench.document(5, &["run", &suite("/no/such/path?x=1", 2, &ca)]);
    assert_eq!(document["cases"][0]["counts"]["error"], 30);
    bench
        .run(&["run", &suite("/v1/health", 2, "none.pem")])
        .refused(1, "none.pem", "");
    server.stop();
}

#[test]
fn a_kind_of_target_may_stand_before_the_operations_and_must_be_theirs() {
    let bench = Bench::new();
    let document = short(&bench, &["local", "hash.sha256.1k", "hash.blake3.1k"]);
    assert_eq!(ids(&document), ["hash.sha256.1k", "hash.blake3.1k"]);
    for (words, code, said) in [
        (
            &["service", "hash.sha256.1k"][..],
            2,
            "hash.sha256.1k is no operation of service",
        ),
        (
            &["locall", "hash.sha256.1k"],
            9,
            "no operation is called locall",
        ),
        (&["local"], 9, "no operation is called local"),
        (
            &["hash.sha256.1k", "local"],
            9,
            "no operation is called local",
        ),
    ] {
        let ended = bench.run(&[&["op", "--dry-run"], words].concat());
        assert_eq!(ended.code, code, "{words:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "{words:?}: {}", ended.stderr);
    }
}

#[test]
fn certificates_cannot_be_left_unchecked_and_the_refusal_says_what_to_do() {
    for words in [
        &["op", "service.null", "--insecure"][..],
        &["run", "ci", "--insecure"],
    ] {
        let ended = Bench::new().run(words);
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        for said in ["certificates are always checked", "--cacert"] {
            assert!(ended.stderr.contains(said), "{words:?}: {}", ended.stderr);
        }
    }
}

#[test]
fn an_operation_is_kept_on_a_core_that_is_there_and_another_is_refused_before_anything_is_measured()
{
    let bench = Bench::new();
    let here = std::fs::read_to_string("/proc/self/status").unwrap();
    let allowed = here
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let first = allowed.unwrap().trim().split([',', '-']).next().unwrap();
    let document = short(&bench, &["hash.sha256.1k", "--local-cpu", first]);
    assert_eq!(ids(&document), ["hash.sha256.1k"]);
    for nowhere in ["1023", "1024", "4294967295"] {
        let refused = ended(&mut bench.command(&[&QUICK[..], &["--local-cpu", nowhere]].concat()));
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.stdout.is_empty(), "{refused:?}");
        assert!(
            refused
                .stderr
                .contains(&format!("there is no core {nowhere} for this process")),
            "{refused:?}"
        );
        assert!(refused.stderr.contains("--local-cpu"), "{refused:?}");
    }
}
