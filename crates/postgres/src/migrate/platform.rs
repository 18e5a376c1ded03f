//! The platform schema: numbered files of `sql/platform`, applied once each, by a superuser.

use std::time::Duration;

use include_dir::{Dir, include_dir};
use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep};
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::attached_code::list_code_on_written_tables;
use super::error::MigrateError;
use super::internal_lock::{PrivilegedLock, begin_on_register};
use super::ownership::check_ownership;
use super::shipped::{STORE_TABLE, store_shipped};
use crate::{disable_event_triggers, enable_event_triggers};

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../sql/platform");

/// Creates the table of applied files in the schema `_selvedge`, which no Supabase project uses. Every role may read it,
/// because `serve` logs in as roles without further privileges and checks whether the schema is up to date.
const REGISTER: &str = "
    create schema if not exists _selvedge;
    create table if not exists _selvedge.platform_migrations (
      version pg_catalog.int4 primary key,
      name pg_catalog.text not null,
      sha256 pg_catalog.text not null,
      applied_at pg_catalog.timestamptz not null default pg_catalog.now()
    );
    grant usage on schema _selvedge to public;
    grant select on _selvedge.platform_migrations to public;";

/// Takes away what would run in the superuser's session before the files of the platform schema do.
const DISARM: &str = include_str!("disarm.sql");

/// Repairs what an earlier version has done to event triggers of the project.
const EVENT_TRIGGERS: &str = include_str!("event_triggers.sql");

/// The lock among all nodes of one database, so that only one of them migrates at a time.
const LOCK: &str = "selvedge platform migrations";

const HAS_CITUS: &str = "select exists (
    select from pg_catalog.pg_extension as e where e.extname operator(pg_catalog.=) 'citus'::pg_catalog.name)";

/// How long a file waits for a lock. Requests in progress wait meanwhile for what the files before it have locked, so the transaction is given up
/// and begun again.
const LOCK_TIMEOUT: &str = "2s";
/// How long it is begun again and again, and the pause between.
const LONGEST_WAIT: Duration = Duration::from_secs(600);
const PAUSE: Duration = Duration::from_millis(500);

/// Files change roles, which belong to all databases of the server. Runs in two of them would wait for each other in the middle. The mode is
/// one that only these runs and vacuuming keep out.
const WAIT_FOR_RUNS_IN_OTHERS: &str = "lock table pg_catalog.pg_authid in share update exclusive mode";

/// Citus connects to worker nodes as the role of the statement, so with Citus the API's roles need LOGIN. They have no password, so
/// only hosts that `pg_hba.conf` trusts can log in as them. Runs before each file, because the first file creates the roles and a
/// later one runs statements as one of them.
const LET_ROLES_LOG_IN: &str = "
    do $$
    declare
      name text;
    begin
      if exists (select from pg_catalog.pg_extension where extname operator(pg_catalog.=) 'citus'::pg_catalog.name) then
        for name in
          select rolname from pg_catalog.pg_roles
          where rolname operator(pg_catalog.=) any (
              array['anon', 'authenticated', 'service_role', 'supabase_realtime_admin']::pg_catalog.name[]
            ) and not rolcanlogin
        loop
          execute pg_catalog.format('alter role %I login', name);
        end loop;
      end if;
    end
    $$";

/// Whether there is a register that is an ordinary table. A superuser reads one of superusers only, as indexes of others run their code:
/// `trusted_database` refuses the session otherwise.
const HAS_REGISTER: &str = "
    select exists (
      select from pg_catalog.pg_class as c
      join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) c.relnamespace
      where n.nspname operator(pg_catalog.=) '_selvedge'::pg_catalog.name
        and c.relname operator(pg_catalog.=) 'platform_migrations'::pg_catalog.name
        and c.relkind operator(pg_catalog.=) 'r'::pg_catalog.\"char\"
    )";

/// Files that write rows into tables of services. In a database that is in use these may have triggers of the project. Files to come do
/// not write there.
const FILES_THAT_WRITE: [i32; 2] = [17, 22];

/// Digests of files that have been changed where they did not run to their end, or so that the outcome is the same after all files: databases
/// with these need nothing.
const EARLIER_EDITIONS: [(i32, &str); 4] = [
    (
        80,
        "74b3b8c54ef5edfb3ff661564a4bc51d00fa8274ad6f17b60778421d16cc846d",
    ),
    // An upgrade with this edition read default values of a function that `postgres` may replace, and so ran code of a project as the superuser.
    (
        113,
        "b3996ba11e6082bce54184f00f543ad07bdd89f2307199713faef1e6591811e1",
    ),
    // 0193 gives its function to a role with fewer rights, which it does itself now: `postgres` could run code between the two.
    (
        181,
        "95fd0ce0f5c023eb899ba6f14a87dd007032ee651933551cd029052e51615a84",
    ),
    // It changed the role also where nothing was to be changed.
    (
        193,
        "b1f0f6482295841dbdf2bcd88dfd3548f6134a7ddc48fed015afbd8d4f31a081",
    ),
];

/// The result of [`apply`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlatformReport {
    /// Names of the files applied now; empty when the schema was up to date.
    pub applied: Vec<String>,
    /// True when the database had no platform schema before.
    pub is_first: bool,
}

/// A file `NNNN_name.sql` of `sql/platform`.
struct PlatformFile {
    version: i32,
    name: &'static str,
    sql: &'static str,
    sha256: String,
}

/// The files of `sql/platform`, in order of their numbers.
fn platform_files() -> Vec<PlatformFile> {
    let mut files: Vec<PlatformFile> = FILES
        .files()
        .filter_map(|file| {
            let name = file.path().file_name()?.to_str()?;
            let version = name.strip_suffix(".sql")?.split_once('_')?.0.parse().ok()?;
            let sql = file.contents_utf8()?;
            Some(PlatformFile {
                version,
                name,
                sql,
                sha256: hex::encode(Sha256::digest(sql.as_bytes())),
            })
        })
        .collect();
    files.sort_by_key(|file| file.version);
    files
}

/// A digest of all files, for caches that hold a database in this shape.
#[must_use]
pub fn digest() -> String {
    let mut digest = Sha256::new();
    for file in platform_files() {
        digest.update(file.name.as_bytes());
        digest.update(file.sha256.as_bytes());
    }
    super::shipped::digest_shipped(&mut digest);
    hex::encode(digest.finalize())
}

/// Brings the platform schema of the connected database up to date. `client` must be a superuser's, opened by
/// [`crate::PrivilegedLogin`].
///
/// All missing files run in one transaction with their rows of `_selvedge.platform_migrations`: what an earlier file leaves open for a later one
/// is never to be seen by anybody, also when the program is killed. On Citus, which connects to its workers as roles that have to be committed
/// there, each file is a transaction. Several nodes may call this at once.
///
/// # Errors
/// [`MigrateError::Platform`] names the file that failed; nothing of it and of those before it stays, but for Citus, where those before it do.
pub async fn apply(client: &Client) -> Result<PlatformReport, MigrateError> {
    let lock = PrivilegedLock::take(client, LOCK).await?;
    // Event triggers of the platform complete what its files create.
    enable_event_triggers(client).await?;
    let outcome = apply_locked(client, &platform_files()).await;
    disable_event_triggers(client).await.ok();
    // Unlocked before an error is returned: the lock belongs to the session, which the caller may keep open.
    let unlocked = lock.release(client).await;
    let report = outcome?;
    unlocked?;
    Ok(report)
}

/// Whether the connected database has every file of the platform schema; needs no superuser.
///
/// # Errors
/// When a query fails.
pub async fn is_applied(client: &Client) -> Result<bool, MigrateError> {
    let registered: bool = client
        .query_one(
            "select pg_catalog.to_regclass('_selvedge.platform_migrations'::pg_catalog.text) is not null",
            &[],
        )
        .await?
        .get(0);
    if !registered {
        return Ok(false);
    }
    // Each is looked for, because a file may have been added below the highest number.
    let rows = client
        .query("select version from _selvedge.platform_migrations", &[])
        .await?;
    let applied: Vec<i32> = rows.iter().map(|row| row.get(0)).collect();
    Ok(platform_files()
        .iter()
        .all(|file| applied.contains(&file.version)))
}

/// The texts of the files.
pub(super) fn platform_texts() -> impl Iterator<Item = &'static str> {
    platform_files().into_iter().map(|file| file.sql)
}

/// Whether the connected database has the platform schema as this version of the program makes it, file by file: neither that of an older nor
/// that of a newer one. Needs no superuser.
///
/// # Errors
/// When a query fails.
pub(super) async fn is_of_this_version(client: &Client) -> Result<bool, tokio_postgres::Error> {
    if !client.query_one(HAS_REGISTER, &[]).await?.try_get::<_, bool>(0)? {
        return Ok(false);
    }
    let known = client
        .query(
            "select version, sha256 from _selvedge.platform_migrations order by version",
            &[],
        )
        .await?;
    let files = platform_files();
    let is_same = |(row, file): (&tokio_postgres::Row, &PlatformFile)| {
        let (version, sha256): (i32, &str) = (row.get(0), row.get(1));
        version == file.version && (sha256 == file.sha256 || EARLIER_EDITIONS.contains(&(version, sha256)))
    };
    Ok(known.len() == files.len() && known.iter().zip(&files).all(is_same))
}

/// Whether a database that has the platform schema lacks files of it, because an older version of this program has made it. Needs no
/// superuser.
///
/// # Errors
/// [`MigrateError::NewerPlatform`] when it has files that this program does not know, [`MigrateError::NoPlatform`] when it has none; also
/// when a query fails.
pub async fn is_older(client: &Client) -> Result<bool, MigrateError> {
    refuse_newer(client).await?;
    let has_files = client.query_one(HAS_REGISTER, &[]).await?.get::<_, bool>(0)
        && client
            .query_opt("select from _selvedge.platform_migrations limit 1", &[])
            .await?
            .is_some();
    if !has_files {
        return Err(MigrateError::NoPlatform);
    }
    Ok(!is_applied(client).await?)
}

/// Makes what the register and the files build on, in one transaction, which waits for that of another run where there is a register.
async fn prepare(client: &Client) -> Result<(), MigrateError> {
    let has_register =
        "select pg_catalog.to_regclass('_selvedge.platform_migrations'::pg_catalog.text) is not null";
    match client.query_one(has_register, &[]).await?.try_get(0)? {
        true => begin_on_register(client).await?,
        false => client.batch_execute("begin").await?,
    }
    let prepared = async {
        client.batch_execute(DISARM).await?;
        check_ownership(client).await?;
        refuse_newer(client).await?;
        client.batch_execute(REGISTER).await?;
        client.batch_execute(STORE_TABLE).await?;
        store_shipped(client).await
    }
    .await;
    let end = if prepared.is_ok() { "commit" } else { "rollback" };
    client.batch_execute(end).await?;
    prepared
}

async fn apply_locked(client: &Client, files: &[PlatformFile]) -> Result<PlatformReport, MigrateError> {
    prepare(client).await?;
    let known = read_register(client).await?;
    warn_of_editions(files, &known);
    let mut report = PlatformReport {
        applied: Vec::new(),
        is_first: known.is_empty(),
    };
    let at_once = match client.query_one(HAS_CITUS, &[]).await?.try_get(0)? {
        true => 1,
        false => files.len().max(1),
    };
    let deadline = Instant::now() + LONGEST_WAIT;
    loop {
        begin_on_register(client).await?;
        let outcome = apply_some(client, files, at_once, report.is_first).await;
        let end = if outcome.is_ok() { "commit" } else { "rollback" };
        client.batch_execute(end).await?;
        match outcome {
            Ok((applied, is_last)) => {
                report.applied.extend(applied);
                if is_last {
                    return Ok(report);
                }
            }
            Err(error) if is_passing(&error) && Instant::now() < deadline => sleep(PAUSE).await,
            Err(error) => return Err(error),
        }
    }
}

/// Applies the next files that are missing in the open transaction, which has the register for itself. Returns their names, and whether none is
/// missing after them.
async fn apply_some(
    client: &Client,
    files: &[PlatformFile],
    at_once: usize,
    is_first: bool,
) -> Result<(Vec<String>, bool), MigrateError> {
    let known = read_register(client).await?;
    let mut missing = files
        .iter()
        .filter(|file| !known.iter().any(|(version, _)| *version == file.version))
        .peekable();
    if missing.peek().is_some() {
        let wait = format!("set local lock_timeout = '{LOCK_TIMEOUT}'; {WAIT_FOR_RUNS_IN_OTHERS}");
        client.batch_execute(&wait).await?;
    }
    let mut applied = Vec::new();
    for file in missing.by_ref().take(at_once) {
        if at_once == 1 {
            client.batch_execute(LET_ROLES_LOG_IN).await?;
        }
        let writes = !is_first && FILES_THAT_WRITE.contains(&file.version);
        if writes {
            let attached = list_code_on_written_tables(client).await?;
            if !attached.is_empty() {
                return Err(MigrateError::NotOwned(attached));
            }
        }
        apply_file(client, file, writes).await?;
        applied.push(file.name.to_owned());
    }
    let is_last = missing.peek().is_none();
    if is_last {
        let settings = "set local session_replication_role = origin; set local check_function_bodies = on";
        client.batch_execute(settings).await?;
        client.batch_execute(EVENT_TRIGGERS).await?;
    }
    Ok((applied, is_last))
}

/// Numbers and digests of the applied files.
async fn read_register(client: &Client) -> Result<Vec<(i32, String)>, tokio_postgres::Error> {
    let known = "select version, sha256 from _selvedge.platform_migrations";
    let rows = client.query(known, &[]).await?;
    rows.iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
        .collect()
}

/// A changed file cannot be applied again over its own tables, so this is only reported.
fn warn_of_editions(files: &[PlatformFile], known: &[(i32, String)]) {
    for (version, sha256) in known {
        let file = files.iter().find(|file| file.version == *version);
        if let Some(file) = file.filter(|file| file.sha256 != *sha256)
            && !EARLIER_EDITIONS.contains(&(*version, sha256.as_str()))
        {
            tracing::warn!(
                file = file.name,
                "the platform schema was applied from another edition of this file; a reset brings it up to date"
            );
        }
    }
}

/// Whether the reason is that others had locks, or changed the same role at the same time.
fn is_passing(error: &MigrateError) -> bool {
    let (MigrateError::Platform { source, .. } | MigrateError::Postgres(source)) = error else {
        return false;
    };
    let code = source.code();
    code == Some(&SqlState::T_R_DEADLOCK_DETECTED)
        || code == Some(&SqlState::LOCK_NOT_AVAILABLE)
        || source
            .as_db_error()
            .is_some_and(|error| error.message().starts_with("tuple concurrently "))
}

/// Refuses a database to which a newer version of this program has applied files that this one does not know: what it would
/// write back, such as the texts of the shipped extensions, is older than what is there. Needs no superuser.
///
/// # Errors
/// [`MigrateError::NewerPlatform`] with the names of the files; also when a query fails.
pub async fn refuse_newer(client: &Client) -> Result<(), MigrateError> {
    if !client.query_one(HAS_REGISTER, &[]).await?.get::<_, bool>(0) {
        return Ok(());
    }
    let own: Vec<i32> = platform_files().iter().map(|file| file.version).collect();
    let newest = own.last().copied().unwrap_or_default();
    // Files that were taken out of this version have lower numbers.
    let rows = client
        .query(
            "select name from _selvedge.platform_migrations where version operator(pg_catalog.>) $1 order by version",
            &[&newest],
        )
        .await?;
    match rows.is_empty() {
        true => Ok(()),
        false => Err(MigrateError::NewerPlatform(
            rows.iter().map(|row| row.get(0)).collect(),
        )),
    }
}

/// Runs a file in the open transaction, with its row of the register. With `without_triggers` those of the project do not fire.
async fn apply_file(
    client: &Client,
    file: &PlatformFile,
    without_triggers: bool,
) -> Result<(), MigrateError> {
    let started = Instant::now();
    let triggers = if without_triggers { "replica" } else { "origin" };
    // The texts of shipped extensions are today's in every file that runs them, so they may call what a later file makes. PostgreSQL
    // itself does not check the bodies of an extension's functions either.
    client
        .batch_execute(&format!(
            "set local session_replication_role = {triggers}; set local check_function_bodies = off; \
             set local lock_timeout = '{LOCK_TIMEOUT}'"
        ))
        .await?;
    // One simple query, hence one round trip. It takes no parameters; name and digest come from the binary, so they
    // need no quoting. The role that a file has set would hold for the next one, too.
    let batch = format!(
        "{}\n;set local role none; insert into _selvedge.platform_migrations (version, name, sha256) \
         values ({}, '{}', '{}')",
        file.sql, file.version, file.name, file.sha256
    );
    client
        .batch_execute(&batch)
        .await
        .map_err(|source| MigrateError::Platform {
            file: locate_error(file, &source),
            source,
        })?;
    tracing::debug!(
        file = file.name,
        elapsed_ms = started.elapsed().as_millis(),
        "platform schema applied"
    );
    Ok(())
}

/// The file's name, with the line when PostgreSQL gave a position.
fn locate_error(file: &PlatformFile, error: &tokio_postgres::Error) -> String {
    use tokio_postgres::error::ErrorPosition;

    match error.as_db_error().and_then(|db| db.position()) {
        Some(ErrorPosition::Original(position)) => {
            // The position counts from the start of the batch, which begins with the file.
            let before = (*position as usize).saturating_sub(1);
            let line = 1 + file.sql.chars().take(before).filter(|char| *char == '\n').count();
            format!("{}:{line}", file.name)
        }
        _ => file.name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_017_platform_files_have_numbers_of_their_own() {
        let versions: Vec<i32> = platform_files().iter().map(|file| file.version).collect();

        assert!(versions.is_sorted_by(|one, next| one < next), "{versions:?}");
        assert_eq!(
            versions.len(),
            FILES.files().count(),
            "every file is named NNNN_name.sql"
        );
    }
}
