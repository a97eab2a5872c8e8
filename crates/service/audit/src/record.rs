//! The body of a record (design 7.30).
//!
//! ```text
//! type u16 | sequence u64 | time u64 (ns) | epoch u64 | request id 16 | tenant 16 | principal 16
//! | connection u64 | operation u16 | outcome u16 | key id 16 | version u32 | items u32 | failed u32
//! | bytes in u64 | bytes out u64 | duration u64 (ns) | fields: (tag u16 | lp(bytes)) ...
//! ```
//!
//! A writer fills [`Facts`] and typed [`Field`]s; it cannot write bytes of its own. A reader gets an
//! [`Entry`]: every number must be known and every known field well formed; an unknown field is kept
//! as raw bytes, and nothing may follow the last field. Not here: links and files (`chain`).

use std::time::Duration;

use keywright_clock::WallTime;
use keywright_encoding::{Reader, Truncated};
use keywright_types::{Code, KeyId, KeyVersion, Operation, PrincipalId, RequestId, TenantId};

use crate::field::Field;
use crate::{FieldTag, RecordType};

/// Bytes of a body without fields.
pub const FIXED_LEN: usize = 138;

/// Longest body: a record of 10,000 item ids fits six times.
pub const MAX_BODY: usize = 1 << 20;

/// The part of a record that every record has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "these columns are the body for ever (design 7.30)"
)]
pub struct Facts {
    /// What the record is about.
    pub kind: RecordType,
    /// When.
    pub time: WallTime,
    /// The state epoch that the decision was made under.
    pub epoch: u64,
    /// The request.
    pub request: RequestId,
    /// The caller's tenant.
    pub tenant: TenantId,
    /// The caller.
    pub principal: PrincipalId,
    /// The connection, counted from 1 per boot; 0 for none.
    pub connection: u64,
    /// What was asked for.
    pub operation: Operation,
    /// How it ended.
    pub outcome: Code,
    /// The key, which is the context.
    pub key: KeyId,
    /// The key version; zero if none or several.
    pub version: KeyVersion,
    /// Number of items.
    pub items: u32,
    /// How many of them failed.
    pub failed: u32,
    /// Payload bytes that came in.
    pub bytes_in: u64,
    /// Payload bytes that went out.
    pub bytes_out: u64,
    /// How long it took.
    pub duration: Duration,
}

impl Facts {
    /// Facts with nothing but these: the outcome is `ok`, all ids are none, all counts zero.
    #[must_use]
    pub const fn new(kind: RecordType, operation: Operation, time: WallTime) -> Self {
        Self {
            kind,
            time,
            epoch: 0,
            request: RequestId::NONE,
            tenant: TenantId::NONE,
            principal: PrincipalId::NONE,
            connection: 0,
            operation,
            outcome: Code::Ok,
            key: KeyId::NONE,
            version: KeyVersion::NONE,
            items: 0,
            failed: 0,
            bytes_in: 0,
            bytes_out: 0,
            duration: Duration::ZERO,
        }
    }

    pub(crate) fn put(&self, sequence: u64, out: &mut Vec<u8>) {
        out.reserve(FIXED_LEN);
        out.extend_from_slice(&self.kind.number().to_be_bytes());
        out.extend_from_slice(&sequence.to_be_bytes());
        out.extend_from_slice(&self.time.unix_nanos().to_be_bytes());
        out.extend_from_slice(&self.epoch.to_be_bytes());
        out.extend_from_slice(self.request.as_bytes());
        out.extend_from_slice(self.tenant.as_bytes());
        out.extend_from_slice(self.principal.as_bytes());
        out.extend_from_slice(&self.connection.to_be_bytes());
        out.extend_from_slice(&self.operation.number().to_be_bytes());
        out.extend_from_slice(&self.outcome.number().to_be_bytes());
        out.extend_from_slice(self.key.as_bytes());
        out.extend_from_slice(&self.version.number().to_be_bytes());
        out.extend_from_slice(&self.items.to_be_bytes());
        out.extend_from_slice(&self.failed.to_be_bytes());
        out.extend_from_slice(&self.bytes_in.to_be_bytes());
        out.extend_from_slice(&self.bytes_out.to_be_bytes());
        let nanos = u64::try_from(self.duration.as_nanos()).unwrap_or(u64::MAX);
        out.extend_from_slice(&nanos.to_be_bytes());
    }

    fn parse(reader: &mut Reader<'_>) -> Result<(u64, Self), Malformed> {
        let kind = RecordType::from_number(reader.u16()?).map_err(|_| Malformed::Type)?;
        let sequence = reader.u64()?;
        let facts = Self {
            kind,
            time: WallTime::from_unix_nanos(reader.u64()?),
            epoch: reader.u64()?,
            request: RequestId::from_bytes(*reader.array()?),
            tenant: TenantId::from_bytes(*reader.array()?),
            principal: PrincipalId::from_bytes(*reader.array()?),
            connection: reader.u64()?,
            operation: Operation::from_number(reader.u16()?).map_err(|_| Malformed::Operation)?,
            outcome: Code::from_number(reader.u16()?).map_err(|_| Malformed::Outcome)?,
            key: KeyId::from_bytes(*reader.array()?),
            version: KeyVersion::from_number(reader.u32()?),
            items: reader.u32()?,
            failed: reader.u32()?,
            bytes_in: reader.u64()?,
            bytes_out: reader.u64()?,
            duration: Duration::from_nanos(reader.u64()?),
        };
        Ok((sequence, facts))
    }
}

/// A record to be written. The writer adds its sequence number.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "facts and fields are the body for ever"
)]
pub struct Record<'a> {
    /// What every record has.
    pub facts: Facts,
    /// What this one has besides.
    pub fields: &'a [Field<'a>],
}

impl Record<'_> {
    /// Appends the body to `out`; it is not longer than [`MAX_BODY`] unless the fields are.
    pub fn put(&self, sequence: u64, out: &mut Vec<u8>) {
        self.facts.put(sequence, out);
        self.fields.iter().for_each(|field| field.put(out));
    }
}

impl From<Facts> for Record<'_> {
    fn from(facts: Facts) -> Self {
        Self { facts, fields: &[] }
    }
}

/// A record that was read. Only [`Entry::parse`] makes one, so its fields are well formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    sequence: u64,
    facts: Facts,
    fields: &'a [u8],
}

impl<'a> Entry<'a> {
    /// Reads a body.
    ///
    /// # Errors
    /// [`Malformed`] for an unknown type, operation or outcome, for a known field that is not as its
    /// definition says, and for bytes that are cut or left over.
    pub fn parse(body: &'a [u8]) -> Result<Self, Malformed> {
        if body.len() > MAX_BODY {
            return Err(Malformed::Length);
        }
        let mut reader = Reader::new(body);
        let (sequence, facts) = Facts::parse(&mut reader)?;
        let entry = Self {
            sequence,
            facts,
            fields: reader.rest(),
        };
        while !reader.is_empty() {
            let (tag, bytes) = (reader.u16()?, reader.lp()?);
            if let Ok(tag) = FieldTag::from_number(tag) {
                Field::parse(tag, bytes).ok_or(Malformed::Field(tag))?;
            }
        }
        Ok(entry)
    }

    /// The record's place in its chain, counted from 1.
    #[must_use]
    pub const fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The fixed part.
    #[must_use]
    pub const fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The fields, in the order in which they were written.
    #[must_use]
    pub const fn fields(&self) -> ReadFields<'a> {
        ReadFields::new(self.fields)
    }

    /// The known fields.
    pub fn known(&self) -> impl Iterator<Item = Field<'a>> + use<'a> {
        self.fields().filter_map(|field| match field {
            ReadField::Known(field) => Some(field),
            ReadField::Unknown { .. } => None,
        })
    }

    pub(crate) const fn raw_fields(&self) -> &'a [u8] {
        self.fields
    }
}

/// The fields of a record that was read.
#[derive(Clone, Copy, Debug)]
pub struct ReadFields<'a>(Reader<'a>);

impl<'a> ReadFields<'a> {
    /// Over bytes that [`Entry::parse`] has walked already, so that nothing is cut short here.
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(Reader::new(bytes))
    }
}

impl<'a> Iterator for ReadFields<'a> {
    type Item = ReadField<'a>;

    fn next(&mut self) -> Option<ReadField<'a>> {
        let tag = self.0.u16().ok()?;
        let bytes = self.0.lp().ok()?;
        let known = FieldTag::from_number(tag)
            .ok()
            .and_then(|known| Field::parse(known, bytes));
        Some(known.map_or(ReadField::Unknown { tag, bytes }, ReadField::Known))
    }
}

/// A field that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a field is known or it is not")]
pub enum ReadField<'a> {
    /// One of [`FieldTag`].
    Known(Field<'a>),
    /// A number that this version does not know; hashed like the others, shown raw.
    Unknown {
        /// The number.
        tag: u16,
        /// The bytes.
        bytes: &'a [u8],
    },
}

/// Bytes that are no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// A known field is not as its definition says.
    #[error("the field {0} is malformed")]
    Field(FieldTag),
    /// The body is longer than [`MAX_BODY`].
    #[error("the body is longer than a record may be")]
    Length,
    /// An operation of no known number.
    #[error("unknown operation")]
    Operation,
    /// An outcome of no known number.
    #[error("unknown outcome")]
    Outcome,
    /// The bytes end inside the fixed part or a field.
    #[error("the bytes end inside a field")]
    Truncated,
    /// A type of no known number.
    #[error("unknown record type")]
    Type,
}

impl From<Truncated> for Malformed {
    fn from(_: Truncated) -> Self {
        Self::Truncated
    }
}
