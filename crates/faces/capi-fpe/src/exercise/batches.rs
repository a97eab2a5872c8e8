//! Batches as arbitrary bytes describe them.
#![expect(unsafe_code, reason = "calls of the entries of a C library")]

use std::ptr;

use super::texts::strings;
use super::{Scene, Source, UNTOUCHED, judged};
use crate::batch::{Described, decrypt_batch, encrypt_batch};
use crate::boundary::OK;

/// The most records of a batch.
const RECORDS: usize = 40;

/// Where records begin and the last ends, in their order mostly; the last is the number of all elements, as C
/// programs have to see to.
fn offsets(source: &mut Source<'_>, records: usize, all: usize) -> Vec<usize> {
    let mut offsets: Vec<usize> = (0..=records)
        .map(|_| usize::from(source.byte()) % (all + 1))
        .collect();
    if source.byte() > 8 {
        offsets.sort_unstable();
    }
    if let (Some(first), true) = (offsets.first_mut(), source.byte() > 8) {
        *first = 0;
    }
    if let Some(last) = offsets.last_mut() {
        *last = all;
    }
    offsets
}

/// All tweaks of a batch, one after the other.
struct Tweaks {
    bytes: Vec<u8>,
    each: u32,
    offsets: Vec<usize>,
}

impl Tweaks {
    fn new(scene: &Scene, source: &mut Source<'_>, records: usize) -> Self {
        let each = source.among(&[0, 1]);
        let bytes = scene.tweak.repeat(records.max(1));
        let offsets = match source.byte() {
            0..64 => offsets(source, records, bytes.len()),
            _ => Vec::new(),
        };
        Self {
            bytes,
            each,
            offsets,
        }
    }
}

fn start_of<T>(list: &[T]) -> *const T {
    if list.is_empty() {
        ptr::null()
    } else {
        list.as_ptr()
    }
}

pub(super) fn of_batch(scene: &Scene, source: &mut Source<'_>) {
    let [alphabet, _] = strings(scene, source);
    let is_text = source.byte() < 96;
    let records = usize::from(source.byte()) % RECORDS;
    let length = usize::from(source.byte()) % 64;
    let all = records * length;
    let ends = match source.byte() {
        0..64 => offsets(source, records, all),
        _ => Vec::new(),
    };
    let width = source.among(&[0, 1, 2, 4]);
    let tweaks = Tweaks::new(scene, source, records);
    let described = Described {
        size: size_of::<Described>() + usize::from(source.byte() == 1),
        records,
        len: length,
        offsets: start_of(&ends),
        alphabet: if is_text {
            alphabet.as_ptr()
        } else {
            ptr::null()
        },
        tweak: scene.or_null(1, tweaks.bytes.as_ptr()),
        tweak_len: scene.tweak.len(),
        tweak_offsets: start_of(&tweaks.offsets),
        tweak_each: tweaks.each,
        width,
        threads: u32::from(source.byte() % 4),
    };
    let input = elements(scene, source, alphabet.as_bytes(), (is_text, width, all));
    let mut output = vec![u32::from_ne_bytes([UNTOUCHED; 4]); all];
    let before = output.clone();
    let into = scene
        .or_null(3, output.as_mut_ptr().cast_const())
        .cast_mut();
    let from = scene.or_null(4, input.as_ptr());
    let batch = scene.or_null(6, &raw const described);
    // SAFETY: pointers are NULL or have as much behind them as the description says, as every element has
    // four bytes; nothing overlaps.
    let made = unsafe { encrypt_batch(scene.ctx(), batch, from.cast(), into.cast()) };
    if judged(made, &output, &before) {
        // SAFETY: as above, in place.
        let back = unsafe { decrypt_batch(scene.ctx(), batch, into.cast(), into.cast()) };
        assert!(back == OK, "a batch does not come back");
        let bytes = |list: &[u32]| -> Vec<u8> {
            let wide = if is_text {
                1
            } else {
                usize::try_from(width.max(1)).unwrap_or(1)
            };
            let all = list.iter().flat_map(|element| element.to_ne_bytes());
            all.take(wide * list.len()).collect()
        };
        assert!(
            bytes(&output) == bytes(&input),
            "a batch comes back changed"
        );
    }
}

/// Elements of any width, of which most are digits or symbols.
fn elements(
    scene: &Scene,
    source: &mut Source<'_>,
    symbols: &[u8],
    (is_text, width, count): (bool, u32, usize),
) -> Vec<u32> {
    let mut bytes = vec![0; 4 * count];
    let wild = source.byte() == 0;
    let radix = scene.radix.max(1);
    let each = if is_text {
        1
    } else {
        usize::try_from(width).unwrap_or(1).clamp(1, 4)
    };
    for element in bytes.chunks_mut(each) {
        let digit = u32::from(source.byte()) % radix;
        let symbol = symbols.get(usize::from(source.byte()) % symbols.len().max(1));
        let value = match symbol {
            _ if wild => source.word(),
            Some(symbol) if is_text => u32::from(*symbol),
            _ => digit,
        };
        for (to, from) in element.iter_mut().zip(value.to_ne_bytes()) {
            *to = from;
        }
    }
    let words = bytes.as_chunks::<4>().0.iter();
    words.map(|word| u32::from_ne_bytes(*word)).collect()
}
