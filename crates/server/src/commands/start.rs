//! `selvedge start`: runs the whole project on this machine, for development.

use std::time::Instant;

use anyhow::{Result, bail};
use selvedge_config::{Config, Mode};
use selvedge_database::embedded::{self, Embedded, Report};
use selvedge_database::initialized::mark_initialized;
use selvedge_gateway::logging::LogFormat;
use selvedge_keys::{KeySet, signing_keys};
use selvedge_postgres::cluster::Cluster;
use selvedge_storage::SeedReport;
use selvedge_terminal::{DIM, print_warnings};

use super::development::{self, Listeners, LocalServices};
use super::logging::start_logging;
use super::{shutdown, summary};
use crate::services::{BackgroundRuntime, Services};

/// Only warnings and errors, so that the summary stays readable in the terminal, and what edge functions print.
const DEFAULT_LOG_FILTER: &str = "warn,edge_function=info";

/// Runs the project until a signal arrives. `after_summary` prints lines below the summary of the start.
pub(super) async fn run(mut config: Config, after_summary: fn(&Config)) -> Result<()> {
    let started = Instant::now();
    let local_services = LocalServices::from_config(&config);
    development::decide_on_inbox(&mut config);
    start_logging(&config, LogFormat::Pretty, DEFAULT_LOG_FILTER);
    // Checked before the ports are bound, because "already running" is more helpful than "port in use".
    if let Some(holder) = Cluster::find_running(&config.selvedge.data_dir)? {
        match holder.is_server() {
            true => bail!("{holder}\n  stop it with `selvedge stop`, or look at it with `selvedge status`"),
            false => bail!("{holder}"),
        }
    }
    if let Some(path) = signing_keys::find_missing_file(&config) {
        print_warnings(&[format!(
            "auth.signing_keys_path names {}, which is not there; user tokens are signed with the development key \
             (make the file with `selvedge keys rotate`)",
            path.display()
        )]);
    }
    embedded::print_note_about_exposed_tables(&config);
    development::print_local_services(&local_services, &config);
    let keys = KeySet::for_development(&config)?;
    let listeners = Listeners::bind(&mut config)?;
    let mut signals = shutdown::Signals::listen()?;
    // Ctrl-C must work during initdb and long migrations, too.
    let mut embedded = tokio::select! {
        started = Embedded::start(&config) => started?,
        () = signals.next() => bail!("interrupted while the database was starting"),
    };
    let print_all = |report: &Report, buckets: &SeedReport| {
        summary::print_summary(&config, &keys, report, buckets, started.elapsed());
        after_summary(&config);
    };
    let outcome = serve_until_stopped(&config, &keys, &mut embedded, listeners, signals, print_all).await;
    // PostgreSQL is stopped in any case; the reason why serving ended is the more useful error.
    let stopped = embedded.cluster.stop().await;
    outcome?;
    stopped?;
    anstream::eprintln!("{DIM}stopped{DIM:#} {}", config.project.id);
    Ok(())
}

async fn serve_until_stopped(
    config: &Config,
    keys: &KeySet,
    embedded: &mut Embedded,
    listeners: Listeners,
    signals: shutdown::Signals,
    print_all: impl FnOnce(&Report, &SeedReport),
) -> Result<()> {
    let background = BackgroundRuntime::new()?;
    let services = Services::connect(&background, config, embedded.logins(), keys, Mode::Development)
        .await?
        .with_meta(config, embedded::service_login(&embedded.cluster, "postgres"))
        .await?;
    // Buckets are seeded on the first start only, so that later changes made by the developer are kept.
    let buckets = if embedded.report.is_first {
        services.seed_buckets(config).await?
    } else {
        SeedReport::default()
    };
    // Only now, with buckets and seeds done: a first start that fails before this is repeated as a whole.
    mark_initialized(config)?;
    let health = services.health();
    let plan = shutdown::StopPlan::from_services(&services, config);
    let handles = development::start_servers(config, keys, services, listeners).await?;
    print_all(&embedded.report, &buckets);
    let lost = embedded
        .cluster
        .keep_running(|runs| health.set_database_restarting(!runs));
    shutdown::wait_and_stop(signals, handles, plan, lost).await
}
