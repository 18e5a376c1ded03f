//! `selvedge migration squash`: replaces the project's migrations up to a version by one that makes the same schema.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, bail};
use selvedge_config::Config;
use selvedge_database::additions::{Addition, list_additions, write_additions};
use selvedge_database::embedded;
use selvedge_database::external::ExternalDatabase;
use selvedge_database::identity::find_identity;
use selvedge_database::target::run_on_database;
use selvedge_database::unfinished_squash::{
    complete_files, correct_history, finish_squash, refuse_other_database,
};
use selvedge_postgres::migrate::{
    DatabaseState, Migration, MigrationState, MigrationStatus, SquashJournal, discover_files,
    discover_migrations, join_statements, replace_file,
};
use selvedge_project_trust::check_place;
use selvedge_terminal::{GOOD, WARN, list_names};

use super::dump::dump_login;
use super::shadow::Shadow;
use crate::cli::{DumpArgs, SquashArgs};

/// Runs `selvedge migration squash`.
///
/// # Errors
/// When a migration fails in the shadow database, or a file cannot be written.
pub(crate) async fn run(config: &Config, args: &SquashArgs) -> Result<()> {
    let folder = embedded::migrations_folder(config);
    check_place(&config.project, &folder)?;
    if let Some(journal) = SquashJournal::find(&folder)? {
        Shadow::remove_leftover(config)?;
        let is_this_one = is_squash_of(&folder, &journal, args.version.as_deref())?;
        finish(config, journal).await?;
        if is_this_one {
            return Ok(());
        }
    }
    let all = discover_migrations(&folder)?.migrations;
    let squashed = choose_migrations(&all, args.version.as_deref())?;
    let Some((last, older)) = squashed.split_last() else {
        bail!("there are no migrations to squash");
    };
    if older.is_empty() {
        // A squash that was interrupted after its work may have left it.
        Shadow::remove_leftover(config)?;
        anstream::println!("{} is the only migration", embedded::file_name(last));
        return Ok(());
    }
    if !has_history(config) {
        let schema = dump_migrations(config, last).await?;
        replace_files(last, older, &schema, None)?.finish()?;
        print_squashed(squashed);
        return Ok(());
    }
    let name = describe_target(config)?;
    // The database is kept from the check to the end: nobody else may apply a migration meanwhile.
    run_on_database(config, async |client| {
        let statuses = embedded::list_migrations(config, client).await?;
        check_applied(&statuses, squashed)?;
        let schema = dump_migrations(config, last).await?;
        let identity = find_identity(client).await?;
        let journal = replace_files(last, older, &schema, Some((&identity, &name)))?;
        correct_history(client, &journal).await?;
        Ok(journal.finish()?)
    })
    .await?;
    print_squashed(squashed);
    Ok(())
}

/// Whether a cut-off squash is the one that is asked for. With the version of another migration that one follows it.
fn is_squash_of(folder: &Path, journal: &SquashJournal, version: Option<&str>) -> Result<bool> {
    let Some(version) = version.filter(|version| *version != journal.last.version) else {
        return Ok(true);
    };
    let older = journal.older_versions();
    let mut left = discover_files(folder)?.migrations;
    left.retain(|migration| !older.contains(&migration.version));
    choose_migrations(&left, Some(version))?;
    Ok(false)
}

/// A project that was never started has no history that would have to agree with the files.
fn has_history(config: &Config) -> bool {
    config.selvedge.database_url.is_some() || embedded::has_cluster(config)
}

/// Does what a squash that was cut off has left to do.
async fn finish(config: &Config, journal: SquashJournal) -> Result<()> {
    if journal.is_without_database() {
        return complete_files(journal);
    }
    if !has_history(config) {
        return refuse_other_database(&journal);
    }
    run_on_database(config, async |client| finish_squash(client, journal).await).await
}

/// The database on which the command works, for people.
fn describe_target(config: &Config) -> Result<String> {
    Ok(match ExternalDatabase::of_project(config)? {
        Some(database) => database.describe(),
        None => format!("{}, its own", config.project.id),
    })
}

/// Writes the schema of the migrations to the last one's file, and deletes the older ones. What is left to do then stands in the journal.
fn replace_files(
    last: &Migration,
    older: &[Migration],
    schema: &str,
    database: Option<(&str, &str)>,
) -> Result<SquashJournal> {
    let journal = SquashJournal::write(last, older, schema, database)?;
    if let Err(error) = replace_file(&last.path, schema) {
        // Nothing has changed. If it stays, on a disk that accepts nothing, it counts for nothing.
        journal.finish().ok();
        return Err(error.into());
    }
    journal.mark_replaced()?;
    journal.delete_older()?;
    Ok(journal)
}

/// Says what was done, once there is nothing left to do: the file must not be written to before.
fn print_squashed(squashed: &[Migration]) {
    let Some(last) = squashed.last() else { return };
    anstream::println!(
        "{GOOD}squashed{GOOD:#} {} migrations into {}",
        squashed.len(),
        last.path.display()
    );
    anstream::eprintln!(
        "{WARN}note{WARN:#} rows that the migrations inserted are not part of it; add such statements to it or to seed.sql"
    );
}

/// The migrations up to a version; all without one.
fn choose_migrations<'m>(all: &'m [Migration], version: Option<&str>) -> Result<&'m [Migration]> {
    let Some(version) = version else {
        return Ok(all);
    };
    let last = all
        .iter()
        .position(|migration| migration.version == version)
        .with_context(|| format!("there is no migration of version {version}"))?;
    Ok(&all[..=last])
}

/// Refuses a database that lacks one of the migrations, because the single one would count as applied there.
fn check_applied(statuses: &[MigrationStatus], squashed: &[Migration]) -> Result<()> {
    let pending = statuses.iter().find(|status| {
        status.state == MigrationState::Pending && squashed.iter().any(|one| one.version == status.version)
    });
    if let Some(status) = pending {
        bail!(
            "the database lacks {}_{}.sql\n  apply it first with:  selvedge migration up",
            status.version,
            status.name
        );
    }
    Ok(())
}

/// The schema of the migrations up to `version`, as statements of one migration. The statements are tried: the database that they make is
/// compared with that of the migrations, catalog by catalog.
async fn dump_migrations(config: &Config, last: &Migration) -> Result<String> {
    let shadow = Shadow::start_without_migrations(config).await?;
    let read = async {
        let roles_before = dump_roles(config, &shadow)?;
        shadow.apply_up_to(config, &last.version).await?;
        let statements = dump_shadow(config, &shadow, &roles_before).await?;
        Ok::<_, anyhow::Error>((statements, SquashedSchema::read(&shadow).await?))
    }
    .await;
    shadow.remove().await?;
    let (statements, expected) = read?;

    let shadow = Shadow::start_without_migrations(config).await?;
    let found = async {
        // Deleted with the shadow database.
        let squashed = Migration {
            path: shadow.folder().join(embedded::file_name(last)),
            ..last.clone()
        };
        replace_file(&squashed.path, &statements)?;
        shadow.apply(squashed).await?;
        SquashedSchema::read(&shadow).await
    }
    .await;
    shadow.remove().await?;
    let found = found.context("one migration cannot replace these; nothing was changed")?;
    refuse_differences(&expected.differences(&found))?;
    Ok(statements)
}

/// What a squash must keep of a database.
struct SquashedSchema {
    state: DatabaseState,
    /// Policies and triggers on the platform's tables, and event triggers, as statements.
    additions: Vec<Addition>,
    /// Nobody but a superuser can read passwords, so that no text has them.
    roles_with_passwords: Vec<String>,
}

impl SquashedSchema {
    async fn read(shadow: &Shadow) -> Result<Self> {
        Ok(Self {
            state: shadow.read_state().await?,
            additions: list_additions(&embedded::connect(&shadow.login()).await?).await?,
            roles_with_passwords: shadow.list_roles_with_passwords().await?,
        })
    }

    /// Names what only one of the two has, or what differs.
    fn differences(&self, other: &Self) -> Vec<String> {
        let mut names = self.state.differences(&other.state);
        // An event trigger calls a copy of the project's function, whose name has a number; its statement names the project's own.
        names.retain(|name| {
            !name.starts_with("event trigger ") && !name.contains("function _selvedge.event_trigger_")
        });
        let lacking = |from: &Self, of: &Self| -> Vec<String> {
            let missing = from.additions.iter().filter(|one| !of.additions.contains(one));
            missing.map(|one| one.make.clone()).collect()
        };
        names.extend(lacking(self, other));
        names.extend(lacking(other, self));
        let without = |role: &&String| !other.roles_with_passwords.contains(role);
        let roles = self.roles_with_passwords.iter().filter(without);
        names.extend(roles.map(|role| format!("password of role {role}")));
        names
    }
}

/// The schema of a shadow database, with the roles that its migrations have made or changed.
async fn dump_shadow(config: &Config, shadow: &Shadow, roles_before: &str) -> Result<String> {
    let before: BTreeSet<&str> = roles_before.lines().collect();
    let roles = dump_roles(config, shadow)?;
    let roles: Vec<&str> = roles
        .lines()
        .filter(|line| !before.contains(line))
        .map(|line| line.trim_end_matches(';'))
        .collect();
    let login = shadow.login();
    let schema = dump_login(config, &login, &DumpArgs::default())?;
    let additions = list_additions(&embedded::connect(&login).await?).await?;
    Ok(join_statements(&roles) + &schema + &write_additions(&additions))
}

fn dump_roles(config: &Config, shadow: &Shadow) -> Result<String> {
    let roles_only = DumpArgs {
        role_only: true,
        ..DumpArgs::default()
    };
    dump_login(config, &shadow.login(), &roles_only)
}

/// Refuses to replace migrations by one that makes another database.
fn refuse_differences(names: &[String]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    bail!(
        "one migration would not make the same database; nothing was changed. This would differ:\n  {}\n  such statements \
         stay in a migration of their own: squash up to the one before it with  --version",
        list_names(names, 20)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_squash_would_change_is_named() {
        assert!(refuse_differences(&[]).is_ok());
        let names: Vec<String> = (0..25).map(|index| format!("rights on table t{index}")).collect();

        let message = refuse_differences(&names).unwrap_err().to_string();

        assert!(message.contains("rights on table t19\n  and 5 more"), "{message}");
    }
}
