//! Hooks that are functions of the database: whether they are there, and whether Auth may call them.

use selvedge_console::{ConfigurationFault, FaultSeverity};
use selvedge_postgres::{Database, Login};
use url::Url;

use super::faults::fault;
use crate::config::Config;

/// Functions of a name that can be called with one value, with whether the caller may.
const FUNCTIONS: &str = "
    select coalesce(bool_or(has_schema_privilege(n.oid, 'usage') and has_function_privilege(p.oid, 'execute')), false),
           count(*)
    from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    where n.nspname = $1 and p.proname = $2 and p.pronargs >= 1 and p.pronargs - p.pronargdefaults <= 1";

/// Lists the faults of hooks, asked with Auth's own login.
pub(super) async fn list_faults(
    config: &Config,
    database: &Database,
) -> Result<Vec<ConfigurationFault>, String> {
    let functions: Vec<_> = config
        .auth
        .hooks
        .iter()
        .filter_map(|hook| Some((hook.name, read_name(&hook.uri)?)))
        .collect();
    // Most projects have none, and then the screen needs no connection of Auth's.
    if functions.is_empty() {
        return Ok(Vec::new());
    }
    let client = database.client(Login::AuthAdmin).await;
    let client = client.map_err(|error| error.to_string())?;
    let mut faults = Vec::new();
    for (hook, (schema, name)) in functions {
        let row = client.query_one(FUNCTIONS, &[&schema, &name]).await;
        let row = row.map_err(|error| error.to_string())?;
        let (is_callable, count): (bool, i64) = (row.get(0), row.get(1));
        let key = format!("auth.hook.{hook}.uri");
        if count == 0 {
            faults.push(fault(
                FaultSeverity::Error,
                key,
                format!("There is no function {schema}.{name} with one argument, so Auth refuses what would call it."),
                format!("Create it in a migration: create function {schema}.{name}(event jsonb) returns jsonb …"),
            ));
        } else if !is_callable {
            faults.push(fault(
                FaultSeverity::Error,
                key,
                format!("Auth may not call {schema}.{name}."),
                format!(
                    "Run: grant usage on schema {schema} to supabase_auth_admin; grant execute on function \
                     {schema}.{name} to supabase_auth_admin;"
                ),
            ));
        }
    }
    Ok(faults)
}

/// Schema and name in `pg-functions://postgres/<schema>/<function>`.
fn read_name(uri: &str) -> Option<(String, String)> {
    let url = Url::parse(uri)
        .ok()
        .filter(|url| url.scheme() == "pg-functions")?;
    let mut parts = url.path().trim_start_matches('/').split('/').map(str::to_owned);
    Some((parts.next()?, parts.next()?))
}
