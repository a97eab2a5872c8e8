//! `keywright admin pki`: the development certificate authority.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use keywright_clock::Clock;
use keywright_home::pki::{AUTHORITY, Pki, REVOCATION_LIST};
use keywright_home::{Answer, Order};
use keywright_policy::PolicyDocument;
use keywright_tls::describe_certificate;
use keywright_tls::issue::Reason;
use keywright_types::{Name, PrincipalId};
use serde::Serialize;

use crate::admin::order::{self, give};
use crate::confirm::{Yes, confirm};
use crate::exit::{Exit, Failure, sentence};
use crate::output::{self, Format};
use crate::place::Home;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Make an authority with an empty revocation list in a folder of its own.
    Init {
        /// The folder; it is made if it is not there.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Issue a client's certificate: NAME.pem and NAME.key.
    Issue(Issue),
    /// Revoke a client's certificate; a running node ends its connections within a second.
    Revoke(Revoke),
}

#[derive(Debug, clap::Args)]
pub(super) struct Issue {
    /// The common name, and the name of the two files.
    #[arg(value_name = "NAME")]
    name: Name,
    /// The organisational unit.
    #[arg(long, value_name = "OU")]
    unit: Option<String>,
    /// A principal of the policy in force; its id is written into the certificate.
    #[arg(long, value_name = "NAME")]
    principal: Option<Name>,
    /// Where the files go [default: clients in the home].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    authority: AuthorityFolder,
}

#[derive(Debug, clap::Args)]
pub(super) struct Revoke {
    /// The certificate.
    #[arg(value_name = "CERT.pem")]
    certificate: PathBuf,
    /// Why: affiliation-changed, cessation-of-operation, key-compromise, superseded, unspecified.
    #[arg(long, value_name = "REASON", default_value = "unspecified")]
    reason: Reason,
    #[command(flatten)]
    authority: AuthorityFolder,
    #[command(flatten)]
    yes: Yes,
}

#[derive(Debug, clap::Args)]
struct AuthorityFolder {
    /// The authority's folder [default: the home].
    #[arg(long, value_name = "DIR")]
    authority: Option<PathBuf>,
}

impl AuthorityFolder {
    fn open(&self, home: &Home) -> Result<Pki, Failure> {
        Ok(Pki::open(self.authority.as_deref().unwrap_or(&home.home))?)
    }
}

pub(super) fn run(home: &Home, command: Command, format: Format) -> Result<(), Failure> {
    match command {
        Command::Init { folder } => init(&folder, format),
        Command::Issue(issue) => issue.run(home, format),
        Command::Revoke(revoke) => revoke.run(home, format),
    }
}

#[derive(Serialize)]
struct AuthorityDocument {
    authority: PathBuf,
    revocation_list: PathBuf,
    anchor: String,
}

fn init(folder: &Path, format: Format) -> Result<(), Failure> {
    let made = std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder);
    made.map_err(|error| Failure::file(folder, "made", &error))?;
    let pki = Pki::init(folder, Clock::system().wall())?;
    let document = AuthorityDocument {
        authority: folder.join(AUTHORITY),
        revocation_list: folder.join(REVOCATION_LIST),
        anchor: keywright_encoding::hex::encode(&pki.authority().spki_sha256()),
    };
    output::document(format, &document, || {
        output::fields(&[
            ("authority", document.authority.display().to_string()),
            (
                "revocation list",
                document.revocation_list.display().to_string(),
            ),
            ("anchor", document.anchor.clone()),
        ])
    })
}

#[derive(Serialize)]
struct IssuedDocument {
    certificate: PathBuf,
    key: PathBuf,
    subject: String,
    serial: String,
    not_after: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    principal: Option<PrincipalId>,
}

impl Issue {
    fn run(&self, home: &Home, format: Format) -> Result<(), Failure> {
        let pki = self.authority.open(home)?;
        let principal = self
            .principal
            .as_ref()
            .map(|name| principal_id(home, name))
            .transpose()?;
        let folder = self
            .out
            .clone()
            .unwrap_or_else(|| home.home.join("clients"));
        let (certificate, key) = (
            folder.join(format!("{}.pem", self.name)),
            folder.join(format!("{}.key", self.name)),
        );
        for path in [&certificate, &key] {
            if path.symlink_metadata().is_ok() {
                // A key that is in use somewhere is not overwritten, not even on demand.
                let happened = format!("{} exists", path.display());
                return Err(Failure::new(
                    Exit::Refused,
                    happened,
                    "choose another NAME or --out DIR",
                ));
            }
        }
        let names = (self.name.as_str(), self.unit.as_deref());
        pki.issue_client(&folder, names, principal, Clock::system().wall())?;
        let summary = describe(&certificate)?;
        let document = IssuedDocument {
            certificate,
            key,
            subject: summary.subject,
            serial: summary.serial,
            not_after: summary.not_after.rfc3339(),
            principal,
        };
        output::document(format, &document, || document.text())
    }
}

impl IssuedDocument {
    fn text(&self) -> String {
        let mut rows = vec![
            ("certificate", self.certificate.display().to_string()),
            ("key", self.key.display().to_string()),
            ("subject", self.subject.clone()),
            ("serial", self.serial.clone()),
            ("not after", self.not_after.clone()),
        ];
        rows.extend(
            self.principal
                .map(|principal| ("principal", principal.to_string())),
        );
        output::fields(&rows)
    }
}

#[derive(Serialize)]
struct RevokedDocument {
    subject: String,
    serial: String,
    reason: &'static str,
    epoch: u64,
}

impl Revoke {
    fn run(self, home: &Home, format: Format) -> Result<(), Failure> {
        let pki = self.authority.open(home)?;
        let summary = describe(&self.certificate)?;
        confirm(&format!("revoke {} for ever", summary.subject), self.yes)?;
        pki.revoke(&self.certificate, self.reason, Clock::system().wall())?;
        let Answer::InForce { epoch } =
            give(home, Order::TrustReload).map_err(listed_but_not_read)?
        else {
            return Err(order::unexpected());
        };
        let reason = self.reason.name();
        let document = RevokedDocument {
            subject: summary.subject,
            serial: summary.serial,
            reason,
            epoch,
        };
        output::document(format, &document, || {
            output::fields(&[
                ("subject", document.subject.clone()),
                ("serial", document.serial.clone()),
                ("reason", reason.to_owned()),
                ("epoch", epoch.to_string()),
            ])
        })
    }
}

/// The list is written before it is put in force: whoever reads the error must know the half that is done.
fn listed_but_not_read(failure: Failure) -> Failure {
    Failure {
        happened: format!(
            "the certificate is on the list, but the list is not in force: {}",
            failure.happened
        ),
        advice: format!(
            "{}; then repeat the command or start the node again",
            failure.advice
        ),
        ..failure
    }
}

fn principal_id(home: &Home, name: &Name) -> Result<PrincipalId, Failure> {
    let text = super::policy(home)?.unwrap_or_default();
    let document = match text.is_empty() {
        true => None,
        false => {
            Some(PolicyDocument::parse(&text).map_err(|error| Failure::broken(sentence(&error)))?)
        }
    };
    let principals = document
        .map(|document| document.principals)
        .unwrap_or_default();
    let found = principals
        .into_iter()
        .find(|principal| principal.name == *name);
    let unknown = || keywright_home::HomeError::PrincipalUnknown(name.to_string());
    Ok(found
        .and_then(|principal| principal.id)
        .ok_or_else(unknown)?)
}

fn describe(certificate: &Path) -> Result<keywright_tls::Summary, Failure> {
    describe_certificate(&crate::place::read(certificate)?).map_err(|error| {
        let happened = format!("{}: {}", certificate.display(), sentence(&error));
        Failure::new(Exit::Usage, happened, "give a certificate in PEM form")
    })
}
