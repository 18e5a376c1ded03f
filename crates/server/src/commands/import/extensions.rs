//! Extensions of the source: which of them the target can have, and what to do about the others.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Result, bail};
use selvedge_postgres::migrate::{ExtensionUse, MigrateError, check_extensions};
use selvedge_postgres::{SHIPPED, quote_identifier};
use tokio_postgres::Client;

use super::report::Report;
use super::source::Source;

/// Extensions that a Supabase database has without having asked for them.
const OF_IMAGE: [&str; 2] = ["pg_graphql", "pgsodium"];

struct SourceExtension {
    name: String,
    schema: String,
    /// Whether a table, function or the like refers to it.
    is_used: bool,
}

/// Returns the statements that create the source's extensions at the target.
///
/// # Errors
/// When an extension is missing at the target and the project's tables need it; with advice.
pub(super) async fn plan_extensions(source: &Source, target: &Client, report: &mut Report) -> Result<String> {
    let available = list_available(target).await?;
    let (mut statements, mut missing) = (String::new(), Vec::new());
    for extension in read_extensions(source).await? {
        let name = &extension.name;
        if available.contains(name) {
            let (name, schema) = (quote_identifier(name), quote_identifier(&extension.schema));
            statements += &format!("create extension if not exists {name} with schema {schema};\n");
        } else if OF_IMAGE.contains(&name.as_str()) {
            // Every hosted project has them; whoever uses them reads about it in the documentation.
            report.leave_out(format!("extension {name}"));
        } else if extension.is_used {
            missing.push(name.clone());
        } else {
            report.leave_out(format!(
                "extension {name}: it is not here, and no table needs it; functions that call it will fail"
            ));
        }
    }
    if missing.is_empty() {
        return Ok(statements);
    }
    bail!(
        "the project needs extensions that this PostgreSQL does not have. Nothing was changed\n{}",
        advise(&missing, target).await?.join("\n")
    )
}

async fn read_extensions(source: &Source) -> Result<Vec<SourceExtension>> {
    let rows = source
        .client
        .query(include_str!("sql/extensions.sql"), &[])
        .await?;
    let mut extensions: Vec<SourceExtension> = rows
        .iter()
        .map(|row| SourceExtension {
            name: row.get(0),
            schema: row.get(1),
            is_used: row.get(2),
        })
        .collect();
    // A Selvedge on a server of somebody else's has shipped extensions that PostgreSQL does not list.
    let by_script = "select name, schema from _selvedge.installed_extensions";
    for row in source.try_query(by_script).await?.unwrap_or_default() {
        extensions.push(SourceExtension {
            name: row.get(0),
            schema: row.get(1),
            is_used: true,
        });
    }
    Ok(extensions)
}

async fn list_available(target: &Client) -> Result<BTreeSet<String>> {
    let rows = target
        .query("select name::text from pg_available_extensions", &[])
        .await?;
    let shipped = SHIPPED.iter().map(|extension| extension.name.to_owned());
    Ok(rows.iter().map(|row| row.get(0)).chain(shipped).collect())
}

/// What to do about each missing extension.
async fn advise(missing: &[String], target: &Client) -> Result<Vec<String>> {
    let version: i32 = target
        .query_one("select current_setting('server_version_num')::int / 10000", &[])
        .await?
        .get(0);
    let uses: Vec<ExtensionUse> = missing
        .iter()
        .map(|name| ExtensionUse {
            path: PathBuf::new(),
            line: 0,
            name: name.clone(),
        })
        .collect();
    let advised = match check_extensions(&uses, &BTreeSet::new(), version.unsigned_abs()) {
        Err(MigrateError::MissingExtensions(advised)) => advised,
        _ => Vec::new(),
    };
    let advice = |name: &String| {
        let found = advised.iter().find(|extension| extension.name == *name);
        found.map_or("install it for this PostgreSQL", |extension| {
            extension.advice.as_str()
        })
    };
    Ok(missing
        .iter()
        .map(|name| format!("  {name}: {}", advice(name)))
        .collect())
}
