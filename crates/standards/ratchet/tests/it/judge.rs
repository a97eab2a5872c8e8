//! Random schedules, judged by the second implementation (`tests/judge/ratchet.py`).
//!
//! A schedule is played with this crate and written down as it is played: what was sealed under which key,
//! what was delivered, lost, repeated or forged, and what came of it. The other side then plays it from the
//! text alone and compares every packet, every answer and the states. `Judge` in the program says what
//! a line means.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use keywright_clock::WallTime;
use keywright_encoding::hex;
use keywright_mutate::SplitMix;
use keywright_primitives::agreement::X25519PrivateKey;
use keywright_primitives::hash::sha256;
use keywright_primitives::random::RandomStream;
use keywright_ratchet::{
    Context, Error, Message, Mode, Packet, Session, SessionSecret, Start, StateKey, hazmat,
};
use keywright_secret::Secret;
use keywright_vectors::{Tally, repository};

/// What is sealed, at least.
const MESSAGES: usize = 100_000;

struct Sent {
    side: usize,
    bytes: Vec<u8>,
    length: usize,
    context: usize,
}

struct Play {
    dice: SplitMix,
    sides: [Session; 2],
    sent: Vec<Sent>,
    /// Packets on their way, by the side that sent them.
    wires: [Vec<usize>; 2],
    now: u64,
    script: String,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Counts {
    sealed: usize,
    opened: usize,
    refused: usize,
    forged: usize,
}

const NAMES: [char; 2] = ['a', 'b'];

fn bytes<const N: usize>(dice: &mut SplitMix) -> [u8; N] {
    std::array::from_fn(|_| dice.byte())
}

fn digest(bytes: &[u8]) -> String {
    hex::encode(&sha256(bytes)[..16])
}

fn text_of(index: usize, length: usize) -> Vec<u8> {
    let index = u64::try_from(index).unwrap().to_be_bytes();
    index.into_iter().cycle().take(length).collect()
}

impl Play {
    fn new(mode: Mode, dice: &mut SplitMix, script: &mut String) -> Self {
        let (shared, prekey) = (bytes::<32>(dice), bytes::<32>(dice));
        let incarnations = [bytes::<8>(dice), bytes::<8>(dice)];
        let transcript = hex::encode(&shared);
        let start = || Start {
            secret: SessionSecret::expand(&Secret::copy_from(&shared).unwrap()).unwrap(),
            context: Context {
                initiator: b"alice",
                responder: b"bob",
                transcript: transcript.as_bytes(),
            },
            mode,
        };
        let mut random = RandomStream::unseeded();
        let key = X25519PrivateKey::from_bytes(&Secret::copy_from(&prekey).unwrap()).unwrap();
        let public = key.public_bytes().unwrap();
        let mut sides = [
            Session::initiate(start(), &public, &mut random).unwrap(),
            Session::respond(start(), key, &mut random).unwrap(),
        ];
        if mode == Mode::Hedged {
            for (session, incarnation) in sides.iter_mut().zip(incarnations) {
                hazmat::set_incarnation(session, incarnation);
            }
        }
        let name = if mode == Mode::Fenced {
            "fenced"
        } else {
            "hedged"
        };
        writeln!(
            script,
            "t 0\nn {name} {transcript} {} {} {}",
            hex::encode(&prekey),
            hex::encode(&incarnations[0]),
            hex::encode(&incarnations[1]),
        )
        .unwrap();
        Self {
            dice: SplitMix::new(dice.next_u64()),
            sides,
            sent: Vec::new(),
            wires: [Vec::new(), Vec::new()],
            now: 0,
            script: std::mem::take(script),
            counts: Counts::default(),
        }
    }

    fn seal(&mut self, side: usize) {
        let index = self.sent.len();
        let length = 64 + self.dice.below(70);
        let context = self.dice.below(3) * 10;
        let key: [u8; 32] = bytes(&mut self.dice);
        let secret = Secret::copy_from(&key).unwrap();
        let session = &mut self.sides[side];
        let mut packet = vec![0; session.packet_len(length)];
        let message = Message {
            text: &text_of(index, length),
            context: &text_of(index, context),
        };
        hazmat::take_turn_with_key(session, &secret).unwrap();
        hazmat::set_aside(session, u32::MAX);
        let now = WallTime::from_unix_seconds(self.now);
        match hazmat::seal_with_key(session, &message, now, &secret, &mut packet) {
            Err(Error::NothingReceived) => return,
            sealed => sealed.unwrap(),
        };
        writeln!(
            self.script,
            "s {} {length} {context} {} {}",
            NAMES[side],
            hex::encode(&key),
            digest(&packet)
        )
        .unwrap();
        self.wires[side].push(index);
        self.sent.push(Sent {
            side,
            bytes: packet,
            length,
            context,
        });
        self.counts.sealed += 1;
    }

    fn deliver(&mut self, index: usize, place: usize, change: u8) {
        let sent = &self.sent[index];
        let side = 1 - sent.side;
        let mut packet = sent.bytes.clone();
        packet[place] ^= change;
        let mut text = vec![0; sent.length];
        let packet = Packet {
            bytes: &packet,
            context: &text_of(index, sent.context),
        };
        let now = WallTime::from_unix_seconds(self.now);
        let opened = self.sides[side].open(&packet, now, &mut text);
        let answer = match opened {
            Ok(_) => {
                assert_eq!(text, text_of(index, sent.length));
                self.counts.opened += 1;
                "yes"
            }
            Err(Error::Rejected | Error::Malformed) => {
                self.counts.refused += 1;
                "no"
            }
            Err(error) => {
                assert_eq!(error, Error::Rejected, "another reason");
                "no"
            }
        };
        self.counts.forged += usize::from(change != 0);
        writeln!(
            self.script,
            "d {} {index} {place} {change} {answer}",
            NAMES[side]
        )
        .unwrap();
    }

    fn states(&mut self) {
        for (name, session) in NAMES.into_iter().zip(&self.sides) {
            let state = hazmat::state(session).unwrap();
            // Behind the state stand name, epoch and standing.
            let state = &state.expose()[..state.len() - 29];
            writeln!(self.script, "e {name} {}", digest(state)).unwrap();
            let (key, nonce) = (bytes::<32>(&mut self.dice), bytes::<24>(&mut self.dice));
            let state_key = StateKey::new(Secret::copy_from(&key).unwrap());
            let rest = hazmat::sealed_state(session, &state_key, 0, &nonce).unwrap();
            writeln!(
                self.script,
                "r {name} {} {} {}",
                hex::encode(&key),
                hex::encode(&nonce),
                digest(&rest)
            )
            .unwrap();
        }
    }

    /// Something on the wire arrives, is lost, or stays for a repetition.
    fn arrive(&mut self, side: usize, window: usize) {
        let wire = &mut self.wires[side];
        if wire.is_empty() {
            return;
        }
        let place = self.dice.below(wire.len().min(window));
        let index = match self.dice.below(20) {
            0 => {
                wire.remove(place);
                return;
            }
            1 => wire[place],
            _ => wire.remove(place),
        };
        if self.dice.below(8) == 0 {
            let length = self.sent[index].bytes.len();
            let place = self.dice.below(length);
            let change = self.dice.byte().max(1);
            self.deliver(index, place, change);
        }
        self.deliver(index, 0, 0);
    }

    fn event(&mut self, window: usize) {
        let side = self.dice.below(2);
        match self.dice.below(1_000) {
            0..450 => self.seal(side),
            450..980 => self.arrive(side, window),
            // Something that was sent long ago.
            980..995 if !self.sent.is_empty() => {
                let index = self.dice.below(self.sent.len());
                self.deliver(index, 0, 0);
            }
            995..998 => {
                let step = [1, 3_600, 86_400][self.dice.below(3)];
                self.now += u64::try_from(self.dice.below(3) * step).unwrap();
                writeln!(self.script, "t {}", self.now).unwrap();
            }
            998 if self.dice.below(5) == 0 => {
                // A gap around the largest jump, and what comes after it.
                for _ in 0..self.dice.below(1_300) {
                    self.seal(side);
                }
                if let Some(last) = self.wires[side].last() {
                    self.deliver(*last, 0, 0);
                }
            }
            _ => self.states(),
        }
    }
}

/// The schedules as one text.
fn schedules() -> (String, Counts) {
    let mut dice = SplitMix::new(2026);
    let (mut script, mut counts) = (String::new(), Counts::default());
    let windows = [1, 3, 8, 40, 400, usize::MAX];
    let mut modes = [Mode::Fenced, Mode::Hedged].into_iter().cycle();
    for window in windows.into_iter().cycle() {
        if counts.sealed >= MESSAGES {
            break;
        }
        for mode in modes.by_ref().take(2) {
            let mut play = Play::new(mode, &mut dice, &mut script);
            play.seal(0);
            while play.counts.sealed < 6_000 {
                play.event(window);
            }
            play.states();
            counts.sealed += play.counts.sealed;
            counts.opened += play.counts.opened;
            counts.refused += play.counts.refused;
            counts.forged += play.counts.forged;
            script = play.script;
        }
    }
    (script, counts)
}

/// The Python that has the package: the suite's own, or the system's.
fn python() -> Option<PathBuf> {
    let own = repository().join("target/venv/bin/python");
    let candidates = [own, PathBuf::from("python3")];
    let works = |python: &PathBuf| {
        let asked = Command::new(python)
            .args(["-c", "import cryptography.hazmat.primitives.ciphers.aead"])
            .output();
        asked.is_ok_and(|answer| answer.status.success())
    };
    candidates.into_iter().find(works)
}

#[test]
fn the_second_implementation_agrees_on_every_packet_answer_and_state() {
    let (script, counts) = schedules();
    assert!(counts.sealed >= MESSAGES, "{counts:?}");
    assert!(counts.opened > MESSAGES / 2, "{counts:?}");
    assert!(
        counts.refused > 10_000 && counts.forged > 5_000,
        "{counts:?}"
    );
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ratchet-schedules.txt");
    std::fs::write(&path, &script).unwrap();
    let mut tally = Tally::new("ratchet-judge");
    let lines = u64::try_from(script.lines().count()).unwrap();
    let Some(python) = python() else {
        tally.skip("no Python with the package cryptography", lines);
        return tally.finish().unwrap();
    };
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judge/ratchet.py");
    let judged = Command::new(python)
        .arg(program)
        .arg(&path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&judged.stdout).into_owned();
    let errors = String::from_utf8_lossy(&judged.stderr).into_owned();
    tally.check("all lines", judged.status.success());
    assert!(judged.status.success(), "{said}{errors}");
    tally.finish().unwrap();
}
