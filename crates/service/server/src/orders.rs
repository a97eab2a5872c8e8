//! Bodies and answers of routes by which keys live.

use keywright_api::Limits;
use keywright_api::answer::VersionEntry;
use keywright_api::error::Refusal;
use keywright_api::orders::{
    Approvable, ApproveAnswer, ApproveOrder, KeyOrder, KeyOrderAnswer, KeyVersionsAnswer,
    RotateAnswer, RotateOrder, VersionUses, parse_order,
};
use keywright_api::route::Endpoint;
use keywright_clock::WallTime;
use keywright_custody::Key;
use keywright_custody::lifecycle::Order;
use keywright_custody::rows::life::Target;
use keywright_service::{LifeOrder, OrderDone, Ordering, Uses};
use keywright_types::{Code, KeyVersion};

/// What the body of a route orders.
///
/// # Errors
/// The refusal of a body that is no order.
pub(crate) fn understand(
    endpoint: Endpoint,
    body: &[u8],
    limits: &Limits,
) -> Result<Ordering, Refusal> {
    match endpoint {
        Endpoint::KeyRotate => {
            let RotateOrder {} = parse_order(body, limits)?;
            Ok(Ordering::Rotate)
        }
        Endpoint::KeyApprove => {
            let approved: ApproveOrder = parse_order(body, limits)?;
            let (order, despite_use) = match approved.order {
                Approvable::Destroy => (Order::Destroy, true),
                Approvable::ScheduleDestroy => (Order::ScheduleDestroy, false),
            };
            let target = target((approved.version, approved.all))?;
            Ok(Ordering::Approve(LifeOrder {
                order,
                target,
                despite_use,
            }))
        }
        _ => {
            let order = order_of(endpoint).ok_or(Refusal::new(Code::Internal))?;
            let given: KeyOrder = parse_order(body, limits)?;
            if given.despite_use && order != Order::Destroy {
                return Err(Refusal::new(Code::ValueInvalid));
            }
            Ok(Ordering::Life(LifeOrder {
                order,
                target: target((given.version, given.all))?,
                despite_use: given.despite_use,
            }))
        }
    }
}

const fn order_of(endpoint: Endpoint) -> Option<Order> {
    Some(match endpoint {
        Endpoint::KeyCancelDestroy => Order::CancelDestroy,
        Endpoint::KeyDestroy => Order::Destroy,
        Endpoint::KeyResume => Order::Resume,
        Endpoint::KeyRetire => Order::Retire,
        Endpoint::KeyScheduleDestroy => Order::ScheduleDestroy,
        Endpoint::KeySuspend => Order::Suspend,
        _ => return None,
    })
}

/// One version or all: an order that says neither, or both, is none.
fn target(named: (Option<KeyVersion>, bool)) -> Result<Target, Refusal> {
    match named {
        (Some(version), false) => Ok(Target::One(version)),
        (None, true) => Ok(Target::All),
        _ => Err(Refusal::new(Code::ValueInvalid)),
    }
}

/// The answer to an order that was carried out.
pub(crate) fn answer(done: OrderDone) -> Vec<u8> {
    // Plain structs of texts and numbers always have a JSON form.
    match done {
        OrderDone::Approved(approval, until) => serde_json::to_vec(&ApproveAnswer {
            approval,
            not_after: until.rfc3339(),
        }),
        OrderDone::Changed(versions) => {
            let versions = versions.into_iter();
            let versions = versions.map(|(version, state)| VersionEntry { version, state });
            serde_json::to_vec(&KeyOrderAnswer {
                versions: versions.collect(),
            })
        }
        OrderDone::Rotated(key_version) => serde_json::to_vec(&RotateAnswer { key_version }),
    }
    .unwrap_or_default()
}

/// The versions of a key, and what they were used for.
pub(crate) fn versions(key: &Key, uses: &Uses) -> KeyVersionsAnswer {
    let versions = key.versions().iter().map(|version| {
        let tally = uses.of(key.id(), version.number());
        // A time that was never counted is 0.
        let moment = |ms: u64| (ms > 0).then(|| WallTime::from_unix_millis(ms).rfc3339());
        VersionUses {
            version: version.number(),
            state: version.state(),
            seals: tally.seals,
            opens: tally.opens,
            rewrapped: tally.rewrapped,
            refused: tally.refused,
            last_use: moment(tally.last_use_ms),
            last_open: moment(tally.last_open_ms),
            due: version.life().due.map(WallTime::rfc3339),
        }
    });
    KeyVersionsAnswer {
        versions: versions.collect(),
        min_open: key.min_open(),
    }
}
