//! `keywright protect`, `reveal` and `migrate`: columns of whole files, CSV, Parquet and Arrow.
//!
//! Keys are fetched here and given to `keywright-protect`, which does the work. An interrupted run goes on when
//! the same command is given again.

mod dialect;
mod keys;
mod made;
mod opened;
mod progress;
mod refused;
mod show;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use keywright_format::Rules;
use keywright_protect::{
    Error, Files, Foreign, Mode, Options, Origin, Overwrite, Plan, Progress, Protection,
    protection_of,
};

pub(crate) use self::dialect::DialectArgs;
use self::keys::Start;
use self::made::NewFiles;
pub(crate) use self::opened::{Opened, check_regular};
pub(crate) use self::refused::{refused, refused_columnar, refused_in_schema, table_advice};
use crate::confirm::{Yes, confirm};
use crate::exit::{Exit, Failure};
use crate::output::Format;

/// What every command over a file takes.
#[derive(Debug, clap::Args)]
struct Table {
    /// The file: CSV, Parquet, or Arrow IPC.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The file to write. It appears when it is whole.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Where rows go whose values do not fit, with on_bad = "reject" [default: OUT.rejects].
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    #[command(flatten)]
    dialect: DialectArgs,
    /// How many threads work on the file, two at most on one that is not CSV [default: as many as there are
    /// cores].
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Go on with the run that was interrupted; that happens without this word, too.
    #[arg(long, conflicts_with = "restart")]
    resume: bool,
    /// Begin anew instead of going on with the run that was interrupted.
    #[arg(long)]
    restart: bool,
    /// Show no progress.
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    yes: Yes,
}

/// Make tokens of chosen columns of a file; everything else stays as it is.
#[derive(Debug, clap::Args)]
pub(crate) struct Protect {
    #[command(flatten)]
    table: Table,
    /// Which column is protected how: docs/format.md.
    #[arg(long, value_name = "FILE")]
    rules: PathBuf,
    #[command(flatten)]
    keys: keys::Given,
}

/// Make values again of the tokens of a file.
#[derive(Debug, clap::Args)]
pub(crate) struct Reveal {
    #[command(flatten)]
    table: Table,
    /// The rules it was protected with, to be held against what stands beside the file.
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    #[command(flatten)]
    keys: keys::Given,
}

/// Write the tokens of a file anew: under another key or version, or out of FF3 and FF3-1.
#[derive(Debug, clap::Args)]
pub(crate) struct Migrate {
    #[command(flatten)]
    table: Table,
    /// How the columns are to be protected.
    #[arg(long, value_name = "FILE")]
    rules: PathBuf,
    #[command(flatten)]
    keys: keys::Given,
    /// The key the tokens have now; NAME=FILE for one that a rule names.
    #[arg(long, value_name = "[NAME=]FILE", required = true)]
    from_key_file: Vec<String>,
    /// The version of that key.
    #[arg(long, value_name = "N", default_value_t = 1)]
    from_key_version: u32,
    /// Tokens that were not written here: the mode they were written in. The key is used as it is.
    #[arg(long, value_enum, value_name = "MODE", requires = "from_rules")]
    from_mode: Option<OldMode>,
    /// The formats of those tokens, for instance digit(16).
    #[arg(long, value_name = "FILE", requires = "from_mode")]
    from_rules: Option<PathBuf>,
    /// The tweak of those tokens, in hexadecimal digits; the empty one if it is left out.
    #[arg(long, value_name = "HEX", requires = "from_mode", default_value = "")]
    from_tweak: String,
    /// The block cipher of those tokens.
    #[arg(long, value_enum, value_name = "CIPHER", requires = "from_mode", default_value_t = Block::Aes)]
    from_cipher: Block,
}

/// The mode of tokens that were not written here.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum OldMode {
    Ff1,
    Ff3,
    #[value(name = "ff3-1")]
    Ff31,
    /// What the library fpe-c wrote as FF3-1, with half of its tweak in another order.
    #[value(name = "fpec-ff3-1")]
    FpecFf31,
}

impl From<OldMode> for Mode {
    fn from(mode: OldMode) -> Self {
        match mode {
            OldMode::Ff1 => Self::Ff1,
            OldMode::Ff3 => Self::Ff3,
            OldMode::Ff31 => Self::Ff31,
            OldMode::FpecFf31 => Self::FpecFf31,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Block {
    Aes,
    Sm4,
}

pub(crate) fn protect(arguments: &Protect, format: Format) -> Result<Exit, Failure> {
    let source = arguments.table.open(None)?;
    let rules = read_rules(&arguments.rules)?;
    let keep = arguments.keys.files().chain([arguments.rules.as_path()]);
    let files = arguments.table.files(keep)?;
    let start = arguments.table.start(&files);
    let (keys, new) = arguments.keys.fetch(&rules, start)?;
    let plan = Plan::protect(source.layout(), &rules, &keys);
    let plan = plan.map_err(|error| source.refused(error))?;
    let table = &arguments.table;
    table.run(&source, &plan, (&files, &new), format)
}

pub(crate) fn reveal(arguments: &Reveal, format: Format) -> Result<Exit, Failure> {
    let protection = read_protection(&arguments.table.file);
    let source = arguments.table.open(protection.as_ref().ok())?;
    let rules = arguments.rules.as_deref().map(read_rules).transpose()?;
    let files = arguments.table.files(arguments.keys.files())?;
    let protection = protection?;
    let keys = arguments.keys.fetch_old()?;
    let plan = Plan::reveal(source.layout(), &protection, rules.as_ref(), &keys);
    let plan = plan.map_err(|error| source.refused(error))?;
    let (table, none) = (&arguments.table, NewFiles::default());
    table.run(&source, &plan, (&files, &none), format)
}

pub(crate) fn migrate(arguments: &Migrate, format: Format) -> Result<Exit, Failure> {
    // Tokens that other software wrote have no description.
    let protection = match arguments.from_mode {
        Some(_) => None,
        None => Some(read_protection(&arguments.table.file)),
    };
    let described = protection.as_ref().and_then(|read| read.as_ref().ok());
    let source = arguments.table.open(described)?;
    let rules = read_rules(&arguments.rules)?;
    let keep = arguments.keys.files().chain([arguments.rules.as_path()]);
    let files = arguments.table.files(keep)?;
    let start = arguments.table.start(&files);
    let (keys, new) = arguments.keys.fetch(&rules, start)?;
    let plan = match (arguments.from_mode, &arguments.from_rules) {
        (Some(mode), Some(old)) => {
            let (old, foreign) = (read_rules(old)?, arguments.foreign(mode.into())?);
            let origin = Origin::Elsewhere(&old, &foreign);
            Plan::migrate(source.layout(), &origin, &rules, &keys)
        }
        _ => {
            let protection =
                protection.unwrap_or_else(|| read_protection(&arguments.table.file))?;
            let old = keys::of_files(&arguments.from_key_file, arguments.from_key_version)?;
            let origin = Origin::Here(&protection, &old);
            Plan::migrate(source.layout(), &origin, &rules, &keys)
        }
    };
    let plan = plan.map_err(|error| source.refused(error))?;
    let table = &arguments.table;
    table.run(&source, &plan, (&files, &new), format)
}

impl Migrate {
    fn foreign(&self, mode: Mode) -> Result<Foreign, Failure> {
        let [file] = self.from_key_file.as_slice() else {
            return Err(Failure::new(
                Exit::Usage,
                "tokens from elsewhere have one key",
                "give --from-key-file once, without a name",
            ));
        };
        let key = crate::fpe::read_key(Path::new(file))?;
        let tweak = keywright_encoding::hex::decode(&self.from_tweak.to_ascii_lowercase());
        let tweak = tweak.map_err(|_malformed| {
            Failure::new(
                Exit::Usage,
                "--from-tweak is not hexadecimal",
                "give two digits for each byte",
            )
        })?;
        let foreign = Foreign::new(mode, key, &tweak);
        Ok(match self.from_cipher {
            Block::Aes => foreign,
            Block::Sm4 => foreign.with_sm4(),
        })
    }
}

impl Table {
    fn open(&self, protection: Option<&Protection>) -> Result<Opened, Failure> {
        let dialect = self.dialect.options(protection)?;
        match self.dialect.is_csv() {
            true => Opened::open_csv(&self.file, &dialect),
            false => Opened::open(&self.file, &dialect),
        }
    }

    /// Where everything goes. Whether an old output may go is asked before any key is fetched.
    fn files<'a>(&self, keep: impl Iterator<Item = &'a Path>) -> Result<Files, Failure> {
        for path in self.rejects.iter().chain([&self.out]) {
            if path.as_os_str() == "-" {
                return Err(Failure::new(
                    Exit::Usage,
                    "a table cannot be written to standard output",
                    "name a file, or ./- for one of that name: it appears when it is whole",
                ));
            }
        }
        let mut files = Files::new(&self.out);
        if let Some(rejects) = &self.rejects {
            files = files.with_rejects(rejects);
        }
        for path in keep {
            files = files.keeping(path);
        }
        files = files.keeping(&protection_of(&self.file));
        if self.yes.yes {
            return Ok(files.with_overwrite(Overwrite::Replace));
        }
        let is_new =
            !self.out.exists() || files.journal().exists() || is_same(&self.out, &self.file);
        if is_new {
            return Ok(files);
        }
        confirm(&format!("overwrite {}", self.out.display()), self.yes)?;
        Ok(files.with_overwrite(Overwrite::Replace))
    }

    /// Whether an interrupted run has left something that this one goes on with.
    fn start(&self, files: &Files) -> Start {
        match !self.restart && files.journal().exists() {
            true => Start::GoesOn,
            false => Start::Begins,
        }
    }

    fn run(
        &self,
        source: &Opened,
        plan: &Plan,
        (files, new): (&Files, &NewFiles),
        format: Format,
    ) -> Result<Exit, Failure> {
        let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let mut options = Options::new(self.threads.unwrap_or_else(cores));
        if self.restart {
            options = options.anew();
        }
        let stop = Arc::new(AtomicBool::new(false));
        // From here on an interrupt ends nothing at once: the block that is under way is written, and what is made can be
        // taken back.
        crate::signals::set_on_ending(&stop)?;
        let written = new.write()?;
        let mut bar = progress::Bar::new((!self.quiet).then(|| source.size()));
        let mut listen = |progress: &Progress| {
            bar.show(progress);
            match stop.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let ran = source.run(plan, files, &options, &mut listen);
        let took = bar.finish();
        let is_left = match &ran {
            Ok(_) => true,
            Err(error) => error.can_go_on() && may_be_there(&files.journal()),
        };
        if is_left {
            written.keep();
        } else {
            drop(written);
        }
        let summary = ran.map_err(refused_columnar)?;
        show::summary(&summary, took, (source, plan, files), format)?;
        Ok(Exit::Ok)
    }
}

/// Whether a journal is left. A disk that does not say may have one, and keys are not put at risk for it.
fn may_be_there(journal: &Path) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    match journal.symlink_metadata() {
        Ok(_) => true,
        Err(error) => !matches!(error.kind(), NotFound | NotADirectory | PermissionDenied),
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

fn read_rules(path: &Path) -> Result<Rules, Failure> {
    let text =
        std::fs::read_to_string(path).map_err(|error| Failure::file(path, "read", &error))?;
    Rules::parse(&text).map_err(|error| {
        Failure::new(
            Exit::Usage,
            format!("{}: {error}", path.display()),
            "docs/format.md has the language; keywright format check holds a file against rules",
        )
    })
}

/// What stands beside a protected file.
fn read_protection(file: &Path) -> Result<Protection, Failure> {
    let path = protection_of(file);
    let bytes = std::fs::read(&path).map_err(|error| {
        Failure::new(
            Exit::NotFound,
            format!("{} cannot be read: {error}", path.display()),
            "keep the file that protect has written beside its output, under this name",
        )
    })?;
    Protection::parse(&bytes).map_err(|error: Error| refused(error))
}
