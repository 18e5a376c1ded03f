//! Evaluation of policies that name functions in a schema which the subject may not use.
//!
//! PostgreSQL stores a policy parsed, so that its functions are found without any right to their schema. The text of the
//! policy, sent as the subject, would be refused. Here the owner wraps it into a temporary function whose body is stored
//! parsed as well, and the subject's role then calls that function. The transaction is rolled back.

use selvedge_postgres::{AccessMode, RequestContext, RoleSettings, become_caller};
use tokio_postgres::{Client, Error};

use super::expression::{Evaluated, Expression, collect_all, evaluation_sql, row_type};
use crate::catalog::Table;

/// Evaluates one expression without its operands.
///
/// # Errors
/// What the login of `owner` may not do, and the expression's own error.
pub(crate) async fn evaluate_as_parsed_by_owner(
    owner: &mut Client,
    context: &RequestContext<'_>,
    roles: &RoleSettings,
    table: &Table,
    expression: &Expression,
    rows: &[String],
) -> Result<Evaluated, Error> {
    let bare = [Expression {
        sql: expression.sql.clone(),
        operands: Vec::new(),
    }];
    let row_type = row_type(table);
    let body = evaluation_sql(table, &bare).replacen(&format!("$1::text[]::{row_type}[]"), "$1", 1);
    let transaction = owner.transaction().await?;
    transaction
        .batch_execute(&format!(
            "set local search_path = ''; set local statement_timeout = '2s'; \
             create function pg_temp.selvedge_evaluate_policy({row_type}[]) returns setof text[] \
             language sql begin atomic {body}; end; \
             grant execute on function pg_temp.selvedge_evaluate_policy({row_type}[]) to public"
        ))
        .await?;
    // After this the subject's role and claims apply, and the transaction is read-only.
    become_caller(&transaction, context, roles, AccessMode::ReadOnly).await?;
    let sql = format!("select * from pg_temp.selvedge_evaluate_policy($1::text[]::{row_type}[])");
    let answer = transaction.query(&sql, &[&rows]).await?;
    transaction.rollback().await?;
    Ok(collect_all(&bare, &answer).remove(0))
}
