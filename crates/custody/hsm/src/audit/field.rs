//! What conditions can ask about.

use std::fmt;

use keywright_pkcs11_names::AttributeType;

/// What kind of value a field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the kinds that conditions compare")]
pub enum Kind {
    /// True or false.
    Flag,
    /// Texts.
    List,
    /// A whole number.
    Number,
    /// A text.
    Text,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Flag => "flag (true or false)",
            Self::List => "list",
            Self::Number => "number",
            Self::Text => "text in double quotes",
        })
    }
}

/// A name in conditions.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// The name.
    pub name: &'static str,
    /// What kind of value.
    pub kind: Kind,
    /// What it says.
    pub about: &'static str,
    /// The attribute that it is, where it is one.
    pub attribute: Option<AttributeType>,
    /// Whether private and secret keys always have it, so that its absence is no answer.
    pub required: bool,
}

const fn flag(name: &'static str, attribute: AttributeType, about: &'static str) -> Field {
    Field {
        name,
        kind: Kind::Flag,
        about,
        attribute: Some(attribute),
        required: false,
    }
}

/// A flag that every private and secret key has (PKCS#11 3.2, 4.9 and 4.10).
const fn must(name: &'static str, attribute: AttributeType, about: &'static str) -> Field {
    Field {
        required: true,
        ..flag(name, attribute, about)
    }
}

const fn known(name: &'static str, kind: Kind, about: &'static str) -> Field {
    Field {
        name,
        kind,
        about,
        attribute: None,
        required: false,
    }
}

/// Every name.
pub static FIELDS: &[Field] = &[
    known(
        "class",
        Kind::Text,
        "private, public, secret, certificate, data, token (what the token says of itself), or the name of another class",
    ),
    known(
        "key_type",
        Kind::Text,
        "rsa, ec, ec_edwards, aes, generic_secret, des3, ...: the CKK_ name in small letters",
    ),
    known("label", Kind::Text, "CKA_LABEL"),
    known("id", Kind::Text, "CKA_ID in hexadecimal digits"),
    known(
        "bits",
        Kind::Number,
        "of the modulus, the field of the curve, or the value",
    ),
    known(
        "curve",
        Kind::Text,
        "p256, secp256k1, ed25519, ...; unknown for parameters that have no name here",
    ),
    known("public_exponent", Kind::Number, "of RSA"),
    known(
        "exponent_is_even",
        Kind::Flag,
        "the public exponent of RSA is an even number",
    ),
    known(
        "allowed_mechanisms",
        Kind::List,
        "CKA_ALLOWED_MECHANISMS by name; absent where all are allowed",
    ),
    known(
        "days_since_start",
        Kind::Number,
        "from CKA_START_DATE to today; negative before it",
    ),
    known(
        "days_to_end",
        Kind::Number,
        "from today to CKA_END_DATE, or to the end of a certificate; negative after it",
    ),
    known(
        "label_is_odd",
        Kind::Flag,
        "the label has control characters, is no UTF-8, or is longer than 64 characters",
    ),
    known(
        "has_private",
        Kind::Flag,
        "a private key with the same id or public value is there",
    ),
    known(
        "has_public",
        Kind::Flag,
        "a public key with the same id or public value is there",
    ),
    known(
        "same_id",
        Kind::Number,
        "how many other objects of the class have its id",
    ),
    known(
        "same_label",
        Kind::Number,
        "how many other objects of the class have its label",
    ),
    known(
        "pair_differs",
        Kind::Flag,
        "the other half with the same id has another public value",
    ),
    known(
        "shared_factor",
        Kind::Flag,
        "an RSA modulus with a factor in common with another key's, or equal to it under another id",
    ),
    known(
        "roca",
        Kind::Flag,
        "an RSA modulus of the form of CVE-2017-15361",
    ),
    known(
        "guards_all",
        Kind::Flag,
        "no key that can be taken out lacks CKA_WRAP_WITH_TRUSTED",
    ),
    known(
        "pin_to_be_changed",
        Kind::Flag,
        "token: the user's PIN is to be changed",
    ),
    known(
        "pin_count_low",
        Kind::Flag,
        "token: a wrong user's PIN was given since the last good one",
    ),
    known(
        "pin_final_try",
        Kind::Flag,
        "token: the next wrong user's PIN locks",
    ),
    known("pin_locked", Kind::Flag, "token: the user's PIN is locked"),
    known(
        "pin_initialized",
        Kind::Flag,
        "token: there is a user's PIN",
    ),
    known(
        "so_pin_to_be_changed",
        Kind::Flag,
        "token: the security officer's PIN is to be changed",
    ),
    known(
        "so_pin_count_low",
        Kind::Flag,
        "token: a wrong security officer's PIN was given",
    ),
    known(
        "so_pin_final_try",
        Kind::Flag,
        "token: the next wrong security officer's PIN locks",
    ),
    known(
        "so_pin_locked",
        Kind::Flag,
        "token: the security officer's PIN is locked",
    ),
    known("login_required", Kind::Flag, "token: keys want a login"),
    must(
        "extractable",
        AttributeType::EXTRACTABLE,
        "can be taken out, wrapped",
    ),
    must(
        "sensitive",
        AttributeType::SENSITIVE,
        "its value cannot be read",
    ),
    must(
        "always_sensitive",
        AttributeType::ALWAYS_SENSITIVE,
        "it was so always",
    ),
    must(
        "never_extractable",
        AttributeType::NEVER_EXTRACTABLE,
        "it could never be taken out",
    ),
    must(
        "modifiable",
        AttributeType::MODIFIABLE,
        "attributes may be changed",
    ),
    must(
        "private",
        AttributeType::PRIVATE,
        "is seen after a login only",
    ),
    must("local", AttributeType::LOCAL, "was made in the token"),
    flag("token", AttributeType::TOKEN, "stays when the session ends"),
    flag("sign", AttributeType::SIGN, "signs"),
    flag("verify", AttributeType::VERIFY, "verifies"),
    flag("encrypt", AttributeType::ENCRYPT, "encrypts"),
    flag("decrypt", AttributeType::DECRYPT, "decrypts"),
    flag("wrap", AttributeType::WRAP, "wraps keys"),
    flag("unwrap", AttributeType::UNWRAP, "unwraps keys"),
    flag("derive", AttributeType::DERIVE, "derives"),
    flag(
        "trusted",
        AttributeType::TRUSTED,
        "the security officer trusts it to wrap",
    ),
    flag(
        "wrap_with_trusted",
        AttributeType::WRAP_WITH_TRUSTED,
        "leaves under trusted keys only",
    ),
    flag("copyable", AttributeType::COPYABLE, "may be copied"),
    flag(
        "destroyable",
        AttributeType::DESTROYABLE,
        "may be destroyed",
    ),
    flag(
        "always_authenticate",
        AttributeType::ALWAYS_AUTHENTICATE,
        "wants the PIN for each use",
    ),
];
