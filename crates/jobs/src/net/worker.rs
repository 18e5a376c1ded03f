//! The loop of pg_net: keeps requests in flight up to the limit, stores what comes back, deletes what has expired.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use tokio_postgres::Client;

use super::queue::{
    QueuedRequest, SMALL_BODY, StoredResponse, delete_expired_responses, is_installed, store_response,
    take_requests,
};
use super::send::send_queued;
use crate::config::NetConfig;
use crate::error::JobsError;
use crate::metrics::{METRICS, Raised};
use crate::sender::Sender;

/// How often expired responses are deleted, and the queue is read although nothing announced a request: a transaction
/// that was prepared and committed later announces none.
const INTERVAL: Duration = Duration::from_secs(60);

/// How many requests are read by one query: more than are sent at the same time, so that the queue is not queried after
/// each.
const BATCH: usize = 200;

/// Bytes of large bodies that are in memory at the same time, apart from the one that exceeds them.
const LARGE_BODIES: usize = 16 * 1024 * 1024;

/// Sends queued requests until the database fails. `wake` announces new ones.
pub(crate) async fn send_queued_requests(
    client: &Client,
    config: &NetConfig,
    wake: &Notify,
) -> Result<Infallible, JobsError> {
    let sender = Sender::new(config.clone());
    let mut waiting: VecDeque<QueuedRequest> = VecDeque::new();
    let mut in_flight = FuturesUnordered::new();
    let mut in_flight_ids: Vec<i64> = Vec::new();
    // Bytes of large bodies in flight.
    let mut large = 0;
    let mut next_round = Instant::now();
    loop {
        let is_due = Instant::now() >= next_round;
        if is_due {
            next_round = Instant::now() + INTERVAL;
            if !is_installed(client).await? {
                wait_for_extension(wake, next_round).await;
                next_round = Instant::now();
                continue;
            }
            while delete_expired_responses(client, config.ttl).await? > 0 {}
        }
        if waiting.is_empty() && in_flight.len() < config.max_parallel {
            let room = LARGE_BODIES.saturating_sub(large);
            waiting.extend(read_queue(client, &in_flight_ids, room).await?);
        }
        while in_flight.len() < config.max_parallel
            && let Some(request) = waiting.pop_front()
        {
            in_flight_ids.push(request.id);
            let bytes = counted_bytes(&request);
            large += bytes;
            let sent = send_counted(&sender, request);
            in_flight.push(async move { (sent.await, bytes) });
        }
        tokio::select! {
            Some(((id, response), bytes)) = in_flight.next() => {
                large -= bytes;
                store_response(client, id, response).await?;
                in_flight_ids.retain(|other| *other != id);
            }
            () = wake.notified() => {}
            () = sleep_until(next_round) => {}
        }
    }
}

/// The next requests. What cannot be read gets its error as the response, so that the row does not come again.
async fn read_queue(client: &Client, known: &[i64], room: usize) -> Result<Vec<QueuedRequest>, JobsError> {
    let mut requests = Vec::new();
    for request in take_requests(client, known, BATCH, room).await? {
        match request {
            Ok(request) => requests.push(request),
            Err((id, reason)) => store_response(client, id, StoredResponse::failed(reason)).await?,
        }
    }
    Ok(requests)
}

/// The bytes of a request that count as those of a large body.
fn counted_bytes(request: &QueuedRequest) -> usize {
    let bytes = request.body.as_ref().map_or(0, Vec::len);
    if bytes > SMALL_BODY { bytes } else { 0 }
}

/// Waits until something is announced, such as the extension itself, or until the next round.
async fn wait_for_extension(wake: &Notify, next_round: Instant) {
    tokio::select! {
        () = wake.notified() => {}
        () = sleep_until(next_round) => {}
    }
}

/// Sends a request and counts its outcome.
async fn send_counted(sender: &Sender, request: QueuedRequest) -> (i64, StoredResponse) {
    let _in_flight = Raised::raise(&METRICS.net_in_flight);
    let id = request.id;
    let response = send_queued(sender, request).await;
    let outcome = match &response {
        StoredResponse { error_msg: None, .. } => "response",
        StoredResponse {
            timed_out: Some(true),
            ..
        } => "timeout",
        _ => "error",
    };
    METRICS.net_requests.with_label_values(&[outcome]).inc();
    (id, response)
}
