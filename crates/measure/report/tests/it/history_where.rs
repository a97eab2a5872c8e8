//! Conditions on cases mean what they say, and what means nothing is refused at its place.

use keywright_measure::document::{Case, Counts, Latency, Quantile};
use keywright_measure::stats::random::Generator;
use keywright_measure::verdict::Word;
use keywright_report::filter::{DEEPEST, Filter, FilterFault, LONGEST};

fn case() -> Case {
    let quantile = |value, value_ps| Quantile {
        value,
        value_ps,
        ..Quantile::default()
    };
    Case {
        id: "sign-1".to_owned(),
        op: "sign.ecdsa-p256".to_owned(),
        target: "soft".to_owned(),
        achieved_per_s: 49.5,
        counts: Counts {
            verified: 300,
            error: 1,
            wrong: 2,
            timeout: 4,
            censored: 8,
            ..Counts::default()
        },
        service: Some(Latency {
            quantiles: [
                ("p50_ns".to_owned(), quantile(Some(1_500_000), None)),
                ("p95_ns".to_owned(), quantile(Some(2), Some(2_500))),
                ("p99_ns".to_owned(), quantile(None, None)),
            ]
            .into(),
            ..Latency::default()
        }),
        verdicts: vec![Word::CoLocated, Word::TargetErrors],
        ..Case::default()
    }
}

fn holds(text: &str) -> bool {
    Filter::parse(text).unwrap().matches(&case())
}

#[test]
fn figures_are_compared_in_the_unit_of_their_name() {
    for text in [
        "ops_per_s < 50",
        "ops_per_s<=49.5",
        "ops_per_s >= 4.95e1",
        "ops_per_s != 50",
        "p50_ms == 1.5",
        "p50_ms > -1",
        "p95_ms < 0.000003 and p95_ms > 0.000002",
        "errors == 7",
        "verified == 300",
    ] {
        assert!(holds(text), "{text}");
        assert!(!holds(&format!("not ({text})")), "{text}");
    }
}

#[test]
fn texts_are_equal_or_like_a_pattern_as_a_whole() {
    for text in [
        "op == sign.ecdsa-p256",
        "op == 'sign.ecdsa-p256'",
        "op ~ sign.*",
        "op ~ \"*p2?6\"",
        "op ~ *",
        "op ~ *a*p*",
        "target != hard",
        "case == sign-1",
        "verdict == TARGET-ERRORS",
        "verdict ~ TARGET*",
        "verdict != VALID",
    ] {
        assert!(holds(text), "{text}");
        assert!(!holds(&format!("not {text}")), "{text}");
    }
    for text in [
        "op ~ sign",
        "op == sign.*",
        "op ~ ?",
        "op ~ *p25",
        "op ~ ''",
        "target == SOFT",
    ] {
        assert!(!holds(text), "{text}");
    }
}

#[test]
fn and_binds_closer_than_or_and_not_closest() {
    for (text, wanted) in [
        ("errors == 7 or errors == 1 and errors == 2", true),
        ("(errors == 7 or errors == 1) and errors == 2", false),
        ("not errors == 1 and errors == 7", true),
        ("not (errors == 1 or errors == 7)", false),
        ("not not errors == 7", true),
        ("((errors == 7))", true),
    ] {
        assert_eq!(holds(text), wanted, "{text}");
    }
}

#[test]
fn a_figure_that_is_absent_fulfils_neither_a_condition_nor_its_contrary() {
    for text in [
        "p99_ms < 5",
        "p99_ms >= 5",
        "p99_ms != 5",
        "p99_ms < 5 and errors == 7",
    ] {
        assert!(!holds(text), "{text}");
        assert!(!holds(&format!("not ({text})")), "{text}");
    }
    // Where the rest decides alone, it does.
    assert!(holds("p99_ms < 5 or errors == 7"));
    assert!(holds("not (p99_ms < 5 and errors == 0)"));
    let bare = Case::default();
    assert!(!Filter::parse("p50_ms >= 0").unwrap().matches(&bare));
}

const MEANINGLESS: [(&str, &str); 25] = [
    (
        "",
        "at character 1: expected a field, `not` or `(`, found the end",
    ),
    (
        "  ",
        "at character 3: expected a field, `not` or `(`, found the end",
    ),
    (
        "ops_per_s",
        "at character 10: expected a relation such as < or ==, found the end",
    ),
    (
        "ops_per_s <",
        "at character 12: expected a number or a text, found the end",
    ),
    (
        "ops_per_s < <",
        "at character 13: expected a number or a text, found <",
    ),
    (
        "ops_per_s < fast",
        "at character 13: \"fast\" is not a number",
    ),
    (
        "ops_per_s < inf",
        "at character 13: \"inf\" is not a number",
    ),
    (
        "ops_per_s < NaN",
        "at character 13: \"NaN\" is not a number",
    ),
    (
        "ops_per_s < 1e999",
        "at character 13: \"1e999\" is not a number",
    ),
    (
        "p50_ms ~ 5",
        "at character 8: a number is compared with < <= > >= == !=, a text with == != ~",
    ),
    (
        "op < a",
        "at character 4: a number is compared with < <= > >= == !=, a text with == != ~",
    ),
    (
        "verdict == SATURATD",
        "at character 12: no verdict \"SATURATD\"",
    ),
    ("verdict == valid", "at character 12: no verdict \"valid\""),
    ("op = a", "at character 4: '=' means nothing here"),
    ("op == 'a", "at character 7: the quote is not closed"),
    (
        "(op == a",
        "at character 9: expected `)`, `and` or `or`, found the end",
    ),
    (
        "op == a)",
        "at character 8: expected `and`, `or` or the end, found )",
    ),
    (
        "op == a op == b",
        "at character 9: expected `and`, `or` or the end, found \"op\"",
    ),
    (
        "op == a AND op == b",
        "at character 9: expected `and`, `or` or the end, found \"AND\"",
    ),
    (
        "op == a and",
        "at character 12: expected a field, `not` or `(`, found the end",
    ),
    (
        "and op == a",
        "at character 1: no field \"and\"; there are case, errors, op, ops_per_s, p50_ms, p95_ms, p99_ms, target, verdict, verified",
    ),
    (
        "'op' == a",
        "at character 1: expected a field, `not` or `(`, found \"op\"",
    ),
    (
        "op == \u{fc}\u{fc} & x",
        "at character 10: '&' means nothing here",
    ),
    (
        "not",
        "at character 4: expected a field, `not` or `(`, found the end",
    ),
    (
        "()",
        "at character 2: expected a field, `not` or `(`, found )",
    ),
];

#[test]
fn what_means_nothing_is_refused_at_its_place() {
    for (text, message) in MEANINGLESS {
        let error = Filter::parse(text).unwrap_err();
        assert_eq!(error.to_string(), message, "{text}");
    }
}

#[test]
fn depth_and_length_have_a_limit() {
    let nested = |depth: usize| format!("{}errors == 7{}", "(".repeat(depth), ")".repeat(depth));
    assert!(holds(&nested(DEEPEST)));
    let error = Filter::parse(&nested(DEEPEST + 1)).unwrap_err();
    assert_eq!(
        (error.position, error.fault),
        (DEEPEST + 2, FilterFault::TooDeep)
    );
    let negated = format!("{}errors == 7", "not ".repeat(1000));
    assert_eq!(
        Filter::parse(&negated).unwrap_err().fault,
        FilterFault::TooDeep
    );
    let text = format!("op == {}", "a".repeat(LONGEST - 6));
    assert!(!holds(&text));
    assert_eq!(
        Filter::parse(&(text + "a")).unwrap_err().fault,
        FilterFault::TooLong
    );
}

#[test]
fn a_pattern_full_of_stars_ends_at_once() {
    let pattern = format!("op ~ {}b", "*a".repeat(1500));
    let mut long = case();
    long.op = "a".repeat(20_000);
    assert!(!Filter::parse(&pattern).unwrap().matches(&long));
}

const SAMPLES: [&str; 6] = [
    "ops_per_s < 50 and not (verdict == VALID or op ~ 'sign*')",
    "((p50_ms <= 1.5) or p95_ms > 2) and p99_ms != 3",
    "target == \"it's\" or case ~ *?* and errors >= 0",
    "not not (not verified == 300)",
    "verdict ~ \"N?T-*\" or verdict != NO-BASELINE",
    "op == 'say \"x\"' and op != \u{fc}\u{fc}.x",
];

#[test]
fn printed_conditions_read_back_as_the_same() {
    for sample in SAMPLES {
        let filter = Filter::parse(sample).unwrap();
        let printed = filter.to_string();
        assert_eq!(Filter::parse(&printed).unwrap(), filter, "{printed}");
    }
}

const PIECES: [&str; 26] = [
    "(",
    ")",
    "not ",
    " and ",
    " or ",
    "<",
    "<=",
    "==",
    "!=",
    "~",
    "'",
    "\"",
    "errors",
    "op",
    "7",
    "1e9",
    "-",
    "*",
    "?",
    " ",
    "\u{fc}",
    "\u{1F512}",
    "\0",
    "=",
    "verdict",
    "VALID",
];

/// A sample with up to two pieces put in, each in place of up to three characters.
fn mutation(generator: &mut Generator) -> String {
    let mut text: Vec<char> = SAMPLES[generator.index(SAMPLES.len())].chars().collect();
    for _ in 0..=generator.index(2) {
        let place = generator.index(text.len() + 1);
        let end = (place + generator.index(4)).min(text.len());
        let piece = PIECES[generator.index(PIECES.len())];
        text.splice(place..end, piece.chars());
    }
    text.into_iter().collect()
}

#[test]
fn ten_thousand_mutations_are_read_or_refused_and_what_is_read_prints_and_reads_back() {
    let mut generator = Generator::new(5);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..10_000 {
        let text = mutation(&mut generator);
        match Filter::parse(&text) {
            Ok(filter) => {
                read += 1;
                let holds = filter.matches(&case());
                let contrary = Filter::parse(&format!("not ({text})"));
                assert!(
                    !(holds && contrary.is_ok_and(|one| one.matches(&case()))),
                    "{text}"
                );
                assert_eq!(
                    Filter::parse(&filter.to_string()).unwrap(),
                    filter,
                    "{text}"
                );
            }
            Err(error) => {
                refused += 1;
                assert!(
                    (1..=text.chars().count() + 1).contains(&error.position),
                    "{text}"
                );
            }
        }
    }
    assert!(read > 500 && refused > 5000, "{read} {refused}");
}
