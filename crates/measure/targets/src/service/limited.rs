//! A home where one of the two clients of the demonstration may ask only so often.

use std::fs;
use std::path::{Path, PathBuf};

use keywright_clock::Clock;
use keywright_home::{CONFIG_FILE, HomeError, MemoryPlan, Node};
use keywright_measure::TargetError;
use keywright_policy::LimitEntry;

use super::home;

/// What the second client may ask for, in requests a second.
pub const LIMIT: u32 = 1_000;
/// Who that is.
const CLIENT: &str = "web-2fa-1";
/// What it may ask for at once after a rest: a tenth of a second's worth.
const BURST: u32 = LIMIT / 10;

/// The home in this folder, with a policy that limits its second client. Made if it is missing.
///
/// # Errors
/// [`TargetError::System`] if it cannot be made.
pub fn limited_home(folder: &Path) -> Result<PathBuf, TargetError> {
    let own = folder.join("limited");
    let home = home(&own)?;
    let whole = own.join("whole");
    if whole.exists() {
        return Ok(home);
    }
    let system = |error: HomeError| TargetError::System(format!("no limit: {error}"));
    let config = home.join(CONFIG_FILE);
    let node = Node::open(&config, Clock::system(), MemoryPlan::LeaveAlone).map_err(system)?;
    limit(&node).map_err(system)?;
    node.shutdown().map_err(system)?;
    fs::write(whole, "").map_err(|error| TargetError::System(error.to_string()))?;
    Ok(home)
}

fn limit(node: &Node) -> Result<(), HomeError> {
    let mut document = node.admin().policy()?.unwrap_or_default();
    document.limits.push(LimitEntry {
        tenant: "default".parse()?,
        principals: vec![CLIENT.parse()?],
        groups: Vec::new(),
        per_second: LIMIT,
        burst: Some(BURST),
        costs: std::collections::BTreeMap::default(),
    });
    node.admin().apply_policy(document)?;
    Ok(())
}
