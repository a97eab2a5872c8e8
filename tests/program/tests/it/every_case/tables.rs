//! What is expected, written from docs/protocol.md and docs/life-cycle.md.

use keywright_api::route::{Endpoint, Route};
use keywright_types::{Algorithm, Purpose, State};

use super::cases::{Case, Kind, Stand};

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// May do everything in the tenant.
    Holder,
    /// May do everything but this one operation.
    Beside,
    /// Of the tenant, and without any right.
    Bystander,
    /// May do everything in the other tenant, which has contexts of the same name beside the active ones.
    Stranger,
}

impl Who {
    pub(super) const ALL: [Self; 4] = [Self::Holder, Self::Beside, Self::Bystander, Self::Stranger];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Holder => "holder",
            Self::Beside => "beside",
            Self::Bystander => "bystander",
            Self::Stranger => "stranger",
        }
    }
}

/// What an endpoint does with versions (docs/life-cycle.md, "States").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// Works with the active version.
    Seals,
    /// Works with a version that is named.
    Opens,
    /// Both.
    Moves,
}

/// The purposes whose keys have the operation, and what it does with versions; `None` if it does nothing with keys.
pub(super) const fn of_keys(endpoint: Endpoint) -> Option<(&'static [Purpose], Does)> {
    use Purpose as P;
    Some(match endpoint {
        Endpoint::Encrypt | Endpoint::EncryptStream | Endpoint::Datakey => {
            (&[P::Seal], Does::Seals)
        }
        Endpoint::Decrypt | Endpoint::DecryptStream | Endpoint::DatakeyOpen => {
            (&[P::Seal], Does::Opens)
        }
        Endpoint::Rewrap => (&[P::Seal, P::Deterministic], Does::Moves),
        Endpoint::DeterministicEncrypt => (&[P::Deterministic], Does::Seals),
        Endpoint::DeterministicDecrypt => (&[P::Deterministic], Does::Opens),
        Endpoint::Tokenize => (&[P::Tokenise], Does::Seals),
        Endpoint::Detokenize | Endpoint::Mask => (&[P::Tokenise], Does::Opens),
        Endpoint::Sign => (&[P::Sign, P::Tree], Does::Seals),
        Endpoint::Verify => (&[P::Sign, P::Tree], Does::Opens),
        Endpoint::Agree => (&[P::Agree, P::Tree], Does::Opens),
        Endpoint::PublicKey => (&[P::Sign, P::Agree, P::Tree], Does::Opens),
        Endpoint::Xpub | Endpoint::KeyExport => (&[P::Tree], Does::Seals),
        Endpoint::Mac => (&[P::Mac], Does::Seals),
        Endpoint::MacVerify => (&[P::Mac], Does::Opens),
        _ => return None,
    })
}

/// Whether trees of this kind lack what other trees have: Ed25519 never agrees, Curve25519 never signs, a tree hands
/// out either public nodes or private keys, and over P-256 there is no text for a public node.
const fn tree_lacks(endpoint: Endpoint, kind: Kind) -> bool {
    match endpoint {
        Endpoint::Agree => matches!(kind.algorithm, Algorithm::Slip10Ed25519),
        Endpoint::Sign | Endpoint::Verify => {
            matches!(kind.algorithm, Algorithm::Slip10Curve25519)
        }
        Endpoint::Xpub => !kind.soft || matches!(kind.algorithm, Algorithm::Slip10NistP256),
        Endpoint::KeyExport => kind.soft,
        _ => false,
    }
}

/// Whether an order is refused in this state: the cells `-` of docs/life-cycle.md. `None` for what would change it, or
/// is decided by more than the state.
const fn order_refused(endpoint: Endpoint, state: State) -> Option<&'static str> {
    let refused = match endpoint {
        Endpoint::KeySuspend => {
            matches!(
                state,
                State::Suspended | State::DestroyScheduled | State::Destroyed
            )
        }
        Endpoint::KeyResume => !matches!(state, State::Suspended),
        Endpoint::KeyRetire => !matches!(state, State::Active),
        Endpoint::KeyScheduleDestroy => {
            matches!(
                state,
                State::Active | State::DestroyScheduled | State::Destroyed
            )
        }
        Endpoint::KeyCancelDestroy | Endpoint::KeyDestroy => {
            !matches!(state, State::DestroyScheduled)
        }
        _ => false,
    };
    if refused {
        Some("state_conflict")
    } else {
        None
    }
}

/// What whoever has every right is told.
fn for_holder(route: &Route, kind: Kind, stand: Stand) -> Option<&'static str> {
    let Some((purposes, does)) = of_keys(route.endpoint) else {
        return match route.is_order() {
            true => order_refused(route.endpoint, stand.state()),
            false => Some("ok"),
        };
    };
    let opens = matches!(stand.state(), State::Active | State::Retired);
    let lacks = kind.is_tree() && tree_lacks(route.endpoint, kind);
    Some(if !purposes.contains(&kind.purpose) {
        "unsupported"
    } else if does != Does::Opens && stand.active().is_none() {
        "no_active_version"
    } else if lacks && does != Does::Opens {
        "unsupported"
    } else if lacks && route.endpoint == Endpoint::Agree {
        // The path decides, before the version is looked for.
        "unsupported"
    } else if does != Does::Seals && !opens {
        "key_version_unavailable"
    } else if lacks {
        "unsupported"
    } else {
        "ok"
    })
}

/// What each is told; `None` where it is not asked.
pub(super) fn expected(route: &Route, who: Who, case: &Case) -> Option<&'static str> {
    match who {
        Who::Holder => for_holder(route, case.kind, case.stand),
        Who::Beside => Some("operation_denied"),
        Who::Bystander => Some("context_not_found"),
        Who::Stranger if !has_namesake(case) => Some("context_not_found"),
        Who::Stranger if route.is_order() => None,
        Who::Stranger => {
            let own = for_holder(route, case.kind, case.stand);
            let foreign = own == Some("ok") && opens_envelopes(route.endpoint);
            if foreign {
                Some("decryption_failed")
            } else {
                own
            }
        }
    }
}

pub(super) fn has_namesake(case: &Case) -> bool {
    case.stand == Stand::Alone(State::Active)
}

const fn opens_envelopes(endpoint: Endpoint) -> bool {
    matches!(
        endpoint,
        Endpoint::Decrypt
            | Endpoint::DecryptStream
            | Endpoint::DatakeyOpen
            | Endpoint::DeterministicDecrypt
            | Endpoint::Rewrap
    )
}

/// The status of a code (docs/protocol.md, "Errors").
pub(super) fn status(code: &str) -> u16 {
    match code {
        "ok" => 200,
        "decryption_failed" | "unsupported" => 400,
        "operation_denied" => 403,
        "context_not_found" => 404,
        "key_version_unavailable" | "no_active_version" | "state_conflict" => 409,
        other => panic!("no answer of these tables: {other}"),
    }
}
