//! The requests of an operation in turn, and the judging of their answers.

use keywright_measure::ledger::Outcome;

use super::decoding::Decoding;
use super::judge::{Judge, Proof, Ticket, failed};
use super::prepare::{Item, Ring};
use super::session::is_success;
use crate::http::{Call, Draw, Exchange, Look, Reply, Step};

/// The requests of one operation.
pub(super) struct Questions {
    items: Vec<Item>,
    next: usize,
    judge: Judge,
    decoding: Decoding,
}

impl Questions {
    pub(super) fn new(ring: Ring, decoding: Decoding) -> Self {
        Self {
            items: ring.items,
            next: 0,
            judge: Judge::new(ring.checker),
            decoding,
        }
    }
}

impl Exchange for Questions {
    type Ticket = Ticket;

    fn restart(&mut self, seed: u64) {
        // The remainder is smaller than a length.
        self.next = usize::try_from(seed % self.items.len().max(1) as u64).unwrap_or(0);
        self.judge.restart();
    }

    fn draw(&mut self, _: Option<u32>) -> Draw {
        Draw::default()
    }

    fn call(&mut self, _: Draw) -> Call<Ticket> {
        let place = self.next;
        self.next = (place + 1) % self.items.len();
        Call {
            request: self.items[place].request.clone(),
            ticket: Ticket::Item(place),
        }
    }

    fn answer(&mut self, ticket: Ticket, reply: &Reply, look: Look) -> Step<Ticket> {
        let place = match ticket {
            Ticket::Proof(proof) => return self.judge.answered(&proof, reply),
            Ticket::Item(place) => place,
        };
        if !is_success(reply.status) {
            return Step::Done(failed(reply.status));
        }
        match &self.items[place].proof {
            Proof::Decoded(key) => Step::Done(self.decoding.decode(&reply.body, key, look)),
            _ if look == Look::Past => Step::Done(Outcome::Unchecked),
            proof => self.judge.look(proof, &reply.body),
        }
    }
}
