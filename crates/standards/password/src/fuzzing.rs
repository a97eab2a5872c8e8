//! The promises of [`Container`] over arbitrary bytes, as one function that the fuzz target and a plain
//! test of this crate both call.

use keywright_secret::SecretBytes;

use crate::{CONTAINER_LEN, Container, Cost, Error, Limits, hazmat};

/// The password with which the function tries every container.
pub const PASSWORD: &[u8] = b"correct horse battery staple";

/// Parses `data` and tries to open it within small limits, and checks that
///
/// * only one length is a container;
/// * parameters outside the limits are refused as such;
/// * what opens is the only spelling: sealed again it gives the same bytes.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn container(data: &[u8]) {
    let most = Cost {
        memory_kib: 128,
        passes: 3,
        lanes: 4,
    };
    let limits = Limits::standard().with_most(most, 256);
    let password = SecretBytes::from_vec(PASSWORD.to_vec());
    let opened = Container::open(data, &password, &limits);
    let Ok(container) = Container::parse(data) else {
        assert!(
            matches!(opened, Err(Error::Malformed)),
            "opened what cannot be parsed"
        );
        return;
    };
    assert_eq!(data.len(), CONTAINER_LEN, "a container of another length");
    let cost = container.cost();
    match opened {
        Err(Error::OutOfBounds) => assert!(limits.check(cost).is_err(), "refused within limits"),
        Err(error) => assert!(error == Error::Rejected, "another error: {error}"),
        Ok(opened) => {
            let mut salt = [0; 16];
            let mut nonce = [0; 24];
            salt.copy_from_slice(&data[20..36]);
            nonce.copy_from_slice(&data[68..92]);
            let again = hazmat::seal_with_nonce(&opened.secret, &password, cost, salt, nonce);
            assert!(
                again.is_ok_and(|again| again == data),
                "a second spelling opened"
            );
        }
    }
}
