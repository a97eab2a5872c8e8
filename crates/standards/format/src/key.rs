//! A format under a key.
//!
//! ```text
//! FPE key = HKDF-Expand-SHA-256(K, "keywright/fpe/v1" + lp(cipher) + lp(format), key length)
//! ```
//!
//! `cipher` is one of the names of [`Cipher`], `format` the canonical text. K itself encrypts only if it was
//! imported to do so ([`FormatKey::raw`]).

use std::fmt;

use keywright_encoding::lp;
use keywright_fpe::{Algorithm, Backend, Mode, Policy};
use keywright_primitives::kdf::expand_sha256;
use keywright_secret::{Secret, SecretBytes};

use crate::error::{Error, Problem};
use crate::format::{FLOOR, Format, HARD_FLOOR};
use crate::syntax::LONGEST;
use crate::tweak::{DERIVED, TweakKey, TweakPolicy};

/// The block cipher and the size of its key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cipher {
    /// AES with a key of 16 bytes.
    Aes128,
    /// AES with a key of 24 bytes.
    Aes192,
    /// AES with a key of 32 bytes.
    #[default]
    Aes256,
    /// SM4, whose key has 16 bytes.
    Sm4,
}

impl Cipher {
    /// The name that goes into the derivation.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aes128 => "aes-128",
            Self::Aes192 => "aes-192",
            Self::Aes256 => "aes-256",
            Self::Sm4 => "sm4",
        }
    }

    /// Bytes of its key.
    #[must_use]
    pub const fn key_len(self) -> usize {
        match self {
            Self::Aes128 | Self::Sm4 => 16,
            Self::Aes192 => 24,
            Self::Aes256 => 32,
        }
    }

    pub(crate) const fn algorithm(self) -> Algorithm {
        match self {
            Self::Sm4 => Algorithm::Sm4,
            _ => Algorithm::Aes,
        }
    }
}

/// What a key does with a format, and what it is allowed to do beside the usual.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    tweak: TweakPolicy,
    cipher: Cipher,
    mode: Mode,
    engine: Policy,
    backend: Option<Backend>,
    empty_tweak: bool,
}

impl Settings {
    /// FF1 over AES-256 with tweaks of this policy, everything else refused.
    #[must_use]
    pub const fn new(tweak: TweakPolicy) -> Self {
        Self {
            tweak,
            cipher: Cipher::Aes256,
            mode: Mode::Ff1,
            engine: Policy::STRICT,
            backend: None,
            empty_tweak: false,
        }
    }

    /// Over this cipher.
    #[must_use]
    pub const fn with_cipher(mut self, cipher: Cipher) -> Self {
        self.cipher = cipher;
        self
    }

    /// In this mode. Those of the FF3 family reveal; they protect only if that is allowed, too.
    #[must_use]
    pub const fn with_mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// On this backend instead of the machine's best.
    #[must_use]
    pub const fn with_backend(mut self, backend: Backend) -> Self {
        self.backend = Some(backend);
        self
    }

    /// Takes sets of 100 values and more instead of 1,000,000 and more. Who sees enough of their tokens
    /// recovers values.
    #[must_use]
    pub const fn accept_small_domain(mut self) -> Self {
        self.engine = self.engine.accept_small_domain();
        self
    }

    /// Lets the policy `none` leave the tweak empty.
    #[must_use]
    pub const fn allow_empty_tweak(mut self) -> Self {
        self.engine = self.engine.allow_empty_tweak();
        self.empty_tweak = true;
        self
    }

    /// Lets FF3 and FF3-1 protect.
    #[must_use]
    pub const fn allow_legacy_encrypt(mut self) -> Self {
        self.engine = self.engine.allow_legacy_encrypt();
        self
    }

    /// The policy.
    #[must_use]
    pub const fn tweak(&self) -> &TweakPolicy {
        &self.tweak
    }

    /// The cipher.
    #[must_use]
    pub const fn cipher(&self) -> Cipher {
        self.cipher
    }

    /// The mode.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// The least number of values that a set must have.
    #[must_use]
    pub const fn floor(&self) -> u32 {
        self.engine.floor().value()
    }

    pub(crate) const fn engine(&self) -> Policy {
        self.engine
    }

    pub(crate) const fn backend(&self) -> Option<Backend> {
        self.backend
    }

    /// Bytes of a derived tweak.
    pub(crate) const fn tweak_len(&self) -> usize {
        match self.mode {
            Mode::Ff31 | Mode::FpecFf31 => DERIVED - 1,
            _ => DERIVED,
        }
    }
}

/// A key for one format. Any number of threads may use it at once, each through a
/// [`Column`](crate::Column) of its own.
pub struct FormatKey {
    format: Format,
    settings: Settings,
    secret: SecretBytes,
    tweak_key: Option<TweakKey>,
}

impl FormatKey {
    /// Derives the keys of a format from a version key.
    ///
    /// # Errors
    /// [`Error::SmallDomain`]; [`Error::EmptyTweak`]; [`Error::Backend`].
    pub fn derive(key: &Secret<32>, format: &Format, settings: Settings) -> Result<Self, Error> {
        let settings = judged(format, settings)?;
        let names = [
            settings.cipher.name().as_bytes(),
            format.canonical().as_bytes(),
        ];
        let info = lp(&names).map_err(|_| Error::at(1, Problem::TooLong(LONGEST)))?;
        let mut secret = SecretBytes::zeroed(settings.cipher.key_len());
        expand_sha256(
            key.expose(),
            &[b"keywright/fpe/v1", &info],
            secret.expose_mut(),
        )?;
        Ok(Self {
            format: format.clone(),
            settings,
            secret,
            tweak_key: Some(TweakKey::new(key.expose())?),
        })
    }

    /// Encrypts under the key itself: for keys that were imported to go on with tokens made elsewhere.
    ///
    /// # Errors
    /// As [`FormatKey::derive`]; [`Error::RawTweak`]. A key of the wrong size is refused by the engine when
    /// it is used.
    pub fn raw(key: &SecretBytes, format: &Format, settings: Settings) -> Result<Self, Error> {
        let settings = judged(format, settings)?;
        let derives = matches!(settings.tweak, TweakPolicy::Parts(_));
        let tweak_key = match <&[u8; 32]>::try_from(key.expose()) {
            Ok(key) if derives => Some(TweakKey::new(key)?),
            _ if derives => return Err(Error::RawTweak),
            _ => None,
        };
        Ok(Self {
            format: format.clone(),
            settings,
            secret: SecretBytes::from_vec(key.expose().to_vec()),
            tweak_key,
        })
    }

    /// The format.
    #[must_use]
    pub const fn format(&self) -> &Format {
        &self.format
    }

    /// The settings; their policy names what is kept, if the format keeps something.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) const fn secret(&self) -> &SecretBytes {
        &self.secret
    }

    pub(crate) const fn tweak_key(&self) -> Option<&TweakKey> {
        self.tweak_key.as_ref()
    }
}

impl fmt::Debug for FormatKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FormatKey")
            .field("format", &self.format)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

fn judged(format: &Format, mut settings: Settings) -> Result<Settings, Error> {
    if format.keeps() {
        settings.tweak = settings.tweak.with_kept();
    }
    if settings.tweak == TweakPolicy::None && !settings.empty_tweak {
        return Err(Error::EmptyTweak);
    }
    let floor = settings.floor();
    debug_assert!(
        floor == FLOOR || floor == HARD_FLOOR,
        "the engine has two floors"
    );
    let most = format.most();
    if most.is_below(floor.into()) {
        let size = most
            .exact()
            .and_then(|size| size.to_u128())
            .unwrap_or_default();
        return Err(Error::SmallDomain {
            size: u64::try_from(size).unwrap_or_default(),
            floor,
        });
    }
    Ok(settings)
}
