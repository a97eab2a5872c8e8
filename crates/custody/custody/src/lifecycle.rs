//! The life of a key version (design 7.16, 7.17): one table, and every caller asks it.

use keywright_types::State;
use serde::{Deserialize, Serialize};

/// An order that changes the state of a key version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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

impl Order {
    /// Every order.
    pub const ALL: [Self; 7] = [
        Self::Activate,
        Self::CancelDestroy,
        Self::Destroy,
        Self::Resume,
        Self::Retire,
        Self::ScheduleDestroy,
        Self::Suspend,
    ];

    /// The order as a person would give it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Activate => "activate",
            Self::CancelDestroy => "cancel-destroy",
            Self::Destroy => "destroy",
            Self::Resume => "resume",
            Self::Retire => "retire",
            Self::ScheduleDestroy => "schedule-destroy",
            Self::Suspend => "suspend",
        }
    }
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
    /// Whether a later version of the key has been active, whatever it is now.
    pub later_was_active: bool,
    /// Whether this version never sealed anything.
    pub never_used: bool,
    /// The state that a suspended version had before.
    pub before_suspension: Option<State>,
}

/// The state does not allow the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a version that is {state} cannot follow the order {}", order.name())]
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

/// A suspended version takes up what it was, but seals neither beside another nor after one that came later: what is
/// active would go back to an older key, perhaps to one below the minimum that opens.
fn resumed(facts: Facts) -> State {
    let succeeded = facts.another_is_active || facts.later_was_active;
    match facts.before_suspension {
        Some(State::Active) if !succeeded => State::Active,
        Some(State::PreActive) => State::PreActive,
        _ => State::Retired,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use Order as O;
    use State as S;

    const ORDERS: [Order; 7] = Order::ALL;

    fn every_fact() -> impl Iterator<Item = Facts> {
        let before = [
            None,
            Some(State::PreActive),
            Some(State::Active),
            Some(State::Retired),
        ];
        before.into_iter().flat_map(|before_suspension| {
            (0..8_u8).map(move |bits| Facts {
                another_is_active: bits & 1 != 0,
                later_was_active: bits & 2 != 0,
                never_used: bits & 4 != 0,
                before_suspension,
            })
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
                    later_was_active: false,
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
    fn what_was_followed_by_another_is_not_resumed_to_seal() {
        for facts in every_fact().filter(|facts| facts.later_was_active) {
            let resumed = step(State::Suspended, Order::Resume, facts);
            assert_ne!(resumed, Ok(State::Active), "{facts:?}");
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

    /// The whole table, written a second time: what each order makes of each state where no other version is
    /// active, the version was never used, and was active before it was suspended.
    const TABLE: [(State, [Option<State>; 7]); 6] = [
        // activate, cancel-destroy, destroy, resume, retire, schedule-destroy, suspend
        (
            S::PreActive,
            [
                Some(S::Active),
                None,
                None,
                None,
                None,
                Some(S::DestroyScheduled),
                Some(S::Suspended),
            ],
        ),
        (
            S::Active,
            [
                None,
                None,
                None,
                None,
                Some(S::Retired),
                None,
                Some(S::Suspended),
            ],
        ),
        (
            S::Retired,
            [
                None,
                None,
                None,
                None,
                None,
                Some(S::DestroyScheduled),
                Some(S::Suspended),
            ],
        ),
        (
            S::Suspended,
            [
                None,
                None,
                None,
                Some(S::Active),
                None,
                Some(S::DestroyScheduled),
                None,
            ],
        ),
        (
            S::DestroyScheduled,
            [
                None,
                Some(S::Retired),
                Some(S::Destroyed),
                None,
                None,
                None,
                None,
            ],
        ),
        (S::Destroyed, [None; 7]),
    ];

    #[test]
    fn the_table_says_what_every_order_makes_of_every_state() {
        let facts = Facts {
            another_is_active: false,
            later_was_active: false,
            never_used: true,
            before_suspension: Some(S::Active),
        };
        assert_eq!(TABLE.map(|(state, _)| state), *State::ALL);
        for (state, row) in TABLE {
            for (order, after) in ORDERS.into_iter().zip(row) {
                assert_eq!(step(state, order, facts).ok(), after, "{state} {order:?}");
            }
        }
    }

    #[test]
    fn facts_change_only_the_lines_that_ask_for_them() {
        let calm = |state, order| {
            let facts = Facts {
                another_is_active: false,
                later_was_active: false,
                never_used: true,
                before_suspension: Some(S::Active),
            };
            step(state, order, facts).ok()
        };
        for facts in every_fact() {
            for &state in State::ALL {
                for order in ORDERS {
                    let now = step(state, order, facts).ok();
                    let expected = match (state, order) {
                        (S::PreActive, O::Activate) if facts.another_is_active => None,
                        (S::PreActive, O::ScheduleDestroy) if !facts.never_used => None,
                        (S::Suspended, O::Resume) => {
                            let succeeded = facts.another_is_active || facts.later_was_active;
                            Some(match (facts.before_suspension, succeeded) {
                                (Some(S::Active), false) => S::Active,
                                (Some(S::PreActive), _) => S::PreActive,
                                _ => S::Retired,
                            })
                        }
                        _ => calm(state, order),
                    };
                    assert_eq!(now, expected, "{state} {order:?} {facts:?}");
                }
            }
        }
    }

    #[test]
    fn the_page_has_the_table() {
        let page = include_str!("../../../../docs/life-cycle.md");
        let facts = Facts {
            another_is_active: false,
            later_was_active: false,
            never_used: true,
            before_suspension: Some(S::Active),
        };
        for &state in State::ALL {
            let after = |order| match step(state, order, facts) {
                Ok(state) => format!("`{state}`"),
                Err(_) => "-".to_owned(),
            };
            let yes = |does: bool| if does { "yes" } else { "no" };
            let orders = ORDERS.into_iter().filter(|order| *order != O::Activate);
            let cells: Vec<_> = orders.map(after).collect();
            let line = format!(
                "| `{state}` | {} | {} | {} |",
                yes(may_seal(state)),
                yes(may_open(state)),
                cells.join(" | ")
            );
            assert!(page.contains(&line), "docs/life-cycle.md lacks\n{line}");
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
