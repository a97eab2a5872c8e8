//! The dashboard in a browser: a small read-only server.
//!
//! It runs in one thread of its own. The measuring thread neither wakes nor waits for it: the server looks
//! for a new snapshot a few times a second while somebody watches, and a client that reads slowly is given
//! the latest snapshot next, then nothing, then is cut.
//!
//! * On loopback it is open to whoever is on the machine. Any other address takes a TLS configuration and an
//!   access token; [`Exposure`] has no way to say otherwise.
//! * A request is answered only if its `Host` names this server, so that a page from elsewhere cannot reach
//!   it through a name that resolves to this machine (DNS rebinding).
//! * Answers say what may run: the files of this crate, nothing inline but what a report's own hash names,
//!   nothing from another host. GET and HEAD only; nothing can be changed.
//!
//! Not here: where finished runs are kept; they come through a [`Library`].

mod access;
mod connection;
mod feed;
mod pages;
mod routes;
mod serve;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use keywright_measure::Word;
use serde::Serialize;
use tokio::sync::watch;
use tokio_rustls::rustls::ServerConfig;

pub use access::AccessToken;

use super::Live;
use routes::Site;

/// Who can reach the dashboard.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "there is no third kind of exposure"
)]
pub enum Exposure {
    /// Programs on this machine, over plain HTTP on 127.0.0.1.
    Loopback {
        /// The port; 0 takes a free one.
        port: u16,
    },
    /// Whoever reaches the address, over TLS and with the token.
    Remote {
        /// The address; port 0 takes a free one.
        listen: SocketAddr,
        /// Certificate and protocols; HTTP/1.1 has to be among those it names, if it names any.
        tls: Arc<ServerConfig>,
        /// What clients have to know.
        token: AccessToken,
        /// Host names under which browsers reach it. Addresses as such need not be listed.
        names: Vec<String>,
    },
}

/// How many and how long.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain numbers with defaults")]
pub struct Limits {
    /// Connections at once; one more is answered 503 or dropped. Default 32.
    pub connections: usize,
    /// Of these, those that follow events; one more is answered 503. Default 16.
    pub followers: usize,
    /// A connection on which nothing can be read or written for so long ends. Default 20 s.
    pub stall: Duration,
    /// Without a new snapshot, followers are told so often that the server is still there. Default 5 s.
    pub heartbeat: Duration,
    /// How often a new snapshot is looked for. Default 250 ms.
    pub frame_every: Duration,
    /// From the first byte of a request's head to its last, and for a TLS handshake. Default 5 s.
    pub head: Duration,
    /// For the library to find something. Default 10 s.
    pub library: Duration,
    /// After a stop, for answers that are under way. Default 1 s.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 32,
            followers: 16,
            stall: Duration::from_secs(20),
            heartbeat: Duration::from_secs(5),
            frame_every: Duration::from_millis(250),
            head: Duration::from_secs(5),
            library: Duration::from_secs(10),
            drain: Duration::from_secs(1),
        }
    }
}

/// Where finished runs are found. Called in a thread that may block.
pub trait Library: Send + Sync {
    /// The runs to list, the newest first.
    fn runs(&self) -> Vec<RunEntry>;

    /// A run's report as a page: what [`crate::html::render`] makes. `id` is 1 to 64 letters, digits, `-`,
    /// `_` and `.`.
    fn report(&self, id: &str) -> Option<String>;

    /// A page of trends over runs, where there is one.
    fn trends(&self) -> Option<String> {
        None
    }
}

/// A library without books.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has nothing in it")]
pub struct Empty;

impl Library for Empty {
    fn runs(&self) -> Vec<RunEntry> {
        Vec::new()
    }

    fn report(&self, _: &str) -> Option<String> {
        None
    }
}

/// A finished run in a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain data, made by whoever keeps runs"
)]
pub struct RunEntry {
    /// The run's id.
    pub id: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// How many cases.
    pub cases: u64,
    /// The word that decides.
    pub verdict: Option<Word>,
    /// The name of the exit code.
    pub exit: String,
    /// A note given by hand, or nothing.
    pub note: String,
}

/// Why there is no dashboard.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebError {
    /// The address is taken, not available or not permitted.
    #[error("cannot listen on {addr}")]
    Listen {
        /// The address.
        addr: SocketAddr,
        /// What the operating system said.
        source: io::Error,
    },
    /// No randomness for sessions or tokens.
    #[error("no randomness")]
    Randomness(#[source] keywright_primitives::Error),
    /// The thread or its runtime could not be made.
    #[error("cannot start the thread of the dashboard")]
    Thread(#[source] io::Error),
    /// The thread panicked: a bug of this crate.
    #[error("the dashboard panicked")]
    Panicked,
    /// The token could be guessed, or has characters that no header takes.
    #[error(
        "an access token has {} to {} visible ASCII characters",
        access::LEAST,
        access::MOST
    )]
    WeakToken,
}

/// A server that answers. Dropping it stops it without waiting.
#[derive(Debug)]
pub struct Running {
    addr: SocketAddr,
    url: String,
    followers: connection::Places,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

/// Binds the address and starts the thread; when this returns, the server answers.
///
/// # Errors
/// [`WebError::Listen`], [`WebError::Randomness`] or [`WebError::Thread`].
pub fn start(
    exposure: Exposure,
    limits: Limits,
    live: Arc<Live>,
    library: Arc<dyn Library>,
) -> Result<Running, WebError> {
    let (listen, tls, gate) = match exposure {
        Exposure::Loopback { port } => {
            let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
            (addr, None, access::Gate::open())
        }
        Exposure::Remote {
            listen,
            tls,
            token,
            names,
        } => (listen, Some(tls), access::Gate::guarded(&token, names)?),
    };
    let refused = |source| WebError::Listen {
        addr: listen,
        source,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(2)
        .build()
        .map_err(WebError::Thread)?;
    let entered = runtime.enter();
    let listener = serve::listen(listen).map_err(refused)?;
    drop(entered);
    let addr = listener.local_addr().map_err(refused)?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let (stop, stopped) = watch::channel(false);
    let site = Site::new(gate, limits, live, library, stopped);
    let followers = site.followers.clone();
    let thread = std::thread::Builder::new()
        .name("web-dashboard".to_owned())
        .spawn(move || runtime.block_on(serve::serve(listener, tls, site)))
        .map_err(WebError::Thread)?;
    Ok(Running {
        addr,
        url: format!("{scheme}://{}/", named(addr)),
        followers,
        stop,
        thread: Some(thread),
    })
}

/// An address that a browser can open: all addresses of a machine are reached at this one.
fn named(addr: SocketAddr) -> SocketAddr {
    match addr.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => {
            SocketAddr::from((Ipv4Addr::LOCALHOST, addr.port()))
        }
        _ => addr,
    }
}

impl Running {
    /// The address it listens on, with the port that was found when 0 was asked for.
    #[must_use]
    pub const fn local_addr(&self) -> SocketAddr {
        self.addr
    }

    /// Where a browser on this machine finds it. The token is not in it; appended as `#token=...` it stays
    /// in the browser and is in no log.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// How many clients follow the events now.
    #[must_use]
    pub fn followers(&self) -> usize {
        self.followers.taken()
    }

    /// Stops in order: followers are told the end, answers under way get [`Limits::drain`]. Waits for it.
    ///
    /// # Errors
    /// [`WebError::Panicked`].
    pub fn stop(mut self) -> Result<(), WebError> {
        self.stop.send_replace(true);
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(_)) => Err(WebError::Panicked),
            _ => Ok(()),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}
