//! Colour, as an ornament: words and signs carry the meaning without it.

use keywright_measure::Word;

/// How text for people is styled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Style {
    /// With the escape sequences of terminals.
    Ansi,
    /// Characters only.
    #[default]
    Plain,
}

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Bad,
    Doubt,
    Faint,
    Good,
    Strong,
}

impl Style {
    /// `text` in the tone's colour.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Bad => "31",
            Tone::Doubt => "33",
            Tone::Faint => "2",
            Tone::Good => "32",
            Tone::Strong => "1",
        };
        match self {
            Self::Ansi if !text.is_empty() => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            _ => text.to_owned(),
        }
    }
}

/// The tone of a verdict word.
pub(crate) const fn tone(word: Word) -> Tone {
    match word {
        Word::Valid | Word::Pass | Word::Improved => Tone::Good,
        Word::AccountingBroken
        | Word::WrongOutput
        | Word::SloMissed
        | Word::GeneratorLimited
        | Word::Saturated
        | Word::ConcurrencyLimited
        | Word::TargetErrors
        | Word::Regression => Tone::Bad,
        _ if word.is_fact() => Tone::Faint,
        _ => Tone::Doubt,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_has_no_escape_and_ansi_text_ends_its_own() {
        assert_eq!(Style::Plain.paint(Tone::Bad, "x"), "x");
        assert_eq!(Style::Ansi.paint(Tone::Bad, "x"), "\u{1b}[31mx\u{1b}[0m");
        assert_eq!(Style::Ansi.paint(Tone::Bad, ""), "");
    }

    #[test]
    fn every_word_but_facts_and_good_ones_draws_the_eye() {
        for word in Word::ALL {
            let good = matches!(word, Word::Valid | Word::Pass | Word::Improved);
            assert_eq!(tone(word) == Tone::Good, good, "{word}");
            assert_eq!(tone(word) == Tone::Faint, word.is_fact(), "{word}");
        }
    }
}
