//! Frames on a socket or a pipe: a length as u32, then so many bytes. One order goes one way, one answer the other.
//!
//! A buffer is used again and again. What was in it is wiped after each use, and when it grows.

use std::io::{ErrorKind, Read, Write};

use keywright_secret::wipe;

/// Why nothing came, or nothing went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// The other end is gone.
    Ended,
    /// Whoever waits has no use for it any more.
    Late,
    /// The other end has had all the time that it gets.
    Hung,
    /// What came is no frame, or longer than it may be.
    Broken,
}

/// One frame on its way out or in.
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    used: usize,
}

impl Buffer {
    pub(crate) fn new() -> Self {
        Self {
            bytes: vec![0; PAGE],
            used: 0,
        }
    }

    /// Begins a frame that is written.
    pub(crate) fn begin(&mut self) {
        self.wipe();
        self.used = PREFIX;
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) {
        let end = self.used + bytes.len();
        if end > self.bytes.len() {
            self.grow(end.next_power_of_two());
        }
        if let Some(place) = self.bytes.get_mut(self.used..end) {
            place.copy_from_slice(bytes);
            self.used = end;
        }
    }

    pub(crate) fn put_u8(&mut self, number: u8) {
        self.put(&[number]);
    }

    pub(crate) fn put_u16(&mut self, number: u16) {
        self.put(&number.to_be_bytes());
    }

    pub(crate) fn put_u32(&mut self, number: u32) {
        self.put(&number.to_be_bytes());
    }

    pub(crate) fn put_u64(&mut self, number: u64) {
        self.put(&number.to_be_bytes());
    }

    /// A length and the bytes. What is too long for a length is too long for a frame, and does not go out.
    pub(crate) fn put_lp(&mut self, bytes: &[u8]) {
        self.put_u32(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        self.put(bytes);
    }

    /// What was written or read, without its length.
    pub(crate) fn body(&self) -> &[u8] {
        self.bytes.get(PREFIX..self.used).unwrap_or_default()
    }

    /// Overwrites what was in it. A buffer that has grown large is given back.
    pub(crate) fn wipe(&mut self) {
        let used = self.used.min(self.bytes.len());
        wipe(&mut self.bytes[..used]);
        self.used = 0;
        if self.bytes.len() > KEPT {
            self.bytes = vec![0; PAGE];
        }
    }

    fn grow(&mut self, room: usize) {
        let mut larger = vec![0; room];
        larger[..self.used].copy_from_slice(&self.bytes[..self.used]);
        wipe(&mut self.bytes[..self.used]);
        self.bytes = larger;
    }

    /// Sends the frame. `waited` is asked whether to go on whenever the stream has taken nothing for its time.
    pub(crate) fn send(
        &mut self,
        mut stream: impl Write,
        mut waited: impl FnMut() -> Option<Lost>,
    ) -> Result<(), Lost> {
        let length = self.used - PREFIX;
        if length > MOST {
            return Err(Lost::Broken);
        }
        let length = u32::try_from(length).map_err(|_| Lost::Broken)?;
        self.bytes[..PREFIX].copy_from_slice(&length.to_be_bytes());
        let mut sent = 0;
        while sent < self.used {
            match stream.write(&self.bytes[sent..self.used]) {
                Ok(0) => return Err(Lost::Ended),
                Ok(count) => sent += count,
                Err(error) => go_on(&error, &mut waited)?,
            }
        }
        Ok(())
    }

    /// Reads one frame of at most `most` bytes in place of what was here. More than one frame is none.
    pub(crate) fn receive(
        &mut self,
        mut stream: impl Read,
        most: usize,
        mut waited: impl FnMut() -> Option<Lost>,
    ) -> Result<(), Lost> {
        self.wipe();
        let mut end = PREFIX;
        loop {
            let whole = self.used >= PREFIX;
            if whole {
                let length = self.length();
                if length > most.min(MOST) {
                    return Err(Lost::Broken);
                }
                end = PREFIX + length;
                if self.used == end {
                    return Ok(());
                }
                if self.used > end {
                    return Err(Lost::Broken);
                }
                if end > self.bytes.len() {
                    self.grow(end);
                }
            }
            // Of a frame whose length is not known yet as much is read as there is room for; after that no more than
            // the frame has.
            let limit = if whole { end } else { self.bytes.len() };
            match stream.read(&mut self.bytes[self.used..limit]) {
                Ok(0) => return Err(Lost::Ended),
                Ok(count) => self.used += count,
                Err(error) => go_on(&error, &mut waited)?,
            }
        }
    }

    fn length(&self) -> usize {
        let prefix = self.bytes.first_chunk::<PREFIX>();
        prefix.map_or(0, |prefix| u32::from_be_bytes(*prefix) as usize)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.wipe();
    }
}

fn go_on(error: &std::io::Error, waited: &mut impl FnMut() -> Option<Lost>) -> Result<(), Lost> {
    match error.kind() {
        ErrorKind::Interrupted => Ok(()),
        ErrorKind::WouldBlock | ErrorKind::TimedOut => waited().map_or(Ok(()), Err),
        _ => Err(Lost::Ended),
    }
}

const PREFIX: usize = 4;
/// What a buffer begins with: most frames are shorter.
const PAGE: usize = 4096;
/// A buffer larger than this is not kept.
const KEPT: usize = 256 << 10;
/// No frame is longer: the longest item of a request, twice over.
pub(crate) const MOST: usize = 160 << 20;

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    fn pair() -> (UnixStream, UnixStream) {
        UnixStream::pair().unwrap()
    }

    fn never() -> Option<Lost> {
        None
    }

    fn written(body: &[u8]) -> Buffer {
        let mut buffer = Buffer::new();
        buffer.begin();
        buffer.put(body);
        buffer
    }

    #[test]
    fn frames_of_every_size_come_back() {
        for length in [0, 1, 4091, 4092, 4093, 8192, 300_000] {
            let body: Vec<u8> = (0..length).map(|at: usize| at.to_le_bytes()[0]).collect();
            let (ours, theirs) = pair();
            let sending = std::thread::spawn({
                let body = body.clone();
                move || written(&body).send(&theirs, never)
            });
            let mut buffer = Buffer::new();
            buffer.receive(&ours, MOST, never).unwrap();
            assert_eq!(buffer.body(), body);
            sending.join().unwrap().unwrap();
        }
    }

    #[test]
    fn what_is_cut_too_long_or_more_than_one_frame_is_refused() {
        let cases: [(&[u8], Lost); 6] = [
            (b"", Lost::Ended),
            (&[0, 0, 0], Lost::Ended),
            (&[0, 0, 0, 2, 9], Lost::Ended),
            (&[0, 0, 0, 101], Lost::Broken),
            (&[0xFF; 4], Lost::Broken),
            (&[0, 0, 0, 1, 9, 9], Lost::Broken),
        ];
        for (bytes, expected) in cases {
            let (ours, mut theirs) = pair();
            theirs.write_all(bytes).unwrap();
            drop(theirs);
            let mut buffer = Buffer::new();
            assert_eq!(
                buffer.receive(&ours, 100, never),
                Err(expected),
                "{bytes:?}"
            );
        }
    }

    #[test]
    fn whoever_waits_decides_for_how_long() {
        let (ours, _theirs) = pair();
        ours.set_read_timeout(Some(std::time::Duration::from_millis(1)))
            .unwrap();
        let mut times = 0;
        let waited = || {
            times += 1;
            (times == 3).then_some(Lost::Late)
        };
        let mut buffer = Buffer::new();
        assert_eq!(buffer.receive(&ours, 100, waited), Err(Lost::Late));
        assert_eq!(times, 3);
    }

    #[test]
    fn nothing_is_left_of_what_was_in_a_buffer() {
        let mut buffer = written(b"secret");
        let place = buffer.bytes.as_ptr();
        buffer.wipe();
        assert_eq!(buffer.bytes.as_ptr(), place);
        assert!(buffer.bytes.iter().all(|byte| *byte == 0) && buffer.body().is_empty());
        buffer.begin();
        buffer.put(&vec![1; KEPT + 1]);
        buffer.wipe();
        assert_eq!(buffer.bytes.len(), PAGE);
    }
}
