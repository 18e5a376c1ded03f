//! Keeps two runs of this program from doing the same in one database, without letting anybody else stop a run.
//!
//! Every role may take any advisory lock and keep it. So such a lock is waited for only while a superuser's session has it, and what
//! must not happen twice is kept apart by something that others cannot lock: the register of platform files, or the name of a session
//! (platform file 0113).

use std::fmt;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::error::MigrateError;

/// How long another run is waited for.
const LONGEST_WAIT: Duration = Duration::from_secs(600);
/// How often it is asked for.
const INTERVAL: Duration = Duration::from_millis(100);

const TRY: &str = "select pg_catalog.pg_try_advisory_lock( \
     pg_catalog.hashtextextended($1::pg_catalog.text, 0::pg_catalog.int8))";
const RELEASE: &str = "select pg_catalog.pg_advisory_unlock( \
     pg_catalog.hashtextextended($1::pg_catalog.text, 0::pg_catalog.int8))";

/// The process of the superuser's session that has the lock. The two halves of a key of 8 bytes stand in two columns, with 1 in the
/// third.
const FIND_PRIVILEGED_HOLDER: &str = "
    select l.pid
    from pg_catalog.pg_locks as l
    join pg_catalog.pg_stat_get_activity(null) as a on a.pid operator(pg_catalog.=) l.pid
    join pg_catalog.pg_roles as r on r.oid operator(pg_catalog.=) a.usesysid
    where l.locktype operator(pg_catalog.=) 'advisory'::pg_catalog.text and l.granted and l.objsubid operator(pg_catalog.=) 1::pg_catalog.int2 and r.rolsuper
      and l.database operator(pg_catalog.=) (
        select d.oid from pg_catalog.pg_database as d where d.datname operator(pg_catalog.=) pg_catalog.current_database()
      )
      and ((l.classid::pg_catalog.int8 operator(pg_catalog.<<) 32) operator(pg_catalog.|) l.objid::pg_catalog.int8)
        operator(pg_catalog.=) pg_catalog.hashtextextended($1::pg_catalog.text, 0::pg_catalog.int8)
    limit 1";

/// An advisory lock among sessions of superusers.
pub(super) struct PrivilegedLock {
    name: &'static str,
    /// False where a session with fewer rights has it, which does not count.
    is_taken: bool,
}

impl PrivilegedLock {
    /// Waits until no other superuser's session has the lock of this name.
    ///
    /// # Errors
    /// [`MigrateError::Busy`] after ten minutes.
    pub(super) async fn take(client: &Client, name: &'static str) -> Result<Self, MigrateError> {
        let deadline = Instant::now() + LONGEST_WAIT;
        loop {
            if client.query_one(TRY, &[&name]).await?.try_get(0)? {
                return Ok(Self { name, is_taken: true });
            }
            let holder = client.query_opt(FIND_PRIVILEGED_HOLDER, &[&name]).await?;
            let Some(holder) = holder else {
                // Asked again, as a superuser may have released it in between.
                let is_taken = client.query_one(TRY, &[&name]).await?.try_get(0)?;
                return Ok(Self { name, is_taken });
            };
            if Instant::now() > deadline {
                return Err(MigrateError::Busy(holder.try_get(0)?));
            }
            sleep(INTERVAL).await;
        }
    }

    /// Releases the lock before the session ends.
    pub(super) async fn release(self, client: &Client) -> Result<(), MigrateError> {
        if self.is_taken {
            client.query_one(RELEASE, &[&self.name]).await?;
        }
        Ok(())
    }
}

const HAS_CLAIM: &str = "select pg_catalog.to_regprocedure('_selvedge.find_tenants_run()') is not null";

const FIND_TENANTS_RUN: &str = "
    select r.pid, r.application, r.client,
      pg_catalog.to_char(r.started at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC'
    from _selvedge.find_tenants_run() as r";

/// The session that changes tenants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantsRun {
    /// The process of the database server that serves it.
    pub pid: i32,
    /// What it calls itself; may be empty.
    pub application: String,
    /// The address that it comes from; none over a socket.
    pub client: Option<String>,
    /// When it began: date and time in UTC.
    pub started: String,
}

impl TenantsRun {
    /// Names the session that holds the lock, and the statement that ends it.
    fn advise(&self) -> String {
        format!(
            ": {self}. Wait for it, or end it with `select pg_terminate_backend({})`",
            self.pid
        )
    }
}

impl fmt::Display for TenantsRun {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the database's session {}", self.pid)?;
        if !self.application.is_empty() {
            write!(formatter, " of {}", self.application)?;
        }
        if let Some(client) = &self.client {
            write!(formatter, " from {client}")?;
        }
        write!(formatter, ", which began at {}", self.started)
    }
}

/// Waits until this session, which is one of `postgres`, is the only one that changes tenants. It stays so until it ends or calls
/// [`release_tenants`]. `on_wait` runs once with the other one, if one is waited for.
///
/// # Errors
/// [`MigrateError::TenantsBusy`] after ten minutes, [`MigrateError::NoPlatform`] in a database without the function.
pub(super) async fn claim_tenants(
    client: &Client,
    on_wait: impl FnOnce(&TenantsRun),
) -> Result<(), MigrateError> {
    if !client.query_one(HAS_CLAIM, &[]).await?.try_get::<_, bool>(0)? {
        return Err(MigrateError::NoPlatform);
    }
    let deadline = Instant::now() + LONGEST_WAIT;
    let mut on_wait = Some(on_wait);
    while !client
        .query_one("select _selvedge.claim_tenants()", &[])
        .await?
        .try_get::<_, bool>(0)?
    {
        // None when it has ended since it was in the way.
        let other = find_tenants_run(client).await?;
        if let Some(other) = &other
            && let Some(on_wait) = on_wait.take()
        {
            on_wait(other);
        }
        if Instant::now() > deadline {
            let who = other.as_ref().map_or_else(String::new, TenantsRun::advise);
            return Err(MigrateError::TenantsBusy(who));
        }
        sleep(INTERVAL).await;
    }
    Ok(())
}

async fn find_tenants_run(client: &Client) -> Result<Option<TenantsRun>, tokio_postgres::Error> {
    let row = client.query_opt(FIND_TENANTS_RUN, &[]).await?;
    row.map(|row| {
        Ok(TenantsRun {
            pid: row.try_get(0)?,
            application: row.try_get(1)?,
            client: row.try_get(2)?,
            started: row.try_get(3)?,
        })
    })
    .transpose()
}

/// Lets other sessions change tenants again, also where a pooler keeps this one open.
///
/// # Errors
/// When the connection is lost.
pub async fn release_tenants(client: &Client) -> Result<(), tokio_postgres::Error> {
    client.batch_execute("select _selvedge.release_tenants()").await
}

/// Makes this session, which is a superuser's, the only one that imports into the database, until it ends or calls [`release_import`]. Returns false if another one
/// does.
///
/// # Errors
/// When the query fails, as in a database without platform file 0113.
pub async fn claim_import(client: &Client) -> Result<bool, tokio_postgres::Error> {
    let claim = "select _selvedge.claim_session('import', pg_catalog.pg_backend_pid())";
    client.query_one(claim, &[]).await?.try_get(0)
}

/// Lets other sessions import again.
///
/// # Errors
/// When the connection is lost.
pub async fn release_import(client: &Client) -> Result<(), tokio_postgres::Error> {
    let release = "update _selvedge.selvedge_worker_sessions as w set pid = null, started = null
        where w.name operator(pg_catalog.=) 'import'::pg_catalog.text and w.pid operator(pg_catalog.=) pg_catalog.pg_backend_pid()";
    client.batch_execute(release).await
}

/// Begins a transaction that others of its kind wait for, as only superusers may lock the register so. Readers are not stopped by it.
const BEGIN_ON_REGISTER: &str = "
    begin; set local lock_timeout = '10min'; lock table _selvedge.platform_migrations in exclusive mode; set local lock_timeout = 0";

/// The process that has locked the register.
const FIND_HOLDER_OF_REGISTER: &str = "
    select l.pid from pg_catalog.pg_locks as l
    where l.granted and l.mode operator(pg_catalog.=) 'ExclusiveLock'::pg_catalog.text
      and l.relation operator(pg_catalog.=) pg_catalog.to_regclass('_selvedge.platform_migrations'::pg_catalog.text)::pg_catalog.oid
    limit 1";

/// Begins a transaction that has the register of platform files for itself.
///
/// # Errors
/// [`MigrateError::Busy`] when another run has it for ten minutes.
pub(super) async fn begin_on_register(client: &Client) -> Result<(), MigrateError> {
    let Err(error) = client.batch_execute(BEGIN_ON_REGISTER).await else {
        return Ok(());
    };
    client.batch_execute("rollback").await?;
    if error.code() != Some(&SqlState::LOCK_NOT_AVAILABLE) {
        return Err(error.into());
    }
    match client.query_opt(FIND_HOLDER_OF_REGISTER, &[]).await? {
        Some(holder) => Err(MigrateError::Busy(holder.try_get(0)?)),
        None => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_012_a_run_that_does_not_end_is_named_with_the_statement_that_ends_it() {
        let run = TenantsRun {
            pid: 4711,
            application: "selvedge".to_owned(),
            client: Some("10.0.0.3".to_owned()),
            started: "2026-12-01 10:00:00 UTC".to_owned(),
        };

        let message = MigrateError::TenantsBusy(run.advise()).to_string();

        assert!(
            message.ends_with(
                "in ten minutes: the database's session 4711 of selvedge from 10.0.0.3, which began at 2026-12-01 10:00:00 UTC. Wait \
                 for it, or end it with `select pg_terminate_backend(4711)`"
            ),
            "{message}"
        );
    }
}
