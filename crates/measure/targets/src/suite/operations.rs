//! From what a suite calls an operation to the operation.
//!
//! A name may be written in full (`signature.ecdsa-p256.sign`) or by its last parts (`sign`, with
//! `key = "ecdsa-p256"` or without), if just one operation of the target's kind ends in them. Sizes are
//! the last part of most local names (`aead.aes-256-gcm.seal.1k`): such an operation has the sizes that
//! the table has. Requests to the service take any size.

use super::error::{Problem, cut};
use super::nearest::nearest;
use crate::operation::{Make, Operation};

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    pub(super) name: &'a str,
    pub(super) key: Option<&'a str>,
    pub(super) kind: &'static str,
    pub(super) size: Option<u64>,
}

/// How many names are shown when one is not known.
const SHOWN: usize = 5;

/// The operation that is wanted, in the size that is wanted.
pub(super) fn find(table: &[&Operation], wanted: Wanted<'_>) -> Result<Operation, Problem> {
    let other_kind = table
        .iter()
        .find(|operation| operation.name == wanted.name && operation.target != wanted.kind);
    if let Some(operation) = other_kind {
        return Err(Problem::WrongKind {
            operation: operation.name.to_owned(),
            belongs: operation.target,
            kind: wanted.kind,
        });
    }
    let of_kind: Vec<&Operation> = table
        .iter()
        .copied()
        .filter(|operation| operation.target == wanted.kind)
        .collect();
    if of_kind.is_empty() {
        return Err(Problem::NoKind { kind: wanted.kind });
    }
    match wanted.size {
        None => {
            by_name(&of_kind, wanted.name, wanted.key)?.ok_or_else(|| unknown(&of_kind, wanted))
        }
        Some(size) => in_size(&of_kind, wanted, size),
    }
}

/// The one operation of this name, or of a name that ends in it.
fn by_name(
    table: &[&Operation],
    name: &str,
    key: Option<&str>,
) -> Result<Option<Operation>, Problem> {
    if let Some(exact) = table.iter().find(|operation| operation.name == name) {
        return Ok(Some(**exact));
    }
    let endings = [
        key.map(|key| format!("{key}.{name}")),
        Some(name.to_owned()),
    ];
    for ending in endings.into_iter().flatten() {
        let found: Vec<&&Operation> = table
            .iter()
            .filter(|operation| ends_in(operation.name, &ending))
            .collect();
        match found.as_slice() {
            [] => {}
            [one] => return Ok(Some(***one)),
            [..] => {
                let names = found.iter().map(|operation| operation.name.to_owned());
                return Err(Problem::Ambiguous {
                    name: cut(name),
                    candidates: names.take(SHOWN).collect(),
                });
            }
        }
    }
    Ok(None)
}

/// Whether the last parts of a dotted name are these.
fn ends_in(name: &str, ending: &str) -> bool {
    let before = name.strip_suffix(ending);
    before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

fn in_size(table: &[&Operation], wanted: Wanted<'_>, size: u64) -> Result<Operation, Problem> {
    let sized = format!("{}.{}", wanted.name, spelled(size));
    if let Some(operation) = by_name(table, &sized, wanted.key)? {
        return Ok(operation);
    }
    match by_name(table, wanted.name, wanted.key)? {
        Some(operation) => of_size(operation, size),
        None => Err(no_such_size(table, wanted, size)),
    }
}

fn of_size(mut operation: Operation, size: u64) -> Result<Operation, Problem> {
    let fixed = Problem::NoSize {
        operation: operation.name.to_owned(),
        size,
        sizes: vec![operation.bytes],
    };
    if let Make::Service(shape) = &mut operation.make {
        shape.bytes = u32::try_from(size).map_err(|_| fixed)?;
        operation.bytes = size.saturating_mul(u64::from(shape.items));
        return Ok(operation);
    }
    if operation.bytes == size {
        Ok(operation)
    } else {
        Err(fixed)
    }
}

fn no_such_size(table: &[&Operation], wanted: Wanted<'_>, size: u64) -> Problem {
    let mut sizes: Vec<u64> = table
        .iter()
        .filter(|operation| {
            let stem = operation.name.strip_suffix(&spelled(operation.bytes));
            let stem = stem.and_then(|stem| stem.strip_suffix('.'));
            stem.is_some_and(|stem| ends_in(stem, wanted.name))
        })
        .map(|operation| operation.bytes)
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.is_empty() {
        return unknown(table, wanted);
    }
    Problem::NoSize {
        operation: cut(wanted.name),
        size,
        sizes,
    }
}

fn unknown(table: &[&Operation], wanted: Wanted<'_>) -> Problem {
    let names = table.iter().map(|operation| operation.name);
    let near = nearest(wanted.name, names, SHOWN);
    Problem::UnknownOperation {
        name: cut(wanted.name),
        nearest: near.into_iter().map(str::to_owned).collect(),
    }
}

/// A size as names of operations spell it: `32`, `1k`, `1m`.
fn spelled(bytes: u64) -> String {
    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    match bytes {
        bytes if bytes >= MIB && bytes.is_multiple_of(MIB) => format!("{}m", bytes / MIB),
        bytes if bytes >= KIB && bytes.is_multiple_of(KIB) => format!("{}k", bytes / KIB),
        bytes => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::OPERATIONS as SERVICE;

    fn table() -> Vec<&'static Operation> {
        crate::local::OPERATIONS.iter().chain(SERVICE).collect()
    }

    fn look(kind: &'static str, name: &str, size: Option<u64>) -> Result<Operation, Problem> {
        let wanted = Wanted {
            name,
            key: None,
            kind,
            size,
        };
        find(&table(), wanted)
    }

    #[test]
    fn names_are_found_in_full_by_their_end_and_with_a_size() {
        for (kind, name, size, expected) in [
            ("local", "hash.sha256.1k", None, "hash.sha256.1k"),
            ("local", "sha256.1k", None, "hash.sha256.1k"),
            ("local", "hash.sha256", Some(1024), "hash.sha256.1k"),
            ("local", "sha256", Some(1 << 20), "hash.sha256.1m"),
            (
                "local",
                "signature.ed25519.sign",
                Some(32),
                "signature.ed25519.sign",
            ),
            ("service", "encrypt", None, "service.encrypt"),
            ("service", "encrypt", Some(512), "service.encrypt.512"),
            ("service", "encrypt", Some(384), "service.encrypt"),
        ] {
            assert_eq!(look(kind, name, size).unwrap().name, expected);
        }
    }

    #[test]
    fn a_request_takes_the_size_that_is_asked_for() {
        let operation = look("service", "service.encrypt.batch", Some(100)).unwrap();
        assert_eq!(operation.bytes, 100_000);
        let Make::Service(shape) = operation.make else {
            panic!("no request");
        };
        assert_eq!(shape.bytes, 100);
    }

    #[test]
    fn what_cannot_be_told_is_refused_with_what_there_is() {
        let of = |kind, name, size| look(kind, name, size).unwrap_err().to_string();
        assert_eq!(
            of("local", "ed25519", None),
            "there is no operation \"ed25519\"; near it are signature.ed25519.sign, signature.ed25519.verify"
        );
        assert_eq!(
            of("local", "hash.sha256", Some(10)),
            "hash.sha256 has no size of 10 bytes; it has 1024, 65536, 1048576"
        );
        assert_eq!(
            of("local", "random.32", Some(33)),
            "random.32 has no size of 33 bytes; it has 32"
        );
        assert!(of("local", "sign", None).starts_with("\"sign\" may be any of signature."));
        assert_eq!(
            of("pkcs11", "sign", None),
            "this build has no pkcs11 target"
        );
        assert_eq!(
            of("local", "service.encrypt", None),
            "service.encrypt is an operation of service targets, not of local targets"
        );
        assert_eq!(
            of("service", "service.encrypt", Some(1 << 40)),
            "service.encrypt has no size of 1099511627776 bytes; it has 12"
        );
    }

    #[test]
    fn a_key_chooses_among_operations_of_one_name() {
        let wanted = Wanted {
            name: "sign",
            key: Some("ecdsa-p256"),
            kind: "local",
            size: None,
        };
        assert_eq!(
            find(&table(), wanted).unwrap().name,
            "signature.ecdsa-p256.sign"
        );
    }
}
