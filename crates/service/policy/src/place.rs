//! Where in the text an error is: the line and the key a person has to change.

use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

use crate::Error;
use crate::error::Entry;

/// Where each entry of a document begins, read a second time and only once something is wrong.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Places {
    group: Vec<Spanned<IgnoredAny>>,
    principal: Vec<Spanned<PrincipalPlaces>>,
    grant: Vec<Spanned<IgnoredAny>>,
    limit: Vec<Spanned<IgnoredAny>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PrincipalPlaces {
    rule: Vec<Spanned<IgnoredAny>>,
}

impl Places {
    /// An error of the TOML reader, in one line.
    pub(crate) fn syntax(text: &str, error: &toml::de::Error) -> Error {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        Error::Syntax {
            line: line_at(text, at),
            place: place_at(text, at),
            message: error.message().replace('\n', "; ").into(),
        }
    }

    /// The same error with the line of its key.
    pub(crate) fn locate(text: &str, error: Error) -> Error {
        match error {
            Error::Content { entry, problem, .. } => Error::Content {
                line: toml::from_str::<Self>(text)
                    .ok()
                    .and_then(|places| places.start(entry))
                    .map(|start| line_of(text, start, problem.key())),
                entry,
                problem,
            },
            other => other,
        }
    }

    fn start(&self, entry: Entry) -> Option<usize> {
        Some(match entry {
            Entry::Grant(index) => self.grant.get(index)?.span().start,
            Entry::Group(index) => self.group.get(index)?.span().start,
            Entry::Limit(index) => self.limit.get(index)?.span().start,
            Entry::Principal(index) => self.principal.get(index)?.span().start,
            Entry::Rule(index, rule) => {
                let principal = self.principal.get(index)?.get_ref();
                principal.rule.get(rule)?.span().start
            }
        })
    }
}

/// The number of the line that holds this byte, from 1.
fn line_at(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    1 + before.iter().filter(|&&byte| byte == b'\n').count()
}

/// The line of `key` in the table that starts at `start`; the table's own where the key is not written.
fn line_of(text: &str, start: usize, key: &str) -> usize {
    let first = line_at(text, start);
    text.lines()
        .enumerate()
        .skip(first)
        .take_while(|(_, line)| !line.trim_start().starts_with('['))
        .find(|(_, line)| key_of(line) == Some(key))
        .map_or(first, |(index, _)| index + 1)
}

/// The key or the table header that this byte belongs to. A list may reach over several lines, so the
/// search goes back to the line that opened it.
fn place_at(text: &str, at: usize) -> Box<str> {
    let line = line_at(text, at);
    let lines: Vec<&str> = text.lines().take(line).collect();
    lines
        .iter()
        .rev()
        .find_map(|line| match (key_of(line), line.trim()) {
            (Some(key), _) => Some(format!("key `{key}`")),
            (None, header) if header.starts_with('[') => Some(format!("table {header}")),
            _ => None,
        })
        .unwrap_or_else(|| "document".to_owned())
        .into()
}

/// The key that a line begins with.
fn key_of(line: &str) -> Option<&str> {
    let key = line.split_once('=')?.0.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (!key.is_empty() && key.chars().all(plain)).then_some(key)
}
