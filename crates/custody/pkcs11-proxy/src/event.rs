//! What is known of a call when it comes back: small, fixed, and without anything secret, so that it can wait in
//! the queue.

use cryptoki_sys::CK_RV;

use crate::boundary::Place;

/// A call that came back. Times are nanoseconds on the recorder's clock; lengths are bytes.
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
    /// In place, because what one thread allocates and another frees disturbs the heap of the application.
    pub(crate) details: Option<Details>,
    pub(crate) hint: Option<Box<str>>,
}

/// What calls with a mechanism or a template have besides.
#[derive(Default)]
pub(crate) struct Details {
    pub(crate) mechanism: Option<u64>,
    parameters: [Option<(Parameter, u64)>; 5],
    pub(crate) iv: Option<Iv>,
    pub(crate) attributes: Vec<Attribute>,
    /// The values that attributes point into.
    pub(crate) bytes: Vec<u8>,
}

/// An attribute of a template.
pub(crate) struct Attribute {
    pub(crate) kind: u64,
    /// The length of its value, unless the module said that there is none.
    pub(crate) len: Option<u64>,
    /// Where in [`Details::bytes`] its value is, and how much of it was kept.
    pub(crate) start: usize,
    pub(crate) kept: Option<usize>,
}

/// A nonce or IV, kept until its tag is made.
pub(crate) struct Iv {
    bytes: [u8; 64],
    len: usize,
}

/// A public parameter of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parameter {
    AadLen,
    CounterBits,
    Hash,
    InfoLen,
    Iterations,
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
    pub(crate) fn details(&mut self) -> &mut Details {
        self.details.get_or_insert_default()
    }
}

impl Details {
    /// Keeps a parameter; of more than there is room for, the first.
    pub(crate) fn put(&mut self, parameter: Parameter, value: u64) {
        if let Some(free) = self.parameters.iter_mut().find(|slot| slot.is_none()) {
            *free = Some((parameter, value));
        }
    }

    pub(crate) fn parameters(&self) -> impl Iterator<Item = (Parameter, u64)> {
        self.parameters.iter().copied().flatten()
    }

    /// The value of an attribute, if it was kept.
    pub(crate) fn value(&self, attribute: &Attribute) -> Option<&[u8]> {
        let end = attribute.start.checked_add(attribute.kept?)?;
        self.bytes.get(attribute.start..end)
    }
}

impl Iv {
    pub(crate) fn new(iv: &[u8]) -> Option<Self> {
        let mut bytes = [0; 64];
        bytes.get_mut(..iv.len())?.copy_from_slice(iv);
        Some(Self {
            bytes,
            len: iv.len(),
        })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

impl Parameter {
    /// Its name in the record.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::AadLen => "aad_len",
            Self::CounterBits => "counter_bits",
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
