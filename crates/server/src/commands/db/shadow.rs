//! A shadow database: a temporary cluster to which the project's migrations are applied.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use selvedge_config::Config;
use selvedge_database::embedded::{self, Embedded};
use selvedge_database::instance;
use selvedge_database::rebuild::{RebuildOptions, rebuild_project};
use selvedge_ports::find_free_port;
use selvedge_postgres::cluster::{Cluster, DATABASE, LockPurpose};
use selvedge_postgres::migrate::{DatabaseState, Migration, apply_pending};
use selvedge_terminal::print_warnings;

/// Its folder in that of the project's data.
const FOLDER: &str = "shadow";

/// A running shadow database.
pub(crate) struct Shadow {
    embedded: Embedded,
    folder: PathBuf,
}

impl Shadow {
    /// Starts it with all migrations applied, and without seeds.
    pub(crate) async fn start(config: &Config) -> Result<Self> {
        Self::start_with(config.clone()).await
    }

    /// Starts it with the project's roles, and without migrations.
    pub(crate) async fn start_without_migrations(config: &Config) -> Result<Self> {
        let mut without_migrations = config.clone();
        without_migrations.db.migrations.enabled = false;
        Self::start_with(without_migrations).await
    }

    /// Applies the project's migrations up to a version.
    pub(crate) async fn apply_up_to(&self, config: &Config, version: &str) -> Result<()> {
        let options = RebuildOptions {
            version: Some(version.to_owned()),
            ..RebuildOptions::default()
        };
        let client = embedded::connect(&self.login()).await?;
        rebuild_project(config, &client, &options, None).await.map(drop)
    }

    /// Applies one migration, which need not be in the project's folder.
    pub(crate) async fn apply(&self, migration: Migration) -> Result<()> {
        let client = embedded::connect(&self.login()).await?;
        apply_pending(&client, &[migration], |line| print_warnings(&[line])).await?;
        Ok(())
    }

    /// Deletes the shadow database of an interrupted command.
    pub(crate) fn remove_leftover(config: &Config) -> Result<()> {
        delete_shadow_database(&config.selvedge.data_dir.join(FOLDER))
    }

    async fn start_with(mut config: Config) -> Result<Self> {
        let folder = config.selvedge.data_dir.join(FOLDER);
        config.selvedge.data_dir.clone_from(&folder);
        config.selvedge.database_url = None;
        config.db.port = find_free_port()?;
        // The library that compares the schemas logs in by TCP.
        config.flags.purpose = LockPurpose::server("db diff");
        config.db.seed.enabled = false;
        // The shadow database of an interrupted command is neither complete nor current.
        delete_shadow_database(&folder)?;
        let embedded = Embedded::start(&config).await?;
        Ok(Self { embedded, folder })
    }

    /// What it consists of, but for rows.
    pub(crate) async fn read_state(&self) -> Result<DatabaseState> {
        let superuser = embedded::connect_privileged(&self.embedded.cluster.superuser_login()).await?;
        Ok(DatabaseState::of_database(&superuser).await?)
    }

    /// The roles that have a password.
    pub(crate) async fn list_roles_with_passwords(&self) -> Result<Vec<String>> {
        const ROLES: &str =
            "select rolname::pg_catalog.text from pg_catalog.pg_authid where rolpassword is not null
            order by rolname";
        let superuser = embedded::connect_privileged(&self.embedded.cluster.superuser_login()).await?;
        let rows = superuser.query(ROLES, &[]).await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// Its URL for `postgres`.
    pub(crate) fn url(&self) -> String {
        instance::database_url(self.embedded.cluster.port(), DATABASE)
    }

    /// The login of `postgres`.
    pub(crate) fn login(&self) -> tokio_postgres::Config {
        self.embedded.administrator_login()
    }

    /// A folder for files of the command, which is deleted with the database.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Stops it and deletes everything.
    pub(crate) async fn remove(self) -> Result<()> {
        self.embedded.cluster.stop().await?;
        delete_shadow_database(&self.folder)
    }
}

fn delete_shadow_database(folder: &Path) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    // The cluster's files are not always in this folder: started as root, they are in one of PostgreSQL's user.
    Cluster::delete_whole(folder, &LockPurpose::command("db diff"))
        .with_context(|| format!("cannot delete {}", folder.display()))
}
