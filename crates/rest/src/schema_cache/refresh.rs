//! When to reload: at the start, after notifications, and again after failures.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use selvedge_postgres::{Database, ListenEvent};
use tokio::sync::mpsc::Receiver;

use super::cache::{ReloadScope, SchemaCache};
use crate::config::RestConfig;

/// Pause after the first failed reload; it doubles with each further one.
const FIRST_RETRY: Duration = Duration::from_secs(1);
/// Longest pause between failed reloads.
const MAX_RETRY: Duration = Duration::from_secs(32);
/// How long the connection of the last reload is kept for the next one: migrations change the schema many times in a
/// row.
const READER_IDLE: Duration = Duration::from_secs(60);

impl SchemaCache {
    /// Loads settings and catalog once and keeps them current from then on. Never fails: until a load succeeds,
    /// requests are answered PGRST002.
    pub async fn start(database: Arc<Database>, config: RestConfig) -> Arc<Self> {
        let listens = config.channel_enabled;
        let channel = config.channel.clone();
        let cache = Arc::new(Self::empty(database, config));
        if !cache.reload(ReloadScope::Everything).await {
            cache.request(ReloadScope::Everything);
        }
        if listens {
            // Leaked once per process: the channel cannot change while it runs.
            let channel: &'static str = Box::leak(channel.into_boxed_str());
            let events = cache.database.listen(&[channel]);
            tokio::spawn(follow_notifications(Arc::clone(&cache), events));
        }
        tokio::spawn(reload_on_request(Arc::clone(&cache)));
        cache
    }
}

/// Turns notifications into requests for a reload; payloads are PostgREST's.
async fn follow_notifications(cache: Arc<SchemaCache>, mut events: Receiver<ListenEvent>) {
    while let Some(event) = events.recv().await {
        match event {
            ListenEvent::Connected => {
                cache.listening.store(true, Ordering::Release);
                // Notifications may have been missed: after a loss, and at first between the load and LISTEN.
                cache.request(ReloadScope::Everything);
            }
            ListenEvent::Notification { payload, .. } => match payload.as_str() {
                "" | "reload schema" => cache.request(ReloadScope::Everything),
                "reload config" => cache.request(ReloadScope::Settings),
                _ => {}
            },
            ListenEvent::Lost(reason) => {
                cache.listening.store(false, Ordering::Release);
                tracing::warn!(reason, "rest: the listening connection was lost");
            }
        }
    }
}

/// Reloads whenever one was requested, with a pause in between, so that many requests in a row cause two reloads: one now
/// and one after the pause.
async fn reload_on_request(cache: Arc<SchemaCache>) {
    let mut retry = FIRST_RETRY;
    loop {
        if tokio::time::timeout(READER_IDLE, cache.reload_requested.notified())
            .await
            .is_err()
        {
            // Without a reload for a while, the connection is returned to the pool.
            cache.reader().take();
            cache.reload_requested.notified().await;
        }
        let scope = if cache.catalog_requested.swap(false, Ordering::AcqRel) {
            ReloadScope::Everything
        } else {
            ReloadScope::Settings
        };
        // Read each time: the pause may have been changed by a signal.
        let pause = cache.base_config.load().reload_pause;
        if cache.reload(scope).await {
            retry = FIRST_RETRY;
            tokio::time::sleep(pause).await;
        } else {
            tokio::time::sleep(pause).await;
            // A request that comes meanwhile ends the wait early: the listener may know that the database is back.
            let _ = tokio::time::timeout(retry, cache.reload_requested.notified()).await;
            retry = (retry * 2).min(MAX_RETRY);
            // A failed reload of settings may have been about to read the catalog, so the retry reads both.
            cache.request(ReloadScope::Everything);
        }
    }
}
