//! What passed, failed and was skipped.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

use crate::family::environment;

/// What an implementation did with one case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "every judge of vectors faces all four"
)]
pub enum Verdict {
    /// It took the input and gave the expected output.
    Accepted,
    /// It refused the input.
    Refused,
    /// It does not support what the case asks for; the reason is printed.
    Unsupported(&'static str),
    /// It took the input and gave another output.
    Wrong,
}

/// The counts of one run, printed at its end.
#[derive(Debug)]
pub struct Tally {
    name: String,
    passed: u64,
    failed: Vec<String>,
    skipped: BTreeMap<String, u64>,
}

/// Some cases were not decided as they should be.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {count} failed, first: {first}")]
#[non_exhaustive]
pub struct Failures {
    /// The run.
    pub name: String,
    /// How many.
    pub count: usize,
    /// The names of the first few.
    pub first: String,
}

impl Tally {
    /// Nothing counted yet. The name is also that of the file of counts.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            passed: 0,
            failed: Vec::new(),
            skipped: BTreeMap::new(),
        }
    }

    /// Counts one case.
    #[expect(
        clippy::fn_params_excessive_bools,
        reason = "reads like an assertion, which it is"
    )]
    pub fn check(&mut self, case: impl Display, good: bool) {
        if good {
            self.passed += 1;
        } else {
            self.failed.push(case.to_string());
        }
    }

    /// Counts cases that were not decided, by reason.
    pub fn skip(&mut self, reason: &str, cases: u64) {
        *self.skipped.entry(reason.to_owned()).or_default() += cases;
    }

    /// How many cases were counted in any way.
    #[must_use]
    pub fn total(&self) -> u64 {
        let failed = u64::try_from(self.failed.len()).unwrap_or(u64::MAX);
        self.passed + failed + self.skipped.values().sum::<u64>()
    }

    /// Prints the counts and, where `KEYWRIGHT_TEST_COUNTS` names a folder, writes them to a file there:
    /// passed, failed, skipped.
    ///
    /// # Errors
    /// [`Failures`] if any case failed.
    pub fn finish(self) -> Result<(), Failures> {
        let folder = environment("KEYWRIGHT_TEST_COUNTS");
        self.finish_into(folder.as_deref().map(Path::new))
    }

    #[expect(
        clippy::print_stdout,
        clippy::print_stderr,
        reason = "no case is skipped silently"
    )]
    fn finish_into(self, folder: Option<&Path>) -> Result<(), Failures> {
        let skipped: u64 = self.skipped.values().sum();
        let (name, failed) = (self.name, self.failed.len());
        println!(
            "{name}: {} passed, {failed} failed, {skipped} skipped",
            self.passed
        );
        for (reason, count) in &self.skipped {
            println!("{name}: {count} skipped: {reason}");
        }
        if let Some(folder) = folder {
            let counts = format!("{} {failed} {skipped}\n", self.passed);
            let written = std::fs::create_dir_all(folder)
                .and_then(|()| std::fs::write(folder.join(&name), counts));
            if let Err(error) = written {
                eprintln!("{name}: the counts could not be written: {error}");
            }
        }
        if failed == 0 {
            return Ok(());
        }
        let first = self.failed[..failed.min(10)].join(", ");
        Err(Failures {
            name,
            count: failed,
            first,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_written_and_a_failure_is_an_error_that_names_the_case() {
        let folder = tempfile::tempdir().unwrap();
        let mut tally = Tally::new("some-run");
        tally.check("good", true);
        tally.check("bad-case", false);
        tally.skip("not supported", 3);
        assert_eq!(tally.total(), 5);
        let error = tally.finish_into(Some(folder.path())).unwrap_err();
        assert!(error.to_string().contains("bad-case"));
        let counts = std::fs::read_to_string(folder.path().join("some-run")).unwrap();
        assert_eq!(counts, "1 1 3\n");
    }

    #[test]
    fn a_run_that_only_skips_passes() {
        let mut tally = Tally::new("none");
        tally.skip("absent", 7);
        assert!(tally.finish_into(None).is_ok());
    }
}
