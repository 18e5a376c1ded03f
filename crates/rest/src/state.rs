//! What all workers share, and what each has for itself.

use crate::catalog::{CatalogHealth, CatalogStore};
use crate::config::RestConfig;
use selvedge_postgres::{Database, RequestPool};
use std::cell::Cell;
use std::sync::Arc;

/// The service's shared state: settings and catalog of one database.
pub struct RestState {
    pub(crate) config: Arc<RestConfig>,
    pub(crate) catalog: Arc<CatalogStore>,
    /// `search_path` by exposed schema, quoted.
    search_paths: Vec<(String, String)>,
    /// Call of the function that runs before each statement.
    pub(crate) pre_request: Option<String>,
}

impl RestState {
    /// Loads the catalog once and keeps it current from then on. Never fails: until a load succeeds, requests are
    /// answered PGRST002.
    pub async fn new(database: Arc<Database>, config: RestConfig) -> Arc<Self> {
        let config = Arc::new(config);
        let catalog = CatalogStore::start(database, Arc::clone(&config)).await;
        let search_paths = config
            .schemas
            .iter()
            .map(|schema| (schema.clone(), search_path(schema, &config)))
            .collect();
        let pre_request = config.pre_request.as_deref().map(pre_request_call);
        Arc::new(Self {
            config,
            catalog,
            search_paths,
            pre_request,
        })
    }

    /// How the catalog is doing, for readiness.
    pub fn health(&self) -> CatalogHealth {
        self.catalog.health()
    }

    /// Reads the catalog again soon, as a `NOTIFY` would have it done.
    pub fn request_reload(&self) {
        self.catalog.request_reload();
    }

    /// The schemas in which names are looked up, quoted.
    pub(crate) fn search_path(&self, schema: &str) -> &str {
        self.search_paths
            .iter()
            .find(|(known, _)| known == schema)
            .map_or("", |(_, path)| path)
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn search_path(schema: &str, config: &RestConfig) -> String {
    let mut names = vec![quoted(schema)];
    names.extend(config.extra_search_path.iter().map(|extra| quoted(extra)));
    names.join(", ")
}

fn pre_request_call(function: &str) -> String {
    let name = function.splitn(2, '.').map(quoted).collect::<Vec<_>>().join(".");
    format!("select {name}()")
}

/// One worker's service: the shared state and the worker's own connections.
pub(crate) struct Worker {
    pub(crate) state: Arc<RestState>,
    pool: RequestPool,
    /// The catalog under which the pool's statements were prepared.
    generation: Cell<u64>,
}

impl Worker {
    pub(crate) fn new(state: Arc<RestState>, pool: RequestPool) -> Self {
        let generation = Cell::new(state.catalog.generation());
        Self {
            state,
            pool,
            generation,
        }
    }

    /// The worker's connections, without statements from before the catalog last changed.
    pub(crate) fn pool(&self) -> &RequestPool {
        let current = self.state.catalog.generation();
        if self.generation.replace(current) != current {
            self.pool.forget_statements();
        }
        &self.pool
    }
}
