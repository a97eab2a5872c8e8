//! Names: what is left of them without case and separators, usual ones, and those that are spelt alike.

use crate::Named;

/// Capital letters and digits only, without the prefix of the kind.
fn folded<T: Named>(text: &str) -> String {
    let all = letters(text);
    match all.strip_prefix(T::PREFIX) {
        Some(rest) if !rest.is_empty() => rest.to_owned(),
        _ => all,
    }
}

fn letters(text: &str) -> String {
    text.chars()
        .filter(|c| !matches!(c, '_' | '-' | ' ' | ':' | '.' | '/'))
        .map(|c| c.to_ascii_uppercase())
        .collect()
}

/// Whether a name of the header has these letters after its prefix. Allocates nothing: this runs for each name.
fn fits(name: &str, folded: &str) -> bool {
    let rest = name.split_once('_').map_or(name, |(_, rest)| rest);
    rest.bytes().filter(|b| *b != b'_').eq(folded.bytes())
}

pub(super) fn by_name<T: Named>(text: &str) -> Option<T> {
    // No name is as long; a whole message need not be folded.
    if text.len() > 80 {
        return None;
    }
    let folded = folded::<T>(text);
    let usual = usual_names(T::PREFIX)
        .iter()
        .find(|(usual, _)| *usual == folded)
        .map(|&(_, name)| name);
    let fits = |name: &str| usual.map_or_else(|| fits(name, &folded), |usual| usual == name);
    T::names()
        .iter()
        .find(|(name, _)| fits(name))
        .map(|&(_, number)| T::from_number(number))
}

/// What people say instead of a header's name, folded.
fn usual_names(prefix: &str) -> &'static [(&'static str, &'static str)] {
    match prefix {
        "CKM" => &[
            ("AESKW", "CKM_AES_KEY_WRAP"),
            ("AESKWP", "CKM_AES_KEY_WRAP_KWP"),
            ("ED25519", "CKM_EDDSA"),
            ("ECDH", "CKM_ECDH1_DERIVE"),
            ("HKDF", "CKM_HKDF_DERIVE"),
            ("HMACSHA1", "CKM_SHA_1_HMAC"),
            ("HMACSHA224", "CKM_SHA224_HMAC"),
            ("HMACSHA256", "CKM_SHA256_HMAC"),
            ("HMACSHA384", "CKM_SHA384_HMAC"),
            ("HMACSHA512", "CKM_SHA512_HMAC"),
            ("PBKDF2", "CKM_PKCS5_PBKD2"),
            ("RSAOAEP", "CKM_RSA_PKCS_OAEP"),
            ("RSAPSS", "CKM_RSA_PKCS_PSS"),
        ],
        "CKK" => &[
            ("ED25519", "CKK_EC_EDWARDS"),
            ("ED448", "CKK_EC_EDWARDS"),
            ("X25519", "CKK_EC_MONTGOMERY"),
            ("X448", "CKK_EC_MONTGOMERY"),
            ("3DES", "CKK_DES3"),
        ],
        _ => &[],
    }
}

/// How many names are proposed.
pub(super) const PROPOSED: usize = 3;

pub(crate) fn nearest<T: Named>(text: &str) -> Vec<&'static str> {
    let wanted = folded::<T>(text);
    // Beyond this share of the letters two words are not alike.
    let limit = (wanted.len() / 2).max(1);
    let mut found: Vec<(usize, &'static str)> = T::all()
        .filter_map(Named::name)
        .filter_map(|name| {
            let name_folded = folded::<T>(name);
            // So many letters would have to be put in or taken out: a long message is compared with nothing.
            let apart = name_folded.len().abs_diff(wanted.len());
            if apart > limit.min(LONGEST_NAME) {
                return None;
            }
            let distance = distance(wanted.as_bytes(), name_folded.as_bytes());
            (distance <= limit).then_some((distance, name))
        })
        .collect();
    found.sort_unstable();
    found
        .into_iter()
        .take(PROPOSED)
        .map(|(_, name)| name)
        .collect()
}

/// More letters than any name has.
const LONGEST_NAME: usize = 48;

/// Insertions, deletions, changes and swaps of neighbours (optimal string alignment).
fn distance(a: &[u8], b: &[u8]) -> usize {
    let at = |line: &[usize], column: usize| line.get(column).copied().unwrap_or(usize::MAX - 1);
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let mut row = Vec::with_capacity(b.len() + 1);
    for (i, x) in a.iter().enumerate() {
        row.clear();
        row.push(i + 1);
        for (j, y) in b.iter().enumerate() {
            let mut best = (at(&above, j) + usize::from(x != y))
                .min(at(&above, j + 1) + 1)
                .min(at(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped {
                best = best.min(at(&before, j - 1) + 1);
            }
            row.push(best);
        }
        std::mem::swap(&mut before, &mut above);
        std::mem::swap(&mut above, &mut row);
    }
    at(&above, b.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AttributeType, KeyDerivation, KeyType, MechanismType, ObjectClass, Profile, ReturnCode,
    };

    #[test]
    fn distance_counts_insertions_deletions_changes_and_swaps() {
        let between = |a: &str, b: &str| distance(a.as_bytes(), b.as_bytes());
        for (a, b, expected) in [
            ("", "", 0),
            ("", "ABC", 3),
            ("ABC", "", 3),
            ("PIN", "PIN", 0),
            ("PIN", "PINS", 1),
            ("PIN", "PON", 1),
            ("PIN", "PNI", 1),
            ("CA", "ABC", 3),
            ("KITTEN", "SITTING", 3),
        ] {
            assert_eq!(between(a, b), expected, "{a} {b}");
            assert_eq!(between(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn names_that_fold_alike_have_one_number() {
        fn check<T: Named>() {
            let mut seen = std::collections::BTreeMap::new();
            for &(name, number) in T::names() {
                let earlier = seen.insert(folded::<T>(name), number);
                assert!(earlier.is_none_or(|earlier| earlier == number), "{name}");
            }
        }
        check::<ReturnCode>();
        check::<MechanismType>();
        check::<AttributeType>();
        check::<ObjectClass>();
        check::<KeyType>();
        check::<KeyDerivation>();
        check::<Profile>();
    }

    #[test]
    fn usual_names_lead_to_names_of_the_header_and_hide_none() {
        for (usual, name) in usual_names("CKM") {
            assert!(
                MechanismType::names()
                    .iter()
                    .any(|(known, _)| known == name),
                "{name}"
            );
            assert!(
                !MechanismType::names()
                    .iter()
                    .any(|(known, _)| fits(known, usual)),
                "{usual}"
            );
        }
        for (usual, name) in usual_names("CKK") {
            assert!(
                KeyType::names().iter().any(|(known, _)| known == name),
                "{name}"
            );
            assert!(
                !KeyType::names().iter().any(|(known, _)| fits(known, usual)),
                "{usual}"
            );
        }
    }
}
