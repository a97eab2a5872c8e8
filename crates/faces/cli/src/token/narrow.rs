//! `keywright token attenuate`.

use std::path::PathBuf;

use keywright_secret::SecretBytes;
use keywright_token::{Narrowing, Next, Peek, attenuate_into, delegate_into};
use serde::Serialize;

use super::claim::Common;
use super::key;
use super::refused::refused;
use super::text::{Destination, Input};
use super::with_key;
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    common: Common,
    /// For a signed token: the file with the delegation key that it names.
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// For a signed token: the file with the public key of the next holder. Without it the token is closed.
    #[arg(long, value_name = "FILE", requires = "key_file")]
    next_file: Option<PathBuf>,
    #[command(flatten)]
    destination: Destination,
}

pub(super) fn run(arguments: &Arguments, format: Format) -> Result<Exit, Failure> {
    with_key(|| narrow(arguments))?.print(format)
}

fn narrow(arguments: &Arguments) -> Result<Told, Failure> {
    let scope = arguments.common.scope()?;
    let mut narrowing = Narrowing::new();
    if let Some(end) = arguments.common.end.time()? {
        narrowing = narrowing.until(end);
    }
    if let Some(begin) = arguments.common.begin()? {
        narrowing = narrowing.not_before(begin);
    }
    if let Some(name) = &arguments.common.audience {
        narrowing = narrowing.audience(name).map_err(refused)?;
    }
    if let Some(scope) = &scope {
        narrowing = narrowing.scope(scope.scope());
    }
    let token = arguments.input.read()?;
    let mut longer = Vec::with_capacity(keywright_token::MAX_LEN);
    let id = match &arguments.key_file {
        None => attenuate_into(token.expose(), &narrowing, &mut longer),
        Some(path) => {
            let holder = key::pair(&key::secret(path)?)?;
            let next = arguments
                .next_file
                .as_ref()
                .map(|path| key::public(path))
                .transpose()?;
            let next = next.as_ref().map_or(Next::Nobody, Next::Key);
            delegate_into(token.expose(), &holder, &narrowing, next, &mut longer)
        }
    };
    let branch = id.map_err(refused)?.to_string();
    let longer = SecretBytes::from_vec(longer);
    let peek = Peek::at(longer.expose()).map_err(refused)?;
    Ok(Told {
        token: arguments.destination.place(longer.expose())?,
        id: peek.id().to_string(),
        branch,
        blocks: peek.blocks(),
        open: peek.is_open(),
    })
}

/// What came of it.
#[derive(Serialize)]
struct Told {
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    id: String,
    branch: String,
    blocks: usize,
    open: bool,
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
