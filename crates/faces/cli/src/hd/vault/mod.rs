//! `keywright hd vault`: wallets of Identus agents, taken over from a key/value store of version 2 or from a
//! file of its secrets.
//!
//! Everything is read and checked before anything is written; a wallet appears as a whole folder or not at
//! all, and one that exists is never touched. A run that was cut short is taken up again with `--resume`.
//!
//! Not here: usage and index of derived keys, which stand in the agent's own tables.

mod source;
mod wallet;

use std::path::{Path, PathBuf};

use keywright_hdkey::vault::{Export as SecretsFile, Kind, Secret, VaultError, WalletId};
use serde::Serialize;

use self::source::{Origin, SourceFlags};
use self::wallet::{Found, Keeping, Wallet};
use super::document::Export;
use super::material::Password;
use super::protected::{ProfileName, refuse_existing};
use super::seed::may_leave;
use crate::confirm::{Yes, confirm};
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Write the secrets of a wallet that may leave into a file that a store takes back.
    Export(Leave),
    /// Take wallets over, each into a folder of its own.
    Import(Import),
}

#[derive(Debug, clap::Args)]
pub(super) struct Import {
    #[command(flatten)]
    source: SourceFlags,
    /// The folder in which each wallet gets a folder with its id.
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    #[command(flatten)]
    password: Password,
    /// How dear it is to guess the password.
    #[arg(long, value_enum, default_value_t = ProfileName::Balanced)]
    profile: ProfileName,
    /// Whether seeds, keys and other secrets of the wallets may ever leave.
    #[arg(long, value_enum, default_value_t = Export::Never)]
    export: Export,
    /// Only this wallet; may be repeated.
    #[arg(long = "wallet", value_name = "UUID")]
    wallets: Vec<String>,
    /// Read and check everything, and write nothing.
    #[arg(long)]
    check: bool,
    /// Leave wallets alone that are there already and hold the same.
    #[arg(long)]
    resume: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct Leave {
    /// The folder of the wallet, as `hd vault import` has made it.
    #[arg(long, value_name = "FOLDER")]
    wallet: PathBuf,
    #[command(flatten)]
    password: Password,
    /// The file to write; nothing is ever written over.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    yes: Yes,
}

pub(super) fn run(command: &Command, format: Format) -> Result<Exit, Failure> {
    match command {
        Command::Export(arguments) => leave(arguments, format),
        Command::Import(arguments) => import(arguments, format),
    }
}

/// What was found, and what was done with it.
#[derive(Debug, Default, Serialize)]
struct Report {
    checked_only: bool,
    wallets: usize,
    imported: usize,
    unchanged: usize,
    seeds: usize,
    keys: usize,
    other_secrets: usize,
    /// Names in the store that are there and hold nothing any more.
    deleted: usize,
    /// Names in the store that are no wallets.
    not_wallets: usize,
}

impl Report {
    fn count(&mut self, secrets: &[Secret]) {
        for secret in secrets {
            match secret.kind() {
                Kind::Seed => self.seeds += 1,
                Kind::PeerKey | Kind::PrismKey => self.keys += 1,
                _ => self.other_secrets += 1,
            }
        }
    }

    fn text(&self) -> String {
        let rows = [
            ("wallets", self.wallets),
            ("imported", self.imported),
            ("unchanged", self.unchanged),
            ("seeds", self.seeds),
            ("keys", self.keys),
            ("other secrets", self.other_secrets),
            ("deleted in the store", self.deleted),
            ("not wallets", self.not_wallets),
        ];
        output::fields(&rows.map(|(name, count)| (name, count.to_string())))
    }
}

fn import(arguments: &Import, format: Format) -> Result<Exit, Failure> {
    let password = arguments.password.read()?;
    let keeping = Keeping {
        password: &password,
        profile: arguments.profile.into(),
        export: arguments.export,
    };
    let mut origin = arguments.source.open()?;
    let wallets = chosen(&arguments.wallets, &mut origin)?;
    let mut report = Report {
        checked_only: arguments.check,
        wallets: wallets.len(),
        not_wallets: origin.not_wallets(),
        ..Report::default()
    };
    // First everything is looked at. Secrets are not kept meanwhile, only what they come to.
    let mut plans = Vec::new();
    for id in wallets {
        let secrets = origin.secrets(&id)?;
        report.count(&secrets);
        let wallet = Wallet::new(&arguments.out, &id);
        let found = wallet.look(&secrets, &keeping)?;
        match (found, arguments.resume) {
            (Found::Nothing, _) => {}
            (Found::Same, true) => report.unchanged += 1,
            (Found::Same, false) => return Err(there(&wallet, "add --resume to leave it alone")),
            (Found::Other, _) => {
                return Err(there(
                    &wallet,
                    "choose another folder with --out, or leave it out with --wallet",
                ));
            }
        }
        plans.push((id, found, digest(&secrets)));
    }
    report.deleted = origin.deleted();
    if !arguments.check {
        std::fs::create_dir_all(&arguments.out)
            .map_err(|error| Failure::file(&arguments.out, "made", &error))?;
        for (id, found, digest_before) in plans {
            if found == Found::Same {
                continue;
            }
            let secrets = origin.secrets(&id)?;
            if digest(&secrets) != digest_before {
                return Err(changed(&id));
            }
            let wallet = Wallet::new(&arguments.out, &id);
            if arguments.resume {
                wallet.sweep()?;
            }
            wallet.write(&secrets, &keeping)?;
            report.imported += 1;
        }
    }
    output::document(format, &report, || report.text())?;
    Ok(Exit::Ok)
}

/// The wallets that were asked for, or all.
fn chosen(asked: &[String], origin: &mut Origin) -> Result<Vec<WalletId>, Failure> {
    let found = origin.wallets()?;
    if asked.is_empty() && found.is_empty() {
        return Err(Failure::new(
            Exit::NotFound,
            "there is no wallet of an Identus agent",
            "check the mount and the token's rights; wallets lie at MOUNT/UUID/seed",
        ));
    }
    if asked.is_empty() {
        return Ok(found);
    }
    let mut ids = Vec::new();
    for text in asked {
        let id = WalletId::parse(text).map_err(|_| {
            Failure::new(
                Exit::Usage,
                "--wallet does not name a wallet",
                "give the UUID in lower case",
            )
        })?;
        if !found.contains(&id) {
            return Err(Failure::new(
                Exit::NotFound,
                format!("there is no wallet {id}"),
                "leave --wallet away to take all there are",
            ));
        }
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// What the secrets of a wallet come to, to notice that they were changed in between.
fn digest(secrets: &[Secret]) -> [u8; 32] {
    let written = SecretsFile::write(secrets.iter());
    keywright_primitives::hash::sha256(written.expose())
}

fn there(wallet: &Wallet, advice: &str) -> Failure {
    Failure::new(
        Exit::Refused,
        format!(
            "{} exists, and nothing was written",
            wallet.folder().display()
        ),
        advice,
    )
}

fn changed(id: &WalletId) -> Failure {
    Failure::new(
        Exit::Target,
        format!("wallet {id} was changed while it was read"),
        "stop what writes to it, and go on with --resume",
    )
}

fn leave(arguments: &Leave, format: Format) -> Result<Exit, Failure> {
    refuse_existing(&arguments.out)?;
    let (id, export, secrets) = Wallet::read(&arguments.wallet, &arguments.password.read()?)?;
    may_leave(export)?;
    confirm(
        "the secrets of the wallet are written in plain form",
        arguments.yes,
    )?;
    let text = SecretsFile::write(secrets.iter());
    wallet::write_plain(&arguments.out, &text)?;
    let left = Left {
        wallet: id.to_string(),
        file: arguments.out.display().to_string(),
        secrets: secrets.len(),
    };
    output::document(format, &left, || {
        output::fields(&[
            ("wallet", left.wallet.clone()),
            ("file", left.file.clone()),
            ("secrets", left.secrets.to_string()),
        ])
    })?;
    Ok(Exit::Ok)
}

#[derive(Serialize)]
struct Left {
    wallet: String,
    file: String,
    secrets: usize,
}

/// A secret that is not taken, with its path.
fn refused(place: &Path, path: Option<&str>, error: VaultError) -> Failure {
    // A path comes from elsewhere: what could move the cursor is written out, and it has an end.
    let shown: String = path
        .unwrap_or_default()
        .chars()
        .take(200)
        .flat_map(char::escape_debug)
        .collect();
    let happened = match shown.is_empty() {
        true => format!("{}: {error}", place.display()),
        false => format!("{}: {shown}: {error}", place.display()),
    };
    Failure::new(
        Exit::Target,
        happened,
        "nothing was written; mend it where it lies, or choose others with --wallet",
    )
}
