//! The screen and the keyboard: dialogs, and the PIN that is kept for a while.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use keywright_clock::{Clock, MonotonicTime};
use keywright_secret::SecretBytes;
use ratatui::backend::Backend;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::{Frame, Terminal};

use super::super::pin::LONGEST;
use super::draw;
use crate::confirm::Word;

/// Where keys come from.
pub(super) trait Keys {
    /// The next key, if one comes within that time.
    fn next(&mut self, wait: Duration) -> io::Result<Option<KeyEvent>>;
}

/// The keyboard of the terminal.
pub(super) struct Keyboard;

impl Keys for Keyboard {
    fn next(&mut self, wait: Duration) -> io::Result<Option<KeyEvent>> {
        if !event::poll(wait)? {
            return Ok(None);
        }
        match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => Ok(Some(key)),
            _ => Ok(None),
        }
    }
}

/// Keys that were thought of beforehand.
impl Keys for VecDeque<KeyEvent> {
    fn next(&mut self, _: Duration) -> io::Result<Option<KeyEvent>> {
        self.pop_front()
            .map(Some)
            .ok_or_else(|| io::Error::other("nobody types any more"))
    }
}

/// The user's PIN, and for which token it was typed.
struct Kept {
    pin: SecretBytes,
    place: Vec<(String, String)>,
}

/// The screen with its keyboard.
pub(super) struct Screen<B: Backend, K> {
    pub(super) terminal: Terminal<B>,
    pub(super) keys: K,
    clock: Clock,
    touched: MonotonicTime,
    idle: Duration,
    kept: Option<Kept>,
    /// The token of the command that is running.
    pub(super) place: Vec<(String, String)>,
}

/// How a line was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    Entered,
    GivenUp,
}

const BLINK: Duration = Duration::from_millis(250);

impl<B: Backend<Error = io::Error>, K: Keys> Screen<B, K> {
    pub(super) fn new(terminal: Terminal<B>, keys: K, clock: Clock, idle: Duration) -> Self {
        Self {
            terminal,
            keys,
            touched: clock.monotonic(),
            clock,
            idle,
            kept: None,
            place: Vec::new(),
        }
    }

    /// The same screen with another keyboard.
    #[cfg(test)]
    pub(super) fn with_keys<L>(self, keys: L) -> Screen<B, L> {
        Screen {
            terminal: self.terminal,
            keys,
            clock: self.clock,
            touched: self.touched,
            idle: self.idle,
            kept: self.kept,
            place: self.place,
        }
    }

    pub(super) fn show(&mut self, paint: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(|frame| {
            if draw::fits(frame.area()) {
                paint(frame);
            } else {
                draw::too_small(frame);
            }
        })?;
        Ok(())
    }

    /// The next key; none after a moment, for what changes by itself. The PIN is forgotten when nobody types.
    pub(super) fn key(&mut self) -> io::Result<Option<KeyEvent>> {
        let key = self.keys.next(BLINK)?;
        let now = self.clock.monotonic();
        match key {
            Some(_) => self.touched = now,
            None if now.since(self.touched) >= self.idle => self.forget(),
            None => {}
        }
        Ok(key)
    }

    pub(super) fn forget(&mut self) {
        self.kept = None;
    }

    pub(super) fn remembers(&self) -> bool {
        self.kept.is_some()
    }

    /// A secret that is typed without being shown. The user's PIN of this token is asked for once.
    pub(super) fn secret(&mut self, what: &str) -> io::Result<Option<Vec<u8>>> {
        let own = what == "PIN";
        if own && let Some(kept) = self.kept.as_ref().filter(|kept| kept.place == self.place) {
            return Ok(Some(kept.pin.expose().to_vec()));
        }
        // Made once, so that no copy of a PIN stays behind when it grows.
        let mut typed = Vec::with_capacity(LONGEST);
        let prompt = (what, "What you type is not shown.");
        if self.line(prompt, &mut typed, |_| String::new())? == Left::GivenUp || typed.is_empty() {
            keywright_secret::wipe(&mut typed);
            return Ok(None);
        }
        if own {
            let place = self.place.clone();
            self.kept = Some(Kept {
                pin: SecretBytes::from_vec(typed.clone()),
                place,
            });
        }
        Ok(Some(typed))
    }

    /// Whether `deed` is wanted: nothing but the word itself says so.
    pub(super) fn agrees(&mut self, deed: &str, word: Word<'_>) -> io::Result<bool> {
        let mut typed = Vec::with_capacity(LONGEST);
        let question = format!("{deed}?");
        let hint = format!("{} to do it.", word.asked());
        let prompt = (question.as_str(), hint.as_str());
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let left = self.line(prompt, &mut typed, shown)?;
        Ok(left == Left::Entered && word.is(&typed))
    }

    /// A line that is shown while it is typed; none if it is given up or empty.
    pub(super) fn asked(&mut self, what: &str, hint: &str) -> io::Result<Option<String>> {
        let mut typed = Vec::with_capacity(LONGEST);
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let left = self.line((what, hint), &mut typed, shown)?;
        let text = String::from_utf8(typed).unwrap_or_default();
        Ok(Some(text).filter(|text| left == Left::Entered && !text.is_empty()))
    }

    fn line(
        &mut self,
        prompt: (&str, &str),
        typed: &mut Vec<u8>,
        shown: impl Fn(&[u8]) -> String,
    ) -> io::Result<Left> {
        loop {
            let now = shown(typed);
            self.show(|frame| draw::dialog(frame, prompt, &now))?;
            let Some(key) = self.key()? else { continue };
            match key.code {
                KeyCode::Enter => return Ok(Left::Entered),
                KeyCode::Esc => return Ok(Left::GivenUp),
                KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                    return Ok(Left::GivenUp);
                }
                KeyCode::Char('u') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                    keywright_secret::wipe(typed);
                    typed.clear();
                }
                KeyCode::Backspace => rub_out(typed),
                KeyCode::Char(c) => {
                    let mut buffer = [0; 4];
                    let bytes = c.encode_utf8(&mut buffer).as_bytes();
                    if typed.len() + bytes.len() <= LONGEST {
                        typed.extend_from_slice(bytes);
                    }
                    keywright_secret::wipe(&mut buffer);
                }
                _ => {}
            }
        }
    }
}

/// Takes off the last character, of one byte or more.
fn rub_out(line: &mut Vec<u8>) {
    while let Some(last) = line.last_mut() {
        let more = *last & 0b1100_0000 == 0b1000_0000;
        *last = 0;
        line.pop();
        if !more {
            return;
        }
    }
}
