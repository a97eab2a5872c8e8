//! The tables: meaning, causes, functions, recovery and hint of each code.

mod data;
mod key;
mod module;
mod newer;
mod session;
mod token;

use super::Entry;

/// Ascending, together and each.
pub(super) static ALL: [&[Entry]; 6] = [
    module::ENTRIES,
    data::ENTRIES,
    key::ENTRIES,
    session::ENTRIES,
    token::ENTRIES,
    newer::ENTRIES,
];

/// `NAME: Recovery, "meaning"; ["cause", ...]; [functions, ...]; "Hint.";` for each code.
macro_rules! codes {
    ($($name:ident: $recovery:ident, $meaning:literal;
       [$($cause:literal),* $(,)?]; [$($from:expr),* $(,)?]; $hint:literal;)*) => {
        pub(in crate::explain) static ENTRIES: &[crate::explain::Entry] = &[$(
            crate::explain::Entry {
                code: crate::ReturnCode::$name,
                recovery: crate::Recovery::$recovery,
                meaning: $meaning,
                causes: &[$($cause),*],
                from: &[$($from),*],
                hint: $hint,
            },
        )*];
    };
}

use codes;
