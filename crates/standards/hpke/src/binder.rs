//! A transcript of a negotiation, bound to the keys that it leads to.
//!
//! Both sides hash what they believe was negotiated: versions, both lists of suites, the choice, the mode,
//! who is who, the keys, the pre-shared key's id, the ratchet's prekey and what the application adds. The
//! hash goes into the `info` of HPKE, so nothing is sent for it: where the two beliefs differ in one byte the
//! keys differ, and the first message does not open. [`Transcript::binder`] exports a value that stands for
//! the whole, for a token or another channel to name.
//!
//! The choice is no message but a rule: the first suite of the responder's list that the initiator offers.
//! Who changes the offer on its way changes the transcript.
//!
//! ```text
//! transcript = SHA-256(lp("keywright/hpke/transcript") + lp(version)
//!            + lp(offered) + lp(published) + lp(chosen + mode)
//!            + lp(initiator name) + lp(initiator key) + lp(responder name) + lp(responder key)
//!            + lp(pkR) + lp(pkS, or nothing) + lp(psk_id, or nothing)
//!            + lp(ratchet prekey) + lp(application))
//! info       = "keywright/hpke/info/v1" + transcript
//! binder     = Export("keywright/binder/v1" + transcript, 32)
//! ```
//!
//! A suite is six bytes, its three numbers; a list of them is joined. The version is one byte.
//!
//! Not here: where the lists and identities come from. The responder takes its own list from its own record,
//! never from the wire; that the record is the responder's is for a signature to say.

use keywright_encoding::put_lp;
use keywright_primitives::hash::sha256;
use keywright_primitives::signature::{SIGNATURE_LEN, SigningKey, VerifyingKey};
use keywright_secret::Secret;

use crate::{
    Admitted, Enc, Error, Exporter, Info, Input, Mode, Policy, PrivateKey, PublicKey, Recipient,
    RecipientMode, Sender, SenderMode, Suite,
};

/// The version of the transcript.
pub const VERSION: u8 = 1;
/// Bytes in the longest field of a negotiation.
pub const MAX_FIELD_LEN: usize = 1 << 16;

const TRANSCRIPT_LABEL: &[u8] = b"keywright/hpke/transcript";
const INFO_LABEL: &[u8; 22] = b"keywright/hpke/info/v1";
const BINDER_LABEL: &[u8; 19] = b"keywright/binder/v1";
const SIGNED_LABEL: &[u8; 19] = b"keywright/signed/v1";

/// A suite as a peer names it, which need not be one that is built here.
pub type SuiteNumbers = [u16; 3];

/// Who somebody is: a name, and the key by which others know him.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the two fields of an identity")]
pub struct Identity<'a> {
    /// What he is called.
    pub name: &'a [u8],
    /// His long-term key, as it is written; empty if he has none.
    pub key: &'a [u8],
}

/// What one side believes was negotiated.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever negotiates states every field"
)]
pub struct Negotiation<'a> {
    /// The suites that the initiator offers, in his order.
    pub offered: &'a [SuiteNumbers],
    /// The suites in the responder's published record, in his order.
    pub published: &'a [SuiteNumbers],
    /// Who sends.
    pub initiator: Identity<'a>,
    /// Who receives.
    pub responder: Identity<'a>,
    /// The responder's first ratchet key, or nothing.
    pub ratchet_prekey: &'a [u8],
    /// What else both must agree on: another channel's exporter, a purpose, an identifier.
    pub application: &'a [u8],
}

impl Negotiation<'_> {
    /// The suite that the rule gives: the first published one that is offered.
    ///
    /// # Errors
    /// [`Error::SuiteRefused`] if there is none, or `policy` does not have it; [`Error::SuiteUnknown`] if it
    /// is not built here. There is no second choice, so that nobody can force one.
    pub fn choose(&self, policy: &Policy) -> Result<Admitted, Error> {
        let chosen = self
            .published
            .iter()
            .find(|suite| self.offered.contains(suite));
        policy.admit_ids(*chosen.ok_or(Error::SuiteRefused)?)
    }

    /// As [`Negotiation::choose`], where a peer has stated the choice.
    ///
    /// # Errors
    /// As [`Negotiation::choose`], and [`Error::SuiteRefused`] if the rule gives another.
    pub fn confirm(&self, policy: &Policy, stated: SuiteNumbers) -> Result<Admitted, Error> {
        let chosen = self.choose(policy)?;
        if chosen.suite().ids() == stated {
            Ok(chosen)
        } else {
            Err(Error::SuiteRefused)
        }
    }

    /// A context to the responder, who owns `to`, bound to this negotiation.
    ///
    /// # Errors
    /// As [`Negotiation::choose`] and [`crate::Initiator::initiate`].
    pub fn initiate(
        &self,
        policy: &Policy,
        to: &PublicKey,
        mode: SenderMode<'_>,
    ) -> Result<(Enc, Bound<Sender>), Error> {
        let chosen = self.choose(policy)?;
        let sender = mode.sender().map(PrivateKey::public_key);
        let ends = Ends {
            mode: mode.mode(),
            to,
            sender,
            psk_id: mode.psk().map_or(&[], |psk| psk.id()),
        };
        let transcript = self.transcript(chosen.suite(), &ends)?;
        let info = transcript.info();
        let (enc, context) = chosen.initiator(to, mode, Info(&info))?.initiate()?;
        Ok((enc, Bound::new(context, transcript)))
    }

    /// The context that an initiator made with `enc`, if he believes the same. Whether he does is known when
    /// the first message opens.
    ///
    /// # Errors
    /// As [`Negotiation::choose`] and [`crate::Acceptor::accept`].
    pub fn accept(
        &self,
        policy: &Policy,
        key: &PrivateKey,
        mode: RecipientMode<'_>,
        enc: &[u8],
    ) -> Result<Bound<Recipient>, Error> {
        let chosen = self.choose(policy)?;
        let ends = Ends {
            mode: mode.mode(),
            to: key.public_key(),
            sender: mode.sender(),
            psk_id: mode.psk().map_or(&[], |psk| psk.id()),
        };
        let transcript = self.transcript(chosen.suite(), &ends)?;
        let info = transcript.info();
        let context = chosen.acceptor(key, mode, Info(&info))?.accept(enc)?;
        Ok(Bound::new(context, transcript))
    }

    pub(crate) fn transcript(&self, chosen: Suite, ends: &Ends<'_>) -> Result<Transcript, Error> {
        let [offered, published] = [self.offered, self.published].map(written);
        let [a, b, c, d, e, f] = chosen.to_bytes();
        let fields = [
            TRANSCRIPT_LABEL,
            &[VERSION],
            &offered,
            &published,
            &[a, b, c, d, e, f, ends.mode.id()],
            self.initiator.name,
            self.initiator.key,
            self.responder.name,
            self.responder.key,
            ends.to.as_bytes(),
            ends.sender.map_or(&[], PublicKey::as_bytes),
            ends.psk_id,
            self.ratchet_prekey,
            self.application,
        ];
        let length = fields.iter().map(|field| field.len() + 4).sum();
        let mut joined = Vec::with_capacity(length);
        for field in fields {
            if field.len() > MAX_FIELD_LEN {
                return Err(Error::TooLong(Input::Negotiation));
            }
            let put = put_lp(&mut joined, field);
            put.map_err(|_| Error::TooLong(Input::Negotiation))?;
        }
        Ok(Transcript(sha256(&joined)))
    }
}

/// What of a mode and its keys goes into the transcript.
pub(crate) struct Ends<'a> {
    pub(crate) mode: Mode,
    pub(crate) to: &'a PublicKey,
    pub(crate) sender: Option<&'a PublicKey>,
    pub(crate) psk_id: &'a [u8],
}

fn written(suites: &[SuiteNumbers]) -> Vec<u8> {
    let numbers = suites.iter().flatten();
    numbers.flat_map(|number| number.to_be_bytes()).collect()
}

/// The hash of a negotiation. It is not secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transcript([u8; 32]);

impl Transcript {
    /// The hash, for the associated data of everything that follows.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// What HPKE takes as its info.
    pub(crate) fn info(&self) -> [u8; INFO_LABEL.len() + 32] {
        labelled(INFO_LABEL, &self.0)
    }

    /// A secret that both ends of a context have, and that stands for the negotiation and the keys at once.
    ///
    /// # Errors
    /// As [`Exporter::export`].
    pub fn binder(&self, exporter: &Exporter) -> Result<Secret<32>, Error> {
        let context: [u8; BINDER_LABEL.len() + 32] = labelled(BINDER_LABEL, &self.0);
        exporter.export(&context)
    }

    /// The initiator's signature over negotiation and encapsulation, for the first message to carry.
    ///
    /// It is what withstands the theft of the recipient's private key, which no mode of HPKE does. It also
    /// proves to everybody that this initiator started this session.
    #[must_use]
    pub fn sign(&self, enc: &Enc, key: &SigningKey) -> [u8; SIGNATURE_LEN] {
        key.sign(&self.signed(enc.as_bytes()))
    }

    /// Verifies [`Transcript::sign`].
    ///
    /// # Errors
    /// [`Error::Rejected`] if it does not fit.
    pub fn verify(
        &self,
        enc: &[u8],
        key: &VerifyingKey,
        signature: &[u8; SIGNATURE_LEN],
    ) -> Result<(), Error> {
        let verified = key.verify(&self.signed(enc), signature);
        verified.map_err(|_| Error::Rejected)
    }

    fn signed(&self, enc: &[u8]) -> Vec<u8> {
        [SIGNED_LABEL, &self.0[..], &sha256(enc)].concat()
    }
}

fn labelled<const L: usize, const N: usize>(label: &[u8; L], hash: &[u8; 32]) -> [u8; N] {
    const { assert!(N == L + 32) }
    let mut out = [0; N];
    out[..L].copy_from_slice(label);
    out[L..].copy_from_slice(hash);
    out
}

/// A context that is bound to a negotiation.
#[derive(Debug)]
pub struct Bound<C> {
    context: C,
    transcript: Transcript,
}

impl<C> Bound<C> {
    pub(crate) const fn new(context: C, transcript: Transcript) -> Self {
        Self {
            context,
            transcript,
        }
    }

    /// The transcript.
    #[must_use]
    pub const fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// The context.
    pub const fn context_mut(&mut self) -> &mut C {
        &mut self.context
    }

    /// Context and transcript.
    #[must_use]
    pub fn into_parts(self) -> (C, Transcript) {
        (self.context, self.transcript)
    }
}

impl Bound<Sender> {
    /// The context's exporter.
    #[must_use]
    pub const fn exporter(&self) -> &Exporter {
        self.context.exporter()
    }

    /// [`Transcript::binder`] of this end.
    ///
    /// # Errors
    /// As [`Exporter::export`].
    pub fn binder(&self) -> Result<Secret<32>, Error> {
        self.transcript.binder(self.context.exporter())
    }
}

impl Bound<Recipient> {
    /// The context's exporter.
    #[must_use]
    pub const fn exporter(&self) -> &Exporter {
        self.context.exporter()
    }

    /// [`Transcript::binder`] of this end.
    ///
    /// # Errors
    /// As [`Exporter::export`].
    pub fn binder(&self) -> Result<Secret<32>, Error> {
        self.transcript.binder(self.context.exporter())
    }
}
