//! A root that waits for a device: only what is not in memory yet waits with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use keywright_clock::{Clock, WallTime};
use keywright_custody::{
    HolderError, HolderOperation, Identity, Items, KeyHolder, KeyMaterial, NO_DEADLINE, NewKey,
    Placement, Request, RootKey, Versions,
};
use keywright_envelope::{
    Aad, Binding, Envelope, Identity as EnvelopeIdentity, OpeningKey, SealingKey, derive,
};
use keywright_keystore::Keystore;
use keywright_policy::Policy;
use keywright_primitives::random::RandomStream;
use keywright_secret::Secret;
use keywright_types::{
    InstallationId, KeyId, KeySpec, KeyVersion, Kind, Operation, Suite, TenantId,
};

const ROOT: KeyId = KeyId::from_bytes([9; 16]);

/// A root as in a device; it counts its work.
struct Device {
    keys: (SealingKey, OpeningKey),
    seals: Arc<AtomicU64>,
    opens: Arc<AtomicU64>,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Device")
    }
}

impl RootKey for Device {
    fn key_id(&self) -> KeyId {
        ROOT
    }

    fn installation(&self) -> InstallationId {
        InstallationId::from_bytes([1; 16])
    }

    fn seal(
        &self,
        message: &Secret<48>,
        aad: &Aad<'_>,
        random: &mut RandomStream,
        out: &mut Vec<u8>,
    ) -> Result<(), HolderError> {
        self.seals.fetch_add(1, Ordering::SeqCst);
        let text = message.expose();
        let sealed = self.keys.0.seal_into(Binding::None, aad, text, random, out);
        sealed.map(drop).map_err(|_| HolderError::Unavailable)
    }

    fn open(
        &self,
        envelope: &Envelope<'_>,
        aad: &Aad<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), HolderError> {
        self.opens.fetch_add(1, Ordering::SeqCst);
        let opened = self.keys.1.open_into(envelope, aad, out);
        opened.map_err(|_| HolderError::KeyRejected)
    }

    fn placement(&self) -> Placement {
        Placement::Pool
    }

    fn probe(&self) -> Result<(), HolderError> {
        Ok(())
    }
}

fn identity(key: u8, spec: KeySpec) -> Identity {
    Identity {
        tenant: TenantId::from_bytes([1; 16]),
        key: KeyId::from_bytes([key; 16]),
        version: KeyVersion::FIRST,
        spec,
        created: WallTime::from_unix_millis(1),
    }
}

fn made(
    store: &Keystore,
    identity: Identity,
    parent: Option<Arc<KeyMaterial>>,
) -> Arc<KeyMaterial> {
    let permit = Policy::owner().permit(identity.key, Operation::ContextCreate);
    Arc::new(
        store
            .generate(&permit, NewKey { identity, parent })
            .unwrap(),
    )
}

fn request(key: &Arc<KeyMaterial>) -> Request {
    Request {
        operation: HolderOperation::Seal,
        versions: Versions::from_iter([Arc::clone(key)]),
        binding: Binding::None,
        deadline_ns: NO_DEADLINE,
    }
}

#[test]
fn a_key_in_memory_needs_no_root_and_waits_for_nobody() {
    let root_identity = EnvelopeIdentity {
        suite: Suite::Xaes256Gcm,
        kind: Kind::Key,
        key: ROOT,
        version: KeyVersion::FIRST,
    };
    let (seals, opens) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
    let device = Device {
        keys: derive(&[3; 32], root_identity).unwrap(),
        seals: Arc::clone(&seals),
        opens: Arc::clone(&opens),
    };
    let store = Keystore::with_root(Box::new(device), 16, Clock::system()).unwrap();
    assert_eq!(store.placement(), Placement::Pool);
    let tenant = made(&store, identity(1, KeySpec::wrap()), None);
    let key = made(&store, identity(2, KeySpec::seal()), Some(tenant));
    assert_eq!(store.placement_of(&request(&key).versions), Placement::Pool);
    let used = opens.load(Ordering::SeqCst);
    let permit = Policy::owner().permit(key.key(), Operation::Encrypt);
    for _ in 0..5 {
        let mut items = Items::default();
        items.push_slices(0, b"x", b"").unwrap();
        let mut random = RandomStream::unseeded();
        store
            .perform(&permit, &request(&key), items, &mut random)
            .unwrap();
        assert_eq!(
            store.placement_of(&request(&key).versions),
            Placement::Inline
        );
    }
    assert_eq!(
        opens.load(Ordering::SeqCst),
        used,
        "the tenant's key was in memory"
    );
    let sealed = seals.load(Ordering::SeqCst);
    for _ in 0..5 {
        store.probe().unwrap();
    }
    assert_eq!(
        seals.load(Ordering::SeqCst),
        sealed,
        "looking wears no key out"
    );
}
