//! What stands beside protected data: per column the key's id and version, the canonical format, the tweak
//! policy, and a check value and a MAC under the key.
//!
//! ```text
//! text = for each column: lp(name) + lp(format) + lp(tweak) + lp(cipher) + lp(mask) + lp(small domain, u8) +
//!        lp(key name) + lp(key id, hex) + lp(version, u32) + lp(check value, hex); what is absent is empty;
//!        then, if the quoting of the file was said, lp("quoting") + lp(double, accepted or none)
//! MAC of column i = HMAC-SHA-256(MAC key of its key, "keywright/protection/v1" + i (u32) + text)
//! ```
//!
//! Each MAC covers all columns, so whoever has one key notices any change. A wrong key is told from a changed
//! text by the check value. A column without a key (masked without a hash) has neither.

use keywright_encoding::{hex, put_lp};
use keywright_format::{Cipher, ColumnRule, Format, Mask, Settings, TweakPolicy};
use keywright_secret::ct_eq;
use keywright_tabular::csv::{Layout, Quoting};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::key::{ColumnKey, Keys};

/// The largest description that is read, in bytes.
pub const LONGEST_PROTECTION: usize = 4 << 20;

/// How the columns of a file are protected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protection {
    keywright_protection: u32,
    /// How fields of the file are quoted, if the caller said so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    quoting: Option<QuotingEntry>,
    columns: Vec<Entry>,
}

/// How fields are quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum QuotingEntry {
    Double,
    Accepted,
    None,
}

impl QuotingEntry {
    const fn of(quoting: Quoting) -> Option<Self> {
        match quoting {
            Quoting::Assumed => None,
            Quoting::Double => Some(Self::Double),
            Quoting::Accepted => Some(Self::Accepted),
            Quoting::None => Some(Self::None),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Double => "double",
            Self::Accepted => "accepted",
            Self::None => "none",
        }
    }

    const fn quoting(self) -> Quoting {
        match self {
            Self::Double => Quoting::Double,
            Self::Accepted => Quoting::Accepted,
            Self::None => Quoting::None,
        }
    }
}

/// One column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) tweak: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) cipher: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) mask: Option<String>,
    /// Whether sets below the floor were accepted.
    pub(crate) small_domain: bool,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) key: Option<KeyEntry>,
}

/// The key of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyEntry {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) name: Option<String>,
    pub(crate) id: String,
    pub(crate) version: u32,
    pub(crate) check: String,
    pub(crate) mac: String,
}

impl Entry {
    /// A column as its rule says it, with the key that it takes.
    pub(crate) fn of(rule: &ColumnRule, keys: &Keys) -> Result<Self, Error> {
        let takes_key = rule.format().is_some() || rule.mask() == Some(&Mask::Hash);
        let key = match takes_key {
            true => Some(keys.need(rule.name(), rule.key())?),
            false => None,
        };
        let settings = rule.settings();
        let format = rule.format();
        Ok(Self {
            name: rule.name().to_owned(),
            format: format.map(|format| format.canonical().to_owned()),
            tweak: format.map(|_| rule.tweak().to_string()),
            cipher: format.map(|_| settings.cipher().name().to_owned()),
            mask: rule.mask().map(Mask::to_string),
            small_domain: format.is_some() && settings.floor() < keywright_format::FLOOR,
            key: key.map(|key| KeyEntry::of(rule.key(), key)).transpose()?,
        })
    }

    /// The rule without its key.
    fn is_rule_of(&self, other: &Self) -> bool {
        let bare = |entry: &Self| Self {
            key: None,
            ..entry.clone()
        };
        let name = |entry: &Self| entry.key.as_ref().map(|key| key.name.clone());
        bare(self) == bare(other) && name(self) == name(other)
    }

    /// What the format is encrypted with.
    pub(crate) fn described(&self) -> Result<Option<(Format, Settings)>, Error> {
        let (Some(format), Some(tweak)) = (&self.format, &self.tweak) else {
            return Ok(None);
        };
        let wrong = |source| Error::Rule {
            column: self.name.clone(),
            source,
        };
        let format = Format::parse(format).map_err(wrong)?;
        let policy = TweakPolicy::parse(tweak).map_err(wrong)?;
        let ciphers = [Cipher::Aes128, Cipher::Aes192, Cipher::Aes256, Cipher::Sm4];
        let named = |cipher: &&Cipher| Some(cipher.name()) == self.cipher.as_deref();
        let cipher = ciphers.iter().find(named).ok_or(Error::ProtectionChanged)?;
        let settings = Settings::new(policy).with_cipher(*cipher);
        Ok(Some((
            format,
            match self.small_domain {
                true => settings.accept_small_domain(),
                false => settings,
            },
        )))
    }
}

impl KeyEntry {
    fn of(name: Option<&str>, key: &ColumnKey) -> Result<Self, Error> {
        Ok(Self {
            name: name.map(str::to_owned),
            id: hex::encode(key.id()),
            version: key.version(),
            check: hex::encode(&key.check()?),
            mac: String::new(),
        })
    }
}

impl Protection {
    /// The description of columns of a file, with their MACs.
    pub(crate) fn seal(columns: Vec<Entry>, layout: &Layout, keys: &Keys) -> Result<Self, Error> {
        let mut sealed = Self {
            keywright_protection: 1,
            quoting: layout.quoting().and_then(QuotingEntry::of),
            columns,
        };
        let text = sealed.text()?;
        for (place, entry) in sealed.columns.iter_mut().enumerate() {
            if let Some(key) = &mut entry.key {
                let own = keys.need(&entry.name, key.name.as_deref())?;
                key.mac = hex::encode(&mac(own, place, &text)?);
            }
        }
        Ok(sealed)
    }

    /// Reads what stands beside a file. Nothing is believed of it before [`crate::Plan::reveal`].
    ///
    /// # Errors
    /// [`Error::ProtectionChanged`] if it is no description of this version.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() > LONGEST_PROTECTION {
            return Err(Error::ProtectionChanged);
        }
        let parsed: Self =
            serde_json::from_slice(bytes).map_err(|_malformed| Error::ProtectionChanged)?;
        match parsed.keywright_protection {
            1 => Ok(parsed),
            _ => Err(Error::ProtectionChanged),
        }
    }

    /// The description as it stands beside the file: JSON.
    #[must_use]
    pub fn to_text(&self) -> String {
        // Texts and numbers always have a JSON form.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    pub(crate) fn columns(&self) -> &[Entry] {
        &self.columns
    }

    /// How fields of the file are quoted, if that was said when it was protected. Only for reading its header
    /// before [`crate::Plan::reveal`] believes the description.
    #[must_use]
    pub fn quoting(&self) -> Option<Quoting> {
        self.quoting.map(QuotingEntry::quoting)
    }

    /// Whether a file is read with quotes as it was protected. Tables that are no CSV files have none.
    pub(crate) fn suits(&self, layout: &Layout) -> Result<(), Error> {
        let Some((quoting, now)) = self.quoting().zip(layout.quoting()) else {
            return Ok(());
        };
        match (quoting == Quoting::None) == (now == Quoting::None) {
            true => Ok(()),
            false => Err(Error::QuotingChanged { quoting }),
        }
    }

    /// Ids and versions of the keys, by the columns that they are for.
    pub fn keys(&self) -> impl Iterator<Item = (&str, &str, u32)> {
        self.columns.iter().filter_map(|entry| {
            let key = entry.key.as_ref()?;
            Some((entry.name.as_str(), key.id.as_str(), key.version))
        })
    }

    /// Whether the keys are those it was made with, and nothing of it was changed.
    pub(crate) fn verify(&self, keys: &Keys) -> Result<(), Error> {
        for entry in &self.columns {
            let Some(key) = &entry.key else { continue };
            let own = keys.need(&entry.name, key.name.as_deref())?;
            // Whose check value fits has the right key, whatever id and version are written beside it.
            let check: [u8; 16] =
                hex::decode_array(&key.check).map_err(|_malformed| Error::ProtectionChanged)?;
            if !ct_eq(&own.check()?, &check) {
                return Err(Error::WrongKey {
                    column: entry.name.clone(),
                });
            }
        }
        let text = self.text()?;
        for (place, entry) in self.columns.iter().enumerate() {
            let Some(key) = &entry.key else { continue };
            let own = keys.need(&entry.name, key.name.as_deref())?;
            let given: [u8; 32] =
                hex::decode_array(&key.mac).map_err(|_malformed| Error::ProtectionChanged)?;
            if !ct_eq(&mac(own, place, &text)?, &given) {
                return Err(Error::ProtectionChanged);
            }
        }
        Ok(())
    }

    /// Whether these are the rules it was made with.
    pub(crate) fn is_of(&self, rules: &[Entry]) -> Result<(), Error> {
        for rule in rules {
            let mut own = self.columns.iter();
            if !own.any(|entry| entry.is_rule_of(rule)) {
                return Err(Error::RulesChanged {
                    column: rule.name.clone(),
                });
            }
        }
        let mut others = self.columns.iter();
        match others.find(|entry| !rules.iter().any(|rule| rule.name == entry.name)) {
            Some(entry) => Err(Error::RulesChanged {
                column: entry.name.clone(),
            }),
            None => Ok(()),
        }
    }

    /// What the MACs cover.
    pub(crate) fn text(&self) -> Result<Vec<u8>, Error> {
        let mut text = Vec::new();
        let bytes = |text: &Option<String>| text.clone().unwrap_or_default().into_bytes();
        for entry in &self.columns {
            let key = entry.key.as_ref();
            let parts = [
                entry.name.clone().into_bytes(),
                bytes(&entry.format),
                bytes(&entry.tweak),
                bytes(&entry.cipher),
                bytes(&entry.mask),
                vec![u8::from(entry.small_domain)],
                key.map(|key| bytes(&key.name)).unwrap_or_default(),
                key.map(|key| key.id.clone().into_bytes())
                    .unwrap_or_default(),
                key.map(|key| key.version.to_be_bytes().to_vec())
                    .unwrap_or_default(),
                key.map(|key| key.check.clone().into_bytes())
                    .unwrap_or_default(),
            ];
            for part in &parts {
                put_lp(&mut text, part).map_err(|_too_long| Error::ProtectionChanged)?;
            }
        }
        if let Some(quoting) = self.quoting {
            for part in ["quoting", quoting.name()] {
                put_lp(&mut text, part.as_bytes()).map_err(|_too_long| Error::ProtectionChanged)?;
            }
        }
        Ok(text)
    }
}

fn mac(key: &ColumnKey, place: usize, text: &[u8]) -> Result<[u8; 32], Error> {
    let place = u32::try_from(place).unwrap_or(u32::MAX).to_be_bytes();
    Ok(key
        .mac_key()?
        .mac_pieces(&[b"keywright/protection/v1", &place, text]))
}
