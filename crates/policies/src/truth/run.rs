//! Runs a statement in the gateway's request transaction and rolls it back.

use deadpool_postgres::Client;
use selvedge_postgres::{AccessMode, RequestContext, RoleSettings, begin_as_caller};
use serde::Serialize;
use serde_json::{Map, Value};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, GenericClient, SimpleColumn, SimpleQueryMessage};

use super::statement::Statement;
use crate::evaluate::describe_error;
use crate::request::Verb;

/// Limits of a real statement: it must not wait for locks of others, nor hold its own for long.
const SET_TIMEOUTS: &str = "set local lock_timeout = '200ms'; set local statement_timeout = '2s'";

/// The number of an answer's rows that are reported.
const MAX_ROWS: usize = 500;

/// The response of PostgreSQL to the executed statement.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Truth {
    /// The returned rows by column name, or `None` when the statement is not one that returns rows.
    pub(crate) rows: Option<Vec<Map<String, Value>>>,
    /// The number of rows that the statement has returned or changed.
    pub(crate) count: u64,
    pub(crate) error: Option<TruthError>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct TruthError {
    pub(crate) code: String,
    pub(crate) message: String,
}

impl Truth {
    fn from_error(error: &Error) -> Self {
        let (code, message) = describe_error(error);
        Self {
            error: Some(TruthError { code, message }),
            ..Self::default()
        }
    }
}

/// Runs the statement of a verb.
///
/// # Errors
/// When the request transaction cannot begin; errors of the statement are part of the truth.
pub(crate) async fn run_statement(
    caller: &mut Client,
    context: &RequestContext<'_>,
    roles: &RoleSettings,
    statement: &Statement,
) -> Result<Truth, Error> {
    let access = match statement.verb {
        Verb::Select => AccessMode::ReadOnly,
        _ => AccessMode::ReadWrite,
    };
    // A read runs in a read-only transaction, as it does in the API, so that a function cannot write there either.
    let transaction = begin_as_caller(caller, context, roles, access).await?;
    transaction.batch_execute(SET_TIMEOUTS).await?;
    let truth = execute(&*transaction, statement).await;
    // An error of the statement is a result; only a rollback that fails means that the connection is lost.
    transaction.rollback().await?;
    Ok(truth.unwrap_or_else(|error| Truth::from_error(&error)))
}

async fn execute(transaction: &impl GenericClient, statement: &Statement) -> Result<Truth, Error> {
    let params: Vec<&(dyn ToSql + Sync)> = statement.params.iter().map(|param| param as _).collect();
    let mut truth = Truth::default();
    if statement.returns_rows {
        let rows = transaction.query(&statement.sql, &params).await?;
        truth.count = rows.len() as u64;
        let objects = rows.iter().map(|row| {
            let names = statement.columns.iter().cloned();
            let values = (0..statement.columns.len()).map(|place| text_value(row.get(place)));
            names.zip(values).collect()
        });
        truth.rows = Some(objects.collect());
    } else {
        truth.count = transaction.execute(&statement.sql, &params).await?;
    }
    if statement.verb != Verb::Select {
        // Deferred constraints would refuse the real request at its end, too.
        transaction.batch_execute("set constraints all immediate").await?;
    }
    Ok(truth)
}

fn text_value(text: Option<String>) -> Value {
    text.map_or(Value::Null, Value::String)
}

/// Runs one statement of the developer. It is prepared first, which fails for several statements, so that the text cannot
/// end the transaction. Do not use the connection afterwards: the text may have changed the session.
///
/// # Errors
/// When the request transaction cannot begin; errors of the statement are part of the result.
pub(crate) async fn run_sql(
    caller: &mut Client,
    context: &RequestContext<'_>,
    roles: &RoleSettings,
    text: &str,
) -> Result<Truth, Error> {
    let transaction = begin_as_caller(caller, context, roles, AccessMode::ReadWrite).await?;
    transaction.batch_execute(SET_TIMEOUTS).await?;
    let truth = execute_text(&transaction, text).await;
    // The statement may itself have ended the transaction; then there is nothing to roll back, which is a warning only.
    transaction.rollback().await?;
    Ok(truth.unwrap_or_else(|error| Truth::from_error(&error)))
}

async fn execute_text(transaction: &tokio_postgres::Transaction<'_>, text: &str) -> Result<Truth, Error> {
    // The simple protocol, which answers in text, would run several statements; the extended one refuses them.
    transaction.prepare(text).await?;
    let mut truth = Truth::default();
    let (mut names, mut rows) = (Vec::new(), Vec::new());
    for message in transaction.simple_query(text).await? {
        match message {
            SimpleQueryMessage::RowDescription(columns) => {
                names = distinct_names(columns.iter().map(SimpleColumn::name));
                truth.rows = Some(Vec::new());
            }
            SimpleQueryMessage::Row(row) if rows.len() < MAX_ROWS => {
                let values = (0..row.len()).map(|place| text_value(row.get(place).map(str::to_owned)));
                rows.push(names.iter().cloned().zip(values).collect());
            }
            SimpleQueryMessage::CommandComplete(count) => truth.count = count,
            _ => {}
        }
    }
    truth.rows = truth.rows.map(|_| rows);
    Ok(truth)
}

/// Names of columns, each once: a join may return `id` twice, and an object has one member of a name.
fn distinct_names<'a>(columns: impl Iterator<Item = &'a str>) -> Vec<String> {
    let columns: Vec<&str> = columns.collect();
    let mut names: Vec<String> = Vec::with_capacity(columns.len());
    for &column in &columns {
        let numbered = (2..)
            .map(|number| format!("{column}_{number}"))
            .filter(|name| !columns.contains(&name.as_str()));
        let distinct = std::iter::once(column.to_owned())
            .chain(numbered)
            .find(|name| !names.contains(name))
            .expect("there are more numbers than columns");
        names.push(distinct);
    }
    names
}
