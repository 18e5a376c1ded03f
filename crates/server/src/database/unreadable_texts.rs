//! Names, settings and comments of the whole cluster that are not UTF-8. PostgreSQL stores them in the encoding of the database in which they were
//! given, and `postgres` may make databases of any encoding. No session of this server could read or write them.

use anyhow::Result;
use selvedge_postgres::PrivilegedSession;
use tokio_postgres::types::ToSql;

use crate::output;

/// The roles of a project. PostgreSQL's own have lower numbers.
const ROLES: &str = "select a.oid, a.rolname::pg_catalog.text from pg_catalog.pg_authid as a
     where a.oid operator(pg_catalog.>=) 16384::pg_catalog.oid";
const RENAME_ROLE: &str = "update pg_catalog.pg_authid
     set rolname = ('renamed_' operator(pg_catalog.||) pg_catalog.gen_random_uuid()::pg_catalog.text)::pg_catalog.name
     where oid operator(pg_catalog.=) $1 returning rolname::pg_catalog.text";

/// Settings of databases and roles, as the bytes that they are, each with its place.
const SETTINGS: &str = "
    select s.setdatabase, s.setrole, pg_catalog.textsend(e.entry)
    from pg_catalog.pg_db_role_setting as s
    cross join pg_catalog.unnest(s.setconfig) as e (entry)";
/// PostgreSQL expects no row without settings.
const REMOVE_SETTING: &str = "
    with emptied as (
      delete from pg_catalog.pg_db_role_setting as s
      where s.setdatabase operator(pg_catalog.=) $1 and s.setrole operator(pg_catalog.=) $2 and not exists (
        select from pg_catalog.unnest(s.setconfig) as e (entry) where pg_catalog.textsend(e.entry) operator(pg_catalog.<>) $3
      )
    )
    update pg_catalog.pg_db_role_setting as s set setconfig = array(
      select e.entry from pg_catalog.unnest(s.setconfig) with ordinality as e (entry, place)
      where pg_catalog.textsend(e.entry) operator(pg_catalog.<>) $3 order by e.place
    )
    where s.setdatabase operator(pg_catalog.=) $1 and s.setrole operator(pg_catalog.=) $2 and exists (
      select from pg_catalog.unnest(s.setconfig) as e (entry) where pg_catalog.textsend(e.entry) operator(pg_catalog.<>) $3
    )";

/// Comments on databases and roles.
const COMMENTS: &str =
    "select c.objoid, c.classoid, pg_catalog.textsend(c.description) from pg_catalog.pg_shdescription as c";
const REMOVE_COMMENT: &str = "delete from pg_catalog.pg_shdescription as c
     where c.objoid operator(pg_catalog.=) $1 and c.classoid operator(pg_catalog.=) $2";

/// Gives roles other names whose own are not UTF-8, and removes such settings and comments. Says what it has done.
///
/// # Errors
/// When a query fails, but for changes that somebody keeps from being made.
pub(super) async fn replace_unreadable_texts(superuser: &PrivilegedSession) -> Result<()> {
    for row in superuser.query(ROLES, &[]).await? {
        let number: u32 = row.get(0);
        if row.try_get::<_, String>(1).is_err() {
            let what = format!("role {number} has a name that is not UTF-8, which nobody can read");
            change(superuser, &what, RENAME_ROLE, &[&number]).await?;
        }
    }
    for row in superuser.query(SETTINGS, &[]).await? {
        let (database, role, entry): (u32, u32, &[u8]) = (row.get(0), row.get(1), row.get(2));
        if std::str::from_utf8(entry).is_err() {
            let name = String::from_utf8_lossy(entry.split(|byte| *byte == b'=').next().unwrap_or_default());
            let what =
                format!("the setting {name} of the database {database} or the role {role} is not UTF-8");
            change(superuser, &what, REMOVE_SETTING, &[&database, &role, &entry]).await?;
        }
    }
    for row in superuser.query(COMMENTS, &[]).await? {
        let (object, class, comment): (u32, u32, &[u8]) = (row.get(0), row.get(1), row.get(2));
        if std::str::from_utf8(comment).is_err() {
            let what = format!("the comment on the database or role {object} is not UTF-8");
            change(superuser, &what, REMOVE_COMMENT, &[&object, &class]).await?;
        }
    }
    Ok(())
}

/// Runs the statement that mends `what`, and prints both. Somebody may keep the row as it is.
async fn change(
    superuser: &PrivilegedSession,
    what: &str,
    statement: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<()> {
    superuser
        .batch_execute("begin; set local lock_timeout = '10s'")
        .await?;
    let changed = superuser.query(statement, values).await;
    let end = if changed.is_ok() { "commit" } else { "rollback" };
    superuser.batch_execute(end).await?;
    let outcome = match changed {
        Ok(rows) => match rows.first() {
            Some(row) => format!("it is called {} now", row.get::<_, &str>(0)),
            None => "it was removed".to_owned(),
        },
        Err(error) => format!("that cannot be changed: {error:#}"),
    };
    output::print_warnings(&[format!("{what}: {outcome}")]);
    Ok(())
}
