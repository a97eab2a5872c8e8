//! What a key takes, and who may hold it.

use keywright_fpe::{Algorithm, Alphabet, Backend, Batch, Error, Key, Mode, Tweaked};

use crate::scene;

const fn shared_by_threads<T: Send + Sync>() {}

#[test]
fn keys_and_what_is_made_from_them_are_shared_by_threads() {
    shared_by_threads::<Key>();
    shared_by_threads::<Tweaked<'_>>();
    shared_by_threads::<Batch<'_>>();
    shared_by_threads::<Alphabet>();
    shared_by_threads::<Error>();
    let key = scene::key(Mode::Ff1, Algorithm::Aes, 10);
    let alone = {
        let mut value = [3_u8; 16];
        key.encrypt_in_place(b"t", &mut value).unwrap();
        value
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..1_000 {
                    let mut value = [3_u8; 16];
                    key.encrypt_in_place(b"t", &mut value).unwrap();
                    assert_eq!(value, alone);
                }
            });
        }
    });
}

/// The largest schedule has 15 round keys, and a key holds nothing outside itself.
#[test]
fn a_key_of_any_size_on_the_portable_backend_is_under_a_kibibyte() {
    let options = scene::options(Mode::Ff1, Algorithm::Aes, 10).with_backend(Backend::Portable);
    let key = Key::new(options, &[7; 32]).unwrap();
    assert!(size_of_val(&key) < 1_024, "{} bytes", size_of_val(&key));
}
