//! Operations: `Init`, `Update` and `Final` of one session put together.
//!
//! A session runs at most one operation of a family at a time, so that process, session and family say which
//! operation a call belongs to. Functions that take a message after a `Message...Init` are an operation each.

use keywright_pkcs11_names::{Family, Function, Phase, ReturnCode};

use super::sessions::Places;
use super::{Call, Mech, Outcome, limit};
use crate::bounded::Bounded;
use crate::report::{Limit, OperationRow, Ratios};
use crate::series::Series;

/// Which operation: process, session, family, of messages or not.
type Place = (u32, u64, Family, bool);

/// Operations in progress, and those that ended.
#[derive(Debug)]
pub(super) struct Operations {
    active: Bounded<Place, Active>,
    ended: Bounded<(Family, Mech), Ended>,
    operations: u64,
    searches: u64,
}

#[derive(Debug)]
struct Active {
    mech: Mech,
    key: Option<u64>,
    /// The calls so far, if each was measured.
    nanos: Option<u64>,
}

#[derive(Debug, Default)]
struct Ended {
    completed: u64,
    failed: u64,
    abandoned: u64,
    series: Series,
}

const ACTIVE: usize = 65_536;
const KINDS: usize = 96;

impl Default for Operations {
    fn default() -> Self {
        Self {
            active: Bounded::new(ACTIVE),
            ended: Bounded::new(KINDS),
            operations: 0,
            searches: 0,
        }
    }
}

impl Operations {
    /// Takes a call; fills in the mechanism that its `Init` had. How many operations it ended, searches left out.
    pub(super) fn take(&mut self, call: &mut Call<'_>) -> u64 {
        let Some(function) = call.function else {
            return 0;
        };
        let before = self.operations;
        match function.family() {
            Family::Key | Family::Random => self.whole(function.family(), call),
            Family::Decrypt
            | Family::Digest
            | Family::Encrypt
            | Family::Find
            | Family::Sign
            | Family::Verify => {
                self.step(function, call);
            }
            Family::General if function.name() == "C_Finalize" && call.outcome == Outcome::Done => {
                let process = call.process;
                self.active.drain(|place, _| place.0 == process);
            }
            Family::Session if function.name() == "C_CloseSession" => {
                let (process, session) = (call.process, call.seen.record.session);
                let families = [
                    Family::Decrypt,
                    Family::Digest,
                    Family::Encrypt,
                    Family::Find,
                    Family::Sign,
                    Family::Verify,
                ];
                for (family, message) in families
                    .into_iter()
                    .flat_map(|family| [(family, false), (family, true)])
                {
                    if let Some(session) = session {
                        self.active.remove(&(process, session, family, message));
                    }
                }
            }
            _ => {}
        }
        self.operations - before
    }

    /// A call that is an operation.
    fn whole(&mut self, family: Family, call: &Call<'_>) {
        match call.outcome {
            Outcome::SizeQuery => {}
            outcome => self.end(family, call.mech, outcome, call.nanos),
        }
    }

    fn step(&mut self, function: Function, call: &mut Call<'_>) {
        let name = function.name();
        let message = name.contains("Message");
        let family = function.family();
        let Some(session) = call.seen.record.session else {
            return;
        };
        let place = (call.process, session, family, message);
        match function.phase() {
            Phase::Init => self.begin(place, call),
            Phase::Single | Phase::Update if message => {
                call.mech = self.mech(&place, call.mech);
                call.key = call.key.or_else(|| self.active.of(&place)?.key);
                if function.phase() == Phase::Update {
                    return;
                }
                self.whole(family, call);
            }
            Phase::Final if message => {
                call.mech = self.mech(&place, call.mech);
                self.active.remove(&place);
            }
            phase => self.go_on(place, phase, call),
        }
    }

    fn begin(&mut self, place: Place, call: &Call<'_>) {
        let (_, _, family, message) = place;
        if call.outcome != Outcome::Done {
            if !message {
                self.end(family, call.mech, call.outcome, None);
            }
            return;
        }
        let before = self.active.remove(&place);
        if let Some(before) = before
            && !message
            && let Some(ended) = self.ended.entry((family, before.mech), Ended::default)
        {
            ended.abandoned += 1;
        }
        // Without a mechanism it cancels, except of searches, which have none.
        if call.mech != Mech::None || family == Family::Find {
            self.active.put(
                place,
                Active {
                    mech: call.mech,
                    key: call.key,
                    nanos: call.nanos,
                },
            );
        }
    }

    fn mech(&mut self, place: &Place, own: Mech) -> Mech {
        match own {
            Mech::None => self.active.of(place).map_or(own, |active| active.mech),
            _ => own,
        }
    }

    fn go_on(&mut self, place: Place, phase: Phase, call: &mut Call<'_>) {
        call.mech = self.mech(&place, call.mech);
        let family = place.2;
        let asked =
            call.outcome == Outcome::SizeQuery || call.code() == Some(ReturnCode::BUFFER_TOO_SMALL);
        let known = self.active.of(&place).map(|active| {
            active.nanos = active
                .nanos
                .zip(call.nanos)
                .map(|(sum, more)| sum.saturating_add(more));
            (active.mech, active.nanos)
        });
        let goes_on = phase == Phase::Update && call.outcome == Outcome::Done;
        if asked || goes_on {
            return;
        }
        self.active.remove(&place);
        let (mech, nanos) = known.unwrap_or((call.mech, None));
        self.end(family, mech, call.outcome, nanos);
    }

    fn end(&mut self, family: Family, mech: Mech, outcome: Outcome, nanos: Option<u64>) {
        match family {
            Family::Find => self.searches += 1,
            _ => self.operations += 1,
        }
        let Some(ended) = self.ended.entry((family, mech), Ended::default) else {
            return;
        };
        match outcome {
            Outcome::Done => {
                ended.completed += 1;
                if let Some(nanos) = nanos {
                    ended.series.record(nanos);
                }
            }
            _ => ended.failed += 1,
        }
    }

    pub(super) fn ratios(&self, calls: u64, places: &Places) -> Ratios {
        let per = |count: u64| (self.operations > 0).then(|| count as f64 / self.operations as f64);
        let logins = places.logins();
        Ratios {
            operations: self.operations,
            searches: self.searches,
            calls_per_operation: per(calls),
            searches_per_operation: per(self.searches),
            logins_per_operation: per(logins.succeeded
                + logins.wrong_pin
                + logins.failed_otherwise),
            sessions_per_operation: per(places.sessions().opened),
        }
    }

    pub(super) fn rows(&self) -> Vec<OperationRow> {
        let mut sorted: Vec<_> = self.ended.iter().collect();
        sorted.sort_by_key(|(key, _)| *key);
        let row = |((family, mech), ended): (&(Family, Mech), &Ended)| OperationRow {
            operation: family_name(*family),
            mechanism: mech.name(),
            completed: ended.completed,
            failed: ended.failed,
            abandoned: ended.abandoned,
            times: ended.series.times(),
        };
        sorted.into_iter().map(row).collect()
    }

    pub(super) fn limits(&self) -> impl Iterator<Item = Limit> {
        [
            limit("operations in progress", &self.active),
            limit("kinds of operations", &self.ended),
        ]
        .into_iter()
    }
}

pub(super) const fn family_name(family: Family) -> &'static str {
    match family {
        Family::Decrypt => "decrypt",
        Family::Digest => "digest",
        Family::Encrypt => "encrypt",
        Family::Find => "search",
        Family::Key => "key",
        Family::Random => "random",
        Family::Sign => "sign",
        Family::Verify => "verify",
        _ => "other",
    }
}
