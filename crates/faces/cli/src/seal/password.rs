//! Passwords: from a file, an open descriptor or the terminal; never from the words of the command.
//!
//! One line; its end is taken off and nothing else, for blanks belong to a password.

use std::fs::File;
use std::io::{Read, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use keywright_secret::SecretBytes;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::exit::{Exit, Failure};

/// Where the password comes from.
#[derive(Debug, clap::Args)]
pub(super) struct Origin {
    /// The file with the password on one line; only its owner may read it [default: ask at the terminal].
    #[arg(long, value_name = "FILE", conflicts_with = "password_fd")]
    password_file: Option<PathBuf>,
    /// The open file descriptor with the password.
    #[arg(long, value_name = "N")]
    password_fd: Option<u32>,
}

impl Origin {
    /// The password of a file.
    pub(super) fn read(&self) -> Result<SecretBytes, Failure> {
        match self.named()? {
            Some(password) => Ok(password),
            None => prompt("Password: "),
        }
    }

    /// A new one: at the terminal it is asked for twice.
    pub(super) fn choose(&self) -> Result<SecretBytes, Failure> {
        if let Some(password) = self.named()? {
            return Ok(password);
        }
        let password = prompt("New password: ")?;
        let again = prompt("The same again: ")?;
        if password.expose() == again.expose() {
            return Ok(password);
        }
        Err(Failure::new(
            Exit::Usage,
            "the two passwords are not the same",
            "type the same password twice",
        ))
    }

    /// Whether a file or a descriptor was named.
    pub(super) const fn is_named(&self) -> bool {
        self.password_file.is_some() || self.password_fd.is_some()
    }

    /// The file with the password, if there is one.
    pub(super) fn file(&self) -> Option<&Path> {
        self.password_file.as_deref()
    }

    fn named(&self) -> Result<Option<SecretBytes>, Failure> {
        let path = match (&self.password_file, self.password_fd) {
            (Some(path), _) => path.clone(),
            (None, Some(number)) => PathBuf::from(format!("/dev/fd/{number}")),
            (None, None) => return Ok(None),
        };
        let failed = |error| Failure::file(&path, "read", &error);
        let mut file = File::open(&path).map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        let shared = about.is_file() && about.permissions().mode() & 0o077 != 0;
        if shared && self.password_file.is_some() {
            return Err(Failure::new(
                Exit::Usage,
                format!("{} can be read by others", path.display()),
                "run chmod 600 on it",
            ));
        }
        line(&path, &mut file).map(Some)
    }
}

/// No password is longer, with the end of its line.
const LONGEST: usize = 4096;

/// All that `source` has, which must be one line.
fn line(name: &Path, source: &mut impl Read) -> Result<SecretBytes, Failure> {
    let mut bytes = SecretBytes::zeroed(LONGEST);
    let mut length = 0;
    while let Some(room) = bytes
        .expose_mut()
        .get_mut(length..)
        .filter(|room| !room.is_empty())
    {
        match source.read(room) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Failure::file(name, "read", &error)),
        }
    }
    if length == LONGEST {
        return Err(Failure::new(
            Exit::Usage,
            format!("{} is too long for a password", name.display()),
            "give a file with the password alone",
        ));
    }
    alone(name, bytes.expose().get(..length).unwrap_or_default())
}

fn alone(name: &Path, text: &[u8]) -> Result<SecretBytes, Failure> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let (happened, advice) = match text {
        [] => ("holds no password", "put the password into it, on one line"),
        text if text.iter().any(|byte| matches!(byte, b'\n' | b'\r' | 0)) => {
            ("has more than one line", "keep one line in it")
        }
        text => return Ok(SecretBytes::from_vec(text.to_vec())),
    };
    Err(Failure::new(
        Exit::Usage,
        format!("{} {happened}", name.display()),
        advice,
    ))
}

/// A terminal that does not show what is typed, until this is dropped.
struct Silent<'t> {
    terminal: &'t File,
    before: Termios,
}

impl<'t> Silent<'t> {
    fn new(terminal: &'t File) -> std::io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
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

/// Asks at the terminal, as standard input may be the file itself.
fn prompt(question: &str) -> Result<SecretBytes, Failure> {
    let name = Path::new("the terminal");
    let failed = |error| Failure::file(name, "used", &error);
    let opened = File::options().read(true).write(true).open("/dev/tty");
    let terminal = opened.map_err(|_| {
        Failure::new(
            Exit::Usage,
            "there is no terminal to ask for the password",
            "name its source: --password-file FILE or --password-fd N",
        )
    })?;
    let silent = Silent::new(&terminal).map_err(failed)?;
    (&terminal).write_all(question.as_bytes()).map_err(failed)?;
    // A terminal gives one line at a time.
    let mut typed = SecretBytes::zeroed(LONGEST);
    let length = (&terminal).read(typed.expose_mut()).map_err(failed)?;
    drop(silent);
    (&terminal).write_all(b"\n").map_err(failed)?;
    alone(name, typed.expose().get(..length).unwrap_or_default())
}
