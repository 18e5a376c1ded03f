//! Cancels the statement of a session over a second connection, as the protocol demands.

use std::time::Duration;

use tokio_postgres::{CancelToken, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::wire::{ConnectError, connect_host};

/// A cancel request is lost when the statement ends before it arrives, so waiting long for its connection is of no use.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

/// Cancels whatever its session runs at the moment.
#[derive(Clone)]
pub struct StatementCanceller {
    config: Config,
    tls: MakeRustlsConnect,
    host: usize,
    token: CancelToken,
}

impl StatementCanceller {
    pub(super) fn new(config: Config, tls: MakeRustlsConnect, host: usize, token: CancelToken) -> Self {
        Self {
            config,
            tls,
            host,
            token,
        }
    }

    /// Asks PostgreSQL to cancel the statement. The session then reports the error 57014, or nothing if the statement
    /// had ended. Failures are logged: the statement then ends by its time limit.
    pub async fn cancel(&self) {
        let outcome = tokio::time::timeout(CANCEL_TIMEOUT, async {
            let stream = connect_host(&self.config, &self.tls, self.host).await?;
            // The stream is encrypted already where TLS is configured.
            self.token.cancel_query_raw(stream, NoTls).await?;
            Ok::<(), ConnectError>(())
        });
        match outcome.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "a statement could not be cancelled"),
            Err(_) => tracing::warn!("a statement could not be cancelled in time"),
        }
    }
}
