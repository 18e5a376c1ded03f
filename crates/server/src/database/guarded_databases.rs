//! Databases besides the project's, which `postgres` may make, and what a start changes in them.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use anyhow::{Result, bail};
use selvedge_postgres::migrate::{self, ExtensionGuard};
use selvedge_postgres::{PrivilegedLogin, PrivilegedSession};
use serde::{Deserialize, Serialize};

use crate::output;

/// What an earlier start has done in every database, so that this one need not connect to all of them.
const DONE: &str = "select s.value from _selvedge.project_settings as s
     where s.name operator(pg_catalog.=) $1::pg_catalog.text";
const RECORD_DONE: &str = "insert into _selvedge.project_settings (name, value) values ($1, $2)
     on conflict (name) do update set value = excluded.value";
const FORGET: &str =
    "delete from _selvedge.project_settings as s where s.name operator(pg_catalog.=) $1::pg_catalog.text";
const SLOT_FUNCTIONS: &str = "slot_functions.are_closed";
const EXTENSIONS: &str = "extensions.guard";
/// The databases that a start has opened and not yet closed.
const OPENED: &str = "extensions.opened_databases";

/// Shuts out statements that make, rename or drop databases, or change their attributes, until the transaction ends, and waits for those that
/// run: so the list of databases is complete, and a name leads to the database of the list.
const LOCK_DATABASES: &str =
    "begin; set local lock_timeout = '60s'; lock table pg_catalog.pg_database in share row exclusive mode";

/// For how long statements about databases are waited for. One that takes longer is ended: whoever keeps such a transaction open would
/// otherwise keep his databases as they are.
const WAIT_FOR_DATABASES: Duration = Duration::from_secs(10);
const END_BLOCKING: &str = "select pg_catalog.pg_terminate_backend(b.pid)
     from pg_catalog.unnest(pg_catalog.pg_blocking_pids($1)) as b (pid)";

/// For how long a login is waited for before statements that stand in its way are ended.
const WAIT_FOR_LOGIN: Duration = Duration::from_secs(2);
const END_WAITING: &str = "select pg_catalog.pg_terminate_backend(l.pid)
     from pg_catalog.pg_locks as l
     where l.relation operator(pg_catalog.=) 'pg_catalog.pg_database'::pg_catalog.regclass and not l.granted and exists (
       select from pg_catalog.pg_locks as o
       where o.pid operator(pg_catalog.=) l.pid and o.granted and o.locktype operator(pg_catalog.=) 'object'::pg_catalog.text
         and o.classid operator(pg_catalog.=) 'pg_catalog.pg_database'::pg_catalog.regclass
         and o.objid operator(pg_catalog.=) $1
     )";

/// Databases, and whether this server can log in to each. PostgreSQL translates no statements of this server to the last encoding.
const OTHER_DATABASES: &str = "
    select d.oid, d.datname::pg_catalog.text, d.datallowconn and d.encoding operator(pg_catalog.<>) m.encoding,
      d.datallowconn, d.datconnlimit, d.encoding
    from pg_catalog.pg_database as d
    cross join pg_catalog.pg_char_to_encoding('MULE_INTERNAL'::pg_catalog.name) as m (encoding)
    where d.datname operator(pg_catalog.<>) pg_catalog.current_database() and d.datconnlimit operator(pg_catalog.<>) -2
    order by d.datistemplate desc, d.datname";

/// Lets superusers in, and nobody else: whoever is in keeps others from copying a template. The texts of the guard have ASCII letters alone.
const OPEN: &str = "
    update pg_catalog.pg_database as d set datallowconn = true, datconnlimit = 0,
      encoding = case when d.encoding operator(pg_catalog.=) pg_catalog.pg_char_to_encoding('MULE_INTERNAL'::pg_catalog.name)
        then pg_catalog.pg_char_to_encoding('SQL_ASCII'::pg_catalog.name) else d.encoding end
    where d.oid operator(pg_catalog.=) $1";
/// One that somebody has begun to drop meanwhile (its limit is -2) is left as it is.
const CLOSE: &str = "
    update pg_catalog.pg_database as d set datallowconn = $2, datconnlimit = $3, encoding = $4
    where d.oid operator(pg_catalog.=) $1 and d.datconnlimit operator(pg_catalog.<>) -2";

/// The template that PostgreSQL keeps closed.
const TEMPLATE_0: &str = "select d.oid, d.encoding from pg_catalog.pg_database as d
     where d.datname operator(pg_catalog.=) 'template0'::pg_catalog.name";

/// Names are stored in the encoding of the database in which they were given, and nobody can log in to a database of this server by a name that is
/// not UTF-8.
const RENAME: &str = "update pg_catalog.pg_database
     set datname = ('renamed_' operator(pg_catalog.||) pg_catalog.gen_random_uuid()::pg_catalog.text)::pg_catalog.name
     where oid operator(pg_catalog.=) $1 returning datname::pg_catalog.text";

/// How often databases that let nobody log in are opened while their owners close them again.
const ROUNDS: usize = 5;

/// A database that this server cannot log in to: it lets nobody in, or has an encoding without a translation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Closed {
    number: u32,
    allows_logins: bool,
    connection_limit: i32,
    encoding: i32,
}

/// Closes two ways from `postgres` to a superuser in all databases but the project's, the templates of new ones included. Functions of
/// replication load a library that their caller names, and on PostgreSQL 15 `postgres` may become a role with REPLICATION. Scripts of
/// extensions run as a superuser, and may call functions that `postgres` has made. What could not be reached is tried again by the next start.
/// `login` leads to the cluster of `superuser`.
pub(super) async fn guard_databases(login: &PrivilegedLogin, superuser: &PrivilegedSession) -> Result<()> {
    let guard = ExtensionGuard::read(superuser).await?;
    let wanted = [(SLOT_FUNCTIONS, "true".to_owned()), (EXTENSIONS, guard.digest())];
    let mut is_known = true;
    for (name, value) in &wanted {
        let row = superuser.query_opt(DONE, &[name]).await?;
        is_known &= row.is_some_and(|row| row.get::<_, &str>(0) == value);
    }
    if is_known {
        return Ok(());
    }
    migrate::close_slot_functions(superuser).await?;
    match guard_others(login, superuser, &guard).await {
        Ok(true) => {}
        Ok(false) => return Ok(()),
        Err(error) => {
            output::print_warnings(&[format!(
                "databases besides the project's are not guarded: {error:#}"
            )]);
            return Ok(());
        }
    }
    for (name, value) in &wanted {
        superuser.execute(RECORD_DONE, &[name, value]).await?;
    }
    Ok(())
}

/// Guards all databases of the list, and opens those that are closed for it. Returns whether all are guarded.
async fn guard_others(
    login: &PrivilegedLogin,
    superuser: &PrivilegedSession,
    guard: &ExtensionGuard,
) -> Result<bool> {
    let mut opened = list_opened(superuser).await?;
    let outcome = guard_and_open(login, superuser, guard, &mut opened).await;
    if outcome.is_err() {
        superuser.batch_execute("rollback").await?;
    }
    if let Err(error) = close_all(login, superuser, &opened).await {
        superuser.batch_execute("rollback").await?;
        bail!(
            "databases that let nobody log in are open for superusers, until the next start closes them: {error:#}"
        );
    }
    outcome
}

/// Databases that an earlier start may have opened, which was cut off before it closed them.
async fn list_opened(superuser: &PrivilegedSession) -> Result<Vec<Closed>> {
    let recorded = superuser.query_opt(DONE, &[&OPENED]).await?;
    let mut opened: Vec<Closed> = recorded
        .and_then(|row| serde_json::from_str(row.get(0)).ok())
        .unwrap_or_default();
    // One of an earlier version has noted nothing.
    for row in superuser.query(TEMPLATE_0, &[]).await? {
        let number = row.get(0);
        if !opened.iter().any(|earlier| earlier.number == number) {
            opened.push(Closed {
                number,
                allows_logins: false,
                connection_limit: -1,
                encoding: row.get(1),
            });
        }
    }
    Ok(opened)
}

async fn guard_and_open(
    login: &PrivilegedLogin,
    superuser: &PrivilegedSession,
    guard: &ExtensionGuard,
    opened: &mut Vec<Closed>,
) -> Result<bool> {
    let mut visits = Visits::default();
    for _ in 0..ROUNDS {
        lock_databases(login, superuser).await?;
        let closed = visits.visit(login, superuser, guard).await?;
        let has_renamed = visits.rename_unreadable(superuser).await?;
        // The list is locked, so nobody has a row of it.
        for database in &closed {
            superuser.execute(OPEN, &[&database.number]).await?;
            // The first time counts if its owner has closed it again meanwhile.
            if !opened.iter().any(|earlier| earlier.number == database.number) {
                opened.push(database.clone());
            }
        }
        if !closed.is_empty() {
            let text = serde_json::to_string(opened)?;
            superuser.execute(RECORD_DONE, &[&OPENED, &text]).await?;
        }
        superuser.batch_execute("commit").await?;
        if closed.is_empty() && !has_renamed {
            return Ok(!visits.has_failed);
        }
    }
    Ok(false)
}

/// Closes databases as they were, whatever their names are by now.
async fn close_all(login: &PrivilegedLogin, superuser: &PrivilegedSession, opened: &[Closed]) -> Result<()> {
    lock_databases(login, superuser).await?;
    for database in opened {
        let Closed {
            number,
            allows_logins,
            connection_limit,
            encoding,
        } = database;
        superuser
            .execute(CLOSE, &[number, allows_logins, connection_limit, encoding])
            .await?;
    }
    superuser.execute(FORGET, &[&OPENED]).await?;
    Ok(superuser.batch_execute("commit").await?)
}

/// Takes the lock of [`LOCK_DATABASES`], whoever is in the way.
async fn lock_databases(login: &PrivilegedLogin, superuser: &PrivilegedSession) -> Result<()> {
    let own = read_process(superuser).await?;
    let locked = superuser.batch_execute(LOCK_DATABASES);
    tokio::pin!(locked);
    if let Ok(outcome) = tokio::time::timeout(WAIT_FOR_DATABASES, &mut locked).await {
        return Ok(outcome?);
    }
    login.connect().await?.execute(END_BLOCKING, &[&own]).await?;
    Ok(locked.await?)
}

async fn read_process(session: &PrivilegedSession) -> Result<i32> {
    let row = session
        .query_one("select pg_catalog.pg_backend_pid()", &[])
        .await?;
    Ok(row.get(0))
}

/// The databases that were looked at.
#[derive(Debug, Default)]
struct Visits {
    numbers: BTreeSet<u32>,
    /// Those of the last list whose names are not UTF-8.
    unreadable: Vec<u32>,
    has_failed: bool,
}

impl Visits {
    /// Guards the open databases of the list, which is locked, as far as they were not visited before. Returns the closed ones.
    async fn visit(
        &mut self,
        login: &PrivilegedLogin,
        superuser: &PrivilegedSession,
        guard: &ExtensionGuard,
    ) -> Result<Vec<Closed>> {
        let mut closed = Vec::new();
        for row in superuser.query(OTHER_DATABASES, &[]).await? {
            let (number, is_open): (u32, bool) = (row.get(0), row.get(2));
            if self.numbers.contains(&number) {
                continue;
            }
            let Ok(name) = row.try_get::<_, String>(1) else {
                self.unreadable.push(number);
                continue;
            };
            if !is_open {
                closed.push(Closed {
                    number,
                    allows_logins: row.get(3),
                    connection_limit: row.get(4),
                    encoding: row.get(5),
                });
                continue;
            }
            self.numbers.insert(number);
            if let Err(error) = guard_soon(&login.to_database(&name), number, superuser, guard).await {
                self.has_failed = true;
                output::print_warnings(&[format!("the database {name} cannot be guarded: {error:#}")]);
            }
        }
        Ok(closed)
    }

    /// Gives those that cannot be reached by their names others, under which the next list has them. Returns whether there were any.
    async fn rename_unreadable(&mut self, superuser: &PrivilegedSession) -> Result<bool> {
        let unreadable = std::mem::take(&mut self.unreadable);
        for number in &unreadable {
            if let Some(row) = superuser.query_opt(RENAME, &[number]).await? {
                let name: String = row.get(0);
                output::print_warnings(&[format!(
                    "a database had a name that is not UTF-8, by which it cannot be reached: it is called {name} now"
                )]);
            }
        }
        Ok(!unreadable.is_empty())
    }
}

/// Guards the database with this number while the list of databases is locked. Nobody can log in to one from which a copy is made, and a statement
/// that has begun to make one waits for the lock of the list: so it is ended, and later whoever keeps a lock that this session needs.
async fn guard_soon(
    database: &PrivilegedLogin,
    number: u32,
    superuser: &PrivilegedSession,
    guard: &ExtensionGuard,
) -> Result<()> {
    let process = AtomicI32::new(0);
    // A second login beside a slow one would change the same functions.
    let guarding = guard_in(database, guard, &process);
    tokio::pin!(guarding);
    if let Ok(outcome) = tokio::time::timeout(WAIT_FOR_LOGIN, &mut guarding).await {
        return outcome;
    }
    superuser.execute(END_WAITING, &[&number]).await?;
    if let Ok(outcome) = tokio::time::timeout(WAIT_FOR_DATABASES, &mut guarding).await {
        return outcome;
    }
    let process = process.load(Ordering::Relaxed);
    superuser.execute(END_BLOCKING, &[&process]).await?;
    match tokio::time::timeout(WAIT_FOR_DATABASES, guarding).await {
        Ok(outcome) => outcome,
        Err(_) => bail!("it takes more than {} seconds", 2 * WAIT_FOR_DATABASES.as_secs()),
    }
}

async fn guard_in(database: &PrivilegedLogin, guard: &ExtensionGuard, process: &AtomicI32) -> Result<()> {
    let session = database.connect().await?;
    process.store(read_process(&session).await?, Ordering::Relaxed);
    migrate::close_slot_functions(&session).await?;
    Ok(guard.install(&session).await?)
}
