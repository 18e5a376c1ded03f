//! Connects the presence of a topic to its members.

use std::sync::Arc;

use tokio::time::{Instant, sleep_until};

use crate::fanout::{Delivery, Hub};
use crate::presence::{Due, PresenceDiff, PresenceStore};
use crate::topic::Topic;

/// Tells the members of a topic what has changed in its presence. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct PresenceDelivery {
    store: Arc<PresenceStore>,
    hub: Arc<Hub>,
}

impl PresenceDelivery {
    pub(crate) fn new(store: Arc<PresenceStore>, hub: Arc<Hub>) -> Self {
        Self { store, hub }
    }

    /// The entries of all topics.
    pub(crate) fn store(&self) -> &Arc<PresenceStore> {
        &self.store
    }

    /// Announces the changes of a topic now or, when the last diff is younger than
    /// [`crate::RealtimeConfig::presence_interval`], when that interval ends.
    pub(crate) fn announce_changes(&self, topic: &Topic) {
        match self.store.plan_announcement(topic) {
            Due::Never => {}
            Due::Now => self.announce_now(topic),
            Due::At(time) => {
                let (delivery, topic) = (self.clone(), topic.clone());
                tokio::spawn(async move {
                    sleep_until(Instant::from_std(time)).await;
                    delivery.announce_now(&topic);
                });
            }
        }
    }

    /// The state of a topic as JSON text, with the number of the last diff that it includes.
    pub(crate) fn read_state(&self, topic: &Topic) -> (u64, String) {
        self.store.read_state(topic, |diff| self.send(diff))
    }

    fn announce_now(&self, topic: &Topic) {
        self.store.announce(topic, |diff| self.send(diff));
    }

    /// Sends a diff to the mailboxes of all interested workers, the caller's own included. A direct delivery on the
    /// caller's thread could overtake an earlier diff that still waits in the mailbox.
    fn send(&self, diff: PresenceDiff) {
        let topic = diff.topic.clone();
        let diff = Delivery::Presence(Arc::new(diff));
        self.hub.send_to_topic(&topic, None, &diff);
    }
}
