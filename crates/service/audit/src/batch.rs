//! What one record says about a batch (design 7.31).
//!
//! Groups by version and outcome, at most 64 of them and then "other", so that ten thousand items
//! cost a bounded record; and one hash over every item in order, so that a list kept elsewhere can be
//! proven against the log. Which items there were stands in the record only where that is asked for ([`Detail::Each`]):
//! it costs 16 bytes an item.

use keywright_encoding::Reader;
use keywright_primitives::hash::Sha256;
use keywright_types::{Code, KeyVersion};

use crate::field::{Field, MessageId};

/// Groups that are told apart.
pub const GROUPS_MAX: usize = 64;

/// What the record of a batch says of its items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "what `audit.items` can say")]
pub enum Detail {
    /// Their message ids too.
    Each,
    /// Groups and digest alone.
    #[default]
    Groups,
}

/// Adds up the items of one batch.
#[derive(Clone, Debug)]
pub struct Batch {
    groups: Vec<Group>,
    last: usize,
    other: u32,
    items: u32,
    failed: u32,
    hash: Sha256,
    /// What is hashed next, whole items at a time.
    hashed_next: Vec<u8>,
    /// Every message id, where they are to be listed.
    ids: Option<Vec<MessageId>>,
}

/// Items of one version and outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a group is these three numbers")]
pub struct Group {
    /// The key version.
    pub version: KeyVersion,
    /// How these items ended.
    pub outcome: Code,
    /// How many there were.
    pub items: u32,
}

impl Batch {
    /// No items yet; groups and digest alone.
    #[must_use]
    pub fn new() -> Self {
        Self::recording(Detail::Groups)
    }

    /// No items yet.
    #[must_use]
    pub fn recording(detail: Detail) -> Self {
        Self {
            groups: Vec::new(),
            last: 0,
            other: 0,
            items: 0,
            failed: 0,
            hash: Sha256::new(),
            hashed_next: Vec::with_capacity(HASHED_AT_ONCE),
            ids: (detail == Detail::Each).then(Vec::new),
        }
    }

    /// Adds the next item. `message` is zero for an item that has none.
    pub fn add(&mut self, version: KeyVersion, outcome: Code, message: &MessageId) {
        self.items = self.items.saturating_add(1);
        if outcome != Code::Ok {
            self.failed = self.failed.saturating_add(1);
        }
        if self.hashed_next.len() + HASHED_LEN > HASHED_AT_ONCE {
            self.hash_next();
        }
        let mut hashed = [0; HASHED_LEN];
        hashed[..16].copy_from_slice(message);
        hashed[16..].copy_from_slice(&outcome.number().to_be_bytes());
        self.hashed_next.extend_from_slice(&hashed);
        if let Some(ids) = &mut self.ids {
            ids.push(*message);
        }
        self.count(version, outcome);
    }

    fn hash_next(&mut self) {
        self.hash.update(&self.hashed_next);
        self.hashed_next.clear();
    }

    fn count(&mut self, version: KeyVersion, outcome: Code) {
        let fits = |group: &Group| group.version == version && group.outcome == outcome;
        // Most items are like the one before.
        if !self.groups.get(self.last).is_some_and(fits) {
            match self.groups.iter().position(fits) {
                Some(index) => self.last = index,
                None if self.groups.len() < GROUPS_MAX => {
                    self.last = self.groups.len();
                    self.groups.push(Group {
                        version,
                        outcome,
                        items: 0,
                    });
                }
                None => {
                    self.other = self.other.saturating_add(1);
                    return;
                }
            }
        }
        if let Some(group) = self.groups.get_mut(self.last) {
            group.items = group.items.saturating_add(1);
        }
    }

    /// The finished summary.
    #[must_use]
    pub fn finish(mut self) -> Summary {
        self.hash_next();
        let mut bytes = Vec::with_capacity(5 + self.groups.len() * GROUP_LEN);
        bytes.push(u8::try_from(self.groups.len()).unwrap_or(u8::MAX));
        for group in &self.groups {
            bytes.extend_from_slice(&group.version.number().to_be_bytes());
            bytes.extend_from_slice(&group.outcome.number().to_be_bytes());
            bytes.extend_from_slice(&group.items.to_be_bytes());
        }
        bytes.extend_from_slice(&self.other.to_be_bytes());
        Summary {
            groups: bytes,
            digest: self.hash.finish(),
            items: self.items,
            failed: self.failed,
            // What has no ids, such as signatures, would be a list of nothing.
            ids: (self.ids).filter(|ids| ids.iter().any(|id| *id != [0; 16])),
        }
    }
}

impl Default for Batch {
    fn default() -> Self {
        Self::new()
    }
}

/// A batch that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    groups: Vec<u8>,
    digest: [u8; 32],
    items: u32,
    failed: u32,
    ids: Option<Vec<MessageId>>,
}

impl Summary {
    /// Number of items, for `Facts::items`.
    #[must_use]
    pub const fn items(&self) -> u32 {
        self.items
    }

    /// Number of items that failed, for `Facts::failed`.
    #[must_use]
    pub const fn failed(&self) -> u32 {
        self.failed
    }

    /// The two fields of every record.
    #[must_use]
    pub fn fields(&self) -> [Field<'_>; 2] {
        [
            Field::ItemGroups(Groups(&self.groups)),
            Field::ItemDigest(self.digest),
        ]
    }

    /// The list of message ids, where that was asked for and there are any.
    #[must_use]
    pub fn ids(&self) -> Option<Field<'_>> {
        self.ids.as_deref().map(Field::ItemIds)
    }
}

/// Groups in their bytes: count u8, each version u32, outcome u16, items u32; the other items u32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups<'a>(&'a [u8]);

impl<'a> Groups<'a> {
    /// The groups, in order of first appearance.
    pub fn iter(&self) -> impl Iterator<Item = Group> + use<'a> {
        let (groups, _) = self.0[1..self.0.len() - 4].as_chunks::<GROUP_LEN>();
        groups
            .iter()
            .filter_map(|bytes| read_group(&mut Reader::new(bytes)))
    }

    /// Items beyond the groups that are told apart.
    #[must_use]
    pub fn other(&self) -> u32 {
        self.0.last_chunk().copied().map_or(0, u32::from_be_bytes)
    }

    pub(crate) const fn as_bytes(&self) -> &'a [u8] {
        self.0
    }

    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let count = usize::from(reader.u8().ok()?);
        (count <= GROUPS_MAX).then_some(())?;
        for _ in 0..count {
            read_group(&mut reader)?;
        }
        reader.u32().ok()?;
        reader.is_empty().then_some(Self(bytes))
    }
}

fn read_group(reader: &mut Reader<'_>) -> Option<Group> {
    Some(Group {
        version: KeyVersion::from_number(reader.u32().ok()?),
        outcome: Code::from_number(reader.u16().ok()?).ok()?,
        items: reader.u32().ok()?,
    })
}

const GROUP_LEN: usize = 10;
/// What is hashed of an item: the message's id and the outcome.
const HASHED_LEN: usize = 18;
/// A call of the hash costs more than the bytes of an item do.
const HASHED_AT_ONCE: usize = 64 * HASHED_LEN;
