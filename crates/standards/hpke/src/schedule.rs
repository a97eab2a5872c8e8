//! The key schedule (RFC 9180, section 5.1; one-stage as in draft-ietf-hpke-hpke, section 5.1).

use keywright_primitives::aead::{Aes128Gcm, Aes256Gcm, ChaCha20Poly1305};

use crate::context::{AeadKey, Exporter, NONCE_LEN, Sealer};
use crate::kdf::{Hkdf, Shake, Stages, SuiteId};
use crate::mode::Psk;
use crate::short::Short;
use crate::{Admitted, Aead, Error, Info, Input, Mode};

/// Mode, pre-shared key and info, checked, with what does not depend on the shared secret computed. Any
/// number of contexts can be made of it.
pub(crate) struct Schedule<'a> {
    admitted: Admitted,
    id: SuiteId,
    mode: Mode,
    psk: Option<Psk<'a>>,
    info: &'a [u8],
    /// `key_schedule_context` of the two-stage functions.
    context: Short,
}

impl<'a> Schedule<'a> {
    pub(crate) fn new(
        admitted: Admitted,
        mode: Mode,
        psk: Option<Psk<'a>>,
        info: Info<'a>,
    ) -> Result<Self, Error> {
        let limits = admitted.limits();
        if info.0.len() > limits.info {
            return Err(Error::TooLong(Input::Info));
        }
        if let Some(psk) = &psk {
            psk.check(limits)?;
        }
        let id = SuiteId::suite(admitted.suite());
        let mut context = Short::empty();
        if let Stages::Two(hash) = admitted.suite().kdf.stages() {
            // key_schedule_context = concat(mode, psk_id_hash, info_hash)
            context.push(&[mode.id()]);
            match &psk {
                None => context.push(admitted.no_psk_id_hash()),
                Some(psk) => context.push(psk_id_hash(hash, &id, psk.id()).expose()),
            }
            context.push(hash.extract(&id, b"info_hash", info.0).expose());
        }
        Ok(Self {
            admitted,
            id,
            mode,
            psk,
            info: info.0,
            context,
        })
    }

    pub(crate) const fn admitted(&self) -> Admitted {
        self.admitted
    }

    /// Everything that a context needs.
    pub(crate) fn context(&self, shared: &Short) -> Result<(Sealer, Exporter), Error> {
        let aead = self.admitted.suite().aead;
        if aead == Aead::ExportOnly {
            return Err(Error::ExportOnly);
        }
        match self.admitted.suite().kdf.stages() {
            Stages::Two(hash) => self.two_stages(hash, shared),
            Stages::One(shake) => self.one_stage(shake, shared),
        }
    }

    /// The exporter alone: no key is derived that nobody uses.
    pub(crate) fn exporter(&self, shared: &Short) -> Result<Exporter, Error> {
        match self.admitted.suite().kdf.stages() {
            Stages::Two(hash) => {
                let secret = self.secret(hash, shared);
                self.expand_exporter(hash, &hash.prk(&secret)?)
            }
            Stages::One(shake) => {
                let (_, exporter) = self.derived(shake, shared)?;
                Ok(exporter)
            }
        }
    }

    fn two_stages(&self, hash: Hkdf, shared: &Short) -> Result<(Sealer, Exporter), Error> {
        let prk = hash.prk(&self.secret(hash, shared))?;
        let context = [self.context.expose(), &[], &[]];
        let aead = self.admitted.suite().aead;
        let key = Short::try_fill(aead.key_len(), |out| {
            prk.expand(&self.id, b"key", context, out)
        })?;
        let mut base_nonce = [0; NONCE_LEN];
        prk.expand(&self.id, b"base_nonce", context, &mut base_nonce)?;
        let exporter = self.expand_exporter(hash, &prk)?;
        Ok((Sealer::new(aead_key(aead, &key)?, base_nonce), exporter))
    }

    /// `secret = LabeledExtract(shared_secret, "secret", psk)`
    fn secret(&self, hash: Hkdf, shared: &Short) -> Short {
        let psk = self.psk.as_ref().map_or(&[][..], Psk::secret);
        hash.extract_salted(shared, &self.id, b"secret", psk)
    }

    fn expand_exporter(&self, hash: Hkdf, prk: &crate::kdf::Prk) -> Result<Exporter, Error> {
        let len = self.admitted.suite().kdf.hash_len();
        let context = [self.context.expose(), &[], &[]];
        let secret = Short::try_fill(len, |out| prk.expand(&self.id, b"exp", context, out))?;
        Ok(Exporter::two_stage(self.admitted, self.id, (hash, secret)))
    }

    fn one_stage(&self, shake: Shake, shared: &Short) -> Result<(Sealer, Exporter), Error> {
        let (secret, exporter) = self.derived(shake, shared)?;
        let aead = self.admitted.suite().aead;
        let (key, rest) = secret.expose().split_at(aead.key_len());
        let mut base_nonce = [0; NONCE_LEN];
        base_nonce.copy_from_slice(&rest[..NONCE_LEN]);
        let mut short = Short::empty();
        short.push(key);
        Ok((Sealer::new(aead_key(aead, &short)?, base_nonce), exporter))
    }

    /// One derivation over everything: key, base nonce and exporter secret beside each other.
    fn derived(&self, shake: Shake, shared: &Short) -> Result<(Short, Exporter), Error> {
        let two = |bytes: &[u8], input| {
            u16::try_from(bytes.len())
                .map(u16::to_be_bytes)
                .map_err(|_| Error::TooLong(input))
        };
        let psk = self.psk.as_ref().map_or(&[][..], Psk::secret);
        let psk_id = self.psk.as_ref().map_or(&[][..], Psk::id);
        let secrets = [
            &two(psk, Input::Psk)?,
            psk,
            &two(shared.expose(), Input::Psk)?,
            shared.expose(),
        ];
        let context = [
            &[self.mode.id()][..],
            &two(psk_id, Input::PskId)?,
            psk_id,
            &two(self.info, Input::Info)?,
            self.info,
        ];
        let suite = self.admitted.suite();
        let sealing = if suite.aead == Aead::ExportOnly {
            0
        } else {
            suite.aead.key_len() + NONCE_LEN
        };
        let secret = Short::try_fill(sealing + suite.kdf.hash_len(), |out| {
            shake.derive(&self.id, &secrets, (b"secret", &context), out)
        })?;
        let mut exporter = Short::empty();
        exporter.push(&secret.expose()[sealing..]);
        let exporter = Exporter::one_stage(self.admitted, self.id, (shake, exporter));
        Ok((secret, exporter))
    }
}

/// `psk_id_hash = LabeledExtract("", "psk_id_hash", psk_id)`
pub(crate) fn psk_id_hash(hash: Hkdf, id: &SuiteId, psk_id: &[u8]) -> Short {
    hash.extract(id, b"psk_id_hash", psk_id)
}

/// Sets up the AEAD of a suite.
pub(crate) fn aead_key(aead: Aead, key: &Short) -> Result<AeadKey, Error> {
    let key = key.expose();
    let backend = |_| Error::Backend(keywright_primitives::Error::Backend);
    Ok(match aead {
        Aead::Aes128Gcm => AeadKey::Aes128Gcm(Aes128Gcm::new(key.try_into().map_err(backend)?)?),
        Aead::Aes256Gcm => AeadKey::Aes256Gcm(Aes256Gcm::new(key.try_into().map_err(backend)?)?),
        Aead::ChaCha20Poly1305 => {
            AeadKey::ChaCha20Poly1305(ChaCha20Poly1305::new(key.try_into().map_err(backend)?)?)
        }
        Aead::ExportOnly => return Err(Error::ExportOnly),
    })
}
