//! The connections of one worker to the replicas.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::reader::Reader;
use super::replica::Replica;
use super::shared::Replicas;
use crate::{
    AccessMode, Isolation, JsonRead, JsonReadResult, RequestError, RequestPool, RequestPoolConfig,
    RequestTransaction, TransactionEnd, TransactionResult,
};

/// Runs reads on replicas. Belongs to one worker thread.
pub struct ReplicaPools {
    shared: Arc<Replicas>,
    config: RequestPoolConfig,
    /// One pool per replica, in the same order.
    pools: RefCell<Vec<PoolOfReplica>>,
    /// Index of the replica that gets the next read; replicas take turns.
    next: Cell<usize>,
}

#[derive(Default)]
struct PoolOfReplica {
    /// Made when the replica gets its first read. While it is left out there is none, so that its connections are free for others.
    pool: Option<RequestPool>,
    /// How often the replica had been left out when the pool was made.
    times_left_out: u64,
}

impl Replicas {
    /// One worker's connections. Must live on a thread that runs a `LocalSet`.
    pub fn worker(self: &Arc<Self>) -> ReplicaPools {
        ReplicaPools::new(Arc::clone(self), self.pool.clone())
    }
}

impl ReplicaPools {
    fn new(shared: Arc<Replicas>, config: RequestPoolConfig) -> Self {
        let pools = shared.replicas.iter().map(|_| PoolOfReplica::default());
        Self {
            pools: RefCell::new(pools.collect()),
            config,
            next: Cell::new(0),
            shared,
        }
    }

    /// The state that all workers share.
    pub fn shared(&self) -> &Arc<Replicas> {
        &self.shared
    }

    /// Runs a read as [`RequestPool::run`] does. `None` means that the primary has to run it.
    pub async fn run(
        &self,
        reader: &Reader,
        transaction: RequestTransaction<'_>,
    ) -> Option<Result<TransactionResult, RequestError>> {
        let (replica, pool, transaction) = self.choose(reader, transaction)?;
        replica.settle(pool.run(transaction)).await
    }

    /// Runs a read as [`RequestPool::read_json`] does. `None` means that the primary has to run it.
    pub async fn read_json(
        &self,
        reader: &Reader,
        transaction: &RequestTransaction<'_>,
        read: &JsonRead<'_>,
    ) -> Option<Result<JsonReadResult, RequestError>> {
        let (replica, pool, transaction) = self.choose(reader, *transaction)?;
        replica.settle(pool.read_json(&transaction, read)).await
    }

    /// Forgets all prepared statements. To be called when the schema has changed.
    pub fn forget_statements(&self) {
        for pool in self.pools.borrow().iter().filter_map(|kept| kept.pool.as_ref()) {
            pool.forget_statements();
        }
    }

    /// The replica whose turn it is, and the transaction with what the replica must have replayed.
    fn choose<'a>(
        &self,
        reader: &Reader,
        transaction: RequestTransaction<'a>,
    ) -> Option<(&Replica, RequestPool, RequestTransaction<'a>)> {
        if !self.can_run(&transaction) {
            return None;
        }
        let required = self.shared.required_position(reader)?;
        // At the next read of this worker, because a pool belongs to its thread.
        self.end_pools_left_out();
        // Each worker begins behind the replica that it used last, so that all of them get the same number of reads.
        let replicas = &self.shared.replicas;
        let first = self.next.get();
        let (index, times_left_out) = (first..first + replicas.len())
            .map(|turn| turn % replicas.len())
            .find_map(|index| Some((index, replicas[index].available()?)))?;
        self.next.set((index + 1) % replicas.len());
        let transaction = RequestTransaction {
            replayed_to: Some(required),
            ..transaction
        };
        Some((&replicas[index], self.pool(index, times_left_out), transaction))
    }

    /// Whether a hot standby can run a transaction. The snapshot of the higher isolation levels is taken before the
    /// replica has said how much it has replayed, and serializable does not exist there.
    fn can_run(&self, transaction: &RequestTransaction<'_>) -> bool {
        let isolation = transaction.isolation.or_else(|| {
            let replica = self.shared.replicas.first()?;
            replica
                .database
                .role_settings()
                .isolation_for(transaction.context.role)
        });
        transaction.access == AccessMode::ReadOnly
            && transaction.end == TransactionEnd::Commit
            && isolation.unwrap_or_default() == Isolation::ReadCommitted
    }

    /// The pool of a replica. It is a new one when the replica was left out meanwhile, because connections from before may
    /// hang for as long as the network does not report their loss.
    fn pool(&self, index: usize, times_left_out: u64) -> RequestPool {
        let mut pools = self.pools.borrow_mut();
        let kept = &mut pools[index];
        if kept.times_left_out != times_left_out {
            kept.pool = None;
            kept.times_left_out = times_left_out;
        }
        let new = || {
            let database = Arc::clone(&self.shared.replicas[index].database);
            RequestPool::new(database, self.config.clone())
        };
        kept.pool.get_or_insert_with(new).clone()
    }

    /// Ends the pools of replicas that are left out.
    fn end_pools_left_out(&self) {
        for (kept, replica) in self.pools.borrow_mut().iter_mut().zip(&self.shared.replicas) {
            if replica.available().is_none() {
                kept.pool = None;
            }
        }
    }
}
