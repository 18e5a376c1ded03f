//! Creates databases as copies of the template, and removes them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use selvedge_database::embedded::{administrator_login, connect, connect_privileged};
use selvedge_postgres::cluster::{Cluster, DATABASE};
use selvedge_postgres::{PrivilegedLogin, PrivilegedSession, quote_identifier};
use tokio_postgres::{Client, Config};
use walkdir::WalkDir;

use super::messages::LeasedDatabase;

/// A database that always exists and is never copied: `create database` requires that nobody is connected to its template.
const MAINTENANCE_DATABASE: &str = "template1";

/// The names of databases of stacks begin with this.
const NAME_PREFIX: &str = "stack_";

/// How long the last connections to a database may take to end.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The objects of the template's buckets, in the folder of the state.
pub(super) const TEMPLATE_OBJECTS: &str = "storage";

/// The folder with one folder for each stack, in the folder of the state.
const STACK_FOLDERS: &str = "stacks";

/// `create database` copies neither the settings nor the rights that a database has in the catalogs of the whole cluster.
const COPY_SETTINGS: &str = "
    insert into pg_catalog.pg_db_role_setting (setdatabase, setrole, setconfig)
      select copy.oid, kept.setrole, kept.setconfig
      from pg_catalog.pg_db_role_setting kept
      join pg_catalog.pg_database template on template.oid operator(pg_catalog.=) kept.setdatabase
        and template.datname operator(pg_catalog.=) $2::pg_catalog.name
      join pg_catalog.pg_database copy on copy.datname operator(pg_catalog.=) $1::pg_catalog.name";

/// See [`COPY_SETTINGS`]; the owner is among the rights.
const COPY_RIGHTS: &str = "
    update pg_catalog.pg_database copy set datacl = template.datacl, datdba = template.datdba
    from pg_catalog.pg_database template
    where template.datname operator(pg_catalog.=) $2::pg_catalog.name
      and copy.datname operator(pg_catalog.=) $1::pg_catalog.name";

/// Jobs of pg_cron name the database they run in, which is the template's in the copied rows. A table of this name that the superuser
/// has not made is the project's, and its triggers would run with the superuser's rights.
const MOVE_JOBS: &str = "
    do $$ begin
      if exists (
        select from pg_catalog.pg_class as c
        join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) c.relnamespace
        join pg_catalog.pg_authid as o on o.oid operator(pg_catalog.=) c.relowner
        where n.nspname operator(pg_catalog.=) 'cron'::pg_catalog.name and c.relname operator(pg_catalog.=) 'job'::pg_catalog.name
          and c.relkind operator(pg_catalog.=) 'r'::pg_catalog.\"char\" and o.rolsuper
          and not exists (
            select from pg_catalog.pg_trigger as t
            join pg_catalog.pg_proc as p on p.oid operator(pg_catalog.=) t.tgfoid
            join pg_catalog.pg_authid as f on f.oid operator(pg_catalog.=) p.proowner
            where t.tgrelid operator(pg_catalog.=) c.oid and not f.rolsuper
          )
      ) then
        update cron.job set database = pg_catalog.current_database();
      end if;
    end $$";

/// PostgreSQL's own catalogs, to which nobody can attach code.
const CATALOGS: &str = "
    select pg_catalog.string_agg(pg_catalog.format('%I.%I', n.nspname, c.relname), ', ')
    from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) c.relnamespace
    where n.nspname operator(pg_catalog.=) 'pg_catalog'::pg_catalog.name and c.relkind operator(pg_catalog.=) 'r'::pg_catalog.\"char\"";

/// Makes and removes the databases of one cluster.
pub(super) struct Databases {
    superuser: PrivilegedLogin,
    administrator: Config,
    port: u16,
    state: PathBuf,
    next: AtomicU64,
}

impl Databases {
    /// Creates the databases of `cluster`, with the objects of copies below `state`.
    pub(super) fn new(cluster: &Cluster, state: &Path) -> Self {
        Self {
            superuser: cluster.superuser_login(),
            administrator: administrator_login(cluster),
            port: cluster.port(),
            state: state.to_owned(),
            next: AtomicU64::new(1),
        }
    }

    /// Connects as superuser beside the template and its copies.
    async fn connect_to_other(&self) -> Result<PrivilegedSession> {
        connect_privileged(&self.superuser.to_database(MAINTENANCE_DATABASE)).await
    }

    /// Turns the project's database into a template: updates its statistics, and forbids connections, because a connection
    /// would prevent copies.
    pub(super) async fn finish_template(&self) -> Result<()> {
        let template = connect_privileged(&self.superuser).await?;
        let catalogs: String = template.query_one(CATALOGS, &[]).await?.get(0);
        template
            .batch_execute(&format!("vacuum (analyze) {catalogs}"))
            .await?;
        drop(template);
        // As `postgres`: expressions of indexes and of statistics are evaluated. Tables of extensions are passed by.
        let template = connect(&self.administrator).await?;
        template.batch_execute("vacuum (analyze)").await?;
        drop(template);
        let client = self.connect_to_other().await?;
        let close = format!("alter database {DATABASE} with allow_connections false is_template true");
        client.batch_execute(&close).await?;
        Ok(())
    }

    /// Removes what an earlier host has left when it was killed.
    pub(super) async fn remove_leftovers(&self) -> Result<()> {
        let client = self.connect_to_other().await?;
        let names = client
            .query(
                "select datname from pg_catalog.pg_database where datname operator(pg_catalog.~~) 'stack\\_%'::pg_catalog.text",
                &[],
            )
            .await?;
        for row in names {
            drop_database(&client, row.get(0)).await?;
        }
        remove_folder(&self.state.join(STACK_FOLDERS))
    }

    /// Copies the template: its database, and its objects into a new folder.
    pub(super) async fn create(&self) -> Result<LeasedDatabase> {
        let name = format!("{NAME_PREFIX}{}", self.next.fetch_add(1, Ordering::Relaxed));
        let client = self.connect_to_other().await?;
        // Copying files takes less time than writing every page through the log, as the other strategy does.
        let create = format!("create database {name} template {DATABASE} strategy file_copy");
        client
            .batch_execute(&create)
            .await
            .context("cannot copy the template")?;
        client.execute(COPY_SETTINGS, &[&name, &DATABASE]).await?;
        client.execute(COPY_RIGHTS, &[&name, &DATABASE]).await?;
        let copy = connect_privileged(&self.superuser.to_copy(&name)).await?;
        copy.batch_execute(MOVE_JOBS).await?;
        let data_dir = self.state.join(STACK_FOLDERS).join(&name);
        let (objects, copy) = (self.state.join(TEMPLATE_OBJECTS), data_dir.join("storage"));
        tokio::task::spawn_blocking(move || link_files(&objects, &copy)).await??;
        Ok(LeasedDatabase {
            name,
            port: self.port,
            data_dir,
        })
    }

    /// Drops a database and deletes its objects. Connections to it are ended.
    pub(super) async fn remove(&self, database: &LeasedDatabase) -> Result<()> {
        let client = self.connect_to_other().await?;
        drop_database(&client, &database.name).await?;
        let folder = database.data_dir.clone();
        tokio::task::spawn_blocking(move || remove_folder(&folder)).await?
    }
}

/// Drops a database, and tries again while a replication slot of it is still in use: `force` ends connections, but is refused
/// before it gets to them when one of them streams changes.
async fn drop_database(client: &Client, name: &str) -> Result<()> {
    let drop_statement = format!("drop database if exists {} with (force)", quote_identifier(name));
    let end_connections = "select pg_catalog.pg_terminate_backend(pid) from pg_catalog.pg_stat_activity \
         where datname operator(pg_catalog.=) $1::pg_catalog.name";
    let deadline = Instant::now() + DISCONNECT_TIMEOUT;
    loop {
        client.execute(end_connections, &[&name]).await?;
        match client.batch_execute(&drop_statement).await {
            Err(_) if Instant::now() < deadline => tokio::time::sleep(Duration::from_millis(10)).await,
            outcome => return outcome.with_context(|| format!("cannot drop the database {name}")),
        }
    }
}

/// Gives a stack its own names for the template's objects. Files of objects are never changed, only replaced, so that the
/// template keeps its own.
fn link_files(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    for entry in WalkDir::new(from).min_depth(1).into_iter().filter_map(Result::ok) {
        let target = to.join(entry.path().strip_prefix(from)?);
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(&target)?;
        } else if entry.file_type().is_file() {
            std::fs::hard_link(entry.path(), &target)
                .with_context(|| format!("cannot create {}", target.display()))?;
        }
    }
    Ok(())
}

fn remove_folder(folder: &Path) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot delete {}", folder.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use selvedge_testing::TestDatabase;

    use super::*;

    /// `postgres` may make databases, and those of stacks are found by the beginning of their names.
    #[tokio::test]
    async fn gw_012_a_name_of_a_database_is_no_sql() {
        let database = TestDatabase::create().await;
        let superuser = database.superuser().await;
        let name = format!("{NAME_PREFIX}{}\"; select", database.name());
        let create = format!("create database {}", quote_identifier(&name));
        superuser.batch_execute(&create).await.expect("created");

        drop_database(&superuser, &name).await.expect("dropped");

        let left = "select count(*) from pg_database where datname = $1";
        let row = superuser.query_one(left, &[&name]).await.expect("a row");
        assert_eq!(row.get::<_, i64>(0), 0);
    }
}
