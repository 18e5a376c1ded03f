//! Decides which projects can be backed up.

use anyhow::{Result, bail};
use selvedge_config::Config;
use selvedge_database::embedded;

/// Refuses projects whose data these commands cannot take as a whole.
pub(super) fn check_project(config: &Config) -> Result<()> {
    let selvedge = &config.selvedge;
    let is_elsewhere = selvedge.ignored_database_url.is_some() && !embedded::has_cluster(config);
    if selvedge.database_url.is_some() || is_elsewhere {
        bail!(
            "backups are of the embedded cluster, and DATABASE_URL names another database\n  \
             use that server's own backups (pg_dump, pg_basebackup), or unset DATABASE_URL"
        );
    }
    if config.selvedge.s3.is_some() {
        bail!(
            "backups contain objects that are stored in files, and this project's are in a bucket of [selvedge.s3]\n  \
             use the versions or the replication of that bucket, and pg_dump for the database"
        );
    }
    Ok(())
}
