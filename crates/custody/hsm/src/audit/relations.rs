//! What objects say about each other.

use std::collections::BTreeMap;

use super::facts::{Fact, Facts, Value};
use super::modulus;

/// Fills in what needs more than one object; gives how many moduli were not searched for common factors.
pub(super) fn fill(objects: &mut [Facts]) -> usize {
    let (ids, labels) = (counts(objects, "id"), counts(objects, "label"));
    let shared = shared(objects);
    let guards_all = guards_all(objects);
    let halves: Vec<_> = objects.iter().map(|one| half(one, objects)).collect();
    let unchecked = shared.unchecked;
    for (index, (facts, half)) in objects.iter_mut().zip(halves).enumerate() {
        let others = |map: &BTreeMap<(String, String), i64>, name: &str| {
            let value = facts.text(name).filter(|text| !text.is_empty())?;
            let count = map.get(&(facts.class().to_owned(), value.to_owned()))?;
            Some(Fact::Known(Value::Number(count - 1)))
        };
        let (same_id, same_label) = (others(&ids, "id"), others(&labels, "label"));
        facts.put("same_id", same_id.unwrap_or(Fact::Absent));
        facts.put("same_label", same_label.unwrap_or(Fact::Absent));
        let flag = |value: bool| Fact::Known(Value::Flag(value));
        facts.put("has_private", flag(half.private));
        facts.put("has_public", flag(half.public));
        facts.put("pair_differs", flag(half.differs));
        facts.put("guards_all", flag(guards_all));
        if let Some(own) = facts.modulus.clone() {
            facts.put("shared_factor", flag(shared.found.contains(&index)));
            facts.put("roca", flag(modulus::is_roca(&own)));
        }
    }
    unchecked
}

/// How many objects of a class have a value.
fn counts(objects: &[Facts], name: &str) -> BTreeMap<(String, String), i64> {
    let mut map = BTreeMap::new();
    for facts in objects {
        if let Some(value) = facts.text(name).filter(|text| !text.is_empty()) {
            *map.entry((facts.class().to_owned(), value.to_owned()))
                .or_default() += 1;
        }
    }
    map
}

struct Half {
    private: bool,
    public: bool,
    differs: bool,
}

/// Which halves of a pair are there beside an object.
fn half(one: &Facts, objects: &[Facts]) -> Half {
    let id = one.text("id").filter(|id| !id.is_empty());
    let mut half = Half {
        private: false,
        public: false,
        differs: false,
    };
    for other in objects.iter().filter(|other| other.handle != one.handle) {
        let same_id = id.is_some() && other.text("id") == id;
        let values = one.public.as_ref().zip(other.public.as_ref());
        let same_value = values.is_some_and(|(a, b)| a == b);
        if !same_id && !same_value {
            continue;
        }
        let pair = matches!(
            (one.class(), other.class()),
            ("private", "public") | ("public", "private")
        );
        match other.class() {
            "private" => half.private = true,
            "public" => half.public = true,
            _ => {}
        }
        half.differs |= pair && same_id && values.is_some_and(|(a, b)| a != b);
    }
    half
}

/// Whether no key that can be taken out may leave under a key that nobody trusts.
fn guards_all(objects: &[Facts]) -> bool {
    let mut targets = objects
        .iter()
        .filter(|facts| facts.is_secret() && facts.flag("extractable") == Some(true));
    targets.all(|facts| facts.flag("wrap_with_trusted") == Some(true))
}

struct Shared {
    found: Vec<usize>,
    unchecked: usize,
}

fn shared(objects: &[Facts]) -> Shared {
    let mut found = Vec::new();
    let mut distinct: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for (index, facts) in objects.iter().enumerate() {
        if let Some(modulus) = &facts.modulus {
            distinct.entry(modulus).or_default().push(index);
        }
    }
    for places in distinct.values() {
        let of = |index: &usize| objects.get(*index);
        let name = |index: &usize| {
            of(index).map(|facts| {
                (
                    facts.class().to_owned(),
                    facts.text("id").map(str::to_owned),
                )
            })
        };
        let twice = |index: &&usize| {
            places.iter().any(|other| {
                let (a, b) = (name(index), name(other));
                a.zip(b).is_some_and(|(a, b)| a.0 == b.0 && a.1 != b.1)
            })
        };
        found.extend(places.iter().filter(twice).copied());
    }
    let all: Vec<_> = distinct.iter().collect();
    let searched = all
        .get(..modulus::WEAK_LIMIT.min(all.len()))
        .unwrap_or_default();
    for (at, (one, places)) in searched.iter().enumerate() {
        for (other, more) in searched.iter().skip(at + 1) {
            if modulus::share_factor(one, other) {
                found.extend(places.iter().chain(more.iter()).copied());
            }
        }
    }
    Shared {
        found,
        unchecked: all.len() - searched.len(),
    }
}
