//! Runs of symbols of one alphabet: `digit`, `upper`, `lower`, `letter`, `alnum`, `upnum`, `lownum`, `hex`,
//! `hexupper`, `class` and `text`.
//!
//! A symbol is a code point. An alphabet with characters outside ASCII is held to two rules, so that one
//! code point is one symbol to every reader: each member is in NFC and stays so whatever member stands
//! beside it (NFC_Quick_Check Yes, combining class 0), and each is a grapheme cluster alone, whatever
//! member stands beside it. A value over such an alphabet is in NFC without being changed; one that is not
//! has a character outside the alphabet and is refused.

mod alphabet;

use std::ops::{Range, RangeInclusive};

use super::Amount;
use super::digits::{self, Bytes};
use crate::arguments::Arguments;
use crate::error::{Error, Misfit, Problem};
use crate::rank::{Sink, Source};
use alphabet::{Alphabet, named, script};

/// The most symbols of a run.
const LONGEST: u32 = 65_536;

#[derive(Debug)]
pub(crate) struct Run {
    alphabet: Alphabet,
    lengths: RangeInclusive<usize>,
    keep: Keep,
    delims: Bytes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    All,
    Ends(usize, usize),
}

pub(crate) fn build(name: &str, arguments: &mut Arguments<'_>) -> Option<Result<Run, Error>> {
    let lengths =
        |arguments: &mut Arguments<'_>, default| arguments.lengths("length", default, 1..=LONGEST);
    let parts = match (named(name), name) {
        (Some(set), _) => lengths(arguments, Some("1")).map(|lengths| (set.to_owned(), lengths)),
        (None, "class") => arguments
            .text("set", None)
            .and_then(|set| Ok((set, lengths(arguments, Some("1"))?))),
        (None, "text") => arguments
            .text("alphabet", Some("latin"))
            .and_then(|set| Ok((set, lengths(arguments, Some("1..1024"))?))),
        _ => return None,
    };
    Some(parts.and_then(|(set, lengths)| finish(&set, lengths, arguments)))
}

fn finish(
    set: &str,
    lengths: RangeInclusive<usize>,
    arguments: &mut Arguments<'_>,
) -> Result<Run, Error> {
    let set = script(set).unwrap_or(set);
    let alphabet = Alphabet::new(set).map_err(|problem| Error::at(arguments.at(), problem))?;
    let all = arguments.word(
        "keep",
        "ends",
        &[("all", true), ("ends", false)],
        "all or ends",
    )?;
    let first = arguments.count("first", "0", 0..=LONGEST)?;
    let last = arguments.count("last", "0", 0..=LONGEST)?;
    let delims = digits::delims(arguments, "")?;
    if (b' '..127).any(|byte| delims.has(byte) && alphabet.holds(byte)) {
        return Err(Error::at(arguments.at(), Problem::Ambiguous));
    }
    Ok(Run {
        alphabet,
        lengths,
        keep: if all {
            Keep::All
        } else {
            Keep::Ends(first, last)
        },
        delims,
    })
}

impl Run {
    /// The characters that it may begin with, as far as they are ASCII. Others never end another item.
    pub(crate) fn first(&self) -> Bytes {
        self.alphabet.ascii()
    }

    /// What could make it longer.
    pub(crate) fn greedy(&self) -> Bytes {
        if self.lengths.start() == self.lengths.end() {
            Bytes::NONE
        } else {
            self.alphabet.ascii().or(self.delims)
        }
    }

    /// Whether characters outside ASCII could make it longer, or begin it.
    pub(crate) fn beyond_ascii(&self) -> bool {
        self.alphabet.is_beyond_ascii()
    }

    pub(crate) fn varies(&self) -> bool {
        self.lengths.start() != self.lengths.end()
    }

    pub(crate) fn widths(&self) -> RangeInclusive<usize> {
        let most = if self.delims == Bytes::NONE {
            self.lengths
                .end()
                .saturating_mul(*self.alphabet.widths().end())
        } else {
            usize::MAX
        };
        *self.lengths.start()..=most
    }

    /// For each of the first bytes what it may be, if every value has as many.
    pub(crate) fn front(&self) -> Option<Vec<Bytes>> {
        let fixed = !self.varies() && self.delims == Bytes::NONE && !self.beyond_ascii();
        fixed.then(|| vec![self.alphabet.ascii(); (*self.lengths.start()).min(64)])
    }

    /// Reads from `at`, and returns where the run ends.
    pub(crate) fn read(&self, value: &[u8], at: usize, sink: &mut Sink) -> Result<usize, Misfit> {
        let (start, mut end, mut count) = (sink.digits.len(), at, 0);
        let mut position = at;
        while count < *self.lengths.end() {
            let rest = value.get(position..).unwrap_or_default();
            if let Some((digit, width)) = self.alphabet.digit(rest) {
                sink.symbol(digit);
                count += 1;
                position += width;
                end = position;
            } else if count > 0 && rest.first().is_some_and(|byte| self.delims.has(*byte)) {
                position += 1;
            } else {
                break;
            }
        }
        if count < *self.lengths.start() {
            return Err(match value.get(position) {
                Some(_) => Misfit::Symbol { position },
                None => Misfit::Length,
            });
        }
        self.hold(
            value.get(at..end).unwrap_or_default(),
            start..start + count,
            sink,
        );
        Ok(end)
    }

    /// Takes the kept symbols out of the free ones.
    fn hold(&self, text: &[u8], run: Range<usize>, sink: &mut Sink) {
        let free = self.free(run.len());
        if free.len() == run.len() {
            sink.run(self.alphabet.size(), run.len());
            return;
        }
        let ends = self.places(text, &free);
        for kept in [text.get(..ends.start), text.get(ends.end..)]
            .into_iter()
            .flatten()
        {
            sink.keep(kept, self.delims);
        }
        sink.digits.truncate(run.start + free.end);
        sink.digits.drain(run.start..run.start + free.start);
        sink.run(self.alphabet.size(), free.len());
    }

    /// Which symbols of `count` are free.
    fn free(&self, count: usize) -> Range<usize> {
        match self.keep {
            Keep::All => 0..0,
            Keep::Ends(first, last) => {
                let end = count.saturating_sub(last);
                first.min(end)..end
            }
        }
    }

    /// From places of symbols to places of bytes.
    fn places(&self, text: &[u8], symbols: &Range<usize>) -> Range<usize> {
        let (mut count, mut position) = (0, 0);
        let mut places = text.len()..text.len();
        while let Some(rest) = text.get(position..).filter(|rest| !rest.is_empty()) {
            let Some((_, width)) = self.alphabet.digit(rest) else {
                position += 1;
                continue;
            };
            if count == symbols.start {
                places.start = position;
            }
            if count == symbols.end {
                places.end = position;
                break;
            }
            count += 1;
            position += width;
        }
        places.start = places.start.min(places.end);
        places
    }

    /// Writes the run that stands at `at`, and returns where it ends.
    pub(crate) fn write(
        &self,
        value: &[u8],
        at: usize,
        source: &mut Source<'_>,
        out: &mut Vec<u8>,
    ) -> usize {
        let end = self.end(value, at);
        let text = value.get(at..end).unwrap_or_default();
        let free = match self.keep {
            Keep::Ends(0, 0) => 0..usize::MAX,
            _ => self.free(self.count(text)),
        };
        let (mut position, mut count) = (0, 0);
        while let Some(rest) = text.get(position..).filter(|rest| !rest.is_empty()) {
            let Some((_, width)) = self.alphabet.digit(rest) else {
                out.extend(rest.first());
                position += 1;
                continue;
            };
            if free.contains(&count) {
                self.alphabet.put(source.symbol(), out);
            } else {
                out.extend(rest.iter().take(width));
            }
            count += 1;
            position += width;
        }
        end
    }

    fn end(&self, value: &[u8], at: usize) -> usize {
        let (mut end, mut position, mut count) = (at, at, 0);
        while count < *self.lengths.end() {
            let rest = value.get(position..).unwrap_or_default();
            if let Some((_, width)) = self.alphabet.digit(rest) {
                count += 1;
                position += width;
                end = position;
            } else if count > 0 && rest.first().is_some_and(|byte| self.delims.has(*byte)) {
                position += 1;
            } else {
                break;
            }
        }
        end
    }

    fn count(&self, text: &[u8]) -> usize {
        let (mut position, mut count) = (0, 0);
        while let Some(rest) = text.get(position..).filter(|rest| !rest.is_empty()) {
            match self.alphabet.digit(rest) {
                Some((_, width)) => {
                    count += 1;
                    position += width;
                }
                None => position += 1,
            }
        }
        count
    }

    pub(crate) fn amount(&self) -> Amount {
        let free = self.free(*self.lengths.start()).len()..=self.free(*self.lengths.end()).len();
        Amount::new(1).times_power(self.alphabet.size().into(), free)
    }

    /// Whether values are so many decimal digits, all of them free.
    pub(crate) fn is_plain(&self, width: usize) -> bool {
        let digits = self.alphabet.is_decimal();
        digits && !self.keeps() && self.lengths.contains(&width) && width > 1
    }

    pub(crate) fn keeps(&self) -> bool {
        self.keep != Keep::Ends(0, 0)
    }

    pub(crate) fn example(&self) -> String {
        let count = 8.clamp(*self.lengths.start(), *self.lengths.end());
        self.alphabet.first_symbol().repeat(count)
    }
}
