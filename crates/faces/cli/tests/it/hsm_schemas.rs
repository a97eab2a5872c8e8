//! Every document of an `hsm` command fits the schema that is published for it.
//!
//! [`documents`](crate::program::documents) is asked about every output of the program that a test sees, so that a field
//! that no schema has, or a field that is gone, fails the test that meets it.

use crate::schema::fits;
use serde_json::{Value, json};

use crate::hsm::{document, error, refused};
use crate::program::{keywright, schema, schema_file as file};

#[test]
fn every_command_has_json_and_schema() {
    let listed = crate::hsm::data(&keywright(&["hsm", "schema", "--json"]));
    let names: Vec<&str> = listed["schemas"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    for command in crate::hsm_docs::commands() {
        assert!(names.contains(&command.as_str()), "{command}");
    }
    let files = file("hsm").parent().unwrap().read_dir().unwrap();
    assert_eq!(files.count(), names.len());
    for name in names {
        let text = keywright(&["hsm", "schema", name]).text();
        assert_eq!(text, std::fs::read_to_string(file(name)).unwrap(), "{name}");
        let told = crate::hsm::data(&keywright(&["hsm", "schema", name, "--json"]));
        assert_eq!(told["schema"], schema(name), "{name}");
        // Words that no command takes are a failure in its own form.
        if name != "envelope" {
            let failed = keywright(&["hsm", name, "--no-such-flag", "--json"]);
            assert_eq!(document(&failed)["command"], name);
            error(&failed, 2, None);
        }
    }
}

#[test]
fn a_schema_of_no_command_is_not_found() {
    refused(
        &keywright(&["hsm", "schema", "no-command"]),
        9,
        "no-command",
    );
    refused(
        &keywright(&["hsm", "schema", "sign", "verify"]),
        2,
        "verify",
    );
    let told = error(&keywright(&["hsm", "schema", "../info", "--json"]), 9, None);
    assert_eq!(told["kind"], "not-found");
}

/// What a schema finds is not what happens to be there: each of these differs from a real one in one place.
#[test]
fn a_document_that_was_changed_does_not_fit() {
    let ended = keywright(&["hsm", "explain-error", "0xa0", "--json"]);
    let real: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let schema = schema("explain-error");
    assert_eq!(fits(&schema, &real), Ok(()));
    for (place, value) in [
        ("/schema", json!("keywright.hsm.sign")),
        ("/schema_version", json!("2.0")),
        ("/command", json!("sign")),
        ("/status", json!("good")),
        ("/warnings", json!([1])),
        ("/data", json!({})),
        ("/data/rv", json!("160")),
        ("/data/causes", json!("one")),
        ("/data/steps/0/command", json!(1)),
    ] {
        let mut changed = real.clone();
        *changed
            .pointer_mut(place)
            .unwrap_or_else(|| panic!("{place}")) = value;
        assert!(fits(&schema, &changed).is_err(), "{place}");
    }
    for place in ["", "/data", "/data/steps/0"] {
        let mut more = real.clone();
        more.pointer_mut(place).unwrap()["extra"] = json!(1);
        assert!(fits(&schema, &more).is_err(), "{place}");
    }
    for name in ["schema", "command", "status", "warnings", "data"] {
        let mut less = real.clone();
        less.as_object_mut().unwrap().remove(name);
        assert!(fits(&schema, &less).is_err(), "{name}");
    }
}

#[test]
fn a_failure_that_was_changed_does_not_fit() {
    let ended = keywright(&[
        "hsm",
        "info",
        "--module",
        "/nonexistent/module.so",
        "--json",
    ]);
    let real: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let schema = schema("info");
    assert_eq!(fits(&schema, &real), Ok(()));
    for name in [
        "kind", "code", "rv", "rv_hex", "function", "message", "hint", "explain", "exit",
    ] {
        let mut less = real.clone();
        less["error"].as_object_mut().unwrap().remove(name);
        assert!(fits(&schema, &less).is_err(), "{name}");
        let mut changed = real.clone();
        changed["error"][name] = json!([]);
        assert!(fits(&schema, &changed).is_err(), "{name}");
    }
    let mut other = real;
    other["error"]["kind"] = json!("odd");
    assert!(fits(&schema, &other).is_err());
}
