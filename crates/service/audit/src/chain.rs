//! Links, files and how a file is read (design 7.33).
//!
//! A file belongs to one writer of one boot, and says so twice: in its name, `<boot id>-<writer as 8
//! hexadecimal digits>.log`, and in its first record, of type `file-start`, whose fields are what link 0
//! is made of. There is no file header besides; a file is a row of
//!
//! ```text
//! lp(body) | first 8 bytes of link n          n = 1, 2, ...
//! link 0 = SHA-256("keywright/audit/v1" | installation 16 | node 16 | boot id 16 | writer u32
//!                  | hash of the newest head 32)        (zeros before the first head)
//! link n = SHA-256(link n-1 | lp(body n))
//! ```
//!
//! The sequence number in body n is n. Between records stand check frames, which are no links ([`crate::check`]): one
//! ends each write. A writer that loses its file goes on under a new number.
//! Not here: who checks a file against heads (`verify`).

use std::io::{self, Read, Seek, SeekFrom};

use keywright_encoding::Reader;
use keywright_primitives::hash::sha256;
use keywright_types::{BootId, InstallationId, NodeId};

use crate::RecordType;
use crate::check::{CHECK_LEN, CheckKey, Proof};
use crate::field::Field;
use crate::finding::Fault;
use crate::record::{Entry, FIXED_LEN, MAX_BODY};

/// A whole link. Files hold its first 8 bytes, heads hold all of it.
pub type Link = [u8; 32];

/// Bytes that a record takes on disk beside its body.
pub(crate) const FRAME_LEN: usize = 12;

const LABEL: &[u8] = b"keywright/audit/v1";
const CUT_LINK: usize = 8;
/// A length that no record has.
const CHECK_PREFIX: [u8; 4] = [0; 4];

/// Which file: the writer of one boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a file is named by these two for ever"
)]
pub struct FileId {
    /// The boot.
    pub boot: BootId,
    /// The writer's number in it.
    pub writer: u32,
}

impl FileId {
    /// The file's name.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("{}-{:08x}.log", self.boot, self.writer)
    }

    /// The file of this name; `None` for any other spelling.
    #[must_use]
    pub fn from_file_name(name: &str) -> Option<Self> {
        let (boot, writer) = name.strip_suffix(".log")?.split_once('-')?;
        let id = Self {
            boot: boot.parse().ok()?,
            writer: u32::from_str_radix(writer, 16).ok()?,
        };
        (id.file_name() == name).then_some(id)
    }
}

/// What link 0 of a file is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "link 0 is made of these for ever (design 7.33)"
)]
pub struct Origin {
    /// The installation.
    pub installation: InstallationId,
    /// The node.
    pub node: NodeId,
    /// The file.
    pub file: FileId,
    /// Hash of the newest head when the file was made; zeros before the first.
    pub newest_head: [u8; 32],
}

impl Origin {
    /// Link 0.
    #[must_use]
    pub fn link(&self) -> Link {
        let mut bytes = Vec::with_capacity(LABEL.len() + 84);
        bytes.extend_from_slice(LABEL);
        bytes.extend_from_slice(self.installation.as_bytes());
        bytes.extend_from_slice(self.node.as_bytes());
        bytes.extend_from_slice(self.file.boot.as_bytes());
        bytes.extend_from_slice(&self.file.writer.to_be_bytes());
        bytes.extend_from_slice(&self.newest_head);
        sha256(&bytes)
    }

    pub(crate) const fn fields(&self) -> [Field<'static>; 5] {
        [
            Field::Installation(self.installation),
            Field::Node(self.node),
            Field::Boot(self.file.boot),
            Field::Writer(self.file.writer),
            Field::NewestHead(self.newest_head),
        ]
    }

    /// The origin that a file's first record states, and the length the file was laid out to.
    pub(crate) fn of(entry: &Entry<'_>) -> Option<(Self, Option<u64>)> {
        (entry.facts().kind == RecordType::FileStart).then_some(())?;
        let mut fields = entry.known();
        let (
            Field::Installation(installation),
            Field::Node(node),
            Field::Boot(boot),
            Field::Writer(writer),
            Field::NewestHead(newest_head),
        ) = (
            fields.next()?,
            fields.next()?,
            fields.next()?,
            fields.next()?,
            fields.next()?,
        )
        else {
            return None;
        };
        let preallocated = match fields.next() {
            Some(Field::Preallocated(length)) => Some(length),
            _ => None,
        };
        let file = FileId { boot, writer };
        Some((
            Self {
                installation,
                node,
                file,
                newest_head,
            },
            preallocated,
        ))
    }
}

/// The growing end of a chain.
#[derive(Debug)]
pub(crate) struct Chain {
    sequence: u64,
    /// The newest link, then the record that is being added: what the next link is the hash of.
    scratch: Vec<u8>,
}

impl Chain {
    pub(crate) fn new(link: &Link) -> Self {
        let mut scratch = Vec::with_capacity(1024);
        scratch.extend_from_slice(link);
        Self {
            sequence: 0,
            scratch,
        }
    }

    pub(crate) const fn sequence(&self) -> u64 {
        self.sequence
    }

    pub(crate) fn link(&self) -> Link {
        let mut link = [0; 32];
        link.copy_from_slice(&self.scratch[..32]);
        link
    }

    /// Adds a record and appends its bytes on disk to `out`. `None`, and no change, if the body is
    /// longer than [`MAX_BODY`].
    pub(crate) fn append(
        &mut self,
        out: &mut Vec<u8>,
        put: impl FnOnce(u64, &mut Vec<u8>),
    ) -> Option<u64> {
        let sequence = self.sequence + 1;
        self.scratch.truncate(32);
        self.scratch.extend_from_slice(&[0; 4]);
        put(sequence, &mut self.scratch);
        let length = self.scratch.len() - 36;
        let prefix = u32::try_from(length).ok().filter(|_| length <= MAX_BODY)?;
        self.scratch[32..36].copy_from_slice(&prefix.to_be_bytes());
        let link = sha256(&self.scratch);
        out.extend_from_slice(&self.scratch[32..]);
        out.extend_from_slice(&link[..CUT_LINK]);
        self.scratch[..32].copy_from_slice(&link);
        self.sequence = sequence;
        Some(sequence)
    }

    /// Appends the check frame of all records so far to `out`.
    pub(crate) fn append_check(&mut self, out: &mut Vec<u8>, key: &CheckKey) {
        let mac = key.mac(&self.link());
        self.scratch.truncate(32);
        self.scratch.extend_from_slice(&CHECK_PREFIX);
        self.scratch.extend_from_slice(&mac);
        let cut_link = sha256(&self.scratch);
        out.extend_from_slice(&self.scratch[32..]);
        out.extend_from_slice(&cut_link[..CUT_LINK]);
    }
}

/// What comes next in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A whole record that fits the chain; see [`ChainReader::entry`].
    Record,
    /// A whole check frame, and what it says. No file of heads has one.
    Check(Proof),
    /// The file ends after a whole record.
    End,
    /// The file ends inside a record.
    Cut,
}

/// Reads a file record by record and checks each against the chain, in constant memory.
#[derive(Debug)]
pub(crate) struct ChainReader<R> {
    input: R,
    size: u64,
    position: u64,
    sequence: u64,
    /// The newest link, then lp(body), then the 8 bytes of the record that was read last.
    scratch: Vec<u8>,
    origin: Option<(Origin, Option<u64>)>,
    file: FileId,
    key: Option<CheckKey>,
    /// A check frame was read last, so that what comes next must be a record.
    checked: bool,
}

impl<R: Read> ChainReader<R> {
    /// Reads `file` from its start; `size` is how long it is.
    pub(crate) fn new(input: R, size: u64, file: FileId) -> Self {
        Self {
            input,
            size,
            position: 0,
            sequence: 0,
            scratch: vec![0; 32],
            origin: None,
            file,
            key: None,
            checked: false,
        }
    }

    /// Has check frames judged under this key.
    pub(crate) fn judged_by(self, key: &CheckKey) -> Self {
        Self {
            key: Some(key.clone()),
            ..self
        }
    }

    /// Goes on from a place that a signed head states; `input` stands there already.
    pub(crate) fn resume(input: R, size: u64, state: &FileState) -> Self {
        Self {
            position: state.length,
            sequence: state.sequence,
            scratch: state.link.to_vec(),
            // A write ends with a check frame, so a second one there is a copy. Of a file without check frames that is
            // not known; it is read again from its start then.
            checked: true,
            ..Self::new(input, size, state.file)
        }
    }

    pub(crate) fn state(&self) -> FileState {
        let mut link = [0; 32];
        link.copy_from_slice(&self.scratch[..32]);
        FileState {
            file: self.file,
            sequence: self.sequence,
            link,
            length: self.position,
        }
    }

    pub(crate) const fn position(&self) -> u64 {
        self.position
    }

    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    pub(crate) const fn set_size(&mut self, size: u64) {
        self.size = size;
    }

    pub(crate) const fn origin(&self) -> Option<&Origin> {
        match &self.origin {
            Some((origin, _)) => Some(origin),
            None => None,
        }
    }

    /// The record of the last [`Step::Record`].
    pub(crate) fn entry(&self) -> Option<Entry<'_>> {
        let body = self
            .scratch
            .get(36..self.scratch.len().checked_sub(CUT_LINK)?)?;
        Entry::parse(body).ok()
    }

    /// The next record or check frame.
    ///
    /// # Errors
    /// The fault, at [`ChainReader::state`]'s end, or what reading failed with.
    pub(crate) fn step(&mut self) -> Result<Step, ReadError> {
        let left = self.size.saturating_sub(self.position);
        if left == 0 {
            return Ok(Step::End);
        }
        self.scratch.truncate(32);
        if left < 4 {
            return Ok(Step::Cut);
        }
        self.fill(4)?;
        let length = self.announced();
        if length == 0 {
            return self.check_frame(left);
        }
        if !(FIXED_LEN..=MAX_BODY).contains(&length) {
            return Err(Fault::Length.into());
        }
        let frame = (length + FRAME_LEN) as u64;
        if left < frame {
            return self.cut(left);
        }
        self.fill(length + CUT_LINK)?;
        self.check(length)?;
        self.position += frame;
        self.sequence += 1;
        self.checked = false;
        Ok(Step::Record)
    }

    /// A check frame, of which the length is read: it follows a record, and nothing else.
    fn check_frame(&mut self, left: u64) -> Result<Step, ReadError> {
        let present = usize::try_from(left).unwrap_or(usize::MAX).min(CHECK_LEN);
        self.fill(present - CHECK_PREFIX.len())?;
        if self.checked || self.sequence == 0 {
            return Err(Fault::Length.into());
        }
        if present < CHECK_LEN {
            return Ok(Step::Cut);
        }
        let (hashed, cut_link) = self.scratch.split_at(32 + CHECK_LEN - CUT_LINK);
        if sha256(hashed)[..CUT_LINK] != *cut_link {
            return Err(Fault::Link.into());
        }
        let (mut link, mut mac) = ([0; 32], [0; 32]);
        link.copy_from_slice(&hashed[..32]);
        mac.copy_from_slice(&hashed[36..]);
        self.position += CHECK_LEN as u64;
        self.checked = true;
        let key = self.key.as_ref();
        Ok(Step::Check(
            key.map_or(Proof::Unknown, |key| key.judge(&link, &mac)),
        ))
    }

    fn check(&mut self, length: usize) -> Result<(), ReadError> {
        let (hashed, cut_link) = self.scratch.split_at(36 + length);
        let entry = Entry::parse(&hashed[36..]);
        let link = match &entry {
            Ok(entry) if self.sequence == 0 && self.origin.is_none() => {
                let (origin, preallocated) = Origin::of(entry).ok_or(Fault::Origin)?;
                if origin.file != self.file {
                    return Err(Fault::Origin.into());
                }
                self.origin = Some((origin, preallocated));
                let mut first = origin.link().to_vec();
                first.extend_from_slice(&hashed[32..]);
                sha256(&first)
            }
            _ => sha256(hashed),
        };
        if link[..CUT_LINK] != *cut_link {
            return Err(Fault::Link.into());
        }
        if entry.map_err(Fault::Record)?.sequence() != self.sequence + 1 {
            return Err(Fault::Sequence.into());
        }
        self.scratch[..32].copy_from_slice(&link);
        Ok(())
    }

    /// The rest of the file is shorter than the record it announces. A whole record behind a changed
    /// length is damage, not a cut.
    fn cut(&mut self, left: u64) -> Result<Step, ReadError> {
        let left = usize::try_from(left).map_err(|_| Fault::Length)?;
        self.fill(left - 4)?;
        // The last frame alone, or the last record with its check frame behind it.
        let whole = self.scratch.len();
        let is_whole = |frame: Option<usize>, length: Option<usize>| {
            frame
                .zip(length)
                .is_some_and(|(end, length)| self.would_fit(end, length))
        };
        let before = whole.checked_sub(CHECK_LEN);
        let changed = is_whole(Some(whole), left.checked_sub(FRAME_LEN))
            || is_whole(before, left.checked_sub(CHECK_LEN + FRAME_LEN))
            || (left == CHECK_LEN && is_whole(Some(whole), Some(0)));
        match changed {
            true => Err(Fault::Length.into()),
            false => Ok(Step::Cut),
        }
    }

    /// Whether what was read up to `end` is a whole frame if its length was meant to be this one.
    fn would_fit(&self, end: usize, length: usize) -> bool {
        let Some(mut whole) = self.scratch.get(..end).map(<[u8]>::to_vec) else {
            return false;
        };
        let prefix = u32::try_from(length).unwrap_or(u32::MAX);
        whole[32..36].copy_from_slice(&prefix.to_be_bytes());
        let (hashed, cut_link) = whole.split_at(whole.len() - CUT_LINK);
        sha256(hashed)[..CUT_LINK] == *cut_link
    }

    /// Whether what follows the last good record is what a crash may leave in a file that was laid
    /// out with zeros: at most one record or check frame that does not fit, then zeros to the end. Consumes the rest.
    pub(crate) fn is_unused_tail(&mut self) -> io::Result<bool> {
        let Some((_, Some(preallocated))) = self.origin else {
            return Ok(false);
        };
        if self.size > preallocated {
            return Ok(false);
        }
        // `step` has read the length and, if that was possible, the record it announces.
        let announced = if self.scratch.len() >= 36 {
            self.announced()
        } else {
            0
        };
        if announced != 0 && self.scratch.len() < announced + 36 {
            return Ok(false);
        }
        let mut buffer = [0; 4096];
        loop {
            match self.input.read(&mut buffer)? {
                0 => return Ok(true),
                count if buffer[..count].iter().any(|byte| *byte != 0) => return Ok(false),
                _ => {}
            }
        }
    }

    /// The length in front of the record that is being read.
    fn announced(&self) -> usize {
        let mut reader = Reader::new(&self.scratch[32..]);
        reader
            .u32()
            .map_or(0, |length| usize::try_from(length).unwrap_or(usize::MAX))
    }

    fn fill(&mut self, count: usize) -> Result<(), ReadError> {
        let start = self.scratch.len();
        self.scratch.resize(start + count, 0);
        Ok(self.input.read_exact(&mut self.scratch[start..])?)
    }
}

impl<R: Read + Seek> ChainReader<R> {
    /// Puts the input back behind the last good record.
    pub(crate) fn rewind(&mut self) -> io::Result<()> {
        self.input.seek(SeekFrom::Start(self.position)).map(drop)
    }
}

/// How far a file had come: what heads state per writer (design 7.34).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "what a head states per writer is this for ever"
)]
pub struct FileState {
    /// The file.
    pub file: FileId,
    /// Its newest record; 0 before the first.
    pub sequence: u64,
    /// The link of that record.
    pub link: Link,
    /// The file's length after it.
    pub length: u64,
}

/// Why a file could not be read on.
#[derive(Debug)]
pub(crate) enum ReadError {
    Fault(Fault),
    Io(io::Error),
}

impl From<Fault> for ReadError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
