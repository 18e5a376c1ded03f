//! Copies the project's roles with their memberships and settings, and the settings of the database.

use anyhow::{Context, Result};
use selvedge_postgres::migrate::is_platform_role;
use selvedge_postgres::quote_identifier;
use tokio_postgres::Client;

use super::report::Report;
use super::source::Source;

/// Creates the roles that the target does not have. Their passwords are not readable at the source, so the report names them.
pub(super) async fn copy_roles(source: &Source, target: &Client, report: &mut Report) -> Result<()> {
    let existing = list_roles(target).await?;
    let all = list_roles(&source.client).await?;
    let of_platform: Vec<&String> = all.iter().filter(|role| is_platform_role(role)).collect();
    let rows = source
        .client
        .query(include_str!("sql/roles.sql"), &[&of_platform])
        .await?;
    let version: i32 = target
        .query_one("select current_setting('server_version_num')::int / 10000", &[])
        .await?
        .get(0);
    for row in rows {
        let (kind, role, statement): (String, String, String) = (row.get(0), row.get(1), row.get(2));
        if kind == "role" && existing.contains(&role) {
            report.leave_out(format!("role {role}: it exists here, and stays as it is"));
            continue;
        }
        target
            .batch_execute(&statement)
            .await
            .with_context(|| format!("the target refuses: {statement}"))?;
        if kind == "role" {
            report.roles += 1;
            if statement.contains(" login") {
                report.leave_out(format!("the password of role {role}: set it with alter role"));
            }
            if version >= 16 {
                // From PostgreSQL 16 on only members with ADMIN OPTION may change a role. `postgres` would have it if it had created
                // the role, and migrations rely on that.
                let grant = "to postgres with admin true, inherit false, set false";
                target
                    .batch_execute(&format!("grant {} {grant}", quote_identifier(&role)))
                    .await?;
            }
        }
    }
    Ok(())
}

/// Lists the names of all roles.
pub(super) async fn list_roles(client: &Client) -> Result<Vec<String>> {
    let rows = client.query("select rolname::text from pg_roles", &[]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}
