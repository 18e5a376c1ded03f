//! `selvedge seed buckets`: fills the configured buckets of a project that runs.

use anyhow::{Result, bail};
use selvedge_config::Config;
use selvedge_database::target::TargetDatabase;
use selvedge_database::{embedded, service_logins};
use selvedge_terminal::GOOD;

use crate::services;

/// Runs `selvedge seed buckets`.
///
/// # Errors
/// When a file cannot be read, or the database or the store refuses it.
pub(super) async fn seed_buckets(config: &Config) -> Result<()> {
    let running = match TargetDatabase::find_required(config).await? {
        TargetDatabase::Running(running) => running,
        TargetDatabase::External(_) => {
            bail!("buckets are filled by the project's own server: leave DATABASE_URL out")
        }
    };
    let logins = service_logins(|role| embedded::login_to_running(&running, role));
    let report = services::fill_buckets(config, logins).await?;
    anstream::println!(
        "{GOOD}filled{GOOD:#} {} buckets, {} objects",
        report.buckets,
        report.written
    );
    Ok(())
}
