//! Removes what a project has created, for `db reset` of a running database.

use tokio_postgres::Client;

use super::error::MigrateError;

/// Roles of the platform that its prefixes do not cover.
const PLATFORM_ROLES: [&str; 7] = [
    "postgres",
    "anon",
    "authenticated",
    "service_role",
    "authenticator",
    "dashboard_user",
    "pgbouncer",
];

/// Whether the platform or PostgreSQL itself creates a role; all others belong to the project.
#[must_use]
pub fn is_platform_role(role: &str) -> bool {
    ["pg_", "supabase_", "selvedge_"]
        .iter()
        .any(|start| role.starts_with(start))
        || PLATFORM_ROLES.contains(&role)
}

/// Drops the project's schemas, tables, functions, types, policies, extensions and publications, and empties the tables of
/// Auth and Storage, in one transaction. `client` must be logged in as `postgres`, or be a superuser's in whose session neither triggers
/// nor event triggers of the project fire.
///
/// # Errors
/// When a statement fails; then nothing has changed.
pub async fn clear_project(client: &Client) -> Result<(), MigrateError> {
    client.batch_execute(include_str!("clear_project.sql")).await?;
    Ok(())
}

/// Drops the roles that the project has created, after [`clear_project`]. Only for a database that the project has for
/// itself, because roles are common to all databases of a server.
///
/// # Errors
/// When a statement fails, for example because a role is still in use.
pub async fn drop_project_roles(client: &Client) -> Result<(), MigrateError> {
    // From PostgreSQL 16 on a role may be dropped by those who administer it: here those that `postgres` has made.
    let rows = client
        .query(
            "select rolname, quote_ident(rolname) from pg_roles
             where not rolsuper
               and (current_setting('server_version_num')::int < 160000
                    or pg_has_role(oid, 'MEMBER WITH ADMIN OPTION'))",
            &[],
        )
        .await?;
    for row in rows.iter().filter(|row| !is_platform_role(row.get(0))) {
        let role: String = row.get(1);
        // Membership lets `postgres` drop what the role owns, which `drop role` requires.
        client
            .batch_execute(&format!(
                "grant {role} to postgres; drop owned by {role} cascade; drop role {role}"
            ))
            .await?;
    }
    Ok(())
}
