//! Arrow arrays as cells, and cells as arrays of the same type.

use std::io::Write as _;
use std::sync::Arc;

use arrow_array::builder::{GenericStringBuilder, StringViewBuilder};
use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, OffsetSizeTrait};
use arrow_schema::DataType;

use crate::table::Texts;

/// Calls a function with the type of whole numbers; nothing for any other type.
macro_rules! by_number {
    ($kind:expr, $call:ident ( $($argument:expr),* )) => {
        match $kind {
            DataType::Int8 => Some($call::<Int8Type>($($argument),*)),
            DataType::Int16 => Some($call::<Int16Type>($($argument),*)),
            DataType::Int32 => Some($call::<Int32Type>($($argument),*)),
            DataType::Int64 => Some($call::<Int64Type>($($argument),*)),
            DataType::UInt8 => Some($call::<UInt8Type>($($argument),*)),
            DataType::UInt16 => Some($call::<UInt16Type>($($argument),*)),
            DataType::UInt32 => Some($call::<UInt32Type>($($argument),*)),
            DataType::UInt64 => Some($call::<UInt64Type>($($argument),*)),
            _ => None,
        }
    };
}
pub(super) use by_number;

/// Whether a column of this type can change.
pub(super) fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_plain_text(values),
        kind => is_plain_text(kind),
    }
}

/// A column of nulls has no text that would not be one.
const fn is_plain_text(kind: &DataType) -> bool {
    matches!(
        kind,
        DataType::Null | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    )
}

/// Whether the rows of a column of this type can be said as texts.
pub(super) fn is_cellular(kind: &DataType) -> bool {
    is_text(kind) || kind.is_integer()
}

/// The rows of a column as texts, empty where it has no value; nothing for types that have no texts.
pub(super) fn texts(array: &ArrayRef) -> Option<Texts> {
    let mut texts = Texts::default();
    match array.data_type() {
        DataType::Utf8 => strings(array.as_string::<i32>().iter(), &mut texts),
        DataType::LargeUtf8 => strings(array.as_string::<i64>().iter(), &mut texts),
        DataType::Utf8View => strings(array.as_string_view().iter(), &mut texts),
        DataType::Null => (0..array.len()).for_each(|_| texts.push(&[])),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary_opt()?;
            let values = self::texts(dictionary.values())?;
            if dictionary.values().is_empty() {
                // Every row is null, and the dictionary has no value.
                (0..array.len()).for_each(|_| texts.push(&[]));
                return Some(texts);
            }
            let keys = dictionary.normalized_keys();
            for (row, key) in keys.into_iter().enumerate() {
                let text = (!dictionary.keys().is_null(row)).then(|| values.get(key));
                texts.push(text.unwrap_or_default());
            }
        }
        kind => by_number!(kind, numbers(array, &mut texts))?,
    }
    Some(texts)
}

fn strings<'a>(rows: impl Iterator<Item = Option<&'a str>>, texts: &mut Texts) {
    for row in rows {
        texts.push(row.unwrap_or_default().as_bytes());
    }
}

fn numbers<T: ArrowPrimitiveType>(array: &ArrayRef, texts: &mut Texts)
where
    T::Native: std::fmt::Display,
{
    let mut text = Vec::new();
    for number in array.as_primitive::<T>() {
        text.clear();
        if let Some(number) = number {
            // Memory takes all that is written.
            drop(write!(text, "{number}"));
        }
        texts.push(&text);
    }
}

/// A column of texts in the making.
pub(super) enum Building {
    Small(GenericStringBuilder<i32>),
    Large(GenericStringBuilder<i64>),
    View(StringViewBuilder),
}

impl Building {
    pub(super) fn new(kind: &DataType) -> Self {
        match kind {
            DataType::LargeUtf8 => Self::Large(GenericStringBuilder::new()),
            DataType::Utf8View => Self::View(StringViewBuilder::new()),
            _ => Self::Small(GenericStringBuilder::new()),
        }
    }

    /// Another row; false if the column cannot hold it.
    pub(super) fn push(&mut self, text: Option<&[u8]>) -> bool {
        let text = match text.map(std::str::from_utf8) {
            None => None,
            Some(Ok(text)) => Some(text),
            Some(Err(_not_text)) => return false,
        };
        match self {
            Self::Small(builder) => append(builder, text),
            Self::Large(builder) => append(builder, text),
            Self::View(builder) => {
                builder.append_option(text);
                true
            }
        }
    }

    pub(super) fn finish(self) -> ArrayRef {
        match self {
            Self::Small(mut builder) => Arc::new(builder.finish()),
            Self::Large(mut builder) => Arc::new(builder.finish()),
            Self::View(mut builder) => Arc::new(builder.finish()),
        }
    }
}

fn append<O: OffsetSizeTrait>(builder: &mut GenericStringBuilder<O>, text: Option<&str>) -> bool {
    let length = builder.values_slice().len() + text.map_or(0, str::len);
    if O::from_usize(length).is_none() {
        return false;
    }
    builder.append_option(text);
    true
}
