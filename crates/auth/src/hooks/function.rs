//! Hooks that are functions of the project's database.

use deadpool_postgres::GenericClient;
use serde_json::Value;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use crate::error::AuthError;

/// Runs `select "schema"."function"(input)` in the caller's transaction, for two seconds at most.
///
/// # Errors
/// 422 `hook_timeout`, or what PostgreSQL said.
pub(super) async fn call(
    db: &impl GenericClient,
    schema: &str,
    function: &str,
    input: &Value,
) -> Result<Value, AuthError> {
    db.batch_execute("set local statement_timeout to '2s'").await?;
    // Names were checked when the configuration was read: letters, digits and underscores. Not cached, as projects replace their
    // functions while the server runs.
    let sql = format!("select \"{schema}\".\"{function}\"($1)");
    let row = db.query_one(&sql, &[input]).await.map_err(|error| {
        if error.code() == Some(&SqlState::QUERY_CANCELED) {
            AuthError::coded(
                422,
                "hook_timeout",
                "Failed to reach hook within maximum time of 2 seconds",
            )
        } else {
            AuthError::from(error)
        }
    })?;
    db.batch_execute("set local statement_timeout to default").await?;
    let is_json = row
        .columns()
        .first()
        .is_some_and(|column| matches!(*column.type_(), Type::JSON | Type::JSONB));
    // Functions that only do something return void.
    let output: Option<Value> = if is_json { row.try_get(0)? } else { None };
    Ok(output.unwrap_or(Value::Null))
}
