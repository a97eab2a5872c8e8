//! One batch: its columns changed, and its rejected rows taken out.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowDictionaryKeyType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, DictionaryArray, PrimitiveArray, RecordBatch};
use arrow_schema::DataType;
use arrow_select::filter::filter_record_batch;
use keywright_format::Cells;
use keywright_protect::{Columns, Counts, Plan};

use super::cells::{Building, by_number, texts};
use super::compact::{Dictionaries, Used, compacted};
use super::splice::Lane;
use crate::error::{Trouble, unwritable};

/// Rows that are worked on at once.
pub(super) const ROWS: usize = 16_384;

/// The columns that change, over all batches.
pub(super) struct Change<'p> {
    pub(super) columns: Columns<'p>,
    plan: &'p Plan,
    /// The values of dictionaries that each of the two files needs, where that is known before.
    used: Option<[Used; 2]>,
    /// Whether a dictionary may have values of rows that go to the other file.
    has_dictionaries: bool,
    pub(super) done: Done,
    /// The columns of a batch that is not read whole.
    pub(super) lanes: Vec<Lane>,
    /// What was counted when `done` was taken last.
    before: Vec<Counts>,
}

/// What was done since it was asked for last.
#[derive(Default)]
pub(super) struct Done {
    pub(super) rows: u64,
    pub(super) rejected: u64,
    pub(super) counts: Vec<Counts>,
}

/// What a batch has become: the rows that stay, and those that go.
pub(super) type Changed = (RecordBatch, Option<RecordBatch>);

/// Refuses a key under which most values of a batch do not fit.
pub(super) fn probe(plan: &Plan, batch: &RecordBatch) -> Result<(), Trouble> {
    let batch = batch.slice(0, batch.num_rows().min(ROWS));
    let mut columns = Columns::new(plan);
    put(&mut columns, &batch);
    Ok(columns.probe()?)
}

/// Gives the cells of a batch to the columns that need them.
fn put(columns: &mut Columns<'_>, batch: &RecordBatch) {
    for (place, column) in columns.wanted().to_vec().into_iter().enumerate() {
        let cells = batch.columns().get(column).and_then(texts);
        let cells = cells.unwrap_or_default();
        columns.put(place, (0..batch.num_rows()).map(|row| cells.get(row)));
    }
}

impl<'p> Change<'p> {
    /// Behind so many rows of the table.
    pub(super) fn new(plan: &'p Plan, rows: u64) -> Self {
        Self {
            columns: Columns::behind(plan, rows),
            plan,
            used: None,
            has_dictionaries: false,
            done: Done::default(),
            lanes: Vec::new(),
            before: Vec::new(),
        }
    }

    /// The same, behind so many rows of the table, with nothing counted.
    pub(super) fn behind(self, rows: u64) -> Self {
        Self {
            used: self.used,
            has_dictionaries: self.has_dictionaries,
            ..Self::new(self.plan, rows)
        }
    }

    /// Where there are dictionaries, with what [`Change::gather`] has found of them.
    pub(super) fn with_dictionaries(mut self, used: Option<[Used; 2]>) -> Self {
        self.used = used;
        self.has_dictionaries = super::leaves_values_out(self.plan);
        self
    }

    /// Adds the values of dictionaries that the rows of a batch need in each of the two files.
    pub(super) fn gather(
        &mut self,
        batch: &RecordBatch,
        [kept, rejected]: &mut [Used; 2],
        step: &mut dyn FnMut(usize) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        let (changed, dropped) = self.changed(batch, step)?;
        let (own, second) = part(changed, batch, &dropped)?;
        kept.gather(&own)?;
        match second {
            Some(second) => rejected.gather(&second),
            None => Ok(()),
        }
    }

    pub(super) fn take_done(&mut self) -> Done {
        let now = self.columns.counts().to_vec();
        let mut done = std::mem::take(&mut self.done);
        let before = std::mem::replace(&mut self.before, now.clone());
        done.counts = now;
        for (counts, before) in done.counts.iter_mut().zip(&before) {
            counts.subtract(before);
        }
        done
    }

    /// Changes a batch. `step` hears of the rows as they are done.
    pub(super) fn run(
        &mut self,
        batch: &RecordBatch,
        step: &mut dyn FnMut(usize) -> Result<(), Trouble>,
    ) -> Result<Changed, Trouble> {
        let (changed, dropped) = self.changed(batch, step)?;
        self.done.rows += batch.num_rows() as u64;
        self.done.rejected += dropped.len() as u64;
        let (kept, rejected) = part(changed, batch, &dropped)?;
        let [own, second] = match &self.used {
            Some([own, second]) => [Some(own), Some(second)],
            None => [None, None],
        };
        // A batch that stays whole has all that its rows have, but a dictionary may be that of other batches too.
        let dictionaries = match rejected.is_some() || self.has_dictionaries {
            true => Dictionaries::Compacted,
            false => Dictionaries::Kept,
        };
        let kept = compacted(&kept, dictionaries, own)?;
        let rejected =
            rejected.map(|rejected| compacted(&rejected, Dictionaries::Compacted, second));
        Ok((kept, rejected.transpose()?))
    }

    /// The batch with its new columns, and the rows that are rejected.
    fn changed(
        &mut self,
        batch: &RecordBatch,
        step: &mut dyn FnMut(usize) -> Result<(), Trouble>,
    ) -> Result<(RecordBatch, Vec<usize>), Trouble> {
        let mut made: Vec<Made> = self
            .plan
            .changes()
            .map(|(column, ..)| Made::new(batch, column))
            .collect();
        let mut dropped = Vec::new();
        let mut first = 0;
        while first < batch.num_rows() {
            let rows = ROWS.min(batch.num_rows() - first);
            let part = batch.slice(first, rows);
            put(&mut self.columns, &part);
            self.columns.run()?;
            let changed = self.columns.changed()?;
            for (made, (_, cells)) in made.iter_mut().zip(&changed) {
                made.take(&part, cells)?;
            }
            dropped.extend(self.columns.rejected().iter().map(|row| first + row));
            first += rows;
            step(rows)?;
        }
        let mut arrays = batch.columns().to_vec();
        for (change, made) in made.into_iter().enumerate() {
            let column = made.column;
            let array = made.finish(batch, (self.plan, change))?;
            if let Some(place) = arrays.get_mut(column) {
                *place = array;
            }
        }
        let changed = RecordBatch::try_new(batch.schema(), arrays).map_err(unwritable)?;
        Ok((changed, dropped))
    }
}

/// Takes rows out.
fn part(changed: RecordBatch, batch: &RecordBatch, dropped: &[usize]) -> Result<Changed, Trouble> {
    if dropped.is_empty() {
        return Ok((changed, None));
    }
    let mut goes = vec![false; batch.num_rows()];
    for row in dropped {
        if let Some(goes) = goes.get_mut(*row) {
            *goes = true;
        }
    }
    let stays: Vec<bool> = goes.iter().map(|goes| !goes).collect();
    let kept = filter_record_batch(&changed, &BooleanArray::from(stays)).map_err(unwritable)?;
    let rejected = filter_record_batch(batch, &BooleanArray::from(goes)).map_err(unwritable)?;
    Ok((kept, Some(rejected)))
}

/// A column on its way out.
struct Made {
    column: usize,
    form: Form,
}

enum Form {
    Texts(Building),
    /// Only nulls, so nothing changes.
    Nulls,
    /// Of a dictionary only which rows lose their value: the values are changed once.
    Dictionary(Vec<bool>),
}

impl Made {
    fn new(batch: &RecordBatch, column: usize) -> Self {
        let schema = batch.schema();
        let form = match schema.field(column).data_type() {
            DataType::Null => Form::Nulls,
            DataType::Dictionary(..) => Form::Dictionary(Vec::new()),
            kind => Form::Texts(Building::new(kind)),
        };
        Self { column, form }
    }

    /// The next rows. Where a text is gone that was there, there is a null, if the column may have one.
    fn take(&mut self, batch: &RecordBatch, cells: &Cells<'_>) -> Result<(), Trouble> {
        let nullable = batch.schema().field(self.column).is_nullable();
        let old = batch.columns().get(self.column);
        let Some((old, was)) = old.and_then(|old| Some((old, texts(old)?))) else {
            return Ok(());
        };
        let nulls = old.logical_nulls();
        let is_null = |row: usize| nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        for row in 0..batch.num_rows() {
            let text = cells.get(row);
            let gone = nullable && text.is_empty() && !was.get(row).is_empty();
            let stays = !gone && !is_null(row);
            match &mut self.form {
                Form::Nulls => {}
                Form::Dictionary(gaps) => gaps.push(!stays),
                Form::Texts(building) => {
                    if !building.push(stays.then_some(text)) {
                        return Err(unwritable("a column grows beyond what its type holds"));
                    }
                }
            }
        }
        Ok(())
    }

    fn finish(self, batch: &RecordBatch, of: (&Plan, usize)) -> Result<ArrayRef, Trouble> {
        let gaps = match self.form {
            Form::Texts(building) => return Ok(building.finish()),
            Form::Nulls => return Ok(Arc::clone(batch.column(self.column))),
            Form::Dictionary(gaps) => gaps,
        };
        let old = batch.column(self.column);
        let DataType::Dictionary(key, _) = old.data_type() else {
            return Err(Trouble::damaged("a dictionary is none"));
        };
        let values = values(old, of)?;
        let made = by_number!(**key, rekeyed(old, &gaps, values));
        made.unwrap_or_else(|| Err(Trouble::damaged("a dictionary has no keys")))
    }
}

/// The values of a dictionary, all of them, also those that no row has: they do not stay in clear. What does not fit
/// is null.
fn values(old: &ArrayRef, (plan, change): (&Plan, usize)) -> Result<ArrayRef, Trouble> {
    let old = old.as_any_dictionary_opt();
    let old = old.ok_or_else(|| Trouble::damaged("a dictionary is none"))?;
    let old = old.values();
    if *old.data_type() == DataType::Null {
        return Ok(Arc::clone(old));
    }
    let was = texts(old).unwrap_or_default();
    let mut columns = Columns::single(plan, change, 0);
    columns.put(0, (0..old.len()).map(|row| was.get(row)));
    columns.translate()?;
    let changed = columns.changed()?;
    let mut building = Building::new(old.data_type());
    for row in 0..old.len() {
        let text = changed
            .first()
            .map(|(_, cells)| cells.get(row))
            .unwrap_or_default();
        let gone = text.is_empty() && !was.get(row).is_empty();
        let stays = !gone && !old.is_null(row);
        if !building.push(stays.then_some(text)) {
            return Err(unwritable("a dictionary grows beyond what its type holds"));
        }
    }
    Ok(building.finish())
}

/// The dictionary with other values, and without the rows that lose theirs.
fn rekeyed<K: ArrowDictionaryKeyType>(
    old: &ArrayRef,
    gaps: &[bool],
    values: ArrayRef,
) -> Result<ArrayRef, Trouble> {
    let keys = old.as_dictionary::<K>().keys();
    let keys = keys.iter().zip(gaps);
    let keys: PrimitiveArray<K> = keys.map(|(key, gap)| key.filter(|_| !gap)).collect();
    let made = DictionaryArray::<K>::try_new(keys, values).map_err(unwritable)?;
    Ok(Arc::new(made))
}
