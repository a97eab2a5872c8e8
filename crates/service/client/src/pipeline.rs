//! Any number of items through batches, several of them under way at once, results in order.

use std::collections::VecDeque;

use keywright_api::answer::BatchAnswer;
use keywright_api::request::Body;
use keywright_api::route::Endpoint;
use keywright_types::Name;
use tokio::task::JoinHandle;

use crate::items::{Give, Take, path, read, write};
use crate::{Answer, Client, Error, ErrorBody};

/// How items are put into requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain numbers with defaults")]
pub struct Batching {
    /// Most items of one request. Default 1,000; the service takes 10,000.
    pub items: usize,
    /// Most bytes of one request, unless a single item is larger. Default 1 MiB; the service takes
    /// 16 MiB.
    pub bytes: usize,
    /// Requests under way at once. Default 4.
    pub requests: usize,
}

impl Default for Batching {
    fn default() -> Self {
        Self {
            items: 1000,
            bytes: 1 << 20,
            requests: 4,
        }
    }
}

/// Sends `items` and collects one result for each. Requests are written when it is their turn, so no
/// more than [`Batching::requests`] of them are in memory.
pub(crate) async fn pipeline<I: Give, T: Take>(
    client: &Client,
    (endpoint, context): (Endpoint, &Name),
    items: &[I],
    batching: Batching,
) -> Result<Vec<Result<T, ErrorBody>>, Error> {
    let path = path(endpoint, Some(context));
    let mut results = Vec::with_capacity(items.len());
    let mut under_way = VecDeque::new();
    let mut rest = items;
    while !rest.is_empty() || !under_way.is_empty() {
        if under_way.len() >= batching.requests.max(1) || rest.is_empty() {
            if let Some(sent) = under_way.pop_front() {
                collect(sent, &mut results).await?;
            }
            continue;
        }
        let (batch, later) = rest.split_at(fitting(rest, batching));
        under_way.push_back(send(client, &path, batch)?);
        rest = later;
    }
    Ok(results)
}

/// How many of the items go into the next request: at least one.
fn fitting<I: Give>(items: &[I], batching: Batching) -> usize {
    let mut bytes = 0_usize;
    let fit = items
        .iter()
        .take(batching.items.max(1))
        .take_while(|item| {
            bytes = bytes.saturating_add(item.weight());
            bytes <= batching.bytes
        })
        .count();
    fit.max(1)
}

/// A batch that has been sent. Dropped, it is cancelled.
struct Sent {
    task: JoinHandle<Result<Answer, Error>>,
    count: usize,
}

impl Drop for Sent {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn send<I: Give>(client: &Client, path: &str, batch: &[I]) -> Result<Sent, Error> {
    let items = Body::Many(batch.iter().map(Give::wire).collect());
    let body = write(client.codec(), &items)?;
    let (client, path) = (client.clone(), path.to_owned());
    Ok(Sent {
        task: tokio::spawn(async move { client.call_with_items(&path, body).await }),
        count: batch.len(),
    })
}

async fn collect<T: Take>(
    mut sent: Sent,
    results: &mut Vec<Result<T, ErrorBody>>,
) -> Result<(), Error> {
    // The task is aborted by nobody but `Sent`, and has nothing in it that panics; if it ended
    // without a word all the same, nothing is known of its request.
    let answer = (&mut sent.task).await.map_err(|_| Error::Closed)??;
    let body = answer.accepted()?;
    let batch: BatchAnswer<T::Wire<'_>> = read(&body)?;
    if batch.items.len() != sent.count {
        return Err(Error::Answer);
    }
    for result in batch.items {
        results.push(T::take_result(result)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seal;

    #[test]
    fn a_batch_is_limited_by_items_and_bytes_and_never_empty() {
        let item = Seal {
            plaintext: &[0; 300],
            aad: None,
        };
        let limits = |items, bytes| Batching {
            items,
            bytes,
            requests: 1,
        };
        let ten = [item; 10];
        assert_eq!(fitting(&ten, limits(3, usize::MAX)), 3);
        assert_eq!(fitting(&ten, limits(100, usize::MAX)), 10);
        assert_eq!(fitting(&ten, limits(100, 2 * item.weight())), 2);
        assert_eq!(fitting(&ten, limits(100, 2 * item.weight() - 1)), 1);
        assert_eq!(fitting(&ten, limits(0, 0)), 1);
    }
}
