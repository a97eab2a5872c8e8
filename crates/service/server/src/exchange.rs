//! What every application does with a request: read it, understand it, write the answer. Which form either has, JSON or
//! CBOR, is known here and below; what is asked and answered is the same.

use bytes::Bytes;
use http::header::{ALLOW, RETRY_AFTER};
use http::{HeaderValue, Response};
use keywright_api::error::Refusal;
use keywright_api::request::{
    DatakeyItem, Item, OpenItem, RewrapItem, SealItem, Sink, TokenItem, ValueItem,
};
use keywright_api::write::{self, Done};
use keywright_api::{Binary, Codec, Limits, MAX_AAD, MAX_TWEAK, Tweak};
use keywright_clock::WallTime;
use keywright_custody::ReplyItem;
use keywright_encoding::put_lp;
use keywright_service::{DataOperation, Prepared};
use keywright_types::{Code, DataKeyId, RequestId};

use crate::transport::{Reply, json, reply};
use crate::uses;

/// The items of a request, and what the answer must know of its form.
pub(crate) struct Understood {
    pub(crate) items: Prepared,
    pub(crate) form: Form,
}

/// How a request was put, which decides how it is answered.
pub(crate) struct Form {
    pub(crate) batch: bool,
    /// Whether each data key is wanted in the plain; empty for other operations.
    plain: Vec<bool>,
}

/// Reads the items of a request under a context.
pub(crate) fn understand(
    operation: DataOperation,
    (codec, body): (Codec, &[u8]),
    limits: &Limits,
) -> Result<Understood, Refusal> {
    let asked = (codec, body, limits);
    let bytes = codec.bytes_at_most(body.len());
    match operation {
        DataOperation::Encrypt | DataOperation::DeterministicEncrypt => {
            gather_into(asked, bytes, |items, item: SealItem<'_>| {
                push_bytes(items, Some(&item.plaintext), item.aad.as_ref());
            })
        }
        DataOperation::Datakey => {
            let mut plain = Vec::new();
            let mut understood = gather_into(asked, bytes, |items, item: DatakeyItem<'_>| {
                plain.push(item.plain);
                push_bytes(items, None, item.aad.as_ref());
            })?;
            understood.form.plain = plain;
            Ok(understood)
        }
        DataOperation::Decrypt
        | DataOperation::DeterministicDecrypt
        | DataOperation::DatakeyOpen => gather_into(asked, bytes, |items, item: OpenItem<'_>| {
            push_bytes(items, Some(&item.ciphertext), item.aad.as_ref());
        }),
        DataOperation::Rewrap => {
            let mut labels = Vec::new();
            let mut understood = gather_into(asked, bytes, |items, item: RewrapItem<'_>| {
                labels.push(item.key_id.map(|label| label.expose().to_owned()));
                push_bytes(items, Some(&item.ciphertext), item.aad.as_ref());
            })?;
            if labels.iter().any(Option::is_some) {
                for label in labels {
                    understood.items.label(label);
                }
            }
            Ok(understood)
        }
        DataOperation::Tokenize => gather(asked, |items, item: ValueItem<'_>| {
            push_text(items, item.value.expose(), item.tweak.as_ref());
        }),
        DataOperation::Detokenize | DataOperation::Mask => {
            gather(asked, |items, item: TokenItem<'_>| {
                items.name(item.key_version);
                push_text(items, item.token.expose(), item.tweak.as_ref());
            })
        }
        _ => uses::understand(operation, asked),
    }
}

/// A body to be read: its form, its bytes, how much it may bring.
pub(crate) type Asked<'a> = (Codec, &'a [u8], &'a Limits);

/// Reads a body, each item of which goes to where it is worked on as soon as it is read.
pub(crate) fn gather<'a, T: Item<'a>>(
    asked: Asked<'a>,
    push: impl FnMut(&mut Prepared, T),
) -> Result<Understood, Refusal> {
    gather_into(asked, asked.1.len(), push)
}

/// As [`gather`], for items that come to so many bytes at most: room that grew would leave a copy behind.
fn gather_into<'a, T: Item<'a>>(
    (codec, body, limits): Asked<'a>,
    bytes: usize,
    push: impl FnMut(&mut Prepared, T),
) -> Result<Understood, Refusal> {
    let mut gathering = Gathering {
        items: None,
        bytes,
        batch: false,
        push,
    };
    codec.read_into(body, limits, &mut gathering)?;
    Ok(Understood {
        items: gathering.items.unwrap_or_default(),
        form: Form {
            batch: gathering.batch,
            plain: Vec::new(),
        },
    })
}

struct Gathering<F> {
    items: Option<Prepared>,
    /// So many at most, of all items together.
    bytes: usize,
    batch: bool,
    push: F,
}

impl<T, F: FnMut(&mut Prepared, T)> Sink<T> for Gathering<F> {
    fn batch(&mut self, items: usize) {
        self.batch = true;
        self.items = Some(Prepared::with_capacity(items, self.bytes));
    }

    #[inline]
    fn take(&mut self, item: T) {
        let bytes = self.bytes;
        let one = || Prepared::with_capacity(1, bytes);
        (self.push)(self.items.get_or_insert_with(one), item);
    }
}

/// A text, and the cells of its tweak as a holder takes them: lp(name) + lp(cell) for each.
fn push_text(items: &mut Prepared, text: &str, tweak: Option<&Tweak<'_>>) {
    let put = |part: &str, out: &mut Vec<u8>| {
        put_lp(out, part.as_bytes()).map_err(|_| Code::TweakInvalid)
    };
    items.push(
        |out| {
            out.extend_from_slice(text.as_bytes());
            Ok(())
        },
        |out| {
            let start = out.len();
            for (name, cell) in tweak.into_iter().flat_map(Tweak::iter) {
                put(name, out)?;
                put(cell, out)?;
            }
            if out.len() - start > MAX_TWEAK {
                Err(Code::TweakInvalid)
            } else {
                Ok(())
            }
        },
    );
}

/// Decodes the binary fields of an item straight to where they are worked on.
#[inline]
fn push_bytes(items: &mut Prepared, payload: Option<&Binary<'_>>, aad: Option<&Binary<'_>>) {
    items.push(
        |out| decode(payload, out),
        |out| {
            let start = out.len();
            decode(aad, out)?;
            if out.len() - start > MAX_AAD {
                Err(Code::AadTooLarge)
            } else {
                Ok(())
            }
        },
    );
}

pub(crate) fn decode(field: Option<&Binary<'_>>, out: &mut Vec<u8>) -> Result<(), Code> {
    match field {
        Some(field) => field.decode_into(out).map_err(|_| Code::Base64Invalid),
        None => Ok(()),
    }
}

/// Writes the answer of a request under a context.
///
/// # Errors
/// The code of a single item that failed: it refuses the request.
pub(crate) fn answer<'r>(
    codec: Codec,
    (operation, form): (DataOperation, &Form),
    results: impl ExactSizeIterator<Item = ReplyItem<'r>>,
    (byte_len, not_after): (usize, WallTime),
) -> Result<Vec<u8>, Code> {
    let done = |index: usize, item: &ReplyItem<'r>| match item.code {
        Code::Ok => tell(operation, form, (index, not_after), item),
        code => Err(code),
    };
    if !form.batch {
        let mut results = results;
        let item = results.next().ok_or(Code::Internal)?;
        return done(0, &item).map(|done| write::one(codec, &done));
    }
    let count = results.len();
    let room = codec.length_of(byte_len) + count * ITEM_ROOM;
    let mut batch = write::Batch::new(codec, count, room);
    for (index, item) in results.enumerate() {
        batch.push(done(index, &item));
    }
    Ok(batch.finish())
}

fn tell<'r>(
    operation: DataOperation,
    form: &Form,
    (index, not_after): (usize, WallTime),
    item: &ReplyItem<'r>,
) -> Result<Done<'r>, Code> {
    let (payload, version) = (item.payload, item.version);
    // What formats make of UTF-8 is UTF-8.
    let text = || std::str::from_utf8(payload).map_err(|_| Code::Internal);
    Ok(match operation {
        DataOperation::Encrypt | DataOperation::DeterministicEncrypt | DataOperation::Rewrap => {
            Done::Sealed {
                ciphertext: payload,
                version,
            }
        }
        DataOperation::Decrypt | DataOperation::DeterministicDecrypt => Done::Opened {
            plaintext: payload,
            version,
        },
        DataOperation::Datakey => {
            let (id, key, ciphertext) = data_key(payload);
            let plaintext = form
                .plain
                .get(index)
                .is_none_or(|plain| *plain)
                .then_some(key);
            Done::Datakey {
                id,
                plaintext,
                ciphertext,
                version,
                not_after,
            }
        }
        DataOperation::DatakeyOpen => {
            let (id, plaintext, _) = data_key(payload);
            Done::DatakeyOpened {
                id,
                plaintext,
                version,
                not_after,
            }
        }
        DataOperation::Tokenize => Done::Tokenized {
            token: text()?,
            version,
        },
        DataOperation::Detokenize => Done::Detokenized {
            value: text()?,
            version,
        },
        DataOperation::Mask => Done::Masked {
            masked: text()?,
            version,
        },
        _ => return uses::tell(operation, payload, version),
    })
}

/// id 16 + secret 32 (design 7.9), then what follows.
pub(crate) fn data_key(payload: &[u8]) -> (DataKeyId, &[u8], &[u8]) {
    let (id, rest) = payload.split_first_chunk::<16>().unwrap_or((&[0; 16], &[]));
    let (key, rest) = rest.split_at_checked(32).unwrap_or((rest, &[]));
    (DataKeyId::from_bytes(*id), key, rest)
}

/// An answer that refuses a whole request.
pub(crate) fn refuse(
    codec: Codec,
    refusal: &Refusal,
    limits: &Limits,
    request: RequestId,
) -> Response<Reply> {
    let body = refusal.body(codec, limits, request);
    let mut response = reply(refusal.status(), content_type(codec), body);
    if let Some(seconds) = refusal.retry_after() {
        response
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// An answer to a method that the path does not take.
pub(crate) fn wrong_method(
    codec: Codec,
    allow: &'static str,
    limits: &Limits,
    request: RequestId,
) -> Response<Reply> {
    let refusal = Refusal::new(Code::MethodNotAllowed);
    let mut response = refuse(codec, &refusal, limits, request);
    response
        .headers_mut()
        .insert(ALLOW, HeaderValue::from_static(allow));
    response
}

/// A good answer in JSON.
pub(crate) fn good(body: impl Into<Bytes>) -> Response<Reply> {
    json(http::StatusCode::OK, body)
}

/// A good answer in the form that was asked for.
pub(crate) fn good_in(codec: Codec, body: impl Into<Bytes>) -> Response<Reply> {
    reply(http::StatusCode::OK, content_type(codec), body)
}

const fn content_type(codec: Codec) -> HeaderValue {
    HeaderValue::from_static(codec.media_type())
}

/// What field names and a version take in an item of a batch.
const ITEM_ROOM: usize = 64;
