//! `keywright token build`.

use std::path::PathBuf;

use keywright_encoding::hex;
use keywright_primitives::random::RandomStream;
use keywright_secret::{Secret, SecretBytes};
use keywright_token::{Claims, MAX_DATA, ScopeText};
use serde::Serialize;

use super::claim::Common;
use super::key::{self, Named};
use super::refused::refused;
use super::text::{Destination, file, write_new};
use super::with_key;
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The file with the key: 32 bytes, or 64 hexadecimal digits.
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    /// Make the key file first; it must not exist.
    #[arg(long)]
    new_key: bool,
    /// Write the public key of a signing key to this file, which must not exist.
    #[arg(long, value_name = "FILE")]
    public_out: Option<PathBuf>,
    #[command(flatten)]
    named: Named,
    #[command(flatten)]
    common: Common,
    /// About whom it speaks.
    #[arg(long, value_name = "NAME")]
    subject: Option<String>,
    /// The file with bytes that mean something to whoever verifies.
    #[arg(long, value_name = "FILE")]
    data_file: Option<PathBuf>,
    /// The file with the 32 bytes that both ends of a session have: the token is good in this session only.
    #[arg(long, value_name = "FILE")]
    binder_file: Option<PathBuf>,
    /// The file with the public key whose holder can narrow a signed token and has to close it.
    #[arg(long, value_name = "FILE")]
    delegate_file: Option<PathBuf>,
    #[command(flatten)]
    destination: Destination,
}

pub(super) fn run(arguments: &Arguments, format: Format) -> Result<Exit, Failure> {
    with_key(|| build(arguments))?.print(format)
}

fn build(arguments: &Arguments) -> Result<Told, Failure> {
    let made = Made::of(arguments)?;
    let secret = arguments.secret()?;
    let issuer = arguments.named.issuing(&secret)?;
    let mut token = Vec::with_capacity(keywright_token::MAX_LEN);
    let mut random = RandomStream::new().map_err(|error| refused(error.into()))?;
    let claims = made.claims(arguments)?;
    let binder = key::binder(arguments.binder_file.as_ref())?;
    let id = issuer.issue_into(&claims, binder.as_ref(), &mut random, &mut token);
    let id = id.map_err(refused)?;
    let token = SecretBytes::from_vec(token);
    let public = arguments.publish(&secret)?;
    Ok(Told {
        token: arguments.destination.place(token.expose())?,
        id: id.to_string(),
        suite: issuer.suite().name(),
        key_id: issuer.id().to_string(),
        expires: made.end,
        public_key: public,
    })
}

/// What stands in files and has to outlive the claims.
struct Made {
    end: u64,
    scope: Option<ScopeText>,
    data: Option<SecretBytes>,
    delegate: Option<keywright_primitives::signature::VerifyingKey>,
}

impl Made {
    fn of(arguments: &Arguments) -> Result<Self, Failure> {
        let end = arguments.common.end.time()?.ok_or_else(|| {
            Failure::new(
                Exit::Usage,
                "the token has no end",
                "give --expires-in TIME, such as 1h, or --expires-at SECONDS",
            )
        })?;
        let data = arguments.data_file.as_ref();
        let delegate = arguments.delegate_file.as_ref();
        Ok(Self {
            end: end.number(),
            scope: arguments.common.scope()?,
            data: data.map(|path| file(path, MAX_DATA)).transpose()?,
            delegate: delegate.map(|path| key::public(path)).transpose()?,
        })
    }

    fn claims<'a>(&'a self, arguments: &'a Arguments) -> Result<Claims<'a>, Failure> {
        let mut claims = Claims::until(super::text::seconds(self.end)?);
        if let Some(begin) = arguments.common.begin()? {
            claims = claims.not_before(begin);
        }
        if let Some(name) = &arguments.common.audience {
            claims = claims.audience(name).map_err(refused)?;
        }
        if let Some(scope) = &self.scope {
            claims = claims.scope(scope.scope());
        }
        if let Some(name) = &arguments.subject {
            claims = claims.subject(name).map_err(refused)?;
        }
        if let Some(data) = &self.data {
            claims = claims.data(data.expose()).map_err(refused)?;
        }
        if let Some(key) = &self.delegate {
            claims = claims.delegate(key);
        }
        Ok(claims)
    }
}

impl Arguments {
    fn secret(&self) -> Result<Secret<32>, Failure> {
        if self.new_key {
            key::create(&self.key_file)
        } else {
            key::secret(&self.key_file)
        }
    }

    /// The public key of a signing key, written where it was asked for.
    fn publish(&self, secret: &Secret<32>) -> Result<Option<String>, Failure> {
        if !self.named.is_signature() {
            return match &self.public_out {
                None => Ok(None),
                Some(_) => Err(Failure::new(
                    Exit::Usage,
                    "a key for MACs has no public half",
                    "leave --public-out out, or take --suite ed25519",
                )),
            };
        }
        let text = hex::encode(key::pair(secret)?.verifying_key().as_bytes());
        if let Some(path) = &self.public_out {
            write_new(path, &[text.as_bytes(), b"\n"], 0o644)?;
        }
        Ok(Some(text))
    }
}

/// What came of it.
#[derive(Serialize)]
struct Told {
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    id: String,
    suite: &'static str,
    key_id: String,
    expires: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key: Option<String>,
}

impl Told {
    fn print(&self, format: Format) -> Result<Exit, Failure> {
        output::document(format, self, || {
            self.token
                .as_ref()
                .map_or_else(String::new, |token| format!("{token}\n"))
        })?;
        Ok(Exit::Ok)
    }
}
