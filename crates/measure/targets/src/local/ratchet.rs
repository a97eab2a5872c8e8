//! The Double Ratchet with encrypted headers, in memory: hedged sessions, whose packets are 8 bytes longer
//! than those of fenced ones and need no counter.
//!
//! | row | one operation |
//! |---|---|
//! | `ratchet.first` | both ends of a session are made, and one message of 128 bytes is sealed and opened |
//! | `ratchet.session.10k`, `ratchet.session.1000k` | the same with 10 and 1,000 messages of 1 KiB in one direction |
//! | `ratchet.encrypt.1k`, `ratchet.decrypt.1k` | a message in a chain |
//! | `ratchet.message.1k` | both |
//! | `ratchet.pingpong.1k` | a message and its answer, each with a turn of the ratchet, sealed and opened |
//! | `ratchet.floor.pingpong.1k` | what that cannot do without: two key generations, four agreements, four seals of the texts |
//! | `ratchet.sessions.1k` | as `ratchet.message.1k`, in one of 256 sessions after the other |
//! | `ratchet.scaling.1k` | a figure: how many times as many messages two threads carry as one, each in sessions of its own |
//! | `ratchet.trend.1k` | a figure: how many times as long the last 200 of 1,000 messages in one direction take as the first |
//! | `ratchet.forged.1k` | a packet of nobody's, refused by a session that has seven header keys to try |
//! | `ratchet.forged.opens.1k` | a figure: how many openings of headers that costs at most, if it costs nothing else |
//!
//! Making a session includes reading the responder's prekey. For sealing and opening alone a chain is taken
//! back to where it was after sixteen messages; the copying of 32 bytes is timed with it.

#[cfg(feature = "peers")]
pub(super) mod peers;
pub(super) mod run;

use keywright_clock::WallTime;
use keywright_measure::{Fault, TargetError, Worker};
use keywright_primitives::aead::{TAG_LEN, Tag, XChaCha20Poly1305};
use keywright_primitives::agreement::{X25519PrivateKey, X25519PublicKey};
use keywright_primitives::random::RandomStream;
use keywright_ratchet::{
    Context, Error, Message, Mode, Packet, Session, SessionSecret, Start, hazmat,
};
use keywright_secret::Secret;

use super::row::{Row, Seeded, refused, rejected};
use super::worker::{Ring, answered};

const NOW: WallTime = WallTime::from_unix_seconds(1_800_000_000);
const KIB: usize = 1 << 10;
/// Two to this many sessions are used in turn.
const SESSIONS_LOG2: u32 = 8;

/// What a handshake gives to both sides.
struct Handshake {
    secret: Secret<96>,
    prekey: Secret<32>,
    public: [u8; 32],
}

impl Handshake {
    fn draw(seeded: &mut Seeded) -> Result<Self, Error> {
        let prekey = seeded.secret();
        let public = X25519PrivateKey::from_bytes(&prekey)?.public_bytes()?;
        Ok(Self {
            secret: seeded.secret(),
            prekey,
            public,
        })
    }

    fn start(&self) -> Start<'static> {
        let secret = Secret::from_fill(|out| *out = *self.secret.expose());
        Start {
            secret: SessionSecret::new(secret),
            context: Context {
                initiator: b"initiator",
                responder: b"responder",
                transcript: b"measured",
            },
            mode: Mode::Hedged,
        }
    }
}

/// Two ends of a session and the packet between them.
struct Pair {
    one: Session,
    other: Session,
    random: RandomStream,
    packet: Vec<u8>,
}

impl Pair {
    fn make(handshake: &Handshake) -> Result<Self, Error> {
        let mut random = RandomStream::new()?;
        let one = Session::initiate(handshake.start(), &handshake.public, &mut random)?;
        let prekey = X25519PrivateKey::from_bytes(&handshake.prekey)?;
        let other = Session::respond(handshake.start(), prekey, &mut random)?;
        Ok(Self {
            one,
            other,
            random,
            packet: Vec::new(),
        })
    }

    /// Both have sent and received, and `one` has a chain to go on with.
    fn acquainted(row: &Row<'_>) -> Result<Self, TargetError> {
        let made = || {
            let mut pair = Self::make(&Handshake::draw(&mut row.seeded())?)?;
            let (text, mut out) = ([0; 64], [0; 64]);
            for _ in 0..3 {
                pair.carry(&text, &mut out)?;
                pair.turn_round();
            }
            pair.turn_round();
            pair.carry(&text, &mut out)?;
            Ok::<_, Error>(pair)
        };
        made().map_err(|error| row.fails(error))
    }

    fn turn_round(&mut self) {
        std::mem::swap(&mut self.one, &mut self.other);
    }

    #[inline]
    fn seal(&mut self, text: &[u8]) -> Result<(), Error> {
        self.packet.resize(self.one.packet_len(text.len()), 0);
        let context = b"";
        let message = Message { text, context };
        self.one
            .seal(&message, NOW, &mut self.random, &mut self.packet)?;
        Ok(())
    }

    #[inline]
    fn open(&mut self, out: &mut [u8]) -> Result<(), Error> {
        let packet = Packet {
            bytes: &self.packet,
            context: b"",
        };
        self.other.open(&packet, NOW, out)?;
        Ok(())
    }

    /// A message of `one` arrives.
    #[inline]
    fn carry(&mut self, text: &[u8], out: &mut [u8]) -> Result<(), Error> {
        self.seal(text)?;
        self.open(out)
    }
}

/// Texts, each its own answer.
type Texts = Ring<(Vec<u8>, Vec<u8>)>;

fn texts(row: &Row<'_>, length: usize) -> Result<Texts, TargetError> {
    let mut seeded = row.seeded();
    Ring::fill(4, || {
        let text = seeded.bytes(length);
        Ok((text.clone(), text))
    })
}

/// A session and its first message.
pub(super) fn first(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    new_session(row, row.bytes, 1)
}

/// A session and ten messages.
pub(super) fn ten(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    new_session(row, KIB, 10)
}

/// A session and a thousand messages.
pub(super) fn thousand(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    new_session(row, KIB, 1_000)
}

fn new_session(
    row: &Row<'_>,
    length: usize,
    messages: u32,
) -> Result<Box<dyn Worker>, TargetError> {
    let handshake = Handshake::draw(&mut row.seeded()).map_err(|error| row.fails(error))?;
    let act = move |text: &Vec<u8>, out: &mut Vec<u8>| {
        out.resize(text.len(), 0);
        let mut pair = Pair::make(&handshake).map_err(refused)?;
        for _ in 0..messages {
            pair.carry(text, out).map_err(rejected)?;
        }
        Ok(())
    };
    Ok(answered(texts(row, length)?, vec![0; length], act))
}

/// Sealed in a chain. The answers are opened by the other end before anything is timed.
pub(super) fn encrypt(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let (mut pair, ring) = sixteen(row)?;
    let start = hazmat::mark(&pair.one);
    let act = move |(number, text): &(usize, Vec<u8>), out: &mut Vec<u8>| {
        if *number == 0 {
            hazmat::return_to(&mut pair.one, &start);
        }
        std::mem::swap(&mut pair.packet, out);
        let sealed = pair.seal(text);
        std::mem::swap(&mut pair.packet, out);
        sealed.map_err(refused)
    };
    let ring = mapped(ring, |(number, text, packet)| ((number, text), packet))?;
    Ok(answered(ring, Vec::new(), act))
}

/// Opened in a chain.
pub(super) fn decrypt(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let (mut pair, ring) = sixteen(row)?;
    let start = hazmat::mark(&pair.other);
    let act = move |(number, packet): &(usize, Vec<u8>), out: &mut Vec<u8>| {
        if *number == 0 {
            hazmat::return_to(&mut pair.other, &start);
        }
        let packet = Packet {
            bytes: packet,
            context: b"",
        };
        pair.other
            .open(&packet, NOW, out)
            .map(|_| ())
            .map_err(rejected)
    };
    let ring = mapped(ring, |(number, text, packet)| ((number, packet), text))?;
    Ok(answered(ring, vec![0; row.bytes], act))
}

type Sixteen = Vec<(usize, Vec<u8>, Vec<u8>)>;

/// Sixteen texts and their packets, shown to open; the pair stands where it stood before them.
fn sixteen(row: &Row<'_>) -> Result<(Pair, Sixteen), TargetError> {
    let mut pair = Pair::acquainted(row)?;
    let (from, to) = (hazmat::mark(&pair.one), hazmat::mark(&pair.other));
    let mut seeded = row.seeded();
    let mut made = Vec::new();
    for number in 0..16 {
        let text = seeded.bytes(row.bytes);
        let mut out = vec![0; row.bytes];
        let carried = pair.carry(&text, &mut out);
        carried.map_err(|error| row.fails(error))?;
        if out != text {
            return Err(row.fails("a packet opens to another text"));
        }
        made.push((number, text, pair.packet.clone()));
    }
    hazmat::return_to(&mut pair.one, &from);
    hazmat::return_to(&mut pair.other, &to);
    Ok((pair, made))
}

fn mapped<I>(
    sixteen: Sixteen,
    part: impl Fn((usize, Vec<u8>, Vec<u8>)) -> I,
) -> Result<Ring<I>, TargetError> {
    let mut rest = sixteen.into_iter();
    Ring::fill(4, || Ok(part(rest.next().unwrap_or_default())))
}

/// Sealed and opened in a chain.
pub(super) fn message(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut pair = Pair::acquainted(row)?;
    let act = move |text: &Vec<u8>, out: &mut Vec<u8>| pair.carry(text, out).map_err(rejected);
    Ok(answered(texts(row, row.bytes)?, vec![0; row.bytes], act))
}

/// A message and its answer. The output is what the second one arrived as; it was made of the first.
pub(super) fn pingpong(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut pair = Pair::acquainted(row)?;
    let mut between = vec![0; row.bytes];
    let act = move |text: &Vec<u8>, out: &mut Vec<u8>| {
        pair.turn_round();
        pair.carry(text, &mut between).map_err(rejected)?;
        pair.turn_round();
        pair.carry(&between, out).map_err(rejected)
    };
    Ok(answered(texts(row, row.bytes)?, vec![0; row.bytes], act))
}

/// Two keys made, two agreements with each, and four texts sealed: no ping-pong can do without. Judged by what
/// the last agreement and the last sealing give.
pub(super) fn floor_pingpong(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let fails = |error: keywright_primitives::Error| row.fails(error);
    let mut draw = || X25519PrivateKey::from_bytes(&seeded.secret()).map_err(fails);
    let (own, peer) = (draw()?, draw()?);
    let (ours, theirs) = (
        own.public_key().map_err(fails)?,
        peer.public_key().map_err(fails)?,
    );
    let secret = peer.agree(&ours).map_err(|error| row.fails(error))?;
    let cipher = XChaCha20Poly1305::new(&seeded.array());
    let ring = Ring::fill(4, || {
        let text = seeded.bytes(row.bytes);
        let tag = cipher.seal(&[4; 24], &[], &mut text.clone());
        let tag: Tag = tag.map_err(|error| row.fails(error))?;
        let secret = Secret::from_fill(|out| *out = *secret.expose());
        Ok((text, (secret, tag)))
    })?;
    let mut buffers: [Vec<u8>; 4] = Default::default();
    let act = move |text: &Vec<u8>, out: &mut (Secret<32>, Tag)| {
        floor_of_two(&own, &theirs, out)?;
        for (nonce, buffer) in (1..).zip(&mut buffers) {
            buffer.clone_from(text);
            let nonce = [nonce; 24];
            out.1 = cipher.seal(&nonce, &[], buffer).map_err(refused)?;
        }
        std::hint::black_box(&mut buffers);
        Ok(())
    };
    let first = (Secret::from_fill(|_| ()), [0; TAG_LEN]);
    Ok(answered(ring, first, act))
}

fn floor_of_two(
    own: &X25519PrivateKey,
    theirs: &X25519PublicKey,
    out: &mut (Secret<32>, Tag),
) -> Result<(), Fault> {
    for _ in 0..2 {
        let new = X25519PrivateKey::generate().map_err(refused)?;
        std::hint::black_box(new.public_bytes().map_err(refused)?);
        std::hint::black_box(new.agree(theirs).map_err(refused)?);
        out.0 = own.agree(theirs).map_err(refused)?;
    }
    Ok(())
}

/// A message in each of many sessions in turn.
pub(super) fn sessions(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut pairs = Ring::fill(SESSIONS_LOG2, || Pair::acquainted(row))?;
    let mut turns = 0;
    let act = move |text: &Vec<u8>, out: &mut Vec<u8>| {
        turns += 1;
        pairs.at_mut(turns).carry(text, out).map_err(rejected)
    };
    Ok(answered(texts(row, row.bytes)?, vec![0; row.bytes], act))
}

/// A pair of which the one that receives has a current chain, a next one and five old ones: seven header keys.
fn crowded(row: &Row<'_>) -> Result<Pair, TargetError> {
    let mut pair = Pair::acquainted(row)?;
    let (text, mut out) = ([0; 64], [0; 64]);
    let mut round = || {
        for _ in 0..6 {
            // One of two packets is lost, so that the chain is kept.
            pair.seal(&text)?;
            pair.carry(&text, &mut out)?;
            for _ in 0..2 {
                pair.turn_round();
                pair.carry(&text, &mut out)?;
            }
        }
        // The receiver has answered, so that there is a next chain as well.
        pair.turn_round();
        pair.carry(&text, &mut out)?;
        pair.turn_round();
        Ok::<_, Error>(())
    };
    round().map_err(|error| row.fails(error))?;
    Ok(pair)
}

/// A packet of nobody's, of the right version and length.
fn forged_packet(length: usize, seeded: &mut Seeded) -> Vec<u8> {
    let mut packet = seeded.bytes(length);
    if let Some(version) = packet.first_mut() {
        *version = keywright_ratchet::VERSION;
    }
    packet
}

/// A forged packet against a current chain, a next one and five old ones.
pub(super) fn forged(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut pair = crowded(row)?;
    let mut out = vec![0; row.bytes];
    let length = pair.one.packet_len(row.bytes);
    let mut seeded = row.seeded();
    let ring = Ring::fill(4, || Ok((forged_packet(length, &mut seeded), true)))?;
    let act = move |packet: &Vec<u8>, refused: &mut bool| {
        let packet = Packet {
            bytes: packet,
            context: b"",
        };
        let opened = pair.other.open(&packet, NOW, &mut out);
        *refused = opened == Err(Error::Rejected);
        Ok::<(), Fault>(())
    };
    Ok(answered(ring, false, act))
}

/// How many headers one forged packet makes the session try to open, at most of 1,000; there is no figure if
/// one of them costs a step of a chain or an agreement, or leaves another state.
pub(super) fn forged_opens(row: &Row<'_>) -> Result<f64, TargetError> {
    let mut pair = crowded(row)?;
    let length = pair.one.packet_len(row.bytes);
    let (mut seeded, mut out) = (row.seeded(), vec![0; row.bytes]);
    let state = |session: &Session| hazmat::state(session).map_err(|error| row.fails(error));
    let before = state(&pair.other)?;
    let mut most = 0;
    for _ in 0..1_000 {
        let forged = forged_packet(length, &mut seeded);
        let packet = Packet {
            bytes: &forged,
            context: b"",
        };
        let mut work = hazmat::Work::default();
        let opened = hazmat::open_counting(&mut pair.other, &packet, NOW, &mut out, &mut work);
        if opened != Err(Error::Rejected) || work.chain_steps + work.agreements > 0 {
            return Err(row.fails("a forged packet costs more than openings of headers"));
        }
        most = most.max(work.header_opens);
    }
    if state(&pair.other)?.expose() != before.expose() {
        return Err(row.fails("a forged packet changes the state"));
    }
    Ok(most.into())
}
