//! Rules files: every form of a format, what is refused, and where.

use keywright_format::{Error, Format, OnBad, Problem, Rules, SmallDomain};

fn only(line: &str) -> Result<Rules, Error> {
    Rules::parse(&format!("version = 1\n[[column]]\nname = \"c\"\n{line}\n"))
}

fn format_of(line: &str) -> Format {
    let rules = only(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    rules.columns()[0].format().unwrap().clone()
}

#[test]
fn every_form_of_one_description_is_one_format() {
    for (line, text) in [
        ("format = \"card\"", "card"),
        ("format = \"card\"\nkeep = \"last4\"", "card(keep=last4)"),
        (
            "format = { name = \"card\", keep = \"last4\" }",
            "card(keep=last4)",
        ),
        (
            "format = { name = \"card\", revision = 1, length = 16 }",
            "card@1(length=16)",
        ),
        (
            "format = { name = \"date\", from = 1900-01-01, to = 2099-12-31 }",
            "date(from=1900-01-01, to=2099-12-31)",
        ),
        (
            "format = { name = \"decimal\", min = -2.5, max = 10 }",
            "decimal(min=-2.5, max=10)",
        ),
        (
            "format = { name = \"email\", domains = [\"a.example\", \"b.example\"] }",
            "email(domains=[a.example, b.example])",
        ),
        (
            "format = ['\"KD-\"', 'digit(9)', 'check']",
            "\"KD-\" digit(9) check",
        ),
        (
            "format = ['upper(2)', { name = \"digit\", length = 7 }]",
            "upper(2) digit(7)",
        ),
        (
            "format = { one_of = ['digit(7)', ['\"X\"', 'digit(9)']] }",
            "digit(7) | \"X\" digit(9)",
        ),
        (
            "format = 'digit(7) | \"X\" digit(9)'",
            "digit(7) | \"X\" digit(9)",
        ),
    ] {
        assert_eq!(format_of(line), Format::parse(text).unwrap(), "{line}");
    }
}

#[test]
fn the_rest_of_a_rule_is_read() {
    let rules = only(
        "format = \"date(from=1900-01-01, to=2099-12-31)\"\n\
         tweak = [\"column\", \"other(country)\"]\n\
         small_domain = \"accept(it stays in the house)\"\n\
         on_bad = \"reject\"\nmask = \"truncate(4)\"\nkey = \"people.birth\"",
    )
    .unwrap();
    let rule = &rules.columns()[0];
    assert_eq!(rule.name(), "c");
    assert_eq!(rule.tweak().to_string(), "column other(country)");
    assert_eq!(rule.tweak().columns(), ["country"]);
    assert_eq!(
        rule.small_domain(),
        &SmallDomain::Accept("it stays in the house".to_owned())
    );
    assert_eq!(
        (rule.on_bad(), rule.on_bad().to_string().as_str()),
        (OnBad::Reject, "reject")
    );
    assert_eq!(rule.mask().unwrap().to_string(), "truncate(4)");
    assert_eq!(rule.key(), Some("people.birth"));
    assert_eq!(rule.place().line, 3);
    assert_eq!(rule.settings().floor(), 100);
    let plain = only("format = \"card\"\nkeep = \"bin6\"").unwrap();
    let rule = &plain.columns()[0];
    assert_eq!(rule.tweak().to_string(), "column kept");
    assert_eq!(
        (rule.on_bad(), rule.small_domain()),
        (OnBad::Fail, &SmallDomain::Refuse)
    );
    assert_eq!(rule.settings().floor(), 1_000_000);
    assert!(
        only("mask = \"hash\"").unwrap().columns()[0]
            .format()
            .is_none()
    );
}

const WRONG: &[(&str, usize, usize)] = &[
    ("", 1, 1),
    (
        "version = 2\n[[column]]\nname=\"a\"\nmask=\"null\"\n",
        1,
        11,
    ),
    ("[[column]]\nname=\"a\"\nmask=\"null\"\n", 1, 1),
    ("version = 1\n", 1, 1),
    ("version = 1\ncolumn = []\n", 2, 10),
    ("version = 1\ncolumn = 3\n", 2, 10),
    ("version = 1\nrows = 3\n", 2, 1),
    ("version = 1\n[[column]]\n", 2, 1),
    ("version = 1\n[[column]]\nname = \"a\"\n", 3, 8),
    (
        "version = 1\n[[column]]\nname = \"\"\nmask = \"null\"\n",
        3,
        8,
    ),
    (
        "version = 1\n[[column]]\nname = \"a\"\nformat = \"card(keep=bin7)\"\n",
        4,
        21,
    ),
    (
        "version = 1\n[[column]]\nname = \"a\"\nformat = \"card(\"\n",
        4,
        16,
    ),
    ("version = 1\n[[column]]\nname = \"a\"\nformat = 7\n", 4, 10),
    (
        "version = 1\n[[column]]\nname = \"a\"\nformat = { keep = \"none\" }\n",
        4,
        10,
    ),
    (
        "version = 1\n[[column]]\nname = \"a\"\nformat = \"digit(9)\"\nkeep = \"last4\"\n",
        4,
        11,
    ),
    (
        "version = 1\n[[column]]\nname = \"a\"\nformat = \"digit(9) | upper(9)\"\nkeep = \"all\"\n",
        5,
        8,
    ),
    (
        "version = 1\n[[column]]\nname = \"a\"\nmask = \"null\"\nkeep = \"all\"\n",
        5,
        8,
    ),
    (
        "version = 1\n[[column]]\nname = \"a\"\nmask = \"null\"\ntweak = \"column\"\n",
        5,
        9,
    ),
    (
        "version = 1\n[[column]]\nname = \"a\"\nformat = \"card\"\ntweak = \"columns\"\n",
        5,
        10,
    ),
    (
        "version = 1\n[[column]]\nname = \"a\"\nformat = \"card\"\non_bad = \"ignore\"\n",
        5,
        10,
    ),
    (
        "version = 1\n[[column]]\nname = \"a\"\nformat = \"card\"\nsmall_domain = \"accept()\"\n",
        5,
        16,
    ),
    (
        "version = 1\n[[column]]\nname = \"a\"\nformat = \"card\"\nfloor = 3\n",
        5,
        1,
    ),
    (
        "version = 1\n[[column]]\nname = \"a\"\nmask = \"null\"\n[[column]]\nname = \"a\"\nmask = \"null\"\n",
        6,
        8,
    ),
    (
        "version = 1\n[[column]]\nname = \"a\"\nformat = []\n",
        4,
        10,
    ),
    (
        "version = 1\n[[column]]\nname = \"a\"\nformat = [[\"digit\"]]\n",
        4,
        11,
    ),
    (
        "version = 1\n[[column]]\nname = \"a\"\nformat = { one_of = [] }\n",
        4,
        21,
    ),
    ("version = 1\n[[column]\n", 2, 10),
];

#[test]
fn what_is_wrong_is_refused_where_it_stands() {
    let at = |text: &str| match Rules::parse(text) {
        Err(Error::Text { place, problem }) => (place.line, place.column, problem),
        other => panic!("{text}: {other:?}"),
    };
    for (text, line, column) in WRONG.iter().copied() {
        let found = at(text);
        assert_eq!((found.0, found.1), (line, column), "{text}: {}", found.2);
    }
    assert_eq!(at("version = 1\n[[column]\n").2, Problem::Toml);
    let twice = "version = 1\n[[column]]\nname = \"a\"\nmask = \"null\"\n[[column]]\nname = \"a\"\nmask = \"null\"\n";
    assert_eq!(at(twice).2, Problem::Duplicate);
    assert!(matches!(at(&" ".repeat(2 << 20)).2, Problem::TooLong(_)));
}

#[test]
fn a_word_that_means_letting_values_through_does_not_exist() {
    for word in ["pass", "keep", "skip", "ignore", "clear", "FAIL", ""] {
        assert!(
            only(&format!("format = \"card\"\non_bad = \"{word}\"")).is_err(),
            "{word}"
        );
    }
}
