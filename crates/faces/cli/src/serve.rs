//! `keywright serve`: the key service, until it is told to stop.

use std::net::SocketAddr;
use std::path::PathBuf;

use keywright_clock::Clock;
use keywright_home::{MemoryPlan, Node, Serving, serve_null};

use crate::exit::{Exit, Failure};
use crate::place::Home;

/// Run the key service.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    home: Home,
    /// The configuration; by default that of the home folder.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Listen here instead of where the configuration says; port 0 takes a free one.
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<SocketAddr>,
    /// Answer constants without keys or audit: measures the transport alone.
    #[arg(long)]
    null: bool,
}

pub(crate) fn run(arguments: Arguments) -> Result<Exit, Failure> {
    let config = arguments.config.unwrap_or_else(|| arguments.home.config());
    let clock = Clock::system();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            Failure::new(
                Exit::Internal,
                error.to_string(),
                "free resources and try again",
            )
        })?;
    // Before anything listens, so that no signal is missed.
    let stopped = runtime.block_on(async { signals() })?;
    if arguments.null {
        let running = serve_null(&config, &clock, arguments.listen)?;
        eprintln!("keywright serve --null: constant answers, no keys, no audit");
        println!("listening on https://{}", running.local_addr());
        runtime.block_on(stopped);
        running.stop();
        let ended = running.join().map_err(keywright_home::HomeError::from)?;
        eprintln!("stopped; connections cut: {}", ended.cut);
        return Ok(Exit::Ok);
    }
    let node = Node::open(&config, clock, MemoryPlan::AsConfigured)?;
    let serving = node.serve(arguments.listen)?;
    announce(&serving);
    runtime.block_on(stopped);
    eprintln!("stopping: answering what is running");
    serving.stop()?;
    eprintln!("stopped");
    Ok(Exit::Ok)
}

fn announce(serving: &Serving) {
    let node = serving.node();
    let checked = node.verification();
    eprintln!("checked {} rows in {:.0?}", checked.rows, checked.took);
    if !node.memory_is_locked() {
        eprintln!("warning: the system forbids locking memory; keys may be swapped (ulimit -l)");
    }
    println!("listening on https://{}", serving.local_addr());
}

/// Resolves when the process is told to end. Listens from the moment of the call.
fn signals() -> Result<impl Future<Output = ()>, Failure> {
    use tokio::signal::unix::{SignalKind, signal};
    let listen = |kind| {
        signal(kind).map_err(|error| {
            Failure::new(
                Exit::Internal,
                format!("signals cannot be heard: {error}"),
                "try again",
            )
        })
    };
    let (mut terminate, mut interrupt) = (
        listen(SignalKind::terminate())?,
        listen(SignalKind::interrupt())?,
    );
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => (),
            _ = interrupt.recv() => (),
        }
    })
}
