//! Lines out of pieces of any size, none of them longer than is worth keeping.

/// The longest line that is read, in bytes; a record of the recorder has some hundreds.
pub const LONGEST_LINE: usize = 1 << 16;

/// How a line ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// By a line end.
    Whole,
    /// By the end of the log.
    Torn,
    /// By being too long: what is given is its beginning.
    Cut,
}

/// Puts lines together.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    held: Vec<u8>,
    /// The rest of a line that was too long is being passed over.
    skipping: bool,
}

impl Lines {
    /// Gives every line that ends in `bytes`, without its line end.
    pub(crate) fn push(&mut self, bytes: &[u8], mut each: impl FnMut(&[u8], End)) {
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = rest.split_at(at);
            rest = after.get(1..).unwrap_or_default();
            if self.skipping {
                self.skipping = false;
            } else if self.held.is_empty() && line.len() <= LONGEST_LINE {
                each(bare(line), End::Whole);
            } else if self.held.len() + line.len() > LONGEST_LINE {
                self.hold(line);
                each(&self.held, End::Cut);
            } else {
                self.held.extend_from_slice(line);
                each(bare(&self.held), End::Whole);
            }
            self.held.clear();
        }
        if self.skipping {
            return;
        }
        if self.held.len() + rest.len() > LONGEST_LINE {
            self.hold(rest);
            each(&self.held, End::Cut);
            self.held.clear();
            self.skipping = true;
        } else {
            self.held.extend_from_slice(rest);
        }
    }

    fn hold(&mut self, bytes: &[u8]) {
        let room = LONGEST_LINE.saturating_sub(self.held.len());
        self.held.extend(bytes.iter().take(room));
    }

    /// The line that has not ended.
    pub(crate) fn finish(&mut self, each: impl FnOnce(&[u8], End)) {
        if !self.held.is_empty() {
            let held = std::mem::take(&mut self.held);
            each(bare(&held), End::Torn);
        }
        self.skipping = false;
    }
}

fn bare(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: &[&[u8]]) -> Vec<(usize, End)> {
        let mut lines = Lines::default();
        let mut seen = Vec::new();
        for piece in pieces {
            lines.push(piece, |line, end| seen.push((line.len(), end)));
        }
        lines.finish(|line, end| seen.push((line.len(), end)));
        seen
    }

    #[test]
    fn lines_are_the_same_however_they_are_cut_into_pieces() {
        let text = b"one\r\ntwo\n\nfour".as_slice();
        let whole = all(&[text]);
        let expected = [
            (3, End::Whole),
            (3, End::Whole),
            (0, End::Whole),
            (4, End::Torn),
        ];
        assert_eq!(whole, expected);
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(all(&bytes), expected);
    }

    #[test]
    fn a_line_that_is_too_long_is_given_once_and_the_next_one_is_whole() {
        let mut text = vec![b'x'; 3 * LONGEST_LINE];
        text.extend_from_slice(b"\nnext\n");
        let expected = [(LONGEST_LINE, End::Cut), (4, End::Whole)];
        assert_eq!(all(&[&text]), expected);
        let pieces: Vec<&[u8]> = text.chunks(1000).collect();
        assert_eq!(all(&pieces), expected);
        // No line end at all: what is held stays bounded.
        assert_eq!(
            all(&[&text[..2 * LONGEST_LINE]]),
            [(LONGEST_LINE, End::Cut)]
        );
    }
}
