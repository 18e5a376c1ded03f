//! The transaction in which a POST, PATCH or DELETE below `/pg` changes objects.

use selvedge_postgres::migrate::substitute_superuser_statement;
use serde::de::DeserializeOwned;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Transaction};

use crate::error::MetaError;
use crate::lists::{Filter, find_listing, limit_statement_time, read_listed};
use crate::state::Meta;

/// An open transaction, which is rolled back when it is dropped without [`Self::commit`].
pub(crate) struct Change<'c> {
    transaction: Transaction<'c>,
    major_version: u32,
}

impl<'c> Change<'c> {
    /// Begins a transaction whose statements may each run for `MetaConfig::statement_timeout`.
    pub(super) async fn begin(client: &'c mut Client, meta: &Meta) -> Result<Self, MetaError> {
        let transaction = client.transaction().await.map_err(MetaError::Refused)?;
        limit_statement_time(&transaction, meta.config.statement_timeout).await?;
        let version = "select current_setting('server_version_num')::int4 / 10000";
        // Which statements PostgreSQL reserves for superusers depends on its major version.
        let major: i32 = transaction.query_one(version, &[]).await?.get(0);
        Ok(Self {
            transaction,
            major_version: major.unsigned_abs(),
        })
    }

    /// Runs a statement. One that PostgreSQL reserves for superusers, but Supabase allows to `postgres`, is replaced by a call of a
    /// platform function that runs it, as in migrations.
    ///
    /// # Errors
    /// 400 with PostgreSQL's message.
    pub(super) async fn run(&self, statement: &str) -> Result<(), MetaError> {
        let substitute = substitute_superuser_statement(statement, self.major_version);
        let statement = substitute.as_deref().unwrap_or(statement);
        // The extended protocol refuses a text with several statements, so SQL fragments in a request, such as the definition
        // of a policy, cannot contain a COMMIT.
        let sent = self.transaction.execute(statement, &[]).await;
        sent.map(|_| ()).map_err(MetaError::Refused)
    }

    /// Runs several statements in order, until one fails.
    pub(super) async fn run_all(&self, statements: &[String]) -> Result<(), MetaError> {
        for statement in statements {
            self.run(statement).await?;
        }
        Ok(())
    }

    /// Runs a query on the system catalog and returns the first column, which must be text.
    pub(super) async fn query_texts(
        &self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<String>, MetaError> {
        let rows = self.transaction.query(sql, values).await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// Runs a query on the system catalog and returns the first row's text.
    ///
    /// # Errors
    /// 404 with the message `missing` when there is no row.
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

    /// Returns the objects with these ids as JSON, as the list at `path` shows them.
    pub(super) async fn read_objects(&self, path: &str, ids: Vec<String>) -> Result<Vec<String>, MetaError> {
        read_listed(&self.transaction, find_listing(path), &Filter::with_ids(ids)).await
    }

    /// Returns one object as JSON, as the list at `path` shows it.
    ///
    /// # Errors
    /// 404 when there is no object with this id.
    pub(super) async fn read_object(&self, path: &str, id: &str) -> Result<String, MetaError> {
        let objects = self.read_objects(path, vec![id.to_owned()]).await?;
        let missing = || find_listing(path).not_found(id);
        objects.into_iter().next().ok_or_else(missing)
    }

    /// Reads one object and deserializes the members that its statements need.
    pub(super) async fn parse_object<T: DeserializeOwned>(
        &self,
        path: &str,
        id: &str,
    ) -> Result<T, MetaError> {
        let text = self.read_object(path, id).await?;
        serde_json::from_str(&text).map_err(|error| MetaError::Request(format!("{path}/{id}: {error}")))
    }

    /// Commits the transaction.
    pub(super) async fn commit(self) -> Result<(), MetaError> {
        // Deferred constraints are checked by COMMIT, so it can be refused.
        self.transaction.commit().await.map_err(MetaError::Refused)
    }
}
