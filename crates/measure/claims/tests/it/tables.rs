//! Single rules over small tables.

use keywright_claims::Check;

use crate::reading::codes;

fn table(heads: &str, rows: &[&str]) -> Vec<Check> {
    let rule = heads
        .split('|')
        .map(|_| "---")
        .collect::<Vec<_>>()
        .join("|");
    let rows: String = rows.iter().map(|row| format!("|{row}|\n")).collect();
    codes("a.md", &format!("|{heads}|\n|{rule}|\n{rows}"))
}

#[test]
fn a_rate_is_the_count_over_the_time_within_the_printed_digits() {
    let heads = "name|iterations|total time|ops/s";
    assert_eq!(table(heads, &["a|1000|45.78 s|21.84"]), []);
    assert_eq!(table(heads, &["a|1000|46 s|21.8"]), []);
    assert_eq!(
        table(heads, &["a|1000|45.78 s|24.84"]),
        [Check::RateTimesTime]
    );
    assert_eq!(
        table(heads, &["a|1000|0 s|24.84"]),
        [Check::RateTimesTime, Check::PrintedAsZero]
    );
    assert_eq!(table(heads, &["a|many|45.78 s|24.84"]), []);
}

#[test]
fn the_rate_of_several_threads_is_not_the_inverse_of_the_average() {
    assert_eq!(
        table("name|throughput|avg latency", &["a|20,000 req/s|99 ms"]),
        []
    );
    assert_eq!(table("threads|throughput|avg (ms)", &["16|20,000|0.8"]), []);
    assert_eq!(
        table("threads|throughput|avg (ms)", &["16|20,000|1.8"]),
        [Check::LittlesLaw]
    );
}

#[test]
fn a_mean_under_a_cap_that_was_full_says_nothing() {
    let heads = "target rate|achieved rate|cap|mean (ms)|note";
    assert_eq!(
        table(heads, &["100,000|21,470|2,000|93|SATURATED"]),
        [Check::LittlesLaw]
    );
    assert_eq!(table(heads, &["100,000|21,470|2,000|20|SATURATED"]), []);
    assert_eq!(table(heads, &["20,000|19,990|2,000|20|"]), []);
}

#[test]
fn either_reading_of_a_megabyte_is_taken() {
    let heads = "size|time (us)|throughput";
    for good in [
        "1 KiB|14|68 MB/s",
        "1 KiB|14|73 MB/s",
        "1 MiB|700|1.4 GB/s",
        "1 MB|1000|1000 MB/s",
    ] {
        assert_eq!(table(heads, &[good]), [], "{good}");
    }
    assert_eq!(table(heads, &["1 KiB|14|80 MB/s"]), [Check::BytesOverTime]);
    assert_eq!(
        table(heads, &["1 MiB|700|1.4 MB/s"]),
        [Check::BytesOverTime]
    );
}

#[test]
fn times_without_a_unit_are_compared_with_each_other_only() {
    assert_eq!(table("n|p50|p99|ops/s", &["a|1|2|500"]), []);
    assert_eq!(
        table("n|p50|p99|ops/s", &["a|4|2|500"]),
        [Check::QuantileOrder]
    );
}

#[test]
fn equal_quantiles_are_found_only_where_rounding_does_not_explain_them() {
    let heads = "name|p95 (ms)|p99 (ms)";
    assert_eq!(
        table(heads, &["a|0.03|0.03", "b|0.01|0.01", "c|0.02|0.02"]),
        []
    );
    assert_eq!(table(heads, &["a|0.42|0.42", "b|0.01|0.01"]), []);
    assert_eq!(
        table(heads, &["a|0.42|0.42", "b|0.01|0.01", "c|1.01|1.02"]),
        []
    );
    let all = ["a|0.42|0.42", "b|0.01|0.01", "c|1.01|1.01"];
    assert_eq!(table(heads, &all), [Check::QuantileEqualsNext]);
}

#[test]
fn a_bound_binds_what_is_called_good_only() {
    let heads = "what|goal|measured|status";
    for good in [
        "a|< 5 ms|4 ms|OK",
        "a|< 5 ms|9 ms|missed",
        "a|5 ms|9 ms|OK",
        "a|< 5 ms|9 MB/s|OK",
    ] {
        assert_eq!(table(heads, &[good]), [], "{good}");
    }
    for bad in [
        "a|< 5 ms|9 ms|OK",
        "a|> 600 MB/s|500 MB/s|pass",
        "a|5-9 s|4-8 s|\u{2705}",
    ] {
        assert_eq!(table(heads, &[bad]), [Check::LimitExceeded], "{bad}");
    }
}

#[test]
fn a_table_without_figures_or_with_broken_rows_has_no_finding() {
    assert_eq!(table("a|b", &[]), []);
    assert_eq!(table("p50|p99", &["", "|||||", "x", "1|2|3|4"]), []);
    assert_eq!(codes("a.md", "|-|-|\n|-|-|\n|-|-|"), []);
    assert_eq!(codes("a.md", "```"), []);
    assert_eq!(codes("a.md", "```json\n{\n```\n```csv\n\"\n```\n"), []);
}
