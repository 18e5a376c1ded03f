//! `selvedge doctor`: checks the project's environment, and advises how to solve each problem.
//!
//! It changes nothing and needs no privileges beyond those of `DATABASE_URL`; without that variable it checks the project's
//! running instance. It exits with 1 when it has found an error, so that scripts can use it.
//!
//! In: the configuration. Out: one [`Finding`] per check, with advice, which the command prints and the console shows.

mod database;
mod finding;
mod machine;
mod settings;

use anyhow::{Result, bail};
use selvedge_config::Config;
use selvedge_database::external::ExternalDatabase;
use selvedge_database::{embedded, instance};
use selvedge_postgres::PrivilegedLogin;
use selvedge_postgres::cluster::RunningCluster;
use selvedge_postgres::migrate::is_platform_older;
use selvedge_terminal::OutputFormat;
use tokio_postgres::Client;

use finding::print_findings;
pub use finding::{Finding, Status};
pub use settings::laptop_values::{LaptopValue, list_laptop_values};

/// Runs `selvedge doctor`.
///
/// # Errors
/// When a check has found an error.
pub async fn run(config: Config, format: OutputFormat) -> Result<()> {
    let findings = examine(config).await?;
    print_findings(&findings, format);
    let errors = findings.iter().filter(|finding| finding.status == Status::Error);
    match errors.count() {
        0 => Ok(()),
        errors => bail!("{errors} of {} checks failed", findings.len()),
    }
}

/// Runs every check. `config` is that of the project; its ports are replaced by those of the running instance.
///
/// # Errors
/// When the cluster's lock file cannot be read, or `DATABASE_URL` is malformed.
pub async fn examine(mut config: Config) -> Result<Vec<Finding>> {
    let holder = instance::find_server(&config)?;
    if let Some(ports) = holder.as_ref().and_then(instance::Ports::from_lock) {
        ports.apply(&mut config);
    }
    let mut findings = vec![Finding::ok(
        "version",
        format!("selvedge {}", env!("CARGO_PKG_VERSION")),
    )];
    findings.extend(examine_database(&config).await?);
    findings.extend(machine::examine_machine(&config, holder.is_some()).await);
    findings.extend(machine::certificate::examine_certificate(&config));
    findings.extend(machine::domains::examine_domains(&config).await);
    findings.extend(machine::ephemeral_ports::examine_ephemeral_ports(&config));
    findings.extend(machine::memory::examine_memory(&config).await);
    findings.push(machine::objects::examine_objects(&config).await);
    findings.extend(settings::secrets::examine_keys(&config));
    findings.extend(settings::secrets::examine_sources(&config));
    findings.extend(machine::mail::examine_mail(&config).await);
    findings.extend(settings::laptop::examine_laptop_values(&config));
    Ok(findings)
}

/// Examines the database of `DATABASE_URL`, or that of the running instance, and its replicas.
async fn examine_database(config: &Config) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let external = ExternalDatabase::of_project(config)?;
    let client = match &external {
        Some(external) => {
            let (of_hosts, client) = database::hosts::examine_and_connect(external).await;
            findings.extend(of_hosts);
            client
        }
        None => match RunningCluster::find(&config.selvedge.data_dir).await {
            Ok(Some(running)) => {
                // Settings of the database must not keep the examination from finding them.
                let login = PrivilegedLogin::new(embedded::login_to_running(&running, "postgres"));
                embedded::connect_privileged(&login).await
            }
            Err(error) => Err(error.into()),
            Ok(None) => {
                return Ok(vec![not_running()]);
            }
        },
    };
    let client = match client {
        Ok(client) => client,
        Err(error) => {
            findings.push(Finding::error(
                "database",
                format!("{error:#}"),
                "check host, port, password and TLS of DATABASE_URL, and pg_hba.conf of the server",
            ));
            return Ok(findings);
        }
    };
    findings.extend(database::rights::examine_rights(&client, external.is_some()).await);
    findings.extend(database::examine_server(config, &client).await);
    findings.extend(database::upgrades::examine_upgrades(&client).await);
    findings.push(machine::memory::examine_process(&client, external.is_none()).await);
    match &external {
        // Tables of Auth and Storage may have indexes and policies of the project, which must not see a superuser.
        Some(external) if client.is_superuser() => match external.connect_as_postgres().await {
            Ok(postgres) => findings.extend(examine_rows(&postgres).await),
            Err(error) => findings.push(database::identities::not_examined(&format!("{error:#}"))),
        },
        _ => findings.extend(examine_rows(&client).await),
    }
    findings.extend(database::replication::examine_replication(config, &client).await);
    findings.extend(database::replicas::examine_replicas(config, &client).await);
    Ok(findings)
}

fn not_running() -> Finding {
    Finding::warning(
        "database",
        "the project does not run, and DATABASE_URL is not set",
        "start it with `selvedge start`, or set DATABASE_URL to examine a database",
    )
}

/// Examines rows of Auth and Storage, and the audit, in a session that sees what `postgres` sees.
async fn examine_rows(client: &Client) -> Vec<Finding> {
    // Tables of the platform may have other names there. Where that cannot be known, the checks say what they find.
    let is_older = is_platform_older(client).await.unwrap_or(false);
    let mut findings = vec![database::examine_versions(client).await];
    findings.extend(database::identities::examine_identities(client, is_older).await);
    findings.push(database::audit::examine_audit(client, is_older).await);
    findings
}
