//! What a holder is asked to keep: refused with a reason beforehand, and taken back if nothing came of it.

use std::sync::Arc;

use keywright_custody::fit::{self, Misfit};
use keywright_custody::{
    Description, Detail, FormatDetail, HolderOperation, KeyMaterial, Particulars, Rules,
    TreeDetail, rows,
};
use keywright_format::{FLOOR, Format, FormatKey, Mask, Settings, TweakPolicy};
use keywright_hdkey::Scheme;
use keywright_hdkey::mnemonic::{Mnemonic, WordCount};
use keywright_policy::Policy;
use keywright_primitives::random::RandomStream;
use keywright_primitives::rsa::RsaSize;
use keywright_primitives::signature::rsa::RsaSigningKey;
use keywright_secret::{Secret, SecretBytes};
use keywright_types::{
    Algorithm, BindingKind, Custody, Export, KeyId, KeySpec, KeyVersion, Name, Operation, Origin,
    Purpose, TenantId,
};

use crate::{Admin, AdminError, WrappedKey};

/// What a new context is.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever makes a context must face each part"
)]
pub struct NewContext<'a> {
    /// What is fixed about its key.
    pub spec: KeySpec,
    /// What its envelopes are bound to.
    pub binding: BindingKind,
    /// What is fixed besides: the format of a key of purpose `tokenise`.
    pub detail: Option<Arc<Detail>>,
    /// The secret of the first version, if it is brought in.
    pub secret: Option<&'a SecretBytes>,
    /// In its place the same, wrapped to an import key.
    pub wrapped: Option<WrappedKey<'a>>,
    /// What rotates it, and what its destruction needs.
    pub rules: Rules,
}

impl<'a> NewContext<'a> {
    /// A context whose key is made here and has nothing besides its specification.
    #[must_use]
    pub fn new(spec: KeySpec, binding: BindingKind) -> Self {
        Self {
            spec,
            binding,
            detail: None,
            secret: None,
            wrapped: None,
            rules: Rules::default(),
        }
    }

    /// Whether its seed is made of words, which are shown once.
    pub(crate) fn wants_words(&self) -> bool {
        let words = |detail: &Detail| matches!(detail, Detail::Tree(tree) if tree.seed == BIP39);
        !self.is_imported() && self.detail.as_deref().is_some_and(words)
    }

    /// Whether its first secret is brought in.
    pub(crate) const fn is_imported(&self) -> bool {
        self.secret.is_some() || self.wrapped.is_some()
    }

    pub(crate) fn description(&self, id: KeyId, tenant: TenantId, name: &Name) -> Description {
        Description {
            id,
            tenant,
            name: name.clone(),
            spec: self.spec,
            detail: self.detail.clone(),
            binding: self.binding,
            min_open: KeyVersion::FIRST,
            rules: self.rules.clone(),
        }
    }

    pub(crate) fn particulars(&self) -> Particulars<'a> {
        Particulars {
            detail: self.detail.clone(),
            secret: self.secret,
        }
    }
}

impl Admin {
    /// Refuses what cannot be kept, with the reason where it is not this holder's alone.
    pub(crate) fn check_new(&self, new: &NewContext<'_>) -> Result<(), AdminError> {
        let spec = &new.spec;
        fit::check(spec)?;
        new.rules
            .check(&Rules::default())
            .map_err(rows::Error::Rule)?;
        if let Some(Detail::Format(detail)) = new.detail.as_deref() {
            check_format(detail)?;
        }
        let holder = self.shared.holder();
        // What comes wrapped is said to come from elsewhere for ever, and a seed has a way of its own.
        if new.wrapped.is_some()
            && (spec.origin != Origin::Imported || spec.purpose == Purpose::Tree)
        {
            return Err(AdminError::Unsupported);
        }
        let works = |spec: &KeySpec| {
            let first = HolderOperation::first_of(spec.purpose);
            holder.supports(spec, first)
        };
        // Envelopes alone are bound; and a format belongs to a key that makes tokens, and to no other.
        let sealing = matches!(spec.purpose, Purpose::Deterministic | Purpose::Seal);
        let bound = new.binding != BindingKind::None && !sealing;
        let of_format = matches!(new.detail.as_deref(), Some(Detail::Format(_)));
        let of_tree = matches!(new.detail.as_deref(), Some(Detail::Tree(_)));
        if bound {
            return Err(Misfit::Bound(spec.purpose).into());
        }
        if of_format != (spec.purpose == Purpose::Tokenise)
            || of_tree != (spec.purpose == Purpose::Tree)
        {
            return Err(AdminError::Unsupported);
        }
        if let Some(Detail::Tree(tree)) = new.detail.as_deref() {
            check_tree(spec, tree)?;
        }
        if works(spec) {
            return Ok(());
        }
        let simplest = KeySpec {
            algorithm: Algorithm::TokenGcm12,
            custody: Custody::Token,
            ..KeySpec::seal()
        };
        Err(match spec.custody {
            Custody::Token if !works(&simplest) => Misfit::NoToken.into(),
            Custody::Token if spec.origin == Origin::Imported => Misfit::ImportInToken.into(),
            Custody::Token => Misfit::TokenLacks(spec.algorithm).into(),
            _ => AdminError::Unsupported,
        })
    }

    /// Has the holder take back the key of an order that came to nothing. Where it is not known what came of
    /// it, the key stays.
    pub(crate) fn unless_kept<T>(
        &self,
        done: Result<T, AdminError>,
        made: Option<Arc<KeyMaterial>>,
        operation: Operation,
    ) -> Result<T, AdminError> {
        if let (Err(_), Some(material)) = (&done, made) {
            let (key, version) = (material.key(), material.version());
            if matches!(rows::has_version(&self.store, key, version), Ok(false)) {
                let permit = Policy::owner()
                    .at(self.store.epoch())
                    .permit(key, operation);
                self.shared.holder().discard(&permit, &material);
            }
        }
        done
    }
}

/// Whether a tree's seed, export and public nodes go together.
fn check_tree(spec: &KeySpec, tree: &TreeDetail) -> Result<(), AdminError> {
    if tree.soft_children && spec.export != Export::Never {
        return Err(AdminError::SoftExport);
    }
    let scheme: Option<Scheme> = spec.algorithm.name().parse().ok();
    let soft = scheme.is_some_and(Scheme::has_soft_children);
    // Words are there to be shown; a seed of which nobody saw the words has none.
    let shown = spec.export == Export::Plain || spec.origin == Origin::Imported;
    let seed = match tree.seed.as_str() {
        BIP39 => shown,
        RAW => spec.export != Export::Plain || spec.origin == Origin::Imported,
        APOLLO => spec.origin == Origin::Imported,
        _ => false,
    };
    match (seed, soft || !tree.soft_children) {
        (true, true) => Ok(()),
        (_, false) => Err(Misfit::HardenedOnly(spec.algorithm).into()),
        (false, true) => Err(AdminError::Unsupported),
    }
}

/// A new secret for a key whose making takes seconds: made before the order has the hand, so that no other order
/// waits for it. `None` for keys that are made in the order itself.
pub(crate) fn slow_secret(spec: &KeySpec) -> Result<Option<SecretBytes>, AdminError> {
    let size = match spec.algorithm {
        Algorithm::Rsa2048Pkcs1 | Algorithm::Rsa2048Pss => RsaSize::Rsa2048,
        Algorithm::Rsa3072Pkcs1 | Algorithm::Rsa3072Pss => RsaSize::Rsa3072,
        Algorithm::Rsa4096Pkcs1 | Algorithm::Rsa4096Pss => RsaSize::Rsa4096,
        _ => return Ok(None),
    };
    let slow = spec.custody == Custody::Wrapped && spec.purpose == Purpose::Sign;
    if !slow {
        return Ok(None);
    }
    let made = RsaSigningKey::generate(size).and_then(|key| key.to_pkcs8());
    Ok(Some(made?))
}

/// A new seed of words, and the words.
pub(crate) fn new_words(
    random: &mut RandomStream,
) -> Result<(SecretBytes, SecretBytes), AdminError> {
    let failed = |_| AdminError::Randomness(keywright_primitives::Error::Randomness);
    let mnemonic = Mnemonic::generate(WordCount::TwentyFour, random).map_err(failed)?;
    let seed = mnemonic.to_seed("");
    Ok((
        SecretBytes::from_vec(seed.expose().to_vec()),
        mnemonic.phrase(),
    ))
}

/// The names of the ways in which a seed is made here.
const BIP39: &str = "bip39";
const RAW: &str = "raw";
/// Not made here, but brought in.
const APOLLO: &str = "apollo";

/// A format as a key's detail has it: every text in its canonical form, what the format keeps in the tweak.
///
/// # Errors
/// [`AdminError::Format`] for a set that is too small, or a tweak that is empty; [`AdminError::CallersTweak`].
pub fn format_detail(
    format: &Format,
    (settings, column): (Settings, &str),
    mask: Option<&Mask>,
) -> Result<FormatDetail, AdminError> {
    if *settings.tweak() == TweakPolicy::Caller {
        return Err(AdminError::CallersTweak);
    }
    // A key of zeros judges set and settings; nothing is made with it.
    let nobody = Secret::from_fill(|_| ());
    let judged = FormatKey::derive(&nobody, format, settings).map_err(AdminError::Format)?;
    let settings = judged.settings();
    Ok(FormatDetail {
        format: format.canonical().to_owned(),
        tweak: settings.tweak().to_string(),
        column: column.to_owned(),
        small_domain: settings.floor() < FLOOR,
        mask: mask.map(Mask::to_string),
    })
}

/// Whether a format is written as [`format_detail`] writes it: another spelling of the same would be another
/// key (design 7.20).
fn check_format(detail: &FormatDetail) -> Result<(), AdminError> {
    let format = Format::parse(&detail.format).map_err(AdminError::Format)?;
    let tweak = TweakPolicy::parse(&detail.tweak).map_err(AdminError::Format)?;
    let mask = detail.mask.as_deref().map(Mask::parse_recorded).transpose();
    let mask = mask.map_err(AdminError::Format)?;
    let settings = Settings::new(tweak);
    let settings = match detail.small_domain {
        true => settings.accept_small_domain(),
        false => settings,
    };
    let canonical = format_detail(&format, (settings, &detail.column), mask.as_ref())?;
    match canonical == *detail {
        true => Ok(()),
        false => Err(AdminError::Unsupported),
    }
}
