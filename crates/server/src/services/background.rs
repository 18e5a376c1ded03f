//! The thread for work that no request waits for: database notifications, catalog reloads, mail delivery, sweeps.
//!
//! It ends before the embedded database stops. Otherwise every stop would be logged as a lost connection.

use std::future::Future;

use anyhow::{Context, Result};
use tokio::runtime::{Builder, Runtime};

/// A runtime with one thread. Dropping it ends its tasks.
pub(crate) struct BackgroundRuntime {
    runtime: Option<Runtime>,
}

impl BackgroundRuntime {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the operating system cannot start one.
    pub(crate) fn new() -> Result<Self> {
        let runtime = Builder::new_multi_thread()
            // A multi-thread runtime with one thread runs without a thread that blocks on it, unlike a current-thread
            // runtime.
            .worker_threads(1)
            .thread_name("background")
            .enable_all()
            .build()
            .context("cannot start a thread")?;
        Ok(Self {
            runtime: Some(runtime),
        })
    }

    /// Runs a future on the thread and returns its output. Tasks that the future spawns stay on the thread.
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

impl Drop for BackgroundRuntime {
    fn drop(&mut self) {
        // tokio panics when a runtime is dropped inside another one, unless the shutdown does not wait.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
