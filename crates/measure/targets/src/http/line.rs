//! A place for one connection: it is up, being dialled, or lost.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use keywright_measure::Fault;

use super::dial::{Link, Sender, dial};
use super::flight::Flight;
use super::{Endpoint, Prepared};

/// A place for one connection.
pub(super) struct Line {
    /// Under which identity.
    pub(super) group: u32,
    endpoint: Rc<Endpoint>,
    link: Option<Link>,
    dialling: Option<Attempt>,
    /// Slots that wait for the attempt.
    waiting: Vec<u32>,
    /// How many connections this place has had.
    generation: u32,
    /// Before the next attempt.
    pause: Duration,
}

type Attempt = Pin<Box<dyn Future<Output = Result<Link, Fault>>>>;

/// One stream's handle on the connection of its line.
pub(super) type Handle = Option<(u32, h2::client::SendRequest<Bytes>)>;

/// How putting a request into a line went.
pub(super) enum Sent {
    /// It failed for good.
    Failed(Fault),
    /// It is under way.
    Flying(Flight),
    /// There is no connection; the slot is told when the attempt has ended.
    Lost,
    /// The connection takes no request at the moment.
    Wait,
}

/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);

impl Line {
    pub(super) const fn new(endpoint: Rc<Endpoint>, group: u32) -> Self {
        Self {
            group,
            endpoint,
            link: None,
            dialling: None,
            waiting: Vec::new(),
            generation: 0,
            pause: Duration::ZERO,
        }
    }

    pub(super) fn is_up(&self) -> bool {
        self.link.as_ref().is_some_and(|link| !link.is_over())
    }

    /// Connects now, if it is not up.
    pub(super) async fn restore(&mut self) -> Result<(), Fault> {
        self.waiting.clear();
        self.dialling = None;
        self.pause = Duration::ZERO;
        if !self.is_up() {
            let link = dial(Rc::clone(&self.endpoint), self.group, Duration::ZERO).await?;
            self.connected(link);
        }
        Ok(())
    }

    /// How many requests the server takes at a time; nothing while it is not up.
    pub(super) fn allowed(&self) -> Option<u32> {
        let allowed = self.link.as_ref().map(Link::allowed)?;
        Some(u32::try_from(allowed).unwrap_or(u32::MAX))
    }

    fn connected(&mut self, link: Link) {
        self.generation = self.generation.wrapping_add(1);
        self.link = Some(link);
    }

    /// An answer came: whatever happens next, it is worth dialling at once.
    pub(super) const fn answered(&mut self) {
        self.pause = Duration::ZERO;
    }

    /// Begins an attempt unless one is under way; `slot` is told of its end.
    fn redial(&mut self, slot: u32) {
        self.waiting.push(slot);
        self.revive();
    }

    /// Begins an attempt; `false` if one is under way.
    pub(super) fn revive(&mut self) -> bool {
        self.link = None;
        if self.dialling.is_some() {
            return false;
        }
        let endpoint = Rc::clone(&self.endpoint);
        self.dialling = Some(Box::pin(dial(endpoint, self.group, self.pause)));
        self.pause = (self.pause * 2).clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
        true
    }

    /// Looks at the attempt. When it has ended: how, and the slots that waited for it.
    pub(super) fn poll_dial(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Option<(Result<(), Fault>, Vec<u32>)> {
        let Poll::Ready(result) = self.dialling.as_mut()?.as_mut().poll(cx) else {
            return None;
        };
        self.dialling = None;
        let result = result.map(|link| self.connected(link));
        Some((result, std::mem::take(&mut self.waiting)))
    }

    /// Puts the request in, if the connection takes one. `request` is taken only then.
    pub(super) fn send(
        &mut self,
        slot: u32,
        handle: &mut Handle,
        request: &mut Option<Prepared>,
        cx: &mut Context<'_>,
    ) -> Sent {
        let Some(link) = self.link.as_mut().filter(|link| !link.is_over()) else {
            self.redial(slot);
            return Sent::Lost;
        };
        if let Sender::Http1(sender) = &mut link.sender {
            return match sender.poll_ready(cx) {
                Poll::Pending => Sent::Wait,
                Poll::Ready(Err(_)) => {
                    self.redial(slot);
                    Sent::Lost
                }
                Poll::Ready(Ok(())) => match request.take() {
                    Some(request) => {
                        Sent::Flying(Flight::start_plain(sender, request, &link.health))
                    }
                    None => Sent::Wait,
                },
            };
        }
        if handle
            .as_ref()
            .is_none_or(|(generation, _)| *generation != self.generation)
        {
            *handle = link.share().map(|sender| (self.generation, sender));
        }
        let Some((_, sender)) = handle else {
            return Sent::Wait;
        };
        match sender.poll_ready(cx) {
            Poll::Pending => Sent::Wait,
            Poll::Ready(Err(_)) => {
                // Going away, or gone: what is under way may still end, nothing begins any more.
                link.health.end();
                self.redial(slot);
                Sent::Lost
            }
            Poll::Ready(Ok(())) => match request.take() {
                Some(request) => match Flight::start(sender, request, &link.health) {
                    Ok(flight) => Sent::Flying(flight),
                    Err(error) => Sent::Failed(link.health.h2(&error)),
                },
                None => Sent::Wait,
            },
        }
    }
}
