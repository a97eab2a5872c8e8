//! Starting the server threads, and stopping them in order.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use super::alarm::{Alarms, millis};
use super::connection::Server;
use super::listen::listen;
use super::thread::{Shared, Thread};
use super::turn::Turn;
use super::{Error, Handler, SWEEP, Settings};

/// A server that answers. Dropping it stops it like [`Running::stop`], without waiting.
#[derive(Debug)]
pub struct Running {
    addr: SocketAddr,
    stop: Arc<watch::Sender<bool>>,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// Connections that were cut because they had not finished when the drain timeout was over.
    pub cut: u64,
}

/// Binds the address and starts the threads; when this returns, the server answers.
///
/// `make_handler` is called once on each thread with the thread's index, inside its runtime.
///
/// # Errors
/// The address is in use, not available or not permitted; a thread or its runtime cannot be made;
/// `make_handler` panicked.
pub fn start<H, M>(settings: Settings, make_handler: M) -> Result<Running, Error>
where
    H: Handler,
    M: Fn(usize) -> H + Send + Sync + 'static,
{
    let count = match settings.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        count => count,
    };
    let (addr, sockets) = listen(settings.listen, count)?;
    let (stop, _) = watch::channel(false);
    let mut running = Running {
        addr,
        stop: Arc::new(stop),
        shared: Arc::default(),
        threads: Vec::with_capacity(count),
    };
    let make_handler = Arc::new(make_handler);
    let (ready, answers) = mpsc::channel();
    for (index, socket) in sockets.into_iter().enumerate() {
        let start = Start {
            socket,
            settings: settings.clone(),
            shared: Arc::clone(&running.shared),
            stop: Arc::clone(&running.stop),
            ready: ready.clone(),
        };
        let make_handler = Arc::clone(&make_handler);
        let thread = std::thread::Builder::new()
            .name(format!("server-{index}"))
            .spawn(move || start.run(|| make_handler(index)))
            .map_err(Error::Thread)?;
        running.threads.push(thread);
    }
    drop(ready);
    for _ in 0..count {
        // A thread that ends without a word has panicked.
        let answer = answers.recv().map_err(|_| Error::ThreadPanicked)?;
        answer.map_err(Error::Thread)?;
    }
    Ok(running)
}

impl Running {
    /// The address it listens on, with the port that was found when 0 was asked for.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.addr
    }

    /// Connections that are open now, handshakes included.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections()
    }

    /// Whether the server is stopping: it was told to, or one of its threads has panicked.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        *self.stop.borrow()
    }

    /// Resolves once [`Running::is_stopping`] is true; on any runtime.
    pub async fn stopping(&self) {
        let mut stop = self.stop.subscribe();
        // The sender lives in `self`, so it cannot be gone.
        drop(stop.wait_for(|stop| *stop).await);
    }

    /// Stops in order: no new connections, GOAWAY or the end of keep-alive on those there are,
    /// running requests are answered, and after the drain timeout the rest is cut. Does not wait;
    /// [`Running::join`] does.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Waits until the server has ended; without [`Running::stop`], possibly for ever.
    ///
    /// # Errors
    /// `ThreadPanicked` if one of its threads did.
    pub fn join(mut self) -> Result<Ended, Error> {
        let mut panicked = false;
        for thread in self.threads.drain(..) {
            panicked |= thread.join().is_err();
        }
        if panicked {
            return Err(Error::ThreadPanicked);
        }
        Ok(Ended {
            cut: self.shared.cut(),
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What a thread begins with.
struct Start {
    socket: std::net::TcpListener,
    settings: Settings,
    shared: Arc<Shared>,
    stop: Arc<watch::Sender<bool>>,
    ready: mpsc::Sender<io::Result<()>>,
}

impl Start {
    fn run<H: Handler>(self, make_handler: impl FnOnce() -> H) {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build_local(LocalOptions::default());
        match runtime {
            Ok(runtime) => runtime.block_on(self.serve(make_handler)),
            // Whoever started us has gone if nobody listens; then there is nothing to report.
            Err(error) => drop(self.ready.send(Err(error))),
        }
    }

    async fn serve<H: Handler>(self, make_handler: impl FnOnce() -> H) {
        // A server that has lost a thread has lost its share of the connections: it stops as a
        // whole, visibly, instead of going on with the rest.
        let _guard = StopAll(Arc::clone(&self.stop));
        let mut stop = self.stop.subscribe();
        let listener = match TcpListener::from_std(self.socket) {
            Ok(listener) => listener,
            Err(error) => return drop(self.ready.send(Err(error))),
        };
        let thread = Rc::new(Thread {
            alarms: Alarms::default(),
            turn: Turn::default(),
            clock: self.settings.clock,
            limits: self.settings.limits,
            shared: self.shared,
        });
        let server = Server::new(make_handler(), thread, self.settings.tls);
        drop(self.ready.send(Ok(())));
        drop(self.ready);
        let served = async {
            tokio::select! {
                biased;
                // The sender lives in our own guard, so it cannot be gone.
                _ = stop.wait_for(|stop| *stop) => {}
                () = accept(&server, &listener) => {}
            }
            drop(listener);
            server.drain().await;
        };
        tokio::select! {
            () = served => {}
            () = sweep(&server) => {}
        }
    }
}

/// Stops all threads when one ends, for whatever reason.
struct StopAll(Arc<watch::Sender<bool>>);

impl Drop for StopAll {
    fn drop(&mut self) {
        self.0.send_replace(true);
    }
}

/// Connections that are accepted before others have their turn. Few, so that a newcomer is looked at before the next
/// ones can take its place.
const ACCEPTED_PER_TURN: usize = 16;

async fn accept<H: Handler>(server: &Rc<Server<H>>, listener: &TcpListener) {
    loop {
        for _ in 0..ACCEPTED_PER_TURN {
            match listener.accept().await {
                Ok((tcp, from)) => server.admit(tcp, from),
                Err(error) => {
                    // Without descriptors a stranger makes room. Otherwise at once again would only burn the
                    // processor. A connection that was given up before we took it passes here too, and costs little.
                    if !server.make_room(&error) {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                    break;
                }
            }
        }
        tokio::task::yield_now().await;
    }
}

async fn sweep<H: Handler>(server: &Server<H>) {
    let mut beat = tokio::time::interval(SWEEP);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first beat is at once. A late beat says when it was due, so time here may lag behind by that
    // much and never runs ahead: nothing is cut early.
    let started = beat.tick().await;
    let mut now = started;
    loop {
        server.sweep(millis(now.duration_since(started)));
        now = beat.tick().await;
    }
}
