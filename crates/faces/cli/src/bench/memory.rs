//! How long a start takes with many keys, and how much memory a server holds when it has nothing to do.

use std::path::PathBuf;
use std::time::Duration;

use keywright_client::Client;
use keywright_clock::Clock;
use keywright_home::{Contents, MemoryPlan, Node, Profile};
use keywright_tls::Protocol;
use keywright_types::{BindingKind, KeySpec, Name};

use super::Block;
use super::load::settings;
use super::server::{Bench, Role, Server};
use crate::exit::Failure;

/// What is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    /// Resident memory with this many idle connections.
    Idle(usize),
    /// Opening a home of 10,000 keys, without the password's derivation.
    Start,
}

/// A look at a server, or at an opening home.
pub(crate) struct Runner {
    work: Work,
    home: PathBuf,
    server_cpu: Option<u32>,
}

impl Runner {
    pub(crate) fn new(work: Work, bench: &Bench<'_>) -> Result<Self, Failure> {
        let home = match work {
            Work::Idle(_) => bench.work.home(),
            Work::Start => {
                let home = bench.work.folder().join("home-10k");
                make_many_keys(&home)?;
                home
            }
        };
        let server_cpu = bench.arguments.server_cpu;
        Ok(Self {
            work,
            home,
            server_cpu,
        })
    }

    pub(crate) fn block(&self) -> Result<Block, Failure> {
        match self.work {
            // A server of its own for each look: one that had connections before keeps their memory.
            Work::Idle(connections) => {
                let server = Server::start_own(self.server_cpu, self.home.clone(), Role::Keys)?;
                idle(&server, connections)
            }
            Work::Start => start(&self.home),
        }
    }
}

/// `done` is mebibytes over one second, so that the rate reads as memory.
fn idle(server: &Server, connections: usize) -> Result<Block, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| Failure::broken(error.to_string()))?;
    let settings = settings(server, Protocol::Http2)?;
    let clients = (0..connections)
        .map(|_| runtime.block_on(Client::connect(settings.clone())))
        .collect::<Result<Vec<_>, _>>()?;
    std::thread::sleep(Duration::from_millis(300));
    let resident = server.resident()? as f64;
    drop(clients);
    let done = resident / f64::from(1 << 20);
    Ok(Block {
        done,
        seconds: 1.0,
        cpu_ns: done,
        bytes: resident,
        latencies: Vec::new(),
    })
}

fn start(home: &std::path::Path) -> Result<Block, Failure> {
    let clock = Clock::system();
    let config = home.join(keywright_home::CONFIG_FILE);
    let begun = clock.monotonic();
    let node = Node::open(&config, clock.clone(), MemoryPlan::LeaveAlone)?;
    let took = clock
        .monotonic()
        .since(begun)
        .saturating_sub(node.derivation_time());
    node.shutdown()?;
    let cpu_ns = took.as_nanos() as f64;
    Ok(Block {
        done: 1.0,
        seconds: took.as_secs_f64(),
        cpu_ns,
        bytes: 0.0,
        latencies: Vec::new(),
    })
}

fn make_many_keys(home: &std::path::Path) -> Result<(), Failure> {
    let config = home.join(keywright_home::CONFIG_FILE);
    if config.exists() {
        return Ok(());
    }
    eprintln!("making a home of 10,000 keys");
    let clock = Clock::system();
    keywright_home::create(home, Contents::Demo, Profile::Fast, &clock)?;
    let node = Node::open(&config, clock, MemoryPlan::LeaveAlone)?;
    let tenant = Name::default_tenant();
    for number in 0..10_000 {
        let name: Name = format!("key-{number}")
            .parse()
            .map_err(keywright_home::HomeError::from)?;
        node.admin()
            .create_context(&tenant, &name, KeySpec::seal(), BindingKind::None)
            .map_err(keywright_home::HomeError::from)?;
    }
    Ok(node.shutdown()?)
}
