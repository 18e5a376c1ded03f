//! `POST /pg/query {query, parameters?}`: runs SQL and responds with the rows of the last statement that returned any, as an array
//! of objects.
//!
//! Errors: 400 with PostgreSQL's fields (`{error, message, code, …}`) or with the code `RESULT_SIZE_EXCEEDED` for a result above
//! `MetaConfig::result_bytes`; 408 after the time limit. Source: postgres-meta 0.99.

mod array;
mod failure;
mod request;
mod value;

use std::time::Duration;

use actix_web::{HttpRequest, HttpResponse, web};
use selvedge_postgres::{Login, TextColumn, TextEvent, TextSession};
use serde_json::{Map, Value};

use self::failure::{describe_failure, result_too_large};
use self::request::{QueryRequest, SqlPart};
use self::value::read_value;
use crate::changes::reject_web_page;
use crate::error::MetaError;
use crate::state::Meta;

/// `POST /pg/query?statementTimeoutSecs=&queryTimeoutSecs=`. The statements run on a new connection, which is closed afterwards, so
/// that session settings do not reach another caller.
pub(crate) async fn run_query(
    request: HttpRequest,
    body: web::Bytes,
    meta: web::Data<Meta>,
) -> Result<HttpResponse, MetaError> {
    reject_web_page(&request)?;
    let query = QueryRequest::parse(request.query_string(), &body, meta.config.statement_timeout)?;
    let (mut session, canceller) = meta.database.text_session(Login::Authenticator).await?;
    let run = run_statements(&mut session, &query, meta.config.result_bytes);
    let outcome = tokio::time::timeout(query.wait, run).await;
    match outcome {
        Ok(rows) => Ok(HttpResponse::Ok().json(rows?)),
        Err(_) => {
            // PostgreSQL does not notice a closed connection while a statement runs.
            canceller.cancel().await;
            Err(MetaError::TimedOut)
        }
    }
}

/// Runs all statements. Several run in one transaction, as PostgreSQL does when they arrive in one simple query message.
async fn run_statements(
    session: &mut TextSession,
    query: &QueryRequest,
    result_bytes: usize,
) -> Result<Vec<Value>, MetaError> {
    set_time_limit(session, query.statement_timeout).await?;
    let is_transaction = query.parts.len() > 1;
    if is_transaction {
        session.run("begin").await?;
    }
    let mut found = Vec::new();
    for part in &query.parts {
        let rows = run_part(session, query, part, result_bytes).await?;
        if !rows.is_empty() {
            found = rows;
        }
    }
    if is_transaction {
        // Deferred constraints are checked by COMMIT, so it can be refused.
        let commit = SqlPart {
            text: "commit".to_owned(),
            begins_at: 0,
        };
        run_part(session, query, &commit, result_bytes).await?;
    }
    Ok(found)
}

async fn set_time_limit(session: &mut TextSession, limit: Duration) -> Result<(), MetaError> {
    let limit = limit.as_millis();
    Ok(session.run(&format!("set statement_timeout = {limit}")).await?)
}

/// Runs one statement and returns its rows as JSON objects.
async fn run_part(
    session: &mut TextSession,
    query: &QueryRequest,
    part: &SqlPart,
    result_bytes: usize,
) -> Result<Vec<Value>, MetaError> {
    session.send(&part.text, 0).await?;
    let mut columns = Vec::new();
    let mut rows = Vec::new();
    let mut bytes = 0;
    let mut failure = None;
    loop {
        match session.next_event(result_bytes, result_bytes).await? {
            TextEvent::Columns(found) => columns = found,
            TextEvent::Row(cells) => {
                bytes += cells.iter().flatten().map(|cell| cell.bytes).sum::<usize>();
                if bytes > result_bytes {
                    // The rest of the result is not read: closing the connection discards it.
                    return Err(result_too_large(bytes, result_bytes));
                }
                let texts = cells.into_iter().map(|cell| cell.map(|cell| cell.text));
                rows.push(row_to_object(&columns, texts));
            }
            TextEvent::Error(error) => failure = Some(describe_failure(&error, &query.sql, part.begins_at)),
            TextEvent::Ready(_) => return failure.map_or(Ok(rows), Err),
            _ => {}
        }
    }
}

/// Returns a row as a JSON object. If columns share a name, the last one wins.
fn row_to_object(columns: &[TextColumn], texts: impl Iterator<Item = Option<String>>) -> Value {
    let mut row = Map::new();
    for (column, text) in columns.iter().zip(texts) {
        let value = text.map_or(Value::Null, |text| read_value(column.type_oid, text));
        row.insert(column.name.clone(), value);
    }
    Value::Object(row)
}
