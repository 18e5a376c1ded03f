//! Reads and writes the tables in schema `auth`, one file per table or pair of tables. Each function runs one statement
//! or a few, in the caller's transaction; functions named `lock…` hold a row lock until it ends.
//!
//! Statements run as `supabase_auth_admin`, the owner of the schema, and not as the caller's role: the tables have
//! row-level security without policies, and the API decides what a caller may see. Statements longer than five lines
//! are in `crates/auth/sql`. Source: Auth contract §6.

use deadpool_postgres::GenericClient;
use selvedge_postgres::trace_statement;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

pub(crate) mod audit;
pub(crate) mod cleanup;
pub(crate) mod code_requests;
pub(crate) mod contested_accounts;
pub(crate) mod custom_providers;
pub(crate) mod ended_users;
pub(crate) mod factors;
pub(crate) mod flow_states;
pub(crate) mod identities;
pub(crate) mod oauth_authorizations;
pub(crate) mod oauth_clients;
pub(crate) mod one_time_codes;
pub(crate) mod one_time_tokens;
pub(crate) mod outgoing_mails;
pub(crate) mod passkeys;
pub(crate) mod phones;
pub(crate) mod provider_flows;
pub(crate) mod recovery_codes;
pub(crate) mod refresh_tokens;
pub(crate) mod saml;
pub(crate) mod sessions;
pub(crate) mod sso_providers;
pub(crate) mod user_access;
pub(crate) mod user_list;
pub(crate) mod users;

/// Errors stay those of the driver: the caller knows which constraint it may have violated, and what that means to a
/// client.
pub(crate) type DbResult<T> = Result<T, tokio_postgres::Error>;
/// Values for `$1`, `$2`, …
type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Runs a prepared statement; returns the number of affected rows.
async fn execute_statement(db: &impl GenericClient, sql: &str, params: Params<'_>) -> DbResult<u64> {
    let run = async {
        // Prepared once per connection; the text of the statement is the key of the cache.
        let statement = db.prepare_cached(sql).await?;
        db.execute(&statement, params).await
    };
    trace_statement(sql, |rows| *rows, run).await
}

/// Runs a prepared statement and ignores how many rows it affects.
async fn run_statement(db: &impl GenericClient, sql: &str, params: Params<'_>) -> DbResult<()> {
    execute_statement(db, sql, params).await.map(|_| ())
}

/// Runs a prepared statement that returns at most one row.
///
/// # Errors
/// More than one row is an error, too.
async fn find_row(db: &impl GenericClient, sql: &str, params: Params<'_>) -> DbResult<Option<Row>> {
    let run = async {
        let statement = db.prepare_cached(sql).await?;
        db.query_opt(&statement, params).await
    };
    trace_statement(sql, |row| u64::from(row.is_some()), run).await
}

/// Runs a prepared statement and returns all rows.
async fn list_rows(db: &impl GenericClient, sql: &str, params: Params<'_>) -> DbResult<Vec<Row>> {
    let run = async {
        let statement = db.prepare_cached(sql).await?;
        db.query(&statement, params).await
    };
    trace_statement(sql, |rows| rows.len() as u64, run).await
}

/// Escapes `%`, `_` and `\`, so that they have no special meaning in a `like` pattern.
fn escape_like_pattern(text: &str) -> String {
    // The backslash is replaced first, because the other replacements add backslashes.
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}
