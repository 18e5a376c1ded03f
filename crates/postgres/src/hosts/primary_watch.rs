//! Notices that another host has become the primary, also when requests only wait for the former one.

use std::sync::Weak;
use std::time::Duration;

use tokio_postgres::{Client, Config};

use super::connector::Connector;

/// How often the primary is asked whether it is one.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// A primary that does not answer within this time is looked for at the other hosts.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Asks the primary again and again, and looks for another one when it does not answer. Ends with its owner.
pub(crate) async fn watch_primary<T>(connector: Connector, config: Config, owner: Weak<T>) {
    let mut kept = None;
    while owner.strong_count() > 0 {
        let is_primary = match &kept {
            Some(client) => is_primary(client).await,
            None => false,
        };
        if !is_primary {
            // A login at another host ends the connections to this one.
            kept = open(&connector, &config).await;
        }
        tokio::time::sleep(CHECK_INTERVAL).await;
    }
}

async fn open(connector: &Connector, config: &Config) -> Option<Client> {
    let (client, connection) = connector.open(config).await.ok()?;
    tokio::spawn(connection.run());
    Some(client)
}

async fn is_primary(client: &Client) -> bool {
    let answer = client.query_one("select not pg_is_in_recovery()", &[]);
    match tokio::time::timeout(ANSWER_TIMEOUT, answer).await {
        Ok(Ok(row)) => row.get(0),
        Ok(Err(_)) | Err(_) => false,
    }
}
