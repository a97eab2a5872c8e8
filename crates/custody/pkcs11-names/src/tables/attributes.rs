//! `CKA_`: names of [`AttributeType`]. Written by `generate.py` from the PKCS#11 3.2 header; not to be changed by hand.

use crate::AttributeType;

/// Names and numbers, ascending; of several names of one number the first is the name.
pub(crate) static TABLE: [(&str, u64); 160] = [
    ("CKA_CLASS", 0x0),
    ("CKA_TOKEN", 0x1),
    ("CKA_PRIVATE", 0x2),
    ("CKA_LABEL", 0x3),
    ("CKA_UNIQUE_ID", 0x4),
    ("CKA_APPLICATION", 0x10),
    ("CKA_VALUE", 0x11),
    ("CKA_OBJECT_ID", 0x12),
    ("CKA_CERTIFICATE_TYPE", 0x80),
    ("CKA_ISSUER", 0x81),
    ("CKA_SERIAL_NUMBER", 0x82),
    ("CKA_AC_ISSUER", 0x83),
    ("CKA_OWNER", 0x84),
    ("CKA_ATTR_TYPES", 0x85),
    ("CKA_TRUSTED", 0x86),
    ("CKA_CERTIFICATE_CATEGORY", 0x87),
    ("CKA_JAVA_MIDP_SECURITY_DOMAIN", 0x88),
    ("CKA_URL", 0x89),
    ("CKA_HASH_OF_SUBJECT_PUBLIC_KEY", 0x8a),
    ("CKA_HASH_OF_ISSUER_PUBLIC_KEY", 0x8b),
    ("CKA_NAME_HASH_ALGORITHM", 0x8c),
    ("CKA_CHECK_VALUE", 0x90),
    ("CKA_KEY_TYPE", 0x100),
    ("CKA_SUBJECT", 0x101),
    ("CKA_ID", 0x102),
    ("CKA_SENSITIVE", 0x103),
    ("CKA_ENCRYPT", 0x104),
    ("CKA_DECRYPT", 0x105),
    ("CKA_WRAP", 0x106),
    ("CKA_UNWRAP", 0x107),
    ("CKA_SIGN", 0x108),
    ("CKA_SIGN_RECOVER", 0x109),
    ("CKA_VERIFY", 0x10a),
    ("CKA_VERIFY_RECOVER", 0x10b),
    ("CKA_DERIVE", 0x10c),
    ("CKA_START_DATE", 0x110),
    ("CKA_END_DATE", 0x111),
    ("CKA_MODULUS", 0x120),
    ("CKA_MODULUS_BITS", 0x121),
    ("CKA_PUBLIC_EXPONENT", 0x122),
    ("CKA_PRIVATE_EXPONENT", 0x123),
    ("CKA_PRIME_1", 0x124),
    ("CKA_PRIME_2", 0x125),
    ("CKA_EXPONENT_1", 0x126),
    ("CKA_EXPONENT_2", 0x127),
    ("CKA_COEFFICIENT", 0x128),
    ("CKA_PUBLIC_KEY_INFO", 0x129),
    ("CKA_PRIME", 0x130),
    ("CKA_SUBPRIME", 0x131),
    ("CKA_BASE", 0x132),
    ("CKA_PRIME_BITS", 0x133),
    ("CKA_SUBPRIME_BITS", 0x134),
    ("CKA_SUB_PRIME_BITS", 0x134),
    ("CKA_VALUE_BITS", 0x160),
    ("CKA_VALUE_LEN", 0x161),
    ("CKA_EXTRACTABLE", 0x162),
    ("CKA_LOCAL", 0x163),
    ("CKA_NEVER_EXTRACTABLE", 0x164),
    ("CKA_ALWAYS_SENSITIVE", 0x165),
    ("CKA_KEY_GEN_MECHANISM", 0x166),
    ("CKA_MODIFIABLE", 0x170),
    ("CKA_COPYABLE", 0x171),
    ("CKA_DESTROYABLE", 0x172),
    ("CKA_EC_PARAMS", 0x180),
    ("CKA_ECDSA_PARAMS", 0x180),
    ("CKA_EC_POINT", 0x181),
    ("CKA_SECONDARY_AUTH", 0x200),
    ("CKA_AUTH_PIN_FLAGS", 0x201),
    ("CKA_ALWAYS_AUTHENTICATE", 0x202),
    ("CKA_WRAP_WITH_TRUSTED", 0x210),
    ("CKA_OTP_FORMAT", 0x220),
    ("CKA_OTP_LENGTH", 0x221),
    ("CKA_OTP_TIME_INTERVAL", 0x222),
    ("CKA_OTP_USER_FRIENDLY_MODE", 0x223),
    ("CKA_OTP_CHALLENGE_REQUIREMENT", 0x224),
    ("CKA_OTP_TIME_REQUIREMENT", 0x225),
    ("CKA_OTP_COUNTER_REQUIREMENT", 0x226),
    ("CKA_OTP_PIN_REQUIREMENT", 0x227),
    ("CKA_OTP_USER_IDENTIFIER", 0x22a),
    ("CKA_OTP_SERVICE_IDENTIFIER", 0x22b),
    ("CKA_OTP_SERVICE_LOGO", 0x22c),
    ("CKA_OTP_SERVICE_LOGO_TYPE", 0x22d),
    ("CKA_OTP_COUNTER", 0x22e),
    ("CKA_OTP_TIME", 0x22f),
    ("CKA_GOSTR3410_PARAMS", 0x250),
    ("CKA_GOSTR3411_PARAMS", 0x251),
    ("CKA_GOST28147_PARAMS", 0x252),
    ("CKA_HW_FEATURE_TYPE", 0x300),
    ("CKA_RESET_ON_INIT", 0x301),
    ("CKA_HAS_RESET", 0x302),
    ("CKA_PIXEL_X", 0x400),
    ("CKA_PIXEL_Y", 0x401),
    ("CKA_RESOLUTION", 0x402),
    ("CKA_CHAR_ROWS", 0x403),
    ("CKA_CHAR_COLUMNS", 0x404),
    ("CKA_COLOR", 0x405),
    ("CKA_BITS_PER_PIXEL", 0x406),
    ("CKA_CHAR_SETS", 0x480),
    ("CKA_ENCODING_METHODS", 0x481),
    ("CKA_MIME_TYPES", 0x482),
    ("CKA_MECHANISM_TYPE", 0x500),
    ("CKA_REQUIRED_CMS_ATTRIBUTES", 0x501),
    ("CKA_DEFAULT_CMS_ATTRIBUTES", 0x502),
    ("CKA_SUPPORTED_CMS_ATTRIBUTES", 0x503),
    ("CKA_PROFILE_ID", 0x601),
    ("CKA_X2RATCHET_BAG", 0x602),
    ("CKA_X2RATCHET_BAGSIZE", 0x603),
    ("CKA_X2RATCHET_BOBS1STMSG", 0x604),
    ("CKA_X2RATCHET_CKR", 0x605),
    ("CKA_X2RATCHET_CKS", 0x606),
    ("CKA_X2RATCHET_DHP", 0x607),
    ("CKA_X2RATCHET_DHR", 0x608),
    ("CKA_X2RATCHET_DHS", 0x609),
    ("CKA_X2RATCHET_HKR", 0x60a),
    ("CKA_X2RATCHET_HKS", 0x60b),
    ("CKA_X2RATCHET_ISALICE", 0x60c),
    ("CKA_X2RATCHET_NHKR", 0x60d),
    ("CKA_X2RATCHET_NHKS", 0x60e),
    ("CKA_X2RATCHET_NR", 0x60f),
    ("CKA_X2RATCHET_NS", 0x610),
    ("CKA_X2RATCHET_PNS", 0x611),
    ("CKA_X2RATCHET_RK", 0x612),
    ("CKA_HSS_LEVELS", 0x617),
    ("CKA_HSS_LMS_TYPE", 0x618),
    ("CKA_HSS_LMOTS_TYPE", 0x619),
    ("CKA_HSS_LMS_TYPES", 0x61a),
    ("CKA_HSS_LMOTS_TYPES", 0x61b),
    ("CKA_HSS_KEYS_REMAINING", 0x61c),
    ("CKA_PARAMETER_SET", 0x61d),
    ("CKA_OBJECT_VALIDATION_FLAGS", 0x61e),
    ("CKA_VALIDATION_TYPE", 0x61f),
    ("CKA_VALIDATION_VERSION", 0x620),
    ("CKA_VALIDATION_LEVEL", 0x621),
    ("CKA_VALIDATION_MODULE_ID", 0x622),
    ("CKA_VALIDATION_FLAG", 0x623),
    ("CKA_VALIDATION_AUTHORITY_TYPE", 0x624),
    ("CKA_VALIDATION_COUNTRY", 0x625),
    ("CKA_VALIDATION_CERTIFICATE_IDENTIFIER", 0x626),
    ("CKA_VALIDATION_CERTIFICATE_URI", 0x627),
    ("CKA_VALIDATION_VENDOR_URI", 0x628),
    ("CKA_VALIDATION_PROFILE", 0x629),
    ("CKA_ENCAPSULATE_TEMPLATE", 0x62a),
    ("CKA_DECAPSULATE_TEMPLATE", 0x62b),
    ("CKA_TRUST_SERVER_AUTH", 0x62c),
    ("CKA_TRUST_CLIENT_AUTH", 0x62d),
    ("CKA_TRUST_CODE_SIGNING", 0x62e),
    ("CKA_TRUST_EMAIL_PROTECTION", 0x62f),
    ("CKA_TRUST_IPSEC_IKE", 0x630),
    ("CKA_TRUST_TIME_STAMPING", 0x631),
    ("CKA_TRUST_OCSP_SIGNING", 0x632),
    ("CKA_ENCAPSULATE", 0x633),
    ("CKA_DECAPSULATE", 0x634),
    ("CKA_HASH_OF_CERTIFICATE", 0x635),
    ("CKA_PUBLIC_CRC64_VALUE", 0x636),
    ("CKA_SEED", 0x637),
    ("CKA_WRAP_TEMPLATE", 0x40000211),
    ("CKA_UNWRAP_TEMPLATE", 0x40000212),
    ("CKA_DERIVE_TEMPLATE", 0x40000213),
    ("CKA_ALLOWED_MECHANISMS", 0x40000600),
    ("CKA_VENDOR_DEFINED", 0x80000000),
];

impl AttributeType {
    /// `CKA_CLASS`.
    pub const CLASS: Self = Self::new(0x0);
    /// `CKA_TOKEN`.
    pub const TOKEN: Self = Self::new(0x1);
    /// `CKA_PRIVATE`.
    pub const PRIVATE: Self = Self::new(0x2);
    /// `CKA_LABEL`.
    pub const LABEL: Self = Self::new(0x3);
    /// `CKA_UNIQUE_ID`.
    pub const UNIQUE_ID: Self = Self::new(0x4);
    /// `CKA_APPLICATION`.
    pub const APPLICATION: Self = Self::new(0x10);
    /// `CKA_VALUE`.
    pub const VALUE: Self = Self::new(0x11);
    /// `CKA_OBJECT_ID`.
    pub const OBJECT_ID: Self = Self::new(0x12);
    /// `CKA_CERTIFICATE_TYPE`.
    pub const CERTIFICATE_TYPE: Self = Self::new(0x80);
    /// `CKA_ISSUER`.
    pub const ISSUER: Self = Self::new(0x81);
    /// `CKA_SERIAL_NUMBER`.
    pub const SERIAL_NUMBER: Self = Self::new(0x82);
    /// `CKA_AC_ISSUER`.
    pub const AC_ISSUER: Self = Self::new(0x83);
    /// `CKA_OWNER`.
    pub const OWNER: Self = Self::new(0x84);
    /// `CKA_ATTR_TYPES`.
    pub const ATTR_TYPES: Self = Self::new(0x85);
    /// `CKA_TRUSTED`.
    pub const TRUSTED: Self = Self::new(0x86);
    /// `CKA_CERTIFICATE_CATEGORY`.
    pub const CERTIFICATE_CATEGORY: Self = Self::new(0x87);
    /// `CKA_JAVA_MIDP_SECURITY_DOMAIN`.
    pub const JAVA_MIDP_SECURITY_DOMAIN: Self = Self::new(0x88);
    /// `CKA_URL`.
    pub const URL: Self = Self::new(0x89);
    /// `CKA_HASH_OF_SUBJECT_PUBLIC_KEY`.
    pub const HASH_OF_SUBJECT_PUBLIC_KEY: Self = Self::new(0x8a);
    /// `CKA_HASH_OF_ISSUER_PUBLIC_KEY`.
    pub const HASH_OF_ISSUER_PUBLIC_KEY: Self = Self::new(0x8b);
    /// `CKA_NAME_HASH_ALGORITHM`.
    pub const NAME_HASH_ALGORITHM: Self = Self::new(0x8c);
    /// `CKA_CHECK_VALUE`.
    pub const CHECK_VALUE: Self = Self::new(0x90);
    /// `CKA_KEY_TYPE`.
    pub const KEY_TYPE: Self = Self::new(0x100);
    /// `CKA_SUBJECT`.
    pub const SUBJECT: Self = Self::new(0x101);
    /// `CKA_ID`.
    pub const ID: Self = Self::new(0x102);
    /// `CKA_SENSITIVE`.
    pub const SENSITIVE: Self = Self::new(0x103);
    /// `CKA_ENCRYPT`.
    pub const ENCRYPT: Self = Self::new(0x104);
    /// `CKA_DECRYPT`.
    pub const DECRYPT: Self = Self::new(0x105);
    /// `CKA_WRAP`.
    pub const WRAP: Self = Self::new(0x106);
    /// `CKA_UNWRAP`.
    pub const UNWRAP: Self = Self::new(0x107);
    /// `CKA_SIGN`.
    pub const SIGN: Self = Self::new(0x108);
    /// `CKA_SIGN_RECOVER`.
    pub const SIGN_RECOVER: Self = Self::new(0x109);
    /// `CKA_VERIFY`.
    pub const VERIFY: Self = Self::new(0x10a);
    /// `CKA_VERIFY_RECOVER`.
    pub const VERIFY_RECOVER: Self = Self::new(0x10b);
    /// `CKA_DERIVE`.
    pub const DERIVE: Self = Self::new(0x10c);
    /// `CKA_START_DATE`.
    pub const START_DATE: Self = Self::new(0x110);
    /// `CKA_END_DATE`.
    pub const END_DATE: Self = Self::new(0x111);
    /// `CKA_MODULUS`.
    pub const MODULUS: Self = Self::new(0x120);
    /// `CKA_MODULUS_BITS`.
    pub const MODULUS_BITS: Self = Self::new(0x121);
    /// `CKA_PUBLIC_EXPONENT`.
    pub const PUBLIC_EXPONENT: Self = Self::new(0x122);
    /// `CKA_PRIVATE_EXPONENT`.
    pub const PRIVATE_EXPONENT: Self = Self::new(0x123);
    /// `CKA_PRIME_1`.
    pub const PRIME_1: Self = Self::new(0x124);
    /// `CKA_PRIME_2`.
    pub const PRIME_2: Self = Self::new(0x125);
    /// `CKA_EXPONENT_1`.
    pub const EXPONENT_1: Self = Self::new(0x126);
    /// `CKA_EXPONENT_2`.
    pub const EXPONENT_2: Self = Self::new(0x127);
    /// `CKA_COEFFICIENT`.
    pub const COEFFICIENT: Self = Self::new(0x128);
    /// `CKA_PUBLIC_KEY_INFO`.
    pub const PUBLIC_KEY_INFO: Self = Self::new(0x129);
    /// `CKA_PRIME`.
    pub const PRIME: Self = Self::new(0x130);
    /// `CKA_SUBPRIME`.
    pub const SUBPRIME: Self = Self::new(0x131);
    /// `CKA_BASE`.
    pub const BASE: Self = Self::new(0x132);
    /// `CKA_PRIME_BITS`.
    pub const PRIME_BITS: Self = Self::new(0x133);
    /// `CKA_SUBPRIME_BITS`.
    pub const SUBPRIME_BITS: Self = Self::new(0x134);
    /// `CKA_SUB_PRIME_BITS`, another name of `CKA_SUBPRIME_BITS`.
    pub const SUB_PRIME_BITS: Self = Self::new(0x134);
    /// `CKA_VALUE_BITS`.
    pub const VALUE_BITS: Self = Self::new(0x160);
    /// `CKA_VALUE_LEN`.
    pub const VALUE_LEN: Self = Self::new(0x161);
    /// `CKA_EXTRACTABLE`.
    pub const EXTRACTABLE: Self = Self::new(0x162);
    /// `CKA_LOCAL`.
    pub const LOCAL: Self = Self::new(0x163);
    /// `CKA_NEVER_EXTRACTABLE`.
    pub const NEVER_EXTRACTABLE: Self = Self::new(0x164);
    /// `CKA_ALWAYS_SENSITIVE`.
    pub const ALWAYS_SENSITIVE: Self = Self::new(0x165);
    /// `CKA_KEY_GEN_MECHANISM`.
    pub const KEY_GEN_MECHANISM: Self = Self::new(0x166);
    /// `CKA_MODIFIABLE`.
    pub const MODIFIABLE: Self = Self::new(0x170);
    /// `CKA_COPYABLE`.
    pub const COPYABLE: Self = Self::new(0x171);
    /// `CKA_DESTROYABLE`.
    pub const DESTROYABLE: Self = Self::new(0x172);
    /// `CKA_EC_PARAMS`.
    pub const EC_PARAMS: Self = Self::new(0x180);
    /// `CKA_ECDSA_PARAMS`, another name of `CKA_EC_PARAMS`.
    pub const ECDSA_PARAMS: Self = Self::new(0x180);
    /// `CKA_EC_POINT`.
    pub const EC_POINT: Self = Self::new(0x181);
    /// `CKA_SECONDARY_AUTH`.
    pub const SECONDARY_AUTH: Self = Self::new(0x200);
    /// `CKA_AUTH_PIN_FLAGS`.
    pub const AUTH_PIN_FLAGS: Self = Self::new(0x201);
    /// `CKA_ALWAYS_AUTHENTICATE`.
    pub const ALWAYS_AUTHENTICATE: Self = Self::new(0x202);
    /// `CKA_WRAP_WITH_TRUSTED`.
    pub const WRAP_WITH_TRUSTED: Self = Self::new(0x210);
    /// `CKA_OTP_FORMAT`.
    pub const OTP_FORMAT: Self = Self::new(0x220);
    /// `CKA_OTP_LENGTH`.
    pub const OTP_LENGTH: Self = Self::new(0x221);
    /// `CKA_OTP_TIME_INTERVAL`.
    pub const OTP_TIME_INTERVAL: Self = Self::new(0x222);
    /// `CKA_OTP_USER_FRIENDLY_MODE`.
    pub const OTP_USER_FRIENDLY_MODE: Self = Self::new(0x223);
    /// `CKA_OTP_CHALLENGE_REQUIREMENT`.
    pub const OTP_CHALLENGE_REQUIREMENT: Self = Self::new(0x224);
    /// `CKA_OTP_TIME_REQUIREMENT`.
    pub const OTP_TIME_REQUIREMENT: Self = Self::new(0x225);
    /// `CKA_OTP_COUNTER_REQUIREMENT`.
    pub const OTP_COUNTER_REQUIREMENT: Self = Self::new(0x226);
    /// `CKA_OTP_PIN_REQUIREMENT`.
    pub const OTP_PIN_REQUIREMENT: Self = Self::new(0x227);
    /// `CKA_OTP_USER_IDENTIFIER`.
    pub const OTP_USER_IDENTIFIER: Self = Self::new(0x22a);
    /// `CKA_OTP_SERVICE_IDENTIFIER`.
    pub const OTP_SERVICE_IDENTIFIER: Self = Self::new(0x22b);
    /// `CKA_OTP_SERVICE_LOGO`.
    pub const OTP_SERVICE_LOGO: Self = Self::new(0x22c);
    /// `CKA_OTP_SERVICE_LOGO_TYPE`.
    pub const OTP_SERVICE_LOGO_TYPE: Self = Self::new(0x22d);
    /// `CKA_OTP_COUNTER`.
    pub const OTP_COUNTER: Self = Self::new(0x22e);
    /// `CKA_OTP_TIME`.
    pub const OTP_TIME: Self = Self::new(0x22f);
    /// `CKA_GOSTR3410_PARAMS`.
    pub const GOSTR3410_PARAMS: Self = Self::new(0x250);
    /// `CKA_GOSTR3411_PARAMS`.
    pub const GOSTR3411_PARAMS: Self = Self::new(0x251);
    /// `CKA_GOST28147_PARAMS`.
    pub const GOST28147_PARAMS: Self = Self::new(0x252);
    /// `CKA_HW_FEATURE_TYPE`.
    pub const HW_FEATURE_TYPE: Self = Self::new(0x300);
    /// `CKA_RESET_ON_INIT`.
    pub const RESET_ON_INIT: Self = Self::new(0x301);
    /// `CKA_HAS_RESET`.
    pub const HAS_RESET: Self = Self::new(0x302);
    /// `CKA_PIXEL_X`.
    pub const PIXEL_X: Self = Self::new(0x400);
    /// `CKA_PIXEL_Y`.
    pub const PIXEL_Y: Self = Self::new(0x401);
    /// `CKA_RESOLUTION`.
    pub const RESOLUTION: Self = Self::new(0x402);
    /// `CKA_CHAR_ROWS`.
    pub const CHAR_ROWS: Self = Self::new(0x403);
    /// `CKA_CHAR_COLUMNS`.
    pub const CHAR_COLUMNS: Self = Self::new(0x404);
    /// `CKA_COLOR`.
    pub const COLOR: Self = Self::new(0x405);
    /// `CKA_BITS_PER_PIXEL`.
    pub const BITS_PER_PIXEL: Self = Self::new(0x406);
    /// `CKA_CHAR_SETS`.
    pub const CHAR_SETS: Self = Self::new(0x480);
    /// `CKA_ENCODING_METHODS`.
    pub const ENCODING_METHODS: Self = Self::new(0x481);
    /// `CKA_MIME_TYPES`.
    pub const MIME_TYPES: Self = Self::new(0x482);
    /// `CKA_MECHANISM_TYPE`.
    pub const MECHANISM_TYPE: Self = Self::new(0x500);
    /// `CKA_REQUIRED_CMS_ATTRIBUTES`.
    pub const REQUIRED_CMS_ATTRIBUTES: Self = Self::new(0x501);
    /// `CKA_DEFAULT_CMS_ATTRIBUTES`.
    pub const DEFAULT_CMS_ATTRIBUTES: Self = Self::new(0x502);
    /// `CKA_SUPPORTED_CMS_ATTRIBUTES`.
    pub const SUPPORTED_CMS_ATTRIBUTES: Self = Self::new(0x503);
    /// `CKA_PROFILE_ID`.
    pub const PROFILE_ID: Self = Self::new(0x601);
    /// `CKA_X2RATCHET_BAG`.
    pub const X2RATCHET_BAG: Self = Self::new(0x602);
    /// `CKA_X2RATCHET_BAGSIZE`.
    pub const X2RATCHET_BAGSIZE: Self = Self::new(0x603);
    /// `CKA_X2RATCHET_BOBS1STMSG`.
    pub const X2RATCHET_BOBS1STMSG: Self = Self::new(0x604);
    /// `CKA_X2RATCHET_CKR`.
    pub const X2RATCHET_CKR: Self = Self::new(0x605);
    /// `CKA_X2RATCHET_CKS`.
    pub const X2RATCHET_CKS: Self = Self::new(0x606);
    /// `CKA_X2RATCHET_DHP`.
    pub const X2RATCHET_DHP: Self = Self::new(0x607);
    /// `CKA_X2RATCHET_DHR`.
    pub const X2RATCHET_DHR: Self = Self::new(0x608);
    /// `CKA_X2RATCHET_DHS`.
    pub const X2RATCHET_DHS: Self = Self::new(0x609);
    /// `CKA_X2RATCHET_HKR`.
    pub const X2RATCHET_HKR: Self = Self::new(0x60a);
    /// `CKA_X2RATCHET_HKS`.
    pub const X2RATCHET_HKS: Self = Self::new(0x60b);
    /// `CKA_X2RATCHET_ISALICE`.
    pub const X2RATCHET_ISALICE: Self = Self::new(0x60c);
    /// `CKA_X2RATCHET_NHKR`.
    pub const X2RATCHET_NHKR: Self = Self::new(0x60d);
    /// `CKA_X2RATCHET_NHKS`.
    pub const X2RATCHET_NHKS: Self = Self::new(0x60e);
    /// `CKA_X2RATCHET_NR`.
    pub const X2RATCHET_NR: Self = Self::new(0x60f);
    /// `CKA_X2RATCHET_NS`.
    pub const X2RATCHET_NS: Self = Self::new(0x610);
    /// `CKA_X2RATCHET_PNS`.
    pub const X2RATCHET_PNS: Self = Self::new(0x611);
    /// `CKA_X2RATCHET_RK`.
    pub const X2RATCHET_RK: Self = Self::new(0x612);
    /// `CKA_HSS_LEVELS`.
    pub const HSS_LEVELS: Self = Self::new(0x617);
    /// `CKA_HSS_LMS_TYPE`.
    pub const HSS_LMS_TYPE: Self = Self::new(0x618);
    /// `CKA_HSS_LMOTS_TYPE`.
    pub const HSS_LMOTS_TYPE: Self = Self::new(0x619);
    /// `CKA_HSS_LMS_TYPES`.
    pub const HSS_LMS_TYPES: Self = Self::new(0x61a);
    /// `CKA_HSS_LMOTS_TYPES`.
    pub const HSS_LMOTS_TYPES: Self = Self::new(0x61b);
    /// `CKA_HSS_KEYS_REMAINING`.
    pub const HSS_KEYS_REMAINING: Self = Self::new(0x61c);
    /// `CKA_PARAMETER_SET`.
    pub const PARAMETER_SET: Self = Self::new(0x61d);
    /// `CKA_OBJECT_VALIDATION_FLAGS`.
    pub const OBJECT_VALIDATION_FLAGS: Self = Self::new(0x61e);
    /// `CKA_VALIDATION_TYPE`.
    pub const VALIDATION_TYPE: Self = Self::new(0x61f);
    /// `CKA_VALIDATION_VERSION`.
    pub const VALIDATION_VERSION: Self = Self::new(0x620);
    /// `CKA_VALIDATION_LEVEL`.
    pub const VALIDATION_LEVEL: Self = Self::new(0x621);
    /// `CKA_VALIDATION_MODULE_ID`.
    pub const VALIDATION_MODULE_ID: Self = Self::new(0x622);
    /// `CKA_VALIDATION_FLAG`.
    pub const VALIDATION_FLAG: Self = Self::new(0x623);
    /// `CKA_VALIDATION_AUTHORITY_TYPE`.
    pub const VALIDATION_AUTHORITY_TYPE: Self = Self::new(0x624);
    /// `CKA_VALIDATION_COUNTRY`.
    pub const VALIDATION_COUNTRY: Self = Self::new(0x625);
    /// `CKA_VALIDATION_CERTIFICATE_IDENTIFIER`.
    pub const VALIDATION_CERTIFICATE_IDENTIFIER: Self = Self::new(0x626);
    /// `CKA_VALIDATION_CERTIFICATE_URI`.
    pub const VALIDATION_CERTIFICATE_URI: Self = Self::new(0x627);
    /// `CKA_VALIDATION_VENDOR_URI`.
    pub const VALIDATION_VENDOR_URI: Self = Self::new(0x628);
    /// `CKA_VALIDATION_PROFILE`.
    pub const VALIDATION_PROFILE: Self = Self::new(0x629);
    /// `CKA_ENCAPSULATE_TEMPLATE`.
    pub const ENCAPSULATE_TEMPLATE: Self = Self::new(0x62a);
    /// `CKA_DECAPSULATE_TEMPLATE`.
    pub const DECAPSULATE_TEMPLATE: Self = Self::new(0x62b);
    /// `CKA_TRUST_SERVER_AUTH`.
    pub const TRUST_SERVER_AUTH: Self = Self::new(0x62c);
    /// `CKA_TRUST_CLIENT_AUTH`.
    pub const TRUST_CLIENT_AUTH: Self = Self::new(0x62d);
    /// `CKA_TRUST_CODE_SIGNING`.
    pub const TRUST_CODE_SIGNING: Self = Self::new(0x62e);
    /// `CKA_TRUST_EMAIL_PROTECTION`.
    pub const TRUST_EMAIL_PROTECTION: Self = Self::new(0x62f);
    /// `CKA_TRUST_IPSEC_IKE`.
    pub const TRUST_IPSEC_IKE: Self = Self::new(0x630);
    /// `CKA_TRUST_TIME_STAMPING`.
    pub const TRUST_TIME_STAMPING: Self = Self::new(0x631);
    /// `CKA_TRUST_OCSP_SIGNING`.
    pub const TRUST_OCSP_SIGNING: Self = Self::new(0x632);
    /// `CKA_ENCAPSULATE`.
    pub const ENCAPSULATE: Self = Self::new(0x633);
    /// `CKA_DECAPSULATE`.
    pub const DECAPSULATE: Self = Self::new(0x634);
    /// `CKA_HASH_OF_CERTIFICATE`.
    pub const HASH_OF_CERTIFICATE: Self = Self::new(0x635);
    /// `CKA_PUBLIC_CRC64_VALUE`.
    pub const PUBLIC_CRC64_VALUE: Self = Self::new(0x636);
    /// `CKA_SEED`.
    pub const SEED: Self = Self::new(0x637);
    /// `CKA_WRAP_TEMPLATE`.
    pub const WRAP_TEMPLATE: Self = Self::new(0x40000211);
    /// `CKA_UNWRAP_TEMPLATE`.
    pub const UNWRAP_TEMPLATE: Self = Self::new(0x40000212);
    /// `CKA_DERIVE_TEMPLATE`.
    pub const DERIVE_TEMPLATE: Self = Self::new(0x40000213);
    /// `CKA_ALLOWED_MECHANISMS`.
    pub const ALLOWED_MECHANISMS: Self = Self::new(0x40000600);
    /// `CKA_VENDOR_DEFINED`.
    pub const VENDOR_DEFINED: Self = Self::new(0x80000000);
}
