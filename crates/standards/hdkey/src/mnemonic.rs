//! Words for seeds: BIP-39, and what the library of Identus makes of the same words.
//!
//! A [`Mnemonic`] is English and its checksum fits. [`phrase_seed`] takes phrases of all ten lists of BIP-39, and
//! [`apollo_seed`] English ones, for which it puts the passphrase alone where BIP-39 has a prefix. Both check the
//! number of words and the checksum unless the caller asks for [`PhraseCheck::Skip`]: a seed of a mistyped phrase
//! is another seed, and that of no words at all is known to the world.
//!
//! The time that words take, in either direction, tells how many there are and how long each is, and not
//! which they are.

use std::num::NonZeroU32;

use keywright_primitives::hash::sha256;
use keywright_primitives::kdf::pbkdf2_sha512;
use keywright_primitives::random::RandomStream;
use keywright_secret::{Secret, SecretBytes, wipe, wipe_vec};
use unicode_normalization::UnicodeNormalization as _;

use crate::Error;
use crate::lists::LISTS;
use crate::scheme::SeedScheme;
use crate::seed::Seed;
use crate::words::{LETTERS, place, word};

/// Words in the longest mnemonic.
const MOST: usize = 24;

/// Rounds of PBKDF2, by BIP-39 and by Identus.
const ROUNDS: NonZeroU32 = NonZeroU32::MIN.saturating_add(2_047);

/// The salts under which seeds of Identus wallets are known to exist: the cloud agent's, the TypeScript
/// SDK's with an empty passphrase, the library's default, and the SDK's without any passphrase.
pub const APOLLO_SALTS: [&str; 4] = ["", "mnemonic", "AtalaPrism", "mnemonicundefined"];

/// How many words: each three stand for 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "BIP-39 knows these five")]
pub enum WordCount {
    /// 128 bits.
    Twelve,
    /// 160 bits.
    Fifteen,
    /// 192 bits.
    Eighteen,
    /// 224 bits.
    TwentyOne,
    /// 256 bits.
    TwentyFour,
}

/// Why words are no mnemonic. Words count from 1; none is repeated here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MnemonicError {
    /// Another number of words.
    #[error("a mnemonic has 12, 15, 18, 21 or 24 words, not {found}")]
    WordCount {
        /// Words given.
        found: usize,
    },
    /// A word that is not on the list.
    #[error("word {position} is not on the English list")]
    UnknownWord {
        /// The word.
        position: usize,
    },
    /// A word that is not on the list that the words before it are on.
    #[error("word {position} is not on the BIP-39 word list of the words before it")]
    UnlistedWord {
        /// The word.
        position: usize,
    },
    /// The checksum, which is in the last word, does not fit.
    #[error("the checksum in word {position} does not fit the words before it")]
    Checksum {
        /// The last word.
        position: usize,
    },
    /// Entropy of another length.
    #[error("a mnemonic holds 16, 20, 24, 28 or 32 bytes, not {found}")]
    EntropyLength {
        /// Bytes given.
        found: usize,
    },
}

/// Whether the phrase of a seed is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third way")]
pub enum PhraseCheck {
    /// The number of words, their list and the checksum.
    Require,
    /// Any words: for phrases of wallets that did not check them either.
    Skip,
}

/// English words whose checksum fits.
pub struct Mnemonic {
    /// 16 to 32 bytes.
    entropy: SecretBytes,
}

impl WordCount {
    /// Every number of words.
    pub const ALL: [Self; 5] = [
        Self::Twelve,
        Self::Fifteen,
        Self::Eighteen,
        Self::TwentyOne,
        Self::TwentyFour,
    ];

    /// The number.
    #[must_use]
    pub const fn words(self) -> usize {
        match self {
            Self::Twelve => 12,
            Self::Fifteen => 15,
            Self::Eighteen => 18,
            Self::TwentyOne => 21,
            Self::TwentyFour => 24,
        }
    }

    const fn entropy_len(self) -> usize {
        self.words() / 3 * 4
    }
}

impl Mnemonic {
    /// New words.
    ///
    /// # Errors
    /// [`Error::Backend`] without randomness.
    pub fn generate(count: WordCount, random: &mut RandomStream) -> Result<Self, Error> {
        let mut entropy = SecretBytes::zeroed(count.entropy_len());
        random.fill(entropy.expose_mut())?;
        Ok(Self { entropy })
    }

    /// The words for this entropy.
    ///
    /// # Errors
    /// [`MnemonicError::EntropyLength`] unless there are 16, 20, 24, 28 or 32 bytes.
    pub fn from_entropy(entropy: &[u8]) -> Result<Self, MnemonicError> {
        let found = entropy.len();
        match WordCount::ALL
            .iter()
            .any(|count| count.entropy_len() == found)
        {
            true => Ok(Self {
                entropy: SecretBytes::from_vec(entropy.to_vec()),
            }),
            false => Err(MnemonicError::EntropyLength { found }),
        }
    }

    /// Reads words with white space between them.
    ///
    /// # Errors
    /// [`MnemonicError`]: which word is wrong, never the word itself.
    pub fn parse(text: &str) -> Result<Self, MnemonicError> {
        let normal = normalised(text);
        let found = words_of(&normal).count();
        let count = WordCount::ALL
            .into_iter()
            .find(|count| count.words() == found);
        let count = count.ok_or(MnemonicError::WordCount { found })?;
        let mut bits = PhraseBits::new(count);
        for (number, word) in words_of(&normal).enumerate() {
            let position = number + 1;
            let place = place(word).ok_or(MnemonicError::UnknownWord { position })?;
            bits.put(number, place);
        }
        Self::from_entropy(bits.checked_entropy()?)
    }

    /// The entropy.
    #[must_use]
    pub fn entropy(&self) -> &[u8] {
        self.entropy.expose()
    }

    /// How many words there are.
    #[must_use]
    pub fn word_count(&self) -> usize {
        self.entropy.len() / 4 * 3
    }

    /// The words with a space between each two, as UTF-8.
    #[must_use]
    pub fn phrase(&self) -> SecretBytes {
        let entropy = self.entropy.expose();
        let mut bits = SecretBytes::zeroed(entropy.len() + 1);
        bits.expose_mut()[..entropy.len()].copy_from_slice(entropy);
        bits.expose_mut()[entropy.len()] = sha256(entropy)[0];
        let mut phrase = Vec::with_capacity(MOST * (LETTERS + 1));
        for number in 0..self.word_count() {
            if number > 0 {
                phrase.push(b' ');
            }
            let mut word = word(take_bits(bits.expose(), number));
            phrase.extend(word.iter().filter(|letter| **letter != 0));
            wipe(&mut word);
        }
        SecretBytes::from_vec(phrase)
    }

    /// The seed of BIP-39 under a passphrase, which may be empty.
    #[must_use]
    pub fn to_seed(&self, passphrase: &str) -> Seed {
        stretched(&self.phrase(), passphrase)
    }
}

impl std::fmt::Debug for Mnemonic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mnemonic({} words)", self.word_count())
    }
}

/// The seed of BIP-39 for a phrase of any of the ten lists, under a passphrase, which may be empty.
///
/// # Errors
/// [`MnemonicError`]: which word is wrong, never the word itself. With [`PhraseCheck::Skip`] only
/// [`MnemonicError::WordCount`], without any word.
pub fn phrase_seed(
    phrase: &str,
    passphrase: &str,
    check: PhraseCheck,
) -> Result<Seed, MnemonicError> {
    let normal = normalised(phrase);
    match check {
        PhraseCheck::Require => check_phrase(&normal)?,
        PhraseCheck::Skip => check_not_empty(&normal)?,
    }
    Ok(stretched(&joined(&normal), passphrase))
}

/// The seed that the library of Identus makes of English words: the salt is `passphrase` as it is.
///
/// # Errors
/// [`MnemonicError::UnknownWord`] for a word that is not on the list; without [`PhraseCheck::Skip`] all of
/// [`Mnemonic::parse`]; [`MnemonicError::WordCount`] without any word.
pub fn apollo_seed(
    words: &str,
    passphrase: &str,
    check: PhraseCheck,
) -> Result<Seed, MnemonicError> {
    let bytes = SecretBytes::from_vec(words.as_bytes().to_vec());
    for (number, word) in words_of(&bytes).enumerate() {
        let position = number + 1;
        place(word).ok_or(MnemonicError::UnknownWord { position })?;
    }
    check_not_empty(&bytes)?;
    if check == PhraseCheck::Require {
        Mnemonic::parse(words)?;
    }
    let seed = pbkdf2(joined(&bytes).expose(), passphrase.as_bytes());
    Ok(Seed::made(&seed, SeedScheme::Apollo))
}

fn check_not_empty(words: &SecretBytes) -> Result<(), MnemonicError> {
    match words_of(words).next() {
        Some(_) => Ok(()),
        None => Err(MnemonicError::WordCount { found: 0 }),
    }
}

/// Checks number of words, list and checksum. Lists share words, so each list is tried; of several reasons that of
/// the list with the most words before the first unknown one is returned.
fn check_phrase(words: &SecretBytes) -> Result<(), MnemonicError> {
    let found = words_of(words).count();
    let count = WordCount::ALL
        .into_iter()
        .find(|count| count.words() == found);
    let count = count.ok_or(MnemonicError::WordCount { found })?;
    let mut furthest = 1;
    let mut complete = false;
    for list in &*LISTS {
        let mut bits = PhraseBits::new(count);
        let mut known = 0;
        for word in words_of(words) {
            let Some(place) = list.place(word) else {
                break;
            };
            bits.put(known, place);
            known += 1;
        }
        if known == found {
            if bits.checked_entropy().is_ok() {
                return Ok(());
            }
            complete = true;
        }
        furthest = furthest.max(known + 1);
    }
    match complete {
        true => Err(MnemonicError::Checksum { position: found }),
        false => Err(MnemonicError::UnlistedWord { position: furthest }),
    }
}

/// The bits of a phrase: eleven a word, behind each other; the last bits are the checksum.
struct PhraseBits {
    bits: SecretBytes,
    count: WordCount,
}

impl PhraseBits {
    fn new(count: WordCount) -> Self {
        Self {
            bits: SecretBytes::zeroed(MOST * 11 / 8),
            count,
        }
    }

    fn put(&mut self, number: usize, place: u16) {
        put_bits(self.bits.expose_mut(), number, place);
    }

    /// The entropy, if the checksum is that of it.
    fn checked_entropy(&self) -> Result<&[u8], MnemonicError> {
        let words = self.count.words();
        let (entropy, rest) = self.bits.expose().split_at(self.count.entropy_len());
        let shift = 8 - words / 3;
        // The longest checksum has eight bits, so it lies in one byte.
        match rest.first().map(|byte| byte >> shift) == Some(sha256(entropy)[0] >> shift) {
            true => Ok(entropy),
            false => Err(MnemonicError::Checksum { position: words }),
        }
    }
}

/// The words are joined by one space already.
fn stretched(words: &SecretBytes, passphrase: &str) -> Seed {
    let passphrase = normalised(passphrase);
    let mut salt = Vec::with_capacity(8 + passphrase.len());
    salt.extend_from_slice(b"mnemonic");
    salt.extend_from_slice(passphrase.expose());
    let seed = pbkdf2(words.expose(), &salt);
    wipe_vec(&mut salt);
    Seed::made(&seed, SeedScheme::Bip39)
}

fn pbkdf2(words: &[u8], salt: &[u8]) -> Secret<64> {
    Secret::from_fill(|seed| pbkdf2_sha512(words, salt, ROUNDS, seed))
}

/// NFKD. The length is counted first, so that growing leaves no copy behind.
fn normalised(text: &str) -> SecretBytes {
    let length = text.nfkd().map(char::len_utf8).sum();
    let mut normal = String::with_capacity(length);
    normal.extend(text.nfkd());
    SecretBytes::from_vec(normal.into_bytes())
}

fn words_of(text: &SecretBytes) -> impl Iterator<Item = &str> {
    // Both callers have made these bytes of a text.
    let text = std::str::from_utf8(text.expose()).unwrap_or_default();
    text.split_whitespace()
}

fn joined(text: &SecretBytes) -> SecretBytes {
    let mut joined = Vec::with_capacity(text.len());
    for word in words_of(text) {
        if !joined.is_empty() {
            joined.push(b' ');
        }
        joined.extend_from_slice(word.as_bytes());
    }
    SecretBytes::from_vec(joined)
}

/// Writes eleven bits at the place of a word.
fn put_bits(bits: &mut [u8], number: usize, value: u16) {
    let start = number * 11;
    // At most three bytes are touched; the shift puts the eleven bits where they belong in them.
    let shifted = u32::from(value) << (24 - 11 - start % 8);
    for (byte, part) in bits
        .iter_mut()
        .skip(start / 8)
        .zip(&shifted.to_be_bytes()[1..])
    {
        *byte |= part;
    }
}

/// Reads eleven bits at the place of a word; what lies beyond the end is zero.
fn take_bits(bits: &[u8], number: usize) -> u16 {
    let start = number * 11;
    let byte = |offset: usize| u32::from(bits.get(start / 8 + offset).copied().unwrap_or(0));
    let window = byte(0) << 16 | byte(1) << 8 | byte(2);
    let value = window >> (24 - 11 - start % 8) & 0x7FF;
    u16::try_from(value).unwrap_or_default()
}
