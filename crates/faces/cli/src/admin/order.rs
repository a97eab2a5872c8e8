//! An order's way to a home: through the node that runs there, or by opening the home.

use std::time::Duration;

use keywright_clock::Clock;
use keywright_home::{Answer, HomeError, MemoryPlan, Node, Order, control};

use crate::exit::{Exit, Failure};
use crate::place::{Home, existing_home};
use crate::serve::report_log;

/// Gives an order. While another process is opening or closing the home, it is tried again.
pub(super) fn give(home: &Home, order: Order) -> Result<Answer, Failure> {
    let config = existing_home(&home.home)?;
    let clock = Clock::system();
    let started = clock.monotonic();
    loop {
        if let Some(answer) = control::send(&home.home, &order)? {
            return Ok(answer);
        }
        match Node::open(&config, clock.clone(), MemoryPlan::LeaveAlone) {
            Err(HomeError::Busy) if clock.monotonic().since(started) < PATIENCE => {
                std::thread::sleep(PAUSE);
            }
            Err(error) => return Err(error.into()),
            Ok(node) => {
                report_log(&node);
                let answer = carry_out(&node, order);
                node.shutdown()?;
                return Ok(answer?);
            }
        }
    }
}

/// Gives an order that is about what a running node has in its memory.
pub(super) fn give_running(home: &Home, order: &Order) -> Result<Answer, Failure> {
    existing_home(&home.home)?;
    control::send(&home.home, order)?.ok_or_else(|| {
        Failure::new(
            Exit::Refused,
            "no node runs in this home, and an import key lives in the memory of a running node alone",
            "start it (keywright serve), then make an import key and use it before the node stops",
        )
    })
}

fn carry_out(node: &Node, order: Order) -> Result<Answer, HomeError> {
    match order {
        // Opening the home has put a list that is new in force.
        Order::TrustReload => Ok(Answer::InForce {
            epoch: node.admin().shared().snapshot().epoch,
        }),
        Order::Reload => Err(HomeError::NotRunning),
        order => node.carry_out(order),
    }
}

/// An answer that does not belong to the order.
pub(super) fn unexpected() -> Failure {
    Failure::broken("the node answered something that was not asked")
}

/// Longer than one order takes, with its start and its end.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(50);
