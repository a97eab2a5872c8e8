//! The document as JSON, and back.
//!
//! Members stand in the order of the records; a float that is not finite is written as null. Reading takes
//! every version of the major version known here, and ignores members it does not know. It is strict about
//! what makes a text ambiguous: a member that occurs twice is refused.

use keywright_encoding::terminal::escaped_json;
use keywright_measure::document::{Document, SCHEMA, SCHEMA_VERSION};
use serde::Deserialize;

use crate::Error;
use crate::tree::Tree;

/// Most bytes of a result that is read: far above the largest suite with every histogram in it.
pub const LIMIT: usize = 64 << 20;

/// Everything before the version in the name of the form.
const FORM: &str = "https://keywright.dev/schema/bench/";

/// How JSON is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// All on one line.
    Line,
    /// A member a line, indented.
    #[default]
    Pretty,
}

/// The document as JSON text that ends with a line break. Whatever form it was read from, it is written in
/// the one of this version.
///
/// # Errors
/// [`Error::Unwritable`], which would be a bug.
pub fn render(document: &Document, layout: Layout) -> Result<String, Error> {
    let document = current(document);
    let text = match layout {
        Layout::Line => serde_json::to_string(&document),
        Layout::Pretty => serde_json::to_string_pretty(&document),
    };
    text.map(|text| escaped_json(&text).into_owned() + "\n")
        .map_err(Error::Unwritable)
}

/// The document under the name and version of the form of now.
pub(crate) fn current(document: &Document) -> Document {
    Document {
        schema: SCHEMA.to_owned(),
        schema_version: SCHEMA_VERSION.to_owned(),
        ..document.clone()
    }
}

/// Reads a document.
///
/// # Errors
/// [`Error::TooLarge`]; [`Error::Malformed`] if it is no JSON, has a member twice or one of the wrong kind;
/// [`Error::NotAResult`] if it is JSON of something else; [`Error::UnknownVersion`] if its major version is
/// another one.
pub fn read(bytes: &[u8]) -> Result<Document, Error> {
    let tree = tree(bytes)?;
    let form = tree
        .member("schema")
        .and_then(Tree::as_text)
        .ok_or(Error::NotAResult)?;
    if !form.starts_with(FORM) {
        return Err(Error::NotAResult);
    }
    let version = tree
        .member("schema_version")
        .and_then(Tree::as_text)
        .ok_or(Error::NotAResult)?;
    if version.split('.').next() != SCHEMA_VERSION.split('.').next() {
        return Err(Error::UnknownVersion {
            found: crate::plain::fitted(version, 40),
            known: SCHEMA_VERSION,
        });
    }
    Document::deserialize(tree).map_err(Error::Malformed)
}

/// JSON of bounded size, without doubled members.
pub(crate) fn tree(bytes: &[u8]) -> Result<Tree, Error> {
    if bytes.len() > LIMIT {
        return Err(Error::TooLarge {
            size: bytes.len(),
            limit: LIMIT,
        });
    }
    serde_json::from_slice(bytes).map_err(Error::Malformed)
}
