//! Answers, as a client reads them. The server writes the hot ones by [`mod@crate::write`].

use std::fmt;

use keywright_types::{Code, ContextId, DataKeyId, KeyVersion, Name, Purpose, RequestId, State};
use schemars::JsonSchema;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::{Binary, Text};

use crate::keyed::{Key, PutBack};
pub use crate::uses::{
    AgreeAnswer, KeyExportAnswer, MacAnswer, PublicKeyAnswer, SignAnswer, VerifyAnswer, XpubAnswer,
};

/// The answer of `encrypt` and `rewrap`.
#[derive(Debug, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SealAnswer<'a> {
    /// The envelope.
    #[serde(borrow)]
    pub ciphertext: Binary<'a>,
    /// The version that sealed it.
    #[schemars(with = "u32")]
    pub key_version: KeyVersion,
}

/// The answer of `decrypt`.
#[derive(Debug, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct OpenAnswer<'a> {
    /// The bytes that were sealed.
    #[serde(borrow)]
    pub plaintext: Binary<'a>,
    /// The version that opened them.
    #[schemars(with = "u32")]
    pub key_version: KeyVersion,
}

/// The answer of `datakey`.
#[derive(Debug, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct DatakeyAnswer<'a> {
    /// The id of the data key.
    #[schemars(with = "Id")]
    pub id: DataKeyId,
    /// The key itself, 32 bytes, unless `plain` was false.
    #[serde(borrow, default)]
    pub plaintext: Option<Binary<'a>>,
    /// The wrapped key; `datakey/open` opens it.
    #[serde(borrow)]
    pub ciphertext: Binary<'a>,
    /// The version that wrapped it.
    #[schemars(with = "u32")]
    pub key_version: KeyVersion,
    /// When to take a new one (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub not_after: String,
}

/// The answer of `datakey/open`.
#[derive(Debug, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct DatakeyOpenAnswer<'a> {
    /// The id of the data key.
    #[schemars(with = "Id")]
    pub id: DataKeyId,
    /// The key itself, 32 bytes.
    #[serde(borrow)]
    pub plaintext: Binary<'a>,
    /// The version that had wrapped it.
    #[schemars(with = "u32")]
    pub key_version: KeyVersion,
    /// When to ask again (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub not_after: String,
}

/// The answer of `random`.
#[derive(Debug, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RandomAnswer<'a> {
    /// The bytes.
    #[serde(borrow)]
    pub random: Binary<'a>,
}

/// The answer of `tokenize`.
#[derive(Debug, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TokenAnswer<'a> {
    /// The token: a value of the same format.
    #[serde(borrow)]
    pub token: Text<'a>,
    /// The version that made it. Keep it beside the token: `detokenize` must be told.
    #[schemars(with = "u32")]
    pub key_version: KeyVersion,
}

/// The answer of `detokenize`.
#[derive(Debug, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ValueAnswer<'a> {
    /// The value that the token was made of, if version and tweak were those it was made with.
    #[serde(borrow)]
    pub value: Text<'a>,
    /// The version that was named.
    #[schemars(with = "u32")]
    pub key_version: KeyVersion,
}

/// The answer of `mask`.
#[derive(Debug, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct MaskAnswer<'a> {
    /// What the context's mask leaves of the value.
    #[serde(borrow)]
    pub masked: Text<'a>,
    /// The version that was named.
    #[schemars(with = "u32")]
    pub key_version: KeyVersion,
}

/// The answer to a batch: the result of each item, in the order of the request.
#[derive(Debug, Deserialize)]
#[serde(bound(deserialize = "T: Deserialize<'de>"))]
#[non_exhaustive]
pub struct BatchAnswer<T> {
    /// One result per item.
    pub items: Vec<ItemResult<T>>,
    /// How many of them are errors.
    pub failed: u32,
}

/// The result of one item of a batch.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "an item is done or it failed")]
pub enum ItemResult<T> {
    /// What was asked for.
    Done(T),
    /// Why not.
    Failed(ErrorBody),
}

impl<T> ItemResult<T> {
    /// The same as a `Result`.
    ///
    /// # Errors
    /// The error of this item.
    pub fn into_result(self) -> Result<T, ErrorBody> {
        match self {
            Self::Done(item) => Ok(item),
            Self::Failed(error) => Err(error),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ItemResult<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = ItemResult<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an item or an error")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let first = map.next_key::<Key<'de>>()?;
                if first.as_ref().is_none_or(|key| key.0 != "error") {
                    return PutBack::read(first, map).map(ItemResult::Done);
                }
                let error = map.next_value()?;
                while map
                    .next_entry::<de::IgnoredAny, de::IgnoredAny>()?
                    .is_some()
                {}
                Ok(ItemResult::Failed(error))
            }
        }

        deserializer.deserialize_map(Either(std::marker::PhantomData))
    }
}

/// The answer to a request that was refused as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ErrorAnswer {
    /// The error.
    pub error: ErrorBody,
}

/// An error: of an item, or of the whole request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ErrorBody {
    /// The stable code. Text, because a newer server may know more of them.
    pub code: String,
    /// What is wrong, which limit, what to do.
    pub message: String,
    /// The id under which the audit log has the request; only where all of it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Id>")]
    pub request: Option<RequestId>,
}

impl ErrorBody {
    /// The code, if this version knows it.
    #[must_use]
    pub fn code(&self) -> Option<Code> {
        self.code.parse().ok()
    }
}

/// The answer of `health`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct HealthAnswer {
    /// Whether requests can be answered.
    pub status: Readiness,
    /// Whether the key holder sealed and opened just now.
    pub holder: Probe,
    /// Versions of which the token has another key, none, or one that may do more than it was made for: they answer
    /// 503, and everything else goes on. If no key that is to lie in the token fits, the node is degraded.
    #[serde(default)]
    pub unfit_keys: u64,
    /// Whether the audit log took a record just now.
    pub audit: Probe,
    /// Whether the store is read, and took the last write.
    pub store: Probe,
    /// Whether the server's certificate and the clients' revocation lists are in date.
    pub certificates: Probe,
    /// Whether the clock is believed.
    pub clock: ClockWord,
    /// Whether keys are kept out of swap (design 7.24).
    pub memory: Memory,
    /// The epoch of the state in use.
    pub epoch: u64,
}

/// Whether requests can be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "the two words of the JSON")]
pub enum Readiness {
    /// Not all of them; the status is 503.
    Degraded,
    /// Yes.
    Ready,
}

/// How a probe ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "the two words of the JSON")]
pub enum Probe {
    /// It failed, or did not answer in time.
    Failed,
    /// It worked.
    Ok,
}

/// Whether the clock is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "the two words of the JSON")]
pub enum ClockWord {
    /// It went as clocks go.
    Sure,
    /// It jumped, or nobody saw that it did not: nothing is destroyed until an operator confirms it.
    Uncertain,
}

/// Whether memory is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::exhaustive_enums, reason = "the two words of the JSON")]
pub enum Memory {
    /// All of the process is.
    Locked,
    /// The limit of the system forbade it.
    Unlocked,
}

/// The answer of `contexts`: those on which the caller holds some right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct ContextsAnswer {
    /// In the order of their names.
    pub contexts: Vec<ContextEntry>,
}

/// One context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct ContextEntry {
    /// The name.
    #[schemars(with = "String")]
    pub name: Name,
    /// The id, which never changes.
    #[schemars(with = "Id")]
    pub id: ContextId,
    /// What its key is for.
    #[schemars(with = "String")]
    pub purpose: Purpose,
    /// The format of its values, where its key makes tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<ContextFormat>,
    /// The version that seals, if there is one.
    #[schemars(with = "Option<u32>")]
    pub active_version: Option<KeyVersion>,
    /// All versions, the oldest first.
    pub versions: Vec<VersionEntry>,
}

/// The format of a context whose key makes tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct ContextFormat {
    /// The format, in its canonical text.
    pub format: String,
    /// What the tweak is made of; the columns in it are what an item's `tweak` must have.
    pub tweak: String,
    /// What `mask` shows, if it shows anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<String>,
}

/// One version of a context's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct VersionEntry {
    /// Its number.
    #[schemars(with = "u32")]
    pub version: KeyVersion,
    /// Where in its life it is.
    #[schemars(with = "String")]
    pub state: State,
}

/// The schema of an id.
#[derive(JsonSchema)]
#[schemars(extend("pattern" = "^[0-9a-f]{32}$"))]
#[schemars(description = "16 bytes as lower-case hexadecimal.")]
#[expect(dead_code, reason = "stands for an id in schemas only")]
pub(crate) struct Id(String);
