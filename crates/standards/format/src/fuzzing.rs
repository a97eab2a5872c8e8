//! The promises of the language as functions over arbitrary bytes, which the fuzz target and plain tests
//! call.

use keywright_secret::Secret;

use crate::{Column, Format, FormatKey, One, Rules, Scope, Settings, TweakPolicy};

/// Reads `data` as a format and as a rules file, and checks of what is accepted that
///
/// * canonical text reads as itself;
/// * the example fits, and its token fits and comes back;
/// * `data` itself, if it fits one of the formats of a rules file, does as well.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn document(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    match Format::parse(text) {
        Ok(format) => accepted(&format, data),
        Err(error) => assert!(!error.to_string().is_empty(), "an error without words"),
    }
    match Rules::parse(text) {
        Ok(rules) => {
            for rule in rules.columns() {
                let policy = rule.tweak().to_string();
                let again = TweakPolicy::parse(&policy);
                assert!(
                    again.is_ok_and(|again| again == rule.tweak()),
                    "another policy"
                );
                if let Some(format) = rule.format() {
                    accepted(format, data);
                }
            }
        }
        Err(error) => assert!(!error.to_string().is_empty(), "an error without words"),
    }
}

/// Runs `value` through a format.
///
/// # Panics
/// If a value that fits does not come back, or its token does not fit.
pub fn value(format: &Format, value: &[u8]) {
    let fits = format.checker().check(value).is_ok();
    let settings = Settings::new(TweakPolicy::default()).accept_small_domain();
    let master = Secret::<32>::from_fill(|key| key.fill(0x5a));
    let Ok(key) = FormatKey::derive(&master, format, settings) else {
        return;
    };
    let mut column = Column::new(&key, Scope::column("fuzz"));
    let token = match column.protect_one(value, &[]) {
        Ok(token) => token,
        Err(One::Misfit(_)) => return,
        Err(One::Error(error)) => unreachable_error(error),
    };
    assert!(
        fits || value.is_empty(),
        "a token of a value that does not fit"
    );
    let back = column.reveal_one(&token, &[]);
    assert!(
        matches!(back, Ok(back) if back == value),
        "it does not come back"
    );
}

fn accepted(format: &Format, data: &[u8]) {
    let again = Format::parse(format.canonical());
    assert!(
        matches!(again, Ok(again) if again == *format),
        "another canonical text"
    );
    let example = format.example();
    // Only short ones: a format may ask for values of 65,536 symbols.
    if example.len() < 4_096 {
        let found = format.checker().check(example.as_bytes());
        assert!(found.is_ok(), "the example does not fit");
        value(format, example.as_bytes());
    }
    value(format, data);
}

#[expect(clippy::panic, reason = "this is what a fuzzer looks for")]
fn unreachable_error(error: crate::Error) -> ! {
    panic!("settings that were accepted fail: {error}")
}
