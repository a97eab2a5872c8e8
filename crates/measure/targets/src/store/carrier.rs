//! From settings to a carrier of load.

use std::collections::BTreeMap;

use keywright_measure::document::BlockRecord;
use keywright_measure::ledger::Ledger;
use keywright_measure::{Assignment, Carried, Carrier, TargetError, Word};

use super::belongings::Belongings;
use super::decoding::Decoding;
use super::prepare::prepare;
use super::questions::Questions;
use super::session::Session;
use super::{Facts, Settings, Shape};
use crate::http::{self, Lines, Process};

/// Carries load to a store, and holds what was written there for it.
pub struct StoreCarrier {
    // Before the belongings, so that connections end before the clean-up begins.
    carrier: http::Carrier<Questions>,
    shape: Shape,
    facts: Facts,
    decoding: Decoding,
    belongings: Belongings,
}

impl std::fmt::Debug for StoreCarrier {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("StoreCarrier")
            .field("shape", &self.shape)
            .field("carrier", &self.carrier)
            .field("facts", &self.facts)
            .finish_non_exhaustive()
    }
}

/// Connects to a store, writes what an operation needs, and makes its requests from `seed`.
///
/// # Errors
/// [`TargetError::Unreachable`] for a store that does not answer, is sealed or not initialised;
/// [`TargetError::Authentication`] for certificates and tokens that are refused, on either side;
/// [`TargetError::Unsupported`] where an engine is not mounted or answers unlike the ones known here.
pub fn open(shape: Shape, settings: &Settings, seed: u64) -> Result<StoreCarrier, TargetError> {
    let mut session = Session::open(settings, shape.name())?;
    let facts = Facts::gather(&mut session)?;
    let mut belongings = Belongings::new(session)?;
    let ring = prepare(shape, seed, &mut belongings)?;
    let lines = Lines::connect(settings.endpoint()?, settings.connections, settings.streams)?;
    let decoding = Decoding::new(&settings.clock);
    let carrier = http::Carrier::new(lines, Questions::new(ring, decoding.clone()));
    Ok(StoreCarrier {
        carrier: match settings.process {
            Some(id) => carrier.with_process(Process::new(id)),
            None => carrier,
        },
        shape,
        facts,
        decoding,
        belongings,
    })
}

impl StoreCarrier {
    /// What is known about the store. Goes into every output of a measurement.
    #[must_use]
    pub const fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Most operations in flight at once.
    #[must_use]
    pub fn places(&self) -> u32 {
        self.carrier.places()
    }

    /// Removes what was written, and says whether that worked. Dropping the carrier does the same in
    /// silence.
    ///
    /// # Errors
    /// How the first removal that failed did so.
    pub fn close(mut self) -> Result<(), TargetError> {
        self.belongings.remove()
    }
}

impl Carrier for StoreCarrier {
    fn carry(
        &mut self,
        assignment: &Assignment<'_>,
        block: &mut dyn FnMut(&BlockRecord, &Ledger),
    ) -> Result<Carried, TargetError> {
        self.decoding.begin(assignment);
        let mut carried = self.carrier.carry(assignment, block)?;
        if self.shape == Shape::KvGetDecode {
            carried.parts = vec![carried.ledger.clone(), self.decoding.end()];
        }
        Ok(carried)
    }

    /// Decoding is the only operation with parts. The times of the whole are those of the query: decoding
    /// begins where they end.
    fn parts(&self) -> Vec<(String, f64)> {
        match self.shape {
            Shape::KvGetDecode => [("query", 1.0), ("decode", 1.0)]
                .map(|(name, weight)| (name.to_owned(), weight))
                .into(),
            _ => Vec::new(),
        }
    }

    fn words(&self) -> Vec<Word> {
        self.facts.words().to_vec()
    }

    fn about(&self) -> BTreeMap<String, String> {
        self.facts.entries().clone()
    }
}
