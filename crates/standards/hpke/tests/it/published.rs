//! The published vectors: RFC 9180 in four modes, and both files of the post-quantum draft.
//!
//! Each set is gone through at both ends: keys from their seeds, the encapsulation from its randomness, every
//! ciphertext in order, every export.

use keywright_hpke::{
    Aad, Aead, Exporter, Info, Kdf, Kem, Mode, PrivateKey, Psk, PskSecret, PublicKey, Recipient,
    RecipientMode, Sender, SenderMode, Suite, hazmat,
};
use keywright_primitives::hash::Shake128;
use keywright_secret::SecretBytes;
use keywright_vectors::{Error, Family, Record, Tally};

use crate::scene::admitted;

#[test]
fn rfc_9180_in_all_modes() {
    let (sets, _) = run("test-vectors-rfc9180-5f503c5.json", 128, in_full);
    assert!(sets == 0 || sets == 96, "{sets} sets were run");
}

#[test]
fn the_post_quantum_draft() {
    let (sets, _) = run("hpke-pq-draft-test-vectors.json", 13, in_full);
    assert!(sets == 0 || sets == 6, "{sets} sets were run");
}

#[test]
fn the_post_quantum_draft_with_other_inputs() {
    let (sets, _) = run("go1.26-hpke-pq.json", 13, in_full);
    assert!(sets == 0 || sets == 6, "{sets} sets were run");
}

#[test]
fn x_wing_of_another_library() {
    let (sets, _) = run("rust-hpke-test-vectors-go-8aa8a04.json", 2, in_full);
    assert!(sets == 0 || sets == 2, "{sets} sets were run");
}

#[test]
fn a_thousand_random_messages_and_exports_to_each_set() {
    let (sets, _) = run("go1.26.8-rfc9180-accumulated.json", 24, accumulated);
    assert!(sets == 0 || sets == 24, "{sets} sets were run");
}

type Judge = fn(&mut Tally, &Record, Suite) -> Result<(), Error>;

/// Runs every set whose suite is built here through `judge`; returns how many, and how many are skipped.
fn run(file: &str, sets: u64, judge: Judge) -> (u64, u64) {
    let mut tally = Tally::new(&format!("hpke-{}", file.trim_end_matches(".json")));
    let Some(json) = Family::locate("hpke").json(file).unwrap() else {
        tally.skip("the vectors are absent", sets);
        tally.finish().unwrap();
        return (0, sets);
    };
    let list = json.as_array().unwrap();
    assert_eq!(u64::try_from(list.len()).unwrap(), sets, "{file}");
    let (mut run, mut skipped) = (0, 0);
    for (index, set) in list.iter().enumerate() {
        let set = Record::new(format!("{file}/{index}"), set).unwrap();
        match suite(&set) {
            Ok(suite) => {
                judge(&mut tally, &set, suite).unwrap();
                run += 1;
            }
            Err(reason) => {
                tally.skip(reason, 1);
                skipped += 1;
            }
        }
    }
    tally.finish().unwrap();
    (run, skipped)
}

fn suite(set: &Record) -> Result<Suite, &'static str> {
    let number = |name| set.number::<u16>(name).unwrap();
    let kem = Kem::from_id(number("kem_id")).map_err(|_| match number("kem_id") {
        0x0021 => "DHKEM(X448) is not built: the backend has no X448",
        0x0040 => "ML-KEM-512 is not built",
        0x0050 | 0x0051 => "the hybrids of ML-KEM with a NIST curve are not built",
        _ => "a KEM that nobody has heard of",
    })?;
    let kdf = Kdf::from_id(number("kdf_id")).map_err(|_| "TurboSHAKE is not built")?;
    let aead = Aead::from_id(number("aead_id")).unwrap();
    Ok(Suite { kem, kdf, aead })
}

/// The keys of a set, from both of the forms that it states.
fn private_key(tally: &mut Tally, set: &Record, kem: Kem, who: &str) -> Result<PrivateKey, Error> {
    let bytes = |name: &str| set.hex(&format!("{name}{who}"));
    let ikm = SecretBytes::from_vec(bytes("ikm")?);
    let derived = PrivateKey::derive(kem, &ikm).unwrap();
    let stated = SecretBytes::from_vec(set.hex(&format!("sk{who}m"))?);
    let key = PrivateKey::from_bytes(kem, &stated).unwrap();
    let public = set.hex(&format!("pk{who}m"))?;
    tally.check(
        format!("{} key {who}", set.name()),
        derived.public_key() == key.public_key()
            && key.public_key().as_bytes() == public
            && derived.to_bytes().unwrap().expose() == key.to_bytes().unwrap().expose()
            && key.to_bytes().unwrap().expose() == clamped(kem, stated.expose()),
    );
    Ok(key)
}

/// The vectors state scalars of X25519 as they were derived; written they are clamped (section 7.1.2).
fn clamped(kem: Kem, scalar: &[u8]) -> Vec<u8> {
    let mut scalar = scalar.to_vec();
    if kem == Kem::X25519HkdfSha256 {
        scalar[0] &= 248;
        scalar[31] = scalar[31] & 127 | 64;
    }
    scalar
}

/// The two ends of a set. Export-only sets have no context.
struct Ends {
    exporters: [Exporter; 2],
    contexts: Option<(Sender, Recipient)>,
}

fn ends(tally: &mut Tally, set: &Record, suite: Suite) -> Result<Ends, Error> {
    let recipient = private_key(tally, set, suite.kem, "R")?;
    let mode = Mode::from_id(set.number("mode")?).unwrap();
    let sender = match mode {
        Mode::AuthRfc9180 | Mode::AuthPsk => Some(private_key(tally, set, suite.kem, "S")?),
        Mode::Base | Mode::Psk => None,
    };
    let optional = |name: &str| set.field(name).map_or(Ok(Vec::new()), |_| set.hex(name));
    let (psk, psk_id) = (optional("psk")?, optional("psk_id")?);
    let psk = Psk::for_mode(mode, PskSecret(&psk), &psk_id).unwrap();
    let sending = match (&sender, psk) {
        (None, None) => SenderMode::Base,
        (None, Some(psk)) => SenderMode::Psk(psk),
        (Some(key), None) => SenderMode::AuthRfc9180(key),
        (Some(key), Some(psk)) => SenderMode::AuthPsk(key, psk),
    };
    let receiving = match (&sender, psk) {
        (None, None) => RecipientMode::Base,
        (None, Some(psk)) => RecipientMode::Psk(psk),
        (Some(key), None) => RecipientMode::AuthRfc9180(key.public_key()),
        (Some(key), Some(psk)) => RecipientMode::AuthPsk(key.public_key(), psk),
    };
    let info = set.hex("info")?;
    let public = PublicKey::from_bytes(suite.kem, recipient.public_key().as_bytes()).unwrap();
    let to = admitted(suite)
        .initiator(&public, sending, Info(&info))
        .unwrap();
    let from = admitted(suite)
        .acceptor(&recipient, receiving, Info(&info))
        .unwrap();
    let (ikm_e, enc) = (set.hex("ikmE")?, set.hex("enc")?);
    let (ours, exporter) = hazmat::initiate_exporter_with(&to, &ikm_e).unwrap();
    tally.check(format!("{} enc", set.name()), ours.as_bytes() == enc);
    let contexts = (suite.aead != Aead::ExportOnly).then(|| {
        let (again, sender) = hazmat::initiate_with(&to, &ikm_e).unwrap();
        assert_eq!(again, ours);
        (sender, from.accept(&enc).unwrap())
    });
    Ok(Ends {
        exporters: [exporter, from.accept_exporter(&enc).unwrap()],
        contexts,
    })
}

fn in_full(tally: &mut Tally, set: &Record, suite: Suite) -> Result<(), Error> {
    let ends = ends(tally, set, suite)?;
    for export in set.list("exports")? {
        let (context, length) = (export.hex("exporter_context")?, export.number("L")?);
        let expected = export.hex("exported_value")?;
        let contexts = ends.contexts.iter();
        let of_contexts = contexts.flat_map(|(a, b)| [a.exporter(), b.exporter()]);
        let all = ends.exporters.iter().chain(of_contexts);
        let same = all.map(|exporter| exported(exporter, &context, length));
        tally.check(export.name(), same.into_iter().all(|one| one == expected));
    }
    let Some((mut sender, mut recipient)) = ends.contexts else {
        return Ok(());
    };
    let messages = set.list("encryptions")?;
    assert!(messages.len() == 257 || messages.len() == 10);
    for message in messages {
        let (aad, ct) = (message.hex("aad")?, message.hex("ct")?);
        let pt = message.hex("pt")?;
        let sealed = sender.seal(Aad(&aad), &pt).unwrap();
        let opened = recipient.open(Aad(&aad), &ct);
        tally.check(message.name(), sealed == ct && opened == Ok(pt));
    }
    Ok(())
}

fn exported(exporter: &Exporter, context: &[u8], length: usize) -> Vec<u8> {
    let mut out = vec![0; length];
    exporter.export_into(context, &mut out).unwrap();
    out
}

/// The form of Go's test: a thousand inputs drawn from SHAKE128 of nothing, the outputs hashed together.
fn accumulated(tally: &mut Tally, set: &Record, suite: Suite) -> Result<(), Error> {
    let recipient = private_key(tally, set, suite.kem, "R")?;
    let wide = crate::scene::everything().with_limits(keywright_hpke::Limits::WIDEST);
    let admitted = wide.admit(suite).unwrap();
    let (info, ikm_e, enc) = (set.hex("info")?, set.hex("ikmE")?, set.hex("enc")?);
    let to = admitted.initiator(recipient.public_key(), SenderMode::Base, Info(&info));
    let from = admitted
        .acceptor(&recipient, RecipientMode::Base, Info(&info))
        .unwrap();
    let to = to.unwrap();
    let (ours, exporter) = hazmat::initiate_exporter_with(&to, &ikm_e).unwrap();
    tally.check(format!("{} enc", set.name()), ours.as_bytes() == enc);
    let theirs = from.accept_exporter(&enc).unwrap();
    let (mut source, mut sink) = (Source::new(), Shake128::new());
    let mut same = true;
    for length in 0..1000 {
        let context = source.draw();
        let value = exported(&exporter, &context, length);
        same &= value == exported(&theirs, &context, length);
        sink.update(&value);
    }
    let exports = set.array::<16>("exports_accumulated")?;
    tally.check(
        format!("{} exports", set.name()),
        same && finished(sink) == exports,
    );
    if suite.aead == Aead::ExportOnly {
        return Ok(());
    }
    let (_, mut sender) = hazmat::initiate_with(&to, &ikm_e).unwrap();
    let mut recipient = from.accept(&enc).unwrap();
    let (mut source, mut sink) = (Source::new(), Shake128::new());
    let mut same = true;
    for _ in 0..1000 {
        let (aad, text) = (source.draw(), source.draw());
        let sealed = sender.seal(Aad(&aad), &text).unwrap();
        same &= recipient.open(Aad(&aad), &sealed) == Ok(text);
        sink.update(&sealed);
    }
    let encryptions = set.array::<16>("encryptions_accumulated")?;
    tally.check(
        format!("{} encryptions", set.name()),
        same && finished(sink) == encryptions,
    );
    Ok(())
}

/// The endless output of SHAKE128, read in order; what a test draws fits well into this much.
struct Source(Vec<u8>, usize);

impl Source {
    fn new() -> Self {
        let mut bytes = vec![0; 2000 * 256];
        Shake128::new().finish_into(&mut bytes);
        Self(bytes, 0)
    }

    /// A length in one byte, and as many bytes.
    fn draw(&mut self) -> Vec<u8> {
        let start = self.1 + 1;
        let end = start + usize::from(self.0[self.1]);
        self.1 = end;
        self.0[start..end].to_vec()
    }
}

fn finished(sink: Shake128) -> [u8; 16] {
    let mut out = [0; 16];
    sink.finish_into(&mut out);
    out
}
