//! To which broadcasts of other nodes this node subscribes.
//!
//! Topics are mapped to a fixed number of subjects by a hash of their name, so that the number of subscriptions is bounded.
//! A node subscribes to a subject when a channel of one of its topics joins, and unsubscribes some time after the last such
//! channel has left.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::broker::Broker;
use super::wire::decode_broadcast;
use crate::fanout::Hub;
use crate::metrics::METRICS;
use crate::topic::Topic;

/// Number of subjects for broadcasts. All nodes of a project must agree on it.
const BUCKETS: usize = 256;
/// How often subscriptions without channels are looked for. One that was needed a moment ago is often needed again.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);
/// How long a join waits for the broker to confirm a subscription: longer than a busy machine stalls, and well below the 10 s
/// after which the stock client gives a join up.
const CONFIRM_TIMEOUT: Duration = Duration::from_secs(3);

/// Number of a subject for broadcasts.
pub(super) type Bucket = usize;

/// A request to subscribe, answered when the subscription is confirmed.
pub(super) type Wish = (Bucket, oneshot::Sender<()>);

/// The channels of this node by subject.
pub(super) struct Interest {
    buckets: Vec<Mutex<BucketState>>,
    wishes: mpsc::UnboundedSender<Wish>,
}

#[derive(Debug, Default)]
struct BucketState {
    channels: usize,
    is_subscribed: bool,
}

/// A joined channel's share in the subscription to its topic's subject, given back when dropped.
pub(crate) struct JoinedTopic {
    interest: Arc<Interest>,
    bucket: Bucket,
}

impl Drop for JoinedTopic {
    fn drop(&mut self) {
        self.interest.lock(self.bucket).channels -= 1;
    }
}

impl Interest {
    /// Creates an empty set, and the receiver of its requests for [`Subscriptions::run`].
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<Wish>) {
        let (wishes, receiver) = mpsc::unbounded_channel();
        let buckets = (0..BUCKETS).map(|_| Mutex::default()).collect();
        (Self { buckets, wishes }, receiver)
    }

    /// Subscribes to the subject of a topic, and waits until the broker has confirmed it, at most three seconds: what others
    /// broadcast after the reply to the join must arrive.
    pub(super) async fn join(self: &Arc<Self>, topic: &Topic) -> JoinedTopic {
        let bucket = bucket_of(topic);
        let is_subscribed = {
            let mut state = self.lock(bucket);
            state.channels += 1;
            state.is_subscribed
        };
        let joined = JoinedTopic {
            interest: Arc::clone(self),
            bucket,
        };
        if !is_subscribed {
            let (confirm, confirmed) = oneshot::channel();
            // Neither result matters: without a broker the channel still gets what its own node sends.
            self.wishes.send((bucket, confirm)).ok();
            timeout(CONFIRM_TIMEOUT, confirmed).await.ok();
        }
        joined
    }

    fn lock(&self, bucket: Bucket) -> MutexGuard<'_, BucketState> {
        // A number and a flag cannot be left half changed by a panic.
        self.buckets[bucket]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The subject under which broadcasts of a topic are published.
pub(super) fn broadcast_subject(prefix: &str, topic: &Topic) -> String {
    subject(prefix, bucket_of(topic))
}

fn subject(prefix: &str, bucket: Bucket) -> String {
    format!("{prefix}.realtime.broadcast.{bucket}")
}

/// FNV-1a over namespace and name. Written out because all nodes must compute the same number, also with different
/// versions of a hashing crate.
fn bucket_of(topic: &Topic) -> Bucket {
    let bytes = topic.wire_name().bytes().chain([u8::from(topic.is_private())]);
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    usize::try_from(hash % BUCKETS as u64).expect("a remainder of 256 fits")
}

/// Subscribes on request of joins, delivers what arrives to this node's sockets, and ends subscriptions that no
/// channel needs any more. Runs until the process ends.
pub(super) struct Subscriptions {
    pub(super) interest: Arc<Interest>,
    pub(super) broker: Arc<dyn Broker>,
    /// First part of the subject of every message.
    pub(super) prefix: String,
    pub(super) hub: Arc<Hub>,
    /// The delivering tasks, by subject.
    pub(super) deliveries: HashMap<Bucket, JoinHandle<()>>,
}

impl Subscriptions {
    pub(super) async fn run(mut self, mut wishes: mpsc::UnboundedReceiver<Wish>) {
        let mut sweep = interval(SWEEP_INTERVAL);
        sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut waiting = Vec::new();
        loop {
            tokio::select! {
                count = wishes.recv_many(&mut waiting, BUCKETS) => {
                    if count == 0 {
                        return;
                    }
                    self.subscribe(waiting.drain(..)).await;
                }
                _ = sweep.tick() => self.end_unused(),
            }
        }
    }

    /// Subscribes for all joins that wait at the moment, and then waits once for the broker: after a restart, thousands of channels join.
    async fn subscribe(&mut self, wishes: impl Iterator<Item = Wish>) {
        let (mut confirms, mut buckets) = (Vec::new(), Vec::new());
        for (bucket, confirm) in wishes {
            if !self.deliveries.contains_key(&bucket) {
                match self.broker.subscribe(subject(&self.prefix, bucket)).await {
                    Ok(messages) => {
                        let delivery = deliver_broadcasts(messages, Arc::clone(&self.hub));
                        self.deliveries.insert(bucket, tokio::spawn(delivery));
                        buckets.push(bucket);
                    }
                    Err(error) => {
                        tracing::warn!(%error, "cannot subscribe at the message broker");
                        continue;
                    }
                }
            }
            confirms.push(confirm);
        }
        // While the broker is away, the client subscribes when it is back; joins do not wait for that.
        if !buckets.is_empty() && self.broker.is_connected() {
            timeout(CONFIRM_TIMEOUT, self.broker.flush()).await.ok();
        }
        for bucket in buckets {
            self.interest.lock(bucket).is_subscribed = true;
        }
        for confirm in confirms {
            // The join may have given up waiting.
            confirm.send(()).unwrap_or_default();
        }
    }

    fn end_unused(&mut self) {
        let interest = &self.interest;
        self.deliveries.retain(|bucket, delivery| {
            let mut state = interest.lock(*bucket);
            if state.channels == 0 {
                state.is_subscribed = false;
                delivery.abort();
            }
            state.is_subscribed
        });
    }
}

/// Delivers broadcasts of other nodes to the sockets of this one.
async fn deliver_broadcasts(mut messages: BoxStream<'static, Bytes>, hub: Arc<Hub>) {
    while let Some(message) = messages.next().await {
        METRICS.broker_received.inc();
        if let Some(broadcast) = decode_broadcast(&message) {
            hub.broadcast(&Arc::new(broadcast));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn realtime_064_public_and_private_topics_have_fixed_subjects() {
        let public = broadcast_subject("a", &Topic::new("room", false));
        let private = broadcast_subject("a", &Topic::new("room", true));

        // Fixed, because another number would separate this node from nodes of an earlier version.
        assert_eq!(public, "a.realtime.broadcast.83");
        assert_eq!(private, "a.realtime.broadcast.160");
    }
}
