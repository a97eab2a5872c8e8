//! Base58Check: the digits of Bitcoin, with the first four bytes of a double SHA-256 behind the content.
//!
//! For contents of one known length below 126 bytes; the work is quadratic.

use keywright_primitives::hash::sha256;
use keywright_secret::wipe;

const DIGITS: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// Characters in the longest text: 58^160 is above 256^116.
const LONGEST: usize = 160;

/// Why a text is not the content that was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    Character(usize),
    Checksum,
    Length,
}

/// The content of exactly `N` bytes.
pub(crate) fn decode<const N: usize>(text: &str) -> Result<[u8; N], Wrong> {
    if text.len() > LONGEST {
        return Err(Wrong::Length);
    }
    // Big-endian, with room for one byte more than fits, so that what is too long is seen.
    let mut number = [0_u8; LONGEST];
    let room = N + 5;
    let number = number.get_mut(..room).ok_or(Wrong::Length)?;
    for (position, character) in text.bytes().enumerate() {
        let digit = DIGITS.iter().position(|digit| *digit == character);
        let digit = digit.ok_or(Wrong::Character(position))?;
        let mut carry = u32::try_from(digit).unwrap_or_default();
        for byte in number.iter_mut().rev() {
            carry += u32::from(*byte) * 58;
            *byte = carry.to_le_bytes()[0];
            carry >>= 8;
        }
        if carry != 0 || number[0] != 0 {
            wipe(number);
            return Err(Wrong::Length);
        }
    }
    // Each leading zero byte is one leading digit, so that each content has one text.
    let bytes = &number[1..];
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let ones = text.bytes().take_while(|byte| *byte == DIGITS[0]).count();
    let (content, sum) = bytes.split_at(N);
    let good = match (zeros == ones, checksum(content) == sum) {
        (true, true) => content.try_into().map_err(|_| Wrong::Length),
        (true, false) => Err(Wrong::Checksum),
        (false, _) => Err(Wrong::Length),
    };
    wipe(number);
    good
}

/// The text of a content of at most 111 bytes.
pub(crate) fn encode(content: &[u8]) -> String {
    let sum = checksum(content);
    let mut digits = [0_u8; LONGEST];
    let mut used = 0;
    for byte in content.iter().chain(&sum) {
        let mut carry = u32::from(*byte);
        let mut place = 0;
        while place < used || carry != 0 {
            let Some(digit) = digits.get_mut(place) else {
                break;
            };
            carry += u32::from(*digit) << 8;
            *digit = (carry % 58).to_le_bytes()[0];
            carry /= 58;
            place += 1;
        }
        used = used.max(place);
    }
    let zeros = content
        .iter()
        .chain(&sum)
        .take_while(|byte| **byte == 0)
        .count();
    let mut text = String::with_capacity(LONGEST);
    text.extend(std::iter::repeat_n('1', zeros));
    let digit = |digit: &u8| char::from(DIGITS[usize::from(*digit) % 58]);
    text.extend(digits[..used].iter().rev().map(digit));
    wipe(&mut digits);
    text
}

fn checksum(content: &[u8]) -> [u8; 4] {
    let [a, b, c, d, ..] = sha256(&sha256(content));
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text that is known everywhere: the address of the first block, 21 bytes that begin with zero.
    const FIRST: &str = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa";

    #[test]
    fn a_known_address_goes_both_ways() {
        let content = decode::<21>(FIRST).unwrap();
        assert_eq!(content[..4], [0x00, 0x62, 0xE9, 0x07]);
        assert_eq!(encode(&content), FIRST);
    }

    #[test]
    fn every_content_has_one_text() {
        for zeros in 0..=78 {
            for fill in [0x00, 0x01, 0x7F, 0xFF] {
                let mut content = [fill; 78];
                content[..zeros].fill(0);
                let text = encode(&content);
                assert_eq!(decode::<78>(&text), Ok(content));
                assert_eq!(decode::<78>(&format!("1{text}")), Err(Wrong::Length));
                assert!(decode::<77>(&text).is_err());
                assert!(decode::<79>(&text).is_err());
            }
        }
    }

    #[test]
    fn what_is_not_in_the_digits_too_long_or_changed_is_refused() {
        assert_eq!(
            decode::<21>("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfN0"),
            Err(Wrong::Character(33))
        );
        for (position, bad) in [(0, "0"), (0, "O"), (0, "I"), (0, "l"), (1, "1 "), (1, "1é")] {
            assert_eq!(decode::<21>(bad), Err(Wrong::Character(position)));
        }
        assert_eq!(
            decode::<21>("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb"),
            Err(Wrong::Checksum)
        );
        assert_eq!(decode::<21>(""), Err(Wrong::Length));
        assert_eq!(decode::<21>(&"z".repeat(160)), Err(Wrong::Length));
        assert_eq!(decode::<21>(&"z".repeat(161)), Err(Wrong::Length));
        assert_eq!(decode::<21>(&FIRST[1..]), Err(Wrong::Length));
    }
}
