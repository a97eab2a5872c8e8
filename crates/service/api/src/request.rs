//! Bodies of requests, in JSON or CBOR: one item, or `items` with a list of them, never both.
//!
//! ```
//! use keywright_api::Limits;
//! use keywright_api::request::{Body, SealItem, parse};
//!
//! let body = br#"{"items":[{"plaintext":"SGVsbG8="},{"plaintext":"","aad":"cm93IDc="}]}"#;
//! let request: Body<SealItem<'_>> = parse(body, &Limits::DEFAULT).unwrap();
//! assert_eq!(request.items().len(), 2);
//! assert_eq!(request.items()[0].plaintext.decode().unwrap(), b"Hello");
//! ```

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use keywright_types::{Code, KeyVersion};
use schemars::JsonSchema;
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::error::Refusal;
use crate::keyed::{Key, PutBack};
use crate::{Binary, Codec, Limits, Text, Tweak};

pub use crate::uses::{
    AgreeItem, MacItem, MacVerifyItem, PathItem, PublicKeyItem, SignItem, SignatureForm, VerifyItem,
};

/// One item, answered by itself; or a batch, answered item by item.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "the two forms of every request")]
pub enum Body<T> {
    /// The fields of one item.
    One(T),
    /// `items`: at least one.
    Many(Vec<T>),
}

impl<T> Body<T> {
    /// The items in order, also if there is one.
    #[must_use]
    pub const fn items(&self) -> &[T] {
        match self {
            Self::One(item) => std::slice::from_ref(item),
            Self::Many(items) => items.as_slice(),
        }
    }

    /// Whether the answer is a batch.
    #[must_use]
    pub const fn is_batch(&self) -> bool {
        matches!(self, Self::Many(_))
    }
}

/// Where the items of a body go as they are read, one after the other. What a body brought that is refused in the end is
/// to be thrown away.
pub trait Sink<T> {
    /// Before the first item: the body is a batch. `items` is what it announces, at most the limit, and zero where its form
    /// does not say; nobody has seen them yet. Without this the body is one item.
    fn batch(&mut self, items: usize);

    /// The next item.
    fn take(&mut self, item: T);
}

/// The items of a body, kept.
struct Kept<T>(Option<Body<T>>);

impl<T> Sink<T> for Kept<T> {
    fn batch(&mut self, items: usize) {
        self.0 = Some(Body::Many(Vec::with_capacity(items)));
    }

    fn take(&mut self, item: T) {
        match &mut self.0 {
            Some(Body::Many(items)) => items.push(item),
            one => *one = Some(Body::One(item)),
        }
    }
}

/// An item of `encrypt`.
#[derive(Debug, Serialize, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct SealItem<'a> {
    /// The bytes to seal.
    #[serde(borrow)]
    pub plaintext: Binary<'a>,
    /// Additional data that must be given again to open; at most 16 KiB, absent means empty.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub aad: Option<Binary<'a>>,
}

/// An item of `rewrap`.
#[derive(Debug, Serialize, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct RewrapItem<'a> {
    /// What `encrypt`, `rewrap` or `datakey` answered, or what the seed service sealed.
    #[serde(borrow)]
    pub ciphertext: Binary<'a>,
    /// The additional data given when it was sealed; absent means empty.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub aad: Option<Binary<'a>>,
    /// The label of the key version that sealed it. It must stand beside what the seed service sealed, and alone says
    /// that it did; the label of an envelope must be its own.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<Text<'a>>,
}

/// An item of `decrypt` and `datakey/open`.
#[derive(Debug, Serialize, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct OpenItem<'a> {
    /// What `encrypt`, `rewrap` or `datakey` answered.
    #[serde(borrow)]
    pub ciphertext: Binary<'a>,
    /// The additional data given when it was sealed; absent means empty.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub aad: Option<Binary<'a>>,
}

/// An item of `datakey`.
#[derive(Debug, Serialize, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct DatakeyItem<'a> {
    /// Additional data that must be given again to open; at most 16 KiB, absent means empty.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub aad: Option<Binary<'a>>,
    /// Whether the answer holds the plain key beside the wrapped one.
    #[serde(default = "yes")]
    pub plain: bool,
}

const fn yes() -> bool {
    true
}

/// An item of `random`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct RandomItem {
    /// How many bytes: 1 to 65,536, and at most 12 MiB over all items.
    #[schemars(range(min = 1, max = 65_536))]
    pub bytes: u64,
}

/// An item of `tokenize`.
#[derive(Debug, Serialize, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct ValueItem<'a> {
    /// A value of the context's format.
    #[serde(borrow)]
    pub value: Text<'a>,
    /// The cells of other columns that the context's tweak needs, each under its column's name; at most 16 KiB.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tweak: Option<Tweak<'a>>,
}

/// An item of `detokenize` and `mask`.
#[derive(Debug, Serialize, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct TokenItem<'a> {
    /// What `tokenize` answered.
    #[serde(borrow)]
    pub token: Text<'a>,
    /// The version that `tokenize` answered. Another version gives another value, and no error.
    #[schemars(with = "u32")]
    pub key_version: KeyVersion,
    /// The cells of other columns, as they were given to `tokenize`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub tweak: Option<Tweak<'a>>,
}

/// What a route takes as an item.
pub trait Item<'a>: Deserialize<'a> + sealed::Item {
    /// What a body has to be, for the sentence that refuses another.
    const EXPECTS: &'static str;
}

mod sealed {
    /// The items of this module, no others.
    #[expect(unnameable_types, reason = "which is what seals the trait")]
    pub trait Item {}
    impl Item for super::SealItem<'_> {}
    impl Item for super::OpenItem<'_> {}
    impl Item for super::RewrapItem<'_> {}
    impl Item for super::DatakeyItem<'_> {}
    impl Item for super::RandomItem {}
    impl Item for super::ValueItem<'_> {}
    impl Item for super::TokenItem<'_> {}
    impl Item for super::SignItem<'_> {}
    impl Item for super::VerifyItem<'_> {}
    impl Item for super::AgreeItem<'_> {}
    impl Item for super::PublicKeyItem<'_> {}
    impl Item for super::PathItem<'_> {}
    impl Item for super::MacItem<'_> {}
    impl Item for super::MacVerifyItem<'_> {}
}

impl<'a> Item<'a> for SealItem<'a> {
    const EXPECTS: &'static str =
        "`plaintext` and optional `aad`, or `items` with a list of such objects";
}

impl<'a> Item<'a> for OpenItem<'a> {
    const EXPECTS: &'static str =
        "`ciphertext` and optional `aad`, or `items` with a list of such objects";
}

impl<'a> Item<'a> for RewrapItem<'a> {
    const EXPECTS: &'static str =
        "`ciphertext` and optional `aad` and `key_id`, or `items` with a list of such objects";
}

impl<'a> Item<'a> for DatakeyItem<'a> {
    const EXPECTS: &'static str =
        "optional `aad` and `plain`, or `items` with a list of such objects";
}

impl Item<'_> for RandomItem {
    const EXPECTS: &'static str = "`bytes`, or `items` with a list of such objects";
}

impl<'a> Item<'a> for ValueItem<'a> {
    const EXPECTS: &'static str =
        "`value` and optional `tweak`, or `items` with a list of such objects";
}

impl<'a> Item<'a> for TokenItem<'a> {
    const EXPECTS: &'static str = "`token`, the `key_version` that tokenize answered with it, and optional `tweak`, or `items` with a list of such objects";
}

impl<'a> Item<'a> for SignItem<'a> {
    const EXPECTS: &'static str = "`message` or `digest`, and optional `path` and `form` (ecdsa, ecdsa-recoverable, ed25519, schnorr), or `items` with a list of such objects";
}

impl<'a> Item<'a> for VerifyItem<'a> {
    const EXPECTS: &'static str = "`message` or `digest`, `signature`, the `key_version` that sign answered with it, and optional `path` and `form`, or `items` with a list of such objects";
}

impl<'a> Item<'a> for AgreeItem<'a> {
    const EXPECTS: &'static str = "`public_key` and optional `path` and `key_version`, or `items` with a list of such objects";
}

impl<'a> Item<'a> for PublicKeyItem<'a> {
    const EXPECTS: &'static str =
        "optional `path` and `key_version`, or `items` with a list of such objects";
}

impl<'a> Item<'a> for PathItem<'a> {
    const EXPECTS: &'static str = "`path`, or `items` with a list of such objects";
}

impl<'a> Item<'a> for MacItem<'a> {
    const EXPECTS: &'static str = "`message`, or `items` with a list of such objects";
}

impl<'a> Item<'a> for MacVerifyItem<'a> {
    const EXPECTS: &'static str = "`message`, `mac` and the `key_version` that mac answered with it, or `items` with a list of such objects";
}

/// Reads a body in JSON; [`crate::Codec::read`] reads either form. Nothing of the body is ever part of the refusal.
///
/// # Errors
/// A [`Refusal`] with `body_too_large`, `too_many_items` or `request_malformed`. Whether binary fields
/// are base64 shows only when they are decoded, item by item.
pub fn parse<'a, T: Item<'a>>(body: &'a [u8], limits: &Limits) -> Result<Body<T>, Refusal> {
    kept(Codec::Json, body, limits)
}

/// Reads a body in either form, and keeps its items.
pub(crate) fn kept<'a, T: Item<'a>>(
    codec: Codec,
    body: &'a [u8],
    limits: &Limits,
) -> Result<Body<T>, Refusal> {
    let mut kept = Kept(None);
    codec.read_into(body, limits, &mut kept)?;
    // A body without an item is refused.
    kept.0.ok_or_else(|| Refusal::new(Code::Internal))
}

/// [`parse`], into a sink.
pub(crate) fn parse_into<'a, T: Item<'a>>(
    body: &'a [u8],
    limits: &Limits,
    sink: &mut impl Sink<T>,
) -> Result<(), Refusal> {
    let text = read_text(body, limits, T::EXPECTS)?;
    let too_many = Cell::new(false);
    let form = Form::new(limits.items, &too_many, sink);
    let mut reader = serde_json::Deserializer::from_str(text);
    form.deserialize(&mut reader)
        .and_then(|()| reader.end())
        .map_err(|error| match too_many.get() {
            true => Refusal::new(Code::TooManyItems),
            false => Refusal::malformed(T::EXPECTS, Some((error.line(), error.column()))),
        })
}

/// The text that a body is.
pub(crate) fn read_text<'a>(
    body: &'a [u8],
    limits: &Limits,
    expects: &'static str,
) -> Result<&'a str, Refusal> {
    if body.len() > limits.body_bytes {
        return Err(Refusal::new(Code::BodyTooLarge));
    }
    // One pass over the whole is cheaper than serde's check of each string.
    std::str::from_utf8(body).map_err(|error| {
        let good = body.get(..error.valid_up_to()).unwrap_or_default();
        Refusal::malformed(expects, Some(position(good)))
    })
}

/// Line and column just behind these bytes, counted as serde counts them.
fn position(before: &[u8]) -> (usize, usize) {
    let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
    let column = before
        .iter()
        .rev()
        .take_while(|&&byte| byte != b'\n')
        .count()
        + 1;
    (line, column)
}

// === reading ===

/// Reads a body into a sink.
pub(crate) struct Form<'c, T, S> {
    limit: usize,
    too_many: &'c Cell<bool>,
    sink: &'c mut S,
    item: PhantomData<T>,
}

impl<'c, T, S: Sink<T>> Form<'c, T, S> {
    /// One item, or at most so many; what is set tells a list that is too long from one that is wrong.
    pub(crate) const fn new(limit: usize, too_many: &'c Cell<bool>, sink: &'c mut S) -> Self {
        Self {
            limit,
            too_many,
            sink,
            item: PhantomData,
        }
    }
}

impl<'de, T: Deserialize<'de>, S: Sink<T>> DeserializeSeed<'de> for Form<'_, T, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, T: Deserialize<'de>, S: Sink<T>> Visitor<'de> for Form<'_, T, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let first = map.next_key::<Key<'de>>()?;
        if first.as_ref().is_none_or(|key| key.0 != "items") {
            self.sink.take(PutBack::read(first, map)?);
            return Ok(());
        }
        map.next_value_seed(List(self))?;
        match map.next_key::<Key<'de>>()? {
            Some(_) => Err(de::Error::custom("`items` stands alone")),
            None => Ok(()),
        }
    }
}

struct List<'c, T, S>(Form<'c, T, S>);

impl<'de, T: Deserialize<'de>, S: Sink<T>> DeserializeSeed<'de> for List<'_, T, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>, S: Sink<T>> Visitor<'de> for List<'_, T, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of items")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Form {
            limit,
            too_many,
            sink,
            ..
        } = self.0;
        sink.batch(list.size_hint().unwrap_or_default().min(limit));
        let mut left = limit;
        let mut next = Next {
            left: &mut left,
            too_many,
            sink,
            item: PhantomData,
        };
        while list.next_element_seed(&mut next)?.is_some() {}
        match left == limit {
            true => Err(de::Error::custom("no items")),
            false => Ok(()),
        }
    }
}

/// One item of a list, handed on where it is read: an item on its way through results is moved at each of them.
struct Next<'c, T, S> {
    /// Items that may still come.
    left: &'c mut usize,
    too_many: &'c Cell<bool>,
    sink: &'c mut S,
    item: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>, S: Sink<T>> DeserializeSeed<'de> for &mut Next<'_, T, S> {
    type Value = ();

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let item = T::deserialize(deserializer)?;
        if *self.left == 0 {
            self.too_many.set(true);
            return Err(de::Error::custom("too many items"));
        }
        *self.left -= 1;
        self.sink.take(item);
        Ok(())
    }
}

// === writing ===

impl<T: Serialize> Serialize for Body<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(item) => item.serialize(serializer),
            Self::Many(items) => {
                let mut object = serializer.serialize_struct("Body", 1)?;
                object.serialize_field("items", items)?;
                object.end()
            }
        }
    }
}
