//! Reading the arguments of a call, and writing down what was read: the canonical text of a call is every
//! parameter in the order in which its codec asks for it, defaults included.

use std::ops::RangeInclusive;

use crate::error::{Error, Problem};
use crate::syntax::{Argument, Call, Given, spelled};

/// The arguments of one call, taken one after the other.
pub(crate) struct Arguments<'c> {
    call: &'c Call,
    revision: u32,
    used: Vec<bool>,
    asked: usize,
    canonical: String,
}

impl<'c> Arguments<'c> {
    /// Of a format that has one revision.
    pub(crate) fn of(call: &'c Call) -> Result<Self, Error> {
        Self::with_revisions(call, 1)
    }

    /// Of a format that has the revisions from 1 to `newest`, which a call without a revision means.
    pub(crate) fn with_revisions(call: &'c Call, newest: u32) -> Result<Self, Error> {
        let revision = call.revision.unwrap_or(newest);
        if !(1..=newest).contains(&revision) {
            return Err(Error::at(call.at, Problem::Revision(newest)));
        }
        Ok(Self {
            call,
            revision,
            used: vec![false; call.arguments.len()],
            asked: 0,
            canonical: format!("{}@{revision}(", call.name),
        })
    }

    /// Where the call stands.
    pub(crate) const fn at(&self) -> usize {
        self.call.at
    }

    /// The revision that the call names, or the newest.
    pub(crate) const fn revision(&self) -> u32 {
        self.revision
    }

    /// The canonical text, if nothing is left that no parameter took.
    pub(crate) fn finish(mut self) -> Result<String, Error> {
        let left = self.used.iter().position(|used| !used);
        if let Some(argument) = left.and_then(|place| self.call.arguments.get(place)) {
            let problem = Problem::Unknown("this format has no such parameter");
            return Err(Error::at(argument.at, problem));
        }
        self.canonical.push(')');
        Ok(self.canonical)
    }

    /// An argument by its name; the first parameter also without.
    fn find(&mut self, key: &str) -> Result<Option<&'c Argument>, Error> {
        let first = self.asked == 0;
        self.asked += 1;
        let mut found = None;
        for (place, argument) in self.call.arguments.iter().enumerate() {
            let fits = match &argument.key {
                Some(given) => given == key,
                None => first && place == 0,
            };
            if !fits {
                continue;
            }
            if found.is_some() {
                return Err(Error::at(argument.at, Problem::Duplicate));
            }
            found = Some(argument);
            if let Some(used) = self.used.get_mut(place) {
                *used = true;
            }
        }
        Ok(found)
    }

    fn write(&mut self, key: &str, value: &str) {
        if !self.canonical.ends_with('(') {
            self.canonical.push_str(", ");
        }
        self.canonical.push_str(key);
        self.canonical.push('=');
        self.canonical.push_str(value);
    }

    /// Reads a text with `read`, which also says how it is written.
    fn take<T>(
        &mut self,
        key: &str,
        default: Option<&str>,
        read: impl FnOnce(&str) -> Result<(T, String), Problem>,
    ) -> Result<T, Error> {
        let found = self.find(key)?;
        let (at, text) = match found {
            Some(argument) => match &argument.value {
                Given::One(text) => (argument.at, text.as_str()),
                Given::List(_) => {
                    return Err(Error::at(argument.at, Problem::Expected("no list")));
                }
            },
            None => match default {
                Some(default) => (self.call.at, default),
                None => {
                    let problem =
                        Problem::Expected("the parameter without which there is no default");
                    return Err(Error::at(self.call.at, problem));
                }
            },
        };
        let (value, canonical) = read(text).map_err(|problem| Error::at(at, problem))?;
        self.write(key, &canonical);
        Ok(value)
    }

    /// One of a few words.
    pub(crate) fn word<T: Copy>(
        &mut self,
        key: &str,
        default: &str,
        words: &[(&str, T)],
        expected: &'static str,
    ) -> Result<T, Error> {
        self.take(key, Some(default), |text| {
            let found = words.iter().find(|(word, _)| *word == text);
            let (word, value) = found.ok_or(Problem::Expected(expected))?;
            Ok((*value, (*word).to_owned()))
        })
    }

    /// A text as it is.
    pub(crate) fn text(&mut self, key: &str, default: Option<&str>) -> Result<String, Error> {
        self.take(key, default, |text| Ok((text.to_owned(), spelled(text))))
    }

    /// What `read` makes of a text, which also says how it is written.
    pub(crate) fn read<T>(
        &mut self,
        key: &str,
        default: Option<&str>,
        read: impl FnOnce(&str) -> Result<(T, String), Problem>,
    ) -> Result<T, Error> {
        self.take(key, default, |text| {
            read(text).map(|(value, canonical)| (value, spelled(&canonical)))
        })
    }

    /// A whole number in a range.
    pub(crate) fn number(
        &mut self,
        key: &str,
        default: Option<&str>,
        range: RangeInclusive<i128>,
    ) -> Result<i128, Error> {
        self.take(key, default, |text| {
            let number = whole(text, &range)?;
            Ok((number, number.to_string()))
        })
    }

    /// A number of things that are counted.
    pub(crate) fn count(
        &mut self,
        key: &str,
        default: &str,
        range: RangeInclusive<u32>,
    ) -> Result<usize, Error> {
        let range = i128::from(*range.start())..=i128::from(*range.end());
        let number = self.number(key, Some(default), range)?;
        Ok(usize::try_from(number).unwrap_or_default())
    }

    /// A number, or two with `..` between them.
    pub(crate) fn lengths(
        &mut self,
        key: &str,
        default: Option<&str>,
        within: RangeInclusive<u32>,
    ) -> Result<RangeInclusive<usize>, Error> {
        let range = i128::from(*within.start())..=i128::from(*within.end());
        self.take(key, default, |text| {
            let (low, high) = text.split_once("..").unwrap_or((text, text));
            let (low, high) = (whole(low, &range)?, whole(high, &range)?);
            if low > high {
                return Err(outside(&range));
            }
            let canonical = if low == high {
                low.to_string()
            } else {
                format!("{low}..{high}")
            };
            let size = |number| usize::try_from(number).unwrap_or_default();
            Ok((size(low)..=size(high), canonical))
        })
    }

    /// Texts; one alone needs no brackets.
    pub(crate) fn list(&mut self, key: &str, default: &[&str]) -> Result<Vec<String>, Error> {
        let texts = match self.find(key)?.map(|argument| &argument.value) {
            Some(Given::List(texts)) => texts.clone(),
            Some(Given::One(text)) => vec![text.clone()],
            None => default.iter().map(|text| (*text).to_owned()).collect(),
        };
        let spelled: Vec<String> = texts.iter().map(|text| spelled(text)).collect();
        self.write(key, &format!("[{}]", spelled.join(", ")));
        Ok(texts)
    }
}

fn outside(range: &RangeInclusive<i128>) -> Problem {
    Problem::Range {
        least: *range.start(),
        most: *range.end(),
    }
}

/// A number without leading zeros or a plus sign.
pub(crate) fn whole(text: &str, range: &RangeInclusive<i128>) -> Result<i128, Problem> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|b| b.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'))
        && text != "-0";
    let number: Option<i128> = text.parse().ok().filter(|_| plain);
    number
        .filter(|number| range.contains(number))
        .ok_or_else(|| outside(range))
}
