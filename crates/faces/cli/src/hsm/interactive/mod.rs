//! `keywright hsm interactive`: a menu of the same commands.
//!
//! The menu is the registry of commands, a form is the definitions of a command's words, and what is run are these
//! words through the same code: nothing here knows what a command does. Each form shows the line that would do the
//! same. PINs are typed in a dialog that shows nothing, kept for one token while somebody types, and wiped.
//!
//! Not here: colours, the mouse, and commands of its own. What prints while it goes on (`benchmark`,
//! `analyze --follow`) runs on the bare terminal.

mod draw;
mod form;
mod frames;
mod look;
mod perform;
mod registry;
mod screen;
#[cfg(test)]
mod tests;
mod views;

use std::cell::RefCell;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_terminal::dispatch::Delegation;
use ratatui::Terminal;
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::crossterm::event::{KeyCode, KeyModifiers};

use super::answer::Refusal;
use super::asked::Asker;
use super::place::Place;
use crate::confirm::Word;
use crate::exit::{Exit, Failure};
use form::{Form, Way};
use frames::Frames;
use perform::{Done, Ready};
use registry::{Entry, Kind};
use screen::{Keyboard, Keys, Screen};
use views::{Listing, Menu};

/// A menu of these commands, with the token that they begin with.
#[derive(Debug, clap::Args)]
pub(crate) struct InteractiveWords {
    #[command(flatten)]
    place: Place,
    /// Forget the PIN when nothing was typed for so many seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=3600))]
    idle: u64,
    /// The log of the recorder that the entry `calls` shows [else: it asks for one].
    #[arg(long, value_name = "FILE")]
    recorder_log: Option<PathBuf>,
    #[cfg(debug_assertions)]
    #[arg(long, hide = true)]
    break_down: bool,
}

/// Runs the menu until it is left.
pub(super) fn run(words: &InteractiveWords) -> Result<Exit, Failure> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(Failure::new(
            Exit::Usage,
            "the menu needs a terminal for its keys and its screen",
            "start it at a terminal, or use the commands themselves: keywright hsm --help",
        ));
    }
    // Gives the terminal back before a panic is told of, and when this ends in any other way.
    drop(ratatui::try_init().map_err(|error| lost(&error))?);
    let backend = CrosstermBackend::new(Frames::new(io::stdout()));
    let terminal = Terminal::new(backend).map_err(|error| lost(&error))?;
    #[cfg(debug_assertions)]
    assert!(!words.break_down, "asked to break down");
    let idle = Duration::from_secs(words.idle);
    let screen = Screen::new(terminal, Keyboard, Clock::system(), idle);
    let ended = App::new(screen, words.known(), words.recorder_log.clone()).run(&outside);
    ratatui::restore();
    ended.map_err(|error| lost(&error))?;
    Ok(Exit::Ok)
}

fn lost(error: &io::Error) -> Failure {
    Failure::new(
        Exit::Internal,
        format!("the terminal cannot be used: {error}"),
        "start it at another terminal, or use the commands themselves",
    )
}

/// On the bare terminal, until somebody has read what it says.
fn outside(delegation: &Delegation) -> Exit {
    ratatui::restore();
    let exit = perform::outside(delegation);
    message!(
        "\nexit code {}; press Enter to go back to the menu",
        exit as u8
    );
    let mut line = String::new();
    drop(io::stdin().read_line(&mut line));
    // Without a screen the next drawing fails, and the menu ends.
    drop(ratatui::try_init());
    exit
}

impl InteractiveWords {
    /// What the words say of the token, by the names of fields.
    fn known(&self) -> Vec<(String, String)> {
        let place = &self.place;
        let path = |path: &Option<PathBuf>| {
            path.as_ref()
                .map(|path| path.to_string_lossy().into_owned())
        };
        let (config, profile) = place.module.sources();
        let all = [
            ("module", path(&place.module.module)),
            ("config", path(config)),
            ("profile", profile.clone()),
            ("label", place.label.clone()),
            ("serial", place.serial.clone()),
            ("slot_id", place.slot_id.map(|slot| slot.to_string())),
            ("uri", place.module.uri.clone()),
        ];
        let known = all
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)));
        known.collect()
    }
}

/// The fields that say where a command works.
const PLACE: [&str; 7] = [
    "module", "config", "profile", "label", "serial", "slot_id", "uri",
];

type Shared<B, K> = Rc<RefCell<Screen<B, K>>>;

/// The menu and what is open in it.
struct App<B: Backend, K> {
    screen: Shared<B, K>,
    entries: Vec<Entry>,
    menu: Menu,
    known: Vec<(String, String)>,
    log: Option<PathBuf>,
}

/// Answers a command's questions with dialogs.
struct Dialogs<B: Backend, K>(Shared<B, K>);

impl<B: Backend<Error = io::Error>, K: Keys> Asker for Dialogs<B, K> {
    fn secret(&mut self, what: &str) -> Result<Vec<u8>, Refusal> {
        match self.0.borrow_mut().secret(what) {
            Ok(Some(line)) => Ok(line),
            Ok(None) => Err(Failure::new(
                Exit::Interrupted,
                format!("no {what} was typed"),
                "nothing was done",
            )
            .into()),
            Err(error) => Err(lost(&error).into()),
        }
    }

    fn agrees(&mut self, deed: &str, word: Word<'_>) -> bool {
        self.0.borrow_mut().agrees(deed, word).unwrap_or(false)
    }
}

/// Runs a command on the bare terminal.
type Outside<'o> = &'o dyn Fn(&Delegation) -> Exit;

impl<B: Backend<Error = io::Error> + 'static, K: Keys + 'static> App<B, K> {
    fn new(screen: Screen<B, K>, known: Vec<(String, String)>, log: Option<PathBuf>) -> Self {
        let entries = registry::entries();
        Self {
            menu: Menu::new(&entries),
            screen: Rc::new(RefCell::new(screen)),
            entries,
            known,
            log,
        }
    }

    fn run(mut self, outside: Outside<'_>) -> io::Result<()> {
        loop {
            let status = match self.screen.borrow().remembers() {
                true => " (PIN kept)",
                false => "",
            };
            self.screen
                .borrow_mut()
                .show(|frame| draw::menu(frame, &self.menu, status))?;
            let key = self.screen.borrow_mut().key()?;
            let Some(key) = key else { continue };
            match key.code {
                KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => break,
                KeyCode::Char('q') => break,
                KeyCode::Up => self.menu.step(-1),
                KeyCode::Down => self.menu.step(1),
                KeyCode::PageUp => (0..5).for_each(|_| self.menu.step(-1)),
                KeyCode::PageDown => (0..5).for_each(|_| self.menu.step(1)),
                KeyCode::Char('h') => self.read(Listing::of_text("help".to_owned(), HELP))?,
                KeyCode::Enter => self.open(outside)?,
                _ => {}
            }
        }
        self.screen.borrow_mut().forget();
        Ok(())
    }

    fn open(&mut self, outside: Outside<'_>) -> io::Result<()> {
        let name = self.menu.chosen().to_owned();
        let entry = self.entries.iter().find(|entry| entry.name == name);
        match (name.as_str(), entry.cloned()) {
            (_, Some(entry)) => self.form(&entry, outside),
            ("objects", None) => self.objects(),
            ("mechanisms", None) => self.mechanisms(),
            ("calls", None) => self.calls(),
            (name, None) => {
                let told = format!("{name} leads nowhere; please report it.");
                self.read(Listing::of_text(name.to_owned(), &told))
            }
        }
    }

    /// Fills in a form and runs what it comes to.
    fn form(&mut self, entry: &Entry, outside: Outside<'_>) -> io::Result<()> {
        let mut known = self.known.clone();
        if entry.name == "init-token" {
            // There it is the name that the token is to have.
            known.retain(|(id, _)| id != "label");
        }
        let mut form = Form::new(entry, &known);
        if self.screen.borrow().remembers() {
            form.set("pin_prompt", "true");
        }
        loop {
            self.screen
                .borrow_mut()
                .show(|frame| draw::form(frame, &form))?;
            let key = self.screen.borrow_mut().key()?;
            let Some(key) = key else { continue };
            let last = form.fields.len().saturating_sub(1);
            match key.code {
                KeyCode::Esc => return Ok(()),
                KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                    return Ok(());
                }
                KeyCode::Up | KeyCode::BackTab => form.at = form.at.checked_sub(1).unwrap_or(last),
                KeyCode::Down | KeyCode::Tab => {
                    form.at = if form.at < last { form.at + 1 } else { 0 }
                }
                KeyCode::Enter => self.submit(&mut form, outside)?,
                code => edit(&mut form, code),
            }
        }
    }

    fn submit(&mut self, form: &mut Form, outside: Outside<'_>) -> io::Result<()> {
        let read = form
            .words()
            .and_then(|words| perform::read(&form.name, &words));
        match read {
            Err(told) => form.told = told,
            Ok(Ready::Outside(delegation)) => {
                outside(&delegation);
                self.screen.borrow_mut().terminal.clear()?;
            }
            Ok(Ready::Beside(delegation)) => {
                form.told.clear();
                let line = form.line();
                self.screen
                    .borrow_mut()
                    .show(|frame| draw::busy(frame, &line))?;
                self.show(form, &perform::beside(&delegation))?;
            }
            Ok(Ready::Here(command)) => {
                form.told.clear();
                if form.name != "init-token" {
                    self.known = form.values(&PLACE);
                }
                let line = form.line();
                let done = self.perform(&command, form.values(&PLACE), &line)?;
                self.show(form, &done)?;
            }
        }
        Ok(())
    }

    /// Shows what a command came to, and the line that does the same.
    fn show(&mut self, form: &Form, done: &Done) -> io::Result<()> {
        let title = format!("{}: exit code {}", form.name, done.exit as u8);
        let text = format!("{}\n\nThe same as: {}", done.text.trim_end(), form.line());
        self.read(Listing::of_text(title, &text))
    }

    /// Runs a command while its questions are answered by dialogs. A PIN that was refused is forgotten.
    fn perform(
        &self,
        command: &super::Command,
        place: Vec<(String, String)>,
        line: &str,
    ) -> io::Result<Done> {
        {
            let mut screen = self.screen.borrow_mut();
            screen.place = place;
            screen.show(|frame| draw::busy(frame, line))?;
        }
        let done = perform::run(command, Box::new(Dialogs(Rc::clone(&self.screen))));
        if matches!(
            done.exit,
            Exit::Authentication | Exit::Target | Exit::Interrupted
        ) {
            self.screen.borrow_mut().forget();
        }
        Ok(done)
    }

    /// Shows text until it is left.
    fn read(&mut self, mut listing: Listing) -> io::Result<()> {
        loop {
            self.screen
                .borrow_mut()
                .show(|frame| draw::listing(frame, &listing))?;
            let key = self.screen.borrow_mut().key()?;
            match key.map(|key| key.code) {
                Some(KeyCode::Esc | KeyCode::Char('q') | KeyCode::Enter) => return Ok(()),
                Some(code) => walk(&mut listing, code),
                None => {}
            }
        }
    }
}

fn walk(listing: &mut Listing, code: KeyCode) {
    match code {
        KeyCode::Up => listing.step(-1),
        KeyCode::Down => listing.step(1),
        KeyCode::Left => listing.shift(-1),
        KeyCode::Right => listing.shift(1),
        KeyCode::PageUp => listing.step(-5),
        KeyCode::PageDown => listing.step(5),
        KeyCode::Home => listing.at = 0,
        KeyCode::End => listing.step(isize::MAX),
        _ => {}
    }
}

fn edit(form: &mut Form, code: KeyCode) {
    let Some(field) = form.field() else { return };
    match (&field.definition.kind, code) {
        (Kind::Toggle, KeyCode::Char(' ') | KeyCode::Left | KeyCode::Right) => field.on = !field.on,
        (Kind::Choice(_), KeyCode::Char(' ') | KeyCode::Right) => field.turn(Way::Next),
        (Kind::Choice(_), KeyCode::Left) => field.turn(Way::Previous),
        (Kind::Text | Kind::Texts, KeyCode::Char(c)) if !c.is_control() => field.value.push(c),
        (Kind::Text | Kind::Texts, KeyCode::Backspace) => drop(field.value.pop()),
        (Kind::Text | Kind::Texts, KeyCode::Delete) => field.value.clear(),
        _ => {}
    }
}

const HELP: &str = "\
Every entry is a command of `keywright hsm` with the same name; its form has the words of that command, and shows the line that does the same.

Up, Down            choose an entry or a field, or scroll
PgUp, PgDn          five at a time
Left, Right         what is wider than the screen
Enter               open, or run
Space, Left, Right  switch a flag, go through choices
Delete              empty a field
Esc                 back
q                   leave the menu

Fields with * are to be filled in. A PIN is asked for when the token wants it; it is not shown, not written anywhere, kept for this token only, and forgotten when nothing is typed for a while, when a command fails with it, and at the end. Nothing is destroyed before its id or serial number is typed.
";
