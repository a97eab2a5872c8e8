//! Arrow IPC, files and streams: both are messages one behind the other, and a file has a footer that says where they
//! are.

mod batch;
mod cells;
mod compact;
mod kept;
mod messages;
mod output;
mod splice;
mod types;

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::FileDecoder;
use arrow_schema::{DataType, Schema, SchemaRef};
use keywright_format::OnBad;
use keywright_protect::{Checksum, Checksums, Columns, Direction, Input, Plan, Stage};
use keywright_tabular::csv::Layout;

use self::batch::{Change, Changed, Done};
use self::compact::Used;
use self::messages::{Item, Messages};
use self::output::Output;
use self::splice::{Lanes, Spliced};
use crate::error::{Error, Trouble};
use crate::line::line;
use crate::metadata::{self, Metadata};
use crate::positional::{Failure, Positional};
use crate::run::{Order, Tick};
use crate::sink::{checksum, tracked};
use crate::table::{Batch, Kind};
use crate::walk::Walk;

/// A file that is open.
#[derive(Debug)]
pub(crate) struct ArrowTable {
    bytes: Positional,
    kind: Kind,
    messages: Messages,
    /// How many batches are done at once, and where they end in the input.
    blocks: Vec<(usize, u64)>,
}

/// Whether dictionaries are written without the values that no row of a file has. Such a value may be one of a column that
/// is protected: pandas keeps the categories of a table from which rows were taken.
pub(super) fn leaves_values_out(plan: &Plan) -> bool {
    plan.rejects() || plan.direction() == Direction::Protect
}

impl ArrowTable {
    pub(crate) fn open(input: &Input, kind: Kind) -> Result<(Self, Layout), Trouble> {
        let bytes = Positional::new(input.file(), input.size())?;
        let messages = match kind {
            Kind::ArrowStream => Messages::of_stream(&bytes)?,
            _ => Messages::of_file(&bytes)?,
        };
        let names = messages.schema.fields().iter();
        let names = names.map(|field| field.name().clone()).collect();
        let layout = Layout::of_names(names).map_err(keywright_protect::Error::from)?;
        let blocks = blocks(&messages);
        let table = Self {
            bytes,
            kind,
            messages,
            blocks,
        };
        Ok((table, layout))
    }

    pub(crate) const fn failure(&self) -> &Failure {
        &self.bytes.failure
    }

    const fn schema(&self) -> &SchemaRef {
        &self.messages.schema
    }

    /// The names of all columns and of the fields within them, each with the index of the column.
    pub(crate) fn names(&self) -> Vec<(usize, String)> {
        let mut names = Vec::new();
        for (index, field) in self.schema().fields().iter().enumerate() {
            let alone = Schema::new(vec![Arc::clone(field)]);
            let fields = alone.flattened_fields().into_iter();
            names.extend(fields.map(|field| (index, field.name().clone())));
        }
        names
    }

    /// Refuses plans that the columns cannot bear.
    pub(crate) fn suits(&self, plan: &Plan) -> Result<(), Error> {
        for (change, (column, name, on_bad)) in plan.changes().enumerate() {
            let field = self.schema().field(column);
            if !cells::is_text(field.data_type()) {
                return Err(wrong_type(
                    name,
                    field.data_type(),
                    "protected: it must be a column of texts",
                ));
            }
            if on_bad == OnBad::Null && !field.is_nullable() {
                return Err(Error::Required {
                    column: name.to_owned(),
                });
            }
            let wanted = Columns::single(plan, change, 0).wanted().len();
            if wanted > 1 && matches!(field.data_type(), DataType::Dictionary(..)) {
                return Err(Error::DictionaryTweak {
                    column: name.to_owned(),
                });
            }
        }
        self.refuse_shared(plan)?;
        for column in Columns::new(plan).wanted() {
            let field = self.schema().field(*column);
            if !cells::is_cellular(field.data_type()) {
                return Err(wrong_type(
                    field.name(),
                    field.data_type(),
                    "part of a tweak",
                ));
            }
        }
        Ok(())
    }

    /// Refuses a column whose dictionary is that of one that stays.
    fn refuse_shared(&self, plan: &Plan) -> Result<(), Error> {
        let all = &self.messages.dictionaries;
        let changes: Vec<usize> = plan.changes().map(|(column, ..)| column).collect();
        let columns = all.iter().enumerate();
        for (other, numbers) in columns.filter(|(other, _)| !changes.contains(other)) {
            let is_shared = |column: &&usize| {
                let own = all.get(**column);
                own.is_some_and(|own| !own.is_disjoint(numbers))
            };
            if let Some(column) = changes.iter().find(is_shared) {
                let name = |column: usize| self.schema().field(column).name().clone();
                return Err(Error::SharedDictionary {
                    column: name(*column),
                    other: name(other),
                });
            }
        }
        Ok(())
    }

    /// What an output keeps of the metadata. Columns that are protected are gone through for it if it may hold values.
    pub(crate) fn metadata_of(&self, plan: &Plan) -> Result<Metadata, Trouble> {
        let columns: Vec<usize> = plan.changes().map(|(column, ..)| column).collect();
        let schema = self.schema();
        let all = self.names();
        let pairs = self.messages.metadata.iter();
        let changed = columns.iter().map(|column| schema.field(*column).name());
        let zones = metadata::zones_of(schema).into_iter();
        let source = metadata::Source {
            schema: Some(schema),
            pairs: pairs
                .map(|(key, value)| (key.as_str(), Some(value.as_str())))
                .collect(),
            created_by: None,
            texts: zones
                .map(|(path, zone)| (format!("the time zone of column {path:?}"), zone))
                .collect(),
            names: schema
                .fields()
                .iter()
                .map(|field| field.name().as_str())
                .collect(),
            changed: changed.map(|name| vec![name.clone()]).collect(),
        };
        let source = source.with_names(&all);
        source.clean_for(plan, &mut |take| self.look(&columns, u64::MAX, take))
    }

    /// Whether the dictionaries of the two files are made of what their rows have: a file has one for all batches.
    fn is_gathered(&self, plan: &Plan) -> bool {
        self.kind == Kind::ArrowFile && leaves_values_out(plan) && self.messages.has_dictionaries()
    }

    /// The values of dictionaries that each of the two files needs, found before anything is written.
    fn used(&self, plan: &Plan, tick: &mut Tick<'_>) -> Result<Option<[Used; 2]>, Trouble> {
        if !self.is_gathered(plan) {
            return Ok(None);
        }
        let mut used = [Used::default(), Used::default()];
        let mut change = Change::new(plan, 0);
        let mut batches = Batches::new(self);
        while let Some(batch) = batches.next()? {
            change.gather(&batch, &mut used, &mut |rows| tick.step(rows))?;
        }
        Ok(Some(used))
    }

    /// Calls `take` with the cells of some columns, batch by batch, up to so many rows.
    pub(crate) fn look(
        &self,
        columns: &[usize],
        most: u64,
        take: &mut dyn FnMut(&Batch),
    ) -> Result<(), Trouble> {
        let mut left = usize::try_from(most).unwrap_or(usize::MAX);
        let mut batches = Batches::of(self, columns);
        while left > 0 {
            let Some(batch) = batches.next()? else { break };
            let rows = batch.num_rows().min(left);
            let mut told = Batch::new(rows);
            for array in batch.columns() {
                told.push(cells::texts(&array.slice(0, rows)));
            }
            take(&told);
            left -= rows;
        }
        Ok(())
    }
}

fn wrong_type(column: &str, kind: &DataType, wanted: &'static str) -> Error {
    Error::Type {
        column: column.to_owned(),
        kind: types::name(kind),
        wanted,
    }
}

/// A block for each batch, if they lie one behind the other; else one for all of them.
fn blocks(messages: &Messages) -> Vec<(usize, u64)> {
    let mut blocks = Vec::new();
    let mut last = messages.start;
    for item in messages.items.iter().filter(|item| !item.is_dictionary) {
        if item.at < last {
            let batches = messages.items.iter().filter(|item| !item.is_dictionary);
            let end = batches.clone().map(Item::end).max();
            return vec![(batches.count(), end.unwrap_or(last))];
        }
        last = item.end();
        blocks.push((1, last));
    }
    blocks
}

/// The batches of a table, one after the other.
struct Batches<'t> {
    table: &'t ArrowTable,
    decoder: FileDecoder,
    next: usize,
}

impl<'t> Batches<'t> {
    fn new(table: &'t ArrowTable) -> Self {
        let messages = &table.messages;
        Self {
            table,
            decoder: FileDecoder::new(Arc::clone(&messages.schema), messages.version),
            next: 0,
        }
    }

    /// Of some columns alone, in this order.
    fn of(table: &'t ArrowTable, columns: &[usize]) -> Self {
        let mut batches = Self::new(table);
        batches.decoder = batches.decoder.with_projection(columns.to_vec());
        batches
    }

    fn buffer(&self, item: &Item) -> Result<Buffer, Trouble> {
        let length = usize::try_from(item.end() - item.at).unwrap_or(usize::MAX);
        let bytes = self.table.bytes.bytes(item.at, length)?;
        item.judge(&bytes)?;
        Ok(Buffer::from_vec(bytes))
    }

    /// Reads dictionaries up to the next batch. Those behind the last batch serve nobody.
    fn item(&mut self) -> Result<Option<&'t Item>, Trouble> {
        let items = self
            .table
            .messages
            .items
            .get(self.next..)
            .unwrap_or_default();
        if items.iter().all(|item| item.is_dictionary) {
            return Ok(None);
        }
        for item in items {
            self.next += 1;
            if !item.is_dictionary {
                return Ok(Some(item));
            }
            let buffer = self.buffer(item)?;
            self.decoder.read_dictionary(&item.block()?, &buffer)?;
        }
        Ok(None)
    }

    /// Goes past a batch without reading it.
    fn skip(&mut self) -> Result<(), Trouble> {
        self.item().map(drop)
    }

    fn next(&mut self) -> Result<Option<RecordBatch>, Trouble> {
        match self.item()? {
            Some(item) => self.read(item).map(Some),
            None => Ok(None),
        }
    }

    fn read(&self, item: &Item) -> Result<RecordBatch, Trouble> {
        let buffer = self.buffer(item)?;
        let batch = self.decoder.read_record_batch(&item.block()?, &buffer)?;
        batch.ok_or_else(|| Trouble::damaged("a batch is none"))
    }
}

/// Carries out a plan from where the stage stands.
pub(crate) fn work(
    table: &ArrowTable,
    order: Order<'_>,
    stage: &mut Stage<'_>,
    tick: &mut Tick<'_>,
) -> Result<(), Trouble> {
    let plan = order.plan;
    let passes = 1 + u64::from(table.is_gathered(plan));
    tick.begin(table.messages.rows, passes, stage.position().rows);
    let position = stage.position().clone();
    let open = |file, there| -> Result<Output<'_>, Trouble> {
        Output::new(
            tracked(file, there, order.failure)?,
            (table.kind, table.messages.codec),
            order.metadata,
        )
    };
    let mut work = Work {
        table,
        output: open(stage.output(), position.output)?,
        rejects: match stage.rejects() {
            Some(file) => Some(open(file, position.rejects)?),
            None => None,
        },
        walk: Walk::new(&table.bytes, position.input),
        before: [(0, 0); 2],
    };
    let mut batches = Batches::new(table);
    if position.input == 0 {
        work.header(stage)?;
    }
    if position.rows == 0 && plan.direction() == Direction::Migrate {
        work.probe(plan)?;
    }
    let used = table.used(plan, tick)?;
    let mut change = Change::new(plan, 0);
    if table.messages.has_dictionaries() {
        change = change.with_dictionaries(used);
    }
    work.catch_up(stage, (&mut change, &mut batches))?;
    work.before = work.written();
    let blocks = table.blocks.get(stage.notes().len()..);
    let mut change = change.behind(position.rows);
    let lanes = Lanes::of(table, plan);
    line(
        (order.threads, 0),
        |give| {
            make(
                blocks.unwrap_or_default(),
                (batches, &mut change, lanes.as_ref()),
                tick,
                give,
            )
        },
        |made| work.take(made, stage),
    )?;
    work.footer(stage)
}

/// A batch that was changed, with its rejected rows; and behind the last of a block where that ends in the input, and
/// what was done in it.
struct Piece {
    batch: Batched,
    end: Option<(u64, Done)>,
}

enum Batched {
    Read(Changed),
    Spliced(Spliced),
}

/// Reads and changes the batches of blocks.
fn make(
    blocks: &[(usize, u64)],
    (mut batches, change, lanes): (Batches<'_>, &mut Change<'_>, Option<&Lanes>),
    tick: &mut Tick<'_>,
    give: &mut dyn FnMut(Piece) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    for (count, end) in blocks {
        for number in 1..=*count {
            let item = batches.item()?;
            let item = item.ok_or_else(|| Trouble::damaged("a batch is missing"))?;
            let mut step = |rows| tick.step(rows);
            let spliced = match lanes {
                Some(lanes) => change.splice(&batches.table.bytes, (lanes, item), &mut step)?,
                None => None,
            };
            let batch = match spliced {
                Some(spliced) => Batched::Spliced(spliced),
                None => Batched::Read(change.run(&batches.read(item)?, &mut step)?),
            };
            let end = (number == *count).then(|| (*end, change.take_done()));
            give(Piece { batch, end })?;
        }
    }
    Ok(())
}

struct Work<'t> {
    table: &'t ArrowTable,
    output: Output<'t>,
    rejects: Option<Output<'t>>,
    walk: Walk,
    /// What was written before the block that is under way.
    before: [(usize, usize); 2],
}

/// Whether a note tells of nothing in the second file.
fn is_blank(note: &[u8]) -> bool {
    let mut reader = keywright_encoding::Reader::new(note);
    let second = reader.lp().and_then(|_own| reader.lp());
    second.is_ok_and(<[u8]>::is_empty)
}

impl Work<'_> {
    fn header(&mut self, stage: &mut Stage<'_>) -> Result<(), Trouble> {
        self.output.begin()?;
        if let Some(rejects) = &mut self.rejects {
            rejects.begin()?;
        }
        self.part(stage, self.table.messages.start, (&Done::default(), &[]))
    }

    /// Looks at the first batch before anything of it is written.
    fn probe(&self, plan: &Plan) -> Result<(), Trouble> {
        let mut batches = Batches::new(self.table);
        while let Some(batch) = batches.next()? {
            if batch.num_rows() > 0 {
                return batch::probe(plan, &batch);
            }
        }
        Ok(())
    }

    /// Goes past what an earlier run has written: what it has said of dictionaries is known from the last batch.
    fn catch_up(
        &mut self,
        stage: &Stage<'_>,
        (change, batches): (&mut Change<'_>, &mut Batches<'_>),
    ) -> Result<(), Trouble> {
        for note in stage.notes() {
            let mut reader = keywright_encoding::Reader::new(note);
            let cut = |_cut| Trouble::damaged("a note is cut short");
            self.output.take_note(reader.lp().map_err(cut)?)?;
            let second = reader.lp().map_err(cut)?;
            if let Some(rejects) = &mut self.rejects {
                rejects.take_note(second)?;
            }
        }
        // The last batch that was written, and the last of which rows were rejected.
        let (mut count, mut last_rejected) = (0, None);
        for ((batches, _), note) in self.table.blocks.iter().zip(stage.notes()) {
            count += batches;
            if !is_blank(note) {
                last_rejected = Some(count);
            }
        }
        let dictionaries = self.table.messages.has_dictionaries();
        for number in 1..=count {
            let (kept, rejected) = (number == count, Some(number) == last_rejected);
            if !dictionaries || !(kept || rejected) {
                batches.skip()?;
                continue;
            }
            let Some(batch) = batches.next()? else { break };
            let (own, second) = change.run(&batch, &mut |_| Ok(()))?;
            if kept {
                self.output.recall(&own)?;
            }
            if let (true, Some(rejects), Some(second)) = (rejected, &mut self.rejects, second) {
                rejects.recall(&second)?;
            }
        }
        Ok(())
    }

    /// What was written so far.
    fn written(&self) -> [(usize, usize); 2] {
        let rejects = self.rejects.as_ref().map(Output::written);
        [self.output.written(), rejects.unwrap_or_default()]
    }

    fn take(&mut self, piece: Piece, stage: &mut Stage<'_>) -> Result<(), Trouble> {
        match piece.batch {
            Batched::Spliced(batch) => self.output.splice(batch, &mut self.walk)?,
            Batched::Read((kept, rejected)) => {
                self.output.write(&kept)?;
                if let (Some(rejects), Some(rejected)) = (&mut self.rejects, rejected) {
                    rejects.write(&rejected)?;
                }
            }
        }
        let Some((end, done)) = piece.end else {
            return Ok(());
        };
        let [before, before_rejects] = self.before;
        let mut note = Vec::new();
        let own = self.output.note(before);
        let second = self.rejects.as_ref();
        let second = second.map_or_else(Vec::new, |rejects| rejects.note(before_rejects));
        for part in [own, second] {
            keywright_encoding::put_lp(&mut note, &part).map_err(crate::error::unwritable)?;
        }
        self.before = self.written();
        self.part(stage, end, (&done, &note))
    }

    fn footer(&mut self, stage: &mut Stage<'_>) -> Result<(), Trouble> {
        self.output.finish()?;
        if let Some(rejects) = &mut self.rejects {
            rejects.finish()?;
        }
        self.commit(stage, self.table.bytes.size(), (&Done::default(), &[]))
    }

    /// Up to a place in the input. A stream may end with its last batch: its last byte is left to what is written
    /// behind that, so that a run is at the end of its input only when all is written.
    fn part(
        &mut self,
        stage: &mut Stage<'_>,
        to: u64,
        done: (&Done, &[u8]),
    ) -> Result<(), Trouble> {
        let last = self.table.bytes.size().saturating_sub(1);
        self.commit(stage, to.min(last), done)
    }

    fn commit(
        &mut self,
        stage: &mut Stage<'_>,
        to: u64,
        (done, note): (&Done, &[u8]),
    ) -> Result<(), Trouble> {
        let checksums = Checksums {
            input: self.walk.checksum(to)?,
            output: checksum(&mut self.output.tracked)?,
            rejects: match &mut self.rejects {
                Some(rejects) => checksum(&mut rejects.tracked)?,
                None => Checksum::of(&[]),
            },
        };
        let written = |output: &Output<'_>| output.tracked.bytes_written() as u64;
        let mut next = stage.position().clone();
        next.input = to;
        next.output = written(&self.output);
        next.rejects = self.rejects.as_ref().map_or(0, written);
        next.rows += done.rows;
        next.rejected += done.rejected;
        for (sum, counts) in next.counts.iter_mut().zip(&done.counts) {
            sum.add(counts);
        }
        Ok(stage.commit(next, &checksums, note)?)
    }
}
