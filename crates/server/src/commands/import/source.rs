//! The database that is imported: its schemas, and one snapshot under which everything is read.

use anyhow::{Context, Result};
use tokio_postgres::{Client, Config as Login};

use super::catalog::{find_identity, list_project_schemas};

/// A connection whose transaction sees one moment of the source.
pub(super) struct Source {
    pub(super) client: Client,
    pub(super) login: Login,
    /// Tells this database from every other.
    pub(super) identity: String,
    /// The snapshot of the transaction, for pg_dump.
    pub(super) snapshot: String,
    /// The schemas that the project has made, `public` among them.
    pub(super) schemas: Vec<String>,
}

impl Source {
    /// Connects, and begins the transaction.
    pub(super) async fn open(login: &Login) -> Result<Self> {
        let client = connect(login).await?;
        let identity = find_identity(&client).await?;
        client
            .batch_execute("begin isolation level repeatable read read only; set local row_security = off")
            .await?;
        let snapshot = client.query_one("select pg_export_snapshot()", &[]).await?.get(0);
        let schemas = list_project_schemas(&client).await?;
        Ok(Self {
            client,
            login: login.clone(),
            identity,
            snapshot,
            schemas,
        })
    }

    /// Runs a query that the source may refuse, and returns `None` then. The transaction stays usable.
    pub(super) async fn try_query(&self, sql: &str) -> Result<Option<Vec<tokio_postgres::Row>>> {
        self.client.batch_execute("savepoint attempt").await?;
        match self.client.query(sql, &[]).await {
            Ok(rows) => Ok(Some(rows)),
            Err(error) if error.as_db_error().is_some() => {
                tracing::debug!(%error, "the source refused a query");
                self.client.batch_execute("rollback to savepoint attempt").await?;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Connects to the source without its limits of time. Names in definitions that it renders carry their schema.
pub(super) async fn connect(login: &Login) -> Result<Client> {
    let client = selvedge_postgres::connect(login)
        .await
        .context("cannot log in to the source's database")?;
    client
        .batch_execute(
            "set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set search_path = ''",
        )
        .await?;
    Ok(client)
}
