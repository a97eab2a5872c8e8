//! Encrypting, decrypting, signing, verifying, hashing.

use cryptoki_sys::{CK_GCM_MESSAGE_PARAMS, CK_ULONG};

use super::{Functions, append, length, mechanism, pointer};
use crate::error::Failure;
use crate::mechanism::Mechanism;

/// What an operation begins with: a mechanism, and a key where there is one.
#[derive(Clone, Copy)]
pub(crate) enum Begin {
    Encrypt,
    Decrypt,
    Sign,
    Verify,
}

/// Calls that take bytes and give bytes.
#[derive(Clone, Copy)]
pub(crate) enum Through {
    Encrypt,
    EncryptUpdate,
    Decrypt,
    DecryptUpdate,
    Digest,
    Sign,
}

/// Calls that only take bytes.
#[derive(Clone, Copy)]
pub(crate) enum Taking {
    Digest,
    Sign,
    Verify,
    VerifyFinal,
}

/// Calls that only give bytes.
#[derive(Clone, Copy)]
pub(crate) enum End {
    Encrypt,
    Decrypt,
    Digest,
    Sign,
}

/// Cryptographic operations.
impl Functions {
    pub(crate) fn begin(
        &self,
        which: Begin,
        session: CK_ULONG,
        mechanism: &Mechanism<'_>,
        key: CK_ULONG,
    ) -> Result<(), Failure> {
        mechanism::with(mechanism, |mechanism| match which {
            Begin::Encrypt => call!(self, C_EncryptInit(session, mechanism, key)),
            Begin::Decrypt => call!(self, C_DecryptInit(session, mechanism, key)),
            Begin::Sign => call!(self, C_SignInit(session, mechanism, key)),
            Begin::Verify => call!(self, C_VerifyInit(session, mechanism, key)),
        })
    }

    pub(crate) fn begin_digest(
        &self,
        session: CK_ULONG,
        mechanism: &Mechanism<'_>,
    ) -> Result<(), Failure> {
        mechanism::with(mechanism, |mechanism| {
            call!(self, C_DigestInit(session, mechanism))
        })
    }

    pub(crate) fn through(
        &self,
        which: Through,
        session: CK_ULONG,
        input: &[u8],
        (out, room): (&mut Vec<u8>, usize),
    ) -> Result<(), Failure> {
        let (bytes, count) = (pointer(input), length(input));
        append(out, room, |place, most| match which {
            Through::Encrypt => call!(self, C_Encrypt(session, bytes, count, place, most)),
            Through::EncryptUpdate => {
                call!(self, C_EncryptUpdate(session, bytes, count, place, most))
            }
            Through::Decrypt => call!(self, C_Decrypt(session, bytes, count, place, most)),
            Through::DecryptUpdate => {
                call!(self, C_DecryptUpdate(session, bytes, count, place, most))
            }
            Through::Digest => call!(self, C_Digest(session, bytes, count, place, most)),
            Through::Sign => call!(self, C_Sign(session, bytes, count, place, most)),
        })
    }

    pub(crate) fn into(
        &self,
        which: Taking,
        session: CK_ULONG,
        input: &[u8],
    ) -> Result<(), Failure> {
        let (bytes, count) = (pointer(input), length(input));
        match which {
            Taking::Digest => call!(self, C_DigestUpdate(session, bytes, count)),
            Taking::Sign => call!(self, C_SignUpdate(session, bytes, count)),
            Taking::Verify => call!(self, C_VerifyUpdate(session, bytes, count)),
            Taking::VerifyFinal => call!(self, C_VerifyFinal(session, bytes, count)),
        }
    }

    pub(crate) fn verify(
        &self,
        session: CK_ULONG,
        input: &[u8],
        signature: &[u8],
    ) -> Result<(), Failure> {
        call!(
            self,
            C_Verify(
                session,
                pointer(input),
                length(input),
                pointer(signature),
                length(signature)
            )
        )
    }

    pub(crate) fn end(
        &self,
        which: End,
        session: CK_ULONG,
        out: &mut Vec<u8>,
        room: usize,
    ) -> Result<(), Failure> {
        append(out, room, |place, most| match which {
            End::Encrypt => call!(self, C_EncryptFinal(session, place, most)),
            End::Decrypt => call!(self, C_DecryptFinal(session, place, most)),
            End::Digest => call!(self, C_DigestFinal(session, place, most)),
            End::Sign => call!(self, C_SignFinal(session, place, most)),
        })
    }
}

/// One sealing by the message calls of version 3.0, in which the token makes the nonce.
pub(crate) struct Message<'a> {
    pub(crate) nonce: &'a mut [u8],
    pub(crate) generator: CK_ULONG,
    pub(crate) tag: &'a mut [u8; 16],
    pub(crate) aad: &'a [u8],
    pub(crate) input: &'a [u8],
}

impl Message<'_> {
    fn parameters(&mut self) -> CK_GCM_MESSAGE_PARAMS {
        CK_GCM_MESSAGE_PARAMS {
            pIv: self.nonce.as_mut_ptr(),
            ulIvLen: self.nonce.len() as CK_ULONG,
            ulIvFixedBits: 0,
            ivGenerator: self.generator,
            pTag: self.tag.as_mut_ptr(),
            ulTagBits: 128,
        }
    }
}

/// Messages.
impl Functions {
    /// Seals one message; the nonce that the token made stands in `message.nonce` after.
    pub(crate) fn encrypt_message(
        &self,
        session: CK_ULONG,
        key: CK_ULONG,
        message: &mut Message<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let (aad, input) = (message.aad, message.input);
        let mut parameters = message.parameters();
        let size = size_of::<CK_GCM_MESSAGE_PARAMS>() as CK_ULONG;
        let mut mechanism = mechanism::of_messages(&mut parameters);
        call!(self, C_MessageEncryptInit(session, &raw mut mechanism, key))?;
        let done = append(out, input.len(), |place, most| {
            call!(
                self,
                C_EncryptMessage(
                    session,
                    (&raw mut parameters).cast(),
                    size,
                    pointer(aad),
                    length(aad),
                    pointer(input),
                    length(input),
                    place,
                    most,
                )
            )
        });
        let ended = call!(self, C_MessageEncryptFinal(session));
        done.and(ended)
    }
}
