//! AES-CMAC (SP 800-38B, RFC 4493).

use aws_lc_rs::cmac::{AES_128, AES_256, Context, Key, Tag, sign};

use super::compare;
use crate::{Error, Rejected, opaque_debug};

macro_rules! cmac {
    ($(#[$doc:meta])* $name:ident, $algorithm:ident, $key_len:literal) => {
        $(#[$doc])*
        pub struct $name(Key);

        impl $name {
            /// Sets up the key schedule and the two subkeys.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn new(key: &[u8; $key_len]) -> Result<Self, Error> {
                Key::new($algorithm, key).map(Self).map_err(|_| Error::Backend)
            }

            /// The MAC of `bytes`.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn mac(&self, bytes: &[u8]) -> Result<[u8; 16], Error> {
                to_array(&sign(&self.0, bytes).map_err(|_| Error::Backend)?)
            }

            /// The MAC of pieces as if they were joined; the caller makes the joining injective.
            ///
            /// # Errors
            /// [`Error::Backend`] if the backend refuses.
            pub fn mac_pieces(&self, pieces: &[&[u8]]) -> Result<[u8; 16], Error> {
                let mut context = Context::with_key(&self.0);
                let mut update = |piece: &&[u8]| context.update(piece);
                pieces.iter().try_for_each(&mut update).map_err(|_| Error::Backend)?;
                to_array(&context.sign().map_err(|_| Error::Backend)?)
            }

            /// Compares in constant time.
            ///
            /// # Errors
            /// [`Rejected`] if `mac` is not the MAC of `bytes`.
            pub fn verify(&self, bytes: &[u8], mac: &[u8; 16]) -> Result<(), Rejected> {
                compare(&self.mac(bytes).map_err(|_| Rejected)?, mac)
            }
        }
    };
}

cmac! {
    /// A key for AES-CMAC with AES-128.
    Aes128Cmac, AES_128, 16
}
cmac! {
    /// A key for AES-CMAC with AES-256.
    Aes256Cmac, AES_256, 32
}
opaque_debug! { Aes128Cmac Aes256Cmac }

fn to_array(tag: &Tag) -> Result<[u8; 16], Error> {
    tag.as_ref().try_into().map_err(|_| Error::Backend)
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! rejects_everything_else {
        ($name:ident, $key_len:literal) => {
            let key = $name::new(&[1; $key_len]).unwrap();
            let other = $name::new(&[2; $key_len]).unwrap();
            // A whole block and a started one end in different subkeys.
            for message in [&b"sixteen bytes..."[..], b"row", b""] {
                let mac = key.mac(message).unwrap();
                let (head, tail) = message.split_at(message.len() / 3);
                assert_eq!(key.mac_pieces(&[head, b"", tail]), Ok(mac));
                assert_eq!(key.verify(message, &mac), Ok(()));
                assert_eq!(other.verify(message, &mac), Err(Rejected));
                assert_eq!(key.verify(b"rov", &mac), Err(Rejected));
                for bit in 0..128 {
                    let mut changed = mac;
                    changed[bit / 8] ^= 1 << (bit % 8);
                    assert_eq!(key.verify(message, &changed), Err(Rejected), "bit {bit}");
                }
            }
        };
    }

    #[test]
    fn another_key_message_or_mac_is_rejected() {
        rejects_everything_else!(Aes128Cmac, 16);
        rejects_everything_else!(Aes256Cmac, 32);
    }
}
