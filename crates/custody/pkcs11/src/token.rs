//! Tokens: how one is chosen, and what it can do.

use cryptoki_sys as ck;
use keywright_pkcs11_names::MechanismType;

use crate::error::Error;
use crate::mechanism::Mechanism;
use crate::module::Module;
use crate::slot::{SlotId, TokenInfo};

/// Which token is meant. What is `None` does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "what a token can be told apart by"
)]
pub struct TokenQuery {
    /// Its label, exactly.
    pub label: Option<String>,
    /// Its serial number, exactly.
    pub serial: Option<String>,
    /// Its slot.
    pub slot: Option<SlotId>,
    /// Who made it, exactly.
    pub manufacturer: Option<String>,
    /// What it is, exactly.
    pub model: Option<String>,
}

impl TokenQuery {
    /// The token with this label.
    #[must_use]
    pub fn label(label: &str) -> Self {
        Self {
            label: Some(label.to_owned()),
            ..Self::default()
        }
    }

    /// Whether this is it.
    #[must_use]
    pub fn matches(&self, info: &TokenInfo) -> bool {
        // By bytes: a text with marks for what is not UTF-8 would stand for many tokens.
        let same = |wanted: &Option<String>, is: &[u8]| {
            let wanted = wanted.as_deref().map(str::as_bytes);
            wanted.is_none_or(|wanted| wanted == is)
        };
        let names = &info.names;
        same(&self.label, &names.label)
            && same(&self.serial, &names.serial)
            && same(&self.manufacturer, &names.manufacturer)
            && same(&self.model, &names.model)
            && self.slot.is_none_or(|slot| slot == info.slot)
    }
}

/// What a token can do with one mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MechanismInfo {
    /// Smallest key, in the mechanism's unit (bits for RSA and curves, mostly bytes for secret keys).
    pub min_key_size: u64,
    /// Largest key, in the same unit.
    pub max_key_size: u64,
    /// `CKF_` flags of the mechanism.
    pub flags: u64,
}

/// What a mechanism is asked for: the flag that must be set, and its name in an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub enum Ability {
    Encrypt,
    Decrypt,
    Digest,
    Sign,
    Verify,
    Generate,
    GeneratePair,
    Wrap,
    Unwrap,
    Derive,
    Encapsulate,
    Decapsulate,
}

impl Ability {
    pub(crate) const fn flag(self) -> u64 {
        match self {
            Self::Encrypt => ck::CKF_ENCRYPT,
            Self::Decrypt => ck::CKF_DECRYPT,
            Self::Digest => ck::CKF_DIGEST,
            Self::Sign => ck::CKF_SIGN,
            Self::Verify => ck::CKF_VERIFY,
            Self::Generate => ck::CKF_GENERATE,
            Self::GeneratePair => ck::CKF_GENERATE_KEY_PAIR,
            Self::Wrap => ck::CKF_WRAP,
            Self::Unwrap => ck::CKF_UNWRAP,
            Self::Derive => ck::CKF_DERIVE,
            Self::Encapsulate => ck::CKF_ENCAPSULATE,
            Self::Decapsulate => ck::CKF_DECAPSULATE,
        }
    }

    /// As it stands in an error.
    #[must_use]
    pub const fn what(self) -> &'static str {
        match self {
            Self::Encrypt => "encryption",
            Self::Decrypt => "decryption",
            Self::Digest => "hashing",
            Self::Sign => "signing",
            Self::Verify => "verifying",
            Self::Generate => "making keys",
            Self::GeneratePair => "making key pairs",
            Self::Wrap => "wrapping",
            Self::Unwrap => "unwrapping",
            Self::Derive => "derivation",
            Self::Encapsulate => "encapsulation",
            Self::Decapsulate => "decapsulation",
        }
    }
}

impl MechanismInfo {
    /// Whether the token does this with it.
    #[must_use]
    pub const fn can(&self, ability: Ability) -> bool {
        self.flags & ability.flag() != 0
    }
}

/// A token in a slot.
#[derive(Clone, Debug)]
pub struct Token {
    module: Module,
    slot: SlotId,
}

impl Token {
    pub(crate) const fn new(module: Module, slot: SlotId) -> Self {
        Self { module, slot }
    }

    /// Its module.
    #[must_use]
    pub const fn module(&self) -> &Module {
        &self.module
    }

    /// Its slot.
    #[must_use]
    pub const fn slot(&self) -> SlotId {
        self.slot
    }

    /// What it says about itself.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn info(&self) -> Result<TokenInfo, Error> {
        self.module.token_info(self.slot)
    }

    /// The mechanisms it has, in ascending order.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn mechanisms(&self) -> Result<Vec<MechanismType>, Error> {
        let inner = self.module.inner();
        let _up = inner.up();
        let mut numbers = inner.calls().mechanisms(self.slot.number())?;
        numbers.sort_unstable();
        Ok(numbers.into_iter().map(MechanismType::new).collect())
    }

    /// What it can do with a mechanism.
    ///
    /// # Errors
    /// [`Error::Failed`] with `CKR_MECHANISM_INVALID` if it lacks it.
    pub fn mechanism_info(&self, mechanism: MechanismType) -> Result<MechanismInfo, Error> {
        let inner = self.module.inner();
        let _up = inner.up();
        let info = inner
            .calls()
            .mechanism_info(self.slot.number(), mechanism.value())?;
        Ok(MechanismInfo {
            min_key_size: info.ulMinKeySize,
            max_key_size: info.ulMaxKeySize,
            flags: info.flags,
        })
    }

    /// Whether it can do this.
    #[must_use]
    pub fn can(&self, mechanism: &Mechanism<'_>, ability: Ability) -> bool {
        let info = self.mechanism_info(mechanism.kind());
        info.is_ok_and(|info| info.can(ability))
    }

    /// Refuses what it cannot do, and says which of its mechanisms would do the same kind of thing.
    ///
    /// # Errors
    /// [`Error::NoMechanism`].
    pub fn require(&self, mechanism: &Mechanism<'_>, ability: Ability) -> Result<(), Error> {
        if self.can(mechanism, ability) {
            return Ok(());
        }
        let able = |kind: &MechanismType| {
            self.mechanism_info(*kind)
                .is_ok_and(|info| info.can(ability))
        };
        Err(Error::NoMechanism {
            wanted: mechanism.kind(),
            what: ability.what(),
            instead: self.mechanisms()?.into_iter().filter(able).collect(),
        })
    }

    /// Refuses a key size that the mechanism does not take. A token whose limits are both zero has none.
    ///
    /// # Errors
    /// [`Error::KeySize`], [`Error::Failed`].
    pub fn require_size(&self, mechanism: &Mechanism<'_>, size: u64) -> Result<(), Error> {
        let MechanismInfo {
            min_key_size: min,
            max_key_size: max,
            ..
        } = self.mechanism_info(mechanism.kind())?;
        if max == 0 || (min..=max).contains(&size) {
            return Ok(());
        }
        Err(Error::KeySize {
            mechanism: mechanism.kind(),
            min,
            max,
            size,
        })
    }
}
