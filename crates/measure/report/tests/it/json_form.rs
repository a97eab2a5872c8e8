//! The document as JSON, and the schema it follows.

use keywright_measure::document::{Document, SCHEMA};
use keywright_report::json::{LIMIT, Layout, read, render};
use keywright_report::{Error, schema};
use serde_json::Value;

use crate::documents::{every, not_numbers, rich};

const SCHEMA_FILE: &str = include_str!("../../schema/bench-1.0.0.json");
const EXAMPLE: &str = include_str!("../../schema/example-1.0.0.json");

#[test]
fn what_was_written_reads_back_as_itself() {
    for (name, document) in every() {
        for layout in [Layout::Line, Layout::Pretty] {
            let text = render(&document, layout).unwrap();
            let back = read(text.as_bytes()).unwrap();
            // An optional figure that is null is absent from then on, so texts settle after one round.
            let again = render(&back, layout).unwrap();
            assert_eq!(
                render(&read(again.as_bytes()).unwrap(), layout).unwrap(),
                again,
                "{name}"
            );
            assert!(name == "not numbers" || again == text, "{name}");
        }
    }
    assert_eq!(
        read(render(&rich(), Layout::Line).unwrap().as_bytes()).unwrap(),
        rich()
    );
}

#[test]
fn one_line_is_one_line() {
    let text = render(&rich(), Layout::Line).unwrap();
    assert_eq!(text.lines().count(), 1);
    assert!(text.starts_with("{\"schema\":\"https://") && text.ends_with("}\n"));
}

#[test]
fn what_is_not_finite_is_null_and_comes_back_as_not_a_number() {
    let text = render(&not_numbers(), Layout::Line).unwrap();
    assert!(text.contains("\"achieved_per_s\":null"));
    assert!(!text.contains("NaN") && !text.contains("inf"));
    let back = read(text.as_bytes()).unwrap();
    assert!(back.cases.iter().all(|case| case.achieved_per_s.is_nan()));
    assert!(
        back.comparison
            .iter()
            .all(|comparison| comparison.ratio.is_nan())
    );
}

#[test]
fn the_published_schema_is_the_one_of_the_records() {
    assert_eq!(
        schema::text().unwrap(),
        SCHEMA_FILE,
        "cargo run -p keywright-report --example schema > crates/measure/report/schema/bench-1.0.0.json"
    );
    let schema: Value = serde_json::from_str(SCHEMA_FILE).unwrap();
    assert_eq!(schema["$id"], SCHEMA);
}

#[test]
fn the_published_example_is_read_by_every_later_build() {
    let document = read(EXAMPLE.as_bytes()).unwrap();
    assert_eq!(document.cases.len(), 8);
    assert_eq!(document.run.id, "00112233aabbccdd");
    assert_eq!(document, rich());
}

#[test]
fn everything_written_is_valid_by_the_schema_and_something_else_is_not() {
    let schema: Value = serde_json::from_str(SCHEMA_FILE).unwrap();
    let example: Value = serde_json::from_str(EXAMPLE).unwrap();
    assert_eq!(faults(&schema, &schema, &example), Vec::<String>::new());
    for (name, document) in every() {
        let value = serde_json::from_str(&render(&document, Layout::Line).unwrap()).unwrap();
        assert_eq!(
            faults(&schema, &schema, &value),
            Vec::<String>::new(),
            "{name}"
        );
    }
    for (pointer, wrong) in [
        ("/run/seed", Value::from("42")),
        ("/run/seed", Value::from(-1)),
        ("/cases/0/counts/sent", Value::from(1.5)),
        ("/cases/0/verdicts/0", Value::from("FINE")),
        ("/cases/0/response/p50_ns/value", Value::from("412 us")),
        ("/cases", Value::from(3)),
    ] {
        let mut value = example.clone();
        *value.pointer_mut(pointer).unwrap() = wrong;
        assert!(!faults(&schema, &schema, &value).is_empty(), "{pointer}");
    }
    let mut value = example;
    value.as_object_mut().unwrap().remove("run");
    assert!(!faults(&schema, &schema, &value).is_empty());
}

#[test]
fn another_major_version_is_refused_and_a_later_minor_one_is_read() {
    let text = render(&rich(), Layout::Line).unwrap();
    let version = "\"schema_version\":\"1.0.0\"";
    let with = |other: &str| text.replacen(version, &format!("\"schema_version\":\"{other}\""), 1);
    for other in ["2.0.0", "0.9.0", "10.0.0", "", "x"] {
        let error = read(with(other).as_bytes()).unwrap_err();
        assert!(
            matches!(error, Error::UnknownVersion { ref found, .. } if found == other),
            "{error}"
        );
    }
    let later = with("1.7.0").replacen("\"run\":{", "\"new_member\":[1],\"run\":{\"new\":null,", 1);
    assert_eq!(read(later.as_bytes()).unwrap().run, rich().run);
}

#[test]
fn what_is_no_result_is_refused_by_its_reason() {
    let malformed = |bytes: &[u8]| matches!(read(bytes), Err(Error::Malformed(_)));
    let foreign = |bytes: &[u8]| matches!(read(bytes), Err(Error::NotAResult));
    assert!(malformed(b"") && malformed(b"{") && malformed(b"\xff\xfe") && malformed(b"{} {}"));
    assert!(foreign(b"{}") && foreign(b"[]") && foreign(b"7") && foreign(b"{\"schema\":null}"));
    assert!(foreign(
        b"{\"schema\":\"https://other/\",\"schema_version\":\"1.0.0\"}"
    ));
    assert!(foreign(format!("{{\"schema\":\"{SCHEMA}\"}}").as_bytes()));
    let text = render(&rich(), Layout::Line).unwrap();
    assert!(malformed(
        text.replacen("\"seed\":42", "\"seed\":42,\"seed\":42", 1)
            .as_bytes()
    ));
    assert!(malformed(
        text.replacen("\"seed\":42", "\"seed\":-42", 1).as_bytes()
    ));
    assert!(malformed(
        text.replacen("\"VALID\"", "\"FINE\"", 1).as_bytes()
    ));
    assert!(malformed("[".repeat(100_000).as_bytes()));
}

#[test]
fn more_bytes_than_any_result_has_are_not_looked_at() {
    let error = read(&vec![b' '; LIMIT + 1]).unwrap_err();
    assert!(
        matches!(error, Error::TooLarge { size, limit } if size == LIMIT + 1 && limit == LIMIT)
    );
}

#[test]
fn an_empty_document_names_its_form_all_the_same() {
    let text = render(&Document::default(), Layout::Line).unwrap();
    assert_eq!(read(text.as_bytes()).unwrap().schema, SCHEMA);
}

/// What `value` breaks of the parts of JSON Schema that the schema uses. An unknown keyword is a fault too,
/// so that the schema cannot outgrow this check unseen.
fn faults(root: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let Value::Object(rules) = schema else {
        let allowed = schema == &Value::Bool(true);
        return if allowed {
            Vec::new()
        } else {
            vec!["forbidden".to_owned()]
        };
    };
    rules
        .iter()
        .flat_map(|(rule, wanted)| broken(root, (rules, rule), wanted, value))
        .collect()
}

type Rules = serde_json::Map<String, Value>;

#[expect(clippy::too_many_lines, reason = "a table of keywords")]
fn broken(
    root: &Value,
    (rules, rule): (&Rules, &str),
    wanted: &Value,
    value: &Value,
) -> Vec<String> {
    let verdict = |good: bool| {
        if good {
            Vec::new()
        } else {
            vec![format!("{rule} {wanted} of {value}")]
        }
    };
    let among = || {
        wanted
            .as_array()
            .unwrap()
            .iter()
            .map(|one| faults(root, one, value))
    };
    match rule {
        "$schema" | "$id" | "$defs" | "title" | "description" | "default" | "format" => Vec::new(),
        "$ref" => {
            let pointer = wanted.as_str().unwrap().trim_start_matches('#');
            faults(root, root.pointer(pointer).unwrap(), value)
        }
        "type" => match wanted {
            Value::Array(kinds) => verdict(kinds.iter().any(|kind| is(kind, value))),
            kind => verdict(is(kind, value)),
        },
        "const" => verdict(wanted == value),
        "enum" => verdict(wanted.as_array().unwrap().contains(value)),
        "minimum" => verdict(value.as_f64().is_none_or(|v| v >= wanted.as_f64().unwrap())),
        "maximum" => verdict(value.as_f64().is_none_or(|v| v <= wanted.as_f64().unwrap())),
        "anyOf" => verdict(among().any(|faults| faults.is_empty())),
        "oneOf" => verdict(among().filter(Vec::is_empty).count() == 1),
        "allOf" => among().flatten().collect(),
        "items" => value
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|one| faults(root, wanted, one))
            .collect(),
        "required" => {
            let there = |name: &Value| value.get(name.as_str().unwrap()).is_some();
            verdict(!value.is_object() || wanted.as_array().unwrap().iter().all(there))
        }
        "properties" => {
            let there = |(name, schema): (&String, &Value)| {
                value.get(name).map(|v| faults(root, schema, v))
            };
            wanted
                .as_object()
                .unwrap()
                .iter()
                .filter_map(there)
                .flatten()
                .collect()
        }
        "additionalProperties" => {
            let known = |name: &str| {
                rules
                    .get("properties")
                    .is_some_and(|known| known.get(name).is_some())
            };
            let others = value
                .as_object()
                .into_iter()
                .flatten()
                .filter(|(name, _)| !known(name));
            others.flat_map(|(_, v)| faults(root, wanted, v)).collect()
        }
        other => vec![format!("the keyword {other} is not checked")],
    }
}

fn is(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => false,
    }
}
