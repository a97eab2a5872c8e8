//! The number of values that a format states is the number that there are.

use keywright_format::{Error, FLOOR, Format, FormatKey, Settings, TweakPolicy};

use crate::scene::{format, master, strict};

fn size(text: &str) -> u128 {
    let format = format(text);
    let count = format.checker().check(format.example().as_bytes()).unwrap();
    count.exact().unwrap().to_u128().unwrap()
}

#[test]
fn sizes_are_those_of_the_reference() {
    for (text, expected) in [
        ("ssn", 888_931_098),
        ("ssn(keep=last4)", 88_902),
        ("ssn(keep=area)", 989_901),
        ("card", 10_u128.pow(15)),
        ("card(keep=bin6)", 10_u128.pow(9)),
        ("card(keep=bin8)", 10_u128.pow(7)),
        ("card(keep=last4)", 10_u128.pow(11)),
        ("card(keep=bin6-last4)", 10_u128.pow(5)),
        ("card(keep=bin6-last4, luhn=ignore)", 10_u128.pow(6)),
        ("card(keep=bin8-last4)", 10_u128.pow(3)),
        ("iban(country=DE, keep=bank)", 10_u128.pow(10)),
        ("iban(country=GB, keep=bank)", 10_u128.pow(8)),
        ("phone@1(country=1)", 5_639_040_000),
        ("phone@1(country=1, prefix=3)", 7_920_000),
        ("phone(country=1)", 712 * 800 * 10_000),
        ("phone(country=1, prefix=3)", 8_000_000),
        ("phone(country=225)", 2_000_000_000),
        ("date(from=1900-01-01, to=2099-12-31)", 73_049),
        ("date", 3_652_059),
        ("datetime", 6_311_433_600),
        ("uuid", 1 << 122),
        ("uuid(version=7, time=keep)", 1 << 74),
        ("ipv4", 1 << 32),
        ("ipv4(prefix=12)", 1 << 20),
        ("ipv6(prefix=64)", 1 << 64),
        ("mac", 1 << 48),
        ("mac(keep=oui)", 1 << 24),
        ("decimal(min=0, max=9.99)", 1_000),
        ("postal(country=CA)", 18 * 20 * 20 * 1_000),
    ] {
        assert_eq!(size(text), expected, "{text}");
    }
}

#[test]
fn sizes_are_counted_out_where_that_is_possible() {
    let count = |text: &str, candidates: &mut dyn Iterator<Item = String>| {
        let format = format(text);
        let mut checker = format.checker();
        let found = candidates
            .filter(|value| checker.check(value.as_bytes()).is_ok())
            .count();
        assert_eq!(size(text), found as u128, "{text}");
    };
    count(
        "date(from=1899-12-01, to=1905-03-04)",
        &mut (1899..1906).flat_map(|y| {
            (0..14).flat_map(move |m| (0..33).map(move |d| format!("{y}-{m:02}-{d:02}")))
        }),
    );
    count(
        "int(min=-55, max=999)",
        &mut (-2_000..2_000).map(|n| n.to_string()),
    );
    count(
        "int(min=0, max=999, width=3)",
        &mut (0..10_000).map(|n| format!("{n:03}")),
    );
    count(
        "decimal(min=-1.5, max=2.5, scale=1)",
        &mut (-99..99).map(|n: i32| {
            format!(
                "{}{}.{}",
                if n < 0 { "-" } else { "" },
                n.abs() / 10,
                n.abs() % 10
            )
        }),
    );
    count(
        "digit(2) check(luhn)",
        &mut (0..10_000).map(|n| format!("{n:03}")),
    );
    count(
        "digit(2) check(mod97)",
        &mut (0..100_000).map(|n| format!("{n:04}")),
    );
    count(
        "class(a-cx, length=3)",
        &mut (0..26 * 26 * 26).map(|n: u32| {
            let letter = |n: u32| char::from(b'a' + u8::try_from(n % 26).unwrap());
            format!("{}{}{}", letter(n), letter(n / 26), letter(n / 676))
        }),
    );
    count(
        "time(form=\"hh:mm\")",
        &mut (0..10_000).map(|n| format!("{:02}:{:02}", n / 100, n % 100)),
    );
}

#[test]
fn least_and_most_span_the_lengths() {
    let mail = format("email");
    assert_eq!(mail.least().exact().unwrap().to_string(), "36");
    assert!(mail.most().exact().is_none() && mail.most().bits() > 330.0);
    let run = format("digit(3..9)");
    assert_eq!(run.least().exact().unwrap().to_string(), "1000");
    assert_eq!(run.most().exact().unwrap().to_string(), "1000000000");
    let both = format(r#"digit(7) | "x" digit(2)"#);
    assert_eq!(both.least().exact().unwrap().to_string(), "100");
}

#[test]
fn what_is_below_the_floor_is_refused_unless_it_is_accepted_by_name() {
    let derive = |text: &str, settings| FormatKey::derive(&master(), &format(text), settings);
    let usual = || Settings::new(TweakPolicy::default());
    for text in [
        "card(keep=bin6-last4, length=16)",
        "ssn(keep=last4)",
        "ssn(keep=area)",
        "date(from=1900-01-01, to=2099-12-31)",
        "int(min=0, max=999998)",
        "ipv4(prefix=13)",
        "postal(country=US) ",
    ] {
        let refused = derive(text, usual());
        if text.starts_with("postal") {
            // ZIP+4 is above, ZIP alone is not: it is refused by the value.
            let key = refused.unwrap();
            let mut column =
                keywright_format::Column::new(&key, keywright_format::Scope::column("c"));
            assert!(column.protect_one(b"90210", &[]).is_err());
            assert!(column.protect_one(b"90210-1234", &[]).is_ok());
            continue;
        }
        assert!(
            matches!(refused, Err(Error::SmallDomain { floor: FLOOR, .. })),
            "{text}"
        );
        assert!(
            derive(text, usual().accept_small_domain()).is_ok(),
            "{text}"
        );
    }
    assert!(derive("int(min=0, max=999999)", usual()).is_ok());
    let tiny = derive("int(min=0, max=98)", usual().accept_small_domain());
    assert!(matches!(
        tiny,
        Err(Error::SmallDomain {
            size: 99,
            floor: 100
        })
    ));
}

#[test]
fn short_values_of_a_wide_format_are_refused_one_by_one() {
    let key = strict("email");
    let mut column = keywright_format::Column::new(&key, keywright_format::Scope::column("c"));
    let error = column.protect_one(b"abc@x.example", &[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the value does not fit: fewer values of this shape than the floor: 1000000 without small_domain, 100 with it"
    );
    assert!(column.protect_one(b"abcd@x.example", &[]).is_ok());
}

#[test]
fn the_defaults_of_every_built_in_are_above_the_floor() {
    for text in [
        "card", "ssn", "iban", "phone", "email", "date", "datetime", "time", "uuid", "ipv4",
        "ipv6", "mac",
    ] {
        let format: Format = text.parse().unwrap();
        let settings = Settings::new(TweakPolicy::default());
        let key = FormatKey::derive(&master(), &format, settings).unwrap();
        let mut column = keywright_format::Column::new(&key, keywright_format::Scope::column("c"));
        assert!(
            column.protect_one(format.example().as_bytes(), &[]).is_ok(),
            "{text}"
        );
    }
}
