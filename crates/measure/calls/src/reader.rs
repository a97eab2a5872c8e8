//! Lines of either form as calls.
//!
//! A line that begins with a brace is a record in JSON; everything else is for the reader of the spy's text. Logs
//! of both kinds in one file are therefore read as well.

use std::collections::BTreeMap;

use keywright_encoding::terminal;
use keywright_pkcs11_names::CallRecord;

use crate::lines::{End, Lines};
use crate::moment::{self, Zone};
use crate::spy::{Said, Spy};

/// Where a call was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Origin {
    Recorder,
    OtherJson,
    Spy,
}

/// How a call ends in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With its answer.
    Answered,
    /// Another call stands before its answer, which cannot be told from others.
    Ambiguous,
    /// Without an answer: the process ended in it, or the log did.
    Incomplete,
}

/// A call.
#[derive(Debug)]
pub(crate) struct Seen<'a> {
    pub(crate) record: CallRecord<'a>,
    /// When it began, in nanoseconds since 1970.
    pub(crate) time: Option<i64>,
    /// The process, or the run of the spy.
    pub(crate) process: (Origin, u64),
    /// From 1.
    pub(crate) line: u64,
    pub(crate) ending: Ending,
}

/// What the reading itself came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
    pub(crate) unreadable: u64,
    pub(crate) first_unreadable: Option<u64>,
    pub(crate) cut: u64,
    pub(crate) torn: bool,
    pub(crate) foreign: BTreeMap<String, u64>,
    /// Lines of JSON that are records, of whatever version.
    pub(crate) records: u64,
    pub(crate) secret_lines: u64,
    first_secret: Option<u64>,
}

impl Tally {
    /// The same of a log in which the spy wrote no call: then lines that look like its bytes are not its bytes, but lines
    /// that say nothing.
    fn without_spy(&self) -> Self {
        let firsts = [self.first_unreadable, self.first_secret];
        Self {
            unreadable: self.unreadable + self.secret_lines,
            first_unreadable: firsts.into_iter().flatten().min(),
            secret_lines: 0,
            first_secret: None,
            ..self.clone()
        }
    }
}

/// Reads lines.
#[derive(Debug)]
pub(crate) struct Reader {
    lines: Lines,
    inner: Inner,
}

#[derive(Debug)]
struct Inner {
    spy: Spy,
    tally: Tally,
}

/// How many versions that are not known are kept apart.
const VERSIONS: usize = 16;

impl Reader {
    pub(crate) fn new(zone: Zone) -> Self {
        Self {
            lines: Lines::default(),
            inner: Inner {
                spy: Spy::new(zone),
                tally: Tally::default(),
            },
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8], mut each: impl FnMut(&Seen<'_>)) {
        let Self { lines, inner } = self;
        inner.tally.bytes += bytes.len() as u64;
        lines.push(bytes, |line, end| inner.line(line, end, &mut each));
    }

    pub(crate) fn finish(&mut self, mut each: impl FnMut(&Seen<'_>)) {
        let Self { lines, inner } = self;
        lines.finish(|line, end| inner.line(line, end, &mut each));
        if let Some(seen) = inner.spy.end() {
            each(&seen);
        }
    }

    pub(crate) fn tally(&self) -> Tally {
        let Inner { spy, tally } = &self.inner;
        match spy.has_called() {
            true => tally.clone(),
            false => tally.without_spy(),
        }
    }
}

impl Inner {
    fn line(&mut self, line: &[u8], end: End, each: &mut dyn FnMut(&Seen<'_>)) {
        self.tally.lines += 1;
        if end == End::Cut {
            self.tally.cut += 1;
            return;
        }
        if line.first() == Some(&b'{') {
            return self.json(line, end, each);
        }
        let said = self.spy.line(self.tally.lines, line, each);
        match said {
            Said::Known => {}
            Said::Secret => {
                self.tally.secret_lines += 1;
                self.tally.first_secret.get_or_insert(self.tally.lines);
            }
            Said::Nothing if line.iter().all(u8::is_ascii_whitespace) => {}
            Said::Nothing => self.unreadable(),
        }
    }

    fn unreadable(&mut self) {
        self.tally.unreadable += 1;
        self.tally.first_unreadable.get_or_insert(self.tally.lines);
    }

    fn json(&mut self, line: &[u8], end: End, each: &mut dyn FnMut(&Seen<'_>)) {
        let Ok(record) = serde_json::from_slice::<CallRecord<'_>>(line) else {
            match end {
                End::Torn => self.tally.torn = true,
                _ => self.unreadable(),
            }
            return;
        };
        self.tally.records += 1;
        if !record.v.is_empty() && !record.is_ours() {
            let known = self.tally.foreign.len() < VERSIONS;
            let version = printable(&record.v, 16);
            let version = match known || self.tally.foreign.contains_key(&version) {
                true => version,
                false => "other".to_owned(),
            };
            *self.tally.foreign.entry(version).or_default() += 1;
            return;
        }
        let origin = match record.v.is_empty() {
            true => Origin::OtherJson,
            false => Origin::Recorder,
        };
        let seen = Seen {
            time: moment::rfc3339(&record.ts).and_then(|time| i64::try_from(time).ok()),
            process: (origin, record.pid.unwrap_or_default()),
            line: self.tally.lines,
            ending: match record.rv {
                Some(_) => Ending::Answered,
                None => Ending::Incomplete,
            },
            record,
        };
        each(&seen);
    }
}

/// The first `most` characters of a text from outside, with nothing that a terminal obeys.
pub(crate) fn printable(text: &str, most: usize) -> String {
    let start: String = text.chars().take(most).collect();
    terminal::escaped(&start).into_owned()
}
