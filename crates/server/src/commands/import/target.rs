//! The database into which a project is imported: that of `DATABASE_URL`, or the project's own, which is started if it does not
//! run.

use anyhow::{Context, Result, bail};
use selvedge_postgres::PrivilegedSession;
use selvedge_postgres::cluster::Cluster;
use selvedge_postgres::migrate::{
    clear_project, discover_migrations, drop_project_roles, fetch_migrations, lock_and_list_attached_code,
};
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

/// The schema public stays, with the rights of a new database. The roles of the API get theirs from the source, which may have
/// taken some away.
const END_CLEAR: &str = "set local session_replication_role = origin;
    revoke all on schema public from anon, authenticated, service_role cascade;
    grant usage on schema public to public";

const CONTENT_OF_SERVICES: &str =
    "select (select count(*) from auth.users), (select count(*) from storage.buckets)";

/// Allows one import into a database at a time; the lock is released when the connection ends.
const LOCK: &str = "select pg_catalog.pg_try_advisory_lock( \
     pg_catalog.hashtextextended('selvedge import'::pg_catalog.text, 0::pg_catalog.int8))";

/// The target database and a superuser's connection to it.
pub(super) struct Target {
    pub(super) client: PrivilegedSession,
    /// A session of `postgres`, for what reads tables of the project.
    pub(super) administrator: Client,
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
                let client = apply_platform_to_external(config, &database).await?;
                let administrator = database.connect_as_postgres().await?;
                Self::begin(client, administrator, None, false).await
            }
            Some(TargetDatabase::Running(running)) => {
                let administrator = embedded::login_to_running(&running, "postgres");
                let administrator = embedded::connect(&administrator).await?;
                let client = embedded::connect_privileged(&running.superuser_login()).await?;
                Self::begin(client, administrator, None, true).await
            }
            None => {
                let cluster = Cluster::start(embedded::cluster_config(config)?).await?;
                let client = embedded::apply_platform_to(config, &cluster).await?;
                let administrator = embedded::connect(&embedded::administrator_login(&cluster)).await?;
                Self::begin(client, administrator, Some(cluster), true).await
            }
        }
    }

    async fn begin(
        client: PrivilegedSession,
        administrator: Client,
        cluster: Option<Cluster>,
        is_embedded: bool,
    ) -> Result<Self> {
        if !client.is_superuser() {
            bail!("an import writes the tables of Auth and Storage, so DATABASE_URL has to name a superuser");
        }
        if !client.query_one(LOCK, &[]).await?.get::<_, bool>(0) {
            bail!("another import into this database is running");
        }
        Ok(Self {
            client,
            administrator,
            cluster,
            is_embedded,
        })
    }

    /// Closes the connection, and stops the cluster if it was started for the import.
    pub(super) async fn close(self) -> Result<()> {
        drop((self.client, self.administrator));
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
        // As `postgres`: the tables may have indexes and rules of the project.
        let rows = self.administrator.query_one(CONTENT_OF_SERVICES, &[]).await?;
        let counts: Vec<String> = ["tables and views", "functions", "users", "buckets"]
            .iter()
            .zip([row.get::<_, i64>(0), row.get(1), rows.get(0), rows.get(1)])
            .map(|(what, count)| (count, what))
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        Ok((!counts.is_empty()).then(|| counts.join(", ")))
    }

    /// Removes the project from the database, in the caller's transaction. Nothing of it may run meanwhile, because the session is a
    /// superuser's: triggers are off, and code that is attached to tables of Auth and Storage in another way is refused.
    pub(super) async fn clear(&self) -> Result<()> {
        let client = &self.client;
        let begin =
            "drop table if exists _selvedge.unfinished_import; set local session_replication_role = replica";
        client.batch_execute(begin).await?;
        let attached = lock_and_list_attached_code(client).await?;
        if !attached.is_empty() {
            bail!(
                "code of the target's project would run with the superuser's rights: {}\n  drop that, or make the target anew with:  \
                 selvedge reset",
                attached.join("; ")
            );
        }
        clear_project(client).await?;
        if self.is_embedded {
            drop_project_roles(client).await?;
        }
        client.batch_execute(END_CLEAR).await?;
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
        for path in fetch_migrations(&self.administrator, &folder, &known).await? {
            anstream::println!("{GOOD}written{GOOD:#} {}", path.display());
        }
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
