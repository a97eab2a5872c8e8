//! Certificates that no honest authority writes, for tests of those who must refuse them.
//!
//! Feature `testing` only. Every function here signs with a real key, so that what a test sees
//! refused is refused for the fault it names and not for a broken signature.

use std::time::Duration;

use keywright_clock::WallTime;
use keywright_secret::SecretBytes;
use rcgen::string::{BmpString, TeletexString};
use rcgen::{
    CertificateParams, CustomExtension, DistinguishedName, DnType, DnValue,
    ExtendedKeyUsagePurpose, IsCa, KeyUsagePurpose, SanType,
};

use super::{Authority, Issued, Key, authority_params, date, failed, ia5, public_pem};
use crate::Error;

/// A leaf certificate in which every part can be wrong.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a plain record of arguments")]
pub struct Recipe<'a> {
    /// Subject attributes in DER order; at most two of a kind.
    pub subject: Vec<(Attribute, Text<'a>)>,
    /// Alternative names that are URIs.
    pub uris: Vec<&'a str>,
    /// Alternative names that are DNS names.
    pub dns: Vec<&'a str>,
    /// What the certificate is for.
    pub purpose: Purpose,
    /// The first second of validity.
    pub not_before: WallTime,
    /// The last second of validity.
    pub not_after: WallTime,
    /// A private key in PEM; without one, a new key.
    pub key: Option<&'a SecretBytes>,
    /// The DER of an alternative name extension that replaces `uris` and `dns`.
    pub alternative_names_der: Option<&'a [u8]>,
}

/// Kind of a subject attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Attribute {
    /// CN
    CommonName,
    /// O
    Organization,
    /// OU
    OrganizationalUnit,
}

/// A text in one of the encodings of an X.520 name.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Text<'a> {
    /// Two bytes a character.
    Bmp(&'a str),
    /// T.61, of which nobody knows the character set.
    Teletex(&'a str),
    /// UTF-8.
    Utf8(&'a str),
}

/// What a certificate says it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// A certificate authority that claims to be a client.
    Authority,
    /// A TLS client.
    Client,
    /// A TLS client whose key usage forbids signatures.
    ClientWithoutSignature,
    /// A TLS server.
    Server,
    /// Neither said nor excluded: no extended key usage at all.
    Unstated,
}

impl<'a> Recipe<'a> {
    /// A faultless client certificate, to be spoilt.
    #[must_use]
    pub fn client(common_name: &'a str, now: WallTime, validity: Duration) -> Self {
        Self {
            subject: vec![
                (Attribute::OrganizationalUnit, Text::Utf8("Trading")),
                (Attribute::CommonName, Text::Utf8(common_name)),
            ],
            uris: Vec::new(),
            dns: Vec::new(),
            purpose: Purpose::Client,
            not_before: now,
            not_after: now.plus(validity),
            key: None,
            alternative_names_der: None,
        }
    }
}

impl Authority {
    /// Signs what the recipe says.
    ///
    /// # Errors
    /// [`Error::Issue`] if not even the signing library can write it.
    pub fn issue_hostile(&self, recipe: &Recipe<'_>) -> Result<Issued, Error> {
        let mut params = CertificateParams::default();
        params.not_before = date(recipe.not_before)?;
        params.not_after = date(recipe.not_after)?;
        params.distinguished_name = subject(&recipe.subject)?;
        for uri in &recipe.uris {
            params.subject_alt_names.push(SanType::URI(ia5(uri)?));
        }
        for name in &recipe.dns {
            params.subject_alt_names.push(SanType::DnsName(ia5(name)?));
        }
        if let Some(der) = recipe.alternative_names_der {
            let extension = CustomExtension::from_oid_content(&[2, 5, 29, 17], der.to_vec());
            params.custom_extensions.push(extension);
        }
        set_purpose(&mut params, recipe.purpose);
        let key = match recipe.key {
            Some(pem) => Key::from_pem(pem.expose())?,
            None => Key::generate()?,
        };
        self.issue(params, key)
    }

    /// An authority that may have authorities under it.
    ///
    /// # Errors
    /// As [`Authority::create`].
    pub fn create_unconstrained(
        name: &str,
        now: WallTime,
        validity: Duration,
    ) -> Result<Self, Error> {
        Self::build(authority_params(name, now, validity, None)?, None)
    }

    /// An authority under this one, whether this one may have any or not.
    ///
    /// # Errors
    /// As [`Authority::create`].
    pub fn create_intermediate(
        &self,
        name: &str,
        now: WallTime,
        validity: Duration,
    ) -> Result<Self, Error> {
        Self::build(authority_params(name, now, validity, None)?, Some(self))
    }
}

/// PEM around any bytes, for lists and certificates that were tampered with.
#[must_use]
pub fn pem(label: &str, der: &[u8]) -> String {
    public_pem(label, der)
}

/// The library keeps one value for each kind of attribute. A second one of the same kind goes in
/// under the kind's number instead of its name.
fn subject(attributes: &[(Attribute, Text<'_>)]) -> Result<DistinguishedName, Error> {
    let mut name = DistinguishedName::new();
    for (attribute, text) in attributes {
        let (kind, number) = match attribute {
            Attribute::CommonName => (DnType::CommonName, 3),
            Attribute::Organization => (DnType::OrganizationName, 10),
            Attribute::OrganizationalUnit => (DnType::OrganizationalUnitName, 11),
        };
        let kind = match name.get(&kind) {
            None => kind,
            Some(_) => DnType::CustomDnType(vec![2, 5, 4, number]),
        };
        name.push(kind, value(*text)?);
    }
    Ok(name)
}

fn value(text: Text<'_>) -> Result<DnValue, Error> {
    Ok(match text {
        Text::Bmp(text) => DnValue::BmpString(BmpString::try_from(text).map_err(failed)?),
        Text::Teletex(text) => {
            DnValue::TeletexString(TeletexString::try_from(text).map_err(failed)?)
        }
        Text::Utf8(text) => DnValue::Utf8String(text.to_owned()),
    })
}

fn set_purpose(params: &mut CertificateParams, purpose: Purpose) {
    use ExtendedKeyUsagePurpose::{ClientAuth, ServerAuth};
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ClientAuth];
    match purpose {
        Purpose::Authority => params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained),
        Purpose::Client => {}
        Purpose::ClientWithoutSignature => {
            params.key_usages = vec![KeyUsagePurpose::KeyEncipherment];
        }
        Purpose::Server => params.extended_key_usages = vec![ServerAuth],
        Purpose::Unstated => params.extended_key_usages.clear(),
    }
}
