//! Messages under one key: their parameters are read by the mechanism that the session began with, and not at all
//! where that is not known.
#![expect(unsafe_code, reason = "functions of C are called")]

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr::null_mut;

use cryptoki_sys::*;
use keywright_pkcs11_names::{CallRecord, ParameterValue};

use crate::caller::{self, in_another, records, table};

/// A message with a parameter of some type, sealed in a session.
fn seal<T>(list: &CK_FUNCTION_LIST_3_2, session: u64, parameter: &mut T) -> CK_RV {
    let (mut aad, mut text, mut out) = ([1_u8; 5], [2_u8; 40], [0_u8; 64]);
    let mut length = 40;
    // SAFETY: memory of this function, with its lengths; the module behind does not write.
    unsafe {
        list.C_EncryptMessage.unwrap()(
            session,
            (&raw mut *parameter).cast(),
            size_of::<T>() as u64,
            aad.as_mut_ptr(),
            5,
            text.as_mut_ptr(),
            40,
            out.as_mut_ptr(),
            &raw mut length,
        )
    }
}

fn begin<T>(list: &CK_FUNCTION_LIST_3_2, session: u64, kind: u64, parameter: &mut T) {
    let mut mechanism = CK_MECHANISM {
        mechanism: kind,
        pParameter: (&raw mut *parameter).cast::<c_void>(),
        ulParameterLen: size_of::<T>() as u64,
    };
    // SAFETY: as above.
    let rv = unsafe { list.C_MessageEncryptInit.unwrap()(session, &raw mut mechanism, 3) };
    assert_eq!(rv, CKR_OK);
}

fn gcm(iv: &mut [u8; 12], tag: &mut [u8; 16]) -> CK_GCM_MESSAGE_PARAMS {
    CK_GCM_MESSAGE_PARAMS {
        pIv: iv.as_mut_ptr(),
        ulIvLen: 12,
        ulIvFixedBits: 32,
        ivGenerator: CKG_GENERATE_RANDOM,
        pTag: tag.as_mut_ptr(),
        ulTagBits: 128,
    }
}

/// Nonsense where a pointer would be: a recorder that followed it would end the process.
fn nowhere() -> *mut u8 {
    std::ptr::without_provenance_mut(0x10)
}

fn body() {
    let (recorder, fake, _) = caller::loaded();
    fake.answer(CKR_OK);
    let list = table(recorder.interface(2).pFunctionList.cast_const());
    let (mut iv, mut tag) = ([7; 12], [0; 16]);
    let mut parameter = gcm(&mut iv, &mut tag);
    begin(&list, 1, CKM_AES_GCM, &mut parameter);
    for _ in 0..2 {
        seal(&list, 1, &mut parameter);
    }
    iv[0] = 8;
    let mut parameter = gcm(&mut iv, &mut tag);
    seal(&list, 1, &mut parameter);
    // Another session, in which nothing was begun; then one with a vendor's mechanism of the same length.
    let mut wild = gcm(&mut iv, &mut tag);
    wild.pIv = nowhere();
    seal(&list, 2, &mut wild);
    begin(&list, 3, CKM_VENDOR_DEFINED + 1, &mut wild);
    seal(&list, 3, &mut wild);
    // A call that is refused, and a structure of another length.
    fake.answer(CKR_DATA_INVALID);
    seal(&list, 1, &mut wild);
    fake.answer(CKR_OK);
    seal(&list, 1, &mut [wild, wild]);
    let mut chacha = CK_SALSA20_CHACHA20_POLY1305_MSG_PARAMS {
        pNonce: iv.as_mut_ptr(),
        ulNonceLen: 12,
        pTag: null_mut(),
    };
    begin(&list, 4, CKM_CHACHA20_POLY1305, &mut chacha);
    seal(&list, 4, &mut chacha);
}

fn params<'a>(record: &'a CallRecord<'_>) -> BTreeMap<&'a str, &'a ParameterValue<'a>> {
    let mechanism = record.mech.as_ref().unwrap();
    let params = mechanism.params.iter();
    params.map(|(name, value)| (&**name, value)).collect()
}

#[test]
fn parameters_of_messages_are_told_by_their_mechanism_and_never_guessed() {
    let test = "messages::parameters_of_messages_are_told_by_their_mechanism_and_never_guessed";
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    if in_another(test, &[("KEYWRIGHT_P11_LOG", &log)], body).is_none() {
        return;
    }
    let records = records(&log);
    let sealed: Vec<_> = records
        .iter()
        .filter(|one| one.func == "C_EncryptMessage")
        .collect();
    assert_eq!(sealed.len(), 8);
    let first = params(sealed[0]);
    for (name, value) in [
        ("len", 48),
        ("iv_len", 12),
        ("iv_fixed_bits", 32),
        ("iv_generator", CKG_GENERATE_RANDOM),
        ("tag_bits", 128),
        ("aad_len", 5),
    ] {
        assert_eq!(first[name], &ParameterValue::Number(value), "{name}");
    }
    assert_eq!(
        first["iv_tag"],
        params(sealed[1])["iv_tag"],
        "a nonce used twice"
    );
    assert_ne!(first["iv_tag"], params(sealed[2])["iv_tag"]);
    for untold in [3, 4, 5] {
        assert!(sealed[untold].mech.is_none(), "{:?}", sealed[untold]);
    }
    assert_eq!(
        params(sealed[6]).keys().collect::<Vec<_>>(),
        [&"aad_len", &"len"]
    );
    assert_eq!(params(sealed[7])["iv_len"], &ParameterValue::Number(12));
    assert_eq!(sealed[0].op_id, sealed[2].op_id);
    let begun = records
        .iter()
        .find(|one| one.func == "C_MessageEncryptInit")
        .unwrap();
    assert_eq!(params(begun).keys().collect::<Vec<_>>(), [&"len"]);
}
