//! `docs/protocol.md` has the routes and the errors of the code, and no others.

use std::collections::BTreeMap;

use keywright_api::error::entry;
use keywright_api::request::{Body, SealItem};
use keywright_api::route::ROUTES;
use keywright_api::write::{Done, one};
use keywright_api::{Binary, Codec};
use keywright_encoding::hex;
use keywright_types::{Code, KeyVersion};

const PAGE: &str = include_str!("../../../../../docs/protocol.md");

/// The cells of the table under a heading, up to the next heading, without the table's head.
fn rows(heading: &str) -> Vec<Vec<&'static str>> {
    let (_, rest) = PAGE.split_once(&format!("\n{heading}\n")).unwrap();
    let lines = rest.lines().take_while(|line| !line.starts_with('#'));
    let table = lines.filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let cells = table.map(|line| line.split('|').map(str::trim).collect());
    cells.skip(1).collect()
}

/// A cell without its marks of code.
fn plain(cell: &'static str) -> &'static str {
    cell.strip_prefix('`')
        .and_then(|cell| cell.strip_suffix('`'))
        .unwrap()
}

#[test]
fn every_error_is_on_the_page_with_its_status_retry_and_sentence() {
    let mut documented: BTreeMap<_, _> = rows("## Errors")
        .into_iter()
        .map(|row| (plain(row[1]), [row[0], row[2], row[3]]))
        .collect();
    for &code in Code::ALL.iter().filter(|&&code| code != Code::Ok) {
        let entry = entry(code);
        let retry = entry
            .retry_after()
            .map_or_else(String::new, |seconds| seconds.to_string());
        let row = documented
            .remove(code.name())
            .unwrap_or_else(|| panic!("{code} is missing"));
        assert_eq!(
            row,
            [entry.status().as_str(), &retry, entry.sentence()],
            "{code}"
        );
    }
    assert!(documented.is_empty(), "no code of ours: {documented:?}");
}

#[test]
fn every_route_is_on_the_page_with_its_method_and_operation() {
    let documented: Vec<_> = rows("## Routes")
        .into_iter()
        .map(|row| [row[0], plain(row[1]), plain(row[2])])
        .collect();
    assert_eq!(documented.len(), ROUTES.len());
    for route in &ROUTES {
        let row = [
            route.verb.name(),
            &route.path.to_string(),
            route.operation.name(),
        ];
        assert!(documented.contains(&row), "{row:?}");
    }
}

#[test]
fn the_fields_of_items_are_on_the_page() {
    // The page marks a field that may be left out with a question mark.
    let items = [
        ("SealItem", "`plaintext`, `aad`?"),
        ("OpenItem", "`ciphertext`, `aad`?"),
        ("RewrapItem", "`ciphertext`, `aad`?, `key_id`?"),
        ("DatakeyItem", "`aad`?, `plain`?"),
        ("RandomItem", "`bytes`"),
        ("ValueItem", "`value`, `tweak`?"),
        ("TokenItem", "`token`, `key_version`, `tweak`?"),
        ("SignItem", "`message`?, `digest`?, `path`?, `form`?"),
        (
            "VerifyItem",
            "`message`?, `digest`?, `signature`, `key_version`, `path`?, `form`?",
        ),
        ("AgreeItem", "`public_key`, `path`?, `key_version`?"),
        ("PublicKeyItem", "`path`?, `key_version`?"),
        ("PathItem", "`path`"),
        ("MacItem", "`message`"),
        ("MacVerifyItem", "`message`, `mac`, `key_version`"),
        ("KeyOrder", "`version`?, `all`?, `despite_use`?"),
        ("ApproveOrder", "`order`, `version`?, `all`?"),
    ];
    let described = keywright_api::openapi::document(&keywright_api::Limits::DEFAULT);
    for (name, fields) in items {
        let schema = &described["components"]["schemas"][name];
        let mut expected: Vec<_> = schema["properties"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect();
        let required = |field: &String| {
            schema["required"]
                .as_array()
                .is_some_and(|all| all.iter().any(|one| one == field))
        };
        for field in &mut expected {
            *field = if required(field) {
                format!("`{field}`")
            } else {
                format!("`{field}`?")
            };
        }
        let mut documented: Vec<_> = fields.split(", ").map(str::to_owned).collect();
        expected.sort();
        documented.sort();
        assert_eq!(documented, expected, "{name}");
        for route in ROUTES.iter().filter(|route| route.request == Some(name)) {
            let row = rows("## Routes")
                .into_iter()
                .find(|row| plain(row[1]) == route.path.to_string());
            assert_eq!(row.unwrap()[3], fields, "{}", route.path);
        }
    }
}

/// The bytes of the examples in CBOR: lines of hex with a remark behind them.
fn examples_in_cbor() -> Vec<Vec<u8>> {
    let (_, rest) = PAGE.split_once("\n### Items in CBOR\n").unwrap();
    let (section, _) = rest.split_once("\n### ").unwrap();
    let blocks = section.split("```").skip(1).step_by(2);
    let bytes = blocks.map(|block| {
        let lines = block.lines().filter_map(|line| line.split_once(" # "));
        let digits: String = lines.map(|(digits, _)| digits.replace(' ', "")).collect();
        hex::decode(&digits).unwrap()
    });
    bytes.collect()
}

#[test]
fn the_examples_in_cbor_are_what_is_read_and_written() {
    let item = |plaintext, aad: Option<&'static [u8]>| SealItem {
        plaintext: Binary::new(plaintext),
        aad: aad.map(Binary::new),
    };
    let request = Body::Many(vec![item(b"Hello", Some(b"row 7")), item(b"", None)]);
    let answer = Done::Opened {
        plaintext: b"Hello",
        version: KeyVersion::FIRST,
    };
    let written = [
        Codec::Cbor.encode(&request).unwrap(),
        one(Codec::Cbor, &answer),
    ];
    assert_eq!(examples_in_cbor(), written);
}
