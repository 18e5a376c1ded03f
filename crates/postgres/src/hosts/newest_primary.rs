//! Looks at all hosts at once for the primary with the highest timeline.
//!
//! A former primary and its successor may both accept writes. A node that asked only one of them could write to the former
//! primary, and those rows would be lost.

use futures_util::future::join_all;
use tokio_postgres::{Config, Error};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::last_host::{LastHost, with_single_host};
use super::timeline::read_timeline;

/// Asks all hosts at once for their timelines, each for at most `connect_timeout`. The host with the highest one becomes the
/// primary, unless a primary with the same or a higher timeline is known. Hosts that do not respond, or do not say their
/// timeline, change nothing.
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
    let mut timelines: Vec<(usize, u32)> = join_all(questions).await.into_iter().flatten().collect();
    timelines.sort_by_key(|(_, timeline)| *timeline);
    if let Some((host, timeline)) = timelines.pop() {
        last.accept_newer(host, start, timeline);
    }
}

/// Returns the timeline of one host, or `None` for a standby and for a server that does not say it.
async fn ask_timeline(config: &Config, tls: &MakeRustlsConnect, host: usize) -> Result<Option<u32>, Error> {
    let single = with_single_host(config, host);
    let (client, mut connection) = single.connect(tls.clone()).await?;
    read_timeline(&client, &mut connection).await
}
