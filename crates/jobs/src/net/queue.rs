//! The tables of pg_net: reads queued requests, stores responses, deletes old ones.

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use tokio_postgres::{Client, Error, Row};

/// True when the database has pg_net as this project ships it. The original sends its requests itself.
const IS_INSTALLED: &str = "select to_regprocedure('net._is_worker_up()') is not null";

/// The oldest requests, and of large ones only those for which there is room: `$4` bytes, and the one that exceeds them. The lengths of bodies
/// are read without the bodies, and a body above `$5` never.
const SELECT_REQUESTS: &str = "
    select id, method::text, url, headers, case when length <= $5 then body end, timeout_milliseconds, length
    from (
      (select id, method, url, headers, body, timeout_milliseconds, coalesce(octet_length(body), 0)::bigint as length, 0::numeric as before
       from net.http_request_queue
       where id <> all ($1) and coalesce(octet_length(body), 0) <= $3
       order by id limit $2)
      union all
      (select id, method, url, headers, body, timeout_milliseconds, length, sum(length) over (order by id) - length
       from (select id, method, url, headers, body, timeout_milliseconds, octet_length(body)::bigint as length
             from net.http_request_queue
             where id <> all ($1) and octet_length(body) > $3
             order by id limit least($2, 20)) as large)
    ) as oldest
    where length <= $3 or before < $4::bigint order by id";

/// Bodies up to this length are no large ones: a queue of large ones does not keep them waiting.
pub(super) const SMALL_BODY: usize = 64 * 1024;
/// Bodies above this length are not sent.
const LONGEST_BODY: i64 = 32 * 1024 * 1024;

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
    /// The bytes that `content` was made of, whose place another large response gets once this one is stored.
    pub(super) received: Bytes,
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

/// The oldest requests that are not among `known`. Large bodies have `room` bytes; with none only small ones are read.
pub(super) async fn take_requests(
    client: &Client,
    known: &[i64],
    limit: usize,
    room: usize,
) -> Result<Vec<ReadRequest>, Error> {
    let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    // A body is at most a gigabyte long in PostgreSQL.
    let small = i32::try_from(SMALL_BODY).unwrap_or(i32::MAX);
    let room = number(room);
    let rows = client
        .query(
            SELECT_REQUESTS,
            &[&known, &number(limit), &small, &room, &LONGEST_BODY],
        )
        .await?;
    rows.iter()
        .map(|row| {
            let id: i64 = row.try_get(0)?;
            let length: i64 = row.try_get(6)?;
            if length > LONGEST_BODY {
                return Ok(Err((
                    id,
                    format!("the body has {length} bytes, more than {LONGEST_BODY}"),
                )));
            }
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
