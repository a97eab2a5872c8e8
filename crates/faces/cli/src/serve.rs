//! `keywright serve`: the key service, until it is told to stop or has lost one of its threads.

use std::net::SocketAddr;
use std::path::PathBuf;

use keywright_clock::Clock;
use keywright_home::{HomeError, MemoryPlan, Node, Serving, serve_null};
use keywright_server::transport::Error as TransportError;

use crate::exit::{Exit, Failure, sentence};
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
    let told = runtime.block_on(async { signals() })?;
    if arguments.null {
        let running = serve_null(&config, &clock, arguments.listen)?;
        eprintln!("keywright serve --null: constant answers, no keys, no audit");
        println!("listening on https://{}", running.local_addr());
        let ending = runtime.block_on(wait(told, running.stopping()));
        running.stop();
        let ended = running.join().map_err(HomeError::from);
        let cut = ended.as_ref().map_or(0, |ended| ended.cut);
        let exit = judge(ending, ended.map(drop))?;
        eprintln!("stopped; connections cut: {cut}");
        return Ok(exit);
    }
    let node = Node::open(&config, clock, MemoryPlan::AsConfigured)?;
    let serving = node.serve(arguments.listen)?;
    announce(&serving);
    let ending = runtime.block_on(wait(told, serving.stopping()));
    eprintln!("stopping: answering what is running");
    let exit = judge(ending, serving.stop())?;
    eprintln!("stopped");
    Ok(exit)
}

/// Why the service ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// Somebody said so.
    Told,
    /// A server thread is gone, and the port with it.
    Died,
}

/// Waits for whichever comes first; being told wins, because it stops the threads, too.
async fn wait(told: impl Future<Output = ()>, died: impl Future<Output = ()>) -> Ending {
    tokio::select! {
        biased;
        () = told => Ending::Told,
        () = died => Ending::Died,
    }
}

/// What an ending comes to, with the result of stopping. A service that nobody told to stop has failed
/// even if it then stopped in order: whoever watches the process shall start it again.
fn judge(ending: Ending, stopped: Result<(), HomeError>) -> Result<Exit, Failure> {
    let happened = match (ending, stopped) {
        (Ending::Told, Ok(())) => return Ok(Exit::Ok),
        (Ending::Died, Ok(())) | (_, Err(HomeError::Transport(TransportError::ThreadPanicked))) => {
            "a server thread ended by itself".to_owned()
        }
        (Ending::Told, Err(error)) => return Err(error.into()),
        (Ending::Died, Err(error)) => {
            format!("a server thread ended by itself; then {}", sentence(&error))
        }
    };
    Err(Failure::new(
        Exit::Internal,
        format!("{happened}; the service has stopped"),
        "start it again; please report what it printed before this",
    ))
}

fn announce(serving: &Serving) {
    let node = serving.node();
    let checked = node.verification();
    eprintln!("checked {} rows in {:.0?}", checked.rows, checked.took);
    if !node.memory_is_locked() {
        eprintln!("warning: the system forbids locking memory; keys may be swapped (ulimit -l)");
    }
    for label in serving.unfit_keys() {
        eprintln!("warning: the token has another key for {label}, or none; it is unavailable");
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

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    fn waited(told: impl Future<Output = ()>, died: impl Future<Output = ()>) -> Ending {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.unwrap().block_on(wait(told, died))
    }

    fn panicked() -> HomeError {
        HomeError::Transport(TransportError::ThreadPanicked)
    }

    #[test]
    fn waiting_ends_by_a_signal_and_by_a_lost_thread() {
        assert_eq!(waited(ready(()), pending()), Ending::Told);
        assert_eq!(waited(pending(), ready(())), Ending::Died);
        assert_eq!(waited(ready(()), ready(())), Ending::Told);
    }

    #[test]
    fn waiting_is_woken_from_another_thread() {
        let (stop, mut stopping) = tokio::sync::watch::channel(false);
        let dying = std::thread::spawn(move || stop.send(true).unwrap());
        let died = async move { drop(stopping.wait_for(|stop| *stop).await) };
        assert_eq!(waited(pending(), died), Ending::Died);
        dying.join().unwrap();
    }

    #[test]
    fn only_an_orderly_stop_that_somebody_asked_for_is_a_success() {
        assert_eq!(judge(Ending::Told, Ok(())).unwrap(), Exit::Ok);
        for (ending, stopped) in [
            (Ending::Died, Ok(())),
            (Ending::Died, Err(panicked())),
            (Ending::Told, Err(panicked())),
        ] {
            let failure = judge(ending, stopped).unwrap_err();
            assert_eq!(failure.exit, Exit::Internal);
            assert_eq!(
                failure.happened,
                "a server thread ended by itself; the service has stopped"
            );
        }
    }

    #[test]
    fn what_fails_while_stopping_is_said_besides() {
        let error = || HomeError::Audit(keywright_audit::AuditError::Unavailable);
        let failure = judge(Ending::Died, Err(error())).unwrap_err();
        assert_eq!(failure.exit, Exit::Internal);
        assert!(failure.happened.starts_with("a server thread ended"));
        assert!(failure.happened.contains(&sentence(&error())));
        let failure = judge(Ending::Told, Err(error())).unwrap_err();
        assert_eq!(failure.happened, sentence(&error()));
    }
}
