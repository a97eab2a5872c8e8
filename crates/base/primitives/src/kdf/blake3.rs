//! BLAKE3 in its mode for deriving keys.

/// Fills `out` from the joined pieces of `material`, which is secret, for the purpose that `context` names.
///
/// The context is a fixed text of the program and never depends on input; whatever does belongs to the
/// material, whose joining the caller makes injective. A longer output begins with a shorter one.
pub fn blake3_derive(context: &'static str, material: &[&[u8]], out: &mut [u8]) {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    for piece in material {
        hasher.update(piece);
    }
    hasher.finalize_xof().fill(out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_and_material_matter_and_pieces_do_not() {
        let derive = |context, material: &[&[u8]]| {
            let mut out = [0; 40];
            blake3_derive(context, material, &mut out);
            out
        };
        let one = derive("one", &[b"ma", b"", b"terial"]);
        assert_eq!(one, derive("one", &[b"material"]));
        assert_ne!(one, derive("two", &[b"material"]));
        assert_ne!(one, derive("one", &[b"materiam"]));
        assert_ne!(one[..32], crate::hash::blake3(b"material"));
        let mut short = [0; 16];
        blake3_derive("one", &[b"material"], &mut short);
        assert_eq!(short, one[..16]);
    }
}
