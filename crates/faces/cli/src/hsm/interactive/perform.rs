//! Runs a command out of its words, through the same code as the command line.

use clap::{FromArgMatches as _, Subcommand as _};
use serde_json::Value;

use super::super::answer::{self, Answer, Beside, Refusal};
use super::super::asked::{Asker, standing_in};
use super::super::{Command, benchmark};
use crate::exit::Exit;
use crate::output::Format;

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
    /// On the bare terminal, because it prints while it goes on.
    Outside(Box<Command>),
}

/// Reads words as the program does; what is wrong with them comes back as text.
pub(super) fn read(name: &str, words: &[String]) -> Result<Ready, String> {
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
    let command = Box::new(command);
    Ok(match command.goes_on() {
        true => Ready::Outside(command),
        false => Ready::Here(command),
    })
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

/// Runs it on the bare terminal.
pub(super) fn outside(command: &Command) -> Exit {
    let ended = match command {
        Command::Benchmark(words) => benchmark(words, Format::Text),
        other => {
            let (name, context) = other.about();
            let mut beside = Beside::default();
            let outcome = other.run(&mut beside);
            answer::print(name, context, Format::Text, &beside, outcome)
        }
    };
    ended.unwrap_or_else(|failure| {
        crate::output::failure(Format::Text, &failure);
        failure.exit
    })
}
