//! The menu without a terminal: keys that were thought of beforehand, a screen in memory.

use std::collections::{BTreeSet, VecDeque};

use clap::Subcommand as _;
use keywright_clock::{Clock, WallTime};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::*;

fn keys(codes: &[KeyCode]) -> VecDeque<KeyEvent> {
    let keys = codes
        .iter()
        .map(|code| KeyEvent::new(*code, KeyModifiers::NONE));
    keys.collect()
}

fn typed(text: &str) -> Vec<KeyCode> {
    text.chars().map(KeyCode::Char).collect()
}

/// A backend whose errors are those of a terminal: there are none.
struct Memory(TestBackend);

impl Backend for Memory {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a ratatui::buffer::Cell)>,
    {
        let Ok(()) = self.0.draw(content);
        Ok(())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn get_cursor_position(&mut self) -> io::Result<ratatui::layout::Position> {
        Ok(ratatui::layout::Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<ratatui::layout::Position>>(&mut self, _: P) -> io::Result<()> {
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        let Ok(()) = self.0.clear();
        Ok(())
    }

    fn clear_region(&mut self, region: ratatui::backend::ClearType) -> io::Result<()> {
        let Ok(()) = self.0.clear_region(region);
        Ok(())
    }

    fn size(&self) -> io::Result<ratatui::layout::Size> {
        let Ok(size) = self.0.size();
        Ok(size)
    }

    fn window_size(&mut self) -> io::Result<ratatui::backend::WindowSize> {
        let Ok(size) = self.0.window_size();
        Ok(size)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

type Small = Screen<Memory, VecDeque<KeyEvent>>;

fn screen(width: u16, height: u16, codes: &[KeyCode]) -> Small {
    let terminal = Terminal::new(Memory(TestBackend::new(width, height))).unwrap();
    let (clock, _) = Clock::simulated(WallTime::from_unix_seconds(0));
    Screen::new(terminal, keys(codes), clock, Duration::from_secs(60))
}

fn shown(screen: &Small) -> String {
    let buffer = screen.terminal.backend().0.buffer();
    let width = usize::from(buffer.area.width);
    let cells: Vec<_> = buffer.content.iter().map(|cell| cell.symbol()).collect();
    cells
        .chunks(width)
        .map(|row| row.concat().trim_end().to_owned() + "\n")
        .collect()
}

#[test]
fn menu_equals_registry() {
    let registry = super::super::Command::augment_subcommands(clap::Command::new("hsm"));
    let all: BTreeSet<_> = registry
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .filter(|name| name != "interactive")
        .collect();
    let menu = Menu::new(&registry::entries());
    let rows = menu.rows.iter().filter_map(|row| match row {
        views::Row::Choice(name, about) => {
            assert!(!about.is_empty(), "{name}");
            Some(name.clone())
        }
        views::Row::Heading(_) => None,
    });
    let rows: BTreeSet<_> = rows.collect();
    for name in &all {
        assert!(rows.contains(name), "{name} is not in the menu");
    }
    assert_eq!(rows.len(), all.len() + views::VIEWS.len());
}

/// Says nothing and agrees to nothing.
struct Silent;

impl Asker for Silent {
    fn secret(&mut self, _: &str) -> Result<Vec<u8>, Refusal> {
        Err(Refusal::usage("asked for a secret", "say it"))
    }

    fn agrees(&mut self, _: &str, _: Word<'_>) -> bool {
        false
    }
}

#[test]
fn every_menu_entry_is_wired() {
    let known = [("module".to_owned(), "/nonexistent/module.so".to_owned())];
    for entry in registry::entries() {
        let mut form = Form::new(&entry, &known);
        for field in &mut form.fields {
            if field.value.is_empty() && field.definition.required {
                field.value = match &field.definition.kind {
                    Kind::Choice(values) => values[0].clone(),
                    _ => "1".to_owned(),
                };
            }
        }
        for (id, value) in [
            ("label", "t"),
            ("code", "1"),
            ("hmac", "/dev/null"),
            ("cmac", "/dev/null"),
            ("key_label", "k"),
            ("key2_label", "k"),
            ("file", "/nonexistent/log"),
            ("signature", "/dev/null"),
            ("input", "/dev/null"),
        ] {
            form.set(id, value);
        }
        if entry.name == "audit-keys" {
            assert!(
                form.fields
                    .iter()
                    .any(|field| field.definition.id == "rules")
            );
        }
        let words = form
            .words()
            .unwrap_or_else(|told| panic!("{}: {told}", entry.name));
        let done = match perform::read(&entry.name, &words) {
            Ok(Ready::Here(command)) => perform::run(&command, Box::new(Silent)),
            Ok(Ready::Outside(delegation)) => {
                // What it says goes to the terminal. No other program is beside the tests.
                let exit = perform::outside(&delegation);
                assert_eq!(exit, Exit::Unsupported, "{}", entry.name);
                continue;
            }
            Ok(Ready::Beside(delegation)) => perform::beside(&delegation),
            Err(told) => panic!("{}: {told}", entry.name),
        };
        // Each got as far as the module that is not there, the log that is not there, or its own answer.
        let real = match entry.name.as_str() {
            "explain-error" => done.text.contains("CKR_CANCEL"),
            "config" => done.exit == Exit::Ok && done.text.contains("/nonexistent/module.so"),
            "analyze" => done.exit == Exit::Unsupported && done.text.contains("keywright-bench"),
            "schema" => done.exit == Exit::Ok && done.text.contains("find-key"),
            _ => done.exit != Exit::Ok && done.text.contains("/nonexistent"),
        };
        assert!(real, "{}: {done:?}", entry.name);
    }
}

#[test]
fn every_row_of_the_menu_opens_what_it_says_and_views_ask_the_token() {
    let known = [("module".to_owned(), "/nonexistent/module.so".to_owned())];
    let mut walker = Menu::new(&registry::entries());
    let (_, count) = walker.place();
    for steps in 0..count {
        let name = walker.chosen().to_owned();
        let mut codes = vec![KeyCode::Down; steps];
        codes.push(KeyCode::Enter);
        let app = App::new(screen(80, 24, &codes), known.to_vec(), None);
        let screen = Rc::clone(&app.screen);
        // The keys end while it is open.
        app.run(&|_| Exit::Ok).unwrap_err();
        let seen = shown(&screen.borrow());
        let opened = match name.as_str() {
            "objects" => seen.contains(" list-objects ") && seen.contains("/nonexistent"),
            "mechanisms" => seen.contains(" list-mechanisms ") && seen.contains("/nonexistent"),
            "calls" => seen.contains("Which log?"),
            _ => seen.contains(&format!(" {name}: ")) && seen.contains("The same as"),
        };
        assert!(opened, "{name}:\n{seen}");
        walker.step(1);
    }
}

#[test]
fn a_log_that_is_not_there_is_said() {
    let mut codes = vec![KeyCode::Down, KeyCode::Down, KeyCode::Enter];
    codes.extend(typed("/nonexistent/log"));
    codes.push(KeyCode::Enter);
    let app = App::new(screen(80, 24, &codes), Vec::new(), None);
    let screen = Rc::clone(&app.screen);
    app.run(&|_| Exit::Ok).unwrap_err();
    let seen = shown(&screen.borrow());
    assert!(seen.contains("/nonexistent/log cannot be read"), "{seen}");
}

#[test]
fn no_form_asks_for_a_pin_in_plain_or_reads_the_keyboard() {
    for entry in registry::entries() {
        for field in &entry.fields {
            let name = field.id.as_str();
            assert!(
                !matches!(name, "user_pin" | "so_pin" | "insecure_pin_argv")
                    && !name.ends_with("_stdin"),
                "{name}"
            );
            if field.default == "-" {
                assert_eq!(name, "output", "{}", entry.name);
            }
        }
        let mut form = Form::new(&entry, &[]);
        if form
            .fields
            .iter()
            .any(|field| field.definition.id == "input")
        {
            form.set("input", "-");
            assert!(form.words().is_err(), "{}", entry.name);
        }
    }
}

#[test]
fn a_form_comes_to_the_words_that_would_be_typed() {
    let entries = registry::entries();
    let entry = entries
        .iter()
        .find(|entry| entry.name == "gen-keypair")
        .unwrap();
    let mut form = Form::new(entry, &[("label".to_owned(), "my token".to_owned())]);
    form.set("key_label", "-odd");
    form.set("key_type", "p256");
    form.set("extractable", "true");
    let line = form.line();
    assert!(line.starts_with("keywright hsm gen-keypair "), "{line}");
    for part in [
        "--key-label=-odd",
        "--key-type p256",
        "--extractable",
        "--label 'my token'",
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }
    // What is as it would be without the word is not written.
    assert!(!line.contains("--bits"), "{line}");
    let Ok(Ready::Here(command)) = perform::read("gen-keypair", &form.words().unwrap()) else {
        panic!("the words are not read");
    };
    assert_eq!(command.about().0, "gen-keypair");
}

#[test]
fn a_terminal_that_is_too_small_says_so_and_a_small_one_does() {
    let mut small = screen(79, 24, &[]);
    small.show(|_| panic!("drawn all the same")).unwrap();
    assert!(
        shown(&small).contains("79 x 24; this needs 80 x 24"),
        "{}",
        shown(&small)
    );
    let mut enough = screen(80, 24, &[]);
    let menu = Menu::new(&registry::entries());
    enough.show(|frame| draw::menu(frame, &menu, "")).unwrap();
    let seen = shown(&enough);
    assert!(
        seen.contains("keywright hsm") && seen.contains("list-slots") && seen.contains("q quit"),
        "{seen}"
    );
}

#[test]
fn a_secret_is_not_shown_kept_for_its_token_alone_and_forgotten_when_nobody_types() {
    let mut codes = typed("hunter2");
    codes.push(KeyCode::Enter);
    let terminal = Terminal::new(Memory(TestBackend::new(80, 24))).unwrap();
    let (clock, hand) = Clock::simulated(WallTime::from_unix_seconds(0));
    let mut screen: Small = Screen::new(terminal, keys(&codes), clock, Duration::from_secs(60));
    assert_eq!(screen.secret("PIN").unwrap(), Some(b"hunter2".to_vec()));
    assert!(!shown(&screen).contains("hunter") && shown(&screen).contains("not shown"));
    // Not asked for again, for the same token.
    assert_eq!(screen.secret("PIN").unwrap(), Some(b"hunter2".to_vec()));
    screen.place = vec![("label".to_owned(), "other".to_owned())];
    assert!(
        screen.secret("PIN").is_err(),
        "no key is left to type it again"
    );
    screen.place.clear();
    assert!(screen.remembers());
    // The security officer's is asked for each time.
    assert!(screen.secret("SO PIN").is_err());
    hand.advance(Duration::from_secs(61));
    let mut idle = screen.with_keys(Nobody);
    idle.key().unwrap();
    assert!(!idle.remembers());
}

/// Waits and types nothing.
struct Nobody;

impl Keys for Nobody {
    fn next(&mut self, _: Duration) -> io::Result<Option<KeyEvent>> {
        Ok(None)
    }
}

#[test]
fn only_the_word_itself_agrees() {
    let agrees = |word: Word<'_>, text: &str, last: KeyCode| {
        let mut codes = typed(text);
        codes.push(last);
        screen(80, 24, &codes).agrees("destroy it", word).unwrap()
    };
    for (text, agreed) in [
        ("yes", true),
        ("y", false),
        ("YES", false),
        ("", false),
        ("yes ", false),
    ] {
        assert_eq!(agrees(Word::Yes, text, KeyCode::Enter), agreed, "{text:?}");
    }
    assert!(!agrees(Word::Yes, "yes", KeyCode::Esc));
    let own = Word::Own("id", "0abc");
    for (text, agreed) in [
        ("0abc", true),
        ("0ABC", false),
        ("yes", false),
        ("0ab", false),
        ("", false),
    ] {
        assert_eq!(agrees(own, text, KeyCode::Enter), agreed, "{text:?}");
    }
    // What has no word of its own is not agreed to by typing nothing.
    assert!(!agrees(Word::Own("id", ""), "", KeyCode::Enter));
}

#[test]
fn keys_walk_the_menu_into_a_form_and_out_again() {
    let mut codes = vec![KeyCode::Char('h'), KeyCode::Esc, KeyCode::Up, KeyCode::Down];
    // Every entry is opened and left.
    for _ in 0..registry::entries().len() + 1 {
        codes.extend([KeyCode::Down]);
    }
    let menu = Menu::new(&registry::entries());
    let mut walker = menu.clone();
    let mut met = BTreeSet::new();
    for _ in 0..menu.rows.len() {
        met.insert(walker.chosen().to_owned());
        walker.step(1);
    }
    assert_eq!(met.len(), registry::entries().len() + views::VIEWS.len());
    codes.push(KeyCode::Char('q'));
    let app = App::new(screen(80, 24, &codes), Vec::new(), None);
    app.run(&|_| Exit::Ok).unwrap();
}
