//! The suite that every key holder must pass, whatever it is made of.
//!
//! Keys that seal, each time otherwise or alike, authenticate, sign and agree, in this process and in a token, of every algorithm that there is.
//! It asks [`KeyHolder::supports`] first and demands that what is supported works and what is not is
//! refused. [`run`] returns the first broken promise as a sentence, so that it can be called from a
//! test, from a command that checks a token in the field, or against a holder of somebody else. Keys that it
//! makes have random ids, so that it can be run twice on one token; they stay there.

use std::cell::Cell;
use std::sync::Arc;

use keywright_clock::WallTime;
use keywright_envelope::Binding;
use keywright_policy::{Permit, Policy};
use keywright_primitives::random::RandomStream;
use keywright_types::{
    Algorithm, Code, Custody, GroupId, KeyId, KeySpec, KeyVersion, Operation, PrincipalId, TenantId,
};

use crate::{
    HolderError, HolderOperation, Identity, Items, KeyHolder, KeyMaterial, NO_DEADLINE, NewKey,
    Reply, Request, Versions,
};

mod deterministic;
mod uses;

/// A promise that a holder broke.
pub type Broken = String;

type Checked = Result<(), Broken>;

/// Runs the whole suite over a holder, once with each kind of key that it may have.
///
/// # Errors
/// The first promise that the holder broke.
pub fn run(holder: &dyn KeyHolder) -> Checked {
    holder
        .probe()
        .map_err(|error| format!("a fresh holder fails its probe: {error}"))?;
    let said = |spec: KeySpec| {
        move |broken: Broken| format!("{}, {}: {broken}", spec.algorithm, spec.custody)
    };
    for spec in specs() {
        run_for(holder, spec).map_err(said(spec))?;
    }
    let alike = deterministic::spec();
    deterministic::run_for(holder, alike).map_err(said(alike))?;
    for spec in uses::specs() {
        uses::run_for(holder, spec).map_err(said(spec))?;
    }
    Ok(())
}

/// Keys that seal, of every algorithm in the custody that has it.
fn specs() -> [KeySpec; 4] {
    let in_token = |algorithm| KeySpec {
        algorithm,
        custody: Custody::Token,
        ..KeySpec::seal()
    };
    let wide = KeySpec {
        algorithm: Algorithm::XChaCha20Poly1305,
        ..KeySpec::seal()
    };
    [
        KeySpec::seal(),
        wide,
        in_token(Algorithm::TokenGcm12),
        in_token(Algorithm::TokenGcm16),
    ]
}

fn run_for(holder: &dyn KeyHolder, spec: KeySpec) -> Checked {
    let bench = Bench::new(holder, spec)?;
    if !holder.supports(&spec, HolderOperation::Seal) {
        return bench.unsupported_is_refused();
    }
    bench.messages_come_back()?;
    bench.associated_data_counts()?;
    bench.a_derivation_context_counts()?;
    bench.another_key_or_version_does_not_open()?;
    bench.edited_attributes_do_not_open()?;
    bench.a_moved_key_does_not_open()?;
    bench.a_permit_for_something_else_is_refused()?;
    bench.resealing_keeps_binding_and_data()?;
    bench.data_keys_open_only_as_data_keys()?;
    bench.one_bad_item_spoils_no_other()?;
    bench.a_version_that_is_not_there_fails_its_item()
}

struct Bench<'a> {
    holder: &'a dyn KeyHolder,
    /// What keys are made of.
    spec: KeySpec,
    /// Part of each key's id, other for each run.
    run: [u8; 14],
    /// Part of each key's id, other for each promise: a token keeps keys of the one before.
    scene: Cell<u8>,
}

/// `Ok` if the promise holds, else its sentence.
macro_rules! require {
    ($holds:expr, $promise:literal) => {
        if $holds {
            Ok(())
        } else {
            Err(Broken::from($promise))
        }
    };
}

fn permit(key: KeyId, operation: Operation) -> Permit {
    Policy::owner().permit(key, operation)
}

impl<'a> Bench<'a> {
    fn new(holder: &'a dyn KeyHolder, spec: KeySpec) -> Result<Self, Broken> {
        let run = RandomStream::new()
            .and_then(|mut random| random.array())
            .map_err(|error| format!("no randomness: {error}"))?;
        Ok(Self {
            holder,
            spec,
            run,
            scene: Cell::new(0),
        })
    }
}

impl Bench<'_> {
    fn generate(
        &self,
        identity: Identity,
        parent: Option<Arc<KeyMaterial>>,
    ) -> Result<Arc<KeyMaterial>, Broken> {
        let permit = permit(identity.key, Operation::ContextCreate);
        let made = self.holder.generate(&permit, NewKey { identity, parent });
        made.map(Arc::new)
            .map_err(|error| format!("a supported key cannot be made: {error}"))
    }

    /// Begins a promise: keys made from here on have other ids.
    fn fresh(&self) {
        self.scene.set(self.scene.get() + 1);
    }

    /// The tenant's key, under which wrapped keys stand. Keys in a token only belong to the tenant.
    fn tenant(&self, byte: u8) -> Result<Arc<KeyMaterial>, Broken> {
        let identity = self.identity(byte, 0xF0 | byte, 1, KeySpec::wrap());
        match self.spec.custody {
            Custody::Token => Ok(Arc::new(KeyMaterial::new(identity, Vec::new(), None))),
            _ => self.generate(identity, None),
        }
    }

    fn key(&self, number: u8, version: u32) -> Result<Arc<KeyMaterial>, Broken> {
        let parent = self.tenant(1)?;
        self.generate(self.sealing(number, version), Some(parent))
    }

    const fn sealing(&self, number: u8, version: u32) -> Identity {
        self.identity(1, number, version, self.spec)
    }

    const fn identity(&self, tenant: u8, key: u8, version: u32, spec: KeySpec) -> Identity {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = self.run;
        let id = [
            a,
            b,
            c,
            d,
            e,
            f,
            g,
            h,
            i,
            j,
            k,
            l,
            m,
            n,
            self.scene.get(),
            key,
        ];
        Identity {
            tenant: TenantId::from_bytes([tenant; 16]),
            key: KeyId::from_bytes(id),
            version: KeyVersion::from_number(version),
            spec,
            created: WallTime::from_unix_millis(1_700_000_000_000),
        }
    }

    fn perform(
        &self,
        operation: HolderOperation,
        versions: &[&Arc<KeyMaterial>],
        binding: Binding,
        items: &[(&[u8], &[u8], u16)],
    ) -> Result<Reply, HolderError> {
        let mut packed = Items::default();
        for (payload, aad, version) in items {
            let pushed = packed.push_slices(*version, payload, aad);
            pushed.map_err(|_| HolderError::Unavailable)?;
        }
        self.perform_packed(operation, versions, binding, packed)
    }

    fn perform_packed(
        &self,
        operation: HolderOperation,
        versions: &[&Arc<KeyMaterial>],
        binding: Binding,
        packed: Items,
    ) -> Result<Reply, HolderError> {
        let key = versions
            .first()
            .map_or(KeyId::NONE, |version| version.key());
        let versions = versions.iter().map(|version| Arc::clone(version)).collect();
        let request = Request {
            operation,
            versions,
            binding,
            deadline_ns: u64::MAX,
        };
        let permit = permit(key, operation.permitted_by());
        self.holder
            .perform(&permit, &request, packed, &mut RandomStream::unseeded())
    }

    fn one(
        &self,
        operation: HolderOperation,
        key: &Arc<KeyMaterial>,
        payload: &[u8],
        aad: &[u8],
    ) -> Result<Result<Vec<u8>, Code>, Broken> {
        let reply = self.perform(operation, &[key], Binding::None, &[(payload, aad, 0)]);
        let reply = reply.map_err(|error| format!("{operation:?} failed as a whole: {error}"))?;
        let item = reply
            .iter()
            .next()
            .ok_or("a request of one item has no result")?;
        Ok(if item.code == Code::Ok {
            Ok(item.payload.to_vec())
        } else {
            Err(item.code)
        })
    }

    fn seal(&self, key: &Arc<KeyMaterial>, text: &[u8], aad: &[u8]) -> Result<Vec<u8>, Broken> {
        let sealed = self.one(HolderOperation::Seal, key, text, aad)?;
        sealed.map_err(|code| format!("sealing fails with {code}"))
    }

    fn messages_come_back(&self) -> Checked {
        self.fresh();
        let key = self.key(1, 1)?;
        for length in [0, 1, 15, 16, 17, 64, 1000, 100_000] {
            let text = vec![0x5A; length];
            let (sealed, again) = (self.seal(&key, &text, b"")?, self.seal(&key, &text, b"")?);
            require!(sealed != again, "two seals of one message differ")?;
            let opened = self.one(HolderOperation::Open, &key, &sealed, b"")?;
            require!(opened == Ok(text), "an opened message is the sealed one")?;
        }
        Ok(())
    }

    fn associated_data_counts(&self) -> Checked {
        self.fresh();
        let key = self.key(1, 1)?;
        let sealed = self.seal(&key, b"message", b"row 1")?;
        for other in [&b""[..], b"row 2", b"row 1 ", b"ROW 1"] {
            let opened = self.one(HolderOperation::Open, &key, &sealed, other)?;
            require!(
                opened == Err(Code::DecryptionFailed),
                "other associated data does not open"
            )?;
        }
        Ok(())
    }

    fn another_key_or_version_does_not_open(&self) -> Checked {
        self.fresh();
        let key = self.key(1, 1)?;
        let sealed = self.seal(&key, b"message", b"")?;
        let mut others = vec![self.key(1, 2)?, self.key(2, 1)?];
        // In a token there is one key of an id; a second one would not be told apart.
        if self.spec.custody != Custody::Token {
            others.push(self.key(1, 1)?);
        }
        for other in others {
            let opened = self.one(HolderOperation::Open, &other, &sealed, b"")?;
            require!(
                opened == Err(Code::DecryptionFailed),
                "another key does not open"
            )?;
        }
        for index in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[index] ^= 0x40;
            let opened = self.one(HolderOperation::Open, &key, &changed, b"")?;
            require!(opened.is_err(), "a changed byte does not open")?;
        }
        Ok(())
    }

    /// `original` with one attribute changed, each in turn.
    fn edits(original: Identity) -> [Identity; 5] {
        [
            Identity {
                tenant: TenantId::from_bytes([9; 16]),
                ..original
            },
            Identity {
                version: KeyVersion::from_number(2),
                ..original
            },
            Identity {
                created: WallTime::from_unix_millis(7),
                ..original
            },
            Identity {
                spec: KeySpec {
                    export: keywright_types::Export::Plain,
                    ..original.spec
                },
                ..original
            },
            Identity {
                spec: KeySpec {
                    origin: keywright_types::Origin::Imported,
                    ..original.spec
                },
                ..original
            },
        ]
    }

    fn edited_attributes_do_not_open(&self) -> Checked {
        self.fresh();
        let key = self.key(1, 1)?;
        let sealed = self.seal(&key, b"message", b"")?;
        for edited in Self::edits(self.sealing(1, 1)) {
            let parent = key.parent().cloned();
            let row = Arc::new(KeyMaterial::new(edited, key.sealed().to_vec(), parent));
            let opened = self.perform(
                HolderOperation::Open,
                &[&row],
                Binding::None,
                &[(&sealed, b"", 0)],
            );
            require!(
                opened.err() == Some(HolderError::KeyRejected),
                "an edited row does not load"
            )?;
        }
        Ok(())
    }

    fn a_moved_key_does_not_open(&self) -> Checked {
        self.fresh();
        let key = self.key(1, 1)?;
        let moved = self.sealing(1, 1);
        let mut parents = vec![Some(self.tenant(2)?)];
        if self.spec.custody != Custody::Token {
            parents.push(None);
        }
        for parent in parents {
            let row = Arc::new(KeyMaterial::new(moved, key.sealed().to_vec(), parent));
            let used = self.perform(
                HolderOperation::Seal,
                &[&row],
                Binding::None,
                &[(b"x", b"", 0)],
            );
            require!(
                used.err() == Some(HolderError::KeyRejected),
                "a key under another parent does not load"
            )?;
        }
        Ok(())
    }

    fn a_permit_for_something_else_is_refused(&self) -> Checked {
        self.fresh();
        let (key, other) = (self.key(1, 1)?, self.key(2, 1)?);
        let wrong = [
            permit(other.key(), Operation::Encrypt),
            permit(key.key(), Operation::Decrypt),
        ];
        for permit in wrong {
            let request = Request {
                operation: HolderOperation::Seal,
                versions: Versions::from_iter([Arc::clone(&key)]),
                binding: Binding::None,
                deadline_ns: NO_DEADLINE,
            };
            let refused = self.holder.perform(
                &permit,
                &request,
                Items::default(),
                &mut RandomStream::unseeded(),
            );
            let refused = refused.err() == Some(HolderError::PermitMismatch);
            require!(refused, "a permit for another key or operation is refused")?;
        }
        Ok(())
    }

    /// Field 2 is not field 1: neither stands for the other, and resealing keeps it.
    fn a_derivation_context_counts(&self) -> Checked {
        self.fresh();
        let key = self.key(1, 1)?;
        let ask = |operation, payload: &[u8], (aad, context): (&[u8], &[u8])| {
            let mut packed = Items::default();
            let pushed = packed.push_slices(0, payload, aad);
            let pushed = pushed.and_then(|()| packed.add_context(context));
            pushed.map_err(|_| HolderError::Unavailable)?;
            self.perform_packed(operation, &[&key], Binding::None, packed)
        };
        let both = (&b"row 1"[..], &b"derived"[..]);
        let sealed = first(ask(HolderOperation::Seal, b"message", both))?;
        let resealed = first(ask(HolderOperation::Reseal, &sealed, both))?;
        for text in [&sealed, &resealed] {
            let opened = first(ask(HolderOperation::Open, text, both))?;
            require!(opened == b"message", "a message opens with its context")?;
            for other in [
                (&b"row 1"[..], &b""[..]),
                (b"", b"derived"),
                (b"derived", b"row 1"),
                (b"row 1derived", b""),
                (b"row 1", b"derive"),
            ] {
                let refused = first(ask(HolderOperation::Open, text, other)).is_err();
                require!(refused, "another derivation context does not open")?;
            }
        }
        Ok(())
    }

    fn resealing_keeps_binding_and_data(&self) -> Checked {
        self.fresh();
        let (old, new) = (self.key(1, 1)?, self.key(1, 2)?);
        let bindings = [
            Binding::None,
            Binding::Principal(PrincipalId::from_bytes([3; 16])),
            Binding::Group(GroupId::from_bytes([4; 16])),
        ];
        for binding in bindings {
            let sealed = self.perform(
                HolderOperation::Seal,
                &[&old],
                binding,
                &[(b"kept", b"aad", 0)],
            );
            let sealed = first(sealed)?;
            let items: [(&[u8], &[u8], u16); 1] = [(&sealed, b"aad", 1)];
            let resealed = self.perform(
                HolderOperation::Reseal,
                &[&new, &old],
                Binding::None,
                &items,
            );
            let resealed = first(resealed)?;
            let header = *keywright_envelope::Envelope::parse(&resealed)
                .map_err(|_| "a resealed message parses")?
                .header();
            require!(
                header.version == new.version(),
                "resealing uses the first version"
            )?;
            require!(header.binding == binding, "resealing keeps the binding")?;
            let opened = self.one(HolderOperation::Open, &new, &resealed, b"aad")?;
            require!(
                opened == Ok(b"kept".to_vec()),
                "a resealed message is the same message"
            )?;
        }
        Ok(())
    }

    fn data_keys_open_only_as_data_keys(&self) -> Checked {
        self.fresh();
        let key = self.key(1, 1)?;
        let made = self.one(HolderOperation::MakeDataKey, &key, b"", b"aad")?;
        let made = made.map_err(|code| format!("a data key cannot be made: {code}"))?;
        let (plain, envelope) = made.split_at_checked(48).ok_or("a data key has 48 bytes")?;
        let opened = self.one(HolderOperation::OpenDataKey, &key, envelope, b"aad")?;
        require!(opened == Ok(plain.to_vec()), "a data key opens to itself")?;
        let wrong = self.one(HolderOperation::OpenDataKey, &key, envelope, b"")?;
        require!(
            wrong == Err(Code::DecryptionFailed),
            "a data key is bound to its data"
        )?;
        let as_message = self.one(HolderOperation::Open, &key, envelope, b"aad")?;
        require!(
            as_message == Err(Code::DecryptionFailed),
            "a data key does not open as a message"
        )?;
        let message = self.seal(&key, &[7; 48], b"aad")?;
        let as_key = self.one(HolderOperation::OpenDataKey, &key, &message, b"aad")?;
        require!(
            as_key == Err(Code::DecryptionFailed),
            "a message does not open as a data key"
        )
    }

    fn one_bad_item_spoils_no_other(&self) -> Checked {
        self.fresh();
        let key = self.key(1, 1)?;
        let good = self.seal(&key, b"good", b"")?;
        let mut bad = good.clone();
        if let Some(last) = bad.last_mut() {
            *last ^= 1;
        }
        let items: [(&[u8], &[u8], u16); 4] = [
            (&good, b"", 0),
            (&bad, b"", 0),
            (b"garbage", b"", 0),
            (&good, b"", 0),
        ];
        let reply = self.perform(HolderOperation::Open, &[&key], Binding::None, &items);
        let reply = reply.map_err(|error| format!("a mixed batch failed as a whole: {error}"))?;
        let codes: Vec<_> = reply
            .iter()
            .map(|item| (item.code, item.payload.to_vec()))
            .collect();
        let expected = [
            (Code::Ok, b"good".to_vec()),
            (Code::DecryptionFailed, vec![]),
            (Code::CiphertextMalformed, vec![]),
            (Code::Ok, b"good".to_vec()),
        ];
        require!(
            codes == expected,
            "results stand in order, each for its own item"
        )
    }

    fn a_version_that_is_not_there_fails_its_item(&self) -> Checked {
        self.fresh();
        let key = self.key(1, 1)?;
        let sealed = self.seal(&key, b"x", b"")?;
        let reply = self.perform(
            HolderOperation::Open,
            &[&key],
            Binding::None,
            &[(&sealed, b"", 5)],
        );
        let reply = reply.map_err(|error| format!("a wrong index failed the request: {error}"))?;
        let failed = reply.iter().all(|item| item.code == Code::DecryptionFailed);
        require!(
            failed && reply.len() == 1,
            "an item for no version of the request fails"
        )
    }

    fn unsupported_is_refused(&self) -> Checked {
        let identity = self.sealing(1, 1);
        let permit = permit(identity.key, Operation::ContextCreate);
        let made = self.holder.generate(
            &permit,
            NewKey {
                identity,
                parent: None,
            },
        );
        require!(
            matches!(made, Err(HolderError::Unsupported(_))),
            "what is not supported is refused"
        )
    }
}

fn first(reply: Result<Reply, HolderError>) -> Result<Vec<u8>, Broken> {
    let reply = reply.map_err(|error| format!("a request failed as a whole: {error}"))?;
    let item = reply
        .iter()
        .next()
        .ok_or("a request of one item has no result")?;
    require!(item.code == Code::Ok, "an item that should work does")?;
    Ok(item.payload.to_vec())
}
