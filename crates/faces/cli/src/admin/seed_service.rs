//! `keywright admin import seed-service`: moves what the files of the seed service say into a home.
//!
//! Everything is read and judged before the first order is given. Orders follow in an order in which nobody gets a
//! right before all of it is there: contexts, keys to read with, and last the policy. One that was cut short is given
//! again: what is there already is passed over.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use keywright_clock::{Clock, WallTime};
use keywright_custody::reader::NonceLen;
use keywright_custody::{ReaderDetail, Rules};
use keywright_home::{Answer, ContextState, Order};
use keywright_policy::{Fingerprint, PolicyDocument};
use keywright_seed_service::files::{Config, Metadata, Revocations, RevokedClient};
use keywright_seed_service::{Given, Manifest, Plan, PlannedContext, merged};
use keywright_tls::describe_certificate;
use keywright_tls::issue::{Authority, Reason, Revoked};
use keywright_types::{Algorithm, Custody, KeySpec, KeyVersion, Name, Purpose};
use serde::Serialize;

use super::imports::nonce_len;
use super::order::{give, unexpected};
use super::{CustodyName, Tenant, contexts, policy};
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};
use crate::place::{self, Home};

#[derive(Debug, clap::Args)]
pub(super) struct SeedService {
    /// Its configuration, of which hsm.keys and acl.mappings are read.
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Its key metadata.
    #[arg(long, value_name = "FILE")]
    metadata: PathBuf,
    /// Its list of revoked clients. Without one nothing is moved: it has to say itself that it is empty.
    #[arg(long, value_name = "FILE")]
    revoked: PathBuf,
    /// The list of its clients: which there are, and which names they had before.
    #[arg(long, value_name = "FILE")]
    clients: PathBuf,
    /// The certificate of the authority that issues their certificates.
    #[arg(long, value_name = "CERT.pem")]
    authority: PathBuf,
    /// The authority's key, to sign a revocation list with.
    #[arg(long, value_name = "FILE", requires = "revocation_list")]
    authority_key: Option<PathBuf>,
    /// Where that list goes; nothing is ever written over.
    #[arg(long, value_name = "FILE", requires = "authority_key")]
    revocation_list: Option<PathBuf>,
    /// Where the keys are: in the home's token, which is the one that the seed service used, or brought in wrapped,
    /// one by one, once the contexts are there.
    #[arg(long, value_enum)]
    custody: CustodyName,
    /// Bytes of the nonce in its ciphertexts: 16, or 12 where its wrapper was set to that.
    #[arg(long, value_name = "BYTES", default_value = "16", value_parser = nonce_len)]
    nonce: NonceLen,
    #[command(flatten)]
    tenant: Tenant,
    /// Say what would be done, and do nothing.
    #[arg(long)]
    dry_run: bool,
}

/// What was done, or would be.
#[derive(Serialize)]
struct MovedDocument {
    dry_run: bool,
    contexts: Vec<MovedContext>,
    groups: Vec<Name>,
    principals: Vec<Name>,
    revoked: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revocation_list: Option<PathBuf>,
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epoch: Option<u64>,
}

#[derive(Serialize)]
struct MovedContext {
    name: Name,
    bound_to: &'static str,
    is_new: bool,
    keys: Vec<MovedKey>,
}

#[derive(Serialize)]
struct MovedKey {
    label: String,
    /// The version that reads; none where the key has yet to be brought in.
    key_version: Option<KeyVersion>,
    /// `there`, `in the token` or `to be brought in`.
    state: &'static str,
}

/// The plan with everything that it is held against.
struct Moving<'a> {
    words: &'a SeedService,
    plan: Plan,
    known: Vec<ContextState>,
    policy: PolicyDocument,
    changes_policy: bool,
}

pub(super) fn run(home: &Home, words: &SeedService, format: Format) -> Result<(), Failure> {
    let plan = read_plan(words)?;
    let tenant = &words.tenant.tenant;
    let known = contexts(home, tenant.clone(), None)?;
    let text = policy(home)?.unwrap_or_else(|| "version = 1\n".to_owned());
    let current = PolicyDocument::parse(&text).map_err(refused)?;
    let policy = merged(current.clone(), &plan.policy).map_err(refused)?;
    let moving = Moving {
        words,
        changes_policy: policy != current,
        plan,
        known,
        policy,
    };
    moving.check()?;
    let list = words.revocation_list.as_deref();
    let signed = list.map(|_| moving.sign()).transpose()?;
    let mut document = moving.document();
    if !words.dry_run {
        // The place is made sure of before the first order.
        if let (Some(path), Some(signed)) = (list, &signed) {
            write_new(path, signed)?;
        }
        moving.carry_out(home, &mut document)?;
    }
    for warning in &document.warnings {
        message!("warning: {warning}");
    }
    output::document(format, &document, || document.text())
}

fn read_plan(words: &SeedService) -> Result<Plan, Failure> {
    let text = |path: &Path| -> Result<String, Failure> {
        String::from_utf8(place::read(path)?).map_err(|_| {
            Failure::new(
                Exit::Usage,
                format!("{} is not UTF-8", path.display()),
                "give the file as the seed service reads it",
            )
        })
    };
    let config = Config::parse(&text(&words.config)?).map_err(refused)?;
    let metadata = Metadata::parse(&text(&words.metadata)?).map_err(refused)?;
    let revocations = Revocations::parse(&text(&words.revoked)?).map_err(refused)?;
    let manifest = Manifest::parse(&text(&words.clients)?).map_err(refused)?;
    let certificate = place::read(&words.authority)?;
    let anchor = describe_certificate(&certificate)
        .map_err(refused)?
        .spki_sha256;
    Plan::make(&Given {
        config: &config,
        metadata: &metadata,
        revocations: &revocations,
        manifest: &manifest,
        anchors: &[Fingerprint::from_bytes(anchor)],
        nonce: words.nonce,
        tenant: &words.tenant.tenant,
    })
    .map_err(refused)
}

/// A file, or a home, with which nothing can be begun.
fn refused(error: impl std::fmt::Display) -> Failure {
    Failure::new(
        Exit::Usage,
        error.to_string(),
        "nothing was changed; correct it and give the command again",
    )
}

impl Moving<'_> {
    /// Refuses contexts that are there and are others.
    fn check(&self) -> Result<(), Failure> {
        for planned in &self.plan.contexts {
            let Some(known) = self.known(planned) else {
                continue;
            };
            let same = known.binding == planned.binding
                && known.spec.purpose == Purpose::Seal
                && known.spec.custody == self.words.custody.custody();
            if !same {
                let name = &planned.name;
                return Err(refused(format!(
                    "the context {name} is there already, with another binding, purpose or custody"
                )));
            }
            for reader in &planned.readers {
                let other = in_place(known, reader).is_some_and(|(_, there)| {
                    let object = there.object.clone();
                    *there
                        != ReaderDetail {
                            object,
                            ..reader.clone()
                        }
                });
                if other {
                    let label = &reader.label;
                    return Err(refused(format!(
                        "the key {label:?} was brought in already, to be read in another way"
                    )));
                }
            }
        }
        Ok(())
    }

    fn known(&self, planned: &PlannedContext) -> Option<&ContextState> {
        self.known.iter().find(|known| known.name == planned.name)
    }

    fn document(&self) -> MovedDocument {
        let plan = &self.plan;
        let mut warnings: Vec<String> = plan.warnings.iter().map(ToString::to_string).collect();
        let listed = plan.revoked.iter().filter(|one| one.serial.is_some());
        if listed.count() > 0 && self.words.revocation_list.is_none() {
            warnings.push(
                "no revocation list is made without the authority's key: have the authority put the serial numbers on \
                 its own"
                    .to_owned(),
            );
        }
        MovedDocument {
            dry_run: self.words.dry_run,
            contexts: plan.contexts.iter().map(|one| self.context(one)).collect(),
            groups: plan
                .policy
                .groups
                .iter()
                .map(|one| one.name.clone())
                .collect(),
            principals: plan
                .policy
                .principals
                .iter()
                .map(|one| one.name.clone())
                .collect(),
            revoked: plan
                .revoked
                .iter()
                .map(|one| one.common_name.clone())
                .collect(),
            revocation_list: self.words.revocation_list.clone(),
            warnings,
            epoch: None,
        }
    }

    fn context(&self, planned: &PlannedContext) -> MovedContext {
        let known = self.known(planned);
        let key = |reader: &ReaderDetail| {
            let there = known.and_then(|known| in_place(known, reader));
            MovedKey {
                label: reader.label.clone(),
                key_version: there.map(|(version, _)| version),
                state: match (there, self.words.custody) {
                    (Some(_), _) => "there",
                    (None, CustodyName::Token) => "in the token",
                    (None, CustodyName::Wrapped) => "to be brought in",
                },
            }
        };
        MovedContext {
            name: planned.name.clone(),
            bound_to: planned.binding.name(),
            is_new: known.is_none(),
            keys: planned.readers.iter().map(key).collect(),
        }
    }

    fn carry_out(&self, home: &Home, document: &mut MovedDocument) -> Result<(), Failure> {
        for (planned, told) in self.plan.contexts.iter().zip(&mut document.contexts) {
            if told.is_new {
                give(home, self.creation(planned))?;
            }
            for (reader, key) in planned.readers.iter().zip(&mut told.keys) {
                let missing = key.key_version.is_none();
                if !missing || matches!(self.words.custody, CustodyName::Wrapped) {
                    continue;
                }
                let order = Order::ReaderImport {
                    tenant: self.words.tenant.tenant.clone(),
                    name: planned.name.clone(),
                    reader: reader.clone(),
                    wrapped: None,
                };
                let Answer::ReaderImported { version } = give(home, order)? else {
                    return Err(unexpected());
                };
                (key.key_version, key.state) = (Some(version), "there");
            }
        }
        if self.changes_policy {
            let text = self.policy.to_toml().map_err(refused)?;
            let Answer::InForce { epoch } = give(home, Order::PolicyApply { text })? else {
                return Err(unexpected());
            };
            document.epoch = Some(epoch);
        }
        Ok(())
    }

    fn creation(&self, planned: &PlannedContext) -> Order {
        let custody = self.words.custody.custody();
        let algorithm = match custody {
            Custody::Token => Algorithm::TokenGcm12,
            _ => KeySpec::seal().algorithm,
        };
        Order::ContextCreate {
            tenant: self.words.tenant.tenant.clone(),
            name: planned.name.clone(),
            binding: planned.binding,
            spec: KeySpec {
                algorithm,
                custody,
                ..KeySpec::seal()
            },
            rules: Rules::default(),
            detail: None,
            secret: None,
        }
    }

    /// A list of the revoked certificates, signed by the authority that issued them.
    fn sign(&self) -> Result<String, Failure> {
        let key = self.words.authority_key.as_deref().unwrap_or(Path::new(""));
        let certificate = place::read(&self.words.authority)?;
        let authority = Authority::from_pem(&certificate, &place::read(key)?).map_err(refused)?;
        let now = Clock::system().wall();
        let revoked = self.plan.revoked.iter();
        let revoked: Vec<_> = revoked.filter_map(|one| entry(one, now)).collect();
        let life = u64::try_from(LIST_LIFE.as_millis()).unwrap_or_default();
        let next = WallTime::from_unix_millis(now.unix_millis() + life);
        // Higher than that of any list before, unless one was made in the same second.
        let number = now.unix_millis() / 1000;
        let list = authority.revocation_list(&revoked, number, now, next);
        list.map_err(refused)
    }
}

fn entry(one: &RevokedClient, at: WallTime) -> Option<Revoked> {
    let reason = match one.reason.as_str() {
        "compromised" => Reason::KeyCompromise,
        "cessation" | "decommissioned" => Reason::CessationOfOperation,
        "superseded" => Reason::Superseded,
        _ => Reason::Unspecified,
    };
    let serial = one.serial.clone()?;
    Some(Revoked { serial, at, reason })
}

/// The version that was brought in under a reader's label.
fn in_place<'c>(
    known: &'c ContextState,
    reader: &ReaderDetail,
) -> Option<(KeyVersion, &'c ReaderDetail)> {
    known.versions.iter().find_map(|version| {
        let there = version.reader.as_ref()?;
        (there.label == reader.label).then_some((version.version, there))
    })
}

fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    let mut options = std::fs::OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o644).open(path);
    let written = file.and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.map_err(|error| Failure::new_file(path, &error))
}

impl MovedDocument {
    fn text(&self) -> String {
        let names = |names: &[Name]| {
            let names: Vec<_> = names.iter().map(Name::as_str).collect();
            match names.is_empty() {
                true => "-".to_owned(),
                false => names.join(", "),
            }
        };
        let heading = [
            "context",
            "bound to",
            "context is",
            "key",
            "key is",
            "version",
        ];
        let mut rows = vec![heading.map(str::to_owned).to_vec()];
        for context in &self.contexts {
            let made = if context.is_new { "new" } else { "there" };
            let row = |key: Option<&MovedKey>| {
                let version = key.and_then(|key| key.key_version);
                vec![
                    context.name.to_string(),
                    context.bound_to.to_owned(),
                    made.to_owned(),
                    key.map_or_else(|| "-".to_owned(), |key| key.label.clone()),
                    key.map_or("-", |key| key.state).to_owned(),
                    version.map_or_else(|| "-".to_owned(), |version| version.to_string()),
                ]
            };
            match context.keys.is_empty() {
                true => rows.push(row(None)),
                false => rows.extend(context.keys.iter().map(|key| row(Some(key)))),
            }
        }
        let revoked = match self.revoked.is_empty() {
            true => "-".to_owned(),
            false => self.revoked.join(", "),
        };
        let fields = output::fields(&[
            (
                "done",
                if self.dry_run {
                    "nothing: dry run"
                } else {
                    "yes"
                }
                .to_owned(),
            ),
            ("groups", names(&self.groups)),
            ("principals", names(&self.principals)),
            ("revoked", revoked),
        ]);
        format!("{}\n{fields}", output::table(&rows))
    }
}

/// For how long the revocation list is good: the authority makes the next one.
const LIST_LIFE: Duration = Duration::from_secs(30 * 86_400);
