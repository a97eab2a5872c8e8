//! What a module, its slots and a token's mechanisms say about themselves, under the names of the documents.

use std::io::Read as _;

use keywright_encoding::hex;
use keywright_pkcs11::{Ability, Limit, MechanismInfo, Module, SlotId, Token, TokenInfo};
use keywright_pkcs11_names::explain::Provider;
use keywright_pkcs11_names::{FlagSet, Flags, MechanismType, Named as _};
use keywright_primitives::hash::Sha256;
use serde::Serialize;

use crate::error::Error;
use crate::uri::Uri;

/// Two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Version {
    pub major: u8,
    pub minor: u8,
}

impl From<keywright_pkcs11::Version> for Version {
    fn from(version: keywright_pkcs11::Version) -> Self {
        Self {
            major: version.major,
            minor: version.minor,
        }
    }
}

/// `info`: a module.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names are those of CK_INFO")]
#[non_exhaustive]
pub struct ModuleReport {
    pub library_description: String,
    pub library_version: Version,
    pub manufacturer_id: String,
    pub cryptoki_version: Version,
    /// Of the table of functions that is in use.
    pub interface_version: Version,
    pub module_path: String,
    /// Of the module's file, in hexadecimal; `None` if it cannot be read any more.
    pub module_sha256: Option<String>,
    /// The name of a token whose ways are known.
    pub provider: Option<&'static str>,
}

/// What a module says about itself.
///
/// # Errors
/// What the module fails with.
pub fn module(module: &Module) -> Result<ModuleReport, Error> {
    let info = module.info()?;
    let (major, minor) = module.interface_version();
    Ok(ModuleReport {
        library_description: info.description,
        library_version: info.library_version.into(),
        provider: Provider::recognise(&info.manufacturer).map(Provider::name),
        manufacturer_id: info.manufacturer,
        cryptoki_version: info.cryptoki_version.into(),
        interface_version: Version { major, minor },
        module_path: module.path().display().to_string(),
        module_sha256: file_hash(module.path()).ok(),
    })
}

fn file_hash(path: &std::path::Path) -> std::io::Result<String> {
    let mut file = std::fs::File::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex::encode(&hash.finish())),
            count => hash.update(buffer.get(..count).unwrap_or_default()),
        }
    }
}

/// `list-slots`: all slots.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct SlotsReport {
    pub initialized_slot_count: usize,
    pub total_slot_count: usize,
    pub initialized_slots: Vec<SlotReport>,
    pub all_slots: Vec<SlotReport>,
}

/// A slot.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct SlotReport {
    pub slot_id: u64,
    pub description: String,
    pub manufacturer: String,
    pub flags: Vec<&'static str>,
    pub token: Option<TokenReport>,
    /// Why slot or token say nothing.
    pub error: Option<String>,
}

/// A token in a slot.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names are those of CK_TOKEN_INFO")]
#[non_exhaustive]
pub struct TokenReport {
    pub label: String,
    pub manufacturer: String,
    pub model: String,
    pub serial_number: String,
    pub uri: String,
    pub initialized: bool,
    pub flags: Vec<&'static str>,
    pub min_pin_len: u64,
    pub max_pin_len: u64,
    /// `None` if the token does not tell or has no limit.
    pub max_session_count: Option<u64>,
    pub session_count: Option<u64>,
    pub total_public_memory: Option<u64>,
    pub free_public_memory: Option<u64>,
    pub total_private_memory: Option<u64>,
    pub free_private_memory: Option<u64>,
    pub hardware_version: String,
    pub firmware_version: String,
}

impl TokenReport {
    /// Of what a token says.
    #[must_use]
    pub fn new(info: &TokenInfo) -> Self {
        let most = match info.max_sessions {
            Limit::AtMost(number) => Some(number),
            Limit::None | Limit::Untold => None,
        };
        Self {
            label: info.label.clone(),
            manufacturer: info.manufacturer.clone(),
            model: info.model.clone(),
            serial_number: info.serial.clone(),
            uri: Uri::of_token(info).to_string(),
            initialized: info.flags.is_initialized(),
            flags: Flags::new(FlagSet::Token, info.flags.bits())
                .names()
                .collect(),
            min_pin_len: info.pin_len.0,
            max_pin_len: info.pin_len.1,
            max_session_count: most,
            session_count: info.sessions,
            total_public_memory: info.public_memory.0,
            free_public_memory: info.public_memory.1,
            total_private_memory: info.private_memory.0,
            free_private_memory: info.private_memory.1,
            hardware_version: info.hardware.to_string(),
            firmware_version: info.firmware.to_string(),
        }
    }
}

/// All slots of a module. A slot that fails is in the list with its failure.
///
/// # Errors
/// What the module fails with when it is asked for the list.
pub fn slots(module: &Module) -> Result<SlotsReport, Error> {
    let all = module.slots()?;
    let all_slots: Vec<_> = all.iter().map(|slot| one_slot(module, *slot)).collect();
    let initialized = |slot: &&SlotReport| slot.token.as_ref().is_some_and(|t| t.initialized);
    let initialized_slots: Vec<_> = all_slots.iter().filter(initialized).cloned().collect();
    Ok(SlotsReport {
        initialized_slot_count: initialized_slots.len(),
        total_slot_count: all_slots.len(),
        initialized_slots,
        all_slots,
    })
}

fn one_slot(module: &Module, slot: SlotId) -> SlotReport {
    let mut report = SlotReport {
        slot_id: slot.number(),
        description: String::new(),
        manufacturer: String::new(),
        flags: Vec::new(),
        token: None,
        error: None,
    };
    match module.slot_info(slot) {
        Err(error) => report.error = Some(error.to_string()),
        Ok(info) => {
            report.flags = Flags::new(FlagSet::Slot, info.flags).names().collect();
            if info.has_token() {
                match module.token_info(slot) {
                    Ok(token) => report.token = Some(TokenReport::new(&token)),
                    Err(error) => report.error = Some(error.to_string()),
                }
            }
            report.description = info.description;
            report.manufacturer = info.manufacturer;
        }
    }
    report
}

/// `list-mechanisms`: what a token can do.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct MechanismsReport {
    pub slot_id: u64,
    pub mechanism_count: usize,
    pub mechanisms: Vec<MechanismReport>,
}

/// A mechanism.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct MechanismReport {
    pub value: u64,
    pub value_hex: String,
    /// In the header, or the number in hexadecimal.
    pub name: String,
    pub category: &'static str,
    pub legacy: bool,
    pub capabilities: Option<Capabilities>,
    /// In the mechanism's own unit: bits for RSA and curves, mostly bytes for secret keys.
    pub min_key_size: Option<u64>,
    pub max_key_size: Option<u64>,
    /// All flags by name.
    pub flags: Vec<&'static str>,
}

/// What a token does with a mechanism.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[expect(
    missing_docs,
    clippy::struct_excessive_bools,
    reason = "one for each flag of CK_MECHANISM_INFO"
)]
#[non_exhaustive]
pub struct Capabilities {
    pub encrypt: bool,
    pub decrypt: bool,
    pub digest: bool,
    pub sign: bool,
    pub sign_recover: bool,
    pub verify: bool,
    pub verify_recover: bool,
    pub generate: bool,
    pub generate_key_pair: bool,
    pub wrap: bool,
    pub unwrap: bool,
    pub derive: bool,
    pub encapsulate: bool,
    pub decapsulate: bool,
}

impl Capabilities {
    fn new(info: &MechanismInfo, flags: Flags) -> Self {
        Self {
            encrypt: info.can(Ability::Encrypt),
            decrypt: info.can(Ability::Decrypt),
            digest: info.can(Ability::Digest),
            sign: info.can(Ability::Sign),
            sign_recover: flags.has("CKF_SIGN_RECOVER"),
            verify: info.can(Ability::Verify),
            verify_recover: flags.has("CKF_VERIFY_RECOVER"),
            generate: info.can(Ability::Generate),
            generate_key_pair: info.can(Ability::GeneratePair),
            wrap: info.can(Ability::Wrap),
            unwrap: info.can(Ability::Unwrap),
            derive: info.can(Ability::Derive),
            encapsulate: info.can(Ability::Encapsulate),
            decapsulate: info.can(Ability::Decapsulate),
        }
    }

    /// The short words of the text form, in the order of the flags.
    #[must_use]
    pub fn words(&self) -> Vec<&'static str> {
        let all = [
            (self.encrypt, "enc"),
            (self.decrypt, "dec"),
            (self.digest, "hsh"),
            (self.sign, "sig"),
            (self.sign_recover, "srec"),
            (self.verify, "vfy"),
            (self.verify_recover, "vrec"),
            (self.generate, "gen"),
            (self.generate_key_pair, "gkp"),
            (self.wrap, "wra"),
            (self.unwrap, "unw"),
            (self.derive, "der"),
            (self.encapsulate, "ecp"),
            (self.decapsulate, "dcp"),
        ];
        all.into_iter()
            .filter_map(|(set, word)| set.then_some(word))
            .collect()
    }
}

/// The mechanisms of a token.
///
/// # Errors
/// What the token fails with when it is asked for the list; a mechanism that fails alone has no capabilities.
pub fn mechanisms(token: &Token) -> Result<MechanismsReport, Error> {
    let list = token.mechanisms()?;
    let mechanisms: Vec<_> = list
        .into_iter()
        .map(|kind| mechanism(token, kind))
        .collect();
    Ok(MechanismsReport {
        slot_id: token.slot().number(),
        mechanism_count: mechanisms.len(),
        mechanisms,
    })
}

fn mechanism(token: &Token, kind: MechanismType) -> MechanismReport {
    let info = token.mechanism_info(kind).ok();
    let flags = info.map_or(0, |info| info.flags);
    let flags = Flags::new(FlagSet::Mechanism, flags);
    MechanismReport {
        value: kind.number(),
        value_hex: format!("0x{:08x}", kind.number()),
        name: kind.to_string(),
        category: kind.category().name(),
        legacy: kind.is_legacy(),
        capabilities: info.map(|info| Capabilities::new(&info, flags)),
        min_key_size: info.map(|info| info.min_key_size),
        max_key_size: info.map(|info| info.max_key_size),
        flags: flags.names().collect(),
    }
}

/// `list-mechanisms --diff`: where two tokens differ.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct MechanismDiff {
    pub identical: bool,
    pub only_first: Vec<MechanismReport>,
    pub only_second: Vec<MechanismReport>,
    pub different: Vec<DifferentMechanism>,
}

/// A mechanism that two tokens do otherwise: other key sizes or other flags.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct DifferentMechanism {
    pub first: MechanismReport,
    pub second: MechanismReport,
}

/// Compares the mechanisms of two tokens by their numbers.
#[must_use]
pub fn diff(first: &MechanismsReport, second: &MechanismsReport) -> MechanismDiff {
    let only = |one: &MechanismsReport, other: &MechanismsReport| -> Vec<MechanismReport> {
        let lacks = |mechanism: &&MechanismReport| {
            other
                .mechanisms
                .iter()
                .all(|known| known.value != mechanism.value)
        };
        one.mechanisms.iter().filter(lacks).cloned().collect()
    };
    let told = |one: &MechanismReport| (one.min_key_size, one.max_key_size, one.flags.clone());
    let mut different = Vec::new();
    for mine in &first.mechanisms {
        let theirs = second.mechanisms.iter().find(|one| one.value == mine.value);
        if let Some(theirs) = theirs.filter(|theirs| told(theirs) != told(mine)) {
            different.push(DifferentMechanism {
                first: mine.clone(),
                second: theirs.clone(),
            });
        }
    }
    let (only_first, only_second) = (only(first, second), only(second, first));
    MechanismDiff {
        identical: only_first.is_empty() && only_second.is_empty() && different.is_empty(),
        only_first,
        only_second,
        different,
    }
}
