//! The two forms of a body: JSON (RFC 8259) and CBOR (RFC 8949).
//!
//! Both say the same: members, types, limits and codes are those of one set of types, and which form a request or an
//! answer has is known here and where its bytes are read or written. What JSON writes in base64 is a byte string in
//! CBOR; texts stay texts.
//!
//! ```
//! use keywright_api::request::{Body, SealItem};
//! use keywright_api::{Codec, Limits};
//!
//! let body = b"\xa1\x69plaintext\x45Hello";
//! let request: Body<SealItem<'_>> = Codec::Cbor.read(body, &Limits::DEFAULT).unwrap();
//! assert_eq!(request.items()[0].plaintext.decode().unwrap(), b"Hello");
//! ```

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use serde::{Deserialize, Serialize};

use crate::error::Refusal;
use crate::request::{Body, Item, Sink, kept, parse_into};
use crate::{Limits, cbor};

/// The form of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever reads or writes bodies must face each of them"
)]
pub enum Codec {
    /// CBOR, of which definite lengths and the shortest heads alone are read and written.
    Cbor,
    /// JSON.
    #[default]
    Json,
}

/// Bytes that are not what was expected of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes are not what was expected")]
#[non_exhaustive]
pub struct Unreadable;

impl Codec {
    /// As `Content-Type` and `Accept` name it.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Cbor => "application/cbor",
            Self::Json => "application/json",
        }
    }

    /// The form of an answer of this service, which shows in its first byte: no JSON begins above ASCII, and every map
    /// in CBOR does.
    #[must_use]
    pub fn of_answer(bytes: &[u8]) -> Self {
        match bytes.first() {
            Some(first) if !first.is_ascii() => Self::Cbor,
            _ => Self::Json,
        }
    }

    /// Reads the body of a request. Nothing of the body is ever part of the refusal.
    ///
    /// # Errors
    /// A [`Refusal`] with `body_too_large`, `too_many_items` or `request_malformed`.
    pub fn read<'a, T: Item<'a>>(
        self,
        body: &'a [u8],
        limits: &Limits,
    ) -> Result<Body<T>, Refusal> {
        kept(self, body, limits)
    }

    /// As [`Codec::read`], each item handed on as soon as it is read.
    ///
    /// # Errors
    /// As there; what the sink has taken by then is worth nothing.
    pub fn read_into<'a, T: Item<'a>>(
        self,
        body: &'a [u8],
        limits: &Limits,
        sink: &mut impl Sink<T>,
    ) -> Result<(), Refusal> {
        match self {
            Self::Cbor => cbor::parse_into(body, limits, sink),
            Self::Json => parse_into(body, limits, sink),
        }
    }

    /// Reads anything else, such as an answer.
    ///
    /// # Errors
    /// [`Unreadable`].
    pub fn decode<'a, T: Deserialize<'a>>(self, bytes: &'a [u8]) -> Result<T, Unreadable> {
        match self {
            Self::Cbor => cbor::decode(bytes).map_err(|_| Unreadable),
            Self::Json => serde_json::from_slice(bytes).map_err(|_| Unreadable),
        }
    }

    /// Writes the body of a request, or an answer that is not one of [`mod@crate::write`].
    ///
    /// # Errors
    /// [`Unreadable`] for what nobody could read: a map whose names are no texts, or a [`crate::Binary`] of a text that
    /// is not base64, for which CBOR has no form.
    pub fn encode<T: Serialize>(self, value: &T) -> Result<Vec<u8>, Unreadable> {
        match self {
            Self::Cbor => cbor::encode(value).map_err(|_| Unreadable),
            Self::Json => serde_json::to_vec(value).map_err(|_| Unreadable),
        }
    }

    /// At least as many bytes as the binary fields of a body of this length hold.
    #[must_use]
    pub const fn bytes_at_most(self, length: usize) -> usize {
        match self {
            Self::Cbor => length,
            Self::Json => length / 4 * 3,
        }
    }

    /// About how many bytes so many make in a body.
    #[must_use]
    pub const fn length_of(self, bytes: usize) -> usize {
        match self {
            Self::Cbor => bytes,
            Self::Json => bytes.div_ceil(3) * 4,
        }
    }

    /// The form that a `Content-Type` names, which is nearly always written as we write it.
    fn of_type(value: &HeaderValue) -> Option<Self> {
        let forms = [Self::Json, Self::Cbor];
        let as_written = forms.into_iter().find(|form| value == form.media_type());
        as_written.or_else(|| Self::named(value.to_str().ok()?))
    }

    /// The form that a media type names; its parameters say nothing that either form has.
    fn named(media_type: &str) -> Option<Self> {
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        let forms = [Self::Cbor, Self::Json];
        let is_meant = |form: &Self| essence.eq_ignore_ascii_case(form.media_type());
        forms.into_iter().find(is_meant)
    }
}

/// The forms of a request and of its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a question and its answer")]
pub struct Codecs {
    /// Of the request.
    pub request: Codec,
    /// Of its answer, be it a good one or not.
    pub answer: Codec,
}

impl Codecs {
    /// JSON both ways.
    pub const JSON: Self = Self {
        request: Codec::Json,
        answer: Codec::Json,
    };

    /// What the headers of a request ask for. It is CBOR if one `Content-Type` says so, and JSON whatever else it is
    /// called. The answer has the one form that `Accept` names, and that of the request where it names none or both.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Self {
        let (mut sent, mut sent_again) = (None, false);
        let (mut accepted, mut accepts_both) = (None, false);
        // A walk over the few fields that there are costs less than to look two of them up by their hashes.
        for (name, value) in headers {
            if name == CONTENT_TYPE {
                sent_again |= sent.replace(value).is_some();
            } else if name == ACCEPT {
                for form in listed(value).filter_map(Codec::named) {
                    accepts_both |= accepted.replace(form).is_some_and(|other| other != form);
                }
            }
        }
        let named = sent.filter(|_| !sent_again).and_then(Codec::of_type);
        let request = named.unwrap_or_default();
        Self {
            request,
            answer: accepted.filter(|_| !accepts_both).unwrap_or(request),
        }
    }
}

/// The parts of a header that is a list; what is no text is no part.
fn listed(value: &HeaderValue) -> impl Iterator<Item = &str> {
    let text = value.to_str().ok();
    text.into_iter().flat_map(|text| text.split(','))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Codec::{Cbor, Json};

    fn codecs(types: &[&'static str], accepts: &[&'static str]) -> (Codec, Codec) {
        let mut headers = HeaderMap::new();
        for one in types {
            headers.append(CONTENT_TYPE, HeaderValue::from_static(one));
        }
        for one in accepts {
            headers.append(ACCEPT, HeaderValue::from_static(one));
        }
        let Codecs { request, answer } = Codecs::of(&headers);
        (request, answer)
    }

    #[test]
    fn a_body_is_cbor_if_one_header_says_so_and_json_whatever_else_it_is_called() {
        for cbor in [
            "application/cbor",
            "Application/CBOR",
            "application/cbor;x=y",
            " application/cbor ; charset=utf-8",
        ] {
            assert_eq!(codecs(&[cbor], &[]), (Cbor, Cbor), "{cbor}");
        }
        for other in [
            "application/json",
            "text/plain",
            "",
            "cbor",
            "application/cbor-seq",
            "application/cborx",
            "application/json;application/cbor",
            "application/json, application/cbor",
            "application/*",
        ] {
            assert_eq!(codecs(&[other], &[]), (Json, Json), "{other}");
        }
        assert_eq!(codecs(&[], &[]), (Json, Json));
        for more in [2, 3] {
            let same = vec!["application/cbor"; more];
            assert_eq!(codecs(&same, &[]), (Json, Json), "{more} times");
        }
        let mut headers = HeaderMap::new();
        let no_text = HeaderValue::from_bytes(b"application/cbor\xFF").unwrap();
        headers.insert(CONTENT_TYPE, no_text);
        assert_eq!(Codecs::of(&headers), Codecs::JSON);
    }

    #[test]
    fn an_answer_has_the_one_form_that_accept_names_and_else_that_of_the_request() {
        let (cbor, json) = ("application/cbor", "application/json");
        for (accept, answer) in [
            (&[cbor][..], Cbor),
            (&[json], Json),
            (&["text/html, application/cbor;q=0.1"], Cbor),
            (&["text/html", "APPLICATION/JSON"], Json),
            (&["application/json,application/json"], Json),
        ] {
            assert_eq!(codecs(&[json], accept), (Json, answer), "{accept:?}");
            assert_eq!(codecs(&[cbor], accept), (Cbor, answer), "{accept:?}");
        }
        for neither in [
            &[][..],
            &["*/*"],
            &["application/*"],
            &[""],
            &[",,;"],
            &["application/xml"],
            &["application/json, application/cbor"],
            &["application/cbor", "application/json"],
            &["application/cbor", "application/json", "application/cbor"],
        ] {
            assert_eq!(codecs(&[json], neither), (Json, Json), "{neither:?}");
            assert_eq!(codecs(&[cbor], neither), (Cbor, Cbor), "{neither:?}");
        }
    }

    #[test]
    fn the_first_byte_of_an_answer_tells_its_form() {
        assert_eq!(Codec::of_answer(b"{}"), Json);
        assert_eq!(Codec::of_answer(b""), Json);
        assert_eq!(Codec::of_answer(b"\xA0"), Cbor);
        assert_eq!(Codec::of_answer(b"\xBF"), Cbor);
    }
}
