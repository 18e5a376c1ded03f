//! Applies a project's `roles.sql` and migrations, and keeps their history (gateway.md §8).

use std::{ops::Range, path::Path, time::Duration};

use tokio_postgres::Client;

use super::{
    error::MigrateError,
    files::pending_migrations,
    migration_file::{Migration, read_file},
    run::Script,
    script_parts::Part,
    statement_plan::{StatementPlan, plan_statements},
    transaction_control::has_control,
};

/// Creates the table of applied migrations, with the columns that older versions of the CLI lack.
const HISTORY: &str = "
    create schema if not exists supabase_migrations;
    create table if not exists supabase_migrations.schema_migrations (
      version text not null primary key,
      statements text[],
      name text
    );
    alter table supabase_migrations.schema_migrations add column if not exists statements text[];
    alter table supabase_migrations.schema_migrations add column if not exists name text;
    -- Default privileges let the console's operator write every table of `postgres`. `migration fetch` makes files of this one, which the
    -- next run executes.
    do $$
    begin
      if exists (
        select from pg_catalog.pg_roles as r
        where r.rolname = 'selvedge_console_operator'
          and pg_catalog.has_table_privilege(r.oid, 'supabase_migrations.schema_migrations', 'insert, update, delete')
      ) then
        revoke insert, update, delete on supabase_migrations.schema_migrations from selvedge_console_operator;
      end if;
    end
    $$;";

/// Whether [`HISTORY`] would change nothing.
const HAS_CURRENT_HISTORY: &str = "
    select (
      select count(*) from pg_catalog.pg_attribute as a
      where a.attrelid = to_regclass('supabase_migrations.schema_migrations') and not a.attisdropped
        and a.attname in ('version', 'statements', 'name')
    ) = 3 and not exists (
      select from pg_catalog.pg_roles as r
      where r.rolname = 'selvedge_console_operator'
        and has_table_privilege(r.oid, to_regclass('supabase_migrations.schema_migrations')::oid, 'insert, update, delete')
    )";

/// Creates the table of applied migrations where it is missing or has an older form. Otherwise nothing is sent that fires an event trigger
/// of the project: one that refuses every statement could not be disabled by a migration.
pub(super) async fn prepare_history(client: &Client) -> Result<(), MigrateError> {
    if !client
        .query_one(HAS_CURRENT_HISTORY, &[])
        .await?
        .get::<_, bool>(0)
    {
        client.batch_execute(HISTORY).await?;
    }
    Ok(())
}

/// Records one applied migration: version, name, statements.
pub(super) const INSERT_HISTORY: &str =
    "insert into supabase_migrations.schema_migrations (version, name, statements) values ($1, $2, $3)";

/// A migration that cannot get a lock within this time fails, because all later queries on that table wait behind it.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(4);

/// Whether a migration ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MigrationState {
    /// The file exists and the history records it as applied.
    Applied,
    /// The file exists and has not run.
    Pending,
    /// Recorded as applied in the database, but the migrations folder has no such file.
    Missing,
}

/// A line of `selvedge migrate list`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MigrationStatus {
    /// Version of the migration: the digits at the beginning of its file name.
    pub version: String,
    /// The name; empty when the file is missing and the history has none.
    pub name: String,
    /// Whether it ran.
    pub state: MigrationState,
}

/// Compares files with the history and returns all versions of both, in order. `client` must be logged in as
/// `postgres`.
///
/// # Errors
/// When a query fails.
pub async fn list_migrations(
    client: &Client,
    local: &[Migration],
) -> Result<Vec<MigrationStatus>, MigrateError> {
    let applied = read_history(client).await?;
    let mut statuses: Vec<MigrationStatus> = local
        .iter()
        .map(|migration| MigrationStatus {
            version: migration.version.clone(),
            name: migration.name.clone(),
            state: if applied.iter().any(|(version, _)| *version == migration.version) {
                MigrationState::Applied
            } else {
                MigrationState::Pending
            },
        })
        .collect();
    for (version, name) in applied {
        if !local.iter().any(|migration| migration.version == version) {
            statuses.push(MigrationStatus {
                version,
                name: name.unwrap_or_default(),
                state: MigrationState::Missing,
            });
        }
    }
    statuses.sort_by(|a, b| a.version.cmp(&b.version));
    Ok(statuses)
}

/// Whether the database has a history of migrations.
pub(super) async fn has_history(client: &Client) -> Result<bool, MigrateError> {
    let query = "select to_regclass('supabase_migrations.schema_migrations') is not null";
    Ok(client.query_one(query, &[]).await?.get(0))
}

/// Versions and names of applied migrations; empty when the history table does not exist.
async fn read_history(client: &Client) -> Result<Vec<(String, Option<String>)>, MigrateError> {
    if !has_history(client).await? {
        return Ok(Vec::new());
    }
    // Compat: histories that old versions of the Supabase CLI made have no column `name`.
    let rows = client
        .query(
            "select version, to_jsonb(m) ->> 'name' from supabase_migrations.schema_migrations as m order by version",
            &[],
        )
        .await?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

/// Runs pending migrations, each in one transaction with its history row (GW-021), and returns those that ran. `client`
/// must be logged in as `postgres`.
///
/// # Errors
/// See [`MigrateError`]. Stops at the first file that fails: its transaction is rolled back, earlier files stay
/// applied.
pub async fn apply_pending<'a>(
    client: &Client,
    local: &'a [Migration],
    mut warn: impl FnMut(String),
) -> Result<Vec<&'a Migration>, MigrateError> {
    let waiting = find_pending(client, local).await?;
    if waiting.is_empty() {
        return Ok(waiting);
    }
    prepare_history(client).await?;

    // All files are read and split before the first one runs, so that a file that cannot be split stops nothing
    // halfway.
    let mut texts = Vec::with_capacity(waiting.len());
    for migration in &waiting {
        texts.push(read_file(&migration.path)?);
    }
    let scripts = waiting
        .iter()
        .zip(&texts)
        .map(|(migration, text)| Script::parse(&migration.path, text))
        .collect::<Result<Vec<_>, _>>()?;
    let plan = plan_statements(client, &scripts, &mut warn).await?;
    scripts
        .iter()
        .filter_map(Script::warn_of_commits)
        .for_each(&mut warn);

    for (migration, script) in waiting.iter().zip(&scripts) {
        apply_migration(client, migration, script, &plan).await?;
    }
    Ok(waiting)
}

async fn apply_migration(
    client: &Client,
    migration: &Migration,
    script: &Script<'_>,
    plan: &StatementPlan,
) -> Result<(), MigrateError> {
    let statements: Vec<&str> = script.statements.iter().map(|statement| statement.text).collect();
    let record = record_applied(client, migration, &statements);
    run_file(client, script, plan, &[lock_timeout(LOCK_TIMEOUT)], record).await
}

/// A session setting: its name, and its value as SQL.
type Setting = (&'static str, String);

fn lock_timeout(timeout: Duration) -> Setting {
    ("lock_timeout", timeout.as_millis().to_string())
}

/// Runs a migration file and then `record`, both in one transaction with these settings. Statements that PostgreSQL refuses in a
/// transaction run alone, those between them in transactions of their own, and `record` in the last one. Role and settings of the
/// session are reset before and afterwards.
pub(crate) async fn run_file(
    client: &Client,
    script: &Script<'_>,
    plan: &StatementPlan,
    settings: &[Setting],
    record: impl Future<Output = Result<(), MigrateError>>,
) -> Result<(), MigrateError> {
    reset_session(client, settings).await?;
    let mut first_of_part = 0;
    let outcome = async {
        for part in script.parts() {
            match part {
                Part::Alone(index) => {
                    first_of_part = index;
                    run_range(client, script, plan, index..index + 1).await?;
                }
                Part::Together(range) => {
                    first_of_part = range.start;
                    let is_last = range.end == script.statements.len();
                    client.batch_execute("begin").await?;
                    run_range(client, script, plan, range).await?;
                    if !is_last {
                        client.batch_execute("commit").await?;
                    }
                }
            }
        }
        // The file may have changed the role (`set role`), and the history row must be written as `postgres`.
        client.batch_execute("reset role").await?;
        record.await?;
        client.batch_execute("commit").await?;
        Ok(())
    }
    .await;
    if let Err(error) = outcome {
        // If the connection is lost, this fails as well, and PostgreSQL rolls back by itself; the first error is
        // reported.
        client.batch_execute("rollback").await.ok();
        return Err(name_committed_statements(error, script, first_of_part));
    }
    reset_session(client, &[]).await
}

/// Runs some of a file's statements, in the forms that the plan gives them.
async fn run_range(
    client: &Client,
    script: &Script<'_>,
    plan: &StatementPlan,
    range: Range<usize>,
) -> Result<(), MigrateError> {
    let planned = |statement: &str| plan.plan(statement);
    script.run(client, range, planned, plan.batch_bytes).await
}

/// Adds to an error which statements before the failed part have taken effect.
fn name_committed_statements(error: MigrateError, script: &Script<'_>, first_of_part: usize) -> MigrateError {
    let MigrateError::Statement(mut failure) = error else {
        return error;
    };
    // Statements before that one were committed by the parts before. Of a file that manages its transactions itself nobody knows; it
    // may name its last COMMIT.
    if first_of_part > 0 && !has_control(&script.statements) {
        failure.applied_before = script
            .statements
            .get(first_of_part)
            .map(|statement| statement.line);
    }
    MigrateError::Statement(failure)
}

/// What happens with statements that PostgreSQL refuses in a transaction, where a file is run in one that stays open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutsideStatements {
    /// They run alone, and what comes before them is committed.
    Run,
    /// The file is run up to the first of them, and the caller is told where that is: they cannot be rolled back.
    StopBefore,
}

/// Runs one file, whose last transaction stays open. After an error that is rolled back.
async fn begin_file(
    client: &Client,
    script: &Script<'_>,
    plan: &StatementPlan,
    settings: &[Setting],
    outside: OutsideStatements,
    warn: &mut impl FnMut(String),
) -> Result<(), MigrateError> {
    reset_session(client, settings).await?;
    let mut first_of_part = 0;
    let outcome = async {
        let (mut is_open, mut is_stopped) = (false, false);
        for part in script.parts() {
            match part {
                _ if is_stopped => {}
                Part::Alone(index) if outside == OutsideStatements::StopBefore => {
                    is_stopped = true;
                    let line = script.statements.get(index).map_or(1, |statement| statement.line);
                    warn(format!(
                        "the statement in line {line} runs outside of a transaction and cannot be undone: it and what follows were not tried"
                    ));
                }
                Part::Alone(index) => {
                    if std::mem::take(&mut is_open) {
                        client.batch_execute("commit").await?;
                    }
                    first_of_part = index;
                    run_range(client, script, plan, index..index + 1).await?;
                }
                Part::Together(range) => {
                    first_of_part = range.start;
                    client.batch_execute("begin").await?;
                    is_open = true;
                    run_range(client, script, plan, range).await?;
                }
            }
        }
        if !is_open {
            client.batch_execute("begin").await?;
        }
        // The file may have changed the role (`set role`), and the history row must be written as `postgres`.
        client.batch_execute("reset role").await?;
        Ok(())
    }
    .await;
    outcome.map_err(|error| name_committed_statements(error, script, first_of_part))
}

/// Runs a migration whose text is not in the folder yet, with its history row, in a transaction that stays open, so that
/// the caller can look at what it has done and then commit it or not. Statements that need no transaction are treated as `outside` says. Deferred constraints are checked, because the commit
/// should have nothing left to refuse. `client` must be logged in as `postgres`.
///
/// # Errors
/// See [`MigrateError`]; the transaction is then rolled back.
pub async fn run_uncommitted(
    client: &Client,
    migration: &Migration,
    text: &str,
    most_wait: Duration,
    outside: OutsideStatements,
    mut warn: impl FnMut(String),
) -> Result<(), MigrateError> {
    prepare_history(client).await?;
    let scripts = [Script::parse(&migration.path, text)?];
    let plan = plan_statements(client, &scripts, &mut warn).await?;
    let [script] = &scripts;
    let statements: Vec<&str> = script.statements.iter().map(|statement| statement.text).collect();
    let settings = [lock_timeout(most_wait)];
    let outcome = async {
        begin_file(client, script, &plan, &settings, outside, &mut warn).await?;
        client.batch_execute("set constraints all immediate").await?;
        record_applied(client, migration, &statements).await
    }
    .await;
    if outcome.is_err() {
        // The first error is the one to report; a lost connection makes PostgreSQL roll back by itself.
        client.batch_execute("rollback").await.ok();
    }
    outcome
}

/// Runs the statements of a text in the caller's transaction and role. `path` is the file name in errors.
///
/// # Errors
/// See [`MigrateError`].
pub async fn run_statements(
    client: &Client,
    path: &Path,
    text: &str,
    mut warn: impl FnMut(String),
) -> Result<(), MigrateError> {
    let scripts = [Script::parse(path, text)?];
    let plan = plan_statements(client, &scripts, &mut warn).await?;
    let [script] = &scripts;
    run_range(client, script, &plan, 0..script.statements.len()).await
}

async fn record_applied(
    client: &Client,
    migration: &Migration,
    statements: &[&str],
) -> Result<(), MigrateError> {
    client
        .execute(
            INSERT_HISTORY,
            &[&migration.version, &migration.name, &statements],
        )
        .await?;
    Ok(())
}

/// The migrations of the folder that have not run, in order. `client` must be logged in as `postgres`.
///
/// # Errors
/// When folder and history disagree (GW-022), or a query fails.
pub async fn find_pending<'a>(
    client: &Client,
    local: &'a [Migration],
) -> Result<Vec<&'a Migration>, MigrateError> {
    let history = read_history(client).await?;
    let applied: Vec<String> = history.into_iter().map(|(version, _)| version).collect();
    Ok(pending_migrations(local, &applied)?)
}

/// Resets role and settings, so that a `set` in one file does not affect the next.
async fn reset_session(client: &Client, settings: &[Setting]) -> Result<(), MigrateError> {
    let mut sql = String::from("reset role; reset all");
    for (name, value) in settings {
        sql += &format!("; set {name} = {value}");
    }
    Ok(client.batch_execute(&sql).await?)
}
