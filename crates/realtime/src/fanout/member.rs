//! A joined channel as the fan-out sees it: the queue for its messages, and which messages it gets.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::channel_id::ChannelId;
use super::outbox::Outbox;
use crate::broadcast::RowKey;
use crate::frame::{EncodedFrame, Reference, ServerFrame, Version};
use crate::topic::Topic;

/// Whether presence diffs are sent to a channel, and in which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PresenceReception {
    /// The member receives no presence diffs.
    Off,
    /// Diffs are sent as fan-out messages, whose `join_ref` is null.
    Fanout,
    /// Diffs are sent as pushes of the channel, with its `join_ref`. Compat: for channels that joined without presence and tracked
    /// later.
    ChannelPush,
}

/// A joined channel as the fan-out sees it. Belongs to one thread; its cells change without locks.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) id: ChannelId,
    pub(crate) topic: Topic,
    /// Protocol version of the socket.
    pub(crate) version: Version,
    /// Reference of the join, which messages of this channel carry.
    pub(crate) join_ref: Reference,
    /// Queue of the socket, shared by all its channels.
    pub(crate) outbox: Rc<Outbox>,
    /// Whether broadcasts are delivered. False on a private channel whose caller may read presence only.
    pub(crate) receives_broadcasts: Cell<bool>,
    pub(crate) presence: Cell<PresenceReception>,
    /// Sequence number of the presence state that the channel got; the state includes all diffs up to it.
    pub(crate) presence_sequence: Cell<u64>,
    /// Rows of `realtime.messages` that were replayed at the join. The replication stream may deliver the same
    /// rows a moment later; they are then skipped.
    pub(crate) replayed: RefCell<Vec<RowKey>>,
}

impl Member {
    /// Queues a push of the channel: with its `join_ref` and a null `ref`.
    pub(crate) fn push(&self, event: &str, payload: &str) {
        self.send(&Reference::NULL, event, payload);
    }

    /// Queues a reply to a message.
    pub(crate) fn reply(&self, reference: &Reference, payload: &str) {
        self.send(reference, "phx_reply", payload);
    }

    /// Queues `phx_close`. Its `ref` is the `join_ref`: the stock client closes only the channel whose join has this
    /// reference.
    pub(crate) fn push_close(&self) {
        self.send(&self.join_ref, "phx_close", "{}");
    }

    /// Queues an encoded frame.
    pub(crate) fn push_frame(&self, frame: EncodedFrame) {
        self.outbox.push(frame);
    }

    fn send(&self, reference: &Reference, event: &str, payload: &str) {
        let frame = ServerFrame {
            join_ref: &self.join_ref,
            reference,
            topic: self.topic.wire_name(),
            event,
            payload,
        };
        self.outbox.push_own(frame.encode(self.version));
    }
}
