//! Requests with large bodies: they are parsed and planned beside the worker, which serves others meanwhile, and wait until PostgreSQL may
//! take the memory for them.

use std::sync::{Arc, LazyLock};

use actix_web::http::header::HeaderMap;
use actix_web::{HttpRequest, web};
use bytes::Bytes;
use selvedge_gateway::Caller;
use selvedge_limits::{ClientId, Turn, Turns};
use selvedge_memory::{DatabaseEntry, DatabaseTurn, MemoryBudget};
use tokio::sync::Semaphore;

use crate::catalog::Catalog;
use crate::config::EffectiveConfig;
use crate::error::{RequestError, RestError};
use crate::plan::Plan;
use crate::request::ApiRequest;

/// Parsing a body of this size takes a worker about a millisecond; sixteen megabytes of CSV take a hundred.
const LARGE_BODY: usize = 256 * 1024;

/// A session holds a text that is written this many times: as the message, the parameter, the value, the row, its compressed form and the
/// log of changes. Measured: 110 to 125 MB for 15.5.
const COPIES: usize = 8;
/// Bytes of a value in a `jsonb` document or of a small row, whose texts may be a single digit.
const BYTES_PER_VALUE: usize = 64;

/// A core stays free of bodies where there are several, and each client has one core at most.
static CORES: LazyLock<Semaphore> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Semaphore::new(cores.saturating_sub(1).max(1))
});
static TURNS: LazyLock<Turns> = LazyLock::new(|| Turns::new(1));

/// A request with a large body.
pub(super) struct LargeBody {
    body: Bytes,
    client: ClientId,
    entry: Option<DatabaseEntry>,
}

impl LargeBody {
    pub(super) fn is_large(body: &Bytes) -> bool {
        body.len() >= LARGE_BODY
    }

    /// Waits until the client has no other one that PostgreSQL works on, where its memory is counted and runs short.
    ///
    /// # Errors
    /// 503 when the client's other bodies take too long.
    pub(super) async fn admit(
        http: &HttpRequest,
        body: &Bytes,
        memory: &MemoryBudget,
    ) -> Result<Self, RestError> {
        let client = Caller::client_of(http);
        let entry = memory.database().enter(client).await;
        Ok(Self {
            body: body.clone(),
            client,
            entry: entry.map_err(|_| RestError::OutOfMemory { is_committed: false })?,
        })
    }

    /// Parses a request; see [`ApiRequest::parse`].
    ///
    /// # Errors
    /// As there.
    pub(super) async fn parse(
        &self,
        (method, path, query): (&str, &str, &str),
        headers: &HeaderMap,
        config: &Arc<EffectiveConfig>,
        of_tenant: Option<String>,
    ) -> Result<ApiRequest, RestError> {
        let (method, path, query) = (method.to_owned(), path.to_owned(), query.to_owned());
        let (headers, body, config) = (headers.clone(), self.body.clone(), Arc::clone(config));
        let parse = move || ApiRequest::parse(&method, &path, &query, &headers, &body, &config, of_tenant);
        let parsed: Result<ApiRequest, RequestError> = self.run(parse).await?;
        Ok(parsed?)
    }

    /// Plans a request; see [`Plan::new`].
    ///
    /// # Errors
    /// As there.
    pub(super) async fn plan(
        &self,
        request: ApiRequest,
        catalog: &Arc<Catalog>,
        config: &Arc<EffectiveConfig>,
        memory: &MemoryBudget,
    ) -> Result<Plan, RestError> {
        let (catalog, config, memory) = (Arc::clone(catalog), Arc::clone(config), memory.clone());
        self.run(move || Plan::new(request, &catalog, &config, &memory))
            .await?
    }

    /// Waits until PostgreSQL may take the memory for the body. `None` where that is not counted.
    ///
    /// # Errors
    /// 503 when the bodies of others take too long.
    pub(super) async fn wait_for_database(mut self) -> Result<Option<DatabaseTurn>, RestError> {
        let Some(entry) = self.entry.take() else {
            return Ok(None);
        };
        let body = self.body.clone();
        let bytes = self.run(move || estimate(&body)).await?;
        let turn = entry.take(bytes).await;
        turn.map(Some)
            .map_err(|_| RestError::OutOfMemory { is_committed: false })
    }

    /// Runs work on the pool for work that blocks, one piece at a time for each client. The turn is the work's: it goes on when the client has left.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, RestError> {
        let turn = TURNS.wait(self.client).await;
        // Never closed.
        let core = CORES.acquire().await;
        let work_in_turn = move || {
            let _held = (turn, core);
            work()
        };
        web::block(work_in_turn)
            .await
            .map_err(|_| RestError::Internal("the server is stopping".to_owned()))
    }
}

/// Waits until the client may use one more of PostgreSQL's sessions for its bodies. `None` where PostgreSQL is not in the same memory.
///
/// # Errors
/// 503 when the client's other bodies take too long.
pub(super) async fn wait_for_session(
    http: &HttpRequest,
    memory: &MemoryBudget,
) -> Result<Option<Turn>, RestError> {
    let turn = memory.database().wait_for_session(Caller::client_of(http)).await;
    turn.map_err(|_| RestError::OutOfMemory { is_committed: false })
}

/// The bytes that PostgreSQL takes for a body, at most.
fn estimate(body: &[u8]) -> usize {
    let ends_value = |byte: &&u8| matches!(byte, b',' | b'[' | b'{' | b'\n' | b'&');
    let values = body.iter().filter(ends_value).count();
    body.len()
        .saturating_mul(COPIES)
        .saturating_add(values.saturating_mul(BYTES_PER_VALUE))
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::mpsc;
    use std::task::{Context, Waker};

    use tokio::sync::oneshot;

    use super::*;

    #[actix_web::test]
    async fn gw_049_work_keeps_its_turn_when_its_client_has_left() {
        let client = ClientId::of_connection(None);
        let body = LargeBody {
            body: Bytes::new(),
            client,
            entry: None,
        };
        let (begin, begun) = oneshot::channel();
        let (release, released) = mpsc::channel::<()>();
        {
            let mut work = pin!(body.run(move || {
                begin.send(()).expect("the test waits");
                released.recv()
            }));
            tokio::select! {
                _ = &mut work => panic!("it ends only after it was released"),
                begun = begun => begun.expect("it has begun"),
            }
        }

        let mut next = pin!(TURNS.wait(client));
        let is_ready = next
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_ready();
        assert!(!is_ready, "the work goes on");
        release.send(()).expect("it waits");
        next.await;
    }

    #[test]
    fn gw_049_a_body_of_many_values_counts_more_than_one_of_a_long_text() {
        let text = format!(r#"{{"body":"{}"}}"#, "x".repeat(1_000_000));
        let values = format!("[{}1]", "1,".repeat(500_000));

        assert_eq!(estimate(text.as_bytes()) / 1_000_000, 8);
        assert_eq!(estimate(values.as_bytes()) / 1_000_000, 8 + 32);
    }
}
