//! The JSON Schema of the document, made from its records.
//!
//! It describes what is written. Every number may be null there, because a float that is not finite is
//! written so; the records themselves cannot say that.

use keywright_measure::document::{Document, SCHEMA};
use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use serde_json::{Map, Value, json};

use crate::Error;

/// The schema as indented JSON, members sorted by name, so that equal schemas are equal texts.
///
/// # Errors
/// [`Error::Unwritable`], which would be a bug.
pub fn text() -> Result<String, Error> {
    let generator = SchemaSettings::draft2020_12()
        .for_serialize()
        .with_transform(NullNumbers);
    let mut schema = generator
        .into_generator()
        .into_root_schema_for::<Document>();
    schema.insert("$id".to_owned(), json!(SCHEMA));
    schema.insert("title".to_owned(), json!("Keywright measurement"));
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.extend(published());
    }
    let text = serde_json::to_string_pretty(&sorted(schema.to_value()));
    text.map(|text| text + "\n").map_err(Error::Unwritable)
}

/// What results of a token have beside the records: the members of the published token benchmark.
fn published() -> Map<String, Value> {
    let figure = json!({"type": ["number", "null"]});
    let figures = |names: &[&str]| -> Map<String, Value> {
        let names = names.iter();
        names
            .map(|name| ((*name).to_owned(), figure.clone()))
            .collect()
    };
    let mut result = figures(&[
        "total_duration",
        "min",
        "max",
        "ops_per_sec",
        "avg_latency_ms",
        "p50_ms",
        "p95_ms",
        "p99_ms",
    ]);
    result.insert("name".to_owned(), json!({"type": "string"}));
    result.insert("iterations".to_owned(), json!({"type": "integer"}));
    let percentiles = json!({"type": "object", "additionalProperties": figure});
    result.insert("percentiles".to_owned(), percentiles);
    let metadata = json!({
        "type": "object",
        "description": "Of a token alone: about all of `results`, as the published token benchmark has it.",
    });
    let results = json!({
        "type": "array",
        "description": "Of a token alone: its cases as the published token benchmark has them, in milliseconds and of all runs together.",
        "items": {"type": "object", "properties": result},
    });
    [("metadata", metadata), ("results", results)]
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

/// Allows null wherever a float stands.
#[derive(Clone, Debug)]
struct NullNumbers;

impl Transform for NullNumbers {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        if schema.get("type") == Some(&json!("number")) {
            schema.insert("type".to_owned(), json!(["number", "null"]));
        }
    }
}

/// Whether maps keep their order depends on what else is built, so the order is made here.
fn sorted(value: Value) -> Value {
    match value {
        Value::Array(list) => Value::Array(list.into_iter().map(sorted).collect()),
        Value::Object(members) => {
            let mut members: Vec<_> = members.into_iter().map(|(k, v)| (k, sorted(v))).collect();
            members.sort_by(|one, other| one.0.cmp(&other.0));
            Value::Object(members.into_iter().collect::<Map<_, _>>())
        }
        other => other,
    }
}
