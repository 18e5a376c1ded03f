//! Makes the project's part of a running database again: `db reset` and `migration down`.

use anyhow::{Result, bail};
use selvedge_config::Config;
use selvedge_postgres::PrivilegedSession;
use selvedge_postgres::cluster::ClusterAccess;
use selvedge_postgres::migrate::{
    self, DatabaseState, DiscoveredMigrations, MigrateError, Migration, apply_pending, apply_roles,
    begin_clear_project, check_project_unlocked, clear_project, discover_migrations, drop_project_roles,
    explain_emptied, reset_auto_expose, reset_external,
};
use selvedge_terminal::{print_note, print_warnings};
use tokio_postgres::Client;

use crate::embedded::vault_secrets::write_vault_secrets;
use crate::embedded::{self, Report};
use crate::queues::settle_queues;
use crate::state::initialized::{note_emptying, settle_emptying};
use crate::whole_cluster::cluster_roles;

/// How everything of a project's own database is made again, where it cannot be made as in a fresh project.
const ANEW: &str = "selvedge stop, selvedge reset";

/// How far a database is made again.
#[derive(Debug, Default)]
pub struct RebuildOptions {
    /// The newest version that is applied; `None` for all.
    pub version: Option<String>,
    /// Whether seeds run.
    pub seed: bool,
}

/// What a fresh database of the platform consists of, with a superuser's session to the database that becomes equal to it.
pub enum Platform {
    /// The database of a cluster that this program runs, with its roles.
    Own {
        session: PrivilegedSession,
        fresh: DatabaseState,
        /// The secret from which the passwords of the platform's roles are derived.
        access: ClusterAccess,
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
pub async fn rebuild_project(
    config: &Config,
    administrator: &Client,
    options: &RebuildOptions,
    platform: Option<&Platform>,
) -> Result<Report> {
    let found = find_migrations(config, options.version.as_deref())?;
    print_warnings(&found.warnings);
    empty(config, administrator, platform).await?;
    let filled = fill(config, administrator, &found.migrations, options.seed).await;
    if filled.is_err() && platform.is_some() {
        print_note(
            "the database was emptied before; the files before the one that failed are applied. Mend it, then repeat the command",
        );
    }
    filled
}

/// Checks what [`rebuild_project`] will read and run, before anything is changed.
///
/// # Errors
/// When there is no migration of that version, or a file of the project would be refused on an empty database; on another server also when
/// one creates a role that exists there.
pub async fn check_before_rebuild(
    config: &Config,
    administrator: &Client,
    options: &RebuildOptions,
    roles_stay: bool,
) -> Result<()> {
    let found = find_migrations(config, options.version.as_deref())?;
    let roles = config.project.folder.join("roles.sql");
    Ok(migrate::check_before_rebuild(administrator, &roles, &found.migrations, roles_stay).await?)
}

/// Drops what the project has created, and compares with a fresh database.
async fn empty(config: &Config, administrator: &Client, platform: Option<&Platform>) -> Result<()> {
    match platform {
        Some(Platform::Own {
            session,
            fresh,
            access,
        }) => {
            fresh.check_unlocked(session).await?;
            begin_clear_own(administrator, session, fresh).await?;
            // From here on the next start fills the database, also when this command is interrupted.
            note_emptying(config, administrator).await?;
            if let Err(error) = administrator.batch_execute("commit").await {
                // Where the connection is lost, the next start finds out.
                settle_emptying(config, session).await.ok();
                return Err(error.into());
            }
            match restore_own(config, administrator, session, fresh, access).await {
                Ok(left) => report_differences(
                    &left,
                    ", and cannot be made so while the project runs",
                    &format!("\n  to make everything anew:  {ANEW}"),
                ),
                Err(error) => {
                    return Err(match error.downcast::<MigrateError>() {
                        Ok(error) => explain_emptied(session, error, ANEW).await.into(),
                        Err(error) => error,
                    });
                }
            }
        }
        Some(Platform::External { session, fresh }) => {
            let left = reset_external(fresh, administrator, session.as_deref()).await?;
            report_differences(&left, "", "");
        }
        None => {
            clear_project(administrator, &[]).await?;
            drop_project_roles(administrator).await?;
        }
    }
    Ok(())
}

/// Makes an emptied database as a fresh one is. Returns the names of what still differs.
async fn restore_own(
    config: &Config,
    administrator: &Client,
    session: &PrivilegedSession,
    fresh: &DatabaseState,
    access: &ClusterAccess,
) -> Result<Vec<String>> {
    for client in [administrator, &**session] {
        client
            .batch_execute("set lock_timeout = '10s'")
            .await
            .map_err(MigrateError::from)?;
    }
    // What `postgres` needs to drop the project's roles, a migration may have taken from it.
    fresh.restore_roles(session).await?;
    // Roles that have got REPLICATION have lost their passwords.
    cluster_roles::set_passwords(access, session, false).await?;
    drop_project_roles(administrator).await?;
    // A migration may have changed the default privileges, and may not be there any more.
    reset_auto_expose(session, embedded::exposes_new_tables(config)).await?;
    let left = fresh.restore(session, administrator).await?;
    for client in [administrator, &**session] {
        client
            .batch_execute("reset lock_timeout")
            .await
            .map_err(MigrateError::from)?;
    }
    Ok(left)
}

/// Empties the database in a transaction that stays open. A migration may have taken from `postgres` what it needs for that; then roles
/// are made as in a fresh project before, and as they were when the emptying is refused nevertheless.
async fn begin_clear_own(
    administrator: &Client,
    session: &PrivilegedSession,
    fresh: &DatabaseState,
) -> Result<(), MigrateError> {
    let kept = fresh.list_taken_over(session).await?;
    match begin_clear_project(administrator, &kept).await {
        Err(error) if error.is_denied() => {}
        outcome => return outcome,
    }
    // Waited for before the roles are changed, which a command that is killed meanwhile could not undo.
    check_project_unlocked(session).await?;
    let before = DatabaseState::of_database(session).await?;
    fresh.restore_roles(session).await?;
    let outcome = begin_clear_project(administrator, &kept).await;
    if outcome.is_err() {
        before.restore_roles(session).await?;
    }
    outcome
}

/// Applies roles, migrations and seeds to an empty database.
async fn fill(
    config: &Config,
    administrator: &Client,
    migrations: &[Migration],
    seed: bool,
) -> Result<Report> {
    write_vault_secrets(administrator, &config.db.vault).await?;
    let warn = |line: String| print_warnings(&[line]);
    apply_roles(administrator, &config.project.folder.join("roles.sql"), warn).await?;
    let applied = apply_pending(administrator, migrations, warn).await?;
    settle_queues(config.selvedge.queues.expose, administrator).await?;
    let seeds = if seed {
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
    print_warnings(&[format!(
        "this is not as in a fresh project{why}:\n  {shown}{advice}"
    )]);
}

/// The project's migrations up to a version, all without one.
fn find_migrations(config: &Config, version: Option<&str>) -> Result<DiscoveredMigrations> {
    if !config.db.migrations.enabled {
        return Ok(DiscoveredMigrations::default());
    }
    let mut found = discover_migrations(&embedded::migrations_folder(config))?;
    let migrations = &mut found.migrations;
    if let Some(version) = version {
        // A version before all migrations is meant by `migration down` of all of them.
        if !version.is_empty() && !migrations.iter().any(|migration| migration.version == version) {
            bail!("there is no migration of version {version}");
        }
        migrations.retain(|migration| migration.version.as_str() <= version);
    }
    Ok(found)
}

/// The version at which the database is when its `last` newest migrations are left out; empty when that leaves none.
///
/// # Errors
/// When fewer than `last` migrations are applied.
pub async fn find_version_before(config: &Config, administrator: &Client, last: usize) -> Result<String> {
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
