//! The transaction of one request that changes objects.

use selvedge_postgres::migrate::substitute_superuser_statement;
use serde::de::DeserializeOwned;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Transaction};

use crate::error::MetaError;
use crate::lists::{Filter, find_listing, limit_statement_time, read_listed};
use crate::state::Meta;

/// An open transaction. It is rolled back unless it is committed.
pub(crate) struct Change<'c> {
    transaction: Transaction<'c>,
    major_version: u32,
}

impl<'c> Change<'c> {
    /// Begins a transaction with the time limit of the service.
    pub(super) async fn begin(client: &'c mut Client, meta: &Meta) -> Result<Self, MetaError> {
        let transaction = client.transaction().await.map_err(MetaError::Refused)?;
        limit_statement_time(&transaction, meta.config.statement_timeout).await?;
        let version = "select current_setting('server_version_num')::int4 / 10000";
        // It decides which statements PostgreSQL reserves for superusers.
        let major: i32 = transaction.query_one(version, &[]).await?.get(0);
        Ok(Self {
            transaction,
            major_version: major.unsigned_abs(),
        })
    }

    /// Runs a statement. Those that PostgreSQL reserves for superusers, and Supabase does not, run as in a migration.
    pub(super) async fn run(&self, statement: &str) -> Result<(), MetaError> {
        let substitute = substitute_superuser_statement(statement, self.major_version);
        let statement = substitute.as_deref().unwrap_or(statement);
        // Sent by the extended protocol, which refuses a text of several statements: fragments of a request cannot end
        // the transaction.
        let sent = self.transaction.execute(statement, &[]).await;
        sent.map(|_| ()).map_err(MetaError::Refused)
    }

    /// Runs several statements in order.
    pub(super) async fn run_all(&self, statements: &[String]) -> Result<(), MetaError> {
        for statement in statements {
            self.run(statement).await?;
        }
        Ok(())
    }

    /// The texts that a query on the catalog returns, of which the first column counts.
    pub(super) async fn query_texts(
        &self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<String>, MetaError> {
        let rows = self.transaction.query(sql, values).await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// The one text that a query on the catalog returns, or the error that nothing has been found.
    pub(super) async fn query_text(
        &self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
        missing: impl FnOnce() -> String,
    ) -> Result<String, MetaError> {
        let found = self.query_texts(sql, values).await?;
        found
            .into_iter()
            .next()
            .ok_or_else(|| MetaError::NotFound(missing()))
    }

    /// The objects with these ids as the list of their kind shows them.
    pub(super) async fn read_objects(&self, path: &str, ids: Vec<String>) -> Result<Vec<String>, MetaError> {
        read_listed(&self.transaction, find_listing(path), &Filter::with_ids(ids)).await
    }

    /// One object as the list of its kind shows it.
    pub(super) async fn read_object(&self, path: &str, id: &str) -> Result<String, MetaError> {
        let objects = self.read_objects(path, vec![id.to_owned()]).await?;
        let missing = || find_listing(path).describe_missing(id);
        objects.into_iter().next().ok_or_else(missing)
    }

    /// The members of an object that statements are made of.
    pub(super) async fn parse_object<T: DeserializeOwned>(
        &self,
        path: &str,
        id: &str,
    ) -> Result<T, MetaError> {
        let text = self.read_object(path, id).await?;
        serde_json::from_str(&text).map_err(|error| MetaError::Request(format!("{path}/{id}: {error}")))
    }

    /// Commits.
    pub(super) async fn commit(self) -> Result<(), MetaError> {
        // A deferred constraint fails only here.
        self.transaction.commit().await.map_err(MetaError::Refused)
    }
}
