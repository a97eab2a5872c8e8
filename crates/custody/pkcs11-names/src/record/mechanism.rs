//! The mechanism of a call, with its public parameters.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::owned;
use crate::{MechanismType, Named};

/// The mechanism of a call, with its public parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "AnyMechanism<'a>", bound(deserialize = "'de: 'a"))]
#[non_exhaustive]
pub struct MechanismSummary<'a> {
    /// Its number. Absent in records of other tools that wrote no known name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<MechanismType>,
    /// Its name, or its number in hexadecimal.
    pub name: Cow<'a, str>,
    /// Parameters that tell no secret, by name, as `iv_len` or `hash`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<Cow<'a, str>, ParameterValue<'a>>,
}

impl MechanismSummary<'_> {
    /// Without parameters.
    #[must_use]
    pub fn new(value: MechanismType) -> Self {
        Self {
            value: Some(value),
            name: value
                .name()
                .map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed),
            params: BTreeMap::new(),
        }
    }

    pub(super) fn into_owned(self) -> MechanismSummary<'static> {
        MechanismSummary {
            value: self.value,
            name: owned(self.name),
            params: self
                .params
                .into_iter()
                .map(|(name, value)| (owned(name), value.into_owned()))
                .collect(),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum AnyMechanism<'a> {
    Ours {
        value: Option<MechanismType>,
        #[serde(borrow)]
        name: Cow<'a, str>,
        #[serde(default, borrow)]
        params: BTreeMap<Cow<'a, str>, ParameterValue<'a>>,
    },
    Text(#[serde(borrow)] Cow<'a, str>),
}

impl<'a> From<AnyMechanism<'a>> for MechanismSummary<'a> {
    fn from(any: AnyMechanism<'a>) -> Self {
        match any {
            AnyMechanism::Ours {
                value,
                name,
                params,
            } => Self {
                value,
                name,
                params,
            },
            AnyMechanism::Text(name) => Self {
                value: name.parse().ok(),
                name,
                params: BTreeMap::new(),
            },
        }
    }
}

/// A value that may be seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[expect(clippy::exhaustive_enums, reason = "the shapes that JSON gives them")]
pub enum ParameterValue<'a> {
    /// Yes or no.
    Flag(bool),
    /// A number.
    Number(u64),
    /// A name, an identifier in hexadecimal, or the tag of something that is not shown.
    Text(#[serde(borrow)] Cow<'a, str>),
}

impl ParameterValue<'_> {
    pub(super) fn into_owned(self) -> ParameterValue<'static> {
        match self {
            Self::Flag(flag) => ParameterValue::Flag(flag),
            Self::Number(number) => ParameterValue::Number(number),
            Self::Text(text) => ParameterValue::Text(owned(text)),
        }
    }
}
