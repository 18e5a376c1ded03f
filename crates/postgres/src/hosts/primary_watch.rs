//! Checks regularly which host is the primary, so that a failover is noticed even if no request opens a connection, also while the
//! former primary still accepts writes.

use std::sync::Weak;
use std::time::Duration;

use tokio::time::Instant;
use tokio_postgres::{Client, Config};

use super::connector::Connector;

/// Time between two checks whether the primary still is the primary.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Time between two searches for a newer primary, which may have been promoted although the former one still responds, and for a
/// promotion that was taken back. What a node writes until then is lost by asynchronous replication.
const SEARCH_INTERVAL: Duration = Duration::from_secs(2);
/// How long a login is tried before the hosts are asked again.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(10);
/// When a check takes longer than this, the other hosts are tried.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Checks the primary until `owner` is dropped. When the check fails, or another host has a higher timeline, it connects to the host that
/// is the primary now. Connections to the former one end.
pub(crate) async fn watch_primary<T>(connector: Connector, config: Config, owner: Weak<T>) {
    let mut kept = None;
    let mut last_search = Instant::now();
    while owner.strong_count() > 0 {
        let search = async {
            if last_search.elapsed() >= SEARCH_INTERVAL {
                last_search = Instant::now();
                connector.find_newest_primary(&config).await;
            }
        };
        let check = async {
            match &kept {
                Some(client) => is_primary(client).await,
                None => false,
            }
        };
        // At the same time, because a server that is switched off prolongs the search to its time limit.
        let ((), is_primary) = tokio::join!(search, check);
        if !is_primary {
            // A login at another host ends the connections to this one. While only a former primary responds, a login is tried without
            // end, so it is given up for the next search.
            let opening = tokio::time::timeout(LOGIN_TIMEOUT, open(&connector, &config));
            kept = opening.await.ok().flatten();
        }
        tokio::time::sleep(CHECK_INTERVAL).await;
    }
}

/// Logs in to the only name of a configuration each second, until `owner` is dropped. When that leads to another server now, the connections to the
/// former one end.
pub(crate) async fn watch_name<T>(connector: Connector, mut config: Config, owner: Weak<T>) {
    // For each address of the name: the first may be that of a server that is switched off.
    config.connect_timeout(ANSWER_TIMEOUT);
    while owner.strong_count() > 0 {
        // Requests report a database that cannot be reached.
        let login = tokio::time::timeout(LOGIN_TIMEOUT, connector.open(&config));
        if let Ok(Ok((client, connection))) = login.await {
            // Told of the end, because PostgreSQL and poolers write a line to their logs for each connection that is cut.
            drop(client);
            tokio::time::timeout(ANSWER_TIMEOUT, connection.run()).await.ok();
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
        Ok(Ok(row)) => matches!(row.try_get(0), Ok(true)),
        Ok(Err(_)) | Err(_) => false,
    }
}
