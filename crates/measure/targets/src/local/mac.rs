//! Message authentication codes: made, and verified. Right tags come from the interface for pieces.

use keywright_measure::{Fault, TargetError, Worker};
use keywright_primitives::mac::{Aes256Cmac, Blake3Mac, HmacSha256, HmacSha384, HmacSha512};
use keywright_primitives::{Error, Rejected};

use super::output::Output;
use super::row::{Row, Seeded, refused, rejected};
use super::worker::{Act, Ring, answered, changed, ring_of, rotating};

/// A key of a MAC.
pub(super) trait Mac: Send + Sized + 'static {
    type Tag: Output + Copy;

    fn draw(seeded: &mut Seeded) -> Result<Self, Error>;
    fn mac(&self, message: &[u8]) -> Result<Self::Tag, Error>;
    fn mac_pieces(&self, pieces: &[&[u8]]) -> Result<Self::Tag, Error>;
    fn verify(&self, message: &[u8], tag: &Self::Tag) -> Result<(), Rejected>;
}

macro_rules! mac {
    ($name:ident, $tag_len:literal, |$key:ident| $new:expr, |$made:ident| $result:expr) => {
        impl Mac for $name {
            type Tag = [u8; $tag_len];

            fn draw(seeded: &mut Seeded) -> Result<Self, Error> {
                let key = seeded.secret::<32>();
                let $key = key.expose();
                $new
            }

            #[inline]
            fn mac(&self, message: &[u8]) -> Result<Self::Tag, Error> {
                let $made = Self::mac(self, message);
                $result
            }

            fn mac_pieces(&self, pieces: &[&[u8]]) -> Result<Self::Tag, Error> {
                let $made = Self::mac_pieces(self, pieces);
                $result
            }

            #[inline]
            fn verify(&self, message: &[u8], tag: &Self::Tag) -> Result<(), Rejected> {
                Self::verify(self, message, tag)
            }
        }
    };
}

mac!(HmacSha256, 32, |key| Self::new(key), |tag| Ok(tag));
mac!(HmacSha384, 48, |key| Self::new(key), |tag| Ok(tag));
mac!(HmacSha512, 64, |key| Self::new(key), |tag| Ok(tag));
mac!(Blake3Mac, 32, |key| Ok(Self::new(key)), |tag| Ok(tag));
mac!(Aes256Cmac, 16, |key| Self::new(key), |tag| tag);

type Tagged<M> = (Vec<u8>, <M as Mac>::Tag);

/// A key, and messages with their tags.
fn drawn<M: Mac>(row: &Row<'_>) -> Result<(M, Ring<Tagged<M>>), TargetError> {
    let mut seeded = row.seeded();
    let key = M::draw(&mut seeded).map_err(|error| row.fails(error))?;
    let ring = Ring::fill(ring_of(row.bytes), || {
        let message = seeded.bytes(row.bytes);
        let tag = in_pieces(&key, &message).map_err(|error| row.fails(error))?;
        Ok((message, tag))
    })?;
    Ok((key, ring))
}

fn in_pieces<M: Mac>(key: &M, message: &[u8]) -> Result<M::Tag, Error> {
    let (head, tail) = message.split_at(message.len() / 3);
    key.mac_pieces(&[head, tail])
}

/// The tag of one message made.
pub(super) fn make<M: Mac>(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let (key, ring) = drawn::<M>(row)?;
    let first = key.mac_pieces(&[]).map_err(|error| row.fails(error))?;
    Ok(answered(ring, first, move |message: &Vec<u8>, out| {
        *out = key.mac(message).map_err(refused)?;
        Ok(())
    }))
}

struct Verifying<M>(M);

impl<M: Mac> Act for Verifying<M> {
    type Input = (Vec<u8>, M::Tag);
    type Output = bool;

    #[inline]
    fn act(&mut self, (message, tag): &Self::Input, output: &mut bool) -> Result<(), Fault> {
        self.0.verify(message, tag).map_err(rejected)?;
        *output = true;
        Ok(())
    }

    fn is_right(&mut self, (message, tag): &Self::Input, accepted: &bool) -> bool {
        let made = in_pieces(&self.0, message);
        let refuses = self.0.verify(&changed(message), tag).is_err();
        *accepted && refuses && made.is_ok_and(|made| made.equals(tag))
    }
}

/// The tag of one message verified.
pub(super) fn verify<M: Mac>(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let (key, ring) = drawn::<M>(row)?;
    Ok(rotating(Verifying(key), ring, false))
}
