//! Many values at once: one shape with a tweak for all, and mixed lengths with a tweak for each.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "an example")]

use keywright_fpe::{Algorithm, Alphabet, Batch, Key, Layout, Mode, Options, Radix, Tweaks};

fn main() -> Result<(), Box<dyn core::error::Error>> {
    let options = Options::new(Mode::Ff1, Algorithm::Aes, Radix::DECIMAL);
    let key = Key::new(options, &[0x2B; 16])?;
    let batch = Batch::new(&key).over(Alphabet::DIGITS).with_threads(2);

    // A column of fixed width, in place.
    let column: Vec<u8> = (0..1_000_u32)
        .flat_map(|row| format!("{:016}", u64::from(row) * 7_919).into_bytes())
        .collect();
    let mut tokens = column.clone();
    batch.encrypt(Tweaks::Same(b"accounts"), Layout::Fixed(16), &mut tokens)?;
    println!("row 1 becomes {}", String::from_utf8_lossy(&tokens[16..32]));
    batch.decrypt(Tweaks::Same(b"accounts"), Layout::Fixed(16), &mut tokens)?;
    assert_eq!(tokens, column);

    // Three values of different lengths, each under a tweak of 4 bytes.
    let mut values = b"1234567898765432112345678".to_vec();
    let tweaks = Tweaks::Each {
        bytes: b"ade1gbr2usa3",
        width: 4,
    };
    batch.encrypt(tweaks, Layout::Offsets(&[0, 9, 17, 25]), &mut values)?;
    println!("together {}", String::from_utf8_lossy(&values));

    // All or nothing: the record with the error is named, and nothing is written.
    let mut bad = b"12345678x2345678".to_vec();
    if let Err(error) = batch.encrypt(Tweaks::Same(b"accounts"), Layout::Fixed(8), &mut bad) {
        println!("{error}");
        assert_eq!(bad, b"12345678x2345678");
    }
    Ok(())
}
