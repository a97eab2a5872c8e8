//! What stands on the terminal.

use keywright_measure::Word;
use keywright_report::Style;
use keywright_report::text::{Detail, Settings, render, summary_table};

use crate::documents::{claimed, every, rich, without_samples};

/// Lines with every run of blanks as one: what is said, without how it is spaced.
fn said(text: &str) -> Vec<String> {
    text.lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn the_report_of_a_hundred_thousand_requests_says_what_it_should_have_said() {
    let lines = said(&render(&claimed(), Settings::default()));
    let wanted = said(
        "encrypt  service  12 B  HTTP/2 mTLS   open, constant, target 100,000/s   30 s   cap 2,000
         achieved  21,470/s (21.5 % of target)   planned 3,000,000  sent 644,100  never sent 2,355,900 (78.5 %)  verified 0 (outputs not checked)
         response  p50 >= 11.8 s   p95 >= 22.4 s   p99 >= 23.3 s          service mean about 93 ms = 2,000 / 21,470: set by the cap, do not quote
         capacity  near target at 20,000/s, fails at 25,000/s (backlog grows); 1 -> 4 cores: speed-up 1.04, efficiency 26 %, serial fraction 0.95
         SATURATED  CONCURRENCY-LIMITED  CO-LOCATED        exit 6 measurement_invalid",
    );
    assert_eq!(lines[..5], wanted);
    assert!(lines[5].is_empty());
}

#[test]
fn a_sound_case_has_response_before_service_and_its_words_last() {
    let text = render(&rich(), Settings::default());
    let block: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(
        block[0],
        "sign.ecdsa-p256   soft   32 B   open, Poisson, target 2,000/s   30 s x 5 runs   cap 64   4 connections"
    );
    assert!(
        block[1]
            .starts_with("  achieved  2,000/s [1,996-2,003] (100.0 % of target)   sent 120,000")
    );
    assert!(
        block[2].starts_with("  response  p50 412 us [405-420]"),
        "{}",
        block[2]
    );
    assert!(block[2].contains("p99.9 4.10 ms [3.60-5.20]   max 9.02 ms   (95 % CI, n=119,980)"));
    assert!(block[3].starts_with(
        "  service   p50 396 us   p99 1.76 ms   lateness p99 22.0 us (pacer p99 9.15 us"
    ));
    let last = block[block.len() - 1];
    assert_eq!(
        last,
        "  PASS throughput vs main: ratio 1.004 [0.991-1.017], threshold 10 %, p 0.60  VALID"
    );
}

#[test]
fn what_was_offered_is_nowhere_a_result() {
    for (name, document) in every() {
        for detail in [Detail::Brief, Detail::Normal, Detail::Verbose] {
            let text = render(&document, Settings::new(Style::Plain, detail));
            let offered = |word: &str| {
                let figure = word.trim_matches(|c: char| !c.is_ascii_digit() && c != 's');
                matches!(figure, "100,000/s" | "25,000/s")
            };
            for line in text
                .lines()
                .filter(|line| line.split_whitespace().any(offered))
            {
                let told = line.contains("target") || line.contains("fails at");
                assert!(told, "{name}: {line}");
            }
            assert!(!text.contains("100 % success"), "{name}");
        }
    }
}

#[test]
fn no_positive_figure_is_printed_as_zero_and_nothing_as_not_a_number() {
    for (name, document) in every() {
        let text = render(&document, Settings::new(Style::Plain, Detail::Verbose));
        for word in text.split_whitespace() {
            assert!(
                !matches!(word, "NaN" | "inf" | "-inf" | "0.00" | "0.000"),
                "{name}: {text}"
            );
        }
        assert!(!text.contains("NaN"), "{name}");
    }
}

#[test]
fn withheld_quantiles_say_how_many_values_there_were() {
    let text = render(&rich(), Settings::default());
    assert!(text.contains("p99.9 n/a (n=800)"), "{text}");
    assert!(text.contains("percentiles of batch means, k = 256"));
}

#[test]
fn colour_adds_nothing_but_colour() {
    for (name, document) in every() {
        for detail in [Detail::Normal, Detail::Verbose] {
            let plain = render(&document, Settings::new(Style::Plain, detail));
            let mut ansi = render(&document, Settings::new(Style::Ansi, detail));
            assert!(!plain.contains('\u{1b}'), "{name}");
            for code in [
                "\u{1b}[0m",
                "\u{1b}[1m",
                "\u{1b}[2m",
                "\u{1b}[31m",
                "\u{1b}[32m",
                "\u{1b}[33m",
            ] {
                ansi = ansi.replace(code, "");
            }
            assert_eq!(plain, ansi, "{name}");
        }
    }
}

#[test]
fn histograms_runs_and_all_quantiles_are_for_those_who_ask() {
    let normal = render(&rich(), Settings::default());
    let verbose = render(&rich(), Settings::new(Style::Plain, Detail::Verbose));
    assert!(!normal.contains("####") && verbose.contains("####"));
    assert!(!normal.contains("  run       0") && verbose.contains("  run       0   1,998/s"));
    let brief = render(&rich(), Settings::new(Style::Plain, Detail::Brief));
    assert!(brief.starts_with("Operation") && !brief.contains("achieved"));
}

#[test]
fn the_summary_is_aligned_and_says_the_word_that_decides() {
    let table = summary_table(&rich());
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("Operation ") && lines[0].ends_with("Verdict"));
    assert!(
        lines
            .iter()
            .all(|line| line.chars().count() == lines[0].chars().count()),
        "{table}"
    );
    let row = lines
        .iter()
        .find(|line| line.starts_with("encrypt-25k"))
        .unwrap();
    assert!(
        row.contains(">= 900 ms") && row.ends_with(Word::Saturated.text()),
        "{row}"
    );
    assert!(
        lines
            .iter()
            .any(|line| line.contains("n/a") && line.starts_with("blake3-32B"))
            || table.contains("1.01 us")
    );
}

#[test]
fn remarks_come_once_with_their_remedy_and_the_last_line_repeats_the_run() {
    let mut document = rich();
    document.validity.push(document.validity[0].clone());
    let text = render(&document, Settings::default());
    assert_eq!(
        text.matches("generator and target share 2 cores").count(),
        1
    );
    assert!(text.contains("\n  remedy: pin them apart or use a second machine\n"));
    assert!(text.contains("gate holds: sign.p99 <= 2 ms"));
    assert_eq!(
        text.lines().last().unwrap(),
        "run 00112233aabbccdd   seed 42   keywright 0.1.0 release   repeat: keywright bench run suites/ci.toml --seed 42"
    );
}

#[test]
fn nothing_known_is_nothing_claimed() {
    let text = render(&without_samples(), Settings::default());
    assert!(
        text.contains("sent 0   verified 0   wrong 0   errors 0   never sent 0"),
        "{text}"
    );
    assert!(!text.contains("response") && !text.contains("p50 "));
    assert_eq!(
        render(
            &keywright_measure::document::Document::default(),
            Settings::default()
        ),
        "seed 0\n"
    );
}

#[test]
fn a_quantity_that_is_no_rate_is_shown_in_its_unit() {
    let text = render(&rich(), Settings::default());
    assert!(text.contains("  measured  12.3 MiB   sent 0"), "{text}");
    let row = text
        .lines()
        .find(|line| line.starts_with("idle-memory "))
        .unwrap();
    assert!(row.contains(" 12.3 MiB ") && !row.contains("0/s"), "{row}");
}

#[test]
fn what_is_true_of_many_cases_is_said_once() {
    let text = render(&crate::documents::many(100, 1), Settings::default());
    let line =
        "note (case-0, case-1, case-2 and 97 more): 1 block was cut from the front of each run\n";
    assert_eq!(text.matches(line).count(), 1);
    assert_eq!(text.matches("was cut").count(), 1);
}
