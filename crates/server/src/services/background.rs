//! The thread for what services do besides requests: listening for notifications, reloading the catalog,
//! sweeping. It ends before the database does, so that a stop looks like a stop and not like a loss.

use std::future::Future;

use anyhow::{Context, Result};
use tokio::runtime::{Builder, Runtime};

/// Ends its tasks when dropped.
pub(crate) struct Background {
    runtime: Option<Runtime>,
}

impl Background {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system gives us none.
    pub(crate) fn new() -> Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("background")
            .enable_all()
            .build()
            .context("cannot start a thread")?;
        Ok(Self {
            runtime: Some(runtime),
        })
    }

    /// Runs a future on the thread; tasks that it spawns stay there.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let runtime = self.runtime.as_ref().context("the background thread has ended")?;
        runtime
            .spawn(future)
            .await
            .context("the background thread was interrupted")?
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // A runtime may not be dropped inside another one; this does not wait.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
