//! Whoever watches a measurement: progress on standard error, a dashboard on the terminal, one in a browser,
//! a file of events. All of them are told between blocks, outside the timed region.

use keywright_encoding::terminal::escaped_json;
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{IsTerminal as _, LineWriter, Write as _};
use std::sync::Arc;

use keywright_clock::Clock;
use keywright_measure::Stop;
use keywright_measure::event::{Event, Observer};
use keywright_report::Style;
use keywright_report::live::Live;
use keywright_report::live::progress::{Reporter, line};
use keywright_report::live::terminal::Dashboard;

use super::flags::{OutputFlags, PastFlags};
use super::interrupt;
use super::past;
use super::suite::{self, RunArguments};
use super::web::Page;
use crate::exit::{Exit, Failure, sentence};
use crate::output::Format;

/// All who watch.
pub(super) struct Watchers {
    live: Arc<Live>,
    dashboard: RefCell<Option<Dashboard>>,
    page: RefCell<Option<Page>>,
    /// Whole lines, so that a reader may follow them.
    events: RefCell<Option<LineWriter<File>>>,
    progress: Progress,
    reporter: RefCell<Reporter>,
    /// Whether a line of progress stands on the terminal.
    drawn: Cell<bool>,
}

/// How progress is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// A line that is redrawn.
    Line,
    /// Nothing: somebody asked for quiet, or nobody reads.
    None,
}

/// Lines of progress in a log are at least this far apart.
const LOG_EVERY_NS: u64 = 10_000_000_000;

impl Watchers {
    /// Opens what was asked for.
    pub(super) fn start(
        flags: &OutputFlags,
        clock: &Clock,
        stop: &Stop,
        runs: u32,
    ) -> Result<Self, Failure> {
        let live = Arc::new(Live::new(clock.clone(), runs));
        let events = flags.events.as_ref().map(|path| {
            File::create(path)
                .map(LineWriter::new)
                .map_err(|error| Failure::file(path, "written", &error))
        });
        let events = events.transpose()?;
        let page = flags
            .serve
            .map(|address| Page::open(address, &live, &flags.past))
            .transpose()?;
        // Last, because it takes the terminal.
        let dashboard = flags.watch.then(|| dashboard(&live, stop, flags));
        let dashboard = dashboard.transpose()?;
        let redrawn =
            dashboard.is_none() && !flags.quiet && !flags.no_tui && std::io::stderr().is_terminal();
        Ok(Self {
            live,
            dashboard: RefCell::new(dashboard),
            page: RefCell::new(page),
            events: RefCell::new(events),
            progress: if redrawn {
                Progress::Line
            } else {
                Progress::None
            },
            reporter: RefCell::new(Reporter::new(LOG_EVERY_NS)),
            drawn: Cell::new(false),
        })
    }

    /// Gives the terminal back and ends what was started.
    pub(super) fn close(&self) {
        self.wipe();
        if let Some(dashboard) = self.dashboard.take()
            && let Err(error) = dashboard.close()
        {
            message!("warning: {error}");
        }
        drop(self.page.take());
        if let Some(mut events) = self.events.take()
            && let Err(error) = events.flush()
        {
            message!("warning: the file of events is not whole: {error}");
        }
    }

    fn wipe(&self) {
        if self.drawn.take() {
            drop(crate::output::write_to_stderr("\r\x1b[K"));
        }
    }

    fn draw(&self, event: &Event) {
        if self.progress == Progress::None {
            return;
        }
        let snapshot = self.live.snapshot();
        if matches!(event, Event::CaseFinished { .. } | Event::Remark { .. }) {
            let told = self.reporter.borrow_mut().tell(event, &snapshot);
            if let Some(told) = told {
                self.wipe();
                message!("{told}");
            }
            return;
        }
        let drawn = line(&snapshot, self.live.now_ns(), WIDTH);
        drop(crate::output::write_to_stderr(&format!("\r\x1b[K{drawn}")));
        self.drawn.set(true);
    }
}

/// Takes the terminal.
fn dashboard(live: &Arc<Live>, stop: &Stop, flags: &OutputFlags) -> Result<Dashboard, Failure> {
    let frames = flags.fps.unwrap_or_default();
    Dashboard::open(Arc::clone(live), stop.clone(), Style::Ansi, frames).map_err(|error| {
        Failure::new(
            Exit::Usage,
            sentence(&error),
            "run it in a terminal, or without --watch",
        )
    })
}

/// Narrow enough for every terminal.
const WIDTH: usize = 78;

impl Observer for Watchers {
    fn event(&self, event: &Event) {
        self.live.event(event);
        self.draw(event);
        if let Some(events) = self.events.borrow_mut().as_mut() {
            // A file that cannot take more is said once, at the end.
            if let Ok(line) = serde_json::to_string(event) {
                drop(writeln!(events, "{}", escaped_json(&line)));
            }
        }
    }
}

impl Drop for Watchers {
    fn drop(&mut self) {
        self.close();
    }
}

/// Measure a suite with a dashboard on the terminal, or look at a run that is over: a result file or the id
/// of a run in the history in place of the suite.
#[derive(Debug, clap::Args)]
pub(crate) struct WatchArguments {
    #[command(flatten)]
    run: RunArguments,
}

pub(super) fn watch(arguments: &WatchArguments, format: Format) -> Result<Exit, Failure> {
    let (what, past) = (arguments.run.suite(), &arguments.run.output.past);
    if past::names_result(what) {
        let stop = interrupt::listen()?;
        let live = finished(past, what)?;
        let dashboard = dashboard(&live, &stop, &arguments.run.output)?;
        until_asked(&stop);
        return match dashboard.close() {
            Ok(()) => Ok(Exit::Ok),
            Err(error) => Err(Failure::new(
                Exit::Internal,
                sentence(&error),
                "reset the terminal",
            )),
        };
    }
    let mut run = arguments.run.clone();
    run.output.watch = true;
    suite::run(&run, format)
}

/// A run that is over, for those who watch.
fn finished(past: &PastFlags, run: &str) -> Result<Arc<Live>, Failure> {
    let document = past::find(past, run)?;
    let last = document.cases.len().saturating_sub(1);
    Ok(Arc::new(Live::finished(Clock::system(), &document, last)))
}

fn until_asked(stop: &Stop) {
    while !stop.is_asked() {
        std::thread::sleep(LOOK);
    }
}

/// Serve a web dashboard: the history, its trends, and a run that is over.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArguments {
    /// The run that is shown first: a result file, or the id of a run in the history.
    #[arg(value_name = "RUN|FILE")]
    run: Option<String>,
    /// Where, on loopback; port 0 takes a free one.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:7878")]
    listen: std::net::SocketAddr,
    #[command(flatten)]
    past: PastFlags,
}

/// Serves until Ctrl-C.
pub(super) fn serve(arguments: &ServeArguments) -> Result<Exit, Failure> {
    let stop = interrupt::listen()?;
    let live = match &arguments.run {
        Some(run) => finished(&arguments.past, run)?,
        None => Arc::new(Live::new(Clock::system(), 1)),
    };
    let page = Page::open(arguments.listen, &live, &arguments.past)?;
    until_asked(&stop);
    drop(page);
    Ok(Exit::Ok)
}

/// How often a wish to end is looked for.
const LOOK: std::time::Duration = std::time::Duration::from_millis(100);
