//! The web dashboard of a measurement, with the history beside it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use keywright_report::history::{History, RunFilter, RunId};
use keywright_report::html;
use keywright_report::live::Live;
use keywright_report::live::web::{Exposure, Library, Limits, RunEntry, Running, WebError, start};

use super::flags::PastFlags;
use super::past::place;
use super::trend::PLOTTED;
use crate::exit::{Exit, Failure, limit_advice_within, sentence};

/// A page that is served until it is dropped.
pub(super) struct Page {
    running: Option<Running>,
}

impl Page {
    /// Serves what `live` sees and the runs of the history.
    pub(super) fn open(
        address: SocketAddr,
        live: &Arc<Live>,
        past: &PastFlags,
    ) -> Result<Self, Failure> {
        if !address.ip().is_loopback() {
            return Err(Failure::new(
                Exit::Refused,
                format!(
                    "{address} can be reached from elsewhere, and the dashboard has no password"
                ),
                "serve it on 127.0.0.1, and reach it through a tunnel",
            ));
        }
        let exposure = Exposure::Loopback {
            port: address.port(),
        };
        let shelf = Arc::new(Shelf::new(place(past)?));
        let running = start(exposure, Limits::default(), Arc::clone(live), shelf)
            .map_err(|error| failed(&error))?;
        message!("dashboard: {}", running.url());
        Ok(Self {
            running: Some(running),
        })
    }
}

fn failed(error: &WebError) -> Failure {
    if let Some(advice) = limit_advice_within(error) {
        return Failure::new(Exit::Internal, sentence(error), advice);
    }
    Failure::new(
        Exit::Usage,
        sentence(error),
        "choose another port, or 0 for a free one",
    )
}

impl Drop for Page {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            drop(running.stop());
        }
    }
}

/// Runs of the history, opened when somebody asks for them.
struct Shelf {
    path: PathBuf,
    history: Mutex<Option<History>>,
}

/// Runs that are listed.
const LISTED: usize = 200;

impl Shelf {
    fn new(path: PathBuf) -> Self {
        Self {
            path,
            history: Mutex::new(None),
        }
    }

    /// With the history; nothing if there is none, or it cannot be read now.
    fn with<T>(&self, act: impl FnOnce(&mut History) -> Option<T>) -> Option<T> {
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        if history.is_none() && self.path.exists() {
            *history = History::open(&self.path).ok();
        }
        history.as_mut().and_then(act)
    }
}

impl Library for Shelf {
    fn runs(&self) -> Vec<RunEntry> {
        let listed = self.with(|history| history.runs(&RunFilter::default(), LISTED).ok());
        let runs = listed.unwrap_or_default().into_iter();
        runs.map(|run| RunEntry {
            id: run.id.as_str().to_owned(),
            started: run.started,
            cases: u64::from(run.cases),
            verdict: run.verdicts.iter().copied().min(),
            exit: run.exit_name,
            note: run.notes.join("; "),
        })
        .collect()
    }

    fn report(&self, id: &str) -> Option<String> {
        let id = RunId::parse(id).ok()?;
        self.with(|history| history.run(&id).ok())
            .map(|document| html::render(&document))
    }

    fn trends(&self) -> Option<String> {
        let trends = self.with(|history| history.trends(&PLOTTED).ok());
        trends.map(|trends| html::trends(&trends))
    }
}
