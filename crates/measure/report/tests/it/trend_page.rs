//! Trends as a page: what it shows is what was found, and nothing on it can act.

use keywright_report::history::{History, Metric, Trend};
use keywright_report::html::{LIMIT, render, trends};

use crate::documents::HOSTILE;
use crate::history_samples::{achieved, noise, record_figures};

fn stepped(before: usize, after: usize) -> Trend {
    let mut figures = noise(3, 1000.0, before);
    figures.extend(noise(4, 800.0, after));
    let mut history = History::open_in_memory().unwrap();
    record_figures(&mut history, 0, &figures);
    history.trend("seal", Metric::Throughput).unwrap().unwrap()
}

#[test]
fn points_levels_and_changes_are_drawn_and_stand_in_tables() {
    let trend = stepped(30, 30);
    let page = trends(std::slice::from_ref(&trend));
    // One more in the legend.
    assert_eq!(page.matches("<circle class=\"o t0\"").count(), 60 + 1);
    // Two stretches with a gap between them.
    assert_eq!(page.matches("<polyline").count(), 2);
    let change = &trend.change_points[0];
    assert_eq!(change.index, 30);
    assert!(page.contains("-20") && page.contains("Changed at run"));
    for point in &trend.points {
        assert!(page.contains(point.run.as_str()));
    }
    assert!(page.contains("now over before") && page.contains("throughput over runs"));
}

#[test]
fn a_level_line_has_no_change_and_says_so() {
    let mut history = History::open_in_memory().unwrap();
    record_figures(&mut history, 0, &noise(5, 1000.0, 40));
    let trend = history.trend("seal", Metric::Throughput).unwrap().unwrap();
    let page = trends(&[trend]);
    assert!(page.contains("No change of level.") && !page.contains("Changed at run"));
    assert!(!page.contains("before the last change"));
    assert_eq!(page.matches("<polyline").count(), 1);
}

#[test]
fn few_points_and_none_are_pages_too() {
    assert!(trends(&[]).contains("no run of it yet"));
    for count in [1, 2, 4] {
        let mut history = History::open_in_memory().unwrap();
        record_figures(&mut history, 0, &noise(5, 1000.0, count));
        let trend = history.trend("seal", Metric::Throughput).unwrap().unwrap();
        let page = trends(&[trend]);
        assert_eq!(page.matches("<circle class=\"o t0\"").count(), count + 1);
        assert!(!page.contains("NaN") && !page.contains("inf"));
    }
}

#[test]
fn the_page_fetches_nothing_and_runs_only_what_its_policy_names() {
    let page = trends(&[stepped(30, 30), stepped(20, 40)]);
    let policy = |page: &str| {
        let rest = page.split("Content-Security-Policy\" content=\"").nth(1);
        rest.unwrap().split('"').next().unwrap().to_owned()
    };
    // The very policy of a report.
    assert_eq!(policy(&page), policy(&render(&achieved(1, 5.0))));
    for outside in ["src=", "@import", "url(h", " style=", " onload"] {
        let body = page.split("<body>").nth(1).unwrap();
        let body = body.split("<script>").next().unwrap();
        assert!(!body.contains(outside), "{outside}");
    }
    let links = page.matches("href=").count();
    assert_eq!(links, page.matches("href=\"#c").count());
    assert_eq!(page.matches("<script>").count(), 1);
}

#[test]
fn names_are_escaped() {
    let mut history = History::open_in_memory().unwrap();
    for number in 0..6 {
        let mut document = achieved(number, 1000.0);
        document.cases[0].id = HOSTILE.to_owned();
        document.tool.commit = Some(HOSTILE.to_owned());
        history.record(&document).unwrap();
    }
    let trend = history.trend(HOSTILE, Metric::Throughput).unwrap().unwrap();
    let page = trends(&[trend.clone(), trend]);
    assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"));
    assert_eq!(page.matches("</script>").count(), 1);
    assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'));
}

#[test]
fn a_long_history_of_many_cases_stays_one_small_page_with_the_newest_runs() {
    let mut history = History::open_in_memory().unwrap();
    record_figures(&mut history, 0, &noise(6, 1000.0, 3_000));
    let trend = history.trend("seal", Metric::Throughput).unwrap().unwrap();
    let newest = trend.points.last().unwrap().run.as_str().to_owned();
    let one = trends(std::slice::from_ref(&trend));
    assert!(one.len() < LIMIT && one.contains(&newest));
    assert!(
        one.contains("older runs are in the history") && one.contains("the newest of 3,000 runs")
    );
    let many = trends(&vec![trend; 300]);
    assert!(many.len() < LIMIT && many.contains(&newest));
    assert!(many.contains("more trends do not fit"));
}

#[test]
fn the_trends_of_the_newest_run_are_of_its_cases_in_its_order() {
    let mut history = History::open_in_memory().unwrap();
    assert_eq!(history.trends(&Metric::ALL).unwrap(), []);
    for number in 0..7 {
        let mut document = achieved(number, 1000.0);
        let mut second = document.cases[0].clone();
        second.id = "open".to_owned();
        if number % 2 == 0 {
            document.cases.insert(0, second);
        }
        history.record(&document).unwrap();
    }
    let found = history.trends(&Metric::ALL).unwrap();
    let names: Vec<(&str, Metric, usize)> = found
        .iter()
        .map(|trend| (trend.case.as_str(), trend.metric, trend.points.len()))
        .collect();
    // Quantiles and processor time were not measured.
    assert_eq!(
        names,
        [
            ("open", Metric::Throughput, 4),
            ("seal", Metric::Throughput, 7)
        ]
    );
    assert_eq!(history.trends(&[]).unwrap(), []);
}
