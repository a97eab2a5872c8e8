//! Any URL as a target: a GET of it, over HTTP/2 or HTTP/1.1 and TLS.
//!
//! An answer of the statuses 200 to 299 is a success. Nothing is known of what such an answer has to say, so
//! outputs are counted as unverified.
//!
//! Not here: methods that change something, redirects, and plain text connections.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Uri};
use keywright_clock::Clock;
use keywright_measure::TargetError;
use keywright_measure::ledger::Outcome;
use keywright_tls::{ClientIdentity, Protocol, client_config};

use crate::http::{
    Call, Carrier, Draw, Endpoint, Exchange, Lines, Look, Prepared, Reply, Step, service_fault,
};
use crate::suite::{HttpVersion, SuiteCase, Tls};

/// Carries requests for one URL.
pub(crate) fn carrier(
    case: &SuiteCase,
    url: &str,
    tls: &Tls,
) -> Result<Carrier<Asking>, TargetError> {
    let name = &case.plan.target;
    let protocol = match case.http {
        Some(HttpVersion::One) => Protocol::Http1,
        Some(HttpVersion::Two) | None => Protocol::Http2,
    };
    let (server, path) = split(name, url)?;
    let config = config(name, tls, protocol)?;
    let endpoint = Endpoint::new(name, &server, vec![config], protocol)?;
    let request = endpoint.prepare(Method::GET, &path, Bytes::new())?;
    let given = (case.connections, case.streams);
    let (connections, streams) = places(protocol, given, case.plan.load.cap().get());
    let lines = Lines::connect(endpoint.with_hello(&path), connections, streams)?;
    Ok(Carrier::new(lines, Asking { request }))
}

/// What servers are advised to allow at least (RFC 9113, section 6.5.2), and nearly all do.
const STREAMS: u32 = 100;

/// Connections, and streams on each: as many as the load has places where the suite does not say.
fn places(
    protocol: Protocol,
    (connections, streams): (Option<u32>, Option<u32>),
    cap: u32,
) -> (u32, u32) {
    let usual = match (protocol, streams) {
        (Protocol::Http1, _) => cap,
        (_, Some(_)) => 1,
        (_, None) => cap.div_ceil(STREAMS),
    };
    let connections = connections.unwrap_or(usual).max(1);
    (connections, streams.unwrap_or(cap.div_ceil(connections)))
}

/// The server, and what is asked of it.
fn split(name: &str, url: &str) -> Result<(String, String), TargetError> {
    let wrong = || TargetError::Unreachable {
        target: name.to_owned(),
        reason: "the address must be https://host with an optional port and path".to_owned(),
    };
    let uri: Uri = url.parse().map_err(|_| wrong())?;
    let authority = uri.authority().ok_or_else(wrong)?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    Ok((format!("https://{authority}"), path.to_owned()))
}

fn config(
    name: &str,
    tls: &Tls,
    protocol: Protocol,
) -> Result<Arc<keywright_tls::ClientConfig>, TargetError> {
    let read = |path: &std::path::Path| {
        std::fs::read(path)
            .map_err(|error| TargetError::System(format!("{}: {error}", path.display())))
    };
    let refused = |error: keywright_tls::Error| TargetError::Authentication {
        target: name.to_owned(),
        reason: error.to_string(),
    };
    let ca = tls.ca.as_deref();
    let ca = read(ca.ok_or(TargetError::Load("the target names no ca"))?)?;
    let identity = match (&tls.cert, &tls.key) {
        (Some(cert), Some(key)) => {
            let key = keywright_secret::SecretBytes::from_vec(read(key)?);
            Some(ClientIdentity::from_pem(&read(cert)?, key.expose()).map_err(refused)?)
        }
        _ => None,
    };
    client_config(&ca, identity, &[protocol], &Clock::system()).map_err(refused)
}

/// The same request again and again.
pub(crate) struct Asking {
    request: Prepared,
}

impl Exchange for Asking {
    type Ticket = ();

    fn restart(&mut self, _: u64) {}

    fn draw(&mut self, _: Option<u32>) -> Draw {
        Draw::default()
    }

    fn call(&mut self, _: Draw) -> Call<()> {
        Call {
            request: self.request.clone(),
            ticket: (),
        }
    }

    fn answer(&mut self, (): (), reply: &Reply, _: Look) -> Step<()> {
        Step::Done(if reply.status.is_success() {
            Outcome::Unchecked
        } else {
            Outcome::Failed(service_fault(reply))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_connections_are_opened_as_servers_commonly_need_for_that_many_at_once() {
        for (given, cap, both) in [
            ((None, None), 1, (1, 1)),
            ((None, None), 100, (1, 100)),
            ((None, None), 101, (2, 51)),
            ((None, None), 1000, (10, 100)),
            // What is said counts, whatever a server will say to it.
            ((Some(4), None), 1000, (4, 250)),
            ((None, Some(1000)), 1000, (1, 1000)),
            ((Some(2), Some(3)), 6, (2, 3)),
        ] {
            assert_eq!(places(Protocol::Http2, given, cap), both, "{given:?} {cap}");
        }
        assert_eq!(places(Protocol::Http1, (None, None), 50), (50, 1));
        assert_eq!(places(Protocol::Http1, (Some(5), None), 50), (5, 10));
    }

    #[test]
    fn a_url_is_a_server_and_what_is_asked_of_it() {
        for (url, server, path) in [
            ("https://a.test", "https://a.test", "/"),
            ("https://a.test:8443/", "https://a.test:8443", "/"),
            ("https://[::1]:1/a/b?c=d", "https://[::1]:1", "/a/b?c=d"),
        ] {
            assert_eq!(
                split("x", url).unwrap(),
                (server.to_owned(), path.to_owned())
            );
        }
        for wrong in ["", "/path", "https://"] {
            assert!(split("x", wrong).is_err(), "{wrong}");
        }
    }
}
