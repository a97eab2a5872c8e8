//! The commands on key pairs, and the one that destroys keys: gen-keypair, export-pubkey, delete-key, gen-csr.

use keywright_hsm::objects::ObjectReport;
use keywright_hsm::pairs::{self, Half, Leaving, Namesakes, NewKey};
use keywright_hsm::public_key::{Form, PublicKey};
use keywright_hsm::request::{self, Wanted};
use keywright_hsm::{
    Access, Curve, Desk, Error, Hash, MlDsa, MlKem, PairKind, Purpose, SlhDsa, Uri,
};
use keywright_pkcs11_names::ObjectClass;
use serde_json::json;

use super::answer::{Answer, Beside, Refusal};
use super::files::Output;
use super::look::{Detail, class, row};
use super::make::HashName;
use super::pin::UserPin;
use super::place::{Entry, Key, KeyName, Place, digits};
use super::work::SchemeName;
use crate::confirm::{Word, Yes, confirm_with};
use crate::exit::{Exit, Failure};
use crate::output::table;

/// A token, a PIN and a new key's name.
#[derive(Debug, clap::Args)]
pub(crate) struct NewWords {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    pin: UserPin,
    /// The new key's label.
    #[arg(long, value_name = "LABEL")]
    key_label: Option<String>,
    /// The new key's id in hexadecimal digits [default: 16 random bytes].
    #[arg(long, value_name = "HEX")]
    id: Option<String>,
    /// Another key may take this one out, wrapped. It stays sensitive.
    #[arg(long)]
    extractable: bool,
    /// Accept a label or id that another object has.
    #[arg(long)]
    allow_duplicate: bool,
}

impl NewWords {
    /// A session with the token where the key is to be; `others` name keys that it is made with.
    pub(super) fn desk(
        &self,
        others: &[&KeyName<'_>],
        beside: &mut Beside,
    ) -> Result<Desk, Refusal> {
        // No command would find a key of such a label: it would be read as a URI.
        if self.key_label.as_deref().is_some_and(Uri::is_meant) {
            return Err(Refusal::usage(
                "the label of a new key is not a PKCS#11 URI",
                "give its label with --key-label and its id with --id; name the token with --uri",
            ));
        }
        let how = (Access::Write, Entry::Needed);
        self.place.desk(beside, &self.pin, how, others)
    }

    pub(super) fn id(&self) -> Result<Option<Vec<u8>>, Refusal> {
        self.id.as_deref().map(|id| digits("--id", id)).transpose()
    }

    pub(super) fn new_key<'a>(&'a self, id: Option<&'a [u8]>, purpose: Purpose) -> NewKey<'a> {
        NewKey {
            label: self.key_label.as_deref().unwrap_or_default(),
            id,
            purpose,
            leaving: if self.extractable {
                Leaving::Allow
            } else {
                Leaving::Forbid
            },
            namesakes: if self.allow_duplicate {
                Namesakes::Allow
            } else {
                Namesakes::Refuse
            },
        }
    }
}

/// A pair to make.
#[derive(Debug, clap::Args)]
pub(crate) struct PairWords {
    #[command(flatten)]
    new: NewWords,
    /// What kind of key.
    #[arg(long, value_enum, default_value_t = PairName::Rsa)]
    key_type: PairName,
    /// Bits of an RSA modulus, 2048 to 8192.
    #[arg(long, value_name = "N", default_value_t = 2048, value_parser = clap::value_parser!(u32).range(2048..=8192))]
    bits: u32,
    /// The one thing that the key may do [default: sign; derive for x25519 and x448, kem for ML-KEM].
    #[arg(long, value_enum)]
    usage: Option<PairUsage>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum PairName {
    Rsa,
    #[value(aliases = ["ec", "ecdsa"])]
    P256,
    P384,
    P521,
    Secp256k1,
    Ed25519,
    Ed448,
    X25519,
    X448,
    #[value(name = "ml-dsa-44")]
    MlDsa44,
    #[value(name = "ml-dsa-65")]
    MlDsa65,
    #[value(name = "ml-dsa-87")]
    MlDsa87,
    #[value(name = "ml-kem-512")]
    MlKem512,
    #[value(name = "ml-kem-768")]
    MlKem768,
    #[value(name = "ml-kem-1024")]
    MlKem1024,
    #[value(name = "slh-dsa-sha2-128s")]
    SlhDsaSha2_128s,
    #[value(name = "slh-dsa-sha2-128f")]
    SlhDsaSha2_128f,
    #[value(name = "slh-dsa-sha2-192s")]
    SlhDsaSha2_192s,
    #[value(name = "slh-dsa-sha2-192f")]
    SlhDsaSha2_192f,
    #[value(name = "slh-dsa-sha2-256s")]
    SlhDsaSha2_256s,
    #[value(name = "slh-dsa-sha2-256f")]
    SlhDsaSha2_256f,
    #[value(name = "slh-dsa-shake-128s")]
    SlhDsaShake128s,
    #[value(name = "slh-dsa-shake-128f")]
    SlhDsaShake128f,
    #[value(name = "slh-dsa-shake-192s")]
    SlhDsaShake192s,
    #[value(name = "slh-dsa-shake-192f")]
    SlhDsaShake192f,
    #[value(name = "slh-dsa-shake-256s")]
    SlhDsaShake256s,
    #[value(name = "slh-dsa-shake-256f")]
    SlhDsaShake256f,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum PairUsage {
    Sign,
    Encrypt,
    Wrap,
    Derive,
    /// Encapsulate and decapsulate.
    Kem,
}

impl PairName {
    const fn kind(self, bits: u32) -> PairKind {
        PairKind::Curve(match self {
            Self::Rsa => return PairKind::Rsa { bits },
            Self::P256 => Curve::P256,
            Self::P384 => Curve::P384,
            Self::P521 => Curve::P521,
            Self::Secp256k1 => Curve::Secp256k1,
            Self::Ed25519 => Curve::Ed25519,
            Self::Ed448 => Curve::Ed448,
            Self::X25519 => Curve::X25519,
            Self::X448 => Curve::X448,
            Self::MlDsa44 => return PairKind::MlDsa(MlDsa::MlDsa44),
            Self::MlDsa65 => return PairKind::MlDsa(MlDsa::MlDsa65),
            Self::MlDsa87 => return PairKind::MlDsa(MlDsa::MlDsa87),
            Self::MlKem512 => return kem(MlKem::MlKem512),
            Self::MlKem768 => return kem(MlKem::MlKem768),
            Self::MlKem1024 => return kem(MlKem::MlKem1024),
            Self::SlhDsaSha2_128s => return hashes(SlhDsa::Sha2_128s),
            Self::SlhDsaSha2_128f => return hashes(SlhDsa::Sha2_128f),
            Self::SlhDsaSha2_192s => return hashes(SlhDsa::Sha2_192s),
            Self::SlhDsaSha2_192f => return hashes(SlhDsa::Sha2_192f),
            Self::SlhDsaSha2_256s => return hashes(SlhDsa::Sha2_256s),
            Self::SlhDsaSha2_256f => return hashes(SlhDsa::Sha2_256f),
            Self::SlhDsaShake128s => return hashes(SlhDsa::Shake128s),
            Self::SlhDsaShake128f => return hashes(SlhDsa::Shake128f),
            Self::SlhDsaShake192s => return hashes(SlhDsa::Shake192s),
            Self::SlhDsaShake192f => return hashes(SlhDsa::Shake192f),
            Self::SlhDsaShake256s => return hashes(SlhDsa::Shake256s),
            Self::SlhDsaShake256f => return hashes(SlhDsa::Shake256f),
        })
    }

    /// The purposes that keys of this type can have, the one without being asked first.
    const fn purposes(self) -> &'static [PairUsage] {
        match self {
            Self::Rsa => &[PairUsage::Sign, PairUsage::Encrypt, PairUsage::Wrap],
            Self::P256 | Self::P384 | Self::P521 | Self::Secp256k1 => {
                &[PairUsage::Sign, PairUsage::Derive]
            }
            Self::X25519 | Self::X448 => &[PairUsage::Derive],
            Self::MlKem512 | Self::MlKem768 | Self::MlKem1024 => &[PairUsage::Kem],
            _ => &[PairUsage::Sign],
        }
    }

    /// The purpose, if keys of this type have it.
    fn purpose(self, usage: Option<PairUsage>) -> Result<Purpose, Refusal> {
        let all = self.purposes();
        let own = usage.or_else(|| all.first().copied());
        match own.filter(|usage| all.contains(usage)) {
            Some(PairUsage::Sign) => Ok(Purpose::Sign),
            Some(PairUsage::Encrypt) => Ok(Purpose::Encrypt),
            Some(PairUsage::Wrap) => Ok(Purpose::Wrap),
            Some(PairUsage::Derive) => Ok(Purpose::Derive),
            Some(PairUsage::Kem) => Ok(Purpose::Encapsulate),
            None => Err(Refusal::usage(
                "keys of this type cannot do that",
                "RSA signs, encrypts or wraps; curves sign or derive; x25519 and x448 derive; Ed25519, Ed448, ML-DSA and SLH-DSA sign; ML-KEM is for kem",
            )),
        }
    }
}

const fn kem(set: MlKem) -> PairKind {
    PairKind::MlKem { set: set.number() }
}

const fn hashes(set: SlhDsa) -> PairKind {
    PairKind::SlhDsa { set: set.number() }
}

pub(super) fn gen_pair(words: &PairWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let purpose = words.key_type.purpose(words.usage)?;
    let id = words.new.id()?;
    let desk = words.new.desk(&[], beside)?;
    let new = words.new.new_key(id.as_deref(), purpose);
    Ok(Answer::of(&pairs::generate(
        &desk,
        words.key_type.kind(words.bits),
        &new,
    )?))
}

/// A public key to show.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportWords {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    pin: UserPin,
    #[command(flatten)]
    key: Key,
    #[command(flatten)]
    output: Output,
    /// How it is written.
    #[arg(long, value_enum, default_value_t = FormName::Pem)]
    container: FormName,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum FormName {
    /// SubjectPublicKeyInfo in PEM.
    Pem,
    /// SubjectPublicKeyInfo in DER.
    Der,
    /// A line of `authorized_keys`.
    Ssh,
    /// The point of a curve alone, or the key as its standard writes it.
    Raw,
    /// A JSON Web Key with its thumbprint.
    Jwk,
}

impl FormName {
    const fn pair(self) -> (Form, &'static str) {
        match self {
            Self::Pem => (Form::Pem, "PEM"),
            Self::Der => (Form::Der, "DER"),
            Self::Ssh => (Form::Ssh, "SSH"),
            Self::Raw => (Form::Raw, "RAW"),
            Self::Jwk => (Form::Jwk, "JWK"),
        }
    }
}

pub(super) fn export(words: &ExportWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let how = (Access::Read, Entry::IfNamed);
    let named = words.place.key(&words.key)?;
    let desk = words.place.desk(beside, &words.pin, how, &[&named])?;
    let choice = named.choice();
    let session = desk.session();
    let public = match choice.find(session, ObjectClass::PUBLIC_KEY) {
        Ok(found) => PublicKey::read(session, found).map_err(Error::from)?,
        Err(missing @ Error::NoKey { .. }) => {
            match choice.find(session, ObjectClass::PRIVATE_KEY) {
                Ok(private) => PublicKey::of_private(session, private).map_err(Error::from)?,
                Err(_) => return Err(missing.into()),
            }
        }
        Err(error) => return Err(error.into()),
    };
    let (form, format) = words.container.pair();
    // As it is known without a PIN that its URI may hold.
    let label = choice.name();
    let written = public.write(form, &label).map_err(Error::from)?;
    let mut data = json!({
        "operation": "export-pubkey",
        "key_label": label,
        "key_type": key_type(&public),
        "bits": public.bits(),
        "output_bytes": written.len(),
        "format": format,
        "fingerprint": public.fingerprint(),
        "ssh_fingerprint": public.ssh_fingerprint(),
    });
    deliver(&words.output, &written, &mut data)
}

const fn key_type(public: &PublicKey) -> &'static str {
    match public {
        PublicKey::Rsa { .. } => "RSA",
        PublicKey::Curve { .. } => "EC",
        PublicKey::MlDsa { set, .. } => set.name(),
        PublicKey::MlKem { set, .. } => set.name(),
        PublicKey::SlhDsa { set, .. } => set.name(),
    }
}

/// Puts a short result where it goes.
pub(super) fn deliver(
    output: &Output,
    written: &[u8],
    data: &mut serde_json::Value,
) -> Result<Answer, Refusal> {
    if output.is_file() {
        data["output_file"] = json!(output.name());
    }
    let ((), placed) = output.with(|out| Ok(out.write_all(written).map_err(Error::Output)?))?;
    Ok(placed.answer(data.take()))
}

/// A key to destroy.
#[derive(Debug, clap::Args)]
pub(crate) struct DeleteWords {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    pin: UserPin,
    #[command(flatten)]
    key: Key,
    /// The class of the key, where a label stands for both halves of a pair.
    #[arg(long, value_name = "CLASS", value_parser = class)]
    class: Option<ObjectClass>,
    /// Destroy both halves of a pair.
    #[arg(long, conflicts_with = "class")]
    with_pair: bool,
    /// The id of the key in hexadecimal digits, to confirm that it is this one.
    #[arg(long, value_name = "ID")]
    confirm: Option<String>,
    #[command(flatten)]
    yes: Yes,
    /// Show what would go, and do nothing.
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn delete(words: &DeleteWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let access = if words.dry_run {
        Access::Read
    } else {
        Access::Write
    };
    let named = words.place.key(&words.key)?;
    let how = (access, Entry::Needed);
    let desk = words.place.desk(beside, &words.pin, how, &[&named])?;
    let choice = named.choice();
    let half = if words.with_pair {
        Half::Both
    } else {
        Half::Alone
    };
    let condemned = pairs::condemn(&desk, &choice, words.class, half)?;
    let label = condemned
        .objects
        .first()
        .and_then(|object| object.label.clone());
    if words.dry_run {
        let objects = &condemned.objects;
        let data = json!({ "operation": "delete-key", "key_label": label, "dry_run": true, "objects_removed": 0, "objects": objects });
        let rows = objects.iter().map(|object| fated("would go", object));
        return Ok(Answer::of(&data).text(table(&rows.collect::<Vec<_>>())));
    }
    consent(words, &condemned)?;
    let (results, failed) = pairs::destroy(&desk, condemned)?;
    let removed = results.iter().filter(|one| one.removed).count();
    let data = json!({ "operation": "delete-key", "key_label": label, "objects_removed": removed, "objects": results });
    let rows = results.iter().map(|one| {
        let done = if one.removed {
            "destroyed"
        } else {
            "is still there"
        };
        fated(done, &one.object)
    });
    let answer = Answer::of(&data).text(table(&rows.collect::<Vec<_>>()));
    Ok(match failed {
        Some(error) => answer.but(error.into()),
        None => answer,
    })
}

/// What becomes of an object, which one it is, and its URI.
fn fated(fate: &str, object: &ObjectReport) -> Vec<String> {
    let mut words = vec![fate.to_owned()];
    words.extend(row(object, Detail::Name));
    words.push(object.uri.clone());
    words
}

/// What is typed to confirm it: the id, which both halves of a pair share; else the label.
fn word(condemned: &pairs::Condemned) -> Word<'_> {
    let Some(first) = condemned.objects.first() else {
        return Word::Yes;
    };
    match first.label.as_deref() {
        _ if !first.id.is_empty() => Word::Own("id", &first.id),
        Some(label) if !label.is_empty() => Word::Own("label", label),
        _ => Word::Yes,
    }
}

fn consent(words: &DeleteWords, condemned: &pairs::Condemned) -> Result<(), Refusal> {
    let list: Vec<_> = condemned
        .objects
        .iter()
        .map(|object| object.uri.clone())
        .collect();
    let id = condemned.objects.first().map(|object| object.id.as_str());
    let id = id.filter(|id| !id.is_empty());
    let id = id.map(|id| format!(", id {id}")).unwrap_or_default();
    let deed = format!("destroy {}{id}", list.join(" and "));
    match &words.confirm {
        Some(given) => {
            let id = digits("--confirm", given)?;
            let id = keywright_encoding::hex::encode(&id);
            if !id.is_empty() && condemned.objects.iter().all(|object| object.id == id) {
                return Ok(());
            }
            Err(Failure::new(
                Exit::Refused,
                format!("{deed}: --confirm is another id"),
                "nothing was changed",
            )
            .into())
        }
        None => Ok(confirm_with(&deed, word(condemned), words.yes)?),
    }
}

/// A certificate request to make.
#[derive(Debug, clap::Args)]
pub(crate) struct RequestWords {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    pin: UserPin,
    #[command(flatten)]
    key: Key,
    /// The subject (RFC 4514), such as `CN=example.org,O=Snake Oil\, Inc.,C=DE`.
    #[arg(long, value_name = "NAME")]
    subject: String,
    /// An alternative name: dns:NAME, ip:ADDRESS, email:ADDRESS or uri:URI. May be given more than once.
    #[arg(long, value_name = "NAME")]
    san: Vec<String>,
    /// Key usages with commas between, such as `digitalSignature,keyEncipherment` (RFC 5280, 4.2.1.3).
    #[arg(long, value_name = "NAMES")]
    key_usage: Option<String>,
    /// Extended key usages with commas between, such as `serverAuth,clientAuth`, or numbers with dots.
    #[arg(long, value_name = "NAMES")]
    extended_key_usage: Option<String>,
    /// The scheme of its signature [default: pkcs1v15 for RSA, else that of the key].
    #[arg(long, value_enum)]
    mechanism: Option<SchemeName>,
    /// The hash [default: sha256 for RSA, that of the curve for ECDSA].
    #[arg(long, value_enum)]
    hash: Option<HashName>,
    /// How it is written.
    #[arg(long, value_enum, default_value_t = RequestForm::Pem)]
    container: RequestForm,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum RequestForm {
    Pem,
    Der,
}

pub(super) fn csr(words: &RequestWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let how = (Access::Read, Entry::Needed);
    let named = words.place.key(&words.key)?;
    let mut desk = words.place.desk(beside, &words.pin, how, &[&named])?;
    let choice = named.choice();
    let wanted = Wanted {
        subject: &words.subject,
        names: &words.san,
        key_usage: words.key_usage.as_deref(),
        extended_key_usage: words.extended_key_usage.as_deref(),
        scheme: words.mechanism.map(SchemeName::scheme),
        hash: words.hash.map(Hash::from),
    };
    let (der, report) = request::request(&mut desk, &choice, wanted)?;
    let mut data = serde_json::to_value(&report).unwrap_or_default();
    let (written, format) = match words.container {
        RequestForm::Pem => (request::pem(&der).into_bytes(), "PEM"),
        RequestForm::Der => (der, "DER"),
    };
    data["format"] = json!(format);
    data["output_bytes"] = json!(written.len());
    deliver(&words.output, &written, &mut data)
}
