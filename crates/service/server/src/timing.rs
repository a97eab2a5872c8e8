//! The header `Server-Timing` (W3C): where the time of a request went.

use std::time::Duration;

use http::{HeaderName, HeaderValue, Response};
use keywright_service::Spent;

use crate::transport::Reply;

/// Whether answers say where their time went, in a header `Server-Timing`.
///
/// It tells a caller how long a key was used, more exactly than the network would: whoever switches it on decides
/// that callers may know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing between")]
pub enum Timing {
    /// They do not.
    #[default]
    Hide,
    /// Queue and holder, where one worked, and all of the request.
    Tell,
}

impl Timing {
    /// Keeps what a holder's work took beside its answer until that leaves.
    pub(crate) fn note(self, response: &mut Response<Reply>, spent: Spent) {
        if self == Self::Tell {
            response.extensions_mut().insert(spent);
        }
    }

    /// Adds the header, if it is wanted; `total` is asked only then.
    pub(crate) fn stamp(self, response: &mut Response<Reply>, total: impl FnOnce() -> Duration) {
        if self == Self::Tell {
            let spent = response.extensions_mut().remove::<Spent>();
            if let Ok(value) = HeaderValue::from_str(&told(spent, total())) {
                response.headers_mut().insert(SERVER_TIMING, value);
            }
        }
    }
}

const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// `queue;dur=0.004, holder;dur=0.031, total;dur=0.080`, in milliseconds.
fn told(spent: Option<Spent>, total: Duration) -> String {
    let millis = |took: Duration| {
        let micros = took.as_micros();
        format!("{}.{:03}", micros / 1000, micros % 1000)
    };
    let parts = spent.map(|spent| {
        let (queue, holder) = (millis(spent.queue), millis(spent.holder));
        format!("queue;dur={queue}, holder;dur={holder}, ")
    });
    format!("{}total;dur={}", parts.unwrap_or_default(), millis(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_milliseconds_with_three_places() {
        let spent = Spent {
            queue: Duration::from_micros(4),
            holder: Duration::from_micros(1_031),
        };
        let total = Duration::from_nanos(2_080_999);
        let told = "queue;dur=0.004, holder;dur=1.031, total;dur=2.080";
        assert_eq!(super::told(Some(spent), total), told);
        assert_eq!(
            super::told(None, Duration::from_secs(3)),
            "total;dur=3000.000"
        );
    }
}
