//! Keys of formats: what a version's secret becomes, and whole requests through the columns of the format layer.
//!
//! The keys are those of the files (design 7.20): [`FormatKey::derive`] over the version's secret, with the
//! format, the tweak policy and the column's name of the key's detail. So one secret gives the same tokens here
//! and in a file.

use std::collections::HashSet;
use std::sync::Arc;

use keywright_custody::{
    Detail, FormatDetail, HolderError, HolderOperation, Items, KeyMaterial, Reply, Request,
};
use keywright_encoding::{Reader, Truncated};
use keywright_format::{
    Cells, Cipher, Column, Format, FormatKey, Mask, Masker, Output, Scope, Settings, TweakPolicy,
};
use keywright_secret::locked::Slot;
use keywright_secret::{Secret, wipe};
use keywright_types::{Algorithm, Code, KeyVersion};

/// What a version of a format key is once its secret is open.
pub(crate) struct Ready {
    key: FormatKey,
    masker: Option<Masker>,
    column: String,
    /// The columns whose cells the tweak needs, in its order.
    cells: Vec<String>,
    /// How many different columns these are.
    distinct: usize,
}

/// The same with the slot that the secret lies in: it bounds how many are open at once.
pub(crate) struct Loaded {
    pub(crate) _secret: Slot,
    pub(crate) ready: Arc<Ready>,
}

/// The block cipher of an algorithm of formats.
pub(crate) const fn cipher_of(algorithm: Algorithm) -> Option<Cipher> {
    match algorithm {
        Algorithm::Ff1Aes128 => Some(Cipher::Aes128),
        Algorithm::Ff1Aes192 => Some(Cipher::Aes192),
        Algorithm::Ff1Aes256 => Some(Cipher::Aes256),
        Algorithm::Ff1Sm4 => Some(Cipher::Sm4),
        _ => None,
    }
}

impl Ready {
    /// Derives the keys of a version whose secret this is.
    pub(crate) fn new(secret: &[u8; 32], material: &KeyMaterial) -> Result<Self, HolderError> {
        let spec = material.spec();
        let unsupported = HolderError::Unsupported(spec.custody);
        let cipher = cipher_of(spec.algorithm).ok_or(unsupported)?;
        let Some(Detail::Format(detail)) = material.detail().map(AsRef::as_ref) else {
            return Err(unsupported);
        };
        let secret = Secret::from_fill(|copy| copy.copy_from_slice(secret));
        Self::derive(&secret, detail, cipher).map_err(|error| match error {
            keywright_format::Error::Backend(_) => HolderError::Unavailable,
            _ => unsupported,
        })
    }

    fn derive(
        secret: &Secret<32>,
        detail: &FormatDetail,
        cipher: Cipher,
    ) -> Result<Self, keywright_format::Error> {
        let format = Format::parse(&detail.format)?;
        let policy = TweakPolicy::parse(&detail.tweak)?;
        let cells: Vec<_> = policy.columns().into_iter().map(str::to_owned).collect();
        let distinct = cells.iter().collect::<HashSet<_>>().len();
        let mut settings = Settings::new(policy).with_cipher(cipher);
        if detail.small_domain {
            settings = settings.accept_small_domain();
        }
        let mask = detail
            .mask
            .as_deref()
            .map(Mask::parse_recorded)
            .transpose()?;
        let masker = mask.map(|mask| Masker::keyed(mask, secret, &detail.column));
        Ok(Self {
            key: FormatKey::derive(secret, &format, settings)?,
            masker: masker.transpose()?,
            column: detail.column.clone(),
            cells,
            distinct,
        })
    }
}

/// Does a request of a format key; `ready` are its versions, opened, in their order.
pub(crate) fn run(
    request: &Request,
    ready: &[Arc<Ready>],
    items: &Items,
) -> Result<Reply, HolderError> {
    let mut batches: Vec<_> = ready.iter().map(|ready| Batch::new(ready)).collect();
    let mut places = Vec::with_capacity(items.len());
    for item in items.iter() {
        let batch = batches.get_mut(item.version);
        let missing = Err(Code::VersionNotFound);
        places.push(batch.map_or(missing, |batch| batch.push(item.payload, item.aad)));
    }
    for batch in &mut batches {
        batch.work(request.operation)?;
    }
    let room = batches.iter().map(Batch::room).sum();
    let mut reply = Reply::with_capacity(items.len(), room);
    for (item, place) in items.iter().zip(places) {
        let version = request.versions.get(item.version);
        let version = version.map_or(KeyVersion::NONE, |material| material.version());
        let batch = batches.get(item.version);
        reply.push(version, |out| {
            let place = place?;
            batch.ok_or(Code::Internal)?.give(place, out)
        });
    }
    Ok(reply)
}

/// The items of one version, one after the other, as the format layer takes them.
struct Batch<'r> {
    ready: &'r Ready,
    values: Pile,
    /// A pile for each column that the tweak needs.
    cells: Vec<Pile>,
    output: Output,
    /// Rows whose values are not in the format, rising.
    misfits: Vec<usize>,
    masks: bool,
}

/// Cells in one piece of memory, wiped.
struct Pile {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Pile {
    fn new() -> Self {
        Self {
            bytes: Vec::new(),
            ends: vec![0],
        }
    }

    fn push(&mut self, cell: &[u8]) {
        if self.bytes.capacity() - self.bytes.len() < cell.len() {
            let room = (self.bytes.len() + cell.len()).max(1024) * 2;
            let mut wider = Vec::with_capacity(room);
            wider.extend_from_slice(&self.bytes);
            wipe(&mut std::mem::replace(&mut self.bytes, wider));
        }
        self.bytes.extend_from_slice(cell);
        self.ends.push(self.bytes.len());
    }

    fn cells(&self) -> Result<Cells<'_>, keywright_format::Error> {
        Cells::offsets(&self.bytes, &self.ends)
    }

    fn len(&self) -> usize {
        self.ends.len() - 1
    }
}

impl Drop for Pile {
    fn drop(&mut self) {
        wipe(&mut self.bytes);
    }
}

impl<'r> Batch<'r> {
    fn new(ready: &'r Ready) -> Self {
        Self {
            ready,
            values: Pile::new(),
            cells: ready.cells.iter().map(|_| Pile::new()).collect(),
            output: Output::new(),
            misfits: Vec::new(),
            masks: false,
        }
    }

    /// Takes a value or token with the cells of its tweak; says at which row it is.
    fn push(&mut self, value: &[u8], tweak: &[u8]) -> Result<usize, Code> {
        // To the format layer an empty cell is an absent one, which would go through as it is.
        if value.is_empty() {
            return Err(Code::ValueUnfit);
        }
        let named = parts(tweak).map_err(|_| Code::TweakInvalid)?;
        if named.len() != self.ready.distinct {
            return Err(Code::TweakInvalid);
        }
        let find = |name: &String| {
            let mut named = named.iter();
            named.find(|(own, _)| *own == name.as_bytes())
        };
        let found = self.ready.cells.iter().map(find);
        let found: Option<Vec<_>> = found.collect();
        for (pile, (_, cell)) in self.cells.iter_mut().zip(found.ok_or(Code::TweakInvalid)?) {
            pile.push(cell);
        }
        self.values.push(value);
        Ok(self.values.len() - 1)
    }

    fn work(&mut self, operation: HolderOperation) -> Result<(), HolderError> {
        self.masks = operation == HolderOperation::Mask;
        if self.values.len() == 0 {
            return Ok(());
        }
        let scope = Scope::column(&self.ready.column);
        let mut column = Column::new(&self.ready.key, scope);
        let rows: Result<Vec<_>, _> = self.cells.iter().map(Pile::cells).collect();
        let report = self.values.cells().and_then(|values| {
            let (rows, output) = (rows?, &mut self.output);
            match operation {
                HolderOperation::Tokenize => column.protect(values, &rows, output),
                _ => column.reveal(values, &rows, output),
            }
        });
        // The engine was made for this key; what it refuses now is no value's fault.
        let report = report.map_err(|_| HolderError::Unavailable)?;
        self.misfits = report.misfits().iter().map(|(row, _)| *row).collect();
        Ok(())
    }

    /// As many bytes as the results take at most.
    fn room(&self) -> usize {
        let bytes = self.output.bytes().len();
        // A mask may be longer than what it hides: a fixed text, or 32 digits of a hash.
        let masker = if self.masks {
            self.ready.masker.as_ref()
        } else {
            None
        };
        bytes + masker.map_or(0, |_| self.values.len() * MASK_ROOM)
    }

    fn give(&self, row: usize, out: &mut Vec<u8>) -> Result<[u8; 16], Code> {
        if self.misfits.binary_search(&row).is_ok() {
            return Err(Code::ValueUnfit);
        }
        let cell = self.output.cells().get(row);
        match (self.masks, &self.ready.masker) {
            (false, _) => out.extend_from_slice(cell),
            (true, Some(masker)) => masker.apply(cell, out),
            (true, None) => return Err(Code::Unsupported),
        }
        Ok([0; 16])
    }
}

type Part<'a> = (&'a [u8], &'a [u8]);

/// lp(name) + lp(cell), as often as there are cells.
fn parts(tweak: &[u8]) -> Result<Vec<Part<'_>>, Truncated> {
    let mut reader = Reader::new(tweak);
    let mut parts = Vec::new();
    while !reader.is_empty() {
        parts.push((reader.lp()?, reader.lp()?));
    }
    Ok(parts)
}

/// More than a mask adds to a value, but for a long fixed text, which grows the buffer. What is in a mask may
/// be seen by whoever sees it.
const MASK_ROOM: usize = 64;
