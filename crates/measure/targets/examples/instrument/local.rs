//! Operations of the registry as workers: the same for our engine and for criterion.

use keywright_measure::Worker;
use keywright_targets::local::OPERATIONS;
use keywright_targets::operation::{Make, Setting};

/// The worker of a local operation.
pub(crate) fn worker(
    name: &str,
) -> Result<Box<dyn Worker>, Box<dyn std::error::Error + Send + Sync>> {
    let row = OPERATIONS.iter().find(|row| row.name == name);
    let Some(Make::Worker(make)) = row.map(|row| row.make) else {
        return Err(format!("there is no worker {name}").into());
    };
    Ok(make(&Setting {
        seed: 1,
        index: 0,
        bytes: None,
        // What is used here keeps nothing in files.
        folder: &std::env::temp_dir(),
        program: None,
        server_cpu: None,
        fpe_backend: None,
    })?)
}
