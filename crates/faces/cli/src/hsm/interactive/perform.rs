//! Runs a command out of its words, through the same code as the command line.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use clap::{FromArgMatches as _, Subcommand as _};
use keywright_terminal::dispatch::{self, Delegation};
use keywright_terminal::token::heard::Heard;
use serde_json::Value;

use super::super::Command;
use super::super::answer::{self, Answer, Beside, Refusal};
use super::super::asked::{Asker, standing_in};
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

/// What a command came to.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) exit: Exit,
    pub(super) text: String,
    pub(super) data: Option<Value>,
}

/// How a command is run.
pub(super) enum Ready {
    /// With its result within the menu.
    Here(Box<Command>),
    /// By the other program, with its result within the menu.
    Beside(Delegation),
    /// By the other program on the bare terminal, because it prints while it goes on.
    Outside(Delegation),
}

/// Reads words as the program does; what is wrong with them comes back as text.
pub(super) fn read(name: &str, words: &[String]) -> Result<Ready, String> {
    if let Some(delegation) = Delegation::of_token(name, words) {
        let goes_on = name == "benchmark" || words.iter().any(|word| word == "--follow");
        return Ok(match goes_on {
            true => Ready::Outside(delegation),
            false => Ready::Beside(delegation),
        });
    }
    let registry = Command::augment_subcommands(
        clap::Command::new("hsm")
            .no_binary_name(true)
            .disable_help_flag(true),
    );
    let all = std::iter::once(name).chain(words.iter().map(String::as_str));
    let matches = registry
        .try_get_matches_from(all)
        .map_err(|error| told(&error))?;
    let command = Command::from_arg_matches(&matches).map_err(|error| told(&error))?;
    Ok(Ready::Here(Box::new(command)))
}

/// The first paragraph of what clap says.
fn told(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    first
        .trim_start_matches("error: ")
        .replace('\n', " ")
        .trim()
        .to_owned()
}

/// Runs it while somebody answers its questions.
pub(super) fn run(command: &Command, asker: Box<dyn Asker>) -> Done {
    let mut beside = Beside::default();
    let outcome: Result<Answer, Refusal> = standing_in(asker, || command.run(&mut beside));
    let (_, context) = command.about();
    let data = outcome.as_ref().ok().map(|answer| answer.data.clone());
    let (exit, text) = answer::told(context, &beside, outcome);
    Done { exit, text, data }
}

/// Runs what the other program does, and takes what it prints.
pub(super) fn beside(delegation: &Delegation) -> Done {
    let ended = delegation.command().and_then(|mut command| {
        command.stdin(Stdio::null());
        let output = command.output();
        output.map_err(|error| dispatch::unstartable(Path::new(command.get_program()), &error))
    });
    let (exit, text) = match ended {
        Ok(output) => {
            let text = [output.stdout, output.stderr].concat();
            (
                exit_of(output.status),
                String::from_utf8_lossy(&text).into_owned(),
            )
        }
        Err(failure) => (failure.exit, two_lines(&failure)),
    };
    let data = None;
    Done { exit, text, data }
}

/// Runs what the other program does on the bare terminal. Signals end that program, and not the menu.
pub(super) fn outside(delegation: &Delegation) -> Exit {
    let ended = delegation.command().and_then(|mut command| {
        let listening = Heard::listen();
        let status = command.status();
        drop(listening);
        status.map_err(|error| dispatch::unstartable(Path::new(command.get_program()), &error))
    });
    match ended {
        Ok(status) => exit_of(status),
        Err(failure) => {
            output::failure(Format::Text, &failure);
            failure.exit
        }
    }
}

/// What happened and what to do, as the menu shows it.
pub(super) fn two_lines(failure: &Failure) -> String {
    format!("error: {}\nhelp: {}", failure.happened, failure.advice)
}

/// How a program ended; one that a signal ended, as a shell says it.
fn exit_of(status: ExitStatus) -> Exit {
    let number = match (status.code(), status.signal()) {
        (Some(code), _) => u8::try_from(code).ok(),
        (None, Some(signal)) => u8::try_from(128 + signal).ok(),
        (None, None) => None,
    };
    number.map_or(Exit::Internal, Exit::numbered)
}
