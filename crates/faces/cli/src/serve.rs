//! `keywright serve`: the key service, until it is told to stop or has lost one of its threads.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use keywright_clock::Clock;
use keywright_custody::{KeyHolder, Paced};
use keywright_home::{
    Checked, Event, Finding, HomeError, Level, MemoryPlan, Node, Serving, TokenRunError, check,
    serve_null,
};
use keywright_server::transport::Error as TransportError;
use serde::Serialize;
use signal_hook::consts::SIGHUP;

use crate::exit::{Exit, Failure, sentence};
use crate::output::{self, Format};
use crate::place::Home;
use crate::signals::{self, AsyncSignals, Signals};

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
    /// Look at everything that a start looks at, say what is wrong, and do not start.
    #[arg(long, conflicts_with = "null")]
    check: bool,
    /// Answer constants without keys or audit: measures the transport alone.
    #[arg(long)]
    null: bool,
    /// Use keys at most this often in a second: measures what happens beyond a known capacity.
    #[arg(long, value_name = "PER-SECOND", conflicts_with_all = ["null", "check"])]
    capacity: Option<NonZeroU32>,
}

pub(crate) fn run(arguments: Arguments, format: Format) -> Result<Exit, Failure> {
    let config = arguments.config.unwrap_or_else(|| arguments.home.config());
    let clock = Clock::system();
    if arguments.check {
        return look(&config, &clock, arguments.listen, format);
    }
    let runtime = signals::runtime()?;
    // Before anything listens, so that no signal is missed.
    let receive = |signals| {
        let _entered = runtime.enter();
        Signals::listen(signals)?.into_async()
    };
    let mut ending = receive(&signals::ENDING)?;
    if arguments.null {
        return run_null((&config, &clock, arguments.listen), &runtime, ending);
    }
    let mut hang_up = receive(&[SIGHUP])?;
    let node = match arguments.capacity {
        None => Node::open(&config, clock, MemoryPlan::AsConfigured)?,
        Some(capacity) => {
            message!("keywright serve --capacity: keys are used at most {capacity} times a second");
            let paced = |holder| Arc::new(Paced::new(holder, capacity)) as Arc<dyn KeyHolder>;
            Node::open_with_holder(&config, clock, paced)?
        }
    };
    node.tell_events(Box::new(|event| {
        output::write_message(format_args!("{}{event}", weight(event)))
    }));
    let serving = node.serve(arguments.listen)?;
    announce(&serving);
    let end = runtime.block_on(async {
        tokio::select! {
            end = wait(ending.receive(), serving.stopping()) => end,
            never = reload_at(&mut hang_up, &node) => match never {},
        }
    });
    message!("stopping: answering what is running");
    let exit = judge(end, serving.stop())?;
    message!("stopped");
    Ok(exit)
}

/// Prints what the start of a node found wrong or unproven in its audit log: each is told once, so every command that
/// opens a node prints it.
pub(crate) fn report_log(node: &Node) {
    for found in node.audit_findings() {
        message!("{}{found}", weight(&found));
    }
}

/// How bad an event is, before its sentence.
const fn weight(event: &Event) -> &'static str {
    match event.level() {
        Level::Error => "error: ",
        Level::Warning => "warning: ",
        Level::Info => "",
    }
}

/// A token's module for the service that started this process.
pub(crate) fn run_token() -> Result<Exit, Failure> {
    let ended = keywright_home::run_token_process();
    ended.map(|()| Exit::Ok).map_err(|error| {
        let exit = match error {
            TokenRunError::NoService => Exit::Usage,
            _ => Exit::Internal,
        };
        Failure::new(
            exit,
            error.to_string(),
            "run `keywright serve` with token.process = \"child\"; it starts this by itself",
        )
    })
}

/// Constant answers, until told to end.
fn run_null(
    (config, clock, listen): (&Path, &Clock, Option<SocketAddr>),
    runtime: &tokio::runtime::Runtime,
    mut ending: AsyncSignals,
) -> Result<Exit, Failure> {
    let running = serve_null(config, clock, listen)?;
    message!("keywright serve --null: constant answers, no keys, no audit");
    progress_line!("listening on https://{}", running.local_addr());
    let end = runtime.block_on(wait(ending.receive(), running.stopping()));
    running.stop();
    let ended = running.join().map_err(HomeError::from);
    let cut = ended.as_ref().map_or(0, |ended| ended.cut);
    let exit = judge(end, ended.map(drop))?;
    message!("stopped; connections cut: {cut}");
    Ok(exit)
}

#[derive(Serialize)]
struct CheckDocument {
    starts: bool,
    checks: Vec<CheckRow>,
}

#[derive(Serialize)]
struct CheckRow {
    what: &'static str,
    /// `ok`, `notice`, `skipped` or `wrong`.
    result: &'static str,
    said: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

/// Says what a start would find. The exit is that of the first thing that is wrong.
fn look(
    config: &Path,
    clock: &Clock,
    listen: Option<SocketAddr>,
    format: Format,
) -> Result<Exit, Failure> {
    let mut exit = Exit::Ok;
    let mut checks = Vec::new();
    for Checked { what, found, .. } in check(config, clock, listen) {
        let (result, said, advice) = match found {
            Ok(Finding::Good(word)) => ("ok", word, None),
            Ok(Finding::Notice(word)) => ("notice", word, None),
            Ok(Finding::Skipped(why)) => ("skipped", why, None),
            Err(error) => {
                let failure = Failure::from(error);
                if exit == Exit::Ok {
                    exit = failure.exit;
                }
                ("wrong", failure.happened, Some(failure.advice))
            }
        };
        checks.push(CheckRow {
            what,
            result,
            said,
            advice,
        });
    }
    let starts = exit == Exit::Ok;
    let document = CheckDocument { starts, checks };
    output::document(format, &document, || {
        let lines = document.checks.iter().map(|row| {
            let advice = row.advice.as_deref();
            let advice = advice.map(|advice| format!("         {advice}\n"));
            let CheckRow {
                what, result, said, ..
            } = row;
            format!("{result:<8} {what}: {said}\n{}", advice.unwrap_or_default())
        });
        lines.collect()
    })?;
    Ok(exit)
}

/// Has the node read its files again at every such signal; what comes of it is told as an event.
async fn reload_at(hang_up: &mut AsyncSignals, node: &Node) -> Infallible {
    loop {
        hang_up.receive().await;
        drop(node.reload());
    }
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
    message!("checked {} rows in {:.0?}", checked.rows, checked.took);
    if !node.memory_is_locked() {
        message!("warning: the system forbids locking memory; keys may be swapped (ulimit -l)");
    }
    report_log(node);
    if let Some(marked) = node.audit_marks() {
        message!("{}{marked}", weight(&marked));
    }
    for label in serving.unfit_keys() {
        message!("warning: {}", Event::KeyUnfit(*label));
    }
    if let Some(admin) = serving.admin_addr() {
        message!("administration on https://{admin}");
    }
    if let Some(probe) = serving.probe_addr() {
        message!("probe on http://{probe}/ready and /live");
    }
    progress_line!("listening on https://{}", serving.local_addr());
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
