//! Faults of hooks that are database functions: the function is missing, or Auth may not call it.

use selvedge_config::Config;
use selvedge_console::{ConfigurationFault, FaultSeverity};
use selvedge_postgres::{Database, Login};
use url::Url;

use super::faults::create_fault;

/// Whether the login may call a function `$1.$2` with one argument, and how many such functions there are.
const FUNCTIONS: &str = "
    select coalesce(bool_or(has_schema_privilege(n.oid, 'usage') and has_function_privilege(p.oid, 'execute')), false),
           count(*)
    from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    where n.nspname = $1 and p.proname = $2 and p.pronargs >= 1 and p.pronargs - p.pronargdefaults <= 1";

/// Lists the faults of hooks that are database functions. Runs as Auth's login, whose privileges matter.
///
/// # Errors
/// PostgreSQL's message when it cannot be reached.
pub(super) async fn list_faults(
    config: &Config,
    database: &Database,
) -> Result<Vec<ConfigurationFault>, String> {
    let functions: Vec<_> = config
        .auth
        .hooks
        .iter()
        .filter_map(|hook| Some((hook.name, parse_function_name(&hook.uri)?)))
        .collect();
    // Without such hooks no connection is opened.
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
            faults.push(create_fault(
                FaultSeverity::Error,
                key,
                format!("There is no function {schema}.{name} with one argument, so Auth refuses what would call it."),
                format!("Create it in a migration: create function {schema}.{name}(event jsonb) returns jsonb …"),
            ));
        } else if !is_callable {
            faults.push(create_fault(
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

/// Parses schema and name of `pg-functions://postgres/<schema>/<function>`; `None` for other URIs.
fn parse_function_name(uri: &str) -> Option<(String, String)> {
    let url = Url::parse(uri)
        .ok()
        .filter(|url| url.scheme() == "pg-functions")?;
    let mut parts = url.path().trim_start_matches('/').split('/').map(str::to_owned);
    Some((parts.next()?, parts.next()?))
}
