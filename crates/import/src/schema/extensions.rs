//! Extensions of the source: which ones the target can create, and how to install the others.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Result, bail};
use selvedge_postgres::migrate::{ExtensionUse, MigrateError, check_extensions};
use selvedge_postgres::{SHIPPED, quote_identifier};
use selvedge_terminal::show_foreign;
use tokio_postgres::Client;

use crate::report::Report;
use crate::source::Source;

/// Extensions that every hosted Supabase database has, whether the project uses them or not.
const OF_IMAGE: [&str; 2] = ["pg_graphql", "pgsodium"];

struct SourceExtension {
    name: String,
    schema: String,
    /// Whether an object outside of the extension, such as a table or function, depends on it.
    is_used: bool,
}

/// Returns the statements that create the source's extensions at the target.
///
/// # Errors
/// When objects of the project need an extension that the target does not have. The message says how to install it.
pub(crate) async fn plan_extensions(source: &Source, target: &Client, report: &mut Report) -> Result<String> {
    let available = list_available(target).await?;
    let (mut statements, mut missing) = (String::new(), Vec::new());
    for extension in read_extensions(source).await? {
        let name = &extension.name;
        if available.contains(name) {
            let (name, schema) = (quote_identifier(name), quote_identifier(&extension.schema));
            statements += &format!("create extension if not exists {name} with schema {schema};\n");
        } else if OF_IMAGE.contains(&name.as_str()) {
            // No error, because projects have them by default (docs/extensions.md says what replaces them).
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
    // On an external database Selvedge installs its shipped extensions as SQL scripts, so pg_extension does not list them. The name is the one
    // that databases of every version have (sql/platform/0231_table_names.sql).
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

/// Returns a line per missing extension that says how to install it.
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
        .map(|name| format!("  {}: {}", show_foreign(name), advice(name)))
        .collect())
}
