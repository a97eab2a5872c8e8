//! A histogram in characters.

use keywright_measure::document::{Bin, Latency};

use crate::number;

const ROWS: usize = 20;
const WIDTH: f64 = 40.0;

/// One line per bin; neighbouring bins are joined where there are more than twenty.
pub(super) fn lines(latency: &Latency) -> Vec<String> {
    let bins = joined(&latency.bins);
    let most = bins.iter().map(|bin| bin.n).max().unwrap_or(0);
    let all: u64 = bins.iter().map(|bin| bin.n).fold(0, u64::saturating_add);
    if most == 0 {
        return Vec::new();
    }
    bins.iter()
        .map(|bin| {
            let share = number::part(bin.n, all)
                .map(number::share)
                .unwrap_or_default();
            let end = number::nanoseconds(bin.to_ns);
            format!(
                "<= {end:>9} {:>13} {share:>9}  {}",
                number::count(bin.n),
                bar(bin.n, most)
            )
            .trim_end()
            .to_owned()
        })
        .collect()
}

/// A bin that holds anything has at least one mark.
fn bar(n: u64, most: u64) -> String {
    let marks = (number::float(n) / number::float(most) * WIDTH).round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to 40"
    )]
    let marks = marks as usize;
    "#".repeat(marks.max(usize::from(n > 0)))
}

fn joined(bins: &[Bin]) -> Vec<Bin> {
    let group = bins.len().div_ceil(ROWS).max(1);
    bins.chunks(group)
        .map(|chunk| Bin {
            to_ns: chunk.iter().map(|bin| bin.to_ns).max().unwrap_or(0),
            n: chunk.iter().map(|bin| bin.n).fold(0, u64::saturating_add),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joining_bins_keeps_every_value_and_the_last_end() {
        let bins: Vec<Bin> = (1..=47)
            .map(|k| Bin {
                to_ns: k * 1_000,
                n: k,
            })
            .collect();
        let joined = joined(&bins);
        assert!(joined.len() <= ROWS);
        assert_eq!(joined.iter().map(|bin| bin.n).sum::<u64>(), 47 * 48 / 2);
        assert_eq!(joined.last().map(|bin| bin.to_ns), Some(47_000));
    }

    #[test]
    fn rare_values_stay_visible_and_nothing_draws_nothing() {
        let latency = Latency {
            bins: vec![
                Bin {
                    to_ns: 1_000,
                    n: 1_000_000,
                },
                Bin { to_ns: 2_000, n: 1 },
                Bin { to_ns: 3_000, n: 0 },
            ],
            ..Latency::default()
        };
        let lines = lines(&latency);
        assert_eq!(lines[0].matches('#').count(), 40);
        assert_eq!(lines[1].matches('#').count(), 1);
        assert_eq!(lines[2].matches('#').count(), 0);
        assert!(super::lines(&Latency::default()).is_empty());
    }
}
