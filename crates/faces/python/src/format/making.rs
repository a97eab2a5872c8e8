//! How a format object is made, and what it says of itself.

use keywright_format::{
    Cipher, Count, Format, FormatKey, Mask, Masker, OnBad, Rules, Settings, TweakPart, TweakPolicy,
};
use keywright_secret::SecretBytes;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::Keyed;
use crate::column;
use crate::failure::Failure;
use crate::options::Options;
use crate::secrets::{key_bytes, version_key};

/// The arguments that have names.
const OPTIONS: &[&str] = &[
    "column",
    "tweak",
    "cipher",
    "mode",
    "mask",
    "backend",
    "raw",
    "accept_small_domain",
    "allow_empty_tweak",
    "allow_legacy_encrypt",
];

/// By the one-line form.
pub(super) fn by_text(
    text: &str,
    key: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<super::Format> {
    let options = Options::new(options, OPTIONS)?;
    let format = Format::parse(text).map_err(Failure::from)?;
    let settings = settings(&options)?;
    let column = options.get::<String>("column")?.unwrap_or_default();
    let mask = options.get::<String>("mask")?;
    let mask = mask.map(|mask| Mask::parse(&mask)).transpose();
    let plan = Plan {
        settings,
        mask: mask.map_err(Failure::from)?,
        column,
        on_bad: column::OnBad::Fail,
        rule: None,
        is_raw: options.is_open("raw")?,
    };
    plan.carried_out(format, key)
}

/// By a rule of a rules file.
pub(super) fn by_rules(
    rules: &str,
    name: &str,
    key: Option<&Bound<'_, PyAny>>,
) -> PyResult<super::Format> {
    let rules = Rules::parse(rules).map_err(Failure::from)?;
    let rule = rules.columns().iter().find(|rule| rule.name() == name);
    let rule = rule
        .ok_or_else(|| Failure::parameter("column_unknown", "the rules do not name this column"))?;
    let rule_says = match rule.on_bad() {
        OnBad::Null => column::OnBad::Null,
        OnBad::Fail => column::OnBad::Fail,
        OnBad::Reject => column::OnBad::Reject,
    };
    let plan = Plan {
        settings: rule.settings(),
        mask: rule.mask().cloned(),
        column: name.to_owned(),
        // Rows can be rejected only by those who ask for them: the answer has another shape then.
        on_bad: match rule_says {
            column::OnBad::Null => column::OnBad::Null,
            column::OnBad::Fail | column::OnBad::Reject => column::OnBad::Fail,
        },
        rule: Some(rule_says),
        is_raw: false,
    };
    match rule.format() {
        Some(format) => plan.carried_out(format.clone(), key),
        None => plan.masked(key),
    }
}

struct Plan {
    settings: Settings,
    mask: Option<Mask>,
    column: String,
    on_bad: column::OnBad,
    rule: Option<column::OnBad>,
    is_raw: bool,
}

impl Plan {
    fn carried_out(
        self,
        format: Format,
        key: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<super::Format> {
        let secret = key.map(key_bytes).transpose()?;
        if secret.is_some() && names_column(self.settings.tweak()) && self.column.is_empty() {
            let text = "the tweak is made of the column's name: give it, or another tweak policy";
            return Err(Failure::parameter("column_missing", text).into());
        }
        let masker = match self.mask {
            Some(mask) => Some(masker(mask, secret.as_ref(), &self.column)?),
            None => None,
        };
        let key = match &secret {
            Some(secret) if self.is_raw => Some(FormatKey::raw(secret, &format, self.settings)),
            Some(secret) => Some(FormatKey::derive(
                &version_key(secret)?,
                &format,
                self.settings,
            )),
            None => None,
        };
        let key = key.transpose().map_err(Failure::from)?;
        let tweak = key.as_ref().map(|key| key.settings().tweak().to_string());
        let keyed = Keyed {
            key,
            masker,
            column: self.column,
            on_bad: self.on_bad,
            rule: self.rule,
        };
        Ok(super::Format::of(Some(format), tweak, keyed))
    }

    /// A mask without a format.
    fn masked(self, key: Option<&Bound<'_, PyAny>>) -> PyResult<super::Format> {
        let secret = key.map(key_bytes).transpose()?;
        let mask = self.mask.unwrap_or(Mask::Null);
        let keyed = Keyed {
            key: None,
            masker: Some(masker(mask, secret.as_ref(), &self.column)?),
            column: self.column,
            on_bad: self.on_bad,
            rule: self.rule,
        };
        Ok(super::Format::of(None, None, keyed))
    }
}

fn names_column(tweak: &TweakPolicy) -> bool {
    matches!(tweak, TweakPolicy::Parts(parts) if parts.contains(&TweakPart::Column))
}

fn masker(mask: Mask, secret: Option<&SecretBytes>, column: &str) -> Result<Masker, Failure> {
    let masker = match secret {
        Some(secret) if mask == Mask::Hash => Masker::keyed(mask, &version_key(secret)?, column),
        _ => Masker::new(mask),
    };
    Ok(masker?)
}

fn settings(options: &Options<'_, '_>) -> PyResult<Settings> {
    let tweak = match options.get::<String>("tweak")? {
        Some(text) => TweakPolicy::parse(&text).map_err(Failure::from)?,
        None => TweakPolicy::default(),
    };
    let mut settings = Settings::new(tweak).with_mode(options.mode()?);
    if let Some(word) = options.get::<String>("cipher")? {
        settings = settings.with_cipher(cipher(&word)?);
    }
    if let Some(backend) = options.backend()? {
        settings = settings.with_backend(backend);
    }
    if options.is_open("accept_small_domain")? {
        settings = settings.accept_small_domain();
    }
    if options.is_open("allow_empty_tweak")? {
        settings = settings.allow_empty_tweak();
    }
    if options.is_open("allow_legacy_encrypt")? {
        settings = settings.allow_legacy_encrypt();
    }
    Ok(settings)
}

fn cipher(word: &str) -> Result<Cipher, Failure> {
    let all = [Cipher::Aes128, Cipher::Aes192, Cipher::Aes256, Cipher::Sm4];
    let found = all.into_iter().find(|cipher| cipher.name() == word);
    found.ok_or_else(|| {
        let text = "the cipher is one of aes-128, aes-192, aes-256 and sm4";
        Failure::parameter("cipher", text)
    })
}

/// What `describe` answers.
pub(super) fn description<'py>(
    py: Python<'py>,
    format: &Format,
    tweak: Option<&str>,
) -> PyResult<Bound<'py, PyDict>> {
    let example = format.example();
    let embedding = format.checker().embedding(example.as_bytes()).ok();
    let size = |count: Count| count.exact().and_then(|size| size.to_u128());
    let answer = PyDict::new(py);
    answer.set_item("canonical", format.canonical())?;
    answer.set_item("example", example)?;
    answer.set_item("keeps", format.keeps())?;
    answer.set_item("least_values", size(format.least()))?;
    answer.set_item("most_values", size(format.most()))?;
    answer.set_item("least_bits", format.least().bits())?;
    answer.set_item("most_bits", format.most().bits())?;
    answer.set_item("radix", embedding.map(|found| found.radix))?;
    answer.set_item("digits", embedding.map(|found| found.digits))?;
    answer.set_item("tweak", tweak)?;
    Ok(answer)
}
