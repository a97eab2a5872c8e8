//! Findings in SARIF 2.1.0 (OASIS), which code scanning of other systems reads.

use serde_json::{Value, json};

/// A finding.
pub struct Row<'a> {
    /// The code of the rule.
    pub rule: &'a str,
    /// How much it weighs.
    pub severity: &'a str,
    /// What was found.
    pub message: String,
    /// What to do about it.
    pub advice: &'a str,
    /// Where it was found.
    pub place: Place<'a>,
    /// Why it does not count, if it does not.
    pub accepted: Option<String>,
}

/// Where it was found.
pub enum Place<'a> {
    /// A file, and a line from 1.
    File(&'a str, Option<u64>),
    /// An object of a token.
    Object(&'a str),
}

/// The document of a command.
pub fn document(command: &str, rows: &[Row<'_>]) -> String {
    let mut rules: Vec<(&str, &str)> = rows.iter().map(|row| (row.rule, row.advice)).collect();
    rules.sort_unstable();
    rules.dedup_by_key(|rule| rule.0);
    let described = rules
        .iter()
        .map(|(id, advice)| json!({ "id": id, "help": { "text": advice } }));
    let described: Vec<Value> = described.collect();
    let results: Vec<Value> = rows.iter().map(|row| result(row, &rules)).collect();
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": format!("keywright hsm {command}"),
                "version": env!("CARGO_PKG_VERSION"),
                "rules": described,
            }},
            "results": results,
        }],
    });
    document.to_string() + "\n"
}

fn result(row: &Row<'_>, rules: &[(&str, &str)]) -> Value {
    let level = match row.severity {
        "CRITICAL" | "HIGH" => "error",
        "MEDIUM" => "warning",
        _ => "note",
    };
    let mut result = json!({
        "ruleId": row.rule,
        "ruleIndex": rules.iter().position(|rule| rule.0 == row.rule),
        "level": level,
        "message": { "text": row.message },
        "locations": [location(&row.place)],
        "properties": { "severity": row.severity },
    });
    if let Some(reason) = &row.accepted {
        result["suppressions"] = json!([{ "kind": "external", "justification": reason }]);
    }
    result
}

fn location(place: &Place<'_>) -> Value {
    match place {
        Place::File(name, line) => {
            let mut physical = json!({ "artifactLocation": { "uri": escaped(name) } });
            if let Some(line) = line {
                physical["region"] = json!({ "startLine": line });
            }
            json!({ "physicalLocation": physical })
        }
        Place::Object(uri) => {
            json!({ "logicalLocations": [{ "fullyQualifiedName": uri, "kind": "object" }] })
        }
    }
}

/// A path as a relative reference of RFC 3986.
fn escaped(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let letters = path.bytes().map(|byte| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    letters.collect()
}
