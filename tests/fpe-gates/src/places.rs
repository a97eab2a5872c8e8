//! Which functions may not divide or look anything up, and which divisions of the others are of public numbers.

use crate::disassembly::{Finding, Function};

/// Modules and functions of the engine that work on secrets alone. Each must be there, and nothing may be
/// found in it.
pub const KERNELS: &[&str] = &[
    "keywright_fpe::cipher::aes_ni::",
    "keywright_fpe::cipher::sm4_x86::",
    "keywright_fpe::cipher::Keys::encrypt_portable",
    "<keywright_fpe::cipher::Schedule as keywright_fpe::cipher::Cipher>::encrypt",
    "keywright_fpe::kernel::blocks::",
    "keywright_fpe::kernel::eightway::",
    "keywright_fpe::kernel::vaes256::",
    "keywright_fpe::kernel::vaes512::",
    "keywright_fpe::kernel::sm4_256::",
    "keywright_fpe::kernel::sm4_512::",
    "keywright_fpe::kernel::single::sized",
    "keywright_fpe::arithmetic::limbs::multiply::karatsuba",
    "keywright_fpe::arithmetic::limbs::positional::Power::divide",
    "keywright_fpe::arithmetic::limbs::residue::Residue::reduce",
    "keywright_fpe::ff1::long::combine",
];

/// A division that no secret reaches: the file in which it stands, the function of the engine that it belongs
/// to, and what it divides. An empty function means any.
const PUBLIC: &[(&str, &str, &str)] = &[
    (
        "core/src/slice/iter.rs",
        "",
        "the length of a slice by that of a chunk",
    ),
    (
        "core/src/num/uint_macros.rs",
        "",
        "a number of records, limbs or threads",
    ),
    (
        "fpe/src/batch/",
        "",
        "digits of a batch by those of a record",
    ),
    (
        "fpe/src/kernel/tiles.rs",
        "",
        "digits of a batch by those of a record",
    ),
    (
        "fpe/src/kernel/short.rs",
        "",
        "digits of a batch by those of a record",
    ),
    (
        "fpe/src/kernel/octets.rs",
        "",
        "digits of a tile by those of a record",
    ),
    (
        "fpe/src/kernel/digits.rs",
        "new",
        "powers of the radix, for reciprocals",
    ),
    (
        "fpe/src/arithmetic.rs",
        "new",
        "powers of the radix, for reciprocals",
    ),
    (
        "fpe/src/arithmetic.rs",
        "plan",
        "powers of the radix, for reciprocals",
    ),
    (
        "fpe/src/cipher/aes_soft.rs",
        "expand",
        "the number of a key word by the words of the key",
    ),
    (
        "fpe/src/cipher/aes_soft.rs",
        "new",
        "the number of a key word by the words of the key",
    ),
];

/// Whether the function is one of [`KERNELS`].
#[must_use]
pub fn is_kernel(name: &str) -> bool {
    KERNELS.iter().any(|kernel| name.starts_with(kernel))
}

/// Whether the function belongs to the engine.
#[must_use]
pub fn is_engine(name: &str) -> bool {
    name.contains("keywright_fpe::")
}

/// Those of [`KERNELS`] that the program does not have.
#[must_use]
pub fn missing(functions: &[Function]) -> Vec<&'static str> {
    let is_there = |kernel: &&&str| functions.iter().any(|one| one.name.starts_with(**kernel));
    KERNELS
        .iter()
        .filter(|kernel| !is_there(kernel))
        .copied()
        .collect()
}

/// Whether a finding in a function of the engine is excused. `place` is the innermost place that addr2line
/// names: the function, and the file with its line.
#[must_use]
pub fn is_public(finding: Finding, name: &str, place: (&str, &str)) -> bool {
    if is_kernel(name) {
        return false;
    }
    let (function, file) = place;
    let file = file.split(':').next().unwrap_or_default();
    let inner = function.split('<').next().unwrap_or_default();
    match finding {
        // A choice between ways of working, which the memcheck gate shows to be public.
        Finding::JumpTable => true,
        Finding::Division => PUBLIC.iter().any(|(known, of, _)| {
            file.contains(known) && (of.is_empty() || inner.rsplit("::").next() == Some(of))
        }),
        // The words of a name of an enumeration.
        Finding::Table => name.ends_with("::fmt"),
        Finding::Gather => false,
    }
}
