//! Sealing and opening: bodies to items, results to answers.

use http::{Response, StatusCode};
use keywright_api::vault::answer::{self, Done, Refused};
use keywright_api::vault::request::{
    Asked, DatakeyBody, DecryptBody, EncryptBody, Number, RewrapBody, Versioned, parse,
    says_nothing,
};
use keywright_api::vault::route::Endpoint;
use keywright_api::{Binary, Limits, MAX_AAD, Text};
use keywright_custody::{Key, ReplyItem, Version};
use keywright_encoding::base64;
use keywright_envelope::Envelope;
use keywright_service::{DataOperation, Prepared};
use keywright_types::{Code, KeyVersion, Kind};

use super::{Answer, Visit};
use crate::exchange::{data_key, decode, good};
use crate::transport::{Reply, json};

/// What is asked of a key, ready for the worker.
pub(super) struct Understood {
    pub(super) operation: DataOperation,
    pub(super) items: Prepared,
    pub(super) form: Form,
}

/// In which forms a data key is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum DataKeys {
    #[default]
    PlainToo,
    WrappedOnly,
}

/// How a request was put, which decides how it is answered.
#[derive(Default)]
pub(super) struct Form {
    pub(super) batch: bool,
    /// What came with the items to be told with their results.
    pub(super) references: Vec<Option<String>>,
    /// Whether a batch of which only a part failed has the status of one that was done.
    pub(super) partly_done_is_done: bool,
    pub(super) data_keys: DataKeys,
}

impl Visit<'_> {
    pub(super) async fn seal_or_open(&self, body: &[u8]) -> Answer {
        let key = self.known_key();
        let understood = self.understand(body, key.as_deref());
        let understood = self.understood(understood).await?;
        let operation = understood.operation;
        let data_keys = understood.form.data_keys;
        self.perform(understood, |item| Ok(tell((operation, data_keys), item)))
            .await
    }

    /// What the context is, if the caller may know of it.
    pub(super) fn known_key(&self) -> Option<std::sync::Arc<Key>> {
        let worker = &self.application.worker;
        worker.known_key(self.call.caller, self.found.name)
    }

    /// Has the items done, and answers with what `tell` makes of each.
    pub(super) async fn perform(
        &self,
        Understood {
            operation,
            items,
            form,
        }: Understood,
        tell: impl for<'r> Fn(&ReplyItem<'r>) -> Result<Done<'r>, Code>,
    ) -> Answer {
        let worker = &self.application.worker;
        let (caller, asked) = (self.call.caller, self.found.route.operation);
        let charged = worker.charge_items(caller, asked, items.len());
        charged.map_err(|_too_fast| Refused::new(Code::RateLimited))?;
        let recorded = worker
            .perform(self.call, self.found.name, operation, items)
            .await;
        let done = self.application.release(recorded).await?;
        let (request, limits) = (self.call.request, &self.application.limits);
        let mut results = done.iter().map(|item| match item.code {
            Code::Ok => tell(&item),
            code => Err(code),
        });
        if !form.batch {
            let only = results.next().ok_or(Code::Internal)??;
            return Ok(good(answer::one(&only, request)));
        }
        let failed = done.iter().filter(|item| item.code != Code::Ok).count();
        let references = form.references.iter().map(Option::as_deref);
        let results = results.zip(references);
        let body = answer::batch(results, (request, limits), done.byte_len() * 2);
        Ok(batch_response(body, &form, (failed, done.iter().len())))
    }

    fn understand(&self, body: &[u8], key: Option<&Key>) -> Result<Understood, Refused> {
        let limits = &self.application.limits;
        let name = self.found.name;
        match self.found.route.endpoint {
            Endpoint::Encrypt => encrypt(parse(body, limits)?, (name, key), (limits, body.len())),
            Endpoint::Decrypt => decrypt(parse(body, limits)?, name, (limits, body.len())),
            Endpoint::Rewrap => rewrap(parse(body, limits)?, (name, key), (limits, body.len())),
            _ => datakey(&parse(body, limits)?, (name, self.found.word), key),
        }
    }
}

fn batch_response(body: Vec<u8>, form: &Form, (failed, all): (usize, usize)) -> Response<Reply> {
    let done = failed == 0 || (failed < all && form.partly_done_is_done);
    json(
        if done {
            StatusCode::OK
        } else {
            StatusCode::BAD_REQUEST
        },
        body,
    )
}

fn encrypt(
    mut body: EncryptBody<'_>,
    (name, key): (&str, Option<&Key>),
    (limits, length): (&Limits, usize),
) -> Result<Understood, Refused> {
    let Asked { items, batch, .. } = body.take(name, limits)?;
    if body.convergent_encryption.is_some_and(|flag| flag.0) {
        return Err(Refused::because(
            Code::Unsupported,
            "encryption is never convergent here",
        ));
    }
    let mut prepared = Prepared::with_capacity(items.len(), length);
    for item in &items {
        no_nonce(item.nonce.as_ref())?;
        active_version(item.key_version, key)?;
        let plaintext = item.plaintext.as_ref();
        let plaintext = plaintext.ok_or(missing("missing plaintext to encrypt"))?;
        let beside = (item.associated_data.as_ref(), item.context.as_ref());
        push(&mut prepared, |out| decode(Some(plaintext), out), beside);
    }
    let form = Form {
        batch,
        references: references(items.iter().map(|item| item.reference.as_ref())),
        partly_done_is_done: partly(body.partial_failure_response_code)?,
        ..Form::default()
    };
    Ok(Understood {
        operation: DataOperation::Encrypt,
        items: prepared,
        form,
    })
}

/// Messages or data keys. The first envelope says which, and those of the other kind fail.
fn decrypt(
    mut body: DecryptBody<'_>,
    name: &str,
    (limits, length): (&Limits, usize),
) -> Result<Understood, Refused> {
    let Asked { items, batch, .. } = body.take(name, limits)?;
    let mut prepared = Prepared::with_capacity(items.len(), length);
    let mut first = None;
    for item in &items {
        no_nonce(item.nonce.as_ref())?;
        let ciphertext = item.ciphertext.as_ref();
        let ciphertext = ciphertext.ok_or(missing("missing ciphertext to decrypt"))?;
        let beside = (item.associated_data.as_ref(), item.context.as_ref());
        let read = |out: &mut Vec<u8>| {
            let kind = envelope(ciphertext, out)?;
            first.get_or_insert(kind);
            Ok(())
        };
        push(&mut prepared, read, beside);
    }
    let form = Form {
        batch,
        references: references(items.iter().map(|item| item.reference.as_ref())),
        partly_done_is_done: partly(body.partial_failure_response_code)?,
        ..Form::default()
    };
    let operation = match first {
        Some(Kind::Key) => DataOperation::DatakeyOpen,
        _ => DataOperation::Decrypt,
    };
    Ok(Understood {
        operation,
        items: prepared,
        form,
    })
}

fn rewrap(
    mut body: RewrapBody<'_>,
    (name, key): (&str, Option<&Key>),
    (limits, length): (&Limits, usize),
) -> Result<Understood, Refused> {
    let Asked { items, batch, .. } = body.take(name, limits)?;
    let mut prepared = Prepared::with_capacity(items.len(), length);
    for item in &items {
        no_nonce(item.nonce.as_ref())?;
        active_version(item.key_version, key)?;
        let ciphertext = item.ciphertext.as_ref();
        let ciphertext = ciphertext.ok_or(missing("missing ciphertext to rewrap"))?;
        let beside = (item.associated_data.as_ref(), item.context.as_ref());
        push(
            &mut prepared,
            |out| envelope(ciphertext, out).map(drop),
            beside,
        );
    }
    Ok(Understood {
        operation: DataOperation::Rewrap,
        items: prepared,
        form: Form {
            batch,
            references: references(items.iter().map(|item| item.reference.as_ref())),
            ..Form::default()
        },
    })
}

fn datakey(
    body: &DatakeyBody<'_>,
    (name, kind): (&str, &str),
    key: Option<&Key>,
) -> Result<Understood, Refused> {
    body.check(name)?;
    no_nonce(body.nonce.as_ref())?;
    active_version(body.key_version, key)?;
    let mut prepared = Prepared::with_capacity(1, 0);
    let beside = (body.associated_data.as_ref(), body.context.as_ref());
    push(&mut prepared, |_| Ok(()), beside);
    let data_keys = match kind {
        "wrapped" => DataKeys::WrappedOnly,
        _ => DataKeys::PlainToo,
    };
    let form = Form {
        data_keys,
        ..Form::default()
    };
    Ok(Understood {
        operation: DataOperation::Datakey,
        items: prepared,
        form,
    })
}

type Beside<'b, 'a> = (Option<&'b Binary<'a>>, Option<&'b Binary<'a>>);

/// Adds an item with its additional data and its derivation context.
fn push(
    prepared: &mut Prepared,
    payload: impl FnOnce(&mut Vec<u8>) -> Result<(), Code>,
    (aad, context): Beside<'_, '_>,
) {
    let mut derivation = Vec::new();
    let read = bounded(context, &mut derivation);
    prepared.push(
        |out| read.and_then(|()| payload(out)),
        |out| bounded(aad, out),
    );
    if read.is_ok() && !derivation.is_empty() {
        prepared.context(&derivation);
    }
}

fn bounded(field: Option<&Binary<'_>>, out: &mut Vec<u8>) -> Result<(), Code> {
    let start = out.len();
    decode(field, out)?;
    match out.len() - start > MAX_AAD {
        true => Err(Code::AadTooLarge),
        false => Ok(()),
    }
}

/// The envelope in `vault:v1:...`, whose header must have the same version (design 7.37).
fn envelope(text: &Text<'_>, out: &mut Vec<u8>) -> Result<Kind, Code> {
    let malformed = Code::CiphertextMalformed;
    let Versioned {
        version, encoded, ..
    } = Versioned::read(text.expose()).ok_or(malformed)?;
    let start = out.len();
    base64::decode_into(encoded, out).map_err(|_| malformed)?;
    let bytes = out.get(start..).unwrap_or_default();
    let header = *Envelope::parse(bytes).map_err(|_| malformed)?.header();
    (header.version == version)
        .then_some(header.kind)
        .ok_or(malformed)
}

fn no_nonce(nonce: Option<&Text<'_>>) -> Result<(), Refused> {
    match says_nothing(nonce) {
        true => Ok(()),
        false => Err(Refused::because(
            Code::Unsupported,
            "nonces are made by the service and not taken",
        )),
    }
}

/// A version that is asked for must be the one that is used.
pub(super) fn active_version(asked: Option<Number>, key: Option<&Key>) -> Result<(), Refused> {
    let asked = asked.map_or(0, |asked| asked.0);
    let active = key.and_then(Key::active).map(Version::number);
    let is_active = |version: KeyVersion| u64::from(version.number()) == asked;
    // Whoever may not know of the key is told so when it is asked for.
    if asked == 0 || key.is_none() || active.is_some_and(is_active) {
        return Ok(());
    }
    let because = "`key_version` is 0 or the active version; no other is used";
    Err(Refused::because(Code::ValueInvalid, because))
}

fn partly(code: Option<Number>) -> Result<bool, Refused> {
    match code {
        None | Some(Number(0 | 400)) => Ok(false),
        Some(Number(200)) => Ok(true),
        Some(_) => {
            let because = "`partial_failure_response_code` is 200 or 400";
            Err(Refused::because(Code::ValueInvalid, because))
        }
    }
}

pub(super) const fn missing(because: &'static str) -> Refused {
    Refused::because(Code::RequestMalformed, because)
}

pub(super) fn references<'b, 'a: 'b>(
    items: impl Iterator<Item = Option<&'b Text<'a>>>,
) -> Vec<Option<String>> {
    items
        .map(|reference| reference.map(|text| text.expose().to_owned()))
        .collect()
}

fn tell<'r>((operation, data_keys): (DataOperation, DataKeys), item: &ReplyItem<'r>) -> Done<'r> {
    let (payload, version) = (item.payload, item.version);
    match operation {
        DataOperation::Decrypt => Done::Opened(payload),
        DataOperation::DatakeyOpen => Done::Opened(data_key(payload).1),
        DataOperation::Datakey => {
            let (_, key, ciphertext) = data_key(payload);
            Done::Datakey {
                plaintext: (data_keys == DataKeys::PlainToo).then_some(key),
                ciphertext,
                version,
            }
        }
        _ => Done::Sealed {
            ciphertext: payload,
            version,
        },
    }
}
