//! Vector conversion of digits against the plain one.

use super::super::digits::{Converter, MARGIN};
use super::{Stream, plan};
use crate::cipher::{Algorithm, Backend};
use crate::feistel::{Family, Plan};

/// The vector conversions against the plain ones: every radix, every length, least and greatest
/// numbers among random ones.
#[test]
fn vector_conversion_of_digits_is_exact_for_every_radix_and_length() {
    let mut stream = Stream(0x0123_4567_89ab_cdef);
    let mut served = 0;
    for family in [Family::Ff1, Family::Ff3] {
        for radix in 2..=91u32 {
            let lengths = 2..=38usize;
            let short = |length: &usize| {
                u128::from(radix)
                    .checked_pow(u32::try_from(length.div_ceil(2)).unwrap())
                    .is_some_and(|power| power <= 1 << 96)
            };
            for length in lengths.filter(short) {
                let plan = plan(family, radix, length);
                let backend = Backend::detect(Algorithm::Aes);
                let Some(converter) = Converter::new(&plan, backend) else {
                    continue;
                };
                served += 1;
                judge_conversion(&plan, &converter, &stream.digits(radix, length, 40));
            }
        }
    }
    assert!(served > 3000 || !Backend::AesNi.is_available(), "{served}");
}

/// Forty records of digits to eights, to numbers and back, and from eights to digits.
fn judge_conversion(plan: &Plan, converter: &Converter, record_digits: &[u32]) {
    let length = plan.length();
    let label = (plan.family, plan.digits.radix(), length);
    let mut padded = std::vec![0u8; 40 * length + 2 * MARGIN];
    for (byte, digit) in padded[MARGIN..].iter_mut().zip(record_digits) {
        *byte = u8::try_from(*digit).unwrap();
    }
    let mut eights = [[0; 4]; 40];
    converter.read(&padded, &mut eights);
    let mut again = eights;
    let order = plan.family.order();
    for (k, record) in record_digits.chunks(length).enumerate() {
        let (first, second) = record.split_at(plan.first);
        let want = [first, second].map(|half| plan.digits.number_wide(half, order));
        let mut sixteen = want;
        if converter.is_long() {
            sixteen = want.map(|number| number % u128::from(converter.sixteen()));
            let halves = want.map(|number| u64::try_from(number).unwrap());
            let [[a, b], [c, d]] = halves.map(|half| {
                let [_, lower] = converter.split_top(half);
                converter.split_sixteen(lower)
            });
            again[k] = [a, b, c, d];
        } else {
            let [[a, b], [c, d]] = want.map(|half| converter.split(half));
            if plan.moduli.values().iter().all(|m| *m > 1 << 64) {
                again[k] = [a, b, c, d];
            }
        }
        assert_eq!(converter.join(eights[k]), sixteen, "{label:?}");
    }
    assert_eq!(again, eights, "{label:?}");
    let mut written = std::vec![0u8; padded.len()];
    converter.write(&eights, &mut written);
    let place = MARGIN..MARGIN + 40 * length;
    if !converter.is_long() {
        assert_eq!(written[place.clone()], padded[place], "{label:?}");
    }
}
