//! What the application says to connections when the audit log fails.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use keywright_audit::check::CheckKey;
use keywright_audit::log::{Identity, Keys, Log, Settings as LogSettings};
use keywright_audit::show::{Filter, show};
use keywright_audit::testing::{self, Faults};
use keywright_clock::{Clock, Hand, WallTime};
use keywright_custody::{
    HolderError, HolderOperation, Items, KeyHolder, KeyMaterial, Keyring, NewKey, Placement, Reply,
    Request,
};
use keywright_encoding::hex;
use keywright_network::ca::TestAuthority;
use keywright_policy::{Permit, Policy, PolicyDocument};
use keywright_primitives::random::RandomStream;
use keywright_primitives::signature::SigningKey;
use keywright_secret::Secret;
use keywright_server::transport::{Handler, Peer};
use keywright_server::{Application, Probes};
use keywright_service::{Desk, Settings, Shared, Snapshot, Worker};
use keywright_tls::{CertificateDer, Protocol, certificates};
use keywright_types::{Code, InstallationId, KeySpec, KeyVersion, NodeId, PrincipalId, TenantId};
use tempfile::TempDir;

const START: WallTime = WallTime::from_unix_seconds(1_800_000_000);

/// A holder that nobody asks here.
struct Idle;

impl KeyHolder for Idle {
    fn name(&self) -> &'static str {
        "idle"
    }

    fn supports(&self, _: &KeySpec, _: HolderOperation) -> bool {
        false
    }

    fn placement(&self) -> Placement {
        Placement::Inline
    }

    fn generate(&self, _: &Permit, _: NewKey) -> Result<KeyMaterial, HolderError> {
        Err(HolderError::Unavailable)
    }

    fn perform(
        &self,
        _: &Permit,
        _: &Request,
        _: Items,
        _: &mut RandomStream,
    ) -> Result<Reply, HolderError> {
        Err(HolderError::Unavailable)
    }

    fn probe(&self) -> Result<(), HolderError> {
        Ok(())
    }
}

/// One client, one log, and the hands that move clock and disk.
struct House {
    folder: TempDir,
    log: Log,
    faults: Faults,
    hand: Hand,
    shared: Arc<Shared>,
    chain: Vec<CertificateDer<'static>>,
}

impl House {
    fn new() -> Self {
        let (clock, hand) = Clock::simulated(START);
        let (authority, id) = (TestAuthority::new(START), PrincipalId::from_bytes([1; 16]));
        let issued = authority.client("trading-1", "Trading", Some(id));
        let anchor = hex::encode(&authority.authority().spki_sha256());
        let policy = format!(
            "version = 1\n[[principal]]\nid = \"{id}\"\nname = \"trading-1\"\n\
             [[principal.rule]]\nanchors = [\"{anchor}\"]\nsan_uri = \"keywright:principal:{id}\"\n"
        );
        let policy = PolicyDocument::parse(&policy).unwrap();
        let tenant = |_: &_| Some(TenantId::from_bytes([6; 16]));
        let policy = Policy::compile(&policy, tenant, 1).unwrap();
        let snapshot = Snapshot::new(1, policy, authority.trust(&clock), Keyring::default(), []);
        let shared = Shared::new(snapshot, Arc::new(Idle), clock.clone(), Settings::default());
        let (folder, faults) = (tempfile::tempdir().unwrap(), Faults::default());
        let log = testing::open(log_settings(&folder, clock), &faults).unwrap();
        Self {
            folder,
            log,
            faults,
            hand,
            shared: shared.unwrap(),
            chain: certificates(issued.certificate_pem.as_bytes()).unwrap(),
        }
    }

    fn peer(&self, number: u64) -> Peer<'_> {
        Peer {
            address: SocketAddr::from(([192, 0, 2, 1], 4000)),
            certificates: &self.chain,
            protocol: Protocol::Http2,
            number,
            resumed: false,
        }
    }

    fn application(&self) -> Application {
        let worker = Worker::new(Arc::clone(&self.shared), self.log.writer().unwrap());
        let probes = Probes {
            desk: Desk::start(|_| Err(Code::Internal)).unwrap(),
            audit: Box::new(|| true),
            memory_locked: true,
        };
        let settings = keywright_server::Settings {
            limits: keywright_api::Limits::default(),
            body_timeout: Duration::from_secs(1),
            load: keywright_server::Load::default(),
        };
        Application::new(worker, settings, Arc::new(probes))
    }
}

fn log_settings(folder: &TempDir, clock: Clock) -> LogSettings {
    let identity = Identity {
        installation: InstallationId::from_bytes([1; 16]),
        node: NodeId::from_bytes([2; 16]),
    };
    let signer = SigningKey::from_seed(&Secret::from_fill(|seed| seed.fill(3))).unwrap();
    let keys = Keys {
        signer,
        version: KeyVersion::FIRST,
        check: CheckKey::from_bytes(&[4; 32]),
    };
    let mut settings = LogSettings::new(folder.path().to_owned(), identity, clock, keys);
    settings.reserve = 64 << 10;
    settings
}

/// Lets the task that flushes have its turn.
async fn flushed() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[test]
fn no_connection_goes_on_without_its_record() {
    let house = House::new();
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_time().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let application = house.application();
        let first = application.accept(house.peer(1)).unwrap();
        flushed().await;
        house.faults.fail_writes(ErrorKind::StorageFull, 0);
        // Nobody knows yet that the disk is full; with the flush it shows.
        let second = application.accept(house.peer(2)).unwrap();
        assert!(application.still_welcome(&second));
        flushed().await;
        assert!(!application.still_welcome(&second));
        assert!(application.still_welcome(&first), "it has its record");
        let third = application.accept(house.peer(3)).err();
        assert_eq!(third, Some(Code::AuditUnavailable));
        flushed().await;
        house.faults.heal();
        house.hand.advance(Duration::from_secs(1));
        let fourth = application.accept(house.peer(4)).unwrap();
        flushed().await;
        assert!(application.still_welcome(&fourth));
    });
    let records = show(house.folder.path(), Filter::default()).unwrap();
    let records: Vec<_> = records.map(|record| record.unwrap()).collect();
    let of = |kind: &'static str| records.iter().filter(move |record| record["type"] == kind);
    let connections: Vec<_> = of("connection")
        .map(|record| record["connection"].as_u64().unwrap())
        .collect();
    assert_eq!(connections, [1, 4]);
    let refused: Vec<_> = of("refused").collect();
    assert_eq!(refused.len(), 1, "the third is counted");
    assert_eq!(refused[0]["outcome"], "audit_unavailable");
}
