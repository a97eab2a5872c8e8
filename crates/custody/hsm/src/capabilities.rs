//! `capabilities`: what a token really does, found out by doing it once with session objects.
//!
//! A list of mechanisms says what a token has a number for. Whether it also takes a hash in OAEP, a curve, or a
//! shortened code shows when it is asked to. Nothing is stored, and nothing is left.

use keywright_pkcs11::{
    Curve, Error as Layer, Hash, KeyPlan, Mechanism, MlDsa, ObjectHandle, Over, PairKind, Purpose,
    SecretKind, Session,
};
use keywright_pkcs11_names::AttributeType;
use serde::Serialize;

use crate::desk::Desk;
use crate::error::Error;
use crate::public_key::PublicKey;

/// `capabilities`.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct CapabilityReport {
    pub token_label: String,
    pub manufacturer: String,
    pub model: String,
    /// What the module calls itself, with its version.
    pub library: String,
    pub capabilities: Vec<Capability>,
    pub quirks: Vec<Quirk>,
}

/// Something that was asked of the token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Capability {
    pub name: &'static str,
    pub able: bool,
    /// Whether the token failed or gave a wrong result, which is no answer to whether it is able.
    pub failed: bool,
    /// Why not: a return code, or what was wrong with the result.
    pub reason: Option<String>,
}

/// Something in which tokens differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Quirk {
    pub name: &'static str,
    pub value: String,
}

/// Why a trial came to nothing.
enum Unable {
    Failed(Layer),
    /// It does not have this.
    Lacks(Layer),
    /// It did something, and not that.
    Wrong,
    /// It accepted what was changed after it was made.
    Accepts(&'static str),
}

impl From<Layer> for Unable {
    fn from(error: Layer) -> Self {
        if error.is_unsupported() {
            Self::Lacks(error)
        } else {
            Self::Failed(error)
        }
    }
}

impl Unable {
    /// Whether it says that something is wrong with the token.
    const fn is_failure(&self) -> bool {
        !matches!(self, Self::Lacks(_))
    }

    fn reason(&self) -> String {
        match self {
            Self::Wrong => "another result than it must be".to_owned(),
            Self::Accepts(what) => format!("accepts a wrong {what}"),
            Self::Failed(error) | Self::Lacks(error) => match error.failure() {
                Some(failure) => failure.code().to_string(),
                None => error.to_string(),
            },
        }
    }
}

impl CapabilityReport {
    /// What the token failed at or did wrongly.
    pub fn failures(&self) -> impl Iterator<Item = &Capability> {
        self.capabilities.iter().filter(|one| one.failed)
    }
}

type Trial = fn(&Session) -> Result<(), Unable>;

/// Asks the token for everything, once. Somebody must be logged in, if the token wants that.
///
/// # Errors
/// What the module fails with before the first trial; a trial that fails is a result.
pub fn probe(desk: &Desk) -> Result<CapabilityReport, Error> {
    let session = &desk.session;
    let info = desk.info();
    let module = session.token().module();
    let library = module.info()?;
    let mut own: Option<Session> = None;
    let mut capabilities = Vec::with_capacity(TRIALS.len());
    for (name, trial) in TRIALS {
        let unable = trial(own.as_ref().unwrap_or(session)).err();
        // A call that failed may leave its operation active, and CKR_OPERATION_ACTIVE to what is tried next.
        if unable.is_some() {
            own = Some(session.token().open()?);
        }
        capabilities.push(Capability {
            name,
            able: unable.is_none(),
            failed: unable.as_ref().is_some_and(Unable::is_failure),
            reason: unable.as_ref().map(Unable::reason),
        });
    }
    let session = own.as_ref().unwrap_or(session);
    let (major, minor) = module.interface_version();
    let (min, max) = info.pin_len;
    let pin = match max {
        0 => format!("{min} bytes or more"),
        _ => format!("{min} to {max} bytes"),
    };
    let quirks = [
        ("interface of PKCS#11", format!("{major}.{minor}")),
        ("PIN", pin),
        ("points of public keys", point_form(session)),
        ("hash of OAEP", oaep_hashes(session)),
    ];
    let quirks = quirks.map(|(name, value)| Quirk { name, value });
    Ok(CapabilityReport {
        token_label: info.label.clone(),
        manufacturer: info.manufacturer.clone(),
        model: info.model.clone(),
        library: format!("{} {}", library.description, library.library_version),
        capabilities,
        quirks: quirks.into(),
    })
}

const TRIALS: &[(&str, Trial)] = &[
    ("AES-256-GCM", |s| {
        sealed(
            s,
            &Mechanism::AesGcm {
                nonce: &[7; 12],
                aad: b"a",
            },
        )
    }),
    ("AES-256-CCM", |s| {
        let (nonce, aad) = (&[7; 12][..], &b"a"[..]);
        sealed(
            s,
            &Mechanism::AesCcm {
                nonce,
                aad,
                data_len: TEXT.len(),
            },
        )
    }),
    ("AES-256-CBC with padding", |s| {
        sealed(s, &Mechanism::AesCbcPad { iv: &[7; 16] })
    }),
    ("AES-CMAC", |s| coded(s, AES, &Mechanism::AesCmac)),
    ("AES-CMAC, shortened", |s| {
        coded(s, AES, &Mechanism::AesCmacGeneral { length: 8 })
    }),
    ("HMAC-SHA-256", |s| {
        coded(s, GENERIC, &Mechanism::Hmac(Hash::Sha256))
    }),
    ("HMAC-SHA-256, shortened", |s| {
        coded(
            s,
            GENERIC,
            &Mechanism::HmacGeneral {
                hash: Hash::Sha256,
                length: 16,
            },
        )
    }),
    ("HMAC-SHA3-256", |s| {
        coded(s, GENERIC, &Mechanism::Hmac(Hash::Sha3_256))
    }),
    ("SHA-256, SHA-384, SHA-512", |s| {
        hashed(s, &[Hash::Sha256, Hash::Sha384, Hash::Sha512])
    }),
    ("SHA3-256", |s| hashed(s, &[Hash::Sha3_256])),
    ("AES key wrap (RFC 3394)", |s| {
        wrapped(s, &Mechanism::AesKeyWrap)
    }),
    ("AES key wrap with padding (RFC 5649)", |s| {
        wrapped(s, &Mechanism::AesKeyWrapPad)
    }),
    ("the same under its older number", |s| {
        wrapped(s, &Mechanism::AesKeyWrapPadOld)
    }),
    ("RSA-2048 PKCS#1 v1.5 signature", |s| {
        signed(s, RSA, &Mechanism::RsaPkcs1Hash(Hash::Sha256), TEXT)
    }),
    ("RSA-2048 PSS signature", |s| {
        signed(s, RSA, &pss(Over::Data), TEXT)
    }),
    ("RSA-2048 PSS over a hash", |s| {
        signed(s, RSA, &pss(Over::Hash), &[7; 32])
    }),
    ("RSA-4096", |s| {
        let kind = PairKind::Rsa { bits: 4096 };
        signed(s, kind, &Mechanism::RsaPkcs1Hash(Hash::Sha256), TEXT)
    }),
    ("RSA-OAEP with SHA-1", |s| oaep(s, Hash::Sha1)),
    ("RSA-OAEP with SHA-256", |s| oaep(s, Hash::Sha256)),
    ("ECDSA P-256 over a hash", |s| {
        signed(s, P256, &Mechanism::Ecdsa, &[7; 32])
    }),
    ("ECDSA P-256, the token hashes", |s| {
        signed(s, P256, &Mechanism::EcdsaHash(Hash::Sha256), TEXT)
    }),
    ("ECDSA P-384", |s| {
        signed(s, PairKind::Curve(Curve::P384), &Mechanism::Ecdsa, &[7; 48])
    }),
    ("ECDSA P-521", |s| {
        signed(s, PairKind::Curve(Curve::P521), &Mechanism::Ecdsa, &[7; 64])
    }),
    ("ECDSA secp256k1", |s| {
        signed(
            s,
            PairKind::Curve(Curve::Secp256k1),
            &Mechanism::Ecdsa,
            &[7; 32],
        )
    }),
    ("Ed25519", |s| {
        signed(s, PairKind::Curve(Curve::Ed25519), &Mechanism::Eddsa, TEXT)
    }),
    ("Ed448", |s| {
        let mechanism = Mechanism::EddsaContext {
            over: Over::Data,
            context: &[],
        };
        signed(s, PairKind::Curve(Curve::Ed448), &mechanism, TEXT)
    }),
    ("ECDH P-256", |s| agreed(s, Curve::P256)),
    ("X25519", |s| agreed(s, Curve::X25519)),
    ("ML-DSA-65", |s| {
        signed(
            s,
            PairKind::MlDsa(MlDsa::MlDsa65),
            &Mechanism::MlDsa { context: &[] },
            TEXT,
        )
    }),
    ("ML-KEM-768", encapsulated),
    ("SLH-DSA-SHA2-128s", |s| {
        signed(
            s,
            PairKind::SlhDsa { set: 1 },
            &Mechanism::SlhDsa { context: &[] },
            TEXT,
        )
    }),
    ("nonce of AES-GCM made by the token", own_nonce),
    ("copy of a modifiable key into the session", copied),
];

const TEXT: &[u8] = b"what a token is tried with";
const AES: SecretKind = SecretKind::Aes { len: 32 };
const GENERIC: SecretKind = SecretKind::Generic { len: 32 };
const RSA: PairKind = PairKind::Rsa { bits: 2048 };
const P256: PairKind = PairKind::Curve(Curve::P256);

const fn pss(over: Over) -> Mechanism<'static> {
    Mechanism::RsaPss {
        hash: Hash::Sha256,
        salt_len: 32,
        over,
    }
}

fn plan(purpose: Purpose) -> KeyPlan {
    KeyPlan::new(purpose).in_session()
}

/// With a secret key that is destroyed again.
fn with_secret(
    session: &Session,
    (kind, plan): (SecretKind, &KeyPlan),
    work: impl FnOnce(ObjectHandle) -> Result<(), Unable>,
) -> Result<(), Unable> {
    let key = session.generate_secret(kind, plan)?;
    let done = work(key);
    session.destroy_object(key)?;
    done
}

/// With the halves of a pair that is destroyed again.
fn with_pair(
    session: &Session,
    (kind, purpose): (PairKind, Purpose),
    work: impl FnOnce(ObjectHandle, ObjectHandle) -> Result<(), Unable>,
) -> Result<(), Unable> {
    let pair = session.generate_pair(kind, &plan(purpose))?;
    let done = work(pair.public, pair.private);
    session.destroy_object(pair.private)?;
    session.destroy_object(pair.public)?;
    done
}

fn sealed(session: &Session, mechanism: &Mechanism<'_>) -> Result<(), Unable> {
    with_secret(session, (AES, &plan(Purpose::Encrypt)), |key| {
        let (mut sealed, mut plain) = (Vec::new(), Vec::new());
        session.encrypt(mechanism, key, TEXT, &mut sealed)?;
        session.decrypt(mechanism, key, &sealed, &mut plain)?;
        (plain == TEXT && sealed != TEXT)
            .then_some(())
            .ok_or(Unable::Wrong)?;
        let authenticated = !matches!(mechanism, Mechanism::AesCbcPad { .. });
        let opened = authenticated
            && session
                .decrypt(mechanism, key, &changed(&sealed), &mut plain)
                .is_ok();
        match opened {
            true => Err(Unable::Accepts("tag")),
            false => Ok(()),
        }
    })
}

fn coded(session: &Session, kind: SecretKind, mechanism: &Mechanism<'_>) -> Result<(), Unable> {
    with_secret(session, (kind, &plan(Purpose::Mac)), |key| {
        let mut code = Vec::new();
        session.sign(mechanism, key, TEXT, &mut code)?;
        verified(session, (mechanism, key), (TEXT, &code), "MAC")
    })
}

/// Has what was made over `data` verified, and demands that it is refused over other data and when it is changed.
fn verified(
    session: &Session,
    (mechanism, key): (&Mechanism<'_>, ObjectHandle),
    (data, made): (&[u8], &[u8]),
    what: &'static str,
) -> Result<(), Unable> {
    session.verify(mechanism, key, data, made)?;
    for (data, made) in [
        (data.to_vec(), changed(made)),
        (changed(data), made.to_vec()),
    ] {
        // In a session of its own: a module that accepts all may have left the operation before active.
        let another = session.token().open()?;
        match another.verify(mechanism, key, &data, &made) {
            Ok(()) => return Err(Unable::Accepts(what)),
            Err(Layer::SignatureInvalid(_)) => {}
            Err(error) => return Err(Unable::Failed(error)),
        }
    }
    Ok(())
}

/// The same bytes with one bit changed.
fn changed(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if let Some(last) = bytes.last_mut() {
        *last ^= 1;
    }
    bytes
}

fn hashed(session: &Session, hashes: &[Hash]) -> Result<(), Unable> {
    for hash in hashes {
        let mut out = Vec::new();
        session.digest(&Mechanism::Digest(*hash), TEXT, &mut out)?;
        (out.len() == hash.len() && out.starts_with(&digest(*hash)))
            .then_some(())
            .ok_or(Unable::Wrong)?;
    }
    Ok(())
}

/// The first bytes of a hash of [`TEXT`], as `openssl dgst` gives them.
const fn digest(hash: Hash) -> [u8; 16] {
    match hash {
        Hash::Sha384 => [
            0x20, 0xd6, 0xfa, 0xc1, 0x8b, 0xf4, 0xd2, 0x4b, 0x01, 0xf4, 0x9c, 0x0f, 0x9c, 0x76,
            0x2c, 0x32,
        ],
        Hash::Sha512 => [
            0x76, 0xd2, 0x81, 0x47, 0xdf, 0x62, 0xc3, 0x98, 0x43, 0x72, 0x22, 0xee, 0xa3, 0x30,
            0x48, 0x05,
        ],
        Hash::Sha3_256 => [
            0x91, 0x80, 0x4a, 0x7c, 0xdc, 0x11, 0x48, 0x7f, 0xca, 0x34, 0x72, 0xab, 0x1b, 0x45,
            0xc6, 0x05,
        ],
        _ => [
            0xd9, 0xa1, 0x05, 0x2a, 0xcd, 0x4f, 0x69, 0x15, 0x0c, 0x96, 0xea, 0xa4, 0xc2, 0x68,
            0xd6, 0x8b,
        ],
    }
}

fn wrapped(session: &Session, mechanism: &Mechanism<'_>) -> Result<(), Unable> {
    with_secret(session, (AES, &plan(Purpose::Wrap)), |wrapping| {
        let leaving = plan(Purpose::Encrypt).extractable();
        with_secret(session, (AES, &leaving), |key| {
            let mut out = Vec::new();
            session.wrap_key(mechanism, wrapping, key, &mut out)?;
            let entering = (AES, &plan(Purpose::Encrypt));
            let back = session.unwrap_secret(mechanism, wrapping, &out, entering)?;
            Ok(session.destroy_object(back)?)
        })
    })
}

fn signed(
    session: &Session,
    kind: PairKind,
    mechanism: &Mechanism<'_>,
    data: &[u8],
) -> Result<(), Unable> {
    with_pair(session, (kind, Purpose::Sign), |public, private| {
        let mut signature = Vec::new();
        session.sign(mechanism, private, data, &mut signature)?;
        verified(
            session,
            (mechanism, public),
            (data, &signature),
            "signature",
        )
    })
}

fn oaep(session: &Session, hash: Hash) -> Result<(), Unable> {
    with_pair(session, (RSA, Purpose::Encrypt), |public, private| {
        let mechanism = Mechanism::RsaOaep { hash, label: &[] };
        let (mut sealed, mut plain) = (Vec::new(), Vec::new());
        let encrypted = session.encrypt(&mechanism, public, TEXT, &mut sealed);
        encrypted.map_err(|error| match hash {
            Hash::Sha1 => error.into(),
            _ if error.refuses_parameter() => Unable::Lacks(error),
            _ => error.into(),
        })?;
        session.decrypt(&mechanism, private, &sealed, &mut plain)?;
        (plain == TEXT).then_some(()).ok_or(Unable::Wrong)
    })
}

fn agreed(session: &Session, curve: Curve) -> Result<(), Unable> {
    let kind = (PairKind::Curve(curve), Purpose::Derive);
    with_pair(session, kind, |our_public, ours| {
        with_pair(session, kind, |their_public, theirs| {
            let point = |key| match PublicKey::read(session, key) {
                Ok(PublicKey::Curve { point, .. }) => Ok(point),
                _ => Err(Unable::Wrong),
            };
            let length = usize::try_from(curve.bits().div_ceil(8)).unwrap_or(0);
            let one = session.agree(ours, &point(their_public)?, length)?;
            let other = session.agree(theirs, &point(our_public)?, length)?;
            (one.expose() == other.expose())
                .then_some(())
                .ok_or(Unable::Wrong)
        })
    })
}

fn encapsulated(session: &Session) -> Result<(), Unable> {
    let kind = (PairKind::MlKem { set: 2 }, Purpose::Encapsulate);
    with_pair(session, kind, |public, private| {
        let mut sent = Vec::new();
        let made = session.encapsulate_secret(public, &mut sent)?;
        let found = session.decapsulate_secret(private, &sent)?;
        (made.expose() == found.expose())
            .then_some(())
            .ok_or(Unable::Wrong)
    })
}

fn own_nonce(session: &Session) -> Result<(), Unable> {
    with_secret(session, (AES, &plan(Purpose::Encrypt)), |key| {
        let (mut nonce, mut sealed, mut plain) = ([0; 12], Vec::new(), Vec::new());
        session.seal_with_token_nonce(key, (&mut nonce, b""), TEXT, &mut sealed)?;
        let mechanism = Mechanism::AesGcm {
            nonce: &nonce,
            aad: &[],
        };
        session.decrypt(&mechanism, key, &sealed, &mut plain)?;
        (plain == TEXT).then_some(()).ok_or(Unable::Wrong)
    })
}

fn copied(session: &Session) -> Result<(), Unable> {
    let open = plan(Purpose::Encrypt).modifiable();
    with_secret(session, (AES, &open), |key| {
        let copy = session.copy_into_session(key)?;
        Ok(session.destroy_object(copy)?)
    })
}

/// How the token writes the point of a public key.
fn point_form(session: &Session) -> String {
    let mut form = "no curves".to_owned();
    let read = with_pair(session, (P256, Purpose::Sign), |public, _| {
        let point = session.attribute(public, AttributeType::EC_POINT)?;
        form = match point.bytes().map(<[u8]>::len) {
            Some(65) => "as they are".to_owned(),
            Some(67) => "in an OCTET STRING".to_owned(),
            other => format!("in {} bytes", other.unwrap_or(0)),
        };
        Ok(())
    });
    drop(read);
    form
}

fn oaep_hashes(session: &Session) -> String {
    let able = [
        ("SHA-1", Hash::Sha1),
        ("SHA-256", Hash::Sha256),
        ("SHA-512", Hash::Sha512),
    ]
    .into_iter()
    .filter(|(_, hash)| oaep(session, *hash).is_ok())
    .map(|(name, _)| name);
    let able: Vec<&str> = able.collect();
    match able.as_slice() {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}
