//! `[api] auto_expose_new_tables`: whether new tables of `public` are open to the API's roles.

use tokio_postgres::Client;

use super::error::MigrateError;

/// Applies `[api] auto_expose_new_tables` (GW-014): whether the API roles get rights on tables that migrations create
/// without an explicit grant. Row-level security applies in both cases.
///
/// All privileges are revoked, also those that Supabase's own script leaves: row-level security does not restrict
/// TRUNCATE.
///
/// # Errors
/// When PostgreSQL refuses; `client` must be a superuser's or `postgres`'s.
pub async fn set_auto_expose_new_tables(client: &Client, expose: bool) -> Result<(), MigrateError> {
    let sql = if expose {
        "alter default privileges for role postgres in schema public
           grant all on tables to anon, authenticated, service_role;
         alter default privileges for role postgres in schema public
           grant all on sequences to anon, authenticated, service_role;
         alter default privileges for role postgres in schema public
           grant all on functions to anon, authenticated, service_role;"
    } else {
        "alter default privileges for role postgres in schema public
           revoke all on tables from anon, authenticated, service_role;
         alter default privileges for role postgres in schema public
           revoke all on sequences from anon, authenticated, service_role;
         alter default privileges for role postgres in schema public
           revoke all on functions from anon, authenticated, service_role;"
    };
    Ok(client.batch_execute(sql).await?)
}

/// The name of the setting in `_selvedge.selvedge_project_settings`.
const AUTO_EXPOSE: &str = "api.auto_expose_new_tables";

/// Applies `[api] auto_expose_new_tables` when it has changed since it was applied last, and in a database in which it was never
/// applied. Otherwise the default privileges stay as migrations have left them. `is_first` says that no migration has run yet in a
/// database that has no note of it.
///
/// # Errors
/// When PostgreSQL refuses; `client` must be a superuser's.
pub async fn apply_auto_expose(client: &Client, expose: bool, is_first: bool) -> Result<(), MigrateError> {
    let query = "select value from _selvedge.selvedge_project_settings where name = $1";
    let applied: Option<String> = client
        .query_opt(query, &[&AUTO_EXPOSE])
        .await?
        .map(|row| row.get(0));
    let is_changed = match &applied {
        // A database of a version that did not note it has had the present value at each of its starts.
        None => is_first,
        Some(applied) => *applied != expose.to_string(),
    };
    if is_changed {
        return reset_auto_expose(client, expose).await;
    }
    if applied.is_none() {
        record_auto_expose(client, expose).await?;
    }
    Ok(())
}

/// Applies `[api] auto_expose_new_tables` whatever migrations have made of it, and notes the value.
///
/// # Errors
/// When PostgreSQL refuses; `client` must be a superuser's.
pub async fn reset_auto_expose(client: &Client, expose: bool) -> Result<(), MigrateError> {
    // Noted last: when this is cut off between the two, the next start applies the value again, before any migration runs.
    set_auto_expose_new_tables(client, expose).await?;
    record_auto_expose(client, expose).await
}

/// Notes the value of `[api] auto_expose_new_tables` without applying it: for a database whose default privileges were
/// copied.
///
/// # Errors
/// When PostgreSQL refuses; `client` must be a superuser's.
pub async fn record_auto_expose(client: &Client, expose: bool) -> Result<(), MigrateError> {
    let statement = "insert into _selvedge.selvedge_project_settings (name, value) values ($1, $2)
        on conflict (name) do update set value = excluded.value";
    client
        .execute(statement, &[&AUTO_EXPOSE, &expose.to_string()])
        .await?;
    Ok(())
}
