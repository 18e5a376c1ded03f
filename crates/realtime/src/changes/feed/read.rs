//! Reads the replication stream: row changes in batches, broadcasts one by one.

use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

use selvedge_postgres::replication::{
    LogicalMessage, Relation, ReplicationError, ReplicationStream, Tuple, TupleValue,
};
use tokio::time::{Instant, timeout};

use super::broadcast_row::parse_broadcast_row;
use super::lane::SETTLE_TIMEOUT;
use super::state::{Feed, LONGEST_RETRY, RelationUse};
use crate::changes::batch::{Delivery, miss_group};
use crate::changes::catalog::Catalog;
use crate::changes::generated::read_generated;
use crate::changes::rights::Missed;
use crate::changes::row_change::{RowChange, Transaction};
use crate::metrics::METRICS;

/// Most changes and broadcasts that are read together. Larger batches need fewer statements but delay their first
/// change.
const MAX_BATCH: usize = 512;
/// Most bytes of values that are read together, unless a single row has more.
const MAX_BATCH_BYTES: usize = 4 * 1024 * 1024;

const CATALOG_FAILED: &str = "Changes were not delivered: the published tables could not be read";

/// Messages that were read and not delivered yet.
#[derive(Default)]
struct Batch {
    changes: Vec<RowChange>,
    /// Number of broadcasts, which are delivered as they are read.
    broadcasts: usize,
    bytes: usize,
    /// The end of the last whole transaction.
    end_lsn: Option<u64>,
}

impl Batch {
    fn is_full(&self) -> bool {
        self.changes.len() + self.broadcasts >= MAX_BATCH || self.bytes >= MAX_BATCH_BYTES
    }

    fn add(&mut self, change: RowChange) {
        self.bytes += change.value_bytes();
        self.changes.push(change);
    }
}

impl Feed {
    /// Reads what has been received, up to a batch, and delivers it.
    pub(super) async fn read_batch(&mut self, first: Result<LogicalMessage, ReplicationError>) {
        if let Some(settled) = self.settled.take() {
            // Beyond the timeout the changes wait in the mailbox of that worker thread.
            timeout(SETTLE_TIMEOUT, settled).await.ok();
        }
        let mut batch = Batch::default();
        let outcome = self.fill_batch(first, &mut batch).await;
        let is_full = batch.is_full();
        self.deliver_batch(&mut batch).await;
        // Asked for after the delivery, because it covers what has been delivered before.
        self.settled = Some(self.sink.settled(is_full));
        // Confirmed after delivery. Only whole transactions are confirmed, up to the last commit that was read.
        if let (Some(stream), Some(lsn)) = (&mut self.stream, batch.end_lsn) {
            stream.confirm(lsn);
            METRICS.replication_lag.set(stream.lag_bytes().cast_signed());
        }
        if let Err(error) = outcome {
            self.note_broken_stream(&error);
        }
    }

    /// Reads messages into a batch until it is full or no more have been received.
    async fn fill_batch(
        &mut self,
        first: Result<LogicalMessage, ReplicationError>,
        batch: &mut Batch,
    ) -> Result<(), ReplicationError> {
        let mut next = Some(first?);
        while let Some(message) = next {
            self.handle_message(message, batch).await;
            if batch.is_full() {
                break;
            }
            next = match &mut self.stream {
                Some(stream) => stream.next_buffered()?,
                None => None,
            };
        }
        Ok(())
    }

    /// Delivers the changes that have been read.
    async fn deliver_batch(&mut self, batch: &mut Batch) {
        let mut changes = std::mem::take(&mut batch.changes);
        METRICS.changes.inc_by(changes.len() as u64);
        let Some(catalog) = &self.catalog else {
            return;
        };
        read_generated(&mut changes, &self.subscriptions, &mut self.checks).await;
        let changes: Rc<[RowChange]> = changes.into();
        let delivery = Delivery {
            changes: &changes,
            open_transaction: self.is_transaction_open.then_some(self.transaction.xid),
            subscriptions: &self.subscriptions,
            catalog,
            sink: &*self.sink,
            evaluator: None,
        };
        let delivered = delivery.deliver(&mut self.rights, &mut self.failures, &mut self.checks);
        if !delivered.await.are_roles_same {
            self.warn_of_hidden_filters().await;
        }
        self.deliver_to_lanes(&changes).await;
    }

    /// Handles one stream message: broadcasts go to the sink immediately, row changes into the batch.
    async fn handle_message(&mut self, message: LogicalMessage, batch: &mut Batch) {
        let transaction = self.transaction;
        match message {
            LogicalMessage::Begin {
                xid, committed_at_us, ..
            } => {
                self.transaction = Transaction { xid, committed_at_us };
                self.is_transaction_open = true;
            }
            LogicalMessage::Commit { end_lsn } => {
                self.is_transaction_open = false;
                batch.end_lsn = Some(end_lsn);
            }
            LogicalMessage::Relation(relation) => self.learn_relation(relation, batch).await,
            LogicalMessage::Insert { relation, new } => match self.relations.get(&relation) {
                Some(RelationUse::Changes(map)) => batch.add(RowChange::insert(map, &new, transaction)),
                Some(RelationUse::Messages(relation)) => {
                    batch.broadcasts += 1;
                    batch.bytes += value_bytes(&new);
                    if let Some(row) = parse_broadcast_row(relation, &new) {
                        let last_message_at_us =
                            self.stream.as_ref().map(ReplicationStream::last_message_at_us);
                        if self.delivered.insert(&row, last_message_at_us) {
                            self.sink.broadcast(row);
                        }
                    }
                }
                Some(RelationUse::Unknown(_) | RelationUse::Ignored) | None => {}
            },
            LogicalMessage::Update { relation, old, new } => {
                if let Some(RelationUse::Changes(map)) = self.relations.get(&relation) {
                    batch.add(RowChange::update(map, old.as_ref(), &new, transaction));
                }
            }
            LogicalMessage::Delete { relation, old } => {
                if let Some(RelationUse::Changes(map)) = self.relations.get(&relation) {
                    batch.add(RowChange::delete(map, &old, transaction));
                }
            }
            LogicalMessage::Other => {}
        }
    }

    /// Records how to use a table that the stream describes: before its first change, and again after DDL, a grant or a
    /// policy changed it.
    async fn learn_relation(&mut self, relation: Relation, batch: &mut Batch) {
        let oid = relation.oid;
        // Told apart by name before the catalog is asked: broadcasts work even if no table is published.
        if relation.schema == "realtime" {
            let usage = if relation.name == "messages" {
                RelationUse::Messages(relation)
            } else {
                RelationUse::Ignored
            };
            self.relations.insert(oid, usage);
            return;
        }
        let xid = self.transaction.xid;
        let is_recent = |catalog: &&Rc<Catalog>| catalog.includes(xid);
        if self.catalog.as_ref().filter(is_recent).is_none() {
            // Security: from here on other columns, rights and policies may hold than those that the catalog shows. The
            // changes before are delivered first, because their values are sorted by the columns of the old one.
            self.deliver_batch(batch).await;
            self.checks.wait_until_visible(BTreeSet::from([xid])).await;
            self.reload_catalog().await;
        }
        let usage = match self.catalog.as_ref().filter(is_recent) {
            Some(catalog) => RelationUse::of_table(relation, catalog, self.relations.get(&oid)),
            // The catalog could not be read, or the transaction did not become visible in time. The catalog is read
            // again soon, and the relation is then mapped to it.
            None => {
                self.reload_at = self.reload_at.min(Instant::now() + LONGEST_RETRY);
                self.tell_subscribers(oid);
                RelationUse::Unknown(relation)
            }
        };
        self.relations.insert(oid, usage);
    }
}

impl Feed {
    /// Tells the subscribers of a table that its changes are not delivered for now.
    fn tell_subscribers(&mut self, table: u32) {
        for lane in &self.lanes.all {
            lane.miss(HashSet::from([table]), CATALOG_FAILED);
        }
        let mut missed = Missed::new();
        if let Some(groups) = self.subscriptions.of_table(table) {
            for group in groups.all() {
                miss_group(group, CATALOG_FAILED, &mut missed);
            }
        }
        self.failures.tell(missed, &*self.sink);
    }
}

/// Bytes of a row's values.
fn value_bytes(tuple: &Tuple) -> usize {
    tuple
        .values
        .iter()
        .map(|value| match value {
            TupleValue::Text(text) => text.len(),
            TupleValue::Null | TupleValue::Unchanged => 0,
        })
        .sum()
}
