//! Where the messages of a file are, without their contents.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::{
    Block, CompressionType, Endianness, Field, Message, MessageHeader, MetadataVersion, Schema,
    root_as_footer, root_as_message,
};
use arrow_schema::SchemaRef;

use crate::error::Trouble;
use crate::positional::Positional;

/// What a file begins and ends with.
pub(super) const MAGIC: &[u8; 6] = b"ARROW1";

/// What stands in front of the length of a message.
pub(super) const CONTINUED: [u8; 4] = [0xFF; 4];

/// Bytes of the longest description of a message that is read.
const LONGEST: usize = 256 << 20;

/// The messages behind the schema.
#[derive(Debug)]
pub(crate) struct Messages {
    pub(super) schema: SchemaRef,
    pub(super) version: MetadataVersion,
    /// Where the schema ends.
    pub(super) start: u64,
    /// In the order in which they are read: each dictionary before the batches that need it.
    pub(super) items: Vec<Item>,
    pub(super) codec: Option<CompressionType>,
    /// What the footer of a file says besides, in the order of its keys.
    pub(super) metadata: BTreeMap<String, String>,
    /// The numbers of the dictionaries of each column.
    pub(super) dictionaries: Vec<BTreeSet<i64>>,
    pub(super) rows: u64,
}

/// A dictionary or a batch.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(super) is_dictionary: bool,
    pub(super) at: u64,
    head: u32,
    body: u64,
}

impl Item {
    /// Behind its last byte.
    pub(super) const fn end(&self) -> u64 {
        self.at + self.head as u64 + self.body
    }

    /// Bytes of its description, with what stands in front of that.
    pub(super) fn head_len(&self) -> usize {
        usize::try_from(self.head).unwrap_or(usize::MAX)
    }

    /// Where its buffers begin.
    pub(super) const fn body_at(&self) -> u64 {
        self.at + self.head as u64
    }

    /// The description itself. In front of it stand its length, and the marker before that.
    pub(super) fn description<'b>(&self, head: &'b [u8]) -> &'b [u8] {
        let prefix = if head.starts_with(&CONTINUED) { 8 } else { 4 };
        head.get(prefix..self.head_len()).unwrap_or_default()
    }

    /// Refuses what the reader would not: buffers outside of the message, and compressed ones that say of themselves
    /// that they need more than the memory there is.
    pub(super) fn judge(&self, bytes: &[u8]) -> Result<(), Trouble> {
        let malformed = || Trouble::damaged("a message is malformed");
        let body = bytes.get(self.head_len()..).ok_or_else(malformed)?;
        let own = root_as_message(self.description(bytes));
        let own = own.map_err(|_malformed| malformed())?;
        let dictionary = own.header_as_dictionary_batch();
        let batch = own
            .header_as_record_batch()
            .or_else(|| dictionary.and_then(|dictionary| dictionary.data()));
        let batch = batch.ok_or_else(malformed)?;
        for buffer in batch.buffers().into_iter().flatten() {
            let number = |number| usize::try_from(number).map_err(|_negative| malformed());
            let (start, length) = (number(buffer.offset())?, number(buffer.length())?);
            let end = start.checked_add(length).ok_or_else(malformed)?;
            let own = body.get(start..end).ok_or_else(malformed)?;
            if batch.compression().is_some() && length > 0 {
                // -1 says that it is not compressed after all.
                let length = own.first_chunk::<8>().ok_or_else(malformed)?;
                let length = number(i64::from_le_bytes(*length).max(0))?;
                let mut room = Vec::<u8>::new();
                room.try_reserve_exact(length).map_err(|_far| malformed())?;
            }
        }
        Ok(())
    }

    /// As the reader wants it, which is given the bytes of the message alone.
    pub(super) fn block(&self) -> Result<Block, Trouble> {
        let far = |_far| Trouble::damaged("a message is too long");
        Ok(Block::new(
            0,
            i32::try_from(self.head).map_err(far)?,
            i64::try_from(self.body).map_err(far)?,
        ))
    }
}

/// The description of a message, as bytes.
struct Head {
    bytes: Vec<u8>,
    /// With what stands in front.
    length: u32,
}

/// Reads the description of the message at a place; nothing at the end of a stream.
fn head(bytes: &Positional, at: u64) -> Result<Option<Head>, Trouble> {
    if at == bytes.size() {
        return Ok(None);
    }
    let word = |at| -> Result<[u8; 4], Trouble> {
        let word = bytes.bytes(at, 4)?;
        word.try_into()
            .map_err(|_short| Trouble::damaged("it is cut short"))
    };
    let (mut prefix, mut length) = (4, word(at)?);
    if length == CONTINUED {
        (prefix, length) = (8, word(at + 4)?);
    }
    let length = u32::from_le_bytes(length);
    let size = usize::try_from(length).unwrap_or(usize::MAX);
    if size == 0 {
        return Ok(None);
    }
    if size > LONGEST {
        return Err(Trouble::damaged("a message is too long"));
    }
    Ok(Some(Head {
        bytes: bytes.bytes(at + u64::from(prefix), size)?,
        length: length + prefix,
    }))
}

/// Refuses what is behind the end of a stream: readers leave it aside, and it would be lost. At a place is the mark of
/// the end, or the file ends there.
fn refuse_behind(bytes: &Positional, at: u64) -> Result<(), Trouble> {
    if at == bytes.size() {
        return Ok(());
    }
    let is_long = bytes.bytes(at, 4)? == CONTINUED;
    let end = at + if is_long { 8 } else { 4 };
    let left = usize::try_from(bytes.size() - end).unwrap_or(usize::MAX);
    if left == 0 {
        return Ok(());
    }
    let begin = bytes.bytes(end, left.min(8))?;
    let what = match begin.as_slice() {
        [0xFF, 0xFF, 0xFF, 0xFF, _, _, _, 0] => "another stream",
        begin if begin.starts_with(MAGIC) => "an Arrow file",
        _ => "something that is no part of it",
    };
    Err(Trouble::Behind(end, what))
}

fn message(head: &Head) -> Result<Message<'_>, Trouble> {
    root_as_message(&head.bytes).map_err(|_malformed| Trouble::damaged("a message is malformed"))
}

fn schema(schema: Schema<'_>) -> Result<SchemaRef, Trouble> {
    if schema.endianness() != Endianness::Little {
        return Err(Trouble::damaged("its numbers have the other byte order"));
    }
    Ok(Arc::new(try_fb_to_schema(schema)?))
}

/// The numbers of the dictionaries of each column, and of those within it.
fn dictionaries(schema: Schema<'_>) -> Vec<BTreeSet<i64>> {
    fn gather(field: Field<'_>, numbers: &mut BTreeSet<i64>) {
        numbers.extend(field.dictionary().map(|dictionary| dictionary.id()));
        for part in field.children().into_iter().flatten() {
            gather(part, numbers);
        }
    }
    let fields = schema.fields().into_iter().flatten();
    let columns = fields.map(|field| {
        let mut numbers = BTreeSet::new();
        gather(field, &mut numbers);
        numbers
    });
    columns.collect()
}

impl Messages {
    pub(super) fn of_stream(bytes: &Positional) -> Result<Self, Trouble> {
        let none = || Trouble::damaged("it does not begin with a schema");
        let first = head(bytes, 0)?.ok_or_else(none)?;
        let begin = message(&first)?;
        let own = begin.header_as_schema().ok_or_else(none)?;
        let mut messages = Self::new(own, begin.version())?;
        messages.start = u64::from(first.length);
        let mut at = messages.start;
        while let Some(head) = head(bytes, at)? {
            let item = messages.item(&head, at)?;
            at = item.end();
            if at > bytes.size() {
                return Err(Trouble::damaged("it is cut short"));
            }
            messages.items.push(item);
        }
        refuse_behind(bytes, at)?;
        Ok(messages)
    }

    /// By the footer: what stands in front of the first message is as long as its writer wished.
    pub(super) fn of_file(bytes: &Positional) -> Result<Self, Trouble> {
        let cut = || Trouble::damaged("it has no footer: it is cut short");
        let end = bytes.size().checked_sub(10).ok_or_else(cut)?;
        let tail = bytes.bytes(end, 10)?;
        let Some((length, magic)) = tail.split_first_chunk::<4>() else {
            return Err(cut());
        };
        let length = u32::from_le_bytes(*length);
        let place = end.checked_sub(u64::from(length));
        let (true, Some(place)) = (magic == MAGIC, place) else {
            return Err(cut());
        };
        let size = usize::try_from(length).unwrap_or(usize::MAX);
        let footer = bytes.bytes(place, size)?;
        let malformed = |_malformed| Trouble::damaged("its footer is malformed");
        let footer = root_as_footer(&footer).map_err(malformed)?;
        let own = footer.schema();
        let own = own.ok_or_else(|| Trouble::damaged("its footer has no schema"))?;
        let mut messages = Self::new(own, footer.version())?;
        if let Some(pairs) = footer.custom_metadata() {
            for pair in pairs {
                if let (Some(key), Some(value)) = (pair.key(), pair.value()) {
                    messages.metadata.insert(key.to_owned(), value.to_owned());
                }
            }
        }
        messages.start = place;
        let blocks = footer.dictionaries().into_iter().flatten();
        for block in blocks.chain(footer.recordBatches().into_iter().flatten()) {
            let outside = || Trouble::damaged("a message lies outside of the file");
            let at = u64::try_from(block.offset()).map_err(|_negative| outside())?;
            let head = head(bytes, at)?.ok_or_else(outside)?;
            let item = messages.item(&head, at)?;
            if item.end() > place {
                return Err(outside());
            }
            messages.start = messages.start.min(at);
            messages.items.push(item);
        }
        Ok(messages)
    }

    fn new(own: Schema<'_>, version: MetadataVersion) -> Result<Self, Trouble> {
        Ok(Self {
            schema: schema(own)?,
            version,
            start: 0,
            items: Vec::new(),
            codec: None,
            metadata: BTreeMap::new(),
            dictionaries: dictionaries(own),
            rows: 0,
        })
    }

    fn item(&mut self, head: &Head, at: u64) -> Result<Item, Trouble> {
        let message = message(head)?;
        let is_dictionary = match message.header_type() {
            MessageHeader::DictionaryBatch => true,
            MessageHeader::RecordBatch => false,
            _ => {
                return Err(Trouble::damaged(
                    "a message is neither a batch nor a dictionary",
                ));
            }
        };
        if let Some(batch) = message.header_as_record_batch() {
            let rows = u64::try_from(batch.length());
            let rows = rows.map_err(|_negative| Trouble::damaged("a batch has no length"))?;
            self.rows = self.rows.saturating_add(rows);
            if let Some(compression) = batch.compression() {
                self.codec = Some(compression.codec());
            }
        }
        let body = u64::try_from(message.bodyLength());
        let body = body.map_err(|_negative| Trouble::damaged("a message has no length"))?;
        let item = Item {
            is_dictionary,
            at,
            head: head.length,
            body,
        };
        if at
            .checked_add(u64::from(item.head))
            .and_then(|end| end.checked_add(body))
            .is_none()
        {
            return Err(Trouble::damaged("a message is too long"));
        }
        Ok(item)
    }

    pub(super) fn has_dictionaries(&self) -> bool {
        self.items.iter().any(|item| item.is_dictionary)
    }
}
