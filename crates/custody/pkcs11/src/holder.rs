//! A token as a [`KeyHolder`]: keys that never leave it, one token operation for each item.
//!
//! Keys that seal (suites 3 and 4, design 7.6), make MACs, sign and agree: [`shape`] says which object and which
//! mechanism each algorithm is. A key's object has `CKA_ID` = key id + version (7.12), the public half of a pair
//! too; what the store keeps of it in place of a sealed secret is its check value (7.21, [`proof`]). Before a
//! handle is first used in a connection, it is held against that. So a handle that came to mean another object,
//! an object that was replaced and a row that was edited are all found out before they do harm.
//!
//! What failed is judged here: a ciphertext that does not open is its item's failure; a session, a handle or a
//! token that is gone fails the request, after one attempt with a new connection. Where a token has one code
//! for both, the check value decides.
//!
//! While the token is quick, short work with keys in the session may be done on the caller's thread
//! ([`KeyHolder::perform_now`]); everything else waits for a thread of the service's pool.
//!
//! Not here: threads (the service has a bounded pool of them and runs holders on it), and counting seals
//! against their limit (7.19), which needs the store.

use std::fmt;
use std::sync::Arc;

use keywright_clock::{Clock, MonotonicTime};
use keywright_custody::{
    AtOnce, Detail, HolderError, HolderOperation, Items, KeyHolder, KeyMaterial, NewKey,
    Particulars, Placement, Reply, Request,
};
use keywright_policy::Permit;
use keywright_primitives::random::RandomStream;
use keywright_types::{
    Algorithm, Custody, Export, KeySpec, Operation, Origin, Purpose, VersionLabel,
};

use crate::device::{Fault, TokenKey};
use crate::error::Error;
use crate::locate::{self, Wanted};
use crate::object::ObjectHandle;
use crate::pace::Pace;
use crate::pool::{Copies, PooledSession, SessionPool};
use crate::purpose::KeyPlan;
use crate::session::Session;

pub(crate) mod job;
pub(crate) mod proof;
pub(crate) mod reading;
pub(crate) mod shape;
mod work;

use job::Job;
use shape::{Object, Shape};

/// Keys in a token.
pub struct TokenHolder {
    pool: Arc<SessionPool>,
    clock: Clock,
    /// Whether the token makes nonces itself when it is asked to.
    makes_nonces: Nonces,
    /// What else its mechanisms say that it does.
    able: Vec<Shape>,
    pace: Pace,
}

/// Who makes nonces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nonces {
    Ours,
    TokensToo,
}

impl TokenHolder {
    /// A holder over the sessions of `pool`.
    #[must_use]
    pub fn new(pool: Arc<SessionPool>, clock: Clock) -> Self {
        let makes_nonces = match pool.module().interface_version() {
            (major, _) if major >= 3 => Nonces::TokensToo,
            _ => Nonces::Ours,
        };
        // A token that is gone at this moment is asked no more: it keeps what it was opened for.
        let able = pool.take().map(|session| able(&session));
        Self {
            makes_nonces,
            able: able.unwrap_or_default(),
            pool,
            clock,
            pace: Pace::new(),
        }
    }

    /// The sessions.
    #[must_use]
    pub const fn pool(&self) -> &Arc<SessionPool> {
        &self.pool
    }

    /// The shape of keys that are kept here.
    fn shape(&self, spec: &KeySpec) -> Option<Shape> {
        let fits = spec.custody == Custody::Token
            && spec.origin == Origin::Generated
            && spec.export == Export::Never;
        let shape = Shape::of(spec).filter(|_| fits)?;
        let kept = match spec.algorithm {
            Algorithm::TokenGcm12 => true,
            Algorithm::TokenGcm16 => self.makes_nonces == Nonces::TokensToo,
            _ => self.able.contains(&shape),
        };
        kept.then_some(shape)
    }

    /// Makes the object and its check value. An object whose check value cannot be made is destroyed.
    fn make(
        &self,
        session: &Session,
        (blank, shape): (&KeyMaterial, Shape),
    ) -> Result<Vec<u8>, Fault> {
        let wanted = Wanted::of(blank, shape);
        session.must_be_new(&wanted.any())?;
        let label = VersionLabel {
            key: blank.key(),
            version: blank.version(),
        };
        let mut plan = KeyPlan::new(shape.purpose())
            .id(wanted.id())
            .label(&label.to_string());
        if self.pool.options().copies == Copies::WhereAllowed {
            // SoftHSM copies only what may be changed. What may be changed are names and usage; a key never
            // becomes less secret than it was.
            plan = plan.modifiable();
        }
        let (object, public) = match shape.object() {
            Object::Secret(kind) => (session.generate_secret(kind, &plan)?, None),
            Object::Pair(kind) => {
                let pair = session.generate_pair(kind, &plan)?;
                (pair.private, Some(pair.public))
            }
        };
        let key = TokenKey::new(session, object);
        let checked = proof::make(shape, (&key, public), blank);
        if checked.is_err() {
            destroy(session, object, public);
        }
        checked
    }

    /// Destroys the objects of a version, and its copy in the session.
    fn remove(
        &self,
        session: &PooledSession,
        wanted: &Wanted,
        (shape, material): (Shape, &KeyMaterial),
    ) -> Result<(), Fault> {
        session.check()?;
        let found = match locate::find(session, wanted) {
            Err(Fault::Token(Error::NoObject)) => None,
            found => Some(found?),
        };
        let writing = session.token().open_writing()?;
        if let Some(object) = found {
            let key = TokenKey::new(&writing, object);
            let public = || writing.find_one(&wanted.public());
            match proof::check(shape, &key, material, public) {
                Err(Fault::Unclear(_)) => return Err(key.wrong_or_gone()),
                checked => checked.map(drop)?,
            }
            self.pool.destroy_copy(object)?;
            writing.destroy_object(object)?;
            // Nobody looks for it any more to find out whether the token is there.
            self.pool.forget_if(wanted.id());
        }
        // Of a pair that was cut short the public half is left.
        match writing.find_one(&wanted.public()) {
            Ok(public) => writing.destroy_object(public)?,
            Err(Error::NoObject) => (),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn attempt(
        &self,
        request: &Request,
        items: &Items,
        random: &mut RandomStream,
    ) -> Result<Reply, Fault> {
        let session = self.pool.take()?;
        let done = Job::new(&session, request).and_then(|job| {
            let began = self.clock.monotonic();
            self.timed(&job, began, items, random).0
        });
        if let Err(Fault::Token(error)) = &done {
            session.heed(error);
        }
        done
    }

    /// Runs a job that begins at `began`, and takes note of how long the token took for one item. What came of it,
    /// and when.
    fn timed(
        &self,
        job: &Job<'_>,
        began: MonotonicTime,
        items: &Items,
        random: &mut RandomStream,
    ) -> (Result<Reply, Fault>, MonotonicTime) {
        let running = self.pace.begin(began.nanos());
        let done = job.run(items, random);
        drop(running);
        let ended = self.clock.monotonic();
        let took = ended.nanos().saturating_sub(began.nanos());
        let each = took / u64::try_from(items.len().max(1)).unwrap_or(1);
        self.pace.note(ended.nanos(), each);
        (done, ended)
    }
}

impl KeyHolder for TokenHolder {
    fn name(&self) -> &'static str {
        "token"
    }

    fn supports(&self, spec: &KeySpec, operation: HolderOperation) -> bool {
        self.shape(spec).is_some_and(|shape| shape.does(operation))
    }

    fn placement(&self) -> Placement {
        Placement::Pool
    }

    fn generate(&self, permit: &Permit, new: NewKey) -> Result<KeyMaterial, HolderError> {
        let NewKey { identity, parent } = new;
        let makes = matches!(
            permit.operation(),
            Operation::ContextCreate | Operation::KeyRotate | Operation::HomeCreate
        );
        if permit.key() != identity.key || !makes {
            return Err(HolderError::PermitMismatch);
        }
        let Some(shape) = self.shape(&identity.spec) else {
            return Err(HolderError::Unsupported(identity.spec.custody));
        };
        let blank = KeyMaterial::new(identity, Vec::new(), parent.clone());
        let session = self.pool.open_writing().map_err(Fault::Token);
        let sealed = session.and_then(|session| self.make(&session, (&blank, shape)));
        let sealed = sealed.map_err(|fault| fault.of_request())?;
        Ok(KeyMaterial::new(identity, sealed, parent))
    }

    /// Takes a key that is in the token already, to open what the seed service sealed with it.
    fn generate_with(
        &self,
        permit: &Permit,
        new: NewKey,
        particulars: Particulars<'_>,
    ) -> Result<KeyMaterial, HolderError> {
        if particulars.is_empty() {
            return self.generate(permit, new);
        }
        let NewKey { identity, parent } = new;
        let unsupported = HolderError::Unsupported(identity.spec.custody);
        let shape = self.shape(&identity.spec);
        let shape = shape.filter(|shape| *shape == Shape::Seals);
        let (Some(shape), Some(Detail::Reader(reader)), None) =
            (shape, particulars.detail.as_deref(), particulars.secret)
        else {
            return Err(unsupported);
        };
        if permit.key() != identity.key || permit.operation() != Operation::ReaderImport {
            return Err(HolderError::PermitMismatch);
        }
        let session = self.pool.take().map_err(Fault::Token);
        let session = session.map_err(|fault| fault.of_request())?;
        let bound = reading::bind(&session, reader, shape).and_then(|reader| {
            let detail = Some(Arc::new(Detail::Reader(reader)));
            let blank = KeyMaterial::new(identity, Vec::new(), parent.clone());
            let blank = blank.with_detail(detail.clone());
            let key = TokenKey::new(
                &session,
                locate::find(&session, &Wanted::of(&blank, shape))?,
            );
            let sealed = proof::make(shape, (&key, None), &blank)?;
            Ok(KeyMaterial::new(identity, sealed, parent).with_detail(detail))
        });
        if let Err(Fault::Token(error)) = &bound {
            session.heed(error);
        }
        bound.map_err(|fault| fault.of_binding())
    }

    /// Destroys the object of a version that no row names. Only one that fits the version's check value is it.
    fn discard(&self, permit: &Permit, material: &KeyMaterial) {
        let shape = self.shape(material.spec());
        // A key that was there before the order is not of the order.
        let ours = permit.key() == material.key() && material.reader().is_none();
        let Some(shape) = shape.filter(|_| ours) else {
            return;
        };
        let Ok(session) = self.pool.open_writing() else {
            return;
        };
        let wanted = Wanted::of(material, shape);
        let Ok(object) = session.find_one(&wanted.template()) else {
            return;
        };
        let key = TokenKey::new(&session, object);
        let checked = proof::check(shape, &key, material, || session.find_one(&wanted.public()));
        if let Ok(public) = checked {
            // Nobody uses it; what is left of it keeps the version's number from being given out again.
            destroy(&session, object, public.map(|public| public.handle));
        }
    }

    /// The object is held against the check value before: another key of that id is not destroyed. One that is
    /// not there counts as destroyed only while the token is.
    fn destroy(&self, permit: &Permit, material: &KeyMaterial) -> Result<(), HolderError> {
        if permit.key() != material.key() || permit.operation() != Operation::KeyDestroy {
            return Err(HolderError::PermitMismatch);
        }
        let shape = Shape::of(material.spec());
        let shape = shape.filter(|_| material.spec().custody == Custody::Token);
        let shape = shape.ok_or(HolderError::Unsupported(material.spec().custody))?;
        let session = self.pool.take().map_err(Fault::Token);
        let session = session.map_err(|fault| fault.of_request())?;
        let gone = self.remove(&session, &Wanted::of(material, shape), (shape, material));
        if let Err(Fault::Token(error)) = &gone {
            session.heed(error);
        }
        material.cell().clear();
        gone.map_err(|fault| fault.of_request())
    }

    fn perform(
        &self,
        permit: &Permit,
        request: &Request,
        items: Items,
        random: &mut RandomStream,
    ) -> Result<Reply, HolderError> {
        request.check(permit)?;
        if request.expired(&self.clock) {
            return Err(HolderError::DeadlineExceeded);
        }
        let done = match self.attempt(request, &items, random) {
            // Sessions that a token forgot over a pause come back with the next connection.
            Err(fault) if fault.is_loss() && !request.expired(&self.clock) => {
                self.attempt(request, &items, random)
            }
            done => done,
        };
        done.map_err(|fault| fault.of_request())
    }

    /// Only for a few short items under keys that are in the session, and only while the token is quick. A
    /// token that fails is left to the pool, where a new connection may be made.
    fn perform_now(
        &self,
        permit: &Permit,
        (request, now): (&Request, MonotonicTime),
        items: Items,
        random: &mut RandomStream,
    ) -> Result<AtOnce, Items> {
        let short = items.len() <= MOST_ITEMS && items.byte_len() <= MOST_BYTES;
        let began = now.nanos();
        if !short || !self.pace.is_quick(began) {
            return Err(items);
        }
        if let Err(error) = request.check(permit) {
            return Ok(AtOnce::refused(error, now));
        }
        if request.expired_at(began) {
            return Ok(AtOnce::refused(HolderError::DeadlineExceeded, now));
        }
        let Some(session) = self.pool.take_idle() else {
            return Err(items);
        };
        let Some(job) = Job::at_hand(&session, request) else {
            return Err(items);
        };
        match self.timed(&job, now, &items, random) {
            (Ok(reply), ended) => Ok(AtOnce {
                reply: Ok(reply),
                ended,
            }),
            (Err(fault), _) => {
                if let Fault::Token(error) = &fault {
                    session.heed(error);
                }
                Err(items)
            }
        }
    }

    fn check_key(&self, material: &Arc<KeyMaterial>) -> Result<(), HolderError> {
        let session = self.pool.take().map_err(Fault::Token);
        let session = session.map_err(|fault| fault.of_request())?;
        let found = locate::anew(&session, material);
        if let Err(Fault::Token(error)) = &found {
            session.heed(error);
        }
        found.map_err(|fault| fault.of_request())
    }

    fn probe(&self) -> Result<(), HolderError> {
        let session = self.pool.take().map_err(Fault::Token);
        let session = session.map_err(|fault| fault.of_request())?;
        let checked = session.check().map_err(|error| {
            session.heed(&error);
            Fault::Token(error)
        });
        checked.map_err(|fault| fault.of_request())
    }
}

impl fmt::Debug for TokenHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenHolder({:?})", self.pool)
    }
}

/// What a token's mechanisms say that it does.
fn able(session: &Session) -> Vec<Shape> {
    let token = session.token();
    let of_purpose = |purpose: &Purpose| {
        let purpose = *purpose;
        Algorithm::ALL.iter().filter_map(move |algorithm| {
            Shape::of(&KeySpec {
                purpose,
                algorithm: *algorithm,
                ..KeySpec::seal()
            })
        })
    };
    let shapes = Purpose::ALL.iter().flat_map(of_purpose);
    shapes.filter(|shape| shape.is_of(token)).collect()
}

/// Destroys a key and, if it is of a pair, its other half.
fn destroy(session: &Session, object: ObjectHandle, public: Option<ObjectHandle>) {
    drop(session.destroy_object(object));
    if let Some(public) = public {
        drop(session.destroy_object(public));
    }
}

/// What is short enough for the thread of a caller: items, and bytes of all of them.
const MOST_ITEMS: usize = 4;
const MOST_BYTES: usize = 4096;
