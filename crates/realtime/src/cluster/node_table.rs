//! The other nodes, as their messages show them, and the presence that they have.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use selvedge_limits::ClientId;
use selvedge_memory::MemoryBudget;
use uuid::Uuid;

use super::publisher::Outgoing;
use super::wire::{PresenceMessage, TrackedChannel, TrackedEntry, TrackingChannel};
use crate::delivery::PresenceDelivery;
use crate::limits::HeldMemory;
use crate::metrics::METRICS;
use crate::presence::{Entry, NodeNumber, Owner};
use crate::topic::Topic;

/// Shortest time between two requests for the state of one node.
const REQUEST_INTERVAL: Duration = Duration::from_secs(1);
/// From here on the missing entries of a node are very many.
const MANY_BYTES: usize = 1 << 20;

/// The nodes that this one has heard of lately.
pub(super) struct NodeTable {
    own: Uuid,
    timeout: Duration,
    delivery: PresenceDelivery,
    /// Where the presence of other nodes is counted, each node's like that of a client.
    memory: MemoryBudget,
    nodes: HashMap<Uuid, Node>,
    last_number: u32,
}

#[derive(Debug)]
struct Node {
    /// Stands for the node among the owners of presence entries.
    number: NodeNumber,
    share: ClientId,
    heard_at: Instant,
    /// Number of the last change that was applied; `None` until the node's state has been received.
    sequence: Option<u64>,
    requested_at: Option<Instant>,
    /// The parts of a state that have been received so far.
    parts: Vec<Vec<TrackedChannel>>,
    /// The memory that was missing for entries of the node. Its state is asked for again when there is so much.
    missing_bytes: usize,
}

impl NodeTable {
    pub(super) fn new(
        own: Uuid,
        timeout: Duration,
        delivery: PresenceDelivery,
        memory: MemoryBudget,
    ) -> Self {
        Self {
            own,
            timeout,
            delivery,
            memory,
            nodes: HashMap::new(),
            last_number: 0,
        }
    }

    /// Handles a message of another node. Returns what is to be sent in return.
    pub(super) fn handle_message(&mut self, message: PresenceMessage) -> Option<Outgoing> {
        match message {
            PresenceMessage::Change {
                node,
                sequence,
                channel,
                entry,
            } => self.apply_change(node, sequence, &channel, entry),
            PresenceMessage::Heartbeat { node, sequence } => {
                let known = self.note_message_of(node).sequence;
                (known != Some(sequence) || self.can_complete(node))
                    .then(|| self.request_state(node))
                    .flatten()
            }
            PresenceMessage::Request { node, of } => {
                self.note_message_of(node);
                let is_meant = of.is_none_or(|of| of == self.own);
                is_meant.then_some(Outgoing::SendState { to: node })
            }
            PresenceMessage::State { node, to, .. } if to != self.own => {
                self.note_message_of(node);
                None
            }
            PresenceMessage::State {
                node,
                sequence,
                part,
                parts,
                channels,
                ..
            } => self.take_state_part(node, sequence, (part, parts), channels),
            PresenceMessage::Leave { node } => {
                self.remove(node);
                None
            }
        }
    }

    /// Removes nodes that have been silent for too long, with their presence.
    pub(super) fn remove_silent(&mut self) {
        let is_silent = |node: &Node| node.heard_at.elapsed() > self.timeout;
        let silent: Vec<Uuid> = self
            .nodes
            .iter()
            .filter(|(_, node)| is_silent(node))
            .map(|(id, _)| *id)
            .collect();
        for node in silent {
            tracing::warn!(%node, "a node is silent; its presence entries are removed");
            self.remove(node);
        }
    }

    /// Records that a node sent a message just now, so that it does not count as silent. Adds it if it is new.
    fn note_message_of(&mut self, node: Uuid) -> &mut Node {
        let entry = self.nodes.entry(node).or_insert_with(|| {
            self.last_number += 1;
            METRICS.nodes.inc();
            Node {
                number: NodeNumber::other(self.last_number),
                share: ClientId::of_connection(None),
                heard_at: Instant::now(),
                sequence: None,
                requested_at: None,
                parts: Vec::new(),
                missing_bytes: 0,
            }
        });
        entry.heard_at = Instant::now();
        entry
    }

    /// Whether entries of a node are missing for which there is memory by now. Of very many a quarter is worth asking for, as there may never be
    /// enough for all.
    fn can_complete(&self, id: Uuid) -> bool {
        self.nodes.get(&id).is_some_and(|node| {
            let part = match node.missing_bytes {
                missing @ ..MANY_BYTES => missing,
                missing => missing / 4,
            };
            part > 0 && HeldMemory::reserve(&self.memory, node.share, part).is_some()
        })
    }

    /// Notes that so much memory was missing for entries of a node.
    fn note_missing(&mut self, id: Uuid, bytes: usize) {
        let node = self.note_message_of(id);
        if node.missing_bytes == 0 && bytes > 0 {
            tracing::warn!(
                node = %id,
                "there is no memory for all presence entries of a node: its members are missing here until there is"
            );
        }
        // The largest amount counts, because one entry may be refused several times. The state that is asked for then has all entries.
        node.missing_bytes = node.missing_bytes.max(bytes);
    }

    fn request_state(&mut self, id: Uuid) -> Option<Outgoing> {
        let node = self.note_message_of(id);
        node.sequence = None;
        node.parts.clear();
        if node
            .requested_at
            .is_some_and(|at| at.elapsed() < REQUEST_INTERVAL)
        {
            return None;
        }
        node.requested_at = Some(Instant::now());
        Some(Outgoing::RequestState { of: Some(id) })
    }

    fn apply_change(
        &mut self,
        id: Uuid,
        sequence: u64,
        channel: &TrackingChannel,
        entry: Option<TrackedEntry>,
    ) -> Option<Outgoing> {
        let node = self.note_message_of(id);
        match node.sequence {
            // A change that the state already includes.
            Some(known) if sequence <= known => return None,
            Some(known) if sequence == known + 1 => node.sequence = Some(sequence),
            // A change was lost, or the state has not come yet.
            _ => return self.request_state(id),
        }
        let owner = Owner {
            node: node.number,
            channel: channel.channel,
        };
        if let Some(topic) = channel.topic() {
            let share = node.share;
            let store = self.delivery.store();
            match entry.and_then(TrackedEntry::into_entry) {
                None => {
                    store.untrack(&topic, owner);
                }
                Some(entry) => match self.count(share, entry) {
                    Ok(entry) => store.put(&topic, owner, entry),
                    // What was tracked before stays: its member is still there.
                    Err(missing) => self.note_missing(id, missing),
                },
            }
            self.delivery.announce_changes(&topic);
        }
        None
    }

    /// Collects the parts of a state, and applies it when it is whole.
    fn take_state_part(
        &mut self,
        id: Uuid,
        sequence: u64,
        (part, parts): (usize, usize),
        channels: Vec<TrackedChannel>,
    ) -> Option<Outgoing> {
        let node = self.note_message_of(id);
        if part == 0 {
            node.parts.clear();
        }
        if part != node.parts.len() {
            // A part was lost. What came before is of no use, because absent channels would be taken for left ones.
            return self.request_state(id);
        }
        node.parts.push(channels);
        if node.parts.len() < parts {
            return None;
        }
        let (owner, parts) = ((node.number, node.share), std::mem::take(&mut node.parts));
        node.sequence = Some(sequence);
        let was_missing = std::mem::take(&mut node.missing_bytes) > 0;
        let missing = self.replace_presence(owner, parts.into_iter().flatten());
        match was_missing {
            // It has been said already.
            true => self.note_message_of(id).missing_bytes = missing,
            false => self.note_missing(id, missing),
        }
        None
    }

    /// Replaces the presence of a node by its announced state. Returns how much memory was missing for it.
    fn replace_presence(
        &self,
        (node, share): (NodeNumber, ClientId),
        channels: impl Iterator<Item = TrackedChannel>,
    ) -> usize {
        let store = self.delivery.store();
        let mut left: HashMap<(Topic, u64), String> = store
            .entries_of(node)
            .into_iter()
            .map(|(topic, channel, entry)| ((topic, channel), entry.phx_ref))
            .collect();
        let mut changed: HashSet<Topic> = left.keys().map(|(topic, _)| topic.clone()).collect();
        let mut missing = 0;
        for TrackedChannel { channel, entry } in channels {
            let (Some(topic), Some(entry)) = (channel.topic(), entry.into_entry()) else {
                continue;
            };
            let channel = channel.channel;
            let known = left.remove(&(topic.clone(), channel));
            if known.is_some_and(|known| known == entry.phx_ref) {
                continue;
            }
            match self.count(share, entry) {
                Ok(entry) => {
                    store.put(&topic, Owner { node, channel }, entry);
                    changed.insert(topic);
                }
                Err(bytes) => missing += bytes,
            }
        }
        for (topic, channel) in left.into_keys() {
            store.untrack(&topic, Owner { node, channel });
        }
        for topic in changed {
            self.delivery.announce_changes(&topic);
        }
        missing
    }

    fn remove(&mut self, id: Uuid) {
        if let Some(node) = self.nodes.remove(&id) {
            METRICS.nodes.dec();
            self.replace_presence((node.number, node.share), std::iter::empty());
        }
    }

    /// Ties memory to an entry of another node.
    ///
    /// # Errors
    /// The bytes for which there is no memory: the members of this node do not see the entry then.
    fn count(&self, share: ClientId, mut entry: Entry) -> Result<Entry, usize> {
        let bytes = HeldMemory::count_presence_bytes(entry.key.len() + entry.tracked.len());
        let Some(memory) = HeldMemory::reserve(&self.memory, share, bytes) else {
            METRICS.count_drop("out_of_memory");
            return Err(bytes);
        };
        entry.tracked = entry.tracked.held_by(memory);
        Ok(entry)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Map, Value};

    use super::*;
    use crate::fanout::Hub;
    use crate::presence::PresenceStore;

    const TIMEOUT: Duration = Duration::from_secs(30);

    fn table() -> NodeTable {
        table_with(MemoryBudget::unlimited())
    }

    fn table_with(memory: MemoryBudget) -> NodeTable {
        let store = Arc::new(PresenceStore::new(Duration::ZERO));
        let delivery = PresenceDelivery::new(store, Arc::new(Hub::new()));
        NodeTable::new(Uuid::new_v4(), TIMEOUT, delivery, memory)
    }

    fn tracked(channel: u64, key: &str) -> TrackedChannel {
        let entry = TrackedEntry {
            key: key.to_owned(),
            phx_ref: format!("F.{channel}"),
            payload: Map::new(),
        };
        TrackedChannel {
            channel: TrackingChannel::new(&Topic::new("room", false), channel),
            entry,
        }
    }

    fn state(
        table: &NodeTable,
        node: Uuid,
        sequence: u64,
        parts: &[Vec<TrackedChannel>],
    ) -> Vec<PresenceMessage> {
        let count = parts.len();
        let messages = parts
            .iter()
            .enumerate()
            .map(|(part, channels)| PresenceMessage::State {
                node,
                to: table.own,
                sequence,
                part,
                parts: count,
                channels: channels.clone(),
            });
        messages.collect()
    }

    fn change(node: Uuid, sequence: u64, tracked: TrackedChannel) -> PresenceMessage {
        PresenceMessage::Change {
            node,
            sequence,
            channel: tracked.channel,
            entry: Some(tracked.entry),
        }
    }

    fn present(table: &NodeTable) -> Vec<String> {
        let (_, state) = table.delivery.read_state(&Topic::new("room", false));
        let state: Map<String, Value> = serde_json::from_str(&state).expect("an object");
        state.keys().cloned().collect()
    }

    #[test]
    fn realtime_064_a_state_in_parts_replaces_what_was_known() {
        let (mut table, node) = (table(), Uuid::new_v4());
        for message in state(
            &table,
            node,
            3,
            &[vec![tracked(1, "ada")], vec![tracked(2, "bob")]],
        ) {
            assert!(table.handle_message(message).is_none());
        }
        assert_eq!(present(&table), ["ada", "bob"]);

        for message in state(&table, node, 5, &[vec![tracked(2, "bob"), tracked(3, "cleo")]]) {
            table.handle_message(message);
        }
        assert_eq!(present(&table), ["bob", "cleo"]);
    }

    #[test]
    fn realtime_064_a_lost_change_or_part_makes_the_node_ask_for_the_state() {
        let (mut table, node) = (table(), Uuid::new_v4());
        for message in state(&table, node, 3, &[vec![tracked(1, "ada")]]) {
            table.handle_message(message);
        }
        assert!(table.handle_message(change(node, 4, tracked(2, "bob"))).is_none());
        assert!(
            table
                .handle_message(change(node, 4, tracked(9, "late")))
                .is_none()
        );

        let asked = table.handle_message(change(node, 6, tracked(3, "cleo")));

        assert!(matches!(asked, Some(Outgoing::RequestState { of: Some(of) }) if of == node));
        assert_eq!(present(&table), ["ada", "bob"], "nothing is guessed meanwhile");
        // The second part without the first.
        let parts = state(
            &table,
            node,
            6,
            &[vec![tracked(1, "ada")], vec![tracked(3, "cleo")]],
        );
        table.handle_message(parts[1].clone());
        assert_eq!(present(&table), ["ada", "bob"]);
        for message in parts {
            table.handle_message(message);
        }
        assert_eq!(present(&table), ["ada", "cleo"]);
    }

    #[test]
    fn realtime_075_presence_of_another_node_is_counted_until_it_is_gone() {
        let memory = MemoryBudget::new(2400);
        let (mut table, node) = (table_with(memory.clone()), Uuid::new_v4());
        let channels = vec![tracked(1, "ada"), tracked(2, "bob"), tracked(3, "cleo")];
        for message in state(&table, node, 0, &[channels]) {
            table.handle_message(message);
        }
        assert_eq!(present(&table), ["ada", "bob"], "there is memory for two");
        assert!(memory.used() > 1000);

        table.handle_message(PresenceMessage::Leave { node });

        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn realtime_075_presence_that_found_no_memory_is_asked_for_when_there_is_some() {
        let memory = MemoryBudget::new(4800);
        let (mut table, node) = (table_with(memory.clone()), Uuid::new_v4());
        let channels = vec![tracked(1, "ada"), tracked(2, "bob"), tracked(3, "cleo")];
        let others = memory.reserve(3000).expect("free");
        for message in state(&table, node, 3, std::slice::from_ref(&channels)) {
            table.handle_message(message);
        }
        let seen = present(&table);
        assert!(!seen.is_empty() && seen.len() < 3, "{seen:?}");
        let heartbeat = PresenceMessage::Heartbeat { node, sequence: 3 };
        assert!(
            table.handle_message(heartbeat.clone()).is_none(),
            "there is still none"
        );

        drop(others);

        let asked = table.handle_message(heartbeat);
        assert!(matches!(asked, Some(Outgoing::RequestState { of: Some(of) }) if of == node));
        for message in state(&table, node, 3, &[channels]) {
            table.handle_message(message);
        }
        assert_eq!(present(&table), ["ada", "bob", "cleo"]);
        let heartbeat = PresenceMessage::Heartbeat { node, sequence: 3 };
        assert!(table.handle_message(heartbeat).is_none(), "nothing is missing");
    }

    #[test]
    fn realtime_075_presence_is_completed_as_far_as_there_is_memory() {
        let memory = MemoryBudget::new(16 << 20);
        let (mut table, node) = (table_with(memory.clone()), Uuid::new_v4());
        let key = |number: u64| format!("{number}{}", "x".repeat(100_000));
        let channels: Vec<_> = (0..10).map(|number| tracked(number, &key(number))).collect();
        let others = memory.reserve(14 << 20).expect("free");
        let more = memory.reserve(1 << 20).expect("free");
        for message in state(&table, node, 3, std::slice::from_ref(&channels)) {
            table.handle_message(message);
        }
        let seen = present(&table).len();

        drop(more);
        let asked = table.handle_message(PresenceMessage::Heartbeat { node, sequence: 3 });
        assert!(matches!(asked, Some(Outgoing::RequestState { .. })));
        for message in state(&table, node, 3, &[channels]) {
            table.handle_message(message);
        }

        let present = present(&table).len();
        assert!(0 < seen && seen < present && present < 10, "{seen} {present}");
        drop(others);
    }

    #[test]
    fn realtime_075_a_change_that_finds_no_memory_removes_nobody() {
        let memory = MemoryBudget::new(2400);
        let (mut table, node) = (table_with(memory.clone()), Uuid::new_v4());
        for message in state(&table, node, 0, &[vec![tracked(1, "ada")]]) {
            table.handle_message(message);
        }
        let _others = memory.reserve(2400 - memory.used());
        let mut changed = tracked(1, "ada");
        changed.entry.phx_ref = "F.later".to_owned();

        table.handle_message(change(node, 1, changed));

        assert_eq!(present(&table), ["ada"]);
    }

    #[test]
    fn realtime_065_a_node_that_leaves_takes_its_presence_with_it() {
        let (mut table, node) = (table(), Uuid::new_v4());
        for message in state(&table, node, 0, &[vec![tracked(1, "ada")]]) {
            table.handle_message(message);
        }

        table.handle_message(PresenceMessage::Leave { node });

        assert!(present(&table).is_empty());
    }
}
