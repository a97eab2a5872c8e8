//! The S-boxes of AES and SM4 as one boolean circuit over bit planes.
//!
//! Both are an affine map, the inversion in GF(2^8), and another affine map; the two fields are
//! the same field in other coordinates. So one inversion serves both: it is done in
//! GF((2^4)^2) = GF(16)[z] / (z^2 + z + 14) with GF(16) = GF(2)[x] / (x^4 + x + 1), and the change
//! of coordinates is part of the matrices below. Nothing here looks anything up or branches on a
//! plane: every loop and every `if` runs over constants.

use core::ops::{BitAnd, BitXor, Not};

/// One bit of many bytes at once.
pub(super) trait Plane:
    Copy + Default + BitAnd<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
}

impl Plane for u32 {}
impl Plane for u64 {}

/// An affine map: row `i` names the input bits that are added into output bit `i`.
struct Affine {
    rows: [u8; 8],
    constant: u8,
}

/// AES coordinates to tower coordinates.
const AES_IN: Affine = Affine {
    rows: [0x43, 0xcc, 0x94, 0xc6, 0xae, 0x72, 0x0c, 0xa0],
    constant: 0,
};
/// Tower coordinates to AES coordinates, then the affine step of FIPS 197, section 5.1.1.
const AES_OUT: Affine = Affine {
    rows: [0x63, 0x81, 0x37, 0x03, 0x9d, 0x8e, 0xb0, 0x86],
    constant: 0x63,
};
/// The inner affine step of the SM4 S-box, then into tower coordinates.
const SM4_IN: Affine = Affine {
    rows: [0x34, 0xc9, 0x3a, 0x58, 0x93, 0x40, 0xc4, 0x7f],
    constant: 0xa1,
};
/// Out of tower coordinates, then the outer affine step of the SM4 S-box.
const SM4_OUT: Affine = Affine {
    rows: [0xb3, 0xb5, 0x84, 0x65, 0x6a, 0xca, 0x17, 0x49],
    constant: 0xd3,
};

/// SubBytes of AES on every byte of the planes.
#[inline(always)]
pub(super) fn aes<P: Plane>(planes: [P; 8]) -> [P; 8] {
    apply(&AES_OUT, invert(apply(&AES_IN, planes)))
}

/// The S-box of SM4 on every byte of the planes.
#[inline(always)]
pub(super) fn sm4<P: Plane>(planes: [P; 8]) -> [P; 8] {
    apply(&SM4_OUT, invert(apply(&SM4_IN, planes)))
}

#[inline(always)]
fn apply<P: Plane>(map: &Affine, planes: [P; 8]) -> [P; 8] {
    let mut out = [P::default(); 8];
    for (i, sum) in out.iter_mut().enumerate() {
        for (j, &plane) in planes.iter().enumerate() {
            if map.rows[i] >> j & 1 == 1 {
                *sum = *sum ^ plane;
            }
        }
        if map.constant >> i & 1 == 1 {
            *sum = !*sum;
        }
    }
    out
}

/// (a z + b)^-1 = a D z + (a + b) D with D = (14 a^2 + b (a + b))^-1; zero stays zero.
#[inline(always)]
fn invert<P: Plane>([b0, b1, b2, b3, a0, a1, a2, a3]: [P; 8]) -> [P; 8] {
    let a = [a0, a1, a2, a3];
    let b = [b0, b1, b2, b3];
    let sum = add(a, b);
    let scaled_square = [a1 ^ a2, a0, a0 ^ a1 ^ a3, a0 ^ a1];
    let d = invert_nibble(add(scaled_square, multiply(b, sum)));
    let [h0, h1, h2, h3] = multiply(a, d);
    let [l0, l1, l2, l3] = multiply(sum, d);
    [l0, l1, l2, l3, h0, h1, h2, h3]
}

#[inline(always)]
fn add<P: Plane>(a: [P; 4], b: [P; 4]) -> [P; 4] {
    [a[0] ^ b[0], a[1] ^ b[1], a[2] ^ b[2], a[3] ^ b[3]]
}

/// Product in GF(16): the seven coefficients, then x^4 = x + 1, x^5 = x^2 + x, x^6 = x^3 + x^2.
#[inline(always)]
fn multiply<P: Plane>(a: [P; 4], b: [P; 4]) -> [P; 4] {
    let c0 = a[0] & b[0];
    let c1 = (a[0] & b[1]) ^ (a[1] & b[0]);
    let c2 = (a[0] & b[2]) ^ (a[1] & b[1]) ^ (a[2] & b[0]);
    let c3 = (a[0] & b[3]) ^ (a[1] & b[2]) ^ (a[2] & b[1]) ^ (a[3] & b[0]);
    let c4 = (a[1] & b[3]) ^ (a[2] & b[2]) ^ (a[3] & b[1]);
    let c5 = (a[2] & b[3]) ^ (a[3] & b[2]);
    let c6 = a[3] & b[3];
    [c0 ^ c4, c1 ^ c4 ^ c5, c2 ^ c5 ^ c6, c3 ^ c6]
}

/// Inverse in GF(16) as its algebraic normal form.
#[inline(always)]
fn invert_nibble<P: Plane>([x0, x1, x2, x3]: [P; 4]) -> [P; 4] {
    let p01 = x0 & x1;
    let p02 = x0 & x2;
    let p12 = x1 & x2;
    let p03 = x0 & x3;
    let p13 = x1 & x3;
    let p23 = x2 & x3;
    let p123 = p12 & x3;
    let y0 = x0 ^ x1 ^ x2 ^ p02 ^ p12 ^ (p12 & x0) ^ x3 ^ p123;
    let y1 = p01 ^ p02 ^ p12 ^ x3 ^ p13 ^ (p01 & x3);
    let y2 = p01 ^ x2 ^ p02 ^ x3 ^ p03 ^ (p02 & x3);
    let y3 = x1 ^ x2 ^ x3 ^ p03 ^ p13 ^ p23 ^ p123;
    [y0, y1, y2, y3]
}

/// Turns eight bytes into eight planes and back: bit `p` of byte `i` changes places with bit `i`
/// of byte `p`.
#[inline(always)]
pub(super) const fn transpose8(x: u64) -> u64 {
    let t = (x ^ (x >> 7)) & 0x00aa_00aa_00aa_00aa;
    let x = x ^ t ^ (t << 7);
    let t = (x ^ (x >> 14)) & 0x0000_cccc_0000_cccc;
    let x = x ^ t ^ (t << 14);
    let t = (x ^ (x >> 28)) & 0x0000_0000_f0f0_f0f0;
    x ^ t ^ (t << 28)
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    /// All 256 bytes through a plane circuit, eight at a time.
    fn table(circuit: fn([u64; 8]) -> [u64; 8]) -> Vec<u8> {
        let mut out = Vec::new();
        for base in (0..=255u8).step_by(8) {
            let bytes = core::array::from_fn(|i| base + u8::try_from(i).unwrap());
            let planes = transpose8(u64::from_le_bytes(bytes))
                .to_le_bytes()
                .map(u64::from);
            let packed = circuit(planes).map(|plane| u8::try_from(plane & 0xff).unwrap());
            out.extend(transpose8(u64::from_le_bytes(packed)).to_le_bytes());
        }
        out
    }

    fn multiply_modulo(mut a: u32, mut b: u32, polynomial: u32) -> u32 {
        let mut product = 0;
        while b != 0 {
            if b & 1 == 1 {
                product ^= a;
            }
            b >>= 1;
            a <<= 1;
            if a & 0x100 != 0 {
                a ^= polynomial;
            }
        }
        product
    }

    fn inverse(a: u32, polynomial: u32) -> u32 {
        (0..256)
            .find(|&b| multiply_modulo(a, b, polynomial) == 1)
            .unwrap_or(0)
    }

    #[test]
    fn aes_circuit_is_the_s_box_of_fips_197() {
        for (x, &got) in (0u32..).zip(&table(aes::<u64>)) {
            let i = u8::try_from(inverse(x, 0x11b)).unwrap();
            let want = i
                ^ i.rotate_left(1)
                ^ i.rotate_left(2)
                ^ i.rotate_left(3)
                ^ i.rotate_left(4)
                ^ 0x63;
            assert_eq!(got, want, "input {x:02x}");
        }
    }

    /// The algebraic description of the S-box: the same affine map before and after the inversion
    /// modulo x^8 + x^7 + x^6 + x^5 + x^4 + x^2 + 1.
    #[test]
    fn sm4_circuit_is_the_s_box_of_gb_t_32907() {
        let rows = [0xa7u8, 0x4f, 0x9e, 0x3d, 0x7a, 0xf4, 0xe9, 0xd3];
        let affine = |x: u8| {
            let sum = rows.iter().rev().fold(0u8, |sum, row| {
                sum << 1 | u8::try_from((row & x).count_ones() & 1).unwrap()
            });
            sum ^ 0xd3
        };
        for (x, &got) in (0u8..=255).zip(&table(sm4::<u64>)) {
            let inner = inverse(u32::from(affine(x)), 0x1f5);
            assert_eq!(got, affine(u8::try_from(inner).unwrap()), "input {x:02x}");
        }
    }

    #[test]
    fn transposition_is_its_own_inverse() {
        let mut x = 0x0123_4567_89ab_cdefu64;
        for _ in 0..1000 {
            x = x.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            assert_eq!(transpose8(transpose8(x)), x);
        }
        assert_eq!(transpose8(1 << (8 * 5 + 2)), 1 << (8 * 2 + 5));
    }
}
