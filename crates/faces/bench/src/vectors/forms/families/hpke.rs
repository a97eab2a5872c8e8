//! HPKE: the sets of RFC 9180 and of the drafts, each gone through at both ends, and Go's accumulated form.

use keywright_hpke::{
    Aad, Admitted, Aead, Exporter, Info, Kdf, Kem, Limits, Mode, Policy, PrivateKey, Psk,
    PskSecret, Recipient, RecipientMode, Sender, SenderMode, Suite, hazmat,
};
use keywright_primitives::hash::Shake128;
use keywright_secret::SecretBytes;
use serde_json::Value as Json;

use super::{Judged, Judgement, Ruling, ruling};
use crate::vectors::forms::fields::{Fields, Wrong};

pub(super) fn read(name: &str, sets: &[Json]) -> Judgement {
    let mut all = Vec::new();
    for (place, set) in sets.iter().enumerate() {
        let set = Fields::new(format!("{name}/{place}"), set)?;
        let ruling = match suite(&set)? {
            Err(reason) => Ruling::Skipped(reason),
            Ok(suite) => ruling(holds(&set, suite)?.unwrap_or(false)),
        };
        all.push(Judged {
            name: set.name().to_owned(),
            ruling,
        });
    }
    Ok(all)
}

/// The suite, or why it is not built.
fn suite(set: &Fields<'_>) -> Result<Result<Suite, &'static str>, Wrong> {
    let number = |name| u16::try_from(set.number(name)?).map_err(|_| set.wrong(name));
    let (kem, kdf, aead) = (number("kem_id")?, number("kdf_id")?, number("aead_id")?);
    let Ok(kem) = Kem::from_id(kem) else {
        return Ok(Err(match kem {
            0x0021 => "HPKE with X448, which the backend does not have",
            0x0040 => "HPKE with ML-KEM-512",
            0x0050 | 0x0051 => "HPKE with ML-KEM beside a NIST curve",
            _ => "HPKE with an unknown KEM",
        }));
    };
    let Ok(kdf) = Kdf::from_id(kdf) else {
        return Ok(Err("HPKE with TurboSHAKE"));
    };
    let aead = Aead::from_id(aead).map_err(|_| set.wrong("aead_id"))?;
    Ok(Ok(Suite { kem, kdf, aead }))
}

fn admitted(suite: Suite) -> Option<Admitted> {
    let policy = Policy::of(&[suite]).with_limits(Limits::WIDEST);
    policy.admit(suite).ok()
}

/// The key of a set, from both of the forms that it states; none if they differ.
fn private_key(set: &Fields<'_>, kem: Kem, who: &str) -> Result<Option<PrivateKey>, Wrong> {
    let secret = |name: String| Ok::<_, Wrong>(SecretBytes::from_vec(set.hex(&name)?));
    let derived = PrivateKey::derive(kem, &secret(format!("ikm{who}"))?);
    let stated = PrivateKey::from_bytes(kem, &secret(format!("sk{who}m"))?);
    let public = set.hex(&format!("pk{who}m"))?;
    Ok(match (derived, stated) {
        (Ok(derived), Ok(stated)) => (derived.public_key() == stated.public_key()
            && stated.public_key().as_bytes() == public)
            .then_some(stated),
        _ => None,
    })
}

/// The two ends of a set, as far as they came; export-only sets have no contexts.
struct Ends {
    exporters: [Exporter; 2],
    contexts: Option<(Sender, Recipient)>,
}

/// Whether everything in the set comes out; none if something on the way is refused.
fn holds(set: &Fields<'_>, suite: Suite) -> Result<Option<bool>, Wrong> {
    let Some(ends) = ends(set, suite)? else {
        return Ok(None);
    };
    match set.has("exports_accumulated") {
        true => accumulated(set, ends),
        false => in_full(set, ends),
    }
}

fn ends(set: &Fields<'_>, suite: Suite) -> Result<Option<Ends>, Wrong> {
    let mode = u8::try_from(set.number("mode")?)
        .ok()
        .and_then(Mode::from_id);
    let mode = mode.ok_or_else(|| set.wrong("mode"))?;
    let authenticated = matches!(mode, Mode::AuthRfc9180 | Mode::AuthPsk);
    let sender = match authenticated {
        true => private_key(set, suite.kem, "S")?,
        false => None,
    };
    let optional = |name: &str| match set.has(name) {
        true => set.hex(name),
        false => Ok(Vec::new()),
    };
    let (psk, psk_id) = (optional("psk")?, optional("psk_id")?);
    let (info, ikm_e, enc) = (set.hex("info")?, set.hex("ikmE")?, set.hex("enc")?);
    let (Some(recipient), Some(admitted)) = (private_key(set, suite.kem, "R")?, admitted(suite))
    else {
        return Ok(None);
    };
    if authenticated != sender.is_some() {
        return Ok(None);
    }
    let psk = match Psk::for_mode(mode, PskSecret(&psk), &psk_id) {
        Ok(psk) => psk,
        Err(_) => return Ok(None),
    };
    let (sending, receiving) = modes(sender.as_ref(), psk);
    let made = || {
        let to = admitted.initiator(recipient.public_key(), sending, Info(&info))?;
        let from = admitted.acceptor(&recipient, receiving, Info(&info))?;
        let (ours, exporter) = hazmat::initiate_exporter_with(&to, &ikm_e)?;
        if ours.as_bytes() != enc {
            return Err(keywright_hpke::Error::Rejected);
        }
        let contexts = match suite.aead {
            Aead::ExportOnly => None,
            _ => Some((hazmat::initiate_with(&to, &ikm_e)?.1, from.accept(&enc)?)),
        };
        Ok(Ends {
            exporters: [exporter, from.accept_exporter(&enc)?],
            contexts,
        })
    };
    Ok(made().ok())
}

const fn modes<'a>(
    sender: Option<&'a PrivateKey>,
    psk: Option<Psk<'a>>,
) -> (SenderMode<'a>, RecipientMode<'a>) {
    match (sender, psk) {
        (None, None) => (SenderMode::Base, RecipientMode::Base),
        (None, Some(psk)) => (SenderMode::Psk(psk), RecipientMode::Psk(psk)),
        (Some(key), None) => (
            SenderMode::AuthRfc9180(key),
            RecipientMode::AuthRfc9180(key.public_key()),
        ),
        (Some(key), Some(psk)) => (
            SenderMode::AuthPsk(key, psk),
            RecipientMode::AuthPsk(key.public_key(), psk),
        ),
    }
}

fn exported(exporter: &Exporter, context: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut out = vec![0; length];
    exporter.export_into(context, &mut out).ok()?;
    Some(out)
}

/// Every export and every message of a set, at both ends.
fn in_full(set: &Fields<'_>, ends: Ends) -> Result<Option<bool>, Wrong> {
    let mut right = true;
    for export in set.list("exports")? {
        let (context, wanted) = (
            export.hex("exporter_context")?,
            export.hex("exported_value")?,
        );
        right &= export.number("L")? == u64::try_from(wanted.len()).unwrap_or(u64::MAX);
        right &= ends
            .exporters
            .iter()
            .all(|exporter| exported(exporter, &context, wanted.len()).as_ref() == Some(&wanted));
    }
    let Some((mut sender, mut recipient)) = ends.contexts else {
        return Ok(Some(right));
    };
    for message in set.list("encryptions")? {
        let (aad, text, sealed) = (message.hex("aad")?, message.hex("pt")?, message.hex("ct")?);
        right &= sender.seal(Aad(&aad), &text).as_ref() == Ok(&sealed);
        right &= recipient.open(Aad(&aad), &sealed) == Ok(text);
    }
    Ok(Some(right))
}

/// A thousand inputs drawn from SHAKE128 of nothing, the outputs hashed together.
fn accumulated(set: &Fields<'_>, ends: Ends) -> Result<Option<bool>, Wrong> {
    const INPUTS: usize = 1000;
    let [ours, theirs] = &ends.exporters;
    let (mut source, mut sink) = (Source::new(), Shake128::new());
    let mut right = true;
    for length in 0..INPUTS {
        let context = source.draw();
        let value = exported(ours, &context, length);
        right &= value.is_some() && value == exported(theirs, &context, length);
        sink.update(&value.unwrap_or_default());
    }
    right &= finished(sink)[..] == set.hex("exports_accumulated")?;
    let Some((mut sender, mut recipient)) = ends.contexts else {
        return Ok(Some(right));
    };
    let (mut source, mut sink) = (Source::new(), Shake128::new());
    for _ in 0..INPUTS {
        let (aad, text) = (source.draw(), source.draw());
        let sealed = sender.seal(Aad(&aad), &text).unwrap_or_default();
        right &= recipient.open(Aad(&aad), &sealed) == Ok(text);
        sink.update(&sealed);
    }
    right &= finished(sink)[..] == set.hex("encryptions_accumulated")?;
    Ok(Some(right))
}

/// The endless output of SHAKE128, read in order; what is drawn here fits well into this much.
struct Source(Vec<u8>, usize);

impl Source {
    fn new() -> Self {
        let mut bytes = vec![0; 2000 * 256];
        Shake128::new().finish_into(&mut bytes);
        Self(bytes, 0)
    }

    /// A length in one byte, and as many bytes.
    fn draw(&mut self) -> Vec<u8> {
        let length = self.0.get(self.1).copied().map_or(0, usize::from);
        let start = self.1 + 1;
        self.1 = start + length;
        self.0.get(start..self.1).unwrap_or_default().to_vec()
    }
}

fn finished(sink: Shake128) -> [u8; 16] {
    let mut out = [0; 16];
    sink.finish_into(&mut out);
    out
}
