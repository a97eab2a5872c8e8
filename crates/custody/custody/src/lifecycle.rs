//! The life of a key version (design 7.16, 7.17): one table, and every caller asks it.

use keywright_types::State;

/// An order that changes the state of a key version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// Begin to seal.
    Activate,
    /// Undo the schedule of a destruction.
    CancelDestroy,
    /// Destroy for ever.
    Destroy,
    /// Take up again what was suspended.
    Resume,
    /// Stop sealing, keep opening.
    Retire,
    /// Set the date of a destruction.
    ScheduleDestroy,
    /// Allow nothing for now.
    Suspend,
}

/// What the table must know besides the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "each fact decides a line of the table"
)]
pub struct Facts {
    /// Whether another version of the key is active.
    pub another_is_active: bool,
    /// Whether this version never sealed anything.
    pub never_used: bool,
    /// The state that a suspended version had before.
    pub before_suspension: Option<State>,
}

/// The state does not allow the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a version that is {state} cannot follow the order {order:?}")]
#[non_exhaustive]
pub struct Conflict {
    /// The version's state.
    pub state: State,
    /// What was ordered.
    pub order: Order,
}

/// The state after `order`.
///
/// # Errors
/// [`Conflict`] where design 7.16 and 7.17 have no such step.
pub fn step(state: State, order: Order, facts: Facts) -> Result<State, Conflict> {
    match (state, order) {
        (State::PreActive, Order::Activate) if !facts.another_is_active => Ok(State::Active),
        (State::Active, Order::Retire) => Ok(State::Retired),
        (State::PreActive | State::Active | State::Retired, Order::Suspend) => Ok(State::Suspended),
        (State::Suspended, Order::Resume) => Ok(resumed(facts)),
        (State::Retired | State::Suspended, Order::ScheduleDestroy) => Ok(State::DestroyScheduled),
        (State::PreActive, Order::ScheduleDestroy) if facts.never_used => {
            Ok(State::DestroyScheduled)
        }
        (State::DestroyScheduled, Order::CancelDestroy) => Ok(State::Retired),
        (State::DestroyScheduled, Order::Destroy) => Ok(State::Destroyed),
        _ => Err(Conflict { state, order }),
    }
}

/// Whether a version in this state seals.
#[must_use]
pub const fn may_seal(state: State) -> bool {
    matches!(state, State::Active)
}

/// Whether a version in this state opens.
#[must_use]
pub const fn may_open(state: State) -> bool {
    matches!(state, State::PreActive | State::Active | State::Retired)
}

/// A suspended version takes up what it was, but never seals beside another.
fn resumed(facts: Facts) -> State {
    match facts.before_suspension {
        Some(State::Active) if !facts.another_is_active => State::Active,
        Some(State::PreActive) => State::PreActive,
        _ => State::Retired,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: [Order; 7] = [
        Order::Activate,
        Order::CancelDestroy,
        Order::Destroy,
        Order::Resume,
        Order::Retire,
        Order::ScheduleDestroy,
        Order::Suspend,
    ];

    fn every_fact() -> impl Iterator<Item = Facts> {
        let before = [
            None,
            Some(State::PreActive),
            Some(State::Active),
            Some(State::Retired),
        ];
        before.into_iter().flat_map(|before_suspension| {
            [(false, false), (false, true), (true, false), (true, true)].map(
                |(another_is_active, never_used)| Facts {
                    another_is_active,
                    never_used,
                    before_suspension,
                },
            )
        })
    }

    #[test]
    fn destroyed_is_for_ever() {
        for facts in every_fact() {
            for order in ORDERS {
                assert!(step(State::Destroyed, order, facts).is_err());
            }
        }
    }

    #[test]
    fn a_retired_version_never_becomes_active_again_by_any_path() {
        // All states that can be reached from Retired, whatever the facts say it was before.
        let mut reached = vec![State::Retired];
        let mut next = 0;
        while next < reached.len() {
            for order in ORDERS {
                let facts = Facts {
                    another_is_active: false,
                    never_used: true,
                    before_suspension: Some(State::Retired),
                };
                if let Ok(state) = step(reached[next], order, facts)
                    && !reached.contains(&state)
                {
                    reached.push(state);
                }
            }
            next += 1;
        }
        assert!(!reached.contains(&State::Active), "{reached:?}");
    }

    #[test]
    fn two_versions_are_never_active_at_once() {
        for facts in every_fact().filter(|facts| facts.another_is_active) {
            for state in State::ALL {
                for order in ORDERS {
                    assert_ne!(step(*state, order, facts), Ok(State::Active));
                }
            }
        }
    }

    #[test]
    fn only_scheduled_versions_are_destroyed_and_only_idle_ones_scheduled() {
        for facts in every_fact() {
            for state in State::ALL
                .iter()
                .filter(|state| **state != State::DestroyScheduled)
            {
                assert!(step(*state, Order::Destroy, facts).is_err());
            }
            assert!(step(State::Active, Order::ScheduleDestroy, facts).is_err());
            let pre_active = step(State::PreActive, Order::ScheduleDestroy, facts);
            assert_eq!(pre_active.is_ok(), facts.never_used);
        }
    }

    #[test]
    fn uses_follow_the_state() {
        let seals: Vec<_> = State::ALL
            .iter()
            .filter(|state| may_seal(**state))
            .collect();
        let opens: Vec<_> = State::ALL
            .iter()
            .filter(|state| may_open(**state))
            .collect();
        assert_eq!(seals, [&State::Active]);
        assert_eq!(opens, [&State::PreActive, &State::Active, &State::Retired]);
    }
}
