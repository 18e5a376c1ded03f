//! Connections outside of a [`Database`](crate::Database): those of commands, and of what comes before a server has one.

use std::time::Duration;

use tokio_postgres::{Client, Config, Error};

use super::connector::{Connector, HostConnection, NEXT_HOST_TIMEOUT};
use super::last_host::LastHost;
use super::single_host::with_single_host;
use crate::pools::SharedPools;
use crate::tls;

/// How long the primary is looked for, among several hosts or at one name: a server may be starting, or about to be promoted.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(60);

/// Opens a connection to the primary of a configuration, as [`Connector::open`] does.
///
/// # Errors
/// When a host refuses the login, or no primary is found among several hosts in time.
pub(crate) async fn open_session(config: &Config) -> Result<(Client, HostConnection), Error> {
    Ok(open_at(config).await?.0)
}

/// The configuration with the host that is the primary, for programs that would take the hosts in order.
///
/// # Errors
/// As [`connect`](crate::connect).
pub async fn find_primary(config: &Config) -> Result<Config, Error> {
    if config.get_hosts().len() < 2 {
        return Ok(config.clone());
    }
    let (_opened, host) = open_at(config).await?;
    Ok(with_single_host(config, host))
}

async fn open_at(config: &Config) -> Result<((Client, HostConnection), usize), Error> {
    let mut config = config.clone();
    let has_several = config.get_hosts().len() > 1;
    if has_several && config.get_connect_timeout().is_none() {
        config.connect_timeout(NEXT_HOST_TIMEOUT);
    }
    let connector = Connector {
        tls: tls::connector(),
        last_host: LastHost::of(&config),
        pools: SharedPools::default(),
    };
    let opening = connector.open(&config);
    let opened = match has_several || connector.last_host.is_one_name() {
        true => tokio::time::timeout(SEARCH_TIMEOUT, opening)
            .await
            .unwrap_or_else(|_| Err(Error::__private_api_timeout()))?,
        // A cluster of this machine.
        false => opening.await?,
    };
    let host = opened.1.host;
    Ok((opened, host))
}
