//! The part of YAML in which the files of the seed service are written: tables, lists and texts.
//!
//! A scalar is a text, whatever it looks like: `2fa`, `0x10` and `yes` are read as they are written. Anchors, aliases,
//! tags, keys that are no texts, keys that stand twice and second documents are refused; nothing here grows beyond what
//! is written down.

use saphyr_parser::{Event, Parser, ScalarStyle};

/// A document, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "there is nothing else in a document"
)]
pub enum Node {
    /// Nothing, `~` or `null`.
    Empty,
    /// Texts in an order.
    List(Vec<Self>),
    /// Under texts, each of which stands once.
    Table(Vec<(String, Self)>),
    /// A scalar as it is written.
    Text(String),
}

/// Why a text is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadYaml {
    /// It is longer than any such file.
    #[error("it has more than {MAX_TEXT} bytes")]
    TooLong,
    /// It is no YAML.
    #[error("line {line} is not valid YAML")]
    Syntax {
        /// Counted from one.
        line: usize,
    },
    /// An anchor, an alias or a tag.
    #[error("line {line} has an anchor, an alias or a tag, which are not read here")]
    Reference {
        /// Counted from one.
        line: usize,
    },
    /// Tables in tables in tables.
    #[error("line {line} is nested too deeply")]
    Deep {
        /// Counted from one.
        line: usize,
    },
    /// A key stands twice, or is no text.
    #[error("line {line} has a key that stands there already, or that is no text")]
    Key {
        /// Counted from one.
        line: usize,
    },
    /// There is more than one document.
    #[error("it holds more than one document")]
    Documents,
}

/// Reads a text.
///
/// # Errors
/// [`BadYaml`]; nothing of the text is part of it.
pub fn read(text: &str) -> Result<Node, BadYaml> {
    if text.len() > MAX_TEXT {
        return Err(BadYaml::TooLong);
    }
    let mut reading = Reading::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| BadYaml::Syntax {
            line: error.marker().line(),
        })?;
        reading.take(event, span.start.line())?;
    }
    Ok(reading.root.unwrap_or(Node::Empty))
}

/// What is open while a document is read.
enum Open {
    List(Vec<Node>),
    Table {
        entries: Vec<(String, Node)>,
        key: Option<String>,
    },
}

#[derive(Default)]
struct Reading {
    documents: usize,
    open: Vec<Open>,
    root: Option<Node>,
}

impl Reading {
    fn take(&mut self, event: Event<'_>, line: usize) -> Result<(), BadYaml> {
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                match self.documents {
                    1 => Ok(()),
                    _ => Err(BadYaml::Documents),
                }
            }
            Event::Scalar(text, style, 0, None) => {
                let plain = style == ScalarStyle::Plain;
                let node = match plain && NOTHING.contains(&&*text) {
                    true => Node::Empty,
                    false => Node::Text(text.into_owned()),
                };
                self.add(node, line)
            }
            Event::SequenceStart(0, None) => self.open(Open::List(Vec::new()), line),
            Event::MappingStart(0, None) => {
                let entries = Vec::new();
                self.open(Open::Table { entries, key: None }, line)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(line),
            Event::Alias(_)
            | Event::Scalar(..)
            | Event::SequenceStart(..)
            | Event::MappingStart(..) => Err(BadYaml::Reference { line }),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
        }
    }

    fn open(&mut self, open: Open, line: usize) -> Result<(), BadYaml> {
        if self.open.len() >= MAX_DEPTH {
            return Err(BadYaml::Deep { line });
        }
        self.open.push(open);
        Ok(())
    }

    fn close(&mut self, line: usize) -> Result<(), BadYaml> {
        let node = match self.open.pop() {
            Some(Open::List(list)) => Node::List(list),
            Some(Open::Table { entries, .. }) => Node::Table(entries),
            None => return Err(BadYaml::Syntax { line }),
        };
        self.add(node, line)
    }

    fn add(&mut self, node: Node, line: usize) -> Result<(), BadYaml> {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List(list)) => list.push(node),
            Some(Open::Table { entries, key }) => match (key.take(), node) {
                (Some(key), node) => entries.push((key, node)),
                (None, Node::Text(text)) if entries.iter().all(|(known, _)| *known != text) => {
                    *key = Some(text);
                }
                (None, _) => return Err(BadYaml::Key { line }),
            },
        }
        Ok(())
    }
}

/// How nothing is written.
const NOTHING: [&str; 5] = ["", "~", "null", "Null", "NULL"];
/// Bytes of a file.
const MAX_TEXT: usize = 1 << 20;
/// Tables and lists inside each other.
const MAX_DEPTH: usize = 16;
