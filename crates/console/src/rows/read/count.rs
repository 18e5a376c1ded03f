//! `POST /api/rows/count`: how many rows there are, estimated or counted (CONSOLE-051).

use actix_web::{HttpResponse, web};
use selvedge_introspection::TableShape;
use serde::Deserialize;
use serde_json::json;

use crate::error::ConsoleError;
use crate::rows::request::Filter;
use crate::rows::sql::{Statement, push_filters};
use crate::rows::table::find_table;
use crate::session::Session;
use crate::state::ConsoleState;
use crate::subject::{Subject, begin_reading_as, connect_as_caller};

/// Up to this number rows are always counted; above it the estimate of PostgreSQL's statistics is shown first.
const MAX_ALWAYS_COUNTED: i64 = 50_000;

/// A count on demand may take longer than a page, whose rows do not wait for it.
const COUNT_TIMEOUT: &str = "set local statement_timeout = '30s'";

/// The body of `POST /api/rows/count`.
#[derive(Deserialize)]
pub(in crate::rows) struct CountRequest {
    table: String,
    #[serde(default)]
    filters: Vec<Filter>,
    #[serde(default)]
    exact: bool,
    #[serde(default)]
    subject: Subject,
}

/// `POST /api/rows/count`
pub(in crate::rows) async fn count_rows(
    state: web::Data<ConsoleState>,
    session: Session,
    request: web::Json<CountRequest>,
) -> Result<HttpResponse, ConsoleError> {
    request.subject.check_level(&session)?;
    let (count, exact) = match request.subject.role_and_claims() {
        None => {
            let mut client = state.database.connection(session.level).await?;
            let transaction = client.build_transaction().read_only(true).start().await?;
            count(&transaction, &request).await?
        }
        Some((role, claims)) => {
            let database = state.database.shared();
            let mut client = connect_as_caller(database).await?;
            let transaction = begin_reading_as(&mut client, database, &role, &claims).await?;
            count(&transaction, &request).await?
        }
    };
    Ok(HttpResponse::Ok().json(json!({ "count": count, "exact": exact })))
}

async fn count(
    transaction: &tokio_postgres::Transaction<'_>,
    request: &CountRequest,
) -> Result<(i64, bool), ConsoleError> {
    transaction.batch_execute(COUNT_TIMEOUT).await?;
    let table = find_table(transaction, &request.table).await?;
    // The estimate is one of all rows, so a filter or the policies of a caller make it useless.
    let is_plain = request.filters.is_empty() && request.subject == Subject::Admin;
    if let Some(estimate) = table.estimated_rows
        && is_plain
        && !request.exact
        && estimate > MAX_ALWAYS_COUNTED
    {
        return Ok((estimate, false));
    }
    let statement = count_statement(&table, &request.filters, request.exact)?;
    let rows = transaction
        .query_typed(statement.text(), &statement.parameters())
        .await?;
    let count: i64 = rows[0].get(0);
    Ok((count, request.exact || count <= MAX_ALWAYS_COUNTED))
}

/// Writes the statement that counts the rows; unless it counts exactly, one row more than the limit shows that there are more, and the
/// rest is not read. The rows have a column, because Citus cannot merge those of several nodes that have none.
fn count_statement(table: &TableShape, filters: &[Filter], exact: bool) -> Result<Statement, ConsoleError> {
    let mut statement = Statement::new("select count(*) from (select 1 from ");
    statement
        .qualified(&table.schema, &table.name)
        .sql(" as t where ");
    push_filters(&mut statement, table, filters)?;
    if !exact {
        statement
            .sql(" limit ")
            .number(MAX_ALWAYS_COUNTED.unsigned_abs() + 1);
    }
    statement.sql(") as counted");
    Ok(statement)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::testing::table;

    #[test]
    fn console_051_counted_rows_have_a_column_for_citus() {
        let statement = count_statement(&table(&["id"]), &[], false).expect("valid");

        assert_eq!(
            statement.text(),
            r#"select count(*) from (select 1 from "public"."t" as t where true limit 50001) as counted"#
        );
    }
}
