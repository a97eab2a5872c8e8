//! Serves the home named by its first argument on a free port of loopback, until its input ends. A second argument is a
//! number of days by which its clock is ahead, where it stands still.
//!
//! The first line of its output is `listening on ADDR:PORT`. A test that dies closes the input, so
//! nothing is left running. Its token's process is this program too, told so by a word in place of the home.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that prints"
)]

use std::error::Error;
use std::io::{Read, stdin};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_home::{CONFIG_FILE, Event, MemoryPlan, Node, TOKEN_COMMAND, run_token_process};

fn main() -> ExitCode {
    let Some(home) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: keywright-served-home FOLDER [DAYS]");
        return ExitCode::from(2);
    };
    let days = std::env::args().nth(2).and_then(|days| days.parse().ok());
    let done = if home.as_os_str() == TOKEN_COMMAND {
        run_token_process().map_err(Into::into)
    } else {
        serve(&home.join(CONFIG_FILE), days)
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let mut told: Option<&dyn Error> = Some(error.as_ref());
            while let Some(error) = told {
                eprintln!("{error}");
                told = error.source();
            }
            ExitCode::FAILURE
        }
    }
}

fn serve(config: &std::path::Path, days: Option<u64>) -> Result<(), Box<dyn Error>> {
    let clock = match days {
        None => Clock::system(),
        Some(days) => {
            let ahead = Duration::from_secs(days * 86_400);
            Clock::simulated(Clock::system().wall().plus(ahead)).0
        }
    };
    let node = Node::open(config, clock, MemoryPlan::AsConfigured)?;
    node.tell_events(Box::new(|event| {
        if matches!(event, Event::TokenProcess(_)) {
            eprintln!("{event}");
        }
        Ok(())
    }));
    let serving = node.serve(Some(([127, 0, 0, 1], 0).into()))?;
    println!("listening on {}", serving.local_addr());
    stdin().read_to_end(&mut Vec::new())?;
    serving.stop()?;
    println!("stopped");
    Ok(())
}
