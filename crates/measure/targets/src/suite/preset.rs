//! Presets: how many operations are measured and warmed up with, from a glance to a figure for others.

/// How thorough a case is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Preset {
    /// For a glance: quantiles beyond p90 do not stand.
    Quick,
    /// While developing: p95 stands.
    Dev,
    /// To compare with later: p99 stands.
    Baseline,
    /// For others to read: p99.9 stands.
    Production,
}

impl Preset {
    /// All of them, least thorough first.
    pub const ALL: [Self; 4] = [Self::Quick, Self::Dev, Self::Baseline, Self::Production];
    /// Their names, in the same order.
    pub const NAMES: &[&str] = &["quick", "dev", "baseline", "production"];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Dev => "dev",
            Self::Baseline => "baseline",
            Self::Production => "production",
        }
    }

    /// The preset of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.name() == name)
    }

    /// Operations of a run.
    #[must_use]
    pub const fn iterations(self) -> u64 {
        match self {
            Self::Quick => 100,
            Self::Dev => 500,
            Self::Baseline => 5_000,
            Self::Production => 10_000,
        }
    }

    /// Operations before it that do not count.
    #[must_use]
    pub const fn warmup(self) -> u64 {
        match self {
            Self::Quick => 5,
            Self::Dev => 20,
            Self::Baseline => 100,
            Self::Production => 200,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keywright_measure::latency::Percentile;

    #[test]
    fn names_and_presets_belong_together() {
        for (preset, name) in Preset::ALL.into_iter().zip(Preset::NAMES) {
            assert_eq!(preset.name(), *name);
            assert_eq!(Preset::named(name), Some(preset));
        }
        assert_eq!(Preset::named("Quick"), None);
    }

    #[test]
    fn the_quantiles_that_a_preset_speaks_of_stand_on_its_number_of_operations() {
        for (preset, percentile) in [
            (Preset::Quick, "p90"),
            (Preset::Dev, "p95"),
            (Preset::Baseline, "p99"),
            (Preset::Production, "p99.9"),
        ] {
            let percentile: Percentile = percentile.parse().unwrap();
            assert!(
                preset.iterations() >= percentile.needs(),
                "{}",
                preset.name()
            );
        }
        assert!(Preset::ALL.is_sorted_by_key(|preset| (preset.iterations(), preset.warmup())));
    }
}
