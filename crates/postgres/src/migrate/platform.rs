//! The platform schema: numbered files of `sql/platform`, applied once each, by a superuser.

use std::time::Instant;

use include_dir::{Dir, include_dir};
use sha2::{Digest, Sha256};
use tokio_postgres::Client;

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

/// Whether there is a register that is an ordinary table: reading one runs no code of whoever made it.
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
/// Each file runs in a transaction with its row of `_selvedge.platform_migrations`; several nodes may call this at
/// once.
///
/// # Errors
/// [`MigrateError::Platform`] names the file that failed; the files before it stay applied.
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
        refuse_newer(client).await?;
        check_ownership(client).await?;
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
    let known: Vec<(i32, String)> = client
        .query("select version, sha256 from _selvedge.platform_migrations", &[])
        .await?
        .iter()
        .map(|row| (row.get(0), row.get(1)))
        .collect();
    let mut report = PlatformReport {
        applied: Vec::new(),
        is_first: known.is_empty(),
    };

    for file in files {
        match known.iter().find(|(version, _)| *version == file.version) {
            Some((_, sha256)) if *sha256 == file.sha256 => {}
            Some((version, sha256)) if EARLIER_EDITIONS.contains(&(*version, sha256.as_str())) => {}
            // A changed file cannot be applied again over its own tables, so this is only reported.
            Some(_) => tracing::warn!(
                file = file.name,
                "the platform schema was applied from another edition of this file; a reset brings it up to date"
            ),
            None => {
                client.batch_execute(LET_ROLES_LOG_IN).await?;
                let writes = !report.is_first && FILES_THAT_WRITE.contains(&file.version);
                if writes {
                    let attached = list_code_on_written_tables(client).await?;
                    if !attached.is_empty() {
                        return Err(MigrateError::NotOwned(attached));
                    }
                }
                if apply_file(client, file, writes).await? {
                    report.applied.push(file.name.to_owned());
                }
            }
        }
    }
    client.batch_execute(EVENT_TRIGGERS).await?;
    Ok(report)
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

/// Runs a file. With `without_triggers` those of the project do not fire. Returns false if another run has applied it meanwhile.
async fn apply_file(
    client: &Client,
    file: &PlatformFile,
    without_triggers: bool,
) -> Result<bool, MigrateError> {
    let started = Instant::now();
    let triggers = if without_triggers { "replica" } else { "origin" };
    // The texts of shipped extensions are today's in every file that runs them, so they may call what a later file makes. PostgreSQL
    // itself does not check the bodies of an extension's functions either.
    client
        .batch_execute(&format!(
            "set session_replication_role = {triggers}; set check_function_bodies = off"
        ))
        .await?;
    begin_on_register(client).await?;
    let outcome = run_once(client, file).await;
    if outcome.is_err() {
        client.batch_execute("rollback").await?;
    }
    client
        .batch_execute("set session_replication_role = origin; set check_function_bodies = on")
        .await?;
    let is_applied = outcome.map_err(|source| MigrateError::Platform {
        file: locate_error(file, &source),
        source,
    })?;
    tracing::debug!(
        file = file.name,
        elapsed_ms = started.elapsed().as_millis(),
        "platform schema applied"
    );
    Ok(is_applied)
}

/// Runs a file in the open transaction, with its row of the register, unless the row is there. Ends the transaction.
async fn run_once(client: &Client, file: &PlatformFile) -> Result<bool, tokio_postgres::Error> {
    let applied = "select from _selvedge.platform_migrations where version = $1";
    if client.query_opt(applied, &[&file.version]).await?.is_some() {
        client.batch_execute("rollback").await?;
        return Ok(false);
    }
    // One simple query, hence one round trip. It takes no parameters; name and digest come from the binary, so they
    // need no quoting.
    let batch = format!(
        "{}\n;set local role none; insert into _selvedge.platform_migrations (version, name, sha256) \
         values ({}, '{}', '{}'); commit",
        file.sql, file.version, file.name, file.sha256
    );
    client.batch_execute(&batch).await?;
    Ok(true)
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

/// Applies `[api] auto_expose_new_tables` (GW-014): whether the API roles get rights on tables that migrations create
/// without an explicit grant. Row-level security applies in both cases.
///
/// All privileges are revoked, also those that Supabase's own script leaves: row-level security does not restrict
/// TRUNCATE.
///
/// # Errors
/// When PostgreSQL refuses; `client` must be a superuser's or `postgres`'s.
pub async fn set_auto_expose_new_tables(client: &Client, expose: bool) -> Result<(), MigrateError> {
    let sql = if expose {
        "alter default privileges for role postgres in schema public
           grant all on tables to anon, authenticated, service_role;
         alter default privileges for role postgres in schema public
           grant all on sequences to anon, authenticated, service_role;
         alter default privileges for role postgres in schema public
           grant all on functions to anon, authenticated, service_role;"
    } else {
        "alter default privileges for role postgres in schema public
           revoke all on tables from anon, authenticated, service_role;
         alter default privileges for role postgres in schema public
           revoke all on sequences from anon, authenticated, service_role;
         alter default privileges for role postgres in schema public
           revoke all on functions from anon, authenticated, service_role;"
    };
    Ok(client.batch_execute(sql).await?)
}

/// The name of the setting in `_selvedge.project_settings`.
const AUTO_EXPOSE: &str = "api.auto_expose_new_tables";

/// Applies `[api] auto_expose_new_tables` when it has changed since it was applied last, and in a database in which it was never
/// applied. Otherwise the default privileges stay as migrations have left them. `is_first` says that no migration has run yet in a
/// database that has no note of it.
///
/// # Errors
/// When PostgreSQL refuses; `client` must be a superuser's.
pub async fn apply_auto_expose(client: &Client, expose: bool, is_first: bool) -> Result<(), MigrateError> {
    let query = "select value from _selvedge.project_settings where name = $1";
    let applied: Option<String> = client
        .query_opt(query, &[&AUTO_EXPOSE])
        .await?
        .map(|row| row.get(0));
    let is_changed = match &applied {
        // A database of a version that did not note it has had the present value at each of its starts.
        None => is_first,
        Some(applied) => *applied != expose.to_string(),
    };
    if is_changed {
        return reset_auto_expose(client, expose).await;
    }
    if applied.is_none() {
        record_auto_expose(client, expose).await?;
    }
    Ok(())
}

/// Applies `[api] auto_expose_new_tables` whatever migrations have made of it, and notes the value.
///
/// # Errors
/// When PostgreSQL refuses; `client` must be a superuser's.
pub async fn reset_auto_expose(client: &Client, expose: bool) -> Result<(), MigrateError> {
    // Noted last: when this is cut off between the two, the next start applies the value again, before any migration runs.
    set_auto_expose_new_tables(client, expose).await?;
    record_auto_expose(client, expose).await
}

/// Notes the value of `[api] auto_expose_new_tables` without applying it: for a database whose default privileges were
/// copied.
///
/// # Errors
/// When PostgreSQL refuses; `client` must be a superuser's.
pub async fn record_auto_expose(client: &Client, expose: bool) -> Result<(), MigrateError> {
    let statement = "insert into _selvedge.project_settings (name, value) values ($1, $2)
        on conflict (name) do update set value = excluded.value";
    client
        .execute(statement, &[&AUTO_EXPOSE, &expose.to_string()])
        .await?;
    Ok(())
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
