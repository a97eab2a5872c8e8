//! Who is at the other end of a connection, for as long as that stays true (design 7.25, 7.27).

use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use keywright_clock::WallTime;
use keywright_policy::Principal;
use keywright_tls::CertificateDer;
use keywright_types::{Code, Credential, Plane};

use crate::Snapshot;
use crate::meter::Meter;

/// The caller of one connection.
///
/// The certificate chain is kept, because who it stands for is asked again at every epoch, when the
/// certificate may have been revoked or the policy may map it to somebody else; and when the time is
/// over for which the last answer holds, be it for the sake of a certificate or of a revocation list.
pub struct Caller {
    chain: Vec<CertificateDer<'static>>,
    connection: u64,
    /// On whose listener; none where everybody has the same.
    plane: Option<Plane>,
    standing: RefCell<Standing>,
    /// Whether the record of the connection was lost.
    unrecorded: Rc<Cell<bool>>,
}

struct Standing {
    epoch: u64,
    result: Result<Rc<Known>, Code>,
}

struct Known {
    principal: Arc<Principal>,
    credential: Arc<Credential>,
    meter: Option<Meter>,
    /// When a certificate, an anchor or a revocation list behind this runs out.
    until: WallTime,
}

/// Who a caller is: a principal, kept by the thread that serves the connection.
#[derive(Clone)]
pub struct Identified(Rc<Known>);

impl Deref for Identified {
    type Target = Principal;

    fn deref(&self) -> &Principal {
        &self.0.principal
    }
}

impl fmt::Debug for Identified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.principal.fmt(f)
    }
}

impl Caller {
    /// Verifies `chain` and finds its principal.
    ///
    /// # Errors
    /// The reason for which the connection must be refused.
    pub fn identify(
        chain: &[CertificateDer<'static>],
        connection: u64,
        snapshot: &Snapshot,
        now: WallTime,
    ) -> Result<Self, Code> {
        Self::identify_on(None, (chain, connection), snapshot, now)
    }

    /// The same on the listener of one plane, where principals of the other are nobody.
    ///
    /// # Errors
    /// The reason for which the connection must be refused.
    pub fn identify_on(
        plane: Option<Plane>,
        (chain, connection): (&[CertificateDer<'static>], u64),
        snapshot: &Snapshot,
        now: WallTime,
    ) -> Result<Self, Code> {
        let known = identify(plane, chain, snapshot, now)?;
        let standing = Standing {
            epoch: snapshot.epoch,
            result: Ok(Rc::new(known)),
        };
        Ok(Self {
            chain: chain.to_vec(),
            connection,
            plane,
            standing: RefCell::new(standing),
            unrecorded: Rc::default(),
        })
    }

    /// The number of the connection.
    #[must_use]
    pub const fn connection(&self) -> u64 {
        self.connection
    }

    /// Who this is under `snapshot`: two comparisons unless the epoch has changed or time has run
    /// out.
    ///
    /// # Errors
    /// The reason for which the connection must end.
    pub fn principal(&self, snapshot: &Snapshot, now: WallTime) -> Result<Identified, Code> {
        if self.unrecorded.get() {
            return Err(Code::AuditUnavailable);
        }
        let mut standing = self.standing.borrow_mut();
        let over = |known: &Rc<Known>| now >= known.until;
        if standing.epoch != snapshot.epoch || standing.result.as_ref().is_ok_and(over) {
            *standing = Standing {
                epoch: snapshot.epoch,
                result: identify(self.plane, &self.chain, snapshot, now).map(Rc::new),
            };
        }
        let known = standing.result.as_ref();
        known
            .map(|known| Identified(Rc::clone(known)))
            .map_err(|code| *code)
    }

    /// What the certificate said, as of the last look at it.
    #[must_use]
    pub fn credential(&self) -> Option<Arc<Credential>> {
        self.standing
            .borrow()
            .result
            .as_ref()
            .ok()
            .map(|known| Arc::clone(&known.credential))
    }

    /// Asks the bucket of the principal that was last found here, if it has one. Its limit may be a
    /// sweep of the connection older than the policy in force; its bucket is the same.
    pub(crate) fn metered<T>(&self, ask: impl FnOnce(&Meter, &Principal) -> T) -> Option<T> {
        let standing = self.standing.borrow();
        let known = standing.result.as_ref().ok()?;
        let meter = known.meter.as_ref()?;
        Some(ask(meter, &known.principal))
    }

    /// Where it is said that the record of this connection was lost.
    pub(crate) fn unrecorded(&self) -> Rc<Cell<bool>> {
        Rc::clone(&self.unrecorded)
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Caller(connection {})", self.connection)
    }
}

fn identify(
    plane: Option<Plane>,
    chain: &[CertificateDer<'_>],
    snapshot: &Snapshot,
    now: WallTime,
) -> Result<Known, Code> {
    let (credential, until) = snapshot
        .trust
        .verify_until(chain, now)
        .map_err(|refusal| refusal.code())?;
    let principal = snapshot
        .policy
        .identify(&credential)
        .map_err(|unidentified| unidentified.code())?;
    if plane.is_some_and(|plane| plane != principal.plane()) {
        return Err(Code::PrincipalUnknown);
    }
    Ok(Known {
        principal: Arc::clone(principal),
        meter: snapshot.meters.of(principal.id()).cloned(),
        credential: Arc::new(credential),
        until,
    })
}
