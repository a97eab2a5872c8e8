//! The far end of the queue: one thread that sends batches, and leaves a collector alone that does not take them.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use keywright_tls::ClientConfig;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::link::{Link, NotTaken, Way};
use crate::{Count, Endpoint, Fate, Plain, Resource, Sampling, Span, Tracer};

/// How spans are gathered and where they go.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever starts it must decide each of these"
)]
pub struct Settings {
    /// The collector.
    pub endpoint: Endpoint,
    /// Where it may be without TLS.
    pub plain: Plain,
    /// Whom to believe that it is the collector; wanted where the endpoint is secure.
    pub tls: Option<Arc<ClientConfig>>,
    /// How long a batch may take, connecting included.
    pub timeout: Duration,
    /// Which requests have a span.
    pub sampling: Sampling,
    /// Spans that may wait.
    pub queue: usize,
    /// Of whom they tell.
    pub resource: Resource,
}

/// How often the queue is looked at. Nobody is woken for a span: that would cost the request a call of the system.
const EVERY: Duration = Duration::from_millis(250);
/// Spans of one request to the collector.
const BATCH: usize = 512;
/// How long a collector that did not take a batch is left alone: a second, then twice as long each time.
const REST: Duration = Duration::from_secs(1);
const LONGEST_REST: Duration = Duration::from_secs(30);
/// How long the last spans may take when the program stops.
pub const FLUSH: Duration = Duration::from_secs(2);

/// The thread that sends spans.
pub struct Exporting {
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Exporting {
    /// Starts it.
    ///
    /// # Errors
    /// If the system gives no thread or no poll.
    pub fn start(settings: Settings, count: Count) -> std::io::Result<(Tracer, Self)> {
        let (queue, spans) = sync_channel(settings.queue);
        let (stop, stopped) = watch::channel(false);
        let tracer = Tracer {
            sampling: Arc::new(settings.sampling),
            queue,
            count: Arc::clone(&count),
        };
        let sender = Sender {
            way: Way {
                endpoint: settings.endpoint,
                plain: settings.plain,
                tls: settings.tls,
            },
            timeout: settings.timeout,
            resource: settings.resource,
            spans,
            batch: Vec::new(),
            link: None,
            count,
        };
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let thread = std::thread::Builder::new()
            .name("telemetry".to_owned())
            .spawn(move || run(runtime, sender, stopped))?;
        let thread = Some(thread);
        Ok((tracer, Self { stop, thread }))
    }

    /// Sends what is left, for [`FLUSH`] at most, and ends. Call it when nobody makes spans any more.
    pub fn stop(mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // Had it panicked, traces would be lost, and nothing else.
            drop(thread.join());
        }
    }
}

impl Drop for Exporting {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}

impl fmt::Debug for Exporting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Exporting")
    }
}

fn run(runtime: Runtime, mut sender: Sender, mut stopped: watch::Receiver<bool>) {
    runtime.block_on(async {
        tokio::select! {
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => {}
            () = sender.work() => {}
        }
        // What was under way may have got nowhere: its batch is sent again, over another connection.
        sender.link = None;
        drop(timeout(FLUSH, sender.flush()).await);
        sender.give_up();
    });
    // A name that is still being looked up is not waited for.
    runtime.shutdown_background();
}

struct Sender {
    way: Way,
    timeout: Duration,
    resource: Resource,
    spans: Receiver<Box<Span>>,
    /// What is on its way; kept until its fate is known.
    batch: Vec<Span>,
    link: Option<Link>,
    count: Count,
}

impl Sender {
    /// Sends whatever comes.
    async fn work(&mut self) {
        let mut rest = REST;
        loop {
            sleep(EVERY).await;
            while self.fill() {
                match self.send().await {
                    Ok(()) => rest = REST,
                    Err(_) => {
                        sleep(rest).await;
                        rest = (rest * 2).min(LONGEST_REST);
                    }
                }
            }
        }
    }

    /// Sends what there is; ends with the first batch that is not taken.
    async fn flush(&mut self) {
        while self.fill() && self.send().await.is_ok() {}
    }

    /// Takes spans out of the queue. Whether there is anything to send.
    fn fill(&mut self) -> bool {
        let room = BATCH.saturating_sub(self.batch.len());
        let waiting = self.spans.try_iter().take(room);
        self.batch.extend(waiting.map(|span| *span));
        !self.batch.is_empty()
    }

    async fn send(&mut self) -> Result<(), NotTaken> {
        let body = Bytes::from(self.resource.request(&self.batch));
        let sent = match timeout(self.timeout, self.hand_over(body)).await {
            Ok(sent) => sent,
            Err(_) => Err(NotTaken::Broken),
        };
        if sent.is_err() {
            self.link = None;
        }
        self.settle(match &sent {
            Ok(()) => Fate::Sent,
            Err(_) => Fate::Lost,
        });
        sent
    }

    /// A connection that was open may have ended in the meantime; a new one is to be believed.
    async fn hand_over(&mut self, body: Bytes) -> Result<(), NotTaken> {
        if let Some(link) = self.link.as_mut().filter(|link| !link.is_closed()) {
            match self.way.post(link, body.clone()).await {
                Err(NotTaken::Broken) => {}
                answered => return answered,
            }
        }
        self.link = None;
        let mut link = self.way.connect().await?;
        self.way.post(&mut link, body).await?;
        self.link = Some(link);
        Ok(())
    }

    fn settle(&mut self, fate: Fate) {
        if !self.batch.is_empty() {
            (self.count)(fate, self.batch.len() as u64);
        }
        self.batch.clear();
    }

    /// Counts what nobody will take any more.
    fn give_up(&mut self) {
        self.settle(Fate::Lost);
        while self.fill() {
            self.settle(Fate::Lost);
        }
    }
}
