//! Delivers the changes of channels with filters that PostgreSQL evaluates: beside the feed, which never waits for a filter.
//!
//! In: the subscriptions and changes in the order in which the feed has them. Out: events through the same sink, and news for the
//! feed. Channels without such filters are delivered by the feed itself; the clients of slow filters have a lane apart from the others.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use selvedge_limits::ClientId;
use selvedge_postgres::Database;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::spawn_local;
use tokio::time::timeout;

use crate::changes::batch::{Delivery, miss_group};
use crate::changes::catalog::Catalog;
use crate::changes::checks::ChecksDatabase;
use crate::changes::evaluation::Evaluator;
use crate::changes::rights::{Failures, Missed, Rights};
use crate::changes::row_change::RowChange;
use crate::changes::subscriptions::{Lane, Subscription, Subscriptions};
use crate::changes::{ChangeSink, ChannelKey};

/// The longest wait for the sockets to take over the batch before. A worker thread that is busy for longer must not
/// stop the changes of all others.
pub(super) const SETTLE_TIMEOUT: Duration = Duration::from_secs(5);
/// Most bytes of changes that wait for a lane. Beyond them the channels are told that they miss changes.
const MOST_WAITING_BYTES: usize = 16 * 1024 * 1024;
/// About how many bytes a change takes besides its values.
const CHANGE_BYTES: usize = 256;
/// How long the feed waits for room after a batch, so that a large transaction is not lost to a lane that keeps up with most of it.
const ROOM_TIMEOUT: Duration = Duration::from_millis(100);
/// How long filters may take for a batch.
const TIME_LIMIT: Duration = Duration::from_secs(1);

const BEHIND: &str = "Changes were not delivered: the filters of this channel take too long";

/// What a lane tells the feed.
pub(super) enum LaneNews {
    /// The filters of these owners took too long: clients in [`Lane::Asked`], and in [`Lane::Suspect`] channels, for changes that they see.
    Slow(Lane, HashSet<ClientId>),
    /// Roles were found to have changed.
    RolesChanged,
}

/// A message for a lane.
enum Message {
    Insert(ChannelKey, Subscription),
    Remove(ChannelKey),
    Catalog(Rc<Catalog>),
    Batch(Batch),
    /// Changes of these tables are not delivered.
    Missed(HashSet<u32>, &'static str),
}

struct Batch {
    changes: Rc<[RowChange]>,
    open_transaction: Option<u32>,
    bytes: usize,
}

/// The feed's end of a lane.
pub(super) struct LaneHandle {
    pub(super) lane: Lane,
    messages: UnboundedSender<Message>,
    waiting: Rc<Waiting>,
}

/// The changes that wait for a lane.
#[derive(Default)]
struct Waiting {
    bytes: Cell<usize>,
    has_room: Notify,
}

impl LaneHandle {
    /// Makes a lane. Its task starts with the first subscription, and ends with the handle.
    pub(super) fn start(
        lane: Lane,
        database: &Arc<Database>,
        sink: &Arc<dyn ChangeSink>,
        news: UnboundedSender<LaneNews>,
    ) -> Self {
        let (messages, receiver) = unbounded_channel();
        let waiting = Rc::<Waiting>::default();
        let task = LaneTask {
            lane,
            messages: receiver,
            waiting: Rc::clone(&waiting),
            news,
            sink: Arc::clone(sink),
            checks: ChecksDatabase::new(Arc::clone(database)),
            evaluator: Evaluator::new(Arc::clone(database), TIME_LIMIT),
            subscriptions: Subscriptions::of_lane(lane),
            catalog: None,
            rights: Rights::default(),
            failures: Failures::default(),
            settled: None,
        };
        spawn_local(task.run());
        Self {
            lane,
            messages,
            waiting,
        }
    }

    pub(super) fn insert(&self, channel: ChannelKey, subscription: &Subscription) {
        self.send(Message::Insert(channel, subscription.clone()));
    }

    pub(super) fn remove(&self, channel: ChannelKey) {
        self.send(Message::Remove(channel));
    }

    pub(super) fn set_catalog(&self, catalog: &Rc<Catalog>) {
        self.send(Message::Catalog(Rc::clone(catalog)));
    }

    /// Tells the lane's channels that changes of tables are not delivered.
    pub(super) fn miss(&self, tables: HashSet<u32>, reason: &'static str) {
        self.send(Message::Missed(tables, reason));
    }

    /// Hands a batch over. Without room for it the channels are told.
    pub(super) async fn deliver(&self, changes: &Rc<[RowChange]>, open_transaction: Option<u32>) {
        let bytes = changes
            .iter()
            .map(|change| change.value_bytes() + CHANGE_BYTES)
            .sum();
        if !self.waiting.has_room_for(bytes) {
            timeout(ROOM_TIMEOUT, self.waiting.has_room.notified()).await.ok();
        }
        if !self.waiting.has_room_for(bytes) {
            let tables = changes.iter().map(|change| change.table.oid).collect();
            self.miss(tables, BEHIND);
            return;
        }
        self.waiting.bytes.set(self.waiting.bytes.get() + bytes);
        self.send(Message::Batch(Batch {
            changes: Rc::clone(changes),
            open_transaction,
            bytes,
        }));
    }

    fn send(&self, message: Message) {
        // The task ends only with the feed.
        self.messages.send(message).ok();
    }
}

impl Waiting {
    /// A single batch always has room.
    fn has_room_for(&self, bytes: usize) -> bool {
        self.bytes.get() == 0 || self.bytes.get() + bytes <= MOST_WAITING_BYTES
    }
}

/// A lane's task.
struct LaneTask {
    lane: Lane,
    messages: UnboundedReceiver<Message>,
    waiting: Rc<Waiting>,
    news: UnboundedSender<LaneNews>,
    sink: Arc<dyn ChangeSink>,
    checks: ChecksDatabase,
    evaluator: Evaluator,
    subscriptions: Subscriptions,
    catalog: Option<Rc<Catalog>>,
    rights: Rights,
    failures: Failures,
    /// Resolves when the batch before has reached the sockets.
    settled: Option<BoxFuture<'static, ()>>,
}

impl LaneTask {
    async fn run(mut self) {
        while let Some(message) = self.messages.recv().await {
            match message {
                Message::Insert(channel, subscription) => {
                    if let Some(catalog) = &self.catalog {
                        self.subscriptions.insert(channel, subscription, catalog);
                    }
                }
                Message::Remove(channel) => {
                    self.subscriptions.remove(channel);
                }
                Message::Catalog(catalog) => {
                    self.subscriptions.rebuild(&catalog);
                    self.rights.clear();
                    self.checks.forget_statements();
                    self.catalog = Some(catalog);
                }
                Message::Missed(tables, reason) => self.tell(&tables, reason),
                Message::Batch(batch) => self.deliver(batch).await,
            }
        }
    }

    async fn deliver(&mut self, batch: Batch) {
        if let Some(settled) = self.settled.take() {
            timeout(SETTLE_TIMEOUT, settled).await.ok();
        }
        if let Some(catalog) = &self.catalog {
            let delivery = Delivery {
                changes: &batch.changes,
                open_transaction: batch.open_transaction,
                subscriptions: &self.subscriptions,
                catalog,
                sink: &*self.sink,
                evaluator: Some((&self.evaluator, self.lane)),
            };
            let delivered = delivery
                .deliver(&mut self.rights, &mut self.failures, &mut self.checks)
                .await;
            // The feed has ended when nobody receives it.
            if !delivered.slow.is_empty() {
                self.news.send(LaneNews::Slow(self.lane, delivered.slow)).ok();
            }
            if !delivered.are_roles_same {
                self.news.send(LaneNews::RolesChanged).ok();
            }
        }
        self.settled = Some(self.sink.settled(false));
        self.waiting.bytes.set(self.waiting.bytes.get() - batch.bytes);
        self.waiting.has_room.notify_one();
    }

    fn tell(&mut self, tables: &HashSet<u32>, reason: &'static str) {
        let mut missed = Missed::new();
        for groups in tables
            .iter()
            .filter_map(|table| self.subscriptions.of_table(*table))
        {
            for group in groups.all() {
                miss_group(group, reason, &mut missed);
            }
        }
        self.failures.tell(missed, &*self.sink);
    }
}

/// The lanes beside the feed.
pub(super) struct Lanes {
    pub(super) all: [LaneHandle; 2],
    pub(super) news: UnboundedReceiver<LaneNews>,
    pub(super) slow_filters: SlowFilters,
}

impl Lanes {
    pub(super) fn start(database: &Arc<Database>, sink: &Arc<dyn ChangeSink>) -> Self {
        let (sender, news) = unbounded_channel();
        let start = |lane| LaneHandle::start(lane, database, sink, sender.clone());
        Self {
            all: [start(Lane::Asked), start(Lane::Suspect)],
            news,
            slow_filters: SlowFilters::default(),
        }
    }
}

/// Clients whose filters took too long, and channels that went on to be slow.
#[derive(Default)]
pub(super) struct SlowFilters {
    clients: HashMap<ClientId, tokio::time::Instant>,
    strikes: HashMap<ChannelKey, u32>,
}

/// How long the filters of a client stay apart after they took too long.
const SUSPECT_FOR: Duration = Duration::from_secs(600);
/// How often the filters of a channel may take too long there.
const MOST_STRIKES: u32 = 3;

impl SlowFilters {
    /// Whether the filters of a client are kept apart.
    pub(super) fn is_suspect(&mut self, client: ClientId) -> bool {
        self.clients.retain(|_, since| since.elapsed() < SUSPECT_FOR);
        self.clients.contains_key(&client)
    }

    pub(super) fn suspect(&mut self, client: ClientId) {
        self.clients.insert(client, tokio::time::Instant::now());
    }

    /// Counts that a channel was slow. True when it was so too often.
    pub(super) fn strike(&mut self, channel: ChannelKey) -> bool {
        let strikes = self.strikes.entry(channel).or_default();
        *strikes += 1;
        *strikes >= MOST_STRIKES
    }

    pub(super) fn forget(&mut self, channel: ChannelKey) {
        self.strikes.remove(&channel);
    }
}
