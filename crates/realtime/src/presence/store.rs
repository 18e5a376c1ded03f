//! The presence entries of all topics, shared by all workers.
//!
//! Changes in quick succession are merged: the first one is announced immediately, further ones after the configured
//! interval. A diff is put into the workers' mailboxes while its topic is locked, so that every worker gets the diffs of a
//! topic in order.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use foldhash::quality::RandomState;
use indexmap::IndexMap;

use super::diff::PresenceDiff;
use super::entry::{Entry, Tracked, render_by_key};
use super::owner::{NodeNumber, Owner};
use crate::topic::Topic;

/// Number of locks; topics are spread over them by hash.
const SHARDS: usize = 64;

/// When the pending changes of a topic are to be announced, and whether the caller has to do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// The caller announces the changes at once.
    Now,
    /// The caller announces the changes at this time.
    At(Instant),
    /// Not by the caller: nothing has changed, or an announcement is already planned.
    Never,
}

/// The presence of one topic.
#[derive(Debug, Default)]
struct Presences {
    entries: IndexMap<Owner, Entry, RandomState>,
    /// Entries changed since the last diff, each as members know it; `None` for an entry that they do not know yet.
    changed: IndexMap<Owner, Option<Entry>, RandomState>,
    announced_at: Option<Instant>,
    is_announcement_planned: bool,
}

impl Presences {
    fn insert(&mut self, owner: Owner, entry: Entry) {
        let before = self.entries.insert(owner, entry);
        // `or_insert` keeps the oldest value: members still know the entry of the last diff, however often it changed
        // since.
        self.changed.entry(owner).or_insert(before);
    }
}

type Shard = HashMap<Topic, Presences, RandomState>;

/// The presence entries of all topics.
#[derive(Debug)]
pub(crate) struct PresenceStore {
    hasher: RandomState,
    shards: Vec<Mutex<Shard>>,
    interval: Duration,
    /// Numbers the diffs of all topics. One counter for all, so that the numbers of a topic that was empty and
    /// forgotten in between still rise.
    sequence: AtomicU64,
    /// Random per process, so that a restarted server does not repeat a `phx_ref`.
    run: u32,
    references: AtomicU64,
}

impl PresenceStore {
    /// A store that announces the changes of a topic at most once per interval.
    pub(crate) fn new(interval: Duration) -> Self {
        Self {
            hasher: RandomState::default(),
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            interval,
            sequence: AtomicU64::new(0),
            run: uuid::Uuid::new_v4().as_fields().0,
            references: AtomicU64::new(0),
        }
    }

    /// Sets what a channel of this node has tracked under a key, and returns the entry. `None` when an equal object was
    /// tracked before; nothing changes then.
    pub(crate) fn track(
        &self,
        topic: &Topic,
        owner: Owner,
        key: &Arc<str>,
        tracked: Tracked,
    ) -> Option<Entry> {
        let mut shard = self.lock(topic);
        let presences = shard.entry(topic.clone()).or_default();
        if presences
            .entries
            .get(&owner)
            .is_some_and(|entry| entry.has_tracked(&tracked))
        {
            return None;
        }
        let counter = self.references.fetch_add(1, Ordering::Relaxed);
        let phx_ref = format!("F{:x}.{counter:x}", self.run);
        let entry = Entry::new(Arc::clone(key), phx_ref, tracked);
        presences.insert(owner, entry.clone());
        Some(entry)
    }

    /// Sets what a channel of another node has tracked. An entry that is known already changes nothing.
    pub(crate) fn put(&self, topic: &Topic, owner: Owner, entry: Entry) {
        let mut shard = self.lock(topic);
        let presences = shard.entry(topic.clone()).or_default();
        let is_known = |known: &Entry| known.phx_ref == entry.phx_ref;
        if !presences.entries.get(&owner).is_some_and(is_known) {
            presences.insert(owner, entry);
        }
    }

    /// Removes what a channel has tracked; returns whether there was anything.
    pub(crate) fn untrack(&self, topic: &Topic, owner: Owner) -> bool {
        let mut shard = self.lock(topic);
        if let Some(presences) = shard.get_mut(topic)
            && let Some(before) = presences.entries.shift_remove(&owner)
        {
            presences.changed.entry(owner).or_insert(Some(before));
            return true;
        }
        false
    }

    /// All entries of a node's channels, each with its topic and the number of its channel.
    pub(crate) fn entries_of(&self, node: NodeNumber) -> Vec<(Topic, u64, Entry)> {
        let mut found = Vec::new();
        for shard in &self.shards {
            let shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            for (topic, presences) in shard.iter() {
                let of_node = presences.entries.iter().filter(|(owner, _)| owner.node == node);
                found.extend(of_node.map(|(owner, entry)| (topic.clone(), owner.channel, entry.clone())));
            }
        }
        found
    }

    /// When the changes of a topic are to be announced, and whether by the caller.
    pub(crate) fn plan_announcement(&self, topic: &Topic) -> Due {
        let mut shard = self.lock(topic);
        let Some(presences) = shard.get_mut(topic) else {
            return Due::Never;
        };
        if presences.changed.is_empty() || presences.is_announcement_planned {
            return Due::Never;
        }
        let now = Instant::now();
        match presences.announced_at.map(|at| at + self.interval) {
            Some(next) if next > now => {
                // Further changes until then join this announcement instead of planning their own.
                presences.is_announcement_planned = true;
                Due::At(next)
            }
            _ => Due::Now,
        }
    }

    /// Sends the changes since the last diff, if there are any.
    pub(crate) fn announce(&self, topic: &Topic, send: impl FnOnce(PresenceDiff)) {
        let mut shard = self.lock(topic);
        if let Some(presences) = shard.get_mut(topic) {
            presences.is_announcement_planned = false;
            self.announce_changes(topic, presences, send);
            forget_empty(&mut shard, topic);
        }
    }

    /// The state of a topic as JSON text, with the number of the last diff that it includes. Pending changes are sent
    /// as a diff first: otherwise the new member would get them in the state and again in the next diff.
    pub(crate) fn read_state(&self, topic: &Topic, send: impl FnOnce(PresenceDiff)) -> (u64, String) {
        let mut shard = self.lock(topic);
        let Some(presences) = shard.get_mut(topic) else {
            return (self.sequence.load(Ordering::Relaxed), "{}".to_owned());
        };
        self.announce_changes(topic, presences, send);
        let state = render_by_key(presences.entries.values());
        let sequence = self.sequence.load(Ordering::Relaxed);
        (sequence, state)
    }

    /// Sends the difference between what members know and what is. An entry that came and went between two diffs
    /// appears in neither list.
    fn announce_changes(&self, topic: &Topic, presences: &mut Presences, send: impl FnOnce(PresenceDiff)) {
        let changed = std::mem::take(&mut presences.changed);
        let mut leaves = Vec::new();
        let mut joins = Vec::new();
        for (owner, before) in changed {
            let after = presences.entries.get_mut(&owner);
            if let Some(entry) = after {
                entry.previous_ref = before.as_ref().map(|before| before.phx_ref.clone());
                joins.push(entry.clone());
            }
            leaves.extend(before);
        }
        if joins.is_empty() && leaves.is_empty() {
            return;
        }
        // Set only when something is sent: a diff without content must not delay the next one.
        presences.announced_at = Some(Instant::now());
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed) + 1;
        let memory = joins.iter().chain(&leaves);
        let memory = memory
            .filter_map(|entry| entry.tracked.memory().cloned())
            .collect();
        let (joins, leaves) = (render_by_key(joins.iter()), render_by_key(leaves.iter()));
        send(PresenceDiff::new(
            topic.clone(),
            sequence,
            &joins,
            &leaves,
            memory,
        ));
    }

    fn lock(&self, topic: &Topic) -> MutexGuard<'_, Shard> {
        let hash =
            usize::try_from(self.hasher.hash_one(topic) % SHARDS as u64).expect("a remainder of 64 fits");
        self.shards[hash].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a topic without entries and pending changes, to free its memory. The time of its last announcement is removed,
/// too, so the next change is announced immediately.
fn forget_empty(shard: &mut Shard, topic: &Topic) {
    let is_empty = |presences: &Presences| presences.entries.is_empty() && presences.changed.is_empty();
    if shard.get(topic).is_some_and(is_empty) {
        shard.remove(topic);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn payload(value: Value) -> Tracked {
        Tracked::parse(&value.to_string()).expect("an object")
    }

    fn announced(store: &PresenceStore, topic: &Topic) -> Option<Value> {
        let mut sent = None;
        store.announce(topic, |diff| {
            sent = Some(serde_json::from_str(diff.payload()).unwrap())
        });
        sent
    }

    fn setup() -> (PresenceStore, Topic, Arc<str>) {
        (
            PresenceStore::new(Duration::from_secs(60)),
            Topic::new("room", false),
            "ada".into(),
        )
    }

    #[test]
    fn realtime_027_merged_updates_carry_the_phx_ref_of_the_last_diff_as_previous() {
        let (store, topic, key) = setup();
        store.track(&topic, Owner::own(1), &key, payload(json!({"n": 1})));
        let first = announced(&store, &topic).unwrap();
        let known = &first["joins"]["ada"]["metas"][0]["phx_ref"];

        store.track(&topic, Owner::own(1), &key, payload(json!({"n": 2})));
        store.track(&topic, Owner::own(1), &key, payload(json!({"n": 3})));
        let diff = announced(&store, &topic).unwrap();

        assert_eq!(&diff["joins"]["ada"]["metas"][0]["phx_ref_prev"], known);
        assert_eq!(diff["joins"]["ada"]["metas"][0]["n"], 3);
        assert_eq!(&diff["leaves"]["ada"]["metas"][0]["phx_ref"], known);
        assert_eq!(diff["leaves"]["ada"]["metas"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn realtime_026_equal_payloads_and_entries_untracked_before_the_diff_announce_nothing() {
        let (store, topic, key) = setup();
        store.track(&topic, Owner::own(1), &key, payload(json!({"n": 1})));
        announced(&store, &topic).unwrap();

        store.track(&topic, Owner::own(1), &key, payload(json!({"n": 1})));
        store.track(&topic, Owner::own(2), &key, payload(json!({})));
        store.untrack(&topic, Owner::own(2));

        assert_eq!(announced(&store, &topic), None);
    }

    #[test]
    fn realtime_028_two_channels_with_one_key_have_two_metas() {
        let (store, topic, key) = setup();
        store.track(&topic, Owner::own(1), &key, payload(json!({"tab": 1})));
        store.track(
            &topic,
            Owner::own(2),
            &key,
            payload(json!({"tab": 2, "phx_ref": "forged"})),
        );

        let (_, state) = store.read_state(&topic, |_| {});
        let state: Value = serde_json::from_str(&state).unwrap();
        let metas = state["ada"]["metas"].as_array().unwrap();
        assert_eq!(metas.len(), 2);
        assert_ne!(metas[1]["phx_ref"], "forged");

        store.untrack(&topic, Owner::own(1));
        let diff = announced(&store, &topic).unwrap();
        assert_eq!(diff["leaves"]["ada"]["metas"][0]["tab"], 1);
        assert_eq!(diff["joins"], json!({}));
    }

    #[test]
    fn realtime_025_state_includes_pending_changes_and_their_sequence_number() {
        let (store, topic, key) = setup();
        store.track(&topic, Owner::own(1), &key, payload(json!({})));

        let mut sent = 0;
        let (sequence, state) = store.read_state(&topic, |diff| sent = diff.sequence);

        assert_eq!(sequence, sent);
        assert!(state.contains("ada"));
        assert_eq!(announced(&store, &topic), None);
    }

    #[test]
    fn realtime_026_the_first_change_is_announced_at_once_and_later_ones_after_the_interval() {
        let (store, topic, key) = setup();
        store.track(&topic, Owner::own(1), &key, payload(json!({"n": 1})));
        assert_eq!(store.plan_announcement(&topic), Due::Now);
        announced(&store, &topic).unwrap();

        store.track(&topic, Owner::own(1), &key, payload(json!({"n": 2})));
        assert!(matches!(store.plan_announcement(&topic), Due::At(_)));
        assert_eq!(
            store.plan_announcement(&topic),
            Due::Never,
            "one announcement is planned"
        );
    }
}
