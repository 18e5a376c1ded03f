//! The database into which a project is imported: the project's own, started for that if it does not run, or that of
//! `DATABASE_URL`.

use anyhow::{Context, Result, bail};
use selvedge_postgres::cluster::{Cluster, ClusterConfig};
use selvedge_postgres::migrate::{clear_project, discover_migrations, drop_project_roles, fetch_migrations};
use tokio_postgres::Client;

use super::catalog::{find_identity, list_project_schemas};
use crate::commands::apply::apply_platform_to_external;
use crate::config::Config;
use crate::database::embedded;
use crate::database::external::ExternalDatabase;
use crate::output::GOOD;

/// Exists from the commit of the imported database until its objects are there, too.
const BEGIN: &str = "create table _selvedge.unfinished_import (source text not null)";
const END: &str = "drop table if exists _selvedge.unfinished_import; notify pgrst, 'reload schema'";

/// One import at a time; the lock ends with the connection.
const LOCK: &str = "select pg_try_advisory_lock(hashtextextended('selvedge import', 0))";

/// The target, over a superuser's connection.
pub(super) struct Target {
    pub(super) client: Client,
    /// The cluster that was started for the import.
    cluster: Option<Cluster>,
    /// Whether it is a database of its own, so that its roles belong to the project, too.
    is_embedded: bool,
}

impl Target {
    /// Connects and brings the platform's schema up to date.
    pub(super) async fn open(config: &Config) -> Result<Self> {
        if let Some(url) = &config.selvedge.database_url {
            let database = ExternalDatabase::parse(url)?;
            let client = database.connect().await?;
            apply_platform_to_external(config, &database, &client).await?;
            return Self::begin(client, None, false).await;
        }
        if let Some(holder) = Cluster::find_running(&config.selvedge.data_dir)? {
            let login = Cluster::superuser_of_running(&config.selvedge.data_dir, &holder)?;
            return Self::begin(embedded::connect(&login).await?, None, true).await;
        }
        let cluster = Cluster::start(ClusterConfig {
            // Nobody else needs this PostgreSQL, so it takes no port.
            listen_tcp: false,
            ..embedded::cluster_config(config)?
        })
        .await?;
        let client = embedded::apply_platform_to(config, &cluster).await?;
        Self::begin(client, Some(cluster), true).await
    }

    async fn begin(client: Client, cluster: Option<Cluster>, is_embedded: bool) -> Result<Self> {
        client
            .batch_execute("set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set search_path = ''")
            .await?;
        let is_superuser: String = client.query_one("show is_superuser", &[]).await?.get(0);
        if is_superuser != "on" {
            bail!("an import writes the tables of Auth and Storage, so DATABASE_URL has to name a superuser");
        }
        if !client.query_one(LOCK, &[]).await?.get::<_, bool>(0) {
            bail!("another import into this database is running");
        }
        Ok(Self {
            client,
            cluster,
            is_embedded,
        })
    }

    /// Stops the cluster if it was started for the import.
    pub(super) async fn close(self) -> Result<()> {
        drop(self.client);
        match self.cluster {
            Some(cluster) => Ok(cluster.stop().await?),
            None => Ok(()),
        }
    }

    pub(super) async fn identity(&self) -> Result<String> {
        find_identity(&self.client).await
    }

    /// The source of an import that has not been finished.
    pub(super) async fn find_unfinished(&self) -> Result<Option<String>> {
        if !embedded::has_unfinished_import(&self.client).await? {
            return Ok(None);
        }
        let row = self
            .client
            .query_one("select source from _selvedge.unfinished_import", &[])
            .await?;
        Ok(Some(row.get(0)))
    }

    /// Says what the database has of a project; `None` when it has nothing.
    pub(super) async fn describe_content(&self) -> Result<Option<String>> {
        let schemas = list_project_schemas(&self.client).await?;
        let row = self
            .client
            .query_one(include_str!("sql/content.sql"), &[&schemas])
            .await?;
        let counts: Vec<String> = ["tables and views", "functions", "users", "buckets"]
            .iter()
            .enumerate()
            .map(|(index, what)| (row.get::<_, i64>(index), what))
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        Ok((!counts.is_empty()).then(|| counts.join(", ")))
    }

    /// Removes what the database has of a project, in the transaction that the caller has opened.
    pub(super) async fn clear(&self) -> Result<()> {
        let client = &self.client;
        client
            .batch_execute(
                "drop table if exists _selvedge.unfinished_import; set local session authorization postgres",
            )
            .await?;
        clear_project(client).await?;
        if self.is_embedded {
            drop_project_roles(client).await?;
        }
        client.batch_execute("reset session authorization").await?;
        Ok(())
    }

    /// Records, in the transaction of the import, that objects are still missing.
    pub(super) async fn record_begin(&self, source: &str) -> Result<()> {
        self.client.batch_execute(BEGIN).await?;
        self.client
            .execute("insert into _selvedge.unfinished_import values ($1)", &[&source])
            .await?;
        Ok(())
    }

    /// Writes files for the migrations of the source that the folder lacks, because a start refuses a history without files.
    pub(super) async fn write_migration_files(&self, config: &Config) -> Result<()> {
        if !self.is_embedded {
            return Ok(());
        }
        let folder = embedded::migrations_folder(config);
        let known = discover_migrations(&folder)?.migrations;
        let as_postgres = "set session authorization postgres";
        self.client.batch_execute(as_postgres).await?;
        for path in fetch_migrations(&self.client, &folder, &known).await? {
            anstream::println!("{GOOD}written{GOOD:#} {}", path.display());
        }
        self.client.batch_execute("reset session authorization").await?;
        Ok(())
    }

    /// Records that the import is complete.
    pub(super) async fn record_end(&self, config: &Config) -> Result<()> {
        if self.cluster.is_some() {
            // The next start must not run seeds. Recorded first, because the other way round a crash between the two would
            // leave a database that a start would seed.
            embedded::mark_initialized(config)?;
        }
        self.client
            .batch_execute(END)
            .await
            .context("the end of the import cannot be recorded")
    }
}
