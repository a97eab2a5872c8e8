//! The first frame each way: which token, its PIN; and whether it opened.
//!
//! ```text
//! hello   "KWTOKEN1" | version u16 | memory u8 | sessions u32 | copies u8 | lp(module) | 4 x (0 | 1 lp(text)) | lp(pin)
//! opened  "KWTOKEN1" | version u16 | status u8 | by status:
//!         0 locked u8 | count u16 | count x (purpose u8 | algorithm u16 | operations u32, a bit each)
//!         1 the log-in was refused: lp(sentence)    2 anything else: lp(sentence)    3 another version: nothing
//! ```
//!
//! The four texts are label, serial number, manufacturer and model. Both ends are one program; the version tells a
//! program that was exchanged under a running service.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use keywright_custody::HolderOperation;
use keywright_encoding::{Reader, terminal};
use keywright_pkcs11::{Copies, TokenQuery};
use keywright_types::{Algorithm, KeySpec, Purpose};

use crate::frame::Buffer;
use crate::keeper::{Memory, Settings};
use crate::order::number_of;

/// What a child is told first.
pub(crate) struct Hello<'a> {
    pub(crate) memory: Memory,
    pub(crate) sessions: usize,
    pub(crate) copies: Copies,
    pub(crate) module: PathBuf,
    pub(crate) query: TokenQuery,
    pub(crate) pin: &'a [u8],
}

/// Why a hello was not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unheard {
    Version,
    Malformed,
}

pub(crate) fn put_hello(out: &mut Buffer, settings: &Settings) {
    put_magic(out);
    out.put_u8(match settings.memory {
        Memory::LeaveAlone => 0,
        Memory::Try => 1,
        Memory::Require => 2,
    });
    out.put_u32(u32::try_from(settings.sessions).unwrap_or(u32::MAX));
    out.put_u8(u8::from(settings.copies == Copies::WhereAllowed));
    out.put_lp(settings.module.as_os_str().as_bytes());
    let query = &settings.query;
    for text in [
        &query.label,
        &query.serial,
        &query.manufacturer,
        &query.model,
    ] {
        out.put_u8(u8::from(text.is_some()));
        if let Some(text) = text {
            out.put_lp(text.as_bytes());
        }
    }
    out.put_lp(settings.pin.expose());
}

pub(crate) fn read_hello(bytes: &[u8]) -> Result<Hello<'_>, Unheard> {
    let mut reader = Reader::new(bytes);
    match magic(&mut reader) {
        Some(VERSION) => {}
        Some(_) => return Err(Unheard::Version),
        None => return Err(Unheard::Malformed),
    }
    let hello = hello(&mut reader).ok_or(Unheard::Malformed)?;
    if reader.is_empty() {
        Ok(hello)
    } else {
        Err(Unheard::Malformed)
    }
}

fn hello<'a>(reader: &mut Reader<'a>) -> Option<Hello<'a>> {
    let memory = match reader.u8().ok()? {
        0 => Memory::LeaveAlone,
        1 => Memory::Try,
        2 => Memory::Require,
        _ => return None,
    };
    let sessions = reader.u32().ok()? as usize;
    let copies = match reader.u8().ok()? {
        0 => Copies::Never,
        1 => Copies::WhereAllowed,
        _ => return None,
    };
    let module = PathBuf::from(OsStr::from_bytes(reader.lp().ok()?));
    let mut text = || match reader.u8().ok()? {
        0 => Some(None),
        1 => String::from_utf8(reader.lp().ok()?.to_vec()).ok().map(Some),
        _ => None,
    };
    let query = TokenQuery {
        label: text()?,
        serial: text()?,
        manufacturer: text()?,
        model: text()?,
        slot: None,
    };
    Some(Hello {
        memory,
        sessions,
        copies,
        module,
        query,
        pin: reader.lp().ok()?,
    })
}

/// How a child answers a hello.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Opened {
    Open {
        locked: bool,
        able: Abilities,
    },
    /// The log-in was refused: the next try may lock the PIN.
    Refused(String),
    Failed(String),
    Version,
}

/// What keys of which kind can do in the token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Abilities(Vec<(Purpose, Algorithm, u32)>);

impl Abilities {
    /// Asks `supports` for each that there can be.
    pub(crate) fn of(supports: impl Fn(&KeySpec, HolderOperation) -> bool) -> Self {
        let mut all = Vec::new();
        for purpose in Purpose::ALL {
            for algorithm in Algorithm::ALL {
                let spec = spec(*purpose, *algorithm);
                let able = crate::order::OPERATIONS
                    .iter()
                    .filter(|operation| supports(&spec, **operation))
                    .fold(0, |able, operation| able | bit(*operation));
                if able != 0 {
                    all.push((*purpose, *algorithm, able));
                }
            }
        }
        Self(all)
    }

    pub(crate) fn can(&self, spec: &KeySpec, operation: HolderOperation) -> bool {
        self.kind(spec)
            .is_some_and(|able| able & bit(operation) != 0)
    }

    /// Whether such keys are kept at all.
    pub(crate) fn keeps(&self, spec: &KeySpec) -> bool {
        self.kind(spec).is_some()
    }

    fn kind(&self, asked: &KeySpec) -> Option<u32> {
        let own = spec(asked.purpose, asked.algorithm);
        let kinds = self.0.iter().filter(|_| own == *asked);
        let mut same = kinds.filter(|(purpose, algorithm, _)| {
            (*purpose, *algorithm) == (asked.purpose, asked.algorithm)
        });
        same.next().map(|(_, _, able)| *able)
    }
}

/// A key that is made in a token and stays there.
const fn spec(purpose: Purpose, algorithm: Algorithm) -> KeySpec {
    KeySpec {
        purpose,
        algorithm,
        custody: keywright_types::Custody::Token,
        ..KeySpec::seal()
    }
}

fn bit(operation: HolderOperation) -> u32 {
    1_u32
        .checked_shl(u32::from(number_of(operation)))
        .unwrap_or(0)
}

pub(crate) fn put_opened(out: &mut Buffer, opened: &Opened) {
    put_magic(out);
    match opened {
        Opened::Open { locked, able } => {
            out.put_u8(0);
            out.put_u8(u8::from(*locked));
            out.put_u16(u16::try_from(able.0.len()).unwrap_or(u16::MAX));
            for (purpose, algorithm, operations) in &able.0 {
                out.put_u8(purpose.number());
                out.put_u16(algorithm.number());
                out.put_u32(*operations);
            }
        }
        Opened::Refused(why) => put_sentence(out, 1, why),
        Opened::Failed(why) => put_sentence(out, 2, why),
        Opened::Version => out.put_u8(3),
    }
}

fn put_sentence(out: &mut Buffer, status: u8, sentence: &str) {
    out.put_u8(status);
    out.put_lp(sentence.as_bytes());
}

/// Reads how a child opened its token; `None` for anything else.
pub(crate) fn read_opened(bytes: &[u8]) -> Option<Opened> {
    let mut reader = Reader::new(bytes);
    if magic(&mut reader)? != VERSION {
        return Some(Opened::Version);
    }
    let opened = match reader.u8().ok()? {
        0 => {
            let locked = match reader.u8().ok()? {
                0 => false,
                1 => true,
                _ => return None,
            };
            let kinds = (0..reader.u16().ok()?).map(|_| {
                let purpose = Purpose::from_number(reader.u8().ok()?).ok()?;
                let algorithm = Algorithm::from_number(reader.u16().ok()?).ok()?;
                Some((purpose, algorithm, reader.u32().ok()?))
            });
            let able = Abilities(kinds.collect::<Option<_>>()?);
            Opened::Open { locked, able }
        }
        1 => Opened::Refused(sentence(&mut reader)?),
        2 => Opened::Failed(sentence(&mut reader)?),
        3 => Opened::Version,
        _ => return None,
    };
    reader.is_empty().then_some(opened)
}

/// One line for people. It is the child's, so nothing in it is believed, and no terminal is told what to do.
fn sentence(reader: &mut Reader<'_>) -> Option<String> {
    let text = terminal::escaped_bytes(reader.lp().ok()?);
    Some(text.chars().take(LONGEST_SENTENCE).collect())
}

fn put_magic(out: &mut Buffer) {
    out.put(MAGIC);
    out.put_u16(VERSION);
}

fn magic(reader: &mut Reader<'_>) -> Option<u16> {
    let found: &[u8; 8] = reader.array().ok()?;
    (found == MAGIC).then_some(())?;
    reader.u16().ok()
}

const MAGIC: &[u8; 8] = b"KWTOKEN1";
const VERSION: u16 = 1;
const LONGEST_SENTENCE: usize = 400;
/// No hello and no answer to one is longer.
pub(crate) const LONGEST: usize = 64 << 10;

/// Takes a hello apart: part of the body of a fuzz target.
pub fn fuzz_hello(data: &[u8]) {
    let _ = read_hello(data);
    let _ = read_opened(data);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use keywright_secret::SecretBytes;

    use super::*;

    fn settings() -> Settings {
        Settings {
            module: "/lib/module.so".into(),
            query: TokenQuery {
                serial: Some("7".to_owned()),
                ..TokenQuery::label("keys")
            },
            pin: SecretBytes::from_vec(b"1234".to_vec()),
            sessions: 6,
            copies: Copies::WhereAllowed,
            memory: Memory::Try,
            patience: Duration::from_secs(1),
        }
    }

    fn frame(write: impl FnOnce(&mut Buffer)) -> Vec<u8> {
        let mut out = Buffer::new();
        out.begin();
        write(&mut out);
        out.body().to_vec()
    }

    #[test]
    fn a_hello_comes_back_as_it_was_and_nothing_shorter_is_one() {
        let bytes = frame(|out| put_hello(out, &settings()));
        let hello = read_hello(&bytes).ok().unwrap();
        assert_eq!(hello.module, settings().module);
        assert_eq!(hello.query, settings().query);
        assert_eq!((hello.pin, hello.sessions), (&b"1234"[..], 6));
        assert_eq!(hello.copies, Copies::WhereAllowed);
        for end in 0..bytes.len() {
            assert!(read_hello(&bytes[..end]).is_err(), "{end}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert_eq!(read_hello(&longer).err(), Some(Unheard::Malformed));
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0xA5;
            fuzz_hello(&changed);
        }
    }

    #[test]
    fn another_version_is_told_apart_from_nonsense() {
        let mut bytes = frame(|out| put_hello(out, &settings()));
        bytes[9] = 2;
        assert_eq!(read_hello(&bytes).err(), Some(Unheard::Version));
        bytes[0] = b'x';
        assert_eq!(read_hello(&bytes).err(), Some(Unheard::Malformed));
    }

    #[test]
    fn what_a_token_can_do_comes_back_and_is_asked_for_its_own_keys_alone() {
        let seals = |spec: &KeySpec, operation| {
            spec.algorithm == Algorithm::TokenGcm12
                && spec.purpose == Purpose::Seal
                && operation == HolderOperation::Seal
        };
        let opened = Opened::Open {
            locked: true,
            able: Abilities::of(seals),
        };
        let bytes = frame(|out| put_opened(out, &opened));
        assert_eq!(read_opened(&bytes), Some(opened.clone()));
        let Opened::Open { able, .. } = opened else {
            panic!("open");
        };
        let own = spec(Purpose::Seal, Algorithm::TokenGcm12);
        assert!(able.can(&own, HolderOperation::Seal) && able.keeps(&own));
        assert!(!able.can(&own, HolderOperation::Sign));
        let wrapped = KeySpec {
            algorithm: Algorithm::TokenGcm12,
            ..KeySpec::seal()
        };
        assert!(!able.keeps(&wrapped));
        let sealed = KeySpec {
            export: keywright_types::Export::Sealed,
            ..own
        };
        assert!(!able.keeps(&sealed));
    }

    #[test]
    fn a_sentence_of_the_child_is_one_short_line() {
        let why = format!("a\u{1b}[2J\n{}", "x".repeat(4000));
        let bytes = frame(|out| put_opened(out, &Opened::Refused(why)));
        let Some(Opened::Refused(told)) = read_opened(&bytes) else {
            panic!("refused");
        };
        assert_eq!(told.chars().count(), LONGEST_SENTENCE);
        assert!(!told.contains(char::is_control));
        assert_eq!(read_opened(&bytes[..bytes.len() - 1]), None);
    }
}
