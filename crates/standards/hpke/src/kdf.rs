//! Labelled key derivation: in two stages with HKDF (RFC 9180, section 4), in one with SHAKE (the draft).

use std::sync::LazyLock;

use keywright_primitives::hash::{Shake128, Shake256};
use keywright_primitives::kdf::{
    HkdfSha256Prk, HkdfSha256Salt, HkdfSha384Prk, HkdfSha384Salt, HkdfSha512Prk, HkdfSha512Salt,
};

use crate::short::Short;
use crate::{Error, Kdf, Kem, Suite};

/// The version label in front of every derivation.
const VERSION: &[u8] = b"HPKE-v1";
/// Room for a length, the version, a `suite_id` and the longest label.
const FRONT: usize = 40;

/// The `suite_id` of a KEM or of a whole suite, which keeps their derivations apart.
#[derive(Clone, Copy)]
pub(crate) struct SuiteId {
    bytes: [u8; 10],
    len: usize,
}

impl SuiteId {
    /// `"KEM" || I2OSP(kem_id, 2)`
    pub(crate) const fn kem(kem: Kem) -> Self {
        let [high, low] = kem.id().to_be_bytes();
        Self {
            bytes: [b'K', b'E', b'M', high, low, 0, 0, 0, 0, 0],
            len: 5,
        }
    }

    /// `"HPKE" || I2OSP(kem_id, 2) || I2OSP(kdf_id, 2) || I2OSP(aead_id, 2)`
    pub(crate) fn suite(suite: Suite) -> Self {
        let [a, b, c, d, e, f] = suite.to_bytes();
        Self {
            bytes: [b'H', b'P', b'K', b'E', a, b, c, d, e, f],
            len: 10,
        }
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// What stands before the caller's bytes, in one piece, so that the hash is called once for it.
    fn front<'a>(&self, length: &[u8], label: &[u8], room: &'a mut [u8; FRONT]) -> &'a [u8] {
        let mut used = 0;
        for part in [length, VERSION, self.as_bytes(), label] {
            room[used..used + part.len()].copy_from_slice(part);
            used += part.len();
        }
        &room[..used]
    }
}

/// The two-stage functions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hkdf {
    Sha256,
    Sha384,
    Sha512,
}

/// What a two-stage function extracted, prepared for several expansions.
pub(crate) enum Prk {
    Sha256(HkdfSha256Prk),
    Sha384(HkdfSha384Prk),
    Sha512(HkdfSha512Prk),
}

// Most extractions have no salt. Preparing that one takes as long as using it.
static NO_SALT_256: LazyLock<HkdfSha256Salt> = LazyLock::new(|| HkdfSha256Salt::new(b""));
static NO_SALT_384: LazyLock<HkdfSha384Salt> = LazyLock::new(|| HkdfSha384Salt::new(b""));
static NO_SALT_512: LazyLock<HkdfSha512Salt> = LazyLock::new(|| HkdfSha512Salt::new(b""));

impl Hkdf {
    /// `LabeledExtract("", label, ikm)`
    pub(crate) fn extract(self, id: &SuiteId, label: &[u8], ikm: &[u8]) -> Short {
        let mut room = [0; FRONT];
        let pieces = [id.front(&[], label, &mut room), ikm];
        match self {
            Self::Sha256 => Short::take(NO_SALT_256.extract(&pieces)),
            Self::Sha384 => Short::take(NO_SALT_384.extract(&pieces)),
            Self::Sha512 => Short::take(NO_SALT_512.extract(&pieces)),
        }
    }

    /// `LabeledExtract(salt, label, ikm)`
    pub(crate) fn extract_salted(
        self,
        salt: &Short,
        id: &SuiteId,
        label: &[u8],
        ikm: &[u8],
    ) -> Short {
        let mut room = [0; FRONT];
        let pieces = [id.front(&[], label, &mut room), ikm];
        let salt = salt.expose();
        match self {
            Self::Sha256 => Short::take(HkdfSha256Salt::new(salt).extract(&pieces)),
            Self::Sha384 => Short::take(HkdfSha384Salt::new(salt).extract(&pieces)),
            Self::Sha512 => Short::take(HkdfSha512Salt::new(salt).extract(&pieces)),
        }
    }

    /// Prepares what was extracted.
    pub(crate) fn prk(self, extracted: &Short) -> Result<Prk, Error> {
        let bytes = extracted.expose();
        let wrong = |_| Error::Backend(keywright_primitives::Error::Backend);
        Ok(match self {
            Self::Sha256 => Prk::Sha256(HkdfSha256Prk::new(bytes.try_into().map_err(wrong)?)),
            Self::Sha384 => Prk::Sha384(HkdfSha384Prk::new(bytes.try_into().map_err(wrong)?)),
            Self::Sha512 => Prk::Sha512(HkdfSha512Prk::new(bytes.try_into().map_err(wrong)?)),
        })
    }
}

impl Prk {
    /// `LabeledExpand(self, label, info, out.len())` over pieces of info.
    pub(crate) fn expand(
        &self,
        id: &SuiteId,
        label: &[u8],
        info: [&[u8]; 3],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let length = u16::try_from(out.len()).map_err(|_| Error::ExportLength)?;
        let mut room = [0; FRONT];
        let [a, b, c] = info;
        let pieces = [id.front(&length.to_be_bytes(), label, &mut room), a, b, c];
        let expanded = match self {
            Self::Sha256(prk) => prk.expand(&pieces, out),
            Self::Sha384(prk) => prk.expand(&pieces, out),
            Self::Sha512(prk) => prk.expand(&pieces, out),
        };
        expanded.map_err(|_| Error::ExportLength)
    }
}

/// The one-stage functions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shake {
    Shake128,
    Shake256,
}

impl Shake {
    /// `LabeledDerive(ikm, label, context, out.len())` over pieces; the draft writes lengths in two bytes.
    pub(crate) fn derive(
        self,
        id: &SuiteId,
        ikm: &[&[u8]],
        (label, context): (&[u8], &[&[u8]]),
        out: &mut [u8],
    ) -> Result<(), Error> {
        let two = |length| {
            u16::try_from(length)
                .map(u16::to_be_bytes)
                .map_err(|_| Error::ExportLength)
        };
        let (label_len, out_len) = (two(label.len())?, two(out.len())?);
        let middle = [VERSION, id.as_bytes(), &label_len, label, &out_len];
        let pieces = ikm
            .iter()
            .copied()
            .chain(middle)
            .chain(context.iter().copied());
        match self {
            Self::Shake128 => {
                let mut state = Shake128::new();
                pieces.for_each(|piece| state.update(piece));
                state.finish_into(out);
            }
            Self::Shake256 => {
                let mut state = Shake256::new();
                pieces.for_each(|piece| state.update(piece));
                state.finish_into(out);
            }
        }
        Ok(())
    }
}

/// The two ways that key schedules differ in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stages {
    One(Shake),
    Two(Hkdf),
}

impl Kdf {
    pub(crate) const fn stages(self) -> Stages {
        match self {
            Self::HkdfSha256 => Stages::Two(Hkdf::Sha256),
            Self::HkdfSha384 => Stages::Two(Hkdf::Sha384),
            Self::HkdfSha512 => Stages::Two(Hkdf::Sha512),
            Self::Shake128Draft => Stages::One(Shake::Shake128),
            Self::Shake256Draft => Stages::One(Shake::Shake256),
        }
    }
}
