//! An open-loop load generator over HTTP/2 and mutual TLS.
//!
//! Requests are due at fixed times, whatever becomes of those before them, and latency counts from the
//! time a request was due: a server that stalls is charged for everybody who had to wait (coordinated
//! omission). Nothing caps how many wait. A request that its connection has no free stream for waits
//! for one, on the clock.
//!
//! One thread, so that a benchmark can pin it. When the machine cannot offer what was asked for,
//! [`Outcome::worst_lateness`] says so; a run with much of it measures the generator.
//!
//! Not here: verdicts. Bodies should be small (a few KiB): the generator does not spare their memory.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::error::Error;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use h2::client::SendRequest;
use http::header::RETRY_AFTER;
use http::{Method, Request, StatusCode};
use keywright_clock::{Clock, MonotonicTime};
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::task::LocalSet;
use tokio_rustls::TlsConnector;

/// What is asked, and of whom.
#[derive(Clone)]
#[expect(clippy::exhaustive_structs, reason = "the arguments of a run, by name")]
pub struct Target {
    /// Where the server listens; its certificate is for `localhost`.
    pub address: SocketAddr,
    /// The client's TLS configuration; it must offer HTTP/2 alone.
    pub tls: Arc<rustls::ClientConfig>,
    /// The path of every request; the method is POST.
    pub path: String,
    /// The body of every request.
    pub body: Bytes,
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Target({}{})", self.address, self.path)
    }
}

/// How much is offered.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "the arguments of a run, by name")]
pub struct Offer {
    /// Requests per second.
    pub per_second: u32,
    /// For how long.
    pub duration: Duration,
    /// Connections, which take turns.
    pub connections: usize,
    /// How long after the last request is due its answer may still come. What has not come then is
    /// lost.
    pub patience: Duration,
}

/// Latencies of one kind of answer.
#[derive(Clone, Debug, Default)]
pub struct Latencies {
    nanos: Vec<u64>,
}

impl Latencies {
    /// How many there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.nanos.len()
    }

    /// The smallest latency that `share` of a thousand do not exceed; zero if there is none.
    #[must_use]
    pub fn per_mille(&self, share: usize) -> Duration {
        let rank = (self.nanos.len() * share).div_ceil(1000).max(1) - 1;
        Duration::from_nanos(self.nanos.get(rank).copied().unwrap_or(0))
    }

    /// The largest.
    #[must_use]
    pub fn worst(&self) -> Duration {
        self.per_mille(1000)
    }
}

/// What came of a run.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Outcome {
    /// Requests that were due.
    pub offered: u64,
    /// Answers of status 200 that the check found right.
    pub accepted: Latencies,
    /// Refusals by their stable code. Each had a body that names it.
    pub refused: BTreeMap<String, Latencies>,
    /// Refusals with status 503 and no `Retry-After`.
    pub without_retry_after: u64,
    /// Answers that were neither right nor a refusal of the service's form.
    pub wrong: u64,
    /// Requests without an answer: the connection failed, or patience ended.
    pub lost: u64,
    /// Why connections failed, and how many requests each cause took along.
    pub causes: BTreeMap<String, u64>,
    /// How late the generator itself was in handing over a request, at worst.
    pub worst_lateness: Duration,
    /// From the first due time to the last answer.
    pub took: Duration,
}

impl Outcome {
    /// Refusals of every code.
    #[must_use]
    pub fn refusals(&self) -> usize {
        self.refused.values().map(Latencies::count).sum()
    }
}

/// Offers requests to a server and waits for all answers. `check` looks at the body of each answer of
/// status 200.
///
/// Must not be called inside a runtime.
///
/// # Errors
/// If a connection cannot be made.
pub fn open_loop(
    target: &Target,
    offer: &Offer,
    check: impl Fn(&[u8]) -> bool + 'static,
) -> Result<Outcome, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    LocalSet::new().block_on(&runtime, run(target, offer, Rc::new(check)))
}

type Check = Rc<dyn Fn(&[u8]) -> bool>;

async fn run(target: &Target, offer: &Offer, check: Check) -> Result<Outcome, Box<dyn Error>> {
    let mut senders = Vec::new();
    for _ in 0..offer.connections.max(1) {
        senders.push(connect(target).await?);
    }
    let clock = Clock::system();
    let run = Rc::new(Run {
        start: clock.monotonic(),
        clock,
        body: target.body.clone(),
        uri: format!("https://localhost:{}{}", target.address.port(), target.path),
        check,
        outcome: RefCell::default(),
    });
    run.offer(offer, &senders).await;
    let end = run.clock.monotonic().plus(offer.patience);
    while run.waiting() > 0 && run.clock.monotonic() < end {
        tokio::time::sleep(TICK).await;
    }
    let mut outcome = run.outcome.borrow().clone();
    outcome.lost += outcome.offered - outcome.answered();
    outcome.took = run.clock.monotonic().since(run.start);
    let all = outcome.refused.values_mut().chain([&mut outcome.accepted]);
    all.for_each(|latencies| latencies.nanos.sort_unstable());
    Ok(outcome)
}

async fn connect(target: &Target) -> Result<SendRequest<Bytes>, Box<dyn Error>> {
    let tcp = TcpStream::connect(target.address).await?;
    tcp.set_nodelay(true)?;
    let name = ServerName::try_from("localhost")?;
    let tls = TlsConnector::from(Arc::clone(&target.tls))
        .connect(name, tcp)
        .await?;
    let (sender, connection) = h2::client::Builder::new()
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .handshake(tls)
        .await?;
    // Ends with its senders or with the server; what it leaves unanswered is counted as lost.
    tokio::task::spawn_local(async move { drop(connection.await) });
    Ok(sender)
}

/// What the requests of one run share.
struct Run {
    start: MonotonicTime,
    clock: Clock,
    body: Bytes,
    uri: String,
    check: Check,
    outcome: RefCell<Outcome>,
}

impl Run {
    /// Hands each request over when it is due.
    async fn offer(self: &Rc<Self>, offer: &Offer, senders: &[SendRequest<Bytes>]) {
        let rate = u64::from(offer.per_second.max(1));
        let total = u64::try_from(offer.duration.as_nanos()).unwrap_or(u64::MAX);
        let total = due_by(total, rate);
        let mut turn = senders.iter().cycle();
        let mut sent = 0;
        while sent < total {
            let elapsed = self.clock.monotonic().since(self.start);
            let due = due_by(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX), rate);
            for number in sent..due.min(total) {
                let due = self.start.plus(due_time(number, rate));
                self.note_lateness(due);
                if let Some(sender) = turn.next() {
                    let one = Rc::clone(self).one(sender.clone(), due);
                    tokio::task::spawn_local(one);
                }
            }
            sent = due.min(total);
            tokio::time::sleep(TICK).await;
        }
    }

    fn note_lateness(&self, due: MonotonicTime) {
        let late = self.clock.monotonic().since(due);
        let mut outcome = self.outcome.borrow_mut();
        outcome.offered += 1;
        outcome.worst_lateness = outcome.worst_lateness.max(late);
    }

    async fn one(self: Rc<Self>, sender: SendRequest<Bytes>, due: MonotonicTime) {
        let answer = self.exchange(sender).await;
        let took = self.clock.monotonic().since(due);
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let mut outcome = self.outcome.borrow_mut();
        match answer {
            Ok((status, _, body)) if status == StatusCode::OK && (self.check)(&body) => {
                outcome.accepted.nanos.push(took);
            }
            Ok((status, retry_after, body)) if status != StatusCode::OK => match code(&body) {
                Some(code) => {
                    let bare = status == StatusCode::SERVICE_UNAVAILABLE && !retry_after;
                    outcome.without_retry_after += u64::from(bare);
                    outcome.refused.entry(code).or_default().nanos.push(took);
                }
                None => outcome.wrong += 1,
            },
            Ok(_) => outcome.wrong += 1,
            Err(error) => {
                outcome.lost += 1;
                *outcome.causes.entry(error.to_string()).or_default() += 1;
            }
        }
    }

    /// Status, whether there was a `Retry-After`, and the body.
    async fn exchange(
        &self,
        sender: SendRequest<Bytes>,
    ) -> Result<(StatusCode, bool, BytesMut), Box<dyn Error>> {
        let mut sender = sender.ready().await?;
        let request = Request::builder()
            .method(Method::POST)
            .uri(&self.uri)
            .header(http::header::CONTENT_TYPE, "application/json")
            .body(())?;
        let (response, mut stream) = sender.send_request(request, false)?;
        stream.send_data(self.body.clone(), true)?;
        let (head, mut body) = response.await?.into_parts();
        let mut whole = BytesMut::new();
        while let Some(piece) = body.data().await {
            let piece = piece?;
            body.flow_control().release_capacity(piece.len())?;
            whole.extend_from_slice(&piece);
        }
        Ok((head.status, head.headers.contains_key(RETRY_AFTER), whole))
    }

    fn waiting(&self) -> u64 {
        let outcome = self.outcome.borrow();
        outcome.offered - outcome.answered()
    }
}

impl Outcome {
    fn answered(&self) -> u64 {
        (self.accepted.count() + self.refusals()) as u64 + self.wrong + self.lost
    }
}

/// How many requests are due by `nanos` after the start.
fn due_by(nanos: u64, per_second: u64) -> u64 {
    let due = u128::from(nanos) * u128::from(per_second) / 1_000_000_000;
    u64::try_from(due).unwrap_or(u64::MAX)
}

fn due_time(number: u64, per_second: u64) -> Duration {
    let nanos = u128::from(number) * 1_000_000_000 / u128::from(per_second);
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// The stable code of a refusal.
fn code(body: &[u8]) -> Option<String> {
    let body: serde_json::Value = serde_json::from_slice(body).ok()?;
    body["error"]["code"].as_str().map(str::to_owned)
}

/// Room for the answers of all streams of a connection at once. With less, answers come in crumbs, and
/// the protocol library takes a server that sends many crumbs for an attacker.
const CONNECTION_WINDOW: u32 = 64 << 20;
const STREAM_WINDOW: u32 = 1 << 20;

/// How often the generator looks at the clock; requests of one look leave together.
const TICK: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_due_at_even_times_and_none_is_left_out() {
        for rate in [1, 3, 1000, 50_000] {
            let second = due_by(1_000_000_000, rate);
            assert_eq!(second, rate);
            for number in 0..rate.min(2000) {
                let nanos = u64::try_from(due_time(number, rate).as_nanos()).unwrap();
                assert!(due_by(nanos, rate) <= number);
                assert!(due_by(nanos + 1_000_000_000 / rate + 1, rate) > number);
            }
        }
    }

    #[test]
    fn quantiles_are_of_the_values_that_were_seen() {
        let latencies = Latencies {
            nanos: (1..=1000).collect(),
        };
        assert_eq!(latencies.per_mille(500), Duration::from_nanos(500));
        assert_eq!(latencies.per_mille(990), Duration::from_nanos(990));
        assert_eq!(latencies.worst(), Duration::from_nanos(1000));
        assert_eq!(Latencies::default().worst(), Duration::ZERO);
        assert_eq!(
            Latencies { nanos: vec![7] }.per_mille(1),
            Duration::from_nanos(7)
        );
    }
}
