//! What must not open, and what is refused before it costs anything.

use keywright_password::{CONTAINER_LEN, Container, Cost, Error, Limits, Profile, hazmat};
use keywright_primitives::aead::Xaes256Gcm;
use keywright_primitives::hazmat::repeated;
use keywright_primitives::kdf::expand_sha256;
use keywright_primitives::random::RandomStream;
use keywright_secret::locked::Locking;
use keywright_secret::{Secret, SecretBytes};

const SMALL: Cost = Cost {
    memory_kib: 16,
    passes: 1,
    lanes: 1,
};

fn password(text: &str) -> SecretBytes {
    SecretBytes::from_vec(text.as_bytes().to_vec())
}

fn sealed() -> Vec<u8> {
    let secret = Secret::copy_from(&[7; 48]).unwrap();
    hazmat::seal_with_nonce(&secret, &password("right"), SMALL, [1; 16], [2; 24]).unwrap()
}

fn open(bytes: &[u8], with: &str) -> Result<Secret<48>, Error> {
    Container::open(bytes, &password(with), &Limits::standard()).map(|opened| opened.secret)
}

fn with_cost(memory: u32, passes: u32, lanes: u32) -> Vec<u8> {
    let mut bytes = sealed();
    for (number, place) in [memory, passes, lanes].iter().zip([8, 12, 16]) {
        bytes[place..place + 4].copy_from_slice(&number.to_be_bytes());
    }
    bytes
}

#[test]
fn a_profile_opens_with_its_password_and_reports_its_locking() {
    let mut random = RandomStream::new().unwrap();
    let secret: Secret<48> = random.secret().unwrap();
    let made =
        Container::seal_and_report(&secret, &password("pass"), Profile::Fast, &mut random).unwrap();
    assert_eq!(made.bytes.len(), CONTAINER_LEN);
    let cost = Container::parse(&made.bytes).unwrap().cost();
    assert_eq!((cost.memory_kib, cost.passes, cost.lanes), (65536, 3, 2));
    let opened = Container::open(&made.bytes, &password("pass"), &Limits::standard()).unwrap();
    assert!(opened.secret.ct_eq(&secret));
    // Which of the two depends on the machine; that both calls say the same does not.
    assert_eq!(opened.locking, made.locking);
    assert!(matches!(
        made.locking,
        Locking::Locked | Locking::Refused(1..)
    ));
    let again = Container::seal(&secret, &password("pass"), Profile::Fast, &mut random).unwrap();
    assert_ne!(again, made.bytes, "salt and nonce are new each time");
}

#[test]
fn t47_two_secrets_under_one_password_and_the_same_randomness_have_two_nonces() {
    let sealed = |byte: u8| {
        let mut random = repeated::stream(&[7; 32]).unwrap();
        let secret = Secret::copy_from(&[byte; 48]).unwrap();
        Container::seal(&secret, &password("pass"), Profile::Fast, &mut random).unwrap()
    };
    let (one, other) = (sealed(1), sealed(2));
    assert_eq!(one[..68], other[..68], "salt and key are the same");
    assert_ne!(one[68..92], other[68..92]);
    assert_eq!(one, sealed(1));
}

#[test]
fn a_wrong_password_and_a_changed_container_give_the_same_error() {
    let good = sealed();
    assert!(open(&good, "right").is_ok());
    for wrong in ["", "Right", "right ", "righ", "right\n"] {
        assert_eq!(open(&good, wrong).err(), Some(Error::Rejected), "{wrong:?}");
    }
    // From the salt on, every byte is covered by the same answer.
    for place in 20..good.len() {
        let mut changed = good.clone();
        changed[place] ^= 1;
        assert_eq!(
            open(&changed, "right").err(),
            Some(Error::Rejected),
            "byte {place}"
        );
    }
}

#[test]
fn a_bit_flipped_in_any_byte_does_not_open() {
    let good = sealed();
    for bit in 0..good.len() * 8 {
        let mut changed = good.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        // Costs that a flip raises within the limits are honest work; here it only takes time.
        let limits = Limits::standard().with_most(
            Cost {
                memory_kib: 64,
                ..SMALL
            },
            64,
        );
        assert!(
            Container::open(&changed, &password("right"), &limits).is_err(),
            "bit {bit}"
        );
    }
}

#[test]
fn every_other_length_is_malformed() {
    let good = sealed();
    for length in 0..good.len() {
        assert_eq!(
            open(&good[..length], "right").err(),
            Some(Error::Malformed),
            "{length}"
        );
    }
    for extra in [1, 16, 156] {
        let longer = [&good[..], &vec![0; extra]].concat();
        assert_eq!(open(&longer, "right").err(), Some(Error::Malformed));
    }
}

#[test]
fn unknown_numbers_are_malformed() {
    for place in 0..8 {
        for value in [0, 2, 255] {
            let mut changed = sealed();
            if changed[place] != value {
                changed[place] = value;
                assert_eq!(
                    open(&changed, "right").err(),
                    Some(Error::Malformed),
                    "{place}"
                );
            }
        }
    }
}

#[test]
fn t28_parameters_out_of_the_file_are_bounded_before_any_memory_is_taken() {
    let gib = 1 << 20;
    let beyond = [
        (u32::MAX, 3, 1),
        (gib, u32::MAX, 1),
        (gib, 3, (1 << 24) - 1),
        (u32::MAX, u32::MAX, (1 << 24) - 1),
        (gib + 1, 1, 1),
        (gib, 5, 1),
        (7, 1, 1),
        (15, 1, 2),
        (64, 0, 1),
        (64, 1, 0),
        (64, 11, 1),
        (256, 1, 17),
        (0, 0, 0),
    ];
    for (memory, passes, lanes) in beyond {
        let refused = open(&with_cost(memory, passes, lanes), "right");
        assert_eq!(
            refused.err(),
            Some(Error::OutOfBounds),
            "{memory} {passes} {lanes}"
        );
    }
}

#[test]
fn a_container_larger_than_the_process_has_room_for_is_refused_even_if_the_limits_allow_it() {
    let most = Cost {
        memory_kib: 8 << 20,
        passes: 1,
        lanes: 1,
    };
    let limits = Limits::standard().with_most(most, 8 << 20);
    let bytes = with_cost(8 << 20, 1, 1);
    let refused = Container::open(&bytes, &password("right"), &limits);
    assert_eq!(refused.err(), Some(Error::OutOfMemory));
}

/// What is sealed under another password's subkey does not open under a password that shares its tag:
/// the commitment is compared first. Here the tag is right and only the commitment is another's.
#[test]
fn t27_a_fitting_tag_without_the_commitment_is_refused() {
    let mut bytes = sealed();
    let key = hazmat::stretch(b"right", &[1; 16], SMALL).unwrap();
    let mut made = [0; 64];
    expand_sha256(
        key.expose(),
        &[b"keywright/password/v1", &bytes[..36]],
        &mut made,
    )
    .unwrap();
    let subkey: [u8; 32] = made[..32].try_into().unwrap();
    assert_eq!(bytes[36..68], made[32..], "the text's own formula");
    bytes[36..68].fill(0xAA);
    let mut text = [7; 48];
    let aead = Xaes256Gcm::new(&subkey).unwrap();
    let tag = aead.seal(&[2; 24], &bytes[..92], &mut text).unwrap();
    bytes[92..140].copy_from_slice(&text);
    bytes[140..].copy_from_slice(&tag);
    assert!(
        aead.open(&[2; 24], &bytes[..92], &mut text, &tag).is_ok(),
        "the AEAD alone takes it"
    );
    assert_eq!(open(&bytes, "right").err(), Some(Error::Rejected));
}

#[test]
fn errors_and_debug_show_neither_password_nor_key() {
    let opened = Container::open(&sealed(), &password("right"), &Limits::standard()).unwrap();
    let shown = format!("{opened:?} {:?}", password("right"));
    assert!(
        !shown.contains("right") && !shown.contains("7, 7"),
        "{shown}"
    );
}
