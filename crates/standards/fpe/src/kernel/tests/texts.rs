//! Text that the kernels read and write themselves, and text that they leave.

use std::vec::Vec;

use super::*;

#[test]
fn text_of_decimal_digits_equals_digits() {
    let mut stream = Stream(0x5eed_5eed_5eed_5eed);
    for (algorithm, backend) in backends() {
        let schedule = Schedule::new(algorithm, &KEY[..16], backend).unwrap();
        for family in [Family::Ff1, Family::Ff3] {
            let plan = plan(family, 10, 16);
            let base = stream.base(family);
            let bytes: Vec<u8> = stream
                .digits(10, 16, 100)
                .iter()
                .map(|digit| u8::try_from(*digit).unwrap())
                .collect();
            let group = Group {
                schedule: &schedule,
                plan: &plan,
                bases: Bases::One(&base),
                direction: Direction::Encrypt,
            };
            let mut digits = bytes.clone();
            let mut text: Vec<u8> = bytes.iter().map(|digit| digit + b'0').collect();
            let mut single = text[..16].to_vec();
            let done = run(&group, Records::Text(&mut text, Alphabet::DIGITS));
            if done > 0 {
                assert_eq!(run(&group, Records::Bytes(&mut digits)), done);
                assert!(
                    digits
                        .iter()
                        .zip(&text)
                        .all(|(digit, symbol)| digit + b'0' == *symbol)
                );
            } else {
                let without = [Backend::Portable, Backend::ArmAes, Backend::ArmSm4];
                assert!(without.contains(&backend), "{backend}");
            }
            let walk = Walk {
                schedule: &schedule,
                plan: &plan,
                bases: &[],
                direction: Direction::Encrypt,
            };
            if one_text(&walk, &base, Alphabet::DIGITS, &mut single) {
                assert_eq!(single, text[..16]);
            }
        }
    }
}

#[test]
fn text_over_another_alphabet_is_left_alone() {
    for (algorithm, backend) in backends() {
        let schedule = Schedule::new(algorithm, &KEY[..16], backend).unwrap();
        let plan = plan(Family::Ff1, 10, 16);
        let base = Base([7, 7]);
        let letters = Alphabet::new("abcdefghij").unwrap();
        let group = Group {
            schedule: &schedule,
            plan: &plan,
            bases: Bases::One(&base),
            direction: Direction::Encrypt,
        };
        let mut text = *b"abcdefghijabcdef";
        assert_eq!(run(&group, Records::Text(&mut text, &letters)), 0);
        assert_eq!(&text, b"abcdefghijabcdef");
    }
}
