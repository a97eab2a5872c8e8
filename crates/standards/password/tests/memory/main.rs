//! A container that asks for too much is refused before it has got any of it. A test of its own, because its
//! allocator counts.

mod allocator;

use allocator::allocated;
use keywright_password::{Container, Cost, Error, Limits, Profile, hazmat};
use keywright_secret::{Secret, SecretBytes};

/// What a refusal may take from the heap.
const MOST: usize = 4 << 10;

/// With these costs in their places, big-endian behind the eight bytes of magic and numbers.
fn asking(container: &[u8], costs: [u32; 3]) -> Vec<u8> {
    let mut bytes = container.to_vec();
    for (place, cost) in bytes[8..20].chunks_mut(4).zip(costs) {
        place.copy_from_slice(&cost.to_be_bytes());
    }
    bytes
}

#[test]
fn t28_a_container_that_asks_for_too_much_is_refused_with_four_kibibytes() {
    let password = SecretBytes::from_vec(b"right".to_vec());
    let secret = Secret::copy_from(&[7; 48]).unwrap();
    let small = Cost {
        memory_kib: 1 << 10,
        passes: 1,
        lanes: 1,
    };
    let container = hazmat::seal_with_nonce(&secret, &password, small, [1; 16], [2; 24]).unwrap();
    let open = |bytes: &[u8]| Container::open(bytes, &password, &Limits::standard());
    let strong = Profile::Strong.cost();
    for costs in [
        [u32::MAX, 3, 1],
        [strong.memory_kib, u32::MAX, 1],
        [strong.memory_kib, 3, (1 << 24) - 1],
        [u32::MAX, u32::MAX, u32::MAX],
        [strong.memory_kib + 1, 3, 8],
        [7, 1, 1],
    ] {
        let bytes = asking(&container, costs);
        let taken = allocated(|| {
            assert_eq!(open(&bytes).err(), Some(Error::OutOfBounds));
        });
        assert!(taken <= MOST, "{costs:?}: {taken} bytes");
    }
    // The counter counts: the bytes of a container are copied into memory of their own.
    assert!(allocated(|| drop(asking(&container, [1, 1, 1]))) >= container.len());
}
