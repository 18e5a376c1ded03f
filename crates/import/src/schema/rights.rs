//! Compares the rights on the project's objects at the source and at the target, object by object, before the import is
//! committed. A right that got lost on the way, or that the target has besides, would open what the source keeps closed.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use tokio_postgres::Client;

use crate::source::Source;

/// Most differences that the error names.
const MAX_NAMES: usize = 20;

/// A right: kind and name of the object, who has it (nobody's name for everybody), which it is, and whether it may be
/// granted on.
type Right = (String, String, String, String, bool);

/// Compares all rights of roles that both databases have.
///
/// # Errors
/// When they differ; the message names the objects.
pub(crate) async fn compare_rights(source: &Source, target: &Client) -> Result<()> {
    let own = list_ordinary_roles(target).await?;
    let mut shared = list_ordinary_roles(&source.client).await?;
    // The console's roles get their rights afterwards, and what supabase_admin owns at the source is of postgres here.
    shared.retain(|role| own.contains(role) && !role.starts_with("selvedge_") && role != "postgres");
    shared.push(String::new());
    let at_source = read_rights(&source.client, &source.schemas, &shared).await?;
    let at_target = read_rights(target, &source.schemas, &shared).await?;
    let lost = at_source
        .difference(&at_target)
        .map(|right| format!("  lost: {}", describe(right)));
    let added = at_target
        .difference(&at_source)
        .map(|right| format!("  added: {}", describe(right)));
    let differences: Vec<String> = added.chain(lost).collect();
    if differences.is_empty() {
        return Ok(());
    }
    let shown: Vec<&str> = differences.iter().take(MAX_NAMES).map(String::as_str).collect();
    bail!(
        "the rights here would not be those of the source, so nothing was changed. {} differ:\n{}",
        differences.len(),
        shown.join("\n")
    )
}

/// Lists the roles that are no superusers, which have all rights.
async fn list_ordinary_roles(client: &Client) -> Result<Vec<String>> {
    let query = "select rolname::text from pg_roles where not rolsuper";
    Ok(client
        .query(query, &[])
        .await?
        .iter()
        .map(|row| row.get(0))
        .collect())
}

async fn read_rights(client: &Client, schemas: &[String], roles: &[String]) -> Result<BTreeSet<Right>> {
    let rows = client
        .query(include_str!("sql/rights.sql"), &[&schemas, &roles])
        .await?;
    let right = |row: &tokio_postgres::Row| (row.get(0), row.get(1), row.get(2), row.get(3), row.get(4));
    Ok(rows.iter().map(right).collect())
}

fn describe((kind, object, grantee, privilege, is_grantable): &Right) -> String {
    let grantee = if grantee.is_empty() { "everybody" } else { grantee };
    let option = if *is_grantable { " with grant option" } else { "" };
    format!("{privilege} on {kind} {object} for {grantee}{option}")
}
