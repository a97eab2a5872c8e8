//! A share as a text of short lines, for a file or a sheet of paper.
//!
//! ```text
//! keywright seed share 1
//! set 000102030405060708090a0b0c0d0e0f
//! share 2 of 5
//! needed 3
//! data (64 digits a line)
//! check 1f2e3d4c
//! ```
//!
//! The check digits are the first four bytes of SHA-256 over all before their line. They find slips of the
//! pen; whether the shares are those that were handed out is shown when they are put together.

use keywright_encoding::hex;
use keywright_primitives::hash::sha256;
use keywright_secret::SecretBytes;

use super::{LONGEST, Plan, SHORTEST, Share, ShareError};

const FIRST_LINE: &str = "keywright seed share 1";

/// Digits in a line of data.
const DIGITS: usize = 64;

/// Bytes in the longest text: fixed lines, and four lines of data.
const LONGEST_TEXT: usize = 512;

impl Share {
    /// The text.
    #[must_use]
    pub fn to_text(&self) -> SecretBytes {
        let mut text = Vec::with_capacity(LONGEST_TEXT);
        let plan = self.plan;
        let front = format!(
            "{FIRST_LINE}\nset {}\nshare {} of {}\nneeded {}\n",
            hex::encode(&self.set),
            self.number,
            plan.count(),
            plan.needed()
        );
        text.extend_from_slice(front.as_bytes());
        for bytes in self.data.expose().chunks(DIGITS / 2) {
            let digits = SecretBytes::from_vec(hex::encode(bytes).into_bytes());
            text.extend_from_slice(b"data ");
            text.extend_from_slice(digits.expose());
            text.push(b'\n');
        }
        let check = check(&text);
        text.extend_from_slice(format!("check {check}\n").as_bytes());
        SecretBytes::from_vec(text)
    }

    /// Reads a text. Each share has one spelling.
    ///
    /// # Errors
    /// [`ShareError::NotAShare`], or [`ShareError::Damaged`] with the number of the share.
    pub fn parse(text: &str) -> Result<Self, ShareError> {
        let (number, read) = Self::read(text).ok_or(ShareError::NotAShare)?;
        let damaged = ShareError::Damaged { number };
        let share = read.ok_or(damaged)?;
        match share.to_text().expose() == text.as_bytes() {
            true => Ok(share),
            false => Err(damaged),
        }
    }

    /// The number, where there is one, and the share, where the rest is one too.
    fn read(text: &str) -> Option<(u8, Option<Self>)> {
        if text.len() > LONGEST_TEXT {
            return None;
        }
        let mut lines = text.lines();
        (lines.next()? == FIRST_LINE).then_some(())?;
        let set = lines.next()?.strip_prefix("set ")?;
        let (number, count) = lines.next()?.strip_prefix("share ")?.split_once(" of ")?;
        let (number, count) = (number.parse().ok()?, count.parse().ok()?);
        (1..=count).contains(&number).then_some(())?;
        let needed = lines.next()?.strip_prefix("needed ")?.parse().ok()?;
        let plan = Plan::new(needed, count).ok()?;
        let set = hex::decode_array(set).ok();
        let share = set.zip(data(lines)).map(|(set, data)| Self {
            set,
            number,
            plan,
            data,
        });
        Some((number, share))
    }
}

/// The bytes of all lines of data. What follows them is compared by whoever writes the share again.
fn data<'a>(lines: impl Iterator<Item = &'a str>) -> Option<SecretBytes> {
    let mut bytes = Vec::with_capacity(LONGEST);
    for line in lines.map_while(|line| line.strip_prefix("data ")) {
        let part = SecretBytes::from_vec(hex::decode(line).ok()?);
        // The room was taken beforehand: a vector that grows leaves what it held behind.
        (bytes.len() + part.len() <= LONGEST).then_some(())?;
        bytes.extend_from_slice(part.expose());
    }
    let bytes = SecretBytes::from_vec(bytes);
    (SHORTEST..=LONGEST).contains(&bytes.len()).then_some(bytes)
}

fn check(text: &[u8]) -> String {
    hex::encode(&sha256(text)[..4])
}
