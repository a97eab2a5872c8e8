//! Columns of bytes where they are, and columns that were made.

use std::ops::Range;

use keywright_format::Cells;
use zeroize::Zeroize;

use crate::failure::Failure;

/// A column that somebody else holds.
#[derive(Clone, Copy)]
pub(crate) struct Values<'a> {
    bytes: &'a [u8],
    places: Places<'a>,
    rows: usize,
}

#[derive(Clone, Copy)]
enum Places<'a> {
    Fixed(usize),
    Small(&'a [i32]),
    Large(&'a [i64]),
    Own(&'a [usize]),
}

impl<'a> Values<'a> {
    /// So many cells of `width` bytes.
    pub(crate) const fn fixed(bytes: &'a [u8], width: usize, rows: usize) -> Self {
        Self {
            bytes,
            places: Places::Fixed(width),
            rows,
        }
    }

    /// Cell `i` lies between offset `i` and offset `i + 1`.
    pub(crate) const fn small(bytes: &'a [u8], offsets: &'a [i32]) -> Self {
        Self {
            bytes,
            places: Places::Small(offsets),
            rows: offsets.len().saturating_sub(1),
        }
    }

    /// As [`Values::small`], for columns beyond 2 GiB.
    pub(crate) const fn large(bytes: &'a [u8], offsets: &'a [i64]) -> Self {
        Self {
            bytes,
            places: Places::Large(offsets),
            rows: offsets.len().saturating_sub(1),
        }
    }

    /// As [`Values::small`], with our own offsets.
    pub(crate) const fn own(bytes: &'a [u8], offsets: &'a [usize]) -> Self {
        Self {
            bytes,
            places: Places::Own(offsets),
            rows: offsets.len().saturating_sub(1),
        }
    }

    /// How many cells there are.
    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    /// The bytes of all cells, or a few more.
    pub(crate) const fn extent(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes of some rows, and where each begins and the last ends in them.
    pub(crate) fn window(&self, rows: &Range<usize>, offsets: &mut Vec<usize>) -> &'a [u8] {
        offsets.clear();
        let place = |place: i64| usize::try_from(place).unwrap_or_default();
        let both = rows.start..rows.end + 1;
        match self.places {
            Places::Fixed(width) => offsets.extend(both.map(|row| row * width)),
            Places::Small(all) => {
                let all = all.get(both).unwrap_or_default();
                offsets.extend(all.iter().map(|offset| place((*offset).into())));
            }
            Places::Large(all) => {
                let all = all.get(both).unwrap_or_default();
                offsets.extend(all.iter().map(|offset| place(*offset)));
            }
            Places::Own(all) => offsets.extend_from_slice(all.get(both).unwrap_or_default()),
        }
        let (start, end) = match (offsets.first(), offsets.last()) {
            (Some(start), Some(end)) => (*start, *end),
            _ => (0, 0),
        };
        if start > 0 {
            offsets.iter_mut().for_each(|offset| *offset -= start);
        }
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// Some rows as the library takes them.
    pub(crate) fn cells<'s>(
        &self,
        rows: &Range<usize>,
        offsets: &'s mut Vec<usize>,
    ) -> Result<Cells<'s>, Failure>
    where
        'a: 's,
    {
        if let Places::Fixed(width) = self.places {
            let bytes = self.bytes.get(rows.start * width..rows.end * width);
            return Ok(Cells::fixed(bytes.unwrap_or_default(), width)?);
        }
        let bytes = self.window(rows, offsets);
        Ok(Cells::offsets(bytes, offsets)?)
    }
}

/// What says where cells end: numbers of the widths that arrays have.
pub(crate) trait Offset: Copy + Default + Send + Sync {
    /// The number, if it fits.
    fn of(place: usize) -> Option<Self>;
    /// A number that is known to fit.
    fn known(place: usize) -> Self;
    /// The place.
    fn place(self) -> usize;
}

macro_rules! offset {
    ($($own:ty),+) => {
        $(impl Offset for $own {
            fn of(place: usize) -> Option<Self> {
                Self::try_from(place).ok()
            }

            #[allow(
                trivial_numeric_casts,
                clippy::cast_possible_truncation,
                clippy::cast_possible_wrap,
                reason = "the largest was judged; one of the three types is usize itself"
            )]
            fn known(place: usize) -> Self {
                place as Self
            }

            fn place(self) -> usize {
                usize::try_from(self).unwrap_or_default()
            }
        })+
    };
}

offset!(i32, i64, usize);

/// A column that was made. Wiped when it is dropped, unless its bytes went to Python.
pub(crate) struct Made<O> {
    pub(crate) bytes: Vec<u8>,
    pub(crate) offsets: Vec<O>,
    /// Asked of every piece while it is in the cache, so that the whole need not be read again.
    is_ascii: bool,
}

impl<O> Made<O> {
    /// Whether all cells together are UTF-8.
    pub(crate) fn is_text(&self) -> bool {
        self.is_ascii || str::from_utf8(&self.bytes).is_ok()
    }
}

impl<O: Offset> Made<O> {
    /// With room for so many cells and bytes.
    pub(crate) fn with_room(rows: usize, bytes: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(O::default());
        Self {
            bytes: Vec::with_capacity(bytes),
            offsets,
            is_ascii: true,
        }
    }

    /// Takes over cells that stand one after the other; `ends` says where each ends in them.
    pub(crate) fn append(
        &mut self,
        bytes: &[u8],
        ends: impl Iterator<Item = usize>,
    ) -> Result<(), Failure> {
        let start = self.bytes.len();
        if O::of(start + bytes.len()).is_none() {
            let text = "more than 2 GiB in one array: give a large_string array, or chunks";
            return Err(Failure::parameter("array_size", text));
        }
        self.is_ascii &= bytes.is_ascii();
        self.bytes.extend_from_slice(bytes);
        // The last fits, and so does every earlier one.
        self.offsets.extend(ends.map(|end| O::known(start + end)));
        Ok(())
    }

    /// How many cells there are.
    pub(crate) fn rows(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// One cell.
    pub(crate) fn get(&self, row: usize) -> &[u8] {
        match self.offsets.get(row..row + 2) {
            Some([start, end]) => self.bytes.get(start.place()..end.place()),
            _ => None,
        }
        .unwrap_or_default()
    }
}

impl<O> Drop for Made<O> {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}
