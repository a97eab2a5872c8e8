//! Signatures and message authentication codes: what Vault's parameters mean for a key, and how bytes are spelt.

use keywright_api::vault::answer::{Done, Refused, Spelling};
use keywright_api::vault::request::{
    Asked as AskedItems, Flag, HmacBody, SignBody, VerifyBody, Versioned, parse, says_nothing,
};
use keywright_api::vault::route::{Endpoint, HASHES};
use keywright_api::{Binary, Text};
use keywright_custody::{Input, Key};
use keywright_encoding::{base64, der};
use keywright_service::{DataOperation, Prepared};
use keywright_types::{Algorithm, Code, KeyVersion, Purpose};

use super::items::{Form, Understood, active_version, missing, references};
use super::{Answer, Visit};
use crate::uses::Asked;

/// The parameters that bodies of `sign` and `verify` share.
macro_rules! options {
    ($visit:expr, $body:expr) => {
        Options {
            hashes: [
                $visit.found.word,
                text($body.hash_algorithm.as_ref()),
                text($body.algorithm.as_ref()),
            ],
            prehashed: $body.prehashed.is_some_and(|Flag(flag)| flag),
            signature: text($body.signature_algorithm.as_ref()),
            marshaling: text($body.marshaling_algorithm.as_ref()),
            salt: text($body.salt_length.as_ref()),
        }
    };
}
impl Visit<'_> {
    pub(super) async fn use_key(&self, body: &[u8]) -> Answer {
        let Some(key) = self.known_key() else {
            return self.denied(self.usual_operation()).await;
        };
        let understood = match self.found.route.endpoint {
            Endpoint::Sign => self.sign(body, &key),
            Endpoint::Verify => self.verify(body, &key),
            _ => self.hmac(body, &key),
        };
        let (understood, spelt) = match understood {
            Err(NotOfThisKind::Refused(refused)) => return Err(self.refused(refused).await),
            Err(NotOfThisKind::Key(operation)) => return self.denied(operation).await,
            Ok(understood) => understood,
        };
        let (operation, spelling) = (understood.operation, spelt.spelling);
        let told = self.perform(understood, |item| {
            let (payload, version) = (item.payload, item.version);
            Ok(match operation {
                DataOperation::Sign => Done::Signed {
                    signature: payload,
                    spelling,
                    version,
                },
                DataOperation::Mac => Done::Code {
                    code: payload,
                    version,
                },
                _ => Done::Verified(payload == [1]),
            })
        });
        told.await
    }

    const fn usual_operation(&self) -> DataOperation {
        match self.found.route.endpoint {
            Endpoint::Sign => DataOperation::Sign,
            Endpoint::Verify => DataOperation::Verify,
            _ => DataOperation::Mac,
        }
    }

    /// Asks for nothing of a key that the caller may not know of, or that is of another kind: decision and record are
    /// those of any other request.
    async fn denied(&self, operation: DataOperation) -> Answer {
        let worker = &self.application.worker;
        let nothing = Prepared::default();
        let recorded = worker
            .perform(self.call, self.found.name, operation, nothing)
            .await;
        self.application.release(recorded).await?;
        Err(Refused::new(Code::Unsupported))
    }

    fn sign(&self, body: &[u8], key: &Key) -> Result<(Understood, Spelt), NotOfThisKind> {
        let limits = &self.application.limits;
        let mut body: SignBody<'_> = parse(body, limits)?;
        let AskedItems { items, batch, .. } = body.take(self.found.name, limits)?;
        let spelt = Spelt::of(key, &options!(self, body))
            .ok_or(NotOfThisKind::Key(DataOperation::Sign))??;
        active_version(body.key_version, Some(key))?;
        let mut prepared = Prepared::with_capacity(items.len(), body_room(&items));
        for item in &items {
            no_context(item.context.as_ref())?;
            let input = item
                .input
                .as_ref()
                .ok_or(missing("missing input to sign"))?;
            Asked::new(None, None, spelt.input).push(&mut prepared, Ok(Some(input)), None);
        }
        let form = Form {
            batch,
            references: references(items.iter().map(|item| item.reference.as_ref())),
            ..Form::default()
        };
        let operation = DataOperation::Sign;
        Ok((
            Understood {
                operation,
                items: prepared,
                form,
            },
            spelt,
        ))
    }

    fn verify(&self, body: &[u8], key: &Key) -> Result<(Understood, Spelt), NotOfThisKind> {
        let limits = &self.application.limits;
        let mut body: VerifyBody<'_> = parse(body, limits)?;
        let AskedItems { items, batch, .. } = body.take(self.found.name, limits)?;
        let codes = items
            .first()
            .is_some_and(|item| !says_nothing(item.hmac.as_ref()));
        let operation = match codes {
            true => DataOperation::VerifyMac,
            false => DataOperation::Verify,
        };
        let options = options!(self, body);
        let spelt = match codes {
            true => Spelt::of_code(key, &options),
            false => Spelt::of(key, &options),
        };
        let spelt = spelt.ok_or(NotOfThisKind::Key(operation))??;
        let mut prepared = Prepared::with_capacity(items.len(), body_room(&items));
        for item in &items {
            no_context(item.context.as_ref())?;
            let input = item
                .input
                .as_ref()
                .ok_or(missing("missing input to verify"))?;
            let (proof, other) = match codes {
                true => (&item.hmac, &item.signature),
                false => (&item.signature, &item.hmac),
            };
            let proof = proof.as_ref().filter(|_| says_nothing(other.as_ref()));
            let because = "every item has a signature, or every item has an hmac";
            let proof = proof.ok_or(missing(because))?;
            let read = spelt.read(proof);
            prepared.name(
                read.as_ref()
                    .map_or(KeyVersion::NONE, |(version, _)| *version),
            );
            let asked = Asked::new(None, None, spelt.input);
            match read {
                Ok((_, proof)) => asked.push(
                    &mut prepared,
                    Ok(Some(input)),
                    Some(&Binary::encode(&proof)),
                ),
                Err(code) => asked.push(&mut prepared, Err(code), None),
            }
        }
        let form = Form {
            batch,
            references: references(items.iter().map(|item| item.reference.as_ref())),
            ..Form::default()
        };
        Ok((
            Understood {
                operation,
                items: prepared,
                form,
            },
            spelt,
        ))
    }

    fn hmac(&self, body: &[u8], key: &Key) -> Result<(Understood, Spelt), NotOfThisKind> {
        let limits = &self.application.limits;
        let mut body: HmacBody<'_> = parse(body, limits)?;
        let AskedItems { items, batch, .. } = body.take(self.found.name, limits)?;
        let options = Options {
            hashes: [self.found.word, text(body.algorithm.as_ref()), ""],
            ..Options::default()
        };
        let spelt =
            Spelt::of_code(key, &options).ok_or(NotOfThisKind::Key(DataOperation::Mac))??;
        active_version(body.key_version, Some(key))?;
        let mut prepared = Prepared::with_capacity(items.len(), body_room(&items));
        for item in &items {
            let input = item
                .input
                .as_ref()
                .ok_or(missing("missing input for HMAC"))?;
            Asked::new(None, None, Input::Message).push(&mut prepared, Ok(Some(input)), None);
        }
        let form = Form {
            batch,
            references: references(items.iter().map(|item| item.reference.as_ref())),
            ..Form::default()
        };
        let operation = DataOperation::Mac;
        Ok((
            Understood {
                operation,
                items: prepared,
                form,
            },
            spelt,
        ))
    }
}

/// Why nothing is asked of a key.
enum NotOfThisKind {
    /// It cannot do this, which the worker says.
    Key(DataOperation),
    /// The body is not good.
    Refused(Refused),
}

impl From<Refused> for NotOfThisKind {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

/// What a body says about how to sign.
#[derive(Default)]
struct Options<'a> {
    /// The hash function, in each place where it may be named.
    hashes: [&'a str; 3],
    prehashed: bool,
    signature: &'a str,
    marshaling: &'a str,
    salt: &'a str,
}

impl Options<'_> {
    /// The hash function that is named, or the usual one of Vault; none if two are named.
    fn hash(&self) -> Option<&str> {
        let mut named = self.hashes.iter().filter(|hash| !hash.is_empty());
        let first = named.next().copied().unwrap_or("sha2-256");
        named.all(|other| *other == first).then_some(first)
    }

    /// Refuses what no key takes. Which of the rest means something is the key's.
    fn check(&self) -> Result<(), Refused> {
        let refused = |because| Err(Refused::because(Code::ValueInvalid, because));
        let mut hashes = self.hashes.iter().filter(|hash| !hash.is_empty());
        if !hashes.all(|hash| HASHES.contains(hash)) {
            return refused("the hash function is not one of this API");
        }
        if self.hashes.contains(&"none") && !(self.prehashed && self.signature == PKCS1) {
            return refused("`hash_algorithm` `none` needs `prehashed` and `pkcs1v15`");
        }
        if !["", PSS, PKCS1].contains(&self.signature) {
            return refused("`signature_algorithm` is `pss` or `pkcs1v15`");
        }
        if !["", "asn1", "jws"].contains(&self.marshaling) {
            return refused("`marshaling_algorithm` is `asn1` or `jws`");
        }
        let salt = ["", "auto", "hash", "-1"].contains(&self.salt);
        if !salt && self.salt.parse::<u32>().is_err() {
            return refused("`salt_length` is `auto`, `hash` or a number");
        }
        Ok(())
    }
}

const PSS: &str = "pss";
const PKCS1: &str = "pkcs1v15";

/// How the signatures or codes of a request are made and spelt.
#[derive(Clone, Copy)]
struct Spelt {
    input: Input,
    spelling: Spelling,
    /// For a signature in DER, the bytes of each of its numbers.
    half: Option<usize>,
}

impl Spelt {
    /// For signatures of a key; `None` for a key that does not sign.
    fn of(key: &Key, options: &Options<'_>) -> Option<Result<Self, Refused>> {
        let spec = key.spec();
        let rules = Rules::of(spec.algorithm).filter(|_| spec.purpose == Purpose::Sign)?;
        Some(rules.check(options).map(|()| {
            let (spelling, half) = match (options.marshaling, rules.half) {
                ("jws", _) => (Spelling::Url, None),
                (_, None) => (Spelling::Standard, None),
                (_, half) => (Spelling::Der, half),
            };
            Self {
                // Ed25519 signs what it is given, as in Vault; that it is a digest changes nothing.
                input: match options.prehashed && rules.hash.is_some() {
                    true => Input::Digest,
                    false => Input::Message,
                },
                spelling,
                half,
            }
        }))
    }

    /// For codes of a key; `None` for a key that makes none.
    fn of_code(key: &Key, options: &Options<'_>) -> Option<Result<Self, Refused>> {
        let own = match key.spec().algorithm {
            Algorithm::HmacSha256 => "sha2-256",
            Algorithm::HmacSha384 => "sha2-384",
            Algorithm::HmacSha512 => "sha2-512",
            _ => return None,
        };
        if key.spec().purpose != Purpose::Mac {
            return None;
        }
        let own = Some(own);
        Some(options.check().and_then(|()| match options.hash() == own {
            true => Ok(Self {
                input: Input::Message,
                spelling: Spelling::Standard,
                half: None,
            }),
            false => Err(OTHER_HASH),
        }))
    }

    /// The version and the bytes of a signature or code. Bytes that cannot fit are none at all: they do not verify.
    fn read(&self, proof: &Text<'_>) -> Result<(KeyVersion, Vec<u8>), Code> {
        let Versioned {
            version, encoded, ..
        } = Versioned::read(proof.expose()).ok_or(Code::ValueInvalid)?;
        let bytes = match self.spelling {
            Spelling::Der | Spelling::Standard => base64::decode(encoded),
            Spelling::Url => base64::decode_url_secret(encoded),
        };
        let bytes = bytes.map_err(|_| Code::Base64Invalid)?;
        Ok(match self.half {
            None => (version, bytes),
            Some(half) => (
                version,
                der::signature_from_der(&bytes, half).unwrap_or_default(),
            ),
        })
    }
}

/// What an algorithm takes.
struct Rules {
    /// Its hash function; `None` if it has one of its own that nobody names.
    hash: Option<&'static str>,
    /// The bytes of each number of a signature that is two of them.
    half: Option<usize>,
    /// Its padding, for RSA.
    padding: Option<&'static str>,
}

impl Rules {
    const fn of(algorithm: Algorithm) -> Option<Self> {
        let (hash, half, padding) = match algorithm {
            Algorithm::Ed25519 => (None, None, None),
            Algorithm::EcdsaP256 | Algorithm::EcdsaSecp256k1 => (Some("sha2-256"), Some(32), None),
            Algorithm::EcdsaP384 => (Some("sha2-384"), Some(48), None),
            Algorithm::EcdsaP521 => (Some("sha2-512"), Some(66), None),
            Algorithm::Rsa2048Pkcs1 | Algorithm::Rsa3072Pkcs1 | Algorithm::Rsa4096Pkcs1 => {
                (Some("sha2-256"), None, Some(PKCS1))
            }
            Algorithm::Rsa2048Pss | Algorithm::Rsa3072Pss | Algorithm::Rsa4096Pss => {
                (Some("sha2-256"), None, Some(PSS))
            }
            _ => return None,
        };
        Some(Self {
            hash,
            half,
            padding,
        })
    }

    /// What would make another signature than this key makes is refused. What means nothing for its kind is passed over,
    /// as Vault does: its clients send it all the same.
    fn check(&self, options: &Options<'_>) -> Result<(), Refused> {
        options.check()?;
        if self.hash.is_some() && self.hash != options.hash() {
            return Err(OTHER_HASH);
        }
        let padding = ["", self.padding.unwrap_or(options.signature)];
        if !padding.contains(&options.signature) {
            let because = "`signature_algorithm` is not that of this key";
            return Err(Refused::because(Code::ValueInvalid, because));
        }
        let salts = ["", "auto", "hash", "-1", "32"];
        if self.padding == Some(PSS) && !salts.contains(&options.salt) {
            let because = "`salt_length` is not that of this key, which is 32";
            return Err(Refused::because(Code::ValueInvalid, because));
        }
        Ok(())
    }
}

const OTHER_HASH: Refused = Refused::because(
    Code::ValueInvalid,
    "the hash function is not that of this key; where none is named it is sha2-256",
);

fn no_context(context: Option<&Text<'_>>) -> Result<(), Refused> {
    match says_nothing(context) {
        true => Ok(()),
        false => Err(Refused::because(
            Code::Unsupported,
            "no key is derived for signatures here",
        )),
    }
}

fn text<'b>(field: Option<&'b Text<'_>>) -> &'b str {
    field.map_or("", Text::expose)
}

/// A guess at the bytes of the items.
const fn body_room<T>(items: &[T]) -> usize {
    items.len() * 64
}
