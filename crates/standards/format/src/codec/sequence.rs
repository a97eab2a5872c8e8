//! Sequences of items: fixed text, runs, check digits, numbers and moments.
//!
//! A sequence is read from left to right without a second try: what varies in length takes all it can, and
//! compiling refuses sequences in which the next item might have wanted some of it. So a value is read in
//! one way only, and what is written is read in the same way.

use super::check::Check;
use super::class::Run;
use super::date::Moment;
use super::digits::Bytes;
use super::number::Number;
use super::{
    Amount, CheckDigit, Codec, Outline, Plain, Side, check, class, date, number, unknown_format,
};
use crate::arguments::Arguments;
use crate::error::{Error, Misfit, Problem};
use crate::rank::{Sink, Source};
use crate::syntax::{Call, Term, quoted};

#[derive(Debug)]
enum Item {
    Check(Check),
    Fixed(Box<[u8]>),
    Moment(Moment),
    Number(Number),
    Run(Run),
}

#[derive(Debug)]
pub(crate) struct Sequence(Vec<Item>);

/// Builds a sequence and its canonical text.
pub(crate) fn build(terms: &[Term]) -> Result<(Sequence, String), Error> {
    let mut items: Vec<Item> = Vec::with_capacity(terms.len());
    let mut texts = Vec::with_capacity(terms.len());
    let mut counted = false;
    for term in terms {
        let (item, text, at) = match term {
            Term::Literal { text, at } => {
                let item = Item::Fixed(text.as_bytes().into());
                (item, quoted(text), *at)
            }
            Term::Call(call) => {
                let (item, text) = item(call)?;
                (item, text, call.at)
            }
        };
        if items.last().is_some_and(|before| before.runs_into(&item)) {
            return Err(Error::at(at, Problem::Ambiguous));
        }
        if matches!(item, Item::Check(_)) && !counted {
            return Err(Error::at(at, Problem::NothingToCheck));
        }
        counted |= !matches!(item, Item::Fixed(_));
        items.push(item);
        texts.push(text);
    }
    Ok((Sequence(items), texts.join(" ")))
}

fn item(call: &Call) -> Result<(Item, String), Error> {
    let mut arguments = Arguments::of(call)?;
    let item = match call.name.as_str() {
        "check" => Item::Check(check::build(&mut arguments)?),
        "int" => Item::Number(number::build_int(&mut arguments)?),
        "decimal" => Item::Number(number::build_decimal(&mut arguments)?),
        name @ ("date" | "datetime" | "time") => Item::Moment(date::build(name, &mut arguments)?),
        name => match class::build(name, &mut arguments) {
            Some(run) => Item::Run(run?),
            None => return Err(unknown_format(call.at)),
        },
    };
    Ok((item, arguments.finish()?))
}

impl Item {
    fn first(&self) -> Bytes {
        match self {
            Self::Check(check) => check.first(),
            Self::Fixed(text) => text.iter().take(1).copied().fold(Bytes::NONE, Bytes::with),
            Self::Moment(moment) => moment.first(),
            Self::Number(number) => number.first(),
            Self::Run(run) => run.first(),
        }
    }

    /// Whether this may go on where `next` begins.
    fn runs_into(&self, next: &Self) -> bool {
        let greedy = match self {
            Self::Check(_) | Self::Fixed(_) => Bytes::NONE,
            Self::Moment(moment) => moment.greedy(),
            Self::Number(number) => number.greedy(),
            Self::Run(run) => run.greedy(),
        };
        let beyond = match (self, next) {
            (Self::Run(run), Self::Run(next)) => {
                run.varies() && run.beyond_ascii() && next.beyond_ascii()
            }
            (Self::Run(run), Self::Fixed(text)) => {
                run.varies() && run.beyond_ascii() && text.first().is_some_and(|b| *b > 127)
            }
            _ => false,
        };
        beyond || greedy.meets(&next.first())
    }
}

impl Codec for Sequence {
    fn read(&self, _: Side, value: &[u8], sink: &mut Sink) -> Result<(), Misfit> {
        let mut at = 0;
        for item in &self.0 {
            at = match item {
                Item::Check(check) => check.read(value, at)?,
                Item::Fixed(text) => fixed(text, value, at)?,
                Item::Moment(moment) => moment.read(value, at, sink)?,
                Item::Number(number) => number.read(value, at, sink)?,
                Item::Run(run) => run.read(value, at, sink)?,
            };
        }
        if at < value.len() {
            return Err(Misfit::Symbol { position: at });
        }
        Ok(())
    }

    fn write(&self, _: Side, value: &[u8], source: &mut Source<'_>, out: &mut Vec<u8>) {
        let (mut at, start) = (0, out.len());
        for item in &self.0 {
            at = match item {
                Item::Check(check) => {
                    check.write(start, out);
                    at + check.width()
                }
                Item::Fixed(text) => {
                    out.extend_from_slice(text);
                    at + text.len()
                }
                Item::Moment(moment) => moment.write(value, at, source, out),
                Item::Number(number) => number.write(value, at, source, out),
                Item::Run(run) => run.write(value, at, source, out),
            };
        }
    }

    fn amount(&self) -> Amount {
        let own = |item: &Item| match item {
            Item::Check(_) | Item::Fixed(_) => Amount::new(1),
            Item::Moment(moment) => moment.amount(),
            Item::Number(number) => number.amount(),
            Item::Run(run) => run.amount(),
        };
        self.0.iter().map(own).fold(Amount::new(1), Amount::and)
    }

    fn keeps(&self) -> bool {
        self.0
            .iter()
            .any(|item| matches!(item, Item::Run(run) if run.keeps()))
    }

    fn example(&self) -> String {
        let mut text = String::new();
        for item in &self.0 {
            match item {
                Item::Check(check) => {
                    let mut made = text.clone().into_bytes();
                    check.write(0, &mut made);
                    text = String::from_utf8(made).unwrap_or_default();
                }
                Item::Fixed(fixed) => text.push_str(&String::from_utf8_lossy(fixed)),
                Item::Moment(moment) => text.push_str(&moment.example()),
                Item::Number(number) => text.push_str(&number.example()),
                Item::Run(run) => text.push_str(&run.example()),
            }
        }
        text
    }

    fn outline(&self) -> Outline {
        let (mut least, mut most) = (0_usize, 0_usize);
        let (mut front, mut certain) = (Vec::new(), true);
        for item in &self.0 {
            let (widths, sets) = match item {
                Item::Check(check) => (check.width()..=check.width(), None),
                Item::Fixed(text) => {
                    let sets = text.iter().map(|b| Bytes::NONE.with(*b)).collect();
                    let ascii = text.is_ascii();
                    (text.len()..=text.len(), Some(sets).filter(|_| ascii))
                }
                Item::Moment(moment) => (moment.widths(), None),
                Item::Number(number) => (number.widths(), None),
                Item::Run(run) => (run.widths(), run.front()),
            };
            least = least.saturating_add(*widths.start());
            most = most.saturating_add(*widths.end());
            match sets {
                Some(mut sets) if certain => {
                    certain = sets.len() == *widths.start();
                    front.append(&mut sets);
                }
                // Its first byte is still certain, what follows is not.
                _ if certain && !matches!(item, Item::Run(run) if run.beyond_ascii()) => {
                    front.push(item.first());
                    certain = false;
                }
                _ => certain = false,
            }
        }
        Outline {
            lengths: least..=most,
            front,
            ..Outline::default()
        }
    }

    fn plain(&self, width: usize) -> Option<Plain> {
        match self.0.as_slice() {
            [Item::Run(run)] if run.is_plain(width) => Some(Plain::whole(CheckDigit::None)),
            [Item::Run(run), Item::Check(Check::Luhn)] if width > 1 && run.is_plain(width - 1) => {
                Some(Plain::whole(CheckDigit::Luhn))
            }
            _ => None,
        }
    }
}

fn fixed(text: &[u8], value: &[u8], at: usize) -> Result<usize, Misfit> {
    let given = value.get(at..).unwrap_or_default();
    let differs = text.iter().zip(given).position(|(own, given)| own != given);
    if let Some(place) = differs {
        return Err(Misfit::Symbol {
            position: at + place,
        });
    }
    if given.len() < text.len() {
        return Err(Misfit::Length);
    }
    Ok(at + text.len())
}
