//! Refuses a database that somebody has put in the place of a project's, before a superuser's session reads anything of it.
//!
//! `postgres` owns the project's database: it may rename or drop it, make another one of its name, and fill that with tables whose
//! indexes, rules and functions would run in the superuser's session. Whoever may create in a database of another server can do the
//! same there before the platform schema is applied.

use tokio_postgres::{Client, Error, SimpleQueryMessage, SimpleQueryRow};

use crate::quote_literal;

/// What is known of the database that a session is opened in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// The project's in a cluster that this program runs.
    Own,
    /// One that has the platform schema, or may get it.
    WithPlatform,
    /// Nothing: the session reads PostgreSQL's own catalogs only.
    Any,
}

/// Another database has the name of the project's, and that one is still there.
pub const REPLACED_DATABASE: &str = "SVG01";
/// The project's database was dropped, and the one of its name was made by somebody else.
pub const DROPPED_DATABASE: &str = "SVG02";
/// Objects of the platform belong to somebody who is no superuser.
const FOREIGN_OBJECTS: &str = "SVG03";

/// The number that initdb gives the project's database, whatever its owner calls it later (from PostgreSQL 15 on). No statement gives a
/// database a number below 16384.
pub const DATABASE_NUMBER: u32 = 5;

/// Both checks name PostgreSQL's own catalogs only, and each operator has exactly the types of its operands. The first asks for the
/// number of the database, whether the project's exists, and whether a superuser has made the platform's schema here.
const FIND_DATABASE: &str = "
    select d.oid, exists (select from pg_catalog.pg_database as o where o.oid operator(pg_catalog.=) 5::pg_catalog.oid),
      exists (
        select from pg_catalog.pg_namespace as n join pg_catalog.pg_authid as r on r.oid operator(pg_catalog.=) n.nspowner
        where n.nspname operator(pg_catalog.=) '_selvedge'::pg_catalog.name and r.rolsuper
      )
    from pg_catalog.pg_database as d
    where d.datname operator(pg_catalog.=) pg_catalog.current_database()";

/// Schema, relations and functions of the platform that belong to others. Two roles without login own the functions that need fewer rights
/// than a superuser has, and `postgres` those that event triggers of the project call.
const FOREIGN: &str = "
    select 'schema _selvedge'::pg_catalog.text, o.rolname
    from pg_catalog.pg_namespace as n left join pg_catalog.pg_authid as o on o.oid operator(pg_catalog.=) n.nspowner
    where n.nspname operator(pg_catalog.=) '_selvedge'::pg_catalog.name and o.rolsuper is not true
    union all
    select c.relname::pg_catalog.text, o.rolname
    from pg_catalog.pg_namespace as n
    join pg_catalog.pg_class as c on c.relnamespace operator(pg_catalog.=) n.oid
    left join pg_catalog.pg_authid as o on o.oid operator(pg_catalog.=) c.relowner
    where n.nspname operator(pg_catalog.=) '_selvedge'::pg_catalog.name and o.rolsuper is not true
    union all
    select p.proname::pg_catalog.text, o.rolname
    from pg_catalog.pg_namespace as n
    join pg_catalog.pg_proc as p on p.pronamespace operator(pg_catalog.=) n.oid
    left join pg_catalog.pg_authid as o on o.oid operator(pg_catalog.=) p.proowner
    where n.nspname operator(pg_catalog.=) '_selvedge'::pg_catalog.name and o.rolsuper is not true
      and (p.proname operator(pg_catalog.~) '^event_trigger_[0-9]+(_body)?$'::pg_catalog.text) is not true
      and (o.rolname operator(pg_catalog.=) any (array['selvedge_replication', 'selvedge_user_counts']::pg_catalog.name[])) is not true";

/// How many objects a refusal names.
const NAMED: usize = 5;

/// Refuses a superuser's session to a database that is not what is expected. To be called before any other statement that reads more than
/// PostgreSQL's own catalogs.
///
/// # Errors
/// [`REPLACED_DATABASE`], [`DROPPED_DATABASE`] or another code, with a text that says what to do; also when a query fails.
pub(super) async fn refuse_foreign(client: &Client, expected: Expected) -> Result<(), Error> {
    if expected == Expected::Any {
        return Ok(());
    }
    if expected == Expected::Own {
        refuse_replaced(client).await?;
    }
    let foreign: Vec<String> = query(client, FOREIGN)
        .await?
        .iter()
        .take(NAMED)
        .map(|row| {
            let name = row.get(0).unwrap_or_default();
            let owner = row.get(1).unwrap_or("nobody");
            let prefix = if name.starts_with("schema ") {
                ""
            } else {
                "_selvedge."
            };
            format!("{prefix}{name} belongs to {owner}, who is no superuser")
        })
        .collect();
    if foreign.is_empty() {
        return Ok(());
    }
    raise(
        client,
        FOREIGN_OBJECTS,
        &format!(
            "nothing is done here with the rights of a superuser, because others could use them: {}",
            foreign.join("; ")
        ),
        "Drop, rename or alter that as the superuser. The database of a project that this program runs is made anew by selvedge restore FILE \
         or selvedge reset.",
    )
    .await
}

async fn refuse_replaced(client: &Client) -> Result<(), Error> {
    let rows = query(client, FIND_DATABASE).await?;
    let value = |index: usize| rows.first().and_then(|row| row.get(index)).unwrap_or_default();
    let (number, own_exists, has_platform) = (value(0), value(1) == "t", value(2) == "t");
    if number == DATABASE_NUMBER.to_string() {
        return Ok(());
    }
    if own_exists {
        let message = "the project's database has another name, and another database has its place";
        let hint = "The next start gives it its name back: selvedge stop, selvedge start.";
        return raise(client, REPLACED_DATABASE, message, hint).await;
    }
    if has_platform {
        // An operator may have made a database in its place, which is the project's once a superuser has applied the platform schema.
        return Ok(());
    }
    let message =
        "the project's database was dropped from another database of its server, and its data with it";
    let hint = "With a backup: selvedge restore FILE. In development, without its data: selvedge reset.";
    raise(client, DROPPED_DATABASE, message, hint).await
}

/// Rows of a query without parameters, which poolers of transactions also let through.
async fn query(client: &Client, sql: &str) -> Result<Vec<SimpleQueryRow>, Error> {
    let rows = client.simple_query(sql).await?.into_iter();
    Ok(rows
        .filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        })
        .collect())
}

/// Only PostgreSQL makes errors of this type.
async fn raise(client: &Client, code: &str, message: &str, hint: &str) -> Result<(), Error> {
    let raise = format!(
        "begin raise exception using errcode = '{code}', message = {}, hint = {}; end",
        quote_literal(message),
        quote_literal(hint)
    );
    let block = format!("do language plpgsql {}", quote_literal(&raise));
    client.batch_execute(&block).await
}
