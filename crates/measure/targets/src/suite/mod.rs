//! Suites: files that say what is measured, on what, under which load, and how it is judged.
//!
//! A suite is TOML. It is read into typed data, put over its defaults, and every case is resolved to a
//! [`CasePlan`] with the operations that it names. A key that is not known, a value of the wrong type or
//! out of range, a name that does not exist: each is an error with its file and line, and with the nearest
//! name where there is one. Nothing is ignored.
//!
//! ```toml
//! version = 1
//! include = ["common.toml"]            # below this file's folder
//! defaults = { runs = 5, warmup = "2s", duration = "30s", verify = "sample" }
//! [target]                             # local, null and service need no line of their own
//! svc = { kind = "service", url = "https://localhost:8443", tls = { ca = "ca.pem", cert = "a.pem", key = "a.key" } }
//! [[case]]
//! id = "encrypt"
//! target = ["svc", "service"]          # every list makes one case for each combination
//! op = "service.encrypt"               # or mix = { encrypt = 80, decrypt = 20 }
//! sizes = ["12B", "1KiB"]
//! load = { rate = [1000, 2000], cap = 64 }   # or { concurrency = 8 }
//! slo = { p99 = "20ms", errors = "0.1%" }
//! ```
//!
//! **Includes.** Included files come first: their cases stand before those of the file that names them,
//! its defaults replace theirs one by one, and the defaults that come of it hold for every case of the
//! suite, wherever it stands. Targets and case ids must be unique over all files. Include paths
//! are relative and cannot leave the suite's folder.
//!
//! **Variables.** `${env:NAME}` in the texts of targets is replaced by what the caller's lookup gives.
//!
//! Not here: carrying loads, reading the environment, and secrets, which a suite only points to.

mod error;
mod fields;
mod filter;
pub mod fuzzing;
mod include;
mod nearest;
mod node;
mod operations;
mod preset;
mod resolve;
mod shape;
mod shipped;
mod target;
mod variables;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use keywright_encoding::hex;
use keywright_measure::Window;
use keywright_measure::plan::CasePlan;
use keywright_primitives::hash::sha256;
use toml::de::DeTable;

use fields::Fields;
use include::Folder;
use node::{Item, Section, Source};
use resolve::{Against, Draft};
use target::Surroundings;

pub use error::{Error, Place, Problem};
pub use filter::{Filter, Glob};
pub use nearest::nearest;
pub use operations::choose;
pub use preset::Preset;
pub use shape::HttpVersion;
pub use shipped::{SHIPPED, Shipped};
pub use target::{Client, Instance, Script, ScriptClock, Secret, Store, Target, Tls, Token};
pub use variables::Lookup;

use crate::operation::{Make, Operation};

/// A suite, ready to be run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Suite {
    /// The file's name without its ending, or the name it was given.
    pub name: String,
    /// What it says about itself.
    pub title: Option<String>,
    /// SHA-256 of the file, in hex; where files are included, of their digests one after the other, the
    /// first file's first.
    pub sha256: String,
    /// Targets by name, with those that need no declaration.
    pub targets: BTreeMap<String, Target>,
    /// What is to be measured, in the order of the files.
    pub cases: Vec<SuiteCase>,
}

/// One operation, or mix of operations, against one target under one load.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a row of a suite; made by a command line as well"
)]
pub struct SuiteCase {
    /// What the engine is told. Its `target` is a name in [`Suite::targets`].
    pub plan: CasePlan,
    /// What is done.
    pub work: Work,
    /// The warm-up, which may be a number of operations; then [`CasePlan::warmup`] is zero.
    pub warmup: Window,
    /// Runs.
    pub runs: u32,
    /// Rest before each run but the first.
    pub cooldown: Duration,
    /// Where the case has a seed of its own.
    pub seed: Option<u64>,
    /// The preset that it was made from.
    pub preset: Option<Preset>,
    /// The comparison it has to pass.
    pub gate: Option<GateRule>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Connections, where the suite says.
    pub connections: Option<u32>,
    /// Streams on each, where the suite says.
    pub streams: Option<u32>,
    /// Over which HTTP, where the suite says.
    pub http: Option<HttpVersion>,
}

/// A comparison that a case has to pass.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct GateRule {
    /// The baseline's name.
    pub baseline: String,
    /// The share by which it may be worse; absent for the usual one.
    pub threshold: Option<f64>,
}

/// What is done.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Work {
    /// Operations by weight; weights have any sum above zero.
    Mix(Vec<(Operation, f64)>),
    /// One operation. Requests to the service have the suite's size, connections and streams.
    One(Operation),
    /// What the server on paper does.
    Script,
    /// A GET of the target's URL.
    Url,
}

/// What a suite is resolved against.
#[derive(Clone, Copy)]
#[expect(
    clippy::exhaustive_structs,
    reason = "what the caller knows, all of it"
)]
pub struct Context<'a> {
    /// The operations of this program.
    pub operations: &'a [&'a Operation],
    /// Variables of the environment.
    pub lookup: Lookup<'a>,
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Context")
            .field("operations", &self.operations.len())
            .finish_non_exhaustive()
    }
}

impl Work {
    /// The operation's name; `mix` for several.
    #[must_use]
    pub const fn name(&self) -> &str {
        match self {
            Self::Mix(_) => "mix",
            Self::One(operation) => operation.name,
            Self::Script => "script.call",
            Self::Url => "http.get",
        }
    }

    /// A plan for this on the target of this name, with the usual judging.
    #[must_use]
    pub fn plan(&self, target: &str) -> CasePlan {
        let mut plan = CasePlan::new(self.name(), target);
        self.describe(&mut plan);
        if let Self::Mix(parts) = self {
            let part =
                |(operation, weight): &(Operation, f64)| format!("{}={weight}", operation.name);
            let parts: Vec<String> = parts.iter().map(part).collect();
            plan.parameters.insert("mix".to_owned(), parts.join(","));
        }
        plan
    }

    /// What is counted, payload and connections. The parts of a mix are counted by the operation unless
    /// they agree.
    fn describe(&self, plan: &mut CasePlan) {
        let connections = |operation: &Operation| match operation.make {
            Make::Service(shape) => Some(u64::from(shape.connections)),
            _ => None,
        };
        let of = |operation: &Operation| (operation.unit, operation.units, operation.bytes);
        let first = match self {
            Self::Mix(parts) => {
                let first = parts.first().map(|(operation, _)| operation);
                let agree = |one| parts.iter().all(|(other, _)| of(other) == of(one));
                first.filter(|first| agree(first))
            }
            Self::One(operation) => Some(operation),
            Self::Script | Self::Url => None,
        };
        if let Some(operation) = first {
            operation.unit.clone_into(&mut plan.unit);
            plan.units = operation.units;
            plan.bytes = operation.bytes;
            plan.connections = connections(operation);
        }
    }
}

impl Suite {
    /// Reads a suite file and what it includes.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn read(path: &Path, context: &Context<'_>) -> Result<Self, Error> {
        Self::read_in_part(path, context).and_then(whole)
    }

    /// Reads a suite from its text. It cannot include files; relative paths of its targets are taken as
    /// they are.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn parse(name: &str, text: &str, context: &Context<'_>) -> Result<Self, Error> {
        Self::parse_in_part(name, text, context).and_then(whole)
    }

    /// As [`Suite::read`], but cases that cannot be resolved are left out, and why is beside the suite.
    ///
    /// # Errors
    /// What is wrong with the files themselves.
    pub fn read_in_part(path: &Path, context: &Context<'_>) -> Result<(Self, Vec<Error>), Error> {
        let shown = path.display().to_string();
        let place = Place::new(shown.as_str().into(), None);
        let text = include::read(path, &place, &shown)?;
        let folder = Folder::of(path).map_err(|error| {
            let (path, reason) = (error::cut(&shown), error.kind());
            Error::new(place.clone(), Problem::Unreadable { path, reason })
        })?;
        let stem = path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned());
        let mut reader = Reader::new(folder, context);
        // A file that includes itself is found by its path with links followed.
        reader.seen.extend(path.canonicalize().ok());
        let here = path.parent().unwrap_or(Path::new("")).to_owned();
        reader.file(&shown, &text, &here, 0)?;
        reader.finish(stem.unwrap_or(shown), place)
    }

    /// As [`Suite::parse`], but cases that cannot be resolved are left out, and why is beside the suite.
    ///
    /// # Errors
    /// What is wrong with the text itself.
    pub fn parse_in_part(
        name: &str,
        text: &str,
        context: &Context<'_>,
    ) -> Result<(Self, Vec<Error>), Error> {
        let place = Place::new(name.into(), None);
        if text.len() > include::MOST_BYTES {
            return Err(Error::new(place, Problem::TooLarge));
        }
        let mut reader = Reader::new(Folder::None, context);
        reader.file(name, text, Path::new(""), 0)?;
        reader.finish(name.to_owned(), place)
    }

    /// The cases that a filter chooses.
    pub fn chosen<'a>(&'a self, filter: &'a Filter) -> impl Iterator<Item = &'a SuiteCase> {
        self.cases.iter().filter(|case| filter.chooses(case))
    }

    /// A case's target.
    #[must_use]
    pub fn target(&self, case: &SuiteCase) -> Option<&Target> {
        self.targets.get(&case.plan.target)
    }
}

fn whole((suite, errors): (Suite, Vec<Error>)) -> Result<Suite, Error> {
    errors.into_iter().next().map_or(Ok(suite), Err)
}

/// A suite as its files are read.
struct Reader<'a> {
    context: &'a Context<'a>,
    folder: Folder,
    title: Option<String>,
    digests: Vec<[u8; 32]>,
    seen: Vec<PathBuf>,
    targets: BTreeMap<String, Target>,
    defaults: Fields,
    drafts: Vec<Draft>,
}

const ROOT: &[&str] = &["version", "title", "include", "defaults", "target", "case"];

impl<'a> Reader<'a> {
    fn new(folder: Folder, context: &'a Context<'a>) -> Self {
        Self {
            context,
            folder,
            title: None,
            digests: Vec::new(),
            seen: Vec::new(),
            targets: BTreeMap::new(),
            defaults: Fields::default(),
            drafts: Vec::new(),
        }
    }

    fn file(&mut self, name: &str, text: &str, here: &Path, depth: usize) -> Result<(), Error> {
        let source = Source::new(name, text);
        self.digests.push(sha256(text.as_bytes()));
        if self.digests.len() > include::MOST_FILES {
            let (what, most) = ("files", include::MOST_FILES);
            return Err(Error::new(source.whole(), Problem::TooMany { what, most }));
        }
        let table = DeTable::parse(text).map_err(|error| syntax(&source, &error))?;
        let root = Section::root(&source, &table, ROOT)?;
        let version = root.need("version", "version")?;
        let found = version.whole(0..=u64::MAX)?;
        if found != 1 {
            return Err(version.error(Problem::Version { found }));
        }
        if let Some(item) = root.get("include", "include") {
            for item in item.one_or_many()? {
                self.include(&item, here, depth)?;
            }
        }
        if let Some(title) = root.get("title", "title").filter(|_| depth == 0) {
            self.title = Some(title.name()?.to_owned());
        }
        self.settings(&root, here)?;
        if let Some(cases) = root.get("case", "case") {
            for item in cases.list()? {
                self.case(&item)?;
            }
        }
        Ok(())
    }

    fn include(&mut self, item: &Item<'_>, here: &Path, depth: usize) -> Result<(), Error> {
        let written = item.text()?;
        if depth >= include::DEEPEST {
            return Err(item.error(Problem::IncludeDepth));
        }
        let path = self.folder.find(here, written, &item.place())?;
        if self.seen.contains(&path) {
            let path = error::cut(written);
            return Err(item.error(Problem::IncludedTwice { path }));
        }
        let text = include::read(&path, &item.place(), written)?;
        self.seen.push(path);
        let name = here.join(written);
        let below = name.parent().unwrap_or(Path::new("")).to_owned();
        self.file(&name.display().to_string(), &text, &below, depth + 1)
    }

    fn settings(&mut self, root: &Section<'_>, here: &Path) -> Result<(), Error> {
        if let Some(item) = root.get("defaults", "defaults") {
            let own = Fields::read(&item.section("defaults", fields::DEFAULTS)?)?;
            self.defaults = own.over(&self.defaults);
        }
        let Some(item) = root.get("target", "target") else {
            return Ok(());
        };
        let around = Surroundings {
            folder: here,
            lookup: self.context.lookup,
        };
        for (written, item) in item.entries("target")? {
            let name = target::name(written, &item)?;
            let read = target::read(&item, around)?;
            if self.targets.insert(name.clone(), read).is_some() {
                let what = "target";
                return Err(item.error(Problem::Twice { what, name }));
            }
        }
        Ok(())
    }

    fn case(&mut self, item: &Item<'_>) -> Result<(), Error> {
        let table = item.section("a case", fields::CASE)?;
        let written = table.need("id", "id")?;
        let id = written.text()?;
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
        if id.is_empty() || id.len() > 80 || !id.bytes().all(allowed) {
            let form = "1 to 80 letters, digits, dots, hyphens, underscores and slashes";
            return Err(written.form(id, form));
        }
        if self.drafts.iter().any(|draft| draft.id.value == id) {
            let (what, name) = ("case", id.to_owned());
            return Err(written.error(Problem::Twice { what, name }));
        }
        if self.drafts.len() >= resolve::MOST_CASES {
            return Err(written.error(resolve::too_many()));
        }
        self.drafts.push(Draft {
            id: written.located(id.to_owned()),
            fields: Fields::read(&table)?,
        });
        Ok(())
    }

    fn finish(self, name: String, place: Place) -> Result<(Suite, Vec<Error>), Error> {
        if self.drafts.is_empty() {
            let (table, key) = ("a suite", "a case");
            return Err(Error::new(place, Problem::Missing { table, key }));
        }
        let mut targets = Target::implied();
        targets.extend(self.targets);
        let against = Against {
            targets: &targets,
            defaults: &self.defaults,
            context: self.context,
        };
        let (mut cases, mut errors) = (Vec::new(), Vec::new());
        for draft in &self.drafts {
            match draft.resolve(against) {
                Ok(more) if cases.len() + more.len() > resolve::MOST_CASES => {
                    return Err(draft.id.error(resolve::too_many()));
                }
                Ok(more) => cases.extend(more),
                Err(error) => errors.push(error),
            }
        }
        let sha256 = match self.digests.as_slice() {
            [one] => hex::encode(one),
            several => hex::encode(&sha256(several.as_flattened())),
        };
        let suite = Suite {
            name,
            title: self.title,
            sha256,
            targets,
            cases,
        };
        Ok((suite, errors))
    }
}

fn syntax(source: &Source, error: &toml::de::Error) -> Error {
    let message = error.message().split('\n').next().unwrap_or_default();
    let message: Box<str> = error::cut(message).into();
    let problem = Problem::Syntax { message };
    match error.span() {
        Some(span) => source.error(span.start, problem),
        None => Error::new(source.whole(), problem),
    }
}
