//! Columns: the same tokens however the cells lie, in every block, by the fast way and the common one.

use keywright_format::{Cells, Column, FormatKey, Misfit, Output, Scope, Settings, TweakPolicy};
use keywright_mutate::SplitMix;

use crate::builtins::{carded, digits};
use crate::scene::{format, master, strict, tokens};

fn cards(count: usize, length: usize) -> Vec<String> {
    let mut dice = SplitMix::new(77);
    (0..count)
        .map(|_| carded(&digits(&mut dice, length - 1)))
        .collect()
}

fn protect(key: &FormatKey, cells: Cells<'_>) -> (Vec<u8>, Vec<usize>) {
    let mut out = Output::new();
    let report = Column::new(key, Scope::column("c"))
        .protect(cells, &[], &mut out)
        .unwrap();
    assert_eq!(report.misfits(), []);
    assert_eq!(report.cells(), cells.len());
    (out.bytes().to_vec(), out.offsets().to_vec())
}

#[test]
fn fixed_width_offsets_and_single_values_give_the_same_tokens() {
    for (text, length) in [
        ("card", 13),
        ("card", 16),
        ("card", 19),
        ("card(luhn=break)", 16),
        ("card(luhn=ignore)", 15),
        ("card(keep=last4)", 16),
        ("digit(14)", 14),
        ("digit(9) check(luhn)", 10),
    ] {
        let key = strict(text);
        let values = cards(9_000, length);
        let bytes = values.concat();
        let offsets: Vec<usize> = (0..=values.len()).map(|row| row * length).collect();
        let small: Vec<i32> = offsets
            .iter()
            .map(|offset| i32::try_from(*offset).unwrap())
            .collect();
        let fixed = protect(&key, Cells::fixed(bytes.as_bytes(), length).unwrap());
        assert_eq!(
            protect(&key, Cells::offsets(bytes.as_bytes(), &offsets).unwrap()),
            fixed
        );
        assert_eq!(
            protect(&key, Cells::offsets_i32(bytes.as_bytes(), &small).unwrap()),
            fixed
        );
        assert_eq!(fixed.1, offsets);
        let cells = Cells::offsets(bytes.as_bytes(), &offsets).unwrap();
        assert_eq!(cells.by_offsets(), Some((bytes.as_bytes(), &offsets[..])));
        let small = Cells::offsets_i32(bytes.as_bytes(), &small).unwrap();
        assert_eq!(small.by_offsets(), None);
        let mut column = Column::new(&key, Scope::column("c"));
        for row in [0, 1, 4_095, 4_096, 8_999] {
            let token = column.protect_one(values[row].as_bytes(), &[]).unwrap();
            assert_eq!(
                token,
                fixed.0[row * length..(row + 1) * length],
                "{text} {row}"
            );
            // With a delimiter a value goes the common way, and its token is the same beside it.
            if text.starts_with("card") {
                let spelled = format!("{} {}", &values[row][..4], &values[row][4..]);
                let token = column.protect_one(spelled.as_bytes(), &[]).unwrap();
                let plain: Vec<u8> = token.into_iter().filter(|b| *b != b' ').collect();
                assert_eq!(
                    plain,
                    fixed.0[row * length..(row + 1) * length],
                    "{text} {row}"
                );
            }
        }
        // And back.
        let (mut out, mut column) = (Output::new(), Column::new(&key, Scope::column("c")));
        column
            .reveal(Cells::fixed(&fixed.0, length).unwrap(), &[], &mut out)
            .unwrap();
        assert_eq!(out.bytes(), bytes.as_bytes(), "{text}");
    }
}

/// What comes of values, the way there or back. One more, of a width of its own, sends all of them the common way.
fn either_way(
    key: &FormatKey,
    (values, rows): (&[String], &[Vec<String>]),
    (reveal, common): (bool, bool),
) -> (Vec<String>, Vec<(usize, Misfit)>) {
    let pile = |values: &[String]| {
        let more = common.then(|| "no card".to_owned());
        let cells: Vec<&String> = values.iter().chain(&more).collect();
        let mut ends = vec![0];
        ends.extend(cells.iter().scan(0, |end, cell| {
            *end += cell.len();
            Some(*end)
        }));
        (cells.into_iter().cloned().collect::<String>(), ends)
    };
    let values = pile(values);
    let rows: Vec<_> = rows.iter().map(|row| pile(row)).collect();
    let rows: Vec<Cells<'_>> = rows
        .iter()
        .map(|(bytes, ends)| Cells::offsets(bytes.as_bytes(), ends).unwrap())
        .collect();
    let cells = Cells::offsets(values.0.as_bytes(), &values.1).unwrap();
    let (mut out, mut column) = (Output::new(), Column::new(key, Scope::column("c")));
    let done = if reveal {
        column.reveal(cells, &rows, &mut out)
    } else {
        column.protect(cells, &rows, &mut out)
    };
    let mut misfits = done.unwrap().misfits().to_vec();
    if common {
        assert!(misfits.pop().is_some());
    }
    let cell = |row| String::from_utf8(out.cells().get(row).to_vec()).unwrap();
    let count = cells.len() - usize::from(common);
    ((0..count).map(cell).collect(), misfits)
}

#[test]
fn what_is_kept_and_tweaks_of_their_own_give_the_same_tokens_by_both_ways() {
    let mut formats = vec![
        ("digit(9)".to_owned(), 9..=9),
        ("digit(12)".to_owned(), 12..=12),
        ("digit(15) check(luhn)".to_owned(), 16..=16),
    ];
    for keep in ["none", "bin6", "bin8", "last4", "bin6-last4", "bin8-last4"] {
        for luhn in ["keep", "break", "ignore"] {
            formats.push((format!("card(keep={keep}, luhn={luhn})"), 13..=19));
        }
    }
    let ids: Vec<String> = (0..300).map(|row| format!("{:03}", row % 200)).collect();
    for (text, lengths) in formats {
        for (length, policy) in lengths.flat_map(|length| [(length, "column"), (length, "row(id)")])
        {
            let values = cards(300, length);
            let rows = if policy == "column" {
                vec![]
            } else {
                vec![ids.clone()]
            };
            let settings = Settings::new(TweakPolicy::parse(policy).unwrap()).accept_small_domain();
            let key = FormatKey::derive(&master(), &format(&text), settings).unwrap();
            let case = format!("{text} of {length}, {policy}");
            let made = either_way(&key, (&values, &rows), (false, false));
            let common = either_way(&key, (&values, &rows), (false, true));
            assert_eq!(made, common, "{case}");
            let (tokens, misfits) = made;
            // Much kept of few digits leaves too few values, and then none fits.
            assert!([0, values.len()].contains(&misfits.len()), "{case}");
            if misfits.is_empty() {
                let whole = (values, vec![]);
                assert_eq!(
                    either_way(&key, (&tokens, &rows), (true, false)),
                    whole,
                    "{case}"
                );
                assert_eq!(
                    either_way(&key, (&tokens, &rows), (true, true)),
                    whole,
                    "{case}"
                );
            }
        }
    }
}

#[test]
fn a_value_that_does_not_fit_leaves_the_others_as_they_would_be() {
    let key = strict("card");
    let mut values = cards(5_000, 16);
    let whole = tokens(&key, &values);
    values[17] = "4111111111111112".to_owned();
    values[4_500] = "41x1111111111111".to_owned();
    let bytes = values.concat();
    let mut out = Output::new();
    let mut column = Column::new(&key, Scope::column("c"));
    let cells = Cells::fixed(bytes.as_bytes(), 16).unwrap();
    let report = column.protect(cells, &[], &mut out).unwrap();
    let expected = [(17, Misfit::Check), (4_500, Misfit::Symbol { position: 2 })];
    assert_eq!(report.misfits(), expected);
    for (row, token) in whole.iter().enumerate() {
        let cell = out.cells().get(row);
        if [17, 4_500].contains(&row) {
            assert!(cell.is_empty());
        } else {
            assert_eq!(cell, token.as_bytes());
        }
    }
}

#[test]
fn empty_cells_stay_empty_and_are_counted() {
    let key = strict("email");
    let bytes = b"adalovelace@x.examplealanturing@y.example";
    let offsets = [0, 0, 21, 21, 41, 41];
    let mut out = Output::new();
    let mut column = Column::new(&key, Scope::column("c"));
    let cells = Cells::offsets(bytes, &offsets).unwrap();
    let report = column.protect(cells, &[], &mut out).unwrap();
    assert_eq!(
        (report.cells(), report.empty(), report.misfits().len()),
        (5, 3, 0)
    );
    assert_eq!(out.offsets(), offsets);
}

#[test]
fn values_of_many_shapes_and_tweaks_come_back_in_their_order() {
    let mut dice = SplitMix::new(5);
    let domains = ["a.example", "b.example.org", "c.example.net"];
    let values: Vec<String> = (0..6_000)
        .map(|row| {
            let length = 4 + dice.below(30);
            let local: String = (0..length)
                .map(|_| char::from(b'a' + dice.byte() % 26))
                .collect();
            format!("{local}@{}", domains[row % 3])
        })
        .collect();
    let made = tokens(&strict("email"), &values);
    for (value, token) in values.iter().zip(&made).step_by(97) {
        assert_eq!(
            &tokens(&strict("email"), std::slice::from_ref(value))[0],
            token
        );
    }
    let mixed: Vec<String> = (0..500)
        .flat_map(|row| {
            [
                format!("DE{:02}37040044{row:010}", 0),
                format!("NO{:02}{row:011}", 0),
            ]
        })
        .map(|text| {
            (2..99)
                .map(|check| format!("{}{check:02}{}", &text[..2], &text[4..]))
                .find(|text| crate::validators::iban(text, text.len()))
                .unwrap()
        })
        .collect();
    tokens(&strict("iban"), &mixed);
}

#[test]
fn what_is_kept_is_in_the_tweak() {
    let key = strict("card(keep=bin6)");
    assert_eq!(key.settings().tweak().to_string(), "column kept");
    // The same nine free digits behind different front digits.
    let values: Vec<String> = (0..50)
        .map(|bin| carded(&format!("{:06}123456789", 400_000 + bin)))
        .collect();
    let made = tokens(&key, &values);
    let backs: std::collections::BTreeSet<&str> = made.iter().map(|token| &token[6..15]).collect();
    assert!(backs.len() > 45);
    assert_eq!(strict("card").settings().tweak().to_string(), "column");
}

#[test]
fn rows_and_other_columns_make_equal_values_different() {
    let policy = TweakPolicy::parse("column row(id)").unwrap();
    let key = FormatKey::derive(&master(), &format("digit(9)"), Settings::new(policy)).unwrap();
    let values = b"123456789".repeat(100);
    let ids: Vec<String> = (0..100).map(|id| format!("{id:03}")).collect();
    let ids = ids.concat();
    let cells = Cells::fixed(&values, 9).unwrap();
    let rows = [Cells::fixed(ids.as_bytes(), 3).unwrap()];
    let (mut out, mut back) = (Output::new(), Output::new());
    let mut column = Column::new(&key, Scope::column("c"));
    column.protect(cells, &rows, &mut out).unwrap();
    let made: std::collections::BTreeSet<&[u8]> =
        (0..100).map(|row| out.cells().get(row)).collect();
    assert_eq!(made.len(), 100);
    column.reveal(out.cells(), &rows, &mut back).unwrap();
    assert_eq!(back.bytes(), values);
    // The wrong row gives another value.
    let token = out.cells().get(3);
    assert_eq!(column.reveal_one(token, &[b"003"]).unwrap(), b"123456789");
    assert_ne!(column.reveal_one(token, &[b"004"]).unwrap(), b"123456789");
}

#[test]
fn threads_and_backends_change_nothing() {
    use keywright_fpe::Backend;
    let values = cards(9_000, 16);
    let bytes = values.concat();
    let cells = Cells::fixed(bytes.as_bytes(), 16).unwrap();
    for text in [
        "card",
        "card(keep=last4)",
        "int(min=0, max=9999999999999999, width=16)",
    ] {
        let expected = protect(&strict(text), cells).0;
        let key = strict(text);
        let mut out = Output::new();
        let mut column = Column::new(&key, Scope::column("c")).with_threads(2);
        column.protect(cells, &[], &mut out).unwrap();
        assert_eq!(out.bytes(), expected);
        let settings = Settings::new(TweakPolicy::default()).with_backend(Backend::Portable);
        let key = FormatKey::derive(&master(), &format(text), settings).unwrap();
        let mut out = Output::new();
        let mut column = Column::new(&key, Scope::column("c"));
        let first = Cells::fixed(&bytes.as_bytes()[..1_600], 16).unwrap();
        column.protect(first, &[], &mut out).unwrap();
        assert_eq!(out.bytes(), &expected[..1_600]);
    }
}

#[test]
fn debug_output_shows_no_key_and_no_value() {
    let key = strict("card(keep=last4)");
    let mut column = Column::new(&key, Scope::column("c"));
    let mut out = Output::new();
    let card = Cells::fixed(b"4111111111111111", 16).unwrap();
    column.protect(card, &[], &mut out).unwrap();
    column.reveal(card, &[], &mut out).unwrap();
    let text = format!("{key:?}");
    assert!(text.contains("card@1") && !text.contains("secret"));
    assert_eq!(
        format!("{column:?}"),
        format!("Column {{ key: {key:?}, .. }}")
    );
    assert_eq!(format!("{out:?}"), "Output { cells: 1, .. }");
}

/// So many accounts like this one, at random.
fn accounts(like: &str, count: usize) -> Vec<String> {
    let text = format!("iban(country={})", &like[..2]);
    let policy = TweakPolicy::parse("row(id)").unwrap();
    let key = FormatKey::derive(&master(), &format(&text), Settings::new(policy)).unwrap();
    let ids: Vec<u8> = (0..count).flat_map(|row| row.to_be_bytes()).collect();
    let (values, mut out) = (like.repeat(count), Output::new());
    let cells = Cells::fixed(values.as_bytes(), like.len()).unwrap();
    let rows = [Cells::fixed(&ids, 8).unwrap()];
    let mut column = Column::new(&key, Scope::column("spread"));
    let report = column.protect(cells, &rows, &mut out).unwrap();
    assert_eq!(report.misfits(), []);
    let cell = |row| String::from_utf8(out.cells().get(row).to_vec()).unwrap();
    (0..count).map(cell).collect()
}

#[test]
fn accounts_of_one_country_have_the_same_tokens_in_a_column_and_alone() {
    for (country, like) in crate::builtins::IBANS {
        let key = strict(&format!("iban(country={country})"));
        let values = accounts(like, 700);
        let bytes = values.concat();
        let made = protect(&key, Cells::fixed(bytes.as_bytes(), like.len()).unwrap()).0;
        let mut column = Column::new(&key, Scope::column("c"));
        for (row, (value, token)) in values.iter().zip(made.chunks(like.len())).enumerate() {
            assert_eq!(column.protect_one(value.as_bytes(), &[]).unwrap(), token);
            assert_eq!(column.reveal_one(token, &[]).unwrap(), value.as_bytes());
            let text = std::str::from_utf8(token).unwrap();
            assert!(crate::validators::iban(text, like.len()), "{text}");
            if row % 100 == 0 {
                // With a delimiter no value of a block goes the fast way.
                let spelled = format!("{} {}", &value[..4], &value[4..]);
                let spelled = column.protect_one(spelled.as_bytes(), &[]).unwrap();
                assert_eq!([&spelled[..4], &spelled[5..]].concat(), token);
            }
        }
        let (mut out, cells) = (Output::new(), Cells::fixed(&made, like.len()).unwrap());
        column.reveal(cells, &[], &mut out).unwrap();
        assert_eq!(out.bytes(), bytes.as_bytes(), "{country}");
    }
}

#[test]
fn one_account_that_does_not_fit_is_told_of_and_the_others_are_done() {
    let like = "FR1420041010050500013M02606";
    let key = strict("iban(country=FR)");
    let good = accounts(like, 600);
    let whole = tokens(&key, &good);
    let wrong = |place: usize, by: u8| {
        let mut value = good[300].clone().into_bytes();
        value[place] = by;
        value
    };
    let next = |place: usize| {
        let digit = good[300].as_bytes()[place] - b'0';
        b'0' + (digit + 1) % 10
    };
    let cases = [
        (wrong(0, b'D'), Misfit::Country),
        (wrong(2, next(2)), Misfit::Check),
        (wrong(26, next(26)), Misfit::Check),
        (wrong(4, b'x'), Misfit::Symbol { position: 4 }),
        (wrong(14, b'@'), Misfit::Symbol { position: 14 }),
        (wrong(26, 0xff), Misfit::Symbol { position: 26 }),
    ];
    for (value, misfit) in cases {
        let mut bytes = good.concat().into_bytes();
        bytes[300 * 27..301 * 27].copy_from_slice(&value);
        let (cells, mut out) = (Cells::fixed(&bytes, 27).unwrap(), Output::new());
        let mut column = Column::new(&key, Scope::column("c"));
        let report = column.protect(cells, &[], &mut out).unwrap();
        assert_eq!(report.misfits(), [(300, misfit)]);
        for (row, token) in whole.iter().enumerate().filter(|(row, _)| *row != 300) {
            assert_eq!(out.cells().get(row), token.as_bytes());
        }
        assert!(out.cells().get(300).is_empty());
    }
}
