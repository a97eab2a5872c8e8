//! Authenticated encryption in place, without associated data.
//!
//! All ciphers here add a key stream to the text, so sealing a ciphertext again under the same nonce gives
//! the text back. Each slot therefore turns between two texts of which each is the ciphertext of the
//! other, with a tag for both: the buffer always holds something that can be sealed, or opened, and
//! nothing needs to be copied inside of what is timed. Nonces repeat, which a measurement may and nobody
//! else.

use std::hint::black_box;

use keywright_measure::carry::Check;
use keywright_measure::{Fault, TargetError, Worker};
use keywright_primitives::aead::{
    Aes128Gcm, Aes256Gcm, ChaCha20Poly1305, EXTENDED_NONCE_LEN, TAG_LEN, Tag, XChaCha20Poly1305,
    Xaes256Gcm,
};
use keywright_primitives::{Error, hazmat};

use super::output::Output;
use super::row::{Row, Seeded, refused, rejected};
use super::worker::{Ring, answered, ring_of};

/// A cipher with its key.
pub(super) trait Cipher: Send + Sized + 'static {
    type Nonce: Send;

    fn draw(seeded: &mut Seeded) -> Result<Self, Error>;
    fn nonce(seeded: &mut Seeded) -> Self::Nonce;
    fn seal(&self, nonce: &Self::Nonce, in_out: &mut [u8]) -> Result<Tag, Error>;
    /// Whether it opens.
    fn open(&self, nonce: &Self::Nonce, in_out: &mut [u8], tag: &Tag) -> bool;
}

macro_rules! cipher {
    ($name:ident, $nonce_len:expr, |$key:ident| $new:expr) => {
        impl Cipher for $name {
            type Nonce = [u8; $nonce_len];

            fn draw(seeded: &mut Seeded) -> Result<Self, Error> {
                let $key = seeded.secret();
                $new
            }

            fn nonce(seeded: &mut Seeded) -> Self::Nonce {
                seeded.array()
            }

            #[inline]
            fn seal(&self, nonce: &Self::Nonce, in_out: &mut [u8]) -> Result<Tag, Error> {
                Self::seal(self, nonce, &[], in_out)
            }

            #[inline]
            fn open(&self, nonce: &Self::Nonce, in_out: &mut [u8], tag: &Tag) -> bool {
                Self::open(self, nonce, &[], in_out, tag).is_ok()
            }
        }
    };
}

cipher!(Aes128Gcm, 12, |key| Self::new(key.expose()));
cipher!(Aes256Gcm, 12, |key| Self::new(key.expose()));
cipher!(ChaCha20Poly1305, 12, |key| Self::new(key.expose()));
cipher!(Xaes256Gcm, EXTENDED_NONCE_LEN, |key| Self::new(
    key.expose()
));
cipher!(XChaCha20Poly1305, EXTENDED_NONCE_LEN, |key| Ok(Self::new(
    key.expose()
)));

/// Two texts that turn into each other, and the buffer that does.
pub(super) struct Slot<C: Cipher> {
    nonce: C::Nonce,
    buffer: Vec<u8>,
    /// Which of the texts the buffer holds.
    side: usize,
    /// The tag that the last sealing made.
    made: Tag,
    texts: [Vec<u8>; 2],
    /// The tag of each text as a ciphertext.
    tags: [Tag; 2],
}

impl<C: Cipher> Slot<C> {
    /// Seals a text twice, and opens what came of it, because everything is later held against this.
    fn draw(cipher: &C, length: usize, seeded: &mut Seeded) -> Result<Self, &'static str> {
        let nonce = C::nonce(seeded);
        let mut buffer = seeded.bytes(length);
        let text = buffer.clone();
        let seal = |buffer: &mut [u8]| {
            let tag = cipher.seal(&nonce, buffer);
            tag.map_err(|_| "the cipher refuses to seal")
        };
        let forth = seal(&mut buffer)?;
        let sealed = buffer.clone();
        let back = seal(&mut buffer)?;
        let mut opened = sealed.clone();
        let opens = cipher.open(&nonce, &mut opened, &forth);
        if !opens || opened != text || buffer != text {
            return Err("the cipher does not open what it seals");
        }
        Ok(Self {
            nonce,
            buffer,
            side: 0,
            made: [0; TAG_LEN],
            texts: [text, sealed],
            tags: [back, forth],
        })
    }

    fn turned(&self) -> bool {
        self.buffer == self.texts[self.side]
    }
}

/// Which way a cipher is used.
pub(super) trait Direction: Send + 'static {
    fn turn<C: Cipher>(cipher: &C, slot: &mut Slot<C>) -> Result<(), Fault>;

    /// Whether the last turn left what it had to.
    fn is_right<C: Cipher>(cipher: &C, slot: &Slot<C>) -> bool;
}

pub(super) struct Sealing;
pub(super) struct Opening;

impl Direction for Sealing {
    #[inline]
    fn turn<C: Cipher>(cipher: &C, slot: &mut Slot<C>) -> Result<(), Fault> {
        slot.made = cipher
            .seal(&slot.nonce, &mut slot.buffer)
            .map_err(refused)?;
        slot.side ^= 1;
        Ok(())
    }

    fn is_right<C: Cipher>(cipher: &C, slot: &Slot<C>) -> bool {
        let mut opened = slot.buffer.clone();
        cipher.open(&slot.nonce, &mut opened, &slot.made)
            && opened == slot.texts[slot.side ^ 1]
            && slot.turned()
    }
}

impl Direction for Opening {
    #[inline]
    fn turn<C: Cipher>(cipher: &C, slot: &mut Slot<C>) -> Result<(), Fault> {
        let tag = &slot.tags[slot.side];
        if !cipher.open(&slot.nonce, &mut slot.buffer, tag) {
            return Err(rejected(()));
        }
        slot.side ^= 1;
        Ok(())
    }

    fn is_right<C: Cipher>(cipher: &C, slot: &Slot<C>) -> bool {
        let mut sealed = slot.buffer.clone();
        let tag = cipher.seal(&slot.nonce, &mut sealed);
        tag.ok() == Some(slot.tags[slot.side ^ 1])
            && sealed == slot.texts[slot.side ^ 1]
            && slot.turned()
    }
}

/// Turns `PIECES` slots an operation.
pub(super) struct InPlace<C: Cipher, D, const PIECES: usize> {
    cipher: C,
    slots: Ring<Slot<C>>,
    turns: usize,
    direction: std::marker::PhantomData<D>,
}

impl<C: Cipher, D: Direction, const PIECES: usize> InPlace<C, D, PIECES> {
    /// Slots of `length` bytes each, `1 << log2` of them.
    pub(super) fn new(row: &Row<'_>, length: usize, log2: u32) -> Result<Self, TargetError> {
        let mut seeded = row.seeded();
        let cipher = C::draw(&mut seeded).map_err(|error| row.fails(error))?;
        let slots = Ring::fill(log2, || {
            Slot::draw(&cipher, length, &mut seeded).map_err(|reason| row.fails(reason))
        })?;
        Ok(Self {
            cipher,
            slots,
            turns: 0,
            direction: std::marker::PhantomData,
        })
    }
}

impl<C: Cipher, D: Direction, const PIECES: usize> Worker for InPlace<C, D, PIECES> {
    #[inline]
    fn operate(&mut self) -> Result<(), Fault> {
        for _ in 0..PIECES {
            let slot = black_box(self.slots.at_mut(self.turns));
            self.turns = self.turns.wrapping_add(1);
            D::turn(&self.cipher, slot)?;
            black_box(slot);
        }
        Ok(())
    }

    fn check(&mut self) -> Check {
        #[cfg(test)]
        if super::spoil::is_asked() {
            let slot = self.slots.at_mut(self.turns.wrapping_sub(1));
            slot.buffer.spoil();
        }
        let mut last = (1..=PIECES).map(|ago| self.slots.at(self.turns.wrapping_sub(ago)));
        if last.all(|slot| D::is_right(&self.cipher, slot)) {
            Check::Right
        } else {
            Check::Wrong
        }
    }
}

/// One message sealed.
pub(super) fn seal<C: Cipher>(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let worker = InPlace::<C, Sealing, 1>::new(row, row.bytes, ring_of(row.bytes))?;
    Ok(Box::new(worker))
}

/// One message opened.
pub(super) fn open<C: Cipher>(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let worker = InPlace::<C, Opening, 1>::new(row, row.bytes, ring_of(row.bytes))?;
    Ok(Box::new(worker))
}

/// A mebibyte in pieces of 16 KiB, each with its own nonce: the work in a stream without the stream.
pub(super) type MebibyteInPieces = InPlace<Aes256Gcm, Sealing, 64>;

/// The pieces of a mebibyte.
pub(super) fn pieces(row: &Row<'_>) -> Result<MebibyteInPieces, TargetError> {
    InPlace::new(row, 16 << 10, 6)
}

/// A mebibyte sealed in pieces.
pub(super) fn seal_pieces(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    Ok(Box::new(pieces(row)?))
}

/// What a message of XChaCha20-Poly1305 costs more than one of ChaCha20-Poly1305: one HChaCha20 and the
/// setting up of its key. Judged by the tag of nothing, which the whole makes too.
pub(super) fn xchacha_set_up(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let key = seeded.secret::<32>();
    let ring = Ring::fill(ring_of(64), || {
        let nonce = seeded.array::<EXTENDED_NONCE_LEN>();
        let tag = XChaCha20Poly1305::seal_once(key.expose(), &nonce, &[], &mut []);
        Ok((
            nonce,
            MessageKey::Tag(tag.map_err(|error| row.fails(error))?),
        ))
    })?;
    let first = MessageKey::Tag([0; TAG_LEN]);
    Ok(answered(ring, first, move |nonce: &[u8; 24], out| {
        let (key, rest) = hazmat::xchacha::message_key(key.expose(), nonce).map_err(refused)?;
        *out = MessageKey::Key(key, rest);
        Ok(())
    }))
}

/// The key of a message, or the tag of nothing under it.
enum MessageKey {
    Key(ChaCha20Poly1305, [u8; 12]),
    Tag(Tag),
}

impl MessageKey {
    fn tag(&self) -> Option<Tag> {
        match self {
            Self::Key(key, nonce) => key.seal(nonce, &[], &mut []).ok(),
            Self::Tag(tag) => Some(*tag),
        }
    }
}

impl Output for MessageKey {
    fn equals(&self, other: &Self) -> bool {
        self.tag().is_some() && self.tag() == other.tag()
    }

    #[cfg(test)]
    fn spoil(&mut self) {
        *self = Self::Tag([1; TAG_LEN]);
    }
}
