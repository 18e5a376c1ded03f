//! Makes the project's part of a running database again: `db reset` and `migration down`.

use anyhow::{Result, bail};
use selvedge_postgres::PrivilegedSession;
use selvedge_postgres::migrate::{
    DatabaseState, Migration, apply_pending, apply_roles, clear_project, discover_migrations,
    drop_project_roles, reset_external,
};
use tokio_postgres::Client;

use super::embedded::{self, Report};
use super::vault_secrets::write_vault_secrets;
use crate::config::Config;
use crate::output;

/// How far a database is made again.
#[derive(Debug, Default)]
pub(crate) struct RebuildOptions {
    /// The newest version that is applied; `None` for all.
    pub(crate) version: Option<String>,
    /// Whether seeds run.
    pub(crate) seed: bool,
}

/// What a fresh database of the platform consists of, with a superuser's session to the database that becomes equal to it.
pub(crate) enum Platform {
    /// The database of a cluster that this program runs, with its roles.
    Own {
        session: PrivilegedSession,
        fresh: DatabaseState,
    },
    /// One on another server, where roles and settings belong to others.
    External {
        /// `None` where the database URL is not a superuser's.
        session: Option<PrivilegedSession>,
        fresh: DatabaseState,
    },
}

/// Drops what the project has created, then applies its roles, migrations and seeds. With `platform` everything is compared with a fresh
/// database before these run; without it, as in a shadow database, what a project has changed of the platform's own objects stays.
///
/// # Errors
/// A file that cannot be read, or a statement that fails. Migrations before the failing one stay applied.
pub(crate) async fn rebuild_project(
    config: &Config,
    administrator: &Client,
    options: &RebuildOptions,
    platform: Option<&Platform>,
) -> Result<Report> {
    let migrations = find_migrations(config, options.version.as_deref())?;
    match platform {
        Some(Platform::Own { session, fresh }) => {
            // A migration may have taken from `postgres` what it needs to remove the rest.
            fresh.restore_roles(session).await?;
            clear_project(administrator).await?;
            drop_project_roles(administrator).await?;
            report_differences(
                &fresh.restore(session).await?,
                ", and cannot be made so while the project runs",
                "\n  to make everything anew:  selvedge stop, selvedge reset",
            );
        }
        Some(Platform::External { session, fresh }) => {
            let left = reset_external(fresh, administrator, session.as_deref()).await?;
            report_differences(&left, "", "");
        }
        None => {
            clear_project(administrator).await?;
            drop_project_roles(administrator).await?;
        }
    }
    write_vault_secrets(administrator, &config.db.vault).await?;
    let warn = |line: String| output::print_warnings(&[line]);
    apply_roles(administrator, &config.project.folder.join("roles.sql"), warn).await?;
    let applied = apply_pending(administrator, &migrations, warn).await?;
    let seeds = if options.seed {
        embedded::run_seeds(config, administrator).await?
    } else {
        Vec::new()
    };
    Ok(Report {
        is_first: true,
        migrations: applied.into_iter().map(embedded::file_name).collect(),
        seeds,
    })
}

/// Says what is not as in a fresh project, why, and what to do about it.
fn report_differences(names: &[String], why: &str, advice: &str) {
    const SHOWN: usize = 10;
    if names.is_empty() {
        return;
    }
    let mut shown = names[..names.len().min(SHOWN)].join("\n  ");
    if names.len() > SHOWN {
        shown += &format!("\n  and {} more", names.len() - SHOWN);
    }
    output::print_warnings(&[format!(
        "this is not as in a fresh project{why}:\n  {shown}{advice}"
    )]);
}

/// The project's migrations up to a version, all without one.
fn find_migrations(config: &Config, version: Option<&str>) -> Result<Vec<Migration>> {
    if !config.db.migrations.enabled {
        return Ok(Vec::new());
    }
    let found = discover_migrations(&embedded::migrations_folder(config))?;
    output::print_warnings(&found.warnings);
    let mut migrations = found.migrations;
    if let Some(version) = version {
        // A version before all migrations is meant by `migration down` of all of them.
        if !version.is_empty() && !migrations.iter().any(|migration| migration.version == version) {
            bail!("there is no migration of version {version}");
        }
        migrations.retain(|migration| migration.version.as_str() <= version);
    }
    Ok(migrations)
}

/// The version at which the database is when its `last` newest migrations are left out; empty when that leaves none.
///
/// # Errors
/// When fewer than `last` migrations are applied.
pub(crate) async fn find_version_before(
    config: &Config,
    administrator: &Client,
    last: usize,
) -> Result<String> {
    let statuses = embedded::list_migrations(config, administrator).await?;
    let applied: Vec<String> = statuses
        .into_iter()
        .filter(|status| status.state == selvedge_postgres::migrate::MigrationState::Applied)
        .map(|status| status.version)
        .collect();
    match applied.len().checked_sub(last) {
        None => bail!("only {} migrations are applied", applied.len()),
        Some(0) => Ok(String::new()),
        Some(kept) => Ok(applied[kept - 1].clone()),
    }
}
