//! What contradicts what.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A rule that figures can break. The code is stable: it stands in scripts and baselines of users.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Check {
    /// Planned, sent and answered operations do not balance.
    Accounting,
    /// The rate stayed under what was asked for, and the row does not say so.
    AchievedBelowTarget,
    /// Bytes divided by time is another throughput than the one printed.
    BytesOverTime,
    /// A difference is reported for an operation shorter than what the printed times can show.
    DifferenceBelowResolution,
    /// A difference is not the one of the two values beside it.
    DifferenceOfOthers,
    /// A JSON object has the same key twice.
    DuplicateKey,
    /// Two results have one name.
    DuplicateName,
    /// Speed-up divided by threads is another efficiency than printed, or a poor one nobody mentions.
    Efficiency,
    /// A progress bar shows another time than count divided by rate.
    ElapsedDoesNotFit,
    /// Latency is higher at the lower load.
    LatencyFallsWithLoad,
    /// Passed although outside the stated bound.
    LimitExceeded,
    /// Concurrency divided by rate is another mean than printed, or is all that the mean says.
    LittlesLaw,
    /// A time is printed as zero.
    PrintedAsZero,
    /// A sentence and a table of one document say different things.
    ProseContradictsTable,
    /// Two neighbouring quantiles are the same in every row.
    QuantileEqualsNext,
    /// A quantile has too few samples behind it.
    QuantileFromTooFewSamples,
    /// One quantile has the same value at every load.
    QuantileNeverMoves,
    /// A lower quantile is above a higher one.
    QuantileOrder,
    /// The rate no longer grows with the threads.
    RateStopsGrowing,
    /// Rate times time is not the count.
    RateTimesTime,
    /// A total is not the sum of its parts.
    TotalDoesNotAddUp,
}

impl Check {
    /// Every check, in the order of its code.
    pub const ALL: [Self; 21] = [
        Self::Accounting,
        Self::AchievedBelowTarget,
        Self::BytesOverTime,
        Self::DifferenceBelowResolution,
        Self::DifferenceOfOthers,
        Self::DuplicateKey,
        Self::DuplicateName,
        Self::Efficiency,
        Self::ElapsedDoesNotFit,
        Self::LatencyFallsWithLoad,
        Self::LimitExceeded,
        Self::LittlesLaw,
        Self::PrintedAsZero,
        Self::ProseContradictsTable,
        Self::QuantileEqualsNext,
        Self::QuantileFromTooFewSamples,
        Self::QuantileNeverMoves,
        Self::QuantileOrder,
        Self::RateStopsGrowing,
        Self::RateTimesTime,
        Self::TotalDoesNotAddUp,
    ];

    /// The stable code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Accounting => "accounting",
            Self::AchievedBelowTarget => "achieved-below-target",
            Self::BytesOverTime => "bytes-over-time",
            Self::DifferenceBelowResolution => "difference-below-resolution",
            Self::DifferenceOfOthers => "difference-of-others",
            Self::DuplicateKey => "duplicate-key",
            Self::DuplicateName => "duplicate-name",
            Self::Efficiency => "efficiency",
            Self::ElapsedDoesNotFit => "elapsed-does-not-fit",
            Self::LatencyFallsWithLoad => "latency-falls-with-load",
            Self::LimitExceeded => "limit-exceeded",
            Self::LittlesLaw => "littles-law",
            Self::PrintedAsZero => "printed-as-zero",
            Self::ProseContradictsTable => "prose-contradicts-table",
            Self::QuantileEqualsNext => "quantile-equals-next",
            Self::QuantileFromTooFewSamples => "quantile-from-too-few-samples",
            Self::QuantileNeverMoves => "quantile-never-moves",
            Self::QuantileOrder => "quantile-order",
            Self::RateStopsGrowing => "rate-stops-growing",
            Self::RateTimesTime => "rate-times-time",
            Self::TotalDoesNotAddUp => "total-does-not-add-up",
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// Where a figure stands.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Place {
    /// The line, counted from 1; none in JSON, where `row` names the path.
    pub line: Option<usize>,
    /// The name of the row, case, or relation.
    pub row: String,
    /// The columns that contradict each other, as the file calls them.
    pub columns: Vec<String>,
}

/// One contradiction.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[must_use]
#[non_exhaustive]
pub struct Finding {
    /// The rule.
    pub check: Check,
    /// Where.
    pub place: Place,
    /// What the file says, in its own digits.
    pub claimed: String,
    /// What follows from the other figures.
    pub recomputed: String,
    /// Both in one sentence.
    pub sentence: String,
}

impl Finding {
    pub(crate) fn new(check: Check, place: Place, claimed: String, recomputed: String) -> Self {
        let sentence = format!("{}: the file says {claimed}, but {recomputed}", place.row);
        Self {
            check,
            place,
            claimed,
            recomputed,
            sentence,
        }
    }
}
