//! Tells from the bytes of a connection whether the client is in the middle of something it does
//! not finish, how many streams it resets, and how many frames it sends that ask for nothing.
//!
//! HTTP/2 (RFC 9113): section 3.4 preface, 4.1 frame head, 6.1 DATA, 6.2 and 6.10 header blocks, 6.4
//! RST_STREAM, 6.9 WINDOW_UPDATE. Only lengths, types and two flags are looked at; whether frames are
//! right is the protocol library's business, which sees the same bytes after us.
//!
//! A frame that carries no part of a request (PING, SETTINGS, PRIORITY, empty or padded DATA, frames of
//! unknown types) costs the client a few bytes and us a look, an answer or both, and no limit on requests sees
//! it. A WINDOW_UPDATE is such a frame too, unless something was asked or answered that it can belong to.
//!
//! HTTP/1.1: a byte that comes while no request is running begins a request's head.

/// What has been seen of a connection.
#[derive(Debug)]
pub(super) enum Watch {
    Http1(Head),
    Http2(Frames),
}

/// HTTP/1.1: whether a request's head has begun.
#[derive(Debug, Default)]
pub(super) struct Head {
    begun: bool,
    finished: u64,
}

/// HTTP/2: where in the stream of frames we are.
#[derive(Debug)]
pub(super) struct Frames {
    /// Bytes of the preface or of a payload still to come.
    skip: usize,
    head: [u8; FRAME_HEAD],
    head_length: usize,
    /// HEADERS has come without END_HEADERS.
    block_open: bool,
    kind: u8,
    finished: u64,
    resets: u32,
    /// Frames that ask for nothing.
    idle: u32,
    /// Bytes sent, and what requests stand for, that no window update has been counted against.
    owed: u32,
}

/// What a client has begun and not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfinished {
    /// A DATA frame.
    Data,
    /// A request's head, or any other frame.
    Head,
}

const FRAME_HEAD: usize = 9;
const PREFACE: usize = 24;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;

/// Bytes of answers that a client may give back to the window one by one frame: those that are known
/// give back thousands.
const PER_UPDATE: u32 = 512;
/// What the answer to a request stands for, however short it is.
const PER_REQUEST: u32 = 8 * PER_UPDATE;
/// A client that saves up for a flood gets this far.
const MOST_OWED: u32 = 8 << 20;

impl Watch {
    pub(super) fn http1() -> Self {
        Self::Http1(Head::default())
    }

    /// Begins inside the preface: a client that never sends one is unfinished, too.
    pub(super) fn http2() -> Self {
        Self::Http2(Frames {
            skip: PREFACE,
            head: [0; FRAME_HEAD],
            head_length: 0,
            block_open: false,
            kind: HEADERS,
            finished: 0,
            resets: 0,
            idle: 0,
            owed: 0,
        })
    }

    /// Looks at bytes that have just arrived.
    pub(super) fn feed(&mut self, bytes: &[u8], running: u32) {
        match self {
            Self::Http1(head) => head.begun |= running == 0 && !bytes.is_empty(),
            Self::Http2(frames) => frames.feed(bytes),
        }
    }

    /// A request has begun to run.
    pub(super) fn request(&mut self) {
        if let Self::Http1(head) = self {
            head.begun = false;
            head.finished += 1;
        }
    }

    /// What is unfinished, with a number that changes whenever something is finished.
    pub(super) fn unfinished(&self) -> Option<(Unfinished, u64)> {
        match self {
            Self::Http1(head) => head.begun.then_some((Unfinished::Head, head.finished)),
            Self::Http2(frames) => frames.unfinished(),
        }
    }

    /// Bytes have been sent.
    pub(super) fn sent(&mut self, bytes: usize) {
        if let Self::Http2(frames) = self {
            frames.owe(u32::try_from(bytes).unwrap_or(MOST_OWED));
        }
    }

    /// What the client has sent since it was last taken that no limit on requests sees.
    pub(super) fn take_noise(&mut self) -> Noise {
        let noise = self.noise();
        if let Self::Http2(frames) = self {
            (frames.resets, frames.idle) = (0, 0);
        }
        noise
    }

    /// As [`Self::take_noise`], and leaves it there.
    pub(super) fn noise(&self) -> Noise {
        match self {
            Self::Http1(_) => Noise::default(),
            Self::Http2(frames) => Noise {
                resets: frames.resets,
                idle: frames.idle,
            },
        }
    }
}

/// What a client sends that is no request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Noise {
    /// Streams that it has reset.
    pub(super) resets: u32,
    /// Frames that ask for nothing.
    pub(super) idle: u32,
}

impl Frames {
    fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.skip > 0 {
                let step = self.skip.min(bytes.len());
                self.skip -= step;
                bytes = bytes.get(step..).unwrap_or_default();
                if self.skip == 0 {
                    self.finish();
                }
                continue;
            }
            let step = (FRAME_HEAD - self.head_length).min(bytes.len());
            let (now, later) = bytes.split_at(step);
            if let Some(space) = self.head.get_mut(self.head_length..self.head_length + step) {
                space.copy_from_slice(now);
            }
            self.head_length += step;
            bytes = later;
            if self.head_length == FRAME_HEAD {
                self.begin();
            }
        }
    }

    /// A frame's head is complete.
    fn begin(&mut self) {
        let [a, b, c, kind, flags, ..] = self.head;
        self.head_length = 0;
        self.skip = usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c);
        self.kind = kind;
        match kind {
            HEADERS | CONTINUATION => {
                self.block_open = flags & END_HEADERS == 0;
                if kind == HEADERS {
                    self.owe(PER_REQUEST);
                }
            }
            RST_STREAM => self.resets = self.resets.saturating_add(1),
            DATA if flags & PADDED == 0 && (self.skip > 0 || flags & END_STREAM != 0) => {}
            WINDOW_UPDATE if self.owed >= PER_UPDATE => self.owed -= PER_UPDATE,
            _ => self.idle = self.idle.saturating_add(1),
        }
        if self.skip == 0 {
            self.finish();
        }
    }

    fn owe(&mut self, bytes: u32) {
        self.owed = self.owed.saturating_add(bytes).min(MOST_OWED);
    }

    fn finish(&mut self) {
        // A frame inside an open block finishes nothing: dripping CONTINUATION is one long head.
        self.finished += u64::from(!self.block_open);
    }

    fn unfinished(&self) -> Option<(Unfinished, u64)> {
        let what = match (self.block_open, self.skip, self.head_length) {
            (false, 0, 0) => return None,
            (false, 1.., _) if self.kind == DATA => Unfinished::Data,
            _ => Unfinished::Head,
        };
        Some((what, self.finished))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, payload: usize) -> Vec<u8> {
        let length = u32::try_from(payload).unwrap().to_be_bytes();
        let mut frame = vec![length[1], length[2], length[3], kind, flags, 0, 0, 0, 1];
        frame.resize(FRAME_HEAD + payload, 0xAA);
        frame
    }

    fn after_preface() -> Watch {
        let mut watch = Watch::http2();
        assert_eq!(watch.unfinished(), Some((Unfinished::Head, 0)));
        watch.feed(&[b'x'; PREFACE], 0);
        assert_eq!(watch.unfinished(), None);
        watch
    }

    #[test]
    fn frames_are_told_apart_however_they_are_cut() {
        let mut bytes = Vec::new();
        for (kind, flags, payload) in [(HEADERS, END_HEADERS, 20), (DATA, 1, 0), (4, 0, 6)] {
            bytes.extend(frame(kind, flags, payload));
        }
        bytes.extend(frame(RST_STREAM, 0, 4));
        for step in 1..bytes.len() {
            let mut watch = after_preface();
            bytes.chunks(step).for_each(|part| watch.feed(part, 1));
            assert_eq!(watch.unfinished(), None, "{step}");
            let noise = Noise { resets: 1, idle: 1 };
            assert_eq!(watch.take_noise(), noise, "{step}");
            assert_eq!(watch.noise(), Noise::default());
        }
    }

    fn idle_after(watch: &mut Watch, bytes: &[u8]) -> u32 {
        watch.feed(bytes, 1);
        watch.take_noise().idle
    }

    #[test]
    fn frames_that_ask_for_nothing_are_counted_and_others_are_not() {
        let mut watch = after_preface();
        // PRIORITY, SETTINGS, PING, GOAWAY, and types that nobody knows.
        for kind in [2, 4, 6, 7, 10, 0x40, 0xff] {
            assert_eq!(idle_after(&mut watch, &frame(kind, 0, 8)), 1, "{kind}");
        }
        assert_eq!(idle_after(&mut watch, &frame(DATA, 0, 0)), 1);
        assert_eq!(idle_after(&mut watch, &frame(DATA, PADDED, 3)), 1);
        for (kind, flags, payload) in [
            (HEADERS, END_HEADERS, 20),
            (HEADERS, 0, 20),
            (CONTINUATION, END_HEADERS, 1),
            (DATA, 0, 1),
            (DATA, END_STREAM, 0),
        ] {
            let bytes = frame(kind, flags, payload);
            assert_eq!(idle_after(&mut watch, &bytes), 0, "{kind} {flags}");
        }
    }

    #[test]
    fn window_updates_are_free_for_what_was_asked_and_answered() {
        let updates = |count: usize| frame(WINDOW_UPDATE, 0, 4).repeat(count);
        let mut watch = after_preface();
        assert_eq!(idle_after(&mut watch, &updates(5)), 5, "nothing was asked");
        watch.feed(&frame(HEADERS, END_HEADERS, 20), 0);
        assert_eq!(idle_after(&mut watch, &updates(9)), 1);
        watch.sent(10 * PER_UPDATE as usize);
        assert_eq!(idle_after(&mut watch, &updates(12)), 2);
        watch.sent(usize::MAX);
        watch.sent(usize::MAX);
        let most = (MOST_OWED / PER_UPDATE) as usize;
        assert_eq!(idle_after(&mut watch, &updates(most + 3)), 3);
    }

    #[test]
    fn every_cut_frame_is_unfinished_and_keeps_its_number() {
        let bytes = frame(DATA, 0, 30);
        let mut watch = after_preface();
        let (_, number) = {
            watch.feed(&bytes[..1], 1);
            watch.unfinished().unwrap()
        };
        for byte in &bytes[1..bytes.len() - 1] {
            watch.feed(std::slice::from_ref(byte), 1);
            assert_eq!(watch.unfinished().unwrap().1, number);
        }
        assert_eq!(watch.unfinished().unwrap().0, Unfinished::Data);
        watch.feed(&bytes[bytes.len() - 1..], 1);
        assert_eq!(watch.unfinished(), None);
    }

    #[test]
    fn dripping_continuation_frames_are_one_unfinished_head() {
        let mut watch = after_preface();
        watch.feed(&frame(HEADERS, 0, 5), 0);
        let begun = watch.unfinished();
        assert_eq!(begun.unwrap().0, Unfinished::Head);
        for _ in 0..100 {
            watch.feed(&frame(CONTINUATION, 0, 1), 0);
            assert_eq!(watch.unfinished(), begun);
        }
        watch.feed(&frame(CONTINUATION, END_HEADERS, 1), 0);
        assert_eq!(watch.unfinished(), None);
    }

    #[test]
    fn a_head_of_http1_begins_with_a_byte_between_requests() {
        let mut watch = Watch::http1();
        assert_eq!(watch.unfinished(), None);
        watch.feed(b"G", 0);
        let first = watch.unfinished().unwrap();
        watch.request();
        watch.feed(b"body", 1);
        assert_eq!(watch.unfinished(), None);
        watch.feed(b"G", 0);
        assert_ne!(watch.unfinished().unwrap(), first);
    }
}
