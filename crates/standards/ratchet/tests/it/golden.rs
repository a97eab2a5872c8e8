//! The committed vectors of the second implementation: all of them, in every build.

use keywright_clock::WallTime;
use keywright_primitives::agreement::X25519PrivateKey;
use keywright_primitives::random::RandomStream;
use keywright_ratchet::{
    Context, Error, Limits, Message, Mode, Packet, Session, SessionSecret, Start, StateKey, hazmat,
};
use keywright_secret::Secret;
use keywright_vectors::{Record, Tally, repository};

fn cases(name: &str) -> Vec<Record> {
    let path = repository().join("vectors/golden/ratchet").join(name);
    let value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let file = Record::new(name, &value).unwrap();
    file.list("cases").unwrap()
}

struct Play {
    sides: [Session; 2],
    packets: Vec<(Vec<u8>, Vec<u8>)>,
}

fn secret(record: &Record, field: &str) -> Secret<32> {
    Secret::copy_from(&record.hex(field).unwrap()).unwrap()
}

fn time(step: &Record) -> WallTime {
    WallTime::from_unix_seconds(step.number("time").unwrap())
}

fn incarnation(case: &Record, side: usize) -> [u8; 8] {
    let text = case.field("incarnations").unwrap()[side].as_str().unwrap();
    keywright_encoding::hex::decode_array(text).unwrap()
}

impl Play {
    fn new(case: &Record) -> Self {
        let mode = match case.text("mode").unwrap() {
            "fenced" => Mode::Fenced,
            other => {
                assert_eq!(other, "hedged");
                Mode::Hedged
            }
        };
        let parts = ["initiator", "responder", "transcript"].map(|part| case.hex(part).unwrap());
        let start = || Start {
            secret: SessionSecret::expand(&secret(case, "shared")).unwrap(),
            context: Context {
                initiator: &parts[0],
                responder: &parts[1],
                transcript: &parts[2],
            },
            mode,
        };
        let prekey = X25519PrivateKey::from_bytes(&secret(case, "prekey")).unwrap();
        let mut random = RandomStream::unseeded();
        let public = prekey.public_bytes().unwrap();
        let mut sides = [
            Session::initiate(start(), &public, &mut random).unwrap(),
            Session::respond(start(), prekey, &mut random).unwrap(),
        ];
        for (side, session) in sides.iter_mut().enumerate() {
            hazmat::set_incarnation(session, incarnation(case, side));
        }
        Self {
            sides,
            packets: Vec::new(),
        }
    }

    fn side(&mut self, step: &Record) -> &mut Session {
        let name = step.text("side").unwrap();
        &mut self.sides[usize::from(name == "responder")]
    }

    fn seal(&mut self, step: &Record) -> bool {
        let key = secret(step, "key");
        let (seed, length): (usize, usize) =
            (step.number("seed").unwrap(), step.number("length").unwrap());
        let wheel = (0..=250_u8).cycle().skip(seed % 251);
        let text: Vec<u8> = wheel.take(length).collect();
        let context = step.hex("context").unwrap();
        let message = Message {
            text: &text,
            context: &context,
        };
        let session = self.side(step);
        hazmat::take_turn_with_key(session, &key).unwrap();
        hazmat::set_aside(session, u32::MAX);
        let mut packets = Vec::new();
        for _ in 0..step.number("times").unwrap() {
            let mut packet = vec![0; session.packet_len(length)];
            hazmat::seal_with_key(session, &message, time(step), &key, &mut packet).unwrap();
            packets.push((packet, text.clone()));
        }
        self.packets.extend(packets);
        self.packets.last().unwrap().0 == step.hex("packet").unwrap()
    }

    fn open(&mut self, step: &Record) -> bool {
        let number: usize = step.number("packet").unwrap();
        let (mut packet, text) = self.packets[number].clone();
        let place: usize = step.number("place").unwrap();
        packet[place] ^= step.number::<u8>("change").unwrap();
        let context = step.hex("context").unwrap();
        let packet = Packet {
            bytes: &packet,
            context: &context,
        };
        let mut out = vec![0; text.len()];
        let session = self.side(step);
        let before = hazmat::state(session).unwrap();
        let opened = session.open(&packet, time(step), &mut out);
        let after = hazmat::state(session).unwrap();
        match opened {
            Ok(_) => step.truth("valid").unwrap() && out == text,
            Err(_) => !step.truth("valid").unwrap() && before.expose() == after.expose(),
        }
    }

    fn state(&mut self, step: &Record) -> bool {
        let state = hazmat::state(self.side(step)).unwrap();
        let written = step.hex("state").unwrap();
        // Behind the state stand name, epoch and standing.
        state.expose().split_last_chunk::<29>().unwrap().0 == written
    }

    fn rest(&mut self, step: &Record) -> bool {
        let key = StateKey::new(secret(step, "key"));
        let (nonce, number) = (step.array("nonce").unwrap(), step.number("number").unwrap());
        let made = hazmat::sealed_state(self.side(step), &key, number, &nonce);
        made.unwrap() == step.hex("bytes").unwrap()
    }
}

#[test]
fn conversations() {
    let mut tally = Tally::new("golden-ratchet-conversations");
    let cases = cases("conversations.json");
    assert_eq!(cases.len(), 10);
    for case in cases {
        let mut play = Play::new(&case);
        for (number, step) in case.list("steps").unwrap().iter().enumerate() {
            let good = match step.text("do").unwrap() {
                "seal" => play.seal(step),
                "open" => play.open(step),
                "state" => play.state(step),
                "rest" => play.rest(step),
                _ => false,
            };
            let name = case.text("name").unwrap();
            tally.check(format!("{name} step {number}"), good);
        }
    }
    tally.finish().unwrap();
}

#[test]
fn states() {
    let mut tally = Tally::new("golden-ratchet-states");
    let cases = cases("states.json");
    assert!(cases.len() > 30);
    let mut random = RandomStream::unseeded();
    for case in &cases {
        let key = StateKey::new(secret(case, "key"));
        let bytes = case.hex("bytes").unwrap();
        let loaded = Session::load_hedged(&bytes, &key, Limits::standard(), &mut random);
        let good = match loaded {
            Ok(session) => {
                let nonce = bytes[63..87].try_into().unwrap();
                let again = hazmat::sealed_state(&session, &key, 0, &nonce).unwrap();
                case.truth("valid").unwrap() && again == bytes
            }
            Err(error) => {
                let refusals = [Error::Malformed, Error::Rejected, Error::WrongMode];
                !case.truth("valid").unwrap() && refusals.contains(&error)
            }
        };
        tally.check(case.text("name").unwrap(), good);
    }
    tally.finish().unwrap();
}
