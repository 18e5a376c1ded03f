//! The database that a command works on: that of `--db-url` or `DATABASE_URL`, else the project's own.

use anyhow::Result;
use selvedge_postgres::cluster::{Cluster, LockHolder};
use tokio_postgres::Client;

use super::embedded::{self, Embedded};
use super::external::ExternalDatabase;
use crate::config::Config;

/// A database that accepts connections.
pub(crate) enum TargetDatabase {
    /// A database on a server that this program does not run.
    External(Box<ExternalDatabase>),
    /// The database of the running instance.
    Running(LockHolder),
}

impl TargetDatabase {
    /// The database of `--db-url` or `DATABASE_URL`, else that of the running instance; `None` when the project does not
    /// run.
    pub(crate) fn find(config: &Config) -> Result<Option<Self>> {
        if let Some(url) = &config.selvedge.database_url {
            let database = ExternalDatabase::parse(url)?;
            return Ok(Some(Self::External(Box::new(database))));
        }
        Ok(Cluster::find_running(&config.selvedge.data_dir)?.map(Self::Running))
    }

    /// Connects as `postgres`, under whose rights everything of the project is made.
    pub(crate) async fn connect(&self) -> Result<Client> {
        match self {
            Self::Running(holder) => embedded::connect(&embedded::login_to_running(holder, "postgres")).await,
            Self::External(database) => {
                let client = database.connect().await?;
                database.become_administrator(&client).await?;
                Ok(client)
            }
        }
    }
}

/// Runs `work` on the database as `postgres`. When the project does not run, its cluster is started for that and stopped
/// afterwards, without applying migrations.
pub(crate) async fn run_on_database<T>(
    config: &Config,
    work: impl AsyncFnOnce(&mut Client) -> Result<T>,
) -> Result<T> {
    if let Some(database) = TargetDatabase::find(config)? {
        return work(&mut database.connect().await?).await;
    }
    let cluster = embedded::start_cluster(config).await?;
    let outcome = async {
        // In a project that has never been started, the role `postgres` is only made now.
        embedded::apply_platform_to(config, &cluster).await?;
        let login = embedded::administrator_login(&cluster);
        work(&mut embedded::connect(&login).await?).await
    }
    .await;
    // The cluster is stopped before an error is returned, so that no PostgreSQL is left running.
    cluster.stop().await?;
    outcome
}

/// Runs `work` on the database as `postgres`. When the project does not run, its cluster is started with all migrations
/// applied, and stopped afterwards.
pub(crate) async fn run_on_migrated_database<T>(
    config: &Config,
    work: impl AsyncFnOnce(&mut Client) -> Result<T>,
) -> Result<T> {
    if let Some(database) = TargetDatabase::find(config)? {
        return work(&mut database.connect().await?).await;
    }
    let embedded = Embedded::start(config).await?;
    let outcome = match embedded::connect(&embedded.administrator_login()).await {
        Ok(mut client) => work(&mut client).await,
        Err(error) => Err(error),
    };
    // The cluster is stopped before an error is returned, so that no PostgreSQL is left running.
    embedded.cluster.stop().await?;
    outcome
}
