//! The public parameters of mechanisms: hashes, lengths, and the nonce or IV for its tag.
//!
//! By the mechanism's number and only where the length is that of its structure. Everything else leaves its length.
//! The parameters of messages are other structures, some of the same length, so calls of messages have ways of
//! their own.

use std::ffi::c_void;

use cryptoki_sys::*;

use super::messages::Sort;
use crate::event::{Details, Iv, Parameter};

/// Reads the parameters of a mechanism.
///
/// # Safety
/// The module has accepted the mechanism, so its parameter is of the standard's form for it.
pub(super) unsafe fn parameters(mechanism: &CK_MECHANISM, details: &mut Details) {
    let length = usize::try_from(mechanism.ulParameterLen).unwrap_or(usize::MAX);
    if mechanism.pParameter.is_null() || length == 0 {
        return;
    }
    details.put(Parameter::Length, mechanism.ulParameterLen);
    match mechanism.mechanism {
        CKM_AES_CBC | CKM_AES_CBC_PAD | CKM_AES_OFB | CKM_AES_CFB8 | CKM_AES_CFB128
        | CKM_AES_KEY_WRAP_KWP | CKM_AES_KEY_WRAP => {
            // SAFETY: the parameter is the IV itself.
            unsafe { iv(mechanism.pParameter.cast(), length, details) };
        }
        CKM_AES_CMAC_GENERAL
        | CKM_SHA_1_HMAC_GENERAL
        | CKM_SHA224_HMAC_GENERAL
        | CKM_SHA256_HMAC_GENERAL
        | CKM_SHA384_HMAC_GENERAL
        | CKM_SHA512_HMAC_GENERAL => {
            // SAFETY: the parameter is a number.
            if let Some(number) = unsafe { read::<CK_ULONG>(mechanism) } {
                details.put(Parameter::MacLen, number);
            }
        }
        // SAFETY: as promised to this function.
        _ => unsafe { structures(mechanism, details) },
    }
}

/// Reads the parameter of one message.
///
/// # Safety
/// The module has done something with the message of `length` bytes of parameter, under a mechanism of this sort.
pub(super) unsafe fn message(
    sort: Sort,
    (at, length): (*const c_void, CK_ULONG),
    aad_len: CK_ULONG,
    details: &mut Details,
) {
    details.put(Parameter::Length, length);
    let parameter = CK_MECHANISM {
        mechanism: sort.mechanism(),
        pParameter: at.cast_mut(),
        ulParameterLen: length,
    };
    if at.is_null() {
        return;
    }
    match sort {
        Sort::Gcm => {
            // SAFETY: the structure of this mechanism's messages.
            if let Some(gcm) = unsafe { read::<CK_GCM_MESSAGE_PARAMS>(&parameter) } {
                details.put(Parameter::IvLen, gcm.ulIvLen);
                details.put(Parameter::FixedBits, gcm.ulIvFixedBits);
                details.put(Parameter::Generator, gcm.ivGenerator);
                details.put(Parameter::TagBits, gcm.ulTagBits);
                // SAFETY: the IV that the module has used or made.
                unsafe { iv_of(gcm.pIv, gcm.ulIvLen, details) };
            }
        }
        Sort::Ccm => {
            // SAFETY: the structure of this mechanism's messages.
            if let Some(ccm) = unsafe { read::<CK_CCM_MESSAGE_PARAMS>(&parameter) } {
                details.put(Parameter::IvLen, ccm.ulNonceLen);
                details.put(Parameter::FixedBits, ccm.ulNonceFixedBits);
                details.put(Parameter::Generator, ccm.nonceGenerator);
                details.put(Parameter::MacLen, ccm.ulMACLen);
                // SAFETY: the nonce that the module has used or made.
                unsafe { iv_of(ccm.pNonce, ccm.ulNonceLen, details) };
            }
        }
        Sort::Chacha => {
            type Chacha = CK_SALSA20_CHACHA20_POLY1305_MSG_PARAMS;
            // SAFETY: the structure of this mechanism's messages.
            if let Some(chacha) = unsafe { read::<Chacha>(&parameter) } {
                details.put(Parameter::IvLen, chacha.ulNonceLen);
                // SAFETY: the nonce that the module has used.
                unsafe { iv_of(chacha.pNonce, chacha.ulNonceLen, details) };
            }
        }
        Sort::Other => {}
    }
    details.put(Parameter::AadLen, aad_len);
}

unsafe fn structures(mechanism: &CK_MECHANISM, details: &mut Details) {
    match mechanism.mechanism {
        CKM_AES_GCM => {
            // SAFETY: the structure of this mechanism.
            if let Some(gcm) = unsafe { read::<CK_GCM_PARAMS>(mechanism) } {
                details.put(Parameter::IvLen, gcm.ulIvLen);
                details.put(Parameter::AadLen, gcm.ulAADLen);
                details.put(Parameter::TagBits, gcm.ulTagBits);
                // SAFETY: the IV of an accepted mechanism.
                unsafe { iv_of(gcm.pIv, gcm.ulIvLen, details) };
            }
        }
        CKM_AES_CCM => {
            // SAFETY: the structure of this mechanism.
            if let Some(ccm) = unsafe { read::<CK_CCM_PARAMS>(mechanism) } {
                details.put(Parameter::IvLen, ccm.ulNonceLen);
                details.put(Parameter::AadLen, ccm.ulAADLen);
                details.put(Parameter::MacLen, ccm.ulMACLen);
                // SAFETY: the nonce of an accepted mechanism.
                unsafe { iv_of(ccm.pNonce, ccm.ulNonceLen, details) };
            }
        }
        CKM_AES_CTR => {
            // SAFETY: the structure of this mechanism.
            if let Some(counter) = unsafe { read::<CK_AES_CTR_PARAMS>(mechanism) } {
                details.put(Parameter::CounterBits, counter.ulCounterBits);
                details.iv = Iv::new(&counter.cb);
            }
        }
        CKM_CHACHA20_POLY1305 => {
            // SAFETY: the structure of this mechanism.
            if let Some(chacha) = unsafe { read::<CK_SALSA20_CHACHA20_POLY1305_PARAMS>(mechanism) }
            {
                details.put(Parameter::IvLen, chacha.ulNonceLen);
                details.put(Parameter::AadLen, chacha.ulAADLen);
                // SAFETY: the nonce of an accepted mechanism.
                unsafe { iv_of(chacha.pNonce, chacha.ulNonceLen, details) };
            }
        }
        // SAFETY: as promised to `parameters`.
        _ => unsafe { asymmetric(mechanism, details) },
    }
}

unsafe fn asymmetric(mechanism: &CK_MECHANISM, details: &mut Details) {
    match mechanism.mechanism {
        CKM_RSA_PKCS_OAEP => {
            // SAFETY: the structure of this mechanism.
            if let Some(oaep) = unsafe { read::<CK_RSA_PKCS_OAEP_PARAMS>(mechanism) } {
                details.put(Parameter::Hash, oaep.hashAlg);
                details.put(Parameter::Mgf, oaep.mgf);
                details.put(Parameter::LabelLen, oaep.ulSourceDataLen);
            }
        }
        CKM_RSA_PKCS_PSS
        | CKM_SHA1_RSA_PKCS_PSS
        | CKM_SHA224_RSA_PKCS_PSS
        | CKM_SHA256_RSA_PKCS_PSS
        | CKM_SHA384_RSA_PKCS_PSS
        | CKM_SHA512_RSA_PKCS_PSS => {
            // SAFETY: the structure of these mechanisms.
            if let Some(pss) = unsafe { read::<CK_RSA_PKCS_PSS_PARAMS>(mechanism) } {
                details.put(Parameter::Hash, pss.hashAlg);
                details.put(Parameter::Mgf, pss.mgf);
                details.put(Parameter::SaltLen, pss.sLen);
            }
        }
        CKM_ECDH1_DERIVE | CKM_ECDH1_COFACTOR_DERIVE => {
            // SAFETY: the structure of these mechanisms.
            if let Some(ecdh) = unsafe { read::<CK_ECDH1_DERIVE_PARAMS>(mechanism) } {
                details.put(Parameter::Kdf, ecdh.kdf);
                details.put(Parameter::PublicLen, ecdh.ulPublicDataLen);
            }
        }
        CKM_HKDF_DERIVE | CKM_HKDF_DATA => {
            // SAFETY: the structure of these mechanisms.
            if let Some(hkdf) = unsafe { read::<CK_HKDF_PARAMS>(mechanism) } {
                details.put(Parameter::Hash, hkdf.prfHashMechanism);
                details.put(Parameter::SaltLen, hkdf.ulSaltLen);
                details.put(Parameter::InfoLen, hkdf.ulInfoLen);
            }
        }
        CKM_PKCS5_PBKD2 => {
            // SAFETY: the structure of this mechanism.
            if let Some(pbkdf) = unsafe { read::<CK_PKCS5_PBKD2_PARAMS2>(mechanism) } {
                details.put(Parameter::Iterations, pbkdf.iterations);
                details.put(Parameter::SaltLen, pbkdf.ulSaltSourceDataLen);
            }
        }
        _ => {}
    }
}

/// The parameter as the structure that the standard has for it, if it has that length.
unsafe fn read<T: Copy>(mechanism: &CK_MECHANISM) -> Option<T> {
    let length = usize::try_from(mechanism.ulParameterLen).ok()?;
    if length != size_of::<T>() {
        return None;
    }
    // SAFETY: not null and as long as the structure; where it lies it need not be aligned.
    Some(unsafe { std::ptr::read_unaligned(mechanism.pParameter.cast_const().cast()) })
}

unsafe fn iv_of(at: *const u8, length: CK_ULONG, details: &mut Details) {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    // SAFETY: as promised to the caller.
    unsafe { iv(at, length, details) };
}

unsafe fn iv(at: *const u8, length: usize, details: &mut Details) {
    if !at.is_null() && (1..=Iv::LONGEST).contains(&length) {
        // SAFETY: not null, and so long in a mechanism that the module has accepted.
        details.iv = Iv::new(unsafe { std::slice::from_raw_parts(at, length) });
    }
}

/// Appends a value to `bytes` and says where it is.
///
/// # Safety
/// `length` bytes lie at `at`.
pub(super) unsafe fn append(
    bytes: &mut Vec<u8>,
    at: *const u8,
    length: usize,
) -> (usize, Option<usize>) {
    let start = bytes.len();
    if length > 0 {
        // SAFETY: the caller's word.
        bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(at, length) });
    }
    (start, Some(length))
}
