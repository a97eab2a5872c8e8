//! `keywright admin`: a home and what is in it.
//!
//! An order goes to the node that runs in the home; if none runs, this process opens the home itself,
//! carries the order out, and closes it. Both ways leave the same records in the audit log.

mod backup;
mod formats;
mod imports;
mod kinds;
mod life;
mod order;
mod pki;
mod questions;
mod seed_service;
mod seeds;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use keywright_clock::{Clock, WallTime};
use keywright_custody::{Detail, Rules};
use keywright_home::{
    Answer, Beginning, Contents, ContextState, HomeError, Imported, Life, NewRoot, Order, Profile,
    Words, control,
};
use keywright_types::{
    Algorithm, BindingKind, ContextId, Custody, KeySpec, KeyVersion, Name, Origin, Purpose,
};
use serde::Serialize;

use crate::admin::formats::FormatOptions;
use crate::admin::imports::{SealedOptions, WrappedOptions};
use crate::admin::kinds::{KindOptions, WalletOptions};
use crate::admin::order::{give, give_running, unexpected};
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};
use crate::place::{Home, existing_home};

/// Manage a home: contexts, keys, policy, certificates.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The home folder.
    #[arg(
        long,
        value_name = "DIR",
        default_value = "keywright-home",
        global = true
    )]
    home: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a home: root key, store, audit log, certificate authority, server certificate.
    Init(Init),
    /// Contexts: names under which callers use keys.
    #[command(subcommand)]
    Context(ContextCommand),
    /// The versions of a context's key.
    #[command(subcommand)]
    Key(KeyCommand),
    /// Who may do what.
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// The development certificate authority.
    #[command(subcommand)]
    Pki(pki::Command),
    /// Keys that are brought in wrapped.
    #[command(subcommand)]
    Import(imports::ImportCommand),
    /// A home in one sealed file, and a new home of it.
    #[command(subcommand)]
    Backup(backup::Command),
    /// The seeds of wallets.
    #[command(subcommand)]
    Seed(SeedCommand),
    /// The clock by which keys are destroyed.
    #[command(subcommand)]
    Clock(ClockCommand),
    /// Have the running node read certificate, key, anchors, revocation lists and log level again.
    Reload,
}

#[derive(Debug, clap::Subcommand)]
enum SeedCommand {
    /// Seal the seed of a wallet to public keys, if the wallet was made for that.
    Export(seeds::Export),
}

#[derive(Debug, clap::Subcommand)]
enum ClockCommand {
    /// Say that the clock is right, after it jumped or the node was down for more than an hour.
    Confirm,
}

#[derive(Debug, clap::Args)]
struct Init {
    /// How dear it is to guess the root's password.
    #[arg(long, value_enum, default_value_t = ProfileName::Balanced)]
    profile: ProfileName,
    /// Put two contexts, two clients and a policy into it.
    #[arg(long)]
    demo: bool,
    /// Where the keys of these contexts are used.
    #[arg(long, value_enum, default_value_t = CustodyName::Wrapped, requires = "demo")]
    custody: CustodyName,
    #[command(flatten)]
    token: TokenOptions,
    /// Where the root key is made: in a file under a password, or in the token, which it never leaves.
    #[arg(long, value_enum, default_value_t = RootName::File)]
    root_key: RootName,
}

/// The token of a home.
#[derive(Debug, clap::Args)]
struct TokenOptions {
    /// The PKCS#11 module of the home's token.
    #[arg(long, value_name = "FILE", requires = "token_pin_file")]
    token_module: Option<PathBuf>,
    /// The token's label.
    #[arg(long, value_name = "LABEL", requires = "token_module")]
    token_label: Option<String>,
    /// The file that holds the user's PIN of the token.
    #[arg(long, value_name = "FILE", requires = "token_module")]
    token_pin_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum RootName {
    File,
    Token,
}

/// The profiles of the password container.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ProfileName {
    /// For tests and short-lived homes.
    Fast,
    /// For most.
    Balanced,
    /// For long-lived roots.
    Strong,
}

#[derive(Debug, clap::Subcommand)]
enum ContextCommand {
    /// Make a context with a key of its own, active at once.
    Create(Box<ContextCreate>),
    /// Say everything about one context.
    Describe(OneContext),
    /// List the contexts of a tenant.
    List(Tenant),
    /// Change what rotates its key, what still opens, what its destruction needs.
    Set(life::ContextSet),
}

#[derive(Debug, clap::Args)]
struct ContextCreate {
    #[command(flatten)]
    context: OneContext,
    /// Who may open what was sealed, besides having the right: anyone, the same principal, its group.
    #[arg(long, value_enum, default_value_t = BindingName::None)]
    bind: BindingName,
    /// Where its key is used: in this program, sealed under the root key, or in the token, which it never leaves.
    #[arg(long, value_enum, default_value_t = CustodyName::Wrapped)]
    custody: CustodyName,
    /// The cipher of its messages [default: xaes-256-gcm, in a token token-gcm-12].
    #[arg(long, value_enum, conflicts_with_all = ["value_format", "rules"])]
    suite: Option<SuiteName>,
    /// Destruction needs the approval of two principals. This is never taken back.
    #[arg(long)]
    two_approvals: bool,
    #[command(flatten)]
    format: FormatOptions,
    #[command(flatten)]
    kind: KindOptions,
    #[command(flatten)]
    wallet: WalletOptions,
    #[command(flatten)]
    wrapped: WrappedOptions,
    #[command(flatten)]
    sealed: SealedOptions,
    /// Take the key's first secret from a file, as `keywright protect` does: 32 bytes, or 64 hexadecimal digits.
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum CustodyName {
    Wrapped,
    Token,
}

impl CustodyName {
    const fn custody(self) -> Custody {
        match self {
            Self::Wrapped => Custody::Wrapped,
            Self::Token => Custody::Token,
        }
    }
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum BindingName {
    None,
    Principal,
    Group,
}

impl BindingName {
    const fn kind(self) -> BindingKind {
        match self {
            Self::None => BindingKind::None,
            Self::Principal => BindingKind::Principal,
            Self::Group => BindingKind::Group,
        }
    }
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum SuiteName {
    #[value(name = "xaes-256-gcm")]
    Xaes256Gcm,
    #[value(name = "xchacha20-poly1305")]
    XChaCha20Poly1305,
    /// In a token; we make the nonce.
    #[value(name = "token-gcm-12")]
    TokenGcm12,
    /// In a token that insists on making the nonce.
    #[value(name = "token-gcm-16")]
    TokenGcm16,
}

#[derive(Debug, clap::Args)]
struct OneContext {
    /// The context's name.
    #[arg(value_name = "NAME")]
    name: Name,
    #[command(flatten)]
    tenant: Tenant,
}

#[derive(Debug, clap::Args)]
struct Tenant {
    /// The tenant.
    #[arg(long, value_name = "NAME", default_value = "default")]
    tenant: Name,
}

#[derive(Debug, clap::Subcommand)]
enum KeyCommand {
    /// List the versions of a context's key.
    List(OneContext),
    /// Make a new version active and retire the one before; old ciphertexts still open.
    Rotate(OneContext),
    /// Forbid every use of a version, for now.
    Suspend(life::Versions),
    /// Take a suspended version up again.
    Resume(life::Versions),
    /// Let a version seal no more; it still opens.
    Retire(life::Versions),
    /// Set the date of a destruction, by the rules of the context; nothing opens from now on.
    ScheduleDestroy(life::Versions),
    /// Take that date back.
    CancelDestroy(life::Versions),
    /// Seal the key of a context that is no wallet to public keys, if the context was made for that.
    Export(seeds::KeyExport),
    /// Destroy versions whose day has come. A running node does so by itself where nothing keeps them.
    Destroy(life::Destroy),
}

#[derive(Debug, clap::Subcommand)]
enum PolicyCommand {
    /// Put a policy in force.
    Apply {
        /// The policy's TOML file; `-` for standard input.
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Print the policy in force.
    Show,
    /// Say whether a principal may do something, as the service would decide, and which grants that follows from.
    Explain(questions::Explain),
    /// Say who may do something, as the service would decide.
    WhoCan(questions::Question),
}

pub(crate) fn run(arguments: Arguments, format: Format) -> Result<Exit, Failure> {
    let home = Home {
        home: arguments.home,
    };
    match arguments.command {
        Command::Init(init) => make_home(&home.home, &init, format),
        Command::Context(ContextCommand::Create(create)) => create_context(&home, &create, format),
        Command::Context(ContextCommand::Describe(context)) => describe(&home, context, format),
        Command::Context(ContextCommand::List(tenant)) => list(&home, tenant, format),
        Command::Key(KeyCommand::List(context)) => list_versions(&home, context, format),
        Command::Context(ContextCommand::Set(set)) => life::set(&home, set, format),
        Command::Key(KeyCommand::Rotate(context)) => rotate(&home, context, format),
        Command::Key(KeyCommand::Suspend(of)) => life::change(&home, Life::Suspend, of, format),
        Command::Key(KeyCommand::Resume(of)) => life::change(&home, Life::Resume, of, format),
        Command::Key(KeyCommand::Retire(of)) => life::change(&home, Life::Retire, of, format),
        Command::Key(KeyCommand::ScheduleDestroy(of)) => {
            life::change(&home, Life::ScheduleDestroy, of, format)
        }
        Command::Key(KeyCommand::CancelDestroy(of)) => {
            life::change(&home, Life::CancelDestroy, of, format)
        }
        Command::Key(KeyCommand::Export(export)) => seeds::export_key(&home, export, format),
        Command::Key(KeyCommand::Destroy(destroy)) => life::destroy(&home, destroy, format),
        Command::Backup(command) => backup::run(&home, &command, format),
        Command::Import(command) => imports::run(&home, &command, format),
        Command::Seed(SeedCommand::Export(export)) => seeds::export(&home, export, format),
        Command::Clock(ClockCommand::Confirm) => life::confirm_clock(&home, format),
        Command::Reload => reload(&home, format),
        Command::Policy(PolicyCommand::Apply { file }) => apply(&home, &file, format),
        Command::Policy(PolicyCommand::Show) => show(&home, format),
        Command::Policy(PolicyCommand::Explain(asked)) => questions::explain(&home, &asked, format),
        Command::Policy(PolicyCommand::WhoCan(asked)) => questions::who_can(&home, &asked, format),
        Command::Pki(command) => pki::run(&home, command, format),
    }
    .map(|()| Exit::Ok)
}

// === the home ===

#[derive(Serialize)]
struct HomeDocument {
    home: PathBuf,
    config: PathBuf,
    audit_signer: String,
}

fn make_home(home: &Path, init: &Init, format: Format) -> Result<(), Failure> {
    let contents = if init.demo {
        Contents::Demo
    } else {
        Contents::Empty
    };
    let profile = match init.profile {
        ProfileName::Fast => Profile::Fast,
        ProfileName::Balanced => Profile::Balanced,
        ProfileName::Strong => Profile::Strong,
    };
    let root = match init.root_key {
        RootName::File => NewRoot::File(profile),
        RootName::Token => NewRoot::Token,
    };
    let token = init.token.section()?;
    let beginning = Beginning {
        contents,
        root,
        token,
        custody: init.custody.custody(),
    };
    keywright_home::create_as(home, &beginning, &Clock::system())?;
    let signer = crate::place::read(&home.join(keywright_home::FINGERPRINT_FILE))?;
    let audit_signer = String::from_utf8_lossy(&signer).trim().to_owned();
    let config = home.join(keywright_home::CONFIG_FILE);
    let document = HomeDocument {
        home: home.to_owned(),
        config,
        audit_signer,
    };
    output::document(format, &document, || {
        output::fields(&[
            ("home", document.home.display().to_string()),
            ("configuration", document.config.display().to_string()),
            ("audit signer", document.audit_signer.clone()),
        ])
    })?;
    message!(
        "keep a copy of the audit signer's fingerprint elsewhere: the log is verified against it"
    );
    Ok(())
}

impl TokenOptions {
    /// The section of the configuration, with absolute paths.
    fn section(&self) -> Result<Option<keywright_home::Token>, Failure> {
        let (Some(module), Some(pin_file)) = (&self.token_module, &self.token_pin_file) else {
            return Ok(None);
        };
        let absolute = |path: &Path| {
            std::path::absolute(path).map_err(|error| Failure::file(path, "read", &error))
        };
        let (module, pin_file) = (absolute(module)?, absolute(pin_file)?);
        let label = self.token_label.clone();
        Ok(Some(keywright_home::Token::new(module, label, pin_file)))
    }
}

// === contexts and keys ===

#[derive(Serialize)]
struct CreatedDocument<'a> {
    name: &'a Name,
    id: ContextId,
    key_version: KeyVersion,
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<&'a str>,
}

fn create_context(home: &Home, create: &ContextCreate, format: Format) -> Result<(), Failure> {
    let OneContext {
        name,
        tenant: Tenant { tenant },
    } = &create.context;
    let binding = create.bind.kind();
    let secret = create.key_file.as_deref().map(crate::fpe::read_key);
    let secret = secret.transpose()?;
    let (spec, mut detail) = create.spec()?;
    let seed = create.wallet.seed()?;
    if let (Some(seed), Some(Detail::Tree(tree))) = (&seed, &mut detail) {
        tree.seed.clone_from(&seed.scheme);
    }
    let secret = secret.or(seed.map(|seed| seed.seed));
    let secret = secret.or(create.sealed.read(&spec)?);
    let wrapped = create.wrapped.read()?;
    let origin = match secret.is_some() || wrapped.is_some() {
        true => Origin::Imported,
        false => Origin::Generated,
    };
    let (tenant, spec) = (tenant.clone(), KeySpec { origin, ..spec });
    let rules = Rules {
        two_approvals: create.two_approvals,
        ..Rules::default()
    };
    let made = match wrapped {
        Some(wrapped) => give_running(
            home,
            &Order::ContextImport {
                tenant,
                name: name.clone(),
                binding,
                spec,
                rules,
                detail,
                wrapped,
            },
        ),
        None => give(
            home,
            Order::ContextCreate {
                tenant,
                name: name.clone(),
                binding,
                spec,
                rules,
                detail,
                secret: secret.as_ref().map(Imported::new),
            },
        ),
    };
    let Answer::ContextCreated { id, version, words } = made? else {
        return Err(unexpected());
    };
    let document = CreatedDocument {
        name,
        id,
        key_version: version,
        words: words.as_ref().map(Words::expose),
    };
    show_created(&document, format)
}

fn show_created(made: &CreatedDocument<'_>, format: Format) -> Result<(), Failure> {
    output::document(format, made, || {
        let mut rows = vec![
            ("name", made.name.to_string()),
            ("id", made.id.to_string()),
            ("key version", made.key_version.to_string()),
        ];
        rows.extend(made.words.map(|words| ("words", words.to_owned())));
        output::fields(&rows)
    })?;
    if made.words.is_some() {
        message!("write the words down: they bring every key back, and are shown only now");
    }
    Ok(())
}

impl ContextCreate {
    /// What is fixed about the key, and what besides.
    fn spec(&self) -> Result<(KeySpec, Option<Detail>), Failure> {
        let of_format = self.format.read(&self.context.name)?;
        let of_kind = self.kind.read(&self.wallet)?;
        let export = self.wallet.of_others();
        let (purpose, algorithm, detail, export) = match (of_format, of_kind) {
            (Some((algorithm, detail)), _) => (Purpose::Tokenise, algorithm, Some(detail), export),
            (None, Some(kind)) => kind,
            (None, None) => (Purpose::Seal, self.cipher(), None, export),
        };
        let spec = KeySpec {
            purpose,
            algorithm,
            custody: self.custody.custody(),
            export,
            ..KeySpec::seal()
        };
        Ok((spec, detail))
    }

    /// The cipher of its messages.
    fn cipher(&self) -> Algorithm {
        let usual = match self.custody {
            CustodyName::Wrapped => SuiteName::Xaes256Gcm,
            CustodyName::Token => SuiteName::TokenGcm12,
        };
        match self.suite.unwrap_or(usual) {
            SuiteName::Xaes256Gcm => Algorithm::Xaes256Gcm,
            SuiteName::XChaCha20Poly1305 => Algorithm::XChaCha20Poly1305,
            SuiteName::TokenGcm12 => Algorithm::TokenGcm12,
            SuiteName::TokenGcm16 => Algorithm::TokenGcm16,
        }
    }
}

#[derive(Serialize)]
struct ContextsDocument<'a> {
    contexts: &'a [ContextState],
}

#[derive(Serialize)]
struct ContextDocument<'a> {
    context: &'a ContextState,
}

fn list(home: &Home, Tenant { tenant }: Tenant, format: Format) -> Result<(), Failure> {
    let contexts = contexts(home, tenant, None)?;
    output::document(
        format,
        &ContextsDocument {
            contexts: &contexts,
        },
        || {
            let heading = ["name", "id", "bound to", "algorithm", "active", "versions"]
                .map(str::to_owned)
                .to_vec();
            let rows = contexts.iter().map(|context| {
                vec![
                    context.name.to_string(),
                    context.id.to_string(),
                    context.binding.name().to_owned(),
                    context.spec.algorithm.name().to_owned(),
                    active(context),
                    context.versions.len().to_string(),
                ]
            });
            output::table(&std::iter::once(heading).chain(rows).collect::<Vec<_>>())
        },
    )
}

fn describe(home: &Home, context: OneContext, format: Format) -> Result<(), Failure> {
    let context = one(home, context)?;
    output::document(format, &ContextDocument { context: &context }, || {
        let spec = &context.spec;
        let algorithm = match spec.purpose {
            Purpose::Deterministic | Purpose::Seal => "suite",
            _ => "algorithm",
        };
        let mut rows = vec![
            ("name", context.name.to_string()),
            ("id", context.id.to_string()),
            ("bound to", context.binding.name().to_owned()),
            ("purpose", spec.purpose.name().to_owned()),
            (algorithm, spec.algorithm.name().to_owned()),
            ("custody", spec.custody.name().to_owned()),
            ("origin", spec.origin.name().to_owned()),
            ("export", spec.export.name().to_owned()),
        ];
        rows.extend(context.detail.as_ref().map(details).unwrap_or_default());
        rows.push(("active", active(&context)));
        rows.extend(rules(&context));
        rows.extend(readers(&context));
        format!("{}\n{}", output::fields(&rows), versions(&context))
    })
}

fn details(detail: &Detail) -> Vec<(&'static str, String)> {
    match detail {
        Detail::Format(format) => {
            let mut rows = vec![
                ("format", format.format.clone()),
                ("tweak", format.tweak.clone()),
                ("column", format.column.clone()),
            ];
            rows.extend(format.mask.clone().map(|mask| ("mask", mask)));
            if format.small_domain {
                rows.push(("small domain", "accepted".to_owned()));
            }
            rows
        }
        Detail::Tree(tree) => {
            let soft = if tree.soft_children { "yes" } else { "no" };
            vec![
                ("seed", tree.seed.clone()),
                ("soft children", soft.to_owned()),
            ]
        }
        _ => Vec::new(),
    }
}

fn list_versions(home: &Home, context: OneContext, format: Format) -> Result<(), Failure> {
    let context = one(home, context)?;
    output::document(format, &ContextDocument { context: &context }, || {
        versions(&context)
    })
}

#[derive(Serialize)]
struct RotatedDocument<'a> {
    name: &'a Name,
    key_version: KeyVersion,
}

fn rotate(home: &Home, context: OneContext, format: Format) -> Result<(), Failure> {
    let OneContext {
        name,
        tenant: Tenant { tenant },
    } = context;
    let order = Order::KeyRotate {
        tenant,
        name: name.clone(),
    };
    let Answer::KeyRotated { version } = give(home, order)? else {
        return Err(unexpected());
    };
    output::document(
        format,
        &RotatedDocument {
            name: &name,
            key_version: version,
        },
        || {
            output::fields(&[
                ("name", name.to_string()),
                ("key version", version.to_string()),
            ])
        },
    )
}

fn contexts(home: &Home, tenant: Name, name: Option<Name>) -> Result<Vec<ContextState>, Failure> {
    match give(home, Order::Contexts { tenant, name })? {
        Answer::Contexts { contexts } => Ok(contexts),
        _ => Err(unexpected()),
    }
}

fn one(home: &Home, context: OneContext) -> Result<ContextState, Failure> {
    let mut found = contexts(home, context.tenant.tenant, Some(context.name))?;
    found.pop().ok_or_else(unexpected)
}

fn active(context: &ContextState) -> String {
    let active = context
        .versions
        .iter()
        .find(|version| version.state == keywright_types::State::Active);
    active.map_or_else(|| "-".to_owned(), |version| version.version.to_string())
}

fn rules(context: &ContextState) -> Vec<(&'static str, String)> {
    let rules = &context.rules;
    let days = |count: u16| format!("{count} days");
    let rotated = rules.rotate_after_days;
    let mut rows = vec![
        ("opens", format!("version {} and above", context.min_open)),
        (
            "rotated",
            rotated.map_or_else(
                || "by hand".to_owned(),
                |count| format!("every {}", days(count)),
            ),
        ),
        (
            "destroys",
            format!(
                "{} after the order, {} without use{}",
                days(rules.destroy_after_days),
                days(rules.quiet_days),
                if rules.two_approvals {
                    ", two approvals"
                } else {
                    ""
                }
            ),
        ),
    ];
    let uses = |count: u64| format!("after {count} uses of a version");
    let limits = [
        ("rotated too", rules.rotate_after_uses),
        ("refused", rules.refuse_after_uses),
    ];
    let said = limits.into_iter();
    rows.extend(said.filter_map(|(what, count)| Some((what, uses(count?)))));
    if let (Some(campaign), Some(moved)) = (&rules.campaign, context.moved) {
        rows.push(("campaign", format!("{moved} of {} moved", campaign.total)));
    }
    rows
}

/// Versions that were brought in from the seed service, and what they read.
fn readers(context: &ContextState) -> Vec<(&'static str, String)> {
    let readers = context.versions.iter().filter_map(|version| {
        let reader = version.reader.as_ref()?;
        let bytes = reader.nonce.number();
        let said = format!(
            "{} of the seed service's {}, by version {}, nonces of {bytes} bytes",
            reader.label, reader.context, version.version
        );
        Some(("reads", said))
    });
    readers.collect()
}

fn versions(context: &ContextState) -> String {
    let heading = [
        "version",
        "state",
        "created",
        "retired",
        "due",
        "seals",
        "opens",
        "moved",
        "refused",
        "last use",
        "last open",
    ];
    let rows = context.versions.iter().map(|version| {
        let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        let uses = &version.uses;
        let moment = |ms: u64| match ms {
            0 => "-".to_owned(),
            ms => WallTime::from_unix_millis(ms).rfc3339(),
        };
        let due = match &version.kept {
            Some(_) => format!("{} (kept)", or_none(&version.due)),
            None => or_none(&version.due),
        };
        vec![
            version.version.to_string(),
            version.state.name().to_owned(),
            version.created.clone(),
            or_none(&version.retired),
            due,
            uses.seals.to_string(),
            uses.opens.to_string(),
            uses.rewrapped.to_string(),
            uses.refused.to_string(),
            moment(uses.last_use_ms),
            moment(uses.last_open_ms),
        ]
    });
    let heading = heading.map(str::to_owned).to_vec();
    output::table(&std::iter::once(heading).chain(rows).collect::<Vec<_>>())
}

// === the files of a running node ===

/// As SIGHUP, with an answer.
fn reload(home: &Home, format: Format) -> Result<(), Failure> {
    existing_home(&home.home)?;
    let reloaded = match control::send(&home.home, &Order::Reload)? {
        Some(Answer::Reloaded(reloaded)) => reloaded,
        Some(_) => return Err(unexpected()),
        None => return Err(HomeError::NotRunning.into()),
    };
    output::document(format, &reloaded, || {
        output::fields(&[
            ("trust changed", reloaded.trust_changed.to_string()),
            ("log level", format!("{:?}", reloaded.level).to_lowercase()),
            ("after a restart", reloaded.needs_restart.join(", ")),
        ])
    })
}

// === the policy ===

#[derive(Serialize)]
struct EpochDocument {
    epoch: u64,
}

#[derive(Serialize)]
struct PolicyDocument {
    policy: Option<String>,
}

fn apply(home: &Home, file: &Path, format: Format) -> Result<(), Failure> {
    let mut text = String::new();
    match file == Path::new("-") {
        true => std::io::stdin().lock().read_to_string(&mut text),
        false => std::fs::File::open(file).and_then(|mut file| file.read_to_string(&mut text)),
    }
    .map_err(|error| Failure::file(file, "read", &error))?;
    let Answer::InForce { epoch } = give(home, Order::PolicyApply { text })? else {
        return Err(unexpected());
    };
    output::document(format, &EpochDocument { epoch }, || {
        output::fields(&[("epoch", epoch.to_string())])
    })
}

fn show(home: &Home, format: Format) -> Result<(), Failure> {
    let text = policy(home)?;
    if text.is_none() {
        message!("no policy is in force: every request is refused");
    }
    let document = PolicyDocument { policy: text };
    output::document(format, &document, || {
        document.policy.clone().unwrap_or_default()
    })
}

/// The text of the policy in force.
fn policy(home: &Home) -> Result<Option<String>, Failure> {
    match give(home, Order::PolicyShow)? {
        Answer::Policy { text } => Ok((!text.is_empty()).then_some(text)),
        _ => Err(unexpected()),
    }
}
