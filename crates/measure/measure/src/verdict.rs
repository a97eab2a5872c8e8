//! Verdict words and the exit codes they lead to.
//!
//! A case carries every word that applies; the first of [`Word::ALL`]'s order decides it. Over cases the
//! exit codes have an order of their own, [`Exit::worst`]: what was interrupted or broke comes before what
//! was measured badly, and that before what could not be decided.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One word about a measurement.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE")]
#[non_exhaustive]
pub enum Word {
    /// Planned and counted operations differ: a bug of the engine.
    AccountingBroken,
    /// The target answered with wrong bytes.
    WrongOutput,
    /// The objective was missed, and the measurement is sound enough to say so.
    SloMissed,
    /// The generator itself could not make the load.
    GeneratorLimited,
    /// The target did not keep up with the offered rate.
    Saturated,
    /// The cap on operations in flight decided the latency.
    ConcurrencyLimited,
    /// More operations failed than the budget allows.
    TargetErrors,
    /// Machine, settings or build differ from the baseline's.
    NotComparable,
    /// There is no baseline of this name.
    NoBaseline,
    /// Slower than the baseline, beyond threshold and doubt.
    Regression,
    /// Neither a regression nor its absence is shown.
    Inconclusive,
    /// The machine was too noisy for what was asked.
    Noisy,
    /// A quantile was asked for that so few samples cannot carry.
    TooFewSamples,
    /// The run never came to rest.
    NotSteady,
    /// Stopped by hand; what was done until then is reported.
    Interrupted,
    /// Faster than the baseline, beyond threshold and doubt.
    Improved,
    /// Within the threshold of the baseline, shown by an interval.
    Pass,
    /// Nothing speaks against the figure.
    Valid,
    /// Fact: generator and target share cores.
    CoLocated,
    /// Fact: the next operation started when one ended, so no response time can be claimed.
    ClosedLoop,
    /// Fact: an unoptimised build.
    DebugBuild,
    /// Fact: a build for a first look, little optimised.
    QuickBuild,
    /// Fact: one run, so nothing is known about the spread between runs.
    SingleRun,
    /// Fact: calculated, not measured.
    Extrapolated,
    /// Fact: a stand-in spoke the protocol of the named product.
    StandIn,
}

impl Word {
    /// Every word, in the order in which they decide a case.
    pub const ALL: [Self; 25] = [
        Self::AccountingBroken,
        Self::WrongOutput,
        Self::SloMissed,
        Self::GeneratorLimited,
        Self::Saturated,
        Self::ConcurrencyLimited,
        Self::TargetErrors,
        Self::NotComparable,
        Self::NoBaseline,
        Self::Regression,
        Self::Inconclusive,
        Self::Noisy,
        Self::TooFewSamples,
        Self::NotSteady,
        Self::Interrupted,
        Self::Improved,
        Self::Pass,
        Self::Valid,
        Self::CoLocated,
        Self::ClosedLoop,
        Self::DebugBuild,
        Self::QuickBuild,
        Self::SingleRun,
        Self::Extrapolated,
        Self::StandIn,
    ];

    /// The word as it is printed.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::AccountingBroken => "ACCOUNTING-BROKEN",
            Self::WrongOutput => "WRONG-OUTPUT",
            Self::SloMissed => "SLO-MISSED",
            Self::GeneratorLimited => "GENERATOR-LIMITED",
            Self::Saturated => "SATURATED",
            Self::ConcurrencyLimited => "CONCURRENCY-LIMITED",
            Self::TargetErrors => "TARGET-ERRORS",
            Self::NotComparable => "NOT-COMPARABLE",
            Self::NoBaseline => "NO-BASELINE",
            Self::Regression => "REGRESSION",
            Self::Inconclusive => "INCONCLUSIVE",
            Self::Noisy => "NOISY",
            Self::TooFewSamples => "TOO-FEW-SAMPLES",
            Self::NotSteady => "NOT-STEADY",
            Self::Interrupted => "INTERRUPTED",
            Self::Improved => "IMPROVED",
            Self::Pass => "PASS",
            Self::Valid => "VALID",
            Self::CoLocated => "CO-LOCATED",
            Self::ClosedLoop => "CLOSED-LOOP",
            Self::DebugBuild => "DEBUG-BUILD",
            Self::QuickBuild => "QUICK-BUILD",
            Self::SingleRun => "SINGLE-RUN",
            Self::Extrapolated => "EXTRAPOLATED",
            Self::StandIn => "STAND-IN",
        }
    }

    /// Whether the word only states a fact beside the verdict.
    #[must_use]
    pub const fn is_fact(self) -> bool {
        matches!(
            self,
            Self::CoLocated
                | Self::ClosedLoop
                | Self::DebugBuild
                | Self::QuickBuild
                | Self::SingleRun
                | Self::Extrapolated
                | Self::StandIn
        )
    }

    /// The exit code this word leads to when something depended on it.
    #[must_use]
    pub const fn exit(self) -> Exit {
        match self {
            Self::AccountingBroken
            | Self::GeneratorLimited
            | Self::Saturated
            | Self::ConcurrencyLimited => Exit::MeasurementInvalid,
            Self::WrongOutput | Self::TargetErrors => Exit::TargetWrong,
            Self::SloMissed | Self::Regression => Exit::GateFailed,
            Self::NotComparable | Self::NoBaseline => Exit::NotComparable,
            Self::Inconclusive | Self::Noisy | Self::TooFewSamples | Self::NotSteady => {
                Exit::Inconclusive
            }
            Self::Interrupted => Exit::Interrupted,
            _ => Exit::Ok,
        }
    }
}

impl std::fmt::Display for Word {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.pad(self.text())
    }
}

/// How a measurement ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Exit {
    /// Everything measured and held.
    Ok,
    /// A bug, or the system refused.
    Internal,
    /// The command or the suite is wrong.
    Usage,
    /// A gate or an objective was missed, and that is proven.
    GateFailed,
    /// Something depended on a figure that could not be decided.
    Inconclusive,
    /// Wrong outputs, or more errors than the budget.
    TargetWrong,
    /// The figure does not mean what it was asked to mean.
    MeasurementInvalid,
    /// No baseline, or one from elsewhere.
    NotComparable,
    /// Stopped by hand.
    Interrupted,
}

impl Exit {
    /// The worse of two, by the order in which exit codes decide over cases.
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        if self.rank() <= other.rank() {
            self
        } else {
            other
        }
    }

    const fn rank(self) -> u8 {
        match self {
            Self::Interrupted => 0,
            Self::Internal => 1,
            Self::Usage => 2,
            Self::TargetWrong => 3,
            Self::GateFailed => 4,
            Self::MeasurementInvalid => 5,
            Self::NotComparable => 6,
            Self::Inconclusive => 7,
            Self::Ok => 8,
        }
    }

    /// The number of the command line's table of exit codes.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Internal => 1,
            Self::Usage => 2,
            Self::GateFailed => 3,
            Self::Inconclusive => 4,
            Self::TargetWrong => 5,
            Self::MeasurementInvalid => 6,
            Self::NotComparable => 7,
            Self::Interrupted => 130,
        }
    }

    /// The name that goes with the number.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Internal => "internal",
            Self::Usage => "usage",
            Self::GateFailed => "gate_failed",
            Self::Inconclusive => "inconclusive",
            Self::TargetWrong => "target_wrong",
            Self::MeasurementInvalid => "measurement_invalid",
            Self::NotComparable => "not_comparable",
            Self::Interrupted => "interrupted",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_word_is_the_serialised_one_and_the_order_is_the_declared_one() {
        for (place, word) in Word::ALL.iter().enumerate() {
            let json = serde_json::to_string(word).unwrap();
            assert_eq!(json, format!("\"{}\"", word.text()));
            assert!(Word::ALL[..place].iter().all(|earlier| earlier < word));
        }
    }

    #[test]
    fn interruption_beats_every_other_end_and_ok_beats_none() {
        let ends = [
            Exit::Internal,
            Exit::TargetWrong,
            Exit::GateFailed,
            Exit::MeasurementInvalid,
            Exit::NotComparable,
            Exit::Inconclusive,
            Exit::Ok,
        ];
        for (place, end) in ends.iter().enumerate() {
            assert_eq!(end.worst(Exit::Interrupted), Exit::Interrupted);
            for later in &ends[place..] {
                assert_eq!(end.worst(*later), *end);
                assert_eq!(later.worst(*end), *end);
            }
        }
    }
}
