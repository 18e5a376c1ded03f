//! The cluster that becomes the template.

use std::{collections::BTreeMap, path::PathBuf};

use crate::cluster::{Binaries, Cluster, ClusterConfig, ClusterError, LockPurpose};
use crate::migrate::{MigrateError, apply_platform};

/// PostgreSQL need not wait for the disk, because the finished template is synced as a whole.
const UNSYNCED: [(&str, &str); 2] = [("fsync", "off"), ("full_page_writes", "off")];

/// Removes the password that initdb has set, the only one. Each copy gets one of its own.
const FORGET_PASSWORD: &str = "alter role supabase_admin password null";

const COUNT_PASSWORDS: &str = "
    select pg_catalog.count(*) from pg_catalog.pg_authid where rolpassword is not null";

/// Why the cluster could not be made.
#[derive(Debug, thiserror::Error)]
pub(super) enum MakeError {
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    #[error(transparent)]
    Migrate(#[from] MigrateError),
    #[error(transparent)]
    Database(#[from] tokio_postgres::Error),
    #[error("the platform schema gives a role a password")]
    Password,
}

/// Makes a cluster with the platform schema in a folder, and shuts it down. Returns its data directory.
pub(super) async fn make_cluster(
    config: &ClusterConfig,
    binaries: &Binaries,
    state_dir: PathBuf,
) -> Result<PathBuf, MakeError> {
    let settings = UNSYNCED.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let cluster = Cluster::start(ClusterConfig {
        project_id: "template".to_owned(),
        project_dir: state_dir.clone(),
        state_dir,
        pg_bin: Some(binaries.folder().to_owned()),
        listen_tcp: false,
        settings: BTreeMap::from(settings),
        extensions: Vec::new(),
        superuser_password: None,
        service_ports: Vec::new(),
        purpose: LockPurpose::command("start"),
        process_memory: None,
        ..config.clone()
    })
    .await?;
    let data_dir = cluster.data_dir().to_owned();
    let session = cluster.superuser_login().connect().await?;
    apply_platform(&session).await?;
    session.batch_execute(FORGET_PASSWORD).await?;
    let passwords: i64 = session.query_one(COUNT_PASSWORDS, &[]).await?.get(0);
    drop(session);
    cluster.stop().await?;
    match passwords {
        0 => Ok(data_dir),
        _ => Err(MakeError::Password),
    }
}
