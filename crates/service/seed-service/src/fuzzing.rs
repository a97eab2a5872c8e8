//! The promises of the readers over arbitrary texts, as one function that the fuzz target and a plain test both call.

use crate::files::{Config, Metadata, Revocations};
use crate::yaml::{self, Node};

/// Reads `data` as each of the files, and checks that what is read is no more than what is written down, and that no
/// table has a key twice.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn files(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(root) = yaml::read(text) {
        let nodes = count(&root);
        assert!(nodes <= 2 * text.len() + 1, "{nodes} of {}", text.len());
    }
    drop(Config::parse(text));
    drop(Metadata::parse(text));
    drop(Revocations::parse(text));
}

fn count(node: &Node) -> usize {
    match node {
        Node::Empty | Node::Text(_) => 1,
        Node::List(list) => 1 + list.iter().map(count).sum::<usize>(),
        Node::Table(entries) => {
            let mut keys: Vec<_> = entries.iter().map(|(key, _)| key).collect();
            keys.sort();
            keys.dedup();
            assert_eq!(keys.len(), entries.len(), "a key twice");
            1 + entries.iter().map(|(_, node)| count(node)).sum::<usize>()
        }
    }
}
