//! What is refused, why, where; and that no error holds a value.

use keywright_format::{
    Cells, Column, Error, Format, FormatKey, Misfit, Output, Problem, Scope, Settings, TweakPolicy,
};
use keywright_secret::SecretBytes;

use crate::scene::{format, key, master, misfit, strict};

fn problem(text: &str) -> (usize, Problem) {
    match Format::parse(text) {
        Err(Error::Text { place, problem }) => (place.column, problem),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn texts_that_are_no_format_are_refused_at_their_column() {
    for (text, column) in [
        ("", 1),
        ("  ", 3),
        ("card(", 6),
        ("card(keep", 10),
        ("card(keep=)", 11),
        ("card(keep=last4", 16),
        ("card)", 5),
        ("card@x", 6),
        ("card@0", 6),
        ("\"open", 6),
        ("\"a\\b\"", 4),
        ("digit |", 8),
        ("| digit", 1),
        ("digit(1) ; digit", 10),
        ("digit(length=[1)", 16),
        ("\"\"", 1),
        ("7digit", 1),
    ] {
        let (at, problem) = problem(text);
        assert_eq!(at, column, "{text}: {problem}");
        assert!(matches!(problem, Problem::Expected(_)), "{text}: {problem}");
    }
}

#[test]
fn names_and_parameters_that_mean_nothing_are_refused() {
    for text in [
        "kard",
        "card(keeps=none)",
        "digit(1, 2)",
        "card(16, 17)",
        "digit(1) foo",
        "check(crc32)",
    ] {
        let (_, found) = problem(text);
        let expected = matches!(
            found,
            Problem::Unknown(_) | Problem::Expected(_) | Problem::NothingToCheck
        );
        assert!(expected, "{text}: {found}");
    }
    assert_eq!(problem("card(keep=none, keep=none)").1, Problem::Duplicate);
    assert_eq!(problem("card(16, length=16)").1, Problem::Duplicate);
    assert_eq!(problem("card@2").1, Problem::Revision(1));
    assert_eq!(problem("phone@3").1, Problem::Revision(2));
    assert_eq!(problem("card digit(3)").1, Problem::Whole);
    assert_eq!(problem("\"x\" iban").1, Problem::Whole);
}

#[test]
fn parameters_out_of_range_are_refused_with_the_range() {
    for text in [
        "card(length=12)",
        "card(length=20)",
        "card(length=19..13)",
        "digit(0)",
        "digit(65537)",
        "digit(07)",
        "digit(+7)",
        "ipv4(prefix=26)",
        "ipv6(prefix=-1)",
        "phone(prefix=7)",
        "int(min=0, max=999999999999999999999999999999999999999999)",
    ] {
        assert!(
            matches!(problem(text).1, Problem::Range { .. }),
            "{text}: {}",
            problem(text).1
        );
    }
    for text in [
        "card(keep=bin7)",
        "card(luhn=maybe)",
        "int(min=5, max=5)",
        "int(min=9, max=3)",
        "int(min=0, max=100, width=2)",
        "int(max=3)",
        "decimal(min=0, max=1.234)",
        "decimal(min=0, max=1e5)",
        "date(from=2001-02-29)",
        "date(from=2001-1-1)",
        "date(from=2001-01-02, to=2001-01-01)",
        "date(form=\"YYYY-MM\")",
        "date(form=\"YYYY-DD\")",
        "date(form=\"hh:mm\")",
        "time(form=\"YYYY-MM-DD\")",
        "time(form=\"hh.ss\")",
        "date(form=\"YY-MM-DD\")",
        "uuid(version=9)",
        "uuid(time=keep)",
        "email(domains=[localhost])",
        "phone(form=national)",
        "phone(country=1, prefix=4)",
        "pattern(\"B-99\")",
        "card(delims=\"0\")",
        "card(keep=[none])",
    ] {
        assert!(
            matches!(problem(text).1, Problem::Expected(_)),
            "{text}: {}",
            problem(text).1
        );
    }
    assert_eq!(problem("iban(country=ZZ)").1, Problem::Country);
    assert_eq!(problem("phone(country=12)").1, Problem::Country);
    assert_eq!(problem("postal(country=ZZ)").1, Problem::Country);
}

#[test]
fn what_cannot_be_read_in_one_way_is_refused() {
    for text in [
        "digit(1..3) digit(2)",
        "digit(1..3) \"0\"",
        "int(min=0, max=9) digit(2)",
        "alnum(2..5) upper(1)",
        "date(form=\"M/D\") ",
        "digit(2..9) check(luhn)",
        "text(alphabet=greek, length=1..3) text(alphabet=han, length=2)",
        "date(form=\"D/M/YYYY\") date(form=\"YYYY-M-D\") digit",
    ] {
        let found = problem(text).1;
        let expected = matches!(found, Problem::Ambiguous | Problem::Expected(_));
        assert!(expected, "{text}: {found}");
    }
    assert_eq!(problem("digit(1..3) digit(2)"), (13, Problem::Ambiguous));
    for text in [
        "digit(3) | digit(3)",
        "digit(3) | digit(2..5)",
        "card | digit(16)",
        "upper(2) | letter(2)",
    ] {
        assert_eq!(problem(text).1, Problem::Overlap, "{text}");
    }
    assert!(Format::parse("digit(3) | digit(4..5) | upper(3) | \"-\" digit(9)").is_ok());
    assert_eq!(
        problem("digit(3, delims=\" \") | digit(4)").1,
        Problem::Overlap
    );
}

#[test]
fn alphabets_that_are_not_stable_are_refused() {
    for set in ["a", "aa", "a-cb", "z-a", ""] {
        assert_eq!(
            problem(&format!("class(\"{set}\")")).1,
            Problem::Alphabet,
            "{set}"
        );
    }
    // A combining acute, jamo, a regional indicator, a joiner, a Devanagari vowel sign, an angstrom sign
    // that NFC replaces, a variation selector.
    for set in [
        "a\u{301}",
        "\u{1100}\u{1161}",
        "\u{1f1e6}b",
        "a\u{200d}",
        "\u{915}\u{93e}",
        "a\u{212b}",
        "a\u{fe0f}",
    ] {
        assert_eq!(
            problem(&format!("text(\"{set}\")")).1,
            Problem::AlphabetUnstable,
            "{set:?}"
        );
    }
    assert_eq!(
        problem("text(\"\u{0}-\u{ffff}\")").1,
        Problem::Expected("no control character")
    );
    assert_eq!(
        problem("class(\"0-9 \", delims=\" \")").1,
        Problem::Ambiguous
    );
}

#[test]
fn formats_without_anything_free_are_refused() {
    for text in [
        "\"fixed\"",
        "digit(3, keep=all)",
        "digit(3, first=2, last=1)",
        "pattern(\"--\")",
        "pattern(\"99\", first=2)",
    ] {
        assert_eq!(problem(text).1, Problem::NothingFree, "{text}");
    }
    let long = format!("\"{}\"", "x".repeat(20_000));
    assert_eq!(problem(&long).1, Problem::TooLong(16_384));
    assert_eq!(problem(&"digit ".repeat(1_025)).1, Problem::TooLong(1_024));
}

const fn symbol(position: usize) -> Misfit {
    Misfit::Symbol { position }
}

const MISFITS: &[(&str, &str, Misfit)] = &[
    ("card", "4111111111111112", Misfit::Check),
    ("card", "411111111111111", Misfit::Check),
    ("card", "411111111111", Misfit::Length),
    ("card", "41111111111111111111", Misfit::Length),
    ("card", "4111x111111111111", symbol(4)),
    ("card", "4111_1111_1111_1111", symbol(4)),
    ("card", "４111111111111111", symbol(0)),
    ("card(length=15)", "4111111111111111", Misfit::Length),
    ("ssn", "666-12-3456", Misfit::Excluded),
    ("ssn", "000-12-3456", Misfit::Excluded),
    ("ssn", "900-12-3456", Misfit::Excluded),
    ("ssn", "123-00-3456", Misfit::Excluded),
    ("ssn", "123-12-0000", Misfit::Excluded),
    ("ssn", "123-12-000", Misfit::Length),
    ("ssn", "123-12-00000", Misfit::Length),
    ("iban", "DE89370400440532013001", Misfit::Check),
    ("iban", "DE8937040044053201300", Misfit::Length),
    ("iban", "de89370400440532013000", symbol(0)),
    ("iban", "ZZ89370400440532013000", Misfit::Country),
    (
        "iban(country=GB)",
        "DE89370400440532013000",
        Misfit::Country,
    ),
    ("phone", "12125550123", symbol(0)),
    ("phone", "+11125550123", Misfit::Excluded),
    ("phone", "+12115550123", Misfit::Excluded),
    ("phone@1", "+12125110123", Misfit::Excluded),
    ("phone", "+12121110123", Misfit::Excluded),
    ("phone", "+12112345", Misfit::Excluded),
    ("phone", "+4407700900473", Misfit::Length),
    ("phone", "+225912345678", Misfit::Length),
    ("phone", "+2259123456789", Misfit::Excluded),
    ("phone", "+12925550123", Misfit::Excluded),
    ("phone", "+1212555012", Misfit::Length),
    ("phone", "+121255501234", Misfit::Length),
    ("phone", "+4907", Misfit::Length),
    ("phone", "+490711234567", Misfit::Excluded),
    ("phone", "+1212555O123", symbol(8)),
    ("phone", "+0123456789", Misfit::Country),
    ("phone(country=44)", "+12125550123", Misfit::Country),
    ("email", "ada", symbol(3)),
    ("email", "Ada.Lovelace@example.com", symbol(0)),
    ("email", "ada..lovelace@example.com", symbol(4)),
    ("email", ".adalovelace@example.com", symbol(0)),
    ("email", "ada.@example.com", symbol(3)),
    ("email", "adalovelace@example", symbol(12)),
    ("email", "adalovelace@-x.com", symbol(12)),
    ("email", "\"ada lovelace\"@example.com", symbol(0)),
    (
        "email(domains=[a.example, b.example])",
        "adalove@c.example",
        Misfit::NotListed,
    ),
    ("date", "2001-02-29", Misfit::Range),
    ("date", "0000-01-01", Misfit::Range),
    ("date", "2001-13-01", Misfit::Range),
    ("date", "2001/01/01", symbol(4)),
    ("date", "2001-01-1", Misfit::Length),
    ("date", "2001-01-011", symbol(10)),
    ("datetime", "2001-01-01T24:00:00", Misfit::Range),
    ("datetime", "2016-12-31T23:59:60", Misfit::Range),
    ("date(form=\"M/D/YYYY\")", "01/2/2003", Misfit::Canonical),
    ("int(min=0, max=1000)", "1001", Misfit::Range),
    ("int(min=0, max=1000)", "-1", symbol(0)),
    ("int(min=-5, max=1000)", "-6", Misfit::Range),
    ("int(min=-5, max=1000)", "-0", Misfit::Canonical),
    ("int(min=0, max=1000)", "007", Misfit::Canonical),
    ("int(min=0, max=1000)", "+7", symbol(0)),
    (
        "int(min=0, max=1000)",
        "99999999999999999999999999999999999999999",
        Misfit::Range,
    ),
    ("int(min=0, max=1000, width=4)", "7", Misfit::Canonical),
    ("decimal(min=0, max=1000)", "1.5", Misfit::Length),
    ("decimal(min=0, max=1000)", "1.555", symbol(4)),
    ("decimal(min=0, max=1000)", "1,55", symbol(1)),
    ("decimal(min=-5, max=1000)", "-0.00", Misfit::Canonical),
    ("decimal(min=0, max=1000)", "00.55", Misfit::Canonical),
    ("uuid", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", symbol(14)),
    ("uuid", "f81d4fae-7dec-41d0-c765-00a0c91e6bf6", symbol(19)),
    ("uuid", "F81D4FAE-7DEC-41D0-A765-00A0C91E6BF6", symbol(0)),
    ("uuid", "f81d4fae7dec41d0a76500a0c91e6bf6", Misfit::Length),
    ("ipv4", "256.1.1.1", symbol(0)),
    ("ipv4", "01.1.1.1", symbol(0)),
    ("ipv6", "2001:DB8::1", Misfit::Canonical),
    ("ipv6", "2001:db8:0:0::1", Misfit::Canonical),
    ("mac", "00-1b-44-11-3a-b7", symbol(2)),
    ("postal(country=CA)", "D1A 0B1", symbol(0)),
    ("digit(6)", "12345", Misfit::Length),
    ("digit(6)", "1234567", symbol(6)),
    ("digit(6)", "12345a", symbol(5)),
    (r#""KD-" digit(8)"#, "KX-12345678", symbol(1)),
    (r#""KD-" digit(8)"#, "KD", Misfit::Length),
    ("digit(8) check(luhn)", "123456780", Misfit::Check),
    ("text", "na\u{69}\u{308}ve", symbol(3)),
    ("text(alphabet=han)", "abc", symbol(0)),
    ("digit(2)", "12", Misfit::BelowFloor),
];

#[test]
fn values_that_do_not_fit_are_refused_with_the_reason() {
    for (text, value, expected) in MISFITS.iter().copied() {
        let found = if text == "digit(2)" {
            let key = strict("digit(2..9)");
            let mut column = Column::new(&key, Scope::column("c"));
            match column.protect_one(value.as_bytes(), &[]) {
                Err(keywright_format::One::Misfit(misfit)) => misfit,
                other => panic!("{other:?}"),
            }
        } else {
            misfit(text, value)
        };
        assert_eq!(found, expected, "{text}: {value}");
        assert!(!found.to_string().contains(value), "{text}");
        assert!(!found.code().is_empty());
    }
}

#[test]
fn bytes_that_are_no_text_never_fit() {
    for text in [
        "card",
        "text",
        "text(alphabet=han)",
        "email",
        "ipv4",
        "iban",
        "phone",
        "digit(1..9)",
        "date",
    ] {
        let key = key(text);
        let mut column = Column::new(&key, Scope::column("c"));
        for value in [
            &b"\xff\xfe"[..],
            b"\xe4\xb8",
            b"\0",
            b"\xc0\x80",
            b"\xf5\x80\x80\x80",
        ] {
            assert!(column.protect_one(value, &[]).is_err(), "{text}");
        }
    }
}

#[test]
fn settings_that_do_not_hold_are_refused() {
    let card = format("card");
    let none = TweakPolicy::parse("none").unwrap();
    let refused = FormatKey::derive(&master(), &card, Settings::new(none.clone()));
    assert!(matches!(refused, Err(Error::EmptyTweak)));
    let key = FormatKey::derive(&master(), &card, Settings::new(none).allow_empty_tweak()).unwrap();
    let mut column = Column::new(&key, Scope::column("c"));
    assert!(column.protect_one(b"4111111111111111", &[]).is_ok());
    let short = SecretBytes::from_vec(vec![1; 16]);
    let refused = FormatKey::raw(&short, &card, Settings::new(TweakPolicy::default()));
    assert!(matches!(refused, Err(Error::RawTweak)));
    let odd = SecretBytes::from_vec(vec![1; 17]);
    let key = FormatKey::raw(&odd, &card, Settings::new(TweakPolicy::Caller)).unwrap();
    let mut column = Column::new(&key, Scope::caller(b"tweak"));
    let refused = column.protect_one(b"4111111111111111", &[]);
    assert!(matches!(
        refused,
        Err(keywright_format::One::Error(Error::Engine(_)))
    ));
    let key = key_of_caller();
    let mut column = Column::new(&key, Scope::column("c"));
    let refused = column.protect_one(b"4111111111111111", &[]);
    assert!(
        matches!(refused, Err(keywright_format::One::Error(Error::Engine(_)))),
        "no tweak given"
    );
}

fn key_of_caller() -> FormatKey {
    FormatKey::derive(
        &master(),
        &format("card"),
        Settings::new(TweakPolicy::Caller),
    )
    .unwrap()
}

#[test]
fn columns_that_the_tweak_needs_must_be_there_and_as_long() {
    let policy = TweakPolicy::parse("column row(id)").unwrap();
    let key = FormatKey::derive(&master(), &format("digit(9)"), Settings::new(policy)).unwrap();
    let mut column = Column::new(&key, Scope::column("c"));
    let cells = Cells::fixed(b"123456789987654321", 9).unwrap();
    let mut out = Output::new();
    let missing = column.protect(cells, &[], &mut out);
    assert!(matches!(
        missing,
        Err(Error::TweakParts {
            expected: 1,
            given: 0
        })
    ));
    let short = column.protect(cells, &[Cells::repeated(b"1", 1)], &mut out);
    assert!(matches!(
        short,
        Err(Error::TweakParts {
            expected: 2,
            given: 1
        })
    ));
    assert!(
        column
            .protect(cells, &[Cells::repeated(b"1", 2)], &mut out)
            .is_ok()
    );
    assert!(Cells::fixed(b"1234", 3).is_err());
    assert!(Cells::fixed(b"1234", 0).is_err());
    assert!(Cells::offsets(b"1234", &[0, 3, 2]).is_err());
    assert!(Cells::offsets(b"1234", &[0, 5]).is_err());
    assert!(Cells::offsets_i32(b"1234", &[-1, 2]).is_err());
    assert!(Cells::offsets_i32(b"1234", &[0, 5]).is_err());
}

#[test]
fn policies_that_are_none_are_refused() {
    for text in [
        "",
        "kolumn",
        "column column",
        "none column",
        "column caller",
        "other",
        "other()",
        "row(a, b)",
        "constant(x=y)",
        "\"column\"",
        "column | kept",
        "column@1",
        "other(\"\")",
    ] {
        assert!(
            matches!(TweakPolicy::parse(text), Err(Error::Text { .. })),
            "{text}"
        );
    }
    for text in [
        "",
        "last",
        "last()",
        "last(65)",
        "last(-1)",
        "ends(1)",
        "fixed",
        "hash(1)",
        "null null",
        "last(4) | null",
    ] {
        assert!(
            matches!(keywright_format::Mask::parse(text), Err(Error::Text { .. })),
            "{text}"
        );
    }
}
