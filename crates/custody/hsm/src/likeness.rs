//! Labels that are spelt like the one that was looked for.

use keywright_pkcs11::{Session, Template};
use keywright_pkcs11_names::AttributeType;
use serde::Serialize;

use crate::error::Error;

/// A label that is spelt alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Similar {
    pub label: String,
    /// Characters that would have to change.
    pub distance: usize,
    pub reason: &'static str,
}

/// Labels of the token that are spelt like `wanted`, the nearest first, at most five.
pub(crate) fn similar(session: &Session, wanted: &str) -> Result<Vec<Similar>, Error> {
    let handles: Vec<_> = session
        .search(&Template::new())?
        .collect::<Result<_, keywright_pkcs11::Error>>()?;
    let mut found: Vec<Similar> = Vec::new();
    for handle in handles {
        let label = session.attribute(handle, AttributeType::LABEL)?;
        let near = label.text().and_then(|label| alike(wanted, label));
        found.extend(near.filter(|near| !found.contains(near)));
    }
    found.sort_by(|a, b| (a.distance, &a.label).cmp(&(b.distance, &b.label)));
    found.truncate(5);
    Ok(found)
}

/// How a label is like another; `None` for the same one, for an empty one, and for one that is not.
fn alike(wanted: &str, label: String) -> Option<Similar> {
    if label.is_empty() || label == wanted || wanted.is_empty() {
        return None;
    }
    let folded = |text: &str| text.to_lowercase().replace(['-', '_', ' ', '.'], "");
    let distance = distance(wanted, &label);
    let longest = wanted.chars().count().max(label.chars().count());
    let reason = if label.trim_end() == wanted.trim_end() {
        "differs in blanks at the end"
    } else if label.to_lowercase() == wanted.to_lowercase() {
        "differs in case"
    } else if folded(&label) == folded(wanted) {
        "differs in separators"
    } else if label.contains(wanted) || wanted.contains(&label) {
        "one holds the other"
    } else if distance <= 3 && distance * 2 <= longest {
        "spelt alike"
    } else {
        return None;
    };
    Some(Similar {
        label,
        distance,
        reason,
    })
}

/// Levenshtein's distance in characters.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (line, left) in a.chars().enumerate() {
        let mut diagonal = line;
        let mut last = line + 1;
        for (place, right) in row.iter_mut().skip(1).zip(&b) {
            let changed = diagonal + usize::from(left != *right);
            diagonal = *place;
            last = changed.min(*place + 1).min(last + 1);
            *place = last;
        }
        if let Some(first) = row.first_mut() {
            *first = line + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_characters_and_not_bytes() {
        assert_eq!(distance("", ""), 0);
        assert_eq!(distance("key", ""), 3);
        assert_eq!(distance("Schlüssel", "Schlussel"), 1);
        assert_eq!(distance("кот", "ток"), 2);
        assert_eq!(distance("sign-key", "sing-key"), 2);
    }

    #[test]
    fn likeness_says_why_and_an_empty_label_is_like_nothing() {
        let reason = |wanted, label: &str| alike(wanted, label.to_owned()).map(|near| near.reason);
        assert_eq!(reason("Root", "root"), Some("differs in case"));
        assert_eq!(
            reason("root-key", "root_key"),
            Some("differs in separators")
        );
        assert_eq!(
            reason("root", "root "),
            Some("differs in blanks at the end")
        );
        assert_eq!(reason("root", "root-2025"), Some("one holds the other"));
        assert_eq!(reason("signer", "sginer"), Some("spelt alike"));
        assert_eq!(reason("a", "b"), None);
        assert_eq!(reason("root", "root"), None);
        assert_eq!(reason("root", ""), None);
        assert_eq!(reason("", "root"), None);
    }
}
