//! Types by the names that pyarrow and Polars users know. Names of fields are left out: they are foreign.

use arrow_schema::{DataType, IntervalUnit, TimeUnit, UnionMode};

use crate::metadata::is_zone;

/// The name of a type.
pub(super) fn name(kind: &DataType) -> String {
    use DataType as Kind;
    match kind {
        Kind::Boolean => "bool".to_owned(),
        Kind::Float16 => "halffloat".to_owned(),
        Kind::Float32 => "float".to_owned(),
        Kind::Float64 => "double".to_owned(),
        Kind::Timestamp(unit, None) => format!("timestamp[{}]", of_unit(*unit)),
        Kind::Timestamp(unit, Some(zone)) => {
            // Another zone may be anything.
            let zone = if is_zone(zone) { zone } else { "..." };
            format!("timestamp[{}, {zone}]", of_unit(*unit))
        }
        Kind::Date32 => "date32[day]".to_owned(),
        Kind::Date64 => "date64[ms]".to_owned(),
        Kind::Time32(unit) => format!("time32[{}]", of_unit(*unit)),
        Kind::Time64(unit) => format!("time64[{}]", of_unit(*unit)),
        Kind::Duration(unit) => format!("duration[{}]", of_unit(*unit)),
        Kind::Interval(unit) => match unit {
            IntervalUnit::YearMonth => "month_interval".to_owned(),
            IntervalUnit::DayTime => "day_time_interval".to_owned(),
            IntervalUnit::MonthDayNano => "month_day_nano_interval".to_owned(),
        },
        Kind::FixedSizeBinary(size) => format!("fixed_size_binary[{size}]"),
        Kind::LargeBinary => "large_binary".to_owned(),
        Kind::BinaryView => "binary_view".to_owned(),
        Kind::Utf8 => "string".to_owned(),
        Kind::LargeUtf8 => "large_string".to_owned(),
        Kind::Utf8View => "string_view".to_owned(),
        Kind::Decimal32(precision, scale) => format!("decimal32({precision}, {scale})"),
        Kind::Decimal64(precision, scale) => format!("decimal64({precision}, {scale})"),
        Kind::Decimal128(precision, scale) => format!("decimal128({precision}, {scale})"),
        Kind::Decimal256(precision, scale) => format!("decimal256({precision}, {scale})"),
        kind if kind.is_nested() || matches!(kind, Kind::Dictionary(..)) => of_parts(kind),
        // null, binary, and whole numbers with their bits.
        kind => kind.to_string().to_ascii_lowercase(),
    }
}

fn of_parts(kind: &DataType) -> String {
    use DataType as Kind;
    match kind {
        Kind::List(item) => format!("list<{}>", name(item.data_type())),
        Kind::LargeList(item) => format!("large_list<{}>", name(item.data_type())),
        Kind::ListView(item) => format!("list_view<{}>", name(item.data_type())),
        Kind::LargeListView(item) => format!("large_list_view<{}>", name(item.data_type())),
        Kind::FixedSizeList(item, size) => {
            format!("fixed_size_list<{}>[{size}]", name(item.data_type()))
        }
        Kind::Struct(fields) => {
            let parts: Vec<_> = fields.iter().map(|field| name(field.data_type())).collect();
            format!("struct<{}>", parts.join(", "))
        }
        Kind::Map(entries, _) => match entries.data_type() {
            Kind::Struct(fields) => {
                let parts: Vec<_> = fields.iter().map(|field| name(field.data_type())).collect();
                format!("map<{}>", parts.join(", "))
            }
            _ => "map".to_owned(),
        },
        Kind::Union(fields, mode) => {
            let parts: Vec<_> = fields
                .iter()
                .map(|(_, field)| name(field.data_type()))
                .collect();
            let mode = match mode {
                UnionMode::Sparse => "sparse_union",
                UnionMode::Dense => "dense_union",
            };
            format!("{mode}<{}>", parts.join(", "))
        }
        Kind::Dictionary(key, values) => {
            format!("dictionary<values={}, indices={}>", name(values), name(key))
        }
        Kind::RunEndEncoded(_, values) => {
            format!("run_end_encoded<{}>", name(values.data_type()))
        }
        _ => "nested".to_owned(),
    }
}

const fn of_unit(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    }
}

#[cfg(test)]
mod tests {
    use arrow_schema::Field;
    use std::sync::Arc;

    use super::*;

    /// As pyarrow writes them.
    #[test]
    fn types_have_the_names_of_pyarrow() {
        let item = |kind| Arc::new(Field::new("4111111111111111", kind, true));
        let zone = |zone: &str| DataType::Timestamp(TimeUnit::Microsecond, Some(zone.into()));
        for (kind, wanted) in [
            (zone("UTC"), "timestamp[us, UTC]"),
            (zone("4111111111111111"), "timestamp[us, ...]"),
            (DataType::List(item(DataType::Utf8)), "list<string>"),
            (DataType::UInt16, "uint16"),
            (DataType::Binary, "binary"),
            (DataType::Null, "null"),
            (DataType::Date32, "date32[day]"),
            (DataType::Decimal128(9, 2), "decimal128(9, 2)"),
            (
                DataType::Struct(vec![item(DataType::Boolean), item(DataType::Float64)].into()),
                "struct<bool, double>",
            ),
            (
                DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Int64)),
                "dictionary<values=int64, indices=int32>",
            ),
        ] {
            assert_eq!(name(&kind), wanted);
        }
    }
}
