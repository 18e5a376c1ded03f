//! Removes unreferenced blobs on a separate thread.
//!
//! A request that replaces or deletes an object therefore responds without waiting for the disk, and the removal does not
//! depend on the request or its worker. Blobs that are still queued when the process is killed are removed by the next
//! sweep.
//!
//! Before a blob is removed, the database is asked whether an object has its version: one row alone does not prove that its bytes are
//! its own, because users could write versions into rows before the platform's file 0100. And nothing is removed while another database has
//! objects in the store: one that was made from a dump of this one has rows with the same versions. What a copy of the database may have as well is
//! only moved to the trash.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use deadpool_postgres::Pool;
use futures_util::StreamExt;
use selvedge_postgres::{Database, Login};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::backend::{Backend, Content, StoreOwnership, Version};
use crate::database::service_transaction::begin_service_transaction;
use crate::error::StorageError;

/// Blobs that are removed together, with one question to the database.
const BATCH: usize = 256;

/// How long the server's stop waits for queued removals. Without it, each blob would take the store's time limit while the store is away.
const CLOSING_TIME: Duration = Duration::from_secs(10);

/// The versions of a list that objects have, and whether the history of a bucket keeps them, which is no surprise.
const REFERRED: &str = "select o.version, bool_and(o.archived_at is not null) as is_kept from storage.objects o \
     where o.version collate \"C\" = any($1::text[]) group by o.version";

/// The queue of blobs to remove, and its thread. Dropping it removes all queued blobs first, as far as the store does that within
/// [`CLOSING_TIME`].
pub(crate) struct BlobDeleter {
    queue: Option<UnboundedSender<(Version, Content, Instant)>>,
    delay: Duration,
    closing: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl BlobDeleter {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the operating system has no thread left.
    pub(crate) fn start(
        backend: &dyn Backend,
        ownership: Arc<StoreOwnership>,
        database: Arc<Database>,
    ) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (queue, versions) = unbounded_channel();
        let (delay, closing) = (backend.removal_delay(), watch::Sender::new(false));
        let closes = closing.subscribe();
        let thread = std::thread::Builder::new()
            .name("storage-deleter".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    tokio::select! {
                        () = remove_queued(versions, &closes, &ownership, &database) => {}
                        () = wait_until_closed_for(&closes, CLOSING_TIME) => {
                            tracing::warn!("bytes of removed objects are left to the next sweep, because the store is slow or away");
                        }
                    }
                });
                // Dropping the runtime would wait for its blocking calls, without end on a file system that hangs.
                runtime.shutdown_background();
            })?;
        Ok(Self {
            queue: Some(queue),
            delay,
            closing,
            thread: Some(thread),
        })
    }

    /// Queues a blob for removal after the backend's removal delay.
    pub(crate) fn enqueue(&self, version: Version, content: Content) {
        if let Some(queue) = &self.queue {
            // Sending cannot fail: the thread ends only after the queue is closed.
            let _ = queue.send((version, content, Instant::now() + self.delay));
        }
    }
}

impl Drop for BlobDeleter {
    fn drop(&mut self) {
        self.queue = None;
        self.closing.send_replace(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Waits until the queue has been closed for this long.
async fn wait_until_closed_for(closing: &watch::Receiver<bool>, limit: Duration) {
    wait_for_closing(closing).await;
    tokio::time::sleep(limit).await;
}

async fn wait_for_closing(closing: &watch::Receiver<bool>) {
    // An error means that the sender was dropped, which ends the queue as well.
    let _ = closing.clone().wait_for(|is_closing| *is_closing).await;
}

/// Removes queued blobs when they are due; when the queue closes, all of them immediately.
async fn remove_queued(
    versions: UnboundedReceiver<(Version, Content, Instant)>,
    closing: &watch::Receiver<bool>,
    ownership: &StoreOwnership,
    database: &Database,
) {
    /// Removals at a time: a remote store needs tens of milliseconds for each.
    const CONCURRENCY: usize = 8;
    // A connection of its own, made on this thread's runtime, so that it outlives those of the workers.
    let pool = database.pool(Login::Authenticator, 1);
    // Every blob has the same delay, so blobs fall due in the order of the queue: sleeping until the first one is due
    // delays no other.
    let due = futures_util::stream::unfold(versions, async |mut versions| {
        let (version, content, due) = versions.recv().await?;
        tokio::select! {
            () = tokio::time::sleep_until(due) => {}
            () = wait_for_closing(closing) => {}
        }
        Some(((version, content), versions))
    });
    let mut batches = std::pin::pin!(due.ready_chunks(BATCH));
    while let Some(batch) = batches.next().await {
        let referred = match find_referred(&pool, ownership, database, &batch).await {
            Ok(Some(referred)) => referred,
            Ok(None) => {
                tracing::warn!(
                    count = batch.len(),
                    "the bytes of removed objects stay, because another database has objects in the store as well"
                );
                continue;
            }
            Err(error) => {
                tracing::warn!(%error, count = batch.len(), "blobs without a row are left to the next sweep");
                continue;
            }
        };
        futures_util::stream::iter(batch)
            .for_each_concurrent(CONCURRENCY, async |(version, content)| {
                remove(ownership, version, content, referred.get(&version)).await;
            })
            .await;
    }
}

/// Removes a blob, unless an object has it: `is_kept` tells that only the history of a bucket does.
async fn remove(ownership: &StoreOwnership, version: Version, content: Content, is_kept: Option<&bool>) {
    match is_kept {
        Some(true) => {}
        Some(false) => {
            tracing::warn!(%version, "the bytes of a removed object stay, because another object has its version");
        }
        None => {
            if let Err(error) = ownership.discard(version, content).await {
                tracing::warn!(%version, %error, "a blob without a row could not be removed");
            }
        }
    }
}

/// The versions among `batch` that objects have, and whether only as old versions; `None` while another database may have such objects as well.
async fn find_referred(
    pool: &Pool,
    ownership: &StoreOwnership,
    database: &Database,
    batch: &[(Version, Content)],
) -> Result<Option<HashMap<Version, bool>>, StorageError> {
    let mut client = pool.get().await.map_err(StorageError::from_pool)?;
    if !ownership.list_recent_others(&client).await?.is_empty() {
        return Ok(None);
    }
    let transaction = begin_service_transaction(database, &mut client, "storage.sweep").await?;
    let versions: Vec<String> = batch.iter().map(|(version, _)| version.to_string()).collect();
    let rows = transaction
        .query(REFERRED, &[&versions])
        .await
        .map_err(StorageError::internal)?;
    let mut referred = HashMap::new();
    for row in rows {
        let read =
            || -> Result<(String, bool), tokio_postgres::Error> { Ok((row.try_get(0)?, row.try_get(1)?)) };
        let (text, is_kept) = read().map_err(StorageError::internal)?;
        referred.extend(Version::parse(&text).map(|version| (version, is_kept)));
    }
    Ok(Some(referred))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[actix_web::test]
    async fn closing_ends_although_the_store_does_not_answer() {
        let closing = watch::Sender::new(false);
        let closes = closing.subscribe();
        let removing = std::future::pending::<()>();
        let ended = async {
            tokio::select! {
                () = removing => false,
                () = wait_until_closed_for(&closes, Duration::from_millis(10)) => true,
            }
        };
        let mut ended = std::pin::pin!(ended);

        let early = tokio::time::timeout(Duration::from_millis(100), ended.as_mut()).await;
        assert!(early.is_err(), "it goes on before the server stops");
        closing.send_replace(true);
        let late = tokio::time::timeout(Duration::from_secs(30), ended).await;
        assert_eq!(late.ok(), Some(true));
    }
}
