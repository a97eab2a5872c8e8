//! From a failed handshake to the reason that is counted.

use std::io;
use std::sync::Arc;

use keywright_tls::{Refusal, refusal_of};
use keywright_types::Code;
use rustls::{CertificateError as Reason, Error, OtherError};

#[test]
fn an_error_is_found_inside_the_io_error_around_it() {
    let inner = Error::InvalidCertificate(Reason::Revoked);
    let once = io::Error::new(io::ErrorKind::InvalidData, inner.clone());
    assert_eq!(refusal_of(&once), Code::CertificateRevoked);
    let twice = io::Error::other(io::Error::new(io::ErrorKind::InvalidData, inner));
    assert_eq!(refusal_of(&twice), Code::CertificateRevoked);
}

#[test]
fn what_is_not_about_a_certificate_is_a_failed_handshake() {
    let cases: [&(dyn std::error::Error + 'static); 5] = [
        &io::Error::from(io::ErrorKind::UnexpectedEof),
        &io::Error::other("certificate revoked"),
        &Error::DecryptError,
        &Error::NoApplicationProtocol,
        &Error::AlertReceived(rustls::AlertDescription::CertificateRevoked),
    ];
    for error in cases {
        assert_eq!(refusal_of(error), Code::HandshakeFailed, "{error}");
    }
}

#[test]
fn reasons_of_the_library_and_of_this_crate_agree() {
    for (reason, code) in [
        (Reason::Expired, Code::CertificateExpired),
        (Reason::NotValidYet, Code::CertificateExpired),
        (Reason::Revoked, Code::CertificateRevoked),
        (Reason::BadEncoding, Code::CertificateMalformed),
        (Reason::UnknownIssuer, Code::CertificateUntrusted),
        (Reason::UnknownRevocationStatus, Code::CertificateUntrusted),
        (Reason::ExpiredRevocationList, Code::CertificateUntrusted),
        (Reason::InvalidPurpose, Code::CertificateUntrusted),
        (Reason::BadSignature, Code::HandshakeFailed),
        (other(Refusal::ControlCharacter), Code::CertificateMalformed),
        (
            other(Refusal::SeveralCommonNames),
            Code::CertificateMalformed,
        ),
        (other(Refusal::UnreadableName), Code::CertificateMalformed),
        (other(Refusal::AnchorNotValid), Code::CertificateUntrusted),
        (
            Reason::Other(OtherError(Arc::new(io::Error::other("x")))),
            Code::CertificateUntrusted,
        ),
    ] {
        assert_eq!(
            refusal_of(&Error::InvalidCertificate(reason.clone())),
            code,
            "{reason:?}"
        );
    }
}

fn other(refusal: Refusal) -> Reason {
    Reason::Other(OtherError(Arc::new(refusal)))
}
