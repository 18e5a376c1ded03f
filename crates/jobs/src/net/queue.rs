//! The tables of pg_net: reads queued requests, stores responses, deletes old ones.

use std::time::Duration;

use serde_json::Value;
use tokio_postgres::{Client, Error, Row};

/// True when the database has pg_net as this project ships it. The original sends its requests itself.
const IS_INSTALLED: &str = "select to_regprocedure('net._is_worker_up()') is not null";

const SELECT_REQUESTS: &str = "
    select id, method::text, url, headers, body, timeout_milliseconds
    from net.http_request_queue where id <> all ($1) order by id limit $2";

/// Removes a request and stores its response, or neither.
const STORE_RESPONSE: &str = "
    with sent as (delete from net.http_request_queue where id = $1)
    insert into net._http_response (id, status_code, content_type, headers, content, timed_out, error_msg)
    values ($1, $2, $3, $4, $5, $6, $7)";

/// Deletes a limited number of responses, so that the statement holds its locks for a short time only.
const DELETE_EXPIRED: &str = "
    delete from net._http_response where ctid = any (array(
      select ctid from net._http_response
      where created < now()
        - coalesce(nullif(current_setting('pg_net.ttl', true), '')::interval, make_interval(secs => $1))
      order by created limit 500
    ))";

/// A row of `net.http_request_queue`.
#[derive(Debug)]
pub(super) struct QueuedRequest {
    pub(super) id: i64,
    pub(super) method: String,
    pub(super) url: String,
    pub(super) headers: Option<Value>,
    pub(super) body: Option<Vec<u8>>,
    pub(super) timeout_milliseconds: i32,
}

/// A row of `net._http_response`, apart from its id.
#[derive(Debug, Default, PartialEq)]
pub(super) struct StoredResponse {
    pub(super) status_code: Option<i32>,
    pub(super) content_type: Option<String>,
    pub(super) headers: Option<Value>,
    pub(super) content: Option<String>,
    pub(super) timed_out: Option<bool>,
    pub(super) error_msg: Option<String>,
}

impl StoredResponse {
    /// The stored result of a request without a response.
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self {
            timed_out: Some(false),
            error_msg: Some(message.into()),
            ..Self::default()
        }
    }
}

/// Whether there is a queue that this worker serves.
pub(super) async fn is_installed(client: &Client) -> Result<bool, Error> {
    client.query_one(IS_INSTALLED, &[]).await?.try_get(0)
}

/// A request that has been read, or the id of one that cannot be read, with the reason.
pub(super) type ReadRequest = Result<QueuedRequest, (i64, String)>;

/// The oldest requests that are not among `known`.
pub(super) async fn take_requests(
    client: &Client,
    known: &[i64],
    limit: usize,
) -> Result<Vec<ReadRequest>, Error> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = client.query(SELECT_REQUESTS, &[&known, &limit]).await?;
    rows.iter()
        .map(|row| {
            let id: i64 = row.try_get(0)?;
            Ok(read_request(row, id).map_err(|error| (id, describe_unreadable(&error))))
        })
        .collect()
}

fn read_request(row: &Row, id: i64) -> Result<QueuedRequest, Error> {
    Ok(QueuedRequest {
        id,
        method: row.try_get(1)?,
        url: row.try_get(2)?,
        headers: row.try_get(3)?,
        body: row.try_get(4)?,
        timeout_milliseconds: row.try_get(5)?,
    })
}

/// Says why a row cannot be read. JSON may be valid for PostgreSQL and nested too deeply for us.
fn describe_unreadable(error: &Error) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    format!("the request cannot be read: {error}{}", cause.unwrap_or_default())
}

/// Stores a response. If PostgreSQL refuses it, as it does for text that its encoding lacks, the refusal is stored in its
/// place: a request whose response cannot be stored would otherwise be sent again and again.
pub(super) async fn store_response(client: &Client, id: i64, response: StoredResponse) -> Result<(), Error> {
    let Err(error) = insert_response(client, id, &response).await else {
        return Ok(());
    };
    let Some(refusal) = error.as_db_error() else {
        return Err(error);
    };
    let message = format!("the response cannot be stored: {}", refusal.message());
    insert_response(client, id, &StoredResponse::failed(message)).await
}

async fn insert_response(client: &Client, id: i64, response: &StoredResponse) -> Result<(), Error> {
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 7] = [
        &id,
        &response.status_code,
        &response.content_type,
        &response.headers,
        &response.content,
        &response.timed_out,
        &response.error_msg,
    ];
    client.execute(STORE_RESPONSE, &values).await.map(drop)
}

/// Deletes responses that are older than the setting `pg_net.ttl`, or `ttl` where that is not set. Returns their number,
/// which is limited per call.
pub(super) async fn delete_expired_responses(client: &Client, ttl: Duration) -> Result<u64, Error> {
    client.execute(DELETE_EXPIRED, &[&ttl.as_secs_f64()]).await
}
