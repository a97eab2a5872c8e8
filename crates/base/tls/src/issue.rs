//! A certificate authority for demo and development installations (RFC 5280): P-256 keys, random
//! serial numbers of 16 bytes, revocation lists.
//!
//! Certificates begin five minutes before they are made, so that a peer whose clock is a little
//! behind accepts them, and end no later than their authority.
//!
//! Not here: files (keys come back as [`SecretBytes`]; who writes them chooses their mode), requests
//! signed elsewhere, intermediate authorities. Wiping covers the buffers of this crate; the signing
//! library and the backend keep copies of a key while it is in use.

#[cfg(feature = "testing")]
pub mod hostile;

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

use keywright_clock::WallTime;
use keywright_primitives::hash::sha256;
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use keywright_types::PrincipalId;
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DistinguishedName,
    DnType, ExtendedKeyUsagePurpose, IsCa, KeyIdMethod, KeyPair, KeyUsagePurpose,
    PKCS_ECDSA_P256_SHA256, PublicKeyData, RevocationReason, RevokedCertParams, SanType,
    SerialNumber, SignatureAlgorithm, SigningKey,
};
use rustls_pki_types::{CertificateDer, DnsName};
use time::OffsetDateTime;
use x509_parser::asn1_rs::FromDer;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::ParsedExtension;
use x509_parser::revocation_list::{CertificateRevocationList, RevokedCertificate};
use x509_parser::x509::ReasonCode;
use zeroize::Zeroize;

use crate::config::provider;
use crate::pem::{encode, revocation_lists, sections};
use crate::{Error, Role, der, identity, private_key};

/// What a URI that names a principal begins with (design 7.25).
pub const PRINCIPAL_URI: &str = "keywright:principal:";

/// How long before its making a certificate begins.
const BACKDATED: Duration = Duration::from_secs(300);

/// The longest common name and unit of X.520.
const LONGEST_NAME: usize = 64;

/// A certificate authority: its certificate and its key.
pub struct Authority {
    issuer: rcgen::Issuer<'static, Key>,
    certificate: CertificateDer<'static>,
    certificate_pem: String,
    not_after: WallTime,
    /// How the certificate names its key. Lists must name it alike: a verifier that chooses the list
    /// by this name (OpenSSL does) would find none otherwise, and so deny.
    key_id: KeyIdMethod,
}

/// Who a client certificate is for.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a plain record of arguments")]
pub struct ClientSubject<'a> {
    /// The common name.
    pub common_name: &'a str,
    /// The organisational unit.
    pub organizational_unit: Option<&'a str>,
    /// The principal, which goes into the URI `keywright:principal:<id>`.
    pub principal: Option<PrincipalId>,
}

/// A new certificate with its key.
#[derive(Debug)]
#[non_exhaustive]
pub struct Issued {
    /// The certificate.
    pub certificate_pem: String,
    /// Its private key, PKCS #8 in PEM.
    pub key_pem: SecretBytes,
    /// Its serial number, big-endian, without leading zeros.
    pub serial: Vec<u8>,
}

/// An entry of a revocation list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a plain record")]
pub struct Revoked {
    /// The serial number, big-endian.
    pub serial: Vec<u8>,
    /// Since when.
    pub at: WallTime,
    /// Why.
    pub reason: Reason,
}

/// Why a certificate was revoked (RFC 5280, 5.3.1).
///
/// Without `certificateHold` and `removeFromCRL`: a revoked certificate stays revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// Its holder has other duties.
    AffiliationChanged,
    /// Its holder is gone.
    CessationOfOperation,
    /// Its key may be known to others.
    KeyCompromise,
    /// Another has taken its place.
    Superseded,
    /// Not said.
    Unspecified,
}

/// What stands in a revocation list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RevocationList {
    /// Rises with every list of an authority.
    pub number: u64,
    /// When it was made.
    pub this_update: WallTime,
    /// When it expires.
    pub next_update: WallTime,
    /// What it revokes.
    pub revoked: Vec<Revoked>,
}

impl Authority {
    /// Makes a new authority with a self-signed certificate. It may sign leaves, not authorities.
    ///
    /// # Errors
    /// [`Error::SubjectText`], [`Error::Validity`], [`Error::Randomness`] or [`Error::Issue`].
    pub fn create(name: &str, now: WallTime, validity: Duration) -> Result<Self, Error> {
        Self::build(authority_params(name, now, validity, Some(0))?, None)
    }

    /// Takes up an authority again.
    ///
    /// # Errors
    /// A file that cannot be read, [`Error::Unsupported`], or [`Error::KeyMismatch`].
    pub fn from_pem(certificate_pem: &[u8], key_pem: &[u8]) -> Result<Self, Error> {
        let role = Role::Authority;
        let all: Vec<CertificateDer<'static>> = sections(certificate_pem, role)?;
        let certificate = all.into_iter().next().ok_or(Error::Empty(role))?;
        let key = Key::from_pem(key_pem)?;
        let parsed = der::certificate(&certificate).ok_or(Error::Malformed(role))?;
        if parsed.public_key().raw != key.subject_public_key_info() {
            return Err(Error::KeyMismatch);
        }
        let not_after = der::wall(parsed.validity().not_after);
        let key_id = key_id(&parsed);
        let issuer = rcgen::Issuer::from_ca_cert_der(&certificate, key)
            .map_err(|_| Error::Malformed(role))?;
        Ok(Self {
            issuer,
            certificate_pem: public_pem("CERTIFICATE", &certificate),
            certificate,
            not_after,
            key_id,
        })
    }

    /// The authority's certificate.
    #[must_use]
    pub fn certificate_pem(&self) -> &str {
        &self.certificate_pem
    }

    /// The authority's private key, PKCS #8 in PEM.
    #[must_use]
    pub fn key_pem(&self) -> SecretBytes {
        self.issuer.key().pem()
    }

    /// SHA-256 of the authority's SubjectPublicKeyInfo: how policy rules name a trust anchor.
    #[must_use]
    pub fn spki_sha256(&self) -> [u8; 32] {
        sha256(&self.issuer.key().subject_public_key_info())
    }

    /// Makes a server certificate with a new key.
    ///
    /// # Errors
    /// [`Error::ServerNames`], [`Error::Validity`], [`Error::Randomness`] or [`Error::Issue`].
    pub fn issue_server(
        &self,
        dns: &[&str],
        addresses: &[IpAddr],
        now: WallTime,
        validity: Duration,
    ) -> Result<Issued, Error> {
        let names = dns
            .iter()
            .map(|name| {
                DnsName::try_from(*name).map_err(|_| Error::ServerNames)?;
                Ok(SanType::DnsName(ia5(name)?))
            })
            .chain(
                addresses
                    .iter()
                    .map(|address| Ok(SanType::IpAddress(*address))),
            )
            .collect::<Result<Vec<_>, Error>>()?;
        let first = dns.first().map(|name| (*name).to_owned());
        let first = first.or_else(|| addresses.first().map(IpAddr::to_string));
        let mut params = leaf_params(now, self.end(now, validity))?;
        // Clients look at the alternative names only; the subject is for people.
        let title = first.ok_or(Error::ServerNames)?;
        let title = if title.len() > LONGEST_NAME {
            "server".to_owned()
        } else {
            title
        };
        params.distinguished_name.push(DnType::CommonName, title);
        params.subject_alt_names = names;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.issue(params, Key::generate()?)
    }

    /// Makes a client certificate with a new key.
    ///
    /// # Errors
    /// [`Error::SubjectText`], [`Error::Validity`], [`Error::Randomness`] or [`Error::Issue`].
    pub fn issue_client(
        &self,
        subject: &ClientSubject<'_>,
        now: WallTime,
        validity: Duration,
    ) -> Result<Issued, Error> {
        let mut params = leaf_params(now, self.end(now, validity))?;
        let name = &mut params.distinguished_name;
        if let Some(unit) = subject.organizational_unit {
            name.push(DnType::OrganizationalUnitName, subject_text(unit)?);
        }
        name.push(DnType::CommonName, subject_text(subject.common_name)?);
        if let Some(principal) = subject.principal {
            let uri = ia5(&format!("{PRINCIPAL_URI}{principal}"))?;
            params.subject_alt_names.push(SanType::URI(uri));
        }
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.issue(params, Key::generate()?)
    }

    /// Signs a revocation list in PEM. Of entries with one serial number the first stands.
    /// `number` must be higher than that of every list before it.
    ///
    /// # Errors
    /// [`Error::Validity`] if it would expire at once, or [`Error::Issue`].
    pub fn revocation_list(
        &self,
        revoked: &[Revoked],
        number: u64,
        now: WallTime,
        next_update: WallTime,
    ) -> Result<String, Error> {
        let mut entries: Vec<RevokedCertParams> = Vec::with_capacity(revoked.len());
        for entry in revoked {
            let serial_number = SerialNumber::from_slice(&entry.serial);
            if entries
                .iter()
                .all(|other| other.serial_number != serial_number)
            {
                entries.push(RevokedCertParams {
                    serial_number,
                    revocation_time: date(entry.at)?,
                    reason_code: entry.reason.for_list(),
                    invalidity_date: None,
                });
            }
        }
        if next_update.unix_seconds() <= now.unix_seconds() {
            return Err(Error::Validity);
        }
        let list = CertificateRevocationListParams {
            this_update: date(now)?,
            next_update: date(next_update)?,
            crl_number: SerialNumber::from(number),
            issuing_distribution_point: None,
            revoked_certs: entries,
            key_identifier_method: self.key_id.clone(),
        };
        let list = list.signed_by(&self.issuer).map_err(failed)?;
        Ok(public_pem("X509 CRL", list.der()))
    }

    /// Reads a list of this authority back, so that the next one can be made from it.
    ///
    /// # Errors
    /// A file that cannot be read, or [`Error::RevocationListSignature`] if this authority did not
    /// sign it.
    pub fn read_revocation_list(&self, crl_pem: &[u8]) -> Result<RevocationList, Error> {
        let role = Role::RevocationLists;
        let lists = revocation_lists(crl_pem)?;
        let list = lists.first().ok_or(Error::Empty(role))?;
        let algorithms = provider().signature_verification_algorithms.all;
        let key_info = self.issuer.key().subject_public_key_info();
        if !der::signed_by(list, &key_info, algorithms) {
            return Err(Error::RevocationListSignature { position: 1 });
        }
        let parsed = match CertificateRevocationList::from_der(list) {
            Ok(([], parsed)) => parsed,
            _ => return Err(Error::Malformed(role)),
        };
        let number = parsed
            .crl_number()
            .and_then(|number| u64::try_from(number).ok());
        let next = parsed.next_update().ok_or(Error::Malformed(role))?;
        Ok(RevocationList {
            number: number.ok_or(Error::Malformed(role))?,
            this_update: der::wall(parsed.last_update()),
            next_update: der::wall(next),
            revoked: parsed
                .iter_revoked_certificates()
                .map(Revoked::read)
                .collect(),
        })
    }

    /// Signs a prepared certificate. The serial number is new, whatever the parameters say.
    fn issue(&self, mut params: CertificateParams, key: Key) -> Result<Issued, Error> {
        let serial = serial()?;
        params.serial_number = Some(SerialNumber::from_slice(&serial));
        params.use_authority_key_identifier_extension = true;
        let certificate = params.signed_by(&key, &self.issuer).map_err(failed)?;
        Ok(Issued {
            certificate_pem: public_pem("CERTIFICATE", certificate.der()),
            key_pem: key.pem(),
            serial: serial.to_vec(),
        })
    }

    /// An authority from prepared parameters, signed by itself or by `parent`.
    fn build(mut params: CertificateParams, parent: Option<&Self>) -> Result<Self, Error> {
        params.serial_number = Some(SerialNumber::from_slice(&serial()?));
        let key = Key::generate()?;
        let certificate = match parent {
            Some(parent) => params.signed_by(&key, &parent.issuer),
            None => params.self_signed(&key),
        }
        .map_err(failed)?;
        let not_after = u64::try_from(params.not_after.unix_timestamp()).unwrap_or(0);
        Ok(Self {
            certificate: certificate.der().clone(),
            certificate_pem: public_pem("CERTIFICATE", certificate.der()),
            not_after: WallTime::from_unix_seconds(not_after),
            key_id: KeyIdMethod::PreSpecified(params.key_identifier(&key)),
            issuer: rcgen::Issuer::new(params, key),
        })
    }

    /// The end of a certificate made now: no later than that of the authority.
    fn end(&self, now: WallTime, validity: Duration) -> WallTime {
        now.plus(validity).min(self.not_after)
    }
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authority")
            .field("sha256", &sha256(&self.certificate))
            .finish_non_exhaustive()
    }
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 5] = [
        Self::AffiliationChanged,
        Self::CessationOfOperation,
        Self::KeyCompromise,
        Self::Superseded,
        Self::Unspecified,
    ];

    /// Its stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AffiliationChanged => "affiliation-changed",
            Self::CessationOfOperation => "cessation-of-operation",
            Self::KeyCompromise => "key-compromise",
            Self::Superseded => "superseded",
            Self::Unspecified => "unspecified",
        }
    }

    /// RFC 5280, 5.3.1: an unspecified reason is left out.
    const fn for_list(self) -> Option<RevocationReason> {
        match self {
            Self::AffiliationChanged => Some(RevocationReason::AffiliationChanged),
            Self::CessationOfOperation => Some(RevocationReason::CessationOfOperation),
            Self::KeyCompromise => Some(RevocationReason::KeyCompromise),
            Self::Superseded => Some(RevocationReason::Superseded),
            Self::Unspecified => None,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that names no reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a reason for revocation")]
#[non_exhaustive]
pub struct UnknownReason;

impl FromStr for Reason {
    type Err = UnknownReason;

    fn from_str(text: &str) -> Result<Self, UnknownReason> {
        Self::ALL
            .into_iter()
            .find(|reason| reason.name() == text)
            .ok_or(UnknownReason)
    }
}

impl Revoked {
    fn read(entry: &RevokedCertificate<'_>) -> Self {
        let reason = match entry.reason_code().map(|(_, code)| code) {
            Some(ReasonCode::AffiliationChanged) => Reason::AffiliationChanged,
            Some(ReasonCode::CessationOfOperation) => Reason::CessationOfOperation,
            Some(ReasonCode::KeyCompromise) => Reason::KeyCompromise,
            Some(ReasonCode::Superseded) => Reason::Superseded,
            _ => Reason::Unspecified,
        };
        Self {
            serial: identity::unsigned(entry.raw_serial()),
            at: der::wall(entry.revocation_date),
            reason,
        }
    }
}

// === Keys ===

/// A key of the signing library that wipes its own encoding.
struct Key(KeyPair);

impl Key {
    fn generate() -> Result<Self, Error> {
        KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)
            .map(Self)
            .map_err(failed)
    }

    fn from_pem(pem: &[u8]) -> Result<Self, Error> {
        KeyPair::try_from(private_key(pem)?.expose())
            .map(Self)
            .map_err(|_| Error::Unsupported(Role::PrivateKey))
    }

    fn pem(&self) -> SecretBytes {
        encode("PRIVATE KEY", self.0.serialized_der())
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl PublicKeyData for Key {
    fn der_bytes(&self) -> &[u8] {
        self.0.der_bytes()
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        self.0.algorithm()
    }
}

impl SigningKey for Key {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        self.0.sign(message)
    }
}

// === Parts of a certificate ===

fn authority_params(
    name: &str,
    now: WallTime,
    validity: Duration,
    path_length: Option<u8>,
) -> Result<CertificateParams, Error> {
    let mut params = dated(now, now.plus(validity))?;
    params
        .distinguished_name
        .push(DnType::CommonName, subject_text(name)?);
    params.is_ca = IsCa::Ca(match path_length {
        Some(length) => BasicConstraints::Constrained(length),
        None => BasicConstraints::Unconstrained,
    });
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(params)
}

fn key_id(certificate: &X509Certificate<'_>) -> KeyIdMethod {
    certificate
        .iter_extensions()
        .find_map(|extension| match extension.parsed_extension() {
            ParsedExtension::SubjectKeyIdentifier(id) => Some(id.0.to_vec()),
            _ => None,
        })
        .map_or(KeyIdMethod::Sha256, KeyIdMethod::PreSpecified)
}

fn leaf_params(now: WallTime, end: WallTime) -> Result<CertificateParams, Error> {
    let mut params = dated(now, end)?;
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    Ok(params)
}

fn dated(now: WallTime, end: WallTime) -> Result<CertificateParams, Error> {
    if end.unix_seconds() <= now.unix_seconds() {
        return Err(Error::Validity);
    }
    let start = now.unix_seconds().saturating_sub(BACKDATED.as_secs());
    let mut params = CertificateParams::default();
    params.not_before = date(WallTime::from_unix_seconds(start))?;
    params.not_after = date(end)?;
    params.distinguished_name = DistinguishedName::new();
    Ok(params)
}

fn date(time: WallTime) -> Result<OffsetDateTime, Error> {
    let seconds = i64::try_from(time.unix_seconds()).map_err(|_| Error::Validity)?;
    OffsetDateTime::from_unix_timestamp(seconds).map_err(|_| Error::Validity)
}

/// Sixteen random bytes of which the first is 0x40 to 0x7f: positive, and always as long in DER.
fn serial() -> Result<[u8; 16], Error> {
    let mut bytes: [u8; 16] = RandomStream::new()?.array()?;
    bytes[0] = bytes[0] & 0x3f | 0x40;
    Ok(bytes)
}

fn subject_text(text: &str) -> Result<String, Error> {
    let length = text.chars().count();
    if length == 0 || length > LONGEST_NAME || text.chars().any(char::is_control) {
        return Err(Error::SubjectText);
    }
    Ok(text.to_owned())
}

fn ia5(text: &str) -> Result<rcgen::string::Ia5String, Error> {
    text.try_into().map_err(failed)
}

fn public_pem(label: &str, der: &[u8]) -> String {
    String::from_utf8_lossy(encode(label, der).expose()).into_owned()
}

fn failed(error: rcgen::Error) -> Error {
    Error::Issue(Box::new(error))
}
