//! Names, settings and comments of the whole cluster that are not UTF-8. PostgreSQL stores them in the encoding of the database in which they were
//! given, and `postgres` may make databases of any encoding. No session of this server could read or write them.

use anyhow::Result;
use selvedge_postgres::{PrivilegedLogin, PrivilegedSession};
use selvedge_terminal::print_warnings;

use super::catalog_locks::lock_catalogs;

/// The tables in which the texts are.
const LOCKED_TABLES: &str =
    "pg_catalog.pg_authid, pg_catalog.pg_db_role_setting, pg_catalog.pg_shdescription";

/// The roles of a project. PostgreSQL's own have lower numbers.
const SELECT_ROLES: &str = "select a.oid, a.rolname::pg_catalog.text from pg_catalog.pg_authid as a
     where a.oid operator(pg_catalog.>=) 16384::pg_catalog.oid";
const RENAME_ROLE: &str = "update pg_catalog.pg_authid
     set rolname = ('renamed_' operator(pg_catalog.||) pg_catalog.gen_random_uuid()::pg_catalog.text)::pg_catalog.name
     where oid operator(pg_catalog.=) $1 returning rolname::pg_catalog.text";

/// Settings of databases and roles, as the bytes that they are, each with its place.
const SELECT_SETTINGS: &str = "
    select s.setdatabase, s.setrole, pg_catalog.textsend(e.entry)
    from pg_catalog.pg_db_role_setting as s
    cross join pg_catalog.unnest(s.setconfig) as e (entry)";
/// Removes a setting, and the row with the last one: PostgreSQL expects no row without settings.
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
const SELECT_COMMENTS: &str =
    "select c.objoid, c.classoid, pg_catalog.textsend(c.description) from pg_catalog.pg_shdescription as c";
const REMOVE_COMMENT: &str = "delete from pg_catalog.pg_shdescription as c
     where c.objoid operator(pg_catalog.=) $1 and c.classoid operator(pg_catalog.=) $2";

/// What somebody has stored in another encoding.
enum Unreadable {
    Role(u32),
    Setting {
        database: u32,
        role: u32,
        entry: Vec<u8>,
    },
    Comment {
        object: u32,
        class: u32,
    },
}

/// Renames roles whose names are not UTF-8, removes such settings and comments, and prints what was changed. Sessions that keep the rows locked
/// for longer than ten seconds are ended. `login` leads to the cluster of `superuser`.
///
/// # Errors
/// When a query fails. Changes for which no lock could be had are left to the next start, with a warning.
pub(crate) async fn replace_unreadable_texts(
    login: &PrivilegedLogin,
    superuser: &PrivilegedSession,
) -> Result<()> {
    if list_unreadable(superuser).await?.is_empty() {
        return Ok(());
    }
    let warnings = match replace_all(login, superuser).await {
        Ok(warnings) => warnings,
        Err(error) => {
            superuser.batch_execute("rollback").await?;
            vec![format!(
                "names of roles, settings or comments are not UTF-8, which nobody can read, and cannot be changed: {error:#}"
            )]
        }
    };
    print_warnings(&warnings);
    Ok(())
}

async fn list_unreadable(superuser: &PrivilegedSession) -> Result<Vec<Unreadable>> {
    let mut unreadable = Vec::new();
    for row in superuser.query(SELECT_ROLES, &[]).await? {
        if row.try_get::<_, String>(1).is_err() {
            unreadable.push(Unreadable::Role(row.get(0)));
        }
    }
    for row in superuser.query(SELECT_SETTINGS, &[]).await? {
        let entry: Vec<u8> = row.get(2);
        if std::str::from_utf8(&entry).is_err() {
            let (database, role) = (row.get(0), row.get(1));
            unreadable.push(Unreadable::Setting {
                database,
                role,
                entry,
            });
        }
    }
    for row in superuser.query(SELECT_COMMENTS, &[]).await? {
        let comment: &[u8] = row.get(2);
        if std::str::from_utf8(comment).is_err() {
            let (object, class) = (row.get(0), row.get(1));
            unreadable.push(Unreadable::Comment { object, class });
        }
    }
    Ok(unreadable)
}

/// Changes all of them while nobody else can, so that no row is waited for. Returns what is to be said of them.
async fn replace_all(login: &PrivilegedLogin, superuser: &PrivilegedSession) -> Result<Vec<String>> {
    lock_catalogs(login, superuser, LOCKED_TABLES).await?;
    let mut warnings = Vec::new();
    for text in list_unreadable(superuser).await? {
        warnings.push(replace(superuser, &text).await?);
    }
    superuser.batch_execute("commit").await?;
    Ok(warnings)
}

async fn replace(superuser: &PrivilegedSession, text: &Unreadable) -> Result<String> {
    Ok(match text {
        Unreadable::Role(number) => {
            let row = superuser.query_one(RENAME_ROLE, &[number]).await?;
            let name: &str = row.get(0);
            format!(
                "role {number} has a name that is not UTF-8, which nobody can read: it is called {name} now"
            )
        }
        Unreadable::Setting {
            database,
            role,
            entry,
        } => {
            superuser
                .execute(REMOVE_SETTING, &[database, role, entry])
                .await?;
            let name = String::from_utf8_lossy(entry.split(|byte| *byte == b'=').next().unwrap_or_default());
            format!(
                "the setting {name} of the database {database} or the role {role} is not UTF-8: it was removed"
            )
        }
        Unreadable::Comment { object, class } => {
            superuser.execute(REMOVE_COMMENT, &[object, class]).await?;
            format!("the comment on the database or role {object} is not UTF-8: it was removed")
        }
    })
}
