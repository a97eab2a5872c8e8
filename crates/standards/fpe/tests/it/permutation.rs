//! Whole domains: every value has one image, and it is the domain again.

use keywright_fpe::{Algorithm, Batch, Layout, Mode, Tweaks};

use crate::scene;

fn covers(mode: Mode, radix: u32, length: usize) {
    let key = scene::key(mode, Algorithm::Aes, radix);
    let base = usize::try_from(radix).unwrap();
    let domain = base.pow(u32::try_from(length).unwrap());
    let mut values = vec![0_u16; domain * length];
    for (number, value) in values.chunks_mut(length).enumerate() {
        let mut rest = number;
        for digit in value.iter_mut().rev() {
            *digit = u16::try_from(rest % base).unwrap();
            rest /= base;
        }
    }
    let plain = values.clone();
    let tweak: &[u8] = match mode {
        Mode::Ff1 => b"whole domain",
        Mode::Ff3 => b"8 bytes.",
        _ => b"7 bytes",
    };
    let (batch, layout) = (Batch::new(&key), Layout::Fixed(length));
    batch
        .encrypt(Tweaks::Same(tweak), layout, &mut values)
        .unwrap();
    let mut seen = vec![false; domain];
    for value in values.chunks(length) {
        let number = value
            .iter()
            .fold(0, |number, digit| number * base + usize::from(*digit));
        assert!(
            !std::mem::replace(&mut seen[number], true),
            "an image comes twice"
        );
    }
    batch
        .decrypt(Tweaks::Same(tweak), layout, &mut values)
        .unwrap();
    assert_eq!(values, plain);
}

#[test]
fn ff1_permutes_six_decimal_digits() {
    covers(Mode::Ff1, 10, 6);
}

#[test]
fn ff1_permutes_twenty_bits() {
    covers(Mode::Ff1, 2, 20);
}

#[test]
fn ff1_permutes_five_letters_and_two_digits_of_radix_1000() {
    covers(Mode::Ff1, 26, 5);
    covers(Mode::Ff1, 1_000, 2);
}

#[test]
fn ff3_and_ff3_1_permute_five_digits() {
    covers(Mode::Ff3, 10, 5);
    covers(Mode::Ff31, 10, 5);
}
