//! AES (FIPS 197) in bit planes: constant time on any machine with 64-bit arithmetic.
//!
//! Four blocks share eight `u64` planes: bit `16 k + i` of plane `p` is bit `p` of byte `i` of
//! block `k`. A round key is kept as the planes of one block, so a schedule is as small as the
//! plain one. The schedule itself needs SubWord only, which goes through the same circuit.

use super::sbox;

/// Round keys as bytes; entries beyond the last round stay zero.
pub(super) type RoundKeys = [[u8; 16]; 15];

/// A round key as the planes of one block, in the room of its sixteen bytes.
type KeyPlanes = [u16; 8];

/// Every 16-bit group of a plane is one block.
const EACH_BLOCK: u64 = 0x0001_0001_0001_0001;

/// KeyExpansion of FIPS 197, section 5.2, for any SubWord; words are little-endian here, so
/// RotWord turns right. Returns the keys and the number of rounds, `None` for a wrong key size.
pub(super) fn expand(key: &[u8], sub_word: impl Fn(u32) -> u32) -> Option<(RoundKeys, usize)> {
    let words = match key.len() {
        16 => 4,
        24 => 6,
        32 => 8,
        _ => return None,
    };
    let rounds = words + 6;
    let mut w = [0u32; 60];
    for (word, bytes) in w.iter_mut().zip(key.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    let mut rcon = 1u32;
    for i in words..4 * (rounds + 1) {
        let mut t = w[i - 1];
        if i % words == 0 {
            t = sub_word(t).rotate_right(8) ^ rcon;
            rcon = (rcon << 1) ^ (0x11b * (rcon >> 7));
        } else if words == 8 && i % words == 4 {
            t = sub_word(t);
        }
        w[i] = w[i - words] ^ t;
    }
    let mut keys = [[0u8; 16]; 15];
    for (bytes, word) in keys.as_flattened_mut().chunks_exact_mut(4).zip(&w) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    zeroize::Zeroize::zeroize(&mut w);
    Some((keys, rounds))
}

/// SubWord by the circuit.
pub(super) fn sub_word(word: u32) -> u32 {
    let mut block = [0; 16];
    block[..4].copy_from_slice(&word.to_le_bytes());
    let out = unpack(&sbox::aes(pack(&[block])));
    u32::from_le_bytes([out[0][0], out[0][1], out[0][2], out[0][3]])
}

/// Rewrites round keys from bytes to planes.
pub(super) fn to_planes(keys: &RoundKeys) -> [KeyPlanes; 15] {
    keys.map(|key| pack(&[key]).map(low_block))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the upper groups are the other blocks"
)]
const fn low_block(plane: u64) -> u16 {
    plane as u16
}

/// Encrypts up to four blocks in place; `keys` are those of all rounds, the first included.
pub(super) fn encrypt(keys: &[KeyPlanes], blocks: &mut [[u8; 16]]) {
    let Some((first, rest)) = keys.split_first() else {
        return;
    };
    let Some((last, middle)) = rest.split_last() else {
        return;
    };
    let mut state = pack(blocks);
    add_key(&mut state, first);
    for key in middle {
        state = mix_columns(shift_rows(sbox::aes(state)));
        add_key(&mut state, key);
    }
    state = shift_rows(sbox::aes(state));
    add_key(&mut state, last);
    for (block, out) in blocks.iter_mut().zip(unpack(&state)) {
        *block = out;
    }
}

#[inline(always)]
fn add_key(state: &mut [u64; 8], key: &KeyPlanes) {
    for (plane, &k) in state.iter_mut().zip(key) {
        *plane ^= u64::from(k) * EACH_BLOCK;
    }
}

/// Row `r` of column `c` stands at bit `4 c + r`; row `r` turns left by `r` columns.
#[inline(always)]
fn shift_rows(state: [u64; 8]) -> [u64; 8] {
    state.map(|x| {
        x & (0x1111 * EACH_BLOCK)
            | (x & (0x2220 * EACH_BLOCK)) >> 4
            | (x & (0x0002 * EACH_BLOCK)) << 12
            | (x & (0x4400 * EACH_BLOCK)) >> 8
            | (x & (0x0044 * EACH_BLOCK)) << 8
            | (x & (0x8000 * EACH_BLOCK)) >> 12
            | (x & (0x0888 * EACH_BLOCK)) << 4
    })
}

/// The new row is 2 (a + b) + b + (c + d), where b, c, d are the rows below a.
#[inline(always)]
fn mix_columns(state: [u64; 8]) -> [u64; 8] {
    let below = state.map(|x| (x >> 1) & 0x7777_7777_7777_7777 | (x << 3) & 0x8888_8888_8888_8888);
    let pair: [u64; 8] = core::array::from_fn(|p| state[p] ^ below[p]);
    let top = pair[7];
    let doubled = [
        top,
        pair[0] ^ top,
        pair[1],
        pair[2] ^ top,
        pair[3] ^ top,
        pair[4],
        pair[5],
        pair[6],
    ];
    core::array::from_fn(|p| {
        let far = (pair[p] >> 2) & 0x3333_3333_3333_3333 | (pair[p] << 2) & 0xcccc_cccc_cccc_cccc;
        doubled[p] ^ below[p] ^ far
    })
}

fn pack(blocks: &[[u8; 16]]) -> [u64; 8] {
    let mut planes = [0u64; 8];
    let halves = blocks.as_flattened().chunks_exact(8);
    for (half, shift) in halves.zip((0..64).step_by(8)) {
        let bytes = core::array::from_fn(|i| half[i]);
        let turned = sbox::transpose8(u64::from_le_bytes(bytes));
        for (plane, byte) in planes.iter_mut().zip(turned.to_le_bytes()) {
            *plane |= u64::from(byte) << shift;
        }
    }
    planes
}

fn unpack(planes: &[u64; 8]) -> [[u8; 16]; 4] {
    let mut blocks = [[0u8; 16]; 4];
    let halves = blocks.as_flattened_mut().chunks_exact_mut(8);
    for (half, at) in halves.zip(0..) {
        let bytes = core::array::from_fn(|p| planes[p].to_le_bytes()[at]);
        let turned = sbox::transpose8(u64::from_le_bytes(bytes));
        half.copy_from_slice(&turned.to_le_bytes());
    }
    blocks
}
