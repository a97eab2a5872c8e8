//! A stand-in for a store: the same routes and answers, from memory, over real TLS.
//!
//! For tests and short suites where neither product is installed. Encryption, signatures and MACs are
//! real, access control is a single token, and nothing is kept. What it is fast or slow at says nothing
//! about the products, which is why its name stands in its own answer about its health ([`MARK`]) and
//! why [`StandIn::settings`] carry a label that nobody can take off.
//!
//! It listens on loopback only, asks each client for a certificate, and speaks HTTP/2 and HTTP/1.1 on one
//! thread of its own. Dropping it stops it.
//!
//! Not here: policies, leases, namespaces, key types other than `aes256-gcm96` and `ed25519`, deletion of
//! single versions.

mod answer;
mod certificates;
mod keys;
mod secrets;
mod serve;
mod state;
#[cfg(test)]
mod tests;
mod transit;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use keywright_clock::Clock;
use keywright_encoding::hex;
use keywright_measure::TargetError;
use keywright_primitives::random::RandomStream;
use keywright_secret::{Secret, SecretBytes};
use tokio::sync::oneshot;

use self::certificates::Certificates;
use self::state::{Outputs, State};
use super::settings::{Origin, Settings};

/// What a stand-in calls its cluster. Whoever reads it knows what answered.
pub const MARK: &str = "keywright-stand-in";

/// A stand-in that runs.
pub struct StandIn {
    address: SocketAddr,
    token: Secret<32>,
    certificates: Certificates,
    clock: Clock,
    state: Arc<Mutex<State>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for StandIn {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("StandIn")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl StandIn {
    /// Starts one on a free port, with engines at the usual mounts and certificates of its own.
    ///
    /// # Errors
    /// [`TargetError::System`] without randomness, certificates, a port or a thread.
    pub fn start(clock: &Clock) -> Result<Self, TargetError> {
        let mut random = RandomStream::new().map_err(system)?;
        let token = random.secret::<16>().map_err(system)?;
        let token = Secret::from_fill(|text: &mut [u8; 32]| {
            text.copy_from_slice(hex::encode(token.expose()).as_bytes());
        });
        let certificates = Certificates::make(clock).map_err(system)?;
        let presented = Secret::copy_from(token.expose());
        let presented = presented.ok_or_else(|| system("no token"))?;
        let state = Arc::new(Mutex::new(State::new(presented, clock.clone(), random)));
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(system)?;
        listener.set_nonblocking(true).map_err(system)?;
        let address = listener.local_addr().map_err(system)?;
        let (stop, stopped) = oneshot::channel();
        let thread = serve::spawn(listener, certificates.server(), Arc::clone(&state), stopped);
        Ok(Self {
            address,
            token,
            certificates,
            clock: clock.clone(),
            state,
            stop: Some(stop),
            thread: Some(thread.map_err(system)?),
        })
    }

    /// Settings that reach it, labelled for good.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let token = SecretBytes::from_vec(self.token.expose().to_vec());
        Settings::new("vault", &self.url(), token, self.certificates.roots_pem())
            .with_identity(self.certificates.client())
            .with_clock(self.clock.clone())
            .from(Origin::StandIn)
    }

    /// Its address, for programs that are given one.
    #[must_use]
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// Its one token.
    #[must_use]
    pub fn token(&self) -> &[u8] {
        self.token.expose()
    }

    /// The certificate that it asks its clients for.
    #[must_use]
    pub const fn client_pem(&self) -> &[u8] {
        self.certificates.client_pem()
    }

    /// The private key of that certificate.
    #[must_use]
    pub fn client_key_pem(&self) -> &[u8] {
        self.certificates.client_key_pem()
    }

    /// Writes a secret of one field `value` below the mount of version 2, with the original of its path beside
    /// it where that is hashed.
    pub fn put(&self, path: &str, value: &str, semantic_path: Option<&str>) {
        self.state().put(path, value, semantic_path);
    }

    /// Settings as somebody makes them who knows the address and the token and not what answers there.
    #[must_use]
    pub fn settings_by_address(&self) -> Settings {
        self.settings().from(Origin::Address)
    }

    /// Seals it: nothing but its health is answered.
    pub fn seal(&self) {
        self.state().sealed = true;
    }

    /// Ends that.
    pub fn unseal(&self) {
        self.state().sealed = false;
    }

    /// The certificate of its authority.
    #[must_use]
    pub const fn roots_pem(&self) -> &[u8] {
        self.certificates.roots_pem()
    }

    /// From now on the outputs of its engines are wrong: what looks at outputs must notice. Its health
    /// stays as it is.
    pub fn spoil(&self) {
        self.state().outputs = Outputs::Wrong;
    }

    /// Ends that.
    pub fn mend(&self) {
        self.state().outputs = Outputs::Right;
    }

    /// How many secrets and keys it holds.
    #[must_use]
    pub fn holdings(&self) -> usize {
        self.state().holdings()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // It has ended already if nobody listens.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn system(error: impl ToString) -> TargetError {
    TargetError::System(format!("no stand-in: {}", error.to_string()))
}
