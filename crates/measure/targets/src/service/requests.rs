//! The requests of an operation of the service, and the judge of their answers.

use bytes::Bytes;
use http::Method;
use keywright_measure::ledger::Outcome;
use keywright_measure::stats::random::Generator;
use keywright_measure::{Fault, TargetError};

use super::inputs::{
    Entry, Ring, body, encryptions, over_ciphertexts, over_streams, path, remember_answers, streams,
};
use super::judge::{self, Sealed};
use super::order::Deck;
use super::uses::{self, signatures, tokens};
use super::{Kind, Shape, Tenant};
use crate::http::{Call, Draw, Endpoint, Exchange, Lines, Look, Prepared, Reply, Step};

/// The requests of one operation, ready to be sent.
#[derive(Debug)]
pub struct Requests {
    parts: Vec<Part>,
    deck: Deck,
    /// How often each part comes, relative to the others.
    weights: Vec<f64>,
    /// Names of parts that are legs and not operations.
    legs: &'static [&'static str],
    /// The last random output.
    random: Vec<u8>,
    bytes: usize,
}

/// One operation of a mix.
#[derive(Debug)]
struct Part {
    name: String,
    kind: Kind,
    action: Action,
    /// Which identity it needs.
    group: u32,
    ring: Ring,
    /// The request that opens what came out; its body is made when it is needed.
    opening: Prepared,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    /// Always the same answer to the same request.
    Constant,
    DataKey,
    Decrypt,
    /// Success is enough.
    Health,
    Random,
    /// Encrypt or rewrap: right is what opens to the plaintext.
    Seal,
    /// The same for a stream, which is bytes and no JSON.
    SealStream,
    RoundTrip,
    /// Right is what is verified.
    Sign,
    /// Right is what gives the values back.
    Tokenize,
}

/// What is remembered of a request.
#[derive(Debug)]
pub struct Ticket {
    part: u32,
    entry: u32,
    turn: Turn,
}

/// Which request of an operation it was.
#[derive(Debug)]
enum Turn {
    First,
    /// The one that opens what came out; a data key's own plain form goes with it.
    Opening(Option<String>),
    /// The second leg of a round trip.
    Second,
}

const LEGS: &[&str] = &["encrypt", "decrypt"];

impl Requests {
    /// Makes the inputs; ciphertexts come from the service itself.
    ///
    /// # Errors
    /// As [`super::carrier`].
    pub(super) fn prepare(
        lines: &mut Lines,
        shape: Shape,
        tenants: &[Tenant],
        seed: u64,
    ) -> Result<Self, TargetError> {
        let parts = match shape.kind {
            Kind::Mixed => vec![(Kind::Encrypt, 0), (Kind::Decrypt, 0)],
            Kind::Flood | Kind::TwoTenants => vec![(Kind::Encrypt, 0), (Kind::Encrypt, 1)],
            kind => vec![(kind, 0)],
        };
        let weights = match shape.kind {
            Kind::Flood => vec![1.0, 2.0],
            _ => vec![1.0; parts.len()],
        };
        let mut random = Generator::new(seed);
        let mut made = Vec::with_capacity(parts.len());
        for ((kind, group), tenant) in parts.into_iter().zip(tenants.iter().cycle()) {
            let mut part =
                Part::make(lines, Shape { kind, ..shape }, (tenant, group), &mut random)?;
            if matches!(shape.kind, Kind::Flood | Kind::TwoTenants) {
                tenant.name().clone_into(&mut part.name);
            }
            made.push(part);
        }
        Ok(Self {
            deck: Deck::new(&weights),
            weights,
            legs: if shape.kind == Kind::RoundTrip {
                LEGS
            } else {
                &[]
            },
            parts: made,
            random: Vec::new(),
            bytes: shape.bytes as usize,
        })
    }

    fn first(&mut self, ticket: &Ticket, reply: &Reply, look: Look) -> Step<Ticket> {
        let part = &self.parts[ticket.part as usize];
        let Some(entry) = part.ring.entry(ticket.entry) else {
            return Step::Done(Outcome::Unchecked);
        };
        if part.action == Action::RoundTrip {
            return part.second_leg(ticket, reply);
        }
        if let Some(fault) = judge::failure(reply, entry.plain.len()) {
            return Step::Done(Outcome::Failed(fault));
        }
        if look == Look::Past {
            return Step::Done(Outcome::Unchecked);
        }
        match part.action {
            Action::Constant => Step::Done(match entry.answer.as_ref() == Some(&reply.body) {
                true => Outcome::Verified,
                false => Outcome::Wrong,
            }),
            Action::DataKey => match judge::data_key(reply) {
                Ok((wrapped, plain)) => part.ask(ticket, &[wrapped], Some(plain)),
                Err(fault) => Step::Done(Outcome::Failed(fault)),
            },
            Action::Decrypt => Step::Done(judge::opened(reply, &entry.plain)),
            Action::Random => Step::Done(judge::random(reply, self.bytes, &mut self.random)),
            Action::Seal => match judge::sealed(reply, entry.plain.len()) {
                Sealed::Done(ciphertexts) => part.ask(ticket, &ciphertexts, None),
                Sealed::Failed(fault) => Step::Done(Outcome::Failed(fault)),
            },
            Action::SealStream => Step::Ask(Call {
                request: part.opening.with_body(reply.body.clone()),
                ticket: Ticket {
                    turn: Turn::Opening(None),
                    ..*ticket
                },
            }),
            Action::Sign => {
                let message = entry.plain.first().map_or("", String::as_str);
                part.ask_with(ticket, uses::verification(part.kind, reply, message))
            }
            Action::Tokenize => part.ask_with(ticket, uses::values(reply, entry.plain.len())),
            Action::Health | Action::RoundTrip => Step::Done(Outcome::Unchecked),
        }
    }
}

impl Exchange for Requests {
    type Ticket = Ticket;

    fn parts(&self) -> Vec<(String, f64)> {
        if !self.legs.is_empty() {
            return self
                .legs
                .iter()
                .map(|leg| ((*leg).to_owned(), 1.0))
                .collect();
        }
        if self.parts.len() <= 1 {
            return Vec::new();
        }
        self.parts
            .iter()
            .zip(&self.weights)
            .map(|(part, weight)| (part.name.clone(), *weight))
            .collect()
    }

    fn restart(&mut self, seed: u64) {
        self.deck.restart(seed);
        self.parts.iter_mut().for_each(|part| part.ring.restart());
    }

    fn draw(&mut self, group: Option<u32>) -> Draw {
        let part = match group {
            None => self.deck.draw(),
            Some(group) => {
                let place = self.parts.iter().position(|part| part.group == group);
                place
                    .and_then(|place| u32::try_from(place).ok())
                    .unwrap_or(0)
            }
        };
        let group = self.parts[part as usize].group;
        Draw { part, group }
    }

    fn call(&mut self, draw: Draw) -> Call<Ticket> {
        let part = &mut self.parts[draw.part as usize];
        let entry = part.ring.turn();
        let request = part.ring.entry(entry).map(|entry| entry.request.clone());
        Call {
            request: request.unwrap_or_else(|| part.opening.clone()),
            ticket: Ticket {
                part: draw.part,
                entry,
                turn: Turn::First,
            },
        }
    }

    fn answer(&mut self, ticket: Ticket, reply: &Reply, look: Look) -> Step<Ticket> {
        let part = &self.parts[ticket.part as usize];
        let entry = part.ring.entry(ticket.entry);
        let plain = entry.map_or(&[][..], |entry| &entry.plain);
        match &ticket.turn {
            Turn::First => self.first(&ticket, reply, look),
            Turn::Opening(None) => Step::Done(judge::asked(match part.action {
                Action::SealStream => judge::streamed(reply, entry.map(|one| one.request.body())),
                Action::Sign => uses::verified(reply),
                Action::Tokenize => uses::same_values(reply, plain),
                _ => judge::opened(reply, plain),
            })),
            Turn::Opening(Some(key)) => {
                let outcome = judge::data_key_opened(reply, std::slice::from_ref(key));
                Step::Done(judge::asked(outcome))
            }
            Turn::Second if look == Look::Closely => Step::Done(judge::opened(reply, plain)),
            Turn::Second => Step::Done(match judge::failure(reply, plain.len()) {
                Some(fault) => Outcome::Failed(fault),
                None => Outcome::Unchecked,
            }),
        }
    }
}

impl Part {
    fn make(
        lines: &mut Lines,
        shape: Shape,
        (tenant, group): (&Tenant, u32),
        random: &mut Generator,
    ) -> Result<Self, TargetError> {
        let (name, action) = named(shape.kind);
        let endpoint = lines.endpoint().clone();
        let own = uses::context_of(shape.kind);
        let path_to = |action: &str| match own {
            Some(context) => format!("/v1/contexts/{context}/{action}"),
            None => path(tenant, action),
        };
        let opening = match action {
            Action::DataKey => path_to("datakey/open"),
            Action::SealStream => path_to("decrypt/stream"),
            Action::Sign => path_to("verify"),
            Action::Tokenize => path_to("detokenize"),
            _ => path_to("decrypt"),
        };
        let encrypt = path(tenant, "encrypt");
        let fixed = format!(r#""context":"{}","#, tenant.context());
        if own.is_some() {
            let made = match action {
                Action::Sign => signatures(&endpoint, shape, &path_to(name), random)?,
                Action::Tokenize => tokens(&endpoint, shape, &path_to(name), random)?,
                _ if shape.items > 1 => tokens(&endpoint, shape, &path_to(name), random)?,
                _ => signatures(&endpoint, shape, &path_to(name), random)?,
            };
            return Self::whole(lines, (shape.kind, group), made, &opening);
        }
        let mut encryptions = |to| encryptions(&endpoint, shape, to, random);
        let entries = match shape.kind {
            Kind::DataKey => same(&endpoint, Method::POST, &path(tenant, "datakey"), "{}")?,
            Kind::Decrypt | Kind::Rewrap => {
                let plain = encryptions((&encrypt, ""))?;
                over_ciphertexts(lines, group, plain, (&path(tenant, name), shape.codec))?
            }
            Kind::Floor => encryptions(("/encrypt", &fixed))?,
            Kind::OpenStream => {
                let plain = streams(&endpoint, shape, &path(tenant, "encrypt/stream"), random)?;
                over_streams(lines, group, plain, &path(tenant, name))?
            }
            Kind::SealStream => streams(&endpoint, shape, &path(tenant, name), random)?,
            Kind::Health => same(&endpoint, Method::GET, "/v1/health", "")?,
            Kind::Random => {
                let body = format!(r#"{{"bytes":{}}}"#, shape.bytes);
                same(&endpoint, Method::POST, "/v1/random", &body)?
            }
            _ => encryptions((&encrypt, ""))?,
        };
        Self::whole(lines, (shape.kind, group), entries, &opening)
    }

    fn whole(
        lines: &mut Lines,
        (kind, group): (Kind, u32),
        mut entries: Vec<Entry>,
        opening: &str,
    ) -> Result<Self, TargetError> {
        let (name, action) = named(kind);
        if action == Action::Constant && kind != Kind::OpenStream {
            remember_answers(lines, &mut entries)?;
        }
        let nothing = Bytes::from_static(b"{}");
        Ok(Self {
            name: name.to_owned(),
            kind,
            action,
            group,
            ring: Ring::new(entries),
            opening: lines.endpoint().prepare(Method::POST, opening, nothing)?,
        })
    }

    /// The request that opens what came out.
    fn open(&self, ticket: &Ticket, ciphertexts: &[String], turn: Turn) -> Call<Ticket> {
        Call {
            request: self.opening.with_body(body("ciphertext", "", ciphertexts)),
            ticket: Ticket { turn, ..*ticket },
        }
    }

    fn ask(&self, ticket: &Ticket, ciphertexts: &[String], key: Option<String>) -> Step<Ticket> {
        Step::Ask(self.open(ticket, ciphertexts, Turn::Opening(key)))
    }

    /// Asks with a body that was made of the answer, if it could be.
    fn ask_with(&self, ticket: &Ticket, body: Result<Bytes, Fault>) -> Step<Ticket> {
        match body {
            Err(fault) => Step::Done(Outcome::Failed(fault)),
            Ok(body) => Step::Ask(Call {
                request: self.opening.with_body(body),
                ticket: Ticket {
                    turn: Turn::Opening(None),
                    ..*ticket
                },
            }),
        }
    }

    fn second_leg(&self, ticket: &Ticket, reply: &Reply) -> Step<Ticket> {
        let items = self
            .ring
            .entry(ticket.entry)
            .map_or(1, |entry| entry.plain.len());
        match judge::sealed(reply, items) {
            Sealed::Done(ciphertexts) => {
                Step::Next(1, self.open(ticket, &ciphertexts, Turn::Second))
            }
            Sealed::Failed(fault) => Step::Done(Outcome::Failed(fault)),
        }
    }
}

/// The name of a part, which is also that of the route, and how its answers are judged.
const fn named(kind: Kind) -> (&'static str, Action) {
    match kind {
        Kind::DataKey => ("datakey", Action::DataKey),
        Kind::Decrypt => ("decrypt", Action::Decrypt),
        Kind::Floor | Kind::Null => ("encrypt", Action::Constant),
        // What it is to be is known before it is asked for.
        Kind::OpenStream => ("decrypt/stream", Action::Constant),
        Kind::SealStream => ("encrypt/stream", Action::SealStream),
        Kind::NullSign => ("sign", Action::Constant),
        Kind::NullTokenize => ("tokenize", Action::Constant),
        Kind::SignEd25519
        | Kind::SignHd
        | Kind::SignMlDsa65
        | Kind::SignP256
        | Kind::SignP384
        | Kind::SignRsa2048Pss => ("sign", Action::Sign),
        Kind::Tokenize => ("tokenize", Action::Tokenize),
        Kind::Health => ("health", Action::Health),
        Kind::Random => ("random", Action::Random),
        Kind::Rewrap => ("rewrap", Action::Seal),
        Kind::RoundTrip => ("round-trip", Action::RoundTrip),
        Kind::Encrypt | Kind::EncryptInToken | Kind::Flood | Kind::Mixed | Kind::TwoTenants => {
            ("encrypt", Action::Seal)
        }
    }
}

/// A ring of one request.
fn same(
    endpoint: &Endpoint,
    method: Method,
    path: &str,
    body: &str,
) -> Result<Vec<Entry>, TargetError> {
    Ok(vec![Entry {
        request: endpoint.prepare(method, path, body.to_owned())?,
        plain: vec![String::new()],
        answer: None,
    }])
}
