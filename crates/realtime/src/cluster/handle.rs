//! The handle through which channels and the HTTP API reach the other nodes.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use selvedge_memory::MemoryBudget;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use uuid::Uuid;

use super::broker::{Broker, BrokerError};
use super::config::ClusterConfig;
pub(crate) use super::interest::JoinedTopic;
use super::interest::{Interest, Subscriptions, Wish, broadcast_subject};
use super::nats::Nats;
use super::node_table::NodeTable;
use super::publisher::{Outgoing, OutgoingQueue, OutgoingReceiver, Publisher};
use super::receiver::receive_presence;
use super::sealed::{NodeKey, SealedBroker};
use super::wire::{TrackingChannel, encode_broadcast};
use crate::broadcast::Broadcast;
use crate::config::RealtimeConfig;
use crate::delivery::PresenceDelivery;
use crate::fanout::{ChannelId, Hub};
use crate::presence::Entry;
use crate::topic::Topic;

/// This node's connection to the others.
pub(crate) struct Cluster {
    prefix: String,
    interest: Arc<Interest>,
    outgoing: OutgoingQueue,
    /// Set when the client has begun to connect, or has failed for good.
    broker: Arc<OnceLock<Result<Arc<dyn Broker>, String>>>,
    /// The task that exchanges messages.
    exchange: AbortHandle,
}

impl Cluster {
    /// Begins to connect, and exchanges messages in background tasks of the current Tokio runtime. `key` is that of all nodes of the
    /// project, by which they know each other's messages. `None` where the service has no other nodes.
    pub(crate) fn start(
        of_service: &RealtimeConfig,
        key: NodeKey,
        delivery: PresenceDelivery,
        hub: Arc<Hub>,
    ) -> Option<Self> {
        let config = of_service.cluster.clone()?;
        let (interest, wishes) = Interest::new();
        let (outgoing, queue) = OutgoingQueue::new();
        let (prefix, interest) = (config.prefix.clone(), Arc::new(interest));
        let broker = Arc::default();
        let node = Connecting {
            config,
            key,
            delivery,
            hub,
            interest: Arc::clone(&interest),
            outgoing: outgoing.clone(),
            max_payload_bytes: of_service.max_payload_bytes,
            memory: of_service.memory.clone(),
        };
        let connected = Arc::clone(&broker);
        let exchange = tokio::spawn(async move {
            if let Err(error) = node.run(&connected, queue, wishes).await {
                tracing::error!(%error, "this node runs without the others");
                connected.set(Err(error.to_string())).ok();
            }
        });
        Some(Self {
            prefix,
            interest,
            outgoing,
            broker,
            exchange: exchange.abort_handle(),
        })
    }

    /// Ends the exchange with the other nodes. They notice it by the missing heartbeats, unless [`Cluster::leave`] has
    /// told them before.
    pub(crate) fn end(&self) {
        self.exchange.abort();
    }

    /// Subscribes to other nodes' broadcasts to this topic until the result is dropped.
    pub(crate) async fn join(&self, topic: &Topic) -> JoinedTopic {
        self.interest.join(topic).await
    }

    /// Sends a broadcast to the sockets of the other nodes.
    pub(crate) fn publish_broadcast(&self, broadcast: &Broadcast) {
        self.outgoing.push(Outgoing::Broadcast {
            subject: broadcast_subject(&self.prefix, &broadcast.topic),
            message: encode_broadcast(broadcast),
        });
    }

    /// Tells the other nodes what a channel of this one has tracked; `None`: nothing any more.
    pub(crate) fn publish_presence(&self, topic: &Topic, channel: ChannelId, entry: Option<&Entry>) {
        self.outgoing.push(Outgoing::Change {
            channel: TrackingChannel::new(topic, channel.as_u64()),
            entry: entry.cloned(),
        });
    }

    /// Longest message in bytes that the broker accepts; `None` while it is not known.
    pub(crate) fn max_message_bytes(&self) -> Option<usize> {
        match self.broker.get() {
            Some(Ok(broker)) if broker.is_connected() => Some(broker.max_message_bytes()),
            _ => None,
        }
    }

    /// Why the broker cannot be used; `None` while the connection is up.
    pub(crate) fn find_fault(&self) -> Option<String> {
        match self.broker.get() {
            None => Some("not connected yet".to_owned()),
            Some(Err(error)) => Some(error.clone()),
            Some(Ok(broker)) => (!broker.is_connected()).then(|| "the message broker is away".to_owned()),
        }
    }

    /// Tells the other nodes that this one shuts down.
    pub(crate) async fn leave(&self) {
        if self.find_fault().is_none() {
            self.outgoing.leave().await;
        }
    }
}

/// A node that is about to connect.
struct Connecting {
    config: ClusterConfig,
    key: NodeKey,
    delivery: PresenceDelivery,
    hub: Arc<Hub>,
    interest: Arc<Interest>,
    outgoing: OutgoingQueue,
    max_payload_bytes: usize,
    memory: MemoryBudget,
}

impl Connecting {
    async fn run(
        self,
        connected: &OnceLock<Result<Arc<dyn Broker>, String>>,
        queue: OutgoingReceiver,
        wishes: mpsc::UnboundedReceiver<Wish>,
    ) -> Result<(), BrokerError> {
        let broker: Arc<dyn Broker> = Arc::new(SealedBroker {
            broker: Arc::new(Nats::connect(&self.config).await?),
            key: self.key,
        });
        connected.set(Ok(Arc::clone(&broker))).ok();
        // A new id with every start: what an earlier process of this machine had tracked is not this one's.
        let node = Uuid::new_v4();
        let presence_subject = format!("{}.realtime.presence", self.config.prefix);
        let messages = broker.subscribe(presence_subject.clone()).await?;
        let publisher = Publisher {
            node,
            presence_subject,
            broker: Arc::clone(&broker),
            presence: Arc::clone(self.delivery.store()),
            node_timeout: self.config.node_timeout,
            max_payload_bytes: self.max_payload_bytes,
            sequence: 0,
        };
        let nodes = NodeTable::new(node, self.config.node_timeout, self.delivery, self.memory);
        // The other nodes send the new one what their channels have tracked.
        self.outgoing.push(Outgoing::RequestState { of: None });
        let subscriptions = Subscriptions {
            interest: self.interest,
            broker,
            prefix: self.config.prefix,
            hub: self.hub,
            deliveries: HashMap::new(),
        };
        tokio::join!(
            publisher.run(queue),
            receive_presence(messages, nodes, self.outgoing),
            subscriptions.run(wishes)
        );
        Ok(())
    }
}
