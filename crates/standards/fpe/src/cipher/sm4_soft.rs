//! SM4 (GB/T 32907-2016) in bit planes, and its key schedule for every backend.
//!
//! Eight blocks share the planes: bit `4 k + j` of plane `p` is bit `8 j + p` of one state word of
//! block `k`. The state stays in planes for all 32 rounds; rotations of a word become moves between
//! planes and inside groups of four bits.

use super::sbox;

/// The 32 round keys as words.
pub(super) type RoundKeys = [u32; 32];

/// One state word of eight blocks.
type Planes = [u32; 8];

/// FK of the standard, section 7.3.
pub(super) const SYSTEM: [u32; 4] = [0xa3b1_bac6, 0x56aa_3350, 0x677d_9197, 0xb270_22dc];

/// CK 0 of the standard, section 7.3.
pub(super) const FIRST_CONSTANT: u32 = 0x0007_0e15;

/// Key expansion (section 7.3) for any S-box on the four bytes of a word.
pub(super) fn expand(key: &[u8; 16], sub_word: impl Fn(u32) -> u32) -> RoundKeys {
    let mut k: [u32; 4] = core::array::from_fn(|i| word(key, i) ^ SYSTEM[i]);
    let mut constant = FIRST_CONSTANT;
    let mut keys = [0; 32];
    for round_key in &mut keys {
        let t = sub_word(k[1] ^ k[2] ^ k[3] ^ constant);
        let next = k[0] ^ t ^ t.rotate_left(13) ^ t.rotate_left(23);
        k = [k[1], k[2], k[3], next];
        *round_key = next;
        constant = next_constant(constant);
    }
    zeroize::Zeroize::zeroize(&mut k);
    keys
}

/// Byte `j` of CK `i` is `7 (4 i + j)` modulo 256: each byte grows by 28.
pub(super) const fn next_constant(constant: u32) -> u32 {
    let low = (constant & 0x00ff_00ff).wrapping_add(0x001c_001c) & 0x00ff_00ff;
    let high = (constant >> 8 & 0x00ff_00ff).wrapping_add(0x001c_001c) & 0x00ff_00ff;
    low | high << 8
}

/// State word `i` of a block: four bytes, the first on top.
pub(super) const fn word(block: &[u8; 16], i: usize) -> u32 {
    u32::from_be_bytes([
        block[4 * i],
        block[4 * i + 1],
        block[4 * i + 2],
        block[4 * i + 3],
    ])
}

/// The S-box on a word, by the circuit.
pub(super) fn sub_word(word: u32) -> u32 {
    let mut words = [0; 8];
    words[0] = word;
    unpack(&sbox::sm4(pack(&words)))[0]
}

/// Encrypts up to eight blocks in place.
pub(super) fn encrypt(keys: &RoundKeys, blocks: &mut [[u8; 16]]) {
    let mut x: [Planes; 4] = core::array::from_fn(|i| {
        let mut words = [0; 8];
        for (word_of, block) in words.iter_mut().zip(blocks.iter()) {
            *word_of = word(block, i);
        }
        pack(&words)
    });
    for &key in keys {
        let key = pack_key(key);
        let t = core::array::from_fn(|p| x[1][p] ^ x[2][p] ^ x[3][p] ^ key[p]);
        let f = spread(sbox::sm4(t));
        let next = core::array::from_fn(|p| x[0][p] ^ f[p]);
        x = [x[1], x[2], x[3], next];
    }
    for (i, planes) in x.iter().rev().enumerate() {
        for (block, out) in blocks.iter_mut().zip(unpack(planes)) {
            block[4 * i..4 * i + 4].copy_from_slice(&out.to_be_bytes());
        }
    }
}

/// The linear map L: b + b<<<2 + b<<<10 + b<<<18 + b<<<24.
#[inline(always)]
fn spread(b: Planes) -> Planes {
    let c = [up1(b[6]), up1(b[7]), b[0], b[1], b[2], b[3], b[4], b[5]];
    core::array::from_fn(|p| b[p] ^ c[p] ^ up1(c[p]) ^ up2(c[p]) ^ up3(b[p]))
}

/// Each byte of a word moves one place up.
#[inline(always)]
const fn up1(x: u32) -> u32 {
    x << 1 & 0xeeee_eeee | x >> 3 & 0x1111_1111
}

#[inline(always)]
const fn up2(x: u32) -> u32 {
    x << 2 & 0xcccc_cccc | x >> 2 & 0x3333_3333
}

#[inline(always)]
const fn up3(x: u32) -> u32 {
    x << 3 & 0x8888_8888 | x >> 1 & 0x7777_7777
}

fn pack_key(key: u32) -> Planes {
    let turned = sbox::transpose8(u64::from(key)).to_le_bytes();
    turned.map(|nibble| u32::from(nibble) * 0x1111_1111)
}

fn pack(words: &[u32; 8]) -> Planes {
    let mut planes = [0; 8];
    for (pair, shift) in words.chunks_exact(2).zip((0..32).step_by(8)) {
        let turned = sbox::transpose8(u64::from(pair[0]) | u64::from(pair[1]) << 32);
        for (plane, byte) in planes.iter_mut().zip(turned.to_le_bytes()) {
            *plane |= u32::from(byte) << shift;
        }
    }
    planes
}

fn unpack(planes: &Planes) -> [u32; 8] {
    let mut words = [0; 8];
    for (pair, at) in words.chunks_exact_mut(2).zip(0..) {
        let bytes = core::array::from_fn(|p| planes[p].to_le_bytes()[at]);
        let turned = sbox::transpose8(u64::from_le_bytes(bytes)).to_le_bytes();
        pair[0] = u32::from_le_bytes([turned[0], turned[1], turned[2], turned[3]]);
        pair[1] = u32::from_le_bytes([turned[4], turned[5], turned[6], turned[7]]);
    }
    words
}
