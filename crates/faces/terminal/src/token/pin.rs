//! PINs: from a file, a descriptor, the environment, standard input or the terminal; never from the words of
//! the command, unless that is asked for by name.
//!
//! One line end is taken off and nothing else: blanks belong to a PIN. Buffers are wiped.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use keywright_hsm::Pin;
use keywright_secret::SecretBytes;

use super::answer::Refusal;
use super::interrupt::Interruptible;
use crate::exit::{Exit, Failure};

/// Where the user's PIN comes from.
#[derive(Debug, Default, clap::Args)]
pub struct UserPin {
    /// Ask for the PIN at the terminal, even if a configuration names a file.
    #[arg(long)]
    pin_prompt: bool,
    /// The file with the user's PIN; only its owner may read it.
    #[arg(long, value_name = "FILE")]
    pin_file: Option<PathBuf>,
    /// The open file descriptor with the user's PIN.
    #[arg(long, value_name = "N")]
    pin_fd: Option<u32>,
    /// The environment variable with the user's PIN.
    #[arg(long, value_name = "NAME")]
    pin_env: Option<String>,
    /// The systemd credential with the user's PIN: a file in the folder of CREDENTIALS_DIRECTORY.
    #[arg(long, value_name = "NAME")]
    pin_cred: Option<String>,
    /// The user's PIN is a line of standard input, after the security officer's.
    #[arg(long, alias = "user-pin-stdin")]
    pin_stdin: bool,
    /// The user's PIN itself: refused without --insecure-pin-argv.
    #[arg(long, value_name = "PIN")]
    user_pin: Option<String>,
    /// Accept PINs in the words of the command, where every user of the machine can read them.
    #[arg(long)]
    insecure_pin_argv: bool,
    /// Log in even if the next wrong PIN locks the token.
    #[arg(long)]
    final_try: bool,
}

/// Where the security officer's PIN comes from.
#[derive(Debug, Default, clap::Args)]
pub struct OfficerPin {
    /// Ask for the security officer's PIN at the terminal.
    #[arg(long)]
    so_pin_prompt: bool,
    /// The file with the security officer's PIN.
    #[arg(long, value_name = "FILE")]
    so_pin_file: Option<PathBuf>,
    /// The open file descriptor with the security officer's PIN.
    #[arg(long, value_name = "N")]
    so_pin_fd: Option<u32>,
    /// The environment variable with the security officer's PIN.
    #[arg(long, value_name = "NAME")]
    so_pin_env: Option<String>,
    /// The systemd credential with the security officer's PIN.
    #[arg(long, value_name = "NAME")]
    so_pin_cred: Option<String>,
    /// The security officer's PIN is the first line of standard input.
    #[arg(long)]
    so_pin_stdin: bool,
    /// The security officer's PIN itself: refused without --insecure-pin-argv.
    #[arg(long, value_name = "PIN")]
    so_pin: Option<String>,
}

/// Where the security officer's PIN comes from, for a command that takes no other.
#[derive(Debug, Default, clap::Args)]
pub struct OfficerAlone {
    #[command(flatten)]
    pin: OfficerPin,
    /// The same as --so-pin-stdin.
    #[arg(long)]
    pin_stdin: bool,
    /// Accept the PIN in the words of the command, where every user of the machine can read it.
    #[arg(long)]
    insecure_pin_argv: bool,
}

/// Where the PIN that is to be set comes from.
#[derive(Debug, Default, clap::Args)]
pub struct NewPin {
    /// The file with the new PIN.
    #[arg(long, value_name = "FILE")]
    new_pin_file: Option<PathBuf>,
    /// The environment variable with the new PIN.
    #[arg(long, value_name = "NAME")]
    new_pin_env: Option<String>,
    /// The systemd credential with the new PIN.
    #[arg(long, value_name = "NAME")]
    new_pin_cred: Option<String>,
    /// The open file descriptor with the new PIN.
    #[arg(long, value_name = "N")]
    new_pin_fd: Option<u32>,
    /// The new PIN is the last line of standard input.
    #[arg(long)]
    new_pin_stdin: bool,
}

/// What is accepted of a PIN in the words of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// Nothing.
    Refuse,
    /// It, with a warning.
    Warn,
}

impl UserPin {
    /// The one source that is named; `None` if none is.
    pub fn source(&self) -> Result<Option<Source>, Refusal> {
        Source::only([
            self.pin_prompt.then_some(Source::Prompt(Wanted::User)),
            self.pin_file.clone().map(Source::File),
            self.pin_fd.map(Source::Descriptor),
            self.pin_env.clone().map(Source::Variable),
            self.pin_cred.clone().map(Source::Credential),
            self.pin_stdin.then_some(Source::Stdin),
            self.user_pin.clone().map(Source::Words),
        ])
    }

    /// The flag that names the source.
    pub fn flag(&self) -> Option<&'static str> {
        let all = [
            (self.pin_prompt, "pin-prompt"),
            (self.pin_file.is_some(), "pin-file"),
            (self.pin_fd.is_some(), "pin-fd"),
            (self.pin_env.is_some(), "pin-env"),
            (self.pin_cred.is_some(), "pin-cred"),
            (self.pin_stdin, "pin-stdin"),
            (self.user_pin.is_some(), "user-pin"),
        ];
        let named = all.into_iter().find(|(named, _)| *named);
        named.map(|(_, flag)| flag)
    }

    /// What is accepted of a PIN in the words of the command.
    pub fn words(&self) -> Words {
        match self.insecure_pin_argv {
            true => Words::Warn,
            false => Words::Refuse,
        }
    }

    /// Whether the last try before the token locks is taken.
    pub fn caution(&self) -> keywright_hsm::Caution {
        if self.final_try {
            keywright_hsm::Caution::Risk
        } else {
            keywright_hsm::Caution::Guard
        }
    }
}

impl OfficerPin {
    /// The one source that is named; `None` if none is.
    pub fn source(&self) -> Result<Option<Source>, Refusal> {
        Source::only([
            self.so_pin_prompt
                .then_some(Source::Prompt(Wanted::Officer)),
            self.so_pin_file.clone().map(Source::File),
            self.so_pin_fd.map(Source::Descriptor),
            self.so_pin_env.clone().map(Source::Variable),
            self.so_pin_cred.clone().map(Source::Credential),
            self.so_pin_stdin.then_some(Source::Stdin),
            self.so_pin.clone().map(Source::Words),
        ])
    }
}

impl OfficerAlone {
    /// The one source that is named; `None` if none is.
    pub fn source(&self) -> Result<Option<Source>, Refusal> {
        let own = self.pin.source()?;
        match (own, self.pin_stdin) {
            (own, false) => Ok(own),
            (None | Some(Source::Stdin), true) => Ok(Some(Source::Stdin)),
            (Some(_), true) => Err(more_than_one()),
        }
    }

    /// What is accepted of a PIN in the words of the command.
    pub fn words(&self) -> Words {
        match self.insecure_pin_argv {
            true => Words::Warn,
            false => Words::Refuse,
        }
    }
}

fn more_than_one() -> Refusal {
    Refusal::usage("more than one source of the PIN is named", "name one")
}

impl NewPin {
    /// The one source that is named; `None` if none is.
    pub fn source(&self) -> Result<Option<Source>, Refusal> {
        Source::only([
            None,
            self.new_pin_file.clone().map(Source::File),
            self.new_pin_fd.map(Source::Descriptor),
            self.new_pin_env.clone().map(Source::Variable),
            self.new_pin_cred.clone().map(Source::Credential),
            self.new_pin_stdin.then_some(Source::Stdin),
            None,
        ])
    }
}

/// A PIN that is asked for. Each has flags of its own that name where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The user's.
    User,
    /// The security officer's.
    Officer,
    /// The first one of the user.
    FirstOfUser,
    /// The first one of the security officer.
    FirstOfOfficer,
    /// The one that comes in the place of another, whoever has it.
    Next,
}

impl Wanted {
    /// As it is called at the prompt.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "PIN",
            Self::Officer => "SO PIN",
            Self::FirstOfUser | Self::Next => "new PIN",
            Self::FirstOfOfficer => "new SO PIN",
        }
    }

    /// The flags that name its source.
    pub const fn flags(self) -> &'static str {
        match self {
            Self::User | Self::FirstOfUser => {
                "--pin-file, --pin-fd, --pin-env, --pin-cred or --pin-stdin"
            }
            Self::Officer | Self::FirstOfOfficer => {
                "--so-pin-file, --so-pin-fd, --so-pin-env, --so-pin-cred or --so-pin-stdin"
            }
            Self::Next => {
                "--new-pin-file, --new-pin-fd, --new-pin-env, --new-pin-cred or --new-pin-stdin"
            }
        }
    }
}

/// Where a PIN is.
pub enum Source {
    /// A file in the folder that systemd makes for a service.
    Credential(String),
    /// An open file descriptor of this process.
    Descriptor(u32),
    /// A file that only its owner may read.
    File(PathBuf),
    /// The terminal.
    Prompt(Wanted),
    /// A line of standard input.
    Stdin,
    /// A variable of the environment.
    Variable(String),
    /// From a URI, which is a word of the command.
    Uri(SecretBytes),
    /// A word of the command.
    Words(String),
}

impl Source {
    fn only(sources: [Option<Self>; 7]) -> Result<Option<Self>, Refusal> {
        let mut named = sources.into_iter().flatten();
        match (named.next(), named.next()) {
            (first, None) => Ok(first),
            _ => Err(more_than_one()),
        }
    }

    /// In words, with nothing of the PIN.
    pub fn shown(&self) -> String {
        match self {
            Self::Credential(name) => format!("credential {name}"),
            Self::Descriptor(number) => format!("descriptor {number}"),
            Self::File(path) => format!("file {}", path.display()),
            Self::Prompt(_) => "terminal".to_owned(),
            Self::Stdin => "standard input".to_owned(),
            Self::Variable(name) => format!("variable {name}"),
            Self::Uri(_) => "pin-value of the URI, not shown".to_owned(),
            Self::Words(_) => "a word of the command, not shown".to_owned(),
        }
    }

    /// Reads the PIN.
    pub fn read(self, words: Words, warnings: &mut Vec<String>) -> Result<Pin, Refusal> {
        let bytes = match self {
            Self::Words(text) => {
                allow_words(words, warnings)?;
                return Ok(Pin::new(SecretBytes::from_vec(text.into_bytes())));
            }
            Self::Uri(value) => {
                allow_words(words, warnings)?;
                return Ok(Pin::new(value));
            }
            Self::Variable(name) => variable(&name)?,
            Self::Credential(name) => credential(&name)?,
            Self::File(path) => file(&path)?,
            Self::Descriptor(number) => {
                let path = PathBuf::from(format!("/dev/fd/{number}"));
                let file = File::open(&path).map_err(|e| unreadable(&path, &e))?;
                bounded(file).map_err(|e| unreadable(&path, &e))?
            }
            Self::Stdin => {
                // Without a buffer, so that what follows the PIN stays there.
                let mut input = Interruptible(rustix::stdio::stdin());
                line(Path::new("standard input"), &mut input)?
            }
            Self::Prompt(wanted) => super::prompt::ask(wanted)?,
        };
        Ok(Pin::from_line(bytes))
    }
}

fn allow_words(words: Words, warnings: &mut Vec<String>) -> Result<(), Refusal> {
    match words {
        Words::Refuse => Err(Refusal::usage(
            "a PIN stands in the words of the command, where others can read it",
            "use --pin-file, --pin-fd, --pin-env, --pin-cred or --pin-stdin, or accept that by name: --insecure-pin-argv",
        )),
        Words::Warn => {
            warnings.push(
                "the PIN stood in the words of the command; others may have read it".to_owned(),
            );
            Ok(())
        }
    }
}

fn variable(name: &str) -> Result<Vec<u8>, Refusal> {
    use std::os::unix::ffi::OsStringExt;
    #[expect(clippy::disallowed_methods, reason = "the faces read the environment")]
    let value = std::env::var_os(name);
    let value = value
        .map(OsStringExt::into_vec)
        .filter(|pin| !pin.is_empty());
    value.ok_or_else(|| {
        Refusal::usage(
            format!("the variable {name} holds no PIN"),
            "set it, or name another with --pin-env",
        )
    })
}

/// The content of a credential, as systemd.exec(5) has it: a file of this name in the folder of the variable.
fn credential(name: &str) -> Result<Vec<u8>, Refusal> {
    if name.is_empty() || name.contains('/') || matches!(name, "." | "..") {
        return Err(Refusal::usage(
            format!("{name:?} is no name of a credential"),
            "write the name alone, as it stands in LoadCredential= of the unit",
        ));
    }
    let folder = super::place::variable("CREDENTIALS_DIRECTORY").ok_or_else(|| {
        Refusal::usage(
            "CREDENTIALS_DIRECTORY is not set: systemd gave this process no credentials",
            "add LoadCredential= to the unit, or name another source of the PIN",
        )
    })?;
    // systemd lets the user of the service in by an access list, which shows as a right of the group.
    private(&Path::new(&folder).join(name), 0o007)
}

fn file(path: &Path) -> Result<Vec<u8>, Refusal> {
    private(path, 0o077)
}

/// The content of a file that has none of these rights.
fn private(path: &Path, rights: u32) -> Result<Vec<u8>, Refusal> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let about = file.metadata().map_err(|error| unreadable(path, &error))?;
    if about.is_file() && about.mode() & rights != 0 {
        return Err(Refusal::usage(
            format!("{} may be read by others than its owner", path.display()),
            format!("chmod 600 {}", path.display()),
        ));
    }
    bounded(file).map_err(|error| unreadable(path, &error))
}

/// No PIN is longer.
pub const LONGEST: usize = 1024;

/// The whole of a short file.
fn bounded(file: File) -> std::io::Result<Vec<u8>> {
    let mut buffer = SecretBytes::zeroed(LONGEST);
    let (mut file, mut length) = (Interruptible(file), 0);
    while let Some(room) = buffer.expose_mut().get_mut(length..)
        && !room.is_empty()
    {
        match file.read(room)? {
            0 => return Ok(buffer.expose().get(..length).unwrap_or_default().to_vec()),
            count => length += count,
        }
    }
    Err(std::io::Error::other("it is too long for a PIN"))
}

/// A failure to read a PIN from this file, as wrong usage.
pub fn unreadable(path: &Path, error: &std::io::Error) -> Refusal {
    let mut failure = Failure::file(path, "read", error);
    failure.exit = Exit::Usage;
    Refusal::Face(failure)
}

fn line(name: &Path, source: &mut dyn std::io::Read) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::with_capacity(LONGEST);
    let mut byte = [0];
    while bytes.len() < LONGEST && bytes.last() != Some(&b'\n') {
        match source
            .read(&mut byte)
            .map_err(|error| unreadable(name, &error))?
        {
            0 => break,
            _ => bytes.extend_from_slice(&byte),
        }
    }
    if bytes.is_empty() {
        return Err(Refusal::usage(
            format!("{} holds no PIN", name.display()),
            "give a line for each PIN: the security officer's first, then the user's, then a new one",
        ));
    }
    Ok(bytes)
}
