//! Objects of a project that a reset does not find by their names: members of extensions, and types under the names of the platform's.

use std::collections::BTreeMap;

use tokio_postgres::Client;

use super::error::MigrateError;

/// Members of extensions that the extensions' scripts have not made: those of other owners than superusers, and casts and transforms of their types.
/// Each has its name as a part of a state, and its place in the catalog.
const ADDED_MEMBERS: &str = "
    select i.type operator(pg_catalog.||) ' '::pg_catalog.text operator(pg_catalog.||) i.identity, d.classid, d.objid
    from pg_catalog.pg_depend as d
    cross join lateral pg_catalog.pg_identify_object(d.classid, d.objid, d.objsubid) as i
    where d.deptype operator(pg_catalog.=) 'e'::pg_catalog.\"char\"
      and d.refclassid operator(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid
      and (exists (
        select from pg_catalog.pg_shdepend as s
        join pg_catalog.pg_database as b on b.oid operator(pg_catalog.=) s.dbid
          and b.datname operator(pg_catalog.=) pg_catalog.current_database()
        join pg_catalog.pg_roles as r on r.oid operator(pg_catalog.=) s.refobjid and not r.rolsuper
        where s.classid operator(pg_catalog.=) d.classid and s.objid operator(pg_catalog.=) d.objid
          and s.objsubid operator(pg_catalog.=) 0 and s.deptype operator(pg_catalog.=) 'o'::pg_catalog.\"char\"
          and s.refclassid operator(pg_catalog.=) 'pg_catalog.pg_authid'::pg_catalog.regclass::pg_catalog.oid
      ) or exists (
        select from pg_catalog.pg_type as t
        join pg_catalog.pg_roles as r on r.oid operator(pg_catalog.=) t.typowner and not r.rolsuper
        where t.oid operator(pg_catalog.=) any (
          array(
            select pg_catalog.unnest(array[k.castsource, k.casttarget]) from pg_catalog.pg_cast as k
            where k.oid operator(pg_catalog.=) d.objid
              and d.classid operator(pg_catalog.=) 'pg_catalog.pg_cast'::pg_catalog.regclass::pg_catalog.oid
            union all
            select k.trftype from pg_catalog.pg_transform as k
            where k.oid operator(pg_catalog.=) d.objid
              and d.classid operator(pg_catalog.=) 'pg_catalog.pg_transform'::pg_catalog.regclass::pg_catalog.oid
          )
        )
      ))";

/// Takes objects out of their extensions, so that they are dropped like others. `unnest` of several arrays needs no schema:
/// PostgreSQL always takes its own.
const TAKE_OUT: &str = "
    delete from pg_catalog.pg_depend as d
    using unnest($1::pg_catalog.oid[], $2::pg_catalog.oid[]) as m (classid, objid)
    where d.classid operator(pg_catalog.=) m.classid and d.objid operator(pg_catalog.=) m.objid
      and d.deptype operator(pg_catalog.=) 'e'::pg_catalog.\"char\"
      and d.refclassid operator(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass::pg_catalog.oid";

/// Columns of the services' tables and of composite types whose type is none of PostgreSQL's own: the column, the type as SQL writes it, the part that
/// the type is in a [`DatabaseState`](super::database_state::DatabaseState) (of an array, that of its elements), and the beginning of that part's value.
/// A project may have made such a type, with casts, and a domain may have the name of an enum, so names alone do not tell.
const TYPES_OF_OTHERS: &str = "
    select i.type operator(pg_catalog.||) ' '::pg_catalog.text operator(pg_catalog.||) i.identity,
      pg_catalog.format_type(a.atttypid, a.atttypmod),
      k.type operator(pg_catalog.||) ' '::pg_catalog.text operator(pg_catalog.||) k.identity,
      t.typtype operator(pg_catalog.=) 'c'::pg_catalog.\"char\",
      pg_catalog.concat_ws(' '::pg_catalog.text, t.typtype, pg_catalog.format_type(t.typbasetype, t.typtypmod))
    from pg_catalog.pg_class as c
    join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) c.relnamespace
    join pg_catalog.pg_roles as s on s.oid operator(pg_catalog.=) n.nspowner and s.rolsuper
    join pg_catalog.pg_roles as o on o.oid operator(pg_catalog.=) c.relowner and not o.rolsuper
    join pg_catalog.pg_attribute as a on a.attrelid operator(pg_catalog.=) c.oid
      and a.attnum operator(pg_catalog.>) 0::pg_catalog.int2 and not a.attisdropped
    left join pg_catalog.pg_type as e on e.typarray operator(pg_catalog.=) a.atttypid
    join pg_catalog.pg_type as t on t.oid operator(pg_catalog.=) coalesce(e.oid, a.atttypid)
    cross join lateral pg_catalog.pg_identify_object(
      'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid, c.oid, a.attnum::pg_catalog.int4
    ) as i
    cross join lateral pg_catalog.pg_identify_object('pg_catalog.pg_type'::pg_catalog.regclass::pg_catalog.oid, t.oid, 0) as k
    where c.relkind operator(pg_catalog.=) any (array['r', 'p', 'c']::pg_catalog.\"char\"[])
      and n.nspname operator(pg_catalog.!~) '^pg_'::pg_catalog.text
      and t.typnamespace operator(pg_catalog.<>) 'pg_catalog'::pg_catalog.regnamespace::pg_catalog.oid";

/// Refuses tables of the services, which are locked, if columns of the platform have other types than in a fresh database, of which `fresh` has the
/// names of all parts with their values.
///
/// # Errors
/// [`MigrateError::TypesOfOthers`].
pub(super) async fn check_types(client: &Client, fresh: &BTreeMap<&str, &str>) -> Result<(), MigrateError> {
    let mut found = Vec::new();
    for row in client.query(TYPES_OF_OTHERS, &[]).await? {
        let (column, name, kind): (&str, &str, &str) = (row.get(0), row.get(1), row.get(4));
        // Labels that were added to an enum run no code, so they are not refused. Composite types are compared by their attributes.
        let is_known = match fresh.get(row.get::<_, &str>(2)) {
            Some(value) => value
                .strip_prefix(kind)
                .is_some_and(|end| end.is_empty() || end.starts_with(' ')),
            None => row.get(3),
        };
        // Columns that a fresh database does not have are dropped before anything is made.
        if let Some(value) = fresh.get(column)
            && !(is_known && value.starts_with(&format!("{name} ")))
        {
            found.push(format!("{column} ({name})"));
        }
    }
    match found.is_empty() {
        true => Ok(()),
        false => Err(MigrateError::TypesOfOthers(found)),
    }
}

/// Takes such members out of extensions, because a reset keeps extensions with their members.
///
/// # Errors
/// When a query fails; `client` must be a superuser's.
pub(super) async fn take_out_members(
    client: &Client,
    fresh: &BTreeMap<&str, &str>,
) -> Result<(), MigrateError> {
    let (mut classes, mut objects) = (Vec::<u32>::new(), Vec::<u32>::new());
    for row in client.query(ADDED_MEMBERS, &[]).await? {
        let name: Option<&str> = row.try_get(0)?;
        if !name.is_some_and(|name| fresh.contains_key(name)) {
            classes.push(row.get(1));
            objects.push(row.get(2));
        }
    }
    client.execute(TAKE_OUT, &[&classes, &objects]).await?;
    Ok(())
}
