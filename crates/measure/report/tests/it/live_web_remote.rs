//! An exposed dashboard: nothing without TLS, nothing but the empty page without the token.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use keywright_clock::Clock;
use keywright_measure::event::Observer;
use keywright_network::ca::TestAuthority;
use keywright_report::live::Live;
use keywright_report::live::web::{AccessToken, Exposure, Limits, Running, start};
use keywright_tls::{ClientTrust, Protocol, ServerIdentity, client_config, server_config};
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, StreamOwned};

use crate::live_canned::under_way;
use crate::live_client::{Answer, Shelf, connect};

const TOKEN: &str = "correct-horse-battery-staple-0123456789";

struct Exposed {
    running: Running,
    client: Arc<ClientConfig>,
}

impl Exposed {
    fn new() -> Self {
        let clock = Clock::system();
        let authority = TestAuthority::new(clock.wall());
        let issued = authority.server();
        let identity =
            ServerIdentity::from_pem(issued.certificate_pem.as_bytes(), issued.key_pem.expose())
                .unwrap();
        let trust: Arc<ClientTrust> = authority.trust(&clock);
        let tls = server_config(identity, trust, &[Protocol::Http1]).unwrap();
        let known = authority.trading();
        let identity = keywright_tls::ClientIdentity::from_pem(
            known.certificate_pem.as_bytes(),
            known.key_pem.expose(),
        );
        let roots = authority.certificate_pem().as_bytes();
        let client =
            client_config(roots, Some(identity.unwrap()), &[Protocol::Http1], &clock).unwrap();
        let live = Arc::new(Live::new(clock, 1));
        for (_, event) in under_way(3) {
            live.event(&event);
        }
        let exposure = Exposure::Remote {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            tls,
            token: AccessToken::new(TOKEN).unwrap(),
            names: vec!["bench.example".to_owned()],
        };
        let running = start(exposure, Limits::default(), live, Arc::new(Shelf)).unwrap();
        Self { running, client }
    }

    fn ask(&self, line: &str, more: &str) -> Answer {
        self.to("localhost", line, more)
    }

    fn to(&self, host: &str, line: &str, more: &str) -> Answer {
        let name = ServerName::try_from("localhost").unwrap();
        let connection = ClientConnection::new(Arc::clone(&self.client), name).unwrap();
        let mut stream = StreamOwned::new(connection, connect(self.running.local_addr()));
        write!(
            stream,
            "{line} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{more}\r\n"
        )
        .unwrap();
        Answer::read(&mut stream)
    }
}

#[test]
fn data_needs_the_token_and_the_empty_page_does_not() {
    let exposed = Exposed::new();
    assert!(exposed.running.url().starts_with("https://127.0.0.1:"));
    for path in ["/", "/app.js", "/app.css", "/icon.svg"] {
        let answer = exposed.ask(&format!("GET {path}"), "");
        assert_eq!(answer.status, 200, "{path}");
        assert!(!answer.body.contains("service.encrypt"), "{path}");
        assert!(answer.header("strict-transport-security").is_some());
    }
    for path in [
        "/snapshot.json",
        "/events",
        "/runs",
        "/runs.json",
        "/runs/9f2c41d07be8a365",
        "/trends",
        "/nothing",
    ] {
        for wrong in [
            "",
            "authorization: Bearer wrong\r\n",
            "authorization: Bearer\r\n",
            &format!("cookie: __Host-keywright-bench={TOKEN}\r\n"),
        ] {
            let answer = exposed.ask(&format!("GET {path}"), wrong);
            assert_eq!(
                (answer.status, answer.header("www-authenticate")),
                (401, Some("Bearer")),
                "{path} {wrong}"
            );
            assert!(!answer.body.contains("service.encrypt"));
        }
    }
    let right = format!("authorization: Bearer {TOKEN}\r\n");
    assert!(
        exposed
            .ask("GET /snapshot.json", &right)
            .body
            .contains("service.encrypt")
    );
}

#[test]
fn the_token_buys_a_session_that_no_script_and_no_other_site_can_use() {
    let exposed = Exposed::new();
    for wrong in ["", "authorization: Bearer wrong\r\n"] {
        let answer = exposed.ask("GET /session", wrong);
        assert_eq!((answer.status, answer.header("set-cookie")), (401, None));
    }
    let answer = exposed.ask(
        "GET /session",
        &format!("authorization: Bearer {TOKEN}\r\n"),
    );
    let cookie = answer.header("set-cookie").unwrap();
    assert_eq!(answer.status, 204);
    assert!(!cookie.contains(TOKEN));
    for part in [
        "__Host-",
        "; Path=/",
        "; Secure",
        "; HttpOnly",
        "; SameSite=Strict",
    ] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let pair = cookie.split(';').next().unwrap();
    assert_eq!(
        exposed
            .ask("GET /runs.json", &format!("cookie: {pair}\r\n"))
            .status,
        200
    );
    let cut = &pair[..pair.len() - 1];
    assert_eq!(
        exposed
            .ask("GET /runs.json", &format!("cookie: {cut}\r\n"))
            .status,
        401
    );
}

#[test]
fn names_that_were_not_given_are_refused_even_with_the_token() {
    let exposed = Exposed::new();
    let right = format!("authorization: Bearer {TOKEN}\r\n");
    for (host, status) in [
        ("bench.example:8443", 200),
        ("192.0.2.1", 200),
        ("evil.example", 421),
        ("bench.example.evil.example", 421),
    ] {
        assert_eq!(
            exposed.to(host, "GET /snapshot.json", &right).status,
            status,
            "{host}"
        );
    }
    assert_eq!(exposed.ask("POST /session", &right).status, 405);
}

#[test]
fn plain_http_gets_no_answer_on_an_exposed_address() {
    let exposed = Exposed::new();
    let mut stream = connect(exposed.running.local_addr());
    stream
        .write_all(b"GET /snapshot.json HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .unwrap();
    let mut bytes = Vec::new();
    drop(std::io::Read::read_to_end(&mut stream, &mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    assert!(
        !text.contains("HTTP/1.1") && !text.contains("service.encrypt"),
        "{text}"
    );
}
