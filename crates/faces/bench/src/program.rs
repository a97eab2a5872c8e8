//! The words of this program: its own, and those of `keywright` that it carries out.

use std::ffi::OsString;

use clap::{CommandFactory as _, Parser};
use keywright_hsm::Context;
use keywright_terminal::token::answer::{self, Beside};
use keywright_terminal::{completions, man};

use crate::exit::{Exit, Failure};
use crate::output::Format;
use crate::{bench, calls, demonstration, dispatch, session, token, vectors};

/// Measures operations, tokens and services, reads logs of calls, runs test vectors.
#[derive(Debug, Parser)]
#[command(
    name = dispatch::BENCH,
    version,
    propagate_version = true,
    arg_required_else_help = true
)]
struct Own {
    /// How results and errors are printed.
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(subcommand)]
    command: OwnCommand,
}

#[derive(Debug, clap::Subcommand)]
#[expect(clippy::large_enum_variant, reason = "a program has one")]
enum OwnCommand {
    #[command(flatten)]
    Bench(bench::Command),
    /// What an application asks of a token, and what to change: from a log of its calls.
    Calls(Box<calls::Alone>),
    /// A script that completes the words of this program in a shell.
    Completions(completions::Arguments),
    /// Measure a running demonstration.
    #[command(hide = true)]
    Demonstration(demonstration::Arguments),
    /// The manual pages of this program.
    Man(man::Arguments),
    /// Let two parties talk over pipes that lose, repeat, delay and change frames, and show what came of it.
    SessionDemo(session::DemoArguments),
    /// Measure a PKCS#11 token: fourteen operations, or a key of yours.
    Token(Box<token::Alone>),
    /// Run files of test vectors, and all files of folders.
    Vectors(vectors::RunArguments),
}

/// Keeps keys, puts them to work over HTTP/2 and mutual TLS, and measures all of it.
#[derive(Debug, Parser)]
#[command(
    name = dispatch::KEYWRIGHT,
    version,
    propagate_version = true,
    arg_required_else_help = true
)]
struct Delegated {
    /// How results and errors are printed.
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(subcommand)]
    command: DelegatedCommand,
}

#[derive(Debug, clap::Subcommand)]
enum DelegatedCommand {
    /// Measure operations.
    Bench(Box<bench::Arguments>),
    /// Measure a PKCS#11 token: the same as `hsm benchmark`.
    Benchmark(Box<token::Alone>),
    /// Manage the keys of any PKCS#11 token, and work with them.
    Hsm(HsmArguments),
    /// Let two parties talk over a bad line.
    Session(session::Arguments),
    /// Run files of test vectors.
    Vectors(vectors::Arguments),
}

/// Look at tokens and use their keys.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
struct HsmArguments {
    /// The same as --format json.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: HsmCommand,
}

#[derive(Debug, clap::Subcommand)]
enum HsmCommand {
    /// Measure the token: fourteen operations, or a key of yours.
    Benchmark(Box<token::BenchmarkWords>),
    /// What an application asks of a token, and what to change: from a log of its calls.
    Analyze(Box<calls::AnalyzeWords>),
}

/// What is to be done.
pub(crate) struct Invocation {
    pub(crate) format: Format,
    job: Job,
}

#[expect(clippy::large_enum_variant, reason = "a program has one")]
enum Job {
    Bench(bench::Command),
    Calls(Box<calls::AnalyzeWords>),
    Completions(completions::Arguments),
    Man(man::Arguments),
    Demonstration(demonstration::Arguments),
    SessionDemo(session::DemoArguments),
    Token(Box<token::BenchmarkWords>),
    Vectors(vectors::RunArguments),
}

/// The words of the command as they were typed, the program's name first.
pub(crate) fn words() -> Vec<OsString> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    dispatch::typed(&arguments).unwrap_or_else(|| {
        let rest = arguments.into_iter().skip(1);
        std::iter::once(dispatch::BENCH.into())
            .chain(rest)
            .collect()
    })
}

/// Whether these are words of `keywright`.
fn is_delegated(words: &[OsString]) -> bool {
    words
        .first()
        .is_some_and(|name| name == dispatch::KEYWRIGHT)
}

/// The definitions of these words.
pub(crate) fn definitions(words: &[OsString]) -> clap::Command {
    match is_delegated(words) {
        true => Delegated::command(),
        false => Own::command(),
    }
}

impl Invocation {
    pub(crate) fn read(words: &[OsString]) -> Result<Self, clap::Error> {
        match is_delegated(words) {
            true => Delegated::try_parse_from(words).map(Self::delegated),
            false => Own::try_parse_from(words).map(Self::own),
        }
    }

    fn own(words: Own) -> Self {
        let mut format = words.format;
        let mut or_json = |json: bool| {
            if json {
                format = Format::Json;
            }
        };
        let job = match words.command {
            OwnCommand::Bench(command) => Job::Bench(command),
            OwnCommand::Calls(words) => {
                or_json(words.json);
                Job::Calls(Box::new(words.words))
            }
            OwnCommand::Completions(words) => Job::Completions(words),
            OwnCommand::Man(words) => Job::Man(words),
            OwnCommand::Demonstration(words) => Job::Demonstration(words),
            OwnCommand::SessionDemo(words) => Job::SessionDemo(words),
            OwnCommand::Token(words) => {
                or_json(words.json);
                Job::Token(Box::new(words.words))
            }
            OwnCommand::Vectors(words) => Job::Vectors(words),
        };
        Self { format, job }
    }

    fn delegated(words: Delegated) -> Self {
        let mut format = words.format;
        let job = match words.command {
            DelegatedCommand::Bench(words) => Job::Bench(words.command),
            DelegatedCommand::Benchmark(words) => {
                if words.json {
                    format = Format::Json;
                }
                Job::Token(Box::new(words.words))
            }
            DelegatedCommand::Hsm(words) => {
                if words.json {
                    format = Format::Json;
                }
                match words.command {
                    HsmCommand::Benchmark(words) => Job::Token(words),
                    HsmCommand::Analyze(words) => Job::Calls(words),
                }
            }
            DelegatedCommand::Session(words) => Job::SessionDemo(words.demo()),
            DelegatedCommand::Vectors(words) => Job::Vectors(words.run()),
        };
        Self { format, job }
    }

    /// Whether what comes of it has this form.
    const fn has_form(&self) -> bool {
        match (&self.job, self.format) {
            (_, Format::Text | Format::Json) | (Job::Calls(_), _) => true,
            (Job::Bench(_) | Job::Token(_), format) => !matches!(format, Format::Sarif),
            _ => false,
        }
    }

    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let format = self.format;
        if !self.has_form() {
            return Err(Failure::new(
                Exit::Usage,
                "results of this command do not have this form",
                "choose --format text or --format json; csv, html and sarif are for measurements, logs and audits",
            ));
        }
        match self.job {
            Job::Bench(command) => bench::run(command, format),
            Job::Calls(words) => calls::run(&words, format),
            Job::Completions(words) => completions::run(Own::command(), &words, format),
            Job::Man(words) => man::run(Own::command(), None, &words, format),
            Job::Demonstration(words) => demonstration::run(&words, format),
            Job::SessionDemo(words) => session::demo(&words, format),
            Job::Token(words) => token::run(&words, format),
            Job::Vectors(words) => vectors::run(&words, format),
        }
    }
}

/// The first word that names a command, without `hsm` of `keywright`.
fn command(words: &[OsString]) -> Option<&str> {
    let mut words = words.iter().skip(1).filter_map(|word| word.to_str());
    words.find(|word| {
        let known = [
            "analyze",
            "bench",
            "benchmark",
            "calls",
            "session",
            "session-demo",
            "token",
            "vectors",
        ];
        known.contains(word)
    })
}

/// Writes the status file of words that are no command, if they were meant to measure.
pub(crate) fn misused(words: &[OsString]) {
    let second = words.get(1).and_then(|word| word.to_str());
    let measures = match is_delegated(words) {
        true => matches!(second, Some("bench" | "benchmark")),
        false => !matches!(command(words), Some("calls" | "session-demo" | "vectors")),
    };
    if measures {
        bench::misused();
    }
}

/// Says that the words of a command on tokens are none, in one document; gives the failure back if they were meant
/// for another command.
pub(crate) fn document(words: &[OsString], failure: Failure) -> Result<Exit, Failure> {
    let name = match command(words) {
        Some("benchmark" | "token") => "benchmark",
        Some("analyze" | "calls") => "analyze",
        _ => return Err(failure),
    };
    let (beside, refusal) = (Beside::default(), Err(failure.into()));
    answer::print(name, Context::General, Format::Json, &beside, refusal)
}
