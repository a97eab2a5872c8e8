//! The few pieces of DER (X.690) that no library hands out in the form needed here.

use keywright_clock::WallTime;
use rustls_pki_types::SignatureVerificationAlgorithm;
use x509_parser::asn1_rs::{Any, FromDer, Tag};
use x509_parser::certificate::X509Certificate;
use x509_parser::time::ASN1Time;

/// A certificate with nothing behind it.
pub(crate) fn certificate(der: &[u8]) -> Option<X509Certificate<'_>> {
    match X509Certificate::from_der(der) {
        Ok(([], certificate)) => Some(certificate),
        _ => None,
    }
}

/// Seconds since 1970; dates before that read as 1970.
pub(crate) fn seconds(time: ASN1Time) -> u64 {
    u64::try_from(time.timestamp()).unwrap_or(0)
}

pub(crate) fn wall(time: ASN1Time) -> WallTime {
    WallTime::from_unix_seconds(seconds(time))
}

/// Whether `signed` (a certificate or a list: content, algorithm, signature) carries a signature by
/// the key in `key_info`, under one of the algorithms that path building would accept as well.
pub(crate) fn signed_by(
    signed: &[u8],
    key_info: &[u8],
    algorithms: &[&dyn SignatureVerificationAlgorithm],
) -> bool {
    let check = || {
        let [content, algorithm, signature] = sequence(signed)?;
        let [key_algorithm, key] = sequence(key_info)?;
        let (algorithm, key_algorithm) = (
            algorithm.content(Tag::Sequence)?,
            key_algorithm.content(Tag::Sequence)?,
        );
        let (signature, key) = (signature.bits()?, key.bits()?);
        Some(algorithms.iter().any(|candidate| {
            candidate.signature_alg_id().as_ref() == algorithm
                && candidate.public_key_alg_id().as_ref() == key_algorithm
                && candidate
                    .verify_signature(key, content.whole, signature)
                    .is_ok()
        }))
    };
    check().unwrap_or(false)
}

struct Element<'a> {
    whole: &'a [u8],
    any: Any<'a>,
}

impl<'a> Element<'a> {
    fn read(from: &'a [u8]) -> Option<(&'a [u8], Self)> {
        let (rest, any) = Any::from_der(from).ok()?;
        let whole = from.get(..from.len().checked_sub(rest.len())?)?;
        Some((rest, Self { whole, any }))
    }

    fn content(&self, tag: Tag) -> Option<&'a [u8]> {
        (self.any.tag() == tag).then_some(self.any.data)
    }

    /// A bit string of whole bytes.
    fn bits(&self) -> Option<&'a [u8]> {
        match self.content(Tag::BitString)? {
            [0, bytes @ ..] => Some(bytes),
            _ => None,
        }
    }
}

/// The elements of a sequence of exactly `N`.
fn sequence<const N: usize>(der: &[u8]) -> Option<[Element<'_>; N]> {
    let (rest, outer) = Element::read(der)?;
    let mut inner = outer.content(Tag::Sequence).filter(|_| rest.is_empty())?;
    let mut elements = Vec::with_capacity(N);
    while !inner.is_empty() {
        let (after, element) = Element::read(inner)?;
        elements.push(element);
        inner = after;
    }
    elements.try_into().ok()
}
