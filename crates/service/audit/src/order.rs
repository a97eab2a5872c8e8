//! Orders that a crash left open (design 7.29).

use crate::field::Place;
use crate::record::{Entry, Facts, ReadFields};

/// An order that an earlier boot began and did not end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfinishedOrder {
    place: Place,
    facts: Facts,
    fields: Vec<u8>,
}

impl UnfinishedOrder {
    pub(crate) fn new(place: Place, entry: &Entry<'_>) -> Self {
        Self {
            place,
            facts: *entry.facts(),
            fields: entry.raw_fields().to_vec(),
        }
    }

    /// Where its record stands.
    #[must_use]
    pub const fn place(&self) -> Place {
        self.place
    }

    /// What was to be done.
    #[must_use]
    pub const fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The fields of its record.
    #[must_use]
    pub fn fields(&self) -> ReadFields<'_> {
        ReadFields::new(&self.fields)
    }

    pub(crate) fn raw_fields(&self) -> &[u8] {
        &self.fields
    }
}
