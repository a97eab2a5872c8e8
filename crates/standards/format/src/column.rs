//! Whole columns: cells are read into FF1's digits, one buffer for each shape, encrypted in one call for
//! each buffer, and written back in their order.
//!
//! A column is cut into blocks that stay in the cache. Buffers are used again from block to block and from
//! call to call, so that nothing is allocated for a value.

mod flat;
mod group;
mod kept;
mod luhn;
mod plain;
mod report;

use std::fmt;
use std::ops::Range;

use keywright_fpe::{Batch, Key, Options, Radix, Tweaks};

use crate::cells::{Cells, Output};
use crate::codec::Side;
use crate::error::{Error, Misfit};
use crate::format::read;
use crate::key::FormatKey;
use crate::rank::{Sink, Source};
use crate::tweak::{Derivation, TweakPolicy};
use flat::FlatBlock;
use group::Groups;
use kept::KeptBlock;
use plain::PlainBlock;
pub use report::{One, Report, Scope};

/// Cells that are worked on together.
const BLOCK: usize = 4_096;

/// To tokens or from tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Protect,
    Reveal,
}

impl Direction {
    const fn from(self) -> Side {
        match self {
            Self::Protect => Side::Clear,
            Self::Reveal => Side::Token,
        }
    }

    const fn to(self) -> Side {
        match self {
            Self::Protect => Side::Token,
            Self::Reveal => Side::Clear,
        }
    }
}

/// One call.
struct Job<'a> {
    direction: Direction,
    cells: Cells<'a>,
    rows: &'a [Cells<'a>],
}

impl<'a> Job<'a> {
    /// The cell of one of the columns that the tweak needs.
    fn cell(&self, column: usize, row: usize) -> &'a [u8] {
        let column = self.rows.get(column);
        column.map_or(&[], |column| column.get(row))
    }
}

/// Where a cell's digits are.
#[derive(Clone, Copy, Debug)]
enum Place {
    Empty,
    Misfit,
    At { codec: u32, group: u32, index: u32 },
}

/// A key with the buffers for a column. For one thread.
///
/// ```
/// use keywright_format::{Cells, Column, Format, FormatKey, Output, Scope, Settings, TweakPolicy};
/// use keywright_secret::Secret;
///
/// let format = Format::parse("card")?;
/// let master = Secret::<32>::from_fill(|key| key.fill(7));
/// let key = FormatKey::derive(&master, &format, Settings::new(TweakPolicy::default()))?;
/// let mut column = Column::new(&key, Scope::column("card_number"));
///
/// let cards = Cells::fixed(b"41111111111111115500000000000004", 16)?;
/// let (mut tokens, mut cleartext) = (Output::new(), Output::new());
/// let report = column.protect(cards, &[], &mut tokens)?;
/// assert!(report.misfits().is_empty());
/// column.reveal(tokens.cells(), &[], &mut cleartext)?;
/// assert_eq!(cleartext.bytes(), b"41111111111111115500000000000004");
/// # Ok::<(), keywright_format::Error>(())
/// ```
pub struct Column<'k> {
    key: &'k FormatKey,
    derivation: Option<Derivation<'k>>,
    /// The tweak that all values have, if they have one.
    same: Option<Vec<u8>>,
    engines: Engines<'k>,
    groups: Groups,
    sink: Sink,
    symbols: Vec<u16>,
    numbers: Vec<u128>,
    places: Vec<Place>,
    plain: PlainBlock,
    kept: KeptBlock,
    flat: FlatBlock,
    threads: usize,
}

/// FF1 for each radix that came.
#[derive(Debug)]
pub(crate) struct Engines<'k> {
    key: &'k FormatKey,
    keys: Vec<Key>,
}

impl Engines<'_> {
    /// The place of the engine for a radix.
    pub(crate) fn place(&mut self, radix: u32) -> Result<usize, Error> {
        let found = self
            .keys
            .iter()
            .position(|key| key.radix().value() == radix);
        if let Some(place) = found {
            return Ok(place);
        }
        let settings = self.key.settings();
        let algorithm = settings.cipher().algorithm();
        let mut options = Options::new(settings.mode(), algorithm, Radix::new(radix)?)
            .with_policy(settings.engine());
        if let Some(backend) = settings.backend() {
            options = options.with_backend(backend);
        }
        self.keys
            .push(Key::new(options, self.key.secret().expose())?);
        Ok(self.keys.len() - 1)
    }

    pub(crate) fn get(&self, place: usize) -> Option<&Key> {
        self.keys.get(place)
    }
}

impl<'k> Column<'k> {
    /// Buffers are made as they are needed.
    #[must_use]
    pub fn new(key: &'k FormatKey, scope: Scope<'_>) -> Self {
        let settings = key.settings();
        let mut derivation = key
            .tweak_key()
            .map(|own| Derivation::new(own, settings.tweak(), scope.column, settings.tweak_len()));
        let same = match settings.tweak() {
            TweakPolicy::Caller => Some(scope.caller.to_vec()),
            TweakPolicy::None => Some(Vec::new()),
            TweakPolicy::Parts(_) => derivation
                .as_mut()
                .filter(|derivation| derivation.is_constant())
                .map(|derivation| {
                    let mut tweak = Vec::new();
                    derivation.put(&[], |_| &[], &mut tweak);
                    tweak
                }),
        };
        Self {
            key,
            derivation,
            same,
            engines: Engines {
                key,
                keys: Vec::new(),
            },
            groups: Groups::default(),
            sink: Sink::default(),
            symbols: Vec::new(),
            numbers: Vec::new(),
            places: Vec::new(),
            plain: PlainBlock::default(),
            kept: KeptBlock::default(),
            flat: FlatBlock::default(),
            threads: 1,
        }
    }

    /// FF1 over up to so many threads, the caller's among them. Reading and writing stay on the caller's:
    /// a column for each thread is faster where there are many rows.
    #[must_use]
    pub const fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Makes tokens of clear values. `rows` are the columns that the tweak policy names, in its order, each
    /// with as many cells.
    ///
    /// # Errors
    /// [`Error::TweakParts`]; [`Error::Engine`]. A value that does not fit is no error: it is in the report.
    pub fn protect(
        &mut self,
        cells: Cells<'_>,
        rows: &[Cells<'_>],
        out: &mut Output,
    ) -> Result<Report, Error> {
        self.run(Direction::Protect, cells, rows, out)
    }

    /// Makes clear values of tokens. Nothing tells whether the key and the tweaks are the right ones, but
    /// where tokens are marked.
    ///
    /// # Errors
    /// As [`Column::protect`].
    pub fn reveal(
        &mut self,
        cells: Cells<'_>,
        rows: &[Cells<'_>],
        out: &mut Output,
    ) -> Result<Report, Error> {
        self.run(Direction::Reveal, cells, rows, out)
    }

    fn run(
        &mut self,
        direction: Direction,
        cells: Cells<'_>,
        rows: &[Cells<'_>],
        out: &mut Output,
    ) -> Result<Report, Error> {
        self.judge(&cells, rows)?;
        let job = Job {
            direction,
            cells,
            rows,
        };
        let mut report = Report {
            cells: cells.len(),
            ..Report::default()
        };
        out.begin(cells.len(), cells.extent());
        for start in (0..cells.len()).step_by(BLOCK) {
            let block = start..cells.len().min(start + BLOCK);
            if self.run_plain(&job, &block, out)?
                || self.run_kept(&job, &block, out)?
                || self.run_flat(&job, &block, out)?
            {
                continue;
            }
            self.read_block(&job, &block, &mut report)?;
            self.groups
                .run(&self.engines, direction, self.same.as_deref(), self.threads)?;
            self.write_block(&job, &block, out, &mut report);
        }
        Ok(report)
    }

    fn judge(&self, cells: &Cells<'_>, rows: &[Cells<'_>]) -> Result<(), Error> {
        let columns = self.key.settings().tweak().columns().len();
        if rows.len() != columns {
            return Err(Error::TweakParts {
                expected: columns,
                given: rows.len(),
            });
        }
        match rows.iter().find(|row| row.len() != cells.len()) {
            Some(row) => Err(Error::TweakParts {
                expected: cells.len(),
                given: row.len(),
            }),
            None => Ok(()),
        }
    }

    fn read_block(
        &mut self,
        job: &Job<'_>,
        block: &Range<usize>,
        report: &mut Report,
    ) -> Result<(), Error> {
        self.groups.clear();
        self.places.clear();
        for row in block.clone() {
            let value = job.cells.get(row);
            let cell = |place: usize| job.cell(place, row);
            let place = if value.is_empty() {
                report.empty += 1;
                Place::Empty
            } else {
                match self.read_value(job.direction, value, cell)? {
                    Ok(place) => place,
                    Err(misfit) => {
                        report.misfits.push((row, misfit));
                        Place::Misfit
                    }
                }
            };
            self.places.push(place);
        }
        Ok(())
    }

    /// The outer result is the column's, the inner the value's.
    fn read_value<'c>(
        &mut self,
        direction: Direction,
        value: &[u8],
        cell: impl Fn(usize) -> &'c [u8],
    ) -> Result<Result<Place, Misfit>, Error> {
        let codecs = self.key.format().codecs();
        let codec = match read(codecs, direction.from(), value, &mut self.sink) {
            Ok(codec) => codec,
            Err(misfit) => return Ok(Err(misfit)),
        };
        let floor = self.key.settings().floor();
        let group = self
            .groups
            .place(&self.sink.spans, &mut self.engines, floor)?;
        let (index, tweaks) = match self.groups.put(group, &self.sink) {
            Ok(put) => put,
            Err(misfit) => return Ok(Err(misfit)),
        };
        if self.same.is_none()
            && let Some(derivation) = &mut self.derivation
        {
            derivation.put(&self.sink.kept, cell, tweaks);
        }
        let small = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        Ok(Ok(Place::At {
            codec: small(codec),
            group: small(group),
            index: small(index),
        }))
    }

    fn write_block(
        &mut self,
        job: &Job<'_>,
        block: &Range<usize>,
        out: &mut Output,
        report: &mut Report,
    ) {
        let before = report.misfits.len();
        for (row, place) in block.clone().zip(&self.places) {
            if let Place::At {
                codec,
                group,
                index,
            } = *place
            {
                let (symbols, numbers) = (&mut self.symbols, &mut self.numbers);
                let taken = self
                    .groups
                    .take(group as usize, index as usize, symbols, numbers);
                let codec = self.key.format().codecs().get(codec as usize);
                match (taken, codec) {
                    (Ok(()), Some(codec)) => {
                        let mut source = Source::new(symbols, numbers);
                        let value = job.cells.get(row);
                        codec.write(job.direction.to(), value, &mut source, &mut out.bytes);
                    }
                    (Err(misfit), _) => report.misfits.push((row, misfit)),
                    (Ok(()), None) => {}
                }
            }
            out.end_cell();
        }
        if report.misfits.len() > before {
            report.misfits.sort_by_key(|(row, _)| *row);
        }
    }

    /// One value.
    ///
    /// # Errors
    /// [`One::Misfit`] if it does not fit, else as [`Column::protect`].
    pub fn protect_one(&mut self, value: &[u8], rows: &[&[u8]]) -> Result<Vec<u8>, One> {
        self.one(Direction::Protect, value, rows)
    }

    /// One token.
    ///
    /// # Errors
    /// As [`Column::protect_one`].
    pub fn reveal_one(&mut self, token: &[u8], rows: &[&[u8]]) -> Result<Vec<u8>, One> {
        self.one(Direction::Reveal, token, rows)
    }

    fn one(&mut self, direction: Direction, value: &[u8], rows: &[&[u8]]) -> Result<Vec<u8>, One> {
        let cells = Cells::repeated(value, 1);
        let rows: Vec<Cells<'_>> = rows.iter().map(|row| Cells::repeated(row, 1)).collect();
        let mut out = Output::new();
        let report = self.run(direction, cells, &rows, &mut out)?;
        match report.misfits.first() {
            Some((_, misfit)) => Err(One::Misfit(*misfit)),
            None => Ok(std::mem::take(&mut out.bytes)),
        }
    }
}

/// Without what is left of values in its buffers.
impl fmt::Debug for Column<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column")
            .field("key", self.key)
            .finish_non_exhaustive()
    }
}

impl Drop for Column<'_> {
    fn drop(&mut self) {
        use zeroize::Zeroize;
        self.symbols.zeroize();
        self.numbers.zeroize();
    }
}

/// In place, over threads.
pub(crate) fn crypt<T: keywright_fpe::Numeral>(
    key: &Key,
    direction: Direction,
    (tweaks, digits, threads): (Tweaks<'_>, usize, usize),
    values: &mut [T],
) -> Result<(), Error> {
    let batch = Batch::new(key).with_threads(threads);
    let layout = keywright_fpe::Layout::Fixed(digits);
    let done = match direction {
        Direction::Protect => batch.encrypt(tweaks, layout, values),
        Direction::Reveal => batch.decrypt(tweaks, layout, values),
    };
    done.map_err(|error| error.error().into())
}
