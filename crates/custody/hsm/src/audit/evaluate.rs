//! What a condition says of an object.

use super::condition::{Condition, Literal, Node, Order};
use super::facts::{Fact, Facts, Value};
use super::field::Field;

/// Three-valued: what hangs on something that cannot be read is neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    Yes,
    No,
    /// With the field that decides.
    Unknown(&'static str),
}

impl Condition {
    pub(super) fn holds(&self, facts: &Facts) -> Truth {
        node(&self.0, facts)
    }
}

fn node(node_of: &Node, facts: &Facts) -> Truth {
    match node_of {
        Node::Constant(true) => Truth::Yes,
        Node::Constant(false) => Truth::No,
        Node::And(parts) => all(parts, facts, Truth::No, Truth::Yes),
        Node::Or(parts) => all(parts, facts, Truth::Yes, Truth::No),
        Node::Not(inner) => match node(inner, facts) {
            Truth::Yes => Truth::No,
            Truth::No => Truth::Yes,
            unknown => unknown,
        },
        Node::Flag(field) => asked(field, facts, |value| *value == Value::Flag(true)),
        Node::Has(field) => match facts.fact(field) {
            Fact::Known(_) => Truth::Yes,
            Fact::Absent => Truth::No,
            Fact::Unreadable(_) => Truth::Unknown(field.name),
        },
        Node::Compare(field, order, literal) => {
            asked(field, facts, |value| compare(value, *order, literal))
        }
        Node::In(field, list) => asked(field, facts, |value| {
            list.iter()
                .any(|literal| compare(value, Order::Equal, literal))
        }),
        Node::Starts(field, begin) => asked(
            field,
            facts,
            |value| matches!(value, Value::Text(text) if text.starts_with(begin.as_str())),
        ),
        Node::Any(field, list) => asked(field, facts, |value| match value {
            Value::List(names) => list
                .iter()
                .any(|literal| matches!(literal, Literal::Text(text) if names.contains(text))),
            _ => false,
        }),
    }
}

/// `decides` as soon as one part is that; else the first that is not known; else `neutral`.
fn all(parts: &[Node], facts: &Facts, decides: Truth, neutral: Truth) -> Truth {
    let mut unknown = None;
    for part in parts {
        match node(part, facts) {
            truth if truth == decides => return decides,
            Truth::Unknown(what) => unknown = unknown.or(Some(what)),
            _ => {}
        }
    }
    unknown.map_or(neutral, Truth::Unknown)
}

fn asked(field: &'static Field, facts: &Facts, fits: impl FnOnce(&Value) -> bool) -> Truth {
    match facts.fact(field) {
        Fact::Known(value) if fits(value) => Truth::Yes,
        Fact::Known(_) => Truth::No,
        Fact::Absent if field.required && facts.is_secret() => Truth::Unknown(field.name),
        Fact::Absent => Truth::No,
        Fact::Unreadable(_) => Truth::Unknown(field.name),
    }
}

fn compare(value: &Value, order: Order, literal: &Literal) -> bool {
    match (value, literal) {
        (Value::Flag(a), Literal::Flag(b)) => (order == Order::Equal) == (a == b),
        (Value::Text(a), Literal::Text(b)) => (order == Order::Equal) == (a == b),
        (Value::Number(a), Literal::Number(b)) => match order {
            Order::Equal => a == b,
            Order::Unequal => a != b,
            Order::Less => a < b,
            Order::AtMost => a <= b,
            Order::More => a > b,
            Order::AtLeast => a >= b,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str) -> Truth {
        let mut facts = Facts::empty();
        facts.put("class", Fact::Known(Value::Text("private".to_owned())));
        facts.put("bits", Fact::Known(Value::Number(2048)));
        facts.put("extractable", Fact::Known(Value::Flag(true)));
        facts.put("sensitive", Fact::Unreadable("CKR_DEVICE_ERROR".to_owned()));
        facts.put(
            "allowed_mechanisms",
            Fact::Known(Value::List(vec!["CKM_RSA_PKCS".to_owned()])),
        );
        Condition::read(text).unwrap().holds(&facts)
    }

    #[test]
    fn conditions_hold_of_what_they_say() {
        for (text, truth) in [
            ("extractable", Truth::Yes),
            ("not extractable", Truth::No),
            ("extractable == false or bits < 2048", Truth::No),
            ("bits >= 2048 and bits <= 2048 and bits != 2047", Truth::Yes),
            (
                "class in [\"public\", \"private\"] and not (bits > 3000)",
                Truth::Yes,
            ),
            (
                "allowed_mechanisms any [\"CKM_MD5\", \"CKM_RSA_PKCS\"]",
                Truth::Yes,
            ),
            ("false or true and extractable", Truth::Yes),
            // An attribute that is absent is nothing to compare with.
            ("curve == \"p256\"", Truth::No),
            ("curve != \"p256\"", Truth::No),
            ("not has(curve)", Truth::Yes),
            // Every private key has it: absent is unknown.
            ("local", Truth::Unknown("local")),
            ("not local", Truth::Unknown("local")),
        ] {
            assert_eq!(holds(text), truth, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_stays_unknown_unless_the_rest_decides() {
        for (text, truth) in [
            ("sensitive", Truth::Unknown("sensitive")),
            ("not sensitive", Truth::Unknown("sensitive")),
            ("sensitive and extractable", Truth::Unknown("sensitive")),
            ("sensitive and not extractable", Truth::No),
            ("sensitive or extractable", Truth::Yes),
            ("sensitive or bits < 100", Truth::Unknown("sensitive")),
            ("has(sensitive)", Truth::Unknown("sensitive")),
        ] {
            assert_eq!(holds(text), truth, "{text}");
        }
    }

    #[test]
    fn a_condition_that_is_none_is_refused_with_its_place() {
        for (text, at, message) in [
            ("", 0, "something is missing"),
            ("extractible", 0, "extractable is"),
            ("extractable and", 15, "something is missing"),
            ("extractable local", 12, "`and` or `or`"),
            ("bits", 0, "compare it"),
            ("bits < \"x\"", 7, "number"),
            ("class > \"a\"", 0, "only numbers"),
            ("class = \"a\"", 6, "write =="),
            ("extractable && local", 12, "write `and`"),
            ("(extractable", 12, "`)` is missing"),
            ("class == \"a", 9, "no end"),
            ("class in []", 10, "text"),
            ("label any [\"x\"]", 0, "list"),
            ("bits < 99999999999999999999", 7, "whole number"),
            ("has(1)", 4, "name of an attribute"),
            ("\u{e9} and x", 0, "nothing begins"),
        ] {
            let error = Condition::read(text).unwrap_err();
            assert_eq!(error.at, at, "{text}: {error}");
            assert!(error.message.contains(message), "{text}: {error}");
        }
        let deep = "(".repeat(1000) + "local" + &")".repeat(1000);
        assert!(
            Condition::read(&deep)
                .unwrap_err()
                .message
                .contains("parentheses")
        );
        let deep = "not ".repeat(1000) + "local";
        assert!(Condition::read(&deep).is_err());
    }
}
