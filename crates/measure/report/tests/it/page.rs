//! The page.

use keywright_measure::document::{Comparison, Document, RunRecord};
use keywright_report::html::{LIMIT, render};

use crate::documents::{HOSTILE, claimed, every, hostile, many, rich, without_samples};

#[test]
fn nothing_is_fetched_and_only_its_own_style_and_script_may_run() {
    for (name, document) in every() {
        let page = render(&document);
        let policy = page
            .split("Content-Security-Policy\" content=\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        assert!(
            policy.starts_with("default-src 'none'; style-src 'sha256-"),
            "{policy}"
        );
        assert!(
            !policy.contains("unsafe") && !policy.contains('*'),
            "{policy}"
        );
        let body = page.split("<body>").nth(1).unwrap();
        for tag in body.split("<script>").next().unwrap().split('<').skip(1) {
            let tag = tag.split('>').next().unwrap();
            let names: Vec<&str> = tag.split('"').step_by(2).collect();
            for forbidden in ["src=", "style=", " on", "action=", "formaction="] {
                assert!(
                    !names.iter().any(|name| name.contains(forbidden)),
                    "{name}: <{tag}>"
                );
            }
            assert!(
                !tag.contains("href=") || tag.contains("href=\"#c"),
                "{name}: <{tag}>"
            );
            assert!(
                !tag.starts_with("iframe") && !tag.starts_with("base") && !tag.starts_with("link")
            );
        }
        assert!(
            !page.contains("@import") && !page.contains("url(h"),
            "{name}"
        );
        assert_eq!(page.matches("<script>").count(), 1, "{name}");
    }
}

#[test]
fn names_are_escaped_wherever_they_stand() {
    let page = render(&hostile(HOSTILE));
    assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
    assert_eq!(page.matches("</script>").count(), 1);
    let quoted = render(&hostile("\" onload=\"alert(1)\" x='"));
    for piece in quoted.split(" onload=").skip(1) {
        assert!(piece.starts_with("&quot;"), "{}", &piece[..20]);
    }
}

/// What a page's tags look like as a tree: every element that is opened is closed, in order.
fn assert_balanced(page: &str, name: &str) {
    const VOID: [&str; 1] = ["meta"];
    let head = page.find("<script>").unwrap();
    let (start, end) = (
        page.find("</style>").unwrap(),
        page.find("</script>").unwrap(),
    );
    let text = format!("{}{}", &page[start..head], &page[end..]);
    let mut open: Vec<String> = ["html", "head", "style"].map(str::to_owned).into();
    let mut script = false;
    for piece in text.split('<').skip(1) {
        let tag = piece.split('>').next().unwrap();
        if let Some(closed) = tag.strip_prefix('/') {
            if closed == "script" && !script {
                script = true;
                continue;
            }
            assert_eq!(open.pop().as_deref(), Some(closed), "{name}: <{piece}");
        } else if !tag.ends_with('/') {
            let tag = tag.split(' ').next().unwrap();
            if !VOID.contains(&tag) {
                open.push(tag.to_owned());
            }
        }
    }
    assert!(open.is_empty(), "{name}: {open:?}");
}

#[test]
fn every_element_is_closed_in_order_for_every_document() {
    for (name, document) in every() {
        assert_balanced(&render(&document), name);
    }
}

#[test]
fn verdict_and_accounting_stand_before_any_plot_and_a_table_under_each() {
    let page = render(&rich());
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text}"));
    assert!(place("section class=\"verdict\"") < place("<svg"));
    assert!(place("class=\"summary\"") < place("<svg"));
    let case = &page[place("id=\"c0\"")..];
    let inside = |text: &str| case.find(text).unwrap();
    assert!(inside("CONCURRENCY") > inside("class=\"word good\""));
    assert!(inside("class=\"books\"") < inside("<figure>"));
    for figure in page.split("<figure>").skip(1) {
        let figure = figure.split("</figure>").next().unwrap();
        assert!(
            figure.contains("<svg") && figure.contains("<details>") && figure.contains("<td>"),
            "{figure}"
        );
    }
}

#[test]
fn every_plot_is_there_when_its_data_is() {
    let page = render(&rich());
    for title in [
        "Response time, histogram",
        "Service time, histogram",
        "Quantiles with 95 % intervals",
        "Response time over time",
        "Throughput over time",
        "In flight over time",
        "Fixed work beside it (noise)",
        "Every operation, in exactly one place",
        "Throughput against offered rate",
        "Response time against offered rate",
        "Scaling",
        "Time against size",
        "Where time goes",
        "Current over baseline: of a throughput above 1 is faster, of times and quantities slower or dearer",
    ] {
        assert!(page.contains(title), "{title}");
    }
    assert!(page.contains("recovery: 1.20 s after the spike"));
    assert!(page.len() < 200_000, "{}", page.len());
}

#[test]
fn what_is_not_there_is_not_drawn() {
    for document in [Document::default(), without_samples()] {
        let page = render(&document);
        assert!(!page.contains("<figure>") && !page.contains("NaN"));
        assert!(page.len() < 40_000, "{}", page.len());
    }
}

#[test]
fn the_target_is_shown_as_a_target_only() {
    let page = render(&claimed());
    for piece in page.split("100,000/s").collect::<Vec<_>>().windows(2) {
        let before = &piece[0][piece[0].len().saturating_sub(10)..];
        assert!(before.contains("target"), "{before}");
    }
    assert!(page.contains("do not quote") && page.contains("21,470/s"));
}

#[test]
fn a_hundred_cases_of_sixty_blocks_fit_and_say_what_was_joined() {
    let page = render(&many(100, 60));
    assert!(page.len() < LIMIT, "{}", page.len());
    assert_eq!(page.matches("class=\"case\"").count(), 100);
    assert!(page.matches("<figure>").count() >= 100);
    assert!(page.contains("this page joins neighbouring points"));
}

#[test]
fn no_number_of_cases_or_length_of_names_makes_a_page_too_large() {
    for document in [
        many(5_000, 3),
        many(400, 60),
        hostile(&"<&\"".repeat(30_000)),
    ] {
        let page = render(&document);
        assert!(page.len() < LIMIT, "{}", page.len());
    }
}

#[test]
fn no_figure_on_a_page_is_not_a_number() {
    for (name, document) in every() {
        let page = render(&document);
        let text = page
            .split("<body>")
            .nth(1)
            .unwrap()
            .split("<script>")
            .next()
            .unwrap();
        assert!(
            !text.contains("NaN") && !text.contains(">inf") && !text.contains(" inf "),
            "{name}"
        );
    }
}

/// Two cases of one session, the first compared with the second.
fn taken_in_turns(rates: [&[f64]; 2], against: &str) -> Document {
    let mut document = rich();
    document.cases.truncate(2);
    for (case, rates) in document.cases.iter_mut().zip(rates) {
        case.runs = (0..)
            .zip(rates)
            .map(|(run, rate)| RunRecord {
                run,
                achieved_per_s: *rate,
                ..RunRecord::default()
            })
            .collect();
    }
    document.comparison = vec![Comparison {
        case: document.cases[0].id.clone(),
        against: against.to_owned(),
        metric: "throughput".to_owned(),
        ratio: 1.25,
        ..Comparison::default()
    }];
    document
}

#[test]
fn cases_that_took_turns_are_drawn_pair_by_pair() {
    let other = rich().cases[1].id.clone();
    let document = taken_in_turns([&[80.0, 100.0, 50.0], &[100.0, 100.0, 100.0]], &other);
    let page = render(&document);
    let (_, drawn) = page.rsplit_once("pair by pair").unwrap();
    let ratios: Vec<_> = ["0.800", "1.000", "0.500"]
        .into_iter()
        .map(|ratio| drawn.find(&format!("</td><td>{ratio}</td></tr>")))
        .collect();
    assert!(
        ratios.iter().all(Option::is_some) && ratios.is_sorted(),
        "{ratios:?}"
    );
}

#[test]
fn a_stored_baseline_and_single_pairs_have_no_pairs_to_draw() {
    let other = rich().cases[1].id.clone();
    let (three, one): (&[f64], &[f64]) = (&[80.0, 90.0, 100.0], &[90.0]);
    for (rates, against) in [
        ([three, three], "main"),
        ([three, one], other.as_str()),
        ([three, &[]], other.as_str()),
        ([three, &[0.0, f64::NAN, 0.0]], other.as_str()),
    ] {
        let page = render(&taken_in_turns(rates, against));
        assert!(!page.contains("pair by pair"), "{against} {rates:?}");
    }
}
