//! Change points of a history by E-Divisive.
//!
//! Source: Matteson & James, "A nonparametric approach for multiple change point analysis of
//! multivariate data" (J. Am. Stat. Assoc. 109, 2014), with the energy distance of exponent 1 and
//! the paper's hierarchical permutation test. One thing is simpler than there: a split is judged on
//! whole segments. The paper's second cut κ, which looks for a shorter right-hand side, is left
//! out; a pulse that returns to where it was is found by the next split instead.
//!
//! In one dimension the sums of distances for all splits follow from one sweep with a prefix-sum
//! tree over the ranks, O(n log n) instead of O(n²). Still, every permutation costs one such pass,
//! and every change found costs as many permutations again, so at most the newest 500 points are
//! looked at (a few milliseconds per change in an optimised build). What a history of thousands of
//! runs is asked is what changed lately.

use super::location::{median, sorted, usable};
use super::random::Generator;

/// The newest points that are looked at.
pub const WINDOW: usize = 500;

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain data: the four choices of the method"
)]
pub struct Detection {
    /// The fewest points between two changes; at least 2 is used.
    pub min_segment: usize,
    /// Permutations per test; the smallest p is 1 over one more.
    pub permutations: u32,
    /// The p at or below which a change is reported.
    pub significance: f64,
    /// The seed of the permutations.
    pub seed: u64,
}

impl Default for Detection {
    fn default() -> Self {
        Self {
            min_segment: 5,
            permutations: 199,
            significance: 0.05,
            seed: 0,
        }
    }
}

/// A change.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain data: where, how sure, from what to what"
)]
pub struct ChangePoint {
    /// The index in the series of the first point after the change.
    pub index: usize,
    /// The permutation p-value.
    pub p: f64,
    /// The median of the segment before.
    pub before: f64,
    /// The median of the segment after.
    pub after: f64,
}

/// The changes in a series, oldest first. `None` when the series is empty or not finite; an empty
/// list when it is too short or nothing changed.
#[must_use]
pub fn detect(series: &[f64], how: &Detection) -> Option<Vec<ChangePoint>> {
    if !usable(series) {
        return None;
    }
    let offset = series.len().saturating_sub(WINDOW);
    let window = &series[offset..];
    // Centred, because sums of distances are differences of large numbers otherwise.
    let centre = median(window)?;
    let centred: Vec<f64> = window.iter().map(|value| value - centre).collect();
    let mut search = Search {
        smallest: how.min_segment.max(2),
        generator: Generator::new(how.seed),
        tree: Vec::new(),
        left: Vec::new(),
    };
    // Segment borders, both ends included, and for the inner ones their p.
    let mut borders = vec![(0, 0.0), (window.len(), 0.0)];
    loop {
        let mut segments: Vec<Vec<Point>> = borders
            .windows(2)
            .map(|pair| points(&centred[pair[0].0..pair[1].0]))
            .collect();
        let mut best = Split::none();
        for (segment, border) in segments.iter().zip(&borders) {
            let within = search.best_split(segment);
            if within.energy > best.energy {
                best = Split {
                    at: within.at + border.0,
                    energy: within.energy,
                };
            }
        }
        let Some(p) = search.permutation_p(&mut segments, best.energy, how) else {
            break;
        };
        let place = borders.partition_point(|border| border.0 < best.at);
        borders.insert(place, (best.at, p));
    }
    borders
        .windows(3)
        .map(|three| describe(window, offset, three))
        .collect()
}

fn describe(window: &[f64], offset: usize, borders: &[(usize, f64)]) -> Option<ChangePoint> {
    let [(start, _), (index, p), (end, _)] = borders else {
        return None;
    };
    Some(ChangePoint {
        index: offset + index,
        p: *p,
        before: median(&window[*start..*index])?,
        after: median(&window[*index..*end])?,
    })
}

/// A value with what does not depend on the order of its segment.
#[derive(Clone, Copy)]
struct Point {
    value: f64,
    /// How many values of the segment are smaller.
    rank: usize,
    /// The sum of the distances to all values of the segment.
    reach: f64,
}

fn points(segment: &[f64]) -> Vec<Point> {
    let ordered = sorted(segment);
    let mut sums = vec![0.0];
    for value in &ordered {
        sums.push(sums.last().copied().unwrap_or(0.0) + value);
    }
    let (count, sum) = (ordered.len() as f64, sums[ordered.len()]);
    segment
        .iter()
        .map(|value| {
            let rank = ordered.partition_point(|other| other < value);
            let reach = 2.0 * (value * rank as f64 - sums[rank]) + sum - value * count;
            Point {
                value: *value,
                rank,
                reach,
            }
        })
        .collect()
}

/// A way to cut a segment in two.
struct Split {
    at: usize,
    energy: f64,
}

impl Split {
    fn none() -> Self {
        Self { at: 0, energy: 0.0 }
    }
}

/// The search's choices and its buffers.
struct Search {
    smallest: usize,
    generator: Generator,
    /// Counts and sums of the values seen so far, by rank (Fenwick, 1994).
    tree: Vec<(f64, f64)>,
    /// For each point the sum of its distances to the points before it.
    left: Vec<f64>,
}

impl Search {
    /// The p-value of the best split when it is significant: how often values shuffled within their
    /// segments allow a split at least as good. Stops as soon as significance is out of reach.
    fn permutation_p(
        &mut self,
        segments: &mut [Vec<Point>],
        observed: f64,
        how: &Detection,
    ) -> Option<f64> {
        if observed <= 0.0 {
            return None;
        }
        let all = f64::from(how.permutations) + 1.0;
        let mut reached = 1.0;
        for _ in 0..how.permutations {
            if reached / all > how.significance {
                return None;
            }
            let mut best = 0.0_f64;
            for segment in &mut *segments {
                if segment.len() >= 2 * self.smallest {
                    self.generator.shuffle(segment);
                    best = best.max(self.best_split(segment).energy);
                }
            }
            if best >= observed {
                reached += 1.0;
            }
        }
        let p = reached / all;
        (p <= how.significance).then_some(p)
    }

    /// The split of a segment with the largest scaled energy distance, both sides at least
    /// `smallest` long.
    fn best_split(&mut self, segment: &[Point]) -> Split {
        let mut best = Split::none();
        let count = segment.len();
        if count < 2 * self.smallest {
            return best;
        }
        self.measure(segment);
        let total = segment.iter().map(|point| point.reach).sum::<f64>() / 2.0;
        let (mut within_left, mut within_right) = (0.0, total);
        for (place, (point, left)) in segment.iter().zip(&self.left).enumerate() {
            within_left += left;
            within_right -= point.reach - left;
            let at = place + 1;
            if at < self.smallest || at + self.smallest > count {
                continue;
            }
            let (n, m) = (at as f64, (count - at) as f64);
            let between = total - within_left - within_right;
            let distance = 2.0 * between / (n * m)
                - 2.0 * within_left / (n * (n - 1.0))
                - 2.0 * within_right / (m * (m - 1.0));
            let energy = n * m / (n + m) * distance;
            // What rounding leaves of zero is no energy.
            if energy > best.energy.max(1e-10 * total / (n + m)) {
                best = Split { at, energy };
            }
        }
        best
    }

    /// Fills `left` for the points in their present order.
    fn measure(&mut self, segment: &[Point]) {
        self.tree.clear();
        self.tree.resize(segment.len() + 1, (0.0, 0.0));
        self.left.clear();
        let (mut seen, mut sum) = (0.0, 0.0);
        for Point { value, rank, .. } in segment {
            let (count_below, sum_below) = self.below(*rank);
            self.left
                .push(2.0 * (value * count_below - sum_below) + sum - value * seen);
            self.add(*rank, *value);
            seen += 1.0;
            sum += value;
        }
    }

    /// Count and sum of the values seen whose rank is below `rank`.
    fn below(&self, rank: usize) -> (f64, f64) {
        let (mut count, mut sum) = (0.0, 0.0);
        let mut node = rank;
        while node > 0 {
            count += self.tree[node].0;
            sum += self.tree[node].1;
            node &= node - 1;
        }
        (count, sum)
    }

    fn add(&mut self, rank: usize, value: f64) {
        let mut node = rank + 1;
        while let Some(slot) = self.tree.get_mut(node) {
            slot.0 += 1.0;
            slot.1 += value;
            node += node & node.wrapping_neg();
        }
    }
}
