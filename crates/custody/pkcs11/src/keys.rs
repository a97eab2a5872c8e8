//! Keys: made, brought in, wrapped, unwrapped, agreed on.
//!
//! What a token made is read back and compared with what it was told; where they differ the object is
//! destroyed again, because a key that is more than was asked for is not the key that was asked for.

use cryptoki_sys as ck;
use keywright_secret::SecretBytes;

use crate::error::{Error, Failure};
use crate::kinds::{PairKind, SecretKind};
use crate::mechanism::Mechanism;
use crate::names::attribute;
use crate::object::{KeyPair, ObjectHandle, Reading};
use crate::operation::{KeyAccess, rejected};
use crate::purpose::{KeyPlan, Purpose, mixes};
use crate::session::Session;
use crate::template::Template;

impl Session {
    /// Makes a secret key.
    ///
    /// # Errors
    /// [`Error::AttributeChanged`] if the token made another key than it was told; [`Error::Failed`].
    pub fn generate_secret(&self, kind: SecretKind, plan: &KeyPlan) -> Result<ObjectHandle, Error> {
        kind.check()?;
        let template = plan
            .secret(kind.key_type())
            .number(attribute(ck::CKA_VALUE_LEN), u64::from(kind.len()));
        self.generate(&kind.mechanism(), &template, plan.purpose())
    }

    /// Makes a secret key from a template of the caller's.
    ///
    /// # Errors
    /// [`Error::MixedUse`] for a key that wraps and decrypts, unless `purpose` says so by name;
    /// [`Error::AttributeChanged`]; [`Error::Failed`].
    pub fn generate(
        &self,
        mechanism: &Mechanism<'_>,
        template: &Template,
        purpose: Purpose,
    ) -> Result<ObjectHandle, Error> {
        refuse_mixed(template, purpose)?;
        let made = self.calls().generate_key(self.raw(), mechanism, template)?;
        self.kept(ObjectHandle::new(made), template)
    }

    /// Makes a pair.
    ///
    /// # Errors
    /// [`Error::AttributeChanged`] if the token made other keys than it was told; [`Error::Failed`].
    pub fn generate_pair(&self, kind: PairKind, plan: &KeyPlan) -> Result<KeyPair, Error> {
        let private = plan.private(kind.key_type());
        refuse_mixed(&private, plan.purpose())?;
        let public = plan.public(kind.key_type()).and(kind.parameters());
        let made = self.pair(kind, &public, &private);
        let (public, pair) = match (made, kind) {
            (Err(failure), PairKind::Curve(curve)) if refuses_parameters(failure) => {
                let Some(name) = curve.name() else {
                    return Err(failure.into());
                };
                let public = public.bytes(attribute(ck::CKA_EC_PARAMS), name);
                let pair = self.pair(kind, &public, &private)?;
                (public, pair)
            }
            (made, _) => (public, made?),
        };
        let kept = self
            .kept(pair.public, &public)
            .and_then(|_| self.kept(pair.private, &private));
        match kept {
            Ok(_) => Ok(pair),
            Err(error) => {
                // One half without the other is of no use to anybody; `kept` took the other one.
                drop(self.destroy_object(pair.public));
                drop(self.destroy_object(pair.private));
                Err(error)
            }
        }
    }

    fn pair(
        &self,
        kind: PairKind,
        public: &Template,
        private: &Template,
    ) -> Result<KeyPair, Failure> {
        let templates = (public, private);
        let (public, private) =
            self.calls()
                .generate_pair(self.raw(), &kind.mechanism(), templates)?;
        Ok(KeyPair {
            public: ObjectHandle::new(public),
            private: ObjectHandle::new(private),
        })
    }

    /// Brings in a secret key.
    ///
    /// # Errors
    /// [`Error::MixedUse`], [`Error::AttributeChanged`], [`Error::Failed`].
    pub fn import_secret(
        &self,
        kind: SecretKind,
        key: &SecretBytes,
        plan: &KeyPlan,
    ) -> Result<ObjectHandle, Error> {
        let template = plan
            .secret(kind.key_type())
            .secret(attribute(ck::CKA_VALUE), key);
        self.import(&template, plan.purpose())
    }

    /// Brings in a key from a template with all its parts.
    ///
    /// # Errors
    /// [`Error::MixedUse`] for a key that wraps and decrypts, unless `purpose` says so by name;
    /// [`Error::AttributeChanged`]; [`Error::Failed`].
    pub fn import(&self, template: &Template, purpose: Purpose) -> Result<ObjectHandle, Error> {
        refuse_mixed(template, purpose)?;
        let made = self.create_object(template)?;
        self.kept(made, template)
    }

    /// Wraps `key` under `wrapping` and appends it to `out`.
    ///
    /// # Errors
    /// [`Error::Failed`]; `CKR_KEY_UNEXTRACTABLE` for a key that was made to stay.
    pub fn wrap_key(
        &self,
        mechanism: &Mechanism<'_>,
        wrapping: ObjectHandle,
        key: ObjectHandle,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let keys = (wrapping.number(), key.number());
        Ok(self
            .calls()
            .wrap_key(self.raw(), mechanism, keys, (out, WRAPPED_ROOM))?)
    }

    /// Unwraps a key into the token. `kind` is what it is; its length comes out of the wrapping.
    ///
    /// # Errors
    /// [`Error::Rejected`] if it does not open under `unwrapping`; [`Error::AttributeChanged`];
    /// [`Error::Failed`].
    pub fn unwrap_secret(
        &self,
        mechanism: &Mechanism<'_>,
        unwrapping: ObjectHandle,
        wrapped: &[u8],
        (kind, plan): (SecretKind, &KeyPlan),
    ) -> Result<ObjectHandle, Error> {
        let template = plan.secret(kind.key_type());
        self.unwrap_key(mechanism, unwrapping, wrapped, (&template, plan.purpose()))
    }

    /// Unwraps a key from a template of the caller's: a private key, or one of a vendor's kind.
    ///
    /// # Errors
    /// As [`Session::unwrap_secret`]; [`Error::MixedUse`] for a key that wraps and decrypts, unless the
    /// purpose says so by name.
    pub fn unwrap_key(
        &self,
        mechanism: &Mechanism<'_>,
        unwrapping: ObjectHandle,
        wrapped: &[u8],
        (template, purpose): (&Template, Purpose),
    ) -> Result<ObjectHandle, Error> {
        refuse_mixed(template, purpose)?;
        let (calls, session) = (self.calls(), self.raw());
        let made = calls.unwrap_key(session, mechanism, (unwrapping.number(), wrapped), template);
        self.kept(ObjectHandle::new(made.map_err(rejected)?), template)
    }

    /// Derives a key from `base`: ECDH, X25519, HKDF.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn derive<'k>(
        &self,
        mechanism: &Mechanism<'_>,
        base: impl Into<KeyAccess<'k>>,
        template: &Template,
    ) -> Result<ObjectHandle, Error> {
        let base = base.into().handle.number();
        let made = self
            .calls()
            .derive_key(self.raw(), mechanism, base, template)?;
        Ok(ObjectHandle::new(made))
    }

    /// The bare shared secret of an agreement, `len` bytes, for protocols that go on outside the token.
    ///
    /// # Errors
    /// [`Error::AttributeMissing`] from a token that does not give it out; [`Error::Failed`].
    pub fn agree(
        &self,
        private: ObjectHandle,
        public: &[u8],
        len: usize,
    ) -> Result<SecretBytes, Error> {
        let template = of_both_sides(len);
        let shared = self.derive(&Mechanism::Ecdh { public }, private, &template)?;
        self.take_out(shared, len)
    }

    /// The value of a key that was made to be read, which is then destroyed.
    fn take_out(&self, shared: ObjectHandle, len: usize) -> Result<SecretBytes, Error> {
        let value = self.reading(shared, ck::CKA_VALUE);
        let destroyed = self.destroy_object(shared);
        match value? {
            Reading::Value(value) if value.len() == len => {
                let secret = SecretBytes::from_vec(value);
                destroyed.map(|()| secret)
            }
            _ => Err(Error::AttributeMissing(attribute(ck::CKA_VALUE))),
        }
    }

    /// Makes a shared key for the holder of a public key (ML-KEM): the key, and in `out` what to send.
    ///
    /// # Errors
    /// [`Error::Failed`]; `CKR_FUNCTION_NOT_SUPPORTED` from modules before version 3.2.
    pub fn encapsulate(
        &self,
        mechanism: &Mechanism<'_>,
        public: ObjectHandle,
        template: &Template,
        out: &mut Vec<u8>,
    ) -> Result<ObjectHandle, Error> {
        let (calls, session) = (self.calls(), self.raw());
        let key = calls.encapsulate(session, mechanism, (public.number(), template), out)?;
        Ok(ObjectHandle::new(key))
    }

    /// The shared key that somebody encapsulated for us.
    ///
    /// # Errors
    /// As [`Session::encapsulate`]; [`Error::Rejected`] for an encapsulation of another length.
    pub fn decapsulate(
        &self,
        mechanism: &Mechanism<'_>,
        private: ObjectHandle,
        template: &Template,
        encapsulated: &[u8],
    ) -> Result<ObjectHandle, Error> {
        let (calls, session) = (self.calls(), self.raw());
        let private = private.number();
        let key = calls.decapsulate(session, mechanism, (private, encapsulated), template);
        Ok(ObjectHandle::new(key.map_err(rejected)?))
    }

    /// The bare shared secret of an encapsulation, for protocols that go on outside the token; in `out` what to send.
    ///
    /// # Errors
    /// As [`Session::encapsulate`]; [`Error::AttributeMissing`] from a token that does not give it out.
    pub fn encapsulate_secret(
        &self,
        public: ObjectHandle,
        out: &mut Vec<u8>,
    ) -> Result<SecretBytes, Error> {
        let template = of_both_sides(SHARED_SECRET_LEN);
        let shared = self.encapsulate(&Mechanism::MlKem, public, &template, out)?;
        self.take_out(shared, SHARED_SECRET_LEN)
    }

    /// The bare shared secret that somebody encapsulated for us. One that was changed on its way gives another secret and
    /// no error (FIPS 203, algorithm 18).
    ///
    /// # Errors
    /// As [`Session::decapsulate`]; [`Error::AttributeMissing`] from a token that does not give it out.
    pub fn decapsulate_secret(
        &self,
        private: ObjectHandle,
        encapsulated: &[u8],
    ) -> Result<SecretBytes, Error> {
        let template = of_both_sides(SHARED_SECRET_LEN);
        let shared = self.decapsulate(&Mechanism::MlKem, private, &template, encapsulated)?;
        self.take_out(shared, SHARED_SECRET_LEN)
    }

    /// Copies a key into this session, where a token works faster with it or need not load it. The copy can
    /// do what the key can and ends with the session.
    ///
    /// # Errors
    /// [`Error::AttributeChanged`] if the copy is less guarded than the key; [`Error::Failed`] where the
    /// token or the key forbids copies.
    pub fn copy_into_session(&self, key: ObjectHandle) -> Result<ObjectHandle, Error> {
        let here = Template::new().flag(ck::CKA_TOKEN, ck::CK_FALSE);
        let copy = self.copy_object(key, &here)?;
        for guard in [ck::CKA_SENSITIVE, ck::CKA_EXTRACTABLE, ck::CKA_PRIVATE] {
            if self.reading(key, guard)? != self.reading(copy, guard)? {
                drop(self.destroy_object(copy));
                return Err(Error::AttributeChanged(attribute(guard)));
            }
        }
        Ok(copy)
    }

    /// Reads back what a template said. A value that the token keeps to itself cannot be compared; one that
    /// it does not know is as good as false.
    fn kept(&self, object: ObjectHandle, template: &Template) -> Result<ObjectHandle, Error> {
        let told: Vec<_> = template
            .entries()
            .filter(|(kind, _)| *kind != ck::CKA_VALUE)
            .collect();
        let kinds: Vec<u64> = told.iter().map(|(kind, _)| *kind).collect();
        let readings = match self.readings(object, &kinds) {
            Ok(readings) => readings,
            Err(error) => {
                drop(self.destroy_object(object));
                return Err(error);
            }
        };
        let differs = |((_, told), reading): (&(u64, &[u8]), &Reading)| match reading {
            Reading::Value(value) => value != told,
            Reading::Absent => *told != [ck::CK_FALSE],
            Reading::Sensitive => false,
            Reading::Failed(_) => true,
        };
        let changed = told.iter().zip(&readings).position(differs);
        match changed.and_then(|index| kinds.get(index)) {
            None => Ok(object),
            Some(kind) => {
                drop(self.destroy_object(object));
                Err(Error::AttributeChanged(attribute(*kind)))
            }
        }
    }
}

/// Room for a wrapped key: an RSA private key of 4,096 bits in PKCS#8 with what stands around it.
const WRAPPED_ROOM: usize = 4096;
/// Bytes of a shared secret of ML-KEM, in each parameter set (FIPS 203, 8).
pub const SHARED_SECRET_LEN: usize = 32;

/// A secret for both sides, which the token gives out.
fn of_both_sides(len: usize) -> Template {
    Template::new()
        .class(crate::names::class(ck::CKO_SECRET_KEY))
        .key_type(crate::names::key_type(ck::CKK_GENERIC_SECRET))
        .flag(ck::CKA_TOKEN, ck::CK_FALSE)
        .flag(ck::CKA_PRIVATE, ck::CK_FALSE)
        .flag(ck::CKA_SENSITIVE, ck::CK_FALSE)
        .flag(ck::CKA_EXTRACTABLE, ck::CK_TRUE)
        .number(attribute(ck::CKA_VALUE_LEN), len as u64)
}

fn refuse_mixed(template: &Template, purpose: Purpose) -> Result<(), Error> {
    if mixes(template) && purpose != Purpose::EncryptAndWrap {
        return Err(Error::MixedUse);
    }
    Ok(())
}

/// The token does not know a curve by this spelling.
const fn refuses_parameters(failure: Failure) -> bool {
    matches!(
        failure.raw(),
        ck::CKR_DOMAIN_PARAMS_INVALID
            | ck::CKR_CURVE_NOT_SUPPORTED
            | ck::CKR_ATTRIBUTE_VALUE_INVALID
            | ck::CKR_TEMPLATE_INCONSISTENT
            | ck::CKR_GENERAL_ERROR
            | ck::CKR_FUNCTION_FAILED
    )
}
