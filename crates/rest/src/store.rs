//! Settings and catalog of one database, and what keeps them current.
//!
//! Requests take a snapshot of both and keep it. A `NOTIFY` on the configured channel, a signal, or a listening
//! connection that came back starts a reload; many in a row start one now and one after the pause. A reload that fails
//! keeps the old snapshot, is tried again, and shows in [`CatalogHealth`].

use crate::catalog::Catalog;
use crate::config::{RestConfig, read_settings};
use crate::settings::Settings;
use arc_swap::ArcSwap;
use selvedge_postgres::{Database, ListenEvent, Login};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::sync::mpsc::Receiver;
use tokio_postgres::{Client, Error};

const LONGEST_RETRY: Duration = Duration::from_secs(32);
/// For how long the connection that reads is kept for the next change: changes come in flocks.
const READER_KEPT: Duration = Duration::from_secs(60);
/// How long a kept connection may take to prove that it lives.
const READER_PROOF: Duration = Duration::from_secs(2);

/// How the catalog is doing, for readiness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogHealth {
    /// A catalog has been loaded.
    pub loaded: bool,
    /// Notifications arrive, or are not wanted.
    pub listening: bool,
    /// Why the last load failed; `None` after a good one.
    pub failure: Option<String>,
    /// Loads that succeeded.
    pub loads: u64,
    /// Loads that failed.
    pub failures: u64,
    /// How long the queries of the last good load took.
    pub load_time: Duration,
}

/// What a request works with from its beginning to its end.
pub(crate) struct Snapshot {
    pub(crate) settings: Arc<Settings>,
    /// `None` before the first load.
    pub(crate) catalog: Option<Arc<Catalog>>,
}

/// What is read anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Settings, in the database and of its roles.
    Settings,
    /// The same and the catalog.
    Everything,
}

/// Holds the current snapshot; shared by all workers.
pub(crate) struct Store {
    database: Arc<Database>,
    /// The configuration below the database's settings.
    base: ArcSwap<RestConfig>,
    current: ArcSwap<Snapshot>,
    failure: ArcSwap<Option<String>>,
    listening: AtomicBool,
    generation: AtomicU64,
    failures: AtomicU64,
    load_time_us: AtomicU64,
    /// The connection of the last reload. A new one knows nothing of the database, and takes twice as long.
    reader: Mutex<Option<Client>>,
    /// Whether the wanted reload includes the catalog.
    catalog_wanted: AtomicBool,
    wanted: Notify,
}

impl Store {
    /// Tries one load, then keeps reloading in the background. A first load that fails leaves the store without a
    /// catalog, and requests are answered PGRST002 until one succeeds.
    pub(crate) async fn start(database: Arc<Database>, config: RestConfig) -> Arc<Self> {
        let settings = Arc::new(Settings::new(config.clone(), None));
        let listens = config.channel_enabled;
        let channel = config.channel.clone();
        let store = Arc::new(Self {
            base: ArcSwap::from_pointee(config),
            current: ArcSwap::from_pointee(Snapshot {
                settings,
                catalog: None,
            }),
            failure: ArcSwap::from_pointee(None),
            listening: AtomicBool::new(!listens),
            generation: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            load_time_us: AtomicU64::new(0),
            reader: Mutex::default(),
            catalog_wanted: AtomicBool::new(false),
            wanted: Notify::new(),
            database,
        });
        if !store.reload(Scope::Everything).await {
            store.request(Scope::Everything);
        }
        if listens {
            // leaked once per process: the channel is not a setting that can change
            let channel: &'static str = Box::leak(channel.into_boxed_str());
            tokio::spawn(listen(Arc::clone(&store), store.database.listen(&[channel])));
        }
        tokio::spawn(keep_current(Arc::clone(&store)));
        store
    }

    /// The snapshot to work with.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Changes with every load: what was prepared under an older number may be stale.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Asks for a reload soon.
    pub(crate) fn request(&self, scope: Scope) {
        if scope == Scope::Everything {
            self.catalog_wanted.store(true, Ordering::Release);
        }
        self.wanted.notify_one();
    }

    /// Replaces the configuration below the database's settings, from the next reload on.
    pub(crate) fn replace_base(&self, config: RestConfig) {
        self.base.store(Arc::new(config));
    }

    /// How the catalog is doing.
    pub(crate) fn health(&self) -> CatalogHealth {
        CatalogHealth {
            loaded: self.current.load().catalog.is_some(),
            listening: self.listening.load(Ordering::Acquire),
            failure: self.failure.load().as_ref().clone(),
            loads: self.generation(),
            failures: self.failures.load(Ordering::Acquire),
            load_time: Duration::from_micros(self.load_time_us.load(Ordering::Acquire)),
        }
    }

    /// Reads anew; says whether that went well.
    async fn reload(&self, scope: Scope) -> bool {
        match self.try_reload(scope).await {
            Ok(()) => {
                self.failure.store(Arc::new(None));
                true
            }
            Err(error) => {
                let reason = reason(&error);
                tracing::error!(
                    reason,
                    "rest: the catalog could not be loaded; the previous one stays"
                );
                self.failures.fetch_add(1, Ordering::AcqRel);
                self.failure.store(Arc::new(Some(reason)));
                false
            }
        }
    }

    async fn try_reload(&self, scope: Scope) -> Result<(), Error> {
        let mut client = match self.kept_reader().await {
            Some(client) => client,
            None => self.database.client(Login::Authenticator).await?,
        };
        self.read(&mut client, scope).await?;
        // Behind a transaction pooler a connection held back is one that others miss.
        if self.snapshot().settings.config.prepared_statements {
            *self.reader() = Some(client);
        }
        Ok(())
    }

    /// The connection of the last reload, if it still lives, as it was after its login.
    async fn kept_reader(&self) -> Option<Client> {
        let client = self.reader().take()?;
        let proof = tokio::time::timeout(READER_PROOF, client.batch_execute("reset all")).await;
        matches!(proof, Ok(Ok(()))).then_some(client)
    }

    fn reader(&self) -> MutexGuard<'_, Option<Client>> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn read(&self, client: &mut Client, scope: Scope) -> Result<(), Error> {
        // ALTER ROLE … SET comes with the same notification
        if let Err(error) = self.database.reload_role_settings_with(client).await {
            tracing::warn!(
                reason = reason(&error),
                "rest: role settings could not be read again"
            );
        }
        let before = self.snapshot();
        let settings = self.read_settings(client, &before.settings).await;
        let known = before.catalog.as_ref().filter(|_| {
            scope == Scope::Settings && settings.config.reads_same_catalog(&before.settings.config)
        });
        if let Some(catalog) = known {
            self.current.store(Arc::new(Snapshot {
                settings,
                catalog: Some(Arc::clone(catalog)),
            }));
            tracing::info!("rest: settings loaded");
            return Ok(());
        }
        let begun = Instant::now();
        let catalog = Catalog::load(client, &settings.config).await?;
        let elapsed_us = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        tracing::info!(found = catalog.summary(), "rest: catalog loaded");
        self.current.store(Arc::new(Snapshot {
            settings,
            catalog: Some(Arc::new(catalog)),
        }));
        self.load_time_us.store(elapsed_us, Ordering::Release);
        self.generation.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// The configuration with the database's settings on top; without those when they cannot be read the first time,
    /// and unchanged when they cannot be read later.
    async fn read_settings(&self, client: &mut Client, before: &Arc<Settings>) -> Arc<Settings> {
        let base = self.base.load_full();
        let config = if base.db_config {
            match read_settings(client, &base).await {
                Ok(settings) => base.with_settings(&settings),
                Err(error) => {
                    tracing::error!(
                        reason = reason(&error),
                        "rest: the settings of the database could not be read; the previous ones stay"
                    );
                    return Arc::clone(before);
                }
            }
        } else {
            base.as_ref().clone()
        };
        Arc::new(Settings::new(config, Some(before)))
    }
}

/// The database's words, where it has some.
fn reason(error: &Error) -> String {
    match error.as_db_error() {
        Some(refusal) => format!("{}: {}", refusal.code().code(), refusal.message()),
        None => error.to_string(),
    }
}

async fn listen(store: Arc<Store>, mut events: Receiver<ListenEvent>) {
    while let Some(event) = events.recv().await {
        match event {
            ListenEvent::Connected => {
                store.listening.store(true, Ordering::Release);
                // Notifications may have been missed: after a loss, and at first between load and LISTEN.
                store.request(Scope::Everything);
            }
            ListenEvent::Notification { payload, .. } => match payload.as_str() {
                "" | "reload schema" => store.request(Scope::Everything),
                "reload config" => store.request(Scope::Settings),
                _ => {}
            },
            ListenEvent::Lost(reason) => {
                store.listening.store(false, Ordering::Release);
                tracing::warn!(reason, "rest: the listening connection was lost");
            }
        }
    }
}

async fn keep_current(store: Arc<Store>) {
    let mut retry = Duration::from_secs(1);
    loop {
        if tokio::time::timeout(READER_KEPT, store.wanted.notified())
            .await
            .is_err()
        {
            store.reader().take();
            store.wanted.notified().await;
        }
        let scope = if store.catalog_wanted.swap(false, Ordering::AcqRel) {
            Scope::Everything
        } else {
            Scope::Settings
        };
        let pause = store.base.load().reload_pause;
        if store.reload(scope).await {
            retry = Duration::from_secs(1);
            tokio::time::sleep(pause).await;
        } else {
            // whoever asks meanwhile may know that the database is back
            tokio::time::sleep(pause).await;
            let _ = tokio::time::timeout(retry, store.wanted.notified()).await;
            retry = (retry * 2).min(LONGEST_RETRY);
            store.request(Scope::Everything);
        }
    }
}
