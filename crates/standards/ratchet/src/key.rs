//! The 32-byte keys of a session, and the two derivations that move them: a step of a chain, a step of the
//! root.
//!
//! Keys lie inside of boxed values and are overwritten where they lie, so that no copy stays behind when a
//! session is moved or a chain goes on.

use keywright_primitives::Error;
use keywright_primitives::agreement::{X25519PrivateKey, X25519PublicKey};
use keywright_primitives::kdf::HkdfSha256;
use keywright_primitives::mac::Sha256Pads;
use keywright_secret::{Secret, wipe};

/// An X25519 public key as it is written.
pub(crate) type PublicKey = [u8; 32];

/// T: what both sides agreed on, as a digest.
pub(crate) type Transcript = [u8; 32];

const ROOT_LABEL: &[u8] = b"keywright/ratchet/root/v1";

/// A secret of 32 bytes that is filled in place and wiped on drop.
pub(crate) struct Key([u8; 32]);

impl Key {
    /// Zeros, to be filled.
    pub(crate) const fn empty() -> Self {
        Self([0; 32])
    }

    pub(crate) fn set(&mut self, bytes: &[u8; 32]) {
        self.0.copy_from_slice(bytes);
    }

    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.set(other.expose());
    }

    pub(crate) const fn expose(&self) -> &[u8; 32] {
        &self.0
    }

    pub(crate) fn wipe(&mut self) {
        wipe(&mut self.0);
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        self.wipe();
    }
}

/// MK = HMAC(CK, 01), then CK = HMAC(CK, 02): six blocks of hashing, because the pads of the key are shared.
pub(crate) fn step(chain: &mut Key, message: &mut Key) {
    let pads = Sha256Pads::new(chain.expose());
    for (input, output) in [(1, message), (2, chain)] {
        let mut made = pads.mac_byte(input);
        output.set(&made);
        wipe(&mut made);
    }
}

/// What a step of the root makes.
pub(crate) struct RootStep {
    pub(crate) root: Key,
    pub(crate) chain: Key,
    pub(crate) next_header: Key,
}

impl RootStep {
    pub(crate) const fn empty() -> Self {
        Self {
            root: Key::empty(),
            chain: Key::empty(),
            next_header: Key::empty(),
        }
    }

    /// RK', CK, NHK = HKDF-SHA-256(salt RK, ikm DH, info label + T, 96).
    pub(crate) fn derive(
        &mut self,
        root: &Key,
        shared: &Secret<32>,
        transcript: &Transcript,
    ) -> Result<(), Error> {
        let extracted = HkdfSha256::extract(root.expose(), shared.expose())?;
        let made = Secret::try_from_fill(|made| extracted.expand(&[ROOT_LABEL, transcript], made))?;
        let [root, chain, next_header] = thirds(&made);
        self.root.set(root);
        self.chain.set(chain);
        self.next_header.set(next_header);
        Ok(())
    }
}

/// 96 bytes as three keys.
pub(crate) fn thirds(bytes: &Secret<96>) -> [&[u8; 32]; 3] {
    let parts = bytes.expose().as_chunks::<32>().0;
    [&parts[0], &parts[1], &parts[2]]
}

/// A private ratchet key and its public half.
pub(crate) struct RatchetKey {
    private: X25519PrivateKey,
    public: PublicKey,
}

impl RatchetKey {
    pub(crate) fn new(private: X25519PrivateKey) -> Result<Self, Error> {
        let public = private.public_bytes()?;
        Ok(Self { private, public })
    }

    pub(crate) const fn public(&self) -> &PublicKey {
        &self.public
    }

    pub(crate) fn to_bytes(&self) -> Result<Secret<32>, Error> {
        self.private.to_bytes()
    }

    /// DH with the peer's key; refuses one of small order.
    pub(crate) fn agree(&self, peer: &PublicKey) -> Result<Secret<32>, crate::Error> {
        let peer = X25519PublicKey::from_bytes(peer)?;
        self.private.agree(&peer).map_err(|_| crate::Error::PeerKey)
    }
}
