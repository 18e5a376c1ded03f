//! Sends this node's messages to the other nodes, in the order in which they were queued.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{MissedTickBehavior, interval, timeout};
use uuid::Uuid;

use super::broker::Broker;
use super::wire::{PresenceMessage, TrackedChannel, TrackedEntry, TrackingChannel};
use crate::metrics::METRICS;
use crate::presence::{Entry, NodeNumber, PresenceStore};

/// Most messages that wait for the broker.
const QUEUE_MESSAGES: usize = 8192;
/// Most bytes of broadcasts and presence that wait for the broker.
const QUEUE_BYTES: usize = 32 * 1024 * 1024;
/// How many heartbeats a node sends in the time after which the others take it for dead.
const HEARTBEATS_PER_TIMEOUT: u32 = 6;
/// About how many bytes of a state go into one message.
const STATE_PART_BYTES: usize = 256 * 1024;
/// What a broadcast has between nodes besides its payload: topic, event, and the envelope of its form.
const ENVELOPE_BYTES: usize = 100_000;
/// How long the last messages of a node that shuts down may take.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);

/// A queued message of this node.
#[derive(Debug)]
pub(super) enum Outgoing {
    /// An encoded broadcast.
    Broadcast { subject: String, message: Bytes },
    /// What a channel of this node has tracked; `None` if it has untracked.
    Change {
        channel: TrackingChannel,
        entry: Option<Entry>,
    },
    /// Ask a node for its state, or every node.
    RequestState { of: Option<Uuid> },
    /// Send a node the state of this one.
    SendState { to: Uuid },
    /// Tell the others that this node shuts down.
    Leave { done: oneshot::Sender<()> },
}

/// The bounded queue in front of the publisher. Pushing never waits, because sockets do it.
#[derive(Debug, Clone)]
pub(super) struct OutgoingQueue {
    sender: mpsc::Sender<Outgoing>,
    queued_bytes: Arc<AtomicUsize>,
    /// Set when a change of presence did not fit. The publisher then skips a number, so that receivers notice.
    has_lost_change: Arc<AtomicBool>,
}

/// The other end of an [`OutgoingQueue`].
pub(super) struct OutgoingReceiver {
    receiver: mpsc::Receiver<Outgoing>,
    queued_bytes: Arc<AtomicUsize>,
    has_lost_change: Arc<AtomicBool>,
}

impl OutgoingQueue {
    pub(super) fn new() -> (Self, OutgoingReceiver) {
        let (sender, receiver) = mpsc::channel(QUEUE_MESSAGES);
        let queue = Self {
            sender,
            queued_bytes: Arc::default(),
            has_lost_change: Arc::default(),
        };
        let receiver = OutgoingReceiver {
            receiver,
            queued_bytes: Arc::clone(&queue.queued_bytes),
            has_lost_change: Arc::clone(&queue.has_lost_change),
        };
        (queue, receiver)
    }

    /// Queues a message, or drops it when the queue is full.
    pub(super) fn push(&self, outgoing: Outgoing) {
        let is_change = matches!(outgoing, Outgoing::Change { .. });
        let bytes = queued_bytes_of(&outgoing);
        let queued = self.queued_bytes.fetch_add(bytes, Ordering::Relaxed);
        if queued + bytes > QUEUE_BYTES || self.sender.try_send(outgoing).is_err() {
            self.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
            METRICS.count_drop("broker_queue");
            if is_change {
                self.has_lost_change.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Tells the others that this node shuts down, and waits until the broker has it, at most a second.
    pub(super) async fn leave(&self) {
        let (done, is_done) = oneshot::channel();
        let leave = async {
            // Unlike other messages this one waits for room in the queue: otherwise the others would show this node's
            // presence for half a minute after its end.
            self.sender.send(Outgoing::Leave { done }).await.ok();
            is_done.await.ok();
        };
        timeout(LEAVE_TIMEOUT, leave).await.ok();
    }
}

fn queued_bytes_of(outgoing: &Outgoing) -> usize {
    match outgoing {
        Outgoing::Broadcast { message, .. } => message.len(),
        Outgoing::Change {
            entry: Some(entry), ..
        } => entry.len(),
        _ => 0,
    }
}

/// Publishes what is queued.
pub(super) struct Publisher {
    pub(super) node: Uuid,
    /// Subject of messages about presence.
    pub(super) presence_subject: String,
    pub(super) broker: Arc<dyn Broker>,
    pub(super) presence: Arc<PresenceStore>,
    /// See [`super::ClusterConfig::node_timeout`].
    pub(super) node_timeout: Duration,
    /// Longest payload that clients may send.
    pub(super) max_payload_bytes: usize,
    /// Number of the last change of presence.
    pub(super) sequence: u64,
}

impl Publisher {
    /// Publishes until the queue is dropped, and a heartbeat in between.
    pub(super) async fn run(mut self, mut queue: OutgoingReceiver) {
        let mut is_limit_known = false;
        let mut heartbeat = interval(self.node_timeout / HEARTBEATS_PER_TIMEOUT);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                outgoing = queue.receiver.recv() => {
                    let Some(outgoing) = outgoing else { return };
                    queue.queued_bytes.fetch_sub(queued_bytes_of(&outgoing), Ordering::Relaxed);
                    self.skip_number_of_lost_change(&queue);
                    self.send(outgoing).await;
                }
                _ = heartbeat.tick() => {
                    if self.broker.is_connected() && !std::mem::replace(&mut is_limit_known, true) {
                        self.warn_of_small_messages();
                    }
                    self.skip_number_of_lost_change(&queue);
                    let (node, sequence) = (self.node, self.sequence);
                    self.publish_presence(&PresenceMessage::Heartbeat { node, sequence }).await;
                }
            }
        }
    }

    /// Says in the log when the broker accepts shorter messages than clients may send.
    fn warn_of_small_messages(&self) {
        let (limit, wanted) = (
            self.broker.max_message_bytes(),
            self.max_payload_bytes + ENVELOPE_BYTES,
        );
        if limit < wanted {
            tracing::warn!(
                limit,
                wanted,
                "the broker's max_payload is below max_payload_bytes plus 100 000: longer broadcasts stay on their node, and longer \
                 presences are refused"
            );
        }
    }

    fn skip_number_of_lost_change(&mut self, queue: &OutgoingReceiver) {
        if queue.has_lost_change.swap(false, Ordering::Relaxed) {
            self.sequence += 1;
        }
    }

    async fn send(&mut self, outgoing: Outgoing) {
        let node = self.node;
        match outgoing {
            Outgoing::Broadcast { subject, message } => self.publish(subject, message).await,
            Outgoing::Change { channel, entry } => {
                // Counted also when the message gets lost below, so that receivers notice the gap.
                self.sequence += 1;
                let change = PresenceMessage::Change {
                    node,
                    sequence: self.sequence,
                    channel,
                    entry: entry.as_ref().map(TrackedEntry::from_entry),
                };
                self.publish_presence(&change).await;
            }
            Outgoing::RequestState { of } => {
                self.publish_presence(&PresenceMessage::Request { node, of })
                    .await;
            }
            Outgoing::SendState { to } => self.send_state(to).await,
            Outgoing::Leave { done } => {
                self.publish_presence(&PresenceMessage::Leave { node }).await;
                if let Err(error) = self.broker.flush().await {
                    tracing::debug!(%error, "the message broker did not confirm the leave");
                }
                done.send(()).ok();
            }
        }
    }

    /// Sends all that channels of this node have tracked. Every change that was published before is in it, because a
    /// change is stored before it is queued.
    async fn send_state(&self, to: Uuid) {
        let parts = split_state(self.presence.entries_of(NodeNumber::OWN).into_iter().map(
            |(topic, channel, entry)| TrackedChannel {
                channel: TrackingChannel::new(&topic, channel),
                entry: TrackedEntry::from_entry(&entry),
            },
        ));
        let count = parts.len();
        for (part, channels) in parts.into_iter().enumerate() {
            let state = PresenceMessage::State {
                node: self.node,
                to,
                sequence: self.sequence,
                part,
                parts: count,
                channels,
            };
            self.publish_presence(&state).await;
        }
    }

    async fn publish_presence(&self, message: &PresenceMessage) {
        self.publish(self.presence_subject.clone(), message.encode())
            .await;
    }

    /// Publishes a message, or drops it: while the broker is away, what waited would come late, and out of date.
    async fn publish(&self, subject: String, message: Bytes) {
        if !self.broker.is_connected() {
            METRICS.count_drop("broker_away");
            return;
        }
        let (bytes, limit) = (message.len(), self.broker.max_message_bytes());
        if bytes > limit {
            METRICS.count_drop("too_large_for_broker");
            tracing::warn!(bytes, limit, "a message is longer than the broker's max_payload");
            return;
        }
        match self.broker.publish(subject, message).await {
            Ok(()) => METRICS.broker_published.inc(),
            Err(error) => {
                METRICS.count_drop("broker_away");
                tracing::warn!(%error, "cannot publish at the message broker");
            }
        }
    }
}

/// Groups channels into parts of about [`STATE_PART_BYTES`]; at least one part, which may be empty.
fn split_state(channels: impl Iterator<Item = TrackedChannel>) -> Vec<Vec<TrackedChannel>> {
    let mut parts = vec![Vec::new()];
    let mut bytes = 0;
    for channel in channels {
        let length = serde_json::to_vec(&channel).map_or(0, |json| json.len());
        if bytes > 0 && bytes + length > STATE_PART_BYTES {
            parts.push(Vec::new());
            bytes = 0;
        }
        bytes += length;
        parts.last_mut().expect("there is always a part").push(channel);
    }
    parts
}
