//! Approvals: the word of a principal for exactly one order (design 7.23).
//!
//! In the table `approvals`, under the digest of the order 32 + principal 16, as JSON. The digest covers the MACs of
//! all rows that the order would change, so an approval is void as soon as one of them changes.

use std::time::Duration;

use keywright_clock::WallTime;
use keywright_primitives::hash::sha256;
use keywright_store::{Row, Store, Table, Transaction};
use keywright_types::{ApprovalId, KeyId, Operation, PrincipalId, TenantId};
use serde::{Deserialize, Serialize};

use super::life::Target;
use super::{Error, ROW_FORMAT, json, version_key};

/// How long an approval lives.
pub const LIFETIME: Duration = Duration::from_secs(24 * 3600);
/// How many principals must have approved.
pub const NEEDED: usize = 2;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ApprovalRow {
    v: u8,
    id: ApprovalId,
    until_ms: u64,
}

/// An order that can be approved.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "what an approval covers; a new part must be faced by whoever makes one"
)]
pub struct Ordered<'a> {
    /// What is ordered.
    pub operation: Operation,
    /// Of which key.
    pub key: KeyId,
    /// Of which versions.
    pub target: Target,
    /// The rest of the order, in a form that means nothing else.
    pub parameters: &'a [u8],
}

/// SHA-256 over all that an approval covers:
///
/// ```text
/// "keywright/approval/v1" | operation u16 | key 16 | version u32, 0 for all | lp(parameters) | each row's MAC 32
/// ```
///
/// # Errors
/// [`Error::Store`]; [`Error::NoVersion`] if there is no such version.
pub fn digest(store: &Store, ordered: &Ordered<'_>) -> Result<[u8; 32], Error> {
    let (number, rows) = match ordered.target {
        Target::All => (0, store.range(Table::KeyVersions, ordered.key.as_bytes())?),
        Target::One(version) => {
            let row = store.get(Table::KeyVersions, &version_key(ordered.key, version))?;
            (version.number(), row.into_iter().collect())
        }
    };
    if rows.is_empty() {
        return Err(Error::NoVersion);
    }
    let mut text = b"keywright/approval/v1".to_vec();
    text.extend_from_slice(&ordered.operation.number().to_be_bytes());
    text.extend_from_slice(ordered.key.as_bytes());
    text.extend_from_slice(&number.to_be_bytes());
    // Parameters are a few numbers.
    let _ = keywright_encoding::put_lp(&mut text, ordered.parameters);
    for row in rows {
        text.extend_from_slice(&row.mac);
    }
    Ok(sha256(&text))
}

/// The transaction by which `who` approves the order of this digest. Approvals of it that are over are removed.
///
/// # Errors
/// [`Error::Store`], [`Error::Unreadable`].
pub fn approve(
    store: &Store,
    digest: &[u8; 32],
    (who, tenant): (PrincipalId, TenantId),
    (id, now): (ApprovalId, WallTime),
) -> Result<Transaction, Error> {
    let body = json(&ApprovalRow {
        v: ROW_FORMAT,
        id,
        until_ms: now.plus(LIFETIME).unix_millis(),
    });
    let own = row_key(digest, who);
    let mut transaction = Transaction::new();
    let mut mine = None;
    for row in store.range(Table::Approvals, digest)? {
        if row.key == own {
            mine = Some(row.revision);
        } else if is_over(&row, now)? {
            transaction = transaction.delete(Table::Approvals, row.key, row.revision);
        }
    }
    Ok(match mine {
        Some(revision) => transaction.update(Table::Approvals, own, revision, body),
        None => transaction.insert(Table::Approvals, own, tenant, body),
    })
}

/// Takes the approvals of an order along with it, so that they serve once.
///
/// # Errors
/// [`Error::Store`], [`Error::Unreadable`]. `None` if principals other than `author` have not approved often enough.
pub fn spend(
    store: &Store,
    digest: &[u8; 32],
    (author, now): (PrincipalId, WallTime),
    mut transaction: Transaction,
) -> Result<Option<Transaction>, Error> {
    let mut found = 0;
    let others = store.range(Table::Approvals, digest)?;
    for row in others {
        let foreign = row.key.get(32..) != Some(author.as_bytes());
        if foreign && !is_over(&row, now)? {
            found += 1;
        }
        transaction = transaction.delete(Table::Approvals, row.key, row.revision);
    }
    Ok((found >= NEEDED).then_some(transaction))
}

fn is_over(row: &Row, now: WallTime) -> Result<bool, Error> {
    let body: ApprovalRow =
        serde_json::from_slice(&row.body).map_err(|_| Error::Unreadable(Table::Approvals))?;
    Ok(body.until_ms <= now.unix_millis())
}

fn row_key(digest: &[u8; 32], who: PrincipalId) -> Vec<u8> {
    [&digest[..], who.as_bytes()].concat()
}
