//! What is asked and how answers are judged: everything that a carrier over HTTP does not know.

use bytes::Bytes;
use http::StatusCode;
use keywright_api::Codec;
use keywright_api::answer::ErrorAnswer;
use keywright_measure::ledger::Outcome;
use keywright_measure::{Fault, FaultPhase};

use super::Prepared;

/// Requests of a kind, and the judge of their answers.
///
/// All of it runs on the thread of the event loop: requests come from a prepared ring, and judging is a
/// comparison.
pub trait Exchange {
    /// What is remembered from a request to its answer.
    type Ticket;

    /// The operations of a mix, or the legs of an operation of several, with their weights. Empty if all
    /// operations are alike.
    fn parts(&self) -> Vec<(String, f64)> {
        Vec::new()
    }

    /// A run begins: orders and rings start over from `seed`.
    fn restart(&mut self, seed: u64);

    /// Which operation comes next. A group is asked for where a free connection decides, in closed loops
    /// over several identities; otherwise the order decides.
    fn draw(&mut self, group: Option<u32>) -> Draw;

    /// The first request of an operation that was drawn.
    fn call(&mut self, draw: Draw) -> Call<Self::Ticket>;

    /// Judges an answer.
    fn answer(&mut self, ticket: Self::Ticket, reply: &Reply, look: Look) -> Step<Self::Ticket>;
}

/// Whether an output is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is or it is not")]
pub enum Look {
    /// It is compared with what it must be.
    Closely,
    /// That the answer calls itself a success is enough.
    Past,
}

/// An operation that was drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a place and an identity")]
pub struct Draw {
    /// Its place among the parts.
    pub part: u32,
    /// Which of the endpoint's identities it needs.
    pub group: u32,
}

/// A request with what is remembered of it.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "two things that go together")]
pub struct Call<T> {
    /// The request.
    pub request: Prepared,
    /// What is remembered.
    pub ticket: T,
}

/// An answer that came whole.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "all that is kept of an answer")]
pub struct Reply {
    /// Its status.
    pub status: StatusCode,
    /// Its body.
    pub body: Bytes,
}

/// What an answer leads to.
#[derive(Debug)]
#[non_exhaustive]
pub enum Step<T> {
    /// The operation took place; whether its output is right is to be asked with this request, outside of
    /// what is timed and counted. The answer to it must lead to [`Step::Done`].
    Ask(Call<T>),
    /// The operation is over.
    Done(Outcome),
    /// This leg is over and the next one begins; its place among the parts.
    Next(u32, Call<T>),
}

/// The fault in an answer that is no success: the service's own code where the body has one
/// (`{"error":{"code":...}}`), the status otherwise.
#[must_use]
pub fn service_fault(reply: &Reply) -> Fault {
    match Codec::of_answer(&reply.body).decode::<ErrorAnswer>(&reply.body) {
        Ok(answer) => Fault::new(FaultPhase::Service, answer.error.code),
        Err(_) => Fault::new(FaultPhase::Status, reply.status.as_str().to_owned()),
    }
}
