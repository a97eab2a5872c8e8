//! Keys and columns that tests use.

use keywright_format::{
    Cells, Column, Format, FormatKey, Misfit, One, Output, Scope, Settings, TweakPolicy,
};
use keywright_secret::Secret;

pub(crate) fn master() -> Secret<32> {
    Secret::from_fill(|key| {
        for (place, byte) in (0..).zip(key) {
            *byte = place;
        }
    })
}

pub(crate) fn format(text: &str) -> Format {
    Format::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Accepts small sets: many tests count them out.
pub(crate) fn key(text: &str) -> FormatKey {
    let settings = Settings::new(TweakPolicy::default()).accept_small_domain();
    FormatKey::derive(&master(), &format(text), settings).unwrap()
}

pub(crate) fn strict(text: &str) -> FormatKey {
    let settings = Settings::new(TweakPolicy::default());
    FormatKey::derive(&master(), &format(text), settings).unwrap()
}

pub(crate) fn misfit(text: &str, value: &str) -> Misfit {
    let key = key(text);
    let mut column = Column::new(&key, Scope::column("c"));
    match column.protect_one(value.as_bytes(), &[]) {
        Err(One::Misfit(misfit)) => misfit,
        other => panic!("{text} takes {value}: {other:?}"),
    }
}

/// Tokens of values, which must all fit; and their way back is checked.
pub(crate) fn tokens(key: &FormatKey, values: &[String]) -> Vec<String> {
    let mut bytes = Vec::new();
    let mut offsets = vec![0];
    for value in values {
        bytes.extend_from_slice(value.as_bytes());
        offsets.push(bytes.len());
    }
    let cells = Cells::offsets(&bytes, &offsets).unwrap();
    let mut column = Column::new(key, Scope::column("c"));
    let (mut made, mut back) = (Output::new(), Output::new());
    let report = column.protect(cells, &[], &mut made).unwrap();
    assert_eq!(report.misfits(), [], "{}", key.format());
    let report = column.reveal(made.cells(), &[], &mut back).unwrap();
    assert_eq!(report.misfits(), [], "{}", key.format());
    assert_eq!(back.bytes(), bytes, "{}", key.format());
    assert_eq!(back.offsets(), offsets, "{}", key.format());
    (0..values.len())
        .map(|row| String::from_utf8(made.cells().get(row).to_vec()).unwrap())
        .collect()
}
