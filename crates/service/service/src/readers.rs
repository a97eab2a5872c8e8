//! Who reads an item: what stands beside it says so, and nothing in its bytes does (design 7.37).
//!
//! A label of our own names a version, and the header of the envelope must name the same. Any other label is that of a
//! key that was brought in from the seed service, or of none. What that service sealed opens for those who have, or
//! once had, the name that it was sealed for: the name in the caller's certificate, then the former names of its
//! principal, which the policy lists.

use std::sync::Arc;

use keywright_audit::Reason;
use keywright_custody::fit::Misfit;
use keywright_custody::reader::{FormerName, MAX_CANDIDATES, ObjectId};
use keywright_custody::{HolderError, Items, Key, KeyMaterial, Particulars, ReaderDetail, rows};
use keywright_envelope::Envelope;
use keywright_policy::{ContextRef, Principal};
use keywright_types::{
    Code, Credential, Custody, KeyVersion, Name, Operation, Purpose, VersionLabel,
};

use crate::life::Author;
use crate::order::{Intent, Prepared as Ready};
use crate::plan::{Prepared, Why};
use crate::{Admin, AdminError, Call, Need, Recorded, Worker, WrappedKey};

/// Who asks: its principal, and what its certificate says.
type Asking<'a> = (&'a Principal, Option<&'a Credential>);

/// Settles who reads each item. The associated data of one that a key of the seed service reads are what may have been
/// there when it was sealed.
pub(crate) fn settle(given: Prepared, key: &Key, asking: Asking<'_>) -> Result<Prepared, Code> {
    let count = given.items.len();
    let mut settled = Prepared::with_capacity(count, given.items.byte_len());
    for (index, item) in given.items.iter().enumerate() {
        let label = given.label_of(index);
        let reader = match (given.refused.why(index), label) {
            (Some(why), _) => Err(why),
            (None, None) => Ok(None),
            (None, Some(label)) => find(key, label, (item.payload, item.aad)),
        };
        let version = match &reader {
            Ok(Some((version, _))) => *version,
            _ => KeyVersion::NONE,
        };
        settled.read_by(version);
        match reader {
            Ok(None) => push(&mut settled.items, item.payload, item.aad)?,
            Ok(Some((_, detail))) => {
                let digests = digests(detail, asking);
                push(&mut settled.items, item.payload, &digests)?;
            }
            Err(why) => {
                push(&mut settled.items, &[], &[])?;
                settled.refused.note(index, why);
            }
        }
    }
    Ok(settled)
}

fn push(items: &mut Items, payload: &[u8], aad: &[u8]) -> Result<(), Code> {
    let pushed = items.push_slices(0, payload, aad);
    pushed.map_err(|_| Code::BodyTooLarge)
}

/// The version that was brought in under a label; `None` for an envelope of the version that the label names.
fn find<'k>(
    key: &'k Key,
    label: &str,
    (payload, aad): (&[u8], &[u8]),
) -> Result<Option<(KeyVersion, &'k ReaderDetail)>, Why> {
    let failed = |reason| Err((Code::DecryptionFailed, Some(reason)));
    if VersionLabel::is_reserved(label) {
        let malformed = (Code::CiphertextMalformed, Some(Reason::Malformed));
        let header = *Envelope::parse(payload).map_err(|_| malformed)?.header();
        let same = label
            .parse::<VersionLabel>()
            .is_ok_and(|label| (label.key, label.version) == (header.key, header.version));
        return match same {
            true => Ok(None),
            false => failed(Reason::VersionUnknown),
        };
    }
    let Some(version) = key.reader(label) else {
        return failed(Reason::VersionUnknown);
    };
    // That service had no data of the caller beside the message.
    match version.material().reader().filter(|_| aad.is_empty()) {
        Some(detail) => Ok(Some((version.number(), detail))),
        None => failed(Reason::Malformed),
    }
}

/// What may be the associated data of something that was sealed for the caller: one digest for each of its names.
fn digests(reader: &ReaderDetail, (principal, credential): Asking<'_>) -> Vec<u8> {
    let (now, before) = match reader.name {
        FormerName::CommonName => (
            credential.and_then(|credential| credential.common_name.as_deref()),
            principal.legacy_cn(),
        ),
        FormerName::OrganizationalUnit => (
            credential.and_then(|credential| credential.organizational_unit.as_deref()),
            principal.legacy_ou(),
        ),
    };
    let before = before.iter().map(String::as_str);
    let before = before.filter(|name| Some(*name) != now);
    let names = now.into_iter().chain(before).take(MAX_CANDIDATES);
    names.flat_map(|name| reader.aad(name)).collect()
}

impl Worker {
    /// The labels of versions that seal or open messages, in contexts that the caller may know of, with whether the
    /// version may open. Asked for as part of how the service is.
    pub fn labels(&self, call: Call<'_>) -> Recorded<Result<Vec<(String, bool)>, Code>> {
        let now = self.shared().clock().wall();
        self.plain(call, Operation::HealthRead, Need::Identity, |snapshot| {
            let Ok(principal) = call.caller.principal(snapshot, now) else {
                return Vec::new();
            };
            let known = snapshot.keyring.iter().filter(|key| {
                let about = ContextRef::new(key.tenant(), key.name().as_str(), key.id());
                let seals = key.spec().purpose == Purpose::Seal;
                seals && snapshot.policy.may_know(&principal, about)
            });
            let mut labels: Vec<_> = known.flat_map(|key| labels_of(key)).collect();
            labels.sort();
            labels
        })
    }
}

fn labels_of(key: &Key) -> impl Iterator<Item = (String, bool)> {
    key.versions().iter().map(|version| {
        let own = || VersionLabel {
            key: key.id(),
            version: version.number(),
        };
        let reader = version.material().reader();
        let label = reader.map_or_else(|| own().to_string(), |reader| reader.label.clone());
        (label, key.may_open(version))
    })
}

/// A key of the seed service, and how it reads.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever brings a key in must face each part"
)]
pub struct NewReader<'a> {
    /// Label, former names, length of the nonce, and the object of a key in a token, if it is known.
    pub detail: ReaderDetail,
    /// The key, wrapped to an import key; nothing if it is in the token.
    pub wrapped: Option<WrappedKey<'a>>,
}

/// Why no key of the token was bound to a label of the seed service.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotBound {
    /// There is none, or none with the id that was said.
    #[error("the token has no secret key labelled {label:?}{}", with_id(object.as_ref()))]
    Missing {
        /// The label.
        label: String,
        /// The id that was said.
        object: Option<ObjectId>,
    },
    /// There is more than one.
    #[error("the token has more than one secret key labelled {0:?}")]
    Several(String),
    /// It cannot be held to an id, or is of another kind.
    #[error("the secret key labelled {0:?} has no id, or is no AES-256 key")]
    Unfit(String),
}

impl NotBound {
    /// What the holder says of a key that it was to take, with the label that it was looked for by.
    fn of(error: HolderError, reader: &ReaderDetail) -> Option<Self> {
        let label = reader.label.clone();
        match error {
            HolderError::NoSuchKey => Some(Self::Missing {
                label,
                object: reader.object.clone(),
            }),
            HolderError::ManyKeys => Some(Self::Several(label)),
            HolderError::UnfitKey => Some(Self::Unfit(label)),
            _ => None,
        }
    }

    /// The code under which this is recorded and answered.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Missing { .. } => HolderError::NoSuchKey.code(),
            Self::Several(_) => HolderError::ManyKeys.code(),
            Self::Unfit(_) => HolderError::UnfitKey.code(),
        }
    }

    /// What to do about it, in one sentence.
    #[must_use]
    pub const fn advice(&self) -> &'static str {
        match self {
            Self::Missing { .. } => {
                "nothing was changed; see which keys are there: keywright hsm list-objects --class secret-key"
            }
            // That service took whichever the token gave first, so an id settles nothing.
            Self::Several(_) => {
                "nothing was changed; the seed service took either of them, so leave one of that label in the token"
            }
            Self::Unfit(_) => {
                "nothing was changed; see what the key is: keywright hsm inspect-key --key-label LABEL"
            }
        }
    }
}

fn with_id(object: Option<&ObjectId>) -> String {
    object.map_or_else(String::new, |id| format!(" with id {id}"))
}

/// An error of the holder about the key that was to be bound says which one that is.
fn named(error: AdminError, reader: &ReaderDetail) -> AdminError {
    let not_bound = match &error {
        AdminError::Holder(why) => NotBound::of(*why, reader),
        _ => None,
    };
    not_bound.map_or(error, AdminError::NotBound)
}

impl Admin {
    /// Brings in a key of the seed service as a version that only opens what that one sealed under it. In a context
    /// whose keys are in the token it is the object of that label, which stays where it is.
    ///
    /// # Errors
    /// [`AdminError`]; nothing is changed unless it is [`AdminError::Audit`] after the work.
    pub fn import_reader(
        &self,
        author: &Author,
        (tenant, name): (&Name, &Name),
        new: &NewReader<'_>,
    ) -> Result<KeyVersion, AdminError> {
        let operation = Operation::ReaderImport;
        let facts = self.facts_about(author, operation, (tenant, name), KeyVersion::NONE)?;
        let intent = Intent {
            facts,
            fields: &[],
            trust: None,
        };
        let imported = self.carry_out(intent, |mut next| {
            new.detail.check()?;
            let tenant = next.tenant(tenant).ok_or(AdminError::TenantUnknown)?;
            let known = next.keyring.find(tenant.id, name.as_str());
            let known = known.ok_or(AdminError::ContextUnknown)?;
            let key = rows::load_key(&self.store, tenant, known.id())?;
            fits(&key, new)?;
            let identity = rows::next_identity(&key, self.shared.clock().wall())?;
            let unwrapped = new.wrapped.map(|wrapped| self.unwrap_key(&wrapped));
            let unwrapped = unwrapped.transpose()?;
            let particulars = Particulars {
                detail: Some(Arc::new(keywright_custody::Detail::Reader(
                    new.detail.clone(),
                ))),
                secret: unwrapped.as_ref(),
            };
            let made = self.generate(identity, Some(tenant), (operation, particulars));
            let made = made.map_err(|error| named(error, &new.detail))?;
            let made: Arc<KeyMaterial> = Arc::new(made);
            if let (Some(wrapped), Some(secret)) = (&new.wrapped, &unwrapped) {
                self.hold_against(&made, secret, wrapped.check)?;
            }
            let transaction = rows::add_reader(&self.store, &key, &made)?;
            let with = rows::with_reader(&key, made);
            next.keyring = next.keyring.with(Arc::new(with));
            Ok(Ready {
                answer: identity.version,
                transaction,
                next,
            })
        });
        imported.map(|(version, _)| version)
    }
}

/// Whether the context takes such a key: one that seals, and with the key where its own are.
fn fits(key: &Key, new: &NewReader<'_>) -> Result<(), AdminError> {
    let spec = key.spec();
    if key.reader(&new.detail.label).is_some() {
        return Err(rows::Error::LabelTaken.into());
    }
    if spec.purpose != Purpose::Seal {
        return Err(Misfit::ReaderPurpose(spec.purpose).into());
    }
    let here = new.wrapped.is_some() && new.detail.object.is_none();
    match spec.custody {
        Custody::Wrapped if here => Ok(()),
        Custody::Wrapped => Err(Misfit::ReaderComesWrapped.into()),
        Custody::Token if new.wrapped.is_none() => Ok(()),
        Custody::Token => Err(Misfit::ReaderIsInToken.into()),
        _ => Err(AdminError::Unsupported),
    }
}
