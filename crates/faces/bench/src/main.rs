//! The `keywright-bench` command: measures operations, tokens and services, reads logs of calls, runs test vectors.
//!
//! `keywright` starts it for `bench`, `benchmark`, `hsm benchmark`, `hsm analyze`, `vectors run` and `session demo`; then
//! words, help and messages are those of `keywright`. Started by itself it has the same commands under words of its own.
#![forbid(unsafe_code)]

#[macro_use]
extern crate keywright_terminal;

mod bench;
mod calls;
mod demonstration;
mod program;
mod session;
mod token;
mod vectors;

use keywright_terminal::{dispatch, exit, fpe_backend as fpe, output, progress};

use crate::exit::Failure;
use crate::output::Format;
use crate::program::Invocation;

/// The allocator of the service: operations in this process are measured with the same.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    let words = program::words();
    let wanted = Format::wanted(&words);
    if let Err(failure) = dispatch::check_version() {
        output::failure(wanted, &failure);
        return failure.exit.into();
    }
    let invocation = match Invocation::read(&words) {
        Ok(invocation) => invocation,
        Err(error) => {
            if error.use_stderr() {
                program::misused(&words);
            }
            return exit::usage(&error, wanted, |failure| program::document(&words, failure));
        }
    };
    let format = invocation.format;
    // A bug ends like every other failure; what panicked, and where, is on standard error by then.
    let result =
        std::panic::catch_unwind(|| invocation.run()).unwrap_or_else(|_| Err(Failure::panicked()));
    let exit = result.unwrap_or_else(|failure| {
        output::failure(format, &failure);
        failure.exit
    });
    exit.into()
}
