//! How a case was loaded, in words.

use keywright_measure::document::{Case, LoadRecord, PhaseRecord};

use crate::number;

/// What tells this case from others of its operation: `32 B`, `pss-sha256`, `threads 4`.
///
/// A value that is only a number is not understood alone, so it keeps its name.
pub(crate) fn parameters(case: &Case) -> Vec<String> {
    case.parameters
        .iter()
        .map(|(name, value)| match value.parse::<u64>() {
            Ok(size) if name == "size" || name.ends_with("_bytes") => {
                let what = name.trim_end_matches("_bytes");
                let what = if what == "size" {
                    String::new()
                } else {
                    format!("{what} ")
                };
                format!("{what}{}", number::bytes(size))
            }
            _ if value.parse::<f64>().is_ok() => format!("{name} {value}"),
            _ => value.clone(),
        })
        .collect()
}

/// `open, Poisson, target 2,000/s`, or `closed`.
pub(crate) fn load(load: &LoadRecord) -> String {
    let mut parts = vec![load.mode.clone()];
    parts.extend(load.arrival.as_deref().map(|arrival| match arrival {
        "poisson" => "Poisson".to_owned(),
        other => other.to_owned(),
    }));
    if load.phases.len() > 1 {
        let phases: Vec<String> = load.phases.iter().map(phase).collect();
        parts.push(format!(
            "{} phases: target {}",
            phases.len(),
            phases.join(", ")
        ));
    } else if let Some(rate) = load.rate_per_s {
        parts.push(format!("target {}", number::chosen_rate(rate)));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

fn phase(phase: &PhaseRecord) -> String {
    let start = number::chosen_rate(phase.rate_per_s);
    let rate = if phase.rate_per_s.to_bits() == phase.end_rate_per_s.to_bits() {
        start
    } else {
        format!("{start} to {}", number::chosen_rate(phase.end_rate_per_s))
    };
    format!("{rate} for {}", number::length(phase.duration_ns))
}

/// `30 s x 5 runs` or `1,000 operations x 5 runs`, the cap and the connections; what is not known is left out.
pub(crate) fn length(case: &Case) -> Vec<String> {
    let load = &case.load;
    let one = match load.iterations {
        Some(n) => Some(format!("{} operations", number::count(n))),
        None => (load.duration_ns > 0).then(|| number::length(load.duration_ns)),
    };
    let runs = case.runs.len();
    let mut out = Vec::new();
    out.extend(one.map(|one| {
        if runs > 1 {
            format!("{one} x {runs} runs")
        } else {
            one
        }
    }));
    if load.cap > 0 {
        out.push(format!("cap {}", number::count(load.cap)));
    }
    match load.connections {
        Some(1) => out.push("1 connection".to_owned()),
        Some(n) => out.push(format!("{} connections", number::count(n))),
        None => {}
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_number_keeps_the_name_of_its_parameter() {
        let mut case = Case::default();
        for (name, value) in [
            ("size_bytes", "65536"),
            ("aad_bytes", "16"),
            ("threads", "4"),
            ("mechanism", "pss"),
        ] {
            case.parameters.insert(name.to_owned(), value.to_owned());
        }
        assert_eq!(
            parameters(&case),
            ["aad 16 B", "pss", "64 KiB", "threads 4"]
        );
    }

    #[test]
    fn every_phase_is_told_with_its_rate_as_a_target() {
        let phase = |rate, end, s: u64| PhaseRecord {
            rate_per_s: rate,
            end_rate_per_s: end,
            duration_ns: s * 1_000_000_000,
        };
        let record = LoadRecord {
            mode: "open".into(),
            arrival: Some("poisson".into()),
            rate_per_s: Some(5_000.0),
            phases: vec![phase(5e3, 5e3, 10), phase(5e3, 5e4, 5)],
            ..LoadRecord::default()
        };
        let text = "open, Poisson, 2 phases: target 5,000/s for 10 s, 5,000/s to 50,000/s for 5 s";
        assert_eq!(load(&record), text);
        assert_eq!(load(&LoadRecord::default()), "");
    }
}
