//! Seeds of wallets and other keys on their way out, sealed to public keys.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use keywright_encoding::base64;
use keywright_home::{Answer, Order, Recipient};
use keywright_types::{KeyVersion, Name};
use serde::Serialize;

use super::OneContext;
use super::order::{give, unexpected};
use crate::exit::Failure;
use crate::output::{self, Format};
use crate::place::Home;

/// A seed, and to whom it is sealed.
#[derive(Debug, clap::Args)]
pub(super) struct Export {
    #[command(flatten)]
    context: OneContext,
    /// A file with public keys of recipients, as `keywright seal keygen` prints them; each of them opens the file.
    #[arg(long = "recipient", value_name = "FILE", required = true)]
    recipients: Vec<PathBuf>,
    /// The file to write; nothing is ever written over.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Serialize)]
struct ExportedDocument<'a> {
    name: &'a Name,
    file: &'a Path,
    recipients: usize,
}

/// Writes the file with the seed of a wallet.
pub(super) fn export(home: &Home, export: Export, format: Format) -> Result<(), Failure> {
    write(home, export, format, |tenant, name, recipients| {
        Order::SeedExport {
            tenant,
            name,
            recipients,
        }
    })
}

/// The key of a context that is no wallet, and to whom it is sealed.
#[derive(Debug, clap::Args)]
pub(super) struct KeyExport {
    /// The version [default: the active one].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    key_version: Option<u32>,
    #[command(flatten)]
    export: Export,
}

/// Writes the file with the key of a context.
pub(super) fn export_key(home: &Home, export: KeyExport, format: Format) -> Result<(), Failure> {
    let version = export.key_version.map(KeyVersion::from_number);
    write(home, export.export, format, |tenant, name, recipients| {
        Order::KeyExport {
            tenant,
            name,
            version,
            recipients,
        }
    })
}

/// Writes a file. The place is made sure of before what is in it is asked for.
fn write(
    home: &Home,
    export: Export,
    format: Format,
    order: impl FnOnce(Name, Name, Vec<Recipient>) -> Order,
) -> Result<(), Failure> {
    let keys = crate::seal::recipients_of(&export.recipients)?;
    let OneContext { name, tenant } = export.context;
    let unwritable = |error: std::io::Error| Failure::new_file(&export.out, &error);
    let mut options = OpenOptions::new();
    let options = options.write(true).create_new(true).mode(0o600);
    let mut file = options.open(&export.out).map_err(unwritable)?;
    let recipients = keys.iter().map(Recipient::new).collect();
    let order = order(tenant.tenant, name.clone(), recipients);
    let sealed = give(home, order).and_then(|answer| match answer {
        Answer::SeedSealed { file } => base64::decode(&file).map_err(|_| unexpected()),
        _ => Err(unexpected()),
    });
    let written = sealed.and_then(|sealed| {
        let done = file.write_all(&sealed).and_then(|()| file.sync_all());
        done.map_err(unwritable)
    });
    if written.is_err() {
        // An empty or torn file is worse than none.
        drop(std::fs::remove_file(&export.out));
    }
    written?;
    let document = ExportedDocument {
        name: &name,
        file: &export.out,
        recipients: keys.len(),
    };
    output::document(format, &document, || {
        output::fields(&[
            ("name", name.to_string()),
            ("file", export.out.display().to_string()),
            ("recipients", keys.len().to_string()),
        ])
    })
}
