//! On small parameters: every value has a token, and no two the same.

use std::collections::BTreeSet;

use crate::builtins::carded;
use crate::scene::{key, tokens};

fn exhaust(text: &str, values: Vec<String>) {
    let key = key(text);
    let made = tokens(&key, &values);
    let (before, after): (BTreeSet<_>, BTreeSet<_>) =
        (values.iter().collect(), made.iter().collect());
    assert_eq!(
        before.len(),
        values.len(),
        "the test counts a value twice: {text}"
    );
    assert_eq!(before, after, "{text} is no permutation of its values");
}

#[test]
fn numbers_of_every_size_of_excess() {
    for most in [
        99, 100, 101, 120, 121, 255, 256, 999, 1_000, 1_001, 65_536, 70_000,
    ] {
        exhaust(
            &format!("int(min=0, max={most})"),
            (0..=most).map(|n| n.to_string()).collect(),
        );
    }
    exhaust(
        "int(min=-300, max=200)",
        (-300..=200).map(|n| n.to_string()).collect(),
    );
    let cents = |n: i32| {
        format!(
            "{}{}.{:02}",
            if n < 0 { "-" } else { "" },
            n.abs() / 100,
            n.abs() % 100
        )
    };
    exhaust(
        "decimal(min=-2.5, max=7.25)",
        (-250..=725).map(cents).collect(),
    );
    exhaust(
        "int(min=7, max=500, width=5)",
        (7..=500).map(|n| format!("{n:05}")).collect(),
    );
}

#[test]
fn cards_with_the_most_kept() {
    for luhn in ["keep", "ignore"] {
        let free = if luhn == "keep" { 1_000 } else { 10_000 };
        let values = (0..free)
            .map(|n| {
                if luhn == "ignore" {
                    return format!("41111111{n:04}1234");
                }
                // The fourth free digit is what makes the sum right.
                (0..10)
                    .map(|digit| format!("41111111{n:03}{digit}1234"))
                    .find(|number| crate::validators::luhn(number))
                    .unwrap()
            })
            .collect();
        exhaust(&format!("card(keep=bin8-last4, luhn={luhn})"), values);
    }
    let values = (0..10_000)
        .map(|n| carded(&format!("41111111{n:04}")))
        .collect();
    exhaust("card(keep=bin8)", values);
}

#[test]
fn social_security_numbers_with_the_last_four_kept() {
    let areas = (1..900).filter(|area| *area != 666);
    let values =
        areas.flat_map(|area| (1..100).map(move |group| format!("{area:03}-{group:02}-4321")));
    exhaust("ssn(keep=last4)", values.collect());
}

#[test]
fn days_and_clocks() {
    let mut days = Vec::new();
    for year in 1999..=2001 {
        for month in 1..=12 {
            for day in 1..=31 {
                let text = format!("{year}-{month:02}-{day:02}");
                if crate::validators::date(&text) {
                    days.push(text);
                }
            }
        }
    }
    exhaust("date(from=1999-01-01, to=2001-12-31)", days);
    let minutes = (0..1_440).map(|m| format!("{:02}:{:02}", m / 60, m % 60));
    exhaust("time(form=\"hh:mm\")", minutes.collect());
}

#[test]
fn telephone_lines() {
    let values = (0..10_000).map(|line| format!("+1212555{line:04}"));
    exhaust("phone(prefix=6)", values.collect());
    let values =
        (1..10).flat_map(|first| (0..10_000).map(move |rest| format!("+90{first}{rest:04}")));
    exhaust("phone@1", values.collect());
    // Vienna's numbers of five digits begin with 1 or 5.
    let values = [1, 5]
        .into_iter()
        .flat_map(|first| (0..10_000).map(move |rest| format!("+43{first}{rest:04}")));
    exhaust("phone", values.collect());
    let mut exchanges = Vec::new();
    for exchange in 200..1_000 {
        if exchange % 100 != 11 {
            exchanges.extend(
                (0..10_000)
                    .step_by(1)
                    .map(|line| format!("+1212{exchange}{line:04}")),
            );
        }
    }
    // 7,920,000 of them: each hundredth line is enough to see two of one token.
    let values: Vec<String> = exchanges.into_iter().step_by(97).collect();
    let made = tokens(&key("phone@1(prefix=3)"), &values);
    assert_eq!(made.iter().collect::<BTreeSet<_>>().len(), values.len());
    assert!(made.iter().all(|token| crate::validators::american(token)));
}

#[test]
fn short_local_parts_and_lists_of_domains() {
    let letters = "0123456789abcdefghijklmnopqrstuvwxyz";
    let pairs = letters
        .chars()
        .flat_map(|a| letters.chars().map(move |b| format!("{a}.{b}@x.example")));
    exhaust("email", pairs.collect());
    let listed = letters.chars().flat_map(|a| {
        ["a.example", "b.example", "c.example"].map(|domain| format!("{a}@{domain}"))
    });
    exhaust(
        "email(domains=[a.example, b.example, c.example])",
        listed.collect(),
    );
}

#[test]
fn prefixes_of_addresses() {
    exhaust(
        "ipv4(prefix=20)",
        (0..4_096)
            .map(|n| format!("10.1.{}.{}", 16 + n / 256, n % 256))
            .collect(),
    );
    let values =
        (0..4_096_u128).map(|n| std::net::Ipv6Addr::from_bits((0x2001_0db8 << 96) | n).to_string());
    exhaust("ipv6(prefix=116)", values.collect());
}

#[test]
fn sequences_with_check_digits_and_alternatives() {
    let upper = || "ABCDEFGHIJKLMNOPQRSTUVWXYZ".chars();
    let mut values = Vec::new();
    for letter in upper() {
        values.extend((0..100).map(|n| format!("{letter}-{n:02}")));
    }
    exhaust(r#"upper "-" digit(2)"#, values.clone());
    values.extend((0..1_000).map(|n| format!("{n:03}")));
    exhaust(r#"upper "-" digit(2) | digit(3)"#, values);
    let greek: Vec<char> = "αβγδεζηθικλμνξοπρστυφχψω".chars().collect();
    let pairs = greek
        .iter()
        .flat_map(|a| greek.iter().map(move |b| format!("{a}{b}")));
    exhaust(
        "text(alphabet=\"αβγδεζηθικλμνξοπρστυφχψω\", length=2)",
        pairs.collect(),
    );
    let accounts = (0..1_000).map(|n| {
        let account = format!("NO0086011117{n:03}");
        (2..99)
            .map(|check| account.replacen("00", &format!("{check:02}"), 1))
            .find(|text| crate::validators::iban(text, 15))
            .unwrap()
    });
    // Bank kept: seven digits are free. A thousand of them must not meet.
    let values: Vec<String> = accounts.collect();
    let made = tokens(&key("iban(keep=bank)"), &values);
    assert_eq!(made.iter().collect::<BTreeSet<_>>().len(), values.len());
}
