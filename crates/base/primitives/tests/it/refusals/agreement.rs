//! Key agreement and encapsulation with what is not a key of the other side.

use keywright_primitives::Error;
use keywright_primitives::agreement::{
    P256Ephemeral, P256PrivateKey, P256PublicKey, P384Ephemeral, P384PrivateKey, P384PublicKey,
    P521Ephemeral, P521PrivateKey, P521PublicKey, X25519Ephemeral, X25519PrivateKey,
    X25519PublicKey,
};
use keywright_primitives::kem::{MlKem768DecapsulationKey, MlKem768EncapsulationKey};
use keywright_secret::Secret;

macro_rules! both_sides_agree_and_a_third_does_not {
    ($private:ident, $ephemeral:ident) => {
        let (one, two) = ($private::generate().unwrap(), $private::generate().unwrap());
        let once = $ephemeral::generate().unwrap();
        let ours = one.agree(&two.public_key().unwrap()).unwrap();
        let theirs = two.agree(&one.public_key().unwrap()).unwrap();
        assert!(ours.ct_eq(&theirs));
        let once_public = once.public_key().unwrap();
        let third = once.agree(&one.public_key().unwrap()).unwrap();
        assert!(!third.ct_eq(&ours));
        assert!(one.agree(&once_public).unwrap().ct_eq(&third));
        let kept = $private::from_bytes(&one.to_bytes().unwrap()).unwrap();
        assert!(kept.agree(&two.public_key().unwrap()).unwrap().ct_eq(&ours));
    };
}

#[test]
fn two_private_keys_share_a_secret_that_a_third_does_not() {
    both_sides_agree_and_a_third_does_not!(X25519PrivateKey, X25519Ephemeral);
    both_sides_agree_and_a_third_does_not!(P256PrivateKey, P256Ephemeral);
    both_sides_agree_and_a_third_does_not!(P384PrivateKey, P384Ephemeral);
    both_sides_agree_and_a_third_does_not!(P521PrivateKey, P521Ephemeral);
}

#[test]
fn a_point_of_small_order_makes_no_secret() {
    let key = X25519PrivateKey::generate().unwrap();
    let mut one = [0; 32];
    one[0] = 1;
    for point in [[0; 32], one] {
        let peer = X25519PublicKey::from_bytes(&point).unwrap();
        assert!(key.agree(&peer).is_err());
    }
}

#[test]
fn what_is_no_point_or_no_scalar_of_p256_is_refused() {
    let point = P256PrivateKey::generate().unwrap().public_key().unwrap();
    let point = point.as_bytes();
    assert!(P256PublicKey::from_sec1(point).is_ok());
    let mut off = point.to_vec();
    off[64] ^= 1;
    let hybrid = [&[6 | point[64] & 1], &point[1..]].concat();
    let longer = [point, &[0]].concat();
    for wrong in [
        &off[..],
        &hybrid,
        &longer,
        &point[..64],
        &point[..33],
        &[0],
        b"",
    ] {
        let refused = P256PublicKey::from_sec1(wrong).err();
        assert_eq!(refused, Some(Error::KeyRejected));
    }
    assert!(P256PublicKey::from_spki_der(point).is_err());
    for wrong in [[0; 32], [0xFF; 32]] {
        let scalar = Secret::copy_from(&wrong).unwrap();
        let refused = P256PrivateKey::from_bytes(&scalar).err();
        assert_eq!(refused, Some(Error::KeyRejected));
    }
}

#[test]
fn a_changed_ciphertext_or_another_key_gives_another_secret() {
    let (key, other) = (
        MlKem768DecapsulationKey::generate().unwrap(),
        MlKem768DecapsulationKey::generate().unwrap(),
    );
    let (ciphertext, secret) = key.encapsulation_key().encapsulate().unwrap();
    assert!(key.decapsulate(&ciphertext).unwrap().ct_eq(&secret));
    assert!(!other.decapsulate(&ciphertext).unwrap().ct_eq(&secret));
    for bit in (0..ciphertext.len() * 8).step_by(97) {
        let mut changed = ciphertext;
        changed[bit / 8] ^= 1 << (bit % 8);
        let strange = key.decapsulate(&changed).unwrap();
        assert!(!strange.ct_eq(&secret), "bit {bit}");
        assert!(key.decapsulate(&changed).unwrap().ct_eq(&strange));
    }
    let (_, again) = key.encapsulation_key().encapsulate().unwrap();
    assert!(!again.ct_eq(&secret));
}

#[test]
fn a_decapsulation_key_whose_halves_do_not_belong_together_is_refused() {
    let long = MlKem768DecapsulationKey::generate()
        .unwrap()
        .to_bytes()
        .unwrap();
    assert!(MlKem768DecapsulationKey::from_bytes(&long).is_ok());
    // The embedded public key, from its first byte to its last, and its hash.
    for byte in [1152, 2000, 2335, 2336, 2367] {
        let changed = Secret::from_fill(|buffer| {
            buffer.copy_from_slice(long.expose());
            buffer[byte] ^= 1;
        });
        let refused = MlKem768DecapsulationKey::from_bytes(&changed).err();
        assert_eq!(refused, Some(Error::KeyRejected), "byte {byte}");
    }
    let refused = MlKem768EncapsulationKey::from_bytes(&[0xFF; 1184]).err();
    assert_eq!(refused, Some(Error::KeyRejected));
}

#[test]
fn zero_and_what_is_not_below_the_order_are_no_scalars() {
    macro_rules! refused {
        ($($private:ident)*) => { $(
            for byte in [0, 0xFF] {
                let scalar = Secret::from_fill(|buffer| buffer.fill(byte));
                let refused = $private::from_bytes(&scalar).err();
                assert_eq!(refused, Some(Error::KeyRejected));
            }
        )* };
    }
    refused!(P256PrivateKey P384PrivateKey P521PrivateKey);
}

#[test]
fn the_written_public_half_is_the_public_key() {
    macro_rules! same {
        ($($private:ident $public:ident)*) => { $(
            let key = $private::generate().unwrap();
            let written = key.public_bytes().unwrap();
            assert_eq!(written.len(), $public::LEN);
            assert_eq!(key.public_key().unwrap().as_bytes(), written);
            let kept = $private::from_bytes(&key.to_bytes().unwrap()).unwrap();
            assert_eq!(kept.public_bytes(), Ok(written));
        )* };
    }
    same! {
        X25519PrivateKey X25519PublicKey P256PrivateKey P256PublicKey
        P384PrivateKey P384PublicKey P521PrivateKey P521PublicKey
    }
}
