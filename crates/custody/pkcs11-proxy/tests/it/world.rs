//! Arguments for every function of the standard, made of one canary: whatever could be secret holds it.

use std::ffi::c_void;
use std::ptr::null_mut;

use cryptoki_sys::*;

use crate::word::Word as _;

/// What must not be in any log.
pub(crate) const CANARY: &[u8; 32] = b"canary-4f1c-never-in-any-record!";
/// What labels and ids hold, in plain.
pub(crate) const LABEL: &[u8; 16] = b"label-of-payroll";
/// Every number that is given: handles, counts, lengths.
pub(crate) const NUMBER: u64 = 8;

/// The memory that arguments point to.
pub(crate) struct World {
    pub(crate) secret: [u8; 32],
    pub(crate) label: [u8; 16],
    pub(crate) class: u64,
    pub(crate) number: u64,
    pub(crate) mechanism: CK_MECHANISM,
    pub(crate) template: [CK_ATTRIBUTE; 8],
    pub(crate) room: Box<[u64; 4096]>,
}

impl World {
    pub(crate) fn new() -> Box<Self> {
        let mut world = Box::new(Self {
            secret: *CANARY,
            label: *LABEL,
            class: CKO_SECRET_KEY,
            number: NUMBER,
            mechanism: CK_MECHANISM {
                mechanism: CKM_AES_CBC,
                pParameter: null_mut(),
                ulParameterLen: 16,
            },
            template: [CK_ATTRIBUTE {
                type_: 0,
                pValue: null_mut(),
                ulValueLen: 32,
            }; 8],
            room: Box::new([0; 4096]),
        });
        world.mechanism.pParameter = world.secret.as_mut_ptr().cast();
        let kinds = [
            CKA_CLASS,
            CKA_VALUE,
            CKA_PRIVATE_EXPONENT,
            CKA_LABEL,
            CKA_ID,
            CKA_SEED,
            CKA_VENDOR_DEFINED + 5,
            0x7777,
        ];
        let (secret, label) = (world.secret.as_mut_ptr(), world.label.as_mut_ptr());
        let class = &raw mut world.class;
        for (attribute, kind) in world.template.iter_mut().zip(kinds) {
            attribute.type_ = kind;
            (attribute.pValue, attribute.ulValueLen) = match kind {
                CKA_CLASS => (class.cast(), 8),
                CKA_LABEL | CKA_ID => (label.cast(), 16),
                _ => (secret.cast(), 32),
            };
        }
        world
    }

    fn room<T>(&mut self) -> *mut T {
        self.room.as_mut_ptr().cast()
    }
}

/// An argument of some type, with the canary wherever it can be.
pub(crate) trait Made {
    fn made(world: &mut World) -> Self;
}

impl Made for u64 {
    fn made(_: &mut World) -> Self {
        NUMBER
    }
}

impl Made for u8 {
    fn made(_: &mut World) -> Self {
        1
    }
}

impl Made for *mut u8 {
    fn made(world: &mut World) -> Self {
        world.secret.as_mut_ptr()
    }
}

impl Made for *mut c_void {
    fn made(world: &mut World) -> Self {
        world.secret.as_mut_ptr().cast()
    }
}

impl Made for *mut u64 {
    fn made(world: &mut World) -> Self {
        world.number = NUMBER;
        &raw mut world.number
    }
}

impl Made for *mut CK_MECHANISM {
    fn made(world: &mut World) -> Self {
        &raw mut world.mechanism
    }
}

impl Made for *mut CK_ATTRIBUTE {
    fn made(world: &mut World) -> Self {
        world.template.as_mut_ptr()
    }
}

impl Made for CK_NOTIFY {
    fn made(_: &mut World) -> Self {
        None
    }
}

macro_rules! in_the_room {
    ($($type:ty)*) => {
        $(
            impl Made for *mut $type {
                fn made(world: &mut World) -> Self {
                    world.room()
                }
            }
        )*
    };
}

in_the_room! {
    CK_INFO CK_SLOT_INFO CK_TOKEN_INFO CK_MECHANISM_INFO CK_SESSION_INFO CK_INTERFACE CK_VERSION CK_ASYNC_DATA
    *mut CK_FUNCTION_LIST *mut CK_INTERFACE
}

/// A function that was called: its name, the arguments it was given, what it answered. No answer if the table does
/// not have it.
pub(crate) struct Call {
    pub(crate) name: &'static str,
    pub(crate) given: Vec<usize>,
    pub(crate) answer: Option<CK_RV>,
}

macro_rules! all {
    ($($name:ident($($argument:ident: $type:ty),*) [$($captures:tt)*])*) => {
        /// Calls every function of a table.
        #[expect(unsafe_code, reason = "functions of C are called")]
        pub(crate) fn call_all(list: &CK_FUNCTION_LIST_3_2, world: &mut World, mut each: impl FnMut(Call)) {
            $(
                $(let $argument = <$type as Made>::made(world);)*
                // SAFETY: memory of the world, as much as the lengths say; the module behind does not write.
                let answer = list.$name.map(|function| unsafe { function($($argument),*) });
                each(Call { name: stringify!($name), given: vec![$($argument.word()),*], answer });
            )*
        }

        /// Whether a table has each function.
        pub(crate) fn present(list: &CK_FUNCTION_LIST_3_2) -> Vec<(&'static str, Option<usize>)> {
            vec![$((stringify!($name), list.$name.map(|function| function as usize))),*]
        }
    };
}

pkcs11_functions!(all);

macro_rules! symbols {
    ($($name:ident($($argument:ident: $type:ty),*) [$($captures:tt)*])*) => {
        /// The exported symbols as if they were a table.
        #[expect(unsafe_code, reason = "symbols of C are functions of the standard by their names")]
        pub(crate) fn by_symbol(library: crate::caller::Library) -> CK_FUNCTION_LIST_3_2 {
            CK_FUNCTION_LIST_3_2 {
                version: CK_VERSION { major: 3, minor: 2 },
                $(
                    // SAFETY: the function of this name, or null.
                    $name: unsafe {
                        std::mem::transmute::<*mut c_void, Option<unsafe extern "C" fn($($type),*) -> CK_RV>>(
                            library.symbol(&std::ffi::CString::new(stringify!($name)).unwrap()),
                        )
                    },
                )*
            }
        }
    };
}

pkcs11_functions!(symbols);

/// Calls with pointers that lead nowhere, as a module may refuse them without a look.
#[expect(unsafe_code, reason = "functions of C are called")]
pub(crate) fn call_with_nonsense(list: &CK_FUNCTION_LIST_3_2) {
    let nowhere = std::ptr::without_provenance_mut::<c_void>(0x10);
    // SAFETY: the module behind answers without reading its arguments, and the recorder must not read them either.
    unsafe {
        list.C_EncryptInit.unwrap()(9, nowhere.cast(), 1);
        list.C_CreateObject.unwrap()(9, nowhere.cast(), 3, nowhere.cast());
        list.C_Sign.unwrap()(9, nowhere.cast(), 3, nowhere.cast(), nowhere.cast());
        list.C_GetAttributeValue.unwrap()(9, 1, nowhere.cast(), 3);
    }
}
