//! The tables of functions: those of the real module, and for each the one that the application gets instead.

use std::ffi::CStr;
use std::sync::OnceLock;

use cryptoki_sys::{
    CK_FUNCTION_LIST, CK_FUNCTION_LIST_3_0, CK_FUNCTION_LIST_3_2, CK_FUNCTION_LIST_PTR,
};

use super::forward;

/// The table of exported symbols has this place; the others are those that the module hands out.
pub(super) const BY_NAME: usize = 0;

/// A table of the module, and ours. Each version only adds functions at the end, so the longest form holds all.
struct Table {
    /// Where the module has it.
    of: usize,
    real: CK_FUNCTION_LIST_3_2,
    ours: CK_FUNCTION_LIST_3_2,
}

/// One for the symbols, and one for each of 2.40, 3.0 and 3.2 and one to spare. A module with more tables than that
/// keeps the further ones: they work and are not recorded.
static TABLES: [OnceLock<Table>; 5] = [const { OnceLock::new() }; 5];

impl Table {
    fn new(place: usize, of: usize, real: CK_FUNCTION_LIST_3_2) -> Self {
        let ours = match place {
            0 => forward::table::<0>(&real),
            1 => forward::table::<1>(&real),
            2 => forward::table::<2>(&real),
            3 => forward::table::<3>(&real),
            _ => forward::table::<4>(&real),
        };
        Self { of, real, ours }
    }
}

/// Keeps the table of exported symbols.
pub(super) fn keep_by_name(real: CK_FUNCTION_LIST_3_2) {
    if let Some(table) = TABLES.get(BY_NAME) {
        table.get_or_init(|| Table::new(BY_NAME, 0, real));
    }
}

/// The module's table at this place.
#[inline(always)]
pub(super) fn real(place: usize) -> Option<&'static CK_FUNCTION_LIST_3_2> {
    Some(&TABLES.get(place)?.get()?.real)
}

/// Ours at this place.
pub(super) fn ours(place: usize) -> Option<&'static CK_FUNCTION_LIST_3_2> {
    Some(&TABLES.get(place)?.get()?.ours)
}

/// The table to give out instead of the module's `list`: ours for it, or itself where none can be made.
///
/// # Safety
/// `list` is null or what the module gave as its table.
pub(super) unsafe fn instead_of(list: CK_FUNCTION_LIST_PTR) -> CK_FUNCTION_LIST_PTR {
    // SAFETY: the caller's word.
    let Some(real) = (unsafe { copy(list) }) else {
        return list;
    };
    for (place, slot) in TABLES.iter().enumerate().skip(BY_NAME + 1) {
        let table = slot.get_or_init(|| Table::new(place, list.addr(), real));
        if table.of == list.addr() {
            return (&raw const table.ours).cast_mut().cast();
        }
    }
    list
}

/// Copies a table of any version into one of the newest, in which later functions are absent.
unsafe fn copy(list: *const CK_FUNCTION_LIST) -> Option<CK_FUNCTION_LIST_3_2> {
    if list.is_null() {
        return None;
    }
    // SAFETY: not null, and every table begins with its version.
    let version = unsafe { (*list).version };
    let size = match (version.major, version.minor) {
        (2, _) => size_of::<CK_FUNCTION_LIST>(),
        (3, 0 | 1) => size_of::<CK_FUNCTION_LIST_3_0>(),
        (3, 2..) => size_of::<CK_FUNCTION_LIST_3_2>(),
        // What such a table holds is not known, so nothing stands in for it.
        _ => return None,
    };
    let mut table = CK_FUNCTION_LIST_3_2::default();
    // SAFETY: a table of this version has `size` bytes, at most those of `table`; both begin alike, and absent
    // functions are null in both.
    unsafe {
        std::ptr::copy_nonoverlapping(list.cast::<u8>(), (&raw mut table).cast::<u8>(), size);
    }
    Some(table)
}

/// A name of the standard, written with its closing zero, as C has it.
pub(super) fn c_name(name: &'static str) -> &'static CStr {
    CStr::from_bytes_with_nul(name.as_bytes()).unwrap_or_default()
}
