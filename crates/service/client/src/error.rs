//! Why a call brought no answer, or not the one that was hoped for.

use std::error::Error as StdError;
use std::io;

use http::StatusCode;
use keywright_api::Codec;
use keywright_api::answer::{ErrorAnswer, ErrorBody};
use keywright_encoding::terminal;
use keywright_types::{Code, RequestId};
use rustls::AlertDescription;

/// What can go wrong in a call. The order of the branches: the caller, the service's refusal, the
/// network and the other end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The URL is not `https://host[:port]`.
    #[error("the service's address must be https://host or https://host:port, and nothing else")]
    Url,
    /// A request cannot be written: its method or path is not one of HTTP.
    #[error("the request's method or path is not valid")]
    Request,
    /// The service refused the request.
    #[error(transparent)]
    Refused(#[from] Box<Refused>),
    /// No connection to the service.
    #[error("cannot connect to the service")]
    Connect(#[source] io::Error),
    /// The TLS handshake failed, on either side.
    #[error(transparent)]
    Tls(#[from] TlsFailure),
    /// No answer in time; what became of the request is unknown.
    #[error("no answer in time")]
    Timeout,
    /// The connection ended before the answer; what became of the request is unknown.
    #[error("the connection ended before the answer")]
    Closed,
    /// The other end does not keep to HTTP.
    #[error("the service broke the protocol")]
    Protocol(#[source] hyper::Error),
    /// The answer is not what the route answers, or too large.
    #[error("the service gave an answer that cannot be read")]
    Answer,
    /// The service gave a stream up in the middle.
    #[error("the service broke the stream off; what came of it is not whole")]
    BrokenOff,
    /// What is to be sent as a stream cannot be read.
    #[error("cannot read what is to be sent")]
    Read(#[source] io::Error),
    /// What comes back as a stream cannot be written.
    #[error("cannot write what came back")]
    Write(#[source] io::Error),
    /// The runtime of a blocking client cannot be made.
    #[error("cannot start the client's runtime")]
    Runtime(#[source] io::Error),
}

/// How a TLS handshake failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsFailure {
    /// The service refused us, most often our certificate, and said why.
    #[error("the service refused the tls connection: {}", alert(*.0))]
    Alert(AlertDescription),
    /// We refused the service's certificate.
    #[error("the service's certificate is not trusted")]
    ServerUntrusted,
    /// Another failure.
    #[error("the tls handshake failed")]
    Handshake,
}

/// A refusal of the service: the whole request, nothing of it was done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct Refused {
    /// The HTTP status.
    pub status: StatusCode,
    /// The code, if this version knows it.
    pub code: Option<Code>,
    /// The service's sentence, without control characters.
    pub message: String,
    /// The id under which the audit log has the request.
    pub request: Option<RequestId>,
}

/// A service that is not ours might answer with a book.
const LONGEST_MESSAGE: usize = 1024;

impl Refused {
    /// Reads a refusal from the answer with this status.
    pub(crate) fn read(status: StatusCode, body: &[u8]) -> Self {
        let Ok(ErrorAnswer { error, .. }) = Codec::of_answer(body).decode(body) else {
            return Self {
                status,
                code: None,
                message: format!("the service answered {status}"),
                request: None,
            };
        };
        let ErrorBody {
            message, request, ..
        } = &error;
        Self {
            status,
            code: error.code(),
            message: terminal::escaped(message)
                .chars()
                .take(LONGEST_MESSAGE)
                .collect(),
            request: *request,
        }
    }
}

impl Error {
    /// The service's code, if it refused with one that this version knows.
    #[must_use]
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Refused(refused) => refused.code,
            _ => None,
        }
    }

    /// A failure while connecting: of TLS, or below it.
    pub(crate) fn connecting(error: io::Error) -> Self {
        let failure = match find::<rustls::Error>(&error) {
            Some(rustls::Error::AlertReceived(alert)) => TlsFailure::Alert(*alert),
            Some(rustls::Error::InvalidCertificate(_)) => TlsFailure::ServerUntrusted,
            Some(_) => TlsFailure::Handshake,
            None => return Self::Connect(error),
        };
        failure.into()
    }

    /// A failure of a stream whose answer has begun.
    pub(crate) fn streaming(error: hyper::Error) -> Self {
        match is_reset(&error) || error.is_incomplete_message() {
            true => Self::BrokenOff,
            false => Self::exchanging(error),
        }
    }

    /// The same, where a reset has overtaken the head of the answer.
    pub(crate) fn of_stream(self) -> Self {
        match self {
            Self::Protocol(error) if is_reset(&error) => Self::BrokenOff,
            other => other,
        }
    }

    /// A failure of an established connection.
    pub(crate) fn exchanging(error: hyper::Error) -> Self {
        let gone = find::<io::Error>(&error).is_some()
            || find::<h2::Error>(&error).is_some_and(h2::Error::is_io);
        match gone || error.is_canceled() || error.is_closed() || error.is_incomplete_message() {
            true => Self::Closed,
            false => Self::Protocol(error),
        }
    }
}

/// Whether the other end has given up this one stream.
fn is_reset(error: &hyper::Error) -> bool {
    find::<h2::Error>(error).is_some_and(|error| error.is_reset() && error.is_remote())
}

/// The first error of a type among an error and its sources.
pub(crate) fn find<'a, E: StdError + 'static>(
    error: &'a (dyn StdError + 'static),
) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // `source` of an io::Error skips the error it wraps.
        next = match error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref)
        {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}

/// What an alert means for the user of a client certificate.
fn alert(alert: AlertDescription) -> &'static str {
    match alert {
        AlertDescription::BadCertificate => "the client certificate cannot be read",
        AlertDescription::CertificateExpired => "the client certificate is not valid now",
        AlertDescription::CertificateRequired => "a client certificate is required",
        AlertDescription::CertificateRevoked => "the client certificate is revoked",
        AlertDescription::CertificateUnknown => "the client certificate is not acceptable",
        AlertDescription::UnknownCA => "the client certificate's issuer is not trusted",
        AlertDescription::UnsupportedCertificate => "the client certificate is not for clients",
        AlertDescription::NoApplicationProtocol => "it offers neither HTTP/2 nor HTTP/1.1",
        AlertDescription::ProtocolVersion => "it offers no version of TLS that we do",
        _ => "see its log",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_read_whoever_wrote_it() {
        let status = StatusCode::FORBIDDEN;
        let known = Refused::read(
            status,
            br#"{"error":{"code":"operation_denied","message":"no\u001b[2J","request":"000102030405060708090a0b0c0d0e0f"}}"#,
        );
        assert_eq!(known.code, Some(Code::OperationDenied));
        assert_eq!(known.to_string(), "no\\u{1b}[2J");
        assert!(known.request.is_some());
        let newer = Refused::read(status, br#"{"error":{"code":"x","message":"y","z":1}}"#);
        assert_eq!((newer.code, newer.to_string().as_str()), (None, "y"));
        for foreign in [&b""[..], b"<html>", b"{}", b"\xFF"] {
            let refused = Refused::read(status, foreign);
            assert_eq!(refused.code, None);
            assert_eq!(refused.to_string(), "the service answered 403 Forbidden");
        }
        let long = format!(
            r#"{{"error":{{"code":"x","message":"{}"}}}}"#,
            "m".repeat(5000)
        );
        let long = Refused::read(status, long.as_bytes());
        assert_eq!(long.message.len(), LONGEST_MESSAGE);
    }
}
