//! The tables of schema `auth`. Each function is one statement or a few; who calls decides about the transaction.
//!
//! Everything runs as `supabase_auth_admin`, the owner of the schema: Auth decides itself what a caller may see.

use deadpool_postgres::GenericClient;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

pub(crate) mod audit;
pub(crate) mod custom_providers;
pub(crate) mod factors;
pub(crate) mod flow_states;
pub(crate) mod identities;
pub(crate) mod oauth_authorizations;
pub(crate) mod oauth_clients;
pub(crate) mod one_time_tokens;
pub(crate) mod outgoing_mails;
pub(crate) mod passkeys;
pub(crate) mod phones;
pub(crate) mod provider_flows;
pub(crate) mod refresh_tokens;
pub(crate) mod sessions;
pub(crate) mod sso_providers;
pub(crate) mod stale;
pub(crate) mod users;

pub(crate) type DbResult<T> = Result<T, tokio_postgres::Error>;
type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Runs a prepared statement for its effect; the number of rows touched.
async fn execute(db: &impl GenericClient, sql: &str, params: Params<'_>) -> DbResult<u64> {
    let statement = db.prepare_cached(sql).await?;
    db.execute(&statement, params).await
}

/// Runs a prepared statement for its effect alone.
async fn run(db: &impl GenericClient, sql: &str, params: Params<'_>) -> DbResult<()> {
    execute(db, sql, params).await.map(|_| ())
}

/// Runs a prepared statement for at most one row.
async fn find(db: &impl GenericClient, sql: &str, params: Params<'_>) -> DbResult<Option<Row>> {
    let statement = db.prepare_cached(sql).await?;
    db.query_opt(&statement, params).await
}

/// Runs a prepared statement for all rows.
async fn list(db: &impl GenericClient, sql: &str, params: Params<'_>) -> DbResult<Vec<Row>> {
    let statement = db.prepare_cached(sql).await?;
    db.query(&statement, params).await
}
