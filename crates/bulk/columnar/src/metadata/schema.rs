//! Arrow schemas: metadata of fields, and types that list or count values.

use std::sync::Arc;

use arrow_ipc::convert::try_schema_from_ipc_buffer;
use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteOptions};
use arrow_schema::{DataType, Field, FieldRef, Fields, Metadata as Pairs, Schema, UnionFields};
use keywright_encoding::base64;

use super::zones::is_zone;
use super::{Judge, Source};

/// Where a Parquet file has the schema that its table had in Arrow.
pub(super) const KEY: &str = "ARROW:schema";

/// The number of a field, which readers find columns by.
const FIELD_ID: &str = "PARQUET:field_id";

/// What makes of a type another: its name, and its parameters, without which the name means nothing.
const EXTENSION: [&str; 2] = ["ARROW:extension:name", "ARROW:extension:metadata"];

/// The time zones of a schema that are no known ones, each with the path of its field.
pub(crate) fn zones_of(schema: &Schema) -> Vec<(String, &str)> {
    fn gather<'s>(kind: &'s DataType, path: &str, zones: &mut Vec<(String, &'s str)>) {
        let mut own = |field: &'s FieldRef| {
            let path = format!("{path}.{}", field.name());
            gather(field.data_type(), &path, zones);
        };
        match kind {
            DataType::Timestamp(_, Some(zone)) if !is_zone(zone) => {
                zones.push((path.to_owned(), zone.as_ref()));
            }
            DataType::Struct(fields) => fields.iter().for_each(own),
            DataType::Union(fields, _) => fields.iter().for_each(|(_, field)| own(field)),
            DataType::List(field)
            | DataType::LargeList(field)
            | DataType::ListView(field)
            | DataType::LargeListView(field)
            | DataType::FixedSizeList(field, _)
            | DataType::Map(field, _)
            | DataType::RunEndEncoded(_, field) => own(field),
            DataType::Dictionary(_, values) => gather(values, path, zones),
            _ => {}
        }
    }
    let mut zones = Vec::new();
    for field in schema.fields() {
        gather(field.data_type(), field.name(), &mut zones);
    }
    zones
}

/// The text of an Arrow schema, rewritten; `None` if it cannot be read or if a type in it holds a value.
pub(super) fn rewritten(text: &str, source: &Source<'_>, judge: &mut Judge<'_>) -> Option<String> {
    let schema = try_schema_from_ipc_buffer(&base64::decode(text).ok()?).ok()?;
    // What it says of a column that is not found in it cannot be judged.
    let mut changed = source.changed.iter();
    if !changed.all(|path| has_field(schema.fields(), path)) {
        return None;
    }
    if zones_of(&schema)
        .iter()
        .any(|(_, zone)| judge.has_value(zone))
    {
        return None;
    }
    let walk = &mut Walk {
        source,
        judge,
        widens: true,
    };
    let schema = walk.schema(&schema);
    let encoded = IpcDataGenerator::default().schema_to_bytes_with_dictionary_tracker(
        &schema,
        &mut DictionaryTracker::new(true),
        &IpcWriteOptions::default(),
    );
    let length = u32::try_from(encoded.ipc_message.len()).ok()?;
    let mut message = vec![0xFF; 4];
    message.extend_from_slice(&length.to_le_bytes());
    message.extend_from_slice(&encoded.ipc_message);
    Some(base64::encode(&message))
}

fn has_field(fields: &Fields, path: &[String]) -> bool {
    let Some((name, rest)) = path.split_first() else {
        return false;
    };
    fields.iter().any(|field| {
        field.name() == name
            && match (rest, field.data_type()) {
                ([], _) => true,
                (rest, DataType::Struct(fields)) => has_field(fields, rest),
                _ => false,
            }
    })
}

/// The schema of an Arrow file.
pub(super) fn clean(schema: &Schema, source: &Source<'_>, judge: &mut Judge<'_>) -> Schema {
    let walk = &mut Walk {
        source,
        judge,
        widens: false,
    };
    walk.schema(schema)
}

struct Walk<'w, 's> {
    source: &'w Source<'w>,
    judge: &'w mut Judge<'s>,
    /// Whether the type says how values are to be kept in memory, and not how they are kept here.
    widens: bool,
}

impl Walk<'_, '_> {
    fn schema(&mut self, schema: &Schema) -> Schema {
        let fields = schema.fields().iter();
        let fields: Vec<FieldRef> = fields.map(|field| self.field(field, &[])).collect();
        let mut pairs = Pairs::default();
        for (key, value) in schema.metadata.iter() {
            let value = self.source.pair("schema", (key, value), self.judge);
            if let Some(value) = value {
                pairs.insert(key.clone(), value);
            }
        }
        Schema::new_with_metadata(fields, pairs)
    }

    fn field(&mut self, field: &Field, within: &[&str]) -> FieldRef {
        let mut path = within.to_vec();
        path.push(field.name());
        let is_changed = self.source.is_changed(&path);
        let kind = self.kind(field.data_type(), &path);
        let kind = match (is_changed, kind) {
            (true, DataType::Dictionary(key, values)) => {
                let key = if self.widens { widened(*key) } else { *key };
                DataType::Dictionary(Box::new(key), values)
            }
            (_, kind) => kind,
        };
        let is_ordered = field.dict_is_ordered().unwrap_or_default() && !is_changed;
        let own = field.clone().with_data_type(kind);
        let own = own.with_dict_is_ordered(is_ordered);
        let pairs = self.pairs(field, &path);
        Arc::new(own.with_metadata(pairs))
    }

    fn pairs(&mut self, field: &Field, path: &[&str]) -> Pairs {
        let mut pairs = Pairs::default();
        let is_touched = self.source.is_touched(path);
        let place = format!("field {:?}", path.join("."));
        for (key, value) in field.metadata().iter() {
            let is_number = key == FIELD_ID && value.len() <= 5 && value.parse::<i32>().is_ok();
            if is_number || (!is_touched && self.judge.keeps(&place, key, value)) {
                pairs.insert(key.clone(), value.clone());
            }
        }
        let is_lost = |key: &&str| field.metadata().contains_key(key) && !pairs.contains_key(key);
        if EXTENSION.iter().any(is_lost) {
            for key in EXTENSION {
                pairs.remove(key);
            }
        }
        pairs
    }

    fn kind(&mut self, kind: &DataType, path: &[&str]) -> DataType {
        let mut own = |field: &FieldRef| self.field(field, path);
        match kind {
            DataType::Struct(fields) => DataType::Struct(fields.iter().map(own).collect()),
            DataType::List(field) => DataType::List(own(field)),
            DataType::LargeList(field) => DataType::LargeList(own(field)),
            DataType::ListView(field) => DataType::ListView(own(field)),
            DataType::LargeListView(field) => DataType::LargeListView(own(field)),
            DataType::FixedSizeList(field, size) => DataType::FixedSizeList(own(field), *size),
            DataType::Map(field, sorted) => DataType::Map(own(field), *sorted),
            DataType::RunEndEncoded(ends, values) => {
                DataType::RunEndEncoded(own(ends), own(values))
            }
            DataType::Dictionary(key, values) => {
                DataType::Dictionary(key.clone(), Box::new(self.kind(values, path)))
            }
            DataType::Union(fields, mode) => {
                let fields: UnionFields = fields
                    .iter()
                    .map(|(number, field)| (number, own(field)))
                    .collect();
                DataType::Union(fields, *mode)
            }
            kind => kind.clone(),
        }
    }
}

/// Keys for more values than a column had: a tweak can make several tokens of one value.
fn widened(key: DataType) -> DataType {
    match key {
        DataType::Int8 | DataType::Int16 => DataType::Int32,
        DataType::UInt8 | DataType::UInt16 => DataType::UInt32,
        key => key,
    }
}

impl Source<'_> {
    fn is_changed(&self, path: &[&str]) -> bool {
        self.changed.iter().any(|changed| changed == path)
    }

    /// Whether a field changes, or one within it.
    fn is_touched(&self, path: &[&str]) -> bool {
        let is_within = |changed: &Vec<String>| {
            let parts = changed.get(..path.len());
            parts.is_some_and(|parts| parts == path)
        };
        self.changed.iter().any(is_within)
    }
}
