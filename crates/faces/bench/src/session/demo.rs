//! Two parties over a pair of pipes.

use std::io::pipe;
use std::thread;

use keywright_clock::{Clock, WallTime};
use keywright_hpke::{Kem, Policy, Psk, PskSecret, Suite};
use keywright_primitives::random::RandomStream;
use keywright_session::{
    Bundle, Card, Error, First, Handshake, Identity, Mode, OneTime, Peer, PrekeySecrets, Responder,
    Session, Setting, Terms,
};
use serde::Serialize;

use super::line::{Badness, Dice, Fate, Sending};
use super::party::{Begin, Outcome, Party, Seen, Stopped, Turn};
use crate::exit::{Exit, Failure, limit_advice_within, sentence};
use crate::output::{self, Format, fields};

const APPLICATION: &[u8] = b"keywright session demo";
const PSK: &[u8] = b"a demo shares this with everybody";

/// How the session begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
enum How {
    /// X3DH with signed prekeys, a one-time prekey and an ML-KEM prekey.
    X3dh,
    /// HPKE AuthPSK with a secret that both have.
    AuthPsk,
    /// HPKE AuthPSK whose secret comes out of ML-KEM-768.
    AuthPskPq,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Messages that each side sends.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    messages: u32,
    /// Bytes in a message.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(4..=1_000_000))]
    size: u32,
    /// What decides over the fate of frames. The same seed, the same fates.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How the session begins.
    #[arg(long, value_enum, default_value_t = How::X3dh)]
    handshake: How,
    /// Sign the first message, so that it cannot be denied.
    #[arg(long)]
    signed: bool,
    #[command(flatten)]
    badness: Badness,
}

/// What is printed.
#[derive(Serialize)]
struct Report {
    handshake: How,
    signed: bool,
    seed: u64,
    messages: u32,
    size: u32,
    line: Badness,
    record_bytes: usize,
    initiator: Side,
    responder: Side,
    /// Both ends export the same binder.
    same_binder: bool,
    /// Every message that arrived opened exactly once, and nothing else did.
    all_that_arrived_opened_once: bool,
}

#[derive(Serialize)]
struct Side {
    frames: Fate,
    seen: Seen,
}

pub(crate) fn run(arguments: &Arguments, format: Format) -> Result<Exit, Failure> {
    let now = Clock::system().wall();
    let scene = Scene::new(arguments, now).map_err(failed)?;
    let record_bytes = scene.responder.record().as_bytes().len();
    let [one, other] = scene.talk(arguments, now).map_err(failed)?;
    let report = Report {
        handshake: arguments.handshake,
        signed: arguments.signed,
        seed: arguments.seed,
        messages: arguments.messages,
        size: arguments.size,
        line: arguments.badness,
        record_bytes,
        same_binder: one.binder.is_some() && one.binder == other.binder,
        all_that_arrived_opened_once: arrived(&one, &other) && arrived(&other, &one),
        initiator: Side::of(one),
        responder: Side::of(other),
    };
    if !report.same_binder || !report.all_that_arrived_opened_once {
        return Err(Failure::broken(
            "a message that arrived did not open exactly once, or the two ends differ",
        ));
    }
    output::document(format, &report, || report.text())?;
    Ok(Exit::Ok)
}

/// What left `from` and was not lost is what opened at `to`.
fn arrived(from: &Outcome, to: &Outcome) -> bool {
    (0..from.sent).all(|number| from.lost.contains(&number) != to.opened.contains(&number))
        && to.opened.iter().all(|number| *number < from.sent)
}

fn failed(stopped: Stopped) -> Failure {
    let what = sentence(&stopped);
    let limit = limit_advice_within(&stopped);
    Failure::new(
        Exit::Internal,
        what,
        limit.unwrap_or("run it again; if it fails again, report it with its seed"),
    )
}

/// Both parties before they have met.
struct Scene {
    policy: Policy,
    initiator: Identity,
    responder: Responder,
    one_time: OneTime,
}

impl Scene {
    fn new(arguments: &Arguments, now: WallTime) -> Result<Self, Stopped> {
        let kem = Kem::X25519HkdfSha256;
        let terms = Terms {
            suites: &[Suite::X25519.ids()],
            mode: Mode::Hedged,
            first: match arguments.signed {
                false => First::Deniable,
                true => First::Signed,
            },
            not_before: now,
            not_after: now.plus(std::time::Duration::from_secs(86_400)),
        };
        let secrets = PrekeySecrets::generate()?;
        let responder = Identity::generate(b"responder", kem)?;
        let mut responder = Responder::publish(responder, &secrets, &terms)?;
        Ok(Self {
            policy: Policy::default(),
            initiator: Identity::generate(b"initiator", kem)?,
            one_time: responder.one_time()?,
            responder,
        })
    }

    fn talk(self, arguments: &Arguments, now: WallTime) -> Result<[Outcome; 2], Stopped> {
        let (from_one, to_other) = pipe()?;
        let (from_other, to_one) = pipe()?;
        let session = self.initiate(arguments.handshake, now)?;
        let dice = |salt| Dice::new(arguments.seed.wrapping_mul(8).wrapping_add(salt));
        let line = |pipe, salt| Sending::new(pipe, dice(salt), arguments.badness);
        let size = usize::try_from(arguments.size).unwrap_or(usize::MAX);
        let one = Party {
            session: Some(session),
            begin: Nobody,
            out: line(to_other, 1),
            into: from_other,
            dice: dice(2),
            now,
            messages: arguments.messages,
            size,
        };
        let other = Party {
            session: None,
            begin: Waiting { scene: self, now },
            out: line(to_one, 3),
            into: from_one,
            dice: dice(4),
            now,
            messages: arguments.messages,
            size,
        };
        thread::scope(|scope| {
            // The one that is not started is dropped with its pipes, by which the other ends.
            let one = thread::Builder::new().spawn_scoped(scope, || one.talk(Turn::Mine))?;
            let other = thread::Builder::new().spawn_scoped(scope, || other.talk(Turn::Theirs))?;
            let joined = [one.join(), other.join()];
            let [one, other] = joined.map(|joined| joined.unwrap_or(Err(Stopped::Twice)));
            Ok([one?, other?])
        })
    }

    fn initiate(&self, how: How, now: WallTime) -> Result<Session, Stopped> {
        let bundle = Bundle {
            record: self.responder.record(),
            one_time: Some(&self.one_time),
        };
        let handshake = match how {
            How::X3dh => Handshake::X3dh,
            How::AuthPsk => Handshake::AuthPsk(psk()?),
            How::AuthPskPq => Handshake::AuthPskPq,
        };
        let setting = setting(&self.policy, now);
        let mut random = RandomStream::new().map_err(Error::from)?;
        Ok(self
            .initiator
            .initiate(&bundle, handshake, &setting, &mut random)?)
    }
}

fn psk() -> Result<Psk<'static>, Error> {
    Ok(Psk::new(PskSecret(PSK), b"demo")?)
}

const fn setting(policy: &Policy, now: WallTime) -> Setting<'_> {
    Setting {
        policy,
        application: APPLICATION,
        now,
    }
}

/// The initiator has a session from the beginning.
struct Nobody;

impl Begin for Nobody {
    fn begin(&mut self, _: &[u8], _: &mut RandomStream) -> Option<(Session, Vec<u8>)> {
        None
    }
}

/// The responder, until a first frame opens.
struct Waiting {
    scene: Scene,
    now: WallTime,
}

impl Begin for Waiting {
    fn begin(&mut self, frame: &[u8], random: &mut RandomStream) -> Option<(Session, Vec<u8>)> {
        let Scene {
            policy,
            initiator,
            responder,
            ..
        } = &mut self.scene;
        let card: &Card = initiator.card();
        let psk = psk().ok();
        let known = |id| (id == card.id()).then_some(Peer { card, psk });
        let setting = setting(policy, self.now);
        let accepted = responder.accept(frame, b"", &known, (&setting, random));
        let accepted = accepted.ok()?;
        let content = accepted.first.content.expose().to_vec();
        Some((accepted.session, content))
    }
}

impl Side {
    fn of(outcome: Outcome) -> Self {
        Self {
            frames: outcome.fate,
            seen: outcome.seen,
        }
    }

    fn text(&self, name: &str) -> String {
        let (frames, seen) = (&self.frames, &self.seen);
        let rows = [
            (
                "sent",
                format!("{} frames, {} bytes", frames.sent, frames.bytes),
            ),
            (
                "on the way",
                format!(
                    "{} lost, {} repeated, {} delayed, {} changed copies",
                    frames.lost, frames.repeated, frames.delayed, frames.forged
                ),
            ),
            (
                "received",
                format!(
                    "{} opened, {} of them out of order; {} refused",
                    seen.opened, seen.out_of_order, seen.refused
                ),
            ),
            (
                "left",
                format!("{} keys for frames that did not come", seen.stored_keys),
            ),
        ];
        format!("{name}\n{}\n", fields(&rows))
    }
}

impl Report {
    fn text(&self) -> String {
        let how = match self.handshake {
            How::X3dh => "X3DH with a one-time prekey and ML-KEM-768",
            How::AuthPsk => "HPKE AuthPSK with a shared secret",
            How::AuthPskPq => "HPKE AuthPSK with ML-KEM-768",
        };
        let signed = if self.signed {
            ", first message signed"
        } else {
            ""
        };
        let head = format!(
            "{how}{signed}; record of {} bytes; seed {}\n\n",
            self.record_bytes, self.seed
        );
        let sides = [
            self.initiator.text("initiator"),
            self.responder.text("responder"),
        ];
        let end = "every message that arrived opened once, and nothing else did\n\
                   both ends export the same binder\n";
        head + &sides.concat() + end
    }
}
