//! `CKK_`: names of [`KeyType`]. Written by `generate.py` from the PKCS#11 3.2 header; not to be changed by hand.

use crate::KeyType;

/// Names and numbers, ascending; of several names of one number the first is the name.
pub(crate) static TABLE: [(&str, u64); 69] = [
    ("CKK_RSA", 0x0),
    ("CKK_DSA", 0x1),
    ("CKK_DH", 0x2),
    ("CKK_EC", 0x3),
    ("CKK_ECDSA", 0x3),
    ("CKK_X9_42_DH", 0x4),
    ("CKK_KEA", 0x5),
    ("CKK_GENERIC_SECRET", 0x10),
    ("CKK_RC2", 0x11),
    ("CKK_RC4", 0x12),
    ("CKK_DES", 0x13),
    ("CKK_DES2", 0x14),
    ("CKK_DES3", 0x15),
    ("CKK_CAST", 0x16),
    ("CKK_CAST3", 0x17),
    ("CKK_CAST128", 0x18),
    ("CKK_CAST5", 0x18),
    ("CKK_RC5", 0x19),
    ("CKK_IDEA", 0x1a),
    ("CKK_SKIPJACK", 0x1b),
    ("CKK_BATON", 0x1c),
    ("CKK_JUNIPER", 0x1d),
    ("CKK_CDMF", 0x1e),
    ("CKK_AES", 0x1f),
    ("CKK_BLOWFISH", 0x20),
    ("CKK_TWOFISH", 0x21),
    ("CKK_SECURID", 0x22),
    ("CKK_HOTP", 0x23),
    ("CKK_ACTI", 0x24),
    ("CKK_CAMELLIA", 0x25),
    ("CKK_ARIA", 0x26),
    ("CKK_MD5_HMAC", 0x27),
    ("CKK_SHA_1_HMAC", 0x28),
    ("CKK_RIPEMD128_HMAC", 0x29),
    ("CKK_RIPEMD160_HMAC", 0x2a),
    ("CKK_SHA256_HMAC", 0x2b),
    ("CKK_SHA384_HMAC", 0x2c),
    ("CKK_SHA512_HMAC", 0x2d),
    ("CKK_SHA224_HMAC", 0x2e),
    ("CKK_SEED", 0x2f),
    ("CKK_GOSTR3410", 0x30),
    ("CKK_GOSTR3411", 0x31),
    ("CKK_GOST28147", 0x32),
    ("CKK_CHACHA20", 0x33),
    ("CKK_POLY1305", 0x34),
    ("CKK_AES_XTS", 0x35),
    ("CKK_SHA3_224_HMAC", 0x36),
    ("CKK_SHA3_256_HMAC", 0x37),
    ("CKK_SHA3_384_HMAC", 0x38),
    ("CKK_SHA3_512_HMAC", 0x39),
    ("CKK_BLAKE2B_160_HMAC", 0x3a),
    ("CKK_BLAKE2B_256_HMAC", 0x3b),
    ("CKK_BLAKE2B_384_HMAC", 0x3c),
    ("CKK_BLAKE2B_512_HMAC", 0x3d),
    ("CKK_SALSA20", 0x3e),
    ("CKK_X2RATCHET", 0x3f),
    ("CKK_EC_EDWARDS", 0x40),
    ("CKK_EC_MONTGOMERY", 0x41),
    ("CKK_HKDF", 0x42),
    ("CKK_SHA512_224_HMAC", 0x43),
    ("CKK_SHA512_256_HMAC", 0x44),
    ("CKK_SHA512_T_HMAC", 0x45),
    ("CKK_HSS", 0x46),
    ("CKK_XMSS", 0x47),
    ("CKK_XMSSMT", 0x48),
    ("CKK_ML_KEM", 0x49),
    ("CKK_ML_DSA", 0x4a),
    ("CKK_SLH_DSA", 0x4b),
    ("CKK_VENDOR_DEFINED", 0x80000000),
];

impl KeyType {
    /// `CKK_RSA`.
    pub const RSA: Self = Self::new(0x0);
    /// `CKK_DSA`.
    pub const DSA: Self = Self::new(0x1);
    /// `CKK_DH`.
    pub const DH: Self = Self::new(0x2);
    /// `CKK_EC`.
    pub const EC: Self = Self::new(0x3);
    /// `CKK_ECDSA`, another name of `CKK_EC`.
    pub const ECDSA: Self = Self::new(0x3);
    /// `CKK_X9_42_DH`.
    pub const X9_42_DH: Self = Self::new(0x4);
    /// `CKK_KEA`.
    pub const KEA: Self = Self::new(0x5);
    /// `CKK_GENERIC_SECRET`.
    pub const GENERIC_SECRET: Self = Self::new(0x10);
    /// `CKK_RC2`.
    pub const RC2: Self = Self::new(0x11);
    /// `CKK_RC4`.
    pub const RC4: Self = Self::new(0x12);
    /// `CKK_DES`.
    pub const DES: Self = Self::new(0x13);
    /// `CKK_DES2`.
    pub const DES2: Self = Self::new(0x14);
    /// `CKK_DES3`.
    pub const DES3: Self = Self::new(0x15);
    /// `CKK_CAST`.
    pub const CAST: Self = Self::new(0x16);
    /// `CKK_CAST3`.
    pub const CAST3: Self = Self::new(0x17);
    /// `CKK_CAST128`.
    pub const CAST128: Self = Self::new(0x18);
    /// `CKK_CAST5`, another name of `CKK_CAST128`.
    pub const CAST5: Self = Self::new(0x18);
    /// `CKK_RC5`.
    pub const RC5: Self = Self::new(0x19);
    /// `CKK_IDEA`.
    pub const IDEA: Self = Self::new(0x1a);
    /// `CKK_SKIPJACK`.
    pub const SKIPJACK: Self = Self::new(0x1b);
    /// `CKK_BATON`.
    pub const BATON: Self = Self::new(0x1c);
    /// `CKK_JUNIPER`.
    pub const JUNIPER: Self = Self::new(0x1d);
    /// `CKK_CDMF`.
    pub const CDMF: Self = Self::new(0x1e);
    /// `CKK_AES`.
    pub const AES: Self = Self::new(0x1f);
    /// `CKK_BLOWFISH`.
    pub const BLOWFISH: Self = Self::new(0x20);
    /// `CKK_TWOFISH`.
    pub const TWOFISH: Self = Self::new(0x21);
    /// `CKK_SECURID`.
    pub const SECURID: Self = Self::new(0x22);
    /// `CKK_HOTP`.
    pub const HOTP: Self = Self::new(0x23);
    /// `CKK_ACTI`.
    pub const ACTI: Self = Self::new(0x24);
    /// `CKK_CAMELLIA`.
    pub const CAMELLIA: Self = Self::new(0x25);
    /// `CKK_ARIA`.
    pub const ARIA: Self = Self::new(0x26);
    /// `CKK_MD5_HMAC`.
    pub const MD5_HMAC: Self = Self::new(0x27);
    /// `CKK_SHA_1_HMAC`.
    pub const SHA_1_HMAC: Self = Self::new(0x28);
    /// `CKK_RIPEMD128_HMAC`.
    pub const RIPEMD128_HMAC: Self = Self::new(0x29);
    /// `CKK_RIPEMD160_HMAC`.
    pub const RIPEMD160_HMAC: Self = Self::new(0x2a);
    /// `CKK_SHA256_HMAC`.
    pub const SHA256_HMAC: Self = Self::new(0x2b);
    /// `CKK_SHA384_HMAC`.
    pub const SHA384_HMAC: Self = Self::new(0x2c);
    /// `CKK_SHA512_HMAC`.
    pub const SHA512_HMAC: Self = Self::new(0x2d);
    /// `CKK_SHA224_HMAC`.
    pub const SHA224_HMAC: Self = Self::new(0x2e);
    /// `CKK_SEED`.
    pub const SEED: Self = Self::new(0x2f);
    /// `CKK_GOSTR3410`.
    pub const GOSTR3410: Self = Self::new(0x30);
    /// `CKK_GOSTR3411`.
    pub const GOSTR3411: Self = Self::new(0x31);
    /// `CKK_GOST28147`.
    pub const GOST28147: Self = Self::new(0x32);
    /// `CKK_CHACHA20`.
    pub const CHACHA20: Self = Self::new(0x33);
    /// `CKK_POLY1305`.
    pub const POLY1305: Self = Self::new(0x34);
    /// `CKK_AES_XTS`.
    pub const AES_XTS: Self = Self::new(0x35);
    /// `CKK_SHA3_224_HMAC`.
    pub const SHA3_224_HMAC: Self = Self::new(0x36);
    /// `CKK_SHA3_256_HMAC`.
    pub const SHA3_256_HMAC: Self = Self::new(0x37);
    /// `CKK_SHA3_384_HMAC`.
    pub const SHA3_384_HMAC: Self = Self::new(0x38);
    /// `CKK_SHA3_512_HMAC`.
    pub const SHA3_512_HMAC: Self = Self::new(0x39);
    /// `CKK_BLAKE2B_160_HMAC`.
    pub const BLAKE2B_160_HMAC: Self = Self::new(0x3a);
    /// `CKK_BLAKE2B_256_HMAC`.
    pub const BLAKE2B_256_HMAC: Self = Self::new(0x3b);
    /// `CKK_BLAKE2B_384_HMAC`.
    pub const BLAKE2B_384_HMAC: Self = Self::new(0x3c);
    /// `CKK_BLAKE2B_512_HMAC`.
    pub const BLAKE2B_512_HMAC: Self = Self::new(0x3d);
    /// `CKK_SALSA20`.
    pub const SALSA20: Self = Self::new(0x3e);
    /// `CKK_X2RATCHET`.
    pub const X2RATCHET: Self = Self::new(0x3f);
    /// `CKK_EC_EDWARDS`.
    pub const EC_EDWARDS: Self = Self::new(0x40);
    /// `CKK_EC_MONTGOMERY`.
    pub const EC_MONTGOMERY: Self = Self::new(0x41);
    /// `CKK_HKDF`.
    pub const HKDF: Self = Self::new(0x42);
    /// `CKK_SHA512_224_HMAC`.
    pub const SHA512_224_HMAC: Self = Self::new(0x43);
    /// `CKK_SHA512_256_HMAC`.
    pub const SHA512_256_HMAC: Self = Self::new(0x44);
    /// `CKK_SHA512_T_HMAC`.
    pub const SHA512_T_HMAC: Self = Self::new(0x45);
    /// `CKK_HSS`.
    pub const HSS: Self = Self::new(0x46);
    /// `CKK_XMSS`.
    pub const XMSS: Self = Self::new(0x47);
    /// `CKK_XMSSMT`.
    pub const XMSSMT: Self = Self::new(0x48);
    /// `CKK_ML_KEM`.
    pub const ML_KEM: Self = Self::new(0x49);
    /// `CKK_ML_DSA`.
    pub const ML_DSA: Self = Self::new(0x4a);
    /// `CKK_SLH_DSA`.
    pub const SLH_DSA: Self = Self::new(0x4b);
    /// `CKK_VENDOR_DEFINED`.
    pub const VENDOR_DEFINED: Self = Self::new(0x80000000);
}
