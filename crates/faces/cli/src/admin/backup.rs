//! `admin backup`: a home in one sealed file, and a new home of it.
//!
//! A password that would lie beside the backup, or that is the root's as well, is refused: whoever finds one of
//! them would have the other (key-service.md, D25).

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use keywright_audit::head::Fingerprint;
use keywright_clock::Clock;
use keywright_home::backup::{
    Backup, BackupError, CONFIRMABLE, LaterLog, Restoration, Restored, SealedBackup, SlotText,
};
use keywright_home::{Answer, FINGERPRINT_FILE, Imported, Order};
use keywright_secret::SecretBytes;
use keywright_secret::locked::refuse_core_files;
use serde::Serialize;

use super::order::{give, unexpected};
use crate::audit::parse_fingerprint;
use crate::exit::{Exit, Failure, sentence};
use crate::output::{self, Format};
use crate::place::{Home, existing_home, read};
use crate::seal::{KeyOptions, SlotOptions};

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Write a backup of the home, while its node runs or not.
    Create(Create),
    /// Make a home of a backup at --home, where there is none.
    Restore(Restore),
    /// Look at a backup without restoring it.
    Verify(Verify),
}

/// Where the backup goes, and who opens it.
#[derive(Debug, clap::Args)]
pub(super) struct Create {
    /// The file to write, outside of the home; nothing is ever written over.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    slots: SlotOptions,
}

/// The backup, its signer, and what is in none.
#[derive(Debug, clap::Args)]
pub(super) struct Restore {
    /// The backup.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    key: KeyOptions,
    #[command(flatten)]
    signer: SignerOptions,
    #[command(flatten)]
    log: Log,
    /// The file with the password of the root key.
    #[arg(long, value_name = "FILE")]
    root_password_file: Option<PathBuf>,
    /// The file with the user's PIN of the token.
    #[arg(long, value_name = "FILE")]
    token_pin_file: Option<PathBuf>,
    /// The server's private key; it is in no backup.
    #[arg(long, value_name = "FILE")]
    server_key: Option<PathBuf>,
    /// The server's certificates, if the key is a new one [default: those of the backup].
    #[arg(long, value_name = "FILE", requires = "server_key")]
    server_certificate: Option<PathBuf>,
    /// The PKCS#11 module of the token; none is taken from a backup.
    #[arg(long, value_name = "FILE")]
    module: Option<PathBuf>,
    /// A setting of the backup that may reach outside of the home; repeat for more.
    #[arg(long, value_name = "KEY", value_parser = PossibleValuesParser::new(CONFIRMABLE))]
    accept: Vec<String>,
}

/// The signer of backups and of the audit log, from outside of the backup.
#[derive(Debug, clap::Args)]
struct SignerOptions {
    /// The fingerprint of the audit log's signer, from outside the backup.
    #[arg(long, value_name = "HEX", conflicts_with = "fingerprint_file")]
    fingerprint: Option<String>,
    /// The same, in a file such as audit-signer.txt.
    #[arg(long, value_name = "FILE")]
    fingerprint_file: Option<PathBuf>,
}

/// What happened after the backup.
// A group, so that whoever gives neither is told of both.
#[derive(Debug, clap::Args)]
#[group(id = "log", required = true, multiple = false)]
struct Log {
    /// The audit folder of the home that is lost: what was ordered after the backup is done again.
    #[arg(long, value_name = "FOLDER")]
    audit: Option<PathBuf>,
    /// Go back to the moment of the backup: what was destroyed, suspended or revoked since is undone. It is recorded.
    #[arg(long)]
    without_log: bool,
}

/// The backup, and its signer.
#[derive(Debug, clap::Args)]
pub(super) struct Verify {
    /// The backup.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    key: KeyOptions,
    // Without one, audit-signer.txt of the home.
    #[command(flatten)]
    signer: SignerOptions,
}

pub(super) fn run(home: &Home, command: &Command, format: Format) -> Result<(), Failure> {
    refuse_core_files();
    match command {
        Command::Create(order) => create(home, order, format),
        Command::Restore(order) => restore(home, order, format),
        Command::Verify(order) => verify(home, order, format),
    }
}

#[derive(Serialize)]
struct CreatedDocument<'a> {
    file: &'a Path,
    #[serde(flatten)]
    made: &'a keywright_home::backup::BackedUp,
}

fn create(home: &Home, order: &Create, format: Format) -> Result<(), Failure> {
    existing_home(&home.home)?;
    let unwritable = |error: std::io::Error| Failure::new_file(&order.out, &error);
    if order.out.symlink_metadata().is_ok() {
        return Err(unwritable(std::io::ErrorKind::AlreadyExists.into()));
    }
    let to = std::path::absolute(&order.out).map_err(unwritable)?;
    if let Some(password) = order.slots.password_file() {
        check_distance(password, &to)?;
    }
    let (key, slots) = order
        .slots
        .make(|password| check_password(home, password))?;
    let slots: Vec<_> = slots.iter().map(SlotText::new).collect();
    let key = Imported::from(&key);
    let Answer::BackedUp(made) = give(home, Order::BackupCreate { to, key, slots })? else {
        return Err(unexpected());
    };
    let document = CreatedDocument {
        file: &order.out,
        made: &made,
    };
    output::document(format, &document, || {
        output::fields(&[
            ("file", order.out.display().to_string()),
            ("bytes", made.bytes.to_string()),
            ("epoch", made.epoch.to_string()),
            ("audit head", made.head.to_string()),
            ("contexts", made.contexts.to_string()),
            ("versions", made.versions.to_string()),
        ])
    })?;
    message!(
        "not in it: the root's password, the PIN of a token, keys in a token, private keys of TLS; keep them elsewhere"
    );
    Ok(())
}

/// Refuses a password that lies in the folder of the backup.
fn check_distance(password: &Path, backup: &Path) -> Result<(), Failure> {
    let folder = |path: &Path| {
        let path = std::path::absolute(path).ok()?;
        path.parent()?.canonicalize().ok()
    };
    if folder(password).is_none() || folder(password) != folder(backup) {
        return Ok(());
    }
    Err(Failure::new(
        Exit::Refused,
        format!("{} would lie beside the backup", password.display()),
        "keep the password in another place than the backup, or seal to a public key with --recipient",
    ))
}

/// Refuses the password of the root key.
fn check_password(home: &Home, password: &SecretBytes) -> Result<(), Failure> {
    let config = keywright_home::Config::read(&home.config());
    let root = config.ok().and_then(|config| config.keystore.password_file);
    let root = root.and_then(|file| std::fs::read(file).ok());
    let root = SecretBytes::from_vec(root.unwrap_or_default());
    let line = root.expose().trim_ascii_end();
    if line.is_empty() || !keywright_secret::ct_eq(line, password.expose()) {
        return Ok(());
    }
    Err(Failure::new(
        Exit::Refused,
        "this is the password of the root key: with it the backup would lie open",
        "choose another password for the backup",
    ))
}

/// The backup in a file, opened and signed by the key with this fingerprint.
fn open(file: &Path, key: &KeyOptions, signer: Fingerprint) -> Result<Backup, Failure> {
    let sealed = SealedBackup::read(file).map_err(failed)?;
    let key = key.open(sealed.header())?;
    sealed.open(&key, signer).map_err(failed)
}

fn restore(home: &Home, order: &Restore, format: Format) -> Result<(), Failure> {
    let signer = order.signer.fingerprint()?.ok_or_else(|| {
        Failure::new(
            Exit::Usage,
            "not restored: the fingerprint of the backup's signer is not known",
            "give --fingerprint or --fingerprint-file, as it was noted when the home was made (audit-signer.txt)",
        )
    })?;
    let backup = open(&order.file, &order.key, signer)?;
    let accepted: Vec<_> = order.accept.iter().map(String::as_str).collect();
    let log = match &order.log.audit {
        Some(folder) => LaterLog::Folder(folder),
        None => LaterLog::Lost,
    };
    let restoration = Restoration {
        log,
        root_password: order.root_password_file.as_deref(),
        token_pin: order.token_pin_file.as_deref(),
        server_key: order.server_key.as_deref(),
        server_certificate: order.server_certificate.as_deref(),
        module: order.module.as_deref(),
        accepted: &accepted,
    };
    let restored = backup.restore(&home.home, &restoration, &Clock::system());
    let restored = restored.map_err(failed)?;
    output::document(format, &restored, || {
        let mut rows = vec![
            ("home", home.home.display().to_string()),
            ("epoch", restored.epoch.to_string()),
            ("contexts", restored.contexts.to_string()),
            ("orders done again", restored.replayed.to_string()),
        ];
        for (name, labels) in [
            ("lost", &restored.lost),
            ("retired", &restored.retired),
            ("suspended", &restored.suspended),
        ] {
            rows.extend(labels.iter().map(|label| (name, label.clone())));
        }
        output::fields(&rows)
    })?;
    advise(&restored);
    Ok(())
}

/// What is left to be done by hand.
fn advise(restored: &Restored) {
    message!("destructions wait until the clock is confirmed: keywright admin clock confirm");
    if !restored.lost.is_empty() {
        message!(
            "versions that were made after the backup are lost and stand as destroyed; rotate contexts without an active version"
        );
    }
    if !restored.retired.is_empty() {
        message!("seals in the token since the backup are not counted: rotate the retired keys");
    }
    if restored.policy_missing {
        message!(
            "the policy in force is not known, nobody is served: keywright admin policy apply"
        );
    }
    if restored.trust_unknown {
        message!(
            "the trust anchors and revocation lists in force are not known: put the newest in place, older ones than the log knows are refused"
        );
    }
    if restored.unfinished > 0 {
        message!(
            "the log has {} orders without an end, which were not acknowledged: look at audit show, and give them again",
            restored.unfinished
        );
    }
    if restored.unproven > 0 {
        message!(
            "the log has {} records that neither a signed head nor a check frame proves ({} rows not believed): compare other copies of the log, look at audit show, and give orders again",
            restored.unproven,
            restored.doubted
        );
    }
    if !restored.suspended.is_empty() {
        message!(
            "such records restrict the suspended versions: find out whether they were ordered, then keywright admin key resume, or order them again"
        );
    }
    for file in &restored.missing_files {
        message!("put {} in place before you serve", file.display());
    }
}

fn verify(home: &Home, order: &Verify, format: Format) -> Result<(), Failure> {
    let fingerprint = match order.signer.fingerprint()? {
        Some(fingerprint) => fingerprint,
        None => home_fingerprint(home)?,
    };
    let backup = open(&order.file, &order.key, fingerprint)?;
    let found = backup.verify().map_err(failed)?;
    output::document(format, &found, || {
        output::fields(&[
            ("created", found.created.clone()),
            ("signed by", found.signer.clone()),
            ("installation", found.installation.clone()),
            ("epoch", found.epoch.to_string()),
            ("audit head", format!("{} {}", found.head, found.head_hash)),
            ("tenants", found.tenants.to_string()),
            ("contexts", found.contexts.to_string()),
            ("versions", found.versions.to_string()),
            ("rows", found.rows.to_string()),
            (
                "policy",
                if found.policy { "yes" } else { "none" }.to_owned(),
            ),
        ])
    })?;
    for setting in &found.outside {
        message!(
            "a restore asks for {}, which is {:?}",
            setting.key,
            setting.value
        );
    }
    Ok(())
}

impl SignerOptions {
    /// The fingerprint, if one was given.
    fn fingerprint(&self) -> Result<Option<Fingerprint>, Failure> {
        match (&self.fingerprint, &self.fingerprint_file) {
            (Some(text), _) => parse_fingerprint(text, "--fingerprint").map(Some),
            (None, Some(file)) => read_fingerprint(file).map(Some),
            (None, None) => Ok(None),
        }
    }
}

fn home_fingerprint(home: &Home) -> Result<Fingerprint, Failure> {
    let file = home.home.join(FINGERPRINT_FILE);
    if file.exists() {
        return read_fingerprint(&file);
    }
    Err(Failure::new(
        Exit::Usage,
        "not verified: the fingerprint of the backup's signer is not known",
        "give --fingerprint or --fingerprint-file, or --home DIR of the home that the backup is of",
    ))
}

fn read_fingerprint(file: &Path) -> Result<Fingerprint, Failure> {
    let text = String::from_utf8_lossy(&read(file)?).into_owned();
    parse_fingerprint(&text, &file.display().to_string())
}

/// An error of the library as the end of the command.
fn failed(error: BackupError) -> Failure {
    let error = match error {
        BackupError::Home(error) => return error.into(),
        error => error,
    };
    let exit = match &error {
        BackupError::Read(..) | BackupError::Sealed(keywright_container::Error::Read(_)) => {
            Exit::Internal
        }
        BackupError::SecretMissing(_) | BackupError::NoToken(_) => Exit::Usage,
        BackupError::Format(_) | BackupError::TooLong(_) => Exit::Unsupported,
        BackupError::LogInUse
        | BackupError::StaleLog
        | BackupError::ForeignLog
        | BackupError::Unconfirmed(_) => Exit::Refused,
        _ => Exit::Negative,
    };
    Failure::new(exit, sentence(&error), error.advice())
}
