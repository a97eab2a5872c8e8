//! Changes of state: which rows an order changes, and the key that follows from them (design 7.16, 7.17).
//!
//! Whether an order may be given now, by whom and with whose word, is decided before this; here the table of
//! [`lifecycle`](crate::lifecycle) alone decides.

use std::sync::Arc;

use keywright_clock::WallTime;
use keywright_store::{Row, Store, Table, Transaction};
use keywright_types::{KeyVersion, State};

use super::{Error, KeyRow, VersionRow, assemble, json, number_of, parse_key, read, version_key};
use crate::lifecycle::{Facts, Order, step};
use crate::{Description, Key, KeyMaterial, Rules};

/// Which versions an order is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing between")]
pub enum Target {
    /// Every version that it concerns: the context as a whole.
    All,
    /// One.
    One(KeyVersion),
}

/// An order, with what the table does not know by itself.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a plain message between a caller and the table"
)]
pub struct Change<'a> {
    /// What is ordered.
    pub order: Order,
    /// Of which versions.
    pub target: Target,
    /// When.
    pub now: WallTime,
    /// From when on a version may be destroyed, where that is what is ordered.
    pub due: Option<WallTime>,
    /// Versions that were never used.
    pub unused: &'a [KeyVersion],
    /// Public keys that stay when a version is destroyed.
    pub public_keys: &'a [(KeyVersion, Arc<str>)],
}

/// What an order leads to.
#[derive(Debug)]
#[non_exhaustive]
pub struct Changed {
    /// Carries it out.
    pub transaction: Transaction,
    /// The key once that is committed.
    pub key: Key,
    /// The versions whose state changes, with the new one.
    pub versions: Vec<(KeyVersion, State)>,
}

/// A version's row with its new body.
struct Line {
    row: Row,
    number: KeyVersion,
    body: VersionRow,
    changed: bool,
}

/// The rows and the key that an order leads to.
///
/// # Errors
/// [`Error::State`] if no version can follow the order, or one that must cannot; [`Error::NoVersion`];
/// [`Error::NotFound`]; else as [`load`](super::load).
pub fn change(
    store: &Store,
    (key, parent): (&Key, &Arc<KeyMaterial>),
    change: &Change<'_>,
) -> Result<Changed, Error> {
    let id = key.id();
    let key_row = store
        .get(Table::Keys, id.as_bytes())?
        .ok_or(Error::NotFound)?;
    let (description, _) = parse_key(&key_row)?;
    let mut lines = lines(store, &description)?;
    apply(&mut lines, change)?;
    let mut transaction = Transaction::new().require(Table::Keys, *id.as_bytes(), key_row.revision);
    let (mut versions, mut changed) = (Vec::new(), Vec::new());
    for line in lines {
        versions.push(assemble(&line.body, line.number, &description, parent)?);
        if line.changed {
            changed.push((line.number, line.body.state));
            let row_key = version_key(id, line.number);
            let revision = line.row.revision;
            transaction =
                transaction.update(Table::KeyVersions, row_key, revision, json(&line.body));
        }
    }
    Ok(Changed {
        transaction,
        key: Key::new(description, versions),
        versions: changed,
    })
}

/// The rows and the key that a change of rules leads to.
///
/// # Errors
/// [`Error::Rule`], [`Error::MinimumAboveActive`], [`Error::NotFound`], else as [`load`](super::load).
pub fn set_rules(
    store: &Store,
    key: &Key,
    rules: &Rules,
    min_open: KeyVersion,
) -> Result<(Transaction, Key), Error> {
    rules.check(key.rules())?;
    let newest = key.active().or_else(|| key.versions().last());
    if newest.is_some_and(|newest| min_open > newest.number()) || min_open == KeyVersion::NONE {
        return Err(Error::MinimumAboveActive);
    }
    let id = key.id();
    let row = store
        .get(Table::Keys, id.as_bytes())?
        .ok_or(Error::NotFound)?;
    let mut body: KeyRow = read(&row, Table::Keys)?;
    body.rules = rules.clone();
    body.min_open = min_open;
    let transaction =
        Transaction::new().update(Table::Keys, *id.as_bytes(), row.revision, json(&body));
    Ok((transaction, key.with_rules(rules.clone(), min_open)))
}

fn lines(store: &Store, of: &Description) -> Result<Vec<Line>, Error> {
    let rows = store.range(Table::KeyVersions, of.id.as_bytes())?;
    rows.into_iter()
        .map(|row| {
            Ok(Line {
                number: number_of(&row, of)?,
                body: read(&row, Table::KeyVersions)?,
                row,
                changed: false,
            })
        })
        .collect()
}

/// The newest first: of several versions that could be active again it is the newest.
fn apply(lines: &mut [Line], change: &Change<'_>) -> Result<(), Error> {
    if let Target::One(number) = change.target
        && !lines.iter().any(|line| line.number == number)
    {
        return Err(Error::NoVersion);
    }
    let mut refused = None;
    for index in (0..lines.len()).rev() {
        let another_is_active = lines
            .iter()
            .enumerate()
            .any(|(other, line)| other != index && line.body.state == State::Active);
        let mut later = lines.iter().skip(index + 1);
        let later_was_active = later.any(|line| line.body.activated_ms.is_some());
        let Some(line) = lines.get_mut(index) else {
            continue;
        };
        let one = Target::One(line.number);
        if change.target != Target::All && change.target != one {
            continue;
        }
        let facts = Facts {
            another_is_active,
            later_was_active,
            never_used: change.unused.contains(&line.number),
            before_suspension: line.body.before_suspension,
        };
        match step(line.body.state, change.order, facts) {
            Ok(state) => line.become_one_that_is(state, change),
            // A context that is to go as a whole goes as a whole.
            Err(conflict) if one == change.target || line.blocks(change.order) => {
                return Err(conflict.into());
            }
            Err(conflict) => refused = Some(conflict),
        }
    }
    let moved = lines.iter().any(|line| line.changed);
    match (moved, refused) {
        (true, _) => Ok(()),
        (false, Some(conflict)) => Err(conflict.into()),
        (false, None) => Err(Error::NoVersion),
    }
}

impl Line {
    fn become_one_that_is(&mut self, state: State, change: &Change<'_>) {
        let body = &mut self.body;
        let now = Some(change.now.unix_millis());
        match change.order {
            Order::Suspend => body.before_suspension = Some(body.state),
            Order::ScheduleDestroy => {
                body.scheduled_ms = now;
                body.due_ms = change.due.map(WallTime::unix_millis);
                body.before_suspension = None;
            }
            Order::CancelDestroy => (body.scheduled_ms, body.due_ms) = (None, None),
            Order::Destroy => {
                body.destroyed_ms = now;
                body.sealed.clear();
                let mut kept = change.public_keys.iter();
                let kept = kept.find(|(version, _)| *version == self.number);
                body.public_key = kept.map(|(_, key)| Arc::clone(key));
            }
            Order::Resume => body.before_suspension = None,
            _ => (),
        }
        if state == State::Retired && body.retired_ms.is_none() {
            body.retired_ms = now;
        }
        body.state = state;
        self.changed = true;
    }

    /// Whether an order for the whole context cannot pass this version by.
    fn blocks(&self, order: Order) -> bool {
        let in_use = matches!(self.body.state, State::Active | State::PreActive);
        order == Order::ScheduleDestroy && in_use
    }
}
