//! The menu at a terminal that `script` of util-linux makes, on real tokens; screens are read by a terminal parser.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use keywright_tokens::{Store, USER_PIN, on_each};

use crate::hsm::Scene;

const UP: &str = "\x1b[A";
pub(crate) const DOWN: &str = "\x1b[B";
pub(crate) const ENTER: &str = "\r";
pub(crate) const ESC: &str = "\x1b";

/// Marks the end of a screen that was drawn.
const DRAWN: &str = "\x1b[?2026l";

/// A terminal with the menu in it.
pub(crate) struct Menu {
    child: Child,
    out: Receiver<Vec<u8>>,
    parser: vt100::Parser,
    seen: String,
    /// What came of a screen that is not whole.
    partly: Vec<u8>,
}

impl Menu {
    /// None without the program `script`.
    pub(crate) fn open(store: &Store, size: (u16, u16), words: &str) -> Option<Self> {
        let program = env!("CARGO_BIN_EXE_keywright");
        let (columns, rows) = size;
        let line = format!(
            "stty cols {columns} rows {rows}; {program} hsm interactive {words}; echo ended=$?; stty -a"
        );
        let mut command: Command = store.command("script");
        command
            .args(["-qfec", &line, "/dev/null"])
            .env("NO_COLOR", "1")
            .env("TERM", "xterm");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let mut pipe = child.stdout.take().unwrap();
        let (sender, out) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = pipe.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Some(Self {
            child,
            out,
            parser: vt100::Parser::new(rows, columns, 0),
            seen: String::new(),
            partly: Vec::new(),
        })
    }

    /// Reads what comes; the screen changes from one that is whole to the next.
    pub(crate) fn take(&mut self, wait: Duration) -> bool {
        let Ok(bytes) = self.out.recv_timeout(wait) else {
            return false;
        };
        self.seen += &String::from_utf8_lossy(&bytes);
        self.partly.extend(bytes);
        let mut ends = self.partly.windows(DRAWN.len());
        if let Some(end) = ends.rposition(|window| window == DRAWN.as_bytes()) {
            let rest = self.partly.split_off(end + DRAWN.len());
            self.parser.process(&self.partly);
            self.partly = rest;
        }
        true
    }

    pub(crate) fn screen(&self) -> String {
        self.parser.screen().contents()
    }

    /// Waits until all of this is on the screen.
    #[track_caller]
    pub(crate) fn until(&mut self, parts: &[&str]) -> String {
        for _ in 0..600 {
            let screen = self.screen();
            if parts.iter().all(|part| screen.contains(part)) {
                return screen;
            }
            self.take(Duration::from_millis(50));
        }
        panic!("{parts:?} is not on the screen:\n{}", self.screen());
    }

    pub(crate) fn keys(&mut self, keys: &str) {
        let mut terminal = self.child.stdin.as_ref().unwrap();
        terminal.write_all(keys.as_bytes()).unwrap();
        terminal.flush().unwrap();
    }

    /// Goes to an entry of the menu and opens it.
    #[track_caller]
    pub(crate) fn open_entry(&mut self, name: &str) {
        self.until(&["q quit"]);
        for _ in 0..60 {
            if self.name() == name {
                self.keys(ENTER);
                self.until(&[&format!("{name}: "), "Esc back"]);
                return;
            }
            self.down();
        }
        panic!("{name} is not in the menu:\n{}", self.screen());
    }

    /// What is shown reversed.
    fn chosen(&self) -> String {
        let screen = self.parser.screen();
        let (rows, columns) = screen.size();
        let line = |row: u16| -> String {
            let cells = (0..columns).filter_map(|column| screen.cell(row, column));
            let cells = cells.filter(|cell| cell.inverse());
            cells
                .map(|cell| {
                    if cell.has_contents() {
                        cell.contents().to_owned()
                    } else {
                        " ".to_owned()
                    }
                })
                .collect()
        };
        (0..rows)
            .map(line)
            .find(|line| !line.is_empty())
            .unwrap_or_default()
    }

    /// The name of what is chosen, without the star of a field that must be filled.
    fn name(&self) -> String {
        let chosen = self.chosen();
        let mut words = chosen.trim_start_matches(['*', ' ']).split_whitespace();
        words.next().unwrap_or_default().to_owned()
    }

    /// Goes one down. The name tells when: the value of a field may still be on its way to the screen.
    #[track_caller]
    fn down(&mut self) {
        let before = self.name();
        self.keys(DOWN);
        for _ in 0..200 {
            if self.name() != before {
                return;
            }
            self.take(Duration::from_millis(50));
        }
        panic!("nothing below {before}:\n{}", self.screen());
    }

    #[track_caller]
    fn changed(&mut self, before: &str) {
        for _ in 0..200 {
            if self.chosen() != before {
                return;
            }
            self.take(Duration::from_millis(50));
        }
        panic!("nothing moved:\n{}", self.screen());
    }

    /// Waits until this stands in the field that is chosen.
    #[track_caller]
    fn shown(&mut self, value: &str) {
        for _ in 0..200 {
            if self.chosen().contains(value) {
                return;
            }
            self.take(Duration::from_millis(50));
        }
        panic!("{value} is not shown:\n{}", self.screen());
    }

    /// Types into a field of the form that is open.
    #[track_caller]
    pub(crate) fn fill(&mut self, field: &str, value: &str) {
        for _ in 0..60 {
            if self.name() == field {
                if value == " " {
                    let chosen = self.chosen();
                    self.keys(value);
                    self.changed(&chosen);
                } else {
                    self.keys("\x1b[3~");
                    self.keys(value);
                    // A long value is cut at the edge.
                    let begin: String = value.chars().take(20).collect();
                    self.shown(&begin);
                }
                return;
            }
            self.down();
        }
        panic!("no field {field}:\n{}", self.screen());
    }

    /// Turns a field of choices until this is chosen.
    #[track_caller]
    pub(crate) fn choose(&mut self, field: &str, value: &str) {
        self.fill(field, " ");
        for _ in 0..20 {
            let chosen = self.chosen();
            if chosen.trim_end().ends_with(&format!(" {value}")) {
                return;
            }
            self.keys(" ");
            self.changed(&chosen);
        }
        panic!("no choice {value}:\n{}", self.screen());
    }

    /// Leaves the menu; what the terminal says then.
    #[track_caller]
    pub(crate) fn leave(mut self, keys: &str) -> String {
        self.keys(keys);
        // The program behind the menu's own output has ended when nobody can write to it.
        while self.take(Duration::from_secs(20)) {}
        std::mem::take(&mut self.seen)
    }
}

impl Drop for Menu {
    /// A test that failed leaves no program behind, which would keep its output open.
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[track_caller]
pub(crate) fn restored(seen: &str) {
    let tail = seen.rsplit("ended=").next().unwrap();
    let modes: Vec<&str> = tail
        .split(|c: char| c.is_whitespace() || c == ';')
        .collect();
    for mode in ["echo", "icanon", "isig", "iexten", "opost"] {
        assert!(modes.contains(&mode), "{mode}: {tail}");
    }
    // The other screen was left, and the cursor is shown.
    let left = seen.rfind("\x1b[?1049l");
    assert!(
        left.is_some() && seen.rfind("\x1b[?1049h") < left,
        "{seen:?}"
    );
}

pub(crate) fn words(scene: &Scene<'_>) -> String {
    format!("--module {} --label keywright", scene.module)
}

/// Deletes the key called menu, at the second try: the first does not confirm.
fn delete_by_keyboard(menu: &mut Menu, id: &str) {
    menu.open_entry("delete-key");
    menu.fill("key-label", "menu");
    menu.fill("with-pair", " ");
    menu.keys(ENTER);
    menu.until(&["destroy", "pkcs11:", "Type its id"]);
    menu.keys(&format!("yes{ENTER}"));
    menu.until(&["delete-key: exit code 13", "not confirmed"]);
    menu.keys(ESC);
    menu.until(&["Enter run"]);
    menu.keys(ENTER);
    menu.until(&["Type its id"]);
    menu.keys(&format!("{id}{ENTER}"));
    menu.until(&["delete-key: exit code 0"]);
    menu.keys(ESC);
    menu.until(&["Enter run"]);
    menu.keys(ESC);
    menu.until(&["q quit"]);
}

#[test]
fn generate_sign_verify_and_delete_by_keyboard_alone() {
    on_each(|store| {
        let scene = Scene::new(store);
        let Some(mut menu) = Menu::open(store, (80, 24), &words(&scene)) else {
            return;
        };
        let input = scene.file("in", "to be signed");
        let signature = scene.name("sig");
        menu.until(&["keywright hsm", "list-slots", "q quit"]);
        menu.open_entry("gen-keypair");
        menu.fill("key-label", "menu");
        menu.choose("key-type", "p256");
        menu.until(&["The same as: keywright hsm gen-keypair"]);
        menu.keys(ENTER);
        menu.until(&["PIN", "not shown"]);
        menu.keys(&format!("{USER_PIN}{ENTER}"));
        menu.until(&["gen-keypair: exit code 0", "menu"]);
        menu.keys(ESC);
        menu.until(&["Enter run"]);
        menu.keys(ESC);
        // The PIN is kept for this token, and said to be.
        menu.until(&["PIN kept"]);
        menu.open_entry("sign");
        menu.fill("key-label", "menu");
        menu.fill("input", &input);
        menu.fill("output", &signature);
        menu.keys(ENTER);
        menu.until(&["sign: exit code 0"]);
        menu.keys(ESC);
        menu.until(&["Enter run"]);
        menu.keys(ESC);
        menu.open_entry("verify");
        menu.fill("key-label", "menu");
        menu.fill("input", &input);
        menu.fill("signature", &signature);
        menu.keys(ENTER);
        menu.until(&["verify: exit code 0", "valid"]);
        menu.keys(ESC);
        menu.until(&["Enter run"]);
        menu.keys(ESC);
        let made = scene.data(&["list-objects", "--key-label", "menu"]);
        delete_by_keyboard(&mut menu, made["objects"][0]["id"].as_str().unwrap());
        let seen = menu.leave("q");
        assert!(
            seen.contains("ended=0") && !seen.contains(USER_PIN),
            "{seen}"
        );
        restored(&seen);
        // Some tokens show their mechanisms as objects as well.
        let left = scene.data(&["list-objects"]).to_string();
        assert!(!left.contains("\"menu\""), "{left}");
        let made = std::fs::metadata(&signature).unwrap();
        assert!(made.len() > 0);
        // No screen sets a colour other than the terminal's own.
        for colour in ["\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[34m", "\x1b[38;"] {
            assert!(!seen.contains(colour), "{colour:?}");
        }
    });
}

#[test]
fn a_wrong_pin_is_told_and_forgotten_and_a_token_that_is_gone_too() {
    on_each(|store| {
        let scene = Scene::new(store);
        let Some(mut menu) = Menu::open(store, (80, 24), &words(&scene)) else {
            return;
        };
        menu.until(&["q quit"]);
        menu.keys(ENTER);
        menu.until(&["not shown"]);
        menu.keys(&format!("not-the-pin{ENTER}"));
        menu.until(&[
            "CKR_PIN_INCORRECT",
            "help:",
            "The same as: keywright hsm list-objects",
        ]);
        menu.keys(ESC);
        menu.until(&["q quit"]);
        assert!(!menu.screen().contains("PIN kept"));
        menu.keys(ENTER);
        menu.until(&["not shown"]);
        menu.keys(&format!("{USER_PIN}{ENTER}"));
        menu.until(&["of keywright", "Esc back"]);
        menu.keys(ESC);
        menu.until(&["q quit"]);
        menu.keys(&format!("{DOWN}{ENTER}"));
        menu.until(&["mechanisms", "enc dec hsh sig"]);
        menu.keys(ESC);
        menu.until(&["q quit"]);
        store.take_away();
        menu.keys(&format!("{UP}{ENTER}"));
        menu.until(&["error:", "help:"]);
        store.put_back();
        menu.keys(ESC);
        menu.until(&["q quit"]);
        let seen = menu.leave("q");
        assert!(
            seen.contains("ended=0") && !seen.contains(USER_PIN) && !seen.contains("not-the-pin"),
            "{seen}"
        );
        restored(&seen);
    });
}

#[test]
fn terminal_restored_after_panic_and_a_small_one_is_told() {
    on_each(|store| {
        let scene = Scene::new(store);
        let Some(menu) = Menu::open(store, (80, 24), &format!("{} --break-down", words(&scene)))
        else {
            return;
        };
        let seen = menu.leave("");
        assert!(seen.contains("ended=1"), "{seen}");
        restored(&seen);
        let mut small = Menu::open(store, (60, 20), &words(&scene)).unwrap();
        small.until(&["60 x 20", "80 x 24"]);
        let seen = small.leave("q");
        assert!(seen.contains("ended=0"), "{seen}");
        restored(&seen);
    });
}
