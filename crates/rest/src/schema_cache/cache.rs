//! The current snapshot, and the state of its reloads.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use deadpool_postgres::Pool;
use selvedge_postgres::{Database, Login};
use selvedge_token::TokenCacheMetrics;
use tokio::sync::Notify;
use tokio_postgres::Client;

use super::tenant_catalogs::TenantCatalogs;
use crate::catalog::{Catalog, CatalogScope};
use crate::config::{EffectiveConfig, RestConfig};
use crate::error::CatalogError;
use crate::execute::ResultSizes;

/// How many catalogs of single schemas may be read at the same time.
const TENANT_READERS: usize = 2;

/// State of the schema cache, for readiness and metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaCacheHealth {
    /// Whether a catalog has been loaded.
    pub loaded: bool,
    /// Whether notifications arrive; true where they are switched off.
    pub listening: bool,
    /// Why the last load failed, or which settings of the database it could not apply; `None` after a good one.
    pub failure: Option<String>,
    /// Number of loads that succeeded.
    pub loads: u64,
    /// Number of loads that failed.
    pub failures: u64,
    /// How long the queries of the last good load took.
    pub load_time: Duration,
}

/// Configuration and catalog that a request uses from its beginning to its end.
pub(crate) struct Snapshot {
    pub(crate) config: Arc<EffectiveConfig>,
    /// `None` before the first load: requests are answered PGRST002.
    pub(crate) catalog: Option<Arc<Catalog>>,
    /// The catalogs of schemas that patterns expose.
    pub(super) tenants: Arc<TenantCatalogs>,
}

impl Snapshot {
    /// Returns `search_path` for a request on a schema; `None` where a pattern exposes it and it does not exist.
    pub(crate) fn search_path(&self, schema: &str) -> Option<&str> {
        let of_tenant = self.tenants.search_path(schema);
        of_tenant.or_else(|| self.config.search_path(schema))
    }
}

/// How much of the catalog a reload reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReloadScope {
    /// The settings that the database holds, those of its roles included.
    Settings,
    /// Settings and catalog.
    Everything,
}

/// Settings and catalog of one database, shared by all workers.
pub struct SchemaCache {
    pub(super) database: Arc<Database>,
    /// The configuration of file and environment, under the database's settings.
    pub(super) base_config: ArcSwap<RestConfig>,
    pub(super) current: ArcSwap<Snapshot>,
    pub(super) failure: ArcSwap<Option<String>>,
    /// Errors in the database's settings, which did not prevent the load.
    pub(super) settings_failure: ArcSwap<Option<String>>,
    pub(super) listening: AtomicBool,
    pub(super) loads: AtomicU64,
    pub(super) failures: AtomicU64,
    pub(super) load_time_us: AtomicU64,
    /// The connection of the last reload: PostgreSQL caches its own catalog per connection, so the next reload over the
    /// same one takes half as long.
    pub(super) reader: Mutex<Option<Client>>,
    /// Connections that read catalogs of single schemas; opened on first use.
    tenant_readers: Pool,
    result_sizes: ResultSizes,
    /// Whether the requested reload includes the catalog.
    pub(super) catalog_requested: AtomicBool,
    pub(super) reload_requested: Notify,
}

impl SchemaCache {
    /// A cache without a catalog.
    pub(super) fn empty(database: Arc<Database>, config: RestConfig) -> Self {
        Self {
            current: ArcSwap::from_pointee(Snapshot {
                config: Arc::new(EffectiveConfig::new(config.clone(), None)),
                catalog: None,
                tenants: Arc::new(TenantCatalogs::new(HashMap::new())),
            }),
            failure: ArcSwap::from_pointee(None),
            settings_failure: ArcSwap::from_pointee(None),
            // If notifications are disabled, their absence is not reported.
            listening: AtomicBool::new(!config.channel_enabled),
            loads: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            load_time_us: AtomicU64::new(0),
            reader: Mutex::default(),
            catalog_requested: AtomicBool::new(false),
            reload_requested: Notify::new(),
            base_config: ArcSwap::from_pointee(config),
            tenant_readers: database.pool(Login::Authenticator, TENANT_READERS),
            result_sizes: ResultSizes::default(),
            database,
        }
    }

    /// Returns the catalog for a request on this schema: the one of all schemas that are exposed by name, or the schema's own if a
    /// pattern exposes it.
    ///
    /// # Errors
    /// PGRST002 before the first load, and when the schema cannot be read.
    pub(crate) async fn find_catalog(
        &self,
        snapshot: &Snapshot,
        schema: &str,
    ) -> Result<Arc<Catalog>, CatalogError> {
        let common = snapshot.catalog.as_ref().ok_or(CatalogError::NotLoaded)?;
        if snapshot.tenants.search_path(schema).is_none() {
            return Ok(Arc::clone(common));
        }
        // Boxed, because it is larger than the rest of a request's future, and requests on other schemas never need it.
        Box::pin(self.find_tenant_catalog(snapshot, schema)).await
    }

    async fn find_tenant_catalog(
        &self,
        snapshot: &Snapshot,
        schema: &str,
    ) -> Result<Arc<Catalog>, CatalogError> {
        let load = self.load_tenant(&snapshot.config, schema);
        snapshot
            .tenants
            .find_or_load(schema, load)
            .await
            .map_err(|reason| {
                tracing::error!(
                    schema,
                    reason,
                    "rest: the catalog of a schema could not be loaded"
                );
                CatalogError::NotLoaded
            })
    }

    async fn load_tenant(&self, config: &EffectiveConfig, schema: &str) -> Result<Catalog, String> {
        let begun = Instant::now();
        let mut client = self
            .tenant_readers
            .get()
            .await
            .map_err(|error| error.to_string())?;
        let scope = CatalogScope::of_schema(schema, config);
        let catalog = Catalog::load(&mut client, &scope, &config.hoisted_settings)
            .await
            .map_err(|error| error.to_string())?;
        let elapsed_ms = begun.elapsed().as_millis();
        tracing::debug!(
            schema,
            elapsed_ms,
            found = catalog.summary(),
            "rest: catalog loaded"
        );
        Ok(catalog)
    }

    /// How large the results of statements were.
    pub(crate) fn result_sizes(&self) -> &ResultSizes {
        &self.result_sizes
    }

    /// The current snapshot.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Changes with every load of the catalog: statements prepared under an older number may be stale.
    pub(crate) fn generation(&self) -> u64 {
        self.loads.load(Ordering::Acquire)
    }

    /// State of the cache, for readiness and metrics.
    pub fn health(&self) -> SchemaCacheHealth {
        let failure = self.failure.load().as_ref().clone();
        SchemaCacheHealth {
            loaded: self.current.load().catalog.is_some(),
            listening: self.listening.load(Ordering::Acquire),
            failure: failure.or_else(|| self.settings_failure.load().as_ref().clone()),
            loads: self.generation(),
            failures: self.failures.load(Ordering::Acquire),
            load_time: Duration::from_micros(self.load_time_us.load(Ordering::Acquire)),
        }
    }

    /// The configuration in force: file and environment, with the database's settings on top.
    pub fn config(&self) -> RestConfig {
        self.snapshot().config.base.clone()
    }

    /// Hits and misses of the cache of tokens that this service has verified itself.
    pub fn token_cache(&self) -> TokenCacheMetrics {
        let verifier = &self.snapshot().config.verifier;
        verifier
            .as_ref()
            .map(|verifier| verifier.cache_metrics())
            .unwrap_or_default()
    }

    /// Reads settings and catalog again soon, as `NOTIFY pgrst` does.
    pub fn request_reload(&self) {
        self.request(ReloadScope::Everything);
    }

    /// Reads the database's settings again soon, as `NOTIFY pgrst, 'reload config'` does.
    pub fn request_config_reload(&self) {
        self.request(ReloadScope::Settings);
    }

    /// Takes over what file and environment say now, and reads the database's settings on top of it. What belongs to
    /// the process (addresses, the pool, the channel) stays as it was at the start.
    pub fn replace_config(&self, config: RestConfig) {
        self.base_config.store(Arc::new(config));
        self.request_config_reload();
    }

    /// Asks the background task for a reload.
    pub(super) fn request(&self, scope: ReloadScope) {
        if scope == ReloadScope::Everything {
            // Set before the notification, so that the task that it wakes up sees it.
            self.catalog_requested.store(true, Ordering::Release);
        }
        self.reload_requested.notify_one();
    }
}
