//! What is known about a store beside its figures.

use std::collections::BTreeMap;
use std::net::ToSocketAddrs;

use http::StatusCode;
use keywright_measure::{TargetError, Word};
use keywright_tls::Protocol;
use serde_json::Value;

use super::session::Session;
use super::settings::Origin;
use super::standin::MARK;

/// Facts about a store, for the environment of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    name: String,
    entries: BTreeMap<String, String>,
    words: Vec<Word>,
}

/// What the health request says of a store that takes part without being the active one.
const HEALTH: &str = "sys/health?standbyok=true&perfstandbyok=true";

impl Facts {
    /// The store's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Fact by fact: `address`, `protocol`, `tls`, `client_certificate`, `version`, `storage`, `seal`,
    /// `sealed`, `standby`, `location`, `mode`.
    #[must_use]
    pub const fn entries(&self) -> &BTreeMap<String, String> {
        &self.entries
    }

    /// The words that stand beside every figure: [`Word::CoLocated`] for a store on this machine,
    /// [`Word::StandIn`] for a stand-in.
    #[must_use]
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// Whether a stand-in answered.
    #[must_use]
    pub fn is_stand_in(&self) -> bool {
        self.words.contains(&Word::StandIn)
    }

    /// Asks the store; one that is not in service is an error.
    pub(super) fn gather(session: &mut Session) -> Result<Self, TargetError> {
        let health = healthy(session)?;
        let seal = seal_status(session)?;
        let settings = session.settings();
        let stand_in = settings.origin == Origin::StandIn || text(&health, "cluster_name") == MARK;
        let local = is_local(&settings.url);
        let mode = match (stand_in, settings.origin) {
            (true, _) => "stand-in",
            (false, Origin::Development) => "development",
            (false, _) => "as found",
        };
        let standby = health["standby"].as_bool() == Some(true);
        let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
        let entries = [
            ("address", settings.url.clone()),
            ("protocol", protocol(settings.protocol).to_owned()),
            ("tls", "1.3".to_owned()),
            ("client_certificate", yes(settings.shows_certificate())),
            ("version", text(&health, "version")),
            ("storage", text(&seal, "storage_type")),
            ("seal", text(&seal, "type")),
            ("sealed", yes(false)),
            ("standby", yes(standby)),
            (
                "location",
                if local { "this machine" } else { "remote" }.to_owned(),
            ),
            ("mode", mode.to_owned()),
        ];
        let words = [(local, Word::CoLocated), (stand_in, Word::StandIn)];
        Ok(Self {
            name: settings.name.clone(),
            entries: entries.map(|(key, value)| (key.to_owned(), value)).into(),
            words: words
                .into_iter()
                .filter(|(is, _)| *is)
                .map(|(_, word)| word)
                .collect(),
        })
    }
}

/// The answer about its health, of a store that is in service.
fn healthy(session: &mut Session) -> Result<Value, TargetError> {
    let request = session.get(HEALTH)?;
    let reply = session.ask(&request)?;
    let parsed: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    match out_of_service(reply.status, &parsed) {
        Some(reason) => Err(session.settings().unreachable(&reason)),
        None => Ok(parsed),
    }
}

/// Why a store that gives this answer about its health cannot be measured.
fn out_of_service(status: StatusCode, health: &Value) -> Option<String> {
    if health["sealed"].as_bool() == Some(true) {
        return Some("it is sealed".to_owned());
    }
    if health["initialized"].as_bool() == Some(false) {
        return Some("it is not initialised".to_owned());
    }
    // Anything else that listens there answers something as well.
    if status != StatusCode::OK || health["initialized"].as_bool() != Some(true) {
        let status = status.as_u16();
        return Some(format!("status {status} to the question about its health"));
    }
    None
}

/// Says more than the health does; a store that keeps it to itself is measured all the same.
fn seal_status(session: &mut Session) -> Result<Value, TargetError> {
    let request = session.get("sys/seal-status")?;
    let reply = session.ask(&request)?;
    Ok(serde_json::from_slice(&reply.body).unwrap_or_default())
}

/// Text of a store goes into documents: short, and printable.
fn text(value: &Value, field: &str) -> String {
    let text = value[field].as_str().unwrap_or("unknown");
    text.chars()
        .filter(|c| c.is_ascii_graphic() || *c == ' ')
        .take(64)
        .collect()
}

const fn protocol(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Http2 => "HTTP/2",
        _ => "HTTP/1.1",
    }
}

/// Whether every address of the host is one of this machine's loopback.
fn is_local(url: &str) -> bool {
    let Ok(uri) = url.parse::<http::Uri>() else {
        return false;
    };
    let host = uri.host().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let Ok(found) = (bare, uri.port_u16().unwrap_or(443)).to_socket_addrs() else {
        return false;
    };
    let found: Vec<_> = found.collect();
    !found.is_empty() && found.iter().all(|address| address.ip().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_this_machine_and_other_addresses_are_not() {
        for url in [
            "https://127.0.0.1:8200",
            "https://[::1]:8200",
            "https://127.9.9.9",
        ] {
            assert!(is_local(url), "{url}");
        }
        for url in [
            "https://192.0.2.1:8200",
            "https://[2001:db8::1]",
            "no address",
            "",
        ] {
            assert!(!is_local(url), "{url}");
        }
    }

    #[test]
    fn only_a_store_that_calls_itself_ready_is_in_service() {
        let ready = serde_json::json!({ "initialized": true, "sealed": false });
        assert_eq!(out_of_service(StatusCode::OK, &ready), None);
        let sealed = serde_json::json!({ "initialized": true, "sealed": true });
        let new = serde_json::json!({ "initialized": false, "sealed": true });
        let empty = serde_json::json!({ "initialized": false, "sealed": false });
        for (status, health, reason) in [
            (503, &sealed, "it is sealed"),
            (200, &sealed, "it is sealed"),
            (501, &new, "it is sealed"),
            (501, &empty, "it is not initialised"),
            (472, &ready, "status 472 to the question about its health"),
            (
                200,
                &Value::Null,
                "status 200 to the question about its health",
            ),
            (
                307,
                &Value::Null,
                "status 307 to the question about its health",
            ),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(out_of_service(status, health).as_deref(), Some(reason));
        }
    }

    #[test]
    fn words_of_a_store_are_cut_and_lose_what_does_not_print() {
        let said = serde_json::json!({ "version": format!("1\u{1b}[31m{}", "x".repeat(99)) });
        let text = text(&said, "version");
        assert_eq!((text.len(), text.contains('\u{1b}')), (64, false));
        assert_eq!(super::text(&said, "storage_type"), "unknown");
    }
}
