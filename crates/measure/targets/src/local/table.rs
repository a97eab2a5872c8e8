//! The table. A name never changes its meaning: what is done otherwise gets another name.

use keywright_measure::{TargetError, Worker};
use keywright_primitives::aead::{
    Aes128Gcm, Aes256Gcm, ChaCha20Poly1305, XChaCha20Poly1305, Xaes256Gcm,
};
use keywright_primitives::hazmat::cbc::{Aes128Cbc, Aes256Cbc};
use keywright_primitives::mac::{Aes256Cmac, Blake3Mac, HmacSha256, HmacSha384, HmacSha512};

use super::envelope::{OneEnvelope, OneStream};
#[cfg(feature = "peers")]
use super::peers;
use super::row::{Row, TARGET};
use super::rsa_encryption::{Oaep, Pkcs1, Rsa2048, Rsa3072, Rsa4096};
use super::session::Way;
use super::signature::{
    EcdsaP256, EcdsaP384, Ed25519, MlDsa65, Rsa2048Pkcs1, Rsa2048Pss, Rsa3072Pkcs1, Rsa3072Pss,
    Rsa4096Pkcs1, Rsa4096Pss,
};
use super::worker::Null;
use super::{
    aead, agreement, argon2id, cbc, envelope, file, format, hash, hd, hpke, kdf, kem, mac, random,
    ratchet, rsa_encryption, session, signature, token, wire,
};
use crate::operation::{Make, Operation};

/// Name, payload bytes, how many of what is counted (one operation unless said), and the maker. The maker is
/// told name and bytes, so that the table cannot say one thing and the worker do another.
macro_rules! row {
    ($name:literal: $bytes:expr => $maker:expr) => {
        row!($name: $bytes, 1 operations => $maker)
    };
    ($name:literal: $bytes:expr, $units:literal $unit:ident => $maker:expr) => {
        Operation {
            name: $name,
            target: TARGET,
            unit: stringify!($unit),
            units: $units,
            bytes: payload($bytes),
            make: Make::Worker(|setting| {
                $maker(&Row {
                    name: $name,
                    bytes: setting.bytes.unwrap_or($bytes),
                    setting,
                })
            }),
        }
    };
}

/// The same for a figure that is no rate.
macro_rules! figure {
    ($name:literal: $bytes:expr, $unit:ident => $maker:expr) => {
        Operation {
            name: $name,
            target: TARGET,
            unit: stringify!($unit),
            units: 1,
            bytes: payload($bytes),
            make: Make::Figure(|setting| {
                $maker(&Row {
                    name: $name,
                    bytes: setting.bytes.unwrap_or($bytes),
                    setting,
                })
            }),
        }
    };
}

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
/// The length of a file. Sealing it takes no more memory than a short one.
const FILE: usize = 256 * MIB;

const fn payload(bytes: usize) -> u64 {
    bytes as u64
}

fn null(_: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    Ok(Box::new(Null))
}

/// Every local operation, by family.
pub const OPERATIONS: &[Operation] = &[
    row!("aead.aes-128-gcm.seal.1k": KIB => aead::seal::<Aes128Gcm>),
    row!("aead.aes-128-gcm.seal.64k": 64 * KIB => aead::seal::<Aes128Gcm>),
    row!("aead.aes-128-gcm.seal.1m": MIB => aead::seal::<Aes128Gcm>),
    row!("aead.aes-128-gcm.open.1k": KIB => aead::open::<Aes128Gcm>),
    row!("aead.aes-128-gcm.open.64k": 64 * KIB => aead::open::<Aes128Gcm>),
    row!("aead.aes-128-gcm.open.1m": MIB => aead::open::<Aes128Gcm>),
    row!("aead.aes-256-gcm.seal.16": 16 => aead::seal::<Aes256Gcm>),
    row!("aead.aes-256-gcm.seal.1k": KIB => aead::seal::<Aes256Gcm>),
    row!("aead.aes-256-gcm.seal.8k": 8 * KIB => aead::seal::<Aes256Gcm>),
    row!("aead.aes-256-gcm.seal.10k": 10 * KIB => aead::seal::<Aes256Gcm>),
    // Counted in MiB since it was first measured: one operation seals 64 pieces of 16 KiB.
    row!("aead.aes-256-gcm.seal.16k": MIB, 1 MiB => aead::seal_pieces),
    row!("aead.aes-256-gcm.seal.64k": 64 * KIB => aead::seal::<Aes256Gcm>),
    row!("aead.aes-256-gcm.seal.100k": 100 * KIB => aead::seal::<Aes256Gcm>),
    row!("aead.aes-256-gcm.seal.1m": MIB => aead::seal::<Aes256Gcm>),
    row!("aead.aes-256-gcm.open.1k": KIB => aead::open::<Aes256Gcm>),
    row!("aead.aes-256-gcm.open.10k": 10 * KIB => aead::open::<Aes256Gcm>),
    row!("aead.aes-256-gcm.open.64k": 64 * KIB => aead::open::<Aes256Gcm>),
    row!("aead.aes-256-gcm.open.100k": 100 * KIB => aead::open::<Aes256Gcm>),
    row!("aead.aes-256-gcm.open.1m": MIB => aead::open::<Aes256Gcm>),
    row!("aead.chacha20poly1305.seal.1k": KIB => aead::seal::<ChaCha20Poly1305>),
    row!("aead.chacha20poly1305.seal.64k": 64 * KIB => aead::seal::<ChaCha20Poly1305>),
    row!("aead.chacha20poly1305.seal.1m": MIB => aead::seal::<ChaCha20Poly1305>),
    row!("aead.chacha20poly1305.open.1k": KIB => aead::open::<ChaCha20Poly1305>),
    row!("aead.chacha20poly1305.open.64k": 64 * KIB => aead::open::<ChaCha20Poly1305>),
    row!("aead.chacha20poly1305.open.1m": MIB => aead::open::<ChaCha20Poly1305>),
    row!("aead.xaes-256-gcm.seal.1k": KIB => aead::seal::<Xaes256Gcm>),
    row!("aead.xaes-256-gcm.seal.64k": 64 * KIB => aead::seal::<Xaes256Gcm>),
    row!("aead.xaes-256-gcm.seal.1m": MIB => aead::seal::<Xaes256Gcm>),
    row!("aead.xaes-256-gcm.open.1k": KIB => aead::open::<Xaes256Gcm>),
    row!("aead.xaes-256-gcm.open.64k": 64 * KIB => aead::open::<Xaes256Gcm>),
    row!("aead.xaes-256-gcm.open.1m": MIB => aead::open::<Xaes256Gcm>),
    row!("aead.xchacha20poly1305.seal.1k": KIB => aead::seal::<XChaCha20Poly1305>),
    row!("aead.xchacha20poly1305.seal.64k": 64 * KIB => aead::seal::<XChaCha20Poly1305>),
    row!("aead.xchacha20poly1305.seal.1m": MIB => aead::seal::<XChaCha20Poly1305>),
    row!("aead.xchacha20poly1305.open.1k": KIB => aead::open::<XChaCha20Poly1305>),
    row!("aead.xchacha20poly1305.open.64k": 64 * KIB => aead::open::<XChaCha20Poly1305>),
    row!("aead.xchacha20poly1305.open.1m": MIB => aead::open::<XChaCha20Poly1305>),
    row!("aead.xchacha20poly1305.set-up": 0 => aead::xchacha_set_up),
    row!("agreement.ecdh-p256": 0 => agreement::ecdh_p256),
    row!("agreement.x25519": 0 => agreement::x25519),
    row!("cbc.aes-128.encrypt.1k": KIB => cbc::encrypt::<Aes128Cbc>),
    row!("cbc.aes-128.encrypt.64k": 64 * KIB => cbc::encrypt::<Aes128Cbc>),
    row!("cbc.aes-128.decrypt.1k": KIB => cbc::decrypt::<Aes128Cbc>),
    row!("cbc.aes-128.decrypt.64k": 64 * KIB => cbc::decrypt::<Aes128Cbc>),
    row!("cbc.aes-256.encrypt.1k": KIB => cbc::encrypt::<Aes256Cbc>),
    row!("cbc.aes-256.encrypt.64k": 64 * KIB => cbc::encrypt::<Aes256Cbc>),
    row!("cbc.aes-256.decrypt.1k": KIB => cbc::decrypt::<Aes256Cbc>),
    row!("cbc.aes-256.decrypt.64k": 64 * KIB => cbc::decrypt::<Aes256Cbc>),
    row!("encryption.rsa2048-oaep.encrypt": 32 => rsa_encryption::encrypt::<Rsa2048, Oaep>),
    row!("encryption.rsa2048-oaep.decrypt": 32 => rsa_encryption::decrypt::<Rsa2048, Oaep>),
    row!("encryption.rsa2048-pkcs1.encrypt": 32 => rsa_encryption::encrypt::<Rsa2048, Pkcs1>),
    row!("encryption.rsa2048-pkcs1.decrypt": 32 => rsa_encryption::decrypt::<Rsa2048, Pkcs1>),
    row!("encryption.rsa3072-oaep.encrypt": 32 => rsa_encryption::encrypt::<Rsa3072, Oaep>),
    row!("encryption.rsa3072-oaep.decrypt": 32 => rsa_encryption::decrypt::<Rsa3072, Oaep>),
    row!("encryption.rsa3072-pkcs1.encrypt": 32 => rsa_encryption::encrypt::<Rsa3072, Pkcs1>),
    row!("encryption.rsa3072-pkcs1.decrypt": 32 => rsa_encryption::decrypt::<Rsa3072, Pkcs1>),
    row!("encryption.rsa4096-oaep.encrypt": 32 => rsa_encryption::encrypt::<Rsa4096, Oaep>),
    row!("encryption.rsa4096-oaep.decrypt": 32 => rsa_encryption::decrypt::<Rsa4096, Oaep>),
    row!("encryption.rsa4096-pkcs1.encrypt": 32 => rsa_encryption::encrypt::<Rsa4096, Pkcs1>),
    row!("encryption.rsa4096-pkcs1.decrypt": 32 => rsa_encryption::decrypt::<Rsa4096, Pkcs1>),
    row!("envelope.seal.64": 64, 1 messages => envelope::seal::<OneEnvelope>),
    row!("envelope.open.64": 64, 1 messages => envelope::open::<OneEnvelope>),
    row!("envelope.seal.1k": KIB, 1 messages => envelope::seal::<OneEnvelope>),
    row!("envelope.open.1k": KIB, 1 messages => envelope::open::<OneEnvelope>),
    row!("envelope.seal.64k": 64 * KIB, 1 messages => envelope::seal::<OneEnvelope>),
    row!("envelope.open.64k": 64 * KIB, 1 messages => envelope::open::<OneEnvelope>),
    row!("file.copy": FILE, 256 MiB => file::copy),
    row!("file.copy-and-raw-seal": FILE, 256 MiB => file::copy_and_raw_seal),
    row!("file.seal": FILE, 256 MiB => file::seal),
    figure!("file.seal.peak-memory": FILE, MiB => file::peak_memory),
    row!("format.card.column": 0, 65_536 records => |row: &_| format::protect(format::CARD, row)),
    row!("format.card.column.reveal": 0, 65_536 records => |row: &_| format::reveal(format::CARD, row)),
    row!("format.date.column": 0, 65_536 records => |row: &_| format::protect(format::DATE, row)),
    row!("format.date.column.reveal": 0, 65_536 records => |row: &_| format::reveal(format::DATE, row)),
    row!("format.decimal.column": 0, 65_536 records => |row: &_| format::protect(format::DECIMAL, row)),
    row!("format.decimal.column.reveal": 0, 65_536 records => |row: &_| format::reveal(format::DECIMAL, row)),
    row!("format.email.column": 0, 65_536 records => |row: &_| format::protect(format::EMAIL, row)),
    row!("format.email.column.reveal": 0, 65_536 records => |row: &_| format::reveal(format::EMAIL, row)),
    row!("format.iban.column": 0, 65_536 records => |row: &_| format::protect(format::IBAN, row)),
    row!("format.iban.column.reveal": 0, 65_536 records => |row: &_| format::reveal(format::IBAN, row)),
    row!("format.ssn.column": 0, 65_536 records => |row: &_| format::protect(format::SSN, row)),
    row!("format.ssn.column.reveal": 0, 65_536 records => |row: &_| format::reveal(format::SSN, row)),
    row!("hash.blake3.32": 32 => hash::blake3),
    row!("hash.blake3.1k": KIB => hash::blake3),
    row!("hash.blake3.64k": 64 * KIB => hash::blake3),
    row!("hash.blake3.1m": MIB => hash::blake3),
    row!("hash.blake3.all.1m": MIB => hash::blake3_on_all_cores),
    row!("hash.sha256.400": 400 => hash::sha256),
    row!("hash.sha256.1k": KIB => hash::sha256),
    row!("hash.sha256.10k": 10 * KIB => hash::sha256),
    row!("hash.sha256.64k": 64 * KIB => hash::sha256),
    row!("hash.sha256.100k": 100 * KIB => hash::sha256),
    row!("hash.sha256.1m": MIB => hash::sha256),
    row!("hash.sha384.1k": KIB => hash::sha384),
    row!("hash.sha384.10k": 10 * KIB => hash::sha384),
    row!("hash.sha384.64k": 64 * KIB => hash::sha384),
    row!("hash.sha384.100k": 100 * KIB => hash::sha384),
    row!("hash.sha384.1m": MIB => hash::sha384),
    row!("hash.sha512.1k": KIB => hash::sha512),
    row!("hash.sha512.10k": 10 * KIB => hash::sha512),
    row!("hash.sha512.64k": 64 * KIB => hash::sha512),
    row!("hash.sha512.100k": 100 * KIB => hash::sha512),
    row!("hash.sha512.1m": MIB => hash::sha512),
    row!("hd.benchmark.derive": 0 => hd::four_levels),
    row!("hd.identus.derive": 0 => hd::both),
    row!("hd.identus.derive.cached": 0 => hd::account),
    row!("hd.identus.derive.cached.public": 0 => hd::account_both),
    row!("hd.identus.derive.private": 0 => hd::private),
    row!("hd.identus.derive.usage": 0 => hd::usage),
    figure!("hd.identus.response.t32": 0, us => hd::response),
    figure!("hd.identus.response.t32.floor": 0, us => hd::response_floor),
    row!("hd.identus.siblings": 0, 1000 keys => hd::siblings),
    row!("hd.identus.sign": 0 => hd::sign),
    row!("hd.identus.sign.cached": 0 => hd::account_sign),
    figure!("hd.identus.tail.t32": 0, times => hd::tail),
    row!("hd.public.secp256k1": 0 => hd::public_key),
    row!("hd.slip10-ed25519.derive.private": 0 => hd::ed25519),
    row!("hd.slip10-nist256p1.derive.private": 0 => hd::nist256p1),
    row!("hpke.base.initiate": 0 => hpke::base_initiate),
    row!("hpke.base.accept": 0 => hpke::base_accept),
    row!("hpke.psk.initiate": 0 => hpke::psk_initiate),
    row!("hpke.psk.accept": 0 => hpke::psk_accept),
    row!("hpke.auth.initiate": 0 => hpke::auth_initiate),
    row!("hpke.auth.accept": 0 => hpke::auth_accept),
    row!("hpke.auth-psk.initiate": 0 => hpke::auth_psk_initiate),
    row!("hpke.auth-psk.accept": 0 => hpke::auth_psk_accept),
    row!("hpke.authpsk-pq.initiate": 0 => hpke::bound::authpsk_pq_initiate),
    row!("hpke.authpsk-pq.accept": 0 => hpke::bound::authpsk_pq_accept),
    row!("hpke.binder.initiate": 0 => hpke::bound::binder_initiate),
    row!("hpke.binder.accept": 0 => hpke::bound::binder_accept),
    row!("hpke.export.32": 32 => hpke::messages::export),
    row!("hpke.export.1k": KIB => hpke::messages::export),
    row!("hpke.floor.auth.initiate": 0 => hpke::floor::floor_auth_initiate),
    row!("hpke.floor.auth.accept": 0 => hpke::floor::floor_auth_accept),
    row!("hpke.floor.base.initiate": 0 => hpke::floor::floor_base_initiate),
    row!("hpke.floor.base.accept": 0 => hpke::floor::floor_base_accept),
    row!("hpke.ml-kem-768.base.initiate": 0 => hpke::ml_kem_768_initiate),
    row!("hpke.ml-kem-768.base.accept": 0 => hpke::ml_kem_768_accept),
    row!("hpke.ml-kem-1024.base.initiate": 0 => hpke::ml_kem_1024_initiate),
    row!("hpke.ml-kem-1024.base.accept": 0 => hpke::ml_kem_1024_accept),
    row!("hpke.open.1k": KIB => hpke::messages::open),
    row!("hpke.open.64k": 64 * KIB => hpke::messages::open),
    row!("hpke.p256.base.initiate": 0 => hpke::p256_initiate),
    row!("hpke.p256.base.accept": 0 => hpke::p256_accept),
    row!("hpke.p384.base.initiate": 0 => hpke::p384_initiate),
    row!("hpke.p384.base.accept": 0 => hpke::p384_accept),
    row!("hpke.p521.base.initiate": 0 => hpke::p521_initiate),
    row!("hpke.p521.base.accept": 0 => hpke::p521_accept),
    row!("hpke.seal.1k": KIB => hpke::messages::seal),
    row!("hpke.seal.64k": 64 * KIB => hpke::messages::seal),
    row!("hpke.x-wing.base.initiate": 0 => hpke::x_wing_initiate),
    row!("hpke.x-wing.base.accept": 0 => hpke::x_wing_accept),
    row!("kdf.argon2id.fast": 0 => argon2id::fast),
    row!("kdf.argon2id.balanced": 0 => argon2id::balanced),
    row!("kdf.argon2id.strong": 0 => argon2id::strong),
    row!("kdf.hkdf-sha256.32": 32 => kdf::hkdf_sha256),
    row!("kdf.hkdf-sha256.1k": KIB => kdf::hkdf_sha256),
    row!("kdf.hkdf-sha384.32": 32 => kdf::hkdf_sha384),
    row!("kdf.hkdf-sha512.32": 32 => kdf::hkdf_sha512),
    row!("kem.ml-kem-768.encapsulate": 0 => kem::encapsulate),
    row!("kem.ml-kem-768.decapsulate": 0 => kem::decapsulate),
    row!("mac.aes-cmac.32": 32 => mac::make::<Aes256Cmac>),
    row!("mac.aes-cmac.1k": KIB => mac::make::<Aes256Cmac>),
    row!("mac.aes-cmac.verify.32": 32 => mac::verify::<Aes256Cmac>),
    row!("mac.blake3.32": 32 => mac::make::<Blake3Mac>),
    row!("mac.blake3.64": 64 => mac::make::<Blake3Mac>),
    row!("mac.blake3.264": 264 => mac::make::<Blake3Mac>),
    row!("mac.blake3.1k": KIB => mac::make::<Blake3Mac>),
    row!("mac.blake3.verify.32": 32 => mac::verify::<Blake3Mac>),
    row!("mac.hmac-sha256.32": 32 => mac::make::<HmacSha256>),
    row!("mac.hmac-sha256.1k": KIB => mac::make::<HmacSha256>),
    row!("mac.hmac-sha256.verify.32": 32 => mac::verify::<HmacSha256>),
    row!("mac.hmac-sha384.32": 32 => mac::make::<HmacSha384>),
    row!("mac.hmac-sha384.1k": KIB => mac::make::<HmacSha384>),
    row!("mac.hmac-sha384.verify.32": 32 => mac::verify::<HmacSha384>),
    row!("mac.hmac-sha512.32": 32 => mac::make::<HmacSha512>),
    row!("mac.hmac-sha512.1k": KIB => mac::make::<HmacSha512>),
    row!("mac.hmac-sha512.new-key.37": 37 => hd::hmac),
    row!("mac.hmac-sha512.verify.32": 32 => mac::verify::<HmacSha512>),
    row!("null.call": 0 => null),
    #[cfg(feature = "peers")]
    row!("peer.argon2-crate.fast": 0 => peers::argon2_fast),
    #[cfg(feature = "peers")]
    row!("peer.argon2-crate.balanced": 0 => peers::argon2_balanced),
    #[cfg(feature = "peers")]
    row!("peer.argon2-crate.strong": 0 => peers::argon2_strong),
    #[cfg(feature = "peers")]
    row!("peer.aws-lc-rs.hkdf-sha256.32": 32 => peers::hkdf_sha256),
    #[cfg(feature = "peers")]
    row!("peer.aws-lc-rs.hkdf-sha256.1k": KIB => peers::hkdf_sha256),
    #[cfg(feature = "peers")]
    row!("peer.bip32-crate.identus.derive": 0 => hd::peers::bip32_crate),
    #[cfg(feature = "peers")]
    row!("peer.blake3-crate.32": 32 => peers::blake3_crate),
    #[cfg(feature = "peers")]
    row!("peer.blake3-crate.1m": MIB => peers::blake3_crate),
    #[cfg(feature = "peers")]
    row!("peer.blake3-crate.all.1m": MIB => peers::blake3_crate_on_all_cores),
    #[cfg(feature = "peers")]
    row!("peer.hpke-crate.auth.initiate": 0 => hpke::peers::auth_initiate),
    #[cfg(feature = "peers")]
    row!("peer.hpke-crate.auth.accept": 0 => hpke::peers::auth_accept),
    #[cfg(feature = "peers")]
    row!("peer.hpke-crate.base.initiate": 0 => hpke::peers::base_initiate),
    #[cfg(feature = "peers")]
    row!("peer.hpke-crate.base.accept": 0 => hpke::peers::base_accept),
    #[cfg(feature = "peers")]
    row!("peer.hpke-crate.x-wing.base.initiate": 0 => hpke::peers::x_wing_initiate),
    #[cfg(feature = "peers")]
    row!("peer.hpke-crate.x-wing.base.accept": 0 => hpke::peers::x_wing_accept),
    #[cfg(feature = "peers")]
    row!("peer.rustcrypto.xchacha20poly1305.seal.1k": KIB => aead::seal::<peers::RustCrypto>),
    #[cfg(feature = "peers")]
    row!("peer.rustcrypto.xchacha20poly1305.seal.64k": 64 * KIB => aead::seal::<peers::RustCrypto>),
    #[cfg(feature = "peers")]
    row!("peer.rustcrypto.xchacha20poly1305.seal.1m": MIB => aead::seal::<peers::RustCrypto>),
    #[cfg(feature = "peers")]
    row!("peer.rustcrypto.xchacha20poly1305.open.1k": KIB => aead::open::<peers::RustCrypto>),
    #[cfg(feature = "peers")]
    row!("peer.rustcrypto.xchacha20poly1305.open.64k": 64 * KIB => aead::open::<peers::RustCrypto>),
    #[cfg(feature = "peers")]
    row!("peer.rustcrypto.xchacha20poly1305.open.1m": MIB => aead::open::<peers::RustCrypto>),
    #[cfg(feature = "peers")]
    row!("peer.secp256k1-crate.identus.derive": 0 => hd::peers::cold_and_libsecp256k1),
    #[cfg(feature = "peers")]
    row!("peer.secp256k1-crate.public": 0 => hd::peers::libsecp256k1),
    #[cfg(feature = "peers")]
    row!("peer.vodozemac.first.128": 128 => ratchet::peers::first),
    #[cfg(feature = "peers")]
    row!("peer.vodozemac.message.1k": KIB => ratchet::peers::message),
    #[cfg(feature = "peers")]
    row!("peer.vodozemac.pingpong.1k": KIB => ratchet::peers::pingpong),
    row!("random.32": 32 => random::bytes),
    row!("ratchet.decrypt.1k": KIB => ratchet::decrypt),
    row!("ratchet.encrypt.1k": KIB => ratchet::encrypt),
    row!("ratchet.first": 128 => ratchet::first),
    row!("ratchet.floor.pingpong.1k": KIB => ratchet::floor_pingpong),
    row!("ratchet.forged.1k": KIB => ratchet::forged),
    figure!("ratchet.forged.opens.1k": KIB, times => ratchet::forged_opens),
    row!("ratchet.message.1k": KIB => ratchet::message),
    row!("ratchet.pingpong.1k": KIB => ratchet::pingpong),
    figure!("ratchet.scaling.1k": KIB, times => ratchet::run::scaling),
    row!("ratchet.session.10k": 10 * KIB => ratchet::ten),
    row!("ratchet.session.1000k": 1_000 * KIB => ratchet::thousand),
    row!("ratchet.sessions.1k": KIB => ratchet::sessions),
    figure!("ratchet.trend.1k": KIB, times => ratchet::run::trend),
    row!("session.auth-psk.initiate": 64 => |row: &_| session::initiate(row, Way::AuthPsk)),
    row!("session.auth-psk.accept": 64 => |row: &_| session::accept(row, Way::AuthPsk)),
    row!("session.authpsk-pq.initiate": 64 => |row: &_| session::initiate(row, Way::AuthPskPq)),
    row!("session.authpsk-pq.accept": 64 => |row: &_| session::accept(row, Way::AuthPskPq)),
    row!("session.x3dh.initiate": 64 => |row: &_| session::initiate(row, Way::X3dh)),
    row!("session.x3dh.accept": 64 => |row: &_| session::accept(row, Way::X3dh)),
    row!("session.x3dh-pq.initiate": 64 => |row: &_| session::initiate(row, Way::X3dhPq)),
    row!("session.x3dh-pq.accept": 64 => |row: &_| session::accept(row, Way::X3dhPq)),
    row!("signature.ecdsa-p256.sign": 32 => signature::sign::<EcdsaP256>),
    row!("signature.ecdsa-p256.verify": 32 => signature::verify::<EcdsaP256>),
    row!("signature.ecdsa-p384.sign": 32 => signature::sign::<EcdsaP384>),
    row!("signature.ecdsa-p384.verify": 32 => signature::verify::<EcdsaP384>),
    row!("signature.ed25519.sign": 32 => signature::sign::<Ed25519>),
    row!("signature.ed25519.verify": 32 => signature::verify::<Ed25519>),
    row!("signature.ml-dsa-65.sign": 32 => signature::sign::<MlDsa65>),
    row!("signature.ml-dsa-65.verify": 32 => signature::verify::<MlDsa65>),
    row!("signature.rsa2048-pkcs1.sign": 32 => signature::sign::<Rsa2048Pkcs1>),
    row!("signature.rsa2048-pkcs1.verify": 32 => signature::verify::<Rsa2048Pkcs1>),
    row!("signature.rsa2048-pss.sign": 32 => signature::sign::<Rsa2048Pss>),
    row!("signature.rsa2048-pss.verify": 32 => signature::verify::<Rsa2048Pss>),
    row!("signature.rsa3072-pkcs1.sign": 32 => signature::sign::<Rsa3072Pkcs1>),
    row!("signature.rsa3072-pkcs1.verify": 32 => signature::verify::<Rsa3072Pkcs1>),
    row!("signature.rsa3072-pss.sign": 32 => signature::sign::<Rsa3072Pss>),
    row!("signature.rsa3072-pss.verify": 32 => signature::verify::<Rsa3072Pss>),
    row!("signature.rsa4096-pkcs1.sign": 32 => signature::sign::<Rsa4096Pkcs1>),
    row!("signature.rsa4096-pkcs1.verify": 32 => signature::verify::<Rsa4096Pkcs1>),
    row!("signature.rsa4096-pss.sign": 32 => signature::sign::<Rsa4096Pss>),
    row!("signature.rsa4096-pss.verify": 32 => signature::verify::<Rsa4096Pss>),
    row!("stream.seal.memory": MIB, 1 MiB => envelope::seal::<OneStream>),
    row!("stream.open.memory": MIB, 1 MiB => envelope::open::<OneStream>),
    row!("token.build": 64 => token::build::<token::Blake3>),
    row!("token.verify": 64 => token::verify::<token::Blake3>),
    row!("token.attenuate": 64 => token::attenuate),
    row!("token.hmac-sha256.build": 64 => token::build::<token::HmacSha256>),
    row!("token.hmac-sha256.verify": 64 => token::verify::<token::HmacSha256>),
    row!("token.ed25519.build": 112 => token::build::<token::Ed25519>),
    row!("token.ed25519.verify": 112 => token::verify::<token::Ed25519>),
    row!("wire.init.encode": 128 => wire::encode),
    row!("wire.init.decode": 128 => wire::decode),
    row!("wire.init-v2.encode": 128 => wire::encode_v2),
    row!("wire.init-v2.decode": 128 => wire::decode_v2),
];
