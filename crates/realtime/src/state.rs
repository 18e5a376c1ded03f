//! State that channels and sockets use: [`Shared`] by all threads, [`Worker`] by one.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use actix_web::rt;
use selvedge_limits::{LogGate, Shares, Turns};
use tokio::sync::watch;

use crate::authorization::Authorizer;
use crate::broadcast::{Broadcast, Replayer};
use crate::changes::ChangeFeed;
use crate::cluster::Cluster;
use crate::config::RealtimeConfig;
use crate::delivery::PresenceDelivery;
use crate::fanout::{ChannelId, Hub, Member, QueueLimits, Rooms, WakeQueue};
use crate::limits::Rate;
use crate::presence::{Owner, Tracked};
use crate::token::TokenVerifier;
use crate::topic::Topic;

/// State of the process, shared by all worker threads.
pub(crate) struct Shared {
    pub(crate) config: RealtimeConfig,
    pub(crate) verifier: TokenVerifier,
    pub(crate) hub: Arc<Hub>,
    pub(crate) presence: PresenceDelivery,
    /// The other nodes; `None` for a node that runs alone.
    pub(crate) cluster: Option<Cluster>,
    pub(crate) authorizer: Authorizer,
    pub(crate) replayer: Replayer,
    /// Row changes and broadcasts from the database.
    pub(crate) feed: ChangeFeed,
    /// Messages received and delivered, project-wide.
    pub(crate) event_rate: Arc<Rate>,
    /// Joins, project-wide.
    pub(crate) join_rate: Rate,
    /// Presence messages, project-wide.
    pub(crate) presence_rate: Rate,
    /// Whether the replication stream runs, so that inserts into `realtime.messages` arrive as broadcasts.
    pub(crate) is_replicating: watch::Receiver<bool>,
    /// Open sockets, compared with [`RealtimeConfig::max_sockets`].
    pub(crate) sockets: AtomicUsize,
    /// Sockets of each client behind proxies.
    pub(crate) socket_shares: Shares,
    /// Subscriptions to database changes of each client.
    pub(crate) binding_shares: Shares,
    /// Turns at the connections for policy checks; a client gets at most half of them at a time.
    pub(crate) policy_turns: Turns,
    /// Which refusals are logged.
    pub(crate) log: LogGate,
    /// Joined channels; the change from and to 0 switches the replication stream on and off.
    pub(crate) channels: AtomicUsize,
    pub(crate) is_shutting_down: AtomicBool,
}

impl Shared {
    /// Whether [`crate::Realtime::drain`] has been called: upgrades and joins are refused from then on.
    pub(crate) fn is_shutting_down(&self) -> bool {
        self.is_shutting_down.load(Ordering::Relaxed)
    }

    /// Bounds of one socket's outbox.
    pub(crate) fn queue_limits(&self) -> QueueLimits {
        QueueLimits {
            messages: self.config.max_queued_messages,
            bytes: self.config.max_queued_bytes,
        }
    }

    /// Sends a broadcast of the HTTP API to the sockets of all nodes.
    pub(crate) fn broadcast(&self, broadcast: Broadcast) {
        let broadcast = Arc::new(broadcast);
        self.hub.broadcast(&broadcast);
        self.publish_broadcast(&broadcast);
    }

    /// Sends a broadcast to the other nodes, if there are any.
    fn publish_broadcast(&self, broadcast: &Broadcast) {
        if let Some(cluster) = &self.cluster {
            cluster.publish_broadcast(broadcast);
        }
    }

    /// Sets what a channel has tracked under a key, on all nodes. The caller announces it.
    pub(crate) fn track(&self, member: &Member, key: &Arc<str>, tracked: Tracked) {
        let owner = Owner::own(member.id.as_u64());
        let entry = self.presence.store().track(&member.topic, owner, key, tracked);
        if let (Some(entry), Some(cluster)) = (entry, &self.cluster) {
            cluster.publish_presence(&member.topic, member.id, Some(&entry));
        }
    }

    /// Removes what a channel has tracked, on all nodes. The caller announces it.
    pub(crate) fn untrack(&self, topic: &Topic, channel: ChannelId) {
        let had_tracked = self.presence.store().untrack(topic, Owner::own(channel.as_u64()));
        if let (true, Some(cluster)) = (had_tracked, &self.cluster) {
            cluster.publish_presence(topic, channel, None);
        }
    }
}

/// State of one worker thread. Its rooms hold `Rc` members without locks, so it never leaves the thread.
pub(crate) struct Worker {
    pub(crate) shared: Arc<Shared>,
    /// Members and sockets of this thread.
    pub(crate) rooms: Rooms,
    /// Sockets of this thread with queued messages wait here to be woken, a few in each turn of the event loop.
    pub(crate) wakes: Rc<WakeQueue>,
}

impl Worker {
    /// Makes a worker for the current thread, registers it at the hub, and spawns the task that delivers what arrives
    /// in its mailbox until the thread ends.
    pub(crate) fn start(shared: Arc<Shared>) -> Rc<Self> {
        let (index, mut mailbox) = shared.hub.register_worker();
        let rooms = Rooms::new(
            index,
            shared.hub.clone(),
            shared.event_rate.clone(),
            shared.config.reader_grace,
        );
        let worker = Rc::new(Self {
            shared,
            rooms,
            wakes: Rc::default(),
        });
        let for_mailbox = Rc::clone(&worker);
        rt::spawn(async move {
            while let Some(delivery) = mailbox.recv().await {
                for_mailbox.rooms.deliver(delivery);
            }
        });
        worker
    }

    /// Adds a member to its topic. The first channel of the process starts the replication stream.
    pub(crate) fn add_member(&self, member: &Rc<Member>) {
        if self.shared.channels.fetch_add(1, Ordering::Relaxed) == 0 {
            self.shared.feed.set_active(true);
        }
        self.rooms.add_member(member);
    }

    /// Removes a member from its topic. After the last channel of the process the replication stream may stop.
    pub(crate) fn remove_member(&self, member: &Member) {
        self.rooms.remove_member(member);
        if self.shared.channels.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.shared.feed.set_active(false);
        }
    }

    /// Sends a broadcast of a channel of this thread to the sockets of all nodes, except to the channel `except`.
    pub(crate) fn broadcast(&self, broadcast: Broadcast, except: Option<ChannelId>) {
        let broadcast = Arc::new(broadcast);
        self.rooms.broadcast(&broadcast, except);
        self.shared.publish_broadcast(&broadcast);
    }

    /// Removes the presence that a channel has tracked, and announces its leave.
    pub(crate) fn end_presence(&self, topic: &Topic, channel: ChannelId) {
        self.shared.untrack(topic, channel);
        self.shared.presence.announce_changes(topic);
    }
}
