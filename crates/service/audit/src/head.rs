//! Signed heads (design 7.34).
//!
//! A head states how far every file had come; heads form a chain of their own. Layout:
//!
//! ```text
//! file     lp(signed) | signature 64, and the next
//! signed   algorithm u16 | key version u32 | public key 32 | head
//! head     number u64 | time u64 (ns) | epoch u64 | hash of the previous head 32 | kind u8
//!          | installation 16 | node 16 | boot id 16 | open orders u32
//!          | count u32, each: boot id 16 | writer u32 | sequence u64 | link 32 | length u64
//!          | signer-change: algorithm u16 | key version u32 | public key 32
//!          | prune: number u64 | hash 32 of the newest head that went with the files
//!          | start-unproven: count u32, each: boot id 16 | writer u32 | sequence u64 | length u64
//! signature = Ed25519("keywright/audit-head/v1" | signed)
//! hash of a head = SHA-256("keywright/audit-head/v1" | signed)
//! ```
//!
//! Numbers count from 1; the first head's previous hash is zeros. The public key is in the head so that
//! one head can be checked alone; whether it is the right key, only a fingerprint from outside can say.
//! A head lists the files that are open and those that ended since the head before; the first head of a
//! boot lists every older file (7.35), and says from where on in which of them nothing proved the records when they
//! were found: neither an older head nor a check frame. Later first heads repeat that as long as the file is there.

use std::io::Read;

use keywright_clock::WallTime;
use keywright_encoding::{Reader, Truncated};
use keywright_primitives::hash::sha256;
use keywright_primitives::signature::{SIGNATURE_LEN, SigningKey, VerifyingKey};
use keywright_types::{Algorithm, BootId, InstallationId, KeyVersion, NodeId};

use crate::HeadKind;
use crate::chain::{FileId, FileState, ReadError, Step};
use crate::finding::Fault;

const LABEL: &[u8] = b"keywright/audit-head/v1";
const SIGNER_LEN: usize = 38;
const FIXED_LEN: usize = 113;
const STATE_LEN: usize = 68;
const TAIL_LEN: usize = 36;
/// A head of 240,000 files.
const MAX_LEN: usize = 16 << 20;

/// SHA-256 of a signer's public key: what a verifier is given from outside the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The fingerprint of a key.
    #[must_use]
    pub fn of(key: &VerifyingKey) -> Self {
        Self(sha256(key.as_bytes()))
    }

    /// Takes 32 bytes as they are.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// A public key that signs heads, with its place in the order of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a signer is these three (design 7.34)"
)]
pub struct Signer {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The version of the audit key.
    pub version: KeyVersion,
    /// The public key.
    pub key: VerifyingKey,
}

impl Signer {
    pub(crate) fn of(key: &SigningKey, version: KeyVersion) -> Self {
        Self {
            algorithm: Algorithm::Ed25519,
            version,
            key: key.verifying_key(),
        }
    }

    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.algorithm.number().to_be_bytes());
        out.extend_from_slice(&self.version.number().to_be_bytes());
        out.extend_from_slice(self.key.as_bytes());
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let algorithm = Algorithm::from_number(reader.u16()?).map_err(|_| Fault::Head)?;
        if algorithm != Algorithm::Ed25519 {
            return Err(Fault::Head);
        }
        let version = KeyVersion::from_number(reader.u32()?);
        let key = VerifyingKey::from_bytes(*reader.array()?);
        Ok(Self {
            algorithm,
            version,
            key,
        })
    }
}

/// A head by which later ones are measured: number and hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a head is known by number and hash"
)]
pub struct HeadId {
    /// The head's number.
    pub number: u64,
    /// Its hash.
    pub hash: [u8; 32],
}

impl HeadId {
    /// What stands before the first head.
    pub const NONE: Self = Self {
        number: 0,
        hash: [0; 32],
    };
}

/// What a kind of head says besides.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Statement {
    /// The first head of a boot.
    Start,
    /// The first head of a boot that has older files with records which nothing proves.
    StartUnproven(Vec<UnprovenTail>),
    /// Nothing more.
    Running,
    /// The boot ends here.
    Shutdown,
    /// Later heads are signed by this key.
    SignerChange(Signer),
    /// The listed files, and the heads up to this one, were removed from the front.
    Prune(HeadId),
}

impl Statement {
    /// The kind of head that says this.
    #[must_use]
    pub const fn kind(&self) -> HeadKind {
        match self {
            Self::Start => HeadKind::Start,
            Self::StartUnproven(_) => HeadKind::StartUnproven,
            Self::Running => HeadKind::Running,
            Self::Shutdown => HeadKind::Shutdown,
            Self::SignerChange(_) => HeadKind::SignerChange,
            Self::Prune(_) => HeadKind::Prune,
        }
    }

    /// Whether a boot begins with it.
    pub(crate) const fn is_start(&self) -> bool {
        matches!(self, Self::Start | Self::StartUnproven(_))
    }

    /// Where in older files records begin that nothing proves.
    pub(crate) fn unproven(&self) -> &[UnprovenTail] {
        match self {
            Self::StartUnproven(tails) => tails,
            _ => &[],
        }
    }
}

/// The end of an older file that nothing proved when it was found: a head covers it since, and says so for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "what a head states of such a file is this for ever"
)]
pub struct UnprovenTail {
    /// The file.
    pub file: FileId,
    /// The last record that is proven; 0 for none.
    pub sequence: u64,
    /// Where the first one begins that is not.
    pub length: u64,
}

/// A head.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Head {
    /// Its number, from 1.
    pub number: u64,
    /// When it was signed.
    pub time: WallTime,
    /// The highest epoch of any record it covers.
    pub epoch: u64,
    /// Hash of the head before it.
    pub previous: [u8; 32],
    /// Its kind, and what that kind adds.
    pub statement: Statement,
    /// The installation.
    pub installation: InstallationId,
    /// The node.
    pub node: NodeId,
    /// The boot that signed it.
    pub boot: BootId,
    /// Orders that were begun and not ended (design 7.29).
    pub open_orders: u32,
    /// How far each file had come.
    pub files: Vec<FileState>,
}

impl Head {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.number.to_be_bytes());
        out.extend_from_slice(&self.time.unix_nanos().to_be_bytes());
        out.extend_from_slice(&self.epoch.to_be_bytes());
        out.extend_from_slice(&self.previous);
        out.push(self.statement.kind().number());
        out.extend_from_slice(self.installation.as_bytes());
        out.extend_from_slice(self.node.as_bytes());
        out.extend_from_slice(self.boot.as_bytes());
        out.extend_from_slice(&self.open_orders.to_be_bytes());
        let count = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        out.extend_from_slice(&count.to_be_bytes());
        for state in &self.files {
            out.extend_from_slice(state.file.boot.as_bytes());
            out.extend_from_slice(&state.file.writer.to_be_bytes());
            out.extend_from_slice(&state.sequence.to_be_bytes());
            out.extend_from_slice(&state.link);
            out.extend_from_slice(&state.length.to_be_bytes());
        }
        match &self.statement {
            Statement::Start | Statement::Running | Statement::Shutdown => {}
            Statement::SignerChange(signer) => signer.put(out),
            Statement::Prune(newest) => {
                out.extend_from_slice(&newest.number.to_be_bytes());
                out.extend_from_slice(&newest.hash);
            }
            Statement::StartUnproven(tails) => put_tails(tails, out),
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let (number, time, epoch) = (reader.u64()?, reader.u64()?, reader.u64()?);
        let previous = *reader.array()?;
        let kind = HeadKind::from_number(reader.u8()?).map_err(|_| Fault::Head)?;
        let installation = InstallationId::from_bytes(*reader.array()?);
        let node = NodeId::from_bytes(*reader.array()?);
        let boot = BootId::from_bytes(*reader.array()?);
        let open_orders = reader.u32()?;
        let count = usize::try_from(reader.u32()?).map_err(|_| Fault::Head)?;
        if count > reader.rest().len() / STATE_LEN {
            return Err(Fault::Head);
        }
        let files = (0..count)
            .map(|_| read_state(reader))
            .collect::<Result<_, _>>()?;
        let statement = match kind {
            HeadKind::Start => Statement::Start,
            HeadKind::Running => Statement::Running,
            HeadKind::Shutdown => Statement::Shutdown,
            HeadKind::SignerChange => Statement::SignerChange(Signer::read(reader)?),
            HeadKind::Prune => Statement::Prune(HeadId {
                number: reader.u64()?,
                hash: *reader.array()?,
            }),
            HeadKind::StartUnproven => Statement::StartUnproven(read_tails(reader)?),
        };
        let time = WallTime::from_unix_nanos(time);
        Ok(Self {
            number,
            time,
            epoch,
            previous,
            statement,
            installation,
            node,
            boot,
            open_orders,
            files,
        })
    }
}

fn read_state(reader: &mut Reader<'_>) -> Result<FileState, Fault> {
    Ok(FileState {
        file: FileId {
            boot: BootId::from_bytes(*reader.array()?),
            writer: reader.u32()?,
        },
        sequence: reader.u64()?,
        link: *reader.array()?,
        length: reader.u64()?,
    })
}

fn put_tails(tails: &[UnprovenTail], out: &mut Vec<u8>) {
    let count = u32::try_from(tails.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&count.to_be_bytes());
    for tail in tails {
        out.extend_from_slice(tail.file.boot.as_bytes());
        out.extend_from_slice(&tail.file.writer.to_be_bytes());
        out.extend_from_slice(&tail.sequence.to_be_bytes());
        out.extend_from_slice(&tail.length.to_be_bytes());
    }
}

/// At least one: without any, the head is a start like others.
fn read_tails(reader: &mut Reader<'_>) -> Result<Vec<UnprovenTail>, Fault> {
    let count = usize::try_from(reader.u32()?).map_err(|_| Fault::Head)?;
    if count == 0 || count > reader.rest().len() / TAIL_LEN {
        return Err(Fault::Head);
    }
    let mut tail = || {
        Ok(UnprovenTail {
            file: FileId {
                boot: BootId::from_bytes(*reader.array()?),
                writer: reader.u32()?,
            },
            sequence: reader.u64()?,
            length: reader.u64()?,
        })
    };
    (0..count).map(|_| tail()).collect()
}

/// A head with its signature: what is kept in the store and handed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedHead {
    head: Head,
    signer: Signer,
    signed: Vec<u8>,
    signature: [u8; SIGNATURE_LEN],
}

impl SignedHead {
    pub(crate) fn sign(head: Head, key: &SigningKey, version: KeyVersion) -> Self {
        let signer = Signer::of(key, version);
        let mut signed = Vec::with_capacity(LABEL.len() + 256);
        signed.extend_from_slice(LABEL);
        signer.put(&mut signed);
        head.put(&mut signed);
        let signature = key.sign(&signed);
        Self {
            head,
            signer,
            signed,
            signature,
        }
    }

    /// Reads `signed | signature`, without a length in front. The signature is not checked.
    ///
    /// # Errors
    /// [`Fault::Head`] if the bytes are no head, exactly.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Fault> {
        let (signed, signature) = bytes.split_last_chunk().ok_or(Fault::Head)?;
        let mut reader = Reader::new(signed);
        let signer = Signer::read(&mut reader)?;
        let head = Head::read(&mut reader)?;
        if !reader.is_empty() {
            return Err(Fault::Head);
        }
        Ok(Self {
            head,
            signer,
            signed: [LABEL, signed].concat(),
            signature: *signature,
        })
    }

    /// `signed | signature`, for the store.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        [&self.signed[LABEL.len()..], &self.signature].concat()
    }

    /// The bytes on disk.
    pub(crate) fn framed(&self) -> Vec<u8> {
        let signed = &self.signed[LABEL.len()..];
        let length = u32::try_from(signed.len())
            .unwrap_or(u32::MAX)
            .to_be_bytes();
        [&length, signed, &self.signature].concat()
    }

    /// Whether a reader takes a head of this length.
    pub(crate) const fn is_readable(&self) -> bool {
        self.signed.len() - LABEL.len() <= MAX_LEN
    }

    /// Checks the signature under the key that the head itself names.
    ///
    /// # Errors
    /// [`Fault::Signature`].
    pub fn check(&self) -> Result<(), Fault> {
        self.signer
            .key
            .verify(&self.signed, &self.signature)
            .map_err(|_| Fault::Signature)
    }

    /// The head.
    #[must_use]
    pub const fn head(&self) -> &Head {
        &self.head
    }

    /// Who signed it.
    #[must_use]
    pub const fn signer(&self) -> &Signer {
        &self.signer
    }

    /// Number and hash.
    #[must_use]
    pub fn id(&self) -> HeadId {
        HeadId {
            number: self.head.number,
            hash: sha256(&self.signed),
        }
    }
}

/// The name of a boot's file of heads; a boot has more than one only after a failed write.
pub(crate) fn file_name(boot: BootId, part: u32) -> String {
    format!("heads-{boot}-{part:08x}.bin")
}

/// The boot and part that a file of heads is named after.
pub(crate) fn from_file_name(name: &str) -> Option<(BootId, u32)> {
    let (boot, part) = name
        .strip_prefix("heads-")?
        .strip_suffix(".bin")?
        .split_once('-')?;
    let (boot, part) = (boot.parse().ok()?, u32::from_str_radix(part, 16).ok()?);
    (file_name(boot, part) == name).then_some((boot, part))
}

/// Whether signatures are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signatures {
    Checked,
    /// The caller knows by a hash which heads they are.
    Unchecked,
}

/// Reads a file of heads one by one. Signatures are checked, under the key that each head itself names; whose key that
/// is, and the order, are the caller's business.
#[derive(Debug)]
pub(crate) struct HeadReader<R> {
    signatures: Signatures,
    input: R,
    size: u64,
    position: u64,
    head: Option<SignedHead>,
}

impl<R: Read> HeadReader<R> {
    pub(crate) const fn new(input: R, size: u64) -> Self {
        Self {
            signatures: Signatures::Checked,
            input,
            size,
            position: 0,
            head: None,
        }
    }

    pub(crate) fn with_signatures(self, signatures: Signatures) -> Self {
        Self { signatures, ..self }
    }

    /// Where the next head begins.
    pub(crate) const fn position(&self) -> u64 {
        self.position
    }

    /// The head of the last [`Step::Record`].
    pub(crate) const fn take(&mut self) -> Option<SignedHead> {
        self.head.take()
    }

    pub(crate) fn step(&mut self) -> Result<Step, ReadError> {
        let left = self.size.saturating_sub(self.position);
        if left == 0 {
            return Ok(Step::End);
        }
        if left < 4 {
            return Ok(Step::Cut);
        }
        let mut prefix = [0; 4];
        self.input.read_exact(&mut prefix)?;
        let length = usize::try_from(u32::from_be_bytes(prefix)).map_err(|_| Fault::Length)?;
        if length == 0 {
            return self.unused();
        }
        if !(SIGNER_LEN + FIXED_LEN..=MAX_LEN).contains(&length) {
            return Err(Fault::Length.into());
        }
        let frame = (4 + length + SIGNATURE_LEN) as u64;
        let present = usize::try_from(frame.min(left)).unwrap_or(usize::MAX) - 4;
        let mut bytes = vec![0; present];
        self.input.read_exact(&mut bytes)?;
        if left < frame {
            return cut(&bytes, length);
        }
        let head = SignedHead::from_bytes(&bytes)?;
        if self.signatures == Signatures::Checked {
            head.check()?;
        }
        self.position += frame;
        self.head = Some(head);
        Ok(Step::Record)
    }

    /// Zeros to the end: the rest of a file that was laid out before it was used.
    fn unused(&mut self) -> Result<Step, ReadError> {
        let mut rest = Vec::new();
        self.input
            .by_ref()
            .take(RESERVE_MAX + 1)
            .read_to_end(&mut rest)?;
        if rest.len() as u64 > RESERVE_MAX || rest.iter().any(|byte| *byte != 0) {
            return Err(Fault::Length.into());
        }
        Ok(Step::Cut)
    }
}

/// Longest file of heads that is laid out before it is used.
pub(crate) const RESERVE_MAX: u64 = 1 << 20;

/// A head that is not all there. Its own counts say how long it was to be; if the length in front says
/// otherwise, the length was changed and nothing was cut.
fn cut(bytes: &[u8], length: usize) -> Result<Step, ReadError> {
    let count_at = SIGNER_LEN + FIXED_LEN - 4;
    let Some(count) = bytes
        .get(count_at..)
        .and_then(|rest| rest.first_chunk::<4>())
    else {
        return Ok(Step::Cut);
    };
    let kind = HeadKind::from_number(bytes[SIGNER_LEN + 56]);
    let count = u32::from_be_bytes(*count) as usize;
    let states = count.saturating_mul(STATE_LEN);
    let extra = length.checked_sub(states.saturating_add(SIGNER_LEN + FIXED_LEN));
    let fits = match kind.map_err(|_| Fault::Head)? {
        HeadKind::Start | HeadKind::Running | HeadKind::Shutdown => extra == Some(0),
        HeadKind::SignerChange => extra == Some(SIGNER_LEN),
        HeadKind::Prune => extra == Some(40),
        // Their count may be cut off as well.
        HeadKind::StartUnproven => extra
            .and_then(|extra| extra.checked_sub(4))
            .is_some_and(|tails| tails > 0 && tails.is_multiple_of(TAIL_LEN)),
    };
    if fits {
        Ok(Step::Cut)
    } else {
        Err(Fault::Length.into())
    }
}

impl From<Truncated> for Fault {
    fn from(_: Truncated) -> Self {
        Self::Head
    }
}

#[cfg(test)]
mod tests {
    use keywright_secret::Secret;

    use super::*;

    #[test]
    fn head_of_more_files_than_a_reader_takes_is_told_before_it_is_written() {
        let key = SigningKey::from_seed(&Secret::from_fill(|bytes| bytes.fill(1))).unwrap();
        let state = FileState {
            file: FileId {
                boot: BootId::from_bytes([1; 16]),
                writer: 0,
            },
            sequence: 0,
            link: [0; 32],
            length: 0,
        };
        let head = |files| Head {
            number: 1,
            time: WallTime::from_unix_seconds(1),
            epoch: 0,
            previous: [0; 32],
            statement: Statement::Start,
            installation: InstallationId::from_bytes([1; 16]),
            node: NodeId::from_bytes([1; 16]),
            boot: BootId::from_bytes([1; 16]),
            open_orders: 0,
            files: vec![state; files],
        };
        let most = (MAX_LEN - SIGNER_LEN - FIXED_LEN) / STATE_LEN;
        for (files, readable) in [(most, true), (most + 1, false)] {
            let signed = SignedHead::sign(head(files), &key, KeyVersion::FIRST);
            assert_eq!(signed.is_readable(), readable);
            let bytes = signed.framed();
            let step = HeadReader::new(&bytes[..], bytes.len() as u64).step();
            assert_eq!(step.is_ok(), readable);
        }
    }
}
