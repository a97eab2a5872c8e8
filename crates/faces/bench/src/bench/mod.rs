//! `keywright bench`: one instrument for local work, services and stores.
//!
//! Thin: words become plans, `keywright-targets` brings targets to life, `keywright-measure` carries them
//! out and judges them, `keywright-report` says what came of it. Every measuring command ends in
//! [`sitting::Sitting::finish`], so that exit codes, outputs and the history are the same for all.

mod against;
mod baselines;
mod capacity;
mod doctor;
mod flags;
mod interrupt;
mod lint;
mod list;
mod live;
mod noise;
mod op;
mod outputs;
mod pairs;
mod past;
mod phases;
mod ready;
mod remote;
mod sitting;
mod suite;
mod sweep;
mod teach;
mod token;
mod trend;
mod web;
mod work;
mod worker;

pub(crate) use interrupt::listen;
pub(crate) use sitting::unmeasurable;
pub(crate) use token::{TokenFlags, run as on_token};

use keywright_measure::doctor::Build;

use crate::exit::{Exit, Failure};
use crate::output::Format;

/// Measure operations.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Measure operations by their names.
    Op(op::OpArguments),
    /// Measure what a suite file says.
    Run(suite::RunArguments),
    /// Compare two operations, interleaved, or an operation with a baseline.
    Compare(pairs::CompareArguments),
    /// Search the highest rate at which objectives hold.
    Saturate(capacity::SaturateArguments),
    /// A spike between two calm stretches, and how long recovery takes.
    Spike(capacity::SpikeArguments),
    /// Throughput over threads or streams.
    Scale(sweep::ScaleArguments),
    /// Time over payload size: per call and per byte.
    Sizes(sweep::SizesArguments),
    /// Where the time of a request goes.
    Breakdown(phases::BreakdownArguments),
    /// Measure the clock and the noise of this machine.
    Calibrate,
    /// Say what speaks against measuring on this machine; changes nothing.
    Doctor,
    /// Find figures in a file that contradict each other.
    Lint(lint::LintArguments),
    /// Render results again.
    Report(past::ReportArguments),
    /// List the runs of the history.
    History(past::HistoryArguments),
    /// How a case developed over comparable runs, with change points.
    Trend(trend::TrendArguments),
    /// Keep results to compare with.
    Baseline(baselines::BaselineArguments),
    /// Write a note beside a run.
    Note(past::NoteArguments),
    /// Measure a suite with a dashboard on the terminal.
    Watch(live::WatchArguments),
    /// Serve the history in a browser; to see a run while it is measured use `run --serve`.
    Serve(live::ServeArguments),
    /// Print the JSON Schema of results.
    Schema,
    /// Say what can be measured.
    List(list::ListArguments),
    /// Remove what ended measurements left behind.
    Clean(past::CleanArguments),
    /// What common mistakes of measuring look like.
    Demo(teach::DemoArguments),
    /// One of the processes of `--processes`; it takes its orders from standard input.
    #[command(hide = true)]
    Worker,
}

pub(crate) fn run(command: Command, format: Format) -> Result<Exit, Failure> {
    let ended = carry_out(command, format);
    if let Err(failure) = &ended {
        outputs::failed(failure.exit);
    }
    ended
}

/// Writes the status file of words that are no command.
pub(crate) fn misused() {
    outputs::failed(Exit::Usage);
}

/// How a command ends that measured.
pub(crate) fn exit_of(end: keywright_measure::Exit) -> Exit {
    use keywright_measure::Exit as End;
    match end {
        End::Ok => Exit::Ok,
        End::Usage => Exit::Usage,
        End::GateFailed => Exit::Gate,
        End::Inconclusive => Exit::Inconclusive,
        End::TargetWrong => Exit::Target,
        End::MeasurementInvalid => Exit::MeasurementInvalid,
        End::NotComparable => Exit::NotComparable,
        End::Interrupted => Exit::Interrupted,
        _ => Exit::Internal,
    }
}

/// How this program was built.
pub(crate) fn build() -> Build {
    match option_env!("KEYWRIGHT_OPT_LEVEL") {
        _ if cfg!(debug_assertions) => Build::Debug,
        Some("0" | "1") => Build::Quick,
        _ => Build::Release,
    }
}

fn carry_out(command: Command, format: Format) -> Result<Exit, Failure> {
    match command {
        Command::Op(arguments) => op::run(&arguments, format),
        Command::Run(arguments) => suite::run(&arguments, format),
        Command::Compare(arguments) => pairs::run(&arguments, format),
        Command::Saturate(arguments) => capacity::saturate(&arguments, format),
        Command::Spike(arguments) => capacity::spike(&arguments, format),
        Command::Scale(arguments) => sweep::scale(&arguments, format),
        Command::Sizes(arguments) => sweep::sizes(&arguments, format),
        Command::Breakdown(arguments) => phases::run(&arguments, format),
        Command::Calibrate => doctor::calibrate(format),
        Command::Doctor => doctor::doctor(format),
        Command::Lint(arguments) => lint::run(&arguments, format),
        Command::Report(arguments) => past::report(&arguments, format),
        Command::History(arguments) => past::history(&arguments, format),
        Command::Trend(arguments) => trend::trend(&arguments, format),
        Command::Baseline(arguments) => baselines::baselines(&arguments, format),
        Command::Note(arguments) => past::note(&arguments),
        Command::Watch(arguments) => live::watch(&arguments, format),
        Command::Serve(arguments) => live::serve(&arguments),
        Command::Schema => list::schema(),
        Command::List(arguments) => list::list(&arguments, format),
        Command::Clean(arguments) => past::clean(&arguments),
        Command::Demo(arguments) => teach::run(&arguments, format),
        Command::Worker => worker::run(),
    }
}
