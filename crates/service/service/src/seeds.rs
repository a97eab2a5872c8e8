//! Seeds and keys on their way out: only where the context was made for it, and only into the hands that seal them.

use keywright_custody::{Detail, Version, lifecycle, rows};
use keywright_policy::Policy;
use keywright_secret::SecretBytes;
use keywright_store::Transaction;
use keywright_types::{Export, KeySpec, KeyVersion, Name, Operation, Purpose};

use crate::life::Author;
use crate::order::{Intent, Prepared};
use crate::{Admin, AdminError};

/// A seed that was given out.
#[derive(Debug)]
#[non_exhaustive]
pub struct RevealedSeed {
    /// Its bytes.
    pub seed: SecretBytes,
    /// The name of how it came to be.
    pub scheme: String,
}

/// A key that was given out.
#[derive(Debug)]
#[non_exhaustive]
pub struct RevealedKey {
    /// Its bytes, as they are sealed in its row.
    pub secret: SecretBytes,
    /// What is fixed about it.
    pub spec: KeySpec,
    /// Its version.
    pub version: KeyVersion,
}

impl Admin {
    /// Gives out the secret of a version of a context that is no wallet, as [`Admin::reveal_seed`] does a seed. Without a
    /// version it is the active one.
    ///
    /// # Errors
    /// [`AdminError::NeverLeaves`], [`AdminError::Wallet`], [`AdminError::Unsupported`] for keys that wrap others, and those of other orders.
    pub fn reveal_key(
        &self,
        author: &Author,
        (tenant, name): (&Name, &Name),
        version: Option<KeyVersion>,
    ) -> Result<RevealedKey, AdminError> {
        let named = (tenant, name);
        let about = version.unwrap_or(KeyVersion::NONE);
        let facts = self.facts_about(author, Operation::KeyExport, named, about)?;
        let intent = Intent {
            facts,
            fields: &[],
            trust: None,
        };
        let revealed = self.carry_out(intent, |next| {
            let tenant = next.tenant(tenant).ok_or(AdminError::TenantUnknown)?;
            let key = next.keyring.find(tenant.id, name.as_str());
            let key = key.ok_or(AdminError::ContextUnknown)?;
            match key.spec().purpose {
                Purpose::Tree => return Err(AdminError::Wallet),
                Purpose::Wrap => return Err(AdminError::Unsupported),
                _ => {}
            }
            if key.spec().export == Export::Never {
                return Err(AdminError::NeverLeaves);
            }
            let found = match version {
                Some(number) => key.version(number),
                None => key.active(),
            };
            let usable = |version: &&Version| lifecycle::may_open(version.state());
            let found = found.filter(usable).ok_or(rows::Error::NoVersion)?;
            let permit = Policy::owner()
                .at(next.epoch)
                .permit(key.id(), Operation::KeyExport);
            let answer = RevealedKey {
                secret: self.shared.holder().reveal(&permit, found.material())?,
                spec: *key.spec(),
                version: found.number(),
            };
            Ok(Prepared {
                answer,
                transaction: Transaction::new(),
                next,
            })
        });
        revealed.map(|(key, _)| key)
    }

    /// Gives out the seed of a wallet, for whoever seals it to its recipients at once. It changes no key, and is
    /// recorded before and after like what does: the records are on the disk before the seed is out.
    ///
    /// # Errors
    /// [`AdminError::NeverLeaves`], [`AdminError::NoWallet`], and those of other orders.
    pub fn reveal_seed(
        &self,
        author: &Author,
        (tenant, name): (&Name, &Name),
    ) -> Result<RevealedSeed, AdminError> {
        let named = (tenant, name);
        let facts = self.facts_about(author, Operation::KeyExport, named, KeyVersion::FIRST)?;
        let intent = Intent {
            facts,
            fields: &[],
            trust: None,
        };
        let revealed = self.carry_out(intent, |next| {
            let tenant = next.tenant(tenant).ok_or(AdminError::TenantUnknown)?;
            let key = next.keyring.find(tenant.id, name.as_str());
            let key = key.ok_or(AdminError::ContextUnknown)?;
            let Some(Detail::Tree(tree)) = key.detail().map(AsRef::as_ref) else {
                return Err(AdminError::NoWallet);
            };
            if key.spec().purpose != Purpose::Tree || key.spec().export == Export::Never {
                return Err(AdminError::NeverLeaves);
            }
            let usable = |version: &&Version| lifecycle::may_open(version.state());
            let version = key.versions().iter().find(usable);
            let version = version.ok_or(rows::Error::NoVersion)?;
            let permit = Policy::owner()
                .at(next.epoch)
                .permit(key.id(), Operation::KeyExport);
            let seed = self.shared.holder().reveal(&permit, version.material())?;
            let answer = RevealedSeed {
                seed,
                scheme: tree.seed.clone(),
            };
            Ok(Prepared {
                answer,
                transaction: Transaction::new(),
                next,
            })
        });
        revealed.map(|(seed, _)| seed)
    }
}
