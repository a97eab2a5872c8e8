//! Connections, and the carrier that drives an exchange over them.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use keywright_measure::document::BlockRecord;
use keywright_measure::ledger::Ledger;
use keywright_measure::{Assignment, Carried, Fault, FaultPhase, TargetError};
use tokio::runtime::{Builder, Runtime};

use super::failure::unusable;
use super::line::{Handle, Line, Sent};
use super::run::Run;
use super::{Endpoint, Exchange, Prepared, Process, Reply};

/// Connections to one endpoint, and the event loop that they live on.
pub struct Lines {
    // Before the runtime, so that they end while it still exists.
    lines: Vec<Line>,
    endpoint: Rc<Endpoint>,
    streams: u32,
    runtime: Runtime,
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Lines")
            .field("endpoint", &self.endpoint.name())
            .field("connections", &self.lines.len())
            .field("streams", &self.streams)
            .finish_non_exhaustive()
    }
}

/// How long a single question may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Turns of tasks between two looks at the sockets.
const EVENT_INTERVAL: u32 = 16;

impl Lines {
    /// Opens `connections`, under the endpoint's identities in turn, for `streams` requests at a time
    /// each. HTTP/1.1 takes one at a time, whatever is asked for.
    ///
    /// # Errors
    /// [`TargetError::Unreachable`], [`TargetError::Authentication`] if TLS fails on either side,
    /// [`TargetError::Streams`] if the server takes fewer at a time, and [`TargetError::System`].
    pub fn connect(
        endpoint: Endpoint,
        connections: u32,
        streams: u32,
    ) -> Result<Self, TargetError> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .event_interval(EVENT_INTERVAL)
            .build()
            .map_err(|error| TargetError::System(format!("no event loop: {error}")))?;
        let endpoint = Rc::new(endpoint);
        let groups = endpoint.groups();
        let lines = (0..connections.max(1))
            .map(|number| Line::new(Rc::clone(&endpoint), number % groups))
            .collect();
        let streams = match endpoint.protocol {
            keywright_tls::Protocol::Http2 => streams.max(1),
            _ => 1,
        };
        let mut lines = Self {
            lines,
            endpoint,
            streams,
            runtime,
        };
        lines.restore()?;
        Ok(lines)
    }

    /// Opens again what was lost, and looks whether the server takes as much at a time as is asked for.
    fn restore(&mut self) -> Result<(), TargetError> {
        let lines = &mut self.lines;
        let restored = self.runtime.block_on(async {
            for line in lines {
                line.restore().await?;
            }
            Ok(())
        });
        restored.map_err(|fault| unusable(self.endpoint.name(), &fault))?;
        let least = self.lines.iter().filter_map(Line::allowed).min();
        match least.filter(|allowed| *allowed < self.streams) {
            Some(allowed) => Err(TargetError::Streams {
                target: self.endpoint.name().to_owned(),
                asked: self.streams,
                allowed,
            }),
            None => Ok(()),
        }
    }

    /// The endpoint.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Most requests in flight at once.
    #[must_use]
    pub fn places(&self) -> u32 {
        let connections = u32::try_from(self.lines.len()).unwrap_or(u32::MAX);
        connections.saturating_mul(self.streams)
    }

    /// One request under the identity of this place, and its answer. For preparations; nothing is timed.
    ///
    /// # Errors
    /// [`TargetError::Unreachable`] or [`TargetError::Authentication`] if there is no answer.
    pub fn ask(&mut self, group: u32, request: &Prepared) -> Result<Reply, TargetError> {
        let name = self.endpoint.name();
        let line = self.lines.iter_mut().find(|line| line.group == group);
        let line = line.ok_or(TargetError::Load("no connection has this identity"))?;
        let answered = self.runtime.block_on(async {
            line.restore().await?;
            let timeout = tokio::time::timeout(PATIENCE, exchange(line, request.clone()));
            let no_answer = |_| Err(Fault::new(FaultPhase::Stream, "no_answer"));
            timeout.await.unwrap_or_else(no_answer)
        });
        answered.map_err(|fault| unusable(name, &fault))
    }
}

async fn exchange(line: &mut Line, request: Prepared) -> Result<Reply, Fault> {
    let mut handle: Handle = None;
    let mut request = Some(request);
    let sent = poll_fn(|cx| match line.send(0, &mut handle, &mut request, cx) {
        Sent::Failed(fault) => Poll::Ready(Err(fault)),
        Sent::Flying(flight) => Poll::Ready(Ok(flight)),
        Sent::Lost => Poll::Ready(Err(Fault::new(FaultPhase::Stream, "closed"))),
        Sent::Wait => Poll::Pending,
    });
    let mut flight = sent.await?;
    poll_fn(|cx| flight.poll(cx)).await
}

/// Drives an exchange over connections.
pub struct Carrier<E> {
    lines: Lines,
    exchange: E,
    process: Option<Process>,
}

impl<E> std::fmt::Debug for Carrier<E> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Carrier")
            .field("lines", &self.lines)
            .field("process", &self.process)
            .finish_non_exhaustive()
    }
}

impl<E: Exchange> Carrier<E> {
    /// Drives `exchange` over `lines`.
    #[must_use]
    pub const fn new(lines: Lines, exchange: E) -> Self {
        Self {
            lines,
            exchange,
            process: None,
        }
    }

    /// The server's process, where it is local: its processor time is read before and after each run.
    #[must_use]
    pub const fn with_process(mut self, process: Process) -> Self {
        self.process = Some(process);
        self
    }

    /// Most operations in flight at once.
    #[must_use]
    pub fn places(&self) -> u32 {
        self.lines.places()
    }
}

impl<E: Exchange> keywright_measure::Carrier for Carrier<E> {
    /// Blocks are told of on the thread of the event loop: what listens has to be quick.
    fn carry(
        &mut self,
        assignment: &Assignment<'_>,
        block: &mut dyn FnMut(&BlockRecord, &Ledger),
    ) -> Result<Carried, TargetError> {
        if assignment.load.cap().get() > self.lines.places() {
            return Err(TargetError::Load(
                "more operations in flight than there are streams",
            ));
        }
        self.lines.restore()?;
        self.exchange.restart(assignment.seed);
        let process = self.process;
        let cpu = || process.and_then(Process::cpu_ns);
        let Lines {
            lines,
            streams,
            runtime,
            ..
        } = &mut self.lines;
        let (exchange, streams) = (&mut self.exchange, *streams);
        runtime.block_on(async {
            let before = cpu();
            let mut run = Run::new(assignment, exchange, lines, streams, block);
            poll_fn(|cx| run.poll(cx)).await;
            let spent = cpu()
                .zip(before)
                .map(|(after, before)| after.saturating_sub(before));
            let rest = run.drained();
            if run.has_questions() {
                poll_fn(|cx| run.poll(cx)).await;
            }
            let mut carried = run.close(rest);
            carried.cpu_ns = spent;
            Ok(carried)
        })
    }

    fn parts(&self) -> Vec<(String, f64)> {
        self.exchange.parts()
    }
}
