//! JSON, read so that a key that stands twice is seen.
//!
//! Every list of objects becomes a table: nested objects are columns with a dot in their name.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{MAX_COLUMNS, clip};
use crate::finding::{Check, Finding, Place};
use crate::table::{Context, Loop, RawRow, Table};
use crate::unit::Unit;

/// A JSON value that keeps every member of an object, in order.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Bool,
    List(Vec<Self>),
    Null,
    Number(f64),
    Object(Vec<(String, Self)>),
    Text(String),
}

impl Node {
    pub(crate) fn member(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members
                .iter()
                .find(|(name, _)| name == key)
                .map(|(_, node)| node),
            _ => None,
        }
    }

    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        match self.member(key)? {
            Self::Number(value) => Some(*value),
            _ => None,
        }
    }

    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match self.member(key)? {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn list(&self, key: &str) -> &[Self] {
        match self.member(key) {
            Some(Self::List(items)) => items,
            _ => &[],
        }
    }

    fn scalar(&self) -> Option<String> {
        match self {
            Self::Number(value) => Some(value.to_string()),
            Self::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

struct NodeVisitor;

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
        Ok(Node::Bool)
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "figures are compared as measured values"
    )]
    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Number(value as f64))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "figures are compared as measured values"
    )]
    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Number(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Node::Object(members))
    }
}

pub(crate) fn parse(text: &str) -> Result<Node, serde_json::Error> {
    serde_json::from_str(text)
}

/// A finding for every key that an object has twice.
pub(crate) fn doubled_keys(node: &Node) -> Vec<Finding> {
    let mut findings = Vec::new();
    walk(node, "", &mut |node, path| {
        let Node::Object(members) = node else { return };
        let mut seen = HashSet::new();
        for (key, _) in members {
            if !seen.insert(key) {
                let place = Place {
                    line: None,
                    row: path.to_owned(),
                    columns: vec![key.clone()],
                };
                let text = "it stands twice, and each reader takes another one".to_owned();
                findings.push(Finding::new(
                    Check::DuplicateKey,
                    place,
                    format!("one {key}"),
                    text,
                ));
            }
        }
    });
    findings
}

/// Every node with its path; the path of the whole is `$`.
fn walk(node: &Node, path: &str, visit: &mut impl FnMut(&Node, &str)) {
    let own = clip(if path.is_empty() { "$" } else { path });
    visit(node, own);
    match node {
        Node::List(items) => {
            for (index, item) in items.iter().enumerate() {
                walk(item, &format!("{own}[{index}]"), visit);
            }
        }
        Node::Object(members) => {
            for (key, member) in members {
                walk(member, &format!("{own}.{}", clip(key)), visit);
            }
        }
        Node::Bool | Node::Null | Node::Number(_) | Node::Text(_) => {}
    }
}

/// The tables of a document: its lists of objects.
pub(crate) fn tables(node: &Node) -> Vec<Table> {
    let context = context(node);
    let mut tables = Vec::new();
    walk(node, "", &mut |node, path| {
        if let Node::List(items) = node {
            tables.extend(table(items, path, context));
        }
    });
    tables
}

/// The HSM benchmark times one operation after another, in milliseconds, and says so by its metadata only.
fn context(node: &Node) -> Context {
    let known = node
        .member("metadata")
        .and_then(|data| data.number("iterations_per_test"));
    known.map_or_else(Context::default, |_| Context {
        time: Some(Unit::seconds(1e-3)),
        started: Loop::OneByOne,
        ..Context::default()
    })
}

fn table(items: &[Node], path: &str, context: Context) -> Option<Table> {
    let flat: Vec<Vec<(String, String)>> = items.iter().map(flatten).collect();
    let mut heads: Vec<String> = Vec::new();
    for (head, _) in flat.iter().flatten() {
        if heads.len() < MAX_COLUMNS && !heads.contains(head) {
            heads.push(head.clone());
        }
    }
    if heads.is_empty() {
        return None;
    }
    let rows: Vec<RawRow> = flat
        .iter()
        .map(|members| raw_row(&heads, members))
        .collect();
    let mut table = Table::new(&heads, &rows, context);
    for (index, row) in table.rows.iter_mut().enumerate() {
        row.label = format!("{path}[{index}] {}", row.label);
    }
    Some(table)
}

fn raw_row(heads: &[String], members: &[(String, String)]) -> RawRow {
    let cell = |head: &String| {
        let own = members.iter().find(|(name, _)| name == head);
        own.map(|(_, text)| text.clone()).unwrap_or_default()
    };
    RawRow {
        line: None,
        cells: heads.iter().map(cell).collect(),
    }
}

fn flatten(item: &Node) -> Vec<(String, String)> {
    let mut flat = Vec::new();
    if let Node::Object(members) = item {
        for (key, member) in members {
            flatten_into(clip(key), member, &mut flat);
        }
    }
    flat
}

fn flatten_into(path: &str, node: &Node, flat: &mut Vec<(String, String)>) {
    if flat.len() >= MAX_COLUMNS {
        return;
    }
    if let Some(text) = node.scalar() {
        flat.push((path.to_owned(), text));
    } else if let Node::Object(members) = node {
        for (key, member) in members {
            flatten_into(&format!("{}.{}", clip(path), clip(key)), member, flat);
        }
    }
}
