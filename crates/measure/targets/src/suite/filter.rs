//! Which cases of a suite are run.

use super::SuiteCase;

/// Chooses cases by their ids and tags. Of each sort that is given, one has to fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    ids: Vec<Glob>,
    tags: Vec<String>,
}

impl Filter {
    /// Cases whose id fits one of the patterns, if there are any, and that carry one of the tags, if there
    /// are any.
    #[must_use]
    pub fn new(ids: &[String], tags: &[String]) -> Self {
        Self {
            ids: ids.iter().map(|pattern| Glob::new(pattern)).collect(),
            tags: tags.to_vec(),
        }
    }

    /// Whether it chooses this case.
    #[must_use]
    pub fn chooses(&self, case: &SuiteCase) -> bool {
        self.fits(&case.plan.id, &case.tags)
    }

    fn fits(&self, id: &str, tags: &[String]) -> bool {
        let named = self.ids.is_empty() || self.ids.iter().any(|glob| glob.fits(id));
        let tagged = self.tags.is_empty() || self.tags.iter().any(|tag| tags.contains(tag));
        named && tagged
    }
}

/// A pattern: `*` is any text, `?` any character, all else itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(Vec<char>);

impl Glob {
    /// From its text. Every text is a pattern.
    #[must_use]
    pub fn new(pattern: &str) -> Self {
        Self(pattern.chars().collect())
    }

    /// Whether all of the text fits.
    #[must_use]
    pub fn fits(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let (mut at, mut in_text) = (0, 0);
        // After a failure only the last star is tried again, one character further on: an earlier star
        // could not help, because the last one takes whatever it leaves.
        let mut star: Option<(usize, usize)> = None;
        while in_text < text.len() {
            match self.0.get(at) {
                Some('*') => {
                    star = Some((at, in_text));
                    at += 1;
                }
                Some(wanted) if *wanted == '?' || *wanted == text[in_text] => {
                    at += 1;
                    in_text += 1;
                }
                _ => {
                    let Some((star_at, taken)) = star else {
                        return false;
                    };
                    at = star_at + 1;
                    in_text = taken + 1;
                    star = Some((star_at, in_text));
                }
            }
        }
        self.0[at..].iter().all(|rest| *rest == '*')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_whole_texts() {
        for (pattern, text) in [
            ("", ""),
            ("*", ""),
            ("*", "anything/size=1KiB"),
            ("sign-*", "sign-p256"),
            ("*/rate=2?000", "ladder/rate=25000"),
            ("a*b*c", "a-b-b-c"),
            ("**a", "ba"),
        ] {
            assert!(Glob::new(pattern).fits(text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("", "a"),
            ("?", ""),
            ("sign", "sign-p256"),
            ("a*b", "abc"),
            ("a?c", "ac"),
            ("[a]", "a"),
        ] {
            assert!(!Glob::new(pattern).fits(text), "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_take_no_longer_than_their_number_times_the_text() {
        let pattern = "a*".repeat(200) + "b";
        assert!(!Glob::new(&pattern).fits(&"a".repeat(2000)));
    }

    #[test]
    fn one_of_each_sort_has_to_fit() {
        let texts = |words: &[&str]| {
            words
                .iter()
                .map(|word| (*word).to_owned())
                .collect::<Vec<_>>()
        };
        let filter = Filter::new(&texts(&["a*", "b"]), &texts(&["ci", "slow"]));
        assert!(filter.fits("abc", &texts(&["ci"])));
        assert!(filter.fits("b", &texts(&["x", "slow"])));
        assert!(!filter.fits("c", &texts(&["ci"])));
        assert!(!filter.fits("abc", &texts(&["x"])));
        assert!(!filter.fits("abc", &[]));
        assert!(Filter::default().fits("anything", &[]));
    }
}
