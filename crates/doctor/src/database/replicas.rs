//! Checks the servers of `[selvedge.replicas]`, each by a direct login.

use anyhow::bail;
use futures_util::future::join_all;
use secrecy::SecretString;
use selvedge_config::{Config, ReplicasSection};
use selvedge_database::external::ExternalDatabase;
use selvedge_database::standby_passwords::{
    ADVICE, ADVICE_UNREAD, ANSWER_LIMIT, StandbyPassword, describe_unread, find_standby_passwords,
};
use tokio_postgres::Client;
use tokio_postgres::types::PgLsn;

use crate::finding::Finding;

/// Examines the replicas from which REST reads; `primary` is a session of the database.
pub(crate) async fn examine_replicas(config: &Config, primary: &Client) -> Vec<Finding> {
    let Some(section) = &config.selvedge.replicas else {
        return Vec::new();
    };
    let position = "select case when not pg_is_in_recovery() then pg_current_wal_lsn() end";
    let written: Option<PgLsn> = match primary.query_one(position, &[]).await {
        Ok(row) => row.get(0),
        Err(_) => None,
    };
    let checks = section
        .urls
        .iter()
        .map(|url| check_replica(section, url, written));
    let mut findings = join_all(checks).await;
    for (address, password) in find_standby_passwords(config).await {
        findings.extend(describe_password(&address, password));
    }
    findings
}

fn describe_password(address: &str, password: StandbyPassword) -> Option<Finding> {
    match password {
        StandbyPassword::None => None,
        StandbyPassword::Readable => Some(Finding::error(
            "replicas",
            format!("primary_conninfo of {address} has a password, which postgres reads there"),
            ADVICE,
        )),
        StandbyPassword::Unread(reason) => Some(Finding::warning(
            "replicas",
            describe_unread(address, &reason),
            ADVICE_UNREAD,
        )),
    }
}

async fn check_replica(section: &ReplicasSection, url: &SecretString, written: Option<PgLsn>) -> Finding {
    let database = match ExternalDatabase::parse_named("selvedge.replicas.urls", url) {
        Ok(database) => database,
        Err(error) => {
            let advice = "write it as postgresql://user:password@host:5432/postgres";
            return Finding::error("replicas", format!("{error:#}"), advice);
        }
    };
    let name = database.address();
    let answer = tokio::time::timeout(ANSWER_LIMIT, ask_replica(&database)).await;
    let answer = answer.unwrap_or_else(|_| bail!("no answer for {} s", ANSWER_LIMIT.as_secs()));
    let (is_replica, replayed, feedback) = match answer {
        Ok(answer) => answer,
        Err(error) => {
            let message = format!("{name}: {error:#}");
            return Finding::error(
                "replicas",
                message,
                "until it answers, reads run on the other servers",
            );
        }
    };
    if !is_replica {
        return Finding::ok(
            "replicas",
            format!("{name} is the primary now, and gets no reads as a replica"),
        );
    }
    let behind = written
        .map_or(0, u64::from)
        .saturating_sub(replayed.map_or(0, u64::from));
    let message = format!("{name} is {} KiB behind", behind / 1024);
    if behind > section.max_lag_bytes {
        Finding::error(
            "replicas",
            message,
            "it gets no reads until it has caught up; look at its log",
        )
    } else if feedback == "off" {
        let advice = "set hot_standby_feedback = on there, or long reads are canceled in favour of replay";
        Finding::warning("replicas", message, advice)
    } else {
        Finding::ok("replicas", message)
    }
}

/// Whether the server is a replica, what it has replayed, and its `hot_standby_feedback`.
async fn ask_replica(database: &ExternalDatabase) -> anyhow::Result<(bool, Option<PgLsn>, String)> {
    let client = database.connect().await?;
    let sql = "select pg_is_in_recovery(), pg_last_wal_replay_lsn(), current_setting('hot_standby_feedback')";
    let row = client.query_one(sql, &[]).await?;
    // A file of the project may name any server, so the answer may be anything.
    Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
}
