//! Values of a format within longer texts.

use crate::codec::{Codec, Outline, Side};
use crate::format::Format;
use crate::rank::Sink;

/// Bytes of the longest part that is looked at. Longer values are found only where they are a whole text.
const LONGEST: usize = 256;

/// Looks for values in texts one after the other, and uses its buffers again.
///
/// ```
/// use keywright_format::Format;
///
/// let format = Format::parse("card")?;
/// let mut finder = format.finder();
/// assert!(finder.finds(b"paid with 4111 1111 1111 1111, thanks"));
/// assert!(!finder.finds(b"paid with 4111 1111 1111 1112, thanks"));
/// # Ok::<(), keywright_format::Error>(())
/// ```
#[derive(Debug)]
pub struct Finder<'f> {
    codecs: Vec<(&'f dyn Codec, Outline)>,
    sink: Sink,
}

impl Format {
    /// Looks for values within texts.
    #[must_use]
    pub fn finder(&self) -> Finder<'_> {
        let codecs = self.codecs().iter();
        Finder {
            codecs: codecs
                .map(|codec| (codec.as_ref(), codec.outline()))
                .collect(),
            sink: Sink::default(),
        }
    }
}

impl Finder<'_> {
    /// Bytes of the longest part of a text in which [`Finder::finds`] looks.
    pub const LONGEST: usize = LONGEST;

    /// Whether a text is a clear value or a token.
    pub fn fits(&mut self, text: &[u8]) -> bool {
        let sink = &mut self.sink;
        let mut codecs = self.codecs.iter();
        codecs.any(|(codec, outline)| outline.may_be(text) && is_value(*codec, text, sink))
    }

    /// Whether a part of a text is a clear value or a token. Parts begin and end where no word is cut: letters,
    /// digits and bytes beyond ASCII make words. They have up to 256 bytes.
    pub fn finds(&mut self, text: &[u8]) -> bool {
        let sink = &mut self.sink;
        let mut codecs = self.codecs.iter();
        codecs.any(|(codec, outline)| holds(*codec, outline, text, sink))
    }
}

impl Outline {
    fn may_be(&self, text: &[u8]) -> bool {
        let first = text.first();
        self.lengths.contains(&text.len()) && first.is_none_or(|byte| self.may_begin_with(*byte))
    }

    /// What is known of first bytes is known of ASCII.
    fn may_begin_with(&self, byte: u8) -> bool {
        !byte.is_ascii() || self.front.first().is_none_or(|first| first.has(byte))
    }
}

fn holds(codec: &dyn Codec, outline: &Outline, text: &[u8], sink: &mut Sink) -> bool {
    let least = (*outline.lengths.start()).max(1);
    let most = (*outline.lengths.end()).min(LONGEST);
    if outline.needs.is_some_and(|byte| !text.contains(&byte)) {
        return false;
    }
    // Between two bytes that no value has: most texts have no run that is long enough.
    let is_outside = |byte: &u8| byte.is_ascii() && !outline.within.has(*byte);
    let mut start = 0;
    text.split(is_outside).any(|run| {
        let places = start..start + run.len();
        start = places.end + 1;
        run.len() >= least
            && outline.needs.is_none_or(|byte| run.contains(&byte))
            && places.clone().any(|from| {
                let begins = text
                    .get(from)
                    .is_some_and(|byte| outline.may_begin_with(*byte));
                begins
                    && is_boundary(text, from)
                    && (least..=most.min(places.end - from)).any(|length| {
                        let part = text.get(from..from + length).unwrap_or_default();
                        is_boundary(text, from + length) && is_value(codec, part, sink)
                    })
            })
    })
}

fn is_value(codec: &dyn Codec, text: &[u8], sink: &mut Sink) -> bool {
    [Side::Clear, Side::Token].into_iter().any(|side| {
        sink.clear();
        codec.read(side, text, sink).is_ok()
    })
}

/// Whether no word goes on across a place.
fn is_boundary(text: &[u8], place: usize) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    let before = place.checked_sub(1).and_then(|before| text.get(before));
    !(before.is_some_and(is_word) && text.get(place).is_some_and(is_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(format: &str, text: &str) -> bool {
        Format::parse(format)
            .unwrap()
            .finder()
            .finds(text.as_bytes())
    }

    #[test]
    fn a_value_is_found_wherever_words_begin_and_end() {
        let card = "4111111111111111";
        for text in [
            "{}",
            "a,{}",
            "{}\n",
            "x\t{}\ty",
            "no. {}!",
            "(4111 1111 1111 1111)",
        ] {
            let text = text.replace("{}", card);
            assert!(finds("card", &text), "{text}");
        }
        for text in [
            "",
            "a,b",
            "41111111111111112",
            "x4111111111111111",
            "2026-01-02",
        ] {
            assert!(!finds("card", text), "{text}");
        }
        assert!(finds("phone", "call +49 30 1234567, or +4930901820"));
        assert!(finds("email", "to ada@example.org, please"));
        assert!(finds("digit(6) | lower(7)", "x, abcdefg"));
        assert!(finds("ssn", "a\n536-90-4399"));
        assert!(finds("\"Ü-\" digit(8)", "a,Ü-12345678,b"));
        // Between bytes that no value has, and at both ends.
        assert!(finds("card", "x(4111-1111 1111-1111)y 12"));
        assert!(finds("iban", "to;DE89 3704 0044 0532 0130 00;x"));
        assert!(finds("email", "a@b,ada@example.org"));
        assert!(!finds("email", "a@b,ada at example.org"));
        assert!(finds("phone", "+49 30 1234567"));
    }

    #[test]
    fn tokens_that_can_be_told_from_values_are_found_as_well() {
        assert!(finds("card(luhn=break)", "x,4111111111111111"));
        assert!(finds("card(luhn=break)", "x,4111111111111112"));
        assert!(!finds("card(luhn=break)", "x,4111111111111113"));
    }

    #[test]
    fn whole_texts_fit_whatever_their_length() {
        let long = "a".repeat(1_000);
        let format = Format::parse("lower(1..2000)").unwrap();
        assert!(format.finder().fits(long.as_bytes()));
        assert!(!format.finder().fits(b"A"));
        assert!(!format.finder().finds(long.as_bytes()));
    }

    #[test]
    fn no_value_has_a_byte_outside_of_its_outline() {
        for text in [
            "card",
            "ssn",
            "iban",
            "phone",
            "email",
            "email(case=mixed)",
            "phone(country=49, form=national)",
        ] {
            let format = Format::parse(text).unwrap();
            let outlines: Vec<Outline> = format
                .codecs()
                .iter()
                .map(|codec| codec.outline())
                .collect();
            let example = format.example().into_bytes();
            let mut sink = Sink::default();
            for place in 0..=example.len() {
                for byte in 0..=127 {
                    let mut inserted = example.clone();
                    inserted.insert(place, byte);
                    let mut replaced = example.clone();
                    if let Some(at) = replaced.get_mut(place) {
                        *at = byte;
                    }
                    for value in [inserted, replaced] {
                        for (codec, outline) in format.codecs().iter().zip(&outlines) {
                            if is_value(codec.as_ref(), &value, &mut sink) {
                                assert!(
                                    value.iter().all(|byte| outline.within.has(*byte)),
                                    "{text}"
                                );
                                assert!(outline.needs.is_none_or(|byte| value.contains(&byte)));
                            }
                        }
                    }
                }
            }
        }
    }
}
