//! What went wrong, as a phase and a code.

use std::error::Error as StdError;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use keywright_client::watched::Alert;
use keywright_measure::{Fault, FaultPhase, TargetError};
use rustls::AlertDescription;

/// How a connection fares, seen from its driver and from its users.
#[derive(Debug, Default)]
pub(super) struct Health {
    over: AtomicBool,
    alert: Alert,
}

impl Health {
    /// Where the connection's stream notes the alert that it was ended with.
    pub(super) fn alert(&self) -> Alert {
        self.alert.clone()
    }

    /// The connection takes no more requests.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Release);
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// An alert says more than what came of it.
    fn refusal(&self) -> Option<Fault> {
        self.alert.get().map(refused)
    }

    /// A failure of a stream or of the connection below it.
    pub(super) fn h2(&self, error: &h2::Error) -> Fault {
        if let Some(fault) = self.refusal() {
            return fault;
        }
        let code = match error.reason() {
            Some(reason) if error.is_go_away() => format!("goaway_{reason:?}").to_lowercase(),
            Some(reason) => format!("{reason:?}").to_lowercase(),
            None => CLOSED.to_owned(),
        };
        Fault::new(FaultPhase::Stream, code)
    }

    /// A failure of an HTTP/1.1 connection.
    pub(super) fn http1(&self, error: &hyper::Error) -> Fault {
        let gone = error.is_closed() || error.is_canceled() || error.is_incomplete_message();
        self.refusal().unwrap_or_else(|| {
            let io = find::<io::Error>(error).is_some();
            let code = if gone || io { CLOSED } else { "protocol" };
            Fault::new(FaultPhase::Stream, code)
        })
    }
}

/// A connection that ended before the answer.
const CLOSED: &str = "closed";

/// An answer of more bytes than are taken.
pub(super) fn too_large() -> Fault {
    Fault::new(FaultPhase::Stream, "answer_too_large")
}

fn refused(alert: AlertDescription) -> Fault {
    Fault::new(FaultPhase::Tls, snake(&format!("{alert:?}")))
}

/// A failure while connecting: of TLS, or below it.
pub(super) fn connecting(error: &io::Error) -> Fault {
    if let Some(alert) = Alert::received(error) {
        return refused(alert);
    }
    match find::<rustls::Error>(error) {
        Some(rustls::Error::InvalidCertificate(_)) => {
            Fault::new(FaultPhase::Tls, "server_not_trusted")
        }
        Some(_) => Fault::new(FaultPhase::Tls, "handshake"),
        None => Fault::new(FaultPhase::Dial, snake(&format!("{:?}", error.kind()))),
    }
}

/// Why a target cannot be measured, from the fault of its first connection.
pub(super) fn unusable(target: &str, fault: &Fault) -> TargetError {
    let (target, reason) = (target.to_owned(), fault.to_string());
    match fault.phase() {
        FaultPhase::Tls => TargetError::Authentication { target, reason },
        _ => TargetError::Unreachable { target, reason },
    }
}

/// The first error of a type among an error and its sources.
fn find<'a, E: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // `source` of an io::Error skips the error it wraps.
        let inner = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        next = match inner {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}

/// `ConnectionRefused` becomes `connection_refused`.
fn snake(name: &str) -> String {
    let mut code = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        if character.is_ascii_uppercase() && !code.is_empty() {
            code.push('_');
        }
        code.push(character.to_ascii_lowercase());
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_while_connecting_tells_the_network_from_tls() {
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        assert_eq!(connecting(&refused).to_string(), "dial: connection_refused");
        let alert = rustls::Error::AlertReceived(AlertDescription::CertificateUnknown);
        let wrapped = io::Error::new(io::ErrorKind::InvalidData, alert);
        assert_eq!(connecting(&wrapped).to_string(), "tls: certificate_unknown");
        let other = io::Error::new(io::ErrorKind::InvalidData, rustls::Error::DecryptError);
        assert_eq!(connecting(&other).to_string(), "tls: handshake");
    }

    #[test]
    fn an_alert_explains_what_came_after_it() {
        let health = Health::default();
        let reset = h2::Error::from(h2::Reason::REFUSED_STREAM);
        assert_eq!(health.h2(&reset).to_string(), "stream: refused_stream");
        health.alert().note(AlertDescription::CertificateRevoked);
        assert_eq!(health.h2(&reset).to_string(), "tls: certificate_revoked");
    }

    #[test]
    fn only_a_refusal_of_tls_is_about_who_we_are() {
        let tls = Fault::new(FaultPhase::Tls, "handshake");
        assert!(matches!(
            unusable("a", &tls),
            TargetError::Authentication { .. }
        ));
        let dial = Fault::new(FaultPhase::Dial, "connection_refused");
        assert!(matches!(
            unusable("a", &dial),
            TargetError::Unreachable { .. }
        ));
    }
}
