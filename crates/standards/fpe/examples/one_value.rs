//! One value of digits, there and back, under a tweak.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "an example")]

use keywright_fpe::{Algorithm, Error, Key, Mode, Options, Radix};

fn main() -> Result<(), Error> {
    // In earnest, 16, 24 or 32 bytes from a key service.
    let secret = [0x2B; 32];
    let key = Key::new(
        Options::new(Mode::Ff1, Algorithm::Aes, Radix::DECIMAL),
        &secret,
    )?;

    // What the value belongs to: another customer, another token.
    let tweak = b"customer 4711";
    let number = [4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1_u8];
    let mut token = [0; 16];
    key.encrypt(tweak, &number, &mut token)?;
    println!("{number:?} becomes {token:?}");

    key.decrypt_in_place(tweak, &mut token)?;
    assert_eq!(token, number);

    // Too few values to hide one among: refused, with the numbers in the words.
    if let Err(error) = key.encrypt_in_place(tweak, &mut [1_u8, 2, 3, 4]) {
        println!("{error}");
    }
    Ok(())
}
