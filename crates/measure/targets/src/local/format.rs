//! Columns of values through the format layer: read, ranked, encrypted, written.
//!
//! One operation is a column of 65,536 values, a mebibyte or two in memory, from one buffer into another, under
//! FF1 over AES-128 and one tweak for the column; addresses have a tweak for each domain, which they keep. Cards
//! are cells of one width; other cells lie between offsets, as text columns have them. `column` makes tokens,
//! `column.reveal` makes values of tokens.
//!
//! Values are drawn: each is the token of an example under a key and a row's number, so that it is a valid
//! value of the format, as likely as any other. What was made is judged by the way back: all of it with the
//! backend that is measured, a sample with the portable one.
//!
//! Not here: files, and formats with a tweak for each row.

use std::hint::black_box;

use keywright_format::{
    Cells, Cipher, Column, Error, Format, FormatKey, Output, Scope, Settings, TweakPolicy,
};
use keywright_fpe::Backend;
use keywright_measure::carry::Check;
use keywright_measure::{Fault, TargetError, Worker};
use keywright_secret::Secret;

use super::row::{Row, refused};

/// Values of a column.
const VALUES: usize = 1 << 16;
/// Values of a column that are put through the portable code one by one.
const SAMPLE: usize = 8;
const COLUMN: &str = "column";

/// A format in its one-line form, and values of it, of which those of the column are drawn.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    format: &'static str,
    examples: &'static [&'static str],
}

pub(super) const CARD: Kind = Kind {
    format: "card",
    examples: &["4111111111111111"],
};
pub(super) const DATE: Kind = Kind {
    format: "date",
    examples: &["1985-10-26"],
};
pub(super) const DECIMAL: Kind = Kind {
    format: "decimal(min=-99999.99, max=9999999.99)",
    examples: &["1234.56"],
};
pub(super) const EMAIL: Kind = Kind {
    format: "email",
    examples: &[
        "ada.lovelace@example.com",
        "g.hopper@example.org",
        "alan-m-turing@example.net",
    ],
};
/// Digits and letters mixed: 10^12 36^11 account numbers, which is no power.
pub(super) const IBAN: Kind = Kind {
    format: "iban(country=FR)",
    examples: &["FR1420041010050500013M02606"],
};
pub(super) const SSN: Kind = Kind {
    format: "ssn",
    examples: &["078-05-1120"],
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Protect,
    Reveal,
}

/// Cells one after the other.
struct Drawn {
    bytes: Vec<u8>,
    offsets: Vec<usize>,
}

impl Drawn {
    fn cells(&self) -> Result<Cells<'_>, Error> {
        match self.width() {
            Some(width) => Cells::fixed(&self.bytes, width),
            None => Cells::offsets(&self.bytes, &self.offsets),
        }
    }

    /// The width of all cells, if it is one.
    fn width(&self) -> Option<usize> {
        let mut widths = self.offsets.windows(2).map(|pair| match pair {
            [low, high] => high - low,
            _ => 0,
        });
        let first = widths.next()?;
        widths.all(|width| width == first).then_some(first)
    }
}

fn of(made: &Output) -> Drawn {
    Drawn {
        bytes: made.bytes().to_vec(),
        offsets: made.offsets().to_vec(),
    }
}

/// A column for as long as the program runs: it borrows its key, and a worker owns both. The key is of a
/// secret that everybody knows who knows the seed.
fn column(
    master: &Secret<32>,
    kind: Kind,
    (policy, backend): (TweakPolicy, Option<Backend>),
) -> Result<Column<'static>, Error> {
    let mut settings = Settings::new(policy).with_cipher(Cipher::Aes128);
    if let Some(backend) = backend {
        settings = settings.with_backend(backend);
    }
    let key = FormatKey::derive(master, &Format::parse(kind.format)?, settings)?;
    Ok(Column::new(Box::leak(Box::new(key)), Scope::column(COLUMN)))
}

/// Values of the format: the examples in turn, each as the token of its row.
fn drawn(master: &Secret<32>, kind: Kind) -> Result<Drawn, Error> {
    let examples = kind.examples.iter().cycle().take(VALUES);
    let (mut bytes, mut offsets) = (Vec::new(), vec![0]);
    let (mut rows, mut ends) = (Vec::new(), vec![0]);
    for (row, example) in examples.enumerate() {
        bytes.extend_from_slice(example.as_bytes());
        offsets.push(bytes.len());
        rows.extend_from_slice(&row.to_be_bytes());
        ends.push(rows.len());
    }
    let mut column = column(master, kind, (TweakPolicy::parse("row(number)")?, None))?;
    let mut made = Output::new();
    let rows = [Cells::offsets(&rows, &ends)?];
    column.protect(Cells::offsets(&bytes, &offsets)?, &rows, &mut made)?;
    Ok(of(&made))
}

struct Whole {
    way: Way,
    own: Column<'static>,
    judge: Column<'static>,
    values: Drawn,
    made: Output,
    looks: usize,
}

impl Whole {
    fn new(kind: Kind, way: Way, row: &Row<'_>) -> Result<Self, TargetError> {
        let mut seeded = row.seeded();
        let (key, drawing) = (seeded.secret::<32>(), seeded.secret::<32>());
        let backend = row.setting.fpe_backend;
        let new = || -> Result<Self, Error> {
            let mut whole = Self {
                way,
                own: column(&key, kind, (TweakPolicy::default(), backend))?,
                judge: column(
                    &key,
                    kind,
                    (TweakPolicy::default(), Some(Backend::Portable)),
                )?,
                values: drawn(&drawing, kind)?,
                made: Output::new(),
                looks: 0,
            };
            if way == Way::Reveal {
                let cells = whole.values.cells()?;
                whole.own.protect(cells, &[], &mut whole.made)?;
                whole.values = of(&whole.made);
            }
            Ok(whole)
        };
        new().map_err(|error| row.fails(error))
    }

    /// Whether the values come of what was made.
    fn is_right(&mut self) -> Result<bool, Error> {
        let mut back = Output::new();
        let cells = self.made.cells();
        let report = match self.way {
            Way::Protect => self.own.reveal(cells, &[], &mut back)?,
            Way::Reveal => self.own.protect(cells, &[], &mut back)?,
        };
        if !report.misfits().is_empty() || back.bytes() != self.values.bytes {
            return Ok(false);
        }
        self.looks = self.looks.wrapping_add(1);
        let values = self.values.cells()?;
        for place in 0..SAMPLE {
            // Another place in every stretch at every look.
            let place = (VALUES * place / SAMPLE + self.looks) % VALUES;
            let made = match self.way {
                Way::Protect => self.judge.protect_one(values.get(place), &[]),
                Way::Reveal => self.judge.reveal_one(values.get(place), &[]),
            };
            if !made.is_ok_and(|made| made == cells.get(place)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Worker for Whole {
    fn operate(&mut self) -> Result<(), Fault> {
        let cells = black_box(&self.values).cells().map_err(refused)?;
        let made = &mut self.made;
        let report = match self.way {
            Way::Protect => self.own.protect(cells, &[], made),
            Way::Reveal => self.own.reveal(cells, &[], made),
        };
        if !report.map_err(refused)?.misfits().is_empty() {
            return Err(refused(()));
        }
        black_box(made);
        Ok(())
    }

    fn check(&mut self) -> Check {
        #[cfg(test)]
        if super::spoil::is_asked() {
            // What was made belongs to the library: another input is as wrong as another output.
            let middle = self.values.bytes.len() / 2;
            self.values.bytes[middle] ^= 1;
        }
        match self.is_right() {
            Ok(true) => Check::Right,
            _ => Check::Wrong,
        }
    }
}

/// Tokens of a column.
pub(super) fn protect(kind: Kind, row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    Ok(Box::new(Whole::new(kind, Way::Protect, row)?))
}

/// Values of a column of tokens.
pub(super) fn reveal(kind: Kind, row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    Ok(Box::new(Whole::new(kind, Way::Reveal, row)?))
}
