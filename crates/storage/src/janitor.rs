//! Removes blobs that no row refers to any more, on a thread of its own.
//!
//! A request that replaced or deleted an object is answered without waiting for the disk, and a removal does not depend
//! on the request or its worker staying alive. What is still queued when the process dies stays as an orphan.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use futures_util::StreamExt;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

use crate::backend::{Backend, Version};

/// The queue and its thread. Dropped, it works off what is queued and ends.
pub(crate) struct Janitor {
    queue: Option<UnboundedSender<(Version, Instant)>>,
    delay: Duration,
    closing: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
}

impl Janitor {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the operating system has no thread left.
    pub(crate) fn start(backend: Arc<dyn Backend>) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (queue, versions) = unbounded_channel();
        let (delay, closing) = (backend.removal_delay(), Arc::new(Notify::new()));
        let closes = Arc::clone(&closing);
        let thread = std::thread::Builder::new()
            .name("storage-janitor".to_owned())
            .spawn(move || runtime.block_on(work_off(versions, &closes, &*backend)))?;
        Ok(Self {
            queue: Some(queue),
            delay,
            closing,
            thread: Some(thread),
        })
    }

    /// Queues a removal.
    pub(crate) fn discard(&self, version: Version) {
        if let Some(queue) = &self.queue {
            // The thread ends only after the queue does.
            let _ = queue.send((version, Instant::now() + self.delay));
        }
    }
}

impl Drop for Janitor {
    fn drop(&mut self) {
        self.queue = None;
        self.closing.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Removes what is queued, when its time has come; all of it at once when the queue closes.
async fn work_off(versions: UnboundedReceiver<(Version, Instant)>, closing: &Notify, backend: &dyn Backend) {
    /// A remote store takes several at a time.
    const AT_ONCE: usize = 8;
    let due = futures_util::stream::unfold((versions, false), async |(mut versions, mut hurry)| {
        let (version, due) = versions.recv().await?;
        if !hurry {
            tokio::select! {
                () = tokio::time::sleep_until(due) => {}
                () = closing.notified() => hurry = true,
            }
        }
        Some((version, (versions, hurry)))
    });
    due.for_each_concurrent(AT_ONCE, async |version| {
        if let Err(error) = backend.remove(version).await {
            tracing::warn!(%version, %error, "a blob without a row could not be removed");
        }
    })
    .await;
}
