//! Documents held against a JSON Schema (2020-12).
//!
//! The keywords are those that describe documents of fixed fields: `type`, `properties`, `required`,
//! `additionalProperties`, `items`, `enum`, `const`, `anyOf`, `oneOf`, and `$ref` within the schema. Any other keyword is a
//! failure, because a rule that is not looked at would be a rule that always holds.
//!
//! Not here: patterns, formats, bounds, and schemas of other files.

use serde_json::{Map, Value};

/// What says nothing of the document.
const SILENT: [&str; 6] = [
    "$schema",
    "$id",
    "$defs",
    "title",
    "description",
    "$comment",
];

/// References that lead to references, at most.
const DEEPEST: usize = 64;

/// Holds a document against a schema.
///
/// # Errors
/// The first place where it does not fit, or where the schema says something that is not looked at here.
pub(crate) fn fits(schema: &Value, document: &Value) -> Result<(), String> {
    Check {
        root: schema,
        depth: 0,
    }
    .value(schema, document, "$")
}

/// A walk through both.
#[derive(Clone, Copy)]
struct Check<'s> {
    root: &'s Value,
    depth: usize,
}

impl Check<'_> {
    fn value(self, schema: &Value, document: &Value, place: &str) -> Result<(), String> {
        let rules = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Bool(false) => return Err(format!("{place} is not allowed")),
            Value::Object(rules) => rules,
            other => return Err(format!("{place}: {other} is no schema")),
        };
        for (keyword, rule) in rules {
            self.rule((keyword, rule), rules, document, place)?;
        }
        Ok(())
    }

    fn rule(
        self,
        (keyword, rule): (&str, &Value),
        rules: &Map<String, Value>,
        document: &Value,
        place: &str,
    ) -> Result<(), String> {
        match keyword {
            "type" => is_of(rule, document, place),
            "const" if rule == document => Ok(()),
            "const" => Err(format!("{place} is {document}, not {rule}")),
            "enum" if list(rule, place)?.contains(document) => Ok(()),
            "enum" => Err(format!("{place} is {document}, none of {rule}")),
            "required" => has(list(rule, place)?, document, place),
            "properties" => self.members(rule, document, place),
            "additionalProperties" => self.others(rule, rules, document, place),
            "items" => self.items(rule, document, place),
            "$ref" => self.named(rule, document, place),
            "anyOf" | "oneOf" => self.alternatives((keyword, rule), document, place),
            silent if SILENT.contains(&silent) => Ok(()),
            other => Err(format!("{place}: {other} is not looked at here")),
        }
    }

    fn members(self, rule: &Value, document: &Value, place: &str) -> Result<(), String> {
        let Some(members) = document.as_object() else {
            return Ok(());
        };
        for (name, schema) in rule.as_object().into_iter().flatten() {
            if let Some(value) = members.get(name) {
                self.value(schema, value, &format!("{place}.{name}"))?;
            }
        }
        Ok(())
    }

    fn others(
        self,
        rule: &Value,
        rules: &Map<String, Value>,
        document: &Value,
        place: &str,
    ) -> Result<(), String> {
        let known = |name: &str| {
            rules
                .get("properties")
                .and_then(|members| members.get(name))
                .is_some()
        };
        let members = document.as_object().into_iter().flatten();
        for (name, value) in members.filter(|(name, _)| !known(name)) {
            self.value(rule, value, &format!("{place}.{name}"))?;
        }
        Ok(())
    }

    fn items(self, rule: &Value, document: &Value, place: &str) -> Result<(), String> {
        let items = document.as_array().into_iter().flatten();
        for (index, item) in items.enumerate() {
            self.value(rule, item, &format!("{place}[{index}]"))?;
        }
        Ok(())
    }

    fn named(self, rule: &Value, document: &Value, place: &str) -> Result<(), String> {
        let pointer = rule.as_str().and_then(|text| text.strip_prefix('#'));
        let schema = pointer.and_then(|pointer| self.root.pointer(pointer));
        let schema = schema.ok_or_else(|| format!("{place}: {rule} leads nowhere"))?;
        let deeper = Self {
            depth: self.depth + 1,
            ..self
        };
        if deeper.depth > DEEPEST {
            return Err(format!("{place}: {rule} leads in a circle"));
        }
        deeper.value(schema, document, place)
    }

    fn alternatives(
        self,
        (keyword, rule): (&str, &Value),
        document: &Value,
        place: &str,
    ) -> Result<(), String> {
        let mut reasons = Vec::new();
        let mut fitting = 0;
        for schema in list(rule, place)? {
            match self.value(schema, document, place) {
                Ok(()) => fitting += 1,
                Err(reason) => reasons.push(reason),
            }
        }
        match (keyword, fitting) {
            (_, 1) => Ok(()),
            ("anyOf", more) if more > 1 => Ok(()),
            (_, 0) => Err(reasons.join("; or ")),
            _ => Err(format!("{place} fits {fitting} of what it must fit one of")),
        }
    }
}

fn list<'v>(rule: &'v Value, place: &str) -> Result<&'v [Value], String> {
    let list = rule.as_array().map(Vec::as_slice);
    list.ok_or_else(|| format!("{place}: {rule} is no list"))
}

fn has(names: &[Value], document: &Value, place: &str) -> Result<(), String> {
    let Some(members) = document.as_object() else {
        return Ok(());
    };
    let missing = names
        .iter()
        .find(|name| name.as_str().is_none_or(|name| !members.contains_key(name)));
    match missing {
        None => Ok(()),
        Some(name) => Err(format!("{place} has no {name}")),
    }
}

fn is_of(rule: &Value, document: &Value, place: &str) -> Result<(), String> {
    let one = std::slice::from_ref(rule);
    let names = rule.as_array().map_or(one, Vec::as_slice);
    let mut fits = false;
    for name in names {
        fits |= match name.as_str() {
            Some("null") => document.is_null(),
            Some("boolean") => document.is_boolean(),
            Some("string") => document.is_string(),
            Some("integer") => document.is_i64() || document.is_u64(),
            Some("number") => document.is_number(),
            Some("array") => document.is_array(),
            Some("object") => document.is_object(),
            _ => return Err(format!("{place}: {name} is no type")),
        };
    }
    match fits {
        true => Ok(()),
        false => Err(format!("{place} is {document}, no {rule}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "name": { "const": "a" },
                "size": { "type": ["integer", "null"] },
                "kind": { "enum": ["x", "y"] },
                "rows": { "type": "array", "items": { "$ref": "#/$defs/row" } },
                "marks": { "type": "object", "additionalProperties": { "type": "boolean" } },
                "ratio": { "type": "number" },
            },
            "required": ["name"],
            "additionalProperties": false,
            "anyOf": [{ "required": ["size"] }, { "required": ["kind"] }],
            "$defs": { "row": { "type": "object", "properties": { "at": { "type": "string" } },
                "required": ["at"], "additionalProperties": false } },
        })
    }

    #[test]
    fn what_is_described_fits() {
        for document in [
            json!({ "name": "a", "size": 7 }),
            json!({ "name": "a", "size": null, "kind": "y", "ratio": 1 }),
            json!({ "name": "a", "kind": "x", "rows": [], "marks": {}, "ratio": 0.5 }),
            json!({ "name": "a", "kind": "x", "rows": [{ "at": "1" }], "marks": { "any": true } }),
        ] {
            assert_eq!(fits(&schema(), &document), Ok(()), "{document}");
        }
    }

    #[test]
    fn what_is_not_described_is_found_with_its_place() {
        for (document, place) in [
            (json!([]), "$ is [], no \"object\""),
            (json!({ "size": 7 }), "$ has no \"name\""),
            (json!({ "name": "b", "size": 7 }), "$.name is \"b\""),
            (
                json!({ "name": "a" }),
                "$ has no \"size\"; or $ has no \"kind\"",
            ),
            (json!({ "name": "a", "size": 7.5 }), "$.size is 7.5"),
            (json!({ "name": "a", "size": "7" }), "$.size is \"7\""),
            (
                json!({ "name": "a", "size": 7, "more": 1 }),
                "$.more is not allowed",
            ),
            (json!({ "name": "a", "kind": "z" }), "$.kind is \"z\""),
            (
                json!({ "name": "a", "kind": "x", "rows": {} }),
                "$.rows is {}",
            ),
            (
                json!({ "name": "a", "kind": "x", "rows": [{ "at": "1" }, {}] }),
                "$.rows[1] has no \"at\"",
            ),
            (
                json!({ "name": "a", "kind": "x", "rows": [{ "at": "1", "b": 2 }] }),
                "$.rows[0].b is not allowed",
            ),
            (
                json!({ "name": "a", "kind": "x", "marks": { "m": 1 } }),
                "$.marks.m is 1",
            ),
            (
                json!({ "name": "a", "kind": "x", "ratio": "1" }),
                "$.ratio is \"1\"",
            ),
        ] {
            let reason = fits(&schema(), &document).unwrap_err();
            assert!(reason.contains(place), "{document}: {reason}");
        }
    }

    #[test]
    fn of_exclusive_alternatives_one_must_fit() {
        let schema =
            json!({ "oneOf": [{ "type": "integer" }, { "type": "number" }, { "const": "n" }] });
        assert_eq!(fits(&schema, &json!(1.5)), Ok(()));
        assert_eq!(fits(&schema, &json!("n")), Ok(()));
        for document in [json!(1), json!("m"), json!(null)] {
            assert!(fits(&schema, &document).is_err(), "{document}");
        }
    }

    #[test]
    fn a_schema_that_says_more_than_is_looked_at_is_no_schema_here() {
        for schema in [
            json!({ "pattern": "^a$" }),
            json!({ "minimum": 1 }),
            json!({ "type": "text" }),
            json!({ "enum": "a" }),
            json!({ "anyOf": {} }),
            json!({ "$ref": "other.json#/a" }),
            json!({ "$ref": "#/$defs/none" }),
            json!({ "$ref": "#" }),
            json!(7),
        ] {
            assert!(fits(&schema, &json!("a")).is_err(), "{schema}");
        }
        assert_eq!(fits(&json!(true), &json!("a")), Ok(()));
        assert!(fits(&json!(false), &json!("a")).is_err());
    }
}
