//! Issuing with an id that is given, for vectors. Two tokens with one id cannot be revoked apart.

use crate::{Binder, Claims, Error, IssuingKey, RevocationId};

/// As [`IssuingKey::issue_into`], with this id.
///
/// # Errors
/// As there.
pub fn issue_with_id(
    key: &IssuingKey,
    claims: &Claims<'_>,
    binder: Option<&Binder>,
    id: RevocationId,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    key.issue_with_id(claims, binder, id, out)
}
