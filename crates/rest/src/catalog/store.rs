//! The current catalog, and what keeps it current.
//!
//! Requests take a snapshot and keep it. A `NOTIFY` on the configured channel, or a listening connection that came
//! back, starts a reload; many notifications in a row start one now and one after the pause. A reload that fails
//! keeps the old catalog, is tried again, and shows in [`CatalogHealth`].

use super::Catalog;
use crate::config::RestConfig;
use arc_swap::{ArcSwap, ArcSwapOption};
use selvedge_postgres::{Database, ListenEvent, Login};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::sync::mpsc::Receiver;

const LONGEST_RETRY: Duration = Duration::from_secs(32);

/// How the catalog is doing, for readiness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogHealth {
    /// A catalog has been loaded.
    pub loaded: bool,
    /// Notifications arrive.
    pub listening: bool,
    /// Why the last load failed; `None` after a good one.
    pub failure: Option<String>,
    /// Loads that succeeded.
    pub loads: u64,
}

/// Holds the catalog of one database; shared by all workers.
pub struct CatalogStore {
    current: ArcSwapOption<Catalog>,
    failure: ArcSwap<Option<String>>,
    listening: AtomicBool,
    generation: AtomicU64,
    wanted: Notify,
}

impl CatalogStore {
    /// Tries one load, then keeps reloading in the background. A first load that fails leaves the store empty, and
    /// requests are answered PGRST002 until one succeeds.
    pub async fn start(database: Arc<Database>, config: Arc<RestConfig>) -> Arc<Self> {
        let store = Arc::new(Self {
            current: ArcSwapOption::empty(),
            failure: ArcSwap::from_pointee(None),
            listening: AtomicBool::new(false),
            generation: AtomicU64::new(0),
            wanted: Notify::new(),
        });
        if !store.load(&database, &config).await {
            store.wanted.notify_one();
        }
        let channel: &'static str = Box::leak(config.channel.clone().into_boxed_str());
        tokio::spawn(listen(Arc::clone(&store), database.listen(&[channel])));
        tokio::spawn(reload(Arc::clone(&store), database, config));
        store
    }

    /// The snapshot to work with; `None` before the first load.
    pub fn current(&self) -> Option<Arc<Catalog>> {
        self.current.load_full()
    }

    /// Changes with every load: what was prepared under an older number may be stale.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Asks for a reload soon.
    pub fn request_reload(&self) {
        self.wanted.notify_one();
    }

    /// How the catalog is doing.
    pub fn health(&self) -> CatalogHealth {
        CatalogHealth {
            loaded: self.current.load().is_some(),
            listening: self.listening.load(Ordering::Acquire),
            failure: self.failure.load().as_ref().clone(),
            loads: self.generation(),
        }
    }

    async fn load(&self, database: &Database, config: &RestConfig) -> bool {
        let loaded = async {
            let mut client = database.client(Login::Authenticator).await?;
            Catalog::load(&mut client, config).await
        };
        match loaded.await {
            Ok(catalog) => {
                tracing::info!(found = catalog.summary(), "rest: catalog loaded");
                self.current.store(Some(Arc::new(catalog)));
                self.failure.store(Arc::new(None));
                self.generation.fetch_add(1, Ordering::AcqRel);
                true
            }
            Err(error) => {
                let reason = match error.as_db_error() {
                    Some(refusal) => format!("{}: {}", refusal.code().code(), refusal.message()),
                    None => error.to_string(),
                };
                tracing::error!(
                    reason,
                    "rest: the catalog could not be loaded; the previous one stays"
                );
                self.failure.store(Arc::new(Some(reason)));
                false
            }
        }
    }
}

async fn listen(store: Arc<CatalogStore>, mut events: Receiver<ListenEvent>) {
    while let Some(event) = events.recv().await {
        match event {
            ListenEvent::Connected => {
                store.listening.store(true, Ordering::Release);
                // Notifications may have been missed: after a loss, and at first between load and LISTEN.
                store.request_reload();
            }
            ListenEvent::Notification { payload, .. } => {
                if matches!(payload.as_str(), "" | "reload schema" | "reload config") {
                    store.request_reload();
                }
            }
            ListenEvent::Lost(reason) => {
                store.listening.store(false, Ordering::Release);
                tracing::warn!(reason, "rest: the listening connection was lost");
            }
        }
    }
}

async fn reload(store: Arc<CatalogStore>, database: Arc<Database>, config: Arc<RestConfig>) {
    let mut retry = Duration::from_secs(1);
    loop {
        store.wanted.notified().await;
        // ALTER ROLE … SET comes with the same notification
        if let Err(error) = database.reload_role_settings().await {
            tracing::warn!(%error, "rest: role settings could not be read again");
        }
        if store.load(&database, &config).await {
            retry = Duration::from_secs(1);
            tokio::time::sleep(config.reload_pause).await;
        } else {
            tokio::time::sleep(retry).await;
            retry = (retry * 2).min(LONGEST_RETRY);
            store.wanted.notify_one();
        }
    }
}
