//! Columns as they come and as they go.

use std::fmt;
use std::ops::Range;

use keywright_secret::wipe_vec;

use crate::error::Error;

/// The cells of a column, one after the other in one piece of memory. An empty cell is an absent value.
#[derive(Clone, Copy, Debug)]
pub struct Cells<'a> {
    bytes: &'a [u8],
    places: Places<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Places<'a> {
    Fixed { width: usize, count: usize },
    Offsets(&'a [usize]),
    Small(&'a [i32]),
    Same { count: usize },
}

impl<'a> Cells<'a> {
    /// Cells of `width` bytes each.
    ///
    /// # Errors
    /// [`Error::Cells`] if the bytes do not divide by it, or it is 0.
    pub fn fixed(bytes: &'a [u8], width: usize) -> Result<Self, Error> {
        match bytes.len().checked_rem(width) {
            Some(0) => Ok(Self {
                bytes,
                places: Places::Fixed {
                    width,
                    count: bytes.len() / width,
                },
            }),
            _ => Err(Error::Cells),
        }
    }

    /// Cell `i` lies between offset `i` and offset `i + 1`.
    ///
    /// # Errors
    /// [`Error::Cells`] if the offsets do not rise, or go beyond the bytes.
    pub fn offsets(bytes: &'a [u8], offsets: &'a [usize]) -> Result<Self, Error> {
        if !offsets.is_sorted() || offsets.last().is_some_and(|last| *last > bytes.len()) {
            return Err(Error::Cells);
        }
        Ok(Self {
            bytes,
            places: Places::Offsets(offsets),
        })
    }

    /// As [`Cells::offsets`], with the offsets of an Arrow column.
    ///
    /// # Errors
    /// As [`Cells::offsets`].
    pub fn offsets_i32(bytes: &'a [u8], offsets: &'a [i32]) -> Result<Self, Error> {
        let last = offsets.last().map(|last| usize::try_from(*last));
        let beyond = last.is_some_and(|last| last.map_or(true, |last| last > bytes.len()));
        if beyond || !offsets.is_sorted() || offsets.first().is_some_and(|first| *first < 0) {
            return Err(Error::Cells);
        }
        Ok(Self {
            bytes,
            places: Places::Small(offsets),
        })
    }

    /// One cell, `count` times.
    #[must_use]
    pub const fn repeated(cell: &'a [u8], count: usize) -> Self {
        Self {
            bytes: cell,
            places: Places::Same { count },
        }
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self.places {
            Places::Fixed { count, .. } | Places::Same { count } => count,
            Places::Offsets(offsets) => offsets.len().saturating_sub(1),
            Places::Small(offsets) => offsets.len().saturating_sub(1),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One cell; empty beyond the end.
    #[must_use]
    #[inline]
    pub fn get(&self, row: usize) -> &'a [u8] {
        let range = match self.places {
            Places::Fixed { width, .. } => row * width..(row + 1) * width,
            Places::Same { .. } => 0..self.bytes.len(),
            Places::Offsets(offsets) => match offsets.get(row..row + 2) {
                Some([start, end]) => *start..*end,
                _ => 0..0,
            },
            Places::Small(offsets) => match offsets.get(row..row + 2) {
                Some([start, end]) => {
                    let place = |offset: &i32| usize::try_from(*offset).unwrap_or_default();
                    place(start)..place(end)
                }
                _ => 0..0,
            },
        };
        self.bytes.get(range).unwrap_or_default()
    }

    /// The bytes, and where the cells begin and end in them, if that is how they are kept.
    #[must_use]
    pub const fn by_offsets(&self) -> Option<(&'a [u8], &'a [usize])> {
        match self.places {
            Places::Offsets(offsets) => Some((self.bytes, offsets)),
            _ => None,
        }
    }

    /// Bytes of all cells, or a few more.
    pub(crate) const fn extent(&self) -> usize {
        match self.places {
            Places::Same { count } => self.bytes.len().saturating_mul(count),
            _ => self.bytes.len(),
        }
    }

    /// Consecutive rows in one piece, and their width, if all have one.
    pub(crate) fn piece(&self, rows: &Range<usize>) -> Option<(&'a [u8], usize)> {
        let width = match self.places {
            Places::Fixed { width, .. } => width,
            Places::Same { .. } => return None,
            Places::Offsets(offsets) => {
                let offsets = offsets.get(rows.start..=rows.end)?;
                even(offsets, |low, high| high - low)?
            }
            Places::Small(offsets) => {
                let offsets = offsets.get(rows.start..=rows.end)?;
                even(offsets, |low, high| {
                    usize::try_from(high - low).unwrap_or_default()
                })?
            }
        };
        let start = match self.places {
            Places::Fixed { width, .. } => rows.start * width,
            Places::Offsets(offsets) => *offsets.get(rows.start)?,
            Places::Small(offsets) => usize::try_from(*offsets.get(rows.start)?).ok()?,
            Places::Same { .. } => return None,
        };
        let bytes = self.bytes.get(start..start + width * rows.len())?;
        Some((bytes, width))
    }
}

/// The distance of all offsets, if it is one.
fn even<T: Copy>(offsets: &[T], distance: impl Fn(T, T) -> usize) -> Option<usize> {
    let (first, second) = (offsets.first()?, offsets.get(1)?);
    let width = distance(*first, *second);
    let differing = offsets.windows(2).filter(|pair| match pair {
        [low, high] => distance(*low, *high) != width,
        _ => false,
    });
    (differing.count() == 0).then_some(width)
}

/// What came of a column: cells one after the other, wiped when dropped or used again.
#[derive(Default)]
pub struct Output {
    pub(crate) bytes: Vec<u8>,
    pub(crate) offsets: Vec<usize>,
}

impl Output {
    /// With nothing in it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// All bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where the cells begin, and where the last ends.
    #[must_use]
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The cells.
    #[must_use]
    pub fn cells(&self) -> Cells<'_> {
        Cells {
            bytes: &self.bytes,
            places: Places::Offsets(&self.offsets),
        }
    }

    /// Makes room for so many cells of so many bytes. What the room held is wiped before it is given back.
    pub(crate) fn begin(&mut self, cells: usize, bytes: usize) {
        if self.bytes.capacity() < bytes {
            wipe_vec(&mut self.bytes);
            self.bytes.reserve_exact(bytes);
        }
        self.bytes.clear();
        self.offsets.clear();
        self.offsets.reserve(cells + 1);
        self.offsets.push(0);
    }

    pub(crate) fn end_cell(&mut self) {
        self.offsets.push(self.bytes.len());
    }
}

/// Without the cells.
impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output")
            .field("cells", &self.cells().len())
            .finish_non_exhaustive()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        wipe_vec(&mut self.bytes);
    }
}
