//! Types by the names that users know, and the free text that a schema has besides the names of columns.

use parquet::basic::{LogicalType, TimeUnit, Type};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

/// What writers call the whole schema.
const ROOTS: [&str; 8] = [
    "",
    "arrow_schema",
    "duckdb_schema",
    "hive_schema",
    "m",
    "root",
    "schema",
    "spark_schema",
];

/// The name of a type.
pub(super) fn name(column: &ColumnDescriptor) -> String {
    match column.logical_type_ref() {
        Some(LogicalType::Date) => "date".to_owned(),
        Some(LogicalType::Time(time)) => format!("time[{}]", of_unit(&time.unit)),
        Some(LogicalType::Timestamp(time)) => {
            let zone = if time.is_adjusted_to_u_t_c {
                ", UTC"
            } else {
                ""
            };
            format!("timestamp[{}{zone}]", of_unit(&time.unit))
        }
        Some(LogicalType::Decimal(decimal)) => {
            format!("decimal({}, {})", decimal.precision, decimal.scale)
        }
        Some(LogicalType::Integer(number)) => {
            let sign = if number.is_signed { "" } else { "u" };
            format!("{sign}int{}", number.bit_width)
        }
        Some(LogicalType::Unknown) => "null".to_owned(),
        Some(LogicalType::Json) => "json".to_owned(),
        Some(LogicalType::Bson) => "bson".to_owned(),
        Some(LogicalType::Uuid) => "uuid".to_owned(),
        Some(LogicalType::Float16) => "float16".to_owned(),
        Some(LogicalType::Variant(_)) => "variant".to_owned(),
        Some(LogicalType::Geometry(_)) => "geometry".to_owned(),
        Some(LogicalType::Geography(_)) => "geography".to_owned(),
        _ => of_bytes(column),
    }
}

/// Of a type as it is kept.
fn of_bytes(column: &ColumnDescriptor) -> String {
    match column.physical_type() {
        Type::BOOLEAN => "boolean".to_owned(),
        Type::INT32 => "int32".to_owned(),
        Type::INT64 => "int64".to_owned(),
        Type::INT96 => "int96".to_owned(),
        Type::FLOAT => "float".to_owned(),
        Type::DOUBLE => "double".to_owned(),
        Type::BYTE_ARRAY => "binary".to_owned(),
        Type::FIXED_LEN_BYTE_ARRAY => format!("fixed_len_byte_array({})", column.type_length()),
    }
}

const fn of_unit(unit: &TimeUnit) -> &'static str {
    match unit {
        TimeUnit::MILLIS => "ms",
        TimeUnit::MICROS => "us",
        TimeUnit::NANOS => "ns",
    }
}

/// Texts that cannot be left out of a schema: what they are, and the text.
pub(super) fn texts(schema: &SchemaDescriptor) -> Vec<(String, &str)> {
    let root = schema.root_schema().name();
    let mut texts = Vec::new();
    if !ROOTS.contains(&root) {
        texts.push(("the name of the schema".to_owned(), root));
    }
    for column in schema.columns() {
        let crs = match column.logical_type_ref() {
            Some(LogicalType::Geometry(own)) => own.crs.as_deref(),
            Some(LogicalType::Geography(own)) => own.crs.as_deref(),
            _ => None,
        };
        let path = column.path().string();
        texts.extend(crs.map(|crs| (format!("the coordinate system of column {path:?}"), crs)));
    }
    texts
}
