//! What each of several hosts says about itself, for `selvedge doctor`.

use std::time::Duration;

use futures_util::future::join_all;
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::{Config, Error, SimpleQueryMessage};

use super::single_host::with_single_host;
use super::timeline::{TIMELINE_QUERY, parse_timeline};
use crate::PrivilegedLogin;

/// A frozen server accepts connections and never responds, so without a limit the examination would not end.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Whether a host accepts writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostRole {
    /// It accepts writes. If several hosts do, the one with the highest timeline was promoted last.
    Primary {
        /// The timeline of its write-ahead log; 0 when the server does not say it.
        timeline: u32,
    },
    /// It follows a primary.
    Standby,
}

/// The result of examining one host.
pub struct ExaminedHost {
    /// The configuration with this host only. It also logs in to a standby.
    pub config: Config,
    /// Its role, or the message of the error that prevented the examination.
    pub role: Result<HostRole, String>,
}

/// Logs in to all hosts of a configuration at the same time and asks each for its role.
pub async fn examine_hosts(config: &Config) -> Vec<ExaminedHost> {
    let questions = (0..config.get_hosts().len()).map(|host| async move {
        let mut config = with_single_host(config, host);
        config.target_session_attrs(TargetSessionAttrs::Any);
        let role = match tokio::time::timeout(ANSWER_TIMEOUT, ask_role(&config)).await {
            Ok(Ok(role)) => Ok(role),
            Ok(Err(error)) => Err(describe(&error)),
            Err(_) => Err(format!("no answer within {} s", ANSWER_TIMEOUT.as_secs())),
        };
        ExaminedHost { config, role }
    });
    join_all(questions).await
}

async fn ask_role(config: &Config) -> Result<HostRole, Error> {
    // `doctor` asks with the user of DATABASE_URL, who may be a superuser.
    let client = PrivilegedLogin::new(config.clone())
        .connect_through_pooler()
        .await?;
    let in_recovery = "select pg_catalog.pg_is_in_recovery()";
    let in_recovery = client.query_one(in_recovery, &[]).await?;
    if in_recovery.get(0) {
        return Ok(HostRole::Standby);
    }
    let messages = client.simple_query(TIMELINE_QUERY).await.unwrap_or_default();
    let timeline = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => parse_timeline(row.get(0)?),
        _ => None,
    });
    Ok(HostRole::Primary {
        timeline: timeline.unwrap_or(0),
    })
}

fn describe(error: &Error) -> String {
    match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(error), _) => error.message().to_owned(),
        (None, Some(cause)) => format!("{error}: {cause}"),
        (None, None) => error.to_string(),
    }
}
