//! What callers give and get: bytes instead of base64, secrets that wipe themselves.

use keywright_api::answer::{
    DatakeyAnswer, DatakeyOpenAnswer, ItemResult, OpenAnswer, RandomAnswer, SealAnswer,
};
use keywright_api::request::{Body, DatakeyItem, OpenItem, SealItem};
use keywright_api::route::{Endpoint, ROUTES};
use keywright_api::{Binary, Codec};
use keywright_secret::SecretBytes;
use keywright_types::{DataKeyId, KeyVersion, Name};
use serde::Serialize;
use serde::de::Deserialize;

use crate::{Client, Error, ErrorBody};

/// A message to seal.
#[derive(Clone, Copy)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the arguments of a call, by name"
)]
pub struct Seal<'a> {
    /// The bytes to seal.
    pub plaintext: &'a [u8],
    /// Additional data that must be given again to open.
    pub aad: Option<&'a [u8]>,
}

/// A ciphertext to open, to seal again, or a wrapped data key to open.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the arguments of a call, by name"
)]
pub struct Open<'a> {
    /// What the service answered when it sealed.
    pub ciphertext: &'a [u8],
    /// The additional data given then.
    pub aad: Option<&'a [u8]>,
}

/// A sealed message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sealed {
    /// The envelope.
    pub ciphertext: Vec<u8>,
    /// The version that sealed it.
    pub key_version: KeyVersion,
}

/// An opened message.
#[derive(Debug)]
#[non_exhaustive]
pub struct Opened {
    /// The bytes that were sealed.
    pub plaintext: SecretBytes,
    /// The version that opened them.
    pub key_version: KeyVersion,
}

/// A new data key.
#[derive(Debug)]
#[non_exhaustive]
pub struct DataKey {
    /// Its id.
    pub id: DataKeyId,
    /// The key, unless only the wrapped one was asked for.
    pub plaintext: Option<SecretBytes>,
    /// The wrapped key.
    pub ciphertext: Vec<u8>,
    /// The version that wrapped it.
    pub key_version: KeyVersion,
    /// When to take a new one (RFC 3339).
    pub not_after: String,
}

/// A data key that was wrapped.
#[derive(Debug)]
#[non_exhaustive]
pub struct OpenedDataKey {
    /// Its id.
    pub id: DataKeyId,
    /// The key.
    pub plaintext: SecretBytes,
    /// The version that had wrapped it.
    pub key_version: KeyVersion,
    /// When to ask again (RFC 3339).
    pub not_after: String,
}

/// A data key to make.
pub(crate) struct Fresh<'a> {
    pub(crate) aad: Option<&'a [u8]>,
    pub(crate) plain: Plain,
}

/// Whether the plain key is in the answer.
#[derive(PartialEq, Eq)]
pub(crate) enum Plain {
    Given,
    Withheld,
}

pub(crate) struct Random(pub(crate) SecretBytes);

impl std::fmt::Debug for Seal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Seal({} bytes)", self.plaintext.len())
    }
}

// === towards the service ===

/// An item of a batch, as the caller has it.
pub(crate) trait Give: Copy {
    type Wire: Serialize;

    fn wire(&self) -> Self::Wire;

    /// About how many bytes the item takes in JSON, which is more than in CBOR.
    fn weight(&self) -> usize;
}

/// Names, quotes and commas around an item.
pub(crate) const AROUND: usize = 40;

pub(crate) fn encoded(bytes: Option<&[u8]>) -> usize {
    bytes.map_or(0, |bytes| bytes.len().div_ceil(3) * 4)
}

impl<'a> Give for Seal<'a> {
    type Wire = SealItem<'a>;

    fn wire(&self) -> SealItem<'a> {
        SealItem {
            plaintext: Binary::new(self.plaintext),
            aad: self.aad.map(Binary::new),
        }
    }

    fn weight(&self) -> usize {
        AROUND + encoded(Some(self.plaintext)) + encoded(self.aad)
    }
}

impl<'a> Give for Open<'a> {
    type Wire = OpenItem<'a>;

    fn wire(&self) -> OpenItem<'a> {
        OpenItem {
            ciphertext: Binary::new(self.ciphertext),
            aad: self.aad.map(Binary::new),
        }
    }

    fn weight(&self) -> usize {
        AROUND + encoded(Some(self.ciphertext)) + encoded(self.aad)
    }
}

impl<'a> Fresh<'a> {
    pub(crate) fn wire(&self) -> DatakeyItem<'a> {
        DatakeyItem {
            aad: self.aad.map(Binary::new),
            plain: self.plain == Plain::Given,
        }
    }
}

/// The path of a route, from the one table there is.
pub(crate) fn path(endpoint: Endpoint, context: Option<&Name>) -> String {
    let route = ROUTES.iter().find(|route| route.endpoint == endpoint);
    let path = route.map_or_else(String::new, |route| route.path.to_string());
    match context {
        Some(context) => path.replace("{context}", context.as_str()),
        None => path,
    }
}

/// One item to a route, and its answer.
pub(crate) async fn one<T: Take>(
    client: &Client,
    endpoint: Endpoint,
    context: Option<&Name>,
    item: impl Serialize,
) -> Result<T, Error> {
    let body = write(client.codec(), &Body::One(item))?;
    let path = path(endpoint, context);
    let answer = client.call_with_items(&path, body).await?.accepted()?;
    T::take(read(&answer)?)
}

pub(crate) fn write<T: Serialize>(codec: Codec, body: &Body<T>) -> Result<Vec<u8>, Error> {
    codec.encode(body).map_err(|_| Error::Request)
}

/// An answer in the form it came in.
pub(crate) fn read<'a, T: Deserialize<'a>>(answer: &'a [u8]) -> Result<T, Error> {
    let codec = Codec::of_answer(answer);
    codec.decode(answer).map_err(|_| Error::Answer)
}

// === from the service ===

/// An answer, as the caller gets it.
pub(crate) trait Take: Sized {
    type Wire<'a>: Deserialize<'a>;

    fn take(wire: Self::Wire<'_>) -> Result<Self, Error>;

    fn take_result(result: ItemResult<Self::Wire<'_>>) -> Result<Result<Self, ErrorBody>, Error> {
        match result {
            ItemResult::Done(wire) => Self::take(wire).map(Ok),
            ItemResult::Failed(error) => Ok(Err(error)),
        }
    }
}

impl Take for Sealed {
    type Wire<'a> = SealAnswer<'a>;

    fn take(wire: SealAnswer<'_>) -> Result<Self, Error> {
        Ok(Self {
            ciphertext: public(&wire.ciphertext)?,
            key_version: wire.key_version,
        })
    }
}

impl Take for Opened {
    type Wire<'a> = OpenAnswer<'a>;

    fn take(wire: OpenAnswer<'_>) -> Result<Self, Error> {
        Ok(Self {
            plaintext: secret(&wire.plaintext)?,
            key_version: wire.key_version,
        })
    }
}

impl Take for DataKey {
    type Wire<'a> = DatakeyAnswer<'a>;

    fn take(wire: DatakeyAnswer<'_>) -> Result<Self, Error> {
        Ok(Self {
            id: wire.id,
            plaintext: wire.plaintext.as_ref().map(secret).transpose()?,
            ciphertext: public(&wire.ciphertext)?,
            key_version: wire.key_version,
            not_after: wire.not_after,
        })
    }
}

impl Take for OpenedDataKey {
    type Wire<'a> = DatakeyOpenAnswer<'a>;

    fn take(wire: DatakeyOpenAnswer<'_>) -> Result<Self, Error> {
        Ok(Self {
            id: wire.id,
            plaintext: secret(&wire.plaintext)?,
            key_version: wire.key_version,
            not_after: wire.not_after,
        })
    }
}

impl Take for Random {
    type Wire<'a> = RandomAnswer<'a>;

    fn take(wire: RandomAnswer<'_>) -> Result<Self, Error> {
        secret(&wire.random).map(Self)
    }
}

pub(crate) fn public(field: &Binary<'_>) -> Result<Vec<u8>, Error> {
    field.decode().map_err(|_| Error::Answer)
}

pub(crate) fn secret(field: &Binary<'_>) -> Result<SecretBytes, Error> {
    public(field).map(SecretBytes::from_vec)
}

#[cfg(test)]
mod tests {
    use http::Method;
    use keywright_api::route::{RouteMatch, match_route};

    use super::*;

    #[test]
    fn every_path_is_one_the_service_serves() {
        let context: Name = "exchange-key".parse().unwrap();
        for route in &ROUTES {
            let context = route.takes_context().then_some(&context);
            let path = path(route.endpoint, context);
            let verb = Method::from_bytes(route.verb.name().as_bytes()).unwrap();
            let RouteMatch::Found { route: found, .. } = match_route(&verb, &path) else {
                panic!("{path}");
            };
            assert_eq!(found.endpoint, route.endpoint, "{path}");
        }
    }

    #[test]
    fn the_weight_of_an_item_is_no_less_than_its_json_and_its_cbor() {
        for length in [0, 1, 2, 3, 100, 5000] {
            let bytes = vec![7; length];
            for aad in [None, Some(&bytes[..])] {
                let seal = Seal {
                    plaintext: &bytes,
                    aad,
                };
                let json = serde_json::to_vec(&seal.wire()).unwrap().len();
                assert!(json < seal.weight() && seal.weight() < json + AROUND);
                assert!(Codec::Cbor.encode(&seal.wire()).unwrap().len() < seal.weight());
            }
        }
    }
}
