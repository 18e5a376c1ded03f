//! `selvedge seed buckets`: fills the configured buckets of a project that runs.

use anyhow::{Result, bail};
use selvedge_postgres::cluster::Cluster;

use crate::config::Config;
use crate::database::{embedded, service_logins};
use crate::output::GOOD;
use crate::services;

/// Runs `selvedge seed buckets`.
///
/// # Errors
/// When a file cannot be read, or the database or the store refuses it.
pub(super) async fn seed_buckets(config: &Config) -> Result<()> {
    let Some(holder) = Cluster::find_running(&config.selvedge.data_dir)? else {
        bail!(
            "{} is not running\n  start it with:  selvedge start",
            config.project.id
        );
    };
    let logins = service_logins(|role| embedded::login_to_running(&holder, role));
    let report = services::fill_buckets(config, logins).await?;
    anstream::println!(
        "{GOOD}filled{GOOD:#} {} buckets, {} objects",
        report.buckets,
        report.written
    );
    Ok(())
}
