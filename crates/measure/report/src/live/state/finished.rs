//! A finished run as a board would have seen it.
//!
//! A document says less than the events of its run did: not when cases took turns, not what the quantiles
//! were in between. So each case comes after the one before, its runs one after the other without rests, and
//! from the first second on with the quantiles, the histogram and the failures of all of it. What a board says
//! of the run that is on is here of all runs of the case.

use keywright_measure::document::{BlockRecord, Case, Document};
use keywright_measure::event::Event;

use super::Board;
use crate::number::float;
use crate::quantile;

impl Board {
    /// What a run left behind that is described by `document`. The case that is shown as current is its last.
    #[must_use]
    pub fn of(document: &Document) -> Self {
        Self::showing(document, document.cases.len().saturating_sub(1))
    }

    /// The same with the case at `place` as the current one; its last where there is none at it.
    #[must_use]
    pub fn showing(document: &Document, place: usize) -> Self {
        let runs = document.cases.iter().map(|case| case.runs.len()).max();
        let runs = u32::try_from(runs.unwrap_or(1)).unwrap_or(u32::MAX);
        let mut board = Self::new(runs);
        let mut at = 0;
        let run = document.run.id.clone();
        let cases = document.cases.len();
        board.fold(at, &Event::Started { run, cases });
        let mut places: Vec<usize> = (0..cases).collect();
        // Whatever comes last is what is shown; results stand in the order of the document all the same.
        if place < cases {
            places.remove(place);
            places.push(place);
        }
        for place in places {
            if let Some(case) = document.cases.get(place) {
                at = board.replay(at, (place, case));
            }
        }
        for case in &document.cases {
            let case = Box::new(case.clone());
            board.fold(at, &Event::CaseFinished { case });
        }
        for text in document.validity.iter().map(|remark| remark.text.clone()) {
            board.fold(at, &Event::Remark { text });
        }
        let exit = document.exit.name.clone();
        board.fold(at, &Event::Finished { exit });
        board
    }

    /// The turns of a case that begins at `begin`; gives when it ends.
    fn replay(&mut self, begin: u64, (place, case): (usize, &Case)) -> u64 {
        let mut at = begin;
        let runs: Vec<&[BlockRecord]> = case
            .blocks
            .chunk_by(|one, other| one.run == other.run)
            .collect();
        let turns = runs.len().max(case.runs.len()).max(1);
        let mut starts = Vec::new();
        for turn in 0..turns {
            let blocks = runs.get(turn).copied().unwrap_or_default();
            starts.push((at, blocks));
            let started = Event::CaseStarted {
                id: case.id.clone(),
                place,
                expected_ns: length(case, blocks),
                target_per_s: case.load.rate_per_s,
            };
            self.fold(at, &started);
            at = at.saturating_add(length(case, blocks));
        }
        // Only now, because a turn that begins takes the seconds of the one before off the board.
        for (start, blocks) in starts {
            for block in blocks {
                let end = block.start_ns.saturating_add(block.duration_ns);
                self.fold(start.saturating_add(end), &told(case, block));
            }
        }
        at
    }
}

fn length(case: &Case, blocks: &[BlockRecord]) -> u64 {
    let ends = blocks
        .iter()
        .map(|block| block.start_ns.saturating_add(block.duration_ns));
    ends.max().unwrap_or(case.load.duration_ns)
}

fn told(case: &Case, block: &BlockRecord) -> Event {
    let times = case.headline();
    let quantiles = times.map(quantile::sorted).unwrap_or_default();
    let bins = times.map(|times| times.bins.as_slice()).unwrap_or_default();
    Event::Block {
        id: case.id.clone(),
        block: BlockRecord {
            hdr: None,
            ..block.clone()
        },
        rate_per_s: float(block.done) * 1e9 / float(block.duration_ns.max(1)),
        quantiles: quantiles
            .into_iter()
            .filter_map(|(name, _, quantile)| Some((name.to_owned(), quantile.value?)))
            .collect(),
        histogram: bins.iter().map(|bin| (bin.to_ns, bin.n)).collect(),
        errors: case
            .errors
            .iter()
            .map(|fault| (format!("{}: {}", fault.phase, fault.code), fault.n))
            .collect(),
    }
}
