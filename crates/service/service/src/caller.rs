//! Who is at the other end of a connection, for as long as that stays true (design 7.25, 7.27).

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use keywright_clock::WallTime;
use keywright_policy::Principal;
use keywright_tls::CertificateDer;
use keywright_types::{Code, Credential};

use crate::Snapshot;

/// The caller of one connection.
///
/// The certificate chain is kept, because who it stands for is asked again at every epoch: the
/// certificate may have been revoked, or the policy may map it to somebody else.
pub struct Caller {
    chain: Vec<CertificateDer<'static>>,
    connection: u64,
    standing: RefCell<Standing>,
}

#[derive(Clone)]
struct Standing {
    epoch: u64,
    result: Result<Known, Code>,
}

#[derive(Clone)]
struct Known {
    principal: Arc<Principal>,
    credential: Arc<Credential>,
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
        let known = identify(chain, snapshot, now)?;
        let standing = Standing {
            epoch: snapshot.epoch,
            result: Ok(known),
        };
        Ok(Self {
            chain: chain.to_vec(),
            connection,
            standing: RefCell::new(standing),
        })
    }

    /// The number of the connection.
    #[must_use]
    pub const fn connection(&self) -> u64 {
        self.connection
    }

    /// Who this is under `snapshot`: a comparison of two numbers unless the epoch has changed.
    ///
    /// # Errors
    /// The reason for which the connection must end.
    pub fn principal(&self, snapshot: &Snapshot, now: WallTime) -> Result<Arc<Principal>, Code> {
        self.standing(snapshot, now).map(|known| known.principal)
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

    fn standing(&self, snapshot: &Snapshot, now: WallTime) -> Result<Known, Code> {
        let mut standing = self.standing.borrow_mut();
        if standing.epoch != snapshot.epoch {
            let result = identify(&self.chain, snapshot, now);
            *standing = Standing {
                epoch: snapshot.epoch,
                result,
            };
        }
        let known = standing.result.clone()?;
        // The chain was valid when it was verified; since then only time can have run out.
        let expired = now.unix_seconds() > known.credential.not_after;
        if expired {
            Err(Code::CertificateExpired)
        } else {
            Ok(known)
        }
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Caller(connection {})", self.connection)
    }
}

fn identify(
    chain: &[CertificateDer<'_>],
    snapshot: &Snapshot,
    now: WallTime,
) -> Result<Known, Code> {
    let credential = snapshot
        .trust
        .verify(chain, now)
        .map_err(|refusal| refusal.code())?;
    let principal = snapshot
        .policy
        .identify(&credential)
        .map_err(|unidentified| unidentified.code())?;
    Ok(Known {
        principal: Arc::clone(principal),
        credential: Arc::new(credential),
    })
}
