//! This machine: room on the disk, the port of the API, and the proxy in front of it.

pub(crate) mod certificate;
pub(crate) mod domains;
pub(crate) mod ephemeral_ports;
pub(crate) mod mail;
pub(crate) mod memory;
pub(crate) mod objects;

use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;
use selvedge_config::Config;
use selvedge_database::embedded::{check_extensions_here, cluster_config};
use selvedge_database::home::is_home;
use selvedge_database::instance::probe;
use selvedge_postgres::cluster::{Cluster, ClusterError};
use selvedge_postgres::migrate::MigrateError;
use tokio::net::TcpListener;

use crate::finding::Finding;

const GIB: u64 = 1024 * 1024 * 1024;

/// Checks disk and port. `is_running` says whether the project's instance runs on this machine.
pub(crate) async fn examine_machine(config: &Config, is_running: bool) -> Vec<Finding> {
    let mut findings = vec![
        check_disk(&config.selvedge.data_dir),
        check_port(config, is_running).await,
    ];
    findings.extend(check_proxy(config));
    findings.extend(check_extensions(config));
    if is_running {
        findings.extend(check_programs(config));
    }
    findings.extend(Cluster::find_abandoned_data().iter().map(report_abandoned));
    findings
}

/// Reports the data of a project whose folder does not exist. It is not removed automatically, because the folder may be on a
/// disk that is not mounted at the moment.
fn report_abandoned((home, project): &(PathBuf, PathBuf)) -> Finding {
    Finding::warning(
        "leftovers",
        format!(
            "{} holds the database of a project that is not at {} any more",
            home.display(),
            project.display()
        ),
        format!("if it was deleted:  rm -r {}", home.display()),
    )
}

/// Reports that the machine has another PostgreSQL than the one that runs, which keeps its own files until it is started anew.
fn check_programs(config: &Config) -> Option<Finding> {
    let is_replaced = cluster_config(config).and_then(|cluster| Ok(cluster.runs_replaced_programs()?));
    match is_replaced {
        Ok(true) => Some(Finding::warning(
            "programs",
            "the machine's PostgreSQL was changed since this one was started, which still runs the earlier one",
            "start the project anew to use what was installed",
        )),
        Ok(false) => None,
        // Whoever examines a project runs none of its programs, and is not asked about them.
        Err(error) if is_refused(&error) => None,
        Err(error) => Some(Finding::warning(
            "programs",
            format!("{error:#}"),
            "make PostgreSQL's folders readable for this user",
        )),
    }
}

/// Reports extensions that migrations create and this machine lacks, with the command that installs each.
fn check_extensions(config: &Config) -> Option<Finding> {
    if config.selvedge.database_url.is_some() {
        return None;
    }
    match check_extensions_here(config) {
        Ok(()) => Some(Finding::ok(
            "extensions",
            "this machine has the extensions that migrations create",
        )),
        Err(error) if is_refused(&error) => None,
        Err(error) if matches!(error.downcast_ref(), Some(MigrateError::MissingExtensions(_))) => {
            Some(Finding::error(
                "extensions",
                format!("{error:#}"),
                "install what is missing; until then no new database can be made, and migrations that create it fail",
            ))
        }
        Err(error) => Some(Finding::warning(
            "extensions",
            format!("{error:#}"),
            "make PostgreSQL and the project's migrations readable for this user",
        )),
    }
}

fn is_refused(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref::<ClusterError>(),
        Some(ClusterError::RefusedPrograms(_))
    )
}

fn check_disk(folder: &Path) -> Finding {
    // Before the first start the folder does not exist, but the file system on which it will be does.
    let existing = folder.ancestors().find(|path| path.exists()).unwrap_or(folder);
    match statvfs(existing) {
        Ok(found) => judge_disk(
            folder,
            count_bytes(found.blocks_available(), found.fragment_size()),
            count_bytes(found.blocks(), found.fragment_size()),
        ),
        Err(error) => Finding::warning(
            "disk",
            format!("{}: {error}", existing.display()),
            "make the folder of selvedge.data_dir readable for this user",
        ),
    }
}

/// Generic because the system's type for numbers of blocks is narrower on some platforms.
fn count_bytes(blocks: impl Into<u64>, block_bytes: impl Into<u64>) -> u64 {
    blocks.into().saturating_mul(block_bytes.into())
}

fn judge_disk(folder: &Path, free: u64, total: u64) -> Finding {
    let percent = free.saturating_mul(100) / total.max(1);
    let message = format!(
        "{} GiB ({percent} %) are free at {}",
        free / GIB,
        folder.display()
    );
    let advice = "free some room: PostgreSQL stops when it cannot write, and uploads fail";
    if free < GIB / 2 || percent < 3 {
        Finding::error("disk", message, advice)
    } else if free < 2 * GIB || percent < 10 {
        Finding::warning("disk", message, advice)
    } else {
        Finding::ok("disk", message)
    }
}

/// Reports that a production server knows nothing of how clients reach it: links that it makes would be plain HTTP, and all clients
/// of a proxy one address.
fn check_proxy(config: &Config) -> Option<Finding> {
    let is_production = config.selvedge.database_url.is_some() || is_home(config);
    let knows_clients = config.api.external_url.is_some()
        || config.api.tls.is_some()
        || config.selvedge.limits.trusted_proxies > 0;
    (is_production && !knows_clients).then(|| {
        Finding::warning(
            "proxy",
            "neither [api] external_url, [api.tls] nor [selvedge.limits] trusted_proxies is set",
            "behind a proxy set trusted_proxies to the number of proxies, and external_url to the address of the API; until then links \
             are http, and all clients count as one",
        )
    })
}

async fn check_port(config: &Config, is_running: bool) -> Finding {
    let port = config.api.port;
    // With TLS the response cannot be read, so the check only reports that the port is in use.
    if probe::answers_ok(config, "/health/live").await {
        return Finding::ok(
            "port",
            format!("a server of this project responds on port {port}"),
        );
    }
    let host = config.selvedge.host.as_deref().unwrap_or("127.0.0.1");
    match TcpListener::bind((host, port)).await {
        Ok(_) if is_running => Finding::error(
            "port",
            format!("the instance runs, but nothing listens on port {port}"),
            "it may be just starting or stopping; look at its log",
        ),
        Ok(_) => Finding::ok("port", format!("port {port} is free")),
        Err(error) => Finding::error(
            "port",
            format!("port {port} cannot be used: {error}"),
            "stop the program that listens there, or choose another port (api.port, --port)",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Status;

    #[test]
    fn a_disk_is_judged_by_its_free_bytes_and_by_its_free_share() {
        let status = |free_mib: u64, total_gib: u64| {
            judge_disk(Path::new("/data"), free_mib * 1024 * 1024, total_gib * GIB).status
        };

        assert_eq!(status(20 * 1024, 100), Status::Ok);
        assert_eq!(status(5 * 1024, 100), Status::Warning);
        assert_eq!(status(1024, 100), Status::Error);
        assert_eq!(status(1024, 8), Status::Warning);
        assert_eq!(status(300, 4), Status::Error);
    }
}
