//! Serves the home named by its one argument on a free port of loopback, until its input ends.
//!
//! The first line of its output is `listening on ADDR:PORT`. A test that dies closes the input, so
//! nothing is left running.
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

use keywright_clock::Clock;
use keywright_home::{CONFIG_FILE, MemoryPlan, Node};

fn main() -> ExitCode {
    let Some(home) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: keywright-served-home FOLDER");
        return ExitCode::from(2);
    };
    match serve(&home.join(CONFIG_FILE)) {
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

fn serve(config: &std::path::Path) -> Result<(), Box<dyn Error>> {
    let node = Node::open(config, Clock::system(), MemoryPlan::AsConfigured)?;
    let serving = node.serve(Some(([127, 0, 0, 1], 0).into()))?;
    println!("listening on {}", serving.local_addr());
    stdin().read_to_end(&mut Vec::new())?;
    serving.stop()?;
    println!("stopped");
    Ok(())
}
