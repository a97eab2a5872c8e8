//! What a leaf certificate says about its holder (design 7.25), read after its path was verified, so
//! that only bytes signed by a trusted authority come this far.

use keywright_encoding::hex;
use keywright_primitives::hash::sha256;
use keywright_types::Credential;
use rustls_pki_types::CertificateDer;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::oid_registry::{
    OID_X509_COMMON_NAME, OID_X509_COUNTRY_NAME, OID_X509_LOCALITY_NAME,
    OID_X509_ORGANIZATION_NAME, OID_X509_ORGANIZATIONAL_UNIT, OID_X509_STATE_OR_PROVINCE_NAME, Oid,
};
use x509_parser::x509::{AttributeTypeAndValue, X509Name};

use crate::{Refusal, der};

/// Design 7.32: what a connection record may hold of the subject.
const LONGEST_SUBJECT: usize = 256;

pub(crate) fn credential(
    leaf: &CertificateDer<'_>,
    anchor: [u8; 32],
) -> Result<Credential, Refusal> {
    let certificate = der::certificate(leaf).ok_or(Refusal::Malformed)?;
    check_purpose(&certificate)?;
    let subject = certificate.subject();
    let mut common_names = texts(subject, &OID_X509_COMMON_NAME)?;
    if common_names.len() > 1 {
        return Err(Refusal::SeveralCommonNames);
    }
    let mut units = texts(subject, &OID_X509_ORGANIZATIONAL_UNIT)?.into_iter();
    for attribute in subject.iter_attributes() {
        attribute.as_str().map_or(Ok(()), refuse_controls)?;
    }
    let names = AlternativeNames::of(&certificate)?;
    Ok(Credential {
        anchor,
        leaf_key: sha256(certificate.public_key().raw),
        leaf: sha256(leaf),
        serial: serial(&certificate),
        subject: escaped(subject),
        common_name: common_names.pop(),
        organizational_unit: units.next(),
        san_uris: names.uris,
        san_dns: names.dns,
        not_after: der::seconds(certificate.validity().not_after),
    })
}

/// Stricter than path building in two points: a missing list of purposes does not stand for all of
/// them, and a stated key usage must allow the signature that TLS 1.3 asks of a client.
fn check_purpose(certificate: &X509Certificate<'_>) -> Result<(), Refusal> {
    let purposes = certificate
        .extended_key_usage()
        .map_err(|_| Refusal::Malformed)?;
    let usage = certificate.key_usage().map_err(|_| Refusal::Malformed)?;
    if purposes.is_some_and(|list| list.value.client_auth)
        && usage.is_none_or(|bits| bits.value.digital_signature())
    {
        return Ok(());
    }
    Err(Refusal::WrongPurpose)
}

/// The values of one attribute in DER order.
fn texts(name: &X509Name<'_>, kind: &Oid<'_>) -> Result<Vec<String>, Refusal> {
    name.iter_attributes()
        .filter(|attribute| attribute.attr_type() == kind)
        .map(|attribute| {
            // BMPString, T61String and their kin would give one text several byte forms.
            let text = attribute.as_str().map_err(|_| Refusal::UnreadableName)?;
            checked(text)
        })
        .collect()
}

fn checked(text: &str) -> Result<String, Refusal> {
    if text.is_empty() {
        return Err(Refusal::UnreadableName);
    }
    refuse_controls(text)?;
    Ok(text.to_owned())
}

fn refuse_controls(text: &str) -> Result<(), Refusal> {
    if text.chars().any(char::is_control) {
        return Err(Refusal::ControlCharacter);
    }
    Ok(())
}

/// Subject alternative names of the kinds that can name a principal.
struct AlternativeNames {
    uris: Vec<String>,
    dns: Vec<String>,
}

impl AlternativeNames {
    fn of(certificate: &X509Certificate<'_>) -> Result<Self, Refusal> {
        let mut names = Self {
            uris: Vec::new(),
            dns: Vec::new(),
        };
        let extension = certificate
            .subject_alternative_name()
            .map_err(|_| Refusal::Malformed)?;
        for name in extension.iter().flat_map(|list| &list.value.general_names) {
            match name {
                GeneralName::URI(text) => names.uris.push(ascii(text)?),
                GeneralName::DNSName(text) => names.dns.push(ascii(text)?),
                GeneralName::Invalid(..) => return Err(Refusal::UnreadableName),
                // Mail addresses, addresses and the rest name no principal.
                _ => {}
            }
        }
        Ok(names)
    }
}

/// RFC 5280, 4.2.1.6: an IA5String. The parser is more patient than that.
fn ascii(text: &str) -> Result<String, Refusal> {
    if !text.is_ascii() {
        return Err(Refusal::UnreadableName);
    }
    checked(text)
}

/// Big-endian without the zero byte that DER puts before a high first bit.
pub(crate) fn serial(certificate: &X509Certificate<'_>) -> Vec<u8> {
    unsigned(certificate.raw_serial())
}

pub(crate) fn unsigned(integer: &[u8]) -> Vec<u8> {
    match integer {
        [0, rest @ ..] if !rest.is_empty() => rest.to_vec(),
        all => all.to_vec(),
    }
}

/// A name for logs: `CN=trading-1,OU=Trading` in DER order, printable ASCII only, at most 256 bytes.
///
/// The separators and the backslash are escaped by a backslash, every other character outside
/// printable ASCII as `\u{hex}`, so that no name can fake a line, a field or another name.
pub(crate) fn escaped(name: &X509Name<'_>) -> String {
    let mut out = String::new();
    let mut separator = "";
    for set in name.iter() {
        for attribute in set.iter() {
            if !append_attribute(&mut out, separator, attribute) {
                return out;
            }
            separator = "+";
        }
        separator = ",";
    }
    out
}

/// `false` once the limit is reached.
fn append_attribute(
    out: &mut String,
    separator: &str,
    attribute: &AttributeTypeAndValue<'_>,
) -> bool {
    let label = format!("{separator}{}=", label(attribute.attr_type()));
    let fits = append(out, &label);
    match attribute.as_str() {
        Ok(text) => {
            fits && text
                .chars()
                .all(|character| append(out, &escape(character)))
        }
        // RFC 4514, 2.4: a value without text form.
        Err(_) => {
            fits && append(out, "#")
                && attribute
                    .as_slice()
                    .iter()
                    .all(|byte| append(out, &hex::encode(&[*byte])))
        }
    }
}

fn append(out: &mut String, piece: &str) -> bool {
    let fits = out.len() + piece.len() <= LONGEST_SUBJECT;
    if fits {
        out.push_str(piece);
    }
    fits
}

fn escape(character: char) -> String {
    match character {
        ',' | '+' | '"' | '\\' | '<' | '>' | ';' | '=' | '#' => format!("\\{character}"),
        ' '..='~' => character.to_string(),
        other => other.escape_unicode().to_string(),
    }
}

fn label(kind: &Oid<'_>) -> String {
    [
        (OID_X509_COMMON_NAME, "CN"),
        (OID_X509_ORGANIZATIONAL_UNIT, "OU"),
        (OID_X509_ORGANIZATION_NAME, "O"),
        (OID_X509_COUNTRY_NAME, "C"),
        (OID_X509_LOCALITY_NAME, "L"),
        (OID_X509_STATE_OR_PROVINCE_NAME, "ST"),
    ]
    .into_iter()
    .find(|(known, _)| known == kind)
    .map_or_else(|| kind.to_id_string(), |(_, short)| short.to_owned())
}
