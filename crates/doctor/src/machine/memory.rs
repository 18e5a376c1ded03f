//! The memory of a home: whether PostgreSQL, the server and functions fit into it together, and what PostgreSQL was given. And what one process of
//! any PostgreSQL may take.

use std::fs;

use selvedge_config::Config;
use selvedge_database::capacity::MemoryParts;
use selvedge_database::embedded;
use selvedge_database::home::production_profile;
use selvedge_postgres::cluster::RunningCluster;
use tokio_postgres::Client;

use crate::finding::Finding;

const MIB: u64 = 1024 * 1024;
/// The hundredths of the memory above which little is left for the system and its cache of files.
const MOST_SHARE: u64 = 90;

const PENDING: &str = "select s.name from pg_catalog.pg_settings as s where s.pending_restart order by 1";

/// Examines the home of a production database; nothing elsewhere.
pub(crate) async fn examine_memory(config: &Config) -> Vec<Finding> {
    let Some(parts) = MemoryParts::of_home(config) else {
        return Vec::new();
    };
    let mut findings = vec![judge_parts(&parts)];
    findings.extend(compare_settings(config));
    findings.extend(find_pending(config).await);
    findings
}

fn judge_parts(parts: &MemoryParts) -> Finding {
    let mebibytes = |bytes: u64| bytes / MIB;
    let message = format!(
        "of {} MB: PostgreSQL {} MB of shared buffers and {} MB for sessions, functions {} MB, the server {} MB: {} %",
        mebibytes(parts.total),
        mebibytes(parts.buffers),
        mebibytes(parts.sessions),
        mebibytes(parts.functions),
        mebibytes(parts.server),
        parts.share()
    );
    if parts.share() > MOST_SHARE {
        Finding::warning(
            "memory",
            message,
            "lower shared_buffers in [db.settings], memory in [selvedge.limits] or [selvedge.functions], or add memory: the system kills \
             what takes more than there is",
        )
    } else {
        Finding::ok("memory", message)
    }
}

/// What was computed for PostgreSQL beside what `[db.settings]` has.
fn compare_settings(config: &Config) -> Option<Finding> {
    let computed = production_profile(config)?.settings();
    let described: Vec<String> = computed
        .iter()
        .map(|(name, value)| {
            let set = config.db.settings.iter().find(|(set, _)| set == name);
            match set {
                Some((_, set)) => format!("{name} {value} computed, {set} set"),
                None => format!("{name} {value}"),
            }
        })
        .collect();
    Some(Finding::ok("postgresql_settings", described.join("; ")))
}

/// What one process of PostgreSQL may take: `max_rows` bounds each list of a request and not their product, so that lists in lists become a value
/// as large as that. `is_own` says whether the project runs it.
pub(crate) async fn examine_process(client: &Client, is_own: bool) -> Finding {
    let pid = client.query_one("select pg_catalog.pg_backend_pid()", &[]).await;
    let pid: Option<i32> = pid.ok().and_then(|row| row.try_get(0).ok());
    let limits = pid
        .filter(|_| is_own)
        .and_then(|pid| fs::read_to_string(format!("/proc/{pid}/limits")).ok());
    judge_process(limits.as_deref().and_then(read_limit), is_own)
}

/// The bytes that a process may take for itself, by the system's list of its limits. `None` for any number.
fn read_limit(limits: &str) -> Option<u64> {
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max data size"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn judge_process(bytes: Option<u64>, is_own: bool) -> Finding {
    let message = match (bytes, is_own) {
        (Some(bytes), _) => format!(
            "one process of PostgreSQL takes {} MB at most: a statement that needs more fails with 53200",
            bytes / MIB
        ),
        (None, true) => "one process of PostgreSQL may take any memory: a value has at most 1 GB, and is there several times while it is sent. \
             postgres_process_memory in [selvedge.limits] bounds it"
            .to_owned(),
        (None, false) => "one process of PostgreSQL takes what its own machine lets it take: a value has at most 1 GB, and is there several \
             times while it is sent. `ulimit -d` for PostgreSQL bounds it"
            .to_owned(),
    };
    Finding::ok("process_memory", message)
}

/// Settings that wait for a restart of PostgreSQL. A fault of the login is reported with the database.
async fn find_pending(config: &Config) -> Option<Finding> {
    let running = RunningCluster::find(&config.selvedge.data_dir).await.ok()??;
    let login = embedded::login_to_running(&running, "postgres");
    let client = embedded::connect(&login).await.ok()?;
    let names = list_pending(&client).await.ok()?;
    (!names.is_empty()).then(|| {
        Finding::warning(
            "restart",
            format!(
                "settings of PostgreSQL wait for its restart: {}",
                names.join(", ")
            ),
            "selvedge cluster restart",
        )
    })
}

async fn list_pending(client: &Client) -> Result<Vec<String>, tokio_postgres::Error> {
    let rows = client.query(PENDING, &[]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Status;

    #[test]
    fn gw_049_doctor_says_what_a_process_of_postgresql_may_take() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
             Max data size             167772160            167772160            bytes\n\
             Max stack size            8388608              unlimited            bytes\n";
        let unlimited = "Max data size             unlimited            unlimited            bytes\n";

        let limited = judge_process(read_limit(limits), true);
        assert!(limited.message.contains("takes 160 MB at most"), "{limited:?}");
        assert_eq!(read_limit(unlimited), None);
        let own = judge_process(None, true);
        assert!(own.message.contains("postgres_process_memory"), "{own:?}");
        let external = judge_process(None, false);
        assert!(external.message.contains("ulimit -d"), "{external:?}");
    }

    #[test]
    fn prod_017_doctor_warns_when_nine_tenths_of_the_memory_are_given_away() {
        let parts = |server| MemoryParts {
            total: 1000 * MIB,
            buffers: 250 * MIB,
            sessions: 125 * MIB,
            functions: 0,
            server,
        };

        assert_eq!(judge_parts(&parts(525 * MIB)).status, Status::Ok);
        assert_eq!(judge_parts(&parts(540 * MIB)).status, Status::Warning);
        assert!(
            judge_parts(&parts(525 * MIB))
                .message
                .contains("the server 525 MB: 90 %")
        );
    }
}
