//! Slot 3 (design 7.10): the data key, sealed to a public key.
//!
//! ```text
//! KEM u16 | KDF u16 | AEAD u16 | enc, as long as the KEM makes it | ciphertext 48 | tag 16
//! ```
//!
//! HPKE in base mode (RFC 9180, section 6.1) with info = "keywright/file/v1", no associated data and a context
//! for each slot. The slot says neither whose it is nor who made it: anybody who has the public key can seal.
//!
//! Not here: which suites are admitted (the caller's policy), and files with keys.

use keywright_encoding::Reader;
use keywright_hpke::{
    Aad, Admitted, Enc, Info, Initiator, Policy, PrivateKey, PublicKey, RecipientMode, Sealed,
    Sender, SenderMode, Suite, TAG_LEN,
};
use keywright_secret::Secret;
use keywright_types::SlotType;

use crate::{DataKey, Error, Slot};

const INFO: Info<'static> = Info(b"keywright/file/v1");
/// Three numbers of two bytes.
const SUITE_LEN: usize = 6;
const SECRET_LEN: usize = 48;

impl Slot {
    /// Seals `data_key` to the owner of `to`, with an ephemeral key of its own.
    ///
    /// # Errors
    /// [`Error::Hpke`] if the suite has another KEM than the key, seals nothing, or the key makes no shared
    /// secret; [`Error::Backend`] without randomness.
    pub fn hpke(data_key: &DataKey, to: &PublicKey, suite: Admitted) -> Result<Self, Error> {
        seal(data_key, to, suite, |initiator| initiator.initiate())
    }

    /// The suite that a slot 3 states; `None` for another type of slot, or for a suite that is not known.
    #[must_use]
    pub fn suite(&self) -> Option<Suite> {
        if self.kind() != SlotType::Hpke {
            return None;
        }
        suite(&mut Reader::new(self.content())).ok()
    }

    /// Opens a slot 3.
    ///
    /// # Errors
    /// [`Error::NoSlot`] for another type of slot or a slot of another KEM, [`Error::Malformed`] if the suite
    /// is not known or the length is another than the suite's, [`Error::Hpke`] if `policy` does not admit the
    /// suite, [`Error::Rejected`] if it does not open or yields another data key than the file's.
    pub fn open_hpke(&self, key: &PrivateKey, policy: &Policy) -> Result<DataKey, Error> {
        if self.kind() != SlotType::Hpke {
            return Err(Error::NoSlot);
        }
        let mut reader = Reader::new(self.content());
        let suite = suite(&mut reader)?;
        if suite.kem != key.kem() {
            return Err(Error::NoSlot);
        }
        let rest = self.content().get(SUITE_LEN..).unwrap_or_default();
        let (enc, ciphertext) = rest
            .split_at_checked(suite.kem.enc_len())
            .filter(|(_, ciphertext)| ciphertext.len() == SECRET_LEN + TAG_LEN)
            .ok_or(Error::Malformed)?;
        let acceptor = policy
            .admit(suite)?
            .acceptor(key, RecipientMode::Base, INFO)?;
        let sealed = Sealed {
            enc,
            aad: Aad(b""),
            ciphertext,
        };
        let secret = Secret::try_from_fill(|secret| acceptor.open_into(sealed, secret).map(drop))?;
        self.yielded(Some(&secret))
    }
}

/// The slot under the context that `initiate` makes.
pub(crate) fn seal(
    data_key: &DataKey,
    to: &PublicKey,
    suite: Admitted,
    initiate: impl FnOnce(&Initiator<'_>) -> Result<(Enc, Sender), keywright_hpke::Error>,
) -> Result<Slot, Error> {
    let initiator = suite.initiator(to, SenderMode::Base, INFO)?;
    let (enc, mut sender) = initiate(&initiator)?;
    let ciphertext = sender.seal(Aad(b""), data_key.to_bytes().expose())?;
    let content = [&suite.suite().to_bytes()[..], enc.as_bytes(), &ciphertext].concat();
    Slot::from_parts(SlotType::Hpke, content, data_key.id())
}

fn suite(reader: &mut Reader<'_>) -> Result<Suite, Error> {
    let mut ids = [0; 3];
    for id in &mut ids {
        *id = reader.u16().map_err(|_| Error::Malformed)?;
    }
    Suite::from_ids(ids).map_err(|_| Error::Malformed)
}
