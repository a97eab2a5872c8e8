//! The counts of a run, and how they are said.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use keywright_fpe::Backend;
use serde::Serialize;

use super::case::Case;
use super::forms::{Judged, Ruling};
use super::judge::{Judge, Verdict, lacking};

/// Everything that is said in the end.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    files: Vec<FileCounts>,
    /// Refused because the file says so, by code.
    refused: BTreeMap<&'static str, u64>,
    /// Held, but refused by the strict policy, by code.
    refused_by_strict_policy: BTreeMap<&'static str, u64>,
    /// Held, but only a part of the case was looked at, by what that was.
    held_in_part: BTreeMap<&'static str, u64>,
    failures: Vec<String>,
    skips: BTreeMap<String, u64>,
    backends: Vec<&'static str>,
    backends_skipped: Vec<&'static str>,
    files_ignored: u64,
    passed: u64,
    failed: u64,
    skipped: u64,
}

#[derive(Debug, Serialize)]
struct FileCounts {
    file: String,
    passed: u64,
    failed: u64,
}

/// Failures that are told of each file.
const SHOWN: u64 = 10;

impl Report {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Runs the cases of a file.
    pub(super) fn file(&mut self, path: &Path, judge: &Judge, cases: &[Case]) {
        let file = path.display().to_string();
        let (mut passed, mut failed) = (0, 0);
        for case in cases {
            match judge.decide(case) {
                Verdict::Failed(backend, reason) => {
                    failed += 1;
                    if failed <= SHOWN {
                        let name = &case.name;
                        self.failures
                            .push(format!("{file}: {name}: {reason} ({backend})"));
                    }
                    continue;
                }
                Verdict::Passed(Some(code)) => {
                    *self.refused_by_strict_policy.entry(code).or_default() += 1;
                }
                Verdict::Passed(None) => {}
                Verdict::Refused(code) => *self.refused.entry(code).or_default() += 1,
            }
            passed += 1;
        }
        self.passed += passed;
        self.failed += failed;
        self.files.push(FileCounts {
            file,
            passed,
            failed,
        });
    }

    /// Counts cases that were run while their file was read, or are not run for a reason.
    pub(super) fn judged(&mut self, path: &Path, cases: &[Judged]) {
        let file = path.display().to_string();
        let (mut passed, mut failed) = (0, 0);
        for case in cases {
            match case.ruling {
                Ruling::Holds => passed += 1,
                Ruling::HoldsInPart(what) => {
                    passed += 1;
                    *self.held_in_part.entry(what).or_default() += 1;
                }
                Ruling::Skipped(reason) => self.skip(reason, 1),
                Ruling::Fails => {
                    failed += 1;
                    if failed <= SHOWN {
                        let name = &case.name;
                        self.failures.push(format!("{file}: {name}: does not hold"));
                    }
                }
            }
        }
        self.passed += passed;
        self.failed += failed;
        self.files.push(FileCounts {
            file,
            passed,
            failed,
        });
    }

    /// Counts cases that this command does not run.
    pub(super) fn skip(&mut self, of: &str, cases: u64) {
        *self.skips.entry(of.to_owned()).or_default() += cases;
        self.skipped += cases;
    }

    /// Counts a file that holds no vectors as far as this command can tell.
    pub(super) fn ignore(&mut self) {
        self.files_ignored += 1;
    }

    /// Names what ran and what could not.
    pub(super) fn backends(&mut self, judge: &Judge) {
        let names = |all: &[Backend]| all.iter().map(|one| one.name()).collect();
        self.backends = names(judge.backends());
        self.backends_skipped = names(&lacking());
    }

    /// Whether nothing was decided: that is no success.
    pub(super) fn is_empty(&self) -> bool {
        self.passed + self.failed == 0
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed > 0
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let mut say = |line: String| {
            // Writing into a text cannot fail.
            let _infallible = writeln!(text, "{}", crate::output::line(&line));
        };
        for file in &self.files {
            say(format!(
                "{}: {} passed, {} failed",
                file.file, file.passed, file.failed
            ));
        }
        for failure in &self.failures {
            say(format!("failed: {failure}"));
        }
        say(format!("each on: {}", self.backends.join(", ")));
        for backend in &self.backends_skipped {
            say(format!(
                "skipped backend: {backend}, which this machine does not have"
            ));
        }
        for (heading, counts) in [
            ("refused, as the files demand", &self.refused),
            (
                "right, and refused by the strict policy",
                &self.refused_by_strict_policy,
            ),
            ("held in part", &self.held_in_part),
        ] {
            if !counts.is_empty() {
                say(format!("{heading}: {}", list(counts)));
            }
        }
        for (of, cases) in &self.skips {
            say(format!(
                "skipped: {cases} of {of}, which this command does not run"
            ));
        }
        if self.files_ignored > 0 {
            say(format!(
                "ignored: {} files without vectors that this command reads",
                self.files_ignored
            ));
        }
        say(format!(
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        ));
        text
    }
}

fn list(counts: &BTreeMap<&'static str, u64>) -> String {
    let each = counts.iter().map(|(code, count)| format!("{count} {code}"));
    each.collect::<Vec<_>>().join(", ")
}
