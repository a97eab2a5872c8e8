//! `CKR_`: names of [`ReturnCode`]. Written by `generate.py` from the PKCS#11 3.2 header; not to be changed by hand.

use crate::ReturnCode;

/// Names and numbers, ascending; of several names of one number the first is the name.
pub(crate) static TABLE: [(&str, u64); 105] = [
    ("CKR_OK", 0x0),
    ("CKR_CANCEL", 0x1),
    ("CKR_HOST_MEMORY", 0x2),
    ("CKR_SLOT_ID_INVALID", 0x3),
    ("CKR_GENERAL_ERROR", 0x5),
    ("CKR_FUNCTION_FAILED", 0x6),
    ("CKR_ARGUMENTS_BAD", 0x7),
    ("CKR_NO_EVENT", 0x8),
    ("CKR_NEED_TO_CREATE_THREADS", 0x9),
    ("CKR_CANT_LOCK", 0xa),
    ("CKR_ATTRIBUTE_READ_ONLY", 0x10),
    ("CKR_ATTRIBUTE_SENSITIVE", 0x11),
    ("CKR_ATTRIBUTE_TYPE_INVALID", 0x12),
    ("CKR_ATTRIBUTE_VALUE_INVALID", 0x13),
    ("CKR_ACTION_PROHIBITED", 0x1b),
    ("CKR_DATA_INVALID", 0x20),
    ("CKR_DATA_LEN_RANGE", 0x21),
    ("CKR_DEVICE_ERROR", 0x30),
    ("CKR_DEVICE_MEMORY", 0x31),
    ("CKR_DEVICE_REMOVED", 0x32),
    ("CKR_ENCRYPTED_DATA_INVALID", 0x40),
    ("CKR_ENCRYPTED_DATA_LEN_RANGE", 0x41),
    ("CKR_AEAD_DECRYPT_FAILED", 0x42),
    ("CKR_FUNCTION_CANCELED", 0x50),
    ("CKR_FUNCTION_NOT_PARALLEL", 0x51),
    ("CKR_FUNCTION_NOT_SUPPORTED", 0x54),
    ("CKR_KEY_HANDLE_INVALID", 0x60),
    ("CKR_KEY_SIZE_RANGE", 0x62),
    ("CKR_KEY_TYPE_INCONSISTENT", 0x63),
    ("CKR_KEY_NOT_NEEDED", 0x64),
    ("CKR_KEY_CHANGED", 0x65),
    ("CKR_KEY_NEEDED", 0x66),
    ("CKR_KEY_INDIGESTIBLE", 0x67),
    ("CKR_KEY_FUNCTION_NOT_PERMITTED", 0x68),
    ("CKR_KEY_NOT_WRAPPABLE", 0x69),
    ("CKR_KEY_UNEXTRACTABLE", 0x6a),
    ("CKR_MECHANISM_INVALID", 0x70),
    ("CKR_MECHANISM_PARAM_INVALID", 0x71),
    ("CKR_OBJECT_HANDLE_INVALID", 0x82),
    ("CKR_OPERATION_ACTIVE", 0x90),
    ("CKR_OPERATION_NOT_INITIALIZED", 0x91),
    ("CKR_PIN_INCORRECT", 0xa0),
    ("CKR_PIN_INVALID", 0xa1),
    ("CKR_PIN_LEN_RANGE", 0xa2),
    ("CKR_PIN_EXPIRED", 0xa3),
    ("CKR_PIN_LOCKED", 0xa4),
    ("CKR_SESSION_CLOSED", 0xb0),
    ("CKR_SESSION_COUNT", 0xb1),
    ("CKR_SESSION_HANDLE_INVALID", 0xb3),
    ("CKR_SESSION_PARALLEL_NOT_SUPPORTED", 0xb4),
    ("CKR_SESSION_READ_ONLY", 0xb5),
    ("CKR_SESSION_EXISTS", 0xb6),
    ("CKR_SESSION_READ_ONLY_EXISTS", 0xb7),
    ("CKR_SESSION_READ_WRITE_SO_EXISTS", 0xb8),
    ("CKR_SIGNATURE_INVALID", 0xc0),
    ("CKR_SIGNATURE_LEN_RANGE", 0xc1),
    ("CKR_TEMPLATE_INCOMPLETE", 0xd0),
    ("CKR_TEMPLATE_INCONSISTENT", 0xd1),
    ("CKR_TOKEN_NOT_PRESENT", 0xe0),
    ("CKR_TOKEN_NOT_RECOGNIZED", 0xe1),
    ("CKR_TOKEN_WRITE_PROTECTED", 0xe2),
    ("CKR_UNWRAPPING_KEY_HANDLE_INVALID", 0xf0),
    ("CKR_UNWRAPPING_KEY_SIZE_RANGE", 0xf1),
    ("CKR_UNWRAPPING_KEY_TYPE_INCONSISTENT", 0xf2),
    ("CKR_USER_ALREADY_LOGGED_IN", 0x100),
    ("CKR_USER_NOT_LOGGED_IN", 0x101),
    ("CKR_USER_PIN_NOT_INITIALIZED", 0x102),
    ("CKR_USER_TYPE_INVALID", 0x103),
    ("CKR_USER_ANOTHER_ALREADY_LOGGED_IN", 0x104),
    ("CKR_USER_TOO_MANY_TYPES", 0x105),
    ("CKR_WRAPPED_KEY_INVALID", 0x110),
    ("CKR_WRAPPED_KEY_LEN_RANGE", 0x112),
    ("CKR_WRAPPING_KEY_HANDLE_INVALID", 0x113),
    ("CKR_WRAPPING_KEY_SIZE_RANGE", 0x114),
    ("CKR_WRAPPING_KEY_TYPE_INCONSISTENT", 0x115),
    ("CKR_RANDOM_SEED_NOT_SUPPORTED", 0x120),
    ("CKR_RANDOM_NO_RNG", 0x121),
    ("CKR_DOMAIN_PARAMS_INVALID", 0x130),
    ("CKR_CURVE_NOT_SUPPORTED", 0x140),
    ("CKR_BUFFER_TOO_SMALL", 0x150),
    ("CKR_SAVED_STATE_INVALID", 0x160),
    ("CKR_INFORMATION_SENSITIVE", 0x170),
    ("CKR_STATE_UNSAVEABLE", 0x180),
    ("CKR_CRYPTOKI_NOT_INITIALIZED", 0x190),
    ("CKR_CRYPTOKI_ALREADY_INITIALIZED", 0x191),
    ("CKR_MUTEX_BAD", 0x1a0),
    ("CKR_MUTEX_NOT_LOCKED", 0x1a1),
    ("CKR_NEW_PIN_MODE", 0x1b0),
    ("CKR_NEXT_OTP", 0x1b1),
    ("CKR_EXCEEDED_MAX_ITERATIONS", 0x1b5),
    ("CKR_FIPS_SELF_TEST_FAILED", 0x1b6),
    ("CKR_LIBRARY_LOAD_FAILED", 0x1b7),
    ("CKR_PIN_TOO_WEAK", 0x1b8),
    ("CKR_PUBLIC_KEY_INVALID", 0x1b9),
    ("CKR_FUNCTION_REJECTED", 0x200),
    ("CKR_TOKEN_RESOURCE_EXCEEDED", 0x201),
    ("CKR_OPERATION_CANCEL_FAILED", 0x202),
    ("CKR_KEY_EXHAUSTED", 0x203),
    ("CKR_PENDING", 0x204),
    ("CKR_SESSION_ASYNC_NOT_SUPPORTED", 0x205),
    ("CKR_SEED_RANDOM_REQUIRED", 0x206),
    ("CKR_OPERATION_NOT_VALIDATED", 0x207),
    ("CKR_TOKEN_NOT_INITIALIZED", 0x208),
    ("CKR_PARAMETER_SET_NOT_SUPPORTED", 0x209),
    ("CKR_VENDOR_DEFINED", 0x80000000),
];

impl ReturnCode {
    /// `CKR_OK`.
    pub const OK: Self = Self::new(0x0);
    /// `CKR_CANCEL`.
    pub const CANCEL: Self = Self::new(0x1);
    /// `CKR_HOST_MEMORY`.
    pub const HOST_MEMORY: Self = Self::new(0x2);
    /// `CKR_SLOT_ID_INVALID`.
    pub const SLOT_ID_INVALID: Self = Self::new(0x3);
    /// `CKR_GENERAL_ERROR`.
    pub const GENERAL_ERROR: Self = Self::new(0x5);
    /// `CKR_FUNCTION_FAILED`.
    pub const FUNCTION_FAILED: Self = Self::new(0x6);
    /// `CKR_ARGUMENTS_BAD`.
    pub const ARGUMENTS_BAD: Self = Self::new(0x7);
    /// `CKR_NO_EVENT`.
    pub const NO_EVENT: Self = Self::new(0x8);
    /// `CKR_NEED_TO_CREATE_THREADS`.
    pub const NEED_TO_CREATE_THREADS: Self = Self::new(0x9);
    /// `CKR_CANT_LOCK`.
    pub const CANT_LOCK: Self = Self::new(0xa);
    /// `CKR_ATTRIBUTE_READ_ONLY`.
    pub const ATTRIBUTE_READ_ONLY: Self = Self::new(0x10);
    /// `CKR_ATTRIBUTE_SENSITIVE`.
    pub const ATTRIBUTE_SENSITIVE: Self = Self::new(0x11);
    /// `CKR_ATTRIBUTE_TYPE_INVALID`.
    pub const ATTRIBUTE_TYPE_INVALID: Self = Self::new(0x12);
    /// `CKR_ATTRIBUTE_VALUE_INVALID`.
    pub const ATTRIBUTE_VALUE_INVALID: Self = Self::new(0x13);
    /// `CKR_ACTION_PROHIBITED`.
    pub const ACTION_PROHIBITED: Self = Self::new(0x1b);
    /// `CKR_DATA_INVALID`.
    pub const DATA_INVALID: Self = Self::new(0x20);
    /// `CKR_DATA_LEN_RANGE`.
    pub const DATA_LEN_RANGE: Self = Self::new(0x21);
    /// `CKR_DEVICE_ERROR`.
    pub const DEVICE_ERROR: Self = Self::new(0x30);
    /// `CKR_DEVICE_MEMORY`.
    pub const DEVICE_MEMORY: Self = Self::new(0x31);
    /// `CKR_DEVICE_REMOVED`.
    pub const DEVICE_REMOVED: Self = Self::new(0x32);
    /// `CKR_ENCRYPTED_DATA_INVALID`.
    pub const ENCRYPTED_DATA_INVALID: Self = Self::new(0x40);
    /// `CKR_ENCRYPTED_DATA_LEN_RANGE`.
    pub const ENCRYPTED_DATA_LEN_RANGE: Self = Self::new(0x41);
    /// `CKR_AEAD_DECRYPT_FAILED`.
    pub const AEAD_DECRYPT_FAILED: Self = Self::new(0x42);
    /// `CKR_FUNCTION_CANCELED`.
    pub const FUNCTION_CANCELED: Self = Self::new(0x50);
    /// `CKR_FUNCTION_NOT_PARALLEL`.
    pub const FUNCTION_NOT_PARALLEL: Self = Self::new(0x51);
    /// `CKR_FUNCTION_NOT_SUPPORTED`.
    pub const FUNCTION_NOT_SUPPORTED: Self = Self::new(0x54);
    /// `CKR_KEY_HANDLE_INVALID`.
    pub const KEY_HANDLE_INVALID: Self = Self::new(0x60);
    /// `CKR_KEY_SIZE_RANGE`.
    pub const KEY_SIZE_RANGE: Self = Self::new(0x62);
    /// `CKR_KEY_TYPE_INCONSISTENT`.
    pub const KEY_TYPE_INCONSISTENT: Self = Self::new(0x63);
    /// `CKR_KEY_NOT_NEEDED`.
    pub const KEY_NOT_NEEDED: Self = Self::new(0x64);
    /// `CKR_KEY_CHANGED`.
    pub const KEY_CHANGED: Self = Self::new(0x65);
    /// `CKR_KEY_NEEDED`.
    pub const KEY_NEEDED: Self = Self::new(0x66);
    /// `CKR_KEY_INDIGESTIBLE`.
    pub const KEY_INDIGESTIBLE: Self = Self::new(0x67);
    /// `CKR_KEY_FUNCTION_NOT_PERMITTED`.
    pub const KEY_FUNCTION_NOT_PERMITTED: Self = Self::new(0x68);
    /// `CKR_KEY_NOT_WRAPPABLE`.
    pub const KEY_NOT_WRAPPABLE: Self = Self::new(0x69);
    /// `CKR_KEY_UNEXTRACTABLE`.
    pub const KEY_UNEXTRACTABLE: Self = Self::new(0x6a);
    /// `CKR_MECHANISM_INVALID`.
    pub const MECHANISM_INVALID: Self = Self::new(0x70);
    /// `CKR_MECHANISM_PARAM_INVALID`.
    pub const MECHANISM_PARAM_INVALID: Self = Self::new(0x71);
    /// `CKR_OBJECT_HANDLE_INVALID`.
    pub const OBJECT_HANDLE_INVALID: Self = Self::new(0x82);
    /// `CKR_OPERATION_ACTIVE`.
    pub const OPERATION_ACTIVE: Self = Self::new(0x90);
    /// `CKR_OPERATION_NOT_INITIALIZED`.
    pub const OPERATION_NOT_INITIALIZED: Self = Self::new(0x91);
    /// `CKR_PIN_INCORRECT`.
    pub const PIN_INCORRECT: Self = Self::new(0xa0);
    /// `CKR_PIN_INVALID`.
    pub const PIN_INVALID: Self = Self::new(0xa1);
    /// `CKR_PIN_LEN_RANGE`.
    pub const PIN_LEN_RANGE: Self = Self::new(0xa2);
    /// `CKR_PIN_EXPIRED`.
    pub const PIN_EXPIRED: Self = Self::new(0xa3);
    /// `CKR_PIN_LOCKED`.
    pub const PIN_LOCKED: Self = Self::new(0xa4);
    /// `CKR_SESSION_CLOSED`.
    pub const SESSION_CLOSED: Self = Self::new(0xb0);
    /// `CKR_SESSION_COUNT`.
    pub const SESSION_COUNT: Self = Self::new(0xb1);
    /// `CKR_SESSION_HANDLE_INVALID`.
    pub const SESSION_HANDLE_INVALID: Self = Self::new(0xb3);
    /// `CKR_SESSION_PARALLEL_NOT_SUPPORTED`.
    pub const SESSION_PARALLEL_NOT_SUPPORTED: Self = Self::new(0xb4);
    /// `CKR_SESSION_READ_ONLY`.
    pub const SESSION_READ_ONLY: Self = Self::new(0xb5);
    /// `CKR_SESSION_EXISTS`.
    pub const SESSION_EXISTS: Self = Self::new(0xb6);
    /// `CKR_SESSION_READ_ONLY_EXISTS`.
    pub const SESSION_READ_ONLY_EXISTS: Self = Self::new(0xb7);
    /// `CKR_SESSION_READ_WRITE_SO_EXISTS`.
    pub const SESSION_READ_WRITE_SO_EXISTS: Self = Self::new(0xb8);
    /// `CKR_SIGNATURE_INVALID`.
    pub const SIGNATURE_INVALID: Self = Self::new(0xc0);
    /// `CKR_SIGNATURE_LEN_RANGE`.
    pub const SIGNATURE_LEN_RANGE: Self = Self::new(0xc1);
    /// `CKR_TEMPLATE_INCOMPLETE`.
    pub const TEMPLATE_INCOMPLETE: Self = Self::new(0xd0);
    /// `CKR_TEMPLATE_INCONSISTENT`.
    pub const TEMPLATE_INCONSISTENT: Self = Self::new(0xd1);
    /// `CKR_TOKEN_NOT_PRESENT`.
    pub const TOKEN_NOT_PRESENT: Self = Self::new(0xe0);
    /// `CKR_TOKEN_NOT_RECOGNIZED`.
    pub const TOKEN_NOT_RECOGNIZED: Self = Self::new(0xe1);
    /// `CKR_TOKEN_WRITE_PROTECTED`.
    pub const TOKEN_WRITE_PROTECTED: Self = Self::new(0xe2);
    /// `CKR_UNWRAPPING_KEY_HANDLE_INVALID`.
    pub const UNWRAPPING_KEY_HANDLE_INVALID: Self = Self::new(0xf0);
    /// `CKR_UNWRAPPING_KEY_SIZE_RANGE`.
    pub const UNWRAPPING_KEY_SIZE_RANGE: Self = Self::new(0xf1);
    /// `CKR_UNWRAPPING_KEY_TYPE_INCONSISTENT`.
    pub const UNWRAPPING_KEY_TYPE_INCONSISTENT: Self = Self::new(0xf2);
    /// `CKR_USER_ALREADY_LOGGED_IN`.
    pub const USER_ALREADY_LOGGED_IN: Self = Self::new(0x100);
    /// `CKR_USER_NOT_LOGGED_IN`.
    pub const USER_NOT_LOGGED_IN: Self = Self::new(0x101);
    /// `CKR_USER_PIN_NOT_INITIALIZED`.
    pub const USER_PIN_NOT_INITIALIZED: Self = Self::new(0x102);
    /// `CKR_USER_TYPE_INVALID`.
    pub const USER_TYPE_INVALID: Self = Self::new(0x103);
    /// `CKR_USER_ANOTHER_ALREADY_LOGGED_IN`.
    pub const USER_ANOTHER_ALREADY_LOGGED_IN: Self = Self::new(0x104);
    /// `CKR_USER_TOO_MANY_TYPES`.
    pub const USER_TOO_MANY_TYPES: Self = Self::new(0x105);
    /// `CKR_WRAPPED_KEY_INVALID`.
    pub const WRAPPED_KEY_INVALID: Self = Self::new(0x110);
    /// `CKR_WRAPPED_KEY_LEN_RANGE`.
    pub const WRAPPED_KEY_LEN_RANGE: Self = Self::new(0x112);
    /// `CKR_WRAPPING_KEY_HANDLE_INVALID`.
    pub const WRAPPING_KEY_HANDLE_INVALID: Self = Self::new(0x113);
    /// `CKR_WRAPPING_KEY_SIZE_RANGE`.
    pub const WRAPPING_KEY_SIZE_RANGE: Self = Self::new(0x114);
    /// `CKR_WRAPPING_KEY_TYPE_INCONSISTENT`.
    pub const WRAPPING_KEY_TYPE_INCONSISTENT: Self = Self::new(0x115);
    /// `CKR_RANDOM_SEED_NOT_SUPPORTED`.
    pub const RANDOM_SEED_NOT_SUPPORTED: Self = Self::new(0x120);
    /// `CKR_RANDOM_NO_RNG`.
    pub const RANDOM_NO_RNG: Self = Self::new(0x121);
    /// `CKR_DOMAIN_PARAMS_INVALID`.
    pub const DOMAIN_PARAMS_INVALID: Self = Self::new(0x130);
    /// `CKR_CURVE_NOT_SUPPORTED`.
    pub const CURVE_NOT_SUPPORTED: Self = Self::new(0x140);
    /// `CKR_BUFFER_TOO_SMALL`.
    pub const BUFFER_TOO_SMALL: Self = Self::new(0x150);
    /// `CKR_SAVED_STATE_INVALID`.
    pub const SAVED_STATE_INVALID: Self = Self::new(0x160);
    /// `CKR_INFORMATION_SENSITIVE`.
    pub const INFORMATION_SENSITIVE: Self = Self::new(0x170);
    /// `CKR_STATE_UNSAVEABLE`.
    pub const STATE_UNSAVEABLE: Self = Self::new(0x180);
    /// `CKR_CRYPTOKI_NOT_INITIALIZED`.
    pub const CRYPTOKI_NOT_INITIALIZED: Self = Self::new(0x190);
    /// `CKR_CRYPTOKI_ALREADY_INITIALIZED`.
    pub const CRYPTOKI_ALREADY_INITIALIZED: Self = Self::new(0x191);
    /// `CKR_MUTEX_BAD`.
    pub const MUTEX_BAD: Self = Self::new(0x1a0);
    /// `CKR_MUTEX_NOT_LOCKED`.
    pub const MUTEX_NOT_LOCKED: Self = Self::new(0x1a1);
    /// `CKR_NEW_PIN_MODE`.
    pub const NEW_PIN_MODE: Self = Self::new(0x1b0);
    /// `CKR_NEXT_OTP`.
    pub const NEXT_OTP: Self = Self::new(0x1b1);
    /// `CKR_EXCEEDED_MAX_ITERATIONS`.
    pub const EXCEEDED_MAX_ITERATIONS: Self = Self::new(0x1b5);
    /// `CKR_FIPS_SELF_TEST_FAILED`.
    pub const FIPS_SELF_TEST_FAILED: Self = Self::new(0x1b6);
    /// `CKR_LIBRARY_LOAD_FAILED`.
    pub const LIBRARY_LOAD_FAILED: Self = Self::new(0x1b7);
    /// `CKR_PIN_TOO_WEAK`.
    pub const PIN_TOO_WEAK: Self = Self::new(0x1b8);
    /// `CKR_PUBLIC_KEY_INVALID`.
    pub const PUBLIC_KEY_INVALID: Self = Self::new(0x1b9);
    /// `CKR_FUNCTION_REJECTED`.
    pub const FUNCTION_REJECTED: Self = Self::new(0x200);
    /// `CKR_TOKEN_RESOURCE_EXCEEDED`.
    pub const TOKEN_RESOURCE_EXCEEDED: Self = Self::new(0x201);
    /// `CKR_OPERATION_CANCEL_FAILED`.
    pub const OPERATION_CANCEL_FAILED: Self = Self::new(0x202);
    /// `CKR_KEY_EXHAUSTED`.
    pub const KEY_EXHAUSTED: Self = Self::new(0x203);
    /// `CKR_PENDING`.
    pub const PENDING: Self = Self::new(0x204);
    /// `CKR_SESSION_ASYNC_NOT_SUPPORTED`.
    pub const SESSION_ASYNC_NOT_SUPPORTED: Self = Self::new(0x205);
    /// `CKR_SEED_RANDOM_REQUIRED`.
    pub const SEED_RANDOM_REQUIRED: Self = Self::new(0x206);
    /// `CKR_OPERATION_NOT_VALIDATED`.
    pub const OPERATION_NOT_VALIDATED: Self = Self::new(0x207);
    /// `CKR_TOKEN_NOT_INITIALIZED`.
    pub const TOKEN_NOT_INITIALIZED: Self = Self::new(0x208);
    /// `CKR_PARAMETER_SET_NOT_SUPPORTED`.
    pub const PARAMETER_SET_NOT_SUPPORTED: Self = Self::new(0x209);
    /// `CKR_VENDOR_DEFINED`.
    pub const VENDOR_DEFINED: Self = Self::new(0x80000000);
}
