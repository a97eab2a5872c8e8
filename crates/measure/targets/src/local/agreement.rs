//! Key agreement with one key and many peers. The answer is what the peer agrees on.

use keywright_measure::{TargetError, Worker};
use keywright_primitives::agreement::{
    P256PrivateKey, P256PublicKey, X25519PrivateKey, X25519PublicKey,
};
use keywright_secret::Secret;

use super::row::{Row, rejected};
use super::worker::{Ring, answered};

macro_rules! agreement {
    ($name:ident, $private:ident, $public:ident, $spoken:literal) => {
        #[doc = concat!("One secret agreed on with ", $spoken, ".")]
        pub(super) fn $name(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
            let mut seeded = row.seeded();
            let mut draw = || {
                let key = $private::from_bytes(&seeded.secret());
                key.map_err(|error| row.fails(error))
            };
            let own = draw()?;
            let public = own.public_key().map_err(|error| row.fails(error))?;
            let ring = Ring::fill(4, || {
                let peer = draw()?;
                let secret = peer.agree(&public).map_err(|error| row.fails(error))?;
                let peer = peer.public_key().map_err(|error| row.fails(error))?;
                Ok((peer, secret))
            })?;
            let first = Secret::from_fill(|_| ());
            Ok(answered(ring, first, move |peer: &$public, out| {
                *out = own.agree(peer).map_err(rejected)?;
                Ok(())
            }))
        }
    };
}

agreement!(x25519, X25519PrivateKey, X25519PublicKey, "X25519");
agreement!(ecdh_p256, P256PrivateKey, P256PublicKey, "ECDH over P-256");
