//! Frames that reach the terminal whole.
//!
//! What is drawn is held until it is flushed, and goes out in one write between the marks of a synchronized update
//! (private mode 2026): a terminal that knows them shows nothing half drawn, another passes over them, and whoever
//! reads what the program prints knows where a screen ends.

use std::io::{self, Write};

const BEGIN: &[u8] = b"\x1b[?2026h";
const END: &[u8] = b"\x1b[?2026l";

/// Holds what is written until it is flushed.
pub(super) struct Frames<W> {
    out: W,
    held: Vec<u8>,
}

impl<W: Write> Frames<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            held: BEGIN.to_vec(),
        }
    }
}

impl<W: Write> Write for Frames<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.held.len() > BEGIN.len() {
            self.held.extend_from_slice(END);
            let written = self.out.write_all(&self.held);
            self.held.truncate(BEGIN.len());
            written?;
        }
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_one_write_between_its_marks_and_nothing_is_no_frame() {
        struct Writes(Vec<Vec<u8>>);
        impl Write for Writes {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.push(bytes.to_vec());
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut frames = Frames::new(Writes(Vec::new()));
        frames.flush().unwrap();
        for parts in [&["one", "two"][..], &["three"]] {
            for part in parts {
                frames.write_all(part.as_bytes()).unwrap();
            }
            frames.flush().unwrap();
            frames.flush().unwrap();
        }
        let expected = [
            "\x1b[?2026honetwo\x1b[?2026l",
            "\x1b[?2026hthree\x1b[?2026l",
        ];
        assert_eq!(
            frames.out.0,
            expected.map(|frame| frame.as_bytes().to_vec())
        );
    }

    #[test]
    fn a_frame_that_a_terminal_refuses_is_an_error_and_is_not_shown_later() {
        struct Gone(usize);
        impl Write for Gone {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                self.0 += 1;
                Err(io::Error::from(io::ErrorKind::BrokenPipe))
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut frames = Frames::new(Gone(0));
        frames.write_all(b"lost").unwrap();
        assert!(frames.flush().is_err());
        frames.flush().unwrap();
        assert_eq!(frames.out.0, 1);
    }
}
