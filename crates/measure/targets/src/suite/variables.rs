//! `${env:NAME}` in the texts of targets, and `${env:NAME:-TEXT}` for a text where it is not set.
//!
//! The caller looks names up; this library does not read the environment. What is put in is not looked at
//! again, so a variable cannot name another one.

use super::error::{Error, Problem, cut};
use super::node::Item;

/// Gives the value of a variable, if it is set.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

const OPEN: &str = "${env:";
const FORM: &str = "a text in which every ${ begins ${env:NAME} with letters, digits and _";

/// The item's text with every variable replaced.
pub(super) fn expanded(item: &Item<'_>, lookup: Lookup<'_>) -> Result<String, Error> {
    let text = item.name()?;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let form = || item.form(text, FORM);
        let (before, here) = rest.split_at(at);
        let (name, after) = here
            .strip_prefix(OPEN)
            .and_then(|named| named.split_once('}'))
            .ok_or_else(form)?;
        let (name, otherwise) = match name.split_once(":-") {
            Some((name, text)) => (name, Some(text.to_owned())),
            None => (name, None),
        };
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if name.is_empty() || !name.bytes().all(allowed) {
            return Err(form());
        }
        out.push_str(before);
        let value = lookup(name).or(otherwise);
        let unset = || item.error(Problem::Variable { name: cut(name) });
        out.push_str(&value.ok_or_else(unset)?);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}
