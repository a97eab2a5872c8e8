//! Brings operations to life: names become carriers, in one folder, with one timer and one seed.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_measure::carry::{Check, Verify};
use keywright_measure::document::BlockRecord;
use keywright_measure::ledger::Ledger;
use keywright_measure::plan::CasePlan;
use keywright_measure::stats::random::Generator;
use keywright_measure::threads::{CpuTime, Threads};
use keywright_measure::timer::Timer;
use keywright_measure::{
    Assignment, Carried, Carrier, Fault, Load, Stop, TargetError, Window, Word, Worker,
};
use keywright_secret::SecretBytes;

use crate::http::Process;
use crate::local::fpe::Backend;
use crate::operation::{AnyCarrier, Make, Operation, Setting};
use crate::pinning::Core;
use crate::processes::Processes;
use crate::script::Scripted;
use crate::service::{
    Access, Kind, Launch, Role, Server, Shape, Tenant, home, limited_home, token_home, uses_home,
};
use crate::store::{self, development::Development, standin::StandIn};
use crate::suite::{
    Instance, ScriptClock, Secret, Store as StoreTarget, SuiteCase, Target, Token, Work,
};
use crate::token::Opened;

/// Where operations are made.
#[derive(Debug)]
pub struct Workshop {
    clock: Clock,
    timer: OnceCell<Timer>,
    places: Places,
    /// One for each role: operations of a role share it, as clients of one service would.
    servers: RefCell<Vec<Server>>,
    store: RefCell<Option<RunningStore>>,
    ceilings: RefCell<Vec<(Shape, f64)>>,
    /// The service that requests go to, where it is not one of our own.
    elsewhere: Option<Instance>,
    /// Tokens, by the names of their targets.
    tokens: RefCell<Vec<(String, Arc<Opened>)>>,
}

/// How long the generator is looked at.
const CEILING: Duration = Duration::from_millis(300);
/// How long an answer may take then.
const PATIENCE: Duration = Duration::from_secs(10);

/// What operations are made from.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "what the caller decides, all of it"
)]
pub struct Places {
    /// Inputs are drawn from it.
    pub seed: u64,
    /// A folder for files and homes.
    pub folder: PathBuf,
    /// The `keywright` program, for operations that start servers.
    pub program: Option<PathBuf>,
    /// The core that such servers are pinned to.
    pub server_cpu: Option<u32>,
    /// The core that operations in this process go to while they are measured, with the threads that they start.
    pub local_cpu: Option<Core>,
    /// What format-preserving encryption runs on, where it is not the best of the machine.
    pub fpe_backend: Option<Backend>,
    /// A bare server to compare with, called as `PROGRAM ADDR CA CERT KEY`.
    pub floor: Option<PathBuf>,
    /// Which secret store is measured.
    pub store: StorePlace,
    /// Variables of the environment, which only the caller may read: tokens that suites point to.
    pub lookup: fn(&str) -> Option<String>,
}

/// Which secret store is measured.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum StorePlace {
    /// One that runs somewhere.
    At(store::Settings),
    /// This program, started for the measurement.
    Development(PathBuf),
    /// Our own stand-in, which speaks the protocol and is labelled everywhere.
    #[default]
    StandIn,
}

/// Which engine of a store a suite's target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Engine {
    Kv,
    Transit,
}

/// A store that has been started.
#[derive(Debug)]
enum RunningStore {
    Development(Development),
    Elsewhere(store::Settings),
    StandIn(StandIn),
}

impl Workshop {
    /// Nothing is started before it is needed.
    #[must_use]
    pub fn new(clock: Clock, places: Places) -> Self {
        Self {
            clock,
            timer: OnceCell::new(),
            places,
            servers: RefCell::default(),
            store: RefCell::default(),
            ceilings: RefCell::default(),
            elsewhere: None,
            tokens: RefCell::default(),
        }
    }

    /// The same, with requests to the service going to one that runs already.
    #[must_use]
    pub fn with_service(mut self, instance: Instance) -> Self {
        self.elsewhere = Some(instance);
        self
    }

    /// The same, with operations of a token done by this one.
    #[must_use]
    pub fn with_token(self, token: Arc<Opened>) -> Self {
        let name = crate::token::TARGET.to_owned();
        self.tokens.borrow_mut().push((name, token));
        self
    }

    /// Every operation of every kind of target.
    pub fn operations() -> impl Iterator<Item = &'static Operation> {
        crate::local::OPERATIONS
            .iter()
            .chain(crate::local::fpe::operations())
            .chain(crate::service::OPERATIONS)
            .chain(store::OPERATIONS)
            .chain(crate::token::OPERATIONS)
    }

    /// The operation of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Operation> {
        Self::operations().find(|operation| operation.name == name)
    }

    /// The clock's measured properties.
    pub fn timer(&self) -> Timer {
        *self.timer.get_or_init(|| Timer::calibrate(&self.clock))
    }

    /// A case of this operation with the usual judging.
    #[must_use]
    pub fn plan(operation: &Operation) -> CasePlan {
        CasePlan {
            unit: operation.unit.to_owned(),
            units: operation.units,
            bytes: operation.bytes,
            connections: match operation.make {
                Make::Service(shape) => Some(u64::from(shape.connections)),
                _ => None,
            },
            ..CasePlan::new(operation.name, operation.target)
        }
    }

    /// What the generator makes of requests that do nothing, over the same kind of connections, in
    /// operations a second: a schedule that asks for much of this measures the generator. Found once for
    /// each shape, by a short loop against the null mode, so the truth may be higher. Nothing for loops, and
    /// for operations in this process.
    ///
    /// # Errors
    /// The null mode cannot be measured.
    pub fn ceiling(&self, operation: &Operation, load: &Load) -> Result<Option<f64>, TargetError> {
        let (Make::Service(shape), Load::Open(_)) = (operation.make, load) else {
            return Ok(None);
        };
        let shape = Shape {
            kind: Kind::Null,
            ..shape
        };
        let known = self
            .ceilings
            .borrow()
            .iter()
            .find(|(known, _)| *known == shape)
            .copied();
        if let Some((_, rate)) = known {
            return Ok(Some(rate));
        }
        let workers = NonZeroU32::new(shape.places()).unwrap_or(NonZeroU32::MIN);
        let load = Load::Closed { workers };
        let access = self.service(Role::Null)?;
        let mut carrier = crate::service::carrier(shape, &access, self.places.seed)?;
        let assignment = Assignment {
            load: &load,
            window: Window::Time(CEILING),
            seed: self.places.seed,
            verify: Verify::Off,
            timeout: PATIENCE,
            drain: PATIENCE,
            block: CEILING,
            clock: &self.clock,
            stop: &Stop::new(),
        };
        carrier.carry(&assignment, &mut |_, _| {})?;
        let rate = carrier.carry(&assignment, &mut |_, _| {})?.rate_per_s;
        self.ceilings.borrow_mut().push((shape, rate));
        Ok(Some(rate))
    }

    /// How many at once an operation takes when nobody says.
    #[must_use]
    pub fn natural(operation: &Operation) -> NonZeroU32 {
        match operation.make {
            Make::Service(shape) => NonZeroU32::new(shape.places()).unwrap_or(NonZeroU32::MIN),
            // One connection with sixteen requests on their way.
            Make::Store(_) => NonZeroU32::MIN.saturating_add(15),
            Make::Figure(_) | Make::Fpe(_) | Make::Token(_) | Make::Worker(_) => NonZeroU32::MIN,
        }
    }

    /// What a record of these operations under this load says beside what they are called: which code did the
    /// work, and whether more threads worked than the machine has cores for.
    #[must_use]
    pub fn parameters<'a>(
        &self,
        operations: impl IntoIterator<Item = &'a Operation>,
        load: &Load,
    ) -> BTreeMap<String, String> {
        let tasks: Vec<_> = operations
            .into_iter()
            .filter_map(|operation| match operation.make {
                Make::Fpe(task) => Some(task),
                _ => None,
            })
            .collect();
        let mut said = BTreeMap::new();
        let backend = |task: &crate::local::fpe::Task| task.backend(self.places.fpe_backend).name();
        let mut backends: Vec<&str> = tasks.iter().map(backend).collect();
        backends.dedup();
        let Some(most) = tasks.iter().map(|task| task.threads()).max() else {
            return said;
        };
        said.insert("backend".to_owned(), backends.join(","));
        let threads = most.saturating_mul(load.cap().get());
        if threads > 1 {
            said.insert("threads".to_owned(), threads.to_string());
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if usize::try_from(threads).is_ok_and(|threads| threads > cores) {
            let fact = format!("{threads} threads on {cores} cores");
            said.insert("oversubscribed".to_owned(), fact);
        }
        said
    }

    /// What carries a load to this operation.
    ///
    /// # Errors
    /// The target cannot be reached, or cannot do it.
    pub fn carrier(&self, operation: &Operation, load: &Load) -> Result<AnyCarrier, TargetError> {
        self.seeded(operation, load, self.places.seed)
    }

    /// How the service is reached that a request goes to.
    fn access(&self, operation: &Operation, shape: Shape) -> Result<Access, TargetError> {
        let Some(instance) = &self.elsewhere else {
            return self.service(shape.role());
        };
        if shape.role() != Role::Keys {
            return Err(TargetError::Unsupported {
                target: operation.target.to_owned(),
                operation: operation.name.to_owned(),
                reason: "a service that runs already has no such mode".to_owned(),
            });
        }
        match self.instance(instance)? {
            Some(access) => Ok(access),
            None => self.service(shape.role()),
        }
    }

    /// As [`Workshop::carrier`], with inputs from another seed.
    fn seeded(
        &self,
        operation: &Operation,
        load: &Load,
        seed: u64,
    ) -> Result<AnyCarrier, TargetError> {
        let setting = |index| Setting {
            seed,
            index,
            bytes: usize::try_from(operation.bytes).ok(),
            folder: &self.places.folder,
            program: self.places.program.as_deref(),
            server_cpu: self.places.server_cpu,
            fpe_backend: self.places.fpe_backend,
        };
        match operation.make {
            Make::Service(shape) => {
                self.remote(shape, &self.access(operation, shape)?, (load, seed))
            }
            Make::Store(shape) => {
                let streams = load.cap().get();
                let settings = self.store()?.with_connections(1, streams);
                Ok(Box::new(store::open(shape, &settings, seed)?))
            }
            Make::Figure(measure) => Ok(Box::new(Figure {
                measure,
                places: Places {
                    seed,
                    ..self.places.clone()
                },
            })),
            Make::Token(_) => {
                let token = self.token(operation.target)?;
                self.on_token(&[(*operation, 1.0)], &token, (load, seed))
            }
            Make::Fpe(_) | Make::Worker(_) => {
                let workers: Result<Vec<_>, _> = (0..load.cap().get())
                    .filter_map(|index| operation.worker(&setting(index)))
                    .collect();
                Ok(Box::new(self.threads(workers?)))
            }
        }
    }

    /// What carries a load to a mix of blocking operations, drawn by their weights.
    ///
    /// # Errors
    /// One of them is no blocking operation, or cannot be made.
    pub fn mix(&self, parts: &[(Operation, f64)], load: &Load) -> Result<AnyCarrier, TargetError> {
        self.seeded_mix(parts, load, self.places.seed)
    }

    /// As [`Workshop::mix`], with inputs and order from another seed.
    fn seeded_mix(
        &self,
        parts: &[(Operation, f64)],
        load: &Load,
        seed: u64,
    ) -> Result<AnyCarrier, TargetError> {
        if let [
            (
                Operation {
                    make: Make::Token(_),
                    target,
                    ..
                },
                _,
            ),
            ..,
        ] = parts
        {
            return self.on_token(parts, &self.token(target)?, (load, seed));
        }
        let workers: Result<Vec<_>, _> = (0..load.cap().get())
            .map(|index| self.mixed(parts, index, seed))
            .collect();
        let names = parts
            .iter()
            .map(|(operation, weight)| (operation.name.to_owned(), *weight))
            .collect();
        Ok(Box::new(self.threads(workers?).with_parts(names)))
    }

    /// What drives operations in this process.
    fn threads(&self, workers: Vec<Box<dyn Worker>>) -> Threads {
        let threads = Threads::new(workers, self.timer()).with_cpu(own_cpu());
        match self.places.local_cpu {
            Some(core) => threads.with_begin(Box::new(move || core.enter())),
            None => threads,
        }
    }

    /// What carries a load to operations of this program in `count` processes, by weight where there are
    /// several. The places of the load are divided among them.
    ///
    /// # Errors
    /// As [`Processes::start`].
    pub fn processes(
        &self,
        parts: &[(Operation, f64)],
        count: NonZeroU32,
        load: &Load,
    ) -> Result<AnyCarrier, TargetError> {
        let from = (self.places.seed, self.places.folder.as_path());
        let own = std::env::current_exe().map_err(|error| {
            TargetError::System(format!("this program cannot be started again: {error}"))
        })?;
        let processes = Processes::start(&own, parts, (load, count), from)?;
        Ok(Box::new(processes))
    }

    /// The token of this target.
    fn token(&self, name: &str) -> Result<Arc<Opened>, TargetError> {
        let tokens = self.tokens.borrow();
        let known = tokens.iter().find(|(known, _)| known == name);
        known
            .map(|(_, token)| Arc::clone(token))
            .ok_or(TargetError::Load(
                "no token is named: use `keywright hsm benchmark`, or a suite with a pkcs11 target",
            ))
    }

    /// What carries a load to a token: one operation, or several by weight.
    fn on_token(
        &self,
        parts: &[(Operation, f64)],
        token: &Arc<Opened>,
        (load, seed): (&Load, u64),
    ) -> Result<AnyCarrier, TargetError> {
        let workers: Result<Vec<Box<dyn Worker>>, _> = (0..load.cap().get())
            .map(|index| self.at_token(parts, token, (index, seed)))
            .collect();
        let threads = self.threads(workers?);
        let names = parts
            .iter()
            .map(|(operation, weight)| (operation.name.to_owned(), *weight));
        let carrier = match parts {
            [_] => threads,
            _ => threads.with_parts(names.collect()),
        };
        Ok(Box::new(Labelled {
            carrier,
            words: Vec::new(),
            about: token.about(),
        }))
    }

    fn at_token(
        &self,
        parts: &[(Operation, f64)],
        token: &Arc<Opened>,
        (index, seed): (u32, u64),
    ) -> Result<Box<dyn Worker>, TargetError> {
        let mut workers = Vec::with_capacity(parts.len());
        for (operation, weight) in parts {
            let Make::Token(shape) = operation.make else {
                return Err(TargetError::Load("a token takes its own operations only"));
            };
            let setting = Setting {
                seed,
                index,
                bytes: usize::try_from(operation.bytes).ok(),
                folder: &self.places.folder,
                program: None,
                server_cpu: None,
                fpe_backend: None,
            };
            let worker = crate::token::worker(token, (operation.name, shape), &setting)?;
            workers.push((worker, *weight));
        }
        match workers.len() {
            1 => workers
                .pop()
                .map(|(worker, _)| worker)
                .ok_or(TargetError::Load("a mix needs operations")),
            _ => {
                let order = seed.wrapping_add(u64::from(index));
                Ok(Box::new(Mixed::new(workers, order)))
            }
        }
    }

    /// The token that a suite names, opened once.
    fn suite_token(&self, name: &str, at: &Token) -> Result<Arc<Opened>, TargetError> {
        if let Ok(known) = self.token(name) {
            return Ok(known);
        }
        let pin = match &at.pin {
            None => None,
            Some(Secret::File(path)) => Some(
                std::fs::read(path)
                    .map_err(|error| TargetError::System(format!("{}: {error}", path.display())))?,
            ),
            Some(Secret::Variable(variable)) => Some(
                (self.places.lookup)(variable)
                    .ok_or_else(|| TargetError::Authentication {
                        target: name.to_owned(),
                        reason: format!("the variable {variable} with its PIN is not set"),
                    })?
                    .into_bytes(),
            ),
        };
        let opened = crate::token::of_suite(at, pin)?;
        self.tokens
            .borrow_mut()
            .push((name.to_owned(), Arc::clone(&opened)));
        Ok(opened)
    }

    fn mixed(
        &self,
        parts: &[(Operation, f64)],
        index: u32,
        seed: u64,
    ) -> Result<Box<dyn Worker>, TargetError> {
        let mut workers = Vec::with_capacity(parts.len());
        for (operation, weight) in parts {
            let setting = Setting {
                seed,
                index,
                bytes: usize::try_from(operation.bytes).ok(),
                folder: &self.places.folder,
                program: None,
                server_cpu: None,
                fpe_backend: self.places.fpe_backend,
            };
            let worker = operation.worker(&setting).ok_or(TargetError::Load(
                "only operations in this process can be mixed here",
            ))?;
            workers.push((worker?, *weight));
        }
        Ok(Box::new(Mixed::new(
            workers,
            seed.wrapping_add(u64::from(index)),
        )))
    }

    /// What carries the load of a suite's case.
    ///
    /// # Errors
    /// The target cannot be reached, cannot do it, or is of a kind that this program does not have.
    pub fn suite_case(&self, case: &SuiteCase, target: &Target) -> Result<AnyCarrier, TargetError> {
        let missing = |reason: &str| TargetError::Unsupported {
            target: case.plan.target.clone(),
            operation: case.work.name().to_owned(),
            reason: reason.to_owned(),
        };
        let load = &case.plan.load;
        let seed = case.seed.unwrap_or(self.places.seed);
        let access = match target {
            Target::Script(script) => {
                return Ok(match script.clock {
                    ScriptClock::Simulated => Box::new(script.server.clone()),
                    ScriptClock::Real => {
                        Box::new(Scripted::new(&script.server, load, self.timer()))
                    }
                });
            }
            Target::Http { url, tls } => {
                return Ok(Box::new(crate::url::carrier(case, url, tls)?));
            }
            Target::Service(instance) => self.instance(instance)?,
            Target::Kv(store) => return self.stored(case, (Engine::Kv, store)),
            Target::Transit(store) => return self.stored(case, (Engine::Transit, store)),
            Target::Pkcs11(at) => {
                let token = self.suite_token(&case.plan.target, at)?;
                let one;
                let parts: &[(Operation, f64)] = match &case.work {
                    Work::One(operation) => {
                        one = [(*operation, 1.0)];
                        &one
                    }
                    Work::Mix(parts) => parts,
                    Work::Script | Work::Url => &[],
                };
                return self.on_token(parts, &token, (load, seed));
            }
            Target::Local | Target::Null => None,
        };
        match (&case.work, access) {
            (Work::One(operation), None) => self.seeded(operation, load, seed),
            (Work::One(operation), Some(access)) => match operation.make {
                Make::Service(shape) => self.remote(shape, &access, (load, seed)),
                _ => Err(missing("a service takes requests only")),
            },
            (Work::Mix(parts), _) => self.seeded_mix(parts, load, seed),
            (Work::Script | Work::Url, _) => Err(missing("it is a target of its own kind")),
        }
    }

    /// A case against the secret store that a suite names.
    fn stored(
        &self,
        case: &SuiteCase,
        at: (Engine, &StoreTarget),
    ) -> Result<AnyCarrier, TargetError> {
        let Work::One(Operation {
            make: Make::Store(shape),
            ..
        }) = case.work
        else {
            return Err(TargetError::Load(
                "a secret store takes its own operations only",
            ));
        };
        let settings = match &at.1.url {
            Some(url) => self.elsewhere(&case.plan.target, url, at)?,
            None => self.store()?,
        };
        let streams = case.streams.unwrap_or(case.plan.load.cap().get());
        let settings = settings.with_connections(case.connections.unwrap_or(1), streams);
        let seed = case.seed.unwrap_or(self.places.seed);
        Ok(Box::new(store::open(shape, &settings, seed)?))
    }

    fn elsewhere(
        &self,
        name: &str,
        url: &str,
        (engine, at): (Engine, &StoreTarget),
    ) -> Result<store::Settings, TargetError> {
        let file = |path: &Path| {
            std::fs::read(path)
                .map_err(|error| TargetError::System(format!("{}: {error}", path.display())))
        };
        let token = match &at.token {
            Some(Secret::File(path)) => file(path)?,
            Some(Secret::Variable(variable)) => (self.places.lookup)(variable)
                .ok_or_else(|| TargetError::Authentication {
                    target: name.to_owned(),
                    reason: format!("the variable {variable} with its token is not set"),
                })?
                .into_bytes(),
            None => return Err(TargetError::Load("the store's target names no token")),
        };
        let mut token = token;
        token.truncate(token.trim_ascii_end().len());
        let ca = at
            .tls
            .ca
            .as_deref()
            .ok_or(TargetError::Load("the store's target names no ca"))?;
        let token = SecretBytes::from_vec(token);
        let settings = store::Settings::new(name, url, token, &file(ca)?);
        let Some(mount) = &at.mount else {
            return Ok(settings);
        };
        let mount = mount.clone();
        let standard = store::Mounts::default();
        let mounts = match (engine, at.version) {
            (Engine::Transit, _) => store::Mounts {
                transit: mount,
                ..standard
            },
            (Engine::Kv, Some(1)) => store::Mounts {
                kv1: mount,
                ..standard
            },
            (Engine::Kv, _) => store::Mounts {
                kv: mount,
                ..standard
            },
        };
        Ok(settings.with_mounts(mounts))
    }

    fn remote(
        &self,
        shape: Shape,
        access: &Access,
        (load, seed): (&Load, u64),
    ) -> Result<AnyCarrier, TargetError> {
        let shape = shape.with_places(load.cap());
        let carrier = crate::service::carrier(shape, access, seed)?;
        // Not pinned apart, a server of this machine and the generator take turns on the same cores.
        let shared = access.process().is_some() && self.places.server_cpu.is_none();
        Ok(Box::new(Labelled {
            carrier,
            words: if shared {
                vec![Word::CoLocated]
            } else {
                Vec::new()
            },
            about: BTreeMap::new(),
        }))
    }

    /// How a service that somebody else runs is reached; nothing for one of our own.
    fn instance(&self, instance: &Instance) -> Result<Option<Access>, TargetError> {
        match instance {
            Instance::Limited(capacity) => self.service(Role::Limited(*capacity)).map(Some),
            Instance::Own => Ok(None),
            Instance::Home(home) => self.serving(self.program()?, Role::Keys, home).map(Some),
            Instance::Running {
                url,
                tls,
                context,
                tenants,
            } => {
                let unset = |what: &'static str| TargetError::Load(what);
                let ca = tls
                    .ca
                    .as_deref()
                    .ok_or_else(|| unset("the target names no ca"))?;
                let mut known = Vec::new();
                if let (Some(cert), Some(key), Some(context)) = (&tls.cert, &tls.key, context) {
                    known.push(Tenant::read("client", context, cert, key)?);
                }
                for tenant in tenants {
                    let (cert, key) = (&tenant.cert, &tenant.key);
                    known.push(Tenant::read(&tenant.name, &tenant.context, cert, key)?);
                }
                Access::read(url, ca, known).map(Some)
            }
        }
    }

    fn program(&self) -> Result<&Path, TargetError> {
        self.places.program.as_deref().ok_or(TargetError::Program)
    }

    /// How the secret store is reached: the one that was named, one that is started for the measurement, or
    /// the stand-in, whose label goes with every figure.
    fn store(&self) -> Result<store::Settings, TargetError> {
        let mut running = self.store.borrow_mut();
        if running.is_none() {
            *running =
                Some(match &self.places.store {
                    StorePlace::At(settings) => RunningStore::Elsewhere(settings.clone()),
                    StorePlace::Development(program) => RunningStore::Development(
                        Development::start(program, &self.places.folder, &self.clock)?,
                    ),
                    StorePlace::StandIn => RunningStore::StandIn(StandIn::start(&self.clock)?),
                });
        }
        Ok(match &*running {
            Some(RunningStore::Elsewhere(settings)) => settings.clone(),
            Some(RunningStore::Development(server)) => server.settings().clone(),
            Some(RunningStore::StandIn(server)) => server.settings(),
            None => return Err(TargetError::Load("no secret store was started")),
        })
    }

    /// A server of this role over a home of this measurement's folder, as its clients reach it.
    fn service(&self, role: Role) -> Result<Access, TargetError> {
        let program = match role {
            Role::Floor => {
                let floor = self.places.floor.as_deref();
                floor.ok_or_else(|| TargetError::Unsupported {
                    target: "service".to_owned(),
                    operation: "service.floor".to_owned(),
                    reason: "no program to compare with was named (--floor PROGRAM)".to_owned(),
                })?
            }
            _ => self.program()?,
        };
        let home = match role {
            Role::Limited(_) => limited_home(&self.places.folder)?,
            Role::Token => token_home(&self.places.folder, program)?,
            Role::Uses => uses_home(&self.places.folder)?,
            _ => home(&self.places.folder)?,
        };
        self.serving(program, role, &home)
    }

    /// The server of this role over this home, started if there is none yet: a home is open in one server at a time.
    fn serving(&self, program: &Path, role: Role, home: &Path) -> Result<Access, TargetError> {
        let is_it = |server: &&Server| server.role() == role && server.home() == home;
        if let Some(server) = self.servers.borrow().iter().find(is_it) {
            return server.access();
        }
        let launch = Launch {
            program,
            cpu: self.places.server_cpu,
        };
        let server = Server::start(launch, role, home)?;
        let access = server.access()?;
        self.servers.borrow_mut().push(server);
        Ok(access)
    }

    /// The folder for files.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.places.folder
    }
}

/// Processor time of this process, for work that is done in it. From the line of the whole process, because
/// threads that have ended are in no other; it counts in hundredths of a second.
fn own_cpu() -> CpuTime {
    Box::new(|| Process::own().whole_cpu_ns())
}

/// A carrier with facts beside it.
struct Labelled<C> {
    carrier: C,
    words: Vec<Word>,
    about: BTreeMap<String, String>,
}

impl<C: Carrier> Carrier for Labelled<C> {
    fn carry(
        &mut self,
        assignment: &Assignment<'_>,
        block: &mut dyn FnMut(&BlockRecord, &Ledger),
    ) -> Result<Carried, TargetError> {
        self.carrier.carry(assignment, block)
    }

    fn parts(&self) -> Vec<(String, f64)> {
        self.carrier.parts()
    }

    fn words(&self) -> Vec<Word> {
        self.words.clone()
    }

    fn about(&self) -> BTreeMap<String, String> {
        let mut about = self.carrier.about();
        about.extend(self.about.clone());
        about
    }

    fn simulated(&self) -> bool {
        self.carrier.simulated()
    }
}

/// Several blocking operations, one of them at a time by weight.
struct Mixed {
    workers: Vec<Box<dyn Worker>>,
    /// Sums of weights, the last one 1.
    upto: Vec<f64>,
    random: Generator,
    last: usize,
}

impl Mixed {
    fn new(parts: Vec<(Box<dyn Worker>, f64)>, seed: u64) -> Self {
        let total: f64 = parts.iter().map(|(_, weight)| weight).sum();
        let mut sum = 0.0;
        let (workers, upto) = parts
            .into_iter()
            .map(|(worker, weight)| {
                sum += weight / total;
                (worker, sum)
            })
            .unzip();
        Self {
            workers,
            upto,
            random: Generator::new(seed),
            last: 0,
        }
    }
}

impl Worker for Mixed {
    fn operate(&mut self) -> Result<(), Fault> {
        let draw = self.random.uniform();
        let place = self.upto.iter().position(|upto| draw < *upto);
        self.last = place.unwrap_or(self.workers.len() - 1);
        self.workers[self.last].operate()
    }

    fn check(&mut self) -> Check {
        self.workers[self.last].check()
    }

    fn part(&self) -> usize {
        self.last
    }
}

/// A quantity that is measured once a run.
struct Figure {
    measure: fn(&Setting<'_>) -> Result<f64, TargetError>,
    places: Places,
}

impl Carrier for Figure {
    fn carry(
        &mut self,
        _: &Assignment<'_>,
        _: &mut dyn FnMut(&BlockRecord, &Ledger),
    ) -> Result<Carried, TargetError> {
        let figure = (self.measure)(&Setting {
            seed: self.places.seed,
            index: 0,
            bytes: None,
            folder: &self.places.folder,
            program: self.places.program.as_deref(),
            server_cpu: self.places.server_cpu,
            fpe_backend: self.places.fpe_backend,
        })?;
        let mut carried = Carried::default();
        carried.ledger.counts.planned = 1;
        carried.ledger.counts.sent = 1;
        carried.ledger.counts.unverified = 1;
        carried.figure = Some(figure);
        carried.batch = 1;
        Ok(carried)
    }
}
