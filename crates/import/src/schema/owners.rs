//! The right to create in a schema, lent to roles that get objects there.
//!
//! PostgreSQL lets somebody who is no superuser give an object only to a role that may create in the object's schema. The source may
//! have given these roles no such right, or taken it back since.

use std::collections::BTreeSet;

use anyhow::Result;
use selvedge_postgres::quote_identifier;
use tokio_postgres::Client;

use crate::source::Source;

/// Schemas of `$1` in which roles of `$2` may not create.
const LACKING: &str = "
    select n.nspname::text, r.rolname::text
    from pg_catalog.pg_namespace as n cross join pg_catalog.pg_roles as r
    where n.nspname = any ($1::text[]) and r.rolname = any ($2::text[])
      and not has_schema_privilege(r.oid, n.oid, 'create')
    order by 1, 2";

/// Roles that have the right by name.
const GRANTED: &str = "
    select n.nspname::text, r.rolname::text
    from pg_catalog.pg_namespace as n cross join lateral aclexplode(n.nspacl) as a
    join pg_catalog.pg_roles as r on r.oid = a.grantee
    where n.nspname = any ($1::text[]) and a.privilege_type = 'CREATE'";

/// A schema and a role.
type Pair = (String, String);

/// Grants what is missing, in the import's transaction, and returns it.
pub(crate) async fn lend_create(
    target: &Client,
    schemas: &[String],
    owners: &BTreeSet<String>,
) -> Result<Vec<Pair>> {
    let owners: Vec<&String> = owners.iter().collect();
    let rows = target.query(LACKING, &[&schemas, &owners]).await?;
    let lent: Vec<Pair> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    for (schema, role) in &lent {
        let (schema, role) = (quote_identifier(schema), quote_identifier(role));
        target
            .batch_execute(&format!("grant create on schema {schema} to {role}"))
            .await?;
    }
    Ok(lent)
}

/// Revokes what was lent and what the source does not give.
pub(crate) async fn take_back_create(source: &Source, target: &Client, lent: &[Pair]) -> Result<()> {
    let rows = source.client.query(GRANTED, &[&source.schemas]).await?;
    let granted: BTreeSet<Pair> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    for (schema, role) in lent.iter().filter(|pair| !granted.contains(pair)) {
        let (schema, role) = (quote_identifier(schema), quote_identifier(role));
        target
            .batch_execute(&format!("revoke create on schema {schema} from {role}"))
            .await?;
    }
    Ok(())
}
