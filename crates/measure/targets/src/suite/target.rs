//! Targets: what a suite says about whom to measure.
//!
//! Secrets are never in a suite: a token or PIN is named by the file or the variable it is in, and whoever
//! carries the load reads it there.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use keywright_measure::simulate::{Server, Service};

use super::error::{Error, Problem, cut};
use super::node::{Item, Section};
use super::variables::{Lookup, expanded};

/// Whom to measure.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Target {
    /// Any URL.
    Http {
        /// The URL.
        url: String,
        /// Certificates.
        tls: Tls,
    },
    /// The key-value store of Vault or OpenBao.
    Kv(Store),
    /// Operations in this process.
    Local,
    /// The empty operation: what measuring itself costs.
    Null,
    /// A token behind a PKCS#11 module.
    Pkcs11(Token),
    /// A server on paper, for the engine's own tests and demonstrations.
    Script(Box<Script>),
    /// Our own service.
    Service(Instance),
    /// The transit engine of Vault or OpenBao.
    Transit(Store),
}

/// Which service.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Instance {
    /// One with a home folder on this machine.
    Home(PathBuf),
    /// One that is started for the measurement, whose keys are used at most so many times a second.
    Limited(NonZeroU32),
    /// One that is started for the measurement and stopped after it.
    Own,
    /// One that runs somewhere.
    Running {
        /// `https://host[:port]`.
        url: String,
        /// The authority and the first client.
        tls: Tls,
        /// The context the first client works in.
        context: Option<String>,
        /// More clients, for operations that take several.
        tenants: Vec<Client>,
    },
}

/// Certificates as PEM files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct Tls {
    /// The authority that has signed the server's.
    pub ca: Option<PathBuf>,
    /// The client's chain.
    pub cert: Option<PathBuf>,
    /// The client's key.
    pub key: Option<PathBuf>,
}

/// A client of the service beside the first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct Client {
    /// Its name.
    pub name: String,
    /// The context it works in.
    pub context: String,
    /// Its certificate chain.
    pub cert: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// Vault or OpenBao.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct Store {
    /// `https://host[:port]`; without one it is the store that whoever runs the suite names, or a stand-in,
    /// which is labelled as one.
    pub url: Option<String>,
    /// Certificates.
    pub tls: Tls,
    /// Where the token is.
    pub token: Option<Secret>,
    /// Where the engine is mounted.
    pub mount: Option<String>,
    /// The version of the key-value engine, 1 or 2.
    pub version: Option<u32>,
}

/// A token behind a PKCS#11 module.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct Token {
    /// The module's file.
    pub module: PathBuf,
    /// The token's label.
    pub label: Option<String>,
    /// The slot's number.
    pub slot: Option<u64>,
    /// Where the PIN is.
    pub pin: Option<Secret>,
}

/// Where a secret is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Secret {
    /// In a file.
    File(PathBuf),
    /// In a variable of the environment.
    Variable(String),
}

/// A server on paper.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct Script {
    /// What it does.
    pub server: Server,
    /// In whose time.
    pub clock: ScriptClock,
}

/// In whose time a server on paper works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "time passes or is counted")]
pub enum ScriptClock {
    /// In real time.
    Real,
    /// In simulated time, which takes no time.
    Simulated,
}

impl Target {
    /// Kinds as suites spell them.
    pub const KINDS: &[&str] = &[
        "local", "service", "null", "script", "http", "kv", "transit", "pkcs11",
    ];

    /// Its kind as suites spell it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Http { .. } => "http",
            Self::Kv(_) => "kv",
            Self::Local => "local",
            Self::Null => "null",
            Self::Pkcs11(_) => "pkcs11",
            Self::Script(_) => "script",
            Self::Service(_) => "service",
            Self::Transit(_) => "transit",
        }
    }

    /// What needs no declaration: this process, the empty operation, and a service of one's own.
    pub(super) fn implied() -> BTreeMap<String, Self> {
        let own = Self::Service(Instance::Own);
        [
            ("local", Self::Local),
            ("null", Self::Null),
            ("service", own),
        ]
        .map(|(name, target)| (name.to_owned(), target))
        .into()
    }
}

/// What targets are read with.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    /// The folder of the file, for relative paths.
    pub(super) folder: &'a Path,
    pub(super) lookup: Lookup<'a>,
}

impl Surroundings<'_> {
    fn text(&self, item: &Item<'_>) -> Result<String, Error> {
        expanded(item, self.lookup)
    }

    fn path(&self, item: &Item<'_>) -> Result<PathBuf, Error> {
        Ok(self.folder.join(self.text(item)?))
    }

    /// The URL of a server without a path, a query or a name and password.
    fn server_url(&self, item: &Item<'_>) -> Result<String, Error> {
        const FORM: &str = "https://host or https://host:port";
        let text = self.text(item)?;
        let uri: Option<http::Uri> = text.parse().ok();
        let fits = uri.is_some_and(|uri| {
            uri.scheme_str() == Some("https")
                && uri
                    .authority()
                    .is_some_and(|host| !host.as_str().contains('@'))
                && matches!(uri.path(), "" | "/")
                && uri.query().is_none()
        });
        if fits {
            Ok(text)
        } else {
            Err(item.form(&text, FORM))
        }
    }

    fn tls(&self, table: &Section<'_>) -> Result<Tls, Error> {
        let Some(item) = table.get("tls", "tls") else {
            return Ok(Tls::default());
        };
        let tls = item.section("tls", &["ca", "cert", "key"])?;
        let path = |key, field| tls.get(key, field).map(|item| self.path(&item)).transpose();
        let files = Tls {
            ca: path("ca", "tls.ca")?,
            cert: path("cert", "tls.cert")?,
            key: path("key", "tls.key")?,
        };
        match (&files.cert, &files.key) {
            (Some(_), None) => Err(tls.error(Problem::Missing {
                table: "tls",
                key: "key",
            })),
            (None, Some(_)) => Err(tls.error(Problem::Missing {
                table: "tls",
                key: "cert",
            })),
            _ => Ok(files),
        }
    }

    fn secret(&self, item: &Item<'_>) -> Result<Secret, Error> {
        let table = item.section("a secret", &["file", "env"])?;
        match (table.get("file", "file"), table.get("env", "env")) {
            (Some(file), None) => Ok(Secret::File(self.path(&file)?)),
            (None, Some(variable)) => Ok(Secret::Variable(variable.name()?.to_owned())),
            (Some(_), Some(_)) => Err(table.error(Problem::Conflict {
                one: "file",
                other: "env",
            })),
            (None, None) => Err(table.error(Problem::Missing {
                table: "a secret",
                key: "file or env",
            })),
        }
    }
}

/// Reads one target.
pub(super) fn read(item: &Item<'_>, around: Surroundings<'_>) -> Result<Target, Error> {
    // The kind decides which keys there may be, so it is looked at first.
    let all = item.section("a target", ALL_KEYS)?;
    let kind = all.need("kind", "kind")?.word(Target::KINDS)?;
    match Target::KINDS.get(kind).copied().unwrap_or_default() {
        "service" => service(&item.section("a service target", SERVICE)?, around),
        "null" => item
            .section("a null target", &["kind"])
            .map(|_| Target::Null),
        "script" => script(&item.section("a script target", SCRIPT)?),
        "http" => http(
            &item.section("an http target", &["kind", "url", "tls"])?,
            around,
        ),
        "kv" => {
            let keys = &["kind", "url", "tls", "token", "mount", "version"];
            store(&item.section("a kv target", keys)?, around).map(Target::Kv)
        }
        "transit" => {
            let keys = &["kind", "url", "tls", "token", "mount"];
            store(&item.section("a transit target", keys)?, around).map(Target::Transit)
        }
        "pkcs11" => {
            let keys = &["kind", "module", "label", "slot", "pin"];
            token(&item.section("a pkcs11 target", keys)?, around)
        }
        _ => item
            .section("a local target", &["kind"])
            .map(|_| Target::Local),
    }
}

const SERVICE: &[&str] = &[
    "kind", "url", "home", "capacity", "tls", "context", "tenants",
];
const SCRIPT: &[&str] = &[
    "kind",
    "clock",
    "places",
    "service",
    "mean",
    "freezes",
    "wrong_every",
    "fault_every",
    "silent_every",
    "queue",
    "generator",
];
const ALL_KEYS: &[&str] = &[
    "kind",
    "url",
    "home",
    "capacity",
    "tls",
    "context",
    "tenants",
    "clock",
    "places",
    "service",
    "mean",
    "freezes",
    "wrong_every",
    "fault_every",
    "silent_every",
    "queue",
    "generator",
    "token",
    "mount",
    "version",
    "module",
    "label",
    "slot",
    "pin",
];

fn service(table: &Section<'_>, around: Surroundings<'_>) -> Result<Target, Error> {
    let tls = around.tls(table)?;
    let (url, home) = (table.get("url", "url"), table.get("home", "home"));
    if let Some(capacity) = table.get("capacity", "capacity") {
        for (other, there) in [("url", &url), ("home", &home)] {
            if there.is_some() {
                let one = "capacity";
                return Err(table.error(Problem::Conflict { one, other }));
            }
        }
        only_with_url(table)?;
        let capacity = capacity.whole32(1..=10_000_000)?;
        let capacity = NonZeroU32::new(capacity).unwrap_or(NonZeroU32::MIN);
        return Ok(Target::Service(Instance::Limited(capacity)));
    }
    let instance = match (url, home) {
        (Some(_), Some(_)) => {
            return Err(table.error(Problem::Conflict {
                one: "url",
                other: "home",
            }));
        }
        (Some(url), None) => Instance::Running {
            url: around.server_url(&url)?,
            tls,
            context: table
                .get("context", "context")
                .map(|item| around.text(&item))
                .transpose()?,
            tenants: tenants(table, around)?,
        },
        (None, home) => {
            let home = home.map(|home| around.path(&home)).transpose()?;
            only_with_url(table)?;
            home.map_or(Instance::Own, Instance::Home)
        }
    };
    Ok(Target::Service(instance))
}

/// A service of this machine has its certificates in its home.
fn only_with_url(table: &Section<'_>) -> Result<(), Error> {
    for key in ["tls", "context", "tenants"] {
        if let Some(item) = table.get(key, key) {
            let problem = Problem::Missing {
                table: "a service target with tls, context or tenants",
                key: "url",
            };
            return Err(item.error(problem));
        }
    }
    Ok(())
}

fn tenants(table: &Section<'_>, around: Surroundings<'_>) -> Result<Vec<Client>, Error> {
    let Some(item) = table.get("tenants", "tenants") else {
        return Ok(Vec::new());
    };
    let tenant = |item: &Item<'_>| {
        let table = item.section("a tenant", &["name", "context", "cert", "key"])?;
        Ok(Client {
            name: around.text(&table.need("name", "tenants.name")?)?,
            context: around.text(&table.need("context", "tenants.context")?)?,
            cert: around.path(&table.need("cert", "tenants.cert")?)?,
            key: around.path(&table.need("key", "tenants.key")?)?,
        })
    };
    item.list()?.iter().map(tenant).collect()
}

fn http(table: &Section<'_>, around: Surroundings<'_>) -> Result<Target, Error> {
    const FORM: &str = "https://host with an optional port and path";
    let item = table.need("url", "url")?;
    let url = around.text(&item)?;
    let uri: Option<http::Uri> = url.parse().ok();
    let fits = uri.is_some_and(|uri| {
        uri.scheme_str() == Some("https")
            && uri
                .authority()
                .is_some_and(|host| !host.as_str().contains('@'))
    });
    if !fits {
        return Err(item.form(item.text()?, FORM));
    }
    Ok(Target::Http {
        url,
        tls: around.tls(table)?,
    })
}

fn store(table: &Section<'_>, around: Surroundings<'_>) -> Result<Store, Error> {
    let version = table.get("version", "version");
    let url = table.get("url", "url");
    if url.is_none() {
        for key in ["tls", "token", "mount", "version"] {
            if let Some(item) = table.get(key, key) {
                let problem = Problem::Missing {
                    table: "a store's target with tls, token, mount or version",
                    key: "url",
                };
                return Err(item.error(problem));
            }
        }
    }
    Ok(Store {
        url: url.map(|item| around.server_url(&item)).transpose()?,
        tls: around.tls(table)?,
        token: table
            .get("token", "token")
            .map(|item| around.secret(&item))
            .transpose()?,
        mount: table
            .get("mount", "mount")
            .map(|item| around.text(&item))
            .transpose()?,
        version: version.map(|item| item.whole32(1..=2)).transpose()?,
    })
}

fn token(table: &Section<'_>, around: Surroundings<'_>) -> Result<Target, Error> {
    let slot = table.get("slot", "slot");
    Ok(Target::Pkcs11(Token {
        module: around.path(&table.need("module", "module")?)?,
        label: table
            .get("label", "label")
            .map(|item| around.text(&item))
            .transpose()?,
        slot: slot
            .map(|item| item.whole(0..=u64::from(u32::MAX)))
            .transpose()?,
        pin: table
            .get("pin", "pin")
            .map(|item| around.secret(&item))
            .transpose()?,
    }))
}

/// An hour: times within a script are shorter.
const LONGEST: Duration = Duration::from_secs(3600);

fn script(table: &Section<'_>) -> Result<Target, Error> {
    let usual = Server::default();
    let every = |key, field| {
        let item = table.get(key, field);
        item.map_or(Ok(0), |item| item.whole(0..=1_000_000_000))
    };
    let clock = match table.get("clock", "clock") {
        Some(item) if item.word(&["simulated", "real"])? == 1 => ScriptClock::Real,
        _ => ScriptClock::Simulated,
    };
    if let (ScriptClock::Real, Some(generator)) = (clock, table.get("generator", "generator")) {
        return Err(generator.error(Problem::Conflict {
            one: "clock = \"real\"",
            other: "generator",
        }));
    }
    let server = Server {
        places: table
            .get("places", "places")
            .map_or(Ok(usual.places), |item| item.whole32(1..=100_000))?,
        service: script_service(table)?.unwrap_or(usual.service),
        freezes: freezes(table)?,
        wrong_every: every("wrong_every", "wrong_every")?,
        fault_every: every("fault_every", "fault_every")?,
        silent_every: every("silent_every", "silent_every")?,
        queue: every("queue", "queue")?,
        generator: table
            .get("generator", "generator")
            .map_or(Ok(Duration::ZERO), |item| {
                item.time(Duration::ZERO..=LONGEST)
            })?,
    };
    Ok(Target::Script(Box::new(Script { server, clock })))
}

fn script_service(table: &Section<'_>) -> Result<Option<Service>, Error> {
    let times = Duration::from_nanos(1)..=LONGEST;
    match (table.get("service", "service"), table.get("mean", "mean")) {
        (Some(_), Some(mean)) => Err(mean.error(Problem::Conflict {
            one: "service",
            other: "mean",
        })),
        (Some(fixed), None) => Ok(Some(Service::Fixed(fixed.time(times)?))),
        (None, Some(mean)) => Ok(Some(Service::Exponential(mean.time(times)?))),
        (None, None) => Ok(None),
    }
}

fn freezes(table: &Section<'_>) -> Result<Vec<(Duration, Duration)>, Error> {
    let Some(item) = table.get("freezes", "freezes") else {
        return Ok(Vec::new());
    };
    let freeze = |item: &Item<'_>| {
        let table = item.section("a freeze", &["at", "for"])?;
        let at = table
            .need("at", "freezes.at")?
            .time(Duration::ZERO..=LONGEST)?;
        let lasts = table
            .need("for", "freezes.for")?
            .time(Duration::from_nanos(1)..=LONGEST)?;
        Ok((at, lasts))
    };
    item.list()?.iter().map(freeze).collect()
}

/// The name of a target: what stands in case ids, so no character that patterns or paths give a meaning.
pub(super) fn name(written: &str, item: &Item<'_>) -> Result<String, Error> {
    let allowed = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    if written.is_empty() || written.len() > 60 || !written.chars().all(allowed) {
        return Err(item.error(Problem::Form {
            field: "a target's name",
            text: cut(written),
            form: "1 to 60 letters, digits, dots, hyphens and underscores",
        }));
    }
    Ok(written.to_owned())
}
