//! `keywright bench` as it is run: a folder for files and history, suites whose target is simulated, so that
//! what is measured does not depend on this machine.

use std::process::Command;

use serde_json::Value;

use crate::program::{Ended, Folder, program};

/// A folder with a history of its own.
pub(crate) struct Bench {
    pub(crate) folder: Folder,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self {
            folder: Folder::new(),
        }
    }

    /// `keywright bench WORDS` in the folder.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = program();
        command
            .arg("bench")
            .args(words)
            .current_dir(self.folder.path())
            .env(
                "KEYWRIGHT_BENCH_HISTORY",
                self.folder.name("history.sqlite"),
            );
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Ended {
        ended(&mut self.command(words))
    }

    /// Runs these words with `--format json`, demands this code and gives the one document that is printed.
    #[track_caller]
    pub(crate) fn document(&self, code: i32, words: &[&str]) -> Value {
        let ended = self.run(&[words, &["--format", "json"]].concat());
        assert_eq!(ended.code, code, "{ended:?}");
        let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
        assert_eq!(document["exit"]["code"], code, "{ended:?}");
        document
    }

    /// A suite with a simulated server: `target` are its properties, `case` the case's, a line each.
    pub(crate) fn script(&self, name: &str, target: &str, case: &str) -> String {
        let text = format!(
            "version = 1\n\
             [defaults]\nruns = 6\nwarmup = \"0s\"\n\
             [target]\nit = {{ kind = \"script\", {target} }}\n\
             [[case]]\nid = \"a\"\ntarget = \"it\"\n{case}\n"
        );
        self.folder.write(name, text)
    }

    /// Measures `words` into a JSON file of this name.
    #[track_caller]
    pub(crate) fn kept(&self, name: &str, words: &[&str]) -> String {
        let ended = self.run(&[words, &["-q", "-o", name]].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        self.folder.name(name)
    }
}

/// How a command ended.
pub(crate) fn ended(command: &mut Command) -> Ended {
    Ended::read(command.output().unwrap())
}

/// The words of a whole result.
pub(crate) fn verdicts(document: &Value) -> Vec<&str> {
    let words = document["verdicts"].as_array().unwrap();
    words.iter().map(|word| word.as_str().unwrap()).collect()
}

/// A closed load of 200 simulated operations, six times.
pub(crate) const CLOSED: &str = "iterations = 200\nload = { concurrency = 1 }";
/// 1,000 a second for two simulated seconds.
pub(crate) const OPEN: &str = "duration = \"2s\"\nload = { rate = 1000, cap = 64 }";
/// A local operation that takes no time worth mentioning.
pub(crate) const QUICK: [&str; 7] = ["op", "hash.sha256.1k", "-n", "200", "--runs", "1", "-w0s"];
