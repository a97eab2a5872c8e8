//! A client made of a socket, for saying to the dashboard what no library would.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use keywright_clock::{Clock, WallTime};
use keywright_measure::Word;
use keywright_measure::event::{Event, Observer};
use keywright_report::live::Live;
use keywright_report::live::web::{Exposure, Library, Limits, RunEntry, Running, start};

/// Longer than anything takes; only a test that fails waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A dashboard on loopback over `events`, at the time of the last of them.
pub(crate) fn dashboard(limits: Limits, events: &[(u64, Event)]) -> (Running, Arc<Live>) {
    let (clock, hand) = Clock::simulated(WallTime::from_unix_seconds(0));
    let live = Arc::new(Live::new(clock, 1));
    for (at, event) in events {
        hand.advance(Duration::from_nanos(at.saturating_sub(live.now_ns())));
        live.event(event);
    }
    let exposure = Exposure::Loopback { port: 0 };
    let running = start(exposure, limits, Arc::clone(&live), Arc::new(Shelf)).unwrap();
    (running, live)
}

/// So that news is told at once.
pub(crate) fn quick() -> Limits {
    Limits {
        frame_every: Duration::from_millis(5),
        ..Limits::default()
    }
}

/// Two runs, one of them with a report.
pub(crate) struct Shelf;

impl Library for Shelf {
    fn runs(&self) -> Vec<RunEntry> {
        let entry = |id: &str, verdict| RunEntry {
            id: id.into(),
            started: "2026-01-31T23:59:59Z".into(),
            cases: 3,
            verdict: Some(verdict),
            exit: "ok".into(),
            note: "<b>\"note\"</b>".into(),
        };
        vec![
            entry("9f2c41d07be8a365", Word::Saturated),
            entry("1b5a6eee90cc4d12", Word::Valid),
        ]
    }

    fn report(&self, id: &str) -> Option<String> {
        let page = || keywright_report::html::render(&crate::documents::rich());
        (id == "9f2c41d07be8a365").then(page)
    }
}

/// An answer that has come whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(crate) fn read(stream: &mut impl Read) -> Self {
        let mut bytes = Vec::new();
        // A peer that closes after its answer may reset what was not read; the answer has come by then.
        drop(stream.read_to_end(&mut bytes));
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        Self {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }
}

pub(crate) fn connect(addr: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Sends bytes as they are and reads until the server closes.
pub(crate) fn raw(addr: SocketAddr, request: &str) -> Answer {
    let mut stream = connect(addr);
    stream.write_all(request.as_bytes()).unwrap();
    Answer::read(&mut stream)
}

/// One request with further header lines, each ended by CR LF.
pub(crate) fn ask(addr: SocketAddr, line: &str, more: &str) -> Answer {
    raw(
        addr,
        &format!("{line} HTTP/1.1\r\nhost: {addr}\r\nconnection: close\r\n{more}\r\n"),
    )
}

pub(crate) fn get(addr: SocketAddr, path: &str) -> Answer {
    ask(addr, &format!("GET {path}"), "")
}

/// Somebody who follows the events.
pub(crate) struct Follower {
    pub(crate) stream: TcpStream,
    text: String,
}

impl Follower {
    pub(crate) fn new(addr: SocketAddr) -> Self {
        let mut stream = connect(addr);
        write!(stream, "GET /events HTTP/1.1\r\nhost: {addr}\r\n\r\n").unwrap();
        Self {
            stream,
            text: String::new(),
        }
    }

    /// Everything up to the next place where `end` stands; `None` if the stream ends before.
    pub(crate) fn until(&mut self, end: &str) -> Option<String> {
        let mut buffer = [0; 65_536];
        loop {
            if let Some(at) = self.text.find(end) {
                let rest = self.text.split_off(at + end.len());
                return Some(std::mem::replace(&mut self.text, rest));
            }
            match self.stream.read(&mut buffer) {
                Ok(0) | Err(_) => return None,
                Ok(count) => self.text += std::str::from_utf8(&buffer[..count]).unwrap(),
            }
        }
    }

    /// The data of the next event.
    pub(crate) fn snapshot(&mut self) -> Option<serde_json::Value> {
        self.until("event: snapshot\ndata: ")?;
        let data = self.until("\n\n")?;
        Some(serde_json::from_str(data.trim_end()).unwrap())
    }
}
