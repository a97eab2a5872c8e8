//! `keywright hd sign` and `verify`.

use std::path::PathBuf;

use keywright_encoding::hex;
use keywright_hdkey::{Digest, PublicKey, RecoverableSignature};
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use serde::Serialize;

use super::material;
use super::refused::refused;
use super::tree::{SchemeName, Tree};
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Algorithm {
    /// ECDSA over SHA-256, the lower s.
    Ecdsa,
    /// The same, with a 65th byte from which the public key comes back.
    EcdsaRecoverable,
    /// Ed25519.
    Ed25519,
    /// BIP-340 over the message as it is.
    Schnorr,
}

/// A message and how it is signed.
#[derive(Debug, clap::Args)]
struct Message {
    /// How it is signed.
    #[arg(long, value_enum)]
    algorithm: Algorithm,
    /// The file with the message; `-` for standard input.
    #[arg(long, value_name = "FILE", default_value = "-")]
    input: PathBuf,
    /// The input is the SHA-256 of the message, in hexadecimal digits. ECDSA only.
    #[arg(long)]
    digest: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct Sign {
    #[command(flatten)]
    tree: Tree,
    #[command(flatten)]
    message: Message,
}

#[derive(Debug, clap::Args)]
pub(super) struct Verify {
    #[command(flatten)]
    message: Message,
    /// The scheme of the key.
    #[arg(long, value_enum, default_value_t = SchemeName::Bip32Secp256k1)]
    scheme: SchemeName,
    /// The public key in hexadecimal digits.
    #[arg(long, value_name = "HEX")]
    public: String,
    /// The signature in hexadecimal digits.
    #[arg(long, value_name = "HEX")]
    signature: String,
}

/// What was read: a message, or the digest of one.
enum Read {
    Digest(Digest),
    Message(SecretBytes),
}

impl Read {
    fn digest(&self) -> Digest {
        match self {
            Self::Digest(digest) => *digest,
            Self::Message(message) => Digest::of_sha256(message.expose()),
        }
    }

    fn message(&self) -> Result<&[u8], Failure> {
        match self {
            Self::Message(message) => Ok(message.expose()),
            Self::Digest(_) => Err(Failure::new(
                Exit::Usage,
                "only ECDSA signs a digest",
                "leave --digest away, and give the message",
            )),
        }
    }
}

impl Message {
    fn read(&self) -> Result<Read, Failure> {
        let input = material::message(&self.input)?;
        if !self.digest {
            return Ok(Read::Message(input));
        }
        let bytes = material::digits(&input);
        let bytes = bytes.and_then(|bytes| bytes.expose().try_into().ok());
        bytes
            .map(Digest::from_bytes)
            .map(Read::Digest)
            .ok_or_else(|| {
                Failure::new(
                    Exit::Usage,
                    "the digest is not 64 hexadecimal digits",
                    "give the SHA-256 of the message, or leave --digest away",
                )
            })
    }
}

#[derive(Serialize)]
struct Signed {
    scheme: &'static str,
    seed_scheme: &'static str,
    path: String,
    public: String,
    signature: String,
}

pub(super) fn sign(arguments: &Sign, format: Format) -> Result<Exit, Failure> {
    let path = arguments.tree.path()?;
    let message = arguments.message.read()?;
    let node = arguments.tree.node(&path)?;
    let signature = match arguments.message.algorithm {
        Algorithm::Ecdsa => node.sign_ecdsa(&message.digest()).map(Vec::from),
        Algorithm::EcdsaRecoverable => node
            .sign_ecdsa_recoverable(&message.digest())
            .map(|made| [&made.signature[..], &[made.id]].concat()),
        Algorithm::Ed25519 => node.sign_ed25519(message.message()?).map(Vec::from),
        Algorithm::Schnorr => {
            let aux = RandomStream::new().and_then(|mut random| random.array());
            let aux = aux.map_err(|error| refused(error.into()))?;
            node.sign_schnorr(message.message()?, &aux).map(Vec::from)
        }
    };
    let signed = Signed {
        scheme: node.scheme().name(),
        seed_scheme: node.seed_scheme().name(),
        path: path.to_string(),
        public: hex::encode(node.public_key().map_err(refused)?.as_bytes()),
        signature: hex::encode(&signature.map_err(refused)?),
    };
    // Whoever reads may take long, and needs no key for it.
    drop(node);
    output::document(format, &signed, || {
        output::fields(&[
            ("scheme", signed.scheme.to_owned()),
            ("seed scheme", signed.seed_scheme.to_owned()),
            ("path", signed.path.clone()),
            ("public", signed.public.clone()),
            ("signature", signed.signature.clone()),
        ])
    })?;
    Ok(Exit::Ok)
}

#[derive(Serialize)]
struct Verified {
    verified: bool,
}

pub(super) fn verify(arguments: &Verify, format: Format) -> Result<Exit, Failure> {
    let public = bytes(&arguments.public, "public key")?;
    let key = PublicKey::from_bytes(arguments.scheme.into(), &public).map_err(refused)?;
    let signature = bytes(&arguments.signature, "signature")?;
    let message = arguments.message.read()?;
    match arguments.message.algorithm {
        Algorithm::Ecdsa => key.verify_ecdsa(&message.digest(), sized(&signature)?),
        Algorithm::EcdsaRecoverable => recovered(&key, &message.digest(), &signature)?,
        Algorithm::Ed25519 => key.verify_ed25519(message.message()?, sized(&signature)?),
        Algorithm::Schnorr => key.verify_schnorr(message.message()?, sized(&signature)?),
    }
    .map_err(refused)?;
    output::document(format, &Verified { verified: true }, || {
        "verified\n".to_owned()
    })?;
    Ok(Exit::Ok)
}

/// The signature fits, and its id leads to this key and no other.
fn recovered(
    key: &PublicKey,
    digest: &Digest,
    signature: &[u8],
) -> Result<Result<(), keywright_hdkey::Error>, Failure> {
    let Some((id, fixed)) = signature.split_last() else {
        return Err(wrong_length());
    };
    let fixed = sized(fixed)?;
    let same = RecoverableSignature::new(*fixed, *id).recover(key.scheme(), digest);
    Ok(match same {
        Ok(found) if found == *key => key.verify_ecdsa(digest, fixed),
        Ok(_) => Err(keywright_hdkey::Error::Rejected),
        Err(error) => Err(error),
    })
}

fn sized(signature: &[u8]) -> Result<&[u8; 64], Failure> {
    signature.try_into().map_err(|_| wrong_length())
}

fn wrong_length() -> Failure {
    Failure::new(
        Exit::Usage,
        "the signature has another length than this algorithm's",
        "give 64 bytes in hexadecimal digits, 65 for ecdsa-recoverable",
    )
}

fn bytes(text: &str, what: &str) -> Result<Vec<u8>, Failure> {
    hex::decode(&text.to_ascii_lowercase()).map_err(|_| {
        Failure::new(
            Exit::Usage,
            format!("the {what} is not an even number of hexadecimal digits"),
            "give it as keywright hd prints it",
        )
    })
}
