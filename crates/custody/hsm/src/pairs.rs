//! Key pairs made, and keys destroyed.

use keywright_encoding::hex;
use keywright_pkcs11::{
    Ability, Curve, KeyPlan, MlKem, ObjectHandle, PairKind, Purpose, SlhDsa, Template,
};
use keywright_pkcs11_names::{AttributeType, ObjectClass};
use keywright_primitives::random::RandomStream;
use serde::Serialize;

use crate::desk::Desk;
use crate::error::{Apart, Error};
use crate::objects::{ObjectReport, curve_name};
use crate::public_key::PublicKey;
use crate::selection::{KeyChoice, candidate};

/// A key to be made or brought in.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "what a key is made with")]
pub struct NewKey<'a> {
    /// Its label.
    pub label: &'a str,
    /// Its id; 16 random bytes if there is none.
    pub id: Option<&'a [u8]>,
    /// What it is for.
    pub purpose: Purpose,
    /// Whether another key may take it out, wrapped.
    pub leaving: Leaving,
    /// Whether there may be an object of this label or id already.
    pub namesakes: Namesakes,
}

/// Whether a key may be taken out, wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third")]
pub enum Leaving {
    /// Yes. It stays sensitive: nothing shows it in plain.
    Allow,
    /// Never.
    Forbid,
}

/// Whether there may be another object with the label or id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third")]
pub enum Namesakes {
    /// Yes.
    Allow,
    /// No.
    Refuse,
}

impl NewKey<'_> {
    /// The plan, and the id it has. Refuses a label or id that is taken.
    pub(crate) fn plan(&self, desk: &Desk) -> Result<(KeyPlan, Vec<u8>), Error> {
        if self.label.is_empty() {
            return Err(Error::Unnamed("key"));
        }
        let id = match self.id {
            Some(id) => id.to_vec(),
            None => random_id()?.to_vec(),
        };
        if self.namesakes == Namesakes::Refuse {
            desk.session
                .must_be_new(&Template::new().label(self.label))?;
            desk.session.must_be_new(&Template::new().id(&id))?;
        }
        let plan = KeyPlan::new(self.purpose).label(self.label).id(&id);
        let plan = match self.leaving {
            Leaving::Allow => plan.extractable(),
            Leaving::Forbid => plan,
        };
        Ok((plan, id))
    }
}

fn random_id() -> Result<[u8; 16], Error> {
    let mut random = RandomStream::new().map_err(|_| Error::Random)?;
    random.array().map_err(|_| Error::Random)
}

/// `gen-keypair`.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct PairReport {
    pub operation: &'static str,
    pub key_type: &'static str,
    pub bits: u64,
    pub curve: Option<&'static str>,
    pub key_label: String,
    pub id: String,
    pub public_key_handle: u64,
    pub private_key_handle: u64,
    pub extractable: bool,
    /// SHA-256 of SubjectPublicKeyInfo.
    pub fingerprint: String,
    pub uri: String,
}

/// Makes a pair in the token.
///
/// # Errors
/// A token that cannot; [`keywright_pkcs11::Error::Duplicate`]; what the token refuses.
pub fn generate(desk: &Desk, kind: PairKind, new: &NewKey<'_>) -> Result<PairReport, Error> {
    let mechanism = kind.mechanism();
    let token = desk.session.token();
    token.require(&mechanism, Ability::GeneratePair)?;
    if let PairKind::Rsa { bits } = kind {
        token.require_size(&mechanism, u64::from(bits))?;
    }
    let (plan, id) = new.plan(desk)?;
    let pair = desk.session.generate_pair(kind, &plan)?;
    let public = match PublicKey::read(&desk.session, pair.public) {
        Ok(public) => public,
        Err(error) => {
            // A pair whose public half cannot be read is of no use; the error that says so counts.
            drop(desk.session.destroy_object(pair.public));
            drop(desk.session.destroy_object(pair.private));
            return Err(error.into());
        }
    };
    let report = ObjectReport::read(desk, pair.private)?;
    let curve = match kind {
        PairKind::Curve(curve) => Some(curve),
        _ => None,
    };
    Ok(PairReport {
        operation: "gen-keypair",
        key_type: kind_name(kind),
        bits: public.bits(),
        curve: curve.map(curve_name),
        key_label: new.label.to_owned(),
        id: hex::encode(&id),
        public_key_handle: pair.public.number(),
        private_key_handle: pair.private.number(),
        extractable: new.leaving == Leaving::Allow,
        fingerprint: public.fingerprint(),
        uri: report.uri,
    })
}

/// What a pair of this kind is called.
fn kind_name(kind: PairKind) -> &'static str {
    match kind {
        PairKind::Curve(curve) => type_name(Some(curve)),
        PairKind::MlDsa(set) => set.name(),
        PairKind::MlKem { set } => MlKem::from_number(u64::from(set)).map_or("ML-KEM", MlKem::name),
        PairKind::SlhDsa { set } => {
            SlhDsa::from_number(u64::from(set)).map_or("SLH-DSA", SlhDsa::name)
        }
        _ => type_name(None),
    }
}

pub(crate) const fn type_name(curve: Option<Curve>) -> &'static str {
    match curve {
        None => "RSA",
        Some(Curve::Ed25519 | Curve::Ed448) => "EdDSA",
        Some(Curve::X25519 | Curve::X448) => "XDH",
        Some(_) => "ECDSA",
    }
}

/// Objects that are to be destroyed, looked at but not touched.
#[derive(Debug)]
#[non_exhaustive]
pub struct Condemned {
    /// What they are.
    pub objects: Vec<ObjectReport>,
    handles: Vec<ObjectHandle>,
}

/// Whether the other half of a pair goes with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third")]
pub enum Half {
    /// The one object alone.
    Alone,
    /// Both halves.
    Both,
}

/// The one key that is meant, with the other half of its pair if that is asked for.
///
/// # Errors
/// [`Error::Unnamed`], [`Error::NoKey`], [`Error::ManyKeys`] (a pair that is not asked for as one, too);
/// [`Error::Refused`] for a key that the token holds as indestructible.
pub fn condemn(
    desk: &Desk,
    choice: &KeyChoice<'_>,
    class: Option<ObjectClass>,
    half: Half,
) -> Result<Condemned, Error> {
    let handles = match (class, half) {
        (Some(class), Half::Alone) => vec![choice.find_exact(&desk.session, class)?],
        (None, Half::Alone) => vec![choice.find_any(&desk.session)?],
        (Some(_), Half::Both) => {
            return Err(Error::Value(
                "a pair has both classes: name none".to_owned(),
            ));
        }
        (None, Half::Both) => pair(desk, choice)?,
    };
    for handle in &handles {
        let destroyable = desk
            .session
            .attribute(*handle, AttributeType::DESTROYABLE)?;
        if destroyable.flag() == Some(false) {
            return Err(Error::Refused(
                "the token holds this object as indestructible".to_owned(),
            ));
        }
    }
    let objects = handles
        .iter()
        .map(|handle| ObjectReport::read(desk, *handle));
    Ok(Condemned {
        objects: objects.collect::<Result<_, _>>()?,
        handles,
    })
}

/// Both halves of the one pair that is meant: one private key, one public key, one id.
fn pair(desk: &Desk, choice: &KeyChoice<'_>) -> Result<Vec<ObjectHandle>, Error> {
    let private = choice.find(&desk.session, ObjectClass::PRIVATE_KEY)?;
    let public = choice.find(&desk.session, ObjectClass::PUBLIC_KEY)?;
    let ids = [private, public].map(|half| desk.session.candidate(half));
    let [one, other] = ids;
    let (one, other) = (one?, other?);
    if one.id != other.id {
        return Err(Error::ManyKeys {
            what: "pair",
            wanted: choice.wanted(),
            matching: vec![candidate(&one), candidate(&other)],
            // A pair is both classes.
            apart: Apart::Id,
        });
    }
    Ok(vec![private, public])
}

/// What came of destroying one object.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Destroyed {
    #[serde(flatten)]
    pub object: ObjectReport,
    pub removed: bool,
    pub error: Option<String>,
}

/// Destroys them, each with its own result; with the first failure, if there was one after the first object was
/// destroyed.
///
/// # Errors
/// The failure of the first object, if nothing was destroyed.
pub fn destroy(
    desk: &Desk,
    condemned: Condemned,
) -> Result<(Vec<Destroyed>, Option<Error>), Error> {
    let mut results = Vec::new();
    let mut failed = None;
    for (handle, object) in condemned.handles.into_iter().zip(condemned.objects) {
        let done = desk.session.destroy_object(handle);
        match done {
            Err(error) if results.is_empty() => return Err(error.into()),
            done => {
                results.push(Destroyed {
                    object,
                    removed: done.is_ok(),
                    error: done.as_ref().err().map(ToString::to_string),
                });
                failed = failed.or_else(|| done.err().map(Error::from));
            }
        }
    }
    Ok((results, failed))
}
