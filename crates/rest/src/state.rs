//! What all workers share, and what each has for itself.

use crate::config::RestConfig;
use crate::store::{CatalogHealth, Scope, Snapshot, Store};
use selvedge_postgres::{Database, RequestPool};
use selvedge_token::TokenCacheUse;
use std::cell::Cell;
use std::sync::Arc;

/// The service's shared state: settings and catalog of one database.
pub struct RestState {
    store: Arc<Store>,
}

impl RestState {
    /// Loads settings and catalog once and keeps them current from then on. Never fails: until a load succeeds,
    /// requests are answered PGRST002.
    pub async fn new(database: Arc<Database>, config: RestConfig) -> Arc<Self> {
        let store = Store::start(database, config).await;
        Arc::new(Self { store })
    }

    /// How the catalog is doing, for readiness.
    pub fn health(&self) -> CatalogHealth {
        self.store.health()
    }

    /// Reads settings and catalog again soon, as `NOTIFY pgrst` would have it done.
    pub fn request_reload(&self) {
        self.store.request(Scope::Everything);
    }

    /// Reads the database's settings again soon, as `NOTIFY pgrst, 'reload config'` would have it done.
    pub fn request_config_reload(&self) {
        self.store.request(Scope::Settings);
    }

    /// Takes over what file and environment say now, and reads the database's settings on top of it. What belongs to
    /// the process (addresses, the pool, the channel) stays as it was at the start.
    pub fn replace_config(&self, config: RestConfig) {
        self.store.replace_base(config);
        self.request_config_reload();
    }

    /// The configuration in force.
    pub fn config(&self) -> RestConfig {
        self.store.snapshot().settings.config.clone()
    }

    /// How the cache of tokens verified here does.
    pub fn token_cache(&self) -> TokenCacheUse {
        let verifier = &self.store.snapshot().settings.verifier;
        verifier
            .as_ref()
            .map(|verifier| verifier.cache_use())
            .unwrap_or_default()
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.store.snapshot()
    }
}

/// One worker's service: the shared state and the worker's own connections.
pub(crate) struct Worker {
    state: Arc<RestState>,
    pool: RequestPool,
    /// The catalog under which the pool's statements were prepared.
    generation: Cell<u64>,
}

impl Worker {
    pub(crate) fn new(state: Arc<RestState>, pool: RequestPool) -> Self {
        let generation = Cell::new(state.store.generation());
        Self {
            state,
            pool,
            generation,
        }
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.state.snapshot()
    }

    /// The worker's connections, without statements from before the catalog last changed.
    pub(crate) fn pool(&self) -> &RequestPool {
        let current = self.state.store.generation();
        if self.generation.replace(current) != current {
            self.pool.forget_statements();
        }
        &self.pool
    }
}
