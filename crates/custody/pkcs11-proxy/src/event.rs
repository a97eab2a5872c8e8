//! What is known of a call when it comes back: without anything secret, so that it can wait in the ring.

use cryptoki_sys::CK_RV;

use crate::boundary::Place;

/// A call that came back. Times are nanoseconds on the recorder's clock; lengths are bytes.
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(crate) struct Event {
    pub(crate) place: Place,
    pub(crate) rv: CK_RV,
    pub(crate) began: u64,
    pub(crate) took: u64,
    pub(crate) thread: u64,
    pub(crate) session: Option<u64>,
    pub(crate) slot: Option<u64>,
    /// The key or object that the call is about.
    pub(crate) key: Option<u64>,
    /// The object that it made.
    pub(crate) made: Option<u64>,
    pub(crate) user: Option<u64>,
    pub(crate) in_len: Option<u64>,
    pub(crate) out_len: Option<u64>,
    /// Whether only a length was asked for, or the place was too small for more.
    pub(crate) size_query: bool,
    /// In place, so that a usual call allocates nothing.
    pub(crate) details: Option<Details>,
    pub(crate) hint: Option<Box<str>>,
}

/// No mechanism that is looked into has more.
pub(crate) const MOST_PARAMETERS: usize = 6;

/// What calls with a mechanism or a template have besides.
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(crate) struct Details {
    pub(crate) mechanism: Option<u64>,
    /// As many as `count` says, and which they are: a byte each, the last one lowest.
    values: [u64; MOST_PARAMETERS],
    which: u64,
    count: usize,
    pub(crate) iv: Option<Iv>,
    /// Apart, so that a call without one has nothing to give back.
    pub(crate) template: Option<Box<Template>>,
}

/// The attributes of a call.
#[derive(Default)]
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(crate) struct Template {
    pub(crate) attributes: Vec<Attribute>,
    /// The values that attributes point into.
    pub(crate) bytes: Vec<u8>,
}

/// An attribute of a template.
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(crate) struct Attribute {
    pub(crate) kind: u64,
    /// The length of its value, unless the module said that there is none.
    pub(crate) len: Option<u64>,
    /// Where in [`Template::bytes`] its value is, and how much of it was kept.
    pub(crate) start: usize,
    pub(crate) kept: Option<usize>,
}

/// A nonce or IV, kept until its tag is made: bytes in words, the lowest first, and zeros behind them.
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(crate) struct Iv {
    words: [u64; Self::LONGEST / 8],
    len: usize,
}

/// A public parameter of a mechanism, in the order of their names in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Parameter {
    AadLen,
    CounterBits,
    Hash,
    InfoLen,
    Iterations,
    FixedBits,
    Generator,
    IvLen,
    Kdf,
    LabelLen,
    Length,
    MacLen,
    Mgf,
    PublicLen,
    SaltLen,
    TagBits,
}

impl Event {
    #[inline(always)]
    pub(crate) const fn new(place: Place, rv: CK_RV) -> Self {
        Self {
            place,
            rv,
            began: 0,
            took: 0,
            thread: 0,
            session: None,
            slot: None,
            key: None,
            made: None,
            user: None,
            in_len: None,
            out_len: None,
            size_query: false,
            details: None,
            hint: None,
        }
    }

    /// The details, which are there from now on.
    #[inline]
    pub(crate) fn details(&mut self) -> &mut Details {
        self.details.get_or_insert_default()
    }
}

impl Default for Details {
    fn default() -> Self {
        Self::new()
    }
}

impl Details {
    const fn new() -> Self {
        Self {
            mechanism: None,
            values: [0; MOST_PARAMETERS],
            which: 0,
            count: 0,
            iv: None,
            template: None,
        }
    }

    /// Keeps a parameter; of more than there is room for, the first.
    #[inline]
    pub(crate) fn put(&mut self, parameter: Parameter, value: u64) {
        if let Some(free) = self.values.get_mut(self.count) {
            *free = value;
            self.which = self.which << 8 | parameter as u64;
            self.count += 1;
        }
    }

    /// The parameters: which they are, and their values.
    #[inline]
    pub(crate) fn parameters(&self) -> (u64, &[u64]) {
        (
            self.which,
            self.values.get(..self.count).unwrap_or_default(),
        )
    }

    /// Each parameter that is known, with its value.
    pub(crate) fn named(&self) -> impl Iterator<Item = (Parameter, u64)> {
        let (which, values) = self.parameters();
        let at = move |left: usize| {
            Parameter::ALL.get(usize::try_from(which >> (8 * left) & 0xff).ok()?)
        };
        (0..values.len())
            .rev()
            .zip(values)
            .filter_map(move |(left, value)| Some((*at(left)?, *value)))
    }

    /// The template, which is there from now on.
    pub(crate) fn template(&mut self) -> &mut Template {
        self.template.get_or_insert_default()
    }

    /// The attributes, of a call that has some.
    pub(crate) fn attributes(&self) -> &[Attribute] {
        self.template
            .as_ref()
            .map_or(&[], |template| &template.attributes)
    }

    /// The value of an attribute, if it was kept.
    pub(crate) fn value(&self, attribute: &Attribute) -> Option<&[u8]> {
        let end = attribute.start.checked_add(attribute.kept?)?;
        self.template.as_ref()?.bytes.get(attribute.start..end)
    }
}

impl Iv {
    /// Bytes; longer ones are not kept.
    pub(crate) const LONGEST: usize = 64;

    #[inline]
    pub(crate) fn new(iv: &[u8]) -> Option<Self> {
        let mut words = [0; Self::LONGEST / 8];
        if let Some((first, rest)) = iv.split_first_chunk::<8>()
            && let Ok(rest) = <[u8; 4]>::try_from(rest)
        {
            // The usual length, without a call.
            let [one, two, ..] = &mut words;
            *one = u64::from_le_bytes(*first);
            *two = u64::from(u32::from_le_bytes(rest));
            return Some(Self {
                words,
                len: iv.len(),
            });
        }
        let mut bytes = [0; Self::LONGEST];
        bytes.get_mut(..iv.len())?.copy_from_slice(iv);
        for (word, eight) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*eight);
        }
        Some(Self {
            words,
            len: iv.len(),
        })
    }

    /// Of words as [`Self::words`] gives them.
    pub(crate) fn of_words(words: [u64; Self::LONGEST / 8], len: usize) -> Option<Self> {
        (len <= Self::LONGEST).then_some(Self { words, len })
    }

    /// The words that have a byte of it in them.
    #[inline]
    pub(crate) fn words(&self) -> &[u64] {
        self.words.get(..self.len.div_ceil(8)).unwrap_or_default()
    }

    /// How many bytes it has.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Its bytes, written to `room`.
    pub(crate) fn bytes<'r>(&self, room: &'r mut [u8; Self::LONGEST]) -> &'r [u8] {
        for (eight, word) in room.as_chunks_mut::<8>().0.iter_mut().zip(self.words) {
            *eight = word.to_le_bytes();
        }
        room.get(..self.len).unwrap_or_default()
    }
}

impl Parameter {
    /// All, each at the place of its number.
    pub(crate) const ALL: [Self; 16] = [
        Self::AadLen,
        Self::CounterBits,
        Self::Hash,
        Self::InfoLen,
        Self::Iterations,
        Self::FixedBits,
        Self::Generator,
        Self::IvLen,
        Self::Kdf,
        Self::LabelLen,
        Self::Length,
        Self::MacLen,
        Self::Mgf,
        Self::PublicLen,
        Self::SaltLen,
        Self::TagBits,
    ];

    /// Its name in the record.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::AadLen => "aad_len",
            Self::CounterBits => "counter_bits",
            Self::FixedBits => "iv_fixed_bits",
            Self::Generator => "iv_generator",
            Self::Hash => "hash",
            Self::InfoLen => "info_len",
            Self::Iterations => "iterations",
            Self::IvLen => "iv_len",
            Self::Kdf => "kdf",
            Self::LabelLen => "label_len",
            Self::Length => "len",
            Self::MacLen => "mac_len",
            Self::Mgf => "mgf",
            Self::PublicLen => "public_len",
            Self::SaltLen => "salt_len",
            Self::TagBits => "tag_bits",
        }
    }
}
