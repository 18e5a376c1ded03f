//! The subscriptions of all channels, indexed by table.
//!
//! Channels with the same identity and the same binding form one [`Group`], so that a change is matched, checked and
//! encoded once for all of them. Groups whose binding has a plain equality filter are indexed by the value, so that
//! ten thousand channels with `id=eq.N` cost one lookup per change.

use std::collections::HashMap;
use std::rc::Rc;

use indexmap::IndexSet;
use selvedge_limits::ClientId;

use super::ChannelKey;
use super::binding::{Binding, EventMask};
use super::catalog::{Catalog, PublishedTable};
use super::matcher::{EqualityKey, Matcher};

/// The role and claims under which row-level security is checked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    pub(crate) role: String,
    /// All claims as JSON text, because a policy may read any of them.
    pub(crate) claims: String,
}

/// Which part of the feed delivers the changes of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Lane {
    /// The feed itself: all filters are evaluated here, and nothing that a subscriber chose takes time.
    #[default]
    Native,
    /// PostgreSQL evaluates some of the filters.
    Asked,
    /// The same, of a client whose filters took too long lately.
    Suspect,
}

/// The bindings of one channel.
#[derive(Debug, Clone)]
pub(crate) struct Subscription {
    /// Whether the client's filters took too long lately.
    pub(crate) is_suspect: bool,
    /// The client whose channel it is.
    pub(crate) client: ClientId,
    pub(crate) identity: Rc<Identity>,
    /// The bindings with the ids that the client knows.
    pub(crate) bindings: Rc<[(u64, Binding)]>,
}

/// Channels with the same identity and binding on one table.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) key: GroupKey,
    /// Channels for which this is the only group with its selection of columns on the table; all of them share one
    /// message.
    pub(crate) single: IndexSet<ChannelKey>,
    /// Channels with further such groups; their binding ids are merged into one message per channel.
    pub(crate) several: IndexSet<ChannelKey>,
}

/// The properties that all channels of a group share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct GroupKey {
    pub(crate) binding_id: u64,
    pub(crate) identity: Rc<Identity>,
    pub(crate) events: EventMask,
    pub(crate) matchers: Rc<[Matcher]>,
    /// Positions of the selected columns; `None` for all.
    pub(crate) select: Option<Rc<[usize]>>,
}

/// The value of a changed row that a filter tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilterValue<'a> {
    Text(&'a [u8]),
    Null,
    /// The stream does not contain it.
    Unknown,
}

/// The groups of one table.
#[derive(Debug, Default)]
pub(crate) struct TableGroups {
    groups: HashMap<u64, Group>,
    by_key: HashMap<GroupKey, u64>,
    /// Groups without an equality filter: every change has to be matched against them.
    scanned: IndexSet<u64>,
    by_equality: HashMap<EqualityKey, IndexSet<u64>>,
    /// Columns that occur in `by_equality`, with the number of values indexed for each.
    equality_columns: HashMap<usize, usize>,
    next_group: u64,
}

/// The subscriptions of all channels, with the groups of those of one lane.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    lane: Lane,
    channels: HashMap<ChannelKey, Subscription>,
    tables: HashMap<u32, TableGroups>,
    /// The groups of each channel, as table and group, for its removal.
    memberships: HashMap<ChannelKey, Vec<(u32, u64)>>,
    /// The lanes and tables of channels of other lanes.
    elsewhere: HashMap<ChannelKey, (Lane, Vec<u32>)>,
    /// For each of those lanes and tables, how many channels there are.
    followed_elsewhere: HashMap<(Lane, u32), usize>,
}

impl Subscriptions {
    /// The subscriptions as a lane has them.
    pub(crate) fn of_lane(lane: Lane) -> Self {
        Self {
            lane,
            ..Self::default()
        }
    }

    /// Adds a channel or replaces its bindings.
    pub(crate) fn insert(&mut self, channel: ChannelKey, subscription: Subscription, catalog: &Catalog) {
        // A channel has one subscription: a refreshed token or new bindings replace it.
        self.remove(channel);
        let tables = keys_by_table(&subscription, catalog);
        // All of a channel is in one lane, so that its changes keep their order.
        let needs_database = tables
            .iter()
            .flat_map(|(_, keys)| keys)
            .any(GroupKey::needs_database);
        let lane = match (needs_database, subscription.is_suspect) {
            (false, _) => Lane::Native,
            (true, false) => Lane::Asked,
            (true, true) => Lane::Suspect,
        };
        self.channels.insert(channel, subscription);
        if lane != self.lane {
            let tables: Vec<u32> = tables.iter().map(|(table, _)| *table).collect();
            for table in &tables {
                *self.followed_elsewhere.entry((lane, *table)).or_default() += 1;
            }
            self.elsewhere.insert(channel, (lane, tables));
            return;
        }
        let mut memberships = Vec::new();
        for (table, keys) in tables {
            let groups = self.tables.entry(table).or_default();
            for key in &keys {
                // Channels with several groups of one selection need their ids merged; the rest share one message.
                let has_siblings = keys.iter().filter(|other| other.select == key.select).count() > 1;
                memberships.push((table, groups.add(key, channel, has_siblings)));
            }
        }
        self.memberships.insert(channel, memberships);
    }

    /// The lane of a channel.
    pub(crate) fn lane_of(&self, channel: ChannelKey) -> Lane {
        self.elsewhere.get(&channel).map_or(self.lane, |(lane, _)| *lane)
    }

    /// Whether a channel of another lane is subscribed to a table.
    pub(crate) fn is_followed_by(&self, lane: Lane, table: u32) -> bool {
        self.followed_elsewhere.contains_key(&(lane, table))
    }

    /// Removes a channel; unknown ones are ignored.
    pub(crate) fn remove(&mut self, channel: ChannelKey) -> Option<Subscription> {
        if let Some((lane, tables)) = self.elsewhere.remove(&channel) {
            for table in tables {
                if let Some(count) = self.followed_elsewhere.get_mut(&(lane, table)) {
                    *count -= 1;
                    if *count == 0 {
                        self.followed_elsewhere.remove(&(lane, table));
                    }
                }
            }
        }
        for (table, group) in self.memberships.remove(&channel).unwrap_or_default() {
            if let Some(groups) = self.tables.get_mut(&table) {
                groups.remove(group, channel);
            }
        }
        self.channels.remove(&channel)
    }

    /// Sorts every channel into groups again, after the published tables have changed.
    pub(crate) fn rebuild(&mut self, catalog: &Catalog) {
        self.tables.clear();
        self.memberships.clear();
        self.elsewhere.clear();
        self.followed_elsewhere.clear();
        for (channel, subscription) in std::mem::take(&mut self.channels) {
            self.insert(channel, subscription, catalog);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.channels.is_empty()
    }

    pub(crate) fn channels(&self) -> impl Iterator<Item = (ChannelKey, &Subscription)> {
        self.channels
            .iter()
            .map(|(channel, subscription)| (*channel, subscription))
    }

    pub(crate) fn get(&self, channel: ChannelKey) -> Option<&Subscription> {
        self.channels.get(&channel)
    }

    /// Returns the groups of a table; `None` without subscribers.
    pub(crate) fn of_table(&self, oid: u32) -> Option<&TableGroups> {
        self.tables.get(&oid).filter(|groups| !groups.groups.is_empty())
    }
}

/// The keys of a subscription's groups, for each table that it covers.
fn keys_by_table(subscription: &Subscription, catalog: &Catalog) -> Vec<(u32, Vec<GroupKey>)> {
    let keys_of = |table: &Rc<PublishedTable>| -> Vec<GroupKey> {
        subscription
            .bindings
            .iter()
            .filter(|(_, binding)| binding.covers(&table.schema, &table.name))
            .filter_map(|(id, binding)| GroupKey::new(*id, binding, &subscription.identity, table))
            .collect()
    };
    let tables = catalog.tables().map(|table| (table.oid, keys_of(table)));
    tables.filter(|(_, keys)| !keys.is_empty()).collect()
}

impl GroupKey {
    /// Whether PostgreSQL has to evaluate a filter of the group.
    fn needs_database(&self) -> bool {
        self.matchers.iter().any(Matcher::needs_database)
    }

    /// `None` when the table lacks a column that the binding names.
    fn new(
        binding_id: u64,
        binding: &Binding,
        identity: &Rc<Identity>,
        table: &PublishedTable,
    ) -> Option<Self> {
        let matchers: Option<Vec<Matcher>> = binding
            .filters
            .iter()
            .map(|filter| Matcher::new(filter, table))
            .collect();
        let select = match &binding.select {
            None => None,
            Some(names) => {
                let mut positions: Vec<usize> = names
                    .iter()
                    .map(|name| table.column(name))
                    .collect::<Option<_>>()?;
                // Sorted, so that bindings that name the same columns in another order share one message per channel.
                positions.sort_unstable();
                positions.dedup();
                Some(positions.into())
            }
        };
        Some(Self {
            binding_id,
            identity: Rc::clone(identity),
            events: binding.events,
            matchers: matchers?.into(),
            select,
        })
    }

    /// Whether the flag of every column that the group filters by is true.
    pub(crate) fn may_filter(&self, flags: &[bool]) -> bool {
        self.matchers
            .iter()
            .all(|matcher| flags.get(matcher.column).copied().unwrap_or(false))
    }

    /// The first equality filter, by which the group is indexed.
    fn equality_key(&self) -> Option<EqualityKey> {
        self.matchers.iter().find_map(Matcher::equality_key)
    }

    /// For each column of the table, whether this group may see it: selected by the binding or part of the key, and
    /// selectable by the role.
    pub(crate) fn visible_columns(&self, table: &PublishedTable, selectable: &[bool]) -> Vec<bool> {
        let is_selected = |index: usize, is_key: bool| {
            is_key || self.select.as_ref().is_none_or(|select| select.contains(&index))
        };
        table
            .columns
            .iter()
            .zip(selectable)
            .enumerate()
            .map(|(index, (column, selectable))| *selectable && is_selected(index, column.is_key))
            .collect()
    }
}

impl TableGroups {
    /// Adds a channel to the group with this key, which is made if needed; returns the group's id.
    fn add(&mut self, key: &GroupKey, channel: ChannelKey, has_siblings: bool) -> u64 {
        let id = match self.by_key.get(key) {
            Some(id) => *id,
            None => self.create(key),
        };
        if let Some(group) = self.groups.get_mut(&id) {
            let members = if has_siblings {
                &mut group.several
            } else {
                &mut group.single
            };
            members.insert(channel);
        }
        id
    }

    /// Makes an empty group and indexes it by its equality filter, if it has one.
    fn create(&mut self, key: &GroupKey) -> u64 {
        let id = self.next_group;
        self.next_group += 1;
        self.by_key.insert(key.clone(), id);
        match key.equality_key() {
            Some(equality) => {
                let column = equality.column;
                let same_value = self.by_equality.entry(equality).or_default();
                if same_value.is_empty() {
                    *self.equality_columns.entry(column).or_default() += 1;
                }
                same_value.insert(id);
            }
            None => {
                self.scanned.insert(id);
            }
        }
        let group = Group {
            key: key.clone(),
            single: IndexSet::new(),
            several: IndexSet::new(),
        };
        self.groups.insert(id, group);
        id
    }

    /// Removes a channel from a group, and the group when it was the last one.
    fn remove(&mut self, id: u64, channel: ChannelKey) {
        let Some(group) = self.groups.get_mut(&id) else {
            return;
        };
        group.single.swap_remove(&channel);
        group.several.swap_remove(&channel);
        if !group.single.is_empty() || !group.several.is_empty() {
            return;
        }
        let Some(group) = self.groups.remove(&id) else {
            return;
        };
        self.by_key.remove(&group.key);
        self.scanned.swap_remove(&id);
        let Some(equality) = group.key.equality_key() else {
            return;
        };
        let Some(same_value) = self.by_equality.get_mut(&equality) else {
            return;
        };
        same_value.swap_remove(&id);
        if same_value.is_empty() {
            self.by_equality.remove(&equality);
            if let Some(keys) = self.equality_columns.get_mut(&equality.column) {
                *keys -= 1;
                if *keys == 0 {
                    self.equality_columns.remove(&equality.column);
                }
            }
        }
    }

    /// The groups that may match a change: all groups without an equality filter, and those whose equality filter has
    /// the row's value, or may have it.
    pub(crate) fn candidates<'a>(
        &'a self,
        value_of: impl Fn(usize) -> FilterValue<'a> + 'a,
    ) -> impl Iterator<Item = (u64, &'a Group)> {
        let by_value = self.equality_columns.keys().flat_map(move |column| {
            let value = value_of(*column);
            let found = match value {
                FilterValue::Text(text) => str::from_utf8(text).ok().and_then(|text| {
                    self.by_equality.get(&EqualityKey {
                        column: *column,
                        text: text.to_owned(),
                    })
                }),
                FilterValue::Null | FilterValue::Unknown => None,
            };
            let possible = self
                .by_equality
                .iter()
                .filter(move |(key, _)| value == FilterValue::Unknown && key.column == *column)
                .flat_map(|(_, groups)| groups);
            found.into_iter().flatten().chain(possible)
        });
        self.scanned
            .iter()
            .chain(by_value)
            .filter_map(|id| self.groups.get(id).map(|group| (*id, group)))
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Group> {
        self.groups.values()
    }

    pub(crate) fn group(&self, id: u64) -> Option<&Group> {
        self.groups.get(&id)
    }
}
