//! The database into which a project is imported: that of `DATABASE_URL`, or the project's own, which is started if it does not
//! run.

use anyhow::{Context, Result, bail};
use selvedge_postgres::cluster::Cluster;
use selvedge_postgres::migrate::{clear_project, discover_migrations, drop_project_roles, fetch_migrations};
use tokio_postgres::Client;

use super::catalog::{find_identity, list_project_schemas};
use crate::commands::apply::apply_platform_to_external;
use crate::config::Config;
use crate::database::embedded;
use crate::database::target::TargetDatabase;
use crate::output::GOOD;

/// This table exists from the commit of the imported database until all objects are copied, too.
const RECORD_BEGIN: &str = "create table _selvedge.unfinished_import (source text not null)";
const RECORD_END: &str = "drop table if exists _selvedge.unfinished_import; notify pgrst, 'reload schema'";

/// Allows one import into a database at a time; the lock is released when the connection ends.
const LOCK: &str = "select pg_try_advisory_lock(hashtextextended('selvedge import', 0))";

/// The target database and a superuser's connection to it.
pub(super) struct Target {
    pub(super) client: Client,
    /// The cluster, if it was started for the import.
    cluster: Option<Cluster>,
    /// Whether the project has the cluster for itself. The cluster's roles are the project's then, and are replaced, too.
    is_embedded: bool,
}

impl Target {
    /// Connects, starting the project's PostgreSQL if necessary, and updates the platform schema.
    ///
    /// # Errors
    /// When the login is no superuser, or another import runs.
    pub(super) async fn open(config: &Config) -> Result<Self> {
        match TargetDatabase::find(config).await? {
            Some(TargetDatabase::External(database)) => {
                let client = database.connect().await?;
                apply_platform_to_external(config, &database, &client).await?;
                Self::begin(client, None, false).await
            }
            Some(TargetDatabase::Running(running)) => {
                let client = embedded::connect(&running.superuser_config()).await?;
                Self::begin(client, None, true).await
            }
            None => {
                let cluster = Cluster::start(embedded::cluster_config(config)?).await?;
                let client = embedded::apply_platform_to(config, &cluster).await?;
                Self::begin(client, Some(cluster), true).await
            }
        }
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

    /// Closes the connection, and stops the cluster if it was started for the import.
    pub(super) async fn close(self) -> Result<()> {
        drop(self.client);
        match self.cluster {
            Some(cluster) => Ok(cluster.stop().await?),
            None => Ok(()),
        }
    }

    /// Returns the database's identity, see [`find_identity`].
    pub(super) async fn identity(&self) -> Result<String> {
        find_identity(&self.client).await
    }

    /// Returns the identity of the source whose database was imported but not all of its objects; `None` without such an import.
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

    /// Describes the project that the database contains, such as `3 tables and views, 2 users`; `None` when it is empty.
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

    /// Removes the project from the database, in the caller's transaction.
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

    /// Records in the import's transaction that the objects are not copied yet.
    pub(super) async fn record_begin(&self, source: &str) -> Result<()> {
        self.client.batch_execute(RECORD_BEGIN).await?;
        self.client
            .execute("insert into _selvedge.unfinished_import values ($1)", &[&source])
            .await?;
        Ok(())
    }

    /// Writes the source's migrations to files, as far as the folder does not have them: `start` refuses a history of migrations
    /// without files.
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
            // Keeps the next start from running seeds. It comes first, because a crash between the two steps must not leave a
            // finished import that would be seeded.
            embedded::mark_initialized(config)?;
        }
        self.client
            .batch_execute(RECORD_END)
            .await
            .context("the end of the import cannot be recorded")
    }
}
