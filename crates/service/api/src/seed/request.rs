//! Bodies of these routes, read as the seed service read them.
//!
//! The first JSON object counts, bytes behind it do not. Names of fields match in any case of ASCII letters, the last
//! of several wins, `null` is as good as absent, and absent is empty. Everything else about a body is JSON as
//! everywhere: a field of another type refuses it.

use std::fmt;

use keywright_encoding::base64;
use keywright_secret::SecretBytes;
use keywright_types::Code;
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};

use crate::{Limits, Text};

/// The body of `/encrypt`.
#[derive(Debug)]
#[non_exhaustive]
pub struct EncryptBody<'a> {
    /// The name of the context.
    pub context: Text<'a>,
    /// The message, in base64.
    pub plaintext: Text<'a>,
}

/// The body of `/decrypt`.
#[derive(Debug)]
#[non_exhaustive]
pub struct DecryptBody<'a> {
    /// The name of the context.
    pub context: Text<'a>,
    /// What was sealed, in base64.
    pub ciphertext: Text<'a>,
    /// The label that stands beside it.
    pub key_id: Text<'a>,
}

impl<'a> EncryptBody<'a> {
    /// Reads a body. Whether the message is base64 shows only when it is decoded.
    ///
    /// # Errors
    /// [`Code::RequestMalformed`], [`Code::BodyTooLarge`].
    pub fn parse(body: &'a [u8], limits: &Limits) -> Result<Self, Code> {
        let [context, plaintext] = fields(body, ["context", "plaintext"], limits)?;
        Ok(Self { context, plaintext })
    }
}

impl<'a> DecryptBody<'a> {
    /// Reads a body. Whether the ciphertext is base64 shows only when it is decoded.
    ///
    /// # Errors
    /// [`Code::RequestMalformed`], [`Code::BodyTooLarge`].
    pub fn parse(body: &'a [u8], limits: &Limits) -> Result<Self, Code> {
        let names = ["context", "ciphertext", "key_id"];
        let [context, ciphertext, key_id] = fields(body, names, limits)?;
        Ok(Self {
            context,
            ciphertext,
            key_id,
        })
    }
}

/// Appends the bytes of standard base64 with padding, inside which line ends do not count. `out` is unchanged on
/// failure.
///
/// # Errors
/// [`Code::Base64Invalid`] for anything else.
pub fn decode_into(text: &str, out: &mut Vec<u8>) -> Result<(), Code> {
    let invalid = Code::Base64Invalid;
    let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    if !text.as_bytes().iter().any(is_end) {
        return base64::decode_into(text, out).map_err(|_| invalid);
    }
    let mut kept = Vec::with_capacity(text.len());
    kept.extend(text.bytes().filter(|byte| !is_end(byte)));
    // It may be a message.
    let kept = SecretBytes::from_vec(kept);
    let kept = std::str::from_utf8(kept.expose()).map_err(|_| invalid)?;
    base64::decode_into(kept, out).map_err(|_| invalid)
}

fn fields<'a, const N: usize>(
    body: &'a [u8],
    names: [&'static str; N],
    limits: &Limits,
) -> Result<[Text<'a>; N], Code> {
    if body.len() > limits.body_bytes {
        return Err(Code::BodyTooLarge);
    }
    let malformed = Code::RequestMalformed;
    let text = std::str::from_utf8(body).map_err(|_| malformed)?;
    let mut reader = serde_json::Deserializer::from_str(text);
    // The end is not asked for: what stands behind the object does not count.
    reader
        .deserialize_map(Fields { names })
        .map_err(|_| malformed)
}

/// The texts of some fields of an object.
struct Fields<const N: usize> {
    names: [&'static str; N],
}

impl<'de, const N: usize> Visitor<'de> for Fields<N> {
    type Value = [Text<'de>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = std::array::from_fn(|_| Text::new(""));
        while let Some(name) = map.next_key::<Text<'de>>()? {
            let mut places = self.names.iter().zip(&mut found);
            let place = places.find(|(known, _)| known.eq_ignore_ascii_case(name.expose()));
            match place {
                Some((_, place)) => {
                    if let Some(text) = map.next_value::<Option<Text<'de>>>()? {
                        *place = text;
                    }
                }
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(found)
    }
}
