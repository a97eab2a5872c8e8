//! Logs made line by line.

use std::fmt::Write as _;

use keywright_calls::{Analyzer, Options, Report};

/// A log of the recorder in the making.
#[derive(Default)]
pub(crate) struct Log {
    text: String,
    /// Nanoseconds since the log began.
    pub(crate) now: u64,
    pub(crate) pid: u64,
}

/// A call to write down.
#[derive(Clone, Copy)]
pub(crate) struct Made {
    pub(crate) func: &'static str,
    pub(crate) rv: u64,
    pub(crate) nanos: u64,
    pub(crate) session: u64,
    /// Fields of one's own, with a comma before them.
    pub(crate) more: &'static str,
}

impl Made {
    pub(crate) const fn of(func: &'static str) -> Self {
        Self {
            func,
            rv: 0,
            nanos: 1000,
            session: 1,
            more: "",
        }
    }

    pub(crate) const fn rv(mut self, rv: u64) -> Self {
        self.rv = rv;
        self
    }

    pub(crate) const fn took(mut self, nanos: u64) -> Self {
        self.nanos = nanos;
        self
    }

    pub(crate) const fn session(mut self, session: u64) -> Self {
        self.session = session;
        self
    }

    pub(crate) const fn more(mut self, more: &'static str) -> Self {
        self.more = more;
        self
    }
}

impl Log {
    pub(crate) fn call(&mut self, made: Made) -> &mut Self {
        let Made {
            func,
            rv,
            nanos,
            session,
            more,
        } = made;
        let (now, pid) = (self.now, self.pid);
        let (minutes, seconds) = (now / 60_000_000_000, now / 1_000_000_000 % 60);
        let part = now % 1_000_000_000;
        writeln!(
            self.text,
            "{{\"v\":\"1.0\",\"ts\":\"2026-11-21T02:{minutes:02}:{seconds:02}.{part:09}Z\",\"mono_ns\":{now},\"pid\":{pid},\
             \"func\":\"{func}\",\"rv\":{rv},\"dur_ns\":{nanos},\"slot_id\":7,\"session\":{session}{more}}}"
        )
        .unwrap();
        self.now += nanos;
        self
    }

    pub(crate) fn calls(&mut self, funcs: &[&'static str]) -> &mut Self {
        for func in funcs {
            self.call(Made::of(func));
        }
        self
    }

    /// A signature, in two calls.
    pub(crate) fn sign(&mut self) -> &mut Self {
        self.call(Made::of("C_SignInit").more(ECDSA))
            .calls(&["C_Sign"])
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn report(&self) -> Report {
        report(self.text.as_bytes())
    }
}

pub(crate) const ECDSA: &str =
    ",\"mech\":{\"value\":4161,\"name\":\"CKM_ECDSA\"},\"key\":{\"handle\":2}";

pub(crate) fn report(log: &[u8]) -> Report {
    let mut analyzer = Analyzer::new(Options::default());
    analyzer.push(log);
    analyzer.finish();
    analyzer.report()
}
