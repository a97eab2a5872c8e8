//! C2SP Wycheproof for the signatures and agreements of trees of keys.
//!
//! Signatures are r and s side by side here, with the lower s. The files write them in DER, which the tests
//! read strictly, and know the higher s: it is shown to be refused, and its lower twin is judged in its place.

use keywright_primitives::hash::sha256;
use keywright_primitives::{Rejected, p256, secp256k1};
use keywright_vectors::Verdict;
use keywright_vectors::wycheproof::{Case, run};

const ORDER_OF_SECP256K1: &str = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
const ORDER_OF_P256: &str = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";

/// One strict DER integer that is not negative, in 32 bytes, and what follows it.
fn integer(der: &[u8]) -> Option<([u8; 32], &[u8])> {
    let (head, rest) = der.split_first_chunk::<2>()?;
    let (&[0x02, length @ 1..=33], true) = (head, rest.len() >= usize::from(head[1])) else {
        return None;
    };
    let (digits, rest) = rest.split_at(usize::from(length));
    let digits = match digits {
        [0, next, ..] if *next < 0x80 => return None,
        [0] => return None,
        [0, digits @ ..] => digits,
        [first, ..] if *first >= 0x80 => return None,
        digits => digits,
    };
    let mut out = [0; 32];
    let (_, place) = out.split_at_mut_checked(32 - digits.len().min(32))?;
    (digits.len() <= 32).then(|| place.copy_from_slice(digits))?;
    Some((out, rest))
}

/// SEQUENCE of two integers and nothing else.
fn signature(der: &[u8]) -> Option<[[u8; 32]; 2]> {
    let (&[0x30, length], body) = der.split_first_chunk::<2>()? else {
        return None;
    };
    let whole = length < 0x80 && usize::from(length) == body.len();
    let (r, rest) = integer(body).filter(|_| whole)?;
    let (s, rest) = integer(rest)?;
    rest.is_empty().then_some([r, s])
}

/// `order - s`, if `s` is below it.
fn twin(order: &str, s: &[u8; 32]) -> Option<[u8; 32]> {
    let order: [u8; 32] = keywright_encoding::hex::decode_array(order).unwrap();
    let (mut out, mut borrow) = ([0; 32], false);
    for place in (0..32).rev() {
        let (less, first) = order[place].overflowing_sub(s[place]);
        let (less, second) = less.overflowing_sub(u8::from(borrow));
        (out[place], borrow) = (less, first || second);
    }
    (!borrow).then_some(out)
}

type Verify<'a> = &'a dyn Fn(&[u8; 32], &[u8; 64]) -> Result<(), Rejected>;

fn decide(verify: Verify<'_>, message: &[u8], [r, s]: [[u8; 32]; 2], order: &str) -> Verdict {
    let digest = sha256(message);
    let side_by_side = |s: [u8; 32]| -> [u8; 64] { [r, s].concat().try_into().unwrap() };
    match twin(order, &s).filter(|twin| *twin < s) {
        Some(low) => {
            assert!(verify(&digest, &side_by_side(s)).is_err(), "the higher s");
            verdict(verify(&digest, &side_by_side(low)))
        }
        None => verdict(verify(&digest, &side_by_side(s))),
    }
}

fn verdict(verified: Result<(), Rejected>) -> Verdict {
    verified.map_or(Verdict::Refused, |()| Verdict::Accepted)
}

fn point(case: &Case) -> Vec<u8> {
    let key = case.group.object("publicKey").unwrap();
    key.hex("uncompressed").unwrap()
}

#[test]
fn t45_secp256k1_with_the_lower_s_and_strict_der_alone() {
    run("ecdsa_secp256k1_sha256_bitcoin_test.json", 463, |case| {
        let key = secp256k1::PublicKey::from_sec1(&point(case)).unwrap();
        let Some([r, s]) = signature(&case.fields.hex("sig")?) else {
            return Ok(Verdict::Refused);
        };
        let signature = [r, s].concat().try_into().unwrap();
        let digest = sha256(&case.fields.hex("msg")?);
        Ok(verdict(key.verify_ecdsa(&digest, &signature)))
    })
    .unwrap();
}

#[test]
fn t45_secp256k1_in_der() {
    run("ecdsa_secp256k1_sha256_test.json", 476, |case| {
        let key = secp256k1::PublicKey::from_sec1(&point(case)).unwrap();
        let Some(both) = signature(&case.fields.hex("sig")?) else {
            return Ok(Verdict::Refused);
        };
        let verify = |digest: &_, signature: &_| key.verify_ecdsa(digest, signature);
        let message = case.fields.hex("msg")?;
        Ok(decide(&verify, &message, both, ORDER_OF_SECP256K1))
    })
    .unwrap();
}

#[test]
fn t45_p256_of_a_tree_in_der() {
    run("ecdsa_secp256r1_sha256_test.json", 484, |case| {
        let key = p256::PublicKey::from_sec1(&point(case)).unwrap();
        let Some(both) = signature(&case.fields.hex("sig")?) else {
            return Ok(Verdict::Refused);
        };
        let verify = |digest: &_, signature: &_| key.verify_ecdsa(digest, signature);
        let message = case.fields.hex("msg")?;
        Ok(decide(&verify, &message, both, ORDER_OF_P256))
    })
    .unwrap();
}

#[test]
fn t45_p256_of_a_tree_side_by_side() {
    run("ecdsa_secp256r1_sha256_p1363_test.json", 262, |case| {
        let key = p256::PublicKey::from_sec1(&point(case)).unwrap();
        let signature = case.fields.hex("sig")?;
        let (halves, rest) = signature.as_chunks::<32>();
        let (Ok([r, s]), []) = (<[[u8; 32]; 2]>::try_from(halves), rest) else {
            return Ok(Verdict::Refused);
        };
        let verify = |digest: &_, signature: &_| key.verify_ecdsa(digest, signature);
        let message = case.fields.hex("msg")?;
        Ok(decide(&verify, &message, [r, s], ORDER_OF_P256))
    })
    .unwrap();
}

/// The two ways in which a `SubjectPublicKeyInfo` names the curve and gives a point; others are not read.
fn point_of_info(info: &[u8]) -> Option<&[u8]> {
    const HEADS: [&str; 2] = [
        "3056301006072a8648ce3d020106052b8104000a034200",
        "3036301006072a8648ce3d020106052b8104000a032200",
    ];
    let heads = HEADS.map(|head| keywright_encoding::hex::decode(head).unwrap());
    heads.iter().find_map(|head| info.strip_prefix(&head[..]))
}

#[test]
fn ecdh_over_secp256k1() {
    run("ecdh_secp256k1_test.json", 752, |case| {
        let info = case.fields.hex("public")?;
        let peer = point_of_info(&info).map(secp256k1::PublicKey::from_sec1);
        let Some(Ok(peer)) = peer else {
            return Ok(Verdict::Refused);
        };
        let digits = case.fields.hex("private")?;
        let mut scalar = [0; 32];
        for (place, digit) in scalar.iter_mut().rev().zip(digits.iter().rev()) {
            *place = *digit;
        }
        let secret = secp256k1::PrivateKey::from_bytes(&scalar)
            .unwrap()
            .agree(&peer);
        Ok(
            match *secret.unwrap().expose() == case.fields.array("shared")? {
                true => Verdict::Accepted,
                false => Verdict::Wrong,
            },
        )
    })
    .unwrap();
}
