//! The part of the suite for keys that seal equal messages alike.

use std::sync::Arc;

use keywright_envelope::{Binding, Envelope};
use keywright_types::{
    Algorithm, Code, GroupId, KeySpec, Kind, Operation, PrincipalId, Purpose, Suite,
};

use super::{Bench, Broken, Checked, permit};
use crate::{
    HolderError, HolderOperation, Items, KeyHolder, KeyMaterial, NO_DEADLINE, Request, Versions,
};

const SEAL: HolderOperation = HolderOperation::SealDeterministic;
const OPEN: HolderOperation = HolderOperation::OpenDeterministic;

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

/// The one kind of such keys.
pub(super) fn spec() -> KeySpec {
    KeySpec {
        purpose: Purpose::Deterministic,
        algorithm: Algorithm::Aes256Siv,
        ..KeySpec::seal()
    }
}

pub(super) fn run_for(holder: &dyn KeyHolder, spec: KeySpec) -> Checked {
    let bench = Bench::new(holder, spec)?;
    if !holder.supports(&spec, SEAL) {
        return bench.unsupported_is_refused();
    }
    bench.fresh();
    let (key, next) = (bench.key(1, 1)?, bench.key(1, 2)?);
    bench.equal_messages_look_alike(&key)?;
    bench.what_differs_looks_different(&key, &next)?;
    bench.what_was_changed_does_not_open(&key)?;
    bench.it_moves_to_another_version(&key, &next)?;
    bench.other_operations_are_refused(&key)
}

impl Bench<'_> {
    fn alike(&self, key: &Arc<KeyMaterial>, text: &[u8], aad: &[u8]) -> Result<Vec<u8>, Broken> {
        let sealed = self.one(SEAL, key, text, aad)?;
        sealed.map_err(|code| format!("sealing fails with {code}"))
    }

    fn equal_messages_look_alike(&self, key: &Arc<KeyMaterial>) -> Checked {
        for length in [0, 1, 15, 16, 17, 64, 1000, 100_000] {
            let text = vec![0x5A; length];
            let (one, two) = (self.alike(key, &text, b"")?, self.alike(key, &text, b"")?);
            require!(one == two, "equal messages have equal envelopes")?;
            let envelope = Envelope::parse(&one).map_err(|_| "an envelope can be parsed")?;
            let header = envelope.header();
            require!(
                header.suite == Suite::Siv && header.kind == Kind::Message,
                "the envelope is a message of suite 5"
            )?;
            let opened = self.one(OPEN, key, &one, b"")?;
            require!(opened == Ok(text), "an opened message is the sealed one")?;
        }
        Ok(())
    }

    fn what_differs_looks_different(
        &self,
        key: &Arc<KeyMaterial>,
        next: &Arc<KeyMaterial>,
    ) -> Checked {
        let one = self.alike(key, b"message", b"row 1")?;
        // What stands behind header and commitment, which name version and binding.
        let end = |envelope: &[u8]| {
            let from = envelope.len().saturating_sub(b"message".len() + 16);
            envelope.get(from..).unwrap_or_default().to_vec()
        };
        let mut others = vec![
            self.alike(key, b"messagf", b"row 1")?,
            self.alike(key, b"message", b"row 2")?,
            self.alike(key, b"message", b"")?,
            self.alike(next, b"message", b"row 1")?,
        ];
        for binding in [
            Binding::Principal(PrincipalId::from_bytes([3; 16])),
            Binding::Group(GroupId::from_bytes([3; 16])),
        ] {
            let reply = self.perform(SEAL, &[key], binding, &[(b"message", b"row 1", 0)]);
            let reply = reply.map_err(|error| format!("sealing fails: {error}"))?;
            others.extend(reply.iter().map(|item| item.payload.to_vec()));
        }
        for other in others {
            require!(
                end(&other) != end(&one),
                "another message, binding, version or associated data looks different"
            )?;
        }
        for (by, aad) in [(next, &b"row 1"[..]), (key, b"row 2"), (key, b"")] {
            let opened = self.one(OPEN, by, &one, aad)?;
            require!(
                opened == Err(Code::DecryptionFailed),
                "another version or other associated data does not open"
            )?;
        }
        Ok(())
    }

    fn what_was_changed_does_not_open(&self, key: &Arc<KeyMaterial>) -> Checked {
        let sealed = self.alike(key, b"message", b"")?;
        for index in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[index] ^= 0x40;
            let opened = self.one(OPEN, key, &changed, b"")?;
            require!(opened.is_err(), "a changed byte does not open")?;
            let cut = sealed.get(..index).unwrap_or_default();
            let opened = self.one(OPEN, key, cut, b"")?;
            require!(opened.is_err(), "a cut envelope does not open")?;
        }
        Ok(())
    }

    fn it_moves_to_another_version(
        &self,
        key: &Arc<KeyMaterial>,
        next: &Arc<KeyMaterial>,
    ) -> Checked {
        let old = self.alike(key, b"message", b"row 1")?;
        let items: [(&[u8], &[u8], u16); 2] = [(&old, b"row 1", 1), (&old, b"row 2", 1)];
        let reply = self.perform(HolderOperation::Reseal, &[next, key], Binding::None, &items);
        let reply = reply.map_err(|error| format!("resealing fails: {error}"))?;
        let moved: Vec<_> = reply.iter().collect();
        require!(
            moved.len() == 2
                && moved[0].payload == self.alike(next, b"message", b"row 1")?
                && moved[1].code == Code::DecryptionFailed,
            "what is moved is what the new version would have sealed"
        )
    }

    fn other_operations_are_refused(&self, key: &Arc<KeyMaterial>) -> Checked {
        for operation in [
            HolderOperation::Seal,
            HolderOperation::Open,
            HolderOperation::MakeDataKey,
            HolderOperation::OpenDataKey,
        ] {
            let used = self.perform(operation, &[key], Binding::None, &[(b"x", b"", 0)]);
            require!(
                matches!(used, Err(HolderError::Unsupported(_))),
                "a key that seals alike does nothing else"
            )?;
        }
        let request = Request {
            operation: SEAL,
            versions: Versions::from_iter([Arc::clone(key)]),
            binding: Binding::None,
            deadline_ns: NO_DEADLINE,
        };
        let mut random = keywright_primitives::random::RandomStream::unseeded();
        let foreign = permit(key.key(), Operation::Encrypt);
        let refused = self
            .holder
            .perform(&foreign, &request, Items::default(), &mut random);
        require!(
            refused.err() == Some(HolderError::PermitMismatch),
            "the right to encrypt is not the right to encrypt alike"
        )
    }
}
