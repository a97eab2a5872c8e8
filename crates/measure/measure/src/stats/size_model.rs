//! What an operation costs by the size of its input: t(n) = a + b·n, and whether that is true.
//!
//! Sources: the weighted Theil–Sen line of Sievers (J. Am. Stat. Assoc. 73, 1978) and Scholz (Ann.
//! Stat. 6, 1978), the slope of each pair weighted by its distance. The intercept is the median of
//! t − b·n weighted by 1/t, because errors of times are relative: a large input says almost nothing
//! about the fixed cost. Intervals are percentile bootstrap: over the repetitions of each size when
//! there are any, otherwise over the relative residuals.
//!
//! A line can be drawn through anything. Two checks say where it must not be believed: a segment
//! between neighbouring sizes whose slope differs from the segment before by more than a quarter
//! and by more than the noise, and a size whose time is more than a quarter away from the line.

use super::bootstrap::Resampling;
use super::interval::Interval;
use super::location::{
    MAD_TO_DEVIATION, median, median_absolute_deviation, usable, weighted_median,
};
use super::random::Generator;
use super::trend::Line;

/// The relative difference from which a slope or a residual is a misfit.
pub const MISFIT: f64 = 0.25;
/// The relative noise assumed of a time at the least; repetitions may show more.
pub const NOISE_FLOOR: f64 = 0.05;

/// The repetitions at one size.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain data: a size and its times"
)]
pub struct SizePoint {
    /// The size in bytes.
    pub bytes: f64,
    /// One positive time per repetition, in one unit for all sizes.
    pub times: Vec<f64>,
}

/// The slope between two neighbouring sizes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain data: two sizes and the slope between"
)]
pub struct Segment {
    /// The smaller size in bytes.
    pub from: f64,
    /// The larger size in bytes.
    pub to: f64,
    /// Time per byte.
    pub slope: f64,
}

/// Why the line does not hold at a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MisfitReason {
    /// The cost per byte up to this size differs from that up to the size before.
    Bend,
    /// The time at this size is more than a quarter away from the line.
    Residual,
}

/// A size at which the line does not hold.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "plain data: where and why")]
pub struct Misfit {
    /// The size in bytes.
    pub bytes: f64,
    /// Why.
    pub reason: MisfitReason,
}

/// A fitted size model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SizeModel {
    /// a, the time per call.
    pub per_call: Interval,
    /// b, the time per byte; its reciprocal is the bandwidth.
    pub per_byte: Interval,
    /// The slopes between neighbouring sizes, in ascending order.
    pub segments: Vec<Segment>,
    /// Where the line does not hold; empty when it does everywhere.
    pub misfits: Vec<Misfit>,
}

/// One size, reduced.
#[derive(Clone, Copy)]
struct Spot {
    bytes: f64,
    time: f64,
    noise: f64,
}

/// Fits the model. Points may come in any order. `None` with fewer than three different sizes, a
/// size twice, a size without times, a number that is not finite and positive (a size may be 0), or an
/// unusable plan.
#[must_use]
pub fn fit(points: &[SizePoint], plan: &Resampling) -> Option<SizeModel> {
    let mut ordered: Vec<&SizePoint> = points.iter().collect();
    ordered.sort_by(|left, right| left.bytes.total_cmp(&right.bytes));
    let spots: Vec<Spot> = ordered
        .iter()
        .map(|point| spot(point))
        .collect::<Option<_>>()?;
    if !plan.sound()
        || spots.len() < 3
        || spots.windows(2).any(|pair| pair[0].bytes >= pair[1].bytes)
    {
        return None;
    }
    let pairs: Vec<(f64, f64)> = spots.iter().map(|spot| (spot.bytes, spot.time)).collect();
    let line = weighted_line(&pairs)?;
    let (calls, bytes) = resample(&ordered, &pairs, line, plan);
    if calls.is_empty() {
        return None;
    }
    let interval = |estimate: f64, drawn: &[f64]| {
        let (lo, hi) = plan.ends(drawn);
        // A median of few values can fall outside its own resamples' middle by rounding only.
        Interval {
            estimate,
            lo: lo.min(estimate),
            hi: hi.max(estimate),
            level: plan.level,
        }
    };
    Some(SizeModel {
        per_call: interval(line.intercept, &calls),
        per_byte: interval(line.slope, &bytes),
        segments: spots
            .windows(2)
            .map(|pair| segment(pair[0], pair[1]))
            .collect(),
        misfits: misfits(&spots, line),
    })
}

fn spot(point: &SizePoint) -> Option<Spot> {
    let sound = usable(&point.times) && point.times.iter().all(|time| *time > 0.0);
    if !sound || !point.bytes.is_finite() || point.bytes < 0.0 {
        return None;
    }
    let time = median(&point.times)?;
    // Twice the standard error of a median, as a share of it.
    let deviation = median_absolute_deviation(&point.times)? * MAD_TO_DEVIATION;
    let error = 2.0 * 1.253 * deviation / (point.times.len() as f64).sqrt();
    Some(Spot {
        bytes: point.bytes,
        time,
        noise: NOISE_FLOOR.max(error / time),
    })
}

fn weighted_line(pairs: &[(f64, f64)]) -> Option<Line> {
    let mut slopes = Vec::new();
    for (place, (x, y)) in pairs.iter().enumerate() {
        for (later_x, later_y) in &pairs[place + 1..] {
            slopes.push(((later_y - y) / (later_x - x), later_x - x));
        }
    }
    let slope = weighted_median(&slopes)?;
    let rests: Vec<(f64, f64)> = pairs
        .iter()
        .map(|(x, y)| (y - slope * x, y.abs().recip()))
        .collect();
    Some(Line {
        slope,
        intercept: weighted_median(&rests)?,
    })
}

fn segment(left: Spot, right: Spot) -> Segment {
    let slope = (right.time - left.time) / (right.bytes - left.bytes);
    Segment {
        from: left.bytes,
        to: right.bytes,
        slope,
    }
}

fn misfits(spots: &[Spot], line: Line) -> Vec<Misfit> {
    let mut found = Vec::new();
    for triple in spots.windows(3) {
        if bends(triple[0], triple[1], triple[2]) {
            found.push(Misfit {
                bytes: triple[2].bytes,
                reason: MisfitReason::Bend,
            });
        }
    }
    for spot in spots {
        let predicted = line.at(spot.bytes);
        if (spot.time - predicted).abs() > MISFIT * predicted.abs() {
            found.push(Misfit {
                bytes: spot.bytes,
                reason: MisfitReason::Residual,
            });
        }
    }
    found
}

/// Whether the slopes left and right of the middle size differ by more than a quarter of the left
/// one and by more than their noise.
fn bends(left: Spot, middle: Spot, right: Spot) -> bool {
    let (before, after) = (segment(left, middle), segment(middle, right));
    let noise = |from: Spot, to: Spot| {
        (from.noise * from.time + to.noise * to.time) / (to.bytes - from.bytes)
    };
    let difference = (after.slope - before.slope).abs();
    difference > MISFIT * before.slope.abs()
        && difference > noise(left, middle) + noise(middle, right)
}

/// Intercepts and slopes of the resampled series.
fn resample(
    points: &[&SizePoint],
    pairs: &[(f64, f64)],
    line: Line,
    plan: &Resampling,
) -> (Vec<f64>, Vec<f64>) {
    let mut generator = Generator::new(plan.seed);
    let repeated = points.iter().all(|point| point.times.len() > 1);
    let residuals: Vec<f64> = pairs
        .iter()
        .map(|(x, y)| (y - line.at(*x)) / line.at(*x).abs().max(f64::MIN_POSITIVE))
        .collect();
    let (mut calls, mut bytes) = (Vec::new(), Vec::new());
    for _ in 0..plan.resamples {
        let drawn: Vec<(f64, f64)> = if repeated {
            points
                .iter()
                .map(|point| (point.bytes, redraw(&point.times, &mut generator)))
                .collect()
        } else {
            let share = |generator: &mut Generator| residuals[generator.index(residuals.len())];
            pairs
                .iter()
                .map(|(x, _)| (*x, line.at(*x) * (1.0 + share(&mut generator))))
                .collect()
        };
        if let Some(line) = weighted_line(&drawn) {
            calls.push(line.intercept);
            bytes.push(line.slope);
        }
    }
    (calls, bytes)
}

fn redraw(times: &[f64], generator: &mut Generator) -> f64 {
    let mut sample = vec![0.0; times.len()];
    generator.resample(times, &mut sample);
    super::location::median_in_place(&mut sample)
}
