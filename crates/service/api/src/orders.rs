//! Bodies and answers of routes by which keys live: orders about versions, approvals, what versions were used for.

use keywright_types::{ApprovalId, KeyVersion, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Limits;
use crate::answer::{Id, VersionEntry};
use crate::error::Refusal;
use crate::request::read_text;

/// The body of a route that gives one order.
pub trait OrderBody<'a>: Deserialize<'a> {
    /// What the route takes, for the sentence of a refusal.
    const EXPECTS: &'static str;
}

/// Reads the body of an order. Nothing of it is ever part of the refusal.
///
/// # Errors
/// A [`Refusal`] with `body_too_large` or `request_malformed`.
pub fn parse_order<'a, T: OrderBody<'a>>(body: &'a [u8], limits: &Limits) -> Result<T, Refusal> {
    let text = read_text(body, limits, T::EXPECTS)?;
    // A list would be read as the fields in their order.
    if !text.trim_ascii_start().starts_with('{') {
        return Err(Refusal::malformed(T::EXPECTS, Some((1, 1))));
    }
    serde_json::from_str(text)
        .map_err(|error| Refusal::malformed(T::EXPECTS, Some((error.line(), error.column()))))
}

/// An order about versions of a key: one version, or all that it concerns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct KeyOrder {
    /// The version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<u32>")]
    pub version: Option<KeyVersion>,
    /// In its place: every version that the order concerns, the context as a whole.
    #[serde(default, skip_serializing_if = "is_false")]
    pub all: bool,
    /// For `key/destroy`: although it was used or asked for lately.
    #[serde(default, skip_serializing_if = "is_false")]
    pub despite_use: bool,
}

/// The order of `key/rotate`, which has no parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct RotateOrder {}

/// What can be approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "the words of the JSON")]
pub enum Approvable {
    /// `key/destroy` with `despite_use`.
    Destroy,
    /// `key/schedule-destroy`.
    ScheduleDestroy,
}

/// The order of `key/approve`: which order is approved, in its own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct ApproveOrder {
    /// What the other order is.
    pub order: Approvable,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<u32>")]
    pub version: Option<KeyVersion>,
    /// Whether it is for the context as a whole.
    #[serde(default, skip_serializing_if = "is_false")]
    pub all: bool,
}

impl OrderBody<'_> for KeyOrder {
    const EXPECTS: &'static str =
        "`version` or `all`, and for a destruction optionally `despite_use`";
}

impl OrderBody<'_> for RotateOrder {
    const EXPECTS: &'static str = "an empty object";
}

impl OrderBody<'_> for ApproveOrder {
    const EXPECTS: &'static str =
        "`order`, which is `schedule-destroy` or `destroy`, and `version` or `all`";
}

/// The answer to an order about versions: those whose state changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct KeyOrderAnswer {
    /// The versions, the oldest first, and what they are now.
    pub versions: Vec<VersionEntry>,
}

/// The answer of `key/rotate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct RotateAnswer {
    /// The version that seals from now on.
    #[schemars(with = "u32")]
    pub key_version: KeyVersion,
}

/// The answer of `key/approve`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct ApproveAnswer {
    /// The approval's id, which is in the audit log.
    #[schemars(with = "Id")]
    pub approval: ApprovalId,
    /// Until when it counts (RFC 3339); it is void earlier if the key changes.
    #[schemars(extend("format" = "date-time"))]
    pub not_after: String,
}

/// The answer of `key/versions`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct KeyVersionsAnswer {
    /// All versions, the oldest first.
    pub versions: Vec<VersionUses>,
    /// The least version that opens.
    #[schemars(with = "u32")]
    pub min_open: KeyVersion,
}

/// One version, and what it was used for. The counters show use; they do not say how much ciphertext exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct VersionUses {
    /// Its number.
    #[schemars(with = "u32")]
    pub version: KeyVersion,
    /// Where in its life it is.
    #[schemars(with = "String")]
    pub state: State,
    /// What it sealed, signed, tokenised or authenticated.
    pub seals: u64,
    /// What it opened, verified, made of tokens, or agreed.
    pub opens: u64,
    /// What was moved from it to a newer version.
    pub rewrapped: u64,
    /// What was refused because of its state.
    pub refused: u64,
    /// Its last use (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub last_use: Option<String>,
    /// When it last opened, verified, made of tokens, or agreed (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub last_open: Option<String>,
    /// From when on it may be destroyed (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub due: Option<String>,
}

const fn is_false(value: &bool) -> bool {
    !*value
}
