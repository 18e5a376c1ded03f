//! The project's own database: an embedded cluster, brought to the shape the project needs.

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use secrecy::SecretString;
use selvedge_postgres::Logins;
use selvedge_postgres::cluster::{Cluster, ClusterConfig, ClusterError};
use selvedge_postgres::migrate::{
    self, Migration, RolePasswords, SeedOutcome, apply_pending, apply_platform, apply_roles, apply_seeds,
    discover, find_seeds, set_auto_expose_new_tables, set_role_passwords,
};
use tokio_postgres::Client;

use crate::config::Config;
use crate::listen::{self, DATABASE_PORT};
use crate::output;
use crate::status::{DATABASE_PASSWORD, Ports};

/// Present once the first start got through: without it seeds and buckets are (still) due.
const INITIALIZED: &str = "initialized";

/// What `sql_paths` is unless somebody changed it.
const DEFAULT_SEED: &str = "./seed.sql";

/// A running cluster in the project's shape.
pub(crate) struct Embedded {
    pub(crate) cluster: Cluster,
    pub(crate) report: Report,
}

/// What bringing the database up has done.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// True until the first start of this project has got through.
    pub(crate) is_first: bool,
    /// File names of the migrations applied now.
    pub(crate) migrations: Vec<String>,
    /// Names of the seed files run now.
    pub(crate) seeds: Vec<String>,
}

/// Starts the cluster and nothing else.
pub(crate) async fn start_cluster(config: &Config) -> Result<Cluster> {
    let settings = config.db.settings.iter().cloned().collect();
    let cluster = Cluster::start(ClusterConfig {
        state_dir: config.own.data_dir.clone(),
        pg_bin: config.own.pg_bin.clone(),
        port: config.db.port,
        settings,
        service_ports: Ports::to_lock(config),
        ..ClusterConfig::for_project(&config.project.folder)
    });
    cluster.await.map_err(|error| match error {
        ClusterError::PortTaken { port } => listen::taken(port, DATABASE_PORT),
        other => anyhow!(other),
    })
}

impl Embedded {
    /// Starts the cluster and brings it up to date: platform schema, roles, migrations, and on the first
    /// start seeds. Buckets follow when storage runs; then [`Embedded::mark_initialized`].
    pub(crate) async fn start(config: &Config) -> Result<Self> {
        let cluster = start_cluster(config).await?;
        warn_about_version(config, &cluster);
        // A failure must not leave PostgreSQL behind: dropping the cluster ends it.
        let report = bring_up(config, &cluster).await?;
        Ok(Self { cluster, report })
    }

    /// Remembers that the first start got through.
    pub(crate) fn mark_initialized(&self, config: &Config) -> Result<()> {
        let marker = marker(config);
        std::fs::write(&marker, "").with_context(|| format!("cannot write {}", marker.display()))
    }

    /// How the services log in: over the socket, each under its own role.
    pub(crate) fn logins(&self) -> Logins {
        let password = SecretString::from(DATABASE_PASSWORD);
        let login = |role| self.cluster.config_for(role, &password);
        Logins::new(
            login("authenticator"),
            login("supabase_auth_admin"),
            login("supabase_storage_admin"),
        )
    }
}

/// Forgets that there was a first start.
pub(crate) fn forget_initialized(config: &Config) -> Result<()> {
    match std::fs::remove_file(marker(config)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot delete {}", marker(config).display()))
        }
        _ => Ok(()),
    }
}

fn marker(config: &Config) -> PathBuf {
    config.own.data_dir.join(INITIALIZED)
}

async fn bring_up(config: &Config, cluster: &Cluster) -> Result<Report> {
    let is_first = cluster.is_new() || !marker(config).exists();
    let superuser = connect(&cluster.superuser_config()).await?;
    let platform = apply_platform(&superuser).await?;
    let password = SecretString::from(DATABASE_PASSWORD);
    if is_first || !platform.applied.is_empty() {
        set_role_passwords(&superuser, &RolePasswords::all(&password)).await?;
    }
    let expose = config.api.auto_expose_new_tables.unwrap_or(true);
    set_auto_expose_new_tables(&superuser, expose).await?;
    let administrator = connect(&cluster.config_for("postgres", &password)).await?;
    if is_first {
        apply_roles(&administrator, &config.project.folder.join("roles.sql")).await?;
    }
    let migrations = apply_migrations(config, &administrator).await?;
    let seeds = if is_first {
        seed(config, &administrator).await?
    } else {
        Vec::new()
    };
    Ok(Report {
        is_first,
        migrations,
        seeds,
    })
}

/// Applies the project's pending migrations as `postgres`; returns their file names.
pub(crate) async fn apply_migrations(config: &Config, administrator: &Client) -> Result<Vec<String>> {
    if !config.db.migrations.enabled {
        return Ok(Vec::new());
    }
    let found = discover(&migrations_folder(config))?;
    output::warn(&found.warnings);
    let warn = |line: String| output::warn(&[line]);
    let applied = apply_pending(administrator, &found.migrations, warn).await?;
    Ok(applied.into_iter().map(file_name).collect())
}

/// Where the project's migrations are.
pub(crate) fn migrations_folder(config: &Config) -> PathBuf {
    config.project.folder.join("migrations")
}

async fn seed(config: &Config, administrator: &Client) -> Result<Vec<String>> {
    // A folder without a project has nothing to miss.
    if !config.db.seed.enabled || !config.project.folder.is_dir() {
        return Ok(Vec::new());
    }
    let (seeds, warnings) = find_seeds(&config.project.folder, &config.db.seed.sql_paths)?;
    // Every new project names ./seed.sql, and few have one: that is no news.
    if config.db.seed.sql_paths != [DEFAULT_SEED] {
        output::warn(&warnings);
    }
    let outcomes = apply_seeds(administrator, &seeds, |line| output::warn(&[line])).await?;
    let applied = outcomes
        .into_iter()
        .filter(|(_, outcome)| *outcome == SeedOutcome::Applied);
    Ok(applied.map(|(seed, _)| seed.name.clone()).collect())
}

fn file_name(migration: &Migration) -> String {
    let name = migration.path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn warn_about_version(config: &Config, cluster: &Cluster) {
    let asked = config.db.major_version;
    let running = cluster.binaries().major_version();
    if asked.is_explicit && u32::from(asked.number) != running {
        output::note(&format!(
            "the project was made for PostgreSQL {}, this is PostgreSQL {running}",
            asked.number
        ));
    }
}

/// A connection to the project's own database.
pub(crate) async fn connect(login: &tokio_postgres::Config) -> Result<Client> {
    selvedge_postgres::connect(login)
        .await
        .context("cannot log in to the project's database")
}

/// What is applied and what is not, for `migrate list`.
pub(crate) async fn list_migrations(
    config: &Config,
    administrator: &Client,
) -> Result<Vec<migrate::MigrationStatus>> {
    let found = discover(&migrations_folder(config))?;
    output::warn(&found.warnings);
    Ok(migrate::list(administrator, &found.migrations).await?)
}
