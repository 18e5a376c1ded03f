//! The service as the server mounts it: started once per process, with one [`RealtimeWorker`] per worker thread, and
//! drained at shutdown.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use actix_web::web;
use deadpool_postgres::Pool;
use selvedge_gateway::{UpgradeHandler, keep_running};
use selvedge_limits::{LogGate, Shares, Turns};
use selvedge_postgres::{Database, Login};
use selvedge_token::{ApiKeys, KeyRing};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

use crate::api;
use crate::authorization::Authorizer;
use crate::broadcast::Replayer;
use crate::changes::ChangeFeed;
use crate::cluster::Cluster;
use crate::config::RealtimeConfig;
use crate::delivery::{ChangeDelivery, PresenceDelivery};
use crate::ended_users;
use crate::fanout::Hub;
use crate::limits::Rate;
use crate::metrics::METRICS;
use crate::partitions;
use crate::presence::PresenceStore;
use crate::socket::Upgrades;
use crate::state::{Shared, Worker};
use crate::token::TokenVerifier;

/// How often [`Realtime::drain`] checks whether sockets are still open.
const DRAIN_POLL: Duration = Duration::from_millis(20);
/// How long the last sockets may take for their closing handshake.
const DRAIN_GRACE: Duration = Duration::from_secs(3);

thread_local! {
    /// Workers of the current thread, one for each service. A server with several listeners requests one per listener and
    /// gets the same worker, so that each thread has one mailbox in the hub.
    static WORKERS: RefCell<Vec<Rc<Worker>>> = const { RefCell::new(Vec::new()) };
}

/// The service of this process: state that all worker threads share. Cheap to clone. Its background work, and with it the
/// replication stream, ends when the last clone is dropped.
#[derive(Clone)]
pub struct Realtime {
    shared: Arc<Shared>,
    _background: Arc<Background>,
}

/// Ends the background work when it is dropped. Sockets and workers have no reference to it, so they cannot keep the
/// replication stream open after the server has ended.
struct Background {
    shared: Arc<Shared>,
    tasks: [AbortHandle; 2],
}

impl Drop for Background {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
        self.shared.feed.stop();
        if let Some(cluster) = &self.shared.cluster {
            cluster.end();
        }
    }
}

/// Begins to maintain the partitions of `realtime.messages`.
fn maintain_partitions(pool: Pool) -> AbortHandle {
    let maintain = move || partitions::maintain_forever(pool.clone());
    tokio::spawn(keep_running("partitions of realtime.messages", maintain)).abort_handle()
}

impl Realtime {
    /// Makes the service and starts its background work: partition maintenance on the current Tokio runtime, which
    /// must therefore live as long as the service, and the thread that reads database changes.
    ///
    /// # Errors
    /// When the system cannot create the thread for database changes.
    pub fn start(
        config: RealtimeConfig,
        database: &Arc<Database>,
        ring: Arc<KeyRing>,
        api_keys: Arc<ApiKeys>,
    ) -> io::Result<Self> {
        // Registered now, so that `/metrics` has them before the first socket: a dashboard would take the gap for a failure.
        LazyLock::force(&METRICS);
        // Not the login of the stream, which has the attribute REPLICATION: functions, policies and triggers of the project run here.
        let pool = database.pool(Login::Authenticator, config.database_connections);
        let for_ended_users = pool.clone();
        let partitions = maintain_partitions(pool.clone());
        let hub = Arc::new(Hub::new());
        let (replicating, is_replicating) = watch::channel(false);
        let delivery = ChangeDelivery::new(hub.clone(), replicating, config.max_payload_bytes);
        let store = Arc::new(PresenceStore::new(config.presence_interval));
        let presence = PresenceDelivery::new(store, hub.clone());
        let node_key = ring.derive_key("realtime's nodes");
        let cluster = Cluster::start(&config, node_key, presence.clone(), hub.clone());
        let shared = Arc::new(Shared {
            verifier: TokenVerifier::new(ring, api_keys),
            presence,
            cluster,
            authorizer: Authorizer::new(Arc::clone(database), pool.clone(), config.database_timeout),
            replayer: Replayer::new(pool, config.database_timeout),
            feed: ChangeFeed::start(Arc::clone(database), Arc::new(delivery))?,
            event_rate: Arc::new(Rate::new(config.max_events_per_second, config.rate_interval)),
            join_rate: Rate::new(config.max_joins_per_second, config.rate_interval),
            presence_rate: Rate::new(config.max_presence_events_per_second, config.rate_interval),
            is_replicating,
            sockets: AtomicUsize::new(0),
            socket_shares: Shares::limited(config.max_sockets_per_address),
            binding_shares: Shares::new(Some(config.max_bindings_per_address).filter(|most| *most > 0)),
            policy_turns: Turns::new(config.database_connections.div_ceil(2)),
            log: LogGate::new(),
            channels: AtomicUsize::new(0),
            is_shutting_down: AtomicBool::new(false),
            hub,
            config,
        });
        let ended_users = watch_ended_users(&shared, for_ended_users);
        let background = Background {
            shared: Arc::clone(&shared),
            tasks: [partitions, ended_users],
        };
        Ok(Self {
            shared,
            _background: Arc::new(background),
        })
    }

    /// The service of the current worker thread; every call on one thread returns the same worker. Must be called on
    /// that thread, because sockets and their members are `Rc` and never change threads.
    pub fn worker(&self) -> RealtimeWorker {
        WORKERS.with_borrow_mut(|workers| {
            let of_this_service = |worker: &&Rc<Worker>| Arc::ptr_eq(&worker.shared, &self.shared);
            let found = workers.iter().find(of_this_service).cloned();
            let worker = found.unwrap_or_else(|| {
                let worker = Worker::start(Arc::clone(&self.shared));
                workers.push(Rc::clone(&worker));
                worker
            });
            RealtimeWorker { worker }
        })
    }

    /// Why the other nodes cannot be reached; `None` while they can, and for a node that runs alone.
    pub fn find_cluster_fault(&self) -> Option<String> {
        self.shared.cluster.as_ref().and_then(Cluster::find_fault)
    }

    /// Whether this node is one of several.
    pub fn is_clustered(&self) -> bool {
        self.shared.cluster.is_some()
    }

    /// Closes all sockets, spread over the configured time, and waits until they are gone, at most 3 s longer. New
    /// sockets and joins are refused from the first moment. The other nodes then forget this one's presence, and the
    /// replication stream ends.
    pub async fn drain(&self) {
        // Set before the sockets are counted: an upgrade that comes later sees the flag and is refused.
        self.shared.is_shutting_down.store(true, Ordering::Relaxed);
        self.close_sockets().await;
        self.shared.feed.stop();
        self.shared.feed.stopped().await;
        if let Some(cluster) = &self.shared.cluster {
            cluster.leave().await;
        }
    }

    async fn close_sockets(&self) {
        let sockets = self.shared.sockets.load(Ordering::Relaxed);
        if sockets == 0 {
            return;
        }
        let duration = self.shared.config.drain_duration;
        tracing::info!(sockets, "closing sockets");
        self.shared.hub.drain(duration);
        let deadline = Instant::now() + duration + DRAIN_GRACE;
        while self.shared.sockets.load(Ordering::Relaxed) > 0 && Instant::now() < deadline {
            sleep(DRAIN_POLL).await;
        }
    }
}

/// Looks for users who were deleted or banned, in the background.
fn watch_ended_users(shared: &Arc<Shared>, pool: Pool) -> AbortHandle {
    let watched = Arc::clone(shared);
    let watch = move || {
        let shared = Arc::clone(&watched);
        ended_users::watch_forever(
            Arc::clone(shared.verifier.ended_users()),
            Arc::clone(&shared.hub),
            pool.clone(),
            move || shared.sockets.load(Ordering::Relaxed) > 0,
        )
    };
    tokio::spawn(keep_running("deleted and banned users", watch)).abort_handle()
}

/// The service of one worker thread: it decides about upgrades and serves the HTTP API.
#[derive(Clone)]
pub struct RealtimeWorker {
    worker: Rc<Worker>,
}

impl RealtimeWorker {
    /// The handler that accepts or refuses WebSocket handshakes of this worker.
    pub fn upgrades(&self) -> Rc<dyn UpgradeHandler> {
        Rc::new(Upgrades::new(Rc::clone(&self.worker)))
    }

    /// Mounts the HTTP API below `/realtime/v1`.
    pub fn configure(&self) -> Box<dyn FnOnce(&mut web::ServiceConfig)> {
        api::configure(Rc::clone(&self.worker))
    }
}
