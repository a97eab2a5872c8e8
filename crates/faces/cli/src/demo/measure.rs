//! The step that measures: `keywright-bench` asks the running service for a while.
//!
//! Generator and service share the machine's cores here, and the table says so. `keywright bench` and
//! `make bench` measure with separate cores.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

use keywright_terminal::dispatch;
use serde::Deserialize;

use super::fact;
use crate::exit::{Exit, Failure};

/// What the other program prints: the table, or why there is none.
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    lines: Vec<String>,
    error: Option<Refusal>,
}

#[derive(Deserialize)]
struct Refusal {
    exit: u8,
    message: String,
    advice: String,
}

/// Measures for `seconds` and prints the table. Without the program that measures, it says so: no figure is shown.
pub(super) fn run(home: &Path, address: SocketAddr, seconds: u64) -> Result<(), Failure> {
    let mut command = match dispatch::sibling(dispatch::BENCH) {
        Ok(command) => command,
        Err(failure) if failure.exit == Exit::Unsupported => {
            fact("skipped: keywright-bench is not installed");
            return Ok(());
        }
        Err(failure) => return Err(failure),
    };
    command
        .args(["--format", "json", "demonstration", "--home"])
        .arg(home);
    command.args(["--url", &format!("https://{address}")]);
    command.args(["--seconds", &seconds.to_string()]);
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| dispatch::unstartable(Path::new(command.get_program()), &error))?;
    let answer: Answer = serde_json::from_slice(&output.stdout)
        .map_err(|_| Failure::broken(format!("keywright-bench ended with {}", output.status)))?;
    match answer.error {
        Some(error) => Err(Failure::new(
            Exit::numbered(error.exit),
            error.message,
            error.advice,
        )),
        None => {
            answer.lines.iter().for_each(|line| fact(line));
            Ok(())
        }
    }
}
