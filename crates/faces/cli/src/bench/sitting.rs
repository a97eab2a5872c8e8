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
use keywright_measure::document::{
    Calibration, Case, Comparison, Document, Ending, Environment, Gate, Remark, Run, SCHEMA, SCHEMA_VERSION, Tool,
};
use keywright_measure::event::{Event, Observer as _};
use keywright_measure::machine::Machine;
use keywright_measure::session::{Entry, Outcome, Session};
use keywright_measure::{Exit as End, Stop, TargetError, Word, judge};

use super::flags::{Doubt, JudgeFlags, OutputFlags};
use super::live::Watchers;
use super::outputs::Outputs;
use super::past;
use crate::exit::{Exit, Failure};
use crate::output::Format;

/// How runs follow each other.
pub(super) struct Pace {
    /// Of each case.
    pub(super) runs: u32,
    /// Before each run but the first.
    pub(super) cooldown: Duration,
    /// How long a block is.
    pub(super) block: Duration,
}

/// A sitting.
pub(super) struct Sitting {
    pub(super) clock: Clock,
    pub(super) stop: Stop,
    pub(super) seed: u64,
    started: (WallTime, MonotonicTime),
    id: String,
    outputs: Outputs,
    flags: OutputFlags,
    watchers: Watchers,
    remarks: RefCell<Vec<Remark>>,
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
        format: Format,
        seed: u64,
        runs: u32,
    ) -> Result<Self, Failure> {
        let clock = Clock::system();
        let stop = Stop::new();
        let outputs = Outputs::open(flags, format)?;
        past::check(&flags.past, flags.save_baseline.as_deref())?;
        let mut random = keywright_primitives::random::RandomStream::new()
            .map_err(|error| Failure::new(Exit::Internal, error.to_string(), "try again"))?;
        let id: [u8; 8] = random
            .array()
            .map_err(|error| Failure::new(Exit::Internal, error.to_string(), "try again"))?;
        super::interrupt::listen(&stop);
        Ok(Self {
            started: (clock.wall(), clock.monotonic()),
            watchers: Watchers::start(flags, &clock, &stop, runs)?,
            clock,
            stop,
            seed,
            id: keywright_encoding::hex::encode(&id),
            outputs,
            flags: flags.clone(),
            remarks: RefCell::default(),
            comparison: RefCell::default(),
            about: RefCell::default(),
            calibration: RefCell::default(),
            suite: None,
        })
    }

    /// Measures these cases, in turns. A case that cannot be measured is remarked upon if there are others,
    /// and ends the command if there is none.
    pub(super) fn measure(
        &self,
        pace: &Pace,
        entries: &mut [Entry<'_>],
    ) -> Result<Vec<Case>, Failure> {
        let session = Session {
            clock: &self.clock,
            seed: self.seed,
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
                self.about.borrow_mut().insert(entry.plan.target.clone(), about);
            }
        }
        self.sort(outcomes)
    }

    fn sort(&self, outcomes: Vec<Outcome>) -> Result<Vec<Case>, Failure> {
        let (mut cases, mut skipped) = (Vec::new(), Vec::new());
        for outcome in outcomes {
            match outcome {
                Outcome::Measured(case) => cases.push(*case),
                Outcome::Skipped { id, error } => skipped.push((id, error)),
                other => return Err(Failure::broken(format!("a case ended as {other:?}"))),
            }
        }
        for (id, error) in skipped {
            if cases.is_empty() {
                return Err(unmeasurable(&error));
            }
            self.skip(&id, &error);
        }
        Ok(cases)
    }

    /// Notes that a case was not measured.
    pub(super) fn skip(&self, id: &str, error: &TargetError) {
        self.remarks.borrow_mut().push(Remark {
            word: None,
            case: Some(id.to_owned()),
            text: format!("not measured: {error}"),
            remedy: None,
        });
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

    /// Notes what the instrument costs.
    pub(super) fn calibrated(&self, calibration: Calibration) {
        *self.calibration.borrow_mut() = calibration;
    }

    /// The document of these cases.
    pub(super) fn document(&self, cases: Vec<Case>) -> Document {
        let mut verdicts: Vec<Word> = cases.iter().flat_map(|case| case.verdicts.clone()).collect();
        verdicts.sort_unstable();
        verdicts.dedup();
        let mut calibration = self.calibration.borrow().clone();
        calibration.noise_percent = cases.iter().filter_map(|case| case.checks.noise_percent).reduce(f64::max);
        calibration.noise = calibration
            .noise_percent
            .map(|percent| keywright_measure::canary::Noise::of(percent).name().to_owned());
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
            environment: Environment {
                targets: self.about.borrow().clone(),
                ..Machine::read(Path::new("/")).environment()
            },
            calibration,
            validity: self.remarks.borrow().clone(),
            comparison: self.comparison.borrow().clone(),
            cases,
            verdicts,
            ..Document::default()
        }
    }

    /// Judges, writes and keeps the document; the exit code says how it ended.
    pub(super) fn finish(
        mut self,
        cases: Vec<Case>,
        judging: Option<&JudgeFlags>,
    ) -> Result<Exit, Failure> {
        let mut document = self.document(cases);
        let mut end = End::Ok;
        if let Some(judging) = judging {
            document.gates = conditions(judging, &document.cases)?;
            if document.gates.iter().any(|gate| !gate.holds) {
                end = End::GateFailed;
            }
            if let Some(baseline) = &judging.baseline {
                end = end.worst(self.against(&mut document, baseline, judging)?);
            }
        }
        end = document
            .cases
            .iter()
            .map(|case| forgiven(judge::exit_of(case), judging))
            .fold(end, End::worst);
        if self.stop.is_asked() {
            end = end.worst(End::Interrupted);
        }
        document.exit = Ending::from(end);
        self.watchers.event(&Event::Finished {
            exit: end.name().to_owned(),
        });
        self.watchers.close();
        self.outputs.write(&document)?;
        if let Err(failure) = past::keep(&self.flags, &document) {
            // The result is out; a history that cannot be written takes nothing from it.
            if self.flags.save_baseline.is_some() {
                return Err(failure);
            }
            eprintln!("warning: not kept in the history: {}", failure.happened);
        }
        Ok(self.outputs.ended(end))
    }

    fn against(
        &self,
        document: &mut Document,
        name: &str,
        judging: &JudgeFlags,
    ) -> Result<End, Failure> {
        let baseline = past::baseline(&self.flags.past, name)?;
        let (comparison, end) = super::against::compare(document, &baseline, name, judging)?;
        let regressed = comparison.iter().any(|one: &Comparison| one.verdict == Some(Word::Regression));
        document.comparison.extend(comparison);
        document.verdicts = document.cases.iter().flat_map(|case| case.verdicts.clone()).collect();
        document.verdicts.sort_unstable();
        document.verdicts.dedup();
        Ok(if regressed && !judging.fail_on_regression {
            End::Ok
        } else {
            end
        })
    }
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
    if cfg!(debug_assertions) {
        vec![Word::DebugBuild]
    } else {
        Vec::new()
    }
}

fn tool() -> Tool {
    Tool {
        name: "keywright".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("KEYWRIGHT_COMMIT").map(str::to_owned),
        profile: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
        features: Vec::new(),
    }
}

/// The words of the command line. No secret is ever among them: tokens and PINs come from files.
fn command() -> String {
    let words = std::env::args_os().skip(1);
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    format!("keywright {}", words.join(" "))
}

/// A target that cannot be measured, as a failure of the command.
pub(crate) fn unmeasurable(error: &TargetError) -> Failure {
    let (exit, advice) = match error {
        TargetError::Authentication { .. } => (
            Exit::Authentication,
            "check the certificate, the token and what they may do",
        ),
        TargetError::Unsupported { .. } => (Exit::Unsupported, "see `keywright bench list ops`"),
        TargetError::Load(_) => (Exit::Usage, "give another load; see --help"),
        TargetError::Unreachable { .. } => (Exit::Target, "check that it runs, and its address"),
        _ => (Exit::Internal, "check the machine: keywright bench doctor"),
    };
    Failure::new(exit, error.to_string(), advice)
}
