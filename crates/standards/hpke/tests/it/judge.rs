//! Another implementation of the standard, the `hpke` crate, at either end: all modes, every suite that both
//! have.

use hpke::{Deserializable, Kem as TheirKem, OpModeR, OpModeS, PskBundle, Serializable};
use keywright_hpke::{
    Aad, Aead, Info, Kdf, Kem, Mode, PrivateKey, Psk, PskSecret, PublicKey, RecipientMode,
    SenderMode, Suite,
};
use keywright_secret::SecretBytes;

use crate::scene::admitted;

const PSK: PskSecret<'static> = PskSecret(&[0x50; 32]);
const PSK_ID: &[u8] = b"between the two";
const INFO: &[u8] = b"both ways";

/// One case: our keys and theirs are the same keys.
struct Case<'a> {
    suite: Suite,
    mode: Mode,
    recipient: &'a PrivateKey,
    sender: &'a PrivateKey,
}

impl Case<'_> {
    fn sending(&self) -> SenderMode<'_> {
        let psk = Psk::new(PSK, PSK_ID).unwrap();
        match self.mode {
            Mode::Base => SenderMode::Base,
            Mode::Psk => SenderMode::Psk(psk),
            Mode::AuthRfc9180 => SenderMode::AuthRfc9180(self.sender),
            Mode::AuthPsk => SenderMode::AuthPsk(self.sender, psk),
        }
    }

    fn receiving(&self) -> RecipientMode<'_> {
        let psk = Psk::new(PSK, PSK_ID).unwrap();
        match self.mode {
            Mode::Base => RecipientMode::Base,
            Mode::Psk => RecipientMode::Psk(psk),
            Mode::AuthRfc9180 => RecipientMode::AuthRfc9180(self.sender.public_key()),
            Mode::AuthPsk => RecipientMode::AuthPsk(self.sender.public_key(), psk),
        }
    }
}

fn their_private<K: TheirKem>(key: &PrivateKey) -> K::PrivateKey {
    K::PrivateKey::from_bytes(key.to_bytes().unwrap().expose()).unwrap()
}

fn their_public<K: TheirKem>(key: &PublicKey) -> K::PublicKey {
    K::PublicKey::from_bytes(key.as_bytes()).unwrap()
}

/// We send, they receive.
fn out<A: hpke::aead::Aead, D: hpke::kdf::Kdf, K: TheirKem>(case: &Case<'_>) {
    let to = admitted(case.suite);
    let to = to.initiator(case.recipient.public_key(), case.sending(), Info(INFO));
    let (enc, mut ours) = to.unwrap().initiate().unwrap();
    let psk = PskBundle::new(PSK.0, PSK_ID).unwrap();
    let pk_s = their_public::<K>(case.sender.public_key());
    let mode = match case.mode {
        Mode::Base => OpModeR::Base,
        Mode::Psk => OpModeR::Psk(psk),
        Mode::AuthRfc9180 => OpModeR::Auth(pk_s),
        Mode::AuthPsk => OpModeR::AuthPsk(pk_s, psk),
    };
    let theirs = K::EncappedKey::from_bytes(enc.as_bytes()).unwrap();
    let sk_r = their_private::<K>(case.recipient);
    let mut theirs = hpke::setup_receiver::<A, D, K>(&mode, &sk_r, &theirs, INFO).unwrap();
    for text in [&b""[..], b"first", &[7; 1000]] {
        let sealed = ours.seal(Aad(b"aad"), text).unwrap();
        assert_eq!(
            theirs.open(&sealed, b"aad").unwrap(),
            text,
            "{}",
            case.suite
        );
    }
    let mut exported = [0; 70];
    theirs.export(b"context", &mut exported).unwrap();
    assert_eq!(
        *ours.exporter().export::<70>(b"context").unwrap().expose(),
        exported
    );
}

/// They send, we receive.
fn back<A: hpke::aead::Aead, D: hpke::kdf::Kdf, K: TheirKem>(case: &Case<'_>) {
    let psk = PskBundle::new(PSK.0, PSK_ID).unwrap();
    let pair = || {
        let sk_s = their_private::<K>(case.sender);
        let pk_s = K::sk_to_pk(&sk_s);
        (sk_s, pk_s)
    };
    let mode = match case.mode {
        Mode::Base => OpModeS::Base,
        Mode::Psk => OpModeS::Psk(psk),
        Mode::AuthRfc9180 => OpModeS::Auth(pair()),
        Mode::AuthPsk => OpModeS::AuthPsk(pair(), psk),
    };
    let pk_r = their_public::<K>(case.recipient.public_key());
    let (enc, mut theirs) = hpke::setup_sender::<A, D, K>(&mode, &pk_r, INFO).unwrap();
    let from = admitted(case.suite);
    let from = from.acceptor(case.recipient, case.receiving(), Info(INFO));
    let mut ours = from.unwrap().accept(&enc.to_bytes()).unwrap();
    for text in [&b""[..], b"first", &[7; 1000]] {
        let sealed = theirs.seal(text, b"aad").unwrap();
        assert_eq!(
            ours.open(Aad(b"aad"), &sealed).unwrap(),
            text,
            "{}",
            case.suite
        );
    }
    let mut exported = [0; 70];
    theirs.export(b"context", &mut exported).unwrap();
    assert_eq!(
        *ours.exporter().export::<70>(b"context").unwrap().expose(),
        exported
    );
}

/// Everything with one KEM.
fn with_kem<K: TheirKem>(kem: Kem) -> usize {
    assert_eq!(K::KEM_ID, kem.id());
    // Both derive the same keys from the same bytes, so neither side's keys are a gift of the other.
    let key = |number: u8| {
        let ikm = vec![number; 66];
        let (theirs, public) = K::derive_keypair(&ikm);
        let ours = PrivateKey::derive(kem, &SecretBytes::from_vec(ikm)).unwrap();
        assert_eq!(
            ours.public_key().as_bytes(),
            &public.to_bytes()[..],
            "{kem}"
        );
        let again = SecretBytes::from_vec(theirs.to_bytes().to_vec());
        let again = PrivateKey::from_bytes(kem, &again).unwrap();
        assert_eq!(again.public_key(), ours.public_key());
        ours
    };
    let (recipient, sender) = (key(1), key(2));
    let modes = [Mode::Base, Mode::Psk, Mode::AuthRfc9180, Mode::AuthPsk];
    let modes = if kem.authenticates() {
        &modes[..]
    } else {
        &modes[..2]
    };
    let mut cases = 0;
    for mode in modes {
        macro_rules! with {
            ($($kdf:ident $their_kdf:ident, $aead:ident $their_aead:ident;)*) => { $(
                let suite = Suite { kem, kdf: Kdf::$kdf, aead: Aead::$aead };
                let case = Case { suite, mode: *mode, recipient: &recipient, sender: &sender };
                out::<hpke::aead::$their_aead, hpke::kdf::$their_kdf, K>(&case);
                back::<hpke::aead::$their_aead, hpke::kdf::$their_kdf, K>(&case);
                cases += 2;
            )* };
        }
        with! {
            HkdfSha256 HkdfSha256, Aes128Gcm AesGcm128;
            HkdfSha256 HkdfSha256, ChaCha20Poly1305 ChaCha20Poly1305;
            HkdfSha384 HkdfSha384, Aes256Gcm AesGcm256;
            HkdfSha512 HkdfSha512, ChaCha20Poly1305 ChaCha20Poly1305;
            Shake128Draft KdfShake128, Aes128Gcm AesGcm128;
            Shake256Draft KdfShake256, Aes256Gcm AesGcm256;
        }
    }
    cases
}

#[test]
fn the_hpke_crate_agrees_in_both_directions_with_x25519() {
    assert_eq!(
        with_kem::<hpke::kem::X25519HkdfSha256>(Kem::X25519HkdfSha256),
        48
    );
}

#[test]
fn the_hpke_crate_agrees_in_both_directions_with_the_nist_curves() {
    assert_eq!(
        with_kem::<hpke::kem::DhP256HkdfSha256>(Kem::P256HkdfSha256),
        48
    );
    assert_eq!(
        with_kem::<hpke::kem::DhP384HkdfSha384>(Kem::P384HkdfSha384),
        48
    );
    assert_eq!(
        with_kem::<hpke::kem::DhP521HkdfSha512>(Kem::P521HkdfSha512),
        48
    );
}

#[test]
fn the_hpke_crate_agrees_in_both_directions_with_the_drafts() {
    assert_eq!(with_kem::<hpke::kem::XWing>(Kem::XWingDraft), 24);
    assert_eq!(with_kem::<hpke::kem::MlKem768>(Kem::MlKem768Draft), 24);
    assert_eq!(with_kem::<hpke::kem::MlKem1024>(Kem::MlKem1024Draft), 24);
}
