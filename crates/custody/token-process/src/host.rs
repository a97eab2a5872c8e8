//! The child: opens the token it is told to and does what it is ordered, one thread for each channel.
//!
//! Its standard input is the socket to the service. It ends when that ends, and is told by the system to end when the
//! service does; a signal that is meant for the service, such as the one of a terminal, it leaves to the service.

use std::collections::HashMap;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use keywright_clock::Clock;
use keywright_custody::{
    HolderError, KeyHolder as _, KeyMaterial, NO_DEADLINE, NewKey, Particulars, Request,
    RootKey as _,
};
use keywright_encoding::put_lp;
use keywright_envelope::Envelope;
use keywright_pkcs11::{
    Error, LogIn, Module, Pin, PoolOptions, SessionPool, TokenHolder, TokenRoot,
};
use keywright_policy::{Permit, Policy};
use keywright_primitives::random::RandomStream;
use keywright_secret::locked::{Locking, lock_process, refuse_core_files};
use keywright_secret::{Secret, SecretBytes};
use keywright_types::{KeyId, Operation};
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::RunError;
use crate::answer;
use crate::channel::Worker;
use crate::frame::{Buffer, Lost, MOST};
use crate::hello::{self, Abilities, Hello, Opened, Unheard};
use crate::keeper::Memory;
use crate::order::{self, Named, OfRoot, Order, Perform, RootWork};

/// Runs as the child of a service, until the service ends it. The socket to it is the standard input.
///
/// # Errors
/// [`RunError`] if the standard input is no such socket.
pub fn run() -> Result<(), RunError> {
    refuse_core_files();
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| RunError::System(error.into()))?;
    let input = std::io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .map_err(RunError::System)?;
    let control = UnixStream::from(input);
    let mut buffer = Buffer::new();
    buffer
        .receive(&control, hello::LONGEST, patient)
        .map_err(|_| RunError::NoService)?;
    for signal in [
        signal_hook::consts::SIGTERM,
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGHUP,
    ] {
        // Nobody looks at the flag: that there is a handler is all.
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))
            .map_err(RunError::System)?;
    }
    let (host, opened) = match hello::read_hello(buffer.body()) {
        Ok(hello) => open(&hello),
        Err(Unheard::Version) => (None, Opened::Version),
        Err(Unheard::Malformed) => return Err(RunError::NoService),
    };
    // The PIN was in it.
    buffer.begin();
    hello::put_opened(&mut buffer, &opened);
    buffer
        .send(&control, patient)
        .map_err(|_| RunError::NoService)?;
    match host {
        Some(host) => serve(&control, &Arc::new(host)),
        None => Ok(()),
    }
}

/// A child waits for its service for as long as there is one.
fn patient() -> Option<Lost> {
    None
}

fn open(hello: &Hello<'_>) -> (Option<Host>, Opened) {
    let locked = match (hello.memory, lock(hello.memory)) {
        (Memory::Require, Some(Locking::Refused(errno))) => {
            let why =
                format!("the system forbids the token's process to lock memory (errno {errno})");
            return (None, Opened::Failed(why));
        }
        (_, locked) => locked == Some(Locking::Locked),
    };
    match Host::open(hello) {
        Ok(host) => {
            let able = Abilities::of(|spec, operation| host.holder.supports(spec, operation));
            (Some(host), Opened::Open { locked, able })
        }
        Err(error @ Error::Login { .. }) => (None, Opened::Refused(error.to_string())),
        Err(error) => (None, Opened::Failed(error.to_string())),
    }
}

fn lock(memory: Memory) -> Option<Locking> {
    (memory != Memory::LeaveAlone).then(lock_process)
}

/// Gives every channel that arrives a thread, until no more can.
fn serve(control: &UnixStream, host: &Arc<Host>) -> Result<(), RunError> {
    while let Some(channel) = Worker::next(control).map_err(RunError::System)? {
        let host = Arc::clone(host);
        std::thread::Builder::new()
            .name("token-channel".to_owned())
            .spawn(move || host.follow(&channel))
            .map_err(RunError::System)?;
    }
    // Calls that are under way end, unless the module does not let them: then the process does.
    for _ in 0..CALLS_TO_END {
        if Arc::strong_count(host) == 1 {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// The token, opened.
struct Host {
    pool: Arc<SessionPool>,
    holder: TokenHolder,
    clock: Clock,
    /// Versions that the service has told of, by their number.
    known: RwLock<HashMap<u64, Arc<KeyMaterial>>>,
    root: Mutex<Option<(Vec<u8>, Arc<TokenRoot>)>>,
}

/// What an order comes to, short of an answer.
enum Refusal {
    Untold,
    Failed(HolderError),
    /// No order of a service.
    Malformed,
}

impl From<HolderError> for Refusal {
    fn from(error: HolderError) -> Self {
        Self::Failed(error)
    }
}

impl Host {
    fn open(hello: &Hello<'_>) -> Result<Self, Error> {
        let clock = Clock::system();
        let pin = Pin::from_line(hello.pin.to_vec());
        let options = PoolOptions {
            sessions: hello.sessions,
            copies: hello.copies,
            ..PoolOptions::default()
        };
        let module = Module::load(&hello.module)?;
        let pool = SessionPool::open(
            module,
            &hello.query,
            LogIn::Pin(pin),
            options,
            clock.clone(),
        )?;
        Ok(Self {
            holder: TokenHolder::new(Arc::clone(&pool), clock.clone()),
            pool,
            clock,
            known: RwLock::default(),
            root: Mutex::default(),
        })
    }

    /// Does the orders of one channel, until it ends.
    fn follow(&self, channel: &Worker) {
        let (mut order, mut out) = (Buffer::new(), Buffer::new());
        let mut random = RandomStream::unseeded();
        while order.receive(channel, MOST, patient).is_ok() {
            out.begin();
            let done = self.carry_out(order.body(), &mut random, &mut out);
            // An order is a job (design 7.24).
            random.end_job();
            match done {
                Ok(()) => {}
                Err(Refusal::Untold) => answer::put_untold(&mut out),
                Err(Refusal::Failed(error)) => answer::put_failed(&mut out, error),
                Err(Refusal::Malformed) => return,
            }
            order.wipe();
            let sent = out.send(channel, patient);
            out.wipe();
            if sent.is_err() {
                return;
            }
        }
    }

    fn carry_out(
        &self,
        order: &[u8],
        random: &mut RandomStream,
        out: &mut Buffer,
    ) -> Result<(), Refusal> {
        match order::read(order).ok_or(Refusal::Malformed)? {
            Order::Perform(perform) => return self.perform(perform, random, out),
            Order::Generate(blank) => {
                let sealed = self.generate(blank)?;
                answer::put_bytes(out, &sealed);
                return Ok(());
            }
            Order::Bind(blank) => {
                let bound = self.bind(blank)?;
                answer::put_bytes(out, &bound);
                return Ok(());
            }
            Order::Root(work) => {
                let done = self.root_work(&work, random)?;
                answer::put_bytes(out, done.expose());
                return Ok(());
            }
            Order::Discard(version) => {
                let material = self.version(version)?;
                let permit = permit(material.key(), Operation::KeyDestroy);
                self.holder.discard(&permit, &material);
                self.forget(version.number);
            }
            Order::Destroy(version) => {
                let material = self.version(version)?;
                let permit = permit(material.key(), Operation::KeyDestroy);
                let gone = self.holder.destroy(&permit, &material);
                self.forget(version.number);
                gone?;
            }
            Order::Check(version) => self.holder.check_key(&self.version(version)?)?,
            Order::Probe => self.holder.probe()?,
        }
        answer::put_done(out);
        Ok(())
    }

    fn perform(
        &self,
        perform: Perform<'_>,
        random: &mut RandomStream,
        out: &mut Buffer,
    ) -> Result<(), Refusal> {
        let versions = perform
            .versions
            .iter()
            .map(|version| self.version(*version));
        let deadline_ns = match perform.left {
            NO_DEADLINE => NO_DEADLINE,
            left => self.clock.monotonic().nanos().saturating_add(left),
        };
        let request = Request {
            operation: perform.operation,
            versions: versions.collect::<Result<_, _>>()?,
            binding: perform.binding,
            deadline_ns,
        };
        let key = request
            .versions
            .first()
            .map_or(KeyId::NONE, |one| one.key());
        let permit = permit(key, perform.operation.permitted_by());
        let reply = self
            .holder
            .perform(&permit, &request, perform.items, random)?;
        answer::put_reply(out, &reply);
        Ok(())
    }

    fn generate(&self, blank: &[u8]) -> Result<Vec<u8>, Refusal> {
        let blank = material(blank)?;
        let new = NewKey {
            identity: order::identity(&blank),
            parent: None,
        };
        let permit = permit(blank.key(), Operation::ContextCreate);
        Ok(self.holder.generate(&permit, new)?.sealed().to_vec())
    }

    /// Takes a key that was in the token before: lp(id of its object) + lp(check value).
    fn bind(&self, blank: &[u8]) -> Result<Vec<u8>, Refusal> {
        let blank = material(blank)?;
        let new = NewKey {
            identity: order::identity(&blank),
            parent: None,
        };
        let particulars = Particulars {
            detail: blank.detail().cloned(),
            secret: None,
        };
        let permit = permit(blank.key(), Operation::ReaderImport);
        let bound = self.holder.generate_with(&permit, new, particulars)?;
        let object = bound.reader().and_then(|reader| reader.object.as_ref());
        let object = object.ok_or(HolderError::KeyRejected)?;
        let mut out = Vec::new();
        put_lp(&mut out, object.as_bytes())
            .and_then(|()| put_lp(&mut out, bound.sealed()))
            .map_err(|_| HolderError::KeyRejected)?;
        Ok(out)
    }

    /// The version of a number, or the one that is told with it.
    fn version(&self, version: Named<'_>) -> Result<Arc<KeyMaterial>, Refusal> {
        if version.material.is_empty() {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            return known.get(&version.number).cloned().ok_or(Refusal::Untold);
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(material) = known.get(&version.number) {
            return Ok(Arc::clone(material));
        }
        let material = Arc::new(material(version.material)?);
        if known.len() >= MOST_KNOWN {
            // Whoever is used is told again.
            known.clear();
        }
        known.insert(version.number, Arc::clone(&material));
        Ok(material)
    }

    fn forget(&self, number: u64) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.remove(&number);
    }

    fn root_work(
        &self,
        work: &OfRoot<'_>,
        random: &mut RandomStream,
    ) -> Result<SecretBytes, Refusal> {
        let root = self.root(work.description)?;
        let aad = work.aad().ok_or(Refusal::Malformed)?;
        let mut out = Vec::with_capacity(work.bytes.len() + ROOM);
        match work.what {
            RootWork::Probe => root.probe()?,
            RootWork::Open => {
                let envelope = Envelope::parse(work.bytes).map_err(|_| Refusal::Malformed)?;
                root.open(&envelope, &aad, &mut out)?;
            }
            RootWork::Seal => {
                let message = Secret::copy_from(work.bytes).ok_or(Refusal::Malformed)?;
                root.seal(&message, &aad, random, &mut out)?;
            }
        }
        Ok(SecretBytes::from_vec(out))
    }

    /// The root key of a description, which is found once.
    fn root(&self, description: &[u8]) -> Result<Arc<TokenRoot>, Refusal> {
        let known = || self.root.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, root)) = &*known()
            && of == description
        {
            return Ok(Arc::clone(root));
        }
        let opened = TokenRoot::open(Arc::clone(&self.pool), description);
        let root = Arc::new(opened.map_err(|error| match error {
            Error::WrongKey | Error::NoObject | Error::ManyObjects { .. } => {
                HolderError::KeyRejected
            }
            Error::PoolExhausted => HolderError::Full,
            _ => HolderError::Unavailable,
        })?);
        *known() = Some((description.to_vec(), Arc::clone(&root)));
        Ok(root)
    }
}

/// The service has decided before it gave the order; there is no policy here to ask again.
fn permit(key: KeyId, operation: Operation) -> Permit {
    Policy::owner().permit(key, operation)
}

fn material(told: &[u8]) -> Result<KeyMaterial, Refusal> {
    serde_json::from_slice(told).map_err(|_| Refusal::Malformed)
}

/// Versions that are remembered.
const MOST_KNOWN: usize = 16_384;
/// What an envelope has besides its text.
const ROOM: usize = 256;
/// Times ten milliseconds.
const CALLS_TO_END: u32 = 50;
