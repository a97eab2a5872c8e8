//! Making, wrapping, unwrapping, deriving and encapsulating keys.

use cryptoki_sys::CK_ULONG;

use super::{Functions, append, attributes, length, mechanism, pointer};
use crate::error::Failure;
use crate::mechanism::Mechanism;
use crate::template::Template;

/// Keys.
impl Functions {
    pub(crate) fn generate_key(
        &self,
        session: CK_ULONG,
        mechanism: &Mechanism<'_>,
        template: &Template,
    ) -> Result<CK_ULONG, Failure> {
        let mut key = 0;
        let (mut attributes, count) = attributes(template);
        mechanism::with(mechanism, |mechanism| {
            call!(
                self,
                C_GenerateKey(
                    session,
                    mechanism,
                    attributes.as_mut_ptr(),
                    count,
                    &raw mut key
                )
            )
        })?;
        Ok(key)
    }

    pub(crate) fn generate_pair(
        &self,
        session: CK_ULONG,
        mechanism: &Mechanism<'_>,
        (public, private): (&Template, &Template),
    ) -> Result<(CK_ULONG, CK_ULONG), Failure> {
        let (mut public_key, mut private_key) = (0, 0);
        let (mut public, public_count) = attributes(public);
        let (mut private, private_count) = attributes(private);
        mechanism::with(mechanism, |mechanism| {
            call!(
                self,
                C_GenerateKeyPair(
                    session,
                    mechanism,
                    public.as_mut_ptr(),
                    public_count,
                    private.as_mut_ptr(),
                    private_count,
                    &raw mut public_key,
                    &raw mut private_key,
                )
            )
        })?;
        Ok((public_key, private_key))
    }

    pub(crate) fn wrap_key(
        &self,
        session: CK_ULONG,
        mechanism: &Mechanism<'_>,
        (wrapping, key): (CK_ULONG, CK_ULONG),
        (out, room): (&mut Vec<u8>, usize),
    ) -> Result<(), Failure> {
        mechanism::with(mechanism, |mechanism| {
            append(out, room, |place, most| {
                call!(
                    self,
                    C_WrapKey(session, mechanism, wrapping, key, place, most)
                )
            })
        })
    }

    pub(crate) fn unwrap_key(
        &self,
        session: CK_ULONG,
        mechanism: &Mechanism<'_>,
        (unwrapping, wrapped): (CK_ULONG, &[u8]),
        template: &Template,
    ) -> Result<CK_ULONG, Failure> {
        let mut key = 0;
        let (mut attributes, count) = attributes(template);
        mechanism::with(mechanism, |mechanism| {
            call!(
                self,
                C_UnwrapKey(
                    session,
                    mechanism,
                    unwrapping,
                    pointer(wrapped),
                    length(wrapped),
                    attributes.as_mut_ptr(),
                    count,
                    &raw mut key,
                )
            )
        })?;
        Ok(key)
    }

    pub(crate) fn derive_key(
        &self,
        session: CK_ULONG,
        mechanism: &Mechanism<'_>,
        base: CK_ULONG,
        template: &Template,
    ) -> Result<CK_ULONG, Failure> {
        let mut key = 0;
        let (mut attributes, count) = attributes(template);
        mechanism::with(mechanism, |mechanism| {
            call!(
                self,
                C_DeriveKey(
                    session,
                    mechanism,
                    base,
                    attributes.as_mut_ptr(),
                    count,
                    &raw mut key
                )
            )
        })?;
        Ok(key)
    }

    /// Appends the encapsulation to `out` and returns the shared key.
    pub(crate) fn encapsulate(
        &self,
        session: CK_ULONG,
        mechanism: &Mechanism<'_>,
        (public, template): (CK_ULONG, &Template),
        out: &mut Vec<u8>,
    ) -> Result<CK_ULONG, Failure> {
        let mut key = 0;
        let (mut attributes, count) = attributes(template);
        mechanism::with(mechanism, |mechanism| {
            append(out, LARGEST_ENCAPSULATION, |place, most| {
                call!(
                    self,
                    C_EncapsulateKey(
                        session,
                        mechanism,
                        public,
                        attributes.as_mut_ptr(),
                        count,
                        place,
                        most,
                        &raw mut key,
                    )
                )
            })
        })?;
        Ok(key)
    }

    pub(crate) fn decapsulate(
        &self,
        session: CK_ULONG,
        mechanism: &Mechanism<'_>,
        (private, encapsulated): (CK_ULONG, &[u8]),
        template: &Template,
    ) -> Result<CK_ULONG, Failure> {
        let mut key = 0;
        let (mut attributes, count) = attributes(template);
        mechanism::with(mechanism, |mechanism| {
            call!(
                self,
                C_DecapsulateKey(
                    session,
                    mechanism,
                    private,
                    attributes.as_mut_ptr(),
                    count,
                    pointer(encapsulated),
                    length(encapsulated),
                    &raw mut key,
                )
            )
        })?;
        Ok(key)
    }
}

/// ML-KEM-1024 gives 1,568 bytes.
const LARGEST_ENCAPSULATION: usize = 2048;
