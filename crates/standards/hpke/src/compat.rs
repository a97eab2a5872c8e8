//! The binder of hardlock-snc, version 2, for talking to what is still out there.
//!
//! **It binds next to nothing.** It is an export over one byte that names a suite: the byte is held against
//! no list, neither side's offer is in it, nor who is who; and the program uses it in mode base, where any
//! active attacker makes a context, and its binder, of his own. It shows that the two ends of one context
//! name the same byte, no more. Everything new uses [`crate::binder`].

use keywright_secret::{Secret, ct_eq};

use crate::{Error, Exporter};

/// What that program gives HPKE as its info.
pub const INFO: &[u8] = b"hardlock/v1.1";

const EXPORT_LABEL: &[u8] = b"hardlock/export";
const BINDER_LABEL: &[u8; 21] = b"hardlock/suite-binder";

/// The byte by which that program names a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a name for a byte")]
pub struct SuiteByte(pub u8);

/// The secret of its session.
///
/// # Errors
/// As [`Exporter::export`].
pub fn session_secret(exporter: &Exporter) -> Result<Secret<32>, Error> {
    exporter.export(EXPORT_LABEL)
}

/// Its binder, which it sends in clear.
///
/// # Errors
/// As [`Exporter::export`].
pub fn suite_binder_v2(exporter: &Exporter, suite: SuiteByte) -> Result<[u8; 32], Error> {
    let mut context = [0; BINDER_LABEL.len() + 1];
    context[..BINDER_LABEL.len()].copy_from_slice(BINDER_LABEL);
    context[BINDER_LABEL.len()] = suite.0;
    let mut binder = [0; 32];
    exporter.export_into(&context, &mut binder)?;
    Ok(binder)
}

/// Holds a binder that was received against the one that it should be, in constant time.
///
/// # Errors
/// [`Error::Rejected`] if it is another.
pub fn check_suite_binder_v2(
    exporter: &Exporter,
    suite: SuiteByte,
    received: &[u8; 32],
) -> Result<(), Error> {
    if ct_eq(&suite_binder_v2(exporter, suite)?, received) {
        Ok(())
    } else {
        Err(Error::Rejected)
    }
}
