//! Random bytes for callers who want nothing else.

use http::Response;
use keywright_api::error::Refusal;
use keywright_api::request::{Body as Items, RandomItem};
use keywright_api::write::{self, Done};
use keywright_api::{Codec, Codecs, MAX_RANDOM, MAX_RANDOM_TOTAL};
use keywright_types::Code;

use super::{Application, Asked};
use crate::exchange::good_in;
use crate::transport::{Body, Reply};

impl Application {
    pub(super) async fn random(
        &self,
        mut asked: Asked<'_>,
        body: &mut Body,
    ) -> Result<Response<Reply>, Refusal> {
        let room = body.room();
        let body = self.body_of(&mut asked, body).await?;
        let Codecs { request, answer } = asked.codecs;
        let parsed = request.read(&body, &self.limits);
        let parsed = parsed.and_then(|parsed: Items<RandomItem>| {
            let total = parsed
                .items()
                .iter()
                .fold(0_u64, |sum, item| sum.saturating_add(item.bytes));
            let single_wrong = !parsed.is_batch() && !length_is_good(total);
            if single_wrong || total > MAX_RANDOM_TOTAL {
                Err(Refusal::new(Code::ValueInvalid))
            } else {
                Ok(parsed)
            }
        });
        let parsed = match parsed {
            Ok(parsed) => parsed,
            Err(refusal) => return Err(Box::pin(self.refused(asked, refusal)).await),
        };
        let good_lengths = parsed
            .items()
            .iter()
            .map(|item| item.bytes)
            .filter(|n| length_is_good(*n));
        self.charge(asked, parsed.items().len())?;
        let total = usize::try_from(good_lengths.sum::<u64>()).unwrap_or(usize::MAX);
        // The bytes, and their form in the answer.
        let _reserved = match room.reserve(total.saturating_mul(5) / 2) {
            Ok(reserved) => reserved,
            Err(full) => {
                let refusal = Refusal::new(full.code());
                return Err(Box::pin(self.refused(asked, refusal)).await);
            }
        };
        let outcomes: Vec<_> = parsed.items().iter().map(outcome_of).collect();
        let bytes = self
            .release(self.worker.random(asked.call, total, &outcomes))
            .await?;
        let written = write_random(answer, &parsed, bytes.expose());
        Ok(good_in(answer, written))
    }
}

const fn outcome_of(item: &RandomItem) -> Code {
    if length_is_good(item.bytes) {
        Code::Ok
    } else {
        Code::ValueInvalid
    }
}

const fn length_is_good(bytes: u64) -> bool {
    bytes >= 1 && bytes <= MAX_RANDOM
}

/// Deals out `bytes` to the items of the request.
fn write_random(codec: Codec, parsed: &Items<RandomItem>, bytes: &[u8]) -> Vec<u8> {
    if !parsed.is_batch() {
        return write::one(codec, &Done::Random(bytes));
    }
    let room = codec.length_of(bytes.len());
    let mut batch = write::Batch::new(codec, parsed.items().len(), room);
    let mut rest = bytes;
    for item in parsed.items() {
        let length = usize::try_from(item.bytes).unwrap_or(usize::MAX);
        let taken = rest
            .split_at_checked(length)
            .filter(|_| length_is_good(item.bytes));
        batch.push(match taken {
            Some((now, later)) => {
                rest = later;
                Ok(Done::Random(now))
            }
            None => Err(Code::ValueInvalid),
        });
    }
    batch.finish()
}
