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

/// Returns one value: the newest timeline whose changes a standby has, as a decimal number, or null on a primary. The functions are open to
/// all roles. A former primary has its own timeline until its data are rewound to those of another server, or replaced by them.
const STANDBY_TIMELINE_QUERY: &str = "select case when pg_catalog.pg_is_in_recovery() then \
    greatest(checkpoint.timeline_id, recovery.min_recovery_end_timeline) end \
    from pg_catalog.pg_control_checkpoint() checkpoint, pg_catalog.pg_control_recovery() recovery";

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
    let digits = read_value(client, connection, TIMELINE_QUERY).await?;
    Ok(digits.and_then(|digits| parse_timeline(&digits)))
}

/// Asks a standby for the newest timeline whose changes it has; otherwise like [`read_timeline`]. `None` for a primary.
///
/// # Errors
/// When the connection is lost.
pub(crate) async fn read_standby_timeline<S, T>(
    client: &Client,
    connection: &mut Connection<S, T>,
) -> Result<Option<u32>, Error>
where
    Connection<S, T>: Future<Output = Result<(), Error>> + Unpin,
{
    let digits = read_value(client, connection, STANDBY_TIMELINE_QUERY).await?;
    Ok(digits.and_then(|digits| digits.parse().ok()))
}

/// Returns the value of a query with one row and one column; `None` if it is null or the server refuses the query.
pub(super) async fn read_value<S, T>(
    client: &Client,
    connection: &mut Connection<S, T>,
    query: &str,
) -> Result<Option<String>, Error>
where
    Connection<S, T>: Future<Output = Result<(), Error>> + Unpin,
{
    let query = pin!(client.simple_query(query));
    let answer = match select(query, connection).await {
        Either::Left((answer, _)) => answer,
        Either::Right((Ok(()), query)) => query.await,
        Either::Right((Err(error), _)) => return Err(error),
    };
    match answer {
        Ok(messages) => Ok(messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        })),
        Err(error) if error.as_db_error().is_some() => Ok(None),
        Err(error) => Err(error),
    }
}
