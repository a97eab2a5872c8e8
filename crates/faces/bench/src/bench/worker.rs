//! `bench worker`: one of the processes of `--processes`. It is called by the measurement and by nobody else;
//! what it prints is for the measurement to read.

use std::io::{BufReader, stdin, stdout};

use keywright_clock::Clock;
use keywright_targets::processes::serve;

use super::interrupt;
use crate::exit::{Exit, Failure};

/// Takes orders until standard input ends.
pub(super) fn run() -> Result<Exit, Failure> {
    // Ctrl-C reaches every process of a terminal; a run that was cut short is reported all the same.
    let stop = interrupt::listen()?;
    let orders = BufReader::new(stdin());
    let told = (&Clock::system(), &stop);
    serve(orders, stdout().lock(), told, crate::fpe::backend()?).map_err(|error| {
        Failure::new(
            Exit::Internal,
            format!("reports cannot be written: {error}"),
            "this command is for --processes only",
        )
    })?;
    Ok(Exit::Ok)
}
