//! How often and how lately a key version was used (design 7.19).
//!
//! Counters show use; they never claim how much ciphertext exists outside. They are counted in memory and put
//! into the store every few seconds, so a crash may lose the last ones: no decision rests on the last seconds.
//!
//! In the table `counters`, under `use/` + key 16 + version u32, as JSON.

use std::collections::HashMap;

use keywright_store::{Store, Table, Transaction};
use keywright_types::{KeyId, KeyVersion, TenantId};
use serde::{Deserialize, Serialize};

use crate::rows::Error;

/// The uses of one version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a new counter must be faced wherever they are added"
)]
pub struct Tally {
    /// What was sealed, signed, tokenised or authenticated.
    pub seals: u64,
    /// What was opened, verified, made of tokens, or agreed.
    pub opens: u64,
    /// What was moved from this version to a newer one.
    pub rewrapped: u64,
    /// What was refused because of the version's state.
    pub refused: u64,
    /// The last use of any kind that worked, milliseconds since 1970; 0 for none.
    pub last_use_ms: u64,
    /// The last opening, in the same form.
    pub last_open_ms: u64,
    /// The last refusal, in the same form.
    pub last_refused_ms: u64,
}

/// A version, as counters know it.
pub type Counted = (KeyId, KeyVersion);

impl Tally {
    /// Adds what was counted elsewhere.
    pub fn add(&mut self, other: &Self) {
        self.seals = self.seals.saturating_add(other.seals);
        self.opens = self.opens.saturating_add(other.opens);
        self.rewrapped = self.rewrapped.saturating_add(other.rewrapped);
        self.refused = self.refused.saturating_add(other.refused);
        self.last_use_ms = self.last_use_ms.max(other.last_use_ms);
        self.last_open_ms = self.last_open_ms.max(other.last_open_ms);
        self.last_refused_ms = self.last_refused_ms.max(other.last_refused_ms);
    }
}

/// The counters that the store has.
///
/// # Errors
/// [`Error::Store`]; [`Error::Unreadable`] for a row that does not parse.
pub fn load(store: &Store) -> Result<HashMap<Counted, Tally>, Error> {
    let rows = store.range(Table::Counters, PREFIX)?;
    let unreadable = || Error::Unreadable(Table::Counters);
    rows.iter()
        .map(|row| {
            let named = row.key.get(PREFIX.len()..).and_then(counted);
            let tally = serde_json::from_slice(&row.body).map_err(|_| unreadable())?;
            Ok((named.ok_or_else(unreadable)?, tally))
        })
        .collect()
}

/// Puts these counters into the store. Only one thread may do so at a time. The epoch stays: no right depends on
/// a counter.
///
/// # Errors
/// [`Error::Store`]; nothing is written then.
pub fn save(store: &Store, tallies: &[(Counted, Tally)]) -> Result<(), Error> {
    let mut transaction = Transaction::new().keep_epoch();
    for ((key, version), tally) in tallies {
        let row_key = row_key(*key, *version);
        let body = serde_json::to_vec(tally).map_err(|_| Error::Unreadable(Table::Counters))?;
        transaction = match store.get(Table::Counters, &row_key)? {
            Some(row) => transaction.update(Table::Counters, row_key, row.revision, body),
            None => transaction.insert(Table::Counters, row_key, TenantId::NONE, body),
        };
    }
    store.transact(transaction)?;
    Ok(())
}

fn row_key(key: KeyId, version: KeyVersion) -> Vec<u8> {
    [PREFIX, key.as_bytes(), &version.number().to_be_bytes()].concat()
}

fn counted(bytes: &[u8]) -> Option<Counted> {
    let (key, version) = bytes.split_first_chunk::<16>()?;
    let version = <[u8; 4]>::try_from(version).ok()?;
    let version = KeyVersion::from_number(u32::from_be_bytes(version));
    Some((KeyId::from_bytes(*key), version))
}

const PREFIX: &[u8] = b"use/";
