//! Databases that a start opens for superusers alone while it visits them, and the note by which the next start gives that back if this one is cut off.

use anyhow::{Result, bail};
use selvedge_postgres::{PrivilegedLogin, PrivilegedSession};
use selvedge_terminal::print_warnings;
use serde::{Deserialize, Serialize};

use super::catalog_locks::lock_catalogs;

/// The list of databases. While it is locked nobody makes, renames or drops one, or changes its attributes: so it is complete, and a name leads to
/// the database of the list.
pub(crate) const DATABASES: &str = "pg_catalog.pg_database";

const READ: &str = "select s.value from _selvedge.selvedge_project_settings as s
     where s.name operator(pg_catalog.=) $1::pg_catalog.text";
const RECORD: &str = "insert into _selvedge.selvedge_project_settings (name, value) values ($1, $2)
     on conflict (name) do update set value = excluded.value";
const FORGET: &str = "delete from _selvedge.selvedge_project_settings as s where s.name operator(pg_catalog.=) $1::pg_catalog.text";
/// The databases that a start has opened and not yet closed.
const OPENED: &str = "extensions.opened_databases";
/// Where such a note stays that this version cannot read.
const UNREADABLE: &str = "extensions.opened_databases.unreadable";

/// Databases that are as [`OPEN`] leaves them. Their owners are still in the list of what depends on roles.
const LEFT_OPEN: &str = "
    select d.oid, d.encoding, o.refobjid from pg_catalog.pg_database as d
    join pg_catalog.pg_shdepend as o on o.dbid operator(pg_catalog.=) 0::pg_catalog.oid
      and o.classid operator(pg_catalog.=) 'pg_catalog.pg_database'::pg_catalog.regclass::pg_catalog.oid
      and o.objid operator(pg_catalog.=) d.oid and o.deptype operator(pg_catalog.=) 'o'::pg_catalog.\"char\"
    where d.datallowconn and d.datconnlimit operator(pg_catalog.=) 0 and d.datdba operator(pg_catalog.=) 10::pg_catalog.oid";

/// Lets superusers log in to a database, and nobody else. It belongs to the first superuser meanwhile, because its owner could close it again
/// before it is visited, and it is no template, because somebody could copy it without the guard. A database in MULE_INTERNAL is visited as
/// SQL_ASCII: PostgreSQL translates nothing to the former, and the texts of the guard are ASCII.
const OPEN: &str = "
    update pg_catalog.pg_database as d set datallowconn = true, datconnlimit = 0, datdba = 10, datistemplate = false,
      encoding = case when d.encoding operator(pg_catalog.=) pg_catalog.pg_char_to_encoding('MULE_INTERNAL'::pg_catalog.name)
        then pg_catalog.pg_char_to_encoding('SQL_ASCII'::pg_catalog.name) else d.encoding end
    where d.oid operator(pg_catalog.=) $1";

/// Ends the sessions that copy this database: they wait for the lock of the list, and nobody can log in to the database before they end.
pub(crate) const END_WAITING: &str = "select pg_catalog.pg_terminate_backend(l.pid)
     from pg_catalog.pg_locks as l
     where l.relation operator(pg_catalog.=) 'pg_catalog.pg_database'::pg_catalog.regclass and not l.granted and exists (
       select from pg_catalog.pg_locks as o
       where o.pid operator(pg_catalog.=) l.pid and o.granted and o.locktype operator(pg_catalog.=) 'object'::pg_catalog.text
         and o.classid operator(pg_catalog.=) 'pg_catalog.pg_database'::pg_catalog.regclass
         and o.objid operator(pg_catalog.=) $1
     )";

/// Gives back what [`OPEN`] has changed and nobody else since. One that somebody has begun to drop (its limit is -2) is left as it is. PostgreSQL's
/// own template is closed in any case: an earlier version has opened it without a limit, and `pg_upgrade` refuses a cluster where it is open.
const CLOSE: &str = "
    update pg_catalog.pg_database as d set
      datallowconn = case when as_opened.it then $2 else d.datallowconn end,
      datconnlimit = case when as_opened.it then $3 else d.datconnlimit end,
      encoding = $4,
      datdba = case when d.datdba operator(pg_catalog.=) 10::pg_catalog.oid then $5 else d.datdba end,
      datistemplate = d.datistemplate or $6
    from pg_catalog.pg_database as o
    cross join lateral (select o.datallowconn and (
      o.datconnlimit operator(pg_catalog.=) 0 or o.datname operator(pg_catalog.=) 'template0'::pg_catalog.name)) as as_opened (it)
    where d.oid operator(pg_catalog.=) $1 and o.oid operator(pg_catalog.=) d.oid and d.datconnlimit operator(pg_catalog.<>) -2";

/// PostgreSQL's own template, which nobody but a start opens.
const OPENED_TEMPLATE: &str = "select d.oid, d.encoding from pg_catalog.pg_database as d
     where d.datname operator(pg_catalog.=) 'template0'::pg_catalog.name and d.datallowconn";

/// A database as it is before a start opens it for superusers alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClosedDatabase {
    pub(crate) number: u32,
    pub(crate) allows_logins: bool,
    pub(crate) connection_limit: i32,
    pub(crate) encoding: i32,
    /// An earlier version has changed neither of these, and noted neither.
    #[serde(default = "first_superuser")]
    pub(crate) owner: u32,
    #[serde(default)]
    pub(crate) is_template: bool,
}

/// The owner of databases while they are open for superusers alone.
fn first_superuser() -> u32 {
    10
}

impl ClosedDatabase {
    /// Whether only superusers can log in and change that, as [`open_databases`] leaves a database.
    pub(crate) fn keeps_others_out(&self) -> bool {
        self.connection_limit == 0 && self.owner == first_superuser()
    }
}

/// What a start has noted by this name.
///
/// # Errors
/// When the query fails.
pub(crate) async fn read_note(superuser: &PrivilegedSession, name: &str) -> Result<Option<String>> {
    let row = superuser.query_opt(READ, &[&name]).await?;
    Ok(row.map(|row| row.get(0)))
}

/// Notes a value for the next start.
///
/// # Errors
/// When the statement fails.
pub(crate) async fn record_note(superuser: &PrivilegedSession, name: &str, value: &str) -> Result<()> {
    superuser.execute(RECORD, &[&name, &value]).await?;
    Ok(())
}

/// Opens databases, and notes how they were, in the transaction in which the list of databases is locked. So nobody has a row of it.
///
/// # Errors
/// When a statement fails.
pub(crate) async fn open_databases(
    superuser: &PrivilegedSession,
    databases: &[ClosedDatabase],
) -> Result<()> {
    if databases.is_empty() {
        return Ok(());
    }
    let mut opened = list_noted(superuser).await?;
    for database in databases {
        superuser.execute(OPEN, &[&database.number]).await?;
        superuser.execute(END_WAITING, &[&database.number]).await?;
        // The first time counts if somebody has closed it again meanwhile.
        if !opened.iter().any(|earlier| earlier.number == database.number) {
            opened.push(database.clone());
        }
    }
    record_note(superuser, OPENED, &serde_json::to_string(&opened)?).await
}

/// Closes the databases that this start, or one that was cut off, has opened, whatever their names are by now.
///
/// # Errors
/// When a statement fails, or the list of databases cannot be locked.
pub(crate) async fn close_databases(login: &PrivilegedLogin, superuser: &PrivilegedSession) -> Result<()> {
    let mut opened = list_noted(superuser).await?;
    // An earlier version has noted nothing.
    for row in superuser.query(OPENED_TEMPLATE, &[]).await? {
        let number: u32 = row.get(0);
        if !opened.iter().any(|earlier| earlier.number == number) {
            opened.push(ClosedDatabase {
                number,
                allows_logins: false,
                connection_limit: -1,
                encoding: row.get(1),
                owner: 10,
                is_template: true,
            });
        }
    }
    if opened.is_empty() {
        return Ok(());
    }
    if let Err(error) = restore_databases(login, superuser, &opened).await {
        superuser.batch_execute("rollback").await?;
        bail!(
            "some databases let only superusers log in, until the next start gives them back as they were: {error:#}"
        );
    }
    Ok(())
}

async fn list_noted(superuser: &PrivilegedSession) -> Result<Vec<ClosedDatabase>> {
    let Some(noted) = read_note(superuser, OPENED).await? else {
        return Ok(Vec::new());
    };
    match serde_json::from_str(&noted) {
        Ok(opened) => Ok(opened),
        Err(error) => set_note_aside(superuser, &noted, &error).await,
    }
}

/// Keeps a note that this version cannot read under another name. Returns the databases that are still open for superusers alone, to be closed
/// and given to their owners, who may open them.
async fn set_note_aside(
    superuser: &PrivilegedSession,
    noted: &str,
    error: &serde_json::Error,
) -> Result<Vec<ClosedDatabase>> {
    record_note(superuser, UNREADABLE, noted).await?;
    let rows = superuser.query(LEFT_OPEN, &[]).await?;
    print_warnings(&[format!(
        "the note {OPENED} of another version cannot be read ({error}), and is kept as {UNREADABLE} in \
         _selvedge.selvedge_project_settings: {} databases that it may be about let nobody log in until their owners allow it (alter database … allow_connections true)",
        rows.len()
    )]);
    if rows.is_empty() {
        superuser.execute(FORGET, &[&OPENED]).await?;
    }
    let left = rows.iter().map(|row| ClosedDatabase {
        number: row.get(0),
        allows_logins: false,
        connection_limit: -1,
        encoding: row.get(1),
        owner: row.get(2),
        is_template: false,
    });
    Ok(left.collect())
}

async fn restore_databases(
    login: &PrivilegedLogin,
    superuser: &PrivilegedSession,
    opened: &[ClosedDatabase],
) -> Result<()> {
    lock_catalogs(login, superuser, DATABASES).await?;
    for database in opened {
        let ClosedDatabase {
            number,
            allows_logins,
            connection_limit,
            encoding,
            owner,
            is_template,
        } = database;
        superuser
            .execute(
                CLOSE,
                &[
                    number,
                    allows_logins,
                    connection_limit,
                    encoding,
                    owner,
                    is_template,
                ],
            )
            .await?;
    }
    superuser.execute(FORGET, &[&OPENED]).await?;
    Ok(superuser.batch_execute("commit").await?)
}
