//! A list of certificates that are let in or kept out by what they are, beside what their authority says of them.
//!
//! ```text
//! keywright-clients 1
//! number 7
//! # left on Friday, before the authority's next list
//! deny key 5f0c...
//! deny serial 0a1b2c
//! deny issuer 91d2... serial 0a1b2c
//! ```
//!
//! A key is named by the SHA-256 of its SubjectPublicKeyInfo, an issuer by that of the key which signed the
//! certificate, all in lower-case hexadecimal digits. `deny` wins over `allow`; one `allow` in the list keeps out
//! everybody whom no `allow` names.
//! The number rises with every change: a list that is older than the one in force is refused, like an older
//! revocation list, and so is another one of the same number.
//!
//! Nothing is guessed: a line that is not understood refuses the whole list. Not here: who a certificate is.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use keywright_encoding::hex;
use keywright_types::Credential;

use crate::{Error, Older, Refusal};

/// Certificates that are let in or kept out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roster {
    number: u64,
    deny: Marks,
    allow: Marks,
}

/// What certificates are known by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Marks {
    keys: BTreeSet<[u8; 32]>,
    serials: BTreeSet<Vec<u8>>,
    /// Issuer and serial number.
    issued: BTreeSet<([u8; 32], Vec<u8>)>,
}

enum Mark {
    Key([u8; 32]),
    Serial(Vec<u8>),
    Issued([u8; 32], Vec<u8>),
}

/// What every list begins with.
const HEADING: &str = "keywright-clients 1";

/// RFC 5280, 4.1.2.2.
const LONGEST_SERIAL: usize = 20;

impl Roster {
    /// Reads a list.
    ///
    /// # Errors
    /// [`Error::Roster`] with the line that is wrong.
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        let wrong = |line: usize| Error::Roster { line };
        let text = std::str::from_utf8(text).map_err(|_| wrong(1))?;
        let mut lines = (1..).zip(text.lines());
        match lines.next() {
            Some((_, HEADING)) => {}
            _ => return Err(wrong(1)),
        }
        let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let (at, line) = lines.next().ok_or_else(|| wrong(2))?;
        let number = line.strip_prefix("number ").and_then(number);
        let mut roster = Self {
            number: number.ok_or_else(|| wrong(at))?,
            deny: Marks::default(),
            allow: Marks::default(),
        };
        for (at, line) in lines {
            roster.read(line).ok_or_else(|| wrong(at))?;
        }
        Ok(roster)
    }

    /// The list at the end of a text, and what stands before it: from the last line on that is its heading, since a list
    /// has no such line behind its first.
    #[must_use]
    pub fn split(text: &[u8]) -> (&[u8], Option<&[u8]>) {
        let begins = |at: &usize| {
            let before = at.checked_sub(1).and_then(|before| text.get(before));
            let line = text.get(*at..).unwrap_or_default();
            before.is_none_or(|byte| *byte == b'\n') && line.starts_with(HEADING.as_bytes())
        };
        match (0..text.len()).rfind(begins) {
            Some(at) => {
                let (before, list) = text.split_at(at);
                (before.strip_suffix(b"\n").unwrap_or(before), Some(list))
            }
            None => (text, None),
        }
    }

    /// One line; nothing if it is none, or stands there already.
    fn read(&mut self, line: &str) -> Option<()> {
        let (verdict, mark) = line.split_once(' ')?;
        let marks = match verdict {
            "deny" => &mut self.deny,
            "allow" => &mut self.allow,
            _ => return None,
        };
        let new = match Mark::parse(mark)? {
            Mark::Key(key) => marks.keys.insert(key),
            Mark::Serial(serial) => marks.serials.insert(serial),
            Mark::Issued(issuer, serial) => marks.issued.insert((issuer, serial)),
        };
        new.then_some(())
    }

    /// Whether a certificate is let in, which `issuer` has signed.
    pub(crate) fn judge(&self, credential: &Credential, issuer: &[u8; 32]) -> Result<(), Refusal> {
        if self.deny.name(credential, issuer) {
            return Err(Refusal::Denied);
        }
        match self.allow.is_empty() || self.allow.name(credential, issuer) {
            true => Ok(()),
            false => Err(Refusal::NotAllowed),
        }
    }

    /// Whether it must not come after `current`, and why.
    pub(crate) fn older_than(&self, current: &Self) -> Option<Older> {
        let (given, in_force) = (self.number, current.number);
        match given.cmp(&in_force) {
            Ordering::Less => Some(Older::Roster { given, in_force }),
            Ordering::Equal if self != current => Some(Older::SameNumber(given)),
            _ => None,
        }
    }
}

impl Marks {
    fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.serials.is_empty() && self.issued.is_empty()
    }

    fn name(&self, credential: &Credential, issuer: &[u8; 32]) -> bool {
        let serial = trimmed(&credential.serial);
        self.keys.contains(&credential.leaf_key)
            || self.serials.contains(serial)
            || self.issued.contains(&(*issuer, serial.to_vec()))
    }
}

impl Mark {
    fn parse(text: &str) -> Option<Self> {
        let words: Vec<_> = text.split(' ').collect();
        match words[..] {
            ["key", key] => digest(key).map(Self::Key),
            ["serial", number] => serial(number).map(Self::Serial),
            ["issuer", issuer, "serial", number] => {
                Some(Self::Issued(digest(issuer)?, serial(number)?))
            }
            _ => None,
        }
    }
}

/// A decimal number in its one form.
fn number(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

fn digest(text: &str) -> Option<[u8; 32]> {
    hex::decode(text).ok()?.try_into().ok()
}

fn serial(text: &str) -> Option<Vec<u8>> {
    let bytes = hex::decode(text).ok()?;
    let serial = trimmed(&bytes);
    // Nobody's number is zero, and a longer one is no serial number.
    (1..=LONGEST_SERIAL)
        .contains(&serial.len())
        .then(|| serial.to_vec())
}

/// Without the zeros in front that one writer puts there and another does not.
fn trimmed(serial: &[u8]) -> &[u8] {
    let start = serial.iter().position(|byte| *byte != 0);
    serial
        .get(start.unwrap_or(serial.len())..)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(lines: &str) -> Result<Roster, Error> {
        Roster::parse(format!("{HEADING}\nnumber 7\n{lines}").as_bytes())
    }

    fn line_of(refused: Result<Roster, Error>) -> usize {
        match refused {
            Err(Error::Roster { line }) => line,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_line_that_is_not_understood_refuses_the_list_and_is_named() {
        let key = "ab".repeat(32);
        let good =
            format!("# why\n\ndeny key {key}\nallow serial 00ff\nallow issuer {key} serial 01\n");
        assert_eq!(parse(&good).unwrap().number, 7);
        for bad in [
            "deny",
            "deny key",
            "deny key ab",
            "deny  serial 01",
            "deny serial 01 ",
            " deny serial 01",
            "DENY serial 01",
            "revoke serial 01",
            "deny serial 1",
            "deny serial 0x01",
            "deny serial",
            "deny serial 00",
            "deny serial 0102030405060708090a0b0c0d0e0f101112131415",
            "deny serial zz",
            "deny serial 0A",
            "deny name trading-1",
            "deny issuer ab serial 01",
            "deny serial 01 # why",
            "number 8",
            HEADING,
            "\u{feff}deny serial 01",
        ] {
            assert_eq!(line_of(parse(&format!("{good}{bad}\n"))), 8, "{bad}");
        }
        assert_eq!(
            line_of(parse("deny serial 01\ndeny serial 0001\n")),
            4,
            "twice"
        );
    }

    #[test]
    fn a_list_begins_with_its_heading_and_its_number() {
        for (text, line) in [
            ("", 1),
            ("keywright-clients 2\nnumber 1\n", 1),
            ("number 1\n", 1),
            (" keywright-clients 1\nnumber 1\n", 1),
            ("keywright-clients 1\n", 2),
            ("keywright-clients 1\n# only words\n", 2),
            ("keywright-clients 1\ndeny serial 01\n", 2),
            ("keywright-clients 1\nnumber\n", 2),
            ("keywright-clients 1\nnumber 01\n", 2),
            ("keywright-clients 1\nnumber +1\n", 2),
            ("keywright-clients 1\n\nnumber -1\n", 3),
            ("keywright-clients 1\nnumber 18446744073709551616\n", 2),
        ] {
            assert_eq!(line_of(Roster::parse(text.as_bytes())), line, "{text}");
        }
        assert_eq!(
            line_of(Roster::parse(b"keywright-clients 1\nnumber \xff\n")),
            1
        );
    }

    #[test]
    fn a_list_is_found_behind_other_files_and_nowhere_else() {
        let list = format!("{HEADING}\nnumber 1\n# {HEADING}\n");
        for before in [
            "",
            "-----END CERTIFICATE-----",
            "a\nb\n",
            "x keywright-clients 1",
        ] {
            let text = format!("{before}\n{list}");
            let expected = (before.as_bytes(), Some(list.as_bytes()));
            assert_eq!(Roster::split(text.as_bytes()), expected, "{before}");
        }
        assert_eq!(
            Roster::split(list.as_bytes()),
            (&b""[..], Some(list.as_bytes()))
        );
        for none in [
            "",
            "\n",
            "# keywright-clients 1\nnumber 1\n",
            "keywright-client 1\n",
        ] {
            assert_eq!(Roster::split(none.as_bytes()), (none.as_bytes(), None));
        }
    }

    #[test]
    fn a_lower_number_is_older_and_so_is_another_list_of_the_same() {
        let of = |number: u64, lines: &str| {
            Roster::parse(format!("{HEADING}\nnumber {number}\n{lines}").as_bytes()).unwrap()
        };
        let current = of(7, "deny serial 01\n");
        assert!(of(6, "deny serial 01\n").older_than(&current).is_some());
        assert!(of(7, "").older_than(&current).is_some());
        assert!(
            of(7, "# said otherwise\ndeny serial 0001\n")
                .older_than(&current)
                .is_none()
        );
        assert!(of(8, "").older_than(&current).is_none());
    }
}
