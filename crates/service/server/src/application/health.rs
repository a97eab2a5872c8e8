//! Whether this node is ready to serve, as a client is told.

use http::{Response, StatusCode};
use keywright_api::answer::{ClockWord, HealthAnswer, Memory, Probe, Readiness};
use keywright_api::error::Refusal;
use keywright_service::{ClockState, Need, TokenKeys};
use keywright_types::Operation;

use super::{Application, Asked, to_json};
use crate::transport::{Reply, json};

impl Application {
    pub(super) async fn health(&self, asked: Asked<'_>) -> Result<Response<Reply>, Refusal> {
        let holder = self.worker.holder_works().await;
        let recorded = self.worker.plain(
            asked.call,
            Operation::HealthRead,
            Need::Identity,
            |snapshot| snapshot.epoch,
        );
        let epoch = self.release(recorded).await?;
        let audit = (self.probes.audit)();
        let Looked {
            store,
            certificates,
            clock,
            keys,
        } = self.looked();
        let probe = |works| if works { Probe::Ok } else { Probe::Failed };
        let ready = holder && keys.serve() && audit && store && certificates;
        let answer = HealthAnswer {
            status: if ready {
                Readiness::Ready
            } else {
                Readiness::Degraded
            },
            holder: probe(holder),
            unfit_keys: keys.unfit,
            audit: probe(audit),
            store: probe(store),
            certificates: probe(certificates),
            clock,
            memory: if self.probes.memory_locked {
                Memory::Locked
            } else {
                Memory::Unlocked
            },
            epoch,
        };
        let status = if ready {
            StatusCode::OK
        } else {
            StatusCode::SERVICE_UNAVAILABLE
        };
        Ok(json(status, to_json(&answer)))
    }

    /// What is not asked now, but by whoever looks after the node. Where nobody does, nothing speaks against it.
    pub(crate) fn looked(&self) -> Looked {
        let shared = self.worker.shared();
        let (clock, snapshot) = (shared.clock(), shared.snapshot());
        let Some(standing) = shared.standing() else {
            return Looked {
                store: true,
                certificates: true,
                clock: ClockWord::Sure,
                keys: TokenKeys::default(),
            };
        };
        Looked {
            store: standing.store && standing.is_fresh(clock.monotonic()),
            certificates: standing.certificates_hold(&snapshot, clock.wall()),
            clock: match standing.clock {
                ClockState::Sure => ClockWord::Sure,
                ClockState::Uncertain => ClockWord::Uncertain,
            },
            keys: standing.keys,
        }
    }
}

/// Parts of health that are looked at beforehand.
pub(crate) struct Looked {
    pub(crate) store: bool,
    pub(crate) certificates: bool,
    clock: ClockWord,
    pub(crate) keys: TokenKeys,
}
