//! The text of OpenSC's `pkcs11-spy`, as OpenSC 0.23 writes it.
//!
//! ```text
//! 12: C_SignInit
//! 2026-11-21 02:36:58.432
//! [in] hSession = 0x1
//! [in] pMechanism->type = CKM_ECDSA
//! [in] hKey = 0x2
//! Returned:  0 CKR_OK
//! ```
//!
//! Times are local and have no zone; there are no durations, processes or threads. Numbers begin again at 0 with
//! each process, and processes write into one file. What it prints of PINs and data is passed over: of such a line
//! nothing is kept, not even in an error. Where a call begins before the one above has answered, threads are at
//! work or a process has ended: the first is marked and believed in nothing but its name.
//!
//! Not here: the parameters of mechanisms. The spy prints them as the bytes of a C structure, nonces behind
//! pointers, so that reuse cannot be seen.

mod field;

use std::borrow::Cow;

use keywright_pkcs11_names::{CallRecord, ReturnCode};

use crate::moment::Zone;
use crate::reader::{Ending, Origin, Seen, printable};

pub(crate) use field::{Line, classify};

/// What a line was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    Known,
    Secret,
    Nothing,
}

/// Reads the text, line by line.
#[derive(Debug)]
pub(crate) struct Spy {
    zone: Zone,
    run: u64,
    /// Nothing of this run was read yet.
    fresh: bool,
    module: Option<String>,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    record: CallRecord<'static>,
    time: Option<i64>,
    line: u64,
}

impl Spy {
    pub(crate) const fn new(zone: Zone) -> Self {
        Self {
            zone,
            run: 1,
            fresh: true,
            module: None,
            open: None,
        }
    }

    /// Whether a call of the spy was met. Other lines of its text also stand in files that it never wrote.
    pub(crate) const fn has_called(&self) -> bool {
        self.run > 1 || !self.fresh
    }

    /// Takes a line; a call that ends with it goes to `each`.
    pub(crate) fn line(
        &mut self,
        number: u64,
        line: &[u8],
        each: &mut dyn FnMut(&Seen<'_>),
    ) -> Said {
        match classify(line) {
            Line::Banner => {
                self.close(Ending::Incomplete, each);
                self.next_run();
                self.module = None;
            }
            Line::Loaded(name) => self.module = Some(printable(name, 128)),
            Line::Header(index, name) => {
                let ending = match index {
                    0 => Ending::Incomplete,
                    _ => Ending::Ambiguous,
                };
                self.close(ending, each);
                if index == 0 {
                    self.next_run();
                }
                self.begin(number, name);
            }
            Line::Returned(code) => match self.open.as_mut() {
                Some(open) => {
                    open.record.rv = Some(ReturnCode::new(code));
                    open.record.size_query |= code == ReturnCode::BUFFER_TOO_SMALL.value();
                    self.close(Ending::Answered, each);
                }
                // The answer of a call that another one interrupted, and that was told of already.
                None => return Said::Known,
            },
            Line::Time(text) => {
                if let Some(open) = self.open.as_mut().filter(|open| open.time.is_none()) {
                    let time = self.zone.read(text);
                    open.time = time.and_then(|time| i64::try_from(time).ok());
                }
            }
            Line::Field(field) => match self.open.as_mut() {
                Some(open) => field.apply(&mut open.record),
                None => return Said::Nothing,
            },
            Line::Dump => return Said::Secret,
            Line::Detail if self.open.is_some() => {}
            Line::Detail | Line::Other => return Said::Nothing,
        }
        Said::Known
    }

    /// The call that the log ends in.
    pub(crate) fn end(&mut self) -> Option<Seen<'static>> {
        self.open
            .take()
            .map(|open| self.seen(open, Ending::Incomplete))
    }

    /// Another process begins; its banner and its first call say so both.
    const fn next_run(&mut self) {
        if !self.fresh {
            self.run += 1;
            self.fresh = true;
        }
    }

    fn begin(&mut self, line: u64, name: &str) {
        let mut record = CallRecord::default();
        record.func = Cow::Owned(name.to_owned());
        record.module = self.module.clone().map(Cow::Owned);
        self.fresh = false;
        self.open = Some(Open {
            record,
            time: None,
            line,
        });
    }

    fn close(&mut self, ending: Ending, each: &mut dyn FnMut(&Seen<'_>)) {
        if let Some(open) = self.open.take() {
            each(&self.seen(open, ending));
        }
    }

    fn seen(&self, open: Open, ending: Ending) -> Seen<'static> {
        Seen {
            record: open.record,
            time: open.time,
            process: (Origin::Spy, self.run),
            line: open.line,
            ending,
        }
    }
}
