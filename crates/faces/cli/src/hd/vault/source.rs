//! Where wallets come from: a file of secrets, or a store that is asked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use keywright_client::secret_store::{Error, Reader};
use keywright_clock::Clock;
use keywright_hdkey::vault::{Export, Secret, WalletId};
use keywright_secret::SecretBytes;
use keywright_tls::{ClientIdentity, Protocol, client_config};

use super::refused;
use crate::exit::{Exit, Failure, sentence};

/// Bytes in the largest file.
const LARGEST: u64 = 256 << 20;

/// Folders in each other, and secrets of one wallet.
const DEEPEST: usize = 8;
const MOST: usize = 100_000;

#[derive(Debug, clap::Args)]
#[group(id = "source", required = true, multiple = true)]
pub(super) struct SourceFlags {
    /// A file of secrets: one JSON object that has for each path what the store's interface answers as `data`.
    #[arg(long, value_name = "FILE", conflicts_with = "store")]
    input: Option<PathBuf>,
    /// The address of a Vault or OpenBao: https://HOST:PORT.
    #[arg(long, value_name = "URL", requires_all = ["store_token_file", "store_ca"])]
    store: Option<String>,
    /// The file with the token.
    #[arg(long, value_name = "FILE", requires = "store")]
    store_token_file: Option<PathBuf>,
    /// The certificate of the authority that signed the store's.
    #[arg(long, value_name = "FILE", requires = "store")]
    store_ca: Option<PathBuf>,
    /// The certificate that the store asks for, if it asks for one.
    #[arg(long, value_name = "FILE", requires_all = ["store", "store_key"])]
    store_cert: Option<PathBuf>,
    /// The private key of that certificate.
    #[arg(long, value_name = "FILE", requires = "store_cert")]
    store_key: Option<PathBuf>,
    /// Where the key/value engine of version 2 is mounted.
    #[arg(long, value_name = "PATH", default_value = "secret")]
    mount: String,
}

/// A file that was read, or a store.
pub(super) enum Origin {
    File {
        path: PathBuf,
        wallets: BTreeMap<WalletId, Vec<Secret>>,
    },
    Store(Box<Live>),
}

/// A store and what was noticed in it.
pub(super) struct Live {
    url: PathBuf,
    reader: Reader,
    deleted: usize,
    not_wallets: usize,
}

impl SourceFlags {
    pub(super) fn open(&self) -> Result<Origin, Failure> {
        match (&self.input, &self.store) {
            (Some(path), _) => self.file(path),
            (None, Some(url)) => self.live(url),
            (None, None) => Err(Failure::new(
                Exit::Usage,
                "it is not said where the wallets are",
                "add --input FILE or --store URL",
            )),
        }
    }

    fn file(&self, path: &Path) -> Result<Origin, Failure> {
        let failed = |error| Failure::file(path, "read", &error);
        if std::fs::metadata(path).map_err(failed)?.len() > LARGEST {
            return Err(Failure::new(
                Exit::Usage,
                format!("{} has more than 256 MiB", path.display()),
                "split it by wallets",
            ));
        }
        let bytes = SecretBytes::from_vec(std::fs::read(path).map_err(failed)?);
        let export = Export::read(bytes.expose(), &self.mount)
            .map_err(|(at, error)| refused(path, at.as_deref(), error))?;
        Ok(Origin::File {
            path: path.to_owned(),
            wallets: export.wallets,
        })
    }

    fn live(&self, url: &str) -> Result<Origin, Failure> {
        let token = SecretBytes::from_vec(read(self.store_token_file.as_deref())?);
        let roots = read(self.store_ca.as_deref())?;
        let refused = |error: keywright_tls::Error| {
            Failure::new(
                Exit::Authentication,
                sentence(&error),
                "check --store-ca, --store-cert and --store-key",
            )
        };
        let identity = match (&self.store_cert, &self.store_key) {
            (Some(cert), Some(key)) => {
                let key = SecretBytes::from_vec(read(Some(key))?);
                let pair = ClientIdentity::from_pem(&read(Some(cert))?, key.expose());
                Some(pair.map_err(refused)?)
            }
            _ => None,
        };
        let tls = client_config(&roots, identity, &[Protocol::Http2], &Clock::system());
        let (tls, mount) = (tls.map_err(refused)?, self.mount.trim_matches('/'));
        let reader = Reader::open(url, tls, &token, mount).map_err(|error| failed(&error))?;
        Ok(Origin::Store(Box::new(Live {
            url: PathBuf::from(url),
            reader,
            deleted: 0,
            not_wallets: 0,
        })))
    }
}

impl Origin {
    /// The wallets there are.
    pub(super) fn wallets(&mut self) -> Result<Vec<WalletId>, Failure> {
        match self {
            Self::File { wallets, .. } => Ok(wallets.keys().cloned().collect()),
            Self::Store(live) => live.wallets(),
        }
    }

    /// The secrets of a wallet, checked.
    pub(super) fn secrets(&mut self, wallet: &WalletId) -> Result<Vec<Secret>, Failure> {
        match self {
            // Each is taken twice, as from a store.
            Self::File { path, wallets } => {
                let secrets = wallets.get(wallet).map(Vec::as_slice).unwrap_or_default();
                let again = Export::read(Export::write(secrets.iter()).expose(), "secret");
                let again = again.map_err(|(at, error)| refused(path, at.as_deref(), error))?;
                Ok(again.wallets.into_values().flatten().collect())
            }
            Self::Store(live) => live.secrets(wallet),
        }
    }

    /// Names that are there and hold nothing any more.
    pub(super) fn deleted(&self) -> usize {
        match self {
            Self::File { .. } => 0,
            Self::Store(live) => live.deleted,
        }
    }

    /// Names in the mount that are no wallets.
    pub(super) fn not_wallets(&self) -> usize {
        match self {
            Self::File { .. } => 0,
            Self::Store(live) => live.not_wallets,
        }
    }
}

impl Live {
    fn wallets(&mut self) -> Result<Vec<WalletId>, Failure> {
        let names = self.reader.names("").map_err(|error| failed(&error))?;
        let all = names.len();
        let wallet = |name: &String| WalletId::parse(name.strip_suffix('/')?).ok();
        let mut wallets: Vec<WalletId> = names.iter().filter_map(wallet).collect();
        wallets.sort();
        wallets.dedup();
        self.not_wallets = all - wallets.len();
        Ok(wallets)
    }

    fn secrets(&mut self, wallet: &WalletId) -> Result<Vec<Secret>, Failure> {
        let mut folders = vec![(wallet.to_string(), 1)];
        let mut secrets = Vec::new();
        self.deleted = 0;
        while let Some((folder, depth)) = folders.pop() {
            let names = self.reader.names(&folder).map_err(|error| failed(&error))?;
            for name in names {
                match name.strip_suffix('/') {
                    Some(below) if depth < DEEPEST => {
                        folders.push((format!("{folder}/{below}"), depth + 1));
                    }
                    Some(_) => return Err(self.endless(wallet)),
                    None => self.secret(&format!("{folder}/{name}"), &mut secrets)?,
                }
                if secrets.len() + folders.len() > MOST {
                    return Err(self.endless(wallet));
                }
            }
        }
        secrets.sort_by(|one: &Secret, other| one.path().cmp(other.path()));
        Ok(secrets)
    }

    fn secret(&mut self, path: &str, secrets: &mut Vec<Secret>) -> Result<(), Failure> {
        match self.reader.read(path).map_err(|error| failed(&error))? {
            None => self.deleted += 1,
            Some(kept) => secrets.push(
                Secret::read(path, kept.json.expose())
                    .map_err(|error| refused(&self.url, Some(path), error))?,
            ),
        }
        Ok(())
    }

    fn endless(&self, wallet: &WalletId) -> Failure {
        Failure::new(
            Exit::Target,
            format!(
                "{}: wallet {wallet} has more folders or secrets than an agent makes",
                self.url.display()
            ),
            "nothing was written; look at what lies there, or choose others with --wallet",
        )
    }
}

fn read(path: Option<&Path>) -> Result<Vec<u8>, Failure> {
    // The words of the command are parsed so that each is there.
    let path = path.unwrap_or(Path::new(""));
    std::fs::read(path).map_err(|error| Failure::file(path, "read", &error))
}

/// Why a store gave nothing.
fn failed(error: &Error) -> Failure {
    let (exit, advice) = match error {
        Error::Authentication(_) => (
            Exit::Authentication,
            "check --store-token-file, --store-ca, --store-cert and the rights of the token: list and read",
        ),
        Error::Unreachable(_) => (
            Exit::Target,
            "nothing was written; see whether the store runs and is unsealed, and go on with --resume",
        ),
        Error::Url => (Exit::Usage, "give the address as https://HOST:PORT"),
        Error::Failed(_) => (
            Exit::Target,
            "nothing was written; check --mount, and whether its engine is of version 2",
        ),
        _ => (Exit::Internal, "please report this with the command"),
    };
    Failure::new(exit, sentence(error), advice)
}
