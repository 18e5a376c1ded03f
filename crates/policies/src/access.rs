//! The access matrix: for each table and role, whether each verb is allowed.

use std::collections::BTreeMap;

use serde::Serialize;
use tokio_postgres::{Error, GenericClient};

/// The access matrix of the listed tables and roles.
#[derive(Debug, Serialize)]
pub struct AccessMatrix {
    pub roles: Vec<String>,
    pub tables: Vec<TableAccess>,
}

#[derive(Debug, Serialize)]
pub struct TableAccess {
    pub oid: String,
    pub schema: String,
    pub name: String,
    /// The cells of the table by role and then by verb.
    pub cells: BTreeMap<String, BTreeMap<String, AccessCell>>,
}

/// What decides whether a role may run a verb on a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessCell {
    None,
    Policy,
    All,
}

/// The API's roles, which are always shown.
const API_ROLES: [&str; 3] = ["anon", "authenticated", "service_role"];

/// Reads the matrix for the API's roles and those that policies name.
///
/// # Errors
/// PostgreSQL's errors.
pub async fn load_access_matrix(owner: &impl GenericClient) -> Result<AccessMatrix, Error> {
    let sql = "select distinct r.rolname::text from pg_policy p cross join unnest(p.polroles) as role \
               join pg_roles r on r.oid = role where r.rolname <> all ($1) order by 1";
    let others = owner.query(sql, &[&API_ROLES.as_slice()]).await?;
    // The API's own roles are the first columns, because they matter most.
    let mut roles: Vec<String> = API_ROLES.map(str::to_owned).into();
    roles.extend(others.iter().map(|row| row.get::<_, String>(0)));
    let rows = owner.query(include_str!("access.sql"), &[&roles]).await?;
    // The rows come ordered by table, so a new oid begins the next table.
    let mut tables: Vec<TableAccess> = Vec::new();
    for row in &rows {
        let oid: String = row.get(0);
        if tables.last().is_none_or(|table| table.oid != oid) {
            tables.push(TableAccess {
                oid,
                schema: row.get(1),
                name: row.get(2),
                cells: BTreeMap::new(),
            });
        }
        let cell = match row.get(5) {
            "all" => AccessCell::All,
            "policy" => AccessCell::Policy,
            _ => AccessCell::None,
        };
        let table = tables.last_mut().expect("one was pushed above");
        table
            .cells
            .entry(row.get(3))
            .or_default()
            .insert(row.get(4), cell);
    }
    Ok(AccessMatrix { roles, tables })
}
