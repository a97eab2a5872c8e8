//! One sitting at the instrument: what every measuring command does around its cases.
//!
//! Before: outputs are opened, so that a path that cannot be written is found before the measurement and not
//! after it. During: Ctrl-C ends early, and whoever watches is told between blocks. After: one document,
//! judged, written everywhere it was asked for, kept in the history, and an exit code that says how it ended.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use keywright_clock::{Clock, MonotonicTime, WallTime};
use keywright_measure::doctor::Build;
use keywright_measure::document::{
    Calibration, Case, Comparison, Document, Ending, Environment, Gate, Remark, Run, SCHEMA,
    SCHEMA_VERSION, Tool,
};
use keywright_measure::event::{Event, Observer as _};
use keywright_measure::machine::Machine;
use keywright_measure::session::{Entry, Outcome, Session};
use keywright_measure::{Exit as End, Stop, TargetError, Word, judge};

use super::flags::{Doubt, JudgeFlags, OutputFlags};
use super::live::Watchers;
use super::noise;
use super::outputs::Outputs;
use super::past;
use crate::dispatch;
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

/// How runs follow each other.
pub(super) struct Pace {
    /// Of each case.
    pub(super) runs: u32,
    /// Before each run but the first.
    pub(super) cooldown: Duration,
    /// How long a block is.
    pub(super) block: Duration,
    /// Schedules are drawn from it.
    pub(super) seed: u64,
}

/// Whether cases leave undecided what only one command asks.
pub(super) type Question = fn(&[Case], &JudgeFlags) -> bool;

/// A target's own advice about a refusal, where it has any.
pub(super) type Advice = Box<dyn Fn(&TargetError) -> Option<String>>;

/// A sitting.
pub(super) struct Sitting {
    pub(super) clock: Clock,
    pub(super) stop: Stop,
    pub(super) seed: u64,
    /// Runs of each case, at most.
    pub(super) runs: u32,
    started: (WallTime, MonotonicTime),
    id: String,
    outputs: Outputs,
    flags: OutputFlags,
    judging: JudgeFlags,
    /// What only this command asks of its cases.
    pub(super) question: Option<Question>,
    /// What the target says to do about a case that cannot be measured.
    pub(super) more: Option<Advice>,
    /// What the result is compared with.
    baseline: Option<Document>,
    watchers: Watchers,
    remarks: RefCell<Vec<Remark>>,
    /// Why a case was not measured; that a target cannot do it counts for less than any other reason.
    hindrance: RefCell<Option<Failure>>,
    comparison: RefCell<Vec<Comparison>>,
    /// What is known about targets, by their names.
    about: RefCell<BTreeMap<String, BTreeMap<String, String>>>,
    calibration: RefCell<Calibration>,
    pub(super) suite: Option<keywright_measure::document::Suite>,
}

impl Sitting {
    /// Opens outputs and begins to listen for Ctrl-C.
    pub(super) fn begin(
        flags: &OutputFlags,
        judging: &JudgeFlags,
        format: Format,
        seed: u64,
        runs: u32,
    ) -> Result<Self, Failure> {
        Self::begin_against(flags, judging, format, seed, |_| runs)
    }

    /// The same where the baseline has a say in the number of runs. It is read once: it may come from a pipe.
    pub(super) fn begin_against(
        flags: &OutputFlags,
        judging: &JudgeFlags,
        format: Format,
        seed: u64,
        runs: impl FnOnce(Option<&Document>) -> u32,
    ) -> Result<Self, Failure> {
        let clock = Clock::system();
        let flags = &flags.attended(judging);
        let outputs = Outputs::open(flags, format)?;
        past::check(&flags.past, flags.save_baseline.as_deref())?;
        let baseline = judging.baseline.as_deref();
        let baseline = baseline
            .map(|name| past::baseline(&flags.past, name))
            .transpose()?;
        if let Some(baseline) = &baseline {
            super::against::check(baseline, judging)?;
        }
        let runs = runs(baseline.as_ref());
        let mut random = keywright_primitives::random::RandomStream::new()
            .map_err(|error| Failure::new(Exit::Internal, error.to_string(), "try again"))?;
        let id: [u8; 8] = random
            .array()
            .map_err(|error| Failure::new(Exit::Internal, error.to_string(), "try again"))?;
        let stop = super::interrupt::listen()?;
        Ok(Self {
            started: (clock.wall(), clock.monotonic()),
            watchers: Watchers::start(flags, &clock, &stop, runs)?,
            clock,
            stop,
            seed,
            runs,
            id: keywright_encoding::hex::encode(&id),
            outputs,
            flags: flags.clone(),
            judging: judging.clone(),
            question: None,
            more: None,
            baseline,
            remarks: RefCell::default(),
            hindrance: RefCell::default(),
            comparison: RefCell::default(),
            about: RefCell::default(),
            calibration: RefCell::default(),
            suite: None,
        })
    }

    /// Writes JSON and CSV in the forms of the published token benchmark, with this engine's figures beside.
    pub(super) fn publish(&mut self) {
        self.outputs.publish();
    }

    /// Measures these cases, in turns, and once more with more runs where there is time for that and reason
    /// to. A case that cannot be measured is remarked upon; what that means for the whole is decided in the
    /// end.
    pub(super) fn measure(
        &self,
        pace: &Pace,
        entries: &mut [Entry<'_>],
    ) -> Result<Vec<Case>, Failure> {
        let begun = self.clock.monotonic();
        let cases = self.once(pace, entries)?;
        let took = self.clock.monotonic().since(begun);
        let Some(budget) = self.judging.time_budget else {
            return Ok(cases);
        };
        if self.stop.is_asked() || !self.is_undecided(&cases) {
            return Ok(cases);
        }
        let left = budget.saturating_sub(self.clock.monotonic().since(self.started.1));
        let runs = fitting(pace.runs, took, left);
        if runs <= pace.runs {
            self.remark(
                format!(
                    "{} runs left something undecided, and more do not fit",
                    pace.runs
                ),
                "give it more time: --time-budget",
            );
            return Ok(cases);
        }
        self.remark(
            format!(
                "{} runs left something undecided; the result is of {runs} others after them",
                pace.runs
            ),
            "",
        );
        let pace = Pace { runs, ..*pace };
        self.once(&pace, entries)
    }

    /// Whether more runs could decide something that these leave open.
    fn is_undecided(&self, cases: &[Case]) -> bool {
        if cases.is_empty() || self.hindrance.borrow().is_some() {
            return false;
        }
        let mut document = self.document(cases.to_vec());
        if !self.judge(&mut document, &self.judging).is_empty() {
            return false;
        }
        let open = |case: &Case| judge::exit_of(case) == End::Inconclusive;
        document.cases.iter().any(open)
            || self
                .question
                .is_some_and(|question| question(cases, &self.judging))
    }

    fn once(&self, pace: &Pace, entries: &mut [Entry<'_>]) -> Result<Vec<Case>, Failure> {
        let session = Session {
            clock: &self.clock,
            seed: pace.seed,
            runs: pace.runs,
            cooldown: pace.cooldown,
            block: pace.block,
            facts: facts(),
            stop: &self.stop,
            rest: std::thread::sleep,
        };
        self.watchers.event(&Event::Started {
            run: self.id.clone(),
            cases: entries.len(),
        });
        let outcomes = session.measure(entries, &self.watchers);
        for entry in entries {
            let about = entry.carrier.about();
            if !about.is_empty() {
                self.about
                    .borrow_mut()
                    .insert(entry.plan.target.clone(), about);
            }
        }
        self.sort(outcomes)
    }

    fn sort(&self, outcomes: Vec<Outcome>) -> Result<Vec<Case>, Failure> {
        let mut cases = Vec::new();
        for outcome in outcomes {
            match outcome {
                Outcome::Measured(case) => cases.push(*case),
                Outcome::Skipped { id, error } => self.skip(&id, &error),
                other => return Err(Failure::broken(format!("a case ended as {other:?}"))),
            }
        }
        Ok(cases)
    }

    /// Notes that a case was not measured.
    pub(super) fn skip(&self, id: &str, error: &TargetError) {
        self.remarks.borrow_mut().push(Remark {
            word: error.word(),
            case: Some(id.to_owned()),
            text: format!("not measured: {error}"),
            remedy: None,
        });
        let mut hindrance = self.hindrance.borrow_mut();
        if hindrance
            .as_ref()
            .is_none_or(|known| known.exit == Exit::Unsupported)
        {
            let mut failure = unmeasurable(error);
            if let Some(advice) = self.more.as_ref().and_then(|more| more(error)) {
                failure.advice = advice;
            }
            *hindrance = Some(failure);
        }
    }

    /// Notes a remark on the run as a whole.
    pub(super) fn remark(&self, text: impl Into<String>, remedy: &str) {
        self.remarks.borrow_mut().push(Remark {
            text: text.into(),
            remedy: (!remedy.is_empty()).then(|| remedy.to_owned()),
            ..Remark::default()
        });
    }

    /// Notes how two cases of this sitting compare.
    pub(super) fn compared(&self, comparison: Vec<Comparison>) {
        *self.comparison.borrow_mut() = comparison;
    }

    /// Notes what the generator makes of nothing on the way to an operation.
    pub(super) fn ceiling(&self, operation: &str, per_s: f64) {
        let mut calibration = self.calibration.borrow_mut();
        calibration
            .ceilings_per_s
            .insert(operation.to_owned(), per_s);
    }

    /// Notes what the instrument costs.
    pub(super) fn calibrated(&self, calibration: Calibration) {
        *self.calibration.borrow_mut() = calibration;
    }

    /// The document of these cases.
    pub(super) fn document(&self, cases: Vec<Case>) -> Document {
        let mut verdicts: Vec<Word> = cases
            .iter()
            .flat_map(|case| case.verdicts.clone())
            .collect();
        verdicts.sort_unstable();
        verdicts.dedup();
        let mut calibration = self.calibration.borrow().clone();
        calibration.noise_percent = cases
            .iter()
            .filter_map(|case| case.checks.noise_percent)
            .reduce(f64::max);
        calibration.noise = calibration.noise_percent.map(|percent| {
            keywright_measure::canary::Noise::of(percent)
                .name()
                .to_owned()
        });
        let elapsed = self.clock.monotonic().since(self.started.1);
        Document {
            schema: SCHEMA.to_owned(),
            schema_version: SCHEMA_VERSION.to_owned(),
            tool: tool(),
            run: Run {
                id: self.id.clone(),
                started: self.started.0.rfc3339(),
                duration_ns: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
                command: command(),
                seed: self.seed,
                suite: self.suite.clone(),
                note: self.flags.note.clone(),
                tags: Vec::new(),
            },
            environment: self.environment(),
            calibration,
            validity: self.remarks.borrow().clone(),
            comparison: self.comparison.borrow().clone(),
            cases,
            verdicts,
            ..Document::default()
        }
    }

    /// The machine, and what targets say of themselves beside it.
    fn environment(&self) -> Environment {
        let mut environment = Machine::read(Path::new("/")).environment();
        environment.targets.extend(self.about.borrow().clone());
        environment
    }

    /// Judges, writes and keeps the document; the exit code says how it ended. What is measured is written
    /// even where it cannot be judged as was asked.
    pub(super) fn finish(
        mut self,
        cases: Vec<Case>,
        judging: Option<&JudgeFlags>,
    ) -> Result<Exit, Failure> {
        let hindrance = self.hindrance.take();
        if cases.is_empty()
            && let Some(failure) = hindrance
        {
            return Err(failure);
        }
        let mut failures: Vec<Failure> = hindrance.into_iter().collect();
        // What a target cannot do is said in a remark and faults nobody.
        failures.retain(|failure| failure.exit != Exit::Unsupported);
        let mut document = self.document(cases);
        if let Some(judging) = judging {
            failures.extend(self.judge(&mut document, judging));
        }
        let mut end = ends(&document, &failures, judging);
        if self.stop.is_asked() {
            end = end.worst(End::Interrupted);
        }
        document.exit = Ending::from(end);
        self.watchers.event(&Event::Finished {
            exit: end.name().to_owned(),
        });
        self.watchers.close();
        // What is from elsewhere is not shown beside it either.
        let comparable = failures.iter().all(|one| one.exit != Exit::NotComparable);
        let baseline = self
            .baseline
            .as_ref()
            .filter(|_| comparable && judging.is_some());
        self.outputs.write(&document, baseline)?;
        if let Err(failure) = past::keep(&self.flags, &document) {
            // The result is out; a history that cannot be written takes nothing from it.
            if self.flags.save_baseline.is_some() {
                return Err(failure);
            }
            message!(
                "warning: not kept in the history: {}",
                output::line(&failure.happened)
            );
        }
        for failure in &failures {
            output::failure(Format::Text, failure);
        }
        Ok(self.outputs.ended(end))
    }

    /// Conditions and the baseline; gives what could not be judged.
    fn judge(&self, document: &mut Document, judging: &JudgeFlags) -> Vec<Failure> {
        let mut failures = Vec::new();
        if let Some(limit) = judging.noise_threshold {
            document
                .cases
                .iter_mut()
                .for_each(|case| noise::judge(case, limit));
        }
        match conditions(judging, &document.cases) {
            Ok(gates) => document.gates = gates,
            Err(failure) => failures.push(failure),
        }
        if let (Some(name), Some(baseline)) = (&judging.baseline, &self.baseline) {
            match super::against::compare(document, baseline, name, judging) {
                Ok(comparison) => document.comparison.extend(comparison),
                Err(failure) => failures.push(failure),
            }
        }
        for failure in &failures {
            document.validity.push(Remark {
                word: (failure.exit == Exit::NotComparable).then_some(Word::NotComparable),
                text: failure.happened.clone(),
                remedy: Some(failure.advice.clone()),
                ..Remark::default()
            });
        }
        let words = document.cases.iter().flat_map(|case| case.verdicts.iter());
        document.verdicts = words
            .chain(document.validity.iter().filter_map(|one| one.word.as_ref()))
            .copied()
            .collect();
        document.verdicts.sort_unstable();
        document.verdicts.dedup();
        failures
    }
}

/// Runs that fit into the time that is left, at the pace of those that were.
fn fitting(runs: u32, took: Duration, left: Duration) -> u32 {
    const MOST: u128 = 1000;
    let each = took.as_nanos() / u128::from(runs.max(1));
    let fit = left.as_nanos() / each.max(1);
    u32::try_from(fit.min(MOST)).unwrap_or(u32::MAX)
}

/// How cases, conditions and what could not be judged end together.
fn ends(document: &Document, failures: &[Failure], judging: Option<&JudgeFlags>) -> End {
    let held = document.gates.iter().all(|gate| gate.holds);
    let gates = if held { End::Ok } else { End::GateFailed };
    let failures = failures.iter().map(|failure| match failure.exit {
        Exit::Internal => End::Internal,
        Exit::Usage => End::Usage,
        Exit::NotComparable => End::NotComparable,
        // A target that is not there or lets nobody in; on its own it has a code of its own.
        _ => End::TargetWrong,
    });
    let cases = document.cases.iter();
    let cases = cases.map(|case| {
        let end = exit_of(case, judging).worst(noise::exit_of(case, judging));
        forgiven(end, judging)
    });
    failures.chain(cases).fold(gates, End::worst)
}

/// How a case ends the program. Only with `--fail-on-regression` is a regression more than a word.
fn exit_of(case: &Case, judging: Option<&JudgeFlags>) -> End {
    let lenient = judging.is_some_and(|judging| !judging.regression_fails());
    if !lenient || !case.verdicts.contains(&Word::Regression) {
        return judge::exit_of(case);
    }
    let mut case = case.clone();
    case.verdicts.retain(|word| *word != Word::Regression);
    judge::exit_of(&case)
}

/// With `--inconclusive pass` doubt is no failure.
fn forgiven(end: End, judging: Option<&JudgeFlags>) -> End {
    let lenient = judging.is_some_and(|judging| judging.inconclusive == Doubt::Pass);
    if end == End::Inconclusive && lenient {
        End::Ok
    } else {
        end
    }
}

fn conditions(judging: &JudgeFlags, cases: &[Case]) -> Result<Vec<Gate>, Failure> {
    let judged = judging.gate.iter().map(|condition| {
        condition.judge(cases).map_err(|error| {
            Failure::new(
                Exit::Usage,
                error.to_string(),
                "name every operation of the condition on the command line",
            )
        })
    });
    judged.collect()
}

/// What holds for everything that this program measures here.
pub(super) fn facts() -> Vec<Word> {
    super::build().fact().into_iter().collect()
}

pub(super) fn tool() -> Tool {
    Tool {
        name: "keywright".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("KEYWRIGHT_COMMIT").map(str::to_owned),
        profile: profile().to_owned(),
        features: if cfg!(feature = "peers") {
            vec!["peers".to_owned()]
        } else {
            Vec::new()
        },
    }
}

/// How this program was built: figures of one kind of build say nothing of another.
fn profile() -> &'static str {
    match super::build() {
        Build::Debug => "debug",
        Build::Quick => "quick",
        Build::Release if option_env!("KEYWRIGHT_PROFILE_FLAG").is_some() => "release-pgo",
        Build::Release => "release",
    }
}

/// The words of the command line, without the PINs that some commands can be given there.
pub(super) fn command() -> String {
    let words: Vec<String> = crate::program::words()
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    shown(&words).join(" ")
}

/// Words as they may be kept.
fn shown(words: &[String]) -> Vec<String> {
    const SECRET: [&str; 2] = ["--user-pin", "--so-pin"];
    let before = std::iter::once("").chain(words.iter().map(String::as_str));
    let shown = words.iter().zip(before).map(|(word, before)| {
        if SECRET.contains(&before) {
            return "***".to_owned();
        }
        match word.split_once('=') {
            Some((name, _)) if SECRET.contains(&name) => format!("{name}=***"),
            _ => match word.find("pin-value=") {
                Some(at) => quoted(&format!("{}pin-value=***", &word[..at])),
                None => quoted(word),
            },
        }
    });
    shown.collect()
}

/// A word as a shell takes it in again: conditions have signs that would otherwise redirect.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=,@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A target that cannot be measured, as a failure of the command.
pub(crate) fn unmeasurable(error: &TargetError) -> Failure {
    let (exit, advice) = match error {
        TargetError::Authentication { .. } => (
            Exit::Authentication,
            "check the certificate, the token and what they may do",
        ),
        TargetError::Unsupported { .. } => (Exit::Unsupported, "see `keywright bench list ops`"),
        TargetError::Program => match dispatch::find(dispatch::KEYWRIGHT) {
            Err(failure) => return failure,
            Ok(_) => (Exit::Internal, "name it with --program FILE"),
        },
        TargetError::Load(_) => (Exit::Usage, "give another load; see --help"),
        TargetError::Streams { .. } => (
            Exit::Usage,
            "ask for fewer in flight, or for more connections: --connections, in a suite `load.connections`",
        ),
        TargetError::Unreachable { .. } => (Exit::Target, "check that it runs, and its address"),
        TargetError::Failed { .. } => (
            Exit::Target,
            "no figure of it can be used; see what the target says of itself",
        ),
        TargetError::WrongOutput { .. } => (
            Exit::Target,
            "do not use this target for anything before the cause is found",
        ),
        _ => (Exit::Internal, "check the machine: keywright bench doctor"),
    };
    Failure::new(exit, error.to_string(), advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_among_the_words_is_not_kept() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let kept = "hsm benchmark --label X --user-pin 1234 --so-pin=5678 --uri pkcs11:token=a?pin-value=99";
        let shown = shown(&words(kept)).join(" ");
        for pin in ["1234", "5678", "99"] {
            assert!(!shown.contains(pin), "{shown}");
        }
        assert!(shown.starts_with("hsm benchmark --label X --user-pin *** --so-pin=*** "));
    }

    #[test]
    fn as_many_runs_fit_as_their_pace_says_and_never_more_than_a_thousand() {
        let seconds = Duration::from_secs;
        assert_eq!(fitting(5, seconds(10), seconds(60)), 30);
        assert_eq!(fitting(5, seconds(10), seconds(1)), 0);
        assert_eq!(fitting(5, seconds(10), Duration::ZERO), 0);
        assert_eq!(fitting(5, Duration::ZERO, seconds(60)), 1000);
        assert_eq!(fitting(0, seconds(1), seconds(3)), 3);
    }
}
