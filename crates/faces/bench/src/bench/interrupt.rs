//! Ctrl-C, or a request to terminate, ends a measurement early and leaves a report of what was done; a second
//! one ends the program.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use keywright_measure::Stop;

use keywright_terminal::exit::Failure;
use keywright_terminal::signals;

/// A measurement's wish to end that signals set from now on.
pub(crate) fn listen() -> Result<Stop, Failure> {
    keywright_terminal::token::heard::others_listen();
    let asked = Arc::new(AtomicBool::new(false));
    // In this order: the first signal finds the flag clear and sets it, the second finds it set.
    signals::exit_on_ending(&asked)?;
    signals::set_on_ending(&asked)?;
    Ok(Stop::from(asked))
}
