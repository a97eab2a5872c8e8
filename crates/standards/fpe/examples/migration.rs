//! From FF3-1 to FF1: reads what was written in the withdrawn mode, and writes it in the one that stays.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "an example")]

use keywright_fpe::{Algorithm, Alphabet, Error, Key, Mode, Options, Radix};

fn main() -> Result<(), Error> {
    let old_secret = [
        0x2D, 0xE7, 0x9D, 0x23, 0x2D, 0xF5, 0x58, 0x5D, 0x68, 0xCE, 0x47, 0x88, 0x2A, 0xE2, 0x56,
        0xD6,
    ];
    let old_tweak = [0xCB, 0xD0, 0x92, 0x80, 0x97, 0x95, 0x64];
    // No policy need be opened to decrypt. Data that fpe-c wrote as FF3-1 is read with `Mode::FpecFf31`.
    let old = Key::new(
        Options::new(Mode::Ff31, Algorithm::Aes, Radix::DECIMAL),
        &old_secret,
    )?;
    // A key of its own: no key serves two modes.
    let new = Key::new(
        Options::new(Mode::Ff1, Algorithm::Aes, Radix::DECIMAL),
        &[0x2B; 32],
    )?;

    for token in ["8901801106", "0535455316"] {
        let plain = old.decrypt_string(&old_tweak, Alphabet::DIGITS, token)?;
        let moved = new.encrypt_string(b"accounts", Alphabet::DIGITS, &plain)?;
        // Nothing is replaced before it has been read back.
        assert_eq!(
            new.decrypt_string(b"accounts", Alphabet::DIGITS, &moved)?,
            plain
        );
        println!("{token} becomes {moved}");
    }

    // Writing FF3-1 is refused unless the policy allows it by name.
    if let Err(error) = old.encrypt_string(&old_tweak, Alphabet::DIGITS, "3992520240") {
        println!("{error}");
    }
    Ok(())
}
