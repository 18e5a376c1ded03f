//! Looks at all hosts at once for the primary with the highest timeline.
//!
//! A former primary and its successor may both accept writes. A node that asked only one of them could write to the former
//! primary, and those rows would be lost.
//!
//! A promotion can also be taken back: under Patroni a server that was promoted and loses its lock at once becomes a standby of the former
//! primary, whose timeline is lower. A node that insisted on the highest timeline it has seen would find no primary any more.

use std::time::Duration;

use futures_util::future::join_all;
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::{Config, Error};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::event_triggers::connect_to_host;
use super::last_host::LastHost;
use super::single_host::with_single_host;
use super::timeline::{read_standby_timeline, read_timeline};

/// How long the end of a connection may take.
const GOODBYE_TIMEOUT: Duration = Duration::from_millis(200);

/// The timeline of a host.
enum HostTimeline {
    /// It writes on this timeline.
    Primary(u32),
    /// The newest timeline whose changes it has.
    Standby(u32),
}

/// Asks all hosts at once for their timelines, each for at most `connect_timeout`. The primary with the highest one becomes the
/// primary, unless one with the same or a higher timeline is known. That is forgotten if its own server is a standby now and
/// has given up the timeline. Hosts that do not respond, or do not say their timeline, change nothing.
pub(crate) async fn find_newest_primary(config: &Config, tls: &MakeRustlsConnect, last: &LastHost) {
    let start = last.start_attempt();
    let questions = (0..config.get_hosts().len()).map(|host| async move {
        let timeline = ask_timeline(config, tls, host);
        let answer = match config.get_connect_timeout() {
            Some(limit) => tokio::time::timeout(*limit, timeline).await.ok()?,
            None => timeline.await,
        };
        Some((host, answer.ok()??))
    });
    let mut newest = None;
    for (host, answer) in join_all(questions).await.into_iter().flatten() {
        match answer {
            HostTimeline::Primary(timeline) => newest = newest.max(Some((timeline, host))),
            HostTimeline::Standby(timeline) => last.forget_given_up_timeline(host, timeline),
        }
    }
    if let Some((timeline, host)) = newest {
        last.accept_newer(host, start, timeline);
    }
}

/// Returns the timeline of one host, or `None` if the server does not say it.
async fn ask_timeline(
    config: &Config,
    tls: &MakeRustlsConnect,
    host: usize,
) -> Result<Option<HostTimeline>, Error> {
    let mut single = with_single_host(config, host);
    single.target_session_attrs(TargetSessionAttrs::Any);
    let (client, mut connection) = connect_to_host(&single, tls).await?;
    let timeline = match read_timeline(&client, &mut connection).await? {
        Some(timeline) => Some(HostTimeline::Primary(timeline)),
        None => read_standby_timeline(&client, &mut connection)
            .await?
            .map(HostTimeline::Standby),
    };
    // The server is told that the connection ends, because poolers write a line to their logs for each connection that is cut.
    drop(client);
    tokio::time::timeout(GOODBYE_TIMEOUT, connection).await.ok();
    Ok(timeline)
}
