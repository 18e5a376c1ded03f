//! An HTTP client whose connections outlive the threads that use them.
//!
//! All worker threads share the connections to the store, and each connection is moved by a task of the runtime in which it was
//! opened. Opened in a worker's own, it would break when this worker ends, although another one still reads from it: at each stop
//! of the server some uploads and downloads in progress would fail. So connections are opened in a runtime that ends with the store.

use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use tokio::runtime::{Builder, Handle, Runtime};

/// Threads that move the bytes of all connections; more would only help where the network is faster than that.
const MAX_THREADS: usize = 4;

/// A runtime that can be dropped on any thread.
#[derive(Debug)]
struct LastingRuntime(Option<Runtime>);

impl LastingRuntime {
    fn start() -> io::Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let runtime = Builder::new_multi_thread()
            .worker_threads(cores.min(MAX_THREADS))
            .thread_name("s3")
            .enable_all()
            .build()?;
        Ok(Self(Some(runtime)))
    }

    fn runtime_handle(&self) -> Option<Handle> {
        self.0.as_ref().map(|runtime| runtime.handle().clone())
    }
}

impl Drop for LastingRuntime {
    fn drop(&mut self) {
        // tokio panics when a runtime is dropped inside another one, unless the shutdown does not wait.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Polls a future so that whatever it spawns and opens belongs to the runtime of `handle`.
async fn poll_inside<F: Future>(handle: Option<Handle>, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        let _entered = handle.as_ref().map(Handle::enter);
        future.as_mut().poll(cx)
    })
    .await
}

/// A client whose connections live in a runtime of their own.
#[derive(Debug)]
pub(super) struct LastingClient<C> {
    inner: C,
    runtime: Arc<LastingRuntime>,
}

impl<C> LastingClient<C> {
    /// Starts the runtime for the connections of a client.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub(super) fn new(inner: C) -> io::Result<Self> {
        let runtime = Arc::new(LastingRuntime::start()?);
        Ok(Self { inner, runtime })
    }
}

impl<C: HttpClient> HttpClient for LastingClient<C> {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(LastingConnector {
            inner: self.inner.http_connector(settings, components),
            runtime: Arc::clone(&self.runtime),
        })
    }
}

#[derive(Debug)]
struct LastingConnector {
    inner: SharedHttpConnector,
    runtime: Arc<LastingRuntime>,
}

impl HttpConnector for LastingConnector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let handle = self.runtime.runtime_handle();
        // Making the future may already start a timer.
        let response = {
            let _entered = handle.as_ref().map(Handle::enter);
            self.inner.call(request)
        };
        HttpConnectorFuture::new(poll_inside(handle, response))
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[test]
    fn what_a_request_spawns_outlives_the_runtime_that_made_the_request() {
        let lasting = LastingRuntime::start().expect("threads");
        let worker = Builder::new_current_thread().build().expect("a runtime");
        let ((go_on, waits), (ended, end)) = (oneshot::channel(), oneshot::channel());

        worker.block_on(poll_inside(lasting.runtime_handle(), async {
            tokio::task::yield_now().await;
            tokio::spawn(async {
                let _: Result<(), _> = waits.await;
                let _ = ended.send(());
            });
        }));
        drop(worker);
        go_on.send(()).expect("the task lives");

        end.blocking_recv().expect("the task goes on");
    }
}
