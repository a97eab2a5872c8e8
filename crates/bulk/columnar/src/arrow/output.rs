//! An Arrow file or stream in the making.

use std::io::Write as _;

use arrow_array::RecordBatch;
use arrow_ipc::convert::IpcSchemaEncoder;
use arrow_ipc::writer::{
    DictionaryHandling, DictionaryTracker, EncodedData, IpcDataGenerator, IpcWriteContext,
    IpcWriteOptions, write_message,
};
use arrow_ipc::{Block, CompressionType, FooterBuilder, KeyValue, KeyValueArgs, MetadataVersion};
use flatbuffers::FlatBufferBuilder;
use keywright_encoding::Reader;

use super::messages::{CONTINUED, MAGIC};
use super::splice::{ALIGNMENT, Part, Seen, Spliced};
use crate::error::{Trouble, unwritable};
use crate::metadata::Metadata;
use crate::sink::Tracked;
use crate::table::Kind;
use crate::walk::Walk;

/// What stands behind a buffer, as much of it as is needed.
static PADDING: [u8; ALIGNMENT] = [0; ALIGNMENT];

/// The file.
pub(crate) struct Output<'m> {
    pub(crate) tracked: Tracked,
    kind: Kind,
    metadata: &'m Metadata,
    options: IpcWriteOptions,
    tracker: DictionaryTracker,
    context: IpcWriteContext,
    dictionaries: Vec<Block>,
    batches: Vec<Block>,
}

impl<'m> Output<'m> {
    pub(super) fn new(
        tracked: Tracked,
        (kind, codec): (Kind, Option<CompressionType>),
        metadata: &'m Metadata,
    ) -> Result<Self, Trouble> {
        let options = IpcWriteOptions::default()
            .with_dictionary_handling(DictionaryHandling::Delta)
            .try_with_compression(codec)
            .map_err(unwritable)?;
        let mut output = Self {
            tracked,
            kind,
            metadata,
            options,
            tracker: DictionaryTracker::new(kind == Kind::ArrowFile),
            context: IpcWriteContext::default(),
            dictionaries: Vec::new(),
            batches: Vec::new(),
        };
        // The numbers of dictionaries are given out as the schema is encoded, also where it is written already.
        output.schema()?;
        Ok(output)
    }

    fn schema(&mut self) -> Result<EncodedData, Trouble> {
        self.tracker.clear();
        let schema = self.metadata.schema.as_ref();
        let schema = schema.ok_or_else(|| unwritable("the file has no schema"))?;
        let encoded = IpcDataGenerator::default().schema_to_bytes_with_dictionary_tracker(
            schema,
            &mut self.tracker,
            &self.options,
        );
        Ok(encoded)
    }

    /// Writes what stands before the first batch.
    pub(super) fn begin(&mut self) -> Result<(), Trouble> {
        if self.kind == Kind::ArrowFile {
            // As far as buffers are aligned.
            let mut start = [0; 64];
            for (place, byte) in start.iter_mut().zip(MAGIC) {
                *place = *byte;
            }
            self.tracked.write_all(&start)?;
        }
        let schema = self.schema()?;
        write_message(&mut self.tracked, schema, &self.options).map_err(unwritable)?;
        Ok(())
    }

    fn encode(&mut self, batch: &RecordBatch) -> Result<(Vec<EncodedData>, EncodedData), Trouble> {
        IpcDataGenerator::default()
            .encode(batch, &mut self.tracker, &self.options, &mut self.context)
            .map_err(unwritable)
    }

    /// Takes note of the dictionaries of a batch that was written last.
    pub(super) fn recall(&mut self, batch: &RecordBatch) -> Result<(), Trouble> {
        self.encode(batch).map(drop)
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<(), Trouble> {
        let (dictionaries, batch) = self.encode(batch)?;
        for dictionary in dictionaries {
            let block = self.message(dictionary)?;
            self.dictionaries.push(block);
        }
        let block = self.message(batch)?;
        self.batches.push(block);
        Ok(())
    }

    /// Writes a batch that was not read whole: what stays of it is copied on the way through the input.
    pub(super) fn splice(&mut self, batch: Spliced, walk: &mut Walk) -> Result<(), Trouble> {
        let at = self.tracked.bytes_written();
        let head = EncodedData {
            ipc_message: batch.head,
            arrow_data: Vec::new(),
        };
        let written = write_message(&mut self.tracked, head, &self.options);
        let (head, _) = written.map_err(unwritable)?;
        for part in &batch.parts {
            match part {
                Part::Kept(range) => {
                    walk.pass(range.start)?;
                    walk.copy(range.end, &mut self.tracked)?;
                }
                Part::Made(bytes, seen) => {
                    if let Some(Seen { at, bytes }) = seen {
                        walk.pass_seen(*at, bytes)?;
                    }
                    self.tracked.write_all(bytes)?;
                }
            }
            let beyond = part.length().next_multiple_of(ALIGNMENT as u64) - part.length();
            let padding = usize::try_from(beyond)
                .ok()
                .and_then(|beyond| PADDING.get(..beyond));
            self.tracked.write_all(padding.unwrap_or_default())?;
        }
        let block = block(at, head, usize::try_from(batch.length).map_err(unwritable)?)?;
        self.batches.push(block);
        Ok(())
    }

    fn message(&mut self, message: EncodedData) -> Result<Block, Trouble> {
        let at = self.tracked.bytes_written();
        let written = write_message(&mut self.tracked, message, &self.options);
        let (head, body) = written.map_err(unwritable)?;
        block(at, head, body)
    }

    /// How many dictionaries and batches were written.
    pub(super) const fn written(&self) -> (usize, usize) {
        (self.dictionaries.len(), self.batches.len())
    }

    /// Where the messages are that were written since.
    pub(super) fn note(&self, (dictionaries, batches): (usize, usize)) -> Vec<u8> {
        let mut note = Vec::new();
        let dictionaries = self.dictionaries.get(dictionaries..).unwrap_or_default();
        let batches = self.batches.get(batches..).unwrap_or_default();
        for (kind, blocks) in [(0_u8, dictionaries), (1, batches)] {
            for block in blocks {
                note.push(kind);
                note.extend_from_slice(&block.offset().to_be_bytes());
                note.extend_from_slice(&i64::from(block.metaDataLength()).to_be_bytes());
                note.extend_from_slice(&block.bodyLength().to_be_bytes());
            }
        }
        note
    }

    /// What an earlier run has written, as [`Output::note`] has told it.
    pub(super) fn take_note(&mut self, note: &[u8]) -> Result<(), Trouble> {
        let cut = || Trouble::damaged("a note is cut short");
        let mut reader = Reader::new(note);
        while !reader.is_empty() {
            let kind = reader.u8().map_err(|_cut| cut())?;
            let mut number = || {
                reader
                    .u64()
                    .ok()
                    .and_then(|number| i64::try_from(number).ok())
            };
            let block = Block::new(
                number().ok_or_else(cut)?,
                number()
                    .and_then(|head| i32::try_from(head).ok())
                    .ok_or_else(cut)?,
                number().ok_or_else(cut)?,
            );
            match kind {
                0 => self.dictionaries.push(block),
                _ => self.batches.push(block),
            }
        }
        Ok(())
    }

    /// Writes what stands at the end.
    pub(super) fn finish(&mut self) -> Result<(), Trouble> {
        self.tracked.write_all(&CONTINUED)?;
        self.tracked.write_all(&[0; 4])?;
        if self.kind != Kind::ArrowFile {
            return Ok(());
        }
        let footer = self.footer()?;
        let length = u32::try_from(footer.len()).map_err(unwritable)?;
        self.tracked.write_all(&footer)?;
        self.tracked.write_all(&length.to_le_bytes())?;
        self.tracked.write_all(MAGIC)?;
        Ok(())
    }

    fn footer(&mut self) -> Result<Vec<u8>, Trouble> {
        let mut builder = FlatBufferBuilder::new();
        let dictionaries = builder.create_vector(&self.dictionaries);
        let batches = builder.create_vector(&self.batches);
        self.tracker.clear();
        let schema = self.metadata.schema.as_ref();
        let schema = schema.ok_or_else(|| unwritable("the file has no schema"))?;
        let schema = IpcSchemaEncoder::new()
            .with_dictionary_tracker(&mut self.tracker)
            .schema_to_fb_offset(&mut builder, schema);
        let metadata = metadata(&mut builder, &self.metadata.pairs);
        let mut footer = FooterBuilder::new(&mut builder);
        footer.add_version(MetadataVersion::V5);
        footer.add_schema(schema);
        footer.add_dictionaries(dictionaries);
        footer.add_recordBatches(batches);
        if let Some(metadata) = metadata {
            footer.add_custom_metadata(metadata);
        }
        let root = footer.finish();
        builder.finish(root, None);
        Ok(builder.finished_data().to_vec())
    }
}

type Pairs<'b> =
    flatbuffers::WIPOffset<flatbuffers::Vector<'b, flatbuffers::ForwardsUOffset<KeyValue<'b>>>>;

/// Where a message stands, and how long its two parts are.
fn block(at: usize, head: usize, body: usize) -> Result<Block, Trouble> {
    let far = |_far| unwritable("a batch is too long");
    Ok(Block::new(
        i64::try_from(at).map_err(far)?,
        i32::try_from(head).map_err(far)?,
        i64::try_from(body).map_err(far)?,
    ))
}

/// The pairs of a footer.
fn metadata<'b>(
    builder: &mut FlatBufferBuilder<'b>,
    pairs: &[(String, Option<String>)],
) -> Option<Pairs<'b>> {
    if pairs.is_empty() {
        return None;
    }
    let mut made = Vec::with_capacity(pairs.len());
    for (key, value) in pairs {
        let key = builder.create_string(key);
        let value = value.as_ref().map(|value| builder.create_string(value));
        let pair = KeyValueArgs {
            key: Some(key),
            value,
        };
        made.push(KeyValue::create(builder, &pair));
    }
    Some(builder.create_vector(&made))
}
