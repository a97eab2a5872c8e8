//! A PIN that is typed at the terminal.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

use super::answer::Refusal;
use super::heard::{First, Heard};
use super::pin::{LONGEST, Wanted, unreadable};
use crate::exit::{Exit, Failure};

/// A terminal that neither shows nor interprets what is typed, until this is dropped. Ctrl-C is a byte here and
/// no signal, and signals are heard, so that nobody is left with a terminal that stays silent.
struct Silent<'t> {
    terminal: &'t File,
    before: Termios,
}

impl<'t> Silent<'t> {
    fn new(terminal: &'t File) -> std::io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut silent = before.clone();
        let off = LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG | LocalModes::IEXTEN;
        silent.local_modes.remove(off);
        silent.special_codes[SpecialCodeIndex::VMIN] = 1;
        silent.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(terminal, OptionalActions::Flush, &silent)?;
        Ok(Self { terminal, before })
    }
}

impl Drop for Silent<'_> {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing back.
        tcsetattr(self.terminal, OptionalActions::Flush, &self.before).ok();
    }
}

/// How a typed line ended.
#[derive(Debug, PartialEq, Eq)]
enum Typed {
    Line(Vec<u8>),
    Interrupted,
}

const CTRL_C: u8 = 3;
const CTRL_D: u8 = 4;
const BACKSPACE: u8 = 8;
const CTRL_U: u8 = 21;
const CTRL_BACKSLASH: u8 = 28;
const DELETE: u8 = 127;

/// Reads a line from a terminal that interprets nothing: keys that edit and keys that interrupt do so here. `wait`
/// comes back when there is a key, or a signal that ends the program.
fn typed(
    source: &mut dyn std::io::Read,
    mut wait: impl FnMut() -> std::io::Result<First>,
) -> std::io::Result<Typed> {
    // Made once, so that no copy of a PIN stays behind when it grows.
    let mut line = Vec::with_capacity(LONGEST);
    let mut byte = [0];
    loop {
        if wait()? == First::Signal {
            keywright_secret::wipe(&mut line);
            return Ok(Typed::Interrupted);
        }
        if source.read(&mut byte)? == 0 {
            return Ok(Typed::Line(line));
        }
        match byte {
            [b'\n' | b'\r' | CTRL_D] => return Ok(Typed::Line(line)),
            [CTRL_C | CTRL_BACKSLASH] => {
                keywright_secret::wipe(&mut line);
                return Ok(Typed::Interrupted);
            }
            [BACKSPACE | DELETE] => rub_out(&mut line),
            [CTRL_U] => {
                keywright_secret::wipe(&mut line);
                line.clear();
            }
            [other] if line.len() < LONGEST => line.push(other),
            _ => return Err(std::io::Error::other("it is too long for a PIN")),
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

/// Asks for a PIN.
pub fn ask(wanted: Wanted) -> Result<Vec<u8>, Refusal> {
    let (what, flags) = (wanted.name(), wanted.flags());
    if let Some(answer) = super::asked::secret(what) {
        return answer;
    }
    let path = Path::new("/dev/tty");
    let opened = File::options().read(true).write(true).open(path);
    let mut terminal = opened.map_err(|_| {
        Refusal::usage(
            format!("there is no terminal to ask for the {what}"),
            format!("name its source: {flags}"),
        )
    })?;
    let failed = |error: std::io::Error| unreadable(path, &error);
    let mut reader = terminal.try_clone().map_err(failed)?;
    let for_echo = terminal.try_clone().map_err(failed)?;
    let heard = Heard::listen().map_err(failed)?;
    let silent = Silent::new(&for_echo).map_err(failed)?;
    write!(terminal, "{what}: ").map_err(failed)?;
    let line = typed(&mut reader, || heard.wait(&for_echo));
    drop(silent);
    drop(heard);
    writeln!(terminal).map_err(failed)?;
    match line.map_err(failed)? {
        Typed::Line(line) if line.is_empty() => Err(Refusal::usage(
            format!("no {what} was typed"),
            format!("type it, or name its source: {flags}"),
        )),
        Typed::Line(line) => Ok(line),
        Typed::Interrupted => Err(Failure::new(
            Exit::Interrupted,
            format!("interrupted before the {what} was typed"),
            "nothing was done; start the command again when you have it",
        )
        .into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn line_of(keys: &[u8]) -> Vec<u8> {
        match typed(&mut &keys[..], || Ok(First::Key)).unwrap() {
            Typed::Line(line) => line,
            Typed::Interrupted => panic!("interrupted"),
        }
    }

    #[test]
    fn a_line_is_what_was_typed_with_what_was_rubbed_out_gone() {
        for (keys, line) in [
            (&b"1234\n"[..], &b"1234"[..]),
            (b"1234\rmore", b"1234"),
            (b"12x\x7f34\n", b"1234"),
            (b"\x08\x7f12\n", b"12"),
            ("a\u{e9}\u{20ac}\x7f\x7fb\n".as_bytes(), b"ab"),
            (b"wrong\x1512\n", b"12"),
            (b" 1 2 \n", b" 1 2 "),
            (b"12\x04", b"12"),
            (b"12", b"12"),
            (b"\n", b""),
        ] {
            assert_eq!(line_of(keys), line, "{keys:?}");
        }
        let longest = vec![b'1'; LONGEST];
        assert_eq!(line_of(&longest), longest);
        assert!(typed(&mut &[b'1'; LONGEST + 1][..], || Ok(First::Key)).is_err());
    }

    #[test]
    fn each_pin_is_named_by_the_flags_of_its_own() {
        for (wanted, name, flag) in [
            (Wanted::User, "PIN", "--pin-file, "),
            (Wanted::FirstOfUser, "new PIN", "--pin-file, "),
            (Wanted::Officer, "SO PIN", "--so-pin-file, "),
            (Wanted::FirstOfOfficer, "new SO PIN", "--so-pin-file, "),
            (Wanted::Next, "new PIN", "--new-pin-file, "),
        ] {
            assert_eq!(wanted.name(), name);
            assert!(wanted.flags().starts_with(flag), "{wanted:?}");
        }
    }

    #[test]
    fn keys_that_interrupt_end_the_line_without_it() {
        for key in [CTRL_C, CTRL_BACKSLASH] {
            let keys = [b'1', b'2', key, b'3', b'\n'];
            let typed = typed(&mut &keys[..], || Ok(First::Key));
            assert_eq!(typed.unwrap(), Typed::Interrupted);
        }
    }

    #[test]
    fn a_signal_ends_the_line_without_what_was_typed() {
        let mut keys = [First::Key, First::Key, First::Signal].into_iter();
        let typed = typed(&mut &b"12345\n"[..], || Ok(keys.next().unwrap()));
        assert_eq!(typed.unwrap(), Typed::Interrupted);
    }
}
