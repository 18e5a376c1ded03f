//! The timeline of a primary. Each promotion begins a new timeline with a higher number, so a former primary that does not know of
//! the promotion of another server has a lower one.

use std::pin::pin;

use futures_util::future::{Either, select};
use tokio_postgres::{Client, Connection, Error, SimpleQueryMessage};

/// Returns one value: the timeline that the server writes, as eight hexadecimal digits, or null on a standby. The functions are open to
/// all roles. `pg_control_checkpoint()` would name the former timeline until the first checkpoint after a promotion.
pub(crate) const TIMELINE_QUERY: &str = "select case when not pg_catalog.pg_is_in_recovery() then \
    pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8) end";

/// Reads the value of [`TIMELINE_QUERY`].
pub(crate) fn parse_timeline(digits: &str) -> Option<u32> {
    u32::from_str_radix(digits, 16).ok()
}

/// Asks a server for its timeline, on a connection that nobody else polls. `None` for a standby, and for a server that refuses
/// the query, as some managed services may.
///
/// # Errors
/// When the connection is lost.
pub(crate) async fn read_timeline<S, T>(
    client: &Client,
    connection: &mut Connection<S, T>,
) -> Result<Option<u32>, Error>
where
    Connection<S, T>: Future<Output = Result<(), Error>> + Unpin,
{
    let query = pin!(client.simple_query(TIMELINE_QUERY));
    let answer = match select(query, connection).await {
        Either::Left((answer, _)) => answer,
        Either::Right((Ok(()), query)) => query.await,
        Either::Right((Err(error), _)) => return Err(error),
    };
    match answer {
        Ok(messages) => Ok(messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => parse_timeline(row.get(0)?),
            _ => None,
        })),
        Err(error) if error.as_db_error().is_some() => Ok(None),
        Err(error) => Err(error),
    }
}
