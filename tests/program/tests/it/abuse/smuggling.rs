//! HTTP/1.1 whose length can be read in two ways: no second request comes out of what one client sent as one, and the
//! connection ends.

use std::time::Duration;

use keywright_tls::Protocol;

use crate::fixture::*;

/// What an attacker would have carried out by being misread.
const SMUGGLED: &str =
    "POST /v1/random HTTP/1.1\r\nHost: localhost\r\nContent-Length: 11\r\n\r\n{\"bytes\":8}";

/// A request whose lines are `lines`, with a body in which another request lies.
fn request(lines: &str, body: &str) -> String {
    let path = path(EXCHANGE, "encrypt");
    format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n\r\n{body}{SMUGGLED}")
}

/// Refused: there is no way to read it, or none that everybody shares.
fn unreadable() -> Vec<String> {
    let lines = [
        // Two lengths.
        "Content-Length: 6\r\nContent-Length: 7",
        "Content-Length: 0\r\nContent-Length: 78",
        "Content-Length: 6, 6",
        "Content-Length: 6, 7",
        // Lengths that are none.
        "Content-Length: +6",
        "Content-Length: -6",
        "Content-Length: 0x6",
        "Content-Length: 6 6",
        "Content-Length: 6;",
        "Content-Length: \"6\"",
        "Content-Length: 18446744073709551616",
        "Content-Length: 18446744073709551615",
        "Content-Length:",
        "Content-Length: \u{b}6",
        // Codings that do not end in chunks, or not readably.
        "Transfer-Encoding: identity",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: \u{b}chunked",
        "Transfer-Encoding: gzip\r\nContent-Length: 6",
        // Names and lines that others read otherwise.
        "Transfer-Encoding : chunked",
        "Content-Length : 6",
        "Content-Length: 6\r\n Transfer-Encoding: chunked",
        "X: y\r\n Content-Length: 6",
        "Transfer-Encoding:\r\n chunked",
        "X: y\rTransfer-Encoding: chunked",
        "X: y\0\r\nContent-Length: 6",
        ": x\r\nContent-Length: 6",
        "Content\u{7f}Length: 6",
    ];
    let mut requests: Vec<_> = lines
        .iter()
        .map(|lines| request(lines, "0\r\n\r\n"))
        .collect();
    requests.extend(bad_chunks());
    requests.extend([
        // Older than chunks.
        format!(
            "POST {} HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{SMUGGLED}",
            path(EXCHANGE, "encrypt")
        ),
        format!(
            "POST {} HTTP/1.1\r\nHost: localhost\r\n{SMUGGLED}",
            "/v1/random\u{b}x"
        ),
        format!("POST  /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n{SMUGGLED}"),
        format!("POST\t/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n{SMUGGLED}"),
        format!("POST /v1/health HTTP/1.1 x\r\nHost: localhost\r\n\r\n{SMUGGLED}"),
        format!("POST /v1/health\r\nHost: localhost\r\n\r\n{SMUGGLED}"),
    ]);
    requests
}

/// Bodies in chunks whose sizes are none.
fn bad_chunks() -> impl Iterator<Item = String> {
    [
        "-1\r\nx\r\n0\r\n\r\n",
        "+5\r\nhello\r\n0\r\n\r\n",
        "0x5\r\nhello\r\n0\r\n\r\n",
        "5g\r\nhello\r\n0\r\n\r\n",
        "ffffffffffffffffff\r\nhello\r\n0\r\n\r\n",
        "5\r\nhello6\r\n0\r\n\r\n",
        "5\r\nhelloxx0\r\n\r\n",
        "\r\n0\r\n\r\n",
        "5\nhello\r\n0\r\n\r\n",
        "5\r\nhello\n0\r\n\r\n",
        "5;x\n\r\nhello\r\n0\r\n\r\n",
        "5 5\r\nhello\r\n0\r\n\r\n",
        "0;\r\r\n\r\n",
    ]
    .into_iter()
    .map(|body| request("Transfer-Encoding: chunked", body))
}

/// Read in one way, which is the standard's, and the connection is not used again (RFC 9112, 6.1).
fn ambiguous() -> Vec<String> {
    [
        "Content-Length: 6\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 6",
        "Content-Length: 200\r\nTransfer-Encoding: chunked",
        "Content-Length: 6\r\nContent-Length: 6\r\nTransfer-Encoding: chunked",
        "Content-Length: nonsense\r\nTransfer-Encoding: chunked",
    ]
    .iter()
    .map(|lines| request(lines, "0\r\n\r\n"))
    .collect()
}

/// What was answered until the connection ended.
fn answers(site: &Site, request: &str) -> String {
    let tls = site
        .home
        .tls(Some(site.home.identity(TRADING)), Protocol::Http1);
    let told = raw(
        site.address(),
        tls,
        request.as_bytes(),
        Duration::from_secs(20),
    );
    told.unwrap_or_else(|| panic!("the connection goes on: {request:?}"))
}

fn count(told: &str) -> usize {
    told.matches("HTTP/1.1 ").count()
}

/// Who waits for the rest of a body that never comes is cut off soon.
fn site() -> Site {
    let home = Home::demo()
        .configure("body_timeout_s = 30", "body_timeout_s = 1")
        .configure("header_timeout_s = 5", "header_timeout_s = 1")
        .configure("idle_timeout_s = 120", "idle_timeout_s = 1");
    Site::over(home)
}

fn carried_out(home: &Home) -> usize {
    let requests = home.requests();
    let random = requests.iter().filter(|one| one["operation"] == "random");
    random.count()
}

/// Sends all of them, each over its own connection, and looks at what was answered.
fn each(site: &Site, requests: &[String], look: impl Fn(&str, &str) + Sync) {
    let look = &look;
    for some in requests.chunks(8) {
        std::thread::scope(|scope| {
            for request in some {
                scope.spawn(move || look(request, &answers(site, request)));
            }
        });
    }
}

#[test]
fn a_request_whose_length_cannot_be_read_is_refused_and_nothing_behind_it_is_carried_out() {
    let site = site();
    each(&site, &unreadable(), |request, told| {
        assert!(count(told) <= 1, "{request:?}: {told}");
        assert!(!told.starts_with("HTTP/1.1 2"), "{request:?}: {told}");
    });
    let home = site.stop();
    assert_eq!(carried_out(&home), 0, "a request came out of a body");
    home.verify();
}

#[test]
fn a_request_with_two_kinds_of_length_is_read_as_the_standard_says_and_is_the_last() {
    let site = site();
    each(&site, &ambiguous(), |request, told| {
        assert!(count(told) <= 1, "{request:?}: {told}");
        assert!(!told.starts_with("HTTP/1.1 2"), "{request:?}: {told}");
    });
    let home = site.stop();
    assert_eq!(carried_out(&home), 0, "a request came out of a body");
    home.verify();
}

#[test]
fn requests_one_behind_the_other_are_carried_out_where_their_lengths_are_right() {
    let site = site();
    let good = item(&[("plaintext", b"x")]);
    let length = format!("Content-Length: {}", good.len());
    let chunks = format!("{:x}\r\n{good}\r\n0\r\n\r\n", good.len());
    let twice = format!("{length}\r\n{length}");
    let requests = [
        request(&length, &good),
        request("Transfer-Encoding: chunked", &chunks),
        // The same length said twice is one length.
        request(&twice, &good),
    ];
    each(&site, &requests, |request, told| {
        assert_eq!(
            told.matches("HTTP/1.1 200").count(),
            2,
            "{request:?}: {told}"
        );
    });
    assert_eq!(carried_out(&site.stop()), requests.len());
}

#[test]
fn no_upgrade_leads_out_of_the_service() {
    let site = site();
    let requests = [
        "CONNECT localhost:8443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /v1/nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\n\
         Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
        "GET /v1/nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
        "TRACE /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ];
    let requests = requests.map(|head| format!("{head}PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    each(&site, &requests, |request, told| {
        assert!(told.starts_with("HTTP/1.1 4"), "{request:?}: {told}");
        assert!(!told.contains("101 Switching"), "{request:?}: {told}");
    });
    site.stop().verify();
}
