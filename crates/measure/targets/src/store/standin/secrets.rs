//! The key/value engine in its two versions.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use http::StatusCode;
use keywright_clock::Clock;
use serde_json::{Value, json};

use super::answer::Answer;
use super::state::Asked;

/// Version 2: values have versions.
pub(super) struct Versioned {
    secrets: BTreeMap<String, History>,
    clock: Clock,
}

/// The versions of a secret, the newest last.
#[derive(Default)]
struct History {
    newest: u64,
    kept: VecDeque<(Value, String)>,
    /// What its owners wrote beside it, or null.
    custom: Value,
}

/// Version 1: a value each.
#[derive(Default)]
pub(super) struct Plain {
    secrets: BTreeMap<String, Value>,
}

/// As many versions are kept as the products keep unless they are told otherwise.
const KEPT: usize = 10;

impl Versioned {
    pub(super) const fn new(clock: Clock) -> Self {
        Self {
            secrets: BTreeMap::new(),
            clock,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.secrets.len()
    }

    pub(super) fn answer(&mut self, asked: &Asked<'_>, rest: &str) -> Answer {
        match rest.split_once('/') {
            Some(("data", path)) if asked.reads() => self.read(asked, path),
            Some(("data", path)) if asked.writes() => self.write(asked, path),
            Some(("metadata", path)) if asked.lists() => listed(self.secrets.keys(), path),
            Some(("metadata", path)) if asked.reads() => match self.secrets.get(path) {
                Some(history) => Answer::data(json!({ "current_version": history.newest })),
                None => Answer::missing(),
            },
            Some(("metadata", path)) if asked.writes() => self.describe(asked, path),
            Some(("metadata", path)) if asked.deletes() => {
                self.secrets.remove(path);
                Answer::empty()
            }
            // The engine takes the first part of a path for a route of its own.
            _ => Answer::refused(StatusCode::NOT_FOUND, "no such route of a versioned engine"),
        }
    }

    /// As its owner writes: the value, and what stands beside it.
    pub(super) fn put(&mut self, path: &str, value: &str, semantic_path: Option<&str>) {
        let created = self.clock.wall().rfc3339();
        let history = self.secrets.entry(path.to_owned()).or_default();
        history.custom = semantic_path.map_or(Value::Null, |path| json!({ "semanticPath": path }));
        history.add(json!({ "value": value }), created);
    }

    fn read(&self, asked: &Asked<'_>, path: &str) -> Answer {
        let Some(history) = self.secrets.get(path) else {
            return Answer::missing();
        };
        let wanted = asked
            .parameter("version")
            .map_or(Some(0), |text| text.parse().ok());
        let version = match wanted {
            None => return Answer::bad("the version is no number"),
            Some(0) => history.newest,
            Some(version) => version,
        };
        match history.version(version) {
            Some((value, created)) => Answer::data(json!({
                "data": value,
                "metadata": described(version, created, &history.custom),
            })),
            None => Answer::missing(),
        }
    }

    /// What is written beside a secret, which need not be there yet.
    fn describe(&mut self, asked: &Asked<'_>, path: &str) -> Answer {
        let Some(mut body) = asked.object() else {
            return Answer::bad("the body is no JSON object");
        };
        let custom = body["custom_metadata"].take();
        if !custom.is_object() && !custom.is_null() {
            return Answer::bad("custom_metadata is no object");
        }
        self.secrets.entry(path.to_owned()).or_default().custom = custom;
        Answer::empty()
    }

    fn write(&mut self, asked: &Asked<'_>, path: &str) -> Answer {
        let Some(mut body) = asked.object() else {
            return Answer::bad("the body is no JSON object");
        };
        let value = body["data"].take();
        if !value.is_object() || path.is_empty() {
            return Answer::bad("no data provided");
        }
        let created = self.clock.wall().rfc3339();
        let history = self.secrets.entry(path.to_owned()).or_default();
        let answer = Answer::data(described(history.newest + 1, &created, &history.custom));
        history.add(value, created);
        answer
    }
}

impl History {
    fn add(&mut self, value: Value, created: String) {
        self.newest += 1;
        self.kept.push_back((value, created));
        if self.kept.len() > KEPT {
            self.kept.pop_front();
        }
    }

    fn version(&self, version: u64) -> Option<&(Value, String)> {
        let back = usize::try_from(self.newest.checked_sub(version)?).ok()?;
        self.kept.get(self.kept.len().checked_sub(back + 1)?)
    }
}

fn described(version: u64, created: &str, custom: &Value) -> Value {
    json!({
        "version": version,
        "created_time": created,
        "deletion_time": "",
        "destroyed": false,
        "custom_metadata": custom,
    })
}

impl Plain {
    pub(super) fn len(&self) -> usize {
        self.secrets.len()
    }

    pub(super) fn answer(&mut self, asked: &Asked<'_>, path: &str) -> Answer {
        if asked.lists() {
            return listed(self.secrets.keys(), path);
        }
        if asked.reads() {
            return match self.secrets.get(path) {
                Some(value) => Answer::data(value.clone()),
                None => Answer::missing(),
            };
        }
        if asked.deletes() {
            self.secrets.remove(path);
            return Answer::empty();
        }
        match asked.object() {
            Some(value) if asked.writes() && !path.is_empty() => {
                self.secrets.insert(path.to_owned(), value);
                Answer::empty()
            }
            Some(_) => Answer::refused(StatusCode::METHOD_NOT_ALLOWED, "unsupported operation"),
            None => Answer::bad("the body is no JSON object"),
        }
    }
}

/// The names directly below a path; what has names below itself ends with a slash.
fn listed<'a>(paths: impl Iterator<Item = &'a String>, below: &str) -> Answer {
    let below = match below.trim_end_matches('/') {
        "" => String::new(),
        below => format!("{below}/"),
    };
    let inside = paths.filter_map(|path| path.strip_prefix(&below));
    let names: BTreeSet<_> = inside
        .map(|name| match name.split_once('/') {
            Some((folder, _)) => format!("{folder}/"),
            None => name.to_owned(),
        })
        .collect();
    if names.is_empty() {
        return Answer::missing();
    }
    Answer::data(json!({ "keys": names }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_each_name_once_and_folders_with_a_slash() {
        let paths = ["a/x", "a/y/1", "a/y/2", "ab"].map(str::to_owned);
        let answer = listed(paths.iter(), "a");
        assert_eq!(answer.body()["data"]["keys"], json!(["x", "y/"]));
        assert_eq!(listed(paths.iter(), "c").status(), StatusCode::NOT_FOUND);
        assert_eq!(
            listed(paths.iter(), "").body()["data"]["keys"],
            json!(["a/", "ab"])
        );
    }

    #[test]
    fn old_versions_are_forgotten_and_the_rest_keep_their_numbers() {
        let mut history = History::default();
        for number in 1..=12_u64 {
            history.newest = number;
            history.kept.push_back((json!(number), String::new()));
            if history.kept.len() > KEPT {
                history.kept.pop_front();
            }
        }
        assert_eq!(history.version(12).unwrap().0, json!(12));
        assert_eq!(history.version(3).unwrap().0, json!(3));
        assert!(history.version(2).is_none());
        assert!(history.version(13).is_none());
        assert!(history.version(0).is_none());
    }
}
