//! The promises of the two decoders over arbitrary bytes, as functions that fuzz targets and plain tests
//! both call.

use keywright_clock::WallTime;
use keywright_primitives::agreement::X25519PrivateKey;
use keywright_primitives::random::RandomStream;
use keywright_secret::{Secret, SecretBytes};

use crate::codec;
use crate::rest::Loaded;
use crate::{
    Context, Error, Limits, Message, Mode, Packet, Session, SessionId, SessionSecret, Start,
    StateKey, hazmat,
};

/// A session and the packets that its two ends have not received yet.
#[derive(Debug)]
#[non_exhaustive]
pub struct Scene {
    /// One end.
    pub session: Session,
    /// Packets of both ends.
    pub pending: Vec<Vec<u8>>,
}

/// The time at which everything here happens.
pub const NOW: WallTime = WallTime::from_unix_seconds(1_000_000);

/// The two ends of a session whose secrets everybody knows.
///
/// # Errors
/// [`Error::Backend`].
pub fn pair(mode: Mode) -> Result<(Session, Session), Error> {
    let mut random = RandomStream::unseeded();
    let start = || {
        Ok::<_, Error>(Start {
            secret: SessionSecret::expand(&Secret::from_fill(|shared| shared.fill(7)))?,
            context: Context {
                initiator: b"initiator",
                responder: b"responder",
                transcript: b"fuzzing",
            },
            mode,
        })
    };
    let prekey = X25519PrivateKey::from_bytes(&Secret::from_fill(|key| key.fill(9)))?;
    let mut one = Session::initiate(start()?, &prekey.public_bytes()?, &mut random)?;
    let mut other = Session::respond(start()?, prekey, &mut random)?;
    for session in [&mut one, &mut other] {
        hazmat::set_incarnation(session, [u8::from(mode == Mode::Hedged); 8]);
    }
    Ok((one, other))
}

/// Sessions in every stage, of both modes.
///
/// # Errors
/// [`Error::Backend`].
pub fn scenes() -> Result<Vec<Scene>, Error> {
    let mut scenes = Vec::new();
    for mode in [Mode::Fenced, Mode::Hedged] {
        let (mut one, mut other) = pair(mode)?;
        let mut pending = Vec::new();
        for turn in 0..14_u8 {
            let mut packets = Vec::new();
            for text in [[turn; 64], [turn ^ 0xFF; 64], [turn | 0x80; 64]] {
                let mut out = vec![0; one.packet_len(64)];
                let message = Message {
                    text: &text,
                    context: b"",
                };
                let key = Secret::from_fill(|key| key.fill(turn));
                hazmat::set_aside(&mut one, 3);
                hazmat::take_turn_with_key(&mut one, &key)?;
                hazmat::set_aside(&mut one, 3);
                hazmat::seal_with_key(&mut one, &message, NOW, &key, &mut out)?;
                packets.push(out);
            }
            // The middle one is never delivered, so that chains with stored keys pile up.
            for packet in [&packets[2], &packets[0]] {
                let packet = Packet {
                    bytes: packet,
                    context: b"",
                };
                other.open(&packet, NOW, &mut [0; 64])?;
            }
            pending.push(packets.swap_remove(1));
            std::mem::swap(&mut one, &mut other);
        }
        for session in [one, other] {
            let pending = pending.clone();
            scenes.push(Scene { session, pending });
        }
    }
    let (one, other) = pair(Mode::Fenced)?;
    for session in [one, other] {
        let pending = Vec::new();
        scenes.push(Scene { session, pending });
    }
    Ok(scenes)
}

/// Gives `data` to sessions as a packet, and checks that
///
/// * what does not open leaves the state as it was, to the byte, and the output empty;
/// * it costs at most seven header openings, and nothing else unless a header opens.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn packet(scenes: &mut [Scene], data: &[u8]) {
    let mut out = vec![0xA5; data.len()];
    for Scene { session, .. } in scenes {
        let before = clear(session);
        let (mut work, packet) = (
            hazmat::Work::default(),
            Packet {
                bytes: data,
                context: b"",
            },
        );
        let opened = hazmat::open_counting(session, &packet, NOW, &mut out, &mut work);
        assert!(work.header_opens <= 7, "{work:?}");
        if opened.is_err() {
            assert!(
                before.expose() == clear(session).expose(),
                "a refused packet changed the state"
            );
        }
        if opened == Err(Error::Rejected) {
            let length = session.text_len(data.len());
            assert!(
                out[..length].iter().all(|byte| *byte == 0),
                "text of a refused packet was shown"
            );
        }
    }
}

/// Reads `data` as a state in clear and as one at rest, and checks that a state which is accepted is
/// written the same way again.
///
/// # Panics
/// If that does not hold, which is what a fuzzer looks for.
pub fn state(data: &[u8]) {
    let limits = Limits::standard();
    for mode in [Mode::Fenced, Mode::Hedged] {
        if let Ok(state) = codec::decode(data, mode, &limits) {
            let loaded = Loaded {
                id: SessionId([0; 16]),
                mode,
                epoch: 0,
            };
            let session = Session::of_state(state, loaded, limits);
            let mut again = Vec::with_capacity(data.len());
            assert!(codec::encode(&session, 0, &mut again).is_ok());
            assert!(again == data, "a second spelling was accepted");
            assert_eq!(codec::encoded_len(&session), data.len());
            assert!(data.len() <= codec::longest(&limits));
        }
    }
    let key = StateKey::new(Secret::from_fill(|key| key.fill(3)));
    let mut random = RandomStream::unseeded();
    if let Ok(session) = Session::load_hedged(data, &key, limits, &mut random) {
        let nonce = data[63..87].first_chunk().copied().unwrap_or_default();
        let again = hazmat::sealed_state(&session, &key, 0, &nonce);
        assert!(
            again.is_ok_and(|again| again == data),
            "a second spelling opened"
        );
    }
}

/// The states of [`scenes`] in clear, and those of hedged sessions at rest: a corpus for [`state`].
///
/// # Errors
/// [`Error::Backend`].
pub fn states() -> Result<Vec<Vec<u8>>, Error> {
    let key = StateKey::new(Secret::from_fill(|key| key.fill(3)));
    let mut states = Vec::new();
    for Scene { session, .. } in scenes()? {
        let mut bytes = Vec::with_capacity(codec::encoded_len(&session));
        codec::encode(&session, 0, &mut bytes)?;
        states.push(bytes);
        states.push(hazmat::sealed_state(&session, &key, 0, &[5; 24])?);
    }
    Ok(states)
}

fn clear(session: &Session) -> SecretBytes {
    hazmat::state(session).unwrap_or_else(|_| SecretBytes::zeroed(0))
}
