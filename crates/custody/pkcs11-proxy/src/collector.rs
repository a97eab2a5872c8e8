//! A collector of OpenTelemetry: spans in batches, by OTLP over HTTP with JSON (`POST` of an
//! `ExportTraceServiceRequest`).
//!
//! Plain HTTP/1.1, as to a collector on the same machine; one connection for each batch. What is not taken within
//! the time that it has is lost and counted; a collector that did not answer is left alone for a second. Not here:
//! TLS, compression, repeats.

use std::io::{Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use keywright_clock::{Clock, MonotonicTime};
use serde_json::json;

/// Where spans go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// `HOST:PORT`, as a connection and the request want it.
    authority: String,
    path: String,
}

/// A collector, and what is said of this process with every batch.
pub(crate) struct Collector {
    endpoint: Endpoint,
    /// The request's body before its spans.
    before: String,
    tried: Option<MonotonicTime>,
}

/// Behind the spans.
const AFTER: &str = "]}]}]}";
/// The time for a connection, and for each piece of a request or an answer.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long a collector that failed is left alone.
const AGAIN: Duration = Duration::from_secs(1);
/// The port and the path that OTLP over HTTP has by default.
const PORT: &str = "4318";
const PATH: &str = "/v1/traces";

impl Endpoint {
    /// Of `http://HOST[:PORT][/PATH]`; nothing else is one.
    pub(crate) fn parse(url: &str) -> Option<Self> {
        let rest = url.strip_prefix("http://")?;
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at_checked(at)?,
            None => (rest, ""),
        };
        let fit = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        if authority.is_empty() || authority.contains('@') || !fit(authority) || !fit(path) {
            return None;
        }
        let named = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                port.parse::<u16>().ok().filter(|_| !host.is_empty())?;
                authority.to_owned()
            }
            _ => format!("{authority}:{PORT}"),
        };
        let path = if path.len() > 1 { path } else { PATH };
        Some(Self {
            authority: named,
            path: path.to_owned(),
        })
    }
}

impl Collector {
    pub(crate) fn new(endpoint: Endpoint, module: &str) -> Self {
        let program = std::env::current_exe().ok();
        let program = program.as_deref().and_then(|path| path.file_name());
        let program = program.map_or("unknown".into(), |name| name.to_string_lossy());
        let text = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
        let process = std::process::id().to_string();
        let resource = json!({"attributes": [
            text("service.name", &program),
            text("pkcs11.module", module),
            json!({"key": "process.pid", "value": {"intValue": process}}),
        ]});
        let scope =
            json!({"name": "keywright.pkcs11.recorder", "version": env!("CARGO_PKG_VERSION")});
        Self {
            endpoint,
            before: format!(
                r#"{{"resourceSpans":[{{"resource":{resource},"scopeSpans":[{{"scope":{scope},"spans":["#
            ),
            tried: None,
        }
    }

    /// Sends spans, a line each. Whether the collector took them.
    pub(crate) fn send(&mut self, lines: &[u8], clock: &Clock) -> bool {
        let resting = |tried: MonotonicTime| clock.monotonic() < tried.plus(AGAIN);
        if self.tried.is_some_and(resting) {
            return false;
        }
        self.tried = None;
        let taken = self.post(lines).is_some();
        if !taken {
            self.tried = Some(clock.monotonic());
        }
        taken
    }

    fn post(&self, lines: &[u8]) -> Option<()> {
        let Endpoint { authority, path } = &self.endpoint;
        let spans = lines.strip_suffix(b"\n").unwrap_or(lines);
        let length = self.before.len() + spans.len() + AFTER.len();
        let mut request = Vec::with_capacity(length + 256);
        request.extend_from_slice(
            format!(
                "POST {path} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\n\
                 Content-Length: {length}\r\nConnection: close\r\n\r\n{}",
                self.before
            )
            .as_bytes(),
        );
        // No line has an end within: JSON writes it as two characters.
        request.extend(
            spans
                .iter()
                .map(|byte| if *byte == b'\n' { b',' } else { *byte }),
        );
        request.extend_from_slice(AFTER.as_bytes());
        let address = authority.to_socket_addrs().ok()?.next()?;
        let mut stream = TcpStream::connect_timeout(&address, PATIENCE).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        stream.set_write_timeout(Some(PATIENCE)).ok()?;
        stream.write_all(&request).ok()?;
        accepted(&mut stream)
    }
}

/// Whether an answer begins with a status that says yes.
fn accepted(stream: &mut TcpStream) -> Option<()> {
    let mut status = [0; 12];
    stream.read_exact(&mut status).ok()?;
    let (protocol, code) = status.split_at(9);
    (protocol.starts_with(b"HTTP/1.") && code.starts_with(b"2")).then_some(())
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn an_endpoint_has_a_host_and_the_rest_has_defaults() {
        for (url, authority, path) in [
            ("http://localhost", "localhost:4318", "/v1/traces"),
            ("http://127.0.0.1:9/", "127.0.0.1:9", "/v1/traces"),
            ("http://[::1]", "[::1]:4318", "/v1/traces"),
            ("http://[::1]:80/x/y", "[::1]:80", "/x/y"),
        ] {
            let endpoint = Endpoint::parse(url).unwrap();
            assert_eq!((&*endpoint.authority, &*endpoint.path), (authority, path));
        }
        for wrong in [
            "",
            "localhost:4318",
            "https://localhost",
            "http://",
            "http:///v1/traces",
            "http://host:port",
            "http://host:99999",
            "http://:80",
            "http://user@host",
            "http://host/a b",
            "http://host\r\nx",
        ] {
            assert_eq!(Endpoint::parse(wrong), None, "{wrong}");
        }
    }

    /// Takes one request, answers with `status`, and gives back the body.
    fn taken(status: &'static str, lines: &[u8]) -> (bool, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream);
            let mut length = 0;
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some(value) = line.strip_prefix("Content-Length: ") {
                    length = value.trim().parse().unwrap();
                }
                if line == "\r\n" {
                    break;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            reader.get_mut().write_all(status.as_bytes()).unwrap();
            String::from_utf8(body).unwrap()
        });
        let endpoint = Endpoint::parse(&endpoint).unwrap();
        let mut collector = Collector::new(endpoint, "module.so");
        let sent = collector.send(lines, &Clock::system());
        (sent, server.join().unwrap())
    }

    #[test]
    fn a_batch_is_one_request_with_all_its_spans() {
        let (sent, body) = taken(
            "HTTP/1.1 200 OK\r\n\r\n",
            b"{\"name\":\"a\"}\n{\"name\":\"b\"}\n",
        );
        assert!(sent);
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        let spans = &body["resourceSpans"][0]["scopeSpans"][0]["spans"];
        assert_eq!(spans.as_array().unwrap().len(), 2);
        assert_eq!(spans[1]["name"], "b");
        let resource = &body["resourceSpans"][0]["resource"]["attributes"];
        assert_eq!(resource[1]["value"]["stringValue"], "module.so");
    }

    #[test]
    fn a_collector_that_refuses_or_is_not_there_is_left_alone_for_a_while() {
        for status in [
            "HTTP/1.1 429 Too Many Requests\r\n\r\n",
            "HTTP/1.1 ",
            "SSH-2.0-x\r\n\r\n",
        ] {
            assert!(!taken(status, b"{}\n").0, "{status}");
        }
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", free.local_addr().unwrap());
        drop(free);
        let wall = keywright_clock::WallTime::from_unix_seconds(0);
        let (clock, hand) = Clock::simulated(wall);
        let mut collector = Collector::new(Endpoint::parse(&endpoint).unwrap(), "m");
        assert!(!collector.send(b"{}\n", &clock));
        let listener = TcpListener::bind(endpoint.strip_prefix("http://").unwrap()).unwrap();
        listener.set_nonblocking(true).unwrap();
        assert!(!collector.send(b"{}\n", &clock));
        assert!(listener.accept().is_err(), "tried again at once");
        hand.advance(AGAIN);
        // Nobody answers this time either, but it was tried.
        assert!(!collector.send(b"{}\n", &clock));
        assert!(listener.accept().is_ok());
    }
}
