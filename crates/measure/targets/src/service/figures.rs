//! Figures that are no rates: how long a start takes with many keys, how much memory a server holds when it has
//! nothing to do, and what a connection takes.

use std::path::Path;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_home::{CONFIG_FILE, Contents, HomeError, MemoryPlan, Node, Profile};
use keywright_measure::TargetError;
use keywright_tls::Protocol;
use keywright_types::{BindingKind, KeySpec, Name};

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
    let server = fresh(setting)?;
    Ok(resident(&server)? / MIB)
}

/// The same with a thousand connections that have nothing to say.
pub(super) fn idle_1000(setting: &Setting<'_>) -> Result<f64, TargetError> {
    let server = fresh(setting)?;
    let _lines = connect(&server, 1000)?;
    Ok(resident(&server)? / MIB)
}

/// What each of ten thousand connections that have nothing to say adds to the server's resident memory, in kibibytes.
pub(super) fn idle_connection(setting: &Setting<'_>) -> Result<f64, TargetError> {
    let server = fresh(setting)?;
    let before = resident(&server)?;
    let _lines = connect(&server, 10_000)?;
    Ok((resident(&server)? - before) / 10_000.0 / KIB)
}

/// The server's processor time for a connection of its own to be made: a whole handshake with certificates on both
/// sides, the connection's record, and HTTP/2's first frames; in microseconds. There is no other kind: sessions are
/// not resumed.
pub(super) fn handshake(setting: &Setting<'_>) -> Result<f64, TargetError> {
    const CONNECTIONS: u32 = 1000;
    let server = fresh(setting)?;
    let spent = || {
        let spent = server.process().cpu_ns();
        spent.ok_or_else(|| unsaid("how much processor time a process has had"))
    };
    // The first one makes what all others find made.
    drop(connect(&server, 1)?);
    let before = spent()?;
    let _lines = connect(&server, CONNECTIONS)?;
    let took = spent()?.saturating_sub(before);
    Ok(took as f64 / 1e3 / f64::from(CONNECTIONS))
}

const KIB: f64 = 1024.0;
const MIB: f64 = KIB * KIB;
/// For its memory to come to rest.
const REST: Duration = Duration::from_millis(300);

/// A server of its own for each look: one that had connections before keeps their memory.
fn fresh(setting: &Setting<'_>) -> Result<Server, TargetError> {
    let program = setting.program.ok_or(TargetError::Program)?;
    let launch = Launch {
        program,
        cpu: setting.server_cpu,
    };
    // And with a home of its own, as a server that other operations are measured on has locked theirs.
    Server::start(launch, Role::Keys, &home(&setting.folder.join("alone"))?)
}

fn connect(server: &Server, connections: u32) -> Result<Lines, TargetError> {
    let access = server.access()?;
    let endpoint = access.endpoint(Protocol::Http2, access.tenants(1)?)?;
    Lines::connect(endpoint, connections, 1)
}

/// Resident memory in bytes, once it has come to rest.
fn resident(server: &Server) -> Result<f64, TargetError> {
    std::thread::sleep(REST);
    let resident = server.process().resident_bytes();
    let resident = resident.ok_or_else(|| unsaid("how much memory is resident"))?;
    Ok(resident as f64)
}

fn unsaid(what: &str) -> TargetError {
    TargetError::System(format!("the system does not say {what}"))
}
