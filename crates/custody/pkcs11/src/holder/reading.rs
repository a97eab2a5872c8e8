//! Keys of the seed service, which were in the token before us: they open what that service sealed, and nothing else.

use cryptoki_sys as ck;
use keywright_custody::reader::{ObjectId, OldCiphertext, candidates};
use keywright_custody::{Item, ReaderDetail};
use keywright_secret::wipe;
use keywright_types::Code;

use crate::device::{Fault, TokenKey};
use crate::error::Error;
use crate::holder::shape::Shape;
use crate::names::{class, key_type};
use crate::session::Session;
use crate::template::Template;

/// The reader with the id of the one object that has its label, which has the id that was said, if one was. Two of a
/// label are refused, whatever else they are: that service took either.
pub(crate) fn bind(
    session: &Session,
    reader: &ReaderDetail,
    shape: Shape,
) -> Result<ReaderDetail, Fault> {
    let (class_number, type_number) = shape.class();
    let template = Template::new()
        .flag(ck::CKA_TOKEN, ck::CK_TRUE)
        .class(class(class_number))
        .key_type(key_type(type_number))
        .label(&reader.label);
    let object = session.find_one(&template)?;
    let id = session.reading(object, ck::CKA_ID)?;
    let id = id.bytes().and_then(|id| ObjectId::new(id.to_vec()));
    let length = session.reading(object, ck::CKA_VALUE_LEN)?.number();
    let said = reader.object.as_ref();
    if said.is_some() && said != id.as_ref() {
        return Err(Fault::Token(Error::NoObject));
    }
    // A token may keep the length to itself; then its check value tells whether the key works.
    match id.filter(|_| length.is_none_or(|length| length == AES_256)) {
        Some(id) => Ok(ReaderDetail {
            object: Some(id),
            ..reader.clone()
        }),
        None => Err(Fault::Token(Error::Unusable(
            "it has no id, or is no AES-256 key".to_owned(),
        ))),
    }
}

/// Opens an item whose associated data are the digests to try. `unclear` says whether the key still works where the
/// token's word may mean the ciphertext or itself. There is one failure of an item, whatever it was.
pub(crate) fn open(
    (key, reader): (&TokenKey<'_>, &ReaderDetail),
    item: &Item<'_>,
    out: &mut Vec<u8>,
    unclear: impl Fn() -> Result<(), Fault>,
) -> Result<[u8; 16], Fault> {
    let failed = || Fault::Item(Code::DecryptionFailed);
    let old = OldCiphertext::parse(item.payload, reader.nonce).ok_or_else(failed)?;
    let digests = candidates(item.aad).ok_or_else(failed)?;
    let nonce = old.nonce.as_bytes();
    let sealed = item.payload.get(nonce.len()..).unwrap_or_default();
    let start = out.len();
    let mut attempt = |digest: &[u8; 32]| {
        let opened = key.open_raw((nonce, digest), sealed, out);
        if opened.is_err() {
            if let Some(partly) = out.get_mut(start..) {
                wipe(partly);
            }
            out.truncate(start);
        }
        opened
    };
    for digest in digests {
        let opened = match attempt(digest) {
            // As for an envelope: what the token meant of itself it does not say again.
            Err(Fault::Unclear(_)) => {
                unclear()?;
                attempt(digest).map_err(Fault::blaming_the_item)
            }
            opened => opened,
        };
        match opened {
            Ok(()) => return Ok(old.nonce.message_id()),
            Err(Fault::Item(_)) => (),
            Err(fault) => return Err(fault),
        }
    }
    Err(failed())
}

/// Bytes of the key.
const AES_256: u64 = 32;
