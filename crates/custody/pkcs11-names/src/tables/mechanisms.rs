//! `CKM_`: names of [`MechanismType`]. Written by `generate.py` from the PKCS#11 3.2 header; not to be changed by hand.

use crate::MechanismType;

/// Names and numbers, ascending; of several names of one number the first is the name.
pub(crate) static TABLE: [(&str, u64); 480] = [
    ("CKM_RSA_PKCS_KEY_PAIR_GEN", 0x0),
    ("CKM_RSA_PKCS", 0x1),
    ("CKM_RSA_9796", 0x2),
    ("CKM_RSA_X_509", 0x3),
    ("CKM_MD2_RSA_PKCS", 0x4),
    ("CKM_MD5_RSA_PKCS", 0x5),
    ("CKM_SHA1_RSA_PKCS", 0x6),
    ("CKM_RIPEMD128_RSA_PKCS", 0x7),
    ("CKM_RIPEMD160_RSA_PKCS", 0x8),
    ("CKM_RSA_PKCS_OAEP", 0x9),
    ("CKM_RSA_X9_31_KEY_PAIR_GEN", 0xa),
    ("CKM_RSA_X9_31", 0xb),
    ("CKM_SHA1_RSA_X9_31", 0xc),
    ("CKM_RSA_PKCS_PSS", 0xd),
    ("CKM_SHA1_RSA_PKCS_PSS", 0xe),
    ("CKM_ML_KEM_KEY_PAIR_GEN", 0xf),
    ("CKM_DSA_KEY_PAIR_GEN", 0x10),
    ("CKM_DSA", 0x11),
    ("CKM_DSA_SHA1", 0x12),
    ("CKM_DSA_SHA224", 0x13),
    ("CKM_DSA_SHA256", 0x14),
    ("CKM_DSA_SHA384", 0x15),
    ("CKM_DSA_SHA512", 0x16),
    ("CKM_ML_KEM", 0x17),
    ("CKM_DSA_SHA3_224", 0x18),
    ("CKM_DSA_SHA3_256", 0x19),
    ("CKM_DSA_SHA3_384", 0x1a),
    ("CKM_DSA_SHA3_512", 0x1b),
    ("CKM_ML_DSA_KEY_PAIR_GEN", 0x1c),
    ("CKM_ML_DSA", 0x1d),
    ("CKM_HASH_ML_DSA", 0x1f),
    ("CKM_DH_PKCS_KEY_PAIR_GEN", 0x20),
    ("CKM_DH_PKCS_DERIVE", 0x21),
    ("CKM_HASH_ML_DSA_SHA224", 0x23),
    ("CKM_HASH_ML_DSA_SHA256", 0x24),
    ("CKM_HASH_ML_DSA_SHA384", 0x25),
    ("CKM_HASH_ML_DSA_SHA512", 0x26),
    ("CKM_HASH_ML_DSA_SHA3_224", 0x27),
    ("CKM_HASH_ML_DSA_SHA3_256", 0x28),
    ("CKM_HASH_ML_DSA_SHA3_384", 0x29),
    ("CKM_HASH_ML_DSA_SHA3_512", 0x2a),
    ("CKM_HASH_ML_DSA_SHAKE128", 0x2b),
    ("CKM_HASH_ML_DSA_SHAKE256", 0x2c),
    ("CKM_SLH_DSA_KEY_PAIR_GEN", 0x2d),
    ("CKM_SLH_DSA", 0x2e),
    ("CKM_X9_42_DH_KEY_PAIR_GEN", 0x30),
    ("CKM_X9_42_DH_DERIVE", 0x31),
    ("CKM_X9_42_DH_HYBRID_DERIVE", 0x32),
    ("CKM_X9_42_MQV_DERIVE", 0x33),
    ("CKM_HASH_SLH_DSA", 0x34),
    ("CKM_HASH_SLH_DSA_SHA224", 0x36),
    ("CKM_HASH_SLH_DSA_SHA256", 0x37),
    ("CKM_HASH_SLH_DSA_SHA384", 0x38),
    ("CKM_HASH_SLH_DSA_SHA512", 0x39),
    ("CKM_HASH_SLH_DSA_SHA3_224", 0x3a),
    ("CKM_HASH_SLH_DSA_SHA3_256", 0x3b),
    ("CKM_HASH_SLH_DSA_SHA3_384", 0x3c),
    ("CKM_HASH_SLH_DSA_SHA3_512", 0x3d),
    ("CKM_HASH_SLH_DSA_SHAKE128", 0x3e),
    ("CKM_HASH_SLH_DSA_SHAKE256", 0x3f),
    ("CKM_SHA256_RSA_PKCS", 0x40),
    ("CKM_SHA384_RSA_PKCS", 0x41),
    ("CKM_SHA512_RSA_PKCS", 0x42),
    ("CKM_SHA256_RSA_PKCS_PSS", 0x43),
    ("CKM_SHA384_RSA_PKCS_PSS", 0x44),
    ("CKM_SHA512_RSA_PKCS_PSS", 0x45),
    ("CKM_SHA224_RSA_PKCS", 0x46),
    ("CKM_SHA224_RSA_PKCS_PSS", 0x47),
    ("CKM_SHA512_224", 0x48),
    ("CKM_SHA512_224_HMAC", 0x49),
    ("CKM_SHA512_224_HMAC_GENERAL", 0x4a),
    ("CKM_SHA512_224_KEY_DERIVATION", 0x4b),
    ("CKM_SHA512_256", 0x4c),
    ("CKM_SHA512_256_HMAC", 0x4d),
    ("CKM_SHA512_256_HMAC_GENERAL", 0x4e),
    ("CKM_SHA512_256_KEY_DERIVATION", 0x4f),
    ("CKM_SHA512_T", 0x50),
    ("CKM_SHA512_T_HMAC", 0x51),
    ("CKM_SHA512_T_HMAC_GENERAL", 0x52),
    ("CKM_SHA512_T_KEY_DERIVATION", 0x53),
    ("CKM_TLS12_EXTENDED_MASTER_KEY_DERIVE", 0x56),
    ("CKM_TLS12_EXTENDED_MASTER_KEY_DERIVE_DH", 0x57),
    ("CKM_SHA3_256_RSA_PKCS", 0x60),
    ("CKM_SHA3_384_RSA_PKCS", 0x61),
    ("CKM_SHA3_512_RSA_PKCS", 0x62),
    ("CKM_SHA3_256_RSA_PKCS_PSS", 0x63),
    ("CKM_SHA3_384_RSA_PKCS_PSS", 0x64),
    ("CKM_SHA3_512_RSA_PKCS_PSS", 0x65),
    ("CKM_SHA3_224_RSA_PKCS", 0x66),
    ("CKM_SHA3_224_RSA_PKCS_PSS", 0x67),
    ("CKM_RC2_KEY_GEN", 0x100),
    ("CKM_RC2_ECB", 0x101),
    ("CKM_RC2_CBC", 0x102),
    ("CKM_RC2_MAC", 0x103),
    ("CKM_RC2_MAC_GENERAL", 0x104),
    ("CKM_RC2_CBC_PAD", 0x105),
    ("CKM_RC4_KEY_GEN", 0x110),
    ("CKM_RC4", 0x111),
    ("CKM_DES_KEY_GEN", 0x120),
    ("CKM_DES_ECB", 0x121),
    ("CKM_DES_CBC", 0x122),
    ("CKM_DES_MAC", 0x123),
    ("CKM_DES_MAC_GENERAL", 0x124),
    ("CKM_DES_CBC_PAD", 0x125),
    ("CKM_DES2_KEY_GEN", 0x130),
    ("CKM_DES3_KEY_GEN", 0x131),
    ("CKM_DES3_ECB", 0x132),
    ("CKM_DES3_CBC", 0x133),
    ("CKM_DES3_MAC", 0x134),
    ("CKM_DES3_MAC_GENERAL", 0x135),
    ("CKM_DES3_CBC_PAD", 0x136),
    ("CKM_DES3_CMAC_GENERAL", 0x137),
    ("CKM_DES3_CMAC", 0x138),
    ("CKM_CDMF_KEY_GEN", 0x140),
    ("CKM_CDMF_ECB", 0x141),
    ("CKM_CDMF_CBC", 0x142),
    ("CKM_CDMF_MAC", 0x143),
    ("CKM_CDMF_MAC_GENERAL", 0x144),
    ("CKM_CDMF_CBC_PAD", 0x145),
    ("CKM_DES_OFB64", 0x150),
    ("CKM_DES_OFB8", 0x151),
    ("CKM_DES_CFB64", 0x152),
    ("CKM_DES_CFB8", 0x153),
    ("CKM_MD2", 0x200),
    ("CKM_MD2_HMAC", 0x201),
    ("CKM_MD2_HMAC_GENERAL", 0x202),
    ("CKM_MD5", 0x210),
    ("CKM_MD5_HMAC", 0x211),
    ("CKM_MD5_HMAC_GENERAL", 0x212),
    ("CKM_SHA_1", 0x220),
    ("CKM_SHA_1_HMAC", 0x221),
    ("CKM_SHA_1_HMAC_GENERAL", 0x222),
    ("CKM_RIPEMD128", 0x230),
    ("CKM_RIPEMD128_HMAC", 0x231),
    ("CKM_RIPEMD128_HMAC_GENERAL", 0x232),
    ("CKM_RIPEMD160", 0x240),
    ("CKM_RIPEMD160_HMAC", 0x241),
    ("CKM_RIPEMD160_HMAC_GENERAL", 0x242),
    ("CKM_SHA256", 0x250),
    ("CKM_SHA256_HMAC", 0x251),
    ("CKM_SHA256_HMAC_GENERAL", 0x252),
    ("CKM_SHA224", 0x255),
    ("CKM_SHA224_HMAC", 0x256),
    ("CKM_SHA224_HMAC_GENERAL", 0x257),
    ("CKM_SHA384", 0x260),
    ("CKM_SHA384_HMAC", 0x261),
    ("CKM_SHA384_HMAC_GENERAL", 0x262),
    ("CKM_SHA512", 0x270),
    ("CKM_SHA512_HMAC", 0x271),
    ("CKM_SHA512_HMAC_GENERAL", 0x272),
    ("CKM_SECURID_KEY_GEN", 0x280),
    ("CKM_SECURID", 0x282),
    ("CKM_HOTP_KEY_GEN", 0x290),
    ("CKM_HOTP", 0x291),
    ("CKM_ACTI", 0x2a0),
    ("CKM_ACTI_KEY_GEN", 0x2a1),
    ("CKM_SHA3_256", 0x2b0),
    ("CKM_SHA3_256_HMAC", 0x2b1),
    ("CKM_SHA3_256_HMAC_GENERAL", 0x2b2),
    ("CKM_SHA3_256_KEY_GEN", 0x2b3),
    ("CKM_SHA3_224", 0x2b5),
    ("CKM_SHA3_224_HMAC", 0x2b6),
    ("CKM_SHA3_224_HMAC_GENERAL", 0x2b7),
    ("CKM_SHA3_224_KEY_GEN", 0x2b8),
    ("CKM_SHA3_384", 0x2c0),
    ("CKM_SHA3_384_HMAC", 0x2c1),
    ("CKM_SHA3_384_HMAC_GENERAL", 0x2c2),
    ("CKM_SHA3_384_KEY_GEN", 0x2c3),
    ("CKM_SHA3_512", 0x2d0),
    ("CKM_SHA3_512_HMAC", 0x2d1),
    ("CKM_SHA3_512_HMAC_GENERAL", 0x2d2),
    ("CKM_SHA3_512_KEY_GEN", 0x2d3),
    ("CKM_CAST_KEY_GEN", 0x300),
    ("CKM_CAST_ECB", 0x301),
    ("CKM_CAST_CBC", 0x302),
    ("CKM_CAST_MAC", 0x303),
    ("CKM_CAST_MAC_GENERAL", 0x304),
    ("CKM_CAST_CBC_PAD", 0x305),
    ("CKM_CAST3_KEY_GEN", 0x310),
    ("CKM_CAST3_ECB", 0x311),
    ("CKM_CAST3_CBC", 0x312),
    ("CKM_CAST3_MAC", 0x313),
    ("CKM_CAST3_MAC_GENERAL", 0x314),
    ("CKM_CAST3_CBC_PAD", 0x315),
    ("CKM_CAST128_KEY_GEN", 0x320),
    ("CKM_CAST5_KEY_GEN", 0x320),
    ("CKM_CAST128_ECB", 0x321),
    ("CKM_CAST5_ECB", 0x321),
    ("CKM_CAST128_CBC", 0x322),
    ("CKM_CAST5_CBC", 0x322),
    ("CKM_CAST128_MAC", 0x323),
    ("CKM_CAST5_MAC", 0x323),
    ("CKM_CAST128_MAC_GENERAL", 0x324),
    ("CKM_CAST5_MAC_GENERAL", 0x324),
    ("CKM_CAST128_CBC_PAD", 0x325),
    ("CKM_CAST5_CBC_PAD", 0x325),
    ("CKM_RC5_KEY_GEN", 0x330),
    ("CKM_RC5_ECB", 0x331),
    ("CKM_RC5_CBC", 0x332),
    ("CKM_RC5_MAC", 0x333),
    ("CKM_RC5_MAC_GENERAL", 0x334),
    ("CKM_RC5_CBC_PAD", 0x335),
    ("CKM_IDEA_KEY_GEN", 0x340),
    ("CKM_IDEA_ECB", 0x341),
    ("CKM_IDEA_CBC", 0x342),
    ("CKM_IDEA_MAC", 0x343),
    ("CKM_IDEA_MAC_GENERAL", 0x344),
    ("CKM_IDEA_CBC_PAD", 0x345),
    ("CKM_GENERIC_SECRET_KEY_GEN", 0x350),
    ("CKM_CONCATENATE_BASE_AND_KEY", 0x360),
    ("CKM_CONCATENATE_BASE_AND_DATA", 0x362),
    ("CKM_CONCATENATE_DATA_AND_BASE", 0x363),
    ("CKM_XOR_BASE_AND_DATA", 0x364),
    ("CKM_EXTRACT_KEY_FROM_KEY", 0x365),
    ("CKM_SSL3_PRE_MASTER_KEY_GEN", 0x370),
    ("CKM_SSL3_MASTER_KEY_DERIVE", 0x371),
    ("CKM_SSL3_KEY_AND_MAC_DERIVE", 0x372),
    ("CKM_SSL3_MASTER_KEY_DERIVE_DH", 0x373),
    ("CKM_TLS_PRE_MASTER_KEY_GEN", 0x374),
    ("CKM_TLS_MASTER_KEY_DERIVE", 0x375),
    ("CKM_TLS_KEY_AND_MAC_DERIVE", 0x376),
    ("CKM_TLS_MASTER_KEY_DERIVE_DH", 0x377),
    ("CKM_TLS_PRF", 0x378),
    ("CKM_SSL3_MD5_MAC", 0x380),
    ("CKM_SSL3_SHA1_MAC", 0x381),
    ("CKM_MD5_KEY_DERIVATION", 0x390),
    ("CKM_MD2_KEY_DERIVATION", 0x391),
    ("CKM_SHA1_KEY_DERIVATION", 0x392),
    ("CKM_SHA256_KEY_DERIVATION", 0x393),
    ("CKM_SHA384_KEY_DERIVATION", 0x394),
    ("CKM_SHA512_KEY_DERIVATION", 0x395),
    ("CKM_SHA224_KEY_DERIVATION", 0x396),
    ("CKM_SHA3_256_KEY_DERIVATION", 0x397),
    ("CKM_SHA3_256_KEY_DERIVE", 0x397),
    ("CKM_SHA3_224_KEY_DERIVATION", 0x398),
    ("CKM_SHA3_224_KEY_DERIVE", 0x398),
    ("CKM_SHA3_384_KEY_DERIVATION", 0x399),
    ("CKM_SHA3_384_KEY_DERIVE", 0x399),
    ("CKM_SHA3_512_KEY_DERIVATION", 0x39a),
    ("CKM_SHA3_512_KEY_DERIVE", 0x39a),
    ("CKM_SHAKE_128_KEY_DERIVATION", 0x39b),
    ("CKM_SHAKE_128_KEY_DERIVE", 0x39b),
    ("CKM_SHAKE_256_KEY_DERIVATION", 0x39c),
    ("CKM_SHAKE_256_KEY_DERIVE", 0x39c),
    ("CKM_PBE_MD2_DES_CBC", 0x3a0),
    ("CKM_PBE_MD5_DES_CBC", 0x3a1),
    ("CKM_PBE_MD5_CAST_CBC", 0x3a2),
    ("CKM_PBE_MD5_CAST3_CBC", 0x3a3),
    ("CKM_PBE_MD5_CAST128_CBC", 0x3a4),
    ("CKM_PBE_MD5_CAST5_CBC", 0x3a4),
    ("CKM_PBE_SHA1_CAST128_CBC", 0x3a5),
    ("CKM_PBE_SHA1_CAST5_CBC", 0x3a5),
    ("CKM_PBE_SHA1_RC4_128", 0x3a6),
    ("CKM_PBE_SHA1_RC4_40", 0x3a7),
    ("CKM_PBE_SHA1_DES3_EDE_CBC", 0x3a8),
    ("CKM_PBE_SHA1_DES2_EDE_CBC", 0x3a9),
    ("CKM_PBE_SHA1_RC2_128_CBC", 0x3aa),
    ("CKM_PBE_SHA1_RC2_40_CBC", 0x3ab),
    ("CKM_SP800_108_COUNTER_KDF", 0x3ac),
    ("CKM_SP800_108_FEEDBACK_KDF", 0x3ad),
    ("CKM_SP800_108_DOUBLE_PIPELINE_KDF", 0x3ae),
    ("CKM_PKCS5_PBKD2", 0x3b0),
    ("CKM_PBA_SHA1_WITH_SHA1_HMAC", 0x3c0),
    ("CKM_WTLS_PRE_MASTER_KEY_GEN", 0x3d0),
    ("CKM_WTLS_MASTER_KEY_DERIVE", 0x3d1),
    ("CKM_WTLS_MASTER_KEY_DERIVE_DH_ECC", 0x3d2),
    ("CKM_WTLS_PRF", 0x3d3),
    ("CKM_WTLS_SERVER_KEY_AND_MAC_DERIVE", 0x3d4),
    ("CKM_WTLS_CLIENT_KEY_AND_MAC_DERIVE", 0x3d5),
    ("CKM_TLS10_MAC_SERVER", 0x3d6),
    ("CKM_TLS10_MAC_CLIENT", 0x3d7),
    ("CKM_TLS12_MAC", 0x3d8),
    ("CKM_TLS12_KDF", 0x3d9),
    ("CKM_TLS12_MASTER_KEY_DERIVE", 0x3e0),
    ("CKM_TLS12_KEY_AND_MAC_DERIVE", 0x3e1),
    ("CKM_TLS12_MASTER_KEY_DERIVE_DH", 0x3e2),
    ("CKM_TLS12_KEY_SAFE_DERIVE", 0x3e3),
    ("CKM_TLS_MAC", 0x3e4),
    ("CKM_TLS_KDF", 0x3e5),
    ("CKM_KEY_WRAP_LYNKS", 0x400),
    ("CKM_KEY_WRAP_SET_OAEP", 0x401),
    ("CKM_CMS_SIG", 0x500),
    ("CKM_KIP_DERIVE", 0x510),
    ("CKM_KIP_WRAP", 0x511),
    ("CKM_KIP_MAC", 0x512),
    ("CKM_CAMELLIA_KEY_GEN", 0x550),
    ("CKM_CAMELLIA_ECB", 0x551),
    ("CKM_CAMELLIA_CBC", 0x552),
    ("CKM_CAMELLIA_MAC", 0x553),
    ("CKM_CAMELLIA_MAC_GENERAL", 0x554),
    ("CKM_CAMELLIA_CBC_PAD", 0x555),
    ("CKM_CAMELLIA_ECB_ENCRYPT_DATA", 0x556),
    ("CKM_CAMELLIA_CBC_ENCRYPT_DATA", 0x557),
    ("CKM_CAMELLIA_CTR", 0x558),
    ("CKM_ARIA_KEY_GEN", 0x560),
    ("CKM_ARIA_ECB", 0x561),
    ("CKM_ARIA_CBC", 0x562),
    ("CKM_ARIA_MAC", 0x563),
    ("CKM_ARIA_MAC_GENERAL", 0x564),
    ("CKM_ARIA_CBC_PAD", 0x565),
    ("CKM_ARIA_ECB_ENCRYPT_DATA", 0x566),
    ("CKM_ARIA_CBC_ENCRYPT_DATA", 0x567),
    ("CKM_SEED_KEY_GEN", 0x650),
    ("CKM_SEED_ECB", 0x651),
    ("CKM_SEED_CBC", 0x652),
    ("CKM_SEED_MAC", 0x653),
    ("CKM_SEED_MAC_GENERAL", 0x654),
    ("CKM_SEED_CBC_PAD", 0x655),
    ("CKM_SEED_ECB_ENCRYPT_DATA", 0x656),
    ("CKM_SEED_CBC_ENCRYPT_DATA", 0x657),
    ("CKM_SKIPJACK_KEY_GEN", 0x1000),
    ("CKM_SKIPJACK_ECB64", 0x1001),
    ("CKM_SKIPJACK_CBC64", 0x1002),
    ("CKM_SKIPJACK_OFB64", 0x1003),
    ("CKM_SKIPJACK_CFB64", 0x1004),
    ("CKM_SKIPJACK_CFB32", 0x1005),
    ("CKM_SKIPJACK_CFB16", 0x1006),
    ("CKM_SKIPJACK_CFB8", 0x1007),
    ("CKM_SKIPJACK_WRAP", 0x1008),
    ("CKM_SKIPJACK_PRIVATE_WRAP", 0x1009),
    ("CKM_SKIPJACK_RELAYX", 0x100a),
    ("CKM_KEA_KEY_PAIR_GEN", 0x1010),
    ("CKM_KEA_KEY_DERIVE", 0x1011),
    ("CKM_KEA_DERIVE", 0x1012),
    ("CKM_FORTEZZA_TIMESTAMP", 0x1020),
    ("CKM_BATON_KEY_GEN", 0x1030),
    ("CKM_BATON_ECB128", 0x1031),
    ("CKM_BATON_ECB96", 0x1032),
    ("CKM_BATON_CBC128", 0x1033),
    ("CKM_BATON_COUNTER", 0x1034),
    ("CKM_BATON_SHUFFLE", 0x1035),
    ("CKM_BATON_WRAP", 0x1036),
    ("CKM_EC_KEY_PAIR_GEN", 0x1040),
    ("CKM_ECDSA_KEY_PAIR_GEN", 0x1040),
    ("CKM_ECDSA", 0x1041),
    ("CKM_ECDSA_SHA1", 0x1042),
    ("CKM_ECDSA_SHA224", 0x1043),
    ("CKM_ECDSA_SHA256", 0x1044),
    ("CKM_ECDSA_SHA384", 0x1045),
    ("CKM_ECDSA_SHA512", 0x1046),
    ("CKM_ECDSA_SHA3_224", 0x1047),
    ("CKM_ECDSA_SHA3_256", 0x1048),
    ("CKM_ECDSA_SHA3_384", 0x1049),
    ("CKM_ECDSA_SHA3_512", 0x104a),
    ("CKM_ECDH1_DERIVE", 0x1050),
    ("CKM_ECDH1_COFACTOR_DERIVE", 0x1051),
    ("CKM_ECMQV_DERIVE", 0x1052),
    ("CKM_ECDH_AES_KEY_WRAP", 0x1053),
    ("CKM_RSA_AES_KEY_WRAP", 0x1054),
    ("CKM_EC_EDWARDS_KEY_PAIR_GEN", 0x1055),
    ("CKM_EC_MONTGOMERY_KEY_PAIR_GEN", 0x1056),
    ("CKM_EDDSA", 0x1057),
    ("CKM_JUNIPER_KEY_GEN", 0x1060),
    ("CKM_JUNIPER_ECB128", 0x1061),
    ("CKM_JUNIPER_CBC128", 0x1062),
    ("CKM_JUNIPER_COUNTER", 0x1063),
    ("CKM_JUNIPER_SHUFFLE", 0x1064),
    ("CKM_JUNIPER_WRAP", 0x1065),
    ("CKM_FASTHASH", 0x1070),
    ("CKM_AES_XTS", 0x1071),
    ("CKM_AES_XTS_KEY_GEN", 0x1072),
    ("CKM_AES_KEY_GEN", 0x1080),
    ("CKM_AES_ECB", 0x1081),
    ("CKM_AES_CBC", 0x1082),
    ("CKM_AES_MAC", 0x1083),
    ("CKM_AES_MAC_GENERAL", 0x1084),
    ("CKM_AES_CBC_PAD", 0x1085),
    ("CKM_AES_CTR", 0x1086),
    ("CKM_AES_GCM", 0x1087),
    ("CKM_AES_CCM", 0x1088),
    ("CKM_AES_CTS", 0x1089),
    ("CKM_AES_CMAC", 0x108a),
    ("CKM_AES_CMAC_GENERAL", 0x108b),
    ("CKM_AES_XCBC_MAC", 0x108c),
    ("CKM_AES_XCBC_MAC_96", 0x108d),
    ("CKM_AES_GMAC", 0x108e),
    ("CKM_BLOWFISH_KEY_GEN", 0x1090),
    ("CKM_BLOWFISH_CBC", 0x1091),
    ("CKM_TWOFISH_KEY_GEN", 0x1092),
    ("CKM_TWOFISH_CBC", 0x1093),
    ("CKM_BLOWFISH_CBC_PAD", 0x1094),
    ("CKM_TWOFISH_CBC_PAD", 0x1095),
    ("CKM_DES_ECB_ENCRYPT_DATA", 0x1100),
    ("CKM_DES_CBC_ENCRYPT_DATA", 0x1101),
    ("CKM_DES3_ECB_ENCRYPT_DATA", 0x1102),
    ("CKM_DES3_CBC_ENCRYPT_DATA", 0x1103),
    ("CKM_AES_ECB_ENCRYPT_DATA", 0x1104),
    ("CKM_AES_CBC_ENCRYPT_DATA", 0x1105),
    ("CKM_GOSTR3410_KEY_PAIR_GEN", 0x1200),
    ("CKM_GOSTR3410", 0x1201),
    ("CKM_GOSTR3410_WITH_GOSTR3411", 0x1202),
    ("CKM_GOSTR3410_KEY_WRAP", 0x1203),
    ("CKM_GOSTR3410_DERIVE", 0x1204),
    ("CKM_GOSTR3411", 0x1210),
    ("CKM_GOSTR3411_HMAC", 0x1211),
    ("CKM_GOST28147_KEY_GEN", 0x1220),
    ("CKM_GOST28147_ECB", 0x1221),
    ("CKM_GOST28147", 0x1222),
    ("CKM_GOST28147_MAC", 0x1223),
    ("CKM_GOST28147_KEY_WRAP", 0x1224),
    ("CKM_CHACHA20_KEY_GEN", 0x1225),
    ("CKM_CHACHA20", 0x1226),
    ("CKM_POLY1305_KEY_GEN", 0x1227),
    ("CKM_POLY1305", 0x1228),
    ("CKM_EC_KEY_PAIR_GEN_W_EXTRA_BITS", 0x140b),
    ("CKM_DSA_PARAMETER_GEN", 0x2000),
    ("CKM_DH_PKCS_PARAMETER_GEN", 0x2001),
    ("CKM_X9_42_DH_PARAMETER_GEN", 0x2002),
    ("CKM_DSA_PROBABILISTIC_PARAMETER_GEN", 0x2003),
    ("CKM_DSA_PROBABLISTIC_PARAMETER_GEN", 0x2003),
    ("CKM_DSA_SHAWE_TAYLOR_PARAMETER_GEN", 0x2004),
    ("CKM_DSA_FIPS_G_GEN", 0x2005),
    ("CKM_AES_OFB", 0x2104),
    ("CKM_AES_CFB64", 0x2105),
    ("CKM_AES_CFB8", 0x2106),
    ("CKM_AES_CFB128", 0x2107),
    ("CKM_AES_CFB1", 0x2108),
    ("CKM_AES_KEY_WRAP", 0x2109),
    ("CKM_AES_KEY_WRAP_PAD", 0x210a),
    ("CKM_AES_KEY_WRAP_KWP", 0x210b),
    ("CKM_AES_KEY_WRAP_PKCS7", 0x210c),
    ("CKM_RSA_PKCS_TPM_1_1", 0x4001),
    ("CKM_RSA_PKCS_OAEP_TPM_1_1", 0x4002),
    ("CKM_SHA_1_KEY_GEN", 0x4003),
    ("CKM_SHA224_KEY_GEN", 0x4004),
    ("CKM_SHA256_KEY_GEN", 0x4005),
    ("CKM_SHA384_KEY_GEN", 0x4006),
    ("CKM_SHA512_KEY_GEN", 0x4007),
    ("CKM_SHA512_224_KEY_GEN", 0x4008),
    ("CKM_SHA512_256_KEY_GEN", 0x4009),
    ("CKM_SHA512_T_KEY_GEN", 0x400a),
    ("CKM_NULL", 0x400b),
    ("CKM_BLAKE2B_160", 0x400c),
    ("CKM_BLAKE2B_160_HMAC", 0x400d),
    ("CKM_BLAKE2B_160_HMAC_GENERAL", 0x400e),
    ("CKM_BLAKE2B_160_KEY_DERIVE", 0x400f),
    ("CKM_BLAKE2B_160_KEY_GEN", 0x4010),
    ("CKM_BLAKE2B_256", 0x4011),
    ("CKM_BLAKE2B_256_HMAC", 0x4012),
    ("CKM_BLAKE2B_256_HMAC_GENERAL", 0x4013),
    ("CKM_BLAKE2B_256_KEY_DERIVE", 0x4014),
    ("CKM_BLAKE2B_256_KEY_GEN", 0x4015),
    ("CKM_BLAKE2B_384", 0x4016),
    ("CKM_BLAKE2B_384_HMAC", 0x4017),
    ("CKM_BLAKE2B_384_HMAC_GENERAL", 0x4018),
    ("CKM_BLAKE2B_384_KEY_DERIVE", 0x4019),
    ("CKM_BLAKE2B_384_KEY_GEN", 0x401a),
    ("CKM_BLAKE2B_512", 0x401b),
    ("CKM_BLAKE2B_512_HMAC", 0x401c),
    ("CKM_BLAKE2B_512_HMAC_GENERAL", 0x401d),
    ("CKM_BLAKE2B_512_KEY_DERIVE", 0x401e),
    ("CKM_BLAKE2B_512_KEY_GEN", 0x401f),
    ("CKM_SALSA20", 0x4020),
    ("CKM_CHACHA20_POLY1305", 0x4021),
    ("CKM_SALSA20_POLY1305", 0x4022),
    ("CKM_X3DH_INITIALIZE", 0x4023),
    ("CKM_X3DH_RESPOND", 0x4024),
    ("CKM_X2RATCHET_INITIALIZE", 0x4025),
    ("CKM_X2RATCHET_RESPOND", 0x4026),
    ("CKM_X2RATCHET_ENCRYPT", 0x4027),
    ("CKM_X2RATCHET_DECRYPT", 0x4028),
    ("CKM_XEDDSA", 0x4029),
    ("CKM_HKDF_DERIVE", 0x402a),
    ("CKM_HKDF_DATA", 0x402b),
    ("CKM_HKDF_KEY_GEN", 0x402c),
    ("CKM_SALSA20_KEY_GEN", 0x402d),
    ("CKM_IKE2_PRF_PLUS_DERIVE", 0x402e),
    ("CKM_IKE_PRF_DERIVE", 0x402f),
    ("CKM_IKE1_PRF_DERIVE", 0x4030),
    ("CKM_IKE1_EXTENDED_DERIVE", 0x4031),
    ("CKM_HSS_KEY_PAIR_GEN", 0x4032),
    ("CKM_HSS", 0x4033),
    ("CKM_XMSS_KEY_PAIR_GEN", 0x4034),
    ("CKM_XMSSMT_KEY_PAIR_GEN", 0x4035),
    ("CKM_XMSS", 0x4036),
    ("CKM_XMSSMT", 0x4037),
    ("CKM_ECDH_X_AES_KEY_WRAP", 0x4038),
    ("CKM_ECDH_COF_AES_KEY_WRAP", 0x4039),
    ("CKM_PUB_KEY_FROM_PRIV_KEY", 0x403a),
    ("CKM_VENDOR_DEFINED", 0x80000000),
];

impl MechanismType {
    /// `CKM_RSA_PKCS_KEY_PAIR_GEN`.
    pub const RSA_PKCS_KEY_PAIR_GEN: Self = Self::new(0x0);
    /// `CKM_RSA_PKCS`.
    pub const RSA_PKCS: Self = Self::new(0x1);
    /// `CKM_RSA_9796`.
    pub const RSA_9796: Self = Self::new(0x2);
    /// `CKM_RSA_X_509`.
    pub const RSA_X_509: Self = Self::new(0x3);
    /// `CKM_MD2_RSA_PKCS`.
    pub const MD2_RSA_PKCS: Self = Self::new(0x4);
    /// `CKM_MD5_RSA_PKCS`.
    pub const MD5_RSA_PKCS: Self = Self::new(0x5);
    /// `CKM_SHA1_RSA_PKCS`.
    pub const SHA1_RSA_PKCS: Self = Self::new(0x6);
    /// `CKM_RIPEMD128_RSA_PKCS`.
    pub const RIPEMD128_RSA_PKCS: Self = Self::new(0x7);
    /// `CKM_RIPEMD160_RSA_PKCS`.
    pub const RIPEMD160_RSA_PKCS: Self = Self::new(0x8);
    /// `CKM_RSA_PKCS_OAEP`.
    pub const RSA_PKCS_OAEP: Self = Self::new(0x9);
    /// `CKM_RSA_X9_31_KEY_PAIR_GEN`.
    pub const RSA_X9_31_KEY_PAIR_GEN: Self = Self::new(0xa);
    /// `CKM_RSA_X9_31`.
    pub const RSA_X9_31: Self = Self::new(0xb);
    /// `CKM_SHA1_RSA_X9_31`.
    pub const SHA1_RSA_X9_31: Self = Self::new(0xc);
    /// `CKM_RSA_PKCS_PSS`.
    pub const RSA_PKCS_PSS: Self = Self::new(0xd);
    /// `CKM_SHA1_RSA_PKCS_PSS`.
    pub const SHA1_RSA_PKCS_PSS: Self = Self::new(0xe);
    /// `CKM_ML_KEM_KEY_PAIR_GEN`.
    pub const ML_KEM_KEY_PAIR_GEN: Self = Self::new(0xf);
    /// `CKM_DSA_KEY_PAIR_GEN`.
    pub const DSA_KEY_PAIR_GEN: Self = Self::new(0x10);
    /// `CKM_DSA`.
    pub const DSA: Self = Self::new(0x11);
    /// `CKM_DSA_SHA1`.
    pub const DSA_SHA1: Self = Self::new(0x12);
    /// `CKM_DSA_SHA224`.
    pub const DSA_SHA224: Self = Self::new(0x13);
    /// `CKM_DSA_SHA256`.
    pub const DSA_SHA256: Self = Self::new(0x14);
    /// `CKM_DSA_SHA384`.
    pub const DSA_SHA384: Self = Self::new(0x15);
    /// `CKM_DSA_SHA512`.
    pub const DSA_SHA512: Self = Self::new(0x16);
    /// `CKM_ML_KEM`.
    pub const ML_KEM: Self = Self::new(0x17);
    /// `CKM_DSA_SHA3_224`.
    pub const DSA_SHA3_224: Self = Self::new(0x18);
    /// `CKM_DSA_SHA3_256`.
    pub const DSA_SHA3_256: Self = Self::new(0x19);
    /// `CKM_DSA_SHA3_384`.
    pub const DSA_SHA3_384: Self = Self::new(0x1a);
    /// `CKM_DSA_SHA3_512`.
    pub const DSA_SHA3_512: Self = Self::new(0x1b);
    /// `CKM_ML_DSA_KEY_PAIR_GEN`.
    pub const ML_DSA_KEY_PAIR_GEN: Self = Self::new(0x1c);
    /// `CKM_ML_DSA`.
    pub const ML_DSA: Self = Self::new(0x1d);
    /// `CKM_HASH_ML_DSA`.
    pub const HASH_ML_DSA: Self = Self::new(0x1f);
    /// `CKM_DH_PKCS_KEY_PAIR_GEN`.
    pub const DH_PKCS_KEY_PAIR_GEN: Self = Self::new(0x20);
    /// `CKM_DH_PKCS_DERIVE`.
    pub const DH_PKCS_DERIVE: Self = Self::new(0x21);
    /// `CKM_HASH_ML_DSA_SHA224`.
    pub const HASH_ML_DSA_SHA224: Self = Self::new(0x23);
    /// `CKM_HASH_ML_DSA_SHA256`.
    pub const HASH_ML_DSA_SHA256: Self = Self::new(0x24);
    /// `CKM_HASH_ML_DSA_SHA384`.
    pub const HASH_ML_DSA_SHA384: Self = Self::new(0x25);
    /// `CKM_HASH_ML_DSA_SHA512`.
    pub const HASH_ML_DSA_SHA512: Self = Self::new(0x26);
    /// `CKM_HASH_ML_DSA_SHA3_224`.
    pub const HASH_ML_DSA_SHA3_224: Self = Self::new(0x27);
    /// `CKM_HASH_ML_DSA_SHA3_256`.
    pub const HASH_ML_DSA_SHA3_256: Self = Self::new(0x28);
    /// `CKM_HASH_ML_DSA_SHA3_384`.
    pub const HASH_ML_DSA_SHA3_384: Self = Self::new(0x29);
    /// `CKM_HASH_ML_DSA_SHA3_512`.
    pub const HASH_ML_DSA_SHA3_512: Self = Self::new(0x2a);
    /// `CKM_HASH_ML_DSA_SHAKE128`.
    pub const HASH_ML_DSA_SHAKE128: Self = Self::new(0x2b);
    /// `CKM_HASH_ML_DSA_SHAKE256`.
    pub const HASH_ML_DSA_SHAKE256: Self = Self::new(0x2c);
    /// `CKM_SLH_DSA_KEY_PAIR_GEN`.
    pub const SLH_DSA_KEY_PAIR_GEN: Self = Self::new(0x2d);
    /// `CKM_SLH_DSA`.
    pub const SLH_DSA: Self = Self::new(0x2e);
    /// `CKM_X9_42_DH_KEY_PAIR_GEN`.
    pub const X9_42_DH_KEY_PAIR_GEN: Self = Self::new(0x30);
    /// `CKM_X9_42_DH_DERIVE`.
    pub const X9_42_DH_DERIVE: Self = Self::new(0x31);
    /// `CKM_X9_42_DH_HYBRID_DERIVE`.
    pub const X9_42_DH_HYBRID_DERIVE: Self = Self::new(0x32);
    /// `CKM_X9_42_MQV_DERIVE`.
    pub const X9_42_MQV_DERIVE: Self = Self::new(0x33);
    /// `CKM_HASH_SLH_DSA`.
    pub const HASH_SLH_DSA: Self = Self::new(0x34);
    /// `CKM_HASH_SLH_DSA_SHA224`.
    pub const HASH_SLH_DSA_SHA224: Self = Self::new(0x36);
    /// `CKM_HASH_SLH_DSA_SHA256`.
    pub const HASH_SLH_DSA_SHA256: Self = Self::new(0x37);
    /// `CKM_HASH_SLH_DSA_SHA384`.
    pub const HASH_SLH_DSA_SHA384: Self = Self::new(0x38);
    /// `CKM_HASH_SLH_DSA_SHA512`.
    pub const HASH_SLH_DSA_SHA512: Self = Self::new(0x39);
    /// `CKM_HASH_SLH_DSA_SHA3_224`.
    pub const HASH_SLH_DSA_SHA3_224: Self = Self::new(0x3a);
    /// `CKM_HASH_SLH_DSA_SHA3_256`.
    pub const HASH_SLH_DSA_SHA3_256: Self = Self::new(0x3b);
    /// `CKM_HASH_SLH_DSA_SHA3_384`.
    pub const HASH_SLH_DSA_SHA3_384: Self = Self::new(0x3c);
    /// `CKM_HASH_SLH_DSA_SHA3_512`.
    pub const HASH_SLH_DSA_SHA3_512: Self = Self::new(0x3d);
    /// `CKM_HASH_SLH_DSA_SHAKE128`.
    pub const HASH_SLH_DSA_SHAKE128: Self = Self::new(0x3e);
    /// `CKM_HASH_SLH_DSA_SHAKE256`.
    pub const HASH_SLH_DSA_SHAKE256: Self = Self::new(0x3f);
    /// `CKM_SHA256_RSA_PKCS`.
    pub const SHA256_RSA_PKCS: Self = Self::new(0x40);
    /// `CKM_SHA384_RSA_PKCS`.
    pub const SHA384_RSA_PKCS: Self = Self::new(0x41);
    /// `CKM_SHA512_RSA_PKCS`.
    pub const SHA512_RSA_PKCS: Self = Self::new(0x42);
    /// `CKM_SHA256_RSA_PKCS_PSS`.
    pub const SHA256_RSA_PKCS_PSS: Self = Self::new(0x43);
    /// `CKM_SHA384_RSA_PKCS_PSS`.
    pub const SHA384_RSA_PKCS_PSS: Self = Self::new(0x44);
    /// `CKM_SHA512_RSA_PKCS_PSS`.
    pub const SHA512_RSA_PKCS_PSS: Self = Self::new(0x45);
    /// `CKM_SHA224_RSA_PKCS`.
    pub const SHA224_RSA_PKCS: Self = Self::new(0x46);
    /// `CKM_SHA224_RSA_PKCS_PSS`.
    pub const SHA224_RSA_PKCS_PSS: Self = Self::new(0x47);
    /// `CKM_SHA512_224`.
    pub const SHA512_224: Self = Self::new(0x48);
    /// `CKM_SHA512_224_HMAC`.
    pub const SHA512_224_HMAC: Self = Self::new(0x49);
    /// `CKM_SHA512_224_HMAC_GENERAL`.
    pub const SHA512_224_HMAC_GENERAL: Self = Self::new(0x4a);
    /// `CKM_SHA512_224_KEY_DERIVATION`.
    pub const SHA512_224_KEY_DERIVATION: Self = Self::new(0x4b);
    /// `CKM_SHA512_256`.
    pub const SHA512_256: Self = Self::new(0x4c);
    /// `CKM_SHA512_256_HMAC`.
    pub const SHA512_256_HMAC: Self = Self::new(0x4d);
    /// `CKM_SHA512_256_HMAC_GENERAL`.
    pub const SHA512_256_HMAC_GENERAL: Self = Self::new(0x4e);
    /// `CKM_SHA512_256_KEY_DERIVATION`.
    pub const SHA512_256_KEY_DERIVATION: Self = Self::new(0x4f);
    /// `CKM_SHA512_T`.
    pub const SHA512_T: Self = Self::new(0x50);
    /// `CKM_SHA512_T_HMAC`.
    pub const SHA512_T_HMAC: Self = Self::new(0x51);
    /// `CKM_SHA512_T_HMAC_GENERAL`.
    pub const SHA512_T_HMAC_GENERAL: Self = Self::new(0x52);
    /// `CKM_SHA512_T_KEY_DERIVATION`.
    pub const SHA512_T_KEY_DERIVATION: Self = Self::new(0x53);
    /// `CKM_TLS12_EXTENDED_MASTER_KEY_DERIVE`.
    pub const TLS12_EXTENDED_MASTER_KEY_DERIVE: Self = Self::new(0x56);
    /// `CKM_TLS12_EXTENDED_MASTER_KEY_DERIVE_DH`.
    pub const TLS12_EXTENDED_MASTER_KEY_DERIVE_DH: Self = Self::new(0x57);
    /// `CKM_SHA3_256_RSA_PKCS`.
    pub const SHA3_256_RSA_PKCS: Self = Self::new(0x60);
    /// `CKM_SHA3_384_RSA_PKCS`.
    pub const SHA3_384_RSA_PKCS: Self = Self::new(0x61);
    /// `CKM_SHA3_512_RSA_PKCS`.
    pub const SHA3_512_RSA_PKCS: Self = Self::new(0x62);
    /// `CKM_SHA3_256_RSA_PKCS_PSS`.
    pub const SHA3_256_RSA_PKCS_PSS: Self = Self::new(0x63);
    /// `CKM_SHA3_384_RSA_PKCS_PSS`.
    pub const SHA3_384_RSA_PKCS_PSS: Self = Self::new(0x64);
    /// `CKM_SHA3_512_RSA_PKCS_PSS`.
    pub const SHA3_512_RSA_PKCS_PSS: Self = Self::new(0x65);
    /// `CKM_SHA3_224_RSA_PKCS`.
    pub const SHA3_224_RSA_PKCS: Self = Self::new(0x66);
    /// `CKM_SHA3_224_RSA_PKCS_PSS`.
    pub const SHA3_224_RSA_PKCS_PSS: Self = Self::new(0x67);
    /// `CKM_RC2_KEY_GEN`.
    pub const RC2_KEY_GEN: Self = Self::new(0x100);
    /// `CKM_RC2_ECB`.
    pub const RC2_ECB: Self = Self::new(0x101);
    /// `CKM_RC2_CBC`.
    pub const RC2_CBC: Self = Self::new(0x102);
    /// `CKM_RC2_MAC`.
    pub const RC2_MAC: Self = Self::new(0x103);
    /// `CKM_RC2_MAC_GENERAL`.
    pub const RC2_MAC_GENERAL: Self = Self::new(0x104);
    /// `CKM_RC2_CBC_PAD`.
    pub const RC2_CBC_PAD: Self = Self::new(0x105);
    /// `CKM_RC4_KEY_GEN`.
    pub const RC4_KEY_GEN: Self = Self::new(0x110);
    /// `CKM_RC4`.
    pub const RC4: Self = Self::new(0x111);
    /// `CKM_DES_KEY_GEN`.
    pub const DES_KEY_GEN: Self = Self::new(0x120);
    /// `CKM_DES_ECB`.
    pub const DES_ECB: Self = Self::new(0x121);
    /// `CKM_DES_CBC`.
    pub const DES_CBC: Self = Self::new(0x122);
    /// `CKM_DES_MAC`.
    pub const DES_MAC: Self = Self::new(0x123);
    /// `CKM_DES_MAC_GENERAL`.
    pub const DES_MAC_GENERAL: Self = Self::new(0x124);
    /// `CKM_DES_CBC_PAD`.
    pub const DES_CBC_PAD: Self = Self::new(0x125);
    /// `CKM_DES2_KEY_GEN`.
    pub const DES2_KEY_GEN: Self = Self::new(0x130);
    /// `CKM_DES3_KEY_GEN`.
    pub const DES3_KEY_GEN: Self = Self::new(0x131);
    /// `CKM_DES3_ECB`.
    pub const DES3_ECB: Self = Self::new(0x132);
    /// `CKM_DES3_CBC`.
    pub const DES3_CBC: Self = Self::new(0x133);
    /// `CKM_DES3_MAC`.
    pub const DES3_MAC: Self = Self::new(0x134);
    /// `CKM_DES3_MAC_GENERAL`.
    pub const DES3_MAC_GENERAL: Self = Self::new(0x135);
    /// `CKM_DES3_CBC_PAD`.
    pub const DES3_CBC_PAD: Self = Self::new(0x136);
    /// `CKM_DES3_CMAC_GENERAL`.
    pub const DES3_CMAC_GENERAL: Self = Self::new(0x137);
    /// `CKM_DES3_CMAC`.
    pub const DES3_CMAC: Self = Self::new(0x138);
    /// `CKM_CDMF_KEY_GEN`.
    pub const CDMF_KEY_GEN: Self = Self::new(0x140);
    /// `CKM_CDMF_ECB`.
    pub const CDMF_ECB: Self = Self::new(0x141);
    /// `CKM_CDMF_CBC`.
    pub const CDMF_CBC: Self = Self::new(0x142);
    /// `CKM_CDMF_MAC`.
    pub const CDMF_MAC: Self = Self::new(0x143);
    /// `CKM_CDMF_MAC_GENERAL`.
    pub const CDMF_MAC_GENERAL: Self = Self::new(0x144);
    /// `CKM_CDMF_CBC_PAD`.
    pub const CDMF_CBC_PAD: Self = Self::new(0x145);
    /// `CKM_DES_OFB64`.
    pub const DES_OFB64: Self = Self::new(0x150);
    /// `CKM_DES_OFB8`.
    pub const DES_OFB8: Self = Self::new(0x151);
    /// `CKM_DES_CFB64`.
    pub const DES_CFB64: Self = Self::new(0x152);
    /// `CKM_DES_CFB8`.
    pub const DES_CFB8: Self = Self::new(0x153);
    /// `CKM_MD2`.
    pub const MD2: Self = Self::new(0x200);
    /// `CKM_MD2_HMAC`.
    pub const MD2_HMAC: Self = Self::new(0x201);
    /// `CKM_MD2_HMAC_GENERAL`.
    pub const MD2_HMAC_GENERAL: Self = Self::new(0x202);
    /// `CKM_MD5`.
    pub const MD5: Self = Self::new(0x210);
    /// `CKM_MD5_HMAC`.
    pub const MD5_HMAC: Self = Self::new(0x211);
    /// `CKM_MD5_HMAC_GENERAL`.
    pub const MD5_HMAC_GENERAL: Self = Self::new(0x212);
    /// `CKM_SHA_1`.
    pub const SHA_1: Self = Self::new(0x220);
    /// `CKM_SHA_1_HMAC`.
    pub const SHA_1_HMAC: Self = Self::new(0x221);
    /// `CKM_SHA_1_HMAC_GENERAL`.
    pub const SHA_1_HMAC_GENERAL: Self = Self::new(0x222);
    /// `CKM_RIPEMD128`.
    pub const RIPEMD128: Self = Self::new(0x230);
    /// `CKM_RIPEMD128_HMAC`.
    pub const RIPEMD128_HMAC: Self = Self::new(0x231);
    /// `CKM_RIPEMD128_HMAC_GENERAL`.
    pub const RIPEMD128_HMAC_GENERAL: Self = Self::new(0x232);
    /// `CKM_RIPEMD160`.
    pub const RIPEMD160: Self = Self::new(0x240);
    /// `CKM_RIPEMD160_HMAC`.
    pub const RIPEMD160_HMAC: Self = Self::new(0x241);
    /// `CKM_RIPEMD160_HMAC_GENERAL`.
    pub const RIPEMD160_HMAC_GENERAL: Self = Self::new(0x242);
    /// `CKM_SHA256`.
    pub const SHA256: Self = Self::new(0x250);
    /// `CKM_SHA256_HMAC`.
    pub const SHA256_HMAC: Self = Self::new(0x251);
    /// `CKM_SHA256_HMAC_GENERAL`.
    pub const SHA256_HMAC_GENERAL: Self = Self::new(0x252);
    /// `CKM_SHA224`.
    pub const SHA224: Self = Self::new(0x255);
    /// `CKM_SHA224_HMAC`.
    pub const SHA224_HMAC: Self = Self::new(0x256);
    /// `CKM_SHA224_HMAC_GENERAL`.
    pub const SHA224_HMAC_GENERAL: Self = Self::new(0x257);
    /// `CKM_SHA384`.
    pub const SHA384: Self = Self::new(0x260);
    /// `CKM_SHA384_HMAC`.
    pub const SHA384_HMAC: Self = Self::new(0x261);
    /// `CKM_SHA384_HMAC_GENERAL`.
    pub const SHA384_HMAC_GENERAL: Self = Self::new(0x262);
    /// `CKM_SHA512`.
    pub const SHA512: Self = Self::new(0x270);
    /// `CKM_SHA512_HMAC`.
    pub const SHA512_HMAC: Self = Self::new(0x271);
    /// `CKM_SHA512_HMAC_GENERAL`.
    pub const SHA512_HMAC_GENERAL: Self = Self::new(0x272);
    /// `CKM_SECURID_KEY_GEN`.
    pub const SECURID_KEY_GEN: Self = Self::new(0x280);
    /// `CKM_SECURID`.
    pub const SECURID: Self = Self::new(0x282);
    /// `CKM_HOTP_KEY_GEN`.
    pub const HOTP_KEY_GEN: Self = Self::new(0x290);
    /// `CKM_HOTP`.
    pub const HOTP: Self = Self::new(0x291);
    /// `CKM_ACTI`.
    pub const ACTI: Self = Self::new(0x2a0);
    /// `CKM_ACTI_KEY_GEN`.
    pub const ACTI_KEY_GEN: Self = Self::new(0x2a1);
    /// `CKM_SHA3_256`.
    pub const SHA3_256: Self = Self::new(0x2b0);
    /// `CKM_SHA3_256_HMAC`.
    pub const SHA3_256_HMAC: Self = Self::new(0x2b1);
    /// `CKM_SHA3_256_HMAC_GENERAL`.
    pub const SHA3_256_HMAC_GENERAL: Self = Self::new(0x2b2);
    /// `CKM_SHA3_256_KEY_GEN`.
    pub const SHA3_256_KEY_GEN: Self = Self::new(0x2b3);
    /// `CKM_SHA3_224`.
    pub const SHA3_224: Self = Self::new(0x2b5);
    /// `CKM_SHA3_224_HMAC`.
    pub const SHA3_224_HMAC: Self = Self::new(0x2b6);
    /// `CKM_SHA3_224_HMAC_GENERAL`.
    pub const SHA3_224_HMAC_GENERAL: Self = Self::new(0x2b7);
    /// `CKM_SHA3_224_KEY_GEN`.
    pub const SHA3_224_KEY_GEN: Self = Self::new(0x2b8);
    /// `CKM_SHA3_384`.
    pub const SHA3_384: Self = Self::new(0x2c0);
    /// `CKM_SHA3_384_HMAC`.
    pub const SHA3_384_HMAC: Self = Self::new(0x2c1);
    /// `CKM_SHA3_384_HMAC_GENERAL`.
    pub const SHA3_384_HMAC_GENERAL: Self = Self::new(0x2c2);
    /// `CKM_SHA3_384_KEY_GEN`.
    pub const SHA3_384_KEY_GEN: Self = Self::new(0x2c3);
    /// `CKM_SHA3_512`.
    pub const SHA3_512: Self = Self::new(0x2d0);
    /// `CKM_SHA3_512_HMAC`.
    pub const SHA3_512_HMAC: Self = Self::new(0x2d1);
    /// `CKM_SHA3_512_HMAC_GENERAL`.
    pub const SHA3_512_HMAC_GENERAL: Self = Self::new(0x2d2);
    /// `CKM_SHA3_512_KEY_GEN`.
    pub const SHA3_512_KEY_GEN: Self = Self::new(0x2d3);
    /// `CKM_CAST_KEY_GEN`.
    pub const CAST_KEY_GEN: Self = Self::new(0x300);
    /// `CKM_CAST_ECB`.
    pub const CAST_ECB: Self = Self::new(0x301);
    /// `CKM_CAST_CBC`.
    pub const CAST_CBC: Self = Self::new(0x302);
    /// `CKM_CAST_MAC`.
    pub const CAST_MAC: Self = Self::new(0x303);
    /// `CKM_CAST_MAC_GENERAL`.
    pub const CAST_MAC_GENERAL: Self = Self::new(0x304);
    /// `CKM_CAST_CBC_PAD`.
    pub const CAST_CBC_PAD: Self = Self::new(0x305);
    /// `CKM_CAST3_KEY_GEN`.
    pub const CAST3_KEY_GEN: Self = Self::new(0x310);
    /// `CKM_CAST3_ECB`.
    pub const CAST3_ECB: Self = Self::new(0x311);
    /// `CKM_CAST3_CBC`.
    pub const CAST3_CBC: Self = Self::new(0x312);
    /// `CKM_CAST3_MAC`.
    pub const CAST3_MAC: Self = Self::new(0x313);
    /// `CKM_CAST3_MAC_GENERAL`.
    pub const CAST3_MAC_GENERAL: Self = Self::new(0x314);
    /// `CKM_CAST3_CBC_PAD`.
    pub const CAST3_CBC_PAD: Self = Self::new(0x315);
    /// `CKM_CAST128_KEY_GEN`.
    pub const CAST128_KEY_GEN: Self = Self::new(0x320);
    /// `CKM_CAST5_KEY_GEN`, another name of `CKM_CAST128_KEY_GEN`.
    pub const CAST5_KEY_GEN: Self = Self::new(0x320);
    /// `CKM_CAST128_ECB`.
    pub const CAST128_ECB: Self = Self::new(0x321);
    /// `CKM_CAST5_ECB`, another name of `CKM_CAST128_ECB`.
    pub const CAST5_ECB: Self = Self::new(0x321);
    /// `CKM_CAST128_CBC`.
    pub const CAST128_CBC: Self = Self::new(0x322);
    /// `CKM_CAST5_CBC`, another name of `CKM_CAST128_CBC`.
    pub const CAST5_CBC: Self = Self::new(0x322);
    /// `CKM_CAST128_MAC`.
    pub const CAST128_MAC: Self = Self::new(0x323);
    /// `CKM_CAST5_MAC`, another name of `CKM_CAST128_MAC`.
    pub const CAST5_MAC: Self = Self::new(0x323);
    /// `CKM_CAST128_MAC_GENERAL`.
    pub const CAST128_MAC_GENERAL: Self = Self::new(0x324);
    /// `CKM_CAST5_MAC_GENERAL`, another name of `CKM_CAST128_MAC_GENERAL`.
    pub const CAST5_MAC_GENERAL: Self = Self::new(0x324);
    /// `CKM_CAST128_CBC_PAD`.
    pub const CAST128_CBC_PAD: Self = Self::new(0x325);
    /// `CKM_CAST5_CBC_PAD`, another name of `CKM_CAST128_CBC_PAD`.
    pub const CAST5_CBC_PAD: Self = Self::new(0x325);
    /// `CKM_RC5_KEY_GEN`.
    pub const RC5_KEY_GEN: Self = Self::new(0x330);
    /// `CKM_RC5_ECB`.
    pub const RC5_ECB: Self = Self::new(0x331);
    /// `CKM_RC5_CBC`.
    pub const RC5_CBC: Self = Self::new(0x332);
    /// `CKM_RC5_MAC`.
    pub const RC5_MAC: Self = Self::new(0x333);
    /// `CKM_RC5_MAC_GENERAL`.
    pub const RC5_MAC_GENERAL: Self = Self::new(0x334);
    /// `CKM_RC5_CBC_PAD`.
    pub const RC5_CBC_PAD: Self = Self::new(0x335);
    /// `CKM_IDEA_KEY_GEN`.
    pub const IDEA_KEY_GEN: Self = Self::new(0x340);
    /// `CKM_IDEA_ECB`.
    pub const IDEA_ECB: Self = Self::new(0x341);
    /// `CKM_IDEA_CBC`.
    pub const IDEA_CBC: Self = Self::new(0x342);
    /// `CKM_IDEA_MAC`.
    pub const IDEA_MAC: Self = Self::new(0x343);
    /// `CKM_IDEA_MAC_GENERAL`.
    pub const IDEA_MAC_GENERAL: Self = Self::new(0x344);
    /// `CKM_IDEA_CBC_PAD`.
    pub const IDEA_CBC_PAD: Self = Self::new(0x345);
    /// `CKM_GENERIC_SECRET_KEY_GEN`.
    pub const GENERIC_SECRET_KEY_GEN: Self = Self::new(0x350);
    /// `CKM_CONCATENATE_BASE_AND_KEY`.
    pub const CONCATENATE_BASE_AND_KEY: Self = Self::new(0x360);
    /// `CKM_CONCATENATE_BASE_AND_DATA`.
    pub const CONCATENATE_BASE_AND_DATA: Self = Self::new(0x362);
    /// `CKM_CONCATENATE_DATA_AND_BASE`.
    pub const CONCATENATE_DATA_AND_BASE: Self = Self::new(0x363);
    /// `CKM_XOR_BASE_AND_DATA`.
    pub const XOR_BASE_AND_DATA: Self = Self::new(0x364);
    /// `CKM_EXTRACT_KEY_FROM_KEY`.
    pub const EXTRACT_KEY_FROM_KEY: Self = Self::new(0x365);
    /// `CKM_SSL3_PRE_MASTER_KEY_GEN`.
    pub const SSL3_PRE_MASTER_KEY_GEN: Self = Self::new(0x370);
    /// `CKM_SSL3_MASTER_KEY_DERIVE`.
    pub const SSL3_MASTER_KEY_DERIVE: Self = Self::new(0x371);
    /// `CKM_SSL3_KEY_AND_MAC_DERIVE`.
    pub const SSL3_KEY_AND_MAC_DERIVE: Self = Self::new(0x372);
    /// `CKM_SSL3_MASTER_KEY_DERIVE_DH`.
    pub const SSL3_MASTER_KEY_DERIVE_DH: Self = Self::new(0x373);
    /// `CKM_TLS_PRE_MASTER_KEY_GEN`.
    pub const TLS_PRE_MASTER_KEY_GEN: Self = Self::new(0x374);
    /// `CKM_TLS_MASTER_KEY_DERIVE`.
    pub const TLS_MASTER_KEY_DERIVE: Self = Self::new(0x375);
    /// `CKM_TLS_KEY_AND_MAC_DERIVE`.
    pub const TLS_KEY_AND_MAC_DERIVE: Self = Self::new(0x376);
    /// `CKM_TLS_MASTER_KEY_DERIVE_DH`.
    pub const TLS_MASTER_KEY_DERIVE_DH: Self = Self::new(0x377);
    /// `CKM_TLS_PRF`.
    pub const TLS_PRF: Self = Self::new(0x378);
    /// `CKM_SSL3_MD5_MAC`.
    pub const SSL3_MD5_MAC: Self = Self::new(0x380);
    /// `CKM_SSL3_SHA1_MAC`.
    pub const SSL3_SHA1_MAC: Self = Self::new(0x381);
    /// `CKM_MD5_KEY_DERIVATION`.
    pub const MD5_KEY_DERIVATION: Self = Self::new(0x390);
    /// `CKM_MD2_KEY_DERIVATION`.
    pub const MD2_KEY_DERIVATION: Self = Self::new(0x391);
    /// `CKM_SHA1_KEY_DERIVATION`.
    pub const SHA1_KEY_DERIVATION: Self = Self::new(0x392);
    /// `CKM_SHA256_KEY_DERIVATION`.
    pub const SHA256_KEY_DERIVATION: Self = Self::new(0x393);
    /// `CKM_SHA384_KEY_DERIVATION`.
    pub const SHA384_KEY_DERIVATION: Self = Self::new(0x394);
    /// `CKM_SHA512_KEY_DERIVATION`.
    pub const SHA512_KEY_DERIVATION: Self = Self::new(0x395);
    /// `CKM_SHA224_KEY_DERIVATION`.
    pub const SHA224_KEY_DERIVATION: Self = Self::new(0x396);
    /// `CKM_SHA3_256_KEY_DERIVATION`.
    pub const SHA3_256_KEY_DERIVATION: Self = Self::new(0x397);
    /// `CKM_SHA3_256_KEY_DERIVE`, another name of `CKM_SHA3_256_KEY_DERIVATION`.
    pub const SHA3_256_KEY_DERIVE: Self = Self::new(0x397);
    /// `CKM_SHA3_224_KEY_DERIVATION`.
    pub const SHA3_224_KEY_DERIVATION: Self = Self::new(0x398);
    /// `CKM_SHA3_224_KEY_DERIVE`, another name of `CKM_SHA3_224_KEY_DERIVATION`.
    pub const SHA3_224_KEY_DERIVE: Self = Self::new(0x398);
    /// `CKM_SHA3_384_KEY_DERIVATION`.
    pub const SHA3_384_KEY_DERIVATION: Self = Self::new(0x399);
    /// `CKM_SHA3_384_KEY_DERIVE`, another name of `CKM_SHA3_384_KEY_DERIVATION`.
    pub const SHA3_384_KEY_DERIVE: Self = Self::new(0x399);
    /// `CKM_SHA3_512_KEY_DERIVATION`.
    pub const SHA3_512_KEY_DERIVATION: Self = Self::new(0x39a);
    /// `CKM_SHA3_512_KEY_DERIVE`, another name of `CKM_SHA3_512_KEY_DERIVATION`.
    pub const SHA3_512_KEY_DERIVE: Self = Self::new(0x39a);
    /// `CKM_SHAKE_128_KEY_DERIVATION`.
    pub const SHAKE_128_KEY_DERIVATION: Self = Self::new(0x39b);
    /// `CKM_SHAKE_128_KEY_DERIVE`, another name of `CKM_SHAKE_128_KEY_DERIVATION`.
    pub const SHAKE_128_KEY_DERIVE: Self = Self::new(0x39b);
    /// `CKM_SHAKE_256_KEY_DERIVATION`.
    pub const SHAKE_256_KEY_DERIVATION: Self = Self::new(0x39c);
    /// `CKM_SHAKE_256_KEY_DERIVE`, another name of `CKM_SHAKE_256_KEY_DERIVATION`.
    pub const SHAKE_256_KEY_DERIVE: Self = Self::new(0x39c);
    /// `CKM_PBE_MD2_DES_CBC`.
    pub const PBE_MD2_DES_CBC: Self = Self::new(0x3a0);
    /// `CKM_PBE_MD5_DES_CBC`.
    pub const PBE_MD5_DES_CBC: Self = Self::new(0x3a1);
    /// `CKM_PBE_MD5_CAST_CBC`.
    pub const PBE_MD5_CAST_CBC: Self = Self::new(0x3a2);
    /// `CKM_PBE_MD5_CAST3_CBC`.
    pub const PBE_MD5_CAST3_CBC: Self = Self::new(0x3a3);
    /// `CKM_PBE_MD5_CAST128_CBC`.
    pub const PBE_MD5_CAST128_CBC: Self = Self::new(0x3a4);
    /// `CKM_PBE_MD5_CAST5_CBC`, another name of `CKM_PBE_MD5_CAST128_CBC`.
    pub const PBE_MD5_CAST5_CBC: Self = Self::new(0x3a4);
    /// `CKM_PBE_SHA1_CAST128_CBC`.
    pub const PBE_SHA1_CAST128_CBC: Self = Self::new(0x3a5);
    /// `CKM_PBE_SHA1_CAST5_CBC`, another name of `CKM_PBE_SHA1_CAST128_CBC`.
    pub const PBE_SHA1_CAST5_CBC: Self = Self::new(0x3a5);
    /// `CKM_PBE_SHA1_RC4_128`.
    pub const PBE_SHA1_RC4_128: Self = Self::new(0x3a6);
    /// `CKM_PBE_SHA1_RC4_40`.
    pub const PBE_SHA1_RC4_40: Self = Self::new(0x3a7);
    /// `CKM_PBE_SHA1_DES3_EDE_CBC`.
    pub const PBE_SHA1_DES3_EDE_CBC: Self = Self::new(0x3a8);
    /// `CKM_PBE_SHA1_DES2_EDE_CBC`.
    pub const PBE_SHA1_DES2_EDE_CBC: Self = Self::new(0x3a9);
    /// `CKM_PBE_SHA1_RC2_128_CBC`.
    pub const PBE_SHA1_RC2_128_CBC: Self = Self::new(0x3aa);
    /// `CKM_PBE_SHA1_RC2_40_CBC`.
    pub const PBE_SHA1_RC2_40_CBC: Self = Self::new(0x3ab);
    /// `CKM_SP800_108_COUNTER_KDF`.
    pub const SP800_108_COUNTER_KDF: Self = Self::new(0x3ac);
    /// `CKM_SP800_108_FEEDBACK_KDF`.
    pub const SP800_108_FEEDBACK_KDF: Self = Self::new(0x3ad);
    /// `CKM_SP800_108_DOUBLE_PIPELINE_KDF`.
    pub const SP800_108_DOUBLE_PIPELINE_KDF: Self = Self::new(0x3ae);
    /// `CKM_PKCS5_PBKD2`.
    pub const PKCS5_PBKD2: Self = Self::new(0x3b0);
    /// `CKM_PBA_SHA1_WITH_SHA1_HMAC`.
    pub const PBA_SHA1_WITH_SHA1_HMAC: Self = Self::new(0x3c0);
    /// `CKM_WTLS_PRE_MASTER_KEY_GEN`.
    pub const WTLS_PRE_MASTER_KEY_GEN: Self = Self::new(0x3d0);
    /// `CKM_WTLS_MASTER_KEY_DERIVE`.
    pub const WTLS_MASTER_KEY_DERIVE: Self = Self::new(0x3d1);
    /// `CKM_WTLS_MASTER_KEY_DERIVE_DH_ECC`.
    pub const WTLS_MASTER_KEY_DERIVE_DH_ECC: Self = Self::new(0x3d2);
    /// `CKM_WTLS_PRF`.
    pub const WTLS_PRF: Self = Self::new(0x3d3);
    /// `CKM_WTLS_SERVER_KEY_AND_MAC_DERIVE`.
    pub const WTLS_SERVER_KEY_AND_MAC_DERIVE: Self = Self::new(0x3d4);
    /// `CKM_WTLS_CLIENT_KEY_AND_MAC_DERIVE`.
    pub const WTLS_CLIENT_KEY_AND_MAC_DERIVE: Self = Self::new(0x3d5);
    /// `CKM_TLS10_MAC_SERVER`.
    pub const TLS10_MAC_SERVER: Self = Self::new(0x3d6);
    /// `CKM_TLS10_MAC_CLIENT`.
    pub const TLS10_MAC_CLIENT: Self = Self::new(0x3d7);
    /// `CKM_TLS12_MAC`.
    pub const TLS12_MAC: Self = Self::new(0x3d8);
    /// `CKM_TLS12_KDF`.
    pub const TLS12_KDF: Self = Self::new(0x3d9);
    /// `CKM_TLS12_MASTER_KEY_DERIVE`.
    pub const TLS12_MASTER_KEY_DERIVE: Self = Self::new(0x3e0);
    /// `CKM_TLS12_KEY_AND_MAC_DERIVE`.
    pub const TLS12_KEY_AND_MAC_DERIVE: Self = Self::new(0x3e1);
    /// `CKM_TLS12_MASTER_KEY_DERIVE_DH`.
    pub const TLS12_MASTER_KEY_DERIVE_DH: Self = Self::new(0x3e2);
    /// `CKM_TLS12_KEY_SAFE_DERIVE`.
    pub const TLS12_KEY_SAFE_DERIVE: Self = Self::new(0x3e3);
    /// `CKM_TLS_MAC`.
    pub const TLS_MAC: Self = Self::new(0x3e4);
    /// `CKM_TLS_KDF`.
    pub const TLS_KDF: Self = Self::new(0x3e5);
    /// `CKM_KEY_WRAP_LYNKS`.
    pub const KEY_WRAP_LYNKS: Self = Self::new(0x400);
    /// `CKM_KEY_WRAP_SET_OAEP`.
    pub const KEY_WRAP_SET_OAEP: Self = Self::new(0x401);
    /// `CKM_CMS_SIG`.
    pub const CMS_SIG: Self = Self::new(0x500);
    /// `CKM_KIP_DERIVE`.
    pub const KIP_DERIVE: Self = Self::new(0x510);
    /// `CKM_KIP_WRAP`.
    pub const KIP_WRAP: Self = Self::new(0x511);
    /// `CKM_KIP_MAC`.
    pub const KIP_MAC: Self = Self::new(0x512);
    /// `CKM_CAMELLIA_KEY_GEN`.
    pub const CAMELLIA_KEY_GEN: Self = Self::new(0x550);
    /// `CKM_CAMELLIA_ECB`.
    pub const CAMELLIA_ECB: Self = Self::new(0x551);
    /// `CKM_CAMELLIA_CBC`.
    pub const CAMELLIA_CBC: Self = Self::new(0x552);
    /// `CKM_CAMELLIA_MAC`.
    pub const CAMELLIA_MAC: Self = Self::new(0x553);
    /// `CKM_CAMELLIA_MAC_GENERAL`.
    pub const CAMELLIA_MAC_GENERAL: Self = Self::new(0x554);
    /// `CKM_CAMELLIA_CBC_PAD`.
    pub const CAMELLIA_CBC_PAD: Self = Self::new(0x555);
    /// `CKM_CAMELLIA_ECB_ENCRYPT_DATA`.
    pub const CAMELLIA_ECB_ENCRYPT_DATA: Self = Self::new(0x556);
    /// `CKM_CAMELLIA_CBC_ENCRYPT_DATA`.
    pub const CAMELLIA_CBC_ENCRYPT_DATA: Self = Self::new(0x557);
    /// `CKM_CAMELLIA_CTR`.
    pub const CAMELLIA_CTR: Self = Self::new(0x558);
    /// `CKM_ARIA_KEY_GEN`.
    pub const ARIA_KEY_GEN: Self = Self::new(0x560);
    /// `CKM_ARIA_ECB`.
    pub const ARIA_ECB: Self = Self::new(0x561);
    /// `CKM_ARIA_CBC`.
    pub const ARIA_CBC: Self = Self::new(0x562);
    /// `CKM_ARIA_MAC`.
    pub const ARIA_MAC: Self = Self::new(0x563);
    /// `CKM_ARIA_MAC_GENERAL`.
    pub const ARIA_MAC_GENERAL: Self = Self::new(0x564);
    /// `CKM_ARIA_CBC_PAD`.
    pub const ARIA_CBC_PAD: Self = Self::new(0x565);
    /// `CKM_ARIA_ECB_ENCRYPT_DATA`.
    pub const ARIA_ECB_ENCRYPT_DATA: Self = Self::new(0x566);
    /// `CKM_ARIA_CBC_ENCRYPT_DATA`.
    pub const ARIA_CBC_ENCRYPT_DATA: Self = Self::new(0x567);
    /// `CKM_SEED_KEY_GEN`.
    pub const SEED_KEY_GEN: Self = Self::new(0x650);
    /// `CKM_SEED_ECB`.
    pub const SEED_ECB: Self = Self::new(0x651);
    /// `CKM_SEED_CBC`.
    pub const SEED_CBC: Self = Self::new(0x652);
    /// `CKM_SEED_MAC`.
    pub const SEED_MAC: Self = Self::new(0x653);
    /// `CKM_SEED_MAC_GENERAL`.
    pub const SEED_MAC_GENERAL: Self = Self::new(0x654);
    /// `CKM_SEED_CBC_PAD`.
    pub const SEED_CBC_PAD: Self = Self::new(0x655);
    /// `CKM_SEED_ECB_ENCRYPT_DATA`.
    pub const SEED_ECB_ENCRYPT_DATA: Self = Self::new(0x656);
    /// `CKM_SEED_CBC_ENCRYPT_DATA`.
    pub const SEED_CBC_ENCRYPT_DATA: Self = Self::new(0x657);
    /// `CKM_SKIPJACK_KEY_GEN`.
    pub const SKIPJACK_KEY_GEN: Self = Self::new(0x1000);
    /// `CKM_SKIPJACK_ECB64`.
    pub const SKIPJACK_ECB64: Self = Self::new(0x1001);
    /// `CKM_SKIPJACK_CBC64`.
    pub const SKIPJACK_CBC64: Self = Self::new(0x1002);
    /// `CKM_SKIPJACK_OFB64`.
    pub const SKIPJACK_OFB64: Self = Self::new(0x1003);
    /// `CKM_SKIPJACK_CFB64`.
    pub const SKIPJACK_CFB64: Self = Self::new(0x1004);
    /// `CKM_SKIPJACK_CFB32`.
    pub const SKIPJACK_CFB32: Self = Self::new(0x1005);
    /// `CKM_SKIPJACK_CFB16`.
    pub const SKIPJACK_CFB16: Self = Self::new(0x1006);
    /// `CKM_SKIPJACK_CFB8`.
    pub const SKIPJACK_CFB8: Self = Self::new(0x1007);
    /// `CKM_SKIPJACK_WRAP`.
    pub const SKIPJACK_WRAP: Self = Self::new(0x1008);
    /// `CKM_SKIPJACK_PRIVATE_WRAP`.
    pub const SKIPJACK_PRIVATE_WRAP: Self = Self::new(0x1009);
    /// `CKM_SKIPJACK_RELAYX`.
    pub const SKIPJACK_RELAYX: Self = Self::new(0x100a);
    /// `CKM_KEA_KEY_PAIR_GEN`.
    pub const KEA_KEY_PAIR_GEN: Self = Self::new(0x1010);
    /// `CKM_KEA_KEY_DERIVE`.
    pub const KEA_KEY_DERIVE: Self = Self::new(0x1011);
    /// `CKM_KEA_DERIVE`.
    pub const KEA_DERIVE: Self = Self::new(0x1012);
    /// `CKM_FORTEZZA_TIMESTAMP`.
    pub const FORTEZZA_TIMESTAMP: Self = Self::new(0x1020);
    /// `CKM_BATON_KEY_GEN`.
    pub const BATON_KEY_GEN: Self = Self::new(0x1030);
    /// `CKM_BATON_ECB128`.
    pub const BATON_ECB128: Self = Self::new(0x1031);
    /// `CKM_BATON_ECB96`.
    pub const BATON_ECB96: Self = Self::new(0x1032);
    /// `CKM_BATON_CBC128`.
    pub const BATON_CBC128: Self = Self::new(0x1033);
    /// `CKM_BATON_COUNTER`.
    pub const BATON_COUNTER: Self = Self::new(0x1034);
    /// `CKM_BATON_SHUFFLE`.
    pub const BATON_SHUFFLE: Self = Self::new(0x1035);
    /// `CKM_BATON_WRAP`.
    pub const BATON_WRAP: Self = Self::new(0x1036);
    /// `CKM_EC_KEY_PAIR_GEN`.
    pub const EC_KEY_PAIR_GEN: Self = Self::new(0x1040);
    /// `CKM_ECDSA_KEY_PAIR_GEN`, another name of `CKM_EC_KEY_PAIR_GEN`.
    pub const ECDSA_KEY_PAIR_GEN: Self = Self::new(0x1040);
    /// `CKM_ECDSA`.
    pub const ECDSA: Self = Self::new(0x1041);
    /// `CKM_ECDSA_SHA1`.
    pub const ECDSA_SHA1: Self = Self::new(0x1042);
    /// `CKM_ECDSA_SHA224`.
    pub const ECDSA_SHA224: Self = Self::new(0x1043);
    /// `CKM_ECDSA_SHA256`.
    pub const ECDSA_SHA256: Self = Self::new(0x1044);
    /// `CKM_ECDSA_SHA384`.
    pub const ECDSA_SHA384: Self = Self::new(0x1045);
    /// `CKM_ECDSA_SHA512`.
    pub const ECDSA_SHA512: Self = Self::new(0x1046);
    /// `CKM_ECDSA_SHA3_224`.
    pub const ECDSA_SHA3_224: Self = Self::new(0x1047);
    /// `CKM_ECDSA_SHA3_256`.
    pub const ECDSA_SHA3_256: Self = Self::new(0x1048);
    /// `CKM_ECDSA_SHA3_384`.
    pub const ECDSA_SHA3_384: Self = Self::new(0x1049);
    /// `CKM_ECDSA_SHA3_512`.
    pub const ECDSA_SHA3_512: Self = Self::new(0x104a);
    /// `CKM_ECDH1_DERIVE`.
    pub const ECDH1_DERIVE: Self = Self::new(0x1050);
    /// `CKM_ECDH1_COFACTOR_DERIVE`.
    pub const ECDH1_COFACTOR_DERIVE: Self = Self::new(0x1051);
    /// `CKM_ECMQV_DERIVE`.
    pub const ECMQV_DERIVE: Self = Self::new(0x1052);
    /// `CKM_ECDH_AES_KEY_WRAP`.
    pub const ECDH_AES_KEY_WRAP: Self = Self::new(0x1053);
    /// `CKM_RSA_AES_KEY_WRAP`.
    pub const RSA_AES_KEY_WRAP: Self = Self::new(0x1054);
    /// `CKM_EC_EDWARDS_KEY_PAIR_GEN`.
    pub const EC_EDWARDS_KEY_PAIR_GEN: Self = Self::new(0x1055);
    /// `CKM_EC_MONTGOMERY_KEY_PAIR_GEN`.
    pub const EC_MONTGOMERY_KEY_PAIR_GEN: Self = Self::new(0x1056);
    /// `CKM_EDDSA`.
    pub const EDDSA: Self = Self::new(0x1057);
    /// `CKM_JUNIPER_KEY_GEN`.
    pub const JUNIPER_KEY_GEN: Self = Self::new(0x1060);
    /// `CKM_JUNIPER_ECB128`.
    pub const JUNIPER_ECB128: Self = Self::new(0x1061);
    /// `CKM_JUNIPER_CBC128`.
    pub const JUNIPER_CBC128: Self = Self::new(0x1062);
    /// `CKM_JUNIPER_COUNTER`.
    pub const JUNIPER_COUNTER: Self = Self::new(0x1063);
    /// `CKM_JUNIPER_SHUFFLE`.
    pub const JUNIPER_SHUFFLE: Self = Self::new(0x1064);
    /// `CKM_JUNIPER_WRAP`.
    pub const JUNIPER_WRAP: Self = Self::new(0x1065);
    /// `CKM_FASTHASH`.
    pub const FASTHASH: Self = Self::new(0x1070);
    /// `CKM_AES_XTS`.
    pub const AES_XTS: Self = Self::new(0x1071);
    /// `CKM_AES_XTS_KEY_GEN`.
    pub const AES_XTS_KEY_GEN: Self = Self::new(0x1072);
    /// `CKM_AES_KEY_GEN`.
    pub const AES_KEY_GEN: Self = Self::new(0x1080);
    /// `CKM_AES_ECB`.
    pub const AES_ECB: Self = Self::new(0x1081);
    /// `CKM_AES_CBC`.
    pub const AES_CBC: Self = Self::new(0x1082);
    /// `CKM_AES_MAC`.
    pub const AES_MAC: Self = Self::new(0x1083);
    /// `CKM_AES_MAC_GENERAL`.
    pub const AES_MAC_GENERAL: Self = Self::new(0x1084);
    /// `CKM_AES_CBC_PAD`.
    pub const AES_CBC_PAD: Self = Self::new(0x1085);
    /// `CKM_AES_CTR`.
    pub const AES_CTR: Self = Self::new(0x1086);
    /// `CKM_AES_GCM`.
    pub const AES_GCM: Self = Self::new(0x1087);
    /// `CKM_AES_CCM`.
    pub const AES_CCM: Self = Self::new(0x1088);
    /// `CKM_AES_CTS`.
    pub const AES_CTS: Self = Self::new(0x1089);
    /// `CKM_AES_CMAC`.
    pub const AES_CMAC: Self = Self::new(0x108a);
    /// `CKM_AES_CMAC_GENERAL`.
    pub const AES_CMAC_GENERAL: Self = Self::new(0x108b);
    /// `CKM_AES_XCBC_MAC`.
    pub const AES_XCBC_MAC: Self = Self::new(0x108c);
    /// `CKM_AES_XCBC_MAC_96`.
    pub const AES_XCBC_MAC_96: Self = Self::new(0x108d);
    /// `CKM_AES_GMAC`.
    pub const AES_GMAC: Self = Self::new(0x108e);
    /// `CKM_BLOWFISH_KEY_GEN`.
    pub const BLOWFISH_KEY_GEN: Self = Self::new(0x1090);
    /// `CKM_BLOWFISH_CBC`.
    pub const BLOWFISH_CBC: Self = Self::new(0x1091);
    /// `CKM_TWOFISH_KEY_GEN`.
    pub const TWOFISH_KEY_GEN: Self = Self::new(0x1092);
    /// `CKM_TWOFISH_CBC`.
    pub const TWOFISH_CBC: Self = Self::new(0x1093);
    /// `CKM_BLOWFISH_CBC_PAD`.
    pub const BLOWFISH_CBC_PAD: Self = Self::new(0x1094);
    /// `CKM_TWOFISH_CBC_PAD`.
    pub const TWOFISH_CBC_PAD: Self = Self::new(0x1095);
    /// `CKM_DES_ECB_ENCRYPT_DATA`.
    pub const DES_ECB_ENCRYPT_DATA: Self = Self::new(0x1100);
    /// `CKM_DES_CBC_ENCRYPT_DATA`.
    pub const DES_CBC_ENCRYPT_DATA: Self = Self::new(0x1101);
    /// `CKM_DES3_ECB_ENCRYPT_DATA`.
    pub const DES3_ECB_ENCRYPT_DATA: Self = Self::new(0x1102);
    /// `CKM_DES3_CBC_ENCRYPT_DATA`.
    pub const DES3_CBC_ENCRYPT_DATA: Self = Self::new(0x1103);
    /// `CKM_AES_ECB_ENCRYPT_DATA`.
    pub const AES_ECB_ENCRYPT_DATA: Self = Self::new(0x1104);
    /// `CKM_AES_CBC_ENCRYPT_DATA`.
    pub const AES_CBC_ENCRYPT_DATA: Self = Self::new(0x1105);
    /// `CKM_GOSTR3410_KEY_PAIR_GEN`.
    pub const GOSTR3410_KEY_PAIR_GEN: Self = Self::new(0x1200);
    /// `CKM_GOSTR3410`.
    pub const GOSTR3410: Self = Self::new(0x1201);
    /// `CKM_GOSTR3410_WITH_GOSTR3411`.
    pub const GOSTR3410_WITH_GOSTR3411: Self = Self::new(0x1202);
    /// `CKM_GOSTR3410_KEY_WRAP`.
    pub const GOSTR3410_KEY_WRAP: Self = Self::new(0x1203);
    /// `CKM_GOSTR3410_DERIVE`.
    pub const GOSTR3410_DERIVE: Self = Self::new(0x1204);
    /// `CKM_GOSTR3411`.
    pub const GOSTR3411: Self = Self::new(0x1210);
    /// `CKM_GOSTR3411_HMAC`.
    pub const GOSTR3411_HMAC: Self = Self::new(0x1211);
    /// `CKM_GOST28147_KEY_GEN`.
    pub const GOST28147_KEY_GEN: Self = Self::new(0x1220);
    /// `CKM_GOST28147_ECB`.
    pub const GOST28147_ECB: Self = Self::new(0x1221);
    /// `CKM_GOST28147`.
    pub const GOST28147: Self = Self::new(0x1222);
    /// `CKM_GOST28147_MAC`.
    pub const GOST28147_MAC: Self = Self::new(0x1223);
    /// `CKM_GOST28147_KEY_WRAP`.
    pub const GOST28147_KEY_WRAP: Self = Self::new(0x1224);
    /// `CKM_CHACHA20_KEY_GEN`.
    pub const CHACHA20_KEY_GEN: Self = Self::new(0x1225);
    /// `CKM_CHACHA20`.
    pub const CHACHA20: Self = Self::new(0x1226);
    /// `CKM_POLY1305_KEY_GEN`.
    pub const POLY1305_KEY_GEN: Self = Self::new(0x1227);
    /// `CKM_POLY1305`.
    pub const POLY1305: Self = Self::new(0x1228);
    /// `CKM_EC_KEY_PAIR_GEN_W_EXTRA_BITS`.
    pub const EC_KEY_PAIR_GEN_W_EXTRA_BITS: Self = Self::new(0x140b);
    /// `CKM_DSA_PARAMETER_GEN`.
    pub const DSA_PARAMETER_GEN: Self = Self::new(0x2000);
    /// `CKM_DH_PKCS_PARAMETER_GEN`.
    pub const DH_PKCS_PARAMETER_GEN: Self = Self::new(0x2001);
    /// `CKM_X9_42_DH_PARAMETER_GEN`.
    pub const X9_42_DH_PARAMETER_GEN: Self = Self::new(0x2002);
    /// `CKM_DSA_PROBABILISTIC_PARAMETER_GEN`.
    pub const DSA_PROBABILISTIC_PARAMETER_GEN: Self = Self::new(0x2003);
    /// `CKM_DSA_PROBABLISTIC_PARAMETER_GEN`, another name of `CKM_DSA_PROBABILISTIC_PARAMETER_GEN`.
    pub const DSA_PROBABLISTIC_PARAMETER_GEN: Self = Self::new(0x2003);
    /// `CKM_DSA_SHAWE_TAYLOR_PARAMETER_GEN`.
    pub const DSA_SHAWE_TAYLOR_PARAMETER_GEN: Self = Self::new(0x2004);
    /// `CKM_DSA_FIPS_G_GEN`.
    pub const DSA_FIPS_G_GEN: Self = Self::new(0x2005);
    /// `CKM_AES_OFB`.
    pub const AES_OFB: Self = Self::new(0x2104);
    /// `CKM_AES_CFB64`.
    pub const AES_CFB64: Self = Self::new(0x2105);
    /// `CKM_AES_CFB8`.
    pub const AES_CFB8: Self = Self::new(0x2106);
    /// `CKM_AES_CFB128`.
    pub const AES_CFB128: Self = Self::new(0x2107);
    /// `CKM_AES_CFB1`.
    pub const AES_CFB1: Self = Self::new(0x2108);
    /// `CKM_AES_KEY_WRAP`.
    pub const AES_KEY_WRAP: Self = Self::new(0x2109);
    /// `CKM_AES_KEY_WRAP_PAD`.
    pub const AES_KEY_WRAP_PAD: Self = Self::new(0x210a);
    /// `CKM_AES_KEY_WRAP_KWP`.
    pub const AES_KEY_WRAP_KWP: Self = Self::new(0x210b);
    /// `CKM_AES_KEY_WRAP_PKCS7`.
    pub const AES_KEY_WRAP_PKCS7: Self = Self::new(0x210c);
    /// `CKM_RSA_PKCS_TPM_1_1`.
    pub const RSA_PKCS_TPM_1_1: Self = Self::new(0x4001);
    /// `CKM_RSA_PKCS_OAEP_TPM_1_1`.
    pub const RSA_PKCS_OAEP_TPM_1_1: Self = Self::new(0x4002);
    /// `CKM_SHA_1_KEY_GEN`.
    pub const SHA_1_KEY_GEN: Self = Self::new(0x4003);
    /// `CKM_SHA224_KEY_GEN`.
    pub const SHA224_KEY_GEN: Self = Self::new(0x4004);
    /// `CKM_SHA256_KEY_GEN`.
    pub const SHA256_KEY_GEN: Self = Self::new(0x4005);
    /// `CKM_SHA384_KEY_GEN`.
    pub const SHA384_KEY_GEN: Self = Self::new(0x4006);
    /// `CKM_SHA512_KEY_GEN`.
    pub const SHA512_KEY_GEN: Self = Self::new(0x4007);
    /// `CKM_SHA512_224_KEY_GEN`.
    pub const SHA512_224_KEY_GEN: Self = Self::new(0x4008);
    /// `CKM_SHA512_256_KEY_GEN`.
    pub const SHA512_256_KEY_GEN: Self = Self::new(0x4009);
    /// `CKM_SHA512_T_KEY_GEN`.
    pub const SHA512_T_KEY_GEN: Self = Self::new(0x400a);
    /// `CKM_NULL`.
    pub const NULL: Self = Self::new(0x400b);
    /// `CKM_BLAKE2B_160`.
    pub const BLAKE2B_160: Self = Self::new(0x400c);
    /// `CKM_BLAKE2B_160_HMAC`.
    pub const BLAKE2B_160_HMAC: Self = Self::new(0x400d);
    /// `CKM_BLAKE2B_160_HMAC_GENERAL`.
    pub const BLAKE2B_160_HMAC_GENERAL: Self = Self::new(0x400e);
    /// `CKM_BLAKE2B_160_KEY_DERIVE`.
    pub const BLAKE2B_160_KEY_DERIVE: Self = Self::new(0x400f);
    /// `CKM_BLAKE2B_160_KEY_GEN`.
    pub const BLAKE2B_160_KEY_GEN: Self = Self::new(0x4010);
    /// `CKM_BLAKE2B_256`.
    pub const BLAKE2B_256: Self = Self::new(0x4011);
    /// `CKM_BLAKE2B_256_HMAC`.
    pub const BLAKE2B_256_HMAC: Self = Self::new(0x4012);
    /// `CKM_BLAKE2B_256_HMAC_GENERAL`.
    pub const BLAKE2B_256_HMAC_GENERAL: Self = Self::new(0x4013);
    /// `CKM_BLAKE2B_256_KEY_DERIVE`.
    pub const BLAKE2B_256_KEY_DERIVE: Self = Self::new(0x4014);
    /// `CKM_BLAKE2B_256_KEY_GEN`.
    pub const BLAKE2B_256_KEY_GEN: Self = Self::new(0x4015);
    /// `CKM_BLAKE2B_384`.
    pub const BLAKE2B_384: Self = Self::new(0x4016);
    /// `CKM_BLAKE2B_384_HMAC`.
    pub const BLAKE2B_384_HMAC: Self = Self::new(0x4017);
    /// `CKM_BLAKE2B_384_HMAC_GENERAL`.
    pub const BLAKE2B_384_HMAC_GENERAL: Self = Self::new(0x4018);
    /// `CKM_BLAKE2B_384_KEY_DERIVE`.
    pub const BLAKE2B_384_KEY_DERIVE: Self = Self::new(0x4019);
    /// `CKM_BLAKE2B_384_KEY_GEN`.
    pub const BLAKE2B_384_KEY_GEN: Self = Self::new(0x401a);
    /// `CKM_BLAKE2B_512`.
    pub const BLAKE2B_512: Self = Self::new(0x401b);
    /// `CKM_BLAKE2B_512_HMAC`.
    pub const BLAKE2B_512_HMAC: Self = Self::new(0x401c);
    /// `CKM_BLAKE2B_512_HMAC_GENERAL`.
    pub const BLAKE2B_512_HMAC_GENERAL: Self = Self::new(0x401d);
    /// `CKM_BLAKE2B_512_KEY_DERIVE`.
    pub const BLAKE2B_512_KEY_DERIVE: Self = Self::new(0x401e);
    /// `CKM_BLAKE2B_512_KEY_GEN`.
    pub const BLAKE2B_512_KEY_GEN: Self = Self::new(0x401f);
    /// `CKM_SALSA20`.
    pub const SALSA20: Self = Self::new(0x4020);
    /// `CKM_CHACHA20_POLY1305`.
    pub const CHACHA20_POLY1305: Self = Self::new(0x4021);
    /// `CKM_SALSA20_POLY1305`.
    pub const SALSA20_POLY1305: Self = Self::new(0x4022);
    /// `CKM_X3DH_INITIALIZE`.
    pub const X3DH_INITIALIZE: Self = Self::new(0x4023);
    /// `CKM_X3DH_RESPOND`.
    pub const X3DH_RESPOND: Self = Self::new(0x4024);
    /// `CKM_X2RATCHET_INITIALIZE`.
    pub const X2RATCHET_INITIALIZE: Self = Self::new(0x4025);
    /// `CKM_X2RATCHET_RESPOND`.
    pub const X2RATCHET_RESPOND: Self = Self::new(0x4026);
    /// `CKM_X2RATCHET_ENCRYPT`.
    pub const X2RATCHET_ENCRYPT: Self = Self::new(0x4027);
    /// `CKM_X2RATCHET_DECRYPT`.
    pub const X2RATCHET_DECRYPT: Self = Self::new(0x4028);
    /// `CKM_XEDDSA`.
    pub const XEDDSA: Self = Self::new(0x4029);
    /// `CKM_HKDF_DERIVE`.
    pub const HKDF_DERIVE: Self = Self::new(0x402a);
    /// `CKM_HKDF_DATA`.
    pub const HKDF_DATA: Self = Self::new(0x402b);
    /// `CKM_HKDF_KEY_GEN`.
    pub const HKDF_KEY_GEN: Self = Self::new(0x402c);
    /// `CKM_SALSA20_KEY_GEN`.
    pub const SALSA20_KEY_GEN: Self = Self::new(0x402d);
    /// `CKM_IKE2_PRF_PLUS_DERIVE`.
    pub const IKE2_PRF_PLUS_DERIVE: Self = Self::new(0x402e);
    /// `CKM_IKE_PRF_DERIVE`.
    pub const IKE_PRF_DERIVE: Self = Self::new(0x402f);
    /// `CKM_IKE1_PRF_DERIVE`.
    pub const IKE1_PRF_DERIVE: Self = Self::new(0x4030);
    /// `CKM_IKE1_EXTENDED_DERIVE`.
    pub const IKE1_EXTENDED_DERIVE: Self = Self::new(0x4031);
    /// `CKM_HSS_KEY_PAIR_GEN`.
    pub const HSS_KEY_PAIR_GEN: Self = Self::new(0x4032);
    /// `CKM_HSS`.
    pub const HSS: Self = Self::new(0x4033);
    /// `CKM_XMSS_KEY_PAIR_GEN`.
    pub const XMSS_KEY_PAIR_GEN: Self = Self::new(0x4034);
    /// `CKM_XMSSMT_KEY_PAIR_GEN`.
    pub const XMSSMT_KEY_PAIR_GEN: Self = Self::new(0x4035);
    /// `CKM_XMSS`.
    pub const XMSS: Self = Self::new(0x4036);
    /// `CKM_XMSSMT`.
    pub const XMSSMT: Self = Self::new(0x4037);
    /// `CKM_ECDH_X_AES_KEY_WRAP`.
    pub const ECDH_X_AES_KEY_WRAP: Self = Self::new(0x4038);
    /// `CKM_ECDH_COF_AES_KEY_WRAP`.
    pub const ECDH_COF_AES_KEY_WRAP: Self = Self::new(0x4039);
    /// `CKM_PUB_KEY_FROM_PRIV_KEY`.
    pub const PUB_KEY_FROM_PRIV_KEY: Self = Self::new(0x403a);
    /// `CKM_VENDOR_DEFINED`.
    pub const VENDOR_DEFINED: Self = Self::new(0x80000000);
}
