//! Databases besides the project's, which `postgres` may make, and what a start changes in them.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use anyhow::{Result, bail};
use selvedge_postgres::migrate::{self, ExtensionGuard};
use selvedge_postgres::{PrivilegedLogin, PrivilegedSession};
use selvedge_terminal::print_warnings;
use tokio_postgres::Row;

use super::catalog_locks::{END_BLOCKING, WAIT_FOR_OTHERS, lock_catalogs, read_process};
use super::opened_databases::{
    ClosedDatabase, DATABASES, END_WAITING, close_databases, open_databases, read_note, record_note,
};

/// What an earlier start has done in every database, so that this one need not connect to all of them.
const SLOT_FUNCTIONS: &str = "slot_functions.are_closed";
const EXTENSIONS: &str = "extensions.guard";

/// How long a login may take before the statements that it waits for are ended.
const WAIT_FOR_LOGIN: Duration = Duration::from_secs(2);

/// After so many databases that kept a start waiting, all others are closed to everybody else before they are visited.
const SLOW_DATABASES: usize = 3;

/// Ends whoever is in a database, superusers excepted. The owner of a database may lock what every login to it reads.
const END_SESSIONS: &str = "select pg_catalog.pg_terminate_backend(a.pid)
     from pg_catalog.pg_stat_get_activity(null) as a
     where a.datid operator(pg_catalog.=) $1 and not exists (
       select from pg_catalog.pg_authid as r where r.oid operator(pg_catalog.=) a.usesysid and r.rolsuper
     )";
const END_PROCESS: &str = "select pg_catalog.pg_terminate_backend($1) where $1 operator(pg_catalog.>) 0";

/// Databases, and whether this server can log in to each. PostgreSQL translates no statements of this server to the last encoding.
const OTHER_DATABASES: &str = "
    select d.oid, d.datname::pg_catalog.text, d.datallowconn and d.encoding operator(pg_catalog.<>) m.encoding,
      d.datallowconn, d.datconnlimit, d.encoding, d.datdba, d.datistemplate
    from pg_catalog.pg_database as d
    cross join pg_catalog.pg_char_to_encoding('MULE_INTERNAL'::pg_catalog.name) as m (encoding)
    where d.datname operator(pg_catalog.<>) pg_catalog.current_database() and d.datconnlimit operator(pg_catalog.<>) -2
    order by d.datistemplate desc, d.datname";

/// Names are stored in the encoding of the database in which they were given, and nobody can log in to a database of this server by a name that is
/// not UTF-8.
const RENAME: &str = "update pg_catalog.pg_database
     set datname = ('renamed_' operator(pg_catalog.||) pg_catalog.gen_random_uuid()::pg_catalog.text)::pg_catalog.name
     where oid operator(pg_catalog.=) $1 returning datname::pg_catalog.text";

/// How often a start reads the list anew, because databases were made or closed while it visited the others.
const ROUNDS: usize = 5;

/// Closes two ways from `postgres` to a superuser in all databases but the project's, the templates of new ones included. Functions of
/// replication load a library that their caller names, and on PostgreSQL 15 `postgres` may become a role with REPLICATION. Scripts of
/// extensions run as a superuser, and may call functions that `postgres` has made. What could not be reached is tried again by the next start.
/// `login` leads to the cluster of `superuser`.
pub(crate) async fn guard_databases(login: &PrivilegedLogin, superuser: &PrivilegedSession) -> Result<()> {
    // Also after a start of another version, which was cut off and has opened databases for a guard that this version does not have.
    if let Err(error) = close_databases(login, superuser).await {
        print_warnings(&[format!("{error:#}")]);
        return Ok(());
    }
    let guard = ExtensionGuard::read(superuser).await?;
    let wanted = [(SLOT_FUNCTIONS, "true".to_owned()), (EXTENSIONS, guard.digest())];
    let mut is_known = true;
    for (name, value) in &wanted {
        is_known &= read_note(superuser, name).await?.as_ref() == Some(value);
    }
    if is_known {
        return Ok(());
    }
    migrate::close_slot_functions(superuser).await?;
    match guard_others(login, superuser, &guard).await {
        Ok(true) => {}
        Ok(false) => return Ok(()),
        Err(error) => {
            print_warnings(&[format!(
                "databases besides the project's are not guarded: {error:#}"
            )]);
            return Ok(());
        }
    }
    for (name, value) in &wanted {
        record_note(superuser, name, value).await?;
    }
    Ok(())
}

/// Guards all databases of the list, and opens those that are closed for it. Returns whether all are guarded.
async fn guard_others(
    login: &PrivilegedLogin,
    superuser: &PrivilegedSession,
    guard: &ExtensionGuard,
) -> Result<bool> {
    let outcome = guard_and_open(login, superuser, guard).await;
    if outcome.is_err() {
        superuser.batch_execute("rollback").await?;
    }
    close_databases(login, superuser).await?;
    outcome
}

async fn guard_and_open(
    login: &PrivilegedLogin,
    superuser: &PrivilegedSession,
    guard: &ExtensionGuard,
) -> Result<bool> {
    let mut visits = Visits::default();
    for _ in 0..ROUNDS {
        lock_catalogs(login, superuser, DATABASES).await?;
        let closed = visits.visit(login, superuser, guard).await?;
        let has_renamed = visits.rename_unreadable(superuser).await?;
        open_databases(superuser, &closed).await?;
        superuser.batch_execute("commit").await?;
        if closed.is_empty() && !has_renamed {
            return Ok(!visits.has_failed);
        }
    }
    print_warnings(&[
        "databases that let nobody log in are made faster than they are guarded: the next start tries again"
            .to_owned(),
    ]);
    Ok(false)
}

/// The databases that were looked at.
#[derive(Debug, Default)]
struct Visits {
    numbers: BTreeSet<u32>,
    /// Those of the last list whose names are not UTF-8.
    unreadable: Vec<u32>,
    slow: usize,
    has_failed: bool,
}

/// Reads a row of [`OTHER_DATABASES`].
fn read_database(row: &Row) -> ClosedDatabase {
    ClosedDatabase {
        number: row.get(0),
        allows_logins: row.get(3),
        connection_limit: row.get(4),
        encoding: row.get(5),
        owner: row.get(6),
        is_template: row.get(7),
    }
}

impl Visits {
    /// Guards the open databases of the list, which is locked, as far as they were not visited before. Returns those that are to be opened for
    /// superusers alone first: the closed ones, and those that others keep this server out of.
    async fn visit(
        &mut self,
        login: &PrivilegedLogin,
        superuser: &PrivilegedSession,
        guard: &ExtensionGuard,
    ) -> Result<Vec<ClosedDatabase>> {
        let mut closed = Vec::new();
        for row in superuser.query(OTHER_DATABASES, &[]).await? {
            let database = read_database(&row);
            let number = database.number;
            if self.numbers.contains(&number) {
                continue;
            }
            let Ok(name) = row.try_get::<_, String>(1) else {
                self.unreadable.push(number);
                continue;
            };
            let (is_open, keeps_others_out): (bool, bool) = (row.get(2), database.keeps_others_out());
            if !is_open || (self.slow >= SLOW_DATABASES && !keeps_others_out) {
                closed.push(database);
                continue;
            }
            match guard_soon(
                &login.to_database(&name),
                number,
                keeps_others_out,
                superuser,
                guard,
            )
            .await
            {
                Ok(true) => {}
                Ok(false) => {
                    self.slow += 1;
                    closed.push(database);
                    continue;
                }
                Err(error) => {
                    self.has_failed = true;
                    print_warnings(&[format!("the database {name} cannot be guarded: {error:#}")]);
                }
            }
            self.numbers.insert(number);
        }
        Ok(closed)
    }

    /// Renames the databases whose names are not UTF-8, because nobody could log in to them. Returns whether there were any.
    async fn rename_unreadable(&mut self, superuser: &PrivilegedSession) -> Result<bool> {
        let unreadable = std::mem::take(&mut self.unreadable);
        for number in &unreadable {
            if let Some(row) = superuser.query_opt(RENAME, &[number]).await? {
                let name: String = row.get(0);
                print_warnings(&[format!(
                    "a database had a name that is not UTF-8, by which it cannot be reached: it is called {name} now"
                )]);
            }
        }
        Ok(!unreadable.is_empty())
    }
}

/// Guards the database with this number while the list of databases is locked. Nobody can log in to one from which a copy is made, and a statement
/// that has begun to make one waits for the lock of the list: so it is ended. Returns whether the database is guarded. If it takes too long,
/// somebody who is in it may be the reason: such sessions are ended, but not before `keeps_others_out`, as others would follow.
async fn guard_soon(
    database: &PrivilegedLogin,
    number: u32,
    keeps_others_out: bool,
    superuser: &PrivilegedSession,
    guard: &ExtensionGuard,
) -> Result<bool> {
    let process = AtomicI32::new(0);
    // A second login beside a slow one would change the same functions.
    let guarding = guard_in(database, guard, &process);
    tokio::pin!(guarding);
    if let Ok(outcome) = tokio::time::timeout(WAIT_FOR_LOGIN, &mut guarding).await {
        return outcome.map(|()| true);
    }
    superuser.execute(END_WAITING, &[&number]).await?;
    let mut patience = WAIT_FOR_LOGIN;
    if keeps_others_out {
        superuser.execute(END_SESSIONS, &[&number]).await?;
        superuser
            .execute(END_BLOCKING, &[&process.load(Ordering::Relaxed)])
            .await?;
        patience = WAIT_FOR_OTHERS;
    }
    if let Ok(outcome) = tokio::time::timeout(patience, &mut guarding).await {
        return outcome.map(|()| true);
    }
    // Otherwise its statements would run when the lock that it waits for is given back, perhaps hours later.
    superuser
        .execute(END_PROCESS, &[&process.load(Ordering::Relaxed)])
        .await?;
    if keeps_others_out {
        bail!("it takes more than {} seconds", WAIT_FOR_OTHERS.as_secs());
    }
    Ok(false)
}

async fn guard_in(database: &PrivilegedLogin, guard: &ExtensionGuard, process: &AtomicI32) -> Result<()> {
    let session = database.connect().await?;
    process.store(read_process(&session).await?, Ordering::Relaxed);
    migrate::close_slot_functions(&session).await?;
    Ok(guard.install(&session).await?)
}
