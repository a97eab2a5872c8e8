//! Another implementation in the same run: the `hpke` crate, which is curve25519-dalek and RustCrypto inside.
//! It is judged by ours.

use hpke::aead::{AeadCtxR, AeadCtxS, ChaCha20Poly1305};
use hpke::kdf::HkdfSha256;
use hpke::kem::{X25519HkdfSha256, XWing};
use hpke::{Deserializable, Kem as TheirKem, OpModeR, OpModeS, Serializable};
use keywright_hpke::{Error, PrivateKey, Suite};
use keywright_measure::{TargetError, Worker};
use keywright_secret::Secret;

use super::super::row::{Row, Seeded};
use super::super::worker::Ring;
use super::held::{Exports, Held};
use super::{EXPORT, INFO, RING_LOG2, Scene, Started, Way, accepting_each, draw, known, starting};

/// The suite and the mode of a row, and the two keys of the sender in the other's types.
struct Peer<K: TheirKem> {
    way: Way,
    sender: (K::PrivateKey, K::PublicKey),
}

impl<K: TheirKem> Peer<K> {
    /// The peer draws what [`Scene::new`] draws.
    fn new(suite: Suite, way: Way, seeded: &mut Seeded) -> Result<Self, Error> {
        let key = draw(suite.kem, seeded)?;
        let secret = private::<K>(&key)?;
        let public = K::sk_to_pk(&secret);
        Ok(Self {
            way,
            sender: (secret, public),
        })
    }

    fn sending(&self) -> OpModeS<'static, K> {
        match self.way {
            Way::Auth => OpModeS::Auth(self.sender.clone()),
            _ => OpModeS::Base,
        }
    }

    fn receiving(&self) -> OpModeR<'static, K> {
        match self.way {
            Way::Auth => OpModeR::Auth(self.sender.1.clone()),
            _ => OpModeR::Base,
        }
    }
}

fn private<K: TheirKem>(key: &PrivateKey) -> Result<K::PrivateKey, Error> {
    K::PrivateKey::from_bytes(key.to_bytes()?.expose()).map_err(|_| Error::KeyRejected)
}

type Sender<K> = AeadCtxS<ChaCha20Poly1305, HkdfSha256, K>;
type Recipient<K> = AeadCtxR<ChaCha20Poly1305, HkdfSha256, K>;

/// A context of the peer.
struct Theirs<C>(C);

macro_rules! exports {
    ($context:ident) => {
        impl<K: TheirKem + 'static> Exports for Theirs<$context<K>>
        where
            $context<K>: Send,
        {
            fn secret(&self) -> Option<Secret<32>> {
                Secret::try_from_fill(|out| self.0.export(EXPORT, out)).ok()
            }
        }
    };
}

exports!(Sender);
exports!(Recipient);

fn initiate<K: TheirKem>(
    mode: &OpModeS<'_, K>,
    to: &K::PublicKey,
) -> Result<Started<Theirs<Sender<K>>>, Error> {
    let made = hpke::setup_sender::<ChaCha20Poly1305, HkdfSha256, K>(mode, to, INFO.0);
    let (enc, context) = made.map_err(|_| Error::KeyAgreement)?;
    Ok((enc.to_bytes().to_vec(), Held::Context(Theirs(context))))
}

fn accept<K: TheirKem>(
    mode: &OpModeR<'_, K>,
    key: &K::PrivateKey,
    enc: &[u8],
) -> Result<Held<Theirs<Recipient<K>>>, Error> {
    // Reading what was sent belongs to it, as it does to ours.
    let enc = K::EncappedKey::from_bytes(enc).map_err(|_| Error::Rejected)?;
    let made = hpke::setup_receiver::<ChaCha20Poly1305, HkdfSha256, K>(mode, key, &enc, INFO.0);
    made.map(|context| Held::Context(Theirs(context)))
        .map_err(|_| Error::Rejected)
}

fn initiating<K>(row: &Row<'_>, suite: Suite, way: Way) -> Result<Box<dyn Worker>, TargetError>
where
    K: TheirKem + 'static,
    K::PrivateKey: Send,
    K::PublicKey: Send,
    Sender<K>: Send,
    Recipient<K>: Send,
{
    let fails = |error: Error| row.fails(error);
    let mut seeded = row.seeded();
    let peer = Peer::<K>::new(suite, way, &mut seeded).map_err(fails)?;
    let judge = Scene::new(suite, way, &mut row.seeded()).map_err(fails)?;
    let mode = peer.sending();
    let keys = Ring::fill(RING_LOG2, || {
        let ours = draw(suite.kem, &mut seeded).map_err(fails)?;
        let theirs = K::PublicKey::from_bytes(ours.public_key().as_bytes());
        Ok((
            ours,
            theirs.map_err(|_| row.lacks("the peer refuses the key"))?,
        ))
    })?;
    Ok(starting(
        keys,
        move |(_, to): &(PrivateKey, K::PublicKey)| initiate::<K>(&mode, to),
        move |(key, _): &(PrivateKey, K::PublicKey), enc: &[u8]| judge.accept(key, enc),
    ))
}

fn accepting<K>(row: &Row<'_>, suite: Suite, way: Way) -> Result<Box<dyn Worker>, TargetError>
where
    K: TheirKem + 'static,
    K::PrivateKey: Send,
    K::PublicKey: Send,
    Sender<K>: Send,
    Recipient<K>: Send,
{
    let fails = |error: Error| row.fails(error);
    let mut seeded = row.seeded();
    let scene = Scene::new(suite, way, &mut seeded).map_err(fails)?;
    let peer = Peer::<K>::new(suite, way, &mut row.seeded()).map_err(fails)?;
    let mode = peer.receiving();
    let ours = draw(suite.kem, &mut seeded).map_err(fails)?;
    let key = private::<K>(&ours).map_err(fails)?;
    let ring = Ring::fill(RING_LOG2, || {
        let made = scene.initiate(ours.public_key()).and_then(known);
        made.map_err(fails)
    })?;
    Ok(accepting_each(ring, move |enc| {
        accept::<K>(&mode, &key, enc)
    }))
}

/// Base and auth with X25519, base with X-Wing.
macro_rules! rows {
    ($($initiate:ident $accept:ident: $kem:ident, $suite:expr, $way:ident;)*) => { $(
        pub(in crate::local) fn $initiate(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
            initiating::<$kem>(row, $suite, Way::$way)
        }

        pub(in crate::local) fn $accept(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
            accepting::<$kem>(row, $suite, Way::$way)
        }
    )* };
}

rows! {
    base_initiate base_accept: X25519HkdfSha256, Suite::X25519, Base;
    auth_initiate auth_accept: X25519HkdfSha256, Suite::X25519, Auth;
    x_wing_initiate x_wing_accept: XWing, Suite::X_WING_DRAFT, Base;
}
