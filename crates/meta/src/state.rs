//! The state of the service: its database and limits.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use selvedge_postgres::{Database, Login};
use tokio_postgres::Client;

use crate::error::MetaError;

/// Connections for lists of objects. SQL of callers runs on new connections.
const LIST_CONNECTIONS: usize = 2;

/// Returns the login's name, and whether it may run programs or touch files of the machine. Superusers count as members of every
/// role.
const DANGEROUS_RIGHTS: &str = "select current_user::text, exists (
      select from pg_catalog.pg_roles g
      where g.rolname in ('pg_execute_server_program', 'pg_write_server_files', 'pg_read_server_files')
        and pg_catalog.pg_has_role(g.oid, 'member'))";

/// Limits of the service.
#[derive(Debug, Clone, Copy)]
pub struct MetaConfig {
    /// How long a statement, or a query on the system catalog, may run.
    pub statement_timeout: Duration,
    /// The largest body of a request in bytes.
    pub body_bytes: usize,
    /// The most bytes of text in the result of a statement.
    pub result_bytes: usize,
}

/// The state of the service, shared by all workers.
pub struct Meta {
    /// The database under the one login with whose rights everything runs.
    pub(crate) database: Arc<Database>,
    pub(crate) catalog: Pool,
    pub(crate) config: MetaConfig,
}

impl Meta {
    /// Creates the state. All SQL runs as `Login::Authenticator` of `database`. No connection is opened yet.
    pub fn new(database: Arc<Database>, config: MetaConfig) -> Arc<Self> {
        let catalog = database.pool(Login::Authenticator, LIST_CONNECTIONS);
        Arc::new(Self {
            database,
            catalog,
            config,
        })
    }

    /// Opens a connection for one request, so that session settings left by its SQL do not reach another caller.
    ///
    /// # Errors
    /// 503 when the connection fails.
    pub(crate) async fn connect(&self) -> Result<Client, MetaError> {
        let opened = self.database.client(Login::Authenticator).await;
        opened.map_err(|error| MetaError::Unavailable(error.to_string()))
    }

    /// Returns the limits given to [`Self::new`].
    #[must_use]
    pub fn config(&self) -> MetaConfig {
        self.config
    }

    /// Checks that the login may neither run programs nor read or write files on the database's machine, because everyone with the
    /// service key could do so through `POST /pg/query`.
    ///
    /// # Errors
    /// A sentence for the log when the login fails or has such rights, as a superuser does.
    pub async fn check_login(&self) -> Result<(), String> {
        let row = async {
            let client = self.catalog.get().await?;
            Ok::<_, MetaError>(client.query_one(DANGEROUS_RIGHTS, &[]).await?)
        };
        let row = row
            .await
            .map_err(|error| format!("/pg cannot log in to the database: {error}"))?;
        let (name, is_dangerous): (String, bool) = (row.get(0), row.get(1));
        if is_dangerous {
            return Err(format!(
                "/pg does not log in as {name}, which may run programs or touch files on the database's machine: whoever has \
                 the service key could then do so"
            ));
        }
        Ok(())
    }
}
