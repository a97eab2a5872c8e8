//! `completions`: a script for a shell that completes the words of a program.

use clap_complete::Shell;
use serde::Serialize;

use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

/// A shell.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The shell that the script is for.
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Serialize)]
struct Script {
    shell: String,
    script: String,
}

/// Prints the script for `command`.
pub fn run(
    mut command: clap::Command,
    arguments: &Arguments,
    format: Format,
) -> Result<Exit, Failure> {
    let name = command.get_name().to_owned();
    let mut bytes = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, name, &mut bytes);
    let script = String::from_utf8(bytes)
        .map_err(|_| Failure::broken("the script for the shell is not text"))?;
    let content = Script {
        shell: arguments.shell.to_string(),
        script,
    };
    output::document(format, &content, || content.script.clone())?;
    Ok(Exit::Ok)
}
