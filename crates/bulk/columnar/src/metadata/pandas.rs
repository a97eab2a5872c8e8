//! What pandas notes of a table: names and types of columns, its index, and whatever a user has attached.

use serde_json::{Map, Value};

use super::Source;
use super::zones::is_zone;

/// The entry, in Parquet's footer and in Arrow's schema.
pub(super) const KEY: &str = "pandas";

/// Words that say nothing of values.
const WORDS: [&str; 36] = [
    "attributes",
    "column_indexes",
    "columns",
    "creator",
    "encoding",
    "fastparquet",
    "field_name",
    "index",
    "index_columns",
    "kind",
    "library",
    "metadata",
    "name",
    "num_categories",
    "numpy_type",
    "ordered",
    "pandas_type",
    "pandas_version",
    "partition_columns",
    "pyarrow",
    "range",
    "start",
    "step",
    "stop",
    "timezone",
    "unit",
    "version",
    "UTF-8",
    "UTC",
    "precision",
    "scale",
    "string",
    "utf8",
    "None",
    "python",
    "no_pandas",
];

/// How the names of types begin.
const TYPES: [&str; 32] = [
    "bool",
    "bytes",
    "category",
    "categorical",
    "complex",
    "date",
    "decimal",
    "dictionary",
    "empty",
    "float",
    "int",
    "interval",
    "large_",
    "list",
    "map",
    "mixed",
    "null",
    "object",
    "period",
    "str",
    "struct",
    "time",
    "uint",
    "unicode",
    "Float",
    "Int",
    "UInt",
    "boolean",
    "<",
    ">",
    "|",
    "=",
];

/// The entry with the columns that change as plain texts, and everything in it that is neither a name of a column nor
/// known; nothing where it is not what pandas writes.
pub(super) fn rewritten(text: &str, source: &Source<'_>) -> Option<(String, String)> {
    let mut whole: Map<String, Value> = serde_json::from_str(text).ok()?;
    if let Some(Value::Array(columns)) = whole.get_mut("columns") {
        for column in columns {
            plain(column, source);
        }
    }
    let mut unknown = String::new();
    for (key, value) in &whole {
        gather_member(key, value, source, &mut unknown);
    }
    // Numbers that are not read exactly are searched as they are written.
    if whole.values().any(is_inexact) {
        unknown.push_str(text);
    }
    // Written anew, since a text may name a member twice.
    Some((serde_json::to_string(&whole).ok()?, unknown))
}

/// Makes the note on a column that changes one on plain texts, if it was one on categories.
fn plain(column: &mut Value, source: &Source<'_>) {
    let Value::Object(column) = column else {
        return;
    };
    let is = |key: &str| {
        let name = column.get(key).and_then(Value::as_str);
        let mut changed = source.changed.iter();
        changed.any(|path| matches!((path.as_slice(), name), ([own], Some(name)) if own == name))
    };
    let is_text = column.get("metadata").is_none_or(Value::is_null);
    if is_text || !(is("field_name") || is("name")) {
        return;
    }
    for (key, value) in [("pandas_type", "unicode"), ("numpy_type", "object")] {
        column.insert(key.to_owned(), Value::from(value));
    }
    column.insert("metadata".to_owned(), Value::Null);
}

/// Whether there is a number beyond those that are whole.
fn is_inexact(value: &Value) -> bool {
    match value {
        Value::Number(number) => !number.is_i64() && !number.is_u64(),
        Value::Array(items) => items.iter().any(is_inexact),
        Value::Object(members) => members.values().any(is_inexact),
        _ => false,
    }
}

/// Adds what is not known, a line each.
fn gather(key: &str, value: &Value, source: &Source<'_>, unknown: &mut String) {
    let mut add = |text: &str| {
        unknown.push_str(text);
        unknown.push('\n');
    };
    match value {
        Value::String(text) => {
            let is_own = match key {
                "pandas_type" | "numpy_type" => is_type(text),
                "version" | "pandas_version" => is_version(text),
                "timezone" => is_zone(text),
                _ => false,
            };
            if !is_own && !is_known(text, source) {
                add(text);
            }
        }
        Value::Number(number) => {
            let counts = ["start", "stop", "step", "num_categories"].contains(&key);
            if !counts || number.as_u64().is_none_or(|number| number >= 1_000_000_000) {
                add(&number.to_string());
            }
        }
        Value::Array(items) => {
            for item in items {
                gather(key, item, source, unknown);
            }
        }
        Value::Object(members) => {
            for (key, value) in members {
                gather_member(key, value, source, unknown);
            }
        }
        _ => {}
    }
}

fn gather_member(key: &str, value: &Value, source: &Source<'_>, unknown: &mut String) {
    if !is_known(key, source) {
        unknown.push_str(key);
        unknown.push('\n');
    }
    gather(key, value, source, unknown);
}

fn is_known(text: &str, source: &Source<'_>) -> bool {
    // The name of an index that had none, and its number.
    let index = text.strip_prefix("__index_level_");
    let level = index.and_then(|index| index.strip_suffix("__"));
    WORDS.contains(&text)
        || text.is_empty()
        || source.names.contains(text)
        || level.is_some_and(|level| level.len() <= 2)
}

fn has_long_number(text: &str, most: usize) -> bool {
    let parts = text.split(|sign: char| !sign.is_ascii_digit());
    parts.map(str::len).max().unwrap_or_default() > most
}

fn is_type(text: &str) -> bool {
    text.len() <= 40
        && TYPES.iter().any(|start| text.starts_with(start))
        && !has_long_number(text, 3)
}

fn is_version(text: &str) -> bool {
    text.len() <= 24
        && text.starts_with(|sign: char| sign.is_ascii_digit())
        && !has_long_number(text, 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source<'s>(names: &[&'s str], changed: &[&str]) -> Source<'s> {
        Source {
            schema: None,
            pairs: Vec::new(),
            created_by: None,
            texts: Vec::new(),
            names: names.iter().copied().collect(),
            changed: changed
                .iter()
                .map(|name| vec![(*name).to_owned()])
                .collect(),
        }
    }

    /// As pandas 3 writes it, with an index by number, a category, a time zone and nothing attached.
    const NOTE: &str = r#"{"index_columns": [{"kind": "range", "name": null, "start": 0, "stop": 4111111,
        "step": 1}], "column_indexes": [{"name": null, "field_name": null, "pandas_type": "unicode",
        "numpy_type": "object", "metadata": {"encoding": "UTF-8"}}], "columns": [{"name": "city",
        "field_name": "city", "pandas_type": "categorical", "numpy_type": "int8", "metadata":
        {"num_categories": 2, "ordered": true}}, {"name": "at", "field_name": "at", "pandas_type":
        "datetimetz", "numpy_type": "datetime64[us]", "metadata": {"timezone": "Europe/Berlin"}}],
        "attributes": {}, "creator": {"library": "pyarrow", "version": "26.0.0"}, "pandas_version":
        "3.1.0"}"#;

    #[test]
    fn ordinary_notes_have_nothing_to_search() {
        let (made, unknown) = rewritten(NOTE, &source(&["city", "at"], &["at"])).unwrap();
        assert_eq!(unknown, "");
        let made: Value = serde_json::from_str(&made).unwrap();
        assert_eq!(made["columns"][1]["pandas_type"], "unicode");
        assert_eq!(made["columns"][0]["pandas_type"], "categorical");
    }

    #[test]
    fn categories_that_change_become_texts() {
        let (made, _) = rewritten(NOTE, &source(&["city", "at"], &["city"])).unwrap();
        let made: Value = serde_json::from_str(&made).unwrap();
        let city = &made["columns"][0];
        assert_eq!(city["pandas_type"], "unicode");
        assert_eq!(city["numpy_type"], "object");
        assert!(city["metadata"].is_null());
        assert_eq!(made["columns"][1]["metadata"]["timezone"], "Europe/Berlin");
    }

    #[test]
    fn everything_else_is_searched() {
        for (part, with, found) in [
            (
                r#""attributes": {}"#,
                r#""attributes": {"a": ["b", 41]}"#,
                "a\nb\n41\n",
            ),
            (r#""3.1.0""#, r#""4111111111111111""#, "4111111111111111\n"),
            (
                r#""datetime64[us]""#,
                r#""object Smith 4111""#,
                "object Smith 4111\n",
            ),
            (r#""Europe/Berlin""#, r#""555-0100""#, "555-0100\n"),
            (r#""Europe/Berlin""#, r#""Europe/Smith""#, "Europe/Smith\n"),
            (r#""step": 1"#, r#""steps": 7"#, "steps\n7\n"),
        ] {
            let note = NOTE.replace(part, with);
            let (_, unknown) = rewritten(&note, &source(&["city", "at"], &[])).unwrap();
            assert_eq!(unknown, found, "{with}");
        }
        assert!(rewritten("[]", &source(&[], &[])).is_none());
        assert!(rewritten("{", &source(&[], &[])).is_none());
    }
}
