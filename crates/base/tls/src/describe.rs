//! A certificate for people: what a command prints.

use std::net::IpAddr;

use keywright_clock::WallTime;
use keywright_encoding::hex;
use keywright_primitives::hash::sha256;
use rustls_pki_types::CertificateDer;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;

use crate::pem::sections;
use crate::{Error, Role, der, identity};

/// What stands in a certificate, every text escaped for terminals and logs. Nothing is verified.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The subject, as in `CN=trading-1,OU=Trading`.
    pub subject: String,
    /// The issuer, in the same form.
    pub issuer: String,
    /// DNS names.
    pub dns: Vec<String>,
    /// URIs.
    pub uris: Vec<String>,
    /// Addresses.
    pub addresses: Vec<IpAddr>,
    /// The serial number in lower-case hexadecimal digits.
    pub serial: String,
    /// The first second of validity.
    pub not_before: WallTime,
    /// The last second of validity.
    pub not_after: WallTime,
    /// SHA-256 of the certificate.
    pub sha256: [u8; 32],
    /// SHA-256 of its SubjectPublicKeyInfo.
    pub spki_sha256: [u8; 32],
}

/// Describes the first certificate of a PEM file.
///
/// # Errors
/// [`Error::Pem`], [`Error::Empty`] or [`Error::Malformed`].
pub fn describe_certificate(pem: &[u8]) -> Result<Summary, Error> {
    let role = Role::Certificate;
    let all: Vec<CertificateDer<'static>> = sections(pem, role)?;
    let first = all.first().ok_or(Error::Empty(role))?;
    let certificate = der::certificate(first).ok_or(Error::Malformed(role))?;
    let mut summary = Summary {
        subject: identity::escaped(certificate.subject()),
        issuer: identity::escaped(certificate.issuer()),
        dns: Vec::new(),
        uris: Vec::new(),
        addresses: Vec::new(),
        serial: hex::encode(&identity::serial(&certificate)),
        not_before: der::wall(certificate.validity().not_before),
        not_after: der::wall(certificate.validity().not_after),
        sha256: sha256(first),
        spki_sha256: sha256(certificate.public_key().raw),
    };
    add_names(&mut summary, &certificate).ok_or(Error::Malformed(role))?;
    Ok(summary)
}

fn add_names(summary: &mut Summary, certificate: &X509Certificate<'_>) -> Option<()> {
    let printable = |text: &str| text.escape_default().to_string();
    let extension = certificate.subject_alternative_name().ok()?;
    for name in extension.iter().flat_map(|list| &list.value.general_names) {
        match name {
            GeneralName::DNSName(text) => summary.dns.push(printable(text)),
            GeneralName::URI(text) => summary.uris.push(printable(text)),
            GeneralName::IPAddress(bytes) => summary.addresses.push(address(bytes)?),
            _ => {}
        }
    }
    Some(())
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let four = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    four.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from))
        .ok()
}
