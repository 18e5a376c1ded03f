//! What each login asks the server, where it may be another one than before.

use tokio_postgres::{Client, Config, Connection, Error};

use super::identity::{IDENTITY_QUERY, ServerIdentity};
use super::last_host::{LastHost, has_standbys};
use super::timeline::{TIMELINE_QUERY, parse_timeline, read_value};

/// Asks a server what is needed to tell it from the others of a configuration, on a connection that nobody else polls.
///
/// # Errors
/// When the connection is lost.
pub(crate) async fn read_identity<S, T>(
    client: &Client,
    connection: &mut Connection<S, T>,
    config: &Config,
    last: &LastHost,
) -> Result<ServerIdentity, Error>
where
    Connection<S, T>: Future<Output = Result<(), Error>> + Unpin,
{
    let Some(query) = identity_query(config, last) else {
        return Ok(ServerIdentity::default());
    };
    let text = read_value(client, connection, query).await?;
    Ok(text.map(|text| parse_identity(&text)).unwrap_or_default())
}

/// What each login to a configuration asks the server; nothing where there is only one.
pub(crate) fn identity_query(config: &Config, last: &LastHost) -> Option<&'static str> {
    match last.is_one_name() {
        true => Some(IDENTITY_QUERY),
        false => has_standbys(config).then_some(TIMELINE_QUERY),
    }
}

/// Reads the value of [`identity_query`].
pub(crate) fn parse_identity(text: &str) -> ServerIdentity {
    match text.contains(' ') {
        true => ServerIdentity::parse(text),
        false => parse_timeline(text).into(),
    }
}
