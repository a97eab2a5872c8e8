//! A node with its server in front: threads, control socket, probe.

use std::future::{Future, pending, poll_fn};
use std::net::SocketAddr;
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use keywright_audit::writer::Writer;
use keywright_clock::Clock;
use keywright_server::probe;
use keywright_server::transport::{self, Running};
use keywright_server::{
    Application, Load, NullApplication, Probes, SeedDoor, Settings as ApplicationSettings, Timing,
    VaultDoor,
};
use keywright_service::{Desk, Worker};
use keywright_telemetry::{Exporting, Tracer};
use keywright_tls::ServerConfig;
use keywright_types::{Code, Plane, VersionLabel};

use crate::control::Control;
use crate::doors::{Doors, Handshakes, Trust};
use crate::follow::Follow;
use crate::token_keys::Rounds;
use crate::watch::{self, Watch};
use crate::{Compat, Config, HomeError, Node, keeper};

impl Node {
    /// Starts the server; `listen` overrides the configured address.
    ///
    /// # Errors
    /// [`HomeError::Transport`] if the address cannot be had; [`HomeError::File`] if the control
    /// socket cannot.
    pub fn serve(self: &Arc<Self>, listen: Option<SocketAddr>) -> Result<Serving, HomeError> {
        keeper::start(self)?;
        let settings =
            transport_settings(self.config(), (listen, self.clock()), &self.doors().data);
        let threads = match settings.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            count => count,
        };
        // Writers are opened here, where failing is an answer, and taken by the threads.
        let of_admin = self.admin_settings(&settings);
        let all = threads + usize::from(of_admin.is_some());
        let writers = self.with_log(|log| {
            (0..all)
                .map(|_| log.writer())
                .collect::<Result<Vec<_>, _>>()
        })?;
        let writers = Mutex::new(writers?);
        let probes = Arc::new(self.probes()?);
        let shared = Arc::clone(self.admin().shared());
        let (keys, unfit_keys) = self.token_keys();
        let (tracer, exporting) = self.traces()?;
        let timing = timing(self.config());
        let application = application_settings(self.config(), threads);
        let (vault, seed) = (vault_door(self.config())?, seed_door(self.config()));
        let make = Arc::new(move |plane: Option<Plane>| {
            let worker = Worker::new(Arc::clone(&shared), take(&writers));
            // Its routes are of data alone.
            let seed = match plane {
                Some(Plane::Admin) => SeedDoor::Shut,
                _ => seed,
            };
            Application::new(worker, application, Arc::clone(&probes))
                .with_timing(timing)
                .with_plane(plane)
                .with_vault(vault.clone())
                .with_seed(seed)
                .with_traces(tracer.clone())
        });
        let plane = of_admin.is_some().then_some(Plane::Data);
        // The control first: it stops by itself if the address then cannot be had.
        let watch = Watch::start(self, keys)?;
        let follow = Follow::start(self)?;
        let probe = watch::probe(self)?;
        let control = Control::start(self.folder(), self)?;
        let make_admin = Arc::clone(&make);
        let admin = of_admin
            .map(|settings| transport::start(settings, move |_| make_admin(Some(Plane::Admin))));
        let admin = admin.transpose()?;
        let settings = transport::Settings {
            threads,
            ..settings
        };
        let running = transport::start(settings, move |_| make(plane))?;
        Ok(Serving {
            running,
            admin,
            _control: control,
            probe,
            watch,
            follow,
            exporting,
            unfit_keys,
            node: Arc::clone(self),
        })
    }

    /// What the token has of the keys that are to lie in it, and those that are unfit.
    fn token_keys(&self) -> (Rounds, Vec<VersionLabel>) {
        let mut keys = Rounds::default();
        if self.config().token.is_some() {
            // Whoever starts the node is told of those that are unfit by `Serving::unfit_keys`.
            drop(keys.look_at_all(self.admin().shared()));
        }
        let unfit = keys.unfit();
        (keys, unfit)
    }

    /// Where spans go and the thread that sends them, where the configuration asks for it.
    fn traces(&self) -> Result<(Option<Tracer>, Option<Exporting>), HomeError> {
        let telemetry = self.config().telemetry.as_ref();
        let started = telemetry.map(|telemetry| telemetry.start(self.admin().shared()));
        Ok(started.transpose()?.unzip())
    }

    /// How the listener of administration is served, where there is one: by one thread of its own, which what happens
    /// on the others does not hold up.
    fn admin_settings(&self, everybody: &transport::Settings) -> Option<transport::Settings> {
        let section = self.config().admin.as_ref()?;
        Some(transport::Settings {
            listen: section.listen,
            threads: 1,
            tls: Arc::clone(&self.doors().admin),
            ..everybody.clone()
        })
    }

    fn probes(self: &Arc<Self>) -> Result<Probes, HomeError> {
        let orders = Arc::downgrade(self);
        let desk = Desk::start(move |order| match orders.upgrade() {
            Some(node) => node.admin().carry_out_for(&order),
            None => Err(Code::ShuttingDown),
        });
        let node = Arc::downgrade(self);
        let audit = move || node.upgrade().is_some_and(|node| node.audit_is_good());
        Ok(Probes {
            audit: Box::new(audit),
            memory_locked: self.memory_is_locked(),
            desk: desk.map_err(HomeError::Thread)?,
        })
    }
}

/// A node with its server in front.
#[derive(Debug)]
pub struct Serving {
    running: Running,
    admin: Option<Running>,
    _control: Control,
    probe: Option<probe::Listener>,
    watch: Watch,
    follow: Option<Follow>,
    exporting: Option<Exporting>,
    unfit_keys: Vec<VersionLabel>,
    node: Arc<Node>,
}

impl Serving {
    /// Where it listens.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.running.local_addr()
    }

    /// Where administration is listened for, if that is a place of its own.
    #[must_use]
    pub fn admin_addr(&self) -> Option<SocketAddr> {
        self.admin.as_ref().map(Running::local_addr)
    }

    /// Where the local probe listens, if there is one.
    #[must_use]
    pub fn probe_addr(&self) -> Option<SocketAddr> {
        self.probe.as_ref().map(probe::Listener::local_addr)
    }

    /// The node behind it.
    #[must_use]
    pub const fn node(&self) -> &Arc<Node> {
        &self.node
    }

    /// Versions whose key in the token was not the right one, or none, when the node started to serve: they are
    /// unavailable.
    #[must_use]
    pub fn unfit_keys(&self) -> &[VersionLabel] {
        &self.unfit_keys
    }

    /// Whether a server thread has ended by itself.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        let died = |one: &Running| one.is_stopping();
        died(&self.running) || self.admin.as_ref().is_some_and(died)
    }

    /// Resolves once [`Serving::is_stopping`] is true; on any runtime.
    pub async fn stopping(&self) {
        let mut data = pin!(self.running.stopping());
        let mut admin = pin!(async {
            match &self.admin {
                Some(admin) => admin.stopping().await,
                None => pending().await,
            }
        });
        poll_fn(|context| {
            let data = data.as_mut().poll(context);
            if data.is_ready() {
                return data;
            }
            admin.as_mut().poll(context)
        })
        .await;
    }

    /// Stops in order: running requests are answered, what is left of traces is sent, then the log and the store are
    /// closed.
    ///
    /// # Errors
    /// [`HomeError::Transport`] if a server thread panicked, [`HomeError::Audit`].
    pub fn stop(self) -> Result<(), HomeError> {
        self.node.begin_to_stop();
        drop((self.watch, self.follow));
        let admin = self.admin;
        self.running.stop();
        admin.iter().for_each(Running::stop);
        let ended = self.running.join();
        let admin = admin.map(Running::join).transpose();
        self.exporting.into_iter().for_each(Exporting::stop);
        self.node.shutdown()?;
        ended?;
        admin?;
        Ok(())
    }
}

/// A writer for one server thread.
#[expect(clippy::expect_used, reason = "as many writers as threads were made")]
fn take(writers: &Mutex<Vec<Writer>>) -> Writer {
    let writer = writers.lock().unwrap_or_else(PoisonError::into_inner).pop();
    writer.expect("one writer per server thread")
}

/// Serves constant answers: same TLS, routes and limits as the home's configuration says, no keys, no
/// audit, no store.
///
/// # Errors
/// [`HomeError`] as for a server with keys.
pub fn serve_null(
    path: &Path,
    clock: &Clock,
    listen: Option<SocketAddr>,
) -> Result<Running, HomeError> {
    let config = Config::read(path)?;
    let trust = Trust::read(&config, clock)?;
    let doors = Doors::new(Handshakes::new(&config, &trust)?);
    let settings = transport_settings(&config, (listen, clock), &doors.data);
    let (limits, body_timeout) = (api_limits(&config), settings.limits.body_timeout);
    Ok(transport::start(settings, move |_| {
        NullApplication::new(limits, body_timeout)
    })?)
}

fn transport_settings(
    config: &Config,
    (listen, clock): (Option<SocketAddr>, &Clock),
    tls: &Arc<ArcSwap<ServerConfig>>,
) -> transport::Settings {
    let limits = &config.limits;
    transport::Settings {
        listen: listen.unwrap_or(config.server.listen),
        threads: config.server.threads,
        tls: Arc::clone(tls),
        clock: clock.clone(),
        limits: transport::Limits {
            header_bytes: limits.header_bytes,
            header_timeout: Duration::from_secs(limits.header_timeout_s),
            body_bytes: limits.body_bytes,
            body_timeout: Duration::from_secs(limits.body_timeout_s),
            request_timeout: Duration::from_secs(limits.request_timeout_s),
            idle_timeout: Duration::from_secs(limits.idle_timeout_s),
            concurrent_streams: limits.concurrent_streams,
            connections: limits.connections,
            unauthenticated_connections: limits.unauthenticated_connections,
            unauthenticated_per_source: limits.unauthenticated_per_source,
            source_prefix_ipv4: limits.source_prefix_ipv4,
            source_prefix_ipv6: limits.source_prefix_ipv6,
            handshake_timeout: Duration::from_millis(limits.handshake_timeout_ms),
            connection_bytes: limits.connection_bytes,
            held_bytes: limits.held_bytes,
            drain_timeout: Duration::from_secs(limits.drain_timeout_s),
            ..transport::Limits::default()
        },
    }
}

const fn timing(config: &Config) -> Timing {
    match config.server.timing {
        true => Timing::Tell,
        false => Timing::Hide,
    }
}

const fn seed_door(config: &Config) -> SeedDoor {
    match config.compat.seed {
        true => SeedDoor::Open,
        false => SeedDoor::Shut,
    }
}

/// The door for programs that speak Vault's transit API, where the configuration opens it.
fn vault_door(config: &Config) -> Result<Option<Arc<VaultDoor>>, HomeError> {
    let Compat {
        vault_transit,
        vault_token_s,
        seed: _,
    } = config.compat;
    let door = vault_transit.then(|| VaultDoor::new(Duration::from_secs(vault_token_s)));
    Ok(door.transpose()?.map(Arc::new))
}

/// What one of so many threads puts up with.
pub(crate) fn application_settings(config: &Config, threads: usize) -> ApplicationSettings {
    let limits = &config.limits;
    ApplicationSettings {
        limits: api_limits(config),
        body_timeout: Duration::from_secs(limits.body_timeout_s),
        load: Load {
            running: limits.running_requests.div_ceil(threads.max(1)),
            queued: Duration::from_millis(limits.queued_ms),
        },
    }
}

fn api_limits(config: &Config) -> keywright_api::Limits {
    let mut limits = keywright_api::Limits::DEFAULT;
    limits.body_bytes = config.limits.body_bytes;
    limits.items = config.limits.items;
    limits
}
