//! What a verified log holds.

use std::collections::BTreeMap;

use keywright_clock::WallTime;
use keywright_types::Code;

use crate::RecordType;
use crate::head::{Head, HeadId};
use crate::record::Facts;

/// Counts over a log that was found whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Boots.
    pub boots: u64,
    /// Boots without a shutdown head; the newest may still be running.
    pub crashes: u64,
    /// Files of records.
    pub files: u64,
    /// Heads.
    pub heads: u64,
    /// Records.
    pub records: u64,
    /// Records after the newest head: chained, not signed. Whether check frames prove them, the check key tells.
    pub unsigned: u64,
    /// Records that a head states and says that nothing proved them when they were found: they count among the others,
    /// and nothing else was made of them.
    pub unproven: u64,
    /// Files that a crash cut inside their last record.
    pub cut: u64,
    /// Time of the earliest record.
    pub first: Option<WallTime>,
    /// Time of the latest record.
    pub last: Option<WallTime>,
    /// The newest head and its time.
    pub newest_head: Option<(HeadId, WallTime)>,
    /// Records by type.
    pub by_type: BTreeMap<RecordType, u64>,
    /// Requests by outcome. A record of counted refusals counts as many as it stands for.
    pub by_outcome: BTreeMap<Code, u64>,
}

impl Report {
    /// Records of one type.
    #[must_use]
    pub fn records_of(&self, kind: RecordType) -> u64 {
        self.by_type.get(&kind).copied().unwrap_or(0)
    }

    pub(crate) fn note(&mut self, facts: &Facts) {
        self.records += 1;
        self.first = Some(self.first.map_or(facts.time, |first| first.min(facts.time)));
        self.last = self.last.max(Some(facts.time));
        *self.by_type.entry(facts.kind).or_default() += 1;
        let stands_for = match facts.kind {
            RecordType::Refused => u64::from(facts.items),
            // It has no outcome yet.
            RecordType::StreamBegin => 0,
            _ => 1,
        };
        *self.by_outcome.entry(facts.outcome).or_default() += stands_for;
    }

    pub(crate) fn note_head(&mut self, id: HeadId, head: &Head) {
        self.heads += 1;
        self.newest_head = Some((id, head.time));
    }
}
