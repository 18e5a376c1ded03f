//! Reads the presence messages of other nodes.

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use tokio::time::{MissedTickBehavior, interval};

use super::node_table::NodeTable;
use super::publisher::OutgoingQueue;
use super::wire::PresenceMessage;
use crate::metrics::METRICS;

/// How often silent nodes are looked for.
const SILENCE_CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Applies messages about presence until the connection ends for good.
pub(super) async fn receive_presence(
    mut messages: BoxStream<'static, Bytes>,
    mut nodes: NodeTable,
    outgoing: OutgoingQueue,
) {
    let mut check = interval(SILENCE_CHECK_INTERVAL);
    check.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            message = messages.next() => {
                let Some(message) = message else { return };
                METRICS.broker_received.inc();
                let reply = PresenceMessage::decode(&message).and_then(|message| nodes.handle_message(message));
                if let Some(reply) = reply {
                    outgoing.push(reply);
                }
            }
            _ = check.tick() => nodes.remove_silent(),
        }
    }
}
