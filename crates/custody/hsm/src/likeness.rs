//! Labels that are spelt like the one that was looked for.

use keywright_pkcs11::{Session, Template};
use keywright_pkcs11_names::AttributeType;
use serde::Serialize;

use crate::error::Error;
use crate::uri::Uri;

/// A label that is spelt alike.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Similar {
    /// Names what has this label, in this token.
    pub uri: String,
    pub label: String,
    /// Characters that would have to change.
    pub distance: usize,
    /// How alike, from 0 to 1: the share of characters that need not change.
    pub score: f64,
    pub reason: &'static str,
}

/// Labels of the token that are spelt like `wanted`, the nearest first, at most five.
pub(crate) fn similar(session: &Session, wanted: &str) -> Result<Vec<Similar>, Error> {
    let handles: Vec<_> = session
        .search(&Template::new())?
        .collect::<Result<_, keywright_pkcs11::Error>>()?;
    let info = session.token().info()?;
    let mut found: Vec<Similar> = Vec::new();
    for handle in handles {
        let label = session.attribute(handle, AttributeType::LABEL)?;
        let uri = Uri::of_object(&info, None, label.bytes(), None).to_string();
        let near = label.text().and_then(|label| alike(wanted, label));
        let near = near.map(|near| Similar { uri, ..near });
        found.extend(near.filter(|near| !found.contains(near)));
    }
    nearest(&mut found);
    Ok(found)
}

/// Keeps the five nearest, the nearest first.
pub(crate) fn nearest(found: &mut Vec<Similar>) {
    found.sort_by(|a, b| (a.distance, &a.label, &a.uri).cmp(&(b.distance, &b.label, &b.uri)));
    found.truncate(5);
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
        uri: String::new(),
        label,
        distance,
        score: score(distance, longest),
        reason,
    })
}

/// In hundredths, which is as much as labels tell.
fn score(distance: usize, longest: usize) -> f64 {
    let same = longest.saturating_sub(distance);
    let hundredths = (same * 100).checked_div(longest).unwrap_or(0);
    f64::from(u32::try_from(hundredths).unwrap_or(100)) / 100.0
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
    fn a_score_is_the_share_of_characters_that_stay() {
        let score = |wanted, label: &str| alike(wanted, label.to_owned()).unwrap().score;
        for (wanted, label, expected) in [
            ("signer", "signers", 0.85),
            ("Schl\u{fc}ssel", "Schlussel", 0.88),
            ("ab", "ab ", 0.66),
        ] {
            let found = score(wanted, label);
            assert!((found - expected).abs() < 1e-9, "{wanted} {label}: {found}");
        }
        assert!(super::score(7, 3).abs() < 1e-9 && super::score(0, 0).abs() < 1e-9);
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
