//! The script for continuous integration and the four jq commands that the token benchmark publishes, as they are
//! printed there, on a real token. Only the program and the PIN are other ones.

use std::path::PathBuf;
use std::process::{Command, Output};

use keywright_tokens::{Store, on_each};
use keywright_vectors::Tally;
use serde_json::Value;

use crate::hsm::Scene;

/// Rows that take little time; the script has no word about rows, so the program behind its name adds them.
const ROWS: [&str; 4] = [
    "ECDSA-P-256 Sign",
    "SHA-256 Hash (1KB)",
    "HMAC-SHA256",
    "Random (32 bytes)",
];

#[expect(
    clippy::disallowed_methods,
    reason = "a test: the folder of documents is named by the environment"
)]
fn published() -> Option<String> {
    let folder = std::env::var_os("KEYWRIGHT_SEEDS").filter(|value| !value.is_empty())?;
    let files = std::fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let mut files = files.filter(|file| file.file_name().to_string_lossy().starts_with("000_"));
    std::fs::read_to_string(files.next()?.path()).ok()
}

/// The signs of the page were read as Mac Roman once and written as UTF-8 again.
fn decoded(text: &str) -> String {
    let byte = |sign: char| match sign {
        '\u{F8FF}' => 0xF0,
        '\u{201A}' => 0xE2,
        '\u{FC}' => 0x9F,
        '\u{EE}' => 0x94,
        '\u{A5}' => 0xB4,
        '\u{FA}' => 0x9C,
        '\u{D6}' => 0x85,
        '\u{F9}' => 0x9D,
        '\u{E5}' => 0x8C,
        sign if sign.is_ascii() => sign as u8,
        sign => panic!("{sign:?} is not among the signs of the script"),
    };
    String::from_utf8(text.chars().map(byte).collect()).unwrap()
}

/// The block of shell commands that begins with this line.
fn block(page: &str, first: &str) -> String {
    let (_, rest) = page.split_once(&format!("```bash\n{first}")).unwrap();
    let (block, _) = rest.split_once("\n```").unwrap();
    decoded(&format!("{first}{block}\n"))
        .replace("--label TOKEN", "--label keywright")
        .replace("--user-pin PIN", "--pin-file pin")
}

/// A folder with the program under the name that the page has for it.
struct Folder {
    folder: PathBuf,
}

impl Folder {
    fn new(scene: &Scene<'_>) -> Self {
        let folder = PathBuf::from(scene.name("ci"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::copy(scene.pin_file(), folder.join("pin")).unwrap();
        let program = format!(
            "#!/bin/sh\nexec '{}' \"$@\" --module '{}' --ops '{}' --no-history\n",
            env!("CARGO_BIN_EXE_keywright"),
            scene.module,
            ROWS.join(",")
        );
        let path = folder.join("rust-hsm-cli");
        std::fs::write(&path, program).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&path, mode).unwrap();
        Self { folder }
    }

    fn bash(&self, script: &str) -> Output {
        let search = format!("{}:/usr/bin:/bin", self.folder.display());
        let mut command = Command::new("/bin/bash");
        command.arg("-c").arg(script).current_dir(&self.folder);
        command.env("PATH", search).output().unwrap()
    }

    fn baseline(&self) -> Value {
        let made = self.bash(
            "rust-hsm-cli benchmark --label keywright --pin-file pin --iterations 1000 --format json --output baseline.json",
        );
        // What is measured on a busy machine may be called noisy; it is written all the same.
        let text = std::fs::read(self.folder.join("baseline.json"));
        serde_json::from_slice(&text.unwrap_or_else(|_| panic!("{made:?}"))).unwrap()
    }

    fn write(&self, baseline: &Value) {
        std::fs::write(self.folder.join("baseline.json"), baseline.to_string()).unwrap();
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("comparison.log")).unwrap()
    }
}

/// A baseline whose rates were this many times as high: far beyond what a busy machine adds to a run.
fn doctored(mut baseline: Value, times: f64) -> Value {
    let scale = |value: &mut Value| *value = (value.as_f64().unwrap() * times).into();
    for result in baseline["results"].as_array_mut().unwrap() {
        scale(&mut result["ops_per_sec"]);
    }
    for case in baseline["cases"].as_array_mut().unwrap() {
        scale(&mut case["achieved_per_s"]);
        for run in case["runs"].as_array_mut().unwrap() {
            scale(&mut run["achieved_per_s"]);
        }
    }
    baseline
}

/// A test of the page on one token, counted as skipped where the page is not.
fn with_the_page(name: &str, store: &Store, test: impl Fn(&Scene<'_>, &str)) {
    let name = format!("{name}-{:?}", store.kind()).to_lowercase();
    let mut tally = Tally::new(&name);
    match published() {
        None => tally.skip("the page is not here", 1),
        Some(page) => {
            test(&Scene::new(store), &page);
            tally.check("the page", true);
        }
    }
    tally.finish().unwrap();
}

#[test]
fn published_script_detects_a_slower_token_and_passes_a_faster_one() {
    on_each(|store| {
        with_the_page("benchmark-script", store, |scene, page| {
            let script = block(page, "#!/bin/bash\n# regression-test.sh");
            assert!(
                script.contains("grep -q") && script.contains("\u{1F534}"),
                "{script}"
            );
            let folder = Folder::new(scene);
            let honest = folder.baseline();
            folder.write(&doctored(honest, 20.0));
            let found = folder.bash(&script);
            let text = String::from_utf8(found.stdout).unwrap();
            assert_eq!(found.status.code(), Some(1), "{text}");
            assert!(text.contains("Performance regression detected"), "{text}");
            assert!(folder.log().contains("BENCHMARK COMPARISON"), "{text}");
            let red = text.lines().filter(|line| line.contains("\u{1F534} -"));
            assert!(red.count() > 0, "{text}");
            // The figures of a form that has no runs are held against each other as well.
            let mut alone = doctored(folder.baseline(), 20.0);
            alone
                .as_object_mut()
                .unwrap()
                .retain(|name, _| name == "metadata" || name == "results");
            folder.write(&alone);
            assert_eq!(folder.bash(&script).status.code(), Some(1));
            // A token that became faster is no regression.
            let slower = doctored(folder.baseline(), 0.05);
            folder.write(&slower);
            let passed = folder.bash(&script).status.code();
            assert_eq!(passed, Some(0), "{}", folder.log());
            assert!(folder.log().contains("BENCHMARK COMPARISON"));
        });
    });
}

#[test]
fn the_published_jq_commands_find_what_they_look_for() {
    on_each(|store| {
        with_the_page("benchmark-jq", store, |scene, page| {
            let folder = Folder::new(scene);
            let commands = block(page, "# Export results as JSON");
            let (export, questions) = commands.split_once("\n\n").unwrap();
            let made = folder.bash(export);
            let results = std::fs::read(folder.folder.join("results.json"));
            let results = results.unwrap_or_else(|_| panic!("{made:?}"));
            // What is printed is what is written.
            assert_eq!(made.stdout, results);
            let questions: Vec<&str> = questions
                .lines()
                .filter(|line| line.starts_with("jq "))
                .collect();
            assert_eq!(questions.len(), 4, "{commands}");
            let answers: Vec<Vec<Value>> = questions
                .iter()
                .map(|question| {
                    let answer = folder.bash(question);
                    assert!(answer.status.success(), "{question}: {answer:?}");
                    let values = serde_json::Deserializer::from_slice(&answer.stdout).into_iter();
                    values.map(Result::unwrap).collect()
                })
                .collect();
            let names: Vec<&str> = answers[1]
                .iter()
                .map(|one| one["name"].as_str().unwrap())
                .collect();
            assert_eq!(names, ROWS);
            let number = |value: &Value| value.as_f64().unwrap();
            for one in &answers[1] {
                assert!(
                    number(&one["ops_per_sec"]) > 0.0 && number(&one["p99_ms"]) > 0.0,
                    "{one}"
                );
            }
            assert!(
                answers[0]
                    .iter()
                    .all(|one| number(&one["ops_per_sec"]) < 50.0)
            );
            assert!(answers[3].iter().all(|one| number(&one["p99_ms"]) > 10.0));
            let mean = answers[1]
                .iter()
                .map(|one| number(&one["ops_per_sec"]))
                .sum::<f64>()
                / 4.0;
            assert!((number(&answers[2][0]) / mean - 1.0).abs() < 1e-9);
        });
    });
}
