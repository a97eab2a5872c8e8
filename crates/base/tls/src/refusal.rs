//! Why a peer's certificate or handshake was refused.

use std::error::Error as StdError;

use keywright_types::Code;
use rustls::{CertificateError, OtherError};
use std::sync::Arc;
use webpki::Error as Path;

/// Why a client certificate was refused. Goes to the log; the peer sees a TLS alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The client sent no certificate.
    #[error("no certificate was sent")]
    Missing,
    /// The certificate, or one of its chain, cannot be read, or the chain is too long.
    #[error("the certificate cannot be read")]
    Malformed,
    /// Before the first second of its validity.
    #[error("the certificate is not valid yet")]
    NotYetValid,
    /// After the last second of its validity.
    #[error("the certificate has expired")]
    Expired,
    /// On its issuer's revocation list.
    #[error("the certificate is revoked")]
    Revoked,
    /// Kept out by the list of certificates.
    #[error("the list of certificates keeps the certificate out")]
    Denied,
    /// The list of certificates says who is let in, and this is none of them.
    #[error("the list of certificates does not let the certificate in")]
    NotAllowed,
    /// No path to a trust anchor.
    #[error("the certificate's issuer is not trusted")]
    UnknownIssuer,
    /// The path ends in a trust anchor that is not valid now.
    #[error("the trust anchor is not valid now")]
    AnchorNotValid,
    /// A certificate of the path has no revocation list, or one that cannot be used.
    #[error("there is no usable revocation list for the certificate")]
    RevocationUnknown,
    /// The list that covers a certificate of the path is past its next update.
    #[error("the revocation list for the certificate has expired")]
    RevocationListExpired,
    /// Not for TLS clients, or not for signatures.
    #[error("the certificate is not for tls clients")]
    WrongPurpose,
    /// More than one common name: which of them is meant would be a guess.
    #[error("the certificate has more than one common name")]
    SeveralCommonNames,
    /// A control character in a name, NUL included.
    #[error("the certificate has a control character in a name")]
    ControlCharacter,
    /// A name that is empty or in a text encoding with more than one reading.
    #[error("the certificate has an empty or ambiguous name")]
    UnreadableName,
}

impl Refusal {
    /// The counted reason.
    #[must_use]
    pub const fn code(self) -> Code {
        match self {
            Self::Missing => Code::CertificateMissing,
            Self::Malformed
            | Self::SeveralCommonNames
            | Self::ControlCharacter
            | Self::UnreadableName => Code::CertificateMalformed,
            Self::NotYetValid | Self::Expired => Code::CertificateExpired,
            Self::Denied | Self::Revoked => Code::CertificateRevoked,
            Self::NotAllowed
            | Self::UnknownIssuer
            | Self::AnchorNotValid
            | Self::RevocationUnknown
            | Self::RevocationListExpired
            | Self::WrongPurpose => Code::CertificateUntrusted,
        }
    }

    /// The form in which the TLS library chooses an alert from it.
    pub(crate) fn into_certificate_error(self) -> CertificateError {
        match self {
            Self::Malformed => CertificateError::BadEncoding,
            Self::NotYetValid => CertificateError::NotValidYet,
            Self::Expired => CertificateError::Expired,
            Self::Denied | Self::Revoked => CertificateError::Revoked,
            Self::UnknownIssuer => CertificateError::UnknownIssuer,
            Self::RevocationUnknown => CertificateError::UnknownRevocationStatus,
            Self::RevocationListExpired => CertificateError::ExpiredRevocationList,
            Self::WrongPurpose => CertificateError::InvalidPurpose,
            other => CertificateError::Other(OtherError(Arc::new(other))),
        }
    }
}

impl From<Refusal> for Code {
    fn from(refusal: Refusal) -> Self {
        refusal.code()
    }
}

impl From<Path> for Refusal {
    /// Path building knows many ways to fail; what is not about dates, revocation or purpose means
    /// either bytes that cannot be read or no path.
    fn from(error: Path) -> Self {
        match error {
            Path::CertExpired { .. } => Self::Expired,
            Path::CertNotValidYet { .. } => Self::NotYetValid,
            Path::CertRevoked => Self::Revoked,
            Path::CrlExpired { .. } => Self::RevocationListExpired,
            Path::UnknownRevocationStatus
            | Path::InvalidCrlSignatureForPublicKey
            | Path::IssuerNotCrlSigner
            | Path::UnsupportedCrlSignatureAlgorithmContext(_)
            | Path::UnsupportedCrlSignatureAlgorithmForPublicKeyContext(_) => {
                Self::RevocationUnknown
            }
            Path::RequiredEkuNotFoundContext(_)
            | Path::EmptyEkuExtension
            | Path::CaUsedAsEndEntity => Self::WrongPurpose,
            Path::BadDer
            | Path::BadDerTime
            | Path::ExtensionValueInvalid
            | Path::InvalidCertValidity
            | Path::InvalidSerialNumber
            | Path::MalformedExtensions
            | Path::MalformedDnsIdentifier
            | Path::SignatureAlgorithmMismatch
            | Path::TrailingData(_)
            | Path::UnsupportedCertVersion
            | Path::UnsupportedCriticalExtension => Self::Malformed,
            _ => Self::UnknownIssuer,
        }
    }
}

/// The counted reason of a failed handshake (design 7.36). Takes the error of a TLS library call or
/// the `std::io::Error` that an asynchronous acceptor wraps around it.
///
/// ```
/// use keywright_types::Code;
/// let inner = rustls::Error::NoCertificatesPresented;
/// let outer = std::io::Error::new(std::io::ErrorKind::InvalidData, inner);
/// assert_eq!(keywright_tls::refusal_of(&outer), Code::CertificateMissing);
/// ```
#[must_use]
pub fn refusal_of(error: &(dyn StdError + 'static)) -> Code {
    if let Some(tls) = error.downcast_ref::<rustls::Error>() {
        return of_tls(tls);
    }
    let inner = error
        .downcast_ref::<std::io::Error>()
        .and_then(std::io::Error::get_ref);
    match inner {
        Some(inner) => refusal_of(inner),
        None => Code::HandshakeFailed,
    }
}

fn of_tls(error: &rustls::Error) -> Code {
    match error {
        rustls::Error::NoCertificatesPresented => Code::CertificateMissing,
        rustls::Error::InvalidCertificate(reason) => of_certificate(reason),
        _ => Code::HandshakeFailed,
    }
}

fn of_certificate(error: &CertificateError) -> Code {
    use CertificateError as E;
    match error {
        E::Expired | E::ExpiredContext { .. } | E::NotValidYet | E::NotValidYetContext { .. } => {
            Code::CertificateExpired
        }
        E::Revoked => Code::CertificateRevoked,
        E::BadEncoding | E::UnhandledCriticalExtension => Code::CertificateMalformed,
        // The chain was in order and the proof that the peer holds the key was not.
        E::BadSignature => Code::HandshakeFailed,
        E::Other(OtherError(inner)) => inner
            .downcast_ref::<Refusal>()
            .map_or(Code::CertificateUntrusted, |refusal| refusal.code()),
        _ => Code::CertificateUntrusted,
    }
}
