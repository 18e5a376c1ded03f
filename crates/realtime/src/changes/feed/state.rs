//! The state of the feed's thread, and the catalog of published tables in it.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use futures_util::future::BoxFuture;
use selvedge_postgres::replication::{Relation, ReplicationStream};
use selvedge_postgres::{Database, ListenEvent};
use tokio::sync::mpsc::{Receiver, UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

use super::command::Command;
use super::lane::Lanes;
use super::missed_broadcasts::DeliveredBroadcasts;
use crate::changes::binding_checks::{BindingChecker, BindingRefusal};
use crate::changes::catalog::{Catalog, PUBLICATION, UnseenTable};
use crate::changes::checks::ChecksDatabase;
use crate::changes::rights::{Failures, Rights};
use crate::changes::row_change::{RelationMap, Transaction};
use crate::changes::subscriptions::{Subscription, Subscriptions};
use crate::changes::{ChangeSink, ChannelKey};

/// The NOTIFY channel on which an event trigger of the platform schema announces DDL.
const DDL_CHANNEL: &str = "realtime_catalog";
/// How often the catalog is read without an announcement, for databases that lack the event trigger.
const RELOAD_INTERVAL: Duration = Duration::from_secs(60);
/// Pause after the stream broke for the first time; it doubles with each failure.
pub(super) const FIRST_RETRY: Duration = Duration::from_millis(100);
/// The longest pause between two attempts.
pub(super) const LONGEST_RETRY: Duration = Duration::from_secs(5);

/// A channel's subscription that has not been checked yet.
#[derive(Clone)]
pub(super) struct Request {
    pub(super) subscription: Subscription,
    pub(super) asked_at: Instant,
    /// Whether the channel knows that the database is away.
    pub(super) is_told: bool,
}

/// A subscription that is being checked.
pub(super) struct Pending {
    /// Tells the check from earlier ones of the same channel, whose outcomes no longer count.
    pub(super) ticket: u64,
    pub(super) request: Request,
}

/// The outcome of a check.
pub(super) struct Checked {
    pub(super) channel: ChannelKey,
    pub(super) ticket: u64,
    pub(super) outcome: Result<(), BindingRefusal>,
}

/// How the feed uses a table that the stream has described.
pub(super) enum RelationUse {
    Changes(RelationMap),
    Messages(Relation),
    /// Published, but not in the catalog.
    Unknown(Relation),
    /// A table of schema `realtime` other than `messages`.
    Ignored,
}

/// The state of the feed's thread.
pub(super) struct Feed {
    pub(super) database: Arc<Database>,
    /// Receives changes, broadcasts and the outcomes of subscriptions.
    pub(super) sink: Arc<dyn ChangeSink>,
    pub(super) commands: UnboundedReceiver<Command>,
    /// True while changes are being read; shared with the handles.
    pub(super) is_streaming: Arc<AtomicBool>,
    /// Announcements of DDL, from a connection that listens on [`DDL_CHANNEL`].
    pub(super) ddl: Receiver<ListenEvent>,
    pub(super) checks: ChecksDatabase,
    /// Runs the checks of bindings in tasks beside the feed.
    pub(super) checker: Rc<BindingChecker>,
    /// Where those tasks send their outcomes.
    pub(super) checked: (UnboundedSender<Checked>, UnboundedReceiver<Checked>),
    pub(super) pending: HashMap<ChannelKey, Pending>,
    pub(super) next_ticket: u64,
    /// The published tables; `None` until they have been read for the first time.
    pub(super) catalog: Option<Rc<Catalog>>,
    /// When they were read.
    pub(super) catalog_read_at: Option<Instant>,
    pub(super) rights: Rights,
    pub(super) failures: Failures,
    /// All channels, with the groups of those that the feed delivers to itself.
    pub(super) subscriptions: Subscriptions,
    /// Those that deliver to the others.
    pub(super) lanes: Lanes,
    pub(super) stream: Option<ReplicationStream>,
    /// By oid, what the stream has described since it started.
    pub(super) relations: HashMap<u32, RelationUse>,
    /// The publications that the stream reads; empty while there is none.
    pub(super) publications: Vec<&'static str>,
    /// Whether the stream was started while Citus captured changes of shards.
    pub(super) streams_shards: bool,
    /// The transaction that is being read, or was read last.
    pub(super) transaction: Transaction,
    /// Whether its commit has not been read yet.
    pub(super) is_transaction_open: bool,
    /// Resolves when the batch before has reached the sockets.
    pub(super) settled: Option<BoxFuture<'static, ()>>,
    /// Broadcasts that have been delivered lately, and since when some may be missing.
    pub(super) delivered: DeliveredBroadcasts,
    /// Whether any channel is open.
    pub(super) is_active: bool,
    /// Since when the stream has been open without any channel.
    pub(super) idle_since: Option<Instant>,
    /// The earliest time of the next attempt to start the stream.
    pub(super) retry_at: Instant,
    pub(super) retry_pause: Duration,
    /// When the catalog is read next.
    pub(super) reload_at: Instant,
    /// Channels whose bindings wait to be checked: until the database is back, or the published tables are read again.
    pub(super) unchecked: HashMap<ChannelKey, Request>,
    /// When their bindings are checked again.
    pub(super) recheck_at: Instant,
    /// Channels that were told that the stream cannot start; they are told once, not at every retry.
    pub(super) refused: HashSet<ChannelKey>,
    /// Channels that were told that they filter by a column that their role may no longer select.
    pub(super) hidden: HashSet<ChannelKey>,
    /// Channels that were told that a binding of theirs matches nothing any more.
    pub(super) lost: HashSet<ChannelKey>,
}

impl Feed {
    pub(super) fn new(
        database: Arc<Database>,
        sink: Arc<dyn ChangeSink>,
        commands: UnboundedReceiver<Command>,
        is_streaming: Arc<AtomicBool>,
    ) -> Self {
        Self {
            lanes: Lanes::start(&database, &sink),
            ddl: database.listen(&[DDL_CHANNEL]),
            checks: ChecksDatabase::new(Arc::clone(&database)),
            checker: Rc::new(BindingChecker::new(Arc::clone(&database))),
            checked: unbounded_channel(),
            pending: HashMap::new(),
            next_ticket: 0,
            catalog_read_at: None,
            database,
            sink,
            commands,
            is_streaming,
            catalog: None,
            rights: Rights::default(),
            failures: Failures::default(),
            subscriptions: Subscriptions::default(),
            stream: None,
            relations: HashMap::new(),
            publications: Vec::new(),
            streams_shards: false,
            transaction: Transaction::default(),
            is_transaction_open: false,
            settled: None,
            delivered: DeliveredBroadcasts::default(),
            is_active: false,
            idle_since: None,
            retry_at: Instant::now(),
            retry_pause: FIRST_RETRY,
            reload_at: Instant::now() + RELOAD_INTERVAL,
            unchecked: HashMap::new(),
            recheck_at: Instant::now(),
            refused: HashSet::new(),
            hidden: HashSet::new(),
            lost: HashSet::new(),
        }
    }

    /// Whether the stream should run.
    pub(super) fn wants_stream(&self) -> bool {
        self.is_active || !self.subscriptions.is_empty()
    }

    /// Tells a channel that its changes arrive, and then which of them do not. Without a running stream this waits until the
    /// stream has started.
    pub(super) fn confirm(&self, channel: ChannelKey) {
        if self.stream.is_none() || !self.publications.contains(&PUBLICATION) {
            return;
        }
        self.sink.notify(channel, true, "Subscribed to PostgreSQL");
        if let (Some(catalog), Some(subscription)) = (&self.catalog, self.subscriptions.get(channel)) {
            let unseen: Vec<&UnseenTable> = catalog.unseen_tables().collect();
            self.warn_of_unseen(channel, &subscription.bindings, &unseen);
        }
    }

    /// Reads the catalog again, and sorts all subscriptions and known relations into the new one. False when it cannot be
    /// read; the old one then stays.
    pub(super) async fn reload_catalog(&mut self) -> bool {
        self.reload_at = Instant::now() + RELOAD_INTERVAL;
        match self.checks.load_catalog().await {
            Ok(catalog) => {
                self.catalog_read_at = Some(Instant::now());
                self.subscriptions.rebuild(&catalog);
                self.rights.clear();
                self.checks.forget_statements();
                // PostgreSQL describes a relation again only after the relation changed. The descriptions are therefore kept
                // and only mapped to the new catalog.
                let relations = std::mem::take(&mut self.relations);
                let remapped = relations
                    .into_iter()
                    .map(|(oid, usage)| (oid, usage.remap(&catalog)));
                self.relations = remapped.collect();
                let catalog = Rc::new(catalog);
                for lane in &self.lanes.all {
                    lane.set_catalog(&catalog);
                }
                let before = self.catalog.replace(catalog);
                // The bindings stay: the changes arrive again when the table becomes an ordinary one, or Citus captures them.
                self.warn_of_lost_tables(before.as_deref());
                self.follow_shard_capture();
                // With each reading, because it takes the announcement: a join reads the catalog, too.
                self.follow_publications().await;
                self.warn_of_lost_bindings();
                self.warn_of_hidden_filters().await;
                true
            }
            Err(error) => {
                tracing::warn!(code = "ErrorRunningQuery", %error, "the published tables could not be read");
                self.reload_at = Instant::now() + LONGEST_RETRY;
                false
            }
        }
    }
}

impl RelationUse {
    /// How a relation of a project's schema is used with this catalog. `before` is its use until now.
    pub(super) fn of_table(relation: Relation, catalog: &Catalog, before: Option<&Self>) -> Self {
        let before = match before {
            Some(Self::Changes(map)) => Some(map),
            _ => None,
        };
        match catalog.table(relation.oid) {
            Some(table) => Self::Changes(RelationMap::new(relation, Rc::clone(table), before)),
            None => Self::Unknown(relation),
        }
    }

    /// The use after the catalog was read again.
    fn remap(self, catalog: &Catalog) -> Self {
        match self {
            Self::Changes(mut map) => match catalog.table(map.table.oid) {
                Some(table) => {
                    map.replace_table(Rc::clone(table));
                    Self::Changes(map)
                }
                None => Self::Unknown(map.into_relation()),
            },
            Self::Unknown(relation) => Self::of_table(relation, catalog, None),
            unaffected @ (Self::Messages(_) | Self::Ignored) => unaffected,
        }
    }
}
