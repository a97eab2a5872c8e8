//! `keywright token verify`.

use std::path::PathBuf;

use keywright_encoding::{base64, hex};
use keywright_token::{
    Audience, Binder, Channel, Check, DenySet, RevocationId, Skew, UnixSeconds, Verified,
    VerifyingKey, VerifyingKeys,
};
use serde::Serialize;

use super::claim::words;
use super::key::{self, Named};
use super::refused::refused;
use super::text::{Input, file, now, seconds};
use super::with_key;
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

/// Bytes of the longest list of revoked ids: a million of them and more.
const LONGEST_LIST: usize = 64 << 20;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,
    /// The file with the issuer's key.
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "public_key_file",
        conflicts_with = "public_key_file"
    )]
    key_file: Option<PathBuf>,
    /// The file with the issuer's public key; for signed tokens.
    #[arg(long, value_name = "FILE")]
    public_key_file: Option<PathBuf>,
    #[command(flatten)]
    named: Named,
    /// Who is verifying: the token has to be for this audience.
    #[arg(
        long,
        value_name = "NAME",
        required_unless_present = "any_audience",
        conflicts_with = "any_audience"
    )]
    audience: Option<String>,
    /// Accept tokens for anybody.
    #[arg(long)]
    any_audience: bool,
    /// Words that the token has to have in its scope.
    #[arg(long, value_name = "WORDS", default_value = "")]
    scope: String,
    /// Seconds by which clocks may differ, 60 at most.
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    skew: u64,
    /// Verify as if it were this second since 1970 [default: the system's clock].
    #[arg(long, value_name = "SECONDS")]
    at: Option<u64>,
    /// The file with the 32 bytes that both ends of this session have.
    #[arg(long, value_name = "FILE")]
    binder_file: Option<PathBuf>,
    /// Refuse tokens that are not bound to this session.
    #[arg(long, requires = "binder_file")]
    require_binding: bool,
    /// The file with the ids of revoked tokens and branches, one on a line.
    #[arg(long, value_name = "FILE")]
    deny_file: Option<PathBuf>,
    /// Say on standard error why a token is refused: for whoever keeps the key, not for who presents the token.
    #[arg(long)]
    explain: bool,
}

pub(super) fn run(arguments: &Arguments, format: Format) -> Result<Exit, Failure> {
    with_key(|| verify(arguments))?.print(format)
}

fn verify(arguments: &Arguments) -> Result<Told, Failure> {
    let keys = VerifyingKeys::of(arguments.key()?);
    let (wanted, binder) = (
        words(&arguments.scope)?,
        key::binder(arguments.binder_file.as_ref())?,
    );
    let audience = arguments
        .audience
        .as_deref()
        .map_or(Audience::Any, Audience::Is);
    let check = Check::at(arguments.at.map_or(Ok(now()), seconds)?, audience)
        .skew(Skew::seconds(arguments.skew).map_err(refused)?)
        .channel(arguments.channel(binder.as_ref()))
        .wanting(wanted.scope());
    let denied = arguments.denied()?;
    let token = arguments.input.read()?;
    match keys.verify(token.expose(), &check, &denied) {
        Ok(verified) => Ok(Told::of(&verified)),
        Err(rejected) => {
            if arguments.explain {
                message!("reason: {}", rejected.reason_for_audit().name());
            }
            Err(Failure {
                code: Some("token_rejected"),
                ..Failure::new(
                    Exit::Negative,
                    format!("{rejected} (token_rejected)"),
                    "ask its issuer for another; whoever keeps the key can see the reason with --explain",
                )
            })
        }
    }
}

impl Arguments {
    fn key(&self) -> Result<VerifyingKey, Failure> {
        if let Some(path) = &self.key_file {
            let issuer = self.named.issuing(&key::secret(path)?)?;
            return issuer.verifying_key().map_err(refused);
        }
        match &self.public_key_file {
            Some(path) if self.named.is_signature() => self.named.public(key::public(path)?),
            _ => Err(Failure::new(
                Exit::Usage,
                "a public key verifies signatures only",
                "add --suite ed25519, or give --key-file",
            )),
        }
    }

    fn channel<'a>(&self, binder: Option<&'a Binder>) -> Channel<'a> {
        match binder {
            None => Channel::Unbound,
            Some(binder) if self.require_binding => Channel::Required(binder),
            Some(binder) => Channel::Offered(binder),
        }
    }

    /// The list has to be there if it is named: without it nothing would be revoked.
    fn denied(&self) -> Result<DenySet, Failure> {
        let mut denied = DenySet::new();
        let Some(path) = &self.deny_file else {
            return Ok(denied);
        };
        let list = file(path, LONGEST_LIST)?;
        for (number, line) in (1_u64..).zip(list.expose().split(|byte| *byte == b'\n')) {
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let id = std::str::from_utf8(line)
                .ok()
                .and_then(|line| hex::decode_array(line).ok());
            let id = id.ok_or_else(|| {
                Failure::new(
                    Exit::Usage,
                    format!("line {number} of {} is no id", path.display()),
                    "give ids of 32 lower-case hexadecimal digits, one on a line",
                )
            })?;
            denied.insert(RevocationId::from_bytes(id), UnixSeconds::MAX);
        }
        Ok(denied)
    }
}

/// What a token permits.
#[derive(Serialize)]
struct Told {
    id: String,
    branches: Vec<String>,
    suite: &'static str,
    key_id: String,
    bound: bool,
    expires: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_before: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    audience: Option<String>,
    scope: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<String>,
}

impl Told {
    fn of(token: &Verified<'_>) -> Self {
        Self {
            id: token.id().to_string(),
            branches: token
                .revocation_ids()
                .skip(1)
                .map(|id| id.to_string())
                .collect(),
            suite: token.suite().name(),
            key_id: token.key_id().to_string(),
            bound: token.is_bound(),
            expires: token.expires().number(),
            not_before: token.not_before().map(UnixSeconds::number),
            audience: token.audience().map(str::to_owned),
            scope: token.scope().words().map(str::to_owned).collect(),
            subject: token.subject().map(str::to_owned),
            data: token.data().map(base64::encode),
        }
    }

    fn print(&self, format: Format) -> Result<Exit, Failure> {
        output::document(format, self, || self.text())?;
        Ok(Exit::Ok)
    }

    fn text(&self) -> String {
        let mut rows = vec![
            ("id", self.id.clone()),
            ("suite", self.suite.to_owned()),
            ("key id", self.key_id.clone()),
        ];
        rows.extend(self.branches.iter().map(|id| ("branch", id.clone())));
        rows.push(("expires", self.expires.to_string()));
        rows.extend(
            self.not_before
                .map(|begin| ("not before", begin.to_string())),
        );
        rows.extend(self.audience.clone().map(|name| ("audience", name)));
        rows.push(("scope", self.scope.join(" ")));
        rows.extend(self.subject.clone().map(|name| ("subject", name)));
        rows.extend(self.data.clone().map(|data| ("data", data)));
        rows.push((
            "bound",
            if self.bound { "to this session" } else { "no" }.to_owned(),
        ));
        output::fields(&rows)
    }
}
