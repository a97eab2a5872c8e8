//! The forms of other tools.

use keywright_measure::Word;
use keywright_measure::document::Document;
use keywright_report::exports::{Profile, bencher, bmf, github, hgrm, markdown, openmetrics};
use serde_json::Value;

use crate::documents::{every, hostile, rich};

#[test]
fn every_profile_takes_every_document() {
    for (name, document) in every() {
        for profile in Profile::ALL {
            let text = profile.render(&document).unwrap();
            assert!(text.is_empty() || text.ends_with('\n'), "{name} {profile}");
            assert!(
                !text.contains('\u{1b}') && !text.contains("NaN"),
                "{name} {profile}"
            );
        }
    }
}

#[test]
fn profiles_are_found_by_name_and_by_the_other_spellings_of_the_seed_forms() {
    for profile in Profile::ALL {
        assert_eq!(profile.name().parse(), Ok(profile));
    }
    assert_eq!("seed-a-json".parse(), Ok(Profile::SeedJson));
    assert_eq!("seed-a-csv".parse(), Ok(Profile::SeedCsv));
    for unknown in ["", "Bencher", "bencher ", "json", "seed", "seed-b-json"] {
        assert!(unknown.parse::<Profile>().is_err(), "{unknown}");
    }
}

/// `test NAME ... bench:   1,234 ns/iter (+/- 56)` taken apart as such readers do.
fn bench_line(line: &str) -> (String, f64, f64) {
    let (name, rest) = line
        .strip_prefix("test ")
        .unwrap()
        .split_once(" ... bench: ")
        .unwrap();
    let (time, spread) = rest
        .trim()
        .strip_suffix(')')
        .unwrap()
        .split_once(" ns/iter (+/- ")
        .unwrap();
    assert!(
        time.chars()
            .all(|c| c.is_ascii_digit() || c == ',' || c == '.'),
        "{line}"
    );
    let number = |text: &str| text.replace(',', "").parse().unwrap();
    (name.to_owned(), number(time), number(spread))
}

#[test]
fn bencher_lines_are_what_their_readers_cut_apart() {
    let text = bencher(&rich());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "test sign-mix ... bench:     412,000 ns/iter (+/- 7,500)"
    );
    assert_eq!(bench_line(lines[1]), ("blake3-32B".to_owned(), 412.0, 8.0));
    // awk '/bench:/ {print $2","$3}' takes the second and third word.
    for line in bencher(&hostile("a b\tc\u{a0}d")).lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!((words[0], words[2], words[3]), ("test", "...", "bench:"));
        assert!(words[1].starts_with("a_b_c_d"));
        bench_line(line);
    }
}

#[test]
fn fast_operations_are_not_zero_nanoseconds() {
    let mut document = rich();
    let times = document.cases[1].service.as_mut().unwrap();
    times.quantiles.get_mut("p50_ns").unwrap().value_ps = Some(350);
    let text = bencher(&document);
    assert_eq!(bench_line(text.lines().nth(1).unwrap()).1, 0.35);
}

#[test]
fn trackers_are_not_given_what_cannot_be_quoted() {
    for word in [
        Word::Saturated,
        Word::WrongOutput,
        Word::AccountingBroken,
        Word::Interrupted,
    ] {
        let mut document = rich();
        for case in &mut document.cases {
            case.verdicts.push(word);
        }
        assert_eq!(bencher(&document), "", "{word}");
        assert_eq!(bmf(&document).unwrap(), "{}\n", "{word}");
        assert_eq!(github(&document).unwrap(), "[]\n", "{word}");
    }
    for text in [
        bencher(&rich()),
        bmf(&rich()).unwrap(),
        github(&rich()).unwrap(),
    ] {
        assert!(
            text.contains("sign-mix") && !text.contains("encrypt-25k"),
            "{text}"
        );
    }
}

#[test]
fn a_bound_is_never_handed_on_as_the_quantile() {
    let mut document = rich();
    document.cases.retain(|case| case.id == "encrypt-25k");
    document.cases[0].verdicts = vec![Word::Valid];
    assert_eq!(bencher(&document), "");
    assert_eq!(github(&document).unwrap(), "[]\n");
    let all: Value = serde_json::from_str(&bmf(&document).unwrap()).unwrap();
    assert_eq!(
        all["encrypt-25k"]
            .as_object()
            .unwrap()
            .keys()
            .collect::<Vec<_>>(),
        ["throughput"]
    );
}

#[test]
fn bmf_has_measures_with_their_ends() {
    let all: Value = serde_json::from_str(&bmf(&rich()).unwrap()).unwrap();
    let case = &all["sign-mix"];
    assert_eq!(case["latency"]["value"], 412_000.0);
    assert_eq!(case["latency"]["lower_value"], 405_000.0);
    assert_eq!(case["latency-p99"]["upper_value"], 1_940_000.0);
    assert_eq!(case["throughput"]["value"], 1_999.7);
}

#[test]
fn github_entries_have_name_unit_and_value_and_one_direction() {
    let all: Value = serde_json::from_str(&github(&rich()).unwrap()).unwrap();
    for entry in all.as_array().unwrap() {
        assert!(entry["name"].is_string() && entry["value"].is_number());
        assert_eq!(entry["unit"], "ns");
    }
    assert_eq!(all[0]["name"], "sign-mix response p50");
    assert_eq!(all[0]["range"], "405000 to 420000 (95 % CI)");
}

#[test]
fn openmetrics_lines_are_families_samples_and_an_end() {
    for (name, document) in every() {
        let text = openmetrics(&document);
        assert!(text.ends_with("# EOF\n"), "{name}");
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (labels, value) = line.rsplit_once("} ").unwrap();
            assert!(value.parse::<f64>().unwrap().is_finite(), "{name}: {line}");
            assert!(labels.starts_with("keywright_bench_"), "{name}: {line}");
            let quotes = labels
                .replace("\\\\", "")
                .replace("\\\"", "")
                .matches('"')
                .count();
            assert_eq!(quotes % 2, 0, "{name}: {line}");
        }
    }
    let text = openmetrics(&rich());
    assert!(
        text.contains("kind=\"response\",quantile=\"0.999\",bound=\"exact\"} 0.0041\n"),
        "{text}"
    );
    assert!(text.contains("bound=\"at-least\""));
    assert!(text.contains("verdict=\"SATURATED\"} 1\n"));
}

#[test]
fn percentile_distributions_rise_and_end_with_everything() {
    let text = hgrm(&rich());
    for part in text.split("#[Case").skip(1) {
        let rows: Vec<Vec<f64>> = part
            .lines()
            .skip(1)
            .filter(|line| !line.contains('#') && !line.contains("Value"))
            .map(|line| {
                line.split_whitespace()
                    .map(|cell| cell.parse().unwrap())
                    .collect()
            })
            .filter(|row: &Vec<f64>| !row.is_empty())
            .collect();
        assert!(
            rows.windows(2)
                .all(|pair| pair[0][0] <= pair[1][0] && pair[0][1] <= pair[1][1]),
            "{part}"
        );
    }
    assert!(text.contains("#[Case = sign-mix, response time in ms]"));
    assert_eq!(hgrm(&Document::default()), "");
}

#[test]
fn names_stay_inside_their_markdown_cell() {
    for (name, document) in every() {
        let text = markdown(&document);
        let row = |line: &&str| line.starts_with("| ");
        for line in text.lines().filter(row) {
            let cells = line
                .replace("\\\\", "")
                .replace("\\|", "")
                .matches('|')
                .count();
            assert_eq!(cells, 10, "{name}: {line}");
        }
        let outside: String = text
            .lines()
            .filter(|line| !line.starts_with("Run "))
            .collect();
        assert!(
            !outside.contains("<script") && !outside.replace("\\]", "").contains("]("),
            "{name}"
        );
    }
}
