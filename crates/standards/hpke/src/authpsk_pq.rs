//! AuthPSK-PQ: HPKE's mode AuthPSK over X25519, whose pre-shared key comes out of ML-KEM-768.
//!
//! The post-quantum KEMs cannot authenticate a sender, and X25519 alone does not keep a secret from a
//! quantum computer. Here the sender encapsulates to the recipient's ML-KEM key and feeds what comes out into
//! AuthPSK as a pre-shared key:
//!
//! ```text
//! ct, ss = ML-KEM-768.Encaps(pk_mlkem)
//! h      = SHA-256(lp(pk_mlkem) + lp(ct) + lp(pkS) + lp(pkR))
//! psk    = HKDF-SHA-256(salt = "", ikm = ss, info = "keywright/authpsk-pq/v1" + h, 32)
//! psk_id = "kw-pq-psk/1" + SHA-256(lp(pk_mlkem) + lp(ct))
//! sent   = enc + ct
//! ```
//!
//! It is secret while X25519 or ML-KEM holds. The sender is authenticated while X25519 holds.
//!
//! **It does not withstand the theft of the recipient's keys**: the thief makes the encapsulation himself,
//! and then sends in anybody's name, as in mode [`crate::SenderMode::AuthRfc9180`]. Only a secret that was
//! truly shared before, or a signature ([`crate::binder::Transcript::sign`]), does.
//!
//! Bound to a negotiation ([`Negotiation::initiate_pq`]) the transcript is that of mode AuthPSK, whose field
//! `psk_id` names the lattice key: "kw-pq-psk/1" + SHA-256(lp(pk_mlkem)). The ciphertext follows from the
//! pre-shared key itself.
//!
//! Not here: the individual draft that proposes such a mode for the standard. The bytes are our own until
//! there is a document to follow.

use keywright_encoding::lp;
use keywright_primitives::hash::sha256;
use keywright_primitives::kdf::HkdfSha256;
use keywright_secret::wipe;

use crate::binder::{Bound, Ends, Negotiation};
use crate::kem::Randomness;
use crate::mode::Psk;
use crate::short::Short;
use crate::{
    Error, Info, Input, Kem, Mode, Policy, PrivateKey, PskSecret, PublicKey, Recipient,
    RecipientMode, Sender, SenderMode, Suite,
};

const PSK_LABEL: &[u8] = b"keywright/authpsk-pq/v1";
const ID_LABEL: &[u8; 11] = b"kw-pq-psk/1";
const ID_LEN: usize = ID_LABEL.len() + 32;

/// The suite inside.
pub const SUITE: Suite = Suite::X25519;
/// Bytes in what is sent: an encapsulation of X25519, then one of ML-KEM-768.
pub const ENC_LEN: usize = CURVE_LEN + 1088;

const CURVE_LEN: usize = 32;

/// A recipient's private keys.
#[derive(Debug)]
pub struct RecipientKey {
    curve: PrivateKey,
    lattice: PrivateKey,
}

/// A recipient's public keys.
#[derive(Debug)]
pub struct RecipientPublicKey {
    curve: PublicKey,
    lattice: PublicKey,
}

impl RecipientKey {
    /// New keys.
    ///
    /// # Errors
    /// [`Error::Backend`] if there is no randomness.
    pub fn generate() -> Result<Self, Error> {
        Ok(Self {
            curve: PrivateKey::generate(Kem::X25519HkdfSha256)?,
            lattice: PrivateKey::generate(Kem::MlKem768Draft)?,
        })
    }

    /// The keys of two recipients that are one: X25519, and ML-KEM-768.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] if they are keys of other KEMs.
    pub fn from_parts(curve: PrivateKey, lattice: PrivateKey) -> Result<Self, Error> {
        fit(curve.kem(), lattice.kem())?;
        Ok(Self { curve, lattice })
    }

    /// The public half that others encapsulate to on the curve.
    #[must_use]
    pub const fn curve(&self) -> &PublicKey {
        self.curve.public_key()
    }

    /// The context that the owner of `from` made with `enc`.
    ///
    /// # Errors
    /// [`Error::SuiteRefused`] if the policy has no X25519, [`Error::Rejected`] if `enc` is none.
    pub fn accept(
        &self,
        policy: &Policy,
        from: &PublicKey,
        enc: &[u8],
        info: Info<'_>,
    ) -> Result<Recipient, Error> {
        let admitted = policy.admit(SUITE)?;
        let (curve, lattice) = enc.split_at_checked(CURVE_LEN).ok_or(Error::Rejected)?;
        let shared = self.lattice.decap(lattice, None)?;
        let keys = Keys {
            lattice: self.lattice.public_key(),
            ciphertext: lattice,
            sender: from,
            recipient: self.curve.public_key(),
        };
        let mut secret = [0; 32];
        let id = keys.derive(&shared, &mut secret)?;
        let psk = Psk::new(PskSecret(&secret), &id)?;
        let acceptor = admitted.acceptor(&self.curve, RecipientMode::AuthPsk(from, psk), info);
        let context = acceptor.and_then(|acceptor| acceptor.accept(curve));
        wipe(&mut secret);
        context
    }
}

impl RecipientPublicKey {
    /// The public halves.
    ///
    /// # Errors
    /// [`Error::KeyRejected`] if the backend refuses what it made.
    pub fn of(key: &RecipientKey) -> Result<Self, Error> {
        let again = |key: &PrivateKey| {
            let public = key.public_key();
            PublicKey::from_bytes(public.kem(), public.as_bytes())
        };
        Ok(Self {
            curve: again(&key.curve)?,
            lattice: again(&key.lattice)?,
        })
    }

    /// The keys of two recipients that are one: X25519, and ML-KEM-768.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`] if they are keys of other KEMs.
    pub fn from_parts(curve: PublicKey, lattice: PublicKey) -> Result<Self, Error> {
        fit(curve.kem(), lattice.kem())?;
        Ok(Self { curve, lattice })
    }

    /// A context to this recipient, in the name of `from`, and what to send so that he finds it.
    ///
    /// # Errors
    /// [`Error::SuiteRefused`] if the policy has no X25519, otherwise as [`crate::Initiator::initiate`].
    pub fn initiate(
        &self,
        policy: &Policy,
        from: &PrivateKey,
        info: Info<'_>,
    ) -> Result<(Vec<u8>, Sender), Error> {
        let admitted = policy.admit(SUITE)?;
        let (ciphertext, shared) = self.lattice.encap(None, Randomness::Fresh)?;
        let keys = Keys {
            lattice: &self.lattice,
            ciphertext: ciphertext.as_bytes(),
            sender: from.public_key(),
            recipient: &self.curve,
        };
        let mut secret = [0; 32];
        let id = keys.derive(&shared, &mut secret)?;
        let psk = Psk::new(PskSecret(&secret), &id)?;
        let initiator = admitted.initiator(&self.curve, SenderMode::AuthPsk(from, psk), info);
        let made = initiator.and_then(|initiator| initiator.initiate());
        wipe(&mut secret);
        let (enc, sender) = made?;
        Ok(([enc.as_bytes(), ciphertext.as_bytes()].concat(), sender))
    }
}

impl Negotiation<'_> {
    /// A context to the responder, who owns `to`, in the name of `from`, bound to this negotiation.
    ///
    /// # Errors
    /// As [`Negotiation::initiate`], and [`Error::SuiteRefused`] if the rule gives another suite than
    /// [`SUITE`].
    pub fn initiate_pq(
        &self,
        policy: &Policy,
        to: &RecipientPublicKey,
        from: &PrivateKey,
    ) -> Result<(Vec<u8>, Bound<Sender>), Error> {
        let (to_curve, to_lattice) = (&to.curve, &to.lattice);
        let transcript = self.transcript_pq(policy, (to_curve, to_lattice), from.public_key())?;
        let (enc, context) = to.initiate(policy, from, Info(&transcript.info()))?;
        Ok((enc, Bound::new(context, transcript)))
    }

    /// The context that an initiator made with `enc`, if he believes the same.
    ///
    /// # Errors
    /// As [`Negotiation::accept`] and [`Negotiation::initiate_pq`].
    pub fn accept_pq(
        &self,
        policy: &Policy,
        key: &RecipientKey,
        from: &PublicKey,
        enc: &[u8],
    ) -> Result<Bound<Recipient>, Error> {
        let own = (key.curve.public_key(), key.lattice.public_key());
        let transcript = self.transcript_pq(policy, own, from)?;
        let context = key.accept(policy, from, enc, Info(&transcript.info()))?;
        Ok(Bound::new(context, transcript))
    }

    fn transcript_pq(
        &self,
        policy: &Policy,
        (curve, lattice): (&PublicKey, &PublicKey),
        sender: &PublicKey,
    ) -> Result<crate::binder::Transcript, Error> {
        let chosen = self.choose(policy)?.suite();
        if chosen != SUITE {
            return Err(Error::SuiteRefused);
        }
        let named = lp(&[lattice.as_bytes()]).map_err(|_| Error::TooLong(Input::Psk))?;
        let psk_id = named_by(&named);
        let ends = Ends {
            mode: Mode::AuthPsk,
            to: curve,
            sender: Some(sender),
            psk_id: &psk_id,
        };
        self.transcript(chosen, &ends)
    }
}

fn fit(curve: Kem, lattice: Kem) -> Result<(), Error> {
    if curve == Kem::X25519HkdfSha256 && lattice == Kem::MlKem768Draft {
        Ok(())
    } else {
        Err(Error::KeyMismatch)
    }
}

/// Everything public that the pre-shared key depends on.
struct Keys<'a> {
    lattice: &'a PublicKey,
    ciphertext: &'a [u8],
    sender: &'a PublicKey,
    recipient: &'a PublicKey,
}

impl Keys<'_> {
    /// Writes the pre-shared key, and returns its id.
    fn derive(&self, shared: &Short, secret: &mut [u8; 32]) -> Result<[u8; ID_LEN], Error> {
        let joined = |parts: &[&[u8]]| lp(parts).map_err(|_| Error::TooLong(Input::Psk));
        let lattice = self.lattice.as_bytes();
        let all = joined(&[
            lattice,
            self.ciphertext,
            self.sender.as_bytes(),
            self.recipient.as_bytes(),
        ])?;
        let prk = HkdfSha256::extract(b"", shared.expose())?;
        prk.expand(&[PSK_LABEL, &sha256(&all)], secret)?;
        Ok(named_by(&joined(&[lattice, self.ciphertext])?))
    }
}

fn named_by(bytes: &[u8]) -> [u8; ID_LEN] {
    let mut id = [0; ID_LEN];
    id[..ID_LABEL.len()].copy_from_slice(ID_LABEL);
    id[ID_LABEL.len()..].copy_from_slice(&sha256(bytes));
    id
}
