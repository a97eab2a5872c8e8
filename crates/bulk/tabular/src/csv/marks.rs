//! Which bytes of a file mean something.

/// Whether a file has quotes, and what is accepted between them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every caller must face a new one")]
pub enum Quoting {
    /// By doubled quotes, as RFC 4180 has it; the caller did not state it.
    #[default]
    Assumed,
    /// By doubled quotes, because the caller said so.
    Double,
    /// By doubled quotes, and a quoted field may hold anything.
    Accepted,
    /// Not at all: a quote is a byte like any other.
    None,
}

/// The bytes of a file that mean something, besides the line feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    separator: u8,
    /// Equal to the separator where there are no quotes, so that no byte is one.
    quote: u8,
}

impl Marks {
    pub(super) const fn new(separator: u8, quoting: Quoting) -> Self {
        let quote = match quoting {
            Quoting::None => separator,
            Quoting::Assumed | Quoting::Double | Quoting::Accepted => b'"',
        };
        Self { separator, quote }
    }

    /// What is between two fields.
    #[must_use]
    pub const fn separator(self) -> u8 {
        self.separator
    }

    /// Whether fields may be quoted.
    #[must_use]
    pub const fn has_quotes(self) -> bool {
        self.quote != self.separator
    }

    /// Whether a field of the file is quoted. `raw` is the field as it is in the file.
    #[must_use]
    #[inline]
    pub const fn is_quoted(self, raw: &[u8]) -> bool {
        matches!(raw.first(), Some(b'"')) && self.has_quotes()
    }

    /// 1 for a byte that means something, else 0.
    #[inline(always)]
    pub(super) fn flag(self, byte: u8) -> u8 {
        u8::from(byte == self.separator) | u8::from(byte == self.quote) | u8::from(byte == b'\n')
    }
}
