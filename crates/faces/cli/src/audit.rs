//! `keywright audit`.

use crate::exit::{Exit, Failure};
use crate::output::Format;

/// Verify or show an audit log.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: Arguments, _: Format) -> Result<Exit, Failure> {
    Ok(Exit::Ok)
}
