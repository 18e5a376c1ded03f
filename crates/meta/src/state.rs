//! The state of the service: its database and limits.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use selvedge_postgres::{Database, Login};
use tokio_postgres::Client;

use crate::error::MetaError;

/// Connections for lists of objects. Statements of callers get connections of their own.
const LIST_CONNECTIONS: usize = 2;

/// The login, and whether SQL can leave the database with its rights. A superuser is a member of every role.
const DANGEROUS_RIGHTS: &str = "select current_user::text, exists (
      select from pg_catalog.pg_roles g
      where g.rolname in ('pg_execute_server_program', 'pg_write_server_files', 'pg_read_server_files')
        and pg_catalog.pg_has_role(g.oid, 'member'))";

/// Limits of the service.
#[derive(Debug, Clone, Copy)]
pub struct MetaConfig {
    /// The longest time of a statement, and of a query on the catalog.
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
    /// Makes the service. `database` has a single login. A connection is opened when it is first needed.
    pub fn new(database: Arc<Database>, config: MetaConfig) -> Arc<Self> {
        let catalog = database.pool(Login::Authenticator, LIST_CONNECTIONS);
        Arc::new(Self {
            database,
            catalog,
            config,
        })
    }

    /// Opens a connection that ends with the request: what a statement has changed in its session must not meet the next
    /// caller.
    pub(crate) async fn connect(&self) -> Result<Client, MetaError> {
        let opened = self.database.client(Login::Authenticator).await;
        opened.map_err(|error| MetaError::Unavailable(error.to_string()))
    }

    /// The limits with which the service was made.
    #[must_use]
    pub fn config(&self) -> MetaConfig {
        self.config
    }

    /// Refuses a login with which the service key would give away the database's machine.
    ///
    /// # Errors
    /// A login that fails, or one that is a superuser or may run programs or touch files.
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
