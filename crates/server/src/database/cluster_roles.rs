//! What only the embedded cluster does about roles: their passwords, what PostgreSQL 15 lets `postgres` become, and what it may do in databases of
//! its own.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Result, bail};
use selvedge_postgres::cluster::{ClusterAccess, REPLICATION_LOGIN};
use selvedge_postgres::migrate::{self, ExtensionGuard, RolePasswords, matches_verifier};
use selvedge_postgres::{PrivilegedLogin, PrivilegedSession, quote_identifier};

use crate::output;

/// Sets what is missing of the roles' passwords. New platform files may create roles, which have no password yet. At other starts nothing has
/// changed, unless somebody has changed the superuser's password, from which others are made, or the data are those of a backup.
pub(crate) async fn set_passwords(
    access: &ClusterAccess,
    superuser: &PrivilegedSession,
    has_new_roles: bool,
) -> Result<()> {
    let query = "select a.rolpassword from pg_catalog.pg_authid as a
        where a.rolname operator(pg_catalog.=) $1::pg_catalog.text::pg_catalog.name";
    let row = superuser.query_opt(query, &[&REPLICATION_LOGIN]).await?;
    if row.is_none() {
        output::print_warnings(&[format!(
            "there is no role {REPLICATION_LOGIN}, so Realtime sees no changes: give it its name back"
        )]);
    }
    let own = access.role_password(REPLICATION_LOGIN);
    // Without the role nothing is known of the others, whose passwords somebody may have chosen.
    let is_known = row.is_none_or(|row| {
        let verifier: Option<String> = row.get(0);
        verifier.is_some_and(|verifier| matches_verifier(&own, &verifier))
    });
    if has_new_roles || !is_known {
        migrate::set_role_passwords(superuser, &all_passwords(access)).await?;
    }
    Ok(())
}

/// The roles of a project. PostgreSQL's own have lower numbers.
const ROLES: &str = "select a.oid, a.rolname::pg_catalog.text from pg_catalog.pg_authid as a
     where a.oid operator(pg_catalog.>=) 16384::pg_catalog.oid";
const RENAME_ROLE: &str = "update pg_catalog.pg_authid
     set rolname = ('renamed_' operator(pg_catalog.||) pg_catalog.gen_random_uuid()::pg_catalog.text)::pg_catalog.name
     where oid operator(pg_catalog.=) $1 returning rolname::pg_catalog.text";

/// Gives roles other names whose own are not UTF-8, as those are that were given in a database of another encoding. No session of this server
/// could read or write them.
pub(super) async fn rename_unreadable_roles(superuser: &PrivilegedSession) -> Result<()> {
    for row in superuser.query(ROLES, &[]).await? {
        let number: u32 = row.get(0);
        if row.try_get::<_, String>(1).is_ok() {
            continue;
        }
        // Somebody may keep the row as it is.
        superuser
            .batch_execute("begin; set local lock_timeout = '10s'")
            .await?;
        let renamed = superuser.query_opt(RENAME_ROLE, &[&number]).await;
        let end = if renamed.is_ok() { "commit" } else { "rollback" };
        superuser.batch_execute(end).await?;
        let outcome = match renamed {
            Ok(Some(row)) => format!("it is called {} now", row.get::<_, &str>(0)),
            Ok(None) => continue,
            Err(error) => format!("renaming it has failed: {error:#}"),
        };
        output::print_warnings(&[format!(
            "role {number} has a name that is not UTF-8, which nobody can read: {outcome}"
        )]);
    }
    Ok(())
}

fn all_passwords(access: &ClusterAccess) -> RolePasswords {
    let password = |role| Some(access.role_password(role));
    RolePasswords {
        postgres: password("postgres"),
        authenticator: password("authenticator"),
        supabase_auth_admin: password("supabase_auth_admin"),
        supabase_storage_admin: password("supabase_storage_admin"),
        supabase_functions_admin: password("supabase_functions_admin"),
        supabase_replication_admin: password(REPLICATION_LOGIN),
        supabase_read_only_user: password("supabase_read_only_user"),
        pgbouncer: password("pgbouncer"),
        console: password("selvedge_console_reader"),
    }
}

/// What an earlier start has done in every database, so that this one need not connect to all of them.
const DONE: &str = "select s.value from _selvedge.project_settings as s
     where s.name operator(pg_catalog.=) $1::pg_catalog.text";
const RECORD_DONE: &str = "insert into _selvedge.project_settings (name, value) values ($1, $2)
     on conflict (name) do update set value = excluded.value";
const SLOT_FUNCTIONS: &str = "slot_functions.are_closed";
const EXTENSIONS: &str = "extensions.guard";

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

const OTHER_DATABASES: &str =
    "select d.oid, d.datname::pg_catalog.text, d.datallowconn, d.datconnlimit from pg_catalog.pg_database as d
     where d.datname operator(pg_catalog.<>) pg_catalog.current_database() and d.datconnlimit operator(pg_catalog.<>) -2
     order by d.datistemplate desc, d.datname";

/// Names are stored in the encoding of the database in which they were given, and nobody can log in to a database of this server by a name that is
/// not UTF-8.
const RENAME: &str = "update pg_catalog.pg_database
     set datname = ('renamed_' operator(pg_catalog.||) pg_catalog.gen_random_uuid()::pg_catalog.text)::pg_catalog.name
     where oid operator(pg_catalog.=) $1 returning datname::pg_catalog.text";

/// How often databases that let nobody log in are opened while their owners close them again.
const ROUNDS: usize = 5;

/// The template that PostgreSQL keeps closed.
const TEMPLATE_0: &str = "template0";

/// A database that lets nobody log in.
#[derive(Debug)]
struct Closed {
    name: String,
    connection_limit: i32,
}

impl Closed {
    /// Lets superusers in, and nobody else: whoever is in keeps others from copying a template.
    fn open(&self) -> String {
        let name = quote_identifier(&self.name);
        format!("alter database {name} with allow_connections true connection limit 0")
    }

    fn close(&self) -> String {
        format!(
            "alter database {} with allow_connections false connection limit {}",
            quote_identifier(&self.name),
            self.connection_limit
        )
    }
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
    // That of an earlier start may have been cut off before it closed this one.
    let mut opened = vec![Closed {
        name: TEMPLATE_0.to_owned(),
        connection_limit: -1,
    }];
    let outcome = guard_and_open(login, superuser, guard, &mut opened).await;
    if outcome.is_err() {
        superuser.batch_execute("rollback").await?;
    }
    for database in opened {
        // Its owner may have renamed or dropped it.
        superuser.batch_execute(&database.close()).await.ok();
    }
    outcome
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
        superuser.batch_execute("commit").await?;
        if closed.is_empty() && !has_renamed {
            return Ok(!visits.has_failed);
        }
        for database in closed {
            // If its owner has renamed it, the next list has its name.
            superuser.batch_execute(&database.open()).await.ok();
            // The first time counts if its owner has closed it again meanwhile.
            if !opened.iter().any(|earlier| earlier.name == database.name) {
                opened.push(database);
            }
        }
    }
    Ok(false)
}

/// Takes the lock of [`LOCK_DATABASES`], whoever is in the way.
async fn lock_databases(login: &PrivilegedLogin, superuser: &PrivilegedSession) -> Result<()> {
    let own: i32 = superuser
        .query_one("select pg_catalog.pg_backend_pid()", &[])
        .await?
        .get(0);
    let locked = superuser.batch_execute(LOCK_DATABASES);
    tokio::pin!(locked);
    if let Ok(outcome) = tokio::time::timeout(WAIT_FOR_DATABASES, &mut locked).await {
        return Ok(outcome?);
    }
    login.connect().await?.execute(END_BLOCKING, &[&own]).await?;
    Ok(locked.await?)
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
                let connection_limit = row.get(3);
                closed.push(Closed {
                    name,
                    connection_limit,
                });
                continue;
            }
            self.numbers.insert(number);
            if let Err(error) = guard_soon(&login.to_database(&name), number, superuser, guard).await {
                self.has_failed = true;
                output::print_warnings(&[format!("the database {name} cannot be reached: {error:#}")]);
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
/// that has begun to make one waits for the lock of the list: so it is ended.
async fn guard_soon(
    database: &PrivilegedLogin,
    number: u32,
    superuser: &PrivilegedSession,
    guard: &ExtensionGuard,
) -> Result<()> {
    // A second login beside a slow one would change the same functions.
    let guarding = guard_in(database, guard);
    tokio::pin!(guarding);
    if let Ok(outcome) = tokio::time::timeout(WAIT_FOR_LOGIN, &mut guarding).await {
        return outcome;
    }
    superuser.execute(END_WAITING, &[&number]).await?;
    match tokio::time::timeout(WAIT_FOR_DATABASES, guarding).await {
        Ok(outcome) => outcome,
        Err(_) => bail!("no login after {} seconds", WAIT_FOR_DATABASES.as_secs()),
    }
}

async fn guard_in(database: &PrivilegedLogin, guard: &ExtensionGuard) -> Result<()> {
    let session = database.connect().await?;
    migrate::close_slot_functions(&session).await?;
    Ok(guard.install(&session).await?)
}
