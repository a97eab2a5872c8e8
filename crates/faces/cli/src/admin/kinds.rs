//! Contexts whose keys sign, agree, authenticate, seal equal texts alike, or are trees of keys.

use std::path::{Path, PathBuf};

use keywright_custody::{Detail, TreeDetail};
use keywright_types::{Algorithm, Export, Purpose};

use crate::exit::{Exit, Failure};
use crate::hd::SeedOfFile;

/// What the key of a new context is for, besides sealing and formats.
#[derive(Debug, clap::Args)]
#[group(multiple = false, id = "kind", conflicts_with_all = ["value_format", "rules", "suite"])]
pub(super) struct KindOptions {
    /// Make a key that signs.
    #[arg(long, value_enum, value_name = "ALGORITHM")]
    sign: Option<SignName>,
    /// Make a key that agrees on secrets.
    #[arg(long, value_enum, value_name = "ALGORITHM")]
    agree: Option<AgreeName>,
    /// Make a key for message authentication codes.
    #[arg(long, value_enum, value_name = "ALGORITHM")]
    mac: Option<MacName>,
    /// Make a key that seals equal texts alike. Whoever sees two ciphertexts then sees whether the texts are equal,
    /// which must be said here.
    #[arg(long, value_enum, value_name = "LEAK")]
    deterministic: Option<LeakName>,
    /// Make a wallet: a seed, of which a tree of keys grows.
    #[arg(long, value_enum, value_name = "SCHEME")]
    tree: Option<TreeName>,
}

/// Whether a key may leave, and what is fixed about a wallet.
#[derive(Debug, clap::Args)]
pub(super) struct WalletOptions {
    /// Whether the key may ever leave: never, sealed to a public key, or (of wallets alone) in plain form. With `plain`
    /// the words of a new seed are shown once, now.
    #[arg(long, value_enum, default_value_t = ExportName::Never)]
    export: ExportName,
    /// Make children that are not hardened too, and hand out extended public keys.
    #[arg(long, requires = "tree")]
    soft_children: bool,
    /// Take the seed from a seed file, as `keywright hd seed` writes it.
    #[arg(
        long,
        value_name = "FILE",
        requires = "tree",
        requires = "seed_password_file"
    )]
    seed_file: Option<PathBuf>,
    /// The file with the password of the seed file, on one line.
    #[arg(long, value_name = "FILE", requires = "seed_file")]
    seed_password_file: Option<PathBuf>,
    /// Take the seed from a file that `admin seed export` has sealed.
    #[arg(
        long,
        value_name = "FILE",
        requires = "tree",
        requires = "seed_key_file",
        conflicts_with = "seed_file"
    )]
    sealed_seed: Option<PathBuf>,
    /// The file with the private key that opens it, as `keywright seal keygen` has written it.
    #[arg(long, value_name = "FILE", requires = "sealed_seed")]
    seed_key_file: Option<PathBuf>,
}

impl WalletOptions {
    /// Whether a key that is no wallet may leave: sealed, if at all.
    pub(super) const fn of_others(&self) -> Export {
        match self.export {
            ExportName::Sealed => Export::Sealed,
            ExportName::Never | ExportName::Plain => Export::Never,
        }
    }

    /// The seed that is brought in, if one is.
    pub(super) fn seed(&self) -> Result<Option<SeedOfFile>, Failure> {
        let found = match (
            self.seed_file
                .as_deref()
                .zip(self.seed_password_file.as_deref()),
            self.sealed_seed
                .as_deref()
                .zip(self.seed_key_file.as_deref()),
        ) {
            (Some((file, password)), _) => SeedOfFile::read(file, password)?,
            (None, Some((file, key))) => {
                let text = crate::seal::open_short(file, key)?;
                SeedOfFile::parse(&text).ok_or_else(|| no_seed(file))?
            }
            (None, None) => return Ok(None),
        };
        if self.export == ExportName::Plain && !found.plain {
            return Err(Failure::new(
                Exit::Refused,
                "the seed was made to stay: no wallet of it lets it out in plain form",
                "give --export never or --export sealed",
            ));
        }
        if found.seed.len() != SEED_LEN {
            return Err(Failure::new(
                Exit::Usage,
                format!("the seed has {} bytes and not {SEED_LEN}", found.seed.len()),
                "give a seed of words, or one of 64 bytes",
            ));
        }
        Ok(Some(found))
    }
}

fn no_seed(file: &Path) -> Failure {
    Failure::new(
        Exit::Usage,
        format!("{} holds no seed", file.display()),
        "give the file that `keywright admin seed export` has written",
    )
}

/// Bytes of the seed of a wallet of the service.
const SEED_LEN: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ExportName {
    Never,
    Sealed,
    Plain,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum SignName {
    Ed25519,
    #[value(name = "ecdsa-p256")]
    EcdsaP256,
    #[value(name = "ecdsa-secp256k1")]
    EcdsaSecp256k1,
    #[value(name = "ecdsa-p384")]
    EcdsaP384,
    /// In a token only.
    #[value(name = "ecdsa-p521")]
    EcdsaP521,
    #[value(name = "rsa-2048-pkcs1-sha-256")]
    Rsa2048Pkcs1,
    #[value(name = "rsa-2048-pss-sha-256")]
    Rsa2048Pss,
    #[value(name = "rsa-3072-pkcs1-sha-256")]
    Rsa3072Pkcs1,
    #[value(name = "rsa-3072-pss-sha-256")]
    Rsa3072Pss,
    /// In no token.
    #[value(name = "rsa-4096-pkcs1-sha-256")]
    Rsa4096Pkcs1,
    /// In no token.
    #[value(name = "rsa-4096-pss-sha-256")]
    Rsa4096Pss,
    /// In no token.
    #[value(name = "ml-dsa-65")]
    MlDsa65,
}

/// What deterministic encryption gives away, by name.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum LeakName {
    EqualTextsShow,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum AgreeName {
    X25519,
    #[value(name = "ecdh-p256")]
    EcdhP256,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum MacName {
    #[value(name = "hmac-sha-256")]
    HmacSha256,
    #[value(name = "hmac-sha-384")]
    HmacSha384,
    #[value(name = "hmac-sha-512")]
    HmacSha512,
    #[value(name = "aes-256-cmac")]
    Aes256Cmac,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum TreeName {
    #[value(name = "bip32-secp256k1")]
    Bip32Secp256k1,
    #[value(name = "slip10-secp256k1")]
    Slip10Secp256k1,
    #[value(name = "slip10-nist256p1")]
    Slip10NistP256,
    #[value(name = "slip10-ed25519")]
    Slip10Ed25519,
    #[value(name = "slip10-curve25519")]
    Slip10Curve25519,
}

/// What a key is for, its algorithm, its detail, and whether it may leave.
pub(super) type Kind = (Purpose, Algorithm, Option<Detail>, Export);

impl KindOptions {
    /// The kind, if one is named.
    pub(super) fn read(&self, wallet: &WalletOptions) -> Result<Option<Kind>, Failure> {
        if wallet.export == ExportName::Plain && self.tree.is_none() {
            return Err(Failure::new(
                Exit::Usage,
                "--export plain is for wallets, which --tree makes",
                "give --export sealed, or --tree",
            ));
        }
        let plain = |purpose, algorithm| (purpose, algorithm, None, wallet.of_others());
        let sign = self.sign.map(|name| match name {
            SignName::Ed25519 => plain(Purpose::Sign, Algorithm::Ed25519),
            SignName::EcdsaP256 => plain(Purpose::Sign, Algorithm::EcdsaP256),
            SignName::EcdsaSecp256k1 => plain(Purpose::Sign, Algorithm::EcdsaSecp256k1),
            SignName::EcdsaP384 => plain(Purpose::Sign, Algorithm::EcdsaP384),
            SignName::EcdsaP521 => plain(Purpose::Sign, Algorithm::EcdsaP521),
            SignName::Rsa2048Pkcs1 => plain(Purpose::Sign, Algorithm::Rsa2048Pkcs1),
            SignName::Rsa2048Pss => plain(Purpose::Sign, Algorithm::Rsa2048Pss),
            SignName::Rsa3072Pkcs1 => plain(Purpose::Sign, Algorithm::Rsa3072Pkcs1),
            SignName::Rsa3072Pss => plain(Purpose::Sign, Algorithm::Rsa3072Pss),
            SignName::Rsa4096Pkcs1 => plain(Purpose::Sign, Algorithm::Rsa4096Pkcs1),
            SignName::Rsa4096Pss => plain(Purpose::Sign, Algorithm::Rsa4096Pss),
            SignName::MlDsa65 => plain(Purpose::Sign, Algorithm::MlDsa65),
        });
        let agree = self.agree.map(|name| match name {
            AgreeName::X25519 => plain(Purpose::Agree, Algorithm::X25519),
            AgreeName::EcdhP256 => plain(Purpose::Agree, Algorithm::EcdhP256),
        });
        let mac = self.mac.map(|name| match name {
            MacName::HmacSha256 => plain(Purpose::Mac, Algorithm::HmacSha256),
            MacName::HmacSha384 => plain(Purpose::Mac, Algorithm::HmacSha384),
            MacName::HmacSha512 => plain(Purpose::Mac, Algorithm::HmacSha512),
            MacName::Aes256Cmac => plain(Purpose::Mac, Algorithm::Aes256Cmac),
        });
        let alike = self
            .deterministic
            .map(|LeakName::EqualTextsShow| plain(Purpose::Deterministic, Algorithm::Aes256Siv));
        let tree = self.tree.map(|name| {
            let algorithm = match name {
                TreeName::Bip32Secp256k1 => Algorithm::Bip32Secp256k1,
                TreeName::Slip10Secp256k1 => Algorithm::Slip10Secp256k1,
                TreeName::Slip10NistP256 => Algorithm::Slip10NistP256,
                TreeName::Slip10Ed25519 => Algorithm::Slip10Ed25519,
                TreeName::Slip10Curve25519 => Algorithm::Slip10Curve25519,
            };
            // Words are there to be shown; a seed that never leaves is as random and has none.
            let (seed, export) = match wallet.export {
                ExportName::Never => ("raw", Export::Never),
                ExportName::Sealed => ("raw", Export::Sealed),
                ExportName::Plain => ("bip39", Export::Plain),
            };
            let detail = TreeDetail {
                seed: seed.to_owned(),
                soft_children: wallet.soft_children,
            };
            (Purpose::Tree, algorithm, Some(Detail::Tree(detail)), export)
        });
        Ok(sign.or(agree).or(mac).or(alike).or(tree))
    }
}
