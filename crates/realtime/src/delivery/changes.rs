//! The connection from the change feed to the channels: a [`ChangeSink`] that passes the feed's events to the fan-out.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::sync::watch;
use uuid::Uuid;

use crate::broadcast::{Broadcast, Content};
use crate::changes::{BroadcastRow, ChangeSink, ChannelKey};
use crate::fanout::{ChannelId, ChannelMessage, Hub, SystemMessage};
use crate::frame::Encoding;
use crate::topic::Topic;

/// Passes the feed's events to the worker threads. Its methods run on the feed's thread; they only send to mailboxes
/// and never wait.
pub(crate) struct ChangeDelivery {
    hub: Arc<Hub>,
    is_replicating: watch::Sender<bool>,
    max_payload_bytes: usize,
}

impl ChangeDelivery {
    /// A sink for the channels of this hub. Broadcasts with a longer payload are dropped; `is_replicating` is set to
    /// whether the replication stream runs.
    pub(crate) fn new(hub: Arc<Hub>, is_replicating: watch::Sender<bool>, max_payload_bytes: usize) -> Self {
        Self {
            hub,
            is_replicating,
            max_payload_bytes,
        }
    }
}

impl ChangeSink for ChangeDelivery {
    fn deliver(&self, channels: &[ChannelKey], ids: &Arc<[u64]>, data: &Bytes) {
        let message = ChannelMessage::Change {
            ids: Arc::clone(ids),
            data: data.clone(),
        };
        self.hub
            .send_to_channels(channels.iter().map(|key| ChannelId::from(key.0)), message);
    }

    fn notify(&self, channel: ChannelKey, is_ok: bool, message: &str) {
        let system = SystemMessage {
            extension: "postgres_changes",
            is_ok,
            message: message.to_owned(),
        };
        self.hub
            .send_to_channels([ChannelId::from(channel.0)], ChannelMessage::System(system));
    }

    fn broadcast(&self, row: BroadcastRow) {
        if let Some(broadcast) = broadcast_of(row, self.max_payload_bytes) {
            self.hub.broadcast(&Arc::new(broadcast));
        }
    }

    fn settled(&self, is_full: bool) -> BoxFuture<'static, ()> {
        self.hub.settled(is_full)
    }

    fn broadcasts_ready(&self, are_ready: bool) {
        self.is_replicating.send_replace(are_ready);
    }
}

/// Turns a row of `realtime.messages` into a broadcast. `None` for a row without an event or a payload, and for a
/// payload over the limit.
fn broadcast_of(row: BroadcastRow, max_payload_bytes: usize) -> Option<Broadcast> {
    let row_id: Uuid = row.id.parse().ok()?;
    let (encoding, payload) = match (row.payload, row.binary_payload) {
        // A row with both payloads counts as JSON, which every protocol version can carry.
        (Some(json), _) => (Encoding::Json, json),
        (None, Some(bytes)) => (Encoding::Bytes, bytes),
        (None, None) => return None,
    };
    // Rows come from SQL, where no limit applies; without this check one insert could fill the outboxes of all
    // members.
    if payload.len() > max_payload_bytes {
        crate::metrics::METRICS.count_drop("too_large");
        return None;
    }
    let content = Content::User {
        event: row.event?,
        encoding,
        payload,
        meta: format!(r#"{{"id":"{row_id}"}}"#),
    };
    Some(Broadcast::of_row(
        Topic::new(&row.topic, row.is_private),
        (row_id, row.inserted_at),
        content,
    ))
}
