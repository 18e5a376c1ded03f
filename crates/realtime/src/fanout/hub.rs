//! The part of the fan-out that all threads share: which worker has members of a topic, and a mailbox for each worker.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use foldhash::quality::RandomState;
use futures_util::future::BoxFuture;
use serde_json::json;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::channel_id::ChannelId;
use crate::broadcast::Broadcast;
use crate::presence::PresenceDiff;
use crate::topic::Topic;

/// Number of locks of the interest table; topics are spread over them by hash, so that joins and broadcasts of
/// different topics rarely wait for each other.
const SHARDS: usize = 64;

/// A message in a worker's mailbox, to be delivered to members on its thread.
#[derive(Debug, Clone)]
pub(crate) enum Delivery {
    Broadcast(Arc<Broadcast>),
    Presence(Arc<PresenceDiff>),
    /// A message to named channels of this worker.
    Channels(Vec<ChannelId>, Arc<ChannelMessage>),
    /// Drop `done` when everything before it in the mailbox has been queued for its sockets and, if `waits_for_readers`,
    /// when these have had a moment to read.
    Settle {
        waits_for_readers: bool,
        done: mpsc::Sender<()>,
    },
    /// Let every socket look whether the users of its channels were deleted or banned.
    CheckUsers,
    /// Close every socket, spread over this time.
    Drain(Duration),
}

/// A message to channels that are addressed by id instead of by topic.
#[derive(Debug)]
pub(crate) enum ChannelMessage {
    /// A database change: the ids of the bindings that match, and the event's `data` as JSON text.
    Change { ids: Arc<[u64]>, data: Bytes },
    /// A `system` event, which carries each channel's own `join_ref`.
    System(SystemMessage),
}

/// Payload of a `system` event, without the channel's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SystemMessage {
    /// The feature that reports: `postgres_changes` or `system`.
    pub(crate) extension: &'static str,
    pub(crate) is_ok: bool,
    pub(crate) message: String,
}

impl SystemMessage {
    /// The payload as JSON text, with the name of this topic as `channel`.
    pub(crate) fn payload(&self, topic: &Topic) -> String {
        let status = if self.is_ok { "ok" } else { "error" };
        json!({ "extension": self.extension, "status": status, "message": self.message, "channel": topic.name() }).to_string()
    }
}

/// Indices of the workers that have members of a topic.
type Interest = HashMap<Topic, Vec<usize>, RandomState>;

/// Mailboxes of the workers, and which topics each worker has members of.
#[derive(Debug)]
pub(crate) struct Hub {
    hasher: RandomState,
    /// Senders by worker index. Mailboxes are unbounded, because the sender may be another worker that must not wait;
    /// the bound is at each socket's outbox.
    workers: RwLock<Vec<UnboundedSender<Delivery>>>,
    interest: Vec<RwLock<Interest>>,
}

impl Hub {
    pub(crate) fn new() -> Self {
        Self {
            hasher: RandomState::default(),
            workers: RwLock::default(),
            interest: (0..SHARDS).map(|_| RwLock::default()).collect(),
        }
    }

    /// Adds a worker and returns its index and its mailbox.
    pub(crate) fn register_worker(&self) -> (usize, UnboundedReceiver<Delivery>) {
        let (sender, receiver) = unbounded_channel();
        let mut workers = self.workers.write().unwrap_or_else(PoisonError::into_inner);
        workers.push(sender);
        (workers.len() - 1, receiver)
    }

    /// Records that a worker has its first member of a topic. Must happen before the reply to the join, because other
    /// clients may broadcast to the new member from then on.
    pub(super) fn add_interest(&self, topic: &Topic, worker: usize) {
        let mut shard = self.shard(topic).write().unwrap_or_else(PoisonError::into_inner);
        shard.entry(topic.clone()).or_default().push(worker);
    }

    /// Records that a worker has no member of a topic any more.
    pub(super) fn remove_interest(&self, topic: &Topic, worker: usize) {
        let mut shard = self.shard(topic).write().unwrap_or_else(PoisonError::into_inner);
        if let Some(workers) = shard.get_mut(topic) {
            // A topic without interested workers is removed, so that the table does not grow with every topic ever
            // used.
            workers.retain(|other| *other != worker);
            if workers.is_empty() {
                shard.remove(topic);
            }
        }
    }

    /// Sends a delivery to every worker with members of the topic. `except` is a worker that has already delivered to
    /// its own members.
    pub(crate) fn send_to_topic(&self, topic: &Topic, except: Option<usize>, delivery: &Delivery) {
        let shard = self.shard(topic).read().unwrap_or_else(PoisonError::into_inner);
        let Some(interested) = shard.get(topic) else {
            return;
        };
        let workers = self.workers.read().unwrap_or_else(PoisonError::into_inner);
        for worker in interested.iter().filter(|worker| Some(**worker) != except) {
            // Sending fails only after a worker's thread has ended, and its sockets with it.
            workers[*worker].send(delivery.clone()).ok();
        }
    }

    /// Sends a broadcast that did not come from a channel of this process: from the HTTP API, from the
    /// database or from another node.
    pub(crate) fn broadcast(&self, broadcast: &Arc<Broadcast>) {
        // No worker is excluded, because the message was not sent by a channel.
        self.send_to_topic(
            &broadcast.topic,
            None,
            &Delivery::Broadcast(Arc::clone(broadcast)),
        );
    }

    /// Sends a message to channels by id, with one mailbox message per worker.
    pub(crate) fn send_to_channels(
        &self,
        channels: impl IntoIterator<Item = ChannelId>,
        message: ChannelMessage,
    ) {
        let mut by_worker: HashMap<usize, Vec<ChannelId>> = HashMap::new();
        for channel in channels {
            by_worker.entry(channel.worker()).or_default().push(channel);
        }
        let message = Arc::new(message);
        let workers = self.workers.read().unwrap_or_else(PoisonError::into_inner);
        for (worker, channels) in by_worker {
            workers[worker]
                .send(Delivery::Channels(channels, message.clone()))
                .ok();
        }
    }

    /// Resolves when all workers have queued for their sockets what was sent to them before. With `waits_for_readers` they
    /// then give sockets whose queues are half full a moment to empty them.
    pub(crate) fn settled(&self, waits_for_readers: bool) -> BoxFuture<'static, ()> {
        let (done, mut all_done) = mpsc::channel(1);
        let workers = self.workers.read().unwrap_or_else(PoisonError::into_inner);
        for worker in workers.iter() {
            let done = done.clone();
            let settle = Delivery::Settle {
                waits_for_readers,
                done,
            };
            worker.send(settle).ok();
        }
        // Nothing is ever sent: the receiver completes when the last worker has dropped its sender.
        Box::pin(async move {
            drop(done);
            all_done.recv().await;
        })
    }

    /// Lets every socket look whether the users of its channels were deleted or banned.
    pub(crate) fn check_users(&self) {
        let workers = self.workers.read().unwrap_or_else(PoisonError::into_inner);
        for worker in workers.iter() {
            worker.send(Delivery::CheckUsers).ok();
        }
    }

    /// Tells every worker to close its sockets, spread over this time.
    pub(crate) fn drain(&self, duration: Duration) {
        let workers = self.workers.read().unwrap_or_else(PoisonError::into_inner);
        for worker in workers.iter() {
            worker.send(Delivery::Drain(duration)).ok();
        }
    }

    fn shard(&self, topic: &Topic) -> &RwLock<Interest> {
        let hash =
            usize::try_from(self.hasher.hash_one(topic) % SHARDS as u64).expect("a remainder of 64 fits");
        &self.interest[hash]
    }
}
