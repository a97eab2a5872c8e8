//! Whether the clock can be trusted with a destruction (design 7.17).
//!
//! A clock that jumps could bring the day of a destruction about by itself. So the time of day is held against a
//! clock that only runs, and against the last time of day that the store has seen: a difference of more than an
//! hour halts every destruction until an operator says that the clock is right. A node that was down for longer
//! than that begins so, because it cannot tell a long night from a jump.
//!
//! In the table `counters`, under `clock`, as JSON; the epoch stays.

use std::sync::PoisonError;
use std::time::Duration;

use keywright_clock::{MonotonicTime, WallTime};
use keywright_custody::rows;
use keywright_store::{Row, Table, Transaction};
use keywright_types::{Operation, TenantId};
use serde::{Deserialize, Serialize};

use crate::life::Author;
use crate::order::{Intent, Prepared};
use crate::{Admin, AdminError};

/// Whether days that have come may be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing between")]
pub enum ClockState {
    /// The clock went as clocks go.
    Sure,
    /// It jumped, or nobody was there to see that it did not.
    Uncertain,
}

/// Since when the clock has been watched, and what is believed of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watched {
    since: (WallTime, MonotonicTime),
    stored: WallTime,
    state: ClockState,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClockRow {
    wall_ms: u64,
    sure: bool,
}

impl Admin {
    /// Looks at the clock, and tells the store what it sees about once a minute. Whoever keeps a node calls this
    /// every few seconds.
    ///
    /// # Errors
    /// [`AdminError::Store`], [`AdminError::Rows`].
    pub fn watch_clock(&self) -> Result<ClockState, AdminError> {
        let clock = self.shared.clock();
        let now = (clock.wall(), clock.monotonic());
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let mut seen = match *watched {
            Some(seen) => seen,
            None => self.first_look(now)?,
        };
        let begun = watched.is_none();
        let ran = now.1.since(seen.since.1);
        let before = seen.state;
        if distance(seen.since.0.plus(ran), now.0) > MOST {
            seen.state = ClockState::Uncertain;
        }
        if begun || before != seen.state || distance(seen.stored, now.0) >= EVERY {
            self.store_clock(now.0, seen.state)?;
            seen.stored = now.0;
        }
        *watched = Some(seen);
        Ok(seen.state)
    }

    /// Whether the store takes a write: the row of the clock, whether or not it is time for it. For whoever saw a
    /// write refused and wants to know when that is over.
    #[must_use]
    pub fn store_takes_a_write(&self) -> bool {
        let now = self.shared.clock().wall();
        let state = match self.watch_clock() {
            Ok(state) => state,
            Err(_) => return false,
        };
        match self.store_clock(now, state) {
            Ok(()) => true,
            // Somebody else has just written it.
            Err(AdminError::Store(error)) => !error.is_failure(),
            Err(_) => false,
        }
    }

    /// Says that the clock is right: days that have come are believed again.
    ///
    /// # Errors
    /// [`AdminError`]; nothing is changed unless it is [`AdminError::Audit`] after the work.
    pub fn confirm_clock(&self, author: &Author) -> Result<u64, AdminError> {
        let facts = self.facts_of(author, Operation::ClockConfirm)?;
        let intent = Intent {
            facts,
            fields: &[],
            trust: None,
        };
        let clock = self.shared.clock();
        let now = (clock.wall(), clock.monotonic());
        let confirmed = self.carry_out(intent, |next| {
            let transaction = self.clock_row(Transaction::new(), now.0, ClockState::Sure)?;
            Ok(Prepared {
                answer: (),
                transaction,
                next,
            })
        });
        let ((), epoch) = confirmed?;
        *self.watched.lock().unwrap_or_else(PoisonError::into_inner) = Some(Watched {
            since: now,
            stored: now.0,
            state: ClockState::Sure,
        });
        Ok(epoch)
    }

    /// Refuses where a day that has come cannot be believed.
    pub(crate) fn check_clock(&self) -> Result<(), AdminError> {
        match self.watch_clock()? {
            ClockState::Sure => Ok(()),
            ClockState::Uncertain => Err(AdminError::ClockUncertain),
        }
    }

    fn first_look(&self, now: (WallTime, MonotonicTime)) -> Result<Watched, AdminError> {
        let known = self.stored_clock()?.map(|(_, known)| known);
        let state = match known {
            Some(known)
                if !known.sure
                    || distance(WallTime::from_unix_millis(known.wall_ms), now.0) > MOST =>
            {
                ClockState::Uncertain
            }
            _ => ClockState::Sure,
        };
        Ok(Watched {
            since: now,
            stored: now.0,
            state,
        })
    }

    fn store_clock(&self, wall: WallTime, state: ClockState) -> Result<(), AdminError> {
        let transaction = self.clock_row(Transaction::new().keep_epoch(), wall, state)?;
        self.store.transact(transaction)?;
        Ok(())
    }

    fn clock_row(
        &self,
        transaction: Transaction,
        wall: WallTime,
        state: ClockState,
    ) -> Result<Transaction, AdminError> {
        let row = ClockRow {
            wall_ms: wall.unix_millis(),
            sure: state == ClockState::Sure,
        };
        let unreadable = |_| rows::Error::Unreadable(Table::Counters);
        let body = serde_json::to_vec(&row).map_err(unreadable)?;
        Ok(match self.stored_clock()? {
            Some((row, _)) => transaction.update(Table::Counters, CLOCK, row.revision, body),
            None => transaction.insert(Table::Counters, CLOCK, TenantId::NONE, body),
        })
    }

    fn stored_clock(&self) -> Result<Option<(Row, ClockRow)>, AdminError> {
        let Some(row) = self.store.get(Table::Counters, CLOCK)? else {
            return Ok(None);
        };
        let unreadable = |_| rows::Error::Unreadable(Table::Counters);
        let known = serde_json::from_slice(&row.body).map_err(unreadable)?;
        Ok(Some((row, known)))
    }
}

/// The row of a clock that nobody believes yet: key and body. A home that was made of a backup begins so, because
/// it does not know how its keys were used since.
///
/// # Errors
/// [`AdminError::Rows`], never in practice.
pub fn clock_in_doubt(now: WallTime) -> Result<(&'static [u8], Vec<u8>), AdminError> {
    let row = ClockRow {
        wall_ms: now.unix_millis(),
        sure: false,
    };
    let unreadable = |_| rows::Error::Unreadable(Table::Counters);
    Ok((CLOCK, serde_json::to_vec(&row).map_err(unreadable)?))
}

const fn distance(a: WallTime, b: WallTime) -> Duration {
    Duration::from_nanos(a.unix_nanos().abs_diff(b.unix_nanos()))
}

const CLOCK: &[u8] = b"clock";
/// A clock that is off by more has jumped.
const MOST: Duration = Duration::from_secs(3600);
/// How often the store is told.
const EVERY: Duration = Duration::from_secs(60);
