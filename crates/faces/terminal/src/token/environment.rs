//! The variables that a configuration sets for its module.
//!
//! Modules read their own configuration from the environment of the process, and a process cannot change its own
//! environment safely while it runs. So the program starts itself anew, with the same words and these variables,
//! before it has read anything but the configuration: no PIN, no input, no module. The process stays the same one.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;

use clap::FromArgMatches as _;

use super::answer::Refusal;
use super::place::{ModulePlace, variable};
use crate::exit::{Exit, Failure};

/// Whether all variables are as they must be.
fn holds(env: &BTreeMap<String, String>) -> bool {
    env.iter()
        .all(|(name, value)| variable(name).unwrap_or_default() == value.as_str())
}

/// Starts the program anew if the configuration that `words` of `program` name sets variables that are not set yet.
pub fn prepare(program: clap::Command, words: &[OsString]) -> Result<(), Refusal> {
    let Some(place) = place(program, words) else {
        return Ok(());
    };
    // What is wrong with the configuration is said by the command, in its own form.
    let Ok((settings, _)) = place.settings() else {
        return Ok(());
    };
    if holds(&settings.env) {
        return Ok(());
    }
    let lost = |error: std::io::Error| {
        Failure::new(
            Exit::Internal,
            format!(
                "the program cannot be started anew with the variables of the configuration: {error}"
            ),
            "set them yourself before you start it",
        )
    };
    let program = std::env::current_exe().map_err(lost)?;
    let mut again = std::process::Command::new(program);
    let mut words = std::env::args_os();
    if let Some(name) = words.next() {
        again.arg0(name);
    }
    // Comes back only if it failed.
    Err(lost(again.args(words).envs(&settings.env).exec()).into())
}

/// Where the words of the program say that module and configuration are; none if the command has no such words.
fn place(program: clap::Command, words: &[OsString]) -> Option<ModulePlace> {
    let matches = program.try_get_matches_from(words).ok()?;
    let (name, mut of) = matches.subcommand()?;
    if name == "hsm" {
        (_, of) = of.subcommand()?;
    }
    of.try_contains_id("profile").ok()?;
    ModulePlace::from_arg_matches(of).ok()
}

/// Refuses a configuration whose variables are not set: another one than the program began with.
pub fn refuse_other(env: &BTreeMap<String, String>) -> Result<(), Refusal> {
    if holds(env) {
        return Ok(());
    }
    Err(Refusal::usage(
        "the configuration sets variables for its module, and this program began with another one",
        "leave the menu and start it with this --config and --profile",
    ))
}
