//! Times in which a target failed, and how long it took to come back: of a token that was started again, or a server.

use keywright_measure::document::{BlockRecord, Case};

use crate::number;

/// More than so many stretches in a run are an error rate, which stands elsewhere.
const STRETCHES: usize = 3;

/// `failed from 2.00 s, back after 1.00 s`, for each stretch of blocks with failures that lies between blocks without.
/// What happened between the ends of two blocks is not known: a stretch is as long as its blocks.
pub(crate) fn outages(case: &Case) -> Vec<String> {
    let several = case.runs.len() > 1;
    let mut out = Vec::new();
    for run in &case.runs {
        let of_run = case.blocks.iter().filter(|block| block.run == run.run);
        let blocks: Vec<_> = of_run.collect();
        let stretches = stretches(&blocks);
        if stretches.len() > STRETCHES {
            continue;
        }
        out.extend(stretches.into_iter().map(|stretch| {
            let said = stretch.said();
            match several {
                true => format!("run {}: {said}", run.run),
                false => said,
            }
        }));
    }
    out
}

struct Stretch {
    starts: u64,
    /// When the first block without a failure begins; none if there was none any more.
    back: Option<u64>,
}

impl Stretch {
    fn said(&self) -> String {
        let from = number::nanoseconds(self.starts);
        match self.back {
            Some(back) => {
                let after = number::nanoseconds(back.saturating_sub(self.starts));
                format!("failed from {from}, back after {after}")
            }
            None => format!("failed from {from}, not back at the end"),
        }
    }
}

/// A target that failed from the beginning was never there; that is no outage.
fn stretches(blocks: &[&BlockRecord]) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    let mut worked = false;
    let mut open = false;
    for block in blocks {
        match (block.failed > 0, open) {
            (true, false) if worked => {
                found.push(Stretch {
                    starts: block.start_ns,
                    back: None,
                });
                open = true;
            }
            (false, true) if block.done > 0 => {
                if let Some(last) = found.last_mut() {
                    last.back = Some(block.start_ns);
                }
                open = false;
            }
            (false, false) => worked |= block.done > 0,
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// One block a second: done and failed.
    fn blocks(counts: &[(u64, u64)]) -> Vec<BlockRecord> {
        let block = |(place, (done, failed)): (u64, &(u64, u64))| BlockRecord {
            run: 1,
            start_ns: place * SECOND,
            duration_ns: SECOND,
            done: *done,
            failed: *failed,
            ..BlockRecord::default()
        };
        (0..).zip(counts).map(block).collect()
    }

    fn said(counts: &[(u64, u64)]) -> Vec<String> {
        let blocks = blocks(counts);
        let blocks: Vec<_> = blocks.iter().collect();
        stretches(&blocks).iter().map(Stretch::said).collect()
    }

    #[test]
    fn a_stretch_of_failures_lasts_until_something_is_done_without_one() {
        assert_eq!(said(&[(9, 0), (9, 0)]), [""; 0]);
        assert_eq!(
            said(&[(9, 0), (9, 0), (4, 2), (0, 50), (0, 0), (9, 0), (9, 0)]),
            ["failed from 2.00 s, back after 3.00 s"]
        );
        assert_eq!(
            said(&[(9, 0), (4, 2), (0, 50)]),
            ["failed from 1.00 s, not back at the end"]
        );
        assert_eq!(
            said(&[(9, 0), (4, 2), (9, 0), (0, 1), (9, 0)]).len(),
            2,
            "each by itself"
        );
    }

    #[test]
    fn what_never_worked_did_not_come_back() {
        assert_eq!(said(&[(0, 5), (0, 5)]), [""; 0]);
        assert_eq!(said(&[(3, 5), (4, 5), (9, 0)]), [""; 0]);
    }
}
