//! What the environment says.
//!
//! | variable | what it is | without it |
//! |---|---|---|
//! | `KEYWRIGHT_P11_TARGET`, else `PKCS11_OBSERVE_TARGET`, else `PKCS11SPY` | the file of the real module | no call succeeds |
//! | `KEYWRIGHT_P11_LOG` | a file, `unix:` and the path of a datagram socket, `otlp:` and the address of a collector, or `stderr`; `%p` is the process | calls are forwarded, nothing is recorded |
//! | `KEYWRIGHT_P11_CLEAR_LABELS` | `1`: labels and ids as they are | tags |
//! | `KEYWRIGHT_P11_QUEUE` | records that may wait for the writer | 16384 |
//! | `KEYWRIGHT_P11_ROTATE` | the size at which a file is set aside: bytes, or with `K`, `M`, `G` | one file |
//! | `KEYWRIGHT_P11_KEEP` | how many files that were set aside are kept | 4 |
//! | `KEYWRIGHT_P11_WRITE` | `now`: each call is written before it comes back, except to a collector | a thread writes |

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use crate::collector::Endpoint;

const TARGETS: [&str; 3] = ["KEYWRIGHT_P11_TARGET", "PKCS11_OBSERVE_TARGET", "PKCS11SPY"];
const LOG: &str = "KEYWRIGHT_P11_LOG";
const CLEAR_LABELS: &str = "KEYWRIGHT_P11_CLEAR_LABELS";
const QUEUE: &str = "KEYWRIGHT_P11_QUEUE";
const ROTATE: &str = "KEYWRIGHT_P11_ROTATE";
const KEEP: &str = "KEYWRIGHT_P11_KEEP";
const WRITE: &str = "KEYWRIGHT_P11_WRITE";

/// How records are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) log: Log,
    pub(crate) labels: Labels,
    pub(crate) pace: Pace,
    /// Records that may wait.
    pub(crate) queue: usize,
    /// The file name of the real module.
    pub(crate) module: String,
    /// A variable whose value was not understood, so that its default holds.
    pub(crate) misread: Option<&'static str>,
}

/// Where lines go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Log {
    File {
        path: PathBuf,
        /// The size at which it is set aside.
        limit: Option<u64>,
        keep: u32,
    },
    Socket(PathBuf),
    Collector(Endpoint),
    StandardError,
}

/// How labels and ids are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Labels {
    Clear,
    Tagged,
}

/// Who writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// A thread, soon.
    Later,
    /// The caller, before the call comes back.
    Now,
}

/// What the log is to go to is not understood, and there is nothing that stands in for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unfit;

/// The process whose calls are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Process {
    /// The one that the variables were set for.
    First,
    /// A child of a fork of it; it gets a log of its own.
    Forked,
}

/// The file of the real module.
pub(crate) fn target(environment: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    TARGETS.into_iter().find_map(environment).map(PathBuf::from)
}

impl Settings {
    /// Reads them; nothing if nothing is to be recorded.
    ///
    /// # Errors
    /// [`Unfit`] for an address that is no collector's.
    pub(crate) fn read(
        environment: impl Fn(&str) -> Option<OsString>,
        process: Process,
        number: u32,
    ) -> Result<Option<Self>, Unfit> {
        let Some(log) = environment(LOG) else {
            return Ok(None);
        };
        let mut misread = None;
        let limit = number_of(&environment, ROTATE, &mut misread);
        let keep = number_of(&environment, KEEP, &mut misread);
        let queue = number_of(&environment, QUEUE, &mut misread);
        let module = target(&environment).unwrap_or_default();
        let now = word(&environment, WRITE, "now", &mut misread);
        let keep = keep.map_or(4, |keep| u32::try_from(keep).unwrap_or(4));
        let log = Log::read(&log, process, number)?.turning(limit, keep);
        Ok(Some(Self {
            labels: match word(&environment, CLEAR_LABELS, "1", &mut misread) {
                true => Labels::Clear,
                false => Labels::Tagged,
            },
            // A collector may take its time, and no call waits for it.
            pace: match now && !matches!(log, Log::Collector(_)) {
                true => Pace::Now,
                false => Pace::Later,
            },
            log,
            queue: usize::try_from(queue.unwrap_or(16_384))
                .unwrap_or(usize::MAX)
                .clamp(1, 1 << 20),
            module: module
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default(),
            misread,
        }))
    }
}

impl Log {
    fn read(value: &OsStr, process: Process, number: u32) -> Result<Self, Unfit> {
        if value == OsStr::new("stderr") {
            return Ok(Self::StandardError);
        }
        if let Some(path) = value.as_bytes().strip_prefix(b"unix:") {
            return Ok(Self::Socket(PathBuf::from(OsString::from_vec(
                path.to_vec(),
            ))));
        }
        if let Some(url) = value.as_bytes().strip_prefix(b"otlp:") {
            let url = std::str::from_utf8(url).map_err(|_| Unfit)?;
            return Ok(Self::Collector(Endpoint::parse(url).ok_or(Unfit)?));
        }
        let own = replaced(value.as_bytes(), &number.to_string());
        let path = match process {
            Process::Forked if own == value.as_bytes() => {
                [&own[..], b".", number.to_string().as_bytes()].concat()
            }
            _ => own,
        };
        Ok(Self::File {
            path: PathBuf::from(OsString::from_vec(path)),
            limit: None,
            keep: 0,
        })
    }

    fn turning(self, limit: Option<u64>, keep: u32) -> Self {
        match self {
            Self::File { path, .. } => Self::File { path, limit, keep },
            other => other,
        }
    }
}

/// `%p` in a path is the number of the process.
fn replaced(path: &[u8], number: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len());
    let mut rest = path;
    while let [first, after @ ..] = rest {
        if let [b'%', b'p', after @ ..] = rest {
            out.extend_from_slice(number.as_bytes());
            rest = after;
        } else {
            out.push(*first);
            rest = after;
        }
    }
    out
}

/// A number, with `K`, `M` or `G` for powers of 1024.
fn number_of(
    environment: impl Fn(&str) -> Option<OsString>,
    name: &'static str,
    misread: &mut Option<&'static str>,
) -> Option<u64> {
    let value = environment(name)?;
    let read = value.to_str().and_then(|text| {
        let (digits, shift) = match text.as_bytes().last()? {
            b'K' => (text.strip_suffix('K')?, 10),
            b'M' => (text.strip_suffix('M')?, 20),
            b'G' => (text.strip_suffix('G')?, 30),
            _ => (text, 0),
        };
        digits.parse::<u64>().ok()?.checked_mul(1 << shift)
    });
    let read = read.filter(|number| *number > 0);
    if read.is_none() {
        *misread = Some(name);
    }
    read
}

/// Whether a variable has the one value that it can have.
fn word(
    environment: impl Fn(&str) -> Option<OsString>,
    name: &'static str,
    word: &str,
    misread: &mut Option<&'static str>,
) -> bool {
    match environment(name) {
        None => false,
        Some(value) if value == word => true,
        Some(_) => {
            *misread = Some(name);
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)], process: Process) -> Option<Settings> {
        let find = |name: &str| {
            let pair = pairs.iter().find(|(known, _)| *known == name)?;
            Some(OsString::from(pair.1))
        };
        Settings::read(find, process, 77).unwrap()
    }

    fn path(settings: Settings) -> String {
        match settings.log {
            Log::File { path, .. } => path.display().to_string(),
            Log::Socket(path) => format!("unix:{}", path.display()),
            Log::Collector(endpoint) => format!("{endpoint:?}"),
            Log::StandardError => "stderr".into(),
        }
    }

    #[test]
    fn without_a_log_nothing_is_recorded() {
        assert_eq!(read(&[], Process::First), None);
        assert_eq!(read(&[(QUEUE, "5"), (WRITE, "now")], Process::First), None);
    }

    #[test]
    fn a_forked_child_has_a_file_of_its_own() {
        for (log, first, forked) in [
            ("/tmp/a.jsonl", "/tmp/a.jsonl", "/tmp/a.jsonl.77"),
            ("/tmp/a.%p.jsonl", "/tmp/a.77.jsonl", "/tmp/a.77.jsonl"),
            ("unix:/run/s", "unix:/run/s", "unix:/run/s"),
            ("stderr", "stderr", "stderr"),
        ] {
            assert_eq!(path(read(&[(LOG, log)], Process::First).unwrap()), first);
            assert_eq!(path(read(&[(LOG, log)], Process::Forked).unwrap()), forked);
        }
    }

    #[test]
    fn sizes_are_read_and_what_is_not_understood_is_named() {
        let limit = |text| {
            let settings = read(&[(LOG, "/l"), (ROTATE, text)], Process::First).unwrap();
            let Log::File { limit, .. } = settings.log else {
                unreachable!("a file")
            };
            (limit, settings.misread)
        };
        assert_eq!(limit("4096"), (Some(4096), None));
        assert_eq!(limit("64M"), (Some(64 << 20), None));
        for wrong in ["0", "-1", "64 M", "M", "x", "99999999999G", "1.5K"] {
            assert_eq!(limit(wrong), (None, Some(ROTATE)), "{wrong}");
        }
        for (name, value) in [(WRITE, "later"), (CLEAR_LABELS, "0"), (KEEP, "some")] {
            let settings = read(&[(LOG, "/l"), (name, value)], Process::First).unwrap();
            assert_eq!(settings.misread, Some(name));
            assert_eq!(
                (settings.pace, settings.labels),
                (Pace::Later, Labels::Tagged)
            );
        }
    }

    #[test]
    fn a_collector_has_an_address_and_is_never_waited_for() {
        let to = |url: &str| {
            let find = |name: &str| match name {
                LOG => Some(OsString::from(url)),
                WRITE => Some(OsString::from("now")),
                _ => None,
            };
            Settings::read(find, Process::First, 77)
        };
        let settings = to("otlp:http://127.0.0.1:4318").unwrap().unwrap();
        assert!(matches!(settings.log, Log::Collector(_)));
        assert_eq!((settings.pace, settings.misread), (Pace::Later, None));
        for wrong in ["otlp:", "otlp:https://host", "otlp:http://"] {
            assert_eq!(to(wrong), Err(Unfit), "{wrong}");
        }
    }

    #[test]
    fn the_first_variable_that_names_a_module_counts() {
        let find = |pairs: &'static [(&str, &str)]| {
            target(|name: &str| {
                let pair = pairs.iter().find(|(known, _)| *known == name)?;
                Some(OsString::from(pair.1))
            })
        };
        assert_eq!(find(&[]), None);
        let both = find(&[
            ("PKCS11SPY", "/spy.so"),
            ("KEYWRIGHT_P11_TARGET", "/real.so"),
        ]);
        assert_eq!(both, Some(PathBuf::from("/real.so")));
        assert_eq!(
            find(&[("PKCS11SPY", "/spy.so")]),
            Some(PathBuf::from("/spy.so"))
        );
    }
}
