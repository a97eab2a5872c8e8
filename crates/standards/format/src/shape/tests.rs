//! Which FF1 serves a set, and ranks there and back.

use super::*;

fn number(modulus: u128) -> Span {
    Span { modulus, count: 0 }
}

fn run(modulus: u128, count: u32) -> Span {
    Span { modulus, count }
}

#[test]
fn sets_are_embedded_as_the_reference_has_them() {
    let of = |size| {
        let shape = Shape::new(&[number(size)]).unwrap();
        (shape.radix(), shape.digits())
    };
    assert_eq!(of(888_931_098), (29_815, 2));
    assert_eq!(of(7_920_000), (2_815, 2));
    assert_eq!(of(3_652_059), (1_912, 2));
    assert_eq!(of(6_311_433_600), (282, 4));
    assert_eq!(of(1 << 122), (2, 122));
    assert_eq!(of(10_u128.pow(15)), (10, 15));
}

#[test]
fn equal_radices_are_direct_and_others_are_not() {
    assert_eq!(
        *Shape::new(&[run(36, 4), run(36, 3)]).unwrap().fit(),
        Fit::Direct
    );
    assert_eq!(Shape::new(&[run(36, 4), run(36, 3)]).unwrap().digits(), 7);
    assert_ne!(
        *Shape::new(&[run(26, 4), run(10, 3)]).unwrap().fit(),
        Fit::Direct
    );
    assert_eq!(
        *Shape::new(&[number(16), number(16)]).unwrap().fit(),
        Fit::Power
    );
    assert_eq!(Shape::new(&[]).unwrap_err(), Unfit::Nothing);
    assert_eq!(
        Shape::new(&[number(1), number(1)]).unwrap_err(),
        Unfit::Nothing
    );
    assert_eq!(
        Shape::new(&[run(26, 50), run(10, 30)]).unwrap_err(),
        Unfit::TooMany
    );
    assert!(Shape::new(&[run(26, 500)]).unwrap().size().is_none());
}

#[test]
fn digits_and_numbers_come_back_through_the_rank() {
    let shapes = [
        vec![run(26, 4), run(10, 14)],
        vec![number(898), number(99), number(9_999)],
        vec![run(26, 4), run(36, 24)],
        vec![number(u128::MAX), run(10, 3), number(1 << 90)],
        vec![run(65_536, 3), number(3)],
        vec![run(36, 40), number(7)],
    ];
    let mut dice = keywright_mutate::SplitMix::new(9);
    for spans in shapes {
        let shape = Shape::new(&spans).unwrap();
        for _ in 0..200 {
            let mut sink = Sink::default();
            for span in &spans {
                let random = u128::from(dice.next_u64()) << 64 | u128::from(dice.next_u64());
                if span.count == 0 {
                    sink.number(random % span.modulus, span.modulus);
                    continue;
                }
                for _ in 0..span.count {
                    let digit = u128::from(dice.next_u64()) % span.modulus;
                    sink.symbol(u16::try_from(digit).unwrap());
                }
                sink.run(u32::try_from(span.modulus).unwrap(), span.count as usize);
            }
            let mut digits = vec![0; shape.digits()];
            shape.put(&sink, &mut digits);
            let (mut symbols, mut numbers) = (Vec::new(), Vec::new());
            shape.take(&digits, &mut symbols, &mut numbers);
            assert_eq!(symbols, sink.digits, "{spans:?}");
            assert_eq!(numbers, sink.numbers, "{spans:?}");
        }
    }
}
