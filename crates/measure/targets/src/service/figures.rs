//! Figures that are no rates: how long a start takes with many keys, and how much memory a server holds
//! when it has nothing to do.

use std::path::Path;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_home::{CONFIG_FILE, Contents, HomeError, MemoryPlan, Node, Profile};
use keywright_measure::TargetError;
use keywright_tls::Protocol;
use keywright_types::{BindingKind, KeySpec, Name};

use super::access::NAME;
use super::{Launch, Role, Server, home};
use crate::http::Lines;
use crate::operation::Setting;

/// Opening a home of 10,000 keys, without the derivation of its password; in milliseconds. The home is
/// made if it is missing, outside of what is timed.
pub(super) fn start_10k(setting: &Setting<'_>) -> Result<f64, TargetError> {
    let home = setting.folder.join("home-10k");
    start(&home).map_err(|error| TargetError::System(format!("no home of 10,000 keys: {error}")))
}

fn start(home: &Path) -> Result<f64, HomeError> {
    make_many_keys(home)?;
    let clock = Clock::system();
    let begun = clock.monotonic();
    let config = home.join(CONFIG_FILE);
    let node = Node::open(&config, clock.clone(), MemoryPlan::LeaveAlone)?;
    let took = clock.monotonic().since(begun);
    let took = took.saturating_sub(node.derivation_time());
    node.shutdown()?;
    Ok(took.as_secs_f64() * 1e3)
}

fn make_many_keys(home: &Path) -> Result<(), HomeError> {
    let config = home.join(CONFIG_FILE);
    if config.exists() {
        return Ok(());
    }
    let clock = Clock::system();
    keywright_home::create(home, Contents::Demo, Profile::Fast, &clock)?;
    let node = Node::open(&config, clock, MemoryPlan::LeaveAlone)?;
    let tenant = Name::default_tenant();
    for number in 0..10_000 {
        let name: Name = format!("key-{number}").parse()?;
        node.admin()
            .create_context(&tenant, &name, KeySpec::seal(), BindingKind::None)?;
    }
    node.shutdown()
}

/// Resident memory of a server that nobody is connected to, in mebibytes.
pub(super) fn idle_0(setting: &Setting<'_>) -> Result<f64, TargetError> {
    idle(setting, 0)
}

/// The same with a thousand connections that have nothing to say.
pub(super) fn idle_1000(setting: &Setting<'_>) -> Result<f64, TargetError> {
    idle(setting, 1000)
}

/// For its memory to come to rest.
const REST: Duration = Duration::from_millis(300);

/// A server of its own for each look: one that had connections before keeps their memory.
fn idle(setting: &Setting<'_>, connections: u32) -> Result<f64, TargetError> {
    let program = setting.program.ok_or_else(|| TargetError::Unsupported {
        target: NAME.to_owned(),
        operation: "the memory of an idle server".to_owned(),
        reason: "there is no program to start".to_owned(),
    })?;
    let launch = Launch {
        program,
        cpu: setting.server_cpu,
    };
    let server = Server::start(launch, Role::Keys, &home(setting.folder)?)?;
    let access = server.access()?;
    let lines = match connections {
        0 => None,
        count => {
            let endpoint = access.endpoint(Protocol::Http2, access.tenants(1)?)?;
            Some(Lines::connect(endpoint, count, 1)?)
        }
    };
    std::thread::sleep(REST);
    let resident = server.process().resident_bytes();
    drop(lines);
    let resident = resident.ok_or_else(|| {
        TargetError::System("the system does not say how much memory is resident".to_owned())
    })?;
    Ok(resident as f64 / f64::from(1 << 20))
}
