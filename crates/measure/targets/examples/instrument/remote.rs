//! The other side of a check, seen from this one: a process of its own on a core of its own.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use keywright_clock::Clock;
use keywright_measure::ledger::Outcome;
use keywright_targets::http::{
    Call, Carrier, Draw, Endpoint, Exchange, Lines, Look, Prepared, Reply, Step, service_fault,
};
use keywright_tls::{ClientIdentity, Protocol, client_config};
use serde_json::Value;

use crate::Failure;
use crate::serve::ANSWER;

/// Connections to the server, and requests on each at a time.
const CONNECTIONS: u32 = 4;
const STREAMS: u32 = 16;
/// Most requests at a time.
pub(crate) const PLACES: u32 = CONNECTIONS * STREAMS;

/// When a server stands still, and for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Freeze {
    pub(crate) request: u64,
    pub(crate) length: Duration,
}

impl Freeze {
    pub(crate) const NEVER: Self = Self {
        request: 0,
        length: Duration::ZERO,
    };

    /// After so many requests.
    pub(crate) fn after(requests: f64, length: Duration) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and as many as a test sends"
        )]
        let request = requests as u64;
        Self { request, length }
    }
}

/// A process that ends with its input, or when this is dropped.
pub(crate) struct OtherSide {
    child: Child,
    input: Option<ChildStdin>,
    pub(crate) said: Value,
}

impl OtherSide {
    /// Starts this program again as `what`, and reads the one line that it says first.
    pub(crate) fn start(what: &[String], cpu: Option<u32>) -> Result<Self, Failure> {
        let program = std::env::current_exe()?;
        let mut command = match cpu {
            None => Command::new(program),
            Some(cpu) => {
                let mut command = Command::new("taskset");
                command.arg("-c").arg(cpu.to_string()).arg(program);
                command
            }
        };
        command.arg("other-side").args(what);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let mut started = Self {
            child,
            input,
            said: Value::Null,
        };
        let mut line = String::new();
        if let Some(output) = output {
            BufReader::new(output.take(1 << 16)).read_line(&mut line)?;
        }
        started.said = serde_json::from_str(&line)?;
        Ok(started)
    }

    /// A server of this kind.
    pub(crate) fn serving(kind: &str, freeze: Freeze, cpu: Option<u32>) -> Result<Self, Failure> {
        let length = freeze.length.as_nanos().to_string();
        Self::start(&[kind.to_owned(), freeze.request.to_string(), length], cpu)
    }

    /// A text from what it said.
    pub(crate) fn text(&self, name: &str) -> Result<&str, Failure> {
        let text = self.said[name].as_str();
        text.ok_or_else(|| format!("the other side does not say its {name}").into())
    }

    pub(crate) fn address(&self) -> Result<SocketAddr, Failure> {
        Ok(self.text("address")?.parse()?)
    }
}

impl Drop for OtherSide {
    fn drop(&mut self) {
        drop(self.input.take());
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A server of HTTP/2 over TLS that answers at once, unless it stands still.
pub(crate) struct Http(OtherSide);

impl Http {
    pub(crate) fn start(freeze: Freeze, cpu: Option<u32>) -> Result<Self, Failure> {
        OtherSide::serving("http", freeze, cpu).map(Self)
    }

    /// Connections to it.
    pub(crate) fn carrier(&self) -> Result<Carrier<Null>, Failure> {
        let (certificate, key) = (self.0.text("certificate")?, self.0.text("key")?);
        let identity = ClientIdentity::from_pem(certificate.as_bytes(), key.as_bytes())?;
        let roots = self.0.text("authority")?.as_bytes();
        let protocols = [Protocol::Http2];
        let tls = client_config(roots, Some(identity), &protocols, &Clock::system())?;
        let url = format!("https://{}", self.0.address()?);
        let endpoint = Endpoint::new("null", &url, vec![tls], Protocol::Http2)?;
        let request = endpoint.prepare(Method::GET, "/", Bytes::new())?;
        Ok(Carrier::new(
            Lines::connect(endpoint, CONNECTIONS, STREAMS)?,
            Null(request),
        ))
    }
}

/// The same request over and over, with the same answer.
pub(crate) struct Null(Prepared);

impl Exchange for Null {
    type Ticket = ();

    fn restart(&mut self, _: u64) {}

    fn draw(&mut self, _: Option<u32>) -> Draw {
        Draw::default()
    }

    fn call(&mut self, _: Draw) -> Call<()> {
        Call {
            request: self.0.clone(),
            ticket: (),
        }
    }

    fn answer(&mut self, (): (), reply: &Reply, look: Look) -> Step<()> {
        Step::Done(match (reply.status.is_success(), look) {
            (false, _) => Outcome::Failed(service_fault(reply)),
            (true, Look::Past) => Outcome::Unchecked,
            (true, Look::Closely) if reply.body == ANSWER => Outcome::Verified,
            (true, Look::Closely) => Outcome::Wrong,
        })
    }
}
