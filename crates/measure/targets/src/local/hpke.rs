//! HPKE with HKDF-SHA-256; ChaCha20-Poly1305 where nothing else is said. What has no KEM in its name is
//! X25519.
//!
//! | row | one operation |
//! |---|---|
//! | `hpke.base.initiate`, `.accept` | one end of a context in mode base, from keys that were read before |
//! | `hpke.auth...`, `hpke.psk...`, `hpke.auth-psk...` | the same in the other modes |
//! | `hpke.binder...` | the same in mode base, bound to a negotiation of about 400 bytes, and the binder exported |
//! | `hpke.authpsk-pq...` | AuthPSK-PQ, with ML-KEM-768 beside X25519 |
//! | `hpke.p256.base.initiate` ... | mode base with another KEM; P-256 with AES-256-GCM |
//! | `hpke.floor.base.initiate` ... | the backend's key generation and agreements that the row of this name cannot do without |
//! | `hpke.seal.1k`, `hpke.open.1k`, `hpke.export.32` | in a context that is there; of the sealed ones one after the other |
//!
//! A context is judged by what it exports, which is the last thing that its making derives; the exporting is
//! not timed, but for the binder's. The floors are judged by the other side of the agreement.

pub(super) mod bound;
pub(super) mod floor;
mod held;
pub(super) mod messages;
#[cfg(feature = "peers")]
pub(super) mod peers;

use std::marker::PhantomData;

use keywright_hpke::{
    Admitted, Error, Info, Kem, Policy, PrivateKey, Psk, PskSecret, PublicKey, Recipient,
    RecipientMode, Sender, SenderMode, Suite,
};
use keywright_measure::{Fault, TargetError, Worker};
use keywright_secret::SecretBytes;

use super::row::{Row, Seeded, refused, rejected};
use super::worker::{Act, Ring, answered, rotating};
use held::{Exports, Held};

const INFO: Info<'static> = Info(b"keywright/measure");
const EXPORT: &[u8] = b"measured";
const PSK: &[u8; 32] = b"a key that both have had before!";
/// Recipients, or encapsulations to one, that are used in turn: two to this power.
const RING_LOG2: u32 = 3;

/// What is sent, and what the sender holds then.
type Started<C = Sender> = (Vec<u8>, Held<C>);

/// The mode of a row.
#[derive(Clone, Copy)]
enum Way {
    Auth,
    AuthPsk,
    Base,
    Psk,
}

impl Way {
    fn sending(self, sender: &PrivateKey) -> Result<SenderMode<'_>, Error> {
        let psk = Psk::new(PskSecret(PSK), b"id")?;
        Ok(match self {
            Self::Auth => SenderMode::AuthRfc9180(sender),
            Self::AuthPsk => SenderMode::AuthPsk(sender, psk),
            Self::Base => SenderMode::Base,
            Self::Psk => SenderMode::Psk(psk),
        })
    }

    fn receiving(self, sender: &PublicKey) -> Result<RecipientMode<'_>, Error> {
        let psk = Psk::new(PskSecret(PSK), b"id")?;
        Ok(match self {
            Self::Auth => RecipientMode::AuthRfc9180(sender),
            Self::AuthPsk => RecipientMode::AuthPsk(sender, psk),
            Self::Base => RecipientMode::Base,
            Self::Psk => RecipientMode::Psk(psk),
        })
    }
}

/// A suite, a mode and a sender: what all inputs of a row share.
struct Scene {
    suite: Admitted,
    way: Way,
    sender: PrivateKey,
}

fn draw(kem: Kem, seeded: &mut Seeded) -> Result<PrivateKey, Error> {
    PrivateKey::derive(kem, &SecretBytes::from_vec(seeded.bytes(66)))
}

impl Scene {
    fn new(suite: Suite, way: Way, seeded: &mut Seeded) -> Result<Self, Error> {
        Ok(Self {
            suite: Policy::of(&[suite]).admit(suite)?,
            way,
            sender: draw(suite.kem, seeded)?,
        })
    }

    fn initiate(&self, to: &PublicKey) -> Result<Started, Error> {
        let mode = self.way.sending(&self.sender)?;
        let (enc, context) = self.suite.initiator(to, mode, INFO)?.initiate()?;
        Ok((enc.as_bytes().to_vec(), Held::Context(context)))
    }

    fn accept(&self, key: &PrivateKey, enc: &[u8]) -> Result<Held<Recipient>, Error> {
        let mode = self.way.receiving(self.sender.public_key())?;
        let context = self.suite.acceptor(key, mode, INFO)?.accept(enc)?;
        Ok(Held::Context(context))
    }
}

/// What the two ends hold, without holding any of it.
type Ends<K, C, D> = PhantomData<fn(&K) -> (C, D)>;

/// A way of starting something with a recipient whose keys are `K`, judged by his accepting it.
struct Starting<K, C, D, S, A> {
    start: S,
    accept: A,
    types: Ends<K, C, D>,
}

impl<K, C, D, S, A> Act for Starting<K, C, D, S, A>
where
    K: Send,
    C: Exports,
    D: Exports,
    S: FnMut(&K) -> Result<Started<C>, Error> + Send,
    A: FnMut(&K, &[u8]) -> Result<Held<D>, Error> + Send,
{
    type Input = K;
    type Output = Started<C>;

    #[inline]
    fn act(&mut self, key: &K, output: &mut Started<C>) -> Result<(), Fault> {
        *output = (self.start)(key).map_err(refused)?;
        Ok(())
    }

    fn is_right(&mut self, key: &K, (enc, held): &Started<C>) -> bool {
        let accepted = (self.accept)(key, enc).ok();
        let theirs = accepted.and_then(|accepted| accepted.secret());
        match (held.secret(), theirs) {
            (Some(ours), Some(theirs)) => ours.ct_eq(&theirs),
            _ => false,
        }
    }
}

fn starting<K, C, D, S, A>(keys: Ring<K>, start: S, accept: A) -> Box<dyn Worker>
where
    K: Send + 'static,
    C: Exports,
    D: Exports,
    S: FnMut(&K) -> Result<Started<C>, Error> + Send + 'static,
    A: FnMut(&K, &[u8]) -> Result<Held<D>, Error> + Send + 'static,
{
    let act = Starting {
        start,
        accept,
        types: PhantomData,
    };
    rotating(act, keys, (Vec::new(), Held::nothing()))
}

/// Accepts one of several starts, each with the secret that the sender holds.
fn accepting_each<C, A>(ring: Ring<(Vec<u8>, Held<C>)>, mut accept: A) -> Box<dyn Worker>
where
    C: Exports,
    A: FnMut(&[u8]) -> Result<Held<C>, Error> + Send + 'static,
{
    answered(ring, Held::nothing(), move |enc: &Vec<u8>, out| {
        *out = accept(enc).map_err(rejected)?;
        Ok(())
    })
}

/// What was sent, and the secret alone of what the sender holds.
fn known<C: Exports, D: Exports>((enc, held): Started<C>) -> Result<Started<D>, Error> {
    let secret = held.secret().ok_or(Error::ExportLength)?;
    Ok((enc, Held::Secret(secret)))
}

fn initiating(row: &Row<'_>, suite: Suite, way: Way) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let scene = Scene::new(suite, way, &mut seeded).map_err(|error| row.fails(error))?;
    let keys = Ring::fill(RING_LOG2, || {
        draw(suite.kem, &mut seeded).map_err(|error| row.fails(error))
    })?;
    let judge = Scene::new(suite, way, &mut row.seeded()).map_err(|error| row.fails(error))?;
    Ok(starting(
        keys,
        move |key: &PrivateKey| scene.initiate(key.public_key()),
        move |key: &PrivateKey, enc: &[u8]| judge.accept(key, enc),
    ))
}

fn accepting(row: &Row<'_>, suite: Suite, way: Way) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let scene = Scene::new(suite, way, &mut seeded).map_err(|error| row.fails(error))?;
    let key = draw(suite.kem, &mut seeded).map_err(|error| row.fails(error))?;
    let ring = Ring::fill(RING_LOG2, || {
        let made = scene.initiate(key.public_key()).and_then(known);
        made.map_err(|error| row.fails(error))
    })?;
    Ok(accepting_each(ring, move |enc| scene.accept(&key, enc)))
}

/// A KEM in mode base, or a mode with X25519: two makers.
macro_rules! rows {
    ($($initiate:ident $accept:ident: $suite:expr, $way:ident, $spoken:literal;)*) => { $(
        #[doc = concat!("A context sent to one of several recipients: ", $spoken, ".")]
        pub(super) fn $initiate(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
            initiating(row, $suite, Way::$way)
        }

        #[doc = concat!("One of several contexts accepted: ", $spoken, ".")]
        pub(super) fn $accept(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
            accepting(row, $suite, Way::$way)
        }
    )* };
}

const fn of_kem(kem: Kem) -> Suite {
    Suite {
        kem,
        ..Suite::X25519
    }
}

rows! {
    base_initiate base_accept: Suite::X25519, Base, "mode base";
    psk_initiate psk_accept: Suite::X25519, Psk, "mode psk";
    auth_initiate auth_accept: Suite::X25519, Auth, "mode auth";
    auth_psk_initiate auth_psk_accept: Suite::X25519, AuthPsk, "mode auth-psk";
    p256_initiate p256_accept: Suite::P256, Base, "P-256";
    p384_initiate p384_accept: of_kem(Kem::P384HkdfSha384), Base, "P-384";
    p521_initiate p521_accept: of_kem(Kem::P521HkdfSha512), Base, "P-521";
    x_wing_initiate x_wing_accept: Suite::X_WING_DRAFT, Base, "X-Wing";
    ml_kem_768_initiate ml_kem_768_accept: of_kem(Kem::MlKem768Draft), Base, "ML-KEM-768";
    ml_kem_1024_initiate ml_kem_1024_accept: of_kem(Kem::MlKem1024Draft), Base, "ML-KEM-1024";
}
