//! How one program starts the other: only a file of its own folder, never one of `PATH`, which could be a program of
//! somebody else that receives PINs.
//!
//! `keywright` hands these words to `keywright-bench`, which takes the place of the process, so that signals, the
//! terminal, descriptors and the status are its own. [`VARIABLE`] holds the version of the caller.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::exit::{Exit, Failure};

/// The program that measures.
pub const BENCH: &str = "keywright-bench";
/// The program that holds keys.
pub const KEYWRIGHT: &str = "keywright";

/// The variable by which the started program learns the version of the one that started it.
pub const VARIABLE: &str = "KEYWRIGHT_DISPATCH";

/// The version of both programs.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Words of `keywright` that `keywright-bench` carries out.
struct Delegated {
    words: &'static [&'static str],
    /// Its own word for them.
    own: Option<&'static str>,
}

const DELEGATED: [Delegated; 6] = [
    Delegated {
        words: &["bench"],
        own: None,
    },
    Delegated {
        words: &["benchmark"],
        own: Some("token"),
    },
    Delegated {
        words: &["hsm", "benchmark"],
        own: Some("token"),
    },
    Delegated {
        words: &["hsm", "analyze"],
        own: Some("calls"),
    },
    Delegated {
        words: &["vectors", "run"],
        own: Some("vectors"),
    },
    Delegated {
        words: &["session", "demo"],
        own: Some("session-demo"),
    },
];

impl Delegated {
    /// What the process is called, by which the started program knows how it was asked.
    fn name(&self) -> String {
        format!("{KEYWRIGHT} {}", self.words.join(" "))
    }
}

/// A command line of `keywright` that `keywright-bench` carries out.
pub struct Delegation {
    delegated: &'static Delegated,
    /// `--format` and its value, where they stood before the words.
    before: Vec<OsString>,
    rest: Vec<OsString>,
}

impl Delegation {
    /// The words of `keywright` without its name; none if it carries them out itself.
    pub fn read(words: &[OsString]) -> Option<Self> {
        let mut before = Vec::new();
        let (mut path, mut help, mut json) = (Vec::new(), false, false);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let text = word.to_str()?;
            match text {
                "--format" => before.extend([word.clone(), words.next()?.clone()]),
                "--json" if path == ["hsm"] => json = true,
                "help" if !help => help = true,
                _ if text.starts_with("--format=") => before.push(word.clone()),
                _ => path.push(text),
            }
            if let Some(delegated) = DELEGATED.iter().find(|one| one.words == path) {
                if json {
                    before = vec!["--format".into(), "json".into()];
                }
                let mut rest: Vec<OsString> = words.cloned().collect();
                if help {
                    rest.push("--help".into());
                }
                return Some(Self {
                    delegated,
                    before,
                    rest,
                });
            }
            if !DELEGATED.iter().any(|one| one.words.starts_with(&path)) {
                return None;
            }
        }
        None
    }

    /// What stands behind `own` of `keywright hsm`, as the menu has it.
    pub fn of_token(name: &str, words: &[String]) -> Option<Self> {
        let delegated = DELEGATED.iter().find(|one| one.words == ["hsm", name])?;
        Some(Self {
            delegated,
            before: Vec::new(),
            rest: words.iter().map(OsString::from).collect(),
        })
    }

    /// The name of the `hsm` command, whose failures have a document of their own.
    pub fn token_command(&self) -> Option<&'static str> {
        match self.delegated.words {
            ["benchmark"] => Some("benchmark"),
            ["hsm", name] => Some(name),
            _ => None,
        }
    }

    /// The program with these words.
    pub fn command(&self) -> Result<Command, Failure> {
        let mut command = sibling(BENCH)?;
        command.arg0(self.delegated.name());
        command.args(&self.before).args(self.delegated.own);
        command.args(&self.rest);
        Ok(command)
    }

    /// Puts the other program in the place of this one. Comes back only if it failed.
    pub fn carry_out(&self) -> Failure {
        match self.command() {
            Ok(mut command) => {
                let error = command.exec();
                unstartable(Path::new(command.get_program()), &error)
            }
            Err(failure) => failure,
        }
    }
}

/// That a program beside this one does not start.
pub fn unstartable(program: &Path, error: &io::Error) -> Failure {
    Failure::new(
        Exit::Internal,
        format!("{} cannot be started: {error}", program.display()),
        "see whether it is a program of this machine, and reinstall it if not",
    )
}

/// The words of `keywright` as they were typed, of those that `keywright-bench` was started with by it; none if it was
/// started in another way.
pub fn typed(arguments: &[OsString]) -> Option<Vec<OsString>> {
    variable().and_then(|_| retyped(arguments))
}

fn retyped(arguments: &[OsString]) -> Option<Vec<OsString>> {
    let (name, mut rest) = arguments.split_first()?;
    let delegated = DELEGATED
        .iter()
        .find(|one| name == OsStr::new(&one.name()))?;
    let mut words = vec![OsString::from(KEYWRIGHT)];
    while let Some(word) = rest.first() {
        let taken = match word.to_str() {
            Some("--format") => 2,
            Some(word) if word.starts_with("--format=") => 1,
            _ => break,
        };
        let (flag, after) = rest.split_at_checked(taken)?;
        words.extend_from_slice(flag);
        rest = after;
    }
    words.extend(delegated.words.iter().map(OsString::from));
    let own = usize::from(delegated.own.is_some());
    words.extend_from_slice(rest.get(own..)?);
    Some(words)
}

/// Refuses to work for another version of `keywright`.
pub fn check_version() -> Result<(), Failure> {
    match variable() {
        Some(version) if version != VERSION => Err(Failure::new(
            Exit::Usage,
            format!(
                "{BENCH} {VERSION} does not match {KEYWRIGHT} {}",
                version.to_string_lossy()
            ),
            "install both packages in the same version",
        )),
        _ => Ok(()),
    }
}

fn variable() -> Option<OsString> {
    #[expect(clippy::disallowed_methods, reason = "the faces read the environment")]
    std::env::var_os(VARIABLE)
}

/// The program of this name beside this one, to be started.
pub fn sibling(name: &str) -> Result<Command, Failure> {
    let mut command = Command::new(find(name)?);
    command.env(VARIABLE, VERSION);
    Ok(command)
}

/// Where the program of this name is: in the folder of this one, or in `../libexec/keywright` from there.
pub fn find(name: &str) -> Result<PathBuf, Failure> {
    let own = Path::new("/proc/self/exe");
    let own = std::fs::read_link(own).map_err(|error| Failure::file(own, "read", &error))?;
    find_beside(&own, name)
}

fn find_beside(own: &Path, name: &str) -> Result<PathBuf, Failure> {
    let folder = own.parent().unwrap_or(Path::new("/"));
    for folder in [folder.to_owned(), folder.join("../libexec/keywright")] {
        let path = folder.join(name);
        match std::fs::symlink_metadata(&path) {
            Ok(about) => return trusted(&path, &about).map(|()| path),
            Err(error) if is_absence(&error) => {}
            Err(error) => return Err(Failure::file(&path, "looked at", &error)),
        }
    }
    Err(Failure::new(
        Exit::Unsupported,
        format!("{name} is not installed beside {}", own.display()),
        match name {
            KEYWRIGHT => {
                "install the keywright package, or name the program with --program FILE".to_owned()
            }
            _ => format!("install the {name} package"),
        },
    ))
}

fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Refuses a file that others than root and the caller could have written.
fn trusted(path: &Path, about: &std::fs::Metadata) -> Result<(), Failure> {
    let refused = |reason: String, advice: String| {
        let happened = format!("{} {reason}", path.display());
        Err(Failure::new(Exit::Refused, happened, advice))
    };
    let mode = about.mode() & 0o7777;
    if !about.is_file() {
        return refused(
            "is not a regular file".to_owned(),
            "reinstall the package that it belongs to".to_owned(),
        );
    }
    if about.uid() != 0 && about.uid() != rustix::process::geteuid().as_raw() {
        return refused(
            format!("is owned by uid {}", about.uid()),
            "make root or yourself its owner, or reinstall its package".to_owned(),
        );
    }
    if mode & 0o022 != 0 {
        return refused(
            format!("can be changed by its group or by others (mode {mode:04o})"),
            format!("run chmod go-w {}", path.display()),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    /// The program's name and words for a line of `keywright`.
    fn handed_on(line: &str) -> Option<(String, Vec<OsString>)> {
        let delegation = Delegation::read(&words(line))?;
        let mut all = delegation.before;
        all.extend(delegation.delegated.own.map(OsString::from));
        all.extend(delegation.rest);
        Some((delegation.delegated.name(), all))
    }

    #[test]
    fn delegated_words_become_those_of_the_other_program() {
        for (line, name, expected) in [
            ("bench", "keywright bench", ""),
            ("bench op x -q", "keywright bench", "op x -q"),
            (
                "--format json bench list",
                "keywright bench",
                "--format json list",
            ),
            (
                "--format=csv benchmark",
                "keywright benchmark",
                "--format=csv token",
            ),
            (
                "hsm benchmark --json",
                "keywright hsm benchmark",
                "token --json",
            ),
            (
                "hsm --json analyze f",
                "keywright hsm analyze",
                "--format json calls f",
            ),
            ("vectors run a b", "keywright vectors run", "vectors a b"),
            ("session demo", "keywright session demo", "session-demo"),
            ("help bench op", "keywright bench", "op --help"),
            ("hsm help analyze", "keywright hsm analyze", "calls --help"),
        ] {
            let (found, rest) = handed_on(line).unwrap();
            assert_eq!((found.as_str(), rest), (name, words(expected)), "{line}");
        }
    }

    #[test]
    fn the_other_program_knows_what_was_typed() {
        for (line, typed) in [
            ("bench", "bench"),
            ("bench op x -q", "bench op x -q"),
            ("--format json bench list", "--format json bench list"),
            ("--format=csv benchmark", "--format=csv benchmark"),
            ("hsm --json analyze f", "--format json hsm analyze f"),
            ("vectors run a b", "vectors run a b"),
            ("help bench op", "bench op --help"),
        ] {
            let (name, rest) = handed_on(line).unwrap();
            let arguments: Vec<OsString> = std::iter::once(name.into()).chain(rest).collect();
            let expected = words(&format!("keywright {typed}"));
            assert_eq!(retyped(&arguments), Some(expected), "{line}");
        }
        assert_eq!(retyped(&words("keywright-bench op x")), None);
    }

    #[test]
    fn other_words_stay() {
        for line in [
            "",
            "demo",
            "hsm",
            "hsm sign",
            "hsm --json",
            "vectors",
            "vectors --help",
            "session",
            "help",
            "help hsm",
            "--help bench",
            "--format",
            "--bogus bench",
            "hsm --label a benchmark",
        ] {
            assert!(handed_on(line).is_none(), "{line}");
        }
    }

    #[test]
    fn a_sibling_is_a_file_that_nobody_else_writes() {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        let libexec = folder.path().join("libexec/keywright");
        std::fs::create_dir(&bin).unwrap();
        std::fs::create_dir_all(&libexec).unwrap();
        let own = bin.join("keywright");
        let mode = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        let absent = find_beside(&own, BENCH).unwrap_err();
        assert_eq!(absent.exit, Exit::Unsupported);
        assert_eq!(
            absent.happened,
            format!("keywright-bench is not installed beside {}", own.display())
        );
        assert_eq!(absent.advice, "install the keywright-bench package");

        let far = libexec.join(BENCH);
        std::fs::write(&far, "").unwrap();
        mode(&far, 0o755);
        let found = find_beside(&own, BENCH).unwrap();
        assert_eq!(found.canonicalize().unwrap(), far.canonicalize().unwrap());

        let near = bin.join(BENCH);
        std::fs::write(&near, "").unwrap();
        for (bits, good) in [(0o755, true), (0o700, true), (0o775, false), (0o757, false)] {
            mode(&near, bits);
            let found = find_beside(&own, BENCH);
            // A bad one is refused; the other place is not a way around that.
            assert_eq!(found.is_ok(), good, "{bits:o}");
            if let Err(failure) = found {
                assert_eq!(failure.exit, Exit::Refused);
                assert!(failure.advice.contains("chmod go-w"), "{failure:?}");
            }
        }
        std::fs::remove_file(&near).unwrap();
        symlink(&far, &near).unwrap();
        assert_eq!(find_beside(&own, BENCH).unwrap_err().exit, Exit::Refused);
        std::fs::remove_file(&near).unwrap();
        std::fs::create_dir(&near).unwrap();
        assert_eq!(find_beside(&own, BENCH).unwrap_err().exit, Exit::Refused);
    }
}
