//! AES-CBC with PKCS#7 padding, to be compared with what authenticates.
//!
//! The primitive works in place and changes the length, so each operation begins with copying its input into
//! the buffer. That is timed.

use keywright_measure::{Fault, TargetError, Worker};
use keywright_primitives::hazmat::cbc::{Aes128Cbc, Aes256Cbc, BLOCK_LEN};
use keywright_primitives::{Error, Rejected};

use super::row::{Row, Seeded, refused, rejected};
use super::worker::{Act, Ring, answered, ring_of, rotating};

type Iv = [u8; BLOCK_LEN];

/// A key of CBC.
pub(super) trait Cbc: Send + Sized + 'static {
    fn draw(seeded: &mut Seeded) -> Result<Self, Error>;
    fn encrypt(&self, iv: &Iv, buffer: &mut Vec<u8>) -> Result<(), Error>;
    fn decrypt(&self, iv: &Iv, buffer: &mut Vec<u8>) -> Result<(), Rejected>;
}

macro_rules! cbc {
    ($name:ident) => {
        impl Cbc for $name {
            fn draw(seeded: &mut Seeded) -> Result<Self, Error> {
                Self::new(seeded.secret().expose())
            }

            #[inline]
            fn encrypt(&self, iv: &Iv, buffer: &mut Vec<u8>) -> Result<(), Error> {
                Self::encrypt(self, iv, buffer)
            }

            #[inline]
            fn decrypt(&self, iv: &Iv, buffer: &mut Vec<u8>) -> Result<(), Rejected> {
                Self::decrypt(self, iv, buffer)
            }
        }
    };
}

cbc!(Aes128Cbc);
cbc!(Aes256Cbc);

#[inline]
fn fill(buffer: &mut Vec<u8>, input: &[u8]) {
    buffer.clear();
    buffer.extend_from_slice(input);
}

struct Encrypting<C>(C);

impl<C: Cbc> Act for Encrypting<C> {
    type Input = (Iv, Vec<u8>);
    type Output = Vec<u8>;

    #[inline]
    fn act(&mut self, (iv, text): &Self::Input, output: &mut Vec<u8>) -> Result<(), Fault> {
        fill(output, text);
        self.0.encrypt(iv, output).map_err(refused)
    }

    fn is_right(&mut self, (iv, text): &Self::Input, output: &Vec<u8>) -> bool {
        let mut opened = output.clone();
        self.0.decrypt(iv, &mut opened).is_ok() && opened == *text
    }
}

/// One text encrypted.
pub(super) fn encrypt<C: Cbc>(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let key = C::draw(&mut seeded).map_err(|error| row.fails(error))?;
    let ring = Ring::fill(ring_of(row.bytes), || {
        Ok((seeded.array(), seeded.bytes(row.bytes)))
    })?;
    Ok(rotating(Encrypting(key), ring, buffer(row)))
}

/// One text decrypted.
pub(super) fn decrypt<C: Cbc>(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let key = C::draw(&mut seeded).map_err(|error| row.fails(error))?;
    let ring = Ring::fill(ring_of(row.bytes), || {
        let (iv, text) = (seeded.array(), seeded.bytes(row.bytes));
        let mut sealed = text.clone();
        key.encrypt(&iv, &mut sealed)
            .map_err(|error| row.fails(error))?;
        Ok(((iv, sealed), text))
    })?;
    let act = move |(iv, sealed): &(Iv, Vec<u8>), out: &mut Vec<u8>| {
        fill(out, sealed);
        key.decrypt(iv, out).map_err(rejected)
    };
    Ok(answered(ring, buffer(row), act))
}

/// With room for the padding.
fn buffer(row: &Row<'_>) -> Vec<u8> {
    Vec::with_capacity(row.bytes + BLOCK_LEN)
}
