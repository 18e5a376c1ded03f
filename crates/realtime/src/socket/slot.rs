//! The topics of a socket: joined channels, and joins that are being checked. A socket has at most one of either per
//! topic.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use foldhash::quality::RandomState;
use tokio::sync::oneshot;

use crate::channel::Channel;
use crate::fanout::ChannelId;
use crate::frame::{ClientFrame, Reference};
use crate::metrics::METRICS;

/// How many messages of one channel may wait for the database; further ones are dropped, so that a client cannot fill
/// the memory behind a slow policy.
const MAX_DEFERRED: usize = 1000;
/// How many bytes of frames they may have together; a single one may be longer.
const MAX_DEFERRED_BYTES: usize = 1024 * 1024;

/// One topic of a socket.
pub(super) enum Slot {
    /// A join whose checks are running.
    Joining(Box<Joining>),
    Joined(Box<Channel>),
}

/// A join whose checks are running.
pub(super) struct Joining {
    pub(super) join_ref: Reference,
    pub(super) reference: Reference,
    /// When the join arrived; only where spans of messages are exported.
    pub(super) received: Option<Instant>,
    /// The channel that this join replaces; it stays active until the join is answered.
    pub(super) previous: Option<Box<Channel>>,
    /// Messages on this topic that arrived after the join, oldest first.
    pub(super) deferred: VecDeque<ClientFrame>,
    /// Whether the join waits for its subscriptions, which may take long.
    pub(super) waits: bool,
    /// Ends the checks when it is dropped.
    pub(super) _checks: oneshot::Sender<()>,
}

impl Joining {
    /// Whether the client has given up this join, as long as it waits: it leaves the channel, or joins anew.
    fn is_given_up_by(&self, frame: &ClientFrame) -> bool {
        let is_same = frame.join_ref == self.join_ref;
        self.waits
            && match frame.event.as_str() {
                "phx_leave" => is_same,
                "phx_join" => !is_same,
                _ => false,
            }
    }
}

/// The topics of a socket by their names in frames. Public and private channels of one name share a key, because frames do
/// not distinguish them.
#[derive(Default)]
pub(super) struct Slots {
    by_topic: HashMap<String, Slot, RandomState>,
}

impl Slots {
    /// Number of joined channels and pending joins, which count against the limit of channels alike.
    pub(super) fn len(&self) -> usize {
        self.by_topic.len()
    }

    pub(super) fn get_mut(&mut self, topic: &str) -> Option<&mut Slot> {
        self.by_topic.get_mut(topic)
    }

    pub(super) fn insert(&mut self, topic: String, slot: Slot) {
        self.by_topic.insert(topic, slot);
    }

    /// Removes and returns a pending join. A joined channel of that topic is left in place.
    pub(super) fn take_joining(&mut self, topic: &str) -> Option<Joining> {
        match self.by_topic.remove(topic)? {
            Slot::Joining(joining) => Some(*joining),
            joined @ Slot::Joined(_) => {
                self.by_topic.insert(topic.to_owned(), joined);
                None
            }
        }
    }

    /// Drops the pending join that the client gives up by this message, with the messages behind it, which were for a channel that never
    /// was; returns whether there is one.
    pub(super) fn drop_given_up(&mut self, frame: &ClientFrame) -> bool {
        match self.by_topic.get(&frame.topic) {
            Some(Slot::Joining(joining)) if joining.is_given_up_by(frame) => {}
            _ => return false,
        }
        let given_up = self.take_joining(&frame.topic);
        if let Some(previous) = given_up.and_then(|joining| joining.previous) {
            previous.member().push_close();
        }
        true
    }

    /// Removes and returns a joined channel. A pending join of that topic is left in place.
    pub(super) fn take_joined(&mut self, topic: &str) -> Option<Box<Channel>> {
        match self.by_topic.remove(topic)? {
            Slot::Joined(channel) => Some(channel),
            joining @ Slot::Joining(_) => {
                self.by_topic.insert(topic.to_owned(), joining);
                None
            }
        }
    }

    /// The channel of a topic if it still has this id. A later join of the same topic makes a new channel with a new
    /// id, to which results for the old one must not be applied.
    pub(super) fn find_channel(&mut self, topic: &str, id: ChannelId) -> Option<&mut Channel> {
        match self.by_topic.get_mut(topic) {
            Some(Slot::Joined(channel)) if channel.member().id == id => Some(channel),
            _ => None,
        }
    }

    /// The topic of the channel with this id.
    pub(super) fn find_topic(&self, id: ChannelId) -> Option<String> {
        self.by_topic.iter().find_map(|(topic, slot)| match slot {
            Slot::Joined(channel) if channel.member().id == id => Some(topic.clone()),
            _ => None,
        })
    }

    /// All joined channels with their topics.
    pub(super) fn channels_mut(&mut self) -> impl Iterator<Item = (&String, &mut Channel)> {
        self.by_topic.iter_mut().filter_map(|(topic, slot)| match slot {
            Slot::Joined(channel) => Some((topic, &mut **channel)),
            Slot::Joining(_) => None,
        })
    }

    /// Drops every channel, which removes it from fan-out, presence and change delivery.
    pub(super) fn clear(&mut self) {
        self.by_topic.clear();
    }
}

/// Queues a message until the database has answered; drops it when [`MAX_DEFERRED`] messages or [`MAX_DEFERRED_BYTES`] wait already.
pub(super) fn defer(deferred: &mut VecDeque<ClientFrame>, frame: ClientFrame) {
    let waiting: usize = deferred.iter().map(|one| one.bytes).sum();
    let fits = deferred.is_empty() || waiting + frame.bytes <= MAX_DEFERRED_BYTES;
    if fits && deferred.len() < MAX_DEFERRED {
        deferred.push_back(frame);
    } else {
        METRICS.count_drop("deferred");
    }
}
