//! The views: objects, mechanisms, and the calls of a program while its log is written.
//!
//! The first two are commands whose documents become tables; the third reads a log on as `analyze --follow` does.

use std::io;
use std::path::{Path, PathBuf};

use keywright_calls::{Analyzer, Options, Report, render};
use ratatui::backend::Backend;
use ratatui::crossterm::event::KeyCode;

use super::super::analyze::Tail;
use super::form::{self, Form};
use super::perform::{self, Done, Ready};
use super::screen::Keys;
use super::views::{self, Listing};
use super::{App, draw, walk};
use crate::exit::Exit;

/// Calls that are shown; what came before them is counted only.
const RECENT: usize = 200;

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
        match Tail::open(&path) {
            Ok(tail) => {
                self.log = Some(path.clone());
                self.follow(&path, tail)
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

    fn follow(&mut self, path: &Path, mut tail: Tail) -> io::Result<()> {
        let mut analyzer = Analyzer::new(Options::default().keeping(RECENT));
        let mut shown = Shown::Calls;
        let mut listing = Listing::default();
        loop {
            // What cannot be read now may be there the next time.
            drop(tail.read(&mut analyzer));
            listing = match shown {
                Shown::Held => listing,
                _ => {
                    let (at, across) = (listing.at, listing.across);
                    let mut new = seen(path, &analyzer, shown);
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

fn seen(path: &Path, analyzer: &Analyzer, shown: Shown) -> Listing {
    let report = analyzer.report();
    let title = format!("calls in {}", path.display());
    match shown {
        Shown::Report => {
            let mut listing = Listing::of_text(title, &render::text(&report));
            listing.keys = "Up/Down scroll  Left/Right sideways  r calls  Esc back";
            listing
        }
        _ => Listing {
            title,
            keys: "r report  p hold  Esc back",
            heading: vec![summary(&report), String::new(), render::call_heading()],
            lines: analyzer.recent().map(render::call).collect(),
            ..Listing::default()
        },
    }
}

const HELD: &str = "held; Up/Down scroll  p go on  r report  Esc back";

/// All of it in a line.
fn summary(report: &Report) -> String {
    let rate = report.throughput.as_ref().and_then(|load| load.calls_per_s);
    let rate = rate.map_or_else(String::new, |rate| format!(", {rate:.0} calls/s"));
    let worst = report.findings.first().map_or_else(String::new, |one| {
        format!("; worst: {} {}", one.severity, one.code)
    });
    format!(
        "{} calls{rate}, {} failed, {} findings{worst}",
        report.total_ops,
        report.error_count,
        report.findings.len()
    )
}
