//! HKDF. `expand_sha512` with its keys of 32 bytes is judged by `keywright-envelope`.

use keywright_primitives::kdf::{HkdfSha256, HkdfSha384, HkdfSha512, expand_sha256};
use keywright_primitives::mac::HmacSha256;
use keywright_vectors::Verdict;
use keywright_vectors::wycheproof::{Case, run};

use super::compared;

macro_rules! hkdf {
    ($name:ident, $case:expr) => {{
        let fields = &$case.fields;
        let key = $name::extract(&fields.hex("salt")?, &fields.hex("ikm")?).unwrap();
        let info = fields.hex("info")?;
        let mut out = vec![0; fields.number("size")?];
        if key.expand(&[&info], &mut out).is_err() {
            return Ok(Verdict::Refused);
        }
        // The info is joined, not framed: a cut anywhere changes nothing.
        let mut again = vec![0; out.len()];
        let (head, tail) = info.split_at(info.len() / 2);
        key.expand(&[head, tail], &mut again).unwrap();
        Ok(compared(out == fields.hex("okm")? && again == out))
    }};
}

#[test]
fn hkdf_sha256_and_its_second_half_alone() {
    run("hkdf_sha256_test.json", 86, |case: &Case| {
        let fields = &case.fields;
        let salt = HmacSha256::new(&fields.hex("salt")?).unwrap();
        let mut out = vec![0; fields.number("size")?];
        let prk = salt.mac(&fields.hex("ikm")?);
        if expand_sha256(&prk, &[&fields.hex("info")?], &mut out).is_ok() {
            assert_eq!(out, fields.hex("okm")?, "{}", fields.name());
        }
        hkdf!(HkdfSha256, case)
    })
    .unwrap();
}

#[test]
fn hkdf_sha384() {
    run("hkdf_sha384_test.json", 83, |case: &Case| {
        hkdf!(HkdfSha384, case)
    })
    .unwrap();
}

#[test]
fn hkdf_sha512() {
    run("hkdf_sha512_test.json", 83, |case: &Case| {
        hkdf!(HkdfSha512, case)
    })
    .unwrap();
}
