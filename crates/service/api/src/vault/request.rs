//! Bodies of requests of Vault's clients, and the texts `vault:v1:...`.
//!
//! Unknown fields are refused, as on native routes. Fields that this service has no use for are known where clients
//! send them of their own accord, and must then say what is done anyway. Numbers and truth values may be texts,
//! because command lines send them so.

use std::fmt;

use keywright_types::{Code, KeyVersion};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};

use super::answer::Refused;
use crate::request::read_text;
use crate::{Binary, Limits, Text};

/// Reads a body. An empty one is an object without fields, and so is `null`, which Vault's own client sends where it has
/// nothing to say. Nothing of the body is ever part of the refusal.
///
/// # Errors
/// [`Refused`] with `body_too_large` or `request_malformed`.
pub fn parse<'a, T: Deserialize<'a>>(body: &'a [u8], limits: &Limits) -> Result<T, Refused> {
    let text = read_text(body, limits, "")?;
    let text = match text.trim_ascii() {
        "" | "null" => "{}",
        text => text,
    };
    // A list would be read as the fields in their order.
    if !text.starts_with('{') {
        return Err(MALFORMED);
    }
    serde_json::from_str(text).map_err(|_| MALFORMED)
}

const MALFORMED: Refused = Refused::because(
    Code::RequestMalformed,
    "the body is not an object with the parameters that this route takes; /v1/openapi.json lists them",
);

// === parts of bodies ===

/// A number, or a text of its decimal digits; an empty text is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a number of the JSON")]
pub struct Number(pub u64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl Visitor<'_> for Either {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number that is not negative")
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Number, E> {
                Ok(Number(number))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
                if text.is_empty() {
                    return Ok(Number(0));
                }
                let digits = text.bytes().all(|byte| byte.is_ascii_digit());
                let number = text.parse().ok().filter(|_| digits);
                number.map(Number).ok_or_else(|| E::custom("no number"))
            }
        }

        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for Number {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["integer", "string"], "minimum": 0, "pattern": "^[0-9]{0,19}$" })
    }
}

/// A truth value; or one of the texts and numbers that Vault takes for one, an empty text for false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a truth value of the JSON")]
pub struct Flag(pub bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl Visitor<'_> for Either {
            type Value = Flag;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true or false")
            }

            fn visit_bool<E: de::Error>(self, flag: bool) -> Result<Flag, E> {
                Ok(Flag(flag))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Flag, E> {
                match text {
                    "1" | "t" | "T" | "true" | "True" | "TRUE" => Ok(Flag(true)),
                    "" | "0" | "f" | "F" | "false" | "False" | "FALSE" => Ok(Flag(false)),
                    _ => Err(E::custom("neither true nor false")),
                }
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Flag, E> {
                match number {
                    0 => Ok(Flag(false)),
                    1 => Ok(Flag(true)),
                    _ => Err(E::custom("neither true nor false")),
                }
            }
        }

        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for Flag {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Flag".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": [
            true, false, 1, 0, "",
            "1", "t", "T", "true", "True", "TRUE",
            "0", "f", "F", "false", "False", "FALSE"
        ] })
    }
}

/// The items of a batch. More than any configuration allows are not read to their end.
#[derive(Debug)]
pub struct List<T>(Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bounded<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Bounded<T> {
            type Value = Vec<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = list.next_element()? {
                    if items.len() >= Limits::DEFAULT.items {
                        return Err(de::Error::custom("too many items"));
                    }
                    items.push(item);
                }
                Ok(items)
            }
        }

        deserializer
            .deserialize_seq(Bounded(std::marker::PhantomData))
            .map(Self)
    }
}

impl<T: JsonSchema> JsonSchema for List<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("{}List", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let item = generator.subschema_for::<T>();
        json_schema!({ "type": "array", "items": item, "minItems": 1, "maxItems": Limits::DEFAULT.items })
    }
}

/// What is asked for: one item, or a batch of them.
#[derive(Debug)]
#[non_exhaustive]
pub struct Asked<T> {
    /// The items; at least one.
    pub items: Vec<T>,
    /// Whether the answer is a batch.
    pub batch: bool,
}

/// A field that says how many bytes or words it has, if it says anything at all.
trait Said {
    /// Whether it says nothing: an empty text is what clients send for a parameter that was not given.
    fn is_silent(&self) -> bool;
}

impl Said for Binary<'_> {
    fn is_silent(&self) -> bool {
        self.text().is_empty()
    }
}

impl Said for Text<'_> {
    fn is_silent(&self) -> bool {
        self.expose().is_empty()
    }
}

impl Said for Number {
    fn is_silent(&self) -> bool {
        self.0 == 0
    }
}

fn silent<T: Said>(field: Option<&T>) -> bool {
    field.is_none_or(Said::is_silent)
}

/// A body of items: the fields of one item, or `batch_input` with a list of such; and fields for all of them.
macro_rules! items {
    ($(
        $(#[$about:meta])* $body:ident $name:literal, $item:ident $item_name:literal {
            each { $($(#[$each_about:meta])* $each:ident: $each_type:ty),* $(,)? }
            all { $($(#[$all_about:meta])* $all:ident: $all_type:ty),* $(,)? }
        }
    )*) => { $(
        $(#[$about])*
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, bound(deserialize = "'de: 'a"))]
        #[schemars(rename = $name)]
        #[non_exhaustive]
        pub struct $body<'a> {
            $($(#[$each_about])* #[serde(default)] pub $each: Option<$each_type>,)*
            $($(#[$all_about])* #[serde(default)] pub $all: Option<$all_type>,)*
            /// Many items in place of one.
            #[serde(default)]
            pub batch_input: Option<List<$item<'a>>>,
            /// The name of the key, which must be that of the path.
            #[serde(default)]
            pub name: Option<Text<'a>>,
        }

        /// An item of a batch.
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, bound(deserialize = "'de: 'a"))]
        #[schemars(rename = $item_name)]
        #[non_exhaustive]
        pub struct $item<'a> {
            $($(#[$each_about])* #[serde(default)] pub $each: Option<$each_type>,)*
            /// A text that the result has too.
            #[serde(default)]
            pub reference: Option<Text<'a>>,
        }

        impl<'a> $body<'a> {
            /// Takes the items out.
            ///
            /// # Errors
            /// [`Refused`] if there are none, or too many, or one beside the batch, or for another key than the path's.
            pub fn take(&mut self, name: &str, limits: &Limits) -> Result<Asked<$item<'a>>, Refused> {
                if self.name.as_ref().is_some_and(|given| given.expose() != name) {
                    return Err(OTHER_NAME);
                }
                let Some(List(items)) = self.batch_input.take() else {
                    let item = $item { $($each: self.$each.take(),)* reference: None };
                    return Ok(Asked { items: vec![item], batch: false });
                };
                let alone = [$(silent(self.$each.as_ref())),*].into_iter().all(|silent| silent);
                match items.len() {
                    _ if !alone => Err(Refused::because(Code::RequestMalformed, "batch_input stands alone")),
                    0 => Err(Refused::because(Code::RequestMalformed, "missing batch input to process")),
                    count if count > limits.items => Err(Refused::new(Code::TooManyItems)),
                    _ => Ok(Asked { items, batch: true }),
                }
            }
        }
    )* };
}

const OTHER_NAME: Refused = Refused::because(
    Code::RequestMalformed,
    "`name` in the body is another than in the path",
);

items! {
    /// The body of `encrypt`.
    EncryptBody "TransitEncrypt", EncryptItem "TransitEncryptItem" {
        each {
            /// The bytes to seal.
            plaintext: Binary<'a>,
            /// Additional data that must be given again to open.
            associated_data: Binary<'a>,
            /// A derivation context that must be given again to open.
            context: Binary<'a>,
            /// 0, or the active version.
            key_version: Number,
            /// Must be empty: the service makes nonces itself.
            nonce: Text<'a>,
        }
        all {
            /// The status if some items of a batch fail and some do not: 400 unless it is 200.
            partial_failure_response_code: Number,
            /// Must be false.
            convergent_encryption: Flag,
            /// Passed over: it is about a key that is made, and none is made here.
            r#type: Text<'a>,
            /// Passed over: it is about RSA keys, and none encrypts here.
            padding_scheme: Text<'a>,
        }
    }
    /// The body of `decrypt`.
    DecryptBody "TransitDecrypt", DecryptItem "TransitDecryptItem" {
        each {
            /// What `encrypt`, `rewrap` or `datakey` answered.
            ciphertext: Text<'a>,
            /// The additional data given when it was sealed.
            associated_data: Binary<'a>,
            /// The derivation context given when it was sealed.
            context: Binary<'a>,
            /// Must be empty.
            nonce: Text<'a>,
        }
        all {
            /// The status if some items of a batch fail and some do not: 400 unless it is 200.
            partial_failure_response_code: Number,
            /// Passed over: it is about RSA keys, and none decrypts here.
            padding_scheme: Text<'a>,
        }
    }
    /// The body of `rewrap`.
    RewrapBody "TransitRewrap", RewrapItem "TransitRewrapItem" {
        each {
            /// What `encrypt`, `rewrap` or `datakey` answered.
            ciphertext: Text<'a>,
            /// The additional data given when it was sealed.
            associated_data: Binary<'a>,
            /// The derivation context given when it was sealed.
            context: Binary<'a>,
            /// 0, or the active version.
            key_version: Number,
            /// Must be empty.
            nonce: Text<'a>,
        }
        all {
            /// Passed over: it is about RSA keys, and none decrypts here.
            decrypt_padding_scheme: Text<'a>,
            /// Passed over: it is about RSA keys, and none encrypts here.
            encrypt_padding_scheme: Text<'a>,
        }
    }
    /// The body of `sign`.
    SignBody "TransitSign", SignItem "TransitSignItem" {
        each {
            /// What is signed: a message, or its digest if `prehashed`.
            input: Binary<'a>,
            /// Must be empty.
            context: Text<'a>,
        }
        all {
            /// 0, or the active version.
            key_version: Number,
            /// The hash function, which must be that of the key; passed over for Ed25519.
            hash_algorithm: Text<'a>,
            /// Another name of `hash_algorithm`.
            algorithm: Text<'a>,
            /// Whether `input` is a digest; passed over for Ed25519 and codes.
            prehashed: Flag,
            /// `pss` or `pkcs1v15`, which must be that of an RSA key; passed over for others.
            signature_algorithm: Text<'a>,
            /// `asn1`, the usual one, or `jws`, for ECDSA.
            marshaling_algorithm: Text<'a>,
            /// `auto`, `hash` or 32, for RSA with `pss`; passed over for others, but then it may be any number.
            salt_length: Text<'a>,
        }
    }
    /// The body of `verify`.
    VerifyBody "TransitVerify", VerifyItem "TransitVerifyItem" {
        each {
            /// What was signed or authenticated.
            input: Binary<'a>,
            /// What `sign` answered.
            signature: Text<'a>,
            /// In its place, what `hmac` answered.
            hmac: Text<'a>,
            /// Must be empty.
            context: Text<'a>,
        }
        all {
            /// The hash function, which must be that of the key; passed over for Ed25519.
            hash_algorithm: Text<'a>,
            /// Another name of `hash_algorithm`.
            algorithm: Text<'a>,
            /// Whether `input` is a digest; passed over for Ed25519 and codes.
            prehashed: Flag,
            /// `pss` or `pkcs1v15`, which must be that of an RSA key; passed over for others.
            signature_algorithm: Text<'a>,
            /// `asn1`, the usual one, or `jws`, for ECDSA.
            marshaling_algorithm: Text<'a>,
            /// `auto`, `hash` or 32, for RSA with `pss`; passed over for others, but then it may be any number.
            salt_length: Text<'a>,
        }
    }
    /// The body of `hmac`.
    HmacBody "TransitHmac", HmacItem "TransitHmacItem" {
        each {
            /// What the code is made of.
            input: Binary<'a>,
        }
        all {
            /// 0, or the active version.
            key_version: Number,
            /// The hash function, which must be that of the key.
            algorithm: Text<'a>,
        }
    }
}

/// The body of `datakey`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TransitDatakey")]
#[non_exhaustive]
pub struct DatakeyBody<'a> {
    /// A derivation context that must be given again to open.
    #[serde(borrow, default)]
    pub context: Option<Binary<'a>>,
    /// Additional data that must be given again to open.
    #[serde(borrow, default)]
    pub associated_data: Option<Binary<'a>>,
    /// Must be empty.
    #[serde(borrow, default)]
    pub nonce: Option<Text<'a>>,
    /// 256.
    #[serde(default)]
    pub bits: Option<Number>,
    /// 0, or the active version.
    #[serde(default)]
    pub key_version: Option<Number>,
    /// Passed over: it is about RSA keys, and none encrypts here.
    #[serde(borrow, default)]
    pub padding_scheme: Option<Text<'a>>,
    /// The name of the key, which must be that of the path.
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
}

impl DatakeyBody<'_> {
    /// Checks what it says of the key.
    ///
    /// # Errors
    /// [`Refused`] for another key than the path's, or another length than 256 bits.
    pub fn check(&self, name: &str) -> Result<(), Refused> {
        if self
            .name
            .as_ref()
            .is_some_and(|given| given.expose() != name)
        {
            return Err(OTHER_NAME);
        }
        match self.bits {
            None | Some(Number(256)) => Ok(()),
            Some(_) => Err(Refused::because(
                Code::ValueInvalid,
                "data keys have 256 bits",
            )),
        }
    }
}

/// The body of `random`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TransitRandom")]
#[non_exhaustive]
pub struct RandomBody<'a> {
    /// How many: 1 to 65,536; 32 if it is not said here or in the path.
    #[serde(default)]
    pub bytes: Option<Number>,
    /// `base64`, the usual one, or `hex`.
    #[serde(borrow, default)]
    pub format: Option<Text<'a>>,
    /// `platform`.
    #[serde(borrow, default)]
    pub source: Option<Text<'a>>,
}

/// The body of `keys/{name}/rotate`, which has no parts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TransitNothing")]
#[non_exhaustive]
pub struct NothingBody {}

/// The body of `login`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CertificateLogin")]
#[non_exhaustive]
pub struct LoginBody<'a> {
    /// The name of the caller's principal, or nothing.
    #[serde(borrow, default)]
    pub name: Option<Text<'a>>,
}

/// Whether a field says nothing.
#[must_use]
pub fn says_nothing(field: Option<&Text<'_>>) -> bool {
    silent(field)
}

// === vault:v1:... ===

/// A version, and bytes in base64: `vault:v1:...`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Versioned<'a> {
    /// The version, from 1.
    pub version: KeyVersion,
    /// What follows it.
    pub encoded: &'a str,
}

impl<'a> Versioned<'a> {
    /// Reads a text; there is one spelling of each version.
    #[must_use]
    pub fn read(text: &'a str) -> Option<Self> {
        let (number, encoded) = text.strip_prefix("vault:v")?.split_once(':')?;
        let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let number: u32 = number
            .parse()
            .ok()
            .filter(|_| digits && !number.starts_with('0'))?;
        Some(Self {
            version: KeyVersion::from_number(number),
            encoded,
        })
    }
}
