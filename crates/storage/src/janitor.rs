//! Removes blobs that no row refers to any more, on a thread of its own.
//!
//! A request that replaced or deleted an object is answered without waiting for the disk, and a removal does not depend
//! on the request or its worker staying alive. What is still queued when the process dies stays as an orphan.

use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::backend::{Backend, Version};

/// The queue and its thread. Dropped, it works off what is queued and ends.
pub(crate) struct Janitor {
    queue: Option<UnboundedSender<Version>>,
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
        let (queue, mut versions) = unbounded_channel::<Version>();
        let thread = std::thread::Builder::new()
            .name("storage-janitor".to_owned())
            .spawn(move || {
                runtime.block_on(async move {
                    while let Some(version) = versions.recv().await {
                        if let Err(error) = backend.remove(version).await {
                            tracing::warn!(%version, %error, "a blob without a row could not be removed");
                        }
                    }
                });
            })?;
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread),
        })
    }

    /// Queues a removal.
    pub(crate) fn discard(&self, version: Version) {
        if let Some(queue) = &self.queue {
            // The thread ends only after the queue does.
            let _ = queue.send(version);
        }
    }
}

impl Drop for Janitor {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
