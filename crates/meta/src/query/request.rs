//! Parses a request to run SQL, and splits its text into statements.

use std::time::Duration;

use selvedge_postgres::migrate::split_statements;
use serde::Deserialize;
use serde_json::Value;

use crate::error::MetaError;
use crate::sql_text::write_literal;

/// The name of the prepared statement of a request with parameters; free, because every request has a new session.
const PREPARED: &str = "selvedge_meta_query";

/// The statements to run, and their time limits.
#[derive(Debug)]
pub(super) struct QueryRequest {
    /// The SQL text of the body.
    pub(super) sql: String,
    /// The statements to send, in order.
    pub(super) parts: Vec<SqlPart>,
    /// The time limit that PostgreSQL enforces on each statement.
    pub(super) statement_timeout: Duration,
    /// How long the request waits for the whole result.
    pub(super) wait: Duration,
}

/// A statement that is sent to PostgreSQL.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SqlPart {
    /// SQL text of one statement.
    pub(super) text: String,
    /// Characters to add to an error position of this statement to get the position in the body's text; negative when text was put
    /// in front of it.
    pub(super) begins_at: isize,
}

#[derive(Deserialize)]
struct Body {
    query: Option<String>,
    parameters: Option<Vec<Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Limits {
    statement_timeout_secs: Option<f64>,
    query_timeout_secs: Option<f64>,
}

impl QueryRequest {
    /// Parses the query string and the body. Time limits above `longest` are reduced to it.
    ///
    /// # Errors
    /// 400 for malformed JSON, an empty query, or SQL that cannot be split into statements.
    pub(super) fn parse(query_string: &str, body: &[u8], longest: Duration) -> Result<Self, MetaError> {
        let limits = actix_web::web::Query::<Limits>::from_query(query_string)
            .map_err(|error| MetaError::Request(format!("the query string cannot be read: {error}")))?;
        let body: Body = serde_json::from_slice(body)
            .map_err(|error| MetaError::Request(format!("the body is not JSON of a query: {error}")))?;
        let sql = body
            .query
            .filter(|sql| !sql.is_empty())
            .ok_or_else(|| MetaError::Request("query not found".to_owned()))?;
        let parts = match body.parameters.filter(|parameters| !parameters.is_empty()) {
            Some(parameters) => prepare_and_execute(&sql, &parameters),
            None => split(&sql)?,
        };
        Ok(Self {
            parts,
            statement_timeout: read_limit(limits.statement_timeout_secs, longest),
            // A second longer than PostgreSQL's own limit, so that its error, which says more, arrives first.
            wait: read_limit(limits.query_timeout_secs, longest + Duration::from_secs(1)),
            sql,
        })
    }
}

fn read_limit(seconds: Option<f64>, longest: Duration) -> Duration {
    seconds
        .filter(|seconds| *seconds > 0.0)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .map_or(longest, |limit| limit.min(longest))
}

fn split(sql: &str) -> Result<Vec<SqlPart>, MetaError> {
    let statements = split_statements(sql).map_err(|error| MetaError::Request(error.to_string()))?;
    let part = |text: &str| {
        let bytes_before = (text.as_ptr() as usize).saturating_sub(sql.as_ptr() as usize);
        let before = sql.get(..bytes_before).unwrap_or_default();
        SqlPart {
            text: text.to_owned(),
            begins_at: before.chars().count().cast_signed(),
        }
    };
    Ok(statements.iter().map(|statement| part(statement.text)).collect())
}

/// Returns a PREPARE and an EXECUTE statement. PostgreSQL infers the types of the parameters from the text, as it does for values
/// sent by the extended protocol.
fn prepare_and_execute(sql: &str, parameters: &[Value]) -> Vec<SqlPart> {
    let before = format!("prepare {PREPARED} as ");
    let values: Vec<String> = parameters.iter().map(write_literal).collect();
    vec![
        SqlPart {
            begins_at: -before.chars().count().cast_signed(),
            text: before + sql,
        },
        SqlPart {
            text: format!("execute {PREPARED}({})", values.join(", ")),
            begins_at: 0,
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_returns_the_start_of_each_statement() {
        let parts = split("select 'é'; select 2").expect("valid");
        let begins: Vec<isize> = parts.iter().map(|part| part.begins_at).collect();
        assert_eq!(begins[0], 0);
        assert_eq!(parts.len(), 2);
        let whole: Vec<char> = "select 'é'; select 2".chars().collect();
        let second: String = whole[begins[1].unsigned_abs()..].iter().collect();
        assert!(
            second.starts_with(&parts[1].text),
            "{second:?} and {:?}",
            parts[1].text
        );
    }
}
