//! Routes, bodies and refusals of the seed service, against its page.

use http::Method;
use keywright_api::seed::{
    DecryptBody, EncryptBody, Endpoint, add_to, decode_into, health, opened, refusal, refused,
    sealed,
};
use keywright_api::{Limits, openapi};
use keywright_types::{Code, KeyId, KeyVersion, VersionLabel};

const PAGE: &str = include_str!("../../../../../docs/seed-service.md");
const LIMITS: &Limits = &Limits::DEFAULT;

/// The rows of the table under a heading of the page, without those of its head.
fn rows(heading: &str) -> Vec<Vec<String>> {
    let section = PAGE.split(&format!("## {heading}\n")).nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let lines = section.lines().filter(|line| line.starts_with('|')).skip(2);
    let cells = |line: &str| {
        let cells = line.trim_matches('|').split(" | ");
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    lines.map(cells).collect()
}

#[test]
fn the_page_has_every_route_with_its_method_and_operation() {
    let rows = rows("Routes");
    assert_eq!(rows.len(), Endpoint::ALL.len());
    for endpoint in Endpoint::ALL {
        let path = format!("`{}`", endpoint.path());
        let row = rows.iter().find(|row| row[1] == path).unwrap();
        let any = endpoint.takes(&Method::GET);
        assert_eq!(row[0], if any { "any" } else { "POST" });
        assert!(endpoint.takes(&Method::POST));
        assert_eq!(row[2], format!("`{}`", endpoint.operation().name()));
        assert_eq!(Endpoint::of(endpoint.path()), Some(endpoint));
    }
    for path in [
        "",
        "/",
        "/encrypt/",
        "//encrypt",
        "/Encrypt",
        "encrypt",
        "/v1/encrypt",
    ] {
        assert_eq!(Endpoint::of(path), None, "{path}");
    }
}

#[test]
fn every_row_of_the_refusals_is_what_is_answered() {
    for row in rows("Refusals") {
        let status: u16 = row[0].parse().unwrap();
        let texts = |cell: &str| -> Vec<String> {
            let parts = cell.split('`').skip(1).step_by(2);
            parts.map(str::to_owned).collect()
        };
        for code in texts(&row[2]) {
            let Ok(code) = code.parse::<Code>() else {
                assert_eq!(code, "Retry-After");
                continue;
            };
            let told = Endpoint::ALL.map(|endpoint| refusal(endpoint, code, LIMITS));
            let sentences = texts(&row[1]);
            let fits = |told: &(http::StatusCode, std::borrow::Cow<'_, str>)| {
                told.0.as_u16() == status
                    && (sentences.is_empty() || sentences.contains(&told.1.to_string()))
            };
            assert!(told.iter().any(fits), "{code}: {told:?}");
        }
    }
}

#[test]
fn what_a_client_cannot_help_has_the_status_of_the_native_table() {
    for &code in Code::ALL {
        for endpoint in Endpoint::ALL {
            let (status, sentence) = refusal(endpoint, code, LIMITS);
            assert!(!sentence.contains(['"', '{', '\\']), "{code}");
            let native = keywright_api::error::entry(code);
            if native.retry_after().is_some() {
                assert_eq!(status, native.status(), "{code}");
            }
        }
    }
    let body = refused(Code::RateLimited, "rate limit exceeded");
    assert_eq!(
        body,
        b"{\"error\":\"rate limit exceeded\",\"code\":\"rate_limited\"}\n"
    );
}

#[test]
fn bodies_are_read_as_leniently_as_there_and_no_more() {
    let read = |body: &str| {
        let parsed = DecryptBody::parse(body.as_bytes(), LIMITS);
        parsed.map(|body| {
            let texts = [&body.context, &body.ciphertext, &body.key_id];
            texts.map(|text| text.expose().to_owned())
        })
    };
    let of = |texts: [&str; 3]| Ok(texts.map(str::to_owned));
    for (body, expected) in [
        (
            r#"{"context":"a","ciphertext":"b","key_id":"c"}"#,
            ["a", "b", "c"],
        ),
        (r#" {"Key_ID":"c","CONTEXT":"a"} trailing"#, ["a", "", "c"]),
        ("{}", ["", "", ""]),
        (
            r#"{"context":null,"key_id":"c","key_id":null}"#,
            ["", "", "c"],
        ),
        (r#"{"context":"a","context":"b"}"#, ["b", "", ""]),
        (r#"{"\u0063ontext":"\u0061"}{"context":"b"}"#, ["a", "", ""]),
        (
            r#"{"plaintext":7,"more":[[[{}]]],"context":"a"}"#,
            ["a", "", ""],
        ),
    ] {
        assert_eq!(read(body), of(expected), "{body}");
    }
    for bad in [
        "",
        " ",
        "null",
        "[]",
        "7",
        "\"a\"",
        "{",
        "{\"context\"",
        r#"{"context":7}"#,
        r#"{"context":["a"]}"#,
        r#"{"context":"a"#,
        r#"{"context":"a",}"#,
        r#"{"context":"\q"}"#,
        r#"{"more":nul}"#,
        "{'context':'a'}",
    ] {
        assert_eq!(read(bad), Err(Code::RequestMalformed), "{bad}");
    }
    let bytes = EncryptBody::parse(b"{\"context\":\"\xff\"}", LIMITS);
    assert_eq!(bytes.err(), Some(Code::RequestMalformed));
    let mut small = Limits::DEFAULT;
    small.body_bytes = 4;
    let large = EncryptBody::parse(b"{   }", &small);
    assert_eq!(large.err(), Some(Code::BodyTooLarge));
    let shown = format!(
        "{:?}",
        EncryptBody::parse(br#"{"plaintext":"c2VjcmV0"}"#, LIMITS)
    );
    assert!(!shown.contains("c2Vj"), "{shown}");
}

#[test]
fn line_ends_do_not_count_in_base64_and_everything_else_does() {
    let read = |text: &str| {
        let mut out = vec![9];
        decode_into(text, &mut out).map(|()| out[1..].to_vec())
    };
    for good in ["SGk=", "SG\r\nk=", "\nS\nG\nk\n=\n", "SGk\r="] {
        assert_eq!(read(good), Ok(b"Hi".to_vec()), "{good:?}");
    }
    assert_eq!(read("\r\n"), Ok(Vec::new()));
    for bad in [
        "SGk",
        "SGk=\t",
        "SG k=",
        "SG-_",
        "SGk==",
        "SGk=\nSGk=",
        "=\n",
        "SGl=",
    ] {
        assert_eq!(read(bad), Err(Code::Base64Invalid), "{bad:?}");
    }
}

#[test]
fn answers_have_the_shapes_of_that_service_and_end_their_line() {
    let label = VersionLabel {
        key: KeyId::from_bytes([0xab; 16]),
        version: KeyVersion::FIRST,
    };
    let text = |body: Vec<u8>| String::from_utf8(body).unwrap();
    assert_eq!(
        text(sealed(b"Hi", label)),
        format!(
            "{{\"ciphertext\":\"SGk=\",\"key_id\":\"kw1.{}.1\"}}\n",
            "ab".repeat(16)
        )
    );
    let mut body = opened(&[7; 1000]);
    let room = body.capacity();
    body.shrink_to_fit();
    assert!(room < body.len() + 64, "no more room than it takes");
    assert_eq!(text(opened(b"")), "{\"plaintext\":\"\"}\n");
    let labels = [("a\"b".to_owned(), true), ("c".to_owned(), false)];
    assert_eq!(
        text(health(true, true, &labels)),
        "{\"status\":\"healthy\",\"hsm_available\":true,\"kek_status\":{\"a\\\"b\":\"available\",\"c\":\"unavailable\"}}\n"
    );
    let down = text(health(false, false, &labels));
    assert!(
        down.contains("degraded") && !down.contains("\"available\""),
        "{down}"
    );
}

#[test]
fn the_description_resolves_and_is_there_only_when_it_is_added() {
    let mut document = openapi::document(LIMITS);
    assert!(document["paths"].get("/encrypt").is_none());
    add_to(&mut document, LIMITS);
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"#").skip(1) {
        let pointer = reference.split('"').next().unwrap();
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
    for endpoint in Endpoint::ALL {
        let item = document["paths"][endpoint.path()].as_object().unwrap();
        let (_, operation) = item.iter().next().unwrap();
        for status in ["200", "403", "429", "500", "503"] {
            assert!(
                operation["responses"].get(status).is_some(),
                "{endpoint:?} {status}"
            );
        }
    }
}
