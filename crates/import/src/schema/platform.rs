//! Copies what a project added to schemas of the platform: policies, triggers, event triggers and the secrets of the vault.

use std::path::Path;

use anyhow::Result;
use selvedge_database::HISTORY_SCHEMA;
use selvedge_database::additions::{list_event_triggers, list_table_additions, write_additions};
use selvedge_postgres::migrate::run_statements;
use selvedge_postgres::quote_identifier;
use selvedge_terminal::print_warnings;
use tokio_postgres::Client;

use crate::report::Report;
use crate::source::Source;

const VAULT: &str =
    "select name, description, decrypted_secret from vault.decrypted_secrets order by created_at";

/// Lists relations and functions in the schemas of Auth and Storage that do not belong to these services.
const STRAY_OBJECTS: &str = "
    select format('%I.%I', n.nspname, c.relname)
    from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
    where n.nspname in ('auth', 'storage') and c.relkind in ('r', 'v', 'm', 'p')
      and c.relowner::regrole::text !~ '^supabase_'
    union all
    select p.oid::regprocedure::text
    from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
    where n.nspname in ('auth', 'storage') and p.proowner::regrole::text !~ '^supabase_'";

/// Copies policies and triggers on tables of Auth, Storage and Realtime, and event triggers. Other objects in these schemas are
/// reported as left out.
pub(crate) async fn copy_additions(source: &Source, target: &Client, report: &mut Report) -> Result<()> {
    let additions = list_table_additions(&source.client, &source.schemas).await?;
    let warn = |line: String| print_warnings(&[line]);
    let name = Path::new("policies and triggers of the source");
    run_statements(target, name, &write_additions(&additions), warn).await?;

    for trigger in list_event_triggers(&source.client, &source.schemas).await? {
        target
            .execute(
                "select _selvedge.create_event_trigger($1, $2, $3, $4::text::regprocedure)",
                &[&trigger.name, &trigger.event, &trigger.tags, &trigger.function],
            )
            .await?;
    }
    for row in source.client.query(STRAY_OBJECTS, &[]).await? {
        report.leave_out(format!(
            "{}: it lies in a schema of the platform",
            row.get::<_, String>(0)
        ));
    }
    Ok(())
}

/// Grants the console's roles their privileges on imported objects, as a superuser, who also owns objects of extensions. Objects created
/// by the project get them by default privileges, which do not apply to an import. The source may have schemas by now that were not
/// imported.
pub(crate) async fn grant_console_rights(superuser: &Client, schemas: &[String]) -> Result<()> {
    let existing = "select nspname::pg_catalog.text from pg_catalog.pg_namespace
        where nspname operator(pg_catalog.=) any ($1::pg_catalog.text[]::pg_catalog.name[])";
    for row in superuser.query(existing, &[&schemas]).await? {
        let schema: &str = row.get(0);
        if schema == HISTORY_SCHEMA {
            continue;
        }
        let schema = quote_identifier(schema);
        let (reader, operator) = ("selvedge_console_reader", "selvedge_console_operator");
        superuser
            .batch_execute(&format!(
                "grant usage on schema {schema} to {reader}, {operator};
                 grant select on all tables in schema {schema} to {reader};
                 grant select on all sequences in schema {schema} to {reader};
                 grant select, insert, update, delete on all tables in schema {schema} to {operator};
                 grant usage, select on all sequences in schema {schema} to {operator}"
            ))
            .await?;
    }
    Ok(())
}

/// Copies the decrypted secrets of the vault; the target encrypts them with its own key.
pub(crate) async fn copy_secrets(source: &Source, target: &Client, report: &mut Report) -> Result<()> {
    let Some(secrets) = source.try_query(VAULT).await? else {
        report.leave_out(
            "the secrets of the vault: the source does not decrypt them for this login".to_owned(),
        );
        return Ok(());
    };
    target.batch_execute("savepoint vault").await?;
    for row in &secrets {
        let (name, description, secret): (Option<String>, Option<String>, Option<String>) =
            (row.get(0), row.get(1), row.get(2));
        let created = target
            .execute(
                "select vault.create_secret($1, $2, $3)",
                &[&secret, &name, &description.unwrap_or_default()],
            )
            .await;
        if created.is_err() {
            target.batch_execute("rollback to savepoint vault").await?;
            report.leave_out(format!(
                "{} secrets of the vault: it has no key here (docs/extensions.md, Vault)",
                secrets.len()
            ));
            return Ok(());
        }
        report.secrets += 1;
    }
    Ok(())
}
