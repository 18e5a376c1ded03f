//! The servers of a `DATABASE_URL` that names several: which of them is the primary, and whether there is only one.

use anyhow::{Context, Result, bail};
use selvedge_config::describe_hosts;
use selvedge_database::external::ExternalDatabase;
use selvedge_postgres::{ExaminedHost, HostRole, PrivilegedLogin, PrivilegedSession, examine_hosts};

use crate::finding::Finding;

/// Examines the servers, and connects to the primary that was promoted last.
///
/// # Errors
/// When none of them is a primary, or the login fails.
pub(crate) async fn examine_and_connect(
    database: &ExternalDatabase,
) -> (Vec<Finding>, Result<PrivilegedSession>) {
    let hosts = examine_hosts(database.login()).await;
    let findings = match hosts.as_slice() {
        [_] => Vec::new(),
        several => check_hosts(several),
    };
    let client = connect(&hosts).await;
    (findings, client)
}

async fn connect(hosts: &[ExaminedHost]) -> Result<PrivilegedSession> {
    if let [ExaminedHost { config, role }] = hosts {
        if let Err(error) = role {
            bail!(
                "cannot log in to the database at {}: {error}",
                describe_hosts(config)
            );
        }
        return PrivilegedLogin::new(config.clone())
            .connect_through_pooler()
            .await
            .context("cannot log in again");
    }
    let Some((host, _)) = list_primaries(hosts).pop() else {
        bail!("none of the servers of DATABASE_URL accepts writes");
    };
    let client = PrivilegedLogin::new(host.config.clone())
        .connect_through_pooler()
        .await;
    client.with_context(|| format!("cannot log in to the primary at {}", describe_hosts(&host.config)))
}

/// The servers that accept writes, with their timelines in ascending order.
fn list_primaries(hosts: &[ExaminedHost]) -> Vec<(&ExaminedHost, u32)> {
    let mut primaries: Vec<_> = hosts
        .iter()
        .filter_map(|host| match host.role {
            Ok(HostRole::Primary { timeline }) => Some((host, timeline)),
            _ => None,
        })
        .collect();
    primaries.sort_by_key(|(_, timeline)| *timeline);
    primaries
}

fn check_hosts(hosts: &[ExaminedHost]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let primaries = list_primaries(hosts);
    let names: Vec<String> = primaries
        .iter()
        .map(|(host, timeline)| format!("{} (timeline {timeline})", describe_hosts(&host.config)))
        .collect();
    match names.as_slice() {
        [] => findings.push(Finding::error(
            "hosts",
            "none of the servers of DATABASE_URL accepts writes",
            "promote a standby; until then whatever writes gets 503",
        )),
        [name] => findings.push(Finding::ok("hosts", format!("{name} is the primary"))),
        [former @ .., newest] => findings.push(Finding::error(
            "hosts",
            format!("{} accept writes, too; nodes write to {newest}", former.join(", ")),
            "stop the others: they are former primaries, and what is written there is lost. Then copy the primary to them",
        )),
    }
    for ExaminedHost { config, role } in hosts {
        if let Err(error) = role {
            findings.push(Finding::warning(
                "hosts",
                format!("{}: {error}", describe_hosts(config)),
                "look at its log; until it answers, a failure of the primary may leave none that accepts writes",
            ));
        }
    }
    findings
}
