//! Text over an alphabet: a preset, and one of the caller's own.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "an example")]

use keywright_fpe::{Algorithm, Alphabet, Error, Key, Mode, Options, Radix};

fn main() -> Result<(), Error> {
    let secret = [0x2B; 16];
    let (tweak, text) = (b"orders", "Zx81QpL07aB");

    // The radix of the key is the number of symbols.
    let key = Key::new(
        Options::new(Mode::Ff1, Algorithm::Aes, Radix::new(62)?),
        &secret,
    )?;
    let mut token = [0; 11];
    key.encrypt_text(tweak, Alphabet::BASE62, text, &mut token)?;
    println!("{text} becomes {}", String::from_utf8_lossy(&token));

    let greek = Alphabet::new("αβγδεζηθικλμνξοπρστυφχψω")?;
    let radix = Radix::new(greek.symbols())?;
    let key = Key::new(Options::new(Mode::Ff1, Algorithm::Aes, radix), &secret)?;
    let token = key.encrypt_string(tweak, &greek, "λογοσ")?;
    println!("λογοσ becomes {token}");
    assert_eq!(key.decrypt_string(tweak, &greek, &token)?, "λογοσ");

    // A symbol that the alphabet does not have: its place is named, the symbol is not.
    if let Err(error) = key.encrypt_string(tweak, &greek, "λογος") {
        println!("{error}");
    }
    Ok(())
}
