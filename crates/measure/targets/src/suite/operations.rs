//! From what a suite calls an operation to the operation.
//!
//! A name may be written in full (`signature.ecdsa-p256.sign`) or by its last parts (`sign`, with
//! `key = "ecdsa-p256"` or without), if just one operation of the target's kind ends in them; a primitive comes
//! before what is made of primitives. Sizes are
//! the last part of most local names (`aead.aes-256-gcm.seal.1k`): without that part, such an operation
//! comes in any size, whichever of them the table lists. So do signatures, whose names say none, and
//! requests to the service. A name that ends in a size has that size.

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

/// The operation that a command line names: as in a suite, with the kind of target that the name belongs
/// to. What it is called in a result stands beside it: its name, with the size where one was asked for.
///
/// # Errors
/// No operation has this name, several may be meant, or it does not come in this size.
pub fn choose(
    table: &[&Operation],
    name: &str,
    key: Option<&str>,
    size: Option<u64>,
) -> Result<(Operation, String), Problem> {
    // Kinds in the order of the table: a short name means this process before a server.
    let mut kinds: Vec<&'static str> = Vec::new();
    for operation in table {
        if !kinds.contains(&operation.target) {
            kinds.push(operation.target);
        }
    }
    for kind in kinds {
        let wanted = Wanted {
            name,
            key,
            kind,
            size,
        };
        match find(table, wanted) {
            Ok(operation) => return Ok((operation, called(table, &operation, size))),
            // It is no operation of this kind; of another it may be one.
            Err(Problem::UnknownOperation { .. } | Problem::WrongKind { .. }) => {}
            Err(problem) => return Err(problem),
        }
    }
    let near = nearest(name, table.iter().map(|operation| operation.name), SHOWN);
    Err(Problem::UnknownOperation {
        name: cut(name),
        nearest: near.into_iter().map(str::to_owned).collect(),
    })
}

/// What an operation is called in the size that was asked for: by a name of the table only if it has the
/// size that the table says.
fn called(table: &[&Operation], operation: &Operation, size: Option<u64>) -> String {
    let row = table.iter().find(|row| row.name == operation.name);
    let other = row.filter(|row| row.bytes != operation.bytes);
    match (other, size) {
        (Some(row), Some(size)) => {
            format!("{}.{}", stem(row).unwrap_or(row.name), spelled(size))
        }
        _ => operation.name.to_owned(),
    }
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
        let mut found: Vec<&&Operation> = table
            .iter()
            .filter(|operation| ends_in(operation.name, &ending))
            .collect();
        if found.iter().any(|operation| !is_composed(operation)) {
            found.retain(|operation| !is_composed(operation));
        }
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

/// Families of operations that are made of others. A short name such as `sign` means the primitive where
/// there is one: to sign, and not to derive a key of a tree and sign with it.
const COMPOSED: [&str; 7] = ["fpe", "hd", "hpke", "peer", "ratchet", "token", "wire"];

fn is_composed(operation: &Operation) -> bool {
    let family = operation.name.split('.').next();
    family.is_some_and(|family| COMPOSED.contains(&family))
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
        None => family(table, wanted, size),
    }
}

/// The largest payload that a local operation is given: its inputs and outputs are kept in memory, several
/// of each.
const LARGEST: u64 = 64 << 20;

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
    // The message of a signature is as long as one likes; no other name without a size means that.
    if operation.name.starts_with("signature.") && size <= LARGEST {
        operation.bytes = size;
    }
    if operation.bytes == size {
        Ok(operation)
    } else {
        Err(fixed)
    }
}

/// An operation that the table has in other sizes, in this one.
fn family(table: &[&Operation], wanted: Wanted<'_>, size: u64) -> Result<Operation, Problem> {
    let keyed = wanted.key.map(|key| format!("{key}.{}", wanted.name));
    let endings = [keyed.as_deref(), Some(wanted.name)];
    let members = endings
        .into_iter()
        .flatten()
        .map(|ending| members(table, ending))
        .find(|members| !members.is_empty())
        .unwrap_or_default();
    let Some((first, operation)) = members.first() else {
        return Err(unknown(table, wanted));
    };
    if members.iter().any(|(stem, _)| stem != first) {
        let mut stems: Vec<String> = members.iter().map(|(stem, _)| (*stem).to_owned()).collect();
        stems.sort();
        stems.dedup();
        stems.truncate(SHOWN);
        return Err(Problem::Ambiguous {
            name: cut(wanted.name),
            candidates: stems,
        });
    }
    if size > LARGEST {
        let mut sizes: Vec<u64> = members.iter().map(|(_, member)| member.bytes).collect();
        sizes.sort_unstable();
        return Err(Problem::NoSize {
            operation: cut(wanted.name),
            size,
            sizes,
        });
    }
    Ok(Operation {
        bytes: size,
        ..**operation
    })
}

/// Operations whose names without their sizes are this, or if there are none, end in it.
fn members<'a>(table: &[&'a Operation], ending: &str) -> Vec<(&'static str, &'a Operation)> {
    let sized = table
        .iter()
        .filter_map(|operation| Some((stem(operation)?, *operation)));
    let (exact, others): (Vec<_>, Vec<_>) = sized
        .filter(|(stem, _)| ends_in(stem, ending))
        .partition(|(stem, _)| *stem == ending);
    if exact.is_empty() { others } else { exact }
}

/// The name of a local operation without its size, if the size of its payload is what its name ends in.
fn stem(operation: &Operation) -> Option<&'static str> {
    let (Make::Worker(_) | Make::Token(_)) = operation.make else {
        return None;
    };
    let stem = operation.name.strip_suffix(&spelled(operation.bytes))?;
    stem.strip_suffix('.').filter(|_| operation.units == 1)
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
            ("local", "hash.sha256", Some(10 << 10), "hash.sha256.10k"),
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
        let near = of("local", "ed25519", None);
        assert!(
            near.starts_with("there is no operation \"ed25519\"; near it are "),
            "{near}"
        );
        assert!(
            near.contains("signature.ed25519.sign, signature.ed25519.verify"),
            "{near}"
        );
        assert_eq!(
            of("local", "hash.sha256", Some(1 << 40)),
            "hash.sha256 has no size of 1099511627776 bytes; it has 400, 1024, 10240, 65536, 102400, 1048576"
        );
        assert_eq!(
            of("local", "hash.sha256.1k", Some(1025)),
            "hash.sha256.1k has no size of 1025 bytes; it has 1024"
        );
        assert_eq!(
            of("local", "agreement.x25519", Some(32)),
            "agreement.x25519 has no size of 32 bytes; it has 0"
        );
        assert_eq!(
            of("local", "encryption.rsa3072-oaep.encrypt", Some(33)),
            "encryption.rsa3072-oaep.encrypt has no size of 33 bytes; it has 32"
        );
        // One operation of it is a mebibyte of pieces: it is no size of its family.
        assert_eq!(
            of("local", "aead.aes-256-gcm.seal.16k", Some(1024)),
            "aead.aes-256-gcm.seal.16k has no size of 1024 bytes; it has 1048576"
        );
        assert!(of("local", "open", Some(3000)).starts_with("\"open\" may be any of aead."));
        assert!(of("local", "hash.sha265", Some(3000)).contains("near it are hash.sha256"));
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
    fn a_size_that_the_table_does_not_list_is_made_of_one_that_it_does() {
        for (name, size) in [
            ("hash.sha256", 10),
            ("sha256", 3000),
            ("mac.hmac-sha256.verify", 48),
            ("signature.ecdsa-p256.sign", 5000),
            ("envelope.open", 1),
            ("random", 4096),
        ] {
            let operation = look("local", name, Some(size)).unwrap();
            assert_eq!(operation.bytes, size, "{name}");
            assert!(operation.name.contains(name), "{name} {}", operation.name);
        }
    }

    #[test]
    fn a_command_line_names_operations_of_every_kind_and_what_they_are_called() {
        let chosen = |name, key, size| {
            choose(&table(), name, key, size).map(|(operation, called)| {
                assert!(size.is_none_or(|size| operation.bytes == size));
                called
            })
        };
        for (name, key, size, called) in [
            ("hash.sha256.1k", None, None, "hash.sha256.1k"),
            ("hash.sha256", None, Some(1 << 10), "hash.sha256.1k"),
            ("hash.sha256", None, Some(3 << 10), "hash.sha256.3k"),
            ("hash.sha256", None, Some(1000), "hash.sha256.1000"),
            (
                "sign",
                Some("ecdsa-p256"),
                None,
                "signature.ecdsa-p256.sign",
            ),
            (
                "sign",
                Some("ecdsa-p256"),
                Some(1 << 20),
                "signature.ecdsa-p256.sign.1m",
            ),
            ("service.encrypt", None, Some(512), "service.encrypt.512"),
            ("service.encrypt", None, Some(4096), "service.encrypt.4k"),
            ("roundtrip", None, None, "service.roundtrip"),
        ] {
            assert_eq!(chosen(name, key, size).unwrap(), called);
        }
        let refused = |name, key, size| chosen(name, key, size).unwrap_err().to_string();
        // A short name that fits several rows of this process is not taken for a request to the service.
        assert!(refused("encrypt", None, None).starts_with("\"encrypt\" may be any of "));
        assert!(refused("hash.sha265", None, Some(99)).contains("near it are hash.sha256"));
        assert_eq!(
            refused("random.32", None, Some(33)),
            "random.32 has no size of 33 bytes; it has 32"
        );
        assert_eq!(
            refused("zzzz", None, None),
            "there is no operation \"zzzz\""
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
