//! Keeps two runs of this program from doing the same in one database, without letting anybody else stop a run.
//!
//! Every role may take any advisory lock and keep it. So such a lock is waited for only while a superuser's session has it, and what
//! must not happen twice is kept apart by something that others cannot lock: the register of platform files, or the name of a session
//! (platform file 0113).

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

const HAS_CLAIM: &str = "select pg_catalog.to_regprocedure('_selvedge.release_tenants()') is not null";

/// Waits until this session, which is one of `postgres`, is the only one that changes tenants. It stays so until it ends or calls
/// [`release_tenants`]. `on_wait` runs once, if another one is waited for.
///
/// # Errors
/// [`MigrateError::TenantsBusy`] after ten minutes, [`MigrateError::NoPlatform`] in a database without the function.
pub(super) async fn claim_tenants(client: &Client, on_wait: impl FnOnce()) -> Result<(), MigrateError> {
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
        if let Some(on_wait) = on_wait.take() {
            on_wait();
        }
        if Instant::now() > deadline {
            return Err(MigrateError::TenantsBusy);
        }
        sleep(INTERVAL).await;
    }
    Ok(())
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
    let release = "update _selvedge.worker_sessions as w set pid = null, started = null
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
