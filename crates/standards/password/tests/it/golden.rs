//! The committed vectors of the second implementation: all of them, in every build.

use keywright_password::{Container, Cost, Error, Limits, hazmat};
use keywright_secret::{Secret, SecretBytes};
use keywright_vectors::Tally;
use keywright_vectors::golden::{Case, Golden, refused_as_stated};

fn password(case: &Case) -> SecretBytes {
    SecretBytes::from_vec(case.fields.hex("password").unwrap())
}

fn sealed_again(case: &Case) -> Vec<u8> {
    let secret = Secret::copy_from(&case.fields.hex("plaintext").unwrap()).unwrap();
    let cost = Cost {
        memory_kib: case.fields.number("memory_kib").unwrap(),
        passes: case.fields.number("passes").unwrap(),
        lanes: case.fields.number("lanes").unwrap(),
    };
    let salt = case.fields.array("salt").unwrap();
    let nonce = case.fields.array("nonce").unwrap();
    hazmat::seal_with_nonce(&secret, &password(case), cost, salt, nonce).unwrap()
}

fn judge(case: &Case) -> bool {
    let bytes = case.fields.hex("container").unwrap();
    match Container::open(&bytes, &password(case), &Limits::standard()) {
        Ok(opened) => {
            case.valid
                && opened.secret.expose()[..] == case.fields.hex("plaintext").unwrap()
                && sealed_again(case) == bytes
        }
        Err(error) => {
            let code = match error {
                Error::Malformed | Error::OutOfBounds => "ciphertext_malformed",
                Error::Rejected => "decryption_failed",
                _ => return false,
            };
            let before_kdf = error != Error::Rejected;
            let early = case
                .fields
                .field("before_kdf")
                .and_then(|early| early.as_bool());
            refused_as_stated(case, code).unwrap() && (before_kdf || early != Some(true))
        }
    }
}

#[test]
fn password_containers() {
    let golden = Golden::load("password.json").unwrap();
    let mut tally = Tally::new("golden-password");
    for case in golden.cases() {
        tally.check(case.fields.name(), judge(case));
    }
    tally.finish().unwrap();
}
