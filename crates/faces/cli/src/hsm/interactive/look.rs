//! The views: objects, mechanisms, and the calls of a program while its log is written.
//!
//! The first two are commands whose documents become tables; the third is what `keywright-bench` reads on in a log, as `analyze --follow` does.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use keywright_terminal::dispatch::{self, Delegation};
use ratatui::backend::Backend;
use ratatui::crossterm::event::KeyCode;

use super::form::{self, Form};
use super::perform::{self, Done, Ready};
use super::screen::Keys;
use super::views::{self, Listing};
use super::{App, draw, walk};
use crate::exit::{Exit, Failure};

/// What `keywright-bench calls --screens` says of a log, again and again.
#[derive(Clone, Debug, Default, serde::Deserialize)]
struct Seen {
    summary: String,
    heading: String,
    calls: Vec<String>,
    report: String,
}

/// That program while it reads a log, until this is dropped.
struct Watch {
    child: Child,
    last: Arc<Mutex<Seen>>,
}

impl Watch {
    fn begin(path: &Path) -> Result<Self, Failure> {
        let path = path.to_string_lossy().into_owned();
        let words = ["--screens".to_owned(), "--".to_owned(), path];
        let delegation = Delegation::of_token("analyze", &words)
            .ok_or_else(|| Failure::broken("logs are read by no program"))?;
        let mut command = delegation.command()?;
        command.stdin(Stdio::null()).stderr(Stdio::null());
        let spawned = command.stdout(Stdio::piped()).spawn();
        let mut child = spawned
            .map_err(|error| dispatch::unstartable(Path::new(command.get_program()), &error))?;
        let last = Arc::new(Mutex::new(Seen::default()));
        if let Some(output) = child.stdout.take() {
            let last = Arc::clone(&last);
            let read = move || {
                for line in BufReader::new(output).lines() {
                    let Ok(line) = line else { return };
                    // Empty lines only ask whether this still listens.
                    if let Ok(seen) = serde_json::from_str(&line) {
                        *last.lock().unwrap_or_else(PoisonError::into_inner) = seen;
                    }
                }
            };
            // Without the thread nothing is shown, and the program ends with the view.
            drop(std::thread::Builder::new().spawn(read));
        }
        Ok(Self { child, last })
    }

    fn seen(&self) -> Seen {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.clone()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// What is shown of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// The calls that came last, the newest below.
    Calls,
    /// Those, and no newer ones.
    Held,
    /// Everything that `analyze` says.
    Report,
}

impl<B: Backend<Error = io::Error> + 'static, K: Keys + 'static> App<B, K> {
    /// Runs a command that a view is made of; text to read instead where it fails.
    fn looked(&mut self, name: &str, words: &[&str]) -> io::Result<Option<Done>> {
        let mut all = self.entries.iter();
        let Some(entry) = all.find(|entry| entry.name == name).cloned() else {
            return Ok(None);
        };
        let form = Form::new(&entry, &self.known);
        let own = form.words().map(|own| {
            let more = words.iter().map(|word| (*word).to_owned());
            own.into_iter().chain(more).collect::<Vec<_>>()
        });
        let ready = own.and_then(|words| perform::read(name, &words).map(|ready| (ready, words)));
        let told = match ready {
            Ok((Ready::Here(command), words)) => {
                let line = form::line(name, &words);
                let place = form.values(&super::PLACE);
                let done = self.perform(&command, place, &line)?;
                if done.exit == Exit::Ok {
                    return Ok(Some(done));
                }
                format!("{}\n\nThe same as: {line}", done.text.trim_end())
            }
            Ok(_) => return Ok(None),
            Err(told) => told,
        };
        self.read(Listing::of_text(name.to_owned(), &told))?;
        Ok(None)
    }

    pub(super) fn objects(&mut self) -> io::Result<()> {
        let Some(done) = self.looked("list-objects", &["--pin-prompt"])? else {
            return Ok(());
        };
        let (mut listing, objects) = views::objects(&done.data.unwrap_or_default());
        if objects.is_empty() {
            let told = "There is nothing in it that this user sees.";
            return self.read(Listing::of_text(listing.title, told));
        }
        loop {
            self.screen
                .borrow_mut()
                .show(|frame| draw::listing(frame, &listing))?;
            let key = self.screen.borrow_mut().key()?;
            match key.map(|key| key.code) {
                Some(KeyCode::Esc | KeyCode::Char('q')) => return Ok(()),
                Some(KeyCode::Enter) => {
                    if let Some(object) = objects.get(listing.at) {
                        self.inspect(object)?;
                    }
                }
                Some(code) => walk(&mut listing, code),
                None => {}
            }
        }
    }

    /// Every attribute of an object.
    fn inspect(&mut self, object: &views::Seen) -> io::Result<()> {
        let words = ["--key-label", &object.uri, "--pin-prompt"];
        match self.looked("inspect-key", &words)? {
            Some(done) => self.read(Listing::of_text(object.title.clone(), &done.text)),
            None => Ok(()),
        }
    }

    pub(super) fn mechanisms(&mut self) -> io::Result<()> {
        match self.looked("list-mechanisms", &["--detailed"])? {
            Some(done) => self.read(views::mechanisms(&done.data.unwrap_or_default())),
            None => Ok(()),
        }
    }

    /// What a program asks of its token, read on while its log is written.
    pub(super) fn calls(&mut self) -> io::Result<()> {
        let Some(path) = self.named_log()? else {
            return Ok(());
        };
        match File::open(&path) {
            Ok(_) => {
                self.log = Some(path.clone());
                match Watch::begin(&path) {
                    Ok(watch) => self.follow(&path, &watch),
                    Err(failure) => {
                        let told = perform::two_lines(&failure);
                        self.read(Listing::of_text("calls".to_owned(), &told))
                    }
                }
            }
            Err(_) => {
                let told = format!(
                    "{} cannot be read. A program writes it where it is started with KEYWRIGHT_P11_LOG and has the recorder for its module.",
                    path.display()
                );
                self.read(Listing::of_text("calls".to_owned(), &told))
            }
        }
    }

    /// The log that is known, or the one that somebody types now.
    fn named_log(&mut self) -> io::Result<Option<PathBuf>> {
        if self.log.is_some() {
            return Ok(self.log.clone());
        }
        let hint = "The file that the recorder writes (KEYWRIGHT_P11_LOG of the program).";
        let typed = self.screen.borrow_mut().asked("Which log?", hint)?;
        Ok(typed.map(PathBuf::from))
    }

    fn follow(&mut self, path: &Path, watch: &Watch) -> io::Result<()> {
        let mut shown = Shown::Calls;
        let mut listing = Listing::default();
        loop {
            listing = match shown {
                Shown::Held => listing,
                _ => {
                    let (at, across) = (listing.at, listing.across);
                    let mut new = listing_of(path, watch.seen(), shown);
                    match shown {
                        Shown::Report => new.step(isize::try_from(at).unwrap_or_default()),
                        _ => self.to_the_end(&mut new)?,
                    }
                    new.across = across;
                    new
                }
            };
            self.screen
                .borrow_mut()
                .show(|frame| draw::listing(frame, &listing))?;
            let key = self.screen.borrow_mut().key()?;
            match key.map(|key| key.code) {
                Some(KeyCode::Esc | KeyCode::Char('q')) => return Ok(()),
                Some(KeyCode::Char('r')) => {
                    listing = Listing::default();
                    shown = match shown {
                        Shown::Report => Shown::Calls,
                        _ => Shown::Report,
                    };
                }
                Some(KeyCode::Char('p')) if shown != Shown::Report => {
                    shown = match shown {
                        Shown::Held => Shown::Calls,
                        _ => Shown::Held,
                    };
                    listing.keys = HELD;
                }
                Some(code) => walk(&mut listing, code),
                None => {}
            }
        }
    }

    /// So that the newest is the lowest line of the screen.
    fn to_the_end(&self, listing: &mut Listing) -> io::Result<()> {
        let height = self.screen.borrow().terminal.size()?.height;
        let room = usize::from(height).saturating_sub(3 + listing.heading.len());
        listing.at = listing.lines.len().saturating_sub(room);
        Ok(())
    }
}

fn listing_of(path: &Path, seen: Seen, shown: Shown) -> Listing {
    let title = format!("calls in {}", path.display());
    match shown {
        Shown::Report => {
            let mut listing = Listing::of_text(title, &seen.report);
            listing.keys = "Up/Down scroll  Left/Right sideways  r calls  Esc back";
            listing
        }
        _ => Listing {
            title,
            keys: "r report  p hold  Esc back",
            heading: vec![seen.summary, String::new(), seen.heading],
            lines: seen.calls,
            ..Listing::default()
        },
    }
}

const HELD: &str = "held; Up/Down scroll  p go on  r report  Esc back";
