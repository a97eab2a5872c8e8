//! Bodies and answers of routes that use keys: signatures, agreement, public keys, MACs.

use keywright_api::error::Refusal;
use keywright_api::request::{
    AgreeItem, MacItem, MacVerifyItem, PathItem, PublicKeyItem, SignItem, SignatureForm, VerifyItem,
};
use keywright_api::write::Done;
use keywright_api::{Binary, Text};
use keywright_custody::{Form, Input, Usage};
use keywright_encoding::Reader;
use keywright_service::{DataOperation, Prepared};
use keywright_types::{Code, KeyVersion};

use crate::exchange::{self, Understood, decode, gather};

/// Reads the items of a request.
pub(crate) fn understand(
    operation: DataOperation,
    asked: exchange::Asked<'_>,
) -> Result<Understood, Refusal> {
    match operation {
        DataOperation::Sign => gather(asked, |items, item: SignItem<'_>| {
            let asked = Asked::new(item.path.as_ref(), item.form, input(item.digest.as_ref()));
            asked.push(
                items,
                what(item.message.as_ref(), item.digest.as_ref()),
                None,
            );
        }),
        DataOperation::Verify => gather(asked, |items, item: VerifyItem<'_>| {
            items.name(item.key_version);
            let asked = Asked::new(item.path.as_ref(), item.form, input(item.digest.as_ref()));
            let what = what(item.message.as_ref(), item.digest.as_ref());
            asked.push(items, what, Some(&item.signature));
        }),
        DataOperation::Agree => gather(asked, |items, item: AgreeItem<'_>| {
            items.name(item.key_version.unwrap_or(KeyVersion::NONE));
            let asked = Asked::new(item.path.as_ref(), None, Input::Message);
            asked.push(items, Ok(Some(&item.public_key)), None);
        }),
        DataOperation::PublicKey => gather(asked, |items, item: PublicKeyItem<'_>| {
            items.name(item.key_version.unwrap_or(KeyVersion::NONE));
            Asked::new(item.path.as_ref(), None, Input::Message).push(items, Ok(None), None);
        }),
        DataOperation::Mac => gather(asked, |items, item: MacItem<'_>| {
            Asked::new(None, None, Input::Message).push(items, Ok(Some(&item.message)), None);
        }),
        DataOperation::VerifyMac => gather(asked, |items, item: MacVerifyItem<'_>| {
            items.name(item.key_version);
            let asked = Asked::new(None, None, Input::Message);
            asked.push(items, Ok(Some(&item.message)), Some(&item.mac));
        }),
        _ => gather(asked, |items, item: PathItem<'_>| {
            Asked::new(Some(&item.path), None, Input::Message).push(items, Ok(None), None);
        }),
    }
}

/// What is signed: a message or a digest, and not both.
fn what<'b, 'a>(
    message: Option<&'b Binary<'a>>,
    digest: Option<&'b Binary<'a>>,
) -> Result<Option<&'b Binary<'a>>, Code> {
    match (message, digest) {
        (Some(one), None) | (None, Some(one)) => Ok(Some(one)),
        _ => Err(Code::DigestInvalid),
    }
}

/// What the payload is.
const fn input(digest: Option<&Binary<'_>>) -> Input {
    match digest {
        Some(_) => Input::Digest,
        None => Input::Message,
    }
}

/// What an item says besides its message.
pub(crate) struct Asked<'a> {
    path: &'a str,
    form: Form,
    input: Input,
}

impl<'a> Asked<'a> {
    pub(crate) fn new(
        path: Option<&'a Text<'_>>,
        form: Option<SignatureForm>,
        input: Input,
    ) -> Self {
        Self {
            path: path.map_or("", Text::expose),
            form: match form {
                None => Form::Usual,
                Some(SignatureForm::Ecdsa) => Form::Ecdsa,
                Some(SignatureForm::EcdsaRecoverable) => Form::EcdsaRecoverable,
                Some(SignatureForm::Ed25519) => Form::Ed25519,
                Some(SignatureForm::Schnorr) => Form::Schnorr,
            },
            input,
        }
    }

    pub(crate) fn push(
        &self,
        items: &mut Prepared,
        payload: Result<Option<&Binary<'_>>, Code>,
        proof: Option<&Binary<'_>>,
    ) {
        items.path(self.path);
        items.push(
            |out| decode(payload?, out),
            |out| {
                let mut signature = Vec::new();
                decode(proof, &mut signature)?;
                let usage = Usage {
                    form: self.form,
                    input: self.input,
                    path: self.path,
                    proof: &signature,
                };
                usage.put(out);
                Ok(())
            },
        );
    }
}

/// What a holder's result is in the answer.
pub(crate) fn tell(
    operation: DataOperation,
    payload: &[u8],
    version: KeyVersion,
) -> Result<Done<'_>, Code> {
    let text = |bytes| std::str::from_utf8(bytes).map_err(|_| Code::Internal);
    Ok(match operation {
        DataOperation::Agree => Done::Agreed {
            secret: payload,
            version,
        },
        DataOperation::KeyExport => {
            let [private_key, scheme, seed] = parts(payload).ok_or(Code::Internal)?;
            Done::Exported {
                private_key,
                scheme: text(scheme)?,
                seed: text(seed)?,
                version,
            }
        }
        DataOperation::Mac => Done::Mac {
            mac: payload,
            version,
        },
        DataOperation::PublicKey => {
            let [public_key, jwk, pem] = parts(payload).ok_or(Code::Internal)?;
            Done::PublicKey {
                public_key,
                jwk: text(jwk)?,
                pem: text(pem)?,
                version,
            }
        }
        DataOperation::Sign => Done::Signed {
            signature: payload,
            version,
        },
        DataOperation::Verify | DataOperation::VerifyMac => Done::Verified {
            valid: payload == [1],
            version,
        },
        DataOperation::Xpub => Done::Xpub {
            xpub: text(payload)?,
            version,
        },
        _ => return Err(Code::Internal),
    })
}

/// lp of each of three parts.
fn parts(payload: &[u8]) -> Option<[&[u8]; 3]> {
    let mut reader = Reader::new(payload);
    let parts = [reader.lp().ok()?, reader.lp().ok()?, reader.lp().ok()?];
    reader.is_empty().then_some(parts)
}
