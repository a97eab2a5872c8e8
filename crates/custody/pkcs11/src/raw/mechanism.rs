//! Mechanisms as the standard's structures, on the stack, for the length of one call.
//!
//! The structures hold pointers into the mechanism; making them is safe, and only the call that reads them
//! is not. It takes them through [`with`], so that they cannot outlive what they point to.

use std::ffi::c_void;
use std::ptr::null_mut;

use cryptoki_sys::{
    CK_CCM_PARAMS, CK_ECDH1_DERIVE_PARAMS, CK_EDDSA_PARAMS, CK_GCM_MESSAGE_PARAMS, CK_GCM_PARAMS,
    CK_HKDF_PARAMS, CK_MECHANISM, CK_RSA_AES_KEY_WRAP_PARAMS, CK_RSA_PKCS_OAEP_PARAMS,
    CK_RSA_PKCS_PSS_PARAMS, CK_SALSA20_CHACHA20_POLY1305_PARAMS, CK_SIGN_ADDITIONAL_CONTEXT,
    CK_TRUE, CK_ULONG, CKD_NULL, CKF_HKDF_SALT_DATA, CKF_HKDF_SALT_NULL, CKH_HEDGE_PREFERRED,
    CKM_AES_GCM, CKZ_DATA_SPECIFIED,
};

use super::{length, pointer};
use crate::mechanism::{Hash, Mechanism};

/// Calls `work` with the structure of `mechanism`.
pub(super) fn with<R>(mechanism: &Mechanism<'_>, work: impl FnOnce(*mut CK_MECHANISM) -> R) -> R {
    let kind = mechanism.number();
    match mechanism {
        Mechanism::AesGcm { nonce, aad } => parameter(kind, gcm(nonce, aad), work),
        Mechanism::AesCcm {
            nonce,
            aad,
            data_len,
        } => parameter(kind, ccm(nonce, aad, *data_len), work),
        Mechanism::ChaCha20Poly1305 { nonce, aad } => parameter(kind, chacha(nonce, aad), work),
        Mechanism::AesCbc { iv } | Mechanism::AesCbcPad { iv } => bytes(kind, *iv, work),
        Mechanism::AesCmacGeneral { length } => general(kind, *length, work),
        Mechanism::HmacGeneral { length, .. } => general(kind, *length, work),
        Mechanism::RsaPss { hash, salt_len, .. } => {
            parameter(kind, pss(*hash, *hash, *salt_len), work)
        }
        Mechanism::RsaPssMask {
            hash,
            mask,
            salt_len,
            ..
        } => parameter(kind, pss(*hash, *mask, *salt_len), work),
        Mechanism::RsaOaep { hash, label } => {
            parameter(kind, oaep(hash.digest(), hash.mask(), label), work)
        }
        Mechanism::RsaAesKeyWrap { hash, aes_bits } => {
            let mut oaep = oaep(hash.digest(), hash.mask(), &[]);
            let wrap = CK_RSA_AES_KEY_WRAP_PARAMS {
                ulAESKeyBits: CK_ULONG::from(*aes_bits),
                pOAEPParams: &raw mut oaep,
            };
            parameter(kind, wrap, work)
        }
        Mechanism::Ecdh { public } => parameter(kind, ecdh(public), work),
        Mechanism::Hkdf { hash, salt, info } => {
            parameter(kind, hkdf(hash.digest(), salt, info), work)
        }
        Mechanism::EddsaContext { context, .. } => parameter(kind, eddsa(mechanism, context), work),
        Mechanism::MlDsa { context } | Mechanism::SlhDsa { context } => {
            signing(kind, context, work)
        }
        Mechanism::Other { parameter, .. } if !parameter.is_empty() => bytes(kind, parameter, work),
        _ => bare(kind, null_mut(), 0, work),
    }
}

/// AES-GCM by the message calls, which take their parameters once more with each message.
pub(super) const fn of_messages(parameters: &mut CK_GCM_MESSAGE_PARAMS) -> CK_MECHANISM {
    CK_MECHANISM {
        mechanism: CKM_AES_GCM,
        pParameter: (&raw mut *parameters).cast(),
        ulParameterLen: size_of::<CK_GCM_MESSAGE_PARAMS>() as CK_ULONG,
    }
}

fn bare<R>(
    kind: CK_ULONG,
    parameter: *mut c_void,
    length: CK_ULONG,
    work: impl FnOnce(*mut CK_MECHANISM) -> R,
) -> R {
    let mut mechanism = CK_MECHANISM {
        mechanism: kind,
        pParameter: parameter,
        ulParameterLen: length,
    };
    work(&raw mut mechanism)
}

fn parameter<P, R>(kind: CK_ULONG, mut value: P, work: impl FnOnce(*mut CK_MECHANISM) -> R) -> R {
    bare(
        kind,
        (&raw mut value).cast(),
        size_of::<P>() as CK_ULONG,
        work,
    )
}

fn bytes<R>(kind: CK_ULONG, value: &[u8], work: impl FnOnce(*mut CK_MECHANISM) -> R) -> R {
    bare(kind, pointer(value).cast(), length(value), work)
}

fn general<R>(kind: CK_ULONG, bytes: usize, work: impl FnOnce(*mut CK_MECHANISM) -> R) -> R {
    parameter(kind, bytes as CK_ULONG, work)
}

/// Without a context there is no parameter: tokens that came before contexts refuse one.
fn signing<R>(kind: CK_ULONG, context: &[u8], work: impl FnOnce(*mut CK_MECHANISM) -> R) -> R {
    if context.is_empty() {
        return bare(kind, null_mut(), 0, work);
    }
    let value = CK_SIGN_ADDITIONAL_CONTEXT {
        hedgeVariant: CKH_HEDGE_PREFERRED,
        pContext: pointer(context),
        ulContextLen: length(context),
    };
    parameter(kind, value, work)
}

fn gcm(nonce: &[u8], aad: &[u8]) -> CK_GCM_PARAMS {
    CK_GCM_PARAMS {
        pIv: pointer(nonce),
        ulIvLen: length(nonce),
        ulIvBits: length(nonce) * 8,
        pAAD: pointer(aad),
        ulAADLen: length(aad),
        ulTagBits: 128,
    }
}

fn ccm(nonce: &[u8], aad: &[u8], data_len: usize) -> CK_CCM_PARAMS {
    CK_CCM_PARAMS {
        ulDataLen: data_len as CK_ULONG,
        pNonce: pointer(nonce),
        ulNonceLen: length(nonce),
        pAAD: pointer(aad),
        ulAADLen: length(aad),
        ulMACLen: 16,
    }
}

fn chacha(nonce: &[u8], aad: &[u8]) -> CK_SALSA20_CHACHA20_POLY1305_PARAMS {
    CK_SALSA20_CHACHA20_POLY1305_PARAMS {
        pNonce: pointer(nonce),
        ulNonceLen: length(nonce),
        pAAD: pointer(aad),
        ulAADLen: length(aad),
    }
}

const fn pss(hash: Hash, mask: Hash, salt_len: usize) -> CK_RSA_PKCS_PSS_PARAMS {
    CK_RSA_PKCS_PSS_PARAMS {
        hashAlg: hash.digest(),
        mgf: mask.mask(),
        sLen: salt_len as CK_ULONG,
    }
}

fn oaep(hash: CK_ULONG, mask: CK_ULONG, label: &[u8]) -> CK_RSA_PKCS_OAEP_PARAMS {
    CK_RSA_PKCS_OAEP_PARAMS {
        hashAlg: hash,
        mgf: mask,
        source: CKZ_DATA_SPECIFIED,
        // SoftHSM refuses a pointer without a length.
        pSourceData: if label.is_empty() {
            null_mut()
        } else {
            pointer(label).cast()
        },
        ulSourceDataLen: length(label),
    }
}

fn ecdh(public: &[u8]) -> CK_ECDH1_DERIVE_PARAMS {
    CK_ECDH1_DERIVE_PARAMS {
        kdf: CKD_NULL,
        ulSharedDataLen: 0,
        pSharedData: null_mut(),
        ulPublicDataLen: length(public),
        pPublicData: pointer(public),
    }
}

fn hkdf(hash: CK_ULONG, salt: &[u8], info: &[u8]) -> CK_HKDF_PARAMS {
    CK_HKDF_PARAMS {
        bExtract: CK_TRUE,
        bExpand: CK_TRUE,
        prfHashMechanism: hash,
        ulSaltType: if salt.is_empty() {
            CKF_HKDF_SALT_NULL
        } else {
            CKF_HKDF_SALT_DATA
        },
        pSalt: pointer(salt),
        ulSaltLen: length(salt),
        hSaltKey: 0,
        pInfo: pointer(info),
        ulInfoLen: length(info),
    }
}

fn eddsa(mechanism: &Mechanism<'_>, context: &[u8]) -> CK_EDDSA_PARAMS {
    CK_EDDSA_PARAMS {
        phFlag: mechanism.prehash_flag(),
        ulContextDataLen: length(context),
        pContextData: pointer(context),
    }
}
