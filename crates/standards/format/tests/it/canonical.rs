//! Canonical texts. They are what keys are derived from: a line here never changes, lines are only added.

use keywright_format::{Format, Mask, Problem, TweakPolicy};

const GOLDEN: [(&str, &str); 34] = [
    (
        "card",
        r#"card@1(length=13..19, keep=none, luhn=keep, delims=" -")"#,
    ),
    (
        r#"card( keep = "bin6" , luhn=break,length=16)"#,
        r#"card@1(length=16, keep=bin6, luhn=break, delims=" -")"#,
    ),
    (
        "card(16)",
        r#"card@1(length=16, keep=none, luhn=keep, delims=" -")"#,
    ),
    ("ssn", "ssn@1(keep=none, delims=-)"),
    ("iban", r#"iban@1(country=any, keep=country, delims=" ")"#),
    (
        "iban(DE, keep=bank)",
        r#"iban@1(country=DE, keep=bank, delims=" ")"#,
    ),
    (
        "phone",
        r#"phone@2(country=any, form=e164, prefix=0, delims=" ()-./")"#,
    ),
    (
        "phone(1, prefix=3)",
        r#"phone@2(country=1, form=e164, prefix=3, delims=" ()-./")"#,
    ),
    (
        "phone@1(44)",
        r#"phone@1(country=44, form=e164, prefix=0, delims=" ()-./")"#,
    ),
    ("email", "email@1(case=lower, domains=[])"),
    (
        "email(domains=[a.example, \"b.example\"])",
        "email@1(case=lower, domains=[a.example, b.example])",
    ),
    (
        "date",
        "date@1(form=YYYY-MM-DD, from=0001-01-01T00:00:00.000, to=9999-12-31T23:59:59.999)",
    ),
    (
        "date(from=1900-01-01, to=2099-12-31)",
        "date@1(form=YYYY-MM-DD, from=1900-01-01T00:00:00.000, to=2099-12-31T23:59:59.999)",
    ),
    (
        "datetime",
        "datetime@1(form=YYYY-MM-DDThh:mm:ss, from=1900-01-01T00:00:00.000, to=2099-12-31T23:59:59.999)",
    ),
    (
        "time",
        "time@1(form=hh:mm:ss.fff, from=00:00:00.000, to=23:59:59.999)",
    ),
    (
        "int(min=-5, max=1000000)",
        "int@1(min=-5, max=1000000, width=0)",
    ),
    ("int(0, max=1000000)", "int@1(min=0, max=1000000, width=0)"),
    (
        "decimal(max=9.5, min=-3)",
        "decimal@1(scale=2, min=-3.00, max=9.50, point=dot)",
    ),
    ("uuid", "uuid@1(version=4, time=hide, case=lower)"),
    ("ipv4", "ipv4@1(prefix=0)"),
    ("ipv6(64)", "ipv6@1(prefix=64)"),
    ("mac", "mac@1(keep=none, separator=colon, case=lower)"),
    ("postal(CA)", "postal@1(country=CA)"),
    (
        r#"pattern("AA-99 \"")"#,
        r#"pattern@1(form="AA-99 \"", first=0, last=0)"#,
    ),
    (
        "digit(6)",
        r#"digit@1(length=6, keep=ends, first=0, last=0, delims="")"#,
    ),
    (
        "upper(2..4, keep=all) digit(7)",
        r#"upper@1(length=2..4, keep=all, first=0, last=0, delims="") digit@1(length=7, keep=ends, first=0, last=0, delims="")"#,
    ),
    (
        r#"class("a-f0", length=9)"#,
        r#"class@1(set=a-f0, length=9, keep=ends, first=0, last=0, delims="")"#,
    ),
    (
        "text",
        r#"text@1(alphabet=latin, length=1..1024, keep=ends, first=0, last=0, delims="")"#,
    ),
    (
        "text(αβγδ, length=12)",
        r#"text@1(alphabet="αβγδ", length=12, keep=ends, first=0, last=0, delims="")"#,
    ),
    (
        r#""KD-"digit(9)check"#,
        r#""KD-" digit@1(length=9, keep=ends, first=0, last=0, delims="") check@1(method=luhn)"#,
    ),
    (
        r#""a"digit|"b"digit"#,
        r#""a" digit@1(length=1, keep=ends, first=0, last=0, delims="") | "b" digit@1(length=1, keep=ends, first=0, last=0, delims="")"#,
    ),
    (
        "hex(32)",
        r#"hex@1(length=32, keep=ends, first=0, last=0, delims="")"#,
    ),
    (
        "card@1()",
        r#"card@1(length=13..19, keep=none, luhn=keep, delims=" -")"#,
    ),
    (r#"check(mod97)"#, ""),
];

#[test]
fn canonical_texts_are_those_of_the_golden_list_and_read_as_themselves() {
    for (text, canonical) in GOLDEN {
        if canonical.is_empty() {
            assert!(matches!(
                Format::parse(text),
                Err(keywright_format::Error::Text {
                    problem: Problem::NothingToCheck,
                    ..
                })
            ));
            continue;
        }
        // A text outside ASCII is no word: it needs quotes, in which the list has it.
        let text = text.replace("αβγδ", "\"αβγδ\"");
        let format = Format::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(format.canonical(), canonical, "{text}");
        let again = Format::parse(canonical).unwrap();
        assert_eq!(again, format);
        assert_eq!(again.to_string(), canonical);
    }
}

#[test]
fn tweak_policies_and_masks_are_canonical_too() {
    for (text, canonical) in [
        ("column", "column"),
        (
            " column   kept other(country) ",
            "column kept other(country)",
        ),
        (
            "row(\"customer id\") constant(eu-1)",
            "row(\"customer id\") constant(eu-1)",
        ),
        ("none", "none"),
        ("caller", "caller"),
    ] {
        let policy = TweakPolicy::parse(text).unwrap();
        assert_eq!(policy.to_string(), canonical);
        assert_eq!(TweakPolicy::parse(canonical).unwrap(), policy);
    }
    for (text, canonical) in [
        ("last4", "last@2(4)"),
        ("last@1(4)", "last(4)"),
        ("first6", "first@2(6)"),
        ("ends(6,4)", "ends@2(6, 4)"),
        ("fixed(\"x x\")", "fixed(\"x x\")"),
        ("truncate(4)", "truncate(4)"),
        ("hash", "hash"),
        ("null", "null"),
    ] {
        let mask = Mask::parse(text).unwrap();
        assert_eq!(mask.to_string(), canonical);
        assert_eq!(Mask::parse_recorded(canonical).unwrap(), mask);
    }
}
