//! Calls hooks that are functions in the project's database. Source: Auth contract §4.5.

use deadpool_postgres::GenericClient;
use selvedge_postgres::trace_statement;
use serde_json::Value;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use crate::error::{AuthError, HookError};

/// Runs `select "schema"."function"(input)` in the caller's transaction, for two seconds at most.
///
/// # Errors
/// 422 `hook_timeout`, or the error that PostgreSQL raised.
pub(super) async fn call_function(
    db: &impl GenericClient,
    schema: &str,
    function: &str,
    input: &Value,
) -> Result<Value, AuthError> {
    db.batch_execute("set local statement_timeout to '2s'").await?;
    // The names are safe to interpolate: the configuration admits letters, digits and underscores only. The statement
    // is not cached, because projects replace their functions while the server runs.
    let sql = format!("select \"{schema}\".\"{function}\"($1)");
    let row = trace_statement(&sql, |_| 1, db.query_one(&sql, &[input]))
        .await
        .map_err(|error| {
            if error.code() == Some(&SqlState::QUERY_CANCELED) {
                HookError::Timeout { seconds: 2 }.into()
            } else {
                AuthError::from(error)
            }
        })?;
    // `set local` lasts until the end of the transaction, in which slower statements may follow.
    db.batch_execute("set local statement_timeout to default").await?;
    let is_json = row
        .columns()
        .first()
        .is_some_and(|column| matches!(*column.type_(), Type::JSON | Type::JSONB));
    // The caller knows what void or null means at its point.
    let output: Option<Value> = if is_json { row.try_get(0)? } else { None };
    Ok(output.unwrap_or(Value::Null))
}
