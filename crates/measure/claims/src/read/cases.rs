//! Our own result documents: `schema_version` and `cases`.

use super::json::Node;
use crate::header;

/// One latency distribution of a case, in nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Latency {
    pub(crate) name: &'static str,
    pub(crate) min: Option<f64>,
    pub(crate) max: Option<f64>,
    pub(crate) mean: Option<f64>,
    /// Share, value and number of samples, in the order of the shares.
    pub(crate) quantiles: Vec<Quantile>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Quantile {
    pub(crate) share: f64,
    pub(crate) value: f64,
    pub(crate) samples: Option<f64>,
}

/// One case as far as it can be checked.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// Id or operation, and where it stands.
    pub(crate) label: String,
    pub(crate) id: Option<String>,
    pub(crate) counts: Vec<(String, f64)>,
    pub(crate) achieved: Option<f64>,
    pub(crate) target: Option<f64>,
    pub(crate) cap: Option<f64>,
    /// Every verdict word that is said about the case.
    pub(crate) words: Vec<String>,
    pub(crate) latencies: Vec<Latency>,
}

impl Case {
    pub(crate) fn count(&self, name: &str) -> Option<f64> {
        self.counts
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, count)| *count)
    }

    pub(crate) fn latency(&self, name: &str) -> Option<&Latency> {
        self.latencies.iter().find(|latency| latency.name == name)
    }
}

/// Whether this is a document of ours.
pub(crate) fn is_result(node: &Node) -> bool {
    node.member("schema_version").is_some() && matches!(node.member("cases"), Some(Node::List(_)))
}

pub(crate) fn cases(node: &Node) -> Vec<Case> {
    node.list("cases")
        .iter()
        .enumerate()
        .map(|(index, case)| read(node, case, index))
        .collect()
}

fn read(document: &Node, case: &Node, index: usize) -> Case {
    let id = case.text("id").map(str::to_owned);
    let name = id
        .as_deref()
        .or_else(|| case.text("op"))
        .unwrap_or_default();
    let load = case.member("load");
    let mut words = Vec::new();
    texts(case, &mut words);
    for key in ["verdicts", "validity"] {
        for said in document.list(key) {
            // What names no case is said about all of them.
            if said
                .text("case")
                .is_none_or(|about| Some(about) == id.as_deref())
            {
                texts(said, &mut words);
            }
        }
    }
    Case {
        label: format!("$.cases[{index}] {name}").trim_end().to_owned(),
        counts: case.member("counts").map(numbers).unwrap_or_default(),
        achieved: case.number("achieved_per_s"),
        target: load.and_then(|load| load.number("rate_per_s")),
        cap: load.and_then(|load| load.number("cap")),
        words,
        latencies: ["response", "service", "lateness"]
            .into_iter()
            .filter_map(|name| case.member(name).map(|node| latency(name, node)))
            .collect(),
        id,
    }
}

fn numbers(node: &Node) -> Vec<(String, f64)> {
    let Node::Object(members) = node else {
        return Vec::new();
    };
    let number = |(key, node): &(String, Node)| match node {
        Node::Number(value) => Some((key.clone(), *value)),
        _ => None,
    };
    members.iter().filter_map(number).collect()
}

fn texts(node: &Node, into: &mut Vec<String>) {
    match node {
        Node::Text(text) => into.push(text.clone()),
        Node::List(items) => items.iter().for_each(|item| texts(item, into)),
        Node::Object(members) => members.iter().for_each(|(_, member)| texts(member, into)),
        Node::Bool | Node::Null | Node::Number(_) => {}
    }
}

fn latency(name: &'static str, node: &Node) -> Latency {
    let mut quantiles = Vec::new();
    if let Node::Object(members) = node {
        quantiles.extend(
            members
                .iter()
                .filter_map(|(key, member)| quantile(key, member)),
        );
    }
    quantiles.sort_by(|a: &Quantile, b| a.share.total_cmp(&b.share));
    Latency {
        name,
        min: node.number("min_ns"),
        max: node.number("max_ns"),
        mean: node.number("mean_ns"),
        quantiles,
    }
}

/// `p99_ns` and `p99_9_ns`. A quantile that was withheld has no value.
fn quantile(key: &str, node: &Node) -> Option<Quantile> {
    let share = header::quantile(&key.strip_suffix("_ns")?.replace('_', "."))?;
    Some(Quantile {
        share,
        value: node.number("value")?,
        samples: node.number("n"),
    })
}
